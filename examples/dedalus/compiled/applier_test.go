// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/env"
)

// appliesEvery is how often an applier says how far it has come.
const appliesEvery = 50 * time.Millisecond

// asksAtOnce is for how many slots an applier asks that has come no further.
const asksAtOnce = 64

// applier is the node "log" of a program that decides a log: it is told of slots and applies
// them in their order. Where the program trims its log, it says how far it has come, and asks
// for slots that it lacks.
type applier struct {
	env     env.Env
	program *rt.Program
	nodes   map[string]env.Addr
	to      []string // who decides
	told    func(slot uint64, v string)
	knows   func(slot uint64) bool

	mu    sync.Mutex
	c     *client.Client
	next  uint64 // the first slot that is not applied
	stuck uint64 // what next was when it last said so
	over  bool
}

// open connects the applier.
func (a *applier) open() error {
	var err error
	a.mu.Lock()
	defer a.mu.Unlock()
	a.c, err = client.Open(client.Options{Env: a.env, Program: a.program, Name: "log", Nodes: a.nodes, Output: a.output})
	if err == nil && relation(a.program, "applied") >= 0 && a.program.Relations[relation(a.program, "applied")].Kind == rt.Input {
		a.env.Clock.After(appliesEvery, env.WakeFunc(a.say))
	}
	return err
}

func (a *applier) output(_ string, r int, row []byte) {
	if a.program.Relations[r].Name != "chosen" {
		return
	}
	values, err := rt.ReadRow(row, a.program.Relations[r].Columns)
	if err != nil {
		panic(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told(values[0].Num, values[1].Str)
}

// say tells those who decide how far it has come.
func (a *applier) say() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	for a.knows(a.next) {
		a.next++
	}
	for _, to := range a.to {
		a.send(to, "applied", a.next)
		if a.stuck != a.next {
			continue
		}
		for slot := a.next; slot < a.next+asksAtOnce; slot++ {
			if !a.knows(slot) {
				a.send(to, "missing", slot)
			}
		}
	}
	a.stuck = a.next
	a.env.Clock.After(appliesEvery, env.WakeFunc(a.say))
}

// send sends an input about a slot. One that is lost is sent again.
func (a *applier) send(to, input string, slot uint64) {
	r := relation(a.program, input)
	row, err := rt.AppendRow(nil, a.program.Relations[r].Columns, []rt.Value{{Str: "log"}, {Num: slot}})
	if err != nil {
		panic(err)
	}
	_ = a.c.Send(to, r, row)
}

// applied says how far it has come.
func (a *applier) applied() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.next
}

// close ends the applier.
func (a *applier) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	a.c.Close()
}

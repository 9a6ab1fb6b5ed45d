// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
)

// TestOutline: what talks with a compiled program knows of it what the program says of
// itself.
func TestOutline(t *testing.T) {
	for _, e := range programs() {
		want := e.compiled()
		for i := range want.Components {
			// An outline has nothing that runs.
			want.Components[i].New, want.Components[i].Timers, want.Components[i].Durable = nil, nil, false
		}
		if d := cmp.Diff(want, gen.Outline(load(t, e))); d != "" {
			t.Errorf("%s: %s", e.name, d)
		}
	}
}

// ordered are programs whose answers say which slot a command has, and which column that
// is: others may have another one, but no two commands have the same.
var ordered = map[string]int{"paxos": 0, "multipaxos": 0, "proxies": 0, "statemachine": 1}

// commandsMin is how many commands are asked for where a load has less.
const commandsMin = 200

// answersWithin bounds how long all answers of a load may take.
const answersWithin = 2 * time.Minute

// answers has clients ask for the commands of a load, and returns what was answered, by
// command.
func answers(t *testing.T, v variant) map[uint64]string {
	f := v.fleet(t, false)
	l := v.load(t)
	l.Commands = max(l.Commands, commandsMin)
	sends, waits := loadgen.Commands(v.logic, l)
	var mu sync.Mutex
	said, slots := map[uint64]string{}, map[uint64]uint64{}
	answer := func(n uint64, relation int, row []rt.Value) error {
		mu.Lock()
		defer mu.Unlock()
		if column, ok := ordered[v.example]; ok {
			slot := row[column].Num
			if other, ok := slots[slot]; ok && other != n {
				return fmt.Errorf("commands %d and %d have slot %d", other, n, slot)
			}
			slots[slot], said[n] = n, "a slot"
			return nil
		}
		said[n] += fmt.Sprint(f.program.Relations[relation].Name, row, " ")
		return nil
	}
	idle := make(chan struct{})
	o := loadgen.Options{Env: world(t, nil), Program: f.program, Name: "client", Nodes: f.reached(), Sends: sends, Waits: waits, Clients: l.Clients,
		Commands: uint64(l.Commands), Answer: answer, Idle: sync.OnceFunc(func() { close(idle) })}
	if l.Warm > 0 {
		o.Retry = time.Second // until there is a leader
	}
	c, err := loadgen.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Count(true)
	c.Begin()
	select {
	case <-idle:
	case <-time.After(answersWithin):
	}
	c.Count(false)
	out, err := c.Outcome()
	if err != nil || out.All != int64(l.Commands) || out.Commands != out.All {
		t.Fatalf("%d of %d commands were answered: %v", out.All, l.Commands, err)
	}
	if o.Retry == 0 && out.Resent > 0 {
		t.Errorf("%d commands were asked for again", out.Resent)
	}
	f.stop()
	return said
}

// TestExamples: each example, as it was written and as each of its scripts makes it, as
// processes on loopback: all commands of its load are answered as the load says; and
// where answers do not tell an order, the rewritten program answers what the one that
// was written does.
func TestExamples(t *testing.T) {
	written := map[string]map[uint64]string{}
	for _, v := range built(t).variants {
		t.Run(v.name, func(t *testing.T) {
			said := answers(t, v)
			if v.script == "" {
				written[v.example] = said
			} else if d := cmp.Diff(written[v.example], said); d != "" {
				t.Errorf("not what %s.ded answers:\n%s", v.example, d)
			}
		})
	}
}

// TestCrowdObjects: clients find an answer that is not what the load says.
func TestCrowdObjects(t *testing.T) {
	f := newFleet(t, "voting")
	v := variant{name: "voting", example: "voting", logic: load(t, program{source: "voting.ded"})}
	sends, waits := loadgen.Commands(v.logic, v.load(t))
	waits[0].Args[1] = cost.Arg{Kind: cost.TextArg, Text: "something else"}
	idle := make(chan struct{})
	c, err := loadgen.Open(loadgen.Options{Env: world(t, nil), Program: f.program, Name: "client", Nodes: f.reached(), Sends: sends, Waits: waits, Clients: 1,
		Idle: sync.OnceFunc(func() { close(idle) })})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Begin()
	<-idle
	if out, err := c.Outcome(); err == nil || out.All != 0 || errors.Is(err, loadgen.ErrUnanswered) {
		t.Errorf("%d commands were answered, %v", out.All, err)
	}
	f.stop()
}

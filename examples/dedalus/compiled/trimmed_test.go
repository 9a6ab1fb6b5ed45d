// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
	"github.com/ashlar-dev/ashlar/sim"
)

// watched is a compiled program that knows its components.
func watched(p *rt.Program) (*rt.Program, map[string]rt.Component) {
	all := map[string]rt.Component{}
	q := *p
	q.Components = append([]rt.ComponentType(nil), p.Components...)
	for i := range q.Components {
		create := q.Components[i].New
		q.Components[i].New = func(who rt.Identity, static map[string][][]byte) (rt.Component, error) {
			c, err := create(who, static)
			all[who.Node] = c
			return c, err
		}
	}
	return &q, all
}

// heap is how much memory is in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // what finalizers have let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestLogIsTrimmed: what multi-Paxos keeps does not grow with the commands that it has decided,
// on disks and in memory, where somebody who applies its log says so; and does where nobody does.
func TestLogIsTrimmed(t *testing.T) {
	e, d := entry(t, "multipaxos")
	grown := func(trims bool) (rows int, bytes int64) {
		w, err := sim.New(sim.Options{Seed: 1, EventsMax: 1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		p, components := watched(e.compiled())
		x := newCluster(w, p, d)
		rows, bytes, err = fill(t, w, x, e, trims, func() int {
			most := 0
			for node, c := range components {
				if strings.HasPrefix(node, "acceptor/") {
					var out rt.Out
					c.Snapshot(&out)
					most = max(most, len(out.Changes))
				}
			}
			return most
		})
		if err := errors.Join(err, x.rejected()); err != nil {
			t.Fatal(err)
		}
		return rows, bytes
	}
	const commands = 32_000 // for each of which the test itself keeps something
	rows, bytes := grown(true)
	t.Logf("trimmed: %d rows, and %d KB more", rows, bytes>>10)
	if rows > commands/4 || bytes > commands*400 {
		t.Errorf("an acceptor has %d rows after %d commands, and memory has grown by %d KB", rows, commands, bytes>>10)
	}
	rows, bytes = grown(false)
	t.Logf("not trimmed: %d rows, and %d KB more", rows, bytes>>10)
	if rows < commands || bytes < commands*1000 {
		t.Errorf("without anybody who applies it, an acceptor has %d rows after %d commands, and memory has grown by %d KB", rows, commands, bytes>>10)
	}
}

// fill has clients ask for commands, and says how many rows there are at the end, and by how
// much memory has grown since the first quarter.
func fill(t *testing.T, w *sim.World, x *cluster, e program, trims bool, count func() int) (rows int, bytes int64, err error) {
	t.Helper()
	const commands, underWay = 32_000, 64
	log, answered := map[uint64]string{}, 0
	var c *loadgen.Generator
	nodes := map[string]env.Addr{}
	for _, n := range x.nodes(true, true) {
		nodes[n] = x.addrs[n]
	}
	if trims {
		w.Node("log", func(l *sim.Life) error {
			a := &applier{env: l.Env, program: x.program, nodes: nodes, to: x.nodes(true, false),
				told: func(slot uint64, _ string) { log[slot] = "" }, knows: func(slot uint64) bool { _, ok := log[slot]; return ok }}
			return a.open()
		})
	}
	v := variant{name: "multipaxos", example: "multipaxos", logic: load(t, e)}
	sends, waits := loadgen.Commands(v.logic, v.load(t))
	w.Node("client", func(l *sim.Life) error {
		var err error
		c, err = loadgen.Open(loadgen.Options{Env: l.Env, Program: x.program, Name: "client", Nodes: nodes, Sends: sends, Waits: waits,
			Clients: underWay, Retry: time.Second, Answer: func(uint64, int, []rt.Value) error { answered++; return nil }})
		if err == nil {
			l.Env.Clock.After(2*time.Second, env.WakeFunc(c.Begin))
		}
		return err
	})
	if err := w.RunUntil(5*time.Minute, func() bool { return answered >= commands/4 }); err != nil {
		return 0, 0, err
	}
	before := heap()
	if err := w.RunUntil(5*time.Minute, func() bool { return answered >= commands }); err != nil {
		return 0, 0, err
	}
	bytes = int64(heap()) - int64(before)
	c.Stop()
	if err := w.Run(time.Second); err != nil { // the last ones are applied
		return 0, 0, err
	}
	return count(), bytes, nil
}

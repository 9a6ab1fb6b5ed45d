// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
)

// A counter of one relation each way: the client's inputs are sent on to another
// instance, and come back as outputs. Nothing is sent twice by the program.
const (
	relIn = iota
	relOn
	relBack
	relOut
)

// line is what the instances know in a test, from outside.
type line struct {
	came map[string]int // of each row, at the far end
}

type near struct{ in, back [][]byte }
type far struct {
	l  *line
	in [][]byte
}

func (n *near) Deliver(relation int, row []byte) error {
	switch relation {
	case relIn:
		n.in = append(n.in, append([]byte(nil), row...))
	case relBack:
		n.back = append(n.back, append([]byte(nil), row...))
	default:
		return fmt.Errorf("relation %d", relation)
	}
	return nil
}
func (n *near) Timer(int)     {}
func (n *near) Pending() bool { return false }
func (n *near) Tick(out *rt.Out) {
	for _, r := range n.in {
		out.Sent = append(out.Sent, rt.Sent{To: "far/0", Relation: relOn, Row: r})
	}
	for _, r := range n.back {
		// Also to itself: it arrives a tick later, and goes nowhere from there.
		out.Sent = append(out.Sent, rt.Sent{To: "c", Relation: relOut, Row: r}, rt.Sent{To: "nobody/7", Relation: relOn, Row: r})
	}
	n.in, n.back = nil, nil
}
func (n *near) Resend(*rt.Out)          {}
func (n *near) Restore(rt.Change) error { return nil }
func (n *near) Snapshot(*rt.Out)        {}

func (f *far) Deliver(relation int, row []byte) error {
	if relation != relOn {
		return fmt.Errorf("relation %d", relation)
	}
	f.l.came[string(row)]++
	f.in = append(f.in, append([]byte(nil), row...))
	return nil
}
func (f *far) Timer(int)     {}
func (f *far) Pending() bool { return false }
func (f *far) Tick(out *rt.Out) {
	for _, r := range f.in {
		out.Sent = append(out.Sent, rt.Sent{To: "near/0", Relation: relBack, Row: r})
	}
	f.in = nil
}
func (f *far) Resend(*rt.Out)          {}
func (f *far) Restore(rt.Change) error { return nil }
func (f *far) Snapshot(*rt.Out)        {}

func lineProgram(l *line) *rt.Program {
	c := []rt.Column{{Name: "x", Type: rt.Type{Kind: rt.KindBytes}}}
	return &rt.Program{Name: "line", Hash: 7, Relations: []rt.Relation{{Name: "in", Kind: rt.Input, Columns: c},
		{Name: "on", Columns: c}, {Name: "back", Columns: c}, {Name: "out", Kind: rt.Output, Columns: c}},
		Components: []rt.ComponentType{
			{Name: "near", Of: "near", Instances: 1, Partitions: 1, New: func(rt.Identity, map[string][][]byte) (rt.Component, error) { return &near{}, nil }},
			{Name: "far", Of: "far", Instances: 1, Partitions: 1, New: func(rt.Identity, map[string][][]byte) (rt.Component, error) { return &far{l: l}, nil }},
		}}
}

const lineMessages = 400

// playLine sends messages through two instances and back, over connections that break
// at any byte. No process crashes, and only the connections send anything again:
// all must arrive, each once.
func playLine(w *sim.World) error {
	l := &line{came: map[string]int{}}
	p := lineProgram(l)
	peers := map[string]env.Addr{"near/0": "near:1", "far/0": "far:1"}
	for i, node := range []string{"near/0", "far/0"} {
		w.Node(string(peers[node][:len(peers[node])-2]), func(life *sim.Life) error {
			_, err := host.Open(host.Options{Env: life.Env, Tasks: life, Program: p, Component: i, Who: rt.Identity{Node: node, Self: node},
				Listen: peers[node], Peers: peers, ResendEvery: -1, Window: 700, ClientWindow: 300, TickMessages: 7})
			return err
		})
	}
	out := map[string]int{}
	w.Node("c", func(life *sim.Life) error {
		c, err := client.Open(client.Options{Env: life.Env, Program: p, Name: "c", Nodes: map[string]env.Addr{"near/0": "near:1"},
			Window: 300, Output: func(_ string, _ int, row []byte) { out[string(row)]++ }})
		if err != nil {
			return err
		}
		sent := 0
		var more func()
		more = func() {
			for range 1 + env.IntN(life.Env.Random, 20) {
				if sent < lineMessages && c.Send("near/0", relIn, fmt.Appendf(nil, "message %d", sent)) == nil {
					sent++
				}
			}
			life.Env.Clock.After(time.Duration(env.IntN(life.Env.Random, int(30*time.Millisecond))), env.WakeFunc(more))
		}
		more()
		return nil
	})
	if err := w.Run(8 * time.Second); err != nil {
		return err
	}
	w.Heal()
	if err := w.RunUntil(60*time.Second, func() bool { return len(out) == lineMessages }); err != nil {
		return fmt.Errorf("%d of %d came back: %w", len(out), lineMessages, err)
	}
	for _, m := range []map[string]int{l.came, out} {
		for row, n := range m {
			if n != 1 {
				return fmt.Errorf("%q came %d times", row, n)
			}
		}
	}
	return nil
}

// TestNothingIsLostBetweenLives: whatever a network does to connections.
func TestNothingIsLostBetweenLives(t *testing.T) {
	suite.Suite{Getenv: os.Getenv, Package: "./dedalus/rt/host", Short: testing.Short(), Seeds: 60,
		Faults: sim.NetworkFaults().Without(sim.Duplicate, sim.Reorder, sim.HalfOpen).With(sim.Reset, .02)}.Run(t, playLine)
}

// TestFullQueues: small queues, so that messages are dropped while voters are away, and
// inputs wait while they are slow; and all that holds is sent again after it.
func TestFullQueues(t *testing.T) {
	small := func(o *host.Options) { o.QueueMax, o.Window, o.ResendEvery = 600, 200, -1 }
	suite.Suite{Getenv: os.Getenv, Package: "./dedalus/rt/host", Short: testing.Short(), Seeds: 60,
		Faults:  simFaults().Without(sim.ReorderWrite, sim.TearWrite),
		Require: []string{"dedalus/host dropped", "dedalus/host inputs wait"}}.Run(t, play(small))
}

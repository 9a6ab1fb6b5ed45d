// SPDX-License-Identifier: Apache-2.0

// Package lockstep runs a compiled program and the interpreter side by side, with
// the same messages at the same ticks, and compares what they send and what is
// durable.
//
// In: programs, compiled ones, and numbers that decide the schedule: which node has
// its tick, which messages arrive, late, twice or never, when timers run out and
// nodes crash. Out: the first difference.
//
// Refused: programs whose result depends on the order of evaluation, such as
// recursive rules that test how far a lattice column has grown.
package lockstep

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/plan"
)

// Case is a program, and the same one compiled.
type Case struct {
	Logic     *logic.Program
	Compiled  *rt.Program
	Functions interp.Functions
}

// Run goes through ticks of all nodes. The error says what differs, and what
// happened before at the node.
func (c Case) Run(seed uint64, ticks int) error {
	r, err := newRun(c, seed)
	if err != nil {
		return err
	}
	for i := range ticks {
		n := r.nodes[env.IntN(r.random, len(r.nodes))]
		if err := n.step(); err != nil {
			return fmt.Errorf("tick %d, node %s: %w\n%s", i, n.name, err, n.history())
		}
	}
	return nil
}

// run is a run under way.
type run struct {
	Case
	random  env.Random
	nodes   []*node
	pending []interp.Message
}

// node is an instance, three times by the interpreter: with all rules, with those
// async rules only that send while something holds, and with the others.
type node struct {
	*run
	name               string
	component          *logic.Component
	typ                *rt.ComponentType
	who                rt.Identity
	all, standing, now *interp.Instance
	compiled           rt.Component
	out                rt.Out
	// held is what standing rules sent at the last tick.
	held map[string]bool
	// durable are the changes since the beginning.
	durable []rt.Change
	// inputs are the relations of which facts may come in.
	inputs []*logic.Relation
	past   []string
}

func newRun(c Case, seed uint64) (*run, error) {
	r := &run{Case: c, random: env.Seeded(seed)}
	p, err := plan.New(c.Logic)
	if err != nil {
		return nil, err
	}
	all := interp.Deploy(c.Logic, nil, c.Functions)
	standing := interp.Deploy(only(c.Logic, p, false), nil, c.Functions)
	now := interp.Deploy(only(c.Logic, p, true), nil, c.Functions)
	at := 0
	for i, comp := range c.Logic.Components {
		for range comp.Instances * comp.Partitions {
			n := &node{run: r, name: all[at].Node, component: comp, typ: &c.Compiled.Components[i],
				all: all[at], standing: standing[at], now: now[at], held: map[string]bool{},
				who: rt.Identity{Node: all[at].Node, Self: all[at].Self}}
			if n.compiled, err = n.typ.New(n.who, nil); err != nil {
				return nil, err
			}
			for _, rel := range c.Logic.Refs(comp) {
				if r.number(rel, false) >= 0 {
					n.inputs = append(n.inputs, rel)
				}
			}
			r.nodes = append(r.nodes, n)
			at++
		}
	}
	return r, nil
}

// only is the program with those async rules that are pulses, or with the others.
// Its relations are those of the program.
func only(p *logic.Program, plans *plan.Program, pulse bool) *logic.Program {
	is := map[*logic.Rule]bool{}
	note := func(r *plan.Rule) {
		if r.Source != nil {
			is[r.Source] = r.Pulse
		}
	}
	for _, c := range plans.Components {
		for _, g := range c.Groups {
			for _, r := range g.Rules {
				note(r)
			}
		}
		for _, r := range c.Later {
			note(r)
		}
	}
	q := *p
	q.Components = nil
	for _, c := range p.Components {
		d := *c
		d.Rules = slices.DeleteFunc(slices.Clone(c.Rules), func(r *logic.Rule) bool { return r.Kind == logic.Async && is[r] != pulse })
		q.Components = append(q.Components, &d)
	}
	return &q
}

// number is the number of a relation that is sent, or of one that is durable.
func (r *run) number(rel *logic.Relation, durable bool) int {
	return slices.IndexFunc(r.Compiled.Relations, func(x rt.Relation) bool {
		return x.Name == rel.Name && (x.Kind == rt.Durable) == durable
	})
}

func (n *node) history() string {
	s := ""
	for _, p := range n.past {
		s += p + "\n"
	}
	return s
}

func (n *node) one(in int) bool { return env.IntN(n.random, in) == 0 }

// step is a tick, or a crash.
func (n *node) step() error {
	if n.one(40) {
		return n.crash()
	}
	in := n.arrivals()
	var timers []*logic.Relation
	for _, t := range n.typ.Timers {
		if n.one(3) {
			timers = append(timers, n.Logic.Find(t.Name))
		}
	}
	return n.tick(in, timers)
}

// tick is a tick of all of them.
func (n *node) tick(in []interp.Fact, timers []*logic.Relation) error {
	line := "tick"
	for _, f := range in {
		line += " " + f.String()
		if err := n.compiled.Deliver(n.number(f.Relation, false), n.row(f, false)); err != nil {
			return fmt.Errorf("deliver %v: %w", f, err)
		}
	}
	for _, t := range timers {
		line += " " + t.Name
		n.compiled.Timer(slices.IndexFunc(n.typ.Timers, func(x rt.Timer) bool { return x.Name == t.Name }))
	}
	n.past = append(n.past, line)
	idle := !n.compiled.Pending() && len(in)+len(timers) == 0
	before := carried(n.all)
	all := n.all.Tick(in, timers...)
	n.pending = append(n.pending, all.Sent...)
	now, standing := n.sent(n.now.Tick(in, timers...)), n.sent(n.standing.Tick(in, timers...))
	want := now
	for m := range standing {
		if !n.held[m] {
			want[m] = true
		}
	}
	n.held = standing
	n.out.Reset()
	n.compiled.Tick(&n.out)
	if err := same("sent", got(n.out.Sent, n.Compiled), want, all); err != nil {
		return err
	}
	if idle && (len(want) > 0 || before != carried(n.all)) {
		return fmt.Errorf("nothing was pending, but the tick did something:\n%v", all)
	}
	for _, c := range n.out.Changes {
		c.Row = slices.Clone(c.Row)
		n.durable = append(n.durable, c)
	}
	if err := n.checkDurable(all); err != nil {
		return err
	}
	if n.one(4) {
		n.out.Reset()
		n.compiled.Resend(&n.out)
		return same("sent again", got(n.out.Sent, n.Compiled), n.held, all)
	}
	return nil
}

// crash takes away what is not durable, and has it come back from what was.
func (n *node) crash() error {
	n.past = append(n.past, "crash")
	n.all.Crash()
	n.standing.Crash()
	n.now.Crash()
	changes := n.durable
	if n.one(2) {
		n.out.Reset()
		n.compiled.Snapshot(&n.out)
		changes = nil
		for _, c := range n.out.Changes {
			c.Row = slices.Clone(c.Row)
			changes = append(changes, c)
		}
	}
	fresh, err := n.typ.New(n.who, nil)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := fresh.Restore(c); err != nil {
			return fmt.Errorf("restore: %w", err)
		}
	}
	n.compiled, n.durable, n.held = fresh, changes, map[string]bool{}
	return nil
}

// Shortest is Run, but of runs that go wrong it looks for a short one: with fewer
// ticks from other seeds.
func (c Case) Shortest(seed uint64, ticks int) error {
	err := c.Run(seed, ticks)
	if err == nil {
		return nil
	}
	for n := 2; n < ticks; n = n*3/2 + 1 {
		for s := range uint64(shortTries) {
			if short := c.Run(seed<<16+s, n); short != nil {
				return fmt.Errorf("seed %d, %d ticks: %w", seed<<16+s, n, short)
			}
		}
	}
	return err
}

// shortTries is how many runs Shortest makes of each length.
const shortTries = 50

// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// A relay reduces a component to forwarding its inputs, because clients know only its
// address, and the firing of its timers. A component of its own does everything else,
// and receives only messages of rules, which can be divided or put in one order. A
// relay is the functional decoupling of no rules at all.
//
// It changes nothing, because messages may take any time. An input reaches the node
// when the relay's message arrives. A timer has no fixed time either: it may fire in any
// tick, so also in the one in which the message arrives; if the message arrives twice,
// the timer fires twice. If the relay stops forever, the node receives no more inputs
// and its timers no longer fire. Timers may fire after everything else, and messages
// sent then may be lost, so this is an omission of the node.

// whole finds the rules that a relay moves: all of them.
func whole(w *site) error {
	s, c := w.step, w.c
	if w.p.Component(s.Name) != nil {
		return fmt.Errorf("%v: the component exists already; choose a new name", s)
	}
	if err := named(w.p, s); err != nil {
		return err
	}
	if c.Partitions != 1 {
		return fmt.Errorf("%v: %s is partitioned; do the relay step before the partitioning", s, c.Name)
	}
	w.moved = analyze.Part{Program: w.p, Component: c, Rules: slices.Clone(c.Rules)}
	w.kept = analyze.Part{Program: w.p, Component: c}
	return nil
}

// relayed reports whether there is anything to relay, and the moved rules can receive all of
// it.
func relayed(w *site) analyze.Verdict {
	v := unsent(w.moved)
	if !slices.ContainsFunc(w.moved.Inputs(), outside) {
		and(&v, no(nil, w.c.Name+" reads no input from outside and no timer, so there is nothing to relay"))
	}
	if !slices.ContainsFunc(w.c.Rules, func(r *logic.Rule) bool { return !passes(r) }) {
		and(&v, no(nil, "all that "+w.c.Name+" does is pass on what it receives"))
	}
	return v
}

// outside reports whether a relation comes from clients or a timer, not from rules.
func outside(rel *logic.Relation) bool { return rel.Kind == logic.Input || rel.Kind == logic.Timer }

// passes reports whether a rule only forwards what comes from outside.
func passes(r *logic.Rule) bool {
	n := 0
	for i := range r.Body {
		if a := r.Body[i].Atom; a != nil && a.Relation.Kind != logic.Static {
			if !outside(a.Relation) || r.Body[i].Negated {
				return false
			}
			n++
		}
	}
	return r.Kind == logic.Async && n == 1
}

// claimRelay states that all rules have moved.
func claimRelay(c *Certificate, before *logic.Program, out *certificate.Claim) {
	for i := range before.Component(c.Step.Component).Rules {
		out.Moved = append(out.Moved, i)
	}
}

// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// A relay leaves a component nothing but to pass on what comes in from outside, which
// clients know no other place for, and that a timer has run out. All else is done by a
// component of its own, to which nothing comes then but messages of rules: those can be
// divided, or be put in one order. It is the functional decoupling of no rules at all.
//
// It changes nothing, as messages take as long as they like. What a client sends has
// come to the node when the relay's message has. A timer has no time of its own
// either: any tick may be one in which it runs out, and so may be the one in which the
// message arrives; that it comes twice is that the timer runs out twice. If the relay
// stops forever, nothing comes in any more, and no timer runs out; as what timers do
// may be after all else, and what is sent then may be lost, that is an omission of the
// node.

// whole finds the rules that a relay moves: all.
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

// relayed says whether there is anything to relay, and all of it can be led to the
// rules.
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

// outside reports whether a relation is not sent by rules.
func outside(rel *logic.Relation) bool { return rel.Kind == logic.Input || rel.Kind == logic.Timer }

// passes reports whether a rule does nothing but send on what comes from outside.
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

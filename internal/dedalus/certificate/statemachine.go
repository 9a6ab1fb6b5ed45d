// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// incoming returns the relations that rules read and do not derive.
func incoming(rules []*logic.Rule) map[rel]bool {
	out := reads(rules)
	for n := range derives(rules) {
		delete(out, n)
	}
	return out
}

// idle returns the derived relations that are empty in ticks without inputs.
func idle(rules []*logic.Rule) map[rel]bool {
	in, out := incoming(rules), derives(rules)
	for {
		n := len(out)
		for _, r := range rules {
			if r.Kind == logic.Next || r.Kind == logic.Sync && !wakes(r, in, out) {
				delete(out, r.Head.Relation.Name)
			}
		}
		if len(out) == n {
			return out
		}
	}
}

// wakes reports whether a rule needs a fact of a relation in one of the sets.
func wakes(r *logic.Rule, sets ...map[rel]bool) bool {
	for n := range names(r, func(l *logic.Literal) bool { return !l.Negated }) {
		for _, s := range sets {
			if s[n] {
				return true
			}
		}
	}
	return false
}

// stateMachine checks that the moved rules send and change state only in ticks with inputs,
// and carry their state unchanged through all others.
func (h *halves) stateMachine() error {
	in, empty := incoming(h.moved), idle(h.moved)
	carried := map[rel]bool{}
	for _, r := range h.moved {
		guards, ok := r.Persistence()
		for _, g := range guards {
			ok = ok && g.Atom != nil && g.Negated && (in[g.Atom.Relation.Name] || empty[g.Atom.Relation.Name])
		}
		if ok {
			carried[r.Head.Relation.Name] = true
		}
	}
	for _, r := range h.moved {
		if r.Kind == logic.Async && !wakes(r, in, empty) {
			return fmt.Errorf("'%v' sends in ticks in which nothing was received", r)
		}
		if r.Kind != logic.Next {
			continue
		}
		if !carried[r.Head.Relation.Name] {
			return fmt.Errorf("'%v': %s is not kept while nothing is received", r, r.Head.Relation.Name)
		}
		if _, ok := r.Persistence(); !ok && !wakes(r, in, empty) {
			return fmt.Errorf("'%v' changes state in ticks in which nothing was received", r)
		}
	}
	return nil
}

// volatile checks that the moved rules derive nothing durable.
func (h *halves) volatile() error {
	for _, r := range h.moved {
		if r.Head.Relation.Durable {
			return fmt.Errorf("'%v' derives a durable relation, and would move away from the rules that answer once it is durable", r)
		}
	}
	return nil
}

// ends checks that the given relations, where the kept rules derive them, become empty some
// ticks after the last input: every path of rules from the inputs to such a relation passes
// each relation once, except within a tick.
func (h *halves) ends(list []*logic.Relation) error {
	in, local := incoming(h.kept), derives(h.kept)
	done := map[rel]bool{}
	for range len(local) + 1 {
		// Assume that all remaining relations become empty together, within a tick.
		now := derives(h.kept)
		for range local {
			for _, r := range h.kept {
				if n := r.Head.Relation.Name; r.Kind == logic.Sync && !wakes(r, in, done, now) || r.Kind == logic.Next && !wakes(r, in, done) {
					delete(now, n)
				}
			}
		}
		for n := range now {
			done[n] = true
		}
	}
	for _, r := range list {
		if local[r.Name] && !done[r.Name] {
			return fmt.Errorf("%s holds forever once it holds, so it would be sent at every tick", r.Name)
		}
	}
	return nil
}

// checkStateMachine checks a state-machine decoupling.
func checkStateMachine(before, after *logic.Program, from *logic.Component, c Claim) error {
	h, err := split(before, from, c)
	if err != nil {
		return err
	}
	in := h.ordered(incoming(h.moved))
	for _, err := range []error{h.onward(), h.stateMachine(), h.volatile(), h.ends(in)} {
		if err != nil {
			return err
		}
	}
	if len(in) == 0 {
		return fmt.Errorf("the rules that move receive nothing")
	}
	to, err := h.piece(after, from, c)
	if err != nil {
		return err
	}
	rest := after.Component(from.Name)
	if len(rest.Rules) < len(h.kept) || len(to.Rules) < len(h.moved) {
		return fmt.Errorf("rules are missing")
	}
	var list []batched
	for _, r := range in {
		list = append(list, batched{r, r.Name})
	}
	t := newTemplates(before, after)
	if err := t.carried(h, rest, to, list); err != nil {
		return err
	}
	if err := forwards(after, t.relation("$to"), unique(from.Of, from.Name), to, 1); err != nil {
		return err
	}
	was := map[rel]rel{}
	for i, r := range in {
		was[t.chosen[fmt.Sprintf("$seen%d", i)]] = r.Name
	}
	if err := h.unchanged(h.moved, to.Rules, was); err != nil {
		return err
	}
	return h.others(after, from)
}

// carried matches the rules that carry relations from the rest of the component to the
// moved part.
func (t *templates) carried(h *halves, rest, to *logic.Component, list []batched) error {
	if err := t.match(rest.Rules[len(h.kept):], sending(list, nil, "$to")); err != nil {
		return err
	}
	if err := t.match(to.Rules[len(h.moved):], receiving(list, false)); err != nil {
		return err
	}
	return t.wellFormed(list, "$to")
}

// others checks that all rules that did not move are unchanged.
func (h *halves) others(after *logic.Program, from *logic.Component) error {
	for _, o := range h.p.Components {
		rules, now := o.Rules, after.Component(o.Name).Rules
		if o == from {
			rules, now = h.kept, now[:min(len(now), len(h.kept))]
		}
		if len(now) != len(rules) {
			return fmt.Errorf("the rules of component %s have changed", o.Name)
		}
		if err := h.unchanged(rules, now, nil); err != nil {
			return fmt.Errorf("component %s: %w", o.Name, err)
		}
	}
	return nil
}

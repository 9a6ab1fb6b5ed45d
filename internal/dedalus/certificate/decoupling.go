// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// rel is the name of a relation: relations of two programs are compared by name.
type rel = string

func names(r *logic.Rule, want func(*logic.Literal) bool) map[rel]bool {
	out := map[rel]bool{}
	for i := range r.Body {
		if l := &r.Body[i]; l.Atom != nil && l.Atom.Relation.Kind != logic.Static && want(l) {
			out[l.Atom.Relation.Name] = true
		}
	}
	return out
}

func any(*logic.Literal) bool { return true }

// halves are the two sides of a decoupling.
type halves struct {
	p           *logic.Program
	moved, kept []*logic.Rule
	assuming    []logic.Assumption
}

// reads returns the relations that rules read, and derives those that they derive on their
// own node.
func reads(rules []*logic.Rule) map[rel]bool {
	out := map[rel]bool{}
	for _, r := range rules {
		for n := range names(r, any) {
			out[n] = true
		}
	}
	return out
}

func derives(rules []*logic.Rule) map[rel]bool {
	out := map[rel]bool{}
	for _, r := range rules {
		if r.Kind != logic.Async {
			out[r.Head.Relation.Name] = true
		}
	}
	return out
}

// inOrder lists relations by name, so that the same program gets the same message each time.
func inOrder(set map[rel]bool) []rel { return slices.Sorted(maps.Keys(set)) }

// decouplingBy returns the check of a decoupling that has this condition.
func decouplingBy(condition func(*halves) error) func(before, after *logic.Program, from *logic.Component, c Claim) error {
	return func(before, after *logic.Program, from *logic.Component, c Claim) error {
		h, err := split(before, from, c)
		if err != nil {
			return err
		}
		for _, err := range []error{h.onward(), h.timerless()} {
			if err != nil {
				return err
			}
		}
		if err := condition(h); err != nil {
			return err
		}
		if c.Kind == "mutual" {
			if err := h.tickless(from); err != nil {
				return err
			}
		}
		return h.transformed(after, from, c)
	}
}

// split finds the two sides that a claim names.
func split(before *logic.Program, from *logic.Component, c Claim) (*halves, error) {
	h := &halves{p: before, assuming: c.Assuming}
	for i, r := range from.Rules {
		if slices.Contains(c.Moved, i) {
			h.moved = append(h.moved, r)
		} else {
			h.kept = append(h.kept, r)
		}
	}
	if len(h.moved) != len(c.Moved) || len(h.moved) == 0 || len(h.kept) == 0 {
		return nil, fmt.Errorf("the moved rules must be some of the rules of %s, but not all", from.Name)
	}
	return h, nil
}

// onward checks the common condition of the decouplings in which no moved rule derives
// anything that the kept rules read.
func (h *halves) onward() error {
	local, keptReads := derives(h.kept), reads(h.kept)
	for _, n := range inOrder(derives(h.moved)) {
		if keptReads[n] || local[n] {
			return fmt.Errorf("the rules that move derive %s, and the rules that stay read or derive it as well", n)
		}
	}
	return h.unsent()
}

// unsent checks that no rule sends what the moved rules derive: it would
// continue to arrive at the old component.
func (h *halves) unsent() error {
	local := derives(h.moved)
	for _, c := range h.p.Components {
		for _, r := range c.Rules {
			if n := r.Head.Relation.Name; r.Kind == logic.Async && local[n] {
				return fmt.Errorf("the rules that move derive %s, and '%v' sends it to them as well", n, r)
			}
		}
	}
	return nil
}

// timerless checks that no moved rule waits for a timer.
func (h *halves) timerless() error {
	for _, n := range inOrder(reads(h.moved)) {
		if r := h.p.Find(n); r.Kind == logic.Timer {
			return fmt.Errorf("the rules that move wait for timer %s", n)
		}
	}
	return nil
}

func (h *halves) mutual() error {
	local, keptReads := derives(h.kept), reads(h.kept)
	for _, n := range inOrder(reads(h.moved)) {
		if keptReads[n] || local[n] {
			return fmt.Errorf("the rules that move read %s, and the rules that stay read or derive it as well", n)
		}
	}
	return nil
}

func (h *halves) functional() error {
	for _, r := range h.moved {
		if r.Kind == logic.Next || r.Head.Aggregates() || r.Head.Relation.Merges() {
			return fmt.Errorf("'%v' carries or merges facts, or aggregates", r)
		}
		n := 0
		for i := range r.Body {
			l := &r.Body[i]
			if l.Negated {
				return fmt.Errorf("'%v' negates", r)
			}
			if l.Atom != nil && l.Atom.Relation.Merges() {
				// Two facts that are forwarded in two ticks may arrive in one tick, and merge.
				return fmt.Errorf("'%v' reads %s, which merges", r, l.Atom.Relation.Name)
			}
			if l.Atom != nil && l.Atom.Relation.Kind != logic.Static {
				n++
			}
		}
		if n > 1 {
			return fmt.Errorf("'%v' joins", r)
		}
	}
	return nil
}

// transformed checks that the program after differs from the one before only in that the
// rules have moved and receive all that they read.
func (h *halves) transformed(after *logic.Program, from *logic.Component, c Claim) error {
	to := after.Component(c.Name)
	if to == nil || h.p.Component(c.Name) != nil {
		return fmt.Errorf("component %s is not a new component of the program after the step", c.Name)
	}
	if to.Of != from.Of || to.Instances != from.Instances || to.Partitions != 1 {
		return fmt.Errorf("component %s is not a piece of the right component, with as many instances and one partition", c.Name)
	}
	if len(after.Components) != len(h.p.Components)+1 {
		return fmt.Errorf("the program after the step has %d components, want %d", len(after.Components), len(h.p.Components)+1)
	}
	m := &matching{h: h, after: after, to: to, from: from, reads: map[rel]rel{}, rerouted: map[rel]bool{}, passed: map[rel]rel{}, kept: map[rel]rel{}, made: map[rel]bool{}, keep: c.Kind == "monotonic"}
	if c.Kind != "mutual" {
		var err error
		if m.through, err = h.unhurried(from); err != nil {
			return err
		}
	}
	if err := m.moved(to.Rules); err != nil {
		return err
	}
	for _, o := range h.p.Components {
		a := after.Component(o.Name)
		if a == nil || a.Of != o.Of || a.Instances != o.Instances || a.Partitions != o.Partitions {
			return fmt.Errorf("component %s has changed or is missing", o.Name)
		}
		rules := o.Rules
		if o == from {
			rules = h.kept
		}
		if err := m.stayed(rules, a.Rules, o == from); err != nil {
			return fmt.Errorf("component %s: %w", o.Name, err)
		}
	}
	return m.inputs()
}

// matching finds out how each relation reaches the moved rules.
type matching struct {
	h        *halves
	after    *logic.Program
	from, to *logic.Component
	// reads maps each relation that moved rules read before to the one that they read after.
	reads map[rel]rel
	// rerouted has the relations that all senders send to the new component. passed maps each
	// relation that the old component forwards to the relation in which it forwards it.
	rerouted map[rel]bool
	passed   map[rel]rel
	// kept maps each relation of the new component that keeps facts to the relation whose facts
	// it keeps. If keep is set, all received facts must be kept.
	kept map[rel]rel
	keep bool
	// made has the relations in which facts are forwarded or kept.
	made map[rel]bool
	// through reports that the old component must forward everything, and no sender is rerouted.
	through bool
}

// moved matches the rules of the new component: the moved rules, in their order and possibly
// with other relations in the body, and then the rules that keep received facts.
func (m *matching) moved(rules []*logic.Rule) error {
	if len(rules) < len(m.h.moved) {
		return fmt.Errorf("component %s lacks some of the moved rules", m.to.Name)
	}
	for i, r := range m.h.moved {
		if err := m.same(r, rules[i]); err != nil {
			return fmt.Errorf("found '%v', want '%v': %w", rules[i], r, err)
		}
	}
	rest := rules[len(m.h.moved):]
	for len(rest) > 0 {
		if len(rest) < 2 || !m.keep {
			return fmt.Errorf("'%v' is an extra rule", rest[0])
		}
		in, again := rest[0], rest[1]
		guards, ok := again.Persistence()
		if in.Kind != logic.Sync || !copies(in) || !alike(in.Body[0].Atom.Relation, in.Head.Relation) || !ok || len(guards) > 0 || again.Head.Relation != in.Head.Relation || !m.makes(in.Head.Relation) {
			return fmt.Errorf("'%v' and '%v' do not keep a received relation", in, again)
		}
		m.kept[in.Head.Relation.Name] = in.Body[0].Atom.Relation.Name
		rest = rest[2:]
	}
	return nil
}

// makes records that facts are forwarded or kept in a relation. It reports whether the
// relation is new and used for nothing else.
func (m *matching) makes(r *logic.Relation) bool {
	was := m.made[r.Name] || m.h.p.Find(r.Name) != nil
	m.made[r.Name] = true
	return !was
}

// alike reports whether a new relation holds the facts of another one unchanged: it has the
// same columns and lattices, and is not durable.
func alike(of, own *logic.Relation) bool {
	return own.Kind == logic.Derived && !own.Durable && slices.EqualFunc(of.Columns, own.Columns, func(a, b logic.Column) bool {
		return a.Type.Equal(b.Type) && a.Lattice == b.Lattice
	})
}

// copies reports whether the head of a rule has the same arguments as its first literal.
func copies(r *logic.Rule) bool {
	if len(r.Body) == 0 || !r.Body[0].Positive() || len(r.Head.Args) != len(r.Body[0].Atom.Args) {
		return false
	}
	seen := map[string]bool{}
	for i, a := range r.Head.Args {
		t := r.Body[0].Atom.Args[i]
		if a.Aggregate != logic.NoAggregate || a.Term.Kind != logic.Var || t.Kind != logic.Var || t.Name != a.Term.Name || seen[t.Name] {
			return false
		}
		seen[t.Name] = true
	}
	return r.Kind == logic.Async || len(r.Body) == 1
}

// same checks that a rule differs from the old one only in the relations that it reads, and
// in that it may send its head to the new component.
func (m *matching) same(old, new *logic.Rule) error {
	if len(old.Body) > len(new.Body) {
		return fmt.Errorf("the first has fewer literals")
	}
	back := *new
	back.Body = slices.Clone(new.Body)
	for i := range old.Body {
		a, b := old.Body[i].Atom, new.Body[i].Atom
		if a == nil || b == nil || a.Relation.Name == b.Relation.Name {
			continue
		}
		if was, ok := m.reads[a.Relation.Name]; ok && was != b.Relation.Name {
			return fmt.Errorf("%s is replaced by %s in one rule and by %s in another", a.Relation.Name, was, b.Relation.Name)
		}
		m.reads[a.Relation.Name] = b.Relation.Name
		back.Body[i].Atom = &logic.Atom{Relation: a.Relation, Args: b.Args}
	}
	switch {
	case exact(&back) == exact(old):
		return m.note(old, false)
	case old.Kind == logic.Async && m.forwarded(old, &back):
		return m.note(old, true)
	}
	return fmt.Errorf("they differ in more than the relations that they read")
}

// note records whether a rule sends its head to the new component or to its old
// destination. All rules that send the same relation must do the same.
func (m *matching) note(r *logic.Rule, leads bool) error {
	if r.Kind != logic.Async {
		return nil
	}
	n := r.Head.Relation.Name
	if was, ok := m.rerouted[n]; ok && was != leads {
		return fmt.Errorf("some rules send %s to the new component and some to the old one; see '%v'", n, r)
	}
	m.rerouted[n] = leads
	return nil
}

// stayed matches the rules of a component that did not move: each is unchanged, or sends
// its head to the new component. In the old component they are followed by rules that
// forward facts.
func (m *matching) stayed(old, new []*logic.Rule, passes bool) error {
	if len(new) < len(old) {
		return fmt.Errorf("rules are missing")
	}
	for i, r := range old {
		switch {
		case exact(new[i]) == exact(r):
			if err := m.note(r, false); err != nil {
				return err
			}
		case r.Kind == logic.Async && m.forwarded(r, new[i]):
			if err := m.note(r, true); err != nil {
				return err
			}
		default:
			return fmt.Errorf("found '%v', want '%v'", new[i], r)
		}
	}
	for _, r := range new[len(old):] {
		if !passes || !m.passesOn(r) {
			return fmt.Errorf("'%v' is an extra rule", r)
		}
		n := r.Body[0].Atom.Relation.Name
		if m.passed[n] != "" || !m.makes(r.Head.Relation) {
			return fmt.Errorf("'%v' forwards a relation that is forwarded already, or under a name that is in use", r)
		}
		m.passed[n] = r.Head.Relation.Name
	}
	return nil
}

// forwarded reports whether new is old, except that it sends to the node to which the
// forwarding relation leads from the old destination.
func (m *matching) forwarded(old, new *logic.Rule) bool {
	n := len(old.Body)
	if len(new.Body) == n+2 && new.Body[n].Assign != nil && exactTerm(new.Body[n].Assign.Term) == exactTerm(old.Dest) {
		return m.leads(old, new, n+1, exactTerm(&logic.Term{Kind: logic.Var, Name: new.Body[n].Assign.Var}))
	}
	return len(new.Body) == n+1 && m.leads(old, new, n, exactTerm(old.Dest))
}

func (m *matching) leads(old, new *logic.Rule, at int, dest string) bool {
	a := new.Body[at].Atom
	if new.Kind != old.Kind || a == nil || new.Body[at].Negated || len(a.Args) != 2 || exactTerm(a.Args[0]) != dest ||
		a.Args[1].Kind != logic.Var || new.Dest.Kind != logic.Var || new.Dest.Name != a.Args[1].Name || uses(old, new.Dest.Name) {
		return false
	}
	back := *new
	back.Body, back.Dest = new.Body[:len(old.Body)], old.Dest
	return exact(&back) == exact(old) && forwards(m.after, a.Relation, unique(m.from.Of, m.from.Name), m.to, 1) == nil
}

func uses(r *logic.Rule, name string) bool {
	found := false
	see := func(v string) { found = found || v == name }
	for i := range r.Body {
		r.Body[i].Vars(see)
	}
	for _, a := range r.Head.Args {
		a.Term.Vars(see)
	}
	r.Dest.Vars(see)
	return found
}

func unique(a, b string) []string {
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}

// passesOn reports whether a rule sends each fact of a relation to the new component.
func (m *matching) passesOn(r *logic.Rule) bool {
	if r.Kind != logic.Async || len(r.Body) != 2 || !copies(r) || r.Body[1].Atom == nil || r.Body[1].Negated {
		return false
	}
	a := r.Body[1].Atom
	return len(a.Args) == 2 && a.Args[0].Kind == logic.Self && a.Args[1].Kind == logic.Var && r.Dest.Kind == logic.Var &&
		r.Dest.Name == a.Args[1].Name && alike(r.Body[0].Atom.Relation, r.Head.Relation) && !uses(&logic.Rule{Head: r.Head, Dest: &logic.Term{}, Body: r.Body[:1]}, r.Dest.Name) &&
		forwards(m.after, a.Relation, unique(m.from.Of, m.from.Name), m.to, 1) == nil
}

// inputs checks that each relation that the moved rules read but do not derive reaches
// them: all senders send it to the new component, if no rule that stays reads it, or the
// old component forwards it. It also checks that the new component keeps it if it must.
func (m *matching) inputs() error {
	derived, keptReads, local := derives(m.h.moved), reads(m.h.kept), derives(m.h.kept)
	for _, n := range inOrder(reads(m.h.moved)) {
		if derived[n] {
			if _, other := m.reads[n]; other {
				return fmt.Errorf("%s, which the moved rules derive, is replaced by another relation", n)
			}
			continue
		}
		now, ok := m.reads[n]
		if !ok {
			now = n
		}
		of, kept := m.kept[now]
		if kept {
			now = of
		} else if m.keep {
			return fmt.Errorf("the new component does not keep %s", n)
		}
		switch {
		case now == n:
			if m.through || keptReads[n] || local[n] || comesFromOutside(m.h.p.Find(n)) {
				return fmt.Errorf("the new component does not receive %s", n)
			}
			if sent, known := m.rerouted[n]; known && !sent {
				return fmt.Errorf("%s is still sent to the old component", n)
			}
		case m.passed[n] != now:
			return fmt.Errorf("%s, which is read in place of %s, is not a copy of it", now, n)
		}
		delete(m.rerouted, n)
	}
	for n, sent := range m.rerouted {
		if sent {
			return fmt.Errorf("%s is sent to the new component, which does not read it", n)
		}
	}
	return nil
}

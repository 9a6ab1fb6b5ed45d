// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// causes returns the relations that may arrive anywhere because the given rules send
// something: the relations that they send, those that readers of these send, and all inputs
// once an output is sent, because clients may react to an answer. In component from only the
// given rules react.
func causes(p *logic.Program, from *logic.Component, rules []*logic.Rule) map[rel]bool {
	out := map[rel]bool{}
	for n := -1; n != len(out); {
		n = len(out)
		for _, c := range p.Components {
			list := c.Rules
			if c == from {
				list = rules
			}
			comes := false
			for r := range reads(list) {
				comes = comes || out[r]
			}
			for _, r := range list {
				if r.Kind != logic.Async || c != from && !comes {
					continue
				}
				out[r.Head.Relation.Name] = true
				if r.Head.Relation.Kind == logic.Output {
					for _, in := range p.Relations {
						if in.Kind == logic.Input {
							out[in.Name] = true
						}
					}
				}
			}
		}
	}
	return out
}

// cause reports whether rules a of a component can make something arrive at rules b.
func cause(p *logic.Program, from *logic.Component, a, b []*logic.Rule) bool {
	caused := causes(p, from, a)
	for _, n := range inOrder(reads(b)) {
		if caused[n] {
			return true
		}
	}
	return false
}

// moments is how the rules of a component, or of a part of one, depend on idle ticks: those
// in which nothing comes in.
type moments struct {
	rules []*logic.Rule
	// in are the incoming relations, awake those that are empty in idle ticks, and brought those
	// that the rules derive and messages bring as well.
	in, awake, brought map[rel]bool
	asserts            func(logic.AssumptionKind, rel) bool
}

// idleTicks checks that rules cannot distinguish idle ticks. It gives each relation an age.
// Age 1: the relation holds for one tick after a tick with inputs, or follows from such a
// relation within the tick. Age 2: it may be older, because an idle tick may add to it or
// delete from it, or because a next rule derives it from a relation with an age. Age 0: idle
// ticks do not touch it. A relation of age 1 must not be joined with received facts, and one
// of age 2 with nothing that depends on received facts. A relation that has an age and
// depends on received facts is joined with itself where a rule aggregates or negates it.
func (h *halves) idleTicks(rules []*logic.Rule) error {
	m := &moments{rules: rules, in: incoming(rules), awake: idle(rules), brought: map[rel]bool{}, asserts: h.assumed}
	for _, n := range inOrder(derives(rules)) {
		m.brought[n] = sent(h.p, h.p.Find(n))
	}
	age := m.ages()
	now, ever := m.stirred(false), m.stirred(true)
	for _, r := range rules {
		if _, carries := r.Persistence(); carries {
			continue
		}
		oldest, places := 0, 0
		for i := range r.Body {
			if a := r.Body[i].Atom; a != nil {
				oldest = max(oldest, age[a.Relation.Name])
			}
		}
		touched := now
		if oldest == 2 {
			touched = ever
		}
		aged, without := 0, false
		for i := range r.Body {
			if a := r.Body[i].Atom; a != nil && (age[a.Relation.Name] > 0 || touched[a.Relation.Name]) {
				places++
				if age[a.Relation.Name] > 0 && touched[a.Relation.Name] {
					aged++
					without = without || r.Body[i].Negated
				}
			}
		}
		together := aged > 0 && (without || r.Head.Aggregates() || r.Head.Relation.Merges())
		if oldest > 0 && m.meets(r, touched, places) || together {
			return fmt.Errorf("'%v' joins what idle ticks change with received facts", r)
		}
	}
	return nil
}

// meets reports whether a rule reads a touched relation beside one that has an age.
func (m *moments) meets(r *logic.Rule, touched map[rel]bool, places int) bool {
	return places > 1 && wakes(&logic.Rule{Body: positive(r.Body)}, touched)
}

// positive returns the atoms of a body without their negations: a rule depends on a relation
// also where it requires the absence of a fact.
func positive(body []logic.Literal) []logic.Literal {
	var out []logic.Literal
	for _, l := range body {
		if l.Atom != nil {
			l.Negated = false
			out = append(out, l)
		}
	}
	return out
}

// stirred returns the relations that depend on a received fact: one of this tick, or, with
// ever, one of any tick.
func (m *moments) stirred(ever bool) map[rel]bool {
	out := map[rel]bool{}
	maps.Copy(out, m.in)
	maps.Copy(out, m.brought)
	for range m.rules {
		for _, r := range m.rules {
			for n := range names(r, any) {
				if out[n] && (r.Kind == logic.Sync || ever && r.Kind == logic.Next) {
					out[r.Head.Relation.Name] = true
				}
			}
		}
	}
	return out
}

// ages returns the age of each relation that has one.
func (m *moments) ages() map[rel]int {
	age := map[rel]int{}
	carried, late := map[rel]bool{}, map[rel]bool{}
	for _, r := range m.rules {
		if _, ok := r.Persistence(); ok {
			carried[r.Head.Relation.Name] = true
		} else if r.Kind == logic.Next {
			late[r.Head.Relation.Name] = true
		}
	}
	fades := m.fading()
	for _, r := range m.rules {
		n := r.Head.Relation.Name
		if r.Kind != logic.Next || m.asserts(logic.Timely, n) {
			continue
		}
		guards, carries := r.Persistence()
		woken := wakes(r, m.in, m.awake)
		switch {
		case carries:
			for _, g := range guards {
				g := g.Atom != nil && g.Negated && (m.in[g.Atom.Relation.Name] || m.awake[g.Atom.Relation.Name] ||
					fades[g.Atom.Relation.Name] && !late[n] && m.onlyWhenWoken(n))
				if !g && !m.asserts(logic.Collected, n) {
					age[n] = 2
				}
			}
		case !carried[n]:
			if age[n] = max(age[n], 1); !woken {
				age[n] = 2
			}
		case !woken && (m.fromNothing(r) || !m.lessLater(r, fades)):
			age[n] = 2
		}
	}
	for range len(m.rules) + 1 {
		for _, r := range m.rules {
			n := r.Head.Relation.Name
			if _, carries := r.Persistence(); carries || r.Kind == logic.Async || m.asserts(logic.Timely, n) {
				continue
			}
			for of := range names(r, any) {
				if older := age[of]; older > 0 {
					if r.Kind == logic.Next {
						older = 2
					}
					age[n] = max(age[n], older)
				}
			}
		}
	}
	return age
}

// onlyWhenWoken reports whether every rule of a relation, except those that carry it, needs
// an input.
func (m *moments) onlyWhenWoken(n rel) bool {
	for _, r := range m.rules {
		if _, carries := r.Persistence(); r.Kind != logic.Async && r.Head.Relation.Name == n && !carries && !wakes(r, m.in, m.awake) {
			return false
		}
	}
	return true
}

// fromNothing reports whether a rule may fire at a node that has received nothing yet and
// carries nothing.
func (m *moments) fromNothing(of *logic.Rule) bool {
	empty := reads(m.rules)
	for range m.rules {
		for _, r := range m.rules {
			if r.Kind == logic.Sync && !wakes(r, empty) {
				delete(empty, r.Head.Relation.Name)
			}
		}
	}
	return !wakes(of, empty)
}

// fading returns the relations that gain no fact in an idle tick.
func (m *moments) fading() map[rel]bool {
	out := derives(m.rules)
	for n := range m.in {
		out[n] = true
	}
	for n := -1; n != len(out); {
		n = len(out)
		for _, r := range m.rules {
			if _, carries := r.Persistence(); carries || r.Kind == logic.Async || r.Kind == logic.Sync && wakes(r, m.in, m.awake) {
				continue
			}
			if r.Kind == logic.Next || r.Head.Relation.Merges() || !m.lessLater(r, out) || (&halves{moved: m.rules}).onlyPassed(r) != nil {
				delete(out, r.Head.Relation.Name)
			}
		}
	}
	return out
}

// lessLater reports whether a rule fires in an idle tick only if it fired in
// the tick before: what it reads fades, and nothing whose absence it requires
// is ever dropped.
func (m *moments) lessLater(r *logic.Rule, fades map[rel]bool) bool {
	for i := range r.Body {
		l := &r.Body[i]
		if l.Atom == nil || l.Atom.Relation.Kind == logic.Static {
			continue
		}
		if ok := fades[l.Atom.Relation.Name]; !l.Negated && !ok || l.Negated && !m.keptWhole(l.Atom.Relation) {
			return false
		}
	}
	return true
}

func (m *moments) keptWhole(of *logic.Relation) bool {
	return !of.Merges() && slices.ContainsFunc(m.rules, func(r *logic.Rule) bool {
		guards, ok := r.Persistence()
		return ok && len(guards) == 0 && r.Head.Relation.Name == of.Name
	})
}

// tickless checks that neither side of a decoupling can observe that an answer from the
// other side took no tick of its own.
func (h *halves) tickless(from *logic.Component) error {
	if cause(h.p, from, h.moved, h.kept) {
		if err := h.idleTicks(h.kept); err != nil {
			return err
		}
	}
	if cause(h.p, from, h.kept, h.moved) {
		return h.idleTicks(h.moved)
	}
	return nil
}

// unhurried reports whether the old component must forward everything that the moved rules
// read: the moved rules may cause an answer, and idle ticks change the kept rules. If so, it
// checks that no moved rule takes an extra tick.
func (h *halves) unhurried(from *logic.Component) (bool, error) {
	if !cause(h.p, from, h.moved, h.kept) {
		return false, nil
	}
	in, empty := incoming(h.kept), idle(h.kept)
	whole, some := map[rel]bool{}, map[rel]bool{}
	for _, r := range h.kept {
		guards, ok := r.Persistence()
		if !ok {
			continue
		}
		some[r.Head.Relation.Name] = some[r.Head.Relation.Name] || !wakes(r, in, empty)
		for _, g := range guards {
			ok = ok && g.Atom != nil && g.Negated && (in[g.Atom.Relation.Name] || empty[g.Atom.Relation.Name])
		}
		whole[r.Head.Relation.Name] = whole[r.Head.Relation.Name] || ok
	}
	still := true
	for _, r := range h.kept {
		if r.Kind != logic.Next {
			continue
		}
		_, carries := r.Persistence()
		n := r.Head.Relation.Name
		if wakes(r, in, empty) {
			still = still && some[n]
		} else {
			still = still && carries && whole[n]
		}
	}
	if still {
		return false, nil
	}
	for _, r := range h.moved {
		if _, ok := r.Persistence(); r.Kind == logic.Next && !ok {
			return true, fmt.Errorf("'%v' takes an extra tick before '%s' is answered, which the rules that stay could observe", r, from.Name)
		}
	}
	return true, nil
}

// SPDX-License-Identifier: Apache-2.0

package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Still reports whether ticks without inputs leave the part unchanged: however many there
// are, the part does the same when the next input arrives. It is StateMachine's condition
// without the one on messages: a message that is sent in such a tick may be late forever.
func Still(p Part) Verdict {
	v := yes()
	inputs, e := p.inputs(), set(Existence(p))
	stays, carried := p.staying(inputs, e)
	for _, r := range p.Rules {
		guards, persistence := r.Persistence()
		switch {
		case r.Kind != logic.Next:
		case driven(r, inputs, e):
			if !carried[r.Head.Relation] {
				v.block(r, nil, r.Head.Relation.Name+" holds for the next tick only, even if nothing is received then",
					"keep it in a table until a rule uses it")
			}
		case !persistence:
			v.block(r, nil, "the rule changes state in ticks in which nothing was received", "")
		default:
			for i := range guards {
				if !stays[r.Head.Relation] && !quiet(&guards[i], inputs, e) {
					v.block(r, &guards[i], "the rule deletes facts in ticks in which nothing was received", "")
				}
			}
		}
	}
	return v
}

// Reaches reports whether a message of part a can cause an input of part b: through other
// components, or through clients, which may react to an answer.
func Reaches(a, b Part) bool {
	seen := map[*logic.Relation]bool{}
	var follow func(rel *logic.Relation) bool
	send := func(rules []*logic.Rule) bool {
		for _, r := range rules {
			if r.Kind == logic.Async && follow(r.Head.Relation) {
				return true
			}
		}
		return false
	}
	follow = func(rel *logic.Relation) bool {
		if seen[rel] {
			return false
		}
		seen[rel] = true
		if b.refs()[rel] {
			return true
		}
		if rel.Kind == logic.Output {
			for _, in := range a.Program.Relations {
				if in.Kind == logic.Input && follow(in) {
					return true
				}
			}
			return false
		}
		for _, c := range a.Program.Components {
			p := Whole(a.Program, c)
			if c == a.Component {
				p = a
			}
			if p.refs()[rel] && send(p.Rules) {
				return true
			}
		}
		return false
	}
	return send(a.Rules)
}

// Timely reports whether the part treats all idle ticks alike. Relations that idle ticks
// change must not be joined with relations that depend on an input of the same tick, or, if
// their facts may be older than a tick, with those that depend on any input.
func Timely(p Part) Verdict {
	v := yes()
	x := p.restless()
	given, caused := p.given(logic.Sync), p.given(logic.Sync, logic.Next)
	brief := x.following(x.brief, x.old)
	old := x.following(x.old)
	v.Assuming = x.assuming
	for _, r := range p.Rules {
		if _, carries := r.Persistence(); carries {
			continue // restless has accounted for what the guards delete
		}
		whole := r.Head.Aggregates() || r.Head.Relation.Merges()
		for i := range r.Body {
			b := &r.Body[i]
			if b.Atom == nil || !brief[b.Atom.Relation] {
				continue
			}
			among := given
			if old[b.Atom.Relation] {
				among = caused
			}
			if g := p.meets(r, b, among, whole); g != nil {
				v.block(r, g, x.because(b.Atom.Relation)+", and is joined with what depends on received facts", x.help(b.Atom.Relation))
				break
			}
		}
	}
	return v
}

// meets returns a literal of the rule, other than b, whose relation is in the set among. It
// may return b itself if the rule aggregates or merges b's facts, or b is negated.
func (p Part) meets(r *logic.Rule, b *logic.Literal, among set, whole bool) *logic.Literal {
	for i := range r.Body {
		if g := &r.Body[i]; g.Atom != nil && among[g.Atom.Relation] && (g != b || whole || b.Negated) {
			return g
		}
	}
	return nil
}

// given returns the relations that depend on inputs by rules of these kinds. A relation that
// the part derives is an input too if another component sends it.
func (p Part) given(kinds ...logic.RuleKind) set {
	out := p.inputs()
	for rel := range p.refs() {
		if p.sent(rel) {
			out[rel] = true
		}
	}
	for range p.Rules {
		for _, r := range p.Rules {
			for i := range r.Body {
				if a := r.Body[i].Atom; a != nil && out[a.Relation] && slices.Contains(kinds, r.Kind) {
					out[r.Head.Relation] = true
				}
			}
		}
	}
	return out
}

// restless has the relations of a part that idle ticks change: ticks without inputs.
type restless struct {
	part Part
	// brief are relations that next rules derive and no rule carries: they hold for the tick
	// after one with inputs.
	brief set
	// old are those that an idle tick may change at any time, because a next rule derives a fact
	// or a guard of a carrying rule deletes one in it.
	old      set
	why      map[*logic.Relation]string
	from     map[*logic.Relation]*logic.Relation // the relation from which another follows
	assuming []logic.Assumption
}

// The reasons why idle ticks change a relation.
const (
	derives = "may be derived in ticks in which nothing was received"
	forgets = "may be deleted in ticks in which nothing was received"
)

// restless finds the relations that idle ticks change. They change no others: in a node that
// has received nothing yet, no next rule fires; and what a node carries out of a tick, it
// also carries out of an idle tick after it.
func (p Part) restless() *restless {
	x := &restless{part: p, brief: set{}, old: set{}, why: map[*logic.Relation]string{}, from: map[*logic.Relation]*logic.Relation{}}
	inputs, e := p.inputs(), set(Existence(p))
	dwindling, early := p.dwindling(inputs, e), p.early()
	carried, fed := set{}, set{}
	for _, r := range p.Rules {
		if _, ok := r.Persistence(); ok {
			carried[r.Head.Relation] = true
		} else if r.Kind == logic.Next {
			fed[r.Head.Relation] = true
		}
	}
	for _, r := range p.Rules {
		rel := r.Head.Relation
		guards, persistence := r.Persistence()
		switch {
		case r.Kind != logic.Next || x.timely(rel):
		case !carried[rel]:
			x.brief[rel] = true
			if !driven(r, inputs, e) {
				x.old[rel], x.why[rel] = true, derives
			}
		case !persistence:
			// What is derived in the tick of an input and then carried is the same in all later ticks.
			if !driven(r, inputs, e) && (early(r) || !dwindling.body(r)) {
				x.old[rel], x.why[rel] = true, derives
			}
		default:
			for i := range guards {
				g := &guards[i]
				prompt := g.Atom != nil && g.Negated && dwindling.of[g.Atom.Relation] && !fed[rel] && p.onlyWoken(rel, inputs, e)
				if quiet(g, inputs, e) || prompt {
					continue
				}
				if a, ok := p.assumed(logic.Collected, rel); ok {
					x.assuming = append(x.assuming, a)
					break
				}
				x.old[rel], x.why[rel] = true, forgets
				break
			}
		}
	}
	return x
}

// following returns the relations in these sets, and those that follow from them. What a next
// rule derives from them is older than a tick.
func (x *restless) following(sets ...set) set {
	out := set{}
	for _, s := range sets {
		for rel := range s {
			out[rel] = true
		}
	}
	for range x.part.Rules {
		for _, r := range x.part.Rules {
			_, carries := r.Persistence()
			for i := range r.Body {
				a, rel := r.Body[i].Atom, r.Head.Relation
				if r.Kind == logic.Async || carries || a == nil || !out[a.Relation] || x.timely(rel) {
					continue
				}
				if r.Kind == logic.Next {
					x.old[rel] = true
				}
				if !out[rel] {
					out[rel] = true
					x.from[rel] = cmp.Or(x.from[a.Relation], a.Relation)
				}
			}
		}
	}
	return out
}

// timely reports whether the author asserts that no reader can observe when a relation
// changed, and records the assertion.
func (x *restless) timely(rel *logic.Relation) bool {
	a, ok := x.part.assumed(logic.Timely, rel)
	if ok && !slices.Contains(x.assuming, a) {
		x.assuming = append(x.assuming, a)
	}
	return ok
}

// because explains why idle ticks change a relation.
func (x *restless) because(rel *logic.Relation) string {
	if why := x.why[rel]; why != "" {
		return rel.Name + " " + why
	}
	if from := x.from[rel]; from != nil {
		return rel.Name + " follows from " + strings.Replace(x.because(from), " ", ", which ", 1)
	}
	return rel.Name + " holds for one tick"
}

func (x *restless) help(rel *logic.Relation) string {
	if from := x.from[rel]; from != nil && x.why[rel] == "" {
		return x.help(from)
	}
	switch x.why[rel] {
	case forgets:
		return fmt.Sprintf("delete it when a fact is received, or add 'assume collected %s' if no rule misses a deleted fact", rel.Name)
	case derives:
		return fmt.Sprintf("derive it when a fact is received, or add 'assume timely %s' if no reader can observe in which of these ticks it is derived", rel.Name)
	}
	return "keep it in a table until a rule uses it"
}

// onlyWoken reports whether all rules of a relation, except those that carry it, need an
// input.
func (p Part) onlyWoken(rel *logic.Relation, inputs, e set) bool {
	for _, r := range p.rulesOf(rel) {
		if _, carries := r.Persistence(); !carries && !driven(r, inputs, e) {
			return false
		}
	}
	return true
}

// early returns a function that reports whether a rule may fire in a node that has received
// nothing yet.
func (p Part) early() func(*logic.Rule) bool {
	possible := set{}
	fires := func(r *logic.Rule) bool {
		return !slices.ContainsFunc(r.Body, func(l logic.Literal) bool {
			return l.Positive() && l.Atom.Relation.Kind != logic.Static && !possible[l.Atom.Relation]
		})
	}
	for range p.Rules {
		for _, r := range p.Rules {
			if r.Kind == logic.Sync && fires(r) {
				possible[r.Head.Relation] = true
			}
		}
	}
	return fires
}

// dwindling has the relations that gain no fact in an idle tick.
type dwindling struct {
	of set
	// whole are tables that delete nothing: a fact that is absent later was absent before.
	whole set
}

func (p Part) dwindling(inputs, e set) *dwindling {
	d := &dwindling{of: set{}, whole: set{}}
	for rel := range inputs {
		d.of[rel] = true
	}
	for rel := range p.local() {
		d.of[rel] = true
		for _, r := range p.rulesOf(rel) {
			if guards, ok := r.Persistence(); ok && len(guards) == 0 && !rel.Merges() {
				d.whole[rel] = true
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, r := range p.Rules {
			rel := r.Head.Relation
			if r.Kind == logic.Async || !d.of[rel] {
				continue
			}
			_, carries := r.Persistence()
			ok := carries || r.Kind == logic.Sync && (driven(r, inputs, e) || d.body(r) && !rel.Merges() && p.onlyPassed(r))
			if !ok {
				delete(d.of, rel)
				changed = true
			}
		}
	}
	return d
}

// body reports whether a rule derives in an idle tick only what it derived in the tick before.
func (d *dwindling) body(r *logic.Rule) bool {
	for i := range r.Body {
		l := &r.Body[i]
		if l.Atom == nil || l.Atom.Relation.Kind == logic.Static {
			continue
		}
		if l.Negated && !d.whole[l.Atom.Relation] || !l.Negated && !d.of[l.Atom.Relation] {
			return false
		}
	}
	return true
}

// onlyPassed reports whether the aggregates of a rule, if any, decrease when there are fewer
// facts, and are only compared with a bound.
func (p Part) onlyPassed(r *logic.Rule) bool {
	for i, a := range r.Head.Args {
		if a.Aggregate == logic.NoAggregate {
			continue
		}
		if a.Aggregate != logic.Count && a.Aggregate != logic.Max && a.Aggregate != logic.Min {
			return false
		}
		for _, reader := range p.Rules {
			for j := range reader.Body {
				if l := &reader.Body[j]; l.Atom != nil && l.Atom.Relation == r.Head.Relation && !passes(reader, l.Atom.Args[i], a.Aggregate) {
					return false
				}
			}
		}
	}
	return true
}

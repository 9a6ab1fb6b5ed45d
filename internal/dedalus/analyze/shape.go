// SPDX-License-Identifier: Apache-2.0

package analyze

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// idb counts the literals of a rule whose relations are not static, and returns the second
// one.
func idb(r *logic.Rule) (n int, second *logic.Literal) {
	for i := range r.Body {
		l := &r.Body[i]
		if l.Atom != nil && l.Atom.Relation.Kind != logic.Static {
			if n++; n == 2 {
				second = l
			}
		}
	}
	return n, second
}

// Functional reports whether each fact that the part derives is a function of one fact: no
// state, no negation, no aggregation, no join except with static relations, and no merging.
// Facts of two ticks may arrive in one tick at a part that receives them, and would merge
// there.
func Functional(p Part) Verdict {
	v := yes()
	for _, r := range p.Rules {
		if r.Kind == logic.Next {
			v.block(r, nil, "the rule carries facts to the next tick", "")
		}
		if r.Head.Aggregates() {
			v.block(r, nil, "the rule aggregates", "")
		}
		if rel := merging(r); rel != nil {
			v.block(r, nil, rel.Name+" merges its facts: two that arrive in one tick become one", "send the facts in another relation, which does not merge")
		}
		for i := range r.Body {
			if r.Body[i].Negated {
				v.block(r, &r.Body[i], "the rule negates a literal", "")
			}
		}
		if n, second := idb(r); n > 1 {
			v.block(r, second, "the rule joins two relations that are not static", "")
		}
	}
	return v
}

// Persisted returns the relations of the part whose facts hold forever once they hold,
// including those of persists, which the caller keeps. Guarded persistence counts if the
// author asserts that no rule misses a deleted fact.
func Persisted(p Part, persists func(*logic.Relation) bool) (map[*logic.Relation]bool, []logic.Assumption) {
	out := map[*logic.Relation]bool{}
	var assuming []logic.Assumption
	for _, rel := range p.Program.Relations {
		if rel.Kind == logic.Static || (rel.Kind != logic.Timer && persists(rel)) {
			out[rel] = true
			continue
		}
		for _, r := range p.rulesOf(rel) {
			guards, ok := r.Persistence()
			if !ok {
				continue
			}
			if a, asserted := p.assumed(logic.Collected, rel); len(guards) == 0 {
				out[rel] = true
			} else if asserted {
				out[rel] = true
				assuming = append(assuming, a)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for rel := range p.local() {
			if !out[rel] && followsPersisted(p, rel, out) {
				out[rel], changed = true, true
			}
		}
	}
	return out, assuming
}

// followsPersisted reports whether all rules of the relation derive it within the tick, without
// negation and aggregation, from persisted relations, and no component sends it: a received
// fact holds for one tick.
func followsPersisted(p Part, rel *logic.Relation, persisted map[*logic.Relation]bool) bool {
	if p.sent(rel) {
		return false
	}
	rules := p.rulesOf(rel)
	for _, r := range rules {
		if r.Kind != logic.Sync || r.Head.Aggregates() {
			return false
		}
		for i := range r.Body {
			if a := r.Body[i].Atom; a != nil && (r.Body[i].Negated || !persisted[a.Relation]) {
				return false
			}
		}
	}
	return len(rules) > 0
}

// Monotonic reports whether the results of the part only grow with its inputs, if all inputs
// are persisted. Aggregates are allowed if they only grow and are only compared with a bound
// that they pass once.
func Monotonic(p Part) Verdict {
	v := yes()
	inputs := p.inputs()
	persisted, assuming := Persisted(p, func(r *logic.Relation) bool { return inputs[r] })
	used := map[string]bool{}
	for _, r := range p.Rules {
		if rel := merging(r); rel != nil {
			v.block(r, nil, rel.Name+" merges its facts, so the earlier value is lost", "")
			continue
		}
		guards, persistence := r.Persistence()
		if _, asserted := p.assumed(logic.Collected, r.Head.Relation); persistence && len(guards) > 0 && asserted {
			used[r.Head.Relation.Name] = true
			continue
		}
		for i := range r.Body {
			l := &r.Body[i]
			switch {
			case l.Atom == nil || l.Atom.Relation.Kind == logic.Static:
			case l.Negated && persistence:
				v.block(r, l, r.Head.Relation.Name+" can be deleted", fmt.Sprintf("add 'assume collected %s' if no rule misses a deleted fact", r.Head.Relation.Name))
			case l.Negated:
				v.block(r, l, "the rule negates a literal", "")
			case l.Atom.Relation.Kind == logic.Timer:
				v.block(r, l, "the rule waits for a timer", "")
			case !persisted[l.Atom.Relation] && r.Head.Aggregates():
				v.block(r, l, "the rule aggregates "+l.Atom.Relation.Name+", which is not persisted", "")
			}
		}
		if r.Head.Aggregates() {
			threshold(p, r, &v)
		}
	}
	for _, a := range assuming {
		if used[a.Relation] {
			v.Assuming = append(v.Assuming, a)
		}
	}
	return v
}

// merging returns a relation that the rule derives or reads and that merges its facts, or nil.
func merging(r *logic.Rule) *logic.Relation {
	if r.Head.Relation.Merges() {
		return r.Head.Relation
	}
	for i := range r.Body {
		if a := r.Body[i].Atom; a != nil && a.Relation.Merges() {
			return a.Relation
		}
	}
	return nil
}

// threshold blocks unless the aggregates of a rule only grow, and rules that read them only
// compare them with a bound.
func threshold(p Part, r *logic.Rule, v *Verdict) {
	if _, growing := p.assumed(logic.Growing, r.Head.Relation); growing {
		a, _ := p.assumed(logic.Growing, r.Head.Relation)
		v.Assuming = append(v.Assuming, a)
		return
	}
	for i, a := range r.Head.Args {
		switch a.Aggregate {
		case logic.NoAggregate:
			continue
		case logic.Count, logic.Max, logic.Min:
		default:
			v.block(r, nil, fmt.Sprintf("the result of '%v' does not only grow", a.Aggregate), "")
			continue
		}
		for _, reader := range p.Rules {
			for j := range reader.Body {
				l := &reader.Body[j]
				if l.Atom != nil && l.Atom.Relation == r.Head.Relation && !passes(reader, l.Atom.Args[i], a.Aggregate) {
					v.block(reader, l, fmt.Sprintf("the %v in %s is used for more than a comparison with a bound", a.Aggregate, r.Head.Relation.Name),
						fmt.Sprintf("compare it with >=, or add 'assume growing %s' if nothing depends on its exact value", r.Head.Relation.Name))
				}
			}
		}
	}
}

// passes reports whether a rule uses a term only to check whether it has passed a bound.
func passes(r *logic.Rule, t *logic.Term, a logic.Aggregate) bool {
	if t.Kind == logic.Wildcard {
		return true
	}
	if t.Kind != logic.Var {
		return false
	}
	uses := 0
	count := func(n string) {
		if n == t.Name {
			uses++
		}
	}
	compares := 0
	for i := range r.Body {
		l := &r.Body[i]
		l.Vars(count)
		if c := l.Compare; c != nil {
			up := c.Op == logic.Greater || c.Op == logic.GreaterEqual
			down := c.Op == logic.Less || c.Op == logic.LessEqual
			left, right := isVar(c.Left, t.Name), isVar(c.Right, t.Name)
			if grows := a != logic.Min; (left && up == grows && up != down) || (right && down == grows && up != down) {
				compares++
			}
		}
	}
	for _, h := range r.Head.Args {
		h.Term.Vars(count)
	}
	if r.Dest != nil {
		r.Dest.Vars(count)
	}
	return uses == compares+1
}

func isVar(t *logic.Term, name string) bool { return t.Kind == logic.Var && t.Name == name }

// Existence returns the relations of the part that are empty in every tick without inputs,
// that is, without messages and timers.
func Existence(p Part) map[*logic.Relation]bool {
	inputs, e := p.inputs(), set{}
	for r := range p.local() {
		e[r] = true
	}
	for changed := true; changed; {
		changed = false
		for _, r := range p.Rules {
			if r.Kind != logic.Async && e[r.Head.Relation] && (r.Kind == logic.Next || !driven(r, inputs, e)) {
				delete(e, r.Head.Relation)
				changed = true
			}
		}
	}
	return e
}

// driven reports whether a rule has a literal that holds only in ticks with inputs.
func driven(r *logic.Rule, inputs, e set) bool {
	for i := range r.Body {
		if l := &r.Body[i]; l.Positive() && (inputs[l.Atom.Relation] || e[l.Atom.Relation]) {
			return true
		}
	}
	return false
}

// StateMachine reports whether the part changes and sends only in ticks with inputs. Then it
// does the same at other times, as long as the order of its inputs and which of them arrive
// together stay the same. It must carry its state through all ticks without inputs: whether a
// fact that holds only in the next tick meets the next input would depend on when that
// arrives.
func StateMachine(p Part) Verdict {
	v := yes()
	inputs, e := p.inputs(), set(Existence(p))
	stays, carried := p.staying(inputs, e)
	for _, r := range p.Rules {
		guards, persistence := r.Persistence()
		switch {
		case driven(r, inputs, e):
			if r.Kind == logic.Next && !carried[r.Head.Relation] {
				v.block(r, nil, r.Head.Relation.Name+" holds for the next tick only, even if nothing is received then",
					"keep it in a table until a rule uses it")
			}
		case r.Kind == logic.Async:
			v.block(r, nil, "the rule sends in ticks in which nothing was received", "make it depend on a received fact, or on a timer")
		case r.Kind == logic.Next && !persistence:
			v.block(r, nil, "the rule changes state in ticks in which nothing was received", "")
		case r.Kind == logic.Next:
			for i := range guards {
				if !stays[r.Head.Relation] && !quiet(&guards[i], inputs, e) {
					v.block(r, &guards[i], "the rule deletes facts in ticks in which nothing was received", "")
				}
			}
		}
	}
	return v
}

// staying returns the relations that the part carries through ticks without inputs: whole has
// those of which it carries all facts, carried those of which it carries at least some.
func (p Part) staying(inputs, e set) (whole, carried set) {
	whole, carried = set{}, set{}
	for _, r := range p.Rules {
		guards, ok := r.Persistence()
		if ok && !driven(r, inputs, e) {
			carried[r.Head.Relation] = true
		}
		for i := range guards {
			ok = ok && quiet(&guards[i], inputs, e)
		}
		if ok {
			whole[r.Head.Relation] = true
		}
	}
	return whole, carried
}

// quiet reports whether a guard deletes nothing in ticks without inputs.
func quiet(g *logic.Literal, inputs, e set) bool {
	return g.Atom != nil && g.Negated && (e[g.Atom.Relation] || inputs[g.Atom.Relation])
}

// Fleeting returns the relations of the part that become empty after some ticks without
// inputs: those of Existence, and those that next rules derive from such relations.
func Fleeting(p Part) map[*logic.Relation]bool {
	inputs, f := p.inputs(), set{}
	for grown := true; grown; {
		// A relation that depends on itself within the tick is as fleeting as its other sources; one
		// that depends on itself for the next tick is not fleeting.
		g := set{}
		for r := range p.local() {
			g[r] = true
		}
		for changed := true; changed; {
			changed = false
			for _, r := range p.Rules {
				among := f
				if r.Kind == logic.Sync {
					among = g
				}
				if r.Kind != logic.Async && g[r.Head.Relation] && !driven(r, inputs, among) {
					delete(g, r.Head.Relation)
					changed = true
				}
			}
		}
		grown = len(g) > len(f)
		f = g
	}
	return f
}

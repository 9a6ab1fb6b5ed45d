// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// A component may keep changing for some ticks after an input: for example, it logs a
// decision, sends it, and deletes the votes once the decision is durable. Partial
// partitioning allows this only if replicated inputs carry no data, such as a timer that a
// relay has forwarded. How long a piece keeps changing depends on its last divided input,
// and differs from piece to piece. So a piece votes when it has come to rest, and stays
// frozen after its turn until it is at rest again. At rest a further tick changes nothing,
// so the number of such ticks does not matter: the original node goes through as many as
// the slowest piece.
//
// The fact C_busy says that a piece is not at rest: the next tick would gain or lose a
// carried fact. A piece always comes to rest: rules that fire without an input only add
// existing values to relations that delete nothing, or only delete; and relations that do
// not last depend only on such relations, never on themselves.

// clocked reports whether no replicated input carries a value: only its arrival matters.
func (w *replication) clocked() bool {
	return !slices.ContainsFunc(w.replicated, func(r *logic.Relation) bool { return len(r.Columns) > 0 })
}

// lasting is how long the facts that next rules derive hold.
type lasting uint8

const (
	uncarried lasting = iota // no next rule derives it
	brief                    // no rule carries it
	forgetful                // a rule with guards carries it
	forever
)

// lasts returns how long the facts of a relation hold.
func (w *replication) lasts(rel *logic.Relation) lasting {
	out := uncarried
	for _, r := range w.c.Rules {
		if r.Kind != logic.Next || r.Head.Relation != rel {
			continue
		}
		switch guards, carries := r.Persistence(); {
		case !carries:
			out = max(out, brief)
		case len(guards) > 0:
			out = max(out, forgetful)
		default:
			out = forever
		}
	}
	return out
}

// caused reports whether a rule fires only in the first ticks after an input.
func (w *replication) caused(r *logic.Rule) bool {
	return slices.ContainsFunc(r.Body, func(l logic.Literal) bool {
		_, ok := w.lag[literalRelation(l)]
		return l.Positive() && ok
	})
}

// settles reports whether the component comes to rest without inputs, and no other component
// can observe how far it has come.
func (w *replication) settles() analyze.Verdict {
	if len(w.summed) > 0 {
		return no(nil, "the component counts over all keys, and keeps changing in ticks in which nothing was received")
	}
	v := analyze.Timely(analyze.Whole(w.p, w.c))
	for _, r := range w.c.Rules {
		and(&v, w.rests(r))
	}
	for _, rel := range w.p.Relations {
		if w.lasts(rel) == brief && w.feeds(rel, rel, map[*logic.Relation]bool{}) ||
			w.lasts(rel) == forever && w.around(rel) {
			and(&v, no(w.deriving(rel), rel.Name+" may change forever in ticks in which nothing was received"))
		}
	}
	return v
}

// rests says whether a rule allows the component to come to rest.
func (w *replication) rests(r *logic.Rule) analyze.Verdict {
	head := r.Head.Relation
	kind := w.lasts(head)
	guards, carries := r.Persistence()
	block := func(l *logic.Literal, why string) analyze.Verdict {
		return analyze.Verdict{Because: []analyze.Blocker{{Rule: r, Literal: l, Why: why}}}
	}
	switch {
	case r.Kind == logic.Sync && (kind == brief || kind == forgetful) && !w.caused(r):
		return block(nil, head.Name+" is derived in ticks in which nothing was received, and is not kept")
	case r.Kind != logic.Next:
	case carries:
		for i := range guards {
			if !guards[i].Negated {
				return block(&guards[i], "the rule deletes facts by a condition other than the presence of a fact")
			}
		}
	case r.Head.Aggregates():
		return block(nil, "the rule carries an aggregate to the next tick")
	case w.caused(r):
	case kind == forgetful:
		return block(nil, "in ticks in which nothing was received, the rule derives facts that can be deleted again")
	case head.Merges():
		return block(nil, "the rule merges facts in ticks in which nothing was received")
	case slices.ContainsFunc(r.Body, func(l logic.Literal) bool { return l.Assign != nil }) ||
		slices.ContainsFunc(r.Head.Args, func(a logic.HeadArg) bool { return a.Term.Kind == logic.Call }):
		return block(nil, "the rule computes new values in ticks in which nothing was received")
	}
	return analyze.Verdict{Holds: true}
}

// deriving returns a rule that derives a relation for the next tick.
func (w *replication) deriving(rel *logic.Relation) *logic.Rule {
	i := slices.IndexFunc(w.c.Rules, func(r *logic.Rule) bool { return r.Kind == logic.Next && r.Head.Relation == rel })
	return w.c.Rules[i]
}

// around reports whether a relation depends on itself through another carried relation.
func (w *replication) around(rel *logic.Relation) bool {
	seen := map[*logic.Relation]bool{}
	for _, other := range w.needs(rel) {
		if other != rel && w.feeds(other, rel, seen) {
			return true
		}
	}
	return false
}

// feeds reports whether the changes of rel in ticks without inputs depend on relation on,
// directly or through other relations.
func (w *replication) feeds(rel, on *logic.Relation, seen map[*logic.Relation]bool) bool {
	if seen[rel] {
		return false
	}
	seen[rel] = true
	return slices.ContainsFunc(w.needs(rel), func(o *logic.Relation) bool { return o == on || w.feeds(o, on, seen) })
}

// needs returns the carried relations on which the rules depend that add to rel in ticks
// without inputs.
func (w *replication) needs(rel *logic.Relation) []*logic.Relation {
	var out []*logic.Relation
	seen := relations{}
	var see func(r *logic.Rule)
	see = func(r *logic.Rule) {
		for i := range r.Body {
			a := r.Body[i].Atom
			if a == nil || seen[a.Relation] {
				continue
			}
			seen[a.Relation] = true
			if w.lasts(a.Relation) != uncarried {
				out = append(out, a.Relation)
			}
			for _, o := range w.c.Rules {
				if o.Kind == logic.Sync && o.Head.Relation == a.Relation {
					see(o)
				}
			}
		}
	}
	for _, r := range w.c.Rules {
		if _, carries := r.Persistence(); r.Kind == logic.Next && r.Head.Relation == rel && !carries && !w.caused(r) {
			see(r)
		}
	}
	return out
}

// settle writes the rules that detect whether a piece is at rest, derived from its own rules,
// and those that keep it frozen after its turn until it is.
func (t *template) settle(own []*logic.Rule) {
	t.rules(t.c, t.fill(`
		next $C_report(part) <- $C_report(part), $C_busy()
		next $C_settling() <- $C_turn(_, _)
		next $C_settling() <- $C_settling(), $C_busy()
		sync $C_frozen() <- $C_settling()`))
	busy := t.names[t.c.Name+"_busy"]
	rule := func(head logic.Head, r *logic.Rule, body ...logic.Literal) {
		t.c.Rules = append(t.c.Rules, &logic.Rule{Kind: logic.Sync, Head: head, Body: body, Origin: t.origin, Span: r.Span})
	}
	brevity := map[*logic.Relation]*logic.Relation{}
	for _, r := range own {
		if r.Kind != logic.Next {
			continue
		}
		rel := r.Head.Relation
		if guards, carries := r.Persistence(); carries {
			for _, g := range guards {
				g.Negated = false
				rule(logic.Head{Relation: busy}, r, bare(carriedOn(r), g), g)
			}
			continue
		}
		derived := slices.Clone(r.Body)
		if t.lasts(rel) == brief {
			then := t.relation(rel.Name+"_then", "", plain(rel.Columns)...)
			rule(logic.Head{Relation: then, Args: r.Head.Args}, r, derived...)
			if brevity[rel] == nil {
				brevity[rel] = then
				t.rules(t.c, t.fill(`
					sync $C_busy() <- $r($X), not $r_then($X)
					sync $C_busy() <- $r_then($X), not $r($X)`, of(rel)...))
			}
			continue
		}
		has := logic.Literal{Negated: true, Atom: &logic.Atom{Relation: rel}, Span: r.Span}
		for _, a := range r.Head.Args {
			has.Atom.Args = append(has.Atom.Args, a.Term)
		}
		rule(logic.Head{Relation: busy}, r, append(derived, has)...)
	}
}

// bare returns a literal with a wildcard for each variable that the other does not use.
func bare(l, other logic.Literal) logic.Literal {
	used := map[string]bool{}
	other.Vars(func(v string) { used[v] = true })
	a := &logic.Atom{Relation: l.Atom.Relation}
	for _, t := range l.Atom.Args {
		if !used[t.Name] {
			t = &logic.Term{Kind: logic.Wildcard}
		}
		a.Args = append(a.Args, t)
	}
	return logic.Literal{Atom: a, Span: l.Span}
}

// carriedOn returns the literal of a carrying rule that reads the carried relation.
func carriedOn(r *logic.Rule) logic.Literal {
	return r.Body[slices.IndexFunc(r.Body, func(l logic.Literal) bool { return l.Positive() && l.Atom.Relation == r.Head.Relation })]
}

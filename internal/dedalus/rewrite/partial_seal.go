// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// seals finds the relations to seal: those that are sent when a replicated input is
// processed and depend on divided facts, if all rules that send them do so only then, and
// all pieces know the destination. A sum must be sealed; others may arrive in parts.
func (w *replication) seals() analyze.Verdict {
	for _, rel := range w.p.Out(w.c) {
		s := &seal{rel: rel, sum: -1}
		divided := false
		for _, r := range w.c.Rules {
			if r.Kind != logic.Async || r.Head.Relation != rel {
				continue
			}
			s.rules = append(s.rules, r)
			if l := w.summand(r); l != nil {
				s.sum = slices.IndexFunc(r.Head.Args, func(a logic.HeadArg) bool { return a.Term.Kind == logic.Var && a.Term.Name == l.Atom.Args[0].Name })
			}
			divided = divided || slices.ContainsFunc(r.Body, w.divides)
		}
		if !divided {
			continue
		}
		v := w.sealable(s)
		switch {
		case v.Holds:
			w.sealed = append(w.sealed, s)
		case s.sum >= 0:
			return v
		}
	}
	return analyze.Verdict{Holds: true}
}

// sealable reports whether a relation can be sealed.
func (w *replication) sealable(s *seal) analyze.Verdict {
	if s.rel.Kind != logic.Derived {
		return no(s.rules[0], s.rel.Name+" is an output, and clients cannot add up what the pieces send")
	}
	if s.rel.Merges() {
		return no(s.rules[0], s.rel.Name+" merges its facts, so they cannot be counted")
	}
	for _, r := range s.rules {
		switch l := w.summand(r); {
		case !w.ordered(r):
			return no(r, s.rel.Name+" is sent here at other times than when a replicated input is processed")
		case (s.sum >= 0) != (l != nil) || l != nil && (r.Head.Args[s.sum].Term.Kind != logic.Var || r.Head.Args[s.sum].Term.Name != l.Atom.Args[0].Name):
			return no(r, s.rel.Name+" is not the same sum here as in the other rules that send it")
		}
		if _, ok := w.destinations(r); !ok {
			return no(r, fmt.Sprintf("the destination of %s depends on a divided relation", s.rel.Name))
		}
	}
	for _, o := range w.p.Components {
		for _, r := range o.Rules {
			switch {
			case o != w.c && r.Kind == logic.Async && r.Head.Relation == s.rel:
				return no(r, fmt.Sprintf("%s is also sent by %s", s.rel.Name, o.Name))
			case reads(r, s.rel) && (o == w.c || o.Partitions > 1):
				return no(r, fmt.Sprintf("%s is received by %s, which is divided", s.rel.Name, o.Name))
			}
		}
	}
	return analyze.Verdict{Holds: true}
}

// destinations returns the literals of a rule's body that all pieces evaluate alike; they
// determine the possible destinations, perhaps more than the rule sends to. It reports whether
// they bind the destination.
func (w *replication) destinations(r *logic.Rule) ([]logic.Literal, bool) {
	bound := map[string]bool{}
	known := func(l logic.Literal) bool {
		all := true
		l.Vars(func(v string) { all = all && (bound[v] || l.Assign != nil && v == l.Assign.Var) })
		return all
	}
	var out []logic.Literal
	for _, l := range r.Body {
		if w.divides(l) || !l.Positive() && !known(l) {
			continue
		}
		out = append(out, l)
		if !l.Negated {
			l.Vars(func(v string) { bound[v] = true })
		}
	}
	ok := true
	r.Dest.Vars(func(v string) { ok = ok && bound[v] })
	return out, ok && len(out) > 0
}

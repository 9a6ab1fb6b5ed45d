// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// relations is a set of relations.
type relations map[*logic.Relation]bool

// replication states how a component is divided partially.
type replication struct {
	p *logic.Program
	c *logic.Component
	// replicated are the inputs that all pieces receive in the same order, and divided the other
	// inputs, each in the order of the program.
	replicated, divided []*logic.Relation
	// keyed are the relations that depend on a divided input; all others are global, which means
	// the same at all pieces. summed are the keyed relations that count facts of all keys: each
	// piece has a part of the sum.
	keyed, summed relations
	// lag has the relations that hold facts only in the first ticks after an input, with the
	// maximum number of ticks; globalLag has those that do so only after a replicated input.
	lag, globalLag map[*logic.Relation]int
	// depth is the number of further ticks in which a replicated input has effects.
	depth  int
	keys   analyze.Keys
	sealed []*seal
	// settling reports that the component may keep changing after an input, so that pieces vote
	// only when they have come to rest.
	settling bool
	// assuming are the author's assertions on which the replication depends.
	assuming []logic.Assumption
}

// seal is a relation that is sent when a replicated input is processed, one part by each
// piece; sum is the column in which the parts are added up, or -1.
type seal struct {
	rel   *logic.Relation
	rules []*logic.Rule
	sum   int
}

// replicatedMax is the maximum number of inputs of a component: replicate tries all sets of
// them.
const replicatedMax = 8

// replicate chooses the inputs to replicate: as few as possible, then in the order of the
// program.
func replicate(p *logic.Program, c *logic.Component, s Step) (*replication, analyze.Verdict) {
	in := p.In(c)
	if len(in) > replicatedMax {
		return nil, no(nil, fmt.Sprintf("%s has %d inputs; at most %d can be tried", c.Name, len(in), replicatedMax))
	}
	for _, rel := range in {
		if rel.Kind == logic.Input || rel.Kind == logic.Timer {
			r := reader(c, rel)
			return nil, analyze.Verdict{Because: []analyze.Blocker{{Rule: r, Why: rel.Name + " comes from outside, where no component can order or divide it", Help: "put a relay in front of the component to receive it"}}}
		}
	}
	if v := derivedOrSent(p, c); !v.Holds {
		return nil, v
	}
	all, why := analyze.Verdict{}, map[int]string{}
	for n := 1; n < len(in); n++ {
		for mask := range 1 << len(in) {
			var some []*logic.Relation
			keyless := 0 // inputs without columns among those to divide
			for i, rel := range in {
				if mask>>i&1 == 1 {
					some = append(some, rel)
				} else if len(rel.Columns) == 0 {
					keyless++
				}
			}
			if len(some) != n || keyless > 0 || slices.ContainsFunc(some, func(r *logic.Relation) bool { _, by := s.By[r.Name]; return by }) {
				continue
			}
			w := &replication{p: p, c: c, replicated: some}
			v := w.allowed(s)
			if v.Holds {
				return w, v
			}
			why[mask] = fmt.Sprint(v.Because)
			if told(why, mask) {
				continue
			}
			for _, b := range v.Because {
				b.Why = "with " + some[0].Name + more(some) + " replicated: " + b.Why
				all.Because = append(all.Because, b)
			}
		}
	}
	if len(all.Because) == 0 {
		return nil, no(nil, fmt.Sprintf("%s has no two inputs of which one could be replicated and the others divided", c.Name))
	}
	return nil, all
}

// told reports whether replicating fewer of these inputs fails for the same reason.
func told(why map[int]string, mask int) bool {
	for less, w := range why {
		if less != mask && less&mask == less && w == why[mask] {
			return true
		}
	}
	return false
}

// derivedOrSent reports whether each relation that the component reads is either derived there
// or sent to it, but not both: such a relation would have to be divided as an input is.
func derivedOrSent(p *logic.Program, c *logic.Component) analyze.Verdict {
	in := p.In(c)
	for _, rel := range p.Refs(c) {
		for _, o := range p.Components {
			for _, r := range o.Rules {
				if r.Kind == logic.Async && r.Head.Relation == rel && !slices.Contains(in, rel) {
					v := no(r, rel.Name+" is received here, and derived here as well")
					v.Because[0].Help = sendAnother
					return v
				}
			}
		}
	}
	return analyze.Verdict{Holds: true}
}

// sendAnother is the advice for a relation that is derived where it is received.
const sendAnother = "send it in another relation, and derive it from that one"

func more(some []*logic.Relation) string {
	text := ""
	for _, r := range some[1:] {
		text += ", " + r.Name
	}
	return text
}

func reader(c *logic.Component, rel *logic.Relation) *logic.Rule {
	if i := slices.IndexFunc(c.Rules, func(r *logic.Rule) bool { return reads(r, rel) }); i >= 0 {
		return c.Rules[i]
	}
	return nil
}

// allowed finds the rest of the replication, and reports whether it preserves the program.
func (w *replication) allowed(s Step) analyze.Verdict {
	for _, rel := range w.p.In(w.c) {
		if !slices.Contains(w.replicated, rel) {
			w.divided = append(w.divided, rel)
		}
	}
	w.keyed = w.reached(w.divided)
	w.lag = w.lags(append(slices.Clone(w.replicated), w.divided...))
	w.globalLag = w.lags(w.replicated)
	for _, lag := range w.globalLag {
		w.depth = max(w.depth, lag)
	}
	w.summed = relations{}
	for _, r := range w.c.Rules {
		if rel := r.Head.Relation; r.Head.Aggregates() && len(rel.Columns) == 1 && !rel.Merges() && len(r.Body) == 1 && r.Body[0].Atom != nil && w.keyed[rel] && rel.Kind == logic.Derived {
			w.summed[rel] = true
		}
	}
	keys, v := w.divisible(s)
	if !v.Holds {
		return v
	}
	w.keys = keys
	if v := w.every(w.sums); !v.Holds {
		return v
	}
	if v := w.every(w.steady); !v.Holds {
		if !w.clocked() {
			return v
		}
		if v = w.settles(); !v.Holds {
			return v
		}
		w.settling, w.assuming = true, v.Assuming
	}
	return w.seals()
}

// every returns the first verdict on a rule of the component that does not hold, or else a
// verdict that holds.
func (w *replication) every(holds func(r *logic.Rule) analyze.Verdict) analyze.Verdict {
	for _, r := range w.c.Rules {
		if v := holds(r); !v.Holds {
			return v
		}
	}
	return analyze.Verdict{Holds: true}
}

// reached returns the given relations, and those that the component derives from them.
func (w *replication) reached(from []*logic.Relation) relations {
	out := relations{}
	for _, r := range from {
		out[r] = true
	}
	for changed := true; changed; {
		changed = false
		for _, r := range w.c.Rules {
			if r.Kind == logic.Async || out[r.Head.Relation] {
				continue
			}
			for rel := range out {
				if reads(r, rel) {
					out[r.Head.Relation], changed = true, true
					break
				}
			}
		}
	}
	return out
}

// lags returns the relations that hold facts only in the first ticks after one of the given
// inputs, with the maximum number of ticks. It includes the inputs.
func (w *replication) lags(from []*logic.Relation) map[*logic.Relation]int {
	out := map[*logic.Relation]int{}
	for _, r := range from {
		out[r] = 0
	}
	for n := 0; ; n++ {
		next := relations{}
		for _, r := range w.c.Rules {
			if _, known := out[r.Head.Relation]; r.Kind != logic.Async && !known {
				next[r.Head.Relation] = true
			}
		}
		for changed := true; changed; {
			changed = false
			for _, r := range w.c.Rules {
				if next[r.Head.Relation] && r.Kind != logic.Async && !follows(r, out, next, n) {
					delete(next, r.Head.Relation)
					changed = true
				}
			}
		}
		if n > 0 && len(next) == 0 {
			return out
		}
		for r := range next {
			out[r] = n
		}
	}
}

// follows reports whether a rule derives facts only up to n ticks after an input, assuming
// this for the relations in next; known has the lags of others.
func follows(r *logic.Rule, known map[*logic.Relation]int, next relations, n int) bool {
	return slices.ContainsFunc(r.Body, func(l logic.Literal) bool {
		if !l.Positive() {
			return false
		}
		lag, ok := known[l.Atom.Relation]
		if r.Kind == logic.Next {
			return ok && lag < n
		}
		return ok || next[l.Atom.Relation]
	})
}

// divisible finds keys for the relations that depend on divided inputs, except the summed
// ones. It does so in a copy of the program in which global relations are static.
func (w *replication) divisible(s Step) (analyze.Keys, analyze.Verdict) {
	q := w.p.Clone()
	c := q.Component(w.c.Name)
	part := analyze.Part{Program: q, Component: c}
	for i, r := range w.c.Rules {
		if !w.summed[r.Head.Relation] && w.touches(r) && w.summand(r) == nil && !w.anywhere(r) {
			part.Rules = append(part.Rules, c.Rules[i])
		}
	}
	for i, rel := range w.p.Relations {
		if rel.Kind == logic.Derived && (!w.keyed[rel] || w.summed[rel]) && w.local(rel) {
			q.Relations[i].Kind = logic.Static
		}
	}
	ways, v := analyze.Partition(part)
	if !v.Holds {
		return nil, v
	}
	i := slices.IndexFunc(ways, func(k analyze.Keys) bool { return s.wants(k) })
	if i < 0 {
		return nil, no(nil, fmt.Sprintf("there are %d ways to divide the other inputs, but none by the keys that the step names", len(ways)))
	}
	keys := analyze.Keys{}
	for rel, k := range ways[i] {
		keys[w.p.Find(rel.Name)] = k
	}
	for _, rel := range w.p.Refs(w.c) {
		if _, ok := keys[rel]; !ok && w.keyed[rel] && !w.summed[rel] {
			return nil, no(reader(w.c, rel), rel.Name+" has no key")
		}
	}
	return keys, v
}

// anywhere reports whether a rule sends a message for each divided fact, and ignores some of
// its columns. Any piece may apply such a rule, whatever the key.
func (w *replication) anywhere(r *logic.Rule) bool {
	n, parts := 0, false
	for _, l := range r.Body {
		if w.divides(l) {
			n++
			parts = parts || slices.ContainsFunc(l.Atom.Args, func(t *logic.Term) bool { return t.Kind == logic.Wildcard })
			if l.Negated {
				return false
			}
		}
	}
	return n == 1 && parts && r.Kind == logic.Async
}

// local reports whether the component reads or derives a relation.
func (w *replication) local(rel *logic.Relation) bool {
	return slices.ContainsFunc(w.c.Rules, func(r *logic.Rule) bool {
		return reads(r, rel) || r.Kind != logic.Async && r.Head.Relation == rel
	})
}

// touches reports whether a rule reads or derives a divided relation.
func (w *replication) touches(r *logic.Rule) bool {
	return r.Kind != logic.Async && w.keyed[r.Head.Relation] || slices.ContainsFunc(r.Body, w.divides)
}

// divides reports whether the relation of a literal is divided.
func (w *replication) divides(l logic.Literal) bool { return l.Atom != nil && w.keyed[l.Atom.Relation] }

// summand returns the literal of a rule that reads a summed relation, or nil.
func (w *replication) summand(r *logic.Rule) *logic.Literal {
	for i := range r.Body {
		if a := r.Body[i].Atom; a != nil && w.summed[a.Relation] {
			return &r.Body[i]
		}
	}
	return nil
}

// ordered reports whether a rule fires only while a replicated input is processed.
func (w *replication) ordered(r *logic.Rule) bool {
	return slices.ContainsFunc(r.Body, func(l logic.Literal) bool {
		_, ok := w.globalLag[literalRelation(l)]
		return l.Positive() && ok
	})
}

func literalRelation(l logic.Literal) *logic.Relation {
	if l.Atom == nil {
		return nil
	}
	return l.Atom.Relation
}

// echo reports whether the relation of a literal has facts some ticks after a divided input.
// It is unknown which inputs arrive in those ticks.
func (w *replication) echo(l logic.Literal) bool {
	rel := literalRelation(l)
	_, global := w.globalLag[rel]
	return !global && w.lag[rel] > 0
}

// steady reports whether a rule changes state and sends only because of inputs, so that ticks
// without inputs make no difference. A divided input may have effects in later ticks only as
// messages that depend on nothing else.
func (w *replication) steady(r *logic.Rule) analyze.Verdict {
	head := r.Head.Relation
	block := func(l *logic.Literal, why, help string) analyze.Verdict {
		return analyze.Verdict{Because: []analyze.Blocker{{Rule: r, Literal: l, Why: why, Help: help}}}
	}
	for i := range r.Body {
		if l := &r.Body[i]; w.echo(*l) {
			others := slices.ContainsFunc(r.Body, func(o logic.Literal) bool {
				return o.Atom != nil && o.Atom.Relation.Kind != logic.Static && o.Atom != l.Atom
			})
			_, passing := w.lag[head]
			if others || l.Negated || r.Head.Aggregates() || r.Kind != logic.Async && !passing {
				return block(l, l.Atom.Relation.Name+" is derived some ticks after a divided input, and is joined with what arrives then", "derive it in the tick in which the input arrives")
			}
			return analyze.Verdict{Holds: true}
		}
	}
	driven := slices.ContainsFunc(r.Body, func(l logic.Literal) bool {
		_, ok := w.lag[literalRelation(l)]
		return l.Positive() && ok
	})
	if driven || r.Kind == logic.Sync {
		return analyze.Verdict{Holds: true}
	}
	if r.Kind == logic.Async {
		return block(nil, "the rule sends in ticks in which nothing was received", "make it depend on a received fact")
	}
	guards, persistence := r.Persistence()
	if !persistence {
		return block(nil, "the rule changes state in ticks in which nothing was received", "")
	}
	for i := range guards {
		g := &guards[i]
		_, caused := w.lag[literalRelation(*g)]
		if !g.Negated || !caused {
			return block(g, "the rule deletes facts in ticks in which nothing was received", "delete when a fact is received")
		}
	}
	return analyze.Verdict{Holds: true}
}

// sums reports whether a rule that derives or reads a summed relation gives the sum of the
// results of its parts: it counts the facts of a relation by their key, or adds numbers of
// them; it derives zero if there are none; or it sends the sum when a replicated input is
// processed.
func (w *replication) sums(r *logic.Rule) analyze.Verdict {
	block := func(l *logic.Literal, why string) analyze.Verdict {
		return analyze.Verdict{Because: []analyze.Blocker{{Rule: r, Literal: l, Why: why, Help: "count by the key, or send the count when a replicated input arrives"}}}
	}
	yes := analyze.Verdict{Holds: true}
	if l := w.summand(r); l != nil {
		uses, args := 0, 0
		see := func(v string) {
			if v == l.Atom.Args[0].Name {
				uses++
			}
		}
		for i := range r.Body {
			r.Body[i].Vars(see)
		}
		for _, a := range r.Head.Args {
			if a.Term.Kind == logic.Var && a.Term.Name == l.Atom.Args[0].Name {
				args++
			}
			a.Term.Vars(see)
		}
		r.Dest.Vars(see)
		others := slices.ContainsFunc(r.Body, func(o logic.Literal) bool { return w.divides(o) && o.Atom != l.Atom })
		if r.Kind != logic.Async || l.Negated || others || !w.ordered(r) || l.Atom.Args[0].Kind != logic.Var || uses != 2 || args != 1 {
			return block(l, l.Atom.Relation.Name+" counts over all keys; the only use allowed is to send it, once, when a replicated input arrives")
		}
		return yes
	}
	if !w.summed[r.Head.Relation] {
		return yes
	}
	of := w.counted(r.Head.Relation)
	if r.Head.Aggregates() {
		a, atom := r.Head.Args[0], r.Body[0].Atom
		key, ok := w.keys[atom.Relation]
		if !r.Body[0].Positive() || !ok || atom.Relation != of || !different(atom) || atom.Args[key.Column].Kind != logic.Var ||
			a.Aggregate != logic.Sum && (a.Aggregate != logic.Count || a.Term.Kind != logic.Var || a.Term.Name != atom.Args[key.Column].Name) {
			return block(nil, r.Head.Relation.Name+" is not a count or sum over different keys")
		}
		return yes
	}
	empty := false
	for i := range r.Body {
		l := &r.Body[i]
		if !w.divides(*l) {
			continue
		}
		if empty || !l.Negated || l.Atom.Relation != of || slices.ContainsFunc(l.Atom.Args, func(t *logic.Term) bool { return t.Kind != logic.Wildcard }) {
			return block(l, r.Head.Relation.Name+" is derived here other than as zero where there is nothing to count")
		}
		empty = true
	}
	if t := r.Head.Args[0].Term; r.Kind != logic.Sync || !empty || t.Kind != logic.Const || t.Value.Num != 0 {
		return block(nil, r.Head.Relation.Name+" is derived here other than as zero where there is nothing to count")
	}
	return yes
}

// counted returns the relation whose facts a summed relation counts, or nil if there are
// several.
func (w *replication) counted(sum *logic.Relation) *logic.Relation {
	var of *logic.Relation
	for _, r := range w.c.Rules {
		if r.Head.Relation == sum && r.Head.Aggregates() {
			if of != nil {
				return nil
			}
			of = r.Body[0].Atom.Relation
		}
	}
	return of
}

// different reports whether the arguments of an atom are different variables or wildcards.
func different(a *logic.Atom) bool {
	seen := map[string]bool{}
	for _, t := range a.Args {
		if t.Kind == logic.Wildcard {
			continue
		}
		if t.Kind != logic.Var || seen[t.Name] {
			return false
		}
		seen[t.Name] = true
	}
	return true
}

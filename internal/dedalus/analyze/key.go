// SPDX-License-Identifier: Apache-2.0

package analyze

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Key is a column, or a function of a column, by which the facts of a relation are divided
// among machines.
type Key struct {
	Column int
	Func   string
}

// Keys has the key of each relation that a part reads. Facts that meet in a rule are on the
// same machine.
type Keys map[*logic.Relation]Key

// Name returns the key as the program's author would write it.
func (k Key) Name(r *logic.Relation) string { return apply(k.Func, r.Columns[k.Column].Name) }

// KeysMax is the maximum number of ways to divide a part that Partition returns.
const KeysMax = 64

// Partition finds ways to divide the part among machines by keys, best first: those with
// fewer functions and earlier columns. If there are none, the verdict states why. It unifies
// key terms in each rule, in place of the paper's co-hashing and its dependencies (sections
// 4.1 and 4.2).
func Partition(p Part) ([]Keys, Verdict) {
	v := yes()
	deps := Dependencies(p.Program)
	refs := p.refs()
	for _, rel := range p.ordered(refs) {
		r, l := p.reader(rel)
		switch {
		case rel.Kind == logic.Input:
			v.block(r, l, rel.Name+" comes from outside, where no component can divide it", "put a relay in front of the component to receive it")
		case len(rel.Columns) == 0:
			v.block(r, l, rel.Name+" has no column to divide it by", "use partial partitioning, which can send it to all partitions")
		case !slices.ContainsFunc(rel.Columns, func(c logic.Column) bool { return c.Lattice == logic.NoLattice }):
			v.block(r, l, rel.Name+" has no column to divide it by: all of its columns merge", "use partial partitioning, which can send it to all partitions")
		}
	}
	if !v.Holds {
		return nil, v
	}
	s := &solver{part: p, refs: refs, fns: []string{""}}
	for _, f := range functions(p.Program) {
		if total(p.Program, f) {
			s.fns = append(s.fns, f)
		}
	}
	for _, r := range p.Rules {
		s.rules = append(s.rules, ruleTerms{r, newTerms(r, deps)})
	}
	s.order = s.connected()
	s.search(0, Keys{})
	if len(s.found) == 0 {
		if !s.deepest.Holds && s.deepest.Because != nil {
			return nil, s.deepest
		}
		v.block(nil, nil, "no choice of keys keeps the facts that rules join on one machine", "")
		return nil, v
	}
	return s.found, v
}

// total reports whether a function has a value for every argument, so that a message can
// always be routed by it. Functions from Go, and static relations, may lack a value.
func total(p *logic.Program, f string) bool {
	if b := logic.FindBuiltin(f); b != nil {
		return f != "/" && f != "%"
	}
	fn := p.Function(f)
	return fn != nil && fn.Body != nil && totalTerm(p, fn.Body)
}

func totalTerm(p *logic.Program, t *logic.Term) bool {
	return (t.Kind != logic.Call || total(p, t.Name)) &&
		!slices.ContainsFunc(t.Args, func(a *logic.Term) bool { return !totalTerm(p, a) })
}

type ruleTerms struct {
	*logic.Rule
	terms *terms
}

// solver searches for keys, one relation after the other, and backtracks when a rule is not
// satisfied.
type solver struct {
	part  Part
	refs  set
	fns   []string
	rules []ruleTerms
	order []*logic.Relation
	found []Keys
	// deepest is the reason why the longest attempt failed.
	deepest Verdict
	depth   int
}

// connected orders the relations so that each, where possible, meets an earlier one in a rule.
func (s *solver) connected() []*logic.Relation {
	var order []*logic.Relation
	in := set{}
	add := func(r *logic.Relation) {
		if s.refs[r] && !in[r] {
			in[r] = true
			order = append(order, r)
		}
	}
	for _, seed := range s.part.ordered(s.refs) {
		add(seed)
		for changed := true; changed; {
			changed = false
			for _, r := range s.rules {
				met := slices.ContainsFunc(s.occurrences(r.Rule), func(o occurrence) bool { return in[o.rel] })
				if !met {
					continue
				}
				for _, o := range s.occurrences(r.Rule) {
					if s.refs[o.rel] && !in[o.rel] {
						add(o.rel)
						changed = true
					}
				}
			}
		}
	}
	return order
}

// occurrence is a relation with its arguments in a rule.
type occurrence struct {
	rel     *logic.Relation
	args    []*logic.Term
	literal *logic.Literal // nil for the head
}

// occurrences returns the relations of a rule that must be on one machine: those of the body
// that are not static, and the head if the part reads it here.
func (s *solver) occurrences(r *logic.Rule) []occurrence {
	var out []occurrence
	for i := range r.Body {
		if a := r.Body[i].Atom; a != nil && a.Relation.Kind != logic.Static {
			out = append(out, occurrence{a.Relation, a.Args, &r.Body[i]})
		}
	}
	if r.Kind != logic.Async && s.refs[r.Head.Relation] {
		o := occurrence{rel: r.Head.Relation}
		for _, a := range r.Head.Args {
			t := a.Term
			if a.Aggregate != logic.NoAggregate {
				t = &logic.Term{Kind: logic.Wildcard}
			}
			o.args = append(o.args, t)
		}
		out = append(out, o)
	}
	return out
}

func (s *solver) search(i int, keys Keys) {
	if len(s.found) >= KeysMax {
		return
	}
	if i == len(s.order) {
		found := Keys{}
		for r, k := range keys {
			found[r] = k
		}
		s.found = append(s.found, found)
		return
	}
	rel := s.order[i]
	for _, f := range s.fns {
		for c := range rel.Columns {
			if rel.Columns[c].Lattice != logic.NoLattice {
				continue
			}
			keys[rel] = Key{c, f}
			if v := s.consistent(keys); v.Holds {
				s.search(i+1, keys)
			} else if i >= s.depth && (i > s.depth || s.deepest.Because == nil) {
				s.depth, s.deepest = i, v
			}
			delete(keys, rel)
		}
	}
}

// consistent reports whether, in each rule, all relations that have a key have the same one.
func (s *solver) consistent(keys Keys) Verdict {
	v := yes()
	for _, r := range s.rules {
		first, key := occurrence{}, -1
		here := false // the machine has a fact of this key, so it is the machine of the key
		all := true   // every relation of the rule has its key already
		for _, o := range s.occurrences(r.Rule) {
			k, ok := keys[o.rel]
			if !ok {
				all = false
				continue
			}
			here = here || o.literal != nil && !o.literal.Negated
			t, ok := r.terms.term(o.args[k.Column])
			if !ok {
				v.block(r.Rule, o.literal, fmt.Sprintf("%s is read here without a value for its %s", o.rel.Name, k.Name(o.rel)), "")
				return v
			}
			mine := r.terms.apply(k.Func, t)
			switch {
			case key < 0:
				first, key = o, mine
			case r.terms.class(key) != mine:
				v.block(r.Rule, o.literal, fmt.Sprintf("%s, divided by %s, is joined with %s, divided by %s: nothing shows that %s equals %s",
					first.rel.Name, keys[first.rel].Name(first.rel), o.rel.Name, k.Name(o.rel), r.terms.text[mine], r.terms.text[key]),
					"declare a functional dependency between them (fd), or use partial partitioning")
				return v
			}
		}
		if all && key >= 0 && !here {
			v.block(r.Rule, first.literal, fmt.Sprintf("%s is divided by %s, and every machine would apply this rule for all keys: the rule reads nothing that only the machine of a key has",
				first.rel.Name, keys[first.rel].Name(first.rel)), "derive it from a stored or received fact of that key, not from what all machines have")
			return v
		}
		if key >= 0 && r.Head.Aggregates() && !groupsBy(r, key) {
			v.block(r.Rule, nil, fmt.Sprintf("the rule aggregates facts with different %s, which are on different machines", r.terms.text[key]), "")
			return v
		}
	}
	return v
}

// groupsBy reports whether a key does not divide the groups of an aggregate: it is an argument
// that the rule groups by, or a function of one. A numbered argument occurs in the head too,
// but the rule does not group by it.
func groupsBy(r ruleTerms, key int) bool {
	numbered := func(t *logic.Term) bool {
		return slices.ContainsFunc(r.Head.Args, func(a logic.HeadArg) bool {
			return a.Aggregate == logic.Index && a.Term.Kind == logic.Var && t.Kind == logic.Var && a.Term.Name == t.Name
		})
	}
	for _, a := range r.Head.Args {
		if a.Aggregate != logic.NoAggregate || numbered(a.Term) {
			continue
		}
		if t, ok := r.terms.term(a.Term); ok && r.terms.reaches(t, key) {
			return true
		}
	}
	return false
}

// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// The search does not try all subsets of the rules. A rule that derives a relation and one
// that reads it either stay together or become two sides of a message. So the rules of a
// component form groups that no decoupling separates (those that derive the same relation,
// and those that depend on each other). The search tries the sets that the order of these
// groups suggests: all that follows from a group or from an input, all that a group follows
// from, the complements of these sets, parts that have no relation in common, and unions of
// two such sets.

// CutsMax is the maximum number of sets of rules of a component that are tried.
const CutsMax = 600

// cut is a set of rules of a component, by their positions.
type cut []bool

func (c cut) key() string {
	b := make([]byte, len(c))
	for i, in := range c {
		if in {
			b[i] = 1
		}
	}
	return string(b)
}

func (c cut) rules() []int {
	var out []int
	for i, in := range c {
		if in {
			out = append(out, i+1)
		}
	}
	return out
}

func (c cut) or(d cut) cut {
	e := slices.Clone(c)
	for i := range d {
		e[i] = e[i] || d[i]
	}
	return e
}

func (c cut) and(d cut) cut {
	e := slices.Clone(c)
	for i := range d {
		e[i] = e[i] && d[i]
	}
	return e
}

func (c cut) not() cut {
	e := slices.Clone(c)
	for i := range e {
		e[i] = !e[i]
	}
	return e
}

// order states which rules of a component follow from which.
type order struct {
	rules []*logic.Rule
	// after has, for each rule, the rules that follow from it, including those of its group.
	after []cut
}

func local(r *logic.Rule) bool { return r.Kind != logic.Async }

func readsRelation(r *logic.Rule, rel *logic.Relation) bool {
	return slices.ContainsFunc(r.Body, func(l logic.Literal) bool { return l.Atom != nil && l.Atom.Relation == rel })
}

func newOrder(c *logic.Component) *order {
	n := len(c.Rules)
	o := &order{rules: c.Rules}
	for i, r := range c.Rules {
		o.after = append(o.after, make(cut, n))
		for j, s := range c.Rules {
			same := local(r) && local(s) && r.Head.Relation == s.Head.Relation
			o.after[i][j] = i == j || same || local(r) && readsRelation(s, r.Head.Relation)
		}
	}
	for k := range n {
		for i := range n {
			if o.after[i][k] {
				o.after[i] = o.after[i].or(o.after[k])
			}
		}
	}
	return o
}

// before returns the rules from which rule i follows.
func (o *order) before(i int) cut {
	out := make(cut, len(o.rules))
	for j := range o.rules {
		out[j] = o.after[j][i]
	}
	return out
}

// following returns the rules that read a relation, and all that follow from them.
func (o *order) following(rel *logic.Relation) cut {
	out := make(cut, len(o.rules))
	for i, r := range o.rules {
		if readsRelation(r, rel) {
			out = out.or(o.after[i])
		}
	}
	return out
}

// apart divides the rules into sets that have no relation in common.
func (o *order) apart() []cut {
	var out []cut
	left := make(cut, len(o.rules)).not()
	for i := range o.rules {
		if !left[i] {
			continue
		}
		part := make(cut, len(o.rules))
		part[i] = true
		for grown := true; grown; {
			grown = false
			for j := range o.rules {
				for k := range o.rules {
					if part[j] && !part[k] && meet(o.rules[j], o.rules[k]) {
						part[k], grown = true, true
					}
				}
			}
		}
		left = left.and(part.not())
		out = append(out, part)
	}
	return out
}

// meet reports whether two rules have a relation in common that is not static.
func meet(r, s *logic.Rule) bool {
	relations := func(r *logic.Rule) []*logic.Relation {
		var out []*logic.Relation
		if local(r) {
			out = append(out, r.Head.Relation)
		}
		for _, l := range r.Body {
			if l.Atom != nil && l.Atom.Relation.Kind != logic.Static {
				out = append(out, l.Atom.Relation)
			}
		}
		return out
	}
	of := relations(s)
	return slices.ContainsFunc(relations(r), func(rel *logic.Relation) bool { return slices.Contains(of, rel) })
}

// cuts returns the sets of rules of a component to try, in a fixed order.
func cuts(p *logic.Program, c *logic.Component) []cut {
	o := newOrder(c)
	seen := map[string]bool{make(cut, len(c.Rules)).key(): true, make(cut, len(c.Rules)).not().key(): true}
	var out []cut
	add := func(s cut) {
		if key := s.key(); !seen[key] && len(out) < CutsMax {
			seen[key] = true
			out = append(out, s)
		}
	}
	parts := o.apart()
	for _, s := range parts {
		add(s)
		add(s.not())
	}
	for i := range c.Rules {
		add(o.after[i])
	}
	for _, rel := range p.Refs(c) {
		add(o.following(rel))
	}
	for i := range c.Rules {
		add(o.before(i))
		add(o.before(i).not())
	}
	var inputs []cut
	for _, rel := range p.In(c) {
		s := o.following(rel)
		inputs = append(inputs, s)
		add(s.not())
		for i := range c.Rules {
			add(s.and(o.before(i)))
		}
	}
	for i, s := range inputs {
		for _, t := range inputs[i+1:] {
			add(s.or(t))
			add(s.and(t))
		}
	}
	// Two sets together, such as two kinds of messages that depend on the same facts.
	single := slices.Clone(out)
	for i, s := range single {
		for _, t := range single[i+1:] {
			add(s.or(t))
		}
	}
	return out
}

// SPDX-License-Identifier: Apache-2.0

package logic

import (
	"fmt"
	"slices"
)

// NodeName returns the node name of the i-th instance of a component.
func NodeName(component string, i int) string { return fmt.Sprintf("%s/%d", component, i) }

// Find returns the relation of that name, or nil.
func (p *Program) Find(name string) *Relation {
	for _, r := range p.Relations {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Component returns the component of that name, or nil.
func (p *Program) Component(name string) *Component {
	for _, c := range p.Components {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Function returns the declared function of that name, or nil.
func (p *Program) Function(name string) *Function {
	for _, f := range p.Functions {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Vars calls visit with the name of each variable of the term, from left to
// right.
func (t *Term) Vars(visit func(name string)) {
	if t == nil {
		return
	}
	if t.Kind == Var {
		visit(t.Name)
	}
	for _, a := range t.Args {
		a.Vars(visit)
	}
}

// Vars calls visit with each variable of the literal.
func (l *Literal) Vars(visit func(name string)) {
	switch {
	case l.Atom != nil:
		for _, t := range l.Atom.Args {
			t.Vars(visit)
		}
	case l.Compare != nil:
		l.Compare.Left.Vars(visit)
		l.Compare.Right.Vars(visit)
	default:
		visit(l.Assign.Var)
		l.Assign.Term.Vars(visit)
	}
}

// Positive reports whether the literal is an atom that is not negated.
func (l *Literal) Positive() bool { return l.Atom != nil && !l.Negated }

// Merges reports whether the relation has a column with a lattice.
func (r *Relation) Merges() bool {
	return slices.ContainsFunc(r.Columns, func(c Column) bool { return c.Lattice != NoLattice })
}

// Aggregates reports whether the head has an aggregate.
func (h *Head) Aggregates() bool {
	return slices.ContainsFunc(h.Args, func(a HeadArg) bool { return a.Aggregate != NoAggregate })
}

// Persistence says whether the rule does nothing but to carry facts of its
// relation to the next tick, and by which further literals it is guarded.
func (r *Rule) Persistence() (guards []Literal, ok bool) {
	if r.Kind != Next || len(r.Body) == 0 || r.Head.Aggregates() {
		return nil, false
	}
	self := slices.IndexFunc(r.Body, func(l Literal) bool {
		return l.Positive() && l.Atom.Relation == r.Head.Relation && sameVars(r.Head.Args, l.Atom.Args)
	})
	if self < 0 {
		return nil, false
	}
	return slices.Delete(slices.Clone(r.Body), self, self+1), true
}

// sameVars reports whether both lists have the same variables, all different.
func sameVars(head []HeadArg, args []*Term) bool {
	seen := map[string]bool{}
	for i, h := range head {
		if h.Term.Kind != Var || args[i].Kind != Var || h.Term.Name != args[i].Name || seen[h.Term.Name] {
			return false
		}
		seen[h.Term.Name] = true
	}
	return true
}

// Refs returns the derived, input and timer relations in the bodies of the
// component's rules, in the order of the program: refs(C) of the paper.
func (p *Program) Refs(c *Component) []*Relation {
	in := map[*Relation]bool{}
	for _, r := range c.Rules {
		for i := range r.Body {
			if a := r.Body[i].Atom; a != nil && a.Relation.Kind != Static {
				in[a.Relation] = true
			}
		}
	}
	return p.ordered(in)
}

// Heads returns the relations that the component's rules derive, including
// Async ones.
func (p *Program) Heads(c *Component) []*Relation {
	in := map[*Relation]bool{}
	for _, r := range c.Rules {
		in[r.Head.Relation] = true
	}
	return p.ordered(in)
}

// In returns the relations that arrive at the component: in(C) of the paper,
// including those that its instances send to each other.
func (p *Program) In(c *Component) []*Relation {
	local := map[*Relation]bool{}
	for _, r := range c.Rules {
		if r.Kind != Async {
			local[r.Head.Relation] = true
		}
	}
	in := map[*Relation]bool{}
	for _, r := range p.Refs(c) {
		if !local[r] {
			in[r] = true
		}
	}
	return p.ordered(in)
}

// Out returns the relations that the component sends: out(C) of the paper.
func (p *Program) Out(c *Component) []*Relation {
	in := map[*Relation]bool{}
	for _, r := range c.Rules {
		if r.Kind == Async {
			in[r.Head.Relation] = true
		}
	}
	return p.ordered(in)
}

func (p *Program) ordered(in map[*Relation]bool) []*Relation {
	var out []*Relation
	for _, r := range p.Relations {
		if in[r] {
			out = append(out, r)
		}
	}
	return out
}

// Clone returns a copy of the program that shares no mutable part with it.
// Relations are copied; Terms and Spans are shared, because they never change.
func (p *Program) Clone() *Program {
	q := &Program{Name: p.Name, Functions: slices.Clone(p.Functions), Assumptions: slices.Clone(p.Assumptions)}
	to := map[*Relation]*Relation{}
	for _, r := range p.Relations {
		s := *r
		s.Columns = slices.Clone(r.Columns)
		to[r] = &s
		q.Relations = append(q.Relations, &s)
	}
	for _, c := range p.Components {
		d := *c
		d.Rules = nil
		for _, r := range c.Rules {
			s := *r
			s.Head = Head{Relation: to[r.Head.Relation], Args: slices.Clone(r.Head.Args)}
			s.Body = slices.Clone(r.Body)
			for i, l := range s.Body {
				if l.Atom != nil {
					s.Body[i].Atom = &Atom{Relation: to[l.Atom.Relation], Args: slices.Clone(l.Atom.Args)}
				}
			}
			d.Rules = append(d.Rules, &s)
		}
		q.Components = append(q.Components, &d)
	}
	return q
}

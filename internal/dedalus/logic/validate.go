// SPDX-License-Identifier: Apache-2.0

package logic

import "fmt"

// Validate checks the invariants that package logic promises. An error is a bug
// in the pass that made the program, not a mistake of the program's author.
func (p *Program) Validate() error {
	seen := map[string]bool{}
	known := map[*Relation]bool{}
	for _, r := range p.Relations {
		if seen[r.Name] {
			return fmt.Errorf("relation %s occurs twice", r.Name)
		}
		seen[r.Name], known[r] = true, true
		for _, c := range r.Columns {
			if c.Type.Kind == NoType {
				return fmt.Errorf("column %s of %s has no type", c.Name, r.Name)
			}
		}
	}
	for _, c := range p.Components {
		if c.Instances < 1 || c.Partitions < 1 {
			return fmt.Errorf("component %s has no instances", c.Name)
		}
		for _, r := range c.Rules {
			if err := r.validate(p, known); err != nil {
				return fmt.Errorf("component %s, %v: %w", c.Name, r, err)
			}
		}
		if _, cycle := p.Strata(c); cycle != nil {
			return fmt.Errorf("component %s: %w", c.Name, cycle)
		}
	}
	return nil
}

func (r *Rule) validate(p *Program, known map[*Relation]bool) error {
	bound := map[string]Type{}
	for i := range r.Body {
		l := &r.Body[i]
		if (l.Atom != nil && l.Compare != nil) || (l.Atom == nil && l.Compare == nil && l.Assign == nil) {
			return fmt.Errorf("literal %d is not of one kind", i)
		}
		if err := l.validate(p, known, bound); err != nil {
			return fmt.Errorf("literal %v: %w", l, err)
		}
	}
	rel := r.Head.Relation
	switch {
	case !known[rel]:
		return fmt.Errorf("relation %s is of another program", rel.Name)
	case rel.Kind == Input || rel.Kind == Static || rel.Kind == Timer:
		return fmt.Errorf("%s cannot be derived", rel.Name)
	case rel.Durable && r.Kind == Sync, rel.Kind == Output && r.Kind != Async:
		return fmt.Errorf("%s cannot be derived by a rule of this kind", rel.Name)
	case len(r.Head.Args) != len(rel.Columns):
		return fmt.Errorf("head has %d arguments, want %d", len(r.Head.Args), len(rel.Columns))
	case r.Head.Aggregates() && r.Kind != Sync:
		return fmt.Errorf("aggregates are for sync rules")
	case (r.Kind == Async) != (r.Dest != nil):
		return fmt.Errorf("only async rules, and all of them, have a destination")
	}
	for i, a := range r.Head.Args {
		if err := a.Term.validate(p, bound); err != nil {
			return err
		}
		if want := rel.Columns[i].Type; !a.typ().Equal(want) {
			return fmt.Errorf("argument %d is %v, want %v", i, a.typ(), want)
		}
	}
	if r.Dest != nil {
		if r.Dest.Type.Kind != Node {
			return fmt.Errorf("destination is %v", r.Dest.Type)
		}
		return r.Dest.validate(p, bound)
	}
	return nil
}

// typ is the type of what the argument yields.
func (a HeadArg) typ() Type {
	switch a.Aggregate {
	case Count, Index:
		return Type{Kind: U64}
	case Collect:
		return Type{Kind: SetType, Elem: &a.Term.Type}
	}
	return a.Term.Type
}

func (l *Literal) validate(p *Program, known map[*Relation]bool, bound map[string]Type) error {
	switch {
	case l.Assign != nil:
		if err := l.Assign.Term.validate(p, bound); err != nil {
			return err
		}
		if _, twice := bound[l.Assign.Var]; twice {
			return fmt.Errorf("%s is bound already", l.Assign.Var)
		}
		bound[l.Assign.Var] = l.Assign.Term.Type
		return nil
	case l.Compare != nil:
		if !l.Compare.Left.Type.Equal(l.Compare.Right.Type) {
			return fmt.Errorf("%v is compared with %v", l.Compare.Left.Type, l.Compare.Right.Type)
		}
		if err := l.Compare.Left.validate(p, bound); err != nil {
			return err
		}
		return l.Compare.Right.validate(p, bound)
	}
	rel := l.Atom.Relation
	if !known[rel] {
		return fmt.Errorf("relation %s is of another program", rel.Name)
	}
	if rel.Kind == Output {
		return fmt.Errorf("%s is an output", rel.Name)
	}
	if len(l.Atom.Args) != len(rel.Columns) {
		return fmt.Errorf("%d arguments, want %d", len(l.Atom.Args), len(rel.Columns))
	}
	for i, t := range l.Atom.Args {
		want := rel.Columns[i].Type
		if t.Kind == Var && !l.Negated {
			if have, ok := bound[t.Name]; !ok {
				bound[t.Name] = want
			} else if !have.Equal(want) {
				return fmt.Errorf("%s is %v and %v", t.Name, have, want)
			}
			continue
		}
		if t.Kind == Wildcard {
			continue
		}
		if t.Kind == Call {
			return fmt.Errorf("argument %d is a call", i)
		}
		if err := t.validate(p, bound); err != nil {
			return err
		}
		if !t.Type.Equal(want) {
			return fmt.Errorf("argument %d is %v, want %v", i, t.Type, want)
		}
	}
	return nil
}

func (t *Term) validate(p *Program, bound map[string]Type) error {
	switch t.Kind {
	case Var:
		have, ok := bound[t.Name]
		if !ok {
			return fmt.Errorf("%s is not bound", t.Name)
		}
		if !have.Equal(t.Type) {
			return fmt.Errorf("%s is %v, not %v", t.Name, have, t.Type)
		}
	case Wildcard:
		return fmt.Errorf("a wildcard has no value")
	case Const:
		if t.Value.Kind != t.Type.Kind {
			return fmt.Errorf("%v is %v, not %v", t, Type{Kind: t.Value.Kind}, t.Type)
		}
	case Call:
		if f := p.Function(t.Name); f != nil && len(f.Params) != len(t.Args) {
			return fmt.Errorf("%s has %d parameters, want %d", t.Name, len(t.Args), len(f.Params))
		} else if b := FindBuiltin(t.Name); f == nil && (b == nil || b.Arity != len(t.Args)) {
			return fmt.Errorf("there is no function %s of %d arguments", t.Name, len(t.Args))
		}
		for _, a := range t.Args {
			if err := a.validate(p, bound); err != nil {
				return err
			}
		}
	}
	return nil
}

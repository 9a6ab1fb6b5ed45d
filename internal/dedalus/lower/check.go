// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// persistence makes the rules of a table: its facts hold in the next tick as well,
// except those that "delete when" matches.
func (l *lowerer) persistence(s *syntax.Statement) {
	r := l.relations[s.Relation.Name.Text]
	s2 := &scope{l: l, vars: map[string]*variable{}}
	keep := &logic.Rule{Kind: logic.Next, Head: logic.Head{Relation: r.Relation}, Origin: "table", Span: s.Relation.Name.Span}
	own := &logic.Atom{Relation: r.Relation}
	for i, c := range r.Columns {
		v := s2.variable(c.Name, s.Relation.Columns[i].Name.Span)
		v.uses = 2
		l.same(r.columns[i], v.slot, v.span)
		term := func() *logic.Term {
			t, _ := l.make(logic.Term{Kind: logic.Var, Name: c.Name}, v.slot, v.span)
			return t
		}
		keep.Head.Args = append(keep.Head.Args, logic.HeadArg{Term: term()})
		own.Args = append(own.Args, term())
	}
	keep.Body = []logic.Literal{{Atom: own, Span: s.Relation.Name.Span}}
	if !r.derived.IsValid() {
		r.derived, r.read = s.Relation.Name.Span, s.Relation.Name.Span
	}
	if len(s.Relation.Delete) > 0 {
		keep.Body = append(keep.Body, l.guard(s2, keep, s))
	}
	l.component.Rules = append(l.component.Rules, keep)
}

// guard returns the literal of a rule that deletes facts. If the condition is more than one
// atom, guard adds a relation for it.
func (l *lowerer) guard(s *scope, keep *logic.Rule, from *syntax.Statement) logic.Literal {
	body := s.order(append([]logic.Literal{keep.Body[0]}, s.body(from.Relation.Delete)...))
	span := from.Relation.Delete[0].Span
	if len(body) == 2 && body[1].Positive() && l.plain(s, body[1].Atom, keep) {
		body[1].Negated = true
		return body[1]
	}
	name := keep.Head.Relation.Name + "_deleted"
	for l.relations[name] != nil {
		name += "_"
	}
	gone := l.find(syntax.Name{Text: name, Span: span})
	gone.declared, gone.derived, gone.read = true, span, span
	gone.Columns = append(gone.Columns, keep.Head.Relation.Columns...)
	gone.columns = l.relations[keep.Head.Relation.Name].columns
	for i := range gone.Columns {
		gone.Columns[i].Lattice = logic.NoLattice
	}
	l.component.Rules = append(l.component.Rules, &logic.Rule{Kind: logic.Sync,
		Head: logic.Head{Relation: gone.Relation, Args: keep.Head.Args}, Body: body, Origin: "delete when", Span: span})
	return logic.Literal{Negated: true, Atom: &logic.Atom{Relation: gone.Relation, Args: keep.Body[0].Atom.Args}, Span: span}
}

// plain reports whether an atom can be negated without a new relation: its variables are columns
// of the table, or occur nowhere else and become wildcards.
func (l *lowerer) plain(s *scope, a *logic.Atom, keep *logic.Rule) bool {
	columns := map[string]bool{}
	for _, h := range keep.Head.Args {
		columns[h.Term.Name] = true
	}
	for _, t := range a.Args {
		if t.Kind == logic.Var && !columns[t.Name] && s.vars[t.Name].uses > 1 {
			return false
		}
	}
	for _, t := range a.Args {
		if t.Kind == logic.Var && !columns[t.Name] {
			t.Kind, t.Name = logic.Wildcard, ""
		}
	}
	return true
}

// settle sets the inferred types. After other errors it does not report missing types.
func (l *lowerer) settle() {
	quiet := l.diags.HasErrors()
	for _, r := range l.program.Relations {
		for i, s := range l.relations[r.Name].columns {
			t, ok := s.typ()
			if !ok && !quiet {
				l.diags.Add(source.Diagnostic{Code: TypeUnknown, Span: r.Span,
					Message: fmt.Sprintf("the type of column %d of %s is unknown", i+1, r.Name),
					Repair:  "declare it: var " + r.Name + "(...)"})
			}
			r.Columns[i].Type = t
		}
	}
	for _, t := range l.terms {
		typ, ok := t.slot.typ()
		if !ok && t.term.Kind != logic.Wildcard && !l.diags.HasErrors() {
			l.diags.Errorf(t.span, TypeUnknown, "the type of this term is unknown")
		}
		t.term.Type = typ
		if t.term.Kind == logic.Const {
			t.term.Value.Kind = typ.Kind
		}
	}
}

// check checks the program as a whole.
func (l *lowerer) check() {
	for _, r := range l.program.Relations {
		l.connected(l.relations[r.Name])
		if !l.diags.HasErrors() {
			l.depends(l.relations[r.Name])
		}
	}
	for _, c := range l.program.Components {
		for _, r := range c.Rules {
			l.readsOutput(r)
		}
		strata, cycle := l.program.Strata(c)
		if cycle != nil {
			l.unstratified(c, cycle)
		}
		for _, s := range strata {
			l.endless(&s)
		}
		for _, r := range c.Rules {
			l.resent(c, r)
		}
	}
}

// connected checks that relations that are read have a source, and warns about
// derived relations that are never read.
func (l *lowerer) connected(r *relation) {
	switch {
	case r.Kind == logic.Derived && !r.derived.IsValid() && r.read.IsValid():
		near := source.NewNearest(r.Name)
		for _, o := range l.program.Relations {
			if l.relations[o.Name].derived.IsValid() || o.Kind != logic.Derived {
				near.Offer(o.Name)
			}
		}
		l.diags.Add(source.Diagnostic{Code: UnknownRelation, Span: r.read,
			Message: "nothing derives " + r.Name + ", and it is no input", Repair: near.Repair()})
	case r.Kind == logic.Derived && !r.read.IsValid() && r.derived.IsValid():
		l.diags.Warnf(r.derived, Unread, "nothing reads %s", r.Name)
	}
}

// readsOutput refuses a rule that reads an output.
func (l *lowerer) readsOutput(r *logic.Rule) {
	for i := range r.Body {
		if a := r.Body[i].Atom; a != nil && a.Relation.Kind == logic.Output {
			l.diags.Add(source.Diagnostic{Code: OutputRead, Span: r.Body[i].Span,
				Message: a.Relation.Name + " is an output, and rules cannot read outputs",
				Repair:  "send the facts in another relation as well, which is not an output"})
		}
	}
}

func (l *lowerer) unstratified(c *logic.Component, e *logic.CycleError) {
	d := source.Diagnostic{Code: Unstratified, Span: e.Steps[0].Span,
		Message: fmt.Sprintf("in component %s, %v", c.Name, e),
		Repair:  "derive one of them with 'next', so that it holds one tick later"}
	for _, s := range e.Steps[1:] {
		d.Related = append(d.Related, source.Note{Span: s.Span, Message: s.Head.Name + " needs " + s.Read.Name + " here"})
	}
	l.diags.Add(d)
}

// endless warns about recursive rules that derive a new value from one of their own each time,
// by adding, multiplying or joining texts, without a bound: no comparison limits the value or its
// parts, and neither does a relation from outside the recursion. Other rules may be endless too;
// their ticks are aborted at a limit.
func (l *lowerer) endless(s *logic.Stratum) {
	own := func(a *logic.Atom) bool { return a != nil && slices.Contains(s.Relations, a.Relation) }
	for _, r := range s.Rules {
		grown, bounded := map[string]bool{}, map[string]bool{}
		for _, b := range r.Body {
			switch {
			case own(b.Atom):
				b.Vars(func(v string) { grown[v] = false })
			case b.Assign == nil:
				b.Vars(func(v string) { bounded[v] = true })
			}
		}
		for _, b := range r.Body {
			if b.Assign == nil {
				continue
			}
			grows, free := grown[b.Assign.Var], true
			b.Assign.Term.Vars(func(v string) {
				_, of := grown[v]
				grows, free = grows || of, free && !bounded[v]
			})
			if grows && free && !bounded[b.Assign.Var] && growing(b.Assign.Term) {
				grown[b.Assign.Var] = true
			}
		}
		for _, a := range r.Head.Args {
			of, free := false, growing(a.Term)
			a.Term.Vars(func(v string) {
				_, is := grown[v]
				of, free = of || is, free && !bounded[v]
			})
			if a.Term.Kind == logic.Var && grown[a.Term.Name] || of && free {
				l.diags.Add(source.Diagnostic{Severity: source.Warning, Code: Endless, Span: r.Span,
					Message: fmt.Sprintf("the rules of %s derive new facts without end within a tick: nothing bounds %v", r.Head.Relation.Name, a.Term),
					Repair:  "compare it with a bound, or derive it with 'next', so that it holds one tick later"})
				break
			}
		}
	}
}

// growing reports whether a term has unboundedly many values, a different one for each value of
// its variables: it adds, subtracts, multiplies or joins.
func growing(t *logic.Term) bool {
	if t.Kind != logic.Call {
		return false
	}
	switch t.Name {
	case "+", "-", "*", "concat":
		return true
	}
	return false
}

// resent warns about an Async rule whose body holds forever once it holds.
func (l *lowerer) resent(c *logic.Component, r *logic.Rule) {
	if r.Kind != logic.Async {
		return
	}
	for i := range r.Body {
		b := &r.Body[i]
		if b.Atom == nil || b.Atom.Relation.Kind == logic.Static {
			continue
		}
		if b.Negated || !kept(c, b.Atom.Relation) {
			return
		}
	}
	l.diags.Add(source.Diagnostic{Severity: source.Warning, Code: Resent, Span: r.Span,
		Message: r.Head.Relation.Name + " is sent again at every tick: all relations in the body are kept",
		Repair:  "send it when it is new, or when a timer fires"})
}

// kept reports whether all facts of the relation are carried to the next tick.
func kept(c *logic.Component, rel *logic.Relation) bool {
	for _, r := range c.Rules {
		if guards, ok := r.Persistence(); ok && r.Head.Relation == rel && len(guards) == 0 {
			return true
		}
	}
	return false
}

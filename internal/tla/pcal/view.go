// SPDX-License-Identifier: Apache-2.0

package pcal

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Assigned is the list of variables that a step has assigned so far, in order.
// It is immutable; its methods return new lists.
type Assigned []*core.Variable

// Has reports whether v is in the list.
func (s Assigned) Has(v *core.Variable) bool {
	for _, w := range s {
		if w == v {
			return true
		}
	}
	return false
}

// With is the list with v appended, if it was not in the list.
func (s Assigned) With(v *core.Variable) Assigned {
	if s.Has(v) {
		return s
	}
	return append(append(Assigned(nil), s...), v)
}

// Without lists the variables of s that are not in t.
func (s Assigned) Without(t Assigned) Assigned {
	var out Assigned
	for _, v := range s {
		if !t.Has(v) {
			out = append(out, v)
		}
	}
	return out
}

// Stack has the operators of module Sequences that calls and returns use.
type Stack struct{ Head, Tail, Concat *core.Def }

// View describes how the text of one process or procedure refers to the
// variables of a plain algorithm. A variable of a process set is a function of
// self. View expresses the effect of statements in terms of the values before
// the step and, primed, after it.
type View struct {
	Algorithm *Algorithm
	// Own are the variables that are functions of self here.
	Own map[*core.Variable]bool
	// Process is set in the text of a process, and Procedure in the text of a
	// procedure.
	Process   *Process
	Procedure *Procedure
	// Name is the name self in the text. Self replaces it: the name itself, or
	// the identity of the only process.
	Name *core.Local
	Self core.Expr
	// Default returns the value of variables without an initial value. It is
	// called for each use.
	Default func() core.Expr
	Stack   Stack

	uni bool
	// crashes is set for the initial value of a variable after a crash. It is
	// then an error if the set to choose the value from is empty.
	crashes bool
}

// Update gives a value to a variable or, if In is set, any element of the
// value.
type Update struct {
	Var   *core.Variable
	Value core.Expr
	In    bool
}

func (a *Algorithm) own(list []*Variable) map[*core.Variable]bool {
	out := map[*core.Variable]bool{}
	for _, v := range list {
		out[v.Var] = !a.Uniprocess()
	}
	return out
}

// ProcessView is the view from the text of a process.
func (a *Algorithm) ProcessView(p *Process, s Stack, def func() core.Expr) *View {
	v := &View{Algorithm: a, Process: p, Name: p.Self, Stack: s, Default: def, uni: a.Uniprocess()}
	switch {
	case p.Set:
		v.Own = a.own(p.Locals)
		v.Self = &core.LocalRef{Local: p.Self}
	case p.Id != nil:
		v.Self = p.Id
	}
	return v
}

// ProcedureView is the view from the text of a procedure.
func (a *Algorithm) ProcedureView(p *Procedure, s Stack, def func() core.Expr) *View {
	return &View{Algorithm: a, Name: p.Self, Stack: s, Default: def, uni: a.Uniprocess(),
		Own: a.own(p.Variables()), Procedure: p, Self: &core.LocalRef{Local: p.Self}}
}

// Variables lists the variables that a call of p saves: its parameters and
// local variables.
func (p *Procedure) Variables() []*Variable {
	var out []*Variable
	for _, q := range p.Params {
		out = append(out, &q.Variable)
	}
	return append(out, p.Locals...)
}

func (c *View) indexed(v *core.Variable) bool {
	return c.Own[v] || (!c.uni && (v == c.Algorithm.PC || v == c.Algorithm.Stack))
}

func (c *View) whole(v *core.Variable, set Assigned) core.Expr {
	var e core.Expr = &core.VarRef{Var: v}
	if set.Has(v) {
		e = &core.Op{Op: core.OpPrime, Args: []core.Expr{e}}
	}
	return e
}

// Cell returns v, or the element of it that belongs to self, after the
// variables in set were assigned.
func (c *View) Cell(v *core.Variable, set Assigned) core.Expr {
	e := c.whole(v, set)
	if c.indexed(v) {
		e = &core.Apply{Fn: e, Arg: c.Self}
	}
	return e
}

// X translates an expression of the text to one about the state variables;
// those in set are primed.
func (c *View) X(e core.Expr, set Assigned) core.Expr {
	return core.Rewrite(e, func(x core.Expr) core.Expr {
		switch x := x.(type) {
		case *core.VarRef:
			if c.Own[x.Var] {
				return c.Cell(x.Var, set)
			}
			if set.Has(x.Var) {
				return &core.Op{At: x.At, Op: core.OpPrime, Args: []core.Expr{x}}
			}
		case *core.LocalRef:
			if x.Local == c.Name {
				return c.Self
			}
		}
		return nil
	})
}

// put assigns a value to v, or to the element of it that belongs to self.
func (c *View) put(v *core.Variable, value core.Expr, set Assigned) Update {
	if !c.indexed(v) {
		return Update{Var: v, Value: value}
	}
	at := core.At{Place: value.Span()}
	up := core.Update{Path: []core.Index{{X: c.Self}}, Value: value}
	return Update{Var: v, Value: &core.Except{At: at, Fn: c.whole(v, set), Updates: []core.Update{up}}}
}

// Initial is the initial value of a variable, or the set of them.
func (c *View) Initial(v *Variable) core.Expr {
	if v.Init != nil {
		return c.X(v.Init, nil)
	}
	return c.Default()
}

// Assign returns the updates of a simultaneous assignment, whose values all
// refer to the state before it. It also returns the variables assigned after
// it.
func (c *View) Assign(s *Assign, set Assigned) ([]Update, Assigned) {
	var order Assigned
	updates := map[*core.Variable][]core.Update{}
	for _, p := range s.Pairs {
		order = order.With(p.Target)
		u := core.Update{At: p.At, Value: c.X(p.Value, set)}
		if c.indexed(p.Target) {
			u.Path = append(u.Path, core.Index{X: c.Self})
		}
		for _, ix := range p.Path {
			if ix.X != nil {
				ix.X = c.X(ix.X, set)
			}
			u.Path = append(u.Path, ix)
		}
		updates[p.Target] = append(updates[p.Target], u)
	}
	var out []Update
	after := set
	for _, v := range order {
		list := updates[v]
		value := list[0].Value
		if len(list[0].Path) > 0 {
			value = &core.Except{At: core.At{Place: s.Span()}, Fn: c.whole(v, set), Updates: list}
		}
		out = append(out, Update{Var: v, Value: value})
		after = after.With(v)
	}
	return out, after
}

// Jump returns the updates of a Goto, Call, Return or Restart, in order. A value may
// refer to the primed variables of earlier updates. Jump also returns the variables
// assigned after it.
func (c *View) Jump(s Stmt, set Assigned) ([]Update, Assigned) {
	j := &jump{set: set}
	switch s := s.(type) {
	case *Goto:
		if c.Algorithm.NeedsPC() {
			j.add(c.put(c.Algorithm.PC, &core.Str{Val: s.Label}, set))
		}
	case *Return:
		c.leave(j)
	case *Call:
		c.call(s, j)
	case *Restart:
		c.restart(s, j)
	default:
		invariant.Unreachable(s)
	}
	return j.updates, j.set
}

// jump collects updates.
type jump struct {
	updates []Update
	set     Assigned
}

func (j *jump) add(u Update) {
	j.updates = append(j.updates, u)
	j.set = j.set.With(u.Var)
}

// head returns a field of the record on top of the stack.
func (c *View) head(field string, set Assigned) core.Expr {
	top := &core.Call{Def: c.Stack.Head, Args: []core.Expr{c.Cell(c.Algorithm.Stack, set)}}
	return &core.Select{X: top, Field: field}
}

// call saves the variables of the procedure on the stack and starts the
// procedure with its arguments. A tail call replaces the caller's record and
// restores the caller's variables. A tail call of the caller itself keeps the
// record.
func (c *View) call(s *Call, j *jump) {
	before := j.set
	args := make([]core.Expr, len(s.Args))
	for i, a := range s.Args {
		args[i] = c.X(a.X, before)
	}
	d := *c
	d.Own, d.Name = c.Algorithm.own(s.Proc.Variables()), s.Proc.Self
	tail := s.Return == ""
	if !tail || c.Procedure != s.Proc {
		rest, back := c.Cell(c.Algorithm.Stack, before), core.Expr(&core.Str{Val: s.Return})
		if tail {
			rest, back = &core.Call{Def: c.Stack.Tail, Args: []core.Expr{rest}}, c.head("pc", before)
		}
		record := &core.Record{Fields: []core.Field{{Name: "procedure", X: &core.Str{Val: s.Proc.Name}}, {Name: "pc", X: back}}}
		for _, v := range s.Proc.Variables() {
			record.Fields = append(record.Fields, core.Field{Name: v.Var.Name, X: d.Cell(v.Var, before)})
		}
		pushed := &core.Call{Def: c.Stack.Concat, Args: []core.Expr{&core.Tuple{Elems: []core.Expr{record}}, rest}}
		j.add(c.put(c.Algorithm.Stack, pushed, before))
		if tail {
			c.restore(j, before)
		}
	}
	for i, q := range s.Proc.Params {
		j.add(d.put(q.Var, args[i], before))
	}
	for _, l := range s.Proc.Locals {
		d.start(l, j)
	}
	j.add(c.put(c.Algorithm.PC, &core.Str{Val: s.Proc.Blocks[0].Label}, before))
}

// start gives a local of a procedure its initial value.
func (c *View) start(l *Variable, j *jump) {
	from := func() core.Expr {
		set := c.X(l.Init, j.set)
		if c.crashes {
			return notEmpty(l.Var.Name, set, l.Span)
		}
		return set
	}
	switch {
	case l.Init == nil:
		j.add(c.put(l.Var, c.Default(), nil))
	case !l.In:
		j.add(c.put(l.Var, c.X(l.Init, j.set), nil))
	case !c.indexed(l.Var):
		j.add(Update{Var: l.Var, Value: from(), In: true})
	default:
		v := &core.Local{Name: l.Var.Name}
		one := c.put(l.Var, &core.LocalRef{Local: v}, nil).Value
		bind := []core.Bind{{Vars: []*core.Local{v}, Set: from()}}
		j.add(Update{Var: l.Var, Value: &core.SetMap{Body: one, Binds: bind}, In: true})
	}
}

// restore sets the variables of the procedure to the values that the top of the
// stack has for them. before has the variables that were assigned when the
// stack was read.
func (c *View) restore(j *jump, before Assigned) {
	for _, v := range c.Procedure.Variables() {
		j.add(c.put(v.Var, c.head(v.Var.Name, before), before))
	}
}

// leave makes the updates of a return.
func (c *View) leave(j *jump) {
	before := j.set
	j.add(c.put(c.Algorithm.PC, c.head("pc", before), before))
	c.restore(j, before)
	tail := &core.Call{Def: c.Stack.Tail, Args: []core.Expr{c.Cell(c.Algorithm.Stack, before)}}
	j.add(c.put(c.Algorithm.Stack, tail, before))
}

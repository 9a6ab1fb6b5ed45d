// SPDX-License-Identifier: Apache-2.0

package pcal

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Crashes.
//
// An archetype with durable variables, or with a label recover, crashes: between
// any two of its steps its process may lose its variables and restart. A crash
// is a separate step, which Expand makes:
//
//	await crashes < CRASHES;               as often as the configuration says
//	await pc[self] # "Done";               a process at its end does not crash
//	crashes := crashes + 1;
//	...                                    the crash parts of its mapping macros
//	restart at recover                     volatile variables start anew
//
// The step belongs to no label and has no fairness: a process need never crash.

// LabelRecover is the label at which an archetype that has it continues after a
// crash.
const LabelRecover = "recover"

// CrashBound is the name of the constant bound on crashes. It is 0 unless a
// configuration or the module defines it.
const CrashBound = "CRASHES"

// CrashCount is the name of the variable that counts crashes, unless that name is
// taken.
const CrashCount = "crashes"

// Crashes describes the crashes of an algorithm in which a process may crash.
type Crashes struct {
	// Bound is the maximum number of crashes. Declared is the definition that
	// Bound calls if the translation makes it, or nil if the module has one.
	Bound    core.Expr
	Declared *core.Def
	// Less and Plus are the number operators used to count crashes.
	Less, Plus *core.Def
	// Count is the variable that counts crashes. Expand makes it.
	Count *core.Variable
}

// Assigns reports whether a step of the archetype assigns a variable of its own,
// or passes it to a procedure that may.
func (a *Archetype) Assigns(v *core.Variable) bool {
	found := false
	for _, b := range a.Blocks {
		InspectStmts(b.Body, func(s Stmt) {
			switch s := s.(type) {
			case *Assign:
				for _, p := range s.Pairs {
					found = found || p.Target == v
				}
			case *Call:
				for _, arg := range s.Args {
					found = found || arg.Ref == v
				}
			}
		}, nil)
	}
	return found
}

// Reached lists the procedures that are reachable from the given blocks, in
// text order.
func (a *Algorithm) Reached(from []*Block) []*Procedure {
	seen := map[*Procedure]bool{}
	var visit func(blocks []*Block)
	visit = func(blocks []*Block) {
		for _, b := range blocks {
			InspectStmts(b.Body, func(s Stmt) {
				if c, ok := s.(*Call); ok && !seen[c.Proc] {
					seen[c.Proc] = true
					visit(c.Proc.Blocks)
				}
			}, nil)
		}
	}
	visit(from)
	var out []*Procedure
	for _, q := range a.Procedures {
		if seen[q] {
			out = append(out, q)
		}
	}
	return out
}

// Ends reports whether some path through the blocks of a process leads to its
// end. A procedure that the process calls may also end it.
func (a *Algorithm) Ends(blocks []*Block) bool {
	found := false
	visit := func(s Stmt) {
		switch s := s.(type) {
		case *Goto:
			found = found || s.Label == LabelDone
		case *Call:
			found = found || s.Return == LabelDone
		}
	}
	for _, b := range blocks {
		InspectStmts(b.Body, visit, nil)
	}
	for _, p := range a.Reached(blocks) {
		for _, b := range p.Blocks {
			InspectStmts(b.Body, visit, nil)
		}
	}
	return found
}

// SomeEnds reports whether some process may come to its end.
func (a *Algorithm) SomeEnds() bool {
	for _, p := range a.Processes {
		if a.Ends(p.Blocks) {
			return true
		}
	}
	return false
}

// WithoutCrashes returns a copy of an expanded algorithm in which no process
// crashes.
func WithoutCrashes(a *Algorithm) *Algorithm {
	if a.Crashes == nil {
		return a
	}
	out := *a
	out.Globals, out.Processes, out.Crashes = nil, nil, nil
	for _, v := range a.Globals {
		if v.Var != a.Crashes.Count {
			out.Globals = append(out.Globals, v)
		}
	}
	for _, p := range a.Processes {
		c := *p
		c.Crash = nil
		out.Processes = append(out.Processes, &c)
	}
	return &out
}

// counted makes the variable that counts crashes. nameCrashes names it later.
func (x *expander) counted(c *Crashes) {
	if c == nil {
		return
	}
	own := *c
	own.Count = &core.Variable{Index: -1, Span: c.Bound.Span()}
	x.out.Crashes = &own
	x.out.Globals = append(x.out.Globals[:len(x.out.Globals):len(x.out.Globals)], &Variable{Var: own.Count, Init: &core.Int{}})
}

// nameCrashes names the variable that counts crashes and the actions of the crashes.
// It runs last, so that every variable, label and process of the user keeps its
// name.
func (x *expander) nameCrashes() {
	if x.out.Crashes == nil {
		return
	}
	take := func(blocks []*Block) {
		for _, b := range blocks {
			x.taken[b.Label] = true
		}
	}
	for _, p := range x.out.Procedures {
		take(p.Blocks)
	}
	for _, p := range x.out.Processes {
		take(p.Blocks)
	}
	fresh := func(base string) string {
		x.taken[base] = x.taken[base] || x.names.Declared(base)
		return x.name(base)
	}
	x.out.Crashes.Count.Name = fresh(CrashCount)
	for _, p := range x.out.Processes {
		if p.Crash != nil {
			p.Crash.Label = fresh("Crash" + p.Name)
		}
	}
}

// crash makes the step in which a process crashes. nameCrashes gives the step
// its label.
func (f *frame) crash(in *Instance) *Block {
	a, all := in.Archetype, f.x.out
	place, at := At{a.Span}, core.At{Place: a.Span}
	count := &core.VarRef{At: at, Var: all.Crashes.Count}
	body := []Stmt{&Await{At: place, Cond: &core.Call{At: at, Def: all.Crashes.Less, Args: []core.Expr{count, all.Crashes.Bound}}}}
	if f.x.from.Ends(a.Blocks) { // the copies of procedures have no blocks yet
		pc := &core.Apply{At: at, Fn: &core.VarRef{At: at, Var: all.PC}, Arg: &core.LocalRef{At: at, Local: f.to}}
		body = append(body, &Await{At: place, Cond: &core.Op{At: at, Op: core.OpNe, Args: []core.Expr{pc, &core.Str{At: at, Val: LabelDone}}}})
	}
	more := &core.Call{At: at, Def: all.Crashes.Plus, Args: []core.Expr{count, &core.Int{At: at, Val: 1}}}
	body = append(body, &Assign{At: place, Pairs: []Assignment{{Target: count.Var, Value: more, Span: a.Span}}})
	type part struct {
		v *core.Variable
		m *Mapping
	}
	done := map[part]bool{}
	for _, param := range a.Params {
		b, ok := f.refs[param.Var]
		if !ok || b.mapping == nil || b.mapping.Crash == nil || done[part{b.v, b.mapping}] {
			continue
		}
		done[part{b.v, b.mapping}] = true
		cell, path := f.cell(b, nil, at)
		body = append(body, chooses(f.mapping(b, cell, path).Stmts(b.mapping.Crash))...)
	}
	return &Block{Span: a.Span, Body: append(body, &Restart{At: place, Label: a.Restart})}
}

// chooses makes it an error if a set that a crash part chooses from is empty.
// Otherwise the process would just not crash there, and the behaviour after such a
// crash would not be checked.
func chooses(list []Stmt) []Stmt {
	r := &Rewriter{}
	r.Stmt = func(s Stmt) ([]Stmt, bool) {
		w, ok := s.(*With)
		if !ok || !w.In {
			return nil, false
		}
		return []Stmt{&With{At: w.At, Var: w.Var, In: true, X: notEmpty(w.Var.Name, w.X, w.Span()), Body: r.Stmts(w.Body)}}, true
	}
	return r.Stmts(list)
}

// notEmpty is set, and has no value where that is empty:
//
//	IF set = {} THEN {CHOOSE name \in set : TRUE} ELSE set
func notEmpty(name string, set core.Expr, place source.Span) core.Expr {
	at := core.At{Place: place}
	if e, ok := set.(*core.SetEnum); ok && len(e.Elems) > 0 {
		return set
	}
	l := &core.Local{Name: name, Span: at.Place}
	one := &core.Choose{At: at, Bind: core.Bind{Vars: []*core.Local{l}, Set: core.Rename(set)}, Body: &core.Bool{At: at, Val: true}}
	return &core.If{At: at, Cond: &core.Op{At: at, Op: core.OpEq, Args: []core.Expr{core.Rename(set), &core.SetEnum{At: at}}},
		Then: &core.SetEnum{At: at, Elems: []core.Expr{one}}, Else: set}
}

// restart makes the updates at the end of a crash: the process's call stack is
// emptied, and variables that are not durable get initial values again.
func (c *View) restart(s *Restart, j *jump) {
	a := c.Algorithm
	if called := a.Reached(c.Process.Blocks); len(called) > 0 {
		j.add(c.put(a.Stack, &core.Tuple{}, nil))
		for _, p := range called {
			d := *c
			d.Own, d.Name, d.crashes = a.own(p.Variables()), p.Self, true
			for _, v := range p.Variables() {
				d.start(Unset(p, v), j)
			}
		}
	}
	d := *c
	d.crashes = true
	for _, v := range c.Process.Locals {
		if !v.Durable {
			d.start(v, j)
		}
	}
	if a.NeedsPC() {
		j.add(c.put(a.PC, &core.Str{Val: s.Label}, nil))
	}
}

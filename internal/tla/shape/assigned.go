// SPDX-License-Identifier: Apache-2.0

package shape

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// A variable that is declared without a value holds defaultInitValue, a model
// value. Most such variables are assigned before they are read, so the model
// value need not be part of their shape. This flow analysis finds the others.

// flow is the set of variables that are assigned on every path to a point; nil
// means that the point is unreachable.
type flow map[*core.Variable]bool

func (f flow) clone() flow {
	c := make(flow, len(f))
	for v := range f {
		c[v] = true
	}
	return c
}

// meet returns what holds on both paths to a point.
func meet(a, b flow) flow {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := flow{}
	for v := range a {
		if b[v] {
			out[v] = true
		}
	}
	return out
}

// assignment is the state of analyzing one body.
type assignment struct {
	watched map[*core.Variable]bool // declared without a value
	at      map[string]flow         // at the labels
	unset   map[*core.Variable]bool // read before they are assigned
	changed bool
}

// unassigned finds the variables among vars that may be read before they are
// assigned.
func unassigned(vars []*pcal.Variable, blocks []*pcal.Block) map[*core.Variable]bool {
	a := &assignment{watched: map[*core.Variable]bool{}, at: map[string]flow{}, unset: map[*core.Variable]bool{}}
	for _, v := range vars {
		if v.Init == nil {
			a.watched[v.Var] = true
		}
	}
	if len(a.watched) == 0 || len(blocks) == 0 {
		return nil
	}
	for _, v := range vars {
		if v.Init != nil {
			a.read(v.Init, flow{})
		}
	}
	a.at[blocks[0].Label] = flow{}
	for again := true; again; {
		again, a.changed = false, false
		for _, b := range blocks {
			if in := a.at[b.Label]; in != nil {
				a.stmts(b.Body, in.clone())
			}
		}
		again = a.changed
	}
	return a.unset
}

func (a *assignment) reach(label string, f flow) {
	old, known := a.at[label]
	if !known {
		a.at[label], a.changed = f.clone(), true
		return
	}
	if m := meet(old, f); len(m) < len(old) {
		a.at[label], a.changed = m, true
	}
}

func (a *assignment) read(e core.Expr, f flow) {
	if e == nil {
		return
	}
	core.Walk(e, func(x core.Expr) bool {
		if v, ok := x.(*core.VarRef); ok && a.watched[v.Var] && !f[v.Var] && !a.unset[v.Var] {
			a.unset[v.Var], a.changed = true, true
		}
		return true
	})
}

func (a *assignment) use(v *core.Variable, f flow) {
	if v != nil && a.watched[v] && !f[v] && !a.unset[v] {
		a.unset[v], a.changed = true, true
	}
}

// stmts analyzes a list and returns the flow after it. It is nil if every path
// has jumped.
func (a *assignment) stmts(list []pcal.Stmt, f flow) flow {
	for _, s := range list {
		if f == nil {
			return nil
		}
		f = a.stmt(s, f)
	}
	return f
}

func (a *assignment) stmt(s pcal.Stmt, f flow) flow {
	switch s := s.(type) {
	case *pcal.Assign:
		for _, p := range s.Pairs {
			for _, ix := range p.Path {
				a.read(ix.X, f)
			}
			a.read(p.Value, f)
			if len(p.Path) > 0 {
				a.use(p.Target, f)
			}
		}
		for _, p := range s.Pairs {
			f[p.Target] = true
		}
	case *pcal.If:
		a.read(s.Cond, f)
		return meet(a.stmts(s.Then, f.clone()), a.stmts(s.Else, f))
	case *pcal.Either:
		var out flow
		for _, b := range s.Branches {
			out = meet(out, a.stmts(b, f.clone()))
		}
		return out
	case *pcal.With:
		a.read(s.X, f)
		return a.stmts(s.Body, f)
	case *pcal.Await:
		a.read(s.Cond, f)
	case *pcal.Assert:
		a.read(s.Cond, f)
	case *pcal.Print:
		a.read(s.X, f)
	case *pcal.Yield:
		a.read(s.X, f)
	case *pcal.Read:
		a.access(s.Access, f)
		if f = a.stmts(s.Body, f); f == nil {
			return nil
		}
		return a.stmts(s.Rest, f)
	case *pcal.Write:
		a.access(s.Access, f)
		a.read(s.X, f)
		return a.stmts(s.Body, f)
	case *pcal.Goto:
		a.reach(s.Label, f)
		return nil
	case *pcal.Call:
		for _, arg := range s.Args {
			a.read(arg.X, f)
			a.use(arg.Ref, f)
		}
		if s.Return != "" {
			a.reach(s.Return, f)
		}
		return nil
	case *pcal.Return:
		return nil
	}
	return f
}

func (a *assignment) access(x *pcal.Access, f flow) {
	if x == nil {
		return
	}
	for _, i := range x.Index {
		a.read(i, f)
	}
}

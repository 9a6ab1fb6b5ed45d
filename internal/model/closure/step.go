// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/direct"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Steps as code.
//
// A statement is compiled to an act whose continuation is the statements after
// it. The compiler knows which variables the step has assigned. Where two paths
// join, a path that did not assign a variable which the other one assigned
// copies the variable's old value, so that after the join the variable is
// always read primed. A second assignment to a variable replaces its value and
// restores the first value when the continuation returns.

// steps compiles the steps of one process or procedure.
type steps struct {
	c    *compiler
	d    *direct.Algorithm
	view *pcal.View
	// yield is the Read that is being compiled, which receives yielded values.
	yield *yielding
	// alone, if not nil, has the only blocks to compile: those whose steps are
	// taken alone.
	alone map[*pcal.Block]bool
}

// yielding is a Read whose Body is being compiled.
type yielding struct {
	slot int
	// all are the variables that are assigned at the end of every path. k is
	// the continuation.
	all pcal.Assigned
	k   act
	up  *yielding
}

// goOn compiles the continuation, given the assigned variables.
type goOn func(set pcal.Assigned) act

// block compiles the step of a block. Variables that the step does not assign
// keep their values. The code calls m.found for every result.
func (s *steps) block(b *pcal.Block, x site) act {
	return s.stmts(b.Body, x, nil, func(set pcal.Assigned) act {
		found := act(func(m *Machine) bool { return m.found(m.action) })
		if s.alone != nil {
			found = func(m *Machine) bool {
				m.alone++
				return m.found(m.action)
			}
		}
		return unchangedVars(pcal.Assigned(s.c.p.Spec.Variables).Without(set), found)
	})
}

// stmts compiles a list of statements.
func (s *steps) stmts(list []pcal.Stmt, x site, set pcal.Assigned, k goOn) act {
	if len(list) == 0 {
		return k(set)
	}
	after := s.after(list[:1], set)
	return s.stmt(list[0], x, set, after, s.stmts(list[1:], x, after, k))
}

// after returns the variables that are assigned after a list of statements, on
// at least one path.
func (s *steps) after(list []pcal.Stmt, set pcal.Assigned) pcal.Assigned {
	for _, st := range list {
		switch st := st.(type) {
		case *pcal.Assign:
			for _, p := range st.Pairs {
				set = set.With(p.Target)
			}
		case *pcal.If:
			set = s.after(st.Else, s.after(st.Then, set))
		case *pcal.Either:
			for _, b := range st.Branches {
				set = s.after(b, set)
			}
		case *pcal.With:
			set = s.after(st.Body, set)
		case *pcal.Read:
			set = s.after(st.Rest, s.after(st.Body, set))
		case *pcal.Write:
			set = s.after(st.Body, set)
		case *pcal.Goto, *pcal.Call, *pcal.Return, *pcal.Restart:
			_, set = s.view.Jump(st, set)
		}
	}
	return set
}

// at records the position of a statement, for errors.
func at(st pcal.Stmt, run act) act {
	place := st.Span()
	return func(m *Machine) bool {
		m.place = place
		return run(m)
	}
}

// stmt compiles one statement. set are the variables assigned before it, after
// those assigned on at least one of its paths; every path continues with next.
func (s *steps) stmt(st pcal.Stmt, x site, set, after pcal.Assigned, next act) act {
	switch st := st.(type) {
	case *pcal.Skip:
		return next
	case *pcal.Await:
		return at(st, s.c.act(s.view.X(st.Cond, set), x, next))
	case *pcal.Assert:
		args := []core.Expr{s.view.X(st.Cond, set), &core.Str{At: core.At{Place: st.Span()}, Val: pcal.AssertMessage(st)}}
		return at(st, s.c.guard(&core.Call{At: core.At{Place: st.Span()}, Def: s.d.Check, Args: args}, x, next))
	case *pcal.Print:
		return at(st, s.c.guard(&core.Call{At: core.At{Place: st.Span()}, Def: s.d.Print, Args: []core.Expr{s.view.X(st.X, set)}}, x, next))
	case *pcal.Assign:
		updates, _ := s.view.Assign(st, set)
		return at(st, s.updates(updates, x, set, next, true))
	case *pcal.Goto, *pcal.Call, *pcal.Return, *pcal.Restart:
		updates, _ := s.view.Jump(st, set)
		return at(st, s.updates(updates, x, set, next, false))
	case *pcal.If:
		cond := s.c.pred(s.view.X(st.Cond, set), x)
		then, other := s.path(st.Then, x, set, after, next), s.path(st.Else, x, set, after, next)
		return at(st, func(m *Machine) bool {
			if cond(m) {
				return then(m)
			}
			return other(m)
		})
	case *pcal.Either:
		acts := make([]act, len(st.Branches))
		for i, b := range st.Branches {
			acts[i] = s.path(b, x, set, after, next)
		}
		return sequence(acts)
	case *pcal.With:
		return at(st, s.with(st, x, set, after, next))
	case *pcal.Read:
		return s.read(st, x, set, after, next)
	case *pcal.Write:
		bound := &pcal.With{At: st.At, Var: st.Value, X: st.X, Body: st.Body}
		return at(st, s.with(bound, x, set, after, next))
	case *pcal.Yield:
		y := s.yield
		run := s.c.expr(s.view.X(st.X, set), x).run
		go1 := s.keep(y.all.Without(set), y.k)
		return at(st, func(m *Machine) bool {
			m.slots[y.slot] = run(m)
			return go1(m)
		})
	}
	invariant.Unreachable(st)
	return nil
}

// keep copies the old values of vars to the next state.
func (s *steps) keep(vars pcal.Assigned, next act) act {
	if len(vars) == 0 {
		return next
	}
	return unchangedVars(vars, next)
}

// path compiles one branch; at its end all variables in all are assigned.
func (s *steps) path(list []pcal.Stmt, x site, set, all pcal.Assigned, next act) act {
	return s.stmts(list, x, set, func(end pcal.Assigned) act { return s.keep(all.Without(end), next) })
}

// with compiles a with. If nothing in the body can change the value, it is
// computed when it is first needed, as in the translation.
func (s *steps) with(st *pcal.With, x site, set, all pcal.Assigned, next act) act {
	value := s.view.X(st.X, set)
	if st.In {
		weight := &core.And{List: []core.Expr{&core.Bool{Val: true}}}
		pcal.InspectStmts(st.Body, nil, func(e core.Expr) bool { weight.List = append(weight.List, e); return false })
		bind := core.Bind{Vars: []*core.Local{st.Var}, Set: value}
		q := &core.Quant{At: core.At{Place: st.Span()}, Exists: true, Binds: []core.Bind{bind}, Body: weight}
		return s.c.exists(q, x, next, func(_ core.Expr, inner site, k act) act { return s.path(st.Body, inner, set, all, k) })
	}
	if s.changes(st.X, st.Body, set) {
		slot := x.fn.slot()
		run := s.c.expr(value, x).run
		x.sc = x.sc.slotFor(st.Var, x.fn, slot)
		body := s.path(st.Body, x, set, all, next)
		return func(m *Machine) bool {
			m.slots[slot] = run(m)
			return body(m)
		}
	}
	def := &core.Def{Name: st.Var.Name, Body: value, Span: st.Span()}
	def.Level = core.LevelOf(value)
	use := &pcal.Rewriter{Expr: func(e core.Expr) core.Expr {
		if l, ok := e.(*core.LocalRef); ok && l.Local == st.Var {
			return &core.Call{At: l.At, Def: def}
		}
		return nil
	}}
	body := use.Stmts(st.Body)
	inner, reset := s.c.let(&core.Let{At: core.At{Place: st.Span()}, Defs: []*core.Def{def}, Body: s.weight(body)}, x, true)
	return reset.act(s.path(body, inner, set, all, next))
}

// weight returns an expression that contains all expressions of the statements,
// so that the compiler can count uses in it.
func (s *steps) weight(list []pcal.Stmt) core.Expr {
	out := &core.And{List: []core.Expr{&core.Bool{Val: true}, &core.Bool{Val: true}}}
	pcal.InspectStmts(list, nil, func(e core.Expr) bool { out.List = append(out.List, e); return false })
	return out
}

// changes reports whether the body assigns again a variable that the step has
// assigned before and that the value mentions. If so, the value must be computed
// before the body.
func (s *steps) changes(value core.Expr, body []pcal.Stmt, set pcal.Assigned) bool {
	again := map[*core.Variable]bool{}
	for _, v := range s.after(body, nil) {
		again[v] = set.Has(v)
	}
	found := false
	core.Walk(value, func(e core.Expr) bool {
		if v, ok := e.(*core.VarRef); ok {
			found = found || again[v.Var]
		}
		return !found
	})
	return found
}

// read compiles a Read: each yield stores the value and continues with the
// rest.
func (s *steps) read(st *pcal.Read, x site, set, all pcal.Assigned, next act) act {
	slot := x.fn.slot()
	inner := x
	inner.sc = x.sc.slotFor(st.Dst, x.fn, slot)
	before := s.after(st.Body, set)
	outer := s.yield
	rest := s.path(st.Rest, inner, before, all, next)
	s.yield = &yielding{slot: slot, all: before, k: rest, up: outer}
	body := s.stmts(st.Body, x, set, func(pcal.Assigned) act {
		return func(*Machine) bool { return true } // after a yield there is nothing
	})
	s.yield = outer
	return body
}

// updates compiles changes of variables. The updates of an assignment are
// simultaneous; those of a jump happen one after the other.
func (s *steps) updates(list []pcal.Update, x site, set pcal.Assigned, next act, together bool) act {
	again := false
	for _, u := range list {
		again = again || set.Has(u.Var)
	}
	if !again {
		for i := len(list) - 1; i >= 0; i-- {
			u := list[i]
			op := core.OpEq
			if u.In {
				op = core.OpIn
			}
			place := core.At{Place: u.Value.Span()}
			prime := &core.Op{At: place, Op: core.OpPrime, Args: []core.Expr{&core.VarRef{At: place, Var: u.Var}}}
			next = s.c.act(&core.Op{At: place, Op: op, Args: []core.Expr{prime, u.Value}}, x, next)
		}
		return next
	}
	if together {
		return s.replaceAll(list, x, next)
	}
	for i := len(list) - 1; i >= 0; i-- {
		next = s.replaceAll(list[i:i+1], x, next)
	}
	return next
}

// replaceAll computes new values and then assigns them to variables that may
// already have values.
func (s *steps) replaceAll(list []pcal.Update, x site, next act) act {
	if len(list) == 1 && list[0].In {
		i := list[0].Var.Index
		set := s.c.expr(list[0].Value, x).run
		return func(m *Machine) bool {
			for v := range set(m).Each {
				m.poll()
				if !m.replace(i, v.Normal(), next) {
					return false
				}
			}
			return true
		}
	}
	runs := make([]expr, len(list))
	slots := make([]int, len(list))
	for i, u := range list {
		runs[i], slots[i] = s.c.expr(u.Value, x).run, x.fn.slot()
	}
	for j := len(list) - 1; j >= 0; j-- {
		i, slot, k := list[j].Var.Index, slots[j], next
		next = func(m *Machine) bool { return m.replace(i, m.slots[slot], k) }
	}
	assign := next
	return func(m *Machine) bool {
		for i, run := range runs {
			m.slots[slots[i]] = run(m).Normal()
		}
		return assign(m)
	}
}

// replace gives variable i of the next state a value while k runs, and restores
// the old one afterwards.
func (m *Machine) replace(i int, v value.Value, k act) bool {
	old := m.nxt[i]
	var id uint32
	if m.nxtIDs != nil {
		id, m.nxtIDs[i] = m.nxtIDs[i], 0
	}
	m.nxt[i] = v
	ok := k(m)
	m.nxt[i] = old
	if m.nxtIDs != nil {
		m.nxtIDs[i] = id
	}
	return ok
}

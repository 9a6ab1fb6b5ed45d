// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// An action is lowered together with its continuation: the statements of A /\ B
// are those of A, with those of B at each point where A continues. On each path
// through an action it is known which variables have a next value. Stored
// values are in a copy of the state while the continuation runs; so a variable
// without a store is unchanged.

// rest makes the statements of the continuation, given the variables that have
// a value in p.
type rest func(p *path) *stmt

func (l *lowerer) stmt(s stmt) *stmt {
	l.step()
	if l.b.nodes++; l.b.nodes > l.b.limit {
		l.b.full = true
		giveUp("it is too large to be packed")
	}
	return &s
}

func (l *lowerer) stopStmt() *stmt { return l.stmt(stmt{op: sStop}) }

var nothing = &stmt{op: sNothing}

// guardStmt continues if n holds.
func (l *lowerer) guardStmt(n *node, next func() *stmt) *stmt {
	switch {
	case n.is(0):
		return nothing
	case n.is(1):
		return next()
	case n.op == oStop:
		return l.stopStmt()
	}
	s := next()
	if s == nothing && n.pure {
		return s
	}
	return l.stmt(stmt{op: sGuard, a: n, next: s})
}

// either runs each of the statements.
func (l *lowerer) either(list []*stmt) *stmt {
	var out []*stmt
	for _, s := range list {
		switch {
		case s == nothing:
		case s.op == sOr:
			out = append(out, s.list...)
		default:
			out = append(out, s)
		}
	}
	switch len(out) {
	case 0:
		return nothing
	case 1:
		return out[0]
	}
	return l.stmt(stmt{op: sOr, list: out})
}

// partAct lowers a part of a branching action.
type partAct func(e core.Expr, x ctx, k rest) *stmt

// split lowers the next-state relation action by action. index has the numbers
// of the actions.
func (l *lowerer) split(index map[core.Expr]int, e core.Expr, x ctx, k func(action int) rest) *stmt {
	if i, ok := index[e]; ok {
		return l.act(e, x, k(i))
	}
	var part partAct
	part = func(e core.Expr, x ctx, next rest) *stmt {
		if i, ok := index[e]; ok {
			return l.act(e, x, k(i))
		}
		return l.branchAct(e, x, next, part)
	}
	return part(e, x, k(-1))
}

// act lowers an action. If it cannot, it returns code that stops.
func (l *lowerer) act(e core.Expr, x ctx, k rest) (s *stmt) {
	calls, spread := l.calls, l.spread
	if !l.try(func() { s = l.action(e, x, k) }) {
		s = l.stopStmt()
	}
	l.calls, l.spread = calls, spread
	return s
}

func (l *lowerer) action(e core.Expr, x ctx, k rest) *stmt {
	switch e := e.(type) {
	case *core.And:
		return l.conjuncts(e.List, x, k)
	case *core.Or, *core.Let, *core.Call, *core.Quant:
		return l.branchAct(e, x, k, l.act)
	case *core.If:
		c := l.pred(e.Cond, x)
		return l.either([]*stmt{
			l.guardStmt(c, func() *stmt { return l.act(e.Then, x, k) }),
			l.guardStmt(l.b.not(c), func() *stmt { return l.act(e.Else, x, k) }),
		})
	case *core.Case:
		return l.caseAct(e, x, k)
	case *core.LocalRef:
		if b := x.env.of(e.Local); b != nil && b.val == nil {
			if e.Local.Arity > 0 {
				return l.operatorAct(b, e.Args, x, k)
			}
			return l.act(b.expr, x.in(b.env), k)
		}
	case *core.ConstRef:
		if _, d := l.p.Constant(e.Const); d != nil {
			return l.callAct(d, e.Args, x, k, l.act)
		}
	case *core.Box:
		return l.either([]*stmt{l.act(e.Action, x, k), l.unchanged(e.Sub, x, k)})
	case *core.Angle:
		return l.act(e.Action, x, func(p *path) *stmt {
			y := x
			y.path = p
			z := y
			z.primed = true
			same := l.equal(l.expr(e.Sub, y, nil), l.expr(e.Sub, z, nil))
			return l.guardStmt(l.b.not(same), func() *stmt { return k(p) })
		})
	case *core.Op:
		return l.opAct(e, x, k)
	}
	return l.guard(e, x, k)
}

func (l *lowerer) guard(e core.Expr, x ctx, k rest) *stmt {
	return l.guardStmt(l.pred(e, x), func() *stmt { return k(x.path) })
}

func (l *lowerer) conjuncts(list []core.Expr, x ctx, k rest) *stmt {
	if len(list) == 0 {
		return k(x.path)
	}
	return l.act(list[0], x, shared(func(p *path) *stmt {
		y := x
		y.path = p
		return l.conjuncts(list[1:], y, k)
	}))
}

// shared returns k with its result cached for each set of assigned variables.
func shared(k rest) rest {
	made := make(map[string]*stmt)
	return func(p *path) *stmt {
		key := p.key()
		s := made[key]
		if s == nil {
			s = k(p)
			made[key] = s
		}
		return s
	}
}

// branchAct lowers the actions that branch.
func (l *lowerer) branchAct(e core.Expr, x ctx, k rest, part partAct) *stmt {
	l.step()
	switch e := e.(type) {
	case *core.Or:
		var list []*stmt
		for _, f := range e.List {
			list = append(list, part(f, x, k))
		}
		return l.either(list)
	case *core.Let:
		return part(e.Body, x.in(l.let(e, x)), k)
	case *core.Quant:
		if e.Exists {
			n := l.askedFor(l.b.k(1), l.furtherBounds(e.Binds, x))
			return l.guardStmt(n, func() *stmt { return l.existsAct(e.Binds, e.Body, x, k, part) })
		}
		n := l.askedFor(l.b.k(1), l.furtherBounds(e.Binds, x))
		return l.guardStmt(n, func() *stmt { return l.forAllAct(e.Binds, e.Body, x, k) })
	case *core.Call:
		return l.callAct(e.Def, e.Args, x, k, part)
	}
	return l.guard(e, x, k)
}

// furtherBounds returns the parts that may stop of the sets of all but the first
// of binds.
func (l *lowerer) furtherBounds(binds []core.Bind, x ctx) (parts []*node) {
	for i, b := range binds[1:] {
		switch {
		case b.Set == nil:
			giveUp("an unbounded quantifier")
		case b.Set == binds[i].Set:
		case l.functionsOf(b.Set, x) != nil:
			parts = append(parts, l.setParts(b.Set, x)...)
		default:
			parts = append(parts, l.unsure(l.furtherBound(l.expr(b.Set, x, nil)))...)
		}
	}
	return parts
}

func (l *lowerer) existsAct(binds []core.Bind, body core.Expr, x ctx, k rest, part partAct) *stmt {
	if len(binds) == 0 {
		return part(body, x, k)
	}
	b := binds[0]
	if b.Set == nil {
		giveUp("an unbounded quantifier")
	}
	next := func(v *val) *stmt {
		return l.existsAct(binds[1:], body, x.in(l.element(b, v, x.env)), k, part)
	}
	if fs := l.functionsOf(b.Set, x); fs != nil && !b.Tuple {
		return l.eachFunction(fs, x, next)
	}
	return l.each(l.expr(b.Set, x, nil), unrollMax, next)
}

// each runs the statements that body makes for every element of a set.
func (l *lowerer) each(s *val, most int, body func(v *val) *stmt) *stmt {
	d := l.domain(s, most, mapMax)
	defer l.spreading(len(d.at))()
	if d.u != nil {
		k, r := l.b.reg(0, int64(len(d.u.vals)-1))
		next := body(l.numbered(d.u, r))
		if next == nothing && pureNodes(d.ws) {
			return next
		}
		return l.stmt(stmt{op: sBits, words: d.ws, k: k, next: next})
	}
	var list []*stmt
	for i, c := range d.conds {
		list = append(list, l.guardStmt(c, func() *stmt { return body(d.elems[i]) }))
	}
	return l.either(list)
}

// forAllAct lowers \A as a conjunction over the elements.
func (l *lowerer) forAllAct(binds []core.Bind, body core.Expr, x ctx, k rest) *stmt {
	if len(binds) == 0 {
		return l.act(body, x, k)
	}
	b := binds[0]
	if b.Set == nil {
		giveUp("an unbounded quantifier")
	}
	if core.LevelOf(body) < core.ActionLevel && !x.primed && !branches(body) {
		return l.guardStmt(l.quant(false, binds, body, x), func() *stmt { return k(x.path) })
	}
	d := l.domain(l.expr(b.Set, x, nil), unrollMax, copiesMax)
	if d.u != nil {
		giveUp("an action for each of a set that is not constant")
	}
	var from func(i int) rest
	from = func(i int) rest {
		if i == len(d.elems) {
			return k
		}
		next := shared(from(i + 1))
		return func(p *path) *stmt {
			y := x.in(l.element(b, d.elems[i], x.env))
			y.path = p
			c := d.conds[i]
			return l.either([]*stmt{
				l.guardStmt(c, func() *stmt { return l.forAllAct(binds[1:], body, y, next) }),
				l.guardStmt(l.b.not(c), func() *stmt { return next(p) }),
			})
		}
	}
	return from(0)(x.path)
}

// branches reports whether an action e may continue more than once. It also
// returns true for an action that is not examined.
func branches(e core.Expr) bool {
	found := false
	core.Walk(e, func(f core.Expr) bool {
		switch f := f.(type) {
		case *core.Or, *core.Call, *core.Let, *core.LocalRef, *core.ConstRef:
			if r, ok := f.(*core.LocalRef); ok && len(r.Args) == 0 {
				break
			}
			if c, ok := f.(*core.Call); ok && c.Def.Native {
				break
			}
			found = true
		case *core.Quant:
			found = found || f.Exists
		}
		return !found
	})
	return found
}

func (l *lowerer) caseAct(e *core.Case, x ctx, k rest) *stmt {
	var list []*stmt
	none := l.b.k(1) // no condition so far
	for _, a := range e.Arms {
		c := l.b.and(none, l.pred(a.Cond, x))
		list = append(list, l.guardStmt(c, func() *stmt { return l.act(a.Body, x, k) }))
		none = l.b.and(none, l.b.not(l.pred(a.Cond, x)))
		if none.is(0) {
			return l.either(list)
		}
	}
	last := func() *stmt { return l.stopStmt() }
	if e.Other != nil {
		last = func() *stmt { return l.act(e.Other, x, k) }
	}
	return l.either(append(list, l.guardStmt(none, last)))
}

func (l *lowerer) callAct(d *core.Def, args []core.Expr, x ctx, k rest, part partAct) *stmt {
	if at, ok := x.env.ofDef(d); ok {
		l.enter()
		in := at.b.env
		if len(d.Params) > 0 {
			in = l.arguments(d.Params, args, x, in)
		}
		s := part(d.Body, x.in(in), k)
		l.calls--
		return s
	}
	to, _ := l.p.Definition(d)
	if to == nil || to.Body == nil {
		return l.guard(&core.Call{At: core.At{Place: d.Span}, Def: d, Args: args}, x, k)
	}
	if _, once := l.p.Once(to); once {
		return l.guard(&core.Call{At: core.At{Place: d.Span}, Def: d, Args: args}, x, k)
	}
	if _, native, _ := l.p.Native(to); native {
		return l.guard(&core.Call{At: core.At{Place: d.Span}, Def: d, Args: args}, x, k)
	}
	l.enter()
	s := part(to.Body, x.in(l.arguments(to.Params, args, x, nil)), k)
	l.calls--
	return s
}

func (l *lowerer) operatorAct(b *binding, args []core.Expr, x ctx, k rest) *stmt {
	switch op := b.expr.(type) {
	case *core.OpRef:
		y := x
		if _, ok := b.env.ofDef(op.Def); ok {
			at, _ := b.env.ofDef(op.Def)
			return l.act(op.Def.Body, x.in(l.arguments(op.Def.Params, args, x, at.b.env)), k)
		}
		return l.callAct(op.Def, args, y, k, l.act)
	case *core.Lambda:
		return l.act(op.Body, x.in(l.arguments(op.Params, args, x, b.env)), k)
	case *core.LocalRef:
		if inner := b.env.of(op.Local); inner != nil {
			return l.operatorAct(inner, args, x, k)
		}
	}
	giveUp("an operator argument")
	return nil
}

// assignable returns the variable whose next value e denotes, or nil.
func (l *lowerer) assignable(e core.Expr, x ctx) *core.Variable {
	switch e := e.(type) {
	case *core.VarRef:
		if x.primed && e.Var.Index < len(l.lay.vars) {
			return e.Var
		}
	case *core.Op:
		if e.Op == core.OpPrime && !x.primed {
			x.primed = true
			return l.assignable(e.Args[0], x)
		}
	case *core.LocalRef:
		if b := x.env.of(e.Local); b != nil && b.val == nil && len(e.Args) == 0 && e.Local.Arity == 0 {
			return l.assignable(b.expr, x.in(b.env))
		}
	case *core.Call:
		if len(e.Args) > 0 {
			return nil
		}
		if at, ok := x.env.ofDef(e.Def); ok {
			return l.assignable(e.Def.Body, x.in(at.b.env))
		}
		if d, _ := l.p.Definition(e.Def); d != nil && d.Body != nil && !d.Recursive && !d.Native {
			return l.assignable(d.Body, x.in(nil))
		}
	}
	return nil
}

func (l *lowerer) opAct(e *core.Op, x ctx, k rest) *stmt {
	switch e.Op {
	case core.OpEq:
		v := l.assignable(e.Args[0], x)
		if v == nil {
			break
		}
		at := l.lay.vars[v.Index]
		y := l.expr(e.Args[1], x, at.t)
		if x.path.assigned[v.Index] {
			return l.guardStmt(l.equal(l.loadVal(at, true), y), func() *stmt { return k(x.path) })
		}
		return l.store(at, y, v.Index, x.path, k)
	case core.OpIn:
		v := l.assignable(e.Args[0], x)
		if v == nil {
			break
		}
		at := l.lay.vars[v.Index]
		if x.path.assigned[v.Index] {
			return l.guardStmt(l.member(l.loadVal(at, true), e.Args[1], x), func() *stmt { return k(x.path) })
		}
		return l.each(l.expr(e.Args[1], x, nil), mapMax, func(y *val) *stmt { return l.store(at, y, v.Index, x.path, k) })
	case core.OpImplies:
		c := l.pred(e.Args[0], x)
		return l.either([]*stmt{
			l.guardStmt(c, func() *stmt { return l.act(e.Args[1], x, k) }),
			l.guardStmt(l.b.not(c), func() *stmt { return k(x.path) }),
		})
	case core.OpUnchanged:
		return l.unchanged(e.Args[0], x, k)
	case core.OpCompose:
		giveUp(`A \cdot B`)
	}
	return l.guard(e, x, k)
}

// unchanged lowers UNCHANGED e.
func (l *lowerer) unchanged(e core.Expr, x ctx, k rest) *stmt {
	if x.primed {
		giveUp("UNCHANGED of the next state")
	}
	switch e := e.(type) {
	case *core.VarRef:
		i := e.Var.Index
		if i >= len(l.lay.vars) {
			giveUp("a variable that no state has")
		}
		if !x.path.assigned[i] {
			return k(x.path.with(i))
		}
		at := l.lay.vars[i]
		return l.guardStmt(l.equal(l.loadVal(at, true), l.loadVal(at, false)), func() *stmt { return k(x.path) })
	case *core.Tuple:
		if len(e.Elems) == 0 {
			return k(x.path)
		}
		return l.unchanged(e.Elems[0], x, func(p *path) *stmt {
			y := x
			y.path = p
			return l.unchanged(&core.Tuple{At: e.At, Elems: e.Elems[1:]}, y, k)
		})
	case *core.LocalRef:
		if b := x.env.of(e.Local); b != nil && b.val == nil && len(e.Args) == 0 {
			return l.unchanged(b.expr, x.in(b.env), func(p *path) *stmt { return k(p) })
		}
	case *core.Call:
		if len(e.Args) > 0 {
			break
		}
		if at, ok := x.env.ofDef(e.Def); ok {
			return l.unchanged(e.Def.Body, x.in(at.b.env), k)
		}
		if d, _ := l.p.Definition(e.Def); d != nil && d.Body != nil && !d.Recursive && !d.Native {
			return l.unchanged(d.Body, x.in(nil), k)
		}
	}
	y := x
	y.primed = true
	return l.guardStmt(l.equal(l.expr(e, x, nil), l.expr(e, y, nil)), func() *stmt { return k(x.path) })
}

// enabled lowers ENABLED A: the code of A ends where A would continue.
func (l *lowerer) enabled(e core.Expr, x ctx) *node {
	if x.primed {
		giveUp("ENABLED of the next state")
	}
	reads := l.reads
	x.path = &path{assigned: make([]bool, len(l.lay.vars))}
	s := l.act(e, x, func(*path) *stmt { return l.stmt(stmt{op: sEmit}) })
	l.reads = reads // what it reads is not the next state
	switch {
	case s == nothing:
		return l.b.k(0)
	case s.op == sEmit:
		return l.b.k(1)
	case s.op == sStop:
		giveUp("ENABLED is not packed")
	}
	return l.b.node(node{op: oEnabled, body: s, hi: 1})
}

// store assigns the next value v to variable i, at the location at.
func (l *lowerer) store(at *loc, v *val, i int, p *path, k rest) *stmt {
	var fs []field
	var ns []*node
	var lows []int64
	var walk func(at *loc, v *val)
	walk = func(at *loc, v *val) {
		v = l.coerce(v, at.t)
		put := func(f field, n *node, lo int64) {
			if n.op == oLoad && !n.next && n.f == f && n.k == lo {
				return
			}
			fs, ns, lows = append(fs, f), append(ns, n), append(lows, lo)
		}
		switch at.t.kind {
		case kSet:
			for j, f := range at.parts {
				put(f, v.ws[j], 0)
			}
		case kFn, kSeq:
			if at.t.kind == kSeq {
				put(at.f, v.s, 0)
			}
			for j, e := range at.elems {
				walk(e, v.at(j))
			}
		case kInt:
			put(at.f, v.s, at.t.lo)
		default:
			put(at.f, v.s, 0)
		}
	}
	walk(at, v)
	s := k(p.with(i))
	if s == nothing {
		// What is stored may have no value.
		pure := true
		for _, n := range ns {
			pure = pure && n.pure
		}
		if pure {
			return s
		}
	}
	// Nothing that is stored is read by what is stored with it.
	for j := len(fs) - 1; j >= 0; j-- {
		s = l.stmt(stmt{op: sStore, f: fs[j], a: ns[j], k: lows[j], next: s})
	}
	return s
}

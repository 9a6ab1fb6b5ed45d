// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/token"
	"go/types"
)

// place is where an assignment stores: what of it is evaluated before the right
// side is in its parts.
type place struct {
	typ    Type
	blank  bool
	addr   Expr // a location, or
	slice  Expr // an element of a slice, or
	m      Expr // an entry of a map
	key    Expr // index or key
	steady bool // no call changes what is there
}

// placeParts gives the operands of an assignable expression, and what to make
// of their terms.
func (f *fn) placeParts(e ast.Expr) ([]func() operand, func([]operand) place) {
	e = ast.Unparen(e)
	if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
		return nil, func([]operand) place { return place{blank: true} }
	}
	t := f.typ(f.unit.Info.TypeOf(e), e)
	if t.Locks {
		f.refuse(e, LockCopy, "an assignment to a variable with a lock in it", "make a new variable")
	}
	if ix, ok := e.(*ast.IndexExpr); ok {
		f.wantKey(ix.X, ix.Index)
		items := []func() operand{func() operand { return f.expr(ix.X) }, func() operand { return f.expr(ix.Index) }}
		switch f.unit.Info.TypeOf(ix.X).Underlying().(type) {
		case *types.Slice:
			return items, func(ops []operand) place { return place{typ: t, slice: ops[0].x, key: ops[1].x} }
		case *types.Map:
			return items, func(ops []operand) place { return place{typ: t, m: ops[0].x, key: ops[1].x} }
		}
		if _, ok := arrayOf(f.unit.Info.TypeOf(ix.X)); !ok {
			f.typ(f.unit.Info.TypeOf(ix.X), ix.X)
			f.mustHaveRefused(e)
			return nil, func([]operand) place { return place{blank: true} }
		}
	}
	steady := false
	return []func() operand{func() operand {
		o, s := f.addr(e)
		steady = s
		return o
	}}, func(ops []operand) place { return place{typ: t, addr: ops[0].x, steady: steady} }
}

// store assigns to a place.
func (f *fn) store(p place, x Expr) {
	switch {
	case p.blank:
		if !atomic(x) {
			f.emit(Do{X: x})
		}
	case p.slice != nil:
		f.emit(Do{Unit: true, X: Lib{Name: "slice_set", Types: []Type{p.typ}, Args: []Expr{p.slice, p.key, x}}})
	case p.m != nil:
		f.emit(Do{Unit: true, X: Lib{Name: "map_insert", Args: []Expr{p.m, p.key, x}}})
	default:
		f.emit(Store{Type: p.typ, Addr: p.addr, X: x})
	}
}

// read is the value at a place whose parts are atomic or steady.
func (p place) read() Expr {
	switch {
	case p.slice != nil:
		return Lib{Name: "slice_get", Types: []Type{p.typ}, Args: []Expr{p.slice, p.key}}
	case p.m != nil:
		return Lib{Name: "map_get1", Zero: &p.typ, Args: []Expr{p.m, p.key}}
	}
	return Load{Type: p.typ, Addr: p.addr}
}

func (f *fn) assign(s *ast.AssignStmt) {
	switch s.Tok {
	case token.DEFINE:
		f.define(s, s.Lhs, s.Rhs)
	case token.ASSIGN:
		f.assignAll(s, s.Lhs, s.Rhs)
	default:
		op, ok := assignOp(s.Tok)
		if !ok {
			f.refuse(s, UnsupportedExpr, "the operator "+s.Tok.String(), "")
			return
		}
		f.opAssign(s, s.Lhs[0], op, func() operand {
			if op == token.SHL || op == token.SHR {
				return f.shiftCount(s.Rhs[0])
			}
			return f.expr(s.Rhs[0])
		})
	}
}

// assignOp is the operator of an assignment like +=.
func assignOp(t token.Token) (token.Token, bool) {
	if token.ADD_ASSIGN <= t && t <= token.AND_NOT_ASSIGN {
		return t - token.ADD_ASSIGN + token.ADD, true
	}
	return 0, false
}

// opAssign is x op= y: the parts of x are evaluated once.
func (f *fn) opAssign(s ast.Stmt, lhs ast.Expr, op token.Token, y func() operand) {
	items, make := f.placeParts(lhs)
	parts := len(items)
	ops := f.list(append(items, y)...)
	p := make(ops[:parts])
	rhs := ops[parts]
	if rhs.writes && !p.steady {
		f.refuse(lhs, EvaluationOrder, "an operand that the call beside it may change: Go does not say which comes first",
			"call first and keep the result in a variable", f.note(rhs.at.Pos(), "the call"))
		return
	}
	for _, part := range []*Expr{&p.addr, &p.slice, &p.m, &p.key} {
		if *part != nil && !steady(*part) {
			*part = f.hoist(*part)
		}
	}
	x := Expr(Binary{Op: op, X: p.read(), Y: rhs.x})
	switch op {
	case token.ADD, token.SUB, token.MUL, token.QUO, token.SHL:
		x = narrow(p.typ, x)
	}
	f.store(p, x)
}

// define is := and var with values: new variables, and old ones that are
// assigned.
func (f *fn) define(at ast.Node, lhs, rhs []ast.Expr) {
	if len(rhs) == 1 && len(lhs) > 1 {
		f.takeTuple(lhs, rhs[0])
		return
	}
	for _, e := range lhs {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" && f.unit.Info.Defs[id] == nil {
			f.assignAll(at, lhs, rhs)
			return
		}
	}
	f.wantAll(lhs, rhs)
	ops := f.exprs(rhs...)
	for i, e := range lhs {
		id, ok := e.(*ast.Ident)
		if !ok {
			continue
		}
		if id.Name == "_" {
			f.store(place{blank: true}, ops[i].x)
			continue
		}
		f.declare(id, ops[i].x)
	}
}

// wantAll tells nil on the right the types on the left.
func (f *fn) wantAll(lhs, rhs []ast.Expr) {
	for i, e := range rhs {
		if i < len(lhs) {
			f.want(e, f.unit.Info.TypeOf(lhs[i]))
		}
	}
}

// declare binds the new variable that an identifier defines.
func (f *fn) declare(id *ast.Ident, x Expr) {
	v, ok := f.unit.Info.Defs[id].(*types.Var)
	if !ok {
		f.mustHaveRefused(id)
		return
	}
	f.bindVar(v, id.Name, f.typ(v.Type(), id), x)
}

// assignAll is a parallel assignment: all values are there before the first
// store.
func (f *fn) assignAll(at ast.Node, lhs, rhs []ast.Expr) {
	if len(rhs) == 1 && len(lhs) > 1 {
		f.takeTuple(lhs, rhs[0])
		return
	}
	f.wantAll(lhs, rhs)
	var items []func() operand
	type part struct {
		from, to int
		make     func([]operand) place
		define   *ast.Ident
	}
	var parts []part
	for _, e := range lhs {
		if id, ok := e.(*ast.Ident); ok && f.unit.Info.Defs[id] != nil && id.Name != "_" {
			parts = append(parts, part{from: len(items), to: len(items), define: id})
			continue
		}
		more, make := f.placeParts(e)
		parts = append(parts, part{from: len(items), to: len(items) + len(more), make: make})
		items = append(items, more...)
	}
	first := len(items)
	for _, e := range rhs {
		items = append(items, func() operand { return f.expr(e) })
	}
	ops := f.list(items...)
	if len(lhs) > 1 {
		for i := range ops {
			if i >= first || !steady(ops[i].x) {
				ops[i].x = f.hoist(ops[i].x)
			}
		}
	}
	for i, p := range parts {
		if first+i >= len(ops) {
			f.mustHaveRefused(at)
			return
		}
		if p.define != nil {
			f.declare(p.define, ops[first+i].x)
			continue
		}
		f.store(p.make(ops[p.from:p.to]), ops[first+i].x)
	}
}

// takeTuple is a, b = f() and the comma-ok forms.
func (f *fn) takeTuple(lhs []ast.Expr, rhs ast.Expr) {
	if t, ok := f.unit.Info.TypeOf(rhs).(*types.Tuple); ok {
		for i, e := range lhs {
			if i < t.Len() && becomesInterface(t.At(i).Type(), f.unit.Info.TypeOf(e)) {
				f.refuse(e, InterfaceType, "a "+f.show(t.At(i).Type())+" as an interface", "name the result first")
			}
		}
	}
	var items []func() operand
	makes := make([]func([]operand) place, len(lhs))
	from := make([]int, len(lhs)+1)
	for i, e := range lhs {
		from[i] = len(items)
		if id, ok := e.(*ast.Ident); ok && (id.Name == "_" || f.unit.Info.Defs[id] != nil) {
			continue
		}
		more, make := f.placeParts(e)
		makes[i] = make
		items = append(items, more...)
	}
	from[len(lhs)] = len(items)
	items = append(items, func() operand { return f.tuple(rhs) })
	ops := f.list(items...)
	for i := range ops[:len(items)-1] {
		if !steady(ops[i].x) {
			ops[i].x = f.hoist(ops[i].x)
		}
	}
	x := ops[len(items)-1].x
	out := LetTuple{X: x}
	type later struct {
		define *ast.Ident
		place  place
		tmp    string
	}
	var rest []later
	var bind []func()
	for i, e := range lhs {
		id, isIdent := e.(*ast.Ident)
		switch {
		case isIdent && id.Name == "_":
			out.Names = append(out.Names, "")
		case makes[i] == nil:
			v, ok := f.unit.Info.Defs[id].(*types.Var)
			if !ok {
				f.mustHaveRefused(id)
				return
			}
			t := f.typ(v.Type(), id)
			name := f.names.bind(id.Name)
			b := f.localOf(v, name, t)
			bind = append(bind, func() { f.bound[v] = b })
			out.Names = append(out.Names, name)
			if b.cell {
				rest = append(rest, later{define: id, tmp: name, place: place{typ: t}})
			}
		default:
			tmp := f.names.fresh()
			out.Names = append(out.Names, tmp)
			rest = append(rest, later{place: makes[i](ops[from[i]:from[i+1]]), tmp: tmp})
		}
	}
	for _, b := range bind {
		b()
	}
	f.emit(out)
	for _, r := range rest {
		if r.define != nil {
			f.emit(Let{Name: r.tmp, X: Ref{Type: r.place.typ, X: Local{Name: r.tmp}}})
			continue
		}
		f.store(r.place, Local{Name: r.tmp})
	}
}

// tuple lowers an expression that has several values.
func (f *fn) tuple(e ast.Expr) operand {
	ix, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return f.expr(e)
	}
	m, ok := f.unit.Info.TypeOf(ix.X).Underlying().(*types.Map)
	if !ok {
		return f.expr(e)
	}
	elem := f.typ(m.Elem(), e)
	f.wantKey(ix.X, ix.Index)
	ops := f.exprs(ix.X, ix.Index)
	o := join(Lib{Name: "map_get2", Zero: &elem, Args: terms(ops)}, ops...).reading()
	o.at = e
	return o
}

// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

func (f *fn) forStmt(s *ast.ForStmt) {
	if !f.enter(s) {
		return
	}
	defer func() { f.depth-- }()
	if s.Init != nil {
		f.stmt(s.Init)
	}
	var out For
	if s.Cond != nil {
		var cond operand
		before := f.scope(func() { cond = f.expr(s.Cond) })
		out.Cond = cond.x
		if len(before) > 0 {
			out.Cond = Block{Stmts: before, X: cond.x}
		}
	}
	if s.Post != nil {
		out.Post = f.scope(func() { f.stmt(s.Post) })
	}
	out.Body = f.loopBody(s.Body, func() func() { return f.perIteration(s) })
	f.emit(out)
}

// loopBody lowers the body of a loop; first may emit what comes at its
// beginning, and gives what to undo at its end.
func (f *fn) loopBody(b *ast.BlockStmt, first func() func()) []Stmt {
	f.frame.breaks = append(f.frame.breaks, false)
	body := f.scope(func() {
		undo := first()
		f.block(b.List, b.Rbrace)
		undo()
	})
	f.frame.breaks = f.frame.breaks[:len(f.frame.breaks)-1]
	return body
}

// perIteration gives function literals in the body of a loop a copy of the
// loop's variables, since each iteration has its own. A literal may not see one
// that the body changes as well.
func (f *fn) perIteration(s *ast.ForStmt) (undo func()) {
	saved := map[*types.Var]local{}
	a, ok := s.Init.(*ast.AssignStmt)
	if ok && a.Tok == token.DEFINE {
		for _, lhs := range a.Lhs {
			id, ok := lhs.(*ast.Ident)
			if !ok {
				continue
			}
			v, ok := f.unit.Info.Defs[id].(*types.Var)
			if !ok || f.vars[v] == nil {
				continue
			}
			w := f.vars[v]
			if w.addressed || w.captured && (w.changedBody || hasLiteral(s.Init, s.Cond, s.Post)) {
				f.refuse(id, LoopVariable, "the loop variable "+id.Name+", which a function literal or a pointer sees and the loop changes",
					"copy it to a variable in the body")
				continue
			}
			if b := f.bound[v]; w.captured && b.cell {
				saved[v] = b
				f.emit(Let{Name: b.name, X: Load{Type: b.typ, Addr: Local{Name: b.name}}})
				b.cell = false
				f.bound[v] = b
			}
		}
	}
	return func() {
		for v, b := range saved {
			f.bound[v] = b
		}
	}
}

// hasLiteral reports whether there is a function literal in one of the nodes.
func hasLiteral(nodes ...ast.Node) bool {
	found := false
	for _, n := range nodes {
		switch n := n.(type) {
		case ast.Expr:
			if n == nil {
				continue
			}
		case ast.Stmt:
			if n == nil {
				continue
			}
		default:
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				found = true
			}
			return !found
		})
	}
	return found
}

func (f *fn) rangeStmt(s *ast.RangeStmt) {
	if !f.enter(s) {
		return
	}
	defer func() { f.depth-- }()
	if s.Tok == token.ASSIGN {
		f.rangeInterfaces(s)
	}
	// Go finds the place of the value before it assigns the key.
	if s.Tok == token.ASSIGN && s.Value != nil && !isBlank(s.Key) {
		if _, isIdent := ast.Unparen(s.Value).(*ast.Ident); !isIdent {
			f.refuse(s.Value, UnsupportedRange, "a range that assigns a key and more than a variable", "assign in the body")
			return
		}
	}
	t := f.unit.Info.TypeOf(s.X)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsInteger == 0 {
			f.refuse(s.X, UnsupportedRange, "a range over the characters of a string", "range over []byte(s)")
			return
		}
		f.rangeInt(s, t)
	case *types.Slice:
		f.rangeSlice(s, u)
	case *types.Map:
		f.rangeMap(s, u)
	case *types.Signature:
		f.refuse(s.X, UnsupportedRange, "a range over a function", "write a loop that calls it")
	default:
		if a, ok := arrayOf(t); ok {
			f.rangeArray(s, a)
			return
		}
		f.typ(t, s.X)
	}
}

// rangeArray makes a loop over the indices. Where values are wanted, the array is
// copied first, but not one that a pointer points at.
func (f *fn) rangeArray(s *ast.RangeStmt, a *types.Array) {
	elem := f.typ(a.Elem(), s.X)
	needValue := s.Value != nil && !isBlank(s.Value)
	var array operand
	pointer := isPointer(f.unit.Info.TypeOf(s.X))
	if needValue {
		array = f.expr(s.X)
		array.x = f.hoist(array.x)
	} else if _, ok := ast.Unparen(s.X).(*ast.Ident); !ok && !f.inPlace(s.X) || f.calls(s.X) {
		// Go evaluates the operand for its calls, and only for them.
		f.refuse(s.X, UnsupportedRange, "a range over the indices of an array that is computed", "range over its length")
		return
	}
	out := RangeInt{Width: I64, N: Lit{Type: Type{Kind: KindInt, Width: I64}, Value: constant.MakeInt64(a.Len())}}
	out.Body = f.loopBody(s.Body, func() func() {
		index, firstKey := f.rangeVar(s.Key, s)
		if index == "" && needValue {
			index = f.names.fresh()
		}
		out.Name = index
		if !needValue {
			firstKey()
			return nothing
		}
		name, firstValue := f.rangeVar(s.Value, s)
		x := Expr(nil)
		if pointer {
			lib := f.std("array_ref", array.x, Local{Name: index})
			lib.Len, lib.Types = a.Len(), []Type{elem}
			x = Load{Type: elem, Addr: lib}
		} else {
			lib := f.std("array_get", array.x, Local{Name: index})
			lib.Len = a.Len()
			x = lib
		}
		f.emit(Let{Name: name, X: x})
		firstKey()
		firstValue()
		return nothing
	})
	f.emit(out)
}

// calls reports whether there is a call in an expression; conversions and constants
// are none.
func (f *fn) calls(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			found = found || !f.unit.Info.Types[call.Fun].IsType() && f.unit.Info.Types[call].Value == nil
		}
		return !found
	})
	return found
}

// rangeVar prepares a variable of a range loop: the name under which the loop
// gives its value, and what the body does with that first.
func (f *fn) rangeVar(e ast.Expr, s *ast.RangeStmt) (name string, first func()) {
	if e == nil {
		return "", func() {}
	}
	id, isIdent := e.(*ast.Ident)
	if isIdent && id.Name == "_" {
		return "", func() {}
	}
	if s.Tok == token.DEFINE && isIdent {
		v, ok := f.unit.Info.Defs[id].(*types.Var)
		if !ok {
			return "", func() {}
		}
		t := f.typ(v.Type(), id)
		name := f.names.bind(id.Name)
		f.bound[v] = f.localOf(v, name, t)
		if f.bound[v].cell {
			return name, func() { f.emit(Let{Name: name, X: Ref{Type: t, X: Local{Name: name}}}) }
		}
		return name, func() {}
	}
	name = f.names.fresh()
	return name, func() {
		items, make := f.placeParts(e)
		ops := f.list(items...)
		f.store(make(ops), Local{Name: name})
	}
}

func nothing() {}

func (f *fn) rangeInt(s *ast.RangeStmt, t types.Type) {
	typ := f.typ(t, s.X)
	if s.Key != nil && !isBlank(s.Key) {
		typ = f.typ(f.unit.Info.TypeOf(s.Key), s.Key)
	}
	n := f.expr(s.X)
	if lit, ok := n.x.(Lit); ok && lit.Value.Kind() == constant.Int {
		lit.Type = typ
		n.x = lit
	}
	out := RangeInt{Width: typ.Width, N: n.x}
	out.Body = f.loopBody(s.Body, func() func() {
		name, first := f.rangeVar(s.Key, s)
		out.Name = name
		first()
		return nothing
	})
	f.emit(out)
}

func (f *fn) rangeSlice(s *ast.RangeStmt, t *types.Slice) {
	elem := f.typ(t.Elem(), s.X)
	slice := f.expr(s.X).x
	needValue := s.Value != nil && !isBlank(s.Value)
	if needValue {
		slice = f.hoist(slice)
		if elem.Locks {
			f.refuse(s.Value, LockCopy, "a copy of a value with a lock in it", "range over the indices")
		}
	}
	out := RangeInt{Width: I64, N: Lib{Name: "slice_len", Args: []Expr{slice}}}
	out.Body = f.loopBody(s.Body, func() func() {
		if !needValue {
			name, first := f.rangeVar(s.Key, s)
			out.Name = name
			first()
			return nothing
		}
		index, firstKey := f.rangeVar(s.Key, s)
		if index == "" {
			index = f.names.fresh()
		}
		out.Name = index
		name, firstValue := f.rangeVar(s.Value, s)
		f.emit(Let{Name: name, X: Lib{Name: "slice_get", Types: []Type{elem}, Args: []Expr{slice, Local{Name: index}}}})
		firstKey()
		firstValue()
		return nothing
	})
	f.emit(out)
}

// rangeInterfaces refuses a range whose values become interfaces.
func (f *fn) rangeInterfaces(s *ast.RangeStmt) {
	var key, elem types.Type
	switch u := f.unit.Info.TypeOf(s.X).Underlying().(type) {
	case *types.Slice:
		elem = u.Elem()
	case *types.Map:
		key, elem = u.Key(), u.Elem()
	case *types.Array:
		elem = u.Elem()
	}
	if s.Key != nil && key != nil && !isBlank(s.Key) && becomesInterface(key, f.unit.Info.TypeOf(s.Key)) ||
		s.Value != nil && elem != nil && !isBlank(s.Value) && becomesInterface(elem, f.unit.Info.TypeOf(s.Value)) {
		f.refuse(s, InterfaceType, "a range that makes interface values", "assign in the body")
	}
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

func (f *fn) rangeMap(s *ast.RangeStmt, t *types.Map) {
	f.typ(t, s.X)
	out := RangeMap{M: f.hoist(f.expr(s.X).x)}
	out.Body = f.loopBody(s.Body, func() func() {
		key, firstKey := f.rangeVar(s.Key, s)
		val, firstValue := f.rangeVar(s.Value, s)
		out.Key, out.Value = key, val
		firstKey()
		firstValue()
		return nothing
	})
	f.emit(out)
}

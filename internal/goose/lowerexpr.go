// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// expr lowers an expression that has one value.
func (f *fn) expr(e ast.Expr) operand {
	if !f.enter(e) {
		return value(Zero{})
	}
	defer func() { f.depth-- }()
	o := f.rawExpr(e)
	if o.x == nil {
		f.mustHaveRefused(e)
		o.x = Zero{}
	}
	if t := f.wanted[e]; t != nil && isInterface(t) {
		o = f.toInterface(e, o, t)
	}
	o.at = e
	return o
}

// mustHaveRefused refuses code that was left untranslated, unless there is a
// reason already why nothing comes out.
func (f *fn) mustHaveRefused(n ast.Node) {
	if !f.diags.HasErrors() {
		f.refuse(n, UnsupportedExpr, "this code", "")
	}
}

// want gives nil its type, if e is nil.
func (f *fn) want(e ast.Expr, t types.Type) {
	f.errorFrom(e, t)
	if t != nil {
		f.wanted[ast.Unparen(e)] = t
	}
}

// wantKey does so for the key of a map; the index of anything else is a number.
func (f *fn) wantKey(m, key ast.Expr) {
	if t, ok := f.unit.Info.TypeOf(m).Underlying().(*types.Map); ok {
		f.want(key, t.Key())
	}
}

// wantParams does so for the arguments of a call.
func (f *fn) wantParams(e *ast.CallExpr) {
	sig, ok := f.unit.Info.TypeOf(e.Fun).Underlying().(*types.Signature)
	if !ok {
		return
	}
	for i, a := range e.Args {
		n := sig.Params().Len()
		switch {
		case sig.Variadic() && !e.Ellipsis.IsValid() && i >= n-1:
			if s, ok := sig.Params().At(n - 1).Type().(*types.Slice); ok {
				f.want(a, s.Elem())
			}
		case i < n:
			f.want(a, sig.Params().At(i).Type())
		}
	}
}

func (f *fn) rawExpr(e ast.Expr) operand {
	tv := f.unit.Info.Types[e]
	if tv.Value != nil {
		return f.constant(e, tv)
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.expr(e.X)
	case *ast.Ident:
		return f.ident(e, tv.Type)
	case *ast.FuncLit:
		return f.literal(e)
	case *ast.CompositeLit:
		return f.composite(e, tv.Type)
	case *ast.SelectorExpr:
		return f.selector(e)
	case *ast.IndexExpr:
		return f.index(e, tv.Type)
	case *ast.SliceExpr:
		return f.slice(e)
	case *ast.StarExpr:
		o := f.expr(e.X)
		return f.load(e, f.typ(tv.Type, e), o, false)
	case *ast.UnaryExpr:
		return f.unary(e, tv.Type)
	case *ast.BinaryExpr:
		return f.binary(e)
	case *ast.CallExpr:
		return f.call(e)
	case *ast.TypeAssertExpr:
		f.refuse(e, InterfaceType, "a type assertion", "use the concrete type")
	default:
		f.refuse(e, UnsupportedExpr, "this expression", "")
	}
	return operand{}
}

// constant is a constant expression: by its name if it has one.
func (f *fn) constant(e ast.Expr, tv types.TypeAndValue) operand {
	t := f.typ(tv.Type, e)
	if opaque(tv.Type) {
		f.refuse(e, OpaqueValue, "a constant of type "+f.show(tv.Type)+", whose values only its package makes", "")
	}
	lit := Lit{Type: t, Value: tv.Value}
	if t.Kind == KindInt {
		lit.Value = constant.ToInt(tv.Value)
		if lit.Value.Kind() != constant.Int {
			f.refuse(e, FloatType, "numbers with a fraction", "")
			lit.Value = constant.MakeInt64(0)
		}
	}
	var id *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	}
	if id != nil {
		c, ok := f.unit.Info.Uses[id].(*types.Const)
		if ok && c.Pkg() != nil && c.Parent() == c.Pkg().Scope() && f.ours(c) && constKind(c) != constOther {
			g := f.global(c)
			lit.Name = &g
		}
	}
	return value(lit)
}

func (f *fn) ident(e *ast.Ident, t types.Type) operand {
	switch o := f.unit.Info.ObjectOf(e).(type) {
	case *types.Nil:
		if want := f.wanted[e]; want != nil {
			t = want
		}
		return value(Nil{Type: f.typ(t, e)})
	case *types.Func:
		return f.funcValue(e, o)
	case *types.Var:
		if b, ok := f.bound[o]; ok {
			if !b.cell {
				return value(Local{Name: b.name})
			}
			return f.load(e, b.typ, value(Local{Name: b.name}), !b.shared)
		}
		if o.Parent() == f.unit.Pkg.Scope() {
			return f.packageVariable(e, o)
		}
		// Anything else had its declaration refused; expr makes sure of that.
	}
	return operand{}
}

// packageVariable is the value of a variable of this package that never changes.
func (f *fn) packageVariable(e *ast.Ident, o *types.Var) operand {
	if _, ok := f.lowerer.vars[o]; !ok {
		f.refuse(e, PackageVariable, "the package variable "+o.Name()+", which something changes or whose value is not a constant", "pass it in, or hold it in a struct")
		return operand{}
	}
	return value(Func{f.global(o)})
}

// funcValue is a function of this package or another, as a value.
func (f *fn) funcValue(e ast.Node, o *types.Func) operand {
	if !f.ours(o) {
		f.refuse(e, ForeignCall, "the function "+o.Name()+" of package "+packagePath(o)+", which is not translated", "")
		return operand{}
	}
	if word := f.unit.Directives[o.FullName()]; word != "" {
		f.refuse(e, ForeignCall, "the function "+omittedName(o)+", which is left out by goose:"+word, "")
		return operand{}
	}
	return value(Func{f.global(o)})
}

// load reads a variable of a type at an address. When steady, no call changes it.
func (f *fn) load(at ast.Node, t Type, addr operand, steady bool) operand {
	if t.Locks {
		f.refuse(at, LockCopy, "a copy of a value with a lock in it", "use a pointer to it")
	}
	o := join(Load{Type: t, Addr: addr.x}, addr)
	if !steady {
		o = o.reading()
	}
	return o
}

// literal lowers a function literal to a closure.
func (f *fn) literal(e *ast.FuncLit) operand {
	sig, ok := f.unit.Info.TypeOf(e).(*types.Signature)
	if !ok {
		return operand{}
	}
	f.signature(sig, e.Type)
	params, body := f.body(sig, e.Type.Params.List, e.Type.Results, e.Body)
	return value(Closure{Params: params, Body: body, Results: sig.Results().Len()})
}

// addr is the location of an addressable expression; steady says whether no
// call changes what is there.
func (f *fn) addr(e ast.Expr) (o operand, steady bool) {
	if !f.enter(e) {
		return value(Zero{}), true
	}
	defer func() { f.depth-- }()
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.addr(e.X)
	case *ast.Ident:
		if v, ok := f.unit.Info.ObjectOf(e).(*types.Var); ok {
			if b, bound := f.bound[v]; bound && b.cell {
				return operand{x: Local{Name: b.name}, at: e}, !b.shared
			}
		}
		o = f.expr(e) // refuses what it is
		return operand{x: Zero{}, at: e}, true
	case *ast.StarExpr:
		return f.expr(e.X), false
	case *ast.SelectorExpr:
		s := f.unit.Info.Selections[e]
		if s == nil || s.Kind() != types.FieldVal {
			o = f.expr(e)
			return o, false
		}
		var inPlace bool
		o, inPlace, steady = f.fieldOf(e.X, s.Recv(), s.Index(), true)
		if !inPlace {
			f.refuse(e, UnsupportedExpr, "the address of a part of a value", "keep the value in a variable")
		}
		o.at = e
		return o, steady
	case *ast.IndexExpr:
		t := f.unit.Info.TypeOf(e.X)
		if s, ok := t.Underlying().(*types.Slice); ok {
			elem := f.typ(s.Elem(), e.X)
			ops := f.exprs(e.X, e.Index)
			o = join(Lib{Name: "slice_ref", Types: []Type{elem}, Args: []Expr{ops[0].x, ops[1].x}}, ops...)
			o.at = e
			return o, false
		}
		if a, ok := arrayOf(t); ok {
			return f.elementAddr(e, a)
		}
	}
	return f.expr(e), false
}

// structOf is the descriptor of the struct that a field is selected from.
func (f *fn) structOf(recv types.Type, at ast.Node) Global {
	if p, ok := recv.Underlying().(*types.Pointer); ok {
		recv = p.Elem()
	}
	if n, ok := types.Unalias(recv).(*types.Named); ok && f.ours(n.Obj()) {
		if _, isStruct := n.Underlying().(*types.Struct); isStruct {
			return f.global(n.Obj())
		}
	}
	if n, ok := types.Unalias(recv).(*types.Named); ok && strings.HasPrefix(packagePath(n.Obj()), primitivePath) {
		f.refuse(at, OpaqueValue, "a field of "+f.show(recv), "")
		return Global{}
	}
	f.typ(recv, at)
	return Global{}
}

func (f *fn) selector(e *ast.SelectorExpr) operand {
	s := f.unit.Info.Selections[e]
	if s == nil { // a name of another package
		switch o := f.unit.Info.Uses[e.Sel].(type) {
		case *types.Func:
			return f.funcValue(e, o)
		case *types.Var:
			if f.unit.Errors[errorName(o)] {
				return value(sentinel(o))
			}
			f.refuse(e, ForeignValue, "the variable "+o.Name()+" of package "+packagePath(o), "pass it in")
		}
		return operand{}
	}
	if s.Kind() != types.FieldVal {
		return f.methodValue(e, s)
	}
	o, inPlace, steady := f.fieldOf(e.X, s.Recv(), s.Index(), false)
	if !inPlace {
		return o
	}
	o.at = e
	v, _ := s.Obj().(*types.Var)
	return f.load(e, f.typ(s.Type(), e), o, steady || f.constants[v])
}

// inPlace reports whether an expression is a part of memory, and not a value that
// has no location.
func (f *fn) inPlace(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v, ok := f.unit.Info.ObjectOf(e).(*types.Var)
		return ok && f.bound[v].cell
	case *ast.StarExpr:
		return true
	case *ast.SelectorExpr:
		s := f.unit.Info.Selections[e]
		return s != nil && s.Kind() == types.FieldVal && (indirect(s.Recv(), s.Index()) || f.inPlace(e.X))
	case *ast.IndexExpr:
		t := f.unit.Info.TypeOf(e.X)
		if _, ok := t.Underlying().(*types.Slice); ok {
			return true
		}
		_, ok := arrayOf(t)
		return ok && (isPointer(t) || f.inPlace(e.X))
	}
	return false
}

func (f *fn) index(e *ast.IndexExpr, t types.Type) operand {
	switch x := f.unit.Info.TypeOf(e.X).Underlying().(type) {
	case *types.Slice:
		elem := f.typ(x.Elem(), e.X)
		if elem.Locks {
			f.refuse(e, LockCopy, "a copy of a value with a lock in it", "use a pointer to it")
		}
		ops := f.exprs(e.X, e.Index)
		return join(Lib{Name: "slice_get", Types: []Type{elem}, Args: []Expr{ops[0].x, ops[1].x}}, ops...).reading()
	case *types.Array, *types.Pointer:
		a, ok := arrayOf(x)
		if !ok {
			break
		}
		elem := f.typ(a.Elem(), e.X)
		if f.inPlace(e) {
			addr, steady := f.addr(e)
			return f.load(e, elem, addr, steady)
		}
		ops := f.exprs(e.X, e.Index)
		lib := f.std("array_get", ops[0].x, ops[1].x)
		lib.Len = a.Len()
		return join(lib, ops...)
	case *types.Map:
		elem := f.typ(x.Elem(), e)
		f.typ(x.Key(), e)
		f.wantKey(e.X, e.Index)
		ops := f.exprs(e.X, e.Index)
		return join(Lib{Name: "map_get1", Zero: &elem, Args: []Expr{ops[0].x, ops[1].x}}, ops...).reading()
	case *types.Basic: // a string
		ops := f.exprs(e.X, e.Index)
		return join(Lib{Name: "string_get", Args: []Expr{ops[0].x, ops[1].x}}, ops...)
	case *types.Signature:
		f.refuse(e, GenericCode, "an instance of a generic function", "write the code for each type")
	default:
		f.typ(f.unit.Info.TypeOf(e.X), e.X)
		f.typ(t, e)
	}
	return operand{}
}

func (f *fn) slice(e *ast.SliceExpr) operand {
	items := []func() operand{func() operand { return f.expr(e.X) }}
	for _, p := range []ast.Expr{e.Low, e.High, e.Max} {
		if p != nil {
			items = append(items, func() operand { return f.expr(p) })
		}
	}
	var types_ []Type
	text := false
	switch x := f.unit.Info.TypeOf(e.X).Underlying().(type) {
	case *types.Slice:
		types_ = []Type{f.typ(x.Elem(), e.X)}
	case *types.Basic:
		text = true
	default:
		a, ok := arrayOf(x)
		if !ok {
			f.typ(f.unit.Info.TypeOf(e.X), e.X)
			return operand{}
		}
		types_ = []Type{f.typ(a.Elem(), e.X)}
		items[0] = func() operand { return f.wholeArray(e.X, a) }
	}
	ops := f.list(items...)
	if text {
		return f.substring(e, ops)
	}
	var args []Expr
	for _, o := range ops {
		args = append(args, o.x)
	}
	lib := Lib{Types: types_, Args: args}
	switch {
	case e.Slice3:
		if e.Low == nil {
			zero := Lit{Type: Type{Kind: KindInt, Width: I64}, Value: constant.MakeInt64(0)}
			lib.Args = append([]Expr{args[0], zero}, args[1:]...)
		}
		f.pkg.Library = true
		lib.Name = "std.slice_full"
	case e.Low != nil && e.High != nil:
		lib.Name = "slice_sub"
	case e.Low != nil:
		lib.Name = "slice_drop"
	case e.High != nil:
		lib.Name = "slice_take"
	default:
		return ops[0]
	}
	return join(lib, ops...)
}

// substring is s[i:j] of a string.
func (f *fn) substring(e *ast.SliceExpr, ops []operand) operand {
	zero := Lit{Type: Type{Kind: KindInt, Width: I64}, Value: constant.MakeInt64(0)}
	s := ops[0]
	if e.Low == nil && e.High == nil {
		return s
	}
	if e.High == nil { // the string is needed twice
		wasPending := s.pending
		s.x = f.hoist(s.x)
		s.pending = false
		end := Lib{Name: "string_len", Args: []Expr{s.x}}
		o := join(Lib{Name: "string_sub", Args: []Expr{s.x, ops[1].x, end}}, ops...)
		o.pending = ops[1].pending
		o.writes = o.writes || wasPending && s.writes
		return o
	}
	low, high := Expr(zero), ops[len(ops)-1].x
	if e.Low != nil {
		low = ops[1].x
	}
	return join(Lib{Name: "string_sub", Args: []Expr{s.x, low, high}}, ops...)
}

func (f *fn) unary(e *ast.UnaryExpr, t types.Type) operand {
	switch e.Op {
	case token.AND:
		return f.addressOf(e)
	case token.ARROW:
		f.refuse(e, ChannelType, "channels", "use a mutex and a condition variable")
		return operand{}
	case token.ADD:
		return f.expr(e.X)
	case token.NOT, token.SUB, token.XOR:
		o := f.expr(e.X)
		typ := f.typ(t, e)
		return join(narrow(typ, Unary{Op: e.Op, Width: typ.Width, X: o.x}), o)
	}
	f.refuse(e, UnsupportedExpr, "the operator "+e.Op.String(), "")
	return operand{}
}

// addressOf is &x.
func (f *fn) addressOf(e *ast.UnaryExpr) operand {
	if lit, ok := ast.Unparen(e.X).(*ast.CompositeLit); ok {
		o := f.expr(lit)
		t := f.typ(f.unit.Info.TypeOf(lit), lit)
		return join(f.newVariable(t, o.x), o)
	}
	f.noStar(e.X)
	o, _ := f.addr(e.X)
	return o
}

// noStar refuses the address of *p, which is p, but for a nil pointer a panic.
func (f *fn) noStar(e ast.Expr) {
	if _, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		f.refuse(e, UnsupportedExpr, "the address of what a pointer points at", "write the pointer")
	}
}

// newVariable is a new variable that holds x.
func (f *fn) newVariable(t Type, x Expr) Expr {
	if _, zero := x.(Zero); zero {
		return RefZero{Type: t}
	}
	return Ref{Type: t, X: x}
}

func (f *fn) binary(e *ast.BinaryExpr) operand {
	if e.Op == token.LAND || e.Op == token.LOR {
		return f.logic(e.Op, func() operand { return f.expr(e.X) }, func() operand { return f.expr(e.Y) })
	}
	if e.Op == token.SHL || e.Op == token.SHR {
		ops := f.list(func() operand { return f.expr(e.X) }, func() operand { return f.shiftCount(e.Y) })
		return join(narrow(f.typ(f.unit.Info.TypeOf(e), e), Binary{Op: e.Op, X: ops[0].x, Y: ops[1].x}), ops...)
	}
	if x := f.nilComparison(e); x != nil {
		return *x
	}
	if !f.comparable(e) {
		return operand{}
	}
	ops := f.exprs(e.X, e.Y)
	x := Expr(Binary{Op: e.Op, X: ops[0].x, Y: ops[1].x})
	switch e.Op {
	case token.ADD, token.SUB, token.MUL, token.QUO:
		x = narrow(f.typ(f.unit.Info.TypeOf(e), e), x)
	}
	return join(x, ops...)
}

// logic is && or ||, whose right side is evaluated when it is needed.
func (f *fn) logic(op token.Token, x, y func() operand) operand {
	a := x()
	var b operand
	before := f.scope(func() { b = y() })
	if len(before) > 0 {
		b.x = Block{Stmts: before, X: b.x}
	}
	o := join(Logic{Op: op, X: a.x, Y: b.x}, a, b)
	o.pending = o.pending || len(before) > 0
	return o
}

// shiftCount is the right side of a shift; a constant one has any type.
func (f *fn) shiftCount(e ast.Expr) operand {
	if tv := f.unit.Info.Types[e]; tv.Value != nil {
		return operand{x: Lit{Type: Type{Kind: KindInt, Width: U64}, Value: constant.ToInt(tv.Value)}, at: e}
	}
	return f.expr(e)
}

// nilComparison is x == nil or x != nil.
func (f *fn) nilComparison(e *ast.BinaryExpr) *operand {
	x, y := e.X, e.Y
	if f.unit.Info.Types[x].IsNil() {
		x, y = y, x
	}
	if !f.unit.Info.Types[y].IsNil() || e.Op != token.EQL && e.Op != token.NEQ {
		return nil
	}
	o := f.expr(x)
	t := f.typ(f.unit.Info.TypeOf(x), x)
	left := o.x
	switch t.Kind {
	case KindSlice:
		left = Lib{Name: "slice_ptr", Args: []Expr{o.x}}
	case KindInterface:
		r := join(f.std("interface_is_nil", o.x), o)
		if e.Op == token.NEQ {
			r = join(Unary{Op: token.NOT, X: r.x}, o)
		}
		return &r
	case KindFunc:
		f.refuse(e, UnsupportedComparison, "the comparison of a function with nil", "keep a bool beside it")
	}
	r := join(Binary{Op: e.Op, X: left, Y: Nil{Type: Type{Kind: KindPtr}}}, o)
	return &r
}

// comparable refuses comparisons that the semantics does not have.
func (f *fn) comparable(e *ast.BinaryExpr) bool {
	switch e.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.ADD:
	default:
		return true
	}
	t := f.typ(f.unit.Info.TypeOf(e.X), e.X)
	if y := f.typ(f.unit.Info.TypeOf(e.Y), e.Y); (t.Kind == KindError) != (y.Kind == KindError) {
		f.refuse(e, UnsupportedComparison, "a comparison of an error with a value that is not an error", "compare errors")
		return false
	}
	if holdsInterface(f.unit.Info.TypeOf(e.X)) || holdsInterface(f.unit.Info.TypeOf(e.Y)) {
		f.refuse(e, UnsupportedComparison, "a comparison of interface values", "compare what is in them")
		return false
	}
	if t.Kind == KindString && e.Op != token.EQL && e.Op != token.NEQ && e.Op != token.ADD {
		f.refuse(e, UnsupportedComparison, "the order of strings", "compare byte by byte")
		return false
	}
	if t.Locks {
		f.refuse(e, LockCopy, "a comparison of values with locks in them", "compare pointers")
		return false
	}
	return true
}

// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// stmt lowers a statement into the block under way.
func (f *fn) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.EmptyStmt:
	case *ast.ExprStmt:
		f.exprStmt(s)
	case *ast.AssignStmt:
		f.assign(s)
	case *ast.IncDecStmt:
		op := token.ADD
		if s.Tok == token.DEC {
			op = token.SUB
		}
		f.opAssign(s, s.X, op, func() operand {
			return value(Lit{Type: f.typ(f.unit.Info.TypeOf(s.X), s.X), Value: constant.MakeInt64(1)})
		})
	case *ast.DeclStmt:
		f.declaration(s)
	case *ast.BlockStmt:
		mark := f.names.mark()
		f.block(s.List, s.Rbrace)
		f.names.release(mark)
	case *ast.IfStmt:
		mark := f.names.mark()
		f.ifStmt(s)
		f.names.release(mark)
	case *ast.SwitchStmt:
		mark := f.names.mark()
		f.switchStmt(s)
		f.names.release(mark)
	case *ast.ForStmt:
		mark := f.names.mark()
		f.forStmt(s)
		f.names.release(mark)
	case *ast.RangeStmt:
		mark := f.names.mark()
		f.rangeStmt(s)
		f.names.release(mark)
	case *ast.ReturnStmt:
		f.returnStmt(s)
	case *ast.BranchStmt:
		f.branch(s)
	case *ast.GoStmt:
		f.goStmt(s)
	case *ast.DeferStmt:
		f.deferStmt(s)
	case *ast.LabeledStmt:
		f.refuse(s.Label, GotoLabel, "a label", "put the inner loop in a function of its own")
	case *ast.SendStmt, *ast.SelectStmt:
		f.refuse(s, ChannelType, "channels", "use a mutex and a condition variable")
	case *ast.TypeSwitchStmt:
		f.refuse(s, InterfaceType, "a type switch", "use the concrete type")
	default:
		f.refuse(s, UnsupportedExpr, "this statement", "")
	}
}

func (f *fn) exprStmt(s *ast.ExprStmt) {
	if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok && f.unit.Info.Types[call.Fun].IsBuiltin() {
		if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && id.Name == "panic" {
			f.panicStmt(call)
			return
		}
	}
	o := f.expr(s.X)
	f.emit(Do{X: o.x, Unit: f.unit.Info.Types[s.X].IsVoid()})
}

func (f *fn) panicStmt(call *ast.CallExpr) {
	tv := f.unit.Info.Types[call.Args[0]]
	if tv.Value == nil || tv.Value.Kind() != constant.String {
		f.refuse(call.Args[0], PanicValue, "a panic with anything but a constant string", "say what is wrong in a constant string")
		return
	}
	f.emit(Panic{X: Lit{Type: Type{Kind: KindString}, Value: tv.Value}})
}

func (f *fn) declaration(s *ast.DeclStmt) {
	d, ok := s.Decl.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			f.refuse(spec.Name, LocalType, "a type declared in a function", "declare it outside")
		case *ast.ValueSpec:
			if d.Tok == token.CONST {
				continue // uses have the values
			}
			f.varSpec(spec)
		}
	}
}

func (f *fn) varSpec(s *ast.ValueSpec) {
	if len(s.Values) > 0 {
		var lhs []ast.Expr
		for _, name := range s.Names {
			lhs = append(lhs, name)
		}
		f.define(s, lhs, s.Values)
		return
	}
	for _, name := range s.Names {
		v, ok := f.unit.Info.Defs[name].(*types.Var)
		t := f.typ(f.unit.Info.TypeOf(s.Type), s.Type)
		if ok && name.Name != "_" {
			f.bindVar(v, name.Name, t, Zero{Type: t})
		}
	}
}

// bindVar declares a variable with a first value.
func (f *fn) bindVar(v *types.Var, goName string, t Type, x Expr) {
	name := f.names.bind(goName)
	b := f.localOf(v, name, t)
	f.bound[v] = b
	if b.cell {
		x = f.newVariable(t, x)
	}
	f.emit(Let{Name: name, X: x})
}

func (f *fn) ifStmt(s *ast.IfStmt) {
	if !f.enter(s) {
		return
	}
	defer func() { f.depth-- }()
	if s.Init != nil {
		f.stmt(s.Init)
	}
	cond := f.expr(s.Cond)
	out := If{Cond: cond.x}
	out.Then = f.scope(func() { f.block(s.Body.List, s.Body.Rbrace) })
	switch e := s.Else.(type) {
	case *ast.BlockStmt:
		out.Else = f.scope(func() { f.block(e.List, e.Rbrace) })
	case *ast.IfStmt:
		f.frame.block++
		out.Else = f.scope(func() { f.takeComments(e.Pos(), nil); f.ifStmt(e) })
		f.frame.block--
	}
	f.emit(out)
}

// switchStmt makes a chain of ifs; the default comes last.
func (f *fn) switchStmt(s *ast.SwitchStmt) {
	if s.Init != nil {
		f.stmt(s.Init)
	}
	var tag Expr
	var t types.Type
	if s.Tag != nil {
		t = f.unit.Info.TypeOf(s.Tag)
		f.typ(t, s.Tag)
		tag = f.hoist(f.expr(s.Tag).x)
	}
	var cases []*ast.CaseClause
	var byDefault *ast.CaseClause
	for _, c := range s.Body.List {
		if c, ok := c.(*ast.CaseClause); ok {
			if c.List == nil {
				byDefault = c
				continue
			}
			cases = append(cases, c)
		}
	}
	f.frame.breaks = append(f.frame.breaks, true)
	f.frame.block++
	f.cases(tag, t, cases, byDefault, s.Body.Rbrace)
	f.frame.block--
	f.frame.breaks = f.frame.breaks[:len(f.frame.breaks)-1]
}

func (f *fn) cases(tag Expr, t types.Type, cases []*ast.CaseClause, byDefault *ast.CaseClause, end token.Pos) {
	if len(cases) == 0 {
		if byDefault != nil {
			f.caseBody(byDefault, end)
		}
		return
	}
	if !f.enter(cases[0]) {
		return
	}
	defer func() { f.depth-- }()
	c := cases[0]
	cond := f.caseCond(tag, t, c.List)
	out := If{Cond: cond.x}
	out.Then = f.scope(func() { f.caseBody(c, end) })
	out.Else = f.scope(func() { f.cases(tag, t, cases[1:], byDefault, end) })
	f.emit(out)
}

// caseBody lowers what a case does. Comments are taken in the order of the text,
// which is that of the cases but for the default.
func (f *fn) caseBody(c *ast.CaseClause, end token.Pos) {
	last := c.End()
	f.block(c.Body, min(last, end))
}

// caseCond is whether one of the values of a case is the tag.
func (f *fn) caseCond(tag Expr, t types.Type, list []ast.Expr) operand {
	one := func(e ast.Expr) operand {
		isNil := tag != nil && f.unit.Info.Types[e].IsNil()
		if isNil {
			f.want(e, t)
		}
		o := f.expr(e)
		if tag == nil {
			return o
		}
		if !isNil && becomesInterface(f.unit.Info.TypeOf(e), t) || holdsInterface(t) {
			f.refuse(e, UnsupportedComparison, "a comparison of interface values", "compare what is in them")
		}
		return join(Binary{Op: token.EQL, X: tag, Y: o.x}, o)
	}
	o := one(list[0])
	for _, e := range list[1:] {
		o = f.logic(token.LOR, func() operand { return o }, func() operand { return one(e) })
	}
	return o
}

func (f *fn) branch(s *ast.BranchStmt) {
	if s.Label != nil {
		f.refuse(s, GotoLabel, "a jump to a label", "put the inner loop in a function of its own")
		return
	}
	inSwitch := len(f.frame.breaks) > 0 && f.frame.breaks[len(f.frame.breaks)-1]
	switch s.Tok {
	case token.BREAK:
		if inSwitch {
			f.refuse(s, SwitchBreak, "a break out of a switch", "invert the condition, or use if")
			return
		}
		f.emit(Break{})
	case token.CONTINUE:
		f.emit(Continue{})
	case token.FALLTHROUGH:
		f.refuse(s, FallthroughCase, "fallthrough", "list the values of both cases")
	default:
		f.refuse(s, GotoLabel, "goto", "write a loop")
	}
}

func (f *fn) returnStmt(s *ast.ReturnStmt) {
	want := f.frame.sig.Results().Len()
	if want > 0 && len(s.Results) == 0 {
		x := Expr(Tuple{Xs: f.namedResults()})
		if want == 1 {
			x = x.(Tuple).Xs[0]
		}
		if len(f.frame.deferred) > 0 && !allAtomic(x) {
			x = f.hoist(x)
		}
		f.emit(f.frame.deferred...)
		f.emit(Return{X: x})
		return
	}
	if len(s.Results) == 1 && want > 1 {
		if t, ok := f.unit.Info.TypeOf(s.Results[0]).(*types.Tuple); ok {
			f.otherErrors(s, t, f.frame.sig.Results())
		}
	}
	for i, r := range s.Results {
		if i < want {
			f.want(r, f.frame.sig.Results().At(i).Type())
		}
	}
	ops := f.exprs(s.Results...)
	if f.resultsAreSeen() {
		f.returnSeen(terms(ops))
		return
	}
	var x Expr
	switch len(ops) {
	case 0:
	case 1:
		x = ops[0].x
	default:
		x = Tuple{Xs: terms(ops)}
	}
	if x != nil && len(f.frame.deferred) > 0 && !allAtomic(x) {
		x = f.hoist(x)
	}
	f.emit(f.frame.deferred...)
	f.emit(Return{X: x})
}

// resultsAreSeen reports whether a function literal or a pointer sees a named result.
func (f *fn) resultsAreSeen() bool {
	for _, r := range f.frame.results {
		v, _ := f.unit.Info.Defs[r.id].(*types.Var)
		if w := f.vars[v]; w != nil && w.seenResult() {
			return true
		}
	}
	return false
}

// returnSeen returns values where others see the named results: it stores the
// values in them, makes the deferred calls, and returns what the results then hold.
func (f *fn) returnSeen(xs []Expr) {
	want := len(f.frame.results)
	if len(xs) == 1 && want > 1 {
		var names []string
		var parts []Expr
		for range want {
			name := f.names.fresh()
			names, parts = append(names, name), append(parts, Local{Name: name})
		}
		f.emit(LetTuple{Names: names, X: xs[0]})
		xs = parts
	}
	if len(xs) != want {
		return // Go refuses it
	}
	xs = f.hoistAll(xs)
	for i, r := range f.frame.results {
		v, _ := f.unit.Info.Defs[r.id].(*types.Var)
		if b, ok := f.bound[v]; ok && b.cell {
			f.emit(Store{Type: b.typ, Addr: Local{Name: b.name}, X: xs[i]})
			xs[i] = Load{Type: b.typ, Addr: Local{Name: b.name}}
		}
	}
	f.emit(f.frame.deferred...)
	x := xs[0]
	if want > 1 {
		x = Tuple{Xs: xs}
	}
	f.emit(Return{X: x})
}

func allAtomic(x Expr) bool {
	t, ok := x.(Tuple)
	if !ok {
		return atomic(x)
	}
	for _, x := range t.Xs {
		if !atomic(x) {
			return false
		}
	}
	return true
}

// goStmt starts a thread: the function and its arguments are evaluated here.
func (f *fn) goStmt(s *ast.GoStmt) {
	if f.unit.Info.Types[s.Call.Fun].IsBuiltin() || f.unit.Info.Types[s.Call.Fun].IsType() {
		f.refuse(s, UnsupportedBuiltin, "a builtin function as a thread", "write a function literal")
		return
	}
	if lit, ok := ast.Unparen(s.Call.Fun).(*ast.FuncLit); ok {
		f.goLiteral(lit, s.Call)
		return
	}
	o := f.expr(s.Call)
	switch x := o.x.(type) {
	case Call:
		x.Fun = f.hoist(x.Fun)
		x.Args = f.hoistAll(x.Args)
		f.emit(Go{Body: []Stmt{Do{X: x}}})
	case Lib:
		x.Args = f.hoistAll(x.Args)
		f.emit(Go{Body: []Stmt{Do{X: x}}})
	default:
		f.mustHaveRefused(s)
	}
}

func (f *fn) hoistAll(xs []Expr) []Expr {
	var out []Expr
	for _, x := range xs {
		out = append(out, f.hoist(x))
	}
	return out
}

func (f *fn) goLiteral(lit *ast.FuncLit, call *ast.CallExpr) {
	sig, ok := f.unit.Info.TypeOf(lit).(*types.Signature)
	if !ok {
		return
	}
	f.signature(sig, lit.Type)
	if sig.Variadic() {
		f.refuse(lit, VariadicFunction, "a thread of a function literal with a variable number of arguments", "take a slice")
		return
	}
	f.wantParams(call)
	ops := f.exprs(call.Args...)
	values := f.hoistAll(terms(ops))
	params, body := f.body(sig, lit.Type.Params.List, lit.Type.Results, lit.Body)
	var all []Stmt
	for i, p := range params {
		if p != "" && i < len(values) {
			all = append(all, Let{Name: p, X: values[i]})
		}
	}
	f.emit(Go{Body: append(all, body...)})
}

// deferStmt takes the unlocks that a function does before it returns.
func (f *fn) deferStmt(s *ast.DeferStmt) {
	bad := func() {
		f.refuse(s, DeferForm, "a defer of anything but Unlock, RUnlock, Done and a function literal at the top level of a function without named results",
			"write the calls where the function returns")
	}
	if lit, ok := ast.Unparen(s.Call.Fun).(*ast.FuncLit); ok && f.frame.block == 1 && len(f.frame.results) == 0 &&
		lit.Type.Params.NumFields() == 0 && lit.Type.Results.NumFields() == 0 {
		call := Do{Unit: true, X: Call{Fun: f.hoist(f.expr(lit).x)}}
		f.frame.deferred = append([]Stmt{call}, f.frame.deferred...)
		return
	}
	sel, ok := ast.Unparen(s.Call.Fun).(*ast.SelectorExpr)
	if !ok || f.frame.block != 1 {
		bad()
		return
	}
	o, ok := f.unit.Info.Uses[sel.Sel].(*types.Func)
	if !ok || packagePath(o) != "sync" || o.Name() != "Unlock" && o.Name() != "RUnlock" && o.Name() != "Done" {
		bad()
		return
	}
	lib, ok := f.expr(s.Call).x.(Lib)
	if !ok {
		f.mustHaveRefused(s)
		return
	}
	for i, a := range lib.Args {
		if !steady(a) {
			lib.Args[i] = f.hoist(a)
		}
	}
	f.frame.deferred = append([]Stmt{Do{X: lib, Unit: true}}, f.frame.deferred...)
}

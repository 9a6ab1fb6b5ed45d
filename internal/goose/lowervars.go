// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/token"
	"go/types"
)

// variable is what a function does with one of its variables.
type variable struct {
	// owner is the function literal that declares it, nil for the function itself.
	owner *ast.FuncLit
	// assigned: it changes after its declaration; in a literal: from within one
	// that does not declare it.
	assigned, assignedInLiteral bool
	// captured: a function literal uses it that does not declare it.
	captured bool
	// addressed: its location is taken: &x, a method on &x.
	addressed bool
	// result: it is a named result, which a return with values assigns.
	result bool
	// loop is the for statement whose clause declares it; body: the loop's body
	// assigns it or takes its address.
	loop        *ast.ForStmt
	changedBody bool
}

// cell reports whether the variable needs a location; else it is a name for a value.
func (v *variable) cell() bool { return v.assigned || v.addressed || v.seenResult() }

// seenResult reports whether someone sees what a return assigns to the variable: a
// function literal, or who has a pointer to it.
func (v *variable) seenResult() bool { return v.result && (v.captured || v.addressed) }

// shared reports whether a call may change the variable behind the function's back.
func (v *variable) shared() bool { return v.addressed || v.captured && v.assignedInLiteral }

// variables looks at a function before it is lowered.
type variables struct {
	info *types.Info
	vars map[*types.Var]*variable
	// literals are those around the current node, innermost last; bodies are the
	// bodies of loops around it.
	literals []*ast.FuncLit
	bodies   []*ast.BlockStmt
}

func findVariables(info *types.Info, f *ast.FuncDecl) map[*types.Var]*variable {
	v := &variables{info: info, vars: map[*types.Var]*variable{}}
	v.declareFields(f.Recv)
	v.declareFields(f.Type.Params)
	v.declareResults(f.Type.Results)
	v.walk(f.Body)
	return v.vars
}

func (v *variables) declareFields(l *ast.FieldList) {
	if l == nil {
		return
	}
	for _, f := range l.List {
		for _, name := range f.Names {
			v.declare(name)
		}
	}
}

func (v *variables) declareResults(l *ast.FieldList) {
	v.declareFields(l)
	if l == nil {
		return
	}
	for _, f := range l.List {
		for _, name := range f.Names {
			if x := v.find(name); x != nil {
				x.result = true
			}
		}
	}
}

func (v *variables) declare(id *ast.Ident) {
	if o, ok := v.info.Defs[id].(*types.Var); ok {
		v.vars[o] = &variable{owner: v.literal()}
	}
}

func (v *variables) literal() *ast.FuncLit {
	if n := len(v.literals); n > 0 {
		return v.literals[n-1]
	}
	return nil
}

func (v *variables) walk(n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			v.literals = append(v.literals, n)
			v.declareFields(n.Type.Params)
			v.declareResults(n.Type.Results)
			v.walk(n.Body)
			v.literals = v.literals[:len(v.literals)-1]
			return false
		case *ast.ForStmt:
			v.loop(n)
			return false
		case *ast.RangeStmt:
			if n.Tok != token.DEFINE {
				v.assign(n.Key)
				v.assign(n.Value)
			}
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && v.info.Defs[id] != nil {
					continue
				}
				v.assign(lhs)
			}
		case *ast.IncDecStmt:
			v.assign(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				v.address(n.X)
			}
		case *ast.SliceExpr:
			if isArray(v.info.TypeOf(n.X)) {
				v.address(n.X)
			}
		case *ast.SelectorExpr:
			v.selector(n)
		case *ast.Ident:
			v.ident(n)
		}
		return true
	})
}

// loop walks a for statement, whose body is handled separately from its clauses.
func (v *variables) loop(n *ast.ForStmt) {
	if n.Init != nil {
		v.walk(n.Init)
		if a, ok := n.Init.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			for _, lhs := range a.Lhs {
				if x := v.find(lhs); x != nil {
					x.loop = n
				}
			}
		}
	}
	if n.Cond != nil {
		v.walk(n.Cond)
	}
	if n.Post != nil {
		v.walk(n.Post)
	}
	v.bodies = append(v.bodies, n.Body)
	v.walk(n.Body)
	v.bodies = v.bodies[:len(v.bodies)-1]
}

// ident sees a name: its declaration, or its use.
func (v *variables) ident(id *ast.Ident) {
	if o, ok := v.info.Defs[id].(*types.Var); ok && v.vars[o] == nil && !o.IsField() {
		v.declare(id)
		return
	}
	if o, ok := v.info.Uses[id].(*types.Var); ok {
		if x := v.vars[o]; x != nil && x.owner != v.literal() {
			x.captured = true
		}
	}
}

// find is the variable that an expression is, or nil.
func (v *variables) find(e ast.Expr) *variable {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	o, _ := v.info.ObjectOf(id).(*types.Var)
	if o == nil {
		return nil
	}
	return v.vars[o]
}

// root is the variable that e is a part of in place: x of x.a.b.
func (v *variables) root(e ast.Expr) *variable {
	for {
		if ix, ok := ast.Unparen(e).(*ast.IndexExpr); ok && isArray(v.info.TypeOf(ix.X)) {
			e = ix.X
			continue
		}
		sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
		if !ok {
			return v.find(e)
		}
		if s := v.info.Selections[sel]; s == nil || s.Kind() != types.FieldVal || indirect(s.Recv(), s.Index()) {
			return nil
		}
		e = sel.X
	}
}

func (v *variables) assign(e ast.Expr) {
	if e == nil {
		return
	}
	if x := v.root(e); x != nil {
		x.assigned = true
		if x.owner != v.literal() {
			x.assignedInLiteral, x.captured = true, true
		}
		v.changed(x)
	}
}

func (v *variables) address(e ast.Expr) {
	if x := v.root(e); x != nil {
		x.addressed = true
		v.changed(x)
	}
}

// changed notes that the body of the loop that declares x may change it.
func (v *variables) changed(x *variable) {
	for _, b := range v.bodies {
		if x.loop != nil && x.loop.Body == b {
			x.changedBody = true
		}
	}
}

// selector sees x.m where m has a pointer receiver and x is a variable: its
// address is taken.
func (v *variables) selector(n *ast.SelectorExpr) {
	s := v.info.Selections[n]
	if s == nil || s.Kind() != types.MethodVal || isPointer(s.Recv()) {
		return
	}
	if f, ok := s.Obj().(*types.Func); ok && f.Signature().Recv() != nil && isPointer(f.Signature().Recv().Type()) {
		v.address(n.X)
	}
}

func isPointer(t types.Type) bool {
	_, ok := types.Unalias(t).Underlying().(*types.Pointer)
	return ok
}

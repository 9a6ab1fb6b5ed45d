// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// constantVariables finds the variables of a package that nothing changes: never
// assigned, nor a part of them, and their address never taken. Other packages
// may assign exported ones, so of these only errors count, which no package
// assigns. The values are those that the variables are declared with.
func constantVariables(u *Unit) map[*types.Var]ast.Expr {
	vars := map[*types.Var]ast.Expr{}
	for _, f := range u.Files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				s := s.(*ast.ValueSpec)
				for i, name := range s.Names {
					v, ok := u.Info.Defs[name].(*types.Var)
					if !ok || len(s.Values) > 0 && len(s.Values) != len(s.Names) || v.Exported() && !isError(v.Type()) {
						continue
					}
					vars[v] = nil
					if len(s.Values) > 0 {
						vars[v] = s.Values[i]
					}
				}
			}
		}
	}
	changed := func(e ast.Expr) {
		if v := rootVariable(u.Info, e); v != nil {
			delete(vars, v)
		}
	}
	for _, f := range u.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, lhs := range n.Lhs {
					changed(lhs)
				}
			case *ast.IncDecStmt:
				changed(n.X)
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					changed(n.Key)
					changed(n.Value)
				}
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					changed(n.X)
				}
			case *ast.SliceExpr:
				changed(n.X)
			case *ast.SelectorExpr:
				// A method with a pointer receiver takes the address.
				if s := u.Info.Selections[n]; s != nil && s.Kind() == types.MethodVal {
					changed(n.X)
				}
			}
			return true
		})
	}
	return vars
}

// rootVariable is the variable that e is a part of in place: x of x.a[i].b.
func rootVariable(info *types.Info, e ast.Expr) *types.Var {
	for e != nil {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			s := info.Selections[x]
			if s == nil { // a variable of another package
				v, _ := info.Uses[x.Sel].(*types.Var)
				return v
			}
			if s.Kind() != types.FieldVal || indirect(s.Recv(), s.Index()) {
				return nil
			}
			e = x.X
		case *ast.IndexExpr:
			if !isArray(info.TypeOf(x.X)) {
				return nil
			}
			e = x.X
		case *ast.Ident:
			v, _ := info.ObjectOf(x).(*types.Var)
			return v
		default:
			return nil
		}
	}
	return nil
}

func isArray(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// isError reports whether a type is the interface error.
func isError(t types.Type) bool {
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// variables defines the constant variables of the package.
func (l *lowerer) variables() {
	for _, f := range l.unit.Files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				s := s.(*ast.ValueSpec)
				for _, name := range s.Names {
					v, ok := l.unit.Info.Defs[name].(*types.Var)
					if !ok || name.Name == "_" {
						continue
					}
					if x := l.variable(v, name); x != nil {
						l.pkg.Vars = append(l.pkg.Vars, Var{Name: l.global(v).Name, Doc: docText(s.Doc, s.Comment), Place: l.place(name.Pos()), X: x})
					}
				}
			}
		}
	}
}

// variable is the value of a variable that never changes, or nil.
func (l *lowerer) variable(v *types.Var, at *ast.Ident) Expr {
	e, ok := l.vars[v]
	if !ok {
		return nil
	}
	if isError(v.Type()) {
		call, ok := e.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || l.unit.Info.Types[call.Args[0]].Value == nil {
			delete(l.vars, v)
			return nil
		}
		var made *types.Func
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			made, _ = l.unit.Info.Uses[sel.Sel].(*types.Func)
		}
		if made == nil || made.FullName() != "errors.New" {
			delete(l.vars, v)
			return nil
		}
		l.unit.Errors[errorName(v)] = true
		return sentinel(v)
	}
	// A variable that cannot be lowered is no reason to refuse a package that does
	// not use it.
	library := l.pkg.Library
	quietly := *l
	quietly.diags = new(source.List)
	f := &fn{lowerer: &quietly, vars: map[*types.Var]*variable{}, bound: map[*types.Var]local{}, wanted: map[ast.Expr]types.Type{}, names: &names{}, uses: map[*types.Func]bool{}, frame: &frame{}}
	x := Expr(Zero{Type: f.typ(v.Type(), at)})
	if e != nil {
		f.want(e, v.Type())
		x = f.expr(e).x
	}
	if quietly.diags.HasErrors() || len(f.out) > 0 || !isValue(x) || !plain(f.typ(v.Type(), at)) {
		delete(l.vars, v)
		l.pkg.Library = library
		x = nil
	}
	return x
}

// sentinel is the value of an error that a package variable holds: it is known
// by the variable's name.
func sentinel(v *types.Var) Expr {
	return Lit{Type: Type{Kind: KindString}, Value: constant.MakeString(errorName(v))}
}

func errorName(v *types.Var) string { return packagePath(v) + "." + v.Name() }

// isValue reports whether a term needs no evaluation.
func isValue(x Expr) bool {
	switch x := x.(type) {
	case Lit, Zero:
		return true
	case StructVal:
		for _, field := range x.Fields {
			if !isValue(field) {
				return false
			}
		}
		return true
	}
	return false
}

// plain reports whether values of a type hold no memory that could change.
func plain(t Type) bool {
	switch t.Kind {
	case KindInt, KindBool, KindString:
		return true
	case KindArray:
		return plain(*t.Elem)
	}
	return false
}

// errorFrom refuses a value that becomes an error, unless it is a new one: a
// pointer that is nil would be an error that is not nil.
func (f *fn) errorFrom(e ast.Expr, t types.Type) {
	have := f.unit.Info.TypeOf(e)
	if !isError(t) || have == nil || isError(have) || f.unit.Info.Types[e].IsNil() {
		return
	}
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
		if _, literal := ast.Unparen(u.X).(*ast.CompositeLit); literal {
			return
		}
	}
	f.refuse(e, InterfaceType, "a "+f.show(have)+" as an error", "return errors.New(...), a variable that holds one, or &T{...}")
}

// otherErrors refuses results of a call that become errors on the way.
func (f *fn) otherErrors(at ast.Node, tuple, want *types.Tuple) {
	for i := range min(tuple.Len(), want.Len()) {
		if becomesInterface(tuple.At(i).Type(), want.At(i).Type()) {
			f.refuse(at, InterfaceType, "a "+f.show(tuple.At(i).Type())+" as an interface", "name the result first")
		}
	}
}

func omittedName(o *types.Func) string { return strings.TrimPrefix(o.FullName(), packagePath(o)+".") }

// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/types"
	"strings"
)

// quietFunctions finds the functions of a package without effects that others
// can see: they assign only to their own variables, and call only such
// functions and builtins. An operand beside such a call may be read before or
// after it.
func quietFunctions(u *Unit) map[*types.Func]bool {
	calls := map[*types.Func][]*types.Func{}
	quiet := map[*types.Func]bool{}
	for _, f := range u.Files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			if o, ok := u.Info.Defs[fn.Name].(*types.Func); ok {
				q := &quietness{unit: u, quiet: true}
				ast.Inspect(fn.Body, q.see)
				quiet[o] = q.quiet
				calls[o] = q.calls
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for f, callees := range calls {
			for _, c := range callees {
				if quiet[f] && !quiet[c] {
					quiet[f], changed = false, true
				}
			}
		}
	}
	return quiet
}

type quietness struct {
	unit  *Unit
	quiet bool
	calls []*types.Func
}

func (q *quietness) see(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.SelectStmt:
		q.quiet = false
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			q.assign(lhs)
		}
	case *ast.IncDecStmt:
		q.assign(n.X)
	case *ast.RangeStmt:
		q.assign(n.Key)
		q.assign(n.Value)
	case *ast.CallExpr:
		q.call(n)
	}
	return q.quiet
}

// assign allows variables only, and their fields in place.
func (q *quietness) assign(e ast.Expr) {
	for e != nil {
		if ix, ok := ast.Unparen(e).(*ast.IndexExpr); ok && isArray(q.unit.Info.TypeOf(ix.X)) {
			e = ix.X
			continue
		}
		sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
		if !ok {
			break
		}
		if s := q.unit.Info.Selections[sel]; s == nil || s.Kind() != types.FieldVal || indirect(s.Recv(), s.Index()) {
			q.quiet = false
			return
		}
		e = sel.X
	}
	if e == nil {
		return
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		q.quiet = false
		return
	}
	if v, ok := q.unit.Info.ObjectOf(id).(*types.Var); ok && v.Parent() == q.unit.Pkg.Scope() {
		q.quiet = false
	}
}

func (q *quietness) call(e *ast.CallExpr) {
	tv := q.unit.Info.Types[e.Fun]
	if tv.IsType() {
		return
	}
	var id *ast.Ident
	switch fun := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	default:
		q.quiet = false
		return
	}
	if tv.IsBuiltin() {
		switch id.Name {
		case "len", "cap", "make", "new", "panic", "min", "max":
		default:
			q.quiet = false
		}
		return
	}
	o, ok := q.unit.Info.Uses[id].(*types.Func)
	switch {
	case !ok:
		q.quiet = false // a function value
	case q.unit.Directives[o.FullName()] == directiveAssert, quietLibrary(o), o.Pkg() != q.unit.Pkg && q.unit.Quiet[o.FullName()]:
	case o.Pkg() == q.unit.Pkg:
		q.calls = append(q.calls, o)
	case strings.HasPrefix(packagePath(o), primitivePath) && o.Name() != "UInt64Put":
	default:
		q.quiet = false
	}
}

// quietLibrary reports whether a function of the standard library changes nothing.
func quietLibrary(o *types.Func) bool {
	name := packagePath(o) + "." + o.Name()
	if o.Signature().Recv() != nil {
		return packagePath(o) == "encoding/binary" && strings.HasPrefix(o.Name(), "Uint")
	}
	fun, ok := libraryFunctions[name]
	return ok && fun.effect != writes || name == "cmp.Or" || name == "errors.New"
}

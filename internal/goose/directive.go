// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strings"
)

// A directive is a line of a function's comment:
//
//	//goose:omit    the function is no part of the model, as one that makes texts
//	                for people. Calls of it are refused, and the head of the Coq
//	                file names it.
//	//goose:assert  the function panics if its first argument is false, and does
//	                nothing else. Calls of it are assertions; neither it nor, for
//	                its sake, its package is translated.
const (
	directivePrefix = "//goose:"
	directiveOmit   = "omit"
	directiveAssert = "assert"
)

// directives adds the functions of a package that have one, by their full names.
func directives(u *Unit, all map[string]string) {
	for _, f := range u.Files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if o, ok := u.Info.Defs[fn.Name].(*types.Func); ok {
					if word, _ := directiveOf(fn); word != "" {
						all[o.FullName()] = word
					}
				}
			}
		}
	}
}

func directiveOf(d *ast.FuncDecl) (word string, at ast.Node) {
	if d.Doc == nil {
		return "", nil
	}
	for _, c := range d.Doc.List {
		if rest, ok := strings.CutPrefix(c.Text, directivePrefix); ok {
			word, _, _ = strings.Cut(rest, " ")
			return word, c
		}
	}
	return "", nil
}

// directed handles a function with a directive, and says whether it had one.
func (l *lowerer) directed(d *ast.FuncDecl) bool {
	word, at := directiveOf(d)
	o, ok := l.unit.Info.Defs[d.Name].(*types.Func)
	if word == "" || !ok {
		return false
	}
	switch word {
	case directiveOmit:
		name := o.Name()
		if recv := o.Signature().Recv(); recv != nil {
			name = receiverName(recv.Type()) + "." + name
		}
		l.pkg.Omitted = append(l.pkg.Omitted, name)
	case directiveAssert:
		if !asserts(l.unit.Info, d) {
			l.refuse(at, DirectiveForm, "a function that is more than an assertion", "panic if the first parameter, a bool, is false, and do nothing else")
		}
	default:
		l.refuse(at, DirectiveForm, "the directive goose:"+word, "the directives are goose:omit and goose:assert")
	}
	return true
}

// asserts reports whether a function is "if !cond { panic(...) }", of its first
// parameter.
func asserts(info *types.Info, d *ast.FuncDecl) bool {
	if d.Recv != nil || d.Body == nil || d.Type.Results.NumFields() > 0 || len(d.Body.List) != 1 {
		return false
	}
	s, ok := d.Body.List[0].(*ast.IfStmt)
	if !ok || s.Init != nil || s.Else != nil || len(s.Body.List) != 1 {
		return false
	}
	not, ok := ast.Unparen(s.Cond).(*ast.UnaryExpr)
	if !ok || not.Op != token.NOT {
		return false
	}
	id, ok := ast.Unparen(not.X).(*ast.Ident)
	if !ok || len(d.Type.Params.List) == 0 || len(d.Type.Params.List[0].Names) == 0 ||
		info.Uses[id] == nil || info.Uses[id] != info.Defs[d.Type.Params.List[0].Names[0]] {
		return false
	}
	e, ok := s.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok || !info.Types[call.Fun].IsBuiltin() {
		return false
	}
	name, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && name.Name == "panic"
}

// needed takes out of units those that are translated only because another one
// imports them, and of which that one uses assertions and what it omits only.
func needed(units []*Unit, roots map[string]bool) []*Unit {
	byPath := map[string]*Unit{}
	for _, u := range units {
		byPath[u.Pkg.Path()] = u
	}
	keep := map[string]bool{}
	var visit func(u *Unit)
	visit = func(u *Unit) {
		if keep[u.Pkg.Path()] {
			return
		}
		keep[u.Pkg.Path()] = true
		var next []string
		for _, f := range u.Files {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					if word, _ := directiveOf(fn); word != "" {
						continue
					}
				}
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					if !ok {
						return true
					}
					o := u.Info.Uses[id]
					if _, isName := o.(*types.PkgName); isName || o == nil || o.Pkg() == nil || byPath[o.Pkg().Path()] == nil {
						return true
					}
					if fn, ok := o.(*types.Func); ok && u.Directives[fn.FullName()] == directiveAssert {
						return true
					}
					next = append(next, o.Pkg().Path())
					return true
				})
			}
		}
		sort.Strings(next)
		for _, path := range next {
			visit(byPath[path])
		}
	}
	for _, u := range units {
		if roots[u.Pkg.Path()] {
			visit(u)
		}
	}
	var out []*Unit
	for _, u := range units {
		if keep[u.Pkg.Path()] {
			out = append(out, u)
		}
	}
	return out
}

// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/token"
	"go/types"
)

// fn lowers one function, with the function literals in it.
type fn struct {
	*lowerer
	vars  map[*types.Var]*variable
	names *names
	bound map[*types.Var]local
	// out are the statements of the block under way.
	out []Stmt
	// comments of the function that no statement has taken yet.
	comments []*ast.CommentGroup
	depth    int
	frame    *frame
	// wanted are the types that the context gives to nil.
	wanted map[ast.Expr]types.Type
	// uses are the functions that this one mentions.
	uses map[*types.Func]bool
}

// frame is what belongs to one function or literal.
type frame struct {
	sig *types.Signature
	// deferred are the unlocks to do before a return, the last one first.
	deferred []Stmt
	// block is the depth of blocks; 1 is the body itself.
	block int
	// breaks says, innermost last, whether break would leave a switch.
	breaks []bool
	// results are the named results, if they are used as variables.
	results []result
}

// local is a variable as the output knows it.
type local struct {
	name string
	cell bool // name is its location, else its value
	typ  Type
	// shared: a call may change it.
	shared bool
}

// function lowers a declared function.
func (l *lowerer) function(d *ast.FuncDecl, o *types.Func) Function {
	f := &fn{lowerer: l, vars: findVariables(l.unit.Info, d), bound: map[*types.Var]local{}, wanted: map[ast.Expr]types.Type{}, uses: l.refs[o],
		names: &names{taken: identifiers(d)}, comments: l.commentsIn(d.Body)}
	out := Function{Name: l.global(o).Name, Doc: docText(d.Doc), Place: l.place(d.Pos()),
		Results: o.Signature().Results().Len(), Recursive: l.refs[o][o]}
	if d.Doc != nil {
		out.Place = l.place(d.Type.Func)
	}
	if out.Recursive {
		f.names.visible = append(f.names.visible, out.Name)
	}
	var params []*ast.Field
	if d.Recv != nil {
		params = append(params, d.Recv.List...)
	}
	params = append(params, d.Type.Params.List...)
	out.Params, out.Body = f.body(o.Signature(), params, d.Type.Results, d.Body)
	if l.refs[o][o] && !out.Recursive {
		l.refuse(d.Name, MutualRecursion, "a method that makes an interface value with itself in it", "make the value elsewhere")
	}
	return out
}

// identifiers are all names that a function says.
func identifiers(d *ast.FuncDecl) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			out[id.Name] = true
		}
		return true
	})
	return out
}

// commentsIn are the comments inside a block, in order.
func (l *lowerer) commentsIn(b *ast.BlockStmt) []*ast.CommentGroup {
	var out []*ast.CommentGroup
	for _, f := range l.unit.Files {
		for _, c := range f.Comments {
			if b.Lbrace < c.Pos() && c.End() <= b.Rbrace {
				out = append(out, c)
			}
		}
	}
	return out
}

// body lowers parameters and body of a function or a literal.
func (f *fn) body(sig *types.Signature, params []*ast.Field, results *ast.FieldList, b *ast.BlockStmt) ([]string, []Stmt) {
	outer, outerOut := f.frame, f.out
	f.frame, f.out = &frame{sig: sig}, nil
	mark := f.names.mark()
	var names []string
	for _, p := range params {
		if len(p.Names) == 0 {
			names = append(names, "")
			if empty(f.unit.Info.TypeOf(p.Type)) {
				continue
			}
			f.typ(f.unit.Info.TypeOf(p.Type), p.Type)
		}
		for _, id := range p.Names {
			names = append(names, f.param(id, p.Type))
		}
	}
	f.checkResults(results)
	f.nameResults(results, b)
	f.block(b.List, b.Rbrace)
	if completes(f.out) {
		f.out = append(f.out, f.frame.deferred...)
	}
	body := f.out
	f.names.release(mark)
	f.frame, f.out = outer, outerOut
	return names, body
}

// param binds a parameter; one that changes moves to a variable.
func (f *fn) param(id *ast.Ident, t ast.Expr) string {
	v, ok := f.unit.Info.Defs[id].(*types.Var)
	typ := f.typ(f.unit.Info.TypeOf(t), t)
	if !ok || id.Name == "_" {
		return ""
	}
	if typ.Locks {
		f.refuse(t, LockCopy, "a parameter that is a copy of a lock", "pass a pointer")
	}
	name := f.names.bind(id.Name)
	f.bound[v] = f.localOf(v, name, typ)
	if f.bound[v].cell {
		f.emit(Let{Name: name, X: Ref{Type: typ, X: Local{Name: name}}})
	}
	return name
}

func (f *fn) localOf(v *types.Var, name string, typ Type) local {
	w := f.vars[v]
	if w == nil {
		w = &variable{}
	}
	return local{name: name, cell: w.cell(), typ: typ, shared: w.shared()}
}

// checkResults checks the results; names for them are comments unless they are
// used.
func (f *fn) checkResults(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, r := range list.List {
		if typ := f.typ(f.unit.Info.TypeOf(r.Type), r.Type); typ.Locks {
			f.refuse(r.Type, LockCopy, "a result that is a copy of a lock", "return a pointer")
		}
	}
}

// nameResults declares the named results as the variables that they are, where
// the body uses one or returns without saying what.
func (f *fn) nameResults(list *ast.FieldList, b *ast.BlockStmt) {
	if list == nil || len(list.List) == 0 || len(list.List[0].Names) == 0 {
		return
	}
	named := map[types.Object]bool{}
	for _, r := range list.List {
		for _, id := range r.Names {
			named[f.unit.Info.Defs[id]] = true
		}
	}
	used := false
	literals := 0
	var see func(n ast.Node) bool
	see = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			literals++
			ast.Inspect(n.Body, see)
			literals--
			return false
		case *ast.Ident:
			used = used || named[f.unit.Info.Uses[n]] && f.unit.Info.Uses[n] != nil
		case *ast.ReturnStmt:
			used = used || literals == 0 && len(n.Results) == 0
		}
		return true
	}
	ast.Inspect(b, see)
	if !used {
		return
	}
	for _, r := range list.List {
		t := f.typ(f.unit.Info.TypeOf(r.Type), r.Type)
		for _, id := range r.Names {
			v, ok := f.unit.Info.Defs[id].(*types.Var)
			f.frame.results = append(f.frame.results, result{id: id, typ: t})
			if ok && id.Name != "_" {
				f.bindVar(v, id.Name, t, Zero{Type: t})
			}
		}
	}
}

// result is a named result; its identifier may be blank.
type result struct {
	id  *ast.Ident
	typ Type
}

// namedResults are the values of the named results.
func (f *fn) namedResults() []Expr {
	var out []Expr
	for _, r := range f.frame.results {
		v, _ := f.unit.Info.Defs[r.id].(*types.Var)
		b, ok := f.bound[v]
		switch {
		case !ok:
			out = append(out, Zero{Type: r.typ})
		case b.cell:
			out = append(out, Load{Type: b.typ, Addr: Local{Name: b.name}})
		default:
			out = append(out, Local{Name: b.name})
		}
	}
	return out
}

// emit appends a statement to the block under way.
func (f *fn) emit(s ...Stmt) { f.out = append(f.out, s...) }

// scope collects the statements that do emits; names bound in it are gone
// afterwards.
func (f *fn) scope(do func()) []Stmt {
	mark := f.names.mark()
	out := f.collect(do)
	f.names.release(mark)
	return out
}

// collect gives the statements that do emits.
func (f *fn) collect(do func()) []Stmt {
	outer := f.out
	f.out = nil
	do()
	out := f.out
	f.out = outer
	return out
}

// block lowers the statements of a block that ends at end.
func (f *fn) block(list []ast.Stmt, end token.Pos) {
	f.frame.block++
	for _, s := range list {
		f.takeComments(s.Pos(), s)
		if !f.enter(s) {
			return
		}
		f.stmt(s)
		f.depth--
	}
	f.takeComments(end, nil)
	f.frame.block--
}

// enter counts the depth and refuses to recurse without end.
func (f *fn) enter(n ast.Node) bool {
	if f.depth >= depthMax {
		f.refuse(n, TooDeep, "code nested this deeply", "give its parts names")
		return false
	}
	f.depth++
	return true
}

// takeComments emits the comments before a place, and the one at the end of the
// line of a statement that has no block.
func (f *fn) takeComments(before token.Pos, s ast.Stmt) {
	simple := false
	switch s.(type) {
	case *ast.AssignStmt, *ast.ExprStmt, *ast.IncDecStmt, *ast.ReturnStmt, *ast.BranchStmt, *ast.DeclStmt:
		simple = true
	}
	n := 0
	for _, c := range f.comments {
		sameLine := simple && c.Pos() >= s.End() && f.line(c.Pos()) == f.line(s.End()) && f.line(s.Pos()) == f.line(s.End())
		if c.Pos() >= before && !sameLine {
			break
		}
		if t := docText(c); t != "" {
			f.emit(Note{Text: t})
		}
		n++
	}
	f.comments = f.comments[n:]
}

func (f *fn) line(p token.Pos) int { return f.unit.Fset.PositionFor(p, false).Line }

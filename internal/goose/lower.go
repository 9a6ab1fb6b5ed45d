// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"go/version"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// lowerer turns one package into the IR.
type lowerer struct {
	unit    *Unit
	diags   *source.List
	imports map[string]Import
	// modules are the Coq modules of packages by import path.
	modules map[string]string
	pkg     *Package
	// refs are the functions of the package that each one mentions.
	refs map[*types.Func]map[*types.Func]bool
	// constants are the fields that never change.
	constants map[*types.Var]bool
	// vars are the variables of the package that never change, with their first
	// values, nil for the zero value.
	vars map[*types.Var]ast.Expr
}

// primitiveModules are the modules that every file has.
func primitiveModules() map[string]string {
	return map[string]string{primitivePath + "disk": "disk", primitivePath + "filesys": "filesys", primitivePath + "machine": "machine", "std": "std"}
}

// Lower translates a package to the IR. With errors among the diagnostics the
// package is of no use.
func Lower(u *Unit) (*Package, *source.List) {
	l := &lowerer{unit: u, diags: new(source.List), imports: map[string]Import{}, modules: primitiveModules(), refs: map[*types.Func]map[*types.Func]bool{},
		constants: constantFields(u)}
	if u.Directives == nil {
		u.Directives = map[string]string{}
		directives(u, u.Directives)
	}
	if u.Quiet == nil {
		u.Quiet, u.Errors = map[string]bool{}, map[string]bool{}
	}
	l.vars = constantVariables(u)
	for o, quiet := range quietFunctions(u) {
		u.Quiet[o.FullName()] = quiet
	}
	l.pkg = &Package{Path: u.Pkg.Path(), Name: u.Pkg.Name(), Configuration: u.Configuration, Left: u.Left}
	l.pkg.Prefix, l.pkg.Module = modulePath(u.Module, u.Prefix, u.Pkg.Path())
	l.checkNames()
	var funcs []*ast.FuncDecl
	var structs []*ast.TypeSpec
	docs := map[*ast.TypeSpec]string{}
	for _, f := range u.Files {
		l.file(f)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if l.directed(d) {
					continue
				}
				funcs = append(funcs, d)
			case *ast.GenDecl:
				structs = append(structs, l.general(d, docs)...)
			}
		}
	}
	l.structs(structs, docs)
	l.variables()
	l.functions(funcs)
	for _, i := range l.imports {
		l.pkg.Imports = append(l.pkg.Imports, i)
	}
	sort.Slice(l.pkg.Imports, func(i, j int) bool { return l.pkg.Imports[i].Path < l.pkg.Imports[j].Path })
	return l.pkg, l.diags
}

// file checks what concerns a whole file.
func (l *lowerer) file(f *ast.File) {
	if f.Doc != nil && l.pkg.Doc == "" {
		l.pkg.Doc = strings.TrimSpace(f.Doc.Text())
	}
	goVersion := l.unit.Pkg.GoVersion()
	if v := l.unit.Info.FileVersions[f]; v != "" {
		goVersion = v
	}
	if goVersion != "" && version.Compare(goVersion, "go1.22") < 0 {
		l.refuse(f.Name, LanguageVersion, "the language of "+goVersion+", where all iterations of a loop share its variable",
			"require go 1.22 or later in go.mod")
	}
	for _, i := range f.Imports {
		l.checkModule(i)
		path, err := strconv.Unquote(i.Path.Value)
		switch {
		case err != nil:
		case path == "C":
			l.refuse(i, ImportKind, "C code", "")
		case path == "unsafe":
			l.refuse(i, ImportKind, "package unsafe", "")
		case i.Name != nil && i.Name.Name == ".":
			l.refuse(i, ImportKind, "an import of all names", "import the package by its name")
		}
	}
}

// checkModule refuses packages that Coq would call by the same name.
func (l *lowerer) checkModule(i *ast.ImportSpec) {
	path, err := strconv.Unquote(i.Path.Value)
	if err != nil || !Translated(l.unit.Module, path) {
		return
	}
	_, module := modulePath(l.unit.Module, l.unit.Prefix, path)
	for other, have := range l.modules {
		if other != path && have == module {
			l.refuse(i, NameClash, "an import that Coq cannot tell from another one: both are "+module, "rename one of the packages")
			return
		}
	}
	l.modules[path] = module
}

// checkNames finds names that are different in Go and the same in Coq.
func (l *lowerer) checkNames() {
	seen := map[string]types.Object{}
	add := func(o types.Object) {
		name := l.global(o).Name
		if other := seen[name]; other != nil && other != o {
			l.refuseSpan(l.unit.spanOf(o.Pos(), o.Pos()+token.Pos(len(o.Name()))), NameClash,
				"a name that Coq cannot tell from another one: both are "+name, "rename one of them",
				source.Note{Span: l.unit.spanOf(other.Pos(), other.Pos()+token.Pos(len(other.Name()))), Message: "the other one"})
			return
		}
		seen[name] = o
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			l.refuseSpan(l.unit.spanOf(o.Pos(), o.Pos()+token.Pos(len(o.Name()))), NameClash,
				"a name that Coq may reject", "use ASCII letters")
		}
	}
	scope := l.unit.Pkg.Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if _, isVar := o.(*types.Var); isVar || name == "_" {
			continue
		}
		add(o)
		if n, ok := o.Type().(*types.Named); ok && o.Type() != nil {
			if _, isType := o.(*types.TypeName); isType && n.Obj() == o {
				for m := range n.Methods() {
					add(m)
				}
			}
		}
	}
}

// general takes a declaration of constants, types or variables, and gives the
// struct types in it.
func (l *lowerer) general(d *ast.GenDecl, docs map[*ast.TypeSpec]string) []*ast.TypeSpec {
	var structs []*ast.TypeSpec
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			l.values(d, s)
		case *ast.TypeSpec:
			docs[s] = docText(s.Doc, d.Doc)
			if l.typeSpec(s) {
				structs = append(structs, s)
			}
		}
	}
	return structs
}

// values takes constants and refuses variables.
func (l *lowerer) values(d *ast.GenDecl, s *ast.ValueSpec) {
	for i, name := range s.Names {
		if d.Tok == token.VAR {
			continue // see variables; the others are refused where they are used
		}
		c, ok := l.unit.Info.Defs[name].(*types.Const)
		if !ok || name.Name == "_" {
			continue
		}
		doc := docText(s.Doc, s.Comment)
		if i == 0 && doc == "" && len(d.Specs) == 1 {
			doc = docText(d.Doc)
		}
		if constKind(c) == constOther {
			l.typ(c.Type(), name)
			continue
		}
		if !isUntyped(c.Type()) {
			l.typ(c.Type(), name)
		}
		l.pkg.Consts = append(l.pkg.Consts, Const{Name: l.global(c).Name, Doc: doc, Place: l.place(name.Pos()), Value: c.Val()})
	}
}

func isUntyped(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsUntyped != 0
}

// constKinds is how a constant may be defined in Coq.
type constKinds uint8

const (
	constOther constKinds = iota
	constInt
	constBool
	constString
)

func constKind(c *types.Const) constKinds {
	b, ok := c.Type().Underlying().(*types.Basic)
	if !ok {
		return constOther
	}
	switch {
	case b.Info()&types.IsInteger != 0 && c.Val().Kind() == constant.Int:
		return constInt
	case b.Info()&types.IsBoolean != 0:
		return constBool
	case b.Info()&types.IsString != 0 && printable(constant.StringVal(c.Val())):
		return constString
	}
	return constOther
}

// typeSpec checks a declared type and says whether it is a struct.
func (l *lowerer) typeSpec(s *ast.TypeSpec) bool {
	if s.TypeParams != nil {
		l.refuse(s.Name, GenericCode, "the generic type "+s.Name.Name, "declare a type for each instance")
		return false
	}
	o, ok := l.unit.Info.Defs[s.Name].(*types.TypeName)
	if !ok || s.Name.Name == "_" {
		return false
	}
	if s.Assign.IsValid() {
		l.typ(o.Type(), s.Type)
		return false
	}
	if _, isStruct := o.Type().Underlying().(*types.Struct); isStruct {
		if _, literal := ast.Unparen(s.Type).(*ast.StructType); literal {
			return true
		}
		// type T U where U is a struct: the same fields, declared there.
		return true
	}
	if _, isInterface := o.Type().Underlying().(*types.Interface); isInterface {
		return false // refused where it is used
	}
	l.typ(o.Type().Underlying(), s.Type)
	return false
}

// structs defines the struct types, each after those that it holds in place.
func (l *lowerer) structs(specs []*ast.TypeSpec, docs map[*ast.TypeSpec]string) {
	bySpec := map[types.Object]*ast.TypeSpec{}
	for _, s := range specs {
		bySpec[l.unit.Info.Defs[s.Name]] = s
	}
	done := map[*ast.TypeSpec]bool{}
	var define func(s *ast.TypeSpec)
	define = func(s *ast.TypeSpec) {
		if done[s] {
			return
		}
		done[s] = true
		o := l.unit.Info.Defs[s.Name]
		t := o.Type().Underlying().(*types.Struct)
		out := Struct{Name: l.global(o).Name, Doc: docs[s], Place: l.place(s.Name.Pos())}
		if t.NumFields() == 0 {
			return // refused where it would need a place
		}
		for i := range t.NumFields() {
			f := t.Field(i)
			at := l.fieldNode(s, i)
			inPlace := f.Type()
			for isArray(inPlace) {
				inPlace = inPlace.Underlying().(*types.Array).Elem()
			}
			if n, ok := types.Unalias(inPlace).(*types.Named); ok && bySpec[n.Obj()] != nil {
				define(bySpec[n.Obj()])
			}
			if f.Name() == "_" {
				l.refuse(at, BlankField, "a field without a name", "leave it out, or name it")
				continue
			}
			out.Fields = append(out.Fields, StructField{Name: f.Name(), Type: l.typ(f.Type(), at)})
		}
		l.pkg.Structs = append(l.pkg.Structs, out)
	}
	for _, s := range specs {
		define(s)
	}
}

// fieldNode is where the i-th field of a struct is declared.
func (l *lowerer) fieldNode(s *ast.TypeSpec, i int) ast.Node {
	st, ok := ast.Unparen(s.Type).(*ast.StructType)
	if !ok {
		return s.Type
	}
	for _, f := range st.Fields.List {
		n := max(len(f.Names), 1)
		if i < n {
			return f.Type
		}
		i -= n
	}
	return s.Type
}

// functions lowers all functions, and sorts them so that callees come first.
func (l *lowerer) functions(decls []*ast.FuncDecl) {
	lowered := map[*types.Func]Function{}
	var order []*types.Func
	nodes := map[*types.Func]*ast.FuncDecl{}
	for _, d := range decls {
		o, ok := l.unit.Info.Defs[d.Name].(*types.Func)
		if !ok || !l.declarable(d, o) {
			continue
		}
		nodes[o] = d
		order = append(order, o)
		l.refs[o] = l.mentions(d)
	}
	for _, o := range order {
		lowered[o] = l.function(nodes[o], o)
	}
	state := map[*types.Func]int{} // 1: under way, 2: done
	var stack []*types.Func
	var visit func(o *types.Func)
	visit = func(o *types.Func) {
		if nodes[o] == nil || state[o] == 2 {
			return
		}
		if state[o] == 1 {
			if stack[len(stack)-1] != o {
				l.refuseRecursion(stack, o)
			}
			return
		}
		state[o] = 1
		stack = append(stack, o)
		for _, callee := range l.sortedFuncs(l.refs[o]) {
			visit(callee)
		}
		stack = stack[:len(stack)-1]
		state[o] = 2
		l.pkg.Funcs = append(l.pkg.Funcs, lowered[o])
	}
	for _, o := range order {
		visit(o)
	}
}

// sortedFuncs sorts by file and place: files are read at the same time, so that
// positions of one are before those of another in one run and behind them in the next.
func (l *lowerer) sortedFuncs(set map[*types.Func]bool) []*types.Func {
	var out []*types.Func
	for f := range set {
		out = append(out, f)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := l.unit.Fset.Position(out[i].Pos()), l.unit.Fset.Position(out[j].Pos())
		return a.Filename < b.Filename || a.Filename == b.Filename && a.Offset < b.Offset
	})
	return out
}

// refuseRecursion reports the cycle at the end of the stack that calls o again.
func (l *lowerer) refuseRecursion(stack []*types.Func, o *types.Func) {
	at := func(f *types.Func) source.Span { return l.unit.spanOf(f.Pos(), f.Pos()+token.Pos(len(f.Name()))) }
	var notes []source.Note
	for i := len(stack) - 1; i >= 0 && stack[i] != o; i-- {
		notes = append(notes, source.Note{Span: at(stack[i]), Message: "by way of " + stack[i].Name()})
	}
	l.refuseSpan(at(o), MutualRecursion, o.Name()+" calls itself through other functions",
		"write a loop, or merge them into one function", notes...)
}

// mentions are the functions of the package that a function names.
func (l *lowerer) mentions(d *ast.FuncDecl) map[*types.Func]bool {
	out := map[*types.Func]bool{}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if f, ok := l.unit.Info.Uses[id].(*types.Func); ok && f.Pkg() == l.unit.Pkg {
				out[f] = true
			}
		}
		return true
	})
	return out
}

// declarable refuses functions that are not even looked into.
func (l *lowerer) declarable(d *ast.FuncDecl, o *types.Func) bool {
	n := l.diags.Len()
	switch {
	case d.Body == nil:
		l.refuse(d.Name, NoBody, "a function without a body", "")
		return false
	case d.Recv == nil && d.Name.Name == "init":
		l.refuse(d.Name, InitFunction, "func init", "call a function where it is needed")
		return false
	case d.Name.Name == "_":
		return false
	}
	s := o.Signature()
	if s.TypeParams().Len() > 0 || s.RecvTypeParams().Len() > 0 {
		l.refuse(d.Name, GenericCode, "the generic function "+d.Name.Name, "write the code for each type")
		return false
	}
	return l.diags.Len() == n || len(d.Body.List) > 0
}

func docText(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if g != nil {
			if t := strings.TrimSpace(g.Text()); t != "" {
				return t
			}
		}
	}
	return ""
}

// place is file:line:column, the file without its folder.
func (l *lowerer) place(p token.Pos) string {
	pos := l.unit.Fset.PositionFor(p, false)
	return filepath.Base(pos.Filename) + ":" + strconv.Itoa(pos.Line) + ":" + strconv.Itoa(pos.Column)
}

// printable reports whether a string can appear in Coq text unchanged.
func printable(s string) bool {
	for _, r := range s {
		if r < ' ' || r == '\uFFFD' || r == 0x7f {
			return false
		}
	}
	return true
}

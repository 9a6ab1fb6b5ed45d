// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// typ lowers a type that is, or is needed, at a node. What is outside the
// subset is refused there; the Type is then of no use.
func (l *lowerer) typ(t types.Type, at ast.Node) Type {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return l.basic(t, at)
	case *types.Pointer:
		l.pointee(t.Elem(), at)
		return Type{Kind: KindPtr}
	case *types.Slice:
		elem := l.typ(t.Elem(), at)
		return Type{Kind: KindSlice, Elem: &elem}
	case *types.Map:
		key, elem := l.typ(t.Key(), at), l.typ(t.Elem(), at)
		if holdsInterface(t.Key()) {
			l.refuse(at, MapKey, "a map whose keys are interfaces, or hold some", "use the concrete type")
		}
		if key.Locks {
			l.refuse(at, MapKey, "a map whose keys hold locks", "")
		}
		return Type{Kind: KindMap, Key: &key, Elem: &elem}
	case *types.Signature:
		l.signature(t, at)
		return Type{Kind: KindFunc}
	case *types.Named:
		return l.named(t, at)
	case *types.Array:
		return l.array(t, at)
	case *types.Chan:
		l.refuse(at, ChannelType, "channels", "use a mutex and a condition variable")
	case *types.Interface:
		return l.interfaceType(t, at)
	case *types.Struct:
		l.refuse(at, AnonymousStruct, "a struct type without a name", "declare a type for it")
	case *types.TypeParam:
		l.refuse(at, GenericCode, "type parameters", "write the code for each type")
	default:
		l.refuse(at, UnsupportedExpr, "the type "+l.show(t), "")
	}
	return Type{}
}

func (l *lowerer) basic(t *types.Basic, at ast.Node) Type {
	switch t.Kind() {
	case types.Bool, types.UntypedBool:
		return Type{Kind: KindBool}
	case types.Uint8:
		return Type{Kind: KindInt, Width: U8}
	case types.Uint16:
		return Type{Kind: KindInt, Width: U16}
	case types.Uint32:
		return Type{Kind: KindInt, Width: U32}
	case types.Uint64:
		return Type{Kind: KindInt, Width: U64}
	case types.Int8:
		l.pkg.Library = true
		return Type{Kind: KindInt, Width: I8}
	case types.Int16:
		l.pkg.Library = true
		return Type{Kind: KindInt, Width: I16}
	case types.Int32, types.UntypedRune:
		l.pkg.Library = true
		return Type{Kind: KindInt, Width: I32}
	case types.Uint: // 64 bits, as Find makes sure
		return Type{Kind: KindInt, Width: U64}
	case types.Int, types.Int64, types.UntypedInt:
		return Type{Kind: KindInt, Width: I64}
	case types.String, types.UntypedString:
		return Type{Kind: KindString}
	case types.Uintptr:
		l.refuse(at, IntegerType, "the integer type "+t.Name()+", which holds an address", "use uint64")
	case types.Float32, types.Float64, types.UntypedFloat, types.Complex64, types.Complex128, types.UntypedComplex:
		l.refuse(at, FloatType, "numbers with a fraction ("+t.Name()+")", "")
	default:
		l.refuse(at, UnsupportedExpr, "the type "+t.Name(), "")
	}
	return Type{}
}

// interfaceType checks an interface: its methods may be called, and what is in
// one of its values is not looked at.
func (l *lowerer) interfaceType(t *types.Interface, at ast.Node) Type {
	if !t.IsMethodSet() {
		l.refuse(at, InterfaceType, "the constraint "+l.show(t), "")
	}
	l.pkg.Library = true
	return Type{Kind: KindInterface}
}

// arrayMax bounds the elements of an array: its value is a pair for each.
const arrayMax = 4096

// array lowers an array type.
func (l *lowerer) array(t *types.Array, at ast.Node) Type {
	elem := l.typ(t.Elem(), at)
	switch {
	case t.Len() < 1 || t.Len() > arrayMax:
		l.refuse(at, ArrayType, "the array type "+l.show(t)+" of no element or very many", "use a slice")
	case elem.Locks:
		l.refuse(at, ArrayType, "an array of locks", "hold them in structs behind pointers")
	}
	l.pkg.Library = true
	return Type{Kind: KindArray, Elem: &elem, Len: t.Len()}
}

// pointee checks what a pointer points at, without looking into structs.
func (l *lowerer) pointee(t types.Type, at ast.Node) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok {
		l.typ(t, at)
		return
	}
	if path := packagePath(n.Obj()); path == "sync" && n.Obj().Name() == "Cond" || strings.HasPrefix(path, primitivePath) {
		return
	}
	if l.ours(n.Obj()) {
		if s, isStruct := n.Underlying().(*types.Struct); isStruct && n.TypeArgs().Len() == 0 && s.NumFields() > 0 {
			return
		}
	}
	l.typ(t, at)
}

// named lowers a declared type.
func (l *lowerer) named(t *types.Named, at ast.Node) Type {
	path, name := packagePath(t.Obj()), t.Obj().Name()
	if t.TypeArgs().Len() > 0 {
		l.refuse(at, GenericCode, "the generic type "+name, "declare a type for each instance")
		return Type{}
	}
	switch {
	case path == "" && name == "error":
		return Type{Kind: KindError}
	case path == "": // comparable
		l.refuse(at, InterfaceType, "the interface type "+name, "use the concrete type; report failure with a bool")
		return Type{}
	case path == "sync":
		switch name {
		case "Mutex":
			return Type{Kind: KindMutex, Locks: true}
		case "RWMutex":
			return Type{Kind: KindRWMutex, Locks: true}
		case "WaitGroup":
			return Type{Kind: KindWaitGroup, Locks: true}
		case "Cond":
			l.refuse(at, SyncForm, "a sync.Cond that is not behind a pointer", "hold a *sync.Cond, made by sync.NewCond")
			return Type{}
		}
		l.refuse(at, SyncForm, "sync."+name, "the model has Mutex, RWMutex, WaitGroup and *Cond")
		return Type{}
	case strings.HasPrefix(path, primitivePath):
		if _, isStruct := t.Underlying().(*types.Struct); isStruct {
			l.refuse(at, OpaqueValue, "a "+l.show(t)+" that is not behind a pointer", "hold a *"+l.show(t))
			return Type{}
		}
		return l.typ(t.Underlying(), at)
	case !l.ours(t.Obj()):
		l.refuse(at, ForeignType, "the type "+l.show(t)+" of a package that is not translated", "")
		return Type{}
	}
	if s, isStruct := t.Underlying().(*types.Struct); isStruct {
		if s.NumFields() == 0 {
			l.refuse(at, EmptyStruct, "a variable of a struct without fields", "give it one, or use a bool")
			return Type{}
		}
		return Type{Kind: KindStruct, Struct: l.global(t.Obj()), Locks: holdsLock(s)}
	}
	return l.typ(t.Underlying(), at)
}

// holdsInterface reports whether values of a type are interfaces other than errors,
// or structs or arrays with some in them.
func holdsInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if holdsInterface(f.Type()) {
				return true
			}
		}
	case *types.Array:
		return holdsInterface(u.Elem())
	}
	return isInterface(t)
}

// holdsLock reports whether a struct holds a value of package sync in place.
func holdsLock(s *types.Struct) bool {
	for f := range s.Fields() {
		if n, ok := types.Unalias(f.Type()).(*types.Named); ok && packagePath(n.Obj()) == "sync" {
			return true
		}
		if inner, ok := f.Type().Underlying().(*types.Struct); ok && holdsLock(inner) {
			return true
		}
	}
	return false
}

// signature checks the types of a function.
func (l *lowerer) signature(s *types.Signature, at ast.Node) {
	if s.TypeParams().Len() > 0 || s.RecvTypeParams().Len() > 0 {
		l.refuse(at, GenericCode, "type parameters", "write the code for each type")
		return
	}
	for v := range s.Params().Variables() {
		l.typ(v.Type(), at)
	}
	for v := range s.Results().Variables() {
		l.typ(v.Type(), at)
	}
}

// empty reports whether a type is a struct without fields: it has one value, and no
// place in memory.
func empty(t types.Type) bool {
	if t == nil {
		return false
	}
	s, ok := t.Underlying().(*types.Struct)
	return ok && s.NumFields() == 0
}

func packagePath(o types.Object) string {
	if o.Pkg() == nil {
		return ""
	}
	return o.Pkg().Path()
}

// ours reports whether an object is of a package that is translated.
func (l *lowerer) ours(o types.Object) bool {
	return o.Pkg() != nil && (o.Pkg() == l.unit.Pkg || Translated(l.unit.Module, o.Pkg().Path()))
}

// global is the Coq name of an object at the level of a package.
func (l *lowerer) global(o types.Object) Global {
	name := o.Name()
	if f, ok := o.(*types.Func); ok {
		if recv := f.Signature().Recv(); recv != nil {
			name = receiverName(recv.Type()) + "__" + name
		}
	}
	g := Global{Name: coqName(name)}
	if o.Pkg() != l.unit.Pkg {
		g.Package = l.importOf(o.Pkg().Path()).Module
	}
	return g
}

// receiverName is the name of the type that has a method.
func receiverName(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Obj().Name()
	}
	return "?"
}

// importOf finds, and remembers, the Coq module of another translated package.
func (l *lowerer) importOf(path string) Import {
	if i, ok := l.imports[path]; ok {
		return i
	}
	i := Import{Path: path}
	i.Prefix, i.Module = modulePath(l.unit.Module, l.unit.Prefix, path)
	l.imports[path] = i
	return i
}

// modulePath is the logical path and the last name of the Coq module of a package.
func modulePath(module, prefix, path string) (string, string) {
	rel := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	if rel == "" {
		return prefix, strings.TrimSuffix(Prefix(module), ".gen")
	}
	elements := strings.Split(rel, "/")
	for i, e := range elements {
		elements[i] = moduleName(e)
	}
	last := len(elements) - 1
	return strings.Join(append([]string{prefix}, elements[:last]...), "."), elements[last]
}

// File is where the translation of a package goes, below the folder of all
// translations, with slashes.
func File(module, path string) string {
	prefix, last := modulePath(module, "gen", path)
	folders := strings.Split(prefix, ".")[1:]
	return strings.Join(append(folders, last), "/") + ".v"
}

// show is a type as messages call it.
func (l *lowerer) show(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == l.unit.Pkg {
			return ""
		}
		return p.Name()
	})
}

// refuse reports what is outside the subset.
func (l *lowerer) refuse(at ast.Node, code source.Code, what, repair string, related ...source.Note) {
	l.refuseSpan(l.unit.span(at), code, what, repair, related...)
}

func (l *lowerer) refuseSpan(at source.Span, code source.Code, what, repair string, related ...source.Note) {
	l.diags.Add(source.Diagnostic{Code: code, Span: at, Message: what + ": outside the subset that is translated",
		Repair: repair, Related: related})
}

// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// call lowers a call, a conversion or a builtin.
func (f *fn) call(e *ast.CallExpr) operand {
	tv := f.unit.Info.Types[e.Fun]
	switch {
	case tv.IsType():
		return f.conversion(e, tv.Type)
	case tv.IsBuiltin():
		return f.builtin(e)
	}
	if len(e.Args) == 1 {
		if t, ok := f.unit.Info.TypeOf(e.Args[0]).(*types.Tuple); ok && t.Len() > 1 {
			f.refuse(e.Args[0], MultiValueCall, "several results as the arguments of a call", "name the results first")
			return operand{}
		}
	}
	switch fun := ast.Unparen(e.Fun).(type) {
	case *ast.SelectorExpr:
		if s := f.unit.Info.Selections[fun]; s != nil && s.Kind() == types.MethodVal {
			return f.method(e, fun, s)
		}
		if o, ok := f.unit.Info.Uses[fun.Sel].(*types.Func); ok {
			if !f.ours(o) {
				return f.foreign(e, o)
			}
			if f.unit.Directives[o.FullName()] == directiveAssert {
				return f.assertion(e)
			}
		}
	case *ast.Ident:
		if o, ok := f.unit.Info.Uses[fun].(*types.Func); ok {
			if !f.ours(o) {
				return f.foreign(e, o)
			}
			if f.unit.Directives[o.FullName()] == directiveAssert {
				return f.assertion(e)
			}
		}
	}
	sig, ok := f.unit.Info.TypeOf(e.Fun).Underlying().(*types.Signature)
	if !ok {
		return operand{}
	}
	ops := f.arguments(e, sig, func() operand { return f.expr(e.Fun) })
	var id *ast.Ident
	switch fun := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	}
	callee, ok := f.unit.Info.Uses[id].(*types.Func)
	return join(Call{Fun: ops[0].x, Args: terms(ops[1:])}, ops...).calling(!ok || !f.unit.Quiet[callee.FullName()])
}

func terms(ops []operand) []Expr {
	var out []Expr
	for _, o := range ops {
		out = append(out, o.x)
	}
	return out
}

// method lowers x.m(...).
func (f *fn) method(e *ast.CallExpr, fun *ast.SelectorExpr, s *types.Selection) operand {
	o, ok := s.Obj().(*types.Func)
	if !ok {
		return operand{}
	}
	recv := o.Signature().Recv().Type()
	path := packagePath(o)
	switch {
	case types.IsInterface(recv) && isError(f.unit.Info.TypeOf(fun.X)) && o.Name() == "Error":
		x := f.expr(fun.X)
		isNil := Binary{Op: token.NEQ, X: x.x, Y: Nil{Type: Type{Kind: KindPtr}}}
		return join(f.std("error_text", isNil), x).calling(false)
	case types.IsInterface(recv) && isError(f.unit.Info.TypeOf(fun.X)):
		f.refuse(fun, InterfaceType, "the method "+o.Name()+" of an error", "")
		return operand{}
	case types.IsInterface(recv):
		if len(s.Index()) > 1 && !types.IsInterface(s.Recv()) {
			f.refuse(fun, EmbeddedField, "a method of an embedded interface", "name the field on the way")
			return operand{}
		}
		f.typ(f.unit.Info.TypeOf(fun.X), fun.X)
		ops := f.arguments(e, o.Signature(), func() operand { return f.expr(fun.X) })
		method := f.std("method", ops[0].x)
		method.Text = o.Name()
		if o.Signature().Params().Len() == 0 {
			return join(method, ops...).calling(true)
		}
		return join(Call{Fun: method, Args: terms(ops[1:])}, ops...).calling(true)
	case path == "sync":
		if len(s.Index()) > 1 {
			f.refuse(fun, EmbeddedField, "a method of an embedded lock", "give the lock a name")
			return operand{}
		}
		return f.syncMethod(e, fun, o)
	case strings.HasPrefix(path, primitivePath):
		name := receiverName(recv) + "__" + o.Name()
		return f.primitive(e, o, name, append([]ast.Expr{fun.X}, e.Args...))
	case !f.ours(o):
		if o, ok := f.libraryMethod(e, fun); ok {
			return o
		}
		f.refuse(fun, ForeignCall, "the method "+o.Name()+" of package "+path+", which is not translated", "")
		return operand{}
	case f.unit.Directives[o.FullName()] != "":
		f.refuse(fun, ForeignCall, "the method "+omittedName(o)+", which is left out by goose:"+f.unit.Directives[o.FullName()], "")
		return operand{}
	}
	ops := f.arguments(e, o.Signature(), func() operand {
		if n := len(s.Index()) - 1; n > 0 {
			return f.embeddedReceiver(fun, recv, s, n)
		}
		return f.receiver(fun, recv)
	})
	return join(Call{Fun: Func{f.global(o)}, Args: terms(ops)}, ops...).calling(!f.unit.Quiet[o.FullName()])
}

// receiver is x of x.m(): its address or its value, as the method wants it.
func (f *fn) receiver(fun *ast.SelectorExpr, recv types.Type) operand {
	have := f.unit.Info.TypeOf(fun.X)
	switch {
	case isPointer(recv) && !isPointer(have):
		f.noStar(fun.X)
		o, _ := f.addr(fun.X)
		return o
	case !isPointer(recv) && isPointer(have):
		o := f.expr(fun.X)
		o = f.load(fun.X, f.typ(recv, fun.X), o, false)
		o.at = fun.X
		return o
	}
	return f.expr(fun.X)
}

// embeddedReceiver is the receiver of a method of an embedded field, n fields
// away.
func (f *fn) embeddedReceiver(fun *ast.SelectorExpr, recv types.Type, s *types.Selection, n int) operand {
	have := s.Recv()
	for _, i := range s.Index()[:n] {
		if p, ok := have.Underlying().(*types.Pointer); ok {
			have = p.Elem()
		}
		st, ok := have.Underlying().(*types.Struct)
		if !ok {
			return operand{x: Zero{}}
		}
		have = st.Field(i).Type()
	}
	o, inPlace, steady := f.fieldOf(fun.X, s.Recv(), s.Index()[:n], isPointer(recv) && !isPointer(have))
	switch {
	case isPointer(recv) && !isPointer(have): // the location
	case inPlace:
		o = f.load(fun.X, f.typ(have, fun.X), o, steady)
		fallthrough
	default:
		if !isPointer(recv) && isPointer(have) {
			o = f.load(fun.X, f.typ(recv, fun.X), o, false)
		}
	}
	o.at = fun.X
	return o
}

// syncMethod is the name in Coq of a method of package sync. TryLock is not among
// them: in Go it may fail for no reason.
func syncMethod(name string) (coq string, ok bool) {
	switch name {
	case "Mutex.Lock":
		return "mutex_lock", true
	case "Mutex.Unlock":
		return "mutex_unlock", true
	case "RWMutex.Lock":
		return "rwmutex_lock", true
	case "RWMutex.Unlock":
		return "rwmutex_unlock", true
	case "RWMutex.RLock":
		return "rwmutex_rlock", true
	case "RWMutex.RUnlock":
		return "rwmutex_runlock", true
	case "Cond.Wait":
		return "cond_wait", true
	case "Cond.Signal":
		return "cond_signal", true
	case "Cond.Broadcast":
		return "cond_broadcast", true
	case "WaitGroup.Add":
		return "waitgroup_add", true
	case "WaitGroup.Done":
		return "waitgroup_done", true
	case "WaitGroup.Wait":
		return "waitgroup_wait", true
	}
	return "", false
}

func (f *fn) syncMethod(e *ast.CallExpr, fun *ast.SelectorExpr, o *types.Func) operand {
	recv := o.Signature().Recv().Type()
	name := receiverName(recv) + "." + o.Name()
	lib, ok := syncMethod(name)
	if !ok {
		f.refuse(fun, SyncForm, "sync."+name, "the model has Lock, Unlock, RLock, RUnlock, Wait, Signal, Broadcast, Add and Done")
		return operand{}
	}
	items := []func() operand{func() operand { return f.receiver(fun, recv) }}
	for _, a := range e.Args {
		items = append(items, func() operand { return f.expr(a) })
	}
	ops := f.list(items...)
	// A thread that takes a lock sees what others wrote: so a lock counts as a write.
	return join(Lib{Name: lib, Args: terms(ops)}, ops...).calling(true)
}

// primitives are the functions of proofs/trusted/primitive.v.
const primitives = ` disk.Disk__Read disk.Disk__Write disk.Disk__Size disk.Two__Read disk.Two__Write disk.Two__Size
 disk.Async__Read disk.Async__Write disk.Async__Size disk.Async__Barrier
 filesys.FS__Create filesys.FS__Open filesys.FS__Append filesys.FS__ReadAt filesys.FS__Size filesys.FS__Close
 filesys.FS__Link filesys.FS__Unlink filesys.FS__List filesys.FS__Sync filesys.FS__SyncDir
 machine.RandomUint64 machine.UInt64Put machine.UInt64Get machine.UInt64ToString `

// primitive lowers a call of a primitive package.
func (f *fn) primitive(e *ast.CallExpr, o *types.Func, name string, args []ast.Expr) operand {
	full := o.Pkg().Name() + "." + name
	if !strings.Contains(primitives, " "+full+" ") && !strings.Contains(primitives, " "+full+"\n") {
		f.refuse(e.Fun, ForeignValue, o.Pkg().Name()+"."+o.Name()+", which the model does not have",
			"call it where the program starts, and pass in what it returns")
		return operand{}
	}
	ops := f.exprs(args...)
	return join(Lib{Name: full, Args: terms(ops)}, ops...).calling(full == "machine.UInt64Put")
}

// foreign lowers a call of a function of a package that is not translated.
func (f *fn) foreign(e *ast.CallExpr, o *types.Func) operand {
	path := packagePath(o)
	switch {
	case strings.HasPrefix(path, primitivePath):
		return f.primitive(e, o, o.Name(), e.Args)
	case path == "sync" && o.Name() == "NewCond":
		arg := e.Args[0]
		t := types.Unalias(f.unit.Info.TypeOf(arg))
		if p, ok := t.(*types.Pointer); ok {
			if n, ok := types.Unalias(p.Elem()).(*types.Named); ok && packagePath(n.Obj()) == "sync" && n.Obj().Name() == "Mutex" {
				ops := f.exprs(arg)
				return join(Lib{Name: "new_cond", Args: terms(ops)}, ops...)
			}
		}
		f.refuse(e, SyncForm, "a condition variable of "+f.show(t), "give it a *sync.Mutex")
	case path == "sync":
		f.refuse(e.Fun, SyncForm, "sync."+o.Name(), "the model has Mutex, RWMutex, WaitGroup and *Cond")
	default:
		if o, ok := f.library(e, path+"."+o.Name()); ok {
			return o
		}
		f.refuse(e.Fun, ForeignCall, path+"."+o.Name()+", of a package that is not translated", "")
	}
	return operand{}
}

// conversion lowers T(x).
func (f *fn) conversion(e *ast.CallExpr, t types.Type) operand {
	from := f.unit.Info.TypeOf(e.Args[0])
	if opaque(t) != opaque(from) {
		f.refuse(e, OpaqueValue, "a conversion from or to "+f.show(t)+", whose values only its package makes", "")
		return operand{}
	}
	to, have := f.typ(t, e.Fun), Type{Kind: KindPtr}
	if b, ok := from.(*types.Basic); !ok || b.Kind() != types.UntypedNil {
		have = f.typ(from, e.Args[0])
	} else {
		return value(Nil{Type: to})
	}
	o := f.expr(e.Args[0])
	isBytes := func(t Type) bool { return t.Kind == KindSlice && t.Elem.Kind == KindInt && t.Elem.Width == U8 }
	switch {
	case to.Kind == KindInt && have.Kind == KindInt:
		if to.Width == have.Width {
			return o
		}
		return join(Convert{To: to.Width, X: o.x}, o)
	case to.Kind == KindString && isBytes(have):
		return join(Lib{Name: "slice_to_string", Args: []Expr{o.x}}, o).reading()
	case isBytes(to) && have.Kind == KindString:
		f.pkg.Texts = true
		return join(Lib{Name: "string_to_bytes", Args: []Expr{o.x}}, o)
	case to.Kind == KindError && have.Kind == KindError:
		return o
	case to.Kind == KindInterface:
		return f.toInterface(e, o, t)
	case to.Kind == have.Kind && types.Identical(noTags(t.Underlying()), noTags(from.Underlying())):
		return o
	}
	f.refuse(e, UnsupportedConversion, "the conversion of "+f.show(from)+" to "+f.show(t), "")
	return operand{}
}

// noTags is a type as it is; conversions between structs that differ in tags
// only do not occur in the subset, and are refused.
func noTags(t types.Type) types.Type { return t }

// opaque reports whether only a primitive package makes values of the type.
func opaque(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && strings.HasPrefix(packagePath(n.Obj()), primitivePath)
}

// builtin lowers a call of a builtin function that has a value.
func (f *fn) builtin(e *ast.CallExpr) operand {
	name := ""
	switch fun := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		name = fun.Name
	case *ast.SelectorExpr:
		name = fun.Sel.Name
	}
	switch name {
	case "len", "cap":
		return f.length(e, name)
	case "make":
		return f.make(e)
	case "new":
		if tv := f.unit.Info.Types[e.Args[0]]; !tv.IsType() {
			f.refuse(e, UnsupportedBuiltin, "new of a value", "declare a variable and take its address")
			return operand{}
		}
		return value(RefZero{Type: f.typ(f.unit.Info.TypeOf(e.Args[0]), e.Args[0])})
	case "append":
		return f.appendTo(e)
	case "copy":
		elem, ok := f.elem(e.Args[0])
		if !ok {
			return operand{}
		}
		ops := f.list(func() operand { return f.expr(e.Args[0]) }, func() operand { return f.sliceOrString(e.Args[1]) })
		return join(Lib{Name: "copy_slice", Types: []Type{elem}, Args: terms(ops)}, ops...).reading().calling(true)
	case "delete":
		f.typ(f.unit.Info.TypeOf(e.Args[0]), e.Args[0])
		f.wantKey(e.Args[0], e.Args[1])
		ops := f.exprs(e.Args...)
		return join(Lib{Name: "map_delete", Args: terms(ops)}, ops...).calling(true)
	case "min", "max":
		return f.extreme(e, name)
	case "clear":
		return f.clear(e)
	case "close":
		f.refuse(e, ChannelType, "channels", "use a mutex and a condition variable")
		return operand{}
	}
	f.refuse(e, UnsupportedBuiltin, "the builtin function "+name, "")
	return operand{}
}

func (f *fn) length(e *ast.CallExpr, name string) operand {
	arg := e.Args[0]
	t := f.typ(f.unit.Info.TypeOf(arg), arg)
	o := f.expr(arg)
	switch {
	case t.Kind == KindSlice:
		return join(Lib{Name: "slice_" + name, Args: []Expr{o.x}}, o)
	case t.Kind == KindString:
		return join(Lib{Name: "string_len", Args: []Expr{o.x}}, o)
	case t.Kind == KindMap:
		return join(Lib{Name: "map_len", Args: []Expr{o.x}}, o).reading()
	}
	return operand{}
}

func (f *fn) make(e *ast.CallExpr) operand {
	t := f.typ(f.unit.Info.TypeOf(e), e.Args[0])
	switch t.Kind {
	case KindSlice:
		ops := f.exprs(e.Args[1:]...)
		name := "make_slice"
		if len(ops) > 1 {
			name = "make_slice_cap"
		}
		return join(Lib{Name: name, Types: []Type{*t.Elem}, Args: terms(ops)}, ops...)
	case KindMap:
		// The size is a hint; it is evaluated for the panic that a negative one is not.
		for _, a := range e.Args[1:] {
			if f.unit.Info.Types[a].Value == nil {
				f.refuse(a, UnsupportedBuiltin, "a computed size for a map", "leave it out")
			}
		}
		return value(Lib{Name: "new_map"})
	}
	return operand{}
}

// elem is the type of the elements of a slice.
func (f *fn) elem(e ast.Expr) (Type, bool) {
	t := f.typ(f.unit.Info.TypeOf(e), e)
	if t.Kind != KindSlice || t.Elem == nil {
		return Type{}, false
	}
	return *t.Elem, true
}

// sliceOrString is the second argument of append and copy.
func (f *fn) sliceOrString(e ast.Expr) operand {
	t := f.typ(f.unit.Info.TypeOf(e), e)
	o := f.expr(e)
	if t.Kind == KindString {
		at := o.at
		o = join(Lib{Name: "string_to_slice", Args: []Expr{o.x}}, o)
		o.at = at
	}
	return o
}

func (f *fn) appendTo(e *ast.CallExpr) operand {
	elem, ok := f.elem(e)
	if !ok {
		return operand{}
	}
	if len(e.Args) == 1 {
		return f.expr(e.Args[0])
	}
	f.want(e.Args[0], f.unit.Info.TypeOf(e))
	items := []func() operand{func() operand { return f.expr(e.Args[0]) }}
	if e.Ellipsis.IsValid() {
		items = append(items, func() operand { return f.sliceOrString(e.Args[1]) })
		ops := f.list(items...)
		return join(Lib{Name: "append_slice", Types: []Type{elem}, Args: terms(ops)}, ops...).reading().calling(true)
	}
	for _, a := range e.Args[1:] {
		if s, ok := f.unit.Info.TypeOf(e).Underlying().(*types.Slice); ok {
			f.want(a, s.Elem())
		}
		items = append(items, func() operand { return f.expr(a) })
	}
	ops := f.list(items...)
	if len(ops) > 2 {
		return f.appendMany(elem, ops)
	}
	return join(Lib{Name: "append_one", Types: []Type{elem}, Args: terms(ops)}, ops...).reading().calling(true)
}

// appendMany puts the values in a slice of their own and appends that: all of
// them are evaluated before any is stored.
func (f *fn) appendMany(elem Type, ops []operand) operand {
	for i := range ops {
		if ops[i].pending {
			ops[i].x = f.hoist(ops[i].x)
		}
	}
	integer := func(n int) Expr {
		return Lit{Type: Type{Kind: KindInt, Width: I64}, Value: constant.MakeInt64(int64(n))}
	}
	more := f.hoist(Lib{Name: "make_slice", Types: []Type{elem}, Args: []Expr{integer(len(ops) - 1)}})
	for i, o := range ops[1:] {
		f.emit(Do{Unit: true, X: Lib{Name: "slice_set", Types: []Type{elem}, Args: []Expr{more, integer(i), o.x}}})
	}
	return join(Lib{Name: "append_slice", Types: []Type{elem}, Args: []Expr{ops[0].x, more}}, ops...).reading().calling(true)
}

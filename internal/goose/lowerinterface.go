// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
)

// An interface value is a value and a table of its methods, made where the value
// becomes one: where it is assigned, passed, returned or put into a literal.

// isInterface reports whether a type is an interface other than error.
func isInterface(t types.Type) bool { return t != nil && types.IsInterface(t) && !isError(t) }

// becomesInterface reports whether a value changes its form when it is assigned.
func becomesInterface(from, to types.Type) bool {
	if from == nil || to == nil || !types.IsInterface(to) {
		return false
	}
	return !types.IsInterface(from) || isError(from) != isError(to)
}

// toInterface makes an interface value of type t of a lowered expression.
func (f *fn) toInterface(e ast.Expr, o operand, t types.Type) operand {
	have := f.unit.Info.TypeOf(e)
	if call, ok := e.(*ast.CallExpr); ok && f.unit.Info.Types[call.Fun].IsType() && types.IsInterface(have) {
		have = f.unit.Info.TypeOf(call.Args[0])
	}
	f.typ(t, e)
	switch {
	case f.unit.Info.Types[e].IsNil():
		return o
	case isError(have):
		f.refuse(e, InterfaceType, "an error as another interface", "")
		return o
	case types.IsInterface(have):
		return o // its table has all methods
	}
	if !empty(have) {
		f.typ(have, e)
	}
	i, _ := t.Underlying().(*types.Interface)
	out := Interface{X: o.x}
	for m := range i.Methods() {
		found, index, _ := types.LookupFieldOrMethod(have, false, m.Pkg(), m.Name())
		method, ok := found.(*types.Func)
		if !ok || !f.ours(method) || types.IsInterface(method.Signature().Recv().Type()) {
			f.refuse(e, InterfaceType, "a "+f.show(have)+" as an interface: its method "+m.Name()+" is promoted from an interface or another package", "write the method")
			return o
		}
		embedded, at := f.embeddedMethod(have, index)
		if isPointer(method.Signature().Recv().Type()) != isPointer(at) {
			f.refuse(e, InterfaceType, "a pointer as an interface whose method "+m.Name()+" has a receiver that is not a pointer", "give the method a pointer receiver")
			return o
		}
		if word := f.unit.Directives[method.FullName()]; word != "" {
			f.refuse(e, InterfaceType, "a "+f.show(have)+" as an interface: its method "+m.Name()+" is left out by goose:"+word, "")
			return o
		}
		if method.Pkg() == f.unit.Pkg {
			f.uses[method] = true
		}
		out.Methods = append(out.Methods, Method{Name: m.Name(), Func: f.global(method), Receiver: embedded})
	}
	sort.Slice(out.Methods, func(i, j int) bool { return out.Methods[i].Name < out.Methods[j].Name })
	return join(out, o)
}

// embeddedMethod is what the receiver of a method is, of "r", and its type: the
// method is of a field that is embedded, if index has more than its number.
func (f *fn) embeddedMethod(have types.Type, index []int) (Expr, types.Type) {
	if len(index) == 1 {
		return nil, have
	}
	x, t, inPlace := Expr(Local{Name: "r"}), have, isPointer(have)
	for _, n := range index[:len(index)-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		named, ok := types.Unalias(t).(*types.Named)
		s, isStruct := t.Underlying().(*types.Struct)
		if !ok || !isStruct {
			return x, have
		}
		field := s.Field(n)
		t = field.Type()
		switch {
		case !inPlace:
			x = FieldGet{Struct: f.global(named.Obj()), Field: field.Name(), X: x}
			inPlace = isPointer(t)
		case isPointer(t):
			x = Load{Type: Type{Kind: KindPtr}, Addr: FieldAddr{Struct: f.global(named.Obj()), Field: field.Name(), X: x}}
		default:
			x = FieldAddr{Struct: f.global(named.Obj()), Field: field.Name(), X: x}
		}
	}
	if inPlace && !isPointer(t) {
		t = types.NewPointer(t)
	}
	return x, t
}

// methodValue is x.m that is not called: a function that has x.
func (f *fn) methodValue(e *ast.SelectorExpr, s *types.Selection) operand {
	o, ok := s.Obj().(*types.Func)
	if !ok || s.Kind() != types.MethodVal || len(s.Index()) > 1 && !types.IsInterface(s.Recv()) ||
		!types.IsInterface(s.Recv()) && !f.ours(o) || isError(s.Recv()) || o.Signature().Variadic() || f.unit.Directives[o.FullName()] != "" {
		f.refuse(e, MethodValue, "the method "+e.Sel.Name+" as a value", "write a function literal that calls it")
		return operand{}
	}
	var recv operand
	var fun Expr
	if types.IsInterface(s.Recv()) {
		f.typ(s.Recv(), e.X)
		recv = f.expr(e.X)
		recv.x = f.hoist(recv.x)
		f.emit(Do{Unit: true, X: Lib{Name: "assert", Args: []Expr{Unary{Op: token.NOT, X: f.std("interface_is_nil", recv.x)}}}})
	} else {
		recv = f.receiver(e, o.Signature().Recv().Type())
		recv.x = f.hoist(recv.x)
		fun = Func{f.global(o)}
	}
	mark := f.names.mark()
	closure := Closure{Results: o.Signature().Results().Len()}
	var args []Expr
	for range o.Signature().Params().Len() {
		name := f.names.fresh()
		closure.Params = append(closure.Params, name)
		args = append(args, Local{Name: name})
	}
	f.names.release(mark)
	x := Expr(Call{Fun: fun, Args: append([]Expr{recv.x}, args...)})
	if fun == nil {
		method := f.std("method", recv.x)
		method.Text = o.Name()
		x = method
		if len(args) > 0 {
			x = Call{Fun: method, Args: args}
		}
	}
	if closure.Results > 0 {
		closure.Body = []Stmt{Return{X: x}}
	} else {
		closure.Body = []Stmt{Do{X: x, Unit: true}}
	}
	recv.pending = false
	return join(closure, recv)
}

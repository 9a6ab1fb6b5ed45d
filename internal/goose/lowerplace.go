// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/types"
)

// fieldOf goes from a struct, or a pointer to one, along fields: the last one is
// meant, those before it are embedded. What it gives is a location if the struct
// is one, or a pointer is on the way, and else a value.
func (f *fn) fieldOf(x ast.Expr, recv types.Type, index []int, wanted bool) (o operand, inPlace, steady bool) {
	switch {
	case isPointer(recv):
		o, inPlace = f.expr(x), true
	case wanted && !indirect(recv, index) || f.inPlace(x):
		o, steady = f.addr(x)
		inPlace = true
	default:
		o = f.expr(x)
	}
	t := recv
	for i, n := range index {
		structName := f.structOf(t, x)
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return operand{x: Zero{}}, inPlace, false
		}
		field := s.Field(n)
		t = field.Type()
		if inPlace {
			o = join(FieldAddr{Struct: structName, Field: field.Name(), X: o.x}, o)
		} else {
			o = join(FieldGet{Struct: structName, Field: field.Name(), X: o.x}, o)
		}
		if i < len(index)-1 && isPointer(t) {
			if inPlace {
				o = f.load(x, Type{Kind: KindPtr}, o, false)
			}
			inPlace, steady = true, false
		}
	}
	o.at = x
	return o, inPlace, steady
}

// indirect reports whether a pointer is on the way from a struct along embedded
// fields, the first struct included.
func indirect(recv types.Type, index []int) bool {
	t := recv
	for _, n := range index {
		if isPointer(t) {
			return true
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return false
		}
		t = s.Field(n).Type()
	}
	return false
}

// arrayOf is the array that t is, or points at.
func arrayOf(t types.Type) (*types.Array, bool) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	a, ok := t.Underlying().(*types.Array)
	return a, ok
}

// arrayAddr is where an array is, which is e or which e points at.
func (f *fn) arrayAddr(e ast.Expr) (o operand, steady bool) {
	if isPointer(f.unit.Info.TypeOf(e)) {
		return f.expr(e), false
	}
	return f.addr(e)
}

// elementAddr is &a[i] of an array in place.
func (f *fn) elementAddr(e *ast.IndexExpr, a *types.Array) (o operand, steady bool) {
	elem := f.typ(a.Elem(), e.X)
	ops := f.list(func() operand { o, steady = f.arrayAddr(e.X); return o }, func() operand { return f.expr(e.Index) })
	lib := f.std("array_ref", ops[0].x, ops[1].x)
	lib.Len, lib.Types = a.Len(), []Type{elem}
	o = join(lib, ops...)
	o.at = e
	return o, steady
}

// wholeArray is a[:].
func (f *fn) wholeArray(e ast.Expr, a *types.Array) operand {
	o, _ := f.arrayAddr(e)
	lib := f.std("array_slice", o.x)
	lib.Len = a.Len()
	r := join(lib, o)
	r.at = e
	return r
}

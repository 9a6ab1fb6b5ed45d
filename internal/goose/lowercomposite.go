// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"go/ast"
	"go/constant"
	"go/types"
)

// composite lowers T{...}.
func (f *fn) composite(e *ast.CompositeLit, t types.Type) operand {
	if p, ok := t.Underlying().(*types.Pointer); ok { // an element {...} of a []*T{...}
		o := f.composite(e, p.Elem())
		return join(f.newVariable(f.typ(p.Elem(), e), o.x), o)
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return f.structLiteral(e, t, u)
	case *types.Slice:
		return f.sliceLiteral(e, u)
	case *types.Array:
		return f.arrayLiteral(e, t, u)
	case *types.Map:
		return f.mapLiteral(e, t, u)
	}
	f.typ(t, e)
	return operand{}
}

func (f *fn) structLiteral(e *ast.CompositeLit, t types.Type, s *types.Struct) operand {
	if empty(t) {
		return value(StructVal{})
	}
	typ := f.typ(t, e)
	if len(e.Elts) == 0 {
		return value(Zero{Type: typ})
	}
	given := make([]int, s.NumFields()) // place in e.Elts, plus 1
	var elems []ast.Expr
	for i, elt := range e.Elts {
		field := i
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			id, ok := kv.Key.(*ast.Ident)
			if !ok {
				return operand{}
			}
			for j := range s.NumFields() {
				if s.Field(j).Name() == id.Name {
					field = j
				}
			}
			elt = kv.Value
		}
		if field < len(given) {
			given[field] = i + 1
			f.want(elt, s.Field(field).Type())
		}
		elems = append(elems, elt)
	}
	ops := f.exprs(elems...)
	var fields []Expr
	for i := range s.NumFields() {
		if given[i] > 0 {
			fields = append(fields, ops[given[i]-1].x)
			continue
		}
		fields = append(fields, Zero{Type: f.typ(s.Field(i).Type(), e)})
	}
	return join(StructVal{Fields: fields}, ops...)
}

// arrayLiteral is an array value, all elements in order.
func (f *fn) arrayLiteral(e *ast.CompositeLit, t types.Type, a *types.Array) operand {
	typ := f.typ(t, e)
	indices, _ := f.indices(e)
	if len(e.Elts) == 0 || typ.Kind != KindArray {
		return value(Zero{Type: typ})
	}
	if indices == nil {
		return operand{}
	}
	var elems []ast.Expr
	for _, elt := range e.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			elt = kv.Value
		}
		f.want(elt, a.Elem())
		elems = append(elems, elt)
	}
	ops := f.exprs(elems...)
	out := StructVal{Fields: make([]Expr, a.Len())}
	for i := range out.Fields {
		out.Fields[i] = Zero{Type: *typ.Elem}
	}
	for i, o := range ops {
		out.Fields[indices[i]] = o.x
	}
	return join(out, ops...)
}

// sliceLiteral makes a slice and fills it.
func (f *fn) sliceLiteral(e *ast.CompositeLit, s *types.Slice) operand {
	elem := f.typ(s.Elem(), e)
	indices, n := f.indices(e)
	if indices == nil && len(e.Elts) > 0 {
		return operand{}
	}
	integer := func(n int64) Expr {
		return Lit{Type: Type{Kind: KindInt, Width: I64}, Value: constant.MakeInt64(n)}
	}
	made := Lib{Name: "make_slice", Types: []Type{elem}, Args: []Expr{integer(n)}}
	if len(e.Elts) == 0 {
		return value(made)
	}
	var elems []ast.Expr
	for _, elt := range e.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			elt = kv.Value
		}
		f.want(elt, s.Elem())
		elems = append(elems, elt)
	}
	ops := f.exprs(elems...)
	// Of the elements one may have a call: it stays in front of the stores.
	for i := range ops {
		if ops[i].pending {
			ops[i].x = f.hoist(ops[i].x)
		}
	}
	slice := f.hoist(made)
	for i, o := range ops {
		f.emit(Do{Unit: true, X: Lib{Name: "slice_set", Types: []Type{elem}, Args: []Expr{slice, integer(indices[i]), o.x}}})
	}
	r := join(slice, ops...)
	r.pending = false
	return r
}

// sliceLiteralMax bounds the elements of a slice literal: each is a store.
const sliceLiteralMax = 1024

// indices are the places of the elements of a slice literal, and its length.
func (f *fn) indices(e *ast.CompositeLit) ([]int64, int64) {
	var out []int64
	next, n := int64(0), int64(0)
	for _, elt := range e.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			if v := f.unit.Info.Types[kv.Key].Value; v != nil {
				next, _ = constant.Int64Val(constant.ToInt(v))
			}
		}
		out = append(out, next)
		next++
		n = max(n, next)
	}
	if len(out) > sliceLiteralMax {
		f.refuse(e, UnsupportedExpr, "a slice literal this long", "fill the slice in a loop")
		return nil, 0
	}
	return out, n
}

func (f *fn) mapLiteral(e *ast.CompositeLit, t types.Type, m *types.Map) operand {
	f.typ(t, e)
	made := Lib{Name: "new_map"}
	if len(e.Elts) == 0 {
		return value(made)
	}
	var parts []ast.Expr
	for _, elt := range e.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			return operand{}
		}
		f.want(kv.Key, m.Key())
		f.want(kv.Value, m.Elem())
		parts = append(parts, kv.Key, kv.Value)
	}
	ops := f.exprs(parts...)
	for i := range ops {
		if ops[i].pending {
			ops[i].x = f.hoist(ops[i].x)
		}
	}
	made2 := f.hoist(made)
	for i := 0; i < len(ops); i += 2 {
		f.emit(Do{Unit: true, X: Lib{Name: "map_insert", Args: []Expr{made2, ops[i].x, ops[i+1].x}}})
	}
	r := join(made2, ops...)
	r.pending = false
	return r
}

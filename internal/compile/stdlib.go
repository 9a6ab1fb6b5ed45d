// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
)

// native compiles a call of an operator of a standard module: to Go code on
// typed values if a function below supports that, and otherwise to a call of
// the operator's implementation on values. It returns false if the operator's
// definition must be compiled instead.
func (f *fn) native(e *core.Call) (val, bool) {
	if f.sc.Callee(e) != nil {
		return val{}, false
	}
	if v, ok := f.arithmetic(e); ok {
		return v, true
	}
	if v, ok := f.sequences(e); ok {
		return v, true
	}
	if v, ok := f.otherNative(e); ok {
		return v, true
	}
	return f.nativeValue(e), true
}

// arithmetic compiles the operators of Naturals and Integers.
func (f *fn) arithmetic(e *core.Call) (val, bool) {
	g := f.g
	switch e.Def.Module {
	case "Naturals", "Integers", "Reals":
	default:
		return val{}, false
	}
	checked := map[string]string{"+": "AddInt", "-": "SubInt", "*": "MulInt", "^": "PowInt", "\\div": "DivInt", "%": "ModInt"}
	compared := map[string]string{"<": "<", ">": ">", "<=": "<=", "=<": "<=", "\\leq": "<=", ">=": ">=", "\\geq": ">="}
	name := e.Def.Name
	switch {
	case checked[name] != "":
		return val{fmt.Sprintf("value.%s(%s, %s)", checked[name], f.as(e.Args[0], g.int), f.as(e.Args[1], g.int)), g.int, precAtom}, true
	case compared[name] != "":
		a, b := f.asVal(e.Args[0], g.int), f.asVal(e.Args[1], g.int)
		return val{a.under(precCompare+1) + " " + compared[name] + " " + b.under(precCompare+1), g.bool, precCompare}, true
	case name == "-." && len(e.Args) == 1:
		if lit, ok := e.Args[0].(*core.Int); ok && lit.Val < 1<<31 {
			return val{intCode(-lit.Val), g.int, precMul}, true
		}
		return val{"value.NegInt(" + f.as(e.Args[0], g.int) + ")", g.int, precAtom}, true
	case name == "..":
		want := f.shapeOf(e)
		a, b := f.as(e.Args[0], g.int), f.as(e.Args[1], g.int)
		if want != g.setOf(g.int) {
			return f.coerce(val{fmt.Sprintf("value.Interval(%s, %s)", a, b), g.any, precAtom}, want), true
		}
		return val{fmt.Sprintf("typed.Interval(%s, %s)", a, b), want, precAtom}, true
	case namedSet(e) != "":
		return f.symbolic(e)
	}
	return val{}, false
}

// sequences compiles the operators of Sequences if their arguments have Go
// types.
func (f *fn) sequences(e *core.Call) (val, bool) {
	if e.Def.Module != "Sequences" {
		return val{}, false
	}
	g := f.g
	if e.Def.Name == "Seq" {
		return f.symbolic(e)
	}
	for i, a := range e.Args {
		// These operators also accept strings. If an argument may be a string,
		// the implementation on values handles it.
		if e.Def.Params[i].Arity == 0 && f.base(f.shapeOf(a), shape.Str).Kind == shape.Str && e.Def.Name != "Append" {
			return val{}, false
		}
	}
	if e.Def.Name == "Len" && f.base(f.shapeOf(e.Args[0]), shape.Seq).Kind == shape.Seq {
		return val{f.plain(f.typed(e.Args[0]), shape.Seq).atom() + ".Len()", g.int, precAtom}, true
	}
	want := f.shapeOf(e)
	if e.Def.Name == "Head" {
		s := f.base(f.shapeOf(e.Args[0]), shape.Seq)
		if s.Kind != shape.Seq {
			return val{}, false
		}
		return val{f.plain(f.typed(e.Args[0]), shape.Seq).atom() + ".Head()", s.Elem, precAtom}, true
	}
	base := f.base(want, shape.Seq)
	if base.Kind != shape.Seq {
		return val{}, false
	}
	seq := func(i int) string { return f.asVal(e.Args[i], base).atom() }
	var code string
	switch e.Def.Name {
	case "Tail":
		code = seq(0) + ".Tail()"
	case "Append":
		code = seq(0) + ".Append(" + f.as(e.Args[1], base.Elem) + ")"
	case "\\o", "\\circ":
		code = seq(0) + ".Concat(" + f.as(e.Args[1], base) + ")"
	case "SubSeq":
		code = seq(0) + ".Sub(" + f.as(e.Args[1], g.int) + ", " + f.as(e.Args[2], g.int) + ")"
	case "SelectSeq":
		params, _ := f.sc.Argument(e.Args[1])
		if len(params) != 1 || params[0] != base.Elem {
			return val{}, false
		}
		code = fmt.Sprintf("%s.Select(%s)", seq(0), f.strictArg(e.Args[1], params, g.bool))
	default:
		return val{}, false
	}
	return f.coerce(val{code, base, precAtom}, want), true
}

// otherNative compiles the operators of FiniteSets and TLC.
func (f *fn) otherNative(e *core.Call) (val, bool) {
	g := f.g
	want := f.shapeOf(e)
	switch e.Def.Module + "!" + e.Def.Name {
	case "FiniteSets!Cardinality":
		if _, symbolic := f.symbolicForm(e.Args[0]); symbolic {
			return val{"value.Cardinality(" + f.as(e.Args[0], g.any) + ")", g.int, precAtom}, true
		}
		if s := f.shapeOf(e.Args[0]); s.Kind == shape.Set && !s.Model {
			return val{f.typed(e.Args[0]).atom() + ".Size()", g.int, precAtom}, true
		}
	case "FiniteSets!IsFiniteSet":
		return val{"value.IsFinite(" + f.as(e.Args[0], g.any) + ")", g.bool, precAtom}, true
	case "TLC!Print", "TLC!PrintT":
		g.diags.Add(source.Diagnostic{Severity: source.Warning, Code: PrintInExpression, Span: e.Span(),
			Message: e.Def.Name + " in an expression prints nothing in compiled code", Repair: "use a print statement"})
		if e.Def.Name == "PrintT" {
			return val{"true", g.bool, precAtom}, true
		}
		return f.asVal(e.Args[1], want), true
	case "TLC!Assert":
		return val{fmt.Sprintf("typed.Assert(%s, %s)", f.boolean(e.Args[0]).code, f.as(e.Args[1], g.any)), g.bool, precAtom}, true
	case "TLC!:>":
		if want.Kind == shape.Fn && !want.Model {
			k, v := g.typeOf(want.Key), g.typeOf(want.Elem)
			return val{fmt.Sprintf("typed.Single[%s, %s](%s, %s)", k.kind, v.kind, f.as(e.Args[0], want.Key), f.as(e.Args[1], want.Elem)), want, precAtom}, true
		}
	case "TLC!@@":
		if want.Kind == shape.Fn && !want.Model {
			return val{f.asVal(e.Args[0], want).atom() + ".Over(" + f.as(e.Args[1], want) + ")", want, precAtom}, true
		}
	}
	return val{}, false
}

// nativeValue calls the implementation on values.
func (f *fn) nativeValue(e *core.Call) val {
	d := e.Def
	op := stdlib.Lookup(d.Module, d.Name)
	if op == nil {
		return f.refuse(e, Unsupported, fmt.Sprintf("the operator %s of module %s has no compiled form", d.Name, d.Module), "")
	}
	if op.Effects {
		return f.refuse(e, Effects, fmt.Sprintf("%s is not a function of its arguments: compiled sections may run several times for one step", d.Name),
			"read its value from a resource")
	}
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		if d.Params[i].Arity > 0 {
			args[i] = "{Op: " + f.operatorValue(a, d.Params[i].Arity) + "}"
		} else {
			args[i] = "{Val: " + f.as(a, f.g.any) + "}"
		}
	}
	list := "nil"
	if len(args) > 0 {
		list = "[]stdlib.Arg{" + strings.Join(args, ", ") + "}"
	}
	v := val{f.g.nativeVar(op) + ".Call(nil, " + list + ")", f.g.any, precAtom}
	return f.coerce(v, f.shapeOf(e))
}

// nativeVar returns the package variable that holds a native operator.
func (g *generator) nativeVar(op *stdlib.Op) string {
	key := op.Module + "!" + op.Name
	if name, ok := g.natives[key]; ok {
		return name
	}
	name := g.names.fresh("native" + upperFirst(goName(op.Name)))
	g.natives[key] = name
	g.nativeDecls.emit("%s = stdlib.Lookup(%q, %q)", name, op.Module, op.Name)
	return name
}

// operatorValue compiles an operator argument to a function on values.
func (f *fn) operatorValue(a core.Expr, arity int) string {
	g := f.g
	saved := f.names
	f.names = newNames(saved)
	defer func() { f.names = saved }()
	args := f.names.fresh("args")
	arg := func(i int) val { return val{fmt.Sprintf("%s[%d]", args, i), g.any, precAtom} }
	return f.closure([]string{args + " []value.Value"}, "value.Value", func() string {
		switch a := a.(type) {
		case *core.Lambda:
			var ends []func()
			for i, p := range a.Params {
				ends = append(ends, f.enter(core.Bind{Vars: []*core.Local{p}}, arg(i)))
			}
			code := f.as(a.Body, g.any)
			for _, end := range ends {
				end()
			}
			return code
		case *core.LocalRef:
			if op, ok := f.ops[a.Local]; ok {
				params, result := f.sc.Operator(a.Local)
				list := make([]string, len(params))
				for i, p := range params {
					list[i] = f.coerce(arg(i), p).code
					if op.args[i].lazy {
						list[i] = "func() " + f.g.typeOf(p).name + " { return " + list[i] + " }"
					}
				}
				return f.coerce(val{op.name + "(" + strings.Join(list, ", ") + ")", result, precAtom}, g.any).code
			}
		case *core.OpRef:
			shapes, names := make([]*shape.Shape, arity), make([]string, arity)
			for i := range shapes {
				shapes[i], names[i] = g.any, arg(i).code
			}
			return f.coerce(f.callRef(a, shapes, names, make([]passing, arity), arg), g.any).code
		}
		return f.refuse(a, Unsupported, "this operator cannot be passed in compiled code", "write it as a LAMBDA").code
	})
}

// strictArg is operatorArg for callers that pass values.
func (f *fn) strictArg(a core.Expr, params []*shape.Shape, result *shape.Shape) string {
	pass := make([]passing, len(params))
	if l, ok := a.(*core.LocalRef); ok {
		if op, ok := f.ops[l.Local]; ok {
			names, list := make([]string, len(params)), make([]string, len(params))
			for i, p := range params {
				names[i] = f.names.fresh("x")
				list[i] = names[i] + " " + f.g.typeOf(p).name
				if op.args[i].lazy {
					names[i] = "func() " + f.g.typeOf(p).name + " { return " + names[i] + " }"
				}
			}
			return f.closure(list, f.g.typeOf(result).name, func() string { return op.name + "(" + strings.Join(names, ", ") + ")" })
		}
	}
	return f.operatorArg(a, params, result, pass)
}

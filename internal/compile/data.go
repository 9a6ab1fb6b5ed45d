// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// record is [a |-> e, ...].
func (f *fn) record(e *core.Record) val {
	s := f.shapeOf(e)
	base := f.base(s, shape.Record)
	if base.Kind != shape.Record {
		parts := make([]string, len(e.Fields))
		for i, fl := range e.Fields {
			parts[i] = fmt.Sprintf("{Name: %q, Val: %s}", fl.Name, f.as(fl.X, f.g.any))
		}
		return f.coerce(val{"value.Record([]value.Field{" + strings.Join(parts, ", ") + "})", f.g.any, precAtom}, s)
	}
	t := f.g.typeOf(base)
	var parts []string
	for _, fl := range e.Fields {
		i := fieldIndex(base, fl.Name)
		parts = append(parts, t.fields[i]+": "+f.as(fl.X, base.Fields[i].Shape))
		if base.Fields[i].Optional {
			parts = append(parts, hasName(t.fields[i])+": true")
		}
	}
	return f.coerce(val{t.name + "{" + strings.Join(parts, ", ") + "}", base, precAtom}, s)
}

func fieldIndex(s *shape.Shape, name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// tuple compiles <<a, b>>, which may be a sequence.
func (f *fn) tuple(e *core.Tuple) val {
	s := f.shapeOf(e)
	base := f.base(s, shape.Seq, shape.Tuple)
	switch base.Kind {
	case shape.Seq:
		t := f.g.typeOf(base)
		parts := make([]string, len(e.Elems))
		for i, x := range e.Elems {
			parts[i] = f.as(x, base.Elem)
		}
		if len(parts) == 0 {
			return f.coerce(val{t.zero, base, precAtom}, s)
		}
		e := f.g.typeOf(base.Elem)
		return f.coerce(val{fmt.Sprintf("typed.NewSeq[%s, %s](%s)", e.kind, e.name, strings.Join(parts, ", ")), base, precAtom}, s)
	case shape.Tuple:
		t := f.g.typeOf(base)
		parts := make([]string, len(e.Elems))
		for i, x := range e.Elems {
			parts[i] = t.fields[i] + ": " + f.as(x, base.Elems[i])
		}
		return f.coerce(val{t.name + "{" + strings.Join(parts, ", ") + "}", base, precAtom}, s)
	}
	parts := make([]string, len(e.Elems))
	for i, x := range e.Elems {
		parts[i] = f.as(x, f.g.any)
	}
	return f.coerce(val{"value.Tuple(" + strings.Join(parts, ", ") + ")", f.g.any, precAtom}, s)
}

// selectField is x.name.
func (f *fn) selectField(x val, name string, want *shape.Shape) val {
	x = f.plain(x, shape.Record, shape.Fn)
	switch x.shape.Kind {
	case shape.Record:
		i := fieldIndex(x.shape, name)
		if i < 0 {
			break
		}
		t := f.g.typeOf(x.shape)
		fl := x.shape.Fields[i]
		if fl.Optional {
			return val{x.atom() + "." + getName(t.fields[i]) + "()", fl.Shape, precAtom}
		}
		return val{x.atom() + "." + t.fields[i], fl.Shape, precAtom}
	case shape.Fn:
		if x.shape.Key == f.g.str {
			return val{fmt.Sprintf("%s.At(%q)", x.atom(), name), x.shape.Elem, precAtom}
		}
	}
	v := val{fmt.Sprintf("%s.Field(%q)", f.coerce(x, f.g.any).atom(), name), f.g.any, precAtom}
	return f.coerce(v, want)
}

// apply is fn[x].
func (f *fn) apply(e *core.Apply) val {
	if v, ok := f.readInPlace(e); ok {
		return v
	}
	if v, ok := f.applyDefined(e); ok {
		return v
	}
	return f.applyTo(f.typed(e.Fn), e.Arg, f.shapeOf(e))
}

func (f *fn) applyTo(x val, arg core.Expr, want *shape.Shape) val {
	x = f.plain(x, shape.Seq, shape.Fn, shape.Tuple, shape.Record)
	s := x.shape
	switch s.Kind {
	case shape.Seq:
		return val{x.atom() + ".At(" + f.as(arg, f.g.int) + ")", s.Elem, precAtom}
	case shape.Fn:
		return val{x.atom() + ".At(" + f.as(arg, s.Key) + ")", s.Elem, precAtom}
	case shape.Tuple:
		if lit, ok := arg.(*core.Int); ok && lit.Val >= 1 && lit.Val <= int64(len(s.Elems)) {
			return val{x.atom() + "." + f.g.typeOf(s).fields[lit.Val-1], s.Elems[lit.Val-1], precAtom}
		}
	case shape.Record:
		if lit, ok := arg.(*core.Str); ok && fieldIndex(s, lit.Val) >= 0 {
			return f.selectField(x, lit.Val, want)
		}
	}
	v := val{f.coerce(x, f.g.any).atom() + ".Apply(" + f.as(arg, f.g.any) + ")", f.g.any, precAtom}
	return f.coerce(v, want)
}

// domain is DOMAIN x.
func (f *fn) domain(e *core.Op) val {
	if def, ok := e.Args[0].(*core.Fn); ok && def.Self == nil && len(single(def.Binds)) == 1 {
		// The code need not compute the values of the function.
		return f.coerce(f.typed(def.Binds[0].Set), f.shapeOf(e))
	}
	x := f.plain(f.typed(e.Args[0]), shape.Seq, shape.Fn, shape.Tuple, shape.Record)
	want := f.shapeOf(e)
	switch s := x.shape; s.Kind {
	case shape.Seq:
		return f.coerce(val{x.atom() + ".Domain()", f.g.setOf(f.g.int), precAtom}, want)
	case shape.Fn:
		return f.coerce(val{x.atom() + ".Domain()", f.g.setOf(s.Key), precAtom}, want)
	}
	return f.coerce(val{f.coerce(x, f.g.any).atom() + ".Domain()", f.g.any, precAtom}, want)
}

// newValue is a value to store at a path. sure means that computing it cannot
// fail, so that the code may compute it even if the path does not exist.
type newValue struct {
	at   *core.Local // bound to what was there, nil where that is not asked for
	code func(*shape.Shape) string
	sure bool
}

// except is [x EXCEPT !path = e, ...].
func (f *fn) except(e *core.Except) val {
	v := f.typed(e.Fn)
	for _, u := range e.Updates {
		v = f.update(v, u.Path, newValue{u.At, func(want *shape.Shape) string { return f.as(u.Value, want) }, f.total(u.Value)})
	}
	return v
}

// update compiles base with the value at path replaced. If base has nothing at
// path, it stays unchanged and the code does not compute the new value.
func (f *fn) update(base val, path []core.Index, nv newValue) val {
	if len(path) == 0 {
		if nv.at != nil {
			base = f.temp(base, "old")
			f.bind(nv.at, base)
		}
		return val{nv.code(base.shape), base.shape, precAtom}
	}
	full := base.shape
	x := f.plain(base, shape.Seq, shape.Fn, shape.Tuple, shape.Record)
	step := path[0]
	switch {
	case x.shape.Kind == shape.Any:
		return f.coerce(f.updateValue(x, path, nv), full)
	case x.shape.Kind == shape.Record:
		if name, ok := fieldStep(step); ok && fieldIndex(x.shape, name) >= 0 {
			return f.coerce(f.updateField(x, fieldIndex(x.shape, name), path[1:], nv), full)
		}
	case x.shape.Kind == shape.Tuple:
		if lit, ok := step.X.(*core.Int); ok && lit.Val >= 1 && lit.Val <= int64(len(x.shape.Elems)) {
			return f.coerce(f.updateField(x, int(lit.Val-1), path[1:], nv), full)
		}
	case x.shape.Kind == shape.Seq && step.X != nil && f.shapeOf(step.X) == f.g.int:
		return f.coerce(f.updateAt(x, f.as(step.X, f.g.int), path[1:], nv), full)
	case x.shape.Kind == shape.Fn && step.X != nil && f.shapeOf(step.X) == x.shape.Key:
		return f.coerce(f.updateAt(x, f.as(step.X, x.shape.Key), path[1:], nv), full)
	case x.shape.Kind == shape.Fn && step.X == nil && x.shape.Key == f.g.str:
		return f.coerce(f.updateAt(x, fmt.Sprintf("%q", step.Field), path[1:], nv), full)
	}
	return f.coerce(f.updateValue(f.coerce(x, f.g.any), path, nv), full)
}

func fieldStep(ix core.Index) (string, bool) {
	if ix.X == nil {
		return ix.Field, true
	}
	s, ok := ix.X.(*core.Str)
	if !ok {
		return "", false
	}
	return s.Val, true
}

// updateField changes a field of a struct.
func (f *fn) updateField(x val, i int, rest []core.Index, nv newValue) val {
	t := f.g.typeOf(x.shape)
	name := f.names.fresh("r")
	f.out.emit("%s := %s", name, x.code)
	field := name + "." + t.fields[i]
	var s *shape.Shape
	optional := false
	if x.shape.Kind == shape.Record {
		s, optional = x.shape.Fields[i].Shape, x.shape.Fields[i].Optional
	} else {
		s = x.shape.Elems[i]
	}
	set := func() { f.out.emit("%s = %s", field, f.update(val{field, s, precAtom}, rest, nv).code) }
	if optional {
		f.out.emit("if %s.%s {", name, hasName(t.fields[i]))
		f.out.append(f.capture(set))
		f.out.emit("}")
	} else {
		set()
	}
	return val{name, x.shape, precAtom}
}

// updateAt changes an element of a sequence or function.
func (f *fn) updateAt(x val, key string, rest []core.Index, nv newValue) val {
	if len(rest) == 0 && nv.at == nil && nv.sure {
		return val{fmt.Sprintf("%s.With(%s, %s)", x.atom(), key, nv.code(x.shape.Elem)), x.shape, precAtom}
	}
	elem := f.g.typeOf(x.shape.Elem).name
	param := "_"
	if len(rest) > 0 || nv.at != nil {
		param = f.names.fresh("old")
	}
	body := f.closure([]string{param + " " + elem}, elem, func() string {
		return f.update(val{param, x.shape.Elem, precAtom}, rest, nv).code
	})
	return val{fmt.Sprintf("%s.Update(%s, %s)", x.atom(), key, body), x.shape, precAtom}
}

// updateValue changes a value that has no Go type.
func (f *fn) updateValue(x val, path []core.Index, nv newValue) val {
	steps := make([]string, len(path))
	for i, ix := range path {
		if ix.X == nil {
			steps[i] = fmt.Sprintf("value.String(%q)", ix.Field)
		} else {
			steps[i] = f.as(ix.X, f.g.any)
		}
	}
	param := "_"
	if nv.at != nil {
		param = f.names.fresh("old")
	}
	body := f.closure([]string{param + " value.Value"}, "value.Value", func() string {
		return f.update(val{param, f.g.any, precAtom}, nil, nv).code
	})
	return val{fmt.Sprintf("typed.UpdateValue(%s, %s, %s)", x.code, body, strings.Join(steps, ", ")), f.g.any, precAtom}
}

// closure writes a function literal. body writes its statements and returns the
// result.
func (f *fn) closure(params []string, result string, body func() string) string {
	var code string
	w := f.capture(func() { code = body() })
	head := "func(" + strings.Join(params, ", ") + ") " + result + " {"
	if w.empty() && len(code) < 100 && !strings.Contains(code, "\n") {
		return head + " return " + code + " }"
	}
	return head + "\n" + w.String() + "return " + code + "\n}"
}

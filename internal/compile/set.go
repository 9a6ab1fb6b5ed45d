// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// seen is an expression together with the scope and the bindings in which to
// interpret it.
type seen struct {
	e  core.Expr
	sc *shape.Scope
}

// form expands definitions of modules that have no parameters, so that with
// "NodeSet == 1..N" each use of NodeSet is recognised as an interval. Such a
// definition mentions no bound names.
func (f *fn) form(e core.Expr) seen {
	s := seen{e, f.sc}
	for range 100 {
		c, ok := s.e.(*core.Call)
		if !ok || len(c.Args) > 0 || c.Def.Native || c.Def.Body == nil || f.lets[c.Def] != nil || f.g.givenShape(c.Def) != nil {
			break
		}
		sc := s.sc.Callee(c)
		if sc == nil {
			break
		}
		s = seen{c.Def.Body, sc}
	}
	return s
}

// interval reports whether e is a..b, and returns its ends.
func (f *fn) interval(e core.Expr) (lo, hi core.Expr, sc *shape.Scope, ok bool) {
	s := f.form(e)
	c, is := s.e.(*core.Call)
	if !is || !c.Def.Native || c.Def.Name != ".." || len(c.Args) != 2 {
		return nil, nil, nil, false
	}
	return c.Args[0], c.Args[1], s.sc, true
}

// bounds writes the ends of an interval.
func (f *fn) bounds(lo, hi core.Expr, sc *shape.Scope) (a, b string) {
	f.within(sc, func() { a, b = f.as(lo, f.g.int), f.as(hi, f.g.int) })
	return a, b
}

// namedSet returns the name of a set of a standard module: Nat, Int, Real.
func namedSet(e core.Expr) string {
	if c, ok := e.(*core.Call); ok && c.Def.Native && len(c.Args) == 0 {
		switch c.Def.Name {
		case "Nat", "Int", "Real":
			return c.Def.Name
		}
	}
	return ""
}

// seqOf returns the argument of Seq(S).
func seqOf(e core.Expr) (core.Expr, bool) {
	if c, ok := e.(*core.Call); ok && c.Def.Native && c.Def.Name == "Seq" && len(c.Args) == 1 {
		return c.Args[0], true
	}
	return nil, false
}

// symbolic compiles a set that is too large to enumerate to a value.Value,
// which represents it as a formula.
func (f *fn) symbolic(e core.Expr) (val, bool) {
	g := f.g
	s := f.form(e)
	var code string
	f.within(s.sc, func() {
		all := func(list []core.Expr) string {
			parts := make([]string, len(list))
			for i, x := range list {
				parts[i] = f.as(x, g.any)
			}
			return strings.Join(parts, ", ")
		}
		switch e := s.e.(type) {
		case *core.Call:
			switch namedSet(e) {
			case "Nat":
				code = "value.Nat()"
			case "Int":
				code = "value.Ints()"
			case "Real":
				code = "value.Reals()"
			}
			if x, ok := seqOf(e); ok {
				code = "value.Seqs(" + f.as(x, g.any) + ")"
			}
			if e.Def.Native && e.Def.Name == ".." && len(e.Args) == 2 {
				code = fmt.Sprintf("value.Interval(%s, %s)", f.as(e.Args[0], g.int), f.as(e.Args[1], g.int))
			}
		case *core.FnSet:
			code = "value.FnSet(" + all([]core.Expr{e.Dom, e.Rng}) + ")"
		case *core.Times:
			code = "value.Times(" + all(e.Sets) + ")"
		case *core.RecordSet:
			parts := make([]string, len(e.Fields))
			for i, fl := range e.Fields {
				parts[i] = fmt.Sprintf("{Name: %q, Val: %s}", fl.Name, f.as(fl.X, g.any))
			}
			code = "value.RecordSet([]value.Field{" + strings.Join(parts, ", ") + "})"
		case *core.Op:
			switch e.Op {
			case core.OpSubset:
				code = "value.Subsets(" + f.as(e.Args[0], g.any) + ")"
			case core.OpString:
				code = "value.Strings()"
			}
		}
	})
	return val{code, g.any, precAtom}, code != ""
}

// filtered compiles x \in {y \in S : p}; base is the condition for S.
func (f *fn) filtered(x val, e *core.SetFilter, base func(val) val) val {
	l := e.Bind.Vars[0]
	x = f.temp(x, l.Name)
	in := base(x)
	var pred val
	w := f.capture(func() {
		f.bind(l, f.coerce(x, f.sc.Local(l)))
		pred = f.boolean(e.Pred)
	})
	if in.code == "true" && w.empty() {
		return pred
	}
	return f.guarded(in, w, pred)
}

// keep returns v after evaluating x, which matters if the evaluation of x can
// fail.
func (f *fn) keep(x, v val) val {
	if !x.simple() {
		f.out.emit("_ = %s", x.code)
	}
	return v
}

// guarded compiles a && b if b needs statements.
func (f *fn) guarded(a val, w *writer, b val) val {
	if w.empty() {
		j := &joined{op: "&&", prec: precAnd}
		j.add(a)
		j.add(b)
		return j.val(f.g.bool)
	}
	t := f.names.fresh("ok")
	f.out.emit("%s := %s", t, a.code)
	f.out.emit("if %s {", header(t))
	f.out.append(w)
	f.out.emit("%s = %s", t, b.code)
	f.out.emit("}")
	return val{t, f.g.bool, precAtom}
}

// all returns the conjunction of conditions.
func (f *fn) all(list []func() val) val {
	v := val{"true", f.g.bool, precAtom}
	for _, next := range list {
		var c val
		w := f.capture(func() { c = next() })
		switch {
		case c.code == "true" && w.empty():
		case v.code == "true" && w.empty():
			v = c
		default:
			v = f.guarded(v, w, c)
		}
	}
	return v
}

// operand prepares a set for membership tests. An enumerable set is computed
// now, once; for a formula there is only a condition.
func (f *fn) operand(set core.Expr) func(x val) val {
	if lo, hi, sc, ok := f.interval(set); ok {
		a, b := f.bounds(lo, hi, sc)
		a, b = f.temp(val{a, f.g.int, precAtom}, "low").code, f.temp(val{b, f.g.int, precAtom}, "high").code
		return func(x val) val {
			if x.shape == f.g.int {
				return val{fmt.Sprintf("typed.HasInt(%s, %s, %s)", x.code, a, b), f.g.bool, precAtom}
			}
			return val{fmt.Sprintf("value.Contains(value.Interval(%s, %s), %s)", a, b, f.coerce(x, f.g.any).code), f.g.bool, precAtom}
		}
	}
	if form := f.form(set); f.isFormula(set) {
		sc := f.sc
		if e, ok := form.e.(*core.SetFilter); ok && !e.Bind.Tuple && len(e.Bind.Vars) == 1 {
			var base func(val) val
			f.within(form.sc, func() { base = f.operand(e.Bind.Set) })
			return func(x val) (in val) {
				f.within(form.sc, func() { in = f.filtered(x, e, base) })
				return in
			}
		}
		return func(x val) (in val) {
			f.within(sc, func() { in = f.member(x, set) })
			return in
		}
	}
	s := f.temp(f.typed(set), "set")
	return func(x val) val { return f.has(s, x) }
}

// isFormula reports whether membership in the set is better decided by a
// condition: the set is infinite, large, or composed of such sets.
func (f *fn) isFormula(set core.Expr) bool {
	s, yes := f.symbolicForm(set)
	if yes {
		return true
	}
	switch e := s.e.(type) {
	case *core.SetFilter:
		return true
	case *core.Op:
		switch e.Op {
		case core.OpCup, core.OpCap, core.OpDiff:
			f.within(s.sc, func() { yes = f.isFormula(e.Args[0]) || f.isFormula(e.Args[1]) })
			return yes
		case core.OpBoolean:
			return true
		}
	}
	return false
}

// has compiles x \in s for an enumerated set.
func (f *fn) has(s, x val) val {
	g := f.g
	if s.shape.Kind == shape.Set && !s.shape.Model && (s.shape.Elem == x.shape || f.joins(x.shape, s.shape.Elem)) {
		return val{s.atom() + ".Has(" + f.coerce(x, s.shape.Elem).code + ")", g.bool, precAtom}
	}
	return val{fmt.Sprintf("value.Contains(%s, %s)", f.coerce(s, g.any).code, f.coerce(x, g.any).code), g.bool, precAtom}
}

// each compiles the condition that every element of the collection x is in set.
func (f *fn) each(x val, elem *shape.Shape, set core.Expr) val {
	test := f.operand(set)
	var name string
	var in val
	w := f.capture(func() {
		name = f.names.fresh("x")
		in = test(val{name, elem, precAtom})
	})
	if in.code == "true" && w.empty() {
		return f.keep(x, in)
	}
	body := "func(" + name + " " + f.g.typeOf(elem).name + ") bool {\n" + w.String() + "return " + in.code + "\n}"
	if w.empty() {
		body = "func(" + name + " " + f.g.typeOf(elem).name + ") bool { return " + in.code + " }"
	}
	return val{fmt.Sprintf("typed.All(%s, %s)", x.code, body), f.g.bool, precAtom}
}

// symbolicForm reports whether the set is better not enumerated.
func (f *fn) symbolicForm(e core.Expr) (seen, bool) {
	s := f.form(e)
	switch x := s.e.(type) {
	case *core.FnSet, *core.Times, *core.RecordSet:
		return s, true
	case *core.Op:
		return s, x.Op == core.OpSubset || x.Op == core.OpString
	case *core.Call:
		_, isSeq := seqOf(x)
		return s, isSeq || namedSet(x) != "" || x.Def.Native && x.Def.Name == ".."
	}
	return s, false
}

// setOp compiles union, intersection and difference.
func (f *fn) setOp(e *core.Op) val {
	g := f.g
	want := f.shapeOf(e)
	names := map[core.OpCode][2]string{core.OpCup: {"Union", "Union"}, core.OpCap: {"Intersect", "Intersect"}, core.OpDiff: {"Minus", "Diff"}}[e.Op]
	sb := f.shapeOf(e.Args[1])
	if want.Kind == shape.Set && !want.Model && f.shapeOf(e.Args[0]) == want {
		if sb == want {
			if one := singleton(e.Args[0]); one != nil && e.Op == core.OpCup {
				x := f.as(one, want.Elem)
				return val{f.typed(e.Args[1]).atom() + ".Add(" + x + ")", want, precAtom}
			}
			if one := singleton(e.Args[1]); one != nil && e.Op != core.OpCap {
				method := map[core.OpCode]string{core.OpCup: "Add", core.OpDiff: "Remove"}[e.Op]
				return val{f.typed(e.Args[0]).atom() + "." + method + "(" + f.as(one, want.Elem) + ")", want, precAtom}
			}
			return val{f.typed(e.Args[0]).atom() + "." + names[0] + "(" + f.as(e.Args[1], want) + ")", want, precAtom}
		}
		if _, formula := f.symbolicForm(e.Args[1]); formula && e.Op != core.OpCup {
			// The right side is not enumerated, so test membership in it.
			a := f.typed(e.Args[0])
			var keep val
			name := ""
			w := f.capture(func() {
				name = f.names.fresh("x")
				keep = f.member(val{name, want.Elem, precAtom}, e.Args[1])
			})
			if e.Op == core.OpDiff {
				keep = f.not(keep)
			}
			return val{fmt.Sprintf("typed.Filter(%s, func(%s %s) bool {\n%sreturn %s\n})", a.code, name, g.typeOf(want.Elem).name, w, keep.code), want, precAtom}
		}
	}
	v := val{fmt.Sprintf("value.%s(%s, %s)", names[1], f.as(e.Args[0], g.any), f.as(e.Args[1], g.any)), g.any, precAtom}
	return f.coerce(v, want)
}

// singleton returns the element of {x}.
func singleton(e core.Expr) core.Expr {
	if s, ok := e.(*core.SetEnum); ok && len(s.Elems) == 1 {
		return s.Elems[0]
	}
	return nil
}

func (f *fn) powerset(e *core.Op) val {
	want := f.shapeOf(e)
	if want.Kind == shape.Set && !want.Model && f.shapeOf(e.Args[0]) == want.Elem && want.Elem.Kind == shape.Set && !want.Elem.Model {
		return val{"typed.Subsets(" + f.typed(e.Args[0]).code + ")", want, precAtom}
	}
	return f.coerce(val{"value.Subsets(" + f.as(e.Args[0], f.g.any) + ")", f.g.any, precAtom}, want)
}

func (f *fn) bigUnion(e *core.Op) val {
	want := f.shapeOf(e)
	have := f.shapeOf(e.Args[0])
	if have.Kind == shape.Set && !have.Model && have.Elem == want && want.Kind == shape.Set && !want.Model {
		return val{"typed.BigUnion(" + f.typed(e.Args[0]).code + ")", want, precAtom}
	}
	return f.coerce(val{"value.BigUnion(" + f.as(e.Args[0], f.g.any) + ")", f.g.any, precAtom}, want)
}

// set writes a set that is built.
func (f *fn) set(e core.Expr) val {
	g := f.g
	want := f.shapeOf(e)
	base := f.base(want, shape.Set)
	if base.Kind != shape.Set {
		return f.anySet(e, want)
	}
	elem := g.typeOf(base.Elem)
	switch e := e.(type) {
	case *core.SetEnum:
		parts := make([]string, len(e.Elems))
		for i, x := range e.Elems {
			parts[i] = f.as(x, base.Elem)
		}
		return f.coerce(val{fmt.Sprintf("typed.NewSet[%s](%s)", elem.kind, strings.Join(parts, ", ")), base, precAtom}, want)
	case *core.SetFilter:
		return f.coerce(f.filter(e, base), want)
	case *core.SetMap:
		if len(e.Binds) == 1 && len(e.Binds[0].Vars) == 1 && !e.Binds[0].Tuple {
			src := f.source(e.Binds[0].Set)
			body := f.over(src, e.Binds[0], elem.name, func() string { return f.as(e.Body, base.Elem) })
			fn := "typed.Collect"
			if src.shape.Kind == shape.Any {
				fn = "typed.MapValues"
			}
			return f.coerce(val{fmt.Sprintf("%s[%s](%s, %s)", fn, elem.kind, src.code, body), base, precAtom}, want)
		}
		return f.coerce(f.collect(e.Binds, base, func() string { return f.as(e.Body, base.Elem) }), want)
	case *core.Times:
		var binds []core.Bind
		for i, s := range e.Sets {
			binds = append(binds, core.Bind{Vars: []*core.Local{{Name: fmt.Sprintf("x%d", i+1)}}, Set: s})
		}
		return f.coerce(f.collect(binds, base, func() string {
			return f.structOf(base.Elem, func(i int) val { return f.use(binds[i].Vars[0]) })
		}), want)
	case *core.RecordSet:
		var binds []core.Bind
		for _, fl := range e.Fields {
			binds = append(binds, core.Bind{Vars: []*core.Local{{Name: fl.Name}}, Set: fl.X})
		}
		return f.coerce(f.collect(binds, base, func() string { return f.recordOf(base.Elem, e, binds) }), want)
	case *core.FnSet:
		return f.coerce(f.functions(e, base), want)
	}
	panic("compile: set")
}

// anySet builds a set that has no Go type.
func (f *fn) anySet(e core.Expr, want *shape.Shape) val {
	g := f.g
	switch e := e.(type) {
	case *core.SetEnum:
		parts := make([]string, len(e.Elems))
		for i, x := range e.Elems {
			parts[i] = f.as(x, g.any)
		}
		return f.coerce(val{"value.Set(" + strings.Join(parts, ", ") + ")", g.any, precAtom}, want)
	case *core.SetFilter:
		src := f.source(e.Bind.Set)
		body := f.over(src, e.Bind, "bool", func() string { return f.boolean(e.Pred).code })
		if src.shape.Kind == shape.Any {
			return f.coerce(val{"value.LazyFilter(" + src.code + ", " + body + ")", g.any, precAtom}, want)
		}
		return f.coerce(val{"typed.Filter(" + src.code + ", " + body + ")", src.shape, precAtom}, want)
	case *core.SetMap:
		code := f.collectList(e.Binds, g.any, func() string { return f.as(e.Body, g.any) })
		return f.coerce(val{"value.SetOf(" + code + ")", g.any, precAtom}, want)
	}
	if v, ok := f.symbolic(e); ok {
		return f.coerce(v, want)
	}
	return f.refuse(e, Unsupported, "this set cannot be built in compiled code", "")
}

func (f *fn) functions(e *core.FnSet, want *shape.Shape) val {
	dom, rng := f.shapeOf(e.Dom), f.shapeOf(e.Rng)
	if want.Elem.Kind == shape.Seq && rng.Kind == shape.Set && rng.Elem == want.Elem.Elem {
		if _, hi, sc, ok := f.interval(e.Dom); ok {
			var n string
			f.within(sc, func() { n = f.as(hi, f.g.int) })
			return val{fmt.Sprintf("typed.AllSeqs(%s, %s)", n, f.typed(e.Rng).code), want, precAtom}
		}
	}
	if want.Elem.Kind == shape.Fn && dom.Kind == shape.Set && rng.Kind == shape.Set && dom.Elem == want.Elem.Key && rng.Elem == want.Elem.Elem {
		return val{fmt.Sprintf("typed.AllFns(%s, %s)", f.typed(e.Dom).code, f.typed(e.Rng).code), want, precAtom}
	}
	v, _ := f.symbolic(e)
	return f.coerce(v, want)
}

// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// source is the set of a bound, ready for iteration: a typed.Set, or a
// value.Value if the set has no Go type.
func (f *fn) source(set core.Expr) val {
	v := f.plain(f.typed(set), shape.Set)
	if v.shape.Kind != shape.Set && v.shape.Kind != shape.Any {
		return f.coerce(v, f.g.any)
	}
	return v
}

// elemOf returns the shape of a source's elements.
func (f *fn) elemOf(src val) *shape.Shape {
	if src.shape.Kind == shape.Any {
		return f.g.any
	}
	return src.shape.Elem
}

// use is a bound name within an expression.
func (f *fn) use(l *core.Local) val {
	b := f.bound[l]
	b.used = true
	return b.val
}

// enter binds the names of b to x, an element of the set. It writes the
// statements for that to the current writer; finish removes those for unused
// names.
func (f *fn) enter(b core.Bind, x val) (finish func()) {
	if !b.Tuple {
		l := b.Vars[0]
		want := f.sc.Local(l)
		if want == nil || want == x.shape {
			f.bind(l, x)
			return func() {}
		}
		slot := f.out.slot()
		name := f.names.fresh(l.Name)
		bound := f.bind(l, val{name, want, precAtom})
		return func() {
			if bound.used {
				slot.emit("%s := %s", name, f.coerce(x, want).code)
			}
		}
	}
	// b is a pattern: its names stand for the components of a tuple.
	slot := f.out.slot()
	type comp struct {
		b    *local
		code string
	}
	var comps []comp
	for i, l := range b.Vars {
		want := f.sc.Local(l)
		var c val
		switch {
		case x.shape.Kind == shape.Tuple && !x.shape.Model && len(x.shape.Elems) == len(b.Vars):
			c = val{x.code + "." + f.g.typeOf(x.shape).fields[i], x.shape.Elems[i], precAtom}
		case x.shape.Kind == shape.Seq && !x.shape.Model:
			c = val{fmt.Sprintf("%s.At(%d)", x.code, i+1), x.shape.Elem, precAtom}
		default:
			c = val{fmt.Sprintf("%s.Apply(value.Int(%d))", f.coerce(x, f.g.any).atom(), i+1), f.g.any, precAtom}
		}
		if want == nil {
			want = c.shape
		}
		name := f.names.fresh(l.Name)
		comps = append(comps, comp{f.bind(l, val{name, want, precAtom}), name + " := " + f.coerce(c, want).code})
	}
	return func() {
		for _, c := range comps {
			if c.b.used {
				slot.emit("%s", c.code)
			}
		}
	}
}

// single splits bounds until each binds one element: x, y \in S becomes two.
func single(binds []core.Bind) []core.Bind {
	var out []core.Bind
	for _, b := range binds {
		if b.Tuple {
			out = append(out, b)
			continue
		}
		for _, v := range b.Vars {
			out = append(out, core.Bind{Vars: []*core.Local{v}, Set: b.Set})
		}
	}
	return out
}

func bindName(b core.Bind) string {
	if b.Tuple {
		return "t"
	}
	return b.Vars[0].Name
}

// over writes the function literal applied to each element of a source.
func (f *fn) over(src val, b core.Bind, result string, body func() string) string {
	elem := f.elemOf(src)
	saved := f.names
	f.names = newNames(saved)
	name := f.names.fresh(bindName(b))
	param := name + " " + f.g.typeOf(elem).name
	code := f.closure([]string{param}, result, func() string {
		finish := f.enter(b, val{name, elem, precAtom})
		code := body()
		finish()
		return code
	})
	f.names = saved
	return code
}

// overInts is over for an interval.
func (f *fn) overInts(b core.Bind, result string, body func() string) string {
	return f.over(val{shape: f.g.setOf(f.g.int)}, b, result, body)
}

// isInterval reports whether the bound ranges over a..b, and writes the ends.
func (f *fn) isInterval(b core.Bind) (lo, hi string, ok bool) {
	if b.Tuple {
		return "", "", false
	}
	l, h, sc, ok := f.interval(b.Set)
	if !ok {
		return "", "", false
	}
	lo, hi = f.bounds(l, h, sc)
	return lo, hi, true
}

// quant is \A or \E.
func (f *fn) quant(e *core.Quant) val {
	for _, b := range e.Binds {
		if b.Set == nil {
			return f.refuse(e, Unbounded, "a quantifier without a set cannot be evaluated", "bound it: \\A x \\in S : ...")
		}
	}
	return f.quantOver(single(e.Binds), e.Exists, e.Body)
}

func (f *fn) quantOver(binds []core.Bind, exists bool, body core.Expr) val {
	if len(binds) == 0 {
		return f.boolean(body)
	}
	rest := func() string { return f.quantOver(binds[1:], exists, body).code }
	names := [4]string{"typed.All", "typed.Some", "typed.AllValues", "typed.SomeValue"}
	i := 0
	if exists {
		i = 1
	}
	if lo, hi, ok := f.isInterval(binds[0]); ok {
		fn := f.overInts(binds[0], "bool", rest)
		return val{fmt.Sprintf("%sIn(%s, %s, %s)", names[i], lo, hi, fn), f.g.bool, precAtom}
	}
	src := f.source(binds[0].Set)
	if src.shape.Kind == shape.Any {
		i += 2
	}
	return val{fmt.Sprintf("%s(%s, %s)", names[i], src.code, f.over(src, binds[0], "bool", rest)), f.g.bool, precAtom}
}

// choose is CHOOSE.
func (f *fn) choose(e *core.Choose) val {
	if e.Bind.Set == nil {
		return f.refuse(e, Unbounded, "an unbounded CHOOSE cannot be evaluated",
			"give its definition a value in the configuration, or choose from a set")
	}
	want := f.shapeOf(e)
	pred := func() string { return f.boolean(e.Body).code }
	if lo, hi, ok := f.isInterval(e.Bind); ok {
		fn := f.overInts(e.Bind, "bool", pred)
		return f.coerce(val{fmt.Sprintf("typed.ChooseIn(%s, %s, %s)", lo, hi, fn), f.g.int, precAtom}, want)
	}
	src := f.source(e.Bind.Set)
	name := "typed.Choose"
	if src.shape.Kind == shape.Any {
		name = "typed.ChooseValue"
	}
	return f.coerce(val{fmt.Sprintf("%s(%s, %s)", name, src.code, f.over(src, e.Bind, "bool", pred)), f.elemOf(src), precAtom}, want)
}

// filter is {x \in S : p}.
func (f *fn) filter(e *core.SetFilter, want *shape.Shape) val {
	src := f.source(e.Bind.Set)
	body := f.over(src, e.Bind, "bool", func() string { return f.boolean(e.Pred).code })
	if src.shape.Kind == shape.Any {
		return f.coerce(val{"value.Filter(" + src.code + ", " + body + ")", f.g.any, precAtom}, want)
	}
	return f.coerce(val{"typed.Filter(" + src.code + ", " + body + ")", src.shape, precAtom}, want)
}

// collect compiles the set of the values of body for all elements of the
// bounds.
func (f *fn) collect(binds []core.Bind, want *shape.Shape, body func() string) val {
	list := f.collectList(binds, want.Elem, body)
	return val{fmt.Sprintf("typed.NewSet[%s](%s...)", f.g.typeOf(want.Elem).kind, list), want, precAtom}
}

// collectList writes loops that append the values of body to a slice.
func (f *fn) collectList(binds []core.Bind, elem *shape.Shape, body func() string) string {
	list := f.names.fresh("list")
	f.out.emit("var %s []%s", list, f.g.typeOf(elem).name)
	f.loops(single(binds), func() { f.out.emit("%s = append(%s, %s)", list, list, body()) })
	return list
}

// loops writes nested loops over bounds.
func (f *fn) loops(binds []core.Bind, inner func()) {
	if len(binds) == 0 {
		inner()
		return
	}
	b := binds[0]
	src := f.source(b.Set)
	name := f.names.fresh(bindName(b))
	elem := f.elemOf(src)
	head := f.out.slot()
	x := &local{val: val{name, elem, precAtom}}
	f.out.append(f.capture(func() {
		finish := f.enter(b, x.val)
		if !b.Tuple {
			f.bound[b.Vars[0]].used = false
		}
		f.loops(binds[1:], inner)
		finish()
	}))
	f.out.emit("}")
	// A loop variable that is not used is omitted.
	used := true
	if !b.Tuple {
		used = f.bound[b.Vars[0]].used
	} else {
		used = false
		for _, v := range b.Vars {
			used = used || f.bound[v].used
		}
	}
	over := header(src.atom() + ".All()")
	if used {
		head.emit("for %s := range %s {", name, over)
	} else {
		head.emit("for range %s {", over)
	}
}

// structOf builds a tuple or a sequence from components.
func (f *fn) structOf(s *shape.Shape, comp func(int) val) string {
	t := f.g.typeOf(s)
	switch s.Kind {
	case shape.Tuple:
		parts := make([]string, len(s.Elems))
		for i, e := range s.Elems {
			parts[i] = t.fields[i] + ": " + f.coerce(comp(i), e).code
		}
		return t.name + "{" + strings.Join(parts, ", ") + "}"
	}
	return t.zero
}

func (f *fn) recordOf(s *shape.Shape, e *core.RecordSet, binds []core.Bind) string {
	t := f.g.typeOf(s)
	var parts []string
	for i, fl := range e.Fields {
		k := fieldIndex(s, fl.Name)
		if k < 0 {
			continue
		}
		parts = append(parts, t.fields[k]+": "+f.coerce(f.use(binds[i].Vars[0]), s.Fields[k].Shape).code)
		if s.Fields[k].Optional {
			parts = append(parts, hasName(t.fields[k])+": true")
		}
	}
	return t.name + "{" + strings.Join(parts, ", ") + "}"
}

// function is [x \in S |-> e].
func (f *fn) function(e *core.Fn) val {
	g := f.g
	want := f.shapeOf(e)
	base := f.base(want, shape.Fn, shape.Seq)
	if e.Self != nil {
		return f.recursive(e, want)
	}
	binds := single(e.Binds)
	if len(binds) == 1 && base.Kind == shape.Seq {
		if _, hi, sc, ok := f.interval(binds[0].Set); ok {
			var n string
			f.within(sc, func() { n = f.as(hi, g.int) })
			t := g.typeOf(base.Elem)
			fn := f.overInts(binds[0], t.name, func() string { return f.as(e.Body, base.Elem) })
			return f.coerce(val{fmt.Sprintf("typed.MakeSeq[%s](%s, %s)", t.kind, n, fn), base, precAtom}, want)
		}
	}
	if base.Kind == shape.Fn {
		t := g.typeOf(base.Elem)
		if len(binds) == 1 {
			src := f.source(binds[0].Set)
			if src.shape.Kind == shape.Any {
				src = f.coerce(src, g.setOf(base.Key))
			}
			fn := f.over(src, binds[0], t.name, func() string { return f.as(e.Body, base.Elem) })
			return f.coerce(val{fmt.Sprintf("typed.MakeFn[%s](%s, %s)", t.kind, src.code, fn), base, precAtom}, want)
		}
		if base.Key.Kind == shape.Tuple {
			keys, tuple := f.product(binds, base.Key)
			fn := f.over(keys, tuple, t.name, func() string { return f.as(e.Body, base.Elem) })
			return f.coerce(val{fmt.Sprintf("typed.MakeFn[%s](%s, %s)", t.kind, keys.code, fn), base, precAtom}, want)
		}
	}
	return f.coerce(f.functionValue(binds, e.Body), want)
}

// product returns the set of tuples over which several bounds range, and the
// pattern that destructures a tuple.
func (f *fn) product(binds []core.Bind, key *shape.Shape) (val, core.Bind) {
	pattern := core.Bind{Tuple: true}
	inner := make([]core.Bind, len(binds))
	for i, b := range binds {
		l := &core.Local{Name: bindName(b)}
		inner[i] = core.Bind{Vars: []*core.Local{l}, Set: b.Set}
		if b.Tuple {
			pattern.Vars = append(pattern.Vars, l)
		} else {
			pattern.Vars = append(pattern.Vars, b.Vars[0])
		}
	}
	set := f.g.setOf(key)
	v := f.collect(inner, set, func() string {
		return f.structOf(key, func(i int) val { return f.use(inner[i].Vars[0]) })
	})
	return f.temp(v, "keys"), pattern
}

// functionValue builds a function without a type.
func (f *fn) functionValue(binds []core.Bind, body core.Expr) val {
	g := f.g
	if len(binds) == 1 {
		set := f.as(binds[0].Set, g.any)
		fn := f.over(val{shape: g.any}, binds[0], "value.Value", func() string { return f.as(body, g.any) })
		return val{fmt.Sprintf("typed.FnValue(%s, %s)", set, fn), g.any, precAtom}
	}
	sets := make([]string, len(binds))
	pattern := core.Bind{Tuple: true}
	for i, b := range binds {
		sets[i] = f.as(b.Set, g.any)
		if b.Tuple {
			return f.refuse(body, Unsupported, "a function of several bounds with a pattern among them has no compiled form", "bind the tuple and take it apart in the body")
		}
		pattern.Vars = append(pattern.Vars, b.Vars[0])
	}
	fn := f.over(val{shape: g.any}, pattern, "value.Value", func() string { return f.as(body, g.any) })
	return val{fmt.Sprintf("typed.FnValue(value.Times(%s), %s)", strings.Join(sets, ", "), fn), g.any, precAtom}
}

// applyDefined compiles the application of a function that has a definition as
// a call of Go code: it does not enumerate the domain and computes only the
// requested value.
func (f *fn) applyDefined(e *core.Apply) (val, bool) {
	switch x := e.Fn.(type) {
	case *core.LocalRef:
		if self, ok := f.self[x.Local]; ok {
			fnShape := f.sc.Local(x.Local)
			result := f.shapeOf(e)
			return val{self + "(" + strings.Join(f.keyArgs(e.Arg, f.selfKeys(x.Local, fnShape)), ", ") + ")", result, precAtom}, true
		}
	case *core.Fn:
		return f.applyLiteral(x, e.Arg)
	case *core.Call:
		def, ok := x.Def.Body.(*core.Fn)
		if !ok || len(x.Args) > 0 || x.Def.Native || f.g.givenShape(x.Def) != nil {
			return val{}, false
		}
		sc := f.sc.Callee(x)
		l := f.lets[x.Def]
		if sc == nil || l != nil && !l.inline || l == nil && def.Self == nil && f.tabular(sc, def) {
			return val{}, false
		}
		keys, ok := keyShapes(sc, def)
		if !ok || !f.matches(e.Arg, len(keys)) {
			return val{}, false
		}
		name := f.fnCode(sc, def, keys, x.Def.Name, l)
		result := f.fnResult(sc, def)
		return val{name + "(" + strings.Join(f.keyArgs(e.Arg, keys), ", ") + ")", result, precAtom}, true
	}
	return val{}, false
}

// applyLiteral is [x \in S |-> e][a]: e with a for x.
func (f *fn) applyLiteral(def *core.Fn, arg core.Expr) (val, bool) {
	keys, ok := keyShapes(f.sc, def)
	if !ok || def.Self != nil || !f.matches(arg, len(keys)) {
		return val{}, false
	}
	args := f.keyArgs(arg, keys)
	given := make([]val, len(keys))
	for i, b := range single(def.Binds) {
		given[i] = f.temp(val{args[i], keys[i], precAtom}, b.Vars[0].Name)
	}
	for i, b := range single(def.Binds) {
		f.bind(b.Vars[0], given[i])
	}
	f.checkDomain(def, given, "[...]")
	return f.typed(def.Body), true
}

// checkDomain writes the check that the arguments of a function are in its
// domain.
func (f *fn) checkDomain(def *core.Fn, given []val, name string) {
	in := make([]func() val, len(given))
	for i, b := range single(def.Binds) {
		in[i] = func() val { return f.member(given[i], b.Set) }
	}
	cond := f.all(in)
	if cond.code == "true" {
		return
	}
	arg := f.coerce(given[0], f.g.any).code
	if len(given) > 1 {
		parts := make([]string, len(given))
		for i, x := range given {
			parts[i] = f.coerce(x, f.g.any).code
		}
		arg = "value.Tuple(" + strings.Join(parts, ", ") + ")"
	}
	f.out.emit("if %s {", header(f.not(cond).code))
	f.out.emit("typed.NotInDomain(%q, %s)", name, arg)
	f.out.emit("}")
}

// tabular reports whether a function is better stored as a table.
func (f *fn) tabular(sc *shape.Scope, def *core.Fn) bool {
	s := sc.Expr(def)
	return s != nil && s.Kind != shape.Any && total(sc, def.Body)
}

// matches reports whether the argument can be passed as that many separate
// arguments.
func (f *fn) matches(arg core.Expr, n int) bool {
	t, ok := arg.(*core.Tuple)
	return n == 1 || ok && len(t.Elems) == n
}

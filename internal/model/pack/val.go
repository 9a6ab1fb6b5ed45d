// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/ashlar-dev/ashlar/tla/value"
)

// val is the lowering's knowledge of the value of an expression: the value
// itself, or its type and the nodes of its parts.
type val struct {
	known bool
	v     value.Value
	t     *typ
	s     *node          // kBool, kInt, kAtom; the length of a kSeq
	ws    []*node        // kSet
	part  func(int) *val // kFn, kSeq, kPart: the value for argument number i
	parts map[int]*val   // what part gave
	over  *val           // kPart: the domain
	// lo and hi are the bounds of an interval; its t is nil.
	lo, hi *node
	// stop: the expression has no value, so the code stops.
	stop bool
	// sure: no part may stop. lazy: the values of a function are evaluated where it
	// is applied.
	sure, lazy bool
	// unsure caches the nodes that may stop; unsureDone: they were computed.
	unsure     []*node
	unsureDone bool
}

// giveUp abandons the expression that is being lowered.
func giveUp(format string, args ...any) { value.Fail(format, args...) }

func knownVal(v value.Value) *val { return &val{known: true, v: v.Normal()} }

func (l *lowerer) boolVal(n *node) *val {
	if n.known() {
		return knownVal(value.Bool(n.k != 0))
	}
	return &val{t: boolType, s: n}
}

func (l *lowerer) intVal(n *node) *val {
	if n.known() {
		return knownVal(value.Int(int32(n.k)))
	}
	return &val{t: intType(n.lo, n.hi), s: n}
}

func (l *lowerer) atomVal(u *universe, n *node) *val {
	if n.known() && n.k >= 0 && int(n.k) < len(u.vals) {
		return knownVal(u.vals[n.k])
	}
	return &val{t: &typ{kind: kAtom, u: u}, s: n}
}

// numbered returns the element with number n of a universe.
func (l *lowerer) numbered(u *universe, n *node) *val {
	if u.ints && !n.known() {
		return l.intVal(l.count(n, int64(u.vals[0].AsInt())))
	}
	return l.atomVal(u, n)
}

func (l *lowerer) setVal(u *universe, ws []*node) *val {
	known := true
	for _, w := range ws {
		known = known && w.known()
	}
	if !known {
		return &val{t: &typ{kind: kSet, u: u}, ws: ws}
	}
	var elems []value.Value
	for i, v := range u.vals {
		if ws[i/64].k>>(i%64)&1 != 0 {
			elems = append(elems, v)
		}
	}
	return knownVal(value.SetOf(elems))
}

func (l *lowerer) fnVal(t *typ, part func(int) *val) *val {
	return &val{t: t, part: part, parts: make(map[int]*val)}
}

// at returns the value for argument number i.
func (v *val) at(i int) *val {
	if p := v.parts[i]; p != nil {
		return p
	}
	p := v.part(i)
	v.parts[i] = p
	return p
}

func (v *val) is(k kind) bool { return !v.known && v.t != nil && v.t.kind == k }

// settle replaces a function all of whose values are known by a known value.
func (l *lowerer) settle(v *val) *val {
	if !v.is(kFn) || len(v.t.keys) > keysMax {
		return v
	}
	vals := make([]value.Value, len(v.t.keys))
	for i := range vals {
		p := l.settle(v.at(i))
		if !p.known {
			return v
		}
		vals[i] = p.v
	}
	return knownVal(value.FnOf(v.t.dom, vals))
}

// loadVal returns the value at a location of the current state or of the next.
func (l *lowerer) loadVal(at *loc, next bool) *val {
	t := at.t
	switch t.kind {
	case kBool:
		return l.boolVal(l.b.load(at.f, 0, next))
	case kInt:
		n := l.b.load(at.f, t.lo, next)
		if !n.known() {
			n.hi = min(n.hi, t.hi)
		}
		return l.intVal(n)
	case kAtom:
		n := l.b.load(at.f, 0, next)
		if !n.known() {
			n.hi = min(n.hi, int64(len(t.u.vals)-1))
		}
		return l.atomVal(t.u, n)
	case kSet:
		ws := make([]*node, len(at.parts))
		for i, p := range at.parts {
			ws[i] = l.b.load(p, 0, next)
		}
		return l.setVal(t.u, ws)
	}
	out := l.fnVal(t, func(i int) *val { return l.loadVal(at.elems[i], next) })
	out.sure = true
	if t.kind == kSeq {
		out.s = l.b.load(at.f, 0, next)
		if !out.s.known() {
			out.s.hi = int64(t.most)
		}
	}
	return out
}

// fnType returns a function type with a constant domain, whose element types
// are not set yet.
func fnType(dom value.Value) *typ { return &typ{kind: kFn, dom: dom, keys: dom.Elems()} }

// key returns the number of an argument in the domain, or -1.
func (t *typ) key(v value.Value) int {
	for i, k := range t.keys {
		if k.Kind() == v.Kind() && value.Equal(k, v) {
			return i
		}
	}
	return -1
}

// asBool, asInt, asSet and asFn convert a value to the form that an operation
// needs.
func (l *lowerer) asBool(v *val) *node {
	switch {
	case v.known && v.v.Kind() == value.KindBool:
		return l.b.bool(v.v.IsTrue())
	case v.is(kBool):
		return v.s
	case v.stop:
		return l.b.node(node{op: oStop, hi: 1})
	case v.is(kAtom):
		if y := l.tabulate(v, func(x value.Value) value.Value { return value.Bool(x.IsTrue()) }); y.known || y.is(kBool) {
			return l.asBool(y)
		}
	}
	giveUp("a boolean is needed")
	return nil
}

func (l *lowerer) asInt(v *val) *node {
	switch {
	case v.known && v.v.Kind() == value.KindInt:
		return l.b.k(int64(v.v.AsInt()))
	case v.is(kInt):
		return v.s
	case v.stop:
		return l.b.stop()
	case v.is(kAtom):
		if y := l.tabulate(v, func(x value.Value) value.Value { return value.Int(x.AsInt()) }); y.known || y.is(kInt) {
			return l.asInt(y)
		}
	}
	giveUp("a number is needed")
	return nil
}

// asFn returns v as a function with a constant domain.
func (l *lowerer) asFn(v *val) *val {
	switch {
	case v.is(kFn):
		return v
	case v.known && functional(v.v.Kind()) && len(fnValues(v.v)) <= keysMax:
		f := v.v
		vals := fnValues(f)
		out := l.fnVal(fnType(f.Domain()), func(i int) *val { return knownVal(vals[i]) })
		out.sure = true
		return out
	case v.is(kAtom):
		first := v.t.u.vals[0]
		if functional(first.Kind()) && all(v.t.u.vals, func(f value.Value) bool {
			return functional(f.Kind()) && value.Equal(f.Domain(), first.Domain())
		}) {
			return l.fnVal(fnType(first.Domain()), func(i int) *val {
				return l.tabulate(v, func(f value.Value) value.Value { return fnValues(f)[i] })
			})
		}
	}
	giveUp("a function on a constant domain is needed")
	return nil
}

// asSet returns v as a subset of a universe.
func (l *lowerer) asSet(v *val) *val {
	switch {
	case v.is(kSet):
		return v
	case v.known && v.v.Kind() == value.KindSet:
		if u := l.us.of(v.v); u != nil {
			return &val{t: &typ{kind: kSet, u: u}, ws: l.fullWords(u)}
		}
	case v.is(kAtom):
		var elems []value.Value
		for _, s := range v.t.u.vals {
			if s.Kind() != value.KindSet || !value.IsFinite(s) || !value.AtMost(s, universeMax) {
				giveUp("a set is needed")
			}
			elems = append(elems, s.Elems()...)
		}
		u := l.us.ofAll(elems)
		if u == nil {
			break
		}
		ws := make([]*node, u.words())
		for k := range ws {
			tab := make([]int64, len(v.t.u.vals))
			for i, s := range v.t.u.vals {
				for x := range s.Each {
					if j := u.find(x); j/64 == k {
						tab[i] |= 1 << (j % 64)
					}
				}
			}
			ws[k] = l.b.table(tab, v.s)
		}
		return &val{t: &typ{kind: kSet, u: u}, ws: ws}
	case v.lo != nil && v.hi.hi-v.lo.lo < setElementsMax:
		u := l.us.of(value.Interval(int32(v.lo.lo), int32(v.hi.hi)))
		if u == nil {
			break
		}
		ws := make([]*node, u.words())
		for k := range ws {
			ws[k] = l.b.node(node{op: oRange, a: v.lo, b: v.hi, c: l.b.k(v.lo.lo), k: int64(k)})
		}
		return &val{t: &typ{kind: kSet, u: u}, ws: ws}
	}
	giveUp("a finite set is needed")
	return nil
}

// between returns a test whether x is in an interval.
func (l *lowerer) between(v *val, x *node) *node {
	return l.asked(l.b.and(l.b.not(l.b.less(x, v.lo)), l.b.not(l.b.less(v.hi, x))), v)
}

// fullWords returns the words of the whole universe.
func (l *lowerer) fullWords(u *universe) []*node {
	ws := make([]*node, u.words())
	for k := range ws {
		n := min(64, len(u.vals)-64*k)
		w := int64(-1)
		if n < 64 {
			w = 1<<n - 1
		}
		ws[k] = l.b.k(w)
	}
	return ws
}

// filtered returns the subset of the elements of u for which in holds.
func (l *lowerer) filtered(u *universe, in func(i int) *node) *val {
	ws := make([]*node, u.words())
	for k := range ws {
		ws[k] = l.b.k(0)
		for i := 64 * k; i < min(64*k+64, len(u.vals)); i++ {
			ws[k] = l.b.bor(ws[k], l.b.cond(in(i), l.b.k(1<<(i%64)), l.b.k(0)))
		}
	}
	return l.setVal(u, ws)
}

// tabulateMax bounds the size of tables that are indexed by values.
const tabulateMax = 4096

// domainOf lists the values that v may have, and returns a node that yields the
// number of the actual one.
func (l *lowerer) domainOf(v *val) (vals []value.Value, index *node) {
	switch {
	case v.is(kAtom):
		return v.t.u.vals, v.s
	case v.is(kBool):
		return []value.Value{value.Bool(false), value.Bool(true)}, v.s
	case v.is(kInt) && v.s.hi-v.s.lo < tabulateMax:
		for i := v.s.lo; i <= v.s.hi; i++ {
			vals = append(vals, value.Int(int32(i)))
		}
		return vals, l.b.arith(oSub, v.s, l.b.k(v.s.lo))
	}
	if v.is(kSet) && len(v.t.u.vals) <= subsetBitsMax {
		for bits := range 1 << len(v.t.u.vals) {
			var elems []value.Value
			for i, x := range v.t.u.vals {
				if bits>>i&1 != 0 {
					elems = append(elems, x)
				}
			}
			vals = append(vals, value.SetOf(elems))
		}
		return vals, l.b.node(node{op: oIn, a: v.ws[0], lo: 0, hi: int64(len(vals) - 1)})
	}
	giveUp("a value of few is needed")
	return nil, nil
}

// subsetBitsMax is the maximum number of elements of a set that is used as an
// index into a table.
const subsetBitsMax = 8

// tabulate returns the function f applied to v, as a table. It has no value
// where f returns none.
func (l *lowerer) tabulate(v *val, f func(value.Value) value.Value) *val {
	if v.known {
		return knownVal(f(v.v))
	}
	vals, index := l.domainOf(v)
	results := make([]value.Value, len(vals))
	for i, x := range vals {
		l.step()
		_ = value.Catch(func() { results[i] = f(x).Normal() })
	}
	return l.tabled(results, index)
}

// tabled returns results[index]; an undefined result has no value.
func (l *lowerer) tabled(results []value.Value, index *node) *val {
	var some []value.Value
	bools, ints := true, true
	for _, r := range results {
		if !r.IsUndefined() {
			some = append(some, r)
			bools = bools && r.Kind() == value.KindBool
			ints = ints && r.Kind() == value.KindInt
		}
	}
	if len(some) == 0 {
		return &val{stop: true}
	}
	tab := make([]int64, len(results))
	fill := func(number func(value.Value) int64) *node {
		for i, r := range results {
			tab[i] = missing
			if !r.IsUndefined() {
				tab[i] = number(r)
			}
		}
		return l.b.table(tab, index)
	}
	switch {
	case bools:
		return l.boolVal(fill(func(v value.Value) int64 {
			if v.IsTrue() {
				return 1
			}
			return 0
		}))
	case ints:
		return l.intVal(fill(func(v value.Value) int64 { return int64(v.AsInt()) }))
	}
	u := l.us.ofAll(some)
	if u == nil {
		giveUp("the values of a table cannot be compared")
	}
	return l.atomVal(u, fill(func(v value.Value) int64 { return int64(u.find(v)) }))
}

// tabulate2 is tabulate for a function f of two values.
func (l *lowerer) tabulate2(v, w *val, f func(x, y value.Value) value.Value) *val {
	if v.known {
		return l.tabulate(w, func(y value.Value) value.Value { return f(v.v, y) })
	}
	if w.known {
		return l.tabulate(v, func(x value.Value) value.Value { return f(x, w.v) })
	}
	xs, i := l.domainOf(v)
	ys, j := l.domainOf(w)
	if len(xs)*len(ys) > 1<<16 {
		giveUp("a table is too large")
	}
	results := make([]value.Value, 0, len(xs)*len(ys))
	for _, x := range xs {
		for _, y := range ys {
			l.step()
			var r value.Value
			_ = value.Catch(func() { r = f(x, y).Normal() })
			results = append(results, r)
		}
	}
	n := l.b.arith(oAdd, l.b.arith(oMul, i, l.b.k(int64(len(ys)))), j)
	return l.tabled(results, n)
}

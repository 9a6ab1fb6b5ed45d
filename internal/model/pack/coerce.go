// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/ashlar-dev/ashlar/tla/value"
)

// index returns the number of v in the universe, or -1 if v is not in it.
func (l *lowerer) index(v *val, u *universe) *node {
	if v = l.settle(v); v.known {
		return l.b.k(int64(u.find(v.v)))
	}
	if v.stop {
		return l.b.stop()
	}
	if v.t == nil {
		giveUp("it is not known what the elements of a set may be")
	}
	if v.is(kAtom) && v.t.u == u {
		return v.s
	}
	switch v.t.kind {
	case kInt:
		if v.s.hi-v.s.lo >= tabulateMax {
			// An integer outside the universe has no number there.
			return l.wideIndex(v.s, u)
		}
		fallthrough
	case kAtom, kBool:
		vals, index := l.domainOf(v)
		tab := make([]int64, len(vals))
		for i, x := range vals {
			tab[i] = int64(u.find(x))
		}
		return l.b.table(tab, index)
	case kFn:
		return l.fnIndex(v, u)
	case kSet:
		return l.setIndex(v, u)
	}
	giveUp("a value is of no universe")
	return nil
}

// wideIndex returns the number of an integer with a wide range.
func (l *lowerer) wideIndex(n *node, u *universe) *node {
	if !u.every(value.KindInt) {
		giveUp("a number is compared with other values")
	}
	if len(u.vals) == 0 {
		return l.asked(l.b.k(-1), l.intVal(n))
	}
	lo, hi := int64(u.vals[0].AsInt()), int64(u.vals[len(u.vals)-1].AsInt())
	if hi-lo >= tabulateMax {
		giveUp("a number is of no universe")
	}
	tab := make([]int64, hi-lo+1)
	for i := range tab {
		tab[i] = int64(u.find(value.Int(int32(lo + int64(i)))))
	}
	inside := l.b.and(l.b.not(l.b.less(n, l.b.k(lo))), l.b.not(l.b.less(l.b.k(hi), n)))
	return l.b.cond(inside, l.b.table(tab, l.b.node(node{op: oSub, a: n, b: l.b.k(lo), lo: 0, hi: hi - lo})), l.b.k(-1))
}

// setIndex returns the number of a small set in a universe of sets.
func (l *lowerer) setIndex(v *val, u *universe) *node {
	n := len(v.t.u.vals)
	if n > 12 {
		giveUp("a set is of no universe")
	}
	tab := make([]int64, 1<<n)
	for bits := range tab {
		var elems []value.Value
		for i, x := range v.t.u.vals {
			if bits>>i&1 != 0 {
				elems = append(elems, x)
			}
		}
		tab[bits] = int64(u.find(value.SetOf(elems)))
	}
	return l.b.table(tab, l.b.node(node{op: oIn, a: v.ws[0], lo: 0, hi: 1<<n - 1}))
}

// fnIndex returns the number of a function in the universe. It numbers each
// value of the function among the values that functions of the universe have at
// that argument; these numbers together are an index into a table.
func (l *lowerer) fnIndex(v *val, u *universe) *node {
	var like []value.Value // the functions on that domain
	var numbers []int64
	for i, f := range u.vals {
		if functional(f.Kind()) && len(fnValues(f)) == len(v.t.keys) && value.Equal(f.Domain(), v.t.dom) {
			like, numbers = append(like, f), append(numbers, int64(i))
		}
	}
	if len(like) == 0 {
		return l.asked(l.b.k(-1), v)
	}
	columns := make([]*universe, len(v.t.keys))
	place, size := l.b.k(0), int64(1)
	var outside []*node
	for i := range columns {
		column := make([]value.Value, len(like))
		for j, f := range like {
			column[j] = fnValues(f)[i]
		}
		c := l.us.ofAll(column)
		if c == nil {
			giveUp("the values of functions cannot be compared")
		}
		columns[i] = c
		n := l.index(v.at(i), c)
		if n.lo < 0 {
			outside = append(outside, l.b.less(n, l.b.k(0)))
		}
		if size *= int64(len(c.vals)); size > 1<<16 {
			giveUp("a universe of functions is too large")
		}
		place = l.b.node(node{op: oAdd, a: l.mul(place, int64(len(c.vals))), b: n, lo: 0, hi: size - 1})
		if place.a.known() && n.known() {
			place = l.b.k(place.a.k + n.k)
		}
	}
	tab := make([]int64, size)
	for i := range tab {
		tab[i] = -1
	}
	for j, f := range like {
		at := 0
		for i, c := range columns {
			at = at*len(c.vals) + c.find(fnValues(f)[i])
		}
		tab[at] = numbers[j]
	}
	bad := l.b.or(outside...)
	if bad.is(1) {
		return l.asked(l.b.k(-1), v)
	}
	n := l.b.cond(bad, l.b.k(-1), l.b.table(tab, place))
	if bad.is(0) {
		return n
	}
	return l.asked(n, v)
}

func (l *lowerer) mul(n *node, k int64) *node {
	if n.known() {
		return l.b.k(n.k * k)
	}
	return l.b.node(node{op: oMul, a: n, b: l.b.k(k), lo: 0, hi: n.hi * k})
}

// within returns n; the code stops if n is not between lo and hi.
func (l *lowerer) within(n *node, lo, hi int64) *node {
	if n.lo >= lo && n.hi <= hi {
		return n
	}
	if n.known() {
		return l.b.stop()
	}
	return l.b.node(node{op: oIn, a: n, lo: lo, hi: hi})
}

// must returns the number of v in the universe; the code stops if v has none.
func (l *lowerer) must(v *val, u *universe) *node {
	return l.within(l.index(v, u), 0, int64(len(u.vals)-1))
}

// coerce returns v as a value of the type; the code stops if v is not one.
func (l *lowerer) coerce(v *val, t *typ) *val {
	if v.t == t && !v.known {
		return v
	}
	out := &val{t: t}
	switch t.kind {
	case kBool:
		out.s = l.asBool(v)
	case kInt:
		out.s = l.within(l.asInt(v), t.lo, t.hi)
	case kAtom:
		out.s = l.must(v, t.u)
	case kSet:
		if v.stop {
			for range t.u.words() {
				out.ws = append(out.ws, l.b.stop())
			}
			break
		}
		out.ws = l.translate(l.asSet(v), t.u, true)
	case kFn:
		if v.stop && t.elems == nil {
			return l.fnVal(t, func(int) *val { return v })
		}
		if v.stop {
			return l.fnVal(t, func(i int) *val { return l.coerce(v, t.elems[i]) })
		}
		f := l.asFn(v)
		if len(f.t.keys) != len(t.keys) || !value.Equal(f.t.dom, t.dom) {
			giveUp("a function has another domain")
		}
		if t.elems == nil {
			return f
		}
		return l.fnVal(t, func(i int) *val { return l.coerce(f.at(i), t.elems[i]) })
	case kSeq:
		return l.coerceSeq(v, t)
	}
	return out
}

// translate returns the words of a set as a subset of u. If an element is not in
// u, the code stops if strict is set, and drops the element otherwise.
func (l *lowerer) translate(s *val, u *universe, strict bool) []*node {
	if s.t.u == u {
		return s.ws
	}
	ws := make([]*node, u.words())
	for k := range ws {
		ws[k] = l.b.k(0)
	}
	outside := make([]int64, len(s.ws))
	// Runs of elements whose numbers differ by the same amount are shifted
	// together.
	from := s.t.u
	for i := 0; i < len(from.vals); {
		j := u.find(from.vals[i])
		if j < 0 {
			outside[i/64] |= 1 << (i % 64)
			i++
			continue
		}
		n := 1
		for i+n < len(from.vals) && (i+n)%64 != 0 && (j+n)%64 != 0 && j+n < len(u.vals) && u.find(from.vals[i+n]) == j+n {
			n++
		}
		mask := int64(-1)
		if n < 64 {
			mask = (1<<n - 1) << (i % 64)
		}
		part := l.b.band(s.ws[i/64], l.b.k(mask))
		ws[j/64] = l.b.bor(ws[j/64], l.shift(part, j%64-i%64))
		i += n
	}
	if !strict {
		return ws
	}
	for k, mask := range outside {
		if mask == 0 {
			continue
		}
		rest := l.b.band(s.ws[k], l.b.k(mask))
		if rest.is(0) {
			continue
		}
		// The first word stops the code if an element is outside u.
		ws[0] = l.b.cond(l.b.eq(rest, l.b.k(0)), ws[0], l.b.stop())
	}
	return ws
}

func (l *lowerer) shift(n *node, by int) *node {
	if n.known() {
		if by >= 0 {
			return l.b.k(n.k << by)
		}
		return l.b.k(int64(uint64(n.k) >> -by))
	}
	if by == 0 {
		return n
	}
	return l.b.node(node{op: oShl, a: n, k: int64(by)})
}

// coerceSeq returns v as a sequence of at most t.most elements.
func (l *lowerer) coerceSeq(v *val, t *typ) *val {
	out := l.fnVal(t, nil)
	var at func(i int) *val
	switch {
	case v.stop:
		out.s, at = l.b.stop(), func(int) *val { return v }
	case v.known && v.v.Kind() == value.KindTuple && v.v.Len() <= t.most:
		elems := v.v.Elements()
		out.s, at = l.b.k(int64(len(elems))), func(i int) *val { return knownVal(elems[i]) }
	case v.is(kSeq):
		out.s, at = l.within(v.s, 0, int64(t.most)), func(i int) *val {
			if i >= v.t.most {
				return &val{stop: true}
			}
			return v.at(i)
		}
	case v.is(kFn) && isSequence(v.t) && len(v.t.keys) <= t.most:
		out.s, at = l.b.k(int64(len(v.t.keys))), v.at
	default:
		giveUp("a sequence is needed, not longer than %d", t.most)
	}
	n := out.s
	out.part = func(i int) *val {
		if n.known() && int64(i) >= n.k {
			return l.zero(t.elem)
		}
		return l.merge(l.b.less(l.b.k(int64(i)), n), l.coerce(at(i), t.elem), l.zero(t.elem))
	}
	return out
}

// isSequence reports whether the domain is 1..n.
func isSequence(t *typ) bool {
	for i, k := range t.keys {
		if k.Kind() != value.KindInt || int(k.AsInt()) != i+1 {
			return false
		}
	}
	return true
}

// zero returns the value of a type whose bits are all 0.
func (l *lowerer) zero(t *typ) *val {
	out := &val{t: t}
	switch t.kind {
	case kInt:
		out.s = l.b.k(t.lo)
	case kSet:
		for range t.u.words() {
			out.ws = append(out.ws, l.b.k(0))
		}
	case kFn:
		return l.fnVal(t, func(i int) *val { return l.zero(t.elems[i]) })
	case kSeq:
		z := l.fnVal(t, func(i int) *val { return l.zero(t.elem) })
		z.s = l.b.k(0)
		return z
	default:
		out.s = l.b.k(0)
	}
	return out
}

// merge returns a if c holds, and b otherwise.
func (l *lowerer) merge(c *node, a, b *val) *val {
	switch {
	case c.is(1):
		return a
	case c.is(0):
		return b
	case a.stop && b.stop:
		return a
	case a.known && b.known && a.v.Kind() == b.v.Kind() && c.pure && value.Equal(a.v, b.v):
		return a
	}
	if a.t != b.t || a.known || b.known || a.t == nil {
		t := l.join(a, b)
		if t == nil {
			t = l.sameDomain(a, b)
			a, b = l.asFn(a), l.asFn(b)
			return l.fnVal(t, func(i int) *val { return l.merge(c, a.at(i), b.at(i)) })
		}
		a, b = l.coerce(a, t), l.coerce(b, t)
	}
	out := &val{t: a.t}
	switch a.t.kind {
	case kPart:
		giveUp("one of several functions whose domain is not constant")
	case kSet:
		for i := range a.ws {
			out.ws = append(out.ws, l.b.cond(c, a.ws[i], b.ws[i]))
		}
		return l.setVal(a.t.u, out.ws)
	case kFn, kSeq:
		out = l.fnVal(a.t, func(i int) *val { return l.merge(c, a.at(i), b.at(i)) })
		if a.t.kind == kSeq {
			out.s = l.b.cond(c, a.s, b.s)
		}
		return out
	}
	out.s = l.b.cond(c, a.s, b.s)
	return out
}

// sameDomain returns the type of two functions with the same domain.
func (l *lowerer) sameDomain(a, b *val) *typ {
	f, g := l.asFn(a), l.asFn(b)
	if len(f.t.keys) != len(g.t.keys) || !value.Equal(f.t.dom, g.t.dom) {
		giveUp("two functions have different domains")
	}
	return &typ{kind: kFn, dom: f.t.dom, keys: f.t.keys}
}

// join returns a type for the values that a and b may have; nil for functions.
func (l *lowerer) join(a, b *val) *typ {
	if a.stop {
		a, b = b, a
	}
	if b.stop {
		if a.known {
			return l.typeOf(a)
		}
		return a.t
	}
	s, t := l.typeOf(a), l.typeOf(b)
	switch {
	case s.kind == t.kind && (s.kind == kSeq) && s.elem == t.elem:
		if s.most > t.most {
			return s
		}
		return t
	case s.kind == kFn && t.kind == kFn && (a.known || b.known || s != t):
		return nil
	case s.kind == kBool && t.kind == kBool:
		return boolType
	case s.kind == kInt && t.kind == kInt:
		return intType(min(s.lo, t.lo), max(s.hi, t.hi))
	case s.kind == kSet && t.kind == kSet:
		if s.u == t.u {
			return s
		}
		if u := l.us.ofAll(append(append([]value.Value(nil), s.u.vals...), t.u.vals...)); u != nil {
			return &typ{kind: kSet, u: u}
		}
	case s.kind == kSeq && b.known:
		return s
	case t.kind == kSeq && a.known:
		return t
	default:
		x, y := l.listed(a), l.listed(b)
		if u := l.us.ofAll(append(append([]value.Value(nil), x...), y...)); u != nil {
			return &typ{kind: kAtom, u: u}
		}
	}
	giveUp("two values have no type in common")
	return nil
}

// listed returns all values that v may have.
func (l *lowerer) listed(v *val) []value.Value {
	if v.known {
		return []value.Value{v.v}
	}
	vals, _ := l.domainOf(v)
	return vals
}

// typeOf returns the type of v. It is the narrowest possible if v is known.
func (l *lowerer) typeOf(v *val) *typ {
	if !v.known {
		if v.t == nil {
			return l.asSet(v).t
		}
		return v.t
	}
	switch v.v.Kind() {
	case value.KindBool:
		return boolType
	case value.KindInt:
		return intType(int64(v.v.AsInt()), int64(v.v.AsInt()))
	case value.KindSet:
		return l.asSet(v).t
	case value.KindTuple, value.KindRecord, value.KindFn:
		return fnType(v.v.Domain())
	}
	if u := l.us.ofAll([]value.Value{v.v}); u != nil {
		return &typ{kind: kAtom, u: u}
	}
	giveUp("a value has no type")
	return nil
}

// equal returns a test of a = b. It gives up if the values must not be
// compared.
func (l *lowerer) equal(a, b *val) *node {
	a, b = l.settle(a), l.settle(b)
	if a.stop || b.stop {
		return l.b.node(node{op: oStop, hi: 1})
	}
	if a.known && b.known {
		return l.b.bool(value.Equal(a.v, b.v))
	}
	if a.known {
		a, b = b, a
	}
	switch {
	case a.is(kAtom) && b.known, a.is(kAtom) && b.is(kAtom) && a.t.u != b.t.u, a.is(kAtom) && (b.is(kInt) || b.is(kBool)):
		if b.known {
			if i := a.t.u.find(b.v); i >= 0 && a.s.hi < int64(len(a.t.u.vals)) {
				return l.b.eq(a.s, l.b.k(int64(i)))
			}
		}
		return l.asBool(l.tabulate2(a, b, func(x, y value.Value) value.Value { return value.Bool(value.Equal(x, y)) }))
	case b.is(kAtom) && (a.is(kInt) || a.is(kBool)):
		return l.equal(b, a)
	case a.is(kAtom) && b.is(kAtom):
		return l.b.eq(a.s, b.s)
	case a.is(kBool):
		return l.b.eq(l.asBool(a), l.asBool(b))
	case a.is(kInt):
		return l.b.eq(l.asInt(a), l.asInt(b))
	case a.is(kAtom) && b.is(kFn), a.is(kFn) && b.is(kAtom):
		if a.is(kFn) {
			a, b = b, a
		}
		if !all(a.t.u.vals, func(v value.Value) bool { return functional(v.Kind()) }) {
			giveUp("a function is compared with other values")
		}
		i := l.index(b, a.t.u)
		return l.b.eq(a.s, i)
	case a.is(kSeq) || b.is(kSeq):
		return l.asked(l.equalSeq(a, b), a, b)
	case a.is(kFn):
		return l.asked(l.equalFn(a, b), a, b)
	}
	return l.asked(l.equalSets(l.asSet(a), l.asSet(b)), a, b)
}

func (l *lowerer) equalFn(a, b *val) *node {
	if b.known && !functional(b.v.Kind()) && b.v.Kind() != value.KindModel {
		giveUp("a function is compared with another value")
	}
	if b.known && b.v.Kind() == value.KindModel {
		return l.b.bool(false)
	}
	g := l.asFn(b)
	if len(g.t.keys) != len(a.t.keys) || !value.Equal(a.t.dom, g.t.dom) {
		return l.b.bool(false)
	}
	var list []*node
	for i := range a.t.keys {
		list = append(list, l.equal(a.at(i), g.at(i)))
	}
	return l.b.and(list...)
}

func (l *lowerer) equalSeq(a, b *val) *node {
	if b.is(kSeq) && !a.is(kSeq) {
		a, b = b, a
	}
	if b.known && b.v.Kind() != value.KindTuple {
		giveUp("a sequence is compared with another value")
	}
	if b.known && b.v.Len() > a.t.most {
		return l.b.bool(false)
	}
	t := a.t
	if b.is(kSeq) && b.t.most > t.most {
		t = b.t
	}
	x, y := l.coerceSeq(a, t), l.coerceSeq(b, t)
	list := []*node{l.b.eq(x.s, y.s)}
	for i := range t.most {
		list = append(list, l.equal(x.at(i), y.at(i)))
	}
	return l.b.and(list...)
}

func (l *lowerer) equalSets(a, b *val) *node {
	u := a.t.u
	if a.t.u != b.t.u {
		if u = l.us.ofAll(append(append([]value.Value(nil), a.t.u.vals...), b.t.u.vals...)); u == nil {
			giveUp("two sets cannot be compared")
		}
	}
	x, y := l.translate(a, u, true), l.translate(b, u, true)
	var list []*node
	for k := range x {
		list = append(list, l.b.eq(x[k], y[k]))
	}
	return l.b.and(list...)
}

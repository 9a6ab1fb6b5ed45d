// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// domain is a set over which the code iterates. Usually it has the elements
// that may be in the set, each with the condition for being in it; if at is not
// nil, the condition is that bit at[i] of ws is set. If there are too many
// elements, domain has a universe and words instead.
type domain struct {
	conds []*node
	elems []*val
	at    []int
	u     *universe
	ws    []*node
}

// domain lists the elements of a constant set, if there are at most most. For a
// set that is not constant it lists all possible elements, if there is room for
// that many copies.
func (l *lowerer) domain(s *val, most, copies int) domain {
	if s.known {
		if s.v.Kind() != value.KindSet || !value.IsFinite(s.v) || !value.AtMost(s.v, enumerateMax) {
			giveUp("a set cannot be gone through")
		}
		elems := s.v.Elems()
		if len(elems) <= most {
			var d domain
			for _, v := range elems {
				d.conds, d.elems = append(d.conds, l.b.k(1)), append(d.elems, knownVal(v))
			}
			return d
		}
	}
	if s.lo != nil {
		copies = copiesMax // a loop is not much more than a copy
	}
	s = l.asSet(s)
	u := s.t.u
	may := 0
	for i := range u.vals {
		if !l.b.test(s.ws, l.b.k(int64(i))).is(0) {
			may++
		}
	}
	if may > copiesMax && (may > copies || may*l.spread > l.spreadMax) {
		return domain{u: u, ws: l.b.whole(s.ws)}
	}
	d := domain{ws: s.ws, at: []int{}}
	for i, v := range u.vals {
		if c := l.b.test(s.ws, l.b.k(int64(i))); !c.is(0) {
			d.conds, d.elems, d.at = append(d.conds, c), append(d.elems, knownVal(v)), append(d.at, i)
		}
	}
	if len(d.at) == 0 && !pureNodes(d.ws) {
		giveUp("nothing asks whether a set has a value")
	}
	return d
}

// spreadMax bounds the copies of one expression that are made for the elements
// of sets that are not constant. If the code becomes too large with it, it is
// made again with spreadMaxLow.
const (
	spreadMax    = 1500
	spreadMaxLow = 1
)

// spreading records that the expressions lowered until the call of done have n
// copies.
func (l *lowerer) spreading(n int) (done func()) {
	before := l.spread
	l.spread = min(l.spread*max(n, 1), 1<<30)
	return func() { l.spread = before }
}

// element binds the names of b to v.
func (l *lowerer) element(b core.Bind, v *val, e *env) *env {
	if !b.Tuple {
		return e.bind(b.Vars[0], &binding{val: v})
	}
	f := l.asFn(v)
	if len(f.t.keys) != len(b.Vars) || !isSequence(f.t) {
		giveUp("a pattern does not fit")
	}
	for i, name := range b.Vars {
		e = e.bind(name, &binding{val: f.at(i)})
	}
	return e
}

// quant lowers \A and \E.
func (l *lowerer) quant(exists bool, binds []core.Bind, body core.Expr, x ctx) *node {
	sets, parts := l.bounds(binds, x)
	return l.askedFor(l.quantOver(exists, binds, sets, body, x), parts)
}

// bounds returns the sets of binds. The evaluator evaluates all of them before it
// binds a name, so parts are the parts that may stop of all sets but the first.
func (l *lowerer) bounds(binds []core.Bind, x ctx) (sets []*val, parts []*node) {
	for i, b := range binds {
		switch {
		case b.Set == nil:
			giveUp("an unbounded quantifier")
		case i > 0 && b.Set == binds[i-1].Set:
			sets = append(sets, sets[i-1])
			continue
		}
		s := l.expr(b.Set, x, nil)
		if i > 0 {
			s = l.furtherBound(s)
			parts = append(parts, l.unsure(s)...)
		}
		sets = append(sets, s)
	}
	return sets, parts
}

// furtherBound returns s as a set over which the code can iterate.
func (l *lowerer) furtherBound(s *val) *val {
	switch s = l.settle(s); {
	case s.known:
		value.CheckBound(s.v)
	case s.lo == nil:
		s = l.asSet(s)
	}
	return s
}

func (l *lowerer) quantOver(exists bool, binds []core.Bind, sets []*val, body core.Expr, x ctx) *node {
	if len(binds) == 0 {
		return l.pred(body, x)
	}
	b := binds[0]
	end := int64(0)
	if exists {
		end = 1
	}
	d := l.domain(sets[0], unrollMax, mapMax)
	defer l.spreading(len(d.at))()
	rest := func(v *val) *node {
		return l.quantOver(exists, binds[1:], sets[1:], body, x.in(l.element(b, v, x.env)))
	}
	if d.u == nil {
		if d.at != nil {
			return l.masked(d, exists, rest)
		}
		var out []*node
		for i, c := range d.conds {
			n := rest(d.elems[i])
			if exists {
				n = l.b.and(c, n)
			} else {
				n = l.b.or(l.b.not(c), n)
			}
			out = append(out, n)
			if n.is(end) {
				break
			}
		}
		return l.b.junction([...]op{oAnd, oOr}[end], end, out)
	}
	o := oAll
	if exists {
		o = oAny
	}
	k, r := l.b.reg(0, int64(len(d.u.vals)-1))
	return l.b.node(node{op: o, list: d.ws, k: k, a: rest(l.numbered(d.u, r)), hi: 1})
}

// masked quantifies over a set whose possible elements are known. The elements
// for which the body is constant are tested together.
func (l *lowerer) masked(d domain, exists bool, body func(v *val) *node) *node {
	masks := make([]int64, len(d.ws))
	var out []*node
	for i, c := range d.conds {
		n := body(d.elems[i])
		switch {
		case !exists && n.is(1), exists && n.is(0):
		case n.known():
			masks[d.at[i]/64] |= 1 << (d.at[i] % 64)
		case exists:
			out = append(out, l.b.and(c, n))
		default:
			out = append(out, l.b.or(l.b.not(c), n))
		}
	}
	// A part that may fail comes first, so that no other part hides the failure.
	// The condition of an element evaluates all words of the set.
	asks := len(out) == 0
	for k, mask := range masks {
		if mask == 0 {
			continue
		}
		none := l.b.eq(l.b.band(d.ws[k], l.b.k(mask)), l.b.k(0))
		if exists {
			none = l.b.not(none)
		}
		out = append(out, none)
	}
	n := l.b.and(out...)
	if exists {
		n = l.b.or(out...)
	}
	if asks {
		n = l.askedFor(n, d.ws)
	}
	return n
}

func (l *lowerer) choose(e *core.Choose, x ctx) *val {
	if e.Bind.Set == nil {
		giveUp("an unbounded CHOOSE")
	}
	s, copies := l.expr(e.Bind.Set, x, nil), mapMax
	if s.is(kSet) && s.t.u.every(value.KindInt) {
		copies = copiesMax // few numbers are in such a set, and a condition for each that may be costs more
	}
	d := l.domain(s, unrollMax, copies)
	defer l.spreading(len(d.at))()
	if d.u == nil {
		out := &val{stop: true}
		var conds []*node
		for i, c := range d.conds {
			p := l.b.and(c, l.pred(e.Body, x.in(l.element(e.Bind, d.elems[i], x.env))))
			conds = append(conds, p)
			if p.is(1) {
				break
			}
		}
		for i := len(conds) - 1; i >= 0; i-- {
			out = l.merge(conds[i], d.elems[i], out)
		}
		return out
	}
	k, r := l.b.reg(0, int64(len(d.u.vals)-1))
	p := l.pred(e.Body, x.in(l.element(e.Bind, l.numbered(d.u, r), x.env)))
	return l.numbered(d.u, l.b.node(node{op: oFirst, list: d.ws, k: k, a: p, hi: int64(len(d.u.vals) - 1)}))
}

func (l *lowerer) setFilter(e *core.SetFilter, x ctx) *val {
	s := l.expr(e.Bind.Set, x, nil)
	in := func(v *val) *node { return l.pred(e.Pred, x.in(l.element(e.Bind, v, x.env))) }
	before := l.spreadMax
	l.spreadMax = max(l.spreadMax, spreadMax)
	d := l.domain(s, enumerateMax, mapMax)
	l.spreadMax = before
	defer l.spreading(len(d.at))()
	if d.at != nil {
		return l.maskedFilter(d, l.asSet(s).t.u, in)
	}
	if d.u != nil {
		ws := make([]*node, len(d.ws))
		for i, w := range d.ws {
			k, r := l.b.reg(0, int64(len(d.u.vals)-1))
			ws[i] = l.b.node(node{op: oFilter, a: in(l.numbered(d.u, r)), b: w, k: int64(i)<<32 | k})
		}
		return l.setVal(d.u, ws)
	}
	var vals []value.Value
	for _, v := range d.elems {
		vals = append(vals, v.v)
	}
	conds := make([]*node, len(vals))
	known := true
	var kept []value.Value
	for i, v := range d.elems {
		conds[i] = d.conds[i]
		if !conds[i].is(0) {
			conds[i] = l.b.and(conds[i], in(v))
		}
		known = known && conds[i].known()
		if conds[i].is(1) {
			kept = append(kept, v.v)
		}
	}
	if known {
		return knownVal(value.SetOf(kept))
	}
	u := l.us.ofAll(vals)
	if u == nil {
		giveUp("a set cannot be listed")
	}
	return l.filtered(u, func(i int) *node { return conds[i] })
}

// maskedFilter returns the subset for which in holds, of a set whose possible
// elements are known.
func (l *lowerer) maskedFilter(d domain, u *universe, in func(v *val) *node) *val {
	masks, ws := make([]int64, len(d.ws)), make([]*node, len(d.ws))
	for k := range ws {
		ws[k] = l.b.k(0)
	}
	for i, c := range d.conds {
		k, bit := d.at[i]/64, int64(1)<<(d.at[i]%64)
		switch n := in(d.elems[i]); {
		case n.is(0):
		case n.is(1):
			masks[k] |= bit
		default:
			ws[k] = l.b.bor(ws[k], l.b.cond(l.b.and(c, n), l.b.k(bit), l.b.k(0)))
		}
	}
	for k := range ws {
		ws[k] = l.b.bor(ws[k], l.b.band(d.ws[k], l.b.k(masks[k])))
	}
	return l.setVal(u, ws)
}

// setEnum lowers {a, b}.
func (l *lowerer) setEnum(e *core.SetEnum, x ctx, hint *typ) *val {
	var d domain
	for _, f := range e.Elems {
		var of *typ
		if hint != nil && hint.kind == kSet {
			of = nil
		}
		d.elems = append(d.elems, l.settle(l.expr(f, x, of)))
		d.conds = append(d.conds, l.b.k(1))
	}
	return l.collect(d, hint)
}

// setMap lowers {e : x \in S, y \in T}.
func (l *lowerer) setMap(e *core.SetMap, x ctx, hint *typ) *val {
	var d domain
	sets, parts := l.bounds(e.Binds, x)
	l.eachElement(e.Binds, sets, l.b.k(1), x, func(cond *node, x ctx) {
		v := l.settle(l.expr(e.Body, x, nil))
		d.elems, d.conds = append(d.elems, v), append(d.conds, cond)
		if len(d.elems) > enumerateMax {
			giveUp("a set is too large")
		}
	})
	return l.afterNodes(l.collect(d, hint), parts)
}

// eachElement calls body for all elements that the sets of binds may have, with
// the condition for being in the sets.
func (l *lowerer) eachElement(binds []core.Bind, sets []*val, cond *node, x ctx, body func(cond *node, x ctx)) {
	if len(binds) == 0 {
		body(cond, x)
		return
	}
	s := l.domain(sets[0], enumerateMax, mapMax)
	if s.u != nil {
		giveUp("a set is too large")
	}
	for i, c := range s.conds {
		done := l.spreading(len(s.at))
		l.eachElement(binds[1:], sets[1:], l.b.and(cond, c), x.in(l.element(binds[0], s.elems[i], x.env)), body)
		done()
	}
}

// collect returns the set of the elements whose conditions hold.
func (l *lowerer) collect(d domain, hint *typ) *val {
	known := true
	var vals []value.Value
	for i, v := range d.elems {
		if d.conds[i].is(1) && v.known {
			vals = append(vals, v.v)
		} else if !d.conds[i].is(0) {
			known = false
		}
	}
	if known {
		return knownVal(value.SetOf(vals))
	}
	var u *universe
	strict := false
	if hint != nil && hint.kind == kSet {
		u, strict = hint.u, true
	} else {
		var may []value.Value
		for _, v := range d.elems {
			if v.known {
				may = append(may, v.v)
				continue
			}
			more := expand(l.bounded(v), setElementsMax)
			if more == nil {
				giveUp("it is not known what the elements of a set may be")
			}
			may = append(may, more...)
		}
		if u = l.us.ofAll(may); u == nil || len(u.vals) > setElementsMax {
			giveUp("a set may have too many elements")
		}
	}
	ws := make([]*node, u.words())
	for k := range ws {
		ws[k] = l.b.k(0)
	}
	for i, v := range d.elems {
		c := d.conds[i]
		if c.is(0) {
			continue
		}
		n := l.index(v, u)
		if strict || n.lo < 0 {
			n = l.within(n, 0, int64(len(u.vals)-1))
		}
		for k := range ws {
			bit := l.b.bit(n, k)
			if n.op == oStop {
				bit = n
			}
			ws[k] = l.b.bor(ws[k], l.b.cond(c, bit, l.b.k(0)))
		}
	}
	return l.setVal(u, ws)
}

// bounded returns the type of v, narrowed to the bounds of its nodes.
func (l *lowerer) bounded(v *val) *typ {
	switch {
	case v.known:
		if u := l.us.ofAll([]value.Value{v.v}); u != nil {
			return &typ{kind: kAtom, u: u}
		}
		return nil
	case v.stop || v.t == nil:
		return nil
	case v.is(kInt):
		return intType(v.s.lo, v.s.hi)
	case v.is(kFn):
		t := &typ{kind: kFn, dom: v.t.dom, keys: v.t.keys}
		for i := range v.t.keys {
			e := l.bounded(v.at(i))
			if e == nil {
				return nil
			}
			t.elems = append(t.elems, e)
		}
		return t
	case v.is(kSeq):
		return nil
	}
	return v.t
}

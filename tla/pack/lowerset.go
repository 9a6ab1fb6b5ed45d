package pack

import (
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// domain is a set to go through: its elements, each with the condition on which
// it is there; or else a universe and words, where there are too many. Where at
// is set, the condition is that bit at[i] of ws is set.
type domain struct {
	conds []*node
	elems []*val
	at    []int
	u     *universe
	ws    []*node
}

// domain lists the elements of a set, up to most of them, or all that one that is
// not constant may have, where there is room for so many copies.
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
		return domain{u: u, ws: s.ws}
	}
	d := domain{ws: s.ws}
	for i, v := range u.vals {
		if c := l.b.test(s.ws, l.b.k(int64(i))); !c.is(0) {
			d.conds, d.elems, d.at = append(d.conds, c), append(d.elems, knownVal(v)), append(d.at, i)
		}
	}
	return d
}

// spreadMax bounds how many copies of one expression there are for the elements
// of sets that are not constant.
// Where that makes code too large, it is made again with fewer.
const (
	spreadMax    = 1500
	spreadMaxLow = 1
)

// spreading notes that what is lowered until done is called has n copies.
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
	if len(binds) == 0 {
		return l.pred(body, x)
	}
	b := binds[0]
	if b.Set == nil {
		giveUp("an unbounded quantifier")
	}
	end := int64(0)
	if exists {
		end = 1
	}
	d := l.domain(l.expr(b.Set, x, nil), unrollMax, mapMax)
	defer l.spreading(len(d.at))()
	rest := func(v *val) *node { return l.quant(exists, binds[1:], body, x.in(l.element(b, v, x.env))) }
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

// masked quantifies over a set of which every element is known. Those for which
// the body is constant are asked for together.
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
	// What may fail comes first: nothing that comes before it is to hide it.
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
	if exists {
		return l.b.or(out...)
	}
	return l.b.and(out...)
}

func (l *lowerer) choose(e *core.Choose, x ctx) *val {
	if e.Bind.Set == nil {
		giveUp("an unbounded CHOOSE")
	}
	d := l.domain(l.expr(e.Bind.Set, x, nil), unrollMax, mapMax)
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

// maskedFilter is the subset of a set, of which every element is known, for
// which in holds.
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
	l.eachElement(e.Binds, l.b.k(1), x, func(cond *node, x ctx) {
		v := l.settle(l.expr(e.Body, x, nil))
		d.elems, d.conds = append(d.elems, v), append(d.conds, cond)
		if len(d.elems) > enumerateMax {
			giveUp("a set is too large")
		}
	})
	return l.collect(d, hint)
}

// eachElement calls body for all elements that the sets of binds may have, with
// the condition on which they are there.
func (l *lowerer) eachElement(binds []core.Bind, cond *node, x ctx, body func(cond *node, x ctx)) {
	if len(binds) == 0 {
		body(cond, x)
		return
	}
	s := l.domain(l.expr(binds[0].Set, x, nil), enumerateMax, mapMax)
	if s.u != nil {
		giveUp("a set is too large")
	}
	for i, c := range s.conds {
		done := l.spreading(len(s.at))
		l.eachElement(binds[1:], l.b.and(cond, c), x.in(l.element(binds[0], s.elems[i], x.env)), body)
		done()
	}
}

// collect is the set of the elements that are there.
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

// bounded is the type of v with the bounds that its nodes have.
func (l *lowerer) bounded(v *val) *typ {
	switch {
	case v.stop || v.t == nil:
		return nil
	case v.known:
		return &typ{kind: kAtom, u: l.us.ofAll([]value.Value{v.v})}
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

// function lowers [x \in S |-> e].
func (l *lowerer) function(e *core.Fn, x ctx) *val {
	var sets []value.Value
	for _, b := range e.Binds {
		s := l.settle(l.expr(b.Set, x, nil))
		if !s.known || s.v.Kind() != value.KindSet || !value.IsFinite(s.v) || !value.AtMost(s.v, enumerateMax) {
			giveUp("a function on a set that is not constant")
		}
		for range b.Vars {
			sets = append(sets, s.v)
			if b.Tuple {
				break
			}
		}
	}
	dom := sets[0]
	if len(sets) > 1 {
		dom = value.Times(sets...)
		if !value.AtMost(dom, enumerateMax) {
			giveUp("a function on a large set")
		}
	}
	if value.IsEmpty(dom) {
		return knownVal(value.Tuple())
	}
	t := fnType(value.Enumerate(dom))
	out := l.fnVal(t, nil)
	out.part = func(i int) *val {
		in := x.env
		if e.Self != nil {
			in = in.bind(e.Self, &binding{val: out})
		}
		args := []value.Value{t.keys[i]}
		if len(sets) > 1 {
			args = t.keys[i].Elements()
		}
		n := 0
		for _, b := range e.Binds {
			if b.Tuple {
				in = l.element(b, knownVal(args[n]), in)
				n++
				continue
			}
			for _, name := range b.Vars {
				in = in.bind(name, &binding{val: knownVal(args[n])})
				n++
			}
		}
		l.enter()
		v := l.expr(e.Body, x.in(in), nil)
		l.calls--
		return v
	}
	return out
}

// apply lowers f[i].
func (l *lowerer) apply(f, i *val) *val {
	if f.stop || i.stop {
		return &val{stop: true}
	}
	if i = l.settle(i); i.known {
		if f.known {
			return knownVal(f.v.Apply(i.v))
		}
		if f.is(kSeq) {
			return l.applySeq(f, i)
		}
		g := f
		if f.is(kAtom) {
			return l.tabulate(f, func(g value.Value) value.Value { return g.Apply(i.v) })
		}
		g = l.asFn(f)
		k := g.t.key(i.v)
		if k < 0 {
			return &val{stop: true}
		}
		return g.at(k)
	}
	if f.is(kSeq) {
		return l.applySeq(f, i)
	}
	if f.known || f.is(kAtom) {
		var v *val
		if l.try(func() {
			v = l.tabulate2(f, i, func(g, j value.Value) value.Value { return g.Apply(j) })
		}) {
			return v
		}
	}
	g := l.asFn(f)
	u := l.us.of(g.t.dom)
	if u == nil || len(u.vals) > keysMax {
		giveUp("a function with too many arguments")
	}
	if len(u.vals) == 0 {
		return &val{stop: true} // there is nothing that it could be applied to
	}
	n := l.must(i, u)
	vals := make([]*val, len(u.vals))
	for k, v := range u.vals {
		vals[k] = g.at(g.t.key(v))
	}
	return l.pick(n, vals)
}

// pick is vals[n].
func (l *lowerer) pick(n *node, vals []*val) *val {
	if n.known() {
		return vals[n.k]
	}
	t := vals[0].t
	for _, v := range vals {
		if v.stop || v.known || v.t != t {
			return l.pickMixed(n, vals)
		}
	}
	sel := func(part func(v *val) *node) *node {
		s := node{op: oSel, a: n, lo: 1<<63 - 1, hi: -1 << 63}
		for _, v := range vals {
			p := part(v)
			s.list = append(s.list, p)
			s.lo, s.hi = min(s.lo, p.lo), max(s.hi, p.hi)
		}
		return l.b.node(s)
	}
	out := &val{t: t}
	switch t.kind {
	case kSet:
		for k := range vals[0].ws {
			out.ws = append(out.ws, sel(func(v *val) *node { return v.ws[k] }))
		}
		return out
	case kFn, kSeq:
		out = l.fnVal(t, func(i int) *val {
			parts := make([]*val, len(vals))
			for k, v := range vals {
				parts[k] = v.at(i)
			}
			return l.pick(n, parts)
		})
		if t.kind == kSeq {
			out.s = sel(func(v *val) *node { return v.s })
		}
		return out
	}
	out.s = sel(func(v *val) *node { return v.s })
	return out
}

// pickMixed is pick of values of several types.
func (l *lowerer) pickMixed(n *node, vals []*val) *val {
	out := vals[len(vals)-1]
	for i := len(vals) - 2; i >= 0; i-- {
		out = l.merge(l.b.eq(n, l.b.k(int64(i))), vals[i], out)
	}
	return out
}

// applySeq is s[i] of a sequence.
func (l *lowerer) applySeq(s, i *val) *val {
	n := l.asInt(i)
	if n.known() {
		if n.k < 1 || n.k > int64(s.t.most) {
			return &val{stop: true}
		}
		return l.merge(l.b.not(l.b.less(s.s, n)), s.at(int(n.k-1)), &val{stop: true})
	}
	vals := make([]*val, s.t.most)
	for k := range vals {
		vals[k] = s.at(k)
	}
	inside := l.b.and(l.b.less(l.b.k(0), n), l.b.not(l.b.less(s.s, n)))
	at := l.b.cond(inside, l.b.node(node{op: oSub, a: n, b: l.b.k(1), lo: 0, hi: int64(s.t.most - 1)}), l.b.stop())
	return l.pick(at, vals)
}

// except lowers [f EXCEPT ![i].j = e].
func (l *lowerer) except(e *core.Except, x ctx) *val {
	f := l.expr(e.Fn, x, nil)
	for _, u := range e.Updates {
		f = l.update(f, u.Path, u, x)
	}
	return f
}

func (l *lowerer) update(f *val, path []core.Index, u core.Update, x ctx) *val {
	if len(path) == 0 {
		if u.At != nil {
			x.env = x.env.bind(u.At, &binding{val: f})
		}
		hint := f.t
		if !f.is(kSet) && !f.is(kSeq) {
			hint = nil
		}
		return l.expr(u.Value, x, hint)
	}
	i := knownVal(value.String(path[0].Field))
	if path[0].X != nil {
		i = l.settle(l.expr(path[0].X, x, nil))
	}
	if f.is(kSeq) {
		n := l.asInt(i)
		out := l.fnVal(f.t, func(k int) *val {
			hit := l.b.and(l.b.eq(n, l.b.k(int64(k+1))), l.b.less(l.b.k(int64(k)), f.s))
			if hit.is(0) {
				return f.at(k)
			}
			return l.coerce(l.merge(hit, l.update(f.at(k), path[1:], u, x), f.at(k)), f.t.elem)
		})
		inside := l.b.and(l.b.less(l.b.k(0), n), l.b.not(l.b.less(f.s, n)))
		out.s = l.b.cond(inside, f.s, l.b.stop())
		return out
	}
	g := l.asFn(f)
	t := &typ{kind: kFn, dom: g.t.dom, keys: g.t.keys, elems: g.t.elems}
	if i.known {
		k := g.t.key(i.v)
		if k < 0 {
			giveUp("EXCEPT outside the domain")
		}
		changed := l.update(g.at(k), path[1:], u, x)
		return l.fnVal(t, func(j int) *val {
			if j == k {
				return changed
			}
			return g.at(j)
		})
	}
	dom := l.us.of(g.t.dom)
	if dom == nil {
		giveUp("EXCEPT of a large function")
	}
	n := l.must(i, dom)
	return l.fnVal(t, func(j int) *val {
		hit := l.b.eq(n, l.b.k(int64(dom.find(g.t.keys[j]))))
		if hit.is(0) {
			return g.at(j)
		}
		return l.merge(hit, l.update(g.at(j), path[1:], u, x), g.at(j))
	})
}

// member lowers v \in S for an expression S.
func (l *lowerer) member(v *val, set core.Expr, x ctx) *node {
	l.step()
	v = l.settle(v)
	return l.asked(l.memberOf(v, set, x), v)
}

func (l *lowerer) memberOf(v *val, set core.Expr, x ctx) *node {
	switch e := set.(type) {
	case *core.SetFilter:
		in := l.member(v, e.Bind.Set, x)
		if in.is(0) {
			return in
		}
		return l.b.and(in, l.pred(e.Pred, x.in(l.element(e.Bind, v, x.env))))
	case *core.SetEnum:
		if !v.known && !v.is(kSet) && !v.is(kFn) && !v.is(kSeq) {
			break
		}
		var list []*node
		for _, f := range e.Elems {
			list = append(list, l.equal(v, l.expr(f, x, v.t)))
		}
		return l.b.or(list...)
	case *core.Call:
		if n := l.memberCall(v, e, x); n != nil {
			return n
		}
	case *core.Op:
		switch e.Op {
		case core.OpCup:
			a := l.member(v, e.Args[0], x)
			if a.is(1) {
				return a
			}
			return l.b.or(a, l.member(v, e.Args[1], x))
		case core.OpCap:
			a := l.member(v, e.Args[0], x)
			if a.is(0) {
				return a
			}
			return l.b.and(a, l.member(v, e.Args[1], x))
		case core.OpDiff:
			a := l.member(v, e.Args[0], x)
			if a.is(0) {
				return a
			}
			return l.b.and(a, l.b.not(l.member(v, e.Args[1], x)))
		case core.OpSubset:
			return l.subseteq(v, e.Args[0], x)
		}
	case *core.FnSet:
		if v.is(kFn) {
			dom := l.settle(l.expr(e.Dom, x, nil))
			if !dom.known {
				break
			}
			if !value.Equal(dom.v, v.t.dom) {
				return l.b.bool(false)
			}
			var list []*node
			for i := range v.t.keys {
				list = append(list, l.member(v.at(i), e.Rng, x))
			}
			return l.b.and(list...)
		}
	case *core.RecordSet:
		if v.is(kFn) {
			names := make([]value.Value, len(e.Fields))
			for i, f := range e.Fields {
				names[i] = value.String(f.Name)
			}
			if !value.Equal(value.SetOf(names), v.t.dom) {
				return l.b.bool(false)
			}
			var list []*node
			for _, f := range e.Fields {
				list = append(list, l.member(v.at(v.t.key(value.String(f.Name))), f.X, x))
			}
			return l.b.and(list...)
		}
	}
	return l.contains(v, l.expr(set, x, nil))
}

// memberCall lowers v \in Op(args), looking inside Op where that helps; nil
// where it does not.
func (l *lowerer) memberCall(v *val, e *core.Call, x ctx) *node {
	if _, ok := x.env.ofDef(e.Def); ok {
		return nil
	}
	d, _ := l.p.Definition(e.Def)
	if d == nil {
		return nil
	}
	if _, native, _ := l.p.Native(d); native {
		if d.Name == ".." && (v.is(kInt) || v.known && v.v.Kind() == value.KindInt) {
			n, lo, hi := l.asInt(v), l.asInt(l.expr(e.Args[0], x, nil)), l.asInt(l.expr(e.Args[1], x, nil))
			return l.between(&val{lo: lo, hi: hi}, n)
		}
		if d.Name == "Seq" && d.Module == "Sequences" && v.is(kSeq) {
			var list []*node
			for i := range v.t.most {
				list = append(list, l.b.or(l.b.not(l.b.less(l.b.k(int64(i)), v.s)), l.member(v.at(i), e.Args[0], x)))
			}
			return l.b.and(list...)
		}
		return nil
	}
	if d.Body == nil || d.Recursive || !v.is(kFn) && !v.is(kSet) && !v.is(kSeq) && !v.is(kInt) {
		return nil
	}
	if s, _ := l.p.Once(d); !s.IsUndefined() && s.Kind() == value.KindSet && value.IsFinite(s) && value.AtMost(s, unrollMax) {
		return nil // its elements are at hand
	}
	l.enter()
	n := l.member(v, d.Body, x.in(l.arguments(d.Params, e.Args, x, nil)))
	l.calls--
	return n
}

// contains lowers v \in s.
func (l *lowerer) contains(v, s *val) *node {
	switch {
	case v.stop || s.stop:
		return l.b.node(node{op: oStop, hi: 1})
	case s.lo != nil:
		return l.between(s, l.asInt(v))
	case s.known && v.known:
		return l.b.bool(value.Contains(s.v, v.v))
	case s.known && v.is(kInt):
		if lo, hi, ok := s.v.AsInterval(); ok {
			return l.between(&val{lo: l.b.k(int64(lo)), hi: l.b.k(int64(hi))}, v.s)
		}
		if v.s.lo >= 0 && value.Equal(s.v, value.Nat()) || value.Equal(s.v, value.Ints()) {
			return l.b.k(1)
		}
		if value.Equal(s.v, value.Nat()) {
			return l.b.not(l.b.less(v.s, l.b.k(0)))
		}
	}
	if s.known && (v.is(kAtom) || v.is(kBool) || v.is(kInt)) && !(v.is(kInt) && v.s.hi-v.s.lo >= tabulateMax) {
		return l.asBool(l.tabulate(v, func(x value.Value) value.Value { return value.Bool(value.Contains(s.v, x)) }))
	}
	if s.known && s.v.Kind() == value.KindSet && v.is(kFn) && value.IsFinite(s.v) && value.AtMost(s.v, unrollMax) {
		var list []*node
		for _, e := range s.v.Elems() {
			list = append(list, l.equal(v, knownVal(e)))
		}
		return l.b.or(list...)
	}
	set := l.asSet(s)
	l.comparable(v, set.t.u)
	return l.asked(l.indexed(l.index(v, set.t.u), set), set)
}

// indexed says whether element number n is in a set.
func (l *lowerer) indexed(n *node, set *val) *node {
	if n.lo < 0 && !n.known() {
		// There is no bit -1.
		return l.b.node(node{op: oTest, list: set.ws, a: n, hi: 1})
	}
	return l.b.test(set.ws, n)
}

// comparable gives up where v must not be compared with an element of u.
func (l *lowerer) comparable(v *val, u *universe) {
	if len(u.vals) == 0 {
		return
	}
	k := u.vals[0].Kind()
	switch {
	case v.known:
		for _, x := range u.vals {
			value.Equal(x, v.v)
		}
	case v.is(kAtom) && v.t.u == u:
	case v.is(kAtom):
		if l.us.ofAll(append(append([]value.Value(nil), u.vals...), v.t.u.vals...)) == nil {
			giveUp("two values cannot be compared")
		}
	case v.is(kInt) && u.every(value.KindInt), v.is(kBool) && u.every(value.KindBool):
	case v.is(kFn) && all(u.vals, func(x value.Value) bool { return functional(x.Kind()) }):
	case v.is(kSet) && k == value.KindSet && u.every(value.KindSet):
	default:
		giveUp("two values cannot be compared")
	}
}

// subseteq lowers v \subseteq S for an expression S.
func (l *lowerer) subseteq(v *val, set core.Expr, x ctx) *node {
	if v.known && !value.IsFinite(v.v) {
		giveUp("an infinite set")
	}
	s := l.asSet(v)
	return l.asked(l.subsetOf(s, set, x), s)
}

func (l *lowerer) subsetOf(s *val, set core.Expr, x ctx) *node {
	if n := l.expr2(set, x); n != nil {
		b := l.settle(n)
		if b.known {
			outside := make([]int64, len(s.ws))
			for i, e := range s.t.u.vals {
				if !value.Contains(b.v, e) {
					outside[i/64] |= 1 << (i % 64)
				}
			}
			var list []*node
			for k, mask := range outside {
				list = append(list, l.b.eq(l.b.band(s.ws[k], l.b.k(mask)), l.b.k(0)))
			}
			return l.b.and(list...)
		}
		if b.is(kSet) || b.is(kAtom) || b.lo != nil {
			c := l.asSet(b)
			u := l.us.ofAll(append(append([]value.Value(nil), s.t.u.vals...), c.t.u.vals...))
			if u == nil {
				giveUp("two sets cannot be compared")
			}
			p, q := l.translate(s, u, true), l.translate(c, u, true)
			var list []*node
			for k := range p {
				list = append(list, l.b.eq(l.b.bdiff(p[k], q[k]), l.b.k(0)))
			}
			return l.asked(l.b.and(list...), c)
		}
	}
	// Every element is asked.
	var list []*node
	for i, e := range s.t.u.vals {
		list = append(list, l.b.or(l.b.not(l.b.test(s.ws, l.b.k(int64(i)))), l.member(knownVal(e), set, x)))
	}
	return l.b.and(list...)
}

// expr2 is expr, or nil where that fails.
func (l *lowerer) expr2(e core.Expr, x ctx) (v *val) {
	if !l.try(func() { v = l.expr(e, x, nil) }) {
		return nil
	}
	return v
}

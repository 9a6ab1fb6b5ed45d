// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

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
	out.lazy = true
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

// applyWhole lowers f[i] after evaluating all values of f. If the values of f
// are evaluated on demand, it evaluates only f[i], unless f is written here.
func (l *lowerer) applyWhole(f, i *val, here bool) *val {
	v := l.apply(f, i)
	if f.lazy && !here || !f.is(kFn) && !f.is(kSeq) {
		return v
	}
	return l.after(v, f)
}

// apply lowers f[i].
func (l *lowerer) apply(f, i *val) *val {
	if f.stop || i.stop {
		return &val{stop: true}
	}
	if f.is(kPart) {
		return l.applyPart(f, l.settle(i))
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
			return l.tabulate(f, func(g value.Value) value.Value { return applied(g, i.v) })
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
			v = l.tabulate2(f, i, applied)
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

// applied returns f[x], or undefined if x is outside the domain. It avoids the error
// that apply would make for each pair of a function and an argument, which would take
// most of the time of making a table.
func applied(f, x value.Value) value.Value {
	v, _ := f.Lookup(x)
	return v
}

// pick returns vals[n].
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
	if t != nil && t.kind == kPart {
		giveUp("one of several functions whose domain is not constant")
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
	if len(vals) == 1 {
		return l.afterNodes(out, []*node{n})
	}
	for i := len(vals) - 2; i >= 0; i-- {
		out = l.merge(l.b.eq(n, l.b.k(int64(i))), vals[i], out)
	}
	return out
}

// applySeq returns s[i] of a sequence.
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
		return l.after(l.expr(u.Value, x, hint), f)
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

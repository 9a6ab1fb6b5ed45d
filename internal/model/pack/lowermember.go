// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// member lowers v \in S for an expression S.
func (l *lowerer) member(v *val, set core.Expr, x ctx) *node {
	l.step()
	v = l.settle(v)
	return l.asked(l.memberOf(v, set, x), v)
}

func (l *lowerer) memberOf(v *val, set core.Expr, x ctx) *node {
	switch e := set.(type) {
	case *core.SetFilter:
		parts := l.askedParts(e, x)
		in := l.member(v, e.Bind.Set, x)
		if !in.is(0) {
			in = l.b.and(in, l.pred(e.Pred, x.in(l.element(e.Bind, v, x.env))))
		}
		return l.askedFor(in, parts)
	case *core.SetEnum:
		if !v.known && !v.is(kSet) && !v.is(kFn) && !v.is(kSeq) {
			break
		}
		var list []*node
		var elems []*val
		for _, f := range e.Elems {
			elem := l.expr(f, x, v.t)
			list, elems = append(list, l.equal(v, elem)), append(elems, elem)
		}
		return l.asked(l.b.or(list...), elems...)
	case *core.Call:
		if n := l.memberCall(v, e, x); n != nil {
			return n
		}
	case *core.Op:
		switch e.Op {
		case core.OpCup, core.OpCap, core.OpDiff:
			return l.memberOfBoth(v, e, x)
		case core.OpSubset:
			return l.subseteq(v, e.Args[0], x)
		}
	case *core.FnSet:
		if v.is(kFn) {
			dom := l.settle(l.expr(e.Dom, x, nil))
			if !dom.known {
				break
			}
			parts := l.setParts(e.Rng, x)
			if !value.Equal(dom.v, v.t.dom) {
				return l.askedFor(l.b.bool(false), parts)
			}
			var list []*node
			for i := range v.t.keys {
				list = append(list, l.member(v.at(i), e.Rng, x))
			}
			return l.askedFor(l.b.and(list...), parts)
		}
	case *core.RecordSet:
		if v.is(kFn) {
			names := make([]value.Value, len(e.Fields))
			for i, f := range e.Fields {
				names[i] = value.String(f.Name)
			}
			parts := l.setParts(e, x)
			if !value.Equal(value.SetOf(names), v.t.dom) {
				return l.askedFor(l.b.bool(false), parts)
			}
			var list []*node
			for _, f := range e.Fields {
				list = append(list, l.member(v.at(v.t.key(value.String(f.Name))), f.X, x))
			}
			return l.askedFor(l.b.and(list...), parts)
		}
	}
	return l.contains(v, l.expr(set, x, nil))
}

// memberOfBoth lowers v \in A \cup B, v \in A \cap B and v \in A \ B.
func (l *lowerer) memberOfBoth(v *val, e *core.Op, x ctx) *node {
	parts := l.askedParts(e, x)
	n := l.member(v, e.Args[0], x)
	switch {
	case e.Op == core.OpCup && !n.is(1):
		n = l.b.or(n, l.member(v, e.Args[1], x))
	case e.Op == core.OpCap && !n.is(0):
		n = l.b.and(n, l.member(v, e.Args[1], x))
	case e.Op == core.OpDiff && !n.is(0):
		n = l.b.and(n, l.b.not(l.member(v, e.Args[1], x)))
	}
	return l.askedFor(n, parts)
}

// memberCall lowers v \in Op(args). It inlines Op if that helps; otherwise it
// returns nil.
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
			return l.askedFor(l.b.and(list...), l.setParts(e.Args[0], x))
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

// indexed returns a test whether element number n is in a set.
func (l *lowerer) indexed(n *node, set *val) *node {
	if n.lo < 0 && !n.known() {
		// The number -1 stands for a value that is not in the universe: it has
		// no bit.
		return l.b.node(node{op: oTest, list: set.ws, a: n, hi: 1})
	}
	return l.b.test(set.ws, n)
}

// comparable gives up if v must not be compared with an element of u.
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
	// Every element is tested, because a later one may be an error.
	var list []*node
	for i, e := range s.t.u.vals {
		list = append(list, l.b.or(l.b.not(l.b.test(s.ws, l.b.k(int64(i)))), l.member(knownVal(e), set, x)))
	}
	return l.askedFor(l.b.and(list...), l.setParts(set, x))
}

// expr2 is expr, but returns nil if that gives up.
func (l *lowerer) expr2(e core.Expr, x ctx) (v *val) {
	if !l.try(func() { v = l.expr(e, x, nil) }) {
		return nil
	}
	return v
}

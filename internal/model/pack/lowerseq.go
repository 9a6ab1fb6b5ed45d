// SPDX-License-Identifier: Apache-2.0

package pack

import "github.com/ashlar-dev/ashlar/internal/tla/core"

// sequence lowers the operators of Sequences. It returns nil for operators and
// values that it cannot lower.
func (l *lowerer) sequence(name string, vs []*val, hint *typ) *val {
	s := vs[0]
	if name == "Len" {
		if s.is(kSeq) {
			return l.after(l.intVal(s.s), s)
		}
		if s.is(kFn) && isSequence(s.t) {
			return l.intVal(l.asked(l.b.k(int64(len(s.t.keys))), s))
		}
		return nil
	}
	if name == `\o` || name == `\circ` {
		return l.concat(vs[0], vs[1], hint)
	}
	if !s.is(kSeq) && hint != nil && hint.kind == kSeq && (s.known || s.is(kFn)) {
		s = l.coerceSeq(s, hint)
	}
	if !s.is(kSeq) {
		return nil
	}
	switch name {
	case "Head":
		return l.after(l.merge(l.b.less(l.b.k(0), s.s), s.at(0), &val{stop: true}), s)
	case "Tail":
		out := l.fnVal(s.t, func(i int) *val {
			if i+1 >= s.t.most {
				return l.zero(s.t.elem)
			}
			return s.at(i + 1)
		})
		out.s = l.b.cond(l.b.less(l.b.k(0), s.s), l.count(s.s, -1), l.b.stop())
		return l.after(out, s.at(0))
	case "Append":
		// Appending to a full sequence stops the code.
		e := l.coerce(vs[1], s.t.elem)
		out := l.fnVal(s.t, func(i int) *val {
			return l.merge(l.b.eq(s.s, l.b.k(int64(i))), e, s.at(i))
		})
		out.s = l.within(l.count(s.s, 1), 0, int64(s.t.most))
		return out
	case "SubSeq":
		return l.after(l.subSeq(s, l.asInt(vs[1]), l.asInt(vs[2])), s)
	}
	return nil
}

// concat lowers s \o t. The code stops if the result is longer than the type of
// the longer operand, or the hint, permits.
func (l *lowerer) concat(s, t *val, hint *typ) *val {
	var typ *typ
	switch {
	case hint != nil && hint.kind == kSeq:
		typ = hint
	case s.is(kSeq) && (!t.is(kSeq) || s.t.most >= t.t.most):
		typ = s.t
	case t.is(kSeq):
		typ = t.t
	default:
		return nil
	}
	x, y := l.coerceSeq(s, typ), l.coerceSeq(t, typ)
	out := l.fnVal(typ, func(i int) *val {
		v := x.at(i)
		for k := min(i, int(min(x.s.hi, int64(typ.most)))); k >= 0; k-- {
			if int64(k) >= x.s.lo {
				v = l.merge(l.b.eq(x.s, l.b.k(int64(k))), y.at(i-k), v)
			}
		}
		return l.coerce(v, typ.elem)
	})
	out.s = l.within(l.b.arith(oAdd, x.s, y.s), 0, int64(typ.most))
	return out
}

// subSeq lowers SubSeq(s, from, to).
func (l *lowerer) subSeq(s *val, from, to *node) *val {
	inside := l.b.and(l.b.less(l.b.k(0), from), l.b.not(l.b.less(s.s, to)))
	n := l.b.cond(inside, l.count(l.b.arith(oSub, to, from), 1), l.b.stop())
	n = l.b.cond(l.b.less(to, from), l.b.k(0), n)
	out := l.fnVal(s.t, func(i int) *val {
		v := l.zero(s.t.elem)
		for k := s.t.most - 1 - i; k >= 0; k-- {
			hit := l.b.eq(from, l.b.k(int64(k+1)))
			v = l.merge(hit, s.at(k+i), v)
		}
		// Beyond the end of the sequence, all bits are 0.
		return l.coerce(l.merge(l.b.less(l.b.k(int64(i)), n), v, l.zero(s.t.elem)), s.t.elem)
	})
	out.s = l.within(n, 0, int64(s.t.most))
	return out
}

// selectSeq lowers SelectSeq(s, test). Every element is tested.
func (l *lowerer) selectSeq(s *val, test func(v *val) *node) *val {
	most := s.t.most
	keep, before := make([]*node, most), make([]*node, most+1)
	before[0] = l.b.k(0)
	for i := range most {
		keep[i] = l.b.less(l.b.k(int64(i)), s.s)
		if !keep[i].is(0) {
			keep[i] = l.b.and(keep[i], test(s.at(i)))
		}
		before[i+1] = l.b.arith(oAdd, before[i], keep[i])
	}
	out := l.fnVal(s.t, func(i int) *val {
		v := l.zero(s.t.elem)
		for k := most - 1; k >= i; k-- {
			v = l.merge(l.b.and(keep[k], l.b.eq(before[k], l.b.k(int64(i)))), s.at(k), v)
		}
		return l.coerce(v, s.t.elem)
	})
	out.s = before[most]
	return out
}

// selection lowers SelectSeq applied to expressions; nil if the sequence cannot
// be lowered.
func (l *lowerer) selection(args []core.Expr, x ctx) *val {
	s := l.settle(l.expr(args[0], x, nil))
	if !s.is(kSeq) {
		return nil
	}
	test := &binding{expr: args[1], env: x.env}
	element := new(core.Local)
	out := l.selectSeq(s, func(v *val) *node {
		y := x.in(x.env.bind(element, &binding{val: v}))
		return l.asBool(l.operator(test, []core.Expr{&core.LocalRef{Local: element}}, y, boolType))
	})
	return l.after(out, s)
}

// count is n plus by.
func (l *lowerer) count(n *node, by int64) *node {
	if n.known() {
		return l.b.k(n.k + by)
	}
	out := node{op: oAdd, a: n, b: l.b.k(by), lo: n.lo + by, hi: n.hi + by}
	if out.lo < intMin || out.hi > intMax {
		return l.b.arith(oAdd, n, l.b.k(by))
	}
	return l.b.node(out)
}

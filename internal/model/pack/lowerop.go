// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// op lowers the operators of the language.
func (l *lowerer) op(e *core.Op, x ctx, hint *typ) *val {
	switch e.Op {
	case core.OpPrime:
		if x.primed {
			giveUp("a prime within a prime")
		}
		x.primed = true
		return l.expr(e.Args[0], x, hint)
	case core.OpBoolean:
		return knownVal(value.Booleans())
	case core.OpString:
		return knownVal(value.Strings())
	case core.OpCup, core.OpCap, core.OpDiff:
		return l.setOp(e.Op, l.expr(e.Args[0], x, hint), l.expr(e.Args[1], x, hint), hint)
	case core.OpSubset:
		return l.constants(func(vs []value.Value) value.Value { return value.Subsets(vs[0]) }, x, e.Args[0])
	case core.OpUnion:
		if m, ok := e.Args[0].(*core.SetMap); ok {
			return l.unionOf(m, x, hint)
		}
		return l.union(l.expr(e.Args[0], x, nil))
	case core.OpDomain:
		f := l.expr(e.Args[0], x, nil)
		switch {
		case f.known:
			return knownVal(f.v.Domain())
		case f.is(kFn):
			if f.lazy {
				return knownVal(f.t.dom)
			}
			return l.after(knownVal(f.t.dom), f)
		case f.is(kPart):
			return f.over
		case f.is(kSeq):
			return l.after(l.interval(l.b.k(1), f.s), f)
		}
		return l.tabulate(f, value.Value.Domain)
	case core.OpNot, core.OpImplies, core.OpEquiv, core.OpEq, core.OpNe, core.OpIn, core.OpNotIn, core.OpSubseteq, core.OpUnchanged, core.OpEnabled:
		return l.boolVal(l.opPred(e, x))
	}
	giveUp("%v is not packed", e.Op)
	return nil
}

func (l *lowerer) interval(lo, hi *node) *val {
	if lo.known() && hi.known() {
		return knownVal(value.Interval(int32(lo.k), int32(hi.k)))
	}
	return &val{lo: lo, hi: hi}
}

// setOp lowers a union, an intersection or a difference.
func (l *lowerer) setOp(o core.OpCode, a, b *val, hint *typ) *val {
	if a.known && b.known {
		switch o {
		case core.OpCup:
			return knownVal(value.Union(a.v, b.v))
		case core.OpCap:
			return knownVal(value.Intersect(a.v, b.v))
		}
		return knownVal(value.Diff(a.v, b.v))
	}
	// A constant set is converted to the universe of the other set, if no
	// element is lost.
	var u *universe
	switch {
	case o == core.OpCap && (a.is(kSet) || b.is(kSet)):
		if !a.is(kSet) {
			a, b = b, a
		}
		u = a.t.u
		if b.known && !value.IsFinite(b.v) {
			return l.filtered(u, func(i int) *node {
				return l.b.and(l.b.test(a.ws, l.b.k(int64(i))), l.b.bool(value.Contains(b.v, u.vals[i])))
			})
		}
	case o == core.OpDiff && a.is(kSet):
		u = a.t.u
		if b.known && !value.IsFinite(b.v) {
			return l.filtered(u, func(i int) *node {
				return l.b.and(l.b.test(a.ws, l.b.k(int64(i))), l.b.bool(!value.Contains(b.v, u.vals[i])))
			})
		}
	}
	p, q := l.asSet(a), l.asSet(b)
	if both := l.us.ofAll(append(append([]value.Value(nil), p.t.u.vals...), q.t.u.vals...)); both == nil {
		giveUp("the elements of two sets cannot be compared")
	} else if u == nil && !(o == core.OpDiff) {
		u = both
		if hint != nil && hint.kind == kSet && subUniverse(p.t.u, hint.u) && subUniverse(q.t.u, hint.u) {
			u = hint.u
		}
	} else if u == nil {
		u = p.t.u
	}
	x, y := l.translate(p, u, o == core.OpCup), l.translate(q, u, o == core.OpCup)
	ws := make([]*node, len(x))
	for k := range ws {
		switch o {
		case core.OpCup:
			ws[k] = l.b.bor(x[k], y[k])
		case core.OpCap:
			ws[k] = l.b.band(x[k], y[k])
		default:
			ws[k] = l.b.bdiff(x[k], y[k])
		}
	}
	if u != p.t.u || u != q.t.u {
		ws[0] = l.asked(ws[0], p, q) // elements that are not in u were left out
	}
	return l.setVal(u, ws)
}

func subUniverse(a, b *universe) bool {
	return a == b || all(a.vals, func(v value.Value) bool { return b.find(v) >= 0 })
}

// union lowers UNION S.
func (l *lowerer) union(s *val) *val {
	if s.known {
		return knownVal(value.BigUnion(s.v))
	}
	d := l.domain(s, enumerateMax, mapMax)
	if d.u != nil {
		giveUp("a union of too many sets")
	}
	out := knownVal(value.EmptySet())
	for i, c := range d.conds {
		out = l.setOp(core.OpCup, out, l.merge(c, d.elems[i], knownVal(value.EmptySet())), nil)
	}
	return out
}

// unionOf lowers UNION {e : x \in S} without building the set of sets.
func (l *lowerer) unionOf(e *core.SetMap, x ctx, hint *typ) *val {
	out := knownVal(value.EmptySet())
	sets, parts := l.bounds(e.Binds, x)
	l.eachElement(e.Binds, sets, l.b.k(1), x, func(cond *node, x ctx) {
		v := l.settle(l.expr(e.Body, x, hint))
		if !cond.is(1) {
			v = l.merge(cond, v, knownVal(value.EmptySet()))
		}
		out = l.setOp(core.OpCup, out, v, hint)
	})
	return l.afterNodes(out, parts)
}

// native lowers the application of an operator that is implemented in Go.
func (l *lowerer) native(d *core.Def, compute func([]value.Value) value.Value, pure bool, args []core.Expr, x ctx, hint *typ) *val {
	for _, p := range d.Params {
		if p.Arity > 0 {
			if d.Name == "SelectSeq" && d.Module == "Sequences" {
				if v := l.selection(args, x); v != nil {
					return v
				}
			}
			return l.nativeBody(d, args, x, hint)
		}
	}
	vs := make([]*val, len(args))
	known := pure
	for i, a := range args {
		vs[i] = l.settle(l.expr(a, x, nil))
		known = known && vs[i].known
	}
	if known {
		plain := make([]value.Value, len(vs))
		for i, v := range vs {
			plain[i] = v.v
		}
		return knownVal(compute(plain))
	}
	for _, v := range vs {
		if v.stop {
			return v
		}
	}
	if v := l.nativeOp(d, vs, hint); v != nil {
		return v
	}
	if pure && len(vs) <= 2 {
		var out *val
		if l.try(func() {
			if len(vs) == 1 {
				out = l.tabulate(vs[0], func(v value.Value) value.Value { return compute([]value.Value{v}) })
			} else {
				out = l.tabulate2(vs[0], vs[1], func(v, w value.Value) value.Value { return compute([]value.Value{v, w}) })
			}
		}) {
			return out
		}
	}
	return l.after(l.nativeBody(d, args, x, hint), vs...)
}

// nativeBody lowers the TLA+ definition of such an operator.
func (l *lowerer) nativeBody(d *core.Def, args []core.Expr, x ctx, hint *typ) *val {
	if _, _, pure := l.p.Native(d); d.Body == nil || !pure {
		giveUp("%s is not packed", d.Name)
	}
	l.enter()
	v := l.expr(d.Body, x.in(l.arguments(d.Params, args, x, nil)), hint)
	l.calls--
	return v
}

// nativeOp lowers the operators that have lowerings of their own; nil for
// others.
func (l *lowerer) nativeOp(d *core.Def, vs []*val, hint *typ) *val {
	switch d.Module {
	case "Naturals", "Integers", "Reals":
		return l.arithmetic(d.Name, vs)
	case "FiniteSets":
		switch d.Name {
		case "Cardinality":
			return l.intVal(l.b.pop(l.asSet(vs[0]).ws))
		case "IsFiniteSet":
			return l.after(knownVal(value.Bool(true)), l.asSet(vs[0]))
		}
	case "Sequences":
		return l.sequence(d.Name, vs, hint)
	}
	return nil
}

func (l *lowerer) arithmetic(name string, vs []*val) *val {
	ops := map[string]op{"+": oAdd, "-": oSub, "*": oMul, `\div`: oDiv, "%": oMod}
	switch name {
	case "-.":
		return l.intVal(l.b.arith(oSub, l.b.k(0), l.asInt(vs[0])))
	case "<", "<=", ">", ">=":
		a, b := l.asInt(vs[0]), l.asInt(vs[1])
		switch name {
		case "<":
			return l.boolVal(l.b.less(a, b))
		case "<=":
			return l.boolVal(l.b.not(l.b.less(b, a)))
		case ">":
			return l.boolVal(l.b.less(b, a))
		}
		return l.boolVal(l.b.not(l.b.less(a, b)))
	case "..":
		return l.interval(l.asInt(vs[0]), l.asInt(vs[1]))
	}
	if o, ok := ops[name]; ok {
		return l.intVal(l.b.arith(o, l.asInt(vs[0]), l.asInt(vs[1])))
	}
	return nil
}

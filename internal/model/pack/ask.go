// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"math"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// The evaluator evaluates all operands of most operators, and fails if a part of
// one has no value, whether the result depends on that part or not. Code that
// could compute the result from some parts must therefore also evaluate the other
// parts that may stop. Only the values of [x \in S |-> e] are evaluated one by
// one.

// asked returns a node that evaluates all parts of the values that may stop,
// and then n.
func (l *lowerer) asked(n *node, vs ...*val) *node {
	var parts []*node
	for _, v := range vs {
		parts = append(parts, l.unsure(v)...)
	}
	return l.askedFor(n, parts)
}

// askedFor returns a node that evaluates the parts and then n.
func (l *lowerer) askedFor(n *node, parts []*node) *node {
	return l.b.after(n, parts)
}

// after returns a node that evaluates each of the parts once and then n. If a
// part may stop, the result is not a constant, even if n is one.
func (b *build) after(n *node, parts []*node) *node {
	if n.op == oStop {
		return n
	}
	var asks []*node
	for _, p := range parts {
		if p != n && !p.pure && !slices.Contains(asks, p) {
			asks = append(asks, p)
		}
	}
	for i := len(asks) - 1; i >= 0; i-- {
		// No number is less than the minimum. The comparison serves only to evaluate
		// its operand.
		never := b.less(asks[i], b.k(math.MinInt64))
		other := b.k(0)
		if n.lo > 0 || n.hi < 0 {
			other = b.k(n.lo)
		}
		n = b.cond(never, other, n)
	}
	return n
}

// unsure returns the nodes of v that may stop.
func (l *lowerer) unsure(v *val) []*node {
	if v.known || v.sure {
		return nil
	}
	if v.unsureDone {
		return v.unsure
	}
	var parts []*node
	add := func(ns ...*node) {
		for _, n := range ns {
			if n != nil && !n.pure && !slices.Contains(parts, n) {
				parts = append(parts, n)
			}
		}
	}
	switch {
	case v.stop:
		add(l.b.stop())
	case v.t == nil:
		add(v.lo, v.hi)
	case v.is(kFn):
		for i := range v.t.keys {
			add(l.unsure(v.at(i))...)
		}
	case v.is(kPart):
		add(l.unsure(v.over)...) // its values are numbers in registers
	case v.is(kSeq):
		add(v.s)
		for i := range v.t.most {
			add(l.unsure(v.at(i))...)
		}
	default:
		add(v.s)
		add(v.ws...)
	}
	v.unsure, v.unsureDone = parts, true
	return parts
}

// after returns v, made to stop if a part of one of the others stops.
func (l *lowerer) after(v *val, others ...*val) *val {
	var parts []*node
	for _, o := range others {
		if o != v {
			parts = append(parts, l.unsure(o)...)
		}
	}
	return l.afterNodes(v, parts)
}

// afterNodes returns v, made to evaluate the parts first.
func (l *lowerer) afterNodes(v *val, parts []*node) *val {
	if len(parts) == 0 || v.stop {
		return v
	}
	if v = l.shaped(v); v.is(kPart) {
		giveUp("a function whose domain is not constant comes after what may have no value")
	}
	out := &val{t: v.t, ws: v.ws, lo: v.lo, hi: v.hi}
	switch {
	case v.t == nil:
		out.lo = l.askedFor(v.lo, parts)
	case v.is(kSet):
		out.ws = slices.Clone(v.ws)
		out.ws[0] = l.askedFor(v.ws[0], parts)
	case v.is(kFn):
		return l.fnVal(v.t, func(i int) *val { return l.afterNodes(v.at(i), parts) })
	case v.is(kSeq):
		out = l.fnVal(v.t, v.at)
		out.s = l.askedFor(v.s, parts)
	default:
		out.s = l.askedFor(v.s, parts)
	}
	return out
}

// shaped returns v with nodes, so that afterNodes can attach the parts to one
// of them.
func (l *lowerer) shaped(v *val) *val {
	if !v.known {
		return v
	}
	switch k := v.v.Kind(); {
	case k == value.KindBool:
		return &val{t: boolType, s: l.b.bool(v.v.IsTrue())}
	case k == value.KindInt:
		n := int64(v.v.AsInt())
		return &val{t: intType(n, n), s: l.b.k(n)}
	case k == value.KindSet:
		return l.asSet(v)
	case functional(k):
		if f := l.asFn(v); len(f.t.keys) > 0 {
			return f
		}
	default:
		if u := l.us.ofAll([]value.Value{v.v}); u != nil {
			return &val{t: &typ{kind: kAtom, u: u}, s: l.b.k(0)}
		}
	}
	giveUp("a constant comes after what may have no value")
	return nil
}

// whole returns ws with a first word that also evaluates the other words that
// may stop: a loop over the words may end before the last one.
func (b *build) whole(ws []*node) []*node {
	for _, w := range ws[1:] {
		if !w.pure {
			out := slices.Clone(ws)
			out[0] = b.after(ws[0], ws[1:])
			return out
		}
	}
	return ws
}

func pureNodes(ns []*node) bool {
	return !slices.ContainsFunc(ns, func(n *node) bool { return !n.pure })
}

// setParts returns the nodes of a set's parts that may stop. It is for
// lowerings that examine the set's expression and may not evaluate all of it.
func (l *lowerer) setParts(set core.Expr, x ctx) []*node {
	l.step()
	if v, ok := l.constant(set, x); ok && v.known {
		return nil
	}
	var parts []*node
	all := func(sets ...core.Expr) []*node {
		for _, s := range sets {
			parts = append(parts, l.setParts(s, x)...)
		}
		return parts
	}
	switch e := set.(type) {
	case *core.SetEnum:
		for _, f := range e.Elems {
			parts = append(parts, l.unsure(l.expr(f, x, nil))...)
		}
		return parts
	case *core.Op:
		switch e.Op {
		case core.OpCup, core.OpCap, core.OpDiff:
			return l.bothParts(e, x, false)
		case core.OpSubset:
			return all(e.Args...)
		}
	case *core.FnSet:
		return all(e.Dom, e.Rng)
	case *core.Times:
		return all(e.Sets...)
	case *core.RecordSet:
		for _, f := range e.Fields {
			all(f.X)
		}
		return parts
	case *core.SetFilter:
		if v := l.expr2(set, x); v != nil {
			return l.unsure(v)
		}
		if v := l.expr2(e.Bind.Set, x); v == nil || !v.known || value.IsFinite(v.v) {
			giveUp("a set is filtered that is not listed") // every element is asked
		}
		return all(e.Bind.Set)
	case *core.Let:
		return l.setParts(e.Body, x.in(l.let(e, x)))
	case *core.LocalRef:
		if b := x.env.of(e.Local); b != nil && b.val == nil && b.expr != nil && e.Local.Arity == 0 {
			return l.setParts(b.expr, x.in(b.env))
		}
	case *core.Call:
		return l.callParts(e, x)
	}
	return l.unsure(l.expr(set, x, nil))
}

// askedParts is setParts of a set that is used for a membership test: the predicate
// of a filter is evaluated for all elements only if the filtered set is listed.
func (l *lowerer) askedParts(set core.Expr, x ctx) []*node {
	l.step()
	switch e := set.(type) {
	case *core.Op:
		switch e.Op {
		case core.OpCup, core.OpCap, core.OpDiff:
			return l.bothParts(e, x, true)
		}
	case *core.SetFilter:
		if l.unlisted(e.Bind.Set, x, true) {
			return l.askedParts(e.Bind.Set, x)
		}
		v := l.expr2(set, x)
		if v == nil {
			giveUp("a set is filtered that is not listed")
		}
		return l.unsure(v)
	case *core.Call:
		if body, y, ok := l.opened(e, x); ok {
			l.enter()
			parts := l.askedParts(body, y)
			l.calls--
			return parts
		}
	}
	return l.setParts(set, x)
}

// bothParts is setParts of A \cup B, A \cap B and A \ B. The elements of A are
// compared with those of B, unless one of the two is not listed and the evaluator
// therefore does not look at the other.
func (l *lowerer) bothParts(e *core.Op, x ctx, asked bool) []*node {
	of := l.setParts
	if asked {
		of = l.askedParts
	}
	a, b := l.unlisted(e.Args[0], x, asked), l.unlisted(e.Args[1], x, asked)
	if a && b || a && e.Op != core.OpCap || b && e.Op == core.OpCup {
		return append(of(e.Args[0], x), of(e.Args[1], x)...)
	}
	v := l.expr2(e, x)
	if v == nil {
		giveUp("it is not known whether the elements of two sets can be compared")
	}
	return l.unsure(v)
}

// unlisted reports whether a set is clearly neither listed nor an interval. asked:
// the set is used for a membership test, so a filter does not list a set that was
// not listed.
func (l *lowerer) unlisted(set core.Expr, x ctx, asked bool) bool {
	l.step()
	if v, ok := l.constant(set, x); ok && v.known {
		return v.v.Kind() == value.KindSet && !value.Listed(v.v)
	}
	switch e := set.(type) {
	case *core.FnSet, *core.Times:
		return true
	case *core.RecordSet:
		return len(e.Fields) > 0
	case *core.Op:
		switch e.Op {
		case core.OpSubset:
			return true
		case core.OpCup:
			return l.unlisted(e.Args[0], x, asked) || l.unlisted(e.Args[1], x, asked)
		case core.OpDiff:
			return l.unlisted(e.Args[0], x, asked)
		}
	case *core.SetFilter:
		return asked && l.unlisted(e.Bind.Set, x, true)
	case *core.LocalRef:
		if b := x.env.of(e.Local); b != nil && b.val == nil && b.expr != nil && e.Local.Arity == 0 {
			return l.unlisted(b.expr, x.in(b.env), false)
		}
	case *core.Call:
		if d, _ := l.p.Definition(e.Def); d != nil && d.Name == "Seq" && d.Module == "Sequences" {
			return true
		}
		if body, y, ok := l.opened(e, x); ok {
			return l.unlisted(body, y, asked)
		}
	}
	return false
}

// opened returns the body of a definition without parameters that can be examined
// for a membership test.
func (l *lowerer) opened(e *core.Call, x ctx) (core.Expr, ctx, bool) {
	if _, ok := x.env.ofDef(e.Def); ok || len(e.Args) > 0 {
		return nil, x, false
	}
	d, _ := l.p.Definition(e.Def)
	if d == nil || d.Body == nil || d.Recursive {
		return nil, x, false
	}
	if _, native, _ := l.p.Native(d); native {
		return nil, x, false
	}
	if _, once := l.p.Once(d); once {
		return nil, x, false
	}
	switch d.Body.(type) {
	case *core.Op, *core.SetFilter, *core.Call:
		return d.Body, x.in(nil), true
	}
	return nil, x, false
}

// callParts is setParts of the application of a definition.
func (l *lowerer) callParts(e *core.Call, x ctx) (parts []*node) {
	if _, ok := x.env.ofDef(e.Def); !ok {
		d, _ := l.p.Definition(e.Def)
		switch {
		case d == nil:
		case d.Name == "Seq" && d.Module == "Sequences":
			return l.setParts(e.Args[0], x)
		case d.Body != nil && !d.Recursive:
			if _, native, _ := l.p.Native(d); !native {
				l.enter()
				parts = l.setParts(d.Body, x.in(l.arguments(d.Params, e.Args, x, nil)))
				l.calls--
				return parts
			}
		}
	}
	return l.unsure(l.expr(e, x, nil))
}

// constant returns the value of a set expression that is clearly a constant
// with a value.
func (l *lowerer) constant(set core.Expr, x ctx) (*val, bool) {
	switch e := set.(type) {
	case *core.ConstRef, *core.Op:
		if o, ok := e.(*core.Op); ok && o.Op != core.OpBoolean && o.Op != core.OpString {
			return nil, false
		}
		return l.expr(set, x, nil), true
	case *core.Call:
		if d, _ := l.p.Definition(e.Def); d != nil && len(e.Args) == 0 {
			if v, _ := l.p.Once(d); !v.IsUndefined() {
				return knownVal(v), true
			}
		}
	}
	return nil, false
}

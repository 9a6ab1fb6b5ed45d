// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// x \in S evaluates all of S, as TLC does. It fails if a part of S has no value, or
// if two parts of S cannot be compared, even if x is found without them. If S is a
// union, an intersection or a difference, its operands are evaluated; the combined
// set is not built if it is clear that their elements can be compared.

// member compiles v \in set.
func (c *compiler) member(v compiled, set core.Expr, x site) pred {
	run := v.run
	test := func(s compiled) pred {
		sr := s.run
		if s.known {
			k := s.val
			return func(m *Machine) bool { return value.Contains(k, run(m)) }
		}
		if i := s.variable; i >= 0 {
			if v.known {
				k := v.val
				return func(m *Machine) bool { return value.Contains(m.cur[i], k) }
			}
			return func(m *Machine) bool { return value.Contains(m.cur[i], run(m)) }
		}
		return func(m *Machine) bool {
			y := run(m)
			return value.Contains(sr(m), y)
		}
	}
	if folded, ok := c.fold(set, x); ok {
		if parts := c.memberOfParts(v, set, x); parts != nil && !folded.known {
			return foldedMember(folded.run, run, parts)
		}
		return test(folded)
	}
	if p := c.memberOfParts(v, set, x); p != nil {
		return p
	}
	return test(c.expr(set, x))
}

// foldedMember tests membership in a constant set. If the set as a whole has no
// value, it tests with parts, which may still succeed: see asked.
func foldedMember(set, v expr, parts pred) pred {
	whole := &memo.Cell{}
	return func(m *Machine) bool {
		if s, ok := whole.Try(m.asker, func() value.Value { return set(m) }); ok {
			return value.Contains(s, v(m))
		}
		return parts(m)
	}
}

// memberOfParts compiles v \in set for sets that need not be built for the test;
// nil for other sets.
func (c *compiler) memberOfParts(v compiled, set core.Expr, x site) pred {
	run := v.run
	switch e := set.(type) {
	case *core.Op:
		switch e.Op {
		case core.OpCup, core.OpCap, core.OpDiff:
			return c.memberOfBoth(v, e, x)
		case core.OpSubset:
			s := c.expr(e.Args[0], x).run
			return func(m *Machine) bool {
				y := run(m)
				if y.Kind() != value.KindSet {
					return value.Contains(value.Subsets(s(m)), y)
				}
				return value.Subseteq(y, s(m))
			}
		}
	case *core.SetFilter:
		return c.memberOfFilter(v, e, x)
	case *core.Call:
		return c.memberCall(v, e, x)
	}
	return nil
}

// memberOfFilter compiles v \in {x \in S : p}. Like TLC, it builds the set if S
// is listed or an interval, and otherwise evaluates p for v only.
func (c *compiler) memberOfFilter(v compiled, e *core.SetFilter, x site) pred {
	run, base := v.run, c.asked(e.Bind.Set, x).run
	inner, assign := c.bindElement(e.Bind, x)
	p := c.pred(e.Pred, inner)
	return func(m *Machine) bool {
		y := run(m)
		s := base(m)
		if !value.Listed(s) {
			if !value.Contains(s, y) {
				return false
			}
			assign(m, y)
			return p(m)
		}
		those, ok := value.FilterFinite(s, func(z value.Value) bool {
			m.poll()
			assign(m, z)
			return p(m)
		})
		return ok && value.Contains(those, y)
	}
}

// operand is an operand of \cup, \cap or \. If single is set, the operand is a set
// of one element, and its code yields that element.
type operand struct {
	set    compiled
	slot   int // where it is kept, or -1: it need not be
	single bool
}

// get returns the set, or its only element if single is set.
func (o *operand) get(m *Machine) value.Value {
	switch {
	case o.slot >= 0:
		return m.slots[o.slot]
	case o.set.known:
		return o.set.val
	}
	return m.cur[o.set.variable]
}

// has reports whether y is an element of the operand.
func (o *operand) has(m *Machine, y value.Value) bool {
	if o.single {
		return value.Equal(o.get(m), y)
	}
	return value.Contains(o.get(m), y)
}

// whole returns the operand as a set.
func (o *operand) whole(m *Machine) value.Value {
	if o.single {
		return value.Set(o.get(m))
	}
	return o.get(m)
}

// mixture is a set built from operands.
type mixture struct {
	has   func(m *Machine, y value.Value) bool
	whole expr
}

// memberOfBoth compiles v \in A \cup B, v \in A \cap B and v \in A \ B.
func (c *compiler) memberOfBoth(v compiled, e *core.Op, x site) pred {
	run := v.run
	var operands []*operand
	mix := c.mixture(e, x, &operands)
	if len(operands) == 2 {
		a, b := operands[0], operands[1]
		return func(m *Machine) bool {
			y := run(m)
			a.keep(m)
			b.keep(m)
			if a.alike(m, y) && b.alike(m, y) {
				return mix.has(m, y)
			}
			return value.Contains(mix.whole(m), y)
		}
	}
	return func(m *Machine) bool {
		y := run(m)
		for _, o := range operands {
			o.keep(m)
		}
		for _, o := range operands {
			if !o.alike(m, y) {
				return value.Contains(mix.whole(m), y)
			}
		}
		return mix.has(m, y)
	}
}

// keep evaluates the operand and stores its value.
func (o *operand) keep(m *Machine) {
	if o.slot >= 0 && o.slot != o.set.slot {
		m.slots[o.slot] = o.set.run(m)
	}
}

// alike reports whether all elements can clearly be compared with y. If that is so
// for several operands, their elements can be compared with each other too.
func (o *operand) alike(m *Machine, y value.Value) bool {
	if o.single {
		return value.AlikeOne(o.get(m), y)
	}
	return value.Alike(o.get(m), y)
}

// mixture compiles a set built from operands, and appends these from left to
// right.
func (c *compiler) mixture(e core.Expr, x site, operands *[]*operand) mixture {
	if op, ok := e.(*core.Op); ok && (op.Op == core.OpCup || op.Op == core.OpCap || op.Op == core.OpDiff) {
		if _, constant := c.fold(e, x); !constant {
			return mixed(op.Op, c.mixture(op.Args[0], x, operands), c.mixture(op.Args[1], x, operands))
		}
	}
	o := &operand{slot: -1}
	if one, ok := e.(*core.SetEnum); ok && len(one.Elems) == 1 {
		o.single, o.set = true, c.expr(one.Elems[0], x)
	} else {
		o.set = c.asked(e, x)
	}
	switch {
	case o.set.known || o.set.variable >= 0:
	case o.set.slot >= 0:
		o.slot = o.set.slot
	default:
		o.slot = x.fn.slot()
	}
	*operands = append(*operands, o)
	return mixture{o.has, o.whole}
}

func mixed(op core.OpCode, a, b mixture) mixture {
	has, whole := func(m *Machine, y value.Value) bool { return a.has(m, y) && !b.has(m, y) }, value.Diff
	switch op {
	case core.OpCup:
		has, whole = func(m *Machine, y value.Value) bool { return a.has(m, y) || b.has(m, y) }, value.Union
	case core.OpCap:
		has, whole = func(m *Machine, y value.Value) bool { return a.has(m, y) && b.has(m, y) }, value.Intersect
	}
	return mixture{has, func(m *Machine) value.Value {
		s := a.whole(m)
		return whole(s, b.whole(m))
	}}
}

// asked compiles a set that is used for a membership test only, and so need not be
// listed. For {x \in S : p}, where S is neither listed nor an interval, p is
// evaluated during the test.
func (c *compiler) asked(e core.Expr, x site) compiled {
	switch set := e.(type) {
	case *core.SetFilter:
		return c.askedWhole(e, x, func() compiled { return c.askedFilter(set, x) })
	case *core.Op:
		f := rule.SetOperation(set.Op)
		if f == nil {
			break
		}
		return c.askedWhole(e, x, func() compiled {
			a, b := c.asked(set.Args[0], x).run, c.asked(set.Args[1], x).run
			return code(func(m *Machine) value.Value {
				s := a(m)
				return f(s, b(m))
			})
		})
	case *core.Call:
		if body, inner, ok := c.opened(set, x); ok {
			return c.asked(body, inner)
		}
	}
	return c.expr(e, x)
}

// askedWhole compiles the set e as a constant if it is constant and has a value
// as a whole. Otherwise it uses parts.
func (c *compiler) askedWhole(e core.Expr, x site, parts func() compiled) compiled {
	folded, ok := c.fold(e, x)
	switch {
	case !ok:
		return parts()
	case folded.known:
		return folded
	}
	whole, other := &memo.Cell{}, parts().run
	return code(func(m *Machine) value.Value {
		if s, ok := whole.Try(m.asker, func() value.Value { return folded.run(m) }); ok {
			return s
		}
		return other(m)
	})
}

func (c *compiler) askedFilter(e *core.SetFilter, x site) compiled {
	base := c.asked(e.Bind.Set, x).run
	inner, assign := c.bindElement(e.Bind, x)
	p := c.pred(e.Pred, inner)
	lazy := c.lazyFilter(e, x)
	return code(func(m *Machine) value.Value {
		s := base(m)
		if value.Listed(s) {
			if those, ok := value.FilterFinite(s, func(z value.Value) bool {
				m.poll()
				assign(m, z)
				return p(m)
			}); ok {
				return those
			}
		}
		return lazy(m, s)
	})
}

// memberCall compiles v \in Op(args). It compares v with the bounds of an
// interval, and inlines a definition.
func (c *compiler) memberCall(v compiled, e *core.Call, x site) pred {
	if x.sc.lookupDef(e.Def) != nil {
		return nil
	}
	if d, _ := c.p.Resolve(e.Def); d != nil && d.Name == ".." && c.p.IsNative(d) {
		run, lo, hi := v.run, c.expr(e.Args[0], x).run, c.expr(e.Args[1], x).run
		return func(m *Machine) bool {
			y, l, h := run(m), lo(m), hi(m)
			if y.Kind() != value.KindInt {
				return value.Contains(value.Range(l, h), y)
			}
			return l.AsInt() <= y.AsInt() && y.AsInt() <= h.AsInt()
		}
	}
	if body, inner, ok := c.opened(e, x); ok {
		return c.member(v, body, inner)
	}
	return nil
}

// opened returns the body of a definition without parameters that can be
// inlined into a membership test, and its site.
func (c *compiler) opened(e *core.Call, x site) (core.Expr, site, bool) {
	if len(e.Args) > 0 || x.sc.lookupDef(e.Def) != nil {
		return nil, x, false
	}
	d, _ := c.p.Resolve(e.Def)
	if d == nil || d.Body == nil || c.p.IsNative(d) || c.p.ConstDefs[d] != nil || !c.inlines(d, x) {
		return nil, x, false
	}
	switch d.Body.(type) {
	case *core.Op, *core.SetFilter, *core.Call:
		inner, _ := c.bindArgs(d, nil, x, nil, false)
		return d.Body, inner, true
	}
	return nil, x, false
}

// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func (c *compiler) setEnum(e *core.SetEnum, x site) compiled {
	elems := c.list(e.Elems, x)
	switch len(elems) {
	case 0:
		return knownValue(value.EmptySet())
	case 1:
		a := elems[0]
		return code(func(m *Machine) value.Value { return value.Set(a(m)) })
	}
	return code(func(m *Machine) value.Value {
		vs := make([]value.Value, len(elems))
		for i, e := range elems {
			vs[i] = e(m)
		}
		return value.SetOf(vs)
	})
}

func (c *compiler) setFilter(e *core.SetFilter, x site) compiled {
	set := c.expr(e.Bind.Set, x).run
	inner, assign := c.bindElement(e.Bind, x)
	body := c.pred(e.Pred, inner)
	lazy := c.lazyFilter(e, x)
	return code(func(m *Machine) value.Value {
		s := set(m)
		if s.Kind() == value.KindSet && !value.IsFinite(s) {
			return lazy(m, s)
		}
		if s.Kind() == value.KindSet {
			v, ok := value.FilterFinite(s, func(v value.Value) bool {
				m.poll()
				assign(m, v)
				return body(m)
			})
			if !ok {
				return lazy(m, s)
			}
			return v
		}
		return value.Filter(s, nil)
	})
}

// lazyFilter makes the filter of a set that is too large to be listed, or
// infinite, so that only membership can be tested. The filter may outlive the
// activation, and several workers may share it.
func (c *compiler) lazyFilter(e *core.SetFilter, x site) func(*Machine, value.Value) value.Value {
	fn := c.newFunction(x.fn)
	inner, assign := c.bindElement(e.Bind, site{fn: fn, sc: x.sc, mode: x.mode, unrolled: x.unrolled, open: x.open})
	body := c.pred(e.Pred, inner)
	return func(m *Machine, s value.Value) value.Value {
		d := m.detach(fn, m.frame)
		return value.LazyFilter(s, func(v value.Value) bool {
			ok := false
			d.with(func(m *Machine) {
				assign(m, v)
				ok = body(m)
			})
			return ok
		})
	}
}

func (c *compiler) setMap(e *core.SetMap, x site) compiled {
	loop, inner, bad := c.loops(e.Binds, x)
	if bad {
		return failing("an unbounded set cannot be evaluated")
	}
	body := c.expr(e.Body, inner).run
	slot := x.fn.lists
	x.fn.lists++
	run := loop(func(m *Machine) bool {
		v := body(m)
		l := &m.frame.lists[slot]
		if len(*l) >= value.MaxSetSize*collectFactor {
			value.Fail("the set is built from more than %d elements", value.MaxSetSize*collectFactor)
		}
		*l = append(*l, v)
		return true
	})
	return code(func(m *Machine) value.Value {
		for len(m.frame.lists) <= slot {
			m.frame.lists = append(m.frame.lists, nil)
		}
		frame := m.frame
		outer := frame.lists[slot]
		frame.lists[slot] = nil
		run(m)
		elems := frame.lists[slot]
		frame.lists[slot] = outer
		return value.SetOf(elems)
	})
}

// collectFactor times MaxSetSize is the number of elements that may be
// collected before duplicates are dropped.
const collectFactor = 4

func (c *compiler) choose(e *core.Choose, x site) compiled {
	if e.Bind.Set == nil {
		return code(func(*Machine) value.Value {
			rule.FailUnboundedChoose()
			return value.Value{}
		})
	}
	set := c.expr(e.Bind.Set, x).run
	inner, assign := c.bindElement(e.Bind, x)
	body := c.pred(e.Body, inner)
	return code(func(m *Machine) value.Value {
		s := set(m)
		for v := range s.Each {
			m.poll()
			assign(m, v)
			if body(m) {
				return v
			}
		}
		rule.FailChoose(s)
		return value.Value{}
	})
}

// op compiles an operator of the language.
func (c *compiler) op(e *core.Op, x site) compiled {
	switch e.Op {
	case core.OpPrime:
		if x.mode.primed {
			return failing("a primed expression cannot be primed again")
		}
		x.mode.primed = true
		return c.expr(e.Args[0], x)
	case core.OpBoolean:
		return knownValue(value.Booleans())
	case core.OpString:
		return knownValue(value.Strings())
	case core.OpAlways, core.OpEventually, core.OpLeadsTo, core.OpGuarantee:
		return failing("a temporal formula cannot be evaluated in a state")
	}
	if p := c.opPred(e, x); p != nil {
		return boolean(p)
	}
	return c.setOp(e, x)
}

func (c *compiler) setOp(e *core.Op, x site) compiled {
	a := c.expr(e.Args[0], x).run
	switch e.Op {
	case core.OpSubset:
		return code(func(m *Machine) value.Value { return value.Subsets(a(m)) })
	case core.OpUnion:
		return code(func(m *Machine) value.Value { return value.BigUnion(a(m)) })
	case core.OpDomain:
		return code(func(m *Machine) value.Value { return a(m).Domain() })
	}
	if one, ok := e.Args[1].(*core.SetEnum); ok && len(one.Elems) == 1 {
		elem := c.expr(one.Elems[0], x)
		el := elem.run
		switch {
		case e.Op == core.OpCup && elem.known:
			k := elem.val
			return code(func(m *Machine) value.Value { return value.Insert(a(m), k) })
		case e.Op == core.OpCup:
			return code(func(m *Machine) value.Value {
				s := a(m)
				return value.Insert(s, el(m))
			})
		case e.Op == core.OpDiff:
			return code(func(m *Machine) value.Value {
				s := a(m)
				return value.Remove(s, el(m))
			})
		}
	}
	b := c.expr(e.Args[1], x).run
	f := rule.SetOperation(e.Op)
	invariant.Check(f != nil, "%v is not an operator of sets", e.Op)
	return code(func(m *Machine) value.Value {
		s := a(m)
		return f(s, b(m))
	})
}

// native compiles the application of an operator that is implemented in Go.
func (c *compiler) native(d *core.Def, args []core.Expr, x site) compiled {
	op := program.Native(d)
	if op == nil {
		return failing("the operator %s of module %s cannot be evaluated", d.Name, d.Module)
	}
	if out, ok := c.cardinality(op, args, x); ok {
		return out
	}
	switch {
	case op.F0 != nil:
		f := op.F0
		return code(func(*Machine) value.Value { return f() })
	case op.F1 != nil:
		f, a := op.F1, c.expr(args[0], x).run
		return code(func(m *Machine) value.Value { return f(a(m)) })
	case op.F2 != nil:
		return c.native2(op, args, x)
	case op.F3 != nil:
		f, a, b, d := op.F3, c.expr(args[0], x).run, c.expr(args[1], x).run, c.expr(args[2], x).run
		return code(func(m *Machine) value.Value {
			va, vb := a(m), b(m)
			return f(va, vb, d(m))
		})
	}
	return c.nativeN(d, op, args, x)
}

// native2 compiles an operator of two values. It computes sums and differences
// of integers, the most frequent ones, inline.
func (c *compiler) native2(op *stdlib.Op, args []core.Expr, x site) compiled {
	f, ca, cb := op.F2, c.expr(args[0], x), c.expr(args[1], x)
	a, b := ca.run, cb.run
	arithmetic := op.Module == "Naturals" || op.Module == "Integers"
	if arithmetic && cb.known && cb.val.Kind() == value.KindInt {
		k := cb.val
		switch op.Name {
		case "+":
			return code(func(m *Machine) value.Value { return value.Add(a(m), k) })
		case "-":
			return code(func(m *Machine) value.Value { return value.Sub(a(m), k) })
		}
	}
	if arithmetic {
		switch op.Name {
		case "+":
			return code(func(m *Machine) value.Value {
				v := a(m)
				return value.Add(v, b(m))
			})
		case "-":
			return code(func(m *Machine) value.Value {
				v := a(m)
				return value.Sub(v, b(m))
			})
		}
	}
	return code(func(m *Machine) value.Value {
		v := a(m)
		return f(v, b(m))
	})
}

// cardinality counts the elements of {x \in S : p} without building the set.
func (c *compiler) cardinality(op *stdlib.Op, args []core.Expr, x site) (compiled, bool) {
	if op.Module != "FiniteSets" || op.Name != "Cardinality" {
		return compiled{}, false
	}
	filter, ok := args[0].(*core.SetFilter)
	if !ok {
		return compiled{}, false
	}
	loop, inner, bad := c.loops([]core.Bind{filter.Bind}, x)
	if bad {
		return compiled{}, false
	}
	body := c.pred(filter.Pred, inner)
	count := x.fn.slot()
	run := loop(func(m *Machine) bool {
		if body(m) {
			m.slots[count] = value.Int(m.slots[count].AsInt() + 1)
		}
		return true
	})
	return code(func(m *Machine) value.Value {
		m.slots[count] = value.Int(0)
		run(m)
		return m.slots[count]
	}), true
}

// nativePred compiles comparisons of integers; nil for other operators.
func (c *compiler) nativePred(d *core.Def, args []core.Expr, x site) pred {
	op := program.Native(d)
	if op == nil || op.F2 == nil || op.Module != "Naturals" && op.Module != "Integers" {
		return nil
	}
	var compare func(a, b value.Value) bool
	switch op.Name {
	case "<":
		compare = value.Less
	case "<=":
		compare = value.Leq
	case ">":
		compare = value.Greater
	case ">=":
		compare = value.Geq
	default:
		return nil
	}
	a, b := c.expr(args[0], x).run, c.expr(args[1], x)
	br := b.run
	if b.known {
		k := b.val
		return func(m *Machine) bool { return compare(a(m), k) }
	}
	return func(m *Machine) bool {
		v := a(m)
		return compare(v, br(m))
	}
}

// nativeN compiles operators that have operator arguments, more than three
// arguments, or access to the run.
func (c *compiler) nativeN(d *core.Def, op *stdlib.Op, args []core.Expr, x site) compiled {
	vals := make([]expr, len(args))
	ops := make([]func(*Machine) operator, len(args))
	var late expr
	for i, a := range args {
		if op.Lazy && i == len(args)-1 {
			late = c.expr(a, x).run
		} else if i < len(d.Params) && d.Params[i].Arity > 0 {
			ops[i] = c.operatorArg(a, x)
		} else {
			vals[i] = c.expr(a, x).run
		}
	}
	return code(func(m *Machine) value.Value {
		in := make([]stdlib.Arg, len(args))
		for i := range in {
			if vals[i] != nil {
				in[i].Val = vals[i](m)
				continue
			}
			if ops[i] == nil {
				in[i].Op = func([]value.Value) value.Value { return m.attempt(late) }
				continue
			}
			o := ops[i](m)
			in[i].Op = func(vs []value.Value) value.Value { return m.callOperator(o, vs) }
		}
		return op.FN(&m.run.World, in)
	})
}

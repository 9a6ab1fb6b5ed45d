// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// pred compiles e, whose value must be a boolean.
func (c *compiler) pred(e core.Expr, x site) pred {
	if k := c.constantPred(e, x); k != nil {
		return k
	}
	if r := c.rememberPred(e, x); r != nil {
		return r
	}
	if c.in.Profile != nil {
		return c.countPred(e, x)
	}
	return c.predicate(e, x)
}

// predicate compiles a boolean that is not constant.
func (c *compiler) predicate(e core.Expr, x site) pred {
	switch e := e.(type) {
	case *core.And:
		return all(c.preds(e.List, x))
	case *core.Or:
		return some(c.preds(e.List, x))
	case *core.If:
		cond, then, els := c.pred(e.Cond, x), c.pred(e.Then, x), c.pred(e.Else, x)
		return func(m *Machine) bool {
			if cond(m) {
				return then(m)
			}
			return els(m)
		}
	case *core.Let:
		inner, reset := c.let(e, x, false)
		return reset.pred(c.pred(e.Body, inner))
	case *core.Quant:
		return c.quant(e, x)
	case *core.Box:
		// The cheap part comes first: most steps that are checked against a
		// refinement leave its variables unchanged.
		same, action := c.unchangedPred(e.Sub, x), c.pred(e.Action, x)
		return func(m *Machine) bool { return same(m) || action(m) }
	case *core.Angle:
		action, same := c.pred(e.Action, x), c.unchangedPred(e.Sub, x)
		return func(m *Machine) bool { return action(m) && !same(m) }
	case *core.Op:
		if p := c.opPred(e, x); p != nil {
			return p
		}
	case *core.Call:
		if p := c.callPred(e, x); p != nil {
			return p
		}
	case *core.LocalRef:
		if p := c.namePred(e, x); p != nil {
			return p
		}
	}
	run := c.expr(e, x).run
	return func(m *Machine) bool { return run(m).IsTrue() }
}

// constantPred returns the code of a predicate that fold can compile, or nil.
func (c *compiler) constantPred(e core.Expr, x site) pred {
	switch e.(type) {
	case *core.And, *core.Or, *core.If, *core.Let, *core.Quant, *core.Op:
	default:
		return nil
	}
	folded, ok := c.fold(e, x)
	if !ok {
		return nil
	}
	if folded.known && folded.val.Kind() == value.KindBool {
		b := folded.val.IsTrue()
		return func(*Machine) bool { return b }
	}
	run := folded.run
	return func(m *Machine) bool { return run(m).IsTrue() }
}

func (c *compiler) preds(es []core.Expr, x site) []pred {
	out := make([]pred, len(es))
	for i, e := range es {
		out[i] = c.pred(e, x)
	}
	return out
}

func all(ps []pred) pred {
	if len(ps) == 2 {
		a, b := ps[0], ps[1]
		return func(m *Machine) bool { return a(m) && b(m) }
	}
	return func(m *Machine) bool {
		for _, p := range ps {
			if !p(m) {
				return false
			}
		}
		return true
	}
}

func some(ps []pred) pred {
	if len(ps) == 2 {
		a, b := ps[0], ps[1]
		return func(m *Machine) bool { return a(m) || b(m) }
	}
	return func(m *Machine) bool {
		for _, p := range ps {
			if p(m) {
				return true
			}
		}
		return false
	}
}

// callPred compiles the application of a definition that is inlined into its
// caller.
func (c *compiler) callPred(e *core.Call, x site) pred {
	if b := x.sc.lookupDef(e.Def); b != nil {
		if b.kind != isDefined || b.def.Recursive || x.open.has(b.def) {
			return nil
		}
		inner, reset := c.bindArgs(b.def, e.Args, x, b.scope, false)
		return reset.pred(c.pred(b.def.Body, inner))
	}
	d, _ := c.p.Resolve(e.Def)
	if d == nil || d.Body == nil {
		return nil
	}
	if c.p.IsNative(d) {
		return c.nativePred(d, e.Args, x)
	}
	if c.p.ConstDefs[d] != nil || !c.inlines(d, x) {
		return nil
	}
	if len(e.Args) > 0 {
		if f := c.facts(e, x); f.Level == core.ConstantLevel && !f.Volatile && !f.Locals && !x.fn.folding {
			return nil
		}
	}
	inner, reset := c.bindArgs(d, e.Args, x, nil, false)
	return reset.pred(c.pred(d.Body, inner))
}

// namePred compiles a predicate that was passed as an argument, or the
// application of an operator argument.
func (c *compiler) namePred(e *core.LocalRef, x site) pred {
	b := x.sc.lookup(e.Local)
	if b == nil {
		return nil
	}
	if e.Local.Arity > 0 && b.kind == isOperator {
		if op, ok := b.expr.(*core.Lambda); ok {
			d := &core.Def{Name: "LAMBDA", Params: op.Params, Body: op.Body, Span: op.Place}
			inner, reset := c.bindArgs(d, e.Args, x, b.scope, false)
			inner.open = b.open
			return reset.pred(c.pred(op.Body, inner))
		}
	}
	if b.kind == isName && b.owner == x.fn && (b.slot < 0 || b.mode != x.mode) {
		return c.pred(b.expr, site{fn: x.fn, sc: b.scope, mode: x.mode, unrolled: x.unrolled, open: b.open})
	}
	return nil
}

// opPred compiles the operators of the language whose results are booleans.
func (c *compiler) opPred(e *core.Op, x site) pred {
	switch e.Op {
	case core.OpNot:
		p := c.pred(e.Args[0], x)
		return func(m *Machine) bool { return !p(m) }
	case core.OpImplies:
		a, b := c.pred(e.Args[0], x), c.pred(e.Args[1], x)
		return func(m *Machine) bool { return !a(m) || b(m) }
	case core.OpEquiv:
		a, b := c.pred(e.Args[0], x), c.pred(e.Args[1], x)
		return func(m *Machine) bool { return a(m) == b(m) }
	case core.OpEq:
		return c.equal(e.Args[0], e.Args[1], x)
	case core.OpNe:
		p := c.equal(e.Args[0], e.Args[1], x)
		return func(m *Machine) bool { return !p(m) }
	case core.OpIn:
		return c.member(c.expr(e.Args[0], x), e.Args[1], x)
	case core.OpNotIn:
		p := c.member(c.expr(e.Args[0], x), e.Args[1], x)
		return func(m *Machine) bool { return !p(m) }
	case core.OpSubseteq:
		return c.subseteq(e.Args[0], e.Args[1], x)
	case core.OpUnchanged:
		return c.unchangedPred(e.Args[0], x)
	case core.OpPrime:
		if !x.mode.primed {
			x.mode.primed = true
			return c.pred(e.Args[0], x)
		}
	case core.OpEnabled:
		return c.enabled(e.Args[0], x)
	case core.OpCompose:
		return c.composedPred(e, x)
	}
	return nil
}

// equal compiles a = b.
func (c *compiler) equal(a, b core.Expr, x site) pred {
	if p := c.emptiness(a, b, x); p != nil {
		return p
	}
	ca, cb := c.expr(a, x), c.expr(b, x)
	if ca.known {
		ca, cb = cb, ca
	}
	ra, rb := ca.run, cb.run
	switch {
	case cb.known && ca.variable >= 0:
		i, k := ca.variable, cb.val
		return func(m *Machine) bool {
			v := m.cur[i]
			return value.Same(v, k) || value.Equal(v, k)
		}
	case cb.known:
		k := cb.val
		return func(m *Machine) bool {
			v := ra(m)
			return value.Same(v, k) || value.Equal(v, k)
		}
	case ca.variable >= 0 && cb.slot >= 0:
		i, slot := ca.variable, cb.slot
		return func(m *Machine) bool { return value.Equal(m.cur[i], m.slots[slot]) }
	}
	return func(m *Machine) bool {
		v := ra(m)
		return value.Equal(v, rb(m))
	}
}

// emptiness compiles {x \in S : p} = {} without building the set; nil for other
// expressions.
func (c *compiler) emptiness(a, b core.Expr, x site) pred {
	isEmpty := func(e core.Expr) bool {
		s, ok := e.(*core.SetEnum)
		return ok && len(s.Elems) == 0
	}
	filter, ok := a.(*core.SetFilter)
	switch {
	case ok && isEmpty(b):
	case isEmpty(a):
		if filter, ok = b.(*core.SetFilter); !ok {
			return nil
		}
	default:
		return nil
	}
	loop, inner, bad := c.loops([]core.Bind{filter.Bind}, x)
	if bad {
		return nil
	}
	// Every element is tested, because a later one may be an error.
	p, found := c.pred(filter.Pred, inner), x.fn.slot()
	run := loop(func(m *Machine) bool {
		if p(m) {
			m.slots[found] = value.Bool(true)
		}
		return true
	})
	return func(m *Machine) bool {
		m.slots[found] = value.Bool(false)
		run(m)
		return !m.slots[found].IsTrue()
	}
}

// subseteq compiles a \subseteq b.
func (c *compiler) subseteq(a, b core.Expr, x site) pred {
	ra, rb := c.expr(a, x).run, c.expr(b, x).run
	return func(m *Machine) bool {
		v := ra(m)
		return value.Subseteq(v, rb(m))
	}
}

// unchangedPred compiles UNCHANGED e as a test.
func (c *compiler) unchangedPred(e core.Expr, x site) pred {
	if x.mode.primed {
		return func(*Machine) bool {
			value.Fail("a primed expression cannot be primed again")
			return false
		}
	}
	if vars := c.variables(e, x, nil); vars != nil {
		return func(m *Machine) bool {
			for _, v := range vars {
				if !value.Equal(m.cur[v.Index], rule.NextValue(m.nxt, v)) {
					return false
				}
			}
			return true
		}
	}
	y := x
	y.mode.primed = true
	before, after := c.expr(e, x).run, c.expr(e, y).run
	return func(m *Machine) bool {
		v := before(m)
		return value.Equal(v, after(m))
	}
}

// variables lists the variables of e, which must be a variable or a tuple of
// variables; nil for other expressions.
func (c *compiler) variables(e core.Expr, x site, vars []*core.Variable) []*core.Variable {
	switch e := e.(type) {
	case *core.VarRef:
		return append(vars, e.Var)
	case *core.Tuple:
		for _, t := range e.Elems {
			if vars = c.variables(t, x, vars); vars == nil {
				return nil
			}
		}
		return vars
	case *core.LocalRef:
		if b := x.sc.lookup(e.Local); b != nil && b.kind == isName && len(e.Args) == 0 {
			return c.variables(b.expr, site{fn: b.owner, sc: b.scope, mode: x.mode}, vars)
		}
	case *core.Call:
		if len(e.Args) > 0 {
			return nil
		}
		if b := x.sc.lookupDef(e.Def); b != nil {
			if b.kind != isName {
				return nil
			}
			return c.variables(b.expr, site{fn: b.owner, sc: b.scope, mode: x.mode}, vars)
		}
		if d, _ := c.p.Resolve(e.Def); d != nil && d.Body != nil && !d.Recursive && !c.p.IsNative(d) {
			return c.variables(d.Body, site{fn: x.fn, mode: x.mode}, vars)
		}
	}
	return nil
}

// quant compiles \A and \E as tests.
func (c *compiler) quant(e *core.Quant, x site) pred {
	loop, inner, bad := c.loops(e.Binds, x)
	if bad {
		return func(*Machine) bool {
			value.Fail("an unbounded quantifier cannot be evaluated")
			return false
		}
	}
	body := c.pred(e.Body, inner)
	if e.Exists {
		run := loop(func(m *Machine) bool { return !body(m) })
		return func(m *Machine) bool { return !run(m) }
	}
	return loop(body)
}

// loops compiles the iteration over binds. loop returns code that runs a body
// for every binding until the body returns false, and then returns false.
func (c *compiler) loops(binds []core.Bind, x site) (loop func(func(*Machine) bool) func(*Machine) bool, inner site, unbounded bool) {
	sets := make([]compiled, len(binds))
	for i, b := range binds {
		if b.Set == nil {
			return nil, x, true
		}
		if i > 0 && binds[i-1].Set == b.Set {
			sets[i] = sets[i-1]
		} else {
			sets[i] = c.expr(b.Set, x)
		}
	}
	inner = x
	setters := make([]func(*Machine, value.Value), len(binds))
	firsts := make([]int, len(binds))
	for i, b := range binds {
		inner, setters[i] = c.bindElement(b, inner)
		firsts[i] = inner.sc.lookup(b.Vars[0]).slot
	}
	return func(body func(*Machine) bool) func(*Machine) bool {
		run := body
		for i := len(binds) - 1; i >= 0; i-- {
			run = c.loopOver(sets[i], binds[i], firsts[i], setters[i], run, bounds(sets[i+1:]))
		}
		return run
	}, inner, false
}

// bounds returns code that evaluates the sets of the bounds after an empty one: all
// sets are evaluated even if nothing is bound. It is nil if none of them can fail.
func bounds(sets []compiled) func(*Machine) {
	var may []expr
	for _, s := range sets {
		if !s.known || value.Catch(func() { value.CheckBound(s.val) }) != nil {
			may = append(may, s.run)
		}
	}
	if len(may) == 0 {
		return nil
	}
	return func(m *Machine) {
		for _, s := range may {
			value.CheckBound(s(m))
		}
	}
}

// furtherBounds is bounds for all but the first of binds.
func (c *compiler) furtherBounds(binds []core.Bind, x site) func(*Machine) {
	var sets []compiled
	for i, b := range binds[1:] {
		if b.Set != nil && b.Set != binds[i].Set {
			sets = append(sets, c.expr(b.Set, x))
		}
	}
	return bounds(sets)
}

// loopOver compiles one loop. If the set is empty, the loop runs further, which
// may be nil.
func (c *compiler) loopOver(set compiled, b core.Bind, slot int, assign func(*Machine, value.Value), body func(*Machine) bool, further func(*Machine)) func(*Machine) bool {
	if set.known && !b.Tuple {
		if elems := elementsOf(set.val, knownElementsMax); elems != nil {
			return func(m *Machine) bool {
				for i := range elems {
					m.poll()
					m.slots[slot] = elems[i]
					if !body(m) {
						return false
					}
				}
				if len(elems) == 0 && further != nil {
					further(m)
				}
				return true
			}
		}
	}
	if !b.Tuple {
		assign = nil // its only name is in the slot
	}
	sr := set.run
	return func(m *Machine) bool {
		s := sr(m)
		if lo, hi, ok := s.AsInterval(); ok && assign == nil {
			for i := int64(lo); i <= int64(hi); i++ {
				m.poll()
				m.slots[slot] = value.Int(int32(i))
				if !body(m) {
					return false
				}
			}
			return true
		}
		none := true
		for v := range s.Each {
			m.poll()
			none = false
			if assign != nil {
				assign(m, v)
			} else {
				m.slots[slot] = v
			}
			if !body(m) {
				return false
			}
		}
		if none && further != nil {
			further(m)
		}
		return true
	}
}

// knownElementsMax is the maximum number of elements of a constant set that a
// loop stores as a list.
const knownElementsMax = 4096

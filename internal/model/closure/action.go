// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// split compiles the next-state relation action by action. Each action records
// its index before it runs. split opens the same expressions as splitter.split.
func (c *compiler) split(e core.Expr, x site, k act) act {
	if i, ok := c.actions.Index[e]; ok {
		run := c.act(e, x, k)
		return func(m *Machine) bool {
			m.action = i
			return run(m)
		}
	}
	return c.branch(e, x, k, c.split)
}

// compileAct compiles a part of an action.
type compileAct func(e core.Expr, x site, k act) act

// act compiles e as an action with the continuation k.
func (c *compiler) act(e core.Expr, x site, k act) act {
	if c.in.Profile != nil {
		return c.countAct(e, x, k)
	}
	return c.plainAct(e, x, k)
}

// plainAct is act without counting for a profile.
func (c *compiler) plainAct(e core.Expr, x site, k act) act {
	level := c.facts(e, x).Level
	if (level < core.ActionLevel && !x.mode.primed || level == core.ConstantLevel) && !c.branches(e, x, 0) {
		return c.guard(e, x, k)
	}
	switch e := e.(type) {
	case *core.And:
		for i := len(e.List) - 1; i >= 0; i-- {
			k = c.act(e.List[i], x, k)
		}
		return k
	case *core.Or, *core.Let, *core.Call:
		return c.branch(e, x, k, c.act)
	case *core.Quant:
		if e.Exists {
			return c.branch(e, x, k, c.act)
		}
		return c.forAll(e, x, k)
	case *core.If:
		cond, then, els := c.pred(e.Cond, x), c.act(e.Then, x, k), c.act(e.Else, x, k)
		return func(m *Machine) bool {
			if cond(m) {
				return then(m)
			}
			return els(m)
		}
	case *core.Case:
		return c.caseAct(e, x, k)
	case *core.LocalRef:
		if a := c.nameAct(e, x, k); a != nil {
			return a
		}
	case *core.ConstRef:
		if r := c.p.Constants[e.Const]; r.Def != nil {
			return c.callAct(r.Def, e.Args, x, k, c.act)
		}
	case *core.Box:
		action, same := c.act(e.Action, x, k), c.unchangedAct(e.Sub, x, k)
		return func(m *Machine) bool { return action(m) && same(m) }
	case *core.Angle:
		same := c.unchangedPred(e.Sub, x)
		return c.act(e.Action, x, func(m *Machine) bool { return same(m) || k(m) })
	case *core.Op:
		return c.opAct(e, x, k)
	}
	return c.guard(e, x, k)
}

// branches reports whether executing e as an action may call its continuation
// more than once. A disjunction calls it for each true disjunct and \E for each
// witness, even if nothing is assigned, and each call is a successor that is
// counted.
func (c *compiler) branches(e core.Expr, x site, depth int) bool {
	const depthMax = 100
	if depth > depthMax {
		return true
	}
	any := func(es ...core.Expr) bool {
		for _, y := range es {
			if c.branches(y, x, depth+1) {
				return true
			}
		}
		return false
	}
	switch e := e.(type) {
	case *core.Or, *core.Box:
		return true
	case *core.And:
		return any(e.List...)
	case *core.Quant:
		return e.Exists || any(e.Body)
	case *core.If:
		return any(e.Then, e.Else)
	case *core.Case:
		for _, a := range e.Arms {
			if any(a.Body) {
				return true
			}
		}
		return e.Other != nil && any(e.Other)
	case *core.Let:
		for _, d := range e.Defs {
			if d.Body != nil && any(d.Body) {
				return true
			}
		}
		return any(e.Body)
	case *core.Angle:
		return any(e.Action)
	case *core.Op:
		return e.Op == core.OpCompose || e.Op == core.OpImplies && any(e.Args[1])
	case *core.LocalRef:
		b := x.sc.lookup(e.Local)
		if b == nil || b.kind != isName && b.kind != isOperator {
			return false
		}
		return c.branches(b.expr, site{fn: b.owner, sc: b.scope, mode: b.mode}, depth+1)
	case *core.Lambda:
		return any(e.Body)
	case *core.OpRef:
		return c.defBranches(e.Def, depth)
	case *core.Call:
		return c.defBranches(e.Def, depth)
	case *core.ConstRef:
		if r := c.p.Constants[e.Const]; r.Def != nil {
			return c.defBranches(r.Def, depth)
		}
	}
	return false
}

// defBranches is branches for the body of a definition. It assumes that
// parameters do not branch: their arguments are examined at the call.
func (c *compiler) defBranches(d *core.Def, depth int) bool {
	to, _ := c.p.Resolve(d)
	if to == nil || to.Body == nil || c.p.IsNative(to) || c.p.ConstDefs[to] != nil {
		return false
	}
	if known, ok := c.branching[to]; ok {
		return known
	}
	c.branching[to] = to.Recursive || len(to.Params) > 0
	found := to.Recursive || c.branches(to.Body, site{}, depth+1) || paramInAction(to)
	c.branching[to] = found
	return found
}

// paramInAction reports whether a parameter of d may be executed as an action.
func paramInAction(d *core.Def) bool {
	found := false
	var walk func(core.Expr)
	walk = func(e core.Expr) {
		switch e := e.(type) {
		case *core.LocalRef:
			found = true
		case *core.And:
			for _, y := range e.List {
				walk(y)
			}
		case *core.If:
			walk(e.Then)
			walk(e.Else)
		case *core.Case:
			for x := range core.Children(e, core.EvaluationOrder) {
				walk(x)
			}
		case *core.Op:
			if e.Op == core.OpImplies {
				walk(e.Args[1])
			}
		case *core.Quant:
			walk(e.Body)
		case *core.Let:
			walk(e.Body)
		case *core.Call:
			for _, a := range e.Args {
				walk(a)
			}
		}
	}
	if len(d.Params) > 0 {
		walk(d.Body)
	}
	return found
}

// guard compiles a part of an action that assigns nothing.
func (c *compiler) guard(e core.Expr, x site, k act) act {
	p := c.pred(e, x)
	return func(m *Machine) bool { return !p(m) || k(m) }
}

// branch compiles a disjunction, \E, LET or application. It compiles the parts
// with part.
func (c *compiler) branch(e core.Expr, x site, k act, part compileAct) act {
	switch e := e.(type) {
	case *core.Or:
		acts := make([]act, len(e.List))
		for i, d := range e.List {
			acts[i] = part(d, x, k)
		}
		return sequence(acts)
	case *core.Let:
		inner, reset := c.let(e, x, true)
		return reset.act(part(e.Body, inner, k))
	case *core.Quant:
		return c.exists(e, x, k, part)
	case *core.Call:
		return c.callAct(e.Def, e.Args, x, k, part)
	}
	return c.guard(e, x, k)
}

// sequence runs the acts in order.
func sequence(acts []act) act {
	if len(acts) == 2 {
		a, b := acts[0], acts[1]
		return func(m *Machine) bool { return a(m) && b(m) }
	}
	return func(m *Machine) bool {
		for _, a := range acts {
			if !a(m) {
				return false
			}
		}
		return true
	}
}

func (r resets) act(run act) act { return act(r.pred(pred(run))) }

// exists compiles \E as a branching. If the set is constant and small, it makes a
// copy of the body for each element, in which the bound name is a constant.
func (c *compiler) exists(e *core.Quant, x site, k act, part compileAct) act {
	b := e.Binds[0]
	rest := e.Body
	if len(e.Binds) > 1 {
		rest = &core.Quant{At: e.At, Exists: true, Binds: e.Binds[1:], Body: e.Body}
	}
	if elems := c.unrollable(b, rest, x); elems != nil {
		inner := x
		inner.unrolled = x.unrolled * max(len(elems), 1)
		acts := make([]act, len(elems))
		for i, v := range elems {
			inner.sc = x.sc
			if b.Tuple {
				for j, w := range rule.TupleElems(b, v) {
					inner.sc = inner.sc.known(b.Vars[j], w)
				}
			} else {
				inner.sc = inner.sc.known(b.Vars[0], v)
			}
			acts[i] = c.existsRest(e, rest, inner, k, part)
		}
		if further := c.furtherBounds(e.Binds, x); len(elems) == 0 && further != nil {
			return func(m *Machine) bool {
				further(m)
				return true
			}
		}
		return sequence(acts)
	}
	if b.Set == nil {
		return func(*Machine) bool {
			value.Fail("an unbounded quantifier cannot be evaluated")
			return false
		}
	}
	inner, assign := c.bindElement(b, x)
	// The set of a further bound must not see the names of this one. It could
	// here, but the names are different, so that does no harm.
	return c.loopOver(c.expr(b.Set, x), b, inner.sc.lookup(b.Vars[0]).slot, assign, c.existsRest(e, rest, inner, k, part), c.furtherBounds(e.Binds, x))
}

func (c *compiler) existsRest(e *core.Quant, rest core.Expr, x site, k act, part compileAct) act {
	if len(e.Binds) > 1 {
		return c.exists(rest.(*core.Quant), x, k, part)
	}
	return part(rest, x, k)
}

// unrollNodesMax bounds the total size of all copies of an action.
const unrollNodesMax = 20_000

// unrollable returns the elements of a constant set for which to make copies,
// or nil.
func (c *compiler) unrollable(b core.Bind, body core.Expr, x site) []value.Value {
	if b.Set == nil {
		return nil
	}
	f := c.facts(b.Set, x)
	if f.Level > core.ConstantLevel || f.Volatile || f.Locals {
		return nil
	}
	fn := c.newFunction(nil)
	set := c.expr(b.Set, site{fn: fn, sc: x.sc, unrolled: 1, open: x.open})
	v, err := c.tryNow(fn, set.run)
	if err != nil {
		return nil
	}
	elems := elementsOf(v, UnrollMax)
	if elems == nil || len(elems)*x.unrolled*min(c.facts(body, x).Nodes, unrollNodesMax) > unrollNodesMax {
		return nil
	}
	if b.Tuple {
		for _, e := range elems {
			if e.Kind() != value.KindTuple || e.Len() != len(b.Vars) {
				return nil
			}
		}
	}
	return elems
}

// forAll compiles a \A whose body assigns variables, as a conjunction over the
// elements. Slots hold the remaining elements while the continuation runs.
func (c *compiler) forAll(e *core.Quant, x site, k act) act {
	further := c.furtherBounds(e.Binds, x)
	if len(e.Binds) > 1 {
		e = &core.Quant{At: e.At, Binds: e.Binds[:1], Body: &core.Quant{At: e.At, Binds: e.Binds[1:], Body: e.Body}}
	}
	b := e.Binds[0]
	if b.Set == nil {
		return func(*Machine) bool {
			value.Fail("an unbounded quantifier cannot be evaluated")
			return false
		}
	}
	set := c.expr(b.Set, x).run
	elems, at := x.fn.slot(), x.fn.slot()
	inner, assign := c.bindElement(b, x)
	var each act
	body := c.act(e.Body, inner, func(m *Machine) bool { return each(m) })
	each = func(m *Machine) bool {
		list, i := m.slots[elems].Elements(), int(m.slots[at].AsInt())
		if i == len(list) {
			return k(m)
		}
		before := value.TupleOf(slices.Clone(m.slots[at : at+1+len(b.Vars)]))
		m.slots[at] = value.Int(int32(i + 1))
		assign(m, list[i])
		ok := body(m)
		copy(m.slots[at:], before.Elements())
		return ok
	}
	return func(m *Machine) bool {
		outer, i := m.slots[elems], m.slots[at]
		list := set(m).Elems()
		if len(list) == 0 && further != nil {
			further(m)
		}
		m.slots[elems], m.slots[at] = value.TupleOf(list), value.Int(0)
		ok := each(m)
		m.slots[elems], m.slots[at] = outer, i
		return ok
	}
}

func (c *compiler) caseAct(e *core.Case, x site, k act) act {
	conds, acts := make([]pred, len(e.Arms)), make([]act, len(e.Arms))
	for i, a := range e.Arms {
		conds[i], acts[i] = c.pred(a.Cond, x), c.act(a.Body, x, k)
	}
	var other act
	if e.Other != nil {
		other = c.act(e.Other, x, k)
	}
	return func(m *Machine) bool {
		for i, cond := range conds {
			if cond(m) {
				return acts[i](m)
			}
		}
		if other == nil {
			value.Fail("no condition of the CASE is true, and it has no OTHER")
		}
		return other(m)
	}
}

// callAct compiles the application of a definition as an action.
func (c *compiler) callAct(d *core.Def, args []core.Expr, x site, k act, part compileAct) act {
	if b := x.sc.lookupDef(d); b != nil {
		return c.letAct(b, args, x, k, part)
	}
	to, _ := c.p.Resolve(d)
	if to == nil || to.Body == nil || c.p.IsNative(to) || c.p.ConstDefs[to] != nil {
		return c.guard(&core.Call{At: core.At{Place: d.Span}, Def: d, Args: args}, x, k)
	}
	if to.Recursive || x.open.has(to) {
		return c.callRecursive(c.function(to, x.mode, true), to, args, x, k, 0, false)
	}
	inner, reset := c.bindArgs(to, args, x, nil, true)
	return reset.act(part(to.Body, inner, k))
}

func (c *compiler) letAct(b *meaning, args []core.Expr, x site, k act, part compileAct) act {
	switch {
	case b.kind == isName && b.owner == x.fn:
		return part(b.expr, site{fn: x.fn, sc: b.scope, mode: x.mode, unrolled: x.unrolled, open: b.open}, k)
	case b.kind == isDefined && (b.def.Recursive || x.open.has(b.def)):
		if b.acts == nil {
			b.acts = &meaning{kind: isDefined, owner: b.owner, scope: b.scope, def: b.def}
		}
		return c.callRecursive(c.letFunction(b.acts, x.mode, true), b.def, args, x, k, x.hops(b.owner), true)
	case b.kind == isDefined:
		inner, reset := c.bindArgs(b.def, args, x, b.scope, true)
		return reset.act(part(b.def.Body, inner, k))
	}
	run := c.callLet(b, args, x).run
	return func(m *Machine) bool { return !run(m).IsTrue() || k(m) }
}

// callRecursive compiles the application of a recursive action: a function that
// takes its continuation as an argument.
func (c *compiler) callRecursive(fn *function, d *core.Def, args []core.Expr, x site, k act, n int, let bool) act {
	ps := c.pass(fn, d, args, x, true)
	return func(m *Machine) bool {
		var up *activation
		if let {
			up = m.outer(n)
		}
		a := m.prepare(fn, ps, up)
		a.k, a.kFrame = k, m.frame
		before := m.frame
		m.enter(a)
		ok := fn.act(m)
		m.pop(before)
		return ok
	}
}

// nameAct compiles an action that was passed as an argument; nil if the name
// stands for a value.
func (c *compiler) nameAct(e *core.LocalRef, x site, k act) act {
	b := x.sc.lookup(e.Local)
	if b == nil {
		return nil
	}
	if e.Local.Arity > 0 {
		return c.operatorAct(b, e.Args, x, k)
	}
	if b.kind == isName && b.owner == x.fn {
		return c.act(b.expr, site{fn: x.fn, sc: b.scope, mode: x.mode, unrolled: x.unrolled, open: b.open}, k)
	}
	return nil
}

func (c *compiler) operatorAct(b *meaning, args []core.Expr, x site, k act) act {
	if b.kind != isOperator {
		return nil
	}
	switch op := b.expr.(type) {
	case *core.OpRef:
		if let := b.scope.lookupDef(op.Def); let != nil {
			return c.letAct(let, args, x, k, c.act)
		}
		return c.callAct(op.Def, args, x, k, c.act)
	case *core.Lambda:
		d := &core.Def{Name: "LAMBDA", Params: op.Params, Body: op.Body, Span: op.Place}
		inner, reset := c.bindArgs(d, args, x, b.scope, true)
		inner.open = b.open
		return reset.act(c.act(op.Body, inner, k))
	case *core.LocalRef:
		if inner := b.scope.lookup(op.Local); inner != nil {
			return c.operatorAct(inner, args, x, k)
		}
	}
	return nil
}

// opAct compiles the operators that assign variables.
func (c *compiler) opAct(e *core.Op, x site, k act) act {
	switch e.Op {
	case core.OpEq:
		if v := c.assignable(e.Args[0], x); v != nil {
			if a := c.assignOne(v, e.Args[1], x, k); a != nil {
				return a
			}
			return assignTo(v, c.expr(e.Args[1], x), k)
		}
	case core.OpIn:
		if v := c.assignable(e.Args[0], x); v != nil {
			return c.assignIn(v, e.Args[1], x, k)
		}
	case core.OpImplies:
		cond, then := c.pred(e.Args[0], x), c.act(e.Args[1], x, k)
		return func(m *Machine) bool {
			if cond(m) {
				return then(m)
			}
			return k(m)
		}
	case core.OpUnchanged:
		return c.unchangedAct(e.Args[0], x, k)
	case core.OpCompose:
		return c.compose(e, x, k)
	}
	return c.guard(e, x, k)
}

// unchangedMax is the maximum number of variables that one UNCHANGED closure
// assigns.
const unchangedMax = 64

// elementsOf returns the elements of a constant set, for a compiler that treats each
// element separately. It returns nil if there are more than most, or if they cannot be
// enumerated.
func elementsOf(set value.Value, most int) (elems []value.Value) {
	if set.Kind() != value.KindSet {
		return nil
	}
	if value.Catch(func() {
		if value.IsFinite(set) && value.Size(set) <= most {
			elems = set.Elems()
		}
	}) != nil {
		return nil
	}
	return elems
}

// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// compiled is an expression's code and what is known about it.
type compiled struct {
	run   expr
	known bool // run always gives val
	val   value.Value
	// slot is the slot of the running activation that holds the value, or -1.
	slot int
	// variable is the index of the variable if the expression is an unprimed
	// variable, otherwise -1.
	variable int
}

func code(run expr) compiled { return compiled{run: run, slot: -1, variable: -1} }

func knownValue(v value.Value) compiled {
	return compiled{run: func(*Machine) value.Value { return v }, known: true, val: v, slot: -1, variable: -1}
}

// failing returns code that fails: the expression has no value.
func failing(format string, args ...any) compiled {
	return code(func(*Machine) value.Value {
		value.Fail(format, args...)
		return value.Value{}
	})
}

// expr compiles e.
func (c *compiler) expr(e core.Expr, x site) compiled {
	switch e := e.(type) {
	case *core.Int:
		if e.Val != int64(int32(e.Val)) {
			return failing("the number %d does not fit 32 bits", e.Val)
		}
		return knownValue(value.Int(int32(e.Val)))
	case *core.Str:
		return knownValue(value.String(e.Val))
	case *core.Bool:
		return knownValue(value.Bool(e.Val))
	case *program.Literal:
		return knownValue(e.Val)
	case *core.VarRef:
		return c.variable(e.Var, x)
	case *core.LocalRef:
		return c.local(e, x)
	case *core.ConstRef:
		return c.constant(e, x)
	}
	if folded, ok := c.fold(e, x); ok {
		return folded
	}
	out := c.compound(e, x)
	if c.in.Profile != nil {
		out.run = c.countExpr(e, out.run)
	}
	return out
}

// compound compiles an expression that is not constant.
func (c *compiler) compound(e core.Expr, x site) compiled {
	switch e := e.(type) {
	case *core.Call:
		return c.call(e.Def, e.Args, x)
	case *core.And, *core.Or, *core.Quant, *core.Box, *core.Angle:
		return boolean(c.predicate(e, x))
	case *core.Op:
		return c.op(e, x)
	case *core.If:
		cond, then, els := c.pred(e.Cond, x), c.expr(e.Then, x).run, c.expr(e.Else, x).run
		return code(func(m *Machine) value.Value {
			if cond(m) {
				return then(m)
			}
			return els(m)
		})
	case *core.Case:
		return c.caseExpr(e, x)
	case *core.Let:
		inner, reset := c.let(e, x, false)
		return code(reset.expr(c.expr(e.Body, inner).run))
	case *core.Choose:
		return c.choose(e, x)
	case *core.SetEnum:
		return c.setEnum(e, x)
	case *core.SetFilter:
		return c.setFilter(e, x)
	case *core.SetMap:
		return c.setMap(e, x)
	case *core.Fn:
		return c.fnValue(e, x)
	case *core.FnSet:
		dom, rng := c.expr(e.Dom, x).run, c.expr(e.Rng, x).run
		return code(func(m *Machine) value.Value {
			d := dom(m)
			return value.FnSet(d, rng(m))
		})
	case *core.Apply:
		return c.apply(e, x)
	case *core.Record:
		return c.record(e, x)
	case *core.RecordSet:
		return c.recordSet(e, x)
	case *core.Select:
		f, name := c.expr(e.X, x).run, e.Field
		return code(func(m *Machine) value.Value { return f(m).Field(name) })
	case *core.Except:
		return c.except(e, x)
	case *core.Tuple:
		return c.tuple(e, x)
	case *core.Times:
		sets := c.list(e.Sets, x)
		return code(func(m *Machine) value.Value {
			vs := make([]value.Value, len(sets))
			for i, s := range sets {
				vs[i] = s(m)
			}
			return value.Times(vs...)
		})
	case *core.Decimal:
		return code(func(*Machine) value.Value { return rule.DecimalLiteral(e) })
	case *core.Fair, *core.TemporalQuant:
		return failing("a temporal formula cannot be evaluated in a state")
	case *core.OpRef, *core.Lambda:
		return failing("an operator is not a value")
	case *core.Bad:
		return failing("the expression could not be read")
	}
	invariant.Unreachable(e)
	return compiled{}
}

// boolean compiles a predicate as an expression.
func boolean(p pred) compiled {
	return code(func(m *Machine) value.Value { return value.Bool(p(m)) })
}

func (c *compiler) list(es []core.Expr, x site) []expr {
	out := make([]expr, len(es))
	for i, e := range es {
		out[i] = c.expr(e, x).run
	}
	return out
}

// variable compiles a state variable.
func (c *compiler) variable(v *core.Variable, x site) compiled {
	i := v.Index
	if x.mode.primed {
		return code(func(m *Machine) value.Value {
			if m.nxt == nil {
				value.Fail("a primed expression has no value here: there is no next state")
			}
			y := m.nxt[i]
			if y.IsUndefined() {
				rule.NextValue(m.nxt, v)
			}
			return y
		})
	}
	out := code(func(m *Machine) value.Value {
		if i >= len(m.cur) {
			value.Fail("the variable %s has no value here: there is no state", v.Name)
		}
		return m.cur[i]
	})
	out.variable = i
	return out
}

// local compiles a bound name, or the application of an operator parameter.
func (c *compiler) local(e *core.LocalRef, x site) compiled {
	b := x.sc.lookup(e.Local)
	if b == nil {
		return failing("the name %s has no value here", e.Local.Name)
	}
	if e.Local.Arity > 0 {
		return c.applyOperator(b, e.Args, x)
	}
	return c.meaning(b, x)
}

// meaning compiles the use of a name.
func (c *compiler) meaning(b *meaning, x site) compiled {
	switch b.kind {
	case isKnown:
		return knownValue(b.val)
	case isSlot:
		n := x.hops(b.owner)
		out := code(readSlot(n, b.slot))
		if n == 0 {
			out.slot = b.slot
		}
		return out
	case isParam:
		return c.param(b, x)
	case isFunction:
		return c.functionValue(b, x)
	case isName:
		return c.byName(b, x)
	}
	return failing("an operator is not a value")
}

// byName compiles the use of a name that stands for an expression. In the state
// in which the name was bound, its value is cached; in another state it is
// computed again.
func (c *compiler) byName(b *meaning, x site) compiled {
	if f, _ := c.meaningFacts(b); f.Level == core.ConstantLevel && !f.Locals && !f.Volatile {
		if b.folded == nil {
			once := c.expr(b.expr, site{fn: c.newFunction(nil), sc: b.scope, unrolled: x.unrolled, open: b.open})
			b.folded = &once
		}
		return *b.folded
	}
	n := x.hops(b.owner)
	inner := c.codeOf(b, x)
	if n == 0 || inner.known || inner.variable >= 0 {
		return *inner
	}
	return code(inOuter(n, inner.run))
}

// codeOf returns the code of the expression that a name stands for, compiled in
// the function that binds the name, for the state of x.
func (c *compiler) codeOf(b *meaning, x site) *compiled {
	if inner := b.codes[x.mode]; inner != nil {
		return inner
	}
	inner := c.expr(b.expr, site{fn: b.owner, sc: b.scope, mode: x.mode, unrolled: x.unrolled, open: b.open})
	if slot := b.slot; slot >= 0 && x.mode == b.mode && !inner.known && inner.variable < 0 {
		run := inner.run
		inner = code(func(m *Machine) value.Value {
			if v := m.slots[slot]; !v.IsUndefined() {
				return v
			}
			v := run(m)
			m.slots[slot] = v
			return v
		})
	}
	if b.codes == nil {
		b.codes = make(map[mode]*compiled)
	}
	b.codes[x.mode] = &inner
	return &inner
}

// param compiles the use of a parameter of a function.
func (c *compiler) param(b *meaning, x site) compiled {
	n, slot := x.hops(b.owner), b.slot
	if b.strict {
		out := code(readSlot(n, slot))
		if n == 0 {
			out.slot = slot
		}
		return out
	}
	if x.mode != b.mode {
		return failing("the parameter of a recursive operator cannot be primed")
	}
	return code(inOuter(n, func(m *Machine) value.Value {
		if v := m.slots[slot]; !v.IsUndefined() {
			return v
		}
		return m.force(slot)
	}))
}

// force computes the argument of the running function in slot.
func (m *Machine) force(slot int) value.Value {
	here := m.frame
	t := here.thunks[slot]
	m.enter(t.frame)
	v := t.run(m)
	m.enter(here)
	if t.keep {
		m.slots[slot] = v
	}
	return v
}

// constant compiles a constant, or the application of a constant operator.
func (c *compiler) constant(e *core.ConstRef, x site) compiled {
	r, ok := c.p.Constants[e.Const]
	invariant.Check(ok, "constant %s has no value", e.Const.Name)
	switch {
	case r.Def != nil:
		return c.call(r.Def, e.Args, x)
	case r.Table != nil:
		return c.table(e.Const.Name, r, e.Args, x)
	}
	return knownValue(r.Val)
}

func (c *compiler) table(name string, r program.Replacement, args []core.Expr, x site) compiled {
	codes := c.list(args, x)
	return code(func(m *Machine) value.Value {
		vs := make([]value.Value, len(codes))
		for i, a := range codes {
			vs[i] = a(m)
		}
		return r.Apply(name, vs)
	})
}

// foldNodesMax is the maximum size of a constant expression of simple form that
// is evaluated at compile time.
const foldNodesMax = 40

// fold compiles an expression that depends on nothing. It evaluates the
// expression now if that is certainly cheap; otherwise the code evaluates it
// when its value is first needed.
func (c *compiler) fold(e core.Expr, x site) (compiled, bool) {
	if call, ok := e.(*core.Call); ok && len(call.Args) == 0 {
		return compiled{}, false // its definition is treated as a whole
	}
	f := c.facts(e, x)
	if f.Level != core.ConstantLevel || f.Volatile || f.Locals || !foldable(e) {
		return compiled{}, false
	}
	fn := c.newFunction(nil)
	inner := c.compound(e, site{fn: fn, sc: x.sc, unrolled: x.unrolled, open: x.open})
	if inner.known {
		return inner, true
	}
	if f.Nodes <= foldNodesMax && simple(e) {
		if v, err := c.tryNow(fn, inner.run); err == nil {
			return knownValue(v), true
		}
	}
	once := &memo.Cell{}
	return code(func(m *Machine) value.Value {
		if v, ok := once.Peek(); ok {
			return v
		}
		return once.Get(m.asker, func() value.Value { return m.runApart(fn, inner.run) })
	}), true
}

// tryNow evaluates code at compile time. If it fails, the error occurs again
// when the code runs, if it ever does.
func (c *compiler) tryNow(fn *function, run expr) (v value.Value, err error) {
	r := tlcget.New(c.in.Shared, 0).Mute()
	r.World.Files = nil // what stands in a file may be another thing when it is asked for
	m := &Machine{run: r, asker: r, vars: c.p.Spec.Variables}
	err = value.Catch(func() { v = m.runApart(fn, run) })
	return v, err
}

// simple reports whether the time to evaluate e is at most proportional to its
// size.
func simple(e core.Expr) bool {
	ok := true
	switch e := e.(type) {
	case *core.Quant, *core.Choose, *core.SetFilter, *core.SetMap, *core.Fn, *core.Call, *core.LocalRef, *core.Let:
		_, ok = e.(*core.LocalRef)
	case *core.ConstRef:
		ok = len(e.Args) == 0
	}
	for x := range core.Children(e, core.EvaluationOrder) {
		ok = ok && simple(x)
	}
	return ok
}

// foldable reports whether e is of a form that denotes a value.
func foldable(e core.Expr) bool {
	switch e.(type) {
	case *core.OpRef, *core.Lambda, *core.Bad, *core.Decimal:
		return false
	case *core.ConstRef, *core.LocalRef, *program.Literal, *core.Int, *core.Str, *core.Bool:
		return false // nothing to fold
	}
	return true
}

// facts returns the facts about e at the site x.
func (c *compiler) facts(e core.Expr, x site) program.Facts {
	return c.p.FactsIn(e, func(l *core.LocalRef) (program.Facts, bool) {
		b := x.sc.lookup(l.Local)
		return c.meaningFacts(b)
	})
}

// meaningFacts returns the facts about the expression that a name stands for;
// false if the name stands for a value.
func (c *compiler) meaningFacts(b *meaning) (program.Facts, bool) {
	if b == nil {
		return program.Facts{}, false
	}
	switch b.kind {
	case isKnown:
		return program.Facts{}, true
	case isName, isOperator:
		if b.known == nil {
			if b.asking {
				return program.Facts{}, false
			}
			b.asking = true
			f := c.facts(b.expr, site{sc: b.scope})
			b.known = &f
		}
		return *b.known, true
	}
	return program.Facts{}, false
}

func (c *compiler) caseExpr(e *core.Case, x site) compiled {
	conds, bodies := make([]pred, len(e.Arms)), make([]expr, len(e.Arms))
	for i, a := range e.Arms {
		conds[i], bodies[i] = c.pred(a.Cond, x), c.expr(a.Body, x).run
	}
	var other expr
	if e.Other != nil {
		other = c.expr(e.Other, x).run
	}
	return code(func(m *Machine) value.Value {
		for i, cond := range conds {
			if cond(m) {
				return bodies[i](m)
			}
		}
		if other == nil {
			value.Fail("no condition of the CASE is true, and it has no OTHER")
		}
		return other(m)
	})
}

func (c *compiler) tuple(e *core.Tuple, x site) compiled {
	elems := c.list(e.Elems, x)
	if len(elems) == 2 {
		a, b := elems[0], elems[1]
		return code(func(m *Machine) value.Value {
			va, vb := a(m), b(m)
			v, vs := value.NewTuple(2)
			vs[0], vs[1] = va, vb
			return v
		})
	}
	return code(func(m *Machine) value.Value {
		v, vs := value.NewTuple(len(elems))
		for i, e := range elems {
			vs[i] = e(m)
		}
		return v
	})
}

// fieldOrder sorts field names. It returns the set of names, and the index of
// each field in it.
func fieldOrder(fields []core.Field) (names value.Value, places []int, ok bool) {
	elems := make([]value.Value, len(fields))
	for i, f := range fields {
		elems[i] = value.String(f.Name)
	}
	names = value.SetOf(append([]value.Value(nil), elems...))
	sorted := names.Elems()
	if len(sorted) != len(fields) || len(fields) == 0 {
		return names, nil, false
	}
	places = make([]int, len(fields))
	for i := range fields {
		for j := range sorted {
			if value.Equal(elems[i], sorted[j]) {
				places[i] = j
			}
		}
	}
	return names, places, true
}

func (c *compiler) record(e *core.Record, x site) compiled {
	names, places, ok := fieldOrder(e.Fields)
	if !ok {
		return failing("a record cannot have two fields of the same name")
	}
	fields := make([]expr, len(e.Fields))
	for i, f := range e.Fields {
		fields[i] = c.expr(f.X, x).run
	}
	return code(func(m *Machine) value.Value {
		v, vs := value.NewFn(names)
		for i, f := range fields {
			vs[places[i]] = f(m)
		}
		return v
	})
}

func (c *compiler) recordSet(e *core.RecordSet, x site) compiled {
	names, places, ok := fieldOrder(e.Fields)
	if !ok {
		return failing("a set of records cannot have two fields of the same name")
	}
	fields := make([]expr, len(e.Fields))
	for i, f := range e.Fields {
		fields[i] = c.expr(f.X, x).run
	}
	return code(func(m *Machine) value.Value {
		vs := make([]value.Value, len(fields))
		for i, f := range fields {
			vs[places[i]] = f(m)
		}
		return value.RecordSetOf(names, vs)
	})
}

// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// A function with a name (f[x \in S] == e, LET f == [x \in S |-> e]) that is
// applied is evaluated at the argument only. So it may be recursive, its domain
// may be infinite, and its values may be undefined elsewhere. Its body is
// compiled as a function. If the function itself is used as a value, all its
// values are computed.

// fnMeaning returns the meaning of a named function.
func fnMeaning(fn *core.Fn, owner *function, sc *scope, md mode) *meaning {
	return &meaning{kind: isFunction, owner: owner, scope: sc, mode: md, fn: fn, expr: fn, slot: -1, domain: -1}
}

// functionOf returns the named function that e denotes, or nil.
func (c *compiler) functionOf(e core.Expr, x site) *meaning {
	switch e := e.(type) {
	case *core.LocalRef:
		b := x.sc.lookup(e.Local)
		switch {
		case b == nil || len(e.Args) > 0:
		case b.kind == isFunction:
			return b
		case b.kind == isName && b.mode == x.mode:
			return c.functionOf(b.expr, site{fn: b.owner, sc: b.scope, mode: b.mode})
		}
	case *core.Call:
		if len(e.Args) > 0 {
			return nil
		}
		if b := x.sc.lookupDef(e.Def); b != nil {
			if b.kind == isFunction {
				return b
			}
			return nil
		}
		return c.globalFn(e.Def)
	case *core.ConstRef:
		if r := c.p.Constants[e.Const]; r.Def != nil && len(e.Args) == 0 {
			return c.globalFn(r.Def)
		}
	}
	return nil
}

// globalFn returns the named function of a definition. If it is constant, its
// values are cached until the end of the search.
func (c *compiler) globalFn(d *core.Def) *meaning {
	d, _ = c.p.Resolve(d)
	if d == nil || d.Body == nil || c.p.IsNative(d) || len(d.Params) > 0 {
		return nil
	}
	fn, ok := d.Body.(*core.Fn)
	if !ok {
		return nil
	}
	if b := c.fns[d]; b != nil {
		return b
	}
	f := c.p.DefFacts(d)
	if f.Level > core.StateLevel || f.Locals {
		return nil
	}
	b := fnMeaning(fn, nil, nil, mode{})
	b.def = d
	switch {
	case f.Level > core.ConstantLevel:
	case fn.Self != nil || d.Recursive:
		b.memo = memo.NewFunction()
	default:
		b.whole = &memo.Cell{}
	}
	c.fns[d] = b
	return b
}

// fnBody returns the compiled body of a named function in mode md.
func (c *compiler) fnBody(b *meaning, md mode) *function {
	if b.compiled == nil {
		b.compiled = make(map[mode]*function)
	}
	if fn := b.compiled[md]; fn != nil {
		return fn
	}
	fn := c.newFunction(b.owner)
	b.compiled[md] = fn
	x := site{fn: fn, sc: b.scope, mode: md, unrolled: 1, open: b.open}
	if b.fn.Self != nil {
		x.sc = &scope{up: x.sc, local: b.fn.Self, b: b}
	}
	inner, set := c.bindArgument(b.fn.Binds, x)
	body := c.expr(b.fn.Body, inner).run
	fn.body = func(m *Machine) value.Value {
		set(m, m.slots[0])
		return body(m)
	}
	return fn
}

// bindArgument binds the names of a function to its argument, which is in slot
// 0 of x.fn. The returned code decomposes the argument.
func (c *compiler) bindArgument(binds []core.Bind, x site) (site, func(*Machine, value.Value)) {
	arg := x.fn.slot()
	if len(binds) == 1 {
		b := binds[0]
		if !b.Tuple {
			x.sc = x.sc.slotFor(b.Vars[0], x.fn, arg)
			return x, func(*Machine, value.Value) {}
		}
		inner, set := c.bindElement(b, x)
		return inner, set
	}
	sets := make([]func(*Machine, value.Value), len(binds))
	for i, b := range binds {
		x, sets[i] = c.bindElement(b, x)
	}
	return x, func(m *Machine, v value.Value) {
		es := v.Elements()
		for i, set := range sets {
			set(m, es[i])
		}
	}
}

// bindElement gives the names of b slots. The returned code fills them from an
// element of the set.
func (c *compiler) bindElement(b core.Bind, x site) (site, func(*Machine, value.Value)) {
	first := x.fn.slots
	for _, l := range b.Vars {
		x.sc = x.sc.slotFor(l, x.fn, x.fn.slot())
	}
	if !b.Tuple {
		return x, func(m *Machine, v value.Value) { m.slots[first] = v }
	}
	return x, func(m *Machine, v value.Value) {
		copy(m.slots[first:first+len(b.Vars)], rule.TupleElems(b, v))
	}
}

// fnDomainExpr returns the domain of a function as an expression.
func fnDomainExpr(e *core.Fn) core.Expr {
	if len(e.Binds) == 1 {
		return e.Binds[0].Set
	}
	t := &core.Times{At: e.At}
	for _, b := range e.Binds {
		t.Sets = append(t.Sets, b.Set)
	}
	return t
}

// fnDomain compiles the domain of a named function that is used in x.
func (c *compiler) fnDomain(b *meaning, x site) compiled {
	e := fnDomainExpr(b.fn)
	if b.owner == nil {
		fn := c.newFunction(nil)
		inner := c.expr(e, site{fn: fn, mode: x.mode, unrolled: 1})
		if inner.known {
			return inner
		}
		return code(func(m *Machine) value.Value {
			before := m.push(fn, nil)
			v := inner.run(m)
			m.pop(before)
			return v
		})
	}
	inner := c.expr(e, site{fn: b.owner, sc: b.scope, mode: x.mode, unrolled: 1, open: b.open})
	if inner.known {
		return inner
	}
	run := inner.run
	if slot := b.domain; slot >= 0 && x.mode == b.mode {
		run = func(m *Machine) value.Value {
			if v := m.slots[slot]; !v.IsUndefined() {
				return v
			}
			v := inner.run(m)
			m.slots[slot] = v
			return v
		}
	}
	return code(inOuter(x.hops(b.owner), run))
}

// applyNamed compiles the application of a named function.
func (c *compiler) applyNamed(b *meaning, arg expr, x site) compiled {
	domain, body := c.fnDomain(b, x).run, c.fnBody(b, x.mode)
	n := 0
	if b.owner != nil {
		n = x.hops(b.owner)
	}
	global, remembered := b.owner == nil, b.memo
	point := func(m *Machine, v value.Value) value.Value {
		if d := domain(m); !value.Contains(d, v) {
			value.Fail("cannot apply the function to %s, which is not in its domain %s", value.Brief(v), value.Brief(d))
		}
		var up *activation
		if !global {
			up = m.outer(n)
		}
		before := m.push(body, up)
		m.slots[0] = v
		y := body.body(m)
		m.pop(before)
		return y
	}
	switch {
	case remembered != nil:
		return code(func(m *Machine) value.Value {
			v := arg(m)
			if y, ok := remembered.Get(v); ok {
				return y
			}
			y := point(m, v)
			remembered.Put(v, y)
			return y
		})
	case b.whole != nil:
		whole := c.writeOut(b, x)
		return code(func(m *Machine) value.Value {
			v := arg(m)
			if w, ok := b.whole.Try(m.asker, func() value.Value { return whole(m.apart()) }); ok {
				return w.Apply(v)
			}
			return point(m, v)
		})
	}
	return code(func(m *Machine) value.Value { return point(m, arg(m)) })
}

// writeOut computes all values of a named function that is used in x and whose
// domain is finite.
func (c *compiler) writeOut(b *meaning, x site) expr {
	domain, body := c.fnDomain(b, x).run, c.fnBody(b, x.mode)
	n := 0
	if b.owner != nil {
		n = x.hops(b.owner)
	}
	global := b.owner == nil
	return func(m *Machine) value.Value {
		d := domain(m)
		var up *activation
		if !global {
			up = m.outer(n)
		}
		if !value.IsFinite(d) {
			return m.lazy(d, body, up)
		}
		before := m.push(body, up)
		f, vals := value.NewFn(d)
		i := 0
		for v := range d.Each {
			m.poll()
			m.slots[0] = v
			vals[i] = body.body(m)
			i++
		}
		m.pop(before)
		return f
	}
}

// lazy makes a function value that computes its values when it is applied.
func (m *Machine) lazy(domain value.Value, body *function, up *activation) value.Value {
	d := m.detach(body, up)
	return value.LazyFn(domain, func(x value.Value) value.Value {
		var y value.Value
		d.with(func(m *Machine) {
			m.slots[0] = x
			y = body.body(m)
		})
		return y
	})
}

// lazyArg compiles a named function that is an argument. It does not compute
// all values, because the callee usually applies the function at a few points.
func (c *compiler) lazyArg(a core.Expr, x site) (compiled, bool) {
	b := c.functionOf(a, x)
	if b == nil || b.whole != nil || x.mode.primed || c.facts(b.fn, site{sc: b.scope}).Level > core.StateLevel {
		return compiled{}, false
	}
	domain, body := c.fnDomain(b, x).run, c.fnBody(b, x.mode)
	n := 0
	if b.owner != nil {
		n = x.hops(b.owner)
	}
	global := b.owner == nil
	return code(func(m *Machine) value.Value {
		d := domain(m)
		var up *activation
		if !global {
			up = m.outer(n)
		}
		return m.lazy(d, body, up)
	}), true
}

// functionValue compiles a named function as a value.
func (c *compiler) functionValue(b *meaning, x site) compiled {
	whole := c.writeOut(b, x)
	switch {
	case b.whole != nil:
		return code(func(m *Machine) value.Value {
			return b.whole.Get(m.asker, func() value.Value { return whole(m.apart()) })
		})
	case b.slot >= 0 && x.mode == b.mode:
		slot := b.slot
		n := x.hops(b.owner)
		return code(func(m *Machine) value.Value {
			home := m.outer(n)
			if v := home.slots[slot]; !v.IsUndefined() {
				return v
			}
			v := whole(m)
			home.slots[slot] = v
			return v
		})
	}
	return code(whole)
}

// fnValue compiles [x \in S |-> e] as a value.
func (c *compiler) fnValue(e *core.Fn, x site) compiled {
	if e.Self != nil {
		b := fnMeaning(e, x.fn, x.sc, x.mode)
		b.open = x.open
		return code(c.writeOut(b, x))
	}
	domain := c.expr(fnDomainExpr(e), x)
	b := fnMeaning(e, x.fn, x.sc, x.mode)
	b.open = x.open
	infinite := func(m *Machine, d value.Value) value.Value {
		return m.lazy(d, c.fnBody(b, x.mode), m.frame)
	}
	if domain.known && value.IsFinite(domain.val) {
		infinite = nil
	} else {
		c.fnBody(b, x.mode)
	}
	inner, set := c.bindArgument(e.Binds, x)
	body := c.expr(e.Body, inner).run
	run := domain.run
	single := len(e.Binds) == 1 && !e.Binds[0].Tuple
	place := c.argumentSlot(e, inner)
	return code(func(m *Machine) value.Value {
		d := run(m)
		if infinite != nil && !value.IsFinite(d) {
			return infinite(m, d)
		}
		f, vals := value.NewFn(d)
		i := 0
		for v := range d.Each {
			m.poll()
			if single {
				m.slots[place] = v
			} else {
				set(m, v)
			}
			vals[i] = body(m)
			i++
		}
		return f
	})
}

// argumentSlot returns the slot of the only name of e, or -1.
func (c *compiler) argumentSlot(e *core.Fn, x site) int {
	if len(e.Binds) == 1 && !e.Binds[0].Tuple {
		return x.sc.lookup(e.Binds[0].Vars[0]).slot
	}
	return -1
}

// apply compiles f[e].
func (c *compiler) apply(e *core.Apply, x site) compiled {
	arg := c.expr(e.Arg, x)
	if b := c.functionOf(e.Fn, x); b != nil {
		return c.applyNamed(b, arg.run, x)
	}
	f := c.expr(e.Fn, x)
	if i := f.variable; i >= 0 {
		switch {
		case arg.known:
			key := arg.val
			return code(func(m *Machine) value.Value { return m.cur[i].Apply(key) })
		case arg.slot >= 0:
			slot := arg.slot
			return code(func(m *Machine) value.Value { return m.cur[i].Apply(m.slots[slot]) })
		}
	}
	fr, ar := f.run, arg.run
	if arg.known {
		key := arg.val
		return code(func(m *Machine) value.Value { return fr(m).Apply(key) })
	}
	return code(func(m *Machine) value.Value {
		v := fr(m)
		return v.Apply(ar(m))
	})
}

// pathStep is a step of an EXCEPT path: a field, or an index.
type pathStep struct {
	key  value.Value // of a field or a constant index
	code expr        // nil where key is known
}

func (s pathStep) value(m *Machine) value.Value {
	if s.code == nil {
		return s.key
	}
	return s.code(m)
}

// update is one "!path = value".
type update struct {
	path []pathStep
	at   int // the slot of @, or -1
	val  expr
}

// except compiles [f EXCEPT ...].
func (c *compiler) except(e *core.Except, x site) compiled {
	f := c.expr(e.Fn, x)
	updates := make([]update, len(e.Updates))
	for i, u := range e.Updates {
		out := update{at: -1}
		for _, ix := range u.Path {
			if ix.X == nil {
				out.path = append(out.path, pathStep{key: value.String(ix.Field)})
				continue
			}
			p := c.expr(ix.X, x)
			step := pathStep{key: p.val, code: p.run}
			if p.known {
				step.code = nil
			}
			out.path = append(out.path, step)
		}
		inner := x
		if u.At != nil {
			out.at = x.fn.slot()
			inner.sc = x.sc.slotFor(u.At, x.fn, out.at)
		}
		out.val = c.expr(u.Value, inner).run
		updates[i] = out
	}
	fr := f.run
	if len(updates) == 1 && len(updates[0].path) == 1 {
		u := updates[0]
		return code(func(m *Machine) value.Value { return u.one(m, fr(m)) })
	}
	return code(func(m *Machine) value.Value {
		v := fr(m)
		for i := range updates {
			if u := &updates[i]; len(u.path) == 1 {
				v = u.one(m, v)
			} else {
				v = u.deep(m, v)
			}
		}
		return v
	})
}

// one updates f at a path of one step. If the path is outside the domain, f
// does not change and the new value is not evaluated.
func (u *update) one(m *Machine, f value.Value) value.Value {
	key := u.path[0].value(m)
	old, ok := f.Lookup(key)
	if !ok {
		return f
	}
	if u.at >= 0 {
		m.slots[u.at] = old
	}
	return f.ExceptIndex(key, u.val(m))
}

// pathMax is the maximum length of a path that is stored on the stack.
const pathMax = 6

func (u *update) deep(m *Machine, f value.Value) value.Value {
	var space [pathMax]value.Value
	path := space[:0]
	for i := range u.path {
		path = append(path, u.path[i].value(m))
	}
	old, ok := rule.Follow(f, path)
	if !ok {
		return f
	}
	if u.at >= 0 {
		m.slots[u.at] = old
	}
	return f.Except(path, u.val(m))
}

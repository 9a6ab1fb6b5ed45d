// SPDX-License-Identifier: Apache-2.0

package closure

import (
	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// call compiles the application of a definition.
func (c *compiler) call(d *core.Def, args []core.Expr, x site) compiled {
	if b := x.sc.lookupDef(d); b != nil {
		return c.callLet(b, args, x)
	}
	d, repl := c.p.Resolve(d)
	switch {
	case d == nil && repl.Table != nil:
		return c.table("operator", repl, args, x)
	case d == nil:
		return knownValue(repl.Val)
	}
	if cl := c.p.ConstDefs[d]; cl != nil {
		return c.constDef(d, cl)
	}
	if c.p.IsNative(d) {
		return c.native(d, args, x)
	}
	if d.Body == nil {
		return failing("the operator %s of module %s has no definition that can be evaluated", d.Name, d.Module)
	}
	if folded, ok := c.foldCall(d, args, x); ok {
		return folded
	}
	if c.inlines(d, x) {
		inner, reset := c.bindArgs(d, args, x, nil, false)
		return c.recall(d, args, x, code(reset.expr(c.expr(d.Body, inner).run)))
	}
	return c.recall(d, args, x, c.callFunction(c.globalFunction(d, x.mode), d, args, x, 0, false))
}

// foldCall evaluates the application of a definition to constants at compile
// time.
func (c *compiler) foldCall(d *core.Def, args []core.Expr, x site) (compiled, bool) {
	if len(args) == 0 || c.p.DefFacts(d).Level != core.ConstantLevel {
		return compiled{}, false
	}
	call := &core.Call{At: core.At{Place: d.Span}, Def: d, Args: args}
	f := c.facts(call, x)
	if f.Level != core.ConstantLevel || f.Volatile || f.Locals {
		return compiled{}, false
	}
	if x.fn.folding {
		return compiled{}, false
	}
	fn := c.newFunction(nil)
	fn.folding = true
	inner := c.call(d, args, site{fn: fn, sc: x.sc, unrolled: x.unrolled, open: x.open})
	return c.once(fn, inner), true
}

// once returns code that runs inner, the body of fn, when its value is first
// needed, and caches the value.
func (c *compiler) once(fn *function, inner compiled) compiled {
	if inner.known {
		return inner
	}
	cl := &memo.Cell{}
	return code(func(m *Machine) value.Value {
		if v, ok := cl.Peek(); ok {
			return v
		}
		return cl.Get(m.asker, func() value.Value { return m.runApart(fn, inner.run) })
	})
}

// constDef compiles the use of a constant definition.
func (c *compiler) constDef(d *core.Def, cl *memo.Cell) compiled {
	if v, ok := cl.Peek(); ok {
		return knownValue(v)
	}
	key := mode{}
	if c.global[d] == nil {
		c.global[d] = make(map[mode]*function)
	}
	fn := c.global[d][key]
	if fn == nil {
		fn = c.newFunction(nil)
		c.global[d][key] = fn
		x := site{fn: fn, unrolled: 1}
		if c.p.IsNative(d) {
			fn.body = c.native(d, nil, x).run
		} else {
			fn.body = c.expr(d.Body, x).run
		}
	}
	return code(func(m *Machine) value.Value {
		if v, ok := cl.Peek(); ok {
			return v
		}
		return cl.Get(m.asker, func() value.Value { return m.runApart(fn, fn.body) })
	})
}

// inlines reports whether d is inlined into its callers.
func (c *compiler) inlines(d *core.Def, x site) bool {
	if d.Recursive || x.open.has(d) {
		return false
	}
	for _, l := range d.Params {
		if l.Arity > 0 {
			return true
		}
	}
	return c.p.DefFacts(d).Nodes*x.unrolled <= InlineNodesMax || primesParam(d)
}

// primesParam reports whether d uses a parameter where it may be evaluated in
// another state. Such an operator is always inlined.
func primesParam(d *core.Def) bool {
	if len(d.Params) == 0 || d.Body == nil {
		return false
	}
	params := make(map[*core.Local]bool)
	for _, l := range d.Params {
		params[l] = true
	}
	found := false
	var walk func(e core.Expr, primed bool)
	walk = func(e core.Expr, primed bool) {
		switch e := e.(type) {
		case *core.LocalRef:
			found = found || primed && params[e.Local]
		case *core.Op:
			primed = primed || e.Op == core.OpPrime || e.Op == core.OpUnchanged || e.Op == core.OpEnabled || e.Op == core.OpCompose
		case *core.Box, *core.Angle:
			primed = true
		}
		for x := range core.Children(e, core.EvaluationOrder) {
			walk(x, primed)
		}
	}
	walk(d.Body, false)
	return found
}

// resets are the slots to clear before an expression is evaluated again.
type resets []int

func (r resets) empty(m *Machine) {
	for _, s := range r {
		m.slots[s] = value.Value{}
	}
}

func (r resets) expr(run expr) expr {
	switch len(r) {
	case 0:
		return run
	case 1:
		s := r[0]
		return func(m *Machine) value.Value {
			m.slots[s] = value.Value{}
			return run(m)
		}
	}
	return func(m *Machine) value.Value {
		r.empty(m)
		return run(m)
	}
}

func (r resets) pred(run pred) pred {
	if len(r) == 0 {
		return run
	}
	return func(m *Machine) bool {
		r.empty(m)
		return run(m)
	}
}

// bindArgs returns the site for the body of d, which is inlined into its
// caller. The parameters stand for the arguments as written in x; outer is the
// scope of d itself. In an action, primed arguments are not cached in slots,
// because their values may change while the action runs.
func (c *compiler) bindArgs(d *core.Def, args []core.Expr, x site, outer *scope, action bool) (site, resets) {
	inner := x
	inner.sc = outer
	inner.open = &opened{x.open, d}
	var rs resets
	for i, l := range d.Params {
		b := c.argument(args[i], x, d.Body, l, action)
		if b.fresh {
			b.fresh = false
			rs = append(rs, b.slot)
			if b.kind == isFunction {
				rs = append(rs, b.domain)
			}
		}
		inner.sc = &scope{up: inner.sc, local: l, b: b}
	}
	return inner, rs
}

// argument returns the meaning of parameter l in body.
func (c *compiler) argument(a core.Expr, x site, body core.Expr, l *core.Local, action bool) *meaning {
	if l.Arity > 0 {
		if r, ok := a.(*core.LocalRef); ok {
			if b := x.sc.lookup(r.Local); b != nil {
				return b
			}
		}
		return &meaning{kind: isOperator, owner: x.fn, expr: a, scope: x.sc, mode: x.mode, slot: -1, open: x.open}
	}
	switch a := a.(type) {
	case *core.LocalRef:
		if b := x.sc.lookup(a.Local); b != nil && len(a.Args) == 0 {
			return b
		}
	case *core.Fn:
		return c.fnArgument(a, x, action)
	case *core.VarRef, *core.Int, *core.Str, *core.Bool, *program.Literal:
		return &meaning{kind: isName, owner: x.fn, expr: a, scope: x.sc, mode: x.mode, slot: -1}
	}
	b := &meaning{kind: isName, owner: x.fn, expr: a, scope: x.sc, mode: x.mode, slot: -1, open: x.open}
	if uses(body, l) > 1 && !(action && c.facts(a, x).Level > core.StateLevel) {
		b.slot, b.fresh = x.fn.slot(), true
	}
	return b
}

// fnArgument returns the meaning of a parameter whose argument is a function
// expression: the same as that of a function named by a LET.
func (c *compiler) fnArgument(a *core.Fn, x site, action bool) *meaning {
	b := fnMeaning(a, x.fn, x.sc, x.mode)
	b.open = x.open
	if !(action && c.facts(a, x).Level > core.StateLevel) {
		b.slot, b.domain, b.fresh = x.fn.slot(), x.fn.slot(), true
	}
	return b
}

// usesMany is the count for an unknown number of uses.
const usesMany = 1000

// uses estimates how often evaluating e evaluates the name or LET definition l.
// A use inside a loop or an argument counts as many.
func uses(e core.Expr, l any) int {
	n := 0
	switch e := e.(type) {
	case *core.LocalRef:
		if e.Local == l {
			n++
		}
	case *core.Call:
		if e.Def == l {
			n++
		}
	}
	many := false
	switch e.(type) {
	case *core.Quant, *core.Choose, *core.SetFilter, *core.SetMap, *core.Fn, *core.Lambda, *core.Call, *core.Let, *core.LocalRef,
		*core.ConstRef, *core.Except:
		many = true
	case *core.Or:
		many = true // the branches of an action
	}
	for x := range core.Children(e, core.EvaluationOrder) {
		if u := uses(x, l); u > 0 {
			if many {
				u = usesMany
			}
			n += u
		}
	}
	return n
}

// let returns the site for the body of a LET.
func (c *compiler) let(e *core.Let, x site, action bool) (site, resets) {
	inner := x
	var rs resets
	var made []*meaning
	for _, d := range e.Defs {
		b := &meaning{owner: x.fn, slot: -1, domain: -1, mode: x.mode, def: d, expr: d.Body, open: x.open}
		fn, isFn := d.Body.(*core.Fn)
		switch {
		case len(d.Params) > 0:
			b.kind = isDefined
		case isFn:
			b.kind, b.fn = isFunction, fn
			if !(action && c.p.Facts(d.Body).Level > core.StateLevel) {
				b.slot, b.domain = x.fn.slot(), x.fn.slot()
				rs = append(rs, b.slot, b.domain)
			}
		default:
			b.kind = isName
		}
		inner.sc = &scope{up: inner.sc, def: d, b: b}
		made = append(made, b)
	}
	for i, b := range made {
		b.scope = inner.sc
		if b.kind != isName {
			continue
		}
		n := uses(e.Body, b.def)
		for _, d := range e.Defs[i:] {
			if d.Body != nil && uses(d.Body, b.def) > 0 {
				n = usesMany
			}
		}
		if n > 1 && !(action && c.facts(b.expr, site{sc: b.scope}).Level > core.StateLevel) {
			b.slot = x.fn.slot()
			rs = append(rs, b.slot)
		}
	}
	return inner, rs
}

// callLet compiles the application of a definition that a LET made.
func (c *compiler) callLet(b *meaning, args []core.Expr, x site) compiled {
	if b.kind != isDefined {
		return c.meaning(b, x)
	}
	if !b.def.Recursive && !x.open.has(b.def) {
		inner, reset := c.bindArgs(b.def, args, x, b.scope, false)
		return code(reset.expr(c.expr(b.def.Body, inner).run))
	}
	return c.callFunction(c.letFunction(b, x.mode, false), b.def, args, x, x.hops(b.owner), true)
}

// letFunction returns the function of a recursive LET definition.
func (c *compiler) letFunction(b *meaning, md mode, action bool) *function {
	if b.compiled == nil {
		b.compiled = make(map[mode]*function)
	}
	if fn := b.compiled[md]; fn != nil {
		return fn
	}
	fn := c.newFunction(b.owner)
	b.compiled[md] = fn
	c.functionBody(fn, b.def, b.scope, md, action)
	return fn
}

// globalFunction returns the function of a global definition.
func (c *compiler) globalFunction(d *core.Def, md mode) *function {
	return c.function(d, md, false)
}

// function finds or makes the function of a global definition, as an expression
// or as an action.
func (c *compiler) function(d *core.Def, md mode, action bool) *function {
	table := c.global
	if action {
		table = c.globalActs
	}
	if table[d] == nil {
		table[d] = make(map[mode]*function)
	}
	md.epoch = 0 // it keeps nothing of another state
	if fn := table[d][md]; fn != nil {
		return fn
	}
	fn := c.newFunction(nil)
	table[d][md] = fn
	c.functionBody(fn, d, nil, md, action)
	return fn
}

// functionBody compiles the body of d as the code of fn.
func (c *compiler) functionBody(fn *function, d *core.Def, outer *scope, md mode, action bool) {
	x := site{fn: fn, sc: outer, mode: md, unrolled: 1, open: &opened{nil, d}}
	fn.params = d.Params
	for _, l := range d.Params {
		b := &meaning{kind: isParam, owner: fn, slot: fn.slot(), mode: md, strict: !action && c.strict(d.Body, l)}
		if l.Arity > 0 {
			b.kind = isDynamic
		}
		fn.strict = append(fn.strict, b.strict)
		x.sc = &scope{up: x.sc, local: l, b: b}
	}
	if !action {
		fn.body = c.expr(d.Body, x).run
		return
	}
	fn.act = c.act(d.Body, x, func(m *Machine) bool {
		here := m.frame
		m.enter(here.kFrame)
		ok := here.k(m)
		m.enter(here)
		return ok
	})
}

// passed is the way in which an argument is passed to a function: as a value if
// computing it before the call is certainly correct, otherwise as a thunk or as
// an operator.
type passed struct {
	now  bool
	keep bool
	run  expr
	op   func(*Machine) operator
}

func (c *compiler) pass(fn *function, d *core.Def, args []core.Expr, x site, action bool) []passed {
	out := make([]passed, len(args))
	for i, a := range args {
		if d.Params[i].Arity > 0 {
			out[i].op = c.operatorArg(a, x)
			continue
		}
		e, lazy := c.lazyArg(a, x)
		if !lazy {
			e = c.expr(a, x)
		}
		out[i] = passed{
			run:  e.run,
			keep: !action || c.facts(a, x).Level <= core.StateLevel,
			now:  e.known || e.slot >= 0 && c.filled(a, x) || e.variable >= 0 || i < len(fn.strict) && fn.strict[i],
		}
	}
	return out
}

// filled reports whether a is a name whose slot certainly holds its value.
func (c *compiler) filled(a core.Expr, x site) bool {
	r, ok := a.(*core.LocalRef)
	if !ok {
		return false
	}
	b := x.sc.lookup(r.Local)
	return b != nil && (b.kind == isSlot || b.kind == isParam && b.strict)
}

// prepare makes the activation for a call of fn.
func (m *Machine) prepare(fn *function, args []passed, up *activation) *activation {
	a := m.activation(fn, up)
	for i := range args {
		p := &args[i]
		switch {
		case p.now:
			a.slots[i] = p.run(m)
		case p.op != nil:
			for len(a.ops) <= i {
				a.ops = append(a.ops, operator{})
			}
			a.ops[i] = p.op(m)
		default:
			for len(a.thunks) <= i {
				a.thunks = append(a.thunks, thunk{})
			}
			a.slots[i] = value.Value{}
			a.thunks[i] = thunk{p.run, m.frame, p.keep}
		}
	}
	return a
}

// callFunction compiles a call of a function whose definition is n functions
// further out, or of a global function.
func (c *compiler) callFunction(fn *function, d *core.Def, args []core.Expr, x site, n int, let bool) compiled {
	ps := c.pass(fn, d, args, x, false)
	return code(func(m *Machine) value.Value {
		var up *activation
		if let {
			up = m.outer(n)
		}
		a := m.prepare(fn, ps, up)
		before := m.frame
		m.enter(a)
		v := fn.body(m)
		m.pop(before)
		return v
	})
}

// operatorArg compiles an operator that is passed to a function.
func (c *compiler) operatorArg(a core.Expr, x site) func(*Machine) operator {
	if r, ok := a.(*core.LocalRef); ok {
		if b := x.sc.lookup(r.Local); b != nil && b.kind == isDynamic {
			n, slot := x.hops(b.owner), b.slot
			return func(m *Machine) operator { return m.outer(n).ops[slot] }
		}
	}
	fn := c.operatorFunction(a, x)
	return func(m *Machine) operator { return operator{fn, m.frame} }
}

// operatorFunction makes a function of an operator argument. Its callers pass
// it values.
func (c *compiler) operatorFunction(a core.Expr, x site) *function {
	fn := c.newFunction(x.fn)
	arity := operatorArity(a)
	y := site{fn: fn, sc: x.sc, mode: x.mode, unrolled: x.unrolled, open: x.open}
	args := make([]core.Expr, arity)
	for i := range args {
		l := &core.Local{Name: "argument"}
		fn.params = append(fn.params, l)
		fn.strict = append(fn.strict, true)
		y.sc = y.sc.slotFor(l, fn, fn.slot())
		args[i] = &core.LocalRef{At: core.At{Place: a.Span()}, Local: l}
	}
	b := &meaning{kind: isOperator, owner: x.fn, expr: a, scope: x.sc, mode: x.mode, slot: -1, open: x.open}
	if r, ok := a.(*core.LocalRef); ok {
		if inner := x.sc.lookup(r.Local); inner != nil {
			b = inner
		}
	}
	fn.body = c.applyOperator(b, args, y).run
	return fn
}

func operatorArity(a core.Expr) int {
	switch a := a.(type) {
	case *core.OpRef:
		return len(a.Def.Params)
	case *core.Lambda:
		return len(a.Params)
	case *core.LocalRef:
		return a.Local.Arity
	case *core.ConstRef:
		return a.Const.Arity
	}
	return 0
}

// callOperator applies an operator that was passed.
func (m *Machine) callOperator(op operator, args []value.Value) value.Value {
	a := m.activation(op.fn, op.up)
	copy(a.slots, args)
	before := m.frame
	m.enter(a)
	v := op.fn.body(m)
	m.pop(before)
	return v
}

// applyOperator compiles the application of an operator parameter.
func (c *compiler) applyOperator(b *meaning, args []core.Expr, x site) compiled {
	if b.kind == isDynamic {
		n, slot := x.hops(b.owner), b.slot
		codes := c.list(args, x)
		return code(func(m *Machine) value.Value {
			vs := make([]value.Value, len(codes))
			for i, a := range codes {
				vs[i] = a(m)
			}
			return m.callOperator(m.outer(n).ops[slot], vs)
		})
	}
	switch op := b.expr.(type) {
	case *core.OpRef:
		if let := b.scope.lookupDef(op.Def); let != nil {
			return c.callLet(let, args, x)
		}
		return c.call(op.Def, args, x)
	case *core.Lambda:
		d := &core.Def{Name: "LAMBDA", Params: op.Params, Body: op.Body, Span: op.Place}
		inner, reset := c.bindArgs(d, args, x, b.scope, false)
		inner.open = b.open
		return code(reset.expr(c.expr(op.Body, inner).run))
	case *core.LocalRef:
		if inner := b.scope.lookup(op.Local); inner != nil {
			return c.applyOperator(inner, args, x)
		}
	case *core.ConstRef:
		return c.constant(&core.ConstRef{At: op.At, Const: op.Const, Args: args}, x)
	}
	return failing("the argument is not an operator")
}

// strict reports whether every evaluation of e evaluates the name l, so that l
// can be evaluated before.
func (c *compiler) strict(e core.Expr, l *core.Local) bool {
	arguments := false
	switch e := e.(type) {
	case *core.LocalRef:
		return e.Local == l && l.Arity == 0
	case *core.If:
		if c.strict(e.Then, l) && c.strict(e.Else, l) {
			return true
		}
	case *core.Call:
		d, _ := c.p.Resolve(e.Def)
		arguments = d != nil && c.p.IsNative(d)
	}
	for p := range core.Parts(e, core.EvaluationOrder) {
		if (p.Sure || arguments) && c.strict(p.Expr, l) {
			return true
		}
	}
	return false
}

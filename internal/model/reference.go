package model

import (
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/memo"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/native"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// The reference evaluator walks the tree. Names stand for values, where a
// quantifier or a function binds them, or for expressions with the environment
// they were written in, where an operator's parameter or a LET binds them:
// those are evaluated when they are used, in the state in which they are used.
// So a parameter under a prime means what substituting the argument would mean.

// state is where an expression is evaluated: the current state, the next one
// as far as it is known, and whether variables mean the next one. An initial
// predicate is evaluated as if primed: it determines the "next" state.
type state struct {
	cur, nxt []value.Value
	primed   bool
}

// prime is s for what stands under a prime.
func (s state) prime() state {
	if s.primed {
		value.Fail("a primed expression cannot be primed again")
	}
	if s.nxt == nil {
		value.Fail("a primed expression has no value here: there is no next state")
	}
	s.primed = true
	return s
}

// read is the value of a variable in s.
func (s state) read(v *core.Variable) value.Value {
	if s.primed {
		return rule.NextValue(s.nxt, v)
	}
	if s.cur == nil {
		value.Fail("the variable %s has no value here: there is no state", v.Name)
	}
	return s.cur[v.Index]
}

// binding is what a name means: a value, or an expression in its environment.
// The expression is evaluated when the name is first used, and again only when
// the state has changed: without that, the argument n - 1 of a recursion would
// be evaluated as often as the recursion is deep, at every depth.
type binding struct {
	val  value.Value
	expr core.Expr
	env  *env

	// kept is the last value of expr. Several workers may ask a lazy value of a
	// constant, and so the names in it.
	kept atomic.Pointer[keptValue]
	// asked reports that dependsOnNext was found out, and next what it is.
	asked, next bool
}

// keptValue is the value of an expression and when it is that.
type keptValue struct {
	val  value.Value
	when moment
}

// moment is what the value of an expression depends on besides what its names
// mean: the vectors of the state it is evaluated in, and how often a value was
// taken out of a next state. Values that are added change nothing that had a
// value before.
type moment struct {
	cur, nxt  *value.Value
	primed    bool
	retracted uint64
}

// env is a list of bindings, the innermost first. A LET definition with
// parameters is bound to the environment of its LET.
type env struct {
	up    *env
	local *core.Local
	def   *core.Def
	b     *binding
}

func (n *env) bind(l *core.Local, v value.Value) *env {
	return &env{up: n, local: l, b: &binding{val: v}}
}

func (n *env) lookup(l *core.Local) *binding {
	b := n.find(l)
	if b == nil {
		value.Fail("the name %s has no value here", l.Name)
	}
	return b
}

// find is what l means, or nil.
func (n *env) find(l *core.Local) *binding {
	for ; n != nil; n = n.up {
		if n.local == l {
			return n.b
		}
	}
	return nil
}

// lookupDef finds a definition that a LET made, or nil.
func (n *env) lookupDef(d *core.Def) *binding {
	for ; n != nil; n = n.up {
		if n.def == d {
			return n.b
		}
	}
	return nil
}

// reference is one evaluator, for one goroutine.
type reference struct {
	p     *program.Program
	run   *tlcget.Run
	asker *tlcget.Run // see cell
	depth int
	// at is the chain of expressions being evaluated, for messages.
	at *place
	// actions are the actions of the next-state relation, while it is being
	// enumerated, and action the one that is, or -1.
	actions map[core.Expr]int
	action  int
	// levels keeps the levels of expressions that names stand for.
	levels map[core.Expr]core.Level
	polls  uint32 // see poll
	// retracted counts the values that were taken out of next states again.
	retracted uint64
	// shared reports that what it evaluates is part of a constant, so that several
	// workers may ask the lazy values in it at once.
	shared bool
}

func newReference(p *program.Program, r *tlcget.Run) *reference {
	return &reference{p: p, run: r, asker: r, levels: make(map[core.Expr]core.Level)}
}

// place is an expression that is being evaluated, or a definition whose body
// is, and what it is part of.
type place struct {
	up   *place
	expr core.Expr
	def  *core.Def
}

func (r *reference) enter() {
	r.depth++
	if r.depth > rule.CallDepthMax {
		value.Fail("operators call each other more than %d deep: is a recursion without end?", rule.CallDepthMax)
	}
}

// poll is called at every step.
func (r *reference) poll() {
	if r.polls++; r.polls%tlcget.PollEvery == 0 {
		r.run.AskStop()
	}
}

// filter is {x \in s : pred(x)}; one that is too large to be listed is lazy.
func (r *reference) filter(s value.Value, pred func(*reference, value.Value) bool) value.Value {
	if s.Kind() == value.KindSet && value.IsFinite(s) {
		if v, ok := value.FilterFinite(s, func(x value.Value) bool { return pred(r, x) }); ok {
			return v
		}
	}
	later := r.later()
	return value.LazyFilter(s, func(x value.Value) bool {
		return later(func(r *reference) value.Value { return value.Bool(pred(r, x)) }).IsTrue()
	})
}

// later lends evaluators for what a lazy value is asked: the same one, so that
// it knows the place of an error, unless others may ask too.
func (r *reference) later() func(use func(*reference) value.Value) value.Value {
	if !r.shared {
		return func(use func(*reference) value.Value) value.Value { return use(r) }
	}
	p, run, depth := r.p, r.run, r.depth
	var within atomic.Int32
	return func(use func(*reference) value.Value) value.Value {
		deeper := within.Add(1)
		defer within.Add(-1)
		return use(sharedReference(&reference{p: p, run: run, depth: depth + int(deeper)}))
	}
}

// sharedReference makes a reference evaluator of constants, to go on where r
// is.
func sharedReference(r *reference) *reference {
	shared := newReference(r.p, r.run)
	shared.asker, shared.depth, shared.shared = r.asker, r.depth, true
	return shared
}

// eval is the value of e.
func (r *reference) eval(e core.Expr, n *env, s state) value.Value {
	r.poll()
	saved := r.at
	r.at = &place{up: saved, expr: e}
	v := r.eval1(e, n, s)
	r.at = saved
	return v
}

func (r *reference) boolean(e core.Expr, n *env, s state) bool { return r.eval(e, n, s).IsTrue() }

func (r *reference) all(es []core.Expr, n *env, s state) []value.Value {
	vs := make([]value.Value, len(es))
	for i, e := range es {
		vs[i] = r.eval(e, n, s)
	}
	return vs
}

func (r *reference) eval1(e core.Expr, n *env, s state) value.Value {
	switch e := e.(type) {
	case *core.Int:
		return intLiteral(e)
	case *core.Decimal:
		return rule.DecimalLiteral(e)
	case *core.Str:
		return value.String(e.Val)
	case *core.Bool:
		return value.Bool(e.Val)
	case *program.Literal:
		return e.Val
	case *core.VarRef:
		return s.read(e.Var)
	case *core.ConstRef:
		return r.constRef(e, n, s)
	case *core.LocalRef:
		return r.localRef(e, n, s)
	case *core.Call:
		return r.call(e, n, s)
	case *core.Op:
		return r.op(e, n, s)
	case *core.And:
		for _, x := range e.List {
			if !r.boolean(x, n, s) {
				return value.Bool(false)
			}
		}
		return value.Bool(true)
	case *core.Or:
		for _, x := range e.List {
			if r.boolean(x, n, s) {
				return value.Bool(true)
			}
		}
		return value.Bool(false)
	case *core.If:
		if r.boolean(e.Cond, n, s) {
			return r.eval(e.Then, n, s)
		}
		return r.eval(e.Else, n, s)
	case *core.Case:
		return r.eval(r.arm(e, n, s), n, s)
	case *core.Let:
		return r.eval(e.Body, r.let(e, n), s)
	case *core.Quant:
		return value.Bool(r.quant(e, n, s))
	case *core.Choose:
		return r.choose(e, n, s)
	case *core.Box:
		// As in compiled code, a step that changes nothing does not ask for A.
		return value.Bool(!r.changed(e.Sub, n, s) || r.boolean(e.Action, n, s))
	case *core.Angle:
		return value.Bool(r.boolean(e.Action, n, s) && r.changed(e.Sub, n, s))
	}
	return r.term(e, n, s)
}

// term evaluates the forms that make sets, functions, records and tuples.
func (r *reference) term(e core.Expr, n *env, s state) value.Value {
	switch e := e.(type) {
	case *core.SetEnum:
		return value.SetOf(r.all(e.Elems, n, s))
	case *core.SetFilter:
		set := r.eval(e.Bind.Set, n, s)
		return r.filter(set, func(r *reference, x value.Value) bool {
			return r.boolean(e.Pred, bindElement(n, e.Bind, x), s)
		})
	case *core.SetMap:
		var elems []value.Value
		r.each(e.Binds, n, s, func(n *env) bool {
			elems = append(elems, r.eval(e.Body, n, s))
			return true
		})
		return value.SetOf(elems)
	case *core.Fn:
		return r.fn(e, n, s)
	case *core.FnSet:
		return value.FnSet(r.eval(e.Dom, n, s), r.eval(e.Rng, n, s))
	case *core.Apply:
		return r.eval(e.Fn, n, s).Apply(r.eval(e.Arg, n, s))
	case *core.Record:
		fields := make([]value.Field, len(e.Fields))
		for i, f := range e.Fields {
			fields[i] = value.Field{Name: f.Name, Val: r.eval(f.X, n, s)}
		}
		return value.Record(fields)
	case *core.RecordSet:
		fields := make([]value.Field, len(e.Fields))
		for i, f := range e.Fields {
			fields[i] = value.Field{Name: f.Name, Val: r.eval(f.X, n, s)}
		}
		return value.RecordSet(fields)
	case *core.Select:
		return r.eval(e.X, n, s).Field(e.Field)
	case *core.Except:
		return r.except(e, n, s)
	case *core.Tuple:
		return value.TupleOf(r.all(e.Elems, n, s))
	case *core.Times:
		return value.Times(r.all(e.Sets, n, s)...)
	case *core.Fair, *core.TemporalQuant:
		failTemporal()
	case *core.OpRef, *core.Lambda:
		value.Fail("an operator is not a value")
	case *core.Bad:
		value.Fail("the expression could not be read")
	}
	invariant.Unreachable(e)
	return value.Value{}
}

// constRef evaluates a constant, or applies a constant operator.
func (r *reference) constRef(e *core.ConstRef, n *env, s state) value.Value {
	c, ok := r.p.Constants[e.Const]
	invariant.Check(ok, "constant %s has no value", e.Const.Name)
	switch {
	case c.Def != nil:
		return r.callGlobal(c.Def, e.Args, n, s)
	case c.Table != nil:
		return c.Apply(e.Const.Name, r.all(e.Args, n, s))
	}
	return c.Val
}

// localRef evaluates a bound name, or applies an operator parameter.
func (r *reference) localRef(e *core.LocalRef, n *env, s state) value.Value {
	b := n.lookup(e.Local)
	if e.Local.Arity > 0 {
		return r.applyOperator(b, e.Args, n, s)
	}
	return r.byName(b, s)
}

// byName is the value of a binding in state s.
func (r *reference) byName(b *binding, s state) value.Value {
	if b.expr == nil {
		return b.val
	}
	var when moment
	if len(s.cur) > 0 {
		when.cur = &s.cur[0]
	}
	if len(s.nxt) > 0 && (s.primed || r.dependsOnNext(b)) {
		when.nxt, when.primed, when.retracted = &s.nxt[0], s.primed, r.retracted
	}
	if k := b.kept.Load(); k != nil && k.when == when {
		return k.val
	}
	v := r.eval(b.expr, b.env, s)
	b.kept.Store(&keptValue{v, when})
	return v
}

// level is the level of e, names bound outside not considered.
func (r *reference) level(e core.Expr) core.Level {
	l, ok := r.levels[e]
	if !ok {
		l = r.p.Level(e)
		r.levels[e] = l
	}
	return l
}

// dependsOnNext reports whether the expression of b is about a next state, or may
// be through a name in it.
func (r *reference) dependsOnNext(b *binding) bool {
	if !b.asked {
		b.next = r.mentionsNext(b.expr, b.env, map[*core.Def]bool{})
		b.asked = true
	}
	return b.next
}

// mentionsNext is dependsOnNext of an expression; walked are the definitions of
// LETs that have been looked into.
func (r *reference) mentionsNext(e core.Expr, n *env, walked map[*core.Def]bool) bool {
	if r.level(e) > core.StateLevel {
		return true
	}
	found := false
	def := func(d *core.Def) {
		if b := n.lookupDef(d); b != nil && b.expr != nil && !walked[d] {
			walked[d] = true
			found = r.mentionsNext(b.expr, b.env, walked)
		}
	}
	var walk func(core.Expr)
	walk = func(e core.Expr) {
		if found {
			return
		}
		switch e := e.(type) {
		case *core.LocalRef:
			if b := n.find(e.Local); b != nil && b.expr != nil {
				found = r.dependsOnNext(b)
			}
		case *core.Call:
			def(e.Def)
		case *core.OpRef:
			def(e.Def)
		}
		for x := range core.Children(e, core.EvaluationOrder) {
			walk(x)
		}
	}
	walk(e)
	return found
}

// applyOperator applies what an operator parameter stands for.
func (r *reference) applyOperator(b *binding, args []core.Expr, n *env, s state) value.Value {
	switch op := b.expr.(type) {
	case *core.OpRef:
		if let := b.env.lookupDef(op.Def); let != nil {
			return r.body(op.Def, args, n, let.env, s)
		}
		return r.callGlobal(op.Def, args, n, s)
	case *core.Lambda:
		return r.body(&core.Def{Name: "LAMBDA", Params: op.Params, Body: op.Body, Span: op.Place}, args, n, b.env, s)
	case *core.LocalRef:
		return r.applyOperator(b.env.lookup(op.Local), args, n, s)
	case *core.ConstRef:
		return r.constRef(&core.ConstRef{At: op.At, Const: op.Const, Args: args}, n, s)
	}
	value.Fail("the argument is not an operator")
	return value.Value{}
}

// call applies a definition.
func (r *reference) call(e *core.Call, n *env, s state) value.Value {
	if b := n.lookupDef(e.Def); b != nil {
		if len(e.Def.Params) == 0 {
			return r.byName(b, s)
		}
		return r.body(e.Def, e.Args, n, b.env, s)
	}
	return r.callGlobal(e.Def, e.Args, n, s)
}

// callGlobal applies a definition of the specification, overrides considered.
func (r *reference) callGlobal(d *core.Def, args []core.Expr, n *env, s state) value.Value {
	d, repl := r.p.Resolve(d)
	switch {
	case d == nil && repl.Table != nil:
		return repl.Apply("operator", r.all(args, n, s))
	case d == nil:
		return repl.Val
	}
	if c := r.p.ConstDefs[d]; c != nil {
		at, depth := r.at, r.depth
		v, ok := c.Try(r.asker, func() value.Value {
			r := sharedReference(r)
			if r.p.IsNative(d) {
				return r.native(d, args, n, s)
			}
			return r.body(d, nil, nil, nil, state{})
		})
		if ok {
			return v
		}
		r.at, r.depth = at, depth // again, to meet the error at its place
	}
	if r.p.IsNative(d) {
		return r.native(d, args, n, s)
	}
	return r.body(d, args, n, nil, s)
}

// bindParams makes the environment for the body of d, applied to args that
// were written in n. A name that is passed on means what it meant, or a
// recursion would make a chain of names as long as it is deep.
func bindParams(params []*core.Local, args []core.Expr, n, outer *env) *env {
	inner := outer
	for i, l := range params {
		var b *binding
		if ref, ok := args[i].(*core.LocalRef); ok && len(ref.Args) == 0 {
			b = n.find(ref.Local)
		}
		if b == nil {
			b = &binding{expr: args[i], env: n}
		}
		inner = &env{up: inner, local: l, b: b}
	}
	return inner
}

// body evaluates the body of d with args, written in n, for its parameters;
// outer is what d itself sees.
func (r *reference) body(d *core.Def, args []core.Expr, n, outer *env, s state) value.Value {
	if d.Body == nil {
		value.Fail("the operator %s of module %s has no definition that can be evaluated", d.Name, d.Module)
	}
	r.enter()
	saved := r.at
	r.at = &place{up: saved, def: d}
	v := r.eval(d.Body, bindParams(d.Params, args, n, outer), s)
	r.at = saved
	r.depth--
	return v
}

// native calls the Go form of a definition of a standard module.
func (r *reference) native(d *core.Def, args []core.Expr, n *env, s state) value.Value {
	op := program.Native(d)
	if op == nil {
		value.Fail("the operator %s of module %s cannot be evaluated", d.Name, d.Module)
	}
	in := make([]native.Arg, len(args))
	for i, a := range args {
		if op.Lazy && i == len(args)-1 {
			in[i].Op = func([]value.Value) value.Value { return r.attempt(a, n, s) }
			continue
		}
		if d.Params[i].Arity == 0 {
			in[i].Val = r.eval(a, n, s)
			continue
		}
		b := &binding{expr: a, env: n}
		in[i].Op = func(vs []value.Value) value.Value {
			es := make([]core.Expr, len(vs))
			for j, v := range vs {
				es[j] = &program.Literal{Val: v}
			}
			return r.applyOperator(b, es, nil, s)
		}
	}
	return op.Call(&r.run.World, in)
}

// attempt evaluates an expression that may have no value; its caller can catch
// that and continue.
func (r *reference) attempt(e core.Expr, n *env, s state) value.Value {
	was, done := *r, false
	defer func() {
		if !done {
			r.depth, r.at, r.actions, r.action = was.depth, was.at, was.actions, was.action
			r.asker, r.shared = was.asker, was.shared
		}
	}()
	v := r.eval(e, n, s)
	done = true
	return v
}

// let binds the definitions of a LET; each sees all of them.
func (r *reference) let(e *core.Let, n *env) *env {
	inner := n
	for _, d := range e.Defs {
		inner = &env{up: inner, def: d, b: &binding{expr: d.Body}}
	}
	for m := inner; m != n; m = m.up {
		m.b.env = inner
	}
	return inner
}

func (r *reference) arm(e *core.Case, n *env, s state) core.Expr {
	for _, a := range e.Arms {
		if r.boolean(a.Cond, n, s) {
			return a.Body
		}
	}
	if e.Other == nil {
		value.Fail("no condition of the CASE is true, and it has no OTHER")
	}
	return e.Other
}

// bindElement binds the names of b to the element x of its set.
func bindElement(n *env, b core.Bind, x value.Value) *env {
	if !b.Tuple {
		return n.bind(b.Vars[0], x)
	}
	for i, v := range rule.TupleElems(b, x) {
		n = n.bind(b.Vars[i], v)
	}
	return n
}

// each calls f for every way to bind binds, the last name varying fastest,
// until f is false; it says whether f never was.
func (r *reference) each(binds []core.Bind, n *env, s state, f func(*env) bool) bool {
	sets := make([]value.Value, len(binds))
	for i, b := range binds {
		if b.Set == nil {
			value.Fail("an unbounded quantifier cannot be evaluated")
		}
		if i > 0 && binds[i-1].Set == b.Set {
			sets[i] = sets[i-1]
		} else {
			sets[i] = r.eval(b.Set, n, s)
		}
		if len(binds) > 1 { // all of them, though the first may be empty
			value.CheckBound(sets[i])
		}
	}
	var loop func(i int, n *env) bool
	loop = func(i int, n *env) bool {
		if i == len(binds) {
			return f(n)
		}
		for x := range sets[i].Each {
			r.poll()
			if !loop(i+1, bindElement(n, binds[i], x)) {
				return false
			}
		}
		return true
	}
	return loop(0, n)
}

func (r *reference) quant(e *core.Quant, n *env, s state) bool {
	all := r.each(e.Binds, n, s, func(n *env) bool {
		return r.boolean(e.Body, n, s) != e.Exists
	})
	return all != e.Exists
}

func (r *reference) choose(e *core.Choose, n *env, s state) value.Value {
	if e.Bind.Set == nil {
		rule.FailUnboundedChoose()
	}
	set := r.eval(e.Bind.Set, n, s)
	for x := range set.Each {
		r.poll()
		if r.boolean(e.Body, bindElement(n, e.Bind, x), s) {
			return x
		}
	}
	rule.FailChoose(set)
	return value.Value{}
}

// changed reports whether e differs between the two states.
func (r *reference) changed(e core.Expr, n *env, s state) bool {
	return !value.Equal(r.eval(e, n, s), r.eval(e, n, s.prime()))
}

// fn is a function expression. Its values are computed when they are needed,
// so that it may be recursive, and its domain infinite.
func (r *reference) fn(e *core.Fn, n *env, s state) value.Value {
	domain := r.domain(e, n, s)
	known := memo.NewFunction()
	var f value.Value
	later := r.later()
	f = value.LazyFn(domain, func(x value.Value) value.Value {
		if v, ok := known.Get(x); ok {
			return v
		}
		inner := n
		if e.Self != nil {
			inner = inner.bind(e.Self, f)
		}
		if len(e.Binds) == 1 {
			inner = bindElement(inner, e.Binds[0], x)
		} else {
			es := x.Elements()
			for i, b := range e.Binds {
				inner = bindElement(inner, b, es[i])
			}
		}
		v := later(func(r *reference) value.Value {
			r.enter()
			v := r.eval(e.Body, inner, s)
			r.depth--
			return v
		})
		known.Put(x, v)
		return v
	})
	return f
}

// domain is the set of arguments of a function expression.
func (r *reference) domain(e *core.Fn, n *env, s state) value.Value {
	if len(e.Binds) == 1 {
		return r.eval(e.Binds[0].Set, n, s)
	}
	sets := make([]value.Value, len(e.Binds))
	for i, b := range e.Binds {
		sets[i] = r.eval(b.Set, n, s)
	}
	return value.Times(sets...)
}

// except evaluates [f EXCEPT ...]: each update sees those before it. One whose
// path leaves a domain changes nothing, and its value is not evaluated.
func (r *reference) except(e *core.Except, n *env, s state) value.Value {
	f := r.eval(e.Fn, n, s)
	for _, u := range e.Updates {
		path := make([]value.Value, len(u.Path))
		for i, ix := range u.Path {
			if ix.X == nil {
				path[i] = value.String(ix.Field)
			} else {
				path[i] = r.eval(ix.X, n, s)
			}
		}
		old, ok := rule.Follow(f, path)
		if !ok {
			continue
		}
		inner := n
		if u.At != nil {
			inner = n.bind(u.At, old)
		}
		f = f.Except(path, r.eval(u.Value, inner, s))
	}
	return f
}

func intLiteral(e *core.Int) value.Value {
	if e.Val != int64(int32(e.Val)) {
		value.Fail("the number %d does not fit 32 bits", e.Val)
	}
	return value.Int(int32(e.Val))
}

func failTemporal() { value.Fail("a temporal formula cannot be evaluated in a state") }

// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Program answers the questions of the lowering about the specification and its
// configuration. Its answers must not change.
type Program interface {
	// Definition returns the definition, or else the value, that replaces d in
	// the configuration. If def is nil and v undefined, nothing is known.
	Definition(d *core.Def) (def *core.Def, v value.Value)
	// Constant returns the value of a constant without parameters, or the
	// definition that replaces it. If neither is known, it returns zeros.
	Constant(c *core.Constant) (v value.Value, def *core.Def)
	// Native returns the Go function of a definition, or nil if it has none.
	// pure: the result depends on the arguments only.
	Native(d *core.Def) (compute func(args []value.Value) value.Value, native, pure bool)
	// Once reports whether d is a constant that is computed once, and returns
	// its value, which is undefined if it was not computed.
	Once(d *core.Def) (v value.Value, once bool)
	// Literal returns the value of an expression that represents a value and is
	// not of package core.
	Literal(e core.Expr) (value.Value, bool)
}

// The limits of lowering.
const (
	WorkMax      = 2_000_000 // steps of lowering
	callsMax     = 400
	unrollMax    = 64   // elements for which a quantifier is written out
	copiesMax    = 24   // elements of a set of a state for which it is
	mapMax       = 512  // elements for which {e : x \in S} is
	enumerateMax = 4096 // elements of a constant set
)

// lowerer lowers expressions.
type lowerer struct {
	b     *build
	p     Program
	us    universes
	lay   *Layout
	steps int
	work  int // how many steps there may be
	calls int
	// reads counts the reads of next-state variables.
	reads int
	// spread is the number of copies of the expression being lowered.
	spread, spreadMax int
	room              int // how many nodes a predicate may have
	// dead: the limit of work is reached.
	dead bool
	// once has the values of definitions without parameters, in the current state
	// and in the next.
	once map[defKey]*val
	// why counts the expressions that were given up, by reason.
	why map[string]int
}

func (l *lowerer) step() {
	if l.steps++; l.steps+l.b.nodes > l.work {
		l.dead = true
		giveUp("%v", ErrWork)
	}
}

// env maps names to bindings, the innermost first.
type env struct {
	up    *env
	local *core.Local
	def   *core.Def
	b     *binding
}

// binding is the meaning of a name: a value, an expression with its environment,
// or an operator.
type binding struct {
	val   *val
	expr  core.Expr
	env   *env
	cache *val // of expr in the state before the step
}

func (e *env) bind(name *core.Local, b *binding) *env { return &env{up: e, local: name, b: b} }

func (e *env) of(name *core.Local) *binding {
	for ; e != nil; e = e.up {
		if e.local == name {
			return e.b
		}
	}
	return nil
}

func (e *env) ofDef(d *core.Def) (*env, bool) {
	for ; e != nil; e = e.up {
		if e.def == d {
			return e, true
		}
	}
	return nil, false
}

// path records which variables have a value in the next state.
type path struct{ assigned []bool }

func (p *path) with(i int) *path {
	out := &path{assigned: append([]bool(nil), p.assigned...)}
	out.assigned[i] = true
	return out
}

// ctx is the context of an expression.
type ctx struct {
	env    *env
	primed bool
	path   *path // nil: every variable has a value in the next state
}

func (x ctx) in(e *env) ctx {
	x.env = e
	return x
}

// try runs f, and reports whether f did not give up.
func (l *lowerer) try(f func()) bool {
	err := value.Catch(f)
	if err == nil {
		return true
	}
	if l.dead || l.b.full {
		panic(err)
	}
	l.why[err.Error()]++
	return false
}

// pred lowers a predicate. If it cannot, it returns code that stops.
func (l *lowerer) pred(e core.Expr, x ctx) (n *node) {
	calls, spread := l.calls, l.spread
	if !l.try(func() { n = l.predicate(e, x) }) {
		n = l.b.node(node{op: oStop, hi: 1})
	}
	l.calls, l.spread = calls, spread
	return n
}

func (l *lowerer) predicate(e core.Expr, x ctx) *node {
	l.step()
	switch e := e.(type) {
	case *core.And:
		return l.junction(e.List, x, 0)
	case *core.Or:
		return l.junction(e.List, x, 1)
	case *core.Quant:
		return l.quant(e.Exists, e.Binds, e.Body, x)
	case *core.If:
		c := l.pred(e.Cond, x)
		switch {
		case c.is(1):
			return l.predicate(e.Then, x)
		case c.is(0):
			return l.predicate(e.Else, x)
		}
		return l.b.cond(c, l.pred(e.Then, x), l.pred(e.Else, x))
	case *core.Let:
		return l.predicate(e.Body, x.in(l.let(e, x)))
	case *core.Box:
		same := l.pred(&core.Op{At: e.At, Op: core.OpUnchanged, Args: []core.Expr{e.Sub}}, x)
		if same.is(1) {
			return same
		}
		return l.b.or(same, l.pred(e.Action, x))
	case *core.Angle:
		a := l.pred(e.Action, x)
		if a.is(0) {
			return a
		}
		return l.b.and(a, l.b.not(l.pred(&core.Op{At: e.At, Op: core.OpUnchanged, Args: []core.Expr{e.Sub}}, x)))
	case *core.Op:
		return l.opPred(e, x)
	}
	return l.asBool(l.expr(e, x, boolType))
}

// junction lowers /\ (end 0) and \/ (end 1).
func (l *lowerer) junction(list []core.Expr, x ctx, end int64) *node {
	var out []*node
	for _, e := range list {
		n := l.pred(e, x)
		out = append(out, n)
		if n.is(end) {
			break
		}
	}
	return l.b.junction([...]op{oAnd, oOr}[end], end, out)
}

func (l *lowerer) opPred(e *core.Op, x ctx) *node {
	arg := func(i int) *val { return l.expr(e.Args[i], x, nil) }
	switch e.Op {
	case core.OpNot:
		return l.b.not(l.pred(e.Args[0], x))
	case core.OpImplies:
		a := l.pred(e.Args[0], x)
		if a.is(0) {
			return l.b.k(1)
		}
		return l.b.or(l.b.not(a), l.pred(e.Args[1], x))
	case core.OpEquiv:
		return l.b.eq(l.pred(e.Args[0], x), l.pred(e.Args[1], x))
	case core.OpEq:
		a, b := l.both(e.Args[0], e.Args[1], x)
		return l.equal(a, b)
	case core.OpNe:
		a, b := l.both(e.Args[0], e.Args[1], x)
		return l.b.not(l.equal(a, b))
	case core.OpIn:
		return l.member(arg(0), e.Args[1], x)
	case core.OpNotIn:
		return l.b.not(l.member(arg(0), e.Args[1], x))
	case core.OpSubseteq:
		return l.subseteq(arg(0), e.Args[1], x)
	case core.OpUnchanged:
		if x.primed || x.path != nil {
			giveUp("UNCHANGED as a test within an action")
		}
		y := x
		y.primed = true
		return l.equal(l.expr(e.Args[0], x, nil), l.expr(e.Args[0], y, nil))
	case core.OpPrime:
		if x.primed {
			giveUp("a prime within a prime")
		}
		x.primed = true
		return l.predicate(e.Args[0], x)
	case core.OpEnabled:
		return l.enabled(e.Args[0], x)
	}
	return l.asBool(l.expr(e, x, boolType))
}

// both lowers two expressions that are compared; the type of each is a hint for
// the other.
func (l *lowerer) both(e, f core.Expr, x ctx) (a, b *val) {
	switch e.(type) {
	case *core.SetEnum, *core.Record, *core.Tuple, *core.SetMap:
		b = l.expr(f, x, nil)
		return l.expr(e, x, b.t), b
	}
	a = l.expr(e, x, nil)
	return a, l.expr(f, x, a.t)
}

// expr lowers an expression. hint, if not nil, is the preferred type of the
// value.
func (l *lowerer) expr(e core.Expr, x ctx, hint *typ) *val {
	l.step()
	switch e := e.(type) {
	case *core.Int:
		if e.Val < intMin || e.Val > intMax {
			giveUp("a number does not fit")
		}
		return knownVal(value.Int(int32(e.Val)))
	case *core.Str:
		return knownVal(value.String(e.Val))
	case *core.Bool:
		return knownVal(value.Bool(e.Val))
	case *core.VarRef:
		return l.variable(e.Var, x)
	case *core.LocalRef:
		return l.local(e, x, hint)
	case *core.ConstRef:
		v, d := l.p.Constant(e.Const)
		if d != nil {
			return l.call(d, e.Args, x, hint)
		}
		if v.IsUndefined() || len(e.Args) > 0 {
			giveUp("a constant operator")
		}
		return knownVal(v)
	case *core.Call:
		return l.call(e.Def, e.Args, x, hint)
	case *core.And, *core.Or, *core.Quant, *core.Box, *core.Angle:
		return l.boolVal(l.predicate(e, x))
	case *core.Op:
		return l.op(e, x, hint)
	case *core.If:
		c := l.pred(e.Cond, x)
		switch {
		case c.is(1):
			return l.expr(e.Then, x, hint)
		case c.is(0):
			return l.expr(e.Else, x, hint)
		}
		return l.merge(c, l.branch(e.Then, x, hint), l.branch(e.Else, x, hint))
	case *core.Case:
		return l.caseExpr(e, x, hint)
	case *core.Let:
		return l.expr(e.Body, x.in(l.let(e, x)), hint)
	case *core.Choose:
		return l.choose(e, x)
	case *core.SetEnum:
		return l.setEnum(e, x, hint)
	case *core.SetFilter:
		return l.setFilter(e, x)
	case *core.SetMap:
		return l.setMap(e, x, hint)
	case *core.Fn:
		return l.function(e, x)
	case *core.Apply:
		f, i := l.expr(e.Fn, x, nil), l.expr(e.Arg, x, nil)
		_, here := e.Fn.(*core.Fn)
		return l.applyWhole(f, i, here)
	case *core.Select:
		return l.applyWhole(l.expr(e.X, x, nil), knownVal(value.String(e.Field)), false)
	case *core.Record:
		fields := make([]value.Field, len(e.Fields))
		vals := make(map[string]*val)
		for i, f := range e.Fields {
			fields[i] = value.Field{Name: f.Name, Val: value.Int(0)}
			vals[f.Name] = l.expr(f.X, x, nil)
		}
		t := fnType(value.Record(fields).Domain())
		return l.settle(l.fnVal(t, func(i int) *val { return vals[t.keys[i].AsString()] }))
	case *core.Tuple:
		if len(e.Elems) == 0 {
			return knownVal(value.Tuple())
		}
		elems := make([]*val, len(e.Elems))
		for i, f := range e.Elems {
			elems[i] = l.expr(f, x, nil)
		}
		return l.settle(l.fnVal(fnType(value.Interval(1, int32(len(elems)))), func(i int) *val { return elems[i] }))
	case *core.Except:
		return l.except(e, x)
	case *core.FnSet:
		return l.constants(func(vs []value.Value) value.Value { return value.FnSet(vs[0], vs[1]) }, x, e.Dom, e.Rng)
	case *core.Times:
		return l.constants(func(vs []value.Value) value.Value { return value.Times(vs...) }, x, e.Sets...)
	case *core.RecordSet:
		fields, sets := make([]value.Field, len(e.Fields)), make([]core.Expr, len(e.Fields))
		for i, f := range e.Fields {
			fields[i].Name, sets[i] = f.Name, f.X
		}
		return l.constants(func(vs []value.Value) value.Value {
			for i := range fields {
				fields[i].Val = vs[i]
			}
			return value.RecordSet(fields)
		}, x, sets...)
	}
	if v, ok := l.p.Literal(e); ok {
		return knownVal(v)
	}
	giveUp("%T is not packed", e)
	return nil
}

// branch lowers a branch of an expression that may not be taken. If it cannot,
// the branch stops.
func (l *lowerer) branch(e core.Expr, x ctx, hint *typ) (v *val) {
	if !l.try(func() {
		if v = l.expr(e, x, hint); hint != nil && (hint.kind == kSet || hint.kind == kSeq) {
			v = l.coerce(v, hint)
		}
	}) {
		return &val{stop: true}
	}
	return v
}

// constants applies f to constants.
func (l *lowerer) constants(f func([]value.Value) value.Value, x ctx, es ...core.Expr) *val {
	vs := make([]value.Value, len(es))
	for i, e := range es {
		v := l.settle(l.expr(e, x, nil))
		if !v.known {
			giveUp("a set is made of sets that are not constant")
		}
		vs[i] = v.v
	}
	return knownVal(f(vs))
}

func (l *lowerer) variable(v *core.Variable, x ctx) *val {
	if l.lay == nil || v.Index >= len(l.lay.vars) {
		giveUp("a variable that no state has")
	}
	if x.primed && x.path != nil && !x.path.assigned[v.Index] {
		giveUp("%s' is read before it has a value", v.Name)
	}
	if x.primed {
		l.reads++
	}
	return l.loadVal(l.lay.vars[v.Index], x.primed)
}

// key identifies a path.
func (p *path) key() string {
	b := make([]byte, len(p.assigned))
	for i, ok := range p.assigned {
		if ok {
			b[i] = 1
		}
	}
	return string(b)
}

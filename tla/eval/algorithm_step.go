package eval

import (
	"slices"

	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/pcal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Observer sees what a step does with resources, and may end it. Its methods
// are called with the number of accesses before; a step that branches goes
// back to smaller numbers.
type Observer interface {
	// Access is called when a resource was read, or is to be written. False
	// ends this way of executing the step.
	Access(n int, s Access) bool
	// Blocked is called where an await is false, or there is no element to
	// choose.
	Blocked(n int, at core.Expr, s pcal.Stmt)
}

// Access is a read or write of a resource as the process sees it.
type Access struct {
	Stmt  pcal.Stmt
	Write bool
	// Param is the name of the parameter, empty inside a procedure: there it
	// is the procedure's, not the archetype's.
	Param string
	Index []value.Value
	Value value.Value
}

// path is a way of executing a step, so far. Vals is never changed in place.
type path struct {
	vals     []value.Value
	env      *env
	accesses int
}

// stepper executes the step of one process.
type stepper struct {
	a    *Algorithm
	p    *Process
	f    *frameOf
	obs  Observer // may be nil
	done func(vals []value.Value) error
	// accesses is how many the way that is being finished has made.
	accesses int
}

// Step executes the step that a process is at, in every way, and calls done
// with the values of the variables after it and the number of accesses made.
// An error of the algorithm's is a *check.EvalError.
func (a *Algorithm) Step(p *Process, vals []value.Value, obs Observer, done func(vals []value.Value, accesses int) error) error {
	_, label := a.Label(p, vals)
	b := a.blocks[label]
	if b == nil {
		return nil // at its end
	}
	x := &stepper{a: a, p: p, f: b.in, obs: obs}
	x.done = func(vals []value.Value) error { return done(vals, x.accesses) }
	var n *env
	if b.in.self != nil && !p.Self.IsUndefined() {
		n = n.bind(b.in.self, p.Self)
	}
	return a.guard(func() error { return x.stmts(b.Body, path{vals: vals, env: n}, x.end, nil) })
}

// Init calls done for every initial state.
func (a *Algorithm) Init(done func(vals []value.Value) error) error {
	return a.m.NewWorker().Init(func(_ int, s check.State) error { return done(a.m.Decode(s)) })
}

func (x *stepper) end(p path) error {
	x.accesses = p.accesses
	return x.done(p.vals)
}

type (
	after   func(path) error
	yielded func(path, value.Value) error
)

// stmts executes a list, and then k. Y takes what a yield gives.
func (x *stepper) stmts(list []pcal.Stmt, p path, k after, y yielded) error {
	if len(list) == 0 {
		return k(p)
	}
	return x.stmt(list[0], p, func(q path) error {
		q.env = p.env
		return x.stmts(list[1:], q, k, y)
	}, y)
}

func (x *stepper) eval(e core.Expr, p path) value.Value {
	return x.a.r.eval(x.a.bound(e, x.f), p.env, state{cur: p.vals}).Normal()
}

func (x *stepper) stmt(s pcal.Stmt, p path, k after, y yielded) error {
	switch s := s.(type) {
	case *pcal.Skip:
		return k(p)
	case *pcal.Await:
		if !x.eval(s.Cond, p).IsTrue() {
			x.blocked(p, s.Cond, s)
			return nil
		}
		return k(p)
	case *pcal.Assert:
		if !x.eval(s.Cond, p).IsTrue() {
			value.Fail("the assertion at %s is false", s.Span())
		}
		return k(p)
	case *pcal.Print:
		x.eval(s.X, p)
		return k(p)
	case *pcal.Assign:
		return k(x.assign(s.Pairs, p))
	case *pcal.If:
		if x.eval(s.Cond, p).IsTrue() {
			return x.stmts(s.Then, p, k, y)
		}
		return x.stmts(s.Else, p, k, y)
	case *pcal.Either:
		for _, b := range s.Branches {
			if err := x.stmts(b, p, k, y); err != nil {
				return err
			}
		}
		return nil
	case *pcal.With:
		return x.with(s, p, k, y)
	case *pcal.Goto:
		return k(x.jump(p, s.Label))
	case *pcal.Call:
		return x.call(s, p, k)
	case *pcal.Return:
		return k(x.leave(p))
	case *pcal.Yield:
		return y(p, x.eval(s.X, p))
	case *pcal.Read:
		return x.read(s, p, k, y)
	case *pcal.Write:
		return x.write(s, p, k)
	}
	invariant.Unreachable(s)
	return nil
}

func (x *stepper) blocked(p path, e core.Expr, s pcal.Stmt) {
	if x.obs != nil {
		x.obs.Blocked(p.accesses, e, s)
	}
}

func (x *stepper) with(s *pcal.With, p path, k after, y yielded) error {
	v := x.eval(s.X, p)
	if !s.In {
		q := p
		q.env = p.env.bind(s.Var, v)
		return x.stmts(s.Body, q, k, y)
	}
	elems := v.Elems()
	if len(elems) == 0 {
		x.blocked(p, s.X, s)
	}
	for _, e := range elems {
		q := p
		q.env = p.env.bind(s.Var, e)
		if err := x.stmts(s.Body, q, k, y); err != nil {
			return err
		}
	}
	return nil
}

// access reports an access of the archetype's; false ends this way.
func (x *stepper) access(s pcal.Stmt, a *pcal.Access, write bool, index []value.Value, v value.Value, p *path) bool {
	if a == nil {
		return true
	}
	n := p.accesses
	p.accesses++
	if x.obs == nil {
		return true
	}
	name := ""
	if x.f.process != nil {
		name = a.Param.Var.Name
	}
	return x.obs.Access(n, Access{Stmt: s, Write: write, Param: name, Index: index, Value: v})
}

func (x *stepper) indices(a *pcal.Access, p path) []value.Value {
	if a == nil {
		return nil
	}
	out := make([]value.Value, len(a.Index))
	for i, e := range a.Index {
		out[i] = x.eval(e, p)
	}
	return out
}

// read executes the read part of a mapping, and for every value that it yields
// the rest of the step.
func (x *stepper) read(s *pcal.Read, p path, k after, y yielded) error {
	index := x.indices(s.Access, p)
	return x.stmts(s.Body, p, func(path) error {
		invariant.Check(false, "a read at %s does not yield", s.Span())
		return nil
	}, func(q path, v value.Value) error {
		if !x.access(s, s.Access, false, index, v, &q) {
			return nil
		}
		q.env = p.env.bind(s.Dst, v)
		return x.stmts(s.Rest, q, k, y)
	})
}

func (x *stepper) write(s *pcal.Write, p path, k after) error {
	index := x.indices(s.Access, p)
	v := x.eval(s.X, p)
	q := p
	if !x.access(s, s.Access, true, index, v, &q) {
		return nil
	}
	q.env = p.env.bind(s.Value, v)
	return x.stmts(s.Body, q, k, nil)
}

// assign makes simultaneous assignments: all values and paths first.
func (x *stepper) assign(pairs []pcal.Assignment, p path) path {
	type change struct {
		v    *core.Variable
		path []value.Value
		val  value.Value
	}
	changes := make([]change, len(pairs))
	for i, pair := range pairs {
		c := change{v: x.a.variable(pair.Target)}
		if x.f.own[pair.Target.Name] {
			c.path = append(c.path, x.p.Self)
		}
		for _, ix := range pair.Path {
			if ix.X == nil {
				c.path = append(c.path, value.String(ix.Field))
			} else {
				c.path = append(c.path, x.eval(ix.X, p))
			}
		}
		n := p.env
		if pair.At != nil {
			old := p.vals[c.v.Index]
			for _, ix := range c.path {
				old = old.Apply(ix)
			}
			n = n.bind(pair.At, old)
		}
		c.val = x.a.r.eval(x.a.bound(pair.Value, x.f), n, state{cur: p.vals}).Normal()
		changes[i] = c
	}
	vals := slices.Clone(p.vals)
	for _, c := range changes {
		if len(c.path) > 0 {
			c.val = vals[c.v.Index].Except(c.path, c.val)
		}
		vals[c.v.Index] = c.val
	}
	p.vals = vals
	return p
}

// put sets a variable, in the part that belongs to self where own.
func (x *stepper) put(p path, v *core.Variable, own bool, val value.Value) path {
	vals := slices.Clone(p.vals)
	if own {
		val = vals[v.Index].Except([]value.Value{x.p.Self}, val)
	}
	vals[v.Index] = val
	p.vals = vals
	return p
}

// get is the value of a variable, of the part that belongs to self where own.
func (x *stepper) get(p path, v *core.Variable, own bool) value.Value {
	val := p.vals[v.Index]
	if own {
		val = val.Apply(x.p.Self)
	}
	return val
}

// many says whether pc, the stack and procedures' variables are functions of
// the process.
func (x *stepper) many() bool { return !x.p.Self.IsUndefined() }

func (x *stepper) jump(p path, label string) path {
	if x.a.pc == nil {
		return p
	}
	return x.put(p, x.a.pc, x.many(), value.String(label))
}

// call pushes what the procedure's variables were and starts the procedure. A
// tail call puts the new record in the place of the caller's, whose variables
// get back what they were; one of the caller itself keeps the record.
func (x *stepper) call(s *pcal.Call, p path, k after) error {
	args := make([]value.Value, len(s.Args))
	for i, arg := range s.Args {
		args[i] = x.eval(arg.X, p)
	}
	callee := x.a.blocks[s.Proc.Blocks[0].Label].in
	if tail := s.Return == ""; !tail || x.f.procedure != s.Proc {
		stack := x.get(p, x.a.stack, x.many())
		back := value.String(s.Return)
		rest := stack
		if tail {
			back = stack.Index(1).Field("pc")
			rest = pop(stack)
		}
		fields := []value.Field{{Name: "procedure", Val: value.String(s.Proc.Name)}, {Name: "pc", Val: back}}
		for _, v := range procedureVars(s.Proc) {
			fields = append(fields, value.Field{Name: v.Var.Name, Val: x.get(p, x.a.variable(v.Var), callee.own[v.Var.Name])})
		}
		pushed := value.TupleOf(append([]value.Value{value.Record(fields)}, rest.Elements()...))
		if tail {
			p = x.restore(p, stack.Index(1))
		}
		p = x.put(p, x.a.stack, x.many(), pushed)
	}
	for i, q := range s.Proc.Params {
		p = x.put(p, x.a.variable(q.Var), callee.own[q.Var.Name], args[i])
	}
	inner := &stepper{a: x.a, p: x.p, f: callee, obs: x.obs, done: x.done}
	outer := p.env
	if callee.self != nil && x.many() {
		p.env = p.env.bind(callee.self, x.p.Self)
	}
	return inner.start(s.Proc.Locals, p, func(q path) error {
		q.env = outer
		return k(x.jump(q, s.Proc.Blocks[0].Label))
	})
}

// start gives the locals of a procedure their initial values.
func (x *stepper) start(locals []*pcal.Variable, p path, k after) error {
	if len(locals) == 0 {
		return k(p)
	}
	l := locals[0]
	v, own := x.a.variable(l.Var), x.f.own[l.Var.Name]
	if l.Init == nil {
		return x.start(locals[1:], x.put(p, v, own, x.a.unset()), k)
	}
	init := x.eval(l.Init, p)
	if !l.In {
		return x.start(locals[1:], x.put(p, v, own, init), k)
	}
	for _, e := range init.Elems() {
		if err := x.start(locals[1:], x.put(p, v, own, e), k); err != nil {
			return err
		}
	}
	return nil
}

// unset is what a variable without an initial value has.
func (a *Algorithm) unset() value.Value {
	c := a.constant(&core.Constant{Name: "defaultInitValue", Module: a.m.program.spec.Name})
	return a.r.eval(&core.ConstRef{Const: c}, nil, state{}).Normal()
}

// restore gives the variables of the procedure that is left what the record
// has for them.
func (x *stepper) restore(p path, record value.Value) path {
	if x.f.procedure == nil {
		return p
	}
	for _, v := range procedureVars(x.f.procedure) {
		p = x.put(p, x.a.variable(v.Var), x.f.own[v.Var.Name], record.Field(v.Var.Name))
	}
	return p
}

func (x *stepper) leave(p path) path {
	stack := x.get(p, x.a.stack, x.many())
	if stack.Len() == 0 {
		value.Fail("a return outside a procedure call")
	}
	top := stack.Index(1)
	p = x.put(p, x.a.pc, x.many(), top.Field("pc"))
	p = x.restore(p, top)
	return x.put(p, x.a.stack, x.many(), pop(stack))
}

// pop is a stack without its top.
func pop(stack value.Value) value.Value { return value.TupleOf(slices.Clone(stack.Elements()[1:])) }

// guard turns an evaluation error that unwinds into an error.
func (a *Algorithm) guard(f func() error) error {
	var out error
	if err := value.Catch(func() { out = f() }); err != nil {
		places := a.r.places()
		a.r.at, a.r.depth = nil, 0
		return &check.EvalError{Message: err.Error(), Places: places}
	}
	return out
}

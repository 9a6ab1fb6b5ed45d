// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/tree"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Observer observes the accesses of a step to resources, and may end the step.
// Its methods receive the number of earlier accesses; when a step branches,
// that number decreases again.
type Observer interface {
	// Access is called after a read and before a write of a resource. If it
	// returns false, this way of executing the step ends.
	Access(n int, s Access) bool
	// Blocked is called when the condition of an await is false, or there is no
	// element to choose.
	Blocked(n int, at core.Expr, s pcal.Stmt)
}

// Access is a read or write of a resource, as the process sees it.
type Access struct {
	Stmt  pcal.Stmt
	Write bool
	// Param is the name of the archetype's parameter. It is empty inside a
	// procedure, whose parameters are its own.
	Param string
	Index []value.Value
	Value value.Value
}

// path is a partial execution of a step. vals is never changed in place.
type path struct {
	vals     []value.Value
	env      *tree.Env
	accesses int
}

// stepper executes the step of one process.
type stepper struct {
	a    *Algorithm
	p    *Process
	text *text
	obs  Observer // may be nil
	done func(vals []value.Value) error
	// accesses is the number of accesses of the execution that is being
	// completed.
	accesses int
}

// Step executes the next step of a process in every possible way. It calls done
// with the values of the variables after the step and the number of accesses.
// If the algorithm fails, Step returns a *check.EvalError.
func (a *Algorithm) Step(p *Process, vals []value.Value, obs Observer, done func(vals []value.Value, accesses int) error) error {
	_, label := a.Label(p, vals)
	b := a.blocks[label]
	if b == nil {
		return nil // at its end
	}
	x := &stepper{a: a, p: p, text: b.text, obs: obs}
	x.done = func(vals []value.Value) error { return done(vals, x.accesses) }
	var n *tree.Env
	if self := b.text.view.Name; self != nil && !p.Self.IsUndefined() {
		n = n.Bind(self, p.Self)
	}
	return a.guard(func() error { return x.stmts(b.Body, path{vals: vals, env: n}, x.end, nil) })
}

// Crash executes the crash of a process in every possible way, as Step does. It
// does nothing for a process that cannot crash or has ended.
func (a *Algorithm) Crash(p *Process, vals []value.Value, done func(vals []value.Value) error) error {
	if p.Decl.Crash == nil {
		return nil
	}
	t := a.blocks[p.Decl.Blocks[0].Label].text
	x := &stepper{a: a, p: p, text: t, done: done}
	var n *tree.Env
	if self := t.view.Name; self != nil && !p.Self.IsUndefined() {
		n = n.Bind(self, p.Self)
	}
	return a.guard(func() error { return x.stmts(p.Decl.Crash.Body, path{vals: vals, env: n}, x.end, nil) })
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

// stmts executes a list of statements, and then k. y receives yielded values.
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
	return x.a.r.Eval(x.text.x(e), p.env, tree.State{Cur: p.vals}).Normal()
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
		return k(x.assign(s, p))
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
	case *pcal.Goto, *pcal.Call, *pcal.Return, *pcal.Restart:
		return x.jump(s, p, k)
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
		q.env = p.env.Bind(s.Var, v)
		return x.stmts(s.Body, q, k, y)
	}
	elems := v.Elems()
	if len(elems) == 0 {
		x.blocked(p, s.X, s)
	}
	for _, e := range elems {
		q := p
		q.env = p.env.Bind(s.Var, e)
		if err := x.stmts(s.Body, q, k, y); err != nil {
			return err
		}
	}
	return nil
}

// access reports an access of the archetype to the observer; false ends this
// execution.
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
	if x.text.view.Procedure == nil {
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

// read executes the read part of a mapping. For every value that it yields, it
// executes the rest of the step.
func (x *stepper) read(s *pcal.Read, p path, k after, y yielded) error {
	index := x.indices(s.Access, p)
	return x.stmts(s.Body, p, func(path) error {
		invariant.Check(false, "a read at %s does not yield", s.Span())
		return nil
	}, func(q path, v value.Value) error {
		if !x.access(s, s.Access, false, index, v, &q) {
			return nil
		}
		q.env = p.env.Bind(s.Dst, v)
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
	q.env = p.env.Bind(s.Value, v)
	return x.stmts(s.Body, q, k, nil)
}

// assign performs simultaneous assignments: it computes all values first.
func (x *stepper) assign(s *pcal.Assign, p path) path {
	updates, known := x.text.updates[s]
	if !known {
		updates, _ = x.text.view.Assign(s, nil)
		x.text.updates[s] = updates
	}
	vals := slices.Clone(p.vals)
	for _, u := range updates {
		vals[u.Var.Index] = x.a.r.Eval(u.Value, p.env, tree.State{Cur: p.vals}).Normal()
	}
	p.vals = vals
	return p
}

// jump performs the updates of a goto, call or return, one after the other.
func (x *stepper) jump(s pcal.Stmt, p path, k after) error {
	updates, known := x.text.updates[s]
	if !known {
		updates, _ = x.text.view.Jump(s, nil)
		x.text.updates[s] = updates
	}
	return x.update(updates, p.vals, p, k)
}

// update performs updates. Unprimed variables in their values mean the state
// before; primed ones include the updates so far.
func (x *stepper) update(updates []pcal.Update, before []value.Value, p path, k after) error {
	if len(updates) == 0 {
		return k(p)
	}
	u := updates[0]
	v := x.a.r.Eval(u.Value, p.env, tree.State{Cur: before, Nxt: p.vals}).Normal()
	choices := []value.Value{v}
	if u.In {
		choices = v.Elems()
	}
	for _, v := range choices {
		q := p
		q.vals = slices.Clone(p.vals)
		q.vals[u.Var.Index] = v
		if err := x.update(updates[1:], before, q, k); err != nil {
			return err
		}
	}
	return nil
}

// guard converts an evaluation error that unwinds as a panic into an error.
func (a *Algorithm) guard(f func() error) error {
	var out error
	if err := value.Catch(func() { out = f() }); err != nil {
		places := a.r.Places()
		a.r.Forget()
		return &check.EvalError{Message: err.Error(), Places: places}
	}
	return out
}

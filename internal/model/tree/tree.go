// SPDX-License-Identifier: Apache-2.0

// Package tree is the reference evaluator: it walks the tree of an expression and does
// nothing clever. The compiled evaluators are tested against it, and it explains
// their errors: it evaluates the same thing again and keeps account of the places.
//
// In: expressions, with the environment and the state in which they are evaluated.
// Out: values, the states that satisfy an action, and after an error the places where
// it arose. Promised: conjuncts, disjuncts and elements are taken in the order that TLC
// takes them, so every state is found as often. An Evaluator is for one goroutine;
// lazy values that it makes of constants may be used by all. Refused: what has no
// value unwinds as a *value.Error, and so does an evaluation that is to stop.
//
// Names stand for values, where a quantifier or a function binds them, or for
// expressions with the environment they were written in, where an operator's
// parameter or a LET binds them: those are evaluated when they are used, in the
// state in which they are used. So a parameter under a prime means what substituting the argument would mean.
package tree

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Evaluator is one evaluator, for one goroutine.
type Evaluator struct {
	p     *program.Program
	run   *tlcget.Run
	asker *tlcget.Run // see memo.Cell
	depth int
	// at is the chain of expressions that are being evaluated, for messages.
	at *place
	// actions has the actions of the next-state relation while it is being
	// enumerated. action is the index of the current one, or -1.
	actions map[core.Expr]int
	action  int
	// levels caches the levels of expressions for which names stand.
	levels map[core.Expr]core.Level
	polls  uint32 // see poll
	// retracted counts the values that were removed from next states again.
	retracted uint64
	// shared: the evaluator evaluates a part of a constant, so that several
	// workers may use its lazy values at once.
	shared bool
}

// New returns an evaluator of the expressions of p.
func New(p *program.Program, r *tlcget.Run) *Evaluator {
	return &Evaluator{p: p, run: r, asker: r, levels: make(map[core.Expr]core.Level)}
}

// place is an expression that is being evaluated, or a definition whose body
// is, with a link to the enclosing place.
type place struct {
	up   *place
	expr core.Expr
	def  *core.Def
}

func (r *Evaluator) enter() {
	r.depth++
	if r.depth > rule.CallDepthMax {
		value.Fail("operators call each other more than %d deep: does a recursion not end?", rule.CallDepthMax)
	}
}

// poll is called at every step of an evaluation.
func (r *Evaluator) poll() {
	if r.polls++; r.polls%tlcget.PollEvery == 0 {
		r.run.AskStop()
	}
}

// Eval is the value of e.
func (r *Evaluator) Eval(e core.Expr, n *Env, s State) value.Value {
	r.poll()
	switch e.(type) {
	case *core.Str, *core.Bool, *program.Literal:
		return r.eval1(e, n, s) // without an error that needs a place
	}
	saved := r.at
	r.at = &place{up: saved, expr: e}
	v := r.eval1(e, n, s)
	r.at = saved
	return v
}

func (r *Evaluator) boolean(e core.Expr, n *Env, s State) bool { return r.Eval(e, n, s).IsTrue() }

func (r *Evaluator) all(es []core.Expr, n *Env, s State) []value.Value {
	vs := make([]value.Value, len(es))
	for i, e := range es {
		vs[i] = r.Eval(e, n, s)
	}
	return vs
}

func (r *Evaluator) eval1(e core.Expr, n *Env, s State) value.Value {
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
			return r.Eval(e.Then, n, s)
		}
		return r.Eval(e.Else, n, s)
	case *core.Case:
		return r.Eval(r.arm(e, n, s), n, s)
	case *core.Let:
		return r.Eval(e.Body, r.let(e, n), s)
	case *core.Quant:
		return value.Bool(r.quant(e, n, s))
	case *core.Choose:
		return r.choose(e, n, s)
	case *core.Box:
		// As in compiled code, a step that leaves v unchanged does not evaluate
		// A.
		return value.Bool(!r.changed(e.Sub, n, s) || r.boolean(e.Action, n, s))
	case *core.Angle:
		return value.Bool(r.boolean(e.Action, n, s) && r.changed(e.Sub, n, s))
	}
	return r.term(e, n, s)
}

// term evaluates the forms that construct sets, functions, records and tuples.
func (r *Evaluator) term(e core.Expr, n *Env, s State) value.Value {
	switch e := e.(type) {
	case *core.SetEnum:
		return value.SetOf(r.all(e.Elems, n, s))
	case *core.SetFilter:
		set := r.Eval(e.Bind.Set, n, s)
		return r.filter(set, func(r *Evaluator, x value.Value) bool {
			return r.boolean(e.Pred, bindElement(n, e.Bind, x), s)
		})
	case *core.SetMap:
		var elems []value.Value
		r.each(e.Binds, n, s, func(n *Env) bool {
			elems = append(elems, r.Eval(e.Body, n, s))
			return true
		})
		return value.SetOf(elems)
	case *core.Fn:
		return r.fn(e, n, s)
	case *core.FnSet:
		return value.FnSet(r.Eval(e.Dom, n, s), r.Eval(e.Rng, n, s))
	case *core.Apply:
		return r.Eval(e.Fn, n, s).Apply(r.Eval(e.Arg, n, s))
	case *core.Record:
		fields := make([]value.Field, len(e.Fields))
		for i, f := range e.Fields {
			fields[i] = value.Field{Name: f.Name, Val: r.Eval(f.X, n, s)}
		}
		return value.Record(fields)
	case *core.RecordSet:
		fields := make([]value.Field, len(e.Fields))
		for i, f := range e.Fields {
			fields[i] = value.Field{Name: f.Name, Val: r.Eval(f.X, n, s)}
		}
		return value.RecordSet(fields)
	case *core.Select:
		return r.Eval(e.X, n, s).Field(e.Field)
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

func (r *Evaluator) arm(e *core.Case, n *Env, s State) core.Expr {
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

// each calls f for every binding of binds, the last name varying fastest, until
// f returns false. It returns true if f never did.
func (r *Evaluator) each(binds []core.Bind, n *Env, s State, f func(*Env) bool) bool {
	sets := make([]value.Value, len(binds))
	for i, b := range binds {
		if b.Set == nil {
			value.Fail("an unbounded quantifier cannot be evaluated")
		}
		if i > 0 && binds[i-1].Set == b.Set {
			sets[i] = sets[i-1]
		} else {
			sets[i] = r.Eval(b.Set, n, s)
		}
		if len(binds) > 1 { // all of them, though the first may be empty
			value.CheckBound(sets[i])
		}
	}
	var loop func(i int, n *Env) bool
	loop = func(i int, n *Env) bool {
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

func (r *Evaluator) quant(e *core.Quant, n *Env, s State) bool {
	all := r.each(e.Binds, n, s, func(n *Env) bool {
		return r.boolean(e.Body, n, s) != e.Exists
	})
	return all != e.Exists
}

func (r *Evaluator) choose(e *core.Choose, n *Env, s State) value.Value {
	if e.Bind.Set == nil {
		rule.FailUnboundedChoose()
	}
	set := r.Eval(e.Bind.Set, n, s)
	for x := range set.Each {
		r.poll()
		if r.boolean(e.Body, bindElement(n, e.Bind, x), s) {
			return x
		}
	}
	rule.FailChoose(set)
	return value.Value{}
}

// changed reports whether the value of e differs between the two states.
func (r *Evaluator) changed(e core.Expr, n *Env, s State) bool {
	return !value.Equal(r.Eval(e, n, s), r.Eval(e, n, s.prime()))
}

func intLiteral(e *core.Int) value.Value {
	if e.Val != int64(int32(e.Val)) {
		value.Fail("the number %d does not fit 32 bits", e.Val)
	}
	return value.Int(int32(e.Val))
}

func failTemporal() { value.Fail("a temporal formula cannot be evaluated in a state") }

// Value returns the value of an expression on its own. The evaluator then returns
// to its previous position.
func (r *Evaluator) Value(e core.Expr, s State) value.Value {
	at, depth := r.at, r.depth
	r.Forget()
	v := r.Eval(e, nil, s)
	r.at, r.depth = at, depth
	return v
}

// Initial assigns values to nxt in every way that satisfies an initial predicate, and
// calls found for each, until found returns false.
func (r *Evaluator) Initial(e core.Expr, nxt []value.Value, found func() bool) {
	r.Forget()
	r.next(e, nil, State{Nxt: nxt, primed: true}, found)
}

// Steps does the same for the next-state relation, from cur. It passes the index of
// the action to found.
func (r *Evaluator) Steps(e core.Expr, actions map[core.Expr]int, cur, nxt []value.Value, found func(action int) bool) {
	r.Forget()
	r.actions, r.action = actions, -1
	r.next(e, nil, State{Cur: cur, Nxt: nxt}, func() bool { return found(r.action) })
	r.actions = nil
}

// Forget clears the position at which an earlier evaluation stopped.
func (r *Evaluator) Forget() { r.at, r.depth = nil, 0 }

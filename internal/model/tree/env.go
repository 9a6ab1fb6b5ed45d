// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// State is the state in which an expression is evaluated: the current state,
// the part of the next state that is known, and whether variables mean the next
// state. An initial predicate is evaluated as if primed, because it determines
// the "next" state.
type State struct {
	Cur, Nxt []value.Value
	primed   bool
}

// prime returns s for the expression under a prime.
func (s State) prime() State {
	if s.primed {
		value.Fail("a primed expression cannot be primed again")
	}
	if s.Nxt == nil {
		value.Fail("a primed expression has no value here: there is no next state")
	}
	s.primed = true
	return s
}

// read returns the value of a variable in s.
func (s State) read(v *core.Variable) value.Value {
	if s.primed {
		return rule.NextValue(s.Nxt, v)
	}
	if s.Cur == nil {
		value.Fail("the variable %s has no value here: there is no state", v.Name)
	}
	return s.Cur[v.Index]
}

// binding is the meaning of a name: a value, or an expression in its
// environment. The expression is evaluated when the name is first used, and
// again only after the state has changed. Otherwise the argument n - 1 of a
// recursion would be evaluated again at every depth, as often as the recursion
// is deep.
type binding struct {
	val  value.Value
	expr core.Expr
	env  *Env

	// kept is the last value of expr. It is synchronized, because several
	// workers may use a lazy value of a constant and so the names in it.
	kept atomic.Pointer[keptValue]
	// asked: dependsOnNext was computed, and its result is next.
	asked, next bool
}

// keptValue is the value of an expression, with the moment at which it was
// computed.
type keptValue struct {
	val  value.Value
	when moment
}

// moment is the state on which the value of an expression depends, besides the
// meanings of its names: the vectors of the state, and the number of values
// that were removed from a next state. Adding values to a next state changes no
// expression that already had a value.
type moment struct {
	cur, nxt  *value.Value
	primed    bool
	retracted uint64
}

// Env is a list of bindings, the innermost first. A LET definition with
// parameters is bound to the environment of its LET.
type Env struct {
	up    *Env
	local *core.Local
	def   *core.Def
	b     *binding
}

func (n *Env) Bind(l *core.Local, v value.Value) *Env {
	return &Env{up: n, local: l, b: &binding{val: v}}
}

func (n *Env) lookup(l *core.Local) *binding {
	b := n.find(l)
	if b == nil {
		value.Fail("the name %s has no value here", l.Name)
	}
	return b
}

// find returns the meaning of l, or nil.
func (n *Env) find(l *core.Local) *binding {
	for ; n != nil; n = n.up {
		if n.local == l {
			return n.b
		}
	}
	return nil
}

// lookupDef finds a definition of a LET, or returns nil.
func (n *Env) lookupDef(d *core.Def) *binding {
	for ; n != nil; n = n.up {
		if n.def == d {
			return n.b
		}
	}
	return nil
}

// bindElement binds the names of b to the element x of its set.
func bindElement(n *Env, b core.Bind, x value.Value) *Env {
	if !b.Tuple {
		return n.Bind(b.Vars[0], x)
	}
	for i, v := range rule.TupleElems(b, x) {
		n = n.Bind(b.Vars[i], v)
	}
	return n
}

// localRef evaluates a bound name, or applies an operator parameter.
func (r *Evaluator) localRef(e *core.LocalRef, n *Env, s State) value.Value {
	b := n.lookup(e.Local)
	if e.Local.Arity > 0 {
		return r.applyOperator(b, e.Args, n, s)
	}
	return r.byName(b, s)
}

// byName returns the value of a binding in state s.
func (r *Evaluator) byName(b *binding, s State) value.Value {
	if b.expr == nil {
		return b.val
	}
	var when moment
	if len(s.Cur) > 0 {
		when.cur = &s.Cur[0]
	}
	if len(s.Nxt) > 0 && (s.primed || r.dependsOnNext(b)) {
		when.nxt, when.primed, when.retracted = &s.Nxt[0], s.primed, r.retracted
	}
	if k := b.kept.Load(); k != nil && k.when == when {
		return k.val
	}
	v := r.Eval(b.expr, b.env, s)
	b.kept.Store(&keptValue{v, when})
	return v
}

// level returns the level of e, ignoring names that are bound outside.
func (r *Evaluator) level(e core.Expr) core.Level {
	l, ok := r.levels[e]
	if !ok {
		l = r.p.Level(e)
		r.levels[e] = l
	}
	return l
}

// dependsOnNext reports whether the expression of b mentions a next state, or may
// do so through a name in it.
func (r *Evaluator) dependsOnNext(b *binding) bool {
	if !b.asked {
		b.next = r.mentionsNext(b.expr, b.env, map[*core.Def]bool{})
		b.asked = true
	}
	return b.next
}

// mentionsNext is dependsOnNext for an expression. walked has the LET
// definitions that were examined.
func (r *Evaluator) mentionsNext(e core.Expr, n *Env, walked map[*core.Def]bool) bool {
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

// let binds the definitions of a LET; each sees all of them.
func (r *Evaluator) let(e *core.Let, n *Env) *Env {
	inner := n
	for _, d := range e.Defs {
		inner = &Env{up: inner, def: d, b: &binding{expr: d.Body}}
	}
	for m := inner; m != n; m = m.up {
		m.b.env = inner
	}
	return inner
}

// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// next executes e as an action. It assigns values to the variables of s.nxt
// that have none, in every way that makes e true, and calls k for each. When k
// returns, next undoes its assignments. It returns false if k did.
func (r *Evaluator) next(e core.Expr, n *Env, s State, k func() bool) bool {
	saved := r.at
	r.at = &place{up: saved, expr: e}
	if i, ok := r.actions[e]; ok && r.action < 0 {
		r.action = i
		defer func() { r.action = -1 }()
	}
	ok := r.next1(e, n, s, func() bool {
		inner := r.at
		r.at = saved
		ok := k()
		r.at = inner
		return ok
	})
	r.at = saved
	return ok
}

func (r *Evaluator) next1(e core.Expr, n *Env, s State, k func() bool) bool {
	switch e := e.(type) {
	case *core.And:
		return r.conjuncts(e.List, n, s, k)
	case *core.Or:
		for _, x := range e.List {
			if !r.next(x, n, s, k) {
				return false
			}
		}
		return true
	case *core.If:
		if r.boolean(e.Cond, n, s) {
			return r.next(e.Then, n, s, k)
		}
		return r.next(e.Else, n, s, k)
	case *core.Case:
		return r.next(r.arm(e, n, s), n, s, k)
	case *core.Let:
		return r.next(e.Body, r.let(e, n), s, k)
	case *core.Quant:
		if e.Exists {
			return r.each(e.Binds, n, s, func(n *Env) bool { return r.next(e.Body, n, s, k) })
		}
		var envs []*Env
		r.each(e.Binds, n, s, func(n *Env) bool {
			envs = append(envs, n)
			return true
		})
		return r.forAll(e.Body, envs, s, k)
	case *core.Box:
		if !r.next(e.Action, n, s, k) {
			return false
		}
		return r.unchanged(e.Sub, n, s, k)
	case *core.Angle:
		return r.next(e.Action, n, s, func() bool {
			if !r.changed(e.Sub, n, s) {
				return true
			}
			return k()
		})
	case *core.Op:
		return r.nextOp(e, n, s, k)
	case *core.LocalRef:
		return r.nextLocal(e, n, s, k)
	case *core.Call:
		return r.nextCall(e, n, s, k)
	case *core.ConstRef:
		if c := r.p.Constants[e.Const]; c.Def != nil {
			return r.nextGlobal(c.Def, e.Args, n, s, k)
		}
	}
	return r.test(e, n, s, k)
}

// test continues if e, which assigns nothing, is true.
func (r *Evaluator) test(e core.Expr, n *Env, s State, k func() bool) bool {
	return !r.boolean(e, n, s) || k()
}

func (r *Evaluator) conjuncts(es []core.Expr, n *Env, s State, k func() bool) bool {
	if len(es) == 0 {
		return k()
	}
	return r.next(es[0], n, s, func() bool { return r.conjuncts(es[1:], n, s, k) })
}

func (r *Evaluator) forAll(body core.Expr, envs []*Env, s State, k func() bool) bool {
	if len(envs) == 0 {
		return k()
	}
	return r.next(body, envs[0], s, func() bool { return r.forAll(body, envs[1:], s, k) })
}

func (r *Evaluator) nextOp(e *core.Op, n *Env, s State, k func() bool) bool {
	switch e.Op {
	case core.OpEq:
		if v := r.assignable(e.Args[0], n, s); v != nil {
			return r.assign(v, r.Eval(e.Args[1], n, s), s, k)
		}
	case core.OpIn:
		v := r.assignable(e.Args[0], n, s)
		if v == nil {
			break
		}
		if !s.Nxt[v.Index].IsUndefined() {
			return !r.member(s.Nxt[v.Index], e.Args[1], n, s) || k()
		}
		for x := range r.Eval(e.Args[1], n, s).Each {
			r.poll()
			if !r.assign(v, x, s, k) {
				return false
			}
		}
		return true
	case core.OpImplies:
		if r.boolean(e.Args[0], n, s) {
			return r.next(e.Args[1], n, s, k)
		}
		return k()
	case core.OpUnchanged:
		return r.unchanged(e.Args[0], n, s, k)
	case core.OpCompose:
		mid := make([]value.Value, len(r.p.Spec.Variables))
		return r.next(e.Args[0], n, State{Cur: s.Cur, Nxt: mid}, func() bool {
			rule.Complete(mid, r.p.Spec.Variables)
			return r.next(e.Args[1], n, State{Cur: slices.Clone(mid), Nxt: s.Nxt}, k)
		})
	}
	return r.test(e, n, s, k)
}

// assign gives v the value x and continues. If v already has a value, it
// continues only if that value is x.
func (r *Evaluator) assign(v *core.Variable, x value.Value, s State, k func() bool) bool {
	if old := s.Nxt[v.Index]; !old.IsUndefined() {
		return !value.Equal(old, x) || k()
	}
	s.Nxt[v.Index] = x.Normal()
	ok := k()
	s.Nxt[v.Index] = value.Value{}
	r.retracted++
	return ok
}

// assignable returns the variable whose next value e denotes, or nil.
func (r *Evaluator) assignable(e core.Expr, n *Env, s State) *core.Variable {
	switch e := e.(type) {
	case *core.VarRef:
		if s.primed {
			return e.Var
		}
	case *core.Op:
		if e.Op == core.OpPrime && !s.primed {
			return r.assignable(e.Args[0], n, s.prime())
		}
	case *core.LocalRef:
		if b := n.lookup(e.Local); e.Local.Arity == 0 && b.expr != nil {
			return r.assignable(b.expr, b.env, s)
		}
	case *core.Call:
		if len(e.Args) > 0 {
			return nil
		}
		if b := n.lookupDef(e.Def); b != nil {
			return r.assignable(b.expr, b.env, s)
		}
		if d, _ := r.p.Resolve(e.Def); d != nil && d.Body != nil && !d.Recursive && !r.p.IsNative(d) {
			return r.assignable(d.Body, nil, s)
		}
	}
	return nil
}

// unchanged executes UNCHANGED e as an action. It decomposes tuples and
// definitions into variables.
func (r *Evaluator) unchanged(e core.Expr, n *Env, s State, k func() bool) bool {
	switch e := e.(type) {
	case *core.VarRef:
		if s.Cur == nil {
			break
		}
		return r.assign(e.Var, s.Cur[e.Var.Index], s, k)
	case *core.Tuple:
		return r.unchangedAll(e.Elems, n, s, k)
	case *core.LocalRef:
		if b := n.lookup(e.Local); e.Local.Arity == 0 && b.expr != nil {
			return r.unchanged(b.expr, b.env, s, k)
		}
	case *core.Call:
		if len(e.Args) > 0 {
			break
		}
		if b := n.lookupDef(e.Def); b != nil {
			return r.unchanged(b.expr, b.env, s, k)
		}
		if d, _ := r.p.Resolve(e.Def); d != nil && d.Body != nil && !d.Recursive && !r.p.IsNative(d) {
			return r.unchanged(d.Body, nil, s, k)
		}
	}
	return r.changed(e, n, s) || k()
}

func (r *Evaluator) unchangedAll(es []core.Expr, n *Env, s State, k func() bool) bool {
	if len(es) == 0 {
		return k()
	}
	return r.unchanged(es[0], n, s, func() bool { return r.unchangedAll(es[1:], n, s, k) })
}

// nextLocal executes an action that was passed as an argument.
func (r *Evaluator) nextLocal(e *core.LocalRef, n *Env, s State, k func() bool) bool {
	b := n.lookup(e.Local)
	if e.Local.Arity > 0 {
		return r.nextOperator(b, e.Args, n, s, k)
	}
	if b.expr == nil {
		return r.test(e, n, s, k)
	}
	return r.next(b.expr, b.env, s, k)
}

func (r *Evaluator) nextOperator(b *binding, args []core.Expr, n *Env, s State, k func() bool) bool {
	switch op := b.expr.(type) {
	case *core.OpRef:
		if let := b.env.lookupDef(op.Def); let != nil {
			return r.nextBody(op.Def, args, n, let.env, s, k)
		}
		return r.nextGlobal(op.Def, args, n, s, k)
	case *core.Lambda:
		return r.nextBody(&core.Def{Name: "LAMBDA", Params: op.Params, Body: op.Body, Span: op.Place}, args, n, b.env, s, k)
	case *core.LocalRef:
		return r.nextOperator(b.env.lookup(op.Local), args, n, s, k)
	}
	return !r.applyOperator(b, args, n, s).IsTrue() || k()
}

func (r *Evaluator) nextCall(e *core.Call, n *Env, s State, k func() bool) bool {
	if b := n.lookupDef(e.Def); b != nil {
		return r.nextBody(e.Def, e.Args, n, b.env, s, k)
	}
	return r.nextGlobal(e.Def, e.Args, n, s, k)
}

func (r *Evaluator) nextGlobal(d *core.Def, args []core.Expr, n *Env, s State, k func() bool) bool {
	to, _ := r.p.Resolve(d)
	if to == nil || to.Body == nil || r.p.IsNative(to) || r.p.ConstDefs[to] != nil {
		return !r.callGlobal(d, args, n, s).IsTrue() || k()
	}
	return r.nextBody(to, args, n, nil, s, k)
}

// nextBody executes the body of d.
func (r *Evaluator) nextBody(d *core.Def, args []core.Expr, n, outer *Env, s State, k func() bool) bool {
	r.enter()
	saved := r.at
	r.at = &place{up: saved, def: d}
	ok := r.next(d.Body, bindParams(d.Params, args, n, outer), s, k)
	r.at = saved
	r.depth--
	return ok
}

// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// constRef evaluates a constant, or applies a constant operator.
func (r *Evaluator) constRef(e *core.ConstRef, n *Env, s State) value.Value {
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

// applyOperator applies the operator for which an operator parameter stands.
func (r *Evaluator) applyOperator(b *binding, args []core.Expr, n *Env, s State) value.Value {
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
func (r *Evaluator) call(e *core.Call, n *Env, s State) value.Value {
	if b := n.lookupDef(e.Def); b != nil {
		if len(e.Def.Params) == 0 {
			return r.byName(b, s)
		}
		return r.body(e.Def, e.Args, n, b.env, s)
	}
	return r.callGlobal(e.Def, e.Args, n, s)
}

// callGlobal applies a definition of the specification, overrides applied.
func (r *Evaluator) callGlobal(d *core.Def, args []core.Expr, n *Env, s State) value.Value {
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
			r := sharedEvaluator(r)
			if r.p.IsNative(d) {
				return r.native(d, args, n, s)
			}
			return r.body(d, nil, nil, nil, State{})
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

// bindParams makes the environment for the body of d, applied to the arguments
// args in the environment n. If an argument is just a name, the parameter gets
// that name's binding; otherwise a recursion would make a chain of bindings as
// long as its depth.
func bindParams(params []*core.Local, args []core.Expr, n, outer *Env) *Env {
	inner := outer
	for i, l := range params {
		var b *binding
		if ref, ok := args[i].(*core.LocalRef); ok && len(ref.Args) == 0 {
			b = n.find(ref.Local)
		}
		if b == nil {
			b = &binding{expr: args[i], env: n}
		}
		inner = &Env{up: inner, local: l, b: b}
	}
	return inner
}

// body evaluates the body of d with its parameters bound to args in n; outer is
// the environment of d itself.
func (r *Evaluator) body(d *core.Def, args []core.Expr, n, outer *Env, s State) value.Value {
	if d.Body == nil {
		value.Fail("the operator %s of module %s has no definition that can be evaluated", d.Name, d.Module)
	}
	r.enter()
	saved := r.at
	r.at = &place{up: saved, def: d}
	v := r.Eval(d.Body, bindParams(d.Params, args, n, outer), s)
	r.at = saved
	r.depth--
	return v
}

// native calls the Go implementation of a definition of a standard module.
func (r *Evaluator) native(d *core.Def, args []core.Expr, n *Env, s State) value.Value {
	op := program.Native(d)
	if op == nil {
		value.Fail("the operator %s of module %s cannot be evaluated", d.Name, d.Module)
	}
	in := make([]stdlib.Arg, len(args))
	for i, a := range args {
		if op.Lazy && i == len(args)-1 {
			in[i].Op = func([]value.Value) value.Value { return r.attempt(a, n, s) }
			continue
		}
		if d.Params[i].Arity == 0 {
			in[i].Val = r.Eval(a, n, s)
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

// attempt evaluates an expression that may have no value. Its caller can catch
// the error and continue.
func (r *Evaluator) attempt(e core.Expr, n *Env, s State) value.Value {
	was, done := *r, false
	defer func() {
		if !done {
			r.depth, r.at, r.actions, r.action = was.depth, was.at, was.actions, was.action
			r.asker, r.shared = was.asker, was.shared
		}
	}()
	v := r.Eval(e, n, s)
	done = true
	return v
}

// SPDX-License-Identifier: Apache-2.0

package shape

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// expr infers e in sc. An expression that occurs twice in the tree has one
// node.
func (in *inference) expr(sc *Scope, e core.Expr) *node {
	if n, ok := sc.exprs[e]; ok {
		return n
	}
	if in.depth++; in.depth > depthMax {
		in.depth--
		return in.anyBecause(e.Span(), "is nested too deeply to be followed")
	}
	n := in.infer(sc, e)
	in.depth--
	sc.exprs[e] = n
	return n
}

func (in *inference) infer(sc *Scope, e core.Expr) *node {
	at := e.Span()
	switch e := e.(type) {
	case *core.Int:
		return in.number(e.Val, at)
	case *core.Str:
		return in.str(e.Val, at)
	case *core.Bool:
		return in.of(Bool, at)
	case *core.Decimal:
		return in.anyBecause(at, "is a number with a fraction")
	case *core.VarRef:
		return in.variableRef(sc, e)
	case *core.Apply:
		if v, index := RefAccess(sc, e); v != nil {
			for _, x := range index {
				in.expr(sc, x)
			}
			return sc.lookupRef(v).read
		}
		r := in.fresh(at)
		in.apply(in.expr(sc, e.Fn), in.expr(sc, e.Arg), e.Arg, r, at)
		return r
	case *core.ConstRef:
		return in.constant(sc, e)
	case *core.LocalRef:
		return in.local(sc, e)
	case *core.Call:
		return in.call(sc, e)
	case *core.Op:
		return in.op(sc, e)
	case *core.And:
		return in.booleans(sc, e.List, at)
	case *core.Or:
		return in.booleans(sc, e.List, at)
	case *core.If:
		in.want(in.expr(sc, e.Cond), Bool, e.Cond.Span())
		n := in.fresh(at)
		in.unify(n, in.expr(sc, e.Then), at)
		in.unify(n, in.expr(sc, e.Else), at)
		return n
	case *core.Case:
		n := in.fresh(at)
		for _, a := range e.Arms {
			in.want(in.expr(sc, a.Cond), Bool, a.Cond.Span())
			in.unify(n, in.expr(sc, a.Body), at)
		}
		if e.Other != nil {
			in.unify(n, in.expr(sc, e.Other), at)
		}
		return n
	case *core.Let:
		for _, d := range e.Defs { // inferred where they are used
			sc.owned[d] = true
		}
		return in.expr(sc, e.Body)
	case *core.Quant:
		in.binds(sc, e.Binds)
		in.want(in.expr(sc, e.Body), Bool, e.Body.Span())
		return in.of(Bool, at)
	case *core.Choose:
		in.bindOne(sc, e.Bind)
		in.want(in.expr(sc, e.Body), Bool, e.Body.Span())
		return in.bound(sc, e.Bind)
	case *core.SetEnum, *core.SetFilter, *core.SetMap, *core.FnSet, *core.RecordSet, *core.Times:
		return in.set(sc, e)
	case *core.Fn:
		return in.function(sc, e)
	case *core.Record:
		n := in.of(Record, at)
		n.fields = map[string]*member{}
		for _, f := range e.Fields {
			n.fields[f.Name] = &member{node: in.expr(sc, f.X)}
		}
		return n
	case *core.Select:
		r := in.fresh(at)
		in.selectField(in.expr(sc, e.X), e.Field, r, at)
		return r
	case *core.Except:
		return in.except(sc, e)
	case *core.Tuple:
		elems := make([]*node, len(e.Elems))
		for i, x := range e.Elems {
			elems[i] = in.expr(sc, x)
		}
		return in.tupleOf(elems, at)
	case *core.Box, *core.Angle, *core.Fair:
		for x := range core.Children(e, core.TextOrder) {
			in.expr(sc, x)
		}
	case *core.TemporalQuant, *core.OpRef, *core.Lambda, *core.Bad:
		return in.anyBecause(at, "is not an expression with a value")
	default:
		panic(fmt.Sprintf("shape: expression %T", e))
	}
	return in.of(Bool, at)
}

func (in *inference) booleans(sc *Scope, list []core.Expr, at source.Span) *node {
	for _, x := range list {
		in.want(in.expr(sc, x), Bool, x.Span())
	}
	return in.of(Bool, at)
}

// RefAccess reports whether e reads a resource: the name of a ref parameter
// with as many indices as the parameter has [_]. Most reads are statements; a
// read whose index depends on a bound name stays in its expression.
func RefAccess(sc *Scope, e core.Expr) (*core.Variable, []core.Expr) {
	var index []core.Expr
	for {
		switch x := e.(type) {
		case *core.Apply:
			index = append([]core.Expr{x.Arg}, index...)
			e = x.Fn
			continue
		case *core.VarRef:
			if r := sc.lookupRef(x.Var); r != nil && r.variable == nil && r.param.Mapping == len(index) {
				return x.Var, index
			}
		}
		return nil, nil
	}
}

// variableRef infers a variable, or a resource without indices.
func (in *inference) variableRef(sc *Scope, e *core.VarRef) *node {
	if r := sc.lookupRef(e.Var); r != nil {
		if r.variable == nil {
			return r.read
		}
		return r.owner.lookupVar(r.variable)
	}
	return sc.lookupVar(e.Var)
}

func (in *inference) constant(sc *Scope, e *core.ConstRef) *node {
	n := in.consts[e.Const.Name]
	if n == nil { // declared in a module that is not the root's
		n = in.fresh(e.Const.Span)
		n.hint = hint{e.Const.Name, hintOperator}
		in.consts[e.Const.Name] = n
	}
	if e.Const.Arity > 0 {
		for _, a := range e.Args {
			in.expr(sc, a)
		}
		return in.anyBecause(e.Span(), "is the result of the constant operator %s", e.Const.Name)
	}
	return n
}

func (in *inference) local(sc *Scope, e *core.LocalRef) *node {
	if e.Local.Arity > 0 {
		sig := sc.lookupOp(e.Local)
		if sig == nil {
			return in.anyBecause(e.Span(), "is an operator")
		}
		for i, a := range e.Args {
			in.unify(in.expr(sc, a), sig.params[i], a.Span())
		}
		return sig.result
	}
	return sc.lookupLocal(e.Local)
}

func (in *inference) call(sc *Scope, e *core.Call) *node {
	d := e.Def
	if n, ok := in.given[d.Name]; ok && len(d.Params) == 0 {
		return n
	}
	if d.Native {
		if t := in.native(d); t != nil {
			return in.callNative(sc, e, t)
		}
		if d.Body == nil {
			for i, a := range e.Args {
				if d.Params[i].Arity == 0 {
					in.expr(sc, a)
				} else {
					in.operator(sc, a, in.anySignature(d.Params[i].Arity, a.Span()))
				}
			}
			return in.anyBecause(e.Span(), "is the result of %s, whose shape is not known", d.Name)
		}
	}
	s := in.instanceFor(sc, d, e.Span())
	sc.calls[e] = s
	for i, a := range e.Args {
		if p := d.Params[i]; p.Arity > 0 {
			in.operator(sc, a, s.ops[p])
			continue
		}
		in.unify(s.params[i], in.expr(sc, a), a.Span())
	}
	return s.result
}

// instanceFor finds or makes the instance of d for a use in sc. A definition of
// a LET without parameters has only one instance, because it is a value, not a
// macro.
func (in *inference) instanceFor(sc *Scope, d *core.Def, at source.Span) *Scope {
	home := in.root
	for s := sc; s != nil; s = s.parent {
		if s.owned[d] {
			home = s
			break
		}
	}
	if home == in.root || len(d.Params) > 0 {
		return in.instance(home, d, at)
	}
	if home.values[d] == nil {
		home.values[d] = in.instance(home, d, at)
	}
	return home.values[d]
}

func (in *inference) anySignature(arity int, at source.Span) *signature {
	sig := &signature{result: in.anyBecause(at, "is computed by an operator whose shape is not known")}
	for range arity {
		sig.params = append(sig.params, in.anyBecause(at, "is passed by an operator whose shape is not known"))
	}
	return sig
}

// operator infers an operator argument at the signature at which it is used.
func (in *inference) operator(sc *Scope, a core.Expr, sig *signature) {
	at := a.Span()
	switch a := a.(type) {
	case *core.Lambda:
		for i, p := range a.Params {
			in.unify(sc.bind(p), sig.params[i], at)
		}
		in.unify(in.expr(sc, a.Body), sig.result, at)
	case *core.OpRef:
		if a.Def.Native && (in.native(a.Def) != nil || a.Def.Body == nil) {
			in.nativeRef(a, sig)
			return
		}
		s := in.instanceFor(sc, a.Def, at)
		sc.calls[a] = s
		for i := range s.params {
			if s.params[i] != nil {
				in.unify(s.params[i], sig.params[i], at)
			}
		}
		in.unify(s.result, sig.result, at)
	case *core.LocalRef:
		if own := sc.lookupOp(a.Local); own != nil {
			for i := range own.params {
				in.unify(own.params[i], sig.params[i], at)
			}
			in.unify(own.result, sig.result, at)
		}
	case *core.ConstRef:
		why := &Reason{Text: "passes through the constant operator " + a.Const.Name, Span: at}
		for _, p := range sig.params {
			in.makeAny(p, why)
		}
		in.makeAny(sig.result, why)
	}
}

func (in *inference) op(sc *Scope, e *core.Op) *node {
	at := e.Span()
	args := make([]*node, len(e.Args))
	for i, a := range e.Args {
		args[i] = in.expr(sc, a)
	}
	switch e.Op {
	case core.OpEq:
		if assigns(e.Args[0]) || assigns(e.Args[1]) {
			in.unify(args[0], args[1], at)
		} else {
			in.compare(args[0], args[1], at)
		}
	case core.OpNe, core.OpSubseteq:
		in.compare(args[0], args[1], at)
	case core.OpIn, core.OpNotIn:
		elem := in.fresh(at)
		in.unify(args[1], in.setOf(elem, at), at)
		if assigns(e.Args[0]) {
			in.unify(args[0], elem, at)
		} else {
			in.compare(args[0], elem, at)
		}
	case core.OpCup:
		in.unify(args[0], in.setOf(in.fresh(at), at), at)
		in.unify(args[0], args[1], at)
		return args[0]
	case core.OpCap, core.OpDiff:
		in.unify(args[0], in.setOf(in.fresh(at), at), at)
		in.compare(args[0], args[1], at)
		// The result is a subset of the left side and is finite if that is. It
		// is another place with the same elements.
		elem := in.fresh(at)
		in.unify(in.setOf(elem, at), args[0], at)
		r := in.setOf(elem, at)
		if e.Op == core.OpDiff {
			in.endlessAs(r, args[0])
		}
		return r
	case core.OpSubset:
		elem := in.fresh(at)
		in.unify(args[0], in.setOf(elem, at), at)
		return in.setOf(in.setOf(elem, at), at)
	case core.OpUnion:
		elem := in.fresh(at)
		in.unify(args[0], in.setOf(in.setOf(elem, at), at), at)
		return in.setOf(elem, at)
	case core.OpDomain:
		r := in.fresh(at)
		in.domain(args[0], r, at)
		return r
	case core.OpBoolean:
		return in.setOf(in.of(Bool, at), at)
	case core.OpString:
		n := in.setOf(in.of(Str, at), at)
		n.endless = true
		return n
	case core.OpPrime:
		return args[0]
	case core.OpNot, core.OpImplies, core.OpEquiv:
		for i, a := range args {
			in.want(a, Bool, e.Args[i].Span())
		}
	}
	return in.of(Bool, at)
}

// assigns reports whether e is a variable, primed or not, because "x = e" in
// Init and "x' = e" in Next are assignments.
func assigns(e core.Expr) bool {
	if op, ok := e.(*core.Op); ok && op.Op == core.OpPrime {
		e = op.Args[0]
	}
	_, ok := e.(*core.VarRef)
	return ok
}

// binds declares the names of several bounds.
func (in *inference) binds(sc *Scope, binds []core.Bind) {
	for _, b := range binds {
		in.bindOne(sc, b)
	}
}

func (in *inference) bindOne(sc *Scope, b core.Bind) {
	var at source.Span
	if len(b.Vars) > 0 {
		at = b.Vars[0].Span
	}
	elem := in.bound(sc, b)
	if b.Set == nil {
		return
	}
	in.unify(in.expr(sc, b.Set), in.setOf(elem, at), at)
}

// bound returns the node of the values of the bound: the variable, or the tuple
// of its pattern.
func (in *inference) bound(sc *Scope, b core.Bind) *node {
	if !b.Tuple {
		n := sc.bind(b.Vars[0])
		for _, v := range b.Vars[1:] {
			in.unify(n, sc.bind(v), v.Span)
		}
		return n
	}
	elems := make([]*node, len(b.Vars))
	for i, v := range b.Vars {
		elems[i] = sc.bind(v)
	}
	return in.tupleOf(elems, b.Vars[0].Span)
}

func (in *inference) set(sc *Scope, e core.Expr) *node {
	at := e.Span()
	switch e := e.(type) {
	case *core.SetEnum:
		elem := in.fresh(at)
		for _, x := range e.Elems {
			in.unify(elem, in.expr(sc, x), x.Span())
		}
		return in.setOf(elem, at)
	case *core.SetFilter:
		in.bindOne(sc, e.Bind)
		in.want(in.expr(sc, e.Pred), Bool, e.Pred.Span())
		return in.endlessAs(in.setOf(in.bound(sc, e.Bind), at), in.expr(sc, e.Bind.Set))
	case *core.SetMap:
		in.binds(sc, e.Binds)
		return in.setOf(in.expr(sc, e.Body), at)
	case *core.FnSet:
		key, elem := in.fresh(at), in.fresh(at)
		in.unify(in.expr(sc, e.Dom), in.setOf(key, at), at)
		rng := in.expr(sc, e.Rng)
		in.unify(rng, in.setOf(elem, at), at)
		fn := in.fnOf(key, elem, at)
		fn.counting = fromOne(e.Dom)
		return in.endlessAs(in.setOf(fn, at), rng)
	case *core.RecordSet:
		r := in.of(Record, at)
		r.fields = map[string]*member{}
		s := in.setOf(r, at)
		for _, f := range e.Fields {
			elem, set := in.fresh(at), in.expr(sc, f.X)
			in.unify(set, in.setOf(elem, at), at)
			r.fields[f.Name] = &member{node: elem}
			in.endlessAs(s, set)
		}
		return s
	case *core.Times:
		elems := make([]*node, len(e.Sets))
		s := in.setOf(in.tupleOf(elems, at), at)
		for i, x := range e.Sets {
			elems[i] = in.fresh(at)
			set := in.expr(sc, x)
			in.unify(set, in.setOf(elems[i], at), at)
			in.endlessAs(s, set)
		}
		return s
	}
	panic("shape: set")
}

// endlessAs marks s as infinite if part is.
func (in *inference) endlessAs(s, part *node) *node {
	in.when(part, func(_ *inference, p *node) {
		if p.endless {
			s.root().endless = true
		}
	})
	return s
}

// fromOne reports whether the set is written as an interval from 1. A function
// on such a set is a sequence.
func fromOne(e core.Expr) bool {
	c, ok := e.(*core.Call)
	if ok && len(c.Def.Params) == 0 && c.Def.Body != nil && !c.Def.Recursive {
		return fromOne(c.Def.Body)
	}
	if !ok || c.Def.Name != ".." || len(c.Args) != 2 {
		return false
	}
	one, ok := c.Args[0].(*core.Int)
	return ok && one.Val == 1
}

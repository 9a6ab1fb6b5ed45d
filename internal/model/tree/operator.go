// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/model/rule"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// op evaluates an operator of the language.
func (r *Evaluator) op(e *core.Op, n *Env, s State) value.Value {
	arg := func(i int) value.Value { return r.Eval(e.Args[i], n, s) }
	switch e.Op {
	case core.OpNot:
		return value.Bool(!arg(0).IsTrue())
	case core.OpImplies:
		return value.Bool(!arg(0).IsTrue() || arg(1).IsTrue())
	case core.OpEquiv:
		return value.Bool(arg(0).IsTrue() == arg(1).IsTrue())
	case core.OpEq:
		return value.Bool(value.Equal(arg(0), arg(1)))
	case core.OpNe:
		return value.Bool(!value.Equal(arg(0), arg(1)))
	case core.OpIn:
		return value.Bool(r.member(arg(0), e.Args[1], n, s))
	case core.OpNotIn:
		return value.Bool(!r.member(arg(0), e.Args[1], n, s))
	case core.OpSubseteq:
		return value.Bool(value.Subseteq(arg(0), arg(1)))
	case core.OpCup:
		return value.Union(arg(0), arg(1))
	case core.OpCap:
		return value.Intersect(arg(0), arg(1))
	case core.OpDiff:
		return value.Diff(arg(0), arg(1))
	case core.OpSubset:
		return value.Subsets(arg(0))
	case core.OpUnion:
		return value.BigUnion(arg(0))
	case core.OpDomain:
		return arg(0).Domain()
	case core.OpBoolean:
		return value.Booleans()
	case core.OpString:
		return value.Strings()
	case core.OpPrime:
		return r.Eval(e.Args[0], n, s.prime())
	case core.OpUnchanged:
		return value.Bool(!r.changed(e.Args[0], n, s))
	case core.OpEnabled:
		return value.Bool(r.enabled(e.Args[0], n, s))
	case core.OpCompose:
		return value.Bool(r.composed(e, n, s))
	case core.OpAlways, core.OpEventually, core.OpLeadsTo, core.OpGuarantee:
		failTemporal()
	}
	invariant.Unreachable(e.Op)
	return value.Value{}
}

// member reports whether x is in the set e. It evaluates all of e.
func (r *Evaluator) member(x value.Value, e core.Expr, n *Env, s State) bool {
	return value.Contains(r.asked(e, n, s), x)
}

// asked evaluates a set that is used for a membership test only, and so need not
// be listed. For {x \in S : p}, where S is neither listed nor an interval, p is
// evaluated during the test.
func (r *Evaluator) asked(e core.Expr, n *Env, s State) value.Value {
	switch e := e.(type) {
	case *core.SetFilter:
		pred := func(r *Evaluator, x value.Value) bool { return r.boolean(e.Pred, bindElement(n, e.Bind, x), s) }
		base := r.asked(e.Bind.Set, n, s)
		if value.Listed(base) {
			return r.filter(base, pred)
		}
		return value.LazyFilter(base, func(x value.Value) bool { return pred(r, x) })
	case *core.Op:
		if f := rule.SetOperation(e.Op); f != nil {
			a := r.asked(e.Args[0], n, s)
			return f(a, r.asked(e.Args[1], n, s))
		}
	case *core.Call:
		if d, _ := r.p.Resolve(e.Def); len(e.Args) == 0 && n.lookupDef(e.Def) == nil && d != nil && d.Body != nil && !r.p.IsNative(d) && r.p.ConstDefs[d] == nil {
			switch d.Body.(type) {
			case *core.Op, *core.SetFilter, *core.Call:
				r.enter()
				saved := r.at
				r.at = &place{up: saved, def: d}
				v := r.asked(d.Body, nil, s)
				r.at = saved
				r.depth--
				return v
			}
		}
	}
	return r.Eval(e, n, s)
}

// enabled reports whether some next state satisfies the action.
func (r *Evaluator) enabled(e core.Expr, n *Env, s State) bool {
	inner := State{Cur: s.Cur, Nxt: make([]value.Value, len(r.p.Spec.Variables)+len(r.p.Spec.Shadows))}
	if s.primed {
		rule.Complete(s.Nxt, r.p.Spec.Variables)
		inner.Cur = slices.Clone(s.Nxt) // s.nxt may change; a current state does not: see byName
	}
	found := false
	r.next(e, n, inner, func() bool {
		found = true
		return false
	})
	return found
}

// composed reports whether A \cdot B is true of the two states: whether A leads
// to some intermediate state from which B leads on.
func (r *Evaluator) composed(e *core.Op, n *Env, s State) bool {
	if s.primed {
		value.Fail("a primed expression cannot be primed again")
	}
	mid := make([]value.Value, len(r.p.Spec.Variables))
	found := false
	r.next(e.Args[0], n, State{Cur: s.Cur, Nxt: mid}, func() bool {
		rule.Complete(mid, r.p.Spec.Variables)
		found = r.boolean(e.Args[1], n, State{Cur: slices.Clone(mid), Nxt: s.Nxt})
		return !found
	})
	return found
}

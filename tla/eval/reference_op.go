package eval

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// op evaluates an operator of the language.
func (r *reference) op(e *core.Op, n *env, s state) value.Value {
	arg := func(i int) value.Value { return r.eval(e.Args[i], n, s) }
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
		return r.eval(e.Args[0], n, s.prime())
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

// member says whether x is in the set e. The parts of \cup, \cap, \ and of a
// filter are asked one after the other, so that a part that cannot be computed
// does no harm where the answer is known without it.
func (r *reference) member(x value.Value, e core.Expr, n *env, s state) bool {
	switch e := e.(type) {
	case *core.SetFilter:
		return r.member(x, e.Bind.Set, n, s) && r.boolean(e.Pred, bindElement(n, e.Bind, x), s)
	case *core.Op:
		switch e.Op {
		case core.OpCup:
			return r.member(x, e.Args[0], n, s) || r.member(x, e.Args[1], n, s)
		case core.OpCap:
			return r.member(x, e.Args[0], n, s) && r.member(x, e.Args[1], n, s)
		case core.OpDiff:
			return r.member(x, e.Args[0], n, s) && !r.member(x, e.Args[1], n, s)
		}
	}
	return value.Contains(r.eval(e, n, s), x)
}

// enabled says whether some next state satisfies the action.
func (r *reference) enabled(e core.Expr, n *env, s state) bool {
	inner := state{cur: s.cur, nxt: make([]value.Value, len(r.p.spec.Variables)+len(r.p.spec.Shadows))}
	if s.primed {
		complete(s.nxt, r.p.spec.Variables)
		inner.cur = s.nxt
	}
	found := false
	r.next(e, n, inner, func() bool {
		found = true
		return false
	})
	return found
}

// complete is an error where a variable has no value.
func complete(nxt []value.Value, vars []*core.Variable) {
	for _, v := range vars {
		nextValue(nxt, v)
	}
}

// composed says whether A \cdot B holds of the two states: whether some state
// between them is reached by A and left by B.
func (r *reference) composed(e *core.Op, n *env, s state) bool {
	if s.primed {
		value.Fail("a primed expression cannot be primed again")
	}
	mid := make([]value.Value, len(r.p.spec.Variables))
	found := false
	r.next(e.Args[0], n, state{cur: s.cur, nxt: mid}, func() bool {
		complete(mid, r.p.spec.Variables)
		found = r.boolean(e.Args[1], n, state{cur: mid, nxt: s.nxt})
		return !found
	})
	return found
}

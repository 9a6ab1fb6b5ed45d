// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"strings"

	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/shape"
)

// TLA+ evaluates an operator's argument and a LET's definition at their use, Go
// evaluates them where they are written. The two differ only if the evaluation
// can fail and the value may not be used. The functions here decide that
// conservatively.

// strictness caches which parameters an operator certainly evaluates.
type strictness struct {
	known map[strictKey]bool
}

type strictKey struct {
	d *core.Def
	i int
}

// param reports whether every evaluation of d's body evaluates parameter i.
func (st *strictness) param(d *core.Def, i int) bool {
	k := strictKey{d, i}
	if s, ok := st.known[k]; ok {
		return s
	}
	st.known[k] = false // a recursive use does not count
	if d.Body != nil && d.Params[i].Arity == 0 {
		st.known[k] = st.local(d.Body, d.Params[i])
	}
	return st.known[k]
}

// local reports whether every evaluation of body evaluates a bound name.
func (st *strictness) local(body core.Expr, l *core.Local) bool {
	return st.needs(body, func(e core.Expr) bool {
		r, ok := e.(*core.LocalRef)
		return ok && r.Local == l
	})
}

// value reports whether every evaluation of body evaluates the LET definition
// d.
func (st *strictness) value(body core.Expr, d *core.Def) bool {
	return st.needs(body, func(e core.Expr) bool {
		c, ok := e.(*core.Call)
		return ok && c.Def == d
	})
}

// needs reports whether every successful evaluation of e evaluates an
// expression for which hit is true.
func (st *strictness) needs(e core.Expr, hit func(core.Expr) bool) bool {
	if hit(e) {
		return true
	}
	switch e := e.(type) {
	case *core.Call:
		return st.callNeeds(e, hit)
	case *core.FnSet, *core.RecordSet, *core.Times:
		return false // a membership in such a set does not compute it
	case *core.If:
		if st.needs(e.Then, hit) && st.needs(e.Else, hit) {
			return true
		}
	}
	for p := range core.Parts(e, core.EvaluationOrder) {
		if p.Sure && st.needs(p.Expr, hit) {
			return true
		}
	}
	return false
}

func (st *strictness) callNeeds(e *core.Call, hit func(core.Expr) bool) bool {
	for i, a := range e.Args {
		if e.Def.Params[i].Arity > 0 {
			continue
		}
		if (e.Def.Native || st.param(e.Def, i)) && st.needs(a, hit) {
			return true
		}
	}
	if len(e.Args) == 0 && !e.Def.Native && !e.Def.Recursive && e.Def.Body != nil {
		return st.needs(e.Def.Body, hit)
	}
	return false
}

// certain decides which expressions always have a value.
type certain struct {
	sc *shape.Scope
	// lazy reports whether a bound name is computed at its use and may fail
	// there; a nil lazy means that none is.
	lazy func(*core.Local) bool
}

// total reports whether the evaluation of e in sc cannot fail and is cheap.
func total(sc *shape.Scope, e core.Expr) bool { return certain{sc: sc}.total(e) }

// total does the same if some bound names are computed at their use.
func (f *fn) total(e core.Expr) bool {
	return certain{f.sc, func(l *core.Local) bool {
		b := f.bound[l]
		return b != nil && strings.HasSuffix(b.code, "()")
	}}.total(e)
}

// totalIn is total for an expression of another scope.
func (f *fn) totalIn(sc *shape.Scope, e core.Expr) (yes bool) {
	f.within(sc, func() { yes = f.total(e) })
	return yes
}

func (c certain) total(e core.Expr) bool {
	sc := c.sc
	switch e := e.(type) {
	case *core.Int:
		return e.Val >= -1<<31 && e.Val < 1<<31
	case *core.Str, *core.Bool:
		return true
	case *core.VarRef:
		ref := sc.Ref(e.Var)
		return ref == nil || ref.Variable != nil
	case *core.ConstRef:
		return len(e.Args) == 0
	case *core.LocalRef:
		return e.Local.Arity == 0 && (c.lazy == nil || !c.lazy(e.Local))
	case *core.Tuple:
		return c.all(e.Elems)
	case *core.Record:
		for _, f := range e.Fields {
			if !c.total(f.X) {
				return false
			}
		}
		return true
	case *core.SetEnum:
		s := sc.Expr(e)
		return s != nil && !s.Mixed() && c.all(e.Elems)
	case *core.Select:
		s := sc.Expr(e.X)
		if s == nil || s.Kind != shape.Record || s.Model || !c.total(e.X) {
			return false
		}
		f := s.Field(e.Field)
		return f != nil && !f.Optional
	case *core.Op:
		return c.totalOp(e)
	case *core.And:
		return c.all(e.List) && booleans(sc, e.List)
	case *core.Or:
		return c.all(e.List) && booleans(sc, e.List)
	case *core.Call:
		return c.totalCall(e)
	}
	return false
}

func (c certain) all(list []core.Expr) bool {
	for _, x := range list {
		if !c.total(x) {
			return false
		}
	}
	return true
}

func booleans(sc *shape.Scope, list []core.Expr) bool {
	for _, x := range list {
		if s := sc.Expr(x); s == nil || s.Kind != shape.Bool || s.Model {
			return false
		}
	}
	return true
}

func (c certain) totalOp(e *core.Op) bool {
	sc := c.sc
	if !c.all(e.Args) {
		return false
	}
	switch e.Op {
	case core.OpNot, core.OpImplies, core.OpEquiv:
		return booleans(sc, e.Args)
	case core.OpEq, core.OpNe:
		a, b := sc.Expr(e.Args[0]), sc.Expr(e.Args[1])
		return a != nil && a == b && !a.Mixed()
	case core.OpBoolean, core.OpString:
		return true
	}
	return false
}

// totalCall handles the few operators that have a result for every argument of
// their shape.
func (c certain) totalCall(e *core.Call) bool {
	sc := c.sc
	if !e.Def.Native || !c.all(e.Args) {
		return false
	}
	want := shape.Int
	switch e.Def.Name {
	case "<", ">", "=<", "<=", ">=", "\\leq", "\\geq":
	case "Len":
		want = shape.Seq
	case "Append":
		s := sc.Expr(e.Args[0])
		return s != nil && s.Kind == shape.Seq && !s.Model
	case "Cardinality":
		want = shape.Set
	default:
		return false
	}
	for _, a := range e.Args {
		if s := sc.Expr(a); s == nil || s.Kind != want || s.Model {
			return false
		}
	}
	return true
}

// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/check/live"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Properties of behaviours become formulas over atoms: state predicates, and
// actions <A>_v and [A]_v. Definitions are expanded and quantifiers over
// constant sets are unrolled, so that no atom has a free name.

// Limits of a temporal formula.
const (
	// LiveDepthMax is how deeply definitions and quantifiers may be nested.
	LiveDepthMax = 200
	// LiveElementsMax is the maximum number of elements of a set over which a
	// temporal formula quantifies.
	LiveElementsMax = 10_000
)

// liveness has the model's properties of behaviours and their atoms.
type liveness struct {
	asked check.Live
	atoms []atom // by their numbers
}

// atom is a formula without temporal operators, with its number.
type atom struct {
	number int
	f      *formula
}

// liveBuilder translates temporal formulas.
type liveBuilder struct {
	b   *builder
	out *liveness
}

// unsupportedError is the reason why a formula cannot be decided.
type unsupportedError struct{ reason string }

func (e *unsupportedError) Error() string { return e.reason }

func unsupported(e core.Expr, format string, args ...any) error {
	return &unsupportedError{e.Span().String() + ": " + fmt.Sprintf(format, args...)}
}

// temporal is a property of behaviours, or the temporal part of a property.
type temporal struct {
	name  config.Name
	parts []core.Expr
}

// live translates the temporal properties that were found.
func (b *builder) live() {
	if len(b.m.temporal) == 0 {
		return
	}
	unchecked := func(name, reason string) {
		b.m.info.Unchecked = append(b.m.info.Unchecked, check.Unchecked{Property: name, Reason: reason})
	}
	if b.cfg.Symmetry.IsSet() || b.cfg.View.IsSet() {
		what := "SYMMETRY"
		if b.cfg.View.IsSet() {
			what = "VIEW"
		}
		for _, t := range b.m.temporal {
			unchecked(t.name.Text, "with "+what+" different behaviours are taken for one, and violations may be missed or made up; check it without")
		}
		return
	}
	l := &liveBuilder{b: b, out: &liveness{}}
	assume, err := l.conjunction(append(b.m.fairness[:len(b.m.fairness):len(b.m.fairness)], b.rest...))
	if err != nil {
		for _, t := range b.m.temporal {
			unchecked(t.name.Text, "what the specification assumes of behaviours cannot be translated: "+err.Error())
		}
		return
	}
	l.out.asked.Assume = assume
	for _, t := range b.m.temporal {
		for _, e := range t.parts {
			f, err := l.formula(e, 0)
			if err != nil {
				unchecked(t.name.Text, err.Error())
				break
			}
			l.out.asked.Properties = append(l.out.asked.Properties, check.LiveProperty{Name: t.name.Text, Formula: f})
			l.premises(t.name.Text, f, false)
		}
	}
	l.out.asked.Cut = len(b.cfg.Constraints)+len(b.cfg.ActionConstraints) > 0
	if len(l.out.asked.Properties) > 0 {
		b.m.live = l.out
	}
}

func (l *liveBuilder) conjunction(es []core.Expr) (*live.Formula, error) {
	fs := make([]*live.Formula, len(es))
	for i, e := range es {
		var err error
		if fs[i], err = l.formula(e, 0); err != nil {
			return nil, err
		}
	}
	return live.All(fs...), nil
}

// formula translates a temporal formula without free names.
func (l *liveBuilder) formula(e core.Expr, depth int) (*live.Formula, error) {
	if depth > LiveDepthMax {
		return nil, unsupported(e, "the formula is nested too deeply")
	}
	if l.b.p.Facts(e).Level <= core.StateLevel {
		return l.atom(live.StateAtom, e), nil
	}
	list := func(es []core.Expr, join func(...*live.Formula) *live.Formula) (*live.Formula, error) {
		fs := make([]*live.Formula, len(es))
		for i, x := range es {
			var err error
			if fs[i], err = l.formula(x, depth+1); err != nil {
				return nil, err
			}
		}
		return join(fs...), nil
	}
	switch e := e.(type) {
	case *core.And:
		return list(e.List, live.All)
	case *core.Or:
		return list(e.List, live.Any)
	case *core.Call:
		if body := l.b.p.Open(e); body != nil {
			return l.formula(body, depth+1)
		}
	case *core.Quant:
		return l.quantifier(e, depth)
	case *core.Let:
		return l.let(e, depth)
	case *core.If:
		return l.choice(e, depth)
	case *core.Fair:
		return l.fair(e)
	case *core.Op:
		return l.operator(e, depth)
	}
	return nil, unsupported(e, "this temporal formula is not supported")
}

func (l *liveBuilder) operator(e *core.Op, depth int) (*live.Formula, error) {
	args := make([]*live.Formula, len(e.Args))
	for i, x := range e.Args {
		// [][A]_v and <><A>_v; a step alone is not a temporal formula of TLA.
		switch a := x.(type) {
		case *core.Box:
			if e.Op == core.OpAlways {
				args[i] = l.atom(live.BoxAtom, a)
				continue
			}
		case *core.Angle:
			if e.Op == core.OpEventually {
				args[i] = l.atom(live.AngleAtom, a)
				continue
			}
		}
		var err error
		if args[i], err = l.formula(x, depth+1); err != nil {
			return nil, err
		}
	}
	switch e.Op {
	case core.OpNot:
		return live.Negate(args[0]), nil
	case core.OpImplies:
		return live.Any(live.Negate(args[0]), args[1]), nil
	case core.OpEquiv:
		return live.Any(live.All(args[0], args[1]), live.All(live.Negate(args[0]), live.Negate(args[1]))), nil
	case core.OpAlways:
		return live.AlwaysOf(args[0]), nil
	case core.OpEventually:
		return live.EventuallyOf(args[0]), nil
	case core.OpLeadsTo:
		return live.LeadsTo(args[0], args[1]), nil
	}
	return nil, unsupported(e, "this operator is not supported in a formula about behaviours")
}

// choice translates IF, whose condition is evaluated in the first state.
func (l *liveBuilder) choice(e *core.If, depth int) (*live.Formula, error) {
	var fs [3]*live.Formula
	for i, x := range []core.Expr{e.Cond, e.Then, e.Else} {
		var err error
		if fs[i], err = l.formula(x, depth+1); err != nil {
			return nil, err
		}
	}
	return live.Any(live.All(fs[0], fs[1]), live.All(live.Negate(fs[0]), fs[2])), nil
}

// let moves a LET inward, to each part of its body.
func (l *liveBuilder) let(e *core.Let, depth int) (*live.Formula, error) {
	in := func(x core.Expr) core.Expr { return &core.Let{At: e.At, Defs: e.Defs, Body: x} }
	list := func(xs []core.Expr) []core.Expr {
		out := make([]core.Expr, len(xs))
		for i, x := range xs {
			switch x := x.(type) {
			case *core.Box:
				out[i] = &core.Box{At: x.At, Action: in(x.Action), Sub: in(x.Sub)}
			case *core.Angle:
				out[i] = &core.Angle{At: x.At, Action: in(x.Action), Sub: in(x.Sub)}
			default:
				out[i] = in(x)
			}
		}
		return out
	}
	var moved core.Expr
	switch x := e.Body.(type) {
	case *core.And:
		moved = &core.And{At: x.At, List: list(x.List)}
	case *core.Or:
		moved = &core.Or{At: x.At, List: list(x.List)}
	case *core.Op:
		moved = &core.Op{At: x.At, Op: x.Op, Args: list(x.Args)}
	case *core.Fair:
		f := &core.Fair{At: x.At, Strong: x.Strong, Sub: in(x.Sub), Action: in(x.Action)}
		if x.Possible != nil {
			f.Possible = in(x.Possible)
		}
		moved = f
	case *core.Let:
		moved = &core.Let{At: x.At, Defs: append(e.Defs[:len(e.Defs):len(e.Defs)], x.Defs...), Body: x.Body}
	case *core.Call:
		if body := l.b.p.Open(x); body != nil {
			moved = in(body)
		}
	}
	if moved == nil {
		return nil, unsupported(e, "a LET around this formula about behaviours is not supported; define its names outside")
	}
	return l.formula(moved, depth+1)
}

// quantifier unrolls a quantifier over constant sets.
func (l *liveBuilder) quantifier(e *core.Quant, depth int) (*live.Formula, error) {
	bodies := []core.Expr{e.Body}
	for i := len(e.Binds) - 1; i >= 0; i-- {
		bind := e.Binds[i]
		if bind.Set == nil || l.b.p.Facts(bind.Set).Level != core.ConstantLevel {
			return nil, unsupported(e, "a formula about behaviours may be quantified over constant sets only")
		}
		elems, err := l.elements(bind.Set)
		if err != nil {
			return nil, err
		}
		for range bind.Vars {
			if len(bodies)*len(elems) > LiveElementsMax {
				return nil, unsupported(e, "the formula is quantified over more than %d values", LiveElementsMax)
			}
		}
		if bind.Tuple {
			return nil, unsupported(e, "a pattern <<a, b>> in a quantifier of a formula about behaviours is not supported")
		}
		for _, v := range bind.Vars {
			var next []core.Expr
			for _, body := range bodies {
				for _, x := range elems {
					next = append(next, core.Substitute(body, map[*core.Local]core.Expr{v: &program.Literal{At: e.At, Val: x}}))
				}
			}
			bodies = next
		}
	}
	fs := make([]*live.Formula, len(bodies))
	for i, body := range bodies {
		var err error
		if fs[i], err = l.formula(body, depth+1); err != nil {
			return nil, err
		}
	}
	if e.Exists {
		return live.Any(fs...), nil
	}
	return live.All(fs...), nil
}

// elements returns the elements of a constant set.
func (l *liveBuilder) elements(set core.Expr) ([]value.Value, error) {
	v, err := l.b.m.Evaluate(set)
	if err != nil {
		return nil, unsupported(set, "%v", err)
	}
	if v.Kind() != value.KindSet || !value.IsFinite(v) {
		return nil, unsupported(set, "%s is not a finite set", value.Brief(v))
	}
	if value.Size(v) > LiveElementsMax {
		return nil, unsupported(set, "the formula is quantified over more than %d values", LiveElementsMax)
	}
	return v.Elems(), nil
}

// fair translates WF_v(A) and SF_v(A).
func (l *liveBuilder) fair(e *core.Fair) (*live.Formula, error) {
	angle := &core.Angle{At: e.At, Action: e.Action, Sub: e.Sub}
	taken := l.atom(live.AngleAtom, angle)
	possible := e.Possible
	if possible == nil {
		possible = angle
	}
	enabled := l.atom(live.StateAtom, &core.Op{At: e.At, Op: core.OpEnabled, Args: []core.Expr{possible}})
	if e.Strong {
		return live.Strong(enabled, taken), nil
	}
	return live.Weak(enabled, taken), nil
}

// atom returns the atom of e.
func (l *liveBuilder) atom(kind live.AtomKind, e core.Expr) *live.Formula {
	n := len(l.out.asked.Atoms)
	l.out.asked.Atoms = append(l.out.asked.Atoms, kind)
	l.out.atoms = append(l.out.atoms, atom{n, l.b.formula(e.Span().String(), e)})
	return live.AtomOf(n)
}

// Live returns the model's properties of behaviours.
func (m *Model) Live() *check.Live {
	if m.live == nil {
		return nil
	}
	return &m.live.asked
}

// asking is a worker's state for evaluating atoms.
type asking struct {
	cur, nxt    vector.Vector
	ends        []int32
	words, next []uint64 // of a packed worker
}

func (q *asking) prepare(m *Model) {
	if q.ends == nil {
		n := len(m.program.Spec.Variables)
		q.cur, q.nxt, q.ends = vector.New(n), vector.New(n), make([]int32, n)
	}
}

// Atom returns the value of an atom in a state or on a step.
func (w *worker) Atom(i int, s, t check.State) (bool, error) {
	a, q := w.m.live.atoms[i], &w.asking
	q.prepare(w.m)
	w.m.codec.Decode(s, q.cur, q.ends)
	if t == nil {
		return w.atom(a, q.cur, vector.Vector{})
	}
	w.m.codec.Decode(t, q.nxt, q.ends)
	return w.atom(a, q.cur, q.nxt)
}

func (w *worker) atom(a atom, cur, nxt vector.Vector) (holds bool, err error) {
	err = w.guard(a.f, cur, nxt, func() { holds = w.ev.Holds(a.f.id, cur, nxt) })
	var wrong *check.EvalError
	if errors.As(err, &wrong) {
		err = &check.AtomError{Atom: a.number, Err: wrong}
	}
	return holds, err
}

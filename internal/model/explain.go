// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/closure"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/model/tree"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// referenceEvaluator adapts the reference evaluator to a worker.
type referenceEvaluator struct {
	m *Model
	r *tree.Evaluator
}

func (e *referenceEvaluator) Init(nxt vector.Vector, found func(int) bool) {
	e.r.Initial(e.m.init.expr, nxt.Vals, func() bool { return found(-1) })
}

func (e *referenceEvaluator) Next(cur, nxt vector.Vector, found func(int) bool) {
	e.r.Steps(e.m.next.expr, e.m.actions.Index, cur.Vals, nxt.Vals, found)
}

func (e *referenceEvaluator) Holds(formula int, cur, nxt vector.Vector) bool {
	return e.Value(formula, cur, nxt).IsTrue()
}

func (e *referenceEvaluator) Value(formula int, cur, nxt vector.Vector) value.Value {
	return e.r.Value(e.m.formulas[formula].expr, tree.State{Cur: cur.Vals, Nxt: nxt.Vals})
}

// guard runs an evaluation of f (nil: an enumeration) and turns its error into
// an EvalError.
func (w *worker) guard(f *formula, cur, nxt vector.Vector, run func()) error {
	was := w.asked
	w.asked = cur.Vals
	err := value.Catch(run)
	switch err {
	case nil:
	case error(tlcget.ErrStopped):
		err = check.ErrStopped
	default:
		err = w.explain(f, cur, nxt, err)
	}
	w.asked = was
	return err
}

// explain finds the positions of an error by repeating the evaluation with the
// reference evaluator. For an algorithm, the evaluator knows the statement.
func (w *worker) explain(f *formula, cur, nxt vector.Vector, err error) error {
	if w.encoding.active && f == nil {
		return &check.EvalError{
			Message: "the value of " + w.m.program.Spec.Variables[w.encoding.variable].Name + " cannot be part of a state: " + err.Error(),
			Places:  []string{w.place(w.encoding.action)},
		}
	}
	if m, ok := w.ev.(*closure.Machine); ok && w.m.direct != nil && f == nil && !w.initial {
		return &check.EvalError{Message: err.Error(), Places: []string{m.Place().String()}}
	}
	r := tree.New(w.m.program, w.run.Mute())
	e := &referenceEvaluator{m: w.m, r: r}
	again := value.Catch(func() {
		switch {
		case f != nil:
			e.Value(f.id, cur, nxt)
		case w.initial:
			e.Init(vector.New(len(w.nxt.Vals)), func(int) bool { return true })
		default:
			e.Next(w.cur, vector.New(len(w.nxt.Vals)), func(int) bool { return true })
		}
	})
	if again == error(tlcget.ErrStopped) {
		return check.ErrStopped
	}
	if again == nil { // the error depends on chance, or on what TLCSet keeps
		out := &check.EvalError{Message: err.Error()}
		if f != nil {
			out.Places = []string{f.expr.Span().String()}
		}
		return out
	}
	return &check.EvalError{Message: again.Error() + r.Advice(again.Error()), Places: r.Places()}
}

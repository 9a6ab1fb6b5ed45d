package model

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// placesMax is how many places an evaluation error lists.
const placesMax = 30

// referenceEvaluator is the reference evaluator as a worker uses it.
type referenceEvaluator struct {
	m *Model
	r *reference
}

func (e *referenceEvaluator) init(nxt vector.Vector, found func(int) bool) {
	e.r.begin()
	e.r.next(e.m.init.expr, nil, state{nxt: nxt.Vals, primed: true}, func() bool { return found(-1) })
}

func (e *referenceEvaluator) next(cur, nxt vector.Vector, found func(int) bool) {
	e.r.begin()
	e.r.actions, e.r.action = e.m.actions.Index, -1
	e.r.next(e.m.next.expr, nil, state{cur: cur.Vals, nxt: nxt.Vals}, func() bool { return found(e.r.action) })
	e.r.actions = nil
}

func (e *referenceEvaluator) holds(f *formula, cur, nxt vector.Vector) bool {
	return e.value(f, cur, nxt).IsTrue()
}

func (e *referenceEvaluator) value(f *formula, cur, nxt vector.Vector) value.Value {
	at, depth := e.r.at, e.r.depth
	e.r.begin()
	v := e.r.eval(f.expr, nil, state{cur: cur.Vals, nxt: nxt.Vals})
	e.r.at, e.r.depth = at, depth
	return v
}

// begin forgets where an earlier evaluation stopped.
func (r *reference) begin() { r.at, r.depth = nil, 0 }

// guard runs what evaluates f (nil: an enumeration) and makes an EvalError of
// an error.
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

// explain finds the places of an error by evaluating the same thing again with
// the reference evaluator. An algorithm knows at which statement it is.
func (w *worker) explain(f *formula, cur, nxt vector.Vector, err error) error {
	if w.encoding.active && f == nil {
		return &check.EvalError{
			Message: "the value of " + w.m.program.Spec.Variables[w.encoding.variable].Name + " cannot be part of a state: " + err.Error(),
			Places:  []string{w.place(w.encoding.action)},
		}
	}
	if m, ok := w.ev.(*machine); ok && w.m.direct != nil && f == nil && !w.initial {
		return &check.EvalError{Message: err.Error(), Places: []string{m.place.String()}}
	}
	r := newReference(w.m.program, w.run.Mute())
	e := &referenceEvaluator{m: w.m, r: r}
	again := value.Catch(func() {
		switch {
		case f != nil:
			e.value(f, cur, nxt)
		case w.initial:
			e.init(vector.New(len(w.nxt.Vals)), func(int) bool { return true })
		default:
			e.next(w.cur, vector.New(len(w.nxt.Vals)), func(int) bool { return true })
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
	return &check.EvalError{Message: again.Error() + r.partAssigned(again.Error()), Places: r.places()}
}

// places is where the evaluator is: the innermost expression that has a place,
// then the use of each definition that it is inside of.
func (r *reference) places() []string {
	var out []string
	add := func(s string) {
		if len(out) < placesMax && (len(out) == 0 || out[len(out)-1] != s) {
			out = append(out, s)
		}
	}
	name := ""
	wanted := true // the next expression is listed
	for p := r.at; p != nil; p = p.up {
		switch {
		case p.def != nil:
			name, wanted = p.def.Name, true
		case wanted && p.expr.Span().IsValid():
			s := p.expr.Span().String()
			if name != "" {
				s += " (use of " + name + ")"
			}
			add(s)
			wanted = false
		}
	}
	return out
}

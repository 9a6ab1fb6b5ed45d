// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/model/tree"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// evaluator is the interface of a worker to an evaluator. Errors of the
// specification unwind as *value.Error.
type evaluator interface {
	// init calls found for every assignment to nxt that satisfies the initial
	// predicate. It stops when found returns false.
	Init(nxt vector.Vector, found func(action int) bool)
	// next does the same for the next-state relation, from cur.
	Next(cur, nxt vector.Vector, found func(action int) bool)
	// holds evaluates a formula of the model. nxt is nil for a predicate of one
	// state; cur is nil too for a constant.
	Holds(formula int, cur, nxt vector.Vector) bool
	Value(formula int, cur, nxt vector.Vector) value.Value
}

// worker enumerates states for one goroutine.
type worker struct {
	m   *Model
	run *tlcget.Run
	ev  evaluator

	// The state that is being expanded, its encoding and the end of each
	// variable in it, and the candidate.
	cur, nxt vector.Vector
	from     []byte
	ends     []int32
	initial  bool // there is no state being expanded
	// seen is the candidate with all value numbers.
	seen vector.Vector

	buf, full []byte
	viewed    []byte // the key of a candidate, where it is the value of the view
	encoding  encoding
	visit     check.Visit
	failed    error // what visit returned
	found     func(action int) bool
	asking    asking
	asked     []value.Value // the state that is being asked about, nil for none
	unmet     []int         // antecedents that were true in no state yet
}

// NewWorker returns an evaluator for one goroutine.
func (m *Model) NewWorker() check.Worker {
	if m.packed != nil && (m.view != nil || len(m.symmetry) > 0) {
		return m.newPackedKeyedWorker()
	}
	if m.packed != nil {
		return m.newPackedWorker()
	}
	w := m.newWorker()
	if m.view != nil || len(m.symmetry) > 0 {
		return &keyedWorker{worker: w, keys: m.newKeys()}
	}
	return w
}

func (m *Model) newWorker() *worker {
	n := len(m.program.Spec.Variables)
	w := &worker{
		m: m, run: tlcget.New(m.common, m.workers.Add(1)),
		cur: vector.New(n), nxt: vector.New(n), ends: make([]int32, n),
	}
	w.seen = vector.Vector{Vals: w.nxt.Vals, IDs: make([]uint32, n)}
	w.found = w.candidate
	for i := range m.antecedents {
		if m.met == nil || !m.met[i] {
			w.unmet = append(w.unmet, i)
		}
	}
	if m.compiled != nil {
		w.ev = m.compiled.NewMachine(w.run)
	} else {
		w.ev = &referenceEvaluator{m: m, r: tree.New(m.program, w.run)}
	}
	return w
}

// Capabilities returns the features that a worker which evaluates values
// supports.
func (w *worker) Capabilities() check.Capabilities {
	return check.Capabilities{Further: w, AtLevel: w.AtLevel, AskPath: w.AskPath, EndWhen: w.EndWhen, Atom: w.Atom}
}

// EndWhen makes evaluations end when stop returns true.
func (w *worker) EndWhen(stop func() bool) { w.run.Stop = stop }

// Assumptions evaluates the assumptions and returns those that are false.
func (w *worker) Assumptions() ([]string, error) {
	var broken []string
	w.m.common.Begin(w.run)
	w.run.Setup = true
	defer func() { w.run.Setup = false }()
	for _, f := range w.m.assumes {
		holds := false
		if err := w.guard(f, vector.Vector{}, vector.Vector{}, func() { holds = w.ev.Holds(f.id, vector.Vector{}, vector.Vector{}) }); err != nil {
			return broken, err
		}
		if !holds {
			broken = append(broken, f.name)
		}
	}
	return broken, nil
}

// Init calls visit for every initial state.
func (w *worker) Init(visit check.Visit) error {
	if w.m.init == nil {
		return nil
	}
	w.initial = true
	w.m.common.Join(w.run)
	w.run.Setup = true
	defer func() { w.run.Setup = false }()
	clear(w.nxt.Vals)
	clear(w.nxt.IDs)
	return w.enumerate(visit, func() { w.ev.Init(w.nxt, w.found) })
}

// Next calls visit for every successor of s.
func (w *worker) Next(s check.State, visit check.Visit) error {
	if w.m.next == nil {
		return nil
	}
	if w.from == nil {
		w.m.common.Join(w.run)
	}
	w.initial = false
	w.from = s
	w.m.codec.Decode(s, w.cur, w.ends)
	clear(w.nxt.Vals)
	clear(w.nxt.IDs)
	return w.enumerate(visit, func() { w.ev.Next(w.cur, w.nxt, w.found) })
}

func (w *worker) enumerate(visit check.Visit, run func()) error {
	w.visit, w.failed, w.encoding = visit, nil, encoding{}
	if err := w.guard(nil, vector.Vector{}, vector.Vector{}, run); err != nil {
		return err
	}
	return w.failed
}

// candidate encodes the vector that an enumeration completed and visits it.
func (w *worker) candidate(action int) bool {
	buf, start := w.buf[:0], int32(0)
	for i := range w.nxt.Vals {
		v := w.nxt.Vals[i]
		if !w.initial {
			end := w.ends[i]
			if value.Same(v, w.cur.Vals[i]) {
				buf = append(buf, w.from[start:end]...)
				w.seen.IDs[i] = w.cur.IDs[i]
				start = end
				continue
			}
			start = end
		}
		if id := w.nxt.IDs[i]; id != 0 {
			buf = binary.AppendUvarint(buf, uint64(id))
			w.seen.IDs[i] = id
			continue
		}
		if v.IsUndefined() {
			w.failed = w.incomplete(action)
			return false
		}
		w.encoding = encoding{true, i, action}
		buf, w.seen.IDs[i], w.full = w.m.codec.Append(buf, i, v, w.full)
		w.encoding.active = false
	}
	w.buf = buf
	w.run.Level++ // what is asked in visit is asked of the candidate
	w.run.Action = action + 2
	err := w.visit(action, buf)
	w.run.Level--
	w.run.Action = 0
	if err != nil {
		w.failed = err
		return false
	}
	return true
}

// encoding returns the variable whose value is being encoded, if there is one,
// and the action that assigned it.
type encoding struct {
	active           bool
	variable, action int
}

// place returns the source position of an action or of the initial predicate.
func (w *worker) place(action int) string {
	if w.initial {
		return w.m.init.expr.Span().String()
	}
	return w.m.info.Actions[action].Place
}

// incomplete returns the error for a candidate in which variables have no
// value.
func (w *worker) incomplete(action int) error {
	missing := ""
	for i, v := range w.nxt.Vals {
		if v.IsUndefined() {
			if missing != "" {
				missing += ", "
			}
			missing += w.m.program.Spec.Variables[i].Name
		}
	}
	if w.initial {
		return &check.EvalError{
			Message: "the initial predicate does not determine the value of " + missing,
			Places:  []string{w.place(action)},
		}
	}
	return &check.EvalError{
		Message: "the action " + w.m.info.Actions[action].Name + " does not determine the next value of " + missing,
		Places:  []string{w.place(action)},
	}
}

// InModel evaluates the constraints.
func (w *worker) InModel() (inside bool, err error) {
	inside = true
	for _, f := range w.m.constraints {
		if err := w.guard(f, w.seen, vector.Vector{}, func() { inside = w.ev.Holds(f.id, w.seen, vector.Vector{}) }); err != nil || !inside {
			return false, err
		}
	}
	if w.initial {
		return true, nil
	}
	for _, f := range w.m.actionConstraints {
		if err := w.guard(f, w.cur, w.seen, func() { inside = w.ev.Holds(f.id, w.cur, w.seen) }); err != nil || !inside {
			return false, err
		}
	}
	return true, nil
}

// BrokenInvariant returns the index of the first invariant that is false in
// the candidate, or -1.
func (w *worker) BrokenInvariant() (int, error) {
	if len(w.unmet) > 0 {
		w.meet()
	}
	return w.BrokenInvariantAfter(-1)
}

// BrokenInvariantAfter is BrokenInvariant for the invariants after a given one.
func (w *worker) BrokenInvariantAfter(last int) (int, error) {
	for i := last + 1; i < len(w.m.invariants); i++ {
		f := w.m.invariants[i]
		holds := false
		if err := w.guard(f, w.seen, vector.Vector{}, func() { holds = w.ev.Holds(f.id, w.seen, vector.Vector{}) }); err != nil {
			return i, err
		}
		if !holds {
			return i, nil
		}
	}
	return -1, nil
}

// BrokenStep returns the index of the first property that the step to the
// candidate breaks, or -1.
func (w *worker) BrokenStep() (int, error) { return w.BrokenStepAfter(-1) }

// BrokenStepAfter is BrokenStep for the properties after a given one.
func (w *worker) BrokenStepAfter(last int) (int, error) {
	for i := last + 1; i < len(w.m.steps); i++ {
		s := w.m.steps[i]
		f, cur, nxt := s.next, w.cur, w.seen
		if w.initial {
			f, cur, nxt = s.init, w.seen, vector.Vector{}
		}
		if f == nil {
			continue
		}
		holds := false
		if err := w.guard(f, cur, nxt, func() { holds = w.ev.Holds(f.id, cur, nxt) }); err != nil {
			return i, err
		}
		if !holds {
			return i, nil
		}
	}
	return -1, nil
}

// AtLevel sets the number of states on the path to the next expanded state, for
// TLCGet("level"). The path of the candidate has one more.
func (w *worker) AtLevel(level int) { w.run.Level = level }

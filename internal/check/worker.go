// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/check/fpset"
)

// worker explores chunks of a segment. Its finds stay in its arena until the
// segment is joined.
type worker struct {
	s  *search
	id int
	// adder puts the fingerprints that the worker finds into the set.
	adder *fpset.Adder
	ev    Worker
	// key and atLevel are capabilities of ev; nil if it does not have them.
	key     func() (State, error)
	atLevel func(states int)
	// all is ev's or judge's method that names all broken properties, if the
	// search continues after violations.
	all   Further
	visit Visit
	// judge answers questions about candidates in batches; nil if they are not
	// gathered.
	judge Judge
	batch batch
	later Visit

	arena      arena
	candidates []candidate
	counts     []int64 // of the current chunk, [0] for initial states
	diff       []byte
	mine       []*chunk // of this segment, in order
	// taken are the fingerprints that the worker took from chunks with these
	// marks, which come after its own and had found them first.
	taken [256][]uint64
	lost  losses // of the chunk that is settled
	// The output of settle for the remaining candidates: records for the
	// lineage, and states preceded by their lengths, for each chunk together.
	records, states []byte

	// The state being expanded.
	mark      fpset.Mark // of the chunk
	expanding bool       // false while there is none: assumptions, initial states
	number    uint32
	parent    State
	visited   int64  // its successors so far
	total     int64  // successors in the whole run
	fresh     int64  // states added in this segment
	passed    int64  // states expanded in this segment
	fp        uint64 // of the candidate, if it was new
	found     *violation
	fatal     error

	// The violations in the current chunk after which the search continued, one
	// per property.
	notes []*violation
	noted []bool

	// For progress; written by the worker, read by others.
	generated atomic.Int64 // in the whole run
	added     atomic.Int64 // in the segment
	expanded  atomic.Int64 // in the segment
	_         [64]byte
}

// candidate is a state that was new when it was found.
type candidate struct {
	fp     uint64
	at     ref    // its bytes, then their difference from the parent's
	parent uint32 // 0 for an initial state
	action int32
}

// candidateBytes is the size of a candidate.
const candidateBytes = 24

// errFound ends an enumeration: there is a violation. It does not leave the
// package.
var errFound = errors.New("check: violation found")

// start makes the evaluator, in the goroutine that needs it first.
func (w *worker) start() {
	if w.ev != nil {
		return
	}
	w.ev = w.s.m.NewWorker()
	can := w.ev.Capabilities()
	w.key, w.atLevel = can.Key, can.AtLevel
	if w.s.o.Continue {
		w.all = can.Further
		w.noted = make([]bool, w.s.report.properties())
	}
	if can.EndWhen != nil {
		can.EndWhen(func() bool { return w.s.ending.stopped() })
	}
	if can.AskPath != nil {
		can.AskPath(w.path)
	}
	n := len(w.s.info.Actions) + 1
	w.counts = make([]int64, n+16)[8 : 8+n : 8+n] // in no cache line that others write
	w.visit = w.candidate
	if can.Later != nil && w.key == nil {
		judge, constrained := can.Later()
		w.judge, w.later, w.batch = judge, w.gather, newBatch(constrained)
	}
}

// path is the path to the state being expanded.
func (w *worker) path() ([]State, error) {
	if !w.expanding {
		return nil, nil
	}
	steps, err := w.s.lineage.path(w.number)
	if err != nil {
		w.fail(err)
		return nil, err
	}
	states := make([]State, len(steps))
	for i, s := range steps {
		states[i] = s.State
	}
	return states, nil
}

// begin prepares for a segment.
func (w *worker) begin() {
	w.arena.reset()
	w.candidates, w.mine = w.candidates[:0], w.mine[:0]
	if w.s.marks.recorded() {
		for m := range w.taken {
			w.taken[m] = w.taken[m][:0]
		}
	}
	w.records, w.states = w.records[:0], w.states[:0]
	w.fresh, w.passed = 0, 0
}

// initial enumerates the initial states as the only chunk.
func (w *worker) initial() *violation {
	w.mark = w.s.marks.of(0)
	err := w.ev.Init(w.visit)
	w.total = w.visited
	w.finish(w.s.segment.chunk(0), 0, 0)
	switch {
	case err == nil || errors.Is(err, ErrStopped):
		return nil
	case errors.Is(err, errFound):
		return w.found
	}
	return w.failed(err)
}

// fail ends the search because of an error that is not the model's.
func (w *worker) fail(err error) {
	w.fatal = err
	w.s.ending.interrupt(Interrupted, "a worker failed")
}

// failed turns an error of the model into a violation; any other error ends the
// run.
func (w *worker) failed(err error) *violation {
	if errors.Is(err, ErrStopped) {
		return nil
	}
	var e *EvalError
	if !errors.As(err, &e) {
		w.fail(err)
		return nil
	}
	return &violation{verdict: EvalFailed, index: -1, err: e, fromState: w.expanding, parent: w.number, action: rootAction}
}

// explore takes chunks until none is left that is needed.
func (w *worker) explore() {
	w.start()
	s := w.s
	if w.atLevel != nil {
		w.atLevel(s.level.depth())
	}
	for {
		k, ok := s.segment.take()
		if !ok || s.ending.stopped() {
			return
		}
		w.chunk(k)
		s.segment.fill(w.holds())
	}
}

// holds is the number of bytes that the worker's finds of this segment take.
func (w *worker) holds() int64 { return w.arena.used + int64(len(w.candidates))*candidateBytes }

// chunk expands the states of chunk k.
func (w *worker) chunk(k int64) {
	s := w.s
	c := s.segment.chunk(k)
	w.mark = s.marks.of(k)
	from, data := len(w.candidates), c.data
	v, whole := (*violation)(nil), true
	w.expanding, w.number, w.batch.parents = true, c.number-1, w.batch.parents[:0]
	for i := range c.size {
		if !s.segment.needs(k) || s.ending.stopped() {
			break
		}
		w.parent, data = cut(data)
		w.number = c.number + uint32(i)
		if v, whole = w.expand(); v != nil || !whole {
			break
		}
	}
	if v == nil && whole {
		v, whole = w.outcome(w.examine())
	}
	// The worker stopped at the state whose number it has.
	expanded := int(w.number + 1 - c.number)
	if !whole {
		expanded--
	}
	if v != nil {
		c.violation = v
		s.segment.endWith(k)
	}
	w.finish(c, from, expanded)
	s.checkLimit()
}

// checkLimit ends the search if the workers together found too many states.
func (s *search) checkLimit() {
	if s.store.dropped() || s.ending.keepsSegments() {
		return // states that seem new may be old, or the segment must be finished: join decides
	}
	if s.progress.found(s.workers) > s.o.StatesMax {
		s.ending.interrupt(Incomplete, limitReached)
	}
}

const limitReached = "the limit of distinct states was reached"

// finish fills in the chunk and clears the counters.
func (w *worker) finish(c *chunk, from, expanded int) {
	c.done, c.worker, c.mark, c.from, c.to, c.expanded = true, w.id, w.mark, from, len(w.candidates), expanded
	c.counts = append(c.counts[:0], w.counts...)
	if len(w.notes) > 0 {
		c.notes, w.notes = w.notes, nil
		clear(w.noted)
	}
	clear(w.counts)
	w.mine = append(w.mine, c)
	w.publish()
	w.expanding, w.parent = false, nil
}

// expand visits the successors of the current state. It returns a violation
// among them, and whether the enumeration ran to its end or to that violation.
func (w *worker) expand() (v *violation, whole bool) {
	w.visited = 0
	visit := w.visit
	if w.judge != nil {
		w.batch.parents = append(w.batch.parents, w.parent)
		visit = w.later
	}
	err := w.ev.Next(w.parent, visit)
	w.total += w.visited
	w.passed++
	if w.judge == nil {
		w.publish()
	}
	if err == nil && w.visited > 0 {
		return nil, true
	}
	if !errors.Is(err, errFound) { // the gathered candidates come first
		if first := w.examine(); first != nil {
			err = first
		}
	}
	if err == nil {
		if w.visited == 0 && w.s.info.Deadlock && !w.s.o.IgnoreDeadlock {
			v := &violation{verdict: Deadlock, asked: Deadlock, index: -1, fromState: true, parent: w.number, action: rootAction}
			if w.all == nil {
				return v, true
			}
			w.note(v)
		}
		return nil, true
	}
	return w.outcome(err)
}

// outcome interprets an error in an enumeration: it returns the violation, and
// whether the enumeration ran to its end or to the violation.
func (w *worker) outcome(err error) (v *violation, whole bool) {
	switch {
	case err == nil:
		return nil, true
	case errors.Is(err, errFound):
		return w.found, true
	case errors.Is(err, ErrStopped):
		return nil, false
	}
	v = w.failed(err)
	return v, v != nil
}

// publish makes the worker's counts visible to others.
func (w *worker) publish() {
	w.generated.Store(w.total)
	w.added.Store(w.fresh)
	w.expanded.Store(w.passed)
}

// stopPollEvery is the number of successors of one state visited between two
// checks of whether the search is over.
const stopPollEvery = 256

// candidate is called for every state that the model computes.
func (w *worker) candidate(action int, state State) error {
	if !w.expanding && w.s.segment.tooMuch(w.holds()) {
		w.finish(w.s.segment.chunk(0), 0, 0)
		if err := w.s.flush(); err != nil {
			return ErrStopped
		}
		w.mark = w.s.marks.of(0)
	}
	w.counts[action+1]++
	w.visited++
	if w.visited%stopPollEvery == 0 {
		if !w.expanding {
			w.total = w.visited
			w.publish()
		}
		if w.s.ending.stopped() {
			return ErrStopped
		}
	}
	inside, err := w.ev.InModel()
	if err != nil {
		return w.broken(action, state, EvalFailed, -1, err)
	}
	fresh := true
	if inside {
		if fresh, err = w.claim(action, state); err != nil {
			return err
		}
	}
	if fresh && len(w.s.info.Invariants) > 0 {
		if i, err := w.ev.BrokenInvariant(); (err != nil || i >= 0) && !w.known(inside) {
			if err := w.answer(action, state, InvariantViolated, i, err); err != nil {
				return err
			}
		}
	}
	if len(w.s.info.Steps) > 0 {
		if i, err := w.ev.BrokenStep(); err != nil || i >= 0 {
			return w.answer(action, state, StepViolated, i, err)
		}
	}
	return nil
}

// answer handles a property that is broken or has no value: the search ends
// there, or it records every broken property and continues.
func (w *worker) answer(action int, state State, verdict Verdict, index int, err error) error {
	for w.all != nil && err == nil && index >= 0 {
		w.note(&violation{verdict: verdict, asked: verdict, index: index,
			fromState: w.expanding, parent: w.number, action: action, last: state})
		if verdict == InvariantViolated {
			index, err = w.all.BrokenInvariantAfter(index)
		} else {
			index, err = w.all.BrokenStepAfter(index)
		}
	}
	if err == nil && index < 0 {
		return nil
	}
	return w.broken(action, state, verdict, index, err)
}

// note records the first violation of each property in the chunk, unless an
// earlier level has one.
func (w *worker) note(v *violation) {
	n := w.s.report.property(v)
	if w.s.report.knows(n) || w.noted[n] {
		return
	}
	w.noted[n] = true
	if v.last != nil {
		v.last = append(State{}, v.last...)
	}
	w.notes = append(w.notes, v)
}

// claim records that the state was reached from the current one, unless it was
// reached before, and reports whether it was new.
func (w *worker) claim(action int, state State) (bool, error) {
	id := state
	if w.key != nil {
		k, err := w.key()
		if err != nil {
			return false, w.broken(action, state, EvalFailed, -1, err)
		}
		id = k
	}
	fp := fpset.Hash(id)
	return w.add(fp, action, state)
}

// add is claim for a state whose fingerprint is known.
func (w *worker) add(fp uint64, action int, state State) (bool, error) {
	switch o, was := w.adder.Add(fp, w.mark); {
	case o == fpset.Present:
		return false, nil
	case o == fpset.Lowered && w.s.marks.recorded():
		w.taken[was] = append(w.taken[was], fp)
	case o == fpset.Added:
		w.fresh++
		if w.s.progress.known()+w.fresh > w.s.o.StatesMax && !w.s.store.dropped() && !w.s.ending.keepsSegments() {
			w.s.ending.interrupt(Incomplete, limitReached)
			return false, ErrStopped
		}
	}
	if len(state) > StateBytesMax {
		return false, w.broken(action, state, EvalFailed, -1, &EvalError{
			Message: fmt.Sprintf("the state takes %d bytes, more than the %d that are allowed", len(state), StateBytesMax)})
	}
	w.fp = fp
	w.diff = difference(w.diff[:0], w.parent, state)
	parent := uint32(0)
	if w.expanding {
		parent = w.number
	}
	w.candidates = append(w.candidates, candidate{fp: fp, at: w.arena.put(state, w.diff), parent: parent, action: int32(action)})
	return true, nil
}

// broken records a violation by the candidate, or an error in evaluating it,
// and returns what ends the enumeration.
func (w *worker) broken(action int, state State, verdict Verdict, index int, err error) error {
	v := &violation{verdict: verdict}
	if err != nil {
		if v = w.failed(err); v == nil {
			return ErrStopped
		}
	}
	v.asked, v.index = verdict, index
	v.fromState, v.parent = w.expanding, w.number
	v.action, v.last = action, append(State{}, state...)
	w.found = v
	return errFound
}

// known reports whether the candidate, which seemed to be new, is on disk. An
// invariant that it breaks was dealt with when it was found.
func (w *worker) known(inside bool) bool {
	if !inside || !w.s.store.dropped() {
		return false
	}
	known, err := w.s.store.has(w.fp)
	if err != nil {
		w.fail(err)
	}
	return known
}

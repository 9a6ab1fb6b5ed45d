package check

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/check/fpset"
)

// worker explores chunks of the frontier. What it found in a level stays in
// its arena until the level after the next begins.
type worker struct {
	s  *search
	id int
	ev Worker
	// key is ev where the model tells states apart by less than their bytes.
	key KeyWorker
	// all is ev where the search goes on after violations.
	all   AllWorker
	visit Visit

	arenas     [2]arena
	generation int
	candidates []candidate
	counts     []int64 // of the current chunk, [0] for initial states
	diff       []byte

	// The state that is being expanded.
	expanding bool // false while there is none: assumptions, initial states
	number    uint32
	parent    State
	visited   int64 // its successors so far
	fresh     int64 // states added in this level
	found     *violation
	fatal     error

	// What the search went on after in the current chunk, each property once.
	notes []*violation
	noted []bool

	// For progress; written by the worker, read by others.
	generated atomic.Int64 // in the whole run
	added     atomic.Int64 // in the level
	expanded  atomic.Int64 // in the level
	_         [64]byte
}

// candidate is a state that was new when it was found.
type candidate struct {
	fp     uint64
	at     ref    // its bytes, then their difference from the parent's
	claim  uint32 // the parent's number + 1, 0 for an initial state
	action int32
}

// errFound ends an enumeration: there is a violation. It does not leave the
// package.
var errFound = errors.New("check: violation found")

// start makes the evaluator, in the goroutine that first needs it.
func (w *worker) start() {
	if w.ev != nil {
		return
	}
	w.ev = w.s.m.NewWorker()
	if k, ok := w.ev.(KeyWorker); ok {
		w.key = k
	}
	if w.s.o.Continue {
		w.all = w.ev.(AllWorker) // Run has asked
		w.noted = make([]bool, w.s.properties())
	}
	if e, ok := w.ev.(Endable); ok {
		e.EndWhen(func() bool { return w.s.stopped.Load() != nil })
	}
	w.counts = make([]int64, len(w.s.info.Actions)+1)
	w.visit = w.candidate
}

// begin prepares for a level.
func (w *worker) begin(generation int) {
	w.generation = generation
	w.arenas[generation].reset()
	w.candidates = w.candidates[:0]
	w.fresh = 0
}

// initial enumerates the initial states as the level's only chunk.
func (w *worker) initial() *violation {
	err := w.ev.Init(w.visit)
	w.generated.Store(w.visited)
	w.finish(&w.s.chunks[0], 0, 0)
	switch {
	case err == nil || errors.Is(err, ErrStopped):
		return nil
	case errors.Is(err, errFound):
		return w.found
	}
	return w.failed(err)
}

// failed is the violation that an error of the model is; another error ends
// the run.
func (w *worker) failed(err error) *violation {
	if errors.Is(err, ErrStopped) {
		return nil
	}
	var e *EvalError
	if !errors.As(err, &e) {
		w.fatal = err
		w.s.interrupt(Interrupted, "a worker failed")
		return nil
	}
	return &violation{verdict: EvalFailed, index: -1, err: e, fromState: w.expanding, parent: w.number, action: rootAction}
}

// explore takes chunks until there are none that anybody needs.
func (w *worker) explore() {
	w.start()
	s := w.s
	if l, ok := w.ev.(LevelWorker); ok {
		l.AtLevel(s.depth)
	}
	for {
		k := s.taken.Add(1) - 1
		if k >= int64(len(s.chunks)) || k > s.stopAfter.Load() || s.stopped.Load() != nil {
			return
		}
		w.chunk(k)
	}
}

// chunk expands the states of chunk k.
func (w *worker) chunk(k int64) {
	s := w.s
	c := &s.chunks[k]
	from, expanded := len(w.candidates), 0
	low := int(k) * s.chunkSize
	for i := low; i < min(low+s.chunkSize, len(s.frontier)); i++ {
		if k > s.stopAfter.Load() || s.stopped.Load() != nil {
			break
		}
		w.expanding, w.number, w.parent = true, s.first+uint32(i), s.state(s.frontier[i])
		v, whole := w.expand()
		if !whole {
			break
		}
		expanded++
		w.expanded.Store(w.expanded.Load() + 1)
		if v != nil {
			c.violation = v
			s.lowerStop(k)
			break
		}
	}
	w.finish(c, from, expanded)
	s.checkLimit()
}

// checkLimit ends the search when the workers together found too many states.
func (s *search) checkLimit() {
	n := s.seen.Load()
	for _, w := range s.workers {
		n += w.added.Load()
	}
	if n > s.o.StatesMax {
		s.interrupt(Incomplete, limitReached)
	}
}

const limitReached = "the limit of distinct states was reached"

// lowerStop makes k the last chunk that is needed, if it is not yet.
func (s *search) lowerStop(k int64) {
	for {
		was := s.stopAfter.Load()
		if k >= was || s.stopAfter.CompareAndSwap(was, k) {
			return
		}
	}
}

// finish fills in the chunk and clears the counters.
func (w *worker) finish(c *chunk, from, expanded int) {
	c.done, c.worker, c.from, c.to, c.expanded = true, w.id, from, len(w.candidates), expanded
	c.counts = append([]int64(nil), w.counts...)
	if len(w.notes) > 0 {
		c.notes, w.notes = w.notes, nil
		clear(w.noted)
	}
	clear(w.counts)
	w.expanding, w.parent = false, nil
}

// expand visits the successors of the current state. It returns what is wrong
// with them, and whether the enumeration ran to its end or to that.
func (w *worker) expand() (v *violation, whole bool) {
	w.visited = 0
	err := w.ev.Next(w.parent, w.visit)
	w.generated.Add(w.visited)
	w.added.Store(w.fresh)
	switch {
	case err == nil:
		if w.visited == 0 && w.s.info.Deadlock && !w.s.o.IgnoreDeadlock {
			v := &violation{verdict: Deadlock, asked: Deadlock, index: -1, fromState: true, parent: w.number, action: rootAction}
			if w.all == nil {
				return v, true
			}
			w.note(v)
		}
		return nil, true
	case errors.Is(err, errFound):
		return w.found, true
	case errors.Is(err, ErrStopped):
		return nil, false
	}
	v = w.failed(err)
	return v, v != nil
}

// stopPollEvery is how many successors of one state are visited between two
// looks at whether the search is over.
const stopPollEvery = 256

// candidate is called for every state that the model computes.
func (w *worker) candidate(action int, state State) error {
	w.counts[action+1]++
	w.visited++
	if w.visited%stopPollEvery == 0 {
		if !w.expanding {
			w.generated.Store(w.visited)
			w.added.Store(w.fresh)
		}
		if w.s.stopped.Load() != nil {
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
		if i, err := w.ev.BrokenInvariant(); err != nil || i >= 0 {
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

// answer deals with a property that is broken, or has no value: the search ends
// there, or it notes every property that is broken and goes on.
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

// note keeps a violation that is the first of its property in the chunk, unless
// an earlier level has one.
func (w *worker) note(v *violation) {
	n := w.s.property(v)
	if w.s.known[n] || w.noted[n] {
		return
	}
	w.noted[n] = true
	if v.last != nil {
		v.last = append(State{}, v.last...)
	}
	w.notes = append(w.notes, v)
}

// claim makes the state one that was reached from the current one, unless it
// was reached before, and says whether it did.
func (w *worker) claim(action int, state State) (bool, error) {
	id := state
	if w.key != nil {
		k, err := w.key.Key()
		if err != nil {
			return false, w.broken(action, state, EvalFailed, -1, err)
		}
		id = k
	}
	claim := uint32(0)
	if w.expanding {
		claim = w.number + 1
	}
	fp := fpset.Hash(id)
	switch w.s.set.Add(fp, claim) {
	case fpset.Present:
		return false, nil
	case fpset.Lowered:
		w.s.lowered.Store(true)
	case fpset.Added:
		w.fresh++
		if w.s.seen.Load()+w.fresh > w.s.o.StatesMax {
			w.s.interrupt(Incomplete, limitReached)
			return false, ErrStopped
		}
	}
	if len(state) > StateBytesMax {
		return false, w.broken(action, state, EvalFailed, -1, &EvalError{
			Message: fmt.Sprintf("the state takes %d bytes, more than the %d that are allowed", len(state), StateBytesMax)})
	}
	w.diff = difference(w.diff[:0], w.parent, state)
	at := w.arenas[w.generation].put(state, w.diff)
	w.candidates = append(w.candidates, candidate{fp: fp, at: at, claim: claim, action: int32(action)})
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

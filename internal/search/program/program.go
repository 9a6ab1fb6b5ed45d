// SPDX-License-Identifier: Apache-2.0

// Package program runs a search in a separate process, with code that was made
// for one model (internal/model/pack.Source) and compiled.
//
// In: a Job on the standard input, and a directory with the checkpoint of a search.
// Out: Messages on the standard output: the progress of the search, and at last an
// Answer; and when it is time to check properties of behaviours, a PeriodicQuery,
// which the caller answers on the standard input. The program resumes the search with
// package check, so it finds what the checker finds in its own process. It promises
// nothing beyond that: if its code meets a state that it was not made for, it reports
// that and ends, and the caller resumes from the checkpoint without it. It ends when
// its standard input does, and leaves only checkpoints behind.
package program

import (
	"encoding/binary"
	"errors"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// Machine is the compiled code. Its methods are those of pack.Machine.
type Machine interface {
	Start(emit func(action int) bool)
	Run(cur []uint64) (whole bool)
	Words() []uint64
	Holds(i int, cur, nxt []uint64) (holds, ok bool)
}

// errStopped ends a search whose code stopped.
var errStopped = errors.New("program: the code met a state that it was not made for")

func (m *model) NewWorker() check.Worker {
	w := m.newWorker()
	if m.Key > 0 {
		return newKeyedWorker(w)
	}
	return w
}

func (m *model) newWorker() *worker {
	n := m.Words
	words := make([]uint64, 3*n+2*apart)[apart:]
	w := &worker{m: m, steps: m.machine(), tests: m.machine(), cur: words[:n:n], ors: words[n : 2*n : 2*n], ands: words[2*n : 3*n : 3*n],
		buf: make([]byte, 8*(n+2*apart))[8*apart : 8*apart : 8*(n+apart)]}
	for i := range w.ands {
		w.ands[i] = ^uint64(0)
	}
	for i := range m.job.Antecedents {
		if !m.met[i] {
			w.unmet = append(w.unmet, i)
		}
	}
	w.next = w.steps.Words()
	w.steps.Start(w.emit)
	return w
}

// apart is the number of words between what two workers write for every state: a
// cache line, over which processors would otherwise contend.
const apart = 8

// worker evaluates for one goroutine.
type worker struct {
	m            *model
	steps, tests Machine
	cur          []uint64
	next         []uint64 // the candidate
	visit        check.Visit
	err          error
	buf          []byte
	unmet        []int
	ors, ands    []uint64
	_            [apart]uint64
}

// Capabilities is what compiled code supports.
func (w *worker) Capabilities() check.Capabilities {
	return check.Capabilities{Further: w, Later: w.Later}
}

func (w *worker) Assumptions() ([]string, error) { return nil, nil }

// Init is not called: a checkpoint has all initial states.
func (w *worker) Init(check.Visit) error { return errStopped }

// load fills in words from the bytes of a state.
func (w *worker) load(words []uint64, s []byte) {
	last := len(words) - 1
	for i := range last {
		words[i] = binary.LittleEndian.Uint64(s[8*i:])
	}
	x := uint64(0)
	for i := len(s) - 1; i >= 8*last; i-- {
		x = x<<8 | uint64(s[i])
	}
	words[last] = x
}

func (w *worker) Next(s check.State, visit check.Visit) error {
	if len(s) != w.m.Bytes || s[0]&1 == 0 {
		return errStopped // it is not packed
	}
	w.load(w.cur, s)
	w.note(w.cur)
	w.visit, w.err = visit, nil
	whole := w.steps.Run(w.cur)
	switch {
	case w.err != nil:
		return w.err
	case !whole:
		return errStopped
	}
	return nil
}

// note adds the bits of a state to those that have occurred.
func (w *worker) note(words []uint64) {
	for i, x := range words {
		w.ors[i] |= x
		w.ands[i] &= x
	}
}

// emit visits a successor.
func (w *worker) emit(action int) bool {
	buf := w.buf[:8*len(w.next)]
	for i, x := range w.next {
		binary.LittleEndian.PutUint64(buf[8*i:], x)
	}
	w.err = w.visit(action, buf[:w.m.Bytes])
	return w.err == nil
}

// holds evaluates a predicate of the candidate, or of the step to it.
func (w *worker) holds(i int, step bool) (bool, error) {
	cur, nxt := w.next, []uint64(nil)
	if step {
		cur, nxt = w.cur, w.next
	}
	holds, ok := w.tests.Holds(i, cur, nxt)
	if !ok {
		return false, errStopped
	}
	return holds, nil
}

// InModel evaluates the constraints. A state outside is not expanded, but its
// bits count as having occurred.
func (w *worker) InModel() (bool, error) {
	inside, err := w.inModel()
	if !inside {
		w.note(w.next)
	}
	return inside, err
}

func (w *worker) inModel() (bool, error) {
	for _, i := range w.m.job.Constraints {
		if inside, err := w.holds(i, false); err != nil || !inside {
			return false, err
		}
	}
	for _, i := range w.m.job.ActionConstraints {
		if inside, err := w.holds(i, true); err != nil || !inside {
			return false, err
		}
	}
	return true, nil
}

func (w *worker) BrokenInvariant() (int, error) {
	if len(w.unmet) > 0 {
		left := w.unmet[:0]
		for _, i := range w.unmet {
			holds, err := w.holds(w.m.job.Antecedents[i], false)
			if err != nil {
				return -1, err
			}
			if !holds {
				left = append(left, i)
			}
		}
		w.unmet = left
	}
	return w.BrokenInvariantAfter(-1)
}

func (w *worker) BrokenStep() (int, error) { return w.BrokenStepAfter(-1) }

// Later returns a judge of visited candidates.
func (w *worker) Later() (j check.Judge, constrained bool) {
	return &judge{worker{m: w.m, tests: w.tests, next: make([]uint64, w.m.Words)}, w},
		len(w.m.job.Constraints)+len(w.m.job.ActionConstraints) > 0
}

// judge evaluates invariants of a worker's candidates after their visits.
type judge struct {
	worker
	of *worker
}

// See makes s the candidate.
func (j *judge) See(s check.State) { j.load(j.next, s) }

// BrokenInvariant is that of the worker, which remembers which antecedents were true.
func (j *judge) BrokenInvariant() (int, error) {
	j.unmet = j.of.unmet
	i, err := j.worker.BrokenInvariant()
	j.of.unmet = j.unmet
	return i, err
}

// BrokenInvariantAfter is BrokenInvariant for the invariants after one.
func (w *worker) BrokenInvariantAfter(last int) (int, error) {
	for k := last + 1; k < len(w.m.job.Invariants); k++ {
		if holds, err := w.holds(w.m.job.Invariants[k], false); err != nil || !holds {
			return k, err
		}
	}
	return -1, nil
}

// BrokenStepAfter is BrokenStep for the properties after one.
func (w *worker) BrokenStepAfter(last int) (int, error) {
	for k := last + 1; k < len(w.m.job.StepNexts); k++ {
		i := w.m.job.StepNexts[k]
		if i < 0 {
			continue
		}
		if holds, err := w.holds(i, true); err != nil || !holds {
			return k, err
		}
	}
	return -1, nil
}

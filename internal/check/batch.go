// SPDX-License-Identifier: Apache-2.0

package check

import "github.com/ashlar-dev/ashlar/internal/check/fpset"

// Looking up a fingerprint reads a random place in tables of many megabytes.
// The processor waits for it longer than it takes to compute a successor of a
// packed state. So successors are gathered, and the places of all of them are
// touched before the first lookup: the processor then waits once for many. The
// results and their order are those of single lookups.

// batchMax is how many candidates are gathered: more than the processor reads
// at once, and few enough to stay in its nearest cache.
const batchMax = 64

// recentMax is how many recently met fingerprints a worker remembers: as many
// as fit in a cache of its processor.
const recentMax = 1 << 14

// batch are candidates of one chunk that were not looked up yet.
type batch struct {
	items  []gathered
	states []byte // behind one another
	// parents are the states of the chunk that were expanded so far.
	parents []State
	// recent holds fingerprints that the worker has met, each at the index given
	// by its lowest bits; 0 is an empty slot. They are in the set, or on disk,
	// and were found no later than by the chunk that meets them again.
	recent []uint64
	// constrained reports that the model has constraints, so that InModel must
	// be called.
	constrained bool
}

func newBatch(constrained bool) batch {
	return batch{items: make([]gathered, 0, batchMax), recent: make([]uint64, recentMax), constrained: constrained}
}

// gathered is a candidate of a batch.
type gathered struct {
	fp     uint64
	end    int32 // in states
	parent int32 // in parents
	action int32
	inside bool // the model
	met    bool // the state was met before
}

// gather collects every successor of a worker that has a judge. A successor
// that cannot wait goes to candidate, after everything collected before it.
func (w *worker) gather(action int, state State) error {
	b, inside, err := &w.batch, true, error(nil)
	if b.constrained {
		inside, err = w.ev.InModel()
	}
	now := err != nil
	if !now && len(w.s.info.Steps) > 0 {
		i, err := w.ev.BrokenStep()
		now = err != nil || i >= 0
	}
	if now || len(state) > StateBytesMax {
		if err := w.examine(); err != nil {
			return err
		}
		return w.candidate(action, state)
	}
	w.visited++
	b.states = append(b.states, state...)
	b.items = append(b.items, gathered{fp: fpset.Hash(state), end: int32(len(b.states)), parent: int32(len(b.parents) - 1),
		action: int32(action), inside: inside})
	if len(b.items) == batchMax || len(b.states) > batchBytesMax {
		return w.examine()
	}
	return nil
}

// batchBytesMax bounds the bytes of the states in a batch; the last state may
// exceed it.
const batchBytesMax = 1 << 20

// examine does for the collected successors what candidate would have done for
// each.
func (w *worker) examine() error {
	b := &w.batch
	if len(b.items) == 0 {
		return nil
	}
	b.touch(w.s.set)
	number, parent, all := w.number, w.parent, w.all
	first := number - uint32(len(b.parents)-1)
	if all != nil {
		w.all = w.judge
	}
	start := int32(0)
	var err error
	for i := range b.items {
		it := &b.items[i]
		w.number, w.parent = first+uint32(it.parent), b.parents[it.parent]
		if err = w.judged(it, b.states[start:it.end:it.end]); err != nil {
			break
		}
		start = it.end
	}
	b.items, b.states = b.items[:0], b.states[:0]
	w.all = all
	if err == nil {
		w.number, w.parent = number, parent
		if w.s.ending.stopped() {
			return ErrStopped
		}
	}
	return err
}

// touch reads the slots of the collected fingerprints, except those that the
// worker has met recently, so that they are in the cache when they are looked
// up.
func (b *batch) touch(set *fpset.Seen) {
	for i := range b.items {
		it := &b.items[i]
		if !it.inside {
			continue
		}
		recent := &b.recent[it.fp%recentMax]
		if it.met = *recent == it.fp && it.fp != 0; !it.met {
			*recent = it.fp
			set.Touch(it.fp)
		}
	}
}

// judged examines one candidate.
func (w *worker) judged(it *gathered, state State) error {
	action := int(it.action)
	w.counts[action+1]++
	if it.met {
		return nil
	}
	fresh := true
	if it.inside {
		var err error
		if fresh, err = w.add(it.fp, action, state); err != nil {
			return err
		}
	}
	if !fresh || len(w.s.info.Invariants) == 0 {
		return nil
	}
	w.judge.See(state)
	if i, err := w.judge.BrokenInvariant(); (err != nil || i >= 0) && !w.known(it.inside) {
		return w.answer(action, state, InvariantViolated, i, err)
	}
	return nil
}

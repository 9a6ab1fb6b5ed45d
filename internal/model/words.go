// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/pack"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// packedWorker is a worker of a packed model. Packed code does what it can. For
// the rest, the worker fills in the vectors of the embedded worker, which
// evaluates them.
type packedWorker struct {
	*worker
	p       *packing
	machine *pack.Machine

	// words is the state that is being expanded, if it is packed. next is the
	// candidate.
	words, next         []uint64
	curPacked           bool
	nextPacked          bool
	curLoaded, nxLoaded bool // the vectors hold the values
	emitted             int
	out                 check.Visit
	err                 error
	bytes               []byte
	scratch             []uint64
	polls               uint32
	level               int // of the states that are expanded
	runs, stops         int64

	values []varValues
	// ors and ands are the bits that are set in some and in all states that
	// were expanded or are outside the constraints.
	ors, ands []uint64
}

// varValues caches the values of a variable by their bits, and the bits by the
// values' numbers.
type varValues struct {
	one     map[uint64]numbered // where the variable is in one word
	several map[string]numbered
	bits    [][]uint64
}

type numbered struct {
	v  value.Value
	id uint32
}

// varValuesMax bounds the cached values of a variable.
const varValuesMax = 1 << 17

// Capabilities returns the features that a worker of packed states supports.
func (w *packedWorker) Capabilities() check.Capabilities {
	can := w.worker.Capabilities()
	can.Further, can.AtLevel, can.Atom, can.Later = w, w.AtLevel, w.Atom, w.Later
	return can
}

func (m *Model) newPackedWorker() *packedWorker {
	n := m.packed.layout.Words()
	w := &packedWorker{worker: m.newWorker(), p: m.packed, machine: pack.NewMachine(m.packed.code),
		words: make([]uint64, n), scratch: make([]uint64, n), ors: make([]uint64, n), ands: make([]uint64, n)}
	for i := range w.ands {
		w.ands[i] = ^uint64(0)
	}
	for range m.packed.vars {
		w.values = append(w.values, varValues{one: make(map[uint64]numbered), several: make(map[string]numbered)})
	}
	w.machine.Start(w.emit)
	return w
}

// emit visits a successor that packed code produced.
func (w *packedWorker) emit(action int) bool {
	w.emitted++
	w.next, w.nextPacked, w.nxLoaded = w.machine.Words(), true, false
	w.bytes = w.p.layout.AppendBytes(w.bytes[:0], w.next)
	w.run.Level++
	w.run.Action = action + 2
	w.err = w.out(action, w.bytes)
	w.run.Level--
	w.run.Action = 0
	return w.err == nil
}

// visitVector visits a candidate that the embedded worker produced.
func (w *packedWorker) visitVector(action int, s check.State) error {
	w.nxLoaded = true
	w.nextPacked = w.encode()
	if w.nextPacked {
		w.next = w.scratch
		w.bytes = w.p.layout.AppendBytes(w.bytes[:0], w.scratch)
	} else {
		w.bytes = append(append(w.bytes[:0], 0), s...)
	}
	return w.out(action, w.bytes)
}

// encode packs the candidate's vector into scratch.
func (w *packedWorker) encode() bool {
	clear(w.scratch)
	w.scratch[0] = 1
	for i, v := range w.seen.Vals {
		known := w.values[i].bits
		id := int(w.seen.IDs[i])
		if id > 0 && id < len(known) && known[id] != nil {
			low := w.p.vars[i].low
			for k, x := range known[id] {
				w.scratch[low+k] |= x
			}
			continue
		}
		if !w.encodeVar(i, id, v) {
			return false
		}
	}
	return true
}

func (w *packedWorker) encodeVar(i, id int, v value.Value) bool {
	at := w.p.vars[i]
	words := make([]uint64, len(w.scratch))
	if !w.p.layout.Put(words, i, v) {
		return false
	}
	bits := words[at.low : at.low+len(at.masks)]
	for k, x := range bits {
		w.scratch[at.low+k] |= x
	}
	if id > 0 && id < varValuesMax {
		known := w.values[i].bits
		for id >= len(known) {
			known = append(known, nil)
		}
		known[id] = bits
		w.values[i].bits = known
	}
	return true
}

// load fills a vector with the values of a packed state.
func (w *packedWorker) load(words []uint64, to vector.Vector) {
	for i := range to.Vals {
		n := w.valueOf(words, i)
		to.Vals[i], to.IDs[i] = n.v, n.id
	}
}

func (w *packedWorker) valueOf(words []uint64, i int) numbered {
	at, known := w.p.vars[i], &w.values[i]
	if len(at.masks) == 1 {
		key := words[at.low] & at.masks[0]
		n, ok := known.one[key]
		if !ok {
			if n = w.decode(words, i); len(known.one) < varValuesMax {
				known.one[key] = n
			}
		}
		return n
	}
	key := w.full[:0]
	for k, mask := range at.masks {
		x := words[at.low+k] & mask
		key = append(key, byte(x), byte(x>>8), byte(x>>16), byte(x>>24), byte(x>>32), byte(x>>40), byte(x>>48), byte(x>>56))
	}
	w.full = key
	n, ok := known.several[string(key)]
	if !ok {
		name := string(key)
		if n = w.decode(words, i); len(known.several) < varValuesMax {
			known.several[name] = n
		}
	}
	return n
}

// decode makes the value of a variable and finds its number.
func (w *packedWorker) decode(words []uint64, i int) numbered {
	v := w.p.layout.Value(words, i)
	_, id, full := w.m.codec.Append(nil, i, v, nil)
	_ = full
	return numbered{v, id}
}

// Init calls visit for every initial state.
func (w *packedWorker) Init(visit check.Visit) error {
	w.out, w.curPacked, w.curLoaded = visit, false, false
	return w.worker.Init(w.visitVector)
}

// Next calls visit for every successor of s.
func (w *packedWorker) Next(s check.State, visit check.Visit) error {
	w.out, w.err, w.emitted = visit, nil, 0
	w.curPacked = w.p.layout.LoadBytes(w.words, s)
	if !w.curPacked {
		w.p.meetOdd()
		w.curLoaded = true
		return w.worker.Next(s[1:], w.visitVector)
	}
	w.note(w.words)
	w.worker.initial, w.curLoaded = false, false
	if w.run.Stop != nil && w.polled() {
		return check.ErrStopped
	}
	if !w.hopeless() {
		w.runs++
		if w.machine.Run(w.words) || w.err != nil {
			return w.err
		}
		w.stops++
	}
	w.p.meetOdd()
	return w.again(s)
}

// hopeless reports whether packed code stops so often that it is not worth
// trying.
func (w *packedWorker) hopeless() bool { return w.runs >= hopelessRunsMin && w.stops > w.runs/2 }

const hopelessRunsMin = 4096

// polled occasionally checks whether the search is over.
func (w *packedWorker) polled() bool {
	w.polls++
	return w.polls%tlcget.PollEvery == 0 && w.run.Stop()
}

// again expands the state with the embedded worker, and skips the successors
// that were visited already.
func (w *packedWorker) again(s check.State) error {
	done := w.emitted
	w.curLoaded = true
	full := w.m.encodeVector(w.m.decodePacked(s))
	return w.worker.Next(full, func(action int, s check.State) error {
		if done > 0 {
			done--
			return nil
		}
		return w.visitVector(action, s)
	})
}

// holds evaluates a formula on the candidate, or on the step to it.
func (w *packedWorker) holds(f *formula, step bool) (bool, error) {
	if n := w.p.preds[f.id]; n >= 0 && w.nextPacked && (!step || w.curPacked) {
		var holds, ok bool
		if step {
			holds, ok = w.machine.Holds(n, w.words, w.next)
		} else {
			holds, ok = w.machine.Holds(n, w.next, nil)
		}
		if ok {
			return holds, nil
		}
	}
	w.p.meetOdd()
	if !w.nxLoaded {
		w.load(w.next, w.seen)
		w.nxLoaded = true
	}
	cur, nxt := w.seen, vector.Vector{}
	if step {
		w.loadCur()
		cur, nxt = w.cur, w.seen
	}
	holds := false
	err := w.guard(f, cur, nxt, func() { holds = w.ev.Holds(f.id, cur, nxt) })
	return holds, err
}

func (w *packedWorker) loadCur() {
	if !w.curLoaded {
		w.load(w.words, w.cur)
		w.curLoaded = true
	}
}

// note adds the bits of a state to those that were seen.
func (w *packedWorker) note(words []uint64) {
	for i, x := range words {
		w.ors[i] |= x
		w.ands[i] &= x
	}
}

// InModel evaluates the constraints. A state outside them is not expanded, but
// its bits count as seen, as its values do in the compiled evaluator.
func (w *packedWorker) InModel() (bool, error) {
	inside, err := w.inModel()
	if !inside && w.nextPacked {
		w.note(w.next)
	}
	return inside, err
}

func (w *packedWorker) inModel() (bool, error) {
	for _, f := range w.m.constraints {
		if inside, err := w.holds(f, false); err != nil || !inside {
			return false, err
		}
	}
	if w.initial {
		return true, nil
	}
	for _, f := range w.m.actionConstraints {
		if inside, err := w.holds(f, true); err != nil || !inside {
			return false, err
		}
	}
	return true, nil
}

// BrokenInvariant returns the index of the first invariant that is false in the
// candidate, or -1.
func (w *packedWorker) BrokenInvariant() (int, error) {
	if len(w.unmet) > 0 {
		left := w.unmet[:0]
		for _, i := range w.unmet {
			if holds, err := w.holds(w.m.antecedents[i].f, false); err == nil && !holds {
				left = append(left, i)
			}
		}
		w.unmet = left
	}
	return w.BrokenInvariantAfter(-1)
}

// BrokenInvariantAfter is BrokenInvariant for the invariants after a given one.
func (w *packedWorker) BrokenInvariantAfter(last int) (int, error) {
	for i := last + 1; i < len(w.m.invariants); i++ {
		if holds, err := w.holds(w.m.invariants[i], false); err != nil || !holds {
			return i, err
		}
	}
	return -1, nil
}

// BrokenStep returns the index of the first property that the step to the
// candidate breaks, or -1.
func (w *packedWorker) BrokenStep() (int, error) { return w.BrokenStepAfter(-1) }

// BrokenStepAfter is BrokenStep for the properties after a given one.
func (w *packedWorker) BrokenStepAfter(last int) (int, error) {
	for i := last + 1; i < len(w.m.steps); i++ {
		f := w.m.steps[i].next
		if w.initial {
			f = w.m.steps[i].init
		}
		if f == nil {
			continue
		}
		if holds, err := w.holds(f, !w.initial); err != nil || !holds {
			return i, err
		}
	}
	return -1, nil
}

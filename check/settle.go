package check

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/check/fpset"
)

// When the chunks of a segment are done, some of the states that a chunk found
// belong to a lower one, which found them later by the clock. To ask the set of
// every state takes as long as finding it there, so it is not asked where that
// can be avoided: who lowers a mark keeps the fingerprint for the chunk that had
// the mark, and a chunk owns all that nobody took from it. The marks then stay in
// the set. The chunks of the next segment have higher ones, so that what was found
// before is theirs for nobody; and when there are no more, one walk through the
// tables settles everything.
//
// Where few states were found, which would make the walk too long for what it
// saves, and where a state that seems new may be on disk, the set is asked.

// mark finds marks for the chunks of the next segment.
func (s *search) mark() {
	s.kept = !s.direct && !s.store.dropped()
	if !s.direct && int(s.top)+len(s.chunks) > fpset.PiecesMax+int(fpset.Old) {
		s.settleAll()
	}
}

// settleAll settles every fingerprint of the set.
func (s *search) settleAll() {
	if s.top == fpset.Old {
		return
	}
	inParallel(s.workers, func(w *worker) { s.set.SettleAll(w.id, len(s.workers)) })
	s.top, s.unsettled = fpset.Old, 0
}

// settle has the workers find out which of the states that they found are
// theirs. After it every fingerprint of a chunk that was done is settled, or has a
// mark that is not above top.
func (s *search) settle() {
	found := 0
	for _, w := range s.workers {
		found += len(w.candidates)
	}
	s.kept = s.kept && int64(found)*keepMin > s.set.Bytes()/8
	if len(s.workers) == 1 || found < settleParallelMin {
		for _, w := range s.workers {
			w.settle()
		}
	} else {
		inParallel(s.workers, (*worker).settle)
	}
	if s.kept {
		s.top += fpset.Mark(len(s.chunks))
	}
}

const (
	// settleParallelMin is the least number of candidates for which it pays to
	// settle them in parallel.
	settleParallelMin = 1024
	// keepMin is how many slots are walked through in the time that it takes to
	// look one fingerprint up.
	keepMin = 64
)

// settle finds out which candidates of the worker's chunks are theirs, and
// writes the records and the states of these.
func (w *worker) settle() {
	s := w.s
	for _, c := range w.mine {
		c.kept = append(c.kept[:0], make([]int64, len(w.counts))...)
		c.records[0], c.states[0] = len(w.records), len(w.states)
		if s.kept {
			w.lost.collect(s.workers, c.mark)
		}
		for i := c.from; i < c.to; i++ {
			if !s.direct && !w.owns(c, i) {
				continue
			}
			cand := &w.candidates[i]
			state, rest := w.arena.get(cand.at)
			diff, _ := cut(rest)
			if c.found == 0 {
				c.first = i
			} else {
				w.records = s.lineage.appendCode(w.records, cand.parent-c.lastParent, int(cand.action))
			}
			w.records = append(w.records, diff...)
			w.states = binary.AppendUvarint(w.states, uint64(len(state)))
			w.states = append(w.states, state...)
			c.lastParent = cand.parent
			c.found++
			c.kept[cand.action+1]++
		}
		c.records[1], c.states[1] = len(w.records), len(w.states)
	}
}

// owns says whether candidate i, which the chunk found, is its own. It is asked
// once for each, in order.
func (w *worker) owns(c *chunk, i int) bool {
	if w.s.kept {
		return !w.lost.has(w.candidates[i].fp)
	}
	if (i-c.from)%batchMax == 0 {
		for k := i; k < min(i+batchMax, c.to); k++ {
			w.s.set.Touch(w.candidates[k].fp)
		}
	}
	return w.s.set.Settle(w.candidates[i].fp, c.mark)
}

// losses are the fingerprints that a chunk found and others took from it.
type losses struct {
	slots []uint64 // a power of two; 0 is an empty slot
	mask  uint64
	any   bool
	zero  bool // the fingerprint 0 is one
}

// collect makes them those of the chunk with the mark.
func (l *losses) collect(from []*worker, m fpset.Mark) {
	n := 0
	for _, w := range from {
		n += len(w.taken[m])
	}
	if l.any, l.zero = n > 0, false; n == 0 {
		return
	}
	size := 16
	for size < 2*n {
		size *= 2
	}
	if cap(l.slots) < size {
		l.slots = make([]uint64, size)
	}
	l.slots, l.mask = l.slots[:size], uint64(size-1)
	clear(l.slots)
	for _, w := range from {
		for _, fp := range w.taken[m] {
			i := l.place(fp)
			l.slots[i] = fp
			l.zero = l.zero || fp == 0
		}
	}
}

// place is the slot of a fingerprint, or the empty one where it belongs.
func (l *losses) place(fp uint64) uint64 {
	i := fp & l.mask
	for l.slots[i] != fp && l.slots[i] != 0 {
		i = (i + 1) & l.mask
	}
	return i
}

func (l *losses) has(fp uint64) bool {
	switch {
	case !l.any:
		return false
	case fp == 0:
		return l.zero
	}
	return l.slots[l.place(fp)] == fp
}

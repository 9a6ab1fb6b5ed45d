// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/check/fpset"
)

// When the chunks of a segment are done, some of the states that a chunk found
// belong to a lower one, which found them later in time. Looking up every state in
// the set takes as long as finding it there, so the workers avoid it where they can.
// A worker that lowers a mark records the fingerprint for the chunk that held it. A
// chunk owns every fingerprint it found that no lower chunk claimed. The marks then
// stay in the set. Marks of the next segment are higher, so its chunks cannot claim
// older fingerprints; and when no marks are left, one walk through the tables
// settles everything.
//
// If few states were found, so that the walk would take longer than it saves, or if
// a state that seems new may be on disk, the workers look states up in the set.

// marks are those of a segment's chunks. They belong to the goroutine of run and
// change between segments; workers read them.
type marks struct {
	direct    bool       // one worker explores, so it owns what it finds at once
	kept      bool       // workers record what they take from others
	top       fpset.Mark // the highest mark of states found before the segment
	unsettled int64      // the number of fingerprints with a mark above Old
}

func newMarks() marks { return marks{top: fpset.Old} }

// begin is called before a segment; alone reports that one worker explores it, and
// partial that a state that seems new may be on disk.
func (m *marks) begin(alone, partial bool) {
	m.direct = alone && !partial
	m.kept = !m.direct && !partial
}

// of is the mark of the states that chunk k finds.
func (m *marks) of(k int64) fpset.Mark {
	if m.direct {
		return m.top
	}
	return m.top + 1 + fpset.Mark(k)
}

// suffice reports whether there are marks for that many chunks.
func (m *marks) suffice(chunks int) bool {
	return m.direct || int(m.top)+chunks <= fpset.PiecesMax+int(fpset.Old)
}

// all records that every fingerprint is settled.
func (m *marks) all() { m.top, m.unsettled = fpset.Old, 0 }

// settled reports whether that is so already.
func (m *marks) settled() bool { return m.top == fpset.Old }

// weigh decides whether the marks of a segment stay in the set, given the number
// of states found and the number of slots.
func (m *marks) weigh(found int, slots int64) { m.kept = m.kept && int64(found)*keepMin > slots }

// used records that the chunks of a segment have used their marks.
func (m *marks) used(chunks int) {
	if m.kept {
		m.top += fpset.Mark(chunks)
	}
}

// joined counts the states that a chunk found, if its marks stay in the set.
func (m *marks) joined(found int) {
	if m.kept || m.direct && !m.settled() {
		m.unsettled += int64(found)
	}
}

// waiting is the number of fingerprints that are not settled.
func (m *marks) waiting() int64 { return m.unsettled }

// alone reports whether a chunk owns what it finds at once, and recorded whether
// workers record the states that they take from others.
func (m *marks) alone() bool    { return m.direct }
func (m *marks) recorded() bool { return m.kept }

// mark assigns marks to the chunks of the next segment.
func (s *search) mark(alone bool) {
	s.quiet()
	s.marks.begin(alone, s.store.dropped())
	if !s.marks.suffice(s.segment.size()) {
		s.settleAll()
	}
}

// settleAll settles every fingerprint of the set.
func (s *search) settleAll() {
	if s.marks.settled() {
		return
	}
	inParallel(s.workers, func(w *worker) { s.set.SettleAll(w.id, len(s.workers)) })
	s.marks.all()
}

// settle makes the workers determine which of the states that they found they own.
// Afterwards every fingerprint of a finished chunk is settled, or has a mark not
// above the highest one.
func (s *search) settle() {
	found := 0
	for _, w := range s.workers {
		found += len(w.candidates)
	}
	s.marks.weigh(found, s.set.Bytes()/8)
	if len(s.workers) == 1 || found < settleParallelMin {
		for _, w := range s.workers {
			w.settle()
		}
	} else {
		inParallel(s.workers, (*worker).settle)
	}
	s.marks.used(s.segment.size())
}

const (
	// settleParallelMin is the smallest number of candidates for which settling
	// in parallel is worthwhile.
	settleParallelMin = 1024
	// keepMin is the number of slots that can be walked through in the time of
	// one lookup of a fingerprint.
	keepMin = 64
)

// settle finds out which candidates of the worker's chunks are theirs, and
// writes the records and the states of these.
func (w *worker) settle() {
	s := w.s
	for _, c := range w.mine {
		c.kept = append(c.kept[:0], make([]int64, len(w.counts))...)
		c.records[0], c.states[0] = len(w.records), len(w.states)
		if s.marks.recorded() {
			w.lost.collect(s.workers, c.mark)
		}
		for i := c.from; i < c.to; i++ {
			if !s.marks.alone() && !w.owns(c, i) {
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

// owns reports whether the chunk owns candidate i, which it found. It is called
// once for each, in order.
func (w *worker) owns(c *chunk, i int) bool {
	if w.s.marks.recorded() {
		return !w.lost.has(w.candidates[i].fp)
	}
	if (i-c.from)%batchMax == 0 {
		for k := i; k < min(i+batchMax, c.to); k++ {
			w.s.set.Touch(w.candidates[k].fp)
		}
	}
	return w.s.set.Settle(w.candidates[i].fp, c.mark)
}

// losses are the fingerprints that a chunk found and other chunks took from it.
type losses struct {
	slots []uint64 // a power of two; 0 is an empty slot
	mask  uint64
	any   bool
	zero  bool // the fingerprint 0 is one
}

// collect fills the losses of the chunk with the mark.
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

// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// views are the moments that must stay readable: those of snapshots, and of
// iterators, which are parked when memory is short.
type views struct {
	opened atomic.Int64 // iterators that are not parked

	// mu is taken after db.mu and after an iterator's; its holder only tries to
	// take an iterator's.
	mu        invariant.Mutex
	at        map[message.Seq]int // how many look there
	oldest    message.Seq         // of at; 0: not known
	iterators map[*Iterator]struct{}
}

func (v *views) init() {
	v.mu.SetRank(rankViews, "views")
	v.at, v.iterators = map[message.Seq]int{}, map[*Iterator]struct{}{}
}

// unparked and parked change the number of iterators that are not parked, which
// active returns.
func (v *views) unparked()     { v.opened.Add(1) }
func (v *views) parked()       { v.opened.Add(-1) }
func (v *views) active() int64 { return v.opened.Load() }

// add is called under db.mu, with a number that a view has already or with that of
// the last change: so no compaction has missed it.
func (v *views) add(seq message.Seq) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.addLocked(seq)
}

func (v *views) addLocked(seq message.Seq) {
	v.at[seq]++
	if len(v.at) == 1 || seq < v.oldest {
		v.oldest = seq
	}
}

func (v *views) remove(seq message.Seq) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.removeLocked(seq)
}

func (v *views) removeLocked(seq message.Seq) {
	if v.at[seq]--; v.at[seq] > 0 {
		return
	}
	delete(v.at, seq)
	if seq == v.oldest {
		v.oldest = 0
	}
}

func (v *views) addIterator(it *Iterator) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.addLocked(it.at)
	v.iterators[it] = struct{}{}
}

func (v *views) removeIterator(it *Iterator) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, in := v.iterators[it]; in {
		delete(v.iterators, it)
		v.removeLocked(it.at)
	}
}

// seqs are the moments, ascending.
func (v *views) seqs() []message.Seq {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.at) == 0 {
		return nil
	}
	seqs := make([]message.Seq, 0, len(v.at))
	for seq := range v.at {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	return seqs
}

// oldestSeq is the first of the moments, MaxSeq when there is none.
func (v *views) oldestSeq() message.Seq {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.at) == 0 {
		return message.MaxSeq
	}
	if v.oldest == 0 {
		v.oldest = message.MaxSeq
		for seq := range v.at {
			v.oldest = min(v.oldest, seq)
		}
	}
	return v.oldest
}

// park parks the iterators that were not moved since the last call or, when
// there are none, one of the others. An iterator that is being moved stays. It
// reports whether it parked any.
func (v *views) park() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	any := false
	for _, also := range [2]bool{false, true} {
		for it := range v.iterators {
			if any && also {
				return true
			}
			if !it.mu.TryLock() {
				continue
			}
			if it.state != nil && (also || !it.moved) && it.visible.Err() == nil {
				it.park()
				any = true
			}
			it.moved = false
			it.mu.Unlock()
		}
	}
	return any
}

// close ends all iterators: those that are being moved end their moves.
func (v *views) close() {
	v.mu.Lock()
	all := make([]*Iterator, 0, len(v.iterators))
	for it := range v.iterators {
		all = append(all, it)
	}
	v.mu.Unlock()
	for _, it := range all {
		it.mu.Lock()
		if it.err = it.failure(); it.err == nil && !it.closed {
			it.err = ErrClosed
		}
		it.park()
		it.mu.Unlock()
	}
}

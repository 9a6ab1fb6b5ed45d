// SPDX-License-Identifier: Apache-2.0

package memtable

import (
	"bytes"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

const (
	// runRatio is how many times longer a run is at least than the one after
	// it: the less, the more a scan merges, the more, the more often a message
	// is copied.
	runRatio = 8
	// runsMax bounds the runs of a view: where memory for merging is lacking
	// runs are left as they are, but no more than these.
	runsMax = 16
)

// View is all messages that a table held at a moment, in order. It is safe for
// concurrent use, beside the writer too, and stays as it is until Release; the
// arena must stay as long.
type View struct {
	arena arena
	runs  []*run // the older the longer
	tombs *viewTombs
	refs  counter
}

// viewTombs are the range deletes of a view, in the order of their lower ends. Views with the
// same ones share them.
type viewTombs struct {
	set  *message.Tombstones
	pool *slab.Pool
	mem  []byte
	refs counter
}

func (v *viewTombs) release() {
	if v.refs.release() {
		v.pool.Free(v.mem)
	}
}

// sortTombs returns the range deletes of now, sorted. False: the pool has no memory.
func (t *Table) sortTombs() (*viewTombs, bool) {
	n := t.tombs.len
	if t.last != nil && t.last.tombs.set.Len() == n {
		t.last.tombs.refs.retain()
		return t.last.tombs, true
	}
	mem, ok := t.pool.Alloc(8 * n)
	if !ok {
		return nil, false
	}
	at, a := slab.Uint64s(mem)[:n], t.arena
	p := Pos(t.tombs.newest.Load())
	for i := range at {
		at[i] = uint64(p)
		p = a.older(p)
	}
	slices.SortFunc(at, func(x, y uint64) int { return bytes.Compare(a.key(Pos(x)), a.key(Pos(y))) })
	v := &viewTombs{pool: t.pool, mem: mem, set: message.NewTombstones(n, func(i int) message.RangeTombstone {
		m := a.message(Pos(at[i]))
		return message.RangeTombstone{Lo: m.Key, Hi: m.Value, Seq: m.Seq}
	})}
	v.refs.retain()
	return v, true
}

// Tombstones are the range deletes of the view, as long as it is not released.
func (v *View) Tombstones() *message.Tombstones { return v.tombs.set }

// View returns a view of the current messages. It sorts those added since the
// previous view and merges them with as much of the rest that each message is
// copied only a few times in all; without additions it costs nothing. False
// means that the pool has no memory.
func (t *Table) View() (*View, bool) {
	t.viewing.Lock()
	defer t.viewing.Unlock()
	if t.last != nil && t.viewedLen == t.len {
		t.last.refs.retain()
		return t.last, true
	}
	var runs []*run
	if t.last != nil {
		runs = t.last.runs
	}
	fresh, keep, ok := t.extend(runs)
	if !ok {
		return nil, false
	}
	tombs, ok := t.sortTombs()
	if !ok {
		if fresh != nil {
			fresh.release()
		}
		return nil, false
	}
	v := &View{arena: t.arena, runs: make([]*run, 0, keep+1), tombs: tombs}
	v.runs = append(v.runs, runs[:keep]...)
	for _, r := range v.runs {
		r.refs.retain()
	}
	if fresh != nil {
		v.runs = append(v.runs, fresh)
	}
	if t.last != nil {
		t.last.Release()
	}
	v.refs.retain()
	v.refs.retain()
	t.last = v
	t.viewedPos, t.viewedLen, t.gapsSeen = t.pos, t.len, len(t.gaps)
	return v, true
}

// extend returns a run with what was added since the last view and with the
// runs from keep on; no run when there is nothing.
func (t *Table) extend(runs []*run) (fresh *run, keep int, ok bool) {
	keep = len(runs)
	if t.viewedLen == t.len {
		return nil, keep, true
	}
	if fresh, ok = t.sorted(); !ok {
		return nil, 0, false
	}
	for keep > 0 && runs[keep-1].len() < runRatio*fresh.len() {
		merged, ok := mergeRuns(runs[keep-1], fresh, t.common)
		if !ok {
			break
		}
		fresh.release()
		fresh = merged
		keep--
	}
	if keep == runsMax {
		fresh.release()
		return nil, 0, false
	}
	return fresh, keep, true
}

// sorted returns a run of what was added since the last view.
func (t *Table) sorted() (*run, bool) {
	r, ok := newRun(t.arena, t.pool, t.len-t.viewedLen, t.common)
	if !ok {
		return nil, false
	}
	s := sorter{arena: t.arena}
	t.gather(r.pairs)
	if r.len() < radixMin {
		s.insert(r.pairs, r.depth)
		return r, true
	}
	scratch, ok := newRun(t.arena, t.pool, r.len(), r.depth)
	if !ok {
		r.release()
		return nil, false
	}
	s.sort(r.pairs, scratch.pairs, r.depth)
	scratch.release()
	return r, true
}

// gather fills in the pairs of what was added since the last view, the newest
// first.
func (t *Table) gather(pairs []uint64) {
	p, gaps := t.viewedPos, t.gaps[t.gapsSeen:]
	for i := len(pairs) - pairWords; i >= 0; i -= pairWords {
		for len(gaps) > 0 && gaps[0].lo == p {
			p, gaps = gaps[0].hi, gaps[1:]
		}
		pairs[i], pairs[i+1] = pair(t.arena.key(Pos(p)), t.common, Pos(p))
		p += t.arena.size(Pos(p))
	}
}

// Len returns how many messages the view holds.
func (v *View) Len() int {
	n := 0
	for _, r := range v.runs {
		n += r.len()
	}
	return n
}

// Release releases the view. Its iterators continue to work.
func (v *View) Release() {
	if !v.refs.release() {
		return
	}
	for _, r := range v.runs {
		r.release()
	}
	v.tombs.release()
}

// Iter returns an iterator over the messages of the view, range deletes at
// their lower ends included. It holds the view until its Close. The slices of
// its messages are the arena's: they outlast the next move.
func (v *View) Iter() message.Iter {
	invariant.Check(len(v.runs) <= runsMax, "memtable: %d runs", len(v.runs))
	v.refs.retain()
	it := &iter{view: v, arena: v.arena}
	it.cursors = it.few[:0]
	for _, r := range v.runs {
		it.cursors = append(it.cursors, cursor{run: r})
	}
	return it
}

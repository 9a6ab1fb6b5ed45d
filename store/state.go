// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// A state is everything that a reader needs, as it was at one moment: the
// memtables, newest first, and the root of the trunk. It is immutable except
// that the first memtable still accepts messages, which a reader ignores by
// their numbers.
//
// A state counts its pins: one while it is the current one, and one for each
// reader. Without pins it gives up its memtables. For the branches there are
// too many to count: each state holds the one that replaced it, so that when a
// state is gone, all older ones are gone as well, and the branches that were
// dropped when it was replaced have no reader left: their memory is freed and
// their pages are retired.
type state struct {
	mems []*mem
	root *trunk.Node
	// tombstones reports that some branch of the tree has range deletes, runs how
	// many branches a read may have to ask.
	tombstones bool
	runs       int

	pins  atomic.Int64
	holds atomic.Int64 // one by all pins together, one by the state before
	// Set once, when the state is replaced.
	next *state
	drop []*trunk.Branch
}

// newest is the number of the last change that the tree may have.
func (s *state) newest() message.Seq { return s.mems[len(s.mems)-1].first - 1 }

// acquire pins the current state; release gives it back.
func (db *DB) acquire() *state {
	for {
		s := db.current.Load()
		if n := s.pins.Load(); n > 0 && s.pins.CompareAndSwap(n, n+1) {
			return s
		}
	}
}

func (db *DB) release(s *state) {
	db.unpin(s)
	if db.closing.Load() {
		db.gone.wake()
	}
}

func (db *DB) unpin(s *state) {
	n := s.pins.Add(-1)
	invariant.Check(n >= 0, "state released more often than acquired")
	if n > 0 {
		return
	}
	for _, m := range s.mems {
		db.unrefMem(m)
	}
	for s != nil && s.holds.Add(-1) == 0 {
		for _, b := range s.drop {
			db.unrefBranch(b)
		}
		s = s.next
	}
}

// publish replaces the current state. The caller holds db.mu.
func (db *DB) publish(mems []*mem) {
	gone := db.tree.gone()
	s := &state{mems: mems, root: db.tree.root(), tombstones: db.tree.hasTombstones()}
	for _, m := range mems {
		m.refs.Add(1)
	}
	s.pins.Store(1)
	s.holds.Store(1)
	db.tree.charge()
	old := db.current.Load()
	if old != nil && old.root == s.root {
		s.runs = old.runs
	} else {
		s.runs = db.tree.runs()
	}
	if old == nil {
		db.current.Store(s)
		return
	}
	s.holds.Add(1)
	old.next, old.drop = s, gone
	db.current.Store(s)
	db.release(old)
}

// mem is a memtable and the image of its journal segment.
type mem struct {
	// number is that of the journal segment. Numbers follow each other.
	number uint64
	table  *memtable.Table
	arena  []byte
	// first is the number of the first change that the memtable may hold.
	first message.Seq
	// blobs are the runs of values that were written for this memtable.
	blobs []extent.Run
	// refs counts the users of the arena: states, and the journal until the
	// memtable's changes are in a durable tree.
	refs atomic.Int32

	// granted is how far the arena may be filled, because there is room for its
	// branch and merges: keep is the number of pages for that. Deletes counts those
	// of single keys. Under db.mu.
	granted int
	keep    uint64
	deletes int

	// The open frame, under db.mu: where it begins, its first change and how
	// many it has so far.
	frame      int
	frameFirst message.Seq
	frameCount uint32
	full       bool // there is no room for another frame
	// spans are the changes of the frames that are closed; under db.mu.
	spans []span

	// The journaler's: segment is nil until the first frame is written, and for
	// a memtable that recovery has made. Chain is the state of the journal before
	// the segment, once there is one.
	segment   *journal.Segment
	recovered bool
	chain     table.Chain
}

// newMem makes the memtable for the changes from first on, or returns nil if there
// is no memory.
func (db *DB) newMem(number uint64, first message.Seq, size int) *mem {
	arena, ok := db.pool.Alloc(size)
	if !ok {
		return nil
	}
	m := &mem{number: number, arena: arena, first: first, frame: journal.SegmentHeader, frameFirst: first}
	m.table, ok = memtable.New(arena, db.pool, m.frame+journal.HeaderSize)
	if !ok {
		db.pool.Free(arena)
		return nil
	}
	m.refs.Store(1)
	return m
}

func (db *DB) unrefMem(m *mem) {
	if m.refs.Add(-1) > 0 {
		return
	}
	m.table.Close()
	db.pool.Free(m.arena)
	m.arena = nil
	for _, r := range m.blobs {
		db.unlike(r)
	}
	db.memFreed()
}

// unrefBranch frees the memory of a branch when no reader or compaction has it any
// more. Its pages are reused when no superblock refers to them.
func (db *DB) unrefBranch(b *trunk.Branch) {
	if !b.Release() {
		return
	}
	db.cache.DropBranch(b.Meta.ID)
	db.indexBytes.Add(-int64(b.Index.Memory()))
	b.Index.Close()
	if !db.kept.keeps(b.Meta) {
		db.retireBranch(&b.Meta)
	}
}

// retireBranch frees the pages of a branch that nothing needs any more.
func (db *DB) retireBranch(m *branch.Meta) {
	db.space.retire(m.Runs...)
	db.space.retire(m.IndexRun())
	for _, r := range m.Blobs {
		db.unlike(r)
	}
}

// unlike removes one reference to a blob.
func (db *DB) unlike(r extent.Run) { db.space.unlike(r) }

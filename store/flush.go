// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// flushOldest writes the oldest full memtable as a branch, attaches it to the
// tree, and makes a checkpoint.
func (db *DB) flushOldest() error {
	db.checkpoints.lock()
	defer db.checkpoints.unlock()
	if err := db.err(); err != nil {
		return err
	}
	// Only the holder of db.checkpoints removes memtables, so this one stays.
	mems := db.current.Load().mems
	m := mems[len(mems)-1]
	var err error
	if len(mems) == 1 {
		err = db.catchUp()
	} else {
		err = db.flushMem(m)
	}
	db.mu.Lock()
	db.tree.flushEnded(m, err)
	db.mu.Unlock()
	return err
}

// tryFlush is flushOldest for the background: it leaves out a memtable that was
// refused as long as there is no more room for it.
func (db *DB) tryFlush() error {
	db.mu.Lock()
	refused, room := db.tree.flushRefused(), db.tree.flushRoom()
	db.mu.Unlock()
	if refused == nil {
		return db.flushOldest()
	}
	if err := db.enter(); err != nil {
		return err
	}
	db.space.ask(forTable, room)
	db.work.leave()
	db.mu.Lock()
	refused = db.tree.flushRefused()
	db.mu.Unlock()
	if refused != nil {
		return refused
	}
	return db.flushOldest()
}

// flushMem is flushOldest for the oldest memtable, a full one. The caller holds
// db.checkpoints.
func (db *DB) flushMem(m *mem) error {
	start := db.clock.Now()
	// The work after the last message, the syncs of a checkpoint, counts as some
	// more messages.
	db.pacing.begin(m.table.Len() + m.table.Len()/16 + 1)
	defer db.pacing.end()
	if err := db.history.save(m); err != nil {
		return db.flushed(m, nil, start, db.backgroundError("write a memtable", err))
	}
	var out []*trunk.Branch
	if m.table.Len() > 0 {
		var err error
		out, err = db.branchOf(m)
		if errors.Is(err, env.ErrNoSpace) && db.freeRetiredLocked() {
			out, err = db.branchOf(m)
		}
		if err != nil {
			return db.flushed(m, nil, start, db.backgroundError("write a memtable", err))
		}
	}
	// Readers that see the memtable neither fill the record cache with its keys
	// nor look them up there; readers that began before it had them are refused
	// from here on. So its keys stay out of the cache until the tree has them.
	// That and the end of the memtable are one moment: no reader sees an
	// operand twice.
	db.cache.Advance()
	db.uncache(m)
	db.mu.Lock()
	db.tree.attach(out...)
	mems := db.current.Load().mems
	db.publish(append([]*mem(nil), mems[:len(mems)-1]...))
	db.work.wake()
	db.work.jobDone()
	db.mu.Unlock()
	_ = db.flushed(m, out, start, nil)
	err := db.checkpoints.write(false)
	// Callers that wait for the flusher must be woken: it may find nothing left
	// to do.
	db.mu.Lock()
	db.work.memtableDone()
	db.mu.Unlock()
	return err
}

// flushDue reports whether a memtable is to be flushed, or a checkpoint to be
// made for one that was. The caller holds db.mu.
func (db *DB) flushDue() bool { return len(db.current.Load().mems) > 1 || db.writer.behind() }

// catchUp makes the checkpoint that an earlier flush could not make. The caller
// holds db.checkpoints.mu.
func (db *DB) catchUp() error {
	db.mu.Lock()
	behind := db.writer.behind()
	db.mu.Unlock()
	if !behind {
		return db.settleFound() // what was found is not durable before
	}
	return db.checkpoints.write(false)
}

// backgroundError stops the store unless the error may be temporary.
func (db *DB) backgroundError(what string, err error) error {
	if errors.Is(err, errAborted) {
		return ErrClosed // there is no other reason to give up a flush
	}
	err = fmt.Errorf("%s: %w", what, explain(err))
	if mayPass(err) || errors.Is(err, ErrMemory) {
		return err
	}
	return db.stop(err)
}

// branchOf writes the messages of a memtable to a branch.
func (db *DB) branchOf(m *mem) ([]*trunk.Branch, error) {
	view, ok := m.table.View()
	if !ok {
		return nil, fmt.Errorf("%w: no room to sort a memtable", ErrMemory)
	}
	defer view.Release()
	keep := merge.NewKeep(merge.KeepOptions{
		Sources: []message.Iter{merge.Points{Iter: view.Iter()}}, Tombstones: m.table.Tombstones(message.MaxSeq),
		Snapshots: db.views.seqs(), Merger: db.opt.Merger, OperandMax: block.ValueMax,
	})
	defer keep.Close()
	out, err := db.writeBranches(db.pacing.count(keep), forWork, 1, 0, int64(m.table.Len()), false)
	if err != nil {
		for _, b := range out {
			db.discard(b)
		}
		return nil, err
	}
	db.metrics.memtables.Add(1)
	return out, nil
}

// uncache removes the keys of a memtable from the record cache, while readers
// still see the memtable.
func (db *DB) uncache(m *mem) {
	if db.cache.Empty() {
		return
	}
	if m.table.RangeDeletes() > 0 {
		db.cache.Clear()
		return
	}
	view, ok := m.table.View()
	if !ok {
		db.cache.Clear()
		return
	}
	defer view.Release()
	it := view.Iter()
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		db.cache.Remove(it.Message().Key)
	}
}

// Flush writes the contents of the memtables as a branch and makes a
// checkpoint: all earlier changes are then durable without the journal.
func (db *DB) Flush() error {
	defer db.notices.inline()
	return db.flushAll(false)
}

func (db *DB) flushAll(clean bool) error {
	if err := db.flushMems(clean); err != nil || clean {
		return err
	}
	return db.inline()
}

func (db *DB) flushMems(clean bool) error {
	if db.opt.ReadOnly {
		return ErrReadOnly
	}
	if err := db.err(); err != nil {
		return err
	}
	db.mu.Lock()
	db.tree.insistOnFlush()
	err := db.err() // it may have been closed meanwhile
	upTo := db.current.Load().mems[0]
	for err == nil && upTo.table.Len() > 0 && db.current.Load().mems[0] == upTo {
		err = db.rotate()
	}
	db.mu.Unlock()
	for err == nil {
		s := db.acquire()
		oldest := s.mems[len(s.mems)-1].number
		last := len(s.mems) == 1
		db.release(s)
		if last || oldest > upTo.number {
			break
		}
		err = db.flushOldest()
	}
	if err != nil {
		return err
	}
	return db.lastCheckpoint(clean)
}

// lastCheckpoint makes the checkpoint of a store that is being closed, or one
// that this or an earlier flush could not make.
func (db *DB) lastCheckpoint(clean bool) error {
	db.checkpoints.lock()
	defer db.checkpoints.unlock()
	if clean {
		return db.checkpoints.write(true)
	}
	return db.catchUp()
}

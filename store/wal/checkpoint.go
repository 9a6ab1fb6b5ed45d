// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
)

// checkpoint is the one under way, if its number is not 0.
type checkpoint struct {
	number  uint64
	entries uint64 // how many records of the state were saved
	ended   bool   // EndCheckpoint was called
	// size is what the segments take that were begun since the last place.
	size int64
	// place is where it begins, and records how many were before it: known when
	// the beginEntry was put into the journal, and the writer's.
	place   journal.ChainState
	records uint64
}

// Due reports whether the log has grown enough for a checkpoint to pay off and none
// is running.
func (l *Log) Due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err == nil && l.checkpoint.number == 0 &&
		l.grown > l.opt.CheckpointBytes && l.grown > int64(l.opt.CheckpointFactor)*l.base
}

// BeginCheckpoint begins a checkpoint after the records appended so far. No
// other checkpoint may be running.
func (l *Log) BeginCheckpoint() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ended(); err != nil {
		return err
	}
	invariant.Check(l.checkpoint.number == 0, "a checkpoint begins while another is running")
	l.checkpoint = checkpoint{number: l.top.super.checkpoint + 1}
	l.pending = appendMark(l.pending, beginEntry, l.checkpoint.number, l.appended)
	return nil
}

// Save copies a record of the state into the running checkpoint. The record
// waits in memory for its Commit; Saved returns how many bytes wait. The errors
// are those of Append, except ErrFull.
func (l *Log) Save(record []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ended(); err != nil {
		return err
	}
	invariant.Check(l.checkpoint.number != 0 && !l.checkpoint.ended, "a record is saved outside a checkpoint")
	if len(record) > RecordMax {
		return limitError(len(record))
	}
	p := l.piece()
	*p = appendEntry(*p, stateEntry, record)
	l.checkpoint.entries++
	return nil
}

// piece is the piece of what was saved that what comes next is added to.
func (l *Log) piece() *[]byte {
	if n := len(l.saved); n == 0 || len(l.saved[n-1]) >= l.opt.Piece {
		l.saved = append(l.saved, nil)
	}
	return &l.saved[len(l.saved)-1]
}

// Saved returns how many bytes of the running checkpoint wait for Commits, and
// whether a checkpoint is running. It is running until the Commit that makes it
// count returns.
func (l *Log) Saved() (waiting int64, underWay bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.saved {
		waiting += int64(len(p))
	}
	return waiting, l.checkpoint.number != 0
}

// EndCheckpoint says that the state is complete. The Commit that writes the last
// of it makes the checkpoint count.
func (l *Log) EndCheckpoint() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ended(); err != nil {
		return err
	}
	c := &l.checkpoint
	invariant.Check(c.number != 0 && !c.ended, "a checkpoint ends that has not begun")
	c.ended = true
	p := l.piece()
	*p = appendMark(*p, endEntry, c.number, c.entries)
	return nil
}

// placeCheckpoint notes that the checkpoint of that number, with that many
// records before it, begins where the writer is: at the beginning of a segment.
func (l *Log) placeCheckpoint(number, records uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.checkpoint
	invariant.Check(c.number == number, "checkpoint %d is placed while %d is running", number, c.number)
	c.place, c.records = l.chain, records
	c.place.Segment = l.number
	c.size = int64(len(l.image))
}

// finishCheckpoint makes a completely durable checkpoint count, and frees the
// log before it.
func (l *Log) finishCheckpoint() error {
	l.mu.Lock()
	c := l.checkpoint
	l.mu.Unlock()
	next := l.top.super
	next.checkpoint, next.chain, next.records, next.safe = c.number, c.place, c.records, l.safe
	if err := l.top.put(next); err != nil {
		return err
	}
	if err := l.journal.Retire(c.place.Segment - 1); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.base, l.grown = l.checkpoint.size, 0
	l.checkpoint = checkpoint{}
	return nil
}

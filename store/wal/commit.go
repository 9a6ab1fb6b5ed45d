// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Records are some records in their order; *wor.Log is one.
type Records interface {
	Len() int
	Record(i int) []byte
}

// One is a Records with one record.
type One []byte

// Len is 1.
func (o One) Len() int { return 1 }

// Record is the record.
func (o One) Record(int) []byte { return o }

// Append copies the records into the next Commit, all or none of them. It returns
// the number of the last one: they are durable when Position().Records has
// reached it. Without records it returns the number of the previous record.
//
// ErrFull: the records do not fit into Options.Pending together with those that
// wait already; alone they always fit. ErrLimit: one is longer than RecordMax.
// ErrStopped: the log has ended.
func (l *Log) Append(r Records) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ended(); err != nil {
		return 0, err
	}
	n, bytes := r.Len(), 0
	for i := range n {
		size := len(r.Record(i))
		if size > RecordMax {
			return 0, limitError(size)
		}
		bytes += size + entryHeadMax
	}
	if l.waiting > 0 && l.waiting+bytes > l.opt.Pending {
		return 0, ErrFull
	}
	l.waiting += bytes
	for i := range n {
		l.pending = appendEntry(l.pending, recordEntry, r.Record(i))
	}
	l.appended += uint64(n)
	return l.appended, nil
}

func limitError(size int) error {
	return fmt.Errorf("%w: RecordMax is %d, got %d", ErrLimit, RecordMax, size)
}

// Waiting reports whether Commit has something to do.
func (l *Log) Waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err == nil && (len(l.pending) > 0 || len(l.saved) > 0 || l.kept.some)
}

// Commit makes durable all records appended before it was called or before it
// starts to write, and at least Options.Piece bytes of a running checkpoint. The
// Commit that writes the end of a checkpoint also makes it count. With nothing to
// do it returns nil at once.
//
// An error that is env.ErrNoSpace and not ErrStopped means that there is no room for
// another segment: nothing is lost, and the records wait for a Commit that finds
// room. Any other error is ErrStopped: the log has ended, and any prefix of the
// unacknowledged records may come back.
func (l *Log) Commit() error {
	l.committing.Lock()
	defer l.committing.Unlock()
	for {
		if again, err := l.commit(); err != nil || !again {
			return err
		}
	}
}

// commit commits what found no room before, and then has to be called again, or what
// has come since.
func (l *Log) commit() (again bool, err error) {
	w, err := l.take()
	if err != nil || !w.some {
		return false, err
	}
	if err := l.write(&w); errors.Is(err, errNoRoom) {
		l.keep(w)
		return false, err
	} else if err != nil {
		return false, l.stop(err)
	}
	l.give(w)
	if w.last {
		if err := l.finishCheckpoint(); err != nil {
			return false, l.stop(err)
		}
	}
	return w.kept, nil
}

// work is what one Commit writes.
type work struct {
	some    bool   // there is something
	kept    bool   // it found no room before
	records []byte // entries
	upTo    uint64 // the number of the last record
	state   []byte // entries of a checkpoint
	last    bool   // state ends with the endEntry
	memory  []byte // of records
}

// errNoRoom is within the error of a write that has changed nothing since there was
// no room for a segment.
var errNoRoom = errors.New("no room for another segment of the log")

// keep keeps what a Commit found no room for, for the next one.
func (l *Log) keep(w work) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = w
	l.kept.kept = true
}

func (l *Log) take() (work, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ended(); err != nil {
		return work{}, err
	}
	if l.kept.some {
		w := l.kept
		l.kept = work{}
		return w, nil
	}
	if len(l.pending) == 0 && len(l.saved) == 0 {
		return work{}, nil
	}
	w := work{some: true, upTo: l.appended}
	if len(l.pending) > 0 {
		w.records, l.pending, l.spare = l.pending, l.spare[:0], nil
		w.memory = w.records
		l.waiting = 0
	}
	if len(l.saved) > 0 {
		w.state, l.saved = l.saved[0], l.saved[1:]
		w.last = l.checkpoint.ended && len(l.saved) == 0
	}
	return w, nil
}

// keepMax is how much memory for records is kept between Commits, in bytes.
const keepMax = 4 << 20

// give makes known that work is durable, and gives its memory back.
func (l *Log) give(w work) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.durable = w.upTo
	if w.memory != nil && cap(w.memory) <= keepMax {
		l.spare = w.memory
	}
}

// writer puts entries into the journal.
type writer struct {
	journal *journal.Log
	session uint64
	// chain is what the next frame continues; safe is the number of a message,
	// it and all before it are known to be synced.
	chain journal.ChainState
	safe  message.Seq

	seg    *journal.Segment
	number uint64 // of the segment
	image  []byte // the segment's
	// The segment is written up to written; a frame that is not sealed begins at
	// pos, with that many entries up to used.
	written, pos, used int
	count              uint32
}

// write makes the entries durable.
func (l *Log) write(w *work) error {
	if err := l.put(&w.records); err != nil {
		return err
	}
	if err := l.put(&w.state); err != nil {
		return err
	}
	if err := l.flush(); err != nil {
		return err
	}
	if err := l.seg.Sync(); err != nil {
		return err
	}
	l.safe = l.chain.Next - 1
	return nil
}

// put adds entries to frames, and takes those away that it has added.
func (l *Log) put(entries *[]byte) error {
	for len(*entries) > 0 {
		kind, content, size := nextEntry(*entries)
		invariant.Check(size > 0, "a batch has no entry at its beginning")
		need := size
		if l.count == 0 {
			need += journal.HeaderSize
		}
		if kind == beginEntry || l.seg == nil || l.used+need > len(l.image) {
			if err := l.rotate(size); err != nil {
				return err
			}
		}
		if kind == beginEntry {
			l.placeCheckpoint(mark(content))
		}
		if l.count == 0 {
			l.used = l.pos + journal.HeaderSize
		}
		copy(l.image[l.used:], (*entries)[:size])
		l.used += size
		l.count++
		*entries = (*entries)[size:]
	}
	return nil
}

// rotate begins a segment that has room for an entry of that size.
func (l *Log) rotate(size int) error {
	if l.seg != nil {
		if err := l.flush(); err != nil {
			return err
		}
	}
	frame := (journal.HeaderSize + size + journal.PageSize - 1) &^ (journal.PageSize - 1)
	length := max(l.opt.Segment, journal.SegmentHeader+frame)
	// Until it has begun the segment before stays as it is, which is full.
	image := l.image
	if cap(image) < length {
		image = make([]byte, length)
	}
	image = image[:length]
	number := max(l.number+1, l.chain.Segment)
	info := journal.SegmentInfo{Number: number, Size: uint32(length), First: l.chain.Next, Prev: l.chain.Prev, Session: l.session}
	seg, err := l.journal.Begin(info, image)
	if errors.Is(err, env.ErrNoSpace) && l.journal.Err() == nil {
		return fmt.Errorf("%w: %w", errNoRoom, err)
	}
	if err != nil {
		return err
	}
	l.seg, l.image, l.number = seg, image, number
	l.written, l.pos, l.used, l.count = journal.SegmentHeader, journal.SegmentHeader, journal.SegmentHeader, 0
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grown += int64(length)
	l.checkpoint.size += int64(length)
	return nil
}

// flush seals the frame and writes what is sealed.
func (l *Log) flush() error {
	if l.count > 0 {
		h := journal.Header{
			Store: l.top.super.log, Segment: l.number, Offset: uint32(l.pos), First: l.chain.Next, Count: l.count,
			Len: uint32(l.used - l.pos), Session: l.session, Prev: l.chain.Prev, Durable: l.safe, Start: l.chain.Session != l.session,
		}
		end := l.pos + h.Padded()
		clear(l.image[l.used:end])
		l.chain.Advance(h, journal.Seal(l.image[l.pos:end], h))
		l.pos, l.used, l.count = end, end, 0
	}
	if l.written == l.pos {
		return nil
	}
	if err := l.seg.Write(l.written, l.pos); err != nil {
		return err
	}
	l.written = l.pos
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// ErrTooOld reports that the history no longer has the next change of a Feed, or
// never had it. Make a copy of the store and continue from its number
// (Mark.Number).
var ErrTooOld = errors.New("the history does not have these changes")

// ErrNoHistory reports that the store was opened without Options.History.
var ErrNoHistory = errors.New("the store keeps no history")

// ChangeKind is what a Change does.
type ChangeKind uint8

// The kinds of changes.
const (
	// ChangeDelete removes Key.
	ChangeDelete = ChangeKind(message.Delete)
	// ChangePut sets the value of Key to Value.
	ChangePut = ChangeKind(message.Put)
	// ChangeMerge changes the value of Key by the operand Value.
	ChangeMerge = ChangeKind(message.Merge)
	// ChangeDeleteRange removes the keys in [Key, Value).
	ChangeDeleteRange = ChangeKind(message.RangeDelete)
)

func (k ChangeKind) valid() bool {
	return message.Kind(k).Valid() && message.Kind(k) != message.Blob
}

func (k ChangeKind) String() string { return message.Kind(k).String() }

// Change is one change of a store. The keys of a keyspace are as they are stored:
// twelve bytes 0xff, the number of the keyspace, and the key.
type Change struct {
	// Number is the number of the change in the store, starting at 1.
	Number     uint64
	Kind       ChangeKind
	Key, Value []byte
	// More reports that the next change belongs to the same Batch: they were made
	// together and must be applied together.
	More bool
}

// Feed returns the changes of a store in the order in which they were made. It is
// for one goroutine at a time.
type Feed struct {
	db   *DB
	next message.Seq

	// The place of the next change: in a copy of part of a memtable, or in a
	// segment of the history.
	ready []Change
	file  env.File
	in    *segmentReader
	last  message.Seq // of the segment
	// hint is the place in a memtable where the next change is.
	hint struct {
		segment uint64
		seq     message.Seq
		at      int
	}
}

// feedBytes bounds the bytes that a Feed copies out of a memtable at a time, but it
// copies at least one change.
const feedBytes = 64 << 10

// frameHeader is the offset of the changes in a frame.
const frameHeader = journal.HeaderSize

// Changes returns a Feed of the changes with numbers above after: zero for all, or
// the number of the last change that the caller has applied, in this life of the
// store or an earlier one. That change must be the last of its batch.
//
// The feed has only durable changes, which no crash can undo: a change is in it
// once a Sync or a flush that includes it has ended. Options.History determines how
// far back it goes. A feed holds no resources of the store, and one that is too
// slow ends with ErrTooOld.
func (db *DB) Changes(after uint64) (*Feed, error) {
	if !db.history.on() && !db.opt.ReadOnly {
		return nil, ErrNoHistory
	}
	if last := db.writer.seen(); message.Seq(after) > last {
		return nil, fmt.Errorf("changes after %d: the store's last change is %d", after, last)
	}
	return &Feed{db: db, next: message.Seq(after) + 1}, db.open()
}

// Next returns the next change. If there is none yet, it waits until the context
// is done; a change that is available is returned even if the context is done. Key
// and Value are valid until the next call. The error is that of the context,
// ErrTooOld, ErrClosed, ErrStopped, an ErrCorrupt, or of the disk; after that of a
// context the feed can be used again.
//
// In a store that is open for reading only, Next waits for no change: the error is io.EOF
// after the last change in the tree. Whether changes that are only in the journal are durable
// is then unknown.
func (f *Feed) Next(ctx context.Context) (Change, error) {
	c, err := f.step(ctx)
	if err != nil && !errors.Is(err, ctx.Err()) {
		_ = f.Close() // nothing was written to the file
	}
	return c, err
}

func (f *Feed) step(ctx context.Context) (Change, error) {
	for {
		if err := f.db.open(); err != nil {
			return Change{}, err
		}
		if len(f.ready) > 0 {
			c := f.ready[0]
			f.ready = f.ready[1:]
			f.next = message.Seq(c.Number) + 1
			return c, nil
		}
		if f.in != nil && f.next > f.last {
			if err := cmp.Or(f.in.end(), f.leave()); err != nil {
				return Change{}, err
			}
		}
		if f.db.opt.ReadOnly && f.next > f.db.durable.upTo() {
			return Change{}, io.EOF
		}
		if err := f.db.durable.await(ctx, f.next, f.db.err); err != nil {
			return Change{}, err
		}
		if f.in != nil {
			c, err := f.in.change()
			if err != nil {
				return Change{}, f.in.inside(err)
			}
			if message.Seq(c.Number) < f.next {
				continue
			}
			f.next = message.Seq(c.Number) + 1
			return c, nil
		}
		if err := f.find(); err != nil {
			return Change{}, err
		}
	}
}

// Close ends the feed. It need not be called after an error of Next other than
// the context's.
func (f *Feed) Close() error {
	f.ready = nil
	return f.leave()
}

// leave closes the segment.
func (f *Feed) leave() error {
	file := f.file
	f.file, f.in = nil, nil
	if file == nil {
		return nil
	}
	return file.Close()
}

// find looks for the next change, which is durable.
func (f *Feed) find() error {
	db := f.db
	s := db.acquire()
	defer db.release(s)
	if err := db.open(); err != nil {
		return err
	}
	for _, m := range s.mems { // newest first
		if m.first <= f.next {
			return f.copy(m)
		}
	}
	db.history.mu.Lock()
	var found segment
	oldest := s.newest() + 1
	for _, g := range db.history.segments {
		oldest = min(oldest, g.first)
		if g.first <= f.next && f.next <= g.last {
			found = g
		}
	}
	db.history.mu.Unlock()
	if found.name == "" {
		return fmt.Errorf("%w: change %d; the oldest is %d", ErrTooOld, f.next, oldest)
	}
	file, in, err := openSegment(db.files.disk, db.files.dir, found.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the file of change %d has just been removed", ErrTooOld, f.next)
	case errors.Is(err, errVersion):
		return fmt.Errorf("%w: change %d: %w", ErrTooOld, f.next, err)
	case err != nil:
		return err
	}
	f.file, f.in, f.last = file, in, found.last
	if in.first != found.first || in.store != db.life.store {
		return in.bad(fmt.Sprintf("changes from %d on of store %016x", found.first, db.life.store), fmt.Sprintf("%d, %016x", in.first, in.store))
	}
	return nil
}

// copy copies changes out of a memtable, which the caller's state has: the durable
// ones, up to feedBytes and the first large value.
func (f *Feed) copy(m *mem) error {
	db := f.db
	limit, spans := db.durable.upTo(), db.spansOf(m)
	size, next := 0, f.next
	var failed error
	enough := false
	for i, part := range spans {
		if i+1 < len(spans) && spans[i+1].first <= next {
			continue
		}
		at := part.lo
		if h := f.hint; h.segment == m.number && h.seq == next && part.lo <= h.at && h.at < part.hi {
			at = h.at
		}
		m.table.Each(at, part.hi, func(e message.Message, more bool, end int) bool {
			if e.Seq < next {
				return true
			}
			enough = e.Seq > limit || size >= feedBytes || len(f.ready) > 0 && e.Kind == message.Blob
			if enough {
				return false
			}
			var value []byte
			if value, failed = db.valueOf(e); failed != nil {
				return false
			}
			c := Change{Number: uint64(e.Seq), Kind: ChangeKind(e.Kind), More: more}
			if e.Kind == message.Blob {
				c.Kind, c.Value = ChangePut, value
				size = feedBytes
			} else {
				c.Value = append([]byte(nil), value...)
			}
			c.Key = append([]byte(nil), e.Key...)
			f.ready = append(f.ready, c)
			size += len(c.Key) + len(value) + 1
			next = e.Seq + 1
			f.hint.segment, f.hint.seq, f.hint.at = m.number, next, end
			return true
		})
		if failed != nil {
			f.ready = nil
			return explain(failed)
		}
		if enough {
			break
		}
	}
	if len(f.ready) == 0 {
		// It came into the tree in another way, as an ingest does.
		return fmt.Errorf("%w: change %d did not go through a memtable: an ingest, for example, is not in the history", ErrTooOld, f.next)
	}
	return nil
}

// await returns when the changes up to seq are durable, or with the error of the
// context or of stopped.
func (d *durability) await(ctx context.Context, seq message.Seq, stopped func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if seq <= d.reached {
		return nil
	}
	wake := context.AfterFunc(ctx, d.wake)
	defer wake()
	for d.reached < seq {
		if err := stopped(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		d.ended.Wait()
	}
	return nil
}

// wake makes all waiting feeds look again.
func (d *durability) wake() {
	d.mu.Lock()
	d.ended.Broadcast()
	d.mu.Unlock()
}

// LastChange is the number of the last change that readers see, zero in a store
// that never had one.
func (db *DB) LastChange() uint64 { return uint64(db.writer.seen()) }

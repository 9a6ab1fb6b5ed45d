// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// The path of a change. Under db.mu it gets its number and is copied into the
// arena of the active memtable; when the number is published as visible,
// readers see it, a batch as a whole. The arena is divided into frames, which
// are queued in the order of their changes and written to the journal by the
// journaler. Large values are first written to pages of the data file,
// and the message only refers to them; a frame with such messages is written
// when the pages are durable, so that recovery of the frame also finds the
// values.

// Write is what Commit waits for, in addition to Options.Durability.
type Write uint8

const (
	// NoSync returns when the changes are visible.
	NoSync Write = iota
	// Sync returns when they are durable.
	Sync
)

// Put sets the value of the key. It copies both. An env.ErrNoSpace means that
// the disk had no room and nothing was done; deletes free some.
func (db *DB) Put(key, value []byte) error { return db.change(nil, message.Put, key, value) }

// Delete removes the key, if it is present. It works on a full disk; the space
// is free again after merges have processed the delete.
func (db *DB) Delete(key []byte) error { return db.change(nil, message.Delete, key, nil) }

// DeleteRange removes all keys in [lo, hi).
func (db *DB) DeleteRange(lo, hi []byte) error {
	if err := checkRange(lo, hi); err != nil {
		return err
	}
	if string(lo) == string(hi) {
		return nil
	}
	return db.change(nil, message.RangeDelete, lo, hi)
}

// Merge applies the operand to the value of the key without reading the value.
func (db *DB) Merge(key, operand []byte) error { return db.change(nil, message.Merge, key, operand) }

// change is a batch of one, of a key as it is stored, in a keyspace or in the default
// one, nil.
func (db *DB) change(k *Keyspace, kind message.Kind, key, value []byte) error {
	if !sampled(uint64(db.writer.seen())) {
		return db.changeOne(k, kind, key, value)
	}
	start := db.clock.Now()
	err := db.changeOne(k, kind, key, value)
	if err == nil {
		db.timed(&db.operations.change, start, len(key)+len(value))
	}
	return err
}

// changeOne is change without the measuring.
func (db *DB) changeOne(k *Keyspace, kind message.Kind, key, value []byte) error {
	if err := checkSize(kind, key, value); err != nil {
		return err
	}
	if err := db.mayWrite(kind); err != nil {
		return err
	}
	db.pacing.pace(len(key) + len(value))
	var ref [message.BlobRefSize]byte
	var blob []extent.Run
	if kind == message.Put && len(value) > db.opt.Tuning.BlobBytes {
		r, run, err := db.writeBlob(value)
		if err != nil {
			return err
		}
		kind, value, blob = message.Blob, r.Append(ref[:0]), []extent.Run{run}
	}
	size := memtable.EntrySize(len(key), len(value))
	if size > db.batchMax() {
		return fmt.Errorf("%w: change of %d bytes, at most %d", ErrTooLarge, size, db.batchMax())
	}
	db.mu.Lock()
	m, err := db.active(1, size, purposeOf(kind))
	if err == nil {
		err = db.spaces.mayChange(k, k == nil && isReserved(kind, key, value))
	}
	if err != nil {
		db.mu.Unlock()
		db.forgetBlobs(blob)
		return err
	}
	db.writer.append(m, kind, key, value, false)
	m.blobs = append(m.blobs, blob...)
	return db.publishChanges(m, NoSync)
}

// Commit applies the changes of the batch, together. It does not change the
// batch.
func (db *DB) Commit(b *Batch, w Write) error {
	return db.commit(b, w, func(b *Batch) (*mem, error) {
		return db.admit(b, func() error { return nil })
	})
}

// commit is Commit in the memtable that admit returns, with db.mu locked. Without an
// error of admit the changes are numbered.
func (db *DB) commit(b *Batch, w Write, admit func(*Batch) (*mem, error)) error {
	if b.count == 0 || !sampled(uint64(db.writer.seen())) {
		return db.commitBatch(b, w, admit)
	}
	start, size := db.clock.Now(), len(b.ops)-b.count*opHeader
	err := db.commitBatch(b, w, admit)
	if err == nil {
		db.timed(&db.operations.change, start, size)
	}
	return err
}

// commitBatch is commit without the measuring.
func (db *DB) commitBatch(b *Batch, w Write, admit func(*Batch) (*mem, error)) error {
	if b.err != nil {
		return b.err
	}
	if b.count == 0 {
		if w == Sync {
			return db.Sync()
		}
		return nil
	}
	if err := db.mayWriteBatch(b); err != nil {
		return err
	}
	db.pacing.pace(len(b.ops))
	b, blobs, err := db.withBlobs(b)
	if err == nil && b.room > db.batchMax() {
		err = fmt.Errorf("%w: batch of %d bytes, at most %d", ErrTooLarge, b.room, db.batchMax())
	}
	if err != nil {
		db.forgetBlobs(blobs)
		return err
	}
	m, err := admit(b)
	if err != nil {
		db.forgetBlobs(blobs)
		return err
	}
	left := b.count
	_ = b.each(func(kind message.Kind, key, value []byte) error {
		left--
		db.writer.append(m, kind, key, value, left > 0)
		return nil
	})
	m.blobs = append(m.blobs, blobs...)
	return db.publishChanges(m, w)
}

// admit locks db.mu and returns the active memtable with room for the batch, if
// valid, which it calls under the lock, returns nil. With an error it unlocks db.mu.
func (db *DB) admit(b *Batch, valid func() error) (*mem, error) {
	db.mu.Lock()
	m, err := db.active(b.count, b.room, b.purpose())
	if err == nil {
		err = valid() // after active, which may have released the lock
	}
	if err == nil {
		err = db.spaces.mayCommit(b)
	}
	if err != nil {
		db.mu.Unlock()
		return nil, err
	}
	return m, nil
}

// batchMax is the largest size of a batch in a memtable.
func (db *DB) batchMax() int {
	return db.opt.Tuning.MemtableBytes - journal.SegmentHeader - journal.HeaderSize
}

func (db *DB) mayWrite(kind message.Kind) error {
	if db.opt.ReadOnly {
		return ErrReadOnly
	}
	if kind == message.Merge && db.opt.Merger == nil {
		return fmt.Errorf("%w: Merge needs Options.Merger", ErrMerger)
	}
	return db.err()
}

func (db *DB) mayWriteBatch(b *Batch) error {
	return b.each(func(kind message.Kind, _, _ []byte) error { return db.mayWrite(kind) })
}

// active returns the active memtable with room for that many messages of n bytes
// in all, after a rotation if necessary. The caller holds db.mu, which active
// releases while there are too many memtables, and while it asks the disk for room.
func (db *DB) active(messages, n int, p purpose) (*mem, error) {
	for again := true; ; {
		if err := db.work.awaitIngest(); err != nil {
			return nil, err
		}
		if err := db.err(); err != nil {
			return nil, err
		}
		m := db.current.Load().mems[0]
		if !m.full && m.table.Pos()+n <= len(m.arena) && m.table.RangeDeletes() < db.rangeDeletesMax() {
			if m.table.Pos()+n > m.granted {
				short, ok := db.grant(m, messages, n, p)
				if !ok {
					if db.closing.Load() {
						return nil, ErrClosed
					}
					db.work.enter() // Close leaves the file open while the disk is asked
					db.mu.Unlock()
					err := db.space.cover(short)
					db.work.leave()
					did, failed := true, error(nil)
					if errors.Is(err, env.ErrNoSpace) && short.least {
						did, failed = db.makeRoom(p)
					}
					db.mu.Lock()
					switch {
					case err != nil && !errors.Is(err, env.ErrNoSpace):
						return nil, db.stop(err)
					case failed != nil || !did && !again:
						return nil, cmp.Or(failed, db.noRoom(err))
					}
					again = did // once more: others may have made room meanwhile
					continue
				}
			}
			if m.table.Reserve(messages, n) {
				return m, nil
			}
			if m.table.Len() == 0 {
				return nil, fmt.Errorf("%w: no room for the index of a memtable", ErrMemory)
			}
		}
		if m.table.RangeDeletes() > 0 {
			db.work.awaitTombstones()
			switch {
			case db.closing.Load():
				return nil, ErrClosed // the memory may be gone
			case db.current.Load().mems[0] != m:
				continue
			}
		}
		if err := db.rotate(); err != nil {
			return nil, err
		}
	}
}

// tombstonePart is the part of Options.Memory that the range deletes of branches may
// take before changes wait for merges to apply them.
const tombstonePart = 32

// tombstoneBytesMax is how much memory the range deletes of branches may take, in bytes.
func (db *DB) tombstoneBytesMax() int64 { return db.opt.Memory / tombstonePart }

// rangeDeletesMax is the number of range deletes that a memtable takes before
// the next one is begun: every read of a memtable, and every iterator, checks
// each of them.
func (db *DB) rangeDeletesMax() int {
	return max(db.opt.Tuning.MemtableBytes/2048, 256)
}

// rotate makes a new active memtable. The caller holds db.mu.
func (db *DB) rotate() error {
	s := db.current.Load()
	if len(s.mems) > memsMax {
		return db.work.awaitFlush()
	}
	// A future flush will free memory; so will iterators that hold memtables
	// which are already in the tree. Without either, waiting would not help,
	// and the memtable is allocated in any case.
	if db.crowded() && (len(s.mems) > 1 || db.writer.behind()) {
		for db.crowded() && db.views.park() {
		}
		if db.crowded() {
			return db.work.awaitFlush()
		}
	}
	m := s.mems[0]
	size := db.opt.Tuning.MemtableBytes
	fresh := db.newMem(m.number+1, db.writer.last()+1, size)
	if fresh == nil {
		return fmt.Errorf("%w: no room for a memtable of %d bytes", ErrMemory, size)
	}
	m.keep = min(m.keep, db.memKeep(m.table.Pos(), m.table.Len())) // it is full: pages granted beyond its contents are not needed
	db.writer.closeFrame(m)
	if db.opt.Durability == ProcessCrash {
		db.work.wakeJournaler() // the last piece of a memtable waits for nothing
	}
	db.writer.add(fresh)
	db.publish(append([]*mem{fresh}, s.mems...))
	db.work.wake()
	return nil
}

// memsMax is the largest number of memtables that wait to be written, besides
// the active one.
const memsMax = 2

// publishChanges makes the changes so far visible, releases db.mu, and waits
// for what the caller requested.
func (db *DB) publishChanges(m *mem, w Write) error {
	seq := db.writer.publish()
	wait := w == Sync || db.opt.Durability == EveryCommit
	if db.traced {
		db.tracer.Trace(Changed{Version: uint64(seq)})
		if wait {
			db.tracer.Trace(SyncAsked{Version: uint64(seq)})
		}
	}
	if db.opt.Durability == ProcessCrash && m.table.Pos()-m.frame >= FrameBytes {
		db.writer.closeFrame(m)
		db.work.wakeJournaler()
	}
	db.mu.Unlock()
	if err := db.err(); err != nil {
		return err
	}
	if wait {
		if err := db.syncTo(seq); err != nil {
			return err
		}
	}
	return db.inline()
}

// writeBlob writes a large value to pages of its own. The next sync of the data
// file makes it durable.
func (db *DB) writeBlob(value []byte) (message.BlobRef, extent.Run, error) {
	if err := db.enter(); err != nil {
		return message.BlobRef{}, extent.Run{}, err
	}
	defer db.work.leave()
	for again := true; ; {
		ref, run, err := db.putBlob(value, forPuts)
		if err == nil {
			db.hasRoom()
		}
		if refused := (pagesRefused{}); !errors.Is(err, env.ErrNoSpace) || errors.As(err, &refused) {
			return ref, run, err
		}
		did, failed := db.makeRoom(forPuts)
		if failed != nil || !did && !again {
			return ref, run, cmp.Or(failed, db.noRoom(err))
		}
		again = did // once more: others may have made room meanwhile
	}
}

// pagesRefused means that the disk has no room to write pages that are already part
// of the file: the disk never writes in place, or cannot allocate. Space that the
// store frees within the file does not help then.
type pagesRefused struct{ error }

func (e pagesRefused) Unwrap() error { return e.error }

// putBlob is writeBlob in pages for that purpose, for callers for which Close
// already waits.
func (db *DB) putBlob(value []byte, p purpose) (message.BlobRef, extent.Run, error) {
	pages := uint32((len(value) + extent.PageSize - 1) / extent.PageSize)
	run, err := db.space.take(pages, p)
	if err != nil {
		return message.BlobRef{}, run, fmt.Errorf("write a value of %d bytes: %w", len(value), err)
	}
	if err := db.space.like(run); err != nil {
		return message.BlobRef{}, run, err
	}
	size := min(int(run.Bytes()), blobPiece)
	buf, ok := db.pool.Alloc(size)
	if !ok {
		db.forgetBlobs([]extent.Run{run})
		return message.BlobRef{}, run, fmt.Errorf("%w: no buffer of %d bytes", ErrMemory, size)
	}
	defer db.pool.Free(buf)
	for at := 0; at < len(value); at += size {
		n := copy(buf, value[at:])
		end := (n + extent.PageSize - 1) / extent.PageSize * extent.PageSize
		clear(buf[n:end])
		if _, err := db.files.data.WriteAt(buf[:end], run.Addr()+int64(at)); err != nil {
			db.forgetBlobs([]extent.Run{run})
			return message.BlobRef{}, run, fmt.Errorf("write a value of %d bytes: %w", len(value), pagesRefused{err})
		}
	}
	db.metrics.blobBytes.Add(run.Bytes())
	return message.BlobRef{Addr: run.Addr(), Len: uint32(len(value)), CRC: crc32.Checksum(value, db.crc)}, run, nil
}

// blobPiece is how much of a large value is written at a time.
const blobPiece = 1 << 20

// forgetBlobs frees the pages of values whose change was not made.
func (db *DB) forgetBlobs(runs []extent.Run) {
	for _, r := range runs {
		db.space.unlike(r)
	}
}

// withBlobs returns the batch with large values written and replaced, or the
// batch itself.
func (db *DB) withBlobs(b *Batch) (*Batch, []extent.Run, error) {
	large := false
	_ = b.each(func(kind message.Kind, _, value []byte) error {
		large = large || kind == message.Put && len(value) > db.opt.Tuning.BlobBytes
		return nil
	})
	if !large {
		return b, nil, nil
	}
	var runs []extent.Run
	out := &Batch{spaces: b.spaces, drops: b.drops, reserved: b.reserved}
	err := b.each(func(kind message.Kind, key, value []byte) error {
		if kind != message.Put || len(value) <= db.opt.Tuning.BlobBytes {
			out.append(kind, key, value)
			return nil
		}
		ref, run, err := db.writeBlob(value)
		if err != nil {
			return err
		}
		runs = append(runs, run)
		out.append(message.Blob, key, ref.Append(nil))
		return nil
	})
	return out, runs, err
}

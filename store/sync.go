package store

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store/journal"
	"github.com/ashlar-dev/ashlar/store/message"
	"github.com/ashlar-dev/ashlar/store/table"
)

// store is the store's name for its journal.
func (db *DB) store() uint64 { return db.name }

// frame is a piece of a memtable's arena that is to be written to the journal.
type frame struct {
	m      *mem
	lo, hi int // hi is the end of what is used, before padding
	first  message.Seq
	count  uint32
	blobs  bool
}

// closeFrame ends the open frame of a memtable and queues it. The caller holds
// db.mu.
func (db *DB) closeFrame(m *mem) {
	if m.frameCount == 0 || m.full {
		return
	}
	db.queue = append(db.queue, frame{
		m: m, lo: m.frame, hi: m.table.Pos(), first: m.frameFirst, count: m.frameCount, blobs: len(m.blobs) > 0,
	})
	m.frame = pad(m.table.Pos())
	m.frameFirst, m.frameCount = db.seq+1, 0
	if next := m.frame + journal.HeaderSize; next >= len(m.arena) || !m.table.Skip(next) {
		m.full = true
	}
}

// pad rounds up to the unit of the journal.
func pad(n int) int { return (n + 4095) &^ 4095 }

// Sync makes all changes durable that were made before.
func (db *DB) Sync() error {
	if db.opt.ReadOnly {
		return ErrReadOnly
	}
	if err := db.err(); err != nil {
		return err
	}
	if err := db.syncTo(db.askSync()); err != nil {
		return err
	}
	return db.inline()
}

// askSync is the number of the last change that is visible. Who listens is told
// under db.mu, so that no change comes between.
func (db *DB) askSync() message.Seq {
	if !db.traced {
		return message.Seq(db.visible.Load())
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.tracer.Trace(SyncAsked{Version: uint64(db.seq)})
	return db.seq
}

// syncTo makes the changes up to seq durable. Of those who wait, one does the
// work for all.
func (db *DB) syncTo(seq message.Seq) (err error) {
	if db.traced {
		defer func() {
			if err == nil {
				db.tracer.Trace(SyncAnswered{Version: uint64(seq)})
			}
		}()
	}
	lead, err := db.durable.lead(seq, db.err)
	if !lead {
		return err
	}
	var upTo message.Seq
	if err = db.flushRecovered(); err == nil {
		upTo, err = db.syncNow()
	}
	if errors.Is(err, env.ErrNoSpace) {
		// The journal has no room, but the tree has: pages are kept for it.
		upTo, err = seq, db.flushMems(false)
	}

	if err != nil {
		upTo = 0
	}
	db.durable.end(upTo)
	return err
}

// flushRecovered puts what recovery has read of the journal into the tree, when
// the files are not open past the page cache: an earlier life may have failed to
// sync these frames, and then the cache shows as clean what the disk does not
// have, and no sync of this life writes it.
func (db *DB) flushRecovered() error {
	for !db.direct {
		db.mu.Lock()
		some := db.journalMems[0].recovered
		db.mu.Unlock()
		if !some {
			break
		}
		if err := db.flushOldest(); err != nil {
			return err
		}
	}
	return nil
}

// syncNow writes and syncs all frames, and answers up to which change.
func (db *DB) syncNow() (message.Seq, error) {
	db.mu.Lock()
	if err := db.err(); err != nil { // it may have been closed, and its memory given back
		db.mu.Unlock()
		return 0, err
	}
	upTo := db.seq
	db.closeFrame(db.current.Load().mems[0])
	db.mu.Unlock()
	db.jmu.Lock()
	defer db.jmu.Unlock()
	if err := db.writeFrames(); err != nil {
		return 0, err
	}
	if db.journaled < upTo {
		// What recovery has read is not durable by that: the life that wrote it
		// may have ended without the machine.
		if err := db.journal.Sync(); err != nil {
			return 0, db.stop(fmt.Errorf("sync the journal: %w", err))
		}
		db.metrics.syncs.Add(1)
	}
	db.journaled = max(db.journaled, upTo)
	db.trace(func() env.Event { return Journaled{Version: uint64(upTo)} })
	return upTo, nil
}

// writeFrames writes what is queued. The caller holds db.jmu.
func (db *DB) writeFrames() error {
	if err := db.err(); err != nil {
		return err
	}
	db.mu.Lock()
	frames := db.queue
	db.queue = nil
	db.mu.Unlock()
	for i, f := range frames {
		if f.blobs {
			if err := db.data.Sync(); err != nil {
				return db.stop(fmt.Errorf("sync %s before the journal: %w", dataFile, err))
			}
			for k := i; k < len(frames); k++ {
				frames[k].blobs = false
			}
		}
		if err := db.writeFrame(f); errors.Is(err, env.ErrNoSpace) && f.m.segment == nil {
			// No file for the segment: nothing has happened, and it may be
			// tried again.
			db.mu.Lock()
			db.queue = append(frames[i:len(frames):len(frames)], db.queue...)
			db.mu.Unlock()
			return fmt.Errorf("write the journal: %w", err)
		} else if err != nil {
			return db.stop(fmt.Errorf("write the journal: %w", err))
		}
	}
	return nil
}

func (db *DB) writeFrame(f frame) error {
	m := f.m
	image := m.table.Bytes(f.lo, pad(f.hi))
	crc := journal.Seal(image, journal.Header{
		Store: db.store(), Segment: m.number, Offset: uint32(f.lo), First: f.first, Count: f.count, Len: uint32(f.hi - f.lo),
		Session: db.session, Prev: db.chain, Durable: db.journaled, Start: !db.started,
	})
	if m.segment == nil {
		segment, err := db.journal.Begin(journal.SegmentInfo{
			Number: m.number, Size: uint32(len(m.arena)), First: f.first, Prev: db.chain, Session: db.session,
		}, m.arena)
		if err != nil {
			return err
		}
		m.segment = segment
		m.chain = table.Chain{Prev: db.chain, Session: db.chainSession}
	}
	if err := m.segment.Write(f.lo, pad(f.hi)); err != nil {
		return err
	}
	db.metrics.journalBytes.Add(int64(pad(f.hi) - f.lo))
	db.chain, db.chainSession, db.started = crc, db.session, true
	return nil
}

// drainJournal writes what is queued without syncing it.
func (db *DB) drainJournal() error {
	db.jmu.Lock()
	defer db.jmu.Unlock()
	return db.writeFrames()
}

// cancelFrames takes the frames out of the queue whose changes a superblock has
// made durable. The caller holds db.jmu.
func (db *DB) cancelFrames(upTo uint64) {
	db.mu.Lock()
	kept := db.queue[:0]
	for _, f := range db.queue {
		if f.m.number > upTo {
			kept = append(kept, f)
		}
	}
	clear(db.queue[len(kept):])
	db.queue = kept
	db.mu.Unlock()
}

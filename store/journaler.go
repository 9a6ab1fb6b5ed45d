// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/table"
)

// journaler writes frames to the journal, in the order in which the writer has
// queued them.
type journaler struct {
	db *DB
	// mu is taken after checkpointer.mu and before DB.mu. Its holder writes
	// frames, or a superblock, which says where the journal continues.
	mu     invariant.Mutex
	log    *journal.Log // nil until recovery has opened it
	buffer []byte       // of log

	// The checksum and the session of the last frame, and whether this life has
	// written any.
	chain        uint32
	chainSession uint64
	started      bool
	synced       message.Seq // the changes up to this one are durable
	witness      witness
}

func (j *journaler) init(db *DB) {
	j.db = db
	j.mu.SetRank(rankJournal, "journal")
}

// open opens the journal and its buffer, which the log uses until close. Everything
// that w calls durable must be in the journal, or in the tree.
func (j *journaler) open(buffer int, w journal.Testimony) (*journal.Log, error) {
	db := j.db
	var ok bool
	if j.buffer, ok = db.pool.Alloc(buffer); !ok {
		return nil, fmt.Errorf("%w: no buffer of %d bytes to read the journal", ErrMemory, buffer)
	}
	var err error
	j.log, err = journal.Open(db.files.disk, db.files.dir, journal.Options{
		Store: db.life.store, Witness: w, Direct: true, Buffer: j.buffer,
	})
	return j.log, err
}

// resume, called by recovery, receives the end of what it has read; the changes up to synced
// are durable.
func (j *journaler) resume(end journal.ChainState, synced message.Seq) {
	j.chain, j.chainSession, j.synced = end.Prev, end.Session, synced
}

// close closes the journal. The lock is held, or there are no other users.
func (j *journaler) close() error {
	if j.buffer != nil {
		j.db.pool.Free(j.buffer)
	}
	if j.log == nil {
		return nil
	}
	return j.log.Close()
}

func (j *journaler) lock()   { j.mu.Lock() }
func (j *journaler) unlock() { j.mu.Unlock() }

// drain writes what is queued without syncing it.
func (j *journaler) drain() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.writeFrames()
}

// sync writes what is queued and makes it durable: the changes up to upTo.
func (j *journaler) sync(upTo message.Seq) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := j.db.metrics.journalBytes.Load() // which this lock guards
	if err := j.writeFrames(); err != nil {
		return err
	}
	j.db.operations.sync.size.Add(j.db.metrics.journalBytes.Load() - before)
	if j.synced < upTo {
		// The frames that recovery has read are not durable by that: the life that
		// wrote them may have ended without a crash of the machine.
		if err := j.log.Sync(); err != nil {
			return j.db.stop(fmt.Errorf("sync the journal: %w", err))
		}
		j.db.metrics.syncs.Add(1)
	}
	j.synced = max(j.synced, upTo)
	j.db.trace(func() env.Event { return Journaled{Version: uint64(upTo)} })
	return nil
}

// writeFrames writes what is queued. The caller holds j.mu.
func (j *journaler) writeFrames() error {
	db := j.db
	if err := cmp.Or(db.err(), db.settleFound()); err != nil {
		return err
	}
	frames := db.writer.takeFrames()
	for i, f := range frames {
		if f.blobs {
			if err := db.files.data.Sync(); err != nil {
				return db.stop(fmt.Errorf("sync %s before the journal: %w", datafile.Name, err))
			}
			for k := i; k < len(frames); k++ {
				frames[k].blobs = false
			}
		}
		if err := j.writeFrame(f); errors.Is(err, env.ErrNoSpace) && f.m.segment == nil {
			// No file for the segment: nothing has happened, and it may be tried
			// again.
			db.writer.returnFrames(frames[i:])
			return fmt.Errorf("write the journal: %w", err)
		} else if err != nil {
			return db.stop(fmt.Errorf("write the journal: %w", err))
		}
	}
	return nil
}

func (j *journaler) writeFrame(f frame) error {
	m, life := f.m, j.db.life
	image := m.table.Bytes(f.lo, pad(f.hi))
	crc := journal.Seal(image, journal.Header{
		Store: life.store, Segment: m.number, Offset: uint32(f.lo), First: f.first, Count: f.count, Len: uint32(f.hi - f.lo),
		Session: life.session, Prev: j.chain, Durable: j.synced, Start: !j.started,
	})
	if m.segment == nil {
		segment, err := j.log.Begin(journal.SegmentInfo{
			Number: m.number, Size: uint32(len(m.arena)), First: f.first, Prev: j.chain, Session: life.session,
		}, m.arena)
		if err != nil {
			return err
		}
		m.segment = segment
		m.chain = table.Chain{Prev: j.chain, Session: j.chainSession}
	}
	if err := m.segment.Write(f.lo, pad(f.hi)); err != nil {
		return err
	}
	j.db.metrics.journalBytes.Add(int64(pad(f.hi) - f.lo))
	j.chain, j.chainSession, j.started = crc, life.session, true
	return nil
}

// stand is called to make a superblock durable, which leads to the changes up to
// cut, and of which oldest is the first memtable that it does not contain. It
// calls write with the state of the journal at the segment of that memtable,
// which stays true meanwhile: no frame is written. What the superblock contains
// needs no journal then.
func (j *journaler) stand(oldest *mem, cut message.Seq, write func(table.Chain) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	chain := table.Chain{Prev: j.chain, Session: j.chainSession}
	if oldest.segment != nil || oldest.recovered {
		chain = oldest.chain
	}
	if err := write(chain); err != nil {
		return err
	}
	j.db.writer.cancelFrames(oldest.number - 1)
	j.synced = max(j.synced, cut)
	return nil
}

// retire gives up the segments up to that number, which no superblock needs.
func (j *journaler) retire(number uint64) {
	if err := j.log.Retire(number); err != nil {
		_ = j.db.stop(fmt.Errorf("retire segments of the journal up to %d: %w", number, err))
	}
}

// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"path"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/table"
)

// Sync makes all earlier changes durable.
func (db *DB) Sync() error {
	if db.opt.ReadOnly {
		return ErrReadOnly
	}
	defer db.notices.inline()
	if err := db.err(); err != nil {
		return err
	}
	if err := db.syncTo(db.askSync()); err != nil {
		return err
	}
	return db.inline()
}

// askSync is the number of the last change that is visible. A tracer is notified
// under db.mu, so that no change comes between.
func (db *DB) askSync() message.Seq {
	if !db.traced {
		return db.writer.seen()
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	seq := db.writer.last()
	db.tracer.Trace(SyncAsked{Version: uint64(seq)})
	return seq
}

// syncTo makes the changes up to seq durable. Of the calls that wait for that,
// one does the work for all.
func (db *DB) syncTo(seq message.Seq) (err error) {
	start := db.clock.Now()
	defer func() {
		if err == nil {
			db.operations.sync.latency.Add(int64(db.clock.Now().Sub(start)))
		}
	}()
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

// flushRecovered writes the changes that recovery has read from the journal to the
// tree, when the files are not open past the page cache: an earlier life may have
// failed to sync these frames; the cache may then show as clean frames that the
// disk does not have, and no sync of this life writes them.
func (db *DB) flushRecovered() error {
	for !db.files.direct && db.writer.hasRecovered() {
		if err := db.flushOldest(); err != nil {
			return err
		}
	}
	return nil
}

// syncNow writes and syncs all frames, and returns the last change that they include.
func (db *DB) syncNow() (message.Seq, error) {
	db.mu.Lock()
	if err := db.err(); err != nil { // it may have been closed, and its memory given back
		db.mu.Unlock()
		return 0, err
	}
	if err := db.work.awaitIngest(); err != nil { // a superblock is to make it durable
		db.mu.Unlock()
		return 0, err
	}
	upTo := db.writer.last()
	db.writer.closeFrame(db.current.Load().mems[0])
	db.mu.Unlock()
	if err := db.journal.sync(upTo); err != nil {
		return 0, err
	}
	return upTo, nil
}

// syncData syncs the data file, with the superblock written again if that is
// necessary. Lack of room for it is not an error: the store does it later.
func (r *recovery) syncData() error {
	db := r.db
	if r.image != nil {
		cut := message.Seq(r.super.Cut)
		found := &foundSuper{r.image, table.SuperAddr(r.slot), r.super.Seq, func() { db.durable.reach(cut) }}
		r.image = nil
		err := found.rewrite(db.files.data)
		if errors.Is(err, env.ErrNoSpace) {
			db.log.Warn("the disk has no room to rewrite the superblock that was found: the store writes nothing until there is room", "error", err)
			db.space.postpone(found)
			return nil
		}
		return err
	}
	if err := db.files.data.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", datafile.Name, err)
	}
	return nil
}

// syncFound makes durable everything on which recovery relies, whichever life it is
// from: the data file, its name, and that of the directory; and the superblock, if the
// data file is not open past the page cache (settle.go).
func (r *recovery) syncFound() error {
	db := r.db
	db.journal.placeWitness()
	if err := r.syncData(); err != nil {
		return err
	}
	if err := db.files.disk.SyncDir(db.files.dir); err != nil {
		return err
	}
	return db.files.disk.SyncDir(path.Dir(db.files.dir))
}

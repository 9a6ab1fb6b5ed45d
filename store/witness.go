// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Damage to the frames of the last Sync, or to the newest superblock, looks like a
// write that a crash has cut short. A witness distinguishes them: a page of the data
// file that records up to which change everything was durable. It is written some
// time after a Sync has returned, and has no sync of its own: a witness that a crash
// leaves is true, and one that a crash loses is not needed.
//
// The background writes it when its timer ends and there is something new to record,
// so at most four times a second; Wait and Close write it, too.
//
// The page has room on the disk before it is written: a write into a hole might be
// refused or, worse, be accepted and fail with the next sync, which stops the store.
// A new file has it; a file from before there were witnesses gets it when it is
// opened. A life in which the disk has no room for it writes no witness.

// witness is the content of the page, or what could not be written.
type witness struct {
	durable atomic.Uint64
	off     bool // the page has no room on the disk
	failed  bool // to be written, at least once
}

// says reports whether the witness records that the changes up to seq are durable.
func (w *witness) says(seq message.Seq) bool { return w.durable.Load() >= uint64(seq) }

// hasNews reports whether the witness must be written, now that the changes up to
// seq are durable.
func (j *journaler) hasNews(seq message.Seq) bool { return !j.witness.says(seq) }

// resumeWitness, called by recovery, receives the content of the witness.
func (j *journaler) resumeWitness(w journal.Testimony) {
	if !j.witness.off {
		j.witness.durable.Store(uint64(w.Durable))
	}
}

// placeWitness makes sure that the page of the witness has room on the disk.
func (j *journaler) placeWitness() {
	if err := datafile.AllocateHead(j.db.files.data); err != nil {
		j.witness.off = true
		j.witness.durable.Store(math.MaxUint64) // there is never anything to record
		j.db.log.Warn("no room for the witness: damage to the last synced changes may go unnoticed", "error", err)
	}
}

// testify writes the witness, if there is something new to record. Nothing relies on
// it, so an error is only logged.
func (j *journaler) testify() {
	db := j.db
	if db.opt.ReadOnly {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if db.err() != nil || db.closing.Load() || !db.space.isSettled() || j.witness.says(j.synced) {
		return
	}
	buf, ok := db.pool.Alloc(datafile.WitnessSize)
	if !ok {
		return // later
	}
	defer db.pool.Free(buf)
	datafile.EncodeWitness(buf, db.life.uuid, uint64(j.synced))
	if _, err := db.files.data.WriteAt(buf, datafile.WitnessAddr); err != nil && !j.witness.failed {
		j.witness.failed = true // the next one may fail as well, four times a second
		db.log.Warn("write the witness", "error", err)
	}
	j.witness.durable.Store(uint64(j.synced))
}

// readWitness returns the change that the witness of the store records. A place that
// cannot be read records nothing.
func (r *recovery) readWitness() (journal.Testimony, error) {
	db := r.db
	w := journal.Testimony{File: datafile.Name, Offset: datafile.WitnessAddr}
	buf, ok := db.pool.Alloc(datafile.WitnessSize)
	if !ok {
		return w, fmt.Errorf("%w: no buffer of %d bytes", ErrMemory, datafile.WitnessSize)
	}
	defer db.pool.Free(buf)
	durable, err := datafile.ReadWitness(db.files.data, buf, db.life.uuid)
	if err != nil {
		db.log.Warn("read the witness", "error", err)
	}
	w.Durable = message.Seq(durable)
	db.journal.resumeWitness(w)
	return w, nil
}

// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// An ingest writes branches while the store is in use, and puts them into the tree
// at its end. The difficulty is the number of its records, which is in their
// blocks: at the end it must be above all numbers in use, and no view may have been
// opened at it or above. So an ingest takes a number far ahead at its beginning,
// and its end moves the numbers of the store there.
//
// Numbers of changes in the journal follow each other without a gap. Therefore
// writers wait while the end of an ingest flushes the memtables, attaches the
// branches, and makes the checkpoint after which the journal begins above the
// number. If power fails before that superblock is durable, only free pages on the
// disk have the number.

// ingestLead is how many changes may be made while an ingest is open: one in 2^24 of
// the numbers that are left, of 2^56. So no number of ingests uses them up: a hundred
// million leave room for ten million changes during the next.
func ingestLead(last message.Seq) message.Seq { return (message.MaxSeq - last) >> 24 }

// Ingest makes branches from records that arrive in the order of their keys,
// without journal and memtables: it writes each record once. Before Commit none
// of it is visible or survives a crash; when Commit returns, all of it is visible
// and durable. It is safe for concurrent use. The caller must end it with Commit
// or Discard.
//
// It holds one buffer and the fences of its records, about 1/200 of their size,
// in memory (Options.Memory). The pages of an uncommitted ingest are free in
// the next life.
//
// While it is open, others may make 2^32 changes; after more, Commit returns
// ErrTooLarge. This number shrinks with the remaining change numbers, of which each
// ingest uses one part in 2^24: it is half as large after 12 million ingests.
type Ingest struct {
	db *DB
	// mu is taken before all other locks of the store.
	mu    invariant.Mutex
	space *Keyspace   // nil: the default one
	lead  message.Seq // of seq, from what was the last number when it began
	seq   message.Seq
	ended error // nil: it takes records
	out   []*trunk.Branch
	w     *branch.Writer
	blobs []extent.Run // of the branch that is being written

	last    []byte // the last key
	begun   bool   // there is one
	records int64
	bytes   int64
	guess   int   // records in a branch
	leaf    int64 // how long the branch that is being written is to become
}

// Ingest begins an ingest. There is one at a time.
func (db *DB) Ingest() (*Ingest, error) { return db.newIngest(nil) }

func (db *DB) newIngest(k *Keyspace) (*Ingest, error) {
	if err := db.mayWrite(message.Put); err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.open(); err != nil {
		return nil, err
	}
	if db.ingest != nil {
		return nil, ErrIngest
	}
	lead := ingestLead(db.writer.last())
	i := &Ingest{db: db, space: k, lead: lead, seq: db.writer.last() + lead, guess: 1024}
	if lead == 0 {
		return nil, fmt.Errorf("%w: no more change numbers", ErrTooLarge)
	}
	i.mu.SetRank(rankIngest, "ingest")
	db.ingest = i
	return i, nil
}

// Put adds a record, whose key must be above the one before: otherwise the error
// is ErrOrder, and nothing is added. It copies both. After any error but ErrOrder
// and ErrTooLarge the ingest can only be discarded. An env.ErrNoSpace means that the
// records do not fit on the disk beside the reserve (Metrics.ReserveBytes).
func (i *Ingest) Put(key, value []byte) error {
	key = i.space.stored(key)
	if err := checkSize(message.Put, key, value); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended != nil {
		return i.ended
	}
	if err := i.db.err(); err != nil {
		return err
	}
	if i.begun && bytes.Compare(key, i.last) <= 0 {
		n := len(i.space.start())
		return fmt.Errorf("%w: %q after %q", ErrOrder, key[n:], i.last[n:])
	}
	if err := i.put(key, value); err != nil {
		err = explain(err)
		i.drop(err)
		return err
	}
	i.last, i.begun = append(i.last[:0], key...), true
	i.records++
	i.bytes += int64(len(key) + len(value))
	return nil
}

func (i *Ingest) put(key, value []byte) error {
	db := i.db
	if i.w != nil && i.w.Bytes() >= i.leaf {
		if err := i.finish(); err != nil {
			return err
		}
	}
	if i.w == nil {
		if err := i.begin(); err != nil {
			return err
		}
	}
	m := message.Message{Key: key, Value: value, Seq: i.seq, Kind: message.Put}
	if len(value) > db.opt.Tuning.BlobBytes {
		ref, run, err := db.putBlob(value, forPuts)
		if err != nil {
			return err
		}
		i.blobs = append(i.blobs, run)
		m.Kind, m.Value = message.Blob, ref.Append(nil)
	}
	return i.w.Add(m)
}

// begin begins a branch, when there is room for it.
func (i *Ingest) begin() (err error) {
	db := i.db
	db.mu.Lock()
	var held int64
	for _, b := range i.out {
		held += int64(b.Meta.Bytes)
	}
	i.leaf = db.tree.leaf(held)
	db.mu.Unlock()
	need := mergedPages(i.leaf, 1)
	if !db.space.spare(need) && !(db.freeRetired() && db.space.spare(need)) {
		return db.noRoom(env.ErrNoSpace)
	}
	i.w, err = branch.NewWriter(db.branchOptions(forPuts, false), db.newID(), db.life.epoch, i.guess)
	return err
}

// finish ends the branch that is being written.
func (i *Ingest) finish() error {
	meta, index, err := i.w.Finish()
	if err != nil {
		return err
	}
	i.w = nil
	b, err := i.db.newBranch(meta, index)
	if err != nil {
		return err
	}
	i.out, i.guess = append(i.out, b), int(meta.Records+meta.Records/16)
	i.db.forgetBlobs(i.blobs) // the branch likes them by itself
	i.blobs = nil
	return nil
}

// Commit makes the records visible, all in one moment, and durable. They replace
// the values that their keys had. All earlier changes are then durable too.
// Other writers wait while the memtables and a superblock are written; readers
// do not.
//
// After an error nothing has changed and the ingest is discarded, unless the
// error is ErrStopped: then the next life has all or nothing of it.
func (i *Ingest) Commit() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended != nil {
		return i.ended
	}
	err := i.db.err()
	if err == nil && i.w != nil {
		err = i.finish()
	}
	if err == nil && len(i.out) > 0 {
		err = i.commit()
	}
	err = explain(err)
	i.drop(errEnded)
	if err != nil {
		return err
	}
	return i.db.inline()
}

// errEnded is the error of calls after the end.
var errEnded = fmt.Errorf("%w: the ingest has ended", ErrClosed)

// commit puts the branches into the tree while all writers wait.
func (i *Ingest) commit() error {
	db := i.db
	if err := db.flushMems(false); err != nil { // the earlier changes, while writers continue
		return err
	}
	db.work.hold()
	defer db.work.letGo()
	if err := db.flushMems(false); err != nil {
		return err
	}
	db.checkpoints.lock()
	defer db.checkpoints.unlock()
	if err := db.checkpoints.reserve(i.tableBytes()); err != nil { // after attach it would stop the store
		return err
	}
	defer db.checkpoints.release()
	// Readers neither use nor fill the record cache from before it is cleared until they
	// see the new tree; values that they are storing in it before or after that are
	// refused.
	db.uncached.Store(true)
	db.cache.Advance()
	db.cache.Clear()
	err := i.attach()
	db.cache.Advance()
	db.uncached.Store(false)
	if err != nil {
		return err
	}
	i.out = nil // the tree's
	if err := db.checkpoints.write(false); err != nil {
		// The records are visible, and the numbers behind them must not come to the
		// journal before the superblock.
		return db.stop(err)
	}
	return nil
}

// tableBytes is what the table grows by: for each branch its object, and a node's
// reference.
func (i *Ingest) tableBytes() (n int) {
	for _, b := range i.out {
		n += 2 * len(b.Meta.Append(nil))
	}
	return n
}

// attach is the moment at which an ingest becomes visible. All memtables are empty.
func (i *Ingest) attach() error {
	db := i.db
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.err(); err != nil {
		return err
	}
	if err := db.open(); err != nil {
		return err
	}
	s := db.current.Load()
	empty := s.mems[0]
	invariant.Check(len(s.mems) == 1 && empty.table.Len() == 0, "an ingest ends while a memtable has changes")
	if db.writer.last() >= i.seq {
		return fmt.Errorf("%w: the store made more than %d changes while the ingest was open", ErrTooLarge, i.lead)
	}
	last := i.space == nil && isReserved(message.Put, i.last, nil) // the greatest of all
	if err := db.spaces.mayChange(i.space, last); err != nil {
		return err
	}
	var bytes int64
	for _, b := range i.out {
		bytes += int64(b.Meta.Bytes)
	}
	// What merging them takes, and the checkpoint, must have room.
	need := mergedPages(bytes, len(i.out)) + 2*pagesOf(int64(i.tableBytes())) + 8
	for {
		short, ok := db.space.admit(db.keepWith(nil, need), forPuts)
		if ok {
			break
		}
		db.mu.Unlock() // writers wait all the same
		err := db.space.cover(short)
		db.mu.Lock()
		if err != nil {
			return db.noRoom(err)
		}
		if err := cmp.Or(db.err(), db.open()); err != nil {
			return err
		}
	}
	fresh := db.newMem(empty.number+1, i.seq+1, db.opt.Tuning.MemtableBytes)
	if fresh == nil {
		return fmt.Errorf("%w: no room for a memtable", ErrMemory)
	}
	db.writer.jump(i.seq, i.records, i.bytes)
	db.writer.add(fresh)
	db.tree.attach(i.out...)
	seq := db.writer.publish()
	if db.traced {
		db.tracer.Trace(Changed{Version: uint64(seq)})
	}
	db.publish([]*mem{fresh})
	return nil
}

// Discard gives up the ingest, if it has not ended. It can be called at any time.
func (i *Ingest) Discard() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.drop(errEnded)
}

// drop ends the ingest; later calls get the error. The caller holds i.mu.
func (i *Ingest) drop(err error) {
	if i.ended != nil {
		return
	}
	i.ended = err
	if i.w != nil {
		i.w.Abort()
		i.w = nil
	}
	for _, b := range i.out {
		i.db.discard(b)
	}
	i.out = nil
	i.db.forgetBlobs(i.blobs)
	i.blobs = nil
	i.db.mu.Lock()
	i.db.ingest = nil
	i.db.mu.Unlock()
}

// endIngest is called when the store is closing: no ingest begins any more.
func (db *DB) endIngest() {
	db.mu.Lock()
	i := db.ingest
	db.mu.Unlock()
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.drop(ErrClosed)
}

var (
	// ErrOrder reports that a key given to an Ingest is not above the one before.
	ErrOrder = errors.New("keys of an ingest must ascend")
	// ErrIngest reports that there is an Ingest which was neither committed nor
	// discarded.
	ErrIngest = errors.New("another ingest is open")
)

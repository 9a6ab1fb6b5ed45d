// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// A compaction merges branches of one pivot of the trunk into new ones, which
// take their place. At the bottom it drops what is deleted.

func (db *DB) policy(e eagerness) trunk.Policy {
	oldest := db.views.oldestSeq()
	return trunk.Policy{
		Alpha: alphas[e], Snapshots: oldest != message.MaxSeq, Oldest: oldest, Idle: e != changing, Skip: db.tree.isSpoiled, Busy: db.tree.isBusy,
		ManyTombstones: db.tree.tombstoneBytes() > db.tombstoneBytesMax()/2,
	}
}

func (db *DB) nextJob(e eagerness, r *refusals) *trunk.Job {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.nextJobLocked(e, r)
}

// nextJobLocked takes the most urgent job; after refusals, the most urgent of the
// others at the bottom. Flushes of the trunk are done at once: they only move
// references.
func (db *DB) nextJobLocked(e eagerness, r *refusals) *trunk.Job {
	p := r.policy(db, e)
	for {
		if db.err() != nil {
			return nil
		}
		j := db.tree.next(p)
		if j == nil || !j.Flush {
			return j
		}
		if db.tree.flush(j) {
			db.metrics.flushes.Add(1)
		}
		db.publish(db.current.Load().mems)
	}
}

// errAborted reports that a compaction was abandoned.
var errAborted = errors.New("compaction abandoned")

// run merges the inputs of a job, and puts the result in their place.
func (db *DB) run(j *trunk.Job) error {
	start := db.clock.Now()
	event := CompactionEnded{CompactionBegan: CompactionBegan{Level: j.Level, Bottom: j.Bottom, Branches: len(j.Inputs), Bytes: j.Bytes()}}
	db.notices.add(event.CompactionBegan)
	outputs, err := db.mergeWithin(j)
	if err == nil {
		db.mu.Lock()
		if db.tree.commit(j, outputs) {
			db.publish(db.current.Load().mems)
		} else {
			err = errAborted
		}
		db.mu.Unlock()
	}
	if err != nil {
		for _, b := range outputs {
			db.discard(b)
		}
		err = db.mergeError(j, err)
	}
	db.merged(event, outputs, start, err)
	for _, r := range j.Inputs {
		db.unrefBranch(r.Branch)
	}
	// Callers that wait for the job need the space that it freed: they are woken when
	// it has returned its inputs, which readers may still hold, or is recorded as
	// spoiled. Workers are woken when there may be other work: a merge that was
	// refused has changed nothing, and would be refused again.
	db.mu.Lock()
	db.tree.end(j, err == nil)
	if unreadable := (readError{}); err == nil || errors.As(err, &unreadable) || errors.Is(err, errAborted) {
		db.work.wake()
	}
	db.work.jobDone()
	db.mu.Unlock()
	if err != nil {
		return err
	}
	return db.reclaim()
}

// mergeError is the reported error of a merge that ended with err.
func (db *DB) mergeError(j *trunk.Job, err error) error {
	if errors.Is(err, errAborted) {
		return err
	}
	var unreadable readError
	read := errors.As(err, &unreadable)
	err = fmt.Errorf("compaction: %w", explain(err))
	switch {
	case read: // whatever the disk reports, such as that it has no room for a read
		db.mu.Lock()
		db.tree.spoil(j)
		db.mu.Unlock()
		return readError{err}
	case errors.Is(err, env.ErrNoSpace) || errors.Is(err, ErrMemory):
		return err
	}
	return db.stop(err)
}

// discard frees a branch that never became part of the tree.
func (db *DB) discard(b *trunk.Branch) {
	db.indexBytes.Add(-int64(b.Index.Memory()))
	b.Index.Close()
	for _, r := range b.Meta.Runs {
		db.space.Free(r)
	}
	db.space.Free(b.Meta.IndexRun())
	for _, r := range b.Meta.Blobs {
		db.unlike(r)
	}
}

// mergeWithin is mergeJob within the available space. A merge that frees space
// may use the reserve for it.
func (db *DB) mergeWithin(j *trunk.Job) (out []*trunk.Branch, err error) {
	need, freed := outputPages(j), false
	db.keepNow()
	spare := db.space.spare(need)
	if !spare && (j.Bottom || db.space.room(forSpeed) >= need) { // else checkpoints do not help
		freed = true
		spare = db.freeRetired() && db.space.spare(need)
	}
	if spare {
		out, err = db.mergeJob(j, forSpeed)
		if !lacksRoom(err) {
			return out, err
		}
	}
	if !j.Bottom {
		return out, fmt.Errorf("merge %d bytes of %d branches: %w", j.Bytes(), len(j.Inputs), env.ErrNoSpace)
	}
	for _, b := range out {
		db.discard(b)
	}
	return db.room.withReserve(func() ([]*trunk.Branch, error) { return db.mergeTight(j, need, freed) })
}

// mergeTight is mergeWithin for the one merge that may use the reserve. Freed reports
// that checkpoints were made for it: they are made once.
func (db *DB) mergeTight(j *trunk.Job, need uint64, freed bool) ([]*trunk.Branch, error) {
	if !freed && !db.space.has(need, forWork) {
		db.freeRetired()
		freed = true
	}
	out, err := db.mergeJob(j, forWork)
	if lacksRoom(err) && !freed {
		for _, b := range out {
			db.discard(b)
		}
		if out = nil; db.freeRetired() {
			return db.mergeJob(j, forWork)
		}
	}
	return out, err
}

// mergeJob writes the output branches of a job. With an error it returns the
// complete ones.
func (db *DB) mergeJob(j *trunk.Job, p purpose) ([]*trunk.Branch, error) {
	var records int64
	o := merge.KeepOptions{
		Lo: j.Lo, Hi: j.Hi, Bottom: j.Bottom, Apply: j.Apply, Merger: db.opt.Merger, OperandMax: block.ValueMax, Snapshots: db.views.seqs(),
	}
	for _, r := range j.Inputs {
		b := r.Branch
		o.Sources = append(o.Sources, b.Index.Iter(branch.IterOptions{Prefetch: mergePrefetch, Lo: j.Lo, Hi: j.Hi}))
		for t := range b.Index.Ranges() {
			o.Tombstones = merge.AppendClipped(o.Tombstones, t, j.Lo, j.Hi)
		}
		records += int64(float64(b.Meta.Records) * min(float64(r.Bytes)/float64(max(b.Meta.Bytes, 1)), 1))
	}
	db.metrics.compactions.Add(1)
	db.metrics.compactRead.Add(j.Bytes())
	keep := merge.NewKeep(o)
	defer keep.Close()
	parts := max(j.Parts, 1)
	if len(keep.Tombstones()) > 0 {
		parts = 1
	}
	return db.writeBranches(db.slowly(keep, p), p, parts, j.Bytes()/int64(parts), records/int64(parts), j.Bottom)
}

// yieldEvery is the number of messages that a merge writes between two checks
// for other work.
const yieldEvery = 64

// kept is the output of a merge: a merge.Keep.
type kept interface {
	Next() bool
	Message() message.Message
	Starts() bool
	Err() error
	Tombstones() []message.RangeTombstone
	Counts() merge.Counts
}

// mergePrefetch is how far a compaction reads ahead in each input, in bytes.
const mergePrefetch = 256 << 10

// writeBranches writes the output of keep to at most parts branches of about
// size bytes each, in pages for that purpose.
func (db *DB) writeBranches(keep kept, p purpose, parts int, size, records int64, last bool) (out []*trunk.Branch, err error) {
	var w *branch.Writer
	var blobs []extent.Run // of values that merges have made too long for a block
	defer func() {
		if w != nil {
			w.Abort()
		}
		db.forgetBlobs(blobs) // each branch that refers to one likes it by itself
	}()
	open := func() error {
		w, err = branch.NewWriter(db.branchOptions(p, last), db.newID(), db.life.epoch, int(records+records/16+16))
		return err
	}
	finish := func() error {
		meta, index, err := w.Finish()
		if err != nil {
			return err
		}
		w = nil
		b, err := db.newBranch(meta, index)
		if err == nil {
			out = append(out, b)
		}
		return err
	}
	if tombstones := keep.Tombstones(); len(tombstones) > 0 {
		if err := open(); err != nil {
			return out, err
		}
		for _, t := range tombstones {
			if err := w.AddTombstone(t); err != nil {
				return out, err
			}
		}
	}
	for n := 0; keep.Next(); n++ {
		if n%yieldEvery == yieldEvery-1 {
			if db.givenUp() {
				return out, errAborted
			}
			// On one processor a writer would wait for as long as the runtime lets
			// this goroutine run; pacing ensures that the writer runs again.
			runtime.Gosched()
		}
		if w != nil && len(out)+1 < parts && w.Bytes() >= size && keep.Starts() {
			if err := finish(); err != nil {
				return out, err
			}
		}
		if w == nil {
			if err := open(); err != nil {
				return out, err
			}
		}
		m := keep.Message()
		if m.Kind == message.Put && len(m.Value) > block.ValueMax {
			ref, run, err := db.putBlob(m.Value, p)
			if err != nil {
				return out, err
			}
			blobs = append(blobs, run)
			m.Kind, m.Value = message.Blob, ref.Append(nil)
		}
		if err := w.Add(m); err != nil {
			return out, err
		}
	}
	if err := keep.Err(); errors.Is(err, branch.ErrMemory) {
		return out, err // the input is as it was: the merge is made later
	} else if err != nil {
		return out, readError{err}
	}
	if w != nil {
		return out, finish()
	}
	return out, nil
}

// newBranch counts the content of a new branch.
func (db *DB) newBranch(meta branch.Meta, index *branch.Index) (*trunk.Branch, error) {
	db.indexBytes.Add(int64(index.Memory()))
	db.metrics.branchBytes.Add(int64(meta.Bytes))
	b := trunk.NewBranch(meta, index)
	for i, r := range meta.Blobs {
		if err := db.space.like(r); err != nil {
			b.Meta.Blobs = meta.Blobs[:i]
			db.discard(b)
			return nil, err
		}
	}
	return b, nil
}

// givenUp reports whether work that can wait should be abandoned.
func (db *DB) givenUp() bool { return db.closing.Load() }

// Compact merges everything in [lo, hi), so that reads there search one branch and
// deleted data free their space. A nil bound is open. If a part of it has no room to
// merge, Compact merges the rest before it returns the error.
func (db *DB) Compact(lo, hi []byte) error {
	defer db.notices.inline()
	if err := db.Flush(); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.work.leave()
	for r := (refusals{insist: true}); ; {
		if err := cmp.Or(db.err(), db.open()); err != nil {
			return err
		}
		db.mu.Lock()
		p := r.policy(db, asked)
		p.Skip = func(j *trunk.Job) bool { return r.skips(db, j) } // what is spoiled is tried: its error is the answer
		j := db.tree.inRange(lo, hi, p)
		switch {
		case j == nil && db.tree.merging() && !db.opt.Tuning.Inline:
			db.work.awaitJob() // a worker has one of them
			db.mu.Unlock()
			continue
		case j == nil:
			db.mu.Unlock()
			return cmp.Or(db.checkpoint(), r.err)
		case j.Flush:
			db.tree.flush(j)
			db.publish(db.current.Load().mems)
			db.mu.Unlock()
			continue
		}
		db.mu.Unlock()
		err := db.run(j)
		if r.add(db, j, err) {
			continue
		}
		if err != nil && !errors.Is(err, errAborted) {
			return err
		}
	}
}

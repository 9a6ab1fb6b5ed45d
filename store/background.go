package store

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store/block"
	"github.com/ashlar-dev/ashlar/store/branch"
	"github.com/ashlar-dev/ashlar/store/extent"
	"github.com/ashlar-dev/ashlar/store/merge"
	"github.com/ashlar-dev/ashlar/store/message"
	"github.com/ashlar-dev/ashlar/store/trunk"
)

// Work beside the callers: one goroutine makes branches of full memtables, and
// checkpoints; some compact; one writes the journal. With Tuning.Inline there
// are none, and the callers do one piece of work after the other until nothing
// is due.

// How eager compactions are, as trunk.Policy.Alpha.
const (
	alphaBusy = 2.0  // while changes come
	alphaIdle = 0.02 // when none came for a while, or a caller waits
)

// idleAfter is how long no change must come before a store counts as idle.
const idleAfter = 250 * time.Millisecond

func (db *DB) startWorkers() {
	if db.opt.Tuning.Inline || db.opt.ReadOnly {
		return
	}
	db.workers.Add(2 + db.opt.Tuning.Workers)
	go db.flusher()
	go db.journaler()
	for range db.opt.Tuning.Workers {
		go db.compactor()
	}
	db.watchIdle()
}

// tell wakes the workers. The caller holds db.mu.
func (db *DB) tell() { db.work.Broadcast() }

// tellJournal wakes the journal's writer. The caller holds db.mu.
func (db *DB) tellJournal() {
	if db.opt.Tuning.Inline {
		return
	}
	db.journalWanted = true
	db.work.Broadcast()
}

// inline does all work that is due, when there are no workers.
func (db *DB) inline() error {
	if !db.opt.Tuning.Inline {
		return nil
	}
	if db.opt.Durability == ProcessCrash {
		if err := db.handOver(); err != nil {
			return err
		}
	}
	for {
		did, err := db.step(alphaBusy)
		var unreadable readError
		switch {
		case errors.Is(err, env.ErrNoSpace):
			return nil // a caller that needs the room gets the error
		case errors.As(err, &unreadable):
			continue // not retried; a caller that reads there gets the error
		case err != nil || !did:
			return err
		}
	}
}

// step does one piece of background work, if there is any.
func (db *DB) step(alpha float64) (did bool, err error) {
	if err := db.err(); err != nil {
		return false, nil
	}
	db.mu.Lock()
	full := len(db.current.Load().mems) > 1 || db.behind()
	db.mu.Unlock()
	if full {
		return true, db.flushOldest()
	}
	j := db.nextJob(alpha)
	if j == nil {
		return false, nil
	}
	return true, db.run(j)
}

func (db *DB) flusher() {
	defer db.workers.Done()
	for {
		db.mu.Lock()
		for !db.closing && len(db.current.Load().mems) == 1 && !db.behind() {
			db.work.Wait()
		}
		closing := db.closing
		db.flushing = true
		db.mu.Unlock()
		if closing {
			return
		}
		err := db.flushOldest()
		db.mu.Lock()
		db.flushErr, db.flushing = err, false
		db.flushed.Broadcast()
		if err != nil && !db.closing {
			db.failed = err
			db.idle.Broadcast()
			// Disk full, or the store has stopped: try again on the next call.
			db.work.Wait()
		}
		db.mu.Unlock()
	}
}

// awaitFlush waits until there are fewer memtables. The caller holds db.mu.
func (db *DB) awaitFlush() error {
	if db.opt.Tuning.Inline {
		db.mu.Unlock()
		err := db.flushOldest()
		db.mu.Lock()
		return err
	}
	if db.closing {
		return ErrClosed // there are no more flushes
	}
	start := db.clock.Now()
	db.flushErr = nil
	db.tell()
	db.flushed.Wait()
	db.metrics.stalls.Add(1)
	db.metrics.stalled.Add(int64(db.clock.Now().Sub(start)))
	if db.closing {
		return ErrClosed
	}
	return db.flushErr
}

func (db *DB) journaler() {
	defer db.workers.Done()
	for {
		db.mu.Lock()
		for !db.closing && !db.journalWanted {
			db.work.Wait()
		}
		closing := db.closing
		db.journalWanted = false
		db.mu.Unlock()
		if closing {
			return
		}
		_ = db.handOver() // an error has stopped the store, or Sync will meet it again
	}
}

// handOver passes queued frames to the operating system: to the journal, or to
// the tree if the disk has no room for another segment.
func (db *DB) handOver() error {
	err := db.drainJournal()
	if errors.Is(err, env.ErrNoSpace) {
		err = db.flushMems(false)
	}
	return err
}

func (db *DB) compactor() {
	defer db.workers.Done()
	for {
		db.mu.Lock()
		var j *trunk.Job
		for !db.closing {
			if j = db.nextJobLocked(db.alpha()); j != nil {
				break
			}
			if db.alpha() == alphaIdle && !db.trimmed && db.err() == nil {
				db.trimmed = true
				db.mu.Unlock()
				db.trim()
				db.mu.Lock()
				continue
			}
			db.working--
			db.idle.Broadcast()
			db.work.Wait()
			db.working++
		}
		closing := db.closing
		db.trimmed = false
		db.mu.Unlock()
		if closing {
			return
		}
		if err := db.run(j); err != nil && !errors.Is(err, errAborted) {
			db.log.Warn("compaction", "error", err)
			db.fail(err)
			var unreadable readError
			if errors.As(err, &unreadable) {
				continue
			}
			db.mu.Lock()
			if !db.closing {
				db.working--
				db.idle.Broadcast()
				db.work.Wait()
				db.working++
			}
			db.mu.Unlock()
		}
	}
}

// alpha is the present eagerness of compaction. The caller holds db.mu.
func (db *DB) alpha() float64 {
	if db.quiet || db.waiting > 0 {
		return alphaIdle
	}
	return alphaBusy
}

// watchIdle checks from time to time whether changes still come.
func (db *DB) watchIdle() {
	db.timerMu.Lock()
	defer db.timerMu.Unlock()
	if db.timerOff {
		return
	}
	db.timer = db.clock.After(idleAfter, env.WakeFunc(func() {
		db.mu.Lock()
		quiet := db.seq == db.lastSeq
		reads := db.metrics.iterators.Load() + db.metrics.misled.Load()
		if quiet && !db.quiet || reads != db.lastReads {
			db.tell() // merges may be due that nobody has asked for
		}
		db.quiet, db.lastSeq, db.lastReads = quiet, db.seq, reads
		closing := db.closing
		db.mu.Unlock()
		if !closing {
			db.regrowCache()
			db.watchIdle()
		}
	}))
}

// trim returns space to the file system: two checkpoints free what only old
// superblocks refer to, and free runs become holes.
func (db *DB) trim() {
	db.cmu.Lock()
	defer db.cmu.Unlock()
	for range 2 {
		if _, _, retired := db.space.pages(); retired < granule {
			break
		}
		if err := db.checkpoint(false); err != nil {
			return
		}
	}
	db.keepNow()
	if n, err := db.space.trim(); err != nil {
		db.log.Warn("give back space", "error", err)
	} else {
		db.metrics.trimmed.Add(n)
	}
}

// Wait returns when the background has nothing more to do, provided no changes
// come meanwhile: full memtables are in the tree, and partitions are merged as
// in an idle store. It returns an error for work that could not be done, for
// lack of space or because of damage.
func (db *DB) Wait() error {
	if db.opt.ReadOnly {
		return nil
	}
	if db.opt.Tuning.Inline {
		for {
			did, err := db.step(alphaIdle)
			if err != nil {
				return err
			}
			if !did {
				db.trim()
				return db.err()
			}
		}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.waiting++
	db.failed = nil
	db.tell()
	for db.err() == nil && db.failed == nil && !db.closing && (db.working > 0 || !db.trimmed || len(db.current.Load().mems) > 1 || db.trunk.Next(db.policy(alphaIdle)) != nil) {
		db.idle.Wait()
	}
	db.waiting--
	return first(db.err(), db.failed)
}

func (db *DB) policy(alpha float64) trunk.Policy {
	oldest := db.views.oldestSeq()
	return trunk.Policy{Alpha: alpha, Snapshots: oldest != message.MaxSeq, Oldest: oldest, Skip: db.isSpoiled, Busy: func(level int, lo []byte) bool {
		for _, j := range db.jobs {
			if j.Level == level && string(j.Lo) == string(lo) {
				return true
			}
		}
		return false
	}}
}

func (db *DB) nextJob(alpha float64) *trunk.Job {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.nextJobLocked(alpha)
}

// nextJobLocked takes the most urgent job. Flushes are done at once: they only
// move references.
func (db *DB) nextJobLocked(alpha float64) *trunk.Job {
	for {
		j := db.trunk.Next(db.policy(alpha))
		if j == nil || db.err() != nil {
			return nil
		}
		if !j.Flush {
			db.take(j)
			return j
		}
		if db.trunk.Flush(j) {
			db.metrics.flushes.Add(1)
		}
		db.publish(db.current.Load().mems)
	}
}

// take marks a job as running. The caller holds db.mu.
func (db *DB) take(j *trunk.Job) {
	for _, r := range j.Inputs {
		r.Branch.Retain()
	}
	db.jobs = append(db.jobs, j)
}

// errAborted reports that a compaction was abandoned.
var errAborted = errors.New("compaction given up")

// run merges the inputs of a job, and puts the result in their place.
func (db *DB) run(j *trunk.Job) error {
	defer func() {
		for _, r := range j.Inputs {
			db.unrefBranch(r.Branch)
		}
	}()
	outputs, err := db.mergeWithin(j)
	db.mu.Lock()
	for i := range db.jobs {
		if db.jobs[i] == j {
			db.jobs = append(db.jobs[:i:i], db.jobs[i+1:]...)
			break
		}
	}
	if err == nil && !db.trunk.Commit(j, outputs) {
		err = errAborted
	}
	if err == nil {
		db.adopt(outputs...) // before publish, which forgets those that got no reference
		db.publish(db.current.Load().mems)
		db.tell()
	}
	db.idle.Broadcast()
	db.mu.Unlock()
	if err != nil {
		for _, b := range outputs {
			db.discard(b)
		}
		return db.mergeError(j, err)
	}
	return db.reclaim()
}

// mergeError is the reported error of a merge that ended with err.
func (db *DB) mergeError(j *trunk.Job, err error) error {
	var unreadable readError
	read := errors.As(err, &unreadable)
	if errors.Is(err, errAborted) {
		return err
	}
	err = fmt.Errorf("compaction: %w", explain(err))
	switch {
	case errors.Is(err, env.ErrNoSpace) || errors.Is(err, ErrMemory):
		return err
	case read:
		db.spoil(j)
		return readError{err}
	}
	return db.stop(err)
}

// adopt takes over branches that the tree now refers to. The caller holds
// db.mu.
func (db *DB) adopt(branches ...*trunk.Branch) {
	for _, b := range branches {
		db.branches[b.Meta.ID] = b
		db.changes.putBranch(b)
		if b.Meta.RangeDeletes > 0 {
			db.tombstoned++
		}
	}
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
	need := mergedPages(j.Bytes(), max(j.Parts, 1))
	db.keepNow()
	spare := db.space.spare(need)
	if spare {
		out, err = db.mergeJob(j, forSpeed)
	}
	if spare && !errors.Is(err, env.ErrNoSpace) {
		return out, err
	}
	if !j.Bottom {
		return out, fmt.Errorf("merge %d bytes of %d branches: %w", j.Bytes(), len(j.Inputs), env.ErrNoSpace)
	}
	for _, b := range out {
		db.discard(b)
	}
	db.tight.Lock()
	defer db.tight.Unlock()
	if !db.space.has(need, forWork) {
		db.freeRetired()
	}
	out, err = db.mergeJob(j, forWork)
	if errors.Is(err, env.ErrNoSpace) {
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
		Lo: j.Lo, Hi: j.Hi, Bottom: j.Bottom, Merger: db.opt.Merger, OperandMax: block.ValueMax, Snapshots: db.views.seqs(),
	}
	for _, r := range j.Inputs {
		b := r.Branch
		o.Sources = append(o.Sources, b.Index.Iter(branch.IterOptions{Prefetch: mergePrefetch, Lo: j.Lo, Hi: j.Hi}))
		o.Tombstones = append(o.Tombstones, b.Tombstones()...)
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
	return db.writeBranches(keep, p, parts, j.Bytes()/int64(parts), records/int64(parts), j.Bottom)
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

// counted counts the messages that a merge has read.
type counted struct {
	kept
	in *atomic.Int64
}

func (c *counted) Next() bool {
	more := c.kept.Next()
	c.in.Store(c.kept.Counts().In)
	return more
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
		w, err = branch.NewWriter(db.branchOptions(p, last), db.newID(), db.epoch, int(records+records/16+16))
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
			// On one processor a writer would wait for as long as the runtime
			// lets this goroutine run; pacing sees to it that it runs again.
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
	if err := keep.Err(); err != nil {
		return out, readError{err}
	}
	if w != nil {
		return out, finish()
	}
	return out, nil
}

// newBranch counts what a new branch holds.
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
func (db *DB) givenUp() bool { return db.isClosing.Load() }

// flushOldest writes the oldest full memtable as a branch, attaches it to the
// tree, and makes a checkpoint.
func (db *DB) flushOldest() error {
	db.cmu.Lock()
	defer db.cmu.Unlock()
	if err := db.err(); err != nil {
		return err
	}
	// Only the holder of cmu removes memtables, so this one stays.
	mems := db.current.Load().mems
	if len(mems) == 1 {
		return db.catchUp()
	}
	m := mems[len(mems)-1]
	// What follows the last message, the syncs of a checkpoint, counts as some
	// messages more.
	db.flushDone.Store(0)
	db.flushTotal.Store(int64(m.table.Len() + m.table.Len()/16 + 1))
	defer db.flushTotal.Store(0)
	var out []*trunk.Branch
	if m.table.Len() > 0 {
		var err error
		out, err = db.branchOf(m)
		if errors.Is(err, env.ErrNoSpace) && db.freeRetiredLocked() {
			out, err = db.branchOf(m)
		}
		if err != nil {
			return db.backgroundError("write a memtable", err)
		}
	}
	// Readers that see the memtable neither fill the record cache with its keys
	// nor look them up there; readers that began before it had them are refused
	// from here on. So its keys stay out of the cache until the tree has them.
	// That and the end of the memtable are one moment: no reader sees an
	// operand twice.
	db.cache.Advance()
	db.uncache(m)
	db.mu.Lock()
	for _, b := range out {
		db.trunk.Attach(b)
	}
	db.adopt(out...)
	mems = db.current.Load().mems
	db.publish(append([]*mem(nil), mems[:len(mems)-1]...))
	db.tell()
	db.idle.Broadcast()
	db.mu.Unlock()
	err := db.checkpoint(false)
	// Callers that wait for the flusher must be woken: it may find nothing left
	// to do.
	db.mu.Lock()
	db.flushed.Broadcast()
	db.mu.Unlock()
	return err
}

// behind reports whether the tree has memtables that the superblock does not
// lead to: a checkpoint is running, or could not be made. The caller holds
// db.mu.
func (db *DB) behind() bool { return len(db.journalMems) > len(db.current.Load().mems) }

// catchUp makes the checkpoint that an earlier flush could not make. The caller
// holds db.cmu.
func (db *DB) catchUp() error {
	db.mu.Lock()
	behind := db.behind()
	db.mu.Unlock()
	if !behind {
		return nil
	}
	return db.checkpoint(false)
}

// backgroundError stops the store unless the error may be temporary.
func (db *DB) backgroundError(what string, err error) error {
	if errors.Is(err, errAborted) {
		return ErrClosed // nothing else has a flush given up
	}
	err = fmt.Errorf("%s: %w", what, explain(err))
	if errors.Is(err, env.ErrNoSpace) || errors.Is(err, ErrMemory) {
		return err
	}
	return db.stop(err)
}

// branchOf writes the messages of a memtable to a branch.
func (db *DB) branchOf(m *mem) ([]*trunk.Branch, error) {
	view, ok := m.table.View()
	if !ok {
		return nil, fmt.Errorf("%w: no room to sort a memtable", ErrMemory)
	}
	defer view.Release()
	keep := merge.NewKeep(merge.KeepOptions{
		Sources: []message.Iter{points{view.Iter()}}, Tombstones: m.table.Tombstones(message.MaxSeq),
		Snapshots: db.views.seqs(), Merger: db.opt.Merger, OperandMax: block.ValueMax,
	})
	defer keep.Close()
	out, err := db.writeBranches(&counted{keep, &db.flushDone}, forWork, 1, 0, int64(m.table.Len()), false)
	if err != nil {
		for _, b := range out {
			db.discard(b)
		}
		return nil, err
	}
	db.metrics.memtables.Add(1)
	return out, nil
}

// uncache removes the keys of a memtable from the record cache, while readers
// still see the memtable.
func (db *DB) uncache(m *mem) {
	if db.cache.Empty() {
		return
	}
	if m.table.RangeDeletes() > 0 {
		db.cache.Clear()
		return
	}
	view, ok := m.table.View()
	if !ok {
		db.cache.Clear()
		return
	}
	defer view.Release()
	it := view.Iter()
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		db.cache.Remove(it.Message().Key)
	}
}

// points leaves out the range deletes of a memtable.
type points struct{ message.Iter }

func (p points) skip(ok bool, move func() bool) bool {
	for ok && p.Iter.Message().Kind == message.RangeDelete {
		ok = move()
	}
	return ok
}

func (p points) First() bool            { return p.skip(p.Iter.First(), p.Iter.Next) }
func (p points) Last() bool             { return p.skip(p.Iter.Last(), p.Iter.Prev) }
func (p points) Next() bool             { return p.skip(p.Iter.Next(), p.Iter.Next) }
func (p points) Prev() bool             { return p.skip(p.Iter.Prev(), p.Iter.Prev) }
func (p points) SeekGE(key []byte) bool { return p.skip(p.Iter.SeekGE(key), p.Iter.Next) }
func (p points) SeekLT(key []byte) bool { return p.skip(p.Iter.SeekLT(key), p.Iter.Prev) }

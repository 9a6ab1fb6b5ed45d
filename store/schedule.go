// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"errors"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// The background work: one goroutine writes full memtables as branches, and makes
// checkpoints; some compact; one writes the journal. With Tuning.Inline there are
// none, and the callers do one piece of work after another until nothing is due.

// eagerness is how much the store merges at present.
type eagerness uint8

const (
	// changing: changes arrive. Partitions are merged when they hold many newer
	// messages, and when that frees enough space to be worth the writing.
	changing eagerness = iota
	// unchanging: no change has arrived for a while. Merges that reads have paid for are
	// made as well; an idle store that merged small remainders by itself would rewrite
	// most of its data, and slow down the next reads.
	unchanging
	// asked: a caller waits until reads are as short as possible.
	asked
)

// alphas are the values of trunk.Policy.Alpha.
var alphas = [...]float64{changing: 2, unchanging: 2, asked: 0.02}

// idleAfter is the time without changes after which a store counts as idle.
const idleAfter = 250 * time.Millisecond

// schedule runs the background: it wakes the goroutines that flush, compact and
// write the journal, and notifies callers that wait for them. The lock of all
// but workers and alarm is DB.mu.
type schedule struct {
	db      *DB
	work    *sync.Cond // there is work
	flushed *sync.Cond // a memtable was flushed, or could not be
	idle    *sync.Cond // a compactor has no work, or a job has ended
	// workers are the goroutines, and the calls that use memory of the pool
	// without a state.
	workers sync.WaitGroup
	alarm   alarm

	failed        error // the last failure
	failures      int   // of merges
	flushErr      error
	journalWanted bool
	witnessWanted bool
	waiting       int // calls of Wait
	working       int // compactors that are not idle
	hired         int // compactors that there are
	limits        Limits
	quiet         bool
	trimmed       bool // since the last piece of work
	held          bool // an ingest ends: changes wait
	lastSeq       message.Seq
	lastReads     int64
}

// alarm is the timer of a schedule.
type alarm struct {
	mu    invariant.Mutex // a leaf
	timer env.Timer
	off   bool
}

// set makes f run after d, unless the alarm is off.
func (a *alarm) set(clock env.Clock, d time.Duration, f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.off {
		a.timer = clock.After(d, env.WakeFunc(f))
	}
}

// stop turns the alarm off.
func (a *alarm) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.off = true
	if a.timer != nil {
		a.timer.Stop()
	}
}

func (s *schedule) init(db *DB) {
	s.db = db
	s.work, s.flushed, s.idle = sync.NewCond(&db.mu), sync.NewCond(&db.mu), sync.NewCond(&db.mu)
	s.working = db.opt.Tuning.Workers
	s.alarm.mu.SetRank(rankLeaf, "alarm")
}

// start starts the goroutines.
func (s *schedule) start() {
	t := s.db.opt.Tuning
	if t.Inline || s.db.opt.ReadOnly {
		return
	}
	s.workers.Add(2)
	go s.flusher()
	go s.journaler()
	s.db.mu.Lock()
	s.working = 0
	s.hire(s.mayWork())
	s.db.mu.Unlock()
	s.watchIdle()
}

// enter lets the caller use memory of the pool until it calls leave. The caller
// holds DB.mu, and has seen that the store is not closing.
func (s *schedule) enter() { s.workers.Add(1) }

func (s *schedule) leave() { s.workers.Done() }

// end waits until the goroutines have ended, and the calls that have entered. The
// store is closing, and all waiting goroutines have been woken.
func (s *schedule) end() {
	s.alarm.stop()
	s.workers.Wait()
}

// wake wakes the goroutines. The caller holds DB.mu.
func (s *schedule) wake() { s.work.Broadcast() }

// wakeAll wakes the goroutines and all callers that wait for them. The caller
// holds DB.mu.
func (s *schedule) wakeAll() {
	s.work.Broadcast()
	s.flushed.Broadcast()
	s.idle.Broadcast()
}

// wakeJournaler wakes the goroutine that writes the journal. The caller holds
// DB.mu.
func (s *schedule) wakeJournaler() {
	if s.db.opt.Tuning.Inline {
		return
	}
	s.journalWanted = true
	s.work.Broadcast()
}

// memtableDone notifies callers that wait for a memtable to be flushed, or for
// its memory. The caller holds DB.mu.
func (s *schedule) memtableDone() { s.flushed.Broadcast() }

// jobDone notifies callers that wait for a compaction. The caller holds DB.mu.
func (s *schedule) jobDone() { s.idle.Broadcast() }

// awaitJob waits for a compaction to end. The caller holds DB.mu.
func (s *schedule) awaitJob() { s.idle.Wait() }

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
	for r := (refusals{}); ; { // a caller that needs the room gets the error
		did, err := db.step(changing, &r)
		var unreadable readError
		switch {
		case errors.As(err, &unreadable):
			continue // not retried; a caller that reads there gets the error
		case errors.Is(err, ErrMemory) || errors.Is(err, errAborted):
			return nil // the change is made; the work is done later
		case err != nil || !did:
			return err
		}
	}
}

// step does one piece of background work, if there is any that was not refused.
func (db *DB) step(e eagerness, r *refusals) (did bool, err error) {
	if err := db.err(); err != nil {
		return false, nil
	}
	db.mu.Lock()
	r.renew(db)
	full := !r.flush && db.flushDue()
	db.mu.Unlock()
	if full {
		if err = db.tryFlush(); mayPass(err) {
			r.flush, r.err, err = true, cmp.Or(r.err, err), nil
		}
		return true, err
	}
	if db.work.limitsNow().Paused {
		return false, nil
	}
	r.ask(db)
	j := db.nextJob(e, r)
	if j == nil {
		return false, nil
	}
	if err = db.run(j); r.add(db, j, err) {
		err = nil
	}
	return true, err
}

func (s *schedule) flusher() {
	defer s.workers.Done()
	db := s.db
	for {
		db.mu.Lock()
		for !db.closing.Load() && !db.flushDue() {
			s.work.Wait()
		}
		db.mu.Unlock()
		if db.closing.Load() {
			return
		}
		err := db.tryFlush()
		db.mu.Lock()
		s.flushErr = err
		s.flushed.Broadcast()
		if err != nil && !db.closing.Load() {
			s.failed = err
			s.idle.Broadcast()
			// Disk full, or the store has stopped: try again on the next call.
			s.work.Wait()
		}
		db.mu.Unlock()
	}
}

// awaitFlush waits until there are fewer memtables. The caller holds DB.mu.
func (s *schedule) awaitFlush() error {
	db := s.db
	if db.opt.Tuning.Inline {
		db.mu.Unlock()
		err := db.tryFlush()
		db.mu.Lock()
		return err
	}
	if db.closing.Load() {
		return ErrClosed // there are no more flushes
	}
	start := db.clock.Now()
	s.flushErr = nil
	s.wake()
	s.flushed.Wait()
	s.stalled(start)
	if db.closing.Load() {
		return ErrClosed
	}
	return s.flushErr
}

// awaitTombstones waits until merges have applied so many range deletes that those of
// another memtable are permitted. It does not wait for merges that cannot be made:
// they are paused, have no room, or cannot read an input. The caller holds DB.mu.
func (s *schedule) awaitTombstones() {
	db := s.db
	if db.opt.Tuning.Inline {
		return // each call does what is due
	}
	start, failures, waited := db.clock.Now(), s.failures, false
	for db.tree.tombstoneBytes() > db.tombstoneBytesMax() && (db.tree.merging() || s.mergesLeft()) &&
		s.failures == failures && !db.closing.Load() && db.err() == nil {
		// Workers that find nothing to do beside a merge that is running notify those who
		// wait here: to wake them for that would go on until the merge has ended.
		if !waited || s.working == 0 && !db.tree.merging() {
			s.wake()
		}
		waited = true
		s.idle.Wait()
	}
	if waited {
		s.stalled(start)
	}
}

// stalled records that a change has waited since start.
func (s *schedule) stalled(start env.Instant) {
	took := s.db.clock.Now().Sub(start)
	s.db.metrics.stalls.Add(1)
	s.db.metrics.stalled.Add(int64(took))
	s.db.notices.add(WritesStalled{1, took})
}

// mergesLeft is mergesDue without the merges for which there was no room. The caller
// holds DB.mu.
func (s *schedule) mergesLeft() bool {
	if s.limits.Paused {
		return false
	}
	r := refusals{}
	return s.db.tree.due(r.policy(s.db, changing))
}

// awaitIngest waits until an ingest has ended, or the store has. The caller holds
// DB.mu.
func (s *schedule) awaitIngest() error {
	for s.held {
		if s.db.closing.Load() {
			return ErrClosed
		}
		s.flushed.Wait()
	}
	return nil
}

// hold makes changes and syncs wait until letGo is called.
func (s *schedule) hold() {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	s.held = true
}

func (s *schedule) letGo() {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	s.held = false
	s.memtableDone()
	s.wake()
}

func (s *schedule) journaler() {
	defer s.workers.Done()
	db := s.db
	for {
		db.mu.Lock()
		for !db.closing.Load() && !s.journalWanted && !s.witnessWanted {
			s.work.Wait()
		}
		write, testify := s.journalWanted, s.witnessWanted
		s.journalWanted, s.witnessWanted = false, false
		db.mu.Unlock()
		if db.closing.Load() {
			return
		}
		if write {
			_ = db.handOver() // an error has stopped the store, or Sync will meet it again
		}
		if testify {
			db.journal.testify()
		}
	}
}

// handOver passes queued frames to the operating system: to the journal, or to
// the tree if the disk has no room for another segment.
func (db *DB) handOver() error {
	err := db.journal.drain()
	if !errors.Is(err, env.ErrNoSpace) {
		return err
	}
	db.mu.Lock()
	refused := db.tree.flushRefused()
	db.mu.Unlock()
	if refused != nil {
		return refused
	}
	return db.flushMems(false)
}

func (s *schedule) compactor(worker int) {
	defer s.workers.Done()
	db := s.db
	for r := (refusals{}); ; {
		j := s.awaitMerge(worker, &r)
		if j == nil {
			return
		}
		err := db.run(j)
		if err == nil || errors.Is(err, errAborted) {
			continue
		}
		db.log.Warn("compaction", "error", err)
		if r.add(db, j, err) {
			continue
		}
		// Record the error and rest under one lock: a call of Wait that begins before
		// gets the error, and one that begins after wakes the worker.
		db.mu.Lock()
		s.failed = err
		s.failures++
		s.idle.Broadcast()
		if unreadable := (readError{}); !errors.As(err, &unreadable) && !db.closing.Load() {
			s.rest()
			r = refusals{}
		}
		db.mu.Unlock()
	}
}

// awaitMerge returns the next compaction that was not refused, or nil when the
// store is closing. An idle store gives space back meanwhile.
func (s *schedule) awaitMerge(worker int, r *refusals) *trunk.Job {
	db := s.db
	db.mu.Lock()
	defer db.mu.Unlock()
	for !db.closing.Load() {
		if !r.asked && db.tree.hasRefused() {
			db.mu.Unlock()
			r.ask(db)
			db.mu.Lock()
		}
		if s.mayMerge(worker) {
			if j := db.nextJobLocked(s.eagerness(), r); j != nil {
				s.trimmed = false
				return j
			}
		}
		if s.eagerness() != changing && !s.trimmed && db.err() == nil {
			s.trimmed = true
			db.mu.Unlock()
			db.trim()
			db.mu.Lock()
			continue
		}
		if r.err != nil && s.working == 1 && !db.tree.merging() {
			s.failed = r.err // the last worker to rest reports; the others will retry it
			s.failures++
		}
		s.rest() // refused merges: until something changes
		*r = refusals{}
	}
	return nil
}

// rest is the idle time of a compactor. The caller holds DB.mu.
func (s *schedule) rest() {
	s.working--
	s.idle.Broadcast()
	s.work.Wait()
	s.working++
}

// eagerness is the present one. The caller holds DB.mu.
func (s *schedule) eagerness() eagerness {
	switch {
	case s.waiting > 0:
		return asked
	case s.quiet:
		return unchanging
	}
	return changing
}

// tick checks whether changes still arrive, and wakes the goroutines for work that
// has become due.
func (s *schedule) tick() {
	db := s.db
	db.mu.Lock()
	defer db.mu.Unlock()
	seq := db.writer.last()
	quiet := seq == s.lastSeq
	reads := db.metrics.iterators.Load() + db.metrics.misled.Load()
	if quiet && !s.quiet || reads != s.lastReads {
		s.wake() // merges may be due that no caller has requested
	}
	s.quiet, s.lastSeq, s.lastReads = quiet, seq, reads
	if db.journal.hasNews(db.durable.upTo()) {
		s.witnessWanted = true
		s.wake()
	}
}

// watchIdle calls tick from time to time.
func (s *schedule) watchIdle() {
	db := s.db
	s.alarm.set(db.clock, idleAfter, func() {
		s.tick()
		if !db.closing.Load() {
			db.regrowCache()
			s.watchIdle()
		}
	})
}

// await is Wait.
func (s *schedule) await() error {
	db := s.db
	db.mu.Lock()
	defer db.mu.Unlock()
	s.waiting++
	s.failed = nil
	s.wake()
	for db.err() == nil && s.failed == nil && !db.closing.Load() &&
		(s.working > 0 || !s.trimmed || len(db.current.Load().mems) > 1 || s.mergesDue()) {
		// Not while only a memtable is being written, or a caller merges: when that ends,
		// the workers, or Wait itself, are woken.
		if s.working == 0 && (!s.trimmed || !db.tree.merging() && s.mergesDue()) {
			s.wake() // a caller's merge was refused, so it is due again
		}
		s.idle.Wait()
	}
	s.waiting--
	return cmp.Or(db.err(), s.failed)
}

// trim returns space to the file system: two checkpoints free pages that only old
// superblocks hold, and free runs become holes.
func (db *DB) trim() {
	db.checkpoints.lock()
	defer db.checkpoints.unlock()
	for range 2 {
		if _, _, retired := db.space.pages(); retired < granule {
			break
		}
		if err := db.checkpoints.write(false); err != nil {
			return
		}
	}
	db.keepNow()
	if n, err := db.space.trim(); err != nil {
		db.log.Warn("return free space to the disk", "error", err)
	} else {
		db.metrics.trimmed.Add(n)
	}
}

// Wait returns when the background has nothing more to do, provided no changes
// come meanwhile: full memtables are in the tree, and all partitions are merged
// that hold more than a few changes. It returns an error for work that could not be
// done, for lack of space or because of damage.
func (db *DB) Wait() error {
	if db.opt.ReadOnly {
		return nil
	}
	defer db.notices.inline()
	if db.opt.Tuning.Inline {
		for r := (refusals{}); ; {
			did, err := db.step(asked, &r)
			if err != nil {
				return err
			}
			if !did {
				db.trim()
				db.journal.testify()
				return cmp.Or(db.err(), r.err)
			}
		}
	}
	err := db.work.await()
	db.journal.testify()
	return err
}

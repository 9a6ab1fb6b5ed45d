package store

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
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

// fail notes what the background could not do, for those who wait for it.
func (db *DB) fail(err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.failed = err
	db.idle.Broadcast()
}

// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// Limits bound what the background of an open store may use for merges. They can
// be changed at any time; a store begins with the zero Limits.
//
// Flushes and checkpoints have no limits, because changes wait for them; merges have
// none while the disk is full, because puts wait for them. Data that are not merged are
// read from more branches and take more space, and when there is far too much of them,
// changes are slowed down (Metrics.Debt, Metrics.Runs).
type Limits struct {
	// BytesPerSecond bounds how many bytes of keys and values all merges together may write, before compression and on
	// average over a second; 0 means no bound. It includes the merges of Compact and, with Tuning.Inline, those that any
	// call makes.
	BytesPerSecond int64
	// Workers is how many merges run at a time, of the background's; 0 is as many as
	// Tuning.Workers says, the most is WorkersMax. Where it is less than before, merges that
	// are running end as usual.
	Workers int
	// Paused stops the background from beginning merges; running ones finish. Compact still
	// merges, and so does a put on a full disk. Wait does not wait for paused merges.
	Paused bool
}

// WorkersMax is the largest number of workers.
const WorkersMax = 64

// SetLimits replaces the limits. It returns an error if they are invalid.
func (db *DB) SetLimits(l Limits) error {
	if l.BytesPerSecond < 0 || l.Workers < 0 || l.Workers > WorkersMax {
		return fmt.Errorf("invalid limits %+v: want no negative numbers and at most %d workers", l, WorkersMax)
	}
	db.work.setLimits(l)
	return nil
}

// Limits returns the present limits.
func (db *DB) Limits() Limits { return db.work.limitsNow() }

func (s *schedule) limitsNow() Limits {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	return s.limits
}

func (s *schedule) setLimits(l Limits) {
	db := s.db
	db.mu.Lock()
	defer db.mu.Unlock()
	s.limits = l
	db.rate.set(l.BytesPerSecond)
	if !db.opt.Tuning.Inline && !db.opt.ReadOnly && !db.closing.Load() {
		s.hire(s.mayWork())
	}
	s.wake()
	s.idle.Broadcast() // calls of Wait may have less to wait for
}

// mayWork is how many workers may merge at a time. The caller holds DB.mu.
func (s *schedule) mayWork() int {
	if s.limits.Workers > 0 {
		return s.limits.Workers
	}
	return s.db.opt.Tuning.Workers
}

// hire starts workers until there are n. The caller holds DB.mu, and the store is not
// closing.
func (s *schedule) hire(n int) {
	for ; s.hired < n; s.hired++ {
		s.working++
		s.workers.Add(1)
		go s.compactor(s.hired)
	}
}

// mayMerge reports whether the worker with that number may begin a merge. The caller
// holds DB.mu.
func (s *schedule) mayMerge(worker int) bool { return !s.limits.Paused && worker < s.mayWork() }

// mergesDue reports whether merges are due that the background may make. The caller
// holds DB.mu.
func (s *schedule) mergesDue() bool {
	return !s.limits.Paused && s.db.tree.due(s.db.policy(asked))
}

// rate limits all merges together to that many bytes per second. It is a clock that runs
// ahead: each merge that writes moves it by the time that the bytes should take, and waits
// until then.
type rate struct {
	clock env.Clock
	bps   atomic.Int64 // 0: there is no bound

	mu   invariant.Mutex // a leaf
	paid env.Instant     // when all bytes so far may have been written
	sets int             // how often the bound was set
}

// rateCredit is how far merges may catch up that have written less.
const rateCredit = 100 * time.Millisecond

func (r *rate) init(clock env.Clock) {
	r.clock = clock
	r.mu.SetRank(rankLeaf, "rate")
}

// set replaces the bound. Waiting merges continue with the new limit. One that stays
// the same forgets nothing of what was written.
func (r *rate) set(bps int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bps == r.bps.Load() {
		return
	}
	r.bps.Store(bps)
	r.paid = r.clock.Now()
	r.sets++
}

// on reports whether there is a bound.
func (r *rate) on() bool { return r.bps.Load() > 0 }

// take counts bytes, and returns until when the caller must wait, and the number of
// the bound by which it must.
func (r *rate) take(n int64) (until env.Instant, sets int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, bps := r.clock.Now(), r.bps.Load()
	if bps == 0 {
		return now, r.sets
	}
	if least := now.Add(-rateCredit); r.paid < least {
		r.paid = least
	}
	r.paid = r.paid.Add(time.Duration(float64(n) / float64(bps) * float64(time.Second)))
	return r.paid, r.sets
}

// isNow reports whether the bound is still that one.
func (r *rate) isNow(sets int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sets == sets
}

// spend is called by a merge that has written n bytes. It waits, in pieces of at most 50 ms,
// until they may have been written, the bound is another, or over says so.
func (r *rate) spend(n int64, over func() bool) {
	if !r.on() || over() {
		return // work that is not limited is not counted either
	}
	until, sets := r.take(n)
	for !over() && r.isNow(sets) {
		d := until.Sub(r.clock.Now())
		if d <= 0 {
			return
		}
		done := make(chan struct{})
		r.clock.After(min(d, pacePiece), env.WakeFunc(func() { close(done) }))
		<-done
	}
}

// slowly is the output of a merge, which is written at the rate that the limits allow. A
// merge that may use the reserve frees space that others wait for.
func (db *DB) slowly(k kept, p purpose) kept {
	if p != forSpeed {
		return k
	}
	return &slow{kept: k, db: db}
}

type slow struct {
	kept
	db  *DB
	due int64 // bytes that were not paid for yet
}

// slowPiece is how many bytes a merge writes between two looks at the rate.
const slowPiece = 4 << 10

// Next is that of kept.
func (s *slow) Next() bool {
	db := s.db
	more := s.kept.Next()
	if !db.rate.on() {
		return more
	}
	if s.due >= slowPiece || !more {
		db.rate.spend(s.due, func() bool { return db.givenUp() || db.full.Load() || db.room.wanted() })
		s.due = 0
	}
	if !more {
		return false
	}
	m := s.kept.Message()
	s.due += int64(len(m.Key) + len(m.Value))
	return true
}

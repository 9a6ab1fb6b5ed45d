package store

import (
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// Pacing slows writers down before they would have to stop. When as many
// memtables wait as may, or as there is memory for, a writer keeps step with the one that is being
// written: the active memtable may be filled as far as that one is done, and a
// little further. So the waits are of milliseconds and spread over all
// changes, where there would be one of a whole memtable else. The other debt
// is that of compactions: when reads would have to ask far too many branches,
// every piece waits a little, the longer the more there are.

const (
	// paceEvery is after how many bytes a writer looks whether it is too fast.
	paceEvery = 64 << 10
	// paceSlack is how far the active memtable may be ahead, as a part of it.
	paceSlack = 0.05
	// paceStep is how long a writer waits before it looks again, and paceMax
	// how long it waits in all.
	paceStep = time.Millisecond
	paceMax  = 20 * time.Millisecond
)

// pace is called by each writer with the size of what it writes.
func (db *DB) pace(n int) {
	if db.opt.Tuning.Inline || db.pacing.Add(int64(n)) < paceEvery {
		return
	}
	db.pacing.Store(0)
	for waited := time.Duration(0); waited < paceMax; {
		d := min(db.ahead(), paceMax-waited)
		if d <= 0 {
			return
		}
		waited += d
		db.metrics.paced.Add(int64(d))
		done := make(chan struct{})
		db.clock.After(d, env.WakeFunc(func() { close(done) }))
		<-done
	}
}

// ahead is how long a writer should wait before it looks again, or 0.
func (db *DB) ahead() time.Duration {
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.current.Load()
	mems := now.mems
	if len(mems) > memsMax || len(mems) > 1 && db.crowded() {
		active := mems[0]
		fill := float64(active.table.Pos()) / float64(len(active.arena))
		if fill > db.progress()+paceSlack {
			return paceStep
		}
	}
	most := 2 * db.opt.Tuning.Runs
	if over := now.runs - most; over > 0 && db.paced.CompareAndSwap(false, true) {
		return paceStep * time.Duration(1+4*over/most)
	}
	db.paced.Store(false)
	return 0
}

// progress is which part of the memtable that is being written is done.
func (db *DB) progress() float64 {
	total := db.flushTotal.Load()
	if total == 0 {
		return 0
	}
	return float64(db.flushDone.Load()) / float64(total)
}

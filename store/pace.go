package store

import (
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// Pacing slows writers down before they would have to stop. A writer waits
// until the active memtable is not further on than the work that must be done
// before the next one is wanted: waits of a millisecond, spread over all
// writers, in the place of a long one when the memory is full.

// paceEvery is after how many bytes a writer looks whether it is too fast.
const paceEvery = 64 << 10

// pace is called by each writer with the size of what it writes.
func (db *DB) pace(n int) {
	if db.o.Tuning.Inline || db.pacing.Add(int64(n)) < paceEvery {
		return
	}
	db.pacing.Store(0)
	delay := db.delay()
	if delay <= 0 {
		return
	}
	db.metrics.paced.Add(int64(delay))
	done := make(chan struct{})
	db.clock.After(delay, env.WakeFunc(func() { close(done) }))
	<-done
}

// The delays, for each paceEvery bytes.
const (
	paceMin = 50 * time.Microsecond
	paceMax = 20 * time.Millisecond
)

// delay is how long a writer of paceEvery bytes should wait now.
func (db *DB) delay() time.Duration {
	db.mu.Lock()
	defer db.mu.Unlock()
	mems := db.current.Load().mems
	active := mems[0]
	fill := float64(active.table.Pos()) / float64(len(active.arena))
	// Memtables that wait: the last one must be gone when the active one is
	// full, so that the last quarter of it is taken slowly.
	waiting := len(mems) - 1
	urgency := 0.0
	if waiting >= memsMax {
		urgency = (fill - 0.25) / 0.75
	}
	// Compactions that are behind: reads would have to ask too many branches.
	runs := db.trunk.Runs()
	if most := 2 * db.o.Tuning.Runs; runs > most {
		urgency = max(urgency, float64(runs-most)/float64(most))
	}
	if urgency <= 0 {
		return 0
	}
	return min(paceMin+time.Duration(urgency*urgency*float64(paceMax)), paceMax)
}

// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// Pacing slows writers down before they would have to stop. When the number of waiting memtables,
// or their memory, is at its limit, writers keep pace with the memtable that is being written: the
// active one may be filled to the same fraction, and a little further. So waits are of
// milliseconds and spread over all changes, instead of one wait for a whole memtable. The other
// debt is that of compactions: when reads would have to search far too many branches, every piece
// waits a little, and longer the more there are.

const (
	// paceEvery is the number of bytes after which a writer checks whether it is too fast.
	paceEvery = 64 << 10
	// paceSlack is the fraction by which the active memtable may be ahead.
	paceSlack = 0.05
	// paceStep is how long a writer waits before it checks again, and paceMax how
	// long it waits in all.
	paceStep = time.Millisecond
	paceMax  = 20 * time.Millisecond
)

// pacing slows writers down. It has no lock.
type pacing struct {
	db      *DB
	written atomic.Int64 // bytes, since a writer last looked
	merges  atomic.Bool  // the last check made a writer wait for compactions
	// The number of messages in the memtable that is being flushed, and how many
	// of them the flush has processed.
	total, done atomic.Int64
}

func (p *pacing) init(db *DB) { p.db = db }

// begin begins the flush of a memtable of that many messages.
func (p *pacing) begin(messages int) {
	p.done.Store(0)
	p.total.Store(int64(messages))
}

// end ends the flush.
func (p *pacing) end() { p.total.Store(0) }

// count is keep, which counts the messages that it has read as done.
func (p *pacing) count(keep kept) kept { return &counted{keep, &p.done} }

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

// pace is called by each writer with the size of what it writes.
func (p *pacing) pace(n int) {
	db := p.db
	if db.opt.Tuning.Inline || p.written.Add(int64(n)) < paceEvery {
		return
	}
	p.written.Store(0)
	waited := time.Duration(0)
	defer func() {
		if waited > 0 {
			db.notices.add(WritesPaced{1, waited})
		}
	}()
	for waited < paceMax {
		d := min(p.ahead(), paceMax-waited)
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

// ahead returns how long a writer should wait before it checks again, or 0.
func (p *pacing) ahead() time.Duration {
	db := p.db
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.current.Load()
	mems := now.mems
	if len(mems) > memsMax || len(mems) > 1 && db.crowded() {
		active := mems[0]
		fill := float64(active.table.Pos()) / float64(len(active.arena))
		if fill > p.progress()+paceSlack {
			return paceStep
		}
	}
	most := 2 * db.opt.Tuning.Runs
	if over := now.runs - most; over > 0 && p.merges.CompareAndSwap(false, true) {
		return paceStep * time.Duration(1+4*over/most)
	}
	p.merges.Store(false)
	return 0
}

// progress is the fraction of the memtable being written that is done.
func (p *pacing) progress() float64 {
	total := p.total.Load()
	if total == 0 {
		return 0
	}
	return float64(p.done.Load()) / float64(total)
}

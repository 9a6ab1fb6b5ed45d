// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// Scrub is a slow Verify: it reads and checks every branch, but on average not
// more than that many bytes per second, so that rot is found while other copies
// of the data still exist, without noticeable load. It holds one branch at a
// time, so that memtables are flushed and space is freed meanwhile; it omits
// branches made after the call, which were just written. It waits in the
// caller, by the clock passed to Open.
//
// The error is external, the context's, or ErrClosed if the store is closed
// meanwhile; the Report then has what was found so far. Damage is in the
// Report.
func (db *DB) Scrub(ctx context.Context, bytesPerSecond int64) (Report, error) {
	start := db.clock.Now()
	report, err := db.scrub(ctx, bytesPerSecond)
	db.notices.add(ScrubEnded{report, db.clock.Now().Sub(start), err})
	db.notices.inline()
	return report, err
}

func (db *DB) scrub(ctx context.Context, bytesPerSecond int64) (Report, error) {
	var report Report
	if bytesPerSecond <= 0 {
		return report, fmt.Errorf("scrub store %s: %d bytes per second, want a positive number", db.files.dir, bytesPerSecond)
	}
	ids, err := db.beginScrub(&report)
	if err != nil {
		return report, err
	}
	defer db.work.leave()
	p := pacer{clock: db.clock, rate: float64(bytesPerSecond), start: db.clock.Now()}
	rest := func(bytes int64) error {
		if err := db.open(); err != nil {
			return err
		}
		return p.rest(ctx, bytes)
	}
	if err := db.checkPages(); err != nil {
		report.add(err)
	}
	s := db.acquire()
	err = db.examineMemtables(ctx, s, &report, rest)
	db.release(s)
	if err != nil {
		return report, err
	}
	for _, id := range ids {
		b := db.hold(id)
		if b == nil {
			continue // it was merged into others meanwhile
		}
		err := db.examineBranch(ctx, b, db.files.data, &report, rest)
		db.unrefBranch(b)
		if err != nil {
			return report, err
		}
	}
	return report, rest(0)
}

// beginScrub prevents the shutdown of the store while it is scrubbed, and lists the
// branches.
func (db *DB) beginScrub(report *Report) ([]uint64, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closing.Load() {
		return nil, ErrClosed
	}
	db.work.enter()
	root := db.tree.root()
	if err := root.Validate(); err != nil {
		report.add(err)
	}
	var ids []uint64
	root.Branches(func(b *trunk.Branch) { ids = append(ids, b.Meta.ID) })
	return ids, nil
}

// hold takes a reference to a branch, or returns nil if the tree no longer has it.
func (db *DB) hold(id uint64) *trunk.Branch {
	db.mu.Lock()
	defer db.mu.Unlock()
	b, ok := db.tree.branch(id)
	if ok {
		b.Retain()
	}
	return b
}

// A pacer keeps to a rate, in bytes per second.
type pacer struct {
	clock env.Clock
	rate  float64
	start env.Instant
	bytes float64
}

const (
	// pacePiece is the longest single wait: a done context or a close is noticed
	// within it.
	pacePiece = 50 * time.Millisecond
	// paceCredit bounds how far a delayed reader may catch up.
	paceCredit = time.Second
)

// rest counts bytes, and waits until they are due.
func (p *pacer) rest(ctx context.Context, bytes int64) error {
	p.bytes += float64(bytes)
	due := p.start + env.Instant(p.bytes/p.rate*float64(time.Second))
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		ahead := due.Sub(p.clock.Now())
		if ahead < -paceCredit {
			p.start, p.bytes = p.clock.Now(), 0
		}
		if ahead <= 0 {
			return nil
		}
		p.wait(ctx, min(ahead, pacePiece))
	}
}

func (p *pacer) wait(ctx context.Context, d time.Duration) {
	done := make(chan struct{})
	timer := p.clock.After(d, env.WakeFunc(func() { close(done) }))
	select {
	case <-done:
	case <-ctx.Done():
		timer.Stop()
	}
}

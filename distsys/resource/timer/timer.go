// SPDX-License-Identifier: Apache-2.0

// Package timer provides the resource for a specification's timeouts: a
// variable that reads FALSE until some time has passed and TRUE from then on,
// until a write restarts the timer. The time may have a random part, drawn
// again at each start, so that timers of several nodes are rarely due together.
//
// In: a clock, chance, and the times. Out: a distsys.Resource, for one instance
// or for several of a node: a write of one restarts the timer for all. The time
// starts with the first access. A section that waits for the timer sleeps until
// it is due. A specification may assume of the timer only what it may assume of
// time: that it passes.
package timer

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Timer is the resource. Instances may share one.
type Timer struct {
	clock  env.Clock
	random env.Random
	opt    Options

	mu      sync.Mutex
	started bool
	due     env.Instant
	writers []*distsys.Tx // sections that have written it
	waits   []wait
}

type wait struct {
	w     env.Waker
	timer env.Timer
}

var _ distsys.Watched = (*Timer)(nil)

// Options are the times of a Timer.
type Options struct {
	// After is the least time from a start until the timer is due. It must be
	// positive.
	After time.Duration
	// Spread bounds a random time that is added: at least 0, and below Spread.
	Spread time.Duration
}

// New returns a timer that is due when its time has passed since its first use
// or last write. It may draw from random during any later call; random may be nil
// if there is no Spread.
func New(c env.Clock, random env.Random, o Options) (*Timer, error) {
	if o.After <= 0 || o.Spread < 0 || o.After+o.Spread < o.After {
		return nil, fmt.Errorf("a timer of %v with a spread of %v: the time must be positive", o.After, o.Spread)
	}
	return &Timer{clock: c, random: random, opt: o}, nil
}

// start starts the time and sets the alarms of the waiting sections.
func (t *Timer) start() {
	t.started = true
	after := t.opt.After
	if t.opt.Spread > 0 {
		after += time.Duration(t.random.Uint64() % uint64(t.opt.Spread))
	}
	t.due = t.clock.Now().Add(after)
	for i := range t.waits {
		t.waits[i].timer.Stop()
		t.waits[i].timer = t.clock.After(after, t.waits[i].w)
	}
}

// Read implements Resource.
func (t *Timer) Read(tx *distsys.Tx, idx []value.Value) (value.Value, error) {
	if len(idx) > 0 {
		return value.Value{}, errIndexed
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.writers, tx) {
		return value.Bool(false), nil
	}
	if !t.started {
		t.start()
	}
	return value.Bool(t.clock.Now() >= t.due), nil
}

var errIndexed = fmt.Errorf("a timer has no index")

// Write implements Resource: whatever the value, the time restarts when the
// section commits.
func (t *Timer) Write(tx *distsys.Tx, idx []value.Value, _ value.Value) error {
	if len(idx) > 0 {
		return errIndexed
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.writers, tx) {
		t.writers = append(t.writers, tx)
	}
	return nil
}

// PreCommit implements Resource.
func (t *Timer) PreCommit(*distsys.Tx) error { return nil }

// Commit implements Resource.
func (t *Timer) Commit(tx *distsys.Tx) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leave(tx) {
		t.start()
	}
}

// Abort implements Resource.
func (t *Timer) Abort(tx *distsys.Tx) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave(tx)
}

func (t *Timer) leave(tx *distsys.Tx) bool {
	i := slices.Index(t.writers, tx)
	if i < 0 {
		return false
	}
	t.writers = slices.Delete(t.writers, i, i+1)
	return true
}

// Watch implements Watched.
func (t *Timer) Watch(w env.Waker) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.started {
		t.start()
	}
	t.waits = append(t.waits, wait{w, t.clock.After(t.due.Sub(t.clock.Now()), w)})
}

// Unwatch implements Watched.
func (t *Timer) Unwatch(w env.Waker) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, have := range t.waits {
		if have.w == w {
			have.timer.Stop()
			t.waits = slices.Delete(t.waits, i, i+1)
			return
		}
	}
}

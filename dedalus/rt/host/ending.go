// SPDX-License-Identifier: Apache-2.0

package host

import (
	"sync"

	"github.com/ashlar-dev/ashlar/env"
)

// ending records whether the instance has ended or is draining. No other lock
// is taken while its lock is held.
type ending struct {
	mu      sync.Mutex
	over    bool
	failed  error
	drained bool
	done    func() // is called at the end of a drain; nil: none is under way
	until   env.Instant
}

// close records the end of the instance; err is nil for a normal end. first is
// true for the first call, and done is the done function of a running drain, or
// nil.
func (e *ending) close(err error) (done func(), first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return nil, false
	}
	e.over, e.failed = true, err
	done, e.done = e.done, nil
	return done, true
}

// drain starts a drain with the deadline until. It returns false if the
// instance has ended or a drain was started before.
func (e *ending) drain(done func(), until env.Instant) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over || e.drained {
		return false
	}
	e.drained, e.done, e.until = true, done, until
	return true
}

// look returns the done function of a running drain, and whether the drain is
// over: no work is left (rest is 0), or its deadline has passed.
func (e *ending) look(rest int, now env.Instant) (done func(), due bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	done = e.done
	due = done != nil && (rest == 0 || now >= e.until)
	if due {
		e.done = nil
	}
	return done, due
}

// closed reports whether the instance has ended, drains whether a drain was started, and
// failure returns the error that ended the instance.
func (e *ending) closed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.over
}

func (e *ending) drains() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.drained
}

func (e *ending) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failed
}

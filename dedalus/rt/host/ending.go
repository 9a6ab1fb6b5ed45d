package host

import (
	"sync"

	"github.com/ashlar-dev/ashlar/env"
)

// ending is whether an instance ends or is about to. No other lock is taken while its
// lock is held.
type ending struct {
	mu      sync.Mutex
	over    bool
	failed  error
	drained bool
	done    func() // is called at the end of a drain; nil: none is under way
	until   env.Instant
}

// close ends the instance, because of an error or not. It returns whether this is the
// first call, and what a drain has to call that is under way, or nil.
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

// drain begins a drain that lasts until then at most, and says whether it could.
func (e *ending) drain(done func(), until env.Instant) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over || e.drained {
		return false
	}
	e.drained, e.done, e.until = true, done, until
	return true
}

// look returns what to call when a drain is under way, and whether that is due: so much
// is left to do.
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

// closed reports whether the instance has ended, drains whether it is to end, and failure
// because of what it has ended.
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

// Package env is the world outside as small interfaces: clock, randomness,
// network, disk, tracer. Everything that runs takes what it needs of the world
// from here, so that the same code runs on the real one (env/osenv) and in a
// simulator that is one thread, one seed and virtual time.
//
// Nothing here blocks except Disk, and nothing here starts a goroutine for its
// caller. Code waits by returning: it registers a Waker, or is called back as
// a Handler, and goes on when it is called. On the real world the calls come
// from goroutines of osenv, in a simulator from its one loop; the contracts
// below say what order may be relied on in both.
//
// Refused: wall-clock deadlines, unbounded queues, and reading the world
// without passing through these interfaces.
package env

import (
	"sync/atomic"
	"time"
)

// Env is what a program is given of the world.
type Env struct {
	Clock   Clock
	Random  Random
	Network Network
	// Packets is nil where nothing asks for packets.
	Packets Packets
	Disk    Disk
	Tracer  Tracer
}

// Instant is a point of monotonic time: nanoseconds since a start that the
// Clock chose. Instants of different clocks cannot be compared.
type Instant int64

// Sub is the time from u to t.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// Add is the instant d after t.
func (t Instant) Add(d time.Duration) Instant { return t + Instant(d) }

// Clock tells time and wakes.
type Clock interface {
	// Now never goes backwards.
	Now() Instant
	// Wall is the calendar time, for people and log files; it may jump.
	Wall() time.Time
	// After calls w.Wake once, at the first moment not before d from now.
	// With d <= 0 that is as soon as the caller has returned: After itself
	// never calls Wake. It is safe for concurrent use.
	After(d time.Duration, w Waker) Timer
}

// Timer is a pending After.
type Timer interface {
	// Stop prevents the Wake if it has not begun. It reports whether it did; a
	// Wake that has begun may still be running when Stop returns false.
	Stop() bool
}

// Waker is told that something its owner waits for may have happened. Wake
// returns soon and does not call back into who calls it, which may hold locks.
// It may come from any goroutine, at any time, more often than needed, and
// after the owner has lost interest. A Clock holds no lock while it wakes. A
// Waker that is registered with anything but a Clock is comparable.
type Waker interface {
	Wake()
}

// WakeFunc makes a function a Waker.
type WakeFunc func()

// Wake calls f.
func (f WakeFunc) Wake() { f() }

// Signal is a Waker that remembers being woken, so that a wake between the
// look and the wait is not lost. The zero Signal is not woken and tells nobody.
type Signal struct {
	woken  atomic.Bool
	notify func()
}

// NewSignal returns a Signal that calls notify on each transition from not
// woken to woken. Notify has the duties of a Wake.
func NewSignal(notify func()) *Signal { return &Signal{notify: notify} }

// Wake marks the signal.
func (s *Signal) Wake() {
	if !s.woken.Swap(true) && s.notify != nil {
		s.notify()
	}
}

// Take reports whether the signal was woken since the last Take, and clears it.
func (s *Signal) Take() bool { return s.woken.Load() && s.woken.Swap(false) }

// Woken reports whether the signal is marked, and leaves it so.
func (s *Signal) Woken() bool { return s.woken.Load() }

// Event is something that happened in a protocol, in the protocol's own type.
type Event interface {
	// EventName is the event's name in the specification's words.
	EventName() string
}

// Mark is an Event without content: that a place in the code was passed which
// a test wants to see passed, as the recovery from something rare.
type Mark string

// EventName is the mark itself.
func (m Mark) EventName() string { return string(m) }

// Tracer is told of protocol events, in the order in which one step machine
// passes through them. Trace must not block and must not keep the event's
// memory after it returns. It is safe for concurrent use.
type Tracer interface {
	Trace(Event)
}

// NoTrace is the Tracer that listens to nothing.
type NoTrace struct{}

// Trace does nothing.
func (NoTrace) Trace(Event) {}

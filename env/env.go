// SPDX-License-Identifier: Apache-2.0

// Package env defines the outside world as small interfaces: clock, randomness,
// network, disk, tracer. Every running component takes what it needs of the
// world from here, so the same code runs on the real world (env/osenv) and in a
// simulator with one thread, one seed and virtual time.
//
// Nothing here blocks except Disk, and nothing here starts a goroutine for its
// caller. Code waits by returning: it registers a Waker or a Handler and
// continues when that is called. In the real world the calls come from
// goroutines of osenv, in a simulator from its single loop; the contracts below
// state which order holds in both.
//
// Refused: wall-clock deadlines, unbounded queues, and access to the world that
// bypasses these interfaces.
package env

import (
	"sync/atomic"
	"time"
)

// Env is what a program gets of the world.
type Env struct {
	Clock   Clock
	Random  Random
	Network Network
	// Packets is nil in a program that uses no packets.
	Packets Packets
	Disk    Disk
	Tracer  Tracer
}

// Instant is a point of monotonic time: nanoseconds since an origin chosen by
// the Clock. Instants of different clocks must not be compared.
type Instant int64

// Sub is the time from u to t.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// Add is the instant d after t.
func (t Instant) Add(d time.Duration) Instant { return t + Instant(d) }

// Clock reports the time and wakes Wakers.
type Clock interface {
	// Now never goes backwards.
	Now() Instant
	// Wall is the calendar time, for people and log files; it may jump.
	Wall() time.Time
	// After calls w.Wake once, no earlier than d from now. If d <= 0, that is
	// soon after After has returned: After itself never calls Wake. It is safe
	// for concurrent use.
	After(d time.Duration, w Waker) Timer
}

// Timer is a pending After.
type Timer interface {
	// Stop prevents the Wake if it has not begun, and reports whether it did.
	// If Stop returns false, the Wake may still be running.
	Stop() bool
}

// Waker is notified that something its owner waits for may have happened. Wake
// must return soon and must not call back into its caller, which may hold
// locks. It may be called from any goroutine, at any time, more often than
// needed, and after the owner no longer waits. A Clock holds no lock while it
// calls Wake. A Waker registered with anything but a Clock must be comparable.
type Waker interface {
	Wake()
}

// WakeFunc makes a function a Waker.
type WakeFunc func()

// Wake calls f.
func (f WakeFunc) Wake() { f() }

// Signal is a Waker that remembers being woken, so that a Wake between the
// check and the wait is not lost. The zero Signal is not woken and notifies no
// function.
type Signal struct {
	woken  atomic.Bool
	notify func()
}

// NewSignal returns a Signal that calls notify on each transition from not
// woken to woken. Notify must meet the requirements on Wake.
func NewSignal(notify func()) *Signal { return &Signal{notify: notify} }

// Wake marks the signal.
func (s *Signal) Wake() {
	if !s.woken.Swap(true) && s.notify != nil {
		s.notify()
	}
}

// Take reports whether the signal was woken since the last Take, and clears it.
func (s *Signal) Take() bool { return s.woken.Load() && s.woken.Swap(false) }

// Woken reports whether the signal is set, without clearing it.
func (s *Signal) Woken() bool { return s.woken.Load() }

// Event is a step of a protocol, in the protocol's own type.
type Event interface {
	// EventName is the name of the event in the specification.
	EventName() string
}

// Mark is an Event without content: it records that execution reached a place
// that a test wants covered, such as the recovery from a rare fault.
type Mark string

// EventName is the mark itself.
func (m Mark) EventName() string { return string(m) }

// Tracer receives the events of a protocol, in the order in which one step
// machine passes through them. Trace must not block and must not retain the
// event's memory after it returns. It is safe for concurrent use.
type Tracer interface {
	Trace(Event)
}

// NoTrace is a Tracer that discards all events.
type NoTrace struct{}

// Trace does nothing.
func (NoTrace) Trace(Event) {}

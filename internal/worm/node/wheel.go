// SPDX-License-Identifier: Apache-2.0

package node

import (
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// A wheel keeps many deadlines with one timer of the clock. It is coarse:
// entries fire up to wheelTick late, never early. Adding and removing an entry
// costs the same for any number of entries.
const (
	wheelTick  = 4 * time.Millisecond
	wheelSlots = 256
)

type wheel struct {
	clock env.Clock
	waker env.Waker
	slots [wheelSlots]entry // heads of rings
	count int
	done  int64 // all slots up to this tick were looked at
	timer env.Timer
	armed int64 // the tick that the timer is for; valid with a timer
}

// entry is a deadline. The zero entry is in no wheel.
type entry struct {
	prev, next *entry
	at         env.Instant
	due        func()
}

func (e *entry) linked() bool { return e.next != nil }

// newWheel returns an empty wheel. It calls wake when the owner must call turn.
func newWheel(clock env.Clock, wake env.Waker) *wheel {
	w := &wheel{clock: clock, waker: wake, done: int64(clock.Now()) / int64(wheelTick)}
	for i := range w.slots {
		s := &w.slots[i]
		s.prev, s.next = s, s
	}
	return w
}

// add adds an entry, which must be in no wheel, for a moment.
func (w *wheel) add(e *entry, at env.Instant) {
	e.at = at
	tick := max((int64(at)+int64(wheelTick)-1)/int64(wheelTick), w.done+1)
	s := &w.slots[tick%wheelSlots]
	e.prev, e.next = s.prev, s
	s.prev.next, s.prev = e, e
	w.count++
	if w.timer == nil || tick < w.armed {
		w.arm(tick)
	}
}

// remove removes an entry, if it is in the wheel.
func (w *wheel) remove(e *entry) {
	if !e.linked() {
		return
	}
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
	w.count--
}

func (w *wheel) arm(tick int64) {
	w.stop()
	w.armed = tick
	at := env.Instant(tick * int64(wheelTick))
	w.timer = w.clock.After(at.Sub(w.clock.Now()), w.waker)
}

func (w *wheel) stop() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// turn calls due for all entries whose moment has come, in the order of ticks.
func (w *wheel) turn() {
	now := w.clock.Now()
	tick := int64(now) / int64(wheelTick)
	if tick <= w.done {
		w.rearm()
		return
	}
	from := max(w.done+1, tick-wheelSlots+1)
	w.done = tick
	for t := from; t <= tick; t++ {
		s := &w.slots[t%wheelSlots]
		if s.next == s {
			continue
		}
		var due []*entry
		for e := s.next; e != s; e = e.next {
			if e.at <= now {
				due = append(due, e)
			}
		}
		for _, e := range due {
			if e.linked() && e.at <= now { // one before may have moved it
				w.remove(e)
				e.due()
			}
		}
	}
	w.rearm()
}

// rearm sets the timer for the next slot that has an entry.
func (w *wheel) rearm() {
	w.stop()
	if w.count == 0 {
		return
	}
	for t := w.done + 1; t <= w.done+wheelSlots; t++ {
		if s := &w.slots[t%wheelSlots]; s.next != s {
			w.arm(t)
			return
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package space

import "github.com/ashlar-dev/ashlar/env"

// One timer of the clock serves everything that waits: the agenda is a heap of
// alarms, and the timer is set for the first. When the first alarm is dropped,
// the timer stays as it is, because most alarms are dropped, by answers that
// come in time: it fires, finds nothing to do, and is set for the alarm that is
// first then.

// alarm is a moment for which something waits. It is a field of its owner.
type alarm struct {
	at    env.Instant
	order uint64 // alarms of one moment fire in the order in which they were set
	place int    // 1 + index in the agenda; 0: not set
	owner ringer
}

// ringer is notified when an alarm has fired; the alarm is no longer set then.
type ringer interface{ ring(a *alarm) }

func (a *alarm) before(b *alarm) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

// agenda is the alarms that are set, and the timer.
type agenda struct {
	clock  env.Clock
	waker  env.Waker
	heap   []*alarm
	order  uint64
	timer  env.Timer
	timed  env.Instant // when the timer wakes, if armed
	armed  bool
	closed bool
}

func (g *agenda) swap(i, j int) {
	g.heap[i], g.heap[j] = g.heap[j], g.heap[i]
	g.heap[i].place, g.heap[j].place = i+1, j+1
}

func (g *agenda) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !g.heap[i].before(g.heap[parent]) {
			return
		}
		g.swap(i, parent)
		i = parent
	}
}

func (g *agenda) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(g.heap); child++ {
			if g.heap[child].before(g.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		g.swap(i, least)
		i = least
	}
}

// set makes the agenda notify owner at that moment; an alarm that is already
// set is moved.
func (g *agenda) set(a *alarm, at env.Instant, owner ringer) {
	g.drop(a)
	g.order++
	a.at, a.order, a.owner = at, g.order, owner
	g.heap = append(g.heap, a)
	a.place = len(g.heap)
	g.up(len(g.heap) - 1)
	if g.heap[0] == a {
		g.arm()
	}
}

// drop removes an alarm, if it is set.
func (g *agenda) drop(a *alarm) {
	if a.place == 0 {
		return
	}
	i, last := a.place-1, len(g.heap)-1
	if i != last {
		g.swap(i, last)
	}
	g.heap[last] = nil
	g.heap = g.heap[:last]
	a.place = 0
	if i != last {
		g.up(i)
		g.down(i)
	}
}

// arm sets the timer, unless it wakes early enough as it is.
func (g *agenda) arm() {
	if len(g.heap) == 0 || g.closed || g.armed && g.timed <= g.heap[0].at {
		return
	}
	if g.armed {
		g.timer.Stop()
	}
	g.armed, g.timed = true, g.heap[0].at
	g.timer = g.clock.After(g.timed.Sub(g.clock.Now()), g.waker)
}

// wake fires the alarms that are due. A timer that was stopped too late also
// calls it; an early call does no harm.
func (g *agenda) wake() {
	if g.closed {
		return
	}
	now := g.clock.Now()
	if g.armed && now >= g.timed {
		g.armed = false
	}
	for len(g.heap) > 0 && g.heap[0].at <= now {
		a := g.heap[0]
		g.drop(a)
		a.owner.ring(a)
	}
	g.arm()
}

func (g *agenda) close() {
	g.closed = true
	if g.armed {
		g.timer.Stop()
	}
	for _, a := range g.heap {
		a.place = 0
	}
	g.heap = nil
}

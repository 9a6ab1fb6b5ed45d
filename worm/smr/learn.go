// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"errors"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// learner applies the decided commands, in order. It listens to the registers
// ahead, and remembers those that are decided early.
type learner struct {
	r *Replica
	// next is the slot to apply next. size is the size of its segment, or 0
	// while it is unknown: the segment is not allocated, or not looked up yet.
	// seats are the seats in the segment's Meta.
	next    Slot
	size    uint32
	seats   []seat
	cells   map[uint32][]byte
	listens []listening
	// busy: a request for the segment is pending, or a snapshot is being
	// restored.
	busy bool
	// restoring: the learner is looking for a snapshot, or restoring one.
	restoring bool
	poll      env.Timer
	wait      env.Backoff
	marks     []mark
	// idle has the functions to call when no snapshot is being restored any
	// more.
	idle []func()
}

type listening struct {
	lo, hi uint32
	stop   func()
}

// mark is a function to call when all slots below at are applied.
type mark struct {
	at Slot
	f  func()
}

// window is the number of registers of one subscription; a learner has two.
const window = 512

func newLearner(r *Replica) learner {
	return learner{r: r, cells: map[uint32][]byte{}, busy: true, restoring: true, wait: backoff()}
}

func (l *learner) unlisten() {
	for _, x := range l.listens {
		x.stop()
	}
	l.listens = nil
}

// enter starts with the segment of next, when it is allocated.
func (l *learner) enter() {
	r := l.r
	if r.closed || l.busy {
		return
	}
	invariant.Check(l.size == 0 && len(l.listens) == 0, "the segment is already entered")
	l.busy = true
	if l.poll != nil {
		l.poll.Stop()
	}
	r.space.Stat(r.opt.ID.Segment(l.next.Index()), r.timeout, func(m wor.Meta, err error) {
		l.busy = false
		switch {
		case r.closed:
		case err == nil:
			l.size, l.seats = m.Size, decodeSeats(m.Payload)
			l.wait.Reset()
			l.listen()
			r.policy.entered()
			l.deliver()
		case errors.Is(err, wor.ErrTrimmed):
			l.lost()
		default:
			l.poll = r.after(l.wait.Next(r.random), l.again)
			if errors.Is(err, wor.ErrUnallocated) {
				r.policy.entered()
			}
		}
	})
}

// again calls enter for a timer. A timer that was stopped too late may fire
// after the learner has entered the segment in another way.
func (l *learner) again() {
	if l.size == 0 {
		l.enter()
	}
}

// lost continues from a snapshot, because the next slot was trimmed.
func (l *learner) lost() {
	if l.busy {
		return // it will find out
	}
	l.busy, l.restoring, l.size, l.seats = true, true, 0, nil
	l.unlisten()
	clear(l.cells)
	l.r.later(&l.wait, l.r.restore)
}

// resume continues at a slot, after a restore.
func (l *learner) resume(next Slot) {
	l.busy, l.restoring = false, false
	l.next = next
	l.r.passed(next)
	idle := l.idle
	l.idle = nil
	for _, f := range idle {
		f()
	}
	l.reached()
	l.enter()
}

// listen subscribes to next's window and to the one after it.
func (l *learner) listen() {
	low := l.next.Offset() / window * window
	for len(l.listens) > 0 && l.listens[0].hi <= low {
		l.listens[0].stop()
		l.listens = l.listens[1:]
	}
	for lo := low; lo < min(low+2*window, l.size); lo += window {
		if n := len(l.listens); n > 0 && l.listens[n-1].lo >= lo {
			continue
		}
		rng := wor.Range{
			Segment: l.r.opt.ID.Segment(l.next.Index()),
			Lo:      max(lo, l.next.Offset()), Hi: min(lo+window, l.size),
		}
		stop := l.r.space.Listen(rng, func(c wor.Cell) {
			if !l.r.closed {
				l.heard(c)
			}
		})
		l.listens = append(l.listens, listening{lo, rng.Hi, stop})
	}
}

// heard records the value of a register.
func (l *learner) heard(c wor.Cell) {
	if c.Addr.Segment != l.r.opt.ID.Segment(l.next.Index()) {
		return // it has left that segment, or will subscribe when it enters
	}
	switch {
	case errors.Is(c.Err, wor.ErrTrimmed):
		l.lost()
	case c.Err == nil && c.Addr.Offset >= l.next.Offset() && l.size > 0 &&
		c.Addr.Offset < l.next.Offset()/window*window+2*window:
		if _, ok := l.cells[c.Addr.Offset]; !ok {
			l.cells[c.Addr.Offset] = c.Value
			l.r.policy.heard(c.Addr.Offset)
			l.deliver()
		}
	}
}

// deliver applies the next commands.
func (l *learner) deliver() {
	index := l.next.Index()
	for !l.r.closed && l.size > 0 && l.next.Index() == index {
		off := l.next.Offset()
		if off >= l.size {
			l.leave()
			return
		}
		value, ok := l.cells[off]
		if !ok {
			l.reached()
			l.r.policy.blocked()
			l.r.policy.pump() // there may be room for more writes
			return
		}
		delete(l.cells, off)
		if isEnd(value) {
			l.leave()
			return
		}
		if off+1 == l.size {
			l.turn()
		} else if l.next++; (off+1)%window == 0 {
			l.listen()
		}
		if b, ok := decodeBatch(value); ok {
			l.r.apply(b)
		}
		l.r.passed(l.next)
		if l.next.Index() != index {
			l.left()
		}
	}
}

// leave moves to the next segment, from any offset.
func (l *learner) leave() {
	l.turn()
	l.r.passed(l.next)
	l.left()
}

// turn moves next to the first slot of the next segment, whose size and seats
// are not known yet.
func (l *learner) turn() {
	l.unlisten()
	clear(l.cells)
	l.next, l.size, l.seats = At(l.next.Index()+1, 0), 0, nil
}

// left continues in the next segment.
func (l *learner) left() {
	l.reached()
	l.r.saver.turned()
	l.enter()
}

// when calls f when all slots below at are applied.
func (l *learner) when(at Slot, f func()) {
	l.marks = append(l.marks, mark{at, f})
	l.reached()
}

func (l *learner) reached() {
	for i := 0; i < len(l.marks); {
		m := l.marks[i]
		if m.at > l.next {
			i++
			continue
		}
		l.marks = append(l.marks[:i:i], l.marks[i+1:]...)
		m.f()
	}
}

// above is the lowest offset above next that is known to be decided, or 0.
func (l *learner) above() uint32 {
	if len(l.cells) == 0 {
		return 0
	}
	for off := l.next.Offset() + 1; off < min(l.size, l.next.Offset()+2*window); off++ {
		if _, ok := l.cells[off]; ok {
			return off
		}
	}
	return 0
}

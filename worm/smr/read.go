// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Consistency states what a read must see.
type Consistency uint8

const (
	// Linearizable: the read sees all commands that were acknowledged to any
	// client before it began.
	Linearizable Consistency = iota
	// Causal: the read sees all commands below a Slot, which comes from a
	// Result, here or elsewhere, or from Applied of another replica.
	Causal
	// Sequential: the read sees what this replica has applied. That includes
	// every command that this replica has answered, and never goes back.
	Sequential
)

// Read calls done(nil) when the state machine may be read with that
// consistency; the caller must read it within done. After is for Causal.
// ErrDeadline means that the time within ran out first.
func (r *Replica) Read(c Consistency, after Slot, within time.Duration, done func(error)) {
	if r.closed {
		r.serial.Do(func() { done(wor.ErrClosed) })
		return
	}
	over := false
	var timer env.Timer
	answer := func(err error) {
		if over || r.closed {
			return
		}
		over = true
		if timer != nil {
			timer.Stop()
		}
		done(err)
	}
	if within > 0 {
		timer = r.after(within, func() { answer(wor.ErrDeadline) })
	}
	switch c {
	case Linearizable:
		r.barrier.join(func() { answer(nil) })
	case Causal:
		r.serial.Do(func() { r.learner.when(after, func() { answer(nil) }) })
	default:
		r.serial.Do(func() {
			// While a snapshot is being restored, the state is inconsistent.
			if r.learner.restoring {
				r.learner.idle = append(r.learner.idle, func() { answer(nil) })
				return
			}
			answer(nil)
		})
	}
}

// barrier waits until all commands are applied that had been acknowledged when
// it began. Reads that arrive during a barrier share the next one.
type barrier struct {
	r       *Replica
	waiting []func()
	running []func()
	wait    env.Backoff
}

func (b *barrier) join(f func()) {
	b.waiting = append(b.waiting, f)
	if b.running == nil {
		b.begin()
	}
}

func (b *barrier) begin() {
	b.running, b.waiting = b.waiting, nil
	if s, ok := b.r.policy.(*sticky); ok && s.state == leading && s.closed() {
		b.lead(s)
		return
	}
	b.look()
}

// end runs when all of them are applied.
func (b *barrier) end() {
	b.wait.Reset()
	done := b.running
	b.running = nil
	for _, f := range done {
		f()
	}
	if b.running == nil && len(b.waiting) > 0 {
		b.begin()
	}
}

// closed reports whether all segments before the leader's own are closed. Then
// the leader has applied every acknowledged command, unless another replica
// leads.
func (s *sticky) closed() bool {
	return int64(s.r.learner.next.Index()) >= s.closer.target
}

// lead is the leader's barrier: if the next segment is not allocated, the only
// acknowledged commands are those it wrote; other replicas may have
// acknowledged them too, and may know of a write sooner than the leader does.
func (b *barrier) lead(s *sticky) {
	r, at := b.r, At(s.now.index, s.now.offset)
	r.space.Stat(r.opt.ID.Segment(uint32(s.top+1)), r.timeout, func(_ wor.Meta, err error) {
		switch {
		case r.closed:
		case errors.Is(err, wor.ErrUnallocated):
			r.learner.when(at, b.end)
		default:
			b.again()
		}
	})
}

func (b *barrier) again() { b.r.later(&b.wait, b.look) }

// lookMax is the number of registers that a barrier reads at once.
const lookMax = 16

// look looks for an unwritten register. Every command acknowledged before is
// below it, because a command is acknowledged only after all lower registers
// are decided.
func (b *barrier) look() {
	r := b.r
	l := &r.learner
	at, size := l.next, l.size
	if l.restoring {
		b.again()
		return
	}
	if size == 0 {
		r.space.Stat(r.opt.ID.Segment(at.Index()), r.timeout, func(_ wor.Meta, err error) {
			switch {
			case r.closed:
			case errors.Is(err, wor.ErrUnallocated):
				l.when(at, b.end)
			default:
				l.enterIfOut()
				b.again()
			}
		})
		return
	}
	rng := wor.Range{Segment: r.opt.ID.Segment(at.Index()), Lo: at.Offset(), Hi: min(at.Offset()+lookMax, size)}
	r.space.ReadRange(rng, r.timeout, func(cells []wor.Cell, err error) {
		if r.closed {
			return
		}
		if err != nil {
			b.again()
			return
		}
		for _, c := range cells {
			if errors.Is(c.Err, wor.ErrUnwritten) {
				l.when(At(at.Index(), c.Addr.Offset), b.end)
				return
			}
			l.heard(c)
			if isEnd(c.Value) {
				break
			}
		}
		b.look()
	})
}

// enterIfOut looks up the learner's segment, if the learner is not in it.
func (l *learner) enterIfOut() {
	if l.size == 0 {
		l.enter()
	}
}

// trimmed returns the error of a cell whose write returned err.
func trimmed(err error) error {
	if errors.Is(err, wor.ErrTrimmed) {
		return wor.ErrTrimmed
	}
	return nil
}

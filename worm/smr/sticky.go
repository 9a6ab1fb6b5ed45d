// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"encoding/binary"
	"errors"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// sticky is StickyLeader. A replica follows, takes over, or leads.
type sticky struct {
	r     *Replica
	state stickyState
	// era counts changes of state. Results of operations that were begun in an
	// earlier era are ignored.
	era int
	// top is the last segment known to be allocated, and leader its leader.
	// sure: nothing suggests that another replica leads.
	top     int64
	leader  seat
	sure    bool
	strikes int
	looking bool
	// now is the segment being written, next the one after it.
	now, next *section
	rolling   bool
	closer    closer
	wait      env.Backoff
	// voids counts the consecutive void tokens.
	voids int
}

type stickyState uint8

const (
	following stickyState = iota
	taking
	leading
)

// voidsMax is the number of consecutive void tokens after which a leader starts
// over with another segment. The repair of a register makes one token void; a
// new epoch makes all of them void.
const voidsMax = 3

// strikesOut is the number of failures of the leader after which this replica
// takes over.
const strikesOut = 2

func newSticky(r *Replica) *sticky {
	return &sticky{r: r, top: -1, closer: closer{r: r, wait: backoff()}, wait: backoff()}
}

func (s *sticky) become(state stickyState) {
	s.era++
	s.state, s.now, s.next, s.rolling, s.voids = state, nil, nil, false, 0
}

// live returns a function that calls f unless the state has changed since.
func (s *sticky) live(f func()) func() {
	era := s.era
	return func() {
		if s.era == era && !s.r.closed {
			f()
		}
	}
}

// gate is for what this replica does as a leader: it calls f later, unless
// another replica has allocated the next segment by then.
func (s *sticky) gate(f func()) {
	f = s.live(f)
	s.r.later(&s.wait, s.live(func() {
		answered := s.live(func() { s.gate(f) })
		check := s.live(f)
		fall := s.live(s.fall)
		s.r.space.Stat(s.r.opt.ID.Segment(uint32(s.top+1)), s.r.timeout, func(_ wor.Meta, err error) {
			switch {
			case errors.Is(err, wor.ErrUnallocated):
				check()
			case err == nil || errors.Is(err, wor.ErrTrimmed):
				fall()
			default:
				answered()
			}
		})
	}))
}

// fall runs when another replica leads or is about to.
func (s *sticky) fall() {
	s.become(following)
	s.sure, s.strikes = false, 0
	s.r.ground()
	s.pump()
}

func (s *sticky) pump() {
	switch {
	case s.r.closed || s.state == taking || s.r.learner.restoring:
	case s.state == leading:
		s.write()
	case !s.r.waiting():
	case !s.sure:
		s.look()
	case s.r.opt.Messenger != nil && s.leader.nonce != s.r.nonce:
		s.forward()
	default:
		s.takeOver()
	}
}

// look finds the present leader.
func (s *sticky) look() {
	if s.looking {
		return
	}
	s.looking = true
	s.r.last(s.r.opt.ID.Segment, s.top, func(index int64, m *wor.Meta, err error) {
		s.looking = false
		switch {
		case s.r.closed || s.state != following:
		case err != nil:
			s.r.later(&s.wait, s.pump)
		case index > s.top:
			s.top, s.strikes, s.sure, s.leader = index, 0, true, seat{}
			if m != nil {
				if seats := decodeSeats(m.Payload); len(seats) == 1 {
					s.leader = seats[0]
				}
			}
			s.pump()
		case s.top < 0 || s.strikes >= strikesOut || s.leader.nonce == s.r.nonce:
			s.takeOver()
		default:
			s.sure = true
			s.pump()
		}
	})
}

// takeOver makes this replica the leader by allocating the next segment.
func (s *sticky) takeOver() {
	if s.top >= IndexMax {
		return
	}
	s.become(taking)
	target := uint32(s.top + 1)
	s.acquire(target, func(c *section) {
		s.state, s.now, s.strikes = leading, c, 0
		s.wait.Reset()
		s.pump()
	})
}

// acquire allocates and captures a segment. Once the segment is allocated, this
// replica must close the earlier ones.
func (s *sticky) acquire(target uint32, done func(*section)) {
	r, m := s.r, s.r.meta(target, []seat{s.r.me()})
	era := s.era
	r.alloc(r.opt.ID.Segment(target), m, &s.wait, func(mine bool, err error) {
		if r.closed {
			return
		}
		if mine || err == nil {
			s.top = max(s.top, int64(target))
		}
		switch {
		case s.era != era:
		case !mine:
			s.top = min(s.top, int64(target)-1) // so that look finds its leader
			s.fall()
		default:
			s.leader, s.sure = r.me(), true
			if s.state == taking {
				s.closer.target = int64(target)
				s.closer.step()
			}
			c := &section{index: target, size: m.Size}
			r.base.capture(r.opt.ID.Segment(target), c, s.gate, s.live(func() { done(c) }))
		}
	})
}

// write writes queued commands.
func (s *sticky) write() {
	r := s.r
	for s.state == leading && r.flying < r.opt.PipelineMax && r.waiting() {
		if s.now.offset >= s.now.size {
			if s.next == nil {
				s.roll()
				return
			}
			s.now, s.next = s.next, nil
		}
		c := s.now
		if At(c.index, c.offset) < r.learner.next {
			s.fall() // another replica has ended the segment
			return
		}
		slot, t := At(c.index, c.offset), c.token(c.offset)
		c.offset++
		value, taken := junk(), []*proposal(nil)
		if _, free := t.Find(slot.Offset()); free {
			var b batch
			b, taken = r.take()
			value = b.encode()
		}
		f := r.fly(slot, value, taken)
		era := s.era
		r.space.Write(t, slot.Offset(), value, r.timeout, func(err error) {
			if s.era == era && !r.closed {
				s.token(err)
			}
			r.landed(f, value, err)
		})
		if 4*uint64(c.offset) >= 3*uint64(c.size) {
			s.roll()
		}
	}
}

// token checks, by the outcome of a write, whether the leader's tokens are
// still valid.
func (s *sticky) token(err error) {
	switch {
	case row.Decided(err):
		s.voids = 0
	case errors.Is(err, wor.ErrOutbid) || errors.Is(err, wor.ErrSealed) || errors.Is(err, wor.ErrToken):
		if s.voids++; s.voids >= voidsMax {
			s.fall() // and lead again, in the next segment
		}
	}
}

// roll prepares the next segment before this one is full.
func (s *sticky) roll() {
	if s.rolling || s.next != nil || s.top >= IndexMax {
		return
	}
	s.rolling = true
	s.acquire(uint32(s.top+1), func(c *section) {
		s.next, s.rolling = c, false
		s.pump()
	})
}

// entered: a segment after the one that this replica allocated means that
// another replica leads.
func (s *sticky) entered() {
	if l := &s.r.learner; s.state != following && l.size > 0 && int64(l.next.Index()) > s.top {
		s.fall()
		return
	}
	s.closer.step()
	s.pump()
}

func (s *sticky) heard(uint32) {}

func (s *sticky) blocked() { s.closer.step() }

// failed: another replica has captured the register. It is a new leader, or one
// that repaired the register.
func (s *sticky) failed(f *flight) {
	if s.state == leading {
		s.gate(func() { s.r.insist(f) })
	}
}

// forward sends the queue to the leader.
func (s *sticky) forward() {
	r := s.r
	for r.waiting() {
		b, taken := r.take()
		payload := binary.LittleEndian.AppendUint32(nil, uint32(r.opt.ID))
		payload = append(payload, b.encode()...)
		leader := s.leader
		r.opt.Messenger.Invoke(leader.member, wor.ServiceSMR, payload, r.opt.Silence, func(answer []byte, err error) {
			if r.closed {
				return
			}
			if err == nil && len(answer) == 1 && answer[0] == forwardOK {
				// The leader will write the commands. If it does not, resend
				// sends them again.
				r.after(2*r.opt.Silence, func() { s.resend(leader, taken, 1) })
				return
			}
			strikes := strikesOut
			if len(answer) == 1 && answer[0] == forwardBusy {
				strikes = 0
			}
			r.later(&s.wait, func() { s.resend(leader, taken, strikes) })
		})
	}
}

// resend sends the commands again that are not applied yet.
func (s *sticky) resend(leader seat, taken []*proposal, strikes int) {
	alive := false
	for _, p := range taken {
		alive = alive || !p.over && !p.queued
	}
	if !alive {
		s.wait.Reset()
		s.strikes = 0
		return
	}
	if s.state == following && s.leader.nonce == leader.nonce {
		s.strikes += strikes
		s.sure = false
	}
	for _, p := range taken {
		s.r.enqueue(p)
	}
}

// The answers to forwarded commands.
const (
	forwardOK   = 1
	forwardNo   = 2 // it does not lead
	forwardBusy = 3
)

// PayloadID returns the ID of the state machine to which a payload of
// wor.ServiceSMR is addressed, for a server with several state machines.
func PayloadID(payload []byte) (ID, bool) {
	if len(payload) < 4 {
		return 0, false
	}
	return ID(binary.LittleEndian.Uint32(payload)), true
}

// Handle is the wor.Handler of wor.ServiceSMR: it accepts commands from other
// replicas.
func (r *Replica) Handle(payload []byte, answer func([]byte)) {
	id, ok := PayloadID(payload)
	if !ok || id != r.opt.ID || r.closed {
		return
	}
	b, ok := decodeBatch(payload[4:])
	s, sticky := r.policy.(*sticky)
	switch {
	case !ok:
		return
	case !sticky || s.state == following:
		answer([]byte{forwardNo})
		return
	case len(r.pending)+len(b.commands) > r.opt.CommandsMax || r.bytes >= r.opt.BytesMax:
		answer([]byte{forwardBusy})
		return
	}
	answer([]byte{forwardOK})
	for _, c := range b.commands {
		if p := r.pending[c.key]; p == nil {
			r.bytes += int64(len(c.body))
			r.enqueue(&proposal{command: c})
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// chain is an RM that this process owns: its segments of votes.
//
// Votes go to cur. When half of cur is used, the engine allocates and captures
// next, so that votes need not wait when cur is full. Then cur becomes old and
// is closed: registers granted in it can no longer be used. A takeover does not
// need an old segment if the RM's state includes the outcomes of all its votes;
// the base in the Meta of later segments records that. The engine trims the
// segment once the other RMs do not need it either.
type chain struct {
	e  *Engine
	rm RM
	// open: the RM votes. dead: another process owns the RM.
	open, dead bool
	// last is the highest segment that this process has allocated. room is the
	// room of the first one.
	last      uint64
	room      uint32
	cur, next *segment
	preparing bool
	renewing  bool
	old       []*segment // not trimmed, the oldest first
	// base and state go into the Meta of the next segment. published is the
	// base in the Meta of the last one.
	base, published, trimmed uint64
	state                    []byte
	// wanted is the base for which other RMs wait.
	wanted        uint64
	checkpointing bool
	waiters       []func(error)
	confirms      []func(error)
	confirming    bool
}

// Checkpointer is a Resource that can save the state of an RM, so that old
// votes are no longer needed. The Engine requests that with Checkpoint; the
// Resource answers with Engine.Checkpointed.
type Checkpointer interface{ Checkpoint(rm RM) }

// segmentsKept is the number of segments that a takeover may have to read
// before the engine requests a checkpoint. It is also the number of old
// segments that may wait for other RMs before the engine asks those RMs to
// hurry.
const segmentsKept = 3

// slot hands out a register of cur, of the RM's own half or of the shared half.
func (c *chain) slot(own bool) (wor.Addr, bool) {
	s := c.cur
	if c.full(own) {
		c.advance()
		if s = c.cur; c.full(own) {
			return wor.Addr{}, false
		}
	}
	a := wor.Addr{Segment: s.id, Offset: s.shared}
	if own {
		a.Offset = s.own
		s.own++
	} else {
		s.shared++
	}
	c.ahead()
	return a, true
}

func (c *chain) full(own bool) bool {
	s := c.cur
	return s.bytes > c.e.opt.SegmentBytes || !own && s.sharedLeft() == 0 || own && s.ownLeft() == 0
}

// grant grants a range of the shared half to another process.
func (c *chain) grant() (grantAnswer, bool) {
	if c.full(false) {
		c.advance()
		if c.full(false) {
			return grantAnswer{}, false
		}
	}
	s := c.cur
	g := grantAnswer{segment: s.id, lo: s.shared}
	s.shared += min(s.sharedLeft(), GrantMax, max(1, s.room/8))
	g.hi = s.shared
	c.ahead()
	return g, true
}

// wait calls f when there is a new segment, or when the RM is lost.
func (c *chain) wait(f func(error)) bool {
	if len(c.waiters) >= waitersMax {
		return false
	}
	c.waiters = append(c.waiters, f)
	return true
}

// take returns the segment of a register in which the RM is about to vote. If
// it cannot vote, take returns the answer for the asker. If the segment is
// closed, the vote must be NO.
func (c *chain) take(a wor.Addr) (*segment, uint8) {
	s := c.find(a.Segment)
	switch {
	case s == nil:
		return nil, answerClosed
	case s.take(a.Offset):
		return s, answerOK
	case s.closed:
		return nil, answerClosed
	}
	return nil, answerOK
}

func (c *chain) find(id wor.Segment) *segment {
	if c.cur.id == id {
		return c.cur
	}
	for _, s := range c.old {
		if s.id == id {
			return s
		}
	}
	return nil
}

// finished handles the outcome of a YES vote, which the Resource has applied.
func (c *chain) finished(t *Tx, slot Slot, commit bool) {
	s := c.find(slot.Addr.Segment)
	if s == nil {
		return
	}
	s.pending--
	if commit {
		s.need(t.Slots, c.rm)
	}
	if s.done() {
		c.collect()
	}
}

// need records in which segments of other RMs a committed transaction has
// votes.
func (s *segment) need(slots []Slot, rm RM) {
	for _, o := range slots {
		if o.RM != rm {
			s.needs[o.RM] = max(s.needs[o.RM], segmentNumber(o.Addr.Segment))
		}
	}
}

// ahead prepares the next segment before this one is full.
func (c *chain) ahead() {
	if c.next == nil && c.cur.half(c.e.opt.SegmentBytes) {
		c.prepare()
	}
}

// advance makes next the current segment, if next is ready.
func (c *chain) advance() {
	if c.next == nil {
		c.prepare()
		return
	}
	s := c.cur
	// No more votes go to this segment, so the order of votes is also the order
	// of segments. A takeover that begins with a later segment therefore misses
	// no vote that came after those that it redoes.
	s.closed = true
	c.old = append(c.old, s)
	c.cur, c.next = c.next, nil
	c.cur.began = c.e.opt.Env.Clock.Now()
	c.e.after(0, c.collect)
	c.wake(nil)
}

func (c *chain) wake(err error) {
	waiters := c.waiters
	c.waiters = nil
	for _, f := range waiters {
		f(err)
	}
}

// prepare allocates and captures the next segment.
func (c *chain) prepare() {
	if c.preparing || !c.open {
		return
	}
	c.preparing = true
	c.allocate(c.last+1, c.e.random.Uint64(), &meta{c.e.opt.Self, c.base, c.trimmed, c.state, c.e.roomAfter(c.cur)})
}

func (c *chain) allocate(n, nonce uint64, m *meta) {
	e := c.e
	e.opt.Space.Alloc(e.voteSegment(c.rm, n), e.meta(c.rm, n, nonce, m, e.opt.SegmentSize), 0, func(won wor.Meta, err error) {
		switch {
		case c.dead:
		case err == nil:
			c.last, c.published = n, m.base
			e.discover(c.rm, route{true, n, m.base, e.opt.Self})
			c.capture(e.newSegment(c.rm, n, m.room))
		case errors.Is(err, wor.ErrWritten):
			c.lose(n, won)
		case errors.Is(err, wor.ErrTrimmed):
			c.lose(n, wor.Meta{})
		default:
			// Try the same segment again: its allocation may have been decided
			// already.
			e.after(e.jitter(e.opt.ResolveAfter/4), func() {
				if !c.dead {
					c.allocate(n, nonce, m)
				}
			})
		}
	})
}

func (c *chain) capture(s *segment) {
	e := c.e
	ready := func(t *wor.Token) {
		s.token = t
		c.preparing, c.next = false, s
		if len(c.waiters) > 0 || c.full(true) || c.full(false) {
			c.advance()
		}
		c.collect()
	}
	if !e.policy.ahead {
		ready(nil)
		return
	}
	e.opt.Space.Capture(wor.Range{Segment: s.id, Lo: 0, Hi: s.size}, 0, func(t *wor.Token, err error) {
		switch {
		case c.dead:
		case err == nil:
			ready(t)
		default:
			c.suspect()
			e.after(e.jitter(e.opt.ResolveAfter/4), func() {
				if !c.dead {
					c.capture(s)
				}
			})
		}
	})
}

// renew captures cur again after its token became invalid.
func (c *chain) renew(err error) {
	s := c.cur
	if !c.open || c.renewing || s.token == nil || !errors.Is(err, wor.ErrSealed) && !errors.Is(err, wor.ErrToken) {
		return
	}
	c.renewing = true
	c.e.opt.Space.Capture(s.token.Range, 0, func(t *wor.Token, err error) {
		c.renewing = false
		if err == nil {
			s.token = t
		}
	})
}

// suspect checks whether this process still owns the RM, after a hint that it
// may not.
func (c *chain) suspect() { c.confirm(func(error) {}) }

// Confirm calls done with nil if no other process owned the RM at some moment
// after the call: the segment after the last one was not allocated. One check
// answers many concurrent calls.
func (e *Engine) Confirm(rm RM, done func(error)) {
	if c := e.chains[rm]; c != nil && c.open {
		c.confirm(done)
		return
	}
	done(ErrNoOwner)
}

func (c *chain) confirm(done func(error)) {
	c.confirms = append(c.confirms, done)
	if !c.confirming && !c.dead {
		c.confirming = true
		c.confirmNow()
	}
}

func (c *chain) confirmNow() {
	calls := c.confirms
	c.confirms = nil
	n := c.last + 1
	within, ended := c.e.patience.Begin()
	c.e.opt.Space.Stat(c.e.voteSegment(c.rm, n), 4*within, func(m wor.Meta, err error) {
		ended(errors.Is(err, wor.ErrDeadline))
		if c.dead {
			answerAll(calls, ErrNoOwner)
			return
		}
		switch {
		case errors.Is(err, wor.ErrUnallocated):
			err = nil
		case err == nil && (n <= c.last || c.preparing):
			// The new segment is, or may be, one that this process allocated
			// meanwhile.
			c.confirms = append(calls, c.confirms...)
			c.e.after(c.e.jitter(c.e.opt.ResolveAfter/64), func() {
				if !c.dead {
					c.confirmNow()
				}
			})
			return
		case err == nil || errors.Is(err, wor.ErrTrimmed):
			c.lose(n, m)
			answerAll(calls, ErrNoOwner)
			return
		}
		answerAll(calls, err)
		if c.confirming = !c.dead && len(c.confirms) > 0; c.confirming {
			c.confirmNow()
		}
	})
}

func answerAll(calls []func(error), err error) {
	for _, f := range calls {
		f(err)
	}
}

// lose gives the RM up, because another process has allocated segment n.
func (c *chain) lose(n uint64, won wor.Meta) {
	if c.dead {
		return
	}
	e := c.e
	c.open, c.dead = false, true
	if e.chains[c.rm] == c {
		delete(e.chains, c.rm)
	}
	var m meta
	if m.decode(won.Payload) {
		e.discover(c.rm, route{true, n, m.base, m.owner})
	}
	if c.cur != nil {
		if t := e.taking[c.rm]; t != nil && t.c == c {
			e.Forgo(c.rm)
		}
		e.opt.Resource.Lost(c.rm)
	}
	c.wake(ErrNoOwner)
	calls := c.confirms
	c.confirms = nil
	answerAll(calls, ErrNoOwner)
}

// Checkpointed records that the Resource has saved a state which the next owner
// will find. The state includes all transactions voted on in segments before
// base; base is the Cut at the time when the checkpoint began.
func (e *Engine) Checkpointed(rm RM, base uint64, state []byte) {
	c := e.chains[rm]
	if c == nil || !c.open {
		return
	}
	c.checkpointing = false
	if base >= c.base {
		c.base, c.state = base, state
	}
	c.collect()
}

// Uncheckpointed records that the Resource could not make a requested
// checkpoint.
func (e *Engine) Uncheckpointed(rm RM) {
	if c := e.chains[rm]; c != nil {
		c.checkpointing = false
	}
}

// Published returns the base in the last Meta of an RM here: the segment with
// which a takeover would begin.
func (e *Engine) Published(rm RM) uint64 {
	if c := e.chains[rm]; c != nil {
		return c.published
	}
	return 0
}

// Cut is the first segment with a vote whose outcome is not applied, or with
// room for more votes.
func (e *Engine) Cut(rm RM) uint64 {
	c := e.chains[rm]
	if c == nil {
		return 0
	}
	for _, s := range c.old {
		if !s.done() {
			return s.n
		}
	}
	return c.cur.n
}

// rollPast does what is necessary before the base can rise above n.
func (c *chain) rollPast(n uint64) {
	if n <= c.last {
		c.wanted = max(c.wanted, n+1)
	}
	c.collect()
}

// collect requests a checkpoint when it is due, publishes it when other RMs
// wait for it, and trims segments that are no longer needed.
func (c *chain) collect() {
	if !c.open {
		return
	}
	e := c.e
	cut := e.Cut(c.rm)
	if c.wanted > c.published {
		switch {
		case cut < c.wanted && c.cur.n < c.wanted:
			c.advance()
		case c.base >= c.wanted && c.next == nil:
			c.prepare() // its Meta publishes the base
		case c.base >= c.wanted:
			c.advance()
		}
	}
	if cp, ok := e.opt.Resource.(Checkpointer); ok && !c.checkpointing && cut > c.base &&
		(cut-c.base >= segmentsKept || c.wanted > c.base) {
		c.checkpointing = true
		cp.Checkpoint(c.rm)
	}
	c.trim(false)
}

// trim trims the oldest segment if that is permitted. With hurry, and if many
// segments are waiting, it asks the RMs that still need the segment to raise
// their base.
func (c *chain) trim(hurry bool) {
	e := c.e
	if len(c.old) == 0 {
		return
	}
	s := c.old[0]
	if s.n >= c.published || s.trimming {
		return
	}
	if s.needs == nil {
		s.trimming = true
		c.readNeeds(s)
		return
	}
	blocked := false
	for rm := range e.routes { // in order
		if n, ok := s.needs[RM(rm)]; ok && e.routes[rm].base <= n {
			blocked = true
			if hurry && len(c.old) > segmentsKept {
				c.hurry(RM(rm), n)
			}
		}
	}
	if blocked {
		return
	}
	s.trimming = true
	e.opt.Space.Trim(s.id, 0, func(err error) {
		s.trimming = false
		if err != nil && !errors.Is(err, wor.ErrTrimmed) {
			return // the next occasion tries again
		}
		c.trimmed = max(c.trimmed, s.n+1)
		c.old = slices.DeleteFunc(c.old, func(o *segment) bool { return o == s })
		c.collect()
	})
}

// hurry asks the owner of another RM to raise its base above n.
func (c *chain) hurry(rm RM, n uint64) {
	if o := c.e.chains[rm]; o != nil && o.open {
		c.e.after(0, func() { o.rollPast(n) })
		return
	}
	var m encoder
	m.u8(msgRoll)
	m.uint(uint64(rm))
	m.uint(n)
	c.e.opt.Messenger.Invoke(c.e.routes[rm].member, wor.ServiceTx, m.b, 0, nil)
}

// Tick continues work that waits for other processes. The caller must call it
// periodically.
func (e *Engine) Tick() {
	for rm := range e.routes {
		if c := e.chains[RM(rm)]; c != nil {
			c.collect()
			c.trim(true)
		}
	}
}

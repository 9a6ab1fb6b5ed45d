// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// The process that begins a transaction names the registers for its votes. The
// owner of an RM therefore grants ranges of registers in advance, each register
// for one transaction. So the description of a transaction is complete before
// any message is sent, and every process that has it can decide the
// transaction.

const (
	// GrantMax is the number of registers granted at a time.
	GrantMax = 64
	// waitersMax bounds the calls that wait for registers of one RM.
	waitersMax = 4096
)

// Errors of Start: the transaction was not begun.
var (
	// ErrNoOwner: the owner of an RM is not known, or does not answer.
	ErrNoOwner = errors.New("owner of a resource manager is unknown")
	// ErrBusy: this process or an RM has no room for the transaction now.
	ErrBusy = errors.New("no room for a transaction now: try again later")
)

// pool has the registers that the owner of another process's RM has granted to
// this process.
type pool struct {
	ranges  []wor.Range
	left    int
	asking  bool
	waiters []func(error)
}

// take removes a register from the pool.
func (p *pool) take() (wor.Addr, bool) {
	if p.left == 0 {
		return wor.Addr{}, false
	}
	r := &p.ranges[0]
	a := wor.Addr{Segment: r.Segment, Offset: r.Lo}
	r.Lo++
	p.left--
	if r.Lo == r.Hi {
		p.ranges = p.ranges[1:]
	}
	return a, true
}

func (p *pool) drop() { p.ranges, p.left = nil, 0 }

func (p *pool) wake(err error) {
	waiters := p.waiters
	p.waiters = nil
	for _, f := range waiters {
		f(err)
	}
}

// Reserve finds a register for the vote of each RM, and names the transaction.
// Its errors are those of Start. Parts must be sorted by RM.
func (e *Engine) Reserve(parts []Part, done func(Tx, error)) {
	e.seq++
	t := Tx{ID: ID{e.nonce, e.seq}, Slots: make([]Slot, 0, len(parts))}
	if len(parts) == 0 || len(parts) > SlotsMax {
		done(t, &wor.LimitError{Name: "tx.SlotsMax", Limit: SlotsMax, Got: int64(len(parts))})
		return
	}
	e.reserve(t, parts, done)
}

// reserve takes the missing registers: first those of other processes' RMs,
// which may take long, then those of RMs here.
func (e *Engine) reserve(t Tx, parts []Part, done func(Tx, error)) {
	retry := func(err error) {
		if err != nil {
			e.giveBack(t)
			done(t, err)
			return
		}
		e.reserve(t, parts, done)
	}
	for _, here := range []bool{false, true} {
		for i := range parts {
			rm := parts[i].RM
			if e.Owns(rm) != here || t.has(rm) {
				continue
			}
			a, ok, waits := e.slot(rm, len(parts) == 1, retry)
			if !ok {
				if !waits {
					e.giveBack(t)
					done(t, ErrBusy)
				}
				return
			}
			t.Slots = append(t.Slots, Slot{rm, a})
		}
	}
	if len(t.Slots) < len(parts) {
		e.reserve(t, parts, done) // an RM has moved meanwhile
		return
	}
	slices.SortFunc(t.Slots, func(a, b Slot) int { return cmp.Compare(a.RM, b.RM) })
	done(t, nil)
}

func (t *Tx) has(rm RM) bool {
	return slices.ContainsFunc(t.Slots, func(s Slot) bool { return s.RM == rm })
}

// slot takes a register for an RM. If there is none, it arranges that retry is
// called when there may be one.
func (e *Engine) slot(rm RM, alone bool, retry func(error)) (a wor.Addr, ok, waits bool) {
	if c := e.chains[rm]; c != nil && c.open {
		if a, ok = c.slot(alone); !ok {
			waits = c.wait(retry)
		}
		return a, ok, waits
	}
	p := &e.pools[rm]
	a, ok = p.take()
	if p.left < GrantMax/4 && !p.asking {
		e.askGrant(rm)
	}
	if !ok && len(p.waiters) < waitersMax {
		p.waiters = append(p.waiters, retry)
		waits = true
	}
	return a, ok, waits
}

// giveBack returns the registers of a transaction that was not begun.
func (e *Engine) giveBack(t Tx) {
	for _, s := range t.Slots {
		if p := &e.pools[s.RM]; !e.Owns(s.RM) && p.left > 0 && p.ranges[0].Segment == s.Addr.Segment {
			p.ranges = append([]wor.Range{wor.One(s.Addr)}, p.ranges...)
			p.left++
		}
	}
}

// Granted returns the number of available registers of another process's RM.
func (e *Engine) Granted(rm RM) int { return e.pools[rm].left }

// Prefetch asks for registers of another process's RM before they are needed.
func (e *Engine) Prefetch(rm RM) {
	if c := e.chains[rm]; c == nil && !e.pools[rm].asking && e.pools[rm].left < GrantMax/4 {
		e.askGrant(rm)
	}
}

// askGrant asks the owner of an RM for registers.
func (e *Engine) askGrant(rm RM) {
	p := &e.pools[rm]
	p.asking = true
	to := e.routes[rm].member
	if to.ID == 0 || to.ID == e.opt.Self.ID {
		e.after(0, func() { p.asking = false; p.wake(ErrNoOwner) })
		return
	}
	var m encoder
	m.u8(msgGrant)
	m.uint(uint64(rm))
	e.invoke(to, m.b, func(b []byte, err error) {
		p.asking = false
		if err != nil {
			p.wake(ErrNoOwner)
			return
		}
		d := &decoder{b: b}
		switch d.u8() {
		case answerOK:
			g := grantAnswer{wor.Segment(d.uint()), d.u32(), d.u32()}
			if d.done() && g.lo < g.hi && g.hi <= e.opt.SegmentSize/2 &&
				e.voteSegment(rm, segmentNumber(g.segment)) == g.segment {
				e.granted(rm, g)
				p.wake(nil)
				return
			}
		case answerNotOwner:
			e.redirected(rm, d)
		case answerBusy:
			p.wake(ErrBusy)
			return
		}
		p.wake(ErrNoOwner)
	})
}

// granted adds granted registers to the pool. It drops the rest of an older
// segment, which the owner will close soon.
func (e *Engine) granted(rm RM, g grantAnswer) {
	p := &e.pools[rm]
	p.ranges = slices.DeleteFunc(p.ranges, func(r wor.Range) bool {
		if r.Segment != g.segment {
			p.left -= r.Len()
			return true
		}
		return false
	})
	p.ranges = append(p.ranges, wor.Range{Segment: g.segment, Lo: g.lo, Hi: g.hi})
	p.left += int(g.hi - g.lo)
	if e.policy.learn == byEveryone {
		e.subscriptions.listen(Slot{rm, wor.Addr{Segment: g.segment, Offset: g.lo}})
	}
}

// handleGrant handles another process's request for registers.
func (e *Engine) handleGrant(d *decoder, answer func([]byte)) bool {
	rm := RM(d.u32())
	if !d.done() || int(rm) >= e.opt.RMs {
		return false
	}
	c := e.chains[rm]
	if c == nil || !c.open {
		answer(e.notOwner(rm))
		return true
	}
	grant := func(err error) {
		g, ok := c.grant()
		if err != nil || !ok {
			answer([]byte{answerBusy})
			return
		}
		m := encoder{[]byte{answerOK}}
		m.uint(uint64(g.segment))
		m.uint(uint64(g.lo))
		m.uint(uint64(g.hi))
		answer(m.b)
	}
	if c.full(false) {
		c.advance()
	}
	if !c.full(false) || !c.wait(grant) {
		grant(nil)
	}
	return true
}

// Route returns what this process knows about the owner of an RM.
func (e *Engine) Route(rm RM) (wor.Member, bool) {
	r := &e.routes[rm]
	return r.member, r.member.ID != 0
}

// Suppose makes m the supposed owner of an RM as long as none is known.
func (e *Engine) Suppose(rm RM, m wor.Member) {
	if r := &e.routes[rm]; !r.known {
		r.member = m
	}
}

// Owns reports whether this process owns an RM and the RM is open.
func (e *Engine) Owns(rm RM) bool {
	c := e.chains[rm]
	return c != nil && c.open
}

// owner returns the process to ask for an RM, or the zero Member if none is
// known.
func (e *Engine) owner(rm RM) wor.Member {
	if e.Owns(rm) {
		return e.opt.Self
	}
	return e.routes[rm].member
}

// discover records a report about an RM's owner, unless the known owner has a
// later segment.
func (e *Engine) discover(rm RM, r route) {
	old := &e.routes[rm]
	if !r.known || r.member.ID == 0 || old.known && cmp.Compare(r.last, old.last) < 0 {
		return
	}
	if old.member.ID != r.member.ID {
		e.pools[rm].drop()
	}
	r.base = max(r.base, old.base)
	*old = r
	if c := e.chains[rm]; c != nil && r.last > c.last && r.member.ID != e.opt.Self.ID {
		c.suspect()
	}
}

// redirected decodes the route that follows answerNotOwner.
func (e *Engine) redirected(rm RM, d *decoder) {
	var r route
	r.decode(d)
	if d.done() {
		e.discover(rm, r)
	}
}

func (e *Engine) notOwner(rm RM) []byte {
	m := encoder{[]byte{answerNotOwner}}
	if int(rm) < len(e.routes) {
		e.routes[rm].encode(&m)
	} else {
		(&route{}).encode(&m)
	}
	return m.b
}

// status encodes the RMs that this process owns, and those that it is taking
// over.
func (e *Engine) status() []byte {
	m := encoder{[]byte{answerOK}}
	list := func(here func(RM) bool, item func(RM)) {
		n := 0
		for rm := range e.routes {
			if here(RM(rm)) {
				n++
			}
		}
		m.uint(uint64(n))
		for rm := range e.routes {
			if here(RM(rm)) {
				m.uint(uint64(rm))
				item(RM(rm))
			}
		}
	}
	list(e.Owns, func(rm RM) { e.routes[rm].encode(&m) })
	list(func(rm RM) bool { return e.taking[rm] != nil && e.taking[rm].c != nil }, func(rm RM) {
		t := e.taking[rm]
		(&route{true, t.c.last, t.from.base, e.opt.Self}).encode(&m)
		m.uint(t.progress)
	})
	return m.b
}

// Standing is what a process reports about itself.
type Standing struct {
	// Owned are the RMs that it owns, Taking those that it is taking over.
	Owned  []RM
	Taking []Taking
}

// Taking is a running takeover, of the segment after Last-1. Progress grows as
// it advances.
type Taking struct {
	RM             RM
	Last, Progress uint64
}

// decode decodes the output of status. The second list is absent if the process
// is of a version without it.
func (s *Standing) decode(d *decoder, rms int, found func(RM, route)) {
	for range d.count(4, rms) {
		rm, r := RM(d.u32()), route{}
		r.decode(d)
		if d.bad || int(rm) >= rms {
			return
		}
		found(rm, r)
		s.Owned = append(s.Owned, rm)
	}
	if len(d.b) == 0 {
		return
	}
	for range d.count(5, rms) {
		rm, r := RM(d.u32()), route{}
		r.decode(d)
		progress := d.uint()
		if d.bad || int(rm) >= rms {
			return
		}
		found(rm, r)
		s.Taking = append(s.Taking, Taking{rm, r.last, progress})
	}
}

// Ask asks a process which RMs it owns and which it is taking over, and records
// the answer. Ok reports whether it answered in time.
func (e *Engine) Ask(to wor.Member, within time.Duration, done func(s *Standing, ok bool)) {
	e.opt.Messenger.Invoke(to, wor.ServiceTx, []byte{msgStatus}, within, func(b []byte, err error) {
		d := &decoder{b: b}
		if err != nil || d.u8() != answerOK {
			done(nil, false)
			return
		}
		s := &Standing{}
		s.decode(d, e.opt.RMs, e.discover)
		done(s, true)
	})
}

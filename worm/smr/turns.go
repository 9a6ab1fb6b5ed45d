// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// turns is Turns: register o of a segment belongs to number o modulo n of the n
// replicas in the segment's Meta, which are identified by the nonce of one run.
// So no other replica ever writes it without a capture, and this run writes
// only one value: it needs no capture. The others capture it to turn it into
// junk if its owner is silent.
//
// A replica that is not in the segment's Meta allocates the next segment with
// itself in it, and closes this one; a replica that has waited for another one
// too often does so too, leaving that one out.
type turns struct {
	r *Replica
	// own is the next unwritten own register of segment index.
	index, own uint32
	// seats are those of the last segment that had any.
	seats  []seat
	misses map[uint64]int
	timer  env.Timer
	busy   bool // a segment is being allocated
	closer closer
	wait   env.Backoff
}

// missesMax is the number of turns that a replica may miss before it is left
// out.
const missesMax = 8

func newTurns(r *Replica) *turns {
	return &turns{r: r, misses: map[uint64]int{}, closer: closer{r: r, wait: backoff()}, wait: backoff()}
}

// seat is this replica's number among the seats of the learner's segment, or
// -1.
func (p *turns) seat() int {
	return slices.IndexFunc(p.r.learner.seats, func(s seat) bool { return s.nonce == p.r.nonce })
}

// next returns the next own register; ok reports whether the segment has one.
func (p *turns) next() (offset uint32, ok bool) {
	l := &p.r.learner
	me, n := uint32(p.seat()), uint32(len(l.seats))
	if p.index != l.next.Index() {
		p.index, p.own = l.next.Index(), 0
	}
	off := max(p.own, l.next.Offset())
	off += (me + n - off%n) % n
	return off, off < l.size
}

func (p *turns) pump() {
	r := p.r
	l := &r.learner
	switch {
	case r.closed || l.busy || l.restoring || p.busy || !r.waiting():
	case l.size == 0:
		seats := p.seats
		if len(seats) == 0 {
			seats = p.with(nil)
		}
		p.extend(l.next.Index(), seats, false)
	case p.seat() < 0:
		p.renew(p.with)
	default:
		for r.waiting() && r.flying < r.opt.PipelineMax {
			off, ok := p.next()
			if !ok {
				p.blocked()
				return
			}
			b, taken := r.take()
			p.write(off, b.encode(), taken)
		}
	}
}

// write writes an own register.
func (p *turns) write(off uint32, value []byte, taken []*proposal) {
	r := p.r
	p.own = off + 1
	slot := At(p.index, off)
	f := r.fly(slot, value, taken)
	r.space.WriteUnsafe(r.opt.ID.addr(slot), value, r.timeout, func(err error) { r.landed(f, value, err) })
}

// with returns the seats including this replica.
func (p *turns) with(seats []seat) []seat {
	seats = slices.DeleteFunc(slices.Clone(seats), func(s seat) bool {
		return s.nonce == p.r.nonce || s.member.ID == p.r.opt.Member.ID
	})
	if len(seats) >= seatsMax {
		seats = seats[1:]
	}
	return append(seats, p.r.me())
}

// renew allocates the segment after the last, with changed seats, and closes
// the earlier ones.
func (p *turns) renew(change func([]seat) []seat) {
	if p.busy {
		return
	}
	p.busy = true
	r := p.r
	r.last(r.opt.ID.Segment, -1, func(index int64, m *wor.Meta, err error) {
		p.busy = false
		if r.closed {
			return
		}
		if err != nil || index >= IndexMax {
			r.later(&p.wait, p.pump)
			return
		}
		seats := p.r.learner.seats
		if m != nil {
			seats = decodeSeats(m.Payload)
		}
		if index > int64(r.learner.next.Index()) && slices.ContainsFunc(seats, func(s seat) bool { return s.nonce == r.nonce }) {
			p.closer.target = max(p.closer.target, index) // it has one already
			p.closer.step()
			r.later(&p.wait, p.pump)
			return
		}
		p.extend(uint32(index+1), change(seats), true)
	})
}

// extend allocates a segment.
func (p *turns) extend(index uint32, seats []seat, shut bool) {
	p.busy = true
	r := p.r
	r.alloc(r.opt.ID.Segment(index), r.meta(index, seats), &p.wait, func(mine bool, err error) {
		p.busy = false
		if r.closed {
			return
		}
		if mine && shut {
			p.closer.target = max(p.closer.target, int64(index))
			p.closer.step()
		}
		r.learner.enterIfOut()
		r.later(&p.wait, p.pump)
	})
}

func (p *turns) entered() {
	if l := &p.r.learner; l.size > 0 {
		if len(l.seats) > 0 {
			p.seats = l.seats
		}
		p.wait.Reset()
		p.closer.step()
	}
	p.pump()
}

// heard skips this replica's turns below a used one.
func (p *turns) heard(offset uint32) {
	r := p.r
	if p.seat() < 0 {
		return
	}
	for {
		off, ok := p.next()
		if !ok || off >= offset {
			return
		}
		if r.waiting() {
			b, taken := r.take()
			p.write(off, b.encode(), taken)
		} else {
			p.write(off, junk(), nil)
		}
	}
}

// blocked waits for the replica whose turn it is, if there is something to wait
// for.
func (p *turns) blocked() {
	r := p.r
	l := &r.learner
	p.closer.step()
	if p.timer != nil || l.size == 0 {
		return
	}
	hi := p.until()
	if hi <= l.next.Offset() {
		return
	}
	at := l.next
	p.timer = r.after(r.opt.Turn+p.jitter(), func() {
		p.timer = nil
		if l.next == at && !l.busy && l.size > 0 {
			p.skip(max(hi, p.until()))
		} else if !l.busy {
			p.blocked()
		}
	})
}

// until is the limit up to which to wait for other replicas: a decided
// register, or the end of the segment if this replica has a command and no more
// turns.
func (p *turns) until() uint32 {
	l := &p.r.learner
	if above := l.above(); above > 0 {
		return above
	}
	if p.r.waiting() && p.seat() >= 0 {
		if _, ok := p.next(); !ok {
			return l.size
		}
	}
	return 0
}

func (p *turns) jitter() time.Duration {
	return time.Duration(p.r.random.Uint64() % uint64(p.r.opt.Turn+1))
}

// skip turns the other replicas' registers into junk, from the learner's next
// to hi.
func (p *turns) skip(hi uint32) {
	r := p.r
	l := &r.learner
	index, seats := l.next.Index(), l.seats
	for off := l.next.Offset(); off < min(hi, l.size); off++ {
		slot := At(index, off)
		if r.flights[slot] != nil {
			continue
		}
		if _, ok := l.cells[off]; ok {
			continue
		}
		r.space.Propose(r.opt.ID.addr(slot), junk(), r.timeout, func(err error) {
			if r.closed || !row.Decided(err) {
				return
			}
			if err == nil && len(seats) > 0 {
				p.missed(seats[int(off)%len(seats)].nonce)
			}
			l.heard(wor.Cell{Addr: r.opt.ID.addr(slot), Value: row.Held(junk(), err), Err: trimmed(err)})
		})
	}
	// Try again if that fails.
	p.timer = r.after(2*r.opt.Turn+p.jitter(), func() {
		p.timer = nil
		if !l.busy {
			p.blocked()
		}
	})
}

// missed counts the missed turns of a replica, and leaves it out after too
// many.
func (p *turns) missed(nonce uint64) {
	p.misses[nonce]++
	if p.misses[nonce] < missesMax || nonce == p.r.nonce {
		return
	}
	p.misses[nonce] = 0
	p.renew(func(seats []seat) []seat {
		return p.with(slices.DeleteFunc(slices.Clone(seats), func(s seat) bool { return s.nonce == nonce }))
	})
}

func (p *turns) failed(f *flight) { p.r.later(&p.wait, func() { p.r.insist(f) }) }

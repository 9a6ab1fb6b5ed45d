// SPDX-License-Identifier: Apache-2.0

package log

import (
	"errors"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// term is the period in which a Sequencer serves one log, from its election
// until it learns that it was deposed. It first takes over with the next
// segment, and then hands out addresses.
type term struct {
	s  *Sequencer
	id ID
	// stopped is set when this sequencer is deposed; later replies are ignored.
	stopped bool
	// serving: the takeover is done, and the sequencer hands out addresses.
	serving bool
	// top is the last segment that this sequencer has allocated.
	top uint32
	// now is the segment whose addresses are being handed out; next is the one
	// after it.
	now, next *section
	rolling   bool
	// size is the number of registers of the next segment: about as many
	// entries of the sizes seen so far as fit into SegmentBytes.
	size uint32
	// most is the largest number of addresses that one request has asked for.
	// If a segment held only a few times as many, it would soon be used up, and
	// the addresses that clients have not written yet would be filled with
	// junk.
	most uint32
	// rest has the registers that may be undecided in segments that were ended
	// before they were full.
	rest    []span
	holders holders
	wait    env.Backoff
	since   env.Instant
}

// section is a segment that the sequencer has captured.
type section struct {
	index uint32
	owner uint64
	size  uint32
	// tokens cover the whole segment, in order.
	tokens []*wor.Token
	// offset is the next register to hand out; bytes is about the size of the
	// entries below it.
	offset uint32
	bytes  int64
}

// takeoverMax bounds the attempts at a takeover.
const takeoverMax = time.Minute

// ask returns a request to the log's sequencer.
func (r *term) ask(a ask) said {
	switch {
	case a.verb == verbElect:
		return said{status: statusOK, top: r.top}
	case !r.serving:
		return said{status: statusBusy}
	case a.verb == verbTail:
		return said{status: statusOK, top: r.top, tail: r.tail()}
	}
	return r.hand(a)
}

func (r *term) tail() Position { return At(r.now.index, r.now.offset) }

// hand hands out addresses.
func (r *term) hand(a ask) said {
	r.holders.settle(a.client, a.settled)
	r.wants(a)
	if r.now.bytes >= r.s.opt.SegmentBytes && r.next != nil {
		r.endEarly()
	}
	t := r.now.part(min(a.count, CountMax))
	if t == nil && r.next != nil {
		r.now, r.next = r.next, nil
		t = r.now.part(min(a.count, CountMax))
	}
	r.now.bytes += min(int64(a.bytes), int64(CountMax)*wor.ValueMax)
	if (4*uint64(r.now.offset) >= 3*uint64(r.now.size) || 4*r.now.bytes >= 3*r.s.opt.SegmentBytes) && r.next == nil && !r.rolling {
		r.roll()
	}
	if t == nil {
		return said{status: statusBusy}
	}
	r.holders.give(a.client, span{At(r.now.index, t.Range.Lo), At(r.now.index, t.Range.Hi)})
	return said{status: statusOK, top: r.top, tail: r.tail(), token: t}
}

// wants makes the next segment large enough for several such requests.
func (r *term) wants(a ask) {
	if count := min(a.count, CountMax); count > r.most {
		r.most = count
		r.size = max(r.size, min(4*count, r.s.opt.Size))
	}
}

// endEarly switches to the next segment, and decides the rest of this one.
func (r *term) endEarly() {
	c := r.now
	r.now, r.next = r.next, nil
	if c.offset >= c.size {
		return
	}
	left := span{At(c.index, c.offset), At(c.index, c.offset) + Position(c.size-c.offset)}
	r.rest = append(r.rest, left)
	r.close([]span{left}, func() {
		r.rest = slices.DeleteFunc(r.rest, func(s span) bool { return s == left })
	})
}

// part returns a token for up to count free registers, in one piece; nil if
// there are none.
func (c *section) part(count uint32) *wor.Token {
	for c.offset < c.size && count > 0 {
		t := c.tokens[c.offset/chunk]
		if _, free := t.Find(c.offset); !free {
			c.offset++ // another client filled it ahead of time
			continue
		}
		lo := c.offset
		for c.offset++; c.offset < t.Range.Hi && c.offset-lo < count; c.offset++ {
			if _, free := t.Find(c.offset); !free {
				break
			}
		}
		return t.Part(wor.Range{Segment: t.Range.Segment, Lo: lo, Hi: c.offset})
	}
	return nil
}

// fall ends the term.
func (r *term) fall() {
	r.stopped = true
	if r.s.terms[r.id] == r {
		delete(r.s.terms, r.id)
	}
}

// ended reports whether results have become irrelevant.
func (r *term) ended() bool { return r.stopped || r.s.closed }

// gate calls f later, unless this sequencer has been deposed by then.
func (r *term) gate(f func()) {
	r.s.later(&r.wait, func() {
		if r.ended() {
			return
		}
		r.s.space.Stat(r.id.Segment(r.top+1), r.s.timeout, func(_ wor.Meta, err error) {
			late := !r.serving && r.s.clock.Now().Sub(r.since) > takeoverMax
			switch {
			case r.ended():
			case err == nil || errors.Is(err, wor.ErrTrimmed) || late:
				r.fall()
			default:
				f()
			}
		})
	})
}

// alloc allocates the segment after top.
func (r *term) alloc(target uint32, won func(*section)) {
	s := r.s
	partition, protocol := s.opt.Place(r.id, target)
	m := wor.Meta{
		Owner: s.random.Uint64(), Partition: partition, Protocol: protocol, Size: r.size,
		Payload: endpoint{member: s.opt.Member, life: s.life}.encode(),
	}
	deadline := s.clock.Now().Add(takeoverMax)
	var try func()
	try = func() {
		if r.ended() {
			return
		}
		s.space.Alloc(r.id.Segment(target), m, s.timeout, func(got wor.Meta, err error) {
			switch {
			case r.ended():
			case err == nil || errors.Is(err, wor.ErrWritten) && got.Owner == m.Owner:
				r.top = target
				won(&section{index: target, owner: m.Owner, size: m.Size, offset: 1})
			case errors.Is(err, wor.ErrWritten) || errors.Is(err, wor.ErrTrimmed) ||
				errors.Is(err, wor.ErrLimit) || s.clock.Now() > deadline:
				r.fall()
			default:
				s.later(&r.wait, try)
			}
		})
	}
	try()
}

// takeOver begins a term with segment target. The asker may be mistaken, but
// segments must not leave gaps: the segment before target must exist.
func (r *term) takeOver(target uint32) {
	r.since = r.s.clock.Now()
	if target == 0 {
		r.begin(target)
		return
	}
	r.s.space.Stat(r.id.Segment(target-1), r.s.timeout, func(_ wor.Meta, err error) {
		switch {
		case r.ended():
		case err != nil && !errors.Is(err, wor.ErrTrimmed):
			r.fall()
		default:
			r.begin(target)
		}
	})
}

// begin allocates and captures the sequencer's first segment, and fences the
// earlier ones.
func (r *term) begin(target uint32) {
	r.alloc(target, func(c *section) {
		left := 2
		ready := func() {
			if left--; left == 0 {
				r.open(c, c.index, func() {
					r.serving, r.now = true, c
					r.wait.Reset()
				})
			}
		}
		r.capture(c, 0, ready)
		r.fence(int64(c.index)-1, 0, ready)
	})
}

// capture captures the sequencer's own segment.
func (r *term) capture(c *section, lo uint32, done func()) {
	if lo >= c.size {
		done()
		return
	}
	piece := wor.Range{Segment: r.id.Segment(c.index), Lo: lo, Hi: min(lo+chunk, c.size)}
	r.s.space.Capture(piece, r.s.timeout, func(t *wor.Token, err error) {
		switch {
		case r.ended():
		case err != nil:
			r.gate(func() { r.capture(c, lo, done) })
		default:
			c.tokens = append(c.tokens, t)
			r.capture(c, piece.Hi, done)
		}
	})
}

// fence fences the segments from index down to the lowest that may still be
// written, but not below lowest.
func (r *term) fence(index, lowest int64, done func()) {
	if index < lowest {
		done()
		return
	}
	r.s.space.Stat(r.id.Segment(uint32(index)), r.s.timeout, func(m wor.Meta, err error) {
		switch {
		case r.ended():
		case errors.Is(err, wor.ErrTrimmed):
			done() // and so are the segments below
		case err != nil:
			r.gate(func() { r.fence(index, lowest, done) })
		default:
			f := &fence{b: &r.s.base, id: r.id, index: uint32(index), size: m.Size, gate: r.gate}
			f.done = func(found fenced) { r.fenced(f, found, lowest, done) }
			f.start()
		}
	})
}

// fenced continues with the segment below.
func (r *term) fenced(f *fence, found fenced, lowest int64, done func()) {
	if r.ended() {
		return
	}
	if found.trimmed {
		done()
		return
	}
	if found.open {
		lowest = max(lowest, int64(found.mark.closed))
	}
	r.fence(int64(f.index)-1, lowest, done)
}

// open writes the mark of the sequencer's segment: from then on it may hand out
// addresses.
func (r *term) open(c *section, closed uint32, done func()) {
	invariant.Check(len(c.tokens) > 0 && closed <= c.index, "a mark before the capture")
	m := mark{owner: c.owner, closed: closed}.encode()
	var propose func()
	finish := func(err error) {
		switch {
		case r.ended():
		case errors.Is(err, wor.ErrTrimmed):
			r.fall()
		case !row.Decided(err):
			r.gate(propose)
		case string(row.Held(m, err)) != string(m):
			r.fall() // the sequencer that deposed this one made the segment void
		default:
			done()
		}
	}
	propose = func() {
		r.s.space.Propose(wor.Addr{Segment: r.id.Segment(c.index)}, m, r.s.timeout, finish)
	}
	r.s.space.Write(c.tokens[0], 0, m, r.s.timeout, finish)
}

// roll prepares the next segment before the current one is used up. It leaves
// no register of earlier segments undecided: it writes junk to addresses that
// were handed out and not reported as settled.
func (r *term) roll() {
	if r.top >= IndexMax {
		return
	}
	r.rolling = true
	closed := r.now.index
	switch used := uint64(max(r.now.bytes, 1)); {
	case uint64(r.s.opt.SegmentBytes) >= 2*used:
		r.size = min(max(2*r.now.size, 4*r.most), r.s.opt.Size)
	default:
		fit := uint64(r.now.offset) * uint64(r.s.opt.SegmentBytes) / used
		r.size = uint32(min(max(fit, sizeMin), uint64(r.s.opt.Size)))
	}
	r.alloc(r.top+1, func(c *section) {
		left := 2
		ready := func() {
			if left--; left == 0 {
				r.open(c, closed, func() { r.next, r.rolling = c, false })
			}
		}
		r.capture(c, 0, ready)
		r.close(append(r.holders.below(At(closed, 0)), r.rest...), ready)
	})
}

// close decides all registers of the spans.
func (r *term) close(spans []span, done func()) {
	if len(spans) == 0 {
		done()
		return
	}
	p := spans[0]
	hi := p.lo.Offset() + uint32(p.hi-p.lo)
	rng := wor.Range{Segment: r.id.Segment(p.lo.Index()), Lo: p.lo.Offset(), Hi: hi}
	r.s.junkRange(rng, r.gate, func() {
		if !r.ended() {
			r.close(spans[1:], done)
		}
	})
}

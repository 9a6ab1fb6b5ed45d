package smr

import (
	"errors"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// closer closes the segments below one that this replica allocated, from where
// the learner is: it captures what is not known of a segment, completes what was
// begun there, makes the gaps junk, and puts the end behind that. Then the
// learner goes on to the next one.
//
// Whatever it does is safe, also if somebody else does it at the same time or
// captured the segment since: the registers decide, and what is behind an end was
// not acknowledged.
type closer struct {
	r *Replica
	// target: segments below are to be closed.
	target int64
	busy   bool
	wait   env.Backoff
}

// step closes the learner's segment from where it is, if that is to be done.
func (c *closer) step() {
	l := &c.r.learner
	if c.busy || l.busy || l.size == 0 || int64(l.next.Index()) >= c.target || c.r.closed {
		return
	}
	c.busy = true
	a := &closing{c: c, segment: c.r.opt.ID.Segment(l.next.Index()), lo: l.next.Offset(), size: l.size}
	a.hi = a.lo
	a.end = a.lo
	a.capture()
}

// done ends an attempt; it is tried again as long as the learner is there.
func (c *closer) done(ok bool) {
	again := func() {
		c.busy = false
		c.step()
	}
	if ok {
		c.wait.Reset()
	}
	c.r.later(&c.wait, again)
}

// closing is an attempt to close a segment from lo on.
type closing struct {
	c        *closer
	segment  wor.Segment
	lo, size uint32
	hi       uint32 // captured below
	end      uint32 // one above the highest register that was seen written
	ended    bool   // there is an end already, at end-1
	tokens   []*wor.Token
	left     int
	failed   bool
}

func (a *closing) capture() {
	r := a.c.r
	if a.hi >= a.size {
		a.settle()
		return
	}
	piece := wor.Range{Segment: a.segment, Lo: a.hi, Hi: min(a.hi+chunk, a.size)}
	r.space.Capture(piece, r.timeout, func(t *wor.Token, err error) {
		switch {
		case r.closed:
		case err != nil:
			a.c.done(false)
		default:
			a.hi = piece.Hi
			a.saw(t)
			a.capture()
		}
	})
}

// saw takes what a capture saw. The first end is the one that counts.
func (a *closing) saw(t *wor.Token) {
	if a.ended {
		return
	}
	a.tokens = append(a.tokens, t)
	for _, x := range t.Adopted {
		a.end = x.Offset + 1
		if isEnd(x.Value) {
			a.ended = true
			return
		}
	}
}

// settle decides the registers below the end, and the end.
func (a *closing) settle() {
	r := a.c.r
	a.left = 1
	for _, t := range a.tokens {
		rng := t.Range
		rng.Hi = min(rng.Hi, a.end)
		if rng.Lo >= rng.Hi {
			continue
		}
		a.left++
		r.space.WriteRange(t, rng, junk(), r.timeout, func(errs []error) {
			for _, err := range errs {
				a.failed = a.failed || !row.Decided(err)
			}
			a.settled()
		})
	}
	if !a.ended && a.end < a.size {
		a.left++
		t := a.tokens[(a.end-a.lo)/chunk]
		r.space.Write(t, a.end, end(), r.timeout, func(err error) {
			a.failed = a.failed || err != nil
			a.settled()
		})
	}
	a.settled()
}

// settled has the learner look when everything is answered.
func (a *closing) settled() {
	r := a.c.r
	if a.left--; a.left > 0 || r.closed {
		return
	}
	// What was decided is applied also when the attempt failed: then the next one
	// has less to do.
	rng := wor.Range{Segment: a.segment, Lo: a.lo, Hi: min(a.end+1, a.size, a.lo+window)}
	r.space.ReadRange(rng, r.timeout, func(cells []wor.Cell, err error) {
		if r.closed {
			return
		}
		for _, cell := range cells {
			if err == nil && (cell.Err == nil || errors.Is(cell.Err, wor.ErrTrimmed)) {
				r.learner.heard(cell)
			}
		}
		a.c.done(err == nil && !a.failed)
	})
}

// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"errors"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// closer closes the segments below one that this replica allocated, from the
// learner's position on: it captures the unknown part of a segment, completes
// the writes begun there, turns the gaps into junk, and puts the end after
// them. Then the learner moves on to the next segment.
//
// Its actions are safe even if another replica does the same concurrently or
// has captured the segment since: the registers decide, and nothing after an
// end was acknowledged.
type closer struct {
	r *Replica
	// target is the segment below which all segments must be closed.
	target int64
	busy   bool
	wait   env.Backoff
}

// step closes the learner's segment from the learner's position on, if the
// segment is below target.
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

// done ends an attempt. The closer tries again as long as the learner is in
// that segment.
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

// saw handles the result of a capture. The first end counts.
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

// settled notifies the learner when all writes are answered.
func (a *closing) settled() {
	r := a.c.r
	if a.left--; a.left > 0 || r.closed {
		return
	}
	// The learner applies registers that are decided even after a failed
	// attempt, so that the next attempt has less to do.
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

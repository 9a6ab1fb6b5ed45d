// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// base is the environment of the parts of a Replica.
type base struct {
	space   wor.Space
	clock   env.Clock
	random  env.Random
	serial  *env.Serial
	timeout time.Duration
	closed  bool
}

// after calls f on the Serial after the time d, unless the base is closed by
// then.
func (b *base) after(d time.Duration, f func()) env.Timer {
	return b.clock.After(d, b.serial.Waker(func() {
		if !b.closed {
			f()
		}
	}))
}

func backoff() env.Backoff { return env.Backoff{Min: 5 * time.Millisecond, Max: time.Second} }

func (b *base) later(w *env.Backoff, f func()) { b.after(w.Next(b.random), f) }

// last finds the last allocated segment of a row, given that segment known is
// allocated (-1: none is known). It passes the segment's Meta, except when the
// segment is known itself or trimmed.
func (b *base) last(segment func(uint32) wor.Segment, known int64, done func(index int64, m *wor.Meta, err error)) {
	row.Last(known, IndexMax, b.stat(segment), done)
}

// stat requests a segment's metadata, again and again until the base is closed.
func (b *base) stat(segment func(uint32) wor.Segment) row.Ask {
	return func(index uint32, done func(wor.Meta, error)) {
		b.space.Stat(segment(index), b.timeout, func(m wor.Meta, err error) {
			if !b.closed {
				done(m, err)
			}
		})
	}
}

// chunk is the number of registers captured at once.
const chunk = 1024

// section is a segment of which this replica has captured all registers.
type section struct {
	index uint32
	size  uint32
	// tokens cover chunk registers each, in order.
	tokens []*wor.Token
	// offset is the next register to write.
	offset uint32
}

func (c *section) token(offset uint32) *wor.Token { return c.tokens[offset/chunk] }

// capture captures a whole segment, chunk after chunk. Gate calls a function
// later, or never if the work has become useless.
func (b *base) capture(segment wor.Segment, c *section, gate func(func()), done func()) {
	lo := uint32(len(c.tokens)) * chunk
	if lo >= c.size {
		done()
		return
	}
	r := wor.Range{Segment: segment, Lo: lo, Hi: min(lo+chunk, c.size)}
	b.space.Capture(r, b.timeout, func(t *wor.Token, err error) {
		switch {
		case b.closed:
		case err != nil:
			gate(func() { b.capture(segment, c, gate, done) })
		default:
			c.tokens = append(c.tokens, t)
			b.capture(segment, c, gate, done)
		}
	})
}

// alloc allocates a segment, and retries until it knows which replica has it.
func (b *base) alloc(s wor.Segment, m wor.Meta, wait *env.Backoff, done func(mine bool, err error)) {
	b.space.Alloc(s, m, b.timeout, func(got wor.Meta, err error) {
		switch {
		case b.closed:
		case err == nil || errors.Is(err, wor.ErrWritten) && got.Owner == m.Owner:
			done(true, nil)
		case errors.Is(err, wor.ErrWritten), errors.Is(err, wor.ErrTrimmed):
			done(false, nil)
		case errors.Is(err, wor.ErrLimit), errors.Is(err, wor.ErrClosed):
			done(false, err)
		default:
			b.later(wait, func() { b.alloc(s, m, wait, done) })
		}
	})
}

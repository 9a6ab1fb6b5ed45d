// SPDX-License-Identifier: Apache-2.0

package log

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// base is the environment of logs and sequencers.
type base struct {
	space  wor.Space
	clock  env.Clock
	random env.Random
	serial *env.Serial
	// timeout bounds one operation of the space, which is then repeated.
	timeout time.Duration
	closed  bool
}

// timeoutDefault is longer than an operation takes on a healthy space.
const timeoutDefault = 2 * time.Second

// after calls f on the Serial after the time d, unless the base is closed by
// then.
func (b *base) after(d time.Duration, f func()) env.Timer {
	return b.clock.After(d, b.serial.Waker(func() {
		if !b.closed {
			f()
		}
	}))
}

// backoff returns the waits between attempts.
func backoff() env.Backoff {
	return env.Backoff{Min: 5 * time.Millisecond, Max: time.Second}
}

// later calls f after the next wait of a backoff.
func (b *base) later(w *env.Backoff, f func()) { b.after(w.Next(b.random), f) }

// last finds the last allocated segment, given that segment known is allocated
// (-1: none is known). It passes the segment's Meta, except when the segment is
// known itself or trimmed.
func (b *base) last(id ID, known int64, done func(index int64, m *wor.Meta, err error)) {
	row.Last(known, IndexMax, b.stat(id.Segment), done)
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

// chunk is the number of registers captured at once: a capture returns the
// values of all of them.
const chunk = 1024

// junkRange decides all registers of a range: it completes writes that others
// began there and writes junk to the rest. Gate calls a function later, or
// never if the work has become useless.
func (b *base) junkRange(r wor.Range, gate func(func()), done func()) {
	b.junkPieces(r, chunk, gate, done)
}

// junkPieces decides the registers of a range piece by piece. A failed piece is
// retried in halves, so that there is progress where many messages are lost.
func (b *base) junkPieces(r wor.Range, size uint32, gate func(func()), done func()) {
	if r.Lo >= r.Hi {
		done()
		return
	}
	piece := r
	piece.Hi = min(r.Hi, r.Lo+size)
	again := func() { gate(func() { b.junkPieces(r, max(1, min(size, uint32(piece.Len()))/2), gate, done) }) }
	b.space.Capture(piece, b.timeout, func(t *wor.Token, err error) {
		switch {
		case b.closed:
		case errors.Is(err, wor.ErrTrimmed):
			done()
		case err != nil:
			again()
		default:
			b.junkWith(t, piece, func(all bool) {
				if !all {
					again()
					return
				}
				r.Lo = piece.Hi
				b.junkPieces(r, min(2*size, chunk), gate, done)
			})
		}
	})
}

// junkWith decides the registers of a range with a token. The space writes
// adopted values instead of the junk.
func (b *base) junkWith(t *wor.Token, r wor.Range, done func(all bool)) {
	b.space.WriteRange(t, r, junk(), b.timeout, func(errs []error) {
		if b.closed {
			return
		}
		all := true
		for _, err := range errs {
			all = all && row.Decided(err)
		}
		done(all)
	})
}

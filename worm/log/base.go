package log

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// base is what logs and sequencers need of the world.
type base struct {
	space  wor.Space
	clock  env.Clock
	random env.Random
	serial *env.Serial
	// timeout bounds one operation of the space, after which it is asked again.
	timeout time.Duration
	closed  bool
}

// timeoutDefault is longer than what an operation takes on a space that is well.
const timeoutDefault = 2 * time.Second

// after has f called on the Serial d from now, unless closed then.
func (b *base) after(d time.Duration, f func()) env.Timer {
	return b.clock.After(d, b.serial.Waker(func() {
		if !b.closed {
			f()
		}
	}))
}

// backoff is the waits between attempts.
func backoff() env.Backoff {
	return env.Backoff{Min: 5 * time.Millisecond, Max: time.Second}
}

// later has f called after the next wait of a backoff.
func (b *base) later(w *env.Backoff, f func()) { b.after(w.Next(b.random), f) }

// last finds the last segment that is allocated, when known is (-1: none). Its
// Meta is answered when it is not known itself, and not trimmed.
func (b *base) last(id ID, known int64, done func(index int64, m *wor.Meta, err error)) {
	row.Last(known, IndexMax, b.stat(id.Segment), done)
}

// stat asks for metadata, until it is closed.
func (b *base) stat(segment func(uint32) wor.Segment) row.Ask {
	return func(index uint32, done func(wor.Meta, error)) {
		b.space.Stat(segment(index), b.timeout, func(m wor.Meta, err error) {
			if !b.closed {
				done(m, err)
			}
		})
	}
}

// chunk is how many registers are captured at once: a capture answers the values
// of them all.
const chunk = 1024

// junkRange decides all registers of a range: what is begun there is completed,
// the others are junk. Gate has a function called later, or never if that is of
// no use any more.
func (b *base) junkRange(r wor.Range, gate func(func()), done func()) {
	b.junkPieces(r, chunk, gate, done)
}

// junkPieces decides the registers of a range piece by piece. A piece that fails
// is tried again in halves, so that it gets on where much is lost.
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

// junkWith decides the registers of a range with a token. The space writes what
// must be adopted in place of the junk.
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

// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// crowded is a space in which some servers are full: a write reaches one of them, but not
// enough for the writer to know that it is decided.
type crowded struct {
	wor.Space
	full bool
}

func (c *crowded) refused(a wor.Addr) error {
	return &wor.UnknownError{Addr: a, Cause: &wor.LimitError{Name: "MaxBytes"}}
}

func (c *crowded) Write(t *wor.Token, offset uint32, value []byte, within time.Duration, done func(error)) {
	c.Space.Write(t, offset, value, within, func(err error) {
		if c.full {
			err = c.refused(wor.Addr{Segment: t.Range.Segment, Offset: offset})
		}
		done(err)
	})
}

func (c *crowded) Propose(a wor.Addr, value []byte, within time.Duration, done func(error)) {
	c.Space.Propose(a, value, within, func(err error) {
		if c.full {
			err = c.refused(a)
		}
		done(err)
	})
}

// TestHalfRefused: an append that some servers refused and others accepted has an unknown
// outcome. The error names its position, and if it is repeated with its id, it is there
// once.
func TestHalfRefused(t *testing.T) {
	var space *crowded
	b := newBench(t, ideal.Options{}, 2, 64, func(o *log.Options) {
		space = &crowded{Space: o.Space}
		o.Space = space
	})
	b.append("first")
	id := log.EntryID{Hi: 7, Lo: 1}
	space.full = true
	in, err := b.appendAs(id, "x", 0)
	var unknown *wor.UnknownError
	if !errors.As(err, &unknown) || !errors.Is(err, wor.ErrLimit) || unknown.Addr != in.Addr(7) {
		t.Fatalf("answered %v: %v", in, err)
	}
	space.full = false
	at, err := b.appendAs(id, "x", 0)
	if err != nil || at != in {
		t.Errorf("repeated it is at %v, not at %v: %v", at, in, err)
	}
	if got := b.all(log.FollowOptions{}); got != "first x" {
		t.Errorf("the log is %q", got)
	}
}

// TestNewEpoch: the tokens of a sequencer end with the epoch of their partition. An
// appender then does not use up its segment before there is a new one.
func TestNewEpoch(t *testing.T) {
	b := newBench(t, ideal.Options{}, 2, 8192, nil)
	last := b.append("first")
	for range 3 {
		b.w.NewEpoch()
		began := b.w.Now()
		at := b.append("next")
		if d := b.w.Now().Sub(began); d > 5*time.Second {
			t.Errorf("the append after a new epoch took %v, from %v to %v", d, last, at)
		}
		began = b.w.Now()
		last = b.append("another")
		if d := b.w.Now().Sub(began); d > 100*time.Millisecond {
			t.Errorf("the one after it took %v", d)
		}
	}
	for _, prefetch := range []uint32{0, 64} {
		b := newBench(t, ideal.Options{}, 2, 8192, func(o *log.Options) { o.Prefetch = prefetch })
		b.append("first")
		b.w.NewEpoch()
		began, left := b.w.Now(), 2000
		b.wait(func(done func()) {
			var next func(log.Position, error)
			next = func(_ log.Position, err error) {
				if err != nil {
					t.Error(err)
				}
				if left--; left == 0 {
					done()
				}
				if left >= 50 {
					b.l.Append(log.Entry{Data: []byte("x")}, 0, next)
				}
			}
			for range 50 {
				b.l.Append(log.Entry{Data: []byte("x")}, 0, next)
			}
		})
		if d := b.w.Now().Sub(began); d > 5*time.Second {
			t.Errorf("2000 appends of 50 at a time took %v after a new epoch, with a prefetch of %d", d, prefetch)
		}
		if tail := b.tail(); tail.Index() == 0 {
			t.Error("the test is blind: the segment served on")
		}
	}
}

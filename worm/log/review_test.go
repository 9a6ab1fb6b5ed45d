package log_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// crowded is a space of which some servers are full: what is written gets to one of
// them and not to enough that the writer would know.
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

// TestHalfRefused: an append that some servers refused and others took is of unknown
// outcome: at a position that is told, and repeated with its id it is there once.
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

// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/group"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Staging: the states of the sealed servers are fetched, merged, and passed to
// the future members, one piece at a time, so that neither side holds more than
// a few pieces. A future member that does not take a piece for long is left
// behind, as long as enough others are there. When a source fails, staging
// begins anew with another source and another tag.

// restart begins to stage, with a new tag, if enough servers are sealed.
func (c *change) restart() {
	s, n := c.s, len(c.old.Members)
	for _, f := range c.fetches {
		f.stop()
	}
	for i := range c.targets {
		c.targets[i].inquiry.stop()
	}
	need := group.Seals(n)
	if c.unsafe {
		need = len(c.sealed)
	}
	c.sources = c.sources[:0]
	for _, i := range c.sealed {
		if c.bad>>i&1 == 0 && len(c.sources) < need {
			c.sources = append(c.sources, i)
		}
	}
	if len(c.sources) < need && len(c.sealed) >= need {
		c.bad = 0
		c.sources = append(c.sources[:0], c.sealed[:need]...)
	}
	if len(c.sources) < need {
		c.at.Phase = PhaseSeal
		return
	}
	c.next.Epoch = c.old.Epoch + 1
	c.next.Tag, c.next.Tainted = 0, c.old.Tainted || c.unsafe
	for c.next.Tag == 0 {
		c.next.Tag = s.random.Uint64()
	}
	c.at.Attempt++
	c.at.Pieces, c.at.Bytes, c.at.Staged = 0, 0, 0
	c.merger = group.NewMerger(n, len(c.sources), c.resolved)
	c.fetches = make([]*inquiry, len(c.sources))
	c.targets = make([]stageTarget, len(c.next.Members))
	c.piece, c.last, c.pieces = nil, false, 0
	c.phase(PhaseStage)
	c.pump()
}

// pump fetches what the merger needs, and stages its output.
func (c *change) pump() {
	if c.piece != nil {
		return // it is on its way
	}
	c.fetchWanted()
	piece, last, ok, err := c.merger.Next()
	var mixed *group.MixedError
	switch {
	case errors.As(err, &mixed):
		c.mixed(mixed.Segment)
	case err != nil:
		c.fail(fmt.Errorf("state of partition %d, epoch %d: %w", c.old.Partition, c.old.Epoch, err))
	case ok:
		if piece == nil {
			piece = []byte{}
		}
		if c.skim != nil {
			c.skimmed(piece, last)
			return
		}
		c.piece, c.last = piece, last
		c.stage()
	default:
		c.fetchWanted() // it has used up a server's piece
	}
}

func (c *change) fetchWanted() {
	for i := range c.sources {
		if cursor, ok := c.merger.Wants(i); ok && (c.fetches[i] == nil || !c.fetches[i].live) {
			c.fetch(i, cursor)
		}
	}
}

func (c *change) fetch(i int, cursor uint64) {
	s, m, merger := c.s, c.old.Members[c.sources[i]], c.merger
	q := wor.Request{Kind: wor.KindFetch, Partition: c.old.Partition, Epoch: c.old.Epoch, Cursor: cursor}
	heard := func(r *wor.Reply) bool {
		switch {
		case merger != c.merger:
			return true
		case r.Status == wor.StatusOK:
			s.later(func() {
				if c.live && merger == c.merger {
					c.fetched(i, cursor, r)
				}
			})
			return true
		case r.Status == wor.StatusStale && r.Epoch > c.old.Epoch:
			s.hint(c.old.Partition, r.Epoch)
			s.suggest(c.old.Partition, r.Value)
			c.lost()
			return true
		}
		return false
	}
	c.fetches[i] = s.inquire(m, q, fetchTries, heard, func() {
		if merger == c.merger && c.live {
			c.bad |= 1 << c.sources[i]
			c.restart()
		}
	})
}

func (c *change) fetched(i int, cursor uint64, r *wor.Reply) {
	if err := c.merger.Put(i, cursor, r); err != nil {
		// Damaged on the way, or at the server: another server may have it
		// right.
		c.bad |= 1 << c.sources[i]
		c.retryStage()
		return
	}
	c.pump()
}

// retryStage begins to stage again a little later.
func (c *change) retryStage() {
	merger := c.merger
	if c.wait.Min == 0 {
		c.wait = env.Backoff{Min: learnMin, Max: learnMax}
	}
	c.s.agenda.set(&c.pause, c.s.clock.Now().Add(c.wait.Next(c.s.random)), ringFunc(func() {
		if c.live && c.merger == merger {
			c.restart()
		}
	}))
}

// stage sends a piece to all future members that have the earlier ones.
func (c *change) stage() {
	s, merger := c.s, c.merger
	now := s.clock.Now()
	for i := range c.targets {
		t := &c.targets[i]
		if t.lost {
			continue
		}
		t.since = now
		q := wor.Request{
			Kind: wor.KindStage, Partition: c.old.Partition, Epoch: c.next.Epoch,
			Tag: c.next.Tag, Cursor: c.pieces, Value: c.piece,
		}
		if c.last {
			q.Flags, q.Digest = wor.FlagLast, merger.Digest()
		}
		number := c.pieces
		t.inquiry = s.inquire(c.next.Members[i], q, 0, func(r *wor.Reply) bool {
			if merger != c.merger || number != c.pieces {
				return true
			}
			return c.stagedBy(i, r)
		}, nil)
	}
	s.agenda.set(&c.pause, now.Add(laggardWait), c)
}

func (c *change) stagedBy(i int, r *wor.Reply) (enough bool) {
	t := &c.targets[i]
	switch {
	case r.Status == wor.StatusOK && r.Cursor > c.pieces:
		t.has = r.Cursor
		c.s.later(c.stepper())
		return true
	case r.Status == wor.StatusStale && r.Epoch >= c.next.Epoch:
		c.s.hint(c.old.Partition, r.Epoch)
		c.s.suggest(c.old.Partition, r.Value)
		c.lost()
		return true
	case r.Status == wor.StatusBusy && r.Cursor < c.pieces, r.Status == wor.StatusConflict, r.Status == wor.StatusLimit:
		// It has dropped the stage, or another change has the tag.
		t.lost = true
		c.s.later(c.stepper())
		return true
	}
	return false
}

// stepper returns a function that checks, later, whether the next piece may
// follow.
func (c *change) stepper() func() {
	merger := c.merger
	return func() {
		if c.live && merger == c.merger && c.at.Phase == PhaseStage && c.piece != nil {
			c.stepStage()
		}
	}
}

// stepStage continues when all remaining targets have the piece.
func (c *change) stepStage() {
	have, left := 0, 0
	for i := range c.targets {
		if t := &c.targets[i]; !t.lost {
			left++
			if t.has > c.pieces {
				have++
			}
		}
	}
	switch {
	case left < c.merger.Stages(len(c.targets)):
		c.whole = c.whole || c.merger.Stages(len(c.targets)) == len(c.targets)
		c.retryStage()
	case have == left:
		c.at.Pieces, c.at.Bytes, c.at.Staged = c.at.Pieces+1, c.at.Bytes+int64(len(c.piece)), have
		c.tell()
		c.pieces++
		c.piece = nil
		if c.last {
			c.decide()
			return
		}
		c.pump()
	}
}

// laggards leaves behind the targets that do not take a piece, if the others
// are enough.
func (c *change) laggards() {
	have := 0
	for i := range c.targets {
		if !c.targets[i].lost && c.targets[i].has > c.pieces {
			have++
		}
	}
	if c.piece != nil && have >= c.merger.Stages(len(c.targets)) && !c.whole {
		for i := range c.targets {
			if t := &c.targets[i]; t.has <= c.pieces {
				t.lost = true
				t.inquiry.stop()
			}
		}
		c.stepStage()
		return
	}
	c.s.agenda.set(&c.pause, c.s.clock.Now().Add(laggardWait), c)
}

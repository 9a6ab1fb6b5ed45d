// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/group"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A client that breaks the rules may have written a segment by another protocol
// than its metadata name. Then the sealed states contradict each other, and the
// metadata decide which registers count. The metadata are read from their
// partition or, if that is the sealed one, from the states themselves, which
// are fetched once more for that.

// mixed finds out which parts of a segment are stored here under which
// protocol, and begins to stage again.
func (c *change) mixed(seg wor.Segment) {
	s := c.s
	if s.genesis.Home(seg) == c.old.Partition {
		c.resolved[seg] = group.Nothing // until it is known
		if c.skim == nil {
			c.skim = skim{}
		}
		c.skim[seg] = &own{moves: make([][]byte, PlacementsMax)}
		c.retryStage()
		return
	}
	var within time.Duration
	if c.until != 0 {
		within = max(c.until.Sub(s.clock.Now()), 1)
	}
	merger := c.merger
	f := &finder{}
	f.done = func(at segment, err error) {
		switch {
		case !c.live || c.merger != merger:
		case errors.Is(err, wor.ErrUnallocated), errors.Is(err, wor.ErrTrimmed):
			c.resolve(seg, segment{})
		case err != nil:
			c.fail(err)
		default:
			c.resolve(seg, at)
		}
	}
	f.seg = seg
	f.begin(s, 0, within, f)
	s.segments.forget(seg)
	f.find(f)
}

// resolve takes the protocol of the last of a segment's places that is here,
// and stages again.
func (c *change) resolve(seg wor.Segment, at segment) {
	c.keep(seg, at)
	c.retryStage()
}

func (c *change) keep(seg wor.Segment, at segment) {
	keep := group.Nothing
	for _, p := range append(slices.Clone(at.before), at.place) {
		if at.size > 0 && p.partition == c.old.Partition {
			keep = p.protocol
		}
	}
	c.resolved[seg] = keep
}

// finder finds where a segment is.
type finder struct {
	target
	done func(segment, error)
}

func (f *finder) ready() {
	if f.end() {
		f.done(f.at, nil)
	}
}

func (f *finder) fail(err error) {
	if f.end() {
		f.done(segment{}, err)
	}
}

// skim has the segments whose own registers are read from the sealed states.
type skim map[wor.Segment]*own

type own struct {
	meta  []byte
	moves [][]byte // the last one first
}

// read takes a piece of the merged states.
func (k skim) read(piece []byte) error {
	for len(piece) > 0 {
		s, rest, err := group.NextState(piece)
		if err != nil {
			return err
		}
		piece = rest
		o := k[s.Addr.Segment]
		switch at := s.Addr.Offset; {
		case o == nil || !s.Written:
		case at == wor.MetaOffset:
			o.meta = s.Value
		case at >= wor.PlacementOffset && at < wor.MetaOffset:
			o.moves[at-wor.PlacementOffset] = s.Value
		}
	}
	return nil
}

// skimmed continues after a piece that was read and not staged.
func (c *change) skimmed(piece []byte, last bool) {
	if err := c.skim.read(piece); err != nil {
		c.fail(err)
		return
	}
	if !last {
		c.pump()
		return
	}
	for _, seg := range slices.Sorted(maps.Keys(c.skim)) {
		c.keep(seg, c.s.place(seg, c.skim[seg]))
	}
	c.skim = nil
	c.retryStage()
}

// place returns the place of a segment according to the segment's own
// registers; the zero place if they have none.
func (s *Space) place(seg wor.Segment, o *own) (at segment) {
	if o.meta == nil {
		return at
	}
	var moves [][]byte
	for _, b := range slices.Backward(o.moves) {
		if b != nil {
			moves = append(moves, b)
		}
	}
	s.segments.forget(seg)
	if _, err := s.learnSegment(seg, o.meta, moves); err == nil {
		at = s.segments.get(seg).value
	}
	return at
}

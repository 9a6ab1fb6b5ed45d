// SPDX-License-Identifier: Apache-2.0

package space

import (
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Buried reports whether the servers of a partition should discard what they
// store of a segment under a protocol: the segment's trim register decided that
// it is trimmed, or its placement registers decided that it was there and has
// moved. It asks the members of the segment's home once, and returns ErrUnknown
// if too few of their answers are conclusive.
//
// It is for servers that are asked to store a tombstone and do not know by
// which client. So it reads differently from Read: a tombstone on one server of
// the home is evidence that evidence existed, and Buried does not complete it;
// the servers asked to complete it would come here for the same evidence.
func (s *Space) Buried(seg wor.Segment, p wor.Partition, by wor.Protocol, within time.Duration, done func(bool, error)) {
	err := checkSegment(seg)
	if err == nil {
		err = s.checkPartition(p)
	}
	if err != nil || s.closed {
		s.later(func() { done(false, err) })
		return
	}
	b := &burial{s: s, seg: seg, at: place{partition: p, protocol: by}, cfg: s.views[s.genesis.Home(seg)].cfg, done: done}
	b.left = len(b.cfg.Members)
	q := &wor.Request{Kind: wor.KindRead, Partition: b.cfg.Partition, Epoch: b.cfg.Epoch,
		Range: wor.Range{Segment: seg, Lo: wor.PlacementOffset, Hi: wor.TrimOffset + 1}}
	for _, m := range b.cfg.Members {
		s.transport.Call(m, q, within, b.heard)
	}
}

// burial is a running Buried.
type burial struct {
	s     *Space
	seg   wor.Segment
	at    place
	cfg   *wor.Config
	left  int // missing answers
	said  int // conclusive answers
	trims int // servers that have accepted the trim
	votes [int(wor.MetaOffset-wor.PlacementOffset) + 1]map[accepted]int
	done  func(bool, error)
}

// accepted is what a server has accepted in a register.
type accepted struct {
	ballot wor.Ballot
	value  string
}

func (b *burial) heard(r *wor.Reply) {
	if b.left--; b.done == nil {
		return
	}
	if r != nil && r.Status == wor.StatusOK && b.take(r) {
		b.answer(true, nil)
		return
	}
	if r != nil && r.Epoch > b.cfg.Epoch {
		b.s.hint(b.cfg.Partition, r.Epoch)
		b.s.suggest(b.cfg.Partition, r.Value)
		b.s.learn(b.cfg.Partition)
	}
	if b.left > 0 {
		return
	}
	if b.said < wor.Majority(len(b.cfg.Members)) || b.trims > 0 {
		b.answer(false, wor.ErrUnknown)
		return
	}
	yes, sure := b.moved()
	if !sure {
		b.answer(false, wor.ErrUnknown)
		return
	}
	b.answer(yes, nil)
}

func (b *burial) answer(yes bool, err error) {
	done := b.done
	b.done = nil
	done(yes, err)
}

// take counts a server's answer, and reports whether the answers suffice to
// bury the segment.
func (b *burial) take(r *wor.Reply) bool {
	b.said++
	at := wor.PlacementOffset
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Status == wor.StatusTrimmed {
			return true
		}
		for range run.Count {
			switch {
			case !run.Written:
			case at == wor.TrimOffset:
				// Any value decided here trims the segment, and once a majority
				// has accepted anything, at any ballots, some value will be
				// decided.
				b.trims++
			case at <= wor.MetaOffset:
				v := &b.votes[at-wor.PlacementOffset]
				if *v == nil {
					*v = map[accepted]int{}
				}
				(*v)[accepted{run.Accepted, string(run.Value)}]++
			}
			at++
		}
	}
	return b.trims >= wor.Majority(len(b.cfg.Members))
}

// decided returns what a majority has accepted at one ballot in a register of
// the home; sure is false if some servers have accepted something and no
// majority is seen.
func (b *burial) decided(offset uint32) (value []byte, ok, sure bool) {
	votes := b.votes[offset-wor.PlacementOffset]
	for v, n := range votes {
		if n >= wor.Majority(len(b.cfg.Members)) {
			return []byte(v.value), true, true
		}
	}
	return nil, false, len(votes) == 0
}

// moved reports whether the segment was where the tombstone is wanted, and is
// elsewhere now.
func (b *burial) moved() (yes, sure bool) {
	value, ok, sure := b.decided(wor.MetaOffset)
	var m wor.Meta
	if !ok || m.UnmarshalBinary(value) != nil || b.at.with(b.s.home(b.seg)) {
		return false, sure
	}
	now := place{partition: m.Partition, protocol: m.Protocol}
	was := false
	for at := wor.MetaOffset - 1; at >= wor.PlacementOffset; at-- {
		value, ok, sure := b.decided(at)
		next, end, err := decodePlacement(value)
		if !ok || end || err != nil {
			return was && !now.with(b.at), sure
		}
		was, now = was || now.with(b.at), next
	}
	return was && !now.with(b.at), true
}

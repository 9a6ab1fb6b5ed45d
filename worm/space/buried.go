package space

import (
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Buried says whether the servers of a partition are to give up what they keep of a
// segment by a protocol: the trim register of the segment says that it is trimmed, or
// its placement registers say that it was there and has moved. It asks the members of
// the segment's home once, and answers ErrUnknown where too few of them say enough.
//
// It is for servers, which are asked to put up a tombstone and do not know by whom. So
// it reads differently from Read: a tombstone at home, of one server, is evidence that
// there was evidence, and is not completed; the servers that are asked to complete it
// would look here for the same evidence.
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

// burial is a Buried under way.
type burial struct {
	s     *Space
	seg   wor.Segment
	at    place
	cfg   *wor.Config
	left  int // answers that are missing
	said  int // that said something
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

// take counts what a server says, and says whether that is enough to bury the segment.
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
				// Whatever is decided here trims the segment, and when a majority has
				// accepted anything, at any ballots, something will be.
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

// decided is what a majority has accepted at one ballot in a register of the home;
// sure is false where some servers have accepted something and no majority is seen.
func (b *burial) decided(offset uint32) (value []byte, ok, sure bool) {
	votes := b.votes[offset-wor.PlacementOffset]
	for v, n := range votes {
		if n >= wor.Majority(len(b.cfg.Members)) {
			return []byte(v.value), true, true
		}
	}
	return nil, false, len(votes) == 0
}

// moved says whether the segment was where the tombstone is wanted, and is elsewhere
// now.
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

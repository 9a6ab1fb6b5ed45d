// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// subscriptionsMax bounds the segments to which the engine listens for one RM:
// the current one, and earlier ones with transactions that may still be running.
const subscriptionsMax = 3

// subscriptions are the engine's subscriptions to the segments in which other
// processes' RMs vote. The engine listens to a segment from the first register
// of interest on, and only while the segment is among the newest of its RM.
type subscriptions struct {
	e    *Engine
	open [][]subscription // by RM, the oldest first
}

type subscription struct {
	segment wor.Segment
	lo      uint32
	stop    func()
}

func (s *subscriptions) init(e *Engine) { s.e, s.open = e, make([][]subscription, e.opt.RMs) }

// listen listens to a slot and the registers after it.
func (s *subscriptions) listen(slot Slot) {
	list := s.open[slot.RM]
	for i := range list {
		if l := &list[i]; l.segment == slot.Addr.Segment {
			if slot.Addr.Offset < l.lo {
				l.stop()
				*l = s.start(slot)
			}
			return
		}
	}
	list = append(list, s.start(slot))
	if len(list) > subscriptionsMax {
		list[0].stop()
		list = append(list[:0], list[1:]...)
	}
	s.open[slot.RM] = list
}

func (s *subscriptions) start(slot Slot) subscription {
	r := wor.Range{Segment: slot.Addr.Segment, Lo: slot.Addr.Offset, Hi: s.e.opt.SegmentSize / 2}
	stop := s.e.opt.Space.Listen(r, func(c wor.Cell) {
		switch {
		case c.Err == nil:
			s.e.heard(c.Addr, c.Value)
		case errors.Is(c.Err, wor.ErrTrimmed):
			s.drop(slot.RM, r.Segment)
		}
	})
	return subscription{r.Segment, r.Lo, stop}
}

// drop drops a segment that was trimmed.
func (s *subscriptions) drop(rm RM, segment wor.Segment) {
	list := s.open[rm]
	for i := range list {
		if list[i].segment == segment {
			list[i].stop()
			s.open[rm] = append(list[:i], list[i+1:]...)
			return
		}
	}
}

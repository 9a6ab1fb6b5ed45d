package tx

import (
	"errors"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// earsMax bounds the segments to which the engine listens for one RM: the
// current one, and earlier ones with transactions that may still be running.
const earsMax = 3

// ears listens to the segments in which other processes' RMs vote: to each from
// the first register of interest on, and only while it is among the newest of
// its RM.
type ears struct {
	e    *Engine
	open [][]ear // by RM, the oldest first
}

type ear struct {
	segment wor.Segment
	lo      uint32
	stop    func()
}

func (s *ears) init(e *Engine) { s.e, s.open = e, make([][]ear, e.opt.RMs) }

// listen listens to a seat and the registers after it.
func (s *ears) listen(seat Seat) {
	list := s.open[seat.RM]
	for i := range list {
		if l := &list[i]; l.segment == seat.Addr.Segment {
			if seat.Addr.Offset < l.lo {
				l.stop()
				*l = s.start(seat)
			}
			return
		}
	}
	list = append(list, s.start(seat))
	if len(list) > earsMax {
		list[0].stop()
		list = append(list[:0], list[1:]...)
	}
	s.open[seat.RM] = list
}

func (s *ears) start(seat Seat) ear {
	r := wor.Range{Segment: seat.Addr.Segment, Lo: seat.Addr.Offset, Hi: s.e.opt.SegmentSize / 2}
	stop := s.e.opt.Space.Listen(r, func(c wor.Cell) {
		switch {
		case c.Err == nil:
			s.e.heard(c.Addr, c.Value)
		case errors.Is(c.Err, wor.ErrTrimmed):
			s.drop(seat.RM, r.Segment)
		}
	})
	return ear{r.Segment, r.Lo, stop}
}

// drop drops a segment that no longer exists.
func (s *ears) drop(rm RM, segment wor.Segment) {
	list := s.open[rm]
	for i := range list {
		if list[i].segment == segment {
			list[i].stop()
			s.open[rm] = append(list[:i], list[i+1:]...)
			return
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"math/bits"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Listening. Each server of the partition sends a note of every value that it
// accepts. A value is decided when enough servers of one epoch have accepted it
// at one ballot: a majority, or at ballot zero of Fast a fast quorum, or a
// chain's tail. Notes are hints: missing ones are made up by reads. A value
// reported by too few servers is read after a while (it may be halfway, and the
// read completes it), and at least every Options.ListenPoll all undelivered
// registers are read.

// listener is a running Listen.
type listener struct {
	s          *Space
	r          wor.Range
	note       func(wor.Cell)
	next, prev *listener
	over       bool

	at     segment
	found  bool
	epoch  wor.Epoch
	size   int // the number of members of the epoch, whose votes count
	stops  []func()
	number uint32 // of the registration
	told   []uint64
	left   int
	votes  map[uint32]*votes
	doubt  []uint32 // offsets with undecided votes, to be read
	alarm  alarm
	poll   *readRange
	from   uint32 // where the poll continues
	full   bool   // the poll covers all undelivered registers
	lame   bool   // some server refused the registration
}

// votes are the reported acceptances for one register.
type votes struct {
	list []vote
}

// vote counts the servers that accepted at one ballot.
type vote struct {
	ballot  wor.Ballot
	value   []byte
	servers uint16
}

// votesMax is the number of ballots of a register whose votes are kept: the
// highest.
const votesMax = 4

// listenDoubt is how long a value may be reported by too few servers before it
// is read.
const listenDoubt = 50 * time.Millisecond

// listenStep is the number of registers that a listener reads at once.
const listenStep = 1 << 12

// Listen implements wor.Space. Beyond the limits, and beyond the registers of
// the segment, note is not called for a range.
func (s *Space) Listen(r wor.Range, note func(wor.Cell)) (stop func()) {
	r.Hi = min(r.Hi, wor.SegmentMax)
	l := &listener{s: s, r: r, note: note, votes: map[uint32]*votes{}}
	if s.closed || r.Lo >= r.Hi || checkSegment(r.Segment) != nil {
		return func() {}
	}
	l.left = r.Len()
	l.told = make([]uint64, (l.left+63)/64)
	l.next = s.listeners
	if l.next != nil {
		l.next.prev = l
	}
	s.listeners = l
	l.find()
	return l.stop
}

// stop is the function for the application, which may also call it from within
// note.
func (l *listener) stop() {
	if l.over {
		return
	}
	l.end()
	s := l.s
	if l.prev != nil {
		l.prev.next = l.next
	} else {
		s.listeners = l.next
	}
	if l.next != nil {
		l.next.prev = l.prev
	}
}

// end ends everything; only its place in the list stays.
func (l *listener) end() {
	l.over = true
	l.deafen()
	l.s.agenda.drop(&l.alarm)
	if l.poll != nil && l.poll.end() {
		l.poll.call.stop()
		for r := range l.poll.readers {
			r.stop() // in any order: it sends no request
		}
	}
}

// deafen ends the registration.
func (l *listener) deafen() {
	l.number++
	for _, stop := range l.stops {
		stop()
	}
	l.stops = nil
}

// find waits until the segment is allocated.
func (l *listener) find() {
	l.s.join(errandKey{lookErrand, l.r.Segment}, 0, nil, func(err error) {
		e := l.s.segments.get(l.r.Segment)
		switch {
		case l.over:
		case errors.Is(err, wor.ErrTrimmed) || e != nil && e.value.trimmed:
			l.trimmed()
		case err != nil || e == nil:
			l.again(l.s.o.ListenPoll/8 + l.s.jitter(l.s.o.ListenPoll/8))
		default:
			l.at, l.found = e.value, true
			l.left -= max(0, int(l.r.Hi)-int(max(l.at.size, l.r.Lo)))
			l.r.Hi = min(l.r.Hi, max(l.at.size, l.r.Lo))
			l.register()
			l.again(l.s.o.ListenPoll/2 + l.s.jitter(l.s.o.ListenPoll/2))
		}
	})
}

func (l *listener) again(d time.Duration) {
	l.s.agenda.set(&l.alarm, l.s.clock.Now().Add(d), l)
}

// register asks the servers of the known epoch for notes.
func (l *listener) register() {
	l.deafen()
	clear(l.votes)
	l.doubt = l.doubt[:0]
	if l.over || l.left == 0 {
		return
	}
	s, number := l.s, l.number
	cfg := s.views[l.at.partition].cfg
	l.epoch, l.size = cfg.Epoch, len(cfg.Members)
	for i, m := range cfg.Members {
		if l.at.protocol == wor.Chain && i < len(cfg.Members)-1 {
			continue // the tail's report is enough
		}
		for lo := l.r.Lo; lo < l.r.Hi; lo += min(wor.RangeMax, l.r.Hi-lo) {
			r := wor.Range{Segment: l.r.Segment, Lo: lo, Hi: lo + min(wor.RangeMax, l.r.Hi-lo)}
			q := &wor.Request{
				Kind: wor.KindListen, Protocol: l.at.protocol, Partition: l.at.partition,
				Epoch: cfg.Epoch, Range: r,
			}
			l.stops = append(l.stops, s.transport.Listen(m, q,
				func(n *wor.Note) {
					if l.number == number && n.Epoch == cfg.Epoch && n.Partition == l.at.partition && n.Addr.Segment == l.r.Segment {
						l.vote(i, n.Addr.Offset, n.Ballot, n.Value)
					}
				},
				func(a *wor.Reply) {
					if l.number == number {
						l.shown(i, r, a)
					}
				},
				func() {}))
		}
	}
}

// moved registers anew when the partition has a new configuration.
func (l *listener) moved(p wor.Partition) {
	if l.found && !l.over && l.at.partition == p && l.epoch < l.s.views[p].cfg.Epoch {
		l.register()
		l.soon()
	}
}

// shown handles the values that a server holds already.
func (l *listener) shown(from int, r wor.Range, a *wor.Reply) {
	s := l.s
	switch a.Status {
	case wor.StatusOK:
	case wor.StatusSealed, wor.StatusStale, wor.StatusForeign:
		if a.Epoch > l.epoch {
			s.hint(l.at.partition, a.Epoch)
			s.suggest(l.at.partition, a.Value)
		}
		s.learn(l.at.partition)
		return
	default:
		if a.Status == wor.StatusAhead || a.Status == wor.StatusMute {
			s.nudge(s.views[l.at.partition].cfg, from)
		}
		l.lame = true
		l.soon()
		return
	}
	off := r.Lo
	for i := range a.Runs {
		run := &a.Runs[i]
		switch {
		case run.Status == wor.StatusTrimmed:
			l.soon()
			return
		case run.Written:
			for n := off; n < off+run.Count && n < r.Hi && !l.over; n++ {
				l.vote(from, n, run.Accepted, run.Value)
			}
		}
		off += run.Count
	}
	if off < r.Hi {
		l.soon() // the answer was truncated
	}
}

func (l *listener) isTold(off uint32) bool {
	i := off - l.r.Lo
	return l.told[i/64]>>(i%64)&1 != 0
}

// vote counts an acceptance.
func (l *listener) vote(from int, off uint32, b wor.Ballot, value []byte) {
	if l.over || off < l.r.Lo || off >= l.r.Hi || l.isTold(off) {
		return
	}
	v := l.votes[off]
	if v == nil {
		v = &votes{}
		l.votes[off] = v
		l.doubt = append(l.doubt, off)
		if len(l.doubt) == 1 {
			l.hurry(listenDoubt)
		}
	}
	i := slices.IndexFunc(v.list, func(x vote) bool { return x.ballot == b && string(x.value) == string(value) })
	if i < 0 {
		if len(v.list) == votesMax {
			low := 0
			for j := range v.list {
				if v.list[j].ballot.Less(v.list[low].ballot) {
					low = j
				}
			}
			v.list = slices.Delete(v.list, low, low+1)
		}
		v.list = append(v.list, vote{ballot: b, value: value})
		i = len(v.list) - 1
	}
	v.list[i].servers |= 1 << from
	if bits.OnesCount16(v.list[i].servers) >= l.quorum(b) {
		l.tell(off, value)
	}
}

// quorum is the number of servers that decide at a ballot.
func (l *listener) quorum(b wor.Ballot) int {
	switch {
	case l.at.protocol == wor.Chain:
		return 1
	case l.at.protocol == wor.Fast && b.IsZero():
		return wor.FastQuorum(l.size)
	}
	return wor.Majority(l.size)
}

// tell notifies the application, once per register.
func (l *listener) tell(off uint32, value []byte) {
	if l.over || l.isTold(off) {
		return
	}
	i := off - l.r.Lo
	l.told[i/64] |= 1 << (i % 64)
	l.left--
	delete(l.votes, off)
	a := wor.Addr{Segment: l.r.Segment, Offset: off}
	l.s.known.add(a, value)
	l.note(wor.Cell{Addr: a, Value: value})
}

// trimmed ends the listener.
func (l *listener) trimmed() {
	if l.over {
		return
	}
	l.stop()
	l.note(wor.Cell{Addr: wor.Addr{Segment: l.r.Segment, Offset: l.r.Lo}, Err: wor.ErrTrimmed})
}

// hurry makes the alarm fire within d.
func (l *listener) hurry(d time.Duration) {
	if at := l.s.clock.Now().Add(d); l.alarm.place == 0 || l.alarm.at > at {
		l.s.agenda.set(&l.alarm, at, l)
	}
}

// soon schedules a read of all undelivered registers.
func (l *listener) soon() {
	l.full = true
	l.hurry(listenDoubt + l.s.jitter(listenDoubt))
}

func (l *listener) ring(*alarm) {
	switch {
	case !l.found:
		l.find()
	case l.poll != nil:
		l.again(listenDoubt)
	case l.full || len(l.doubt) == 0:
		if l.lame {
			l.lame = false
			l.register()
		}
		l.full = false
		l.from = l.r.Lo
		if l.left == 0 {
			// Everything is delivered; only a trim could follow.
			l.read(wor.Range{Segment: l.r.Segment, Lo: l.r.Lo, Hi: l.r.Lo + 1}, l.r.Hi, true)
			return
		}
		l.sweep(l.r.Hi, true)
	default:
		l.settleDoubt()
	}
}

// settleDoubt reads around the first register reported by too few servers.
func (l *listener) settleDoubt() {
	for len(l.doubt) > 0 && (l.isTold(l.doubt[0]) || l.votes[l.doubt[0]] == nil) {
		l.doubt = l.doubt[1:]
	}
	if len(l.doubt) == 0 {
		l.doubt = nil
		l.again(l.s.o.ListenPoll/2 + l.s.jitter(l.s.o.ListenPoll))
		return
	}
	low, high := l.doubt[0], l.doubt[0]
	for _, off := range l.doubt {
		if off >= low && off-low < listenStep/16 {
			high = max(high, off)
		}
	}
	for _, off := range l.doubt {
		if off >= low && off <= high {
			delete(l.votes, off)
		}
	}
	l.from = low
	l.sweep(high+1, false)
}

// sweep reads the undelivered registers, up to hi, piece by piece.
func (l *listener) sweep(hi uint32, all bool) {
	for l.from < hi && l.isTold(l.from) {
		l.from++
	}
	if l.over {
		return
	}
	if l.from >= hi {
		if l.left == 0 {
			l.deafen()
		}
		if len(l.doubt) > 0 {
			l.again(listenDoubt)
			return
		}
		l.again(l.s.o.ListenPoll/2 + l.s.jitter(l.s.o.ListenPoll))
		return
	}
	l.read(wor.Range{Segment: l.r.Segment, Lo: l.from, Hi: min(hi, l.from+listenStep)}, hi, all)
}

// read reads one piece of a sweep.
func (l *listener) read(r wor.Range, hi uint32, all bool) {
	o := &readRange{r: r}
	o.seg = r.Segment
	o.done = func(cells []wor.Cell, err error) {
		l.poll = nil
		if l.over {
			return
		}
		for i := range cells {
			switch cell := &cells[i]; {
			case errors.Is(cell.Err, wor.ErrTrimmed):
				l.trimmed()
				return
			case cell.Err == nil:
				l.tell(cell.Addr.Offset, cell.Value)
			}
		}
		if err != nil {
			l.full = l.full || all
			l.again(l.s.o.ListenPoll/4 + l.s.jitter(l.s.o.ListenPoll/4))
			return
		}
		if e := l.s.segments.get(l.r.Segment); e != nil && e.value.place != l.at.place {
			l.at = e.value // it has moved
			l.register()
		}
		if l.from = r.Hi; l.left == 0 {
			l.from = hi
		}
		l.sweep(hi, all)
	}
	l.poll = o
	o.begin(l.s, 0, l.s.o.ListenPoll, o)
	o.find(o)
}

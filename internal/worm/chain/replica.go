// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"bytes"
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Replica is a server's part in the chain segments of a partition. It is a
// wor.Server.
type Replica struct {
	head     bool
	segments map[wor.Segment]*segment
	// order has the keys of segments; the first sorted of them are in ascending
	// order.
	order  []wor.Segment
	sorted int
	bytes  int64
	record []byte // memory for one
}

var _ wor.Server = (*Replica)(nil)

// NewReplica returns an empty Replica; head says whether the server is the first
// of the chain.
func NewReplica(head bool) *Replica {
	return &Replica{head: head, segments: map[wor.Segment]*segment{}}
}

// Handle implements wor.Server.
func (a *Replica) Handle(q *wor.Request, r *wor.Reply, log *wor.Log) {
	if q.Kind == wor.KindTrim {
		a.trim(q.Range.Segment, log)
		r.Add(wor.Run{Count: 1})
		return
	}
	s := a.segments[q.Range.Segment]
	if s != nil && s.trimmed {
		r.Add(wor.Run{Count: uint32(q.Range.Len()), Status: wor.StatusTrimmed})
		return
	}
	switch q.Kind {
	case wor.KindRead, wor.KindListen:
		a.show(s, q.Range, r)
	case wor.KindCapture:
		if !a.head {
			r.Status, r.Value = wor.StatusLimit, append(r.Value[:0], "a chain is captured at its head"...)
			return
		}
		a.capture(q, r, log)
	case wor.KindWrite:
		a.write(q, r, log)
	}
}

// room reports whether a reply has room for another value.
func room(r *wor.Reply, size *int, c *cell) bool {
	if c != nil {
		*size += len(c.value)
	}
	return len(r.Runs) == 0 || *size <= wor.ReplyMax
}

func shown(count uint32, promised wor.Ballot, c *cell) wor.Run {
	run := wor.Run{Count: count, Promised: promised}
	if c != nil {
		run.Written, run.Accepted, run.Value = true, c.accepted, c.value
		if promised.Less(c.accepted) {
			run.Promised = c.accepted
		}
	}
	return run
}

func (a *Replica) show(s *segment, at wor.Range, r *wor.Reply) {
	if s == nil {
		r.Add(wor.Run{Count: uint32(at.Len())})
		return
	}
	size := 0
	s.walk(at.Lo, at.Hi, func(lo, hi uint32, promised wor.Ballot, c *cell) bool {
		if !room(r, &size, c) {
			return false
		}
		r.Add(shown(hi-lo, promised, c))
		return true
	})
}

// capture promises the ballot for registers that are unwritten and have no higher
// promise. A capture does not affect written registers: the reply shows their
// values.
func (a *Replica) capture(q *wor.Request, r *wor.Reply, log *wor.Log) {
	s := a.segment(q.Range.Segment)
	size, end, news := 0, q.Range.Lo, false
	s.walk(q.Range.Lo, q.Range.Hi, func(lo, hi uint32, promised wor.Ballot, c *cell) bool {
		if !room(r, &size, c) {
			return false
		}
		end = hi
		run := shown(hi-lo, promised, c)
		switch {
		case c != nil:
		case q.Ballot.Less(promised):
			run.Status = wor.StatusOutbid
		default:
			news = news || promised.Less(q.Ballot)
			run.Promised = q.Ballot
		}
		r.Add(run)
		return true
	})
	if news {
		// Higher promises within the range remain.
		a.promise(q.Range.Segment, span{q.Range.Lo, end, q.Ballot}, log)
	}
}

// write accepts the value for unwritten registers. The head accepts it only if it
// has not promised a higher ballot. The other servers always accept it, because
// the sender has seen it at the server before.
func (a *Replica) write(q *wor.Request, r *wor.Reply, log *wor.Log) {
	s := a.segment(q.Range.Segment)
	size := 0
	var free []span
	s.walk(q.Range.Lo, q.Range.Hi, func(lo, hi uint32, promised wor.Ballot, c *cell) bool {
		run := wor.Run{Count: hi - lo}
		switch {
		case c != nil && bytes.Equal(c.value, q.Value):
			run.Promised = q.Ballot
		case c != nil:
			if !room(r, &size, c) {
				return false
			}
			run = shown(1, promised, c)
			run.Status = wor.StatusConflict
			if q.Ballot.Less(c.accepted) {
				run.Status = wor.StatusOutbid
			}
		case a.head && q.Ballot.Less(promised):
			run.Status, run.Promised = wor.StatusOutbid, promised
		default:
			run.Promised = q.Ballot
			if k := len(free); k > 0 && free[k-1].hi == lo {
				free[k-1].hi = hi
			} else {
				free = append(free, span{lo, hi, q.Ballot})
			}
		}
		r.Add(run)
		return true
	})
	for _, f := range free {
		a.accept(q.Range.Segment, f, q.Value, log)
	}
}

// segment finds or makes the segment with a number.
func (a *Replica) segment(n wor.Segment) *segment {
	s := a.segments[n]
	if s == nil {
		s = &segment{}
		a.segments[n] = s
		a.order = append(a.order, n)
		a.bytes += segmentBytes
	}
	return s
}

// inOrder returns the numbers of the segments in ascending order.
func (a *Replica) inOrder() []wor.Segment {
	if a.sorted < len(a.order) {
		slices.Sort(a.order)
		a.sorted = len(a.order)
	}
	return a.order
}

// The three changes. Each is logged, and Redo repeats it.

func (a *Replica) promise(n wor.Segment, p span, log *wor.Log) {
	s := a.segment(n)
	a.bytes -= int64(len(s.spans)) * spanBytes
	s.promise(p.lo, p.hi, p.ballot)
	a.bytes += int64(len(s.spans)) * spanBytes
	if log != nil {
		a.record = appendPromise(a.record[:0], n, p)
		log.Append(a.record)
	}
}

func (a *Replica) accept(n wor.Segment, at span, value []byte, log *wor.Log) {
	s := a.segment(n)
	for off := at.lo; off < at.hi; off++ {
		if s.put(cell{off, at.ballot, value}) {
			a.bytes += cellBytes + int64(len(value))
		}
	}
	if log != nil {
		a.record = appendAccept(a.record[:0], n, at, value)
		log.Append(a.record)
	}
}

func (a *Replica) trim(n wor.Segment, log *wor.Log) {
	s := a.segment(n)
	if s.trimmed {
		return
	}
	for _, l := range s.leaves {
		for i := range l {
			a.bytes -= cellBytes + int64(len(l[i].value))
		}
	}
	a.bytes -= int64(len(s.spans)) * spanBytes
	*s = segment{trimmed: true}
	if log != nil {
		a.record = appendTrim(a.record[:0], n)
		log.Append(a.record)
	}
}

// Redo implements wor.Server. Records may be repeated.
func (a *Replica) Redo(record []byte) error {
	x, err := decodeRecord(record)
	if err != nil {
		return err
	}
	if s := a.segments[x.segment]; s != nil && s.trimmed {
		return nil
	}
	switch x.kind {
	case recordPromise:
		a.promise(x.segment, x.at, nil)
	case recordAccept:
		a.accept(x.segment, x.at, bytes.Clone(x.value), nil)
	case recordTrim:
		a.trim(x.segment, nil)
	}
	return nil
}

// Save implements wor.Server.
func (a *Replica) Save(yield func(record []byte) bool) {
	var b []byte
	for _, n := range a.inOrder() {
		s := a.segments[n]
		if s.trimmed {
			if b = appendTrim(b[:0], n); !yield(b) {
				return
			}
			continue
		}
		for _, p := range s.spans {
			if b = appendPromise(b[:0], n, p); !yield(b) {
				return
			}
		}
		if !s.saveCells(n, b, yield) {
			return
		}
	}
}

// saveCells yields a record for each run of like neighbours, up to the length
// that a request may have.
func (s *segment) saveCells(n wor.Segment, b []byte, yield func(record []byte) bool) bool {
	c, p := s.at(place{})
	for c != nil {
		at := span{c.offset, c.offset + 1, c.accepted}
		value := c.value
		for c, p = s.at(p); c != nil && c.offset == at.hi && at.hi-at.lo < wor.RangeMax && c.accepted == at.ballot && bytes.Equal(c.value, value); c, p = s.at(p) {
			at.hi++
		}
		if b = appendAccept(b[:0], n, at, value); !yield(b) {
			return false
		}
	}
	return true
}

// States implements wor.Server. It yields registers with only a promise one by one,
// like all others.
func (a *Replica) States(from wor.Addr, yield func(wor.State) bool) { a.states(from, true, yield) }

// Values is States without the registers that have only a promise; it takes no
// time for those.
func (a *Replica) Values(from wor.Addr, yield func(wor.State) bool) { a.states(from, false, yield) }

func (a *Replica) states(from wor.Addr, promises bool, yield func(wor.State) bool) {
	order := a.inOrder()
	i, _ := slices.BinarySearch(order, from.Segment)
	for _, n := range order[i:] {
		lo := uint32(0)
		if n == from.Segment {
			lo = from.Offset
		}
		s := a.segments[n]
		if s.trimmed {
			if lo == 0 && !yield(wor.State{Addr: wor.Addr{Segment: n}, Trimmed: true}) {
				return
			}
			continue
		}
		more := true
		s.walk(lo, 1<<32-1, func(lo, hi uint32, promised wor.Ballot, c *cell) bool {
			if c == nil && (promised.IsZero() || !promises) {
				return true
			}
			for off := lo; off < hi && more; off++ {
				run := shown(1, promised, c)
				more = yield(wor.State{
					Addr: wor.Addr{Segment: n, Offset: off}, Promised: run.Promised,
					Written: run.Written, Accepted: run.Accepted, Value: run.Value,
				})
			}
			return more
		})
		if !more {
			return
		}
	}
}

// Adopt implements wor.Server.
func (a *Replica) Adopt(s wor.State, log *wor.Log) error {
	switch n := s.Addr.Segment; {
	case s.Trimmed:
		a.trim(n, log)
	case s.Written && !(a.segments[n] != nil && a.segments[n].trimmed):
		a.accept(n, span{s.Addr.Offset, s.Addr.Offset + 1, wor.Ballot{}}, s.Value, log)
	}
	return nil
}

// Bytes implements wor.Server.
func (a *Replica) Bytes() int64 { return a.bytes }

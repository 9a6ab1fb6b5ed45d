// SPDX-License-Identifier: Apache-2.0

package paxos

import (
	"bytes"
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// For each register an acceptor stores the highest ballot that it has promised,
// and the value that it has accepted at the highest ballot; for each segment,
// whether it is trimmed. Each of the three only grows, and growth is a join: a
// record of the log means "at least this", so that records may be repeated, and
// the state after a crash is the join of the surviving ones.
//
//	capture b   above what is promised: promise it. The same: promise it again.
//	            Below: outbid.
//	write b v   (b, v) is what is accepted: say so again, whatever was promised
//	            since, for that answer was given before.
//	            Another value is accepted at b: conflict, never overwritten.
//	            b is below what is promised: outbid.
//	            Otherwise accept it, which promises b as well. Ballot zero is
//	            below all others, so that it is accepted only where nothing is
//	            promised or accepted.
//	read        show what is accepted, promise nothing.
//	trim        put up the tombstone, then forget the registers.

// Acceptor has a server's registers. The zero Acceptor is empty. It serves
// package fast as well: at ballot zero it accepts the first value that arrives
// and answers a conflict to later ones.
//
// Registers of a trimmed segment report that, including those at wor.MetaOffset
// and wor.TrimOffset if they are stored here.
type Acceptor struct {
	segments map[wor.Segment]*segment
	trimmed  tombstones
	size     int64 // memory of the segments
	// order has the numbers of the segments in order, or is nil: it is made
	// when they are all enumerated.
	order []wor.Segment
	// recent is the segment last accessed, recentNumber its number.
	recent       *segment
	recentNumber wor.Segment
	replied      int // bytes of values in the reply being made
	scratch      []promise
	record       []byte
}

var _ wor.Server = (*Acceptor)(nil)

// Handle answers a request of kind capture, write, read or trim as wor.Server
// specifies. The acceptor retains the request's value. Invalid requests are
// refused with StatusLimit and the reason; package group refuses them before.
func (a *Acceptor) Handle(q *wor.Request, r *wor.Reply, log *wor.Log) {
	r.Status, r.Value, r.Runs, a.replied = wor.StatusOK, nil, r.Runs[:0], 0
	if q.Kind == wor.KindTrim {
		a.trim(q.Range.Segment, log)
		r.Add(wor.Run{Count: 1})
		return
	}
	if why := senseless(q); why != "" {
		r.Status, r.Value = wor.StatusLimit, []byte(why)
		return
	}
	if a.trimmed.has(q.Range.Segment) {
		r.Add(wor.Run{Count: uint32(q.Range.Len()), Status: wor.StatusTrimmed})
		return
	}
	switch q.Kind {
	case wor.KindCapture:
		a.capture(q, r, log)
	case wor.KindWrite:
		a.write(q, r, log)
	default:
		s := a.find(q.Range.Segment)
		s.walk(int(q.Range.Lo), int(q.Range.Hi), func(p *page, from, to int) bool {
			return a.reply(r, show(p, from, to))
		})
	}
}

func senseless(q *wor.Request) string {
	switch {
	case q.Kind != wor.KindCapture && q.Kind != wor.KindWrite && q.Kind != wor.KindRead:
		return "not a request about registers"
	case q.Range.Lo >= q.Range.Hi:
		return "range is empty"
	case q.Range.Len() > wor.RangeMax:
		return "RangeMax"
	case len(q.Value) > wor.ValueMax:
		return "ValueMax"
	case q.Kind == wor.KindCapture && q.Ballot.IsZero():
		return "capture without a ballot"
	}
	return ""
}

// show returns a server's answer for registers that are alike.
func show(p *page, from, to int) wor.Run {
	run := wor.Run{Count: uint32(to - from)}
	if p != nil {
		i := from % pageSize
		run.Promised = p.promised(i)
		run.Accepted, run.Value = p.accepted(i)
		run.Written = run.Value != nil
	}
	return run
}

// reply adds a run, unless the reply would become too long; it always adds the
// first.
func (a *Acceptor) reply(r *wor.Reply, run wor.Run) bool {
	n := len(r.Runs)
	r.Add(run)
	if len(r.Runs) == n {
		return true
	}
	a.replied += len(run.Value)
	if n > 0 && len(run.Value) > 0 && a.replied > wor.ReplyMax {
		r.Runs = r.Runs[:n]
		return false
	}
	return true
}

func (a *Acceptor) capture(q *wor.Request, r *wor.Reply, log *wor.Log) {
	lo, changed := int(q.Range.Lo), false
	s := a.find(q.Range.Segment)
	end := s.walk(lo, int(q.Range.Hi), func(p *page, from, to int) bool {
		run := show(p, from, to)
		fresh := run.Promised.Less(q.Ballot)
		switch {
		case fresh:
			run.Promised = q.Ballot
		case run.Promised != q.Ballot:
			run = wor.Run{Count: run.Count, Status: wor.StatusOutbid, Promised: run.Promised}
		}
		if !a.reply(r, run) {
			return false
		}
		changed = changed || fresh
		return true
	})
	if !changed {
		return
	}
	a.promise(q.Range.Segment, lo, end, q.Ballot)
	a.record = promiseRecord(a.record[:0], q.Range.Segment, lo, end, q.Ballot)
	log.Append(a.record)
}

func (a *Acceptor) write(q *wor.Request, r *wor.Reply, log *wor.Log) {
	s := a.find(q.Range.Segment)
	value := keep(q.Value)
	lo, hi := int(q.Range.Lo), int(q.Range.Hi)
	start, i := -1, lo // what was accepted from start on is not in the log yet
	note := func() {
		if start >= 0 {
			a.record = acceptRecord(a.record[:0], q.Range.Segment, start, i, q.Ballot, value)
			log.Append(a.record)
			start = -1
		}
	}
	for ; i < hi; i++ {
		run, accept := judge(s, i, q.Ballot, value)
		if !a.reply(r, run) {
			break
		}
		if !accept {
			note()
			continue
		}
		if start < 0 {
			start = i
		}
		if s == nil {
			s = a.open(q.Range.Segment)
		}
		a.accept(s, i, q.Ballot, value)
	}
	note()
}

// judge returns the answer to a write of register i, and whether it is accepted
// now.
func judge(s *segment, i int, b wor.Ballot, value []byte) (wor.Run, bool) {
	run := wor.Run{Count: 1}
	if p := s.page(i); p != nil {
		run.Promised = p.promised(i % pageSize)
		if at, v := p.accepted(i % pageSize); v != nil && at == b {
			run.Written, run.Accepted = true, at
			if !bytes.Equal(v, value) {
				run.Status, run.Value = wor.StatusConflict, v
			}
			return run, false
		}
		if b.Less(run.Promised) {
			run.Status = wor.StatusOutbid
			return run, false
		}
	}
	run.Promised, run.Written, run.Accepted = b, true, b
	return run, true
}

// accept makes register i hold v at b.
func (a *Acceptor) accept(s *segment, i int, b wor.Ballot, v []byte) {
	p := a.page(s, i)
	before := p.bytes()
	p.accept(i%pageSize, b, v)
	a.size += p.bytes() - before
}

// keep returns a value in the form in which it is stored: without much unused
// memory behind it.
func keep(v []byte) []byte {
	if cap(v)-len(v) > len(v)/4+64 {
		return bytes.Clone(v)
	}
	return v
}

func (a *Acceptor) trim(s wor.Segment, log *wor.Log) {
	if a.trimmed.has(s) {
		return
	}
	a.record = trimRecord(a.record[:0], stretch{s, s})
	log.Append(a.record)
	a.bury(stretch{s, s})
}

// bury stores tombstones and drops what they cover.
func (a *Acceptor) bury(x stretch) {
	if !a.trimmed.add(x.lo, x.hi) {
		return
	}
	if x.lo == x.hi {
		a.drop(x.lo)
		return
	}
	for _, s := range a.sorted() {
		if s >= x.lo && s <= x.hi {
			a.drop(s)
		}
	}
}

func (a *Acceptor) drop(number wor.Segment) {
	s := a.segments[number]
	if s == nil {
		return
	}
	a.size -= segmentBytes + int64(cap(s.pages))*8
	for _, p := range s.pages {
		a.size -= p.bytes()
	}
	delete(a.segments, number)
	a.recent, a.order = nil, nil
}

// find returns a segment, or nil if nothing of it is promised or written.
func (a *Acceptor) find(number wor.Segment) *segment {
	if a.recent != nil && a.recentNumber == number {
		return a.recent
	}
	s := a.segments[number]
	if s != nil {
		a.recent, a.recentNumber = s, number
	}
	return s
}

// open returns a segment, made if necessary.
func (a *Acceptor) open(number wor.Segment) *segment {
	if s := a.find(number); s != nil {
		return s
	}
	if a.segments == nil {
		a.segments = map[wor.Segment]*segment{}
	}
	s := &segment{}
	a.segments[number] = s
	a.recent, a.recentNumber, a.order = s, number, nil
	a.size += segmentBytes
	return s
}

// page returns the page of register i, made if necessary.
func (a *Acceptor) page(s *segment, i int) *page {
	if p := s.page(i); p != nil {
		return p
	}
	p := &page{number: uint32(i / pageSize)}
	a.size -= int64(cap(s.pages)) * 8
	at := s.find(p.number)
	s.pages = slices.Insert(s.pages, at, p)
	a.size += int64(cap(s.pages))*8 + p.bytes()
	return p
}

// promise makes the registers from lo to hi promise at least b.
func (a *Acceptor) promise(number wor.Segment, lo, hi int, b wor.Ballot) {
	s := a.open(number)
	for lo < hi {
		p := a.page(s, lo)
		base := lo / pageSize * pageSize
		end := min(hi, base+pageSize)
		before := p.bytes()
		a.scratch = p.grant(lo-base, end-base, b, a.scratch)
		a.size += p.bytes() - before
		lo = end
	}
}

// Bytes is the approximate memory use of the state, including values.
func (a *Acceptor) Bytes() int64 {
	return a.size + a.trimmed.bytes() + int64(cap(a.order))*8
}

// sorted is the numbers of the segments in order.
func (a *Acceptor) sorted() []wor.Segment {
	if a.order == nil {
		a.order = make([]wor.Segment, 0, len(a.segments))
		for s := range a.segments {
			a.order = append(a.order, s)
		}
		slices.Sort(a.order)
	}
	return a.order
}

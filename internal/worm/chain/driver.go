// SPDX-License-Identifier: Apache-2.0

package chain

import "github.com/ashlar-dev/ashlar/worm/wor"

// driver copies what one server has to the servers after it, one after the
// other: values, piece by piece, or the tombstone of the segment, which
// supersedes all values. Used alone, it is the machine of Trim.
type driver struct {
	base
	pieces []piece
	now    int // the piece that is being driven
	// trimming: the tombstone goes down the chain, next to the server trimTo. The
	// earlier servers have it.
	trimming bool
	trimTo   int
}

// piece is a run of neighbouring registers with the same outcome.
type piece struct {
	lo, hi uint32
	// to is the next server that must get the value; all earlier servers have it.
	// It is n when nothing is left to do.
	to     int
	ballot wor.Ballot
	value  []byte
	// outcome is the result to report when all servers have the value.
	outcome wor.Run
}

// found appends a piece.
func (m *driver) found(count uint32, to int, value []byte, b wor.Ballot, outcome wor.Run) {
	lo := m.span.Lo
	if k := len(m.pieces); k > 0 {
		lo = m.pieces[k-1].hi
	}
	outcome.Count = count
	m.pieces = append(m.pieces, piece{lo, lo + count, to, b, value, outcome})
}

// settled appends a piece that needs no further work.
func (m *driver) settled(run wor.Run) { m.found(run.Count, m.n, nil, wor.Ballot{}, run) }

// shown appends a piece that a server has shown as written. It must be driven
// to the servers from to on.
func (m *driver) shown(count uint32, to int, run wor.Run) {
	m.found(count, to, run.Value, run.Accepted, wor.Run{Written: true, Accepted: run.Accepted, Value: run.Value})
}

func (m *driver) Start(out *wor.Outbox) {
	m.trimming = true
	m.drive(out)
}

// entomb switches to driving the tombstone, which a server has shown.
func (m *driver) entomb(from int, out *wor.Outbox) {
	m.trimming, m.trimTo = true, from+1
	for i := range m.open {
		m.open[i].request = nil
	}
	m.drive(out)
}

// drive sends the next request. If there is none, it ends the machine.
func (m *driver) drive(out *wor.Outbox) {
	m.step++
	if m.trimming {
		if m.trimTo == m.n {
			m.finish()
			return
		}
		m.send(m.trimTo, &wor.Request{Kind: wor.KindTrim, Protocol: wor.Chain, Range: wor.Range{Segment: m.span.Segment}}, out)
		return
	}
	for m.now < len(m.pieces) && m.pieces[m.now].to == m.n {
		m.now++
	}
	if m.now == len(m.pieces) {
		m.finish()
		return
	}
	p := &m.pieces[m.now]
	m.send(p.to, &wor.Request{
		Kind: wor.KindWrite, Protocol: wor.Chain, Ballot: p.ballot, Value: p.value,
		Range: wor.Range{Segment: m.span.Segment, Lo: p.lo, Hi: p.hi},
	}, out)
}

// finish makes the result. If the tail has the tombstone, registers without a
// value at the tail are trimmed.
func (m *driver) finish() {
	m.over = true
	if m.span.Len() == 0 {
		m.runs = []wor.Run{{Count: 1}}
		return
	}
	at := m.span.Lo
	for i := range m.pieces {
		p := &m.pieces[i]
		at = p.hi
		if p.to < m.n {
			p.outcome = wor.Run{Count: p.outcome.Count, Status: wor.StatusTrimmed}
		}
		m.runs = add(m.runs, p.outcome)
	}
	if at < m.span.Hi {
		m.runs = add(m.runs, wor.Run{Count: m.span.Hi - at, Status: wor.StatusTrimmed})
	}
}

func (m *driver) Deliver(from int, step uint32, r *wor.Reply, out *wor.Outbox) {
	q := m.answered(from, step, r)
	if q == nil {
		return
	}
	if m.trimming {
		m.trimTo++
		m.drive(out)
		return
	}
	p := &m.pieces[m.now]
	trimmed := false
	taken := uint32(0)
	var refused *wor.Run
	clip(r, uint32(q.Range.Len()), func(run wor.Run) {
		switch {
		case trimmed || refused != nil:
		case run.Status == wor.StatusOK:
			taken += run.Count
		case run.Status == wor.StatusTrimmed:
			trimmed = true
		default:
			refused = &run
		}
	})
	switch {
	case trimmed:
		m.entomb(from, out)
		return
	case refused != nil:
		// This contradicts C0: a server or client has broken the protocol, so
		// nothing is known.
		p.to = m.n
		p.outcome = wor.Run{Count: p.outcome.Count, Status: wor.StatusOutbid, Promised: refused.Promised}
	case q.Range.Lo+taken < p.hi:
		m.rest(from, q, taken, out)
		return
	default:
		p.to++
	}
	m.drive(out)
}

// rest asks a server for the part that its reply to q did not cover.
func (m *base) rest(from int, q *wor.Request, covered uint32, out *wor.Outbox) {
	next := *q
	next.Range.Lo += covered
	m.step++
	m.send(from, &next, out)
}

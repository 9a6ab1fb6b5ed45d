// SPDX-License-Identifier: Apache-2.0

package chain

import "github.com/ashlar-dev/ashlar/worm/wor"

// driver brings what one server has to those behind it, one server after the
// other: values, piece by piece, or the tombstone of the segment, which counts
// more than all values. By itself it is the machine of Trim.
type driver struct {
	base
	pieces []piece
	now    int // the piece that is being driven
	// trimming reports that the tombstone goes down the chain, next to trimTo. The
	// servers before have it.
	trimming bool
	trimTo   int
}

// piece is neighbouring registers with one outcome.
type piece struct {
	lo, hi uint32
	// to is the next server that is to have the value, all before have it; n when
	// nothing is to be done any more.
	to     int
	ballot wor.Ballot
	value  []byte
	// outcome is what to answer when all servers have the value.
	outcome wor.Run
}

// found adds a piece behind the others.
func (m *driver) found(count uint32, to int, value []byte, b wor.Ballot, outcome wor.Run) {
	lo := m.span.Lo
	if k := len(m.pieces); k > 0 {
		lo = m.pieces[k-1].hi
	}
	outcome.Count = count
	m.pieces = append(m.pieces, piece{lo, lo + count, to, b, value, outcome})
}

// settled adds a piece of which nothing is to be done.
func (m *driver) settled(run wor.Run) { m.found(run.Count, m.n, nil, wor.Ballot{}, run) }

// shown adds a piece that some server has shown written, to be driven from the
// server to on.
func (m *driver) shown(count uint32, to int, run wor.Run) {
	m.found(count, to, run.Value, run.Accepted, wor.Run{Written: true, Accepted: run.Accepted, Value: run.Value})
}

func (m *driver) Start(out *wor.Outbox) {
	m.trimming = true
	m.drive(out)
}

// entomb goes over to the tombstone, which a server has shown.
func (m *driver) entomb(from int, out *wor.Outbox) {
	m.trimming, m.trimTo = true, from+1
	for i := range m.open {
		m.open[i].request = nil
	}
	m.drive(out)
}

// drive sends the next request, or ends.
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

// finish makes the result. Trimmed is what is not at the tail when the tombstone
// is.
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
		// Against C0: a server or client has broken the protocol. Nothing is
		// known then.
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

// rest asks a server for what its reply to q has not covered.
func (m *base) rest(from int, q *wor.Request, covered uint32, out *wor.Outbox) {
	next := *q
	next.Range.Lo += covered
	m.step++
	m.send(from, &next, out)
}

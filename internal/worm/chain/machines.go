// SPDX-License-Identifier: Apache-2.0

package chain

import "github.com/ashlar-dev/ashlar/worm/wor"

// capture asks the head until the head has answered for the whole range.
type capture struct{ driver }

func newCapture(n int, r wor.Range, b wor.Ballot) *capture {
	m := &capture{driver{base: base{n: n, span: r}}}
	m.first = &wor.Request{Kind: wor.KindCapture, Protocol: wor.Chain, Ballot: b, Range: r}
	return m
}

func (m *capture) Start(out *wor.Outbox) { m.send(0, m.first, out) }

func (m *capture) Deliver(from int, step uint32, r *wor.Reply, out *wor.Outbox) {
	if m.trimming {
		m.driver.Deliver(from, step, r, out)
		return
	}
	q := m.answered(from, step, r)
	if q == nil {
		return
	}
	trimmed := false
	covered := clip(r, uint32(q.Range.Len()), func(run wor.Run) {
		trimmed = trimmed || run.Status == wor.StatusTrimmed
		m.settled(run)
	})
	switch {
	case trimmed:
		m.pieces = nil
		m.entomb(from, out)
	case covered < uint32(q.Range.Len()):
		m.rest(from, q, covered, out)
	default:
		m.finish()
	}
}

// write writes at the head, and then drives the values of the head down the
// chain.
type write struct {
	driver
	headed bool // the head has answered for the whole range
}

func newWrite(n int, r wor.Range, b wor.Ballot, value []byte) *write {
	m := &write{driver: driver{base: base{n: n, span: r}}}
	m.first = &wor.Request{Kind: wor.KindWrite, Protocol: wor.Chain, Ballot: b, Value: value, Range: r}
	return m
}

func (m *write) Start(out *wor.Outbox) { m.send(0, m.first, out) }

func (m *write) Deliver(from int, step uint32, r *wor.Reply, out *wor.Outbox) {
	if m.headed || m.trimming {
		m.driver.Deliver(from, step, r, out)
		return
	}
	q := m.answered(from, step, r)
	if q == nil {
		return
	}
	trimmed := false
	covered := clip(r, uint32(q.Range.Len()), func(run wor.Run) {
		switch {
		case run.Status == wor.StatusOK:
			m.taken(run.Count)
		case run.Status == wor.StatusTrimmed:
			trimmed = true
		case run.Written:
			m.found(run.Count, 1, run.Value, run.Accepted, run)
		default:
			m.settled(run)
		}
	})
	switch {
	case trimmed:
		m.entomb(from, out)
	case covered < uint32(q.Range.Len()):
		m.rest(from, q, covered, out)
	default:
		m.headed = true
		m.drive(out)
	}
}

// taken counts further registers for which the head has accepted this write.
func (m *write) taken(count uint32) {
	if k := len(m.pieces); k > 0 && m.pieces[k-1].outcome.Status == wor.StatusOK {
		p := &m.pieces[k-1]
		p.hi += count
		p.outcome.Count += count
		return
	}
	m.found(count, 1, m.first.Value, m.first.Ballot, wor.Run{})
}

// read asks the tail. For registers that the tail does not have, it asks all other
// servers, and drives the values that any of them has.
type read struct {
	driver
	// tail has the answers of the tail, from the first register on. others has
	// the answers of the other servers, from gap.Lo on.
	tail   []wor.Run
	others [][]wor.Run
	gap    wor.Range
	wait   int // how many of the others have not answered for the whole gap
	driven bool
}

func newRead(n int, r wor.Range) *read {
	m := &read{driver: driver{base: base{n: n, span: r}}}
	m.first = &wor.Request{Kind: wor.KindRead, Protocol: wor.Chain, Range: r}
	return m
}

func (m *read) Start(out *wor.Outbox) { m.send(m.n-1, m.first, out) }

func (m *read) Deliver(from int, step uint32, r *wor.Reply, out *wor.Outbox) {
	if m.driven || m.trimming {
		m.driver.Deliver(from, step, r, out)
		return
	}
	q := m.answered(from, step, r)
	if q == nil {
		return
	}
	runs := &m.tail
	if m.others != nil {
		runs = &m.others[from]
	}
	trimmed := false
	covered := clip(r, uint32(q.Range.Len()), func(run wor.Run) {
		trimmed = trimmed || run.Status == wor.StatusTrimmed
		*runs = append(*runs, run)
	})
	switch {
	case trimmed:
		m.entomb(from, out)
	case covered < uint32(q.Range.Len()):
		m.rest(from, q, covered, out)
	case m.others == nil:
		m.askOthers(out)
	default:
		if m.wait--; m.wait == 0 {
			m.compare(out)
		}
	}
}

// askOthers asks the other servers for the gap: the range from the first to the
// last register that the tail does not have.
func (m *read) askOthers(out *wor.Outbox) {
	m.gap = wor.Range{Segment: m.span.Segment}
	at := m.span.Lo
	for _, run := range m.tail {
		if !run.Written {
			if m.gap.Hi == 0 {
				m.gap.Lo = at
			}
			m.gap.Hi = at + run.Count
		}
		at += run.Count
	}
	if m.gap.Hi == 0 || m.n == 1 {
		for _, run := range m.tail {
			m.answer(run.Count, m.n-1, run)
		}
		m.finish()
		return
	}
	m.others = make([][]wor.Run, m.n-1)
	m.wait = m.n - 1
	m.step++
	for to := range m.n - 1 {
		m.send(to, &wor.Request{Kind: wor.KindRead, Protocol: wor.Chain, Range: m.gap}, out)
	}
}

// answer appends a piece for the value at the last server in the chain that has
// one.
func (m *read) answer(count uint32, server int, run wor.Run) {
	if run.Written {
		m.shown(count, server+1, run)
	} else {
		m.settled(wor.Run{Count: count})
	}
}

// compare compares the answers of all servers, register by register.
func (m *read) compare(out *wor.Outbox) {
	sides := make([]cursor, m.n)
	for i, runs := range m.others {
		sides[i] = cursor{runs: runs}
	}
	sides[m.n-1] = cursor{runs: m.tail}
	for at := m.span.Lo; at < m.span.Hi; {
		alone := at < m.gap.Lo || at >= m.gap.Hi
		count := sides[m.n-1].left()
		last := m.n - 1
		run := sides[last].run()
		if !alone {
			for i := m.n - 2; i >= 0; i-- {
				count = min(count, sides[i].left())
				if r := sides[i].run(); !run.Written && r.Written {
					run, last = r, i
				}
			}
			count = min(count, m.gap.Hi-at)
		} else if at < m.gap.Lo {
			count = min(count, m.gap.Lo-at)
		}
		m.answer(count, last, run)
		for i := range sides {
			if !alone || i == m.n-1 {
				sides[i].skip(count)
			}
		}
		at += count
	}
	m.driven = true
	m.drive(out)
}

// cursor iterates over the registers of runs.
type cursor struct {
	runs []wor.Run
	gone uint32 // of the first run
}

func (c *cursor) run() wor.Run { return c.runs[0] }
func (c *cursor) left() uint32 { return c.runs[0].Count - c.gone }

func (c *cursor) skip(count uint32) {
	if c.gone += count; c.gone == c.runs[0].Count {
		c.runs, c.gone = c.runs[1:], 0
	}
}

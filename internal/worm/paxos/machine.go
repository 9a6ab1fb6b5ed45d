// SPDX-License-Identifier: Apache-2.0

package paxos

import (
	"math/bits"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A machine asks every server about the whole range and then about the
// registers that each has not answered, one request at a time per server. It
// stores what it has learned in spans of registers in the same state; a reply
// splits them where its runs end. The rules of settle.go decide when a span is
// settled.
//
// A tombstone from any server ends the operation for all registers that are not
// settled: the segment's trim had been decided. But the answer "trimmed" must
// wait until a majority has the tombstone, so that no later read sees less.

// patience is the number of Expires for which a machine of protocol fast waits
// for servers that ballot zero needs and a majority does not.
const patience = 2

type machine struct {
	n        int
	kind     wor.Kind
	fast     bool
	trimming bool // tombstones are being stored
	done     bool
	sent     bool // this call has sent something
	tombs    mask // servers that have the tombstone
	gone     mask // servers that will not answer here
	step     uint32
	expired  int
	left     int         // registers not settled
	first    wor.Request // what all servers are asked first
	spans    []span
	spare    []span // memory for the next spans
	servers  []server
	result   []wor.Run

	fewSpans   [1]span
	fewServers [5]server
	fewRuns    [1]wor.Run
}

// mask is a set of servers.
type mask uint16

func (m mask) count() int { return bits.OnesCount16(uint16(m)) }

// server is what a machine knows about a server.
type server struct {
	gone wor.Status // it will not answer here, and why; StatusOK otherwise
	busy bool       // request is not answered
	// request was sent in round since for the first time; answers to it may
	// come to later rounds too.
	request *wor.Request
	since   uint32
	// next is the first register about which it was not asked successfully, fix
	// the one from which to look for further repairs.
	next, fix uint32
}

func (m *machine) Start(out *wor.Outbox) {
	m.sent = false
	for i := range m.servers {
		m.ask(i, &m.first, out)
	}
}

func (m *machine) Step() uint32 { return m.step }

func (m *machine) Done() bool { return m.done }

func (m *machine) Result() []wor.Run { return m.result }

// Moved may also return StatusLimit: so many servers refuse the request because
// of a limit that it cannot be done.
func (m *machine) Moved() wor.Status {
	if m.done || m.n-m.gone.count() >= wor.Majority(m.n) {
		return wor.StatusOK
	}
	why := wor.StatusLimit
	for i := range m.servers {
		if s := m.servers[i].gone; s != wor.StatusOK {
			why = min(why, s)
		}
	}
	return why
}

// ask sends a request to a server, at most one in a call.
func (m *machine) ask(to int, q *wor.Request, out *wor.Outbox) {
	if !m.sent {
		m.sent = true
		m.step++
	}
	if s := &m.servers[to]; s.request != q || !s.busy {
		s.request, s.since, s.busy = q, m.step, true
	}
	out.Send(to, q)
}

func (m *machine) Deliver(from int, step uint32, r *wor.Reply, out *wor.Outbox) {
	m.sent = false
	if m.done || from < 0 || from >= m.n {
		return
	}
	s := &m.servers[from]
	if !s.busy || step < s.since || step > m.step {
		return
	}
	switch r.Status {
	case wor.StatusOK:
		if !m.take(from, s, r.Runs) {
			return
		}
	case wor.StatusSealed, wor.StatusStale, wor.StatusForeign, wor.StatusLimit:
		s.gone, s.busy = r.Status, false
		m.gone |= 1 << from
		m.settleAll()
	default:
		return // it may answer later: Expire asks again
	}
	m.goOn(out)
}

// take processes the runs of a reply. It returns false if they are invalid.
func (m *machine) take(from int, s *server, runs []wor.Run) bool {
	q := s.request
	if q.Kind == wor.KindTrim {
		if len(runs) == 0 || runs[0].Status != wor.StatusOK {
			return false
		}
		s.busy = false
		m.tombs |= 1 << from
		return true
	}
	covered := 0
	for i := range runs {
		covered += int(runs[i].Count)
		if runs[i].Count == 0 || covered > q.Range.Len() {
			return false
		}
	}
	if covered == 0 {
		return false
	}
	s.busy = false
	end := q.Range.Lo + uint32(covered)
	if q.Kind == m.kind {
		s.next = end
	} else {
		s.fix = end
	}
	m.apply(from, q, runs)
	return true
}

// goOn ends the machine, or asks every idle server.
func (m *machine) goOn(out *wor.Outbox) {
	if m.over() {
		m.finish()
		return
	}
	for i := range m.servers {
		if !m.servers[i].busy || m.trimming && m.servers[i].request.Kind != wor.KindTrim {
			m.more(i, out)
		}
	}
}

// over reports whether the operation's result is complete.
func (m *machine) over() bool {
	return m.trimming && m.tombs.count() >= wor.Majority(m.n) || m.left == 0 && m.kind != wor.KindTrim
}

// more asks a server for missing information, if there is any.
func (m *machine) more(i int, out *wor.Outbox) {
	s := &m.servers[i]
	if s.gone != wor.StatusOK {
		return
	}
	q, ok := m.missing(i)
	if !ok {
		s.busy = false
		return
	}
	if p := s.request; p != nil && p.Kind == q.Kind && p.Range == q.Range && p.Ballot == q.Ballot &&
		len(p.Value) == len(q.Value) && (len(p.Value) == 0 || &p.Value[0] == &q.Value[0]) {
		m.ask(i, p, out)
		return
	}
	fresh := new(wor.Request)
	*fresh = q
	m.ask(i, fresh, out)
}

// missing returns the next request for a server.
func (m *machine) missing(i int) (wor.Request, bool) {
	q := m.first
	if m.trimming {
		q.Kind, q.Range.Lo, q.Range.Hi, q.Ballot, q.Value = wor.KindTrim, 0, 0, wor.Ballot{}, nil
		return q, m.tombs>>i&1 == 0
	}
	s := &m.servers[i]
	for at := m.at(s.next); at < len(m.spans) && s.next < m.first.Range.Hi; at++ {
		if !m.spans[at].done {
			q.Range.Lo = max(s.next, m.spans[at].lo)
			return q, true
		}
		s.next = m.spans[at].hi
	}
	if m.kind == wor.KindRead {
		return m.repair(i)
	}
	return q, false
}

// repair returns a write of what some registers hold at the highest ballot, for
// a server that lacks it.
func (m *machine) repair(i int) (wor.Request, bool) {
	s, q := &m.servers[i], m.first
	start := m.at(s.fix)
	for k := range m.spans {
		at := (start + k) % len(m.spans)
		x := &m.spans[at]
		if !x.lacks(i) {
			continue
		}
		q.Kind, q.Ballot, q.Value = wor.KindWrite, x.accepted, x.value
		q.Range.Lo, q.Range.Hi = x.lo, x.hi
		for at++; at < len(m.spans) && m.spans[at].lacks(i) && m.spans[at].same(x); at++ {
			q.Range.Hi = m.spans[at].hi
		}
		return q, true
	}
	return q, false
}

func (m *machine) Expire(out *wor.Outbox) {
	m.sent = false
	if m.done {
		return
	}
	m.expired++
	if m.fast && m.expired >= patience {
		m.settleAll()
	}
	if m.over() {
		m.finish()
		return
	}
	for i := range m.servers {
		if m.servers[i].busy {
			m.more(i, out)
		}
	}
}

// finish makes the result.
func (m *machine) finish() {
	m.done = true
	if m.kind == wor.KindTrim {
		m.fewRuns[0] = wor.Run{Count: 1}
		m.result = m.fewRuns[:]
		return
	}
	r := wor.Reply{Runs: m.fewRuns[:0]}
	for i := range m.spans {
		r.Add(m.spans[i].run())
	}
	m.result = r.Runs
}

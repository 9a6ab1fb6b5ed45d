// SPDX-License-Identifier: Apache-2.0

package chain

import "github.com/ashlar-dev/ashlar/worm/wor"

// Client makes the machines of the protocol. It is a wor.Client.
//
// If the head holds a value other than that of a Write, the write drives the
// head's value down the chain. It answers Conflict or Outbid like any protocol,
// and sets Written: Value is then decided, so the write has failed permanently. A
// later capture shows the same value.
type Client struct{}

var _ wor.Client = Client{}

// Capture implements wor.Client.
func (Client) Capture(n int, r wor.Range, b wor.Ballot) wor.Machine {
	return newCapture(n, r, b)
}

// Write implements wor.Client.
func (Client) Write(n int, r wor.Range, b wor.Ballot, value []byte) wor.Machine {
	return newWrite(n, r, b, value)
}

// Read implements wor.Client.
func (Client) Read(n int, r wor.Range) wor.Machine {
	return newRead(n, r)
}

// Trim implements wor.Client.
func (Client) Trim(n int, s wor.Segment) wor.Machine {
	return &driver{base: base{n: n, span: wor.Range{Segment: s}}, trimming: true}
}

// base is the part that all machines share: the unanswered requests, at most
// one for each server.
type base struct {
	n     int
	span  wor.Range
	first *wor.Request // what Start sends
	step  uint32
	open  []open // by server; made when needed
	runs  []wor.Run
	over  bool
	// moved is the status that prevents the machine from continuing.
	moved wor.Status
}

// open is the request that a server has not answered yet, or nil, and the step at which
// it was first sent. A reply to it may carry a later step.
type open struct {
	request *wor.Request
	since   uint32
}

func (m *base) Step() uint32      { return m.step }
func (m *base) Done() bool        { return m.over }
func (m *base) Result() []wor.Run { return m.runs }
func (m *base) Moved() wor.Status { return m.moved }

// send sends a request and keeps it open until the server answers. If the server
// was sent another request in this round, the caller must begin a new round first.
func (m *base) send(to int, q *wor.Request, out *wor.Outbox) {
	if m.open == nil {
		m.open = make([]open, m.n)
	}
	m.open[to] = open{q, m.step}
	out.Send(to, q)
}

// answered returns the open request of a server to which a reply belongs, and closes it.
// It returns nil if the reply is to an earlier request, if it covers nothing, or if the
// request must be repeated.
func (m *base) answered(from int, step uint32, r *wor.Reply) *wor.Request {
	if m.over || m.moved != wor.StatusOK || from < 0 || from >= len(m.open) || r == nil {
		return nil
	}
	o := m.open[from]
	if o.request == nil || step < o.since || step > m.step {
		return nil
	}
	switch r.Status {
	case wor.StatusOK:
	case wor.StatusSealed, wor.StatusStale, wor.StatusForeign:
		// The operation needs every server that it asks.
		m.moved = r.Status
		return nil
	default:
		return nil
	}
	if r.Covered() == 0 {
		return nil
	}
	m.open[from].request = nil
	return o.request
}

func (m *base) Expire(out *wor.Outbox) {
	if m.over || m.moved != wor.StatusOK {
		return
	}
	for to := range m.open {
		if q := m.open[to].request; q != nil {
			out.Send(to, q)
		}
	}
}

// clip passes the runs of a reply to yield, cut off after most registers, and
// returns the number of registers that it passed.
func clip(r *wor.Reply, most uint32, yield func(wor.Run)) uint32 {
	left := most
	for _, run := range r.Runs {
		if run.Count = min(run.Count, left); run.Count > 0 {
			yield(run)
			left -= run.Count
		}
	}
	return most - left
}

// add appends a run, or extends the last one if they are alike.
func add(runs []wor.Run, run wor.Run) []wor.Run {
	r := wor.Reply{Runs: runs}
	r.Add(run)
	return r.Runs
}

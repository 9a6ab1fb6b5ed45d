// SPDX-License-Identifier: Apache-2.0

package chain

import "github.com/ashlar-dev/ashlar/worm/wor"

// Client makes the machines of the protocol. It is a wor.Client.
//
// Where the head holds another value than a Write's, the write drives that one
// down the chain and answers Conflict or Outbid as any protocol does, and with
// Written: Value is decided then, so that the write has failed for good. A capture
// afterwards shows the same value.
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

// base is what all machines have in common: the requests that are not answered,
// one for each server at most.
type base struct {
	n     int
	span  wor.Range
	first *wor.Request // what Start sends
	step  uint32
	open  []open // by server; made when needed
	runs  []wor.Run
	over  bool
	// moved is why it cannot go on.
	moved wor.Status
}

// open is the request that a server has not answered, nil if there is none, and
// the first step at which it was sent. Replies to it may carry a later one.
type open struct {
	request *wor.Request
	since   uint32
}

func (m *base) Step() uint32      { return m.step }
func (m *base) Done() bool        { return m.over }
func (m *base) Result() []wor.Run { return m.runs }
func (m *base) Moved() wor.Status { return m.moved }

// send opens a request, in a round of its own if the server has been sent another
// in this one.
func (m *base) send(to int, q *wor.Request, out *wor.Outbox) {
	if m.open == nil {
		m.open = make([]open, m.n)
	}
	m.open[to] = open{q, m.step}
	out.Send(to, q)
}

// answered takes a reply to the open request of a server. It is nil if the reply
// is to an earlier one, says nothing, or is to be asked for again.
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
		// Each request is to a server that the operation cannot do without.
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

// clip hands the runs of a reply to yield, but for what exceeds most, and answers
// how many registers it handed over.
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

// add appends a run, or makes the last one longer.
func add(runs []wor.Run, run wor.Run) []wor.Run {
	r := wor.Reply{Runs: runs}
	r.Add(run)
	return r.Runs
}

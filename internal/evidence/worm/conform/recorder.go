// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"errors"
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Recorder makes traces of registers, of one protocol, in one epoch of one partition,
// from the events that it is given. It is for one goroutine at a time.
type Recorder struct {
	protocol  wor.Protocol
	registers []*register
}

// register is one of the recorded registers.
type register struct {
	trace   Trace
	reads   []*Read
	trimmed bool // its trim was begun
}

// Read is a running read.
type Read struct {
	x       *register
	number  int
	client  int
	replies []int // events that are replies which it may have received
}

// NewRecorder returns a Recorder of the registers at these addresses. The protocol
// is wor.Paxos or wor.Chain.
func NewRecorder(p wor.Protocol, addrs ...wor.Addr) *Recorder {
	c := &Recorder{protocol: p}
	for _, a := range addrs {
		c.registers = append(c.registers, &register{trace: Trace{Addr: a}})
	}
	return c
}

// Traces returns the traces so far.
func (c *Recorder) Traces() []*Trace {
	var out []*Trace
	for _, x := range c.registers {
		out = append(out, &x.trace)
	}
	return out
}

func (x *register) add(e Event) int {
	x.trace.Events = append(x.trace.Events, e)
	return len(x.trace.Events) - 1
}

func (c *Recorder) find(a wor.Addr) *register {
	for _, x := range c.registers {
		if x.trace.Addr == a {
			return x
		}
	}
	return nil
}

// Asked records that a client sends a request.
func (c *Recorder) Asked(q *wor.Request) {
	for _, x := range c.registers {
		switch a := x.trace.Addr; {
		case a.Segment != q.Range.Segment:
		case q.Kind == wor.KindTrim && !x.trimmed:
			x.trimmed = true
			x.add(Event{Kind: DecideTrim})
		case q.Kind == wor.KindWrite && c.protocol != wor.Chain && a.Offset >= q.Range.Lo && a.Offset < q.Range.Hi:
			x.add(Event{Kind: Propose, Ballot: q.Ballot, Value: string(q.Value)})
		}
	}
}

// Answered records a server's reply, once it is durable, to a client's request. Server is
// the server's place, from 1. The replies of a server must be given in the order in which
// it made them.
func (c *Recorder) Answered(server, client int, q *wor.Request, r *wor.Reply) {
	if r.Status != wor.StatusOK {
		return
	}
	if q.Kind == wor.KindTrim {
		for _, x := range c.registers {
			if x.trace.Addr.Segment == q.Range.Segment {
				x.add(Event{Kind: Tombstone, Server: server})
			}
		}
		return
	}
	off := q.Range.Lo
	for i := range r.Runs {
		for range r.Runs[i].Count {
			if x := c.find(wor.Addr{Segment: q.Range.Segment, Offset: off}); x != nil {
				c.answered(x, server, client, q, &r.Runs[i])
			}
			off++
		}
	}
}

func (c *Recorder) answered(x *register, server, client int, q *wor.Request, run *wor.Run) {
	e := Event{
		Server: server, Ballot: q.Ballot, Written: run.Written, Accepted: run.Accepted, Promised: run.Promised, Value: string(run.Value),
	}
	switch q.Kind {
	case wor.KindCapture:
		e.Kind = Promise
		if c.protocol == wor.Chain && run.Status == wor.StatusOK && run.Written {
			e.Kind = Show
		}
	case wor.KindWrite:
		e.Kind, e.Value = Accept, string(q.Value)
	case wor.KindRead, wor.KindListen:
		e.Kind = Show
	default:
		return
	}
	switch run.Status {
	case wor.StatusOutbid:
		e.Kind = Outbid
	case wor.StatusConflict:
		if e.Kind = Conflict; c.protocol == wor.Chain {
			e.Kind = Other
		}
	case wor.StatusTrimmed:
		e.Kind = Gone
	}
	i := x.add(e)
	if q.Kind != wor.KindRead {
		return
	}
	for _, r := range x.reads {
		if r.client == client {
			r.replies = append(r.replies, i)
		}
	}
}

// Told records the result of a client's write: nil or an error.
func (c *Recorder) Told(a wor.Addr, value string, err error) {
	x := c.find(a)
	if x == nil {
		return
	}
	var written *wor.WrittenError
	switch {
	case err == nil:
		x.add(Event{Kind: Acknowledge, Value: value})
	case errors.Is(err, wor.ErrUnknown):
	case errors.Is(err, wor.ErrTrimmed):
		x.add(Event{Kind: Bury})
	case errors.As(err, &written):
		x.add(Event{Kind: Find, Value: string(written.Value)})
	}
}

// Begin records that a client begins to read this register; the client must have no other
// running read of it.
func (c *Recorder) Begin(client int, a wor.Addr) *Read {
	x := c.find(a)
	n := 1
	for i := range x.trace.Events {
		if x.trace.Events[i].Kind == BeginRead {
			n++
		}
	}
	r := &Read{x: x, client: client, number: n}
	x.reads = append(x.reads, r)
	x.add(Event{Kind: BeginRead, Reader: r.number})
	return r
}

// End records the result of a read. It chooses, among the replies of servers that
// arrived meanwhile, those that the specification's read may have received.
func (c *Recorder) End(r *Read, value string, err error) {
	x := r.x
	x.reads = slices.DeleteFunc(x.reads, func(y *Read) bool { return y == r })
	e := Event{Kind: EndRead, Reader: r.number, Value: value}
	switch {
	case err == nil:
	case errors.Is(err, wor.ErrUnwritten):
		e.Answer = unwritten
	case errors.Is(err, wor.ErrTrimmed):
		e.Answer = trimmed
	default:
		return // it showed nothing
	}
	chosen, ok := x.choose(c.protocol, r.replies, &e)
	if !ok {
		e.Kind = Reread
	}
	// Each reply becomes the reader's, at the event at which the server gave it.
	for _, i := range slices.Backward(chosen) {
		s := x.trace.Events[i]
		reply := Event{Kind: Reply, Reader: r.number, Server: s.Server, Written: s.Written, Accepted: s.Accepted, Value: s.Value}
		if s.Kind == Gone {
			reply.Answer = trimmed
		}
		x.insert(i+1, reply)
	}
	x.add(e)
}

// insert inserts an event; the positions in running reads are adjusted.
func (x *register) insert(at int, e Event) {
	x.trace.Events = slices.Insert(x.trace.Events, at, e)
	for _, r := range x.reads {
		for k, i := range r.replies {
			if i >= at {
				r.replies[k] = i + 1
			}
		}
	}
}

// majority of the three servers in the models.
const majority = 2

// choose finds at most one reply of each server that together allow the end of a
// read, in their order.
func (x *register) choose(p wor.Protocol, replies []int, end *Event) ([]int, bool) {
	if p == wor.Chain && end.Answer == "" {
		return nil, true // the tail has the value
	}
	// by has, per server, the replies that it gave.
	by := map[int][]int{}
	for _, i := range replies {
		by[x.trace.Events[i].Server] = append(by[x.trace.Events[i].Server], i)
	}
	options := func(s int) []int { return append([]int{-1}, by[s]...) }
	var best []int
	for _, a := range options(1) {
		for _, b := range options(2) {
			for _, d := range options(3) {
				set := slices.DeleteFunc([]int{a, b, d}, func(i int) bool { return i < 0 })
				if slices.Sort(set); best == nil && x.allows(p, set, end) {
					best = set
				}
			}
		}
	}
	return best, best != nil
}

// allows reports whether replies allow the end of a read, as far as they can.
func (x *register) allows(p wor.Protocol, set []int, end *Event) bool {
	need := majority
	if p == wor.Chain {
		need = 3
	}
	graves := 0
	var top *Event
	for _, i := range set {
		e := &x.trace.Events[i]
		if e.Kind == Gone {
			graves++
		} else if e.Written && (top == nil || top.Accepted.Less(e.Accepted)) {
			top = e
		}
	}
	switch {
	case end.Answer == trimmed:
		return graves > 0
	case graves > 0 || len(set) < need:
		return false
	case end.Answer == unwritten:
		return top == nil
	}
	return top != nil && top.Value == end.Value && x.accepted(top.Accepted) >= majority
}

// accepted counts the servers that have accepted at a ballot.
func (x *register) accepted(b wor.Ballot) int {
	var by []int
	for i := range x.trace.Events {
		if e := &x.trace.Events[i]; e.Kind == Accept && e.Ballot == b && !slices.Contains(by, e.Server) {
			by = append(by, e.Server)
		}
	}
	return len(by)
}

// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"slices"
	"sync"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
)

// lane is the way to one other node: what is kept for it, and the connection, if
// there is one that may be written to. All of it belongs to its lock, but held, which
// is the step's.
type lane struct {
	mu     sync.Mutex
	out    wire.Outbox
	conn   sender // nil: there is none, or it is not welcomed
	window int
	full   bool // the connection takes nothing until Drained
	gap    bool // a message was dropped
	// counted is what clients.outputs has of it, where it is a client's.
	counted int
	heavy   bool // is counted in peers.heavy
	held    bool // the step has the lock
	peer    *peer
	// stranger: a client that has never come, and may be none.
	stranger bool
}

// sender is a connection that is up: a *link.Client or a *link.Session.
type sender interface {
	Send(frame []byte) error
	Drop(why error)
}

// waiting is how many bytes a node that is connected has to come.
func (l *lane) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return 0
	}
	return l.out.Bytes()
}

// flush writes what may be written. An error ends the connection.
func (l *lane) flush(c *Counts) {
	if l.conn == nil || l.full {
		return
	}
	l.out.Seal()
	for {
		b := l.out.Next(l.window)
		if b == nil {
			return
		}
		switch err := l.conn.Send(b); {
		case errors.Is(err, env.ErrFull):
			l.full = true
			return
		case err != nil:
			l.conn.Drop(err)
			l.conn = nil
			return
		}
		c.BytesSent += uint64(len(b))
		c.Batches++
		l.out.Sent()
	}
}

// route puts what was sent into the outboxes and writes it, all or, with only, what
// is for these nodes.
func (h *Host) route(sent []rt.Sent, only func(node string) bool) {
	s := &h.step
	s.touched = s.touched[:0]
	lost := ""
	h.clients.Lock()
	for i := range sent {
		m := &sent[i]
		if only != nil && !only(m.To) {
			continue
		}
		l := h.way(m)
		if l == nil {
			continue
		}
		if !l.held {
			l.mu.Lock()
			l.held = true
			s.touched = append(s.touched, l)
		}
		if h.mayHave(l) && l.out.Add(m.Relation, m.Row) {
			s.counts.Sent++
			if l.peer == nil {
				h.weigh(l)
			}
			continue
		}
		if l.stranger {
			s.counts.Unclaimed++
			continue
		}
		s.counts.Dropped++
		if l.peer != nil && slices.Contains(h.opt.Pieces, l.peer.node) {
			lost = l.peer.node
			continue
		}
		if !l.gap {
			l.gap = true
			h.mark("dedalus/host dropped")
		}
	}
	for _, l := range s.touched {
		if l.peer != nil {
			l.peer.dial()
		}
		l.flush(&s.counts)
		h.weigh(l)
		l.held = false
		l.mu.Unlock()
	}
	h.clients.Unlock()
	if lost != "" {
		h.incarnation.lose(lost)
	}
	if len(s.self) == 0 {
		return
	}
	h.inbox.putSelf(s.self)
	s.self = s.self[:0]
	h.waker.Wake()
}

// way is the link that a message takes; nil when it takes none: to this instance
// itself, or to no node that there is. The clients' lock is held.
func (h *Host) way(m *rt.Sent) *lane {
	s := &h.step
	if len(m.Row) > wire.RowMax {
		s.counts.TooLong++
		return nil
	}
	if h.opt.Program.Relations[m.Relation].Kind == rt.Output {
		l := h.clients.way(m.To)
		if l == nil {
			s.counts.Unclaimed++
		}
		return l
	}
	if p := h.peers.get(m.To); p != nil {
		return &p.lane
	}
	if m.To == h.opt.Who.Node {
		s.self = wire.AppendMessage(s.self, m.Relation, m.Row)
		s.counts.Sent++
		return nil
	}
	s.counts.Unclaimed++
	return nil
}

// mayHave reports whether there is room for more on a link, but for its own limit. Its
// lock is held.
func (h *Host) mayHave(l *lane) bool {
	return l.peer != nil || l.out.Bytes() <= strangerQueueMax || h.clients.hasRoom()
}

// weigh notes whether inputs have to wait for a link, and how much waits for clients.
// Its lock is held.
func (h *Host) weigh(l *lane) {
	if l.peer == nil {
		h.clients.weigh(l)
		return
	}
	heavy := l.conn != nil && l.out.Bytes() > h.opt.QueueMax/2
	if heavy == l.heavy {
		return
	}
	l.heavy = heavy
	if heavy {
		h.peers.press()
		h.mark("dedalus/host inputs wait")
		return
	}
	if h.peers.relieve() {
		h.waker.Wake()
	}
}

// acked notes what the other side is done with, goes on writing, and says that the
// node is to be sent all that holds, when something was dropped and there is room
// again. The lock is held.
func (l *lane) acked(seq uint64, c *Counts) (resend bool, err error) {
	if err := l.out.Ack(seq); err != nil {
		return false, err
	}
	l.flush(c)
	resend = l.gap && l.out.Bytes() == 0
	if resend {
		l.gap = false
	}
	return resend, nil
}

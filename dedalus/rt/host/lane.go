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

// lane is the sending side towards one other node: the messages queued for the node,
// and the connection, if one is up. Its lock guards every field except held, which
// only the step uses.
type lane struct {
	mu     sync.Mutex
	out    wire.Outbox
	conn   sender // nil: there is none, or it is not welcomed
	window int
	full   bool // the connection takes nothing until Drained
	gap    bool // a message was dropped
	// counted is the share of this lane in clients.outputs, if the node is a
	// client.
	counted int
	heavy   bool // is counted in peers.heavy
	held    bool // the step has the lock
	peer    *peer
	// stranger marks a client that has never connected, and may not exist.
	stranger bool
}

// sender is a connection that is up: a *link.Client or a *link.Session.
type sender interface {
	Send(frame []byte) error
	Drop(why error)
}

// waiting returns the number of bytes queued for the node, 0 if it is not
// connected.
func (l *lane) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return 0
	}
	return l.out.Bytes()
}

// flush writes as many batches as the window and the connection accept. An
// error ends the connection.
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

// route queues the messages of a tick and flushes the lanes. If only is not nil,
// route skips messages to nodes for which it returns false.
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

// way returns the lane for a message. It returns nil for a message to this
// instance itself, which it stores in step.self, and for one that it drops,
// because the receiver does not exist or the row is too long. The clients' lock
// is held.
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

// mayHave reports whether the limit on outputs of all clients admits more for this
// lane. The lane's own limit is checked by its outbox. The lane's lock is held.
func (h *Host) mayHave(l *lane) bool {
	return l.peer != nil || l.out.Bytes() <= strangerQueueMax || h.clients.hasRoom()
}

// weigh updates the number of peers that make inputs wait, or the number of bytes
// queued for clients. The lane's lock is held.
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

// acked removes the acknowledged batches from the outbox and continues writing.
// resend is true if a message was dropped earlier and the outbox is now empty: the
// caller must then send the node everything that holds. The lock is held.
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

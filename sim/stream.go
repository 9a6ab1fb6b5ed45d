// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"io"
	"syscall"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// The reasons for the end of a connection, besides env.ErrClosed and the errors
// of the system.
var (
	errEnd     = io.EOF
	errTimeout = errors.New("connection timed out")
)

// end is one side of a connection. Its pending events wait in its inbox, in
// order; for each item an event is scheduled, at or after the item's due time,
// or a blocked link holds the item. Bytes stay with the end that wrote them
// until the other side's handler has received them.
type end struct {
	life          *Life
	h             env.Handler // nil: not accepted yet
	local, remote env.Addr
	peer          *end // nil: not connected yet
	connected     bool // the handler knows of the connection
	state         state

	inbox []item
	held  int // events that a blocked link keeps

	buf      []byte // written, and not yet taken by the peer, from head on
	head     int
	unsent   int         // of those at the end, what waits for the connection
	last     env.Instant // nothing arrives at this end before
	full     bool        // a Write has met ErrFull
	watched  bool        // the write timeout is running
	progress env.Instant // when the peer took something last
	silent   bool        // the life has ended and the peer got no notice
	written  uint64      // the event in which the life wrote last
}

type state uint8

const (
	open state = iota
	ending
	over // the handler gets no further calls
)

type item struct {
	what what
	n    int // bytes of the peer's buf
	due  env.Instant
	err  error
	here bool // comes from this side: no link holds it
}

type what uint8

const (
	opened what = iota
	data
	drained
	closed
)

var _ env.Conn = (*end)(nil)

// Local implements Conn.
func (e *end) Local() env.Addr {
	if !e.connected {
		return ""
	}
	return e.local
}

// Remote implements Conn.
func (e *end) Remote() env.Addr { return e.remote }

// push puts an item into the inbox and schedules it.
func (e *end) push(it item) {
	if e.state == over || e.life.dead || e.state == ending && !it.here {
		return
	}
	it.due = max(it.due, e.last)
	e.last = it.due
	e.inbox = append(e.inbox, it)
	e.life.node.w.at(max(it.due, e.life.node.w.now), e.life, e)
}

// finish ends the connection from this side: the handler gets Closed, and
// pending items are dropped.
func (e *end) finish(at env.Instant, err error) {
	if e.state != open {
		return
	}
	e.state = ending
	e.inbox, e.last = e.inbox[:0], 0
	e.push(item{what: closed, due: at, err: err, here: true})
}

// toPeer returns when n bytes that are sent now have arrived at the peer.
func (e *end) toPeer(bytes int) env.Instant {
	n := e.life.node
	return n.w.transmission(n.w.link(n, e.peer.life.node), n.leaves(e.life.now(), bytes))
}

// Write implements Conn.
func (e *end) Write(b []byte) error {
	if e.state != open || e.life.dead {
		return env.ErrClosed
	}
	w := e.life.node.w
	if e.life.suspend() {
		defer e.life.resume()
		e.wrote(len(b))
	}
	if used := len(e.buf) - e.head; used > 0 && used+len(b) > w.opt.WriteBuffer {
		e.full = true
		return env.ErrFull
	}
	if len(b) == 0 {
		return nil
	}
	if e.head == len(e.buf) {
		e.progress = e.life.now()
	}
	// A handler that has just been given the part before head, and that writes,
	// may still read it: leave it in place as long as there is room.
	if cap(e.buf)-len(e.buf) < len(b) && e.head > 0 {
		e.buf, e.head = append(make([]byte, 0, 2*(len(e.buf)-e.head+len(b))), e.buf[e.head:]...), 0
	}
	e.buf = append(e.buf, b...)
	e.unsent += len(b)
	if e.peer != nil && e.connected {
		e.send()
	}
	return nil
}

// send transmits what is waiting.
func (e *end) send() {
	n := e.unsent
	if n == 0 {
		return
	}
	e.unsent = 0
	w := e.life.node.w
	if e.peer.silent {
		e.probe()
	} else {
		e.peer.push(item{what: data, n: n, due: e.toPeer(n)})
	}
	if !e.watched {
		e.watched = true
		w.at(e.progress.Add(w.opt.WriteTimeout), e.life, (*watch)(e))
	}
}

// watch is the write timeout of an end.
type watch end

func (t *watch) idle() bool { return (*end)(t).state != open }

func (t *watch) happen() {
	e := (*end)(t)
	w := e.life.node.w
	e.watched = false
	limit := e.progress.Add(w.opt.WriteTimeout)
	switch {
	case e.head == len(e.buf):
	case limit <= w.now:
		w.note(evTimer, e.life.node, 1, 0, "write timeout")
		e.finish(w.now, errTimeout)
		e.lose()
	default:
		e.watched = true
		w.at(limit, e.life, t)
	}
}

// lose ends a connection without notice to the peer, which finds out when it
// writes.
func (e *end) lose() {
	e.silent = true
	if e.peer != nil && !e.peer.life.dead && e.peer.state == open {
		e.life.node.orphans = append(e.life.node.orphans, e.peer)
	}
}

// probe is a write to a peer that is gone: if its machine is up and reachable,
// the machine answers that it does not know the connection.
func (e *end) probe() {
	n, to := e.life.node, e.peer.life.node
	w := n.w
	there, back := w.link(n, to), w.link(to, n)
	if to.dark || there.blocked > 0 || back.blocked > 0 {
		return
	}
	e.finish(w.transmission(back, w.transmission(there, e.life.now())), syscall.ECONNRESET)
}

// wakeOrphans notifies the ends that have written to the node's previous life
// and got no answer.
func (n *Node) wakeOrphans() {
	orphans := n.orphans
	n.orphans = nil
	for _, e := range orphans {
		if e.state != open || e.life.dead {
			continue
		}
		if e.head < len(e.buf) {
			e.probe()
		}
		if e.state == open {
			n.orphans = append(n.orphans, e)
		}
	}
}

// orphan handles the end of the life, with or without notice to the peer.
func (e *end) orphan(power bool) {
	if e.state == over {
		return
	}
	was := e.state
	e.state = over
	e.inbox = nil
	w := e.life.node.w
	if e.peer == nil || was == ending {
		return
	}
	if power || w.strikes(HalfOpen, e.life.node) {
		e.lose()
		return
	}
	e.peer.push(item{what: closed, due: e.toPeer(0), err: syscall.ECONNRESET})
}

// Close implements Conn.
func (e *end) Close() {
	if e.state != open || e.life.dead {
		return
	}
	w := e.life.node.w
	if p := e.peer; p != nil && !p.silent {
		if p.state == open && w.strikes(Reset, e.life.node) {
			p.forgetTail(env.IntN(w.chance[Reset], len(e.buf)-e.head+1))
		}
		p.push(item{what: closed, due: e.toPeer(0), err: errEnd})
	}
	e.finish(e.life.now(), env.ErrClosed)
}

// forgetTail removes the last bytes from the inbox.
func (e *end) forgetTail(n int) {
	for i := len(e.inbox) - 1; i >= 0 && n > 0; i-- {
		it := &e.inbox[i]
		if it.what != data {
			return
		}
		k := min(n, it.n)
		it.n -= k
		n -= k
	}
}

func (e *end) idle() bool { return len(e.inbox) == 0 || e.state == over }

// happen delivers the next item to the handler.
func (e *end) happen() {
	n := e.life.node
	w := n.w
	if e.h == nil {
		return // catchUp schedules it again
	}
	it := e.inbox[0]
	if it.due > w.now { // a later item was put in front of the one that the event was for
		w.at(it.due, e.life, e)
		return
	}
	if e.peer != nil && !it.here {
		if l := w.link(e.peer.life.node, n); l.blocked > 0 {
			if e.held == 0 {
				l.parked = append(l.parked, e)
			}
			e.held++
			return
		}
	}
	copy(e.inbox, e.inbox[1:])
	e.inbox = e.inbox[:len(e.inbox)-1]
	switch it.what {
	case opened:
		e.connected = true
		e.progress = w.now
		w.note(evOpened, n, 0, 0, string(e.remote))
		e.send()
		e.life.resume()
		e.h.Opened(e)
	case data:
		e.take(it.n)
	case drained:
		w.note(evDrained, n, 0, 0, "")
		e.life.resume()
		e.h.Drained(e)
	case closed:
		e.state = over
		e.leave()
		w.note(evClosed, n, 0, 0, it.err.Error())
		e.life.resume()
		e.h.Closed(e, it.err)
	}
}

// catchUp schedules what arrived before the connection was accepted.
func (e *end) catchUp() {
	for range e.inbox {
		e.life.node.w.at(e.life.now(), e.life, e)
	}
}

// leave drops ends that are over.
func (e *end) leave() {
	l := e.life
	for i, x := range l.ends {
		if x == e {
			copy(l.ends[i:], l.ends[i+1:])
			l.ends[len(l.ends)-1] = nil
			l.ends = l.ends[:len(l.ends)-1]
			return
		}
	}
}

// take delivers bytes to the handler: an item, a part of it, more, or a part
// before a reset.
func (e *end) take(n int) {
	p := e.peer
	w := e.life.node.w
	if n == 0 {
		return
	}
	if e.life.metered() {
		n = e.gather(n)
	}
	invariant.Check(n <= len(p.buf)-p.head-p.unsent, "%d bytes arrive of %d", n, len(p.buf)-p.head)
	if w.strikes(Reset, e.life.node) {
		n = env.IntN(w.chance[Reset], n+1)
		e.finish(w.now, syscall.ECONNRESET)
		p.push(item{what: closed, due: w.transit(w.link(e.life.node, p.life.node), w.now), err: syscall.ECONNRESET})
	} else if e.state == open && (n > 1 || len(e.inbox) > 0) && w.strikes(Fragment, e.life.node) {
		n = e.fragment(n)
	}
	b := p.buf[p.head : p.head+n : p.head+n]
	p.head += n
	p.progress = w.now
	w.note(evData, e.life.node, uint64(n), digest(b), "")
	if used := len(p.buf) - p.head; p.full && p.state == open && !p.life.dead && used <= w.opt.WriteBuffer/2 {
		p.full = false
		p.overtake(item{what: drained, due: w.transit(w.link(e.life.node, p.life.node), w.now), here: true})
	}
	if p.head == len(p.buf) {
		// The bytes stay where they are until the next write after this event.
		p.buf, p.head = p.buf[len(p.buf):], 0
	}
	if n > 0 {
		e.life.resume()
		e.h.Data(e, b)
	}
}

// overtake is push for items that do not travel in the stream: they may arrive
// before data sent earlier.
func (e *end) overtake(it item) {
	w := e.life.node.w
	at := it.due
	e.inbox = append([]item{it}, e.inbox...)
	e.inbox[0].due = w.now
	w.at(at, e.life, e)
}

// fragment chooses how many bytes arrive where n were sent together: fewer,
// with the rest later; or more, with other data that is due.
func (e *end) fragment(n int) int {
	w := e.life.node.w
	r := w.chance[Fragment]
	if len(e.inbox) > 0 && e.inbox[0].what == data && e.inbox[0].due <= w.now && chance(r, 0.5) {
		n += e.inbox[0].n
		e.inbox[0].n = 0 // its event finds nothing to do
		return n
	}
	if n == 1 {
		return n
	}
	k := 1 + env.IntN(r, n-1)
	due := w.now.Add(between(r, 0, w.opt.LatencyMax))
	e.inbox = append([]item{{what: data, n: n - k, due: due}}, e.inbox...)
	e.last = max(e.last, due)
	w.at(due, e.life, e)
	return k
}

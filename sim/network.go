// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// Times of the network.
const (
	// retransmit is the first wait before a stream sends again after a loss; it
	// doubles with each further loss.
	retransmit = 200 * time.Millisecond
	// attempt is the wait before a dial tries again.
	attempt = time.Second
	// tail is the longest delay of a transmission, as a multiple of the
	// latency.
	tail = 100
)

// link is the path from one node to another.
type link struct {
	from, to *Node
	blocked  int         // partitions that cut it
	clogged  env.Instant // nothing arrives before
	parked   []*end      // whose next item waits for the link
}

func (w *World) link(from, to *Node) *link {
	for len(from.to) <= to.id {
		from.to = append(from.to, nil)
	}
	if from.to[to.id] == nil {
		from.to[to.id] = &link{from: from, to: to}
	}
	return from.to[to.id]
}

// transit returns when something that departs now arrives.
func (w *World) transit(l *link, depart env.Instant) env.Instant {
	d := between(w.latency, w.opt.LatencyMin, w.opt.LatencyMax)
	if l.from == l.to {
		return depart.Add(d / 10)
	}
	if w.strikes(Delay, l.from) {
		d += time.Duration(env.IntN(w.chance[Delay], tail)) * w.opt.LatencyMax
	}
	return max(depart, l.clogged).Add(d)
}

// transmission is transit for a stream, which retransmits lost data.
func (w *World) transmission(l *link, depart env.Instant) env.Instant {
	wait := retransmit
	for l.from != l.to && wait < 16*retransmit && w.strikes(Drop, l.from) {
		depart = depart.Add(wait)
		wait *= 2
	}
	return w.transit(l, depart)
}

// cut is a partition: links that are blocked until it heals.
type cut struct {
	w     *World
	links []*link
	over  bool
}

func (c *cut) idle() bool { return c.over }

// happen ends the cut after its time.
func (c *cut) happen() {
	c.w.note(evHeal, nil, uint64(len(c.links)), 0, "")
	c.heal()
}

func (c *cut) heal() {
	if c.over {
		return
	}
	c.over = true
	for _, l := range c.links {
		l.blocked--
		if l.blocked == 0 {
			c.w.release(l)
		}
	}
	for i, other := range c.w.cuts {
		if other == c {
			c.w.cuts = append(c.w.cuts[:i:i], c.w.cuts[i+1:]...)
			break
		}
	}
}

// release lets the transmissions that wait for a link continue, each when it is
// retransmitted.
func (w *World) release(l *link) {
	parked := l.parked
	l.parked = nil
	for _, e := range parked {
		for range e.held {
			w.at(w.now.Add(between(w.latency, 0, retransmit)), e.life, e)
		}
		e.held = 0
	}
}

// Partition blocks everything sent from a node of group a to one of group b
// and, unless oneWay, the reverse. The function that it returns heals the
// partition.
func (w *World) Partition(a, b []*Node, oneWay bool) (heal func()) {
	return w.cut(a, b, oneWay).heal
}

func (w *World) cut(a, b []*Node, oneWay bool) *cut {
	c := &cut{w: w}
	for _, x := range a {
		for _, y := range b {
			if x == y {
				continue
			}
			c.links = append(c.links, w.link(x, y))
			if !oneWay {
				c.links = append(c.links, w.link(y, x))
			}
		}
	}
	for _, l := range c.links {
		l.blocked++
	}
	w.cuts = append(w.cuts, c)
	return c
}

// Clog holds everything sent from one node to another for d.
func (w *World) Clog(from, to *Node, d time.Duration) {
	l := w.link(from, to)
	l.clogged = max(l.clogged, w.now.Add(d))
}

// network is a life's Network.
type network Life

var _ env.Network = (*network)(nil)

type listener struct {
	life   *Life
	addr   env.Addr
	accept func(env.Conn) env.Handler
}

// firstPort is the first port that is chosen for port 0.
const firstPort = 40_000

// host splits an address into the node and the port.
func host(a env.Addr) (name, port string) {
	i := strings.LastIndexByte(string(a), ':')
	if i < 0 {
		return string(a), ""
	}
	return string(a[:i]), string(a[i+1:])
}

// here returns an address on this node for the requested one.
func (n *Node) here(asked env.Addr) (env.Addr, error) {
	name, p := host(asked)
	if name != "" && name != n.name {
		return "", fmt.Errorf("listen %s: on node %s: %w", asked, n.name, syscall.EADDRNOTAVAIL)
	}
	if p == "" {
		return "", fmt.Errorf("listen %s: the port is missing", asked)
	}
	if p == "0" {
		n.ports++
		p = fmt.Sprint(firstPort + n.ports)
	}
	return env.Addr(n.name + ":" + p), nil
}

// Listen implements env.Network. The host must be the node's name or empty.
func (s *network) Listen(asked env.Addr, accept func(env.Conn) env.Handler) (env.Listener, error) {
	l := (*Life)(s)
	if l.dead {
		return nil, fmt.Errorf("listen %s: %w", asked, env.ErrClosed)
	}
	addr, err := l.node.here(asked)
	if err != nil {
		return nil, err
	}
	if l.node.listens[addr] != nil {
		return nil, fmt.Errorf("listen %s: %w", addr, syscall.EADDRINUSE)
	}
	ln := &listener{l, addr, accept}
	l.node.listens[addr] = ln
	return ln, nil
}

// Addr implements Listener.
func (ln *listener) Addr() env.Addr { return ln.addr }

// Close implements Listener.
func (ln *listener) Close() error {
	if n := ln.life.node; n.listens[ln.addr] == ln {
		delete(n.listens, ln.addr)
	}
	return nil
}

// dial is a connection being established.
type dial struct {
	from     *end
	to       env.Addr
	deadline env.Instant
}

// Dial implements Network.
func (s *network) Dial(addr env.Addr, h env.Handler) env.Conn {
	l := (*Life)(s)
	w := l.node.w
	e := &end{life: l, h: h, remote: addr}
	if l.dead {
		e.state = over
		return e
	}
	l.ends = append(l.ends, e)
	d := &dial{from: e, to: addr, deadline: l.now().Add(w.opt.DialTimeout)}
	if w.strikes(Refuse, l.node) {
		e.finish(l.now().Add(w.opt.LatencyMax), syscall.ECONNREFUSED)
		return e
	}
	if w.strikes(Blackhole, l.node) {
		e.finish(d.deadline, errTimeout)
		return e
	}
	d.try(l.now())
	return e
}

// try sends the first packet of a connection.
func (d *dial) try(depart env.Instant) {
	w := d.from.life.node.w
	name, _ := host(d.to)
	to := w.named[name]
	if to == nil {
		d.from.finish(depart.Add(w.opt.LatencyMax), fmt.Errorf("dial %s: no such host", d.to))
		return
	}
	w.at(w.transmission(w.link(d.from.life.node, to), depart), nil, d)
}

func (d *dial) idle() bool { return d.from.state != open }

// happen is the arrival of the first packet at the destination.
func (d *dial) happen() {
	e := d.from
	n := e.life.node
	w := n.w
	name, _ := host(d.to)
	to := w.named[name]
	there, back := w.link(n, to), w.link(to, n)
	if there.blocked > 0 || back.blocked > 0 || to.dark {
		if next := w.now.Add(attempt); next < d.deadline {
			w.at(next, nil, d)
		} else {
			e.finish(max(d.deadline, w.now), errTimeout)
		}
		return
	}
	arrives := w.transmission(back, w.now)
	ln := to.listens[d.to]
	if ln == nil {
		e.finish(arrives, syscall.ECONNREFUSED)
		return
	}
	w.note(evDial, to, 0, 0, "")
	n.ports++
	e.local = env.Addr(fmt.Sprintf("%s:%d", n.name, firstPort+n.ports))
	s := &end{life: ln.life, local: d.to, remote: e.local, peer: e, connected: true, last: w.now}
	e.peer, e.last = s, arrives
	e.push(item{what: opened, due: arrives})
	ln.life.ends = append(ln.life.ends, s)
	// A paused node accepts when it resumes.
	w.at(w.now, ln.life, &accepting{ln, s})
}

// accepting is a connection that has come in.
type accepting struct {
	ln *listener
	s  *end
}

func (a *accepting) idle() bool { return a.s.state != open }

func (a *accepting) happen() {
	s := a.s
	n := s.life.node
	n.w.note(evDial, n, 1, 0, string(s.local))
	if n.listens[s.local] != a.ln {
		s.refuse(syscall.ECONNRESET)
		return
	}
	s.life.resume()
	h := a.ln.accept(s)
	s.life.suspend()
	s.h = h
	if h == nil && s.state == open {
		s.refuse(errEnd)
		return
	}
	s.catchUp()
}

// refuse ends a connection that has no handler.
func (e *end) refuse(err error) {
	e.peer.push(item{what: closed, due: e.toPeer(0), err: err})
	e.state = over
	e.leave()
}

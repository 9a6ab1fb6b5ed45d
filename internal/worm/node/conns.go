// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
)

// Limits on unknown clients. The bounds of one connection are in Options; those
// here are about many connections, and about time: a frame must be complete
// within FrameWithin of its first byte, all unfinished frames together take at
// most PartialMax, one host has at most HostConnsMax of the connections, and a
// new connection without room replaces one that has been idle for a while. If a
// connection must be ended, it is one of the host that has the most.

// conns are the connections of a server, and what they take together. Server.mu
// guards them.
type conns struct {
	s       *Server
	all     []*conn
	touched []*conn        // to be flushed at the end of the turn
	hosts   map[string]int // connections of each
	load    int            // bytes that wait
	partial int            // bytes of unfinished frames
}

// accept accepts a connection.
func (n *conns) accept(nc env.Conn) env.Handler {
	s := n.s
	s.mu.Lock()
	defer s.mu.Unlock()
	from := host(nc.Remote())
	if s.closed || s.drain.underway() || s.failed != nil || !n.room(from) {
		s.counts.TurnedAway++
		return nil
	}
	n.hosts[from]++
	c := &conn{s: s, conn: nc, place: len(n.all), host: from, active: s.opt.Env.Clock.Now()}
	c.slow.due = c.late
	c.greet.due = func() { c.end(errors.New("no hello came")) }
	n.all = append(n.all, c)
	s.counts.Accepted++
	s.wheel.add(&c.greet, s.opt.Env.Clock.Now().Add(s.opt.HelloWithin))
	return c
}

// remove drops a connection that has ended.
func (n *conns) remove(c *conn) {
	if n.hosts[c.host]--; n.hosts[c.host] == 0 {
		delete(n.hosts, c.host)
	}
	last := len(n.all) - 1
	n.all[c.place] = n.all[last]
	n.all[c.place].place = c.place
	n.all[last] = nil
	n.all = n.all[:last]
}

// account replaces the bytes that a connection counts for.
func (n *conns) account(c *conn, load, partial int) {
	n.load += load - c.load
	n.partial += partial - c.partial
	c.load, c.partial = load, partial
}

// touch has a connection flushed at the end of the turn.
func (n *conns) touch(c *conn) {
	if !c.touched && !c.closed {
		c.touched = true
		n.touched = append(n.touched, c)
	}
}

// flush passes permitted output to the network, and ends connections that take
// too much.
func (n *conns) flush() {
	for i := 0; i < len(n.touched); i++ {
		c := n.touched[i]
		n.touched[i] = nil
		c.touched = false
		c.flush()
	}
	n.touched = n.touched[:0]
	n.shed()
}

func (n *conns) endAll(err error) {
	for len(n.all) > 0 {
		n.all[len(n.all)-1].end(err)
	}
}

// leave has each connection end when the other side has received everything.
func (n *conns) leave() {
	for _, c := range n.all {
		if !c.leaving {
			c.leaving = true
			if c.said {
				c.now.Ping(0) // the pong confirms that everything has arrived
			}
			c.touch()
		}
	}
}

// count is the number of connections, waiting the bytes that wait on them.
func (n *conns) count() int   { return len(n.all) }
func (n *conns) waiting() int { return n.load }

// host is the part of an address that its owner cannot choose freely.
func host(a env.Addr) string {
	if i := strings.LastIndexByte(string(a), ':'); i >= 0 {
		return string(a)[:i]
	}
	return string(a)
}

// room makes room for a connection from a host, and reports whether there is
// any.
func (n *conns) room(from string) bool {
	s := n.s
	if n.hosts[from] >= s.opt.HostConnsMax {
		return n.vacate(from)
	}
	return len(n.all) < s.opt.ConnsMax || n.vacate("")
}

// vacate ends the connection that was idle longest, of that host or, if it is
// "", of the host with the most idle ones.
func (n *conns) vacate(of string) bool {
	s := n.s
	before := s.opt.Env.Clock.Now().Add(-s.opt.HelloWithin)
	idle := func(c *conn) bool { return c.active < before && len(c.listens) == 0 && c.invokes == 0 && c.load == 0 }
	if of == "" {
		of = n.most(func(c *conn) int {
			if idle(c) {
				return 1
			}
			return 0
		})
	}
	var found *conn
	for _, c := range n.all {
		if c.host == of && idle(c) && (found == nil || c.active < found.active) {
			found = c
		}
	}
	if found == nil {
		return false
	}
	found.end(errIdle)
	return true
}

// most returns the host whose connections have the greatest total weight.
func (n *conns) most(weight func(*conn) int) (host string) {
	sums := map[string]int{}
	for _, c := range n.all {
		sums[c.host] += weight(c)
		if sums[c.host] > sums[host] || sums[c.host] == sums[host] && c.host < host {
			host = c.host
		}
	}
	return host
}

var (
	errIdle  = errors.New("idle, and others want the room")
	errSlow  = errors.New("a frame was not finished in time")
	errParts = errors.New("unfinished frames take too much")
)

// unfinished sets the deadline of an incomplete frame. Another means that it is
// not the same frame as before.
func (c *conn) unfinished(another bool) {
	w := c.s.wheel
	if c.closed || c.scan.Buffered() == 0 {
		w.remove(&c.slow)
		return
	}
	if another || !c.slow.linked() {
		w.remove(&c.slow)
		c.began = c.s.opt.Env.Clock.Now()
		w.add(&c.slow, c.began.Add(c.s.opt.FrameWithin))
	}
}

// late ends a connection whose frame takes too long, unless this side has
// stopped reading from it.
func (c *conn) late() {
	if len(c.stash) > 0 {
		c.unfinished(true)
		return
	}
	c.end(fmt.Errorf("%w: FrameWithin is %v", errSlow, c.s.opt.FrameWithin))
}

// shed ends connections until unfinished frames are within their limit: each
// time, of the host that has most of them, the one begun first.
func (n *conns) shed() {
	s := n.s
	for n.partial > s.opt.PartialMax {
		of := n.most(func(c *conn) int { return c.partial })
		var found *conn
		for _, c := range n.all {
			if c.host == of && c.partial > 0 && (found == nil || c.began < found.began) {
				found = c
			}
		}
		if found == nil {
			return
		}
		found.end(fmt.Errorf("%w: PartialMax is %d", errParts, s.opt.PartialMax))
	}
}

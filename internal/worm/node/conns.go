// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
)

// Limits on unknown clients. The bounds of one connection are in Options; those
// here are about many connections, and about time: a frame must be complete
// within FrameWithin of its first byte, all unfinished frames together take at
// most PartialMax, one network has at most HostConnsMax of the connections, and a
// new connection without room replaces one that has been idle for a while. If a
// connection must be ended, the network that has most idle connections, or most
// bytes of unfinished frames, loses one, and in it the host that has most: a
// machine may have all addresses of an IPv6 network. So a network that has no
// more than an equal share of them loses nothing to others; all hosts of a
// network have one share together.

// conns are the connections of a server, and what they take together. Server.mu
// guards them.
type conns struct {
	s        *Server
	all      []*conn
	touched  []*conn        // to be flushed at the end of the turn
	networks map[string]int // connections of each
	load     int            // bytes that wait
	partial  int            // bytes of unfinished frames
}

// accept accepts a connection.
func (n *conns) accept(nc env.Conn) env.Handler {
	s := n.s
	s.mu.Lock()
	defer s.mu.Unlock()
	host, network := link.Host(nc.Remote())
	if s.closed || s.drain.underway() || s.failed != nil || !n.room(network) {
		s.counts.TurnedAway++
		return nil
	}
	n.networks[network]++
	c := &conn{s: s, conn: nc, place: len(n.all), host: host, network: network, active: s.opt.Env.Clock.Now()}
	c.slow.due = c.late
	c.greet.due = func() { c.end(errors.New("no hello arrived in time")) }
	n.all = append(n.all, c)
	s.counts.Accepted++
	s.wheel.add(&c.greet, s.opt.Env.Clock.Now().Add(s.opt.HelloWithin))
	return c
}

// remove drops a connection that has ended.
func (n *conns) remove(c *conn) {
	if n.networks[c.network]--; n.networks[c.network] == 0 {
		delete(n.networks, c.network)
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

// touch schedules a flush of the connection at the end of the turn.
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

// room makes room for a connection from a network, and reports whether there is
// any.
func (n *conns) room(network string) bool {
	s := n.s
	if n.networks[network] >= s.opt.HostConnsMax {
		return n.vacate(network)
	}
	return len(n.all) < s.opt.ConnsMax || n.vacate("")
}

// vacate ends a connection of that network or, if it is "", of the one with the most idle
// connections: in the host with the most, the one that was idle longest.
func (n *conns) vacate(network string) bool {
	s := n.s
	before := s.opt.Env.Clock.Now().Add(-s.opt.HelloWithin)
	idle := func(c *conn) int {
		if (network == "" || c.network == network) && c.active < before && len(c.listens) == 0 && c.invokes == 0 && c.load == 0 {
			return 1
		}
		return 0
	}
	found := n.first(idle, func(c *conn) env.Instant { return c.active })
	if found == nil {
		return false
	}
	found.end(errIdle)
	return true
}

// first returns the first by time of the connections with a weight, in the host that
// has the greatest total weight, in the network that has.
func (n *conns) first(weight func(*conn) int, time func(*conn) env.Instant) (found *conn) {
	networks, hosts := map[string]int{}, map[string]int{}
	for _, c := range n.all {
		w := weight(c)
		networks[c.network] += w
		hosts[c.host] += w
	}
	for _, c := range n.all {
		if weight(c) == 0 {
			continue
		}
		if found == nil || cmp.Or(
			cmp.Compare(networks[found.network], networks[c.network]),
			cmp.Compare(c.network, found.network),
			cmp.Compare(hosts[found.host], hosts[c.host]),
			cmp.Compare(c.host, found.host),
			cmp.Compare(time(c), time(found))) < 0 {
			found = c
		}
	}
	return found
}

var (
	errIdle  = errors.New("idle, and another connection needs its place")
	errSlow  = errors.New("a frame did not arrive completely in time")
	errParts = errors.New("unfinished frames take too much memory")
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

// shed ends connections until unfinished frames are within their limit: each time, in
// the network and then the host that has most of them, the one begun first.
func (n *conns) shed() {
	s := n.s
	for n.partial > s.opt.PartialMax {
		found := n.first(func(c *conn) int { return c.partial }, func(c *conn) env.Instant { return c.began })
		if found == nil {
			return
		}
		found.end(fmt.Errorf("%w: PartialMax is %d", errParts, s.opt.PartialMax))
	}
}

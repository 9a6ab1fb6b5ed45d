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

// host is the part of an address that its owner cannot choose freely.
func host(a env.Addr) string {
	if i := strings.LastIndexByte(string(a), ':'); i >= 0 {
		return string(a)[:i]
	}
	return string(a)
}

// room makes room for a connection from a host, and reports whether there is
// any.
func (s *Server) room(from string) bool {
	if s.hosts[from] >= s.opt.HostConnsMax {
		return s.vacate(from)
	}
	return len(s.conns) < s.opt.ConnsMax || s.vacate("")
}

// vacate ends the connection that was idle longest, of that host or, if it is
// "", of the host with the most idle ones.
func (s *Server) vacate(of string) bool {
	before := s.opt.Env.Clock.Now().Add(-s.opt.HelloWithin)
	idle := func(c *conn) bool { return c.active < before && len(c.listens) == 0 && c.invokes == 0 && c.load == 0 }
	if of == "" {
		of = s.most(func(c *conn) int {
			if idle(c) {
				return 1
			}
			return 0
		})
	}
	var found *conn
	for _, c := range s.conns {
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
func (s *Server) most(weight func(*conn) int) (host string) {
	sums := map[string]int{}
	for _, c := range s.conns {
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
func (s *Server) shed() {
	for s.partial > s.opt.PartialMax {
		of := s.most(func(c *conn) int { return c.partial })
		var found *conn
		for _, c := range s.conns {
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

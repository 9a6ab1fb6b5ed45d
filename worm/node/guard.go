package node

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
)

// What a stranger may take. A connection has its bounds in Options; those here are
// about many of them, and about time: a frame that was begun is finished within
// FrameWithin, all unfinished frames together take at most PartialMax, one host has at
// most HostConnsMax of the connections, and where there is no room for one more, one
// that has done nothing for a while makes room. Where somebody must go it is somebody
// of the host that has most.

// host is the part of an address that its owner cannot choose at will.
func host(a env.Addr) string {
	if i := strings.LastIndexByte(string(a), ':'); i >= 0 {
		return string(a)[:i]
	}
	return string(a)
}

// room makes room for a connection from a host, and says whether there is some.
func (s *Server) room(from string) bool {
	if s.hosts[from] >= s.opt.HostConnsMax {
		return s.vacate(from)
	}
	return len(s.conns) < s.opt.ConnsMax || s.vacate("")
}

// vacate ends the connection that was idle for longest, of that host, or, if it is
// "", of the host that has most of those that are idle.
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

// most is the host whose connections weigh most together.
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

// unfinished watches over a frame of which a part is there. Another is that it is
// not the same as before.
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

// late ends a connection whose frame takes too long; but not one that this side has
// ceased to listen to.
func (c *conn) late() {
	if len(c.stash) > 0 {
		c.unfinished(true)
		return
	}
	c.end(fmt.Errorf("%w: FrameWithin is %v", errSlow, c.s.opt.FrameWithin))
}

// shed ends connections until unfinished frames take no more than they may: of the
// host that has most of them the one that was begun first.
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

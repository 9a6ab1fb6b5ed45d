package host

import (
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/env"
)

// conns are the connections that others have made. Its lock is taken after that
// of the inbox.
type conns struct {
	h       *Host
	mu      sync.Mutex
	all     []*inconn
	unknown *list.List // those of them without proved identity, in order of arrival
	closed  bool

	// partials is the number of bytes of incomplete frames from clients.
	partials atomic.Int64
}

// add adds a connection, if there is room for it.
func (s *conns) add(c *inconn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.makeRoom() {
		return false
	}
	c.place = len(s.all)
	s.all = append(s.all, c)
	c.nobody = s.unknown.PushBack(c)
	return true
}

// makeRoom reports whether there is room for another connection. If there are
// too many, it ends the oldest unidentified one: an honest peer identifies
// itself at once, and peers that do not must not keep it out. The lock is held.
func (s *conns) makeRoom() bool {
	most := s.h.opt.ConnsMax
	if len(s.all) < most {
		return true
	}
	first := s.unknown.Front()
	if first == nil || len(s.all) >= most+most/4 { // those that are ending
		return false
	}
	c := first.Value.(*inconn)
	s.identify(c)
	c.over.Store(true)
	c.conn.Close()
	s.h.count(&Counts{TurnedAway: 1})
	return true
}

// known records that a connection has proved its identity.
func (s *conns) known(c *inconn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identify(c)
}

// identify is known, with the lock held.
func (s *conns) identify(c *inconn) {
	if c.nobody != nil {
		s.unknown.Remove(c.nobody)
		c.nobody = nil
	}
}

// remove removes a connection that has ended.
func (s *conns) remove(c *inconn) {
	s.partials.Add(int64(-c.partial))
	c.partial = 0
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identify(c)
	last := len(s.all) - 1
	s.all[c.place] = s.all[last]
	s.all[c.place].place = c.place
	s.all[last] = nil
	s.all = s.all[:last]
}

// look ends connections that are silent, do not identify themselves, or leave a
// frame incomplete for too long.
func (s *conns) look(now env.Instant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	opt := &s.h.opt
	for _, c := range s.all {
		// The dialling side pings, so this side hears from it.
		silent := now.Sub(env.Instant(c.heard.Load()))
		begun := c.begun.Load()
		if c.nobody != nil && now.Sub(c.since) > opt.HelloWithin || silent > 2*opt.DeadAfter ||
			begun != 0 && now.Sub(env.Instant(begun)) > opt.FrameWithin {
			c.over.Store(true)
			c.conn.Close()
		}
	}
}

// partial notes that of a frame of a client there are so many bytes more, and returns
// how many there are of all.
func (s *conns) partial(more int) int64 { return s.partials.Add(int64(more)) }

// count is how many connections there are.
func (s *conns) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// close ends all connections, and refuses new ones.
func (s *conns) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.all {
		c.conn.Close()
	}
}

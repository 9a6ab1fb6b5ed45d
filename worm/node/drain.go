package node

// Drain shuts the server down in order: it accepts no more connections and
// answers new requests StatusBusy, finishes running ones, and closes each
// connection when the other side has received everything, or after DrainWithin.
// Then it calls done; the caller must still call Close.
func (s *Server) Drain(done func()) {
	s.mu.Lock()
	defer s.unlock()
	s.drainDone = append(s.drainDone, done)
	if s.draining || s.closed {
		s.drained()
		return
	}
	s.draining = true
	s.wheel.remove(&s.tell)
	s.wheel.add(&s.drainWait, s.opt.Env.Clock.Now().Add(s.opt.DrainWithin))
	if s.listener != nil {
		s.later = append(s.later, func() { _ = s.listener.Close() })
	}
	s.drained()
}

// drained continues a drain when something has ended.
func (s *Server) drained() {
	if !s.draining || len(s.drainDone) == 0 {
		return
	}
	if s.failed == nil && !s.closed && (s.invokes > 0 || s.committed < s.appended || len(s.flying)+len(s.holding) > 0) {
		return
	}
	for _, c := range s.conns {
		if !c.leaving {
			c.leaving = true
			if c.said {
				c.now.Ping(0) // the pong confirms that everything has arrived
			}
			c.touch()
		}
	}
	if len(s.conns) == 0 {
		s.wheel.remove(&s.drainWait)
		s.later = append(s.later, s.drainDone...)
		s.drainDone = nil
	}
}

// drainOver ends the drain at its time limit.
func (s *Server) drainOver() {
	s.endAll(errLeft)
	s.drained()
	if len(s.drainDone) > 0 { // the disk or a service has not finished
		s.later = append(s.later, s.drainDone...)
		s.drainDone = nil
	}
}

// SPDX-License-Identifier: Apache-2.0

package node

// drain is the end of a server in order. Server.mu guards it.
type drain struct {
	s     *Server
	begun bool
	done  []func() // to be called when it is over
	wait  entry    // in the wheel: its time limit
}

func (d *drain) underway() bool { return d.begun }

// Drain shuts the server down in order: it accepts no more connections and
// answers new requests StatusBusy, finishes running ones, and closes each
// connection when the other side has received everything, or after DrainWithin.
// Then it calls done; the caller must still call Close.
func (s *Server) Drain(done func()) {
	s.mu.Lock()
	defer s.unlock()
	d := &s.drain
	d.done = append(d.done, done)
	if d.begun || s.closed {
		d.proceed()
		return
	}
	d.begun = true
	d.wait.due = d.over
	s.witness.stop()
	s.wheel.add(&d.wait, s.opt.Env.Clock.Now().Add(s.opt.DrainWithin))
	if s.listener != nil {
		s.later = append(s.later, func() { _ = s.listener.Close() })
	}
	d.proceed()
}

// proceed continues a drain when something has ended.
func (d *drain) proceed() {
	s := d.s
	if !d.begun || len(d.done) == 0 {
		return
	}
	if s.failed == nil && !s.closed && (s.services.busy() || !s.commits.idle()) {
		return
	}
	if s.conns.leave(); s.conns.count() == 0 {
		s.wheel.remove(&d.wait)
		s.later = append(s.later, d.done...)
		d.done = nil
	}
}

// over ends the drain at its time limit.
func (d *drain) over() {
	s := d.s
	s.conns.endAll(errLeft)
	d.proceed()
	if len(d.done) > 0 { // the disk or a service has not finished
		s.later = append(s.later, d.done...)
		d.done = nil
	}
}

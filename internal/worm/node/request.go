// SPDX-License-Identifier: Apache-2.0

package node

import (
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// waiting is how long a request has been at the server.
type waiting time.Duration

// late reports whether a request's time is over.
func (w waiting) late(budget time.Duration) bool {
	return budget > 0 && time.Duration(w) >= budget
}

// request performs a request and sends its reply as soon as it may leave.
func (c *conn) request(payload []byte, waited waiting) error {
	s := c.s
	q, r := s.registers.next()
	id, budget, err := wire.DecodeRequest(payload, q)
	if err != nil {
		return err
	}
	*r = wor.Reply{Runs: r.Runs[:0]}
	if refused := s.admit(c, q, r, waited.late(budget)) || s.beliefs.doubt(q, r); refused {
		s.count(q.Kind, r.Status)
		return c.now.Reply(id, s.commits.durable(), r)
	}
	switch q.Kind {
	case wor.KindWrite, wor.KindStage, wor.KindActivate:
		q.Value = slices.Clone(q.Value)
	case wor.KindUnlisten:
		c.unlisten(q.Tag)
		s.count(q.Kind, r.Status)
		return c.now.Reply(id, s.commits.durable(), r)
	}
	// No request changes the epoch: a request that would is only a claim (beliefs.doubt).
	s.registers.perform(s.registers.part(q.Partition), q, r)
	if q.Kind == wor.KindListen && r.Status == wor.StatusOK {
		c.listen(id, q)
	}
	s.count(q.Kind, r.Status)
	out := c.outlet()
	if err := out.Reply(id, s.commits.last(), r); err != nil {
		// The reply does not fit into a frame. The changes that the request
		// made remain.
		refuse := wor.Reply{Status: wor.StatusLimit, Epoch: r.Epoch, Value: []byte(err.Error())}
		if err := out.Reply(id, s.commits.last(), &refuse); err != nil {
			return err
		}
	}
	if q.Kind == wor.KindWrite && r.Status == wor.StatusOK {
		s.listeners.notify(q, r)
	}
	return nil
}

func (c *conn) outlet() *wire.Encoder { return c.s.commits.outlet(c) }

// admit answers requests that must not be performed.
func (s *Server) admit(c *conn, q *wor.Request, r *wor.Reply, late bool) (refused bool) {
	switch {
	case late:
		r.Status = wor.StatusExpired
		return true
	case s.unable():
		r.Status = wor.StatusBusy
		return true
	case s.pressed(c):
		s.mark("worm/node busy")
		r.Status = wor.StatusBusy
		return true
	case uint64(q.Partition) >= uint64(s.registers.count()):
		r.Status = wor.StatusForeign
		return true
	case s.witness.denial() != "", s.registers.part(q.Partition).mute && q.Kind != wor.KindActivate:
		// Only registers, not this disk, show which epoch has begun.
		s.mark("worm/node mute")
		r.Status = wor.StatusMute
		return true
	case q.Kind == wor.KindListen && len(c.listens) >= s.opt.ListensMax:
		r.Status = wor.StatusLimit
		r.Value = []byte((&wor.LimitError{Name: "ListensMax", Limit: int64(s.opt.ListensMax), Got: int64(len(c.listens) + 1)}).Error())
		return true
	}
	return false
}

// unable reports whether the server can make nothing durable now, or is about to
// end.
func (s *Server) unable() bool { return s.drain.underway() || s.failed != nil || s.commits.blocked() }

// pressed reports whether the waiting bytes exceed their limit.
func (s *Server) pressed(c *conn) bool {
	return c.now.Len()+c.flying.Len()+c.held.Len()+c.load > s.opt.ConnInflightMax ||
		s.conns.waiting()+int(s.commits.waiting()) > s.opt.ServerInflightMax
}

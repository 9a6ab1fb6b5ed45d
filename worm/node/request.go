package node

import (
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// waiting is the time that a request has been at the server.
type waiting time.Duration

// late reports whether a request's time is over.
func (w waiting) late(budget time.Duration) bool {
	return budget > 0 && time.Duration(w) >= budget
}

// request performs a request and sends its reply as soon as it may leave.
func (c *conn) request(payload []byte, waited waiting) error {
	s := c.s
	q, r := &s.query, &s.reply
	id, budget, err := wire.DecodeRequest(payload, q)
	if err != nil {
		return err
	}
	*r = wor.Reply{Runs: r.Runs[:0]}
	if refused := s.admit(c, q, r, waited.late(budget)) || s.doubt(q, r); refused {
		s.count(q.Kind, r.Status)
		return c.now.Reply(id, s.committed, r)
	}
	switch q.Kind {
	case wor.KindWrite, wor.KindStage, wor.KindActivate:
		q.Value = slices.Clone(q.Value)
	case wor.KindUnlisten:
		c.unlisten(q.Tag)
		s.count(q.Kind, r.Status)
		return c.now.Reply(id, s.committed, r)
	}
	p := s.parts[q.Partition]
	epoch := p.group.Epoch()
	p.group.Limit(max(s.opt.MaxBytes-s.bytes+p.bytes, 1))
	p.group.Handle(q, r, &s.log)
	s.record(q.Partition)
	if q.Kind == wor.KindListen && r.Status == wor.StatusOK {
		c.listen(id, q)
	}
	if p.group.Epoch() != epoch {
		s.regroup()
	}
	s.count(q.Kind, r.Status)
	out := c.outlet()
	if err := out.Reply(id, s.appended, r); err != nil {
		// The reply exceeds a frame. What the request changed stays.
		refuse := wor.Reply{Status: wor.StatusLimit, Epoch: r.Epoch, Value: []byte(err.Error())}
		if err := out.Reply(id, s.appended, &refuse); err != nil {
			return err
		}
	}
	if q.Kind == wor.KindWrite && len(s.listens) > 0 && r.Status == wor.StatusOK {
		s.notify(q, r)
	}
	return nil
}

// outlet is the buffer for output that may leave when all records so far are
// durable.
func (c *conn) outlet() *wire.Encoder {
	s := c.s
	switch {
	case s.appended <= s.committed:
		return &c.now
	case s.appended <= s.committing:
		if !c.queued[0] {
			c.queued[0] = true
			s.flying = append(s.flying, c)
		}
		return &c.flying
	}
	if !c.queued[1] {
		c.queued[1] = true
		s.holding = append(s.holding, c)
	}
	return &c.held
}

// admit answers requests that must not be performed.
func (s *Server) admit(c *conn, q *wor.Request, r *wor.Reply, late bool) (refused bool) {
	switch {
	case late:
		r.Status = wor.StatusExpired
		return true
	case s.draining || s.failed != nil || s.full:
		r.Status = wor.StatusBusy
		return true
	case s.pressed(c):
		s.mark("worm/node busy")
		r.Status = wor.StatusBusy
		return true
	case uint64(q.Partition) >= uint64(len(s.parts)):
		r.Status = wor.StatusForeign
		return true
	case s.rolledBack != "", s.parts[q.Partition].mute && q.Kind != wor.KindActivate:
		// Which epoch has begun is read from registers, not from this disk.
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

// pressed reports whether the waiting bytes exceed their limit.
func (s *Server) pressed(c *conn) bool {
	return c.now.Len()+c.flying.Len()+c.held.Len()+c.load > s.opt.ConnInflightMax ||
		s.load+int(s.pending) > s.opt.ServerInflightMax
}

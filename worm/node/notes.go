package node

import (
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// listen is a connection's subscription to writes in a range.
type listen struct {
	c         *conn
	id        uint64 // of the request
	partition wor.Partition
	protocol  wor.Protocol
	r         wor.Range
	number    uint64 // of the last note
}

func (c *conn) listen(id uint64, q *wor.Request) {
	c.unlisten(id)
	l := &listen{c: c, id: id, partition: q.Partition, protocol: q.Protocol, r: q.Range}
	c.listens = append(c.listens, l)
	c.s.listens[l.r.Segment] = append(c.s.listens[l.r.Segment], l)
	c.s.listening++
}

func (c *conn) unlisten(id uint64) {
	i := slices.IndexFunc(c.listens, func(l *listen) bool { return l.id == id })
	if i >= 0 {
		c.s.unlisten(c.listens[i])
		c.listens = slices.Delete(c.listens, i, i+1)
	}
}

// unlisten drops a subscription, also from its connection.
func (s *Server) unlisten(l *listen) {
	all := s.listens[l.r.Segment]
	i := slices.Index(all, l)
	if i < 0 {
		return
	}
	s.listening--
	if all = slices.Delete(all, i, i+1); len(all) == 0 {
		delete(s.listens, l.r.Segment)
	} else {
		s.listens[l.r.Segment] = all
	}
}

// notify makes notes of the values that a write has put into registers. They
// leave, like its reply, when they are durable.
func (s *Server) notify(q *wor.Request, r *wor.Reply) {
	var over []*listen
	for _, l := range s.listens[q.Range.Segment] {
		if l.partition != q.Partition || l.r.Lo >= q.Range.Hi || q.Range.Lo >= l.r.Hi {
			continue
		}
		if !l.tell(q, r) {
			over = append(over, l)
		}
	}
	for _, l := range over {
		s.counts.Overflows++
		s.mark("worm/node notes overflow")
		l.c.unlisten(l.id)
	}
}

// tell adds the notes of one write. False: there is no room, and the last note,
// which has no number, reports that.
func (l *listen) tell(q *wor.Request, r *wor.Reply) bool {
	c := l.c
	s := c.s
	out := c.outlet()
	before := out.Len()
	defer func() {
		switch out {
		case &c.flying:
			c.noteBytes[0] += out.Len() - before
		case &c.held:
			c.noteBytes[1] += out.Len() - before
		}
		c.touch()
	}()
	note := wor.Note{Partition: q.Partition, Epoch: r.Epoch, Ballot: q.Ballot, Value: q.Value}
	at := q.Range.Lo
	for i := range r.Runs {
		run := &r.Runs[i]
		lo, hi := max(at, l.r.Lo), min(at+run.Count, l.r.Hi)
		at += run.Count
		if run.Status != wor.StatusOK {
			continue
		}
		for ; lo < hi; lo++ {
			// Notes wait with everything else that waits for the connection.
			waits := out.Len() - before + c.noteBytes[0] + c.noteBytes[1] + len(c.backlog)
			note.Addr = wor.Addr{Segment: q.Range.Segment, Offset: lo}
			l.number++
			note.Number = l.number
			if waits > s.opt.NotesMax || out.Note(l.id, &note) != nil {
				_ = out.Note(l.id, &wor.Note{Partition: q.Partition, Epoch: r.Epoch}) // short
				return false
			}
			s.counts.Notes++
		}
	}
	return true
}

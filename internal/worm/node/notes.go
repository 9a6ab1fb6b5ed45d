// SPDX-License-Identifier: Apache-2.0

package node

import (
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// listeners are the subscriptions of all connections. Server.mu guards them.
type listeners struct {
	s     *Server
	by    map[wor.Segment][]*listen
	count int
}

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
	c.s.listeners.add(l)
}

func (c *conn) unlisten(id uint64) {
	i := slices.IndexFunc(c.listens, func(l *listen) bool { return l.id == id })
	if i >= 0 {
		c.s.listeners.remove(c.listens[i])
		c.listens = slices.Delete(c.listens, i, i+1)
	}
}

func (n *listeners) number() int { return n.count }

// add adds a subscription.
func (n *listeners) add(l *listen) {
	n.by[l.r.Segment] = append(n.by[l.r.Segment], l)
	n.count++
}

// remove drops a subscription; its connection has dropped it.
func (n *listeners) remove(l *listen) {
	all := n.by[l.r.Segment]
	i := slices.Index(all, l)
	if i < 0 {
		return
	}
	n.count--
	if all = slices.Delete(all, i, i+1); len(all) == 0 {
		delete(n.by, l.r.Segment)
	} else {
		n.by[l.r.Segment] = all
	}
}

// notify makes notes of the values that a write has put into registers. Like
// the write's reply, the notes leave when the values are durable.
func (n *listeners) notify(q *wor.Request, r *wor.Reply) {
	s := n.s
	var over []*listen
	for _, l := range n.by[q.Range.Segment] {
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

// tell adds the notes of one write. False means that there is no room; the last
// note, which has no number, reports that.
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

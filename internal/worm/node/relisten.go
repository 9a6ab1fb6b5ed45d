// SPDX-License-Identifier: Apache-2.0

package node

import (
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// listening is a client's subscription to writes. On each connection it is a
// request of its own.
type listening struct {
	p       *peer
	q       wor.Request
	note    func(*wor.Note)
	answer  func(*wor.Reply)
	gap     func()
	id      uint64 // of the request on this connection; 0: none
	next    uint64 // number of the next note
	live    bool   // an answer counts: a loss must be reported
	stopped bool
	retry   entry // in the wheel: to begin again then
	backoff env.Backoff
}

// begin sends the request. Without a connection, a new one will send it.
func (l *listening) begin() {
	if l.stopped || l.id != 0 {
		return
	}
	p := l.p
	if p.state < greeted {
		_ = p.ready() // at rest: it dials when the rest is over
		return
	}
	var id uint64
	c, err := p.request(&l.q, p.t.opt.Within, func(r *wor.Reply) { l.answered(id, r) })
	if err != nil {
		l.again()
		return
	}
	id = c.id
	l.id, l.next = id, 1
	p.notes[id] = l
}

// again begins again after a while.
func (l *listening) again() {
	if l.stopped || l.retry.linked() {
		return
	}
	t := l.p.t
	t.wheel.add(&l.retry, t.opt.Env.Clock.Now().Add(l.backoff.Next(t.random)))
}

func (l *listening) answered(id uint64, r *wor.Reply) {
	if l.stopped || l.id != id {
		return
	}
	if r == nil {
		l.forget()
		l.again()
		return
	}
	switch r.Status {
	case wor.StatusOK:
		l.live = true
		l.backoff.Reset()
	case wor.StatusBusy, wor.StatusMute, wor.StatusAhead, wor.StatusExpired:
		l.forget()
		l.again()
	}
	l.answer(r)
}

// forget drops the request of this connection.
func (l *listening) forget() {
	delete(l.p.notes, l.id)
	l.id = 0
}

// take handles a note. One without a number means that there are no more.
func (l *listening) take(n *wor.Note) {
	if l.stopped {
		return
	}
	if !l.live || n.Number != l.next {
		if n.Number != 0 {
			l.unlisten()
		}
		l.forget()
		l.miss()
		l.begin()
		return
	}
	l.next++
	l.p.t.counts.Notes++
	l.note(n)
}

// miss reports that notes may have been lost.
func (l *listening) miss() {
	if l.live {
		l.live = false
		l.p.t.counts.Gaps++
		l.gap()
	}
}

// lost handles the end of the connection. The next one begins the subscription
// again.
func (l *listening) lost() {
	l.id = 0
	if !l.stopped {
		l.miss()
	}
}

func (l *listening) unlisten() {
	p := l.p
	if p.state < greeted || l.id == 0 {
		return
	}
	q := wor.Request{Kind: wor.KindUnlisten, Protocol: l.q.Protocol, Partition: l.q.Partition, Epoch: l.q.Epoch,
		Range: l.q.Range, Tag: l.id}
	_, _ = p.request(&q, p.t.opt.Within, func(*wor.Reply) {}) // without the request, the server's bounds end the subscription
}

func (l *listening) stop() {
	if l.stopped {
		return
	}
	l.stopped = true
	l.p.t.wheel.remove(&l.retry)
	if i := slices.Index(l.p.listens, l); i >= 0 {
		l.p.listens = slices.Delete(l.p.listens, i, i+1)
	}
	l.unlisten()
	l.forget()
}

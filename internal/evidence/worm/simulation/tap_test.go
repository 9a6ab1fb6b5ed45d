// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"bytes"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// tap is a transport that shows the ghost all requests and answers.
type tap struct {
	to    wor.Transport
	c     *cluster
	a     *agent
	nonce uint64
	// What the observed operation has met; the workload resets these fields while only
	// that operation is running.
	repaired, outbid, sealed bool
}

// Call implements wor.Transport.
func (t *tap) Call(to wor.Member, q *wor.Request, within time.Duration, answer func(*wor.Reply)) {
	g := t.c.ghost
	asked := &question{server: to.ID, at: g.tick(), q: *q, nonce: t.nonce}
	asked.q.Value = bytes.Clone(q.Value)
	if q.Kind == wor.KindWrite && !q.Ballot.IsZero() && q.Ballot.Nonce != t.nonce {
		t.repaired = true
	}
	g.asks(asked)
	t.to.Call(to, q, within, func(r *wor.Reply) {
		if r != nil {
			t.meet(r)
			g.answered(asked, r)
		}
		answer(r)
	})
}

func (t *tap) meet(r *wor.Reply) {
	t.sealed = t.sealed || r.Status == wor.StatusSealed
	for i := range r.Runs {
		t.outbid = t.outbid || r.Runs[i].Status == wor.StatusOutbid
	}
}

// Listen implements wor.Transport.
func (t *tap) Listen(to wor.Member, q *wor.Request, note func(*wor.Note), answer func(*wor.Reply), gap func()) (stop func()) {
	g := t.c.ghost
	asked := &question{server: to.ID, q: *q, again: true}
	return t.to.Listen(to, q, func(n *wor.Note) {
		g.noted(asked, n)
		note(n)
	}, func(r *wor.Reply) {
		g.answered(asked, r)
		answer(r)
	}, gap)
}

// Invoke implements wor.Messenger.
func (t *tap) Invoke(to wor.Member, s wor.Service, payload []byte, within time.Duration, done func([]byte, error)) {
	t.to.Invoke(to, s, payload, within, done)
}

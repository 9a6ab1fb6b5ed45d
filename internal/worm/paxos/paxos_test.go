// SPDX-License-Identifier: Apache-2.0

package paxos

import (
	"testing"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// cluster is some acceptors that answer at once.
type cluster struct {
	acceptors []*Acceptor
	down      map[int]bool
	requests  int
}

func newCluster(n int) *cluster {
	c := &cluster{down: map[int]bool{}}
	for range n {
		c.acceptors = append(c.acceptors, &Acceptor{})
	}
	return c
}

// run runs a machine until it is done or no message is left.
func (c *cluster) run(t testing.TB, m wor.Machine) []wor.Run {
	t.Helper()
	var out, next wor.Outbox
	var log wor.Log
	m.Start(&out)
	for quiet := 0; !m.Done(); {
		if len(out.To) == 0 {
			if quiet++; quiet > 5 {
				t.Fatal("the machine waits for ever")
			}
			m.Expire(&out)
		}
		next.Reset()
		step := m.Step()
		type answer struct {
			from int
			r    wor.Reply
		}
		var answers []answer
		for i, to := range out.To {
			if c.down[to] {
				continue
			}
			c.requests++
			var r wor.Reply
			q := *out.Requests[i]
			c.acceptors[to].Handle(&q, &r, &log)
			answers = append(answers, answer{to, r})
		}
		for _, a := range answers {
			before := len(next.To)
			m.Deliver(a.from, step, &a.r, &next)
			for i := before; i < len(next.To); i++ { // its round may pass: answer now
				step := m.Step()
				if to := next.To[i]; !c.down[to] {
					var r wor.Reply
					q := *next.Requests[i]
					c.acceptors[to].Handle(&q, &r, &log)
					m.Deliver(to, step, &r, &next)
				}
			}
			next.Reset()
		}
		out.Reset()
	}
	return m.Result()
}

func one(offset uint32) wor.Range { return wor.Range{Segment: 7, Lo: offset, Hi: offset + 1} }

func TestWriteAndRead(t *testing.T) {
	c, b := newCluster(3), wor.Ballot{Round: 1, Nonce: 9}
	if r := c.run(t, Client{}.Read(3, one(5))); len(r) != 1 || r[0].Status != wor.StatusOK || r[0].Written {
		t.Fatalf("read of nothing: %+v", r)
	}
	if r := c.run(t, Client{}.Capture(3, one(5), b)); r[0].Status != wor.StatusOK || r[0].Written {
		t.Fatalf("capture: %+v", r)
	}
	if r := c.run(t, Client{}.Write(3, one(5), b, []byte("v"))); r[0].Status != wor.StatusOK {
		t.Fatalf("write: %+v", r)
	}
	for down := range 3 {
		c.down = map[int]bool{down: true}
		if r := c.run(t, Client{}.Read(3, one(5))); !r[0].Written || string(r[0].Value) != "v" {
			t.Fatalf("read: %+v", r)
		}
	}
	if r := c.run(t, Client{}.Capture(3, one(5), wor.Ballot{Round: 2})); !r[0].Written || string(r[0].Value) != "v" {
		t.Fatalf("capture again: %+v", r)
	}
	if r := c.run(t, Client{}.Trim(3, 7)); r[0].Status != wor.StatusOK {
		t.Fatalf("trim: %+v", r)
	}
	c.down = map[int]bool{1: true}
	for _, m := range []wor.Machine{
		Client{}.Read(3, one(5)), Client{}.Capture(3, one(5), b), Client{}.Write(3, one(5), b, nil),
	} {
		if r := c.run(t, m); r[0].Status != wor.StatusTrimmed {
			t.Fatalf("after the trim: %+v", r)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package paxos

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// courier carries messages between a machine and acceptors as rapid draws it.
type courier struct {
	t         *rapid.T
	acceptors []*Acceptor
	loss      int
}

// run runs a machine: messages go in any order, some get lost.
func (c *courier) run(m wor.Machine) []wor.Run {
	type message struct {
		to   int
		q    wor.Request
		step uint32
	}
	var queue []message
	var out wor.Outbox
	var log wor.Log
	collect := func() {
		asked := map[int]bool{}
		for i, to := range out.To {
			if asked[to] {
				c.t.Fatalf("server %d is asked twice in one round", to)
			}
			asked[to] = true
			queue = append(queue, message{to, *out.Requests[i], m.Step()})
		}
		out.Reset()
	}
	m.Start(&out)
	collect()
	for steps := 0; !m.Done(); steps++ {
		if steps > 20_000 {
			c.t.Fatalf("the machine does not finish")
		}
		if len(queue) == 0 {
			m.Expire(&out)
			collect()
			continue
		}
		i := rapid.IntRange(0, len(queue)-1).Draw(c.t, "which")
		x := queue[i]
		queue = append(queue[:i], queue[i+1:]...)
		if rapid.IntRange(0, 99).Draw(c.t, "luck") < c.loss {
			continue
		}
		var r wor.Reply
		c.acceptors[x.to].Handle(&x.q, &r, &log)
		m.Deliver(x.to, x.step, &r, &out)
		collect()
	}
	if m.Expire(&out); len(out.To) > 0 {
		c.t.Fatalf("a machine that is done sends")
	}
	return m.Result()
}

// TestRangeIsItsRegisters: one operation on a range answers, register by register,
// something that one on that register alone may answer, and leaves behind what
// makes it true. Values are settled first, so that there is one answer only.
func TestRangeIsItsRegisters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 3, 4, 5, 15}).Draw(t, "servers")
		c := &courier{t: t, loss: rapid.SampledFrom([]int{0, 30}).Draw(t, "loss")}
		for range n {
			c.acceptors = append(c.acceptors, &Acceptor{})
		}
		all := wor.Range{Segment: 7, Lo: 250, Hi: 262}
		values := map[uint32]string{}
		for i := all.Lo; i < all.Hi; i++ {
			r := wor.Range{Segment: 7, Lo: i, Hi: i + 1}
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0: // decided, or at least on a majority
				v := rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "value")
				for s := range wor.Majority(n) {
					handle(c.acceptors[(s+int(i))%n], wor.Request{Kind: wor.KindWrite, Range: r,
						Ballot: wor.Ballot{Round: uint64(1 + i%2)}, Value: []byte(v)})
				}
				values[i] = v
			case 1: // on one server, so that a read must repair it or not see it
				handle(c.acceptors[int(i)%n], wor.Request{Kind: wor.KindWrite, Range: r,
					Ballot: wor.Ballot{Round: 1}, Value: []byte("h")})
				if n == 1 {
					values[i] = "h"
				}
			case 2: // promised
				handle(c.acceptors[int(i)%n], wor.Request{Kind: wor.KindCapture, Range: r, Ballot: wor.Ballot{Round: 2}})
			}
		}
		first := c.run(Client{}.Read(n, all))
		c.each(all, first, func(i uint32, run wor.Run) {
			v, settled := values[i]
			switch {
			case run.Status != wor.StatusOK || settled && (!run.Written || string(run.Value) != v):
				t.Fatalf("register %d: %+v, want %v %q", i, run, settled, v)
			case run.Written:
				values[i] = string(run.Value)
			}
			// A later reader sees no less.
			alone := c.run(Client{}.Read(n, wor.Range{Segment: 7, Lo: i, Hi: i + 1}))[0]
			if run.Written && (!alone.Written || !bytes.Equal(alone.Value, run.Value)) {
				t.Fatalf("register %d was %q, then %+v", i, run.Value, alone)
			}
			if alone.Written {
				values[i] = string(alone.Value)
			}
		})
		b := wor.Ballot{Round: 9, Nonce: 9}
		c.each(all, c.run(Client{}.Capture(n, all, b)), func(i uint32, run wor.Run) {
			if v, settled := values[i]; run.Status != wor.StatusOK || settled && (!run.Written || string(run.Value) != v) {
				t.Fatalf("capture of %d: %+v, want %v %q", i, run, settled, v)
			}
		})
		c.each(all, c.run(Client{}.Write(n, all, wor.Ballot{Round: 8}, []byte("late"))), func(i uint32, run wor.Run) {
			if run.Status != wor.StatusOutbid || run.Promised != b {
				t.Fatalf("write below: register %d: %+v", i, run)
			}
		})
		if free := c.run(Client{}.Write(n, all, b, []byte("w"))); len(free) != 1 || free[0].Status != wor.StatusOK {
			t.Fatalf("write of what was captured: %+v", free)
		}
		if one := c.run(Client{}.Write(n, all, b, []byte("x"))); len(one) != 1 || one[0].Status != wor.StatusConflict {
			t.Fatalf("another value at the same ballot: %+v", one)
		}
	})
}

func (c *courier) each(r wor.Range, runs []wor.Run, f func(i uint32, run wor.Run)) {
	i := r.Lo
	for _, run := range runs {
		for range run.Count {
			f(i, run)
			i++
		}
	}
	if i != r.Hi {
		c.t.Fatalf("the result of %v ends at %d", r, i)
	}
}

// TestBadRepliesAreHarmless: what no acceptor says changes nothing.
func TestBadRepliesAreHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := wor.Range{Segment: 7, Lo: 3, Hi: 9}
		b := wor.Ballot{Round: 1}
		machines := []wor.Machine{
			Client{}.Read(3, r), Client{}.Capture(3, r, b), Client{}.Write(3, r, b, nil), Client{}.Trim(3, 7), Client{Fast: true}.Read(3, r),
		}
		m := machines[rapid.IntRange(0, len(machines)-1).Draw(t, "machine")]
		var out wor.Outbox
		m.Start(&out)
		for range rapid.IntRange(0, 30).Draw(t, "replies") {
			var reply wor.Reply
			reply.Status = wor.Status(rapid.SampledFrom([]int{0, 0, 0, 0, 16, 17, 18, 20, 21, 23, 99}).Draw(t, "status"))
			for range rapid.IntRange(0, 4).Draw(t, "runs") {
				reply.Runs = append(reply.Runs, wor.Run{
					Count:    rapid.SampledFrom([]uint32{0, 1, 2, 6, 7, 1<<32 - 1}).Draw(t, "count"),
					Status:   wor.Status(rapid.IntRange(0, 5).Draw(t, "answer")),
					Promised: wor.Ballot{Round: uint64(rapid.IntRange(0, 3).Draw(t, "promised"))},
					Written:  rapid.Bool().Draw(t, "written"),
					Accepted: wor.Ballot{Round: uint64(rapid.IntRange(0, 3).Draw(t, "accepted"))},
				})
			}
			m.Deliver(rapid.IntRange(-1, 3).Draw(t, "from"), uint32(rapid.IntRange(0, 5).Draw(t, "step")), &reply, &out)
			if rapid.IntRange(0, 9).Draw(t, "expire") == 0 {
				m.Expire(&out)
			}
			m.Moved()
		}
		if m.Done() {
			n := 0
			for _, run := range m.Result() {
				n += int(run.Count)
			}
			if n != 6 && n != 1 {
				t.Fatalf("the result covers %d registers", n)
			}
		}
	})
}

// TestLargeRangesAreLinear: as many values as registers, in replies that cover
// little each, on servers that differ. The machine looks at each a few times.
func TestLargeRangesAreLinear(t *testing.T) {
	c := newCluster(3)
	all := wor.Range{Segment: 7, Lo: 0, Hi: wor.RangeMax}
	for i := range all.Hi {
		for s := range 3 {
			if (int(i)+s)%3 > 0 { // on two of three, each time on others
				handle(c.acceptors[s], wor.Request{Kind: wor.KindWrite, Range: one(i), Value: fmt.Append(nil, i)})
			}
		}
	}
	for range 2 {
		got := c.run(t, Client{}.Read(3, all))
		if len(got) != wor.RangeMax || string(got[77].Value) != "77" {
			t.Fatalf("%d runs", len(got))
		}
	}
	if got := c.run(t, Client{}.Capture(3, all, wor.Ballot{Round: 1})); len(got) != wor.RangeMax || string(got[77].Value) != "77" {
		t.Fatalf("capture: %d runs", len(got))
	}
}

// BenchmarkWriteOnThree is a write of one register on three servers: the client's
// machine, without network and servers.
func BenchmarkWriteOnThree(b *testing.B) {
	var out wor.Outbox
	value := []byte("0123456789abcdef")
	ballot := wor.Ballot{Round: 1, Nonce: 1}
	reply := wor.Reply{Runs: []wor.Run{{Count: 1, Promised: ballot, Written: true, Accepted: ballot}}}
	b.ReportAllocs()
	for b.Loop() {
		m := Client{}.Write(3, one(5), ballot, value)
		m.Start(&out)
		m.Deliver(0, m.Step(), &reply, &out)
		m.Deliver(1, m.Step(), &reply, &out)
		if !m.Done() || m.Result()[0].Status != wor.StatusOK {
			b.Fatal("not done")
		}
		out.Reset()
	}
}

func BenchmarkReadRange(b *testing.B) {
	c := newCluster(3)
	all := wor.Range{Segment: 7, Lo: 0, Hi: 10_000}
	for i := range all.Hi {
		for s := range 3 {
			handle(c.acceptors[s], wor.Request{Kind: wor.KindWrite, Range: one(i), Value: fmt.Append(nil, i)})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		c.run(b, Client{}.Read(3, all))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/register")
}

// TestRestIsAskedFor: what a reply does not cover is asked for until all is known.
func TestRestIsAskedFor(t *testing.T) {
	c := newCluster(3)
	for i := range uint32(11) {
		for s := range 2 {
			handle(c.acceptors[s], wor.Request{Kind: wor.KindWrite, Range: one(i), Value: bytes.Repeat([]byte{byte(i)}, wor.ValueMax)})
		}
	}
	all := wor.Range{Segment: 7, Lo: 0, Hi: 13}
	for _, m := range []wor.Machine{Client{}.Read(3, all), Client{}.Capture(3, all, wor.Ballot{Round: 1})} {
		got := c.run(t, m)
		if len(got) != 12 || got[11].Count != 2 || got[11].Written {
			t.Fatalf("%d runs", len(got))
		}
		for i, run := range got[:11] {
			if !run.Written || len(run.Value) != wor.ValueMax || run.Value[7] != byte(i) {
				t.Fatalf("register %d: %v, %d bytes", i, run.Status, len(run.Value))
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// hand is a Transport in the world of a desk. The test plays its servers.
func hand(d *desk, change func(*TransportOptions)) *Transport {
	o := TransportOptions{Env: d.options().Env, Serial: &env.Serial{}, Cluster: testCluster, From: 9}
	if change != nil {
		change(&o)
	}
	return NewTransport(o)
}

// server is the other side of a connection that a Transport has dialled.
type server struct {
	*guest
	h env.Handler
}

// dialledBy is the last connection that was dialled, opened and welcome.
func (d *desk) dialledBy(t testing.TB, k Key) *server {
	t.Helper()
	if len(d.dialled) == 0 {
		t.Fatal("nothing was dialled")
	}
	h := d.dialled[len(d.dialled)-1]
	d.dialled = d.dialled[:len(d.dialled)-1]
	s := &server{guest: &guest{d: d, c: h.c}, h: h.h}
	h.h.Opened(h.c)
	var scan wire.Scanner
	scan.Feed(slices.Clone(h.c.out)) // the test handles the other frames
	var hello wire.Hello
	if f, ok, err := scan.Next(); !ok || err != nil || wire.DecodeHello(f.Payload, &hello) != nil {
		t.Fatal("no hello was said")
	}
	w := wire.Welcome{Version: wire.Version, Cluster: testCluster, Server: k.ID(), Generation: 3, Position: 10}
	w.Proof = k.prove(welcomePurpose, testCluster, welcomeText(&hello.Challenge, &w))
	s.answer(func(e *wire.Encoder) { e.Welcome(&w) })
	return s
}

func (s *server) answer(put func(*wire.Encoder)) {
	var e wire.Encoder
	put(&e)
	s.h.Data(s.c, e.Bytes())
}

// asked returns the requests that arrived since the last call, and the hello.
func (s *server) asked(t testing.TB) (ids []uint64, qs []wor.Request, hello *wire.Hello) {
	t.Helper()
	s.c.scan.Feed(s.c.out)
	s.c.out = nil
	for {
		f, ok, err := s.c.scan.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return ids, qs, hello
		}
		switch f.Type {
		case wire.TypeHello:
			hello = &wire.Hello{}
			err = wire.DecodeHello(f.Payload, hello)
		case wire.TypeRequest:
			var q wor.Request
			var id uint64
			id, _, err = wire.DecodeRequest(f.Payload, &q)
			ids, qs = append(ids, id), append(qs, q)
		case wire.TypePing:
			ids, qs = append(ids, 0), append(qs, wor.Request{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

var handMember = wor.Member{ID: testKey(5).ID(), Addr: "there"}

// answers collects the answers to calls.
type answers []*wor.Reply

func (a *answers) add(r *wor.Reply) { *a = append(*a, r) }

// TestCoalesce: requests made in one turn leave in one piece, and no answer runs within a
// call.
func TestCoalesce(t *testing.T) {
	d := newDesk(t, nil)
	tr := hand(d, nil)
	var got answers
	do := tr.opt.Serial.Do
	do(func() {
		q := readOf(addr(1, 1))
		tr.Call(handMember, &q, 0, got.add)
	})
	s := d.dialledBy(t, testKey(5))
	writes := tr.counts.Writes
	do(func() {
		for i := range 10 {
			q := readOf(addr(1, i))
			tr.Call(handMember, &q, 0, got.add)
		}
	})
	if n := tr.counts.Writes - writes; n != 1 {
		t.Fatalf("%d writes for 10 calls of a turn", n)
	}
	ids, _, hello := s.asked(t)
	if len(ids) != 11 || hello == nil || hello.To != handMember.ID || hello.From != 9 {
		t.Fatalf("asked %v, hello %+v", ids, hello)
	}
	s.answer(func(e *wire.Encoder) {
		for _, id := range ids {
			_ = e.Reply(id, 12, &wor.Reply{})
			_ = e.Reply(id, 12, &wor.Reply{}) // a duplicate
		}
	})
	if len(got) != 11 || len(tr.peers[0].calls) != 0 || tr.peers[0].inflight != 0 {
		t.Fatalf("%d answers, %d calls left", len(got), len(tr.peers[0].calls))
	}
	if g, p := tr.Seen(handMember.ID); g != 3 || p != 12 {
		t.Fatalf("seen at %d/%d", g, p)
	}
}

// TestWelcomeAndHangUp: a server that welcomes and hangs up is dialled less and less
// often; after a connection that has lasted, it is dialled soon.
func TestWelcomeAndHangUp(t *testing.T) {
	d := newDesk(t, nil)
	tr := hand(d, nil)
	dials := func(lasts time.Duration, within time.Duration) int {
		before, end := tr.counts.Dials, d.clock.now.Add(within)
		for d.clock.now < end {
			tr.opt.Serial.Do(func() {
				q := readOf(addr(1, 1))
				tr.Call(handMember, &q, time.Second, func(*wor.Reply) {})
			})
			if len(d.dialled) > 0 {
				s := d.dialledBy(t, testKey(5))
				d.clock.advance(lasts)
				s.h.Closed(s.c, errors.New("hung up"))
			}
			d.clock.advance(wheelTick)
		}
		return int(tr.counts.Dials - before)
	}
	if n := dials(0, time.Minute); n < 20 || n > 100 {
		t.Errorf("a server that hangs up is dialled %d times in a minute", n)
	}
	dials(3*time.Second, 3*time.Second)
	if n := dials(0, time.Second); n < 4 {
		t.Errorf("a server whose connection has lasted is dialled %d times in a second", n)
	}
}

// TestLost: every call is answered once, whatever happens to the connection, and the next
// hello contains the furthest position seen of the server.
func TestLost(t *testing.T) {
	d := newDesk(t, nil)
	tr := hand(d, nil)
	var got answers
	var invoked []error
	do := tr.opt.Serial.Do
	ask := func() {
		do(func() {
			q := readOf(addr(1, 1))
			tr.Call(handMember, &q, time.Second, got.add)
			tr.Invoke(handMember, wor.ServiceKV, []byte("x"), time.Second, func(_ []byte, err error) { invoked = append(invoked, err) })
		})
	}
	ask()
	s := d.dialledBy(t, testKey(5))
	s.h.Closed(s.c, errors.New("gone"))
	if len(got) != 1 || got[0] != nil || len(invoked) != 1 || !errors.Is(invoked[0], wor.ErrUnknown) {
		t.Fatalf("after a loss: %v, %v", got, invoked)
	}
	ask() // the peer rests
	if len(got) != 2 || got[1] != nil || !errors.Is(invoked[1], wor.ErrClosed) || len(d.dialled) != 0 {
		t.Fatalf("at rest: %v, %v", got, invoked)
	}
	d.clock.advance(time.Second)
	ask()
	if len(got) != 2 {
		t.Fatal("answered while it dials")
	}
	s = d.dialledBy(t, testKey(5))
	if _, _, hello := s.asked(t); hello == nil || hello.Generation != 3 || hello.Position != 10 {
		t.Fatalf("hello %+v", hello)
	}
	d.clock.advance(900 * time.Millisecond)
	if len(got) != 2 {
		t.Fatal("given up too early")
	}
	d.clock.advance(200 * time.Millisecond)
	if len(got) != 3 || got[2] != nil || !errors.Is(invoked[2], wor.ErrUnknown) {
		t.Fatalf("after its time: %v %v", got, invoked)
	}
	ask()
	tr.Close()
	ask()
	if len(got) != 5 || len(invoked) != 5 || !s.c.closed || !errors.Is(invoked[4], wor.ErrClosed) {
		t.Fatalf("after Close: %v %v", got, invoked)
	}
	d.clock.advance(time.Hour)
	if len(got) != 5 {
		t.Fatal("answered twice")
	}
}

// TestAnotherServer: the input of a server other than the intended one is ignored.
func TestAnotherServer(t *testing.T) {
	d := newDesk(t, nil)
	tr := hand(d, nil)
	var got answers
	tr.opt.Serial.Do(func() {
		q := readOf(addr(1, 1))
		tr.Call(handMember, &q, time.Minute, got.add)
	})
	s := d.dialledBy(t, testKey(6))
	if !s.c.closed || len(got) != 1 || got[0] != nil || tr.Peers()[0].Trouble == "" {
		t.Fatalf("closed %v, answers %v", s.c.closed, got)
	}
}

// TestInflightMax: beyond the limit, nothing is sent.
func TestInflightMax(t *testing.T) {
	d := newDesk(t, nil)
	tr := hand(d, func(o *TransportOptions) { o.InflightMax = 1000 })
	var got answers
	tr.opt.Serial.Do(func() {
		for range 100 {
			q := readOf(addr(1, 1))
			tr.Call(handMember, &q, 0, got.add)
		}
		tr.Invoke(handMember, wor.ServiceKV, nil, 0, func(_ []byte, err error) {
			if !errors.Is(err, wor.ErrBusy) {
				t.Errorf("invoke: %v", err)
			}
			got.add(nil)
		})
	})
	s := d.dialledBy(t, testKey(5))
	ids, _, _ := s.asked(t)
	if len(ids) == 0 || len(ids)+len(got) != 101 || len(ids) > 60 {
		t.Fatalf("%d sent, %d refused", len(ids), len(got))
	}
}

// TestFull: output that the network does not take waits, within bounds, and leaves when
// the connection is drained.
func TestFull(t *testing.T) {
	d := newDesk(t, nil)
	tr := hand(d, func(o *TransportOptions) { o.InflightMax = 1000 })
	var got answers
	ask := func() {
		q := readOf(addr(1, 1))
		tr.Call(handMember, &q, time.Second, got.add)
	}
	tr.opt.Serial.Do(ask)
	s := d.dialledBy(t, testKey(5))
	s.asked(t)
	s.c.full = true
	for range 200 {
		tr.opt.Serial.Do(ask)
		d.clock.advance(20 * time.Millisecond)
		s.answer(func(e *wire.Encoder) { e.Pong(1) })
	}
	if n := tr.peers[0].out.Len(); n > 1000 {
		t.Fatalf("%d bytes wait", n)
	}
	s.c.full = false
	s.h.Drained(s.c)
	if ids, _, _ := s.asked(t); len(ids) == 0 {
		t.Fatal("nothing left when it was drained")
	}
}

// TestHalfOpen: a connection on which nothing arrives is given up.
func TestHalfOpen(t *testing.T) {
	d := newDesk(t, nil)
	tr := hand(d, nil)
	var got answers
	tr.opt.Serial.Do(func() {
		q := readOf(addr(1, 1))
		tr.Call(handMember, &q, time.Minute, got.add)
	})
	s := d.dialledBy(t, testKey(5))
	s.asked(t)
	d.clock.advance(2 * time.Second)
	ids, _, _ := s.asked(t)
	if len(ids) == 0 || len(got) != 0 {
		t.Fatalf("%d pings, answers %v", len(ids), got)
	}
	s.answer(func(e *wire.Encoder) { e.Pong(1) })
	d.clock.advance(3 * time.Second)
	if len(got) != 0 {
		t.Fatal("given up though it has answered a ping")
	}
	d.clock.advance(5 * time.Second)
	if len(got) != 1 || !s.c.closed {
		t.Fatal("not given up")
	}
}

// TestListenAgain: a subscription continues after a loss, a gap and a refusal, and
// reports which notes may be missing.
func TestListenAgain(t *testing.T) {
	d := newDesk(t, nil)
	tr := hand(d, nil)
	var log []string
	var stop func()
	q := wor.Request{Range: wor.Range{Segment: 1, Lo: 0, Hi: 9}, Epoch: 4}
	tr.opt.Serial.Do(func() {
		stop = tr.Listen(handMember, &q, func(n *wor.Note) { log = append(log, fmt.Sprint("note ", n.Number)) },
			func(r *wor.Reply) { log = append(log, fmt.Sprint("answer ", r.Status)) }, func() { log = append(log, "gap") })
	})
	want := func(what ...string) {
		t.Helper()
		if fmt.Sprint(log) != fmt.Sprint(what) {
			t.Fatalf("told %v, want %v", log, what)
		}
		log = nil
	}
	s := d.dialledBy(t, testKey(5))
	begin := func(status wor.Status) uint64 {
		t.Helper()
		ids, qs, _ := s.asked(t)
		i := slices.IndexFunc(qs, func(q wor.Request) bool { return q.Kind == wor.KindListen }) // among pings
		if i < 0 || qs[i].Kind != wor.KindListen || qs[i].Range != q.Range || qs[i].Epoch != 4 {
			t.Fatalf("asked %+v", qs)
		}
		s.answer(func(e *wire.Encoder) { _ = e.Reply(ids[i], 1, &wor.Reply{Status: status}) })
		return ids[i]
	}
	note := func(id, number uint64) {
		s.answer(func(e *wire.Encoder) { _ = e.Note(id, &wor.Note{Number: number}) })
	}
	begin(wor.StatusMute)
	want("answer mute")
	d.clock.advance(time.Second)
	id := begin(wor.StatusOK)
	note(id, 1)
	note(id, 2)
	want("answer ok", "note 1", "note 2")
	note(id, 4)
	note(id, 5)
	want("gap")
	old := id
	id = begin(wor.StatusOK)
	note(old, 6)
	note(id, 1)
	want("answer ok", "note 1")
	note(id, 0) // the server has ended it
	want("gap")
	begin(wor.StatusOK)
	want("answer ok")
	s.h.Closed(s.c, errors.New("gone"))
	want("gap")
	d.clock.advance(time.Second)
	s = d.dialledBy(t, testKey(5))
	id = begin(wor.StatusOK)
	want("answer ok")
	stop()
	if ids, qs, _ := s.asked(t); len(ids) != 1 || qs[0].Kind != wor.KindUnlisten || qs[0].Tag != id {
		t.Fatalf("asked %+v", qs)
	}
	note(id, 1)
	s.h.Closed(s.c, errors.New("gone"))
	d.clock.advance(time.Minute)
	want()
	if len(d.dialled) != 0 {
		t.Fatal("dialled though nobody listens")
	}
}

// TestListenLive: notes arrive from a live server, and again after it was down.
func TestListenLive(t *testing.T) {
	c := newCluster(t, 1, t.TempDir(), nil)
	k := c.client(7)
	told := make(chan string, 100)
	k.serial.Do(func() {
		k.Listen(c.member(0), &wor.Request{Range: wor.Range{Segment: 1, Lo: 0, Hi: 100}},
			func(n *wor.Note) { told <- string(n.Value) }, func(r *wor.Reply) { told <- r.Status.String() }, func() { told <- "gap" })
	})
	next := func(want string) {
		t.Helper()
		select {
		case got := <-told:
			if got != want {
				t.Fatalf("told %q, want %q", got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("not told %q", want)
		}
	}
	next("ok")
	w := c.client(8)
	w.call(t, c.member(0), writeOf(addr(1, 1), 1, "one"))
	next("one")
	c.stop(0)
	next("gap")
	if err := c.start(0); err != nil {
		t.Fatal(err)
	}
	next("ok")
	eventually(t, "the writer is back", func() bool {
		r := w.call(t, c.member(0), writeOf(addr(1, 2), 1, "two"))
		return r != nil && r.Status == wor.StatusOK
	})
	next("two")
}

// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/store/wal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestRefusals: a peer that wants another server than this one gets a refusal, and its
// further input is ignored.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(h *wire.Hello, d *desk)
		want   wire.Refusal
	}{
		{"none", func(*wire.Hello, *desk) {}, wire.RefusalNone},
		{"version", func(h *wire.Hello, _ *desk) { h.Version = 0 }, wire.RefusalVersion},
		{"cluster", func(h *wire.Hello, _ *desk) { h.Cluster++ }, wire.RefusalCluster},
		{"server", func(h *wire.Hello, _ *desk) { h.To++ }, wire.RefusalServer},
		{"where it is", func(h *wire.Hello, d *desk) { h.Generation, h.Position = 1, d.s.Status().Position }, wire.RefusalNone},
		{"position", func(h *wire.Hello, d *desk) { h.Generation, h.Position = 1, d.s.Status().Position+1 }, wire.RefusalBehind},
		{"generation", func(h *wire.Hello, d *desk) { h.Generation = 2 }, wire.RefusalBehind},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, nil)
			g := d.connect()
			g.say(func(e *wire.Encoder) {
				h := wire.Hello{Version: wire.Version, Cluster: testCluster, From: 9, To: d.s.ID()}
				test.change(&h, d)
				e.Hello(&h)
				q := writeOf(addr(1, 1), 1, "v")
				_ = e.Request(1, 0, &q)
			})
			d.commit()
			got := g.take()
			if got[0].kind != wire.TypeWelcome || got[0].welcome.Refusal != test.want {
				t.Fatalf("got %+v, want %v", got, test.want)
			}
			if test.want == wire.RefusalNone {
				if len(got) != 2 {
					t.Fatalf("the request is not answered: %+v", got)
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("a refused client was answered: %+v", got)
			}
			if g.c.closed {
				t.Fatal("closed before the other side could read why")
			}
			d.clock.advance(time.Minute)
			if !g.c.closed || d.s.Status().Conns != 0 {
				t.Fatal("a refused client stays for ever")
			}
			h := d.guestOrNil()
			if h == nil {
				t.Fatal("the next one is not welcome")
			}
			if s := d.s.Status(); s.RolledBack != "" || s.Partitions[0].Unsure {
				t.Fatalf("a guest has muted the server: %+v", s)
			}
			h.ask(1, readOf(addr(1, 1)))
			if r := h.one(wire.TypeReply); r.reply.Runs[0].Written {
				t.Fatal("a refused client has written")
			}
		})
	}
}

// guestOrNil is a guest if it is welcome.
func (d *desk) guestOrNil() *guest {
	g := d.connect()
	g.say(func(e *wire.Encoder) {
		e.Hello(&wire.Hello{Version: wire.Version, Cluster: testCluster, From: 9, To: d.s.ID()})
	})
	if got := g.take(); len(got) == 1 && got[0].welcome.Refusal == wire.RefusalNone {
		return g
	}
	return nil
}

// TestClaimsOfGuests: what a guest claims to have seen of a server affects only the
// guest's own connection, now and after a restart.
func TestClaimsOfGuests(t *testing.T) {
	var o Options
	d := newDesk(t, func(p *Options) { o = *p })
	for range 2 {
		g := d.guest()
		h := d.connect()
		h.say(func(e *wire.Encoder) {
			e.Hello(&wire.Hello{Version: wire.Version, Cluster: testCluster, From: 9, To: d.s.ID(), Generation: 1 << 40})
		})
		if w := h.one(wire.TypeWelcome); w.welcome.Refusal != wire.RefusalBehind {
			t.Fatalf("got %+v", w)
		}
		g.ask(1, readOf(addr(1, 1)))
		d.commit()
		if r := g.one(wire.TypeReply); r.reply.Status != wor.StatusOK {
			t.Fatalf("after the claim it answers %+v", r)
		}
		if err := d.s.Close(); err != nil {
			t.Fatal(err)
		}
		o.Genesis, o.Dir = d.genesis, "log"
		d.open(o)
	}
}

func TestSilentGuest(t *testing.T) {
	d := newDesk(t, func(o *Options) { o.Memory, o.HelloWithin = true, time.Second })
	g, h := d.guest(), d.connect()
	d.clock.advance(2 * time.Second)
	if g.c.closed || !h.c.closed || d.s.Status().Conns != 1 {
		t.Fatalf("closed: %v and %v", g.c.closed, h.c.closed)
	}
}

func TestConnsMax(t *testing.T) {
	d := newDesk(t, func(o *Options) { o.Memory, o.ConnsMax = true, 2 })
	g := d.guest()
	d.guest()
	if d.accept(&handConn{}) != nil {
		t.Fatal("a third connection was taken")
	}
	g.h.Closed(g.c, env.ErrClosed)
	d.guest()
	if s := d.s.Status(); s.Conns != 2 || s.Counts.TurnedAway != 1 {
		t.Fatalf("%d connections, %d turned away", s.Conns, s.Counts.TurnedAway)
	}
}

// TestConnsOfOneNetwork: a machine with all addresses of an IPv6 network gets no more
// connections than one with a single address, and is the first to lose some.
func TestConnsOfOneNetwork(t *testing.T) {
	d := newDesk(t, func(o *Options) { o.Memory, o.ConnsMax, o.HelloWithin, o.PartialMax = true, 8, time.Second, 100 })
	remote := func(i int) env.Addr { return env.Addr(fmt.Sprintf("[2001:db8:0:1:%x::%x]:%d", i+1, i+1, 1000+i)) }
	var many []*guest
	for i := range 6 {
		many = append(many, d.guestFrom(remote(i)))
	}
	if d.accept(&handConn{remote: remote(6)}) != nil {
		t.Error("three quarters of the connections are of one network, and it gets more")
	}
	few := []*guest{d.guestFrom("192.0.2.1:5"), d.guestFrom("192.0.2.1:6")}
	// Idle connections of the network that has most of them are ended first, even if none
	// of its hosts has most.
	d.clock.advance(2 * time.Second)
	few = append(few, d.guestFrom("[2001:db8:0:2::1]:5"))
	if !many[0].c.closed || few[0].c.closed || few[1].c.closed {
		t.Error("a host with two connections makes room for others, and not a network with six")
	}
	// The same holds for unfinished frames.
	begun := func(g *guest, bytes int) {
		var e wire.Encoder
		q := writeOf(addr(1, 1), 1, strings.Repeat("x", 200))
		if err := e.Request(1, 0, &q); err != nil {
			t.Fatal(err)
		}
		g.h.Data(g.c, e.Bytes()[:bytes])
	}
	for _, g := range few[:2] {
		begun(g, 15)
	}
	for _, g := range many[1:5] {
		begun(g, 20)
	}
	if !many[1].c.closed || few[0].c.closed || few[1].c.closed {
		t.Error("unfinished frames of a host with 30 bytes go, and not those of a network with 80")
	}
}

// TestLimits: each answer names its limit, and nothing else is harmed.
func TestLimits(t *testing.T) {
	limit := func(t *testing.T, g *guest, name string) {
		t.Helper()
		if r := g.one(wire.TypeReply); r.reply.Status != wor.StatusLimit || !strings.Contains(string(r.reply.Value), name) {
			t.Fatalf("got %+v (%s), want a limit of %s", r.reply, r.reply.Value, name)
		}
	}
	t.Run("ListensMax", func(t *testing.T) {
		d := newDesk(t, func(o *Options) { o.Memory, o.ListensMax = true, 2 })
		g := d.guest()
		for i := range 3 {
			g.ask(uint64(i), wor.Request{Kind: wor.KindListen, Range: wor.One(addr(1, i))})
			if i < 2 {
				if r := g.one(wire.TypeReply); r.reply.Status != wor.StatusOK {
					t.Fatal(r)
				}
			}
		}
		limit(t, g, "ListensMax")
		g.ask(9, wor.Request{Kind: wor.KindUnlisten, Tag: 1})
		g.one(wire.TypeReply)
		g.ask(10, wor.Request{Kind: wor.KindListen, Range: wor.One(addr(1, 7))})
		if r := g.one(wire.TypeReply); r.reply.Status != wor.StatusOK {
			t.Fatal(r)
		}
	})
	t.Run("MaxBytes", func(t *testing.T) {
		d := newDesk(t, func(o *Options) { o.Memory, o.MaxBytes = true, 64<<10 })
		g := d.guest()
		for i := range 20 {
			g.ask(1, writeOf(addr(1, i), 1, strings.Repeat("x", 10<<10)))
			if i < 5 {
				g.one(wire.TypeReply)
			} else if i < 19 {
				g.take()
			}
		}
		limit(t, g, "MaxBytes")
		g.ask(2, readOf(addr(1, 1)))
		if r := g.one(wire.TypeReply); !r.reply.Runs[0].Written {
			t.Fatal("a read is refused by a full server")
		}
		d.s.beliefs.claims[claim{segment: 1}] = claimTrue // as its trim register would report
		g.ask(3, wor.Request{Kind: wor.KindTrim, Range: wor.Range{Segment: 1}})
		if r := g.one(wire.TypeReply); r.reply.Status != wor.StatusOK {
			t.Fatalf("trim: %+v", r)
		}
		g.ask(4, writeOf(addr(2, 1), 1, "x"))
		if r := g.one(wire.TypeReply); r.reply.Status != wor.StatusOK {
			t.Fatalf("no room after a trim: %+v", r)
		}
		if s := d.s.Status(); s.Bytes > 64<<10 {
			t.Fatalf("%d bytes", s.Bytes)
		}
	})
	t.Run("ConnInflightMax", func(t *testing.T) {
		d := newDesk(t, func(o *Options) { o.ConnInflightMax = 2000 })
		g, h := d.guest(), d.guest()
		g.say(func(e *wire.Encoder) {
			for i := range 200 {
				q := writeOf(addr(1, i), 1, "v")
				_ = e.Request(uint64(i), 0, &q)
			}
		})
		busy := 0
		for _, s := range g.take() {
			if s.reply.Status != wor.StatusBusy {
				t.Fatalf("not durable and answered: %+v", s)
			}
			busy++
		}
		h.ask(1, writeOf(addr(2, 1), 1, "v"))
		d.commit()
		h.one(wire.TypeReply)
		if done := len(g.take()); busy < 50 || done < 20 || busy+done != 200 {
			t.Fatalf("%d busy, %d done", busy, done)
		}
	})
	t.Run("ServerInflightMax", func(t *testing.T) {
		d := newDesk(t, func(o *Options) { o.ServerInflightMax = 10000 })
		a, b := d.guest(), d.guest()
		a.ask(1, writeOf(addr(1, 1), 1, strings.Repeat("x", 20000)))
		b.ask(1, readOf(addr(9, 1)))
		if r := b.one(wire.TypeReply); r.reply.Status != wor.StatusBusy {
			t.Fatal(r)
		}
		d.commit()
		a.one(wire.TypeReply)
		b.ask(2, readOf(addr(9, 1)))
		if r := b.one(wire.TypeReply); r.reply.Status != wor.StatusOK {
			t.Fatal(r)
		}
	})
	t.Run("partition", func(t *testing.T) {
		d := newDesk(t, func(o *Options) { o.Memory = true })
		g := d.guest()
		q := readOf(addr(1, 1))
		q.Partition = 1 << 31
		g.ask(1, q)
		if r := g.one(wire.TypeReply); r.reply.Status != wor.StatusForeign {
			t.Fatal(r)
		}
	})
}

// TestServices: an invocation is answered once, and bounded.
func TestServices(t *testing.T) {
	d := newDesk(t, func(o *Options) { o.Memory, o.InvokesMax = true, 2 })
	g := d.guest()
	var serial env.Serial
	var waiting []func([]byte)
	d.s.Register(wor.ServiceKV, &serial, func(payload []byte, answer func([]byte)) {
		if string(payload) == "wait" {
			waiting = append(waiting, answer)
			return
		}
		answer(append([]byte("re: "), payload...))
		answer([]byte("twice"))
	})
	invoke := func(id uint64, s wor.Service, payload string) {
		g.say(func(e *wire.Encoder) { _ = e.Invoke(id, 0, s, []byte(payload)) })
	}
	invoke(1, wor.ServiceKV, "hi")
	if a := g.one(wire.TypeAnswer); a.id != 1 || a.code != wire.CodeOK || string(a.payload) != "re: hi" {
		t.Fatalf("%+v", a)
	}
	invoke(2, wor.ServiceTx, "hi")
	if a := g.one(wire.TypeAnswer); a.code != wire.CodeUnknown {
		t.Fatalf("%+v", a)
	}
	invoke(3, wor.ServiceKV, "wait")
	invoke(4, wor.ServiceKV, "wait")
	g.none("a handler has not answered")
	invoke(5, wor.ServiceKV, "hi")
	if a := g.one(wire.TypeAnswer); a.id != 5 || a.code != wire.CodeBusy {
		t.Fatalf("%+v", a)
	}
	waiting[1](make([]byte, wire.PayloadMax+1))
	if a := g.one(wire.TypeAnswer); a.id != 4 || a.code != wire.CodeFailed {
		t.Fatalf("%+v", a)
	}
	g.h.Closed(g.c, env.ErrClosed)
	waiting[0]([]byte("nobody is there"))
	if s := d.s.Status(); s.Invokes != 0 || s.Load != 0 {
		t.Fatalf("%+v", s)
	}
}

// TestDrain: running work is finished, new work is refused.
func TestDrain(t *testing.T) {
	d := newDesk(t, nil)
	g, idle := d.guest(), d.guest()
	g.ask(1, writeOf(addr(1, 1), 1, "v"))
	drained := false
	d.s.Drain(func() { drained = true })
	if d.accept(&handConn{}) != nil {
		t.Fatal("a connection was taken")
	}
	g.ask(2, writeOf(addr(1, 2), 1, "v"))
	if r := g.one(wire.TypeReply); r.id != 2 || r.reply.Status != wor.StatusBusy {
		t.Fatalf("new work: %+v", r)
	}
	d.commit()
	got := g.take()
	if len(got) != 2 || got[0].id != 1 || got[0].reply.Status != wor.StatusOK || got[1].kind != wire.TypePing {
		t.Fatalf("got %+v", got)
	}
	if drained || g.c.closed {
		t.Fatal("closed before the answer arrived")
	}
	idle.one(wire.TypePing)
	for _, h := range []*guest{g, idle} {
		h.say(func(e *wire.Encoder) { e.Pong(0) })
	}
	if !drained || !g.c.closed || !idle.c.closed {
		t.Fatalf("drained %v, closed %v and %v", drained, g.c.closed, idle.c.closed)
	}
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDrainGivesUp: a drain does not wait forever for a peer that does not answer.
func TestDrainGivesUp(t *testing.T) {
	d := newDesk(t, func(o *Options) { o.Memory = true })
	d.guest()
	drained := 0
	d.s.Drain(func() { drained++ })
	if drained != 0 {
		t.Fatal("drained at once")
	}
	d.clock.advance(time.Minute)
	if drained != 1 || d.s.Status().Conns != 0 {
		t.Fatal("it is not drained")
	}
}

// TestOpenFails: a server that cannot listen, or whose disk fails at once, leaves its log
// to the next start.
func TestOpenFails(t *testing.T) {
	var o Options
	d := newDesk(t, func(p *Options) { o = *p })
	o.Dir, o.Genesis = "log", d.genesis
	if _, err := OpenServer(o); !errors.Is(err, wal.ErrLocked) {
		t.Fatalf("a second server on one log: %v", err)
	}
	if err := d.s.Close(); err != nil {
		t.Fatal(err)
	}
	d.deaf = errors.New("in use")
	if _, err := OpenServer(o); !errors.Is(err, d.deaf) {
		t.Fatalf("open: %v", err)
	}
	d.woken = d.step() // of a server that does not exist
	d.deaf = nil
	d.open(o)
	d.guest()
	for name, change := range map[string]func(*Options){
		"no genesis":          func(o *Options) { o.Genesis = nil },
		"memory on a disk":    func(o *Options) { o.Memory = true },
		"no directory":        func(o *Options) { o.Dir = "" },
		"a key":               func(o *Options) { o.Key = testKey(3) },
		"another directory":   func(o *Options) { o.Dir = "nothing" },
		"no tasks":            func(o *Options) { o.Tasks = nil },
		"no network to speak": func(o *Options) { o.Env.Network = nil },
	} {
		bad := o
		change(&bad)
		if _, err := OpenServer(bad); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

// TestDiskFails: after a failure of the disk no request is answered.
func TestDiskFails(t *testing.T) {
	var fatal error
	d := newDesk(t, func(o *Options) { o.Fatal = func(err error) { fatal = err } })
	g := d.guest()
	g.ask(1, writeOf(addr(1, 1), 1, "v"))
	d.sync = func() error { return errors.New("no") }
	d.commit()
	g.none("answered without a sync")
	if fatal == nil || !errors.Is(fatal, wal.ErrStopped) || !g.c.closed || d.s.Status().Failed == nil {
		t.Fatalf("told %v, closed %v", fatal, g.c.closed)
	}
	if d.accept(&handConn{}) != nil {
		t.Fatal("a connection was taken")
	}
}

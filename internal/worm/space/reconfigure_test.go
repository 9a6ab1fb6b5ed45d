// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

func (l *lab) addHost() *host {
	h := l.newHost()
	h.boot()
	return h
}

func members(hosts ...*host) []wor.Member {
	var out []wor.Member
	for _, h := range hosts {
		out = append(out, h.member)
	}
	return out
}

func (c *client) reconfigure(p wor.Partition, m []wor.Member) (cfg *wor.Config, err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() {
		c.Reconfigure(p, m, 0, nil, func(x *wor.Config, e error) { cfg, err, over = x, e, true })
	})
	c.l.must("reconfigure", func() bool { return over })
	return cfg, err
}

// TestReconfigure moves both partitions through several epochs, to entirely different
// servers, and finds all values again, also with a client that knows only the genesis.
func TestReconfigure(t *testing.T) {
	each(t, 3, func(t *testing.T, l *lab, m wor.Meta, s wor.Segment) {
		a, b := l.client(), l.client()
		if _, err := a.alloc(s, m); err != nil {
			t.Fatal(err)
		}
		is(t, a.propose(at(s, 1), "one"), nil)
		token := a.capture(wor.Range{Segment: s, Lo: 0, Hi: 10})
		holds(t, b.propose(at(s, 1), "eins"), "one")
		if _, err := a.alloc(s+2, m); err != nil {
			t.Fatal(err)
		}
		is(t, a.trim(s+2), nil)
		for epoch := range 3 {
			for p := range wor.Partition(2) {
				var next []*host
				for range 3 {
					next = append(next, l.addHost())
				}
				cfg, err := b.reconfigure(p, members(next...))
				if err != nil || cfg.Epoch != wor.Epoch(epoch+1) || !slices.Equal(cfg.Members, members(next...)) {
					t.Fatal(p, cfg, err)
				}
			}
			for i, c := range []*client{a, b, l.client()} {
				if v, err := c.read(at(s, 1)); err != nil || v != "one" {
					t.Fatal(epoch, i, v, err)
				}
				_, err := c.read(at(s, 2))
				is(t, err, wor.ErrUnwritten)
				_, err = c.stat(s + 2)
				is(t, err, wor.ErrTrimmed)
				is(t, c.propose(at(s, uint32(10+epoch)), "x"), nil)
				got, err := c.stat(s)
				if is(t, err, nil); got.Owner != 9 {
					t.Error(got)
				}
			}
		}
		err := a.write(token, 5, "late")
		is(t, err, wor.ErrUnknown)
		is(t, err, wor.ErrOutbid)
		is(t, a.write(b.capture(wor.One(at(s, 5))), 5, "five"), nil)
	})
}

// TestTokensOfALaterEpoch: a token may come from a client that is ahead.
func TestTokensOfALaterEpoch(t *testing.T) {
	l := newLab(t, 2, 1, 3)
	a, b := l.client(), l.client()
	if _, err := a.alloc(1, wor.Meta{Size: 10}); err != nil {
		t.Fatal(err)
	}
	is(t, b.propose(at(1, 1), "x"), nil)
	if _, err := a.reconfigure(0, members(l.hosts...)); err != nil {
		t.Fatal(err)
	}
	is(t, b.write(a.capture(wor.One(at(1, 2))), 2, "y"), nil)
}

// TestHalfReconfigured: if a client dies while it changes the members, other clients can
// always complete the change, wherever it stopped.
func TestHalfReconfigured(t *testing.T) {
	phases := map[space.Phase]int{}
	for seed := range seeds(t, 60) {
		l := newLab(t, uint64(seed), 2, 3)
		p := wor.Partition(seed % 2)
		m := wor.Meta{Owner: 1, Size: 10, Partition: p, Protocol: wor.Protocol(seed / 2 % 3)}
		impatient := func(o *space.Options) { o.Patience = 300 * time.Millisecond }
		a, b, dying := l.client(impatient), l.client(impatient), l.client(impatient)
		if _, err := a.alloc(1, m); err != nil {
			t.Fatal(err)
		}
		is(t, a.propose(at(1, 1), "x"), nil)
		old := l.genesis.Partitions[p].Members
		next := append(slices.Clone(old[1:]), l.addHost().member)
		var phase space.Phase
		dying.serial.Do(func() {
			dying.Reconfigure(p, next, 0, func(x space.Progress) { phase = x.Phase }, func(*wor.Config, error) {})
		})
		l.sleep(time.Duration(l.random.Uint64() % uint64(9*time.Millisecond)))
		dying.serial.Do(dying.Close)
		for _, h := range l.hosts {
			dying.cut[h.member.ID] = true
		}
		phases[phase]++
		what := fmt.Sprintf("seed %d, died at %v", seed, phase)
		for _, c := range []*client{a, b} {
			if v, err := c.read(at(1, 1)); err != nil || v != "x" {
				t.Fatal(what, v, err)
			}
			if err := c.propose(at(1, uint32(2+c.number)), "y"); err != nil {
				t.Fatal(what, err)
			}
		}
		cfg, err := b.reconfigure(p, next)
		if err != nil || !slices.Equal(cfg.Members, next) {
			t.Fatal(what, cfg, err)
		}
		if v, err := l.client().read(at(1, 1)); err != nil || v != "x" {
			t.Fatal(what, v, err)
		}
	}
	for p := space.PhaseRefresh; p < space.PhaseDone; p++ {
		if phases[p] == 0 && !testing.Short() {
			t.Errorf("nobody died at %v: %v", p, phases)
		}
	}
}

// TestReconfigureUnderLoad: clients contend for registers while two other clients compete
// to change the members of both partitions, and servers fail.
func TestReconfigureUnderLoad(t *testing.T) {
	seen := map[string]int{}
	n := seeds(t, 120)
	for seed := range n {
		l := newLab(t, uint64(seed), 2, 3)
		l.lose, l.double, l.late = .03, .1, .02
		protocol := wor.Protocol(seed % 3)
		w := &workload{
			h: &history{l: l, seen: seen}, segment: 3, size: 3, steps: 14,
			bound: 60 * time.Millisecond, protocol: protocol, trims: seed%2 == 0,
		}
		var clients []*client
		for range 3 {
			clients = append(clients, l.client(func(o *space.Options) {
				o.ResendMax = 50 * time.Millisecond
				o.Patience = 500 * time.Millisecond
			}))
		}
		m := wor.Meta{Partition: wor.Partition(seed / 3 % 2), Protocol: protocol, Size: w.size}
		if _, err := clients[0].alloc(w.segment, m); err != nil {
			t.Fatal(err)
		}
		for _, c := range clients {
			w.start(c)
		}
		spare := l.addHost()
		operators := []*client{l.client(), l.client()}
		busy := 0
		for _, o := range operators {
			n := 0
			busy++
			var next func()
			next = func() {
				if n++; n > 3 {
					busy--
					return
				}
				p := wor.Partition(o.random.Uint64() % 2)
				cfg, _ := o.Config(p)
				m := slices.Clone(cfg.Members)
				i := o.random.Uint64() % 3
				if h := l.hosts[o.random.Uint64()%uint64(len(l.hosts))]; cfg.Index(h.member.ID) < 0 {
					m[i] = h.member
				}
				o.Reconfigure(p, m, time.Duration(1+o.random.Uint64()%3)*time.Second, nil, func(_ *wor.Config, err error) {
					seen["reconfigure "+cause(err)]++
					next()
				})
			}
			o.serial.Do(next)
		}
		over := func() bool { return w.running == 0 && busy == 0 }
		all := append(slices.Clone(clients), operators...)
		l.trouble(all, 1, over)
		if !l.run(5*time.Minute, over) {
			for _, c := range all {
				t.Log(c.number, c.Dump())
			}
			t.Fatalf("seed %d: %d clients, %d operators did not finish", seed, w.running, busy)
		}
		l.lose = 0
		w.h.check(t, fmt.Sprintf("seed %d, %v", seed, protocol))
		w.agree(t, seed, clients)
		_ = spare
	}
	if n >= 100 {
		for _, what := range []string{"reconfigure <nil>", "reconfigure register is written", "write outcome is unknown", "write <nil>", "read <nil>"} {
			if seen[what] == 0 {
				t.Errorf("never seen: %s, of %v", what, seen)
			}
		}
	}
}

func TestUnsafeRecover(t *testing.T) {
	for p := range wor.Partition(2) {
		l := newLab(t, 4, 2, 3)
		a := l.client()
		s := wor.Segment(p)
		if _, err := a.alloc(s, wor.Meta{Size: 10, Partition: p}); err != nil {
			t.Fatal(err)
		}
		is(t, a.propose(at(s, 1), "x"), nil)
		recover := func() (cfg *wor.Config, err error) {
			over := false
			a.serial.Do(func() {
				a.UnsafeRecover(p, members(l.addHost(), l.addHost(), l.addHost()), 0, nil,
					func(x *wor.Config, e error) { cfg, err, over = x, e, true })
			})
			l.must("recover", func() bool { return over })
			return cfg, err
		}
		_, err := recover()
		is(t, err, space.ErrRefused)
		l.host(l.genesis.Partitions[p].Members[0].ID).down = true
		l.host(l.genesis.Partitions[p].Members[2].ID).down = true
		cfg, err := recover()
		if err != nil || !cfg.Tainted {
			t.Fatal(cfg, err)
		}
		if p == 0 {
			// No register has decided it, no client has begun it, and operators consent.
			for _, m := range cfg.Members {
				if g := l.host(m.ID).groups[0]; g.Epoch() != 0 {
					t.Errorf("server %v has begun epoch %d by itself", m.ID, g.Epoch())
				}
				l.consent(m.ID, cfg)
			}
			l.consent(l.genesis.Partitions[0].Members[1].ID, cfg) // a client that knows only the genesis asks it
		}
		for _, c := range []*client{a, l.client()} {
			if v, err := c.read(at(s, 1)); err != nil || v != "x" {
				t.Error(p, v, err)
			}
			if cfg, _ := c.Config(p); !cfg.Tainted {
				t.Error("not tainted")
			}
		}
		if cfg, err := a.reconfigure(p, members(l.addHost(), l.addHost(), l.addHost())); err != nil || !cfg.Tainted {
			t.Error("no longer tainted", cfg, err)
		}
	}
}

// TestReconfigureWithoutWitnesses: of the three first members of partition 0 one is gone,
// one does not know the next epoch, and one reports that its epoch is over. A client that
// knows only the genesis can still change the members.
func TestReconfigureWithoutWitnesses(t *testing.T) {
	l := newLab(t, 5, 1, 3)
	a, x := l.client(), l.addHost()
	a.cut[l.hosts[2].member.ID] = true
	cfg, err := a.reconfigure(0, members(x, l.hosts[0], l.hosts[1]))
	if err != nil || cfg.Epoch != 1 {
		t.Fatal(cfg, err)
	}
	l.sleep(10 * time.Millisecond)
	l.hosts[1].down = true
	l.hosts[1].hang()
	cfg, err = l.client().reconfigure(0, members(x, l.hosts[0], l.addHost()))
	if err != nil || cfg.Epoch != 2 {
		t.Fatal(cfg, err)
	}
}

func (c *client) replace(dead wor.ServerID, with wor.Member) (err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() { c.Replace(dead, with, 0, nil, func(e error) { err, over = e, true }) })
	c.l.must("replace", func() bool { return over })
	return err
}

// TestReplace: a server is replaced in all partitions that have it, unless that is not
// safe.
func TestReplace(t *testing.T) {
	l := newLab(t, 5, 3, 3)
	// The second partition shares a server with the first.
	l.genesis.Partitions[1].Members[1] = l.hosts[0].member
	for _, h := range l.hosts {
		h.groups = nil
		h.boot()
	}
	a := l.client()
	if _, err := a.alloc(1, wor.Meta{Size: 4, Partition: 0}); err != nil {
		t.Fatal(err)
	}
	is(t, a.propose(at(1, 1), "x"), nil)
	dead, fresh := l.hosts[0], l.addHost()
	dead.down = true

	is(t, a.replace(dead.member.ID, l.hosts[1].member), space.ErrRefused)
	is(t, a.replace(dead.member.ID, dead.member), space.ErrRefused)
	is(t, a.replace(fresh.member.ID, l.addHost().member), space.ErrRefused)
	fresh.down = true
	is(t, a.replace(dead.member.ID, fresh.member), space.ErrRefused)
	fresh.down = false
	l.hosts[5].down = true // another server of the second partition
	is(t, a.replace(dead.member.ID, fresh.member), space.ErrRefused)
	l.hosts[5].down = false
	for p := range wor.Partition(3) {
		if cfg, _ := a.Config(p); cfg.Epoch != 0 {
			t.Error("changed, though it was refused", cfg)
		}
	}

	is(t, a.replace(dead.member.ID, fresh.member), nil)
	for p, epoch := range []wor.Epoch{1, 1, 0} {
		cfg, _ := a.Config(wor.Partition(p))
		if cfg.Epoch != epoch || (cfg.Index(fresh.member.ID) >= 0) != (epoch == 1) || cfg.Index(dead.member.ID) >= 0 {
			t.Error(cfg)
		}
	}
	if v, err := l.client().read(at(1, 1)); err != nil || v != "x" {
		t.Error(v, err)
	}
	is(t, a.replace(dead.member.ID, fresh.member), nil)
}

// TestReconfigureOfManyPieces: a state that does not fit into one piece. The servers hold
// different parts of it, so their pieces end in different places.
func TestReconfigureOfManyPieces(t *testing.T) {
	l := newLab(t, 6, 1, 3)
	a := l.client()
	const n = 24
	if _, err := a.alloc(1, wor.Meta{Size: n}); err != nil {
		t.Fatal(err)
	}
	value := func(i int) string { return fmt.Sprint(i) + strings.Repeat("x", wor.ValueMax-10) }
	for i := range n {
		h := l.hosts[i%3]
		h.down = true // each lacks a third
		is(t, a.propose(at(1, uint32(i)), value(i)), nil)
		h.down = false
	}
	cfg, err := a.reconfigure(0, members(l.addHost(), l.addHost(), l.addHost()))
	if err != nil || cfg.Epoch != 1 {
		t.Fatal(cfg, err)
	}
	for i := range n {
		if v, err := l.client().read(at(1, uint32(i))); err != nil || v != value(i) {
			t.Fatalf("register %d: %d bytes, %v", i, len(v), err)
		}
	}
}

// TestMixedProtocols: a segment that was written by another protocol, before any client
// could know its own, does not prevent a change of members; its decided values survive
// under the protocol that its metadata name, whichever partition they are in.
func TestMixedProtocols(t *testing.T) {
	each(t, 3, func(t *testing.T, l *lab, m wor.Meta, s wor.Segment) {
		if m.Protocol != wor.Paxos {
			t.Skip("a chain or a fast quorum of three needs all three")
		}
		hosts := l.hosts[3*m.Partition : 3*m.Partition+3]
		wrong := []wor.Protocol{wor.Chain, wor.Fast, wor.Chain}
		for i, h := range hosts { // a segment each: s, s+2, s+4; and s+6, which is never allocated
			for _, seg := range []wor.Segment{s + wor.Segment(2*i), s + 6} {
				for offset := range uint32(3) {
					q := wor.Request{Kind: wor.KindWrite, Partition: m.Partition, Protocol: wrong[i], Range: wor.One(at(seg, offset)), Value: []byte("strange")}
					if r := h.handle(&q); r.Status != wor.StatusOK {
						t.Fatal(i, seg, r)
					}
				}
			}
		}
		a := l.client()
		for i := range wor.Segment(3) {
			if _, err := a.alloc(s+2*i, m); err != nil {
				t.Fatal(err)
			}
			is(t, a.propose(at(s+2*i, 1), "right"), nil)
		}
		for epoch := range wor.Epoch(3) {
			cfg, err := a.reconfigure(m.Partition, members(hosts...))
			if err != nil || cfg.Epoch != epoch+1 {
				t.Fatal(cfg, err)
			}
			b := l.client()
			for i := range wor.Segment(3) {
				if v, err := b.read(at(s+2*i, 1)); err != nil || v != "right" {
					t.Fatal(epoch, i, v, err)
				}
				_, err := b.read(at(s+2*i, 2))
				is(t, err, wor.ErrUnwritten)
				is(t, b.propose(at(s+2*i, uint32(10+epoch)), "x"), nil)
			}
		}
	})
}

// TestChangeToNobody: a change to servers that do not answer seals nothing.
func TestChangeToNobody(t *testing.T) {
	l := newLab(t, 1, 1, 3)
	a := l.client()
	away := []wor.Member{{ID: 901, Addr: "x"}, {ID: 902, Addr: "y"}, l.hosts[0].member}
	if _, err := a.reconfigure(0, away); !errors.Is(err, space.ErrRefused) {
		t.Fatal(err)
	}
	if _, err := a.alloc(4, wor.Meta{Owner: 9, Size: 10}); err != nil {
		t.Fatal(err)
	}
	for _, h := range l.hosts {
		if r := h.handle(&wor.Request{Kind: wor.KindStatus}); r.Status != wor.StatusOK {
			t.Error(h.member.ID, r.Status)
		}
	}
}

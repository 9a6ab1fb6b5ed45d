// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// held is how many hosts show a register of a partition as written.
func (l *lab) held(p wor.Partition, protocol wor.Protocol, a wor.Addr) int {
	n := 0
	for _, h := range l.hosts {
		r := h.handle(&wor.Request{Kind: wor.KindRead, Protocol: protocol, Partition: p, Range: wor.One(a)})
		if r.Status == wor.StatusOK && r.Runs[0].Written {
			n++
		}
	}
	return n
}

// accept makes one host accept a value.
func (l *lab) accept(h *host, m wor.Meta, a wor.Addr, b wor.Ballot, v string) {
	l.t.Helper()
	r := h.handle(&wor.Request{
		Kind: wor.KindWrite, Protocol: m.Protocol, Partition: m.Partition, Range: wor.One(a), Ballot: b, Value: []byte(v),
	})
	if r.Status != wor.StatusOK || r.Runs[0].Status != wor.StatusOK {
		l.t.Fatal(r)
	}
}

// TestDataGoWhereTheMetadataSay: rule m.
func TestDataGoWhereTheMetadataSay(t *testing.T) {
	each(t, 3, func(t *testing.T, l *lab, m wor.Meta, s wor.Segment) {
		a := l.client()
		if _, err := a.alloc(s, m); err != nil {
			t.Fatal(err)
		}
		is(t, a.propose(at(s, 1), "x"), nil)
		if n := l.held(m.Partition, m.Protocol, at(s, 1)); n < 2 {
			t.Error(n, "servers have it")
		}
		if n := l.held(1-m.Partition, m.Protocol, at(s, 1)); n > 0 {
			t.Error(n, "others have it")
		}
	})
}

// TestListenersCount: acceptances count by ballot, and at ballot zero of Fast a majority
// is not enough. A half-written value is reported after a read has completed it.
func TestListenersCount(t *testing.T) {
	for _, protocol := range []wor.Protocol{wor.Paxos, wor.Fast} {
		l := newLab(t, 1, 1, 3)
		a := l.client()
		m := wor.Meta{Size: 10, Protocol: protocol}
		if _, err := a.alloc(1, m); err != nil {
			t.Fatal(err)
		}
		e := a.listen(wor.Range{Segment: 1, Hi: 10})
		l.sleep(500 * time.Millisecond)
		var second wor.Ballot
		if protocol == wor.Paxos {
			second = wor.Ballot{Round: 1, Nonce: 1}
		}
		l.accept(l.hosts[0], m, at(1, 1), wor.Ballot{}, "x")
		l.accept(l.hosts[1], m, at(1, 1), second, "x")
		l.sleep(10 * time.Millisecond)
		if len(e.told) != 0 {
			t.Errorf("%v: told of what is not decided: %v", protocol, e.told)
		}
		l.must("told", func() bool { return e.told[1] == "x" })
	}
}

// TestListenersFollow: in a new epoch a listener hears the new members.
func TestListenersFollow(t *testing.T) {
	l := newLab(t, 1, 1, 3)
	a := l.client()
	b := l.client(func(o *space.Options) { o.ListenPoll = time.Hour })
	if _, err := a.alloc(1, wor.Meta{Size: 10}); err != nil {
		t.Fatal(err)
	}
	_, err := b.read(at(1, 1))
	is(t, err, wor.ErrUnwritten)
	e := b.listen(wor.Range{Segment: 1, Hi: 10})
	l.sleep(100 * time.Millisecond)
	if _, err := a.reconfigure(0, members(l.addHost(), l.addHost(), l.addHost())); err != nil {
		t.Fatal(err)
	}
	_, err = b.read(at(1, 1))
	is(t, err, wor.ErrUnwritten)
	l.sleep(time.Second)
	is(t, a.propose(at(1, 5), "x"), nil)
	l.sleep(100 * time.Millisecond)
	if e.told[5] != "x" {
		t.Error("not told in the new epoch:", e.told)
	}
}

// TestCapturesEndWithTheirEpoch: a proposer that has captured in one epoch writes nothing
// in the next, where values that were decided meanwhile count as accepted at ballot zero.
func TestCapturesEndWithTheirEpoch(t *testing.T) {
	l := newLab(t, 1, 1, 3)
	a, b := l.client(), l.client()
	if _, err := a.alloc(1, wor.Meta{Size: 10}); err != nil {
		t.Fatal(err)
	}
	_, err := b.read(at(1, 0))
	is(t, err, wor.ErrUnwritten)
	l.fixed = time.Millisecond
	answered := false
	a.serial.Do(func() { a.Propose(at(1, 1), []byte("late"), 0, func(e error) { err, answered = e, true }) })
	l.sleep(2500 * time.Microsecond)
	for _, h := range l.hosts {
		a.cut[h.member.ID] = true // its write is in transit
	}
	is(t, b.propose(at(1, 1), "early"), nil)
	if _, err := b.reconfigure(0, members(l.hosts...)); err != nil {
		t.Fatal(err)
	}
	clear(a.cut)
	l.must("answer", func() bool { return answered })
	holds(t, err, "early")
	if v, err := b.read(at(1, 1)); err != nil || v != "early" {
		t.Error(v, err)
	}
}

// TestOneWinner: of several clients that change the members at once, one wins each epoch,
// and all learn which.
func TestOneWinner(t *testing.T) {
	lost := 0
	for seed := range seeds(t, 40) {
		l := newLab(t, uint64(seed), 2, 3)
		p := wor.Partition(seed % 2)
		won := map[wor.Epoch]*wor.Config{}
		left := 0
		check := func(cfg *wor.Config, err error) {
			left--
			if err != nil && !errors.Is(err, wor.ErrWritten) {
				t.Errorf("seed %d: %v", seed, err)
				return
			}
			if errors.Is(err, wor.ErrWritten) {
				lost++
			}
			if old := won[cfg.Epoch]; old != nil && (old.Tag != cfg.Tag || !slices.Equal(old.Members, cfg.Members)) {
				t.Errorf("seed %d: epoch %d is both %v and %v", seed, cfg.Epoch, old, cfg)
			}
			won[cfg.Epoch] = cfg
		}
		for range 3 {
			c := l.client()
			left++
			m := members(l.addHost(), l.addHost(), l.addHost())
			c.serial.Do(func() { c.Reconfigure(p, m, 0, nil, check) })
		}
		l.must(fmt.Sprint("all, seed ", seed), func() bool { return left == 0 })
	}
	if lost == 0 {
		t.Error("nobody ever lost")
	}
}

// TestRelocationDies: if a client dies while it moves a segment, the segment stays whole,
// and a trim finds all its places.
func TestRelocationDies(t *testing.T) {
	moved := 0
	for seed := range seeds(t, 60) {
		l := newLab(t, uint64(seed), 3, 3)
		a, b, dying := l.client(), l.client(), l.client()
		m := wor.Meta{Size: 5, Partition: wor.Partition(seed % 2), Protocol: wor.Protocol(seed / 2 % 3)}
		if _, err := a.alloc(2, m); err != nil { // at home in partition 2
			t.Fatal(err)
		}
		for off := range m.Size {
			is(t, a.propose(at(2, off), "x"), nil)
		}
		_, err := b.read(at(2, 0)) // it knows the old place
		is(t, err, nil)
		done := false
		dying.serial.Do(func() { dying.Relocate(2, 1-m.Partition, 0, func(error) { done = true }) })
		l.sleep(time.Duration(l.random.Uint64() % uint64(11*time.Millisecond)))
		if !done && l.held(2, wor.Paxos, wor.Addr{Segment: 2, Offset: wor.MetaOffset - 1}) >= 2 {
			moved++
		}
		dying.serial.Do(dying.Close)
		for _, h := range l.hosts {
			dying.cut[h.member.ID] = true
		}
		for _, c := range []*client{b, l.client()} {
			if v, err := c.read(at(2, 1)); err != nil || v != "x" {
				t.Fatal(seed, v, err)
			}
		}
		is(t, a.trim(2), nil)
		for _, c := range []*client{b, l.client()} {
			_, err := c.read(at(2, 1))
			is(t, err, wor.ErrTrimmed)
		}
	}
	if moved == 0 && !testing.Short() {
		t.Error("nobody died between the decision and the clearing")
	}
}

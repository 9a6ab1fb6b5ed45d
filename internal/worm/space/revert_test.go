// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestRescueDoesNotRevert: a client that takes over a reconfiguration, and finds that it
// was decided meanwhile, does not bring back the members that it removed.
func TestRescueDoesNotRevert(t *testing.T) {
	l := newLab(t, 8, 2, 3)
	a, b := l.client(), l.client()
	is(t, b.propose(at(1, 0), "x"), wor.ErrUnallocated)
	old := l.genesis.Partitions[1].Members
	fresh := l.addHost()
	cfg, err := a.reconfigure(1, append(members(fresh), old[1:]...))
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := b.Config(1); c.Epoch != 0 {
		t.Fatal("the test is blind: the other client knows of it")
	}
	b.serial.Do(func() { b.Rescue(1) })
	l.must("rescue", func() bool { return !b.Rescuing(1) })
	l.sleep(time.Second)
	for _, c := range []*client{a, b} {
		is(t, c.propose(at(1, 0), "x"), wor.ErrUnallocated)
		if now, _ := c.Config(1); now.Epoch != cfg.Epoch || now.Index(fresh.member.ID) < 0 {
			t.Errorf("the members are %v in epoch %d", now.Members, now.Epoch)
		}
	}
}

// TestReplaceDoesNotRevert: while a server is replaced in one partition, another client
// changes the members of the next one.
func TestReplaceDoesNotRevert(t *testing.T) {
	l := newLab(t, 9, 2, 3)
	l.genesis.Partitions[1].Members[1] = l.hosts[0].member
	for _, h := range l.hosts {
		h.groups = nil
		h.boot()
	}
	a, b := l.client(), l.client()
	dead, fresh, other := l.hosts[0], l.addHost(), l.addHost()
	gone := l.genesis.Partitions[1].Members[2]
	dead.down = true
	var err error
	over, begun, ended := false, false, false
	b.serial.Do(func() {
		b.Replace(dead.member.ID, fresh.member, 0, func(p space.Progress) {
			if p.Partition == 0 && p.Phase == space.PhaseSeal && !begun {
				begun = true
				m := append([]wor.Member(nil), l.genesis.Partitions[1].Members...)
				m[2] = other.member
				a.serial.Do(func() {
					a.Reconfigure(1, m, 0, nil, func(_ *wor.Config, err error) {
						is(t, err, nil)
						ended = true
					})
				})
				l.run(time.Minute, func() bool { return ended })
			}
		}, func(e error) { err, over = e, true })
	})
	l.must("replace", func() bool { return over })
	if !ended {
		t.Fatal("the test is blind")
	}
	c := l.client()
	_, _ = c.reconfigure(1, nil) // refused: has no members
	is(t, c.propose(at(1, 0), "x"), wor.ErrUnallocated)
	cfg, _ := c.Config(1)
	if cfg.Index(gone.ID) >= 0 {
		t.Errorf("a member that was removed is back in epoch %d: %v", cfg.Epoch, err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

func (c *client) buried(s wor.Segment, p wor.Partition, by wor.Protocol) (yes bool, err error) {
	c.l.t.Helper()
	over := false
	c.serial.Do(func() {
		c.Buried(s, p, by, 100*time.Millisecond, func(y bool, e error) { yes, err, over = y, e, true })
	})
	c.l.must("buried", func() bool { return over })
	return yes, err
}

// TestBuried: what a server finds out about a segment that it is asked to discard, only
// from the registers of the segment's home.
func TestBuried(t *testing.T) {
	l := newLab(t, 1, 4, 3)
	const s, home, data = wor.Segment(5), wor.Partition(1), wor.Partition(2)
	a := l.client()
	expect := func(what string, p wor.Partition, by wor.Protocol, want bool, unknown bool) {
		t.Helper()
		// Any client may ask, whatever it knows.
		yes, err := l.client().buried(s, p, by)
		if yes != want || (err != nil) != unknown {
			t.Errorf("%s: partition %d, %v: %v, %v", what, p, by, yes, err)
		}
	}
	everywhere := func(what string, want bool) {
		t.Helper()
		for p := range wor.Partition(4) {
			for by := range wor.Protocol(3) {
				expect(what, p, by, want, false)
			}
		}
	}
	everywhere("not allocated", false)
	if _, err := a.alloc(s, wor.Meta{Partition: data, Size: 4}); err != nil {
		t.Fatal(err)
	}
	everywhere("allocated", false)
	for off := range uint32(4) {
		is(t, a.propose(at(s, off), fmt.Sprint(off)), nil)
	}
	is(t, a.relocate(s, 3), nil)
	for p := range wor.Partition(4) {
		expect("moved", p, wor.Paxos, p == data, false)
		expect("moved", p, wor.Fast, p == data, false)
		expect("moved", p, wor.Chain, false, false)
	}
	// One server has accepted that it is trimmed: that is not decided.
	homes := l.genesis.Partitions[home].Members
	trim := wor.Addr{Segment: s, Offset: wor.TrimOffset}
	l.host(homes[0].ID).handle(&wor.Request{Kind: wor.KindWrite, Partition: home, Range: wor.One(trim), Ballot: wor.Ballot{Round: 1, Nonce: 3}, Value: []byte("x")})
	expect("half", 3, wor.Paxos, false, true)
	l.host(homes[1].ID).down = true
	l.host(homes[2].ID).down = true
	expect("no majority", 3, wor.Paxos, false, true)
	l.host(homes[1].ID).down = false
	l.host(homes[2].ID).down = false
	is(t, a.trim(s), nil)
	everywhere("trimmed", true)
	// A tombstone at home is conclusive, whatever else is there.
	l.host(homes[0].ID).down = true
	l.host(homes[2].ID).down = true
	expect("one tombstone", 3, wor.Chain, true, false)
}

// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestOneNameTwoTransactions: messages that give one ID to transactions of different slots
// are refused, in whatever order they arrive.
func TestOneNameTwoTransactions(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 12}, 1, 3, small())
	_, cl := c.client("client")
	if _, err := c.do(cl, txn_(put(keyIn(0, 3, "a"), "1"), put(keyIn(1, 3, "a"), "1"), put(keyIn(2, 3, "a"), "1"))); err != nil {
		t.Fatal(err)
	}
	e := c.servers[0].kv.engine
	slot := func(rm RM) Slot {
		a, ok := e.chains[rm].slot(false)
		if !ok {
			t.Fatal("no slot")
		}
		return Slot{rm, a}
	}
	c.servers[0].p.Serial.Do(func() {
		one := Tx{ID{99, 1}, []Slot{slot(0), {1, wor.Addr{Segment: e.voteSegment(1, 50), Offset: 1}}}}
		two := Tx{ID{99, 1}, []Slot{one.Slots[0], slot(1), slot(2)}}
		say := func(b []byte) (code uint8) {
			e.Handle(b, func(a []byte) { code = a[0] })
			return code
		}
		part := (&Request{Ops: []Op{get(keyIn(0, 3, "a"))}}).encodePart(&part{})
		self := e.opt.Self
		if got := say((&prepareMessage{one, 0, self, part}).encode()); got != answerOK {
			t.Errorf("the first one is answered %d", got)
		}
		if got := say((&prepareMessage{two, 2, self, part}).encode()); got != answerBad {
			t.Errorf("another one of the same name is answered %d", got)
		}
		b := &beginMessage{two, self, []wor.Member{self, self, self}, [][]byte{part, part, part}}
		if got := say(b.encode()); e.policy.manager && got != answerBad {
			t.Errorf("to begin another one of the same name is answered %d", got)
		}
	})
}

// TestVoteForNothing: a YES that names no transaction belongs to none; a process that takes
// the RM over could never learn its outcome.
func TestVoteForNothing(t *testing.T) {
	a, b := Slot{1, wor.Addr{Segment: 1}}, Slot{2, wor.Addr{Segment: 2}}
	for _, x := range []struct {
		slots []Slot
		want  bool
	}{{nil, false}, {[]Slot{b, a}, false}, {[]Slot{a, a}, false}, {[]Slot{a}, true}, {[]Slot{a, b}, true}} {
		v := &Vote{ID: ID{1, 2}, Yes: true, Order: 3, Slots: x.slots}
		if got := decodeVote(v.encode()).Yes; got != x.want {
			t.Errorf("a vote with the slots %v counts as yes=%v", x.slots, got)
		}
	}
}

// TestNewEpoch: the owner of a partition notices that its tokens have ended with their epoch.
// Soon a vote takes one write again.
func TestNewEpoch(t *testing.T) {
	opt := small()
	opt.Engine.SegmentSize = 1024
	c := newCluster(t, ideal.Options{Seed: 13, Fixed: time.Millisecond}, 1, 1, opt)
	_, cl := c.client("client")
	took := func() time.Duration {
		began := c.w.Now()
		if _, err := c.do(cl, txn_(put("a", "1"))); err != nil {
			t.Fatal(err)
		}
		return c.w.Now().Sub(began)
	}
	for range 5 {
		took()
	}
	one := took()
	c.w.NewEpoch()
	for i := range 20 {
		if d := took(); i >= 10 && d > one {
			t.Fatalf("transaction %d after a new epoch takes %v, before it took %v", i, d, one)
		}
	}
}

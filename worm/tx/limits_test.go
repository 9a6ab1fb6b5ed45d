// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

func TestLimits(t *testing.T) {
	opt := small()
	opt.BytesMax = 600 << 10
	c := newCluster(t, ideal.Options{Seed: 9}, 2, 2, opt)
	_, cl := c.client("client")
	long := string(bytes.Repeat([]byte{'x'}, ValueMax))
	a, b := keyIn(0, 2, "a"), keyIn(0, 2, "b")
	for _, x := range []struct {
		q    *Request
		want error
		name string
	}{
		{txn_(), nil, "at least one operation"},
		{txn_(put(strings.Repeat("k", KeyMax+1), "")), wor.ErrLimit, "tx.KeyMax"},
		{txn_(put(a, long+"x")), wor.ErrLimit, "tx.ValueMax"},
		{txn_(put(a, long), put(b, long)), wor.ErrLimit, "tx.RequestMax"},
		{&Request{Ops: make([]Op, OpsMax+1)}, wor.ErrLimit, "tx.OpsMax"},
		{txn_(put(a, long)), nil, ""},
		{txn_(get(a), put(b, "1")), wor.ErrLimit, "tx.BriefMax"}, // a result that no vote can carry
		{txn_(get(a)), nil, ""},                                  // one that needs no vote
		{txn_(put(b, long)), nil, ""},
		{txn_(put("c"+b, "1")), nil, "any"},
		{txn_(del(a), del(b)), nil, ""},
		{txn_(put(b, "1")), nil, ""},
	} {
		_, err := c.do(cl, x.q)
		switch {
		case x.name == "any":
			if PartitionOf("c"+b, 2) == 0 && !errors.Is(err, ErrFull) {
				t.Errorf("a full partition takes more: %v", err)
			}
		case x.name == "" && err != nil, x.name != "" && (err == nil || !strings.Contains(err.Error(), x.name)),
			x.want != nil && !errors.Is(err, x.want):
			t.Errorf("%d operations: got %v, want %v %s", len(x.q.Ops), err, x.want, x.name)
		}
	}
}

// TestWaitersOfAKey makes many clients add to one key: none starves, and nothing is lost.
func TestWaitersOfAKey(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 10}, 3, 3, small())
	left := 0
	for n := range 20 {
		_, cl := c.client(fmt.Sprint("client", n))
		for range 10 {
			left++
			cl.Do(txn_(incr("n", 1), incr("other", 1)), 0, func(_ *Result, err error) {
				left--
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	if !c.w.RunUntil(9*time.Second, func() bool { return left == 0 }) {
		t.Fatalf("%d wait after %v", left, c.w.Now())
	}
	_, cl := c.client("last")
	if r, err := c.do(cl, txn_(get("n"), get("other"))); err != nil || show(r) != `[0 true true "200" 0][0 true true "200" 0]` {
		t.Errorf("%v %v", r, err)
	}
}

// FuzzMessages passes arbitrary bytes to the handlers of a server: no panic, and the
// store still works.
func FuzzMessages(f *testing.F) {
	t := Tx{ID: ID{1, 2}, Slots: []Slot{{0, wor.Addr{Segment: 1 << 48, Offset: 3}}, {1, wor.Addr{Segment: 1<<48 | 1<<32, Offset: 3}}}}
	m := wor.Member{ID: 5, Name: "n", Addr: "a"}
	q := &Request{Client: 1, Seq: 1, Low: 1, Ops: []Op{put("a", "b"), get("c"), incr("n", 1)}}
	p := q.split(2)
	f.Add((&beginMessage{t, m, []wor.Member{m, m}, [][]byte{{}, {}}}).encode(), false)
	f.Add((&prepareMessage{t, 0, m, q.encodePart(&p[0])}).encode(), false)
	f.Add((&votedMessage{t, 1, true, []byte{1}}).encode(), false)
	f.Add((&outcomeMessage{t, Outcome{Commit: true, Briefs: [][]byte{{}, {}}}}).encode(), false)
	f.Add([]byte{msgGrant, 0}, false)
	f.Add([]byte{msgStatus}, false)
	f.Add([]byte{msgRoll, 0, 200}, false)
	f.Add([]byte{msgRead, 0, 1, 1, 1, 'a'}, false)
	f.Add([]byte{msgSession, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, false)
	f.Add(q.encode(), true)
	f.Fuzz(func(t *testing.T, b []byte, kv bool) {
		opt := small()
		opt.Engine.Variant = A8 + Variant(len(b)%5)
		c := newCluster(t, ideal.Options{Seed: 1}, 2, 2, opt)
		_, cl := c.client("client")
		if _, err := c.do(cl, txn_(put("z", "1"), put("y", "1"))); err != nil {
			t.Fatal(err)
		}
		h := c.servers[0].kv.HandleTx
		if kv {
			h = c.servers[0].kv.HandleKV
		}
		answers := 0
		h(bytes.Clone(b), func([]byte) { answers++ })
		c.w.Run(time.Second)
		if answers > 1 {
			t.Fatalf("%d answers", answers)
		}
		if r, err := c.do(cl, txn_(get("z"), incr("y", 1))); err != nil || string(r.Ops[0].Value) != "1" && !kv {
			t.Fatalf("afterwards: %v, %v", r, err)
		}
	})
}

// FuzzVote decodes arbitrary bytes: what decodes as YES is encoded again as the same
// bytes.
func FuzzVote(f *testing.F) {
	f.Add((&Vote{ID: ID{1, 2}, Yes: true, Order: 7, Slots: []Slot{{1, wor.Addr{Segment: 2, Offset: 3}}}, Brief: []byte("b"), Redo: []byte("r")}).encode())
	f.Add((&Vote{ID: ID{1, 2}, Brief: []byte("no")}).encode())
	f.Add((&redo{client: 1, seq: 2, low: 1, writes: []write{{"k", false, []byte("v")}, {"d", true, nil}}}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		v := decodeVote(b)
		if v.Yes {
			if again := decodeVote(v.encode()); !again.Yes || again.ID != v.ID || again.Order != v.Order ||
				!bytes.Equal(again.Brief, v.Brief) || !bytes.Equal(again.Redo, v.Redo) || len(again.Slots) != len(v.Slots) {
				t.Fatalf("%+v and %+v", v, again)
			}
		}
		var r redo
		r.decode(b)
		newState().load(b)
		(&meta{}).decode(b)
		(&snapshotRef{}).decode(b)
		decodePart(b)
		_ = (&Request{}).decode(b)
		decodeBrief(b)
	})
}

// TestCount counts votes for a transaction that belong to another.
func TestCount(t *testing.T) {
	x := Tx{ID: ID{1, 2}, Slots: []Slot{{0, wor.Addr{Segment: 1}}, {1, wor.Addr{Segment: 2}}}}
	for _, v := range []struct {
		vote Vote
		yes  bool
	}{
		{Vote{ID: x.ID, Yes: true, Slots: x.Slots}, true},
		{Vote{ID: x.ID}, false},
		{Vote{ID: ID{1, 3}, Yes: true, Slots: x.Slots}, false},
		{Vote{ID: x.ID, Yes: true, Slots: x.Slots[:1]}, false},
		{*decodeVote([]byte("y")), false},
		{*decodeVote(nil), false},
	} {
		if got := x.count(&v.vote).Yes; got != v.yes {
			t.Errorf("%+v counts as %v", v.vote, got)
		}
	}
}

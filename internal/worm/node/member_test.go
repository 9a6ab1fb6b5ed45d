// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"

	"github.com/ashlar-dev/ashlar/internal/worm/group"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestBecomesMember hands a partition over to a server that was a member of none, and
// restarts that server.
func TestBecomesMember(t *testing.T) {
	genesis := &wor.Genesis{Cluster: testCluster, Partitions: []wor.Config{
		{Members: []wor.Member{{ID: testKey(1).ID(), Addr: "old"}}}, {Partition: 1, Members: []wor.Member{{ID: testKey(1).ID(), Addr: "old"}}}}}
	old := &desk{t: t}
	o := old.options()
	o.Memory, o.Key, o.Genesis = true, testKey(1), genesis
	old.open(o)
	var fresh Options
	next := newDesk(t, func(o *Options) {
		o.Genesis, o.Alone = genesis, true
		fresh = *o
	})
	fresh.Dir = "log"
	g, h := old.guest(), next.guest()
	ask := func(g *guest, q wor.Request) wor.Reply {
		t.Helper()
		g.ask(1, q)
		g.d.commit()
		return g.one(wire.TypeReply).reply
	}
	in1 := func(q wor.Request, e wor.Epoch) wor.Request {
		q.Partition, q.Epoch = 1, e
		return q
	}
	if r := ask(g, in1(writeOf(addr(3, 3), 1, "v"), 0)); r.Status != wor.StatusOK {
		t.Fatalf("write: %+v", r)
	}
	if r := ask(h, in1(readOf(addr(3, 3)), 0)); r.Status != wor.StatusForeign {
		t.Fatalf("no member: %+v", r)
	}
	if r := ask(g, in1(wor.Request{Kind: wor.KindSeal}, 0)); r.Status != wor.StatusOK && r.Status != wor.StatusSealed {
		t.Fatalf("seal: %+v", r)
	}
	m := group.NewMerger(1, 1, nil)
	piece := uint64(0)
	for {
		if cursor, ok := m.Wants(0); ok {
			r := ask(g, in1(wor.Request{Kind: wor.KindFetch, Cursor: cursor}, 0))
			if err := m.Put(0, cursor, &r); err != nil {
				t.Fatal(err)
			}
		}
		value, last, ok, err := m.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		q := in1(wor.Request{Kind: wor.KindStage, Tag: 9, Cursor: piece, Value: value}, 1)
		if last {
			q.Flags, q.Digest = wor.FlagLast, m.Digest()
		}
		if r := ask(h, q); r.Status != wor.StatusOK {
			t.Fatalf("stage: %+v %s", r, r.Value)
		}
		if piece++; last {
			break
		}
	}
	c := wor.Config{Partition: 1, Epoch: 1, Tag: 9, Digest: m.Digest(), Members: []wor.Member{{ID: next.s.ID(), Addr: "desk"}, {ID: 44, Addr: "other"}}}
	value, err := c.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	// A claim that it was decided is not believed, whatever peer makes it.
	if r := ask(h, in1(wor.Request{Kind: wor.KindActivate, Value: value}, 1)); r.Status != wor.StatusBusy || r.Epoch != 0 {
		t.Fatalf("activate: %+v %s", r, r.Value)
	}
	next.s.beliefs.decided(&c)
	for range 2 {
		if r := ask(h, in1(wor.Request{Kind: wor.KindActivate, Value: value}, 1)); r.Status != wor.StatusOK {
			t.Fatalf("activate: %+v %s", r, r.Value)
		}
		r := ask(h, in1(readOf(addr(3, 3)), 1))
		if r.Status != wor.StatusOK || string(r.Runs[0].Value) != "v" || r.Epoch != 1 {
			t.Fatalf("read: %+v", r)
		}
		if r := ask(h, in1(readOf(addr(3, 3)), 0)); r.Status != wor.StatusStale || len(r.Value) == 0 {
			t.Fatalf("read in the epoch before: %+v", r)
		}
		p := next.s.Status().Partitions
		if len(p) != 2 || p[1].Epoch != 1 || p[1].Standing != wor.StatusOK || p[0].Standing != wor.StatusForeign || len(p[1].Members) != 2 {
			t.Fatalf("status: %+v", p)
		}
		// It has other peers now.
		next.clock.advance(wheelTick)
		if !dialledTo(next, "other") {
			t.Fatal("the new peer is not told")
		}
		if err := next.s.Close(); err != nil {
			t.Fatal(err)
		}
		next.dialled = nil
		next.open(fresh)
		h = next.guest()
	}
}

func dialledTo(d *desk, a string) bool {
	for _, x := range d.dialled {
		if string(x.addr) == a {
			return true
		}
	}
	return false
}

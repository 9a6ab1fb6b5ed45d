// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
)

// TestLeave makes each server leave in order, with the time limits of production: the others
// serve its partitions long before they would have noticed a crash.
func TestLeave(t *testing.T) {
	const parts = 6
	c := newCluster(t, ideal.Options{Seed: 15}, 3, parts, KVOptions{Engine: Options{Instance: 1, SegmentSize: 1024, Partitions: 2}})
	_, cl := c.client("client")
	all := &Request{}
	for rm := range RM(parts) {
		all.Ops = append(all.Ops, incr(keyIn(rm, parts, "k"), 1))
	}
	count := int64(0)
	ask := func() time.Duration {
		began := c.w.Now()
		count++
		r, err := c.do(cl, &Request{Ops: all.Ops})
		if err != nil {
			t.Fatal(err)
		}
		for rm := range parts {
			if got := r.Ops[rm].Number; got != count {
				t.Errorf("partition %d counts %d, want %d", rm, got, count)
			}
		}
		return c.w.Now().Sub(began)
	}
	ask()
	for i, s := range c.servers {
		c.w.Run(20 * time.Second)
		told := false
		s.p.Serial.Do(func() { s.kv.Leave(func() { told = true }) })
		if !c.w.RunUntil(time.Second, func() bool { return told }) {
			t.Fatal("nobody has heard that the server leaves")
		}
		if d := ask(); d > time.Second {
			t.Errorf("after server %d has left the keys are served after %v", i, d)
		}
		c.restart(i)
	}
}

// TestLeaveOfNobody: a leave message that is malformed, or from an unknown server, changes
// nothing.
func TestLeaveOfNobody(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 16}, 2, 2, small())
	_, cl := c.client("client")
	if _, err := c.do(cl, txn_(incr(keyIn(0, 2, "k"), 1), incr(keyIn(1, 2, "k"), 1))); err != nil {
		t.Fatal(err)
	}
	for _, payload := range [][]byte{nil, {0}, {0, 1, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {5, 1, 2, 3, 4, 5, 6, 7, 8}} {
		answered := false
		c.servers[0].kv.HandleTx(append([]byte{msgLeave}, payload...), func(b []byte) {
			answered = true
			if ok := len(payload) == 9 && payload[0] == 0; (b[0] == answerOK) != ok {
				t.Errorf("%v is answered %v", payload, b)
			}
		})
		if !answered {
			t.Errorf("%v is not answered", payload)
		}
	}
	c.w.Run(10 * time.Second)
	for i, s := range c.servers {
		if got := s.kv.Owned(); len(got) != 1 || got[0] != RM(i) {
			t.Errorf("server %d owns %v", i, got)
		}
	}
}

// TestStoppedAndBegunAgain stops the store at a server, again and again while clients work,
// and starts it anew in the same process. Both share a Space, and must not confuse the names
// of each other's transactions and registers.
func TestStoppedAndBegunAgain(t *testing.T) {
	first, past := seeds(t, 6)
	for seed := first; seed < past; seed++ {
		c := newCluster(t, ideal.Options{Seed: seed, Late: .02}, 3, 4, small())
		stops := 0
		helper := c.w.Start("helper")
		var again func()
		again = func() {
			s := c.servers[stops%3]
			if s.p.Dead() || stops == 12 {
				return
			}
			stops++
			s.kv.Stop()
			c.boot((stops - 1) % 3)
			helper.After(250*time.Millisecond, again)
		}
		_, cl := c.client("first")
		var q Request
		for i := range accounts {
			q.Ops = append(q.Ops, put(fmt.Sprint("account", i), fmt.Sprint(stake)))
		}
		if _, err := c.do(cl, &q); err != nil {
			t.Fatal(err)
		}
		helper.After(50*time.Millisecond, again)
		w := &workload{c: c}
		w.run(5, 60)
		if !c.w.RunUntil(time.Minute, func() bool { return w.under == 0 }) {
			t.Fatalf("seed %d: %d clients wait for ever", seed, w.under)
		}
		if c.failed != nil {
			t.Fatalf("seed %d: %v", seed, c.failed)
		}
		if err := w.check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if stops < 3 || len(w.sums) == 0 {
			t.Errorf("seed %d: %d stops, %d sums: the test is blind", seed, stops, len(w.sums))
		}
	}
}

// TestHaltedAsksForNothing counts the requests to the registers of a KV that was stopped in
// the middle of its work.
func TestHaltedAsksForNothing(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 17}, 3, 4, small())
	w := &workload{c: c}
	_, cl := c.client("first")
	var q Request
	for i := range accounts {
		q.Ops = append(q.Ops, put(fmt.Sprint("account", i), fmt.Sprint(stake)))
	}
	if _, err := c.do(cl, &q); err != nil {
		t.Fatal(err)
	}
	w.run(5, 200)
	if !c.w.RunUntil(time.Minute, func() bool { return len(w.txns) > 50 }) {
		t.Fatal("nothing goes on")
	}
	s := c.servers[0]
	if len(s.kv.engine.txns) == 0 {
		t.Fatal("nothing is under way: this seed shows nothing, take another")
	}
	s.kv.Stop()
	before := s.p.Space.Count
	c.w.RunUntil(time.Minute, func() bool { return w.under == 0 })
	c.w.Run(10 * time.Second)
	if after := s.p.Space.Count; after != before {
		t.Errorf("after it was stopped it asked: %+v, before %+v", after, before)
	}
	if err := w.check(); err != nil {
		t.Error(err)
	}
}

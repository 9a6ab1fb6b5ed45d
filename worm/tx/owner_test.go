// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// keyIn returns a key of a partition.
func keyIn(rm RM, n int, name string) string {
	for i := 0; ; i++ {
		if k := fmt.Sprint(name, i); PartitionOf(k, n) == rm {
			return k
		}
	}
}

// live returns the number of segments of a partition that are allocated and not trimmed,
// and the number that there ever were.
func (c *cluster) live(rm RM) (votes, states, ever int) {
	c.t.Helper()
	e := c.servers[0].kv.engine
	count := func(segment func(uint64) wor.Segment, misses int) (n, past int) {
		for i := uint64(0); misses > 0; i++ {
			var err error
			done := false
			c.servers[0].p.Space.Stat(segment(i), 0, func(_ wor.Meta, e error) { err, done = e, true })
			c.w.RunUntil(time.Minute, func() bool { return done })
			switch {
			case err == nil:
				n++
			case errors.Is(err, wor.ErrUnallocated):
				misses--
				continue
			}
			past = int(i) + 1
		}
		return n, past
	}
	votes, ever = count(func(n uint64) wor.Segment { return e.voteSegment(rm, n) }, 1)
	states, _ = count(func(n uint64) wor.Segment { return e.StateSegment(rm, n) }, 20)
	return votes, states, ever
}

// TestSpaceIsBounded writes for a long time: segments that are no longer needed are
// trimmed, even if an idle partition delays a busy one.
func TestSpaceIsBounded(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 5}, 3, 3, small())
	_, cl := c.client("client")
	busy, idle := keyIn(0, 3, "busy"), keyIn(1, 3, "idle")
	for i := range 3000 {
		q := txn_(put(busy, fmt.Sprint(i)))
		if i%300 == 0 {
			q = txn_(incr(idle, 1), put(busy, "x"))
		}
		if _, err := c.do(cl, q); err != nil {
			t.Fatal(err)
		}
	}
	c.w.Run(5 * time.Second)
	for rm := range RM(3) {
		votes, states, ever := c.live(rm)
		t.Logf("partition %d: %d segments of votes and %d of state, of %d", rm, votes, states, ever)
		if votes > 10 || states > 3 {
			t.Errorf("partition %d keeps %d segments of votes and %d of state", rm, votes, states)
		}
		if rm == 0 && ever < 50 {
			t.Errorf("only %d segments: the test is blind", ever)
		}
	}
	// The next owner finds everything.
	for i := range c.servers {
		c.kill(i)
	}
	for i := range c.servers {
		c.restart(i)
	}
	r, err := c.do(cl, txn_(get(busy), get(idle)))
	if err != nil || string(r.Ops[0].Value) != "2999" || string(r.Ops[1].Value) != "10" {
		t.Errorf("after all have restarted: %v, %v", show(r), err)
	}
}

// TestOneServerIsEnough kills all but one.
func TestOneServerIsEnough(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 6}, 3, 6, small())
	_, cl := c.client("client")
	var q Request
	for rm := range RM(6) {
		q.Ops = append(q.Ops, put(keyIn(rm, 6, "k"), fmt.Sprint(rm)))
	}
	if _, err := c.do(cl, &q); err != nil {
		t.Fatal(err)
	}
	c.kill(0)
	c.kill(2)
	before := c.w.Now()
	q2 := Request{}
	for rm := range RM(6) {
		q2.Ops = append(q2.Ops, get(keyIn(rm, 6, "k")), incr(keyIn(rm, 6, "k"), 1))
	}
	r, err := c.do(cl, &q2)
	if err != nil {
		t.Fatal(err)
	}
	for rm := range 6 {
		if got := string(r.Ops[2*rm].Value); got != fmt.Sprint(rm) {
			t.Errorf("partition %d has %q", rm, got)
		}
	}
	if d := c.w.Now().Sub(before); d > 10*time.Second {
		t.Errorf("it took %v", d)
	}
}

// TestDeposedOwnerIsSilent asks an owner that does not know that it lost its partition
// for a key that was written since.
func TestDeposedOwnerIsSilent(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 7}, 2, 2, small())
	p, cl := c.client("client")
	k := keyIn(0, 2, "k")
	if _, err := c.do(cl, txn_(put(k, "old"))); err != nil {
		t.Fatal(err)
	}
	old, next := c.servers[0].kv, c.servers[1].kv
	c.w.Run(time.Second)
	next.acquire(0)
	if !c.w.RunUntil(time.Minute, func() bool { return next.engine.Owns(0) }) {
		t.Fatal("never taken over")
	}
	ask := func(kv *KV, q *Request) (answer []byte) {
		kv.HandleKV(q.encode(), func(b []byte) { answer = b })
		c.w.RunUntil(10*time.Second, func() bool { return answer != nil })
		return answer
	}
	// The old owner does not know it yet: it must check in the registers.
	if !old.engine.Owns(0) {
		t.Fatal("the old owner has noticed already: this seed shows nothing, take another")
	}
	q := txn_(put(k, "new"))
	q.Client, q.Seq, q.Low = 77, 1, 1
	if b := ask(next, q); len(b) == 0 || b[0] != answerOK {
		t.Fatalf("the new owner answers %v", b)
	}
	if b := ask(old, txn_(get(k))); len(b) == 0 || b[0] == answerOK {
		t.Errorf("the old owner answers %q", b)
	}
	q = txn_(put(k, "lost"))
	q.Client, q.Seq, q.Low = 78, 1, 1
	if b := ask(old, q); len(b) != 0 && b[0] == answerOK {
		t.Errorf("the old owner writes: %q", b)
	}
	_ = p
	if r, err := c.do(cl, txn_(get(k))); err != nil || string(r.Ops[0].Value) != "new" {
		t.Errorf("got %v, %v", r, err)
	}
}

// TestDeposedOwnerCannotWrite asks an owner that does not know that it lost its partition
// to write: registers that it has captured, and has not written, are decided.
func TestDeposedOwnerCannotWrite(t *testing.T) {
	for seed := range uint64(20) {
		c := newCluster(t, ideal.Options{Seed: seed}, 2, 2, small())
		_, cl := c.client("client")
		k := keyIn(0, 2, "k")
		if _, err := c.do(cl, txn_(incr(k, 1))); err != nil {
			t.Fatal(err)
		}
		old, next := c.servers[0].kv, c.servers[1].kv
		c.w.Run(time.Second)
		next.acquire(0)
		if !c.w.RunUntil(time.Minute, func() bool { return next.engine.Owns(0) }) {
			t.Fatal("never taken over")
		}
		// Make it forget the new owner: other servers may have reported it.
		if !old.engine.Owns(0) {
			continue
		}
		q := txn_(incr(k, 1))
		q.Client, q.Seq, q.Low = 78, 1, 1
		var answer []byte
		old.HandleKV(q.encode(), func(b []byte) { answer = b })
		c.w.RunUntil(10*time.Second, func() bool { return answer != nil })
		if len(answer) != 0 && answer[0] == answerOK {
			t.Errorf("seed %d: the old owner writes: %q", seed, answer)
		}
		if r, err := c.do(cl, txn_(get(k))); err != nil || string(r.Ops[0].Value) != "1" {
			t.Errorf("seed %d: got %v, %v", seed, r, err)
		}
	}
}

// TestOnceOnly sends requests twice, at once and later, to any server.
func TestOnceOnly(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 8}, 3, 3, small())
	_, cl := c.client("client")
	a, b := keyIn(0, 3, "a"), keyIn(1, 3, "b")
	if _, err := c.do(cl, txn_(put(a, "0"))); err != nil {
		t.Fatal(err)
	}
	send := func(q *Request) [][]byte {
		var got [][]byte
		for _, s := range c.servers {
			for range 2 {
				s.kv.HandleKV(q.encode(), func(x []byte) { got = append(got, x) })
			}
		}
		c.w.RunUntil(20*time.Second, func() bool { return len(got) == 6 })
		return got
	}
	for i, q := range []*Request{txn_(incr(a, 1)), txn_(incr(a, 1), incr(b, 1)), txn_(incr(b, 1), incr(a, 1))} {
		q.Client, q.Seq, q.Low = 9, uint64(i+1), 1
		for range 2 {
			var ok string
			for _, x := range send(q) {
				switch {
				case len(x) > 0 && x[0] == answerNotOwner:
				case len(x) == 0 || x[0] != answerOK:
					t.Fatalf("request %d: answer %q", i, x)
				case ok == "":
					ok = string(x)
				case ok != string(x):
					t.Errorf("request %d: answers %q and %q", i, ok, x)
				}
			}
			if ok == "" {
				t.Fatalf("request %d: nobody has answered", i)
			}
			// The remembered answers survive their owner.
			c.restart(i % 3)
			c.w.Run(2 * time.Second)
		}
	}
	r, err := c.do(cl, txn_(get(a), get(b)))
	if err != nil || string(r.Ops[0].Value) != "3" || string(r.Ops[1].Value) != "2" {
		t.Errorf("got %v, %v", show(r), err)
	}
	// A request whose answer the client has acknowledged is not done again.
	q := txn_(incr(a, 1))
	q.Client, q.Seq, q.Low = 9, 10, 10
	send(q)
	q = txn_(incr(a, 1))
	q.Client, q.Seq, q.Low = 9, 2, 1
	for _, x := range send(q) {
		if len(x) > 0 && x[0] == answerOK {
			t.Errorf("a request from before Low was done: %q", x)
		}
	}
}

// TestRoom writes more than an owner has room for at first: it enlarges its room, and the
// next owner finds everything that was written.
func TestRoom(t *testing.T) {
	for _, writes := range []int64{900, 1500, 5000} {
		opt := small()
		opt.Engine.SegmentSize = 1 << 15
		c := newCluster(t, ideal.Options{Seed: 14, Fixed: 50 * time.Microsecond}, 2, 2, opt)
		_, cl := c.client("client")
		k, m := keyIn(0, 2, "k"), keyIn(1, 2, "m")
		for n := range writes {
			q := txn_(incr(k, 1))
			if n%8 == 0 {
				q = txn_(incr(k, 1), incr(m, 1))
			}
			if _, err := c.do(cl, q); err != nil {
				t.Fatal(err)
			}
		}
		chain := c.servers[0].kv.engine.chains[0]
		if first := chain.e.firstRoom(); writes > 4000 && chain.cur.room <= first || writes < 1000 && chain.cur.room != first {
			t.Errorf("after %d quick writes the room is %d, at first it was %d", writes, chain.cur.room, first)
		}
		c.kill(0)
		r, err := c.do(cl, txn_(incr(k, 1), get(m)))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Ops[0].Number, writes+1; got != want {
			t.Errorf("after a takeover the count is %d, want %d", got, want)
		}
		if got, want := string(r.Ops[1].Value), fmt.Sprint((writes+7)/8); got != want {
			t.Errorf("after a takeover the other count is %s, want %s", got, want)
		}
	}
}

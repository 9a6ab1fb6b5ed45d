// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
)

// TestCountHasWhatWasAcknowledged: a count that begins after an answer has arrived includes
// the effect of that transaction, whichever server coordinated it and whichever has the
// keys.
func TestCountHasWhatWasAcknowledged(t *testing.T) {
	for seed := range uint64(20) {
		c := newCluster(t, ideal.Options{Seed: seed}, 3, 5, small())
		_, writes := c.client("writes")
		_, counts := c.client("counts")
		random := c.w.Random()
		there := map[string]bool{}
		for i := range 40 {
			q := &Request{}
			for range 1 + env.IntN(random, 4) {
				k := fmt.Sprint("k", env.IntN(random, 30))
				if random.Uint64()%4 == 0 {
					q.Ops = append(q.Ops, del(k))
					delete(there, k)
				} else {
					q.Ops = append(q.Ops, put(k, "v"))
					there[k] = true
				}
			}
			// The count begins at the moment at which the answer arrives.
			got, answered := int64(-1), false
			writes.Do(q, 0, func(_ *Result, err error) {
				if err != nil {
					t.Fatalf("seed %d, request %d: %v", seed, i, err)
				}
				counts.Count(10*time.Second, func(x Counted) {
					if got, answered = x.Keys, true; x.Err != nil || x.Partitions != 5 {
						t.Fatalf("seed %d, count %d: %+v", seed, i, x)
					}
				})
			})
			if !c.w.RunUntil(time.Minute, func() bool { return answered }) {
				t.Fatalf("seed %d: count %d has no answer", seed, i)
			}
			if got != int64(len(there)) {
				t.Fatalf("seed %d, after request %d: %d keys, want %d", seed, i, got, len(there))
			}
		}
	}
}

// TestDeposedOwnerCannotCount asks an owner that does not know that it lost its
// partition.
func TestDeposedOwnerCannotCount(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 5}, 2, 2, small())
	_, cl := c.client("client")
	if _, err := c.do(cl, txn_(put(keyIn(0, 2, "k"), "1"))); err != nil {
		t.Fatal(err)
	}
	old, next := c.servers[0].kv, c.servers[1].kv
	c.w.Run(time.Second)
	next.acquire(0)
	if !c.w.RunUntil(time.Minute, func() bool { return next.engine.Owns(0) }) {
		t.Fatal("never taken over")
	}
	if !old.engine.Owns(0) {
		t.Fatal("the old owner knows already, so that nothing is shown: choose another seed")
	}
	var answer []byte
	old.HandleTx([]byte{msgCount, 0}, func(b []byte) { answer = b })
	c.w.RunUntil(10*time.Second, func() bool { return answer != nil })
	if len(answer) == 0 || answer[0] == answerOK {
		t.Errorf("the old owner answers %q", answer)
	}
}

// TestCountWithoutOwners ends with an error, in time.
func TestCountWithoutOwners(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 6}, 2, 3, small())
	_, cl := c.client("client")
	c.kill(0)
	c.kill(1)
	var ended Counted
	began := c.w.Now()
	cl.Count(time.Second, func(x Counted) { ended = x })
	if !c.w.RunUntil(time.Minute, func() bool { return ended.Err != nil }) || ended.Partitions != 0 || c.w.Now().Sub(began) > 4*time.Second {
		t.Errorf("ended with %v after %v", ended, c.w.Now().Sub(began))
	}
}

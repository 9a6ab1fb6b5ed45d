package tx

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// changes counts how often each partition was opened somewhere.
func (c *cluster) changes() map[RM]int {
	n := map[RM]int{}
	c.log = func(_ int, e env.Event) {
		if o, ok := e.(Owned); ok {
			n[o.RM]++
		}
	}
	return n
}

// TestSlowMachines ends one server after the other, and begins it again, in a world
// in which each message takes a hundred times as long as between healthy machines,
// with the times of production. Keys are served again within a bound, and no
// partition goes to and fro: a takeover that takes longer than the others' patience
// is no reason for a takeover.
func TestSlowMachines(t *testing.T) {
	for _, delay := range []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) { slowMachines(t, delay) })
	}
}

func slowMachines(t *testing.T, delay time.Duration) {
	const servers, partitions = 3, 16
	opt := KVOptions{Engine: Options{Instance: 1, Partitions: 2}}
	c := &cluster{t: t, w: ideal.New(ideal.Options{Seed: 1, DelayMin: delay / 2, DelayMax: 3 * delay / 2}), opt: opt, parts: partitions, outcomes: map[ID]bool{}}
	opened := c.changes()
	for i := range servers {
		p := c.w.Start(fmt.Sprint("s", i))
		c.servers, c.members = append(c.servers, &server{p: p}), append(c.members, p.Member)
	}
	for i := range servers {
		c.boot(i)
	}
	_, cl := c.client("client")
	written := 0
	// all writes a key of each partition.
	all := func(bound time.Duration) {
		t.Helper()
		began, done, failed := c.w.Now(), 0, error(nil)
		for rm := range RM(partitions) {
			cl.Do(txn_(incr(keyIn(rm, partitions, "k"), 1)), bound, func(r *Result, err error) {
				if done++; err != nil {
					failed = fmt.Errorf("partition %d: %w", rm, err)
				} else if r.Ops[0].Number != int64(written+1) {
					failed = fmt.Errorf("partition %d counts %d, want %d", rm, r.Ops[0].Number, written+1)
				}
			})
		}
		c.w.RunUntil(bound+time.Second, func() bool { return done == partitions })
		if failed != nil || done < partitions {
			t.Fatalf("%d of %d partitions have answered after %v: %v", done, partitions, c.w.Now().Sub(began), failed)
		}
		written++
		t.Logf("all partitions have answered after %v", c.w.Now().Sub(began))
	}
	all(time.Minute)
	for i := range servers {
		before := map[RM]int{}
		for rm, n := range opened {
			before[rm] = n
		}
		c.kill(i)
		all(time.Minute)
		c.restart(i)
		all(time.Minute)
		c.w.Run(30 * time.Second)
		for rm := range RM(partitions) {
			if n := opened[rm] - before[rm]; n > 2 {
				t.Errorf("partition %d was taken over %d times when server %d died", rm, n, i)
			}
		}
	}
	_ = wor.Member{}
}

// SPDX-License-Identifier: Apache-2.0

package smr_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/smr"
)

const unit = time.Millisecond // the time that a message takes

// propose proposes and returns how long it took.
func propose(t *testing.T, c *cluster, n *node, cmd string) (smr.Result, time.Duration) {
	t.Helper()
	begin, done := c.w.Now(), false
	var res smr.Result
	n.p.Serial.Do(func() {
		n.r.Propose([]byte(cmd), 0, func(r smr.Result, err error) {
			if err != nil {
				t.Fatal(err)
			}
			res, done = r, true
		})
	})
	if !c.w.RunUntil(time.Minute, func() bool { return done }) {
		t.Fatalf("it does not end: %s", n.r.Describe())
	}
	return res, c.w.Now().Sub(begin)
}

func read(t *testing.T, c *cluster, n *node, level smr.Consistency, after smr.Slot) time.Duration {
	t.Helper()
	begin, done := c.w.Now(), false
	n.p.Serial.Do(func() {
		n.r.Read(level, after, 0, func(err error) {
			if err != nil {
				t.Fatal(err)
			}
			done = true
		})
	})
	if !c.w.RunUntil(time.Minute, func() bool { return done }) {
		t.Fatalf("it does not end: %s", n.r.Describe())
	}
	return c.w.Now().Sub(begin)
}

// TestRoundTrips counts the round trips of a command without faults. At a leader, and at the
// replica that has the turn: one write of one round trip. Without a leader: a capture and a
// write. At a replica that follows a leader: also the message to the leader and the note back.
// A linearizable read takes one round trip, other reads take none.
func TestRoundTrips(t *testing.T) {
	for _, x := range []struct {
		name             string
		leadership       smr.Leadership
		node             int
		writes, proposes int
		invokes          int
		took             time.Duration
	}{
		{"leader", smr.StickyLeader, 0, 1, 0, 0, 2 * unit},
		{"follower", smr.StickyLeader, 1, 0, 0, 1, 3 * unit},
		{"turn", smr.Turns, 0, 1, 0, 0, 2 * unit},
		{"nobody", smr.Nobody, 0, 0, 1, 0, 4 * unit},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := newCluster(t, ideal.Options{Fixed: unit}, 1+x.node, func(o *smr.Options) {
				o.Leadership, o.Size = x.leadership, 1024
			})
			propose(t, c, c.nodes[0], "0 set a a")
			propose(t, c, c.nodes[x.node], "0 set a a")
			c.w.Run(time.Second)
			n := c.nodes[x.node]
			before := n.p.Space.Count
			const commands = 20
			for i := range commands {
				if _, took := propose(t, c, n, fmt.Sprint(i, " set a b")); took != x.took {
					t.Errorf("a command takes %v, want %v", took, x.took)
				}
			}
			want := before
			want.Writes += commands * x.writes
			want.Proposes += commands * x.proposes
			want.Invokes += commands * x.invokes
			if n.p.Space.Count != want {
				t.Errorf("operations %+v, want %+v", n.p.Space.Count, want)
			}
			if took := read(t, c, n, smr.Linearizable, 0); took != 2*unit {
				t.Errorf("a linearizable read takes %v, want %v", took, 2*unit)
			}
			for _, level := range []smr.Consistency{smr.Sequential, smr.Causal} {
				if took := read(t, c, n, level, n.r.Applied()); took != 0 {
					t.Errorf("read %d takes %v, want none", level, took)
				}
			}
		})
	}
}

// TestBatches: commands that wait while writes are running go into one register.
func TestBatches(t *testing.T) {
	c := newCluster(t, ideal.Options{Fixed: unit}, 1, func(o *smr.Options) { o.PipelineMax, o.Size = 2, 1024 })
	n := c.nodes[0]
	propose(t, c, n, "0 set a a")
	before, left := n.p.Space.Count.Writes, 100
	n.p.Serial.Do(func() {
		for i := range left {
			n.r.Propose(fmt.Appendf(nil, "%d set a b", i), 0, func(smr.Result, error) { left-- })
		}
	})
	c.w.RunUntil(time.Minute, func() bool { return left == 0 })
	if got := n.p.Space.Count.Writes - before; got != 3 {
		t.Errorf("%d writes, want 3: two at once, and what waited meanwhile", got)
	}
}

// TestCausal: a client that reads after it has learned of a result from another replica sees
// that result.
func TestCausal(t *testing.T) {
	for seed := range uint64(50) {
		c := newCluster(t, ideal.Options{Seed: seed, Late: .2, Double: .2}, 2, nil)
		for i := range 20 {
			a, b := c.nodes[i%2], c.nodes[1-i%2]
			res, _ := propose(t, c, a, fmt.Sprintf("%d set x v%d", i, i))
			read(t, c, b, smr.Causal, res.Slot)
			if got, want := b.m.data["x"], fmt.Sprint("v", i); got != want {
				t.Fatalf("seed %d: a causal read answers %q, want %q", seed, got, want)
			}
		}
	}
}

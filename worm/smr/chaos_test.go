// SPDX-License-Identifier: Apache-2.0

package smr_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/smr"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestAdversity runs replicas under each leadership with crashes, lost and late messages,
// half-written values and changes of the epoch: all replicas apply the same commands,
// each once, and the map is linearizable.
func TestAdversity(t *testing.T) {
	for _, leadership := range []smr.Leadership{smr.StickyLeader, smr.Turns, smr.Nobody} {
		t.Run(fmt.Sprint(leadership), func(t *testing.T) {
			seen := map[string]int{}
			first, end := seeds(t, 60)
			for seed := first; seed < end; seed++ {
				o := ideal.Options{Seed: seed, Late: .05, Half: .3, Double: .1}
				if seed%4 != 0 {
					o.Lose = .05
				}
				c := newCluster(t, o, 3, func(o *smr.Options) {
					o.Leadership = leadership
					o.Size = []uint32{4, 16, 600}[seed%3]
					o.PipelineMax = 1 + int(seed%5)
					if seed%5 == 0 {
						o.Messenger = nil
					}
					if seed%2 == 0 {
						o.Snapshots = smr.Snapshots{Every: 2, Seen: int(seed % 3)}
					}
					o.Place = func(s wor.Segment) (wor.Partition, wor.Protocol) { return wor.Partition(s % 2), wor.Paxos }
				})
				for _, n := range c.nodes {
					n.p.Serial.Do(n.play)
				}
				for range seed % 10 {
					c.w.Run(time.Duration(c.roll(150)) * time.Millisecond)
					c.crash()
				}
				c.w.Run(200 * time.Millisecond)
				c.finish()
				if err := c.check(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for k, n := range c.seen {
					seen[k] += n
				}
			}
			t.Log(seen)
			if end-first < 50 {
				return
			}
			for _, k := range []string{"propose <nil>", "propose outcome is unknown", "read <nil>"} {
				if seen[k] == 0 {
					t.Errorf("never seen: %s", k)
				}
			}
		})
	}
}

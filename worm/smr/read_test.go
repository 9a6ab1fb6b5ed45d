// SPDX-License-Identifier: Apache-2.0

package smr_test

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/smr"
)

// TestLeaderReads: a leader reads everything that another replica had acknowledged
// before, even if the leader does not know of it: because it was deposed (without a
// messenger the other one takes over), or because the other one learned earlier that the
// leader's write was decided.
func TestLeaderReads(t *testing.T) {
	for _, forwarding := range []bool{false, true} {
		for seed := range uint64(60) {
			c := newCluster(t, ideal.Options{Seed: seed, Late: .3}, 2, func(o *smr.Options) {
				if !forwarding {
					o.Messenger = nil
				}
			})
			propose(t, c, c.nodes[0], "0 set k v0")
			for i := range 5 {
				propose(t, c, c.nodes[1], fmt.Sprintf("%d set k w%d", i, i))
				read(t, c, c.nodes[0], smr.Linearizable, 0)
				if got, want := c.nodes[0].m.data["k"], fmt.Sprint("w", i); got != want {
					t.Fatalf("forwarding %v, seed %d: the leader reads %q, want %q", forwarding, seed, got, want)
				}
				if !forwarding {
					propose(t, c, c.nodes[0], fmt.Sprintf("%d set k v%d", i, i))
				}
			}
		}
	}
}

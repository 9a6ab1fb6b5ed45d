// SPDX-License-Identifier: Apache-2.0

package smr_test

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/smr"
)

// TestNewEpoch: a leader's tokens end with the epoch of their partition. It gets others
// soon: no command takes long, and later ones take one round trip again.
func TestNewEpoch(t *testing.T) {
	c := newCluster(t, ideal.Options{}, 2, func(o *smr.Options) { o.Leadership, o.Size = smr.StickyLeader, 8192 })
	n := c.nodes[0]
	for range 3 {
		propose(t, c, n, "set a 1")
	}
	_, one := propose(t, c, n, "set a 2")
	c.w.NewEpoch()
	for i := range 40 {
		_, d := propose(t, c, n, "set a 3")
		if i < 20 && d > 3*time.Second || i >= 20 && d > 10*one {
			t.Fatalf("command %d after a new epoch took %v, before it took %v", i, d, one)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
)

// TestSilentServersAreLeft kills all but one of the servers. Whichever is left, and
// wherever the client begins, the client finds it within the time bound of one request.
func TestSilentServersAreLeft(t *testing.T) {
	for seed := range uint64(60) {
		c := newCluster(t, ideal.Options{Seed: seed}, 3, 6, small())
		_, cl := c.client("client")
		var puts, incrs Request
		for rm := range RM(6) {
			puts.Ops = append(puts.Ops, put(keyIn(rm, 6, "k"), fmt.Sprint(rm)))
			incrs.Ops = append(incrs.Ops, incr(keyIn(rm, 6, "k"), 1))
		}
		if _, err := c.do(cl, &puts); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i := range c.servers {
			if i != int(seed%3) {
				c.kill(i)
			}
		}
		r, err := c.do(cl, &incrs)
		if err != nil {
			t.Fatalf("seed %d: server %d is left: %v", seed, seed%3, err)
		}
		for rm := range 6 {
			if got := r.Ops[rm].Number; got != int64(rm)+1 {
				t.Errorf("seed %d: partition %d has %d", seed, rm, got)
			}
		}
	}
}

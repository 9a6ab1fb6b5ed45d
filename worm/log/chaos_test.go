// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
)

// seeds returns the seeds to run: the number in ASHLAR_WORM_SEEDS, by default few; or
// only the seed in ASHLAR_WORM_SEED.
func seeds(t *testing.T, few int) (first, end uint64) {
	if s := os.Getenv("ASHLAR_WORM_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n, n + 1
	}
	if s := os.Getenv("ASHLAR_WORM_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return 0, uint64(n)
	}
	return 0, uint64(few)
}

// TestAdversity runs clients and sequencers with crashes of both, lost and late messages,
// half-written values and changes of the epoch, and checks everything that the package
// promises.
func TestAdversity(t *testing.T) {
	seen := map[string]int{}
	first, end := seeds(t, 120)
	for seed := first; seed < end; seed++ {
		o := ideal.Options{Seed: seed, Late: .05, Half: .3, Double: .1}
		if seed%4 != 0 {
			o.Lose = .05
		}
		prefetch := uint32(0)
		if seed%8 == 7 {
			prefetch = 6
		}
		c := newCluster(t, o, 3, 3, []uint32{4, 16, 64}[seed%3], prefetch)
		for range seed % 12 {
			c.w.Run(time.Duration(c.roll(200)) * time.Millisecond)
			c.disturb()
		}
		c.w.Run(300 * time.Millisecond)
		all := c.finish()
		if err := c.check(all); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for k, n := range c.seen {
			seen[k] += n
		}
		seen["entries"] += len(all.entries)
		seen["tails"] += len(c.tails)
	}
	t.Log(seen)
	if end-first < 50 {
		return
	}
	for _, k := range []string{"append <nil>", "append outcome is unknown", "append deadline exceeded", "read <nil>", "read register is unwritten", "tails"} {
		if seen[k] == 0 {
			t.Errorf("never seen: %s", k)
		}
	}
}

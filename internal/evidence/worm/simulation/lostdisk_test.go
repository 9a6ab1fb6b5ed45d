// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"math/bits"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestLostDisk: a server lives once beside some of the other members, all of its
// partition's, and then again on the disk that it had before that life, beside
// some of them. Whoever they are, of all groups of up to five: it serves on that
// disk only if none of them was there in both lives, and then until one of those
// comes back that were there in the lost one.
//
// So it never does where more than half of the others were there both times,
// which in groups of even size every majority has.
func TestLostDisk(t *testing.T) {
	most := 5
	if testing.Short() {
		most = 3
	}
	for n := 1; n <= most; n++ {
		served, denied := 0, 0
		for before := range uint(1) << (n - 1) {
			for after := range uint(1) << (n - 1) {
				if bits.OnesCount(before) < n/2 || bits.OnesCount(after) < n/2 {
					continue // a minority, which serves nobody
				}
				if lostDisk(t, n, before, after) {
					served++
				} else {
					denied++
				}
			}
		}
		t.Logf("%d members: served %d times, denied %d times", n, served, denied)
		if n > 1 && n%2 == 0 && served > 0 {
			t.Errorf("%d members, of which two majorities have one in common besides the server itself: a disk served that had lost a life", n)
		}
	}
}

// lostDisk plays one case, of the members that are there in the lost life and in
// the next one, by their bits.
func lostDisk(t *testing.T, n int, before, after uint) (served bool) {
	t.Helper()
	o := worldOptions()
	o.Seed = uint64(n)<<20 | uint64(before)<<10 | uint64(after)
	w, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCluster(w, n, 0)
	if err != nil {
		t.Fatal(err)
	}
	var cfg wor.Config
	for _, h := range c.hosts {
		cfg.Members = append(cfg.Members, h.member)
	}
	c.genesis.Partitions = []wor.Config{cfg}
	h := c.hosts[0]
	w.Invariant("a lost life is noticed", func() error {
		if h.disk == nil || h.node.Life() == nil || h.server == nil || !h.sure() || h.server.Status().RolledBack != "" {
			return nil
		}
		if served = true; before&after != 0 {
			return fmt.Errorf("%d members, %b and then %b are there: the server answers", n, before, after)
		}
		return nil
	})
	run := func() {
		t.Helper()
		if err := w.Run(2 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
	start := func(there uint) {
		for i, h := range c.hosts[1:] {
			h.node.Crash(false)
			if there>>i&1 != 0 {
				h.node.Start(0)
			}
		}
		h.node.Start(0)
		run()
	}
	run()
	h.node.Crash(false)
	old := h.node.Disk().Clone()
	start(before)
	if !h.sure() {
		t.Fatalf("%d members, %b of the others are there: the server does not answer", n, before)
	}
	h.node.Crash(false)
	h.disk = old
	start(after)
	if before&after == 0 && !served {
		t.Fatalf("%d members, %b and then %b are there: the server does not answer", n, before, after)
	}
	start(1<<(n-1) - 1)
	if n > 1 && h.server.Status().RolledBack == "" {
		t.Fatalf("%d members, %b and then %b were there, and now all are: nobody denies the server", n, before, after)
	}
	return served
}

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

// TestLostDisk: a server lives once beside some of the other members, all of them of its
// partition, and then again on the disk that it had before that life: several times
// alone, and then beside some members. The test tries all such sets of members, in all
// groups of up to five, and several numbers of starts alone. The server serves on that
// disk only if no member was there both times, and then only until a member comes back
// that was there in the lost life.
//
// So it never serves if more than half of the others were there both times, which holds
// for all majorities in groups of even size.
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
					continue // a minority, which serves no request
				}
				for alone := range 4 {
					for _, stays := range []bool{false, true} {
						switch {
						case stays && alone == 0, alone > 0 && !typical(before, after):
						case lostDisk(t, lostLife{n, before, after, alone, stays}):
							served++
						default:
							denied++
						}
					}
				}
			}
		}
		t.Logf("%d members: served %d times, denied %d times", n, served, denied)
		if n > 1 && n%2 == 0 && served > 0 {
			t.Errorf("%d members, of which two majorities have one in common besides the server itself: a disk served that had lost a life", n)
		}
	}
}

// typical returns one of the cases that differ only in the numbering of members.
func typical(before, after uint) bool {
	packed := func(x uint) bool { return x&(x+1) == 0 }
	return packed(before) && packed(before&after) && packed(after>>bits.OnesCount(before))
}

// lostLife is a case: the members that are there in the lost life and at the end, as
// bits; how often the server starts alone in between; and whether it stays up from the
// last of these starts until the others come.
type lostLife struct {
	members       int
	before, after uint
	alone         int
	stays         bool
}

func (x lostLife) String() string {
	return fmt.Sprintf("%d members, %b and then, after %d starts alone (it stays up: %v), %b are there", x.members, x.before, x.alone, x.stays, x.after)
}

// lostDisk plays one case.
func lostDisk(t *testing.T, x lostLife) (served bool) {
	t.Helper()
	o := worldOptions()
	o.Seed = uint64(x.members)<<20 | uint64(x.before)<<12 | uint64(x.after)<<4 | uint64(x.alone)
	w, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCluster(w, x.members, 0)
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
		if served = true; x.before&x.after != 0 {
			return fmt.Errorf("%v: the server answers", x)
		}
		return nil
	})
	run := func() {
		t.Helper()
		if err := w.Run(2 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
	meet := func(there uint) {
		for i, peer := range c.hosts[1:] {
			peer.node.Crash(false)
			if there>>i&1 != 0 {
				// Each starts a little later, the last within WitnessWait of the first.
				peer.node.Start(time.Duration(i*int(x.after+1)%4) * 40 * time.Millisecond)
			}
		}
		run()
	}
	start := func(there uint) {
		h.node.Crash(false)
		h.node.Start(0)
		meet(there)
	}
	run()
	h.node.Crash(false)
	old := h.node.Disk().Clone()
	start(x.before)
	if !h.sure() {
		t.Fatalf("%v: in the life that will be lost the server does not answer", x)
	}
	h.node.Crash(false)
	h.disk = old
	for range x.alone {
		start(0)
	}
	if x.stays {
		meet(x.after)
	} else {
		start(x.after)
	}
	if x.before&x.after == 0 && !served {
		t.Fatalf("%v: the server does not answer", x)
	}
	start(1<<(x.members-1) - 1)
	if x.members > 1 && h.server.Status().RolledBack == "" {
		t.Fatalf("%v, and then all: nobody denies the server", x)
	}
	return served
}

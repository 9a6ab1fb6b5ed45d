// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// overwrite puts n keys in random order, and returns the content of the store after that.
func overwrite(t *testing.T, db *store.DB, n, round int) map[string]string {
	t.Helper()
	want := map[string]string{}
	for i := range n {
		k, v := fmt.Sprintf("key%05d", i*7919%n), fmt.Sprintf("%d of round %d %0150d", i, round, i)
		must(t, db.Put([]byte(k), []byte(v)))
		want[k] = v
	}
	must(t, db.Flush())
	return want
}

// TestMergesKeepToTheirRate: on a clock that leaps to the end of each wait, merges take as long
// as their bytes should, and no longer than that when the bound ends.
func TestMergesKeepToTheirRate(t *testing.T) {
	clock := &leap{}
	o := tiny()
	o.Compression = store.None
	w := world(sim.NewDisk(), 7)
	w.Clock = clock
	db, err := store.Open(w, "db", o)
	must(t, err)
	overwrite(t, db, 1500, 0)
	must(t, db.SetLimits(store.Limits{Paused: true}))
	want := overwrite(t, db, 1500, 1)
	compact := func(rate int64) (took time.Duration) {
		t.Helper()
		must(t, db.SetLimits(store.Limits{BytesPerSecond: rate, Paused: true}))
		start := clock.Now()
		must(t, db.Compact(nil, nil))
		return clock.Now().Sub(start)
	}
	bytes := 0
	for k, v := range want {
		bytes += len(k) + len(v)
	}
	const rate = 100_000
	should := time.Duration(float64(bytes) / rate * float64(time.Second))
	if took := compact(rate); took < should*9/10 || took > should*13/10 {
		t.Errorf("%d bytes at %d a second took %v, want about %v", bytes, rate, took, should)
	}
	if clock.wait > 50*time.Millisecond {
		t.Errorf("one wait of %v", clock.wait)
	}
	overwrite(t, db, 1500, 2)
	if took := compact(0); took != 0 {
		t.Errorf("without a bound it took %v", took)
	}
	// A merge that waits for years continues when the bound ends.
	want = overwrite(t, db, 1500, 3)
	waits := 0
	clock.asked = func() {
		if waits++; waits == 5 {
			must(t, db.SetLimits(store.Limits{Paused: true}))
		}
	}
	if took := compact(1); waits != 5 || took > time.Second {
		t.Errorf("%d waits of %v in all for a bound that ended at the fifth", waits, took)
	}
	clock.asked = nil
	check(t, db, want)
	must(t, db.Close())
}

// TestPaused: without merges nothing is lost, and they are made up for.
func TestPaused(t *testing.T) {
	for _, inline := range []bool{true, false} {
		t.Run(fmt.Sprint("inline=", inline), func(t *testing.T) {
			var disk env.Disk = sim.NewDisk()
			if !inline {
				real, err := osenv.OpenDisk(t.TempDir())
				must(t, err)
				defer real.Close()
				disk = real
			}
			o := tiny()
			o.Tuning.Inline = inline
			db, err := store.Open(world(disk, 7), "db", o)
			must(t, err)
			must(t, db.SetLimits(store.Limits{Paused: true}))
			for round := range 3 {
				overwrite(t, db, 600, round)
			}
			want := overwrite(t, db, 600, 3)
			waited := make(chan error, 1)
			go func() { waited <- db.Wait() }()
			select {
			case err := <-waited:
				must(t, err)
			case <-time.After(20 * time.Second):
				t.Fatal("Wait waits for what is paused")
			}
			m := db.Metrics()
			if m.Compactions != 0 || m.Runs < 8 || m.Debt == 0 {
				t.Errorf("paused: %d merges, %d runs, debt %d", m.Compactions, m.Runs, m.Debt)
			}
			check(t, db, want)
			if got := db.Limits(); got != (store.Limits{Paused: true}) {
				t.Errorf("the limits are %+v", got)
			}
			must(t, db.SetLimits(store.Limits{}))
			must(t, db.Wait())
			if m = db.Metrics(); m.Compactions == 0 || m.Runs > 2 {
				t.Errorf("resumed: %d merges, %d runs", m.Compactions, m.Runs)
			}
			check(t, db, want)
			must(t, db.Close())
		})
	}
}

// TestWorkers changes how many merge while merges, which are slow, run.
func TestWorkers(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	defer disk.Close()
	o := tiny()
	o.Tuning.Inline = false
	began, running := make(chan int, 10_000), 0
	o.Notify = func(e env.Event) { // called by one goroutine
		switch e.(type) {
		case store.CompactionBegan:
			running++
		case store.CompactionEnded:
			running--
		default:
			return
		}
		began <- running
	}
	db, err := store.Open(world(disk, 7), "db", o)
	must(t, err)
	overwrite(t, db, 3000, 0)
	must(t, db.Wait()) // there are many partitions
	must(t, db.SetLimits(store.Limits{Paused: true}))
	want := overwrite(t, db, 3000, 1)
	must(t, db.Wait())
	for len(began) > 0 {
		<-began
	}
	next := func() int {
		t.Helper()
		select {
		case n := <-began:
			return n
		case <-time.After(30 * time.Second):
			t.Fatal("no merge begins or ends")
			return 0
		}
	}
	must(t, db.SetLimits(store.Limits{Workers: 3, BytesPerSecond: 1}))
	for n := 0; n < 3; {
		if n = next(); n > 3 { // merges hardly move at this rate, and pile up
			t.Fatalf("%d merges with three workers", n)
		}
	}
	must(t, db.SetLimits(store.Limits{Paused: true}))
	for next() > 0 {
	}
	must(t, db.SetLimits(store.Limits{Workers: 1, BytesPerSecond: 1}))
	if n := next(); n != 1 {
		t.Fatalf("%d merges with one worker", n)
	}
	check(t, db, want) // time in which another worker would begin
	must(t, db.SetLimits(store.Limits{Workers: 1}))
	must(t, db.Wait())
	must(t, db.Close())
	if lost := db.EventsLost(); lost > 0 {
		t.Fatalf("%d events lost", lost)
	}
	for len(began) > 0 {
		if n := <-began; n > 1 {
			t.Fatalf("%d merges at once with one worker", n)
		}
	}
	db, err = store.Open(world(disk, 7), "db", tiny())
	must(t, err)
	check(t, db, want)
	for _, l := range []store.Limits{{Workers: -1}, {BytesPerSecond: -1}, {Workers: store.WorkersMax + 1}} {
		if err := db.SetLimits(l); err == nil {
			t.Errorf("limits %+v", l)
		}
	}
	must(t, db.Close())
}

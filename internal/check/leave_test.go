// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/sim"
)

// TestLeave: a search that leaves again and again, each time continued by
// another one, finds what one search finds.
func TestLeave(t *testing.T) {
	left := 0
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		if rapid.IntRange(0, 9).Draw(t, "large") == 0 {
			g = largeGraph(rapid.IntRange(0, 11).Draw(t, "seed"), 3000)
		}
		want, d := g.reference(), sim.NewDisk()
		var m Monitor
		for resume := false; ; resume = true {
			polls, most := 0, rapid.IntRange(1, 6).Draw(t, "segments")
			r, err := Run(context.Background(), g, Options{Workers: rapid.SampledFrom([]int{1, 3}).Draw(t, "workers"), Monitor: &m,
				Disk: newTestDisk(d), MemoryBytes: rapid.SampledFrom([]int64{0, 1}).Draw(t, "memory"),
				Checkpoint: &Checkpoint{Resume: resume, Stay: true, Leave: func() bool { polls++; return polls >= most }}})
			if errors.Is(err, ErrLeft) {
				if r != nil || m.search.Load().set != nil {
					t.Fatal("a search that was left holds on to its states")
				}
				left++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
				t.Fatalf("(-reference +left):\n%s", diff)
			}
			break
		}
		if err := RemoveCheckpoint(newTestDisk(d)); err != nil {
			t.Fatal(err)
		}
		if left := files(t, d); len(left) > 0 {
			t.Fatalf("left behind: %v", left)
		}
	})
	if left == 0 {
		t.Error("no search was left")
	}
}

// TestLeaveOnAFullDisk: an error in writing the checkpoint for Leave is
// distinguished from other errors of the disk.
func TestLeaveOnAFullDisk(t *testing.T) {
	disk := newTestDisk(sim.NewDisk())
	disk.most, disk.cause = 3, errFull
	_, err := Run(context.Background(), chain(100), Options{Disk: disk, Checkpoint: &Checkpoint{Leave: func() bool { return true }}})
	var leave *LeaveError
	if !errors.As(err, &leave) || !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

// TestResumeHasAllInitialStates: a search that is killed while it enumerates
// its initial states, which it joins in parts when memory is short, does not
// resume without the rest of them.
func TestResumeHasAllInitialStates(t *testing.T) {
	g := manyInits(20000)
	want := g.reference()
	whole := newTestDisk(sim.NewDisk())
	o := Options{Disk: whole, MemoryBytes: 1, Checkpoint: &Checkpoint{Due: func() bool { return true }}}
	mustRun(t, g, o)
	resumed := 0
	for most := 1; most < whole.ops; most += 1 + whole.ops/40 {
		d := sim.NewDisk()
		o.Disk = &testDisk{Disk: d, mu: newTestDisk(d).mu, most: most, cause: errFull}
		if _, err := Run(context.Background(), g, o); err == nil {
			t.Fatalf("the disk did not fail within %d operations", most)
		}
		again := o
		again.Disk, again.Checkpoint = newTestDisk(d), &Checkpoint{Resume: true}
		r, err := Run(context.Background(), g, again)
		if errors.Is(err, ErrNoCheckpoint) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		resumed++
		if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
			t.Fatalf("killed after %d of %d operations (-reference +resumed):\n%s", most, whole.ops, diff)
		}
	}
	if resumed == 0 {
		t.Error("no search was resumed")
	}
}

// TestReport: a monitor returns the reported figures until a search uses it.
func TestReport(t *testing.T) {
	var m Monitor
	f := Figures{Stats: Stats{Generated: 7, Distinct: 5, Queue: 2, Depth: 3}, Initial: 1, DiskBytes: 9, Before: 4}
	m.Report(f)
	if m.Figures() != f || m.Stats() != f.Stats || m.Initial() != 1 || m.DiskBytes() != 9 {
		t.Errorf("got %+v", m.Figures())
	}
	mustRun(t, chain(10), Options{Monitor: &m})
	if got := m.Figures(); got.Distinct != 10 || got.Before != 0 {
		t.Errorf("got %+v of a search of 10 states", got)
	}
}

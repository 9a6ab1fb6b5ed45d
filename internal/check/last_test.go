// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/check/live"
	"github.com/ashlar-dev/ashlar/sim"
)

// endingGraph ends the context when a state is expanded for the nth time.
type endingGraph struct {
	*graph
	end func()
}

func (g endingGraph) NewWorker() Worker { return endingWorker{g.graph.NewWorker(), g.end} }

type endingWorker struct {
	Worker
	end func()
}

func (w endingWorker) Next(s State, visit Visit) error {
	w.end()
	return w.Worker.Next(s, visit)
}

// TestKeptAtItsEnd: a search that is interrupted, or reaches its limit of states,
// before the first checkpoint was due leaves a checkpoint, and resumed it finds what
// one search finds. The next search begins with the counts with which it ended.
func TestKeptAtItsEnd(t *testing.T) {
	kept := 0
	rapid.Check(t, func(t *rapid.T) {
		g := largeGraph(rapid.IntRange(0, 11).Draw(t, "seed"), 3000)
		want, d := g.reference(), sim.NewDisk()
		limit := rapid.Bool().Draw(t, "limit")
		for before := int64(0); ; {
			// If the limit is below the number of initial states, there is no checkpoint.
			resume := slices.Contains(files(t, d), manifestName)
			ctx, cancel := context.WithCancel(context.Background())
			o := Options{Disk: newTestDisk(d), MemoryBytes: rapid.SampledFrom([]int64{0, 1}).Draw(t, "memory"),
				Checkpoint: &Checkpoint{Resume: resume, Last: true}}
			var m Model = g
			if limit {
				o.StatesMax = before + rapid.Int64Range(1, 1500).Draw(t, "more")
				o.Workers = rapid.SampledFrom([]int{1, 3}).Draw(t, "workers")
			} else {
				left := rapid.IntRange(1, 1500).Draw(t, "steps") // of one worker, so that no other worker counts
				m = endingGraph{g, func() {
					if left--; left == 0 {
						cancel()
					}
				}}
			}
			r, err := Run(ctx, m, o)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if r.Before != before {
				t.Fatalf("gone on with at %d states generated, left at %d", r.Before, before)
			}
			if r.Verdict == Incomplete || r.Verdict == Interrupted {
				switch {
				case slices.Contains(files(t, d), manifestName):
					before = r.Generated
					kept++
				case limit && len(r.Levels) <= 1:
					before = 0
				default:
					t.Fatalf("%v with %d states, and nothing is kept", r.Verdict, r.Distinct)
				}
				continue
			}
			if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
				t.Fatalf("(-reference +kept):\n%s", diff)
			}
			break
		}
		if left := files(t, d); len(left) > 0 {
			t.Fatalf("left behind: %v", left)
		}
	})
	if kept == 0 {
		t.Error("no search was kept")
	}
}

// TestKeptNoLongerThanThat: the search leaves a segment that takes too long to
// end.
func TestKeptNoLongerThanThat(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	late := make(chan struct{})
	g := largeGraph(1, 3000)
	m := stuckGraph{g, func() {
		cancel()
		close(late)
	}}
	r, err := Run(ctx, m, Options{Disk: sim.NewDisk(), Checkpoint: &Checkpoint{Last: true, Late: late}})
	if err != nil || r.Verdict != Interrupted {
		t.Fatalf("%+v, %v", r, err)
	}
}

// stuckGraph has a first step that ends when the search is over, and not before.
type stuckGraph struct {
	*graph
	begun func()
}

func (g stuckGraph) NewWorker() Worker {
	return &stuckWorker{Worker: g.graph.NewWorker(), begun: g.begun}
}

type stuckWorker struct {
	Worker
	begun func()
	stop  func() bool
}

func (w *stuckWorker) Capabilities() Capabilities {
	return Capabilities{EndWhen: func(stop func() bool) { w.stop = stop }}
}

func (w *stuckWorker) Next(State, Visit) error {
	w.begun()
	for !w.stop() {
	}
	return ErrStopped
}

// TestPeriodicChecksAreKept: a search with periodic checks of properties of behaviours
// that stops at its limit of states and resumes again and again agrees with one search:
// the number of checks, the violations, their order, and the warnings.
func TestPeriodicChecksAreKept(t *testing.T) {
	g := wideGraph(8_000, true)
	g.bad = make([]bool, len(g.bad))
	g.bad[7_999] = true
	m := orderModel{&enabledModel{g, []LiveProperty{{Name: "Ends", Formula: live.EventuallyOf(live.AtomOf(2))}}}}
	for _, goOn := range []bool{true, false} {
		want := mustRun(t, m, Options{IgnoreDeadlock: true, Continue: goOn, Periodic: true})
		if want.Live.Checks == 0 || want.Property != "Ends" {
			t.Fatalf("%d checks, %s", want.Live.Checks, want.Property)
		}
		d, most, parts := sim.NewDisk(), int64(0), 0
		for {
			resume := slices.Contains(files(t, d), manifestName)
			most += 300
			r := mustRun(t, m, Options{IgnoreDeadlock: true, Continue: goOn, Periodic: true, StatesMax: most, Disk: newTestDisk(d),
				Checkpoint: &Checkpoint{Resume: resume, Last: true}})
			if r.Unfinished {
				if !slices.Contains(files(t, d), manifestName) {
					t.Fatalf("%v with %d states, and nothing is kept", r.Verdict, r.Distinct)
				}
				parts++
				continue
			}
			if diff := cmp.Diff(outcomeOf(want), outcomeOf(r)); diff != "" || r.Live.Checks != want.Live.Checks || !slices.Equal(r.Warnings, want.Warnings) {
				t.Errorf("continue %t: %d checks, %q (-at once +in parts):\n%s", goOn, r.Live.Checks, r.Warnings, diff)
			}
			if diff := cmp.Diff(want.Violations, r.Violations); diff != "" {
				t.Errorf("continue %t (-at once +in parts):\n%s", goOn, diff)
			}
			break
		}
		if parts < 2 {
			t.Errorf("continue %t: the search came to its end in %d parts", goOn, parts+1)
		}
	}
}

// TestDamagedPeriodicChecks: a checkpoint with impossible contents about periodic checks is refused.
func TestDamagedPeriodicChecks(t *testing.T) {
	m := &enabledModel{wideGraph(10, false), []LiveProperty{{Name: "Ends"}}}
	good := func() *keptPeriodic {
		return &keptPeriodic{Level: 2, Checks: 1, Found: []keptViolation{{Property: "Ends", Trace: []keptStep{{-1, []byte{1}}}, LoopAction: -1, After: 1}}}
	}
	if !good().valid(m, m.Info(), 1) {
		t.Fatal("what is well is refused")
	}
	for name, damage := range map[string]func(k *keptPeriodic){
		"no level":      func(k *keptPeriodic) { k.Level = 0 },
		"a property":    func(k *keptPeriodic) { k.Found[0].Property = "Other" },
		"too late":      func(k *keptPeriodic) { k.Found[0].After = 2 },
		"too early":     func(k *keptPeriodic) { k.Found[0].After = -1 },
		"the loop":      func(k *keptPeriodic) { k.Found[0].Loop = 1 },
		"no loop":       func(k *keptPeriodic) { k.Found[0].Loop = -1 },
		"no trace":      func(k *keptPeriodic) { k.Found[0].Trace = nil },
		"its action":    func(k *keptPeriodic) { k.Found[0].LoopAction = 99 },
		"a step":        func(k *keptPeriodic) { k.Found[0].Trace[0].Action = -2 },
		"fewer than no": func(k *keptPeriodic) { k.Checks = -1 },
	} {
		k := good()
		if damage(k); k.valid(m, m.Info(), 1) {
			t.Errorf("%s: believed", name)
		}
	}
}

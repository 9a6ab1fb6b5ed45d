// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// runsVar, if set, is the number of runs of TestTheEngineConforms.
const runsVar = "ASHLAR_STORE_TRACES"

// seedVar is its first seed.
const seedVar = "ASHLAR_STORE_SEED"

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// refuse reports a trace that is not explained, and keeps it as a module.
func refuse(t *testing.T, what string, r *Report, events []Event) {
	t.Helper()
	path := filepath.Join(os.TempDir(), "StoreTraceRefused.tla")
	if err := os.WriteFile(path, Module("StoreTraceRefused", events), 0o644); err != nil {
		t.Error(err)
	}
	from := max(0, r.Explained-15)
	for i, e := range events[from:min(len(events), r.Explained+3)] {
		t.Logf("%5d %s", from+i+1, e)
	}
	t.Fatalf("%s: %s\nthe trace is in %s", what, r, path)
}

// TestTheEngineConforms makes the engine live many lives on simulated disks, and the
// checker decide whether its trace is a behaviour of the specification.
func TestTheEngineConforms(t *testing.T) {
	s := spec(t)
	runs, seed := number(t, runsVar, 120), number(t, seedVar, 1)
	var sum tally
	for n := range runs {
		x := newRun(t, seed+n)
		x.play(6)
		events := x.rec.Events()
		r := verdict(t, s, events, Options{Refine: n%10 == 0})
		if r.Refused != nil {
			refuse(t, "seed "+strconv.FormatUint(seed+n, 10), r, events)
		}
		x.tally.count(events)
		x.tally.Steps = r.Steps
		sum.add(x.tally)
	}
	t.Logf("%+v", sum)
	for _, n := range []int{sum.Lost, sum.InPart, sum.Unheard, sum.Older, sum.Stops, sum.Fulls, sum.Crashes, sum.Kills, sum.Checkpoints} {
		if n == 0 {
			t.Errorf("the runs are lopsided: %+v", sum)
		}
	}
}

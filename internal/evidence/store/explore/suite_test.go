// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"os"
	"runtime"
	"testing"
)

// replayVariable replays one failure: it holds what Failure.Replay prints.
// statesVariable is how many states a run explores, in place of a million.
const (
	replayVariable = "ASHLAR_CRASH"
	statesVariable = "ASHLAR_CRASH_STATES"
)

// recoveryPaths are the marks that the store sets on its way through recovery,
// all of which a suite must have seen.
func recoveryPaths() []string {
	return []string{"store.recover.one-superblock", "store.recover.replay", "store.stopped", "one of two lost"}
}

func crashSuite() Suite {
	s := Suite{Subjects: Engines(), Profiles: Profiles(), Options: Options{FaultRuns: 12}, States: 1_000_000}
	if testing.Short() {
		// A little of everything.
		s.States = 30_000
		s.Options = Options{FaultRuns: 2, Subsets: 5, Samples: 16, Deeper: 100}
		for i := range s.Profiles {
			s.Profiles[i].Ops /= 3
		}
	}
	return s
}

// fail reports a failure, reduced as far as possible unless time is short, with the
// command that replays it.
func fail(t *testing.T, s Suite, f *Failure) {
	t.Helper()
	o, err := s.Replay(f.Replay())
	if err != nil {
		t.Fatal(err, f)
	}
	attempts, short := 40, ""
	if testing.Short() {
		attempts, short = 0, "-short "
	}
	t.Errorf("%v\nsmaller:\n%v\nreplay: %s='%s' go test %s-run TestCrashes ./internal/evidence/store/explore",
		f, f.Shrink(o, attempts), replayVariable, f.Replay(), short)
}

// TestCrashes is the crash suite.
func TestCrashes(t *testing.T) {
	s := crashSuite()
	s.Workers = runtime.GOMAXPROCS(0)
	if text := os.Getenv(replayVariable); text != "" {
		o, err := s.Replay(text)
		if err != nil {
			t.Fatal(err)
		}
		if r := Run(o); r.Failure != nil {
			t.Fatal(r.Failure)
		}
		t.Skip("the failure is gone")
	}
	if text := os.Getenv(statesVariable); text != "" {
		if _, err := fmt.Sscan(text, &s.States); err != nil {
			t.Fatal(err)
		}
	}
	s.Progress = func(seed uint64, r Report) {
		if testing.Verbose() {
			fmt.Printf("a part of seed %d done: %d states, %d images, %d opens\n", seed, r.States, r.Images, r.Opens)
		}
	}
	r := s.Run()
	t.Logf("%d moments, %d crash states, %d images (an image that several parts of a seed reach is counted in each); %d opens, by depth %d; %d verified; %d right reads\n%v",
		r.Moments, r.States, r.Images, r.Opens, r.Deep[1:4], r.Verify, r.Reads, r.Coverage)
	if r.Failure != nil {
		fail(t, s, r.Failure)
		return
	}
	if r.States < s.States || r.Reads == 0 || r.Verify == 0 || r.Deep[3] == 0 {
		t.Errorf("too little was explored")
	}
	if !testing.Short() {
		if m := r.Missing(append(Required(), recoveryPaths()...)); m != nil {
			t.Errorf("never: %v", m)
		}
	}
}

// TestEngineRunsAreTheSame: a seed gives the same run, bit for bit.
func TestEngineRunsAreTheSame(t *testing.T) {
	s := crashSuite()
	s.Options.FaultRuns = 2
	for seed := range uint64(4) {
		o := s.Seed(seed * 6)
		o.Profile.Ops = 20
		a, b := Run(o), Run(o)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("seed %d:\n%v\n%v", seed, a, b)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package explore

import "testing"

// idling is a workload of many syncs that often waits after them, so that there are many
// witnesses. A crash may keep any of them.
func idling() Profile {
	return Profile{Name: "idling", Ops: 36, Keys: 8, Tiny: 8, Middle: 2, Weights: [opKinds]int{
		Put: 30, Delete: 6, Merge: 6, Batch: 6, Sync: 20, Flush: 3, Wait: 24, Reopen: 3, Kill: 4, Get: 2,
	}}
}

// TestWitnessesDoNotAccuseATornTail: whatever a crash keeps of witnesses, frames and
// superblocks, the store opens, and has what was promised.
func TestWitnessesDoNotAccuseATornTail(t *testing.T) {
	var sum Report
	seeds, least := uint64(4), uint64(15_000)
	if testing.Short() {
		seeds, least = 1, 3000
	}
	for i, subject := range Engines() {
		for seed := range seeds {
			r := Run(Options{Subject: subject, Profile: idling(), Seed: seed + 4*uint64(i), FaultRuns: -1, Subsets: 7, Deeper: 100})
			if r.Failure != nil {
				t.Fatal(r.Failure)
			}
			sum.Add(r)
		}
	}
	t.Logf("%d moments, %d states, %d images, by depth %d", sum.Moments, sum.States, sum.Images, sum.Deep)
	if sum.Images < least || sum.Deep[2] == 0 {
		t.Error("too little was explored")
	}
}

// TestOneDamagedPageIsReported: if there is a witness, damage of one page that recovery
// reads is reported or does no harm, whatever was synced last.
func TestOneDamagedPageIsReported(t *testing.T) {
	for i, subject := range Engines() {
		for seed := range uint64(2) {
			x := &explorer{o: Options{Subject: subject, Profile: idling(), Seed: seed + 2*uint64(i), FaultRuns: 60}.complete()}
			x.report.Coverage, x.keys = map[string]uint64{}, x.o.Profile.keys()
			x.recoveries(func(int, FaultKind, int) bool { return true })
			if x.failure != nil {
				t.Error(x.failure)
			}
		}
	}
}

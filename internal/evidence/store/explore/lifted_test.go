// SPDX-License-Identifier: Apache-2.0

package explore

import "testing"

// TestAfterAFaultIsLifted: after a read that failed once, and after a disk was full, the
// store continues: the next Flush succeeds, and refused operations can be done again.
// After a write or a sync that failed, the store stops, and a store that is opened anew
// accepts changes.
func TestAfterAFaultIsLifted(t *testing.T) {
	runs := 24
	if testing.Short() {
		runs = 6
	}
	var sum Report
	for i, subject := range Engines() {
		for _, k := range []FaultKind{ReadOnce, WriteError, SyncError, FullDisk} {
			for p := range 3 {
				r := Run(Options{Subject: subject, Profile: small(p), Seed: uint64(3*i + p), FaultRuns: runs, kind: k})
				if r.Failure != nil {
					t.Fatal(r.Failure)
				}
				sum.Add(r)
			}
		}
	}
	if m := sum.Missing([]string{
		"lifted read-once", "lifted full", "usable after read-once", "usable after write", "usable after sync", "usable after full",
	}); m != nil {
		t.Errorf("never: %v", m)
	}
	t.Logf("%d opens, %v", sum.Opens, sum.Coverage)
}

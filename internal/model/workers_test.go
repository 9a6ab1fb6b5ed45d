// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// TestWorkersShareAModel: several workers find what one finds. It is what the
// race detector is run on: the numbers of values, constants and memories of
// constant functions are shared.
func TestWorkersShareAModel(t *testing.T) {
	dir := corpus(t)
	models := []struct{ module, cfg string }{
		{"transaction_commit/TwoPhase.tla", "transaction_commit/TwoPhase.cfg"},
		{"allocator/SimpleAllocator.tla", "allocator/SimpleAllocator.cfg"},
		{"Paxos/MCVoting.tla", "Paxos/MCVoting.cfg"},
		{"YoYo/MCYoYoPruning.tla", "YoYo/MCYoYoPruning.cfg"},
		{"tcp/MCtcp.tla", "tcp/MCtcp.cfg"},
		{"MisraReachability/MCParReach.tla", "MisraReachability/MCParReach.cfg"},
	}
	for _, row := range models {
		t.Run(filepath.Base(row.cfg), func(t *testing.T) {
			spec, cfg := loadFiles(t, filepath.Join(dir, row.module), filepath.Join(dir, row.cfg))
			var found []string
			for _, workers := range []int{1, 4} {
				m := newModel(t, spec, cfg, Options{})
				r, err := check.Run(context.Background(), m, check.Options{SafetyOnly: true, Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, fmt.Sprint(r.Verdict, r.Generated, r.Distinct, r.Depth))
			}
			if found[0] != found[1] {
				t.Errorf("one worker finds %s, four find %s", found[0], found[1])
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// deepenStatesMax bounds the models that are searched once more by depth, which
// computes a state again in every round after its own.
const deepenStatesMax = 1500

// TestCorpusByDepth: of the small models of the corpus the search by depth says
// what the search by breadth says, with a trace that is no longer, and with the
// same figures where it has seen everything.
func TestCorpusByDepth(t *testing.T) {
	compared := 0
	for _, row := range corpusModels(t) {
		name := filepath.Base(row.cfg)
		if row.tlcDistinct < 1 || row.tlcDistinct > deepenStatesMax || row.tlcDepth > 60 || corpusRandom[name] || corpusLong[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			spec, cfg := loadFiles(t, row.module, row.cfg)
			m := newModel(t, spec, cfg, Options{Seed: 1})
			want, err := check.Run(context.Background(), m, check.Options{SafetyOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			got, err := check.Deepen(context.Background(), m, check.DeepenOptions{Depth: 100, TableStates: 1 << 14, SafetyOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != want.Verdict || got.Property != want.Property || len(got.Trace) > len(want.Trace) {
				t.Fatalf("%v %s after %d states, want %v %s after %d", got.Verdict, got.Property, len(got.Trace), want.Verdict, want.Property, len(want.Trace))
			}
			figures := func(r *check.Result) string {
				return fmt.Sprintf("%d generated, %d distinct, depth %d", r.Generated, r.Distinct, r.Depth)
			}
			if g, w := figures(&got.Result), figures(want); want.Verdict == check.OK && got.Forgotten == 0 && g != w {
				t.Errorf("%s, want %s", g, w)
			}
			compared++
		})
	}
	t.Logf("%d models were compared", compared)
	if compared < 20 {
		t.Errorf("only %d models were compared", compared)
	}
}

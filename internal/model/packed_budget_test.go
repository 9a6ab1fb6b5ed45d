// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/pack"
)

// TestPackedWithinItsWork searches models of the corpus that were not packed, or
// were slower packed than not: one of many conditions that are too large each, and
// one that chooses among few numbers of many that may be.
func TestPackedWithinItsWork(t *testing.T) {
	names := map[string]bool{"AllocatorImplementation.cfg": true, "Disruptor_MPMC_liveliness.cfg": true}
	found := 0
	for _, row := range corpusModels(t) {
		if !names[filepath.Base(row.cfg)] {
			continue
		}
		found++
		spec, cfg := loadFiles(t, row.module, row.cfg)
		m := newModel(t, spec, cfg, Options{Seed: 1})
		if ok, why := m.Pack(never); !ok {
			t.Errorf("%s is not packed: %s", row.cfg, why)
		}
		r, err := check.Run(context.Background(), m, check.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%d generated, %d distinct, depth %d", r.Generated, r.Distinct, r.Depth)
		want := fmt.Sprintf("%d generated, %d distinct, depth %d", row.tlcGenerated, row.tlcDistinct, row.tlcDepth)
		if got != want || r.Verdict != check.OK {
			t.Errorf("%s: %v, %s, want %s", row.cfg, r.Verdict, got, want)
		}
	}
	if found != len(names) {
		t.Errorf("%d of %d models were found", found, len(names))
	}
}

// TestPackedChoosesAmongNumbers has a choice among the few numbers of a set stand
// within another one, three deep: a condition for each number that may be would make
// far more code.
func TestPackedChoosesAmongNumbers(t *testing.T) {
	const sourceMax = 100_000
	spec, cfg := loadText(t, `---- MODULE W ----
EXTENDS Integers
VARIABLES f, n
Range(g) == {g[i] : i \in DOMAIN g}
Least(g) == CHOOSE v \in Range(g) : \A i \in DOMAIN g : v <= g[i]
Next1 == CHOOSE v \in {Least(f) - 1} \cup Range(f) : v > Least(f) => \A i \in DOMAIN f : f[i] # v - 1
Next2 == CHOOSE v \in {Next1 + 1} \cup Range(f) : v >= Next1 /\ \E i \in DOMAIN f : f[i] <= v
Init == f = [i \in 1..3 |-> -i] /\ n = 0
Next == /\ Least(f) < 4
        /\ \E i \in 1..3 : f' = [f EXCEPT ![i] = @ + 1] /\ f[i] < 5 /\ n' = Next2
Inv == Next2 >= Next1 /\ Next1 >= Least(f) - 1
====
`, "INIT Init NEXT Next INVARIANT Inv CHECK_DEADLOCK FALSE\n")
	m := newModel(t, spec, cfg, Options{})
	if ok, why := m.pack(packOptions{states: 40, always: true, stop: never}); !ok {
		t.Fatal(why)
	}
	if why := m.packed.lowered.Reasons(); why != "" {
		t.Errorf("not lowered: %s", why)
	}
	if n := len(pack.Source(m.packed.lowered, m.packed.images)); n > sourceMax {
		t.Errorf("the source of the model has %d bytes", n)
	}
	if _, same := compareValues(t, m, newModel(t, spec, cfg, Options{}), 300); !same {
		t.Error("packed code asks for less than the evaluator")
	}
	got, want := resultText(t, m, 1), resultText(t, newModel(t, spec, cfg, Options{Reference: true}), 1)
	if got != want {
		t.Errorf("packed %s\nreference %s", got, want)
	}
}

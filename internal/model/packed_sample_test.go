// SPDX-License-Identifier: Apache-2.0

package model

import "testing"

// TestSampleIsInterrupted has a sample of states, from which a layout is guessed,
// come to a state whose successors nobody waits for.
func TestSampleIsInterrupted(t *testing.T) {
	spec, cfg := loadText(t, `---- MODULE W ----
EXTENDS Naturals
VARIABLE n
Init == n \in 0..3
Next == \E R \in {S \in SUBSET (1..60) : \A i \in S : i > n + 60} : R # {} /\ n' = n
====
`, initNext)
	m, asked := newModel(t, spec, cfg, Options{}), 0
	packed, why := m.Pack(func() bool { asked++; return asked > 3 })
	if packed || why != "no sample of states was found" {
		t.Errorf("packed %v, %s", packed, why)
	}
}

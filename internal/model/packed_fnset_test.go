// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"testing"
)

// TestPackedFunctionsOfSets: an action for each function of a set [S -> T], where S
// or T is a set of the state, finds the successors of the evaluator, in its order,
// and its errors.
func TestPackedFunctionsOfSets(t *testing.T) {
	const head = "---- MODULE W ----\nEXTENDS Integers, FiniteSets, Sequences\nVARIABLES n, s, d, g\n" +
		"Init == n = 0 /\\ s \\in SUBSET (1..3) /\\ d \\in {{}, {2}, {1, 3}} /\\ g = [i \\in 1..3 |-> i]\n"
	sets := []string{"[s -> d]", "[d -> s]", "[s -> s]", "[1..2 -> s]", "[s -> {1, 3}]", "[s \\ {n} -> 1..3]", "[{x \\in s : x > n} -> d \\cup s]", "[s -> {CHOOSE v \\in 1..3 : v > n}]", "[{CHOOSE v \\in 2..3 : v > n} -> s]"}
	filters := []string{"TRUE", "\\A v \\in DOMAIN f : f[v] # v", "\\A v \\in s : f[v] # v", "2 \\in DOMAIN f => f[2] = 1", "n > 1 => f[n] \\in s", "Cardinality({f[v] : v \\in DOMAIN f}) > 1", "n # 1"}
	acts := []string{
		"n' = (n + (IF n = 3 \\/ 1 \\in DOMAIN f THEN f[1] ELSE 1)) % 4 /\\ UNCHANGED <<s, d, g>>",
		"n' = (n + 1) % 4 /\\ s' = {f[v] : v \\in DOMAIN f} /\\ UNCHANGED <<d, g>>",
		"n' = (n + 1) % 4 /\\ g' = [i \\in 1..3 |-> IF i \\in DOMAIN f THEN f[i] ELSE g[i]] /\\ UNCHANGED <<s, d>>",
		"\\E v \\in DOMAIN f : n' = f[v] /\\ d' = {f[w] : w \\in DOMAIN f \\ {v}} /\\ UNCHANGED <<s, g>>",
		"g' = [g EXCEPT ![IF n < 3 THEN 1 ELSE f[g[1]]] = 2] /\\ n' = (n + 1) % 4 /\\ UNCHANGED <<s, d>>",
		"n' = Cardinality(DOMAIN f) /\\ UNCHANGED <<s, d, g>>",
		"((n < 2 /\\ n' = n + 1) \\/ (n' = 0 /\\ DOMAIN f = s)) /\\ UNCHANGED <<s, d, g>>",
	}
	const cfg = "INIT Init NEXT Next INVARIANT Inv CHECK_DEADLOCK FALSE\n"
	code, failing, states := 0, 0, 0
	for i, set := range sets {
		for j, filter := range filters {
			act := acts[(i+2*j)%len(acts)]
			module := head + fmt.Sprintf("A == \\E f \\in {f \\in %s : %s} : %s\nNext == A\nInv == ENABLED A \\/ TRUE\n====\n", set, filter, act)
			spec, config := loadText(t, module, cfg)
			m := newModel(t, spec, config, Options{})
			if ok, why := m.pack(packOptions{states: 6, always: true, stop: never}); !ok {
				t.Errorf("%s: %s", module, why)
				continue
			}
			if len(m.packed.lowered.Why) == 0 {
				code++
			}
			if n, same := compareValues(t, m, newModel(t, spec, config, Options{}), 60); !same {
				t.Errorf("%s: packed code goes on where the evaluator fails", module)
			} else {
				states += n
			}
			got, want := outcomeText(t, m), outcomeText(t, newModel(t, spec, config, Options{}))
			if got != want {
				t.Errorf("%s:\npacked %s\nboxed  %s", module, got, want)
			}
			if want[0] == 'e' {
				failing++
			}
		}
	}
	t.Logf("%d models, %d lowered as a whole, %d with an error, %d states expanded", len(sets)*len(filters), code, failing, states)
	if code < 20 || failing < 10 {
		t.Errorf("%d models are lowered as a whole, %d have an error", code, failing)
	}
}

// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strings"
	"testing"
)

// TestPackedAsksForAllParts has packed code compare values of which a part has no
// value although the result does not depend on it: the evaluator fails there, and
// so must the code.
func TestPackedAsksForAllParts(t *testing.T) {
	for _, inv := range []string{
		`(n = 3) => (Append(w, Head(w)) # <<>>)`,
		`(n = 3) => ([i \in 1..2 |-> CHOOSE v \in 0..n : v > n] \notin Seq({}))`,
		`(n = 3) => (n + (1 \div (n - 3)) \notin {})`,
		`(n = 3) => (({} \ {CHOOSE v \in 0..n : v > n}) = {})`,
	} {
		module := "---- MODULE W ----\nEXTENDS Integers, Sequences\nVARIABLES n, w\nInit == n = 0 /\\ w \\in {<<>>, <<1, 2>>}\n" +
			"Next == n < 3 /\\ n' = n + 1 /\\ w' = <<>>\nInv == " + inv + "\n====\n"
		spec, cfg := loadText(t, module, "INIT Init NEXT Next INVARIANT Inv CHECK_DEADLOCK FALSE\n")
		m := newModel(t, spec, cfg, Options{})
		if ok, why := m.pack(packOptions{states: 2, always: true, stop: never}); !ok {
			t.Fatalf("%s: %s", inv, why)
		}
		got, want := resultText(t, m, 1), resultText(t, newModel(t, spec, cfg, Options{}), 1)
		if got != want {
			t.Errorf("%s:\npacked %s\nboxed %s", inv, got, want)
		}
		if !strings.Contains(want, "W.tla:6") {
			t.Errorf("%s: the evaluator does not fail: %s", inv, want)
		}
	}
}

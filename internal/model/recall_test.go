// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// TestRecall: an operator whose results are remembered gives what it gives
// without, for more arguments than are remembered, and also where it has no
// value for some.
func TestRecall(t *testing.T) {
	const module = "---- MODULE M ----\nEXTENDS Integers, FiniteSets\nVARIABLES a, b, c\n" +
		"Maps(S, n) == {f \\in [S -> 0..n] : \\A x, y \\in S : x # y => f[x] # f[y]}\n" +
		"Least(n) == CHOOSE s \\in SUBSET (0..n) : Cardinality(s) = 2 \\div n\n" +
		"Init == a = 1 /\\ b = 0 /\\ c = 0\n" +
		"Next == /\\ a' = (a % 90) + 1 /\\ b' = Cardinality(Maps({a, a + 1}, b % 3)) + Cardinality(Maps({a % 7}, 2))\n" +
		"        /\\ c' = IF a % 3 = 0 /\\ a < LAST THEN 1 ELSE Cardinality(Least(a % 3))\n====\n"
	figures := func(last string, o Options) string {
		spec, cfg := loadText(t, strings.Replace(module, "LAST", last, 1), "INIT Init NEXT Next CHECK_DEADLOCK FALSE\n")
		m := newModel(t, spec, cfg, o)
		r, err := check.Run(context.Background(), m, check.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%v %d %d %d %v", r.Verdict, r.Generated, r.Distinct, r.Depth, r.Err != nil)
	}
	for _, last := range []string{"1000", "50"} {
		got, want := figures(last, Options{}), figures(last, Options{Reference: true})
		if got != want {
			t.Errorf("LAST = %s: %s, want %s", last, got, want)
		}
		if failed := want[:2] != "ok"; failed != (last == "50") {
			t.Errorf("LAST = %s: %s", last, want)
		}
	}
}

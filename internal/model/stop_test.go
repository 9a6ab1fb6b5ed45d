// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// A search ends when it is told to, also in the middle of an expression that
// would take days. The test's own time limit is what fails it.
func TestEndlessExpressionsCanBeInterrupted(t *testing.T) {
	for name, init := range map[string]string{
		"filter":     `x \in {s \in SUBSET (1..60) : FALSE}`,
		"choose":     `x = CHOOSE s \in SUBSET (1..60) : FALSE`,
		"quantifier": `x = 0 /\ \A s \in SUBSET (1..60) : TRUE`,
		"assignment": `x \in SUBSET (1..60) /\ FALSE`,
		"recursion":  `x = 0 /\ Spin(60)`,
	} {
		for _, reference := range []bool{false, true} {
			spec, cfg := loadText(t, "---- MODULE M ----\nEXTENDS Naturals\nVARIABLE x\nRECURSIVE Spin(_)\nSpin(n) == IF n = 0 THEN TRUE ELSE Spin(n - 1) /\\ Spin(n - 1)\nInit == "+init+"\nNext == x' = x\n====", "INIT Init NEXT Next")
			m := newModel(t, spec, cfg, Options{Reference: reference})
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			r, err := check.Run(ctx, m, check.Options{})
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != check.Interrupted {
				t.Errorf("%s, reference %v: verdict %v (%s, %v), want %v", name, reference, r.Verdict, r.Reason, r.Err, check.Interrupted)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"strings"
	"testing"
)

// TestLongChains loads a module of many definitions, each of which uses the one
// before, and many LETs within each other: what each means is found out once. This
// took minutes.
func TestLongChains(t *testing.T) {
	const defs, lets = 10_000, 600
	var b strings.Builder
	b.WriteString("---- MODULE T ----\nEXTENDS Integers, TLC\nVARIABLE x\nA0 == 0\nB0 == TLCGet(1)\n")
	for i := 1; i < defs; i++ {
		fmt.Fprintf(&b, "A%d == A%d + 1\nB%d == B%d + 1\n", i, i-1, i, i-1)
	}
	b.WriteString("Inv == x < LET a0 == x IN ")
	for i := 1; i < lets; i++ {
		fmt.Fprintf(&b, "LET a%d == a%d + 1 IN ", i, i-1)
	}
	fmt.Fprintf(&b, "a%d\nInit == x = 0 /\\ TLCSet(1, 0)\nNext == x' = (x + 1) %% 3\n====\n", lets-1)
	spec, cfg := loadText(t, b.String(), "INIT Init NEXT Next INVARIANT Inv\n")
	m := newModel(t, spec, cfg, Options{})
	for name, kept := range map[string]bool{"A": true, "B": false} {
		d := spec.Names[fmt.Sprint(name, defs-1)]
		if got := m.program.ConstDefs[d] != nil; got != kept {
			t.Errorf("%s: the value of a constant is kept: %v, want %v", d.Name, got, kept)
		}
	}
	if got := resultText(t, m, 1); !strings.HasPrefix(got, "ok  4/3/3") {
		t.Error(got)
	}
}

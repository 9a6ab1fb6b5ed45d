// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// lazyConstants has constants that contain functions and sets which are not
// written out: all workers ask them.
const lazyConstants = `---- MODULE M ----
EXTENDS Integers, FiniteSets
VARIABLES x, y
RECURSIVE Wrap(_, _)
Wrap(f, n) == IF n = 0 THEN [a |-> f] ELSE Wrap(f, n - 1)
Finite == LET g == [i \in 1..60 |-> LET s == {j \in 1..50 : j % i = 0} IN Cardinality(s) + i] IN Wrap(g, 3)
Infinite == [n \in Nat |-> n * 2]
Sum[n \in Nat] == IF n = 0 THEN 0 ELSE n + Sum[n-1]
Squares == {n \in Nat : \E k \in 1..20 : n = k * k}
Pack == <<Infinite, Squares, Finite>>
Init == x = 0 /\ y = 0
Next == \/ x < 59 /\ x' = x + 1 /\ y' = Finite.a[x' + 1] + Pack[3].a[x' + 1]
        \/ y < 150 /\ y' = y + 1 + Pack[1][x] + Sum[x] /\ x' = x
        \/ x \in Squares /\ x' = Infinite[x] % 60 /\ y' = y % 7
        \/ y \in Pack[2] /\ x' = (x + 3) % 60 /\ y' = Sum[y] % 11
====
`

// TestWorkersShareLazyConstants: what is lazy in a constant belongs to no
// worker.
func TestWorkersShareLazyConstants(t *testing.T) {
	spec, cfg := loadText(t, lazyConstants, "INIT Init NEXT Next CHECK_DEADLOCK FALSE")
	for _, reference := range []bool{false, true} {
		for range 10 {
			r, err := check.Run(context.Background(), newModel(t, spec, cfg, Options{Reference: reference}), check.Options{Workers: 4})
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(r.Verdict, r.Generated, r.Distinct, r.Depth, r.Err)
			if want := fmt.Sprint(check.OK, 1857, 890, 151, nil); got != want && got != fmt.Sprint(check.OK, 1857, 890, 151, (*check.EvalError)(nil)) {
				t.Fatalf("reference %v: %s, want %s", reference, got, want)
			}
		}
	}
}

// TestLargeSetsAreWalked: a set of more than value.MaxSetSize elements can be
// enumerated, though not be listed.
func TestLargeSetsAreWalked(t *testing.T) {
	runModels(t, []modelCase{
		{"record set", `VARIABLE x
Init == x \in [a : 0..1100, b : 0..1100, c : {0}] /\ x.a = x.b /\ x.a > 1097
Next == UNCHANGED x`, "", "6 generated, 3 distinct, depth 1"},
		{"filter", `VARIABLE x
Init == x \in {r \in [a : 0..1100, b : 0..1100] : r.a + r.b >= 4} /\ x.a > 1099 /\ x.b < 2
Next == UNCHANGED x`, "", "4 generated, 2 distinct, depth 1"},
		{"union", `VARIABLE x
Init == x \in (0..900000) \cup (800000..1700000) /\ x % 1000000 = 999999
Next == UNCHANGED x`, "", "2 generated, 1 distinct, depth 1"},
	})
}

// TestEndlessRecursions: each is an error, and not an endless wait or the end of
// the stack.
func TestEndlessRecursions(t *testing.T) {
	const want = "error: operators call each other more than 20000 deep"
	var cases []modelCase
	for _, c := range []struct{ name, defs, value string }{
		{"operator", "RECURSIVE A(_)\nA(n) == A(n + 1)", "A(1)"},
		{"constant", "RECURSIVE B\nB == B + 1", "B"},
		{"two constants", "RECURSIVE D\nC == D\nD == C", "C"},
		{"function", "F[n \\in Nat] == F[n + 1]", "F[0]"},
		{"function that is passed", "RECURSIVE Ap(_, _)\nAp(g, n) == IF n < 0 THEN 0 ELSE g[n]\nF[n \\in Nat] == Ap(F, n + 1)", "F[0]"},
		{"function in a constant", "F[n \\in Nat] == F[n + 1]\nP == <<F, 1>>", "P[1][0]"},
	} {
		cases = append(cases, modelCase{c.name, c.defs + "\nVARIABLE x\nInit == x = 0\nNext == x' = (" + c.value + ")", "", want})
	}
	runModels(t, cases)
}

// TestFunctionThatIsPartlyUndefined: that writing a constant function out fails
// does no harm to what it is part of.
func TestFunctionThatIsPartlyUndefined(t *testing.T) {
	runModels(t, []modelCase{{"in a recursive operator", `VARIABLE x
F == [i \in 1..3 |-> LET z == i + 1 w == z + z IN IF w = 8 THEN Head(<<>>) ELSE w]
RECURSIVE Op(_, _)
Op(a, b) == IF a > 5 THEN Op(a - 5, b) ELSE LET u == a * 7 IN u + F[b] + a + b + u
Init == x = 1
Next == x < 40 /\ \E j \in {5, 6} : x' = x + Op(x + j, 1) - x`, "CHECK_DEADLOCK FALSE", "7 generated, 4 distinct, depth 3"}})
}

// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"strconv"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/rule"
)

// TestArgumentsAreEvaluatedOnce counts the evaluations of what names stand for
// by what it prints: one for each activation in which the name is used, however
// deep the recursion and however often it is used, and none where it is not.
func TestArgumentsAreEvaluatedOnce(t *testing.T) {
	const depth = 200
	const head = "---- MODULE M ----\nEXTENDS Integers, TLC\nVARIABLE x\n"
	const down = "RECURSIVE F(_)\nF(n) == IF n = 0 THEN 0 ELSE n * 0 + F(Print(1, n - 1))\n"
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"first state", down + "Init == x = F(200)\nNext == x' = x", depth},
		{"constants in a step", down + "Init == x = 0\nNext == x' = F(200)", depth},
		{"the state in a step", down + "Init == x = 200\nNext == x' = x /\\ F(x) = 0", depth},
		{"the next state", down + "Init == x = 200\nNext == x' = x /\\ F(x') = 0", depth},
		{"a recursive action", "RECURSIVE A(_)\nA(n) == IF n = 0 THEN x' = x ELSE A(Print(1, n - 1))\nInit == x = 200\nNext == A(x)", depth},
		{"in a LET", "Init == x = 0\nNext == x' = LET RECURSIVE F(_) F(n) == IF n = 0 THEN 0 ELSE n * 0 + F(Print(1, n - 1)) IN F(200)", depth},
		{"a LET in a recursion", "RECURSIVE F(_)\nF(n) == IF n = 0 THEN 0 ELSE LET m == Print(1, n - 1) IN m * 0 + F(m)\nInit == x = 200\nNext == x' = x /\\ F(x) = 0", depth},
		{"used last", "RECURSIVE F(_, _)\nF(n, k) == IF n = 0 THEN k ELSE F(n - 1, Print(1, k + 1))\nInit == x = 200\nNext == x' = x /\\ F(x, 0) = 200", depth},
		{"never used", "RECURSIVE F(_, _)\nF(n, k) == IF n = 0 THEN 0 ELSE F(n - 1, Print(1, k \\div 0))\nInit == x = 200\nNext == x' = x /\\ F(x, 0) = 0", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, cfg := loadText(t, head+c.text+"\n====\n", initNext)
			for _, reference := range []bool{false, true} {
				printed := 0
				m := newModel(t, spec, cfg, Options{Reference: reference, Output: func(string) { printed++ }})
				r, err := check.Run(context.Background(), m, check.Options{})
				if err != nil || r.Verdict != check.OK {
					t.Fatalf("reference %v: %v, %v, %v", reference, r.Verdict, r.Err, err)
				}
				if printed != c.want {
					t.Errorf("reference %v: evaluated %d times, want %d", reference, printed, c.want)
				}
			}
		})
	}
}

// TestRecursionTakesLinearTime: twice the depth is twice the steps, also where
// there is no state, and a recursion without end is the error that names the limit.
func TestRecursionTakesLinearTime(t *testing.T) {
	const form = "---- MODULE M ----\nEXTENDS Integers\nRECURSIVE F(_), K(_, _), E(_)\n" +
		"F(n) == IF n = 0 THEN 0 ELSE F(n - 1)\nK(n, k) == IF n = 0 THEN k ELSE K(n - 1, k + n)\nE(n) == n * 0 + E(n - 1)\n" +
		"Short == <<F(1000), K(1000, 0)>>\nLong == <<F(2000), K(2000, 0)>>\nDeep == F(30000)\nEndless == E(3)\n====\n"
	spec, cfg := loadText(t, form, "")
	m := newModel(t, spec, cfg, Options{})
	// The evaluator asks whether to stop once in so many steps.
	steps := func(name string) (asked int) {
		stop := func() bool { asked++; return false }
		if _, err := m.EvaluateUntil(stop, m.Definition(name).Body, nil, nil); err != nil {
			t.Fatal(err)
		}
		return asked
	}
	if short, long := steps("Short"), steps("Long"); short < 20 || long > 2*short+1 {
		t.Errorf("asked %d times, and %d times for twice the depth", short, long)
	}
	const want = "operators call each other more than " // and the limit
	for _, name := range []string{"Deep", "Endless"} {
		_, err := m.Evaluate(m.Definition(name).Body)
		if e, ok := err.(*check.EvalError); !ok || e.Message != want+strconv.Itoa(rule.CallDepthMax)+" deep: does a recursion not end?" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestArgumentsFollowTheState: what is kept of an argument is not taken for its
// value in another state that is being built.
func TestArgumentsFollowTheState(t *testing.T) {
	const head = "VARIABLES x, y\nInit == x = 0 /\\ y = 0\n"
	const use = "G(a) == (x' = 1 \\/ x' = 2) /\\ y' = a\n"
	runModels(t, []modelCase{
		{"primed", head + use + "Next == G(x') /\\ y' = x'", "", "7 generated, 3 distinct, depth 2"},
		{"primed in a LET", head + use + "Op(p) == LET q == p IN G(q)\nNext == Op(x') /\\ y' = x'", "", "7 generated, 3 distinct, depth 2"},
		{"primed twice", head + use + "Op(p) == LET q(r) == p + r IN G(q(0))\nNext == Op(x') /\\ y' = x'", "", "7 generated, 3 distinct, depth 2"},
		{"first states", "VARIABLES x, y\nG(a) == (x = 1 \\/ x = 2) /\\ y = a\nInit == G(x) /\\ y = x\nNext == UNCHANGED <<x, y>>", "", "4 generated, 2 distinct, depth 1"},
	})
}

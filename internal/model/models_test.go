// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// modelCase is a module, without its first and last line, and what checking it
// comes to, counted by hand after TLC's rules.
type modelCase struct{ name, body, cfg, want string }

// modelOutcome checks a module with one of the evaluators. The search is
// bounded, for a mistake may make it endless.
func modelOutcome(t *testing.T, c modelCase, reference bool) string {
	t.Helper()
	module := "---- MODULE M ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\n" + c.body + "\n====\n"
	cfg := c.cfg
	if !strings.Contains(cfg, "SPECIFICATION") {
		cfg = "INIT Init NEXT Next\n" + cfg
	}
	spec, config := loadText(t, module, cfg)
	m := newModel(t, spec, config, Options{Reference: reference})
	r, err := check.Run(context.Background(), m, check.Options{StatesMax: 1000})
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case r.Err != nil:
		return "error: " + r.Err.Message
	case r.Verdict == check.OK:
		return fmt.Sprintf("%d generated, %d distinct, depth %d", r.Generated, r.Distinct, r.Depth)
	case r.Verdict == check.Incomplete || r.Verdict == check.AssumptionFalse:
		return fmt.Sprintf("%v: %s", r.Verdict, r.Reason)
	}
	var trace []string
	for _, s := range r.Trace {
		trace = append(trace, s.Values[0].Value)
	}
	return strings.TrimSpace(fmt.Sprintf("%v %s", r.Verdict, r.Property)) + ": " + strings.Join(trace, " -> ")
}

func runModels(t *testing.T, cases []modelCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, reference := range []bool{false, true} {
				got := modelOutcome(t, c, reference)
				if got != c.want && !(strings.HasPrefix(c.want, "error: ") && strings.HasPrefix(got, c.want)) {
					t.Errorf("reference %v: %s, want %s", reference, got, c.want)
				}
			}
		})
	}
}

// TestActions says what is a step: which successors a state has, and how many
// times each is counted.
func TestActions(t *testing.T) {
	const x = "VARIABLE x\nInit == x = 0\n"
	const endless = "CHECK_DEADLOCK FALSE"
	runModels(t, []modelCase{
		{"both branches", x + `Next == x < 2 /\ (x' = x + 1 \/ x' = 0)`, endless, "5 generated, 3 distinct, depth 3"},
		{"a guard protects what follows", "VARIABLE x\nInit == x \\in {0, 2}\nNext == x > 0 /\\ x' = 6 \\div x", endless, "4 generated, 3 distinct, depth 2"},
		{"what stands before a guard is not protected", x + `Next == 6 \div x > 0 /\ x > 0 /\ x' = 1`, endless, "error: "},
		{"two values are none", x + `Next == (x' = 1 /\ x' = 2) \/ x' = 0`, endless, "2 generated, 1 distinct, depth 1"},
		{"a value of a set and another", x + `Next == (x' = 1 /\ x' \in {1, 2}) \/ (x' = 3 /\ x' \in {1, 2})`, endless, "3 generated, 2 distinct, depth 2"},
		{"every value of a set", x + `Next == x < 3 /\ x' \in x..3`, endless, "10 generated, 4 distinct, depth 2"},
		{"a step that is none", "VARIABLES x, y\nInit == x = 0 /\\ y = 0\nNext == x < 2 /\\ x' = x + 1 /\\ (UNCHANGED <<x, y>> \\/ y' = y)", endless, "3 generated, 3 distinct, depth 3"},
		{"unchanged and then a value", x + `Next == x < 1 /\ UNCHANGED x /\ x' = x + 1`, endless, "1 generated, 1 distinct, depth 1"},
		{"a branch leaves nothing behind", x + `Next == (x' = 1 \/ TRUE) /\ x' = 2`, endless, "3 generated, 2 distinct, depth 2"},
		{"a set leaves nothing behind", x + `Next == (x' \in {1, 3} \/ TRUE) /\ x' = 2`, endless, "3 generated, 2 distinct, depth 2"},
		{"unchanged leaves nothing behind", x + `Next == (UNCHANGED x \/ TRUE) /\ x' = 2`, endless, "4 generated, 2 distinct, depth 2"},
		{"each true disjunct counts", x + `Next == (x = 0 \/ x < 1) /\ x' = 1`, endless, "3 generated, 2 distinct, depth 2"},
		{"each witness counts", x + `Next == (\E i \in 1..3 : i > x) /\ x' = 3`, endless, "4 generated, 2 distinct, depth 2"},
		{"no witness", x + `Next == \E y \in {} : x' = y`, "", "deadlock: 0"},
		{"the last witness", x + `Next == \E y \in (x + 1)..2 : x' = y`, endless, "4 generated, 3 distinct, depth 2"},
		{"all of them", x + `Next == x < 2 /\ \A i \in 1..2 : (i = 2 \/ x' = x + 1)`, endless, "5 generated, 3 distinct, depth 3"},
		{"a condition chooses", x + `Next == IF x < 2 THEN x' = x + 1 ELSE UNCHANGED x`, "", "4 generated, 3 distinct, depth 3"},
		{"the first case", x + `Next == CASE x < 1 -> x' = 1 [] x < 2 -> x' = 2 [] OTHER -> x' = x`, "", "4 generated, 3 distinct, depth 3"},
		{"an implication", x + `Next == x < 2 /\ (x = 0 => x' = 1) /\ (x = 1 => x' = 2)`, endless, "3 generated, 3 distinct, depth 3"},
		{"an action as an argument", x + "Do(A, b) == b /\\ A\nNext == Do(x' = x + 1, x < 2)", endless, "3 generated, 3 distinct, depth 3"},
		{"a recursive action", x + "RECURSIVE Up(_)\nUp(n) == IF n = 0 THEN FALSE ELSE x' = n \\/ Up(n - 1)\nNext == x < 2 /\\ Up(2)", endless, "5 generated, 3 distinct, depth 2"},
		{"one step after another", x + `Next == x < 4 /\ ((x' = x + 1) \cdot (x' = x * 2))`, endless, "3 generated, 3 distinct, depth 3"},
		{"a test of the next state", x + `Next == x' \in 0..4 /\ (x + x < 6)'`, endless, "10 generated, 3 distinct, depth 2"},
		{"read before it has a value", x + `Next == x' > 0 /\ x' = 1`, "", "error: the variable x is used before it has a value"},
		{"a part of a variable", "VARIABLE f\nInit == f = [a |-> <<1>>]\nNext == f.a[1]' = 2", "",
			"error: the variable f is used before it has a value in the state being built; a step gives a value to a whole variable: write f' = [f EXCEPT ![...] = ...]"},
		{"a part of a next value", "VARIABLE f\nInit == f = <<1>>\nNext == /\\ TRUE\n /\\ f'[1] = 2", "",
			"error: the variable f is used before it has a value in the state being built; a step gives a value to a whole variable: write f' = [f EXCEPT ![...] = ...]"},
		{"a part that is only compared", "VARIABLE f\nInit == f = <<1>>\nNext == f' \\in {<<1>>, <<2>>} /\\ f'[1] = 2", endless, "3 generated, 2 distinct, depth 2"},
		{"read in a test before it has a value", x + `Next == ~(x' > 0) /\ x' = 1`, "", "error: the variable x is used before it has a value"},
		{"a variable without a next value", "VARIABLES x, y\nInit == x = 0 /\\ y = 0\nNext == x' = 1", "", "error: the action Next does not determine the next value of y"},
		{"a variable without a first value", "VARIABLES x, y\nInit == x = 0\nNext == UNCHANGED <<x, y>>", "", "error: the initial predicate does not determine the value of y"},
	})
}

// TestModels says what a configuration means: constraints, properties,
// symmetry, a view.
func TestModels(t *testing.T) {
	const counter = "VARIABLE x\nInit == x = 0\nNext == x' = x + 1\n"
	const upTo2 = "VARIABLE x\nInit == x = 0\nNext == x < 2 /\\ x' = x + 1\n"
	const flags = "CONSTANT S\nVARIABLE f\nInit == f = [s \\in S |-> 0]\nNext == \\E s \\in S : f' = [f EXCEPT ![s] = 1]\n"
	const three = "CONSTANT S = {a, b, c}\n"
	const endless = "CHECK_DEADLOCK FALSE\n"
	// Abs sets b at once; x = 2 becomes true in two steps, so that Set is
	// enabled where no step of Next sets it.
	const abstract = upTo2 + "---- MODULE Abs ----\nVARIABLE b\nSet == ~b /\\ b' = TRUE\nSpec == b = FALSE /\\ [][Set]_b /\\ WF_b(Set)\n====\nTwo == x = 2\nI == INSTANCE Abs WITH b <- Two\nP == I!Spec\n"
	// 0 <-> 1 -> 2 -> 0: On is enabled in 1 only.
	const cycle = "VARIABLE x\nInit == x = 0\nUp == x = 0 /\\ x' = 1\nBack == x = 1 /\\ x' = 0\nOn == x = 1 /\\ x' = 2\nHome == x = 2 /\\ x' = 0\n" +
		"Next == Up \\/ Back \\/ On \\/ Home\nSpec == Init /\\ [][Next]_x /\\ WF_x(Next)\nWeak == Spec /\\ WF_x(On)\nStrong == Spec /\\ SF_x(On)\n" +
		"Fair == Init /\\ [][Next]_x /\\ \\A a \\in {1, 2} : SF_x(IF a = 1 THEN Up \\/ Home ELSE On)\n"
	runModels(t, []modelCase{
		{"deadlock", upTo2, "", "deadlock: 0 -> 1 -> 2"},
		{"an assumption", upTo2 + "ASSUME 1 > 2", "", "assumption false: an assumption is false, so nothing was explored"},
		{"every constraint counts", counter + "Low == x < 2\nAlways == x > -5", "CONSTRAINTS Low Always", "3 generated, 2 distinct, depth 2"},
		{"in any order", counter + "Low == x < 2\nAlways == x > -5", "CONSTRAINTS Always Low", "3 generated, 2 distinct, depth 2"},
		{"an action constraint", "VARIABLE x\nInit == x = 0\nNext == x' \\in 0..2\nUp == x' > x\nAlways == TRUE", "ACTION_CONSTRAINTS Up Always", "10 generated, 3 distinct, depth 2"},
		{"an invariant outside the constraint", counter + "Low == x < 2\nInv == x < 2", "CONSTRAINT Low\nINVARIANT Inv", "invariant violated Inv: 0 -> 1 -> 2"},
		{"the second invariant", upTo2 + "A == x >= 0\nB == x < 1", "INVARIANTS A B", "invariant violated B: 0 -> 1"},
		{"an element that is not the last", upTo2 + "Inv == {y \\in 1..3 : y < x} = {}", "INVARIANT Inv", "invariant violated Inv: 0 -> 1 -> 2"},
		{"a function of a variable", upTo2 + "f[n \\in 0..3] == IF n = 0 THEN x ELSE f[n - 1] + 1\nInv == f[2] = x + 2", endless + "INVARIANT Inv", "3 generated, 3 distinct, depth 3"},
		{"a predicate of two variables", "VARIABLES x, y\nInit == x \\in 1..2 /\\ y \\in 1..2\nNext == UNCHANGED <<x, y>>\nInv == x + y < 4 + 0", "INVARIANT Inv", "invariant violated Inv: 2"},
		{"what is enabled", upTo2 + "Inv == ENABLED Next", "INVARIANT Inv", "invariant violated Inv: 0 -> 1 -> 2"},
		{"a view", counter + "Half == x % 2", "VIEW Half", "3 generated, 2 distinct, depth 2"},

		{"a property of steps", upTo2 + "P == [][x' # 2]_x", "PROPERTY P", "step violated P: 0 -> 1 -> 2"},
		{"a property of steps and first states", upTo2 + "P == x = 1 /\\ [][x' > x]_x", "PROPERTY P", "step violated P: 0"},
		{"a property of states", upTo2 + "P == [](x < 2)", "PROPERTY P", "invariant violated P: 0 -> 1 -> 2"},
		{"a property for each of a set", upTo2 + "P == \\A i \\in 2..3 : [][x' # i]_x", "PROPERTY P", "step violated P: 0 -> 1 -> 2"},
		{"steps that stutter satisfy", upTo2 + "Stay == UNCHANGED x\nNext2 == Next \\/ Stay\nP == [][x' > x]_x\nSpec == Init /\\ [][Next2]_x", "SPECIFICATION Spec\nPROPERTY P", "6 generated, 3 distinct, depth 3"},
		{"always of a conjunction", upTo2 + "A == [](x >= 0)\nB == [][x' # 2]_x\nP == A /\\ B", "PROPERTY P", "step violated P: 0 -> 1 -> 2"},
		{"fairness as a property", upTo2 + "P == WF_x(Next)", endless + "PROPERTY P", "liveness violated P: 0"},
		{"what fairness gives", upTo2 + "P == WF_x(Next)\nQ == <>(x = 2)\nSpec == Init /\\ [][Next]_x /\\ WF_x(Next)", endless + "SPECIFICATION Spec\nPROPERTIES P Q", "3 generated, 3 distinct, depth 3"},
		{"eventually", upTo2 + "P == <>(x = 2)", endless + "PROPERTY P", "liveness violated P: 0"},
		{"liveness beside safety", upTo2 + "P == [](x < 3) /\\ WF_x(Next)", endless + "PROPERTY P", "liveness violated P: 0"},
		{"where behaviours begin", upTo2 + "P == x = 1 => [](x = 1)", endless + "PROPERTY P", "3 generated, 3 distinct, depth 3"},
		{"leads to", cycle + "P == x = 1 ~> x = 0", "SPECIFICATION Spec\nPROPERTY P", "5 generated, 3 distinct, depth 3"},
		{"a loop", cycle + "P == <>[](x = 0)", "SPECIFICATION Spec\nPROPERTY P", "liveness violated P: 0 -> 1"},
		{"fairness for each of a set", cycle + "P == \\A i \\in 0..2 : []<>(x = i)", "SPECIFICATION Fair\nPROPERTY P", "5 generated, 3 distinct, depth 3"},
		{"weak fairness is not strong", cycle + "P == []<>(x = 2)", "SPECIFICATION Weak\nPROPERTY P", "liveness violated P: 0 -> 1"},
		{"strong fairness is", cycle + "P == []<>(x = 2)", "SPECIFICATION Strong\nPROPERTY P", "5 generated, 3 distinct, depth 3"},
		{"a step happens", cycle + "P == <><<Back>>_x", "SPECIFICATION Weak\nPROPERTY P", "liveness violated P: 0 -> 1 -> 2"},
		{"steps of a kind for ever", cycle + "P == <>[][Back]_x", "SPECIFICATION Weak\nPROPERTY P", "liveness violated P: 0 -> 1"},
		{"an implication", cycle + "P == ([]<>(x = 2)) => <>(x = 1)", "SPECIFICATION Spec\nPROPERTY P", "5 generated, 3 distinct, depth 3"},
		{"a formula with arguments", cycle + "Often(p) == []<>p\nP == LET q == x = 2 IN Often(q)", "SPECIFICATION Weak\nPROPERTY P", "liveness violated P: 0 -> 1"},
		{"fairness below a refinement", abstract + "Spec == Init /\\ [][Next]_x /\\ WF_x(Next)", endless + "SPECIFICATION Spec\nPROPERTY P", "3 generated, 3 distinct, depth 3"},
		{"fairness that is not refined", abstract + "Spec == Init /\\ [][Next]_x", endless + "SPECIFICATION Spec\nPROPERTY P", "liveness violated P: 0"},
		{"liveness with a view", upTo2 + "P == <>(x = 2)\nV == x", endless + "VIEW V\nPROPERTY P", "incomplete: 1 of the requested properties cannot be checked"},
		{"a quantifier over states", upTo2 + "P == \\E i \\in 0..x : <>(x = i)", endless + "PROPERTY P", "incomplete: 1 of the requested properties cannot be checked"},
		{"an atom without a value", upTo2 + "P == <>(x = 2 /\\ 1 \\div (2 - x) = 1)\nQ == <>(x = 2)", endless + "PROPERTY P", "incomplete: 1 of the requested properties cannot be checked"},

		{"without symmetry", flags, endless + three, "25 generated, 8 distinct, depth 4"},
		{"arguments are renamed", flags + "Sym == Permutations(S)", endless + three + "SYMMETRY Sym", "13 generated, 4 distinct, depth 4"},
		{"products of permutations", flags + "Turn(p, q, r) == {p :> q @@ q :> r @@ r :> p}\nCONSTANTS a, b, c\nSym == Turn(a, b, c)",
			endless + three + "CONSTANTS a = a b = b c = c\nSYMMETRY Sym", "13 generated, 4 distinct, depth 4"},
		{"values and sets are renamed", "CONSTANT S\nVARIABLE v\nInit == v = <<>>\nNext == \\E s \\in S : v' = <<s, {s}>>\nSym == Permutations(S)", endless + three + "SYMMETRY Sym", "7 generated, 2 distinct, depth 2"},
	})
}

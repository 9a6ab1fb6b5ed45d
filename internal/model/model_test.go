// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// search checks a module given as text with both evaluators and describes what
// was found; they must find the same.
func search(t *testing.T, module, cfg string) string {
	t.Helper()
	spec, c := loadText(t, module, cfg)
	var found []string
	for _, reference := range []bool{false, true} {
		m := newModel(t, spec, c, Options{Reference: reference})
		r, err := check.Run(context.Background(), m, check.Options{SafetyOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		s := fmt.Sprintf("%v: %d generated, %d distinct, depth %d", r.Verdict, r.Generated, r.Distinct, r.Depth)
		if r.Err != nil {
			s += "; " + r.Err.Message + " at " + strings.Join(r.Err.Places, " < ")
		}
		if r.Property != "" {
			s += "; " + r.Property
		}
		found = append(found, s)
	}
	if found[0] != found[1] {
		t.Errorf("compiled:  %s\nreference: %s", found[0], found[1])
	}
	return found[0]
}

// counter is a module whose variables are x and y, for searches.
func counter(defs string) string {
	return "---- MODULE T ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\nVARIABLES x, y\nvars == <<x, y>>\n" + defs + "\n====\n"
}

const initNext = "INIT Init NEXT Next CHECK_DEADLOCK FALSE\n"

func TestSearches(t *testing.T) {
	start := "Init == x = 0 /\\ y = 0\n"
	tests := []struct{ name, module, cfg, want string }{
		{"conjuncts assign from left to right, then test",
			start + `Next == x' = x + 1 /\ x' < 4 /\ y' = x'`, initNext,
			"ok: 4 generated, 4 distinct, depth 4"},
		{"x' in a set branches, and tests where x' has a value",
			start + `Next == x' \in {1, 2} /\ x' \in {2, 3} /\ UNCHANGED y`, initNext,
			"ok: 3 generated, 2 distinct, depth 2"},
		{"a disjunction of state predicates counts each that is true",
			start + `Next == (x = 0 \/ y = 0) /\ x' = 1 /\ y' = 1`, initNext,
			"ok: 3 generated, 2 distinct, depth 2"},
		{"so does each witness",
			start + `Next == x = 0 /\ (\E i \in 1..3 : i > 1) /\ x' = 1 /\ y' = 1`, initNext,
			"ok: 3 generated, 2 distinct, depth 2"},
		{"and the right side of an implication",
			start + `Next == (x = 0 => \E i \in 1..3 : TRUE) /\ x < 1 /\ x' = 1 /\ y' = 1`, initNext,
			"ok: 4 generated, 2 distinct, depth 2"},
		{"but not inside an expression",
			start + `Next == x = 0 /\ ~(y # 0 /\ (x = 1 \/ y = 2)) /\ x' = 1 /\ y' = 1`, initNext,
			"ok: 2 generated, 2 distinct, depth 2"},
		{"\\A assigns as a conjunction",
			start + `Set(i, v) == IF i = 1 THEN x' = v ELSE y' = v
Next == x = 0 /\ \A i \in {1, 2} : \E v \in {5, 6} : Set(i, v)`, initNext,
			"ok: 5 generated, 5 distinct, depth 2"},
		{"IF, CASE and LET branch",
			start + `Next == LET n == x + 1 IN
  /\ CASE x < 2 -> x' = n [] OTHER -> x' = x
  /\ IF y < 1 THEN y' = y + 1 ELSE UNCHANGED y`, initNext,
			"ok: 4 generated, 3 distinct, depth 3"},
		{"a parameter may stand for a variable that is primed",
			start + `Add(v, n) == v < 2 /\ v' = v + n
Next == (Add(x, 1) /\ UNCHANGED y) \/ (Add(y, 1) /\ UNCHANGED x)`, initNext,
			"ok: 13 generated, 9 distinct, depth 5"},
		{"an action may be passed",
			start + `Do(A, B) == A \/ B
Inc == x < 2 /\ x' = x + 1 /\ y' = y
Swap(F(_, _)) == F(x, y)
Next == Do(Inc, Swap(LAMBDA a, b : x' = b /\ y' = a))`, initNext,
			"ok: 16 generated, 9 distinct, depth 6"},
		{"a recursive action",
			start + `RECURSIVE Pick(_)
Pick(n) == \/ x' = n
           \/ n < 3 /\ Pick(n + 1)
Next == x = 0 /\ Pick(1) /\ y' = 1`, initNext,
			"ok: 4 generated, 4 distinct, depth 2"},
		{"a recursive action of a LET, and what comes after it",
			start + `Next == LET RECURSIVE Pick(_)
  Pick(n) == (x' = n + y) \/ (n < 2 /\ Pick(n + 1))
  IN x = 0 /\ Pick(1) /\ y' = x' + 1`, initNext,
			"ok: 3 generated, 3 distinct, depth 2"},
		{"A \\cdot B",
			start + `Inc == x' = x + 1 /\ y' = y
Double == x' = x * 2 /\ y' = y + 1
Next == x < 3 /\ Inc \cdot Double /\ y' > 0`, initNext,
			"ok: 3 generated, 3 distinct, depth 3"},
		{"[A]_v and <<A>>_v as actions",
			start + `Inc == x' = (x + 1) % 3
Next == [Inc]_x /\ <<y' = 1 - y>>_y`, initNext,
			"ok: 13 generated, 6 distinct, depth 4"},
		{"the initial predicate branches",
			`Init == \E i \in 1..2 : (x = i \/ x = i + 1) /\ y \in {x, 2}
Next == UNCHANGED vars`, initNext,
			"ok: 11 generated, 5 distinct, depth 1"},
		{"an initial predicate may test what it has assigned",
			`Init == x \in 0..3 /\ x > 1 /\ y = x /\ y \in {2, 9}
Next == UNCHANGED <<x, y>>`, initNext,
			"ok: 2 generated, 1 distinct, depth 1"},
		{"a variable without a value",
			start + `Next == x' = 1`, initNext,
			"evaluation error: 1 generated, 1 distinct, depth 1; the action Next does not determine the next value of y at T.tla:6:9"},
		{"an initial value is missing", `Init == y = 1
Next == UNCHANGED vars`, initNext,
			"evaluation error: 0 generated, 0 distinct, depth 0; the initial predicate does not determine the value of x at T.tla:5:1"},
		{"a primed variable is used too early",
			start + `Next == y' = x' /\ x' = 1`, initNext,
			"evaluation error: 1 generated, 1 distinct, depth 1; the variable x is used before it has a value in the state being built at T.tla:6:14 < T.tla:6:1 (use of Next)"},
		{"places lead from the expression to the definitions it is used in",
			start + `F(n) == 6 \div (3 - n)
G(n) == F(n) + 1
Next == x' = G(x + 1) /\ y' = y`, initNext,
			"evaluation error: 4 generated, 4 distinct, depth 4; 6 \\div 0: division by zero at T.tla:6:9 < T.tla:7:9 (use of F) < T.tla:8:14 (use of G) < T.tla:8:1 (use of Next)"},
		{"deadlock", start + `Next == x < 2 /\ x' = x + 1 /\ y' = y`, "INIT Init NEXT Next",
			"deadlock: 3 generated, 3 distinct, depth 3"},
		{"an invariant", start + `Next == x' = x + 1 /\ y' = y
Small == x < 3`, initNext + "INVARIANT Small",
			"invariant violated: 4 generated, 4 distinct, depth 4; Small"},
		{"a constraint keeps states out, not the invariants of them",
			start + `Next == x' = x + 1 /\ y' = y
Small == x < 3
Near == x <= 3`, initNext + "CONSTRAINT Small INVARIANT Near",
			"ok: 4 generated, 3 distinct, depth 3"},
		{"an action constraint",
			start + `Next == x' \in {x + 1, x + 2} /\ y' = y
Odd == x' # x + 2 /\ x' < 4`, initNext + "ACTION_CONSTRAINT Odd",
			"ok: 9 generated, 4 distinct, depth 4"},
		{"a property []P is an invariant",
			start + `Next == x' = x + 1 /\ y' = y
Always == [](x < 2) /\ [](y = 0)`, initNext + "PROPERTY Always",
			"invariant violated: 3 generated, 3 distinct, depth 3; Always"},
		{"a property [][A]_v",
			start + `Next == x' = x + 1 /\ y' = IF x > 2 THEN 1 ELSE y
Up == [][x' > x /\ y' = y]_vars`, initNext + "PROPERTY Up",
			"step violated: 5 generated, 5 distinct, depth 5; Up"},
		{"a state predicate as a property is of initial states",
			`Init == x \in 1..3 /\ y = 0
Next == x' = 9 /\ y' = 0
P == x < 3`, initNext + "PROPERTY P",
			"step violated: 3 generated, 3 distinct, depth 1; P"},
		{"a quantified property is taken apart",
			start + `Next == x' = x + 1 /\ y' = y
P == \A n \in 1..2 : [](x # n + 1)`, initNext + "PROPERTY P",
			"invariant violated: 3 generated, 3 distinct, depth 3; P"},
		{"a type that says of a string that it is a number",
			`Init == x = 0 /\ y = 0
Next == x' \in {"a", "b"} /\ y' = y + 1
TypeOK == x \in Nat`, initNext + "INVARIANT TypeOK",
			"evaluation error: 2 generated, 2 distinct, depth 2; cannot decide \"a\" \\in Nat, whose elements are integers at T.tla:7:11 < T.tla:7:1 (use of TypeOK); TypeOK"},
		{"ENABLED in an invariant",
			start + `Next == x < 2 /\ x' = x + 1 /\ y' = y
Can == ENABLED Next \/ x = 2
Cannot == ~ENABLED (x' = x /\ x' # x)
Partly == ENABLED (x' = 1)`, initNext + "INVARIANTS Can Cannot Partly",
			"ok: 3 generated, 3 distinct, depth 3"},
		{"an operator that is passed on hides an action below ENABLED",
			start + `Next == x < 2 /\ x' = x + 1 /\ y' = y
Can(A) == ENABLED A
Ap(Op(_), A) == Op(A)
Again(Op(_), A) == Ap(Op, A) /\ Ap(LAMBDA B : Op(B), A)
Never(Op(_), a) == a
I1 == Ap(Can, Next) \/ x = 2
I2 == Again(Can, Next) <=> x < 2
I3 == Again(LAMBDA A : ENABLED A /\ x < 2, Next) <=> x # 2
I4 == Never(LAMBDA a : x' = a, x <= 2)`, initNext + "INVARIANTS I1 I2 I3 I4",
			"ok: 3 generated, 3 distinct, depth 3"},
		{"ENABLED under a prime asks the next state",
			start + `Inc == x < 2 /\ x' = x + 1 /\ y' = y
Next == Inc
P == [][(ENABLED Inc)' <=> x' < 2]_vars`, initNext + "PROPERTY P",
			"ok: 3 generated, 3 distinct, depth 3"},
		{"a view tells states apart by less",
			start + `Next == x' = (x + 1) % 3 /\ y' = y + 1
V == x`, initNext + "VIEW V",
			"ok: 4 generated, 3 distinct, depth 3"},
		{"an infinite set cannot be part of a state",
			start + `Next == x' = {n \in Nat : n > 1} /\ y' = 0`, initNext,
			"evaluation error: 1 generated, 1 distinct, depth 1; the value of x cannot be part of a state: the infinite set {x \\in Nat : ...} cannot be stored or hashed at T.tla:6:9"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := search(t, counter(test.module), test.cfg)
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestSpecificationFormulas(t *testing.T) {
	module := counter(`
Init == x = 0 /\ y = 0
Next == x' = (x + 1) % 2 /\ y' = y
Live == WF_vars(Next) /\ \A n \in 1..2 : SF_x(x' = n /\ Next)
Spec == Init /\ [][Next]_vars /\ Live
More == Spec /\ [](y = 0)
Behave(N) == Init /\ [][N]_vars
Indirect == Behave(Next /\ TRUE)
Two == Init /\ [][Next]_vars /\ [][Next]_x
None == Init /\ <>(x = 1)
Eventually == <>(x = 1) /\ [](y = 0)
Refines == Spec
Mixed == Init /\ [][Next]_vars /\ []<>(x = 1)
Apply(Op(_), A) == Op(A)
ApplyNext == Apply(LAMBDA A : A, Next)`)
	tests := []struct {
		cfg               string
		fairness, actions int
		warnings          []string
		live, unchecked   []string
		invariants, steps []string
		err               source.Code
	}{
		{cfg: "SPECIFICATION Spec", fairness: 2, actions: 1},
		{cfg: "SPECIFICATION More", fairness: 2, actions: 1,
			warnings: []string{"T.tla:10:20: this part of the specification More does not restrict which states are explored"}},
		{cfg: "SPECIFICATION Indirect", actions: 1},
		{cfg: "SPECIFICATION Two", err: BadSpecification},
		{cfg: "SPECIFICATION None", err: BadSpecification},
		{cfg: "SPECIFICATION Nowhere", err: program.UnknownName},
		{cfg: "SPECIFICATION Behave", err: program.WrongArity},
		{cfg: "SPECIFICATION Spec PROPERTY Eventually", fairness: 2, actions: 1, live: []string{"Eventually"}, invariants: []string{"Eventually"}},
		{cfg: "SPECIFICATION Spec PROPERTY Refines", fairness: 2, actions: 1, live: []string{"Refines", "Refines"}, steps: []string{"Refines"}},
		{cfg: "SPECIFICATION Spec PROPERTY Mixed", fairness: 2, actions: 1, live: []string{"Mixed"}, steps: []string{"Mixed"}},
		{cfg: "SPECIFICATION Spec PROPERTY Init", fairness: 2, actions: 1, steps: []string{"Init"},
			warnings: []string{"the property Init is a state predicate: it is checked of initial states only; INVARIANT Init would check it of every state"}},
		{cfg: "INIT Init NEXT Next INVARIANT Next", err: WrongLevel},
		{cfg: "INIT Init NEXT Next INVARIANT ApplyNext", err: WrongLevel},
		{cfg: "INIT Init NEXT Spec", err: WrongLevel},
		{cfg: "INVARIANT Init", err: MissingBehaviour},
		{cfg: "SPECIFICATION Spec CONSTANT N = 1", fairness: 2, actions: 1}, // ignored, and warned of: see the command's scripts
		{cfg: "SPECIFICATION Spec CONSTANT Init <- Nowhere", err: program.UnknownName},
		{cfg: "SPECIFICATION Spec CONSTANT Init <- Behave", err: program.WrongArity},
		{cfg: "SPECIFICATION Spec SYMMETRY Init", err: BadSymmetry},
		{cfg: "SPECIFICATION Spec _POSSIBLE Init", err: Unsupported},
	}
	for _, test := range tests {
		t.Run(test.cfg, func(t *testing.T) {
			spec, cfg := loadText(t, module, test.cfg)
			m, err := New(spec, cfg, Options{})
			var list *source.List
			switch {
			case errors.As(err, &list):
				if got := list.Sorted()[0].Code; got != test.err {
					t.Fatalf("%v, want %s", err, test.err)
				}
				return
			case err != nil || test.err != "":
				t.Fatalf("error %v, want %s", err, test.err)
			}
			info := m.Info()
			var unchecked []string
			for _, u := range info.Unchecked {
				unchecked = append(unchecked, u.Property)
			}
			var live []string
			if l := m.Live(); l != nil {
				for _, p := range l.Properties {
					live = append(live, p.Name)
				}
			}
			got := []any{len(m.Fairness()), len(info.Actions), info.Warnings, live, unchecked, info.Invariants, info.Steps}
			want := []any{test.fairness, test.actions, test.warnings, test.live, test.unchecked, test.invariants, test.steps}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

func TestMissingConstant(t *testing.T) {
	spec, cfg := loadText(t, "---- MODULE T ----\nEXTENDS Naturals\nCONSTANTS N, M\nASSUME N > M\n====\n", "CONSTANT N = 1")
	_, err := New(spec, cfg, Options{})
	if err == nil || !strings.Contains(err.Error(), "T.tla:3:14: error: the constant M has no value in the configuration [MissingConstant]") {
		t.Errorf("got %v", err)
	}
}

// TestMissingIsPlaced: what a configuration lacks is told with a place and a repair
// that fits.
func TestMissingIsPlaced(t *testing.T) {
	const module = "---- MODULE T ----\nCONSTANT F(_, _)\nVARIABLE x\nInit == x = F(1, 2)\nNext == x' = x\nInv == TRUE\nPlus(a, b) == a\n====\n"
	for cfg, want := range map[string]string{
		initNext:                           "T.tla:2:10: error: the constant F has no value in the configuration [MissingConstant]\n    CONSTANT F(_, _)\n             ^\n    repair: CONSTANT F <- Op, where the specification defines Op with as many parameters: 2",
		"CONSTANT F <- Plus INVARIANT Inv": "test.cfg:1:30: error: the configuration asks for invariants",
		"CONSTANT F <- Plus\nPROPERTY Inv INVARIANT": "test.cfg:2:10: error: the configuration asks for invariants",
	} {
		spec, c := loadText(t, module, cfg)
		_, err := New(spec, c, Options{})
		var list *source.List
		var text strings.Builder
		if errors.As(err, &list) {
			list.Print(&text)
		}
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q:\n%s\nwant %s", cfg, text.String(), want)
		}
	}
}

// TestUnsetConstant: what a translation declares for variables without a value
// has one.
func TestUnsetConstant(t *testing.T) {
	module := "---- MODULE T ----\nCONSTANT defaultInitValue\nVARIABLE x\nInit == x = defaultInitValue\nNext == x' = x\n====\n"
	for cfg, want := range map[string]string{"": "defaultInitValue", "CONSTANT defaultInitValue = 7\n": "7"} {
		spec, c := loadText(t, module, initNext+cfg)
		m := newModel(t, spec, c, Options{})
		err := m.NewWorker().Init(func(_ int, s check.State) error {
			if got := m.Decode(s)[0].String(); got != want {
				t.Errorf("%q: %s, want %s", cfg, got, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestConfiguredConstants: what a configuration puts in the place of constants,
// definitions, definitions of one module, and standard operators.
func TestConfiguredConstants(t *testing.T) {
	files := textFiles{
		"Inner.tla": "---- MODULE Inner ----\nEXTENDS Naturals\nCONSTANT C\nBound == 5\nRange == 0..Bound\nTop == C + Bound\n====\n",
		"T.tla": `---- MODULE T ----
EXTENDS Naturals, FiniteSets
CONSTANTS N, Ids, F(_, _), Op(_), NoId
I == INSTANCE Inner WITH C <- N
Bound == 7
Choice == CHOOSE v : v \notin Ids
SmallNat == 0..2
Twice(x) == x * 2
Four == 4
Result == <<N, Ids, F(1, 2), F(2, N), Op(N), NoId \in Ids, I!Range, I!Top, Bound, Choice, Nat, {n \in Nat : n > 0}>>
====
`,
	}
	const text = `CONSTANTS N <- Four Ids = {i1, i2} NoId = NoId Op <- Twice
  F(1, 2) = "a" F(2, 4) = {TRUE, -1 }
  Bound <- [Inner] Four
  Choice = none
  Nat <- SmallNat
`
	cfg := strings.Replace(text, "{TRUE, -1 }", "<<TRUE, -1>>", 1)
	spec := loadSpec(t, files, "T.tla")
	const want = `<<4, {i1, i2}, "a", <<TRUE, -1>>, 8, FALSE, {0, 1, 2, 3, 4}, 8, 7, none, {0, 1, 2}, {1, 2}>>`
	for _, reference := range []bool{false, true} {
		m := newModel(t, spec, parseConfig(t, "test.cfg", cfg+"VIEW Result\n"), Options{Reference: reference})
		w := m.newWorker()
		var got value.Value
		if err := w.guard(m.view, vector.Vector{}, vector.Vector{}, func() { got = w.ev.Value(m.view.id, vector.Vector{}, vector.Vector{}) }); err != nil {
			t.Fatal(err)
		}
		if got.String() != want {
			t.Errorf("reference %v: %s, want %s", reference, got, want)
		}
	}
}

func TestActionsHaveTheNamesOfTheirDefinitions(t *testing.T) {
	spec, cfg := loadText(t, counter(`
Init == x = 0 /\ y = 0
Inc(n) == x' = x + n /\ UNCHANGED y
Both == Inc(1) \/ (y' = 1 /\ x' = x)
Next == \/ \E n \in {2, 3} : Inc(n)
        \/ Both
        \/ LET k == 1 IN x < k /\ Inc(k)`), "INIT Init NEXT Next")
	m := newModel(t, spec, cfg, Options{})
	var got []string
	for _, a := range m.Info().Actions {
		got = append(got, a.Name+" "+a.Place)
	}
	want := []string{"Inc T.tla:7:11", "Both T.tla:8:20", "Next T.tla:11:26"}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("actions %q, want %q", got, want)
	}
	var taken []int
	w := m.NewWorker()
	visit := func(a int, s check.State) error {
		taken = append(taken, a)
		return nil
	}
	if err := w.Init(func(_ int, s check.State) error { return m.NewWorker().Next(append(check.State(nil), s...), visit) }); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(taken) != "[0 0 0 1 2]" {
		t.Errorf("the steps from the initial state are of the actions %v", taken)
	}
}

func TestShow(t *testing.T) {
	module := counter(`
Init == x = <<1, {"a"}>> /\ y = [f |-> TRUE]
Next == UNCHANGED vars
A == [sum |-> x[1] + 1, all |-> vars]
B == LET o == 1 IN [z |-> o, y |-> 2, x |-> 3]
C == ("z" :> 1) @@ [x |-> 3]
Bad == [sum |-> x + 1]`)
	tests := []struct{ cfg, want string }{
		{"", `[{x <<1, {"a"}>> [1,{"#set":["a"]}]} {y [f |-> TRUE] {"f":true}}]`},
		// The fields are in the order written.
		{"ALIAS A", `[{sum 2 2} {all <<<<1, {"a"}>>, [f |-> TRUE]>> [[1,{"#set":["a"]}],{"f":true}]}]`},
		{"ALIAS B", `[{z 1 1} {y 2 2} {x 3 3}]`},
		{"ALIAS C", `[{x 3 3} {z 1 1}]`},
		{"ALIAS Bad", `[{x <<1, {"a"}>> [1,{"#set":["a"]}]} {y [f |-> TRUE] {"f":true}}]`},
	}
	for _, test := range tests {
		spec, cfg := loadText(t, module, initNext+test.cfg)
		m := newModel(t, spec, cfg, Options{})
		err := m.NewWorker().Init(func(_ int, s check.State) error {
			if got := fmt.Sprint(m.Show(s)); got != test.want {
				t.Errorf("%s: %s, want %s", test.cfg, got, test.want)
			}
			if again := m.Encode(m.Decode(s)); string(again) != string(s) {
				t.Errorf("%v decodes and encodes to %v", s, again)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestPostcondition(t *testing.T) {
	module := counter("Init == x = 0 /\\ y = 0\nNext == UNCHANGED vars\nGood == 1 + 1 = 2\nBad == 1 > 2\nOdd == 1 \\div 0 = 1")
	for cfg, want := range map[string]string{
		"":                   " true false <nil>",
		"POSTCONDITION Good": "Good true true <nil>",
		"POSTCONDITION Bad":  "Bad false true <nil>",
		"POSTCONDITION Odd":  "Odd false true T.tla:9:8: 1 \\div 0: division by zero",
	} {
		spec, c := loadText(t, module, initNext+cfg)
		name, holds, asked, err := newModel(t, spec, c, Options{}).Postcondition()
		if got := fmt.Sprintf("%s %v %v %v", name, holds, asked, err); got != want {
			t.Errorf("%q: %s, want %s", cfg, got, want)
		}
	}
}

func TestAssumptions(t *testing.T) {
	spec, cfg := loadText(t, "---- MODULE T ----\nEXTENDS Integers\nCONSTANT N\nASSUME N > 1\nASSUME Small == N < 3\nASSUME N # 5\n====\n", "CONSTANT N = 5")
	for _, reference := range []bool{false, true} {
		broken, err := newModel(t, spec, cfg, Options{Reference: reference}).NewWorker().Assumptions()
		if err != nil || fmt.Sprint(broken) != "[Small T.tla:6:8]" {
			t.Errorf("broken %v, error %v", broken, err)
		}
	}
}

func TestOutputAndRegisters(t *testing.T) {
	spec, cfg := loadText(t, counter(`
Init == x = 0 /\ y = 0 /\ TLCSet(3, 10)
Next == /\ x < 2
        /\ PrintT(<<"at", x>>)
        /\ TLCSet(3, TLCGet(3) + 1)
        /\ x' = x + 1
        /\ y' = TLCGet(3) + TLCGet("level")`), initNext)
	for _, reference := range []bool{false, true} {
		var lines []string
		m := newModel(t, spec, cfg, Options{Reference: reference, Output: func(l string) { lines = append(lines, l) }})
		r, err := check.Run(context.Background(), m, check.Options{})
		if err != nil || r.Verdict != check.OK {
			t.Fatalf("%v, %v, %v", r.Verdict, r.Err, err)
		}
		if got := strings.Join(lines, " "); got != `<<"at", 0>> <<"at", 1>>` {
			t.Errorf("printed %s", got)
		}
		if r.Generated != 3 {
			t.Errorf("%d generated", r.Generated)
		}
	}
}

// TestRandomElementIsDrawnOnce: a constant definition has one value in a model,
// and the same for the same seed.
func TestRandomElementIsDrawnOnce(t *testing.T) {
	spec, cfg := loadText(t, counter(`
Drawn == RandomElement(1..1000000)
Init == x = Drawn /\ y = Drawn
Next == UNCHANGED vars
Same == x = y /\ x = Drawn`), initNext+"INVARIANT Same")
	draw := func(o Options) string {
		m := newModel(t, spec, cfg, o)
		out := ""
		w := m.NewWorker()
		if err := w.Init(func(_ int, s check.State) error {
			if i, err := w.BrokenInvariant(); i >= 0 || err != nil {
				t.Errorf("the values differ: %v %v", m.Decode(s), err)
			}
			out = m.Decode(s)[0].String()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := draw(Options{Seed: 3})
	if again := draw(Options{Seed: 3}); again != first {
		t.Errorf("seed 3 gives %s and %s", first, again)
	}
	if again := draw(Options{Seed: 3, Reference: true}); again != first {
		t.Errorf("seed 3 gives %s, and %s by the reference", first, again)
	}
	if other := draw(Options{Seed: 4}); other == first {
		t.Errorf("seeds 3 and 4 both give %s", first)
	}
}

// TestSymmetry: orbits are counted, whatever state of an orbit is met.
func TestSymmetry(t *testing.T) {
	module := `---- MODULE T ----
EXTENDS Integers, TLC
CONSTANT P
VARIABLES has, sent
Init == has = [p \in P |-> 0] /\ sent = {}
Next == \E p \in P : /\ has[p] < 2
                     /\ has' = [has EXCEPT ![p] = @ + 1]
                     /\ sent' = sent \cup {<<p, has[p]>>}
Sym == Permutations(P)
====
`
	const cfg = "INIT Init NEXT Next CHECK_DEADLOCK FALSE CONSTANT P = {p1, p2, p3, p4}\n"
	if got, want := search(t, module, cfg), "ok: 217 generated, 81 distinct, depth 9"; got != want {
		t.Errorf("without symmetry %s, want %s", got, want)
	}
	// Multisets of 4 out of 3 values: 15 orbits.
	if got, want := search(t, module, cfg+"SYMMETRY Sym\n"), "ok: 41 generated, 15 distinct, depth 9"; got != want {
		t.Errorf("with symmetry %s, want %s", got, want)
	}
}

// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// exprModule is the module that expressions of tests are written in.
const exprModule = `---- MODULE T ----
EXTENDS Integers, Sequences, FiniteSets, TLC, TLCExt
CONSTANTS m1, m2, T_a, S_b
VARIABLES a, b, s, q, f, r
Ap(F(_), x) == F(x)
Ap2(F(_, _), x, y) == F(x, y)
Twice(F(_), x) == F(F(x))
First(x, y) == x
RECURSIVE Sum(_)
Sum(S) == IF S = {} THEN 0 ELSE LET e == CHOOSE e \in S : TRUE IN e + Sum(S \ {e})
SumOf(F(_), S) == LET RECURSIVE Up(_) Up(T) == IF T = {} THEN 0 ELSE LET e == CHOOSE e \in T : TRUE IN F(e) + Up(T \ {e}) IN Up(S)
RECURSIVE Even(_), Odd(_)
Even(n) == IF n = 0 THEN TRUE ELSE Odd(n - 1)
Odd(n) == IF n = 0 THEN FALSE ELSE Even(n - 1)
RECURSIVE Forever(_)
Forever(n) == Forever(n + 1) + 1
RECURSIVE Lazy(_, _)
Lazy(n, unused) == IF n = 0 THEN 0 ELSE Lazy(n - 1, unused \div 0)
fact[n \in Nat] == IF n = 0 THEN 1 ELSE n * fact[n - 1]
fib[n \in 0..40] == IF n < 2 THEN n ELSE fib[n - 1] + fib[n - 2]
part[n \in 0..5] == 10 \div n
scaled[n \in 1..3] == n * a
Init == a = 3 /\ b = TRUE /\ s = {1, 2} /\ q = <<1, 2, 3>> /\ f = [i \in 1..3 |-> i * 10] /\ r = [x |-> 1, y |-> "u"]
Next == UNCHANGED <<a, b, s, q, f, r>>
`

// exprConfig gives the constants of exprModule.
const exprConfig = `INIT Init NEXT Next
CONSTANTS m1 = m1 m2 = m2 T_a = T_a S_b = S_b
`

// exprState is the initial state of exprModule.
func exprState() []value.Value {
	n := func(i int32) value.Value { return value.Int(i) }
	return []value.Value{
		n(3), value.Bool(true), value.Set(n(1), n(2)), value.Tuple(n(1), n(2), n(3)), value.Tuple(n(10), n(20), n(30)),
		value.Record([]value.Field{{Name: "x", Val: n(1)}, {Name: "y", Val: value.String("u")}}),
	}
}

// exprModels is one model per definition of names, each of which has that
// definition for its view, so that its value can be asked for.
type exprModels struct {
	spec *core.Spec
	cfg  string
}

func exprSpec(t testing.TB, defs string) exprModels {
	t.Helper()
	spec, _ := loadText(t, exprModule+defs+"\n====\n", exprConfig)
	return exprModels{spec, exprConfig}
}

// value evaluates the definition in a state, by one of the evaluators.
func (e exprModels) value(t testing.TB, name string, reference bool, vals []value.Value) (v value.Value, err error) {
	t.Helper()
	m := newModel(t, e.spec, parseConfig(t, "test.cfg", e.cfg+"VIEW "+name+"\n"), Options{Reference: reference})
	w := m.newWorker()
	s := m.Encode(vals)
	m.codec.Decode(s, w.cur, w.ends)
	err = w.guard(m.view, w.cur, vector.Vector{}, func() { v = w.ev.Value(m.view.id, w.cur, vector.Vector{}).Normal() })
	if err == nil && v.Kind() == value.KindSet && value.IsFinite(v) {
		v = value.Enumerate(v)
	}
	return v, err
}

// eachForm evaluates an expression in the forms in which the compiled evaluator
// treats it differently: as it stands, and inside a loop where nothing is
// constant. what is the text of a value or of an error.
func eachForm(t *testing.T, texts []string, see func(i int, form, what string)) {
	t.Helper()
	var defs strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&defs, "E%d == %s\n", i, text)
		fmt.Fprintf(&defs, "L%d == CHOOSE result \\in {(%s) : unused \\in s} : TRUE\n", i, text)
		fmt.Fprintf(&defs, "P%d(unused) == %s\nQ%d == P%d(a)\n", i, text, i, i)
	}
	e := exprSpec(t, defs.String())
	for i := range texts {
		for _, form := range []string{"E", "L", "Q"} {
			for _, reference := range []bool{false, true} {
				v, err := e.value(t, fmt.Sprintf("%s%d", form, i), reference, exprState())
				what := ""
				var bad *check.EvalError
				switch {
				case errors.As(err, &bad):
					what = "error: " + bad.Message
				case err != nil:
					t.Fatal(err)
				default:
					what = v.String()
				}
				see(i, fmt.Sprintf("%s reference=%v", form, reference), what)
			}
		}
	}
}

func TestExpressions(t *testing.T) {
	tests := []struct{ expr, want string }{
		// Where PGo's runtime gives other answers.
		{`<<CHOOSE z \in {1, 2} : TRUE, CHOOSE z \in {2, 1} : TRUE>>`, `<<1, 1>>`},
		{`<<(-1) \div 2, (-1) % 2>>`, `<<-1, 1>>`},
		{`<<7>> = [i \in {1} |-> 7]`, `TRUE`},
		{`<<>> = [i \in {} |-> 0]`, `TRUE`},
		{`2147483647 + 1`, `error: `},
		// Logic is evaluated from left to right, no further than needed.
		{`a = 3 \/ 1 \div 0 = 1`, `TRUE`},
		{`a # 3 /\ 1 \div 0 = 1`, `FALSE`},
		{`a # 3 => 1 \div 0 = 1`, `TRUE`},
		{`1 \div 0 = 1 \/ a = 3`, `error: `},
		{`IF b THEN 1 ELSE 1 \div 0`, `1`},
		{`CASE a = 1 -> "one" [] a = 3 -> "three" [] a = 3 -> "again" [] OTHER -> "other"`, `"three"`},
		{`CASE a = 1 -> 1 [] a = 2 -> 2`, `error: no condition of the CASE`},
		{`a /\ b`, `error: expected a boolean, found the integer 3`},
		{`b => a`, `error: expected a boolean`},
		{`\A x \in s : x`, `error: expected a boolean`},
		// Arguments and LET definitions are evaluated when they are used.
		{`First(1, 1 \div 0)`, `1`},
		{`LET z == 1 \div 0 IN 5`, `5`},
		{`LET z == a + 1 IN z * z`, `16`},
		{`LET z(x) == x + a IN z(1) + z(2)`, `9`},
		{`LET y == a + 1 z == y + y IN z + z`, `16`},
		{`LET y == CHOOSE x \in s : x > 1 IN {y + x : x \in s}`, `{3, 4}`},
		{`Lazy(3, 1)`, `0`},
		// Operators as arguments.
		{`Ap(LAMBDA x : x + a, 2)`, `5`},
		{`Ap2(LAMBDA x, y : x - y, 5, a)`, `2`},
		{`Twice(LAMBDA x : Twice(LAMBDA y : y + x, x), 1)`, `9`},
		{`Ap(Even, 10)`, `TRUE`},
		{`{Ap(LAMBDA x : x * k, a) : k \in s}`, `{3, 6}`},
		{`SumOf(LAMBDA x : x * a, s)`, `9`},
		{`SumOf(LAMBDA x : SumOf(LAMBDA y : x * y, s), s)`, `9`},
		{`SelectSeq(q, LAMBDA x : x >= a - 1)`, `<<2, 3>>`},
		// Recursion.
		{`Sum({1, 2, 3, 4})`, `10`},
		{`Sum(s) + Sum(1..a)`, `9`},
		{`<<Even(7), Odd(7)>>`, `<<FALSE, TRUE>>`},
		{`Forever(0)`, `error: operators call each other more than`},
		{`fact[5] + fact[a]`, `126`},
		{`fib[40]`, `102334155`},
		{`fact[-1]`, `error: `},
		{`part[5] + part[2]`, `7`},
		{`part[0]`, `error: `},
		{`part`, `error: `},
		{`scaled[2]`, `6`},
		{`scaled`, `<<3, 6, 9>>`},
		{`LET g[n \in Nat] == IF n = 0 THEN a ELSE g[n - 1] + n IN g[4]`, `13`},
		{`LET g[x \in SUBSET s] == IF x = {} THEN 0 ELSE LET e == CHOOSE e \in x : TRUE IN e + g[x \ {e}] IN g[s]`, `3`},
		{`LET g == [n \in 0..3 |-> 6 \div n] IN g[a]`, `2`},
		{`LET g[x \in 1..2, y \in 1..2] == x * 10 + y IN <<g[1, 2], g[<<2, 1>>]>>`, `<<12, 21>>`},
		// Functions, tuples and records.
		{`[x \in {3, 4} |-> x]`, `(3 :> 3 @@ 4 :> 4)`},
		{`[x \in {"p", "q"} |-> 1] = [p |-> 1, q |-> 1]`, `TRUE`},
		{`DOMAIN q`, `{1, 2, 3}`},
		{`[f EXCEPT ![1] = @ + 1, ![2] = @ + a]`, `<<11, 23, 30>>`},
		{`[f EXCEPT ![1] = 5, ![1] = @ + 1]`, `<<6, 20, 30>>`},
		{`[f EXCEPT ![9] = 1 \div 0]`, `<<10, 20, 30>>`},
		{`[r EXCEPT !.x = @ + 1].x`, `2`},
		{`[[x \in 1..2 |-> [y |-> x]] EXCEPT ![2].y = @ + 5]`, `<<[y |-> 1], [y |-> 7]>>`},
		{`[[i \in 1..2, j \in 1..2 |-> i + j] EXCEPT ![1, 2] = 0][<<1, 2>>]`, `0`},
		{`r.z`, `error: the record`},
		{`f[4]`, `error: `},
		{`q[0]`, `error: `},
		{`[x |-> 1, y |-> 2].y`, `2`},
		{`[x : {1}, y : {2, 3}]`, `{[x |-> 1, y |-> 2], [x |-> 1, y |-> 3]}`},
		// Sets.
		{`{x \in 1..10 : x % a = 0}`, `{3, 6, 9}`},
		{`{<<x, y>> \in s \X s : x < y}`, `{<<1, 2>>}`},
		{`{x + y : x \in s, y \in s}`, `{2, 3, 4}`},
		{`{x * y : <<x, y>> \in {<<1, a>>, <<2, 5>>}}`, `{3, 10}`},
		{`SUBSET s`, `{{}, {1}, {2}, {1, 2}}`},
		{`UNION {s, {a}}`, `{1, 2, 3}`},
		{`a \in Nat \cup {m1}`, `TRUE`},
		{`m1 \in Nat \cup {m1}`, `TRUE`},
		{`ToString(a) \in Nat`, `error: cannot decide "3" \in Nat, whose elements are integers`},
		{`a \in STRING`, `error: cannot decide 3 \in STRING, whose elements are strings`},
		{`s \in SUBSET STRING`, `error: cannot decide 1 \in STRING`},
		{`[i \in 1..2 |-> ToString(i)] \in [1..2 -> Int]`, `error: cannot decide "1" \in Int`},
		{`a \in {x \in Nat : x > 2}`, `TRUE`},
		// All of a set is evaluated, though its member is found without it.
		{`a \in {3} \cup {1 \div 0}`, `error: 1 \div 0`},
		{`a \in {4} \cap {1 \div 0}`, `error: 1 \div 0`},
		{`a \in {4} \ {1 \div (a - 3)}`, `error: 1 \div 0`},
		{`a \in s \cup {3} \cup {q[a + 1]}`, `error: `},
		{`a \in {x \in {3, 4} : x = 3 \/ 1 \div (a - 3) = 1}`, `error: 1 \div 0`},
		{`a \in {3} \cup {"a"}`, `error: cannot compare`},
		{`a \in {a} \cup {r.y}`, `error: cannot compare`},
		{`<<a>> \in {<<a>>} \cup {<<r.y>>}`, `error: cannot compare`},
		{`s \in {x \in SUBSET 0..3 : x = {1, 2} \/ 1 \div 0 = 1}`, `TRUE`},
		{`\A x \in {}, y \in {1 \div 0} : TRUE`, `error: 1 \div 0`},
		{`\E x \in s, y \in {x2 \in s : x2 > a}, z \in 1..q[a + 1] : TRUE`, `error: `},
		{`{x + y : x \in s \ s, y \in {1 \div (a - 3)}}`, `error: 1 \div 0`},
		{`\A x \in {}, y \in Nat : TRUE`, `error: the infinite set Nat`},
		{`\A x \in {}, y \in a : TRUE`, `error: expected a set`},
		{`q \in Seq(1..3) /\ <<a, m1>> \notin Seq(Nat)`, `TRUE`},
		{`f \in [1..3 -> Nat]`, `TRUE`},
		{`r \in [x : Nat, y : STRING]`, `TRUE`},
		{`s \subseteq Int`, `TRUE`},
		{`s \in SUBSET Nat`, `TRUE`},
		{`{x \in s : x > 5} = {}`, `TRUE`},
		{`Cardinality({x \in s : x > 1})`, `1`},
		{`Cardinality(SUBSET (1..10))`, `1024`},
		{`{1, "a"}`, `error: cannot compare`},
		{`1 = "a"`, `error: cannot compare`},
		{`m1 = 1 \/ m1 = "m1" \/ m1 = m2 \/ m1 = <<>> \/ m1 = {}`, `FALSE`},
		{`T_a = S_b`, `error: cannot compare`},
		{`T_a = m1`, `FALSE`},
		{`CHOOSE x : x \notin s`, `error: an unbounded CHOOSE`},
		{`CHOOSE x \in s : x > 5`, `error: no element of`},
		{`CHOOSE x \in {{3}, {1, 2}, {2}} : TRUE`, `{2}`},
		{`\E x \in s, y \in s : x + y = 4`, `TRUE`},
		{`\A x, y \in s : x + y < 4`, `FALSE`},
		{`\E x : x = 1`, `error: an unbounded quantifier`},
		{`\E <<x, y>> \in {<<1, 2, 3>>} : TRUE`, `error: the pattern has 2 names`},
		{`BOOLEAN`, `{FALSE, TRUE}`},
		// Numbers.
		{`-a - 4`, `-7`},
		{`2 ^ 10`, `1024`},
		{`((-7) \div 2) + ((-7) % 2)`, `-3`},
		{`7 \div 0`, `error: `},
		{`46341 * 46341`, `error: `},
		{`-2147483647 - 2`, `error: `},
		{`4..a`, `{}`},
		{`a \in 1..b`, `error: `},
		// TLC's own operators.
		{`(1 :> 2) @@ (1 :> 3 @@ 2 :> 4)`, `<<2, 4>>`},
		{`Assert(a = 3, "no")`, `TRUE`},
		{`Assert(a = 4, "a is not 4")`, `error: `},
		{`TLCSet(1, a) /\ TLCGet(1) = 3`, `TRUE`},
		{`AssertError("gone", a)`, `TRUE`},
		{`AssertError("assertion failed: no " \o ToString(a), Assert(a = 4, "no " \o ToString(a)))`, `TRUE`},
		{`AssertError("gone", Assert(a = 4, "no"))`, `error: assertion failed: the error is "assertion failed: no"`},
		{`LET F[n \in 0..3] == IF n = 0 THEN Assert(FALSE, "deep") ELSE F[n - 1]
		      G(y) == LET h == y + 1 IN AssertError("assertion failed: deep", F[y]) /\ h = a + 1 IN G(a) /\ a = 3`, `TRUE`},
		{`\A x \in s : AssertError("assertion failed: two", Assert(x # 2, "two")) /\ x \in s`, `TRUE`},
		{`Trace`, `error: Trace: how a state was reached`},
		{`TLCGet(7)`, `error: `},
		{`Cardinality(Permutations({m1, m2}))`, `2`},
		{`ToString(<<a, "x">>)`, `"<<3, \"x\">>"`},
		// Primes need a next state.
		{`\E x \in s : ENABLED (a' = x /\ UNCHANGED <<b, s, q, f, r>>)`, `TRUE`},
		{`ENABLED (a' \in {} /\ b' = b)`, `FALSE`},
		{`ENABLED (a' = 1 /\ a' = 2)`, `FALSE`},
		{`ENABLED (a' = a + 1 /\ \A x \in s : a' > x)`, `TRUE`},
	}
	texts := make([]string, len(tests))
	for i, test := range tests {
		texts[i] = test.expr
	}
	eachForm(t, texts, func(i int, form, what string) {
		want := tests[i].want
		if what == want || strings.HasPrefix(want, "error: ") && strings.HasPrefix(what, want) {
			return
		}
		t.Errorf("%s (%s): %s, want %s", tests[i].expr, form, what, want)
	})
}

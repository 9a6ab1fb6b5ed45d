// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// hideHoles are numbers that have no value in some states, for several reasons.
var hideHoles = []string{
	`(1 \div (n - 3))`, `(CHOOSE v \in 0..n : v > n)`, `Head(w)`, `f[n]`, `(CASE n < 3 -> 1)`, `rs[n].b`, `w[n]`,
	`(IF n < 3 THEN 1 ELSE 1 \div 0)`, `[x \in {2} |-> 5][n]`, `(n + one[n])`, `g[<<n, 1>>]`, `Tail(w)[1]`, `u[n]`, `(IF n = 3 THEN r.z ELSE 1)`,
}

// hideContexts are numbers that do not depend on all parts of what they are made
// of. Where such a part has no value, some have one and some have none.
var hideContexts = []string{
	`[x |-> %s, y |-> n].y`, `[x |-> n, y |-> %s].x`, `<<%s, n>>[2]`, `<<n, %s>>[1]`, `<<%s, 1>>[2]`, `[i \in 1..2 |-> %s + i][1]`,
	`[i \in {3, 4} |-> IF i = 4 THEN %s ELSE i][3]`, `Cardinality(DOMAIN <<%s, 2>>)`, `Cardinality(DOMAIN [x |-> %s])`, `Cardinality(DOMAIN [i \in 1..2 |-> %s])`,
	`[<<%s, 2>> EXCEPT ![1] = 3][1]`, `[<<%s, 2>> EXCEPT ![1] = 3][2]`, `[f EXCEPT ![1] = %s][2]`, `[f EXCEPT ![%s] = 1][2]`, `[f EXCEPT ![1] = %s, ![1] = 2][1]`,
	`[f EXCEPT ![1] = %s, ![1] = 2][2]`, `[r EXCEPT !.x = %s].y`, `[r EXCEPT !.x = %s, !.x = 1].x`, `[ff EXCEPT ![1][1] = %s][2][2]`, `[ff EXCEPT ![1][1] = %s][1][2]`,
	`[ff EXCEPT ![1] = [@ EXCEPT ![1] = %s]][1][2]`, `Len(<<%s, 2>>)`, `Len(Append(w, %s))`, `Len(<<%s>> \o w)`, `Len(w \o <<%s>>)`, `Len(Tail(<<%s, 2>>))`,
	`Head(<<1, %s>>)`, `Head(Append(<<n>>, %s))`, `Head(Append(q, %s))`, `Head(Tail(<<%s, 2>>))`, `Head(Tail(<<1, 2, %s>>))`, `Len(SubSeq(<<%s, 2>>, 2, 2))`,
	`Len(SubSeq(q, 1, 0 * %s))`, `Len(SelectSeq(<<%s, 2>>, LAMBDA x : TRUE))`, `Len(SelectSeq(q, LAMBDA x : x > 100 /\ %s = 1))`, `Len(SelectSeq(q, LAMBDA x : %s = 1))`,
	`Len(Append(q, %s))`, `Len([q EXCEPT ![1] = %s])`, `Head([q EXCEPT ![2] = %s])`, `Len(Append(Append(q, %s), 1))`, `Len(Tail(Append(q, %s)))`,
	`Head(SubSeq(Append(q, %s), 1, 1))`, `SubSeq(Append(q, %s), 1, 2)[1]`, `Cardinality({%s})`, `Cardinality({%s, 1})`, `Cardinality({x \in {%s, 1} : FALSE})`,
	`Cardinality({x \in {%s, 1} : x > 1000})`, `Cardinality({0 : x \in {%s, 1}})`, `Cardinality({0 : x \in 1..%s})`, `Cardinality({x \in 1..2 : %s > x})`,
	`Cardinality({%s : x \in 1..2})`, `Cardinality({0 : x \in {}, y \in {%s}})`, `Cardinality({0 : x \in 5..n, y \in {%s}})`,
	`Cardinality({x + y : x \in 1..2, y \in {%s, 2}})`, `Cardinality(UNION {{%s}, {1}})`, `Cardinality(UNION {1..%s})`, `Cardinality({1} \cap {%s})`,
	`Cardinality({} \cap {%s})`, `Cardinality({} \ {%s})`, `Cardinality({1, 2} \ {%s})`, `Cardinality(s \cup {%s})`, `Cardinality({<<x, 1>> : x \in {%s}})`,
	`Cardinality({1, 2} \X {%s})`, `Cardinality(SUBSET {%s})`, `Cardinality([1..2 -> {%s}])`, `Cardinality([x : {%s}, y : {1}])`, `(CHOOSE x \in {%s, 1} : TRUE)`,
	`(CHOOSE x \in {1, 2} : x = 1 \/ %s = 1)`, `(CHOOSE x \in {1, 2} : %s = x \/ x = 2)`, `(CHOOSE x \in s : x = 1 \/ %s = 1)`, `(CASE n = 3 -> 1 [] %s = 1 -> 2)`,
	`(CASE %s = 1 -> 2 [] n = 3 -> 1 )`, `(CASE n = 4 -> %s [] OTHER -> 1)`, `(IF %s = 1 THEN 1 ELSE 1)`, `(LET y == %s IN 3)`, `(LET y == %s IN y - y)`, `(0 * %s)`,
	`(%s %% 1)`, `(LET F(x) == 1 IN F(%s))`, `Min2(%s, 0)`, `Ign(%s)`, `(LET h[x \in 1..2] == %s + x IN 1)`, `(LET h[x \in 1..3] == IF x = 3 THEN %s ELSE x IN h[1])`,
	`(LET h == [x \in 1..3 |-> IF x = 3 THEN %s ELSE x] IN Len(h))`, `(1 :> %s @@ 1 :> 2)[1]`, `(1 :> 2 @@ 1 :> %s)[1]`, `(1 :> 2 @@ 2 :> %s)[1]`,
	`Cardinality(DOMAIN (1 :> %s))`, `(IF n = 3 THEN <<%s, 1>> ELSE <<1, 2>>)[2]`, `(IF n = 3 THEN [x |-> %s, y |-> 1] ELSE r).y`,
	`(CASE n = 3 -> <<%s, 1>> [] OTHER -> <<1, 2>>)[2]`, `pairs[n][1] + Len(<<%s>>)`, `Sum({%s} \ {%s})`, `Cardinality({p[1] : p \in {<<1, %s>>}})`,
	`Cardinality({x : <<x, y>> \in {<<1, %s>>}})`, `ToN(%s = 1 /\ FALSE)`, `ToN(FALSE /\ %s = 1)`, `ToN(%s = 1 \/ TRUE)`, `ToN(TRUE \/ %s = 1)`,
	`ToN(\E x \in {%s, 1} : FALSE)`, `ToN(\A x \in {%s, 1} : TRUE)`, `ToN(\A x \in {0, %s} : x < 1000000)`, `ToN(\E x \in {} : %s = 1)`,
	`ToN(\A x \in {}, y \in {%s} : TRUE)`, `ToN(\A x \in 1..2, y \in {%s} : x = 2)`, `ToN(\A x \in 1..%s : TRUE)`, `ToN(\E x \in s : x = 1 \/ %s = 1)`,
	`ToN(\A x \in ({} \ {%s}) : FALSE)`, `ToN(\E x \in ({} \cap {%s}) : x = 1)`, `ToN(\E x \in ({x \in {%s} : FALSE}) : TRUE)`, `ToN(n \in {3, %s})`, `ToN(n \in {%s, 3})`,
	`ToN(n \in ({3} \cup {%s}))`, `ToN(n \in ({2} \cap {%s}))`, `ToN(n \in ({2} \ {%s}))`, `ToN(n \in {x \in {3} : TRUE} \cup {%s})`, `ToN(n \in {x \in {2, %s} : FALSE})`,
	`ToN(n \in {x \in 0..5 : x < 4 \/ %s = 1})`, `ToN(n \in 4..%s)`, `ToN(n \in %s..2)`, `ToN(<<n>> \in {<<3>>, <<%s>>})`, `ToN(<<n, 1>> \in {<<3, 1>>, <<3, %s>>})`,
	`ToN(f \in {f, [f EXCEPT ![1] = %s]})`, `ToN(s \in {s, {%s}})`, `ToN(q \in {q, <<%s>>})`, `ToN(r \in {r, [x |-> %s, y |-> 1]})`, `ToN(<<>> \in Seq({%s}))`,
	`ToN(q \in Seq({%s}))`, `ToN(w \in Seq({%s}))`, `ToN(r \in [x : {17}, y : {%s}])`, `ToN(r \in [x : {%s}, z : {2}])`, `ToN(f \in [1..2 -> {%s}])`,
	`ToN(f \in [1..9 -> {%s}])`, `ToN(f \in [1..%s -> {1}])`, `ToN(f \in [0..2 -> {1} \cup {%s}])`, `ToN(f \in [0..2 -> 0..5 \cup {%s}])`, `ToN(s \in SUBSET {1, %s})`,
	`ToN({} \in SUBSET {%s})`, `ToN(<<1, 2>> \in {9} \X {%s})`, `ToN(<<n, 2>> \in {9} \X {%s})`, `ToN({} \subseteq {%s})`, `ToN({n} \subseteq ({3} \cup {%s}))`,
	`ToN({%s} \subseteq {%s})`, `ToN(s \subseteq {x \in {1, %s} : TRUE})`, `ToN(s \subseteq {x \in 0..9 : x < 9 \/ %s = 1})`, `ToN(ss \subseteq SUBSET {%s})`,
	`ToN({%s} = {})`, `ToN({%s, 1} = {1})`, `ToN(<<%s>> = <<>>)`, `ToN(<<%s, 1>> = <<1>>)`, `ToN(<<1, %s>> = <<2, 1>>)`, `ToN(<<n, %s>> = <<2, 1>>)`,
	`ToN([x |-> %s] = [y |-> 1])`, `ToN([x |-> n, y |-> %s] = [x |-> 1, y |-> 1])`, `ToN(f = [f EXCEPT ![2] = %s])`, `ToN(r = [x |-> 17, y |-> %s])`,
	`ToN(q = <<>> \o <<%s>>)`, `ToN(Append(q, %s) = w)`, `ToN(rs[0] = [a |-> %s])`, `ToN(u = <<%s, 1>>)`, `ToN(u = [x |-> %s])`, `ToN(u # [x |-> %s])`,
	`ToN(u \in {[x |-> %s], u})`, `ToN(<<n, %s>> \in {<<1, 1>>})`, `ToN(<<n, %s>> \in pp)`, `ToN([x |-> n, y |-> %s] \in {r})`, `ToN(<<%s, n>> \in {})`,
	`ToN(<<%s, n>> \in pp \ pp)`, `Cardinality(pp \cup {<<n, %s>>})`, `Cardinality(pp \ {<<n, %s>>})`, `Cardinality(pp \ {<<9, %s>>})`,
	`Cardinality({y \in {<<n, %s>>} : y[1] = 1})`, `(CHOOSE y \in {<<n, %s>>} : TRUE)[1]`, `ToN(IsFiniteSet({%s}))`, `ToN(IsFiniteSet(1..%s))`, `ToN((%s = 1) = FALSE)`,
	`ToN((%s = 1) <=> FALSE)`, `ToN((%s = 1) => TRUE)`, `ToN(%s # "a")`, `ToN(ENABLED (n' = %s /\ FALSE))`, `ToN(ENABLED (FALSE /\ n' = %s))`,
	`ToN(ENABLED (n' \in {%s} /\ FALSE))`, `ToN(ENABLED (\E x \in {1, %s} : FALSE))`,
	`ToN(ENABLED (n' = 1 /\ UNCHANGED <<f, w, q, s, r, rs, one, ff, g, pairs, ss, pp>> /\ u' = [x |-> %s]))`, `Cardinality({x \in 1..130 : x > 128 \/ x = %s})`,
	`ToN(\E x \in {y \in 1..130 : y < 3 \/ 1..130 = {%s}} : x = 1)`, `ToN(130 \in ({y \in 1..130 : y > 3} \cup {x \in 1..2 : %s = x}))`,
	`ToN(2 \in ({y \in 1..130 : y > 100} \cup {x \in 90..130 : %s = x}))`,
	// Of sets that are asked for a member, every operand is evaluated.
	`ToN(n \in (s \cup {3} \cup {%s}))`, `ToN(n \in (({2} \cap {%s}) \cup {3}))`, `ToN(n \in ({3} \ ({3} \ {%s})))`, `ToN(n \in (s \cap 1..%s))`,
	`ToN(<<n, 1>> \in (pp \cup {<<3, 1>>} \cup {<<%s, 1>>}))`, `ToN(<<1, 1>> \in (pp \ {<<%s, 1>>}))`, `ToN(<<9, 1>> \in (pp \cap {<<%s, 1>>}))`,
	`ToN(n \in (Nat \cup {%s}))`, `ToN(-n \in (Nat \ {%s}))`, `ToN(n \in (Nat \cap {%s}))`, `ToN(s \in ((SUBSET {1, 2}) \cup {{%s}}))`, `ToN(s \in ((SUBSET {1}) \ SUBSET {%s}))`,
	`ToN(n \in {x \in Nat : x = 3 \/ %s = 1})`, `ToN(s \in {x \in SUBSET (0..3) : x = {1, 2} \/ %s = 1})`, `ToN(n \in {x \in s \cup {3} : x = 3 \/ %s = 1})`,
	`ToN(n \in ({x \in 3..5 : x = 3 \/ %s = 1} \cup {1}))`, `ToN(s \in ({x \in SUBSET (0..3) : x = {1, 2} \/ %s = 1} \cup ss))`, `ToN(9 \in {x \in {3} : %s = 1})`,
	`ToN(n \in ({3} \cup {IF n = 3 THEN "a" ELSE %s}))`, `ToN(n \in ({3} \cap {IF n = 3 THEN "a" ELSE %s}))`, `ToN(f \in [0..2 -> {1, 7} \ {%s}])`, `ToN(<<n, 1>> \in ({3} \cup {%s}) \X {1})`,
	`ToN(ENABLED (n' = 3 /\ n' \in ({3} \cup {%s})))`, `ToN(ENABLED (n' = 3 /\ n' \in ({4} \cap {%s})))`, `ToN({n} \in SUBSET ({3} \cup {%s}))`, `ToN(q \in Seq({5, 6} \cup {%s}))`,
	// All sets of several bounds are evaluated before one of them is gone through.
	`ToN(\E x \in 5..n, y \in {%s} : TRUE)`, `ToN(\E x \in {k \in s : k > 7}, y \in 1..%s : TRUE)`, `ToN(\A x \in s, y \in {}, k \in {%s} : TRUE)`, `ToN(\A x \in {}, y \in s, k \in {%s} : TRUE)`,
	`Cardinality({x + y : x \in 5..n, y \in s \cup {%s}})`, `Cardinality(UNION {{x, y} : x \in {}, y \in {%s}})`, `ToN(\E x, y \in {}, k \in {%s} : TRUE)`, `ToN(\E x \in {}, y \in %s..2, k \in Nat : TRUE)`,
	`ToN(\E <<x, y>> \in pp \ pp, k \in {%s} : TRUE)`, `ToN(ENABLED (\E x \in 5..n, y \in {%s} : n' = x))`, `ToN(ENABLED (\A x \in {}, y \in {%s} : n' = x))`, `ToN(ENABLED (\E x \in {}, y \in {%s} : n' = x))`,
	`ToN(ENABLED (\A x \in 5..n, y \in {%s} : n' = x /\ (z' = 1 \/ z' = 2)))`, `ToN(\A x \in s, y \in 5..n, k \in {%s} : x = 1)`, `Cardinality([x \in {}, y \in {%s} |-> 1])`,
}

const hideModule = `---- MODULE W ----
EXTENDS Integers, Sequences, FiniteSets, TLC
VARIABLES n, f, w, q, s, r, rs, one, ff, g, pairs, ss, pp, u, z
vars == <<f, q, s, r, rs, one, ff, g, pairs, ss, pp, u>>
Init == /\ n = 0 /\ z = 0 /\ f = [i \in 0..2 |-> 1] /\ w \in {<<>>, <<1, 2>>} /\ q = <<5, 6>> /\ s = {1, 2} /\ r = [x |-> 1, y |-> 2]
  /\ rs = [i \in 0..3 |-> IF i = 3 THEN [a |-> 1] ELSE [b |-> 1]] /\ one = [i \in {0, 1, 2} |-> i] /\ ff = [i \in 1..2 |-> [j \in 1..2 |-> 0]]
  /\ g = [i \in 0..2, j \in 0..1 |-> 1] /\ pairs = [i \in 0..3 |-> <<1, 2>>] /\ ss = {{1}, {2}} /\ pp = {<<1, 1>>, <<2, 1>>} /\ u \in {<<1, 2>>, [x |-> 1]}
Up == n < 3 /\ n' = n + 1 /\ w' = <<>> /\ UNCHANGED vars
Next == Up /\ UNCHANGED z
ToN(b) == IF b THEN 1 ELSE 0
Min2(x, y) == IF y < 1 THEN y ELSE x
Ign(x) == 1
RECURSIVE Sum(_)
Sum(S) == IF S = {} THEN 0 ELSE LET e == CHOOSE e \in S : TRUE IN e + Sum(S \ {e})
`

// hideUses are what a number is used for, and how a configuration asks for it.
var hideUses = []struct{ define, ask string }{
	{"Use%d == n = 3 => %s # -77", "NEXT Next INVARIANT Use%d"},
	{"Use%d == n = 3 => %s # -77", "NEXT Next CONSTRAINT Use%d"},
	{"Use%d == Next \\/ (n = 3 /\\ %s # -77 /\\ n' = 4 /\\ UNCHANGED <<z, w, vars>>)", "NEXT Use%d"},
	{"Use%d == Next \\/ (n = 3 /\\ n' = 4 /\\ z' = %s /\\ UNCHANGED <<w, vars>>)", "NEXT Use%d"},
	{"Use%d == Next \\/ (n = 3 /\\ n' = 4 /\\ z' \\in {0, %s} /\\ UNCHANGED <<w, vars>>)", "NEXT Use%d"},
	{"Use%d == Next \\/ (n = 3 /\\ n' = 4 /\\ n' \\in ({4} \\cup {%s}) /\\ UNCHANGED <<z, w, vars>>)", "NEXT Use%d"},
	{"Use%d == Next \\/ \\E x \\in 4..n, y \\in IF n = 3 THEN {%s} ELSE {} : n' = x /\\ UNCHANGED <<z, w, vars>>", "NEXT Use%d"},
}

// hidden is an expression, the reason why it may have no value in its midst.
func hidden(r *rand.Rand, depth int) string {
	if depth == 0 {
		return hideHoles[r.IntN(len(hideHoles))]
	}
	for {
		text := strings.ReplaceAll(strings.ReplaceAll(hideContexts[r.IntN(len(hideContexts))], "%s", hidden(r, depth-1)), "%%", "%")
		if strings.Count(text, "LET F(") < 2 && strings.Count(text, "LET h") < 2 && strings.Count(text, "LET y") < 2 {
			return text // a definition within one of the same name is no module
		}
	}
}

// TestPackedHidesNoErrors compares the three evaluators on models in which an
// expression has no value in some states, often in a part that the result does
// not depend on: packed code must find what the evaluator finds. ASHLAR_SEED
// tries every context with every reason, and more that are nested at random.
func TestPackedHidesNoErrors(t *testing.T) {
	rounds, seed := randomRounds(t)
	var texts []string
	for i, c := range hideContexts {
		for j, h := range hideHoles {
			if rounds > 100 || j == i%len(hideHoles) {
				texts = append(texts, strings.ReplaceAll(strings.ReplaceAll(c, "%s", h), "%%", "%"))
			}
		}
	}
	r := rand.New(rand.NewPCG(seed, 31))
	for range 3 * rounds {
		texts = append(texts, hidden(r, 2+r.IntN(2)))
	}
	packed, failing := 0, 0
	for i, text := range texts {
		use := hideUses[r.IntN(len(hideUses))]
		define := fmt.Sprintf(use.define, i, text)
		spec, _ := loadText(t, hideModule+define+"\n====\n", "INIT Init NEXT Next\n")
		cfg := parseConfig(t, "test.cfg", "INIT Init CHECK_DEADLOCK FALSE "+fmt.Sprintf(use.ask, i))
		m := newModel(t, spec, cfg, Options{})
		if ok, why := m.pack(packOptions{states: 2, always: true, stop: never}); !ok {
			t.Logf("%s: %s", text, why)
			continue
		}
		packed++
		got, want := outcomeText(t, m), outcomeText(t, newModel(t, spec, cfg, Options{}))
		ref := outcomeText(t, newModel(t, spec, cfg, Options{Reference: true}))
		if strings.HasPrefix(want, check.EvalFailed.String()) {
			failing++
		}
		// The compiled evaluator evaluates all values of a function without a name.
		if got != want && got != ref || want != ref && (!strings.Contains(text, "|->") || strings.HasPrefix(ref, check.EvalFailed.String())) {
			t.Errorf("%s\npacked    %s\ncompiled  %s\nreference %s", define, got, want, ref)
		}
	}
	t.Logf("%d of %d models packed, in %d there is an error", packed, len(texts), failing)
	if packed < len(texts)*9/10 || failing < len(texts)/3 {
		t.Errorf("%d of %d models were packed, in %d there is an error", packed, len(texts), failing)
	}
}

// outcomeText is how a search ends: its verdict, its counts and its error.
func outcomeText(t *testing.T, m *Model) string {
	t.Helper()
	r, err := check.Run(context.Background(), m, check.Options{Workers: 1, StatesMax: 400})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%v %s %d/%d/%d %v", r.Verdict, r.Reason, r.Generated, r.Distinct, r.Depth, r.Violation.Err)
}

// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/compile"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// prelude is the module around the expressions: operators of the kinds that
// compiled code treats differently.
const prelude = `
EXTENDS Integers, Sequences, FiniteSets, TLC, SequencesExt

CONSTANTS N, Procs, None

Maximum(a, b) == IF a > b THEN a ELSE b
First(a, b) == a
Apply(F(_), x) == F(x)
Twice(F(_, _), x) == F(x, F(x, x))
RECURSIVE Total(_)
Total(s) == IF s = <<>> THEN 0 ELSE Head(s) + Total(Tail(s))
Fact[n \in Nat] == IF n < 1 THEN 1 ELSE n * Fact[n - 1]
Sum[S \in SUBSET (1..4)] == IF S = {} THEN 0 ELSE LET x == CHOOSE x \in S : TRUE IN x + Sum[S \ {x}]
Squares == [i \in 1..N |-> i * i]
Range2 == 0..N
IsBig(x) == x > 2
Pair(a, b) == <<a, b>>
Lookup(f, k, d) == IF k \in DOMAIN f THEN f[k] ELSE d
Messages == [type : {"a", "b"}, n : 0..1]
`

// evaluateAll compiles each expression as "print e" of an archetype of its
// own, runs them, and compares with the checker's evaluator: the same value,
// or an error in both.
func evaluateAll(t *testing.T, exprs []string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("---- MODULE exprs ----" + prelude + "\n(* --mpcal exprs {\n")
	// One archetype with a label for each expression: the instance is told
	// which to compute.
	b.WriteString("archetype A(k) {\n")
	const chunk = 100
	for from := 0; from < len(exprs); from += chunk {
		fmt.Fprintf(&b, "l%d: ", from)
		for i := from; i < min(from+chunk, len(exprs)); i++ {
			fmt.Fprintf(&b, "if (k = %d) { goto e%d; } else ", i, i)
		}
		b.WriteString("{ skip; };\n")
	}
	b.WriteString("finish: goto Done;\n")
	for i, e := range exprs {
		fmt.Fprintf(&b, "e%d: print %s; goto Done;\n", i, e)
	}
	b.WriteString("}\nprocess (P = 0) == instance A(0);\n} *)\n\\* BEGIN TRANSLATION\n\\* END TRANSLATION\n====\n")
	s := readText(t, "exprs", b.String())
	p, diags := s.compile(compile.Options{Package: "exprs", Constants: map[string]value.Value{
		"N": value.Int(3), "None": value.Model("None"), "Procs": value.Set(value.Model("p1"), value.Model("p2"))}})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, b.String())
	}
	bundle := newBundle(t)
	bundle.add(t, "exprs", p)
	bundle.build(t)

	constants := map[string]string{"N": "3", "Procs": "{p1, p2}", "None": "None"}
	list := make([]scenario, len(exprs))
	for i := range exprs {
		list[i] = scenario{Pkg: "exprs", Constants: constants, Instances: []instance{{Archetype: "A", Self: "0", Values: map[string]string{"k": fmt.Sprint(i)}}}}
	}
	got := bundle.run(t, list)

	var problems source.List
	cfg := config.Parse(source.NewFile("exprs.cfg", []byte("CONSTANTS N = 3 Procs = {p1, p2} None = None\n")), &problems)
	m, err := model.New(s.spec, cfg, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	errors, values := 0, 0
	for i := range exprs {
		x := s.made.Algorithm.Archetypes[0].Blocks[i+1+(len(exprs)+chunk-1)/chunk].Body[0].(*pcal.Print).X
		want, werr := m.Evaluate(x)
		gerr := got[i].Err
		switch {
		case werr != nil && gerr == "":
			t.Errorf("%s\n  compiled gives %v\n  the checker has an error: %v", exprs[i], got[i].Printed, werr)
		case werr == nil && gerr != "":
			t.Errorf("%s\n  compiled has an error: %v\n  the checker gives %v", exprs[i], gerr, want)
		case werr == nil && got[i].Printed[0] != want.String():
			t.Errorf("%s\n  compiled gives %v\n  the checker gives %v", exprs[i], got[i].Printed[0], want)
		case werr == nil:
			values++
		default:
			errors++
		}
	}
	t.Logf("%d expressions: %d values, %d errors", len(exprs), values, errors)
}

// TestExpressions has an expression for each construct, among them those on
// which PGo's runtime and TLC differ, and random ones.
func TestExpressions(t *testing.T) {
	exprs := strings.Split(strings.TrimSpace(expressionTable), "\n")
	g := &exprGen{rng: rand.New(rand.NewSource(seed()))}
	for range count() {
		exprs = append(exprs, g.top())
	}
	evaluateAll(t, exprs)
}

const expressionTable = `
<<CHOOSE z \in {1, 2} : TRUE, CHOOSE z \in {2, 1} : TRUE>>
<<(-1) \div 2, (-1) % 2, (-7) \div 3, (-7) % 3, 7 \div 3, 7 % 3>>
<<7>> = [i \in {1} |-> 7]
<<>> = [i \in {} |-> 0]
2147483647 + 1
-2147483647 - 2
100000 * 100000
2^30 + 2^30
7 \div 0
7 % 0
1 = "a"
None = 1
None = None
"a" = None
{1} = {"a"}
<<1, "a">> = <<1, "b">>
<<1, 2>> = <<1, 2, 3>>
[a |-> 1, b |-> 2] = [b |-> 2, a |-> 1]
[a |-> 1] = [b |-> 1]
[a |-> 1].b
<<1, 2>>[3]
<<1, 2>>[2]
<<1, "x", TRUE>>[2]
Head(<<>>)
Tail(<<>>)
Tail(<<1>>)
SubSeq(<<1, 2, 3, 4>>, 2, 3)
SubSeq(<<1, 2>>, 2, 3)
SubSeq(<<1, 2>>, 3, 2)
<<1, 2>> \o <<3>>
Append(<<>>, 1)
SelectSeq(<<1, 2, 3, 4>>, LAMBDA x : x % 2 = 0)
SelectSeq(<<1, 2, 3, 4>>, IsBig)
Len(<<1, 2, 3>>)
Len("abc")
{3, 1, 2, 1}
{"b", "a"} \cup {"c"}
{1, 2} \cap {2, 3}
{1, 2, 3} \ {2}
(1..64) \cup {65}
{65} \cup (1..64)
(1..65) \ {3}
((1..65) \ {3}) \ {1}
((1..64) \cup {65}) = ({1} \cup (2..65))
((1..65) \ {65}) = (1..64)
{(1..64) \cup {65}, {1} \cup (2..65), 1..65}
{(1..65) \ {1}, 1..64, (1..66) \ {65, 66}}
{x \in 1..300 : x % 3 = 0} \cap {x \in 1..300 : x % 5 = 0}
{x \in 1..300 : x % 3 = 0} \ {x \in 1..300 : x % 5 = 0}
{x \in 1..300 : x % 3 = 0} \cup {x \in 1..300 : x % 5 = 0}
{x \in 1..300 : x % 3 = 0} \subseteq {x \in 1..300 : x % 5 # 1}
CHOOSE x \in {300 - y : y \in 1..200} : x % 7 = 0
{<<i, j>> : i \in 1..9, j \in 1..9} \cup {<<0, 7>>}
[w \in 0..80 |-> w * w]
[[w \in 0..80 |-> w * w] EXCEPT ![40] = @ + 1, ![99] = 3]
(99 :> 1 @@ [w \in 0..80 |-> w])
([w \in 0..80 |-> w] @@ 99 :> 1 @@ 40 :> 7)
([w \in 0..80 |-> w] @@ [w \in 50..150 |-> 0])
(64 :> 64 @@ [w \in 0..63 |-> w]) = [w \in 0..64 |-> w]
{64 :> 64 @@ [w \in 0..63 |-> w], [w \in 0..64 |-> w]}
DOMAIN (99 :> 1 @@ [w \in 0..80 |-> w])
[w \in 0..80 |-> w][81]
[w \in 0..80 |-> w] \in [0..80 -> Nat]
[w \in 0..80 |-> w] \in [0..80 -> 0..79]
Nat \cap {1, 2}
{-1, 0, 1} \cap Nat
{-1, 0, 1} \ Nat
SUBSET {1, 2, 3}
UNION {{1}, {2, 3}, {}}
UNION {}
Cardinality(SUBSET (1..10))
Cardinality({x \in 1..10 : x % 3 = 0})
3 \in 1..3
3 \in Nat
-3 \in Nat
"a" \in Nat
"a" \in {"a", "b"}
1 \in {"a"}
1 \in {}
{1} \in SUBSET (1..3)
{1, 5} \subseteq 1..3
{1, 5} \subseteq Nat
<<1, 2>> \in Seq(1..2)
<<1, 2>> \in Seq({1})
<<1, 2>> \in (1..2) \X {2}
<<1, "a">> \in Nat \X STRING
[a |-> 1, b |-> "x"] \in [a : Nat, b : STRING]
[a |-> -1, b |-> "x"] \in [a : Nat, b : STRING]
[i \in 1..2 |-> i] \in [1..2 -> 1..2]
[i \in 0..2 |-> i] \in [0..2 -> 0..2]
[i \in 0..2 |-> i] \in [0..3 -> 0..2]
[type |-> "a", n |-> 1] \in Messages
[type |-> "c", n |-> 1] \in Messages
Messages
[{1, 2} -> {"x", "y"}]
[1..2 -> {0, 1}]
{1, 2} \X {"a"}
\A x \in 1..3, y \in 1..3 : x + y < 7
\E x \in 1..3, y \in {5, 6} : x * 2 = y
\E <<x, y>> \in {<<1, 2>>, <<3, 4>>} : x = 3 /\ y = 4
\A x \in {} : x = 1
\E x, y \in 1..2 : x # y
{<<x, y>> \in (1..2) \X (1..2) : x < y}
{x + y : x \in 1..2, y \in 10..11}
{<<x, y>> : x, y \in {1, 2}}
{x[1] : x \in {<<1, 2>>, <<3, 4>>}}
[x \in 1..3 |-> x * x]
[x \in {"a", "b"} |-> 1]
[x \in {"a", "b"} |-> 1].a
[x \in {"a", "b"} |-> 1] = [a |-> 1, b |-> 1]
[x, y \in 1..2 |-> x + y]
[x, y \in 1..2 |-> x + y][1, 2]
[x \in 1..2, y \in {"a"} |-> <<x, y>>][2, "a"]
[<<x, y>> \in {<<1, 2>>} |-> x + y]
[x \in 0..2 |-> x][3]
DOMAIN [x \in 0..2 |-> x]
DOMAIN <<5, 6>>
DOMAIN [a |-> 1, b |-> 2]
[<<1, 2, 3>> EXCEPT ![2] = 9]
[<<1, 2, 3>> EXCEPT ![2] = @ + 1, ![1] = @ * 5]
[[a |-> 1, b |-> <<1, 2>>] EXCEPT !.b[1] = @ + 1, !.a = 7]
[[x \in 0..1 |-> [n |-> x]] EXCEPT ![1].n = @ + 5]
[[x \in 0..1 |-> <<x, x>>] EXCEPT ![1][2] = 9]
[[x \in {"p", "q"} |-> {}] EXCEPT !["p"] = @ \cup {1}]
[<<1, "a">> EXCEPT ![2] = "b"]
IF N > 2 THEN "big" ELSE "small"
CASE N = 1 -> "one" [] N = 3 -> "three" [] OTHER -> "many"
CASE N = 1 -> "one" [] N = 2 -> "two"
LET x == 5 IN x + x
LET x == 1 \div 0 IN 3
LET x == 1 \div 0 IN IF N = 3 THEN 4 ELSE x
LET f(a, b) == a * b IN f(2, 3) + f(4, 5)
LET f(a) == a IN <<f(1), f("x"), f({1})>>
LET f[n \in 0..5] == IF n = 0 THEN 0 ELSE n + f[n - 1] IN f[5]
LET f[n \in 0..3] == IF n = 0 THEN 0 ELSE n + f[n - 1] IN f
LET RECURSIVE g(_) g(n) == IF n = 0 THEN 0 ELSE 1 + g(n - 1) IN g(10)
LET a == 1 b == a + 1 c == b + a IN <<a, b, c>>
LET S == {1, 2, 3} IN {x \in S : \A y \in S : x <= y}
Maximum(3, 4)
Maximum(3, "a")
First(3, 1 \div 0)
First("x", {})
Apply(LAMBDA x : x + 1, 4)
Apply(IsBig, 4)
Twice(+, 3)
Twice(Maximum, 3)
Twice(LAMBDA x, y : x * 10 + y, 3)
Total(<<1, 2, 3>>)
Fact[5]
Fact[-1]
Fact[13]
Sum[{1, 2, 4}]
Sum[{1, 7}]
Squares
Squares[2]
Squares[4]
Range2
Pair(1, "a")
Pair(Pair(1, 2), {3})[1][2]
Lookup([a |-> 1, b |-> 2], "b", 0)
Lookup(<<5, 6>>, 7, 0)
Procs
CHOOSE p \in Procs : TRUE
{None} \cup Procs
\A p \in Procs : p # None
[p \in Procs |-> 0]
[[p \in Procs |-> 0] EXCEPT ![CHOOSE p \in Procs : TRUE] = 1]
IF N = 3 THEN None ELSE 5
(IF N = 3 THEN None ELSE 5) = 5
(IF N = 3 THEN None ELSE 5) + 1
(IF N = 2 THEN None ELSE 5) + 1
IF N = 3 THEN 1 ELSE "a"
{1, "a"}
{<<1>>, <<1, 2>>, <<>>}
{{2}, {1, 3}, {}}
{[a |-> 1], [a |-> 0]}
{[a |-> 1], [b |-> 0]}
{[a |-> 1, b |-> 2], [a |-> 1]}
<<[a |-> 1], [b |-> 2, a |-> 0]>>[2].b
<<[a |-> 1], [b |-> 2, a |-> 0]>>[1].b
CHOOSE s \in SUBSET (1..3) : Cardinality(s) = 2
CHOOSE f \in [1..2 -> 1..2] : f[1] # f[2]
CHOOSE x \in 1..3 : x > 5
CHOOSE x \in {"b", "a", "c"} : TRUE
CHOOSE x \in {<<2, 1>>, <<1, 9>>} : TRUE
TRUE /\ 1
FALSE /\ 1
TRUE \/ (1 \div 0 = 1)
(1 \div 0 = 1) \/ TRUE
FALSE => (1 \div 0 = 1)
(1 = 1) <=> (2 = 2)
~(1 = 2)
~TRUE
BOOLEAN
TRUE \in BOOLEAN
"a" :> 1 @@ "b" :> 2
(1 :> "x" @@ 2 :> "y") = <<"x", "y">>
(1 :> "x" @@ 1 :> "y")
Reverse(<<1, 2, 3>>)
Reverse(<<1, 2, 3>>)[1] + 1
ToSet(<<3, 1, 3>>)
Last(<<1, 2>>)
FoldLeft(LAMBDA a, x : a + x, 0, <<1, 2, 3>>)
ToString(12)
IsFiniteSet(Nat)
IsFiniteSet({1})
-5
-(2 - 7)
1..0
2..4
5 \in 2..4
{x \in Nat : x < 3}
3 \in {x \in Nat : x < 5}
[n \in Nat |-> n + 1][3]
<<1, 2>> # <<1>>
{} = {}
<<>> = <<>>
{} \subseteq {1}
{{}} \cup {{1}}
<<{}, {1}>>
<<<<>>, <<1>>>>
1 \in {1, 1 \div 0}
LET s == <<1, 2>> t == Append(s, 3) u == Append(s, 4) IN <<s, t, u>>
LET q == <<1, 2, 3>> IN <<Head(q), Tail(q), Append(Tail(q), 9), q>>
\E x \in 1..2 : LET y == x + 1 IN y = 3
{LET y == x + 1 IN y * y : x \in 1..3}
[x \in 1..3 |-> IF x = 2 THEN "two" ELSE "other"]
[x \in 1..3 |-> CASE x = 1 -> 10 [] OTHER -> 20]
\A x \in 1..3 : IF x > 1 THEN x > 0 ELSE x = 1
(IF N = 3 THEN <<1, 2>> ELSE <<>>) \o <<N>>
[a |-> IF N = 3 THEN 1 ELSE 2, b |-> {x \in 1..N : x # 2}]
"quote \" and \\ backslash"
`

// seed and count widen the search for a difference: EXPR_SEED=7 EXPR_COUNT=1000.
func seed() int64 { return setting("EXPR_SEED", 20240601) }

func count() int { return int(setting("EXPR_COUNT", 120)) }

func setting(name string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return otherwise
}

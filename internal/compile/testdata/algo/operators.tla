---- MODULE operators ----
EXTENDS Integers, Sequences, FiniteSets
RECURSIVE SumOf(_, _)
SumOf(f, S) == IF S = {} THEN 0 ELSE LET x == CHOOSE x \in S : TRUE IN f[x] + SumOf(f, S \ {x})
Map(Op(_), s) == [i \in 1..Len(s) |-> Op(s[i])]
Fib[n \in Nat] == IF n < 2 THEN n ELSE Fib[n - 1] + Fib[n - 2]
Compose(F(_), G(_), x) == F(G(x))
Inc(x) == x + 1
a ++ b == a * 10 + b
---- MODULE Line ----
EXTENDS Integers
CONSTANT K
At(x) == 2 * x + K
====
(* --mpcal operators {
    define {
        M == INSTANCE Line WITH K <- 5
        L(k) == INSTANCE Line WITH K <- k
        INSTANCE Line WITH K <- 7
    }
    archetype A()
        variables w = [p \in {"a", "b", "c"} |-> Len(p)], s = <<1, 2, 3>>, t = <<>>, n = 0, u = {}, g = [i \in 1..2 |-> [j \in 1..2 |-> i * j]];
    {
    l1: n := SumOf(w, DOMAIN w) + SumOf(s, {1, 3});
        t := Map(LAMBDA x : <<x, x * n>>, s);
    l2: s := Map(Inc, s);
        n := Compose(Inc, LAMBDA z : z * 2, n) ++ Fib[10];
    l3: u := {<<p, i>> \in (DOMAIN w) \X (1..2) : w[p] = i};
        g[1][2] := g[2][1] + g[2][2] + @;
    l4: w := [k \in (DOMAIN w) \cup {"d"} |-> IF k \in DOMAIN w THEN w[k] ELSE 0];
        n := LET F(x) == x + n D == 1..3 IN SumOf([i \in D |-> F(i)], D);
    l5: n := M!At(n) + L(n % 9)!At(1) + At(2);
    }
    process (P = 0) == instance A();
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

------------------------------ MODULE Apalache -------------------------------
(* Annotations and helpers for symbolic checking; here they have their plain  *)
(* meaning.                                                                   *)
LOCAL INSTANCE Naturals
LOCAL INSTANCE Sequences
LOCAL INSTANCE FiniteSets

(* Assignment, which is equality. *)
x := e == x = e

Gen(size) == TRUE
\* native

Skolem(e) == e

Expand(S) == S

ConstCardinality(e) == e

(* Some element of a set that is not empty. *)
Guess(S) == CHOOSE x \in S : TRUE

MkSeq(n, F(_)) == [i \in 1..n |-> F(i)]

(* F(... F(F(x, 1), 2) ..., n) *)
Repeat(F(_, _), n, x) ==
  LET Upto[i \in 0..n] == IF i = 0 THEN x ELSE F(Upto[i - 1], i) IN Upto[n]

(* The function whose pairs these are; the first of several for one argument. *)
SetAsFun(S) ==
  [x \in {p[1] : p \in S} |-> (CHOOSE p \in S : p[1] = x)[2]]

FunAsSeq(f, n, most) == [i \in 1..(IF n <= most THEN n ELSE most) |-> f[i]]

ApaFoldSet(op(_, _), base, S) ==
  LET Fold[T \in SUBSET S] ==
        IF T = {} THEN base
        ELSE LET x == CHOOSE x \in T : TRUE IN op(Fold[T \ {x}], x)
  IN Fold[S]

ApaFoldSeqLeft(op(_, _), base, s) ==
  LET Upto[i \in 0..Len(s)] == IF i = 0 THEN base ELSE op(Upto[i - 1], s[i])
  IN Upto[Len(s)]
=============================================================================

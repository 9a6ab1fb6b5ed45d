---------------------------- MODULE FiniteSetsExt ----------------------------
EXTENDS Functions, Folds, Integers, FiniteSets

FoldSet(op(_, _), base, S) ==
  MapThenFoldSet(op, base, LAMBDA x : x, LAMBDA T : CHOOSE x \in T : TRUE, S)

ReduceSet(op(_, _), S, base) == FoldSet(op, base, S)

SumSet(S) == FoldSet(LAMBDA x, y : x + y, 0, S)

ProductSet(S) == FoldSet(LAMBDA x, y : x * y, 1, S)

MapThenSumSet(f(_), S) ==
  MapThenFoldSet(LAMBDA x, y : x + y, 0, f, LAMBDA T : CHOOSE x \in T : TRUE, S)

FlattenSet(S) == UNION S

SymDiff(A, B) == (A \ B) \cup (B \ A)

(* How many elements of S satisfy P. *)
Quantify(S, P(_)) == Cardinality({x \in S : P(x)})

kSubset(k, S) == {T \in SUBSET S : Cardinality(T) = k}

Max(S) == CHOOSE x \in S : \A y \in S : x >= y

Min(S) == CHOOSE x \in S : \A y \in S : x <= y

(* The sets that are got by choosing an element from each of the sets. *)
Choices(Sets) ==
  {{f[S] : S \in Sets} : f \in {g \in [Sets -> UNION Sets] : \A S \in Sets : g[S] \in S}}

(* The only element of S that satisfies P. *)
ChooseUnique(S, P(_)) == CHOOSE x \in S : P(x) /\ \A y \in S : P(y) => y = x
=============================================================================

------------------------ MODULE FiniteSetsExtTheorems ------------------------
(* Facts about folds over finite sets, to which proofs refer.                 *)
EXTENDS FiniteSetsExt, FiniteSets, Integers

THEOREM FoldSetEmpty ==
  ASSUME NEW op(_, _), NEW base
  PROVE  FoldSet(op, base, {}) = base

THEOREM FoldSetType ==
  ASSUME NEW T, NEW op(_, _), NEW base \in T, \A x, y \in T : op(x, y) \in T,
         NEW S \in SUBSET T, IsFiniteSet(S)
  PROVE  FoldSet(op, base, S) \in T

THEOREM SumSetEmpty == SumSet({}) = 0

THEOREM SumSetNat ==
  ASSUME NEW S \in SUBSET Nat, IsFiniteSet(S)
  PROVE  SumSet(S) \in Nat

THEOREM SumSetInt ==
  ASSUME NEW S \in SUBSET Int, IsFiniteSet(S)
  PROVE  SumSet(S) \in Int

THEOREM ProductSetEmpty == ProductSet({}) = 1

THEOREM MapThenSumSetEmpty ==
  ASSUME NEW f(_)
  PROVE  MapThenSumSet(f, {}) = 0

THEOREM MapThenSumSetType ==
  ASSUME NEW S, IsFiniteSet(S), NEW f(_), \A x \in S : f(x) \in Nat
  PROVE  MapThenSumSet(f, S) \in Nat

THEOREM MaxIntBounds ==
  ASSUME NEW S \in SUBSET Int, S /= {}, IsFiniteSet(S)
  PROVE  Max(S) \in S /\ \A x \in S : x <= Max(S)

THEOREM MinIntBounds ==
  ASSUME NEW S \in SUBSET Int, S /= {}, IsFiniteSet(S)
  PROVE  Min(S) \in S /\ \A x \in S : Min(S) <= x
=============================================================================

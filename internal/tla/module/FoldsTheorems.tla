---------------------------- MODULE FoldsTheorems ----------------------------
(* Facts about MapThenFoldSet, to which proofs refer.                         *)
EXTENDS Folds, FiniteSets

THEOREM MapThenFoldSetEmpty ==
  ASSUME NEW op(_, _), NEW base, NEW f(_), NEW choose(_)
  PROVE  MapThenFoldSet(op, base, f, choose, {}) = base

THEOREM MapThenFoldSetNonempty ==
  ASSUME NEW op(_, _), NEW base, NEW f(_), NEW choose(_), NEW S, S /= {}, IsFiniteSet(S),
         \A T \in SUBSET S : T /= {} => choose(T) \in T
  PROVE  MapThenFoldSet(op, base, f, choose, S) =
           LET x == choose(S) IN op(f(x), MapThenFoldSet(op, base, f, choose, S \ {x}))

THEOREM MapThenFoldSetType ==
  ASSUME NEW T, NEW op(_, _), NEW base \in T, NEW f(_), NEW choose(_), NEW S, IsFiniteSet(S),
         \A R \in SUBSET S : R /= {} => choose(R) \in R,
         \A x \in S : f(x) \in T, \A x, y \in T : op(x, y) \in T
  PROVE  MapThenFoldSet(op, base, f, choose, S) \in T
=============================================================================

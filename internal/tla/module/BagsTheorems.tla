---------------------------- MODULE BagsTheorems -----------------------------
(* Facts about bags, to which proofs refer.                                   *)
EXTENDS Bags, Integers, FiniteSets

THEOREM Bags_EmptyBag == IsABag(EmptyBag) /\ BagToSet(EmptyBag) = {}

THEOREM Bags_SetToBag ==
  ASSUME NEW S
  PROVE  IsABag(SetToBag(S)) /\ BagToSet(SetToBag(S)) = S

THEOREM Bags_CopiesIn ==
  ASSUME NEW B, IsABag(B), NEW e
  PROVE  CopiesIn(e, B) \in Nat /\ (CopiesIn(e, B) = 0 <=> ~ BagIn(e, B))

THEOREM Bags_Extensionality ==
  ASSUME NEW A, NEW B, IsABag(A), IsABag(B)
  PROVE  A = B <=> \A e : CopiesIn(e, A) = CopiesIn(e, B)

THEOREM Bags_Addition ==
  ASSUME NEW A, NEW B, IsABag(A), IsABag(B)
  PROVE  /\ IsABag(A (+) B)
         /\ \A e : CopiesIn(e, A (+) B) = CopiesIn(e, A) + CopiesIn(e, B)

THEOREM Bags_Removal ==
  ASSUME NEW A, NEW B, IsABag(A), IsABag(B)
  PROVE  /\ IsABag(A (-) B)
         /\ \A e : CopiesIn(e, A (-) B) =
                     IF CopiesIn(e, A) > CopiesIn(e, B) THEN CopiesIn(e, A) - CopiesIn(e, B) ELSE 0

THEOREM Bags_CardinalityEmpty == BagCardinality(EmptyBag) = 0
=============================================================================

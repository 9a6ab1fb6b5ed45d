----------------------------- MODULE FiniteSets ------------------------------
LOCAL INSTANCE Naturals

IsFiniteSet(S) == TRUE
\* native

(* The number of elements of a finite set. *)
Cardinality(S) ==
  LET Count[T \in SUBSET S] ==
        IF T = {} THEN 0 ELSE 1 + Count[T \ {CHOOSE x \in T : TRUE}]
  IN Count[S]
=============================================================================

------------------------------ MODULE Relation -------------------------------
(* A relation on S is a function R from S \X S to BOOLEAN. The definitions     *)
(* whose names end in Under take an operator instead.                         *)

IsReflexive(R, S) == \A x \in S : R[x, x]

IsReflexiveUnder(op(_, _), S) == \A x \in S : op(x, x)

IsIrreflexive(R, S) == \A x \in S : ~ R[x, x]

IsIrreflexiveUnder(op(_, _), S) == \A x \in S : ~ op(x, x)

IsSymmetric(R, S) == \A x, y \in S : R[x, y] <=> R[y, x]

IsSymmetricUnder(op(_, _), S) == \A x, y \in S : op(x, y) <=> op(y, x)

IsAntiSymmetric(R, S) == \A x, y \in S : R[x, y] /\ R[y, x] => x = y

IsAntiSymmetricUnder(op(_, _), S) == \A x, y \in S : op(x, y) /\ op(y, x) => x = y

IsAsymmetric(R, S) == \A x, y \in S : ~ (R[x, y] /\ R[y, x])

IsAsymmetricUnder(op(_, _), S) == \A x, y \in S : ~ (op(x, y) /\ op(y, x))

IsTransitive(R, S) == \A x, y, z \in S : R[x, y] /\ R[y, z] => R[x, z]

IsTransitiveUnder(op(_, _), S) == \A x, y, z \in S : op(x, y) /\ op(y, z) => op(x, z)

IsPartiallyOrdered(R, S) ==
  /\ IsReflexive(R, S)
  /\ IsAntiSymmetric(R, S)
  /\ IsTransitive(R, S)

IsPartiallyOrderedUnder(op(_, _), S) ==
  /\ IsReflexiveUnder(op, S)
  /\ IsAntiSymmetricUnder(op, S)
  /\ IsTransitiveUnder(op, S)

IsStrictlyPartiallyOrdered(R, S) ==
  /\ IsIrreflexive(R, S)
  /\ IsAntiSymmetric(R, S)
  /\ IsTransitive(R, S)

IsStrictlyPartiallyOrderedUnder(op(_, _), S) ==
  /\ IsIrreflexiveUnder(op, S)
  /\ IsAntiSymmetricUnder(op, S)
  /\ IsTransitiveUnder(op, S)

IsTotallyOrdered(R, S) ==
  /\ IsPartiallyOrdered(R, S)
  /\ \A x, y \in S : x = y \/ R[x, y] \/ R[y, x]

IsTotallyOrderedUnder(op(_, _), S) ==
  /\ IsPartiallyOrderedUnder(op, S)
  /\ \A x, y \in S : x = y \/ op(x, y) \/ op(y, x)

IsStrictlyTotallyOrdered(R, S) ==
  /\ IsStrictlyPartiallyOrdered(R, S)
  /\ \A x, y \in S : x = y \/ R[x, y] \/ R[y, x]

IsStrictlyTotallyOrderedUnder(op(_, _), S) ==
  /\ IsStrictlyPartiallyOrderedUnder(op, S)
  /\ \A x, y \in S : x = y \/ op(x, y) \/ op(y, x)

(* The smallest transitive relation that contains R: paths may use one more   *)
(* element of S with each step of the recursion.                              *)
TransitiveClosure(R, S) ==
  LET Via[T \in SUBSET S] ==
        IF T = {} THEN R
        ELSE LET t == CHOOSE t \in T : TRUE
                 Q == Via[T \ {t}]
             IN [p \in S \X S |-> Q[p] \/ (Q[p[1], t] /\ Q[t, p[2]])]
  IN Via[S]

ReflexiveTransitiveClosure(R, S) ==
  LET C == TransitiveClosure(R, S) IN [p \in S \X S |-> p[1] = p[2] \/ C[p]]

(* Every element leads to every other one. *)
IsConnected(R, S) ==
  LET C == ReflexiveTransitiveClosure(R, S) IN \A x, y \in S : C[x, y]
=============================================================================

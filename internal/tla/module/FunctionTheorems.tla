-------------------------- MODULE FunctionTheorems ---------------------------
(* Facts about functions, to which proofs refer.                              *)
EXTENDS Functions, Integers, FiniteSets

THEOREM Fun_RestrictProperties ==
  ASSUME NEW S, NEW T, NEW f \in [S -> T], NEW A \in SUBSET S
  PROVE  Restrict(f, A) \in [A -> T] /\ \A x \in A : Restrict(f, A)[x] = f[x]

THEOREM Fun_RangeProperties ==
  ASSUME NEW S, NEW T, NEW f \in [S -> T]
  PROVE  Range(f) \subseteq T /\ \A y \in Range(f) : \E x \in S : f[x] = y

THEOREM Fun_RangeEquality ==
  ASSUME NEW S, NEW T, NEW f \in Surjection(S, T)
  PROVE  Range(f) = T

THEOREM Fun_IsInj ==
  ASSUME NEW S, NEW T, NEW f \in [S -> T], \A a, b \in S : f[a] = f[b] => a = b
  PROVE  f \in Injection(S, T)

THEOREM Fun_IsSurj ==
  ASSUME NEW S, NEW T, NEW f \in [S -> T], \A y \in T : \E x \in S : f[x] = y
  PROVE  f \in Surjection(S, T)

THEOREM Fun_IsBij ==
  ASSUME NEW S, NEW T, NEW f, f \in Injection(S, T), f \in Surjection(S, T)
  PROVE  f \in Bijection(S, T)

THEOREM Fun_InjectionProperties ==
  ASSUME NEW S, NEW T, NEW f \in Injection(S, T)
  PROVE  f \in [S -> T] /\ \A a, b \in S : f[a] = f[b] => a = b

THEOREM Fun_SurjectionProperties ==
  ASSUME NEW S, NEW T, NEW f \in Surjection(S, T)
  PROVE  f \in [S -> T] /\ \A y \in T : \E x \in S : f[x] = y

THEOREM Fun_BijectionProperties ==
  ASSUME NEW S, NEW T, NEW f \in Bijection(S, T)
  PROVE  f \in Injection(S, T) /\ f \in Surjection(S, T)

THEOREM Fun_InjTransitive ==
  ASSUME NEW S, NEW T, NEW U, NEW f \in Injection(S, T), NEW g \in Injection(T, U)
  PROVE  [x \in S |-> g[f[x]]] \in Injection(S, U)

THEOREM Fun_BijTransitive ==
  ASSUME NEW S, NEW T, NEW U, NEW f \in Bijection(S, T), NEW g \in Bijection(T, U)
  PROVE  [x \in S |-> g[f[x]]] \in Bijection(S, U)

THEOREM Fun_BijInverse ==
  ASSUME NEW S, NEW T, NEW f \in Bijection(S, T)
  PROVE  Inverse(f, S, T) \in Bijection(T, S)

THEOREM Fun_ExistsBijReflexive == \A S : ExistsBijection(S, S)

THEOREM Fun_ExistsBijSymmetric ==
  ASSUME NEW S, NEW T, ExistsBijection(S, T)
  PROVE  ExistsBijection(T, S)

THEOREM Fun_ExistsBijTransitive ==
  ASSUME NEW S, NEW T, NEW U, ExistsBijection(S, T), ExistsBijection(T, U)
  PROVE  ExistsBijection(S, U)

THEOREM Fun_CantorBernsteinSchroeder ==
  ASSUME NEW S, NEW T, ExistsInjection(S, T), ExistsInjection(T, S)
  PROVE  ExistsBijection(S, T)

THEOREM Fun_Cantor ==
  ASSUME NEW S
  PROVE  Surjection(S, SUBSET S) = {}

THEOREM FoldFunctionEmpty ==
  ASSUME NEW op(_, _), NEW base, NEW f, DOMAIN f = {}
  PROVE  FoldFunction(op, base, f) = base

THEOREM SumFunctionEmpty ==
  ASSUME NEW f, DOMAIN f = {}
  PROVE  SumFunction(f) = 0

THEOREM SumFunctionNat ==
  ASSUME NEW f, IsFiniteSet(DOMAIN f), \A x \in DOMAIN f : f[x] \in Nat
  PROVE  SumFunction(f) \in Nat
=============================================================================

-------------------------- MODULE NaturalsInduction --------------------------
(* Induction over the natural numbers, and functions defined by recursion on  *)
(* them. Proofs refer to these facts; nothing here is evaluated.              *)
EXTENDS Integers, TLAPS

(* f is defined by f0 at 0 and by Def(f[i-1], i) at i. *)
NatInductiveDefHypothesis(f, f0, Def(_, _)) ==
  f = CHOOSE g : g = [i \in Nat |-> IF i = 0 THEN f0 ELSE Def(g[i - 1], i)]

NatInductiveDefConclusion(f, f0, Def(_, _)) ==
  f = [i \in Nat |-> IF i = 0 THEN f0 ELSE Def(f[i - 1], i)]

FiniteNatInductiveDefHypothesis(f, c, Def(_, _), m, n) ==
  f = CHOOSE g : g = [i \in m..n |-> IF i = m THEN c ELSE Def(g[i - 1], i)]

FiniteNatInductiveDefConclusion(f, c, Def(_, _), m, n) ==
  f = [i \in m..n |-> IF i = m THEN c ELSE Def(f[i - 1], i)]

THEOREM NatInduction ==
  ASSUME NEW P(_), P(0), \A n \in Nat : P(n) => P(n + 1)
  PROVE  \A n \in Nat : P(n)

THEOREM DownwardNatInduction ==
  ASSUME NEW P(_), NEW m \in Nat, P(m), \A n \in 1..m : P(n) => P(n - 1)
  PROVE  \A n \in 0..m : P(n)

THEOREM GeneralNatInduction ==
  ASSUME NEW P(_), \A n \in Nat : (\A m \in 0..(n - 1) : P(m)) => P(n)
  PROVE  \A n \in Nat : P(n)

THEOREM SmallestNatural ==
  ASSUME NEW P(_), NEW n \in Nat, P(n)
  PROVE  \E m \in Nat : P(m) /\ \A k \in 0..(m - 1) : ~ P(k)

THEOREM RecursiveFcnOfNat ==
  ASSUME NEW Def(_, _),
         \A n \in Nat : \A g, h : (\A i \in 0..(n - 1) : g[i] = h[i]) => Def(g, n) = Def(h, n)
  PROVE  LET f[n \in Nat] == Def(f, n) IN f = [n \in Nat |-> Def(f, n)]

THEOREM NatInductiveDef ==
  ASSUME NEW Def(_, _), NEW f, NEW f0, NatInductiveDefHypothesis(f, f0, Def)
  PROVE  NatInductiveDefConclusion(f, f0, Def)

THEOREM NatInductiveDefType ==
  ASSUME NEW Def(_, _), NEW S, NEW f, NEW f0 \in S, NatInductiveDefConclusion(f, f0, Def),
         f0 \in S, \A v \in S, n \in Nat \ {0} : Def(v, n) \in S
  PROVE  f \in [Nat -> S]

THEOREM NatInductiveUnique ==
  ASSUME NEW Def(_, _), NEW f, NEW g, NEW f0,
         NatInductiveDefConclusion(f, f0, Def), NatInductiveDefConclusion(g, f0, Def)
  PROVE  f = g

THEOREM FiniteNatInductiveDef ==
  ASSUME NEW Def(_, _), NEW f, NEW c, NEW m \in Nat, NEW n \in Nat,
         FiniteNatInductiveDefHypothesis(f, c, Def, m, n)
  PROVE  FiniteNatInductiveDefConclusion(f, c, Def, m, n)

THEOREM FiniteNatInductiveDefType ==
  ASSUME NEW S, NEW Def(_, _), NEW f, NEW c \in S, NEW m \in Nat, NEW n \in Nat,
         FiniteNatInductiveDefConclusion(f, c, Def, m, n),
         \A v \in S, i \in (m + 1)..n : Def(v, i) \in S
  PROVE  f \in [m..n -> S]

THEOREM FiniteNatInductiveUnique ==
  ASSUME NEW Def(_, _), NEW f, NEW g, NEW c, NEW m \in Nat, NEW n \in Nat,
         FiniteNatInductiveDefConclusion(f, c, Def, m, n),
         FiniteNatInductiveDefConclusion(g, c, Def, m, n)
  PROVE  f = g
=============================================================================

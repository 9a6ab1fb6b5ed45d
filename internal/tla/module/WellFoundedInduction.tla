------------------------ MODULE WellFoundedInduction -------------------------
(* Induction and recursion over relations without infinite descent. A         *)
(* relation is a set of pairs here.                                           *)
EXTENDS NaturalsInduction

OpToRel(_ \prec _, S) == {s \in S \X S : s[1] \prec s[2]}

IsTransitivelyClosedOn(R, S) ==
  \A i, j, k \in S : <<i, j>> \in R /\ <<j, k>> \in R => <<i, k>> \in R

IsWellFoundedOn(R, S) ==
  ~ \E f \in [Nat -> S] : \A n \in Nat : <<f[n + 1], f[n]>> \in R

(* The elements of S before s. *)
SetLessThan(s, R, S) == {x \in S : <<x, s>> \in R}

(* Def(g, s) depends only on the values of g before s. *)
WFDefOn(R, S, Def(_, _)) ==
  \A g, h : \A s \in S :
    (\A x \in SetLessThan(s, R, S) : g[x] = h[x]) => Def(g, s) = Def(h, s)

OpDefinesFcn(f, S, Def(_, _)) == f = CHOOSE g : g = [s \in S |-> Def(g, s)]

WFInductiveDefines(f, S, Def(_, _)) == f = [s \in S |-> Def(f, s)]

WFInductiveUnique(S, Def(_, _)) ==
  \A g, h : WFInductiveDefines(g, S, Def) /\ WFInductiveDefines(h, S, Def) => g = h

TransitiveClosureOn(R, S) ==
  {ss \in S \X S :
     \A U \in SUBSET (S \X S) : R \cap (S \X S) \subseteq U /\ IsTransitivelyClosedOn(U, S) => ss \in U}

(* Pairs and sequences ordered by the first place in which they differ. *)
LexPairOrdering(R1, R2, S1, S2) ==
  {ss \in (S1 \X S2) \X (S1 \X S2) :
     \/ <<ss[1][1], ss[2][1]>> \in R1
     \/ ss[1][1] = ss[2][1] /\ <<ss[1][2], ss[2][2]>> \in R2}

LexProductOrdering(R, S, n) ==
  {ff \in [1..n -> S] \X [1..n -> S] :
     \E j \in 1..n :
       /\ \A i \in 1..(j - 1) : ff[1][i] = ff[2][i]
       /\ <<ff[1][j], ff[2][j]>> \in R}

FiniteSubsetsOf(S) ==
  {T \in SUBSET S : \E n \in Nat : \E f \in [1..n -> T] : \A x \in T : \E i \in 1..n : f[i] = x}

StrictSubsetOrdering(S) ==
  {ss \in SUBSET S \X SUBSET S : ss[1] \subseteq ss[2] /\ ss[1] /= ss[2]}

THEOREM WFMin ==
  ASSUME NEW R, NEW S, IsWellFoundedOn(R, S), NEW T \in SUBSET S, T /= {}
  PROVE  \E x \in T : \A y \in T : ~ (<<y, x>> \in R)

THEOREM MinWF ==
  ASSUME NEW R, NEW S, \A T \in SUBSET S : T /= {} => \E x \in T : \A y \in T : ~ (<<y, x>> \in R)
  PROVE  IsWellFoundedOn(R, S)

THEOREM WFInduction ==
  ASSUME NEW P(_), NEW R, NEW S, IsWellFoundedOn(R, S),
         \A x \in S : (\A y \in SetLessThan(x, R, S) : P(y)) => P(x)
  PROVE  \A x \in S : P(x)

THEOREM WFInductiveDef ==
  ASSUME NEW Def(_, _), NEW R, NEW S, NEW f,
         IsWellFoundedOn(R, S), WFDefOn(R, S, Def), OpDefinesFcn(f, S, Def)
  PROVE  WFInductiveDefines(f, S, Def)

THEOREM WFDefOnUnique ==
  ASSUME NEW Def(_, _), NEW R, NEW S, IsWellFoundedOn(R, S), WFDefOn(R, S, Def)
  PROVE  WFInductiveUnique(S, Def)

THEOREM WFInductiveDefType ==
  ASSUME NEW Def(_, _), NEW f, NEW R, NEW S, NEW T, T /= {},
         IsWellFoundedOn(R, S), WFDefOn(R, S, Def), WFInductiveDefines(f, S, Def),
         \A g \in [S -> T], s \in S : Def(g, s) \in T
  PROVE  f \in [S -> T]

THEOREM NatLessThanWellFounded == IsWellFoundedOn(OpToRel(<, Nat), Nat)

THEOREM EmptyIsWellFounded == \A S : IsWellFoundedOn({}, S)

THEOREM IsWellFoundedOnSubset ==
  ASSUME NEW R, NEW S, NEW T \in SUBSET S, IsWellFoundedOn(R, S)
  PROVE  IsWellFoundedOn(R, T)

THEOREM IsWellFoundedOnSubrelation ==
  ASSUME NEW S, NEW R, NEW RS, RS \subseteq R, IsWellFoundedOn(R, S)
  PROVE  IsWellFoundedOn(RS, S)

THEOREM TransitiveClosureWF ==
  ASSUME NEW R, NEW S, IsWellFoundedOn(R, S)
  PROVE  IsWellFoundedOn(TransitiveClosureOn(R, S), S)

THEOREM WFLexPairOrdering ==
  ASSUME NEW R1, NEW R2, NEW S1, NEW S2, IsWellFoundedOn(R1, S1), IsWellFoundedOn(R2, S2)
  PROVE  IsWellFoundedOn(LexPairOrdering(R1, R2, S1, S2), S1 \X S2)

THEOREM WFLexProductOrdering ==
  ASSUME NEW R, NEW S, NEW n \in Nat, IsWellFoundedOn(R, S)
  PROVE  IsWellFoundedOn(LexProductOrdering(R, S, n), [1..n -> S])
=============================================================================

-------------------------- MODULE FiniteSetTheorems --------------------------
(* Facts about finite sets and their sizes, to which proofs refer.            *)
EXTENDS FiniteSets, Integers, TLAPS

LOCAL INSTANCE Functions
LOCAL INSTANCE WellFoundedInduction

THEOREM FS_NatBijection ==
  ASSUME NEW S, IsFiniteSet(S)
  PROVE  \E n \in Nat : ExistsBijection(1..n, S)

THEOREM FS_CardinalityType ==
  ASSUME NEW S, IsFiniteSet(S)
  PROVE  Cardinality(S) \in Nat /\ ExistsBijection(1..Cardinality(S), S)

THEOREM FS_Bijection ==
  ASSUME NEW S, NEW T, IsFiniteSet(S), ExistsBijection(S, T)
  PROVE  IsFiniteSet(T) /\ Cardinality(T) = Cardinality(S)

THEOREM FS_SameCardinalityBij ==
  ASSUME NEW S, NEW T, IsFiniteSet(S), IsFiniteSet(T), Cardinality(S) = Cardinality(T)
  PROVE  ExistsBijection(S, T)

THEOREM FS_Surjection ==
  ASSUME NEW S, NEW T, IsFiniteSet(S), ExistsSurjection(S, T)
  PROVE  IsFiniteSet(T) /\ Cardinality(T) <= Cardinality(S)

THEOREM FS_Injection ==
  ASSUME NEW S, NEW T, IsFiniteSet(T), ExistsInjection(S, T)
  PROVE  IsFiniteSet(S) /\ Cardinality(S) <= Cardinality(T)

THEOREM FS_EmptySet ==
  /\ IsFiniteSet({}) /\ Cardinality({}) = 0
  /\ \A S : IsFiniteSet(S) => (Cardinality(S) = 0 <=> S = {})

THEOREM FS_Interval ==
  ASSUME NEW a \in Int, NEW b \in Int
  PROVE  IsFiniteSet(a..b) /\ Cardinality(a..b) = IF a <= b THEN b - a + 1 ELSE 0

THEOREM FS_BoundedSetOfNaturals ==
  ASSUME NEW S \in SUBSET Nat, NEW n \in Nat, \A s \in S : s <= n
  PROVE  IsFiniteSet(S) /\ Cardinality(S) <= n + 1

THEOREM FS_Subset ==
  ASSUME NEW S, IsFiniteSet(S), NEW T \in SUBSET S
  PROVE  /\ IsFiniteSet(T) /\ Cardinality(T) <= Cardinality(S)
         /\ Cardinality(S) = Cardinality(T) => S = T

THEOREM FS_Singleton ==
  /\ \A x : IsFiniteSet({x}) /\ Cardinality({x}) = 1
  /\ \A S : IsFiniteSet(S) => (Cardinality(S) = 1 <=> \E x : S = {x})

THEOREM FS_AddElement ==
  ASSUME NEW S, NEW x, IsFiniteSet(S)
  PROVE  /\ IsFiniteSet(S \cup {x})
         /\ Cardinality(S \cup {x}) = IF x \in S THEN Cardinality(S) ELSE Cardinality(S) + 1

THEOREM FS_RemoveElement ==
  ASSUME NEW S, NEW x, IsFiniteSet(S)
  PROVE  /\ IsFiniteSet(S \ {x})
         /\ Cardinality(S \ {x}) = IF x \in S THEN Cardinality(S) - 1 ELSE Cardinality(S)

THEOREM FS_Union ==
  ASSUME NEW S, NEW T, IsFiniteSet(S), IsFiniteSet(T)
  PROVE  /\ IsFiniteSet(S \cup T)
         /\ Cardinality(S \cup T) = Cardinality(S) + Cardinality(T) - Cardinality(S \cap T)

THEOREM FS_Intersection ==
  ASSUME NEW S, NEW T, IsFiniteSet(S)
  PROVE  IsFiniteSet(S \cap T) /\ Cardinality(S \cap T) <= Cardinality(S)

THEOREM FS_Difference ==
  ASSUME NEW S, NEW T, IsFiniteSet(S)
  PROVE  IsFiniteSet(S \ T) /\ Cardinality(S \ T) = Cardinality(S) - Cardinality(S \cap T)

THEOREM FS_UNION ==
  ASSUME NEW S, IsFiniteSet(S), \A T \in S : IsFiniteSet(T)
  PROVE  IsFiniteSet(UNION S)

THEOREM FS_Product ==
  ASSUME NEW S, NEW T, IsFiniteSet(S), IsFiniteSet(T)
  PROVE  IsFiniteSet(S \X T) /\ Cardinality(S \X T) = Cardinality(S) * Cardinality(T)

THEOREM FS_SUBSET ==
  ASSUME NEW S, IsFiniteSet(S)
  PROVE  IsFiniteSet(SUBSET S) /\ Cardinality(SUBSET S) = 2 ^ Cardinality(S)

THEOREM FS_Image ==
  ASSUME NEW Op(_), NEW S, IsFiniteSet(S)
  PROVE  IsFiniteSet({Op(x) : x \in S}) /\ Cardinality({Op(x) : x \in S}) <= Cardinality(S)

THEOREM FS_MajoritiesIntersect ==
  ASSUME NEW S, NEW T, NEW U, IsFiniteSet(U), S \subseteq U, T \subseteq U,
         Cardinality(S) + Cardinality(T) > Cardinality(U)
  PROVE  S \cap T /= {}

THEOREM FS_Induction ==
  ASSUME NEW S, IsFiniteSet(S), NEW P(_), P({}),
         \A T, x : IsFiniteSet(T) /\ P(T) /\ x \notin T => P(T \cup {x})
  PROVE  P(S)

THEOREM FS_WFInduction ==
  ASSUME NEW P(_), NEW S, IsFiniteSet(S),
         \A T \in SUBSET S : (\A U \in SUBSET T \ {T} : P(U)) => P(T)
  PROVE  P(S)

THEOREM FS_CountingElements ==
  ASSUME NEW n \in Nat, NEW S
  PROVE  ExistsBijection(1..n, S) => IsFiniteSet(S) /\ Cardinality(S) = n

THEOREM FS_FiniteSubsetsOfFinite ==
  ASSUME NEW S, IsFiniteSet(S)
  PROVE  FiniteSubsetsOf(S) = SUBSET S

THEOREM FS_StrictSubsetOrderingWellFounded ==
  \A S : IsWellFoundedOn(StrictSubsetOrdering(S), FiniteSubsetsOf(S))

THEOREM FS_FiniteStrictSubsetOrderingWellFounded ==
  ASSUME NEW S, IsFiniteSet(S)
  PROVE  IsWellFoundedOn(StrictSubsetOrdering(S), SUBSET S)
=============================================================================

------------------------------ MODULE Functions ------------------------------
EXTENDS Integers, Folds
LOCAL INSTANCE FiniteSets

Restrict(f, S) == [x \in S |-> f[x]]

RestrictDomain(f, Test(_)) == Restrict(f, {x \in DOMAIN f : Test(x)})

RestrictValues(f, Test(_)) == Restrict(f, {x \in DOMAIN f : Test(f[x])})

IsRestriction(f, g) ==
  /\ DOMAIN f \subseteq DOMAIN g
  /\ \A x \in DOMAIN f : f[x] = g[x]

Range(f) == {f[x] : x \in DOMAIN f}

Pointwise(f, g, T(_, _)) == [x \in DOMAIN f |-> T(f[x], g[x])]

(* An element of S that f maps to t, for each t of T; any of S where none is. *)
Inverse(f, S, T) == [t \in T |-> CHOOSE s \in S : t \in Range(f) => f[s] = t]

AntiFunction(f) == Inverse(f, DOMAIN f, Range(f))

IsInjective(f) == \A a, b \in DOMAIN f : f[a] = f[b] => a = b

Injection(S, T) == {f \in [S -> T] : IsInjective(f)}

Surjection(S, T) == {f \in [S -> T] : \A t \in T : \E s \in S : f[s] = t}

Bijection(S, T) == Injection(S, T) \cap Surjection(S, T)

ExistsInjection(S, T) == Cardinality(S) <= Cardinality(T)

ExistsSurjection(S, T) ==
  IF T = {} THEN S = {} ELSE Cardinality(S) >= Cardinality(T)

ExistsBijection(S, T) == Cardinality(S) = Cardinality(T)

FoldFunction(op(_, _), base, f) ==
  MapThenFoldSet(op, base, LAMBDA x : f[x], LAMBDA T : CHOOSE x \in T : TRUE, DOMAIN f)

FoldFunctionOnSet(op(_, _), base, f, S) ==
  MapThenFoldSet(op, base, LAMBDA x : f[x], LAMBDA T : CHOOSE x \in T : TRUE, S)

(* The sum of the values, of all arguments or of those in S. *)
SumFunctionOnSet(f, S) == FoldFunctionOnSet(+, 0, f, S)

SumFunction(f) == SumFunctionOnSet(f, DOMAIN f)
=============================================================================

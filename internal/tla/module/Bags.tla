-------------------------------- MODULE Bags ---------------------------------
(* A bag is a function from its elements to how often they occur in it.       *)
LOCAL INSTANCE Integers
LOCAL INSTANCE FiniteSets

LOCAL Sum(f) ==
  LET Upto[D \in SUBSET DOMAIN f] ==
        IF D = {} THEN 0
        ELSE LET x == CHOOSE x \in D : TRUE IN f[x] + Upto[D \ {x}]
  IN Upto[DOMAIN f]

IsABag(B) == B \in [DOMAIN B -> {n \in Nat : n > 0}]

BagToSet(B) == DOMAIN B

SetToBag(S) == [e \in S |-> 1]

BagIn(e, B) == e \in BagToSet(B)

EmptyBag == SetToBag({})

CopiesIn(e, B) == IF BagIn(e, B) THEN B[e] ELSE 0

B1 (+) B2 == [e \in BagToSet(B1) \cup BagToSet(B2) |-> CopiesIn(e, B1) + CopiesIn(e, B2)]

B1 (-) B2 ==
  [e \in {d \in BagToSet(B1) : CopiesIn(d, B1) > CopiesIn(d, B2)} |-> CopiesIn(e, B1) - CopiesIn(e, B2)]

(* The sum of the bags in a set. *)
BagUnion(S) ==
  [e \in UNION {BagToSet(B) : B \in S} |-> Sum([B \in S |-> CopiesIn(e, B)])]

B1 \sqsubseteq B2 == \A e \in BagToSet(B1) : CopiesIn(e, B1) <= CopiesIn(e, B2)

(* The bags that are contained in B. *)
SubBag(B) ==
  UNION {{f \in [D -> 1..Sum(B)] : \A e \in D : f[e] <= B[e]} : D \in SUBSET BagToSet(B)}

(* The bag of the values of F on the elements of B. *)
BagOfAll(F(_), B) ==
  [e \in {F(d) : d \in BagToSet(B)} |->
     Sum([d \in {c \in BagToSet(B) : F(c) = e} |-> B[d]])]

BagCardinality(B) == Sum(B)
=============================================================================

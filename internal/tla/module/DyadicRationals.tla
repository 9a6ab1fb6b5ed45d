--------------------------- MODULE DyadicRationals ---------------------------
(* Fractions [num |-> n, den |-> d] whose denominator is a power of 2.        *)
LOCAL INSTANCE Integers
LOCAL INSTANCE Sequences
LOCAL INSTANCE TLC

LOCAL IsPowerOfTwo(d) == \E i \in 0..30 : d = 2 ^ i

Zero == [num |-> 0, den |-> 1]

One == [num |-> 1, den |-> 1]

IsDyadicRational(r) == IsPowerOfTwo(r.den)

(* The same fraction in lowest terms. *)
Reduce(p) ==
  LET Lower[n \in Int, d \in Nat] ==
        IF d > 1 /\ n % 2 = 0 THEN Lower[n \div 2, d \div 2] ELSE [num |-> n, den |-> d]
  IN Lower[p.num, p.den]

Add(p, q) ==
  IF p.num = 0 THEN q
  ELSE LET d == IF p.den > q.den THEN p.den ELSE q.den
       IN Reduce([num |-> p.num * (d \div p.den) + q.num * (d \div q.den), den |-> d])

Half(p) == Reduce([num |-> p.num, den |-> p.den * 2])

PrettyPrint(p) ==
  IF p = Zero THEN "0"
  ELSE IF p = One THEN "1"
  ELSE ToString(p.num) \o "/" \o ToString(p.den)
=============================================================================

------------------------------ MODULE Sequences ------------------------------
(* A sequence of n elements is a function on 1..n.                            *)
LOCAL INSTANCE Naturals
LOCAL INSTANCE FiniteSets

Seq(S) == TRUE
\* native

Len(s) == Cardinality(DOMAIN s)

s \o t == [i \in 1..(Len(s) + Len(t)) |-> IF i <= Len(s) THEN s[i] ELSE t[i - Len(s)]]

Append(s, e) == s \o <<e>>

Head(s) == s[1]

Tail(s) == [i \in 1..(Len(s) - 1) |-> s[i + 1]]

SubSeq(s, m, n) == [i \in 1..(n - m + 1) |-> s[i + m - 1]]

(* The elements of s for which Test holds, in their order. *)
SelectSeq(s, Test(_)) ==
  LET Upto[i \in 0..Len(s)] ==
        IF i = 0 THEN <<>>
        ELSE IF Test(s[i]) THEN Append(Upto[i - 1], s[i]) ELSE Upto[i - 1]
  IN Upto[Len(s)]
=============================================================================

------------------------ MODULE SequencesExtTheorems -------------------------
(* Facts about the operators of SequencesExt, to which proofs refer.          *)
EXTENDS SequencesExt, SequenceTheorems

THEOREM ConsProperties ==
  ASSUME NEW S, NEW s \in Seq(S), NEW e \in S
  PROVE  /\ Cons(e, s) \in Seq(S)
         /\ Len(Cons(e, s)) = Len(s) + 1
         /\ Head(Cons(e, s)) = e /\ Tail(Cons(e, s)) = s

THEOREM FrontProperties ==
  ASSUME NEW S, NEW s \in Seq(S), s /= <<>>
  PROVE  /\ Front(s) \in Seq(S)
         /\ Len(Front(s)) = Len(s) - 1
         /\ \A i \in 1..(Len(s) - 1) : Front(s)[i] = s[i]

THEOREM LastProperties ==
  ASSUME NEW S, NEW s \in Seq(S), s /= <<>>
  PROVE  Last(s) \in S /\ Append(Front(s), Last(s)) = s

THEOREM ReverseProperties ==
  ASSUME NEW S, NEW s \in Seq(S)
  PROVE  /\ Reverse(s) \in Seq(S)
         /\ Len(Reverse(s)) = Len(s)
         /\ Reverse(Reverse(s)) = s

THEOREM SequencesInductionFront ==
  ASSUME NEW S, NEW P(_), P(<<>>),
         \A s \in Seq(S) : s /= <<>> /\ P(Front(s)) => P(s)
  PROVE  \A s \in Seq(S) : P(s)

THEOREM PrefixProperties ==
  ASSUME NEW S, NEW s \in Seq(S), NEW t \in Seq(S)
  PROVE  IsPrefix(s, t) <=> \E u \in Seq(S) : t = s \o u

THEOREM SuffixProperties ==
  ASSUME NEW S, NEW s \in Seq(S), NEW t \in Seq(S)
  PROVE  IsSuffix(s, t) <=> \E u \in Seq(S) : t = u \o s
=============================================================================

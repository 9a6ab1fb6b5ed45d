------------------------------ MODULE BoundedLog ------------------------------
(***************************************************************************)
(* ReplicatedLog by itself: the sequences that Decide may choose are       *)
(* listed, so that its states can be counted.                              *)
(***************************************************************************)
EXTENDS ReplicatedLog, FiniteSets

Sequences == UNION {[1..n -> Commands] : n \in 0..Cardinality(Commands)}

BoundedNext ==
  \/ \E s \in Sequences : log' = s /\ Decide
  \/ \E l \in Learners : Apply(l)
  \/ \E c \in Commands : Answer(c)
  \/ \E r \in Readers : BeginRead(r) \/ \E s \in may[r] : EndRead(r, s)

BoundedSpec == Init /\ [][BoundedNext]_vars

\* What was answered stays in the sequence, and reads return beginnings of it.
AnsweredStays == done \subseteq Range(log)
ReadsAgree ==
  \A r \in Readers : got[r] # <<>> => Len(got[r][1]) <= Len(log) /\ SubSeq(log, 1, Len(got[r][1])) = got[r][1]
=============================================================================

------------------------------ MODULE WriteOnce ------------------------------
(***************************************************************************)
(* A write-once register, as its clients see it: a linearizable object     *)
(* that takes one value, keeps it, and may be trimmed.                     *)
(*                                                                         *)
(* A write has a call (Ask), a moment at which it takes effect (Write) and *)
(* an answer (Acknowledge).  It need not take effect, and may do so long   *)
(* after its client gave up: that is the answer UNKNOWN, which is none.    *)
(*                                                                         *)
(* A read returns an answer that was the right one at some moment between  *)
(* its call and its return.  It could be said with a step between the two  *)
(* at which the answer is taken; but an implementation learns only later   *)
(* which moment that was.  So the answers that were right since the call   *)
(* are collected, and the read returns one of them.                        *)
(*                                                                         *)
(* A write that was called before a trim may be ordered before it even if  *)
(* it turns out later that it took effect.                                 *)
(*                                                                         *)
(* Not here: captures, which restrict who may write and are a matter of    *)
(* the layers above; several registers; liveness.                          *)
(***************************************************************************)
CONSTANTS
  Values,
  Readers        \* each reads once

VARIABLES
  value,         \* what was written, or None
  trimmed,
  wanted,        \* the values that clients wanted to write before the trim
  done,          \* the values whose writers were told that they were written
  may,           \* per reader: what its read may return; empty when there is no read
  got            \* per reader: what its read returned, or None

vars == <<value, trimmed, wanted, done, may, got>>

None      == "none"
Unwritten == "unwritten"
Trimmed   == "trimmed"

Answer == IF trimmed THEN Trimmed ELSE IF value = None THEN Unwritten ELSE value

\* What a read may return after a step, if it was S before.
Grow(S) ==
  IF S = {} THEN {}
  ELSE S \cup {Answer'} \cup IF Unwritten \in S /\ value' # None THEN {value'} ELSE {}
Grown == [r \in Readers |-> Grow(may[r])]

Init ==
  /\ value = None /\ trimmed = FALSE
  /\ wanted = {} /\ done = {}
  /\ may = [r \in Readers |-> {}]
  /\ got = [r \in Readers |-> None]

Ask(v) ==
  /\ ~trimmed
  /\ wanted' = wanted \cup {v}
  /\ UNCHANGED <<value, trimmed, done, may, got>>

Write(v) ==
  /\ value = None /\ v \in wanted
  /\ value' = v
  /\ UNCHANGED <<trimmed, wanted, done, got>>
  /\ may' = Grown

Acknowledge(v) ==
  /\ value = v
  /\ done' = done \cup {v}
  /\ UNCHANGED <<value, trimmed, wanted, may, got>>

Trim ==
  /\ trimmed' = TRUE
  /\ UNCHANGED <<value, wanted, done, got>>
  /\ may' = Grown

Begin(r) ==
  /\ may[r] = {} /\ got[r] = None
  /\ may' = [may EXCEPT ![r] = {Answer}]
  /\ UNCHANGED <<value, trimmed, wanted, done, got>>

End(r, x) ==
  /\ x \in may[r]
  /\ got' = [got EXCEPT ![r] = x]
  /\ may' = [may EXCEPT ![r] = {}]
  /\ UNCHANGED <<value, trimmed, wanted, done>>

Next ==
  \/ \E v \in Values : Ask(v) \/ Write(v) \/ Acknowledge(v)
  \/ Trim
  \/ \E r \in Readers : Begin(r) \/ \E x \in Values \cup {Unwritten, Trimmed} : End(r, x)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
  /\ value \in Values \cup {None} /\ trimmed \in BOOLEAN
  /\ wanted \subseteq Values /\ done \subseteq wanted
  /\ may \in [Readers -> SUBSET (Values \cup {Unwritten, Trimmed})]
  /\ got \in [Readers -> Values \cup {Unwritten, Trimmed, None}]

\* Whoever is told of a value is told of the same one.
ToldOne == \A v, w \in done \cup ({got[r] : r \in Readers} \ {None, Unwritten, Trimmed}) : v = w

\* What was written stays.
WrittenForEver == [][value # None => value' = value]_value
TrimmedForEver == [][trimmed => trimmed']_trimmed
=============================================================================

---------------------------- MODULE ReplicatedLog ----------------------------
(***************************************************************************)
(* A state machine that is replicated, as its clients see it: a sequence   *)
(* of commands that grows, and servers that have applied a prefix of it.   *)
(* A command is answered when it is in the sequence.  A read returns the   *)
(* sequence as it was at some moment between call and return.              *)
(*                                                                         *)
(* Not here: what commands do; snapshots.                                  *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Commands, Readers, Learners

VARIABLES
  log,
  applied,       \* per server: how many commands it has applied
  done,          \* the commands that were answered
  may,           \* per reader: the sequences that it may return
  got            \* per reader: <<>> or a sequence of one: what it returned

vars == <<log, applied, done, may, got>>

Range(s) == {s[i] : i \in DOMAIN s}

Init ==
  /\ log = <<>>
  /\ applied = [l \in Learners |-> 0]
  /\ done = {}
  /\ may = [r \in Readers |-> {}]
  /\ got = [r \in Readers |-> <<>>]

Prefixes == {SubSeq(log', 1, n) : n \in Len(log)..Len(log')}
Grown == [r \in Readers |-> IF may[r] = {} THEN {} ELSE may[r] \cup Prefixes]

\* One command, or several: a hole was filled in front of some.
Decide ==
  /\ Len(log') > Len(log) /\ SubSeq(log', 1, Len(log)) = log
  /\ Range(log') \subseteq Commands
  /\ \A i, j \in DOMAIN log' : log'[i] = log'[j] => i = j
  /\ may' = Grown
  /\ UNCHANGED <<applied, done, got>>

Apply(l) ==
  /\ applied[l] < Len(log)
  /\ applied' = [applied EXCEPT ![l] = @ + 1]
  /\ UNCHANGED <<log, done, may, got>>

Answer(c) ==
  /\ c \in Range(log)
  /\ done' = done \cup {c}
  /\ UNCHANGED <<log, applied, may, got>>

BeginRead(r) ==
  /\ may[r] = {} /\ got[r] = <<>>
  /\ may' = [may EXCEPT ![r] = {log}]
  /\ UNCHANGED <<log, applied, done, got>>

EndRead(r, s) ==
  /\ s \in may[r]
  /\ got' = [got EXCEPT ![r] = <<s>>]
  /\ may' = [may EXCEPT ![r] = {}]
  /\ UNCHANGED <<log, applied, done>>

Next ==
  \/ Decide
  \/ \E l \in Learners : Apply(l)
  \/ \E c \in Commands : Answer(c)
  \/ \E r \in Readers : BeginRead(r) \/ \E s \in may[r] : EndRead(r, s)

Spec == Init /\ [][Next]_vars
=============================================================================

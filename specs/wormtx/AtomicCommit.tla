----------------------------- MODULE AtomicCommit -----------------------------
(***************************************************************************)
(* One transaction, as its participants see it: each of them votes once,   *)
(* or somebody votes no in its place, and all who live learn the outcome.  *)
(* It is commit if all votes are yes, and abort if one is no.              *)
(*                                                                         *)
(* Not here: what the transaction does (TxKV).                             *)
(***************************************************************************)
CONSTANT RMs

VARIABLES
  vote,          \* per participant: Yes, No or None
  told,          \* per participant: Commit, Abort or None
  begun,         \* who knows of the transaction
  dead

vars == <<vote, told, begun, dead>>

None == "none"  Yes == "yes"  No == "no"  Commit == "commit"  Abort == "abort"

Outcome(o) ==
  IF o = Commit THEN \A i \in RMs : vote[i] = Yes ELSE \E i \in RMs : vote[i] = No

Init ==
  /\ vote = [i \in RMs |-> None]
  /\ told = [i \in RMs |-> None]
  /\ begun \in SUBSET RMs /\ dead = {}

Begin(i) ==
  /\ i \notin dead
  /\ begun' = begun \cup {i}
  /\ UNCHANGED <<vote, told, dead>>

\* Somebody waits for the vote.
Awaited == \E j \in begun \ dead : told[j] = None

Vote(i) ==
  /\ vote[i] = None /\ Awaited
  /\ \E x \in {Yes, No} : vote' = [vote EXCEPT ![i] = x]
  /\ UNCHANGED <<told, begun, dead>>

\* A vote is cast by a write that goes on although its writer is dead.
VoteLate(i) ==
  /\ vote[i] = None
  /\ \E x \in {Yes, No} : vote' = [vote EXCEPT ![i] = x]
  /\ UNCHANGED <<told, begun, dead>>

Tell(i) ==
  /\ i \in begun \ dead /\ told[i] = None
  /\ \E o \in {Commit, Abort} : Outcome(o) /\ told' = [told EXCEPT ![i] = o]
  /\ UNCHANGED <<vote, begun, dead>>

Die(i) ==
  /\ dead' = dead \cup {i}
  /\ UNCHANGED <<vote, told, begun>>

Next == \E i \in RMs : Begin(i) \/ Vote(i) \/ VoteLate(i) \/ Tell(i) \/ Die(i)

Spec == Init /\ [][Next]_vars

\* Whoever lives gets an answer.
Fairness == \A i \in RMs : WF_vars(Vote(i)) /\ WF_vars(Tell(i))
FairSpec == Spec /\ Fairness

-----------------------------------------------------------------------------
OneOutcome == \* AC1
  \A i, j \in RMs : told[i] # None /\ told[j] # None => told[i] = told[j]

Stable == [][\A i \in RMs : (vote[i] # None => vote'[i] = vote[i]) /\ (told[i] # None => told'[i] = told[i])]_vars

NonBlocking == \* AC4
  \A i \in RMs : i \in begun ~> (told[i] # None \/ i \in dead)
=============================================================================

---------------------------- MODULE CrashSafeMap ----------------------------
(***************************************************************************)
(* What a user may rely on: a map that survives crashes (VeriBetrKV, OSDI  *)
(* 2020, section 3; the versions are those of its ThreeStateVersionedMap). *)
(*                                                                         *)
(* There is a row of versions. The first is persistent: it is what a loss  *)
(* of power leaves. The last is ephemeral: it is what a user sees. Those   *)
(* up to the frozen one have been handed to the disk, and any of them may  *)
(* become the persistent one, at any time and in this order. The paper's   *)
(* map has three versions and makes the frozen one persistent; here what   *)
(* is on its way may arrive in part, as it does when a journal is written. *)
(*                                                                         *)
(* A sync asks for the version that is ephemeral when it is requested, and *)
(* is answered only when that version is persistent.                       *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
  Keys, Values,
  None,          \* what a key has that is not there
  Ids,           \* of sync requests
  MaxVersions    \* for the state space to be finite

VARIABLES
  versions,      \* from the persistent one to the ephemeral one
  frozen,        \* the place of the frozen one among them
  syncs          \* for each id 0, or the place of the version that it waits for

vars == <<versions, frozen, syncs>>

Ephemeral  == versions[Len(versions)]
Persistent == versions[1]

TypeOK ==
  /\ versions \in Seq([Keys -> Values \cup {None}])
  /\ Len(versions) >= 1
  /\ frozen \in 1..Len(versions)
  /\ syncs \in [Ids -> 0..Len(versions)]

Init ==
  /\ versions = << [k \in Keys |-> None] >>
  /\ frozen = 1
  /\ syncs = [i \in Ids |-> 0]

Become(k, v) ==
  /\ versions' = Append(versions, [Ephemeral EXCEPT ![k] = v])
  /\ UNCHANGED <<frozen, syncs>>

Put == \E k \in Keys, v \in Values : Become(k, v)

Delete == \E k \in Keys : Become(k, None)

SyncRequest(i) ==
  /\ syncs[i] = 0
  /\ syncs' = [syncs EXCEPT ![i] = Len(versions)]
  /\ UNCHANGED <<versions, frozen>>

SyncReply(i) ==
  /\ syncs[i] = 1
  /\ syncs' = [syncs EXCEPT ![i] = 0]
  /\ UNCHANGED <<versions, frozen>>

Freeze ==
  /\ \E n \in frozen+1..Len(versions) : frozen' = n
  /\ UNCHANGED <<versions, syncs>>

\* What waits for a version that is now behind the persistent one waits no more.
Persist ==
  \E n \in 2..frozen :
    /\ versions' = SubSeq(versions, n, Len(versions))
    /\ frozen' = frozen - n + 1
    /\ syncs' = [i \in Ids |-> IF syncs[i] = 0 THEN 0 ELSE IF syncs[i] <= n THEN 1 ELSE syncs[i] - n + 1]

\* The machine loses power.
Crash ==
  /\ versions' = << Persistent >>
  /\ frozen' = 1
  /\ syncs' = [i \in Ids |-> 0]

\* The program ends without the machine: what was handed over may stay.
Kill ==
  \E n \in 1..frozen :
    /\ versions' = SubSeq(versions, 1, n)
    /\ frozen' = n
    /\ syncs' = [i \in Ids |-> 0]

Next ==
  \/ Put
  \/ Delete
  \/ \E i \in Ids : SyncRequest(i) \/ SyncReply(i)
  \/ Freeze
  \/ Persist
  \/ Crash
  \/ Kill

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* For exploring this specification by itself.
Bounded == Len(versions) <= MaxVersions

\* The persistent version gives way only to one that was frozen.
OnlyForward == [][\E n \in 1..frozen : versions'[1] = versions[n]]_vars

\* Violated by showing that a sync waits while another version is persistent.
NeverWaits == \A i \in Ids : syncs[i] <= 1

\* Violated by showing that part of what was handed over has arrived.
NeverInPart == [][~(Len(versions') > 1 /\ frozen > 2 /\ frozen' > 1 /\ Len(versions') < Len(versions) /\ versions'[1] # versions[1])]_vars
=============================================================================

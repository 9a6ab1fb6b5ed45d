--------------------------- MODULE replicateddisk ---------------------------
(***************************************************************************)
(* A disk made of two, of which one may fail (examples/replicateddisk).    *)
(* A write goes to disk 0, then to disk 1; a read takes disk 0, and disk 1 *)
(* when disk 0 has failed. A lock per address. The machine may crash at    *)
(* any time; recovery copies disk 0 to disk 1, address by address, where   *)
(* disk 0 lives. A disk that has failed keeps what it has and never lives  *)
(* again; reads of it say so, writes to it do not.                         *)
(*                                                                         *)
(* The specification is a map from addresses to blocks. A write that has   *)
(* got to disk 0 only when the machine crashes has happened if disk 0      *)
(* lives until recovery has copied the block, and has not if disk 0 fails  *)
(* before. So what the specification says after a crash is not one map but *)
(* a set of them, each of which explains all that was seen; recovery       *)
(* narrows the set to one map, and nobody sees anything before that.       *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Addresses,
  Threads,
  Values,        \* of a block
  Blank,         \* one of them, which both disks have at first
  MaxCrashes,
  Locking,       \* FALSE is a mistake: the operations do not lock
  HoldingOn,     \* FALSE is a mistake: a write unlocks before it writes disk 1
  Copying        \* FALSE is a mistake: recovery does not write disk 1

ASSUME Blank \in Values /\ {Locking, HoldingOn, Copying} \subseteq BOOLEAN

VARIABLES
  possible,      \* the maps that the specification may have
  disk,          \* of disk 0 and 1, what each address has
  failed,        \* which disks have failed
  left,          \* the addresses that recovery has yet to do
  copied,        \* what recovery has read of disk 0 and not yet written, by address
  locks,         \* for each address who has its lock
  thread,        \* for each thread where it is, its address, what it writes or has read
  crashes

vars == <<possible, disk, failed, left, copied, locks, thread, crashes>>

Maps == [Addresses -> Values]
Nobody == "nobody"
Nothing == "nothing"
Idle == [at |-> "idle"]

Init ==
  /\ possible = {[a \in Addresses |-> Blank]}
  /\ disk = [i \in 0..1 |-> [a \in Addresses |-> Blank]]
  /\ failed = {}
  /\ left = Addresses
  /\ copied = [a \in Addresses |-> Nothing]
  /\ locks = [a \in Addresses |-> Nobody]
  /\ thread = [t \in Threads |-> Idle]
  /\ crashes = 0

\* What a write of v to address a of disk i makes of the disks.
Written(i, a, v) == IF i \in failed THEN disk ELSE [disk EXCEPT ![i][a] = v]

Fail ==
  /\ failed = {}
  /\ \E i \in 0..1 : failed' = {i}
  /\ UNCHANGED <<possible, disk, left, copied, locks, thread, crashes>>

\* What is possible, now that address a is known to have v.
Narrow(a, v) == {m \in possible : m[a] = v}

-----------------------------------------------------------------------------
\* Recovery.
Fetch(a) ==
  /\ a \in left /\ copied[a] = Nothing
  /\ IF 0 \in failed
     THEN /\ possible' = Narrow(a, disk[1][a])
          /\ left' = left \ {a}
          /\ UNCHANGED copied
     ELSE /\ copied' = [copied EXCEPT ![a] = disk[0][a]]
          /\ UNCHANGED <<possible, left>>
  /\ UNCHANGED <<disk, failed, locks, thread, crashes>>

Put(a) ==
  /\ a \in left /\ copied[a] # Nothing
  /\ disk' = IF Copying THEN Written(1, a, copied[a]) ELSE disk
  /\ possible' = Narrow(a, copied[a])
  /\ left' = left \ {a}
  /\ copied' = [copied EXCEPT ![a] = Nothing]
  /\ UNCHANGED <<failed, locks, thread, crashes>>

Up == left = {}

-----------------------------------------------------------------------------
\* Operations.
Call(t) ==
  /\ Up /\ thread[t].at = "idle"
  /\ \E a \in Addresses :
       \/ \E v \in Values : thread' = [thread EXCEPT ![t] = [at |-> "lock to write", a |-> a, x |-> v]]
       \/ thread' = [thread EXCEPT ![t] = [at |-> "lock to read", a |-> a]]
  /\ UNCHANGED <<possible, disk, failed, left, copied, locks, crashes>>

Lock(t, before, after) ==
  /\ thread[t].at = before
  /\ Locking => locks[thread[t].a] = Nobody
  /\ locks' = IF Locking THEN [locks EXCEPT ![thread[t].a] = t] ELSE locks
  /\ thread' = [thread EXCEPT ![t].at = after]
  /\ UNCHANGED <<possible, disk, failed, left, copied, crashes>>

Released(t) == [a \in Addresses |-> IF locks[a] = t THEN Nobody ELSE locks[a]]

Return(t) ==
  /\ thread[t].at = "return"
  /\ locks' = Released(t)
  /\ thread' = [thread EXCEPT ![t] = Idle]
  /\ UNCHANGED <<possible, disk, failed, left, copied, crashes>>

Write0(t) ==
  /\ thread[t].at = "write 0"
  /\ disk' = Written(0, thread[t].a, thread[t].x)
  /\ thread' = [thread EXCEPT ![t].at = "write 1"]
  /\ locks' = IF HoldingOn THEN locks ELSE Released(t)
  /\ UNCHANGED <<possible, failed, left, copied, crashes>>

\* The write happens.
Write1(t) ==
  /\ thread[t].at = "write 1"
  /\ disk' = Written(1, thread[t].a, thread[t].x)
  /\ possible' = {[m EXCEPT ![thread[t].a] = thread[t].x] : m \in possible}
  /\ thread' = [thread EXCEPT ![t].at = "return"]
  /\ UNCHANGED <<failed, left, copied, locks, crashes>>

\* The read happens where it finds a disk that lives.
Found(t, i) ==
  thread' = [thread EXCEPT ![t] = [at |-> "return", a |-> @.a, found |-> disk[i][@.a],
                                   right |-> {m[@.a] : m \in possible}]]

Read0(t) ==
  /\ thread[t].at = "read 0"
  /\ IF 0 \in failed THEN thread' = [thread EXCEPT ![t].at = "read 1"] ELSE Found(t, 0)
  /\ UNCHANGED <<possible, disk, failed, left, copied, locks, crashes>>

Read1(t) ==
  /\ thread[t].at = "read 1"
  /\ Found(t, 1)
  /\ UNCHANGED <<possible, disk, failed, left, copied, locks, crashes>>

\* Of the writes that have got to disk 0 only, any may have happened.
Pending == {t \in Threads : thread[t].at = "write 1"}
Crash ==
  /\ crashes < MaxCrashes
  /\ crashes' = crashes + 1
  /\ possible' = {[a \in Addresses |->
                     IF \E t \in done : thread[t].a = a THEN thread[CHOOSE t \in done : thread[t].a = a].x ELSE m[a]]
                    : m \in possible, done \in SUBSET Pending}
  /\ left' = Addresses
  /\ copied' = [a \in Addresses |-> Nothing]
  /\ locks' = [a \in Addresses |-> Nobody]
  /\ thread' = [t \in Threads |-> Idle]
  /\ UNCHANGED <<disk, failed>>

Next ==
  \/ Fail
  \/ Crash
  \/ \E a \in Addresses : Fetch(a) \/ Put(a)
  \/ \E t \in Threads :
       \/ Call(t)
       \/ Lock(t, "lock to write", "write 0") \/ Lock(t, "lock to read", "read 0")
       \/ Write0(t) \/ Write1(t)
       \/ Read0(t) \/ Read1(t)
       \/ Return(t)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
  /\ possible \subseteq Maps
  /\ disk \in [0..1 -> Maps]
  /\ failed \subseteq 0..1 /\ Cardinality(failed) =< 1
  /\ left \subseteq Addresses
  /\ locks \in [Addresses -> Threads \cup {Nobody}]

\* Narrowing never leaves nothing: there is always a map that explains all.
Explained == possible # {}

\* The crash invariant of the proof, which is about each address by itself.
\*   settled    each disk has the value, or has failed
\*   pending v  disk 0 has v or has failed, disk 1 has the value or has failed
\*   unknown    one of two values is possible for each of the two disks' blocks
Value(a) == {m[a] : m \in possible}
Has(i, a, v) == disk[i][a] = v \/ i \in failed
Independent ==
  possible = {m \in Maps : \A a \in Addresses : m[a] \in Value(a)}
CrashInvariant ==
  /\ Independent
  /\ \A a \in Addresses :
       IF a \in left
       THEN \E v, w \in Value(a) : Value(a) = {v, w} /\ Has(0, a, v) /\ Has(1, a, w)
       ELSE \E v \in Value(a) :
              /\ Value(a) = {v}
              /\ Has(1, a, v)
              /\ IF \E t \in Pending : thread[t].a = a
                 THEN \E t \in Pending : thread[t].a = a /\ Has(0, a, thread[t].x)
                 ELSE Has(0, a, v)

\* What recovery has read stays there while disk 0 lives.
FetchedIsThere == \A a \in Addresses : copied[a] # Nothing => disk[0][a] = copied[a]

\* A read gives what the specification had when it happened.
ReadsTheValue ==
  \A t \in Threads :
    thread[t].at = "return" /\ "found" \in DOMAIN thread[t] => thread[t].right = {thread[t].found}
=============================================================================

----------------------------- MODULE shadowcopy -----------------------------
(***************************************************************************)
(* A pair of blocks that is written atomically (examples/shadowcopy).      *)
(* Block 0 says which of two copies is current: blocks 1 and 2, or blocks  *)
(* 3 and 4. A write fills the other copy, then writes block 0. One lock    *)
(* serialises the operations. The disk is synchronous; the machine may     *)
(* crash at any time, and starts again by reading block 0.                 *)
(*                                                                         *)
(* The specification is one variable, the pair: a write changes it at some *)
(* moment between call and return, a read gives it, a crash leaves it.     *)
(* Here these moments are fixed, as the proof fixes them: a write happens  *)
(* when block 0 is written, a read when its first block is read.           *)
(***************************************************************************)
EXTENDS Naturals

CONSTANTS
  Threads,
  Values,        \* of a block
  Blank,         \* one of them, which the disk has at first
  MaxCrashes,
  Locking,       \* FALSE is a mistake: the operations do not lock
  SelectLast     \* FALSE is a mistake: block 0 is written before the second block

ASSUME Blank \in Values /\ Locking \in BOOLEAN /\ SelectLast \in BOOLEAN

VARIABLES
  pair,          \* what the specification says
  selected,      \* block 0: where the current copy begins
  disk,          \* blocks 1 to 4
  up,            \* whether Open has returned
  current,       \* what the program remembers of block 0
  holder,        \* who has the lock
  thread,        \* for each thread where it is, what it writes or has read
  crashes

vars == <<pair, selected, disk, up, current, holder, thread, crashes>>

Nobody == "nobody"
Idle == [at |-> "idle", x |-> <<Blank, Blank>>, done |-> FALSE]
Other(base) == 4 - base
Copy(base) == <<disk[base], disk[base + 1]>>

Init ==
  /\ pair = <<Blank, Blank>>
  /\ selected = 1
  /\ disk = [a \in 1..4 |-> Blank]
  /\ up = FALSE
  /\ current = 1
  /\ holder = Nobody
  /\ thread = [t \in Threads |-> Idle]
  /\ crashes = 0

Open ==
  /\ ~up
  /\ up' = TRUE
  /\ current' = selected
  /\ UNCHANGED <<pair, selected, disk, holder, thread, crashes>>

At(t, place) == up /\ thread[t].at = place
Move(t, place) == thread' = [thread EXCEPT ![t].at = place]

\* Calls and the lock.
Call(t) ==
  /\ At(t, "idle")
  /\ \/ \E x \in Values \X Values :
          thread' = [thread EXCEPT ![t] = [at |-> "lock to write", x |-> x, done |-> FALSE]]
     \/ thread' = [thread EXCEPT ![t] = [at |-> "lock to read", x |-> <<Blank, Blank>>, done |-> FALSE]]
  /\ UNCHANGED <<pair, selected, disk, up, current, holder, crashes>>

Lock(t, before, after) ==
  /\ At(t, before)
  /\ Locking => holder = Nobody
  /\ holder' = IF Locking THEN t ELSE Nobody
  /\ Move(t, after)
  /\ UNCHANGED <<pair, selected, disk, up, current, crashes>>

\* Unlock and return.
Return(t) ==
  /\ At(t, "return")
  /\ holder' = Nobody
  /\ thread' = [thread EXCEPT ![t] = Idle]
  /\ UNCHANGED <<pair, selected, disk, up, current, crashes>>

-----------------------------------------------------------------------------
Write1(t) ==
  /\ At(t, "write first")
  /\ disk' = [disk EXCEPT ![Other(current)] = thread[t].x[1]]
  /\ Move(t, IF SelectLast THEN "write second" ELSE "select")
  /\ UNCHANGED <<pair, selected, up, current, holder, crashes>>

Write2(t) ==
  /\ At(t, "write second")
  /\ disk' = [disk EXCEPT ![Other(current) + 1] = thread[t].x[2]]
  /\ Move(t, IF SelectLast THEN "select" ELSE "remember")
  /\ UNCHANGED <<pair, selected, up, current, holder, crashes>>

\* The write happens.
Select(t) ==
  /\ At(t, "select")
  /\ selected' = Other(current)
  /\ pair' = thread[t].x
  /\ thread' = [thread EXCEPT ![t].at = IF SelectLast THEN "remember" ELSE "write second", ![t].done = TRUE]
  /\ UNCHANGED <<disk, up, current, holder, crashes>>

Remember(t) ==
  /\ At(t, "remember")
  /\ current' = Other(current)
  /\ Move(t, "return")
  /\ UNCHANGED <<pair, selected, disk, up, holder, crashes>>

\* The read happens; what it has to give is kept in x, and compared below.
Read1(t) ==
  /\ At(t, "read first")
  /\ thread' = [thread EXCEPT ![t] = [at |-> "read second", x |-> <<disk[current], pair[2]>>, done |-> TRUE]]
  /\ UNCHANGED <<pair, selected, disk, up, current, holder, crashes>>

Read2(t) ==
  /\ At(t, "read second")
  /\ Move(t, "return")
  /\ UNCHANGED <<pair, selected, disk, up, current, holder, crashes>>

Crash ==
  /\ crashes < MaxCrashes
  /\ crashes' = crashes + 1
  /\ up' = FALSE
  /\ current' = 1
  /\ holder' = Nobody
  /\ thread' = [t \in Threads |-> Idle]
  /\ UNCHANGED <<pair, selected, disk>>

Next ==
  \/ Open
  \/ Crash
  \/ \E t \in Threads :
       \/ Call(t)
       \/ Lock(t, "lock to write", "write first") \/ Lock(t, "lock to read", "read first")
       \/ Write1(t) \/ Write2(t) \/ Select(t) \/ Remember(t)
       \/ Read1(t) \/ Read2(t)
       \/ Return(t)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
  /\ pair \in Values \X Values
  /\ selected \in {1, 3}
  /\ disk \in [1..4 -> Values]
  /\ current \in {1, 3}
  /\ holder \in Threads \cup {Nobody}

\* The crash invariant of the proof: block 0 and the copy that it names are the
\* pair, at every moment.
CrashInvariant == pair = Copy(selected)

\* What the lock protects: the program remembers what block 0 says, except
\* between writing block 0 and remembering it.
LockInvariant ==
  up /\ (\A t \in Threads : thread[t].at # "remember") => current = selected

\* A read returns the pair as it was when the read happened.
ReadsThePair ==
  \A t \in Threads :
    At(t, "read second") => thread[t].x[1] = pair[1] /\ disk[current + 1] = thread[t].x[2]

\* Who returns has happened: an acknowledged write survives.
ReturnsWhenDone == \A t \in Threads : At(t, "return") => thread[t].done
=============================================================================

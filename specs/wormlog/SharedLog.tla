------------------------------ MODULE SharedLog ------------------------------
(***************************************************************************)
(* A log that clients share, as they see it.  An append takes the address  *)
(* at the tail, and its value is put there later, or junk is: then the     *)
(* append takes another address.  An append that begins after another one  *)
(* returned has the higher address.  A query of the tail returns an        *)
(* address that was the tail at some moment between call and return; when  *)
(* the tail skips addresses it passes over them.                           *)
(*                                                                         *)
(* Not here: reads, which are those of the write-once register at the      *)
(* address; trims.                                                         *)
(***************************************************************************)
EXTENDS Naturals

CONSTANTS
  Clients,       \* each appends itself, once
  Readers,       \* each asks for the tail, once
  Addresses      \* 1 .. a number

VARIABLES
  tail,          \* the next address
  data,          \* per address: a client, Junk or None
  phase,         \* per client: "idle", "called", "done"
  at,            \* per client: the address that it took, or 0
  earlier,       \* per client: those whose appends had returned when it called
  may,           \* per reader: the tails that it may return
  got            \* per reader: what it returned, or 0

vars == <<tail, data, phase, at, earlier, may, got>>

None == "none"
Junk == "junk"

Done == {c \in Clients : phase[c] = "done"}

Init ==
  /\ tail = 1
  /\ data = [a \in Addresses |-> None]
  /\ phase = [c \in Clients |-> "idle"]
  /\ at = [c \in Clients |-> 0]
  /\ earlier = [c \in Clients |-> {}]
  /\ may = [r \in Readers |-> {}]
  /\ got = [r \in Readers |-> 0]

\* The end of a step that moves the tail.
Grown == [r \in Readers |-> IF may[r] = {} THEN {} ELSE may[r] \cup tail..tail']

Call(c) ==
  /\ phase[c] = "idle"
  /\ phase' = [phase EXCEPT ![c] = "called"]
  /\ earlier' = [earlier EXCEPT ![c] = Done]
  /\ UNCHANGED <<tail, data, at, may, got>>

Take(c) ==
  /\ phase[c] = "called" /\ at[c] = 0 /\ tail \in Addresses
  /\ at' = [at EXCEPT ![c] = tail]
  /\ tail' = tail + 1
  /\ may' = Grown
  /\ UNCHANGED <<data, phase, earlier, got>>

Skip ==
  /\ \E n \in Addresses : n > tail /\ tail' = n
  /\ may' = Grown
  /\ UNCHANGED <<data, phase, at, earlier, got>>

Put(a) ==
  /\ data[a] = None
  /\ \E x \in {c \in Clients : at[c] = a} \cup {Junk} : data' = [data EXCEPT ![a] = x]
  /\ UNCHANGED <<tail, phase, at, earlier, may, got>>

Drop(c) ==
  /\ phase[c] = "called" /\ at[c] # 0 /\ data[at[c]] = Junk
  /\ at' = [at EXCEPT ![c] = 0]
  /\ UNCHANGED <<tail, data, phase, earlier, may, got>>

Return(c) ==
  /\ phase[c] = "called" /\ at[c] # 0 /\ data[at[c]] = c
  /\ phase' = [phase EXCEPT ![c] = "done"]
  /\ UNCHANGED <<tail, data, at, earlier, may, got>>

BeginTail(r) ==
  /\ may[r] = {} /\ got[r] = 0
  /\ may' = [may EXCEPT ![r] = {tail}]
  /\ UNCHANGED <<tail, data, phase, at, earlier, got>>

EndTail(r, n) ==
  /\ n \in may[r]
  /\ got' = [got EXCEPT ![r] = n]
  /\ may' = [may EXCEPT ![r] = {}]
  /\ UNCHANGED <<tail, data, phase, at, earlier>>

Next ==
  \/ \E c \in Clients : Call(c) \/ Take(c) \/ Drop(c) \/ Return(c)
  \/ Skip
  \/ \E a \in Addresses : Put(a)
  \/ \E r \in Readers : BeginTail(r) \/ \E n \in may[r] : EndTail(r, n)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* Appends have addresses in the order of real time.
RealTimeOrder ==
  \A c \in Done : \A d \in earlier[c] : at[d] < at[c]

\* A value is in one place only.
Once == \A a, b \in Addresses : data[a] = data[b] /\ data[a] \in Clients => a = b

Kept == \A c \in Done : data[at[c]] = c
=============================================================================

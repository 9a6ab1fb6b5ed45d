----------------------------- MODULE AddressSpace -----------------------------
(***************************************************************************)
(* Segments of write-once registers, as clients see them: a segment is     *)
(* allocated to one client, its registers are written once each, and it    *)
(* may be trimmed, for ever.  To write several registers is to write each  *)
(* of them, in any order.                                                  *)
(*                                                                         *)
(* Not here: that an operation takes time, which is WriteOnce.             *)
(***************************************************************************)
CONSTANTS Segments, Offsets, Clients

VARIABLES
  owner,         \* per segment: who allocated it, or None
  data,          \* per segment and offset: who wrote it, or None
  trimmed        \* the segments that are

vars == <<owner, data, trimmed>>

None == "none"

Init ==
  /\ owner = [g \in Segments |-> None]
  /\ data = [g \in Segments |-> [o \in Offsets |-> None]]
  /\ trimmed = {}

Alloc(g, c) ==
  /\ owner[g] = None
  /\ owner' = [owner EXCEPT ![g] = c]
  /\ UNCHANGED <<data, trimmed>>

Write(g, o, c) ==
  /\ owner[g] # None /\ g \notin trimmed
  /\ data[g][o] = None
  /\ data' = [data EXCEPT ![g][o] = c]
  /\ UNCHANGED <<owner, trimmed>>

Trim(g) ==
  /\ owner[g] # None
  /\ trimmed' = trimmed \cup {g}
  /\ UNCHANGED <<owner, data>>

Next ==
  \E g \in Segments :
    \/ \E c \in Clients : Alloc(g, c) \/ \E o \in Offsets : Write(g, o, c)
    \/ Trim(g)

Spec == Init /\ [][Next]_vars
=============================================================================

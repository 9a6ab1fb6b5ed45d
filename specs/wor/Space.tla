-------------------------------- MODULE Space --------------------------------
(***************************************************************************)
(* Segments made of write-once registers.                                  *)
(*                                                                         *)
(* A segment has a metadata register: who writes it has allocated the      *)
(* segment, and it says where the segment's registers are.  That is what   *)
(* places a register, and not the number of partitions that there are now, *)
(* which may grow.  A client uses a segment after it has read the          *)
(* metadata, which it may then remember for ever.  Its owner may write     *)
(* without a capture, since it is the only one who does.  A trim is a      *)
(* write to another register of the segment; partitions learn of it later, *)
(* and until they do they may be written.                                  *)
(*                                                                         *)
(* Registers are atomic here: PaxosRegister, ChainRegister, FastRegister   *)
(* and Reconfig are about them.  RangeAcceptor is about captures of many.  *)
(*                                                                         *)
(* Not here: listeners; closed segments that are copied.                   *)
(*                                                                         *)
(* Actions that a trace of the program is made of: Alloc(c, g), Open(c, g),*)
(* Write(c, g, o), Grow, DecideTrim(c, g), Bury(g).                        *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Segments,      \* numbers
  Offsets, Clients,
  Partitions,    \* how many there may come to be
  Flaw           \* what is wrong, or "none"

VARIABLES
  meta,          \* per segment: who allocated it, and where it is; or Nobody
  store,         \* per partition, segment and offset: who wrote it, or None
  parts,         \* how many partitions there are
  tried,         \* per client: the segments that it tried to allocate
  open,          \* per client: the segments whose metadata it has read
  trims,         \* the segments whose trim is decided
  buried,        \* those where the partition knows
  unsafe         \* per segment: who wrote without a capture

vars == <<meta, store, parts, tried, open, trims, buried, unsafe>>

None   == "none"
Nobody == [who |-> None, where |-> 0]

\* Where the registers of a segment are.
Where(g) ==
  IF Flaw = "the number of partitions places registers" THEN g % parts
  ELSE meta[g].where

Abstract == INSTANCE AddressSpace WITH
  owner <- [g \in Segments |-> meta[g].who],
  data <- [g \in Segments |-> [o \in Offsets |-> store[Where(g)][g][o]]],
  trimmed <- buried

Init ==
  /\ meta = [g \in Segments |-> Nobody]
  /\ store = [p \in 0..(Partitions - 1) |-> [g \in Segments |-> [o \in Offsets |-> None]]]
  /\ parts = 1
  /\ tried = [c \in Clients |-> {}]
  /\ open = [c \in Clients |-> {}]
  /\ trims = {} /\ buried = {}
  /\ unsafe = [g \in Segments |-> {}]

\* A write to the metadata register; the client learns later whether it took effect.
Alloc(c, g) ==
  /\ g \notin tried[c]
  /\ tried' = [tried EXCEPT ![c] = @ \cup {g}]
  /\ meta' = IF meta[g] = Nobody \/ Flaw = "metadata is written over"
             THEN [meta EXCEPT ![g] = [who |-> c, where |-> g % parts]] ELSE meta
  /\ UNCHANGED <<store, parts, open, trims, buried, unsafe>>

Open(c, g) ==
  /\ g \notin open[c]
  /\ meta[g] # Nobody
  /\ open' = [open EXCEPT ![c] = @ \cup {g}]
  /\ UNCHANGED <<meta, store, parts, tried, trims, buried, unsafe>>

Mine(c, g) ==
  \/ g \in open[c] /\ meta[g].who = c
  \/ Flaw = "a segment is used before its metadata is read" /\ g \in tried[c]

Write(c, g, o) ==
  /\ g \in open[c] \/ Mine(c, g)
  /\ g \notin buried
  /\ store[Where(g)][g][o] = None
  /\ store' = [store EXCEPT ![Where(g)][g][o] = c]
  /\ unsafe' = IF Mine(c, g) THEN [unsafe EXCEPT ![g] = @ \cup {c}] ELSE unsafe
  /\ UNCHANGED <<meta, parts, tried, open, trims, buried>>

Grow ==
  /\ parts < Partitions
  /\ parts' = parts + 1
  /\ UNCHANGED <<meta, store, tried, open, trims, buried, unsafe>>

DecideTrim(c, g) ==
  /\ g \in open[c] /\ g \notin trims
  /\ trims' = trims \cup {g}
  /\ UNCHANGED <<meta, store, parts, tried, open, buried, unsafe>>

Bury(g) ==
  /\ g \in trims \ buried
  /\ buried' = buried \cup {g}
  /\ UNCHANGED <<meta, store, parts, tried, open, trims, unsafe>>

Next ==
  \/ \E c \in Clients, g \in Segments :
       Alloc(c, g) \/ Open(c, g) \/ DecideTrim(c, g) \/ \E o \in Offsets : Write(c, g, o)
  \/ Grow
  \/ \E g \in Segments : Bury(g)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* The assumption that unsafe writes stand on.
OneUnsafeWriter == \A g \in Segments : Cardinality(unsafe[g]) <= 1

\* Nothing is written outside of what is allocated.
Allocated ==
  \A g \in Segments, o \in Offsets, p \in 0..(Partitions - 1) : store[p][g][o] # None => meta[g] # Nobody

\* Every step is one of AddressSpace, or none.
Refinement == Abstract!Spec

\* What must be reachable.
NeverShared == \A g \in Segments : Cardinality({store[Where(g)][g][o] : o \in Offsets} \ {None}) < 2
NeverMoved  == ~\E g \in Segments : meta[g] # Nobody /\ meta[g].where # g % parts /\ unsafe[g] # {}

Symmetry == Permutations(Clients) \cup Permutations(Offsets)
=============================================================================

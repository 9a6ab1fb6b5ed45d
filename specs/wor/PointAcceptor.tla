---------------------------- MODULE PointAcceptor ----------------------------
(***************************************************************************)
(* An acceptor for several registers, each with a promise of its own, as   *)
(* in PaxosRegister.  A capture of several registers in one ballot is the  *)
(* capture of each that has not promised as much.                          *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS Size, Ballots

VARIABLES rnd, voted

vars == <<rnd, voted>>

Registers == 1..Size

Init == rnd = [x \in Registers |-> 0] /\ voted = [x \in Registers |-> -1]

Promise(S, b) ==
  /\ rnd' = [x \in Registers |-> IF x \in S /\ b > rnd[x] THEN b ELSE rnd[x]]
  /\ UNCHANGED voted

Accept(x, b) ==
  /\ b >= rnd[x]
  /\ rnd' = [rnd EXCEPT ![x] = b]
  /\ voted' = [voted EXCEPT ![x] = b]

Next ==
  \/ \E lo, hi \in Registers, b \in Ballots : Promise(lo..hi, b)
  \/ \E x \in Registers, b \in Ballots \cup {0} : Accept(x, b)

Spec == Init /\ [][Next]_vars
=============================================================================

---------------------------- MODULE RangeAcceptor ----------------------------
(***************************************************************************)
(* An acceptor for the registers of a segment that keeps the promise for a *)
(* range of them as one record: a capture of many registers costs what one *)
(* costs.                                                                  *)
(*                                                                         *)
(* The acceptor keeps one range, the last.  What the range before it       *)
(* promised is put to the registers themselves when the new one does not   *)
(* cover it.  It is a refinement of PointAcceptor, where every register    *)
(* has a promise of its own: its ballot there is the highest of its own    *)
(* and that of the range that covers it.                                   *)
(*                                                                         *)
(* Not here: everything that is not the acceptor.                          *)
(*                                                                         *)
(* Actions that a trace of the program is made of: Capture(lo, hi, b),     *)
(* Accept(x, b).                                                           *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
  Size,          \* the registers are 1 .. Size
  Ballots,
  Flaw           \* what is wrong, or "none"

VARIABLES
  own,           \* per register: the ballot that it keeps itself
  range,         \* the last range
  voted          \* per register: the ballot that it accepted in last, or -1

vars == <<own, range, voted>>

Registers == 1..Size
Max(a, b) == IF a > b THEN a ELSE b

In(x, r) == r.lo <= x /\ x <= r.hi
Rnd(x) == IF In(x, range) THEN Max(own[x], range.b) ELSE own[x]

Point == INSTANCE PointAcceptor WITH
  rnd <- [x \in Registers |-> Rnd(x)]

Init ==
  /\ own = [x \in Registers |-> 0]
  /\ range = [lo |-> 1, hi |-> 0, b |-> 0]
  /\ voted = [x \in Registers |-> -1]

Covers(new) ==
  CASE Flaw = "the range before is forgotten" -> TRUE
    [] Flaw = "a later range is a higher one" -> new.lo <= range.lo /\ range.hi <= new.hi
    [] OTHER -> new.lo <= range.lo /\ range.hi <= new.hi /\ range.b <= new.b

Capture(lo, hi, b) ==
  LET new == [lo |-> lo, hi |-> hi, b |-> b] IN
  /\ lo <= hi
  /\ \E x \in lo..hi : b > Rnd(x)
  /\ range' = new
  /\ own' = IF Covers(new) THEN own ELSE [x \in Registers |-> Rnd(x)]
  /\ UNCHANGED voted

Accept(x, b) ==
  /\ b >= Rnd(x)
  /\ own' = [own EXCEPT ![x] = b]
  /\ voted' = [voted EXCEPT ![x] = b]
  /\ UNCHANGED range

Next ==
  \/ \E lo, hi \in Registers, b \in Ballots : Capture(lo, hi, b)
  \/ \E x \in Registers, b \in Ballots \cup {0} : Accept(x, b)

Spec == Init /\ [][Next]_vars

\* Every step is one of PointAcceptor, or none.
Refinement == Point!Spec
=============================================================================

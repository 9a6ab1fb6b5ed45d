----------------------------- MODULE FastRegister -----------------------------
(***************************************************************************)
(* A write-once register that takes a write in one round trip without a    *)
(* capture, from any number of clients.                                    *)
(*                                                                         *)
(* Ballot 0 is open to all: an acceptor takes the first value that comes,  *)
(* as long as nobody captured the register.  A value is written when a     *)
(* fast quorum has taken it: 3 of 3, or 4 of 5.  If clients were in each   *)
(* other's way, one captures and recovers: from the promises of Q it has   *)
(* to propose the value that may still have a fast quorum, which is one    *)
(* that at least |Q| + FastSize - |Acceptors| of Q took in ballot 0.       *)
(* There is one at most, because two fast quorums and a majority meet.     *)
(* Ballots above 0 are those of PaxosRegister.                             *)
(*                                                                         *)
(* Not here: reads and trims, which are as in PaxosRegister, but that a    *)
(* value counts as written in ballot 0 with a fast quorum only; sealing;   *)
(* liveness.                                                               *)
(*                                                                         *)
(* Actions that a trace of the program is made of: Promise(a, b),          *)
(* ProposeFast(v), Propose(b, v), Accept(a, b, v), Acknowledge(b, v).      *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Acceptors, Values,
  Ballots,       \* a set of numbers with 0
  FastSize,      \* how many acceptors make a fast quorum
  Flaw           \* what is wrong, or "none"

VARIABLES
  rnd, vrnd, vval,                 \* see PaxosRegister
  promises, proposals, acks,
  wanted, done

messages == <<promises, proposals, acks>>
vars     == <<rnd, vrnd, vval, messages, wanted, done>>

None == "none"

N == Cardinality(Acceptors)
Majorities == {Q \in SUBSET Acceptors : 2 * Cardinality(Q) > N}

Enough(S, b) == IF b = 0 THEN Cardinality(S) >= FastSize ELSE S \in Majorities
Ackers(b, v) == {a \in Acceptors : <<a, b, v>> \in acks}
ChosenIn(b, v) == Enough(Ackers(b, v), b)
Chosen == {v \in Values : \E b \in Ballots : ChosenIn(b, v)}

Nobody == {}
Register == INSTANCE WriteOnce WITH
  Readers <- Nobody,
  value <- IF Chosen = {} THEN None ELSE CHOOSE v \in Chosen : TRUE,
  trimmed <- FALSE,
  may <- [r \in Nobody |-> {}],
  got <- [r \in Nobody |-> None]

Init ==
  /\ rnd = [a \in Acceptors |-> 0]
  /\ vrnd = [a \in Acceptors |-> -1]
  /\ vval = [a \in Acceptors |-> None]
  /\ promises = {} /\ proposals = {} /\ acks = {}
  /\ wanted = {} /\ done = {}

Promise(a, b) ==
  /\ b > rnd[a]
  /\ rnd' = [rnd EXCEPT ![a] = b]
  /\ promises' = promises \cup {<<a, b, vrnd[a], vval[a]>>}
  /\ UNCHANGED <<vrnd, vval, proposals, acks, wanted, done>>

Send(b, v) ==
  /\ proposals' = proposals \cup {<<b, v>>}
  /\ wanted' = wanted \cup {v}
  /\ UNCHANGED <<rnd, vrnd, vval, promises, acks, done>>

ProposeFast(v) == <<0, v>> \notin proposals /\ Send(0, v)

\* As many of Q must have taken a value that a fast quorum may have taken.
Threshold(Q) ==
  Cardinality(Q) + FastSize - N +
  CASE Flaw = "the threshold is too high" -> 1
    [] Flaw = "the threshold is too low" -> -1
    [] OTHER -> 0

Allows(Q, b, v) ==
  LET told == {p \in promises : p[1] \in Q /\ p[2] = b}
      best == CHOOSE n \in {p[3] : p \in told} : \A p \in told : p[3] <= n
      Could(w) == Cardinality({p \in told : p[3] = 0 /\ p[4] = w}) >= Threshold(Q)
  IN  /\ \A a \in Q : \E p \in told : p[1] = a
      /\ CASE best = -1 -> TRUE
           [] best = 0 -> Could(v) \/ ~\E w \in Values : Could(w)
           [] OTHER -> \E p \in told : p[3] = best /\ p[4] = v

Propose(b, v) ==
  /\ b > 0
  /\ \A p \in proposals : p[1] # b
  /\ \E Q \in Majorities : Allows(Q, b, v)
  /\ Send(b, v)

Accept(a, b, v) ==
  /\ <<b, v>> \in proposals
  /\ b >= rnd[a] \/ (Flaw = "a fast write is taken after a capture" /\ b = 0 /\ vrnd[a] = -1)
  /\ vrnd[a] # b \/ (Flaw = "another value is taken in ballot 0" /\ vval[a] # v)
  /\ rnd' = [rnd EXCEPT ![a] = IF b > @ THEN b ELSE @]
  /\ vrnd' = [vrnd EXCEPT ![a] = b]
  /\ vval' = [vval EXCEPT ![a] = v]
  /\ acks' = acks \cup {<<a, b, v>>}
  /\ UNCHANGED <<promises, proposals, wanted, done>>

Acknowledge(b, v) ==
  /\ v \notin done
  /\ ChosenIn(b, v) \/ (Flaw = "a fast write counts a majority" /\ Ackers(b, v) \in Majorities)
  /\ done' = done \cup {v}
  /\ UNCHANGED <<rnd, vrnd, vval, messages, wanted>>

Next ==
  \/ \E a \in Acceptors, b \in Ballots : Promise(a, b)
  \/ \E v \in Values : ProposeFast(v)
  \/ \E b \in Ballots, v \in Values : Propose(b, v)
  \/ \E a \in Acceptors, b \in Ballots, v \in Values : Accept(a, b, v)
  \/ \E b \in Ballots, v \in Values : Acknowledge(b, v)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Why it is right *)

OneValuePerBallot == \* I1, but for ballot 0
  \A p, q \in proposals : p[1] = q[1] /\ p[1] > 0 => p = q

OneValuePerAcceptor == \* what is left of it in ballot 0
  \A m, n \in acks : m[1] = n[1] /\ m[2] = n[2] => m = n

\* Value w may be, or become, chosen in ballot c.
Possible(c, w) ==
  Enough({a \in Acceptors : <<a, c, w>> \in acks \/ (rnd[a] <= c /\ vrnd[a] < c)}, c)

ProposalsAreSafe == \* I5
  \A p \in proposals : p[1] > 0 =>
    \A c \in {c \in Ballots : c < p[1]}, w \in Values \ {p[2]} : ~Possible(c, w)

Agreement == Cardinality(Chosen) <= 1
ToldOne == \A v, w \in done : v = w

\* Every step is one of WriteOnce, or none.
Refinement == Register!Spec

-----------------------------------------------------------------------------
(* What must be reachable *)

NeverFast      == ~\E v \in Values : ChosenIn(0, v)
\* Two clients were in each other's way, and a third ballot settles it.
NeverConflict  == ~\E v \in Values : ~ChosenIn(0, v) /\ v \in Chosen /\ \A w \in Values : Ackers(0, w) # {}
NeverRecovered == ~\E v \in Values, b \in Ballots \ {0} : ChosenIn(0, v) /\ ChosenIn(b, v)

Symmetry == Permutations(Acceptors) \cup Permutations(Values)
=============================================================================

---------------------------- MODULE PaxosRegister ----------------------------
(***************************************************************************)
(* A write-once register kept by acceptors, each of which is a single      *)
(* Paxos acceptor for it.                                                  *)
(*                                                                         *)
(* A client captures the register with a ballot: acceptors promise, and    *)
(* say what they have accepted.  It then proposes one value in the ballot, *)
(* its own only if no promise of a majority told of another.  Ballot 0     *)
(* needs no promise (an unsafe write); that there is one value in it is up *)
(* to the application.  A read asks a majority; if the answers differ it   *)
(* sends the newest value again, in its own ballot, and waits for a        *)
(* majority.  A trim is decided elsewhere; acceptors then put a tombstone  *)
(* in the place of their state.                                            *)
(*                                                                         *)
(* Messages are sets that only grow: to lose one is not to act upon it,    *)
(* and what is there may be taken twice and in any order.  An acceptor's   *)
(* answer and the durable state behind it are one step.  Every ballot is   *)
(* open to some client; that none has two owners is the rule that a        *)
(* proposal is made once in it.  The proposal that a reader sends again is *)
(* in the set already, so repair is Accept.                                *)
(*                                                                         *)
(* Not here: sealing and epochs (Reconfig), ranges of registers            *)
(* (RangeAcceptor), listeners, liveness.                                   *)
(*                                                                         *)
(* Actions that a trace of the program is made of: Promise(a, b),          *)
(* Propose(b, v), ProposeUnsafe(v), Accept(a, b, v), Acknowledge(b, v),    *)
(* DecideTrim, Tombstone(a), BeginRead(r), Reply(r, a), EndRead(r, x).     *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Acceptors, Values, Readers,
  Ballots,       \* a set of numbers; 0 is for unsafe writes
  Trims,         \* whether somebody trims the register
  Flaw           \* what is wrong, or "none"

ASSUME Ballots \subseteq Nat /\ Trims \in BOOLEAN

VARIABLES
  \* an acceptor's durable state
  rnd,           \* the highest ballot that it promised or accepted in
  vrnd, vval,    \* the last one that it accepted in, or -1, and the value
  tomb,          \* whether it has the tombstone
  \* messages
  promises,      \* <<acceptor, ballot, vrnd, vval>>
  proposals,     \* <<ballot, value>>
  acks,          \* <<acceptor, ballot, value>>
  replies,       \* per reader: <<acceptor, tomb, vrnd, vval>>
  trimDecided,   \* whether the trim is decided
  \* what clients asked and learned; see WriteOnce
  wanted, done, may, got

state    == <<rnd, vrnd, vval, tomb>>
messages == <<promises, proposals, acks>>
reads    == <<replies, may, got>>
clients  == <<wanted, done>>
vars     == <<state, messages, reads, clients, trimDecided>>

None      == "none"
Unwritten == "unwritten"
Trimmed   == "trimmed"

Quorums == {Q \in SUBSET Acceptors : 2 * Cardinality(Q) > Cardinality(Acceptors)}

ChosenIn(b, v) == \E Q \in Quorums : \A a \in Q : <<a, b, v>> \in acks
Chosen == {v \in Values : \E b \in Ballots : ChosenIn(b, v)}
Buried == \E Q \in Quorums : \A a \in Q : tomb[a]

Register == INSTANCE WriteOnce WITH
  value <- IF Chosen = {} THEN None ELSE CHOOSE v \in Chosen : TRUE,
  trimmed <- Buried

Init ==
  /\ rnd = [a \in Acceptors |-> 0]
  /\ vrnd = [a \in Acceptors |-> -1]
  /\ vval = [a \in Acceptors |-> None]
  /\ tomb = [a \in Acceptors |-> FALSE]
  /\ promises = {} /\ proposals = {} /\ acks = {}
  /\ replies = [r \in Readers |-> {}]
  /\ trimDecided = FALSE
  /\ wanted = {} /\ done = {}
  /\ may = [r \in Readers |-> {}]
  /\ got = [r \in Readers |-> None]

-----------------------------------------------------------------------------
(* Capture and write *)

Promise(a, b) ==
  /\ b > rnd[a] /\ ~tomb[a]
  /\ rnd' = [rnd EXCEPT ![a] = b]
  /\ promises' = promises \cup {<<a, b, vrnd[a], vval[a]>>}
  /\ UNCHANGED <<vrnd, vval, tomb, proposals, acks, reads, clients, trimDecided>>

Send(b, v) ==
  /\ proposals' = proposals \cup {<<b, v>>}
  /\ wanted' = IF Buried THEN wanted ELSE wanted \cup {v}
  /\ UNCHANGED <<state, promises, acks, reads, done, trimDecided>>

\* What the promises of Q in ballot b allow to propose.
Allows(Q, b, v) ==
  LET told == {p \in promises : p[1] \in Q /\ p[2] = b}
      best == CHOOSE n \in {p[3] : p \in told} : \A p \in told : p[3] <= n
  IN  /\ \A a \in Q : \E p \in told : p[1] = a
      /\ best = -1 \/ (\E p \in told : p[3] = best /\ p[4] = v) \/ Flaw = "phase one is ignored"

Propose(b, v) ==
  /\ b > 0
  /\ (\A p \in proposals : p[1] # b) \/ Flaw = "a ballot has two owners"
  /\ \E Q \in Quorums : Allows(Q, b, v)
  /\ Send(b, v)

ProposeUnsafe(v) ==
  /\ 0 \in Ballots
  /\ (\A p \in proposals : p[1] # 0) \/ Flaw \in {"two unsafe writers", "another value is taken in the same ballot"}
  /\ Send(0, v)

Accept(a, b, v) ==
  /\ <<b, v>> \in proposals /\ <<a, b, v>> \notin acks
  /\ ~tomb[a]
  /\ b >= rnd[a] \/ (Flaw = "an unsafe write is taken after a capture" /\ b = 0 /\ vrnd[a] = -1)
  /\ vrnd[a] # b \/ Flaw = "another value is taken in the same ballot"
  /\ rnd' = [rnd EXCEPT ![a] = IF b > @ THEN b ELSE @]
  /\ vrnd' = [vrnd EXCEPT ![a] = b]
  /\ vval' = [vval EXCEPT ![a] = v]
  /\ acks' = acks \cup {<<a, b, v>>}
  /\ UNCHANGED <<tomb, promises, proposals, replies, got, clients, trimDecided>>
  /\ may' = Register!Grown

Counted(b, v) ==
  IF Flaw = "ballots are counted together" THEN {a \in Acceptors : \E c \in Ballots : <<a, c, v>> \in acks}
  ELSE {a \in Acceptors : <<a, b, v>> \in acks}

Acknowledge(b, v) ==
  /\ v \notin done
  /\ Counted(b, v) \in Quorums
  /\ done' = done \cup {v}
  /\ UNCHANGED <<state, messages, reads, wanted, trimDecided>>

-----------------------------------------------------------------------------
(* Trim *)

Clear(a) ==
  /\ rnd' = [rnd EXCEPT ![a] = 0]
  /\ vrnd' = [vrnd EXCEPT ![a] = -1]
  /\ vval' = [vval EXCEPT ![a] = None]

DecideTrim ==
  /\ Trims /\ ~trimDecided
  /\ trimDecided' = TRUE
  /\ UNCHANGED <<state, messages, reads, clients>>

Tombstone(a) ==
  /\ trimDecided /\ ~tomb[a]
  /\ tomb' = [tomb EXCEPT ![a] = TRUE]
  /\ Clear(a)
  /\ UNCHANGED <<messages, replies, got, clients, trimDecided>>
  /\ may' = Register!Grown

-----------------------------------------------------------------------------
(* Read *)

BeginRead(r) ==
  /\ may[r] = {} /\ got[r] = None
  /\ may' = [may EXCEPT ![r] = {Register!Answer}]
  /\ UNCHANGED <<state, messages, replies, got, clients, trimDecided>>

Reply(r, a) ==
  /\ may[r] # {}
  /\ \A m \in replies[r] : m[1] # a
  /\ replies' = [replies EXCEPT ![r] = @ \cup {<<a, tomb[a], vrnd[a], vval[a]>>}]
  /\ UNCHANGED <<state, messages, may, got, clients, trimDecided>>

Asked(r) == {m[1] : m \in replies[r]}

Readable(r, x) ==
  CASE x = Trimmed ->
         /\ \E m \in replies[r] : m[2]
         /\ Buried \/ Flaw = "one tombstone is a trim"
    [] x = Unwritten ->
         /\ Asked(r) \in Quorums \/ (Flaw = "one server says unwritten" /\ replies[r] # {})
         /\ \A m \in replies[r] : ~m[2] /\ m[3] = -1
    [] OTHER ->
         /\ Asked(r) \in Quorums
         /\ \A m \in replies[r] : ~m[2]
         /\ \E m \in replies[r] :
              /\ m[4] = x /\ \A n \in replies[r] : n[3] <= m[3]
              /\ ChosenIn(m[3], x) \/ Flaw = "a read repairs nothing"

EndRead(r, x) ==
  /\ may[r] # {}
  /\ Readable(r, x)
  /\ got' = [got EXCEPT ![r] = x]
  /\ may' = [may EXCEPT ![r] = {}]
  /\ replies' = [replies EXCEPT ![r] = {}]
  /\ UNCHANGED <<state, messages, clients, trimDecided>>

-----------------------------------------------------------------------------
(* What a server must not do when it comes back, or trims *)

Wrong(a) ==
  \/ /\ Flaw = "a promise is not durable"
     /\ rnd' = [rnd EXCEPT ![a] = IF vrnd[a] > 0 THEN vrnd[a] ELSE 0]
     /\ UNCHANGED <<vrnd, vval, tomb>>
  \/ /\ Flaw = "a server comes back with an empty disk"
     /\ Clear(a) /\ UNCHANGED tomb
  \/ /\ Flaw = "a tombstone is forgotten" /\ tomb[a]
     /\ tomb' = [tomb EXCEPT ![a] = FALSE]
     /\ UNCHANGED <<rnd, vrnd, vval>>
  \/ /\ Flaw = "state is deleted before the tombstone" /\ trimDecided
     /\ Clear(a) /\ UNCHANGED tomb

Break(a) ==
  /\ Wrong(a)
  /\ UNCHANGED <<messages, replies, got, clients, trimDecided>>
  /\ may' = Register!Grown

Next ==
  \/ \E a \in Acceptors, b \in Ballots : Promise(a, b)
  \/ \E b \in Ballots, v \in Values : Propose(b, v)
  \/ \E v \in Values : ProposeUnsafe(v)
  \/ \E a \in Acceptors, b \in Ballots, v \in Values : Accept(a, b, v)
  \/ \E b \in Ballots, v \in Values : Acknowledge(b, v)
  \/ DecideTrim
  \/ \E a \in Acceptors : Tombstone(a)
  \/ \E r \in Readers : BeginRead(r)
  \/ \E r \in Readers, a \in Acceptors : Reply(r, a)
  \/ \E r \in Readers, x \in Values \cup {Unwritten, Trimmed} : EndRead(r, x)
  \/ \E a \in Acceptors : Break(a)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Why it is right.  The invariant is inductive in this form; here it is   *)
(* checked for the states that are reached.                                *)

TypeOK ==
  /\ rnd \in [Acceptors -> Nat]
  /\ vrnd \in [Acceptors -> {-1} \cup Ballots]
  /\ vval \in [Acceptors -> Values \cup {None}]
  /\ tomb \in [Acceptors -> BOOLEAN]
  /\ proposals \subseteq Ballots \X Values
  /\ acks \subseteq Acceptors \X Ballots \X Values

OneValuePerBallot == \* I1
  \A p, q \in proposals : p[1] = q[1] => p = q

AcksAreProposed == \* I2
  \A m \in acks : <<m[2], m[3]>> \in proposals

MemoryIsTrue == \* I3
  \A a \in Acceptors : ~tomb[a] =>
    /\ vrnd[a] <= rnd[a]
    /\ vrnd[a] # -1 => <<a, vrnd[a], vval[a]>> \in acks
    /\ \A m \in acks : m[1] = a => m[2] <= vrnd[a]

PromisesAreTrue == \* I4
  \A p \in promises :
    /\ tomb[p[1]] \/ rnd[p[1]] >= p[2]
    /\ p[3] # -1 => p[3] < p[2] /\ <<p[1], p[3], p[4]>> \in acks
    /\ \A m \in acks : m[1] = p[1] => m[2] <= p[3] \/ m[2] >= p[2]

\* Acceptor a has accepted nothing in ballot c, and never will.
NoMore(a, c) == (tomb[a] \/ rnd[a] > c) /\ \A m \in acks : m[1] = a => m[2] # c

ProposalsAreSafe == \* I5
  \A p \in proposals : \A c \in {c \in Ballots : c < p[1]} :
    \E Q \in Quorums : \A a \in Q : <<a, c, p[2]>> \in acks \/ NoMore(a, c)

Agreement == Cardinality(Chosen) <= 1

\* Clients are told of values that are chosen only.
ToldIsChosen == done \cup ({got[r] : r \in Readers} \ {None, Unwritten, Trimmed}) \subseteq Chosen

ToldOne == Register!ToldOne

\* Every step is one of WriteOnce, or none.
Refinement == Register!Spec

-----------------------------------------------------------------------------
(* What must be reachable *)

NeverWritten   == done = {}
NeverAdopted   == \A p, q \in proposals : p[2] = q[2] => p = q
NeverUnwritten == \A r \in Readers : got[r] # Unwritten
NeverRead      == \A r \in Readers : got[r] \notin Values
NeverTrimmed   == \A r \in Readers : got[r] # Trimmed
\* A reader has to wait for a majority that was not there when it asked.
NeverRepaired  ==
  \A r \in Readers : ~(may[r] # {} /\ Asked(r) = Acceptors /\ Chosen # {} /\
    \A b \in Ballots, v \in Values : {m[1] : m \in {n \in replies[r] : n[3] = b /\ n[4] = v}} \notin Quorums)

Symmetry == Permutations(Acceptors) \cup Permutations(Values)
=============================================================================

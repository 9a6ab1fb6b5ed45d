------------------------------ MODULE Reconfig ------------------------------
(***************************************************************************)
(* A write-once register whose acceptors are replaced while it is open.    *)
(*                                                                         *)
(* Epoch 0 has the acceptors of Old, epoch 1 those of New; within an epoch *)
(* the protocol is that of PaxosRegister.  A reconfigurer seals a majority *)
(* of Old, each of which answers with its state and takes nothing more;    *)
(* adopts the value of the highest ballot that it saw, or none; and stages *)
(* it, with its own name, on a majority of New.  A write-once register in  *)
(* another place decides which reconfigurer won.  A server of New becomes  *)
(* active with the stage of the winner, and is mute before; the adopted    *)
(* value counts as accepted in ballot 0 of epoch 1.  Votes are counted per *)
(* epoch and ballot.                                                       *)
(*                                                                         *)
(* A sealed server does not answer that it has no value either: a reader   *)
(* in epoch 0 that needs a majority for it meets a sealed one.             *)
(*                                                                         *)
(* Start = "fresh" begins with nothing.  Start = "split" begins behind the *)
(* steps that two reconfigurers need to adopt different values: a1 has     *)
(* accepted v in ballot 1 and a3 has accepted w in ballot 2, of which      *)
(* neither is chosen; Left has sealed a1 and a2, Right a2 and a3.          *)
(*                                                                         *)
(* Not here: unsafe writes and trims (PaxosRegister); the register that    *)
(* decides is atomic; more than one change; copies of closed segments,     *)
(* which need no seal since they never change; liveness.                   *)
(*                                                                         *)
(* Actions that a trace of the program is made of: Promise(e, a, b),       *)
(* Propose(e, b, v), Accept(e, a, b, v), Acknowledge(e, b, v), Seal(r, a), *)
(* Adopt(r), Stage(r, a), Decide(r), Activate(a, r), BeginRead(c),         *)
(* Reply(c, e, a), EndRead(c, x).                                          *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Old, New,      \* the acceptors of the two epochs
  Values, Readers, Reconfigurers,
  Ballots,       \* numbers above 0, the same in both epochs
  Start,         \* "fresh" or "split"
  Flaw           \* what is wrong, or "none"

ASSUME Start \in {"fresh", "split"}

Acceptors == Old \cup New
Epochs    == {0, 1}
Members(e) == IF e = 0 THEN Old ELSE New

VARIABLES
  rnd, vrnd, vval,               \* per epoch and acceptor; see PaxosRegister
  sealed,        \* the acceptors of Old that are
  active,        \* the acceptors of New that are
  stages,        \* per acceptor: the reconfigurers whose stage it has
  promises,      \* <<epoch, acceptor, ballot, vrnd, vval>>
  proposals,     \* <<epoch, ballot, value>>
  acks,          \* <<epoch, acceptor, ballot, value>>
  seen,          \* per reconfigurer: <<acceptor, vrnd, vval>> of those that it sealed
  adopted,       \* per reconfigurer: a value, None or NotYet
  winner,        \* the reconfigurer that was decided, or None
  replies,       \* per reader: <<epoch, acceptor, vrnd, vval>>
  wanted, done, may, got         \* see WriteOnce

state    == <<rnd, vrnd, vval>>
messages == <<promises, proposals>>
change   == <<sealed, active, stages, seen, adopted, winner>>
reads    == <<replies, may, got>>
clients  == <<wanted, done>>
vars     == <<state, messages, acks, change, reads, clients>>

None      == "none"
NotYet    == "not yet"
Unwritten == "unwritten"

Majority(S, e) == 2 * Cardinality(S \cap Members(e)) > Cardinality(Members(e))
Quorums(e) == {Q \in SUBSET Members(e) : Majority(Q, e)}

ChosenIn(e, b, v) == Majority({a \in Members(e) : <<e, a, b, v>> \in acks}, e)
Chosen == {v \in Values : \E e \in Epochs, b \in Ballots \cup {0} : ChosenIn(e, b, v)}

Register == INSTANCE WriteOnce WITH
  value <- IF Chosen = {} THEN None ELSE CHOOSE v \in Chosen : TRUE,
  trimmed <- FALSE

Idle ==
  /\ active = {}
  /\ stages = [a \in Acceptors |-> {}]
  /\ adopted = [r \in Reconfigurers |-> NotYet]
  /\ winner = None
  /\ replies = [c \in Readers |-> {}]
  /\ done = {}
  /\ may = [c \in Readers |-> {}]
  /\ got = [c \in Readers |-> None]

Fresh ==
  /\ rnd = [e \in Epochs |-> [a \in Acceptors |-> 0]]
  /\ vrnd = [e \in Epochs |-> [a \in Acceptors |-> -1]]
  /\ vval = [e \in Epochs |-> [a \in Acceptors |-> None]]
  /\ promises = {} /\ proposals = {} /\ acks = {} /\ wanted = {}
  /\ sealed = {}
  /\ seen = [r \in Reconfigurers |-> {}]
  /\ Idle

\* For Start = "split" only, where the names of its configuration stand for themselves.
Split ==
  \E v, w \in Values, p, q \in Reconfigurers, a1, a2, a3 \in Old :
    /\ v # w /\ p # q /\ Cardinality({a1, a2, a3}) = 3 /\ a1 \notin New
    /\ rnd = [e \in Epochs |-> [a \in Acceptors |-> IF e = 1 \/ a \notin Old THEN 0 ELSE IF a = a1 THEN 1 ELSE 2]]
    /\ vrnd = [e \in Epochs |-> [a \in Acceptors |->
         IF e = 0 /\ a = a1 THEN 1 ELSE IF e = 0 /\ a = a3 THEN 2 ELSE -1]]
    /\ vval = [e \in Epochs |-> [a \in Acceptors |->
         IF e = 0 /\ a = a1 THEN v ELSE IF e = 0 /\ a = a3 THEN w ELSE None]]
    /\ promises = {<<0, a1, 1, -1, None>>, <<0, a2, 1, -1, None>>, <<0, a2, 2, -1, None>>, <<0, a3, 2, -1, None>>}
    /\ proposals = {<<0, 1, v>>, <<0, 2, w>>}
    /\ acks = {<<0, a1, 1, v>>, <<0, a3, 2, w>>}
    /\ wanted = {v, w}
    /\ sealed = Old
    /\ seen = [r \in Reconfigurers |-> IF r = p THEN {<<a1, 1, v>>, <<a2, -1, None>>}
                                       ELSE {<<a2, -1, None>>, <<a3, 2, w>>}]
    /\ Idle

Init == IF Start = "fresh" THEN Fresh ELSE Split

-----------------------------------------------------------------------------
(* Within an epoch *)

Takes(e, a) ==
  /\ a \in Members(e)
  /\ IF e = 0 THEN a \notin sealed \/ Flaw = "a sealed server takes writes" ELSE a \in active

Promise(e, a, b) ==
  /\ Takes(e, a) /\ b > rnd[e][a]
  /\ rnd' = [rnd EXCEPT ![e][a] = b]
  /\ promises' = promises \cup {<<e, a, b, vrnd[e][a], vval[e][a]>>}
  /\ UNCHANGED <<vrnd, vval, proposals, acks, change, reads, clients>>

Allows(Q, e, b, v) ==
  LET told == {p \in promises : p[1] = e /\ p[2] \in Q /\ p[3] = b}
      best == CHOOSE n \in {p[4] : p \in told} : \A p \in told : p[4] <= n
  IN  /\ \A a \in Q : \E p \in told : p[2] = a
      /\ best = -1 \/ \E p \in told : p[4] = best /\ p[5] = v

Propose(e, b, v) ==
  /\ \A p \in proposals : p[1] # e \/ p[2] # b
  /\ \E Q \in Quorums(e) : Allows(Q, e, b, v)
  /\ proposals' = proposals \cup {<<e, b, v>>}
  /\ wanted' = wanted \cup {v}
  /\ UNCHANGED <<state, promises, acks, change, reads, done>>

Accept(e, a, b, v) ==
  /\ <<e, b, v>> \in proposals /\ <<e, a, b, v>> \notin acks
  /\ Takes(e, a) /\ b >= rnd[e][a] /\ vrnd[e][a] # b
  /\ rnd' = [rnd EXCEPT ![e][a] = b]
  /\ vrnd' = [vrnd EXCEPT ![e][a] = b]
  /\ vval' = [vval EXCEPT ![e][a] = v]
  /\ acks' = acks \cup {<<e, a, b, v>>}
  /\ UNCHANGED <<messages, change, replies, got, clients>>
  /\ may' = Register!Grown

Acknowledge(e, b, v) ==
  /\ v \notin done
  /\ \/ ChosenIn(e, b, v)
     \/ /\ Flaw = "epochs are counted together"
        /\ \E Q \in Quorums(e) : \A a \in Q : \E d \in Epochs : <<d, a, b, v>> \in acks
  /\ done' = done \cup {v}
  /\ UNCHANGED <<state, messages, acks, change, reads, wanted>>

-----------------------------------------------------------------------------
(* From one epoch to the next *)

Seal(r, a) ==
  /\ a \in Old /\ adopted[r] = NotYet
  /\ \A s \in seen[r] : s[1] # a
  /\ sealed' = sealed \cup {a}
  /\ seen' = [seen EXCEPT ![r] = @ \cup {<<a, vrnd[0][a], vval[0][a]>>}]
  /\ UNCHANGED <<state, messages, acks, active, stages, adopted, winner, reads, clients>>

Adopt(r) ==
  LET from == {s[1] : s \in seen[r]} IN
  /\ adopted[r] = NotYet
  /\ Majority(from, 0) \/ (Flaw = "one server is sealed" /\ from # {})
  /\ \E s \in seen[r] :
       /\ \A t \in seen[r] : t[2] <= s[2] \/ (Flaw = "an older value is adopted" /\ s[2] # -1)
       /\ adopted' = [adopted EXCEPT ![r] = s[3]]
  /\ UNCHANGED <<state, messages, acks, sealed, active, stages, seen, winner, reads, clients>>

Stage(r, a) ==
  /\ a \in New /\ adopted[r] # NotYet /\ r \notin stages[a]
  /\ stages' = [stages EXCEPT ![a] = @ \cup {r}]
  /\ UNCHANGED <<state, messages, acks, sealed, active, seen, adopted, winner, reads, clients>>

Decide(r) ==
  /\ winner = None
  /\ Majority({a \in New : r \in stages[a]}, 1)
  /\ winner' = r
  /\ UNCHANGED <<state, messages, acks, sealed, active, stages, seen, adopted, reads, clients>>

Activate(a, r) ==
  LET v == IF Flaw = "a new server starts empty" THEN None ELSE adopted[r] IN
  /\ a \in New \ active
  /\ r \in stages[a] \/ Flaw = "a new server starts empty"
  /\ \/ winner = r
     \/ Flaw = "any stage is activated" /\ winner # None
     \/ Flaw = "a stage is active before it is decided"
  /\ active' = active \cup {a}
  /\ IF v = None THEN UNCHANGED <<vrnd, vval, acks>>
     ELSE /\ vrnd' = [vrnd EXCEPT ![1][a] = 0]
          /\ vval' = [vval EXCEPT ![1][a] = v]
          /\ acks' = acks \cup {<<1, a, 0, v>>}
  /\ UNCHANGED <<rnd, messages, sealed, stages, seen, adopted, winner, replies, got, clients>>
  /\ may' = Register!Grown

-----------------------------------------------------------------------------
(* Read *)

BeginRead(c) ==
  /\ may[c] = {} /\ got[c] = None
  /\ may' = [may EXCEPT ![c] = {Register!Answer}]
  /\ UNCHANGED <<state, messages, acks, change, replies, got, clients>>

Reply(c, e, a) ==
  /\ may[c] # {} /\ a \in Members(e)
  /\ \A m \in replies[c] : m[1] # e \/ m[2] # a
  /\ IF e = 1 THEN a \in active
     ELSE vrnd[e][a] # -1 \/ a \notin sealed \/ Flaw = "a sealed server says unwritten"
  /\ replies' = [replies EXCEPT ![c] = @ \cup {<<e, a, vrnd[e][a], vval[e][a]>>}]
  /\ UNCHANGED <<state, messages, acks, change, may, got, clients>>

Readable(c, e, x) ==
  LET told == {m \in replies[c] : m[1] = e} IN
  /\ Majority({m[2] : m \in told}, e)
  /\ IF x = Unwritten THEN \A m \in told : m[3] = -1
     ELSE \E m \in told : /\ m[4] = x /\ \A n \in told : n[3] <= m[3]
                          /\ ChosenIn(e, m[3], x)

EndRead(c, x) ==
  /\ may[c] # {}
  /\ \E e \in Epochs : Readable(c, e, x)
  /\ got' = [got EXCEPT ![c] = x]
  /\ may' = [may EXCEPT ![c] = {}]
  /\ replies' = [replies EXCEPT ![c] = {}]
  /\ UNCHANGED <<state, messages, acks, change, clients>>

Next ==
  \/ \E e \in Epochs, a \in Acceptors, b \in Ballots : Promise(e, a, b)
  \/ \E e \in Epochs, b \in Ballots, v \in Values : Propose(e, b, v)
  \/ \E e \in Epochs, a \in Acceptors, b \in Ballots, v \in Values : Accept(e, a, b, v)
  \/ \E e \in Epochs, b \in Ballots \cup {0}, v \in Values : Acknowledge(e, b, v)
  \/ \E r \in Reconfigurers, a \in Acceptors : Seal(r, a)
  \/ \E r \in Reconfigurers : Adopt(r)
  \/ \E r \in Reconfigurers, a \in Acceptors : Stage(r, a)
  \/ \E r \in Reconfigurers : Decide(r)
  \/ \E r \in Reconfigurers, a \in Acceptors : Activate(a, r)
  \/ \E c \in Readers : BeginRead(c)
  \/ \E c \in Readers, e \in Epochs, a \in Acceptors : Reply(c, e, a)
  \/ \E c \in Readers, x \in Values \cup {Unwritten} : EndRead(c, x)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Why it is right *)

TypeOK ==
  /\ vrnd \in [Epochs -> [Acceptors -> {-1, 0, 1, 2} \cup Ballots]]
  /\ vval \in [Epochs -> [Acceptors -> Values \cup {None}]]
  /\ sealed \subseteq Old /\ active \subseteq New
  /\ stages \in [Acceptors -> SUBSET Reconfigurers]
  /\ adopted \in [Reconfigurers -> Values \cup {None, NotYet}]
  /\ winner \in Reconfigurers \cup {None}

OneValuePerBallot == \* I1, in each epoch
  \A p, q \in proposals : p[1] = q[1] /\ p[2] = q[2] => p = q

WinnerAdopts == \* R1
  winner # None => \A v \in Values, b \in Ballots : ChosenIn(0, b, v) => adopted[winner] = v

SealedFirst == \* R2
  winner # None => Majority(sealed, 0)

ActiveHasWinner == \* R3
  /\ active # {} => winner # None
  /\ \A m \in acks : m[1] = 1 /\ m[3] = 0 => m[2] \in active /\ m[4] = adopted[winner]
  /\ \A a \in active : adopted[winner] # None => <<1, a, 0, adopted[winner]>> \in acks

\* What a server answered when it was sealed stays true.
SealedStays == [][\A a \in sealed : vrnd'[0][a] = vrnd[0][a]]_<<sealed, vrnd>>

Agreement == Cardinality(Chosen) <= 1

ToldOne == Register!ToldOne
ToldIsChosen == done \subseteq Chosen

\* Every step is one of WriteOnce, or none.
Refinement == Register!Spec

\* The same from a start that is not the beginning.
StepsRefine == [][Register!Next]_(Register!vars)

-----------------------------------------------------------------------------
(* What must be reachable *)

NeverCarried   == ~\E v \in Values, b \in Ballots : ChosenIn(0, b, v) /\ ChosenIn(1, 0, v)
NeverDropped   == ~\E v \in Values, b \in Ballots : <<0, b, v>> \in proposals /\ \E w \in Values \ {v} : ChosenIn(1, b, w)
NeverDiffer    == \A r, s \in Reconfigurers : NotYet \in {adopted[r], adopted[s]} \/ adopted[r] = adopted[s]
NeverUnwritten == \A c \in Readers : ~(got[c] = Unwritten /\ active # {} /\ acks # {})
NeverReadNew   == \A c \in Readers : ~(got[c] \in Values /\ ~\E b \in Ballots : ChosenIn(0, b, got[c]))

Symmetry == Permutations(Values) \cup Permutations(Reconfigurers) \cup Permutations(Old \cap New)
=============================================================================

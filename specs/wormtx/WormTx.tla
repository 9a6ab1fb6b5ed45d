-------------------------------- MODULE WormTx --------------------------------
(***************************************************************************)
(* Atomic commit with one write-once register for the vote of each         *)
(* participant (a resource manager), kept by 2F + 1 servers.  Nobody       *)
(* decides: the outcome is a function of the votes.  So nobody needs to be *)
(* waited for: a participant that gets impatient captures the register of  *)
(* another and writes no, or what phase one of the capture saw.            *)
(*                                                                         *)
(* The variants differ in who begins, whether registers were captured      *)
(* before, and who listens:                                                *)
(*                                                                         *)
(*   A8   a transaction manager asks, votes are captured and written, and  *)
(*        reported to the manager, who tells the outcome                   *)
(*   B6   registers are captured ahead of time                             *)
(*   C5   the manager listens to the servers, who notify it                *)
(*   D4   the manager asks; all participants listen                        *)
(*   E3   there is no manager; the first participant asks the others       *)
(*   F2   all participants begin by themselves                             *)
(*                                                                         *)
(* A server's acknowledgement of a write is its notification too, and the  *)
(* answer to a read; whoever counts them counts per register and ballot.   *)
(* Messages are sets that only grow, as in PaxosRegister.  A participant's *)
(* vote is durable before it is sent, and a dead participant stays dead:   *)
(* to come back is to be slow.                                             *)
(*                                                                         *)
(* Register i has ballot 1 for participant i, ballot 1 + j for j, and a    *)
(* last one for i again, which it uses when all others are dead.  In the   *)
(* program ballots do not end and participants back off; here an impatient *)
(* participant captures a register once, so that a behaviour ends.         *)
(*                                                                         *)
(* Not here: locks, data and recovery of a participant (TxKV); more than   *)
(* one transaction; message delays, which are counted in the simulator.    *)
(*                                                                         *)
(* Actions that a trace of the program is made of: Begin, Ask(i),          *)
(* Choose(i, x), Capture(i), Suspect(j, i), Recapture(i),                  *)
(* Promise(s, i, b), Propose(j, i, b), Accept(s, i, b, x), Report(i),      *)
(* Resolve, TellByManager(i), Learn(i), and the failures Die(i),           *)
(* DieManager, Crash(s).                                                   *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  N,             \* participants 1 .. N
  Servers,
  Variant,       \* one of the above
  Down,          \* the servers that are dead from the start
  MaxCrashes,    \* how many more may crash
  MaxDead,       \* how many participants may die
  ManagerDies,   \* whether the manager may
  Votes,         \* what participants may want: a subset of {"yes", "no"}
  Patient,       \* whether participants suspect only who is dead, or may not have been asked
  Flaw           \* what is wrong, or "none"

RMs     == 1..N
Ballots == 1..(N + 2)

ASSUME Variant \in {"A8", "B6", "C5", "D4", "E3", "F2"}

VARIABLES
  begun,         \* who knows of the transaction
  asked,         \* whether the others are being asked
  intends,       \* per participant: what it wants to vote, or None
  captures,      \* <<register, ballot>> asked for
  rnd, vrnd, vval,   \* per register and server; see PaxosRegister
  promises,      \* <<register, server, ballot, vrnd, vval>>
  proposals,     \* <<register, ballot, vote>>
  acks,          \* <<register, server, ballot, vote>>
  reported,      \* participants that told the manager their vote
  verdict,       \* what the manager found, or None
  told,          \* per participant: the outcome that it knows, or None
  dead, managerDead, crashed

register == <<captures, rnd, vrnd, vval, promises, proposals, acks>>
manager  == <<reported, verdict>>
failures == <<dead, managerDead, crashed>>
vars     == <<begun, asked, intends, register, manager, told, failures>>

None == "none"  Yes == "yes"  No == "no"  Commit == "commit"  Abort == "abort"

HasManager == Variant \in {"A8", "B6", "C5", "D4"}
\* The manager tells the outcome; else participants find it themselves.
Tells      == Variant \in {"A8", "B6", "C5"}
Captured   == Variant # "A8"

Majority(S) == 2 * Cardinality(S) > Cardinality(Servers)
Ackers(i, b, x) == {s \in Servers : <<i, s, b, x>> \in acks}
Visible(i, x) ==
  CASE Flaw = "one notification is enough" -> \E b \in Ballots : Ackers(i, b, x) # {}
    [] Flaw = "notifications of all ballots are counted together" -> Majority(UNION {Ackers(i, b, x) : b \in Ballots})
    [] OTHER -> \E b \in Ballots : Majority(Ackers(i, b, x))

\* The votes that are decided.
Chosen(i) == {x \in {Yes, No} : \E b \in Ballots : Majority(Ackers(i, b, x))}

AC == INSTANCE AtomicCommit WITH
  vote <- [i \in RMs |-> IF Chosen(i) = {} THEN None ELSE CHOOSE x \in Chosen(i) : TRUE]

Init ==
  /\ begun = IF Variant = "F2" THEN RMs ELSE {}
  /\ asked = FALSE
  /\ intends = [i \in RMs |-> None]
  /\ captures = IF Captured THEN {<<i, 1>> : i \in RMs} ELSE {}
  /\ rnd = [i \in RMs |-> [s \in Servers |-> IF Captured THEN 1 ELSE 0]]
  /\ vrnd = [i \in RMs |-> [s \in Servers |-> 0]]
  /\ vval = [i \in RMs |-> [s \in Servers |-> None]]
  /\ promises = IF Captured THEN {<<i, s, 1, 0, None>> : i \in RMs, s \in Servers} ELSE {}
  /\ proposals = {} /\ acks = {}
  /\ reported = {} /\ verdict = None
  /\ told = [i \in RMs |-> None]
  /\ dead = {} /\ managerDead = FALSE /\ crashed = Down

-----------------------------------------------------------------------------
(* The transaction begins *)

\* Participant 1 begins: it tells the manager, or knows itself.
Begin ==
  /\ Variant # "F2" /\ ~asked /\ 1 \notin dead
  /\ asked' = TRUE
  /\ begun' = IF HasManager THEN begun ELSE begun \cup {1}
  /\ UNCHANGED <<intends, register, manager, told, failures>>

Ask(i) ==
  /\ asked /\ i \notin begun /\ i \notin dead
  /\ HasManager => ~managerDead
  /\ begun' = begun \cup {i}
  /\ UNCHANGED <<asked, intends, register, manager, told, failures>>

\* It got its locks and wrote its log, or not.
Choose(i, x) ==
  /\ i \in begun \ dead /\ intends[i] = None
  /\ intends' = [intends EXCEPT ![i] = x]
  /\ UNCHANGED <<begun, asked, register, manager, told, failures>>

-----------------------------------------------------------------------------
(* Votes *)

Want(i, b) ==
  /\ captures' = captures \cup {<<i, b>>}
  /\ UNCHANGED <<begun, asked, intends, rnd, vrnd, vval, promises, proposals, acks, manager, told, failures>>

Capture(i) ==
  /\ intends[i] # None /\ i \notin dead /\ <<i, 1>> \notin captures
  /\ Want(i, 1)

Suspect(j, i) ==
  /\ j \in begun \ dead /\ i # j
  /\ told[j] = None
  /\ Patient => i \in dead \/ (managerDead /\ i \notin begun)
  /\ <<i, 1 + j>> \notin captures
  /\ Flaw # "nobody votes for another"
  /\ Want(i, 1 + j)

Recapture(i) ==
  /\ i \in begun \ dead /\ intends[i] # None /\ told[i] = None
  /\ RMs \ {i} \subseteq dead
  /\ \E s \in Servers : rnd[i][s] > 1
  /\ <<i, N + 2>> \notin captures
  /\ Want(i, N + 2)

Promise(s, i, b) ==
  /\ s \notin crashed /\ <<i, b>> \in captures
  /\ b > rnd[i][s]
  /\ rnd' = [rnd EXCEPT ![i][s] = b]
  /\ promises' = promises \cup {<<i, s, b, vrnd[i][s], vval[i][s]>>}
  /\ UNCHANGED <<begun, asked, intends, captures, vrnd, vval, proposals, acks, manager, told, failures>>

\* Participant j writes register i in a ballot of its own.
Owns(j, i, b) == IF i = j THEN b \in {1, N + 2} ELSE b = 1 + j

Allows(Q, i, b, x, wish) ==
  LET of == {p \in promises : p[1] = i /\ p[2] \in Q /\ p[3] = b}
      best == CHOOSE n \in {p[4] : p \in of} : \A p \in of : p[4] <= n
  IN  /\ \A s \in Q : \E p \in of : p[2] = s
      /\ IF best = 0 \/ Flaw = "phase one is ignored" THEN x = wish
         ELSE \E p \in of : p[4] = best /\ p[5] = x

Propose(j, i, b) ==
  LET wish == IF i = j THEN intends[i] ELSE No IN
  /\ j \in begun \ dead /\ Owns(j, i, b) /\ wish # None
  /\ \A p \in proposals : p[1] # i \/ p[2] # b
  /\ \E Q \in SUBSET Servers, x \in {Yes, No} :
       /\ Majority(Q) /\ Allows(Q, i, b, x, wish)
       /\ proposals' = proposals \cup {<<i, b, x>>}
  /\ UNCHANGED <<begun, asked, intends, captures, rnd, vrnd, vval, promises, acks, manager, told, failures>>

\* Wrong: no is written in the place of another without a capture, in its ballot.
Usurp(j, i) ==
  /\ Flaw = "no is written without a capture"
  /\ j \in begun \ dead /\ i # j
  /\ proposals' = proposals \cup {<<i, 1, No>>}
  /\ UNCHANGED <<begun, asked, intends, captures, rnd, vrnd, vval, promises, acks, manager, told, failures>>

Accept(s, i, b, x) ==
  /\ s \notin crashed /\ <<i, b, x>> \in proposals
  /\ b >= rnd[i][s] /\ vrnd[i][s] # b
  /\ rnd' = [rnd EXCEPT ![i][s] = b]
  /\ vrnd' = [vrnd EXCEPT ![i][s] = b]
  /\ vval' = [vval EXCEPT ![i][s] = x]
  /\ acks' = acks \cup {<<i, s, b, x>>}
  /\ UNCHANGED <<begun, asked, intends, captures, promises, proposals, manager, told, failures>>

-----------------------------------------------------------------------------
(* The outcome *)

\* What follows from the votes that can be seen, of those that can.
Follows(o, from) ==
  IF o = Commit THEN \A i \in from : Visible(i, Yes) ELSE \E i \in from : Visible(i, No)

Report(i) ==
  /\ Variant \in {"A8", "B6"}
  /\ i \notin dead /\ i \notin reported
  /\ Visible(i, Yes) \/ Visible(i, No)
  /\ reported' = reported \cup {i}
  /\ UNCHANGED <<begun, asked, intends, register, verdict, told, failures>>

\* The manager reads the registers of those who do not report.
Heard == IF Variant = "C5" THEN RMs ELSE reported \cup dead

Resolve ==
  /\ Tells /\ ~managerDead /\ asked /\ verdict = None
  /\ \E o \in {Commit, Abort} :
       /\ o = Commit => Heard = RMs \/ Flaw = "commit without all votes"
       /\ Follows(o, Heard)
       /\ Flaw = "commit without all votes" => Heard # {}
       /\ verdict' = o
  /\ UNCHANGED <<begun, asked, intends, register, reported, told, failures>>

TellByManager(i) ==
  /\ ~managerDead /\ verdict # None
  /\ i \in begun \ dead /\ told[i] = None
  /\ told' = [told EXCEPT ![i] = verdict]
  /\ UNCHANGED <<begun, asked, intends, register, manager, failures>>

\* A participant finds out itself: it listens, or has lost its manager.
Learn(i) ==
  /\ i \in begun \ dead /\ told[i] = None
  /\ Tells => managerDead
  /\ \E o \in {Commit, Abort} : Follows(o, RMs) /\ told' = [told EXCEPT ![i] = o]
  /\ UNCHANGED <<begun, asked, intends, register, manager, failures>>

\* Wrong: it gives up by itself, although it may have voted yes.
GiveUp(i) ==
  /\ Flaw = "locks are released on a timeout"
  /\ i \in begun \ dead /\ told[i] = None /\ intends[i] = Yes
  /\ told' = [told EXCEPT ![i] = Abort]
  /\ UNCHANGED <<begun, asked, intends, register, manager, failures>>

-----------------------------------------------------------------------------
(* Failures *)

Die(i) ==
  /\ i \notin dead /\ Cardinality(dead) < MaxDead
  /\ dead' = dead \cup {i}
  /\ UNCHANGED <<begun, asked, intends, register, manager, told, managerDead, crashed>>

DieManager ==
  /\ ManagerDies /\ HasManager /\ ~managerDead
  /\ managerDead' = TRUE
  /\ UNCHANGED <<begun, asked, intends, register, manager, told, dead, crashed>>

Crash(s) ==
  /\ s \notin crashed /\ Cardinality(crashed \ Down) < MaxCrashes
  /\ crashed' = crashed \cup {s}
  /\ UNCHANGED <<begun, asked, intends, register, manager, told, dead, managerDead>>

Participant(i) ==
  \/ i = 1 /\ Begin
  \/ ~HasManager /\ Ask(i)
  \/ \E x \in Votes : Choose(i, x)
  \/ Capture(i) \/ Recapture(i) \/ Report(i) \/ Learn(i) \/ GiveUp(i)
  \/ \E k \in RMs : Suspect(i, k) \/ Usurp(i, k)
  \/ \E k \in RMs, b \in Ballots : Propose(i, k, b)

Server(s) ==
  \E i \in RMs, b \in Ballots :
    Promise(s, i, b) \/ \E x \in {Yes, No} : Accept(s, i, b, x)

Manager == Resolve \/ \E i \in RMs : (HasManager /\ Ask(i)) \/ TellByManager(i)

Next ==
  \/ \E i \in RMs : Participant(i) \/ Die(i)
  \/ \E s \in Servers : Server(s) \/ Crash(s)
  \/ Manager
  \/ DieManager

Spec == Init /\ [][Next]_vars

\* Who has not failed goes on.  Nobody has to begin.
Fairness ==
  /\ \A i \in RMs : WF_vars(Participant(i))
  /\ \A s \in Servers : WF_vars(Server(s))
  /\ WF_vars(Manager)
FairSpec == Spec /\ Fairness

-----------------------------------------------------------------------------
(* What participants can rely on *)

\* A register's ballot has one owner: so no by another takes a capture.
OneVotePerBallot ==
  \A p, q \in proposals : p[1] = q[1] /\ p[2] = q[2] => p = q

OneVote == \A i \in RMs : Cardinality(Chosen(i)) <= 1

OneOutcome == AC!OneOutcome \* AC1

CommitIsUnanimous == \* AC2
  \A i \in RMs : told[i] = Commit => \A j \in RMs : intends[j] = Yes

AbortHasReason == \* AC3
  \A i \in RMs : told[i] = Abort =>
    (\E j \in RMs : intends[j] = No) \/ \E c \in captures : c[2] \in 2..(N + 1)

\* Who was told knows what is decided.
ToldIsDecided ==
  \A i \in RMs : /\ told[i] = Commit => \A j \in RMs : Yes \in Chosen(j)
                 /\ told[i] = Abort => \E j \in RMs : No \in Chosen(j)

\* Every step is one of AtomicCommit, or none.
Refinement == AC!Spec

NonBlocking == AC!NonBlocking \* AC4

\* And its fairness.
Liveness == AC!Fairness

-----------------------------------------------------------------------------
(* What must be reachable *)

NeverCommit   == \A i \in RMs : told[i] # Commit
NeverAbort    == \A i \in RMs : told[i] # Abort
\* A register was captured by another, who adopted the yes.
NeverAdopted  == \A p \in proposals : ~(p[2] > 1 /\ p[3] = Yes)
\* All commit although the voters that are dead never heard of it.
NeverOutlived == ~(dead # {} /\ \E i \in RMs \ dead : told[i] = Commit /\ \A j \in dead : told[j] = None)
NeverPreempted == \A i \in RMs : ~(intends[i] = Yes /\ No \in Chosen(i))
NeverRecaptured == \A p \in proposals : p[2] # N + 2

Symmetry == Permutations(Servers \ Down)
=============================================================================

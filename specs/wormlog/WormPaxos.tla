------------------------------ MODULE WormPaxos ------------------------------
(***************************************************************************)
(* State machine replication on write-once registers.                      *)
(*                                                                         *)
(* A slot of the log is a register.  A leader captures all slots at once   *)
(* with its ballot, writes again what the capture saw, fills holes in      *)
(* front with junk, and puts its command into the first slot that is free. *)
(* A write that another leader preempted may have taken effect all the     *)
(* same, or may yet be written again; so a leader whose command did not    *)
(* get the slot for certain may put it into another, and servers apply a   *)
(* command the first time only.  A server applies the slots in order.  A   *)
(* command is answered when its server has applied it.  A read asks the    *)
(* registers for the first slot that is unwritten: no lease is needed.     *)
(*                                                                         *)
(* Agreement is the register's affair.  What a leader does wrong costs     *)
(* time, not safety; the mistakes that matter are those of who applies,    *)
(* answers and reads.                                                      *)
(*                                                                         *)
(* A register is atomic here, but for one thing: a write that was sent and *)
(* has not taken effect may be seen by a capture or not, and is dead       *)
(* behind it unless it was seen.                                           *)
(*                                                                         *)
(* Not here: segments and their allocation (WormLog, Space); a leader that *)
(* comes back; snapshots; policies of leadership, which do not matter to   *)
(* safety.                                                                 *)
(*                                                                         *)
(* Actions that a trace of the program is made of: Capture(p),             *)
(* Send(p, s, x), Land(m), Apply(l), Answer(p, x), BeginRead(r), Look(r),     *)
(* EndRead(r).                                                             *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Slots,         \* 1 .. a number
  Proposers,     \* numbers above 0, which are their ballots too
  Wishes,        \* the commands; any leader may get each of them
  Readers,
  Flaw           \* what is wrong, or "none"

VARIABLES
  value,         \* per slot: a command, Junk or None
  ballot,        \* the ballot of the last capture
  flying,        \* writes that were sent: <<slot, ballot, command or junk>>
  found,         \* per proposer: what its capture saw in each slot, or <<>>
  applied,       \* per proposer's server: slots that it has applied
  done,          \* the commands that were answered
  look,          \* per reader: the slots that it knows to be written
  may, got       \* see ReplicatedLog

vars == <<value, ballot, flying, found, applied, done, look, may, got>>

None == "none"
Junk == "junk"

\* The commands of the first n slots: no junk, and nothing twice.
RECURSIVE Commands(_)
Commands(n) ==
  IF n = 0 THEN <<>>
  ELSE LET before == Commands(n - 1)
           x == value[n]
       IN  IF x = Junk THEN before
           ELSE IF (\E i \in DOMAIN before : before[i] = x) /\ Flaw # "a command is applied twice" THEN before
           ELSE Append(before, x)

Decided == Cardinality({n \in Slots : \A s \in 1..n : value[s] # None})

RL == INSTANCE ReplicatedLog WITH
  Commands <- Wishes,
  Learners <- Proposers,
  log <- Commands(Decided),
  applied <- [l \in Proposers |-> Len(Commands(applied[l]))]

Init ==
  /\ value = [s \in Slots |-> None]
  /\ ballot = 0 /\ flying = {}
  /\ found = [p \in Proposers |-> <<>>]
  /\ applied = [p \in Proposers |-> 0]
  /\ done = {}
  /\ look = [r \in Readers |-> 0]
  /\ may = [r \in Readers |-> {}]
  /\ got = [r \in Readers |-> <<>>]

\* What a capture may see in a slot: a write that was sent for it is seen or not,
\* the one of the highest ballot of those that are.
Sees(s) ==
  IF value[s] # None THEN {value[s]} ELSE {None} \cup {m[3] : m \in {m \in flying : m[1] = s}}

Capture(p) ==
  /\ p > ballot /\ found[p] = <<>>
  /\ ballot' = p
  /\ \E f \in [Slots -> UNION {Sees(s) : s \in Slots}] :
       /\ \A s \in Slots : f[s] \in Sees(s)
       /\ found' = [found EXCEPT ![p] = f]
  /\ UNCHANGED <<value, flying, applied, done, look, may, got>>

\* What leader p may write into slot s.
Wants(p, s) ==
  IF found[p][s] # None THEN {found[p][s]}
  ELSE IF \E t \in Slots : t > s /\ found[p][t] # None THEN {Junk}
  ELSE Wishes

Send(p, s, x) ==
  /\ found[p] # <<>> /\ value[s] = None
  /\ x \in Wants(p, s)
  /\ \A m \in flying : m[1] # s \/ m[2] # p
  \* A leader fills the slots in order, and puts no command into two that are free.
  /\ \A t \in Slots : t < s => value[t] # None \/ \E m \in flying : m[1] = t /\ m[2] = p
  /\ found[p][s] = None /\ x # Junk =>
       ~\E m \in flying : m[2] = p /\ m[3] = x /\ found[p][m[1]] = None
  /\ flying' = flying \cup {<<s, p, x>>}
  /\ UNCHANGED <<value, ballot, found, applied, done, look, may, got>>

Land(m) ==
  /\ m \in flying /\ value[m[1]] = None
  /\ m[2] = ballot
  /\ value' = [value EXCEPT ![m[1]] = m[3]]
  /\ UNCHANGED <<ballot, flying, found, applied, done, look, got>>
  /\ may' = RL!Grown

Apply(l) ==
  /\ applied[l] + 1 \in Slots
  /\ IF Flaw = "a hole is passed over" THEN value[applied[l] + 1] # None \/ \E s \in Slots : s > applied[l] /\ value[s] # None
     ELSE value[applied[l] + 1] # None
  /\ applied' = [applied EXCEPT ![l] = @ + 1]
  /\ UNCHANGED <<value, ballot, flying, found, done, look, may, got>>

Answer(p, x) ==
  /\ x \notin done
  /\ \E s \in Slots : value[s] = x /\ (s <= applied[p] \/ Flaw = "an answer does not wait for the slots in front")
  /\ done' = done \cup {x}
  /\ UNCHANGED <<value, ballot, flying, found, applied, look, may, got>>

BeginRead(r) ==
  /\ may[r] = {} /\ got[r] = <<>>
  /\ may' = [may EXCEPT ![r] = {Commands(Decided)}]
  /\ UNCHANGED <<value, ballot, flying, found, applied, done, look, got>>

Look(r) ==
  /\ may[r] # {}
  /\ look[r] + 1 \in Slots /\ value[look[r] + 1] # None
  /\ look' = [look EXCEPT ![r] = @ + 1]
  /\ UNCHANGED <<value, ballot, flying, found, applied, done, may, got>>

EndRead(r) ==
  /\ may[r] # {}
  /\ look[r] + 1 \in Slots => value[look[r] + 1] = None \/ Flaw = "a read does not ask what is unwritten"
  /\ got' = [got EXCEPT ![r] = <<Commands(look[r])>>]
  /\ may' = [may EXCEPT ![r] = {}]
  /\ UNCHANGED <<value, ballot, flying, found, applied, done, look>>

Next ==
  \/ \E p \in Proposers : Capture(p) \/ Apply(p) \/ \E x \in Wishes : Answer(p, x)
  \/ \E p \in Proposers, s \in Slots, x \in Wishes \cup {Junk} : Send(p, s, x)
  \/ \E m \in flying : Land(m)
  \/ \E r \in Readers : BeginRead(r) \/ Look(r) \/ EndRead(r)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
Range(s) == {s[i] : i \in DOMAIN s}

\* What servers have applied are prefixes of one sequence, and what was answered
\* is in it.
Applied(l) == Commands(applied[l])
PrefixesAgree ==
  \A l \in Proposers : Len(Applied(l)) <= Len(Commands(Decided)) /\ SubSeq(Commands(Decided), 1, Len(Applied(l))) = Applied(l)
AnsweredIsDecided == done \subseteq Range(Commands(Decided))
AppliedOnce == \A l \in Proposers : \A i, j \in DOMAIN Applied(l) : Applied(l)[i] = Applied(l)[j] => i = j

\* Every step is one of ReplicatedLog, or none.
Refinement == RL!Spec

\* What must be reachable.
NeverTwice  == ~\E s, t \in Slots : s # t /\ value[s] = value[t] /\ value[s] \in Wishes
NeverJunk   == \A s \in Slots : value[s] # Junk
NeverBoth   == Len(Commands(Decided)) < 2
NeverRead   == \A r \in Readers : got[r] \in {<<>>, <<<<>>>>}
=============================================================================

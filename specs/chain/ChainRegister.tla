---------------------------- MODULE ChainRegister ----------------------------
(***************************************************************************)
(* A write-once register kept by a chain of servers, and a change of the   *)
(* chain.                                                                  *)
(*                                                                         *)
(* The head takes the first value that comes with a capture it granted and *)
(* not yet superseded.  The client then writes the servers one after the   *)
(* other; anybody may go on with what it left half done.  A value that the *)
(* tail has is written.  Captures matter at the head only.                 *)
(*                                                                         *)
(* To replace the chain a reconfigurer seals servers of the old one, any   *)
(* of them, adopts the value that it saw or none, and stages it on the new *)
(* chain; a write-once register elsewhere decides which reconfigurer won.  *)
(* Only its stage becomes active.  A completed write is on every server,   *)
(* so any sealed one shows it; and none completes past a sealed server     *)
(* that had no value.                                                      *)
(*                                                                         *)
(* "Written" is the tail's to say.  "Unwritten" takes all servers of an    *)
(* epoch, none of them sealed: the tail alone may not know that the chain  *)
(* was replaced.                                                           *)
(*                                                                         *)
(* Not here: staging is one step; the register that decides is atomic;     *)
(* more than one change; the failure that is the reason for a change, but  *)
(* anybody may stop at any moment, since nobody has to go on; trims;       *)
(* liveness.                                                               *)
(*                                                                         *)
(* Actions that a trace of the program is made of: Capture(e, b),          *)
(* WriteHead(e, b, v), Forward(e, i), Acknowledge(e), Seal(r, i),          *)
(* Adopt(r), Decide(r), Activate(i, r), BeginRead(c), Reply(c, e, i),      *)
(* EndRead(c, x).                                                          *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Length,        \* servers 1 .. Length of a chain, the head first
  Values, Readers, Reconfigurers,
  Ballots,       \* numbers above 0
  Flaw           \* what is wrong, or "none"

Servers == 1..Length
Epochs  == {0, 1}

VARIABLES
  held,          \* per epoch and server: its value, or None
  promised,      \* per epoch: the newest ballot that the head granted
  granted,       \* per epoch: all of them
  sealed,        \* the servers of epoch 0 that are
  active,        \* the servers of epoch 1 that have their stage
  seen,          \* per reconfigurer: <<server, value>> from the servers it sealed
  adopted,       \* per reconfigurer: what it adopted and staged, or NotYet
  winner,        \* the reconfigurer that was decided, or None
  asked,         \* per reader: <<epoch, server>> that said they have no value
  wanted, done, may, got    \* see WriteOnce

chain   == <<held, promised, granted>>
change  == <<sealed, active, seen, adopted, winner>>
reads   == <<asked, may, got>>
clients == <<wanted, done>>
vars    == <<chain, change, reads, clients>>

None      == "none"
NotYet    == "not yet"
Unwritten == "unwritten"

Tail(e) == held[e][Length]

Complete(e, v) == \A i \in Servers : held[e][i] = v
Chosen ==
  {v \in Values : \/ \E e \in Epochs : Complete(e, v)
                  \/ winner # None /\ adopted[winner] = v}

Register == INSTANCE WriteOnce WITH
  value <- IF Chosen = {} THEN None ELSE CHOOSE v \in Chosen : TRUE,
  trimmed <- FALSE

Init ==
  /\ held = [e \in Epochs |-> [i \in Servers |-> None]]
  /\ promised = [e \in Epochs |-> 0]
  /\ granted = [e \in Epochs |-> {}]
  /\ sealed = {} /\ active = {}
  /\ seen = [r \in Reconfigurers |-> {}]
  /\ adopted = [r \in Reconfigurers |-> NotYet]
  /\ winner = None
  /\ asked = [c \in Readers |-> {}]
  /\ wanted = {} /\ done = {}
  /\ may = [c \in Readers |-> {}]
  /\ got = [c \in Readers |-> None]

-----------------------------------------------------------------------------
(* Capture and write *)

\* Whether server i of epoch e takes captures and writes.
Takes(e, i) ==
  IF e = 0 THEN i \notin sealed \/ Flaw = "a sealed server takes writes"
  ELSE i \in active

Capture(e, b) ==
  /\ Takes(e, 1)
  /\ b > promised[e]
  /\ promised' = [promised EXCEPT ![e] = b]
  /\ granted' = [granted EXCEPT ![e] = @ \cup {b}]
  /\ UNCHANGED <<held, change, reads, clients>>

\* The end of a step that may make a value the chosen one.
Put(e, i, v) ==
  /\ held' = [held EXCEPT ![e][i] = v]
  /\ UNCHANGED <<promised, granted, change, asked, got, done>>

WriteHead(e, b, v) ==
  /\ Takes(e, 1)
  /\ b \in granted[e] /\ b >= promised[e]
  /\ held[e][1] = None \/ (Flaw = "the head takes a second value" /\ held[e][1] # v)
  /\ wanted' = wanted \cup {v}
  /\ Put(e, 1, v)
  /\ may' = Register!Grown

Forward(e, i) ==
  /\ i > 1 /\ Takes(e, i)
  /\ held[e][i - 1] # None
  /\ held[e][i] = None
  /\ wanted' = wanted
  /\ Put(e, i, held[e][i - 1])
  /\ may' = Register!Grown

\* Wrong: a client does not wait for the server in front.
Ahead(e, i, v) ==
  /\ Flaw = "servers are written side by side"
  /\ i > 1 /\ Takes(e, i) /\ granted[e] # {}
  /\ held[e][i] = None
  /\ wanted' = wanted \cup {v}
  /\ Put(e, i, v)
  /\ may' = Register!Grown

\* Wrong: a server that lost its disk goes on in the same epoch.
Lose(i) ==
  /\ Flaw = "a server comes back with an empty disk"
  /\ held[0][i] # None
  /\ wanted' = wanted
  /\ Put(0, i, None)
  /\ may' = Register!Grown

Acknowledge(e) ==
  /\ Tail(e) # None /\ Tail(e) \notin done
  /\ done' = done \cup {Tail(e)}
  /\ UNCHANGED <<chain, change, reads, wanted>>

-----------------------------------------------------------------------------
(* A new chain *)

Seal(r, i) ==
  /\ adopted[r] = NotYet
  /\ \A p \in seen[r] : p[1] # i
  /\ sealed' = sealed \cup {i}
  /\ seen' = [seen EXCEPT ![r] = @ \cup {<<i, held[0][i]>>}]
  /\ UNCHANGED <<chain, active, adopted, winner, reads, clients>>

Adopt(r) ==
  LET values == {p[2] : p \in seen[r]} \ {None} IN
  /\ adopted[r] = NotYet
  /\ seen[r] # {} \/ Flaw = "nothing is sealed"
  /\ \E v \in IF values = {} THEN {None} ELSE values : adopted' = [adopted EXCEPT ![r] = v]
  /\ UNCHANGED <<chain, sealed, active, seen, winner, reads, clients>>

Decide(r) ==
  /\ winner = None /\ adopted[r] # NotYet
  /\ winner' = r
  /\ UNCHANGED <<chain, sealed, active, seen, adopted, asked, got, clients>>
  /\ may' = Register!Grown

Activate(i, r) ==
  /\ winner # None
  /\ r = winner \/ (Flaw = "any stage is activated" /\ adopted[r] # NotYet)
  /\ i \notin active
  /\ active' = active \cup {i}
  /\ held' = [held EXCEPT ![1][i] = adopted[r]]
  /\ UNCHANGED <<promised, granted, sealed, seen, adopted, winner, asked, got, clients>>
  /\ may' = Register!Grown

-----------------------------------------------------------------------------
(* Read *)

BeginRead(c) ==
  /\ may[c] = {} /\ got[c] = None
  /\ may' = [may EXCEPT ![c] = {Register!Answer}]
  /\ UNCHANGED <<chain, change, asked, got, clients>>

Reply(c, e, i) ==
  /\ may[c] # {}
  /\ <<e, i>> \notin asked[c]
  /\ held[e][i] = None
  /\ IF e = 0 THEN i \notin sealed \/ Flaw = "a sealed server says unwritten" ELSE i \in active
  /\ asked' = [asked EXCEPT ![c] = @ \cup {<<e, i>>}]
  /\ UNCHANGED <<chain, change, may, got, clients>>

NeedsAll == IF Flaw = "the tail alone says unwritten" THEN {Length} ELSE Servers

EndRead(c, x) ==
  /\ may[c] # {}
  /\ \E e \in Epochs :
       IF x = Unwritten THEN \A i \in NeedsAll : <<e, i>> \in asked[c]
       ELSE IF Flaw = "the head says written" THEN held[e][1] = x
       ELSE Tail(e) = x
  /\ got' = [got EXCEPT ![c] = x]
  /\ may' = [may EXCEPT ![c] = {}]
  /\ asked' = [asked EXCEPT ![c] = {}]
  /\ UNCHANGED <<chain, change, clients>>

Next ==
  \/ \E e \in Epochs, b \in Ballots : Capture(e, b)
  \/ \E e \in Epochs, b \in Ballots, v \in Values : WriteHead(e, b, v)
  \/ \E e \in Epochs, i \in Servers : Forward(e, i)
  \/ \E e \in Epochs, i \in Servers, v \in Values : Ahead(e, i, v)
  \/ \E i \in Servers : Lose(i)
  \/ \E e \in Epochs : Acknowledge(e)
  \/ \E r \in Reconfigurers, i \in Servers : Seal(r, i)
  \/ \E r \in Reconfigurers : Adopt(r)
  \/ \E r \in Reconfigurers : Decide(r)
  \/ \E r \in Reconfigurers, i \in Servers : Activate(i, r)
  \/ \E c \in Readers : BeginRead(c)
  \/ \E c \in Readers, e \in Epochs, i \in Servers : Reply(c, e, i)
  \/ \E c \in Readers, x \in Values \cup {Unwritten} : EndRead(c, x)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Why it is right *)

TypeOK ==
  /\ held \in [Epochs -> [Servers -> Values \cup {None}]]
  /\ promised \in [Epochs -> Ballots \cup {0}]
  /\ granted \in [Epochs -> SUBSET Ballots]
  /\ sealed \subseteq Servers /\ active \subseteq Servers
  /\ adopted \in [Reconfigurers -> Values \cup {None, NotYet}]
  /\ winner \in Reconfigurers \cup {None}

\* Servers that count in an epoch.
There(e) == IF e = 0 THEN Servers ELSE active

PrefixHolds == \* C0
  \A e \in Epochs : \A i, j \in There(e) :
    i < j /\ held[e][j] # None => held[e][i] = held[e][j]

CompleteIsAdopted == \* C1
  \A v \in Values : Complete(0, v) => \A r \in Reconfigurers : adopted[r] \in {v, NotYet}

\* What was sealed without a value keeps every value from completing.
SealedStays == \* C2
  [][\A i \in sealed : held'[0][i] = held[0][i]]_<<held, sealed>>

Agreement == Cardinality(Chosen) <= 1

ToldOne == Register!ToldOne

\* Every step is one of WriteOnce, or none.
Refinement == Register!Spec

-----------------------------------------------------------------------------
(* What must be reachable *)

NeverWritten    == done = {}
NeverCarried    == ~(winner # None /\ adopted[winner] # None /\ active = Servers)
\* A value that was half written is dropped, and another one is written in the new chain.
NeverDropped    == ~\E v \in Values : Complete(1, v) /\ held[0][1] \notin {v, None}
NeverUnwritten  == \A c \in Readers : got[c] # Unwritten
NeverRead       == \A c \in Readers : got[c] \notin Values
\* Two reconfigurers adopt different things.
NeverDiffer     == \A r, s \in Reconfigurers : NotYet \in {adopted[r], adopted[s]} \/ adopted[r] = adopted[s]

Symmetry == Permutations(Values) \cup Permutations(Reconfigurers)
=============================================================================

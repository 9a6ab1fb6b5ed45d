------------------------------- MODULE WormLog -------------------------------
(***************************************************************************)
(* A shared log on write-once registers, and the change of its sequencer.  *)
(*                                                                         *)
(* A segment has a sequencer that captured all its registers ahead.  An    *)
(* append gets a token from it, an address and the capture, and writes its *)
(* value there.  To replace the sequencer of segment 1 a candidate         *)
(* allocates segment 2, which one candidate can; then captures every       *)
(* register of segment 1 again, which makes the tokens of the old          *)
(* sequencer worthless; writes into what it captured the value that phase  *)
(* one saw, or junk; and when each register is decided (the fence), serves *)
(* tokens of segment 2.  The old sequencer may go on and never know.       *)
(*                                                                         *)
(* A query of the tail asks a sequencer, and asks as well whether the next *)
(* segment is allocated; if so, it asks that one's sequencer.              *)
(*                                                                         *)
(* A register is atomic here, but for one thing: a write that was sent and *)
(* has not taken effect may be seen by a capture, or not; one that was not *)
(* seen, even if it was sent later, takes effect only if another capture   *)
(* sees it: at a server that the first did not ask.  Alloc is a write to a *)
(* register and atomic.  Holes may be filled in the same way by anybody.   *)
(*                                                                         *)
(* Not here: more than one change; reads of the log, which are those of    *)
(* registers; trims; a client that crashes is one that does not go on.     *)
(*                                                                         *)
(* Actions that a trace of the program is made of: Call(c), Token(c, k),   *)
(* Send(c), Land(a), Retry(c), Return(c), Alloc, Capture(a), Finish(a),    *)
(* Revive(a), Serve, BeginTail(r), AskTail(r, k), AskNext(r), EndTail(r).  *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Size,          \* registers of a segment
  Clients,       \* each appends itself, once
  Readers,       \* each asks for the tail, once
  Fills,         \* whether holes are filled before a sequencer is replaced
  Flaw           \* what is wrong, or "none"

VARIABLES
  value,         \* per address: a client, Junk or None
  flying,        \* per address: the client whose write was sent, or None
  captured,      \* the addresses that were captured again
  found,         \* per address: what that capture saw, or None
  next,          \* per segment: the offset of the next token
  allocated,     \* whether segment 2 is
  serving,       \* whether its sequencer serves tokens
  phase,         \* per client: "idle", "called", "sent", "done"
  token,         \* per client: an address, or 0
  late,          \* the clients whose token is from a sequencer that was replaced already
  earlier,       \* per client: those whose appends had returned when it called
  told,          \* per reader: the tail that the sequencer said, per segment, or 0
  alone,         \* the readers that heard that segment 2 is not allocated
  may, got       \* see SharedLog

registers == <<value, flying, captured, found>>
sequencers == <<next, allocated, serving>>
appends   == <<phase, token, late, earlier>>
tails     == <<told, alone, may, got>>
vars      == <<registers, sequencers, appends, tails>>

None == "none"
Junk == "junk"

Segments  == {1, 2}
Addresses == 1..(2 * Size)
Base(k)   == (k - 1) * Size
Of(k)     == (Base(k) + 1)..(Base(k) + Size)

Tail == IF serving THEN Base(2) + next[2] ELSE next[1]

Log == INSTANCE SharedLog WITH
  tail  <- Tail,
  data  <- value,
  phase <- [c \in Clients |-> IF phase[c] = "sent" THEN "called" ELSE phase[c]],
  at    <- [c \in Clients |-> IF c \in late THEN 0 ELSE token[c]]

Init ==
  /\ value = [a \in Addresses |-> None]
  /\ flying = [a \in Addresses |-> None]
  /\ captured = {}
  /\ found = [a \in Addresses |-> None]
  /\ next = [k \in Segments |-> 1]
  /\ allocated = FALSE /\ serving = FALSE
  /\ phase = [c \in Clients |-> "idle"]
  /\ token = [c \in Clients |-> 0]
  /\ late = {}
  /\ earlier = [c \in Clients |-> {}]
  /\ told = [r \in Readers |-> [k \in Segments |-> 0]]
  /\ alone = {}
  /\ may = [r \in Readers |-> {}]
  /\ got = [r \in Readers |-> 0]

-----------------------------------------------------------------------------
(* Append *)

Call(c) ==
  /\ phase[c] = "idle"
  /\ phase' = [phase EXCEPT ![c] = "called"]
  /\ earlier' = [earlier EXCEPT ![c] = {d \in Clients : phase[d] = "done"}]
  /\ UNCHANGED <<registers, sequencers, token, late, tails>>

\* The sequencer of segment 1 serves whether it was replaced or not.
Token(c, k) ==
  /\ phase[c] = "called" \/ (Flaw = "tokens are prefetched" /\ phase[c] = "idle")
  /\ token[c] = 0
  /\ next[k] <= Size
  /\ k = 2 => serving
  /\ token' = [token EXCEPT ![c] = Base(k) + next[k]]
  /\ late' = IF k = 1 /\ serving THEN late \cup {c} ELSE late
  /\ next' = [next EXCEPT ![k] = @ + 1]
  /\ UNCHANGED <<registers, allocated, serving, phase, earlier, told, alone, got>>
  /\ may' = Log!Grown

Send(c) ==
  /\ phase[c] = "called" /\ token[c] # 0
  /\ flying' = [flying EXCEPT ![token[c]] = c]
  /\ phase' = [phase EXCEPT ![c] = "sent"]
  /\ UNCHANGED <<value, captured, found, sequencers, token, late, earlier, tails>>

\* The write takes effect, with the capture that the token came with.
Land(a) ==
  /\ flying[a] # None /\ value[a] = None
  /\ a \notin captured
  /\ value' = [value EXCEPT ![a] = flying[a]]
  /\ UNCHANGED <<flying, captured, found, sequencers, appends, tails>>

\* It did not: the register has another value.
Retry(c) ==
  /\ phase[c] = "sent"
  /\ \/ value[token[c]] \notin {None, c}
     \/ Flaw = "an append is repeated without a look" /\ token[c] \in captured
  /\ phase' = [phase EXCEPT ![c] = "called"]
  /\ token' = [token EXCEPT ![c] = 0]
  /\ late' = late \ {c}
  /\ UNCHANGED <<registers, sequencers, earlier, tails>>

Return(c) ==
  /\ phase[c] = "sent" /\ value[token[c]] = c
  /\ phase' = [phase EXCEPT ![c] = "done"]
  /\ UNCHANGED <<registers, sequencers, token, late, earlier, tails>>

-----------------------------------------------------------------------------
(* A new sequencer, and holes *)

Alloc ==
  /\ ~allocated
  /\ allocated' = TRUE
  /\ UNCHANGED <<registers, next, serving, appends, tails>>

Capture(a) ==
  /\ a \notin captured
  /\ \/ a \in Of(1) /\ allocated
     \/ Fills /\ \E k \in Segments : a \in Of(k) /\ a < Base(k) + next[k]
  /\ captured' = captured \cup {a}
  /\ \E x \in IF value[a] # None THEN {value[a]} ELSE {None, flying[a]} :
       found' = [found EXCEPT ![a] = x]
  /\ UNCHANGED <<value, flying, sequencers, appends, tails>>

Finish(a) ==
  /\ a \in captured /\ value[a] = None
  /\ value' = [value EXCEPT ![a] =
       IF found[a] = None THEN Junk ELSE found[a]]
  /\ UNCHANGED <<flying, captured, found, sequencers, appends, tails>>

\* Another client captures the register, sees the write that the capture before
\* did not, and writes it again.
Revive(a) ==
  /\ a \in captured /\ value[a] = None /\ flying[a] # None
  /\ value' = [value EXCEPT ![a] = flying[a]]
  /\ UNCHANGED <<flying, captured, found, sequencers, appends, tails>>

Serve ==
  /\ allocated /\ ~serving
  /\ \/ Of(1) \subseteq captured /\ \A a \in Of(1) : value[a] # None
     \/ Flaw = "tokens are served before the fence"
     \/ Flaw = "the fence only captures" /\ Of(1) \subseteq captured
  /\ serving' = TRUE
  /\ UNCHANGED <<registers, next, allocated, appends, told, alone, got>>
  /\ may' = Log!Grown

-----------------------------------------------------------------------------
(* The tail *)

BeginTail(r) ==
  /\ may[r] = {} /\ got[r] = 0
  /\ may' = [may EXCEPT ![r] = {Tail}]
  /\ UNCHANGED <<registers, sequencers, appends, told, alone, got>>

AskTail(r, k) ==
  /\ may[r] # {} /\ told[r][k] = 0
  /\ k = 2 => serving
  /\ told' = [told EXCEPT ![r][k] = Base(k) + next[k]]
  /\ UNCHANGED <<registers, sequencers, appends, alone, may, got>>

AskNext(r) ==
  /\ may[r] # {} /\ ~allocated /\ r \notin alone
  /\ alone' = alone \cup {r}
  /\ UNCHANGED <<registers, sequencers, appends, told, may, got>>

EndTail(r) ==
  /\ may[r] # {}
  /\ \E k \in Segments :
       /\ told[r][k] # 0
       /\ k = 1 => r \in alone \/ Flaw = "the tail of a sequencer that was replaced"
       /\ got' = [got EXCEPT ![r] = told[r][k]]
  /\ may' = [may EXCEPT ![r] = {}]
  /\ told' = [told EXCEPT ![r] = [k \in Segments |-> 0]]
  /\ alone' = alone \ {r}
  /\ UNCHANGED <<registers, sequencers, appends>>

Next ==
  \/ \E c \in Clients : Call(c) \/ Send(c) \/ Retry(c) \/ Return(c) \/ \E k \in Segments : Token(c, k)
  \/ \E a \in Addresses : Land(a) \/ Capture(a) \/ Finish(a) \/ Revive(a)
  \/ Alloc \/ Serve
  \/ \E r \in Readers : BeginTail(r) \/ AskNext(r) \/ EndTail(r) \/ \E k \in Segments : AskTail(r, k)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What clients can rely on *)

RealTimeOrder == Log!RealTimeOrder
Once == Log!Once
Kept == \A c \in Clients : phase[c] = "done" => value[token[c]] = c

\* Every step is one of SharedLog, or none.
Refinement == Log!Spec

-----------------------------------------------------------------------------
(* What must be reachable *)

\* Appends go on in segment 2, and a write of segment 1 is saved by it.
NeverMoved   == ~\E c, d \in Clients : phase[c] = "done" /\ phase[d] = "done" /\ token[c] \in Of(1) /\ token[d] \in Of(2)
NeverSaved   == ~\E a \in captured : value[a] \in Clients /\ found[a] = value[a] /\ \E c \in Clients : phase[c] = "done" /\ token[c] = a
NeverFenced  == ~\E c \in late : phase[c] = "sent"
NeverRetried == ~\E c \in Clients : phase[c] = "called" /\ \E a \in Addresses : flying[a] = c
NeverTailed  == \A r \in Readers : got[r] <= Size + 1
NeverOldTail == \A r \in Readers : ~(got[r] \in 1..Size /\ serving /\ may[r] = {})

Symmetry == Permutations(Clients)
=============================================================================

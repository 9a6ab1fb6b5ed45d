----------------------------- MODULE ChainTrace -----------------------------
(***************************************************************************)
(* Is what servers and clients did to a register on a chain, in its first  *)
(* epoch, a behaviour of ChainRegister? Trace is a sequence of records in  *)
(* the order in which they happened: a server's are those that became      *)
(* durable, in its order. Each is the action of ChainRegister of that      *)
(* name, or no step at all where a message is repeated, refused or shows   *)
(* what is there. It stops before the first that nothing explains: a       *)
(* deadlock.                                                               *)
(*                                                                         *)
(* Of a server s, 1 being the head:                                        *)
(*   Promise s b          the head granted b, or had                       *)
(*   Accept s b v         it took v, or had it                             *)
(*   Show s v             it has v, or "none"                              *)
(*   Other s v            it has another value than v                      *)
(*   Outbid s b           it has a value, or granted a higher ballot       *)
(* Of a client:                                                            *)
(*   Acknowledge v        a write of v was answered                        *)
(*   Find v               it was told that v is written                    *)
(*   BeginRead r, Reply r s, EndRead r x                                   *)
(*                                                                         *)
(* A server that takes a value is sent it, which is no event: the value of *)
(* the head is the client's, and those of the others are the head's.       *)
(***************************************************************************)
EXTENDS ChainRegister

CONSTANT Trace

VARIABLE taken     \* how many events are explained

More  == taken + 1 \in DOMAIN Trace
Event == Trace[taken + 1]

Held(s) == held[0][s]

\* What an event says of the state before it.
True(e) ==
  CASE e.event = "Promise" -> e.s = 1 /\ Held(1) = None
    [] e.event = "Accept"  -> Held(e.s) \in {None, e.v} /\ (e.s > 1 => Held(e.s - 1) = e.v)
    [] e.event = "Show"    -> Held(e.s) = e.v
    [] e.event = "Other"   -> Held(e.s) \notin {None, e.v}
    [] e.event = "Outbid"  -> Held(e.s) # None \/ (e.s = 1 /\ e.b < promised[0])
    [] e.event = "Find"    -> Complete(0, e.v)
    [] OTHER               -> TRUE

\* Whether the event is no step.
Again(e) ==
  CASE e.event = "Promise"     -> e.b = promised[0]
    [] e.event = "Accept"      -> Held(e.s) = e.v
    [] e.event = "Acknowledge" -> e.v \in done
    [] OTHER -> e.event \in {"Show", "Other", "Outbid", "Find"}

Step(e) ==
  CASE e.event = "Promise"     -> Capture(0, e.b)
    [] e.event = "Accept"      -> IF e.s = 1 THEN WriteHead(0, e.b, e.v) ELSE Forward(0, e.s)
    [] e.event = "Acknowledge" -> Tail(0) = e.v /\ Acknowledge(0)
    [] e.event = "BeginRead"   -> BeginRead(e.r)
    [] e.event = "Reply"       -> Reply(e.r, 0, e.s)
    [] e.event = "EndRead"     -> EndRead(e.r, e.x)

TraceInit == Init /\ taken = 0

TraceNext ==
  \/ /\ More
     /\ True(Event)
     /\ IF Again(Event) THEN UNCHANGED vars ELSE Step(Event)
     /\ taken' = taken + 1
  \/ /\ ~More
     /\ UNCHANGED <<vars, taken>>

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, taken>>

-----------------------------------------------------------------------------
\* What to say of a state.
Seen == [
  explained |-> taken,
  held      |-> held[0],
  promised  |-> promised[0],
  granted   |-> granted[0],
  done      |-> done ]
=============================================================================

---------------------------- MODULE RegisterTrace ----------------------------
(***************************************************************************)
(* Is what servers and clients did to a register a behaviour of            *)
(* PaxosRegister? Trace is a sequence of records in the order in which     *)
(* they happened: a server's are those that became durable, in its order.  *)
(* Each is the action of PaxosRegister of that name, or no step at all     *)
(* where a message is repeated, refused or shows what is there. There is   *)
(* one step in each state at most. It goes on for ever after the last      *)
(* event, and stops before the first that nothing explains: a deadlock.    *)
(*                                                                         *)
(* Of a server s:                                                          *)
(*   Promise s b at v        it promised b, or had, and showed what it had *)
(*                           accepted: v at the ballot at, or nothing, -1  *)
(*   Accept s b v            it accepted v in b, or had                    *)
(*   Conflict s b v          it has another value in b                     *)
(*   Outbid s b higher       it has promised higher                        *)
(*   Show s promised at v    what it has                                   *)
(*   Gone s                  it has the tombstone                          *)
(*   Tombstone s             it has it now, or had                         *)
(* Of a client:                                                            *)
(*   Propose b v             it sent v in b, perhaps again                 *)
(*   DecideTrim              it began to trim                              *)
(*   Acknowledge v           a write of v was answered                     *)
(*   Find v                  it was told that v is written                 *)
(*   Bury                    it was told that the register is trimmed      *)
(*   BeginRead r, Reply r s at v, EndRead r x                              *)
(*   Reread r x              its read ended after a capture of its own     *)
(***************************************************************************)
EXTENDS PaxosRegister, Sequences

CONSTANT Trace

VARIABLE taken     \* how many events are explained

More  == taken < Len(Trace)
Event == Trace[taken + 1]

Has(s, at, v) == vrnd[s] = at /\ vval[s] = IF at = -1 THEN None ELSE v
Known(v) == \E b \in Ballots : ChosenIn(b, v)

\* What an event says of the state that does not change with it.
True(e) ==
  CASE e.event = "Promise"  -> ~tomb[e.s] /\ Has(e.s, e.at, e.v) /\ e.b >= rnd[e.s]
    [] e.event = "Conflict" -> ~tomb[e.s] /\ vrnd[e.s] = e.b /\ vval[e.s] # e.v
    [] e.event = "Outbid"   -> ~tomb[e.s] /\ rnd[e.s] = e.higher /\ e.b < e.higher
    [] e.event = "Show"     -> ~tomb[e.s] /\ rnd[e.s] = e.promised /\ Has(e.s, e.at, e.v)
    [] e.event = "Gone"     -> tomb[e.s]
    [] e.event = "Find"     -> Known(e.v)
    [] e.event = "Bury"     -> Buried
    [] e.event = "Reread"   -> e.x \in may[e.r] /\ (e.x \in Values => Known(e.x)) /\ (e.x = Trimmed => Buried)
    [] e.event = "Reply"    -> IF e.tomb THEN tomb[e.s] ELSE ~tomb[e.s] /\ Has(e.s, e.at, e.v)
    [] OTHER                -> TRUE

\* Whether the event is no step.
Again(e) ==
  CASE e.event = "Promise"     -> e.b = rnd[e.s]
    [] e.event = "Accept"      -> ~tomb[e.s] /\ Has(e.s, e.b, e.v)
    [] e.event = "Tombstone"   -> tomb[e.s]
    [] e.event = "Propose"     -> <<e.b, e.v>> \in proposals
    [] e.event = "DecideTrim"  -> trimDecided
    [] e.event = "Acknowledge" -> e.v \in done
    [] OTHER -> e.event \in {"Conflict", "Outbid", "Show", "Gone", "Find", "Bury", "Reread"}

Step(e) ==
  CASE e.event = "Promise"     -> Promise(e.s, e.b)
    [] e.event = "Accept"      -> Accept(e.s, e.b, e.v)
    [] e.event = "Tombstone"   -> Tombstone(e.s)
    [] e.event = "Propose"     -> IF e.b = 0 THEN ProposeUnsafe(e.v) ELSE Propose(e.b, e.v)
    [] e.event = "DecideTrim"  -> DecideTrim
    [] e.event = "Acknowledge" -> \E b \in Ballots : Acknowledge(b, e.v)
    [] e.event = "BeginRead"   -> BeginRead(e.r)
    [] e.event = "Reply"       -> Reply(e.r, e.s)
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
  rnd       |-> rnd,
  vrnd      |-> vrnd,
  vval      |-> vval,
  tomb      |-> tomb,
  proposals |-> proposals,
  chosen    |-> Chosen ]
=============================================================================

-------------------------------- MODULE Listen --------------------------------
(***************************************************************************)
(* A client listens to what one server accepts in a segment.  Notes are    *)
(* numbered, and may be lost, doubled and reordered; they are hints.  A    *)
(* registration answers with what is there already, so that nothing falls  *)
(* between a read and the first note.  From time to time the server says   *)
(* how many notes there were.  A listener that misses one reads.  The      *)
(* server keeps registrations in memory: one that comes back knows of      *)
(* none, which its beat tells, and the client registers again.             *)
(*                                                                         *)
(* What it promises is a set of facts that grows, in which every fact      *)
(* comes to be (Heard), and nothing else (NothingElse).                    *)
(*                                                                         *)
(* Not here: that a majority of servers has to say the same (WormTx).      *)
(*                                                                         *)
(* Actions that a trace of the program is made of: Write(x), Register,     *)
(* Receive(m), Lose(m), Beat, Read, Restart.                               *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Registers,
  MaxRestarts,
  Flaw           \* what is wrong, or "none"

VARIABLES
  written,       \* the registers that the server has a value for
  life,          \* of the server
  registered,    \* whether it knows of the listener
  count,         \* the notes that it sent to it
  net,           \* notes under way: <<life, number, register>>
  session,       \* the life of the server that the listener is registered with, or 0
  expected,      \* the number of the next note
  behind,        \* whether the listener has to read
  heard          \* what it knows

vars == <<written, life, registered, count, net, session, expected, behind, heard>>

Init ==
  /\ written = {} /\ life = 1
  /\ registered = FALSE /\ count = 0 /\ net = {}
  /\ session = 0 /\ expected = 1 /\ behind = FALSE /\ heard = {}

Write(x) ==
  /\ x \notin written
  /\ written' = written \cup {x}
  /\ IF registered
     THEN count' = count + 1 /\ net' = net \cup {<<life, count + 1, x>>}
     ELSE UNCHANGED <<count, net>>
  /\ UNCHANGED <<life, registered, session, expected, behind, heard>>

Register ==
  /\ session = 0
  /\ registered' = TRUE
  /\ session' = life
  /\ expected' = count + 1
  /\ heard' = IF Flaw = "a registration tells nothing" THEN heard ELSE heard \cup written
  /\ UNCHANGED <<written, life, count, net, behind>>

\* A note stays under way until it is lost: it may come twice.
Receive(m) ==
  /\ m \in net /\ m[3] \notin heard
  /\ heard' = heard \cup {m[3]}
  /\ IF m[1] = session /\ m[2] >= expected
     THEN /\ expected' = m[2] + 1
          /\ behind' = (behind \/ (m[2] > expected /\ Flaw # "a gap is not noticed"))
     ELSE UNCHANGED <<expected, behind>>
  /\ UNCHANGED <<written, life, registered, count, net, session>>

Lose(m) ==
  /\ m \in net
  /\ net' = net \ {m}
  /\ UNCHANGED <<written, life, registered, count, session, expected, behind, heard>>

Beat ==
  /\ session # 0
  /\ IF session = life
     THEN /\ count >= expected /\ Flaw # "the last note is not counted"
          /\ expected' = count + 1 /\ behind' = TRUE
          /\ UNCHANGED session
     ELSE /\ Flaw # "a registration is not renewed"
          /\ session' = 0
          /\ UNCHANGED <<expected, behind>>
  /\ UNCHANGED <<written, life, registered, count, net, heard>>

Read ==
  /\ behind
  /\ heard' = heard \cup written
  /\ behind' = FALSE
  /\ UNCHANGED <<written, life, registered, count, net, session, expected>>

Restart ==
  /\ life <= MaxRestarts
  /\ life' = life + 1
  /\ registered' = FALSE /\ count' = 0
  /\ UNCHANGED <<written, net, session, expected, behind, heard>>

Next ==
  \/ \E x \in Registers : Write(x)
  \/ \E m \in net : Receive(m) \/ Lose(m)
  \/ Register \/ Beat \/ Read \/ Restart

\* Notes need not come.
Spec == Init /\ [][Next]_vars /\ WF_vars(Register) /\ WF_vars(Beat) /\ WF_vars(Read)

-----------------------------------------------------------------------------
NothingElse == heard \subseteq written
Grows == [][heard \subseteq heard']_heard
Heard == \A x \in Registers : x \in written ~> x \in heard

\* What must be reachable: a fact is known from a note of a life that is over.
NeverLate == ~(\E m \in net : m[1] < life /\ m[3] \in heard /\ session = life)
NeverBehind == ~behind
=============================================================================

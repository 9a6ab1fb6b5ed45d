----------------------------- MODULE StoreTrace -----------------------------
(***************************************************************************)
(* Is what a store has done a behaviour of CrashSafeMap? Trace is what it  *)
(* has told of itself, as a sequence of records in the order in which they *)
(* happened. Each event drives the actions of CrashSafeMap: the one that   *)
(* it is, after those that nothing tells of. The specification has at most *)
(* one step in each state. It goes on for ever after the last event, and   *)
(* stops before the first that nothing explains: a deadlock, with Why.     *)
(*                                                                         *)
(* One key is enough, whose value is the number of the last change: a      *)
(* version of the store. A batch has one version, that of its last change. *)
(*                                                                         *)
(*   [event |-> "Open", superblock, slot, cut, version]                    *)
(*                     recovery has chosen a superblock, which leads to    *)
(*                     the version cut, and has read the journal from      *)
(*                     there up to version                                 *)
(*   [event |-> "Change", version]                                         *)
(*   [event |-> "Freeze", superblock, version]                             *)
(*                     a superblock is being written that leads to version *)
(*   [event |-> "Checkpoint", superblock, slot, version]                   *)
(*                     it is durable, in that slot                         *)
(*   [event |-> "Journal", version]                                        *)
(*                     the journal is durable up to version                *)
(*   [event |-> "SyncAsk", id, version]                                    *)
(*   [event |-> "SyncAnswer", id, version]                                 *)
(*                     an id is used again when it was answered            *)
(*   [event |-> "Crash"]   the power has failed                            *)
(*   [event |-> "Kill"]    the program has ended, and the machine goes on  *)
(*                                                                         *)
(* Beyond CrashSafeMap: superblocks are numbered one by one, in one slot   *)
(* and the other in turn; their cuts are versions and do not go back; a    *)
(* recovery finds the newest one that is durable, or the one that was on   *)
(* its way.                                                                *)
(***************************************************************************)
EXTENDS CrashSafeMap

CONSTANT Trace

VARIABLES
  taken,         \* how many events are explained
  down,          \* how the last program ended, "no" while one has the store open
  made,          \* the versions behind the cut of super, where the next may be
  super,         \* the newest durable superblock
  sent           \* the one on its way, or super again

tvars == <<taken, down, made, super, sent>>

Key == CHOOSE k \in Keys : TRUE

More  == taken < Len(Trace)
Event == Trace[taken + 1]

Number(n) == versions[n][Key]

PersistentNumber == Persistent[Key]
EphemeralNumber  == Ephemeral[Key]

\* The place of a version in the row, 0 if it has none.
Place(v) ==
  IF \E n \in 1..Len(versions) : Number(n) = v
    THEN CHOOSE n \in 1..Len(versions) : Number(n) = v
    ELSE 0

\* None is the version of an empty store.
TraceInit ==
  /\ Init
  /\ taken = 0
  /\ down = "power"
  /\ made = {}
  /\ super = [number |-> 1, slot |-> 0, cut |-> None]
  /\ sent = super

\* The superblock that a recovery may say it has found.
Found(e) == CHOOSE s \in {super, sent} : s.number = e.superblock

-----------------------------------------------------------------------------
(***************************************************************************)
(* Why no behaviour has the next event. Empty: nothing speaks against it.  *)
(***************************************************************************)

WhyNotOpen(e) ==
  IF down = "no" THEN "the store is open"
  ELSE IF e.version > EphemeralNumber THEN "the version is above the ephemeral one"
  ELSE IF e.version < PersistentNumber THEN "the version is below the persistent one"
  ELSE IF Place(e.version) = 0 THEN "there never was such a version"
  ELSE IF ~\E s \in {super, sent} : s = [number |-> e.superblock, slot |-> e.slot, cut |-> e.cut]
    THEN "the superblock is neither the newest durable one nor the one on its way"
  ELSE IF e.cut > e.version THEN "the journal ends below the tree"
  ELSE ""

WhyNotChange(e) ==
  IF e.version <= EphemeralNumber THEN "the version is not above the ephemeral one"
  ELSE ""

WhyNotFreeze(e) ==
  IF e.superblock # super.number + 1 THEN "the superblock's number is not the next one"
  ELSE IF e.version < sent.cut THEN "the cut goes back"
  ELSE IF e.version > EphemeralNumber THEN "the version is above the ephemeral one"
  ELSE IF e.version # super.cut /\ e.version \notin made THEN "there never was such a version"
  ELSE ""

WhyNotCheckpoint(e) ==
  IF sent = super THEN "no superblock is on its way"
  ELSE IF e.superblock # sent.number THEN "another superblock is on its way"
  ELSE IF e.version # sent.cut THEN "another version was frozen"
  ELSE IF e.slot # sent.slot THEN "the slot is that of the newest durable superblock"
  ELSE ""

WhyNotJournal(e) ==
  IF e.version > EphemeralNumber THEN "the version is above the ephemeral one"
  ELSE IF e.version >= PersistentNumber /\ Place(e.version) = 0 THEN "there never was such a version"
  ELSE ""

WhyNotSyncAsk(e) ==
  IF e.id \notin Ids THEN "there is no such sync"
  ELSE IF syncs[e.id] # 0 THEN "the sync waits already"
  ELSE IF e.version # EphemeralNumber THEN "the version is not the ephemeral one"
  ELSE ""

WhyNotSyncAnswer(e) ==
  IF e.id \notin Ids THEN "there is no such sync"
  ELSE IF syncs[e.id] = 0 THEN "the sync does not wait: it was not asked for, or the program that asked has ended"
  ELSE IF syncs[e.id] > 1 \/ e.version > PersistentNumber THEN "the version is not persistent"
  ELSE ""

WhyNot(e) ==
  IF e.event \in {"Crash", "Kill"} THEN ""
  ELSE IF e.event = "Open" THEN WhyNotOpen(e)
  ELSE IF down # "no" THEN "the store is not open"
  ELSE IF e.event = "Change" THEN WhyNotChange(e)
  ELSE IF e.event = "Freeze" THEN WhyNotFreeze(e)
  ELSE IF e.event = "Checkpoint" THEN WhyNotCheckpoint(e)
  ELSE IF e.event = "Journal" THEN WhyNotJournal(e)
  ELSE IF e.event = "SyncAsk" THEN WhyNotSyncAsk(e)
  ELSE IF e.event = "SyncAnswer" THEN WhyNotSyncAnswer(e)
  ELSE "there is no such event"

Why == IF More THEN WhyNot(Event) ELSE ""

-----------------------------------------------------------------------------
(***************************************************************************)
(* What nothing tells of: that a version is handed to the disk, and that   *)
(* it arrives there. Each is a step of its own, before the event.          *)
(***************************************************************************)

\* The version that must have been handed over for the event.
Handed ==
  IF Event.event \in {"Open", "Freeze", "Checkpoint", "Journal"} THEN Place(Event.version) ELSE 0

\* The version that must have arrived. Recovery syncs the file in which it has
\* found the superblock.
Arrived ==
  IF Event.event \in {"Checkpoint", "Journal"} THEN Place(Event.version)
  ELSE IF Event.event # "Open" THEN 0
  ELSE IF down = "power" THEN Place(Event.version)
  ELSE Place(Event.cut)

HandOver ==
  /\ Handed > frozen
  /\ Freeze
  /\ frozen' = Handed
  /\ UNCHANGED tvars

Arrive ==
  /\ Handed <= frozen
  /\ Arrived > 1
  /\ Persist
  /\ Len(versions') = Len(versions) - Arrived + 1
  /\ UNCHANGED tvars

Ready == Handed <= frozen /\ Arrived <= 1

-----------------------------------------------------------------------------
(***************************************************************************)
(* The events.                                                             *)
(***************************************************************************)

Take(name) == Event.event = name /\ Ready /\ taken' = taken + 1

\* There is one version in the row after a loss of power, and after the end of
\* the program those that were handed over, of which the last is seen.
TakeOpen ==
  /\ Take("Open")
  /\ IF down = "power" THEN Crash ELSE Kill /\ Len(versions') = Handed
  /\ down' = "no"
  /\ super' = Found(Event)
  /\ sent' = super'
  /\ made' = {v \in made : Event.cut < v /\ v <= Event.version}

TakeChange ==
  /\ Take("Change")
  /\ Become(Key, Event.version)
  /\ made' = made \cup {Event.version}
  /\ UNCHANGED <<down, super, sent>>

TakeFreeze ==
  /\ Take("Freeze")
  /\ sent' = [number |-> Event.superblock, slot |-> 1 - super.slot, cut |-> Event.version]
  /\ UNCHANGED <<vars, down, made, super>>

TakeCheckpoint ==
  /\ Take("Checkpoint")
  /\ super' = sent
  /\ made' = {v \in made : v > Event.version}
  /\ UNCHANGED <<vars, down, sent>>

TakeJournal ==
  /\ Take("Journal")
  /\ UNCHANGED <<vars, down, made, super, sent>>

TakeSyncAsk ==
  /\ Take("SyncAsk")
  /\ SyncRequest(Event.id)
  /\ UNCHANGED <<down, made, super, sent>>

TakeSyncAnswer ==
  /\ Take("SyncAnswer")
  /\ SyncReply(Event.id)
  /\ UNCHANGED <<down, made, super, sent>>

\* What is left shows when the store is opened again. A program that ends
\* during recovery has changed nothing, and power that was lost stays lost.
TakeCrash ==
  /\ Take("Crash")
  /\ down' = "power"
  /\ UNCHANGED <<vars, made, super, sent>>

TakeKill ==
  /\ Take("Kill")
  /\ down' = IF down = "power" THEN "power" ELSE "kill"
  /\ UNCHANGED <<vars, made, super, sent>>

Done ==
  /\ ~More
  /\ UNCHANGED <<vars, tvars>>

TraceNext ==
  \/ /\ More
     /\ Why = ""
     /\ \/ HandOver
        \/ Arrive
        \/ TakeOpen
        \/ TakeChange
        \/ TakeFreeze
        \/ TakeCheckpoint
        \/ TakeJournal
        \/ TakeSyncAsk
        \/ TakeSyncAnswer
        \/ TakeCrash
        \/ TakeKill
  \/ Done

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, tvars>>

-----------------------------------------------------------------------------
\* What to say of a state.
Seen == [
  explained  |-> taken,
  why        |-> Why,
  persistent |-> PersistentNumber,
  frozen     |-> Number(frozen),
  ephemeral  |-> EphemeralNumber,
  syncs      |-> [i \in {j \in Ids : syncs[j] # 0} |-> Number(syncs[i])],
  down       |-> down,
  super      |-> super,
  sent       |-> sent ]

TraceTypeOK ==
  /\ TypeOK
  /\ taken \in 0..Len(Trace)
  /\ down \in {"no", "power", "kill"}
  /\ made \subseteq Values
  /\ {super, sent} \subseteq [number : Nat, slot : {0, 1}, cut : Values \cup {None}]

\* Versions rise along the row, and a cut is not above the row.
Rising ==
  /\ \A n \in 2..Len(versions) : Number(n-1) < Number(n)
  /\ super.cut <= sent.cut
  /\ sent.cut <= EphemeralNumber
=============================================================================

------------------------- MODULE StoreTraceExample -------------------------
(***************************************************************************)
(* Three lives of the engine on a simulated disk, as conform.Module writes *)
(* them: a loss of power in a sync, which loses all; the end of a program  *)
(* while a superblock is on its way, which arrives; and what was asked for *)
(* less often than it was durable. Below are lives that were not.          *)
(***************************************************************************)
EXTENDS StoreTrace

Recorded == <<
  [event |-> "Open", superblock |-> 1, slot |-> 0, cut |-> 0, version |-> 0],
  [event |-> "SyncAsk", id |-> 1, version |-> 0],
  [event |-> "SyncAnswer", id |-> 1, version |-> 0],
  [event |-> "Change", version |-> 1],
  [event |-> "Change", version |-> 2],
  [event |-> "Change", version |-> 3],
  [event |-> "SyncAsk", id |-> 1, version |-> 3],
  [event |-> "Crash"],
  [event |-> "Open", superblock |-> 1, slot |-> 0, cut |-> 0, version |-> 0],
  [event |-> "Change", version |-> 1],
  [event |-> "Freeze", superblock |-> 2, version |-> 1],
  [event |-> "Checkpoint", superblock |-> 2, slot |-> 1, version |-> 1],
  [event |-> "Change", version |-> 2],
  [event |-> "Change", version |-> 3],
  [event |-> "Change", version |-> 4],
  [event |-> "Change", version |-> 8],
  [event |-> "SyncAsk", id |-> 1, version |-> 8],
  [event |-> "Journal", version |-> 8],
  [event |-> "SyncAnswer", id |-> 1, version |-> 8],
  [event |-> "Change", version |-> 9],
  [event |-> "Change", version |-> 10],
  [event |-> "SyncAsk", id |-> 1, version |-> 10],
  [event |-> "Journal", version |-> 10],
  [event |-> "SyncAnswer", id |-> 1, version |-> 10],
  [event |-> "Freeze", superblock |-> 3, version |-> 10],
  [event |-> "Kill"],
  [event |-> "Open", superblock |-> 3, slot |-> 0, cut |-> 10, version |-> 10],
  [event |-> "Change", version |-> 16],
  [event |-> "SyncAsk", id |-> 1, version |-> 16],
  [event |-> "Journal", version |-> 16],
  [event |-> "SyncAnswer", id |-> 1, version |-> 16],
  [event |-> "Change", version |-> 17],
  [event |-> "Change", version |-> 20],
  [event |-> "SyncAsk", id |-> 1, version |-> 20],
  [event |-> "Journal", version |-> 20],
  [event |-> "SyncAnswer", id |-> 1, version |-> 20],
  [event |-> "Change", version |-> 21],
  [event |-> "Change", version |-> 22],
  [event |-> "Freeze", superblock |-> 4, version |-> 22],
  [event |-> "Checkpoint", superblock |-> 4, slot |-> 1, version |-> 22],
  [event |-> "Change", version |-> 23],
  [event |-> "Change", version |-> 24],
  [event |-> "Change", version |-> 25],
  [event |-> "Change", version |-> 26],
  [event |-> "SyncAsk", id |-> 1, version |-> 26],
  [event |-> "Journal", version |-> 26],
  [event |-> "SyncAnswer", id |-> 1, version |-> 26],
  [event |-> "Change", version |-> 27],
  [event |-> "SyncAsk", id |-> 1, version |-> 27],
  [event |-> "Journal", version |-> 27],
  [event |-> "SyncAnswer", id |-> 1, version |-> 27],
  [event |-> "Freeze", superblock |-> 5, version |-> 27],
  [event |-> "Checkpoint", superblock |-> 5, slot |-> 0, version |-> 27],
  [event |-> "Change", version |-> 31],
  [event |-> "SyncAsk", id |-> 1, version |-> 31],
  [event |-> "Journal", version |-> 31],
  [event |-> "SyncAnswer", id |-> 1, version |-> 31],
  [event |-> "Freeze", superblock |-> 6, version |-> 31],
  [event |-> "Checkpoint", superblock |-> 6, slot |-> 1, version |-> 31],
  [event |-> "Freeze", superblock |-> 7, version |-> 31],
  [event |-> "Checkpoint", superblock |-> 7, slot |-> 0, version |-> 31],
  [event |-> "Change", version |-> 32],
  [event |-> "Change", version |-> 33],
  [event |-> "Change", version |-> 34],
  [event |-> "Crash"]
>>

Versions == {Recorded[n].version : n \in {m \in 1..Len(Recorded) : Recorded[m].event = "Change"}}

Syncs == 1..1

\* An engine that answers before it has written its journal.
Unjournaled == SelectSeq(Recorded, LAMBDA e : e.event # "Journal")

\* The sync that the loss of power has forgotten is answered in the next life.
Forgotten == SubSeq(Recorded, 1, 9) \o << [event |-> "SyncAnswer", id |-> 1, version |-> 3] >>
=============================================================================

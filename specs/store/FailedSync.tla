------------------------------ MODULE FailedSync ------------------------------
(***************************************************************************)
(* The store on a file system with a page cache, whose syncs may fail.     *)
(*                                                                         *)
(* After a sync that failed the cache may show, as clean, what the disk    *)
(* does not have, and no later sync writes it. The store stops then. But   *)
(* its next life may find such pages in the cache, if only the process     *)
(* ends; a loss of power later takes them. So without direct access the    *)
(* first sync of a life writes what was recovered anew, as a tree          *)
(* (store/sync.go, flushRecovered), and recovery writes the superblock     *)
(* that it has found once more (store/sync.go, syncFound).                 *)
(*                                                                         *)
(* A change may have a large value, which has a page of its own that is    *)
(* synced before the frame that refers to it. A witness says how far       *)
(* everything was durable (store/witness.go); it is never synced, so it    *)
(* may be lost, and is never wrong.                                        *)
(*                                                                         *)
(* A change is the number of the life that made it. A page is written as a *)
(* whole or torn; what JournalCheckpoint says of segments, slots and runs  *)
(* is left out, and a superblock has its tree in it.                       *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  MaxChanges, MaxLives, MaxSupers,
  Large,         \* the changes that have a large value
  Fails,         \* how often a sync may fail
  Direct,        \* the store reads and writes around the cache
  Rots,          \* a frame may rot, once, while the store is down
  Flaw           \* "none", or what the store does wrong

VARIABLES
  media,         \* what is durable of each page
  cache,         \* what reads find
  dirty,         \* pages that the next sync writes
  mode, life,
  log,           \* the changes, in memory
  framed,        \* how many of them are written to the journal
  synced,        \* how many are durable, as far as the store knows
  valued,        \* how many large values are durable, up to this change
  super, slot,   \* the newest superblock, and where it is
  saving,        \* a superblock is written, and not synced
  recovered,     \* the log has changes of the journal of an earlier life
  promised,      \* the changes that were acknowledged
  failed,        \* syncs that have failed
  rotten         \* something has rotted

vars == <<media, cache, dirty, mode, life, log, framed, synced, valued, super, slot, saving, recovered, promised, failed, rotten>>
disk == <<media, cache, dirty>>
memory == <<log, framed, synced, valued, super, slot, saving, recovered>>

Frame(i) == <<"frame", i>>
Value(i) == <<"value", i>>
Super(i) == <<"super", i>>
Witness  == <<"witness", 0>>

Journal == {Frame(i) : i \in 1..MaxChanges}
Data    == {Value(i) : i \in Large} \cup {Super(1), Super(2), Witness}

Blank   == [is |-> "blank"]
Garbage == [is |-> "garbage"]
First   == [is |-> "super", seq |-> 1, ops |-> <<>>]

IsPrefix(a, b) == Len(a) <= Len(b) /\ a = SubSeq(b, 1, Len(a))
Max(a, b) == IF a > b THEN a ELSE b

Init ==
  /\ media = [p \in Journal \cup Data |-> IF p = Super(1) THEN First ELSE Blank]
  /\ cache = media /\ dirty = {}
  /\ mode = "down" /\ life = 0
  /\ log = <<>> /\ framed = 0 /\ synced = 0 /\ valued = 0 /\ super = First /\ slot = 1 /\ saving = 0 /\ recovered = FALSE
  /\ promised = <<>> /\ failed = 0 /\ rotten = FALSE

-----------------------------------------------------------------------------
\* What recovery makes of pages. A frame follows the one before it if it says so.
IsSuper(p) == p.is = "super"

Newest(V) == IF ~IsSuper(V[Super(1)]) THEN 2
             ELSE IF IsSuper(V[Super(2)]) /\ V[Super(2)].seq > V[Super(1)].seq THEN 2 ELSE 1

RECURSIVE Walk(_, _)
Walk(V, ops) ==
  LET i == Len(ops) + 1
      last == IF ops = <<>> THEN 0 ELSE ops[Len(ops)]
  IN  IF i <= MaxChanges /\ V[Frame(i)].is = "frame" /\ V[Frame(i)].prev = last
      THEN Walk(V, Append(ops, V[Frame(i)].life)) ELSE ops

Recovers(V) == IF IsSuper(V[Super(1)]) \/ IsSuper(V[Super(2)]) THEN Walk(V, V[Super(Newest(V))].ops) ELSE <<>>

\* The large values to which these changes refer are there.
ValuesIn(V, ops) == \A i \in Large : i <= Len(ops) => V[Value(i)] = [is |-> "value", life |-> ops[i]]

Says(V) == IF V[Witness].is = "witness" THEN V[Witness].durable ELSE 0

-----------------------------------------------------------------------------
\* The disk.
Write(p, what) == cache' = [cache EXCEPT ![p] = what] /\ dirty' = dirty \cup {p} /\ UNCHANGED media

Arrive(S) == media' = [p \in DOMAIN media |-> IF p \in S THEN cache[p] ELSE media[p]]

Destage == \E p \in dirty : Arrive({p}) /\ dirty' = dirty \ {p} /\ UNCHANGED cache

\* A page that is clean may leave the cache, whatever the disk has of it.
Evict == \E p \in DOMAIN media \ dirty : cache[p] # media[p] /\ cache' = [cache EXCEPT ![p] = media[p]] /\ UNCHANGED <<media, dirty>>

TheDisk == (Destage \/ Evict) /\ UNCHANGED <<mode, life, memory, promised, failed, rotten>>

Synced(file) == Arrive(dirty \cap file) /\ dirty' = dirty \ file /\ UNCHANGED cache

\* A sync that fails: some pages have come to the disk. The others are clean now,
\* unless there is no cache between.
Fail(file) ==
  /\ failed < Fails /\ failed' = failed + 1
  /\ dirty \cap file # {}
  /\ \E S \in SUBSET (dirty \cap file) :
       /\ S # dirty \cap file
       /\ Arrive(S) /\ dirty' = IF Direct THEN dirty \ S ELSE dirty \ file
  /\ mode' = "stopped"
  /\ UNCHANGED <<cache, life, memory, promised, rotten>>

-----------------------------------------------------------------------------
\* The store.
Change ==
  /\ mode = "up" /\ Len(log) < MaxChanges
  /\ log' = Append(log, life)
  /\ IF Len(log) + 1 \in Large THEN Write(Value(Len(log) + 1), [is |-> "value", life |-> life]) ELSE UNCHANGED disk
  /\ UNCHANGED <<mode, life, framed, synced, valued, super, slot, saving, recovered, promised, failed, rotten>>

WriteFrame ==
  /\ mode = "up" /\ framed < Len(log)
  /\ LET i == framed + 1
     IN  /\ i \in Large /\ Flaw # "values are not synced" => i <= valued
         /\ Write(Frame(i), [is |-> "frame", life |-> log[i], prev |-> IF i = 1 THEN 0 ELSE log[i-1]])
         /\ framed' = i
  /\ UNCHANGED <<mode, life, log, synced, valued, super, slot, saving, recovered, promised, failed, rotten>>

Promise(n) == promised' = IF n > Len(promised) THEN SubSeq(log, 1, n) ELSE promised

SyncJournal ==
  /\ mode = "up" /\ framed > synced
  /\ ~Direct /\ Flaw # "earlier frames are believed" => ~recovered
  /\ \/ /\ Synced(Journal) /\ synced' = framed /\ Promise(framed)
        /\ UNCHANGED <<mode, life, log, framed, valued, super, slot, saving, recovered, failed, rotten>>
     \/ Fail(Journal)

\* A sync of the data file: for large values, and before and behind a superblock.
SyncData ==
  /\ mode = "up" /\ dirty \cap Data # {}
  /\ \/ /\ Synced(Data) /\ valued' = Len(log)
        /\ IF saving = 0 THEN UNCHANGED <<super, slot, saving, framed, synced, recovered, promised>>
           ELSE /\ super' = cache[Super(3 - slot)] /\ slot' = 3 - slot /\ saving' = 0
                /\ framed' = Max(framed, saving) /\ synced' = Max(synced, saving)
                /\ recovered' = FALSE /\ Promise(saving)
        /\ UNCHANGED <<mode, life, log, failed, rotten>>
     \/ Fail(Data)

WriteSuper ==
  /\ mode = "up" /\ saving = 0 /\ super.seq < MaxSupers /\ Len(log) > Len(super.ops)
  /\ \A i \in Large : i <= Len(log) => i <= valued
  /\ saving' = Len(log)
  /\ Write(Super(3 - slot), [is |-> "super", seq |-> super.seq + 1, ops |-> log])
  /\ UNCHANGED <<mode, life, log, framed, synced, valued, super, slot, recovered, promised, failed, rotten>>

Testify ==
  LET n == IF Flaw = "the witness hopes" THEN framed ELSE synced
  IN  /\ mode = "up" /\ n > Says(cache)
      /\ Write(Witness, [is |-> "witness", durable |-> n])
      /\ UNCHANGED <<mode, life, memory, promised, failed, rotten>>

\* The data file is synced when it is opened, with the superblock that was found, which
\* may be clean and not on the disk.
Open ==
  /\ mode = "down" /\ life < MaxLives
  /\ life' = life + 1
  /\ LET ops == Recovers(cache)
         s == Newest(cache)
     IN  IF Says(cache) > Len(ops) /\ Flaw # "nobody asks the witness"
         THEN mode' = "refused" /\ UNCHANGED <<disk, memory>>
         ELSE /\ mode' = "opening"
              /\ log' = ops /\ framed' = Len(ops) /\ valued' = Len(ops)
              /\ super' = cache[Super(s)] /\ slot' = s /\ saving' = 0
              /\ synced' = Len(cache[Super(s)].ops)
              /\ recovered' = (Len(ops) > Len(cache[Super(s)].ops))
              /\ dirty' = IF Direct \/ Flaw = "the superblock is believed" THEN dirty ELSE dirty \cup {Super(s)}
              /\ UNCHANGED <<media, cache>>
  /\ UNCHANGED <<promised, failed, rotten>>

Opened ==
  /\ mode = "opening"
  /\ \/ Synced(Data) /\ mode' = "up" /\ UNCHANGED <<life, memory, promised, failed, rotten>>
     \/ Fail(Data)

Down ==
  /\ mode' = "down"
  /\ log' = <<>> /\ framed' = 0 /\ synced' = 0 /\ valued' = 0 /\ super' = First /\ slot' = 1 /\ saving' = 0 /\ recovered' = FALSE
  /\ UNCHANGED <<life, promised, failed, rotten>>

\* The process ends, and the cache stays.
Kill == mode # "down" /\ Down /\ UNCHANGED disk

\* The power is lost. A superblock on its way may be torn; one that is written over itself
\* cannot.
Crash ==
  /\ mode # "down" /\ Down /\ dirty' = {}
  /\ \E torn \in SUBSET {p \in dirty \cap {Super(1), Super(2)} : cache[p] # media[p]} :
       /\ media' = [p \in DOMAIN media |-> IF p \in torn THEN Garbage ELSE media[p]]
       /\ cache' = media'

Rot ==
  /\ Rots /\ mode = "down" /\ ~rotten /\ rotten' = TRUE
  /\ \E i \in 1..MaxChanges :
       /\ media[Frame(i)].is = "frame"
       /\ media' = [media EXCEPT ![Frame(i)] = Garbage] /\ cache' = [cache EXCEPT ![Frame(i)] = Garbage]
  /\ UNCHANGED <<dirty, mode, life, memory, promised, failed>>

Next ==
  \/ TheDisk \/ Open \/ Opened \/ Kill \/ Crash \/ Rot
  \/ Change \/ WriteFrame \/ SyncJournal \/ SyncData \/ WriteSuper \/ Testify

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* What was acknowledged outlives a loss of power.
Durable == ~rotten => IsPrefix(promised, Recovers(media))

\* So do the large values of all that recovery finds.
HasValues == ValuesIn(media, Recovers(media))

\* A store that shows what it has recovered shows all that was acknowledged.
Shows == mode = "up" /\ ~rotten => IsPrefix(promised, log)

\* Nothing but damage makes the store refuse to open.
NoFalseAlarm == mode = "refused" => rotten

\* What the witness has said is there, or the store refuses to open.
LossIsTold == mode = "up" => Says(cache) <= Len(log)

\* Each is violated by showing what it says never to happen.
NeverLies      == ~(\E p \in Journal : p \notin dirty /\ cache[p] # media[p] /\ mode = "up")
NeverTold      == mode # "refused"
NeverSilent    == ~(rotten /\ mode = "up" /\ Len(log) < Len(promised))
NeverTorn      == \A i \in 1..2 : media[Super(i)] # Garbage
NeverRecovered == ~(mode = "up" /\ recovered /\ failed > 0 /\ Large # {} /\ Len(log) > 0)
=============================================================================

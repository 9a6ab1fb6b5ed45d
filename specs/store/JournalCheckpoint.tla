-------------------------- MODULE JournalCheckpoint --------------------------
(***************************************************************************)
(* How the store keeps the promise of CrashSafeMap on the disk of          *)
(* AsyncDisk: a journal of frames, checkpoints of the tree under two       *)
(* superblocks, and a recovery that writes nothing.                        *)
(*                                                                         *)
(* Changes are numbered by their place in the log.  They go to a memtable, *)
(* which is one segment of the journal: a page that names the segment, and *)
(* frames behind it.  A frame names the segment, its place, its session,   *)
(* the place of its first change, and the checksum of the frame before; a  *)
(* session is a life of the program.  A checkpoint writes the tree, which  *)
(* has the changes of all memtables but the active one, to pages that no   *)
(* superblock needs; flushes; writes the superblock to the slot of the     *)
(* older one; flushes; and gives up what neither superblock needs.         *)
(*                                                                         *)
(* The tree is one block here, copied whole by each checkpoint.  Branches, *)
(* nodes and chunks of the table are many, but live and die like it.       *)
(*                                                                         *)
(* Every change has a number of its own that is never used again, so that  *)
(* what comes back from an earlier life is told from what is written now;  *)
(* but checksums see only what a frame says, and changes may say the same. *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  MaxChanges,
  Deletes,       \* the changes that delete their key; the others put it
  MaxLives,      \* crashes end all lives but the last one
  Kills,         \* whether a program may end without the machine
  MaxSupers,
  Segments,      \* files of the journal
  Frames,        \* places for frames in each
  Runs,          \* places for trees
  Parts,         \* sectors of a block
  Eager,         \* whether frames are written before anybody asks for a sync
  Syncs,         \* whether anybody asks for a sync
  Readers,       \* whether the tree is read
  Rots,          \* what may rot when it is read: "super", "run", "page", "frame"
  Flaw           \* what is wrong, or "none"

VARIABLES
  media, cache, requests, replies,     \* AsyncDisk's
  mode,          \* "down", then what recovery waits for, then "up"
  life, issued,  \* how many there were
  log,           \* the numbers of the changes that a user sees, when up
  mems,          \* the memtables, the active one last
  super, slot,   \* the superblock in use, and where it is
  older,         \* the run of the one before it, or 0
  files,         \* for each segment file the number that it is needed for, or 0
  chain,         \* of the last frame: its checksum and its session
  sealed,        \* changes up to here are in frames that were written, or in the tree
  durable,       \* changes up to here are known to be durable
  unsynced,      \* files to be flushed by the next sync
  journal,       \* what the journal waits for
  upTo,          \* up to where the flush under way makes the journal durable
  saver,         \* what the checkpoint waits for
  next,          \* the superblock under way
  sync,          \* what the user has asked to be durable, or 0
  kept, seen,    \* what recovery would make of the medium, and of the disk with its cache
  versions       \* those of CrashSafeMap, see there

disk    == <<media, cache, requests, replies>>
memory  == <<mode, log, mems, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, saver, next, sync>>
history == <<life, issued>>
vars    == <<disk, memory, history, kept, seen, versions>>

Min(S) == CHOOSE x \in S : \A y \in S : x <= y
Max(S) == CHOOSE x \in S : \A y \in S : x >= y

IsPrefix(s, t) == Len(s) <= Len(t) /\ SubSeq(t, 1, Len(s)) = s

-----------------------------------------------------------------------------
\* Blocks.
Supers      == {<<"super", 1>>, <<"super", 2>>}
TreeRuns    == {<<"run", r>> : r \in Runs}
Data        == Supers \cup TreeRuns
PageOf(f)   == <<"page", f>>
Place(f, n) == <<"frame", f, n>>
File(f)     == {PageOf(f)} \cup {Place(f, n) : n \in Frames}
JournalFiles == UNION {File(f) : f \in Segments}

NoBlock  == [is |-> "blank"]
BadBlock == [is |-> "garbage"]

D == INSTANCE AsyncDisk WITH
  Ids <- {"open", "journal", "saver", "get"}, Addresses <- Data \cup JournalFiles, Sectors <- Parts,
  Contents <- {}, Blank <- NoBlock, Garbage <- BadBlock, Rotting <- {a \in Data \cup JournalFiles : a[1] \in Rots}

Session == IF Flaw = "no session" THEN 0 ELSE life

\* What a checksum tells apart.
Checksum(frame) == [session |-> frame.session, first |-> frame.first, length |-> Len(frame.ops)]

NoChain == [prev |-> [session |-> 0, first |-> 0, length |-> 0], session |-> 0]

FirstSuper == [is |-> "super", seq |-> 1, run |-> 0, cut |-> 0, last |-> 0, segment |-> 1, chain |-> NoChain]

-----------------------------------------------------------------------------
\* Recovery, as a function of what is read.

\* The newest superblock that is whole, in slot 1 or 2, or 0.
Choose(V) ==
  LET good == {i \in {1, 2} : V[<<"super", i>>].is = "super"}
  IN  IF good = {} THEN 0 ELSE CHOOSE i \in good : \A k \in good : V[<<"super", i>>].seq >= V[<<"super", k>>].seq

\* A superblock has the checksum of its tree: of two trees of one length the
\* last change tells them apart.
LeadsTo(s, block) == s.cut = 0 \/ (block.is = "tree" /\ Len(block.ops) = s.cut /\ block.ops[s.cut] = s.last)

\* The frames that follow in a file whose first page is p. What was read so far is
\* r: the log, the chain, and the segments that have frames.
RECURSIVE Walk(_, _, _, _, _)
Walk(V, f, p, n, r) ==
  LET b == IF n \in Frames THEN V[Place(f, n)] ELSE NoBlock
      fits == /\ b.is = "frame"
              /\ b.number = p.number
              /\ b.place = n
              /\ b.session = p.session
              /\ b.first = Len(r.log) + 1
              /\ b.prev = r.chain.prev
              /\ IF b.start THEN n = 1 ELSE b.session = r.chain.session
      mem == [number |-> p.number, first |-> p.first, file |-> f, used |-> n, full |-> TRUE, chain |-> [prev |-> p.prev, session |-> r.chain.session]]
  IN  IF fits
      THEN Walk(V, f, p, n + 1,
             [log |-> r.log \o b.ops, chain |-> [prev |-> Checksum(b), session |-> b.session],
              mems |-> IF n = 1 THEN Append(r.mems, mem) ELSE [r.mems EXCEPT ![Len(r.mems)].used = n]])
      ELSE r

\* Segments are tried in the order of their numbers; one whose page does not
\* continue the chain has been given up by a later life.
RECURSIVE Replay(_, _, _)
Replay(V, left, r) ==
  IF left = {} THEN r
  ELSE LET f == CHOOSE f \in left : \A g \in left : V[PageOf(f)].number <= V[PageOf(g)].number
           p == V[PageOf(f)]
       IN  Replay(V, left \ {f}, IF p.first = Len(r.log) + 1 /\ p.prev = r.chain.prev THEN Walk(V, f, p, 1, r) ELSE r)

Named(V) == {f \in Segments : V[PageOf(f)].is = "page"}

FromJournal(V, s, ops) ==
  Replay(V, {f \in Named(V) : V[PageOf(f)].number >= s.segment}, [log |-> ops, chain |-> s.chain, mems |-> <<>>])

\* The log that recovery ends with; <<0>> is none.
Recovered(V) ==
  LET i == Choose(V)
      s == V[<<"super", i>>]
  IN  IF i = 0 THEN <<0>>
      ELSE IF s.cut = 0 THEN FromJournal(V, s, <<>>).log
      ELSE IF LeadsTo(s, V[<<"run", s.run>>]) THEN FromJournal(V, s, V[<<"run", s.run>>].ops).log
      ELSE <<0>>

\* What the disk would give now.
Kept == [a \in Data \cup JournalFiles |-> D!Kept(a)]
Seen == [a \in Data \cup JournalFiles |-> D!Seen(a)]
Note ==
  /\ kept' = IF media' = media THEN kept ELSE Recovered(Kept)'
  /\ seen' = IF cache' = cache \/ media' # media THEN seen ELSE Recovered(Seen)'

-----------------------------------------------------------------------------
Nowhere == [number |-> 0, first |-> 0, file |-> 0, used |-> 0, full |-> FALSE, chain |-> NoChain]

Active == mems[Len(mems)]

Down ==
  /\ mode' = "down" /\ log' = <<>> /\ mems' = <<>> /\ super' = FirstSuper /\ slot' = 1 /\ older' = 0
  /\ files' = [f \in Segments |-> 0] /\ chain' = NoChain /\ sealed' = 0 /\ durable' = 0
  /\ unsynced' = {} /\ journal' = "idle" /\ upTo' = 0 /\ saver' = "idle" /\ next' = FirstSuper /\ sync' = 0

Init ==
  /\ media = [a \in Data \cup JournalFiles |-> [s \in Parts |-> IF a = <<"super", 1>> THEN FirstSuper ELSE NoBlock]]
  /\ cache = [a \in Data \cup JournalFiles |-> D!Clean]
  /\ requests = {} /\ replies = {}
  /\ life = 1 /\ issued = 0
  /\ mode = "down" /\ log = <<>> /\ mems = <<>> /\ super = FirstSuper /\ slot = 1 /\ older = 0
  /\ files = [f \in Segments |-> 0] /\ chain = NoChain /\ sealed = 0 /\ durable = 0
  /\ unsynced = {} /\ journal = "idle" /\ upTo = 0 /\ saver = "idle" /\ next = FirstSuper /\ sync = 0
  /\ kept = <<>> /\ seen = <<>> /\ versions = << [k \in {1, 2} |-> 0] >>

\* A step of the program that sends requests under an id, or none, and takes the
\* reply before.
Send(id, new) == D!Go(id, new) /\ UNCHANGED <<media, cache, kept, seen>>

Reply(id) == D!Answer(id)

-----------------------------------------------------------------------------
\* Opening.
Open ==
  /\ mode = "down" /\ D!Idle("open")
  /\ Send("open", {D!Read("open", Supers)})
  /\ mode' = "supers"
  /\ UNCHANGED <<log, mems, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, saver, next, sync, history>>

\* It cannot be opened: an error, and nothing has been changed.
GiveUp == Send("open", {}) /\ Down /\ UNCHANGED history

ReadSupers ==
  /\ mode = "supers" /\ D!Answered("open")
  /\ LET V == Reply("open").data
         i == Choose(V)
         other == V[<<"super", 3 - i>>]
     IN  IF i = 0 THEN GiveUp
         ELSE /\ super' = V[<<"super", i>>] /\ slot' = i
              /\ older' = IF other.is = "super" /\ other.seq + 1 = V[<<"super", i>>].seq THEN other.run ELSE 0
              /\ mode' = "tree"
              /\ Send("open", {D!Read("open", IF V[<<"super", i>>].cut = 0 THEN {} ELSE {<<"run", V[<<"super", i>>].run>>})})
              /\ UNCHANGED <<log, mems, files, chain, sealed, durable, unsynced, journal, upTo, saver, next, sync, history>>

ReadTree ==
  /\ mode = "tree" /\ D!Answered("open")
  /\ LET read == Reply("open").data
         tree == IF super.cut = 0 THEN NoBlock ELSE read[<<"run", super.run>>]
     IN  IF ~LeadsTo(super, tree) THEN GiveUp
         ELSE /\ log' = IF super.cut = 0 THEN <<>> ELSE tree.ops
              /\ mode' = "journal"
              /\ Send("open", {D!Read("open", JournalFiles)})
              /\ UNCHANGED <<mems, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, saver, next, sync, history>>

\* A new segment has a number above all that were seen. What was read from the
\* journal need not be durable: the first sync flushes those files too.
ReadJournal ==
  /\ mode = "journal" /\ D!Answered("open")
  /\ LET V == Reply("open").data
         r == FromJournal(V, super, log)
         number == Max({super.segment - 1} \cup {V[PageOf(f)].number : f \in Named(V)}) + 1
         live == {r.mems[i].file : i \in 1..Len(r.mems)}
     IN  /\ log' = r.log
         /\ mems' = Append(r.mems, [Nowhere EXCEPT !.number = number, !.first = Len(r.log) + 1])
         /\ chain' = r.chain
         /\ files' = [f \in Segments |-> IF f \in live THEN V[PageOf(f)].number ELSE 0]
         /\ sealed' = Len(r.log) /\ durable' = super.cut
         /\ unsynced' = IF Flaw = "no sync of what was found" THEN {} ELSE live
  /\ mode' = "flush"
  /\ Send("open", IF Flaw = "no flush when opened" THEN {} ELSE {D!Flush("open", Data)})
  /\ UNCHANGED <<super, slot, older, journal, upTo, saver, next, sync, history>>

Opened ==
  /\ mode = "flush"
  /\ D!Answered("open") \/ Flaw = "no flush when opened"
  /\ mode' = "up"
  /\ Send("open", {})
  /\ UNCHANGED <<log, mems, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, saver, next, sync, history>>

Recovery == Open \/ ReadSupers \/ ReadTree \/ ReadJournal \/ Opened

-----------------------------------------------------------------------------
\* The user. Changes alternate between two keys.
Change ==
  /\ mode = "up" /\ issued < MaxChanges /\ ~Active.full
  /\ issued' = issued + 1
  /\ log' = Append(log, issued + 1)
  /\ UNCHANGED <<disk, kept, seen, life, mode, mems, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, saver, next, sync>>

SyncRequest ==
  /\ Syncs /\ mode = "up" /\ sync = 0 /\ durable < Len(log)
  /\ sync' = Len(log)
  /\ UNCHANGED <<disk, kept, seen, history, mode, log, mems, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, saver, next>>

SyncReply ==
  /\ mode = "up" /\ sync # 0
  /\ \/ sync <= durable
     \/ Flaw = "answer before the flush" /\ sync <= sealed /\ journal = "idle"
  /\ sync' = 0
  /\ UNCHANGED <<disk, kept, seen, history, mode, log, mems, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, saver, next>>

\* The tree is read, and found as it was written or rotten.
Get ==
  /\ Readers /\ mode = "up" /\ super.cut > 0 /\ D!Idle("get")
  /\ Send("get", {D!Read("get", {<<"run", super.run>>})})
  /\ UNCHANGED <<memory, history>>

Got ==
  /\ mode = "up" /\ D!Answered("get")
  /\ Send("get", {})
  /\ UNCHANGED <<memory, history>>

-----------------------------------------------------------------------------
\* Memtables and the journal.
\* A memtable gives way to another one when it is full, or for a checkpoint.
Rotate ==
  /\ mode = "up" /\ Active.first <= Len(log) /\ issued < MaxChanges
  /\ IF Active.full THEN TRUE ELSE super.seq < MaxSupers
  /\ mems' = Append(mems, [Nowhere EXCEPT !.number = Active.number + 1, !.first = Len(log) + 1])
  /\ UNCHANGED <<disk, kept, seen, history, mode, log, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, saver, next, sync>>

\* The memtable whose changes are sealed next, and its last one.
Sealing == CHOOSE i \in 1..Len(mems) : mems[i].first <= sealed + 1 /\ (i = Len(mems) \/ mems[i+1].first > sealed + 1)
Last(i) == IF i = Len(mems) THEN Len(log) ELSE mems[i+1].first - 1

\* While a superblock is written, which says how the journal goes on, nothing is
\* written to the journal.
Locked == saver \in {"super", "superflush"}

WriteFrame(m, i) ==
  LET n == m.used + 1
      frame == [is |-> "frame", number |-> m.number, place |-> n, session |-> Session, first |-> sealed + 1,
                ops |-> SubSeq(log, sealed + 1, Last(i)), prev |-> chain.prev, start |-> chain.session # Session]
  IN  /\ Send("journal", {D!Write("journal", Place(m.file, n), frame)})
      /\ mems' = [mems EXCEPT ![i] = [m EXCEPT !.used = n, !.full = (n + 1) \notin Frames]]
      /\ chain' = [prev |-> Checksum(frame), session |-> Session]
      /\ sealed' = Last(i)
      /\ unsynced' = unsynced \cup {m.file}
      /\ journal' = "frame"

Wanted == sealed < Len(log) /\ (Eager \/ sync > sealed)

\* The next frame; for the first of a segment a file is taken that nobody needs,
\* and its new page is made durable first.
Seal ==
  /\ mode = "up" /\ journal = "idle" /\ ~Locked /\ Wanted
  /\ LET i == Sealing
         m == mems[i]
         spare == {f \in Segments : files[f] = 0}
     IN  IF m.file # 0 THEN WriteFrame(m, i) /\ UNCHANGED files
         ELSE /\ spare # {}
              /\ LET f == Min(spare)
                 IN  /\ Send("journal", {D!Write("journal", PageOf(f),
                           [is |-> "page", number |-> m.number, first |-> sealed + 1, prev |-> chain.prev, session |-> Session])})
                     /\ mems' = [mems EXCEPT ![i].file = f, ![i].chain = chain]
                     /\ files' = [files EXCEPT ![f] = m.number]
              /\ journal' = "page"
              /\ UNCHANGED <<chain, sealed, unsynced>>
  /\ UNCHANGED <<history, mode, log, super, slot, older, durable, upTo, saver, next, sync>>

PageWritten ==
  /\ journal = "page" /\ D!Answered("journal")
  /\ Send("journal", {D!Flush("journal", File(mems[Sealing].file))})
  /\ journal' = "pageflush"
  /\ UNCHANGED <<history, mode, log, mems, super, slot, older, files, chain, sealed, durable, unsynced, upTo, saver, next, sync>>

PageDurable ==
  /\ journal = "pageflush" /\ D!Answered("journal")
  /\ WriteFrame(mems[Sealing], Sealing)
  /\ UNCHANGED <<history, mode, log, super, slot, older, files, durable, upTo, saver, next, sync>>

FrameWritten ==
  /\ journal = "frame" /\ D!Answered("journal")
  /\ Send("journal", {})
  /\ journal' = "idle"
  /\ UNCHANGED <<history, mode, log, mems, super, slot, older, files, chain, sealed, durable, unsynced, upTo, saver, next, sync>>

\* One flush for everybody who waits, of all that was written.
Sync ==
  /\ mode = "up" /\ journal = "idle" /\ ~Locked /\ durable < sync /\ sync <= sealed
  /\ Send("journal", {D!Flush("journal", UNION {File(f) : f \in unsynced})})
  /\ journal' = "flush" /\ upTo' = sealed
  /\ UNCHANGED <<history, mode, log, mems, super, slot, older, files, chain, sealed, durable, unsynced, saver, next, sync>>

Synced ==
  /\ journal = "flush" /\ D!Answered("journal")
  /\ Send("journal", {})
  /\ journal' = "idle" /\ unsynced' = {} /\ upTo' = 0
  /\ durable' = Max({durable, upTo})
  /\ UNCHANGED <<history, mode, log, mems, super, slot, older, files, chain, sealed, saver, next, sync>>

Journal == Rotate \/ Seal \/ PageWritten \/ PageDurable \/ FrameWritten \/ Sync \/ Synced

-----------------------------------------------------------------------------
\* Checkpoints.

\* Runs that neither superblock leads to. What is being read stays, too.
Reusable ==
  LET needed == CASE Flaw = "reuse at once" -> {}
                  [] Flaw = "reuse after one" -> {super.run}
                  [] OTHER -> {super.run, older}
  IN  {r \in Runs \ needed : \A q \in requests : q.id = "get" => <<"run", r>> \notin q.at}

Freeze ==
  /\ mode = "up" /\ saver = "idle" /\ super.seq < MaxSupers /\ Active.first - 1 > super.cut /\ Reusable # {}
  /\ LET cut == Active.first - 1
         run == Min(Reusable)
     IN  /\ next' = [super EXCEPT !.seq = @ + 1, !.run = run, !.cut = cut, !.last = log[cut], !.segment = Active.number, !.chain = NoChain]
         /\ Send("saver", {D!Write("saver", <<"run", run>>, [is |-> "tree", ops |-> SubSeq(log, 1, cut)])})
  /\ saver' = "tree"
  /\ UNCHANGED <<history, mode, log, mems, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, sync>>

\* How the journal goes on behind the cut.
ChainAt(number) ==
  LET m == mems[CHOOSE i \in 1..Len(mems) : mems[i].number = number]
  IN  IF m.file # 0 THEN m.chain ELSE chain

WriteSuper ==
  /\ journal = "idle"
  /\ LET s == [next EXCEPT !.chain = ChainAt(next.segment)]
     IN  /\ next' = s
         /\ Send("saver", {D!Write("saver", <<"super", 3 - slot>>, s)})
  /\ saver' = "super"

TreeWritten ==
  /\ saver = "tree" /\ D!Answered("saver")
  /\ IF Flaw = "no flush before the superblock" THEN WriteSuper
     ELSE /\ Send("saver", {D!Flush("saver", Data)})
          /\ saver' = "treeflush" /\ UNCHANGED next
  /\ UNCHANGED <<history, mode, log, mems, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, sync>>

TreeDurable ==
  /\ saver = "treeflush" /\ D!Answered("saver")
  /\ WriteSuper
  /\ UNCHANGED <<history, mode, log, mems, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, sync>>

\* What the tree has needs no journal any more, and what only the superblock
\* before the last one needed is free.
Done ==
  /\ Send("saver", {})
  /\ saver' = "idle" /\ next' = FirstSuper
  /\ super' = next /\ slot' = 3 - slot /\ older' = super.run
  /\ mems' = SelectSeq(mems, LAMBDA m : m.first > next.cut)
  /\ sealed' = Max({sealed, next.cut}) /\ durable' = Max({durable, next.cut})
  /\ files' = [f \in Segments |-> IF files[f] < super.segment THEN 0 ELSE files[f]]
  /\ unsynced' = {f \in unsynced : files[f] >= next.segment}
  /\ UNCHANGED <<history, mode, log, chain, journal, upTo, sync>>

SuperWritten ==
  /\ saver = "super" /\ D!Answered("saver")
  /\ IF Flaw = "no flush after the superblock" THEN Done
     ELSE /\ Send("saver", {D!Flush("saver", Data)})
          /\ saver' = "superflush"
          /\ UNCHANGED <<history, mode, log, mems, super, slot, older, files, chain, sealed, durable, unsynced, journal, upTo, next, sync>>

SuperDurable == saver = "superflush" /\ D!Answered("saver") /\ Done

Checkpoint == Freeze \/ TreeWritten \/ TreeDurable \/ SuperWritten \/ SuperDurable

-----------------------------------------------------------------------------
Crash ==
  /\ life < MaxLives /\ life' = life + 1
  /\ D!Crash /\ Note /\ Down
  /\ UNCHANGED issued

Kill ==
  /\ Kills /\ mode # "down"
  /\ life < MaxLives /\ life' = life + 1
  /\ D!Kill /\ Note /\ Down
  /\ UNCHANGED issued

TheDisk == D!Disk /\ Note /\ UNCHANGED <<memory, history>>

\* The versions that CrashSafeMap speaks of. The persistent one is what recovery
\* would make of the medium alone; frozen is what it would make of the disk with
\* its cache; ephemeral is the log of the program, when it is up. They follow
\* from the other variables, and are one only for a checker not to find them anew
\* each time that they are looked at.
Now == IF mode = "up" THEN log ELSE seen

KeyOf(n) == 1 + (n % 2)

\* The map after the first n changes of a log: of each key the last one counts.
MapOf(ops, n) ==
  [k \in {1, 2} |->
     LET of == {i \in 1..n : KeyOf(ops[i]) = k}
     IN  IF of = {} \/ ops[Max(of)] \in Deletes THEN 0 ELSE ops[Max(of)]]

Versions ==
  IF IsPrefix(kept, seen) /\ IsPrefix(seen, Now)
  THEN [i \in 1..Len(Now) - Len(kept) + 1 |-> MapOf(Now, Len(kept) + i - 1)]
  ELSE <<>>

-----------------------------------------------------------------------------
Next ==
  /\ \/ Recovery
     \/ Change \/ SyncRequest \/ SyncReply
     \/ Get \/ Got
     \/ Journal
     \/ Checkpoint
     \/ TheDisk
     \/ Crash \/ Kill
  /\ versions' = IF UNCHANGED <<mode, log, kept, seen>> THEN versions ELSE Versions'

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
App == INSTANCE CrashSafeMap WITH
  Keys <- {1, 2}, Values <- 1..MaxChanges, None <- 0, Ids <- {1}, MaxVersions <- MaxChanges,
  versions <- versions, frozen <- Len(seen) - Len(kept) + 1,
  syncs <- [i \in {1} |-> IF sync = 0 THEN 0 ELSE IF sync <= Len(kept) THEN 1 ELSE sync - Len(kept) + 1]

Refinement == App!Spec

\* Of what a loss of power leaves, what the disk has and what the user sees, each
\* is a part of the next.
InOrder == IsPrefix(kept, seen) /\ IsPrefix(seen, Now)

\* What Note leaves as it is has not changed.
NotesAreTrue == kept = Recovered(Kept) /\ seen = Recovered(Seen) /\ versions = Versions

\* What is said to be durable is.
DurableIsKept == mode = "up" => IsPrefix(SubSeq(log, 1, durable), kept)

\* Both superblocks lead to their trees, so that one may be lost to rot.
BothLead == \A a \in Supers : D!Kept(a).is = "super" /\ D!Kept(a).cut > 0 => LeadsTo(D!Kept(a), D!Kept(<<"run", D!Kept(a).run>>))

\* A read of the tree finds it as it was written, or fails.
GetsAreTrue ==
  \A r \in replies : r.id = "get" => \A a \in DOMAIN r.data :
    \/ r.data[a].is = "garbage" /\ "run" \in Rots
    \/ r.data[a].is = "tree" /\ IsPrefix(r.data[a].ops, log)

\* Recovery writes nothing.
RecoveryOnlyReads == \A r \in requests : r.id = "open" => r.op # "write"

\* Each is violated by showing what it says never to happen.
NeverGets           == \A r \in replies : r.id = "get" => \A a \in DOMAIN r.data : r.data[a].is # "tree"
NeverRecovers       == ~(mode = "flush" /\ super.cut > 0 /\ Len(log) > super.cut)
NeverFirstSlot      == ~(mode = "tree" /\ slot = 1 /\ super.seq > 1)
NeverSecondSlot     == ~(mode = "tree" /\ slot = 2)
NeverOlder          == ~(mode = "tree" /\ D!Seen(<<"super", 3 - slot>>).is = "garbage")
NeverTornTail       == ~(mode = "up" /\ life > 1 /\ sealed = 1 /\ \E f \in Segments, n \in Frames : n > 1 /\ D!Kept(Place(f, n)).is = "garbage" /\ D!Kept(Place(f, 1)).is = "frame")
NeverHole           == ~(mode = "up" /\ life > 1 /\ sealed = 0 /\ \E f \in Segments, n \in Frames : n > 1 /\ D!Kept(Place(f, n)).is = "frame" /\ D!Kept(Place(f, 1)).is # "frame")
NeverCrashesOpening == [][~(mode = "journal" /\ mode' = "down" /\ life' # life /\ cache' # cache)]_vars
NeverUsedAgain      == \A f \in Segments : D!Kept(PageOf(f)).is = "page" => D!Kept(PageOf(f)).number <= Cardinality(Segments)
NeverLazy           == ~(mode = "up" /\ super.cut > 0 /\ \A f \in Segments : D!Seen(PageOf(f)).is = "blank")
=============================================================================

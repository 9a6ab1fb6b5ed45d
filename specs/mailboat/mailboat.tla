------------------------------ MODULE mailboat ------------------------------
(***************************************************************************)
(* The mail store of mail/mailboat: deliveries that write a file in the    *)
(* spool, sync it, link it into the mailbox, and sync the name; sessions   *)
(* that lock a mailbox, list it, read what they listed, delete some of it, *)
(* and unlock.  The file system may lose what was not synced, names and    *)
(* bytes independently of each other, when the machine stops; and it may   *)
(* stop at any time.                                                       *)
(*                                                                         *)
(* The properties are what a client sees.  A mail that was accepted is not *)
(* lost and one that was deleted stays away; mails are whole; a session    *)
(* sees the mailbox of one moment.                                         *)
(*                                                                         *)
(* The mails stand for their files as well: the mail is the inode.  Which  *)
(* name a file has in the spool does not matter to anybody, so the spool   *)
(* is a set.                                                               *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Users,          \* who has a mailbox
  Mails,          \* one delivery each; a mail that is lost is not sent again
  Names,          \* the names that a mail can get in a mailbox
  Sessions,       \* who read and delete
  Chunks,         \* how many writes make a file
  MaxCrashes,     \* how often the machine stops
  \* What the code could get wrong; all of them TRUE is the code as it is.
  SyncsFile, SyncsName, SyncsDeletion, SyncsFirst, TakesLock

None == "none"

ASSUME
  /\ Chunks \in Nat \ {0} /\ MaxCrashes \in Nat
  /\ None \notin Mails
  /\ {SyncsFile, SyncsName, SyncsDeletion, SyncsFirst, TakesLock} \subseteq BOOLEAN

VARIABLES
  \* the file system
  spool,          \* the mails that have a name in the spool
  file,           \* per mail: chunks written, chunks synced, whether a crash tore it
  box,            \* per user and name: the mail now, and what else a crash may leave
  \* the processes
  to,             \* per mail: the user
  at,             \* per mail: where its delivery is
  name,           \* per mail: the name that its delivery gave it
  doing,          \* per session: where it is
  whose,          \* per session: the user
  todo,           \* per session: names to read, then names that it may delete
  got,            \* per session: names with the mails that it read
  listed,         \* per session: the mailbox when it was listed
  victim,         \* per session: the name that is being deleted
  lock,           \* per user: whether a session holds the mailbox
  \* what the clients know
  accepted,       \* deliveries that returned
  asked,          \* mails whose deletion was called
  deleted,        \* mails whose deletion returned
  missing,        \* whether a session listed a name and then did not find it
  crashes

fs      == <<spool, file, box>>
deliver == <<to, at, name>>
session == <<doing, whose, todo, got, listed, victim, lock>>
known   == <<accepted, asked, deleted, missing>>
vars    == <<fs, deliver, session, known, crashes>>

Empty   == [now |-> None, older |-> {}]
NoFile  == [written |-> 0, synced |-> 0, torn |-> FALSE]
Free(u) == {n \in Names : box[u][n].now = None}
Write(entry, m) == [now |-> m, older |-> entry.older \cup {entry.now}]
Flush(entry)    == [now |-> entry.now, older |-> {}]
SyncDir(u)      == box' = [box EXCEPT ![u] = [n \in Names |-> Flush(box[u][n])]]
Visible(u)      == {box[u][n].now : n \in Names} \ {None}
Whole(m)        == file[m].written = Chunks /\ ~file[m].torn

Init ==
  /\ spool = {}
  /\ file = [m \in Mails |-> NoFile]
  /\ box = [u \in Users |-> [n \in Names |-> Empty]]
  /\ to \in [Mails -> Users]
  /\ at = [m \in Mails |-> "create"]
  /\ name = [m \in Mails |-> None]
  /\ doing = [s \in Sessions |-> "idle"]
  /\ whose \in [Sessions -> Users]
  /\ todo = [s \in Sessions |-> {}]
  /\ got = [s \in Sessions |-> {}]
  /\ listed = [s \in Sessions |-> {}]
  /\ victim = [s \in Sessions |-> None]
  /\ lock = [u \in Users |-> FALSE]
  /\ accepted = {} /\ asked = {} /\ deleted = {} /\ missing = FALSE
  /\ crashes = 0

-----------------------------------------------------------------------------
(* Deliver *)

Create(m) ==
  /\ at[m] = "create"
  /\ spool' = spool \cup {m}
  /\ at' = [at EXCEPT ![m] = "write"]
  /\ UNCHANGED <<file, box, to, name, session, known, crashes>>

Append(m) ==
  /\ at[m] = "write"
  /\ file' = [file EXCEPT ![m].written = @ + 1]
  /\ at' = [at EXCEPT ![m] = IF file'[m].written < Chunks THEN "write"
                             ELSE IF SyncsFirst THEN "sync" ELSE "link"]
  /\ UNCHANGED <<spool, box, to, name, session, known, crashes>>

SyncFile(m) ==
  /\ at[m] = "sync"
  /\ file' = IF SyncsFile THEN [file EXCEPT ![m].synced = Chunks] ELSE file
  /\ at' = [at EXCEPT ![m] = IF SyncsFirst THEN "link" ELSE "syncdir"]
  /\ UNCHANGED <<spool, box, to, name, session, known, crashes>>

Link(m, n) ==
  /\ at[m] = "link" /\ n \in Free(to[m])
  /\ box' = [box EXCEPT ![to[m]][n] = Write(@, m)]
  /\ name' = [name EXCEPT ![m] = n]
  /\ at' = [at EXCEPT ![m] = IF SyncsFirst THEN "syncdir" ELSE "sync"]
  /\ UNCHANGED <<spool, file, to, session, known, crashes>>

SyncName(m) ==
  /\ at[m] = "syncdir"
  /\ IF SyncsName THEN SyncDir(to[m]) ELSE box' = box
  /\ at' = [at EXCEPT ![m] = "clean"]
  /\ UNCHANGED <<spool, file, to, name, session, known, crashes>>

Clean(m) ==
  /\ at[m] = "clean"
  /\ spool' = spool \ {m}
  /\ at' = [at EXCEPT ![m] = "done"]
  /\ accepted' = accepted \cup {m}
  /\ UNCHANGED <<file, box, to, name, session, asked, deleted, missing, crashes>>

-----------------------------------------------------------------------------
(* Pickup, Delete, Unlock *)

Lock(s) ==
  /\ doing[s] = "idle"
  /\ TakesLock => ~lock[whose[s]]
  /\ lock' = [lock EXCEPT ![whose[s]] = TRUE]
  /\ doing' = [doing EXCEPT ![s] = "list"]
  /\ UNCHANGED <<fs, deliver, whose, todo, got, listed, victim, known, crashes>>

List(s) ==
  LET u == whose[s]
      there == Names \ Free(u)
  IN
  /\ doing[s] = "list"
  /\ todo' = [todo EXCEPT ![s] = there]
  /\ listed' = [listed EXCEPT ![s] = {<<n, box[u][n].now>> : n \in there}]
  /\ got' = [got EXCEPT ![s] = {}]
  /\ doing' = [doing EXCEPT ![s] = "read"]
  /\ UNCHANGED <<fs, deliver, whose, victim, lock, known, crashes>>

\* A file can be read at once: nobody writes into one that has a name in a
\* mailbox, for it is whole, or Untorn is violated already.
Read(s, n) ==
  LET m == box[whose[s]][n].now IN
  /\ doing[s] = "read" /\ n \in todo[s]
  /\ todo' = [todo EXCEPT ![s] = @ \ {n}]
  /\ got' = [got EXCEPT ![s] = @ \cup {<<n, m>>}]
  /\ missing' = (missing \/ m = None)
  /\ UNCHANGED <<fs, deliver, doing, whose, listed, victim, lock, accepted, asked, deleted, crashes>>

EndPickup(s) ==
  /\ doing[s] = "read" /\ todo[s] = {}
  /\ doing' = [doing EXCEPT ![s] = "hold"]
  /\ todo' = [todo EXCEPT ![s] = {p[1] : p \in got[s]}]
  /\ UNCHANGED <<fs, deliver, whose, got, listed, victim, lock, known, crashes>>

Unlink(s, n) ==
  LET u == whose[s] IN
  /\ doing[s] = "hold" /\ n \in todo[s]
  /\ todo' = [todo EXCEPT ![s] = @ \ {n}]
  /\ asked' = asked \cup {p[2] : p \in {p \in got[s] : p[1] = n}}
  /\ missing' = (missing \/ n \in Free(u))
  /\ box' = [box EXCEPT ![u][n] = Write(@, None)]
  /\ victim' = [victim EXCEPT ![s] = n]
  /\ doing' = [doing EXCEPT ![s] = "unlinked"]
  /\ UNCHANGED <<spool, file, deliver, whose, got, listed, lock, accepted, deleted, crashes>>

EndDelete(s) ==
  /\ doing[s] = "unlinked"
  /\ IF SyncsDeletion THEN SyncDir(whose[s]) ELSE box' = box
  /\ deleted' = deleted \cup {p[2] : p \in {p \in got[s] : p[1] = victim[s]}}
  /\ victim' = [victim EXCEPT ![s] = None]
  /\ doing' = [doing EXCEPT ![s] = "hold"]
  /\ UNCHANGED <<spool, file, deliver, whose, todo, got, listed, lock, accepted, asked, missing, crashes>>

Unlock(s) ==
  /\ doing[s] = "hold"
  /\ lock' = [lock EXCEPT ![whose[s]] = FALSE]
  /\ doing' = [doing EXCEPT ![s] = "idle"]
  /\ todo' = [todo EXCEPT ![s] = {}]
  /\ got' = [got EXCEPT ![s] = {}]
  /\ listed' = [listed EXCEPT ![s] = {}]
  /\ UNCHANGED <<fs, deliver, whose, victim, known, crashes>>

-----------------------------------------------------------------------------
(* The machine stops, comes back, and clears the spool. *)

\* What a crash may make of a file: all or none of what was not synced, or bytes
\* that nobody wrote.
Remains(f) ==
  {[written |-> f.synced, synced |-> f.synced, torn |-> f.torn],
   [written |-> f.written, synced |-> f.written, torn |-> f.torn],
   [written |-> f.written, synced |-> f.written, torn |-> f.torn \/ f.written > f.synced]}

Crash ==
  /\ crashes < MaxCrashes
  /\ crashes' = crashes + 1
  /\ file' \in {f \in [Mails -> UNION {Remains(file[m]) : m \in Mails}] :
                  \A m \in Mails : f[m] \in Remains(file[m])}
  /\ \E left \in [Users \X Names -> Mails \cup {None}] :
       /\ \A u \in Users, n \in Names : left[<<u, n>>] \in {box[u][n].now} \cup box[u][n].older
       /\ box' = [u \in Users |-> [n \in Names |-> [now |-> left[<<u, n>>], older |-> {}]]]
  /\ spool' = {}
  \* Deliveries under way are over, and nobody tries again.
  /\ at' = [m \in Mails |-> IF at[m] = "create" THEN "create" ELSE "done"]
  /\ doing' = [s \in Sessions |-> "idle"]
  /\ todo' = [s \in Sessions |-> {}]
  /\ got' = [s \in Sessions |-> {}]
  /\ listed' = [s \in Sessions |-> {}]
  /\ victim' = [s \in Sessions |-> None]
  /\ lock' = [u \in Users |-> FALSE]
  /\ UNCHANGED <<to, name, whose, known>>

Next ==
  \/ \E m \in Mails :
       \/ Create(m) \/ Append(m) \/ SyncFile(m) \/ SyncName(m) \/ Clean(m)
       \/ \E n \in Names : Link(m, n)
  \/ \E s \in Sessions :
       \/ Lock(s) \/ List(s) \/ EndPickup(s) \/ EndDelete(s) \/ Unlock(s)
       \/ \E n \in Names : Read(s, n) \/ Unlink(s, n)
  \/ Crash

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What a client can rely on *)

Entry == [now : Mails \cup {None}, older : SUBSET (Mails \cup {None})]
TypeOK ==
  /\ spool \subseteq Mails
  /\ file \in [Mails -> [written : 0..Chunks, synced : 0..Chunks, torn : BOOLEAN]]
  /\ box \in [Users -> [Names -> Entry]]
  /\ at \in [Mails -> {"create", "write", "sync", "link", "syncdir", "clean", "done"}]
  /\ doing \in [Sessions -> {"idle", "list", "read", "hold", "unlinked"}]

\* A mailbox shows mails that are whole, to whom they were sent, once.
Untorn == \A u \in Users : \A m \in Visible(u) : Whole(m)
Addressed == \A u \in Users : \A m \in Visible(u) : to[m] = u
Once ==
  \A u \in Users : \A j, k \in Names :
    box[u][j].now = box[u][k].now /\ box[u][j].now # None => j = k

\* An accepted mail is there until somebody asks for its deletion, and a deleted
\* one stays away, whatever the machine does.
Lasting == \A m \in accepted \ asked : m \in Visible(to[m])
Buried  == \A m \in deleted : m \notin Visible(to[m])

\* Pickup finds all that it listed, and returns the mailbox of that moment.
Found == ~missing
Exact == \A s \in Sessions : doing[s] \in {"hold", "unlinked"} => got[s] = listed[s]

\* Nobody else reads or deletes in a mailbox that is held.
Alone ==
  \A s, t \in Sessions :
    s # t /\ whose[s] = whose[t] => doing[s] = "idle" \/ doing[t] = "idle"
=============================================================================

------------------------------ MODULE AsyncDisk ------------------------------
(***************************************************************************)
(* A disk with a volatile cache, as VeriBetrKV's StorageIOSystem has it    *)
(* (OSDI 2020, section 3.1.1), and worse.                                  *)
(*                                                                         *)
(* Requests wait for the disk under an id, and replies for the program.    *)
(* The disk takes requests in any order. A write goes to the cache. From   *)
(* there each sector goes to the medium by itself, when it likes: writes   *)
(* are reordered, and a loss of power may leave a block torn. A flush is   *)
(* answered when all of its blocks that were in the cache are on the       *)
(* medium. A read is answered with what was written last, and, of blocks   *)
(* that may rot, also with what fails every checksum. So does a torn block:*)
(* that a checksum tells is what is assumed of checksums.                  *)
(*                                                                         *)
(* This is env.Disk as its contract states it; package sim's Disk is the   *)
(* same in Go.                                                             *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Ids,           \* of requests
  Addresses,     \* of blocks
  Sectors,       \* of each block: 1..n
  Contents,      \* what is written
  Blank,         \* what a block has at first
  Garbage,       \* what a read finds that no checksum passes
  Rotting        \* the blocks whose reads may fail

VARIABLES
  media,         \* for each address and sector, what is durable
  cache,         \* for each address what was written last, and the sectors left to be made durable
  requests,      \* a set
  replies        \* a set

vars == <<media, cache, requests, replies>>

Clean == [data |-> Blank, left |-> {}]

Init ==
  /\ media = [a \in Addresses |-> [s \in Sectors |-> Blank]]
  /\ cache = [a \in Addresses |-> Clean]
  /\ requests = {}
  /\ replies = {}

Whole(block) == IF \A s \in Sectors : block[s] = block[1] THEN block[1] ELSE Garbage

\* What a program finds that reads now, and what it finds after a loss of power.
Seen(a) == IF cache[a].left # {} THEN cache[a].data ELSE Whole(media[a])
Kept(a) == Whole(media[a])

-----------------------------------------------------------------------------
\* Requests and replies, for the program.
Read(id, addresses)  == [id |-> id, op |-> "read", at |-> addresses]
Write(id, to, data)  == [id |-> id, op |-> "write", at |-> {to}, data |-> data]
Flush(id, addresses) == [id |-> id, op |-> "flush", at |-> addresses]

Idle(id) == \A r \in requests \cup replies : r.id # id

Answered(id) == \E r \in replies : r.id = id
Answer(id)   == CHOOSE r \in replies : r.id = id

\* The program takes the reply to an id, if there is one, and sends what comes next.
Go(id, new) ==
  /\ requests' = requests \cup new
  /\ replies' = {r \in replies : r.id # id}

-----------------------------------------------------------------------------
\* What the disk does.
TakeWrite(r) ==
  /\ r.op = "write"
  /\ cache' = [a \in Addresses |-> IF a \in r.at THEN [data |-> r.data, left |-> Sectors] ELSE cache[a]]
  /\ replies' = replies \cup {[id |-> r.id, op |-> "write"]}
  /\ requests' = requests \ {r}
  /\ UNCHANGED media

Answers(r, wrong) ==
  /\ replies' = replies \cup {[id |-> r.id, op |-> "read", data |-> [a \in r.at |-> IF a \in wrong THEN Garbage ELSE Seen(a)]]}
  /\ requests' = requests \ {r}
  /\ UNCHANGED <<media, cache>>

TakeRead(r) == r.op = "read" /\ Answers(r, {})

TakeReadBadly(r) ==
  /\ r.op = "read"
  /\ \E a \in r.at \cap Rotting : Answers(r, {a})

TakeFlush(r) ==
  /\ r.op = "flush"
  /\ media' = [a \in Addresses |-> IF a \in r.at THEN [s \in Sectors |-> IF s \in cache[a].left THEN cache[a].data ELSE media[a][s]] ELSE media[a]]
  /\ cache' = [a \in Addresses |-> IF a \in r.at THEN Clean ELSE cache[a]]
  /\ replies' = replies \cup {[id |-> r.id, op |-> "flush"]}
  /\ requests' = requests \ {r}

\* One sector goes to the medium.
Destage(a, s) ==
  /\ s \in cache[a].left
  /\ media' = [media EXCEPT ![a][s] = cache[a].data]
  /\ cache' = [cache EXCEPT ![a] = IF @.left = {s} THEN Clean ELSE [data |-> @.data, left |-> @.left \ {s}]]
  /\ UNCHANGED <<requests, replies>>

Disk ==
  \/ \E r \in requests : TakeWrite(r) \/ TakeRead(r) \/ TakeReadBadly(r) \/ TakeFlush(r)
  \/ \E a \in Addresses : \E s \in cache[a].left : Destage(a, s)

\* The power is lost, or only the program ends. A request that was not taken is
\* as if it had not been made.
Crash ==
  /\ cache' = [a \in Addresses |-> Clean]
  /\ requests' = {}
  /\ replies' = {}
  /\ UNCHANGED media

Kill ==
  /\ requests' = {}
  /\ replies' = {}
  /\ UNCHANGED <<media, cache>>

-----------------------------------------------------------------------------
\* The disk with a program that asks for anything.
Program ==
  /\ UNCHANGED <<media, cache>>
  /\ \E id \in Ids :
       \/ /\ Idle(id)
          /\ \/ \E a \in Addresses : Go(id, {Read(id, {a})})
             \/ \E a \in Addresses, d \in Contents : Go(id, {Write(id, a, d)})
             \/ \E a \in Addresses : Go(id, {Flush(id, {a})})
       \/ Answered(id) /\ Go(id, {})

Next == Program \/ Disk \/ Crash \/ Kill

Spec == Init /\ [][Next]_vars

TypeOK ==
  /\ media \in [Addresses -> [Sectors -> Contents \cup {Blank}]]
  /\ cache \in [Addresses -> [data : Contents \cup {Blank}, left : SUBSET Sectors]]
  /\ \A a \in Addresses : cache[a].left = {} <=> cache[a].data = Blank
  /\ \A r \in requests \cup replies : r.id \in Ids
  /\ \A r, q \in requests \cup replies : r.id = q.id => r = q

\* A crash loses nothing that is durable, and an answered flush means that
\* nothing of its blocks was left in the cache when the disk took it.
Durability ==
  /\ [][Crash => media' = media]_vars
  /\ [][\A r \in requests : r.op = "flush" /\ r \notin requests' /\ replies' # {} => \A a \in r.at : cache'[a] = Clean]_vars

\* A read that does not fail is what was written last, or what the medium has.
ReadsAreTrue ==
  [][\A r \in requests : r.op = "read" /\ r \notin requests' =>
       \A q \in replies' : q.id = r.id /\ q.op = "read" =>
         \A a \in r.at : \/ q.data[a] = Seen(a)
                               \/ (q.data[a] = Garbage /\ a \in Rotting)]_vars

\* Each is violated by showing what it says never to happen.
NeverReads     == \A r \in replies : r.op = "read" => \A a \in DOMAIN r.data : r.data[a] \in {Blank, Garbage}
NeverReadsOld  == [][\A r \in replies' \ replies : r.op = "read" =>
                        \A a \in DOMAIN r.data : cache[a].left # {} \/ r.data[a] \in {Blank, Garbage}]_vars
NeverTorn      == \A a \in Addresses : Kept(a) # Garbage
=============================================================================

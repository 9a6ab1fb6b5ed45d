------------------------------- MODULE FullDisk -------------------------------
(***************************************************************************)
(* The pages of a data file that cannot become longer, and the reserve that *)
(* lets it be emptied from inside.                                         *)
(*                                                                         *)
(* A put takes a page in the end; a delete gives one back, but first it    *)
(* needs a page of its own in a branch, a merge that writes a partition    *)
(* anew before it gives back the old one, and checkpoints, each of which   *)
(* needs a page for its table. So a change is taken only if the pages that  *)
(* are then kept suffice for all of that (store/reserve.go).               *)
(*                                                                         *)
(* A page that is given back is retired: a superblock on the disk may      *)
(* still lead to it. It is free when two superblocks that do not are       *)
(* durable, so that one of them may be lost (store/space.go,               *)
(* internal/store/extent). Pages are taken from below, as the allocator    *)
(* does among equal ones; here each is a run.                              *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Pages,         \* of the file, 1..n
  Partitions,    \* of the tree
  MemMax,        \* how many changes a memtable takes
  SeqMax,        \* superblocks until the numbers are made small again
  Floor,         \* pages for checkpoints alone
  ForDeletes,    \* pages that puts leave to deletes
  Flaw           \* "none", or what the store does wrong

VARIABLES
  free,          \* pages that anybody may take
  retired,       \* pages and the number of the last superblock that leads to them
  base,          \* for each partition its pages; each has one record
  newer,         \* for each partition the pages of flushed branches
  puts, deletes, \* for each partition the flushed changes in these
  mem,           \* for each partition the puts and deletes in memory
  table,         \* the page of the table
  supers,        \* the two durable superblocks, the newer one first
  filling        \* the user still puts

vars == <<free, retired, base, newer, puts, deletes, mem, table, supers, filling>>

Max(S) == CHOOSE x \in S : \A y \in S : y <= x
Min(S) == CHOOSE x \in S : \A y \in S : x <= y

RECURSIVE Lowest(_, _)
Lowest(S, n) == IF n = 0 THEN {} ELSE {Min(S)} \cup Lowest(S \ {Min(S)}, n - 1)

RECURSIVE Sum(_, _)
Sum(f, S) == IF S = {} THEN 0 ELSE LET x == CHOOSE x \in S : TRUE IN f[x] + Sum(f, S \ {x})

Live == {table} \cup UNION {base[p] \cup newer[p] : p \in Partitions}
Empty == [p \in Partitions |-> [puts |-> 0, deletes |-> 0]]

Init ==
  /\ table = 1 /\ free = Pages \ {1} /\ retired = {}
  /\ base = [p \in Partitions |-> {}] /\ newer = base
  /\ puts = [p \in Partitions |-> 0] /\ deletes = puts
  /\ mem = Empty
  /\ supers = <<[seq |-> 1, leads |-> {1}], [seq |-> 0, leads |-> {}]>>
  /\ filling = TRUE

-----------------------------------------------------------------------------
\* What a memtable takes as a branch: a page for each put, and one for the deletes of
\* each partition.
BranchOf(m, p) == m[p].puts + (IF m[p].deletes > 0 THEN 1 ELSE 0)
Branch(m) == Sum([p \in Partitions |-> BranchOf(m, p)], Partitions)

\* What is kept: the branch of the memtable, what merges make of it and of what is
\* flushed, and room to write the largest partition a second time.
Keep(m) ==
  Branch(m) + Sum([p \in Partitions |-> m[p].puts + puts[p]], Partitions)
    + Max({Cardinality(base[p]) : p \in Partitions})

\* Retired pages count: checkpoints free them, and have pages of their own for it.
Have == Cardinality(free) + Cardinality(retired)

Admits(m, beside) ==
  \/ Have >= Keep(m) + beside
  \/ Flaw = "no reserve" /\ Have >= Branch(m)

Records(p) == Cardinality(base[p]) + puts[p] + mem[p].puts - deletes[p] - mem[p].deletes

InMemory == Sum([p \in Partitions |-> mem[p].puts + mem[p].deletes], Partitions)

Put(p) ==
  /\ filling /\ InMemory < MemMax
  /\ LET m == [mem EXCEPT ![p].puts = @ + 1]
     IN  Admits(m, Floor + ForDeletes) /\ mem' = m
  /\ UNCHANGED <<free, retired, base, newer, puts, deletes, table, supers, filling>>

Delete(p) ==
  /\ InMemory < MemMax /\ Records(p) > 0
  /\ LET m == [mem EXCEPT ![p].deletes = @ + 1]
     IN  Admits(m, Floor) /\ mem' = m
  /\ UNCHANGED <<free, retired, base, newer, puts, deletes, table, supers, filling>>

StopFilling == filling /\ filling' = FALSE /\ UNCHANGED <<free, retired, base, newer, puts, deletes, mem, table, supers>>

\* Flushes and merges leave the floor to checkpoints.
Left == IF Flaw = "no floor" THEN 0 ELSE Floor

RetireAll(S) == retired \cup {<<page, supers[1].seq>> : page \in S}

RECURSIVE Deal(_, _)
Deal(S, order) ==
  IF order = {} THEN [p \in Partitions |-> {}]
  ELSE LET p == Min(order)
           own == Lowest(S, BranchOf(mem, p))
       IN  [Deal(S \ own, order \ {p}) EXCEPT ![p] = own]

Flush ==
  /\ InMemory > 0
  /\ Cardinality(free) >= Branch(mem) + Left
  /\ LET own == Deal(free, Partitions)
     IN  /\ free' = free \ UNION {own[p] : p \in Partitions}
         /\ newer' = [p \in Partitions |-> newer[p] \cup own[p]]
  /\ puts' = [p \in Partitions |-> puts[p] + mem[p].puts]
  /\ deletes' = [p \in Partitions |-> deletes[p] + mem[p].deletes]
  /\ mem' = Empty
  /\ UNCHANGED <<retired, base, table, supers, filling>>

\* A merge writes what is left of a partition, and retires what it has read.
Merge(p) ==
  /\ newer[p] # {}
  /\ LET n == Cardinality(base[p]) + puts[p] - deletes[p]
         read == base[p] \cup newer[p]
         out == Lowest(free, n)
     IN  /\ Cardinality(free) >= n + Left
         /\ base' = [base EXCEPT ![p] = out]
         /\ IF Flaw = "free at once"
            THEN free' = (free \ out) \cup read /\ retired' = retired
            ELSE free' = free \ out /\ retired' = RetireAll(read)
  /\ newer' = [newer EXCEPT ![p] = {}]
  /\ puts' = [puts EXCEPT ![p] = 0] /\ deletes' = [deletes EXCEPT ![p] = 0]
  /\ UNCHANGED <<mem, table, supers, filling>>

\* A checkpoint writes the table to a new page, and a superblock in the place of the
\* older one. Then what the one before it did not lead to any more is free. Numbers
\* are made small where they count only as differences.
Checkpoint ==
  /\ free # {} /\ (retired # {} \/ Live # supers[1].leads)
  /\ LET page == Min(free)
         leads == (Live \ {table}) \cup {page}
         seq == supers[1].seq + 1
         old == RetireAll({table})
         due == {r \in old : r[2] < (IF Flaw = "free after one" THEN seq ELSE supers[1].seq)}
         down == IF seq > SeqMax THEN 1 ELSE 0
     IN  /\ table' = page
         /\ supers' = <<[seq |-> seq - down, leads |-> leads], [supers[1] EXCEPT !.seq = @ - down]>>
         /\ retired' = {<<r[1], IF r[2] < down THEN 0 ELSE r[2] - down>> : r \in old \ due}
         /\ free' = (free \ {page}) \cup {r[1] : r \in due}
  /\ UNCHANGED <<base, newer, puts, deletes, mem, filling>>

Work == Flush \/ (\E p \in Partitions : Merge(p)) \/ Checkpoint
Next == (\E p \in Partitions : Put(p) \/ Delete(p)) \/ StopFilling \/ Work

Spec == Init /\ [][Next]_vars

\* The background goes on, and so does a user who deletes all. That checkpoints go on
\* for ever beside merges is no excuse for either.
Fair ==
  /\ Spec /\ WF_vars(Checkpoint) /\ SF_vars(Flush)
  /\ \A p \in Partitions : SF_vars(Merge(p)) /\ SF_vars(~filling /\ Delete(p))

-----------------------------------------------------------------------------
RetiredPages == {r[1] : r \in retired}

\* Each page has one use.
Apart ==
  /\ free \cup RetiredPages \cup Live = Pages
  /\ Cardinality(free) + Cardinality(retired)
       + Sum([p \in Partitions |-> Cardinality(base[p]) + Cardinality(newer[p])], Partitions) + 1 = Cardinality(Pages)

\* Nobody takes a page to which one of the last two superblocks leads.
BothLead == \A i \in 1..2 : supers[i].leads \cap free = {} /\ \A q \in supers[i].leads : q \in Live \cup RetiredPages

\* What is in memory, and what is retired, never stays there for want of a page: there
\* is something to do.
NeverStuck ==
  (\E p \in Partitions : Records(p) > 0 \/ newer[p] # {}) \/ InMemory > 0
    => (\E p \in Partitions : ENABLED Delete(p)) \/ ENABLED Work

\* A user who only deletes has deleted all some day.
Emptied == ~filling ~> \A p \in Partitions : base[p] = {} /\ newer[p] = {} /\ mem[p].puts = 0

-----------------------------------------------------------------------------
\* Each is violated by showing what it says never to happen.
NeverRefuses   == \A p \in Partitions : filling /\ InMemory < MemMax => ENABLED Put(p)
NeverFull      == \E p \in Partitions : Cardinality(base[p]) < 2
NeverUsedAgain == \A p \in Partitions : base[p] # {} /\ supers[2].seq > 0 => Min(base[p]) > 2
NeverTight     == InMemory > 0 => Cardinality(free) > Floor
=============================================================================

-------------------------------- MODULE wal ---------------------------------
(***************************************************************************)
(* The write-ahead log of examples/wal on a synchronous disk: threads that *)
(* commit pairs of updates under a lock, a crash after any write, recovery *)
(* that may be interrupted as well.  One step is one access to the disk.   *)
(*                                                                         *)
(* The specification is the variable `state`: what the data are, in the    *)
(* eyes of the users.  It changes at once, when the header is written.     *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Threads,
  Addresses,       \* of data
  Values,
  Transactions     \* how many transactions are tried, over all lives

NoHeader == <<>>

VARIABLES
  header,          \* the addresses for which the log holds entries
  entries,         \* the log
  data,            \* the blocks in their places
  holder,          \* who holds the lock, if anybody
  pc,              \* where the holder is, or recovery
  txn,             \* what the holder commits: addresses and values
  next,            \* the entry that it works on
  started,         \* how many transactions were begun
  state            \* ghost: the data as the users see them

vars == <<header, entries, data, holder, pc, txn, next, started, state>>

Nobody == "nobody"
Recovery == "recovery"
NoTxn == [addrs |-> <<>>, blocks |-> <<>>]
Txns == [addrs : Addresses \X Addresses, blocks : Values \X Values]

\* The data after updates number 1 to n, in order.
RECURSIVE Apply(_, _, _, _)
Apply(d, addrs, blocks, n) ==
  IF n = 0 THEN d ELSE [Apply(d, addrs, blocks, n - 1) EXCEPT ![addrs[n]] = blocks[n]]

Zero == CHOOSE v \in Values : TRUE

Init ==
  /\ header = NoHeader
  /\ entries \in {<<v, v>> : v \in Values}
  /\ data = [a \in Addresses |-> Zero]
  /\ holder = Recovery /\ pc = "install" /\ txn = NoTxn /\ next = 1
  /\ started = 0
  /\ state = data

\* Lock and begin.
Begin(t) ==
  /\ holder = Nobody /\ started < Transactions
  /\ \E x \in Txns : txn' = x
  /\ holder' = t /\ pc' = "log" /\ next' = 1 /\ started' = started + 1
  /\ UNCHANGED <<header, entries, data, state>>

\* A reader waits for the lock and so sees the data at rest.
WriteEntry ==
  /\ pc = "log" /\ next <= Len(txn.blocks)
  /\ entries' = [entries EXCEPT ![next] = txn.blocks[next]]
  /\ next' = next + 1
  /\ UNCHANGED <<header, data, holder, pc, txn, started, state>>

\* When the header may be written: after the entries.
EntriesAreThere == next > Len(txn.blocks)

\* The commit point.
WriteHeader ==
  /\ pc = "log" /\ EntriesAreThere
  /\ header' = txn.addrs
  /\ state' = Apply(state, txn.addrs, txn.blocks, Len(txn.addrs))
  /\ pc' = "install" /\ next' = 1
  /\ UNCHANGED <<entries, data, holder, txn, started>>

\* Commit and recovery share this: by what the disk says.
Install ==
  /\ pc = "install" /\ next <= Len(header)
  /\ data' = [data EXCEPT ![header[next]] = entries[next]]
  /\ next' = next + 1
  /\ UNCHANGED <<header, entries, holder, pc, txn, started, state>>

\* When the header may be cleared: all entries are in their places.
Installed == next > Len(header)

ClearHeader ==
  /\ pc = "install" /\ Installed
  /\ header' = NoHeader
  /\ holder' = Nobody /\ pc' = "idle" /\ txn' = NoTxn /\ next' = 1
  /\ UNCHANGED <<entries, data, started, state>>

\* Who has the log to itself when a life begins.
First == Recovery

\* The disk keeps what was written; the next life begins with recovery.
Crash ==
  /\ holder' = First /\ pc' = "install" /\ txn' = NoTxn /\ next' = 1
  /\ UNCHANGED <<header, entries, data, started, state>>

Next ==
  \/ \E t \in Threads : Begin(t)
  \/ WriteEntry \/ WriteHeader \/ Install \/ ClearHeader \/ Crash

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
  /\ header \in {NoHeader} \cup (Addresses \X Addresses)
  /\ entries \in Values \X Values
  /\ data \in [Addresses -> Values] /\ state \in [Addresses -> Values]
  /\ holder \in Threads \cup {Nobody, Recovery}
  /\ pc \in {"idle", "log", "install"}

\* The crash invariant: the entries that the header announces, put over the
\* data, are the state.  It does not matter how many of them are there already.
Durable == Apply(data, header, entries, Len(header)) = state

\* What a reader finds.
Reads == holder = Nobody => header = NoHeader /\ data = state

\* For configurations with a mistake: nothing is waited for.
Always == TRUE
=============================================================================

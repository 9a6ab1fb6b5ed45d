--------------------------------- MODULE TxKv ---------------------------------
(***************************************************************************)
(* A transactional map on atomic commit: each key has a server of its own, *)
(* which is a participant of every transaction.                            *)
(*                                                                         *)
(* A server takes its lock, or votes no: nobody waits, so nobody waits for *)
(* ever.  It writes a record of the lock to its log, and only then its     *)
(* yes, with what it will write inside (the redo).  It keeps the lock      *)
(* until it knows the outcome and has applied it.  A server that crashes   *)
(* forgets its locks and takes them again from the log.  Anybody may write *)
(* the no of another.                                                      *)
(*                                                                         *)
(* A vote is an atomic write-once register here; WormTx is about that.     *)
(*                                                                         *)
(* Not here: transactions on a part of the keys; reads by themselves,      *)
(* which take locks as well; a server that takes over from a dead one.     *)
(*                                                                         *)
(* Actions that a trace of the program is made of: Call(t), Lock(t, k),    *)
(* Log(t, k), Yes(t, k), No(t, k), Apply(t, k), Release(t, k), Crash(k),   *)
(* Recover(k), Return(t).                                                  *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
  Keys, Txs,
  MaxCrashes,
  Flaw           \* what is wrong, or "none"

VARIABLES
  called, returned,
  vote,          \* per transaction and key: None, NoVote, or the redo of a yes
  data,          \* per key: the value that the server has
  lock,          \* per key: a transaction or None
  log,           \* per key: the transactions whose lock is in the log
  up,            \* per key: whether the server is
  crashes

vars == <<called, returned, vote, data, lock, log, up, crashes>>

None   == <<>>
NoVote == <<"no">>
Free   == "free"

Range(s) == {s[i] : i \in DOMAIN s}

Committed(t) == \A k \in Keys : vote[t][k] \notin {None, NoVote}
Aborted(t)   == \E k \in Keys : vote[t][k] = NoVote

\* What a key has when all that is decided is applied.
Value(k) ==
  LET left == {t \in Txs : Committed(t) /\ t \notin Range(data[k])}
  IN  IF left = {} THEN data[k] ELSE vote[CHOOSE t \in left : TRUE][k]

KV == INSTANCE KeyValue WITH
  kv <- [k \in Keys |-> Value(k)],
  phase <- [t \in Txs |->
    CASE t \notin called -> "idle"
      [] Committed(t) -> IF t \in returned THEN "committed" ELSE "ready"
      [] Aborted(t) -> IF t \in returned THEN "aborted" ELSE "gone"
      [] OTHER -> "called"]

Init ==
  /\ called = {} /\ returned = {}
  /\ vote = [t \in Txs |-> [k \in Keys |-> None]]
  /\ data = [k \in Keys |-> <<>>]
  /\ lock = [k \in Keys |-> Free]
  /\ log = [k \in Keys |-> {}]
  /\ up = [k \in Keys |-> TRUE]
  /\ crashes = 0

Call(t) ==
  /\ t \notin called
  /\ called' = called \cup {t}
  /\ UNCHANGED <<returned, vote, data, lock, log, up, crashes>>

Lock(t, k) ==
  /\ up[k] /\ t \in called
  /\ lock[k] = Free /\ vote[t][k] = None
  /\ lock' = [lock EXCEPT ![k] = t]
  /\ UNCHANGED <<called, returned, vote, data, log, up, crashes>>

Log(t, k) ==
  /\ up[k] /\ lock[k] = t /\ t \notin log[k] /\ vote[t][k] = None
  /\ log' = [log EXCEPT ![k] = @ \cup {t}]
  /\ UNCHANGED <<called, returned, vote, data, lock, up, crashes>>

Yes(t, k) ==
  /\ up[k] /\ lock[k] = t /\ vote[t][k] = None
  /\ t \in log[k] \/ Flaw = "a yes does not wait for the log"
  /\ vote' = [vote EXCEPT ![t][k] = Append(data[k], t)]
  /\ IF Flaw = "a change is applied before the outcome"
     THEN data' = [data EXCEPT ![k] = Append(@, t)]
     ELSE UNCHANGED data
  /\ lock' = IF Flaw = "a lock is released with the vote" THEN [lock EXCEPT ![k] = Free] ELSE lock
  /\ UNCHANGED <<called, returned, log, up, crashes>>

\* The server does not get the lock, or somebody else is impatient.
No(t, k) ==
  /\ t \in called /\ vote[t][k] = None
  /\ vote' = [vote EXCEPT ![t][k] = NoVote]
  /\ UNCHANGED <<called, returned, data, lock, log, up, crashes>>

Drop(t, k) ==
  /\ lock' = [lock EXCEPT ![k] = Free]
  /\ log' = [log EXCEPT ![k] = @ \ {t}]

Apply(t, k) ==
  /\ up[k] /\ Committed(t) /\ t \notin Range(data[k])
  /\ lock[k] = t \/ Flaw = "a lock is released before the change is applied"
  /\ data' = [data EXCEPT ![k] = vote[t][k]]
  /\ IF lock[k] = t THEN Drop(t, k) ELSE UNCHANGED <<lock, log>>
  /\ UNCHANGED <<called, returned, vote, up, crashes>>

Release(t, k) ==
  /\ up[k] /\ lock[k] = t
  /\ \/ Aborted(t)
     \/ Flaw = "a lock is released on a timeout"
     \/ Flaw = "a lock is released before the change is applied" /\ Committed(t)
  /\ Drop(t, k)
  /\ UNCHANGED <<called, returned, vote, data, up, crashes>>

Crash(k) ==
  /\ up[k] /\ crashes < MaxCrashes
  /\ crashes' = crashes + 1
  /\ up' = [up EXCEPT ![k] = FALSE]
  /\ lock' = [lock EXCEPT ![k] = Free]
  /\ UNCHANGED <<called, returned, vote, data, log>>

Recover(k) ==
  /\ ~up[k]
  /\ up' = [up EXCEPT ![k] = TRUE]
  /\ lock' = [lock EXCEPT ![k] =
       IF log[k] = {} \/ Flaw = "locks are not taken again" THEN Free ELSE CHOOSE t \in log[k] : TRUE]
  /\ UNCHANGED <<called, returned, vote, data, log, crashes>>

Return(t) ==
  /\ t \in called \ returned
  /\ Committed(t) \/ Aborted(t)
  /\ returned' = returned \cup {t}
  /\ UNCHANGED <<called, vote, data, lock, log, up, crashes>>

Next ==
  \/ \E t \in Txs : Call(t) \/ Return(t)
  \/ \E t \in Txs, k \in Keys :
       Lock(t, k) \/ Log(t, k) \/ Yes(t, k) \/ No(t, k) \/ Apply(t, k) \/ Release(t, k)
  \/ \E k \in Keys : Crash(k) \/ Recover(k)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* A server has one lock in its log at a time, and what is decided is never lost.
OneLock == \A k \in Keys : Cardinality(log[k]) <= 1
NothingAborted == \A k \in Keys : \A t \in Range(data[k]) : ~Aborted(t)

\* Two transactions are in the same order everywhere.
Place(s, t) == CHOOSE i \in DOMAIN s : s[i] = t
SameOrder ==
  \A j, k \in Keys : \A t, u \in Range(data[j]) \cap Range(data[k]) :
    Place(data[j], t) < Place(data[j], u) <=> Place(data[k], t) < Place(data[k], u)

\* Every step is one of KeyValue, or none: strictly serializable.
Refinement == KV!Spec

\* What must be reachable.
NeverTwo      == \A k \in Keys : Len(data[k]) < 2
NeverRefused  == ~\E t \in Txs : Aborted(t) /\ \E j \in Keys : vote[t][j] \notin {None, NoVote}
NeverRetaken  == [][\A k \in Keys : ~up[k] /\ up'[k] => lock'[k] = Free]_vars

Symmetry == Permutations(Txs) \cup Permutations(Keys)
=============================================================================

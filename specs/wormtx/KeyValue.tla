------------------------------- MODULE KeyValue -------------------------------
(***************************************************************************)
(* A transactional map, as its clients see it: each transaction is one     *)
(* step between its call and its return, or none.                          *)
(*                                                                         *)
(* A value is a list, and a transaction appends itself to the lists of its *)
(* keys; so a value tells in which order transactions were, and what a     *)
(* transaction read is what stands before it.                              *)
(***************************************************************************)
EXTENDS Sequences

CONSTANTS Keys, Txs

VARIABLES
  kv,            \* per key: the transactions that committed, in order
  phase          \* per transaction: "idle", "called", "ready", "gone" (aborted), "committed", "aborted"

vars == <<kv, phase>>

Init ==
  /\ kv = [k \in Keys |-> <<>>]
  /\ phase = [t \in Txs |-> "idle"]

Become(t, from, to) == phase[t] = from /\ phase' = [phase EXCEPT ![t] = to]

Call(t) == Become(t, "idle", "called") /\ UNCHANGED kv

Commit(t) ==
  /\ Become(t, "called", "ready")
  /\ kv' = [k \in Keys |-> Append(kv[k], t)]

Abort(t) == Become(t, "called", "gone") /\ UNCHANGED kv

Return(t) ==
  /\ Become(t, "ready", "committed") \/ Become(t, "gone", "aborted")
  /\ UNCHANGED kv

Next == \E t \in Txs : Call(t) \/ Commit(t) \/ Abort(t) \/ Return(t)

Spec == Init /\ [][Next]_vars
=============================================================================

------------------------------ MODULE twophase ------------------------------
(* Two-phase commit: resource managers that each may prepare or abort on     *)
(* their own, and a transaction manager that commits once all have prepared. *)
(* Messages are a set that only grows, so a message may be received late,    *)
(* and more than once, or never. After Gray and Lamport, "Consensus on       *)
(* Transaction Commit".                                                      *)
CONSTANT RM  \* the resource managers

VARIABLES
    rm,        \* rm[r]: what resource manager r has done so far
    tm,        \* what the transaction manager has decided
    prepared,  \* the resource managers it has heard to be prepared
    msgs       \* every message ever sent

vars == <<rm, tm, prepared, msgs>>

Message == [type : {"Prepared"}, rm : RM] \cup [type : {"Commit", "Abort"}]

TypeOK ==
    /\ rm \in [RM -> {"working", "prepared", "committed", "aborted"}]
    /\ tm \in {"init", "committed", "aborted"}
    /\ prepared \subseteq RM
    /\ msgs \subseteq Message

Init ==
    /\ rm = [r \in RM |-> "working"]
    /\ tm = "init"
    /\ prepared = {}
    /\ msgs = {}

----------------------------------------------------------------------------
(* The transaction manager. *)

HearPrepared(r) ==
    /\ tm = "init"
    /\ [type |-> "Prepared", rm |-> r] \in msgs
    /\ prepared' = prepared \cup {r}
    /\ UNCHANGED <<rm, tm, msgs>>

DecideCommit ==
    /\ tm = "init"
    /\ prepared = RM
    /\ tm' = "committed"
    /\ msgs' = msgs \cup {[type |-> "Commit"]}
    /\ UNCHANGED <<rm, prepared>>

DecideAbort ==
    /\ tm = "init"
    /\ tm' = "aborted"
    /\ msgs' = msgs \cup {[type |-> "Abort"]}
    /\ UNCHANGED <<rm, prepared>>

----------------------------------------------------------------------------
(* A resource manager. *)

Prepare(r) ==
    /\ rm[r] = "working"
    /\ rm' = [rm EXCEPT ![r] = "prepared"]
    /\ msgs' = msgs \cup {[type |-> "Prepared", rm |-> r]}
    /\ UNCHANGED <<tm, prepared>>

ChooseToAbort(r) ==
    /\ rm[r] = "working"
    /\ rm' = [rm EXCEPT ![r] = "aborted"]
    /\ UNCHANGED <<tm, prepared, msgs>>

ObeyCommit(r) ==
    /\ [type |-> "Commit"] \in msgs
    /\ rm' = [rm EXCEPT ![r] = "committed"]
    /\ UNCHANGED <<tm, prepared, msgs>>

ObeyAbort(r) ==
    /\ [type |-> "Abort"] \in msgs
    /\ rm' = [rm EXCEPT ![r] = "aborted"]
    /\ UNCHANGED <<tm, prepared, msgs>>

Next ==
    \/ DecideCommit
    \/ DecideAbort
    \/ \E r \in RM :
        \/ HearPrepared(r)
        \/ Prepare(r)
        \/ ChooseToAbort(r)
        \/ ObeyCommit(r)
        \/ ObeyAbort(r)

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------
(* No two resource managers decide differently. *)
Consistent ==
    \A r, s \in RM : ~ (rm[r] = "committed" /\ rm[s] = "aborted")

(* A decision is final. *)
Final == [][\A r \in RM : rm[r] \in {"committed", "aborted"} => rm'[r] = rm[r]]_vars
=============================================================================

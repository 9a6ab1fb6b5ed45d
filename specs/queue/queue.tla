-------------------------------- MODULE queue --------------------------------
(* Producers and consumers that share a bounded queue. Every value produced   *)
(* is consumed at most once, and those of one producer in its order.          *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Producer, Consumer, Capacity, Rounds

ASSUME Capacity \in Nat \ {0} /\ Rounds \in Nat

VARIABLES
    queue,  \* the items under way, oldest first
    sent,   \* sent[p]: how many items producer p has put in
    got     \* got[c]: the items that consumer c has taken, in its order

vars == <<queue, sent, got>>

Item == [from : Producer, number : 1..Rounds]

TypeOK ==
    /\ queue \in Seq(Item)
    /\ sent \in [Producer -> 0..Rounds]
    /\ got \in [Consumer -> Seq(Item)]

Init ==
    /\ queue = <<>>
    /\ sent = [p \in Producer |-> 0]
    /\ got = [c \in Consumer |-> <<>>]

Put(p) ==
    /\ Len(queue) < Capacity
    /\ sent[p] < Rounds
    /\ sent' = [sent EXCEPT ![p] = @ + 1]
    /\ queue' = Append(queue, [from |-> p, number |-> sent'[p]])
    /\ UNCHANGED got

Take(c) ==
    /\ queue # <<>>
    /\ got' = [got EXCEPT ![c] = Append(@, Head(queue))]
    /\ queue' = Tail(queue)
    /\ UNCHANGED sent

Done ==
    /\ queue = <<>>
    /\ \A p \in Producer : sent[p] = Rounds
    /\ UNCHANGED vars

Next ==
    \/ \E p \in Producer : Put(p)
    \/ \E c \in Consumer : Take(c)
    \/ Done

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------
Bounded == Len(queue) =< Capacity

Range(s) == {s[i] : i \in DOMAIN s}

(* No item is taken twice, by one consumer or by two. *)
TakenOnce ==
    /\ \A c \in Consumer : Cardinality(Range(got[c])) = Len(got[c])
    /\ \A c, d \in Consumer : c # d => Range(got[c]) \cap Range(got[d]) = {}

(* Nothing is lost: what was sent is under way or was taken. *)
NothingLost ==
    LET taken == UNION {Range(got[c]) : c \in Consumer}
    IN  \A p \in Producer : \A n \in 1..sent[p] :
            [from |-> p, number |-> n] \in taken \cup Range(queue)

(* A consumer sees the items of one producer in the order they were sent. *)
InOrder ==
    \A c \in Consumer : \A i, j \in DOMAIN got[c] :
        (i < j /\ got[c][i].from = got[c][j].from) => got[c][i].number < got[c][j].number
=============================================================================

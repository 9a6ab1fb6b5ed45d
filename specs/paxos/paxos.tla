-------------------------------- MODULE paxos --------------------------------
(* Single-decree Paxos. Ballots are numbers; a leader of ballot b is whoever  *)
(* sends its messages, so there is no leader state. Messages are a set that   *)
(* only grows: they may be lost, repeated and reordered. After Lamport,       *)
(* "Paxos Made Simple".                                                       *)
EXTENDS Integers, FiniteSets

CONSTANTS Value, Acceptor, Quorum, BallotMax

ASSUME QuorumsMeet ==
    /\ \A Q \in Quorum : Q \subseteq Acceptor
    /\ \A Q, R \in Quorum : Q \cap R # {}

Ballot == 0..BallotMax
None == "none"

Message ==
         [type : {"prepare"}, bal : Ballot]
    \cup [type : {"promise"}, from : Acceptor, bal : Ballot,
          vbal : Ballot \cup {-1}, val : Value \cup {None}]
    \cup [type : {"propose"}, bal : Ballot, val : Value]
    \cup [type : {"accept"}, from : Acceptor, bal : Ballot, val : Value]

VARIABLES
    promised,  \* promised[a]: the highest ballot that a has answered
    voted,     \* voted[a]: the ballot of a's last vote, -1 before the first
    vote,      \* vote[a]: the value of that vote
    msgs

vars == <<promised, voted, vote, msgs>>

TypeOK ==
    /\ promised \in [Acceptor -> Ballot \cup {-1}]
    /\ voted \in [Acceptor -> Ballot \cup {-1}]
    /\ vote \in [Acceptor -> Value \cup {None}]
    /\ msgs \subseteq Message

Init ==
    /\ promised = [a \in Acceptor |-> -1]
    /\ voted = [a \in Acceptor |-> -1]
    /\ vote = [a \in Acceptor |-> None]
    /\ msgs = {}

Send(m) == msgs' = msgs \cup {m}

Prepare(b) ==
    /\ Send([type |-> "prepare", bal |-> b])
    /\ UNCHANGED <<promised, voted, vote>>

Promise(a) ==
    \E m \in msgs :
        /\ m.type = "prepare"
        /\ m.bal > promised[a]
        /\ promised' = [promised EXCEPT ![a] = m.bal]
        /\ Send([type |-> "promise", from |-> a, bal |-> m.bal,
                 vbal |-> voted[a], val |-> vote[a]])
        /\ UNCHANGED <<voted, vote>>

(* A value may be proposed in ballot b when a quorum has promised and the     *)
(* value is that of its highest vote, or any value where nobody has voted.    *)
Propose(b, v) ==
    /\ ~ \E m \in msgs : m.type = "propose" /\ m.bal = b
    /\ \E Q \in Quorum :
        LET promises == {m \in msgs : m.type = "promise" /\ m.bal = b /\ m.from \in Q}
            votes    == {m \in promises : m.vbal >= 0}
        IN  /\ \A a \in Q : \E m \in promises : m.from = a
            /\ \/ votes = {}
               \/ \E m \in votes :
                    /\ m.val = v
                    /\ \A n \in votes : n.vbal =< m.vbal
    /\ Send([type |-> "propose", bal |-> b, val |-> v])
    /\ UNCHANGED <<promised, voted, vote>>

Accept(a) ==
    \E m \in msgs :
        /\ m.type = "propose"
        /\ m.bal >= promised[a]
        /\ promised' = [promised EXCEPT ![a] = m.bal]
        /\ voted' = [voted EXCEPT ![a] = m.bal]
        /\ vote' = [vote EXCEPT ![a] = m.val]
        /\ Send([type |-> "accept", from |-> a, bal |-> m.bal, val |-> m.val])

Next ==
    \/ \E b \in Ballot : Prepare(b) \/ \E v \in Value : Propose(b, v)
    \/ \E a \in Acceptor : Promise(a) \/ Accept(a)

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------
Chosen(v) ==
    \E b \in Ballot, Q \in Quorum : \A a \in Q :
        [type |-> "accept", from |-> a, bal |-> b, val |-> v] \in msgs

Agreement == \A v, w \in Value : Chosen(v) /\ Chosen(w) => v = w

(* An acceptor never goes back to a lower ballot. *)
PromisesHold == [][\A a \in Acceptor : promised'[a] >= promised[a]]_vars
=============================================================================

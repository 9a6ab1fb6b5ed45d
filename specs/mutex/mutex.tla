-------------------------------- MODULE mutex --------------------------------
(* Mutual exclusion by Lamport's bakery algorithm with bounded tickets: a     *)
(* process takes a number above all it sees, and waits until every process    *)
(* with a smaller one has left. Reading the other numbers is not atomic.      *)
EXTENDS Naturals, FiniteSets

CONSTANTS N, TicketMax

ASSUME N \in Nat \ {0}

(* --algorithm mutex {
    variables
        choosing = [p \in 1..N |-> FALSE],
        ticket = [p \in 1..N |-> 0];

    define {
        (* Whether p goes before q: the smaller ticket, then the smaller name. *)
        Before(p, q) ==
            \/ ticket[p] < ticket[q]
            \/ ticket[p] = ticket[q] /\ p < q
    }

    process (P \in 1..N)
        variables unread = {}, highest = 0;
    {
    idle:
        while (TRUE) {
            choosing[self] := TRUE;
            unread := (1..N) \ {self};
            highest := 0;
    look:
            while (unread # {}) {
                with (q \in unread) {
                    if (ticket[q] > highest) { highest := ticket[q]; };
                    unread := unread \ {q};
                };
            };
    draw:
            await highest < TicketMax;
            ticket[self] := highest + 1;
    drawn:
            choosing[self] := FALSE;
            unread := (1..N) \ {self};
    wait:
            while (unread # {}) {
                with (q \in unread) {
                    await ~ choosing[q];
                    await ticket[q] = 0 \/ Before(self, q);
                    unread := unread \ {q};
                };
            };
    critical:
            skip;
    leave:
            ticket[self] := 0;
        };
    }
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION

MutualExclusion == Cardinality({p \in 1..N : pc[p] = "critical"}) =< 1

TicketsBounded == \A p \in 1..N : ticket[p] \in 0..TicketMax
=============================================================================

---- MODULE messages ----
EXTENDS Integers, Sequences, FiniteSets
(* --mpcal messages {
    define {
        Ask(n) == [type |-> "ask", n |-> n]
        Weight(m) == CASE m.type = "ask" -> m.n [] m.type = "done" -> 0 [] OTHER -> Len(m.body)
    }
    archetype A()
        variables inbox = <<>>, all = {}, sum = 0, m, kinds = [k \in {"ask", "tell"} |-> 0];
    {
    l1: inbox := <<Ask(3), [type |-> "tell", body |-> <<"x", "y">>], [type |-> "done"]>>;
    l2: while (inbox # <<>>) {
            m := Head(inbox);
            inbox := Tail(inbox);
        l3: sum := sum + Weight(m);
            all := all \cup {m};
            if (m.type \in DOMAIN kinds) { kinds[m.type] := @ + 1; };
        };
    l4: sum := sum + Cardinality({x \in all : x.type = "ask" /\ x.n > 2}) + Cardinality(DOMAIN m);
        all := all \ {Ask(3)};
    }
    process (P = 0) == instance A();
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

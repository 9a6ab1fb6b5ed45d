---- MODULE choices ----
EXTENDS Integers, Sequences, FiniteSets
(* --mpcal choices {
    archetype A()
        variables s = {}, log = <<>>, n = 0, last = 0;
    {
    l1: while (n < 3) {
            either {
                with (x \in 1..3 \ s) { s := s \cup {x}; last := x; };
            } or {
                await n > 0;
                with (x \in s, y = x + 1) { log := Append(log, <<x, y>>); };
            } or {
                with (x \in {}) { last := 99; };
            };
            n := n + 1;
        };
    l2: if (Cardinality(s) > 2) { goto l4; } else { skip; };
    l3: last := CHOOSE x \in s : \A y \in s : x >= y;
    l4: log := SelectSeq(log, LAMBDA p : p[1] # 2);
    }
    process (P = 0) == instance A();
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

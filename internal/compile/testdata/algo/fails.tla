---- MODULE fails ----
EXTENDS Integers, Sequences, TLC
(* --mpcal fails {
    archetype A(how)
        variables x = 2147483647, q = <<>>;
    {
    l1: if (how = 0) { x := x + 1; }
        else if (how = 1) { q := Tail(q); }
        else if (how = 2) { assert x < 0; }
        else if (how = 3) { x := q[1]; }
        else { x := 0; };
    }
    variables g = 0;
    process (P \in 0..4) == instance A(P);
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

---- MODULE unset ----
EXTENDS Integers, Sequences
CONSTANT Null
(* --mpcal unset {
    archetype A()
        variables v, w, opt = Null, seen = {}, best;
    {
    l1: w := 3;
    l2: if (opt = Null) { opt := [n |-> w, s |-> "x"]; };
    l3: seen := {opt, Null};
        either { v := 1; } or { skip; };
    l4: best := CHOOSE o \in seen : o # Null;
    l5: opt := Null;
        with (u = v) { w := IF u = 1 THEN 10 ELSE 20; };
    }
    process (P = "p") == instance A();
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

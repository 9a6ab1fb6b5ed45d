---- MODULE indices ----
EXTENDS Integers, Sequences
(* --mpcal indices {
    archetype A()
        variables q = <<10, 20, 30>>, f = [k \in 0..9 |-> k], i = 1, j = 2;
    {
    l1: i := i + 1 || q[i] := 11;
    l2: i := j || j := i + 1 || f[i + j] := f[j];
    l3: j := 0 || f[j] := 70 || i := f[j];
    }
    process (P = 0) == instance A();
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

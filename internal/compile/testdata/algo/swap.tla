---- MODULE swap ----
EXTENDS Integers, Sequences
(* --mpcal swap {
    archetype A()
        variables x = 1, y = 2, f = [j \in 0..2 |-> j], q = <<10, 20, 30>>, r = [a |-> 1, b |-> <<1, 2>>], i = 1;
    {
    l1: x := y || y := x;
    l2: f[0] := f[1] || f[1] := f[0];
        x := x + 10;
        x := x * 2;
    l3: q[i] := q[i + 1] || q[i + 1] := q[i] || i := i + 1;
    l4: r.b[2] := r.a + 5 || r.a := r.b[2];
        f[7] := 1;
        q[9] := 5;
        r.b[1] := r.b[1] * 100;
    }
    process (P = 0) == instance A();
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

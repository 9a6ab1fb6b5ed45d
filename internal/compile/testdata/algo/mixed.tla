---- MODULE mixed ----
EXTENDS Integers, Sequences
(* --mpcal mixed {
    archetype A()
        variables x = 0, y = "a", q = <<>>, b = FALSE;
    {
    l1: x := "seven";
    l2: q := <<1, "two", TRUE, <<3>>, {4}, [f |-> 5]>>;
    l3: x := q[1] + 1;
        b := q[3] /\ x = 2;
        y := q[6].f;
    l4: q := Append(Tail(q), x);
        either { x := q[3]; } or { x := <<q[1], y = 5>>; };
    }
    process (P = 0) == instance A();
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

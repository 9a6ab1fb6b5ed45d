---- MODULE reads ----
EXTENDS Integers, Sequences
(* --mpcal reads {
    mapping macro Positive {
        read { await $variable > 0; yield $variable; }
        write { yield $value; }
    }
    archetype A(ref a[_], ref b[_], ref guard)
        variables x = 0, y = 0, z = <<>>;
    {
    l1: x := a[b[1]] + a[b[2]] * 10;
    l2: if (x = 0) { y := guard; } else { y := 5; };
    l3: y := IF x > 0 THEN y + 1 ELSE guard;
    l4: await x > 0 \/ guard = 1;
    l5: b[1] := b[2] || b[2] := b[1];
    l6: with (u = a[b[1]], v = b[2]) { a[u] := v; z := <<u, v>>; };
    l7: z := Append(z, a[1]);
        a[1] := a[1] + 1;
        z := Append(z, a[1]);
    }
    variables ga = [i \in 1..3 |-> i], gb = <<2, 3>>, gg = 0;
    process (P = 0) == instance A(ref ga[_], ref gb[_], ref gg)
        mapping gg via Positive;
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

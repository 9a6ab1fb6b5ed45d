---- MODULE handoff ----
EXTENDS Integers, Sequences, TLC
CONSTANT N
(* --mpcal handoff {
    mapping macro Queue {
        read {
            await Len($variable) > 0;
            with (h = Head($variable)) { $variable := Tail($variable); yield h; };
        }
        write { await Len($variable) < 2; yield Append($variable, $value); }
    }
    archetype Producer(ref out[_])
        variables i = 0;
    {
    p1: while (i < N) {
            i := i + 1;
            out[1] := <<i, i * i>>;
        };
    }
    archetype Consumer(ref in[_])
        variables got = <<>>, last;
    {
    c1: while (Len(got) < N) {
            last := in[1];
            got := Append(got, last[2]);
        };
    }
    variables q = [x \in {1} |-> <<>>];
    process (P = "p") == instance Producer(ref q[_]) mapping q[_] via Queue;
    process (C = "c") == instance Consumer(ref q[_]) mapping q[_] via Queue;
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

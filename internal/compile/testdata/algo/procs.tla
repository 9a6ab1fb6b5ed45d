---- MODULE procs ----
EXTENDS Integers, Sequences, TLC
(* --mpcal procs {
    procedure Fact(n, ref out)
        variables sub = 0;
    {
    f1: if (n <= 1) {
            out := 1;
            return;
        } else {
            call Fact(n - 1, ref out);
        };
    f2: out := out * n;
        return;
    }
    procedure Count(k, ref total[_])
    {
    c1: if (k = 0) {
            return;
        } else {
            total[k] := total[k] + k;
            call Count(k - 1, ref total[_]);
            return;
        };
    }
    archetype A(ref world, ref table[_], start)
        variables res = 0, mine = [i \in 1..3 |-> 100];
    {
    a1: call Fact(start, ref res);
    a2: call Fact(3, ref world);
    a3: call Count(3, ref table[_]);
    a4: call Count(2, ref mine[_]);
    a5: start := start + 1;
    }
    variables g = 0, t = [i \in 1..3 |-> i * 10];
    process (P = 7) == instance A(ref g, ref t[_], 5);
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

---- MODULE shared ----
EXTENDS Integers, Sequences, FiniteSets
CONSTANT Workers
(* --mpcal shared {
    archetype Worker(ref counter, ref turn[_], ref queue, limit)
        variables seen = <<>>, k = 0;
    {
    w1: while (k < limit) {
            await turn[self];
            counter := counter + 1;
            turn[self] := FALSE;
            with (other \in Workers \ {self}) { turn[other] := TRUE; };
            queue := Append(queue, [by |-> self, n |-> counter]);
            k := k + 1;
        };
    w2: seen := [i \in 1..Len(queue) |-> queue[i].by];
    }
    variables c = 0, ts = [w \in Workers |-> w = CHOOSE x \in Workers : TRUE], q = <<>>;
    process (W \in Workers) == instance Worker(ref c, ref ts[_], ref q, 2);
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

---- MODULE counter ----
EXTENDS Naturals
(* --mpcal counter {
    archetype Counter(limit)
        variables n = 0;
    {
    c: while (n < limit) { n := n + 1; };
    }
    process (P = 1) == instance Counter(1000);
} *)
\* BEGIN TRANSLATION
\* END TRANSLATION
====

----------------------------- MODULE Statistics ------------------------------
(* Whether counts that were observed, a function, may well come from the       *)
(* expected ones, a function with the same domain: the probability of a        *)
(* deviation as large as theirs is at least alpha, a string such as "0.05".    *)
EXTENDS Naturals

ChiSquare(expected, actual, alpha) == TRUE
\* native
=============================================================================

---------------------------- MODULE Randomization ----------------------------
(* Random parts of large sets.                                                *)

(* A subset of S with k elements. *)
RandomSubset(k, S) == TRUE
\* native

(* At most k subsets of S, with n elements on average. *)
RandomSetOfSubsets(k, n, S) == TRUE
\* native

(* How many different subsets five calls of RandomSetOfSubsets gave. *)
TestRandomSetOfSubsets(k, n, S) == TRUE
\* native
=============================================================================

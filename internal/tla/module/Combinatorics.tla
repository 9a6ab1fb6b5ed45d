---------------------------- MODULE Combinatorics ----------------------------
EXTENDS Naturals

factorial[n \in Nat] == IF n = 0 THEN 1 ELSE n * factorial[n - 1]

(* How many sets of k elements a set of n elements has, without the large      *)
(* numbers that factorials would be.                                           *)
choose(n, k) ==
  LET From[i \in Nat] == IF i = 0 THEN 1 ELSE (From[i - 1] * (n - i + 1)) \div i
  IN IF k > n THEN 0 ELSE IF k > n - k THEN From[n - k] ELSE From[k]
=============================================================================

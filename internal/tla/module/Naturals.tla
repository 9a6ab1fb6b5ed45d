------------------------------ MODULE Naturals ------------------------------
(* The natural numbers and their arithmetic. In evaluation numbers have 32   *)
(* bits and may be negative; a result that does not fit is an error.         *)

Nat == TRUE
\* native

a + b == TRUE
\* native

a - b == TRUE
\* native

a * b == TRUE
\* native

a < b == TRUE
\* native

a > b == b < a
a <= b == a < b \/ a = b
a >= b == b <= a

(* All integers from a to b; none where a > b. *)
a .. b == TRUE
\* native

(* The quotient rounded towards minus infinity, and what it leaves. *)
a \div b == TRUE
\* native

a % b == a - b * (a \div b)

RECURSIVE _ ^ _
a ^ b == IF b = 0 THEN 1 ELSE a * (a ^ (b - 1))
=============================================================================

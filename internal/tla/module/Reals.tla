-------------------------------- MODULE Reals --------------------------------
(* The real numbers, of which only the integers can be computed with.         *)
EXTENDS Integers

Real == TRUE
\* native

Infinity == TRUE
\* native

a / b == TRUE
\* native
=============================================================================

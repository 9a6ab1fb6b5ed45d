------------------------------- MODULE TLCExt --------------------------------
LOCAL INSTANCE TLC

(* Whether a = b; prints both where they differ. *)
AssertEq(a, b) == a = b

(* The states of the behaviour so far, a sequence of records. *)
Trace == TRUE
\* native

(* The model value with the name that the string is. *)
TLCModelValue(name) == TRUE
\* native

(* expression, remembered by what closure evaluates to. *)
TLCCache(expression, closure) == expression

(* A register, or default where it was not set. *)
TLCGetOrDefault(key, default) == TRUE
\* native

(* Sets a register to Op(old value, val); the value is the old one. *)
TLCGetAndSet(key, Op(_, _), val, default) == TRUE
\* native

(* A number that is the same for equal values. *)
TLCFP(val) == TRUE
\* native

(* In simulation, keeps the successor for which the expression holds. *)
PickSuccessor(expression) == expression
=============================================================================

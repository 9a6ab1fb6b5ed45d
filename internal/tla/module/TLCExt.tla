------------------------------- MODULE TLCExt --------------------------------
LOCAL INSTANCE TLC

(* Whether a = b; prints both where they differ. *)
AssertEq(a, b) == a = b

(* TRUE where exp has a value, or has none because of the error err, which is
   the text that this checker shows for it; else an error that shows that text. *)
AssertError(err, exp) == TRUE
\* native

(* The states from an initial one to the current one, a sequence of records: in
   actions the state that the step begins in, in invariants the one asked of. *)
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

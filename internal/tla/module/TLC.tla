--------------------------------- MODULE TLC ---------------------------------
(* What a checker offers beyond TLA+: output, registers, explicit functions.  *)
LOCAL INSTANCE Naturals
LOCAL INSTANCE Sequences
LOCAL INSTANCE FiniteSets

(* Prints both; the value is the second. *)
Print(out, val) == val

PrintT(out) == TRUE

(* An error that shows out where the condition is false. *)
Assert(condition, out) == condition

JavaTime == TRUE
\* native

(* Registers with numbers, and properties of the run with names: "level", "action",
   "config", "revision"; "stats", and what it consists of; "spec", a record of what
   the specification and its configuration consist of, each a set of records of a
   name and a location; and, in a postcondition, "all", which gives for the number of
   a register its values in all workers, as a sequence. *)
TLCGet(i) == TRUE
\* native

TLCSet(i, v) == TRUE
\* native

d :> e == [x \in {d} |-> e]

(* Both functions together; where both have a value, that of f. *)
f @@ g == [x \in (DOMAIN f) \cup (DOMAIN g) |-> IF x \in DOMAIN f THEN f[x] ELSE g[x]]

Permutations(S) == {f \in [S -> S] : \A w \in S : \E v \in S : f[v] = w}

(* s in the order of Less; elements of which none is less keep their order. *)
SortSeq(s, Less(_, _)) ==
  LET Before(i, j) == Less(s[i], s[j]) \/ (~ Less(s[j], s[i]) /\ i < j)
      Rank(i) == 1 + Cardinality({j \in DOMAIN s : Before(j, i)})
  IN [k \in DOMAIN s |-> s[CHOOSE i \in DOMAIN s : Rank(i) = k]]

RandomElement(S) == TRUE
\* native

(* A set that contains every value. *)
Any == TRUE
\* native

(* The TLA+ text of a value. *)
ToString(v) == TRUE
\* native

(* v, evaluated at once and completely. *)
TLCEval(v) == v
=============================================================================

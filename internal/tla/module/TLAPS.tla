-------------------------------- MODULE TLAPS --------------------------------
(* Names by which proofs choose a prover, some with a time limit or a tactic. *)
(* They say nothing and are TRUE.                                             *)

SMT == TRUE
Z3 == TRUE
CVC3 == TRUE
CVC4 == TRUE
Yices == TRUE
veriT == TRUE
Zenon == TRUE
SlowZenon == TRUE
SlowerZenon == TRUE
VerySlowZenon == TRUE
SlowestZenon == TRUE
Isa == TRUE
Auto == TRUE
Force == TRUE
Blast == TRUE
SimplifyAndSolve == TRUE
Simplification == TRUE
AutoBlast == TRUE
LS4 == TRUE
PTL == TRUE
PropositionalTemporalLogic == TRUE
AllProvers == TRUE
AllSMT == TRUE
AllIsa == TRUE
SimpleArithmetic == TRUE
Cooper == TRUE
Trivial == TRUE
AutoUSE == TRUE
Lambdify == TRUE
ExpandENABLED == TRUE
ExpandCdot == TRUE
ENABLEDaxioms == TRUE
ENABLEDrewrites == TRUE
ENABLEDrules == TRUE
LevelComparison == TRUE

SMTT(x) == TRUE
Z3T(x) == TRUE
CVC3T(x) == TRUE
CVC4T(x) == TRUE
YicesT(x) == TRUE
veriTT(x) == TRUE
ZenonT(x) == TRUE
IsaT(x) == TRUE
IsaM(x) == TRUE
AllProversT(x) == TRUE
AllSMTT(x) == TRUE
AllIsaT(x) == TRUE
LS4T(x) == TRUE
IsaMT(x, y) == TRUE

(* Sets with the same elements are equal. *)
THEOREM SetExtensionality == \A S, T : (\A x : x \in S <=> x \in T) => S = T

THEOREM NoSetContainsEverything == \A S : \E x : x \notin S
=============================================================================

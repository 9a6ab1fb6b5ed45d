------------------------------- MODULE ShiViz --------------------------------
(* What a trace of a PlusCal algorithm needs to be drawn by ShiViz: which       *)
(* process took the step to a state, and its vector clock.                      *)
LOCAL INSTANCE Integers
LOCAL INSTANCE Json
LOCAL INSTANCE Toolbox

(* The process whose pc the step to state n changed; of a step that changes     *)
(* none, that of the step before. No process made the initial state.            *)
LOCAL Mover[n \in Nat] ==
  IF n <= 1 THEN "--"
  ELSE LET before == _TETrace[n - 1].pc
           after == _TETrace[n].pc
       IN IF before = after THEN Mover[n - 1]
          ELSE CHOOSE p \in DOMAIN before : before[p] /= after[p]

Host == Mover[_TEPosition]

(* How many steps each process has taken. *)
LOCAL Steps[n \in Nat] ==
  IF n <= 1 THEN [p \in DOMAIN _TETrace[1].pc |-> 0]
  ELSE LET m == Mover[n]
       IN [p \in DOMAIN _TETrace[1].pc |-> Steps[n - 1][p] + (IF p = m THEN 1 ELSE 0)]

Clock == ToJsonObject(Steps[_TEPosition])
=============================================================================

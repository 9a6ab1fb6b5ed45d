------------------------------ MODULE RealTime -------------------------------
(* Bounds on the time that steps take: now is the time, which only advances   *)
(* in steps that change nothing in v.                                         *)
EXTENDS Reals

VARIABLE now

RTnow(v) ==
  LET NowNext == /\ now' \in {r \in Real : r > now}
                 /\ UNCHANGED v
  IN /\ now \in Real
     /\ [][NowNext]_now
     /\ \A r \in Real : WF_now(NowNext /\ (now' > r))

(* An A step comes no earlier than D and no later than E after it has become  *)
(* possible.                                                                  *)
RTBound(A, v, D, E) ==
  LET TNext(t) == t' = IF <<A>>_v \/ ~(ENABLED <<A>>_v)' THEN 0 ELSE t + (now' - now)
      Timer(t) == (t = 0) /\ [][TNext(t)]_<<t, v, now>>
      MaxTime(t) == [](t <= E)
      MinTime(t) == [][A => t >= D]_v
  IN \EE t : Timer(t) /\ MaxTime(t) /\ MinTime(t)
=============================================================================

----------------------- MODULE DifferentialEquations ------------------------
(* Solutions of differential equations over the reals: they can be stated, and *)
(* not evaluated.                                                              *)
LOCAL INSTANCE Reals
LOCAL INSTANCE Sequences

LOCAL Between(lo, hi) == {x \in Real : lo < x /\ x < hi}

LOCAL Near(x, distance) == Between(x - distance, x + distance)

LOCAL Positive == Between(0, Infinity)

(* g is the derivative of f: quotients of differences come as close as wanted. *)
LOCAL Derivative(g, f) ==
  /\ g \in [DOMAIN f -> Real]
  /\ \A x \in DOMAIN f, tolerance \in Positive :
       \E reach \in Positive :
         \A y \in Near(x, reach) \ {x} : (f[y] - f[x]) / (y - x) \in Near(g[x], tolerance)

(* The values at b of the function f that satisfies D[t, f(t), f'(t), ...] = 0  *)
(* around the interval from a to b, and of its derivatives but the highest,    *)
(* which at a are those of initial.                                            *)
Integrate(D, a, b, initial) ==
  LET order == Len(initial)
      Solution(f) ==
        \E margin \in Positive :
          LET T == Between(a - margin, b + margin)
          IN /\ f \in [0..order -> [T -> Real]]
             /\ \A k \in 1..order : Derivative(f[k], f[k - 1]) /\ f[k - 1][a] = initial[k]
             /\ \A t \in T : D[<<t>> \o [k \in 1..(order + 1) |-> f[k - 1][t]]] = 0
      f == CHOOSE f : Solution(f)
  IN [k \in 1..order |-> f[k - 1][b]]
=============================================================================

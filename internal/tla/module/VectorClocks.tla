---------------------------- MODULE VectorClocks -----------------------------
(* Logs whose entries carry vector clocks: functions from nodes to times.     *)
EXTENDS Naturals, Sequences, Functions

LOCAL Time(c, n) == IF n \in DOMAIN c THEN c[n] ELSE 0

LOCAL Before(c, d) ==
  /\ \A n \in DOMAIN c : c[n] <= Time(d, n)
  /\ \E n \in DOMAIN d : Time(c, n) < d[n]

(* No entry comes before one that happened before it. *)
IsCausalOrder(log, clock(_)) ==
  \A i, j \in DOMAIN log : Before(clock(log[i]), clock(log[j])) => i < j

(* A permutation of the log in causal order, which keeps the order of the log *)
(* where it can. node and domain say which node an entry is of, and which     *)
(* nodes its clock knows.                                                     *)
CausalOrder(log, clock(_), node(_), domain(_)) ==
  LET Ready(rest) ==
        {i \in DOMAIN rest : ~ \E j \in DOMAIN rest : Before(clock(rest[j]), clock(rest[i]))}
      First(rest) == CHOOSE i \in Ready(rest) : \A j \in Ready(rest) : i <= j
      Without(rest, i) == SubSeq(rest, 1, i - 1) \o SubSeq(rest, i + 1, Len(rest))
      Rest[n \in 0..Len(log)] ==
        IF n = 0 THEN <<<<>>, log>>
        ELSE LET r == Rest[n - 1]
                 i == First(r[2])
             IN <<Append(r[1], r[2][i]), Without(r[2], i)>>
  IN Rest[Len(log)][1]
=============================================================================

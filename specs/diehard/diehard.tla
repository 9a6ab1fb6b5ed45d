------------------------------- MODULE diehard -------------------------------
(* Two jugs without marks, a tap and a drain: is there a way to hold exactly  *)
(* Goal? The invariant says that there is none, so that its counterexample is *)
(* the shortest way.                                                          *)
EXTENDS Naturals

CONSTANTS Small, Big, Goal

ASSUME SizesAreSane ==
    /\ {Small, Big, Goal} \subseteq Nat
    /\ Small < Big
    /\ Goal =< Big

VARIABLES small, big

Min(a, b) == IF a < b THEN a ELSE b

TypeOK == small \in 0..Small /\ big \in 0..Big

Init == small = 0 /\ big = 0

FillSmall  == small' = Small /\ UNCHANGED big
FillBig    == big' = Big /\ UNCHANGED small
EmptySmall == small' = 0 /\ UNCHANGED big
EmptyBig   == big' = 0 /\ UNCHANGED small

SmallToBig ==
    LET poured == Min(small, Big - big)
    IN  small' = small - poured /\ big' = big + poured

BigToSmall ==
    LET poured == Min(big, Small - small)
    IN  big' = big - poured /\ small' = small + poured

Next ==
    \/ FillSmall \/ FillBig
    \/ EmptySmall \/ EmptyBig
    \/ SmallToBig \/ BigToSmall

Spec == Init /\ [][Next]_<<small, big>>

NotSolved == small # Goal /\ big # Goal
=============================================================================

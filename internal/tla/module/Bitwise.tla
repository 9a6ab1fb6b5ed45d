------------------------------- MODULE Bitwise -------------------------------
(* Operators on the binary digits of natural numbers.                         *)
LOCAL INSTANCE Integers

LOCAL Digits(f(_, _), x, y) ==
  LET From[i \in 0..31, a \in Nat, b \in Nat] ==
        IF a = 0 /\ b = 0 THEN 0
        ELSE f(a % 2, b % 2) + 2 * From[i, a \div 2, b \div 2]
  IN From[0, x, y]

x & y == Digits(LAMBDA a, b : a * b, x, y)

x | y == Digits(LAMBDA a, b : IF a + b = 0 THEN 0 ELSE 1, x, y)

x ^^ y == Digits(LAMBDA a, b : (a + b) % 2, x, y)

\* The digits up to the highest 1, each turned over: Not(5) = 2, Not(0) = 0.
Not(x) ==
  LET Turned[a \in Nat] == IF a = 0 THEN 0 ELSE (1 - (a % 2)) + 2 * Turned[a \div 2]
  IN Turned[x]

shiftR(x, n) == LET Shift[i \in 0..n] == IF i = 0 THEN x ELSE Shift[i - 1] \div 2 IN Shift[n]

shiftL(x, n) == LET Shift[i \in 0..n] == IF i = 0 THEN x ELSE Shift[i - 1] * 2 IN Shift[n]
=============================================================================

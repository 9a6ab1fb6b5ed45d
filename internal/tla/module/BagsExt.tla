------------------------------- MODULE BagsExt -------------------------------
LOCAL INSTANCE Bags
LOCAL INSTANCE Naturals
LOCAL INSTANCE Folds

BagAdd(B, x) == B (+) SetToBag({x})

BagRemove(B, x) == B (-) SetToBag({x})

BagRemoveAll(B, x) == [e \in DOMAIN B \ {x} |-> B[e]]

(* op over f(x) for the elements x of B, each as often as it occurs; choose     *)
(* picks the element that comes next of the set of those that are left.        *)
MapThenFoldBag(op(_, _), base, f(_), choose(_), B) ==
  LET Fold[T \in SUBSET DOMAIN B] ==
        IF T = {} THEN base
        ELSE LET x == choose(T)
                 Upto[n \in 0..B[x]] == IF n = 0 THEN Fold[T \ {x}] ELSE op(f(x), Upto[n - 1])
             IN Upto[B[x]]
  IN Fold[DOMAIN B]

(* Folds over the elements, each as often as it occurs. *)
FoldBag(op(_, _), base, B) ==
  LET Times(e, acc) ==
        LET Upto[n \in 0..B[e]] == IF n = 0 THEN acc ELSE op(e, Upto[n - 1]) IN Upto[B[e]]
  IN MapThenFoldSet(Times, base, LAMBDA x : x, LAMBDA T : CHOOSE x \in T : TRUE, DOMAIN B)

SumBag(B) == FoldBag(LAMBDA x, y : x + y, 0, B)

ProductBag(B) == FoldBag(LAMBDA x, y : x * y, 1, B)
=============================================================================

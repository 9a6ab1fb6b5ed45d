------------------------------- MODULE BagsExt -------------------------------
LOCAL INSTANCE Bags
LOCAL INSTANCE Naturals
LOCAL INSTANCE Folds

BagAdd(B, x) == B (+) SetToBag({x})

BagRemove(B, x) == B (-) SetToBag({x})

BagRemoveAll(B, x) == [e \in DOMAIN B \ {x} |-> B[e]]

(* Folds over the elements, each as often as it occurs. *)
FoldBag(op(_, _), base, B) ==
  LET Times(e, acc) ==
        LET Upto[n \in 0..B[e]] == IF n = 0 THEN acc ELSE op(e, Upto[n - 1]) IN Upto[B[e]]
  IN MapThenFoldSet(Times, base, LAMBDA x : x, LAMBDA T : CHOOSE x \in T : TRUE, DOMAIN B)

SumBag(B) == FoldBag(LAMBDA x, y : x + y, 0, B)

ProductBag(B) == FoldBag(LAMBDA x, y : x * y, 1, B)
=============================================================================

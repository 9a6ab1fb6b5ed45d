-------------------------------- MODULE Folds --------------------------------
(* op(f(x1), op(f(x2), ... base)), where choose picks x1 from S, x2 from the  *)
(* rest, and so on.                                                           *)
MapThenFoldSet(op(_, _), base, f(_), choose(_), S) ==
  LET Fold[T \in SUBSET S] ==
        IF T = {} THEN base
        ELSE LET x == choose(T) IN op(f(x), Fold[T \ {x}])
  IN Fold[S]
=============================================================================

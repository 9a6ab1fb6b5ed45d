(** * How many states a small instance has

    The states that a specification reaches, computed, so that the number can be
    held against the one that `ashlar check` finds for the TLA+ module of the same
    name (specs/*/expect.txt). *)
From stdpp Require Import prelude gmap.

Section explore.
Context {state move : Type} `{Countable state}.
Context (allowed : state → move → Prop) `{∀ s m, Decision (allowed s m)} (effect : state → move → state).

Notation visited := (gmap state ()).

(** One more state: to be visited, if it is new. *)
Definition visit (x : visited * list state) (s : state) : visited * list state :=
  match x.1 !! s with
  | Some _ => x
  | None => (<[s := tt]> x.1, s :: x.2)
  end.

Fixpoint explore (fuel : nat) (moves : list move) (x : visited * list state) : visited * list state :=
  match fuel, x.2 with
  | S fuel, s :: todo =>
      explore fuel moves (foldl (λ y m, if decide (allowed s m) then visit y (effect s m) else y) (x.1, todo) moves)
  | _, _ => x
  end.

(** The number of states, and how many were not visited for want of fuel: none. *)
Definition count (fuel : nat) (moves : list move) (starts : list state) : nat * nat :=
  let x := explore fuel moves (foldl visit (∅, []) starts) in (size x.1, length x.2).
End explore.

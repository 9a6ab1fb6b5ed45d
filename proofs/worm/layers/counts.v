(** * The specifications are those of specs: as many states

    Each line is an instance that `ashlar check` has explored: the Go test beside
    proofs/proofs_test.go compares these numbers with specs/*/expect.txt. *)
From stdpp Require Import prelude gmap.
From ashlar.worm.layers Require Import explore commit sequence.

Global Instance commitment_eq : EqDecision commitment.
Proof. solve_decision. Defined.
Global Instance commitment_countable : Countable commitment.
Proof.
  refine (inj_countable' (λ s, (votes s, outcomes s, parties s, lost s))
    (λ '(a, b, c, d), Commitment a b c d) _). by intros [].
Defined.

(* specs/wormtx/AtomicCommit.tla commit.cfg: three participants *)
Definition commit_moves : list commit_move :=
  i ← [1; 2; 3]; [CBegin i; CVote i true; CVote i false; CVoteLate i true; CVoteLate i false;
                  CTell i true; CTell i false; CDie i].
Definition commit_starts : list commitment :=
  commit_start <$> [∅; {[1]}; {[2]}; {[3]}; {[1; 2]}; {[1; 3]}; {[2; 3]}; {[1; 2; 3]}].
Lemma count_commit : count (commit_allowed {[1; 2; 3]}) commit_effect 6000 commit_moves commit_starts = (4768, 0).
Proof. vm_compute. reflexivity. Qed.

(** * The specifications are those of specs: as many states

    Each line is an instance that `ashlar check` has explored: TestCounts in
    proofs/proofs_test.go compares these numbers with specs/*/expect.txt. *)
From stdpp Require Import prelude gmap.
From ashlar.worm.layers Require Import explore commit sequence writeonce.

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

Global Instance sequence_eq : EqDecision sequence.
Proof. solve_decision. Defined.
Global Instance sequence_countable : Countable sequence.
Proof.
  refine (inj_countable' (λ s, (entries s, reached s, answered s, may s, got s))
    (λ '(a, b, c, d, e), Sequence a b c d e) _). by intros [].
Defined.

(* specs/wormlog/BoundedLog.tla bounded.cfg: two commands, two readers, two servers *)
Definition sequences : list (list nat) := [[]; [1]; [2]; [1; 2]; [2; 1]].
Definition sequence_moves : list sequence_move :=
  (SDecide <$> sequences) ++ [SApply 1; SApply 2; SAnswer 1; SAnswer 2; SBeginRead 1; SBeginRead 2] ++
  (SEndRead 1 <$> sequences) ++ (SEndRead 2 <$> sequences).
Lemma count_sequence :
  count (sequence_allowed {[1; 2]} {[1; 2]}) sequence_effect 6000 sequence_moves [sequence_start] = (3937, 0).
Proof. vm_compute. reflexivity. Qed.

Global Instance writeonce_eq : EqDecision (writeonce (value := nat)).
Proof. solve_decision. Defined.
Global Instance writeonce_countable : Countable (writeonce (value := nat)).
Proof.
  refine (inj_countable' (λ s, (w_value s, w_trimmed s, w_wanted s, w_done s, w_may s, w_got s))
    (λ '(a, b, c, d, e, f), WriteOnceState a b c d e f) _). by intros [].
Defined.

(* specs/lib/WriteOnce.tla writeonce.cfg: two values, two readers *)
Definition answers : list (option (option nat)) := [None; Some None; Some (Some 1); Some (Some 2)].
Definition writeonce_moves : list (writeonce_move (value := nat)) :=
  [WAsk 1; WAsk 2; WWrite 1; WWrite 2; WAcknowledge 1; WAcknowledge 2; WTrim; WBegin 1; WBegin 2] ++
  (WEnd 1 <$> answers) ++ (WEnd 2 <$> answers).
Lemma count_writeonce :
  count writeonce_allowed writeonce_effect 2000 writeonce_moves [writeonce_start] = (728, 0).
Proof. vm_compute. reflexivity. Qed.

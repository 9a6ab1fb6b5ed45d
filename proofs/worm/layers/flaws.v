(** * The layers without a rule: what goes wrong *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.layers Require Export runs.

(** A sequencer that serves before the fence: entry 1 is appended at address 1 and
    its append returns; then entry 2 is appended, with an address that the sequencer
    of the segment before hands out, at address 0. *)
Definition unfenced : moving nat (option nat) logs := λ l h e l',
  log_move ones l h e l' ∨ (e = None ∧ ∃ k, k < allocated l ∧ l' = with_served l k).

Ltac does m := eapply rtc_l; [apply layer_alone; left; m|].
Ltac sees m w := eapply rtc_l; [apply layer_event; [left; m|exact w]|].

Lemma log_unfenced : ∃ l h F G, layer_run unfenced log_start l h ∧
  clients l !! 1 = Some (Client Done (Some 1) F) ∧ clients l !! 2 = Some (Client Done (Some 0) G) ∧ 2 ∈ G.
Proof.
  eexists _, _, _, _. split.
  - does ltac:(apply log_alloc). does ltac:(apply log_alloc).
    does ltac:(apply (log_serve _ _ _ 0); [simpl; lia|intros a Ha; simpl in Ha; lia]).
    eapply rtc_l; [apply layer_alone; right; split; [done|]; exists 1; split; [simpl; lia|done]|].
    does ltac:(apply (log_call _ _ _ 1); done).
    does ltac:(eapply (log_token _ _ _ 1 _ 1); [reflexivity|set_solver|reflexivity]).
    sees ltac:(eapply (log_send _ _ _ 1 _ 1); reflexivity) (asked_once (Some 1)).
    sees ltac:(apply (log_answer _ _ _ 1 (Wrote (Some 1))); done) (written_once (Some 1)).
    does ltac:(eapply (log_return _ _ _ 1 _ 1); [reflexivity|left; vm_compute; repeat constructor]).
    does ltac:(apply (log_call _ _ _ 2); done).
    does ltac:(eapply (log_token _ _ _ 2 _ 0); [reflexivity|set_solver|reflexivity]).
    sees ltac:(eapply (log_send _ _ _ 2 _ 0); reflexivity) (asked_once (Some 2)).
    sees ltac:(apply (log_answer _ _ _ 0 (Wrote (Some 2))); done) (written_once (Some 2)).
    does ltac:(eapply (log_return _ _ _ 2 _ 0); [reflexivity|left; vm_compute; repeat constructor]).
    done.
  - split; [done|]. split; [done|]. set_solver.
Qed.

(** A participant that gives up by itself: it has learned abort, and the other commits. *)
Definition impatient : moving nat bool txs := λ l h e l',
  tx_moves {[1; 2]} false l h e l' ∨
  (e = None ∧ ∃ i, i ∈ begun l ∧ learned l !! i = None ∧ l' = with_learned l i false).

Lemma tx_impatient : ∃ l h, layer_run impatient tx_start l h ∧
  learned l !! 1 = Some true ∧ learned l !! 2 = Some false.
Proof.
  eexists _, _. split.
  - does ltac:(exists (Participant 1); apply (tx_begin _ _ _ _ 1); set_solver).
    does ltac:(exists (Participant 2); apply (tx_begin _ _ _ _ 2); set_solver).
    does ltac:(exists (Participant 1); apply (tx_choose _ _ _ _ 1 true); [simpl; set_solver|done]).
    does ltac:(exists (Participant 2); apply (tx_choose _ _ _ _ 2 true); [simpl; set_solver|done]).
    sees ltac:(exists (Participant 1); apply (tx_vote _ _ _ _ 1 true); [simpl; set_solver|done]) (asked_once true).
    sees ltac:(exists Register; apply (tx_return _ _ _ _ 1 (Wrote true)); done) (written_once true).
    sees ltac:(exists (Participant 2); apply (tx_vote _ _ _ _ 2 true); [simpl; set_solver|done]) (asked_once true).
    sees ltac:(exists Register; apply (tx_return _ _ _ _ 2 (Wrote true)); done) (written_once true).
    eapply rtc_l; [apply layer_alone; right; split; [done|]; exists 2; split; [simpl; set_solver|split; [done|reflexivity]]|].
    does ltac:(exists (Participant 1); apply (tx_learn _ _ _ _ 1 true); [simpl; set_solver|set_solver|done|done|
      intros j Hj; assert (j = 1 ∨ j = 2) as [->| ->] by set_solver; left; vm_compute; repeat constructor]).
    done.
  - done.
Qed.

(** A read that does not ask whether the next slot is unwritten: command 7 is
    answered, and a read that begins after that returns nothing. *)
Definition stale : moving nat (option nat) smrs := λ l h e l',
  smr_move {[7]} {[1]} l h e l' ∨
  (e = None ∧ ∃ r s, look l !! r = Some s ∧
    l' = Smrs (applied l) (ran l) (replied l) (delete r (look l)) (gathered l) (asks l) (<[r := seen_by l r]> (shown l))).

Lemma smr_stale : ∃ l0 h0 l h, layer_run stale smr_start l0 h0 ∧ 7 ∈ replied l0 ∧ look l0 !! 0 = None ∧
  rtc (layer_step stale) (l0, h0) (l, h) ∧ shown l !! 0 = Some [].
Proof.
  eexists _, _, _, _. split; [|split; [|split; [|split]]].
  - sees ltac:(apply (smr_write _ _ _ _ 0 (Some 7)); set_solver) (asked_once (Some 7)).
    sees ltac:(apply (smr_return _ _ _ _ 0 (Wrote (Some 7))); done) (written_once (Some 7)).
    does ltac:(apply (smr_apply _ _ _ _ 1 (Some 7)); [set_solver|left; vm_compute; repeat constructor]).
    does ltac:(apply (smr_answer _ _ _ _ 1 7); vm_compute; repeat constructor).
    done.
  - simpl. set_solver.
  - done.
  - does ltac:(apply (smr_begin _ _ _ _ 0); done).
    eapply rtc_l; [apply layer_alone; right; split; [done|]; exists 0, 0; split; [done|reflexivity]|]. done.
  - done.
Qed.

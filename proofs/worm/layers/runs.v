(** * The layers can do what they are for *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.layers Require Export tx smr log.

(** A register that is written once. *)
Lemma written_once {value : Type} (v : value) : write_once [Writes v; Wrote v].
Proof.
  assert (write_once [Writes v]) as HW.
  { apply (write_once_more []); [apply write_once_nil|by intros r ?%elem_of_nil| |].
    - intros w [Hw|[r Hw]]; by apply elem_of_list_singleton in Hw.
    - intros r [?|[?|[? ?]]]; done. }
  apply (write_once_more [_]); [done|by intros r ?%elem_of_list_singleton| |].
  - intros w [Hw|[r Hw]]; apply elem_of_list_singleton in Hw; [|done]. injection Hw as ->. split; [apply elem_of_list_here|].
    intros u [Hu|[r Hu]]; by apply elem_of_list_singleton in Hu.
  - intros r [?|[?|[? ?]]]; done.
Qed.

Lemma asked_once {value : Type} (v : value) : write_once [Writes v].
Proof.
  apply (write_once_more []); [apply write_once_nil|by intros r ?%elem_of_nil| |].
  - intros w [Hw|[r Hw]]; by apply elem_of_list_singleton in Hw.
  - intros r [?|[?|[? ?]]]; done.
Qed.

(** A read of a register that is not written. *)
Lemma read_nothing {value : Type} : write_once [Reads 0; ReadNothing (value := value) 0].
Proof.
  assert (∀ v : value, ¬ told [Reads 0; ReadNothing 0] v) as N.
  { intros v [Hv|[r Hv]]; repeat (apply elem_of_cons in Hv as [Hv|Hv]; [done|]); by apply elem_of_nil in Hv. }
  split.
  - intros v w Hv. by destruct (N v).
  - intros h1 h2 v E Hv. destruct (N v). rewrite E, told_app. by left.
  - intros h1 h2 r v E Hv. destruct (N v). rewrite E, told_app. by left.
  - intros h1 h2 r r' e E Hr. assert (ReadTrimmed r' ∈ [Reads 0; ReadNothing (value := value) 0]) as Hin by (rewrite E; set_solver).
    repeat (apply elem_of_cons in Hin as [Hin|Hin]; [done|]). by apply elem_of_nil in Hin.
  - intros h1 h2 r v _ _ Hv. by destruct (N v).
  - intros h1 h2 r e E Hr. destruct h1 as [|x [|y h1]]; simpl in E; simplify_eq.
    + destruct Hr as [?|[?|[? ?]]]; done.
    + destruct Hr as [[= ->]|[?|[? ?]]]; [|done..]. apply elem_of_list_here.
    + by destruct h1.
Qed.

Lemma read_begun {value : Type} : write_once [Reads (value := value) 0].
Proof.
  apply (write_once_more []); [apply write_once_nil|by intros r ?%elem_of_nil| |].
  - intros w [Hw|[r Hw]]; by apply elem_of_list_singleton in Hw.
  - intros r [?|[?|[? ?]]]; done.
Qed.

Ltac alone m := eapply rtc_l; [apply layer_alone; m|].
Ltac event m w := eapply rtc_l; [apply layer_event; [m|exact w]|].

(** Two participants commit. *)
Lemma tx_commits tells : ∃ l h, layer_run (tx_moves {[1; 2]} tells) tx_start l h ∧ learned l !! 1 = Some true.
Proof.
  eexists _, _. split.
  - alone ltac:(exists (Participant 1); apply (tx_begin _ _ _ _ 1); set_solver).
    alone ltac:(exists (Participant 2); apply (tx_begin _ _ _ _ 2); set_solver).
    alone ltac:(exists (Participant 1); apply (tx_choose _ _ _ _ 1 true); [simpl; set_solver|done]).
    alone ltac:(exists (Participant 2); apply (tx_choose _ _ _ _ 2 true); [simpl; set_solver|done]).
    event ltac:(exists (Participant 1); apply (tx_vote _ _ _ _ 1 true); [simpl; set_solver|done]) (asked_once true).
    event ltac:(exists Register; apply (tx_return _ _ _ _ 1 (Wrote true)); done) (written_once true).
    event ltac:(exists (Participant 2); apply (tx_vote _ _ _ _ 2 true); [simpl; set_solver|done]) (asked_once true).
    event ltac:(exists Register; apply (tx_return _ _ _ _ 2 (Wrote true)); done) (written_once true).
    alone ltac:(exists Failure; apply tx_abandon).
    alone ltac:(exists (Participant 1); apply (tx_learn _ _ _ _ 1 true); [simpl; set_solver|set_solver|done|done|
      intros j Hj; assert (j = 1 ∨ j = 2) as [->| ->] by set_solver; left; vm_compute; repeat constructor]).
    done.
  - done.
Qed.

(** A server applies a command, it is answered, and a read returns it. *)
Lemma smr_answers : ∃ l h, layer_run (smr_moves {[7]} {[1]}) smr_start l h ∧ 7 ∈ replied l ∧ shown l !! 0 = Some [7].
Proof.
  eexists _, _. split.
  - event ltac:(apply (smr_write _ _ _ _ 0 (Some 7)); set_solver) (asked_once (Some 7)).
    event ltac:(apply (smr_return _ _ _ _ 0 (Wrote (Some 7))); done) (written_once (Some 7)).
    alone ltac:(apply (smr_apply _ _ _ _ 1 (Some 7)); [set_solver|left; vm_compute; repeat constructor]).
    alone ltac:(apply (smr_answer _ _ _ _ 1 7); vm_compute; repeat constructor).
    alone ltac:(apply (smr_begin _ _ _ _ 0); done).
    alone ltac:(apply (smr_look _ _ _ _ 0 0 (Some 7)); [done|left; vm_compute; repeat constructor]).
    event ltac:(apply (smr_ask _ _ _ _ 0 1 0); done) (read_begun (value := option nat)).
    event ltac:(apply (smr_end _ _ _ _ 0 1 0); done) (read_nothing (value := option nat)).
    done.
  - split; [simpl; set_solver|done].
Qed.

(** Segments of one address each. *)
Definition ones : division := {| segment := λ a, a; base := λ k, k; divided := λ k a, iff_refl _ |}.

(** An append goes on when the sequencer has changed: entry 1 is at address 0, and
    entry 2 in the next segment. *)
Lemma log_moves_on : ∃ l h F G, layer_run (log_moves ones) (log_start) l h ∧
  clients l !! 1 = Some (Client Done (Some 0) F) ∧ clients l !! 2 = Some (Client Done (Some 1) G) ∧ 1 ∈ G.
Proof.
  eexists _, _, _, _. split.
  - alone ltac:(apply log_alloc).
    alone ltac:(apply (log_serve _ _ _ 0); [simpl; lia|intros a Ha; simpl in Ha; lia]).
    alone ltac:(apply (log_call _ _ _ 1); done).
    alone ltac:(eapply (log_token _ _ _ 1 _ 0); [reflexivity|set_solver|reflexivity]).
    event ltac:(eapply (log_send _ _ _ 1 _ 0); reflexivity) (asked_once (Some 1)).
    event ltac:(apply (log_answer _ _ _ 0 (Wrote (Some 1))); done) (written_once (Some 1)).
    alone ltac:(eapply (log_return _ _ _ 1 _ 0); [reflexivity|left; vm_compute; repeat constructor]).
    alone ltac:(apply (log_call _ _ _ 2); done).
    alone ltac:(apply log_alloc).
    alone ltac:(apply (log_serve _ _ _ 1);
      [simpl; lia|intros a Ha; simpl in Ha; assert (a = 0) as -> by lia; left; exists (Some 1); left; vm_compute; repeat constructor]).
    alone ltac:(eapply (log_token _ _ _ 2 _ 1); [reflexivity|set_solver|reflexivity]).
    event ltac:(eapply (log_send _ _ _ 2 _ 1); reflexivity) (asked_once (Some 2)).
    event ltac:(apply (log_answer _ _ _ 1 (Wrote (Some 2))); done) (written_once (Some 2)).
    alone ltac:(eapply (log_return _ _ _ 2 _ 1); [reflexivity|left; vm_compute; repeat constructor]).
    done.
  - split; [done|]. split; [done|]. set_solver.
Qed.

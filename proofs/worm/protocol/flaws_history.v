(** * What users see without the rules of reading

    As flaws.v, for the rules whose breach shows in a history. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export history runs flaws.

Section runs.
Context `{Countable server} {value : Type} `{EqDecision value} (σ : setting server).

(** The register with its users, with something wrong. *)
Definition with_wrong (wrong : relation (system server value)) : relation (system server value) :=
  λ x y, system_step σ x y ∨ wrong x y.

Lemma run_inside wrong (s : state server value) h l y :
  legal σ s l → Forall (called_for h) l →
  rtc (with_wrong wrong) (System (foldl effect s l) h) y → rtc (with_wrong wrong) (System s h) y.
Proof.
  revert s. induction l as [|m l IH]; intros s; simpl; [done|].
  intros [Hm Hl] [Hc Hcs]%Forall_cons_1 Hr. apply rtc_l with (System (effect s m) h); [left; by apply step_inside|by apply IH].
Qed.
End runs.

Local Notation sys := (system nat nat).
Definition no_flaw : relation sys := λ _ _, False.

Ltac calls_write v := eapply rtc_l; [left; apply (step_call_write _ _ _ v)|cbn [app]].
Ltac calls_read r := eapply rtc_l; [left; apply (step_call_read _ _ _ r); set_solver|cbn [app]].
Ltac inside l := eapply (run_inside _ _ _ _ l); [legal|repeat constructor; cbn; set_solver|cbn [foldl]].
Ltac returns_event e := eapply rtc_l; [left; apply (step_return _ _ _ e)|cbn [app]].
Ltac wrongly := eapply rtc_l; [right|cbn [app]].
Ltac shown_by b Q := exists b, Q; split; [counted|let H := fresh in intros ? H; each_of H; in_sent].

(** A whole history is possible: a read of nothing, a write, a read of the value, a
    trim, and a read of that. *)
Lemma whole_history : ∃ s, rtc (system_step paxos) start (System s
  [Reads 0; ReadNothing 0; Writes 7; Wrote 7; Reads 1; Read 1 7; Reads 2; ReadTrimmed 2]).
Proof.
  assert (∀ x y : sys, rtc (with_wrong paxos no_flaw) x y → rtc (system_step paxos) x y) as Hno.
  { intros x y. apply rtc_subrel. intros ? ? [?|[]]. done. }
  eexists. apply Hno.
  calls_read 0. inside [Ask 0; Show 1 0; Show 2 0 : move nat nat].
  returns_event (ReadNothing 0 : event nat). { exists {[1; 2]}. split; [counted|]. intros a Ha. each_of Ha; in_sent. }
  calls_write 7. inside [ProposeZero 7; Accept 1 0 7; Accept 3 0 7]. { intros _ w Hw. none_sent Hw. }
  returns_event (Wrote 7). { by decided_by 0 ({[1; 3]} : gset nat). }
  calls_read 1. inside [Ask 1; Show 1 1; Show 3 1 : move nat nat].
  returns_event (Read 1 7). { shown_by 0 ({[1; 3]} : gset nat). }
  calls_read 2. inside [Ask 2; Trim 1; Trim 2 : move nat nat]. { done. } { done. }
  returns_event (ReadTrimmed 2 : event nat). { split; [in_sent|]. exists {[1; 2]}. split; [counted|]. intros a Ha. each_of Ha; in_sent. }
  done.
Qed.

(** With [wrong] besides the right steps, a history is none of a write-once register. *)
Definition breaks_history (wrong : relation sys) : Prop :=
  ∃ x, rtc (with_wrong paxos wrong) start x ∧ ¬ write_once (history x).

(** A client returns a value that one server has shown, without a majority. *)
Definition returns_unrepaired : relation sys := λ x y,
  ∃ a r b v, Shown a r (Some (b, v)) ∈ sent (core x) ∧ y = System (core x) (history x ++ [Read r v]).

Lemma unrepaired_read : breaks_history returns_unrepaired.
Proof.
  eexists. split.
  - calls_write 7. inside [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Accept 1 1 7]. { by left. }
    calls_read 0. inside [Ask 0; Show 1 0 : move nat nat].
    wrongly. { exists 1, 0, 1, 7. split; [in_sent|done]. }
    calls_write 8. inside [Capture 2 2; Capture 3 2; Propose 2 8 {[2; 3]} nothing; Accept 2 2 8; Accept 3 2 8]. { by left. }
    returns_event (Wrote 8). { by decided_by 2 ({[2; 3]} : gset nat). }
    done.
  - cbn [core history app]. intros HW.
    assert (7 = 8) as [=]. eapply (one _ HW); [right; exists 0; set_solver|left; set_solver].
Qed.

(** A client returns "unwritten" since one server has shown nothing. *)
Definition returns_nothing_too_soon : relation sys := λ x y,
  ∃ a r, Shown a r None ∈ sent (core x) ∧ y = System (core x) (history x ++ [ReadNothing r]).

Lemma nothing_from_one_server : breaks_history returns_nothing_too_soon.
Proof.
  eexists. split.
  - calls_write 7. inside [ProposeZero 7; Accept 1 0 7; Accept 2 0 7]. { intros _ w Hw. none_sent Hw. }
    returns_event (Wrote 7). { by decided_by 0 ({[1; 2]} : gset nat). }
    calls_read 0. inside [Ask 0; Show 3 0 : move nat nat].
    wrongly. { exists 3, 0. split; [in_sent|done]. }
    done.
  - cbn [core history app]. intros HW.
    eapply (lasting _ HW [Writes 7; Wrote 7] _ 0 7); [done|left; set_solver|set_solver].
Qed.

(** A client returns "trimmed" when one server has the tombstone. *)
Definition returns_trimmed_too_soon : relation sys := λ x y,
  ∃ a r, Buried a ∈ sent (core x) ∧ y = System (core x) (history x ++ [ReadTrimmed r]).

Lemma trimmed_from_one_server : breaks_history returns_trimmed_too_soon.
Proof.
  eexists. split.
  - calls_read 0. inside [Ask 0; Trim 1 : move nat nat]. { done. }
    wrongly. { exists 1, 0. split; [in_sent|done]. }
    calls_read 1. inside [Ask 1; Show 2 1; Show 3 1 : move nat nat].
    returns_event (ReadNothing 1 : event nat). { exists {[2; 3]}. split; [counted|]. intros a Ha. each_of Ha; in_sent. }
    done.
  - cbn [core history app]. intros HW.
    assert ((ReadNothing 1 : event nat) = ReadTrimmed 1) as [=].
    eapply (gone _ HW [Reads 0; ReadTrimmed 0] [ReadNothing 1] 1 0); [done|set_solver|set_solver|by left].
Qed.

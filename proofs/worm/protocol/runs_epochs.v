(** * Runs through epochs, and what is possible: servers are changed *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export epochs runs flaws.

Section runs.
Context `{Countable server} {value : Type} `{EqDecision value} (σ0 : setting server).
Implicit Types (w : world server value).

(** Steps within an epoch, one after the other. *)
Definition inside (e : nat) w (m : move server value) : world server value :=
  within w e (effect (registers w e) m).

Fixpoint legal_in (σ : setting server) e w (l : list (move server value)) : Prop :=
  match l with
  | [] => True
  | m :: l' => (allowed σ (registers w e) m ∧ ∀ a, actor m = Some a → has_begun (notes w) e a) ∧
      legal_in σ e (inside e w m) l'
  end.

Definition either (wrong : relation (world server value)) : relation (world server value) :=
  λ w w', world_step σ0 w w' ∨ wrong w w'.

Lemma notes_inside e w l : notes (foldl (inside e) w l) = notes w.
Proof. revert w. induction l as [|m l IH]; intros w; [done|]. simpl. by rewrite IH. Qed.

Lemma run_in wrong e σ l w w' :
  configured σ0 (notes w) e σ → legal_in σ e w l →
  rtc (either wrong) (foldl (inside e) w l) w' → rtc (either wrong) w w'.
Proof.
  revert w. induction l as [|m l IH]; intros w He; simpl; [done|]. intros [[Hm Ha] Hl] Hr.
  apply rtc_l with (inside e w m); [left; by eapply world_inside|]. by apply IH.
Qed.
End runs.

(** Two different values are decided, in one epoch or in two. *)
Definition parts (wrong : relation (world nat nat)) : Prop :=
  ∃ w, rtc (either paxos wrong) first w ∧ ∃ e e', decided_in paxos w e 7 ∧ decided_in paxos w e' 8.

Ltac computed :=
  lazymatch goal with
  | |- ?x ∈ ?l => let x' := eval vm_compute in x in let l' := eval vm_compute in l in change (x' ∈ l')
  end; repeat first [exact (elem_of_list_here _ _)|apply elem_of_list_further].
Ltac in_notes := cbn [notes noted within foldl inside]; repeat first [exact (elem_of_list_here _ _)|apply elem_of_list_further].
Ltac no_note H := cbn [notes noted within foldl inside] in H; repeat (apply elem_of_cons in H as [H|H]; [discriminate H|]); by apply elem_of_nil in H.
Ltac none_computed H :=
  lazymatch type of H with ?x ∈ ?l => let l' := eval vm_compute in l in change (x ∈ l') in H end;
  repeat (apply elem_of_cons in H as [H|H]; [first [discriminate H|by simplify_eq]|]);
  by apply elem_of_nil in H.
Ltac legal_in_step :=
  lazymatch goal with
  | |- True => exact I
  | |- _ ∧ _ => split
  | |- serves _ => split; reflexivity
  | |- majority _ _ => counted
  | |- _ ∈ sent _ => computed
  | |- _ ≤ _ => vm_compute; lia
  | |- _ ≠ 0 => lia
  | |- sealed _ = _ => reflexivity
  | |- ∀ _, actor _ = _ → _ => intros ? [=]; subst; first [exact I|in_notes]
  | |- ∀ _, _ ∈ ({[_]} : gset _) ∪ _ → _ => let H := fresh in intros ? H; each_of H
  | |- ∀ _, Proposed _ _ ∈ _ → _ => let H := fresh in intros ? H; none_computed H
  | |- ∀ _, accepted _ ≠ _ => intros ?; vm_compute; congruence
  end.
Ltac legal_in := cbn [legal_in allowed]; repeat legal_in_step.
(** Runs [l] in epoch [e] with the servers [σ]. *)
Ltac runs e σ l :=
  let l' := eval cbn [app] in l in eapply (run_in _ _ e σ l'); [first [reflexivity|eexists; in_notes]|legal_in|cbn [foldl]].
Ltac rightly := eapply rtc_l; [left|].
Ltac wrongly := eapply rtc_l; [right|].
Ltac merge e σ r σ' Q t f c :=
  rightly; [eapply (world_merge _ _ e σ r σ' Q t f c);
    [first [reflexivity|eexists; in_notes]|counted|let H := fresh in intros ? H; each_of H; computed
    | |apply paxos_sound; set_solver|let H := fresh in intros ? ? H; no_note H]|].
Ltac stage e r σ a c := rightly; [apply (world_stage _ _ e r σ c a); in_notes|].
Ltac settle e r σ c Q :=
  rightly; [eapply (world_decide _ _ e r σ c Q);
    [in_notes|counted|let H := fresh in intros ? H; each_of H; in_notes|let H := fresh in intros ? ? H; no_note H]|].
Ltac begins e r σ a c :=
  rightly; [eapply (world_begin _ _ e r σ c a); [in_notes|in_notes|let H := fresh in intros H; no_note H]|].
Ltac decided_with σ b Q :=
  exists σ; split; [first [reflexivity|eexists; in_notes]|exists b, Q; split; [counted|let H := fresh in intros ? H; each_of H; computed]].

Definition unsealed (_ : nat) : bool := false.
Definition next : setting nat := paxos_of {[2; 3; 4]}.

(** The one value that was seen has the highest ballot. *)
Lemma only_highest Q a x : a ∈ Q → may_be_decided paxos Q (only a x) (snd x).
Proof.
  intros Ha. exists (fst x). split; [|done]. split.
  - exists a. split; [done|]. unfold only. rewrite decide_True by done. by destruct x.
  - intros a' k v _. unfold only. case_decide; [|done]. destruct x. naive_solver.
Qed.

Definition no_wrong : relation (world nat nat) := λ _ _, False.

Lemma decided_in_both : ∃ w : world nat nat,
  rtc (world_step paxos) first w ∧ decided_in paxos w 0 7 ∧ decided_in paxos w 1 7 ∧
  configured paxos (notes w) 1 next.
Proof.
  assert (∀ x y : world nat nat, rtc (either paxos no_wrong) x y → rtc (world_step paxos) x y) as Hno.
  { intros x y. apply rtc_subrel. intros ? ? [?|[]]. done. }
  eexists. split_and!.
  - apply Hno.
    runs 0 paxos [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Accept 1 1 7; Accept 2 1 7; Seal 2; Seal 3].
    { by left. }
    merge 0 paxos 5 next ({[2; 3]} : gset nat) unsealed (only 2 (1, 7)) (Value 7).
    { split; [done|]. by apply (only_highest _ 2 (1, 7)); set_solver. }
    stage 1 5 next 3 (Value 7). stage 1 5 next 4 (Value 7).
    settle 1 5 next (Value 7) ({[3; 4]} : gset nat).
    begins 1 5 next 3 (Value 7). begins 1 5 next 4 (Value 7).
    done.
  - decided_with paxos 1 ({[1; 2]} : gset nat).
  - decided_with next 0 ({[3; 4]} : gset nat).
  - eexists. in_notes.
Qed.

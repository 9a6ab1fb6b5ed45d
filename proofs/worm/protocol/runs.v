(** * Runs that are written down, for what must and what must not be possible *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export register counts.

Section runs.
Context `{Countable server} {value : Type} `{EqDecision value}.
Context (σ : setting server).
Implicit Types (s : state server value) (l : list (move server value)).

(** The moves of [l] are allowed one after the other. *)
Fixpoint legal s l : Prop :=
  match l with
  | [] => True
  | m :: l' => allowed σ s m ∧ legal (effect s m) l'
  end.

Lemma run_legal s l : legal s l → rtc (step σ) s (foldl effect s l).
Proof.
  revert s. induction l as [|m l IH]; intros s; simpl; [done|]. intros [Hm Hl].
  eapply rtc_l; [by exists m|by apply IH].
Qed.

(** The protocol with something wrong: besides its steps, those of [wrong]. *)
Definition with_flaw (wrong : relation (state server value)) : relation (state server value) :=
  λ s s', step σ s s' ∨ wrong s s'.

Lemma run_flawed wrong s l s' : legal s l → rtc (with_flaw wrong) (foldl effect s l) s' →
  rtc (with_flaw wrong) s s'.
Proof.
  intros Hl Hr. etrans; [|exact Hr]. eapply (rtc_subrel (step σ)); [|by apply run_legal].
  intros ? ? ?. by left.
Qed.

End runs.

(** The tactics compute: servers and values are numbers. *)
Ltac in_sent := cbn [sent effect put send foldl];
  repeat first [exact (elem_of_list_here _ _)|apply elem_of_list_further].
Ltac each_of H :=
  repeat (apply elem_of_union in H as [H|H]); apply elem_of_singleton in H; subst.
Ltac none_sent H := cbn [sent effect put send foldl] in H;
  repeat (apply elem_of_cons in H as [H|H]; [first [discriminate H|by simplify_eq]|]);
  by apply elem_of_nil in H.
Ltac counted := split; [by apply (bool_decide_unpack _); vm_compute|by apply (bool_decide_unpack _); vm_compute].
Ltac legal_step :=
  lazymatch goal with
  | |- True => exact I
  | |- _ ∧ _ => split
  | |- serves _ => split; reflexivity
  | |- majority _ _ => first [counted|by cbn; set_solver]
  | |- _ ∈ sent _ => in_sent
  | |- _ ≤ _ => vm_compute; lia
  | |- _ ≠ 0 => lia
  | |- ∀ _, _ ∈ ({[_]} : gset _) ∪ _ → _ => let H := fresh in intros ? H; each_of H
  | |- ∀ _, _ ∈ ({[_]} : gset _) → _ => let H := fresh in intros ? H; each_of H
  | |- ∀ _, Proposed _ _ ∈ _ → _ => let H := fresh in intros ? H; none_sent H
  | |- ∀ _, accepted _ ≠ _ => intros ?; vm_compute; congruence
  end.
Ltac legal := cbn [legal allowed]; repeat legal_step.
Ltac decided_by b Q := exists b, Q; split; [counted|let H := fresh in intros ? H; each_of H; in_sent].

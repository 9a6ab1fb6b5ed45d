(** * Chains: what is possible, and what goes wrong without a rule

    Three servers, 0 to 2. *)
From stdpp Require Import prelude functions.
From ashlar.worm.protocol Require Export chain.

Local Notation ch := (chain (value := nat)).

Ltac steps := eapply rtc_l; [left|].
Ltac goes := eapply rtc_l; [right|].
Ltac lettered := cbn [letters change]; repeat first [exact (elem_of_list_here _ _)|apply elem_of_list_further].

Definition wrongly_linked (wrong : relation ch) : relation ch := λ s s', chain_step 2 s s' ∨ wrong s s'.
Definition chain_breaks (wrong : relation ch) : Prop :=
  ∃ s, rtc (wrongly_linked wrong) empty_chain s ∧ chain_decided 2 s 7 ∧ chain_decided 2 s 8.

Ltac takes v := steps; [apply (chain_write _ _ 1 v); [by split|reflexivity|cbn; lia]|].
Ltac forwards i v := steps; [apply (chain_forward _ _ i v); [lia|left; lettered|by split|reflexivity]|].

Lemma chain_decides : ∃ s : ch, rtc (chain_step 2) empty_chain s ∧ chain_decided 2 s 7.
Proof.
  eexists. split.
  - eapply rtc_l; [apply (chain_capture _ _ 1); [by split|cbn; lia]|].
    eapply rtc_l; [apply (chain_write _ _ 1 7); [by split|reflexivity|cbn; lia]|].
    eapply rtc_l; [apply (chain_forward _ _ 0 7); [lia|left; lettered|by split|reflexivity]|].
    eapply rtc_l; [apply (chain_forward _ _ 1 7); [lia|left; lettered|by split|reflexivity]|].
    done.
  - unfold chain_decided. lettered.
Qed.

(** A server comes back with an empty disk. *)
Definition link_lost : relation ch := λ s s',
  ∃ i, s' = Chain (<[i := Link None false false]> (links s)) (granted s) (letters s).

Lemma lost_link : chain_breaks link_lost.
Proof.
  eexists. split_and!.
  - takes 7. forwards 0 7. forwards 1 7.
    goes; [by exists 0|]. goes; [by exists 1|]. goes; [by exists 2|].
    takes 8. forwards 0 8. forwards 1 8. done.
  - unfold chain_decided. lettered.
  - unfold chain_decided. lettered.
Qed.

(** A client writes a server without having the value from the one before. *)
Definition link_skipped : relation ch := λ s s',
  ∃ i v, answers (links s i) ∧ held (links s i) = None ∧
    s' = change s i (Link (Some v) false false) (Holds i v).

(** Then what a sealed server shows is not what is decided. *)
Lemma skipped_link : ∃ s : ch, rtc (wrongly_linked link_skipped) empty_chain s ∧
  chain_decided 2 s 7 ∧ Froze 0 false (Some 8) ∈ letters s.
Proof.
  eexists. split_and!.
  - takes 8. goes; [exists 2, 7; split_and!; [by split|reflexivity|done]|].
    steps; [apply (chain_seal _ _ 0)|]. done.
  - unfold chain_decided. lettered.
  - lettered.
Qed.

(** A sealed server takes a value. *)
Definition link_thawed : relation ch := λ s s',
  ∃ i v, Holds i v ∈ letters s ∧ s' = change s (S i) (Link (Some v) true false) (Holds (S i) v).

Lemma thawed_link : ∃ s : ch, rtc (wrongly_linked link_thawed) empty_chain s ∧
  chain_decided 2 s 7 ∧ Froze 1 false None ∈ letters s.
Proof.
  eexists. split_and!.
  - takes 7. steps; [apply (chain_seal _ _ 1)|].
    goes; [exists 0, 7; split; [lettered|done]|]. forwards 1 7. done.
  - unfold chain_decided. lettered.
  - lettered.
Qed.

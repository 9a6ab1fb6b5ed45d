(** * What goes wrong with a change of servers without its rules

    As flaws.v: runs of servers 1, 2 and 3. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export runs_epochs.

(** Two clients are in each other's way in epoch 0: server 1 has accepted 7 at ballot 1,
    and server 3 has accepted 8 at ballot 2.  All are sealed.  Reconfiguration 5 has
    asked 1 and 2, and reconfiguration 6 has asked 2 and 3. *)
Local Notation two_values := (
  [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Accept 1 1 7;
   Capture 2 2; Capture 3 2; Propose 2 8 {[2; 3]} nothing; Accept 3 2 8; Seal 1; Seal 2; Seal 3] : list (move nat nat)) (only parsing).

(** In epoch 1 servers 1 and 2 hold 7 and server 3 holds 8, all at ballot zero:
    whoever captures 2 and 3 may take either. *)
Local Notation confused := (
  [Capture 2 1; Capture 3 1;
   Propose 1 8 {[2; 3]} (λ a, Some (0, if decide (a = 2) then 7 else 8)); Accept 2 1 8; Accept 3 1 8] : list (move nat nat)) (only parsing).

Ltac splits := runs 0 paxos constr:(two_values); [by left|by left|].
Ltac merges_split :=
  merge 0 paxos 5 paxos ({[1; 2]} : gset nat) unsealed (only 1 (1, 7)) (Value 7);
    [split; [done|]; by apply (only_highest _ 1 (1, 7)); set_solver|];
  merge 0 paxos 6 paxos ({[2; 3]} : gset nat) unsealed (only 3 (2, 8)) (Value 8);
    [split; [done|]; by apply (only_highest _ 3 (2, 8)); set_solver|];
  stage 1 5 paxos 1 (Value 7); stage 1 5 paxos 2 (Value 7); stage 1 6 paxos 3 (Value 8).
Ltac confuses := runs 1 paxos constr:(confused);
  [right; exists 0; split; [by exists 3; split; [set_solver|]|naive_solver]|].

(** A server begins with the stage of a reconfiguration that lost. *)
Definition begins_with_any_stage : relation (world nat nat) := λ w w',
  ∃ e r r' σ c a, Decided e r σ ∈ notes w ∧ Staged e r' a c ∈ notes w ∧
    w' = within (noted w (Began e a)) e (install (registers w e) a c).

Lemma stage_of_the_loser : parts begins_with_any_stage.
Proof.
  eexists. split.
  - splits. merges_split.
    settle 1 5 paxos (Value 7) ({[1; 2]} : gset nat).
    begins 1 5 paxos 1 (Value 7). begins 1 5 paxos 2 (Value 7).
    wrongly. { exists 1, 5, 6, paxos, (Value 8), 3. split_and!; [in_notes|in_notes|done]. }
    confuses. done.
  - exists 1, 1. split; [decided_with paxos 0 ({[1; 2]} : gset nat)|decided_with paxos 1 ({[2; 3]} : gset nat)].
Qed.

(** A server begins before anything is decided. *)
Definition begins_too_soon : relation (world nat nat) := λ w w',
  ∃ e r c a, Staged e r a c ∈ notes w ∧
    w' = within (noted w (Began e a)) e (install (registers w e) a c).

Lemma begun_too_soon : parts begins_too_soon.
Proof.
  eexists. split.
  - splits. merges_split.
    wrongly. { exists 1, 6, (Value 8), 3. split_and!; [in_notes|done]. }
    settle 1 5 paxos (Value 7) ({[1; 2]} : gset nat).
    begins 1 5 paxos 1 (Value 7). begins 1 5 paxos 2 (Value 7).
    confuses. done.
  - exists 1, 1. split; [decided_with paxos 0 ({[1; 2]} : gset nat)|decided_with paxos 1 ({[2; 3]} : gset nat)].
Qed.

(** A reconfiguration that has merged what sealed servers have, of which there are
    any, in any way. *)
Definition merges_carelessly (how : world nat nat → (nat → option (nat * nat)) → content nat → Prop) :
    relation (world nat nat) := λ w w',
  ∃ r (Q : gset nat) f c, Q ≠ ∅ ∧ (∀ a, a ∈ Q → Frozen a false (f a) ∈ sent (registers w 0)) ∧ how w f c ∧
    w' = noted w (Merged 1 r paxos c).

(** One server is sealed, and not a majority. *)
Definition seals_one : relation (world nat nat) :=
  merges_carelessly (λ _ f c, (∀ a, f a = None) ∧ c = Nothing).

Local Notation decides_7 := (
  [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Accept 1 1 7; Accept 2 1 7] : list (move nat nat)) (only parsing).
Local Notation decides_8 := (
  [Capture 2 1; Capture 3 1; Propose 1 8 {[2; 3]} nothing; Accept 2 1 8; Accept 3 1 8] : list (move nat nat)) (only parsing).

Lemma sealed_one : parts seals_one.
Proof.
  eexists. split.
  - runs 0 paxos (decides_7 ++ [Seal 3]). { by left. }
    wrongly. { exists 5, ({[3]} : gset nat), nothing, Nothing. split_and!; [set_solver| |done|done|done].
      intros a ->%elem_of_singleton. computed. }
    stage 1 5 paxos 2 (Nothing : content nat). stage 1 5 paxos 3 (Nothing : content nat).
    settle 1 5 paxos (Nothing : content nat) ({[2; 3]} : gset nat).
    begins 1 5 paxos 2 (Nothing : content nat). begins 1 5 paxos 3 (Nothing : content nat).
    runs 1 paxos constr:(decides_8). { by left. } done.
  - exists 0, 1. split; [decided_with paxos 1 ({[1; 2]} : gset nat)|decided_with paxos 1 ({[2; 3]} : gset nat)].
Qed.

(** A value goes on that is not that of the highest ballot. *)
Definition merges_an_older_value : relation (world nat nat) :=
  merges_carelessly (λ _ f c, ∃ a b v, f a = Some (b, v) ∧ c = Value v).

Lemma merged_an_older_value : parts merges_an_older_value.
Proof.
  eexists. split.
  - runs 0 paxos [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Accept 1 1 7;
      Capture 2 2; Capture 3 2; Propose 2 8 {[2; 3]} nothing; Accept 2 2 8; Accept 3 2 8; Seal 1; Seal 2]. { by left. } { by left. }
    wrongly. { exists 5, ({[1; 2]} : gset nat), (λ a, Some (if decide (a = 1) then (1, 7) else (2, 8))), (Value 7).
      split_and!; [set_solver| |by exists 1, 1, 7|done]. intros a Ha. each_of Ha; computed. }
    stage 1 5 paxos 1 (Value 7). stage 1 5 paxos 2 (Value 7).
    settle 1 5 paxos (Value 7) ({[1; 2]} : gset nat).
    begins 1 5 paxos 1 (Value 7). begins 1 5 paxos 2 (Value 7). done.
  - exists 1, 0. split; [decided_with paxos 0 ({[1; 2]} : gset nat)|decided_with paxos 2 ({[2; 3]} : gset nat)].
Qed.

(** A new server begins with nothing, whatever its epoch began with. *)
Definition begins_empty : relation (world nat nat) := λ w w',
  ∃ e r σ a, Decided e r σ ∈ notes w ∧ w' = noted w (Began e a).

Lemma begun_empty : parts begins_empty.
Proof.
  eexists. split.
  - runs 0 paxos (decides_7 ++ [Seal 2; Seal 3]). { by left. }
    merge 0 paxos 5 paxos ({[2; 3]} : gset nat) unsealed (only 2 (1, 7)) (Value 7).
    { split; [done|]. by apply (only_highest _ 2 (1, 7)); set_solver. }
    stage 1 5 paxos 1 (Value 7). stage 1 5 paxos 2 (Value 7).
    settle 1 5 paxos (Value 7) ({[1; 2]} : gset nat).
    wrongly. { exists 1, 5, paxos, 2. split; [in_notes|done]. }
    wrongly. { exists 1, 5, paxos, 3. split; [in_notes|done]. }
    runs 1 paxos constr:(decides_8). { by left. } done.
  - exists 0, 1. split; [decided_with paxos 1 ({[1; 2]} : gset nat)|decided_with paxos 1 ({[2; 3]} : gset nat)].
Qed.

(** A sealed server accepts. *)
Definition sealed_accepts : relation (world nat nat) := λ w w',
  ∃ e a b v, Proposed b v ∈ sent (registers w e) ∧ promised (servers (registers w e) a) ≤ b ∧
    w' = within w e (put (registers w e) a (Acceptor b (Some (b, v)) true false) (Accepted a b v)).

Lemma accepted_when_sealed : parts sealed_accepts.
Proof.
  eexists. split.
  - runs 0 paxos [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Accept 1 1 7; Seal 2; Seal 3]. { by left. }
    merge 0 paxos 5 paxos ({[2; 3]} : gset nat) unsealed nothing (Nothing : content nat). { split; [done|by left]. }
    wrongly. { exists 0, 2, 1, 7. split_and!; [computed|vm_compute; lia|done]. }
    stage 1 5 paxos 2 (Nothing : content nat). stage 1 5 paxos 3 (Nothing : content nat).
    settle 1 5 paxos (Nothing : content nat) ({[2; 3]} : gset nat).
    begins 1 5 paxos 2 (Nothing : content nat). begins 1 5 paxos 3 (Nothing : content nat).
    runs 1 paxos constr:(decides_8). { by left. } done.
  - exists 0, 1. split; [decided_with paxos 1 ({[1; 2]} : gset nat)|decided_with paxos 1 ({[2; 3]} : gset nat)].
Qed.

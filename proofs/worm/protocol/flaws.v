(** * What goes wrong without the rules

    For each rule, the protocol without it, and a run of three servers that decides
    two values: so the theorem is about the rule, and not about nothing.  The
    numbers 7 and 8 are values, 1, 2, 3 are servers.  First of all, runs of the
    right protocol: a value can be decided, without and with a capture, adopted,
    repaired, and recovered after a conflict at ballot zero. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export runs.

Definition three : gset nat := {[1; 2; 3]}.
Definition paxos : setting nat := paxos_of three.
Definition fast_paxos : setting nat := fast_paxos_of three.
Local Notation st := (state nat nat).

(** What servers have said of themselves to a client that captures. *)
Definition nothing (_ : nat) : option (nat * nat) := None.
Definition only (a : nat) (x : nat * nat) (a' : nat) : option (nat * nat) :=
  if decide (a' = a) then Some x else None.

(** A fast quorum of three is all three. *)
Lemma fast_is_all G a : fast_of three G → a ∈ three → a ∈ G.
Proof.
  intros [HG HGs] Ha. destruct (decide (a ∈ G)) as [|Hno]; [done|].
  assert (size G ≤ size (three ∖ {[a]})) as Hle by (apply subseteq_size; set_solver).
  rewrite size_difference in Hle by set_solver. rewrite size_singleton in Hle.
  assert (size three = 3) as E by by vm_compute. rewrite E in Hle, HGs. simpl in HGs.
  assert (3 ≤ size G) by exact HGs. lia.
Qed.

(** ** What is possible *)

Lemma decided_after_capture : ∃ s : st, reachable paxos s ∧ decided paxos s 7.
Proof.
  eexists. split.
  - apply (run_legal _ _ [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Accept 1 1 7; Accept 3 1 7]).
    legal. by left.
  - decided_by 1 ({[1; 3]} : gset nat).
Qed.

Lemma decided_at_zero : ∃ s : st, reachable paxos s ∧ decided paxos s 7.
Proof.
  eexists. split.
  - apply (run_legal _ _ [ProposeZero 7; Accept 1 0 7; Accept 3 0 7]). legal. intros _ ? Hw. none_sent Hw.
  - decided_by 0 ({[1; 3]} : gset nat).
Qed.

(** Half written by one client, captured by another, which has to adopt it. *)
Lemma decided_after_adoption :
  ∃ s : st, reachable paxos s ∧ decided paxos s 7 ∧ Proposed 2 7 ∈ sent s.
Proof.
  eexists. split_and!.
  - apply (run_legal _ _ [ProposeZero 7; Accept 1 0 7; Capture 1 2; Capture 2 2;
      Propose 2 7 {[1; 2]} (only 1 (0, 7)); Accept 1 2 7; Accept 2 2 7]).
    legal; [intros _ ? Hw; none_sent Hw|]. right. exists 0. split; [by exists 1|].
    intros a k v _. unfold only. case_decide; naive_solver.
  - decided_by 2 ({[1; 2]} : gset nat).
  - in_sent.
Qed.

(** Half written, and written to the end by a reader at the same ballot. *)
Lemma decided_after_repair :
  ∃ s : st, reachable paxos s ∧ decided paxos s 7 ∧ Shown 3 0 (Some (0, 7)) ∈ sent s.
Proof.
  eexists. split_and!.
  - apply (run_legal _ _ [ProposeZero 7; Accept 1 0 7; Ask 0; Show 1 0; Show 3 0; Repair 1 0 0 7; Accept 3 0 7; Show 3 0]).
    legal. intros _ ? Hw. none_sent Hw.
  - decided_by 0 ({[1; 3]} : gset nat).
  - in_sent.
Qed.

(** Two clients in each other's way at ballot zero: who captures finds that nothing
    was decided there. *)
Lemma decided_after_conflict :
  ∃ s : st, reachable fast_paxos s ∧ Accepted 1 0 7 ∈ sent s ∧ decided fast_paxos s 8.
Proof.
  eexists. split_and!.
  - apply (run_legal _ _ [ProposeZero 7; ProposeZero 8; Accept 1 0 7; Accept 2 0 8; Capture 1 1; Capture 2 1;
      Propose 1 8 {[1; 2]} (λ a, Some (0, if decide (a = 1) then 7 else 8)); Accept 1 1 8; Accept 2 1 8]).
    legal; try done. right. right. split.
    + exists 7. split; [by exists 1; split; [set_solver|]|naive_solver].
    + right. intros w (G & HG & Hall).
      pose proof (Hall 1 (fast_is_all G 1 HG ltac:(set_solver)) ltac:(set_solver)) as E1.
      pose proof (Hall 2 (fast_is_all G 2 HG ltac:(set_solver)) ltac:(set_solver)) as E2.
      simpl in *. naive_solver.
  - in_sent.
  - decided_by 1 ({[1; 2]} : gset nat).
Qed.

(** ** Without a rule *)

(** With [wrong] besides the steps of the protocol, two values are decided. *)
Definition breaks (σ : setting nat) (wrong : relation st) : Prop :=
  ∃ s, rtc (with_flaw σ wrong) init s ∧ decided σ s 7 ∧ decided σ s 8.

Ltac wrong_step := eapply rtc_l; [right|].
Ltac right_steps l := eapply (run_flawed _ _ _ l); [legal|cbn [foldl]].

(** Quorums that do not meet: one server of three decides. *)
Lemma one_server_is_a_quorum :
  breaks (Setting (λ Q, Q ≠ ∅) None) (λ _ _, False).
Proof.
  eexists. split_and!.
  - apply (run_flawed _ _ _ [Capture 1 1; Propose 1 7 {[1]} nothing; Accept 1 1 7;
      Capture 2 2; Propose 2 8 {[2]} nothing; Accept 2 2 8]); [|done].
    legal; by left.
  - exists 1, ({[1]} : gset nat). split; [done|]. intros a ->%elem_of_singleton. in_sent.
  - exists 2, ({[2]} : gset nat). split; [done|]. intros a ->%elem_of_singleton. in_sent.
Qed.

(** A majority is taken for a fast quorum. *)
Lemma a_majority_is_a_fast_quorum :
  breaks (Setting (majority_of three) (Some (majority_of three))) (λ _ _, False).
Proof.
  eexists. split_and!.
  - apply (run_flawed _ _ _ [ProposeZero 7; ProposeZero 8; Accept 1 0 7; Accept 2 0 7; Accept 3 0 8;
      Capture 2 1; Capture 3 1;
      Propose 1 8 {[2; 3]} (λ a, Some (0, if decide (a = 2) then 7 else 8)); Accept 2 1 8; Accept 3 1 8]); [|done].
    legal; try done. right. right. split.
    + exists 7. split; [by exists 2; split; [set_solver|]|naive_solver].
    + left. exists {[1; 3]}. split; [counted|]. intros a Ha Hb. each_of Ha; [set_solver|done].
  - decided_by 0 ({[1; 2]} : gset nat).
  - decided_by 1 ({[2; 3]} : gset nat).
Qed.

(** A promise that is not durable: a server comes back and knows only what it
    accepted. *)
Definition forgets_promise : relation st := λ s s',
  ∃ a, s' = State (<[a := Acceptor 0 (accepted (servers s a)) false false]> (servers s)) (sent s).

Lemma forgotten_promise : breaks paxos forgets_promise.
Proof.
  eexists. split_and!.
  - right_steps [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Capture 2 2; Capture 3 2;
      Propose 2 8 {[2; 3]} nothing; Accept 1 1 7]; [by left|by left|].
    wrong_step; [by exists 2|].
    right_steps [Accept 2 1 7; Accept 2 2 8; Accept 3 2 8]. done.
  - decided_by 1 ({[1; 2]} : gset nat).
  - decided_by 2 ({[2; 3]} : gset nat).
Qed.

(** A server comes back with an empty disk. *)
Definition loses_disk : relation st := λ s s',
  ∃ a, s' = State (<[a := blank]> (servers s)) (sent s).

Lemma lost_disk : breaks paxos loses_disk.
Proof.
  eexists. split_and!.
  - right_steps [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Accept 1 1 7; Accept 2 1 7]; [by left|].
    wrong_step; [by exists 2|].
    right_steps [Capture 2 2; Capture 3 2; Propose 2 8 {[2; 3]} nothing; Accept 2 2 8; Accept 3 2 8]; [by left|].
    done.
  - decided_by 1 ({[1; 2]} : gset nat).
  - decided_by 2 ({[2; 3]} : gset nat).
Qed.

(** Whoever captured writes what it wants, whatever the servers said. *)
Definition ignores_phase_one : relation st := λ s s',
  ∃ b v Q f, b ≠ 0 ∧ majority paxos Q ∧ (∀ a, a ∈ Q → Promised a b (f a) ∈ sent s) ∧
    (∀ w, Proposed b w ∈ sent s → w = v) ∧ s' = send s (Proposed b v).

Lemma ignored_phase_one : breaks paxos ignores_phase_one.
Proof.
  eexists. split_and!.
  - right_steps [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Accept 1 1 7; Accept 2 1 7;
      Capture 2 2; Capture 3 2]; [by left|].
    wrong_step.
    { exists 2, 8, {[2; 3]}, (only 2 (1, 7)). split_and!; [done|counted| | |done].
      - intros a Ha. each_of Ha; in_sent.
      - intros w Hw. none_sent Hw. }
    right_steps [Accept 2 2 8; Accept 3 2 8]. done.
  - decided_by 1 ({[1; 2]} : gset nat).
  - decided_by 2 ({[2; 3]} : gset nat).
Qed.

(** A reader sends what it saw again, but at another ballot than that of the value. *)
Definition repairs_at_another_ballot : relation st := λ s s',
  ∃ a r b c v, Shown a r (Some (b, v)) ∈ sent s ∧ s' = send s (Proposed c v).

Lemma repair_at_another_ballot : breaks paxos repairs_at_another_ballot.
Proof.
  eexists. split_and!.
  - right_steps [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Accept 1 1 7; Ask 0; Show 1 0;
      Capture 2 2; Capture 3 2; Propose 2 8 {[2; 3]} nothing; Accept 2 2 8; Accept 3 2 8]; [by left|by left|].
    wrong_step; [exists 1, 0, 1, 3, 7; split; [in_sent|done]|].
    right_steps [Accept 1 3 7; Accept 2 3 7]. done.
  - decided_by 3 ({[1; 2]} : gset nat).
  - decided_by 2 ({[2; 3]} : gset nat).
Qed.

(** Two clients write at ballot zero, each in the belief that it is alone. *)
Definition two_write_at_zero : relation st := λ s s', ∃ v, s' = send s (Proposed 0 v).

Lemma two_writers_at_zero : breaks paxos two_write_at_zero.
Proof.
  eexists. split_and!.
  - wrong_step; [by exists 7|]. wrong_step; [by exists 8|].
    right_steps [Accept 1 0 7; Accept 2 0 7; Accept 3 0 8; Capture 2 1; Capture 3 1;
      Propose 1 8 {[2; 3]} (λ a, Some (0, if decide (a = 2) then 7 else 8)); Accept 2 1 8; Accept 3 1 8].
    { right. exists 0. split; [by exists 3; split; [set_solver|]|naive_solver]. }
    done.
  - decided_by 0 ({[1; 2]} : gset nat).
  - decided_by 1 ({[2; 3]} : gset nat).
Qed.


(** A server takes another value at the same ballot. *)
Definition overwrites : relation st := λ s s',
  ∃ a b v, Proposed b v ∈ sent s ∧ serves (servers s a) ∧ promised (servers s a) ≤ b ∧
    s' = put s a (Acceptor b (Some (b, v)) false false) (Accepted a b v).

Lemma overwritten : breaks fast_paxos overwrites.
Proof.
  eexists. split_and!.
  - right_steps [ProposeZero 7; ProposeZero 8; Accept 1 0 7; Accept 2 0 7; Accept 3 0 7]; [done|done|].
    wrong_step; [exists 1, 0, 8; split_and!; [in_sent|by split|by vm_compute|done]|].
    wrong_step; [exists 2, 0, 8; split_and!; [in_sent|by split|by vm_compute|done]|].
    wrong_step; [exists 3, 0, 8; split_and!; [in_sent|by split|by vm_compute|done]|].
    done.
  - decided_by 0 three.
  - decided_by 0 three.
Qed.

(** A server accepts below what it promised. *)
Definition accepts_below : relation st := λ s s',
  ∃ a b v, Proposed b v ∈ sent s ∧ serves (servers s a) ∧
    (∀ w, accepted (servers s a) ≠ Some (b, w)) ∧
    s' = put s a (Acceptor (promised (servers s a)) (Some (b, v)) false false) (Accepted a b v).

Lemma accepted_below : breaks paxos accepts_below.
Proof.
  eexists. split_and!.
  - right_steps [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Capture 2 2; Capture 3 2;
      Propose 2 8 {[2; 3]} nothing; Accept 1 1 7]; [by left|by left|].
    wrong_step; [exists 2, 1, 7; split_and!; [in_sent|by split|intros w; vm_compute; congruence|done]|].
    right_steps [Accept 2 2 8; Accept 3 2 8]. done.
  - decided_by 1 ({[1; 2]} : gset nat).
  - decided_by 2 ({[2; 3]} : gset nat).
Qed.

(** A server forgets its tombstone, after it has forgotten the register. *)
Definition forgets_tombstone : relation st := λ s s',
  ∃ a, trimmed (servers s a) = true ∧ s' = State (<[a := blank]> (servers s)) (sent s).

Lemma forgotten_tombstone : breaks paxos forgets_tombstone.
Proof.
  eexists. split_and!.
  - right_steps [Capture 1 1; Capture 2 1; Propose 1 7 {[1; 2]} nothing; Accept 1 1 7; Accept 2 1 7; Trim 2]; [by left|done|].
    wrong_step; [by exists 2|].
    right_steps [Capture 2 2; Capture 3 2; Propose 2 8 {[2; 3]} nothing; Accept 2 2 8; Accept 3 2 8]; [by left|].
    done.
  - decided_by 1 ({[1; 2]} : gset nat).
  - decided_by 2 ({[2; 3]} : gset nat).
Qed.

(** * Quorums that are counted, as worm/wor does

    wor.Majority(n) is n/2 + 1 and wor.FastQuorum(n) is (3n + 3)/4.  Sets of that
    many of n members meet as the theorems want it. *)
From stdpp Require Import prelude gmap.
From ashlar.worm.protocol Require Export register.

Section counts.
Context `{Countable server}.
Implicit Types X Q F G : gset server.

Definition majority_of X Q : Prop := Q ⊆ X ∧ size X / 2 + 1 ≤ size Q.
Definition fast_of X Q : Prop := Q ⊆ X ∧ (3 * size X + 3) / 4 ≤ size Q.

(** Protocol Paxos, and protocol Fast, of the members [X]. *)
Definition paxos_of X : setting server := Setting (majority_of X) None.
Definition fast_paxos_of X : setting server := Setting (majority_of X) (Some (fast_of X)).

(** What two sets have in common is at least what does not fit beside each other. *)
Lemma common X Q F : Q ⊆ X → F ⊆ X → size Q + size F ≤ size X + size (Q ∩ F).
Proof.
  intros HQ HF. assert (size Q + size (F ∖ Q) ≤ size X) as Hle.
  { rewrite <- size_union by set_solver. apply subseteq_size. set_solver. }
  assert (size F = size (F ∖ Q) + size (Q ∩ F)) as ->; [|lia].
  rewrite <- size_union by set_solver. f_equal.
  apply set_eq. intros x. rewrite elem_of_union, elem_of_difference, elem_of_intersection.
  destruct (decide (x ∈ Q)); naive_solver.
Qed.

Lemma meet X Q F : Q ⊆ X → F ⊆ X → size X < size Q + size F → ∃ a, a ∈ Q ∧ a ∈ F.
Proof.
  intros HQ HF Hlt. pose proof (common X Q F HQ HF).
  destruct (set_choose_or_empty (Q ∩ F)) as [(a & Ha)|He]; [exists a; set_solver|].
  assert (size (Q ∩ F) = 0) by (by apply size_empty_iff). lia.
Qed.

Lemma half n : n < (n / 2 + 1) + (n / 2 + 1).
Proof. pose proof (Nat.div_mod n 2 ltac:(lia)). pose proof (Nat.mod_upper_bound n 2 ltac:(lia)). lia. Qed.

Lemma three_quarters n : 2 * n < (n / 2 + 1) + (3 * n + 3) / 4 + (3 * n + 3) / 4.
Proof.
  pose proof (Nat.div_mod n 2 ltac:(lia)). pose proof (Nat.mod_upper_bound n 2 ltac:(lia)).
  pose proof (Nat.div_mod (3 * n + 3) 4 ltac:(lia)). pose proof (Nat.mod_upper_bound (3 * n + 3) 4 ltac:(lia)).
  lia.
Qed.

Lemma paxos_sound X : X ≠ ∅ → sound (paxos_of X).
Proof.
  intros HX. assert (0 < size X) by (destruct (decide (size X = 0)) as [?%size_empty_iff|]; [set_solver|lia]).
  split; simpl; try done.
  - intros Q R [HQ HQs] [HR HRs]. apply (meet X); [done..|]. pose proof (half (size X)). lia.
  - exists X. split; [done|]. assert (size X / 2 < size X) by (apply Nat.div_lt; lia). lia.
Qed.

Lemma fast_sound X : X ≠ ∅ → sound (fast_paxos_of X).
Proof.
  intros HX. destruct (paxos_sound X HX) as [Hmeet Hex _ _].
  assert (0 < size X) by (destruct (decide (size X = 0)) as [?%size_empty_iff|]; [set_solver|lia]).
  split; [exact Hmeet|exact Hex| |]; simpl.
  - intros F Q G K [= <-] [HQ HQs] [HG HGs] [HK HKs].
    pose proof (common X G K HG HK). pose proof (three_quarters (size X)).
    destruct (meet X Q (G ∩ K)) as (a & Ha & Hb); [done|set_solver|lia|]. exists a. set_solver.
  - intros F [= <-]. exists X. split; [done|].
    assert ((3 * size X + 3) / 4 < size X + 1) by (apply Nat.div_lt_upper_bound; lia). lia.
Qed.

End counts.

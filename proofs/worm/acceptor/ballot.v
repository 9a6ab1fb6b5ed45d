(** * Ballots and quorums of worm/wor

    A ballot in memory is a round and a nonce; [number] is the number that the
    protocol in worm/protocol/register.v knows it by. *)
From ashlar.golib Require Export packages.
From ashlar.gen.worm Require wor.
From ashlar.worm.protocol Require register counts.
Local Open Scope Z_scope.

Record ballot := Ballot { round : Z; nonce : Z }.
Global Instance ballot_eq_dec : EqDecision ballot.
Proof. solve_decision. Defined.
Definition zero_ballot : ballot := Ballot 0 0.
Definition ballot_ok (x : ballot) : Prop := in_range U64 (round x) ∧ in_range U64 (nonce x).
Definition ballot_val (x : ballot) : val := (#(u64 (round x)), (#(u64 (nonce x)), #())).
Definition number (x : ballot) : Z := round x * 2 ^ 64 + nonce x.

Lemma zero_ballot_ok : ballot_ok zero_ballot.
Proof. done. Qed.
Lemma ballot_val_zero : zero_val (structT wor.Ballot) = ballot_val zero_ballot.
Proof. done. Qed.
Lemma ballot_val_ty x : ty_val (structT wor.Ballot) (ballot_val x).
Proof. done. Qed.
Lemma ballot_val_inj x y : ballot_val x = ballot_val y → x = y.
Proof. destruct x, y. rewrite /ballot_val. naive_solver. Qed.
Lemma number_nonneg x : ballot_ok x → 0 ≤ number x.
Proof. intros [??]. rewrite /number. int_solve. Qed.
Lemma number_lt x y : ballot_ok x → ballot_ok y →
  number x < number y ↔ round x < round y ∨ round x = round y ∧ nonce x < nonce y.
Proof. intros [??] [??]. rewrite /number. int_unfold. split; lia. Qed.
(** Distinct ballots have distinct numbers. *)
Lemma number_inj x y : ballot_ok x → ballot_ok y → number x = number y → x = y.
Proof.
  destruct x as [r n], y as [r' n']. intros [??] [??]. rewrite /number /=. intros.
  assert (r = r' ∧ n = n') as [-> ->]; [|done]. simpl in *. int_unfold. lia.
Qed.

(** How equality of ballots is computed. *)
Lemma ballot_eqb x y : val_eqb (ballot_val x) (ballot_val y) = Some (bool_decide (x = y)).
Proof.
  destruct x as [r n], y as [r' n']. simpl. f_equal.
  destruct (decide (r = r')) as [->|Hr]; [destruct (decide (n = n')) as [->|Hn]|].
  - by rewrite !bool_decide_true.
  - rewrite (bool_decide_false (Ballot _ _ = _)); [|congruence].
    rewrite (bool_decide_false (u64 n = _)); [|congruence]. by rewrite andb_false_r.
  - rewrite (bool_decide_false (Ballot _ _ = _)); [|congruence].
    by rewrite (bool_decide_false (u64 r = _)); [|congruence].
Qed.

Section ballot.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (x y : ballot).

  Lemma wp_ballot_eq b E x y K Φ :
    ▷ WP rfill K (Val #(bool_decide (x = y))) @ b; E {{ Φ }} -∗
    WP rfill K (BinOp EqOp (Val (ballot_val x)) (Val (ballot_val y))) @ b; E {{ Φ }}.
  Proof.
    iIntros "H". iApply (wpe_pure b E K); [|done]. apply BinOpS. rewrite /bin_op_eval ballot_eqb. done.
  Qed.
  Lemma wp_Ballot__IsZero b E x :
    {{{ True }}} wor.Ballot__IsZero (ballot_val x) @ b; E {{{ RET #(bool_decide (x = zero_ballot)); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. iApply (wp_ballot_eq b E x zero_ballot []).
    iNext. iApply wpe_value. by iApply "HΦ".
  Qed.
  Lemma wp_Ballot__Compare b E x y : ballot_ok x → ballot_ok y →
    {{{ True }}}
      wor.Ballot__Compare (ballot_val x) (ballot_val y) @ b; E
    {{{ RET #(int (compare_z (number x) (number y))); True }}}.
  Proof.
    iIntros (Hx Hy Φ) "_ HΦ". wp_rec. wp_pures.
    wp_apply (wp_compare with "[//]"). iIntros "_". wp_pures.
    wp_apply (wp_compare with "[//]"). iIntros "_". wp_pures.
    wp_apply (wp_or_int with "[//]"). iIntros "_".
    assert ((if decide (compare_z (round x) (round y) = 0) then compare_z (nonce x) (nonce y)
      else compare_z (round x) (round y)) = compare_z (number x) (number y)) as ->; [|by iApply "HΦ"].
    pose proof (number_lt x y Hx Hy). pose proof (number_lt y x Hy Hx).
    rewrite /compare_z. repeat case_decide; lia.
  Qed.
  (** [Less] is the order of the protocol's ballots. *)
  Lemma wp_Ballot__Less b E x y : ballot_ok x → ballot_ok y →
    {{{ True }}}
      wor.Ballot__Less (ballot_val x) (ballot_val y) @ b; E
    {{{ RET #(bool_decide (number x < number y)); True }}}.
  Proof.
    iIntros (Hx Hy Φ) "_ HΦ". wp_rec. wp_pures.
    wp_apply (wp_Ballot__Compare with "[//]"); [done..|]. iIntros "_". wp_pures.
    rewrite (bool_decide_ext _ _ (compare_z_neg (number x) (number y))). by iApply "HΦ".
  Qed.

  (** ** Quorums are counted as in worm/protocol/counts.v *)
  Lemma wp_Majority b E (n : nat) : Z.of_nat n < 2 ^ 60 →
    {{{ True }}} wor.Majority #(int n) @ b; E {{{ RET #(int (n / 2 + 1)%nat); True }}}.
  Proof.
    iIntros (Hn Φ) "_ HΦ". wp_rec. wp_pures.
    rewrite Z.quot_div_nonneg; [|lia..]. pose proof (Z.div_lt_upper_bound n 2 n).
    assert (0 ≤ n / 2 ≤ n) as Hd by (Z.to_euclidean_division_equations; lia).
    rewrite (wrap_id I64 (_ / _)); [|int_solve]. rewrite wrap_id; [|int_solve].
    replace (n / 2 + 1) with (Z.of_nat (n / 2 + 1)) by (rewrite Nat2Z.inj_add Nat2Z.inj_div; lia).
    by iApply "HΦ".
  Qed.
  Lemma wp_FastQuorum b E (n : nat) : Z.of_nat n < 2 ^ 60 →
    {{{ True }}} wor.FastQuorum #(int n) @ b; E {{{ RET #(int ((3 * n + 3) / 4)%nat); True }}}.
  Proof.
    iIntros (Hn Φ) "_ HΦ". wp_rec. wp_pures.
    rewrite (wrap_id I64 (3 * n)); [|int_solve]. rewrite (wrap_id I64 (3 * n + 3)); [|int_solve].
    rewrite Z.quot_div_nonneg; [|lia..].
    assert (0 ≤ (3 * n + 3) / 4 ≤ 3 * n + 3) as Hd by (Z.to_euclidean_division_equations; lia).
    rewrite wrap_id; [|int_solve].
    replace ((3 * n + 3) / 4) with (Z.of_nat ((3 * n + 3) / 4)); [by iApply "HΦ"|].
    rewrite Nat2Z.inj_div. f_equal. lia.
  Qed.
End ballot.

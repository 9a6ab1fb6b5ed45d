(** * Integers as bytes: encoding/binary

    [uvarint n] is what binary.AppendUvarint appends and binary.Uvarint reads, [u64_bytes n] what
    binary.LittleEndian.AppendUint64 appends and Uint64 reads. *)
From iris.proofmode Require Import environments.
From ashlar.lib Require Import ints.
From ashlar.golib Require Export packages.
Local Open Scope Z_scope.

(** Seven bits to the byte, the lowest first; all but the last have the eighth bit set.
    There are at most [k] bytes. *)
Fixpoint uvarint_bytes (k : nat) (n : Z) : list Z :=
  match k with
  | O => []
  | S k => if decide (n < 128) then [n] else n `mod` 128 + 128 :: uvarint_bytes k (n / 128)
  end.
Definition uvarint (n : Z) : list Z := uvarint_bytes 10 n.

Lemma lor_128 n : Z.lor (n `mod` 256) 128 = n `mod` 128 + 128.
Proof.
  assert (n `mod` 128 = (n `mod` 256) `mod` 128) as -> by (Z.to_euclidean_division_equations; lia).
  pose proof (Z.mod_pos_bound n 256 ltac:(lia)) as Hr. revert Hr. generalize (n `mod` 256). intros a Ha.
  assert (Forall (λ a, Z.lor a 128 = a `mod` 128 + 128) (seqZ 0 256)) as Hall.
  { apply (bool_decide_unpack _). by vm_compute. }
  rewrite Forall_forall in Hall. apply Hall. apply elem_of_seqZ. lia.
Qed.

Lemma lor_high x n k : 0 ≤ k → 0 ≤ x < 2 ^ k → Z.lor x (n * 2 ^ k) = x + n * 2 ^ k.
Proof.
  intros Hk Hx. assert (Z.land x (n * 2 ^ k) = 0) as Hand.
  { apply Z.bits_inj'. intros i Hi. rewrite Z.land_spec Z.bits_0. destruct (decide (i < k)).
    - rewrite Z.mul_pow2_bits_low //. by rewrite andb_false_r.
    - rewrite -(Z.mod_small x (2 ^ k)) //. by rewrite Z.mod_pow2_bits_high; [|lia]. }
  by rewrite Z.add_nocarry_lxor // Z.lxor_lor.
Qed.

Section codec.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (s : slice).

  Lemma wp_append_uvarint_bytes b E s (bs : list Z) (k : nat) (n : Z) Φ : (0 < k)%nat → 0 ≤ n < 128 ^ k → in_range U64 n →
    own_bytes_full b s bs -∗
    ▷ (∀ s', own_bytes_full b s' (bs ++ uvarint_bytes k n) -∗ Φ (slice_val s')) -∗
    WP std.append_uvarint (slice_val s) #(u64 n) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hk Hn Hr) "Hs HΦ". iInduction k as [|k] "IH" forall (s bs n Hk Hn Hr); [lia|].
    wp_rec. wp_pures. simpl uvarint_bytes. case_bool_decide as Hlt; wp_pures.
    - rewrite decide_True //. wp_apply (wp_append_byte with "Hs"). iIntros (s') "Hs".
      rewrite (wrap_id U8); [|int_solve]. by iApply "HΦ".
    - rewrite decide_False //. rewrite Nat2Z.inj_succ Z.pow_succ_r in Hn; [|lia].
      wp_apply (wp_append_byte with "Hs"). iIntros (s') "Hs". wp_pures.
      rewrite (wrap_U8_mod n) lor_128 (wrap_id U8); [|int_solve].
      replace (Z.shiftr n (7 `min` 64)) with (n / 128); [|rewrite Z.shiftr_div_pow2; [done|lia]].
      iApply ("IH" with "[%] [%] [%] Hs [HΦ]"); [destruct k; [simpl in Hn; lia|lia]|Z.to_euclidean_division_equations; lia|int_solve|].
      iIntros "!>" (s2) "Hs". iApply "HΦ". by rewrite -app_assoc.
  Qed.
  Lemma wp_append_uvarint b E s (bs : list Z) (n : Z) : in_range U64 n →
    {{{ own_bytes_full b s bs }}}
      std.append_uvarint (slice_val s) #(u64 n) @ b; E
    {{{ s', RET slice_val s'; own_bytes_full b s' (bs ++ uvarint n) }}}.
  Proof.
    iIntros (Hn Φ) "Hs HΦ". iApply (wp_append_uvarint_bytes _ _ _ _ 10 with "Hs HΦ"); [lia| |done].
    change (128 ^ 10%nat) with (2 ^ 70). int_solve.
  Qed.

  Lemma wp_shr b E w w' (n k : Z) K Φ : 0 ≤ k ≤ width_bits w →
    ▷ WP rfill K (Val #(LitInt w (n / 2 ^ k))) @ b; E {{ Φ }} -∗
    WP rfill K (BinOp ShrOp (Val #(LitInt w n)) (Val #(LitInt w' k))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hk) "H". iApply (wpe_pure b E K); [|done]. apply BinOpS.
    rewrite /bin_op_eval /shift_eval decide_False; [|lia]. rewrite Z.min_l; [|lia]. by rewrite shiftr_div; [|lia].
  Qed.
  Lemma wp_le_append_uint64 b E s (bs : list Z) (n : Z) :
    {{{ own_bytes_full b s bs }}}
      std.le_append_uint64 (slice_val s) #(u64 n) @ b; E
    {{{ s', RET slice_val s'; own_bytes_full b s' (bs ++ u64_bytes n) }}}.
  Proof.
    iIntros (Φ) "Hs HΦ". wp_rec. wp_pures. wp_apply (wp_make_bytes with "[//]"); [unfold max_elems; lia|].
    iIntros (new) "[Hnew _]". wp_pures. wp_rec. wp_pures.
    wp_apply (wp_bytes_get with "Hnew"); [lia|done|]. iIntros "Hnew". wp_pures.
    wp_apply (wp_range_simple (λ i, own_bytes b new (DfracOwn 1) (take (Z.to_nat i) (u64_bytes n) ++ replicate (8 - Z.to_nat i) 0))
      with "Hnew"); [lia|done| |].
    { iIntros "!>" (i Hi) "Hnew". wp_pures. rewrite (wrap_id I64 (i * 8)); [|int_solve].
      wp_bind (BinOp ShrOp _ _). iApply (wp_shr _ _ _ _ n (i * 8) []); [simpl; lia|]. iNext. iApply wpe_value. wp_pures.
      wp_rec. wp_apply (wp_bytes_set with "Hnew").
      { rewrite app_length take_length replicate_length le_bytes_length. lia. }
      iIntros "Hnew". rewrite wrap_U8_mod.
      assert (Z.to_nat (i + 1) = S (Z.to_nat i)) as -> by lia. set (k := Z.to_nat i).
      rewrite (take_S_r _ k ((n / 2 ^ (i * 8)) `mod` 256)); last first.
      { rewrite le_bytes_lookup; [|lia]. do 3 f_equal. change 256 with (2 ^ 8). rewrite -Z.pow_mul_r; [|lia..]. f_equal. lia. }
      rewrite insert_app_r_alt take_length le_bytes_length; [|lia]. replace (k - k `min` 8)%nat with 0%nat by lia.
      replace (8 - k)%nat with (S (8 - S k)) by lia. simpl. by rewrite -app_assoc. }
    iIntros "Hnew". wp_pures. change (Z.to_nat 8) with 8%nat. rewrite take_ge ?le_bytes_length // Nat.sub_diag app_nil_r.
    wp_apply (wp_append_bytes with "[$Hs $Hnew]"). iIntros (s') "[Hs _]". by iApply "HΦ".
  Qed.

  (** ** Reading *)
  Lemma wp_shl b E w w' (n k : Z) K Φ : 0 ≤ k < width_bits w → in_range w (n * 2 ^ k) →
    ▷ WP rfill K (Val #(LitInt w (n * 2 ^ k))) @ b; E {{ Φ }} -∗
    WP rfill K (BinOp ShlOp (Val #(LitInt w n)) (Val #(LitInt w' k))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hk Hr) "H". iApply (wpe_pure b E K); [|done]. apply BinOpS.
    rewrite /bin_op_eval /shift_eval decide_False; [|lia]. rewrite decide_False; [|lia]. rewrite shiftl_mul; [|lia]. by rewrite wrap_id.
  Qed.

  Lemma wp_uvarint b E s dq (n : Z) (rest : list Z) : in_range U64 n →
    {{{ own_bytes b s dq (uvarint n ++ rest) }}}
      std.uvarint (slice_val s) @ b; E
    {{{ RET (#(u64 n), #(int (length (uvarint n)))); own_bytes b s dq (uvarint n ++ rest) }}}.
  Proof.
    iIntros (Hn Φ) "Hs HΦ". iDestruct (own_bytes_length with "Hs") as %[Hlen Hmax]. unfold max_elems in Hmax. wp_rec.
    repeat lazymatch goal with
    | |- envs_entails _ (wp _ _ (App (App (Val (RecV (BNamed "go") _ _)) _) _) _) => fail
    | _ => wp_pure
    end.
    lazymatch goal with |- envs_entails _ (wp _ _ (App (App (Val ?f) _) _) _) => set (loop := f) end.
    set (bs := uvarint n ++ rest) in *.
    iAssert (∀ (k i : nat) (m x : Z), ⌜((0 < k)%nat ∧ (i + k = 10)%nat ∧ 0 ≤ m ∧ 0 ≤ x < 2 ^ (i * 7) ∧ n = x + m * 2 ^ (i * 7))%Z⌝ -∗
      ⌜∃ before, bs = before ++ uvarint_bytes k m ++ rest ∧ length before = i ∧
         length (uvarint n) = (i + length (uvarint_bytes k m))%nat⌝ -∗
      own_bytes b s dq bs -∗ (own_bytes b s dq bs -∗ Φ (#(u64 n), #(int (length (uvarint n))))%V) -∗
      WP loop #(int i) #(u64 x) @ b; E {{ Φ }})%I as "Hloop"; last first.
    { iApply ("Hloop" $! 10%nat 0%nat n 0 with "[%] [%] Hs HΦ"); [int_solve|]. by exists []. }
    iIntros (k). iInduction k as [|k] "IH"; iIntros (i m x (Hk & Hik & Hm & Hx & Hnx) (before & Hbs & Hbefore & Hend)) "Hs HΦ"; [lia|].
    assert (0 < 2 ^ (i * 7)) as Hpow by (apply Z.pow_pos_nonneg; lia).
    assert (∃ c, bs !! i = Some c ∧ c = (if decide (m < 128) then m else m `mod` 128 + 128)) as (c & Hc & Hcm).
    { rewrite Hbs lookup_app_r; [|lia]. rewrite Hbefore Nat.sub_diag. simpl. case_decide; eauto. }
    apply lookup_lt_Some in Hc as Hil. wp_rec. wp_pures. rewrite Hlen. wp_cond.
    rewrite (bool_decide_false (int i = int 10)); [|intros [= ?]; lia]. wp_pures.
    wp_apply (wp_bytes_get with "Hs"); [lia|by rewrite Nat2Z.id|]. iIntros "Hs". wp_pures.
    subst c. simpl uvarint_bytes in *. destruct (decide (m < 128)) as [Hlt|Hge].
    - wp_cond. wp_bind (If (Val _) _ (Val #false)).
      iApply (wpe_wand _ _ _ (λ u, ⌜u = #false⌝)%I).
      { case_bool_decide as H9; wp_pures; [|done]. injection H9 as H9. rewrite bool_decide_false; [done|].
        assert (i = 9%nat) as -> by lia. change (2 ^ (9%nat * 7)) with (2 ^ 63) in *. int_solve. }
      iIntros (u) "->". wp_pures. rewrite (wrap_id I64 (i * 7)); [|int_solve]. rewrite (wrap_id U64 m); [|int_solve].
      assert (0 ≤ m * 2 ^ (i * 7)) by nia.
      wp_bind (BinOp ShlOp _ _). iApply (wp_shl _ _ _ _ m (i * 7) []); [simpl; lia|int_solve|]. iNext. iApply wpe_value. wp_pures.
      rewrite lor_high; [|lia|done]. rewrite -Hnx (wrap_id U64); [|done]. rewrite (wrap_id I64); [|int_solve].
      replace (i + 1) with (Z.of_nat (length (uvarint n))) by (rewrite Hend /=; lia). by iApply "HΦ".
    - assert (0 ≤ m `mod` 128 < 128) as Hmod by (apply Z.mod_pos_bound; lia).
      assert (m = m `mod` 128 + (m / 128) * 128) as Hdiv by (rewrite {1}(Z.div_mod m 128); lia).
      wp_cond. change 127 with (2 ^ 7 - 1). rewrite land_ones; [|lia]. change (2 ^ 7) with 128.
      assert ((m `mod` 128 + 128) `mod` 128 = m `mod` 128) as ->.
      { rewrite -{2}(Z.mul_1_l 128) Z_mod_plus_full Z.mod_mod //. }
      rewrite (wrap_id U8); [|int_solve]. rewrite (wrap_id U64); [|int_solve]. rewrite (wrap_id I64 (i * 7)); [|int_solve].
      assert (0 ≤ m `mod` 128 * 2 ^ (i * 7) ≤ m * 2 ^ (i * 7)) as Hle.
      { split; [nia|]. apply Z.mul_le_mono_nonneg_r; [lia|]. rewrite {2}Hdiv. assert (0 ≤ m / 128) by (apply Z.div_pos; lia). lia. }
      wp_bind (BinOp ShlOp _ _). iApply (wp_shl _ _ _ _ (m `mod` 128) (i * 7) []); [simpl; lia|int_solve|]. iNext. iApply wpe_value. wp_pures.
      rewrite lor_high; [|lia|done]. rewrite (wrap_id U64 (x + _)); [|int_solve]. rewrite (wrap_id I64 (i + 1)); [|int_solve].
      replace (i + 1) with (Z.of_nat (S i)) by lia.
      assert (2 ^ (S i * 7) = 128 * 2 ^ (i * 7)) as Hpow'.
      { replace (S i * 7) with (7 + i * 7) by lia. rewrite Z.pow_add_r; [|lia..]. done. }
      assert (k ≠ 0%nat).
      { intros ->. assert (i = 9%nat) as -> by lia. change (2 ^ (9%nat * 7)) with (2 ^ 63) in *. int_solve. }
      iApply ("IH" $! (S i) (m / 128) with "[%] [%] Hs HΦ").
      + rewrite Hpow'. split_and!; [lia|lia|apply Z.div_pos; lia|lia|nia|]. rewrite Hnx {1}Hdiv. lia.
      + exists (before ++ [m `mod` 128 + 128]). rewrite -app_assoc /= app_length /=. split_and!; [done|lia|]. rewrite Hend /=. lia.
  Qed.

  Lemma wp_le_uint64 b E s dq (n : Z) (rest : list Z) : in_range U64 n →
    {{{ own_bytes b s dq (u64_bytes n ++ rest) }}}
      std.le_uint64 (slice_val s) @ b; E
    {{{ RET #(u64 n); own_bytes b s dq (u64_bytes n ++ rest) }}}.
  Proof.
    iIntros (Hn Φ) "Hs HΦ". wp_rec. wp_pures. wp_apply (wp_bytes_get with "Hs"); [lia|done|]. iIntros "Hs".
    repeat lazymatch goal with
    | |- envs_entails _ (wp _ _ (App (App (Val (RecV (BNamed "go") _ _)) _) _) _) => fail
    | _ => wp_pure
    end.
    lazymatch goal with |- envs_entails _ (wp _ _ (App (App (Val ?f) _) _) _) => set (loop := f) end.
    set (bs := u64_bytes n ++ rest).
    iAssert (∀ (k i : nat), ⌜(i + k = 8)%nat⌝ -∗ own_bytes b s dq bs -∗ (own_bytes b s dq bs -∗ Φ #(u64 n)) -∗
      WP loop #(int i) #(u64 (n `mod` 2 ^ (i * 8))) @ b; E {{ Φ }})%I as "Hloop"; last first.
    { iPoseProof ("Hloop" $! 8%nat 0%nat with "[%] Hs HΦ") as "H"; [lia|]. by rewrite Z.mod_1_r. }
    iIntros (k). iInduction k as [|k] "IH"; iIntros (i Hik) "Hs HΦ".
    { assert (i = 8%nat) as -> by lia. wp_rec. wp_pures. rewrite Z.mod_small; [by iApply "HΦ"|]. int_solve. }
    wp_rec. wp_pures. wp_cond. rewrite (wrap_id I64 (i * 8)); [|int_solve]. wp_rec. wp_pures.
    assert (0 < 2 ^ (i * 8)) as Hpow by (apply Z.pow_pos_nonneg; lia).
    wp_apply (wp_bytes_get _ _ _ _ _ _ _ ((n / 2 ^ (i * 8)) `mod` 256) with "Hs"); [lia| |].
    { rewrite Nat2Z.id lookup_app_l ?le_bytes_length; [|lia]. rewrite le_bytes_lookup; [|lia]. do 3 f_equal.
      change 256 with (2 ^ 8). rewrite -Z.pow_mul_r; [|lia..]. f_equal. lia. }
    iIntros "Hs". wp_pures. set (c := (n / 2 ^ (i * 8)) `mod` 256). assert (0 ≤ c < 256) as Hc by (apply Z.mod_pos_bound; lia).
    assert (2 ^ (S i * 8) = 2 ^ (i * 8) * 256) as Hpow'.
    { replace (S i * 8) with (i * 8 + 8) by lia. rewrite Z.pow_add_r; [|lia..]. done. }
    assert (n `mod` 2 ^ (S i * 8) = n `mod` 2 ^ (i * 8) + c * 2 ^ (i * 8)) as Hstep.
    { rewrite Hpow' Z.rem_mul_r; [|lia..]. fold c. lia. }
    assert (0 ≤ n `mod` 2 ^ (i * 8) < 2 ^ (i * 8)) as Hx by (apply Z.mod_pos_bound; lia).
    assert (0 ≤ n `mod` 2 ^ (S i * 8) ≤ n) as Hy.
    { split; [apply Z.mod_pos_bound; lia|]. apply Z.mod_le; [int_solve|lia]. }
    rewrite (wrap_id U64 c); [|int_solve]. assert (0 ≤ c * 2 ^ (i * 8)) by nia.
    wp_bind (BinOp ShlOp _ _). iApply (wp_shl _ _ _ _ c (i * 8) []); [simpl; lia|int_solve|]. iNext. iApply wpe_value. wp_pures.
    rewrite lor_high; [|lia|done]. rewrite -Hstep (wrap_id U64); [|int_solve]. rewrite (wrap_id I64 (i + 1)); [|int_solve].
    replace (i + 1) with (Z.of_nat (S i)) by lia. iApply ("IH" with "[%] Hs HΦ"). lia.
  Qed.
End codec.

(** * [machine.UInt64Put] and [machine.UInt64Get]: little endian, eight bytes *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.golib Require Export slice_rules.
Open Scope Z_scope.

Section uint64.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (s : slice) (bs : list Z) (n : Z) (Φ : val → iProp Σ).

  Local Definition put_loop (s : slice) : val :=
    rec: "loop" "i" "n" :=
      if: "i" < #(int 8) then
        slice_set byteT (slice_val s) "i" (UnOp (ToIntOp U8) "n");;
        "loop" ("i" + #(int 1)) ("n" ≫ #(u64 8))
      else #().
  Local Lemma wp_put_loop b E s n bs (i : nat) Φ :
    in_range U64 n → (i ≤ 8)%nat → (8 ≤ length bs)%nat →
    own_bytes b s (DfracOwn 1) (take i (u64_bytes n) ++ drop i bs) -∗
    (own_bytes b s (DfracOwn 1) (u64_bytes n ++ drop 8 bs) -∗ Φ #()) -∗
    WP put_loop s #(int i) #(u64 (n / 256 ^ i)) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hn Hi Hbs) "Hs HΦ". iLöb as "IH" forall (i Hi). wp_rec. wp_pures.
    case_bool_decide as Hlt; wp_pures.
    - wp_apply (wp_bytes_set with "Hs").
      { rewrite app_length take_length drop_length le_bytes_length. lia. }
      iIntros "Hs". wp_pures. rewrite Nat2Z.id wrap_U8_mod.
      rewrite (copy_step i _ (u64_bytes n)); [|by rewrite le_bytes_lookup; [|lia]|lia].
      rewrite_wrap. replace (i + 1) with (Z.of_nat (S i)) by lia.
      replace (Z.shiftr (n / 256 ^ i) (8 `min` 64)) with (n / 256 ^ S i).
      { iApply ("IH" $! (S i) with "[%] Hs HΦ"). lia. }
      rewrite Z.shiftr_div_pow2; [|done]. rewrite Z.div_div; [|lia|done].
      f_equal. rewrite Nat2Z.inj_succ Z.pow_succ_r; [|lia]. change (2 ^ (8 `min` 64)) with 256. lia.
    - replace i with 8%nat by lia. rewrite take_ge; [|by rewrite le_bytes_length]. by iApply "HΦ".
  Qed.
  Lemma wp_UInt64Put b E s n bs : in_range U64 n → (8 ≤ length bs)%nat →
    {{{ own_bytes b s (DfracOwn 1) bs }}}
      machine.UInt64Put (slice_val s) #(u64 n) @ b; E
    {{{ RET #(); own_bytes b s (DfracOwn 1) (u64_bytes n ++ drop 8 bs) }}}.
  Proof.
    iIntros (Hn Hbs Φ) "Hs HΦ". wp_rec. do 3 wp_pure. fold (put_loop s).
    iPoseProof (wp_put_loop b E s n bs 0 Φ with "[Hs] HΦ") as "H"; [done|lia|done|by rewrite drop_0|].
    by rewrite Z.div_1_r.
  Qed.

  Local Definition get_loop (s : slice) : val :=
    rec: "loop" "i" "n" :=
      if: #(int 0) < "i" then
        "loop" ("i" - #(int 1))
          (("n" ≪ #(u64 8)) + UnOp (ToIntOp U64) (slice_get byteT (slice_val s) ("i" - #(int 1))))
      else "n".
  Local Lemma wp_get_loop b E s dq bs (i : nat) Φ :
    (i ≤ 8)%nat → (8 ≤ length bs)%nat → Forall (in_range U8) bs →
    own_bytes b s dq bs -∗
    (own_bytes b s dq bs -∗ Φ #(u64 (le_val (take 8 bs)))) -∗
    WP get_loop s #(int i) #(u64 (le_val (drop i (take 8 bs)))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hi Hbs Hok) "Hs HΦ". iLöb as "IH" forall (i Hi). wp_rec. wp_pures.
    case_bool_decide as Hlt; wp_pures; last first.
    { replace i with 0%nat by lia. rewrite drop_0. by iApply "HΦ". }
    destruct i as [|i]; [lia|]. rewrite_wrap. replace (Z.of_nat (S i) - 1) with (Z.of_nat i) by lia.
    destruct (lookup_lt_is_Some_2 bs i) as [x Hx]; [lia|].
    wp_apply (wp_bytes_get with "Hs"); [lia|by rewrite Nat2Z.id|]. iIntros "Hs". wp_pures.
    assert (take 8 bs !! i = Some x) as Hx8 by (by rewrite lookup_take; [|lia]).
    assert (in_range U8 x) as Hxr by (by eapply Forall_lookup_1).
    assert (0 ≤ le_val (drop (S i) (take 8 bs)) < 256 ^ 7) as Hr.
    { assert (bytes_ok (drop (S i) (take 8 bs))) as Hok' by (by apply Forall_drop, Forall_take).
      pose proof (le_val_range _ Hok') as Hr. rewrite drop_length take_length in Hr.
      split; [lia|]. eapply Z.lt_le_trans; [apply Hr|]. apply Z.pow_le_mono_r; lia. }
    change (256 ^ 7) with 72057594037927936 in Hr.
    rewrite Z.shiftl_mul_pow2; [|done]. change (2 ^ 8) with 256.
    rewrite_wrap. replace (Z.of_nat (S i) - 1) with (Z.of_nat i) by lia.
    replace (le_val (drop (S i) (take 8 bs)) * 256 + x) with (le_val (drop i (take 8 bs))).
    { iApply ("IH" $! i with "[%] Hs HΦ"). lia. }
    rewrite (drop_S _ _ _ Hx8). cbn [le_val]. lia.
  Qed.
  Lemma wp_UInt64Get b E s dq bs : (8 ≤ length bs)%nat → Forall (in_range U8) bs →
    {{{ own_bytes b s dq bs }}}
      machine.UInt64Get (slice_val s) @ b; E
    {{{ RET #(u64 (le_val (take 8 bs))); own_bytes b s dq bs }}}.
  Proof.
    iIntros (Hbs Hok Φ) "Hs HΦ". wp_rec. wp_pure. fold (get_loop s).
    iPoseProof (wp_get_loop b E s dq bs 8 Φ with "Hs HΦ") as "H"; [done..|].
    rewrite drop_ge; [|rewrite take_length; lia]. iExact "H".
  Qed.
End uint64.

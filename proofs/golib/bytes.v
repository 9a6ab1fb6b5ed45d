(** * Comparing slices of bytes *)
From iris.proofmode Require Import environments.
From ashlar.golib Require Export packages.
Local Open Scope Z_scope.

Section bytes.
  Context `{!golangGS Σ}.

  Lemma wp_bytes_compare b E s1 s2 dq1 dq2 (bs1 bs2 : list Z) :
    {{{ own_bytes b s1 dq1 bs1 ∗ own_bytes b s2 dq2 bs2 }}}
      std.bytes_compare (slice_val s1) (slice_val s2) @ b; E
    {{{ c, RET #(int c); own_bytes b s1 dq1 bs1 ∗ own_bytes b s2 dq2 bs2 ∗ ⌜c = 0 ↔ bs1 = bs2⌝ }}}.
  Proof.
    iIntros (Φ) "[H1 H2] HΦ".
    iDestruct (own_bytes_length with "H1") as %[Hl1 Hm1]. iDestruct (own_bytes_length with "H2") as %[Hl2 Hm2].
    unfold max_elems in Hm1, Hm2. wp_rec.
    repeat lazymatch goal with
    | |- envs_entails _ (wp _ _ (App (Val (RecV (BNamed "go") _ _)) _) _) => fail
    | _ => wp_pure
    end.
    lazymatch goal with |- envs_entails _ (wp _ _ (App (Val ?f) _) _) => set (loop := f) end.
    iAssert (∀ i : nat, ⌜(i ≤ length bs1)%nat ∧ (i ≤ length bs2)%nat ∧ take i bs1 = take i bs2⌝ -∗
      own_bytes b s1 dq1 bs1 -∗ own_bytes b s2 dq2 bs2 -∗
      (∀ c, own_bytes b s1 dq1 bs1 ∗ own_bytes b s2 dq2 bs2 ∗ ⌜c = 0 ↔ bs1 = bs2⌝ -∗ Φ #(int c)) -∗
      WP loop #(int i) @ b; E {{ Φ }})%I as "Hloop"; last first.
    { iApply ("Hloop" $! 0%nat with "[%] H1 H2 HΦ"). split_and!; [lia|lia|done]. }
    iLöb as "IH". iIntros (i (Hi1 & Hi2 & Htake)) "H1 H2 HΦ". wp_rec. wp_pures. rewrite Hl1.
    case_bool_decide as He1; wp_pures; rewrite Hl2; case_bool_decide as He2; wp_pures.
    - iApply "HΦ". iFrame. iPureIntro. rewrite !take_ge // in Htake; lia.
    - iApply "HΦ". iFrame. iPureIntro. split; [done|]. intros ->. lia.
    - iApply "HΦ". iFrame. iPureIntro. split; [done|]. intros ->. lia.
    - destruct (lookup_lt_is_Some_2 bs1 i) as [x Hx]; [lia|]. destruct (lookup_lt_is_Some_2 bs2 i) as [y Hy]; [lia|].
      wp_apply (wp_bytes_get with "H1"); [lia|by rewrite Nat2Z.id|]. iIntros "H1". wp_pures.
      wp_apply (wp_bytes_get with "H2"); [lia|by rewrite Nat2Z.id|]. iIntros "H2". wp_pures.
      case_bool_decide as Hlt; wp_pures.
      { iApply "HΦ". iFrame. iPureIntro. split; [done|]. intros ->. simplify_eq. lia. }
      case_bool_decide as Hgt; wp_pures.
      { iApply "HΦ". iFrame. iPureIntro. split; [done|]. intros ->. simplify_eq. lia. }
      assert (x = y) as -> by lia. rewrite_wrap. replace (i + 1) with (Z.of_nat (S i)) by lia.
      iApply ("IH" with "[%] H1 H2 HΦ"). split_and!; [lia|lia|].
      by rewrite (take_S_r _ _ _ Hx) (take_S_r _ _ _ Hy) Htake.
  Qed.
  Lemma wp_bytes_equal b E s1 s2 dq1 dq2 (bs1 bs2 : list Z) :
    {{{ own_bytes b s1 dq1 bs1 ∗ own_bytes b s2 dq2 bs2 }}}
      std.bytes_equal (slice_val s1) (slice_val s2) @ b; E
    {{{ RET #(bool_decide (bs1 = bs2)); own_bytes b s1 dq1 bs1 ∗ own_bytes b s2 dq2 bs2 }}}.
  Proof.
    iIntros (Φ) "[H1 H2] HΦ".
    iDestruct (own_bytes_length with "H1") as %[Hl1 _]. iDestruct (own_bytes_length with "H2") as %[Hl2 _].
    wp_rec. wp_pures. rewrite Hl1 Hl2. destruct (decide (length bs1 = length bs2)) as [Hlen|Hlen]; last first.
    { rewrite (bool_decide_false (int _ = int _)); [|intros [= ?]; lia]. wp_pures.
      rewrite bool_decide_false; [iApply "HΦ"; iFrame|]. by intros ->. }
    rewrite (bool_decide_true (int _ = int _)); [|by rewrite Hlen]. wp_pures.
    wp_apply (wp_bytes_compare with "[$H1 $H2]"). iIntros (c) "(H1 & H2 & %Hc)". wp_pures.
    rewrite (bool_decide_ext (int c = int 0) (bs1 = bs2)); [iApply "HΦ"; iFrame|].
    rewrite -Hc. split; [by intros [= ->]|by intros ->].
  Qed.
End bytes.

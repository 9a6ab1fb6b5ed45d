(** * Binary search, as product code writes it

    for lo < hi { if mid := int(uint(lo+hi) >> 1); P(mid) { lo = mid + 1 } else { hi = mid } } *)
From ashlar.golib Require Export packages.
Local Open Scope Z_scope.

Section search.
  Context `{!golangGS Σ}.

  (** [P] holds of the numbers below some number and of no other; [R] is what it takes to ask. *)
  Lemma wp_binary_search (P : Z → Prop) (R : iProp Σ) b E (lo hi : loc) (n : Z) (test : expr) Φ :
    0 ≤ n ≤ max_elems → (∀ i j, 0 ≤ i ≤ j → j < n → P j → P i) →
    lo ↦[b] #(int 0) -∗ hi ↦[b] #(int n) -∗ R -∗
    □ (∀ mid, ⌜0 ≤ mid < n⌝ -∗ R -∗
         WP subst "mid" #(int mid) test @ b; E {{ v, ∃ c : bool, ⌜v = #c⌝ ∗ ⌜if c then P mid else ¬ P mid⌝ ∗ R }}) -∗
    (∀ k, ⌜0 ≤ k ≤ n⌝ -∗ ⌜∀ i, 0 ≤ i < k → P i⌝ -∗ ⌜∀ i, k ≤ i < n → ¬ P i⌝ -∗
       lo ↦[b] #(int k) -∗ R -∗ Φ #()) -∗
    WP for_simple (λ: <>, ![int64T] #lo < ![int64T] #hi)%V
      (λ: <>, let: "mid" := to_int I64 (to_int U64 (![int64T] #lo + ![int64T] #hi) ≫ #(u64 1)) in
         if: test then #lo <-[int64T] "mid" + #(int 1) else #hi <-[int64T] "mid")%V
      (λ: <>, #())%V @ b; E {{ Φ }}.
  Proof.
    iIntros (Hn HP) "Hlo Hhi HR #Hask HΦ". unfold max_elems in Hn.
    iApply (wp_for_simple (∃ i j, ⌜0 ≤ i ≤ j ∧ j ≤ n⌝ ∗ ⌜∀ k, 0 ≤ k < i → P k⌝ ∗ ⌜∀ k, j ≤ k < n → ¬ P k⌝ ∗
      lo ↦[b] #(int i) ∗ hi ↦[b] #(int j) ∗ R)
      (∃ k, ⌜0 ≤ k ≤ n⌝ ∗ ⌜∀ i, 0 ≤ i < k → P i⌝ ∗ ⌜∀ i, k ≤ i < n → ¬ P i⌝ ∗ lo ↦[b] #(int k) ∗ R)
      with "[Hlo Hhi HR] []").
    - iExists 0, n. iFrame. iPureIntro. split_and!; lia.
    - iIntros "!> (%i & %j & %Hij & %Hlow & %Hhigh & Hlo & Hhi & HR)".
      wp_load. wp_load. loop_cond as Hlt; last first.
      { assert (i = j) as -> by lia. iExists j. iFrame. iPureIntro. split_and!; [lia|lia|done|done]. }
      assert (0 ≤ (i + j) / 2 < j ∧ i ≤ (i + j) / 2) as Hmid by (Z.to_euclidean_division_equations; lia).
      wp_load. wp_load. wp_pures. rewrite (wrap_id I64 (j + i)) || rewrite (wrap_id I64 (i + j)); [|int_solve].
      rewrite (wrap_id U64 (i + j)); [|int_solve].
      change (1 `min` 64) with 1. rewrite Z.shiftr_div_pow2; [|lia]. change (2 ^ 1) with 2.
      rewrite (wrap_id I64); [|int_solve].
      wp_bind (subst _ _ test).
      iApply (wpe_wand with "(Hask [%] HR)"); [lia|]. iIntros (v) "(%c & -> & %Hc & HR)".
      destruct c; wp_pures.
      + wp_store. wp_pures. rewrite wrap_id; [|int_solve]. wp_pures. iExists ((i + j) / 2 + 1), j. iFrame. iPureIntro.
        split_and!; [lia|lia|lia| |done]. intros k Hk. apply (HP k ((i + j) / 2)); [lia|lia|done].
      + wp_store. wp_pures. wp_pures. iExists i, ((i + j) / 2). iFrame. iPureIntro.
        split_and!; [lia|lia|lia|done|]. intros k Hk HPk. apply Hc. apply (HP _ k); [lia|lia|done].
    - iIntros "(%k & %Hk & %Hlow & %Hhigh & Hlo & HR)". by iApply ("HΦ" with "[%] [%] [%] Hlo HR").
  Qed.
End search.

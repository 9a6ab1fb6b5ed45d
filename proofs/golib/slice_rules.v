(** * Rules of the operations on slices

    An index or a length may be of any integer type.  Bytes come first: they are
    what the devices take and give. *)
From ashlar.golib Require Export slice.
Local Open Scope Z_scope.

Section rules.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (s : slice) (t : ty) (v : val) (vs : list val).

  (** ** Strings *)
  Lemma wp_string_to_slice b E (bs : list Z) : Z.of_nat (length bs) ≤ max_elems →
    {{{ True }}}
      string_to_slice #(LitStr bs) @ b; E
    {{{ s, RET slice_val s; own_bytes_full b s bs }}}.
  Proof.
    iIntros (Hlen Φ) "_ HΦ". wp_rec. wp_pures.
    wp_bind (Eff _ _). iApply wpe_alloc_bytes. iIntros "!>" (l) "Hl". wp_pures.
    iApply ("HΦ" $! (Slice (LitLoc l) (length bs) (length bs))).
    iSplitL "Hl".
    - iSplit; [iPureIntro; rewrite /slice_wf /=; lia|].
      iSplit; [by rewrite /= fmap_length|]. rewrite /slice_cells /= Z.mul_0_l loc_add_0.
      by rewrite own_block_array.
    - iExists []. rewrite /slice_cells /own_block /=. iSplit; [|done]. iPureIntro. lia.
  Qed.
  Lemma wp_slice_to_string b E s dq (bs : list Z) :
    {{{ own_bytes b s dq bs }}}
      slice_to_string (slice_val s) @ b; E
    {{{ RET #(LitStr bs); own_bytes b s dq bs }}}.
  Proof.
    iIntros (Φ) "(%Hwf & %Hlen & Hs) HΦ". rewrite fmap_length in Hlen.
    destruct s as [p n c]. simpl in *. subst n. wp_rec. wp_pures.
    case_bool_decide as Hn; wp_pures.
    - destruct bs; [|done]. iApply "HΦ". by iFrame.
    - rewrite /slice_cells /=. destruct Hwf as (? & ? & Hp). simpl in *.
      destruct p as [| | |l| |]; try done; last first.
      { exfalso. apply Hn. do 2 f_equal. lia. }
      rewrite own_block_array Z.mul_0_l loc_add_0.
      iApply (wpe_load_bytes with "Hs"). iIntros "!> Hs". iApply "HΦ".
      iSplit; [done|]. iSplit; [by rewrite fmap_length|].
      by rewrite /slice_cells /= own_block_array Z.mul_0_l loc_add_0.
  Qed.

  (** ** Making *)
  Lemma slice_full_intro b l t (n c : Z) vs us :
    0 ≤ n → Z.of_nat (length vs) = n → Z.of_nat (length us) = c - n → c ≤ max_elems →
    own_block b l (DfracOwn 1) t (vs ++ us) -∗
    own_slice_full b (Slice (LitLoc l) n c) t vs.
  Proof.
    iIntros (Hn Hvs Hus Hc) "H". rewrite /own_block big_sepL_app. iDestruct "H" as "[H1 H2]".
    iSplitL "H1".
    - iSplit; [iPureIntro; rewrite /slice_wf /=; lia|]. iSplit; [done|].
      by rewrite /slice_cells /= Z.mul_0_l loc_add_0.
    - iExists us. iSplit; [done|]. rewrite /slice_cells /=.
      iApply (big_sepL_impl with "H2"). iIntros "!>" (i v _) "H".
      rewrite loc_add_assoc. iApply (own_ty_loc with "H"). lia.
  Qed.
  Lemma wp_make_slice b E t w (n : Z) : 0 ≤ n ≤ max_elems →
    {{{ True }}}
      make_slice t #(LitInt w n) @ b; E
    {{{ s, RET slice_val s; own_slice_full b s t (replicate (Z.to_nat n) (zero_val t)) }}}.
  Proof.
    iIntros (Hn Φ) "_ HΦ". unfold max_elems in Hn. wp_rec. wp_pures. rewrite_wrap. wp_cond.
    wp_apply (wp_alloc_zero with "[//]"); [lia|]. iIntros (l) "Hl". wp_pures.
    iApply ("HΦ" $! (Slice (LitLoc l) n n)).
    iApply (slice_full_intro _ _ _ _ _ _ []); [lia|rewrite replicate_length; lia|simpl; lia|unfold max_elems; lia|].
    by rewrite app_nil_r.
  Qed.
  Lemma wp_make_slice_cap b E t w1 w2 (n c : Z) : 0 ≤ n ≤ c → c ≤ max_elems →
    {{{ True }}}
      make_slice_cap t #(LitInt w1 n) #(LitInt w2 c) @ b; E
    {{{ s, RET slice_val s; own_slice_full b s t (replicate (Z.to_nat n) (zero_val t)) }}}.
  Proof.
    iIntros (Hn Hc Φ) "_ HΦ". unfold max_elems in Hc. wp_rec. wp_pures. rewrite_wrap.
    wp_cond. wp_cond.
    wp_apply (wp_alloc_zero with "[//]"); [lia|]. iIntros (l) "Hl". wp_pures.
    iApply ("HΦ" $! (Slice (LitLoc l) n c)).
    iApply (slice_full_intro _ _ _ _ _ _ (replicate (Z.to_nat (c - n)) (zero_val t)));
      [lia|rewrite replicate_length; lia..|unfold max_elems; lia|].
    rewrite -replicate_add. by replace (Z.to_nat n + Z.to_nat (c - n))%nat with (Z.to_nat c) by lia.
  Qed.
  Lemma wp_make_bytes b E w (n : Z) : 0 ≤ n ≤ max_elems →
    {{{ True }}}
      make_slice byteT #(LitInt w n) @ b; E
    {{{ s, RET slice_val s; own_bytes_full b s (replicate (Z.to_nat n) 0) }}}.
  Proof.
    iIntros (Hn Φ) "_ HΦ". wp_apply (wp_make_slice with "[//]"); [done|].
    iIntros (s) "Hs". iApply "HΦ". by rewrite /own_bytes_full fmap_replicate.
  Qed.

  (** ** Elements *)
  (** [&s[i]]: the element, which may be changed before the slice is put together again. *)
  Lemma wp_slice_ref b E s t dq vs w (i : Z) v `{!SmallTy t} :
    0 ≤ i → vs !! Z.to_nat i = Some v →
    {{{ own_slice b s t dq vs }}}
      slice_ref t (slice_val s) #(LitInt w i) @ b; E
    {{{ l, RET #l; own_ty b l dq t v ∗
         (∀ v', own_ty b l dq t v' -∗ own_slice b s t dq (<[Z.to_nat i := v']> vs)) }}}.
  Proof.
    iIntros (Hi Hv Φ) "(%Hwf & %Hlen & Hs) HΦ". destruct s as [p n c].
    pose proof (lookup_lt_Some _ _ _ Hv) as Hlt. pose proof Hwf as (Hn & Hc & Hp).
    simpl in *. unfold max_elems in Hc. pose proof (small_ty (t:=t)) as Hsz.
    pose proof (ty_size_nonneg t).
    wp_rec. wp_pures. rewrite_wrap. wp_cond. wp_cond.
    destruct p as [| | |l| |]; try done; [|simpl in *; lia].
    assert (0 ≤ i * ty_size t ≤ 2^48 * 2^14) as Hoff.
    { split; [lia|]. apply Z.mul_le_mono_nonneg; lia. }
    wp_pures. rewrite_wrap. iApply "HΦ". rewrite /slice_cells /= Z.mul_0_l loc_add_0.
    iDestruct (big_sepL_insert_acc with "Hs") as "[Hv Hs]"; [done|].
    rewrite Z2Nat.id //. iFrame "Hv". iIntros (v') "Hv".
    iSplit; [done|]. iSplit; [by rewrite insert_length|].
    rewrite /slice_cells /= Z.mul_0_l loc_add_0. by iApply "Hs".
  Qed.
  Lemma wp_slice_get b E s t dq vs w (i : Z) v `{!SmallTy t} :
    0 ≤ i → vs !! Z.to_nat i = Some v →
    {{{ own_slice b s t dq vs }}}
      slice_get t (slice_val s) #(LitInt w i) @ b; E
    {{{ RET v; own_slice b s t dq vs }}}.
  Proof.
    iIntros (Hi Hv Φ) "Hs HΦ". wp_rec. wp_pures.
    wp_apply (wp_slice_ref with "Hs"); [done..|]. iIntros (l) "[Hv Hs]".
    wp_apply (wp_load_ty with "Hv"). iIntros "Hv". iApply "HΦ".
    iSpecialize ("Hs" with "Hv"). by rewrite list_insert_id.
  Qed.
  Lemma wp_slice_set b E s t vs w (i : Z) v `{!SmallTy t} :
    0 ≤ i < length vs → ty_val t v →
    {{{ own_slice b s t (DfracOwn 1) vs }}}
      slice_set t (slice_val s) #(LitInt w i) v @ b; E
    {{{ RET #(); own_slice b s t (DfracOwn 1) (<[Z.to_nat i := v]> vs) }}}.
  Proof.
    iIntros (Hi Hv Φ) "Hs HΦ". destruct (lookup_lt_is_Some_2 vs (Z.to_nat i)) as [v0 Hv0]; [lia|].
    wp_rec. wp_pures. wp_apply (wp_slice_ref with "Hs"); [lia|done|]. iIntros (l) "[Hv Hs]".
    wp_apply (wp_store_ty with "Hv"); [done|]. iIntros "Hv". iApply "HΦ". by iApply "Hs".
  Qed.
  Lemma wp_bytes_get b E s dq (bs : list Z) w (i : Z) x :
    0 ≤ i → bs !! Z.to_nat i = Some x →
    {{{ own_bytes b s dq bs }}}
      slice_get byteT (slice_val s) #(LitInt w i) @ b; E
    {{{ RET #(u8 x); own_bytes b s dq bs }}}.
  Proof.
    iIntros (Hi Hx Φ) "Hs HΦ". wp_apply (wp_slice_get with "Hs"); [done| |done].
    by rewrite list_lookup_fmap Hx.
  Qed.
  Lemma wp_bytes_set b E s (bs : list Z) w (i x : Z) : 0 ≤ i < length bs →
    {{{ own_bytes b s (DfracOwn 1) bs }}}
      slice_set byteT (slice_val s) #(LitInt w i) #(u8 x) @ b; E
    {{{ RET #(); own_bytes b s (DfracOwn 1) (<[Z.to_nat i := x]> bs) }}}.
  Proof.
    iIntros (Hi Φ) "Hs HΦ". wp_apply (wp_slice_set with "Hs"); [by rewrite fmap_length|done|].
    iIntros "Hs". iApply "HΦ". by rewrite /own_bytes list_fmap_insert.
  Qed.

  (** ** Cutting *)
  Lemma wp_slice_sub b E s t w1 w2 (i j : Z) Φ `{!SmallTy t} :
    slice_wf s → 0 ≤ i ≤ j → j ≤ sl_cap s →
    ▷ Φ (slice_val (slice_cut t s i j)) -∗
    WP slice_sub t (slice_val s) #(LitInt w1 i) #(LitInt w2 j) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hwf Hi Hj) "HΦ". destruct s as [p n c]. pose proof Hwf as (Hn & Hc & Hp).
    simpl in *. unfold max_elems in Hc. pose proof (small_ty (t:=t)). pose proof (ty_size_nonneg t).
    assert (0 ≤ i * ty_size t ≤ 2^48 * 2^14) as Hoff.
    { split; [lia|]. apply Z.mul_le_mono_nonneg; lia. }
    wp_rec. wp_pures. rewrite_wrap. wp_cond. wp_cond. wp_cond.
    rewrite /slice_cut. destruct p as [| | |l| |]; try done; wp_cond; [|done].
    by rewrite_wrap.
  Qed.
  Lemma wp_slice_take b E s t w (j : Z) Φ `{!SmallTy t} :
    slice_wf s → 0 ≤ j ≤ sl_cap s →
    ▷ Φ (slice_val (slice_cut t s 0 j)) -∗
    WP slice_take t (slice_val s) #(LitInt w j) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hwf Hj) "HΦ". wp_rec. wp_pures. by wp_apply (wp_slice_sub with "HΦ"); [|lia..].
  Qed.
  Lemma wp_slice_drop b E s t w (i : Z) Φ `{!SmallTy t} :
    slice_wf s → 0 ≤ i ≤ sl_len s →
    ▷ Φ (slice_val (slice_cut t s i (sl_len s))) -∗
    WP slice_drop t (slice_val s) #(LitInt w i) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hwf Hi) "HΦ". wp_rec. wp_pures. pose proof (proj1 Hwf).
    by wp_apply (wp_slice_sub with "HΦ"); [|lia..].
  Qed.
End rules.

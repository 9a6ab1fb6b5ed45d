(** * copy and append *)
From ashlar.golib Require Export slice_rules.
Local Open Scope Z_scope.

Section append.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (s : slice) (t : ty) (v : val) (vs us : list val).

  (** An element has the type of the slice. *)
  Lemma own_slice_ty b s t dq vs (i : nat) v : vs !! i = Some v →
    own_slice b s t dq vs -∗ ⌜ty_val t v⌝.
  Proof.
    iIntros (Hv) "H". iDestruct (own_slice_wf with "H") as %[Hwf Hlen].
    iDestruct (own_slice_val with "H") as %[Ht|Hc]; [by eapply elem_of_list_lookup_2|done|].
    exfalso. apply lookup_lt_Some in Hv. destruct Hwf. lia.
  Qed.

  (** ** copy *)
  Lemma wp_copy_up b E t dst src dq vd vs (i n : nat) `{!SmallTy t} :
    (i ≤ n)%nat → (n ≤ length vs)%nat → (n ≤ length vd)%nat →
    {{{ own_slice b dst t (DfracOwn 1) (take i vs ++ drop i vd) ∗ own_slice b src t dq vs }}}
      copy_up t (slice_val dst) (slice_val src) #(int i) #(int n) @ b; E
    {{{ RET #(); own_slice b dst t (DfracOwn 1) (take n vs ++ drop n vd) ∗ own_slice b src t dq vs }}}.
  Proof.
    iIntros (Hin Hvs Hvd Φ) "[Hd Hs] HΦ".
    iDestruct (own_slice_length with "Hs") as %[_ Hmax]. unfold max_elems in Hmax.
    iLöb as "IH" forall (i Hin). wp_rec. wp_pures.
    case_bool_decide as Hlt; wp_pures; last first.
    { assert (i = n) as -> by lia. iApply "HΦ". iFrame. }
    destruct (lookup_lt_is_Some_2 vs i) as [v Hv]; [lia|].
    iDestruct (own_slice_ty with "Hs") as %Ht; [done|].
    wp_apply (wp_slice_get with "Hs"); [lia|by rewrite Nat2Z.id|]. iIntros "Hs".
    wp_apply (wp_slice_set with "Hd"); [rewrite copy_length; lia|done|]. iIntros "Hd".
    rewrite Nat2Z.id (copy_step _ _ _ _ Hv); [|lia]. wp_pures.
    rewrite_wrap. replace (i + 1) with (S i : Z) by lia.
    iApply ("IH" with "[] Hd Hs HΦ"). iPureIntro. lia.
  Qed.
  Lemma wp_copy_slice b E dst src t dq vd vs `{!SmallTy t} :
    let n := (length vd `min` length vs)%nat in
    {{{ own_slice b dst t (DfracOwn 1) vd ∗ own_slice b src t dq vs }}}
      copy_slice t (slice_val dst) (slice_val src) @ b; E
    {{{ RET #(int n); own_slice b dst t (DfracOwn 1) (take n vs ++ drop n vd) ∗
         own_slice b src t dq vs }}}.
  Proof.
    iIntros (n Φ) "[Hd Hs] HΦ".
    iDestruct (own_slice_length with "Hs") as %[Hls Hmax].
    iDestruct (own_slice_length with "Hd") as %[Hld _].
    wp_rec. wp_pures.
    wp_bind (If _ _ _).
    iAssert (∀ Ψ, Ψ #(int n) -∗ WP if: #(bool_decide (sl_len dst < sl_len src))
      then slice_len (slice_val dst) else slice_len (slice_val src) @ b; E {{ Ψ }})%I as "Hn".
    { iIntros (Ψ) "HΨ". case_bool_decide as Hlt; wp_pures; rewrite ?Hld ?Hls.
      - by replace (length vd) with n by lia.
      - by replace (length vs) with n by lia. }
    iApply "Hn". wp_pures.
    wp_apply (wp_make_slice with "[//]"); [lia|]. iIntros (tmp) "[Htmp _]". wp_pures.
    wp_apply (wp_copy_up _ _ _ tmp src _ (replicate (Z.to_nat n) (zero_val t)) vs 0 n with "[$Hs Htmp]");
      [lia|lia|rewrite replicate_length; lia|by rewrite take_0 drop_0|].
    iIntros "[Htmp Hs]". wp_pures. rewrite (drop_ge (replicate _ _)); [|rewrite replicate_length; lia]. rewrite app_nil_r.
    wp_apply (wp_copy_up _ _ _ dst tmp _ vd (take n vs) 0 n with "[$Htmp Hd]");
      [lia|rewrite take_length; lia|lia|by rewrite take_0 drop_0|].
    iIntros "[Hd _]". wp_pures. rewrite take_take Nat.min_id. iApply "HΦ". iFrame.
  Qed.

  (** ** append *)
  (** The capacity becomes length; what was there is not said. *)
  Lemma own_slice_extend b s t vs (n : Z) :
    sl_len s ≤ n ≤ sl_cap s →
    own_slice_full b s t vs -∗
    ∃ us, ⌜length (vs ++ us) = Z.to_nat n⌝ ∗
      own_slice_full b (Slice (sl_ptr s) n (sl_cap s)) t (vs ++ us).
  Proof.
    iIntros (Hn) "[(%Hwf & %Hlen & Hs) (%ws & %Hws & Hc)]". destruct s as [p m c]. simpl in *.
    pose proof Hwf as (Hm & Hmax & Hp). simpl in *.
    assert (∃ us rest, ws = us ++ rest ∧ Z.of_nat (length us) = n - m) as (us & rest & -> & Hus).
    { exists (take (Z.to_nat (n - m)) ws), (drop (Z.to_nat (n - m)) ws).
      rewrite take_drop take_length. split; [done|lia]. }
    rewrite app_length in Hws. rewrite slice_cells_app. iDestruct "Hc" as "[Hc1 Hc2]".
    iExists us. iSplitR; [iPureIntro; rewrite app_length; lia|]. iSplitL "Hs Hc1".
    - iSplit; [iPureIntro; rewrite /slice_wf /=; split_and!; [lia|lia|done|done]|].
      iSplit; [iPureIntro; rewrite /= app_length; lia|].
      rewrite slice_cells_app Hlen Z.add_0_l. iFrame.
    - iExists rest. iSplit; [iPureIntro; simpl; lia|].
      rewrite /slice_cells /=. by replace (m + length us) with n by lia.
  Qed.
  Lemma wp_grow_slice b E s t vs (n : Z) `{!SmallTy t} :
    length vs ≤ n ≤ 2 * max_elems →
    {{{ own_slice_full b s t vs }}}
      grow_slice t (slice_val s) #(int n) @ b; E
    {{{ s' us, RET slice_val s'; ⌜length (vs ++ us) = Z.to_nat n⌝ ∗ own_slice_full b s' t (vs ++ us) }}}.
  Proof.
    iIntros (Hn Φ) "Hs HΦ". iDestruct "Hs" as "[Hs Hc]".
    iDestruct (own_slice_wf with "Hs") as %[Hwf Hlen]. unfold max_elems in Hn.
    wp_rec. wp_pures. case_bool_decide as Hcap; wp_pures.
    { iDestruct (own_slice_extend _ _ _ _ n with "[$Hs $Hc]") as (us) "[%Hus Hs]"; [lia|].
      iApply ("HΦ" $! (Slice (sl_ptr s) n (sl_cap s)) us). by iFrame. }
    wp_bind (Eff _ _). iApply wpe_arb. iIntros "!>" (v (k & Hk & ->)). wp_pures. rewrite_wrap.
    case_bool_decide as Hmax; wp_pures.
    { iClear "Hs Hc HΦ". iLöb as "IH". wp_rec. iApply "IH". }
    unfold max_elems in Hmax.
    wp_apply (wp_alloc_zero with "[//]"); [int_solve|]. iIntros (l) "Hl". wp_pures.
    iAssert (own_slice_full b (Slice (LitLoc l) n (n + k)) t (replicate (Z.to_nat n) (zero_val t)))
      with "[Hl]" as "[Hnew Hnewc]".
    { iApply (slice_full_intro _ _ _ _ _ _ (replicate (Z.to_nat k) (zero_val t)));
        [lia|rewrite replicate_length; lia|rewrite replicate_length; int_solve|unfold max_elems; lia|].
      rewrite -replicate_add. replace (Z.to_nat (n + k)) with (Z.to_nat n + Z.to_nat k)%nat by int_solve.
      done. }
    rewrite Hlen. change ((#l, #(int n)), #(int (n + k)))%V with (slice_val (Slice (LitLoc l) n (n + k))).
    wp_apply (wp_copy_up _ _ _ _ s _ (replicate (Z.to_nat n) (zero_val t)) vs 0 (length vs)
      with "[$Hs Hnew]"); [lia|lia|rewrite replicate_length; lia|by rewrite take_0 drop_0|].
    iIntros "[Hnew _]". wp_pures. rewrite firstn_all.
    iApply ("HΦ" $! (Slice (LitLoc l) n (n + k))). iSplit; [|by iFrame].
    iPureIntro. rewrite app_length drop_length replicate_length. lia.
  Qed.
  Lemma wp_append_one b E s t vs v `{!SmallTy t} : ty_val t v →
    {{{ own_slice_full b s t vs }}}
      append_one t (slice_val s) v @ b; E
    {{{ s', RET slice_val s'; own_slice_full b s' t (vs ++ [v]) }}}.
  Proof.
    iIntros (Hv Φ) "Hs HΦ". iDestruct "Hs" as "[Hs Hc]".
    iDestruct (own_slice_length with "Hs") as %[Hlen Hmax]. unfold max_elems in Hmax.
    wp_rec. wp_pures. rewrite Hlen. rewrite_wrap.
    wp_apply (wp_grow_slice with "[$Hs $Hc]"); [unfold max_elems; lia|].
    iIntros (s' us) "[%Hus [Hs Hc]]". rewrite app_length in Hus. wp_pures.
    wp_apply (wp_slice_set with "Hs"); [rewrite app_length; lia|done|]. iIntros "Hs". wp_pures.
    iApply "HΦ". iFrame "Hc". destruct us as [|u [|u2 us]]; simpl in *; try lia.
    by rewrite Nat2Z.id insert_app_r_alt // Nat.sub_diag.
  Qed.
  Lemma wp_append_slice b E s s2 t dq vs vs2 `{!SmallTy t} :
    {{{ own_slice_full b s t vs ∗ own_slice b s2 t dq vs2 }}}
      append_slice t (slice_val s) (slice_val s2) @ b; E
    {{{ s', RET slice_val s'; own_slice_full b s' t (vs ++ vs2) ∗ own_slice b s2 t dq vs2 }}}.
  Proof.
    iIntros (Φ) "[[Hs Hc] Hs2] HΦ".
    iDestruct (own_slice_length with "Hs") as %[Hlen Hmax]. unfold max_elems in Hmax.
    iDestruct (own_slice_length with "Hs2") as %[Hlen2 Hmax2]. unfold max_elems in Hmax2.
    wp_rec. wp_pures. rewrite Hlen2. case_bool_decide as Hz; wp_pures.
    { destruct vs2; [|done]. rewrite app_nil_r. iApply "HΦ". iFrame. }
    rewrite Hlen Hlen2. rewrite_wrap.
    wp_apply (wp_grow_slice with "[$Hs $Hc]"); [unfold max_elems; lia|].
    iIntros (s' us) "[%Hus [Hs Hc]]". wp_pures.
    iDestruct (own_slice_wf with "Hs") as %[Hwf' Hlen'].
    wp_apply wp_slice_drop; [done|rewrite Hlen'; rewrite app_length; lia|].
    rewrite (own_slice_split _ s' _ _ (vs ++ us) (length vs)) //; [|rewrite app_length; lia].
    iDestruct "Hs" as "[Hs Hd]". rewrite drop_app take_app.
    wp_apply (wp_copy_slice with "[$Hd $Hs2]"). iIntros "[Hd Hs2]". wp_pures.
    iApply "HΦ". iFrame "Hs2 Hc".
    rewrite app_length in Hus. replace (length us `min` length vs2)%nat with (length vs2) by lia.
    rewrite firstn_all drop_ge; [|lia]. rewrite app_nil_r.
    iApply (own_slice_split _ s' _ _ (vs ++ vs2) (length vs)); [rewrite app_length; lia|done|..].
    { rewrite Hlen' !app_length. lia. }
    rewrite drop_app take_app. iFrame.
  Qed.

  (** ** Bytes *)
  Lemma wp_append_byte b E s (bs : list Z) (x : Z) :
    {{{ own_bytes_full b s bs }}}
      append_one byteT (slice_val s) #(u8 x) @ b; E
    {{{ s', RET slice_val s'; own_bytes_full b s' (bs ++ [x]) }}}.
  Proof.
    iIntros (Φ) "Hs HΦ". wp_apply (wp_append_one with "Hs"); [done|]. iIntros (s') "Hs".
    iApply "HΦ". by rewrite /own_bytes_full fmap_app.
  Qed.
  Lemma wp_append_bytes b E s s2 dq (bs bs2 : list Z) :
    {{{ own_bytes_full b s bs ∗ own_bytes b s2 dq bs2 }}}
      append_slice byteT (slice_val s) (slice_val s2) @ b; E
    {{{ s', RET slice_val s'; own_bytes_full b s' (bs ++ bs2) ∗ own_bytes b s2 dq bs2 }}}.
  Proof.
    iIntros (Φ) "[Hs Hs2] HΦ". wp_apply (wp_append_slice with "[$Hs $Hs2]"). iIntros (s') "[Hs Hs2]".
    iApply "HΦ". rewrite /own_bytes_full fmap_app. iFrame.
  Qed.
  Lemma wp_copy_bytes b E dst src dq (bd bs : list Z) :
    let n := (length bd `min` length bs)%nat in
    {{{ own_bytes b dst (DfracOwn 1) bd ∗ own_bytes b src dq bs }}}
      copy_slice byteT (slice_val dst) (slice_val src) @ b; E
    {{{ RET #(int n); own_bytes b dst (DfracOwn 1) (take n bs ++ drop n bd) ∗ own_bytes b src dq bs }}}.
  Proof.
    iIntros (n Φ) "[Hd Hs] HΦ". wp_apply (wp_copy_slice with "[$Hd $Hs]"). rewrite !fmap_length.
    iIntros "[Hd Hs]". iApply "HΦ". rewrite /own_bytes fmap_app fmap_take fmap_drop. iFrame.
  Qed.
End append.

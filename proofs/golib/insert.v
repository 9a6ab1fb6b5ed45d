(** * slices.Insert of one value *)
From iris.proofmode Require Import environments.
From ashlar.golib Require Export packages.
Local Open Scope Z_scope.

Section insert.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (s : slice) (t : ty) (v : val) (vs : list val).

  Lemma own_slice_part b s t dq (i j : Z) vs : slice_wf s → 0 ≤ i ≤ j → j ≤ sl_cap s → Z.of_nat (length vs) = j - i →
    own_slice b (slice_cut t s i j) t dq vs ⊣⊢ slice_cells b s t dq i vs.
  Proof.
    intros Hwf Hi Hj Hlen. rewrite /own_slice slice_cells_cut Z.add_0_r slice_cut_len //.
    iSplit; [by iIntros "(_ & _ & $)"|]. iIntros "$". iPureIntro. split; [by apply slice_wf_cut|lia].
  Qed.

  (** Elements move up by one place within a slice. *)
  Lemma wp_copy_up_one b E t s us vs v `{!SmallTy t} :
    let i := length us in let n := (length us + length vs)%nat in
    {{{ own_slice b s t (DfracOwn 1) (us ++ vs ++ [v]) }}}
      copy_slice t (slice_val (slice_cut t s (i + 1) (n + 1))) (slice_val (slice_cut t s i n)) @ b; E
    {{{ w, RET #(int (length vs)); own_slice b s t (DfracOwn 1) (us ++ [w] ++ vs) }}}.
  Proof.
    iIntros (i n Φ) "Hs HΦ". iDestruct (own_slice_wf with "Hs") as %[Hwf Hlen].
    rewrite !app_length /= in Hlen. pose proof Hwf as (Hl & Hmax & _). unfold max_elems in Hmax.
    iDestruct "Hs" as "(_ & _ & Hs)".
    rewrite slice_cells_app slice_cells_app. iDestruct "Hs" as "(Hus & Hvs & Hv)".
    wp_rec. wp_pures. rewrite !slice_cut_len //; [|lia..].
    replace (n + 1 - (i + 1)) with (Z.of_nat (length vs)) by lia. replace (n - i) with (Z.of_nat (length vs)) by lia.
    rewrite bool_decide_false; [|lia]. wp_pures. rewrite slice_cut_len //; [|lia..].
    replace (n - i) with (Z.of_nat (length vs)) by lia.
    wp_apply (wp_make_slice with "[//]"); [unfold max_elems; lia|]. iIntros (tmp) "[Htmp _]". wp_pures.
    rewrite Nat2Z.id.
    iAssert (own_slice b (slice_cut t s i n) t (DfracOwn 1) vs) with "[Hvs]" as "Hvs".
    { iApply own_slice_part; [done|lia..|by rewrite Z.add_0_l]. }
    iAssert ⌜Forall (ty_val t) vs⌝%I as %Htys.
    { rewrite Forall_lookup. iIntros (j w Hj). by iApply (own_slice_ty with "Hvs"). }
    wp_apply (wp_copy_up _ _ _ tmp _ _ (replicate (length vs) (zero_val t)) vs 0 (length vs) with "[$Hvs Htmp]");
      [lia|lia|rewrite replicate_length; lia|by rewrite take_0 drop_0|].
    iIntros "[Htmp Hvs]". wp_pures. rewrite firstn_all drop_ge; [|rewrite replicate_length; lia]. rewrite app_nil_r.
    iDestruct (own_slice_part with "Hvs") as "Hvs"; [done|lia..|].
    (* the places to which they go *)
    iAssert (∃ w ws, ⌜vs ++ [v] = w :: ws⌝ ∗ slice_cells b s t (DfracOwn 1) i [w] ∗ slice_cells b s t (DfracOwn 1) (i + 1) ws)%I
      with "[Hvs Hv]" as (w ws Hws) "[Hw Hws]".
    { iDestruct (slice_cells_app _ _ _ _ _ vs [v] with "[$Hvs Hv]") as "H"; [by rewrite Z.add_0_l|].
      destruct vs as [|w vs]; simpl.
      - iExists v, []. iSplit; [done|]. iFrame "H". rewrite /slice_cells /own_block. by destruct (sl_ptr s).
      - iExists w, (vs ++ [v]). iSplit; [done|]. iDestruct (slice_cells_app _ _ _ _ _ [w] with "H") as "[$ $]". }
    assert (length ws = length vs) as Hlws.
    { apply (f_equal length) in Hws. rewrite app_length /= in Hws. lia. }
    iAssert (own_slice b (slice_cut t s (i + 1) (n + 1)) t (DfracOwn 1) ws) with "[Hws]" as "Hws".
    { iApply own_slice_part; [done|lia..|done]. }
    wp_apply (wp_copy_up _ _ _ _ tmp _ ws vs 0 (length vs) with "[$Htmp Hws]");
      [lia|lia|lia|by rewrite take_0 drop_0|].
    iIntros "[Hws _]". wp_pures. rewrite firstn_all drop_ge; [|lia]. rewrite app_nil_r.
    iDestruct (own_slice_part with "Hws") as "Hws"; [done|lia..|].
    iApply ("HΦ" $! w). iSplit; [done|]. iSplit; [rewrite !app_length /=; iPureIntro; lia|].
    rewrite slice_cells_app slice_cells_app. iFrame "Hus". rewrite Z.add_0_l /=. iFrame.
  Qed.

  Lemma wp_insert b E s t vs w (i : nat) v `{!SmallTy t} : (i ≤ length vs)%nat → ty_val t v →
    {{{ own_slice_full b s t vs }}}
      std.insert t (slice_val s) #(LitInt w i) v @ b; E
    {{{ s', RET slice_val s'; own_slice_full b s' t (take i vs ++ [v] ++ drop i vs) }}}.
  Proof.
    iIntros (Hi Hv Φ) "[Hs Hc] HΦ".
    iDestruct (own_slice_length with "Hs") as %[Hlen Hmax]. unfold max_elems in Hmax.
    wp_rec. wp_pures. rewrite_wrap. rewrite Hlen. wp_cond. wp_cond. rewrite_wrap.
    wp_apply (wp_grow_slice with "[$Hs $Hc]"); [unfold max_elems; lia|].
    iIntros (s' us) "[%Hus [Hs Hc]]". rewrite app_length in Hus.
    destruct us as [|u [|u2 us]]; simpl in Hus; [lia| |lia].
    iDestruct (own_slice_wf with "Hs") as %[Hwf Hlen']. rewrite app_length /= in Hlen'. pose proof Hwf as (Hl1 & Hl2 & _).
    wp_pures. wp_apply wp_slice_sub; [done|lia|lia|]. wp_pures. rewrite_wrap.
    wp_apply wp_slice_drop; [done|lia|].
    assert (length (take i vs) = i) as Htl by (rewrite take_length; lia).
    assert (i + length (drop i vs) = length vs)%nat as Hdl by (rewrite drop_length; lia).
    pose proof (wp_copy_up_one b E t s' (take i vs) (drop i vs) u) as Hcopy. simpl in Hcopy. rewrite Htl Hdl in Hcopy.
    replace (sl_len s') with (length vs + 1) by lia.
    wp_apply (Hcopy with "[Hs]"). { by rewrite app_assoc take_drop. }
    iIntros (u') "Hs". wp_pures.
    wp_apply (wp_slice_set with "Hs"); [rewrite app_length /= Htl; lia|done|]. iIntros "Hs". wp_pures.
    iApply "HΦ". iFrame "Hc". rewrite Nat2Z.id insert_app_r_alt; [|lia]. by rewrite Htl Nat.sub_diag.
  Qed.
End insert.

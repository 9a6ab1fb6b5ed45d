(** * The page of a register: internal/worm/paxos/page.go, segment.page *)
From ashlar.worm.acceptor Require Export segment.
Local Open Scope Z_scope.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_page.

Section lookup.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (l : loc) (pgs : list page) (s : slice) (Φ : val → iProp Σ).

  Lemma wp_segment__page b lit pgs (i : Z) : 0 ≤ i < 2 ^ 32 →
    {{{ own_segment b lit pgs }}}
      paxos.segment__page #lit #(int i) @ b; ⊤
    {{{ pl, RET #pl;
        match page_at pgs (i / page_size) with
        | None => ⌜pl = LitNull⌝ ∗ own_segment b lit pgs
        | Some pg => ∃ p : loc, ⌜pl = LitLoc p⌝ ∗ own_page b p pg ∗
            ((own_page b p pg -∗ own_segment b lit pgs) ∧
             (∀ pg', ⌜pg_number pg' = pg_number pg⌝ -∗ own_page b p pg' -∗ own_segment b lit (set_page pgs pg')))
        end }}}.
  Proof.
    iIntros (Hi Φ) "[[-> ->]|(%l & -> & Hseg)] HΦ".
    { wp_rec. wp_pures. iApply ("HΦ" $! LitNull). iSplit; [done|]. by iLeft. }
    wp_rec. wp_pures. change paxos.pageSize with 256. rewrite Z.quot_div_nonneg; [|lia..].
    assert (0 ≤ i / 256 < 2 ^ 24) as Hn by (Z.to_euclidean_division_equations; lia).
    rewrite (wrap_id I64 (i / 256)); [|int_solve]. rewrite wrap_id; [|int_solve].
    wp_apply (wp_segment__find with "Hseg"). iIntros (k) "(Hseg & %Hk & %Hfound & _)". wp_pures.
    iDestruct "Hseg" as (s ps recent Hrecent) "(Hpages & Hr & [Hs Hcap] & Hps)".
    iDestruct (own_pages_length with "Hps") as %Hlenp.
    iDestruct (own_slice_length with "Hs") as %[Hlen Hmax]. rewrite fmap_length Hlenp in Hlen Hmax.
    iAssert ⌜sorted_pages pgs⌝%I as %Hsorted. { by iDestruct "Hps" as "[$ _]". }
    wp_load. wp_pures. rewrite Hlen. case_bool_decide as Hlt; wp_pures; last first.
    { rewrite page_at_none; last first.
      { intros j pg Hj Heq. pose proof (Hfound j pg Hj Heq). apply lookup_lt_Some in Hj. lia. }
      iApply ("HΦ" $! LitNull). iSplit; [done|]. iRight. iExists l. iSplit; [done|]. iExists s, ps, recent.
      iFrame "Hpages Hr Hs Hcap Hps". done. }
    destruct (lookup_lt_is_Some_2 pgs (Z.to_nat k)) as [pg Hpg]; [lia|].
    wp_load. wp_apply (wp_number with "[$Hs $Hps]"); [lia|done|]. iIntros "[Hs Hps]". wp_pures.
    destruct (decide (pg_number pg = i / 256)) as [Heq|Hne].
    - rewrite bool_decide_true; [|by rewrite Heq]. wp_pures. wp_load.
      destruct (lookup_lt_is_Some_2 ps (Z.to_nat k)) as [p Hp]; [lia|].
      wp_apply (wp_slice_get with "Hs"); [lia|by rewrite list_lookup_fmap Hp|]. iIntros "Hs". rewrite {2}/loc_val.
      rewrite (page_at_lookup _ _ (Z.to_nat k) pg) //.
      iDestruct (own_pages_update with "Hps") as (pg') "(%Hpg' & Hpage & Hps)"; [done|]. simplify_eq.
      iApply ("HΦ" $! (LitLoc p)). iExists p. iFrame "Hpage". iSplit; [done|].
      assert (set_page pgs pg = pgs) as Hid by (by rewrite (set_page_insert _ (Z.to_nat k) pg pg) // list_insert_id).
      iSplit; [iIntros "Hpage"|iIntros (pg') "%Hn' Hpage"].
      { iRight. iExists l. iSplit; [done|]. iExists s, ps, recent.
        iSplit; [done|]. iFrame "Hpages Hr Hs Hcap". iSpecialize ("Hps" with "[//] Hpage"). by rewrite Hid. }
      iRight. iExists l. iSplit; [done|]. iExists s, ps, recent.
      iSplit; [done|]. iFrame "Hpages Hr Hs Hcap". by iApply ("Hps" with "[//]").
    - rewrite bool_decide_false; [|congruence]. wp_pures. rewrite page_at_none; last first.
      { intros j pg' Hj Heq. pose proof (Hfound j pg' Hj Heq) as ->. simplify_eq. }
      iApply ("HΦ" $! LitNull). iSplit; [done|]. iRight. iExists l. iSplit; [done|]. iExists s, ps, recent.
      iFrame "Hpages Hr Hs Hcap Hps". done.
  Qed.
End lookup.

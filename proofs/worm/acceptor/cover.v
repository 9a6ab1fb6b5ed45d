(** * The window of a page grows to a register: internal/worm/paxos/page.go, cover *)
From iris.proofmode Require Import environments.
From ashlar.worm.acceptor Require Export window.
Local Open Scope Z_scope.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_slice own_slice_zeros own_slice_full.

Section cover.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (p : loc) (pg : page) (s : slice) (Φ : val → iProp Σ).
  Local Notation Page := paxos.page.

  (** What [cover] leaves alone. *)
  Definition own_beside b p pg sp st (table : list ballot) (mem : Z) : iProp Σ :=
    (p +ₗ field_offset Page "number") ↦[b] #(u32 (pg_number pg)) ∗
    (p +ₗ field_offset Page "promises") ↦[b] slice_val sp ∗
    (p +ₗ field_offset Page "ballots") ↦[b] slice_val st ∗
    (p +ₗ field_offset Page "held") ↦[b] #(int mem) ∗
    own_slice_full b sp (structT paxos.promise) (run_val <$> pg_runs pg) ∗
    own_slice_full b st (structT wor.Ballot) (ballot_val <$> table).
  Local Typeclasses Opaque own_beside.

  Lemma wp_page__cover b p pg (i : Z) : 0 ≤ i < page_size →
    {{{ own_page b p pg }}}
      paxos.page__cover #p #(int i) @ b; ⊤
    {{{ pg', RET #(); own_page b p pg' ∗
        ⌜pg_number pg' = pg_number pg ∧ pg_runs pg' = pg_runs pg⌝ ∗
        ⌜pg_first pg' ≤ i < pg_first pg' + length (pg_cells pg')⌝ ∗
        ⌜∀ j, 0 ≤ j → held pg' j = held pg j⌝ }}}.
  Proof.
    iIntros (Hi Φ) "(%sp & %sv & %sl & %st & %ss & %slots & %table & %mem & %Hok & %Htable & %Hcap & Hnumber & Hfirst &
      Hsp & Hsv & Hsl & Hst & Hmem & Hruns & Hvalues & Hroom & Hslots & Hslotsroom & Hballots & #Hcells) HΦ".
    iAssert (own_beside b p pg sp st table mem) with "[Hnumber Hsp Hst Hmem Hruns Hballots]" as "Hbeside".
    { rewrite /own_beside. iFrame. }
    pose proof (window_ok _ Hok) as [Hf0 Hwin].
    iDestruct (own_cells_length with "Hcells") as %[Hss Hslotslen].
    iDestruct (own_slice_wf with "Hvalues") as %[Hwfv Hlenv]. rewrite fmap_length Hss in Hlenv.
    iDestruct (own_slice_wf with "Hslots") as %[Hwfl Hlenl]. rewrite fmap_length Hslotslen in Hlenl.
    pose proof Hwfv as (Hv1 & Hv2 & _). unfold max_elems in Hv2.
    wp_rec. wp_load. wp_pures. rewrite (wrap_id I64 (pg_first pg)); [|int_solve].
    wp_alloc lo as "Hlo". wp_load. wp_load. wp_pures. rewrite Hlenv.
    rewrite (wrap_id I64 (pg_first pg)); [|int_solve]. rewrite wrap_id; [|int_solve].
    wp_alloc hi as "Hhi". wp_pures.
    (* what is to be covered *)
    wp_bind (If _ _ _).
    iApply (wpe_wand _ _ _ (λ o, (p +ₗ field_offset Page "first") ↦[b] #(int (pg_first pg)) ∗
      (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗
      ((⌜o = InjRV (InjRV #())⌝ ∗ ⌜pg_first pg ≤ i < pg_first pg + length (pg_cells pg)⌝) ∨
       (⌜o = InjLV #()⌝ ∗ ∃ l h, ⌜may_grow pg l h ∧ l ≤ i < h⌝ ∗ lo ↦[b] #(int l) ∗ hi ↦[b] #(int h))))%I
      with "[Hlo Hhi Hfirst Hsv]").
    { wp_load. wp_pures. rewrite Hlenv. case_bool_decide as Hz.
      { assert (length (pg_cells pg) = 0%nat) as Hn by (injection Hz; lia).
        wp_pures. wp_store. wp_pures. wp_store. wp_pures. iFrame "Hfirst Hsv". iRight. iSplit; [done|].
        rewrite wrap_id; [|int_solve].
        iExists i, (i + 1). iFrame. iPureIntro. rewrite /may_grow. lia. }
      assert (length (pg_cells pg) ≠ 0%nat) as Hn by (intros Hn; apply Hz; by rewrite Hn).
      wp_pures. wp_load. wp_pures. case_bool_decide as Hge.
      { wp_pures. wp_store. wp_pures. iFrame "Hfirst Hsv". iRight. iSplit; [done|]. rewrite wrap_id; [|int_solve].
        iExists (pg_first pg), (i + 1). iFrame. iPureIntro. rewrite /may_grow. lia. }
      wp_pures. wp_load. wp_pures. case_bool_decide as Hlt; wp_pures.
      { wp_load. wp_load. wp_load. wp_pures.
        rewrite (wrap_id I64 (pg_first pg + length (pg_cells pg) - pg_first pg)); [|int_solve].
        rewrite (wrap_id I64 (pg_first pg - _)); [|int_solve].
        wp_apply (wp_std_min with "[//]"). iIntros "_". wp_apply (wp_std_max with "[//]"). iIntros "_".
        wp_store. wp_pures. iFrame "Hfirst Hsv". iRight. iSplit; [done|]. iExists _, _. iFrame. iPureIntro.
        rewrite /may_grow. lia. }
      iFrame "Hfirst Hsv". iLeft. iSplit; [done|]. iPureIntro. lia. }
    iIntros (o) "(Hfirst & Hsv & [[-> %Hin]|(-> & %l & %h & [%Hg %Hlh] & Hlo & Hhi)])".
    { wp_pures. iEval (rewrite /own_beside) in "Hbeside".
      iDestruct "Hbeside" as "(Hnumber & Hsp & Hst & Hmem & Hruns & Hballots)".
      iApply ("HΦ" $! pg). iSplitL; [|done]. iExists sp, sv, sl, st, ss, slots, table, mem.
      iFrame "Hnumber Hfirst Hsp Hsv Hsl Hst Hmem Hruns Hvalues Hroom Hslots Hslotsroom Hballots Hcells". done. }
    pose proof Hg as (Hl0 & Hh & Hg'). pose proof (grown_length _ _ _ Hg) as Hglen.
    (* is there room? *)
    wp_pures. wp_bind (If (If (BinOp _ _ _) _ _) _ (Val #false)).
    iApply (wpe_wand _ _ _ (λ v, ∃ c : bool, ⌜v = #c⌝ ∗
      ⌜c = true → length (pg_cells pg) ≠ 0%nat ∧ l = pg_first pg ∧ h - l ≤ sl_cap sv⌝ ∗
      (p +ₗ field_offset Page "first") ↦[b] #(int (pg_first pg)) ∗
      (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗ lo ↦[b] #(int l) ∗ hi ↦[b] #(int h))%I
      with "[Hlo Hhi Hfirst Hsv]").
    { wp_load. wp_pures. rewrite Hlenv. case_bool_decide as Hn; wp_pures; [|iExists false; by iFrame].
      wp_load. wp_load. wp_pures. rewrite (wrap_id I64 (pg_first pg)); [|int_solve].
      case_bool_decide as Hlf; wp_pures; [|iExists false; by iFrame].
      wp_load. wp_load. wp_load. wp_pures. rewrite wrap_id; [|int_solve].
      iExists _. iSplit; [done|]. iFrame. iPureIntro. intros Hc%bool_decide_eq_true. injection Hlf. lia. }
    iIntros (v) "(%c & -> & %Hc & Hfirst & Hsv & Hlo & Hhi)". destruct c.
    { (* in place *)
      destruct (Hc eq_refl) as (Hn & -> & Hroom). destruct Hg' as [|Hg']; [done|].
      wp_pures. wp_load. wp_load. wp_load. wp_pures. rewrite wrap_id; [|int_solve].
      wp_apply wp_slice_take; [done|lia|]. wp_pures.
      wp_load. wp_load. wp_load. wp_pures. rewrite wrap_id; [|int_solve].
      wp_apply wp_slice_take; [done|lia|]. wp_pures. wp_store. wp_pures. wp_store. wp_pures.
      iDestruct (own_slice_zeros_extend _ _ _ _ (h - pg_first pg) with "Hvalues Hroom") as "[Hvalues Hroom]"; [lia|].
      iDestruct (own_slice_zeros_extend _ _ _ _ (h - pg_first pg) with "Hslots Hslotsroom") as "[Hslots Hslotsroom]"; [lia|].
      iEval (rewrite /own_beside) in "Hbeside".
      iDestruct "Hbeside" as "(Hnumber & Hsp & Hst & Hmem & Hruns & Hballots)".
      iApply ("HΦ" $! (grown pg (pg_first pg) h)). iSplitL.
      - iExists sp, (slice_cut sliceT sv 0 (h - pg_first pg)), (slice_cut byteT sl 0 (h - pg_first pg)), st,
          (replicate (Z.to_nat (pg_first pg - pg_first pg)) nil_slice ++ ss ++
           replicate (Z.to_nat (h - pg_first pg - length (pg_cells pg))) nil_slice),
          (slots ++ replicate (Z.to_nat (h - pg_first pg - length (pg_cells pg))) 0), table, mem.
        rewrite Z.sub_diag app_nil_l Hlenv Hlenl !fmap_app !fmap_replicate.
        iFrame "Hnumber Hfirst Hsp Hsv Hsl Hst Hmem Hruns Hvalues Hroom Hslotsroom Hballots".
        iSplit; [iPureIntro; by apply grown_ok|]. iSplit; [done|].
        iSplit; [iPureIntro; rewrite !slice_cut_cap //; lia|].
        iSplitL "Hslots"; [by rewrite /own_bytes fmap_app fmap_replicate|].
        iPoseProof (own_cells_grown _ _ _ (slots ++ replicate (Z.to_nat (h - pg_first pg - length (pg_cells pg))) 0) _ _ _ _ Hg Hn with "Hcells") as "H".
        { rewrite app_length replicate_length. lia. }
        { intros k x Hk. rewrite Z.sub_diag /=. by apply lookup_app_l_Some. }
        by rewrite Z.sub_diag.
      - iPureIntro. split_and!; [done|done|change (pg_first (grown pg (pg_first pg) h)) with (pg_first pg); lia..|].
        intros j Hj. by apply grown_held. }
    (* elsewhere *)
    clear Hc. wp_pures. wp_load. wp_load. wp_pures. rewrite wrap_id; [|int_solve].
    wp_alloc room as "Hr". wp_pures. wp_bind (If _ _ _).
    iApply (wpe_wand _ _ _ (λ v, ∃ r : Z, ⌜h - l ≤ r ≤ 256⌝ ∗ room ↦[b] #(int r) ∗
      (p +ₗ field_offset Page "first") ↦[b] #(int (pg_first pg)) ∗
      (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗ lo ↦[b] #(int l))%I with "[Hlo Hfirst Hsv Hr]").
    { wp_load. wp_load. wp_pures. rewrite (wrap_id I64 (pg_first pg)); [|int_solve].
      case_bool_decide as Hlf; wp_pures; last first.
      { iExists (h - l). iFrame. iPureIntro. lia. }
      change paxos.pageSize with 256.
      wp_load. wp_load. wp_pures. rewrite (wrap_id I64 (256 - l)); [|int_solve]. rewrite (wrap_id I64 (2 * _)); [|int_solve].
      wp_apply (wp_std_min with "[//]"). iIntros "_". wp_load. wp_apply (wp_std_max with "[//]"). iIntros "_".
      wp_store. wp_pures. iExists _. iFrame. iPureIntro. lia. }
    iIntros (_v1) "(%r & %Hr & Hr & Hfirst & Hsv & Hlo)". wp_pures.
    wp_load. wp_load. wp_load. wp_pures. rewrite wrap_id; [|int_solve].
    wp_apply (wp_make_slice_room with "[//]"); [lia|unfold max_elems; lia|]. iIntros (lv) "[Hnv Hnvroom]". wp_pures.
    wp_load. wp_load. wp_load. wp_pures. rewrite wrap_id; [|int_solve].
    wp_apply (wp_make_slice_room with "[//]"); [lia|unfold max_elems; lia|]. iIntros (ll) "[Hnl Hnlroom]". wp_pures.
    set (nv := Slice (LitLoc lv) (h - l) r). set (nl := Slice (LitLoc ll) (h - l) r).
    wp_bind (If _ _ _).
    iApply (wpe_wand _ _ _ (λ v, ∃ ss' slots',
      own_slice b nv sliceT (DfracOwn 1) (slice_val <$> ss') ∗ own_bytes b nl (DfracOwn 1) slots' ∗
      own_cells b ss' slots' table (pg_cells (grown pg l h)) ∗
      (p +ₗ field_offset Page "first") ↦[b] #(int (pg_first pg)) ∗
      (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗
      (p +ₗ field_offset Page "slots") ↦[b] slice_val sl ∗ lo ↦[b] #(int l))%I
      with "[Hnv Hnl Hfirst Hsv Hsl Hlo Hvalues Hslots]").
    { wp_load. wp_pures. rewrite Hlenv. case_bool_decide as Hn; wp_pures; last first.
      { iExists (replicate (Z.to_nat (h - l)) nil_slice), (replicate (Z.to_nat (h - l)) 0).
        rewrite /own_bytes !fmap_replicate. iFrame.
        iApply own_cells_fresh; [done|lia|rewrite replicate_length; lia]. }
      destruct Hg' as [|Hg']; [lia|]. set (a := Z.to_nat (pg_first pg - l)).
      assert (pg_first pg - l = a) as Ha by lia.
      wp_load. wp_load. wp_load. wp_pures. rewrite (wrap_id I64 (pg_first pg)); [|int_solve]. rewrite wrap_id; [|int_solve].
      wp_apply wp_slice_drop; [rewrite /slice_wf /max_elems /=; lia|simpl; lia|]. rewrite Ha.
      wp_apply (wp_copy_at _ _ _ nv sv _ a with "[$Hnv $Hvalues]").
      { rewrite fmap_length replicate_length Hss. lia. }
      iIntros "[Hnv _]". wp_pures.
      wp_load. wp_load. wp_load. wp_pures. rewrite (wrap_id I64 (pg_first pg)); [|int_solve]. rewrite wrap_id; [|int_solve].
      wp_apply wp_slice_drop; [rewrite /slice_wf /max_elems /=; lia|simpl; lia|]. rewrite Ha.
      wp_apply (wp_copy_at _ _ _ nl sl _ a with "[$Hnl $Hslots]").
      { rewrite fmap_length replicate_length Hslotslen. lia. }
      iIntros "[Hnl _]". wp_pures.
      iExists (replicate a nil_slice ++ ss ++ replicate (Z.to_nat (h - pg_first pg - length (pg_cells pg))) nil_slice),
        (replicate a 0 ++ slots ++ replicate (Z.to_nat (h - pg_first pg - length (pg_cells pg))) 0).
      rewrite !fmap_length Hss Hslotslen !take_replicate !drop_replicate.
      replace (a `min` Z.to_nat (h - l))%nat with a by lia.
      replace (Z.to_nat (h - l) - (a + length (pg_cells pg)))%nat with (Z.to_nat (h - pg_first pg - length (pg_cells pg))) by lia.
      rewrite /own_bytes !fmap_app !fmap_replicate. iFrame "Hnv Hnl Hfirst Hsv Hsl Hlo".
      iApply (own_cells_grown with "Hcells"); [done|lia| |].
      { rewrite !app_length !replicate_length Hslotslen. lia. }
      intros k x Hk. rewrite lookup_app_r; [|rewrite replicate_length; lia]. rewrite replicate_length.
      replace (Z.to_nat (pg_first pg - l) + k - a)%nat with k by lia. by apply lookup_app_l_Some. }
    iIntros (_v2) "(%ss' & %slots' & Hnv & Hnl & #Hcells' & Hfirst & Hsv & Hsl & Hlo)". wp_pures.
    wp_load. wp_apply (wp_to_int32_id with "[//]"); [lia|]. iIntros "_". wp_pures.
    wp_store. wp_pures. wp_store. wp_pures. wp_store. wp_pures.
    iEval (rewrite /own_beside) in "Hbeside".
    iDestruct "Hbeside" as "(Hnumber & Hsp & Hst & Hmem & Hruns & Hballots)".
    iApply ("HΦ" $! (grown pg l h)). iSplitL.
    - iExists sp, nv, nl, st, ss', slots', table, mem.
      iFrame "Hnumber Hfirst Hsp Hsv Hsl Hst Hmem Hruns Hnv Hnvroom Hnl Hnlroom Hballots Hcells'".
      iPureIntro. split_and!; [by apply grown_ok|done|done].
    - iPureIntro. split_and!; [done|done|change (pg_first (grown pg l h)) with l; lia..|].
      intros j Hj. by apply grown_held.
  Qed.
End cover.

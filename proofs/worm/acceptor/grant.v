(** * A page promises: internal/worm/paxos/page.go, grant *)
From iris.proofmode Require Import environments.
From ashlar.worm.acceptor Require Export read runs.
Local Open Scope Z_scope.

(** The page with other promises. *)
Definition with_runs (pg : page) (runs : list (ballot * Z)) : page :=
  Page (pg_number pg) runs (pg_first pg) (pg_cells pg).
Lemma with_runs_ok pg runs : page_ok pg → sorted_runs runs → good_runs runs → page_ok (with_runs pg runs).
Proof. by intros [???? Hc] Hs Hg. Qed.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty.

Section grant.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (p fresh : loc) (pg : page) (s : slice) (Φ : val → iProp Σ).
  Local Notation Page := paxos.page.
  Local Notation Promise := paxos.promise.

  Definition own_fresh b fresh (runs : list (ballot * Z)) : iProp Σ :=
    ∃ s, fresh ↦[b] slice_val s ∗ own_slice_full b s (structT Promise) (run_val <$> runs).

  (** The function [add] of [grant]. *)
  Local Notation add fresh := (λ: "end" "b_1",
     let: "start" := ref int64T #(int 0) in
     let: "n" := slice_len (![sliceT] #(LitLoc fresh)) in
     (if: #(int 0) < "n" then
        "start" <-[int64T]
          to_int I64
            (![int64T] ((slice_ref (structT Promise) (![sliceT] #(LitLoc fresh)) ("n" - #(int 1))).[Promise, "end"]))
      else #());;
     if: "end" ≤ ![int64T] "start" then
       #()
     else if: (#(int 0) < "n") &&
         (![structT wor.Ballot] ((slice_ref (structT Promise) (![sliceT] #(LitLoc fresh))
              ("n" - #(int 1))).[Promise, "ballot"]) =
            "b_1") then
       (slice_ref (structT Promise) (![sliceT] #(LitLoc fresh)) ("n" - #(int 1))).[Promise, "end"] <-[int64T]
         std.to_int32 "end"
     else
       #(LitLoc fresh) <-[sliceT]
         append_one (structT Promise) (![sliceT] #(LitLoc fresh)) ("b_1", (std.to_int32 "end", #())))%V.

  Lemma wp_add b fresh runs (e : Z) x : good_runs runs → 0 ≤ e ≤ page_size →
    {{{ own_fresh b fresh runs }}}
      (App (App (Val (add fresh)) (Val #(int e))) (Val (ballot_val x))) @ b; ⊤
    {{{ RET #(); own_fresh b fresh (add_run runs e x) }}}.
  Proof.
    iIntros (Hg He Φ) "(%s & Hfresh & Hs & Hcap) HΦ".
    iDestruct (own_slice_length with "Hs") as %[Hlen Hmax]. rewrite fmap_length in Hlen Hmax. unfold max_elems in Hmax.
    pose proof (last_end_nonneg _ Hg) as Hl0. pose proof (last_end_max _ Hg) as Hl1.
    wp_rec. wp_pures. wp_alloc start as "Hst". wp_load. wp_pures. rewrite Hlen.
    wp_bind (If _ _ _).
    iApply (wpe_wand _ _ _ (λ _, start ↦[b] #(int (last_end runs)) ∗ fresh ↦[b] slice_val s ∗
      own_slice b s (structT Promise) (DfracOwn 1) (run_val <$> runs))%I with "[Hst Hfresh Hs]").
    { case_bool_decide as Hn; wp_pures; last first.
      { destruct runs; [|simpl in Hn; lia]. iFrame. }
      rewrite wrap_id; [|int_solve]. destruct (last_is_Some runs) as [_ Hsome].
      destruct Hsome as [[y e'] Hlast]; [intros ->; simpl in Hn; lia|].
      wp_load. wp_apply (wp_run_end with "Hs"); [lia| |].
      { rewrite last_lookup in Hlast. by replace (Z.to_nat (length runs - 1)) with (pred (length runs)) by lia. }
      iIntros "Hs". wp_pures. wp_store. rewrite /last_end Hlast /= in Hl0 Hl1 |- *. rewrite wrap_id; [|int_solve]. wp_pures. iFrame. }
    iIntros (_v) "(Hst & Hfresh & Hs)". wp_pures. wp_load. wp_pures. rewrite /add_run.
    case_bool_decide as Hle; [rewrite (decide_True (P := e ≤ _)) //|rewrite (decide_False (P := e ≤ _)) //]; wp_pures.
    { iApply "HΦ". iExists s. iFrame. }
    wp_bind (If (Val _) _ (Val #false)).
    iApply (wpe_wand _ _ _ (λ v, ∃ c : bool, ⌜v = #c⌝ ∗
      ⌜if c then ∃ e', last runs = Some (x, e') else ∀ e', last runs ≠ Some (x, e')⌝ ∗ fresh ↦[b] slice_val s ∗
      own_slice b s (structT Promise) (DfracOwn 1) (run_val <$> runs))%I with "[Hfresh Hs]").
    { case_bool_decide as Hn; wp_pures; last first.
      { iExists false. iFrame. iPureIntro. split; [done|]. destruct runs; [done|simpl in Hn; lia]. }
      rewrite wrap_id; [|int_solve]. destruct (last_is_Some runs) as [_ Hsome].
      destruct Hsome as [[y e'] Hlast]; [intros ->; simpl in Hn; lia|].
      wp_load. wp_apply (wp_run_ballot with "Hs"); [lia| |].
      { rewrite last_lookup in Hlast. by replace (Z.to_nat (length runs - 1)) with (pred (length runs)) by lia. }
      iIntros "Hs". iApply (wp_ballot_eq b ⊤ y x []). iNext. iApply wpe_value. iExists _. iSplit; [done|]. iFrame.
      iPureIntro. rewrite Hlast. case_bool_decide; [subst; by eexists|naive_solver]. }
    iIntros (v) "(%c & -> & %Hc & Hfresh & Hs)". destruct c; wp_pures.
    - destruct Hc as [e' Hlast]. rewrite Hlast decide_True //.
      assert (length runs ≠ 0%nat) as Hn by (intros Hz%nil_length_inv; by subst).
      wp_apply (wp_to_int32_id with "[//]"); [lia|]. iIntros "_". wp_load. rewrite wrap_id; [|int_solve].
      rewrite last_lookup in Hlast.
      wp_apply (wp_slice_ref with "Hs"); [lia| |].
      { replace (Z.to_nat (length runs - 1)) with (pred (length runs)) by lia. by rewrite list_lookup_fmap Hlast. }
      iIntros (l) "[Hl Hs]". iEval (rewrite own_run) in "Hl". iDestruct "Hl" as "[Hx He]".
      wp_pures. wp_store. wp_pures. iApply "HΦ". iExists s. iFrame "Hfresh Hcap".
      iSpecialize ("Hs" $! (run_val (x, e)) with "[Hx He]").
      { iApply own_run. iSplitL "Hx"; [iExact "Hx"|iExact "He"]. }
      rewrite list_fmap_insert. by replace (Z.to_nat (length runs - 1)) with (pred (length runs)) by lia.
    - wp_apply (wp_to_int32_id with "[//]"); [lia|]. iIntros "_". wp_pures. wp_load.
      wp_apply (wp_append_one _ _ _ (structT Promise) _ (run_val (x, e)) with "[$Hs $Hcap]"); [done|]. iIntros (s') "Hs". wp_store. wp_pures.
      iApply "HΦ". iExists s'. iFrame "Hfresh".
      assert (match last runs with
        | Some (y, _) => if decide (y = x) then <[pred (length runs):=(y, e)]> runs else runs ++ [(x, e)]
        | None => runs ++ [(x, e)] end = runs ++ [(x, e)]) as ->.
      { destruct (last runs) as [[y e']|]; [|done]. rewrite decide_False //. intros ->. by destruct (Hc e'). }
      by rewrite fmap_app.
  Qed.

  Lemma wp_page__grant b p pg (lo hi : Z) x scratch vs : 0 ≤ lo ≤ hi → hi ≤ page_size → ballot_ok x →
    {{{ own_page b p pg ∗ own_slice_full b scratch (structT Promise) vs }}}
      paxos.page__grant #p #(int lo) #(int hi) (ballot_val x) (slice_val scratch) @ b; ⊤
    {{{ scratch' vs' runs, RET slice_val scratch';
        own_page b p (with_runs pg runs) ∗ own_slice_full b scratch' (structT Promise) vs' ∗
        ⌜∀ j, 0 ≤ j → (granted runs j).1 = granting (pg_runs pg) lo hi x j⌝ }}}.
  Proof.
    iIntros (Hlo Hhi Hx Φ) "[(%sp & %sv & %sl & %st & %ss & %slots & %table & %mem & %Hok & %Htable & %Hcap & Hnumber & Hfirst &
      Hsp & Hsv & Hsl & Hst & Hmem & [Hruns Hrunscap] & Hrest) Hscratch] HΦ".
    pose proof (runs_sorted _ Hok : sorted_runs _) as Hsorted. pose proof (runs_ok _ Hok : good_runs _) as Hgood.
    iDestruct (own_slice_length with "Hruns") as %[Hlen Hmax]. rewrite fmap_length in Hlen Hmax. unfold max_elems in Hmax.
    iDestruct (own_slice_wf with "Hruns") as %[Hwfp _].
    iAssert ⌜slice_wf scratch⌝%I as %Hwf. { iDestruct "Hscratch" as "[H _]". by iDestruct (own_slice_wf with "H") as %[? _]. }
    wp_rec. wp_pures. wp_apply wp_slice_take; [done|pose proof (proj1 Hwf); lia|].
    iDestruct (own_slice_reuse with "Hscratch") as "Hscratch". wp_alloc fresh as "Hfresh".
    iAssert (own_fresh b fresh []) with "[Hfresh Hscratch]" as "Hfresh". { iExists _. iFrame. }
    wp_pures. wp_load.
    lazymatch goal with |- context [RecV BAnon (BNamed "end") ?e] => set (addv := RecV BAnon (BNamed "end") e) end.
    assert (∀ runs (e : Z) y, good_runs runs → 0 ≤ e ≤ page_size →
      {{{ own_fresh b fresh runs }}} addv #(int e) (ballot_val y) @ b; ⊤ {{{ RET #(); own_fresh b fresh (add_run runs e y) }}}) as Hadd.
    { intros. by apply wp_add. }
    clearbody addv. wp_pures. rewrite Hlen.
    wp_apply (wp_range_simple (λ m, ∃ runs, ⌜runs_say runs (granting (pg_runs pg) lo hi x) ∧
        last_end runs = last_end (take (Z.to_nat m) (pg_runs pg))⌝ ∗ own_fresh b fresh runs ∗
        own_slice b sp (structT Promise) (DfracOwn 1) (run_val <$> pg_runs pg))%I with "[Hfresh Hruns] []"); [lia|int_solve| | |].
    { iExists []. iFrame. iPureIntro. split; [|done]. split_and!; [by intros ?????|by intros ???|]. intros j Hj. rewrite /last_end /= in Hj. lia. }
    { iIntros "!>" (m Hm) "(%runs & [%Hsay %Hlast] & Hfresh & Hruns)".
      destruct (lookup_lt_is_Some_2 (pg_runs pg) (Z.to_nat m)) as [r Hr]; [lia|].
      pose proof (Hgood _ _ Hr) as [Hry Hre].
      destruct (add_turn_says _ _ _ _ x _ r Hsorted Hgood Hx Hlo Hhi Hr Hsay Hlast) as [Hsay' Hlast'].
      replace (S (Z.to_nat m)) with (Z.to_nat (m + 1)) in Hlast' by lia.
      wp_pures. wp_apply (wp_slice_get with "Hruns"); [lia|by rewrite list_lookup_fmap Hr|]. iIntros "Hruns". wp_pures.
      rewrite (wrap_id I64 r.2); [|int_solve].
      assert (good_runs (add_run runs (r.2 `min` lo) r.1)) as Hg1.
      { eapply add_run_good; [by apply Hsay|done|lia]. }
      wp_apply (wp_std_min with "[//]"). iIntros "_".
      wp_apply (Hadd with "Hfresh"); [by apply Hsay|lia|]. iIntros "Hfresh". wp_pures.
      wp_apply (wp_Ballot__Less with "[//]"); [done..|]. iIntros "_". rewrite /add_turn in Hsay' Hlast'.
      case_bool_decide as Hless; [rewrite decide_True // in Hsay' Hlast'|rewrite decide_False // in Hsay' Hlast']; wp_pures.
      - wp_apply (wp_std_min with "[//]"). iIntros "_".
        wp_apply (Hadd with "Hfresh"); [done|lia|]. iIntros "Hfresh". wp_pures.
        wp_apply (Hadd with "Hfresh"); [eapply add_run_good; [done|done|lia]|lia|]. iIntros "Hfresh". iExists _. iFrame. done.
      - wp_apply (Hadd with "Hfresh"); [done|lia|]. iIntros "Hfresh". iExists _. iFrame. done. }
    iIntros "(%runs & [%Hsay %Hlast] & Hfresh & Hruns)". wp_pures.
    rewrite Nat2Z.id firstn_all in Hlast.
    destruct (add_rest_says _ _ _ _ x Hsorted Hgood Hx Hlo Hhi Hsay Hlast) as (Hs' & Hg' & Hall).
    wp_apply (Hadd _ lo zero_ballot with "Hfresh"); [by apply Hsay|lia|]. iIntros "Hfresh". wp_pures.
    wp_apply (Hadd with "Hfresh"); [eapply add_run_good; [by apply Hsay|done|lia]|lia|]. iIntros "(%s & Hfresh & Hs & Hscap)". wp_pures.
    wp_load. wp_load. wp_apply wp_slice_take; [done|pose proof (proj1 Hwfp); lia|].
    iDestruct (own_slice_reuse _ sp with "[$Hruns $Hrunscap]") as "Hruns".
    wp_apply (wp_append_slice with "[$Hruns $Hs]"). iIntros (sp') "[Hruns Hs]". wp_store. wp_pures. wp_load. wp_pures.
    set (all := add_run (add_run runs lo zero_ballot) hi x) in *.
    iApply ("HΦ" $! s (run_val <$> all) all). iFrame "Hs Hscap". iSplitL; [|done].
    iExists sp', sv, sl, st, ss, slots, table, mem. iFrame "Hnumber Hfirst Hsp Hsv Hsl Hst Hmem Hruns Hrest".
    iPureIntro. split_and!; [by apply with_runs_ok|done|done].
  Qed.
End grant.

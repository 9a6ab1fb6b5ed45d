(** * Walking over registers that are alike: internal/worm/paxos, page.piece, segment.walk and show *)
From iris.proofmode Require Import environments.
From ashlar.golib Require Export control.
From ashlar.worm.acceptor Require Export reply.
Local Open Scope Z_scope.

(** A run of promises says the same of all its registers. *)
Lemma granted_run runs i j : i < page_size → i ≤ j < (granted runs i).2 →
  i < (granted runs i).2 ∧ granted runs j = granted runs i.
Proof.
  intros Hi. induction runs as [|[x e] runs IH]; simpl; [done|].
  case_decide as Hie; simpl; intros Hj; [by rewrite decide_True; [|lia]|].
  rewrite decide_False; [|lia]. by apply IH.
Qed.
Lemma granted_end runs i : i < page_size → i < (granted runs i).2.
Proof. intros Hi. induction runs as [|[x e] runs IH]; simpl; [done|]. by case_decide. Qed.
(** Registers of a page that hold nothing, in one run. *)
Lemma page_alike pg i j : i < page_size → i ≤ j < (granted (pg_runs pg) i).2 →
  held pg i = None → held pg j = None → promise_of pg j = promise_of pg i.
Proof. intros Hi Hj H1 H2. rewrite /promise_of H1 H2. by rewrite (proj2 (granted_run _ _ _ Hi Hj)). Qed.

(** Where no page is. *)
Lemma register_of_blank pgs j : page_at pgs (j / page_size) = None → register_of pgs j = blank.
Proof. intros Hj. by rewrite /register_of Hj. Qed.
Lemma page_at_some pgs n pg : page_at pgs n = Some pg → ∃ k : nat, pgs !! k = Some pg.
Proof.
  induction pgs as [|x pgs IH]; simpl; [done|]. case_decide; [intros [= ->]; by exists 0%nat|].
  intros [k Hk]%IH. by exists (S k).
Qed.

(** What a server says of a register that is read. *)
Definition shown (r : register) : answer :=
  Answer wor.StatusOK (promised r) (bool_decide (is_Some (accepted r))) (held_ballot (accepted r)) (snd <$> accepted r).

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_page own_slice.

Section walk.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (l p : loc) (pgs : list page) (s : slice) (Φ : val → iProp Σ).
  Local Notation Page := paxos.page.

  (** Registers from [i] on, below the result, are alike. *)
  Lemma wp_page__piece b p pg (i limit : Z) : 0 ≤ i < limit → limit ≤ page_size →
    {{{ own_page b p pg }}}
      paxos.page__piece #p #(int i) #(int limit) @ b; ⊤
    {{{ e, RET #(int e); own_page b p pg ∗ ⌜i < e ≤ limit⌝ ∗
        ⌜∀ j, i ≤ j < e → held pg j = held pg i ∧ promise_of pg j = promise_of pg i⌝ }}}.
  Proof.
    iIntros (Hi Hlimit Φ) "Hp HΦ". iDestruct (own_page_ok with "Hp") as %Hok. wp_rec. wp_pures.
    wp_apply (wp_page__accepted with "Hp"); [lia|]. iIntros (s) "[Hp #Hv]". wp_pures.
    iDestruct (own_value_nil with "Hv") as %Hnil.
    destruct (held pg i) as [[y v]|] eqn:Hheld; simpl in Hnil.
    { rewrite bool_decide_false; [|intros [= Hs]; by apply Hnil in Hs]. cbn [negb]. wp_pures. rewrite (wrap_id I64); [|int_solve].
      iApply ("HΦ" $! (i + 1)). iFrame "Hp". iPureIntro. split; [lia|]. intros j Hj. replace j with i by lia. done. }
    rewrite bool_decide_true; [|by rewrite (proj2 Hnil)]. cbn [negb]. wp_pures.
    wp_apply (wp_page__granted with "Hp"); [int_solve|]. iIntros "Hp". wp_pures.
    pose proof (granted_end (pg_runs pg) i ltac:(lia)) as Hge.
    wp_alloc el as "He". wp_pures. wp_load. wp_apply (wp_std_min with "[//]"). iIntros "_". wp_store. wp_pures.
    set (e := (granted (pg_runs pg) i).2 `min` limit).
    iDestruct (own_page_window with "Hp") as (sv sl st ss slots table) "(#Hcells & Hfirst & Hsv & Hsl & Hst & Hvalues & Hslots & Hballots & Hclose)".
    pose proof (window_ok _ Hok) as [Hfirst0 Hwindow].
    iDestruct (own_cells_length with "Hcells") as %[Hss Hslotslen].
    iDestruct (own_slice_length with "Hvalues") as %[Hlen _]. rewrite fmap_length Hss in Hlen.
    wp_load. wp_pures. rewrite (wrap_id I64 (pg_first pg)); [|int_solve].
    wp_apply (wp_std_max with "[//]"). iIntros "_". wp_alloc jl as "Hj". wp_pures.
    assert (∀ j, j < pg_first pg → held pg j = None) as Hbefore.
    { intros j Hj. rewrite /held decide_False //. lia. }
    assert (∀ j, pg_first pg + length (pg_cells pg) ≤ j → held pg j = None) as Hafter.
    { intros j Hj. rewrite /held. case_decide; [|done]. rewrite lookup_ge_None_2 //. lia. }
    wp_apply (wp_for_loop
      (∃ j, ⌜i `max` pg_first pg ≤ j⌝ ∗ ⌜j ≤ i `max` pg_first pg ∨ j ≤ e⌝ ∗ ⌜∀ k, i ≤ k < j → held pg k = None⌝ ∗ jl ↦[b] #(int j) ∗
        el ↦[b] #(int e) ∗ (p +ₗ field_offset Page "first") ↦[b] #(int (pg_first pg)) ∗
        (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗
        own_slice b sv sliceT (DfracOwn 1) (slice_val <$> ss))
      (λ o, ∃ j, ⌜i < j ≤ e⌝ ∗ ⌜∀ k, i ≤ k < j → held pg k = None⌝ ∗
        ⌜o = InjRV (InjRV #(int j)) ∨ o = go_on ∧ j = e⌝ ∗ el ↦[b] #(int e) ∗
        (p +ₗ field_offset Page "first") ↦[b] #(int (pg_first pg)) ∗
        (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗
        own_slice b sv sliceT (DfracOwn 1) (slice_val <$> ss))%I
      with "[Hj He Hfirst Hsv Hvalues] []").
    { iExists (i `max` pg_first pg). iFrame. iPureIntro. split_and!; [lia|lia|]. intros k Hk.
      destruct (decide (k = i)) as [->|]; [done|]. apply Hbefore. lia. }
    { iIntros "!> (%j & %Hj & %Hje & %Hnone & Hj & He & Hfirst & Hsv & Hvalues)".
      wp_load. wp_load. wp_pures.
      case_bool_decide as Hlt; wp_pures; last first.
      { iExists false. iSplit; [done|]. iExists e. iFrame. iPureIntro. split_and!; [lia|lia| |by right].
        intros k Hk. apply Hnone. lia. }
      wp_load. wp_load. wp_load. wp_pures. rewrite (wrap_id I64 (pg_first pg)); [|int_solve]. rewrite (wrap_id I64 (j - _)); [|int_solve].
      rewrite Hlen. iExists _. iSplit; [done|]. case_bool_decide as Hin; last first.
      { iExists e. iFrame. iPureIntro. split_and!; [lia|lia| |by right].
        intros k Hk. destruct (decide (k < j)); [apply Hnone; lia|]. apply Hafter. lia. }
      wp_pures. wp_load. wp_load. wp_load. wp_pures. rewrite (wrap_id I64 (pg_first pg)); [|int_solve]. rewrite (wrap_id I64 (j - _)); [|int_solve].
      destruct (lookup_lt_is_Some_2 ss (Z.to_nat (j - pg_first pg))) as [sj Hsj]; [lia|].
      destruct (lookup_lt_is_Some_2 (pg_cells pg) (Z.to_nat (j - pg_first pg))) as [c Hc]; [lia|].
      iDestruct (own_cells_lookup with "Hcells") as "[Hvj _]"; [done..|]. iDestruct (own_value_nil with "Hvj") as %Hnilj.
      assert (held pg j = c) as Hhj by (rewrite /held decide_True; [|lia]; by rewrite Hc).
      wp_apply (wp_slice_get with "Hvalues"); [lia|by rewrite list_lookup_fmap Hsj|]. iIntros "Hvalues". wp_pures.
      destruct c as [[y v]|]; simpl in Hnilj.
      - rewrite bool_decide_false; [|intros [= Hs]; by apply Hnilj in Hs]. cbn [negb]. wp_pures. wp_load. wp_pures.
        iRight. iRight. iExists #(int j). iSplit; [done|]. iExists j. iFrame. iPureIntro. split_and!; [|lia|done|by left].
        destruct (decide (j = i)) as [->|]; [congruence|lia].
      - rewrite bool_decide_true; [|by rewrite (proj2 Hnilj)]. cbn [negb]. wp_pures. iLeft. iSplit; [by iLeft|].
        wp_pures. wp_load. wp_store. wp_pures. rewrite (wrap_id I64); [|int_solve]. iExists (j + 1). iFrame. iPureIntro. split_and!; [lia|lia|].
        intros k Hk. destruct (decide (k = j)) as [->|]; [done|]. apply Hnone. lia. }
    iIntros (o) "(%j & %Hj & %Hnone & %Ho & He & Hfirst & Hsv & Hvalues)".
    iDestruct ("Hclose" with "Hfirst Hsv Hsl Hst Hvalues Hslots Hballots") as "Hp".
    assert (∀ k, i ≤ k < j → held pg k = None ∧ promise_of pg k = promise_of pg i) as Hsame.
    { intros k Hk. split; [by apply Hnone|]. apply page_alike; [lia|lia|done|by apply Hnone]. }
    destruct Ho as [->|[-> ->]]; wp_pures; [|wp_load; wp_pures]; iApply "HΦ"; iFrame "Hp"; iPureIntro; (split; [lia|done]).
  Qed.

  (** The page of register [i], or nil. *)
  Definition own_visited b (pl : base_lit) pgs (i : Z) : iProp Σ :=
    match page_at pgs (i / page_size) with
    | None => ⌜pl = LitNull⌝
    | Some pg => ∃ p : loc, ⌜pl = LitLoc p⌝ ∗ own_page b p pg
    end.

  (** [visit] is called with registers that are alike.  [I i] holds before register [i]; where it
      stops, [Q i] does. *)
  Lemma wp_segment__walk (I Q : Z → iProp Σ) b lit pgs (lo hi : Z) (visit : val) Φ : 0 ≤ lo ≤ hi → hi < 2 ^ 32 →
    own_segment b lit pgs -∗ I lo -∗
    □ (∀ pl (i e : Z), ⌜lo ≤ i < e⌝ -∗ ⌜e ≤ hi⌝ -∗ ⌜∀ j, i ≤ j < e → register_of pgs j = register_of pgs i⌝ -∗
        own_visited b pl pgs i -∗ I i -∗
        WP visit #pl #(int i) #(int e) @ b; ⊤ {{ v, ∃ go : bool, ⌜v = #go⌝ ∗ own_visited b pl pgs i ∗ if go then I e else Q i }}) -∗
    (∀ i : Z, ⌜lo ≤ i ≤ hi⌝ -∗ own_segment b lit pgs -∗ (⌜i = hi⌝ ∗ I hi ∨ Q i) -∗ Φ #(int i)) -∗
    WP paxos.segment__walk #lit #(int lo) #(int hi) visit @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hlo Hhi) "Hseg HI #Hvisit HΦ". wp_rec. wp_pures. wp_alloc lol as "Hlo". wp_pures.
    wp_apply (wp_for_loop (∃ i, ⌜lo ≤ i ≤ hi⌝ ∗ lol ↦[b] #(int i) ∗ own_segment b lit pgs ∗ I i)
      (λ o, ∃ i, ⌜lo ≤ i ≤ hi⌝ ∗ own_segment b lit pgs ∗
        (⌜o = go_on ∧ i = hi⌝ ∗ lol ↦[b] #(int i) ∗ I hi ∨ ⌜o = InjRV (InjRV #(int i))⌝ ∗ Q i))%I
      with "[Hlo Hseg HI] []").
    { iExists lo. iFrame. iPureIntro. lia. }
    { iIntros "!> (%i & %Hi & Hlo & Hseg & HI)". wp_load. loop_cond as Hlt; last first.
      { assert (i = hi) as -> by lia. iExists hi. iFrame "Hseg". iSplit; [iPureIntro; lia|]. iLeft. by iFrame. }
      wp_pures. wp_apply (wp_ref_zero with "[//]"). iIntros (pp) "Hpp".
      iAssert (pp ↦[b] #null)%I with "[Hpp]" as "Hpp"; [iExact "Hpp"|]. wp_pures. wp_load. wp_pures.
      change paxos.pageSize with 256. rewrite Z.quot_div_nonneg; [|lia..].
      assert (0 ≤ i / 256 < 2 ^ 24 ∧ i / 256 * 256 ≤ i < i / 256 * 256 + 256) as [Hn Hbase] by (Z.to_euclidean_division_equations; lia).
      rewrite (wrap_id I64 (i / 256)); [|int_solve]. set (n := i / 256) in *. wp_alloc el as "He". wp_pures.
      (* the page, and up to where there is none *)
      wp_bind (If _ _ _).
      iApply (wpe_wand _ _ _ (λ _, ∃ pl e, pp ↦[b] #pl ∗ el ↦[b] #(int e) ∗ own_visited b pl pgs i ∗
        (own_visited b pl pgs i -∗ own_segment b lit pgs) ∗
        ⌜page_at pgs n = None → i < e ≤ hi ∧ ∀ j, i ≤ j < e → register_of pgs j = blank⌝)%I with "[Hpp He Hseg]").
      { iClear "Hvisit". rewrite /own_visited -/n. iDestruct "Hseg" as "[[-> ->]|(%l & -> & Hseg)]"; wp_expr_simpl; wp_pures.
        { iExists LitNull, hi. iFrame. simpl. iSplit; [done|]. iSplit; [iIntros "_"; by iLeft|]. iPureIntro. intros _. split; [lia|done]. }
        rewrite (wrap_id U32 n); [|int_solve].
        wp_apply (wp_segment__find with "Hseg"). iIntros (k) "(Hseg & %Hk & %Hfound & %Hplace)". wp_pures.
        iDestruct "Hseg" as (s ps recent Hrecent) "(Hpages & Hr & [Hs Hcap] & Hps)".
        iDestruct (own_pages_length with "Hps") as %Hlenp.
        iDestruct (own_slice_length with "Hs") as %[Hlen Hmax]. rewrite fmap_length Hlenp in Hlen Hmax.
        iAssert ⌜sorted_pages pgs⌝%I as %Hsorted. { by iDestruct "Hps" as "[$ _]". }
        wp_load. wp_pures. rewrite Hlen. case_bool_decide as Hkl; wp_pures; last first.
        { assert (∀ m, n ≤ m → page_at pgs m = None) as Hnone.
          { intros m Hm. apply page_at_none. intros j pg Hj Heq. apply lookup_lt_Some in Hj as Hjl.
            pose proof (proj2 (Hplace j pg Hj) ltac:(lia)). lia. }
          rewrite Hnone; [|lia]. iExists LitNull, hi. iFrame "Hpp He". iSplit; [done|]. iSplit.
          - iIntros "_". iRight. iExists l. iSplit; [done|]. iExists s, ps, recent. iFrame. done.
          - iPureIntro. intros _. split; [lia|]. intros j Hj. apply register_of_blank, Hnone.
            unfold n. apply Z.div_le_mono; lia. }
        destruct (lookup_lt_is_Some_2 ps (Z.to_nat k)) as [p Hp]; [lia|].
        wp_load. wp_apply (wp_slice_get with "Hs"); [lia|by rewrite list_lookup_fmap Hp|]. iIntros "Hs". rewrite {2}/loc_val.
        wp_store. wp_pures. wp_load. wp_pures.
        iDestruct (own_pages_acc with "Hps") as (pg) "(%Hpg & Hpage & Hps)"; [done|].
        iDestruct (own_page_ok with "Hpage") as %Hok. pose proof (number_ok _ Hok) as Hnum.
        iDestruct (own_page_number with "Hpage") as "[Hnumber Hpage]". wp_load. wp_pures.
        rewrite (wrap_id I64 (pg_number pg)); [|int_solve].
        destruct (decide (pg_number pg = n)) as [Heq|Hne].
        { rewrite bool_decide_true; [|by rewrite Heq]. cbn [negb]. wp_pures. rewrite (page_at_lookup _ _ (Z.to_nat k) pg) //.
          iDestruct ("Hpage" with "Hnumber") as "Hpage". iExists (LitLoc p), hi. iFrame "Hpp He".
          iSplitL "Hpage"; [iExists p; by iFrame|]. iSplitL; [|by iPureIntro].
          iIntros "(%p' & %Hp' & Hpage)". injection Hp' as <-. iRight. iExists l. iSplit; [done|]. iExists s, ps, recent. iFrame.
          iSplit; [done|]. by iApply "Hps". }
        rewrite bool_decide_false; [|congruence]. cbn [negb]. wp_pures. wp_load. wp_pures. wp_load. wp_pures.
        rewrite (wrap_id I64 (pg_number pg)); [|int_solve]. rewrite (wrap_id I64 (_ * 256)); [|int_solve]. wp_load.
        wp_apply (wp_std_min with "[//]"). iIntros "_". wp_pures. wp_store. wp_pures. wp_store. wp_pures.
        iDestruct ("Hpage" with "Hnumber") as "Hpage".
        assert (n < pg_number pg) as Hgt.
        { destruct (decide (pg_number pg < n)) as [Hl%(Hplace _ _ Hpg)|]; lia. }
        assert (∀ m, n ≤ m < pg_number pg → page_at pgs m = None) as Hnone.
        { intros m Hm. apply page_at_none. intros j q Hj Hq.
          destruct (Nat.lt_trichotomy j (Z.to_nat k)) as [Hjk|[->|Hjk]].
          - pose proof (proj2 (Hplace j q Hj) Hjk). lia.
          - simplify_eq. lia.
          - pose proof (Hsorted _ _ _ _ Hjk Hpg Hj). lia. }
        rewrite Hnone; [|lia]. iExists LitNull, (hi `min` (pg_number pg * 256)). iFrame "Hpp He". iSplit; [done|]. iSplit.
        - iIntros "_". iRight. iExists l. iSplit; [done|]. iExists s, ps, recent. iFrame. iSplit; [done|]. by iApply "Hps".
        - iPureIntro. intros _. split; [lia|]. intros j Hj. apply register_of_blank, Hnone.
          unfold n. split; [apply Z.div_le_mono; lia|]. apply Z.div_lt_upper_bound; lia. }
      iIntros (_v) "(%pl & %e & Hpp & He & Hvis & Hseg & %Hnone)". wp_pures. wp_load. wp_pures.
      (* the registers of the page that are alike *)
      wp_bind (If _ _ _).
      iApply (wpe_wand _ _ _ (λ _, ∃ e, pp ↦[b] #pl ∗ el ↦[b] #(int e) ∗ lol ↦[b] #(int i) ∗ own_visited b pl pgs i ∗
        ⌜i < e ≤ hi ∧ ∀ j, i ≤ j < e → register_of pgs j = register_of pgs i⌝)%I with "[Hpp He Hvis Hlo]").
      { iClear "Hvisit". rewrite /own_visited -/n. destruct (page_at pgs n) as [pg|] eqn:Hpg.
        - iDestruct "Hvis" as (p) "[-> Hpage]". wp_expr_simpl. wp_pures. rewrite (wrap_id I64 (n * 256)); [|int_solve].
          rewrite (wrap_id I64 (hi - _)); [|int_solve]. wp_apply (wp_std_min with "[//]"). iIntros "_".
          wp_load. wp_load. wp_pures. rewrite (wrap_id I64 (i - _)); [|int_solve].
          wp_apply (wp_page__piece with "Hpage"); [lia|lia|]. iIntros (e') "(Hpage & %He' & %Halike)". wp_pures.
          rewrite (wrap_id I64 (n * 256 + e')); [|int_solve]. wp_store. wp_pures.
          iExists (n * 256 + e'). iFrame "Hpp He Hlo". iSplitL; [iExists p; by iFrame|]. iPureIntro. split; [lia|]. intros j Hj.
          assert (j / 256 = n) as Hjn by (symmetry; apply (Z.div_unique _ _ _ (j - n * 256)); lia).
          rewrite /register_of Hjn -/n Hpg.
          assert (j `mod` 256 = j - n * 256) as -> by (rewrite Z.mod_eq; lia).
          assert (i `mod` 256 = i - n * 256) as -> by (rewrite Z.mod_eq; lia).
          destruct (Halike (j - n * 256)) as [-> ->]; [lia|done].
        - iDestruct "Hvis" as %->. wp_expr_simpl. wp_pures. iExists e. iFrame. iPureIntro. split; [done|].
          destruct (Hnone eq_refl) as [He Hblank]. split; [lia|]. intros j Hj. by rewrite !Hblank; [|lia..]. }
      iIntros (_v2) "(%e' & Hpp & He & Hlo & Hvis & %He' & %Halike)". wp_pures. wp_load. wp_load. wp_load.
      wp_bind (App (App (App (Val visit) _) _) _).
      iApply (wpe_wand with "(Hvisit [%] [%] [%] Hvis HI)"); [lia|lia|done|].
      iIntros (v) "(%go & -> & Hvis & HI)". iDestruct ("Hseg" with "Hvis") as "Hseg". destruct go; wp_pures.
      - wp_load. wp_store. wp_pures. iLeft. iSplit; [by iLeft|]. wp_pures. iExists e'. iFrame. iPureIntro. lia.
      - wp_load. wp_pures. iRight. iRight. iExists #(int i). iSplit; [done|]. iExists i. iFrame "Hseg".
        iSplit; [iPureIntro; lia|]. iRight. by iFrame. }
    iIntros (o) "(%i & %Hi & Hseg & [([-> ->] & Hlo & HI)|[-> HQ]])"; wp_pures.
    - wp_load. wp_pures. iApply ("HΦ" with "[//] Hseg"). iLeft. by iFrame.
    - iApply ("HΦ" with "[//] Hseg"). by iRight.
  Qed.

  Lemma wp_show b pl pgs (i e : Z) : 0 ≤ i < e → e < 2 ^ 32 →
    {{{ own_visited b pl pgs i }}}
      paxos.show #pl #(int i) #(int e) @ b; ⊤
    {{{ s, RET (run_of (Run (e - i) (shown (register_of pgs i)) s)); own_visited b pl pgs i ∗
        own_value b s (said_value (shown (register_of pgs i))) }}}.
  Proof.
    iIntros (Hi He Φ) "Hvis HΦ". wp_rec. wp_pures. rewrite (wrap_id I64); [|int_solve]. rewrite (wrap_id U32); [|int_solve].
    wp_alloc run as "(Hcount & Hstatus & Hpromised & Hwritten & Haccepted & Hvalue & _)". wp_pures.
    rewrite /own_visited /register_of. destruct (page_at pgs (i / 256)) as [pg|] eqn:Hpg; last first.
    { iDestruct "Hvis" as %->. wp_expr_simpl. wp_pures.
      wp_apply (wp_load_answer _ _ _ _ (shown blank) nil_slice
        with "[$Hcount $Hstatus $Hpromised $Hwritten $Haccepted $Hvalue]"). iIntros "_". by iApply ("HΦ" $! nil_slice). }
    iDestruct "Hvis" as (p) "[-> Hpage]". wp_expr_simpl. wp_pures. change paxos.pageSize with 256.
    rewrite Z.rem_mod_nonneg; [|lia..]. assert (0 ≤ i `mod` 256 < 256) as Hm by (apply Z.mod_pos_bound; lia).
    rewrite (wrap_id I64); [|int_solve]. set (j := i `mod` 256) in *.
    wp_apply (wp_page__promised with "Hpage"); [done|]. iIntros "Hpage". wp_pures.
    wp_apply (wp_store_ty with "Hpromised"); [done|]. iIntros "Hpromised". wp_pures.
    wp_apply (wp_page__accepted with "Hpage"); [done|]. iIntros (s) "[Hpage #Hv]". wp_pures.
    wp_apply (wp_store_ty with "Haccepted"); [done|]. iIntros "Haccepted". wp_pures. wp_store. wp_pures. wp_load. wp_pures. wp_store. wp_pures.
    iDestruct (own_value_nil with "Hv") as %Hnil.
    assert (negb (bool_decide (sl_ptr s = LitNull)) = bool_decide (is_Some (held pg j))) as ->.
    { destruct (held pg j) as [c|]; simpl in Hnil.
      - rewrite bool_decide_false; [by rewrite bool_decide_true; [|eauto]|]. intros [= Hs]. by apply Hnil in Hs.
      - rewrite bool_decide_true; [|by rewrite (proj2 Hnil)]. by rewrite bool_decide_false; [|intros [??]]. }
    wp_apply (wp_load_answer _ _ _ _ (shown (Register (promise_of pg j) (held pg j))) s
      with "[$Hcount $Hstatus $Hpromised $Hwritten $Haccepted $Hvalue]"). iIntros "_".
    iApply ("HΦ" $! s). iFrame "Hv". iExists p. by iFrame.
  Qed.
End walk.

(** * The registers of an acceptor change: internal/worm/paxos, Acceptor.accept and Acceptor.promise *)
From iris.proofmode Require Import environments.
From ashlar.golib Require Export map insert.
From ashlar.worm.acceptor Require Export lookup changes accept grant.
Local Open Scope Z_scope.

Lemma register_of_set pgs pg0 pg j : page_at pgs (pg_number pg) = Some pg0 →
  register_of (set_page pgs pg) j =
  if decide (j / page_size = pg_number pg) then Register (promise_of pg (j `mod` page_size)) (held pg (j `mod` page_size))
  else register_of pgs j.
Proof.
  intros Hpg. rewrite /register_of page_at_set. case_decide as Hj.
  - rewrite Hj Hpg decide_True //. by apply page_at_number in Hpg.
  - destruct (page_at pgs (j / page_size)) as [q|] eqn:Hq; [|done]. apply page_at_number in Hq.
    rewrite decide_False //. congruence.
Qed.
Lemma page_of_accepting pg pg' i x v : page_ok pg → ballot_ok x → pg_runs pg' = pg_runs pg →
  held pg' i = Some (x, v) → (∀ y w, held pg i = Some (y, w) → number y ≤ number x) →
  Register (promise_of pg' i) (held pg' i) = accepting (Register (promise_of pg i) (held pg i)) x v.
Proof.
  intros Hok Hx Hr Hv Hle. rewrite /accepting /raised /promise_of /= Hv Hr. f_equal.
  destruct (held pg i) as [[y w]|] eqn:Hh; [|done]. specialize (Hle y w eq_refl).
  pose proof (held_ok _ _ _ _ Hok Hh) as Hy.
  repeat case_decide; try done; try lia. apply number_inj; [done|done|lia].
Qed.
Lemma page_of_promising pg runs i lo hi x : page_ok pg → ballot_ok x →
  (granted runs i).1 = granting (pg_runs pg) lo hi x i →
  Register (promise_of (with_runs pg runs) i) (held (with_runs pg runs) i) =
  if decide (lo ≤ i < hi) then promising (Register (promise_of pg i) (held pg i)) x
  else Register (promise_of pg i) (held pg i).
Proof.
  intros Hok Hx Hg. change (held (with_runs pg runs) i) with (held pg i).
  assert (promise_of (with_runs pg runs) i = match held pg i with
    | Some (y, _) => if decide (number (granted runs i).1 < number y) then y else (granted runs i).1
    | None => (granted runs i).1 end) as -> by done.
  rewrite Hg /granting /promise_of /promising /raised /=.
  destruct (decide (lo ≤ i < hi)) as [Hin|Hin].
  - f_equal. destruct (held pg i) as [[y w]|] eqn:Hh; [pose proof (held_ok _ _ _ _ Hok Hh) as Hy|];
      repeat case_decide; try done; try lia; try tauto.
    apply number_inj; [done|done|lia].
  - f_equal. rewrite (decide_False (P := lo ≤ i < hi ∧ _)); [|tauto]. done.
Qed.

(** ** A page that nothing was said of *)
Definition empty_page (n : Z) : page := Page n [] 0 [].
Definition add_page (pgs : list page) (k : nat) (n : Z) : list page := take k pgs ++ [empty_page n] ++ drop k pgs.
Definition place_of (pgs : list page) (k : nat) (n : Z) : Prop :=
  (∀ i pg, pgs !! i = Some pg → pg_number pg < n ↔ (i < k)%nat) ∧ ∀ i pg, pgs !! i = Some pg → pg_number pg ≠ n.

Lemma page_at_app pgs pgs' n : page_at (pgs ++ pgs') n = match page_at pgs n with Some pg => Some pg | None => page_at pgs' n end.
Proof. induction pgs as [|x pgs IH]; simpl; [done|]. by case_decide. Qed.
Lemma page_at_add pgs k n m : place_of pgs k n →
  page_at (add_page pgs k n) m = if decide (m = n) then Some (empty_page n) else page_at pgs m.
Proof.
  intros [_ Hne]. rewrite /add_page page_at_app. case_decide as Hm.
  - subst m. rewrite page_at_none; last first.
    { intros i pg Hi. apply lookup_take_Some in Hi as [Hi _]. by eapply Hne. }
    simpl. by rewrite decide_True.
  - simpl. rewrite (decide_False (P := n = m)); [|congruence]. by rewrite -page_at_app take_drop.
Qed.
Lemma add_page_sorted pgs k n : sorted_pages pgs → place_of pgs k n → (k ≤ length pgs)%nat → sorted_pages (add_page pgs k n).
Proof.
  intros Hs [Hlow Hne] Hk i j x y Hij Hi Hj.
  assert (∀ a z, add_page pgs k n !! a = Some z →
    (a < k)%nat ∧ pgs !! a = Some z ∨ a = k ∧ z = empty_page n ∨ (k < a)%nat ∧ pgs !! (a - 1)%nat = Some z) as Hcase.
  { intros a z. rewrite /add_page. intros [Ha|[Ha Hz]]%lookup_app_Some.
    - left. apply lookup_take_Some in Ha as [? ?]. done.
    - rewrite take_length in Ha Hz. replace (k `min` length pgs)%nat with k in * by lia.
      destruct (decide (a = k)) as [->|Hak]; [rewrite Nat.sub_diag in Hz; injection Hz as <-; auto|].
      right. right. split; [lia|]. destruct (a - k)%nat as [|d] eqn:Hd; [lia|]. simpl in Hz.
      rewrite lookup_drop in Hz. replace (a - 1)%nat with (k + d)%nat by lia. done. }
  apply Hcase in Hi as [[Hi1 Hi]|[[-> ->]|[Hi1 Hi]]]; apply Hcase in Hj as [[Hj1 Hj]|[[-> ->]|[Hj1 Hj]]]; try lia; simpl.
  - by eapply (Hs i j).
  - by apply (Hlow _ _ Hi).
  - eapply (Hs i (j - 1)%nat); [lia|done|done].
  - pose proof (Hlow _ _ Hj). pose proof (Hne _ _ Hj). lia.
  - eapply (Hs (i - 1)%nat (j - 1)%nat); [lia|done|done].
Qed.
Lemma register_of_add pgs k n j : place_of pgs k n → register_of (add_page pgs k n) j = register_of pgs j.
Proof.
  intros Hp. rewrite /register_of page_at_add //. case_decide as Hj; [|done].
  rewrite Hj (page_at_none pgs); [|by apply Hp]. rewrite /promise_of /held /=. by case_decide.
Qed.
Lemma empty_page_ok n : 0 ≤ n < 2 ^ 24 → page_ok (empty_page n).
Proof. intros Hn. split; [done|simpl; lia|by intros ?????|by intros ???|by intros ????]. Qed.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_page.

Section registers.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (a l p : loc) (pgs : list page) (s : slice) (Φ : val → iProp Σ).
  Local Notation Acceptor := paxos.Acceptor.
  Local Notation Segment := paxos.segment.

  Definition lit_of (o : option loc) : base_lit := match o with Some l => LitLoc l | None => LitNull end.
  (** Where the segments are. *)
  Definition own_index b a (locs : gmap Z loc) : iProp Σ :=
    ∃ (ml rec : base_lit) (n : Z) so,
      (a +ₗ field_offset Acceptor "segments") ↦[b] #ml ∗
      (a +ₗ field_offset Acceptor "recent") ↦[b] #rec ∗
      (a +ₗ field_offset Acceptor "recentNumber") ↦[b] #(u64 n) ∗
      (a +ₗ field_offset Acceptor "order") ↦[b] slice_val so ∗
      ⌜rec = LitNull ∨ ∃ l, rec = LitLoc l ∧ locs !! n = Some l⌝ ∗
      (⌜ml = LitNull ∧ locs = ∅⌝ ∨ ∃ m, ⌜ml = LitLoc m⌝ ∗ own_map u64_key b (DfracOwn 1) m (loc_val <$> locs)).
  (** The account of memory. *)
  Definition own_size b a : iProp Σ := ∃ n : Z, (a +ₗ field_offset Acceptor "size") ↦[b] #(int n).
  Definition own_scratch b a : iProp Σ :=
    ∃ s vs, (a +ₗ field_offset Acceptor "scratch") ↦[b] slice_val s ∗ own_slice_full b s (structT paxos.promise) vs.

  Lemma lit_of_lookup (locs : gmap Z loc) (n : Z) : default #null ((loc_val <$> locs) !! n) = #(lit_of (locs !! n)).
  Proof. rewrite lookup_fmap. by destruct (locs !! n). Qed.

  Lemma wp_Acceptor__find b a locs (n : Z) :
    {{{ own_index b a locs }}}
      paxos.Acceptor__find #a #(u64 n) @ b; ⊤
    {{{ RET #(lit_of (locs !! n)); own_index b a locs }}}.
  Proof.
    iIntros (Φ) "(%ml & %rec & %n0 & %so & Hsegs & Hrec & Hrecn & Horder & %Hrec & Hmap) HΦ". wp_rec. wp_pures.
    wp_bind (If _ (BinOp _ _ _) (Val #false)).
    iApply (wpe_wand _ _ _ (λ v, ∃ c : bool, ⌜v = #c⌝ ∗ ⌜c = true → rec = lit_of (locs !! n)⌝ ∗
      (a +ₗ field_offset Acceptor "recent") ↦[b] #rec ∗
      (a +ₗ field_offset Acceptor "recentNumber") ↦[b] #(u64 n0))%I with "[Hrec Hrecn]").
    { wp_load. wp_pures. case_bool_decide as Hnil; cbn [negb]; wp_pures; [iExists false; by iFrame|].
      wp_load. wp_pures. iExists _. iSplit; [done|]. iFrame. iPureIntro. intros Heq%bool_decide_eq_true.
      injection Heq as ->. destruct Hrec as [->|(l & -> & ->)]; [done|done]. }
    iIntros (v) "(%c & -> & %Hc & Hrec & Hrecn)". destruct c; wp_pures.
    { wp_load. wp_pures. rewrite (Hc eq_refl). iApply "HΦ". iExists ml, rec, n0, so. rewrite (Hc eq_refl). iFrame.
      iPureIntro. by rewrite -(Hc eq_refl). }
    wp_load. wp_bind (App (App _ _) _).
    iApply (wpe_wand _ _ _ (λ v, ⌜v = #(lit_of (locs !! n))⌝ ∗
      (⌜ml = LitNull ∧ locs = ∅⌝ ∨ ∃ m, ⌜ml = LitLoc m⌝ ∗ own_map u64_key b (DfracOwn 1) m (loc_val <$> locs)))%I with "[Hmap]").
    { iDestruct "Hmap" as "[[-> ->]|(%m & -> & Hm)]".
      - wp_rec. wp_pures. wp_apply (wp_map_get2_nil u64_key b ⊤ #null n with "[//]"). iIntros "_". wp_pures.
        rewrite lookup_empty. iSplit; [done|by iLeft].
      - wp_apply (wp_map_get1 u64_key b ⊤ m _ _ #null n with "Hm"). iIntros "Hm". rewrite lit_of_lookup.
        iSplit; [done|]. iRight. iExists m. by iFrame. }
    iIntros (v) "[-> Hmap]". destruct (locs !! n) as [l|] eqn:Hl; cbn [lit_of]; wp_pures.
    - wp_store. wp_pures. wp_store. wp_pures. iApply "HΦ". iExists ml, (LitLoc l), n, so. iFrame. iPureIntro. eauto.
    - iApply "HΦ". iExists ml, rec, n0, so. by iFrame.
  Qed.

  Lemma wp_Acceptor__open b a locs (n : Z) :
    {{{ own_index b a locs ∗ own_size b a }}}
      paxos.Acceptor__open #a #(u64 n) @ b; ⊤
    {{{ l, RET #l; own_size b a ∗
        ((⌜locs !! n = Some l⌝ ∗ own_index b a locs) ∨
         (⌜locs !! n = None⌝ ∗ own_index b a (<[n := l]> locs) ∗ own_segment_at b l [])) }}}.
  Proof.
    iIntros (Φ) "[Hindex [%size Hsize]] HΦ". wp_rec. wp_pures.
    wp_apply (wp_Acceptor__find with "Hindex"). iIntros "Hindex".
    destruct (locs !! n) as [l|] eqn:Hl; cbn [lit_of]; wp_pures.
    { iApply ("HΦ" $! l). iSplitL "Hsize"; [by iExists _|]. iLeft. by iFrame. }
    iDestruct "Hindex" as (ml rec n0 so) "(Hsegs & Hrec & Hrecn & Horder & %Hrec & Hmap)".
    wp_bind (If _ _ _).
    iApply (wpe_wand _ _ _ (λ _, ∃ m, (a +ₗ field_offset Acceptor "segments") ↦[b] #(LitLoc m) ∗
      own_map u64_key b (DfracOwn 1) m (loc_val <$> locs))%I with "[Hsegs Hmap]").
    { wp_load. iDestruct "Hmap" as "[[-> ->]|(%m & -> & Hm)]"; wp_pures.
      - wp_apply (wp_new_map u64_key with "[//]"). iIntros (m) "Hm". wp_store. wp_pures. iExists m. rewrite fmap_empty. iFrame.
      - iExists m. iFrame. }
    iIntros (_v) "(%m & Hsegs & Hm)". wp_pures. wp_apply (wp_ref_zero with "[//]"). iIntros (l) "Hl". wp_pures.
    iStruct "Hl" as "(Hpages & Hr & _)".
    wp_load. wp_apply (wp_map_insert u64_key b ⊤ m _ n #l with "Hm"). iIntros "Hm". wp_pures.
    wp_store. wp_pures. wp_store. wp_pures. wp_store. wp_pures. wp_load. wp_store. wp_pures.
    iApply ("HΦ" $! l). iSplitL "Hsize"; [by iExists _|]. iRight. iSplit; [done|]. iSplitR "Hpages Hr".
    - iExists (LitLoc m), (LitLoc l), n, nil_slice. iFrame. iSplit.
      + iPureIntro. right. exists l. by rewrite lookup_insert.
      + iRight. iExists m. iSplit; [done|]. by rewrite fmap_insert.
    - iExists nil_slice, [], 0. iFrame. iSplit; [done|]. iSplit; [iApply own_slice_full_nil|]. iSplit; [|done].
      iPureIntro. by intros ?????.
  Qed.

  Lemma wp_page__bytes b p pg :
    {{{ own_page b p pg }}} paxos.page__bytes #p @ b; ⊤ {{{ (n : Z), RET #(int n); own_page b p pg }}}.
  Proof.
    iIntros (Φ) "Hp HΦ". iEval (rewrite /own_page) in "Hp".
    iDestruct "Hp" as (sp vals sl st ss slots table mem) "(#Hok & #Htable & #Hcap & Hnumber & Hfirst &
      Hsp & Hsv & Hsl & Hst & Hmem & Hrest)".
    wp_rec. wp_load. wp_load. wp_load. wp_load. wp_pures. iApply "HΦ". rewrite /own_page.
    iExists sp, vals, sl, st, ss, slots, table, mem. iFrame "Hok Htable Hcap Hnumber Hfirst Hsp Hsv Hsl Hst Hmem Hrest".
  Qed.

  (** The page of a register, which is new if there was none. *)
  Lemma wp_Acceptor__page b a l pgs (i : Z) : 0 ≤ i < 2 ^ 32 →
    {{{ own_size b a ∗ own_segment_at b l pgs }}}
      paxos.Acceptor__page #a #l #(int i) @ b; ⊤
    {{{ p pg pgs', RET #p; own_size b a ∗ own_page b p pg ∗
        ⌜pg_number pg = i / page_size ∧ page_at pgs' (i / page_size) = Some pg⌝ ∗
        ⌜∀ j, register_of pgs' j = register_of pgs j⌝ ∗
        (∀ pg', ⌜pg_number pg' = pg_number pg⌝ -∗ own_page b p pg' -∗ own_segment_at b l (set_page pgs' pg')) }}}.
  Proof.
    iIntros (Hi Φ) "[[%size Hsize] Hseg] HΦ". wp_rec. wp_pures.
    wp_apply (wp_segment__page b (LitLoc l) pgs i with "[Hseg]"); [done|iRight; by iExists l; iFrame|]. iIntros (pl) "H".
    assert (0 ≤ i / 256 < 2 ^ 24) as Hn by (Z.to_euclidean_division_equations; lia).
    assert (∀ pgs', own_segment b (LitLoc l) pgs' -∗ own_segment_at b l pgs') as Hat.
    { iIntros (pgs') "[[%Hn' _]|(%l' & %Hl & H)]"; [done|]. by injection Hl as ->. }
    destruct (page_at pgs (i / 256)) as [pg|] eqn:Hpg.
    { iDestruct "H" as (p) "(-> & Hp & [_ Hclose])". wp_pures. iApply ("HΦ" $! p pg pgs).
      iSplitL "Hsize"; [by iExists _|]. iFrame "Hp". iSplit; [iPureIntro; split; [by eapply page_at_number|done]|].
      iSplit; [done|]. iIntros (pg') "Hn' Hp". iApply Hat. iApply ("Hclose" with "Hn' Hp"). }
    iDestruct "H" as "[-> Hseg]". iDestruct (Hat with "Hseg") as "Hseg". wp_pures.
    change paxos.pageSize with 256. rewrite Z.quot_div_nonneg; [|lia..].
    rewrite (wrap_id I64 (i / 256)); [|int_solve]. rewrite (wrap_id U32); [|int_solve].
    wp_alloc p as "(Hnum & Hfirst & Hprom & Hvals & Hslots & Hballots & Hheld & _)". wp_pures.
    iDestruct "Hseg" as (s ps recent Hrecent) "(Hpages & Hr & Hs & Hps)".
    wp_load. wp_load. wp_pures. wp_store. wp_pures. wp_load.
    wp_apply (wp_segment__find with "[Hpages Hr Hs Hps]"). { iExists s, ps, recent. by iFrame. }
    iIntros (k) "(Hseg & %Hk & %Hfound & %Hplace)". wp_pures.
    iDestruct "Hseg" as (s1 ps1 recent1 Hrecent1) "(Hpages & Hr & Hs & Hps)".
    iDestruct (own_pages_length with "Hps") as %Hlenp. iDestruct "Hps" as "[%Hsorted Hps]".
    assert (place_of pgs (Z.to_nat k) (i / 256)) as Hpl.
    { split; [done|]. intros j q Hj Hq. by rewrite (page_at_lookup _ _ j q) in Hpg. }
    wp_load. rewrite -(Z2Nat.id k); [|lia]. wp_apply (wp_insert _ _ _ _ _ _ (Z.to_nat k) with "Hs"); [rewrite fmap_length; lia|done|].
    iIntros (s') "Hs". wp_store. wp_pures.
    iAssert (own_page b p (empty_page (i / 256))) with "[Hnum Hfirst Hprom Hvals Hslots Hballots Hheld]" as "Hp".
    { rewrite /own_page. iExists nil_slice, nil_slice, nil_slice, nil_slice, [], [], [], 0.
      iFrame. iSplit; [iPureIntro; by apply empty_page_ok|]. iSplit; [iPureIntro; simpl; lia|]. iSplit; [done|].
      iSplit; [iApply own_slice_full_nil|]. iSplit; [iApply own_slice_nil|]. iSplit; [done|].
      iSplit; [iApply own_slice_nil|]. iSplit; [done|]. iSplit; [iApply own_slice_full_nil|]. by iSplit. }
    wp_apply (wp_page__bytes with "Hp"). iIntros (w) "Hp". wp_pures. wp_load. wp_pures. wp_load. wp_pures. wp_store. wp_pures.
    iApply ("HΦ" $! p (empty_page (i / 256)) (add_page pgs (Z.to_nat k) (i / 256))).
    iSplitL "Hsize"; [by iExists _|]. iFrame "Hp".
    iSplit; [iPureIntro; rewrite page_at_add // decide_True //|].
    iSplit; [iPureIntro; intros j; by apply register_of_add|].
    iIntros (pg' Hn') "Hp". iExists s', (take (Z.to_nat k) ps1 ++ [p] ++ drop (Z.to_nat k) ps1), recent1. iSplit; [done|].
    iFrame "Hpages Hr". iSplitL "Hs"; [by rewrite !fmap_app fmap_take fmap_drop|].
    iSplit.
    { iPureIntro. eapply sorted_numbers; [apply set_page_numbers|]. apply add_page_sorted; [done|done|lia]. }
    rewrite (set_page_insert _ (Z.to_nat k) (empty_page (i / 256))); [|apply add_page_sorted; [done|done|lia]| |done].
    2:{ rewrite /add_page lookup_app_r; [|rewrite take_length; lia]. rewrite take_length.
        by replace (Z.to_nat k - Z.to_nat k `min` length pgs)%nat with 0%nat by lia. }
    assert (<[Z.to_nat k := pg']> (add_page pgs (Z.to_nat k) (i / 256)) = take (Z.to_nat k) pgs ++ [pg'] ++ drop (Z.to_nat k) pgs) as ->.
    { rewrite /add_page insert_app_r_alt; [|rewrite take_length; lia]. rewrite take_length.
      by replace (Z.to_nat k - Z.to_nat k `min` length pgs)%nat with 0%nat by lia. }
    rewrite -{1}(take_drop (Z.to_nat k) ps1) -{1}(take_drop (Z.to_nat k) pgs).
    iDestruct (big_sepL2_app_inv with "Hps") as "[H1 H2]"; [rewrite !take_length; lia|].
    iApply (big_sepL2_app with "H1"). simpl. iFrame.
  Qed.

  (** ** Accepting *)
  Lemma wp_Acceptor__accept b a l pgs (i : Z) x sv (v : list Z) : 0 ≤ i < 2 ^ 32 → ballot_ok x →
    (∀ y w, accepted (register_of pgs i) = Some (y, w) → number y ≤ number x) →
    {{{ own_size b a ∗ own_segment_at b l pgs ∗ own_bytes b sv DfracDiscarded v }}}
      paxos.Acceptor__accept #a #l #(int i) (ballot_val x) (slice_val sv) @ b; ⊤
    {{{ pgs', RET #(); own_size b a ∗ own_segment_at b l pgs' ∗
        ⌜∀ j, 0 ≤ j → register_of pgs' j = if decide (j = i) then accepting (register_of pgs i) x v else register_of pgs j⌝ }}}.
  Proof.
    iIntros (Hi Hx Hle Φ) "(Hsize & Hseg & #Hv) HΦ". wp_rec. wp_pures.
    wp_apply (wp_Acceptor__page with "[$Hsize $Hseg]"); [done|].
    iIntros (p pg pgs1) "(Hsize & Hp & [%Hn %Hat] & %Hsame & Hclose)". wp_pures.
    iDestruct (own_page_ok with "Hp") as %Hok.
    assert (0 ≤ i `mod` 256 < 256) as Hm by (apply Z.mod_pos_bound; lia).
    wp_apply (wp_page__bytes with "Hp"). iIntros (w1) "Hp". wp_pures.
    change paxos.pageSize with 256. rewrite Z.rem_mod_nonneg; [|lia..]. rewrite (wrap_id I64); [|int_solve].
    wp_apply (wp_page__accept with "[$Hp $Hv]"); [done|done|]. iIntros (pg') "(Hp & [%Hn' %Hr'] & %Hheld)". wp_pures.
    wp_apply (wp_page__bytes with "Hp"). iIntros (w2) "Hp". wp_pures. iDestruct "Hsize" as (size) "Hsize".
    wp_load. wp_store. wp_pures. iApply ("HΦ" $! (set_page pgs1 pg')). iSplitL "Hsize"; [by iExists _|].
    iSplitL; [iApply ("Hclose" with "[//] Hp")|]. iPureIntro. intros j Hj.
    assert (register_of pgs i = Register (promise_of pg (i `mod` 256)) (held pg (i `mod` 256))) as Hreg.
    { by rewrite -Hsame /register_of Hat. }
    rewrite (register_of_set _ pg); [|by rewrite Hn' Hn]. rewrite Hn' Hn -Hsame.
    assert (0 ≤ j `mod` 256 < 256) as Hmj by (apply Z.mod_pos_bound; lia).
    destruct (decide (j = i)) as [->|Hne].
    - rewrite decide_True // Hsame Hreg. apply page_of_accepting; [done|done|done|rewrite Hheld; [by rewrite decide_True|lia]|].
      intros y w Hy. apply (Hle y w). by rewrite Hreg.
    - case_decide as Hji; [|done]. rewrite -Hsame /register_of Hji Hat. rewrite Hheld; [|lia].
      rewrite decide_False; [|Z.to_euclidean_division_equations; lia].
      rewrite /promise_of Hheld; [|lia]. rewrite decide_False; [|Z.to_euclidean_division_equations; lia].
      by rewrite Hr'.
  Qed.
End registers.

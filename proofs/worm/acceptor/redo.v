(** * Records are redone: internal/worm/paxos/record.go, Acceptor.Redo

    The acceptors of this file have trimmed nothing. *)
From iris.proofmode Require Import environments.
From ashlar.worm.acceptor Require Export logged.
Local Open Scope Z_scope.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_page own_segment_at own_slice own_index own_segments own_segment.

Section redo.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (a d l : loc) (m : segments) (s : slice) (x : ballot) (Φ : val → iProp Σ).

  (** What the acceptor has besides registers: the account of memory, and memory that it uses again. *)
  Definition own_accounts b a : iProp Σ := own_size b a ∗ own_scratch b a ∗ own_replied b a ∗ own_record b a.

  (** ** Taking a record apart *)
  Definition own_decoder b d s : iProp Σ :=
    (d +ₗ field_offset paxos.decoder "rest") ↦[b] slice_val s ∗ (d +ₗ field_offset paxos.decoder "bad") ↦[b] #false.

  Lemma own_bytes_drop b s dq (bs rest : list Z) : own_bytes b s dq (bs ++ rest) -∗
    ⌜slice_wf s ∧ Z.of_nat (length bs) ≤ sl_len s⌝ ∗ own_bytes b (slice_cut byteT s (length bs) (sl_len s)) dq rest.
  Proof.
    iIntros "H". iDestruct (own_slice_wf with "H") as %[Hwf Hlen]. rewrite fmap_length app_length in Hlen.
    iSplit; [iPureIntro; split; [done|lia]|]. rewrite /own_bytes.
    rewrite (own_slice_split _ s _ _ _ (length bs)); [|rewrite fmap_length app_length; lia|done|rewrite fmap_length app_length; lia].
    iDestruct "H" as "[_ H]". by rewrite fmap_app drop_app_alt; [|by rewrite fmap_length].
  Qed.
  Lemma uvarint_length n : (0 < length (uvarint n))%nat.
  Proof. rewrite /uvarint. simpl. case_decide; simpl; lia. Qed.

  Lemma wp_decoder__uvarint b d s dq (n : Z) (rest : list Z) : in_range U64 n →
    {{{ own_decoder b d s ∗ own_bytes b s dq (uvarint n ++ rest) }}}
      paxos.decoder__uvarint #d @ b; ⊤
    {{{ s', RET #(u64 n); own_decoder b d s' ∗ own_bytes b s' dq rest }}}.
  Proof.
    iIntros (Hn Φ) "[[Hrest Hbad] Hs] HΦ". wp_rec. wp_load. wp_apply (wp_uvarint with "Hs"); [done|]. iIntros "Hs". wp_pures.
    pose proof (uvarint_length n). wp_cond. wp_load. iDestruct (own_bytes_drop with "Hs") as "[[%Hwf %Hle] Hs]".
    wp_apply wp_slice_drop; [done|lia|]. wp_store. wp_pures. iApply "HΦ". iFrame.
  Qed.
  Lemma wp_decoder__fixed b d s dq (n : Z) (rest : list Z) : in_range U64 n →
    {{{ own_decoder b d s ∗ own_bytes b s dq (u64_bytes n ++ rest) }}}
      paxos.decoder__fixed #d @ b; ⊤
    {{{ s', RET #(u64 n); own_decoder b d s' ∗ own_bytes b s' dq rest }}}.
  Proof.
    iIntros (Hn Φ) "[[Hrest Hbad] Hs] HΦ". wp_rec. wp_load. wp_pures.
    iDestruct (own_bytes_length with "Hs") as %[Hlen _]. rewrite app_length le_bytes_length in Hlen. wp_cond.
    wp_load. wp_apply (wp_le_uint64 with "Hs"); [done|]. iIntros "Hs". wp_pures.
    wp_load. iDestruct (own_bytes_drop with "Hs") as "[[%Hwf %Hle] Hs]". rewrite le_bytes_length in Hle |- *.
    wp_apply wp_slice_drop; [done|lia|]. wp_store. wp_pures. iApply "HΦ". iFrame.
  Qed.

  (** ** Nothing is trimmed *)
  Definition own_untrimmed b a : iProp Σ :=
    ∃ s, ((a +ₗ field_offset paxos.Acceptor "trimmed") +ₗ field_offset paxos.tombstones "blocks") ↦[b] slice_val s ∗ ⌜sl_len s = 0⌝.
  Lemma wp_untrimmed b a (n : Z) :
    {{{ own_untrimmed b a }}}
      paxos.tombstones__has #(a +ₗ field_offset paxos.Acceptor "trimmed") #(u64 n) @ b; ⊤
    {{{ RET #false; own_untrimmed b a }}}.
  Proof.
    iIntros (Φ) "(%s & Hs & %Hlen) HΦ". wp_rec. wp_load. wp_pures. rewrite Hlen bool_decide_true //. wp_pures. iApply "HΦ". iExists s. by iFrame.
  Qed.

  (** ** A value is accepted again *)
  (** The page of a register, and what it holds, in two steps of which the first may give nil. *)
  Lemma wp_held b (lit : base_lit) pgs (i : Z) : 0 ≤ i < 2 ^ 32 →
    {{{ own_segment b lit pgs }}}
      paxos.segment__page #lit #(int i) @ b; ⊤
    {{{ pl, RET #pl;
        (⌜pl = LitNull⌝ ∗ ⌜accepted (register_of pgs i) = None⌝ ∗ own_segment b lit pgs) ∨
        ∃ (p : loc) pg, ⌜pl = LitLoc p⌝ ∗ ⌜accepted (register_of pgs i) = held pg (i `mod` page_size)⌝ ∗ own_page b p pg ∗
          (own_page b p pg -∗ own_segment b lit pgs) }}}.
  Proof.
    iIntros (Hi Φ) "Hseg HΦ". wp_apply (wp_segment__page with "Hseg"); [done|]. iIntros (pl) "H".
    iApply ("HΦ" $! pl). rewrite /register_of. destruct (page_at pgs (i / 256)) as [pg|].
    - iDestruct "H" as (p) "(-> & Hp & [Hclose _])". iRight. iExists p, pg. by iFrame.
    - iDestruct "H" as "[-> Hseg]". iLeft. by iFrame.
  Qed.

  Lemma wp_Acceptor__merge b a m (n lo hi : Z) x sv dq (v : list Z) :
    0 ≤ lo ≤ hi → hi < 2 ^ 32 → ballot_ok x →
    (∀ j w, lo ≤ j < hi → accepted (state_of m n j) = Some (x, w) → w = v) →
    {{{ own_registers b a m ∗ own_size b a ∗ own_bytes b sv dq v }}}
      paxos.Acceptor__merge #a #(u64 n) #(int lo) #(int hi) (ballot_val x) (slice_val sv) @ b; ⊤
    {{{ m', RET #null; own_registers b a m' ∗ own_size b a ∗ own_bytes b sv dq v ∗
        ⌜∀ n' j, 0 ≤ j → state_of m' n' j =
           if decide (n' = n ∧ lo ≤ j < hi) then merging (state_of m n j) x v else state_of m n' j⌝ }}}.
  Proof.
    iIntros (Hlo Hhi Hx Hsame Φ) "(Hregs & Hsize & Hsv) HΦ".
    iDestruct (own_registers_ok with "Hregs") as %Hok. iDestruct "Hregs" as (locs) "[Hindex Hsegs]".
    wp_rec. wp_pures. wp_apply (wp_Acceptor__find with "Hindex"). iIntros "Hindex".
    wp_alloc sl as "Hsl". wp_alloc il as "Hi". wp_pures.
    (* no register has another value at this ballot *)
    wp_apply (wp_for_loop
      (∃ k : Z, ⌜lo ≤ k ≤ hi⌝ ∗ il ↦[b] #(int k) ∗ sl ↦[b] #(lit_of (locs !! n)) ∗ own_segments b locs m ∗ own_bytes b sv dq v)
      (λ o, ⌜o = go_on⌝ ∗ sl ↦[b] #(lit_of (locs !! n)) ∗ own_segments b locs m ∗ own_bytes b sv dq v)%I
      with "[Hi Hsl Hsegs Hsv] []").
    { iExists lo. iFrame. iPureIntro. lia. }
    { iIntros "!> (%k & %Hk & Hi & Hsl & Hsegs & Hsv)". wp_load. loop_cond as Hlt; [|by iFrame].
      wp_pures. wp_load. wp_load. iDestruct (own_segments_read with "Hsegs") as "[Hseg Hsegs]".
      wp_apply (wp_held with "Hseg"); [lia|]. iIntros (pl) "[(-> & _ & Hseg)|(%p & %pg & -> & %Hacc & Hp & Hseg)]"; wp_pures.
      { iLeft. iSplit; [by iLeft|]. iDestruct ("Hsegs" with "Hseg") as "Hsegs". wp_pures. wp_load. wp_store. wp_pures.
        rewrite (wrap_id I64); [|int_solve]. iExists (k + 1). iFrame. iPureIntro. lia. }
      iDestruct (own_page_ok with "Hp") as %Hpok.
      wp_load. wp_pures. change paxos.pageSize with 256. rewrite Z.rem_mod_nonneg; [|lia..].
      assert (0 ≤ k `mod` 256 < 256) as Hm by (apply Z.mod_pos_bound; lia). rewrite (wrap_id I64); [|int_solve].
      wp_apply (wp_page__accepted with "Hp"); [done|]. iIntros (w) "[Hp #Hw]".
      iDestruct (own_value_nil with "Hw") as %Hnil.
      iDestruct ("Hsegs" with "[Hseg Hp]") as "Hsegs"; [by iApply "Hseg"|].
      change (register_of (pages_of m n) k) with (state_of m n k) in Hacc. rewrite -Hacc in Hnil |- *. wp_pures.
      wp_bind (If _ _ (Val #false)).
      iApply (wpe_wand _ _ _ (λ u, ⌜u = #false⌝ ∗ own_bytes b sv dq v)%I with "[Hsv]").
      { destruct (accepted (state_of m n k)) as [[y u]|] eqn:Hyu; simpl in Hnil; last first.
        { rewrite bool_decide_true; [|by rewrite (proj2 Hnil)]. cbn [negb]. wp_pures. by iFrame. }
        rewrite bool_decide_false; [|intros [= Hs]; by apply Hnil in Hs]. cbn [negb held_ballot from_option fst]. wp_if.
        wp_bind (BinOp EqOp _ _). iApply (wp_ballot_eq b ⊤ y x []). iNext. iApply wpe_value.
        case_bool_decide as Hyx; wp_pures; [|by iFrame]. subst y. iDestruct "Hw" as "[_ Hw]". simpl.
        wp_apply (wp_bytes_equal with "[$Hsv $Hw]"). iIntros "[Hsv _]".
        rewrite bool_decide_true; [|symmetry; apply (Hsame k); [lia|done]]. wp_pures. by iFrame. }
      iIntros (u) "[-> Hsv]". wp_pures. iLeft. iSplit; [by iLeft|]. wp_pures. wp_load. wp_store. wp_pures.
      rewrite (wrap_id I64); [|int_solve]. iExists (k + 1). iFrame. iPureIntro. lia. }
    iIntros (o) "(-> & Hsl & Hsegs & Hsv)". wp_pures.
    wp_apply (wp_ref_zero with "[//]"). iIntros (kl) "Hkl".
    iAssert (kl ↦[b] slice_val nil_slice)%I with "[Hkl]" as "Hkl"; [iExact "Hkl"|]. wp_alloc il2 as "Hi". wp_pures.
    wp_apply (wp_for_loop
      (∃ (k : Z) locs' m' ks, ⌜lo ≤ k ≤ hi⌝ ∗ il2 ↦[b] #(int k) ∗ sl ↦[b] #(lit_of (locs' !! n)) ∗ kl ↦[b] slice_val ks ∗
        (⌜sl_ptr ks = LitNull⌝ ∨ own_bytes b ks DfracDiscarded v ∗ ⌜is_Some (locs' !! n)⌝) ∗
        own_index b a locs' ∗ own_segments b locs' m' ∗ own_size b a ∗ own_bytes b sv dq v ∗
        ⌜∀ n' j, 0 ≤ j → state_of m' n' j =
           if decide (n' = n ∧ lo ≤ j < k) then merging (state_of m n j) x v else state_of m n' j⌝)
      (λ o, ⌜o = go_on⌝ ∗ ∃ m', own_registers b a m' ∗ own_size b a ∗ own_bytes b sv dq v ∗
        ⌜∀ n' j, 0 ≤ j → state_of m' n' j =
           if decide (n' = n ∧ lo ≤ j < hi) then merging (state_of m n j) x v else state_of m n' j⌝)%I
      with "[Hi Hsl Hkl Hindex Hsegs Hsize Hsv] []").
    { iExists lo, locs, m, nil_slice. iFrame. iSplit; [iPureIntro; lia|]. iSplit; [by iLeft|].
      iPureIntro. intros n' j Hj. rewrite decide_False //. lia. }
    { iIntros "!> (%k & %locs' & %m' & %ks & %Hk & Hi & Hsl & Hkl & #Hks & Hindex & Hsegs & Hsize & Hsv & %Hm')".
      wp_load. loop_cond as Hlt; last first.
      { assert (k = hi) as -> by lia. iSplit; [done|]. iExists m'. iFrame "Hsize Hsv". iSplitL; [iExists locs'; iFrame|done]. }
      wp_pures. wp_load. wp_load. iDestruct (own_segments_read with "Hsegs") as "[Hseg Hsegs]".
      assert (state_of m' n k = state_of m n k) as Hsk by (rewrite Hm'; [rewrite decide_False //; lia|lia]).
      set (rk := state_of m n k) in *.
      wp_apply (wp_held with "Hseg"); [lia|]. iIntros (pl) "Hpl". change (register_of (pages_of m' n) k) with (state_of m' n k). rewrite Hsk.
      wp_pures. wp_bind (If _ _ _).
      iApply (wpe_wand _ _ _ (λ o, ∃ skip : bool, ⌜o = if skip then continue else go_on⌝ ∗
        ⌜skip = true ↔ ∃ y w, accepted rk = Some (y, w) ∧ ¬ number y < number x⌝ ∗ il2 ↦[b] #(int k) ∗ own_segments b locs' m')%I with "[Hpl Hi Hsegs]").
      { iDestruct "Hpl" as "[(-> & %Hacc & Hseg)|(%p & %pg & -> & %Hacc & Hp & Hseg)]"; wp_expr_simpl; wp_pures.
        { iExists false. iFrame "Hi". iSplit; [done|]. iDestruct ("Hsegs" with "Hseg") as "$". iPureIntro. rewrite Hacc. naive_solver. }
        iDestruct (own_page_ok with "Hp") as %Hpok.
        wp_load. wp_pures. change paxos.pageSize with 256. rewrite Z.rem_mod_nonneg; [|lia..].
        assert (0 ≤ k `mod` 256 < 256) as Hm by (apply Z.mod_pos_bound; lia). rewrite (wrap_id I64); [|int_solve].
        wp_apply (wp_page__accepted with "Hp"); [done|]. iIntros (w) "[Hp #Hw]". iDestruct (own_value_nil with "Hw") as %Hnil.
        iDestruct ("Hsegs" with "[Hseg Hp]") as "Hsegs"; [by iApply "Hseg"|]. rewrite -Hacc in Hnil |- *. wp_pures.
        destruct (accepted rk) as [[y u]|] eqn:Hyu; simpl in Hnil; last first.
        { rewrite bool_decide_true; [|by rewrite (proj2 Hnil)]. cbn [negb]. wp_pures. iExists false. iFrame. iPureIntro. naive_solver. }
        rewrite bool_decide_false; [|intros [= Hs]; by apply Hnil in Hs]. cbn [negb held_ballot from_option fst]. wp_pures.
        wp_apply (wp_Ballot__Less with "[//]"); [by eapply (Hok n k)|done|]. iIntros "_". wp_pures.
        case_bool_decide as Hless; wp_expr_simpl; wp_pures.
        - iExists false. iFrame. iPureIntro. split; [done|]. split; [done|]. intros (y' & w' & [= <- <-] & Hge). done.
        - iExists true. iFrame. iPureIntro. split; [done|]. split; [|done]. intros _. by exists y, u. }
      iIntros (o) "(%skip & -> & %Hskip & Hi & Hsegs)".
      assert (∀ mk, (∀ j, 0 ≤ j → state_of mk n j = if decide (j = k) then merging rk x v else state_of m' n j) →
        (∀ n' j, n' ≠ n → state_of mk n' j = state_of m' n' j) →
        ∀ n' j, 0 ≤ j → state_of mk n' j =
           if decide (n' = n ∧ lo ≤ j < k + 1) then merging (state_of m n j) x v else state_of m n' j) as Hnext.
      { intros mk Hmk Hother n' j Hj. destruct (decide (n' = n)) as [->|Hne].
        - rewrite Hmk //. destruct (decide (j = k)) as [->|Hjk]; [by rewrite decide_True; [|lia]|].
          rewrite Hm' //. apply decide_ext. lia.
        - rewrite Hother // Hm' // !decide_False //; tauto. }
      destruct skip; wp_expr_simpl; wp_pures.
      { iLeft. iSplit; [by iRight|]. wp_pures. wp_load. wp_store. wp_pures. rewrite (wrap_id I64); [|int_solve].
        iExists (k + 1), locs', m', ks. iFrame "Hi Hsl Hkl Hks Hindex Hsegs Hsize Hsv". iPureIntro. split; [lia|].
        apply Hnext; [|done]. intros j Hj. case_decide as Hjk; [|done]. subst j. rewrite Hsk.
        destruct (proj1 Hskip eq_refl) as (y & w & Hy & Hge). by rewrite /merging Hy decide_False. }
      wp_load. wp_pures. wp_bind (If _ _ _).
      iApply (wpe_wand _ _ _ (λ _, ∃ l locs2 ks, sl ↦[b] #(LitLoc l) ∗ kl ↦[b] slice_val ks ∗ il2 ↦[b] #(int k) ∗
        own_bytes b ks DfracDiscarded v ∗ own_size b a ∗ own_bytes b sv dq v ∗ own_index b a locs2 ∗ ⌜locs2 !! n = Some l⌝ ∗
        own_segment_at b l (pages_of m' n) ∗ (∀ pgs, own_segment_at b l pgs -∗ own_segments b locs2 (<[n := pgs]> m')))%I
        with "[Hsl Hkl Hi Hsize Hsv Hindex Hsegs]").
      { case_bool_decide as Hnull; wp_pures.
        - iDestruct (own_bytes_length with "Hsv") as %[Hlen Hmax].
          rewrite Hlen. wp_apply (wp_make_slice_cap with "[//]"); [lia|done|]. iIntros (s1) "Hs1".
          wp_apply (wp_append_bytes _ _ _ _ _ [] with "[$Hs1 $Hsv]"). iIntros (s2) "[[Hs2 _] Hsv]".
          iMod (own_slice_persist with "Hs2") as "#Hs2". wp_store. wp_pures.
          wp_apply (wp_open_segment with "[$Hindex $Hsegs $Hsize]"). iIntros (l locs2) "(Hsize & Hindex & %Hl2 & Hseg & Hclose)".
          wp_store. wp_pures. iExists l, locs2, s2. iFrame. iFrame "Hs2". done.
        - iDestruct "Hks" as "[%Hnull'|[Hks' %Hl]]"; [by rewrite Hnull' in Hnull|]. destruct Hl as [l Hl]. rewrite Hl.
          iExists l, locs', ks. iFrame. iFrame "Hks'". iSplit; [done|]. by iApply own_segments_acc. }
      iIntros (_v) "(%l & %locs2 & %ks2 & Hsl & Hkl & Hi & #Hks2 & Hsize & Hsv & Hindex & %Hl & Hseg & Hclose)". wp_pures.
      wp_load. wp_load. wp_load.
      wp_apply (wp_Acceptor__accept with "[$Hsize $Hseg $Hks2]"); [lia|done| |].
      { intros y w. change (register_of (pages_of m' n) k) with (state_of m' n k). rewrite Hsk. intros Hy.
        destruct (decide (number y < number x)) as [|Hge]; [lia|]. exfalso.
        assert (false = true); [|done]. apply Hskip. eauto. }
      iIntros (pgs') "(Hsize & Hseg & %Hsay)". wp_pures. iLeft. iSplit; [by iLeft|]. wp_pures. wp_load. wp_store. wp_pures.
      rewrite (wrap_id I64); [|int_solve]. iDestruct ("Hclose" with "Hseg") as "Hsegs".
      iExists (k + 1), locs2, (<[n := pgs']> m'), ks2. rewrite Hl. iFrame.
      iSplit; [iPureIntro; lia|]. iSplit; [iRight; iFrame "Hks2"; eauto|]. iPureIntro. apply Hnext.
      - intros j Hj. rewrite state_of_insert decide_True // Hsay //. case_decide as Hjk; [|done].
        change (register_of (pages_of m' n) k) with (state_of m' n k). rewrite Hsk /merging.
        destruct (accepted rk) as [[y w]|] eqn:Hy; [|done]. rewrite decide_True //.
        destruct (decide (number y < number x)) as [|Hge]; [done|]. exfalso.
        assert (false = true); [|done]. apply Hskip. eauto.
      - intros n' j Hne. rewrite state_of_insert decide_False //. }
    iIntros (o) "(-> & %m' & Hregs & Hsize & Hsv & %Hm')". wp_pures. iApply ("HΦ" $! m'). by iFrame.
  Qed.

  (** ** A record is redone *)
  Lemma wp_Acceptor__Redo b a m rec s dq :
    logged_ok rec → may_redo rec (state_of m) →
    {{{ own_registers b a m ∗ own_size b a ∗ own_scratch b a ∗ own_untrimmed b a ∗ own_bytes b s dq (bytes_of_record rec) }}}
      paxos.Acceptor__Redo #a (slice_val s) @ b; ⊤
    {{{ m', RET #null; own_registers b a m' ∗ own_size b a ∗ own_scratch b a ∗ own_untrimmed b a ∗
        ⌜∀ n j, 0 ≤ j → state_of m' n j = redone rec (state_of m) n j⌝ }}}.
  Proof.
    iIntros (Hrec Hmay Φ) "(Hregs & Hsize & Hscratch & Huntrimmed & Hs) HΦ".
    assert (∃ tag n lo hi x rest, bytes_of_record rec = registers_record tag n lo hi x ++ rest ∧
      in_range U64 n ∧ 0 ≤ lo < hi ∧ hi < 2 ^ 32 ∧ hi - lo ≤ wor.RangeMax ∧ ballot_ok x ∧
      Z.of_nat (length rest) ≤ wor.ValueMax ∧
      ((tag = paxos.tagPromise ∧ rec = Promises n lo hi x ∧ rest = [] ∧ x ≠ zero_ballot) ∨
       (tag = paxos.tagAccept ∧ rec = Accepts n lo hi x rest))) as (tag & n & lo & hi & x & rest & Hbytes & Hn & Hlo & Hhi & Hmax & Hx & Hv & Htag).
    { destruct rec as [n lo hi x|n lo hi x v]; destruct Hrec as (Hn & Hlo & Hhi & Hmax & Hx & Hlast).
      - exists paxos.tagPromise, n, lo, hi, x, []. rewrite app_nil_r. split_and!; try done; try lia. left. done.
      - exists paxos.tagAccept, n, lo, hi, x, v. split_and!; try done; try lia. by right. }
    rewrite Hbytes /registers_record -app_comm_cons. iDestruct (own_bytes_length with "Hs") as %[Hlen _].
    iDestruct (own_slice_wf with "Hs") as %[Hwf _].
    wp_rec. wp_pures. rewrite Hlen /=. wp_pures.
    wp_apply wp_slice_drop; [done|rewrite Hlen /=; lia|].
    wp_alloc d as "(Hrest & Hbad & _)". wp_pures.
    wp_apply (wp_bytes_get with "Hs"); [lia|done|]. iIntros "Hs". wp_pures.
    wp_bind (If _ (Val #true) _).
    iApply (wpe_wand _ _ _ (λ u, ⌜u = #true⌝)%I).
    { destruct Htag as [(-> & _)|(-> & _)]; [rewrite bool_decide_true //; by wp_pures|].
      rewrite bool_decide_false //. by wp_pures. }
    iIntros (u) "->". wp_pures. wp_apply (wp_bytes_get with "Hs"); [lia|done|]. iIntros "Hs".
    change (tag :: ?r) with ([tag] ++ r). iDestruct (own_bytes_drop with "Hs") as "[_ Hs]".
    change (Z.of_nat (length [tag])) with 1. rewrite -!app_assoc.
    (* the fields *)
    wp_rec. wp_pures. wp_apply (wp_decoder__uvarint with "[$Hrest $Hbad $Hs]"); [done|]. iIntros (s1) "[Hd Hs]". wp_pures.
    wp_apply (wp_decoder__uvarint with "[$Hd $Hs]"); [int_solve|]. iIntros (s2) "[Hd Hs]". wp_pures.
    wp_apply (wp_decoder__uvarint with "[$Hd $Hs]"); [int_solve|]. iIntros (s3) "[Hd Hs]". wp_pures.
    wp_apply (wp_decoder__uvarint with "[$Hd $Hs]"); [apply Hx|]. iIntros (s4) "[Hd Hs]". wp_pures.
    wp_apply (wp_decoder__fixed with "[$Hd $Hs]"); [apply Hx|]. iIntros (s5) "[[Hrest Hbad] Hs]". wp_pures.
    iDestruct (own_bytes_length with "Hs") as %[Hlen5 _].
    wp_load. wp_pures. rewrite (bool_decide_false (u64 (hi - lo) = _)); [|intros [= ?]; lia]. wp_pures.
    rewrite (bool_decide_false (wor.RangeMax < _)); [|lia]. wp_pures. wp_cond.
    replace (lo + (hi - lo)) with hi by lia. rewrite (wrap_id U64 hi); [|int_solve]. wp_cond.
    wp_bind (If _ _ (Val #false)).
    iApply (wpe_wand _ _ _ (λ u, ⌜u = #false⌝ ∗ (d +ₗ field_offset paxos.decoder "rest") ↦[b] slice_val s5)%I with "[Hrest]").
    { destruct Htag as [(-> & _ & -> & Hne)|(-> & _)]; [rewrite bool_decide_true //|rewrite bool_decide_false //]; wp_pures; [|by iFrame].
      wp_load. wp_pures. rewrite Hlen5 /=. wp_pures.
      change ((#(u64 (round x)), (#(u64 (nonce x)), #())))%V with (ballot_val x).
      wp_apply (wp_Ballot__IsZero with "[//]"). iIntros "_". rewrite bool_decide_false //. by iFrame. }
    iIntros (u) "[-> Hrest]". wp_pures. wp_load. wp_pures. rewrite Hlen5. rewrite bool_decide_false; [|lia]. wp_pures.
    wp_apply (wp_untrimmed with "Huntrimmed"). iIntros "Huntrimmed". wp_pures.
    change ((#(u64 (round x)), (#(u64 (nonce x)), #())))%V with (ballot_val x).
    assert (wrap I64 (wrap U64 (lo + (hi - lo))) = hi) as Hwhi.
    { replace (lo + (hi - lo)) with hi by lia. rewrite (wrap_id U64); [|int_solve]. rewrite wrap_id; [done|int_solve]. }
    destruct Htag as [(-> & -> & -> & Hne)|(-> & ->)]; [rewrite bool_decide_true //|rewrite bool_decide_false //]; wp_pures.
    - rewrite Hwhi (wrap_id I64 lo); [|int_solve]. wp_apply (wp_Acceptor__promise with "[$Hregs $Hsize $Hscratch]"); [lia|lia|done|].
      iIntros (m') "(Hregs & Hsize & Hscratch & %Hm')". wp_pures. iApply ("HΦ" $! m'). by iFrame.
    - wp_load. wp_pures. rewrite Hwhi (wrap_id I64 lo); [|int_solve].
      wp_apply (wp_Acceptor__merge with "[$Hregs $Hsize $Hs]"); [lia|lia|done|exact Hmay|].
      iIntros (m') "(Hregs & Hsize & _ & %Hm')". iApply ("HΦ" $! m'). by iFrame.
  Qed.
End redo.

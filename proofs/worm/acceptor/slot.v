(** * The ballots of a page, and what its values weigh: internal/worm/paxos/page.go, slot and weight *)
From iris.proofmode Require Import environments.
From ashlar.worm.acceptor Require Export read.
Local Open Scope Z_scope.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty.

(** 256 numbers are not all among fewer numbers. *)
Lemma one_is_free (ks : list Z) : (length ks < 256)%nat → ∃ n, 0 ≤ n < 256 ∧ n ∉ ks.
Proof.
  intros Hlen. destruct (decide (Forall (λ n, n ∈ ks) (seqZ 0 256))) as [Hall|Hnot].
  - exfalso. assert (length (seqZ 0 256) ≤ length ks)%nat as Hle.
    { apply submseteq_length. apply NoDup_submseteq; [apply NoDup_seqZ|].
      intros x Hx. by apply (proj1 (Forall_forall _ _) Hall). }
    rewrite seqZ_length in Hle. lia.
  - apply not_Forall_Exists in Hnot; [|apply _]. apply Exists_exists in Hnot as (n & Hn & Hin).
    apply elem_of_seqZ in Hn. exists n. split; [lia|done].
Qed.

Section slot.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (p : loc) (pg : page) (s : slice) (Φ : val → iProp Σ).
  Local Notation Page := paxos.page.

  (** What a value weighs is for the account of memory only; what counts is that it can be asked. *)
  Lemma wp_page__weight b p sv (ss : list slice) (i : Z) : 0 ≤ i →
    {{{ (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗
        own_slice b sv sliceT (DfracOwn 1) (slice_val <$> ss) ∗
        □ [∗ list] s ∈ ss, ∃ v, own_value b s v }}}
      paxos.page__weight #p #(int i) @ b; ⊤
    {{{ (n : Z), RET #(int n);
        (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗
        own_slice b sv sliceT (DfracOwn 1) (slice_val <$> ss) }}}.
  Proof.
    iIntros (Hi Φ) "(Hsv & Hvalues & #Hss) HΦ".
    iDestruct (own_slice_length with "Hvalues") as %[Hlen Hmax]. rewrite fmap_length in Hlen Hmax. unfold max_elems in Hmax.
    wp_rec. wp_load. wp_pures. rewrite Hlen. case_bool_decide as Hle; wp_pures.
    { iApply ("HΦ" $! 0). iFrame. }
    destruct (lookup_lt_is_Some_2 ss (Z.to_nat i)) as [s Hs]; [lia|].
    wp_load. wp_apply (wp_slice_get with "Hvalues"); [lia|by rewrite list_lookup_fmap Hs|]. iIntros "Hvalues". wp_pures.
    case_bool_decide as Hz; wp_pures.
    { iApply ("HΦ" $! 0). iFrame. }
    wp_load. wp_apply (wp_slice_get with "Hvalues"); [lia|by rewrite list_lookup_fmap Hs|]. iIntros "Hvalues". wp_pures.
    iAssert (∀ (j : nat) s', ⌜ss !! j = Some s'⌝ -∗ ⌜sl_len s' ≠ 0⌝ -∗ ∃ x bs, own_bytes b s' DfracDiscarded (x :: bs))%I as "#Hbytes".
    { iIntros (j s' Hj Hne). iDestruct (big_sepL_lookup with "Hss") as (v) "Hv"; [done|].
      destruct v as [bs|]; simpl; [|by iDestruct "Hv" as %->]. iDestruct "Hv" as "[_ Hv]".
      iDestruct (own_bytes_length with "Hv") as %[Hl _]. destruct bs as [|x bs]; [done|]. by iExists x, bs. }
    wp_bind (If _ _ _).
    iApply (wpe_wand _ _ _ (λ o, (⌜o = InjLV #()⌝ ∨ ⌜o = InjRV (InjRV #(int 0))⌝) ∗
      (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗
      own_slice b sv sliceT (DfracOwn 1) (slice_val <$> ss))%I with "[Hsv Hvalues]").
    { case_bool_decide as Hpos; wp_pures; [|iFrame; by iLeft].
      rewrite wrap_id; [|int_solve]. destruct (lookup_lt_is_Some_2 ss (Z.to_nat (i - 1))) as [s' Hs']; [lia|].
      wp_load. wp_apply (wp_slice_get with "Hvalues"); [lia|by rewrite list_lookup_fmap Hs'|]. iIntros "Hvalues". wp_pures.
      case_bool_decide as Hpos'; wp_pures; [|iFrame; by iLeft].
      iDestruct ("Hbytes" $! _ s with "[//] [%]") as (x bs) "Hb"; [intros Hn; apply Hz; by rewrite Hn|].
      iDestruct ("Hbytes" $! _ s' with "[//] [%]") as (x' bs') "Hb'"; [lia|].
      wp_apply (wp_slice_ref with "Hb"); [lia|done|]. iIntros (l1) "_".
      wp_apply (wp_slice_ref with "Hb'"); [lia|done|]. iIntros (l2) "_". wp_pures.
      case_bool_decide; wp_pures; iFrame; [by iRight|by iLeft]. }
    iIntros (o) "([->|->] & Hsv & Hvalues)"; wp_pures.
    - iApply "HΦ". iFrame.
    - iApply ("HΦ" $! 0). iFrame.
  Qed.

  (** The number of a ballot in the table: the other values keep theirs. *)
  Lemma wp_page__slot b p sv sl st (ss : list slice) (slots : list Z) (table : list ballot) (i : Z) x :
    0 ≤ i < length ss → (length ss ≤ 256)%nat → length slots = length ss → (length table ≤ 256)%nat →
    (∀ (j : nat) s k, ss !! j = Some s → j ≠ Z.to_nat i → sl_ptr s ≠ LitNull → slots !! j = Some k → 0 ≤ k < 256) →
    {{{ (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗
        (p +ₗ field_offset Page "slots") ↦[b] slice_val sl ∗
        (p +ₗ field_offset Page "ballots") ↦[b] slice_val st ∗
        own_slice b sv sliceT (DfracOwn 1) (slice_val <$> ss) ∗
        own_bytes b sl (DfracOwn 1) slots ∗
        own_slice_full b st (structT wor.Ballot) (ballot_val <$> table) }}}
      paxos.page__slot #p #(int i) (ballot_val x) @ b; ⊤
    {{{ (n : Z) st' (table' : list ballot), RET #(u8 n);
        ⌜0 ≤ n < 256 ∧ table' !! Z.to_nat n = Some x ∧ (length table' ≤ 256)%nat⌝ ∗
        ⌜∀ (j : nat) s k y, ss !! j = Some s → j ≠ Z.to_nat i → sl_ptr s ≠ LitNull → slots !! j = Some k →
           table !! Z.to_nat k = Some y → table' !! Z.to_nat k = Some y⌝ ∗
        (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗
        (p +ₗ field_offset Page "slots") ↦[b] slice_val sl ∗
        (p +ₗ field_offset Page "ballots") ↦[b] slice_val st' ∗
        own_slice b sv sliceT (DfracOwn 1) (slice_val <$> ss) ∗
        own_bytes b sl (DfracOwn 1) slots ∗
        own_slice_full b st' (structT wor.Ballot) (ballot_val <$> table') }}}.
  Proof.
    iIntros (Hi Hss Hslots Htable Hk Φ) "(Hsv & Hsl & Hst & Hvalues & Hslots & Hballots) HΦ".
    iDestruct (own_slice_length with "Hvalues") as %[Hlen Hmax]. rewrite fmap_length in Hlen Hmax.
    iDestruct "Hballots" as "[Hballots Hballotscap]".
    iDestruct (own_slice_length with "Hballots") as %[Hlent _]. rewrite fmap_length in Hlent.
    wp_rec. wp_load. wp_pures. rewrite Hlent. rewrite wrap_id; [|int_solve]. wp_alloc n as "Hn". wp_pures.
    (* is it in the table? *)
    wp_bind (for_loop _ _ _).
    iApply (wp_for_loop (∃ k, ⌜-1 ≤ k < length table⌝ ∗ n ↦[b] #(int k) ∗
        (p +ₗ field_offset Page "ballots") ↦[b] slice_val st ∗
        own_slice b st (structT wor.Ballot) (DfracOwn 1) (ballot_val <$> table))
      (λ o, (p +ₗ field_offset Page "ballots") ↦[b] slice_val st ∗
        own_slice b st (structT wor.Ballot) (DfracOwn 1) (ballot_val <$> table) ∗
        (⌜o = go_on⌝ ∨ ∃ k, ⌜o = InjRV (InjRV #(u8 k))⌝ ∗ ⌜0 ≤ k < length table ∧ table !! Z.to_nat k = Some x⌝))%I
      with "[Hn Hst Hballots] []").
    { iExists (length table - 1). iFrame. iPureIntro. lia. }
    { iIntros "!> (%k & %Hkr & Hn & Hst & Hballots)". wp_load. loop_cond as Hge; last first. { iFrame. by iLeft. }
      destruct (lookup_lt_is_Some_2 table (Z.to_nat k)) as [y Hy]; [lia|].
      wp_load. wp_load. wp_apply (wp_slice_get with "Hballots"); [lia|by rewrite list_lookup_fmap Hy|]. iIntros "Hballots".
      iApply (wp_ballot_eq b ⊤ y x [IfCtx _ _]). iNext. simpl. case_bool_decide as Heq; wp_pures.
      - wp_load. wp_pures. rewrite wrap_id; [|int_solve]. iRight. iRight. iExists _. iSplit; [done|]. iFrame.
        iRight. iExists k. iSplit; [done|]. iPureIntro. subst y. split; [lia|done].
      - iLeft. iSplit; [by iLeft|]. wp_load. wp_store. rewrite wrap_id; [|int_solve]. wp_pures. iExists (k - 1). iFrame. iPureIntro. lia. }
    iIntros (o) "(Hst & Hballots & [->|(%k & -> & %Hkr & %Hkx)])"; wp_pures; last first.
    { iApply ("HΦ" $! k st table). iFrame. iPureIntro. split_and!; [lia|lia|done|done|]. intros. done. }
    wp_load. wp_pures. rewrite Hlent. change paxos.pageSize with 256. case_bool_decide as Hroom; wp_pures.
    { wp_load. wp_apply (wp_append_one with "[$Hballots $Hballotscap]"); [done|]. iIntros (st') "[Hballots Hballotscap]".
      iDestruct (own_slice_length with "Hballots") as %[Hlent' _]. rewrite app_length fmap_length /= in Hlent'.
      wp_store. wp_load. wp_pures. rewrite Hlent'. rewrite (wrap_id I64); [|int_solve]. rewrite wrap_id; [|int_solve].
      replace (length table + 1)%nat with (S (length table)) in Hlent' by lia.
      iApply ("HΦ" $! _ st' (table ++ [x])). rewrite fmap_app. iFrame "Hsv Hsl Hst Hvalues Hslots Hballots Hballotscap".
      replace (Z.to_nat ((length table + 1)%nat - 1)) with (length table) by lia.
      iPureIntro. split_and!; [lia|lia| |rewrite app_length /=; lia|].
      - by rewrite list_lookup_middle.
      - intros j s k y _ _ _ _ Hy. by apply lookup_app_l_Some. }
    assert (length table = 256%nat) as Hfull by lia.
    wp_apply (wp_ref_array with "[//]"). iIntros (used) "Hused". wp_pures. wp_load. wp_pures. rewrite Hlen.
    (* those in use *)
    set (marked := λ (n : Z) (k : Z), ∃ (j : nat) s, (Z.of_nat j < n) ∧ j ≠ Z.to_nat i ∧ ss !! j = Some s ∧ sl_ptr s ≠ LitNull ∧ slots !! j = Some k).
    wp_apply (wp_range_simple (λ m, ∃ us : list bool, ⌜length us = 256%nat⌝ ∗
        ⌜∀ k, 0 ≤ k < 256 → us !! Z.to_nat k = Some true ↔ marked m k⌝ ∗
        own_block b used (DfracOwn 1) boolT ((λ c : bool, #c) <$> us) ∗
        (p +ₗ field_offset Page "slots") ↦[b] slice_val sl ∗
        own_slice b sv sliceT (DfracOwn 1) (slice_val <$> ss) ∗ own_bytes b sl (DfracOwn 1) slots)%I
      with "[Hused Hsl Hvalues Hslots] []"); [lia|int_solve| | |].
    { iExists (replicate 256 false). rewrite fmap_replicate. iFrame "Hused Hsl Hvalues Hslots". iPureIntro.
      split; [by rewrite replicate_length|]. intros k Hkr. split.
      - rewrite lookup_replicate. intros [? _]. done.
      - intros (j & s & Hj & _). lia. }
    { iIntros "!>" (m Hm) "(%us & %Hus & %Hmark & Hused & Hsl & Hvalues & Hslots)".
      destruct (lookup_lt_is_Some_2 ss (Z.to_nat m)) as [s Hs]; [lia|].
      destruct (lookup_lt_is_Some_2 slots (Z.to_nat m)) as [k Hkm]; [lia|].
      wp_pures. wp_apply (wp_slice_get with "Hvalues"); [lia|by rewrite list_lookup_fmap Hs|]. iIntros "Hvalues". wp_pures.
      assert (∀ k', marked (m + 1) k' ↔ marked m k' ∨ (m ≠ i ∧ sl_ptr s ≠ LitNull ∧ k' = k)) as Hnext.
      { intros k'. split.
        - intros (j & s' & Hj & Hji & Hsj & Hn & Hkj). destruct (decide (Z.of_nat j = m)) as [Hjm|Hjm].
          + right. replace (Z.to_nat m) with j in * by lia. simplify_eq. split_and!; [lia|done|done].
          + left. exists j, s'. split_and!; [lia|done..].
        - intros [(j & s' & Hj & Hrest)|(Hmi & Hn & ->)].
          + exists j, s'. split; [lia|done].
          + exists (Z.to_nat m), s. split_and!; [lia|lia|done..]. }
      assert (∀ us' : list bool, (∀ k', 0 ≤ k' < 256 → us' !! Z.to_nat k' = Some true ↔ us !! Z.to_nat k' = Some true ∨ (m ≠ i ∧ sl_ptr s ≠ LitNull ∧ k' = k)) →
        ∀ k', 0 ≤ k' < 256 → us' !! Z.to_nat k' = Some true ↔ marked (m + 1) k') as Hstep.
      { intros us' Hus' k' Hk'. rewrite Hus' // Hnext Hmark //. }
      case_bool_decide as Hnil; cbn [negb]; wp_pures.
      { iExists us. iFrame. iPureIntro. split; [done|]. apply Hstep. intros k' _.
        assert (sl_ptr s = LitNull) by congruence. naive_solver. }
      case_bool_decide as Hmi; cbn [negb]; wp_pures.
      { iExists us. iFrame. iPureIntro. split; [done|]. apply Hstep. intros k' _.
        assert (m = i) by congruence. naive_solver. }
      assert (m ≠ i) as Hmi' by congruence. assert (sl_ptr s ≠ LitNull) as Hnil' by congruence.
      assert (0 ≤ k < 256) as Hkr by (eapply (Hk (Z.to_nat m)); [done|lia|done|done]).
      wp_load. wp_apply (wp_bytes_get with "Hslots"); [lia|done|]. iIntros "Hslots".
      wp_apply (wp_array_store _ _ 256 with "Hused"); [lia|rewrite fmap_length Hus; done|done|done|]. iIntros "Hused".
      iExists (<[Z.to_nat k := true]> us). rewrite list_fmap_insert. iFrame. iPureIntro.
      split; [by rewrite insert_length|]. apply Hstep. intros k' Hk'. destruct (decide (k' = k)) as [->|Hne].
      - rewrite list_lookup_insert; [|lia]. naive_solver.
      - rewrite list_lookup_insert_ne; [|lia]. naive_solver. }
    iIntros "(%us & %Hus & %Hmark & Hused & Hsl & Hvalues & Hslots)". wp_pures.
    assert (∃ f, 0 ≤ f < 256 ∧ us !! Z.to_nat f = Some false) as (f & Hf & Hfree).
    { destruct (one_is_free (delete (Z.to_nat i) slots)) as (f & Hf & Hin).
      { rewrite length_delete; [|apply lookup_lt_is_Some_2; lia]. lia. }
      exists f. split; [done|]. destruct (lookup_lt_is_Some_2 us (Z.to_nat f)) as [[] Hu]; [lia| |done].
      exfalso. apply Hin. apply Hmark in Hu as (j & s & Hj & Hji & Hsj & Hn & Hkj); [|done].
      apply elem_of_list_lookup. destruct (decide (j < Z.to_nat i)%nat).
      - exists j. by rewrite lookup_delete_lt.
      - exists (j - 1)%nat. rewrite lookup_delete_ge; [|lia]. by replace (S (j - 1)) with j by lia. }
    wp_alloc m as "Hm". wp_pures.
    wp_apply (wp_for_simple (∃ k, ⌜0 ≤ k ≤ f⌝ ∗ m ↦[b] #(int k) ∗ own_block b used (DfracOwn 1) boolT ((λ c : bool, #c) <$> us))
      (∃ k, ⌜0 ≤ k < 256 ∧ us !! Z.to_nat k = Some false⌝ ∗ m ↦[b] #(int k)) with "[Hm Hused] []").
    { iExists 0. iFrame. iPureIntro. lia. }
    { iIntros "!> (%k & %Hkf & Hm & Hused)". wp_load.
      destruct (lookup_lt_is_Some_2 us (Z.to_nat k)) as [u Hu]; [lia|].
      wp_apply (wp_array_load _ _ 256 with "Hused"); [lia|rewrite fmap_length Hus; done|done|by rewrite list_lookup_fmap Hu|].
      iIntros "Hused". wp_pures. iExists u. iSplit; [done|]. destruct u; last first.
      { iExists k. iFrame. iPureIntro. split; [lia|done]. }
      assert (k ≠ f) by (intros ->; simplify_eq).
      wp_load. wp_store. rewrite wrap_id; [|int_solve]. wp_pures. wp_pures. iExists (k + 1). iFrame. iPureIntro. lia. }
    iIntros "(%k & [%Hkr %Hkf] & Hm)". wp_pures. wp_load. wp_load.
    wp_apply (wp_slice_set with "Hballots"); [rewrite fmap_length; lia|done|]. iIntros "Hballots". wp_pures. wp_load. wp_pures.
    rewrite wrap_id; [|int_solve]. iApply ("HΦ" $! k st (<[Z.to_nat k := x]> table)).
    rewrite list_fmap_insert. iFrame. iPureIntro. split_and!; [lia|lia| |by rewrite insert_length|].
    - rewrite list_lookup_insert //. lia.
    - intros j s k' y Hsj Hji Hn Hkj Hy. rewrite list_lookup_insert_ne //. intros Heq.
      assert (0 ≤ k' < 256) as Hk' by (eapply Hk; done). assert (k' = k) as -> by lia.
      assert (us !! Z.to_nat k = Some true); [|by simplify_eq]. apply Hmark; [done|].
      exists j, s. split_and!; [|done..]. apply lookup_lt_Some in Hsj. lia.
  Qed.
End slot.

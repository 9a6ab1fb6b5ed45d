(** * The pages of a segment, and the answer to a write

    [own_segment b l pgs]: the segment at [l], or nil, has the pages [pgs].
    [register_of pgs i] is what it says of register [i]. *)
From iris.proofmode Require Import environments.
From ashlar.golib Require Export bytes.
From ashlar.worm.acceptor Require Export read.
Local Open Scope Z_scope.

(** What an acceptor has of one register. *)
Record register := Register { promised : ballot; accepted : option (ballot * list Z) }.
Definition blank : register := Register zero_ballot None.

Definition sorted_pages (pgs : list page) : Prop :=
  ∀ (i j : nat) x y, (i < j)%nat → pgs !! i = Some x → pgs !! j = Some y → pg_number x < pg_number y.
Fixpoint page_at (pgs : list page) (n : Z) : option page :=
  match pgs with
  | [] => None
  | pg :: pgs => if decide (pg_number pg = n) then Some pg else page_at pgs n
  end.
Definition register_of (pgs : list page) (i : Z) : register :=
  match page_at pgs (i / page_size) with
  | Some pg => Register (promise_of pg (i `mod` page_size)) (held pg (i `mod` page_size))
  | None => blank
  end.

Lemma page_at_lookup pgs n k pg : sorted_pages pgs →
  pgs !! k = Some pg → pg_number pg = n → page_at pgs n = Some pg.
Proof.
  revert k. induction pgs as [|x pgs IH]; intros k Hs Hk Hn; [done|]. simpl. destruct k as [|k].
  - injection Hk as ->. by rewrite decide_True.
  - rewrite decide_False.
    + apply (IH k); [|done|done]. intros i j y z Hij. apply (Hs (S i) (S j)). lia.
    + pose proof (Hs 0%nat (S k) x pg ltac:(lia) eq_refl Hk). lia.
Qed.
Lemma page_at_none pgs n : (∀ (k : nat) pg, pgs !! k = Some pg → pg_number pg ≠ n) → page_at pgs n = None.
Proof.
  induction pgs as [|x pgs IH]; intros Hne; [done|]. simpl.
  rewrite decide_False; [|apply (Hne 0%nat); done]. apply IH. intros k. apply (Hne (S k)).
Qed.

(** The page with the number of [pg] becomes [pg]. *)
Definition set_page (pgs : list page) (pg : page) : list page :=
  (λ x, if decide (pg_number x = pg_number pg) then pg else x) <$> pgs.
Lemma page_at_number pgs n pg : page_at pgs n = Some pg → pg_number pg = n.
Proof. induction pgs as [|x pgs IH]; simpl; [done|]. case_decide; [|done]. by intros [= ->]. Qed.
Lemma page_at_set pgs pg m : page_at (set_page pgs pg) m =
  match page_at pgs m with
  | Some x => Some (if decide (pg_number x = pg_number pg) then pg else x)
  | None => None
  end.
Proof.
  induction pgs as [|x pgs IH]; simpl; [done|].
  destruct (decide (pg_number x = m)) as [Hm|Hm].
  - destruct (decide (pg_number x = pg_number pg)); rewrite decide_True //; congruence.
  - destruct (decide (pg_number x = pg_number pg)); rewrite decide_False //; congruence.
Qed.
Lemma set_page_insert pgs k x pg : sorted_pages pgs → pgs !! k = Some x → pg_number x = pg_number pg →
  set_page pgs pg = <[k := pg]> pgs.
Proof.
  intros Hs Hk Hn. apply list_eq=> i. rewrite list_lookup_fmap.
  destruct (decide (i = k)) as [->|Hne].
  - rewrite list_lookup_insert; [|by eapply lookup_lt_Some]. by rewrite Hk /= decide_True.
  - rewrite list_lookup_insert_ne //. destruct (pgs !! i) as [y|] eqn:Hi; [|done]. simpl.
    rewrite decide_False; [done|]. intros Heq. destruct (Nat.lt_total i k) as [Hl|[Hl|Hl]]; [|done|].
    + pose proof (Hs _ _ _ _ Hl Hi Hk). lia.
    + pose proof (Hs _ _ _ _ Hl Hk Hi). lia.
Qed.
Lemma set_page_numbers pgs pg : pg_number <$> set_page pgs pg = pg_number <$> pgs.
Proof.
  rewrite /set_page -list_fmap_compose. apply list_fmap_ext. intros i x _. simpl. by case_decide.
Qed.
Lemma sorted_numbers pgs pgs' : pg_number <$> pgs' = pg_number <$> pgs → sorted_pages pgs → sorted_pages pgs'.
Proof.
  intros Heq Hs i j x y Hij Hi Hj.
  assert (∀ k z, pgs' !! k = Some z → ∃ z', pgs !! k = Some z' ∧ pg_number z' = pg_number z) as Hback.
  { intros k z Hk. assert ((pg_number <$> pgs) !! k = Some (pg_number z)) as Hk'.
    { by rewrite -Heq list_lookup_fmap Hk. }
    apply list_lookup_fmap_Some in Hk' as (z' & Hz & Hk'). eauto. }
  apply Hback in Hi as (x' & Hi & <-). apply Hback in Hj as (y' & Hj & <-). by eapply Hs.
Qed.

Section segment.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (l : loc) (pgs : list page) (s : slice) (Φ : val → iProp Σ).
  Local Notation Segment := paxos.segment.
  Definition loc_val (p : loc) : val := #p.

  Definition own_pages b (ps : list loc) pgs : iProp Σ :=
    ⌜sorted_pages pgs⌝ ∗ [∗ list] p;pg ∈ ps;pgs, own_page b p pg.
  Definition own_segment_at b l pgs : iProp Σ :=
    ∃ s ps (recent : Z), ⌜0 ≤ recent⌝ ∗
      (l +ₗ field_offset Segment "pages") ↦[b] slice_val s ∗
      (l +ₗ field_offset Segment "recent") ↦[b] #(int recent) ∗
      own_slice_full b s ptrT (loc_val <$> ps) ∗ own_pages b ps pgs.
  Definition own_segment b (lit : base_lit) pgs : iProp Σ :=
    (⌜lit = LitNull ∧ pgs = []⌝ ∨ ∃ l, ⌜lit = LitLoc l⌝ ∗ own_segment_at b l pgs).

  Lemma own_pages_length b ps pgs : own_pages b ps pgs -∗ ⌜length ps = length pgs⌝.
  Proof. iIntros "[_ H]". by iApply big_sepL2_length. Qed.
  Lemma own_pages_acc b ps pgs (k : nat) p : ps !! k = Some p →
    own_pages b ps pgs -∗ ∃ pg, ⌜pgs !! k = Some pg⌝ ∗ own_page b p pg ∗ (own_page b p pg -∗ own_pages b ps pgs).
  Proof.
    iIntros (Hp) "[%Hs H]". iDestruct (big_sepL2_length with "H") as %Hlen.
    destruct (lookup_lt_is_Some_2 pgs k) as [pg Hpg]; [rewrite -Hlen; by eapply lookup_lt_Some|].
    iDestruct (big_sepL2_lookup_acc with "H") as "[Hpage H]"; [done..|].
    iExists pg. iFrame "Hpage". iSplit; [done|]. iIntros "Hpage". iSplit; [done|]. by iApply "H".
  Qed.
  Lemma own_pages_update b ps pgs (k : nat) p : ps !! k = Some p →
    own_pages b ps pgs -∗ ∃ pg, ⌜pgs !! k = Some pg⌝ ∗ own_page b p pg ∗
      (∀ pg', ⌜pg_number pg' = pg_number pg⌝ -∗ own_page b p pg' -∗ own_pages b ps (set_page pgs pg')).
  Proof.
    iIntros (Hp) "[%Hs H]". iDestruct (big_sepL2_length with "H") as %Hlen.
    destruct (lookup_lt_is_Some_2 pgs k) as [pg Hpg]; [rewrite -Hlen; by eapply lookup_lt_Some|].
    iDestruct (big_sepL2_insert_acc with "H") as "[Hpage H]"; [done..|].
    iExists pg. iFrame "Hpage". iSplit; [done|]. iIntros (pg' Hn) "Hpage".
    iSplit; [iPureIntro; eapply sorted_numbers; [apply set_page_numbers|done]|].
    iSpecialize ("H" with "Hpage"). rewrite (list_insert_id ps) // (set_page_insert _ k pg) //.
  Qed.
  Lemma own_page_number b p pg : own_page b p pg -∗
    (p +ₗ field_offset paxos.page "number") ↦[b] #(u32 (pg_number pg)) ∗
    ((p +ₗ field_offset paxos.page "number") ↦[b] #(u32 (pg_number pg)) -∗ own_page b p pg).
  Proof.
    iIntros "(%sp & %sv & %sl & %st & %ss & %slots & %table & %mem & #Hok & #Htable & #Hcap & Hnumber & Hrest)".
    iFrame "Hnumber". iIntros "Hnumber". iExists sp, sv, sl, st, ss, slots, table, mem.
    iFrame "Hok Htable Hcap Hnumber Hrest".
  Qed.
  (** The search for laters need not look into these. *)
  Local Typeclasses Opaque own_ty own_page.

  (** [s.pages[i].number] *)
  Lemma wp_number b s ps pgs w (i : Z) pg : 0 ≤ i → pgs !! Z.to_nat i = Some pg →
    {{{ own_slice b s ptrT (DfracOwn 1) (loc_val <$> ps) ∗ own_pages b ps pgs }}}
      ![uint32T] ((slice_get ptrT (slice_val s) #(LitInt w i)).[paxos.page, "number"]) @ b; ⊤
    {{{ RET #(u32 (pg_number pg)); own_slice b s ptrT (DfracOwn 1) (loc_val <$> ps) ∗ own_pages b ps pgs }}}.
  Proof.
    iIntros (Hi Hpg Φ) "[Hs Hps] HΦ". iDestruct (own_pages_length with "Hps") as %Hlen.
    destruct (lookup_lt_is_Some_2 ps (Z.to_nat i)) as [p Hp]; [rewrite Hlen; by eapply lookup_lt_Some|].
    wp_apply (wp_slice_get with "Hs"); [done|by rewrite list_lookup_fmap Hp|]. iIntros "Hs". rewrite /loc_val.
    iDestruct (own_pages_acc with "Hps") as (pg') "(%Hpg' & Hpage & Hps)"; [done|]. simplify_eq.
    iDestruct (own_page_number with "Hpage") as "[Hn Hpage]". wp_load. wp_pures.
    iApply "HΦ". iFrame "Hs". iApply "Hps". by iApply "Hpage".
  Qed.

  Lemma wp_segment__find b l pgs (n : Z) :
    {{{ own_segment_at b l pgs }}}
      paxos.segment__find #l #(u32 n) @ b; ⊤
    {{{ k, RET #(int k); own_segment_at b l pgs ∗ ⌜0 ≤ k ≤ length pgs⌝ ∗
        ⌜∀ i pg, pgs !! i = Some pg → pg_number pg = n → i = Z.to_nat k⌝ ∗
        ⌜∀ i pg, pgs !! i = Some pg → pg_number pg < n ↔ (i < Z.to_nat k)%nat⌝ }}}.
  Proof.
    iIntros (Φ) "(%s & %ps & %recent & %Hrecent & Hpages & Hr & [Hs Hcap] & Hps) HΦ".
    iDestruct (own_pages_length with "Hps") as %Hlenp.
    iDestruct (own_slice_length with "Hs") as %[Hlen Hmax]. rewrite fmap_length Hlenp in Hlen Hmax.
    iAssert ⌜sorted_pages pgs⌝%I as %Hsorted. { by iDestruct "Hps" as "[$ _]". }
    assert (∀ i j pg1 pg2, pgs !! i = Some pg1 → pgs !! j = Some pg2 → pg_number pg1 = pg_number pg2 → i = j) as Hinj.
    { intros i j pg1 pg2 H1 H2 Heq. destruct (Nat.lt_trichotomy i j) as [Hij|[->|Hij]]; [|done|].
      - pose proof (Hsorted _ _ _ _ Hij H1 H2). lia.
      - pose proof (Hsorted _ _ _ _ Hij H2 H1). lia. }
    wp_rec. wp_load. wp_load. wp_pures. rewrite Hlen.
    wp_bind (If (Val (LitV (LitBool (bool_decide (recent < _))))) _ _).
    iApply (wpe_wand _ _ _ (λ v, ∃ c : bool, ⌜v = #c⌝ ∗
      ⌜c = true → recent ≤ length pgs ∧ ∃ pg, pgs !! Z.to_nat recent = Some pg ∧ pg_number pg = n⌝ ∗
      (l +ₗ field_offset Segment "pages") ↦[b] slice_val s ∗
      (l +ₗ field_offset Segment "recent") ↦[b] #(int recent) ∗
      own_slice b s ptrT (DfracOwn 1) (loc_val <$> ps) ∗ own_pages b ps pgs)%I with "[Hpages Hr Hs Hps]").
    { case_bool_decide as Hlt; wp_pures; last first. { iExists false. iFrame. done. }
      destruct (lookup_lt_is_Some_2 pgs (Z.to_nat recent)) as [pg Hpg]; [lia|].
      wp_load. wp_load. wp_apply (wp_number with "[$Hs $Hps]"); [lia|done|]. iIntros "[Hs Hps]". wp_pures.
      iExists _. iSplit; [done|]. iFrame. iPureIntro. intros Heq%bool_decide_eq_true. injection Heq as Heq. eauto with lia. }
    iIntros (v) "(%c & -> & %Hc & Hpages & Hr & Hs & Hps)". destruct c; wp_pures.
    { destruct (Hc eq_refl) as (Hle & pg & Hpg & Hn). wp_load. wp_pures. iApply "HΦ". iSplitL; [|iPureIntro; split_and!; [lia|lia| |]].
      - iExists s, ps, recent. iSplit; [done|]. iFrame.
      - intros i pg' Hi Hn'. apply (Hinj i _ pg' pg); [done|done|congruence].
      - intros i pg' Hi. destruct (Nat.lt_trichotomy i (Z.to_nat recent)) as [Hlt|[->|Hgt]].
        + pose proof (Hsorted _ _ _ _ Hlt Hi Hpg). lia.
        + simplify_eq. lia.
        + pose proof (Hsorted _ _ _ _ Hgt Hpg Hi). lia. }
    wp_alloc lo as "Hlo". wp_load. wp_alloc hi as "Hhi". wp_pures. rewrite Hlen.
    wp_apply (wp_binary_search (λ j, ∀ pg, pgs !! Z.to_nat j = Some pg → pg_number pg < n)
      ((l +ₗ field_offset Segment "pages") ↦[b] slice_val s ∗
       own_slice b s ptrT (DfracOwn 1) (loc_val <$> ps) ∗ own_pages b ps pgs)%I
      with "Hlo Hhi [$Hpages $Hs $Hps]"); [lia| | |].
    { intros i j Hij Hj HP pg Hpg. destruct (lookup_lt_is_Some_2 pgs (Z.to_nat j)) as [pg' Hpg']; [lia|].
      specialize (HP _ Hpg'). destruct (decide (i = j)) as [->|]; [by simplify_eq|].
      pose proof (Hsorted (Z.to_nat i) (Z.to_nat j) pg pg' ltac:(lia) Hpg Hpg'). lia. }
    { iIntros "!>" (mid Hmid) "(Hpages & Hs & Hps)". simpl. wp_load.
      destruct (lookup_lt_is_Some_2 pgs (Z.to_nat mid)) as [pg Hpg]; [lia|].
      wp_apply (wp_number with "[$Hs $Hps]"); [lia|done|]. iIntros "[Hs Hps]". wp_pures.
      iExists _. iSplit; [done|]. iFrame. iPureIntro. case_bool_decide as Hlt.
      - intros pg' Hpg'. by simplify_eq.
      - intros HP. apply Hlt. by apply HP. }
    iIntros (k Hk Hlow Hhigh) "Hlo (Hpages & Hs & Hps)". wp_pures. wp_load. wp_store. wp_load. wp_pures.
    iApply "HΦ". iSplitL; [|iPureIntro; split_and!; [lia|lia| |]].
    - iExists s, ps, k. iSplit; [iPureIntro; lia|]. iFrame.
    - intros i pg Hi Hn. destruct (Nat.lt_trichotomy i (Z.to_nat k)) as [Hik|[->|Hik]]; [|done|].
      + specialize (Hlow i ltac:(lia) pg). rewrite Nat2Z.id in Hlow. specialize (Hlow Hi). lia.
      + apply lookup_lt_Some in Hi as Hil. destruct (lookup_lt_is_Some_2 pgs (Z.to_nat k)) as [pg' Hpg']; [lia|].
        exfalso. apply (Hhigh k); [lia|]. intros pg'' Hpg''. simplify_eq.
        pose proof (Hsorted _ _ _ _ Hik Hpg' Hi). lia.
    - intros i pg Hi. apply lookup_lt_Some in Hi as Hil. split; intros Hlt.
      + destruct (decide (i < Z.to_nat k)%nat); [done|]. exfalso. apply (Hhigh i); [lia|].
        intros pg'. rewrite Nat2Z.id. intros. by simplify_eq.
      + apply (Hlow i); [lia|]. by rewrite Nat2Z.id.
  Qed.
End segment.

(** * Recovery of the replicated disk: Open *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.golib Require Import append sync readonly control.
From ashlar.logic Require Import harness two.
From ashlar.gen.examples Require replicateddisk.
From ashlar.replicateddisk Require Import spec inv disk proof.
Open Scope Z_scope.

(** A range of integers grows at its end. *)
Lemma seqZ_snoc i : 0 ≤ i → seqZ 0 (i + 1) = seqZ 0 i ++ [i].
Proof. intros Hi. by rewrite seqZ_app //; lia. Qed.
Lemma seqZ_next i n : i < n → seqZ i (n - i) = i :: seqZ (i + 1) (n - (i + 1)).
Proof. intros Hi. rewrite seqZ_cons; [|lia]. f_equal. f_equal; lia. Qed.

Section recovery.
  Context `{!golangGS Σ, !replicatedG Σ}.
  Context (d : gmap Z (list Z)) `{!specG Σ (replicated_spec d)}.
  Implicit Types (b : boot) (γ : spec_names) (γm : gname) (m : gmap Z address) (Φ : val → iProp Σ).

  (** An address that no write is at, and that recovery has yet to come to. *)
  Definition address_left γm a : iProp Σ := ∃ ad, a ↪[γm] ad ∗ ⌜ad_phase ad = Unknown⌝.

  Lemma wp_recoverBlock b γ γm (h : val) a :
    {{{ replicated_ctx d b γ γm ∗ address_left γm a }}}
      replicateddisk.recoverBlock h #(u64 a) @ b; ⊤
    {{{ RET #(); address_lease γm a }}}.
  Proof.
    iIntros (Φ) "[#Hctx (%ad & Hlease & %Hphase)] HΦ".
    wp_rec. wp_pures. wp_rec. wp_pures. wp_bind (Eff _ _).
    iApply (replicated_open with "Hctx"); [done|]. iIntros (m) "Hd Ha HS".
    iApply (wp_read_0 _ _ _ _ _ a with "Hd Hlease").
    iIntros "!>" (r ok [Hlk Hok]) "Hd Hlease Hr". destruct ok.
    - (* disk 0 lives: what it has goes to disk 1, and then that is what it is *)
      iDestruct "Hr" as %->.
      iModIntro. iModIntro. iExists m. iFrame "Hd Ha HS". iSplit; [done|]. wp_pures.
      wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hok|]. iIntros (sl) "[Hs _]". wp_pures.
      wp_rec. wp_pures. wp_apply (wp_slice_to_string with "Hs"). iIntros "_". wp_pures.
      wp_bind (Eff _ _). clear dependent m.
      iApply (replicated_open with "Hctx"); [done|]. iIntros (m) "Hd Ha HS".
      iApply (wp_recover_1 _ _ _ _ _ a with "Hd Hlease"). iIntros "!> %Hlk Hd Hlease".
      iMod (spec_settle _ _ _ _ _ _ _ (ad_0 ad) with "Hd Ha HS") as "(Hd & Ha & HS)"; [done| |].
      { rewrite /may_be Hphase. by left. }
      iModIntro. iModIntro. iExists _. iFrame "Hd Ha HS".
      iSplit; [by erewrite dom_insert_same|]. iApply "HΦ". by iExists _.
    - (* disk 0 has failed: it is what disk 1 has *)
      iMod (two_disks_settle_1 with "Hr Hd Hlease") as "[Hd Hlease]".
      iMod (spec_settle _ _ _ _ _ _ _ (ad_1 ad) with "Hd Ha HS") as "(Hd & Ha & HS)"; [done| |].
      { rewrite /may_be Hphase. by right. }
      iModIntro. iModIntro. iExists _. iFrame "Hd Ha HS".
      iSplit; [by erewrite dom_insert_same|]. wp_pures.
      wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hok|]. iIntros (sl) "_". wp_pures.
      iApply "HΦ". by iExists _.
  Qed.

  Lemma wp_recoverAll b γ γm (h : val) n :
    0 ≤ n < 2^64 →
    {{{ replicated_ctx d b γ γm ∗ [∗ list] a ∈ seqZ 0 n, address_left γm a }}}
      replicateddisk.recoverAll h #(u64 n) @ b; ⊤
    {{{ RET #(); [∗ list] a ∈ seqZ 0 n, address_lease γm a }}}.
  Proof.
    iIntros (Hn Φ) "[#Hctx Hleft] HΦ". wp_rec. wp_alloc l as "Hl". wp_pures.
    iApply (wp_for_upto (λ i, ([∗ list] a ∈ seqZ 0 i, address_lease γm a) ∗
      [∗ list] a ∈ seqZ i (n - i), address_left γm a)%I _ _ _ 0 n with "Hl [Hleft]");
      [lia|done|rewrite /in_range; lia| | |].
    - rewrite Z.sub_0_r. by iFrame.
    - iIntros "!>" (i Hi _) "Hl [Hdone Hleft]". wp_pures. wp_load.
      rewrite seqZ_next; [|lia]. iDestruct "Hleft" as "[Hi Hleft]".
      wp_apply (wp_recoverBlock with "[$Hctx $Hi]"). iIntros "Hi". iFrame "Hl Hleft".
      rewrite seqZ_snoc; [|lia]. rewrite big_sepL_snoc. iFrame.
    - iIntros "_ [Hdone _]". by iApply "HΦ".
  Qed.

  (** The locks, which protect nothing yet. *)
  Lemma wp_newLocks b n :
    0 ≤ n < 2^64 →
    {{{ True }}}
      replicateddisk.newLocks #(u64 n) @ b; ⊤
    {{{ sl (ls : list loc), RET slice_val sl;
        ⌜Z.of_nat (length ls) = n⌝ ∗ own_slice b sl ptrT (DfracOwn 1) ((λ l : loc, #l) <$> ls) ∗
        [∗ list] l ∈ ls, l ↦[b] #false }}}.
  Proof.
    iIntros (Hn Φ) "_ HΦ". wp_rec. wp_pures.
    wp_apply (wp_ref_zero with "[//]"). iIntros (v) "Hv". simpl. wp_pures. wp_alloc l as "Hl". wp_pures.
    wp_bind (for_simple _ _ _).
    iApply (wp_for_upto (λ i, ∃ sl (ls : list loc), v ↦[b] slice_val sl ∗ ⌜Z.of_nat (length ls) = i⌝ ∗
      own_slice_full b sl ptrT ((λ l : loc, #l) <$> ls) ∗ [∗ list] l ∈ ls, l ↦[b] #false)%I
      _ _ _ 0 n with "Hl [Hv]"); [lia|done|rewrite /in_range; lia| | |].
    - iExists nil_slice, []. iFrame "Hv". iSplit; [done|]. iSplit; [|done]. iApply own_slice_full_nil.
    - iIntros "!>" (i Hi _) "Hl (%sl & %ls & Hv & %Hlen & Hsl & Hls)". wp_pures.
      wp_apply (wp_ref_zero with "[//]"). iIntros (l2) "Hl2". simpl. wp_load.
      wp_apply (wp_append_one with "Hsl"); [done|]. iIntros (sl2) "Hsl". wp_store. wp_pures. iFrame "Hl".
      iExists sl2, (ls ++ [l2]). iFrame "Hv". rewrite fmap_app big_sepL_snoc. iFrame.
      iPureIntro. rewrite app_length /=. lia.
    - iIntros "_ (%sl & %ls & Hv & %Hlen & [Hsl _] & Hls)". wp_pures. wp_load. wp_pures.
      iApply "HΦ". by iFrame.
  Qed.

  (** Each lock protects an address from now on. *)
  Lemma big_sepL_indices {A} (l : list A) (P : Z → iProp Σ) :
    ([∗ list] a ∈ seqZ 0 (length l), P a) ⊣⊢ [∗ list] a ↦ _ ∈ l, P (Z.of_nat a).
  Proof.
    induction l as [|x l IH] using rev_ind; [done|].
    rewrite app_length /= Nat2Z.inj_add seqZ_snoc; [|lia]. rewrite !big_sepL_snoc IH. done.
  Qed.
  Lemma locks_alloc b γm (ls : list loc) :
    ([∗ list] l ∈ ls, l ↦[b] #false) -∗
    ([∗ list] a ∈ seqZ 0 (length ls), address_lease γm a) ={⊤}=∗
    [∗ list] a ↦ l ∈ ls, is_mutex b l (address_lease γm (Z.of_nat a)).
  Proof.
    iIntros "Hls Hleases". rewrite big_sepL_indices. iCombine "Hls Hleases" as "H".
    rewrite -big_sepL_sep. iApply big_sepL_fupd. iApply (big_sepL_impl with "H").
    iIntros "!>" (a l _) "[Hl Hlease]". iApply (mutex_alloc with "Hl"). by iNext.
  Qed.

  Lemma wp_Open b γ γm (h : val) :
    0 ≤ two_size (b_node b) < 2^64 →
    {{{ replicated_ctx d b γ γm ∗ [∗ list] a ∈ seqZ 0 (two_size (b_node b)), address_left γm a }}}
      replicateddisk.Open h @ b; ⊤
    {{{ p, RET #p; is_replicated d b γ γm p }}}.
  Proof.
    iIntros (Hn Φ) "[#Hctx Hleft] HΦ". wp_rec. wp_rec. wp_bind (Eff _ _).
    iApply wpe_two_size. iNext. wp_pures.
    wp_apply (wp_recoverAll with "[$Hctx $Hleft]"); [done|]. iIntros "Hdone". wp_pures.
    wp_apply (wp_newLocks with "[//]"); [done|]. iIntros (sl ls) "(%Hlen & Hsl & Hls)".
    iMod (locks_alloc with "Hls [Hdone]") as "#Hls"; [by rewrite Hlen|].
    iMod (own_slice_persist with "Hsl") as "#Hsl".
    iApply wpe_fupd. wp_alloc p as "(Htwo & Hlocks & _)".
    iMod (pointsto_persist with "Htwo") as "#Htwo". iMod (pointsto_persist with "Hlocks") as "#Hlocks".
    iModIntro. iApply "HΦ". iExists h, sl, ls. by iFrame "Hctx Htwo Hlocks Hsl Hls".
  Qed.
End recovery.

(** * The buffer of group commit, in memory *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.wal Require Import library.
From ashlar.gen.examples Require groupcommit.
From ashlar.groupcommit Require Export inv.
Open Scope Z_scope.

Section memory.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (us : list update) (Φ : val → iProp Σ).
  Local Notation Log := groupcommit.Log.

  (** What waits, in memory. *)
  Definition gc_buffer b (l : loc) us : iProp Σ :=
    ∃ sa sb,
      (l +ₗ field_offset Log "addrs") ↦[b] slice_val sa ∗
      (l +ₗ field_offset Log "blocks") ↦[b] slice_val sb ∗
      own_slice_full b sa uint64T (u64_val <$> us.*1) ∗
      own_blocks_full b sb us.*2.

  (** [i] updates wait up to the last of address [a]. *)
  Definition latest_is us (a i : Z) : Prop :=
    (i = 0 ∧ last_update us a = None) ∨
    (∃ (j : nat) u, i = j + 1 ∧ us !! j = Some u ∧ last_update us a = Some u.2).

  Lemma wp_Log__latest b (l : loc) us a Φ :
    gc_buffer b l us -∗
    (∀ i, ⌜latest_is us a i⌝ -∗ gc_buffer b l us -∗ Φ #(u64 i)) -∗
    WP groupcommit.Log__latest #l #(u64 a) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros "(%sa & %sb & Ha & Hb & [Hsa Hcap] & Hsb) HΦ". wp_rec. wp_pures. wp_load. wp_pures.
    iDestruct (own_slice_length with "Hsa") as %[Hlen Hmax]. unfold max_elems in Hmax.
    rewrite fmap_length fmap_length in Hlen Hmax. rewrite Hlen. rewrite_wrap.
    wp_alloc lf as "Hlf". wp_pures. wp_alloc li as "Hli". wp_pures. wp_bind (for_simple _ _ _).
    iApply (wp_count _ _ _ (λ i, ∃ f, lf ↦[b] #(u64 f) ∗ ⌜latest_is (take (Z.to_nat i) us) a f⌝ ∗
      (l +ₗ field_offset Log "addrs") ↦[b] slice_val sa ∗
      own_slice b sa uint64T (DfracOwn 1) (u64_val <$> us.*1))%I
      with "[] Hli [Hlf Ha Hsa]"); [int_solve| | |]; last first.
    { iIntros "(%f & Hlf & %Hf & Ha & Hsa)". wp_pures. wp_load.
      rewrite Nat2Z.id firstn_all in Hf. wp_pures. iApply ("HΦ" with "[//] [-]"). iExists sa, sb. by iFrame. }
    { iExists 0. iFrame. iPureIntro. by left. }
    iIntros "!>" (i Hi) "Hli (%f & Hlf & %Hf & Ha & Hsa)".
    destruct (lookup_lt_is_Some_2 us (Z.to_nat i)) as [u Hu]; [lia|].
    wp_pures. wp_load. wp_load.
    wp_apply (wp_slice_get with "Hsa"); [lia|by rewrite !list_lookup_fmap Hu|].
    iIntros "Hsa". wp_pures. replace (Z.to_nat (i + 1)) with (S (Z.to_nat i)) by lia.
    rewrite (take_S_r _ _ _ Hu). case_bool_decide as Heq; wp_pures.
    - injection Heq as Heq. wp_load. wp_store. wp_pures. rewrite_wrap. iFrame "Hli". iExists (i + 1). iFrame. iPureIntro.
      right. exists (Z.to_nat i), u. split; [lia|]. rewrite last_update_snoc decide_True //.
      split; [|done]. rewrite lookup_app_r take_length; [|lia].
      apply lookup_lt_Some in Hu. by replace (Z.to_nat i - _ `min` _)%nat with 0%nat by lia.
    - iFrame "Hli". iExists f. iFrame. iPureIntro.
      assert (u.1 ≠ a) as Hne by congruence. rewrite /latest_is last_update_snoc decide_False //.
      destruct Hf as [Hf|(j & w & Hj & Hw & Hf)]; [by left|]. right. exists j, w.
      split; [done|]. split; [|done]. rewrite lookup_app_l //. by apply lookup_lt_Some in Hw.
  Qed.

  Lemma wp_clone b s (bs : list Z) Φ : block_ok bs →
    own_bytes b s (DfracOwn 1) bs -∗
    (∀ c, own_bytes b s (DfracOwn 1) bs -∗ own_bytes b c (DfracOwn 1) bs -∗ Φ (slice_val c)) -∗
    WP groupcommit.clone (slice_val s) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hbs) "Hs HΦ". wp_rec. wp_pures.
    wp_apply (wp_make_bytes with "[//]"); [by rewrite /max_elems|]. iIntros (c) "[Hc _]". wp_pures.
    wp_apply (wp_copy_bytes with "[$Hc $Hs]"). iIntros "[Hc Hs]". wp_pures.
    iApply ("HΦ" with "Hs"). rewrite /block_ok /block_size in Hbs.
    rewrite take_ge; [|rewrite replicate_length; lia].
    rewrite drop_ge; [|rewrite replicate_length; lia]. by rewrite app_nil_r.
  Qed.

  Lemma wp_append_blocks b sl sl2 (bs bs2 : list (list Z)) Φ :
    own_blocks_full b sl bs -∗ own_blocks b sl2 bs2 -∗
    (∀ sl', own_blocks_full b sl' (bs ++ bs2) -∗ Φ (slice_val sl')) -∗
    WP append_slice sliceT (slice_val sl) (slice_val sl2) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros "(%ss & Hs & Hbs) (%ss2 & Hs2 & Hbs2) HΦ".
    wp_apply (wp_append_slice with "[$Hs $Hs2]"). iIntros (sl') "[Hs _]". iApply "HΦ".
    iExists (ss ++ ss2). rewrite fmap_app. iFrame "Hs". iApply (big_sepL2_app with "Hbs Hbs2").
  Qed.
End memory.

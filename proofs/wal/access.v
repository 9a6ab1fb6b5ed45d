(** * The accesses of the log's functions to the disk, with the slices that they use *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.golib Require Export slice_rules append disk readonly.
From ashlar.logic Require Import harness.
From ashlar.wal Require Export inv loop.
From ashlar.gen.examples Require Export wal.
Open Scope Z_scope.

Section memory.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot).

  (** Slices of blocks, each with its bytes. *)
  Definition own_blocks b sl (bs : list (list Z)) : iProp Σ :=
    ∃ ss, own_slice b sl sliceT (DfracOwn 1) (slice_val <$> ss) ∗
      [∗ list] s;bl ∈ ss;bs, own_bytes b s (DfracOwn 1) bl.
  Lemma own_blocks_length b sl bs : own_blocks b sl bs -∗ ⌜sl_len sl = length bs⌝.
  Proof.
    iIntros "(%ss & Hs & Hbs)". iDestruct (big_sepL2_length with "Hbs") as %<-.
    iDestruct (own_slice_length with "Hs") as %[-> _]. by rewrite fmap_length.
  Qed.


  (** The same with the room behind it, to append to. *)
  Definition own_blocks_full b sl (bs : list (list Z)) : iProp Σ :=
    ∃ ss, own_slice_full b sl sliceT (slice_val <$> ss) ∗
      [∗ list] s;bl ∈ ss;bs, own_bytes b s (DfracOwn 1) bl.
  Lemma own_blocks_full_split b sl bs :
    own_blocks_full b sl bs ⊣⊢ own_blocks b sl bs ∗ own_slice_cap b sl sliceT.
  Proof.
    iSplit.
    - iIntros "(%ss & [Hs $] & Hbs)". iExists ss. iFrame.
    - iIntros "[(%ss & Hs & Hbs) Hc]". iExists ss. iFrame.
  Qed.
  Lemma own_blocks_full_nil b : ⊢ own_blocks_full b nil_slice [].
  Proof. iExists []. iSplit; [iApply own_slice_full_nil|done]. Qed.
  Lemma wp_append_block b sl bs s bl Φ :
    own_blocks_full b sl bs -∗ own_bytes b s (DfracOwn 1) bl -∗
    (∀ sl', own_blocks_full b sl' (bs ++ [bl]) -∗ Φ (slice_val sl')) -∗
    WP append_one sliceT (slice_val sl) (slice_val s) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros "(%ss & Hs & Hbs) Hbl HΦ". wp_apply (wp_append_one with "Hs"); [done|].
    iIntros (sl') "Hs". iApply "HΦ". iExists (ss ++ [s]). rewrite fmap_app. iFrame "Hs".
    iApply (big_sepL2_app with "Hbs"). by iFrame.
  Qed.
End memory.

Section access.
  Context `{!golangGS Σ, !walG Σ}.
  Context (sp : spec) `{!specG Σ sp}.
  Context (ns : namespace) (N : Z) (P : boot → spec_names → list gname → disk → iProp Σ).
  Context `{!∀ b γ γu σ, Timeless (P b γ γu σ)}.
  Implicit Types (b : boot) (d σ : disk) (us : list update).
  Local Notation wal_ctx := (wal_ctx sp ns N P).
  Local Notation wal_lease := (wal_lease N).

  Lemma wp_read b γ γl γu d us a s (h : val) Φ : d !! a = Some s →
    wal_ctx b γ γl γu -∗ wal_lease γl d us -∗
    (∀ sl, wal_lease γl d us -∗ own_bytes_full b sl s -∗ Φ (slice_val sl)) -∗
    WP disk.Disk__Read h #(u64 a) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha) "#Hctx Hlease HΦ". iDestruct (wal_lease_rel with "Hlease") as %Hrel.
    iApply wp_Disk__Read. iApply (wal_read_any with "Hctx Hlease"); [done|]. iIntros "!> Hlease".
    iExists s. iSplit; [done|]. iSplit; [iPureIntro; by eapply rel_block_ok|].
    iIntros (sl) "Hs". iApply ("HΦ" with "Hlease Hs").
  Qed.
  (** The log is filled while the header announces nothing. *)
  Lemma wp_writeEntries b γ γl γu d us (h : val) sl Φ : (length us ≤ 511)%nat →
    Forall block_ok us.*2 →
    wal_ctx b γ γl γu -∗ wal_lease γl d [] -∗ own_blocks b sl us.*2 -∗
    (∀ d' : disk, ⌜∀ (i : nat) (u : update), us !! i = Some u → d' !! (1 + Z.of_nat i)%Z = Some u.2⌝ -∗
       wal_lease γl d' [] -∗ own_blocks b sl us.*2 -∗ Φ #()) -∗
    WP writeEntries h (slice_val sl) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hlen Hok) "#Hctx Hlease Hbs HΦ".
    iDestruct (own_blocks_length with "Hbs") as %Hsl. rewrite fmap_length in Hsl.
    wp_rec. wp_pures. rewrite Hsl. rewrite_wrap. wp_alloc li as "Hli". wp_pures.
    iApply (wp_count _ _ _ (λ i, ∃ d' : disk, wal_lease γl d' [] ∗ own_blocks b sl us.*2 ∗
      ⌜∀ (k : nat) (u : update), Z.of_nat k < i → us !! k = Some u → d' !! (1 + Z.of_nat k)%Z = Some u.2⌝)%I
      with "[] Hli [Hlease Hbs]"); [int_solve| | |]; last first.
    { iIntros "(%d' & Hlease & Hbs & %Hd')". iApply ("HΦ" with "[%] Hlease Hbs").
      intros i u Hu. apply Hd'; [|done]. apply lookup_lt_Some in Hu. lia. }
    { iExists d. iFrame. iPureIntro. lia. }
    iIntros "!>" (i Hi) "Hli (%d' & Hlease & (%ss & Hs & Hbs) & %Hd')".
    destruct (lookup_lt_is_Some_2 us.*2 (Z.to_nat i)) as [bl Hbl]; [rewrite fmap_length; lia|].
    iDestruct (big_sepL2_length with "Hbs") as %Hss.
    destruct (lookup_lt_is_Some_2 ss (Z.to_nat i)) as [s Hsi]; [rewrite Hss fmap_length; lia|].
    wp_pures. wp_load. wp_apply (wp_slice_get with "Hs"); [lia|by rewrite list_lookup_fmap Hsi|].
    iIntros "Hs". wp_load. wp_pures. rewrite_wrap.
    iDestruct (big_sepL2_lookup_acc with "Hbs") as "[Hbl Hbs]"; [done|done|].
    iDestruct (wal_lease_rel with "Hlease") as %Hrel. pose proof (rel_fits _ _ _ _ Hrel) as Hfits.
    assert (block_ok bl) as Hblok by (by eapply Forall_lookup_1).
    iApply (wp_Disk__Write with "Hbl"). iIntros "Hbl".
    iApply (wal_write_same sp ns N P _ _ _ _ _ _ [] with "Hctx Hlease"); [ |done| | ].
    { eapply rel_is_Some; [done|]. rewrite /data_start in Hfits. lia. }
    { intros σ Hσ. apply rel_log; [done| |done]. rewrite /data_start. lia. }
    iIntros "!> Hlease". iFrame "Hli". iExists _. iFrame "Hlease". iSplitL.
    { iExists ss. iFrame "Hs". by iApply "Hbs". }
    iPureIntro. intros k u Hk Hu. destruct (decide (Z.of_nat k = i)) as [<-|].
    - rewrite lookup_insert. rewrite Nat2Z.id list_lookup_fmap Hu in Hbl. by injection Hbl as <-.
    - rewrite lookup_insert_ne; [|lia]. apply Hd'; [lia|done].
  Qed.
End access.

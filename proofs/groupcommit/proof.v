(** * The operations of group commit *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.golib Require Import sync.
From ashlar.logic Require Import harness.
From ashlar.wal Require Import library.
From ashlar.groupcommit Require Export buffer.
Open Scope Z_scope.

(** The load of a cell that never changes. *)
Local Ltac wp_load_const H :=
  wp_bind (App (Val (load _)) _); iApply (wp_load_base with H); iIntros "!> _".

Section proof.
  Context `{!golangGS Σ, !walG Σ, !gcG Σ}.
  Context (N : Z) (σ0 : disk).
  Local Notation sp := (gc_spec N σ0).
  Context `{!specG Σ sp}.
  Implicit Types (b : boot) (γ : spec_names) (us : list update) (σ : disk).
  Local Notation gc_P := (gc_P N σ0).
  Local Notation Log := groupcommit.Log.

  (** What the lock protects: the buffer, and the right to change what waits. *)
  Definition gc_protected b γw (l : loc) : iProp Σ :=
    ∃ us, gc_buffer b l us ∗ gc_waits γw us ∗ ⌜commit_ok N us⌝.
  Definition is_gc b γ (γs : list gname) (v : val) : iProp Σ :=
    ∃ (l : loc) γl γw (w : val),
      ⌜v = #l⌝ ∗ ⌜γs = [γl; γw]⌝ ∗
      (* the log below *)
      (l +ₗ field_offset Log "w") ↦[b]{DfracDiscarded} w ∗
      is_log sp walN N gc_P b γ γl [γw] w ∗
      wal_ctx sp walN N gc_P b γ γl [γw] ∗
      is_mutex b (l +ₗ field_offset Log "mu") (gc_protected b γw l).
  Global Instance is_gc_persistent b γ γs v : Persistent (is_gc b γ γs v).
  Proof. apply _. Qed.

  Lemma commit_ok_nil : commit_ok N [].
  Proof. split; [done|constructor]. Qed.
  Lemma gc_buffer_nil b l :
    (l +ₗ field_offset Log "addrs") ↦[b] slice_nil -∗
    (l +ₗ field_offset Log "blocks") ↦[b] slice_nil -∗ gc_buffer b l [].
  Proof.
    iIntros "Ha Hb". iExists nil_slice, nil_slice. iFrame.
    iSplit; [iApply own_slice_full_nil|iApply own_blocks_full_nil].
  Qed.

  Lemma wp_gc_Open b γ γs (h : val) :
    lib_ctx sp walN (wal_inv N gc_P) b γ γs -∗ wal_rec N gc_R b γ γs -∗
    WP groupcommit.Open h @ b; ⊤ {{ v, is_gc b γ γs v }}.
  Proof.
    iIntros "#Hctx (%γl & %γu & %d & %us & -> & Hlease & (%γw & -> & Hw))". wp_rec. wp_pures.
    wp_bind (wal.Open _). iApply (wp_Open sp walN N gc_P with "[] Hlease"); [iApply "Hctx"|].
    iIntros (w) "#Hlog". wp_pures. iApply wpe_fupd. wp_alloc l as "(Hmu & Hlw & Ha & Hb & _)".
    iMod (mutex_alloc _ _ _ (gc_protected b γw l) with "Hmu [Ha Hb Hw]") as "#Hmu".
    { iExists []. iFrame "Hw". iSplit; [|iPureIntro; apply commit_ok_nil].
      iApply (gc_buffer_nil with "Ha Hb"). }
    iMod (pointsto_persist with "Hlw") as "#Hlw".
    iModIntro. iExists l, γl, γw, w. by iFrame "Hlw Hlog Hmu Hctx".
  Qed.

  (** The effect of a commit, at a load of a cell of the buffer. *)
  Lemma wp_gc_commit_load b γ γl γw l v us us2 k Φ : commit_ok N us2 →
    wal_ctx sp walN N gc_P b γ γl [γw] -∗ gc_waits γw us -∗ pending γ k (gc_commit_call us2) -∗
    l ↦[b] v -∗
    (∀ fits : bool, ⌜fits = bool_decide (Z.of_nat (length us) + Z.of_nat (length us2) ≤ max_updates)⌝ -∗
      l ↦[b] v -∗ gc_waits γw (if fits then us ++ us2 else us) -∗ returns γ k #fits -∗ Φ v) -∗
    WP ![sliceT] #l @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hus2) "#Hctx Hw Hk Hl HΦ". wp_rec.
    set (fits := bool_decide (Z.of_nat (length us) + Z.of_nat (length us2) ≤ max_updates)).
    iApply (wal_look sp walN N gc_P _ _ _ _ _
      (gc_waits γw (if fits then us ++ us2 else us) ∗ returns γ k #fits)%I with "Hctx [Hw Hk]"); [done| |].
    - iIntros (σ). iApply (gc_P_step with "Hw Hk"). subst fits. case_bool_decide as Hfits.
      + by apply (GcCommit N us2 (GcState σ us)).
      + by apply (GcNoRoom N us2 (GcState σ us)).
    - iIntros "[Hw Hk]". iApply (wpe_load with "Hl"). iIntros "!> Hl".
      by iApply ("HΦ" with "[//] Hl Hw Hk").
  Qed.
  Lemma wp_gc_Commit b γ γs (v : val) us2 sa2 sb2 dq k : commit_ok N us2 →
    is_gc b γ γs v -∗ pending γ k (gc_commit_call us2) -∗
    own_slice b sa2 uint64T dq (u64_val <$> us2.*1) -∗ own_blocks b sb2 us2.*2 -∗
    WP groupcommit.Log__Commit v (slice_val sa2) (slice_val sb2) @ b; ⊤ {{ r, returns γ k r }}.
  Proof.
    iIntros (Hus2) "(%l & %γl & %γw & %w & -> & -> & #Hlw & #Hlog & #Hctx & #Hmu) Hk Hsa2 Hsb2".
    wp_rec. wp_pures. wp_apply (wp_mutex_lock with "Hmu").
    iIntros "[Hheld (%us & (%sa & %sb & Ha & Hb & Hsa & Hsb) & Hw & %Hus)]". wp_pures.
    iDestruct (own_slice_length with "Hsa2") as %[Hlen2 _]. rewrite !fmap_length in Hlen2.
    iDestruct "Hsa" as "[Hsa Hcap]".
    iDestruct (own_slice_length with "Hsa") as %[Hlen _]. rewrite !fmap_length in Hlen.
    iCombine "Hsa Hcap" as "Hsa". pose proof (proj1 Hus) as Hmax. pose proof (proj1 Hus2) as Hmax2.
    rewrite /max_updates in Hmax Hmax2. rewrite Hlen2.
    wp_bind (App (Val (load _)) _). iApply (wp_gc_commit_load with "Hctx Hw Hk Ha"); [done|].
    iIntros (fits Hfits) "Ha Hw Hk". wp_pures. rewrite Hlen. rewrite_wrap.
    change (bool_decide (Z.of_nat (length us) + Z.of_nat (length us2) ≤ wal.MaxUpdates))
      with (bool_decide (Z.of_nat (length us) + Z.of_nat (length us2) ≤ max_updates)).
    rewrite -Hfits. symmetry in Hfits. destruct fits; wp_pures.
    - apply bool_decide_eq_true_1 in Hfits. wp_load.
      wp_apply (wp_append_slice with "[$Hsa $Hsa2]"). iIntros (sa') "[Hsa _]". wp_store. wp_pures. wp_load.
      wp_bind (append_slice _ _ _). iApply (wp_append_blocks with "Hsb Hsb2"). iIntros (sb') "Hsb".
      wp_store. wp_pures.
      wp_apply (wp_mutex_unlock with "[$Hheld Ha Hb Hw Hsa Hsb]"); [|iIntros "_"; by wp_pures].
      iExists (us ++ us2). iFrame "Hw". iSplitL.
      + iExists sa', sb'. rewrite !fmap_app. iFrame.
      + iPureIntro. split; [rewrite app_length; lia|]. apply Forall_app. split; [apply Hus|apply Hus2].
    - wp_apply (wp_mutex_unlock with "[$Hheld Ha Hb Hw Hsa Hsb]"); [|iIntros "_"; by wp_pures].
      iExists us. iFrame "Hw". iSplitL; [|done]. iExists sa, sb. iFrame.
  Qed.

  (** The effect of a read that finds its address in the buffer. *)
  Lemma wp_gc_read_load b γ γl γw l v us a bs k Φ : addr_ok N a → last_update us a = Some bs →
    wal_ctx sp walN N gc_P b γ γl [γw] -∗ gc_waits γw us -∗ pending γ k (gc_read_call a) -∗
    l ↦[b] v -∗
    (l ↦[b] v -∗ gc_waits γw us -∗ returns γ k #(LitStr bs) -∗ Φ v) -∗
    WP ![sliceT] #l @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha Hbs) "#Hctx Hw Hk Hl HΦ". wp_rec.
    iApply (wal_look sp walN N gc_P _ _ _ _ _
      (gc_waits γw us ∗ returns γ k #(LitStr bs))%I with "Hctx [Hw Hk]"); [done| |].
    - iIntros (σ). iApply (gc_P_step with "Hw Hk"). apply GcRead; [done|].
      by rewrite /gc_current apply_lookup /= Hbs.
    - iIntros "[Hw Hk]". iApply (wpe_load with "Hl"). iIntros "!> Hl". by iApply ("HΦ" with "Hl Hw Hk").
  Qed.
  Lemma wp_gc_Read b γ γs (v : val) a k Φ : addr_ok N a →
    is_gc b γ γs v -∗ pending γ k (gc_read_call a) -∗
    (∀ s bs, own_bytes b s (DfracOwn 1) bs -∗ returns γ k #(LitStr bs) -∗ Φ (slice_val s)) -∗
    WP groupcommit.Log__Read v #(u64 a) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Haddr) "(%l & %γl & %γw & %w & -> & -> & #Hlw & #Hlog & #Hctx & #Hmu) Hk HΦ".
    wp_rec. wp_pures. wp_apply (wp_mutex_lock with "Hmu").
    iIntros "[Hheld (%us & Hbuf & Hw & %Hus)]". wp_pures.
    wp_bind (groupcommit.Log__latest _ _). iApply (wp_Log__latest with "Hbuf").
    iIntros (i Hi) "Hbuf". wp_pures. wp_apply (wp_ref_zero with "[//]"). iIntros (lb) "Hlb".
    iEval (cbn [own_ty]) in "Hlb". wp_pures.
    destruct Hi as [[-> Hnone]|(j & u & -> & Hu & Hlast)].
    - rewrite bool_decide_true; [|done]. wp_pures. wp_load_const "Hlw". wp_bind (wal.Log__Read _ _).
      iApply (wp_Log__Read sp walN N gc_P _ _ _ _ _ _
        (λ s, gc_waits γw us ∗ returns γ k #(LitStr s))%I with "Hlog [Hw Hk]"); [done| |].
      { iIntros (σ s Hs). iApply (gc_P_step with "Hw Hk"). apply GcRead; [done|].
        by rewrite /gc_current apply_lookup /= Hnone. }
      iIntros (sl s _) "[Hsl _] [Hw Hk]". wp_store. wp_pures.
      wp_apply (wp_mutex_unlock with "[$Hheld Hbuf Hw]"); [iExists us; by iFrame|].
      iIntros "_". wp_pures. wp_load. wp_pures. iApply ("HΦ" with "Hsl Hk").
    - apply lookup_lt_Some in Hu as Hlt. pose proof (proj1 Hus) as Hmax. rewrite /max_updates in Hmax.
      rewrite bool_decide_false; [|intros [=]; lia]. wp_pures. rewrite_wrap.
      replace (Z.of_nat j + 1 - 1) with (Z.of_nat j) by lia.
      iDestruct "Hbuf" as (sa sb) "(Ha & Hb & Hsa & Hsb)".
      wp_bind (App (Val (load _)) _). iApply (wp_gc_read_load with "Hctx Hw Hk Hb"); [done|done|].
      iIntros "Hb Hw Hk". iDestruct "Hsb" as (ss) "[[Hss Hcap] Hbs]".
      iDestruct (big_sepL2_length with "Hbs") as %Hss. rewrite fmap_length in Hss.
      destruct (lookup_lt_is_Some_2 ss j) as [sj Hsj]; [lia|].
      wp_apply (wp_slice_get with "Hss"); [lia|by rewrite Nat2Z.id list_lookup_fmap Hsj|].
      iIntros "Hss".
      iDestruct (big_sepL2_lookup_acc with "Hbs") as "[Hbj Hbs]"; [done|by rewrite list_lookup_fmap Hu|].
      wp_bind (groupcommit.clone _). iApply (wp_clone with "Hbj").
      { destruct Hus as [_ Hus]. by destruct (proj1 (Forall_lookup _ _) Hus j u Hu). }
      iIntros (c) "Hbj Hc". wp_store. wp_pures.
      wp_apply (wp_mutex_unlock with "[$Hheld Ha Hb Hsa Hss Hcap Hbs Hbj Hw]").
      { iExists us. iFrame "Hw". iSplitL; [|done]. iExists sa, sb. iFrame "Ha Hb Hsa".
        iExists ss. iFrame. by iApply "Hbs". }
      iIntros "_". wp_pures. wp_load. wp_pures. iApply ("HΦ" with "Hc Hk").
  Qed.

  Lemma wp_gc_Flush b γ γs (v : val) k :
    is_gc b γ γs v -∗ pending γ k gc_flush_call -∗
    WP groupcommit.Log__Flush v @ b; ⊤ {{ r, returns γ k r }}.
  Proof.
    iIntros "(%l & %γl & %γw & %w & -> & -> & #Hlw & #Hlog & #Hctx & #Hmu) Hk". wp_rec. wp_pures.
    wp_apply (wp_mutex_lock with "Hmu").
    iIntros "[Hheld (%us & (%sa & %sb & Ha & Hb & [Hsa _] & Hsb) & Hw & %Hus)]". wp_pures.
    wp_load. wp_pures. wp_load. wp_pures. wp_load_const "Hlw".
    iDestruct (own_blocks_full_split with "Hsb") as "[Hsb _]". wp_bind (wal.Log__Commit _ _ _).
    iApply (wp_Log__Commit sp walN N gc_P _ _ _ _ _ us _ _ _ (gc_waits γw [] ∗ returns γ k #())%I
      with "Hlog Hsa Hsb [Hw Hk]"); [done| |].
    { iIntros (σ). iApply (gc_P_step with "Hw Hk"). apply (GcFlush N (GcState σ us)). }
    iIntros "_ _ [Hw Hk]". wp_pures. wp_store. wp_pures. wp_store. wp_pures.
    wp_apply (wp_mutex_unlock with "[$Hheld Ha Hb Hw]"); [|by iIntros "_"].
    iExists []. iFrame "Hw". iSplit; [|iPureIntro; apply commit_ok_nil].
    iApply (gc_buffer_nil with "Ha Hb").
  Qed.
End proof.

(** * The functions of the write-ahead log *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.golib Require Import slice_rules uint64 sync.
From ashlar.logic Require Import harness.
From ashlar.wal Require Export access.
Open Scope Z_scope.

Section header.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot).

  Definition u64_val (a : Z) : val := #(u64 a).

  (** A part of a byte slice, from [i] on. *)
  Lemma own_bytes_drop b s bs (i : nat) : (i ≤ length bs)%nat →
    own_bytes b s (DfracOwn 1) bs -∗
    ⌜slice_wf s ∧ 0 ≤ i ≤ sl_len s⌝ ∗
    own_bytes b (slice_cut byteT s i (sl_len s)) (DfracOwn 1) (drop i bs) ∗
    (∀ bs', ⌜length bs' = length (drop i bs)⌝ -∗
      own_bytes b (slice_cut byteT s i (sl_len s)) (DfracOwn 1) bs' -∗
      own_bytes b s (DfracOwn 1) (take i bs ++ bs')).
  Proof.
    iIntros (Hi) "Hs". iDestruct (own_slice_wf with "Hs") as %[Hwf Hlen].
    rewrite /own_bytes (own_slice_split _ _ _ _ _ i) //; last by rewrite fmap_length.
    rewrite fmap_length in Hlen. rewrite -fmap_take -fmap_drop. iDestruct "Hs" as "[H1 $]".
    iSplit; [iPureIntro; split; [done|lia]|]. iIntros (bs' Hbs') "H2".
    rewrite drop_length in Hbs'.
    iApply (own_slice_split _ _ _ _ _ i); [|done| |].
    - rewrite fmap_length app_length take_length. lia.
    - rewrite fmap_length app_length take_length. lia.
    - rewrite fmap_app take_app_alt ?drop_app_alt ?fmap_length ?take_length; [by iFrame|lia|lia].
  Qed.

  Lemma wp_encodeHeader b sl dq addrs Φ : (length addrs ≤ 511)%nat →
    Forall (in_range U64) addrs →
    own_slice b sl uint64T dq (u64_val <$> addrs) -∗
    (∀ s, own_slice b sl uint64T dq (u64_val <$> addrs) -∗
       own_bytes b s (DfracOwn 1) (header addrs) -∗ Φ (slice_val s)) -∗
    WP encodeHeader (slice_val sl) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hlen Hrange) "Has HΦ".
    iDestruct (own_slice_length with "Has") as %[Hsl _]. rewrite fmap_length in Hsl.
    wp_rec. wp_apply (wp_make_bytes with "[//]"); [by rewrite /max_elems|]. iIntros (s) "[Hs _]".
    wp_pures. rewrite Hsl. rewrite_wrap.
    wp_apply (wp_UInt64Put with "Hs"); [int_solve|by rewrite replicate_length; lia|]. iIntros "Hs".
    wp_pures. wp_alloc li as "Hli". wp_pures. wp_bind (for_simple _ _ _).
    iApply (wp_count _ _ _ (λ i, own_slice b sl uint64T dq (u64_val <$> addrs) ∗
      own_bytes b s (DfracOwn 1) (header_n addrs (Z.to_nat i)))%I
      with "[] Hli [Has Hs]"); [int_solve| | |]; last first.
    { iIntros "[Has Hs]". wp_pures. iApply ("HΦ" with "Has"). by rewrite Nat2Z.id. }
    { iFrame "Has". change (Z.to_nat 0) with 0%nat. rewrite header_n_0. iExact "Hs". }
    iIntros "!>" (i Hi) "Hli [Has Hs]".
    destruct (lookup_lt_is_Some_2 addrs (Z.to_nat i)) as [a Ha]; [lia|].
    wp_pures. wp_load. wp_apply (wp_slice_get with "Has"); [lia|by rewrite list_lookup_fmap Ha|].
    iIntros "Has". wp_load. wp_pures. rewrite_wrap.
    replace (8 + 8 * i) with (Z.of_nat (8 + 8 * Z.to_nat i)) by lia.
    pose proof (header_n_length addrs (Z.to_nat i)) as Hhl.
    rewrite /block_size in Hhl. specialize (Hhl ltac:(lia) ltac:(lia)).
    iDestruct (own_bytes_drop _ _ _ (8 + 8 * Z.to_nat i) with "Hs") as "(%Hwf & Hs & Hback)"; [lia|].
    wp_apply wp_slice_drop; [apply Hwf|apply Hwf|].
    wp_apply (wp_UInt64Put with "Hs"); [by eapply Forall_lookup_1|rewrite drop_length; lia|].
    iIntros "Hs". iFrame "Hli Has".
    replace (Z.to_nat (i + 1)) with (S (Z.to_nat i)) by lia.
    rewrite -(header_n_step addrs (Z.to_nat i) a); [|done|lia].
    iApply ("Hback" with "[%] Hs"). rewrite app_length le_bytes_length !drop_length. lia.
  Qed.

  (** The value that is read from the header at entry [i]. *)
  Lemma wp_read_addr b s (addrs : list Z) (i a : Z) Φ : (length addrs ≤ 511)%nat → 0 ≤ i →
    addrs !! Z.to_nat i = Some a → in_range U64 a →
    own_bytes b s (DfracOwn 1) (header addrs) -∗
    (own_bytes b s (DfracOwn 1) (header addrs) -∗ Φ #(u64 a)) -∗
    WP machine.UInt64Get (slice_drop byteT (slice_val s) #(u64 (8 + 8 * i))) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hlen Hi Ha Hr) "Hs HΦ". apply lookup_lt_Some in Ha as Hlt.
    replace (8 + 8 * i) with (Z.of_nat (8 + 8 * Z.to_nat i)) by lia.
    pose proof (header_length addrs Hlen) as Hhl. rewrite /block_ok /block_size in Hhl.
    iDestruct (own_bytes_drop _ _ _ (8 + 8 * Z.to_nat i) with "Hs") as "(%Hwf & Hs & Hback)"; [lia|].
    wp_apply wp_slice_drop; [apply Hwf|apply Hwf|].
    wp_apply (wp_UInt64Get with "Hs"); [rewrite drop_length; lia|apply Forall_drop, header_n_ok|].
    iIntros "Hs". rewrite (header_addr _ _ a) //. iApply "HΦ".
    iDestruct ("Hback" with "[//] Hs") as "Hs". by rewrite take_drop.
  Qed.

End header.

Section program.
  Context `{!golangGS Σ, !walG Σ}.
  Context (sp : spec) `{!specG Σ sp}.
  Context (ns : namespace) (N : Z) (P : boot → spec_names → list gname → disk → iProp Σ).
  Context `{!∀ b γ γu σ, Timeless (P b γ γu σ)}.
  Implicit Types (b : boot) (d σ : disk) (us : list update).
  Local Notation wal_ctx := (wal_ctx sp ns N P).
  Local Notation wal_lease := (wal_lease N).

  (** From any point of a transaction that is committed to its end. *)
  Lemma wp_install b γ γl γu d us (h : val) Φ :
    wal_ctx b γ γl γu -∗ wal_lease γl d us -∗
    (∀ d', wal_lease γl d' [] -∗ Φ #()) -∗
    WP install h @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros "#Hctx Hlease HΦ". iDestruct (wal_lease_rel with "Hlease") as %Hrel.
    pose proof (rel_count _ _ _ _ Hrel) as Hlen. pose proof (rel_fits _ _ _ _ Hrel) as Hfits.
    rewrite /data_start in Hfits.
    assert (length us.*1 ≤ 511)%nat as Hlen1 by (by rewrite fmap_length).
    wp_rec. wp_apply (wp_read with "Hctx Hlease"); [by eapply rel_header|].
    iIntros (s) "Hlease [Hs _]". wp_pures.
    wp_apply (wp_UInt64Get with "Hs").
    { pose proof (header_length _ Hlen1) as Hl. rewrite /block_ok /block_size in Hl. lia. }
    { apply header_n_ok. }
    iIntros "Hs". rewrite header_count // fmap_length. wp_pures.
    wp_alloc li as "Hli". wp_pures. wp_bind (for_simple _ _ _).
    iApply (wp_count _ _ _ (λ i, wal_lease γl (apply_updates (take (Z.to_nat i) us) d) us ∗
      own_bytes b s (DfracOwn 1) (header us.*1))%I with "[] Hli [Hlease Hs]"); [int_solve| | |]; last first.
    { iIntros "[Hlease Hs]". rewrite Nat2Z.id firstn_all. wp_pures.
      clear Hrel. iDestruct (wal_lease_rel with "Hlease") as %Hrel.
      wp_apply (wp_make_bytes with "[//]"); [by rewrite /max_elems|]. iIntros (z) "[Hz _]".
      iApply (wp_Disk__Write with "Hz"). iIntros "_".
      iApply (wal_write_same sp ns N P _ _ _ _ _ _ [] with "Hctx Hlease"); [ |done| | ].
      { eapply rel_is_Some; [done|]. lia. }
      { intros σ Hσ. apply (rel_clear N _ us); [done|]. apply apply_idem. }
      iIntros "!> Hlease". by iApply "HΦ". }
    { iFrame "Hs". by rewrite take_0. }
    iIntros "!>" (i Hi) "Hli [Hlease Hs]". clear Hrel.
    iDestruct (wal_lease_rel with "Hlease") as %Hrel.
    destruct (lookup_lt_is_Some_2 us (Z.to_nat i)) as [u Hu]; [lia|].
    assert (u ∈ us) as Hin by (by eapply elem_of_list_lookup_2).
    pose proof (rel_addrs _ _ _ _ Hrel _ Hin) as Haddr. rewrite /data_start in Haddr.
    wp_pures. wp_load. wp_pures. rewrite_wrap.
    wp_bind (machine.UInt64Get _).
    iApply (wp_read_addr _ _ _ _ u.1 with "Hs"); [done|lia|by rewrite list_lookup_fmap Hu| |].
    { eapply rel_in_range; [done|lia]. }
    iIntros "Hs". wp_pures. wp_load. wp_pures. rewrite_wrap.
    pose proof (rel_entries _ _ _ _ Hrel _ _ Hu) as Hentry. rewrite Z2Nat.id in Hentry; [|lia].
    wp_apply (wp_read with "Hctx Hlease"); [done|]. iIntros (sb) "Hlease [Hsb _]". wp_pures.
    iApply (wp_Disk__Write with "Hsb"). iIntros "_".
    iApply (wal_write_same sp ns N P _ _ _ _ _ _ us with "Hctx Hlease").
    { eapply rel_is_Some; [done|lia]. }
    { by eapply rel_block_ok. }
    { intros σ Hσ. by apply rel_install. }
    iIntros "!> Hlease". iFrame "Hli Hs".
    replace (Z.to_nat (i + 1)) with (S (Z.to_nat i)) by lia.
    by rewrite (take_S_r _ _ _ Hu) apply_snoc.
  Qed.
End program.

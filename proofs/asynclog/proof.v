(** * The functions and the operations of examples/asynclog *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.golib Require Import slice_rules uint64 sync async_disk.
From ashlar.ghost Require Import async_commit.
From ashlar.gen.examples Require asynclog.
From ashlar.wal Require Import loop program library.
From ashlar.asynclog Require Import model.
Open Scope Z_scope.

Definition asynclogN : namespace := nroot .@ "asynclog".

(** The load of a cell that never changes. *)
Local Ltac wp_load_const H :=
  wp_bind (App (Val (load _)) _); iApply (wp_load_base with H); iIntros "!> _".

Section proof.
  Context (N : Z) (σ0 : disk).
  Context `{!golangGS Σ, !specG Σ (wal_spec N σ0), !async_commitG Σ (wal_spec N σ0)}.
  Implicit Types (b : boot) (γ : spec_names) (γu : list gname) (l : loc) (h : val).
  Implicit Types (d : async_disk) (f σ : disk) (us : list update) (Φ : val → iProp Σ).

  Local Notation sp := (wal_spec N σ0).
  Local Notation ctx := (async_ctx sp asynclogN (recovers N)).
  Local Notation lease := (async_lease sp).
  Local Notation logged := (logged N).

  (** A write after which every disk that a crash may leave still stands for the state. *)
  Lemma logged_decided d us σ : always d (logged us σ) → always d (decided sp (recovers N) σ None).
  Proof. intros Hd. eapply always_mono; [exact Hd|]. intros f Hf. left. by exists us. Qed.

  (** ** Filling the log *)
  Lemma wp_writeEntries b γ γu d σ us h sl Φ :
    always d (logged [] σ) → (length us ≤ 511)%nat → Forall block_ok us.*2 →
    ctx b γ γu -∗ lease γu d σ None -∗ own_blocks b sl us.*2 -∗
    (∀ d', ⌜always d' (logged [] σ)⌝ -∗ ⌜entries us (length us) (latest d')⌝ -∗
       lease γu d' σ None -∗ own_blocks b sl us.*2 -∗ Φ #()) -∗
    WP asynclog.writeEntries h (slice_val sl) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hd Hlen Hok) "#Hctx Hlease Hbs HΦ".
    iDestruct (own_blocks_length with "Hbs") as %Hsl. rewrite fmap_length in Hsl.
    wp_rec. wp_pures. rewrite Hsl. rewrite_wrap. wp_alloc li as "Hli". wp_pures.
    iApply (wp_count _ _ _ (λ i, ∃ d', ⌜always d' (logged [] σ)⌝ ∗ ⌜entries us i (latest d')⌝ ∗
      lease γu d' σ None ∗ own_blocks b sl us.*2)%I with "[] Hli [Hlease Hbs]"); [int_solve| | |]; last first.
    { iIntros "(%d' & %Hd' & %Hent & Hlease & Hbs)". iApply ("HΦ" with "[//] [//] Hlease Hbs"). }
    { iExists d. iFrame. iPureIntro. split; [done|apply entries_0]. }
    clear dependent d. iIntros "!>" (i Hi) "Hli (%d & %Hd & %Hent & Hlease & (%ss & Hs & Hbs))".
    destruct (lookup_lt_is_Some_2 us (Z.to_nat i)) as [u Hu]; [lia|].
    assert (us.*2 !! Z.to_nat i = Some u.2) as Hbl by by rewrite list_lookup_fmap Hu.
    iDestruct (big_sepL2_length with "Hbs") as %Hss.
    destruct (lookup_lt_is_Some_2 ss (Z.to_nat i)) as [s Hsi]; [rewrite Hss fmap_length; lia|].
    wp_pures. wp_load. wp_apply (wp_slice_get with "Hs"); [lia|by rewrite list_lookup_fmap Hsi|].
    iIntros "Hs". wp_load. wp_pures. rewrite_wrap.
    iDestruct (big_sepL2_lookup_acc with "Hbs") as "[Hbl Hbs]"; [done|done|].
    assert (block_ok u.2) as Hu2 by by eapply Forall_lookup_1.
    pose proof (always_latest _ _ Hd) as Hl. pose proof (rel_fits _ _ _ _ Hl) as Hfits.
    rewrite /data_start in Hfits.
    destruct (latest_lookup_rel N d [] σ (1 + i) Hl) as [c Hc]; [lia|].
    pose proof (write_entry N d σ i c u.2 Hd Hc ltac:(lia) Hu2) as Hd2.
    iApply (wp_Async__Write with "Hbl"). iIntros "Hbl".
    iApply (async_write with "Hctx Hlease"); [done|done|by eapply logged_decided|].
    iIntros "!> Hlease". iFrame "Hli". iExists _. iFrame "Hlease". iSplit; [done|]. iSplit.
    { iPureIntro. rewrite latest_write. apply entries_write; [lia|done|done]. }
    iExists ss. iFrame "Hs". by iApply "Hbs".
  Qed.

  (** ** From any point of a transaction that is committed to its end *)
  Lemma wp_install b γ γu d us σ h Φ :
    always d (logged us σ) →
    ctx b γ γu -∗ lease γu d σ None -∗
    (∀ d', ⌜idle N d' σ⌝ -∗ lease γu d' σ None -∗ Φ #()) -∗
    WP asynclog.install h @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hd) "#Hctx Hlease HΦ". pose proof (always_latest _ _ Hd) as Hrel.
    pose proof (rel_count _ _ _ _ Hrel) as Hlen. pose proof (rel_fits _ _ _ _ Hrel) as Hfits.
    rewrite /data_start in Hfits.
    assert (length us.*1 ≤ 511)%nat as Hlen1 by (by rewrite fmap_length).
    pose proof (header_length _ Hlen1) as Hhl. rewrite /block_ok /block_size in Hhl.
    destruct (latest_lookup_inv _ _ _ (rel_header _ _ _ _ Hrel)) as (c & Hc & Hcl).
    wp_rec. wp_bind (disk.Async__Read _ _). iApply wp_Async__Read.
    iApply (async_read_only with "Hctx Hlease"); [done|]. iIntros "!> Hlease". rewrite Hcl.
    iExists (header us.*1). iSplit; [done|]. iSplit; [by iPureIntro; apply header_length|].
    iIntros (s) "[Hs _]". wp_pures.
    wp_apply (wp_UInt64Get with "Hs"); [lia|apply header_n_ok|].
    iIntros "Hs". rewrite header_count // fmap_length. wp_pures.
    wp_alloc li as "Hli". wp_pures. wp_bind (for_simple _ _ _).
    iApply (wp_count _ _ _ (λ i, ∃ d', ⌜always d' (logged us σ)⌝ ∗
      ⌜latest d' = apply_updates (take (Z.to_nat i) us) (latest d)⌝ ∗
      lease γu d' σ None ∗ own_bytes b s (DfracOwn 1) (header us.*1))%I
      with "[] Hli [Hlease Hs]"); [int_solve| | |]; last first.
    { iIntros "(%d' & %Hd' & %Hl' & Hlease & Hs)". rewrite Nat2Z.id firstn_all in Hl'. wp_pures.
      (* all entries are in their places, durably *)
      wp_bind (disk.Async__Barrier _). iApply wp_Async__Barrier.
      iApply (async_barrier with "Hctx Hlease"). iIntros "!> Hlease". wp_pures.
      assert (installed N (ca_flush <$> d') us σ) as Hins.
      { apply data_barrier; [done|]. by rewrite Hl' apply_idem. }
      (* the header is cleared *)
      wp_apply (wp_make_bytes with "[//]"); [by rewrite /max_elems|]. iIntros (z) "[Hz _]".
      iApply (wp_Async__Write with "Hz"). iIntros "_".
      destruct (latest_lookup_rel N (ca_flush <$> d') us σ 0) as [c0 Hc0]; [|lia|].
      { by apply always_latest in Hins as [? _]. }
      pose proof (installed_header _ _ _ _ _ Hins Hc0) as Hidle.
      iApply (async_write with "Hctx Hlease"); [done|done| |].
      { eapply always_mono; [apply Hidle|]. by left. }
      iIntros "!> Hlease". by iApply ("HΦ" with "[//] Hlease"). }
    { iExists d. iFrame. iPureIntro. split; [done|]. by rewrite take_0. }
    iIntros "!>" (i Hi) "Hli (%d1 & %Hd1 & %Hl1 & Hlease & Hs)".
    pose proof (always_latest _ _ Hd1) as Hrel1.
    destruct (lookup_lt_is_Some_2 us (Z.to_nat i)) as [u Hu]; [lia|].
    assert (u ∈ us) as Hin by (by eapply elem_of_list_lookup_2).
    pose proof (rel_addrs _ _ _ _ Hrel1 _ Hin) as Haddr. rewrite /data_start in Haddr.
    wp_pures. wp_load. wp_pures. rewrite_wrap. wp_bind (machine.UInt64Get _).
    iApply (wp_read_addr _ _ _ _ u.1 with "Hs"); [done|lia|by rewrite list_lookup_fmap Hu| |].
    { eapply rel_in_range; [done|lia]. }
    iIntros "Hs". wp_pures. wp_load. wp_pures. rewrite_wrap.
    pose proof (rel_entries _ _ _ _ Hrel1 _ _ Hu) as Hentry. rewrite Z2Nat.id in Hentry; [|lia].
    assert (block_ok u.2) as Hu2 by by eapply rel_block_ok.
    destruct (latest_lookup_inv _ _ _ Hentry) as (ce & Hce & Hcel).
    wp_bind (disk.Async__Read _ _). iApply wp_Async__Read.
    iApply (async_read_only with "Hctx Hlease"); [done|]. iIntros "!> Hlease". rewrite Hcel.
    iExists u.2. iSplit; [done|]. iSplit; [done|]. iIntros (sb) "[Hsb _]". wp_pures.
    iApply (wp_Async__Write with "Hsb"). iIntros "_".
    destruct (latest_lookup_rel N d1 us σ u.1 Hrel1) as [cu Hcu]; [lia|].
    pose proof (write_data N d1 us σ u cu Hd1 Hin Hcu) as Hd2.
    iApply (async_write with "Hctx Hlease"); [done|done|by eapply logged_decided|].
    iIntros "!> Hlease". iFrame "Hli". iExists _. iFrame "Hlease Hs". iSplit; [done|]. iPureIntro.
    replace (Z.to_nat (i + 1)) with (S (Z.to_nat i)) by lia.
    by rewrite latest_write Hl1 (take_S_r _ _ _ Hu) apply_snoc.
  Qed.

  (** ** The operations *)

  (** What the mutex protects: the right to access the disk, with nothing under way. *)
  Definition lock_inv γu : iProp Σ := ∃ d σ, lease γu d σ None ∗ ⌜idle N d σ⌝.
  (** An open log. *)
  Definition is_log b γu (v : val) : iProp Σ :=
    ∃ l h,
      ⌜v = #l⌝ ∗
      (* the handle of the disk *)
      (l +ₗ field_offset asynclog.Log "d") ↦[b]{DfracDiscarded} h ∗
      is_mutex b (l +ₗ field_offset asynclog.Log "mu") (lock_inv γu).
  Global Instance is_log_persistent b γu v : Persistent (is_log b γu v).
  Proof. apply _. Qed.

  Lemma wp_Open b γ γu h :
    ctx b γ γu -∗ async_rec sp (recovers N) b γ γu -∗
    WP asynclog.Open h @ b; ⊤ {{ v, is_log b γu v }}.
  Proof.
    iIntros "#Hctx (%f & %σ & Hlease & (%us & %Hf))". wp_rec. wp_bind (asynclog.install _).
    iApply (wp_install with "Hctx Hlease"); [by apply always_new|].
    iIntros (d Hidle) "Hlease". iApply wpe_fupd. wp_alloc l as "(Hmu & Hd & _)".
    iMod (mutex_alloc _ _ _ (lock_inv γu) with "Hmu [Hlease]") as "#Hmu".
    { iExists d, σ. by iFrame. }
    iMod (ghost_map_elem_persist with "Hd") as "#Hd".
    iModIntro. iExists l, h. by iFrame "Hd Hmu".
  Qed.

  Lemma wp_Log__Read b γ γu (v : val) k a Φ :
    addr_ok N a →
    ctx b γ γu -∗ is_log b γu v -∗ pending γ k (read_call a) -∗
    (∀ s sl, returns γ k #(LitStr s) -∗ own_bytes b sl (DfracOwn 1) s -∗ Φ (slice_val sl)) -∗
    WP asynclog.Log__Read v #(u64 a) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha) "#Hctx (%l & %h & -> & #Hd & #Hmu) Hk HΦ". wp_rec. wp_pures.
    wp_apply (wp_mutex_lock with "Hmu"). iIntros "[Hheld (%d & %σ & Hlease & %Hidle)]". wp_pures.
    pose proof (idle_latest _ _ _ Hidle) as Hrel. pose proof Ha as [Ha1 Ha2].
    destruct (latest_lookup_rel N d [] σ a Hrel) as [c Hc]; [rewrite /data_start in Ha1; lia|].
    pose proof (latest_lookup _ _ _ Hc) as Hlc. pose proof (rel_block_ok _ _ _ _ _ _ Hrel Hlc) as Hok.
    wp_load_const "Hd". wp_bind (disk.Async__Read _ _). iApply wp_Async__Read.
    iApply (async_read sp _ _ (returns γ k #(LitStr (ca_latest c))) with "Hctx Hlease [Hk]"); [done| |].
    { iIntros "Ha Hs". iApply (spec_step sp with "Ha Hs Hk"). apply (WalRead N); [done|].
      by rewrite -(rel_read _ _ _ _ Hrel Ha1). }
    iIntros "!> Hlease Hk". iExists (ca_latest c). iSplit; [done|]. iSplit; [done|].
    iIntros (sl) "[Hsl _]". wp_pures. wp_apply (wp_mutex_unlock with "[$Hheld Hlease]").
    { iExists d, σ. by iFrame. }
    iIntros "_". wp_pures. by iApply ("HΦ" with "Hk").
  Qed.

  (** A commit takes effect at the barrier after the header, or in a crash before it. *)
  Lemma wp_Log__Commit b γ γu (v : val) k us sa dq sb Φ :
    commit_ok N us →
    ctx b γ γu -∗ is_log b γu v -∗ pending γ k (commit_call us) -∗
    own_slice b sa uint64T dq (u64_val <$> us.*1) -∗ own_blocks b sb us.*2 -∗
    (returns γ k #() -∗ Φ #()) -∗
    WP asynclog.Log__Commit v (slice_val sa) (slice_val sb) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hok) "#Hctx (%l & %h & -> & #Hd & #Hmu) Hk Hsa Hsb HΦ". wp_rec. wp_pures.
    assert (length us ≤ 511)%nat as Hlen. { destruct Hok as [Hlen _]. rewrite /max_updates in Hlen. lia. }
    wp_apply (wp_mutex_lock with "Hmu"). iIntros "[Hheld (%d & %σ & Hlease & %Hidle)]". wp_pures.
    (* the log is empty, durably *)
    wp_load_const "Hd". wp_bind (disk.Async__Barrier _). iApply wp_Async__Barrier.
    iApply (async_barrier with "Hctx Hlease"). iIntros "!> Hlease". wp_pures.
    pose proof (idle_barrier _ _ _ Hidle) as Hd1.
    (* the entries are durable *)
    wp_load_const "Hd". wp_bind (asynclog.writeEntries _ _).
    iApply (wp_writeEntries with "Hctx Hlease Hsb"); [done|done|by apply (commit_ok_blocks N)|].
    iIntros (d2 Hd2 Hent) "Hlease _". wp_pures.
    wp_load_const "Hd". wp_bind (disk.Async__Barrier _). iApply wp_Async__Barrier.
    iApply (async_barrier with "Hctx Hlease"). iIntros "!> Hlease". wp_pures.
    pose proof (entries_barrier _ _ _ _ Hd2 Hent) as Hd3. set (d3 := ca_flush <$> d2) in *.
    pose proof (always_latest _ _ Hd3) as [Hl3 _].
    (* the header: a crash may complete the transaction *)
    change asynclog.encodeHeader with wal.encodeHeader. wp_bind (wal.encodeHeader _).
    iApply (wp_encodeHeader _ _ _ us.*1 with "Hsa"); [by rewrite fmap_length| |].
    { apply Forall_fmap, Forall_forall. intros u Hu. pose proof (commit_ok_addrs _ _ u Hok Hu) as Hu1.
      rewrite /data_start in Hu1. eapply rel_in_range; [done|]. simpl. lia. }
    iIntros (s) "_ Hs". wp_pures. wp_load_const "Hd".
    destruct (latest_lookup_rel N d3 [] σ 0 Hl3) as [c0 Hc0].
    { pose proof (rel_fits _ _ _ _ Hl3) as Hfits. rewrite /data_start in Hfits. lia. }
    pose proof (ready_header _ _ _ _ _ Hd3 Hok Hc0) as [Hd4 Hl4].
    wp_bind (disk.Async__Write _ _ _). iApply (wp_Async__Write with "Hs"). iIntros "_".
    iApply (async_write_commit sp _ _ _ _ _ _ _ k (commit_call us) (apply_updates us σ)
      with "Hctx Hlease Hk"); [done|apply header_length; by rewrite fmap_length|by constructor| |].
    { eapply always_mono; [exact Hd4|]. intros f [Hf|Hf]; [by left|].
      right. eexists. split; [done|by exists us]. }
    iIntros "!> Hlease". wp_pures.
    (* it has happened *)
    wp_load_const "Hd". wp_bind (disk.Async__Barrier _). iApply wp_Async__Barrier.
    iApply (async_barrier_commit sp with "Hctx Hlease"); [by exists us|].
    iIntros "!> Hlease Hk". wp_pures. wp_load_const "Hd". wp_bind (asynclog.install _).
    iApply (wp_install with "Hctx Hlease"); [by apply header_barrier|].
    iIntros (d5 Hd5) "Hlease". wp_pures. wp_apply (wp_mutex_unlock with "[$Hheld Hlease]").
    { iExists d5, _. by iFrame. }
    iIntros "_". by iApply "HΦ".
  Qed.
End proof.
Global Typeclasses Opaque is_log.

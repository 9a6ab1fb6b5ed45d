(** * The operations of the write-ahead log

    Each is atomic: it takes effect at one step, at which its user changes what he
    keeps for the state, by a view shift. *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.golib Require Import slice_rules uint64 sync.
From ashlar.logic Require Import harness.
From ashlar.wal Require Export program spec.
Open Scope Z_scope.

(** The load of a cell that never changes. *)
Local Ltac wp_load_const H :=
  wp_bind (App (Val (load _)) _); iApply (wp_load_base with H); iIntros "!> _".

Section proof.
  Context `{!golangGS Σ, !walG Σ}.
  Context (sp : logic.spec.spec) `{!specG Σ sp}.
  Context (ns : namespace) (N : Z) (P : boot → spec_names → list gname → disk → iProp Σ).
  Context `{!∀ b γ γu σ, Timeless (P b γ γu σ)}.
  Implicit Types (b : boot) (d σ : disk) (us : list update) (γ : spec_names).

  Definition log_lock b γl (l : loc) : iProp Σ :=
    is_mutex b (l +ₗ field_offset Log "mu") (∃ d, wal_lease N γl d []).
  (** An open log. *)
  Definition is_log b γ γl γu (v : val) : iProp Σ :=
    ∃ (l : loc) (h : val),
      ⌜v = #l⌝ ∗
      (* the handle of the disk *)
      (l +ₗ field_offset Log "d") ↦[b]{DfracDiscarded} h ∗
      (* the lock protects the right to access the disk *)
      log_lock b γl l ∗
      wal_ctx sp ns N P b γ γl γu.
  Global Instance is_log_persistent b γ γl γu v : Persistent (is_log b γ γl γu v).
  Proof. apply _. Qed.

  Lemma wp_Open b γ γl γu d us (h : val) Φ :
    wal_ctx sp ns N P b γ γl γu -∗ wal_lease N γl d us -∗
    (∀ v, is_log b γ γl γu v -∗ Φ v) -∗
    WP Open h @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros "#Hctx Hlease HΦ". wp_rec. wp_bind (install _).
    iApply (wp_install with "Hctx Hlease"). iIntros (d') "Hlease". wp_pures.
    iApply wpe_fupd. wp_alloc l as "(Hmu & Hd & _)".
    iMod (mutex_alloc _ _ _ (∃ d, wal_lease N γl d []) with "Hmu [Hlease]") as "#Hmu"; [by iExists d'|].
    iMod (pointsto_persist with "Hd") as "#Hd".
    iModIntro. iApply "HΦ". iExists l, h. by iFrame "Hd Hmu Hctx".
  Qed.

  Lemma wp_Log__Read b γ γl γu (v : val) a (Q : list Z → iProp Σ) Φ : addr_ok N a →
    is_log b γ γl γu v -∗
    (∀ σ s, ⌜σ !! a = Some s⌝ -∗ spec_auth sp γ ∗ P b γ γu σ ={⊤ ∖ ↑ns}=∗
       spec_auth sp γ ∗ P b γ γu σ ∗ Q s) -∗
    (∀ sl s, ⌜block_ok s⌝ -∗ own_bytes_full b sl s -∗ Q s -∗ Φ (slice_val sl)) -∗
    WP Log__Read v #(u64 a) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha) "(%l & %h & -> & #Hd & #Hmu & #Hctx) Hvs HΦ". wp_rec. wp_pures.
    wp_apply (wp_mutex_lock with "Hmu"). iIntros "[Hheld (%d & Hlease)]". wp_pures.
    wp_load_const "Hd". wp_rec. wp_pures.
    iDestruct (wal_lease_rel with "Hlease") as %Hrel.
    destruct Ha as [Ha1 Ha2].
    destruct (rel_is_Some _ _ _ _ a Hrel) as [s Hs]; [rewrite /data_start in Ha1; lia|].
    pose proof (rel_block_ok _ _ _ _ _ _ Hrel Hs) as Hok.
    wp_bind (Eff _ _). iApply (wal_read sp ns N P _ _ _ _ _ _ _ _ (Q s) with "Hctx Hlease [Hvs]"); [done| |].
    { iIntros (σ Hσ). iApply "Hvs". iPureIntro. by rewrite -(rel_read _ _ _ _ Hσ Ha1). }
    iIntros "!> Hlease HQ". wp_apply (wp_string_to_slice with "[//]"); [by apply block_small|].
    iIntros (sl) "Hsl". wp_pures. wp_apply (wp_mutex_unlock with "[$Hheld Hlease]"); [by iExists d|].
    iIntros "_". wp_pures. by iApply ("HΦ" with "[//] Hsl HQ").
  Qed.

  Lemma commit_ok_blocks us : commit_ok N us → Forall block_ok us.*2.
  Proof. intros [_ Hus]. apply Forall_fmap. eapply Forall_impl; [done|]. by intros u [_ Hu]. Qed.
  Lemma commit_ok_addrs us u : commit_ok N us → u ∈ us → data_start ≤ u.1 < N.
  Proof. intros [_ Hus] Hu. rewrite Forall_forall in Hus. by destruct (Hus u Hu). Qed.

  Lemma wp_Log__Commit b γ γl γu (v : val) us sa dq sb (Q : iProp Σ) Φ : commit_ok N us →
    is_log b γ γl γu v -∗
    own_slice b sa uint64T dq (u64_val <$> us.*1) -∗ own_blocks b sb us.*2 -∗
    (∀ σ, spec_auth sp γ ∗ P b γ γu σ ={⊤ ∖ ↑ns}=∗
       spec_auth sp γ ∗ P b γ γu (apply_updates us σ) ∗ Q) -∗
    (own_slice b sa uint64T dq (u64_val <$> us.*1) -∗ own_blocks b sb us.*2 -∗ Q -∗ Φ #()) -∗
    WP Log__Commit v (slice_val sa) (slice_val sb) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hok) "(%l & %h & -> & #Hd & #Hmu & #Hctx) Hsa Hsb Hvs HΦ". wp_rec. wp_pures.
    assert (length us ≤ 511)%nat as Hlen. { destruct Hok as [Hlen _]. rewrite /max_updates in Hlen. lia. }
    wp_apply (wp_mutex_lock with "Hmu"). iIntros "[Hheld (%d & Hlease)]". wp_pures.
    wp_load_const "Hd".
    wp_bind (writeEntries _ _).
    iApply (wp_writeEntries with "Hctx Hlease Hsb"); [done|by apply commit_ok_blocks|].
    iIntros (d' Hd') "Hlease Hsb". wp_pures. iDestruct (wal_lease_rel with "Hlease") as %Hrel.
    wp_bind (encodeHeader _). iApply (wp_encodeHeader _ _ _ us.*1 with "Hsa"); [by rewrite fmap_length| |].
    { apply Forall_fmap, Forall_forall. intros u Hu.
      pose proof (commit_ok_addrs us u Hok Hu). rewrite /data_start in H0.
      eapply rel_in_range; [done|]. lia. }
    iIntros (s) "Hsa Hs". wp_pures. wp_load_const "Hd".
    wp_bind (disk.Disk__Write _ _ _). iApply (wp_Disk__Write with "Hs"). iIntros "_".
    iApply (wal_commit sp ns N P _ _ _ _ _ _ Q with "Hctx Hlease Hvs"); [done|done| |].
    { intros u Hu. by apply (commit_ok_addrs us). }
    iIntros "!> Hlease HQ". wp_pures. wp_load_const "Hd".
    wp_bind (install _). iApply (wp_install with "Hctx Hlease"). iIntros (d2) "Hlease". wp_pures.
    wp_apply (wp_mutex_unlock with "[$Hheld Hlease]"); [by iExists d2|]. iIntros "_".
    iApply ("HΦ" with "Hsa Hsb HQ").
  Qed.
End proof.
Global Typeclasses Opaque is_log.

(** * The crash invariant of the write-ahead log, and its two accesses

    One ghost variable holds the whole disk and the transaction in the log; the
    crash invariant has one half and whoever holds the lock has the other, so
    that between two accesses nothing changes behind his back.  [P σ] is what the
    user of the log keeps together with its state: the crash invariant ties the
    two, and a view shift at the commit point moves both. *)
From iris.proofmode Require Import proofmode.
From iris.base_logic.lib Require Import ghost_var.
From ashlar.logic Require Import harness.
From ashlar.wal Require Export model.
Open Scope Z_scope.

Class walG Σ := WalG { walG_var : ghost_varG Σ (disk * list update) }.
Local Existing Instance walG_var.
Definition walΣ : gFunctors := #[ghost_varΣ (disk * list update)].
Global Instance subG_walΣ {Σ} : subG walΣ Σ → walG Σ.
Proof. solve_inG. Qed.

Section inv.
  Context `{!golangGS Σ, !walG Σ}.
  Context (sp : spec) `{!specG Σ sp}.
  Context (ns : namespace) (N : Z) (P : boot → spec_names → list gname → disk → iProp Σ).
  Context `{!∀ b γ γu σ, Timeless (P b γ γu σ)}.
  Implicit Types (b : boot) (d σ : disk) (us : list update).
  Implicit Types (γ : spec_names) (γl : gname) (γu : list gname).

  (** The right to access the disk, which is [d] and has [us] in its log. *)
  Definition wal_lease γl d us : iProp Σ :=
    ghost_var γl (1/2) (d, us) ∗ ⌜wal_rel N d us (data (apply_updates us d))⌝.

  Definition wal_disk b d : iProp Σ := [∗ map] a ↦ s ∈ d, a d↦[b_node b] s.

  Definition wal_inv b γ γs : iProp Σ :=
    ∃ γl γu d us σ,
      (* the first name is the log's, the others are the user's *)
      ⌜γs = γl :: γu⌝ ∗
      (* what the lock's holder knows *)
      ghost_var γl (1/2) (d, us) ∗
      (* the disk *)
      wal_disk b d ∗
      (* it stands for the state *)
      ⌜wal_rel N d us σ⌝ ∗
      (* what the user has for the state *)
      P b γ γu σ.
  Global Instance wal_inv_timeless b γ γs : Timeless (wal_inv b γ γs).
  Proof. apply _. Qed.

  Definition wal_ctx b γ γl γu : iProp Σ := lib_ctx sp ns wal_inv b γ (γl :: γu).

  Lemma wal_lease_rel γl d us : wal_lease γl d us -∗ ⌜wal_rel N d us (data (apply_updates us d))⌝.
  Proof. by iIntros "[_ %Hrel]". Qed.
  Lemma wal_alloc d us σ : wal_rel N d us σ →
    ⊢ |==> ∃ γl, ghost_var γl (1/2) (d, us) ∗ wal_lease γl d us.
  Proof.
    iIntros (Hrel). iMod (ghost_var_alloc (d, us)) as (γl) "[H1 H2]". iModIntro. iExists γl.
    iFrame. iPureIntro. by rewrite -(rel_state _ _ _ _ Hrel).
  Qed.

  (** Any effect of the program, at which the user may do something of his own. *)
  Lemma wal_look b γ γl γu e Q Φ : eff_redex e = true →
    wal_ctx b γ γl γu -∗
    (∀ σ, spec_auth sp γ ∗ P b γ γu σ ={⊤ ∖ ↑ns}=∗ spec_auth sp γ ∗ P b γ γu σ ∗ Q) -∗
    (Q -∗ WP e @ b; ⊤ ∖ ↑ns {{ Φ }}) -∗
    WP e @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (He) "#Hctx Hvs HΦ".
    iInv "Hctx" as "[>Ha HU]". iDestruct "HU" as (γ' γu' d us σ) ">(%Heq & Hl & Hd & %Hrel & HP)".
    injection Heq as <- <-.
    iMod ("Hvs" with "[$Ha $HP]") as "(Ha & HP & HQ)".
    iApply (wpe_wand with "(HΦ HQ)"). iIntros (v) "$ !> !>". iFrame "Ha".
    iExists γl, γu, d, us, σ. by iFrame.
  Qed.

  (** A read, at which the user may look at the state. *)
  Lemma wal_read b γ γl γu d us a s Q Φ : d !! a = Some s →
    wal_ctx b γ γl γu -∗ wal_lease γl d us -∗
    (∀ σ, ⌜wal_rel N d us σ⌝ -∗ spec_auth sp γ ∗ P b γ γu σ ={⊤ ∖ ↑ns}=∗ spec_auth sp γ ∗ P b γ γu σ ∗ Q) -∗
    ▷ (wal_lease γl d us -∗ Q -∗ Φ #(LitStr s)) -∗
    WP Eff (DevOp DiskRead) (Val #(u64 a)) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha) "#Hctx [Hlease %Hlease] Hvs HΦ".
    iInv "Hctx" as "[>Ha HU]". iDestruct "HU" as (γ' γu' d' us' σ) ">(%Heq & Hl & Hd & %Hrel & HP)".
    injection Heq as <- <-. iDestruct (ghost_var_agree with "Hl Hlease") as %[= -> ->].
    iMod ("Hvs" with "[//] [$Ha $HP]") as "(Hauth & HP & HQ)".
    iDestruct (big_sepM_lookup_acc with "Hd") as "[Ha Hd]"; [done|].
    iApply (wpe_disk_read with "Ha"). iIntros "!> Ha !>".
    iSplitR "Hlease HΦ HQ"; [|by iApply ("HΦ" with "[$Hlease] HQ")].
    iNext. iFrame "Hauth". iExists γl, γu, d, us, σ. iFrame "Hl HP". iSplit; [done|]. iSplit; [|done]. by iApply "Hd".
  Qed.
  Lemma wal_read_any b γ γl γu d us a s Φ : d !! a = Some s →
    wal_ctx b γ γl γu -∗ wal_lease γl d us -∗
    ▷ (wal_lease γl d us -∗ Φ #(LitStr s)) -∗
    WP Eff (DevOp DiskRead) (Val #(u64 a)) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha) "#Hctx Hlease HΦ".
    iApply (wal_read _ _ _ _ _ _ _ _ True%I with "Hctx Hlease"); [done|by iIntros (σ _) "[$ $] !>"|].
    iIntros "!> Hlease _". by iApply "HΦ".
  Qed.

  (** A write of [s] to [a]: [us'] is the transaction in the log afterwards. *)
  Lemma wal_write b γ γl γu d us us' a s Q Φ : is_Some (d !! a) → block_ok s →
    wal_ctx b γ γl γu -∗ wal_lease γl d us -∗
    (∀ σ, ⌜wal_rel N d us σ⌝ -∗ spec_auth sp γ ∗ P b γ γu σ ={⊤ ∖ ↑ns}=∗
       ∃ σ', ⌜wal_rel N (<[a := s]> d) us' σ'⌝ ∗ spec_auth sp γ ∗ P b γ γu σ' ∗ Q) -∗
    ▷ (wal_lease γl (<[a := s]> d) us' -∗ Q -∗ Φ #()) -∗
    WP Eff (DevOp DiskWrite) (Val (#(u64 a), #(LitStr s))) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros ([s0 Ha] Hs) "#Hctx [Hlease %Hlease] Hvs HΦ".
    iInv "Hctx" as "[>Ha HU]". iDestruct "HU" as (γ' γu' d' us0 σ) ">(%Heq & Hl & Hd & %Hrel & HP)".
    injection Heq as <- <-. iDestruct (ghost_var_agree with "Hl Hlease") as %[= -> ->].
    iMod ("Hvs" with "[//] [$Ha $HP]") as (σ') "(%Hrel' & Hauth & HP & HQ)".
    iDestruct (big_sepM_insert_acc with "Hd") as "[Ha Hd]"; [done|].
    iMod (ghost_var_update_halves (<[a := s]> d, us') with "Hl Hlease") as "[Hl Hlease]".
    iApply (wpe_disk_write with "Ha"); [done|]. iIntros "!> Ha !>".
    iSplitR "Hlease HΦ HQ"; [|iApply ("HΦ" with "[$Hlease] HQ")]; last first.
    { iPureIntro. by rewrite -(rel_state _ _ _ _ Hrel'). }
    iNext. iFrame "Hauth". iExists γl, γu, _, us', σ'. iFrame "Hl HP". iSplit; [done|]. iSplit; [|done]. by iApply "Hd".
  Qed.
  (** A write that does not change the state. *)
  Lemma wal_write_same b γ γl γu d us us' a s Φ : is_Some (d !! a) → block_ok s →
    (∀ σ, wal_rel N d us σ → wal_rel N (<[a := s]> d) us' σ) →
    wal_ctx b γ γl γu -∗ wal_lease γl d us -∗
    ▷ (wal_lease γl (<[a := s]> d) us' -∗ Φ #()) -∗
    WP Eff (DevOp DiskWrite) (Val (#(u64 a), #(LitStr s))) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha Hs Hrel) "#Hctx Hlease HΦ".
    iApply (wal_write _ _ _ _ _ _ us' _ _ True%I with "Hctx Hlease"); [done..| |].
    { iIntros (σ Hσ) "[Ha HP] !>". iExists σ. iFrame. iPureIntro. by apply Hrel. }
    iIntros "!> Hlease _". by iApply "HΦ".
  Qed.
  (** The commit point. *)
  Lemma wal_commit b γ γl γu d us Q Φ : (length us ≤ 511)%nat →
    (∀ i u, us !! i = Some u → d !! (1 + Z.of_nat i) = Some u.2) →
    (∀ u, u ∈ us → data_start ≤ u.1 < N) →
    wal_ctx b γ γl γu -∗ wal_lease γl d [] -∗
    (∀ σ, spec_auth sp γ ∗ P b γ γu σ ={⊤ ∖ ↑ns}=∗
       spec_auth sp γ ∗ P b γ γu (apply_updates us σ) ∗ Q) -∗
    ▷ (wal_lease γl (<[0 := header us.*1]> d) us -∗ Q -∗ Φ #()) -∗
    WP Eff (DevOp DiskWrite) (Val (#(u64 0), #(LitStr (header us.*1)))) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hlen Hus Haddrs) "#Hctx Hlease Hvs HΦ".
    iDestruct (wal_lease_rel with "Hlease") as %Hlease.
    iApply (wal_write with "Hctx Hlease [Hvs]"); [ | | |done].
    { rewrite (rel_header _ _ _ _ Hlease). by eexists. }
    { apply header_length. by rewrite fmap_length. }
    iIntros (σ Hrel) "HP". iMod ("Hvs" with "HP") as "(Ha & HP & $)". iModIntro.
    iExists (apply_updates us σ). iFrame. iPureIntro. by apply rel_commit.
  Qed.
End inv.
Global Typeclasses Opaque wal_lease.

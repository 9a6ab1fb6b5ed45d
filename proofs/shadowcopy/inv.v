(** * The disk under a shadow copy: its invariant, and its accesses

    [pair_disk] is what the disk is like at every moment, so also after a crash:
    block 0 names a copy, and that copy is the pair.  Who holds the lock holds
    [lease]: it says where the current copy is and what is in both, and that
    nobody changes them. *)
From iris.base_logic.lib Require Import ghost_var.
From ashlar.logic Require Import rules.
From ashlar.shadowcopy Require Import spec.

(** What a lease is of: where the current copy begins, the current copy, the other. *)
Definition layout : Type := Z * state * state.

Class pairG Σ := PairG { pairG_layout : ghost_varG Σ layout }.
Global Existing Instance pairG_layout.
Definition pairΣ : gFunctors := #[ghost_varΣ layout].
Global Instance subG_pairΣ Σ : subG pairΣ Σ → pairG Σ.
Proof. solve_inG. Qed.

Section inv.
  Context `{!golangGS Σ, !pairG Σ}.
  Implicit Types (b : boot) (γ : gname) (s o : state) (base : Z) (Φ : val → iProp Σ).

  Definition own_copy (n : nat) (base : Z) (s : state) : iProp Σ :=
    ⌜block_ok s.1 ∧ block_ok s.2⌝ ∗ base d↦[n] s.1 ∗ (base + 1) d↦[n] s.2.

  (** The copy that a write fills. *)
  Definition other (base : Z) : Z := (4 - base)%Z.

  Definition lease γ base s o : iProp Σ := ghost_var γ (1/2) (base, s, o).

  Definition pair_disk (n : nat) γ s : iProp Σ :=
    ∃ selector base o,
      (* block 0 names the current copy *)
      0 d↦[n] selector ∗
      ⌜block_ok selector ∧ selects selector base⌝ ∗
      (* which is the pair *)
      own_copy n base s ∗
      (* the other copy is whatever a write has left *)
      own_copy n (other base) o ∗
      (* and all this is what the holder of the lock thinks *)
      lease γ base s o.
  Global Instance pair_disk_timeless n γ s : Timeless (pair_disk n γ s).
  Proof. apply _. Qed.

  Lemma selects_cases selector base : selects selector base → base = 1 ∨ base = 3.
  Proof. intros (x & rest & _ & ->). case_decide; auto. Qed.

  (** A boot takes its lease from what the last one has left. *)
  Lemma pair_disk_boot n γ s :
    pair_disk n γ s ==∗ ∃ γ' base o, pair_disk n γ' s ∗ lease γ' base s o.
  Proof.
    iIntros "(%selector & %base & %o & H0 & Hsel & Hs & Ho & _)".
    iMod (ghost_var_alloc (base, s, o)) as (γ') "[Hv Hlease]".
    iModIntro. iExists γ', base, o. iFrame "Hlease". iExists _, _, _. by iFrame.
  Qed.

  (** ** One access each *)
  Lemma wp_read_selector b E γ s s1 base o Φ :
    ▷ pair_disk (b_node b) γ s -∗ lease γ base s1 o -∗
    ▷ (∀ selector, ⌜block_ok selector ∧ selects selector base⌝ -∗
         pair_disk (b_node b) γ s -∗ lease γ base s1 o -∗ Φ #(LitStr selector)) -∗
    WP Eff (DevOp DiskRead) (Val #(u64 0)) @ b; E {{ Φ }}.
  Proof.
    iIntros "(%selector & %base' & %o' & H0 & >%Hsel & Hs & Ho & >Hv) Hlease HΦ".
    iDestruct (ghost_var_agree with "Hv Hlease") as %[= -> -> ->].
    iApply (wpe_disk_read with "H0"). iIntros "!> H0".
    iApply ("HΦ" with "[//] [-Hlease] Hlease"). iExists _, _, _. by iFrame.
  Qed.

  Lemma wp_read_first b E γ s s1 base o Φ :
    ▷ pair_disk (b_node b) γ s -∗ lease γ base s1 o -∗
    ▷ (⌜s = s1 ∧ block_ok s1.1⌝ -∗ pair_disk (b_node b) γ s -∗ lease γ base s1 o -∗ Φ #(LitStr s1.1)) -∗
    WP Eff (DevOp DiskRead) (Val #(u64 base)) @ b; E {{ Φ }}.
  Proof.
    iIntros "(%selector & %base' & %o' & H0 & >%Hsel & (>%Hok & Ha & Hb) & Ho & >Hv) Hlease HΦ".
    iDestruct (ghost_var_agree with "Hv Hlease") as %[= -> -> ->].
    iApply (wpe_disk_read with "Ha"). iIntros "!> Ha".
    iApply ("HΦ" with "[%] [-Hlease] Hlease"); [by destruct Hok|]. iExists _, _, _. by iFrame.
  Qed.
  Lemma wp_read_second b E γ s s1 base o Φ :
    ▷ pair_disk (b_node b) γ s -∗ lease γ base s1 o -∗
    ▷ (⌜s = s1 ∧ block_ok s1.2⌝ -∗ pair_disk (b_node b) γ s -∗ lease γ base s1 o -∗ Φ #(LitStr s1.2)) -∗
    WP Eff (DevOp DiskRead) (Val #(u64 (base + 1))) @ b; E {{ Φ }}.
  Proof.
    iIntros "(%selector & %base' & %o' & H0 & >%Hsel & (>%Hok & Ha & Hb) & Ho & >Hv) Hlease HΦ".
    iDestruct (ghost_var_agree with "Hv Hlease") as %[= -> -> ->].
    iApply (wpe_disk_read with "Hb"). iIntros "!> Hb".
    iApply ("HΦ" with "[%] [-Hlease] Hlease"); [by destruct Hok|]. iExists _, _, _. by iFrame.
  Qed.

  (** Writes to the other copy: nobody sees them. *)
  Lemma wp_write_first b E γ s s1 base o x Φ : block_ok x →
    ▷ pair_disk (b_node b) γ s -∗ lease γ base s1 o -∗
    ▷ (pair_disk (b_node b) γ s -∗ lease γ base s1 (x, o.2) -∗ Φ #()) -∗
    WP Eff (DevOp DiskWrite) (Val (#(u64 (other base)), #(LitStr x))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hx) "(%selector & %base' & %o' & H0 & >%Hsel & Hs & (>%Hok & Ha & Hb) & >Hv) Hlease HΦ".
    iDestruct (ghost_var_agree with "Hv Hlease") as %[= -> -> ->].
    iApply wpe_fupd. iApply (wpe_disk_write with "Ha"); [done|]. iIntros "!> Ha".
    iMod (ghost_var_update_halves (base, s1, (x, o.2)) with "Hv Hlease") as "[Hv Hlease]".
    iModIntro. iApply ("HΦ" with "[-Hlease] Hlease"). iExists _, _, _. iFrame.
    iPureIntro. destruct Hok, Hsel. by split_and!.
  Qed.
  Lemma wp_write_second b E γ s s1 base o x Φ : block_ok x →
    ▷ pair_disk (b_node b) γ s -∗ lease γ base s1 o -∗
    ▷ (pair_disk (b_node b) γ s -∗ lease γ base s1 (o.1, x) -∗ Φ #()) -∗
    WP Eff (DevOp DiskWrite) (Val (#(u64 (other base + 1)), #(LitStr x))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hx) "(%selector & %base' & %o' & H0 & >%Hsel & Hs & (>%Hok & Ha & Hb) & >Hv) Hlease HΦ".
    iDestruct (ghost_var_agree with "Hv Hlease") as %[= -> -> ->].
    iApply wpe_fupd. iApply (wpe_disk_write with "Hb"); [done|]. iIntros "!> Hb".
    iMod (ghost_var_update_halves (base, s1, (o.1, x)) with "Hv Hlease") as "[Hv Hlease]".
    iModIntro. iApply ("HΦ" with "[-Hlease] Hlease"). iExists _, _, _. iFrame.
    iPureIntro. destruct Hok, Hsel. by split_and!.
  Qed.

  (** The write of block 0: the copies change places, and the pair changes. *)
  Lemma wp_write_selector b E γ s s1 base o x Φ : block_ok x → selects x (other base) →
    ▷ pair_disk (b_node b) γ s -∗ lease γ base s1 o -∗
    ▷ (⌜s = s1⌝ -∗ pair_disk (b_node b) γ o -∗ lease γ (other base) o s1 -∗ Φ #()) -∗
    WP Eff (DevOp DiskWrite) (Val (#(u64 0), #(LitStr x))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hx Hsel) "(%selector & %base' & %o' & H0 & >_ & Hs & Ho & >Hv) Hlease HΦ".
    iDestruct (ghost_var_agree with "Hv Hlease") as %[= -> -> ->].
    iApply wpe_fupd. iApply (wpe_disk_write with "H0"); [done|]. iIntros "!> H0".
    iMod (ghost_var_update_halves (other base, o, s1) with "Hv Hlease") as "[Hv Hlease]".
    iModIntro. iApply ("HΦ" with "[//] [-Hlease] Hlease"). iExists x, (other base), s1.
    rewrite /other. replace (4 - (4 - base))%Z with base by lia. by iFrame.
  Qed.
End inv.

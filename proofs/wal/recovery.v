(** * The write-ahead log over a crash, and at the beginning *)
From iris.proofmode Require Import proofmode.
From ashlar.logic Require Import harness.
From ashlar.wal Require Export inv.
Open Scope Z_scope.

Section recovery.
  Context `{!golangGS Σ, !walG Σ}.
  Context (sp : spec) `{!specG Σ sp}.
  Context (N : Z) (P : boot → spec_names → list gname → disk → iProp Σ).
  Context `{!∀ b γ γu σ, Timeless (P b γ γu σ)}.
  (** What recovery gets from the user of the log, besides what the log gives. *)
  Context (R : boot → spec_names → list gname → iProp Σ).

  Definition wal_rec (b : boot) (γ : spec_names) (γs : list gname) : iProp Σ :=
    ∃ γl γu d us, ⌜γs = γl :: γu⌝ ∗ wal_lease N γl d us ∗ R b γ γu.

  (** The disk keeps what it has, the lease of the old boot is replaced, and the
      user takes what he has for the state over the crash. *)
  Lemma wal_crash_ok b γ γs E :
    (∀ γu σ, P b γ γu σ ={E}=∗ ∃ S ps S',
      spec_possible sp γ S ∗ ([∗ list] p ∈ ps, pending γ p.1 p.2) ∗
      ⌜crash_leads sp S ps.*2 S'⌝ ∗
      ∀ γ', spec_possible sp γ' S' ={E}=∗ ∃ γu', P (next_boot b) γ' γu' σ ∗ R (next_boot b) γ' γu') -∗
    ▷ wal_inv N P b γ γs ={E}=∗ ∃ S ps S',
      spec_possible sp γ S ∗ ([∗ list] p ∈ ps, pending γ p.1 p.2) ∗
      ⌜crash_leads sp S ps.*2 S'⌝ ∗
      ∀ γ', spec_possible sp γ' S' ={E}=∗ ∃ γs',
        wal_inv N P (next_boot b) γ' γs' ∗ wal_rec (next_boot b) γ' γs'.
  Proof.
    iIntros "HP HU". iDestruct "HU" as (γl γu d us σ) ">(-> & Hl & Hd & %Hrel & Hσ)".
    iMod ("HP" with "Hσ") as (S ps S') "(HS & Hps & %Hleads & Hback)".
    iModIntro. iExists S, ps, S'. iFrame "HS Hps". iSplit; [done|]. iIntros (γ') "HS".
    iMod ("Hback" with "HS") as (γu') "[HP HR]".
    iMod (wal_alloc N d us σ Hrel) as (γl') "[Hl2 Hlease]".
    iModIntro. iExists (γl' :: γu'). iSplitL "Hl2 Hd HP".
    - iExists γl', γu', d, us, σ. iFrame. rewrite /wal_disk /=. by iFrame.
    - iExists γl', γu', d, us. by iFrame.
  Qed.

  (** A disk with an empty log. *)
  Lemma wal_init_ok b γ γu d : wal_rel N d [] (data d) → b_node b = 0%nat →
    ([∗ map] a ↦ s ∈ d, a d↦[0%nat] s) -∗ P b γ γu (data d) -∗ R b γ γu ==∗
    ∃ γs, wal_inv N P b γ γs ∗ wal_rec b γ γs.
  Proof.
    iIntros (Hrel Hb) "Hd HP HR". iMod (wal_alloc N d [] (data d) Hrel) as (γl) "[Hl Hlease]".
    iModIntro. iExists (γl :: γu). iSplitL "Hl Hd HP".
    - iExists γl, γu, d, [], (data d). rewrite /wal_disk Hb. by iFrame.
    - iExists γl, γu, d, []. by iFrame.
  Qed.
End recovery.

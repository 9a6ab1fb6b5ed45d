(** * The invariant of group commit

    What the log's crash invariant keeps for group commit: the specification,
    whose durable part is the state of the log, and one half of a ghost variable
    with the updates that wait, which only memory has.  The other half is with the
    lock, so that what waits changes only under it; a crash makes a new one. *)
From iris.proofmode Require Import proofmode.
From iris.base_logic.lib Require Import ghost_var.
From ashlar.logic Require Import harness.
From ashlar.wal Require Export inv.
From ashlar.groupcommit Require Export spec.
Open Scope Z_scope.

Class gcG Σ := GcG { gcG_var : ghost_varG Σ (list update) }.
Local Existing Instance gcG_var.
Definition gcΣ : gFunctors := #[ghost_varΣ (list update)].
Global Instance subG_gcΣ {Σ} : subG gcΣ Σ → gcG Σ.
Proof. solve_inG. Qed.

(** The specification, for a disk whose data are [σ0] at first. *)
Definition gc_spec (N : Z) (σ0 : disk) : logic.spec.spec := {|
  sp_state := gc_state;
  sp_init := eq (GcState σ0 []);
  sp_step := gc_step N;
  sp_move _ _ _ _ := False;
  sp_crash := gc_crash;
|}.

Section inv.
  Context `{!golangGS Σ, !gcG Σ}.
  Context (N : Z) (σ0 : disk).
  Local Notation sp := (gc_spec N σ0).
  Context `{!specG Σ sp}.
  Implicit Types (b : boot) (γ : spec_names) (us : list update) (σ : disk).

  (** The right to change what waits. *)
  Definition gc_waits (γw : gname) us : iProp Σ := ghost_var γw (1/2) us.

  Definition gc_P b γ (γu : list gname) σ : iProp Σ :=
    ∃ γw us,
      ⌜γu = [γw]⌝ ∗
      (* what waits *)
      gc_waits γw us ∗
      (* the specification *)
      spec_state sp γ (GcState σ us).
  Global Instance gc_P_timeless b γ γu σ : Timeless (gc_P b γ γu σ).
  Proof. apply _. Qed.

  (** What recovery gets: nothing waits. *)
  Definition gc_R b γ (γu : list gname) : iProp Σ := ∃ γw, ⌜γu = [γw]⌝ ∗ gc_waits γw [].

  (** A step of an operation by who has the lock: [σ'] is what is durable
      afterwards, [us'] what waits. *)
  Lemma gc_P_step b γ γw σ σ' us us' k c r E :
    gc_step N c (GcState σ us) r (GcState σ' us') →
    gc_waits γw us -∗ pending γ k c -∗ spec_auth sp γ ∗ gc_P b γ [γw] σ ={E}=∗
    spec_auth sp γ ∗ gc_P b γ [γw] σ' ∗ gc_waits γw us' ∗ returns γ k r.
  Proof.
    iIntros (Hs) "Hw2 Hk (Ha & %γw' & %us0 & %Heq & Hw & Hσ)". injection Heq as <-.
    iDestruct (ghost_var_agree with "Hw Hw2") as %->.
    iMod (ghost_var_update_halves us' with "Hw Hw2") as "[Hw Hw2]".
    iMod (spec_step sp with "Ha Hσ Hk") as "($ & Hσ & $)"; [done|].
    iModIntro. iFrame "Hw2". iExists γw, us'. by iFrame.
  Qed.
  Lemma gc_P_alloc b γ σ :
    spec_possible sp γ (eq (GcState σ [])) ==∗ ∃ γu, gc_P b γ γu σ ∗ gc_R b γ γu.
  Proof.
    iIntros "Hσ". iMod (ghost_var_alloc ([] : list update)) as (γw) "[Hw1 Hw2]".
    iModIntro. iExists [γw]. iSplitR "Hw2".
    - iExists γw, []. by iFrame.
    - iExists γw. by iFrame.
  Qed.
  (** A crash loses what waits. *)
  Lemma gc_P_crash b γ γu σ E :
    gc_P b γ γu σ ={E}=∗ ∃ S ps S',
      spec_possible sp γ S ∗ ([∗ list] p ∈ ps, pending γ p.1 p.2) ∗
      ⌜crash_leads sp S ps.*2 S'⌝ ∗
      ∀ γ', spec_possible sp γ' S' ={E}=∗ ∃ γu', gc_P (next_boot b) γ' γu' σ ∗ gc_R (next_boot b) γ' γu'.
  Proof.
    iIntros "(%γw & %us & -> & _ & Hσ)". iModIntro.
    iExists (eq (GcState σ us)), [], (eq (GcState σ [])). iFrame "Hσ". iSplit; [done|]. iSplit.
    - iPureIntro. split; [by eexists|]. intros s <-. exists (GcState σ us), (GcState σ us).
      split; [done|]. split; [apply helped_none|]. constructor.
    - iIntros (γ') "Hσ". by iApply (gc_P_alloc with "Hσ").
  Qed.
End inv.

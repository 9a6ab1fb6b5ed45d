(** * Group commit as a library of the generic client *)
From iris.proofmode Require Import proofmode.
From ashlar.golib Require Import slice_rules append.
From ashlar.logic Require Import harness.
From ashlar.wal Require Import library.
From ashlar.groupcommit Require Export proof client.
Open Scope Z_scope.

Section library.
  Context `{!golangGS Σ, !walG Σ, !gcG Σ}.
  Context (N : Z) (σ0 : disk).
  Local Notation sp := (gc_spec N σ0).
  Context `{!specG Σ sp}.
  Implicit Types (b : boot) (γ : spec_names).

  Lemma wp_do_gc_call b γ γs (v c : val) k : gc_call_ok N c →
    is_gc N σ0 b γ γs v -∗ pending γ k c -∗ WP do_gc_call v c @ b; ⊤ {{ r, returns γ k r }}.
  Proof.
    iIntros (Hc) "#Hgc Hk". wp_rec. wp_pures.
    destruct Hc as [(a & -> & Ha)|[(us & -> & Hus)| ->]]; wp_pures.
    - wp_bind (groupcommit.Log__Read _ _). iApply (wp_gc_Read with "Hgc Hk"); [done|].
      iIntros (s bs) "Hs Hk". wp_apply (wp_slice_to_string with "Hs"). by iIntros "_".
    - rewrite -slice_val_nil. wp_bind (to_slices _ _ _).
      iApply (wp_to_slices _ us _ _ [] []).
      { destruct Hus as [_ Hus]. eapply Forall_impl; [done|]. by intros u [_ Hu]. }
      { iApply own_slice_full_nil. }
      { iApply own_blocks_full_nil. }
      iIntros (sa sb) "[Ha _] Hb". iDestruct (own_blocks_full_split with "Hb") as "[Hb _]". wp_pures.
      by iApply (wp_gc_Commit with "Hgc Hk Ha Hb").
    - by iApply (wp_gc_Flush with "Hgc Hk").
  Qed.
  Lemma wp_gc_body b γ γs (v : val) :
    lib_ctx sp walN (wal_inv N (gc_P N σ0)) b γ γs -∗ is_gc N σ0 b γ γs v -∗
    WP any_calls (any_gc_call N) do_gc_call v @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros "#Hctx #Hlib". iApply (wp_any_calls sp _ _ _ _ _ (gc_call_ok N) with "Hctx").
    - iApply wp_any_gc_call. by iIntros (c Hc).
    - iIntros (c k Hc) "Hk". by iApply (wp_do_gc_call with "Hlib Hk").
  Qed.
End library.

Lemma gc_library Σ `{!golangGS Σ, !walG Σ, !gcG Σ} (dv : devices) N σ0 `{!specG Σ (gc_spec N σ0)} :
  wal_rel N (dv_disk dv) [] σ0 →
  lib_proof (gc_spec N σ0) walN groupcommit.Open (any_calls (any_gc_call N) do_gc_call) dv.
Proof.
  intros Hrel. assert (σ0 = data (dv_disk dv)) as Hσ0 by apply Hrel. subst σ0.
  refine {|
    lp_inv := wal_inv N (gc_P N _);
    lp_rec := wal_rec N gc_R;
    lp_lib := is_gc N _;
  |}.
  - iIntros (b γ γs Hb). iApply wp_gc_Open.
  - iIntros (b γ γs v Hb). iApply wp_gc_body.
  - iIntros (b γ γs γs0 vn vn' dv1 dv2 Hb Hcrash) "_ _ _ HU".
    iMod (wal_crash_ok _ N (gc_P N _) gc_R with "[] HU") as (S ps S') "(HS & Hps & Hlead & Hback)".
    { iIntros (γu σ). iApply gc_P_crash. }
    iModIntro. iExists S, ps, S'. iFrame "HS Hps Hlead". iIntros (γ') "HS".
    iMod ("Hback" with "HS") as (γs') "H". iModIntro. iExists γs'. iIntros (γs2) "_ !>". iExact "H".
  - iIntros (vn Hsizes) "(Hd & _) _". iModIntro. iExists (eq (GcState (data (dv_disk dv)) [])).
    iSplit; [iPureIntro; split; [by eauto|by intros ? <-]|]. iIntros (γ) "HS".
    iMod (gc_P_alloc N _ (Boot 0 0) with "HS") as (γu) "[HP HR]".
    iMod (wal_init_ok N (gc_P N _) gc_R (Boot 0 0) γ γu with "Hd HP HR") as (γs) "H"; [done..|].
    iModIntro. iExists γs. iIntros (γs2) "_ !>". iExact "H".
Defined.

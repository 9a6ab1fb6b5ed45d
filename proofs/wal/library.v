(** * The write-ahead log as a library of the generic client *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.golib Require Import slice_rules append.
From ashlar.logic Require Import harness.
From ashlar.wal Require Export proof recovery client_proof.
Open Scope Z_scope.

(** The specification, for a disk of [N] blocks whose data are [σ0] at first. *)
Definition wal_spec (N : Z) (σ0 : disk) : logic.spec.spec := {|
  sp_state := disk;
  sp_init := eq σ0;
  sp_step := wal_step N;
  sp_move _ _ _ _ := False;
  sp_crash := wal_crash;
|}.
Definition walN : namespace := nroot .@ "wal".

Section args.
  Context `{!golangGS Σ}.
  Lemma wp_to_slices b us (sa sb : slice) addrs bs (Φ : val → iProp Σ) :
    Forall (λ u, block_ok u.2) us →
    own_slice_full b sa uint64T (u64_val <$> addrs) -∗ own_blocks_full b sb bs -∗
    (∀ sa' sb', own_slice_full b sa' uint64T (u64_val <$> addrs ++ us.*1) -∗
       own_blocks_full b sb' (bs ++ us.*2) -∗ Φ (slice_val sa', slice_val sb')%V) -∗
    WP to_slices (list_val (update_val <$> us)) (slice_val sa) (slice_val sb) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hus) "Ha Hb HΦ". iInduction us as [|u us] "IH" forall (sa sb addrs bs); wp_rec; wp_pures.
    { iApply ("HΦ" with "[Ha] [Hb]"); by rewrite app_nil_r. }
    inversion Hus as [|?? Hu Hus']; subst.
    wp_apply (wp_append_one with "Ha"); [done|]. iIntros (sa') "Ha". wp_pures.
    wp_apply (wp_string_to_slice with "[//]"); [by apply block_small|]. iIntros (s) "[Hs _]".
    wp_bind (append_one _ _ _). iApply (wp_append_block with "Hb Hs"). iIntros (sb') "Hb". wp_pures.
    iApply ("IH" with "[//] [Ha] Hb").
    { change [(#(u64 u.1))%V] with (u64_val <$> [u.1]). rewrite -fmap_app. iExact "Ha". }
    iIntros (sa2 sb2) "Ha Hb". rewrite -!(assoc_L (++)). iApply ("HΦ" with "Ha Hb").
  Qed.
End args.

Section library.
  Context `{!golangGS Σ, !walG Σ}.
  Context (N : Z) (σ0 : disk).
  Local Notation sp := (wal_spec N σ0).
  Context `{!specG Σ sp}.
  Implicit Types (b : boot) (γ : spec_names).

  Definition wal_P b γ (γu : list gname) (σ : disk) : iProp Σ := spec_state sp γ σ.
  Definition wal_R b γ (γu : list gname) : iProp Σ := True.
  Definition wal_lib b γ (γs : list gname) (v : val) : iProp Σ :=
    ∃ γl γu, ⌜γs = γl :: γu⌝ ∗ is_log sp walN N wal_P b γ γl γu v.
  Definition legal (c : val) : Prop :=
    (∃ a, c = read_call a ∧ addr_ok N a) ∨ (∃ us, c = commit_call us ∧ commit_ok N us).

  Lemma wp_do_call b γ γs (v c : val) k : legal c →
    wal_lib b γ γs v -∗ pending γ k c -∗ WP do_call v c @ b; ⊤ {{ r, returns γ k r }}.
  Proof.
    iIntros (Hc) "(%γl & %γu & -> & #Hlog) Hk". wp_rec. wp_pures.
    destruct Hc as [(a & -> & Ha)|(us & -> & Hus)]; wp_pures.
    - wp_bind (Log__Read _ _).
      iApply (wp_Log__Read sp walN N wal_P _ _ _ _ _ _ (λ s, returns γ k #(LitStr s)) with "Hlog [Hk]"); [done| |].
      + iIntros (σ s Hs) "[Ha HP]".
        iMod (spec_step sp with "Ha HP Hk") as "($ & $ & $)"; [|done]. by constructor.
      + iIntros (sl s _) "[Hs _] Hk". wp_apply (wp_slice_to_string with "Hs"). by iIntros "_".
    - rewrite -slice_val_nil. wp_bind (to_slices _ _ _).
      iApply (wp_to_slices _ us _ _ [] []).
      { destruct Hus as [_ Hus]. eapply Forall_impl; [done|]. by intros u [_ Hu]. }
      { iApply own_slice_full_nil. }
      { iApply own_blocks_full_nil. }
      iIntros (sa sb) "[Ha _] Hb". iDestruct (own_blocks_full_split with "Hb") as "[Hb _]". wp_pures.
      iApply (wp_Log__Commit sp walN N wal_P _ _ _ _ _ us _ _ _ (returns γ k #()) with "Hlog Ha Hb [Hk]"); [done| |].
      + iIntros (σ) "[Ha HP]".
        iMod (spec_step sp with "Ha HP Hk") as "($ & $ & $)"; [|done]. by constructor.
      + by iIntros "_ _ $".
  Qed.
  Lemma wp_wal_Open b γ γs :
    lib_ctx sp walN (wal_inv N wal_P) b γ γs -∗ wal_rec N wal_R b γ γs -∗
    WP Open #() @ b; ⊤ {{ v, wal_lib b γ γs v }}.
  Proof.
    iIntros "#Hctx (%γl & %γu & %d & %us & -> & Hlease & _)".
    iApply (wp_Open sp walN N wal_P with "[] Hlease"); [iApply "Hctx"|].
    iIntros (v) "Hv". iExists γl, γu. by iFrame.
  Qed.
  Lemma wp_wal_body b γ γs (v : val) :
    lib_ctx sp walN (wal_inv N wal_P) b γ γs -∗ wal_lib b γ γs v -∗
    WP any_calls (any_call N) do_call v @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros "#Hctx #Hlib". iApply (wp_any_calls sp _ _ _ _ _ legal with "Hctx").
    - iApply wp_any_call. by iIntros (c Hc).
    - iIntros (c k Hc) "Hk". by iApply (wp_do_call with "Hlib Hk").
  Qed.
  Lemma wal_P_crash b γ γu σ E :
    wal_P b γ γu σ ={E}=∗ ∃ S ps S',
      spec_possible sp γ S ∗ ([∗ list] p ∈ ps, pending γ p.1 p.2) ∗
      ⌜crash_leads sp S ps.*2 S'⌝ ∗
      ∀ γ', spec_possible sp γ' S' ={E}=∗ ∃ γu',
        wal_P (next_boot b) γ' γu' σ ∗ wal_R (next_boot b) γ' γu'.
  Proof.
    iIntros "Hσ". iModIntro. iExists (eq σ), [], (eq σ). iFrame "Hσ". iSplit; [done|]. iSplit.
    - iPureIntro. split; [by eexists|]. intros s <-. exists σ, σ.
      split; [done|]. split; [apply helped_none|done].
    - iIntros (γ') "Hσ !>". iExists []. by iFrame.
  Qed.
End library.

Lemma wal_library Σ `{!golangGS Σ, !walG Σ} (dv : devices) N σ0 `{!specG Σ (wal_spec N σ0)} :
  wal_rel N (dv_disk dv) [] σ0 →
  lib_proof (wal_spec N σ0) walN Open (any_calls (any_call N) do_call) dv.
Proof.
  intros Hrel. assert (σ0 = data (dv_disk dv)) as Hσ0 by apply Hrel. subst σ0.
  refine {|
    lp_inv := wal_inv N (wal_P N _);
    lp_rec := wal_rec N wal_R;
    lp_lib := wal_lib N _;
  |}.
  - iIntros (b γ γs Hb). iApply wp_wal_Open.
  - iIntros (b γ γs v Hb). iApply wp_wal_body.
  - iIntros (b γ γs γs0 vn vn' dv1 dv2 Hb Hcrash) "_ _ _ HU".
    iMod (wal_crash_ok _ N (wal_P N _) wal_R with "[] HU") as (S ps S') "(HS & Hps & Hlead & Hback)".
    { iIntros (γu σ). iApply wal_P_crash. }
    iModIntro. iExists S, ps, S'. iFrame "HS Hps Hlead". iIntros (γ') "HS".
    iMod ("Hback" with "HS") as (γs') "H". iModIntro. iExists γs'. iIntros (γs2) "_ !>". iExact "H".
  - iIntros (vn Hsizes) "(Hd & _) _". iModIntro. iExists (eq (data (dv_disk dv))).
    iSplit; [iPureIntro; split; [by eauto|by intros ? <-]|]. iIntros (γ) "HS".
    iMod (wal_init_ok N (wal_P N _) wal_R (Boot 0 0) γ [] with "Hd HS []") as (γs) "H"; [done..|].
    iModIntro. iExists γs. iIntros (γs2) "_ !>". iExact "H".
Defined.

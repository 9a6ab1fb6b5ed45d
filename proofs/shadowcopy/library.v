(** * The pair as a library: recovery, what clients do, crashes *)
From iris.proofmode Require Import proofmode.
From ashlar.golib Require Import slice_rules sync.
From ashlar.logic Require Import harness.
From ashlar.gen.examples Require shadowcopy.
From ashlar.shadowcopy Require Import spec inv client_proof proof.
Open Scope Z_scope.

(** A boot opens the pair, and clients call what they like. *)
Definition open : val := λ: <>, shadowcopy.Open #().
Definition body : val := any_calls any_call do_call.

Section library.
  Context `{!golangGS Σ, !pairG Σ}.
  Context (d : gmap Z (list Z)) `{!specG Σ (pair_spec d)}.
  Implicit Types (b : boot) (γ : spec_names) (γu : list gname) (h : val).

  (** What recovery owns: the lease. *)
  Definition pair_rec b γ γu : iProp Σ := ∃ γl base s o, ⌜γu = [γl]⌝ ∗ lease γl base s o.
  (** What clients know. *)
  Definition pair_lib b γ γu h : iProp Σ := ∃ γl (p : loc), ⌜γu = [γl] ∧ h = #p⌝ ∗ is_pair d b γ γl p.

  Lemma wp_open b γ γu :
    lib_ctx (pair_spec d) pairN (pair_inv d) b γ γu -∗ pair_rec b γ γu -∗
    WP open #() @ b; ⊤ {{ h, pair_lib b γ γu h }}.
  Proof.
    iIntros "#Hctx (%γl & %base & %s & %o & -> & Hlease)". wp_rec.
    wp_apply (wp_Open with "[$Hctx $Hlease]"). iIntros (p) "#Hp". iExists γl, p. by iFrame "Hp".
  Qed.

  Lemma wp_do_call b γ γu h c k : legal c →
    pair_lib b γ γu h -∗ pending γ k c -∗ WP do_call h c @ b; ⊤ {{ r, returns γ k r }}.
  Proof.
    iIntros (Hc) "(%γl & %p & [-> ->] & #Hp) Hk". wp_rec. wp_pures.
    destruct Hc as [->|(x & y & -> & Hx & Hy)]; wp_pures.
    - wp_apply (wp_Pair__Read with "[$Hp $Hk]"). iIntros (s1 s2 x y) "(Hs1 & Hs2 & Hk)". wp_pures.
      wp_apply (wp_slice_to_string with "Hs2"). iIntros "_".
      wp_apply (wp_slice_to_string with "Hs1"). iIntros "_". wp_pures. done.
    - wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hy|]. iIntros (s2) "[Hs2 _]". wp_pures.
      wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hx|]. iIntros (s1) "[Hs1 _]".
      wp_apply (wp_Pair__Write with "[$Hp $Hk $Hs1 $Hs2]"); [done|done|]. iIntros "[Hk _]". done.
  Qed.

  Lemma wp_body b γ γu h :
    lib_ctx (pair_spec d) pairN (pair_inv d) b γ γu -∗ pair_lib b γ γu h -∗
    WP body h @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros "#Hctx #Hlib". iApply (wp_any_calls with "Hctx []").
    - iApply wp_any_call.
    - iIntros (c k Hc) "Hk". by iApply (wp_do_call with "Hlib Hk").
  Qed.

  (** A crash leaves the pair as it is. *)
  Lemma pair_crash b γ γu :
    ▷ pair_inv d b γ γu ={⊤ ∖ ↑pairN}=∗
    ∃ S ps S',
      spec_possible (pair_spec d) γ S ∗ ([∗ list] p ∈ ps, pending γ p.1 p.2) ∗
      ⌜crash_leads (pair_spec d) S ps.*2 S'⌝ ∗
      ∀ γ', spec_possible (pair_spec d) γ' S' ={⊤ ∖ ↑pairN}=∗ ∃ γu',
        pair_inv d (next_boot b) γ' γu' ∗ pair_rec (next_boot b) γ' γu'.
  Proof.
    iIntros "(%γl & %s & >-> & >Hs & >Hd)". iModIntro.
    iExists (eq s), [], (eq s). iFrame "Hs". iSplit; [done|]. iSplit.
    { iPureIntro. split; [by eauto|]. intros s' <-. exists s, s.
      split_and!; [done|apply helped_none|constructor]. }
    iIntros (γ') "Hs". iMod (pair_disk_boot with "Hd") as (γl' base o) "[Hd Hlease]".
    iModIntro. iExists [γl']. iSplitL "Hs Hd".
    - iExists γl', s. by iFrame.
    - iExists γl', base, s, o. by iFrame.
  Qed.

  (** The disk before the first boot. *)
  Lemma pair_init_disk n : disk_ok d → 5 ≤ size d →
    ([∗ map] a ↦ s ∈ d, a d↦[n] s) ==∗
    ∃ γl base s o, ⌜holds d s⌝ ∗ pair_disk n γl s ∗ lease γl base s o.
  Proof.
    iIntros ((Hdom & Hblocks & _) Hsize) "Hd".
    assert (∀ a, 0 ≤ a < 5 → ∃ s, d !! a = Some s ∧ block_ok s) as Hget.
    { intros a Ha. destruct (proj2 (Hdom a)) as [s Hs]; [lia|]. eauto. }
    destruct (Hget 0) as (s0 & Hs0 & Hok0); [lia|]. destruct (Hget 1) as (s1 & Hs1 & Hok1); [lia|].
    destruct (Hget 2) as (s2 & Hs2 & Hok2); [lia|]. destruct (Hget 3) as (s3 & Hs3 & Hok3); [lia|].
    destruct (Hget 4) as (s4 & Hs4 & Hok4); [lia|].
    rewrite (big_sepM_delete _ d 0) // (big_sepM_delete _ _ 1); [|by rewrite !lookup_delete_ne].
    rewrite (big_sepM_delete _ _ 2); [|by rewrite !lookup_delete_ne].
    rewrite (big_sepM_delete _ _ 3); [|by rewrite !lookup_delete_ne].
    rewrite (big_sepM_delete _ _ 4); [|by rewrite !lookup_delete_ne].
    iDestruct "Hd" as "(H0 & H1 & H2 & H3 & H4 & _)".
    assert (∃ x rest, s0 = x :: rest) as (x & rest & ->).
    { destruct s0 as [|x rest]; [|by eauto]. rewrite /block_ok /block_size in Hok0. simpl in Hok0. lia. }
    destruct (decide (x = 0)) as [->|Hx].
    - iMod (ghost_var_alloc (1, (s1, s2), (s3, s4))) as (γl) "[Hv Hlease]".
      iModIntro. iExists γl, 1, (s1, s2), (s3, s4). iFrame "Hlease". iSplit.
      { iPureIntro. exists (0 :: rest), 1. split_and!; [done| |done|done]. by exists 0, rest. }
      iExists (0 :: rest), 1, (s3, s4). iFrame. iPureIntro. split_and!; try done. by exists 0, rest.
    - iMod (ghost_var_alloc (3, (s3, s4), (s1, s2))) as (γl) "[Hv Hlease]".
      assert (selects (x :: rest) 3) as Hsel. { exists x, rest. by rewrite decide_False. }
      iModIntro. iExists γl, 3, (s3, s4), (s1, s2). iFrame "Hlease". iSplit.
      { iPureIntro. by exists (x :: rest), 3. }
      iExists (x :: rest), 3, (s1, s2). iFrame. done.
  Qed.
End library.

(** All of it together. *)
Definition pair_library `{!golangGS Σ, !pairG Σ} (dv : devices) `{!specG Σ (pair_spec (dv_disk dv))} :
  disk_ok (dv_disk dv) → 5 ≤ size (dv_disk dv) →
  lib_proof (pair_spec (dv_disk dv)) pairN open body dv.
Proof.
  intros Hok Hsize.
  refine {| lp_inv := pair_inv (dv_disk dv); lp_rec := pair_rec; lp_lib := pair_lib (dv_disk dv) |}.
  - iIntros (b γ γu Hb). iApply wp_open.
  - iIntros (b γ γu h Hb). iApply wp_body.
  - iIntros (b γ γu γs vn vn' dv1 dv2 Hb Hcrash) "_ _ _ Hinv".
    iMod (pair_crash with "Hinv") as (S ps S') "(HS & Hps & Hlead & Hboot)".
    iModIntro. iExists S, ps, S'. iFrame "HS Hps Hlead". iIntros (γ') "HS".
    iMod ("Hboot" with "HS") as (γu') "H". iModIntro. iExists γu'. iIntros (γs') "_ !>". iFrame "H".
  - iIntros (vn Hsizes) "(Hd & _) _".
    iMod (pair_init_disk with "Hd") as (γl base s o) "(%Hs & Hd & Hlease)"; [done|done|].
    iModIntro. iExists (eq s). iSplit; [iPureIntro; split; [by eauto|by intros ? <-]|].
    iIntros (γ) "HS". iModIntro. iExists [γl]. iIntros (γs) "_ !>". iSplitL "HS Hd".
    + iExists γl, s. by iFrame.
    + iExists γl, base, s, o. by iFrame.
Defined.

(** * The replicated disk as a library: what clients do, crashes, the beginning *)
From iris.proofmode Require Import proofmode.
From ashlar.golib Require Import slice_rules.
From ashlar.logic Require Import harness two.
From ashlar.gen.examples Require replicateddisk.
From ashlar.replicateddisk Require Import spec inv disk client_proof proof recovery.
Open Scope Z_scope.

(** A boot opens the disk, which recovers, and clients call what they like, at
    addresses of a disk of [n] blocks. *)
Definition open : val := λ: <>, replicateddisk.Open #().
Definition body (n : Z) : val := any_calls (any_call n) do_call.

Lemma addresses_dom (d : gmap Z (list Z)) : disk_ok d → dom d = addresses (size d).
Proof.
  intros (Hdom & _ & _). apply set_eq. intros a.
  rewrite elem_of_dom Hdom /addresses elem_of_list_to_set elem_of_seqZ. lia.
Qed.

Section library.
  Context `{!golangGS Σ, !replicatedG Σ}.
  Context (d : gmap Z (list Z)) `{!specG Σ (replicated_spec d)}.
  Implicit Types (b : boot) (γ : spec_names) (γu : list gname) (m : gmap Z address) (h : val).

  (** What recovery owns: the right to access every address. *)
  Definition replicated_rec b γ γu : iProp Σ :=
    ∃ γm, ⌜γu = [γm] ∧ two_size (b_node b) = size d⌝ ∗
      [∗ list] a ∈ seqZ 0 (two_size (b_node b)), address_left γm a.
  (** What clients know. *)
  Definition replicated_lib b γ γu h : iProp Σ :=
    ∃ γm (p : loc), ⌜γu = [γm] ∧ h = #p ∧ two_size (b_node b) = size d⌝ ∗ is_replicated d b γ γm p.
  Lemma wp_open b γ γu : disk_ok d →
    lib_ctx (replicated_spec d) replicatedN (replicated_inv d) b γ γu -∗ replicated_rec b γ γu -∗
    WP open #() @ b; ⊤ {{ h, replicated_lib b γ γu h }}.
  Proof.
    iIntros ((_ & _ & Hsize)) "#Hctx (%γm & [-> %Hn] & Hleft)". wp_rec.
    wp_apply (wp_Open with "[$Hctx $Hleft]"); [lia|]. iIntros (p) "#Hp". iExists γm, p. by iFrame "Hp".
  Qed.

  Lemma wp_do_call b γ γu h c k : legal (size d) c →
    replicated_lib b γ γu h -∗ pending γ k c -∗ WP do_call h c @ b; ⊤ {{ r, returns γ k r }}.
  Proof.
    iIntros ((a & Ha & Hc)) "(%γm & %p & (-> & -> & %Hn) & #Hp) Hk". rewrite -Hn in Ha. wp_rec. wp_pures.
    destruct Hc as [->|(s & -> & Hs)]; wp_pures.
    - wp_apply (wp_Disk__Read with "[$Hp $Hk]"); [done|]. iIntros (sl s) "[Hs Hk]".
      wp_apply (wp_slice_to_string with "Hs"). iIntros "_". done.
    - wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hs|]. iIntros (sl) "[Hs _]". wp_pures.
      wp_apply (wp_Disk__Write with "[$Hp $Hk $Hs]"); [done|done|]. iIntros "[Hk _]". done.
  Qed.
  Lemma wp_body b γ γu h :
    lib_ctx (replicated_spec d) replicatedN (replicated_inv d) b γ γu -∗ replicated_lib b γ γu h -∗
    WP body (size d) h @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros "#Hctx #Hlib". iApply (wp_any_calls with "Hctx []").
    - iApply wp_any_call.
    - iIntros (c k Hc) "Hk". by iApply (wp_do_call with "Hlib Hk").
  Qed.

  (** ** Crashes *)

  (** The calls that recovery may help. *)
  Lemma two_disks_pending γ n γm m :
    two_disks (pending γ) n γm m -∗
    ([∗ list] p ∈ pending_calls m, pending γ p.1 p.2) ∗
    [∗ map] a ↦ ad ∈ unknown <$> m, ∀ γ', own_address (pending γ') n a ad.
  Proof.
    iIntros "[_ Hm]". rewrite big_sepM_fmap /pending_calls big_sepL_omap.
    rewrite !big_opM_map_to_list -big_sepL_sep. iApply (big_sepL_impl with "Hm").
    iIntros "!>" (i [a ad] _) "(%Hok & H0 & H1 & Hid)". rewrite /pending_call /=.
    iSplitL "Hid". { by destruct (ad_phase ad). }
    iIntros (γ'). iFrame. iPureIntro. destruct Hok as (? & ? & _). by split_and!.
  Qed.
  (** A new boot has rights of its own. *)
  Lemma two_disks_boot γ n m :
    ([∗ map] a ↦ ad ∈ unknown <$> m, ∀ γ', own_address (pending γ') n a ad) ==∗
    ∃ γm, two_disks (pending γ) n γm (unknown <$> m) ∗ [∗ set] a ∈ dom m, address_left γm a.
  Proof.
    iIntros "Hm". iMod (ghost_map_alloc (unknown <$> m)) as (γm) "[Hauth Hleases]".
    iModIntro. iExists γm. iSplitR "Hleases".
    - iFrame. iApply (big_sepM_impl with "Hm"). iIntros "!>" (a ad _) "H". iApply "H".
    - rewrite big_sepM_fmap -big_sepM_dom. iApply (big_sepM_impl with "Hleases").
      iIntros "!>" (a ad _) "H". iExists _. by iFrame.
  Qed.
  Lemma address_left_list n γm :
    ([∗ set] a ∈ addresses n, address_left γm a) -∗ [∗ list] a ∈ seqZ 0 n, address_left γm a.
  Proof. rewrite /addresses big_sepS_list_to_set; [by iIntros "$"|apply NoDup_seqZ]. Qed.

  Lemma replicated_crash b γ γu :
    ▷ replicated_inv d b γ γu ={⊤ ∖ ↑replicatedN}=∗
    ∃ S ps S',
      spec_possible (replicated_spec d) γ S ∗ ([∗ list] p ∈ ps, pending γ p.1 p.2) ∗
      ⌜crash_leads (replicated_spec d) S ps.*2 S'⌝ ∗
      ∀ γ', spec_possible (replicated_spec d) γ' S' ={⊤ ∖ ↑replicatedN}=∗ ∃ γu',
        replicated_inv d (next_boot b) γ' γu' ∗ replicated_rec (next_boot b) γ' γu'.
  Proof.
    iIntros "(%γm & %m & >-> & >[%Hdom %Hn] & >HS & >Hm)".
    iDestruct (two_disks_ok with "Hm") as %Hok.
    iDestruct (two_disks_consistent with "Hm") as %Hconsistent.
    iDestruct (two_disks_pending with "Hm") as "[Hps Hm]".
    iModIntro. iExists (fits m), (pending_calls m), (fits (unknown <$> m)). iFrame "HS Hps". iSplit.
    { iPureIntro. apply crash_leads_unknown; [done|]. intros a ad Ha. apply (Hok a ad Ha). }
    iIntros (γ') "HS". iMod (two_disks_boot γ' with "Hm") as (γm') "[Hm Hleft]".
    iModIntro. iExists [γm']. iSplitL "HS Hm".
    - iExists γm', _. iFrame. iPureIntro. split; [done|]. by rewrite dom_fmap_L.
    - iExists γm'. iSplit; [done|]. rewrite Hdom. by iApply address_left_list.
  Qed.

  (** ** The beginning: both disks hold [d]. *)
  Definition first (d0 : gmap Z (list Z)) : gmap Z address := (λ s, Address Unknown s s) <$> d0.
  Lemma fits_first s : fits (first d) s ↔ s = d.
  Proof.
    split.
    - intros [Hdom Hs]. rewrite dom_fmap_L in Hdom. apply map_eq. intros a.
      destruct (s !! a) as [x|] eqn:Hx.
      + assert (is_Some (d !! a)) as [y Hy]. { apply elem_of_dom. rewrite -Hdom. by apply elem_of_dom_2 in Hx. }
        destruct (Hs a (Address Unknown y y) x) as [-> | ->]; [by rewrite lookup_fmap Hy|done..].
      + symmetry. apply not_elem_of_dom. rewrite -Hdom. by apply not_elem_of_dom.
    - intros ->. split; [by rewrite dom_fmap_L|]. intros a ad x Ha Hx.
      rewrite lookup_fmap Hx in Ha. injection Ha as <-. by left.
  Qed.
  Lemma replicated_init_disk γ n : disk_ok d →
    ([∗ map] a ↦ s ∈ d, a t0↦[n] s) -∗ ([∗ map] a ↦ s ∈ d, a t1↦[n] s) ==∗
    ∃ γm, two_disks (pending γ) n γm (first d) ∗ [∗ set] a ∈ dom d, address_left γm a.
  Proof.
    iIntros ((_ & Hblocks & _)) "H0 H1". iCombine "H0 H1" as "H". rewrite -big_sepM_sep.
    iMod (ghost_map_alloc (first d)) as (γm) "[Hauth Hleases]". iModIntro. iExists γm.
    iSplitR "Hleases".
    - iFrame "Hauth". rewrite /first big_sepM_fmap. iApply (big_sepM_impl with "H").
      iIntros "!>" (a s Ha) "[H0 H1]". specialize (Hblocks a s Ha). simpl in Hblocks.
      iSplit; [done|]. iSplitL "H0"; [by iApply two_has_pointsto|].
      iSplitL "H1"; [by iApply two_has_pointsto|done].
    - rewrite /first big_sepM_fmap -big_sepM_dom. iApply (big_sepM_impl with "Hleases").
      iIntros "!>" (a s _) "H". iExists _. by iFrame.
  Qed.
End library.

(** All of it together: both disks hold [d], and perhaps one of them has failed. *)
Definition replicated_library `{!golangGS Σ, !replicatedG Σ} (d : gmap Z (list Z)) failed dv
    `{!specG Σ (replicated_spec d)} :
  dv_two dv = TwoDisk d d failed → disk_ok d →
  lib_proof (replicated_spec d) replicatedN open (body (size d)) dv.
Proof.
  intros Hdv Hok.
  refine {| lp_inv := replicated_inv d; lp_rec := replicated_rec d; lp_lib := replicated_lib d |}.
  - iIntros (b γ γu Hb). by iApply wp_open.
  - iIntros (b γ γu h Hb). iApply wp_body.
  - iIntros (b γ γu γs vn vn' dv1 dv2 Hb Hcrash) "_ _ _ Hinv".
    iMod (replicated_crash with "Hinv") as (S ps S') "(HS & Hps & Hlead & Hboot)".
    iModIntro. iExists S, ps, S'. iFrame "HS Hps Hlead". iIntros (γ') "HS".
    iMod ("Hboot" with "HS") as (γu') "H". iModIntro. iExists γu'. iIntros (γs') "_ !>". iFrame "H".
  - iIntros (vn (_ & Hsize & _)) "(_ & H0 & H1) _". rewrite Hdv /= in Hsize |- *.
    iModIntro. iExists (fits (first d)). iSplit.
    { iPureIntro. split; [exists d; by apply fits_first|]. intros s Hs. symmetry. by apply fits_first. }
    iIntros (γ) "HS". iMod (replicated_init_disk _ γ with "H0 H1") as (γm) "[Hm Hleft]"; [done|].
    iModIntro. iExists [γm]. iIntros (γs) "_ !>". rewrite addresses_dom //. iSplitL "HS Hm".
    + iExists γm, _. iFrame. iPureIntro. rewrite dom_fmap_L addresses_dom // /two_size Hsize. done.
    + iExists γm. rewrite /two_size Hsize. iSplit; [done|]. by iApply address_left_list.
Defined.

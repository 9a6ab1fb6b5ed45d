(** * Proof of examples/replicateddisk: one triple for each operation *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.golib Require Import slice_rules sync readonly.
From ashlar.logic Require Import harness two.
From ashlar.gen.examples Require replicateddisk.
From ashlar.replicateddisk Require Import spec inv disk.
Open Scope Z_scope.

Definition replicatedN : namespace := nroot .@ "replicated".

Section proof.
  Context `{!golangGS Σ, !replicatedG Σ}.
  (** What both disks hold before the first boot. *)
  Context (d : gmap Z (list Z)) `{!specG Σ (replicated_spec d)}.
  Implicit Types (b : boot) (γ : spec_names) (γm : gname) (m : gmap Z address) (Φ : val → iProp Σ).

  (** The addresses of a disk of [n] blocks. *)
  Definition addresses (n : Z) : gset Z := list_to_set (seqZ 0 n).

  (** The library's part of the crash invariant. *)
  Definition replicated_inv b γ (γu : list gname) : iProp Σ :=
    ∃ γm m,
      ⌜γu = [γm]⌝ ∗
      (* every address is there *)
      ⌜dom m = addresses (two_size (b_node b)) ∧ two_size (b_node b) = size d⌝ ∗
      (* the specification is one of the disks that fit *)
      spec_possible (replicated_spec d) γ (fits m) ∗
      (* the two disks are as the map says *)
      two_disks (pending γ) (b_node b) γm m.
  Definition replicated_ctx b γ γm : iProp Σ :=
    lib_ctx (replicated_spec d) replicatedN replicated_inv b γ [γm].

  (** The right to access an address, which is quiet. *)
  Definition address_lease γm a : iProp Σ := ∃ s, a ↪[γm] quiet s.

  Definition is_replicated b γ γm (p : loc) : iProp Σ :=
    ∃ (h : val) sl (ls : list loc),
      replicated_ctx b γ γm ∗
      (p +ₗ field_offset replicateddisk.Disk "two") ↦[b]{DfracDiscarded} h ∗
      (p +ₗ field_offset replicateddisk.Disk "locks") ↦[b]{DfracDiscarded} slice_val sl ∗
      own_slice b sl ptrT DfracDiscarded ((λ l : loc, #l) <$> ls) ∗
      ⌜Z.of_nat (length ls) = two_size (b_node b)⌝ ∗
      (* each address has its lock *)
      [∗ list] a ↦ l ∈ ls, is_mutex b l (address_lease γm (Z.of_nat a)).
  Global Instance is_replicated_persistent b γ γm p : Persistent (is_replicated b γ γm p).
  Proof. apply _. Qed.

  (** Open the crash invariant for an access. *)
  Lemma replicated_open b γ γm e Φ : eff_redex e = true →
    replicated_ctx b γ γm -∗
    (∀ m, ▷ two_disks (pending γ) (b_node b) γm m -∗
       spec_auth (replicated_spec d) γ -∗ spec_possible (replicated_spec d) γ (fits m) -∗
       WP e @ b; ⊤ ∖ ↑replicatedN {{ v, |={⊤ ∖ ↑replicatedN}=> ∃ m', ⌜dom m' = dom m⌝ ∗
         two_disks (pending γ) (b_node b) γm m' ∗
         spec_auth (replicated_spec d) γ ∗ spec_possible (replicated_spec d) γ (fits m') ∗ Φ v }}) -∗
    WP e @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (He) "#Hctx H". iApply (wp_lib_ctx with "Hctx"); [done|done|].
    iIntros "[>Ha (%γm' & %m & >%Heq & >%Hdom & >HS & Hd)]". injection Heq as <-.
    iApply (wpe_wand with "(H Hd Ha HS)"). iIntros (v) ">(%m' & %Hdom' & Hd & $ & HS & $) !> !>".
    iExists γm, m'. iFrame. iPureIntro. by rewrite Hdom'.
  Qed.

  Lemma dom_insert_same m a ad ad' : m !! a = Some ad → dom (<[a:=ad']> m) = dom m.
  Proof. intros Ha. apply dom_insert_lookup_L. eauto. Qed.
  Lemma two_disks_consistent n γ γm m : two_disks (pending γ) n γm m -∗ ⌜consistent m⌝.
  Proof.
    iIntros "Hm". iDestruct (two_disks_ok with "Hm") as %Hok. iPureIntro.
    intros a ad Ha. by destruct (Hok a ad Ha) as (_ & _ & ?).
  Qed.

  (** ** What the specification makes of an access *)

  (** The first write: nothing yet. *)
  Lemma spec_halfway γ n γm m a id new old : m !! a = Some (quiet old) →
    let m' := <[a:=Address (Halfway id) new old]> m in
    two_disks (pending γ) n γm m' -∗
    spec_auth (replicated_spec d) γ -∗ spec_possible (replicated_spec d) γ (fits m) ==∗
    two_disks (pending γ) n γm m' ∗
    spec_auth (replicated_spec d) γ ∗ spec_possible (replicated_spec d) γ (fits m').
  Proof.
    iIntros (Ha m') "Hd Hauth HS". iDestruct (two_disks_consistent with "Hd") as %Hm.
    iFrame "Hd". iApply (spec_narrow with "Hauth HS"); [by apply fits_exists|].
    intros s. by apply fits_halfway.
  Qed.
  (** The second write: it happens. *)
  Lemma spec_write γ n γm m a id new old k : block_ok new →
    m !! a = Some (Address (Halfway id) new old) →
    let m' := <[a:=quiet new]> m in
    two_disks (pending γ) n γm m' -∗ pending γ k (write_call a new) -∗
    spec_auth (replicated_spec d) γ -∗ spec_possible (replicated_spec d) γ (fits m) ==∗
    two_disks (pending γ) n γm m' ∗ returns γ k #() ∗
    spec_auth (replicated_spec d) γ ∗ spec_possible (replicated_spec d) γ (fits m').
  Proof.
    iIntros (Hnew Ha m') "Hd Hk Hauth HS". iDestruct (two_disks_consistent with "Hd") as %Hm.
    iMod (spec_step_possible (replicated_spec d) γ k _ #() _ (fits m') with "Hauth HS Hk") as "($ & $ & $)";
      [by apply fits_exists| |by iFrame].
    intros s Hs. destruct (fits_write _ _ _ _ _ _ Ha Hs) as (s' & Hs' & Hsome & ->).
    exists s'. split; [done|]. by constructor.
  Qed.
  (** A read of a quiet address: it happens. *)
  Lemma spec_read γ n γm m a s k : m !! a = Some (quiet s) →
    two_disks (pending γ) n γm m -∗ pending γ k (read_call a) -∗
    spec_auth (replicated_spec d) γ -∗ spec_possible (replicated_spec d) γ (fits m) ==∗
    two_disks (pending γ) n γm m ∗ returns γ k #(LitStr s) ∗
    spec_auth (replicated_spec d) γ ∗ spec_possible (replicated_spec d) γ (fits m).
  Proof.
    iIntros (Ha) "Hd Hk Hauth HS". iDestruct (two_disks_consistent with "Hd") as %Hm.
    iMod (spec_step_possible (replicated_spec d) γ k _ #(LitStr s) _ (fits m) with "Hauth HS Hk") as "($ & $ & $)";
      [by apply fits_exists| |by iFrame].
    intros s' Hs'. exists s'. split; [done|]. constructor. by eapply fits_quiet.
  Qed.
  (** Recovery of an address: it is decided what it has. *)
  Lemma spec_settle γ n γm m a ad s : m !! a = Some ad → may_be ad s →
    let m' := <[a:=quiet s]> m in
    two_disks (pending γ) n γm m' -∗
    spec_auth (replicated_spec d) γ -∗ spec_possible (replicated_spec d) γ (fits m) ==∗
    two_disks (pending γ) n γm m' ∗
    spec_auth (replicated_spec d) γ ∗ spec_possible (replicated_spec d) γ (fits m').
  Proof.
    iIntros (Ha Hs m') "Hd Hauth HS". iDestruct (two_disks_consistent with "Hd") as %Hm.
    iFrame "Hd". iApply (spec_narrow with "Hauth HS"); [by apply fits_exists|].
    intros s'. by eapply fits_narrow.
  Qed.

  (** ** Read *)
  Lemma wp_readEither b γ γm (h : val) a s k :
    {{{ replicated_ctx b γ γm ∗ a ↪[γm] quiet s ∗ pending γ k (read_call a) }}}
      replicateddisk.readEither h #(u64 a) @ b; ⊤
    {{{ sl, RET slice_val sl;
        own_bytes b sl (DfracOwn 1) s ∗ a ↪[γm] quiet s ∗ returns γ k #(LitStr s) }}}.
  Proof.
    iIntros (Φ) "(#Hctx & Hlease & Hk) HΦ". wp_rec. wp_pures. wp_rec. wp_pures. wp_bind (Eff _ _).
    iApply (replicated_open with "Hctx"); [done|]. iIntros (m) "Hd Ha HS".
    iApply (wp_read_0 _ _ _ _ _ a with "Hd Hlease").
    iIntros "!>" (r ok [Hlk Hok]) "Hd Hlease Hr". destruct ok.
    - (* disk 0 lives: here it happens *)
      iDestruct "Hr" as %->. iMod (spec_read with "Hd Hk Ha HS") as "(Hd & Hk & Ha & HS)"; [done|].
      iModIntro. iModIntro. iExists m. iFrame "Hd Ha HS". iSplit; [done|]. wp_pures.
      wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hok|]. iIntros (sl) "[Hs _]". wp_pures.
      iApply "HΦ". iFrame.
    - iDestruct "Hr" as "#Hfailed".
      iModIntro. iModIntro. iExists m. iFrame "Hd Ha HS". iSplit; [done|]. wp_pures.
      wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hok|]. iIntros (sl) "_". wp_pures.
      wp_rec. wp_pures. wp_bind (Eff _ _). clear dependent m.
      iApply (replicated_open with "Hctx"); [done|]. iIntros (m) "Hd Ha HS".
      iApply (wp_read_1 with "Hfailed Hd Hlease").
      iIntros "!>" (ok [Hlk Hok1]) "Hd Hlease".
      iMod (spec_read with "Hd Hk Ha HS") as "(Hd & Hk & Ha & HS)"; [done|].
      iModIntro. iModIntro. iExists m. iFrame "Hd Ha HS". iSplit; [done|]. wp_pures.
      wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hok1|]. iIntros (sl2) "[Hs _]". wp_pures.
      iApply "HΦ". iFrame.
  Qed.

  (** The lock of an address. *)
  Lemma wp_get_lock b γm sl (ls : list loc) a Φ :
    0 ≤ a < length ls →
    own_slice b sl ptrT DfracDiscarded ((λ l : loc, #l) <$> ls) -∗
    ([∗ list] a ↦ l ∈ ls, is_mutex b l (address_lease γm (Z.of_nat a))) -∗
    (∀ l : loc, is_mutex b l (address_lease γm a) -∗ Φ #l) -∗
    WP slice_get ptrT (slice_val sl) #(u64 a) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha) "Hs #Hls HΦ".
    destruct (lookup_lt_is_Some_2 ls (Z.to_nat a)) as [l Hl]; [lia|].
    iDestruct (big_sepL_lookup with "Hls") as "Hl"; [done|]. rewrite Z2Nat.id; [|lia].
    wp_apply (wp_slice_get with "Hs"); [lia| |]; last first.
    { iIntros "_". by iApply "HΦ". }
    by rewrite list_lookup_fmap Hl.
  Qed.

  Lemma wp_Disk__Read b γ γm p a k :
    0 ≤ a < two_size (b_node b) →
    {{{ is_replicated b γ γm p ∗ pending γ k (read_call a) }}}
      replicateddisk.Disk__Read #p #(u64 a) @ b; ⊤
    {{{ sl s, RET slice_val sl; own_bytes b sl (DfracOwn 1) s ∗ returns γ k #(LitStr s) }}}.
  Proof.
    iIntros (Ha Φ) "[(%h & %sl & %ls & #Hctx & #Htwo & #Hlocks & #Hsl & %Hlen & #Hls) Hk] HΦ".
    wp_rec. wp_pures. wp_apply (wp_load_ty _ _ sliceT with "Hlocks"). iIntros "_". wp_pures.
    wp_apply (wp_get_lock with "Hsl Hls"); [lia|]. iIntros (l) "#Hl". wp_pures.
    wp_apply (wp_mutex_lock with "Hl"). iIntros "[Hheld (%s & Hlease)]". wp_pures.
    wp_apply (wp_load_ty _ _ ptrT with "Htwo"). iIntros "_".
    wp_apply (wp_readEither with "[$Hctx $Hlease $Hk]").
    iIntros (sl2) "(Hs & Hlease & Hk)". wp_pures.
    wp_apply (wp_mutex_unlock with "[$Hheld Hlease]"); [by iExists s|]. iIntros "_". wp_pures.
    iApply "HΦ". iFrame.
  Qed.

  (** ** Write *)
  Lemma wp_Disk__Write b γ γm p a k sl0 dq s :
    0 ≤ a < two_size (b_node b) → block_ok s →
    {{{ is_replicated b γ γm p ∗ pending γ k (write_call a s) ∗ own_bytes b sl0 dq s }}}
      replicateddisk.Disk__Write #p #(u64 a) (slice_val sl0) @ b; ⊤
    {{{ RET #(); returns γ k #() ∗ own_bytes b sl0 dq s }}}.
  Proof.
    iIntros (Ha Hok Φ) "((%h & %sl & %ls & #Hctx & #Htwo & #Hlocks & #Hsl & %Hlen & #Hls) & Hk & Hs) HΦ".
    wp_rec. wp_pures. wp_apply (wp_load_ty _ _ sliceT with "Hlocks"). iIntros "_". wp_pures.
    wp_apply (wp_get_lock with "Hsl Hls"); [lia|]. iIntros (l) "#Hl". wp_pures.
    wp_apply (wp_mutex_lock with "Hl"). iIntros "[Hheld (%old & Hlease)]". wp_pures.
    wp_apply (wp_load_ty _ _ ptrT with "Htwo"). iIntros "_". wp_rec. wp_pures.
    wp_apply (wp_slice_to_string with "Hs"). iIntros "Hs". wp_pures.
    wp_bind (Eff _ _). iApply (replicated_open with "Hctx"); [done|]. iIntros (m) "Hd Ha HS".
    iApply wpe_fupd.
    iApply (wp_write_0 _ _ _ _ _ a with "Hd Hlease Hk"); [done|]. iIntros "!> %Hlk Hd Hlease".
    iMod (spec_halfway with "Hd Ha HS") as "(Hd & Ha & HS)"; [done|].
    iModIntro. iModIntro. iExists _. iFrame "Hd Ha HS".
    iSplit; [by erewrite dom_insert_same|]. wp_pures.
    wp_apply (wp_load_ty _ _ ptrT with "Htwo"). iIntros "_". wp_rec. wp_pures.
    wp_apply (wp_slice_to_string with "Hs"). iIntros "Hs". wp_pures.
    wp_bind (Eff _ _). clear dependent m.
    iApply (replicated_open with "Hctx"); [done|]. iIntros (m) "Hd Ha HS".
    iApply (wp_write_1 _ _ _ _ _ a with "Hd Hlease"). iIntros "!> %Hlk Hd Hlease Hk".
    iMod (spec_write with "Hd Hk Ha HS") as "(Hd & Hk & Ha & HS)"; [done|done|].
    iModIntro. iModIntro. iExists _. iFrame "Hd Ha HS".
    iSplit; [by erewrite dom_insert_same|]. wp_pures.
    wp_apply (wp_mutex_unlock with "[$Hheld Hlease]"); [by iExists s|]. iIntros "_".
    iApply "HΦ". iFrame.
  Qed.
End proof.

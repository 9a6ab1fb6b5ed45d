(** * Proof of examples/shadowcopy *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.golib Require Import slice_rules sync.
From ashlar.logic Require Import harness.
From ashlar.gen.examples Require shadowcopy.
From ashlar.shadowcopy Require Import spec inv client_proof.
Open Scope Z_scope.

Section selector.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (Φ : val → iProp Σ).

  Lemma wp_copyBase b E s dq selector base :
    selects selector base →
    {{{ own_bytes b s dq selector }}}
      shadowcopy.copyBase (slice_val s) @ b; E
    {{{ RET #(u64 base); own_bytes b s dq selector }}}.
  Proof.
    iIntros ((x & rest & -> & ->) Φ) "Hs HΦ". wp_rec. wp_pures.
    wp_apply (wp_bytes_get _ _ _ _ _ _ _ x with "Hs"); [done|done|]. iIntros "Hs". wp_pures.
    case_bool_decide as Hx; wp_pures.
    - injection Hx as ->. by iApply "HΦ".
    - rewrite decide_False; [by iApply "HΦ"|]. intros ->. done.
  Qed.

  Lemma wp_newSelector b E base : base = 1 ∨ base = 3 →
    {{{ True }}}
      shadowcopy.newSelector #(u64 base) @ b; E
    {{{ s selector, RET slice_val s;
        own_bytes b s (DfracOwn 1) selector ∗ ⌜block_ok selector ∧ selects selector base⌝ }}}.
  Proof.
    iIntros (Hbase Φ) "_ HΦ". wp_rec. wp_pures.
    wp_apply (wp_make_bytes with "[//]"); [done|]. iIntros (s) "[Hs _]". wp_pures.
    wp_apply (wp_bytes_set with "Hs"); [done|]. iIntros "Hs". wp_pures.
    iApply "HΦ". iFrame "Hs". iPureIntro. split.
    - rewrite /block_ok insert_length replicate_length. done.
    - eexists _, _. split; [done|]. destruct Hbase as [-> | ->]; done.
  Qed.
End selector.

Section pair.
  Context `{!golangGS Σ, !pairG Σ}.
  (** What the disk holds before the first boot. *)
  Context (d : gmap Z (list Z)) `{!specG Σ (pair_spec d)}.
  Implicit Types (b : boot) (γ : spec_names) (γu : list gname) (p : loc) (Φ : val → iProp Σ).

  Definition pairN : namespace := nroot .@ "pair".

  (** The library's part of the crash invariant. *)
  Definition pair_inv b γ γu : iProp Σ :=
    ∃ γl s, ⌜γu = [γl]⌝ ∗ spec_state (pair_spec d) γ s ∗ pair_disk (b_node b) γl s.
  Definition pair_ctx b γ γl : iProp Σ := lib_ctx (pair_spec d) pairN pair_inv b γ [γl].

  (** What the mutex protects: the lease, and what the program knows of it. *)
  Definition pair_locked b γl p : iProp Σ :=
    ∃ dv base s o,
      (p +ₗ field_offset shadowcopy.Pair "disk") ↦[b] dv ∗
      (p +ₗ field_offset shadowcopy.Pair "base") ↦[b] #(u64 base) ∗
      ⌜base = 1 ∨ base = 3⌝ ∗
      lease γl base s o.
  Definition is_pair b γ γl p : iProp Σ :=
    pair_ctx b γ γl ∗
    is_mutex b (p +ₗ field_offset shadowcopy.Pair "mu") (pair_locked b γl p).

  (** Open the crash invariant for an access. *)
  Lemma pair_open b γ γl e Φ : eff_redex e = true →
    pair_ctx b γ γl -∗
    (∀ s, ▷ pair_disk (b_node b) γl s -∗ spec_auth (pair_spec d) γ -∗ spec_state (pair_spec d) γ s -∗
       WP e @ b; ⊤ ∖ ↑pairN {{ v, |={⊤ ∖ ↑pairN}=> ∃ s', pair_disk (b_node b) γl s' ∗
         spec_auth (pair_spec d) γ ∗ spec_state (pair_spec d) γ s' ∗ Φ v }}) -∗
    WP e @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (He) "#Hctx H". iApply (wp_lib_ctx with "Hctx"); [done|done|].
    iIntros "[>Ha (%γl' & %s & >%Heq & >Hs & Hd)]". injection Heq as <-.
    iApply (wpe_wand with "(H Hd Ha Hs)"). iIntros (v) ">(%s' & Hd & $ & Hs & $) !> !>".
    iExists γl, s'. by iFrame.
  Qed.

  (** Recovery: the lease is at hand, as nobody else runs. *)
  Lemma wp_Open b γ γl (h : val) base s o :
    {{{ pair_ctx b γ γl ∗ lease γl base s o }}}
      shadowcopy.Open h @ b; ⊤
    {{{ p, RET #p; is_pair b γ γl p }}}.
  Proof.
    iIntros (Φ) "[#Hctx Hlease] HΦ". wp_rec. wp_rec. wp_pures. wp_bind (Eff _ _).
    iApply (pair_open with "Hctx"); [done|]. iIntros (s') "Hd Ha Hs".
    iApply (wp_read_selector with "Hd Hlease"). iIntros "!>" (selector [Hok Hsel]) "Hd Hlease".
    iModIntro. iExists s'. iFrame "Hd Ha Hs".
    wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hok|]. iIntros (s1) "[Hs1 _]". wp_pures.
    wp_apply (wp_copyBase with "Hs1"); [done|]. iIntros "_". wp_pures.
    iApply wpe_fupd. wp_alloc p as "(Hdisk & Hmu & Hbase & _)".
    iMod (mutex_alloc _ _ _ (pair_locked b γl p) with "Hmu [Hdisk Hbase Hlease]") as "#Hmu".
    { iNext. iExists _, _, _, _. iFrame. iPureIntro. by eapply selects_cases. }
    iModIntro. iApply "HΦ". by iFrame "Hctx Hmu".
  Qed.

  (** The two operations of the specification. *)
  Lemma pair_reads γ k s :
    spec_auth (pair_spec d) γ -∗ spec_state (pair_spec d) γ s -∗ pending γ k read_call ==∗
    spec_auth (pair_spec d) γ ∗ spec_state (pair_spec d) γ s ∗
    returns γ k (#(LitStr s.1), #(LitStr s.2)).
  Proof. iApply (spec_step (pair_spec d)). destruct s. constructor. Qed.
  Lemma pair_writes γ k s x y : block_ok x → block_ok y →
    spec_auth (pair_spec d) γ -∗ spec_state (pair_spec d) γ s -∗ pending γ k (write_call x y) ==∗
    spec_auth (pair_spec d) γ ∗ spec_state (pair_spec d) γ (x, y) ∗ returns γ k #().
  Proof. intros Hx Hy. iApply (spec_step (pair_spec d)). by constructor. Qed.

  Lemma other_cases base : base = 1 ∨ base = 3 → other base = 1 ∨ other base = 3.
  Proof. rewrite /other. lia. Qed.
  Lemma wrap_base1 base : base = 1 ∨ base = 3 → wrap U64 (base + 1) = base + 1.
  Proof. by intros [-> | ->]. Qed.
  Lemma wrap_other base : base = 1 ∨ base = 3 → wrap U64 (4 - base) = other base.
  Proof. by intros [-> | ->]. Qed.
  Lemma wrap_other1 base : base = 1 ∨ base = 3 → wrap U64 (other base + 1) = other base + 1.
  Proof. by intros [-> | ->]. Qed.

  Lemma wp_Pair__Read b γ γl p k :
    {{{ is_pair b γ γl p ∗ pending γ k read_call }}}
      shadowcopy.Pair__Read #p @ b; ⊤
    {{{ s1 s2 x y, RET (slice_val s1, slice_val s2);
        own_bytes b s1 (DfracOwn 1) x ∗ own_bytes b s2 (DfracOwn 1) y ∗
        returns γ k (#(LitStr x), #(LitStr y)) }}}.
  Proof.
    iIntros (Φ) "[[#Hctx #Hmu] Hk] HΦ". wp_rec. wp_pures.
    wp_apply (wp_mutex_lock with "Hmu").
    iIntros "[Hheld (%dv & %base & %s & %o & Hdisk & Hbase & %Hb & Hlease)]".
    wp_load. wp_load. wp_rec. wp_pures. wp_bind (Eff _ _).
    (* the read happens with the first access *)
    iApply (pair_open with "Hctx"); [done|]. iIntros (s') "Hd Ha Hs".
    iApply (wp_read_first with "Hd Hlease"). iIntros "!> [-> %Hok1] Hd Hlease".
    iMod (pair_reads with "Ha Hs Hk") as "(Ha & Hs & Hk)".
    iModIntro. iExists s. iFrame "Hd Ha Hs".
    wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hok1|]. iIntros (s1) "[Hs1 _]".
    wp_load. wp_load. wp_rec. wp_pures. rewrite wrap_base1 //. wp_bind (Eff _ _).
    iApply (pair_open with "Hctx"); [done|]. iIntros (s') "Hd Ha Hs".
    iApply (wp_read_second with "Hd Hlease"). iIntros "!> [-> %Hok2] Hd Hlease".
    iModIntro. iExists s. iFrame "Hd Ha Hs".
    wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hok2|]. iIntros (s2) "[Hs2 _]".
    wp_pures. wp_apply (wp_mutex_unlock with "[$Hheld Hdisk Hbase Hlease]").
    { iExists _, _, _, _. by iFrame. }
    iIntros "_". wp_pures. iApply "HΦ". iFrame.
  Qed.

  Lemma wp_Pair__Write b γ γl p k s1 s2 dq1 dq2 x y :
    block_ok x → block_ok y →
    {{{ is_pair b γ γl p ∗ pending γ k (write_call x y) ∗
        own_bytes b s1 dq1 x ∗ own_bytes b s2 dq2 y }}}
      shadowcopy.Pair__Write #p (slice_val s1) (slice_val s2) @ b; ⊤
    {{{ RET #(); returns γ k #() ∗ own_bytes b s1 dq1 x ∗ own_bytes b s2 dq2 y }}}.
  Proof.
    iIntros (Hx Hy Φ) "([#Hctx #Hmu] & Hk & Hs1 & Hs2) HΦ". wp_rec. wp_pures.
    wp_apply (wp_mutex_lock with "Hmu").
    iIntros "[Hheld (%dv & %base & %s & %o & Hdisk & Hbase & %Hb & Hlease)]".
    wp_load. wp_pures. rewrite wrap_other //.
    wp_load. wp_rec. wp_pures. wp_apply (wp_slice_to_string with "Hs1"). iIntros "Hs1".
    wp_pures. wp_bind (Eff _ _).
    iApply (pair_open with "Hctx"); [done|]. iIntros (s') "Hd Ha Hs".
    iApply (wp_write_first with "Hd Hlease"); [done|]. iIntros "!> Hd Hlease".
    iModIntro. iExists s'. iFrame "Hd Ha Hs". wp_pures. rewrite wrap_other1 //.
    wp_load. wp_rec. wp_pures. wp_apply (wp_slice_to_string with "Hs2"). iIntros "Hs2".
    wp_pures. wp_bind (Eff _ _). clear s'.
    iApply (pair_open with "Hctx"); [done|]. iIntros (s') "Hd Ha Hs".
    iApply (wp_write_second with "Hd Hlease"); [done|]. iIntros "!> Hd Hlease".
    iModIntro. iExists s'. iFrame "Hd Ha Hs". wp_pures.
    wp_apply (wp_newSelector with "[//]"); [by apply other_cases|]. iIntros (s3 selector) "[Hs3 [%Hok %Hsel]]".
    wp_load. wp_rec. wp_pures. wp_apply (wp_slice_to_string with "Hs3"). iIntros "Hs3".
    wp_pures. wp_bind (Eff _ _). clear s'.
    (* the write happens here *)
    iApply (pair_open with "Hctx"); [done|]. iIntros (s') "Hd Ha Hs".
    iApply (wp_write_selector with "Hd Hlease"); [done|done|]. iIntros "!> -> Hd Hlease".
    iMod (pair_writes _ _ _ x y with "Ha Hs Hk") as "(Ha & Hs & Hk)"; [done|done|].
    iModIntro. iExists (x, y). iFrame "Hd Ha Hs". wp_pures. wp_store.
    wp_pures. wp_apply (wp_mutex_unlock with "[$Hheld Hdisk Hbase Hlease]").
    { iExists _, _, _, _. iFrame. iPureIntro. by apply other_cases. }
    iIntros "_". iApply "HΦ". iFrame.
  Qed.
End pair.

(** * Opening the store: recovery *)
From ashlar.golib Require Import sync.
From ashlar.mailboat Require Export session boot.
Local Open Scope Z_scope.

Section recovery.
  Context (n : nat) (Hn : Z.of_nat n ≤ 2^40).
  Context `{!golangGS Σ, !mailG Σ, !specG Σ (mail_spec n)}.
  Implicit Types (b : boot) (s : mail) (u : Z) (l : list (list Z)).

  (** What is known of the spool while the names [l] are still to be removed. *)
  Definition clearing γs l : iProp Σ :=
    ∃ T, spool_names γs T ∗ [∗ list] name ∈ l, ∃ i, spooled γs name i.
  Lemma clearing_start γs T l : NoDup l → (∀ name, name ∈ l ↔ is_Some (T !! name)) →
    spool_names γs T -∗ ([∗ map] name ↦ i ∈ T, spooled γs name i) -∗ clearing γs l.
  Proof.
    iIntros (Hnd Hl) "HT Hnames". iExists T. iFrame "HT".
    iAssert ([∗ set] name ∈ dom T, ∃ i, spooled γs name i)%I with "[Hnames]" as "Hnames".
    { rewrite -big_sepM_dom. iApply (big_sepM_impl with "Hnames"). iIntros "!>" (name i _) "H".
      by iExists i. }
    assert (dom T = list_to_set l) as ->.
    { apply set_eq. intros name. by rewrite elem_of_dom elem_of_list_to_set Hl. }
    by rewrite big_sepS_list_to_set.
  Qed.

  (** Removing what is in the spool. *)
  Lemma wp_clearSpool b γ γl γs (f : val) T :
    mail_ctx n b γ γl γs -∗
    {{{ spool_names γs T ∗ [∗ map] name ↦ i ∈ T, spooled γs name i }}}
      clearSpool f @ b; ⊤
    {{{ RET #(); spool_open γs }}}.
  Proof.
    iIntros "#Hctx !>" (Φ) "[HT Hnames] HΦ". wp_rec. wp_pures.
    wp_rec. wp_pures. wp_bind (Eff _ _).
    iInv "Hctx" as "[>Ha >HU]".
    iDestruct (mail_lib_inv_open with "HU") as (s) "(Hs & Hm & Hsp & %Hu)".
    iApply (wp_list_spooled with "Hsp HT"). iIntros "!>" (l Hnd Hl) "Hsp HT !>".
    iSplitL "Ha Hs Hm Hsp".
    { iFrame "Ha". by iApply (mail_lib_inv_close with "Hs Hm Hsp"). }
    do 3 wp_pure. fold names_loop. rewrite -slice_val_nil.
    wp_apply (wp_names_loop with "[]"); [iApply own_slice_full_nil|]. iIntros (sl) "[Hsl _]". wp_pures.
    iDestruct (own_slice_length with "Hsl") as %[Hlen Hmax]. unfold max_elems in Hmax.
    rewrite !fmap_length in Hlen, Hmax. rewrite Hlen.
    iDestruct (clearing_start with "HT Hnames") as "Hclear"; [done|done|].
    wp_apply (wp_range_simple (λ i, clearing γs (drop (Z.to_nat i) l) ∗
        own_slice b sl stringT (DfracOwn 1) ((λ x, vstr x) <$> l))%I with "[$Hclear $Hsl] []").
    - lia.
    - int_solve.
    - iIntros "!>" (i Hi) "[(%T2 & HT & Hnames) Hsl]".
      destruct (lookup_lt_is_Some_2 l (Z.to_nat i)) as [name Hname]; [lia|]. wp_pures.
      wp_apply (wp_slice_get with "Hsl"); [lia| |].
      { by rewrite list_lookup_fmap Hname. }
      iIntros "Hsl". rewrite (drop_S _ _ _ Hname). iDestruct "Hnames" as "[(%j & Hj) Hnames]".
      wp_pures. wp_rec. wp_pures.
      iInv "Hctx" as "[>Ha >HU]".
      iDestruct (mail_lib_inv_open with "HU") as (s2) "(Hs & Hm & Hsp & %Hu2)".
      iApply (wp_unlink_spooled with "Hsp HT Hj"). iIntros "!> Hsp HT !>".
      iSplitL "Ha Hs Hm Hsp".
      { iFrame "Ha". by iApply (mail_lib_inv_close with "Hs Hm Hsp"). }
      replace (Z.to_nat (i + 1)) with (S (Z.to_nat i)) by lia. iFrame "Hsl". iExists _. iFrame.
    - iIntros "[(%T2 & HT & _) _]". iApply "HΦ". by iExists T2.
  Qed.

  (** The locks: all open. *)
  Lemma wp_make_locks b :
    {{{ True }}}
      make_slice mutexT #(u64 n) @ b; ⊤
    {{{ (p : loc), RET slice_val (Slice (LitLoc p) n n);
        [∗ list] i ∈ seq 0 n, (p +ₗ (i : nat)) ↦[b] #false }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_pures. rewrite_wrap. wp_cond.
    wp_apply (wp_alloc_zero with "[//]"); [lia|]. iIntros (p) "Hp". wp_pures.
    iApply ("HΦ" $! p). rewrite /own_block Nat2Z.id.
    assert (replicate n (zero_val mutexT) = (λ _, zero_val mutexT) <$> seq 0 n) as ->.
    { apply list_eq. intros i. rewrite list_lookup_fmap. destruct (decide (i < n)%nat) as [Hi|Hi].
      - rewrite lookup_replicate_2 // lookup_seq_lt //.
      - rewrite lookup_ge_None_2 ?replicate_length; [|lia]. by rewrite lookup_seq_ge; [|lia]. }
    rewrite big_sepL_fmap. iApply (big_sepL_impl with "Hp").
    iIntros "!>" (k x [-> _]%lookup_seq) "H /=". by rewrite Z.mul_1_r.
  Qed.
  Lemma leases_users (γl : gname) (D : gmap Z names_map) : dom D = users n →
    ([∗ map] u ↦ _ ∈ D, lease γl u None) -∗ [∗ list] i ∈ seq 0 n, lease γl (i : nat) None.
  Proof.
    iIntros (HD) "H". rewrite big_sepM_dom HD /users big_sepS_list_to_set; last first.
    { apply NoDup_fmap; [apply _|apply NoDup_seq]. }
    by rewrite big_sepL_fmap.
  Qed.

  Lemma wp_Open b γ γl γs (f : val) D : dom D = users n →
    mail_ctx n b γ γl γs -∗
    {{{ recovering γl γs D }}} Open f #(u64 n) @ b; ⊤ {{{ h, RET h; is_mail n b γl γs h }}}.
  Proof.
    iIntros (HD) "#Hctx !>". iIntros (Φ) "(%T & HT & Hnames & Hleases) HΦ". wp_rec. wp_pures.
    wp_apply (wp_clearSpool with "Hctx [$HT $Hnames]"). iIntros "Hopen". wp_pures.
    wp_apply (wp_make_locks with "[//]"). iIntros (p) "Hp".
    iApply wpe_fupd. wp_alloc l as "(Hf & Hlocks & _)".
    iMod (ghost_map_elem_persist with "Hf") as "#Hf".
    iMod (ghost_map_elem_persist with "Hlocks") as "#Hlocks".
    iMod (vinv_alloc spoolN with "Hopen") as "#Hspool".
    iDestruct (leases_users with "Hleases") as "Hleases"; [done|].
    iAssert (|={⊤}=> [∗ list] i ∈ seq 0 n, is_mutex b (p +ₗ (i : nat)) (lease γl i None))%I
      with "[Hp Hleases]" as ">#Hmus".
    { iApply big_sepL_fupd. iCombine "Hp Hleases" as "H". rewrite -big_sepL_sep.
      iApply (big_sepL_impl with "H"). iIntros "!>" (k x _) "[Hp Hlease]".
      iApply (mutex_alloc with "Hp"). by iNext. }
    iModIntro. iApply "HΦ". iExists l, p, f. by iFrame "Hf Hlocks Hspool Hmus".
  Qed.
End recovery.

(** * The proof of examples/asyncwal *)
From iris.proofmode Require Import proofmode.
From ashlar.golib Require Import slice_rules sync async_disk.
From ashlar.ghost Require Import async_commit.
From ashlar.gen.examples Require asyncwal.
From ashlar.asyncwal Require Import model client_proof.
Open Scope Z_scope.

Definition asyncwalN : namespace := nroot .@ "asyncwal".

Section proof.
  Context (d0 : disk).
  Context `{!golangGS Σ, !specG Σ (pair_spec d0), !async_commitG Σ (pair_spec d0)}.
  Implicit Types (b : boot) (γ : spec_names) (γu : list gname) (l : loc) (h : val).
  Implicit Types (d : async_disk) (f : disk) (s t : blocks) (Φ : val → iProp Σ).

  Local Notation sp := (pair_spec d0).
  Local Notation ctx := (async_ctx sp asyncwalN recovers).
  Local Notation lease := (async_lease sp).

  (** ** Headers *)
  Lemma wp_counts b E sl dq x :
    block_ok x →
    {{{ own_bytes b sl dq x }}}
      asyncwal.counts (slice_val sl) @ b; E
    {{{ RET #(bool_decide (counts x)); own_bytes b sl dq x }}}.
  Proof.
    iIntros (Hx Φ) "Hsl HΦ". destruct x as [|x0 x]; [done|]. wp_rec. wp_pures.
    wp_apply (wp_bytes_get with "Hsl"); [done..|]. iIntros "Hsl". wp_pures.
    iSpecialize ("HΦ" with "Hsl").
    rewrite (bool_decide_ext (u8 x0 = u8 1) (counts (x0 :: x))); [done|].
    rewrite /counts /=. naive_solver.
  Qed.
  Lemma wp_newHeader b E :
    {{{ True }}}
      asyncwal.newHeader #() @ b; E
    {{{ sl, RET slice_val sl; own_bytes b sl (DfracOwn 1) new_header }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_pures.
    wp_apply (wp_make_bytes with "[//]"); [done|]. iIntros (sl) "[Hsl _]". wp_pures.
    wp_apply (wp_bytes_set with "Hsl"); [by rewrite replicate_length|]. iIntros "Hsl". wp_pures.
    by iApply "HΦ".
  Qed.

  (** ** The last part of a commit, which recovery does again *)
  Lemma wp_apply b γ γu d t h sl1 sl2 dq1 dq2 Φ :
    always d (λ f, logged f t) → block_ok t.1 → block_ok t.2 →
    ctx b γ γu -∗ lease γu d t None -∗ own_bytes b sl1 dq1 t.1 -∗ own_bytes b sl2 dq2 t.2 -∗
    ▷ (∀ d', ⌜idle d' t⌝ -∗ lease γu d' t None -∗ Φ #()) -∗
    WP asyncwal.apply h (slice_val sl1) (slice_val sl2) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hd Ht1 Ht2) "#Hctx Hlease Hsl1 Hsl2 HΦ". wp_rec. wp_pures.
    (* the pair's own place *)
    destruct (whole_lookup d 3) as [c3 Hc3]; [apply logged_whole with t, always_latest, Hd|lia|].
    pose proof (logged_data _ _ 3 _ _ Hd Hc3 (or_introl eq_refl) Ht1) as Hd1.
    wp_bind (disk.Async__Write _ _ _). iApply (wp_Async__Write with "Hsl1"). iIntros "Hsl1".
    iApply (async_write with "Hctx Hlease"); [done..|by eapply always_mono; [exact Hd1|left; right]|].
    iIntros "!> Hlease". wp_pures. set (d1 := <[_ := _]> d) in *.
    destruct (whole_lookup d1 4) as [c4 Hc4]; [apply logged_whole with t, always_latest, Hd1|lia|].
    pose proof (logged_data _ _ 4 _ _ Hd1 Hc4 (or_intror eq_refl) Ht2) as Hd2.
    wp_bind (disk.Async__Write _ _ _). iApply (wp_Async__Write with "Hsl2"). iIntros "Hsl2".
    iApply (async_write with "Hctx Hlease"); [done..|by eapply always_mono; [exact Hd2|left; right]|].
    iIntros "!> Hlease". wp_pures.
    (* is durable *)
    wp_bind (disk.Async__Barrier _). iApply wp_Async__Barrier.
    iApply (async_barrier with "Hctx Hlease"). iIntros "!> Hlease". wp_pures.
    pose proof (data_barrier _ _ Hd2) as Hd3. rewrite latest_write /d1 latest_write in Hd3.
    rewrite lookup_insert_ne // !lookup_insert in Hd3. specialize (Hd3 eq_refl eq_refl).
    set (d3 := ca_flush <$> _) in *.
    (* before the header says that the log does not count *)
    wp_apply (wp_make_bytes with "[//]"); [done|]. iIntros (sl3) "[Hsl3 _]".
    iApply (wp_Async__Write with "Hsl3"). iIntros "Hsl3".
    destruct (whole_lookup d3 0) as [c0 Hc0].
    { apply logged_whole with t. apply always_latest in Hd3. apply Hd3. }
    { lia. }
    pose proof (applied_header _ _ _ Hd3 Hc0) as Hd4.
    iApply (async_write with "Hctx Hlease"); [done|apply zero_block_ok| |].
    { eapply always_mono; [apply Hd4|]. by left. }
    iIntros "!> Hlease". by iApply ("HΦ" with "[//] Hlease").
  Qed.

  (** ** Recovery *)
  Lemma wp_recoverLog b γ γu h Φ :
    ctx b γ γu -∗ async_rec sp recovers b γ γu -∗
    ▷ (∀ d s, ⌜idle d s⌝ -∗ lease γu d s None -∗ Φ #()) -∗
    WP asyncwal.recoverLog h @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros "#Hctx (%f & %s & Hlease & %Hf) HΦ". wp_rec. wp_pures.
    assert (whole f) as Hw by (destruct Hf as [[]|[]]; done).
    assert (∀ a x, f !! a = Some x → (ca_new <$> f : async_disk) !! a = Some (ca_new x)) as Hnew.
    { intros a x Ha. by rewrite lookup_fmap Ha. }
    destruct (proj2 Hw 0) as [x0 Hx0]; [lia|].
    wp_bind (disk.Async__Read _ _). iApply wp_Async__Read.
    iApply (async_read_only with "Hctx Hlease"); [by apply Hnew|]. iIntros "!> Hlease".
    iExists x0. iSplit; [done|]. iSplit; [iPureIntro; by apply (proj1 Hw 0)|].
    iIntros (sl0) "[Hsl0 _]". wp_pures.
    wp_apply (wp_counts with "Hsl0"); [by apply (proj1 Hw 0)|]. iIntros "_".
    destruct Hf as [Hf|Hf].
    - (* the log does not count *)
      pose proof (clear_header _ _ Hf) as (x & Hx & Hc). simplify_eq.
      rewrite bool_decide_eq_false_2 //. wp_pures. iApply ("HΦ" with "[] Hlease").
      iPureIntro. split; [by apply always_new; left|by rewrite latest_new].
    - (* it does *)
      pose proof (logged_header _ _ Hf) as (x & Hx & Hc). simplify_eq.
      rewrite bool_decide_eq_true_2 //. wp_pures.
      pose proof (logged_log _ _ Hf) as [H1 H2].
      wp_bind (disk.Async__Read _ _). iApply wp_Async__Read.
      iApply (async_read_only with "Hctx Hlease"); [by apply Hnew|]. iIntros "!> Hlease".
      iExists s.1. iSplit; [done|]. iSplit; [iPureIntro; by apply (proj1 Hw 1)|].
      iIntros (sl1) "[Hsl1 _]". wp_pures.
      wp_bind (disk.Async__Read _ _). iApply wp_Async__Read.
      iApply (async_read_only with "Hctx Hlease"); [by apply Hnew|]. iIntros "!> Hlease".
      iExists s.2. iSplit; [done|]. iSplit; [iPureIntro; by apply (proj1 Hw 2)|].
      iIntros (sl2) "[Hsl2 _]". wp_pures.
      iApply (wp_apply with "Hctx Hlease Hsl1 Hsl2");
        [by apply always_new|by apply (proj1 Hw 1)|by apply (proj1 Hw 2)|].
      iIntros "!>" (d' Hd') "Hlease". by iApply ("HΦ" with "[//] Hlease").
  Qed.

  (** ** The log *)

  (** What its mutex protects: the right to access the disk, with nothing under way. *)
  Definition lock_inv b l γu : iProp Σ :=
    ∃ d s h,
      (l +ₗ field_offset asyncwal.Log "disk") ↦[b] h ∗
      lease γu d s None ∗
      ⌜idle d s⌝.
  Definition is_log b γu (p : val) : iProp Σ :=
    ∃ l, ⌜p = #l⌝ ∗ is_mutex b (l +ₗ field_offset asyncwal.Log "mu") (lock_inv b l γu).
  Global Instance is_log_persistent b γu p : Persistent (is_log b γu p).
  Proof. apply _. Qed.

  Lemma wp_Open b γ γu h :
    ctx b γ γu -∗ async_rec sp recovers b γ γu -∗
    WP asyncwal.Open h @ b; ⊤ {{ p, is_log b γu p }}.
  Proof.
    iIntros "#Hctx Hrec". wp_rec. wp_pures.
    wp_bind (asyncwal.recoverLog _). iApply (wp_recoverLog with "Hctx Hrec").
    iIntros "!>" (d s Hidle) "Hlease". iApply wpe_fupd. wp_alloc l as "(Hdisk & Hmu & _)".
    iMod (mutex_alloc _ _ _ (lock_inv b l γu) with "Hmu [Hdisk Hlease]") as "#Hmu".
    { iExists d, s, h. by iFrame. }
    iModIntro. iExists l. by iSplit.
  Qed.

  (** Both blocks are read under the lock; the call takes effect at the first. *)
  Lemma wp_Log__Read b γ γu p k Φ :
    ctx b γ γu -∗ is_log b γu p -∗ pending γ k read_call -∗
    ▷ (∀ s sl1 sl2, returns γ k (pair_val s) -∗
         own_bytes b sl1 (DfracOwn 1) s.1 -∗ own_bytes b sl2 (DfracOwn 1) s.2 -∗
         Φ (slice_val sl1, slice_val sl2)%V) -∗
    WP asyncwal.Log__Read p @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros "#Hctx (%l & -> & #Hmu) Hk HΦ". wp_rec. wp_pures.
    wp_apply (wp_mutex_lock with "Hmu"). iIntros "[Hheld (%d & %s & %h & Hdisk & Hlease & %Hidle)]".
    pose proof (idle_latest _ _ Hidle) as Hl.
    pose proof (clear_data _ _ Hl) as [(c3 & Hc3 & H3)%latest_lookup_inv (c4 & Hc4 & H4)%latest_lookup_inv].
    pose proof (proj1 (clear_whole _ _ Hl)) as Hok.
    wp_load. wp_bind (disk.Async__Read _ _). iApply wp_Async__Read.
    iApply (async_read sp _ _ (returns γ k (pair_val s)) with "Hctx Hlease [Hk]"); [done| |].
    { iIntros "Ha Hs". iApply (spec_step with "Ha Hs Hk"). constructor. }
    iIntros "!> Hlease Hk". iExists s.1. rewrite H3. iSplit; [done|].
    iSplit; [iPureIntro; by apply (Hok 3), clear_data|].
    iIntros (sl1) "[Hsl1 _]". wp_load. wp_bind (disk.Async__Read _ _). iApply wp_Async__Read.
    iApply (async_read_only with "Hctx Hlease"); [done|].
    iIntros "!> Hlease". iExists s.2. rewrite H4. iSplit; [done|].
    iSplit; [iPureIntro; by apply (Hok 4), clear_data|].
    iIntros (sl2) "[Hsl2 _]". wp_pures.
    wp_apply (wp_mutex_unlock with "[$Hheld Hdisk Hlease]").
    { iExists d, s, h. by iFrame. }
    iIntros "_". wp_pures. iApply ("HΦ" with "Hk Hsl1 Hsl2").
  Qed.

  (** The first half of a commit: the log is durable, and does not count yet. *)
  Lemma wp_Log__Commit_log b γ γu l d s t h sl1 sl2 dq1 dq2 e Φ :
    idle d s → block_ok t.1 → block_ok t.2 →
    ctx b γ γu -∗ lease γu d s None -∗
    (l +ₗ field_offset asyncwal.Log "disk") ↦[b] h -∗
    own_bytes b sl1 dq1 t.1 -∗ own_bytes b sl2 dq2 t.2 -∗
    ▷ (∀ d', ⌜ready d' s t⌝ -∗ lease γu d' s None -∗
         (l +ₗ field_offset asyncwal.Log "disk") ↦[b] h -∗
         own_bytes b sl1 dq1 t.1 -∗ own_bytes b sl2 dq2 t.2 -∗
         WP e @ b; ⊤ {{ Φ }}) -∗
    WP (disk.Async__Barrier (![ptrT] ((#l).[asyncwal.Log, "disk"]));;
        disk.Async__Write (![ptrT] ((#l).[asyncwal.Log, "disk"])) #(u64 1) (slice_val sl1);;
        disk.Async__Write (![ptrT] ((#l).[asyncwal.Log, "disk"])) #(u64 2) (slice_val sl2);;
        disk.Async__Barrier (![ptrT] ((#l).[asyncwal.Log, "disk"]));;
        e)%E @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hidle Ht1 Ht2) "#Hctx Hlease Hdisk Hsl1 Hsl2 HΦ".
    (* the header is clear, durably *)
    pose proof (idle_barrier _ _ Hidle) as Hd1.
    wp_load. wp_bind (disk.Async__Barrier _). iApply wp_Async__Barrier.
    iApply (async_barrier with "Hctx Hlease"). iIntros "!> Hlease". wp_pures.
    set (d1 := ca_flush <$> d) in *.
    (* the log *)
    destruct (whole_lookup d1 1) as [c1 Hc1]; [apply clear_whole with s, always_latest, Hd1|lia|].
    pose proof (clear_log _ _ 1 _ _ Hd1 Hc1 (or_introl eq_refl) Ht1) as Hd2.
    wp_load. wp_bind (disk.Async__Write _ _ _). iApply (wp_Async__Write with "Hsl1"). iIntros "Hsl1".
    iApply (async_write with "Hctx Hlease"); [done..|by eapply always_mono; [exact Hd2|left; left]|].
    iIntros "!> Hlease". wp_pures. set (d2 := <[_ := _]> d1) in *.
    destruct (whole_lookup d2 2) as [c2 Hc2]; [apply clear_whole with s, always_latest, Hd2|lia|].
    pose proof (clear_log _ _ 2 _ _ Hd2 Hc2 (or_intror eq_refl) Ht2) as Hd3.
    wp_load. wp_bind (disk.Async__Write _ _ _). iApply (wp_Async__Write with "Hsl2"). iIntros "Hsl2".
    iApply (async_write with "Hctx Hlease"); [done..|by eapply always_mono; [exact Hd3|left; left]|].
    iIntros "!> Hlease". wp_pures.
    (* is durable *)
    wp_load. wp_bind (disk.Async__Barrier _). iApply wp_Async__Barrier.
    iApply (async_barrier with "Hctx Hlease"). iIntros "!> Hlease". wp_pure. wp_pure.
    iApply ("HΦ" with "[] Hlease Hdisk Hsl1 Hsl2"). iPureIntro.
    apply log_barrier; [done|rewrite !latest_write..].
    - by rewrite lookup_insert_ne // lookup_insert.
    - by rewrite lookup_insert.
  Qed.

  (** A commit takes effect at the barrier after the header, or in a crash before it. *)
  Lemma wp_Log__Commit b γ γu p k t sl1 sl2 dq1 dq2 Φ :
    block_ok t.1 → block_ok t.2 →
    ctx b γ γu -∗ is_log b γu p -∗ pending γ k (commit_call t) -∗
    own_bytes b sl1 dq1 t.1 -∗ own_bytes b sl2 dq2 t.2 -∗
    ▷ (returns γ k #() -∗ Φ #()) -∗
    WP asyncwal.Log__Commit p (slice_val sl1) (slice_val sl2) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ht1 Ht2) "#Hctx (%l & -> & #Hmu) Hk Hsl1 Hsl2 HΦ". wp_rec. wp_pures.
    wp_apply (wp_mutex_lock with "Hmu"). iIntros "[Hheld (%d & %s & %h & Hdisk & Hlease & %Hidle)]".
    wp_pure. wp_pure.
    iApply (wp_Log__Commit_log with "Hctx Hlease Hdisk Hsl1 Hsl2"); [done..|].
    iIntros "!>" (d1 Hd1) "Hlease Hdisk Hsl1 Hsl2".
    (* the header: a crash may complete the commit *)
    destruct (whole_lookup d1 0) as [c0 Hc0].
    { apply clear_whole with s. apply always_latest in Hd1. apply Hd1. }
    { lia. }
    pose proof (ready_header _ _ _ _ Hd1 Hc0) as [Hd2 Hl2].
    wp_apply (wp_newHeader with "[//]"). iIntros (sl3) "Hsl3". wp_load.
    wp_bind (disk.Async__Write _ _ _). iApply (wp_Async__Write with "Hsl3"). iIntros "_".
    iApply (async_write_commit sp _ _ _ _ _ _ _ k (commit_call t) t with "Hctx Hlease Hk");
      [done|apply new_header_ok|by constructor| |].
    { eapply always_mono; [exact Hd2|]. intros f [Hf|Hf]; [by left|]. right. eexists. split; [done|by right]. }
    iIntros "!> Hlease". wp_pures.
    (* it has happened *)
    wp_load. wp_bind (disk.Async__Barrier _). iApply wp_Async__Barrier.
    iApply (async_barrier_commit sp with "Hctx Hlease"); [by right|].
    iIntros "!> Hlease Hk". wp_pures. wp_load. wp_bind (asyncwal.apply _ _ _).
    iApply (wp_apply with "Hctx Hlease Hsl1 Hsl2"); [by apply header_barrier|done..|].
    iIntros "!>" (d3 Hd3) "Hlease". wp_pures.
    wp_apply (wp_mutex_unlock with "[$Hheld Hdisk Hlease]").
    { iExists d3, t, h. by iFrame. }
    iIntros "_". by iApply "HΦ".
  Qed.
End proof.

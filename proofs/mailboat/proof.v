(** * Delivery, pickup, deletion, unlocking, recovery *)
From ashlar.golib Require Import sync.
From ashlar.mailboat Require Export client files steps.
Local Open Scope Z_scope.

Definition mailN : namespace := nroot .@ "mail".
Definition spoolN : namespace := nroot .@ "spool".

(** A field that never changes. *)
Ltac load_field H := wp_pures; wp_apply (wp_load_base with H); iIntros "_".

Section proof.
  Context (n : nat) (Hn : Z.of_nat n ≤ 2^40).
  Context `{!golangGS Σ, !mailG Σ, !specG Σ (mail_spec n)}.
  Implicit Types (b : boot) (s : mail) (u : Z) (d id : list Z).

  (** What survives a crash. *)
  Definition mail_lib_inv b (γ : spec_names) (γu : list gname) : iProp Σ :=
    ∃ γl γs s,
      ⌜γu = [γl; γs]⌝ ∗
      spec_state (mail_spec n) γ s ∗
      mail_inv b γl s ∗
      spool_inv b γs ∗
      ⌜∀ u, is_Some (boxes s !! u) ↔ 0 ≤ u < n⌝.
  Global Instance mail_lib_inv_timeless b γ γu : Timeless (mail_lib_inv b γ γu).
  Proof. apply _. Qed.
  Definition mail_ctx b γ γl γs : iProp Σ := lib_ctx (mail_spec n) mailN mail_lib_inv b γ [γl; γs].
  (** The open package: who locks a mailbox gets its lease. *)
  Definition is_mail b γl γs (h : val) : iProp Σ :=
    ∃ (l p : loc) (f : val),
      ⌜h = #l⌝ ∗
      (l +ₗ field_offset Mailboat "fs") ↦[b]{DfracDiscarded} f ∗
      (l +ₗ field_offset Mailboat "locks") ↦[b]{DfracDiscarded} slice_val (Slice (LitLoc p) n n) ∗
      vinv spoolN b (spool_open γs) ∗
      [∗ list] i ∈ seq 0 n, is_mutex b (p +ₗ (i : nat)) (lease γl i None).
  Global Instance is_mail_persistent b γl γs h : Persistent (is_mail b γl γs h).
  Proof. apply _. Qed.

  (** The invariant, opened. *)
  Lemma mail_lib_inv_open b γ γl γs :
    mail_lib_inv b γ [γl; γs] -∗ ∃ s, spec_state (mail_spec n) γ s ∗ mail_inv b γl s ∗
      spool_inv b γs ∗ ⌜∀ u, is_Some (boxes s !! u) ↔ 0 ≤ u < n⌝.
  Proof. iIntros "(%γl2 & %γs2 & %s & %Heq & H)". injection Heq as <- <-. iExists s. iFrame. Qed.
  Lemma mail_lib_inv_close b γ γl γs s :
    (∀ u, is_Some (boxes s !! u) ↔ 0 ≤ u < n) →
    spec_state (mail_spec n) γ s -∗ mail_inv b γl s -∗ spool_inv b γs -∗ mail_lib_inv b γ [γl; γs].
  Proof. iIntros (Hs) "H1 H2 H3". iExists γl, γs, s. by iFrame. Qed.
  Lemma users_put s u box box2 :
    boxes s !! u = Some box → (∀ v, is_Some (boxes s !! v) ↔ 0 ≤ v < n) →
    ∀ v, is_Some (boxes (put u box2 s) !! v) ↔ 0 ≤ v < n.
  Proof.
    intros Hbox Hs v. rewrite /put /= -Hs. destruct (decide (v = u)) as [->|Hne].
    - rewrite lookup_insert Hbox. split; eauto.
    - by rewrite lookup_insert_ne.
  Qed.

  (** ** Delivery *)
  Lemma wp_createSpoolFile b γ γl γs (f : val) :
    mail_ctx b γ γl γs -∗ vinv spoolN b (spool_open γs) -∗
    {{{ True }}}
      createSpoolFile f @ b; ⊤
    {{{ name fd i, RET (#(LitStr name), #(u64 fd));
        spooled γs name i ∗ i ↦inode[b] Inode [] 0 ∗ fd ↦fd[b] (i, true) }}}.
  Proof.
    iIntros "#Hctx #Hspool !>" (Φ) "_ HΦ". wp_rec. wp_pures.
    set (Q := (λ o : val, ∃ name fd i, ⌜o = InjRV (InjRV (#(LitStr name), #(u64 fd)))⌝ ∗
      spooled γs name i ∗ i ↦inode[b] Inode [] 0 ∗ fd ↦fd[b] (i, true))%I).
    wp_apply (wp_for_ever True%I Q with "[//] []").
    - iIntros "!> _". wp_pures. wp_apply (wp_randomName with "[//]"). iIntros (name) "_". wp_pures.
      wp_rec. wp_pures. wp_bind (Eff _ _).
      iInv "Hctx" as "[>Ha >HU]". iInv "Hspool" as ">Hopen".
      iDestruct (mail_lib_inv_open with "HU") as (s) "(Hs & Hm & Hsp & %Hu)".
      iApply (wp_create_spooled with "Hsp Hopen"). iIntros "!> Hsp Hopen".
      iSplit.
      + iModIntro. iFrame "Hopen". iModIntro. iSplitL "Ha Hs Hm Hsp".
        { iFrame "Ha". by iApply (mail_lib_inv_close with "Hs Hm Hsp"). }
        wp_pures. iLeft. auto.
      + iIntros (fd i) "Hname Hi Hfd". iModIntro. iFrame "Hopen". iModIntro. iSplitL "Ha Hs Hm Hsp".
        { iFrame "Ha". by iApply (mail_lib_inv_close with "Hs Hm Hsp"). }
        wp_pures. iRight. iRight. iExists _. iSplit; [done|]. iExists name, fd, i. by iFrame.
    - iIntros (o) "(%name & %fd & %i & -> & H)". wp_pures. by iApply "HΦ".
  Qed.
  Lemma wp_linkInto b γ γl γs k (f : val) tmp i u d : 0 ≤ u < n →
    mail_ctx b γ γl γs -∗ is_file b i d -∗
    {{{ pending γ k (deliver_call u d) ∗ spooled γs tmp i }}}
      linkInto f #(LitStr tmp) #(LitStr (user_dir u)) @ b; ⊤
    {{{ id, RET #(); pending γ k (settling u id) ∗ spooled γs tmp i }}}.
  Proof.
    iIntros (Hun) "#Hctx #Hfile !>". iIntros (Φ) "[Hk Htmp] HΦ". wp_rec. wp_pures.
    wp_apply (wp_for_simple (pending γ k (deliver_call u d) ∗ spooled γs tmp i)%I
      (∃ id, pending γ k (settling u id) ∗ spooled γs tmp i)%I with "[$Hk $Htmp] []").
    - iIntros "!> [Hk Htmp]". wp_pures. wp_apply (wp_randomName with "[//]"). iIntros (id) "_".
      wp_rec. wp_pures. wp_bind (Eff _ _).
      iInv "Hctx" as "[>Ha >HU]".
      iDestruct (mail_lib_inv_open with "HU") as (s) "(Hs & Hm & Hsp & %Hu)".
      destruct (proj2 (Hu u) Hun) as [box Hbox].
      iApply (wp_link_message with "Hm Hfile Hsp Htmp"); [done|].
      iIntros "!>" (ok Hok) "Hm Hsp Htmp". destruct ok.
      + iMod (spec_move (mail_spec n) _ _ _ (settling u id) with "Ha Hs Hk") as "(Ha & Hs & Hk)".
        { apply deliver_takes. by exists box. }
        iModIntro. iSplitL "Ha Hs Hm Hsp".
        { iFrame "Ha". iApply (mail_lib_inv_close with "Hs Hm Hsp"). by eapply users_put. }
        wp_pures. iExists false. iSplit; [done|]. iExists id. iFrame.
      + iModIntro. iSplitL "Ha Hs Hm Hsp".
        { iFrame "Ha". by iApply (mail_lib_inv_close with "Hs Hm Hsp"). }
        wp_pures. iExists true. iSplit; [done|]. wp_pures. wp_pures. iFrame.
    - iIntros "(%id & Hk & Htmp)". iApply "HΦ". iFrame.
  Qed.

  (** What the directory shows becomes durable, and the call may return. *)
  Lemma wp_settle b γ γl γs k (f : val) u id : 0 ≤ u < n →
    mail_ctx b γ γl γs -∗
    {{{ pending γ k (settling u id) }}}
      filesys.FS__SyncDir f #(LitStr (user_dir u)) @ b; ⊤
    {{{ RET #(); returns γ k #() }}}.
  Proof.
    iIntros (Hun) "#Hctx !>". iIntros (Φ) "Hk HΦ". wp_rec. wp_pures.
    iInv "Hctx" as "[>Ha >HU]".
    iDestruct (mail_lib_inv_open with "HU") as (s) "(Hs & Hm & Hsp & %Hu)".
    destruct (proj2 (Hu u) Hun) as [box Hbox].
    iApply (wp_sync_mailbox _ _ _ _ _ _ id with "Hm"); [done|]. iIntros "!> Hm".
    iMod (spec_step (mail_spec n) _ _ _ #() with "Ha Hs Hk") as "(Ha & Hs & Hk)".
    { apply settle_call. by exists box. }
    iModIntro. iSplitL "Ha Hs Hm Hsp".
    { iFrame "Ha". iApply (mail_lib_inv_close with "Hs Hm Hsp"). by eapply users_put. }
    by iApply "HΦ".
  Qed.
  (** A delivery forgets its file in the spool. *)
  Lemma wp_forget b γ γl γs (f : val) name i :
    mail_ctx b γ γl γs -∗ vinv spoolN b (spool_open γs) -∗
    {{{ spooled γs name i }}}
      filesys.FS__Unlink f #(str spoolDir) #(LitStr name) @ b; ⊤
    {{{ RET #(); True }}}.
  Proof.
    iIntros "#Hctx #Hspool !>" (Φ) "Hname HΦ". wp_rec. wp_pures.
    iInv "Hctx" as "[>Ha >HU]". iInv "Hspool" as ">(%T & HT)".
    iDestruct (mail_lib_inv_open with "HU") as (s) "(Hs & Hm & Hsp & %Hu)".
    iApply (wp_unlink_spooled with "Hsp HT Hname"). iIntros "!> Hsp HT !>".
    iSplitL "HT"; [by iExists _|]. iModIntro. iSplitL "Ha Hs Hm Hsp".
    { iFrame "Ha". by iApply (mail_lib_inv_close with "Hs Hm Hsp"). }
    by iApply "HΦ".
  Qed.

  Lemma wp_Deliver b γ γl γs h k u d sl dq : 0 ≤ u < n →
    mail_ctx b γ γl γs -∗ is_mail b γl γs h -∗
    {{{ own_bytes b sl dq d ∗ pending γ k (deliver_call u d) }}}
      Mailboat__Deliver h #(u64 u) (slice_val sl) @ b; ⊤
    {{{ RET #(); own_bytes b sl dq d ∗ returns γ k #() }}}.
  Proof.
    iIntros (Hun) "#Hctx (%l & %p & %f & -> & #Hf & _ & #Hspool & _) !>".
    iIntros (Φ) "[Hmsg Hk] HΦ". wp_rec. wp_pures.
    wp_apply (wp_userDir with "[//]"); [split; lia|]. iIntros "_". wp_pures.
    load_field "Hf". wp_apply (wp_createSpoolFile with "Hctx Hspool [//]").
    iIntros (tmp fd i) "(Htmp & Hi & Hfd)". wp_pures.
    load_field "Hf". wp_apply (wp_appendAll with "[$Hmsg $Hfd $Hi]"). iIntros "(Hmsg & Hfd & Hi)". wp_pures.
    load_field "Hf". wp_rec. wp_pures. wp_bind (Eff _ _).
    iApply (wpe_fs_sync with "Hfd Hi"). iIntros "!> Hfd Hi /=". wp_pures.
    iMod (inode_is_persist with "Hi") as "#Hfile".
    load_field "Hf". wp_rec. wp_pures. wp_bind (Eff _ _).
    iApply (wpe_fs_close with "Hfd"). iIntros "!>". wp_pures.
    load_field "Hf". wp_apply (wp_linkInto with "Hctx Hfile [$Hk $Htmp]"); [done|]. iIntros (id) "[Hk Htmp]".
    wp_pures. load_field "Hf". wp_apply (wp_settle with "Hctx Hk"); [done|]. iIntros "Hk". wp_pures.
    load_field "Hf". wp_apply (wp_forget with "Hctx Hspool Htmp"). iIntros "_". iApply "HΦ". iFrame.
  Qed.
End proof.

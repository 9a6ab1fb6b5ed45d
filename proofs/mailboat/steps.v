(** * What each call of the file system makes of the invariant *)
From ashlar.mailboat Require Export inv.

Section steps.
  Context `{!golangGS Σ, !mailG Σ}.
  Implicit Types (b : boot) (u : Z) (s : mail) (L : gmap (list Z) Z) (K : contents).
  Implicit Types Φ : val → iProp Σ.

  Lemma mail_inv_open b γ s u box : boxes s !! u = Some box →
    mail_inv b γ s -∗ ∃ D K H m,
      user_dir u ↦dir[b] m ∗
      (∀ m2, user_dir u ↦dir[b] m2 -∗ [∗ map] v ↦ mv ∈ <[u := m2]> D, user_dir v ↦dir[b] mv) ∗
      ([∗ map] i ↦ d ∈ K, is_file b i d) ∗ ghost_map_auth γ 1 H ∗
      ⌜mail_ok D K H s⌝ ∗ ⌜D !! u = Some m⌝ ∗ ⌜dir_reads K m box⌝.
  Proof.
    iIntros (Hbox) "(%D & %K & %H & HD & HK & HH & %Hok)".
    destruct (box_of_user _ _ _ _ _ _ Hok Hbox) as (m & Hm & Hreads).
    iDestruct (big_sepM_insert_acc with "HD") as "[Hm HD]"; [done|].
    iExists D, K, H, m. by iFrame.
  Qed.
  Lemma mail_inv_close b γ s D K H : mail_ok D K H s →
    ([∗ map] u ↦ m ∈ D, user_dir u ↦dir[b] m) -∗ ([∗ map] i ↦ d ∈ K, is_file b i d) -∗
    ghost_map_auth γ 1 H -∗ mail_inv b γ s.
  Proof. iIntros (Hok) "HD HK HH". iExists D, K, H. by iFrame. Qed.

  (** A file may be added to those that are known. *)
  Lemma files_add b K i d :
    ([∗ map] j ↦ e ∈ K, is_file b j e) -∗ is_file b i d -∗
    ([∗ map] j ↦ e ∈ <[i := d]> K, is_file b j e) ∗ ⌜K ⊆ <[i := d]> K⌝.
  Proof.
    iIntros "#HK #Hi". destruct (K !! i) as [d2|] eqn:Hd.
    - iDestruct (big_sepM_lookup with "HK") as "Hi2"; [done|].
      iDestruct (inode_is_agree with "Hi Hi2") as %[= ->]. rewrite insert_id //. auto.
    - iSplit; [|iPureIntro; by apply insert_subseteq].
      rewrite big_sepM_insert //. auto.
  Qed.

  (** ** The spool *)
  Lemma spool_names_set γ T1 T2 : spool_names γ T1 -∗ spool_names γ T2 -∗
    ⌜T1 = T2⌝ ∗ ghost_map_auth γ 1 T1.
  Proof.
    iIntros "H1 H2". iDestruct (ghost_map_auth_agree with "H1 H2") as %->.
    iSplit; [done|]. iCombine "H1 H2" as "H". iExact "H".
  Qed.
  Lemma wp_create_spooled b E γ name Φ :
    spool_inv b γ -∗ spool_open γ -∗
    ▷ (spool_inv b γ -∗ spool_open γ -∗
         (Φ (PairV (vfd 0%Z) (vbool false)) ∧
          ∀ fd i, spooled γ name i -∗ i ↦inode[b] Inode [] 0 -∗ fd ↦fd[b] (i, true) -∗
            Φ (PairV (vfd fd) (vbool true)))) -∗
    WP Eff (DevOp FsCreate) (Val (vstr spool_dir, vstr name)%V) @ b; E {{ Φ }}.
  Proof.
    iIntros "(%m & %T & Hdir & HT & %Hm) [%T2 HT2] HΦ".
    iDestruct (spool_names_set with "HT HT2") as "[<- HT]".
    destruct (name_now m name) as [j|] eqn:Hname.
    - iApply (wpe_fs_create_taken with "Hdir"); [done|]. iIntros "!> Hdir".
      iDestruct "HT" as "[HT HT2]".
      iDestruct ("HΦ" with "[Hdir HT] [HT2]") as "[$ _]"; [|by iExists T].
      iExists m, T. by iFrame.
    - iApply wpe_fupd. iApply (wpe_fs_create with "Hdir"); [done|].
      iIntros "!>" (fd i) "Hdir Hi Hfd".
      iMod (ghost_map_insert name i with "HT") as "[[HT HT2] Hname]"; [by rewrite -Hm|].
      iModIntro. iDestruct ("HΦ" with "[Hdir HT] [HT2]") as "[_ HΦ]"; [|by iExists _|].
      + iExists _, _. iFrame. iPureIntro. intros name2. destruct (decide (name2 = name)) as [->|Hne].
        * by rewrite name_now_set_eq lookup_insert.
        * by rewrite name_now_set_ne // lookup_insert_ne.
      + iApply ("HΦ" with "Hname Hi Hfd").
  Qed.
  (** A name goes away, of a delivery or by recovery, which knows all of them. *)
  Lemma wp_unlink_spooled b E γ T name i Φ :
    spool_inv b γ -∗ spool_names γ T -∗ spooled γ name i -∗
    ▷ (spool_inv b γ -∗ spool_names γ (delete name T) -∗ Φ #()) -∗
    WP Eff (DevOp FsUnlink) (Val (vstr spool_dir, vstr name)%V) @ b; E {{ Φ }}.
  Proof.
    iIntros "(%m & %T2 & Hdir & HT & %Hm) HT2 Hname HΦ".
    iDestruct (ghost_map_lookup with "HT Hname") as %Hi.
    iDestruct (spool_names_set with "HT HT2") as "[-> HT]".
    iApply wpe_fupd. iApply (wpe_fs_unlink with "Hdir"); [by rewrite Hm|]. iIntros "!> Hdir".
    iMod (ghost_map_delete with "HT Hname") as "[HT HT2]".
    iModIntro. iApply ("HΦ" with "[Hdir HT] HT2"). iExists _, _. iFrame. iPureIntro.
    intros name2. destruct (decide (name2 = name)) as [->|Hne].
    - by rewrite name_now_set_eq lookup_delete.
    - by rewrite name_now_set_ne // lookup_delete_ne.
  Qed.
  Lemma wp_list_spooled b E γ T Φ :
    spool_inv b γ -∗ spool_names γ T -∗
    ▷ (∀ l, ⌜NoDup l⌝ -∗ ⌜∀ name, name ∈ l ↔ is_Some (T !! name)⌝ -∗
         spool_inv b γ -∗ spool_names γ T -∗ Φ (list_val ((λ x, vstr x) <$> l))) -∗
    WP Eff (DevOp FsList) (Val (vstr spool_dir)) @ b; E {{ Φ }}.
  Proof.
    iIntros "(%m & %T2 & Hdir & HT & %Hm) HT2 HΦ".
    iDestruct (ghost_map_auth_agree with "HT HT2") as %->.
    iApply (wpe_fs_list with "Hdir"). iIntros "!>" (l Hnd Hl) "Hdir".
    iApply ("HΦ" with "[//] [%] [Hdir HT] HT2").
    - intros name. by rewrite Hl Hm.
    - iExists m, T. by iFrame.
  Qed.

  (** ** Deliveries *)
  Lemma wp_link_message b E γ γs s u box tmp i name d Φ :
    boxes s !! u = Some box →
    mail_inv b γ s -∗ is_file b i d -∗ spool_inv b γs -∗ spooled γs tmp i -∗
    ▷ (∀ ok : bool,
         ⌜if ok then shown box name = None else True⌝ -∗
         mail_inv b γ (if ok then put u (box_put name (Some d) box) s else s) -∗
         spool_inv b γs -∗ spooled γs tmp i -∗ Φ #ok) -∗
    WP Eff (DevOp FsLink)
      (Val ((vstr spool_dir, vstr tmp), (vstr (user_dir u), vstr name))%V) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hbox) "Hinv #Hfile (%m & %T & Hspool & HT & %Hnow) Htmp HΦ".
    iDestruct (ghost_map_lookup with "HT Htmp") as %Htmp. rewrite -Hnow in Htmp.
    iDestruct (mail_inv_open with "Hinv") as (D K H mu) "(Hdir & HD & #HK & HH & %Hok & %Hmu & %Hr)";
      [done|].
    destruct (name_now mu name) as [j|] eqn:Hname.
    - iApply (wpe_fs_link_taken with "Hspool Hdir"); [done..|]. iIntros "!> Hspool Hdir".
      iApply ("HΦ" $! false with "[//] [-Hspool HT Htmp] [Hspool HT] Htmp"); [|iExists m, T; by iFrame].
      iSpecialize ("HD" with "Hdir"). rewrite insert_id //. by iApply (mail_inv_close with "HD HK HH").
    - iApply (wpe_fs_link with "Hspool Hdir"); [done..|]. iIntros "!> Hspool Hdir".
      iDestruct (files_add with "HK Hfile") as "[#HK2 %HK2]".
      iApply ("HΦ" $! true with "[%] [-Hspool HT Htmp] [Hspool HT] Htmp");
        [by eapply dir_reads_free| |iExists m, T; by iFrame].
      iSpecialize ("HD" with "Hdir"). iApply (mail_inv_close with "HD HK2 HH").
      apply (mail_ok_put _ K _ _ _ mu box); [done..| |].
      + apply dir_reads_set; [by eapply dir_reads_mono|]. by rewrite /= lookup_insert.
      + intros L id k HL Hid. pose proof (ok_lease _ _ _ _ Hok _ _ _ _ _ HL Hmu Hid).
        rewrite name_now_set_ne; [done|]. intros ->. congruence.
  Qed.

  (** All names of a mailbox become durable; the specification is told of one. *)
  Lemma wp_sync_mailbox b E γ s u box id Φ :
    boxes s !! u = Some box →
    mail_inv b γ s -∗
    ▷ (mail_inv b γ (put u (box_settle id box) s) -∗ Φ #()) -∗
    WP Eff (DevOp FsSyncDir) (Val (vstr (user_dir u))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hbox) "Hinv HΦ".
    iDestruct (mail_inv_open with "Hinv") as (D K H m) "(Hdir & HD & HK & HH & %Hok & %Hm & %Hr)";
      [done|].
    iApply (wpe_fs_sync_dir with "Hdir"). iIntros "!> Hdir". iApply "HΦ".
    iSpecialize ("HD" with "Hdir"). iApply (mail_inv_close with "HD HK HH").
    apply (mail_ok_put _ K _ _ _ m box); [done..|by apply dir_reads_settle|].
    intros L name i HL Hname. rewrite name_now_flush. by eapply ok_lease.
  Qed.

  (** ** Reading *)
  Lemma wp_list_mailbox b E γ s u box Φ :
    boxes s !! u = Some box →
    mail_inv b γ s -∗ lease γ u None -∗
    ▷ (∀ L p, ⌜u ∉ held s⌝ -∗ ⌜listing box p⌝ -∗ ⌜dom L = list_to_set p.*1⌝ -∗
         mail_inv b γ (Mail (boxes s) ({[u]} ∪ held s)) -∗ lease γ u (Some L) -∗
         ([∗ list] x ∈ p, ∃ i, ⌜L !! x.1 = Some i⌝ ∗ is_file b i x.2) -∗
         Φ (list_val ((λ x, vstr x) <$> p.*1))) -∗
    WP Eff (DevOp FsList) (Val (vstr (user_dir u))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hbox) "Hinv Hlease HΦ".
    iDestruct (mail_inv_open with "Hinv") as (D K H m) "(Hdir & HD & #HK & HH & %Hok & %Hm & %Hr)";
      [done|].
    iDestruct (ghost_map_lookup with "HH Hlease") as %HHu.
    iApply wpe_fupd. iApply (wpe_fs_list with "Hdir"). iIntros "!>" (l Hnd Hl) "Hdir".
    destruct (dir_reads_listing _ _ _ _ Hr Hnd Hl) as (p & Hpl & Hp & Hfiles).
    iMod (ghost_map_update (Some (now_map m)) with "HH Hlease") as "[HH Hlease]".
    iModIntro. rewrite -Hpl. iApply ("HΦ" $! (now_map m) p with "[%] [//] [%] [-Hlease] Hlease").
    - intros [L HL]%(ok_held _ _ _ _ Hok). congruence.
    - apply set_eq. intros name. rewrite elem_of_list_to_set Hpl Hl elem_of_dom lookup_now_map. done.
    - iSpecialize ("HD" with "Hdir"). rewrite insert_id //. iApply (mail_inv_close with "HD HK HH").
      eapply mail_ok_lease; [done|done| | |].
      + set_solver.
      + split; [by eauto|set_solver].
      + intros L m2 id i [= <-] Hm2. simplify_eq. by rewrite lookup_now_map.
    - iApply big_sepL_forall. iIntros (k [id d] Hk). apply elem_of_list_lookup_2 in Hk.
      destruct (Hfiles _ _ Hk) as (i & Hi & Hd). iExists i.
      iSplit; [by rewrite lookup_now_map|]. by iApply (big_sepM_lookup with "HK").
  Qed.
  Lemma wp_open_message b E γ s u box L id i Φ :
    boxes s !! u = Some box → L !! id = Some i →
    mail_inv b γ s -∗ lease γ u (Some L) -∗
    ▷ (∀ fd, mail_inv b γ s -∗ lease γ u (Some L) -∗ fd ↦fd[b] (i, false) -∗
         Φ (PairV (vfd fd) (vbool true))) -∗
    WP Eff (DevOp FsOpen) (Val (vstr (user_dir u), vstr id)%V) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hbox Hid) "Hinv Hlease HΦ".
    iDestruct (mail_inv_open with "Hinv") as (D K H m) "(Hdir & HD & HK & HH & %Hok & %Hm & %Hr)";
      [done|].
    iDestruct (ghost_map_lookup with "HH Hlease") as %HHu.
    iApply (wpe_fs_open with "Hdir"); [by eapply ok_lease|]. iIntros "!>" (fd) "Hdir Hfd".
    iApply ("HΦ" with "[-Hlease Hfd] Hlease Hfd").
    iSpecialize ("HD" with "Hdir"). rewrite insert_id //. by iApply (mail_inv_close with "HD HK HH").
  Qed.

  (** ** Deletion and the end of a session *)
  Lemma wp_unlink_message b E γ s u box L id i Φ :
    boxes s !! u = Some box → L !! id = Some i →
    mail_inv b γ s -∗ lease γ u (Some L) -∗
    ▷ (⌜u ∈ held s⌝ -∗ ⌜is_Some (shown box id)⌝ -∗
         mail_inv b γ (put u (box_put id None box) s) -∗ lease γ u (Some (delete id L)) -∗ Φ #()) -∗
    WP Eff (DevOp FsUnlink) (Val (vstr (user_dir u), vstr id)%V) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hbox Hid) "Hinv Hlease HΦ".
    iDestruct (mail_inv_open with "Hinv") as (D K H m) "(Hdir & HD & HK & HH & %Hok & %Hm & %Hr)";
      [done|].
    iDestruct (ghost_map_lookup with "HH Hlease") as %HHu.
    pose proof (ok_lease _ _ _ _ Hok _ _ _ _ _ HHu Hm Hid) as Hnow.
    iApply wpe_fupd. iApply (wpe_fs_unlink with "Hdir"); [done|]. iIntros "!> Hdir".
    iMod (ghost_map_update (Some (delete id L)) with "HH Hlease") as "[HH Hlease]". iModIntro.
    iApply ("HΦ" with "[%] [%] [-Hlease] Hlease").
    - apply (ok_held _ _ _ _ Hok). eauto.
    - destruct (dir_reads_taken _ _ _ _ _ Hr Hnow) as (d & _ & ->). eauto.
    - iSpecialize ("HD" with "Hdir"). iApply (mail_inv_close with "HD HK HH").
      assert (mail_ok D K (<[u := Some (delete id L)]> H) s) as Hok2.
      { replace s with (Mail (boxes s) (held s)) by (by destruct s).
        eapply mail_ok_lease; [done|done|done| |].
        - rewrite (ok_held _ _ _ _ Hok). simpl. split; [by eauto|]. eauto.
        - intros L2 m2 id2 i2 [= <-] Hm2 [_ Hi2]%lookup_delete_Some. by eapply ok_lease. }
      apply (mail_ok_put _ K _ _ _ m box); [done..|by apply dir_reads_set|].
      intros L2 id2 i2. rewrite lookup_insert. intros [= <-] [Hne Hi2]%lookup_delete_Some.
      rewrite name_now_set_ne; [exact (ok_lease _ _ _ _ Hok _ _ _ _ _ HHu Hm Hi2)|congruence].
  Qed.
  Lemma mail_inv_unlock b γ s u L :
    mail_inv b γ s -∗ lease γ u (Some L) ==∗
    mail_inv b γ (Mail (boxes s) (held s ∖ {[u]})) ∗ lease γ u None ∗ ⌜u ∈ held s⌝.
  Proof.
    iIntros "(%D & %K & %H & HD & HK & HH & %Hok) Hlease".
    iDestruct (ghost_map_lookup with "HH Hlease") as %HHu.
    iMod (ghost_map_update None with "HH Hlease") as "[HH $]". iModIntro.
    iSplit; [|iPureIntro; apply (ok_held _ _ _ _ Hok); eauto].
    iApply (mail_inv_close with "HD HK HH").
    assert (u ∈ dom (boxes s)) as [box Hbox]%elem_of_dom.
    { rewrite -(ok_leases _ _ _ _ Hok). by eapply elem_of_dom_2. }
    eapply mail_ok_lease; [done|done|set_solver| |done].
    split; [set_solver|by intros [? ?]].
  Qed.
End steps.

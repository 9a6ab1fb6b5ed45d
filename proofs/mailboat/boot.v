(** * What a boot finds, and what a crash leaves for it *)
From ashlar.mailboat Require Export inv.
Local Open Scope Z_scope.

(** A file system, at rest, in which the mail is [s]: nobody reads, and all of it
    is durable. *)
Record fs_holds (f : filesys) (s : mail) (D : gmap Z names_map) (K : contents) (spool : names_map) : Prop := {
  fh_spool : fs_dirs f !! spool_dir = Some spool;
  fh_dirs : ∀ u m, D !! u = Some m → fs_dirs f !! user_dir u = Some m;
  fh_inodes : ∀ i d, K !! i = Some d → fs_inodes f !! i = Some (Inode d (length d));
  fh_ok : mail_ok D K ((λ _, None) <$> D) s;
}.

(** Some of the elements of a map, under other keys. *)
Lemma big_sepM_pick {PROP : bi} `{!BiAffine PROP} {A} (g : Z → list Z) (D : gmap Z A)
    (M : gmap (list Z) A) (Φ : list Z → A → PROP) :
  (∀ u m, D !! u = Some m → M !! g u = Some m) →
  (∀ u v, u ∈ dom D → v ∈ dom D → g u = g v → u = v) →
  ([∗ map] k ↦ m ∈ M, Φ k m) -∗ [∗ map] u ↦ m ∈ D, Φ (g u) m.
Proof.
  revert M. induction D as [|u m D Hu IH] using map_ind; iIntros (M HD Hinj) "HM"; [done|].
  assert (M !! g u = Some m) as HMu by (apply HD; by rewrite lookup_insert).
  rewrite big_sepM_insert // (big_sepM_delete _ M) //. iDestruct "HM" as "[$ HM]".
  iApply (IH with "HM").
  - intros v mv Hv. rewrite lookup_delete_ne.
    + apply HD. rewrite lookup_insert_ne //. congruence.
    + intros Heq. assert (u = v) as ->; [|congruence].
      apply Hinj; [set_solver| |done]. rewrite dom_insert. apply elem_of_dom_2 in Hv. set_solver.
  - intros v w Hv Hw. apply Hinj; set_solver.
Qed.

Section boot.
  Context `{!golangGS Σ, !mailG Σ}.
  Implicit Types (b : boot) (f : filesys) (s : mail).

  (** What recovery owns: it knows the spool, and no mailbox is locked. *)
  Definition recovering (γl γs : gname) (D : gmap Z names_map) : iProp Σ :=
    ∃ T, spool_names γs T ∗ ([∗ map] name ↦ i ∈ T, spooled γs name i) ∗
      [∗ map] u ↦ _ ∈ D, lease γl u None.

  (** The ghost state of a boot, and what it says when the boot has its name. *)
  Lemma mail_boot f s D K spool : fs_holds f s D K spool →
    ⊢ |==> ∃ γl γs,
      ∀ b γs2 vn, boot_is b γs2 vn -∗ fs_elements vn f ==∗
        mail_inv b γl s ∗ spool_inv b γs ∗ recovering γl γs D.
  Proof.
    intros [Hspool HD HK Hok].
    iMod (ghost_map_alloc ((λ _, None) <$> D : gmap Z (option (gmap (list Z) Z)))) as (γl) "[Hl Hleases]".
    iMod (ghost_map_alloc (now_map spool)) as (γs) "[[HT HT2] Hnames]".
    iModIntro. iExists γl, γs. iIntros (b γs2 vn) "#Hb [Hdirs Hinodes]".
    rewrite (big_sepM_delete _ (fs_dirs f) spool_dir) //. iDestruct "Hdirs" as "[Hsp Hdirs]".
    iDestruct (big_sepM_pick user_dir D with "Hdirs") as "Hdirs".
    { intros u m Hm. rewrite lookup_delete_ne; [by apply HD|]. apply not_eq_sym, user_dir_spool. }
    { intros u v. rewrite (ok_users _ _ _ _ Hok). intros Hu Hv.
      apply user_dir_inj; by eapply ok_range. }
    iDestruct (big_sepM_subseteq _ _ ((λ d, Inode d (length d)) <$> K) with "Hinodes") as "Hinodes".
    { apply map_subseteq_spec. intros i nd. rewrite lookup_fmap_Some. intros (d & <- & Hd). by apply HK. }
    rewrite !big_sepM_fmap.
    iAssert (|==> [∗ map] i ↦ d ∈ K, is_file b i d)%I with "[Hinodes]" as ">Hinodes".
    { iApply big_sepM_bupd. iApply (big_sepM_impl with "Hinodes"). iIntros "!>" (i d _) "Hi".
      iApply inode_is_persist. iExists γs2, vn. by iFrame. }
    iModIntro. iSplitL "Hl Hdirs Hinodes".
    { iExists D, K, _. iFrame "Hl Hinodes". iSplit; [|done].
      iApply (big_sepM_impl with "Hdirs"). iIntros "!>" (u m _) "Hm". iExists γs2, vn. by iFrame. }
    iSplitL "Hsp HT".
    { iExists spool, (now_map spool). iFrame "HT". iSplit.
      - iExists γs2, vn. by iFrame.
      - iPureIntro. intros name. by rewrite lookup_now_map. }
    iExists _. iFrame "HT2 Hnames Hleases".
  Qed.

  (** After a crash the file system is at rest, in a state that the specification
      allows. *)
  Lemma mail_after_crash b γs2 vn f f2 γl γs s :
    fs_crash f f2 →
    boot_is b γs2 vn -∗ fs_interp vn f -∗ mail_inv b γl s -∗ spool_inv b γs -∗
    ⌜∃ s2 D K spool, mail_crash s s2 ∧ fs_holds f2 s2 D K spool⌝.
  Proof.
    iIntros (Hcrash) "#Hb Hf (%D & %K & %H & HD & HK & _ & %Hok) (%m & %T & Hsp & _ & _)".
    iDestruct (fs_crash_dir with "Hb Hf Hsp") as %(spool & Hspool & _); [done|].
    iAssert ⌜∀ u m, D !! u = Some m → ∃ m2, fs_dirs f2 !! user_dir u = Some m2 ∧ names_crash m m2⌝%I
      with "[Hf HD]" as %HD.
    { iIntros (u mu Hu). iDestruct (big_sepM_lookup with "HD") as "Hd"; [done|].
      by iApply (fs_crash_dir with "Hb Hf Hd"). }
    iAssert ⌜∀ i d, K !! i = Some d → fs_inodes f2 !! i = Some (Inode d (length d))⌝%I
      with "[Hf HK]" as %HK.
    { iIntros (i d Hd). iDestruct (big_sepM_lookup with "HK") as "Hi"; [done|].
      iDestruct (fs_crash_inode with "Hb Hf Hi") as %(nd & Hnd & Hc); [done|].
      iPureIntro. by rewrite Hnd (inode_crash_synced _ _ _ Hc). }
    iPureIntro.
    set (D2 := map_imap (λ u _, fs_dirs f2 !! user_dir u) D).
    assert (∀ u m2, D2 !! u = Some m2 → ∃ m1, D !! u = Some m1 ∧
      fs_dirs f2 !! user_dir u = Some m2 ∧ names_crash m1 m2) as HD2.
    { intros u m2. rewrite map_lookup_imap. destruct (D !! u) as [m1|] eqn:Hm1; [|done]. simpl.
      intros Hm2. destruct (HD _ _ Hm1) as (m3 & Hm3 & Hc). exists m1. by simplify_eq. }
    assert (dom D2 = dom (boxes s)) as Hdom.
    { rewrite -(ok_users _ _ _ _ Hok). apply set_eq. intros u. rewrite !elem_of_dom map_lookup_imap.
      split; [destruct (D !! u); [by eauto|by intros [? ?]]|]. intros [m1 Hm1].
      destruct (HD _ _ Hm1) as (m2 & Hm2 & _). rewrite Hm1 /= Hm2. by eauto. }
    exists (Mail (box_of K <$> D2) ∅), D2, K, spool. split.
    - split; [done|]. split; [by rewrite /= dom_fmap_L|]. simpl.
      intros u box box2 Hbox. rewrite lookup_fmap_Some. intros (m2 & <- & Hm2).
      destruct (HD2 _ _ Hm2) as (m1 & Hm1 & _ & Hc).
      by destruct (dir_reads_crash K m1 box m2 (ok_reads _ _ _ _ Hok _ _ _ Hm1 Hbox) Hc).
    - split; [done| |done|].
      { intros u m2 Hm2. by destruct (HD2 _ _ Hm2) as (? & _ & ? & _). }
      split; simpl.
      + by rewrite dom_fmap_L.
      + by rewrite !dom_fmap_L.
      + intros u. rewrite dom_fmap_L Hdom. by eapply ok_range.
      + intros u m2 box2 Hm2. rewrite lookup_fmap Hm2. intros [= <-].
        destruct (HD2 _ _ Hm2) as (m1 & Hm1 & _ & Hc).
        assert (u ∈ dom (boxes s)) as [box Hbox]%elem_of_dom.
        { rewrite -Hdom. by eapply elem_of_dom_2. }
        by destruct (dir_reads_crash K m1 box m2 (ok_reads _ _ _ _ Hok _ _ _ Hm1 Hbox) Hc).
      + intros u. split; [set_solver|]. intros [L HL].
        rewrite lookup_fmap_Some in HL. by destruct HL as (? & ? & _).
      + intros u L m2 id i HL. rewrite lookup_fmap_Some in HL. by destruct HL as (? & ? & _).
  Qed.

  (** The file system of a new mail store: empty directories; the spool and the
      rest of the file system do not matter. *)
  Lemma fs_holds_init n f spool : Z.of_nat n ≤ 2^40 →
    fs_dirs f !! spool_dir = Some spool →
    (∀ u, 0 ≤ u < n → fs_dirs f !! user_dir u = Some ∅) →
    fs_holds f (mail_init n) (gset_to_gmap ∅ (users n)) ∅ spool.
  Proof.
    intros Hn Hspool Husers. split; [done| | |].
    - intros u m [Hu <-]%lookup_gset_to_gmap_Some. apply Husers. by apply elem_of_users.
    - done.
    - split; simpl.
      + by rewrite !dom_gset_to_gmap.
      + by rewrite dom_fmap_L !dom_gset_to_gmap.
      + intros u. rewrite dom_gset_to_gmap elem_of_users. intros ?. split; lia.
      + intros u m box [_ <-]%lookup_gset_to_gmap_Some [_ <-]%lookup_gset_to_gmap_Some name.
        rewrite /entry /slot !lookup_empty /=. split; [done|]. intros x. rewrite elem_of_list_singleton.
        intros ->. exists None. split; [by left|done].
      + intros u. split; [set_solver|]. intros [L HL].
        rewrite lookup_fmap_Some in HL. by destruct HL as (? & ? & _).
      + intros u L m id i HL. rewrite lookup_fmap_Some in HL. by destruct HL as (? & ? & _).
  Qed.
End boot.

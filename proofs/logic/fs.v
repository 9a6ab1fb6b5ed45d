(** * Rules of the file system

    A directory is one assertion, [dir ↦dir[b] m]: for each name the inode that it
    stands for now and the inodes that a crash may leave it instead.  An inode is
    [i ↦inode[b] n], which may be made persistent when nobody appends any more; a
    descriptor is [fd ↦fd[b] (i, w)].  All of them belong to the boot [b]; the last
    section says what a crash makes of them. *)
From ashlar.logic Require Export wp.
From ashlar.lang Require Import notation.

Notation "dir '↦dir[' b ] m" := (dir_is b dir m)
  (at level 20, b at level 50, format "dir  '↦dir[' b ]  m") : bi_scope.
Notation "i '↦inode[' b ] n" := (inode_is b i (DfracOwn 1) n)
  (at level 20, b at level 50, format "i  '↦inode[' b ]  n") : bi_scope.
Notation "i '↦inode[' b ]□ n" := (inode_is b i DfracDiscarded n)
  (at level 20, b at level 50, format "i  '↦inode[' b ]□  n") : bi_scope.
Notation "fd '↦fd[' b ] p" := (fd_is b fd p)
  (at level 20, b at level 50, format "fd  '↦fd[' b ]  p") : bi_scope.

(** ** Names of a directory *)
Notation names_map := (gmap (list Z) (cached (option Z))).
Definition name_now (m : names_map) (name : list Z) : option Z := ca_latest (entry m name).
Definition name_set (name : list Z) (i : option Z) (m : names_map) : names_map :=
  <[name := ca_write i (entry m name)]> m.

Lemma entry_set_eq name i m : entry (name_set name i m) name = ca_write i (entry m name).
Proof. by rewrite /name_set /entry lookup_insert. Qed.
Lemma entry_set_ne name name2 i m : name2 ≠ name → entry (name_set name i m) name2 = entry m name2.
Proof. intros Hne. by rewrite /name_set /entry lookup_insert_ne. Qed.
Lemma entry_flush m name : entry (ca_flush <$> m) name = ca_flush (entry m name).
Proof. rewrite /entry lookup_fmap. by destruct (m !! name). Qed.
Lemma name_now_set_eq name i m : name_now (name_set name i m) name = i.
Proof. by rewrite /name_now entry_set_eq. Qed.
Lemma name_now_set_ne name name2 i m :
  name2 ≠ name → name_now (name_set name i m) name2 = name_now m name2.
Proof. intros Hne. by rewrite /name_now entry_set_ne. Qed.
Lemma name_now_flush m name : name_now (ca_flush <$> m) name = name_now m name.
Proof. by rewrite /name_now entry_flush. Qed.

Lemma fs_entry_now f dir m name : fs_dirs f !! dir = Some m → fs_entry f dir name = name_now m name.
Proof. intros Hm. by rewrite /fs_entry Hm. Qed.

(** The names that a directory has now, in some order. *)
Definition names_now (m : names_map) : list (list Z) :=
  (filter (λ p, is_Some (ca_latest p.2)) (map_to_list m)).*1.
Lemma names_now_spec m name : name ∈ names_now m ↔ is_Some (name_now m name).
Proof.
  rewrite /names_now elem_of_list_fmap /name_now /entry. split.
  - intros ([n c] & -> & [Hc Hin]%elem_of_list_filter). apply elem_of_map_to_list in Hin.
    simpl in *. by rewrite Hin.
  - destruct (m !! name) as [c|] eqn:Hc; [|by intros [? ?]]. intros H. exists (name, c).
    split; [done|]. apply elem_of_list_filter. split; [done|]. by apply elem_of_map_to_list.
Qed.
Lemma names_now_nodup m : NoDup (names_now m).
Proof.
  rewrite /names_now. pose proof (NoDup_fst_map_to_list m) as Hnd. revert Hnd.
  induction (map_to_list m) as [|[n c] l IH]; simpl; [constructor|].
  intros [Hn Hl]%NoDup_cons. destruct (decide (is_Some (ca_latest (n, c).2))) as [Hs|Hs].
  - rewrite filter_cons_True //=. apply NoDup_cons. split; [|by apply IH].
    intros Hin. apply Hn. revert Hin. rewrite !elem_of_list_fmap.
    intros (x & -> & [_ Hx]%elem_of_list_filter). by exists x.
  - rewrite filter_cons_False //. by apply IH.
Qed.

Lemma fresh_number {A} (m : gmap Z A) : ∃ i, (0 ≤ i)%Z ∧ m !! i = None.
Proof.
  set (X := set_map (D:=gset nat) Z.to_nat (dom m)).
  exists (Z.of_nat (fresh X)). split; [lia|]. apply not_elem_of_dom. intros Hin.
  apply (is_fresh X). apply elem_of_map. exists (Z.of_nat (fresh X)). split; [lia|done].
Qed.

Lemma alter_at {K A} `{Countable K} (g : A → A) (m : gmap K A) k x :
  m !! k = Some x → alter g k m = <[k := g x]> m.
Proof.
  intros Hk. apply map_eq. intros j. destruct (decide (j = k)) as [->|Hne].
  - by rewrite lookup_alter lookup_insert Hk.
  - by rewrite lookup_alter_ne // lookup_insert_ne.
Qed.

(** ** Steps of the file system as steps of a node *)
Definition is_fs_op (op : dev_op) : bool :=
  match op with
  | FsCreate | FsOpen | FsAppend | FsReadAt | FsSize | FsClose
  | FsLink | FsUnlink | FsList | FsSync | FsSyncDir => true
  | _ => false
  end.
Lemma dev_step_fs op v dv r dv2 : is_fs_op op = true →
  dev_step op v dv r dv2 → ∃ f2, fs_step op v (dv_fs dv) r f2 ∧ dv2 = set_fs f2 dv.
Proof.
  intros Hop Hstep. inversion Hstep; subst; [| | |by eauto].
  - match goal with H : disk_step _ _ _ _ _ |- _ => destruct H; done end.
  - match goal with H : two_step _ _ _ _ _ |- _ => destruct H; done end.
  - match goal with H : async_step _ _ _ _ _ |- _ => destruct H; done end.
Qed.

Section rules.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (m : names_map) (dir name : list Z).

  Global Instance dir_is_timeless b dir m : Timeless (dir_is b dir m). Proof. apply _. Qed.
  Global Instance inode_is_timeless b i dq n : Timeless (inode_is b i dq n). Proof. apply _. Qed.
  Global Instance fd_is_timeless b fd p : Timeless (fd_is b fd p). Proof. apply _. Qed.
  Global Instance inode_is_persistent b i n : Persistent (inode_is b i DfracDiscarded n).
  Proof. apply _. Qed.

  Lemma inode_is_persist b i n : i ↦inode[b] n ==∗ i ↦inode[b]□ n.
  Proof.
    iIntros "(%γs & %vn & Hb & Hi)". iMod (ghost_map_elem_persist with "Hi") as "Hi".
    iModIntro. iExists γs, vn. iFrame.
  Qed.
  Lemma inode_is_agree b i dq1 dq2 n1 n2 :
    inode_is b i dq1 n1 -∗ inode_is b i dq2 n2 -∗ ⌜n1 = n2⌝.
  Proof.
    iIntros "(%γs & %vn & #Hb & Hi) (%γs2 & %vn2 & #Hb2 & Hi2)".
    iDestruct (boot_is_agree with "Hb Hb2") as %[-> ->].
    by iDestruct (ghost_map_elem_agree with "Hi Hi2") as %->.
  Qed.

  Lemma dirs_lookup vn d dir m :
    dirs_interp vn d -∗ dir ↪[vn_dir vn] m -∗ ⌜d !! dir = Some m⌝.
  Proof. iIntros "[Hd _] Hdir". by iDestruct (ghost_map_lookup with "Hd Hdir") as %?. Qed.
  Lemma dirs_update m2 vn d dir m :
    dirs_interp vn d -∗ dir ↪[vn_dir vn] m ==∗ dirs_interp vn (<[dir := m2]> d) ∗ dir ↪[vn_dir vn] m2.
  Proof.
    iIntros "[Hd %Hdom] Hdir". iDestruct (ghost_map_lookup with "Hd Hdir") as %Hm.
    iMod (ghost_map_update m2 with "Hd Hdir") as "[$ $]". iPureIntro.
    rewrite dom_insert_L -Hdom. apply elem_of_dom_2 in Hm. set_solver.
  Qed.

  (** Directories never come or go. *)
  Definition dir_exists b dir : iProp Σ := ∃ γs vn, boot_is b γs vn ∗ ⌜dir ∈ vn_dirs vn⌝.
  Global Instance dir_exists_persistent b dir : Persistent (dir_exists b dir). Proof. apply _. Qed.
  Global Instance dir_exists_timeless b dir : Timeless (dir_exists b dir). Proof. apply _. Qed.

  (** A call of the file system, in the state that it finds. *)
  Lemma wpe_fs_op b γs vn E op v Φ : is_fs_op op = true →
    boot_is b γs vn -∗
    (∀ f, fs_interp vn f ={E}=∗ ⌜∃ r f2, fs_step op v f r f2⌝ ∗
       ▷ ∀ r f2, ⌜fs_step op v f r f2⌝ ={E}=∗ fs_interp vn f2 ∗ Φ r) -∗
    WP Eff (DevOp op) (Val v) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hop) "#Hboot H". iApply wpe_lift_eff; [done|].
    iIntros ([ep h dv] t Hep) "(Hcur & Hheap & Hdur & Hb) Ht". simpl in Hep. subst ep.
    iDestruct "Hb" as (bm γs2 vn2) "(Hbm & %Hbm & %Hnew & Hasync & Hfs)". simpl in *.
    iDestruct (ghost_map_lookup with "Hbm Hboot") as %Hlk. rewrite Hlk in Hbm.
    injection Hbm as <- <-.
    iMod ("H" with "Hfs") as "[%Hred H]". destruct Hred as (r & f2 & Hstep).
    iModIntro. iSplit. { iPureIntro. do 4 eexists. apply DevS. by apply DevFsS. }
    iNext. iIntros (r2 ns2 t2 efs Hes). inversion Hes; subst.
    { match goal with H : mem_step _ _ _ _ _ |- _ => inversion H end. }
    { match goal with H : choose_step _ _ _ |- _ => inversion H end. }
    match goal with H : dev_step _ _ _ _ _ |- _ =>
      apply dev_step_fs in H as (f3 & Hf3 & ->); [|done] end.
    iMod ("H" with "[//]") as "[Hfs $]". iModIntro. iFrame "Hcur Hheap Ht Hdur".
    iSplitL; [|done]. iExists bm, γs, vn. iFrame. done.
  Qed.

  Ltac fs_start H :=
    iDestruct H as (γs vn) "[#Hboot Hown]"; iApply (wpe_fs_op with "Hboot"); [done|];
    iIntros (f) "(Hdirs & Hinodes & Hfds)".
  (** Elements of the same boot as those that [fs_start] opened. *)
  Ltac fs_also H new :=
    let γs2 := fresh in let vn2 := fresh in
    iDestruct H as (γs2 vn2) "[#Hboot2 Hmore]";
    iDestruct (boot_is_agree with "Hboot Hboot2") as %[<- <-]; iClear "Hboot2";
    iRename "Hmore" into new.
  (** The result of the step that was taken. *)
  Ltac fs_inv Hs :=
    inversion Hs; simplify_eq;
    repeat match goal with
    | Hm : fs_dirs ?f !! ?dir = Some ?m, H : fs_entry ?f ?dir _ = _ |- _ =>
      rewrite (fs_entry_now _ _ _ _ Hm) in H
    end; simplify_eq; try congruence.
  Ltac fs_give := iExists _, _; iFrame "Hboot"; by iFrame.

  (** ** Create *)
  Lemma wpe_fs_create b E dir name m Φ :
    name_now m name = None →
    dir ↦dir[b] m -∗
    ▷ (∀ fd i, dir ↦dir[b] name_set name (Some i) m -∗ i ↦inode[b] Inode [] 0 -∗
         fd ↦fd[b] (i, true) -∗ Φ (PairV (vfd fd) (vbool true))) -∗
    WP Eff (DevOp FsCreate) (Val (PairV (vstr dir) (vstr name))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hnone) "Hd HΦ". fs_start "Hd".
    iDestruct (dirs_lookup with "Hdirs Hown") as %Hm.
    destruct (fresh_number (fs_inodes f)) as (i & Hi & Hfi).
    destruct (fresh_number (fs_fds f)) as (fd & Hfd & Hffd).
    iModIntro. iSplit.
    { iPureIntro. do 2 eexists. apply (FsCreateS _ _ i fd); eauto. by rewrite (fs_entry_now _ _ m). }
    iNext. iIntros (r f2 Hs). clear Hi Hfi Hfd Hffd. fs_inv Hs.
    iMod (dirs_update (name_set name (Some i0) m) with "Hdirs Hown") as "[Hdirs Hown]".
    iMod (ghost_map_insert i0 (Inode [] 0) with "Hinodes") as "[Hinodes Hinode]"; [done|].
    iMod (ghost_map_insert fd0 (i0, true) with "Hfds") as "[Hfds Hfd]"; [done|].
    iModIntro. rewrite /fs_interp /= (alter_at _ _ _ _ Hm). iFrame.
    iApply ("HΦ" with "[Hown] [Hinode] [Hfd]"); fs_give.
  Qed.
  Lemma wpe_fs_create_taken b E dir name m i Φ :
    name_now m name = Some i →
    dir ↦dir[b] m -∗
    ▷ (dir ↦dir[b] m -∗ Φ (PairV (vfd 0%Z) (vbool false))) -∗
    WP Eff (DevOp FsCreate) (Val (PairV (vstr dir) (vstr name))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hsome) "Hd HΦ". fs_start "Hd".
    iDestruct (dirs_lookup with "Hdirs Hown") as %Hm.
    iModIntro. iSplit.
    { iPureIntro. do 2 eexists. eapply FsCreateTakenS. by rewrite (fs_entry_now _ _ m). }
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iModIntro. iFrame. iApply "HΦ". fs_give.
  Qed.

  (** ** Open, for reading *)
  Lemma wpe_fs_open b E dir name m i Φ :
    name_now m name = Some i →
    dir ↦dir[b] m -∗
    ▷ (∀ fd, dir ↦dir[b] m -∗ fd ↦fd[b] (i, false) -∗ Φ (PairV (vfd fd) (vbool true))) -∗
    WP Eff (DevOp FsOpen) (Val (PairV (vstr dir) (vstr name))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hsome) "Hd HΦ". fs_start "Hd".
    iDestruct (dirs_lookup with "Hdirs Hown") as %Hm.
    destruct (fresh_number (fs_fds f)) as (fd & Hfd & Hffd).
    iModIntro. iSplit.
    { iPureIntro. do 2 eexists. eapply (FsOpenS _ _ i fd); eauto. by rewrite (fs_entry_now _ _ m). }
    iNext. iIntros (r f2 Hs). clear Hfd Hffd. fs_inv Hs.
    iMod (ghost_map_insert fd0 (i, false) with "Hfds") as "[Hfds Hfd]"; [done|].
    iModIntro. rewrite /fs_interp /=. iFrame.
    iApply ("HΦ" with "[Hown] [Hfd]"); fs_give.
  Qed.
  Lemma wpe_fs_open_missing b E dir name m Φ :
    name_now m name = None →
    dir ↦dir[b] m -∗
    ▷ (dir ↦dir[b] m -∗ Φ (PairV (vfd 0%Z) (vbool false))) -∗
    WP Eff (DevOp FsOpen) (Val (PairV (vstr dir) (vstr name))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hnone) "Hd HΦ". fs_start "Hd".
    iDestruct (dirs_lookup with "Hdirs Hown") as %Hm.
    iModIntro. iSplit.
    { iPureIntro. do 2 eexists. eapply FsOpenMissingS; [by eauto|]. by rewrite (fs_entry_now _ _ m). }
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iModIntro. iFrame. iApply "HΦ". fs_give.
  Qed.

  (** ** What is done to an open file *)
  Lemma wpe_fs_append b E fd i n s Φ :
    fd ↦fd[b] (i, true) -∗ i ↦inode[b] n -∗
    ▷ (fd ↦fd[b] (i, true) -∗ i ↦inode[b] Inode (in_data n ++ s) (in_synced n) -∗ Φ (LitV LitUnit)) -∗
    WP Eff (DevOp FsAppend) (Val (PairV (vfd fd) (vstr s))) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hfd Hi HΦ". fs_start "Hfd". fs_also "Hi" "Hinode".
    iDestruct (ghost_map_lookup with "Hfds Hown") as %Hfd.
    iDestruct (ghost_map_lookup with "Hinodes Hinode") as %Hi.
    iModIntro. iSplit; [iPureIntro; do 2 eexists; by eapply FsAppendS|].
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iMod (ghost_map_update (Inode (in_data n ++ s) (in_synced n)) with "Hinodes Hinode")
      as "[Hinodes Hinode]".
    iModIntro. rewrite /fs_interp /=. iFrame. iApply ("HΦ" with "[Hown] [Hinode]"); fs_give.
  Qed.
  Lemma wpe_fs_read_at b E fd i dq n off len Φ :
    fd ↦fd[b] (i, false) -∗ inode_is b i dq n -∗
    ▷ (fd ↦fd[b] (i, false) -∗ inode_is b i dq n -∗
       Φ (vstr (take (Z.to_nat len) (drop (Z.to_nat off) (in_data n))))) -∗
    WP Eff (DevOp FsReadAt)
      (Val (PairV (vfd fd) (PairV (LitV (LitInt U64 off)) (LitV (LitInt U64 len))))) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hfd Hi HΦ". fs_start "Hfd". fs_also "Hi" "Hinode".
    iDestruct (ghost_map_lookup with "Hfds Hown") as %Hfd.
    iDestruct (ghost_map_lookup with "Hinodes Hinode") as %Hi.
    iModIntro. iSplit; [iPureIntro; do 2 eexists; by eapply FsReadAtS|].
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iModIntro. iFrame. iApply ("HΦ" with "[Hown] [Hinode]"); fs_give.
  Qed.
  Lemma wpe_fs_size b E fd i w dq n Φ :
    fd ↦fd[b] (i, w) -∗ inode_is b i dq n -∗
    ▷ (fd ↦fd[b] (i, w) -∗ inode_is b i dq n -∗
       Φ (LitV (LitInt U64 (wrap U64 (length (in_data n)))))) -∗
    WP Eff (DevOp FsSize) (Val (vfd fd)) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hfd Hi HΦ". fs_start "Hfd". fs_also "Hi" "Hinode".
    iDestruct (ghost_map_lookup with "Hfds Hown") as %Hfd.
    iDestruct (ghost_map_lookup with "Hinodes Hinode") as %Hi.
    iModIntro. iSplit; [iPureIntro; do 2 eexists; by eapply FsSizeS|].
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iModIntro. iFrame. iApply ("HΦ" with "[Hown] [Hinode]"); fs_give.
  Qed.
  Lemma wpe_fs_close b E fd p Φ :
    fd ↦fd[b] p -∗ ▷ Φ (LitV LitUnit) -∗
    WP Eff (DevOp FsClose) (Val (vfd fd)) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hfd HΦ". fs_start "Hfd".
    iDestruct (ghost_map_lookup with "Hfds Hown") as %Hfd.
    iModIntro. iSplit; [iPureIntro; do 2 eexists; by eapply FsCloseS|].
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iMod (ghost_map_delete with "Hfds Hown") as "Hfds".
    iModIntro. rewrite /fs_interp /=. iFrame.
  Qed.
  Lemma wpe_fs_sync b E fd i w n Φ :
    fd ↦fd[b] (i, w) -∗ i ↦inode[b] n -∗
    ▷ (fd ↦fd[b] (i, w) -∗ i ↦inode[b] Inode (in_data n) (length (in_data n)) -∗ Φ (LitV LitUnit)) -∗
    WP Eff (DevOp FsSync) (Val (vfd fd)) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hfd Hi HΦ". fs_start "Hfd". fs_also "Hi" "Hinode".
    iDestruct (ghost_map_lookup with "Hfds Hown") as %Hfd.
    iDestruct (ghost_map_lookup with "Hinodes Hinode") as %Hi.
    iModIntro. iSplit; [iPureIntro; do 2 eexists; by eapply FsSyncS|].
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iMod (ghost_map_update (Inode (in_data n) (length (in_data n))) with "Hinodes Hinode")
      as "[Hinodes Hinode]".
    iModIntro. rewrite /fs_interp /=. iFrame. iApply ("HΦ" with "[Hown] [Hinode]"); fs_give.
  Qed.

  (** ** What is done to names *)
  Lemma wpe_fs_link b E dir name m dir2 name2 m2 i Φ :
    name_now m name = Some i → name_now m2 name2 = None →
    dir ↦dir[b] m -∗ dir2 ↦dir[b] m2 -∗
    ▷ (dir ↦dir[b] m -∗ dir2 ↦dir[b] name_set name2 (Some i) m2 -∗ Φ (vbool true)) -∗
    WP Eff (DevOp FsLink) (Val (PairV (PairV (vstr dir) (vstr name)) (PairV (vstr dir2) (vstr name2))))
      @ b; E {{ Φ }}.
  Proof.
    iIntros (Hsome Hnone) "Hd Hd2 HΦ". fs_start "Hd". fs_also "Hd2" "Hdir2".
    iDestruct (dirs_lookup with "Hdirs Hown") as %Hm.
    iDestruct (dirs_lookup with "Hdirs Hdir2") as %Hm2.
    iModIntro. iSplit.
    { iPureIntro. do 2 eexists. eapply FsLinkS; [by rewrite (fs_entry_now _ _ m)|by eauto|].
      by rewrite (fs_entry_now _ _ m2). }
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iMod (dirs_update (name_set name2 (Some i) m2) with "Hdirs Hdir2") as "[Hdirs Hdir2]".
    iModIntro. rewrite /fs_interp /= (alter_at _ _ _ _ Hm2). iFrame.
    iApply ("HΦ" with "[Hown] [Hdir2]"); fs_give.
  Qed.
  Lemma wpe_fs_link_taken b E dir name m dir2 name2 m2 i j Φ :
    name_now m name = Some i → name_now m2 name2 = Some j →
    dir ↦dir[b] m -∗ dir2 ↦dir[b] m2 -∗
    ▷ (dir ↦dir[b] m -∗ dir2 ↦dir[b] m2 -∗ Φ (vbool false)) -∗
    WP Eff (DevOp FsLink) (Val (PairV (PairV (vstr dir) (vstr name)) (PairV (vstr dir2) (vstr name2))))
      @ b; E {{ Φ }}.
  Proof.
    iIntros (Hsome Hsome2) "Hd Hd2 HΦ". fs_start "Hd". fs_also "Hd2" "Hdir2".
    iDestruct (dirs_lookup with "Hdirs Hown") as %Hm.
    iDestruct (dirs_lookup with "Hdirs Hdir2") as %Hm2.
    iModIntro. iSplit.
    { iPureIntro. do 2 eexists. eapply FsLinkTakenS; [by rewrite (fs_entry_now _ _ m)|].
      by rewrite (fs_entry_now _ _ m2). }
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iModIntro. iFrame. iApply ("HΦ" with "[Hown] [Hdir2]"); fs_give.
  Qed.
  Lemma wpe_fs_unlink b E dir name m i Φ :
    name_now m name = Some i →
    dir ↦dir[b] m -∗
    ▷ (dir ↦dir[b] name_set name None m -∗ Φ (LitV LitUnit)) -∗
    WP Eff (DevOp FsUnlink) (Val (PairV (vstr dir) (vstr name))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hsome) "Hd HΦ". fs_start "Hd".
    iDestruct (dirs_lookup with "Hdirs Hown") as %Hm.
    iModIntro. iSplit.
    { iPureIntro. do 2 eexists. eapply FsUnlinkS. by rewrite (fs_entry_now _ _ m). }
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iMod (dirs_update (name_set name None m) with "Hdirs Hown") as "[Hdirs Hown]".
    iModIntro. rewrite /fs_interp /= (alter_at _ _ _ _ Hm). iFrame.
    iApply ("HΦ" with "[Hown]"); fs_give.
  Qed.
  Lemma wpe_fs_list b E dir m Φ :
    dir ↦dir[b] m -∗
    ▷ (∀ l, ⌜NoDup l⌝ -∗ ⌜∀ name, name ∈ l ↔ is_Some (name_now m name)⌝ -∗ dir ↦dir[b] m -∗
         Φ (list_val ((λ s, vstr s) <$> l))) -∗
    WP Eff (DevOp FsList) (Val (vstr dir)) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hd HΦ". fs_start "Hd".
    iDestruct (dirs_lookup with "Hdirs Hown") as %Hm.
    iModIntro. iSplit.
    { iPureIntro. do 2 eexists. apply (FsListS _ m (names_now m)); [done|apply names_now_nodup|].
      apply names_now_spec. }
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iModIntro. iFrame. iApply ("HΦ" with "[//] [//]"). fs_give.
  Qed.
  Lemma wpe_fs_sync_dir b E dir m Φ :
    dir ↦dir[b] m -∗
    ▷ (dir ↦dir[b] (ca_flush <$> m) -∗ Φ (LitV LitUnit)) -∗
    WP Eff (DevOp FsSyncDir) (Val (vstr dir)) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hd HΦ". fs_start "Hd".
    iDestruct (dirs_lookup with "Hdirs Hown") as %Hm.
    iModIntro. iSplit; [iPureIntro; do 2 eexists; apply FsSyncDirS; by eauto|].
    iNext. iIntros (r f2 Hs). fs_inv Hs.
    iMod (dirs_update (ca_flush <$> m) with "Hdirs Hown") as "[Hdirs Hown]".
    iModIntro. rewrite /fs_interp /= (alter_at _ _ _ _ Hm). iFrame.
    iApply ("HΦ" with "[Hown]"); fs_give.
  Qed.

  (** ** Crash: what an assertion of the old boot says of the new file system *)
  Section crash.
    Context (b : boot) (γs : list gname) (vn : volatile_names) (f f2 : filesys).
    Context (Hcrash : fs_crash f f2).

    Lemma fs_crash_dir dir m :
      boot_is b γs vn -∗ fs_interp vn f -∗ dir ↦dir[b] m -∗
      ⌜∃ m2, fs_dirs f2 !! dir = Some m2 ∧ names_crash m m2⌝.
    Proof.
      iIntros "Hb (Hd & _) (%γs2 & %vn2 & Hb2 & Hdir)".
      iDestruct (boot_is_agree with "Hb Hb2") as %[<- <-].
      iDestruct (dirs_lookup with "Hd Hdir") as %Hm. iPureIntro.
      destruct Hcrash as (_ & Hdirs & _). specialize (Hdirs dir). rewrite Hm in Hdirs.
      destruct (fs_dirs f2 !! dir) as [m2|]; [by eauto|done].
    Qed.
    Lemma fs_crash_dir_exists dir :
      boot_is b γs vn -∗ fs_interp vn f -∗ dir_exists b dir -∗ ⌜is_Some (fs_dirs f2 !! dir)⌝.
    Proof.
      iIntros "Hb ((_ & %Hdom) & _) (%γs2 & %vn2 & Hb2 & %Hdir)".
      iDestruct (boot_is_agree with "Hb Hb2") as %[<- <-]. iPureIntro.
      rewrite -Hdom in Hdir. apply elem_of_dom in Hdir as [m Hm].
      destruct Hcrash as (_ & Hdirs & _). specialize (Hdirs dir). rewrite Hm in Hdirs.
      destruct (fs_dirs f2 !! dir); [by eauto|done].
    Qed.
    Lemma fs_crash_inode i dq n :
      boot_is b γs vn -∗ fs_interp vn f -∗ inode_is b i dq n -∗
      ⌜∃ n2, fs_inodes f2 !! i = Some n2 ∧ inode_crash n n2⌝.
    Proof.
      iIntros "Hb (_ & Hi & _) (%γs2 & %vn2 & Hb2 & Hinode)".
      iDestruct (boot_is_agree with "Hb Hb2") as %[<- <-].
      iDestruct (ghost_map_lookup with "Hi Hinode") as %Hn. iPureIntro.
      destruct Hcrash as (_ & _ & Hinodes). specialize (Hinodes i). rewrite Hn in Hinodes.
      destruct (fs_inodes f2 !! i) as [n2|]; [by eauto|done].
    Qed.
  End crash.
End rules.

(** A synced file is what it was. *)
Lemma inode_crash_synced n n2 :
  in_synced n = length (in_data n) → inode_crash n n2 → n2 = n.
Proof.
  intros Hs (tail & Hd & Hlen & _ & Hs2). rewrite Hs firstn_all in Hd.
  assert (tail = []) as ->.
  { rewrite Hd app_length in Hlen. destruct tail; [done|simpl in Hlen; lia]. }
  rewrite app_nil_r in Hd. destruct n as [d s], n2 as [d2 s2]. simpl in *. by subst.
Qed.
(** Directories that nobody touched since they were synced are what they were. *)
Lemma names_crash_now m m2 name i :
  names_crash m m2 → entry m name = ca_new i → entry m2 name = ca_new i.
Proof.
  intros Hc He. destruct (Hc name) as (j & Hj & ->). rewrite He in Hj.
  by apply elem_of_list_singleton in Hj as ->.
Qed.

(** * Ghost state of the devices of a node

    The synchronous disks keep what they hold over a crash, and so do their
    points-to assertions.  The asynchronous disk and the file system may lose
    something in a crash, so their assertions belong to one boot: each boot has
    ghost maps of its own, filled when it begins. *)
From iris.proofmode Require Export proofmode.
From iris.base_logic.lib Require Export ghost_map ghost_var mono_nat own.
From ashlar.lang Require Export semantics.

Class devG Σ := DevG {
  devG_disk : ghost_mapG Σ Z (list Z);
  devG_failed : ghost_mapG Σ () bool;
  devG_async : ghost_mapG Σ Z (cached (list Z));
  devG_dir : ghost_mapG Σ (list Z) (gmap (list Z) (cached (option Z)));
  devG_inode : ghost_mapG Σ Z inode;
  devG_fd : ghost_mapG Σ Z (Z * bool);
}.
Global Existing Instances devG_disk devG_failed devG_async devG_dir devG_inode devG_fd.
Definition devΣ : gFunctors :=
  #[ghost_mapΣ Z (list Z); ghost_mapΣ () bool; ghost_mapΣ Z (cached (list Z));
    ghost_mapΣ (list Z) (gmap (list Z) (cached (option Z)));
    ghost_mapΣ Z inode; ghost_mapΣ Z (Z * bool)].
Global Instance subG_devΣ Σ : subG devΣ Σ → devG Σ.
Proof. solve_inG. Qed.

(** Names that last as long as the node, and the sizes, which never change. *)
Record durable_names := DurableNames {
  dn_disk : gname; dn_two0 : gname; dn_two1 : gname; dn_failed : gname;
  dn_disk_size : Z; dn_two_size : Z; dn_async_size : Z }.
(** Names of one boot. *)
Record volatile_names := VolatileNames {
  vn_async : gname; vn_dir : gname; vn_inode : gname; vn_fd : gname;
  vn_dirs : gset (list Z) (* the directories that there are *) }.
Global Instance durable_names_inhabited : Inhabited durable_names :=
  populate (DurableNames inhabitant inhabitant inhabitant inhabitant 0 0 0).
Global Instance volatile_names_inhabited : Inhabited volatile_names :=
  populate (VolatileNames inhabitant inhabitant inhabitant inhabitant ∅).

(** [c] over-approximates what a crash may leave of [c']. *)
Definition ca_covers {A} (c c' : cached A) : Prop :=
  ca_latest c = ca_latest c' ∧ ∀ x, x ∈ ca_possible c' → x ∈ ca_possible c.
Definition async_covers (m d : async_disk) : Prop :=
  dom m = dom d ∧ ∀ a c, m !! a = Some c → ∃ c', d !! a = Some c' ∧ ca_covers c c'.

Section interp.
  Context `{!devG Σ}.

  Definition failed_map (t : two_disk) : gmap () bool :=
    match td_failed t with None => ∅ | Some i => {[tt := i]} end.

  (** That a disk has failed is for good: who meets it learns so. *)
  Definition failed_interp (dn : durable_names) (t : two_disk) : iProp Σ :=
    ghost_map_auth (dn_failed dn) 1 (failed_map t) ∗
    [∗ map] k ↦ i ∈ failed_map t, k ↪[dn_failed dn]□ i.

  Lemma failed_alloc t :
    ⊢ |==> ∃ γ, ghost_map_auth γ 1 (failed_map t) ∗ [∗ map] k ↦ i ∈ failed_map t, k ↪[γ]□ i.
  Proof.
    iMod (ghost_map_alloc (failed_map t)) as (γ) "[Hf Hi]". iExists γ. iFrame "Hf".
    iApply big_sepM_bupd. iApply (big_sepM_impl with "Hi").
    iIntros "!>" (k i _) "Hi". by iMod (ghost_map_elem_persist with "Hi") as "$".
  Qed.

  Definition durable_interp (dn : durable_names) (dv : devices) : iProp Σ :=
    ghost_map_auth (dn_disk dn) 1 (dv_disk dv) ∗
    ghost_map_auth (dn_two0 dn) 1 (td_0 (dv_two dv)) ∗
    ghost_map_auth (dn_two1 dn) 1 (td_1 (dv_two dv)) ∗
    failed_interp dn (dv_two dv) ∗
    ⌜Z.of_nat (size (dv_disk dv)) = dn_disk_size dn⌝ ∗
    ⌜Z.of_nat (size (td_0 (dv_two dv))) = dn_two_size dn⌝ ∗
    ⌜Z.of_nat (size (dv_async dv)) = dn_async_size dn⌝.

  Definition async_interp (vn : volatile_names) (d : async_disk) : iProp Σ :=
    ∃ m, ghost_map_auth (vn_async vn) 1 m ∗ ⌜async_covers m d⌝.
  (** A directory is one element: its owner sees every name in it. *)
  Definition dirs_interp (vn : volatile_names) (d : gmap (list Z) (gmap (list Z) (cached (option Z))))
    : iProp Σ := ghost_map_auth (vn_dir vn) 1 d ∗ ⌜dom d = vn_dirs vn⌝.
  Definition fs_interp (vn : volatile_names) (f : filesys) : iProp Σ :=
    dirs_interp vn (fs_dirs f) ∗
    ghost_map_auth (vn_inode vn) 1 (fs_inodes f) ∗
    ghost_map_auth (vn_fd vn) 1 (fs_fds f).
  Definition volatile_interp (vn : volatile_names) (dv : devices) : iProp Σ :=
    async_interp vn (dv_async dv) ∗ fs_interp vn (dv_fs dv).

  (** What a boot owns at its beginning: an element for everything there is. *)
  Definition fs_elements (vn : volatile_names) (f : filesys) : iProp Σ :=
    ([∗ map] dir ↦ m ∈ fs_dirs f, dir ↪[vn_dir vn] m) ∗
    ([∗ map] i ↦ n ∈ fs_inodes f, i ↪[vn_inode vn] n).
  Definition volatile_elements (vn : volatile_names) (dv : devices) : iProp Σ :=
    ([∗ map] a ↦ c ∈ dv_async dv, a ↪[vn_async vn] c) ∗ fs_elements vn (dv_fs dv).

  Lemma volatile_alloc dv : fs_fds (dv_fs dv) = ∅ →
    ⊢ |==> ∃ vn, volatile_interp vn dv ∗ volatile_elements vn dv.
  Proof.
    iIntros (Hfds).
    iMod (ghost_map_alloc (dv_async dv)) as (γa) "[Ha Has]".
    iMod (ghost_map_alloc (fs_dirs (dv_fs dv))) as (γn) "[Hn Hns]".
    iMod (ghost_map_alloc (fs_inodes (dv_fs dv))) as (γi) "[Hi His]".
    iMod (ghost_map_alloc (fs_fds (dv_fs dv))) as (γf) "[Hf _]".
    iModIntro. iExists (VolatileNames γa γn γi γf (dom (fs_dirs (dv_fs dv)))).
    rewrite /volatile_interp /async_interp /fs_interp /dirs_interp /volatile_elements /fs_elements /=. iFrame.
    iSplitL; [|done].
    iExists _. iFrame. iPureIntro. split; [done|]. intros a c Hc. exists c. done.
  Qed.
End interp.

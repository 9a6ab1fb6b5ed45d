(** * The devices of one node, and what a crash does to them *)
From ashlar.trusted Require Export disk filesys.

Record devices := Devices {
  dv_disk : disk; dv_two : two_disk; dv_async : async_disk; dv_fs : filesys }.

Definition set_disk d dv := Devices d (dv_two dv) (dv_async dv) (dv_fs dv).
Definition set_two d dv := Devices (dv_disk dv) d (dv_async dv) (dv_fs dv).
Definition set_async d dv := Devices (dv_disk dv) (dv_two dv) d (dv_fs dv).
Definition set_fs d dv := Devices (dv_disk dv) (dv_two dv) (dv_async dv) d.

Definition no_two : two_disk := TwoDisk ∅ ∅ None.
Definition no_fs : filesys := Filesys ∅ ∅ ∅.
Definition no_devices : devices := Devices ∅ no_two ∅ no_fs.

Inductive dev_step : dev_op → val → devices → val → devices → Prop :=
  | DevDiskS op v dv r d' : disk_step op v (dv_disk dv) r d' → dev_step op v dv r (set_disk d' dv)
  | DevTwoS op v dv r d' : two_step op v (dv_two dv) r d' → dev_step op v dv r (set_two d' dv)
  | DevAsyncS op v dv r d' : async_step op v (dv_async dv) r d' → dev_step op v dv r (set_async d' dv)
  | DevFsS op v dv r d' : fs_step op v (dv_fs dv) r d' → dev_step op v dv r (set_fs d' dv).

Definition dev_crash (dv dv' : devices) : Prop :=
  dv_disk dv' = dv_disk dv ∧ dv_two dv' = dv_two dv ∧
  async_crash (dv_async dv) (dv_async dv') ∧ fs_crash (dv_fs dv) (dv_fs dv').

Lemma async_crash_exists d : ∃ d', async_crash d d'.
Proof.
  exists ((λ c, ca_new (ca_latest c)) <$> d). split.
  - by rewrite dom_fmap_L.
  - intros a c Ha. exists (ca_latest c). rewrite lookup_fmap Ha. split; [by left|done].
Qed.

Lemma fs_crash_exists f : ∃ f', fs_crash f f'.
Proof.
  exists (Filesys ((λ m : gmap _ _, (λ c, ca_new (ca_latest c)) <$> m) <$> fs_dirs f)
    ((λ n, Inode (take (in_synced n) (in_data n)) (length (take (in_synced n) (in_data n)))) <$> fs_inodes f) ∅).
  split_and!; simpl; [done|..].
  - intros dir. rewrite lookup_fmap. destruct (fs_dirs f !! dir) as [m|]; simpl; [|done].
    intros name. exists (ca_latest (entry m name)). split; [by left|].
    unfold entry. rewrite lookup_fmap. by destruct (m !! name).
  - intros i. rewrite lookup_fmap. destruct (fs_inodes f !! i) as [n|]; simpl; [|done].
    exists []. simpl. rewrite app_nil_r. split_and!; [done| |done|done]. rewrite take_length. lia.
Qed.

Lemma dev_crash_exists dv : ∃ dv', dev_crash dv dv'.
Proof.
  destruct (async_crash_exists (dv_async dv)) as [d' ?].
  destruct (fs_crash_exists (dv_fs dv)) as [f' ?].
  by exists (Devices (dv_disk dv) (dv_two dv) d' f').
Qed.

(** * The mail store in the file system: what holds between any two steps

    [mail_inv b γ s]: the directories of the users and the files in them stand for
    the state [s] of the specification.  It is the part of the crash invariant that
    is about the file system; a crash makes of it the one of the next boot
    ([mail_inv_crash]).  Each call of the file system that matters has a lemma that
    says what it makes of the invariant.

    The lock of a mailbox protects [lease]: either nobody reads the mailbox, or its
    reader knows a set of names that are there and that stay until the reader
    itself removes them.  Deliveries need no lease: they only add names.

    Of the spool nothing is known at a crash but that it is there: [spool_inv].
    Recovery begins with the knowledge of all its names, and removes them; then
    each delivery owns the name that it makes. *)
From ashlar.lib Require Export decimal.
From ashlar.logic Require Export fs.
From ashlar.mailboat Require Export reads.

Class mailG Σ := MailG {
  mailG_lease : ghost_mapG Σ Z (option (gmap (list Z) Z));
  mailG_spool : ghost_mapG Σ (list Z) Z;
}.
Global Existing Instances mailG_lease mailG_spool.
Definition mailΣ : gFunctors :=
  #[ghost_mapΣ Z (option (gmap (list Z) Z)); ghost_mapΣ (list Z) Z].
Global Instance subG_mailΣ Σ : subG mailΣ Σ → mailG Σ.
Proof. solve_inG. Qed.

Definition spool_dir : list Z := bytes_of "spool".
Definition user_dir (u : Z) : list Z := bytes_of "user" ++ decimal u.

Lemma user_dir_inj u v : in_range U64 u → in_range U64 v → user_dir u = user_dir v → u = v.
Proof. intros Hu Hv H%app_inv_head. by apply decimal_inj. Qed.
Lemma user_dir_spool u : user_dir u ≠ spool_dir.
Proof. done. Qed.

Section inv.
  Context `{!golangGS Σ, !mailG Σ}.
  Implicit Types (b : boot) (u : Z) (s : mail) (L : gmap (list Z) Z) (K : contents).

  Definition lease (γ : gname) u (o : option (gmap (list Z) Z)) : iProp Σ := u ↪[γ] o.
  (** A file whose contents are [d], whole and for good. *)
  Definition is_file b (i : Z) (d : list Z) : iProp Σ := i ↦inode[b]□ Inode d (length d).

  (** What the parts have to do with each other: directories [D], contents [K],
      leases [H], and the state [s]. *)
  Record mail_ok (D : gmap Z names_map) K (H : gmap Z (option (gmap (list Z) Z))) s : Prop := {
    (* there is a directory and a lease for each user *)
    ok_users : dom D = dom (boxes s);
    ok_leases : dom H = dom (boxes s);
    ok_range : ∀ u, u ∈ dom (boxes s) → in_range U64 u;
    (* a directory shows its mailbox *)
    ok_reads : ∀ u m box, D !! u = Some m → boxes s !! u = Some box → dir_reads K m box;
    (* a mailbox is held when somebody reads it *)
    ok_held : ∀ u, u ∈ held s ↔ ∃ L, H !! u = Some (Some L);
    (* and what the reader found is there *)
    ok_lease : ∀ u L m id i, H !! u = Some (Some L) → D !! u = Some m → L !! id = Some i →
      name_now m id = Some i;
  }.
  Definition mail_inv b γ s : iProp Σ :=
    ∃ D K H,
      ([∗ map] u ↦ m ∈ D, user_dir u ↦dir[b] m) ∗
      ([∗ map] i ↦ d ∈ K, is_file b i d) ∗
      ghost_map_auth γ 1 H ∗
      ⌜mail_ok D K H s⌝.

  Global Instance is_file_persistent b i d : Persistent (is_file b i d).
  Proof. apply _. Qed.
  Global Instance is_file_timeless b i d : Timeless (is_file b i d).
  Proof. apply _. Qed.
  Global Instance mail_inv_timeless b γ s : Timeless (mail_inv b γ s).
  Proof. apply _. Qed.
  Global Instance lease_timeless γ u o : Timeless (lease γ u o).
  Proof. apply _. Qed.

  (** The spool: the names in it are [T], half of which is known to others: to
      recovery at first, then to an invariant of the boot, where each delivery owns
      the name that it made ([spooled]). *)
  Definition spool_names (γ : gname) (T : gmap (list Z) Z) : iProp Σ := ghost_map_auth γ (1/2) T.
  Definition spool_inv b γ : iProp Σ :=
    ∃ m T, spool_dir ↦dir[b] m ∗ spool_names γ T ∗ ⌜∀ name, name_now m name = T !! name⌝.
  Definition spool_open γ : iProp Σ := ∃ T, spool_names γ T.
  Definition spooled (γ : gname) (name : list Z) (i : Z) : iProp Σ := name ↪[γ] i.
  Global Instance spool_names_timeless γ T : Timeless (spool_names γ T).
  Proof. apply _. Qed.
  Global Instance spool_inv_timeless b γ : Timeless (spool_inv b γ).
  Proof. apply _. Qed.
  Global Instance spool_open_timeless γ : Timeless (spool_open γ).
  Proof. apply _. Qed.
  Global Instance spooled_timeless γ name i : Timeless (spooled γ name i).
  Proof. apply _. Qed.

  (** ** Steps of the pure part *)
  Lemma box_of_user D K H s u box : mail_ok D K H s → boxes s !! u = Some box →
    ∃ m, D !! u = Some m ∧ dir_reads K m box.
  Proof.
    intros Hok Hu. assert (u ∈ dom D) as [m Hm]%elem_of_dom.
    { rewrite (ok_users _ _ _ _ Hok). by eapply elem_of_dom_2. }
    exists m. split; [done|]. by eapply ok_reads.
  Qed.
  Lemma mail_ok_put D K H s u m box m2 box2 K2 :
    mail_ok D K H s → D !! u = Some m → boxes s !! u = Some box →
    K ⊆ K2 → dir_reads K2 m2 box2 →
    (∀ L id i, H !! u = Some (Some L) → L !! id = Some i → name_now m2 id = Some i) →
    mail_ok (<[u := m2]> D) K2 H (put u box2 s).
  Proof.
    intros [Husers Hleases Hrange Hreads Hheld Hlease] Hm Hbox HK Hread2 Hlease2.
    assert (dom (boxes (put u box2 s)) = dom (boxes s)) as Hdom.
    { rewrite /put /= dom_insert_L. apply elem_of_dom_2 in Hbox. set_solver. }
    split.
    - rewrite Hdom dom_insert_L -Husers. apply elem_of_dom_2 in Hm. set_solver.
    - by rewrite Hdom.
    - by rewrite Hdom.
    - intros v mv bv. destruct (decide (v = u)) as [->|Hne]; rewrite /put /=.
      + rewrite !lookup_insert. by intros [= <-] [= <-].
      + rewrite !lookup_insert_ne //. intros Hv1 Hv2. eapply dir_reads_mono; [done|by eapply Hreads].
    - done.
    - intros v L mv id i HL. destruct (decide (v = u)) as [->|Hne].
      + rewrite lookup_insert. intros [= <-]. by eapply Hlease2.
      + rewrite lookup_insert_ne //. by eapply Hlease.
  Qed.
  (** The lease of one user changes, and the state with it. *)
  Lemma mail_ok_lease D K H s u box o h2 :
    mail_ok D K H s → boxes s !! u = Some box →
    (∀ v, v ≠ u → v ∈ h2 ↔ v ∈ held s) → (u ∈ h2 ↔ is_Some o) →
    (∀ L m id i, o = Some L → D !! u = Some m → L !! id = Some i → name_now m id = Some i) →
    mail_ok D K (<[u := o]> H) (Mail (boxes s) h2).
  Proof.
    intros [Husers Hleases Hrange Hreads Hheld Hlease] Hbox Hother Hu Ho. split; simpl.
    - done.
    - rewrite dom_insert_L Hleases. apply elem_of_dom_2 in Hbox. set_solver.
    - done.
    - done.
    - intros v. destruct (decide (v = u)) as [->|Hne].
      + rewrite lookup_insert Hu. split; [by intros [L ->]; eauto|by intros [L [= ->]]; eauto].
      + rewrite lookup_insert_ne // Hother //.
    - intros v L m id i. destruct (decide (v = u)) as [->|Hne].
      + rewrite lookup_insert. intros [= ->]. by apply Ho.
      + rewrite lookup_insert_ne //. by apply Hlease.
  Qed.
End inv.

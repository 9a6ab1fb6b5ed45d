(** * What a directory says when its files are read

    [K] gives the contents of inodes.  A directory stands for a mailbox when each
    name shows, and may show after a crash, only what the mailbox allows. *)
From ashlar.logic Require Import async fs.
From ashlar.mailboat Require Export spec.

Notation contents := (gmap Z (list Z)).

(** ** One name *)
Definition reads (K : contents) (x : option Z) (y : option (list Z)) : Prop :=
  match x, y with
  | None, None => True
  | Some i, Some d => K !! i = Some d
  | _, _ => False
  end.
Definition entry_reads (K : contents) (c : cached (option Z)) (v : cached (option (list Z))) : Prop :=
  reads K (ca_latest c) (ca_latest v) ∧
  ∀ x, x ∈ ca_possible c → ∃ y, y ∈ ca_possible v ∧ reads K x y.
Definition dir_reads (K : contents) (m : names_map) (box : mailbox) : Prop :=
  ∀ name, entry_reads K (entry m name) (slot box name).

Lemma reads_mono K K2 x y : K ⊆ K2 → reads K x y → reads K2 x y.
Proof. destruct x, y; simpl; [|done..]. intros HK Hd. by eapply lookup_weaken. Qed.
Lemma dir_reads_mono K K2 m box : K ⊆ K2 → dir_reads K m box → dir_reads K2 m box.
Proof.
  intros HK Hm name. destruct (Hm name) as [Hnow Hold]. split; [by eapply reads_mono|].
  intros x Hx. destruct (Hold x Hx) as (y & ? & ?). exists y. split; [done|]. by eapply reads_mono.
Qed.

(** ** Mailboxes *)
Lemma slot_put_eq id x box : slot (box_put id x box) id = ca_write x (slot box id).
Proof. by rewrite /box_put /slot lookup_insert. Qed.
Lemma slot_put_ne id id2 x box : id2 ≠ id → slot (box_put id x box) id2 = slot box id2.
Proof. intros Hne. by rewrite /box_put /slot lookup_insert_ne. Qed.
Lemma slot_settle_eq id box : slot (box_settle id box) id = ca_flush (slot box id).
Proof. by rewrite /box_settle /slot lookup_insert. Qed.
Lemma slot_settle_ne id id2 box : id2 ≠ id → slot (box_settle id box) id2 = slot box id2.
Proof. intros Hne. by rewrite /box_settle /slot lookup_insert_ne. Qed.

(** ** Steps *)
Lemma entry_reads_write K c v x y :
  entry_reads K c v → reads K x y → entry_reads K (ca_write x c) (ca_write y v).
Proof.
  intros [Hnow Hold] Hxy. split; [done|]. intros x2. rewrite ca_possible_write. intros [->|Hx].
  - exists y. rewrite ca_possible_write. auto.
  - destruct (Hold x2 Hx) as (y2 & ? & ?). exists y2. rewrite ca_possible_write. auto.
Qed.
Lemma entry_reads_flush K c v : entry_reads K c v → entry_reads K (ca_flush c) (ca_flush v).
Proof.
  intros [Hnow _]. split; [done|]. intros x. rewrite ca_possible_flush. intros ->.
  exists (ca_latest v). by rewrite ca_possible_flush.
Qed.
Lemma entry_reads_flushed K c v : entry_reads K c v → entry_reads K (ca_flush c) v.
Proof.
  intros [Hnow Hold]. split; [done|]. intros x. rewrite ca_possible_flush. intros ->.
  apply Hold, ca_possible_latest.
Qed.

Lemma dir_reads_set K m box name x y :
  dir_reads K m box → reads K x y → dir_reads K (name_set name x m) (box_put name y box).
Proof.
  intros Hm Hxy name2. destruct (decide (name2 = name)) as [->|Hne].
  - rewrite entry_set_eq slot_put_eq. by apply entry_reads_write.
  - by rewrite entry_set_ne // slot_put_ne.
Qed.
(** All names become durable; one is said to. *)
Lemma dir_reads_settle K m box id :
  dir_reads K m box → dir_reads K (ca_flush <$> m) (box_settle id box).
Proof.
  intros Hm name. rewrite entry_flush. destruct (decide (name = id)) as [->|Hne].
  - rewrite slot_settle_eq. by apply entry_reads_flush.
  - rewrite slot_settle_ne //. by apply entry_reads_flushed.
Qed.

Lemma dir_reads_free K m box name :
  dir_reads K m box → name_now m name = None → shown box name = None.
Proof.
  intros Hm Hn. destruct (Hm name) as [Hnow _]. rewrite /name_now in Hn. rewrite Hn in Hnow.
  rewrite /shown. by destruct (ca_latest (slot box name)).
Qed.
Lemma dir_reads_taken K m box name i :
  dir_reads K m box → name_now m name = Some i → ∃ d, K !! i = Some d ∧ shown box name = Some d.
Proof.
  intros Hm Hn. destruct (Hm name) as [Hnow _]. rewrite /name_now in Hn. rewrite Hn in Hnow.
  rewrite /shown. destruct (ca_latest (slot box name)) as [d|]; [|done]. by exists d.
Qed.

(** ** The files that names stand for *)
Definition now_map (m : names_map) : gmap (list Z) Z := omap ca_latest m.
Lemma lookup_now_map m name : now_map m !! name = name_now m name.
Proof. rewrite /now_map lookup_omap /name_now /entry. by destruct (m !! name). Qed.

(** A list of names with what is in their files. *)
Lemma dir_reads_listing K m box (l : list (list Z)) :
  dir_reads K m box → NoDup l → (∀ name, name ∈ l ↔ is_Some (name_now m name)) →
  ∃ p, p.*1 = l ∧ listing box p ∧
    ∀ id d, (id, d) ∈ p → ∃ i, name_now m id = Some i ∧ K !! i = Some d.
Proof.
  intros Hm Hnd Hl.
  set (p := (λ name, (name, default [] (shown box name))) <$> l).
  assert (Hp : ∀ id d, (id, d) ∈ p ↔ id ∈ l ∧ d = default [] (shown box id)).
  { intros id d. rewrite /p elem_of_list_fmap. split; [by intros (? & [= -> ->] & ?)|].
    intros [? ->]. by exists id. }
  assert (p.*1 = l) as Hpl. { rewrite /p -list_fmap_compose. by apply list_fmap_id. }
  exists p. split_and!; [done| |].
  - split; [by rewrite Hpl|]. intros id d. rewrite Hp Hl. split.
    + intros [[i Hi] ->]. destruct (dir_reads_taken _ _ _ _ _ Hm Hi) as (d & _ & Hd). by rewrite Hd.
    + intros Hd. split; [|by rewrite Hd]. destruct (name_now m id) as [i|] eqn:Hi; [by eauto|].
      rewrite (dir_reads_free _ _ _ _ Hm Hi) in Hd. done.
  - intros id d [Hid ->]%Hp. apply Hl in Hid as [i Hi]. exists i. split; [done|].
    destruct (dir_reads_taken _ _ _ _ _ Hm Hi) as (d & Hd & ->). done.
Qed.

(** ** Crash *)
Definition box_of (K : contents) (m : names_map) : mailbox :=
  (λ c, ca_new (ca_latest c ≫= (K !!.))) <$> m.
Lemma slot_box_of K m id : slot (box_of K m) id = ca_new (name_now m id ≫= (K !!.)).
Proof. rewrite /slot /box_of lookup_fmap /name_now /entry. by destruct (m !! id). Qed.
Lemma reads_bind K x y : reads K x y → x ≫= (K !!.) = y.
Proof. destruct x, y; simpl; by intros ?. Qed.

Lemma dir_reads_crash K m box m2 :
  dir_reads K m box → names_crash m m2 →
  dir_reads K m2 (box_of K m2) ∧ box_crash box (box_of K m2).
Proof.
  intros Hm Hcrash.
  assert (∀ name, ∃ x y, entry m2 name = ca_new x ∧ y ∈ ca_possible (slot box name) ∧ reads K x y ∧
    slot (box_of K m2) name = ca_new y) as H.
  { intros name. destruct (Hcrash name) as (x & Hx & He). destruct (Hm name) as [_ Hold].
    destruct (Hold x Hx) as (y & Hy & Hr). exists x, y. split_and!; [done..|].
    rewrite slot_box_of /name_now He /=. f_equal. by apply reads_bind. }
  split; intros name; destruct (H name) as (x & y & He & Hy & Hr & ->).
  - rewrite He. split; [done|]. intros x2. rewrite ca_possible_new. intros ->.
    exists y. by rewrite ca_possible_new.
  - by exists y.
Qed.

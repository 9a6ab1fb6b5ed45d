(** * Specification of mail/mailboat

    The state is, for each user, a mailbox, and who of them holds it for reading.
    A mailbox says for each ID what message it shows now, if any, and what a crash
    may make of that: [cached] is a value with the values that it had since it was
    last durable.

    Why this and not simply a map of messages: with fsync, a message is visible
    from the moment that it has a name in the mailbox, which is before that name is
    durable; somebody may have read it when a crash takes it back.  It would be
    dishonest to call delivery atomic and durable at one point.  So delivery takes
    two steps, "the message shows" and "it is durable", and returns after the
    second; deletion too.  A crash chooses for each ID one of the values that it
    may have, and with nothing under way there is only one:
    - a message whose Deliver has returned is there after a crash, until its
      Delete is called;
    - a message whose Delete has returned is not there after a crash;
    - a message whose Deliver or Delete was cut short is there or is not;
    - nothing else changes, and no message is there in part. *)
From ashlar.trusted Require Export filesys.

Notation mailbox := (gmap (list Z) (cached (option (list Z)))).
Definition slot (m : mailbox) (id : list Z) : cached (option (list Z)) := default (ca_new None) (m !! id).
(** The message of this ID. *)
Definition shown (m : mailbox) (id : list Z) : option (list Z) := ca_latest (slot m id).

Record mail := Mail { boxes : gmap Z mailbox; held : gset Z (* users whose mailbox is locked *) }.

Definition box_put (id : list Z) (x : option (list Z)) (m : mailbox) : mailbox :=
  <[id := ca_write x (slot m id)]> m.
Definition box_settle (id : list Z) (m : mailbox) : mailbox :=
  <[id := ca_flush (slot m id)]> m.
Definition put (u : Z) (m : mailbox) (s : mail) : mail := Mail (<[u := m]> (boxes s)) (held s).

(** The messages of a mailbox, each once, in some order. *)
Definition listing (m : mailbox) (l : list (list Z * list Z)) : Prop :=
  NoDup l.*1 ∧ ∀ id d, (id, d) ∈ l ↔ shown m id = Some d.

(** ** Steps *)

(** Deliver, first step: the message shows, under an ID that showed nothing. *)
Definition deliver_step (u : Z) (d id : list Z) (s s2 : mail) : Prop :=
  ∃ m, boxes s !! u = Some m ∧ shown m id = None ∧ s2 = put u (box_put id (Some d) m) s.
(** Deliver and Delete, second step: what the ID shows is durable. *)
Definition settle_step (u : Z) (id : list Z) (s s2 : mail) : Prop :=
  ∃ m, boxes s !! u = Some m ∧ s2 = put u (box_settle id m) s.
(** Pickup: of a mailbox that nobody holds; the result is what it shows. *)
Definition pickup_step (u : Z) (l : list (list Z * list Z)) (s s2 : mail) : Prop :=
  ∃ m, boxes s !! u = Some m ∧ u ∉ held s ∧ listing m l ∧ s2 = Mail (boxes s) ({[u]} ∪ held s).
(** Delete, first step: the ID shows nothing more.  The mailbox is held, and the
    message is there. *)
Definition delete_step (u : Z) (id : list Z) (s s2 : mail) : Prop :=
  ∃ m, boxes s !! u = Some m ∧ u ∈ held s ∧ is_Some (shown m id) ∧ s2 = put u (box_put id None m) s.
(** Unlock: of a mailbox that is held. *)
Definition unlock_step (u : Z) (s s2 : mail) : Prop :=
  u ∈ held s ∧ s2 = Mail (boxes s) (held s ∖ {[u]}).

(** A crash: nobody holds a mailbox; each ID shows one of the things that it may. *)
Definition box_crash (m m2 : mailbox) : Prop :=
  ∀ id, ∃ x, x ∈ ca_possible (slot m id) ∧ slot m2 id = ca_new x.
Definition mail_crash (s s2 : mail) : Prop :=
  held s2 = ∅ ∧ dom (boxes s2) = dom (boxes s) ∧
  ∀ u m m2, boxes s !! u = Some m → boxes s2 !! u = Some m2 → box_crash m m2.

(** What is durable survives: an ID of which nothing is under way shows after a
    crash what it showed before. *)
Lemma box_crash_durable m m2 id :
  ca_older (slot m id) = [] → box_crash m m2 → shown m2 id = shown m id.
Proof.
  intros Hid Hcrash. destruct (Hcrash id) as (x & Hx & Hm2). rewrite /shown Hm2 /=.
  rewrite /ca_possible Hid in Hx. by apply elem_of_list_singleton in Hx.
Qed.
(** After the second step of a delivery or deletion, nothing of it is under way. *)
Lemma settle_durable u id s s2 m2 :
  settle_step u id s s2 → boxes s2 !! u = Some m2 → ca_older (slot m2 id) = [].
Proof.
  intros (m & Hm & ->). rewrite /put /= lookup_insert. intros [= <-].
  by rewrite /box_settle /slot lookup_insert.
Qed.

(** The users 0, ..., n-1, with empty mailboxes. *)
Definition users (n : nat) : gset Z := list_to_set (Z.of_nat <$> seq 0 n).
Definition mail_init (n : nat) : mail := Mail (gset_to_gmap ∅ (users n)) ∅.
Lemma elem_of_users n u : u ∈ users n ↔ (0 ≤ u < n)%Z.
Proof.
  rewrite /users elem_of_list_to_set elem_of_list_fmap. split.
  - intros (i & -> & Hi%elem_of_seq). lia.
  - intros Hu. exists (Z.to_nat u). rewrite elem_of_seq. lia.
Qed.

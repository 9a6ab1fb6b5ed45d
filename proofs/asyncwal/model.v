(** * The log without its program: what the blocks mean

    What a disk says that a crash may leave, and what each write and each barrier
    does to all of these.  The same is checked exhaustively in [specs/asyncwal]. *)
From stdpp Require Import gmap.
From ashlar.logic Require Import leaves.
From ashlar.asyncwal Require Import spec.
Open Scope Z_scope.

(** The header that says that the log counts. *)
Definition new_header : list Z := <[0%nat := 1]> zero_block.

Lemma zero_block_ok : block_ok zero_block.
Proof. apply replicate_length. Qed.
Lemma zero_block_clear : ¬ counts zero_block.
Proof. by vm_compute. Qed.
Lemma new_header_ok : block_ok new_header.
Proof. by rewrite /block_ok /new_header insert_length zero_block_ok. Qed.
Lemma new_header_counts : counts new_header.
Proof. by vm_compute. Qed.
Global Instance counts_dec h : Decision (counts h).
Proof. apply _. Qed.

(** The blocks are there. *)
Definition whole (f : disk) : Prop :=
  map_Forall (λ _, block_ok) f ∧ ∀ a, 0 ≤ a < 5 → is_Some (f !! a).
(** The log does not count, and [s] is in its place. *)
Record clear (f : disk) (s : blocks) : Prop := Clear {
  clear_whole : whole f;
  clear_header : ∃ h, f !! 0 = Some h ∧ ¬ counts h;
  clear_data : f !! 3 = Some s.1 ∧ f !! 4 = Some s.2;
}.
(** The log counts, and holds [s]. *)
Record logged (f : disk) (s : blocks) : Prop := Logged {
  logged_whole : whole f;
  logged_header : ∃ h, f !! 0 = Some h ∧ counts h;
  logged_log : f !! 1 = Some s.1 ∧ f !! 2 = Some s.2;
}.
(** Recovery makes [s] of the disk. *)
Definition recovers (f : disk) (s : blocks) : Prop := clear f s ∨ logged f s.

Lemma whole_write f a t : 0 ≤ a < 5 → block_ok t → whole f → whole (<[a := t]> f).
Proof.
  intros Ha Ht [Hok Hthere]. split; [by apply map_Forall_insert_2|].
  intros a2 Ha2. destruct (decide (a = a2)) as [->|]; [rewrite lookup_insert; eauto|].
  rewrite lookup_insert_ne //. by apply Hthere.
Qed.
Lemma recovers_holds f s : whole f → holds f s → recovers f s.
Proof. intros ? (h & ? & [(? & ? & ?)|(? & ? & ?)]); [right|left]; split; eauto. Qed.
(** Any disk that is large enough holds a pair. *)
Lemma whole_recovers f : whole f → ∃ s, recovers f s ∧ holds f s.
Proof.
  intros Hw. pose proof (proj2 Hw) as Hthere.
  destruct (Hthere 0) as [h Hh]; [lia|]. destruct (decide (counts h)) as [Hc|Hc].
  - destruct (Hthere 1) as [x Hx]; [lia|]. destruct (Hthere 2) as [y Hy]; [lia|].
    assert (holds f (x, y)) by (exists h; eauto). eauto using recovers_holds.
  - destruct (Hthere 3) as [x Hx]; [lia|]. destruct (Hthere 4) as [y Hy]; [lia|].
    assert (holds f (x, y)) by (exists h; eauto 6). eauto using recovers_holds.
Qed.

(** What writes do to one disk. *)
Lemma clear_write_log f s a t : a = 1 ∨ a = 2 → block_ok t → clear f s → clear (<[a := t]> f) s.
Proof.
  intros Ha Ht [Hw (h & Hh & Hc) [H1 H2]]. split.
  - apply whole_write; [lia|done|done].
  - exists h. rewrite lookup_insert_ne //. lia.
  - rewrite !lookup_insert_ne //; lia.
Qed.
Lemma clear_write_header f s t h :
  clear f s → f !! 1 = Some t.1 → f !! 2 = Some t.2 → block_ok h → counts h →
  logged (<[0 := h]> f) t.
Proof.
  intros [Hw _ _] ? ? ? ?. split.
  - apply whole_write; [lia|done|done].
  - exists h. by rewrite lookup_insert.
  - by rewrite !lookup_insert_ne.
Qed.
Lemma logged_write_data f s a t : a = 3 ∨ a = 4 → block_ok t → logged f s → logged (<[a := t]> f) s.
Proof.
  intros Ha Ht [Hw (h & Hh & Hc) [H1 H2]]. split.
  - apply whole_write; [lia|done|done].
  - exists h. rewrite lookup_insert_ne //. lia.
  - rewrite !lookup_insert_ne //; lia.
Qed.
Lemma logged_write_header f s h :
  logged f s → f !! 3 = Some s.1 → f !! 4 = Some s.2 → block_ok h → ¬ counts h →
  clear (<[0 := h]> f) s.
Proof.
  intros [Hw _ _] ? ? ? ?. split.
  - apply whole_write; [lia|done|done].
  - exists h. by rewrite lookup_insert.
  - by rewrite !lookup_insert_ne.
Qed.

(** ** The points of a commit: what is so of all that a crash may leave

    Each lemma is one access to the disk; [d] is before, and after it is the
    argument of the conclusion. *)
Implicit Types (d : async_disk) (s t : blocks).

(** Nothing is under way: what a read finds is the state; a crash may bring back
    the header that says that the log counts. *)
Record idle d s : Prop := Idle {
  idle_always : always d (λ f, recovers f s);
  idle_latest : clear (latest d) s;
}.

Lemma whole_lookup d a : whole (latest d) → 0 ≤ a < 5 → ∃ c, d !! a = Some c.
Proof.
  intros [_ Hthere] Ha. destruct (Hthere a Ha) as [x Hx].
  apply latest_lookup_inv in Hx as (c & ? & _). eauto.
Qed.

(** The first barrier: the header is durable that says that the log does not count. *)
Lemma idle_barrier d s : idle d s → always (ca_flush <$> d) (λ f, clear f s).
Proof. intros [_ Hl]. by apply always_flush. Qed.
(** Writes to the log. *)
Lemma clear_log d s a c x :
  always d (λ f, clear f s) → d !! a = Some c → a = 1 ∨ a = 2 → block_ok x →
  always (<[a := ca_write x c]> d) (λ f, clear f s).
Proof. intros Hd Hc Ha Hx. eapply always_write; eauto using clear_write_log. Qed.
(** The second barrier: the log is durable. *)
Definition ready d s t : Prop :=
  always d (λ f, clear f s ∧ f !! 1 = Some t.1 ∧ f !! 2 = Some t.2).
Lemma log_barrier d s t :
  always d (λ f, clear f s) → latest d !! 1 = Some t.1 → latest d !! 2 = Some t.2 →
  ready (ca_flush <$> d) s t.
Proof. intros Hd ? ?. apply always_flush. split_and!; [by apply always_latest in Hd|done|done]. Qed.
(** The header: a crash decides. *)
Lemma ready_header d s t c :
  ready d s t → d !! 0 = Some c →
  always (<[0 := ca_write new_header c]> d) (λ f, recovers f s ∨ logged f t) ∧
  logged (latest (<[0 := ca_write new_header c]> d)) t.
Proof.
  intros Hd Hc. pose proof new_header_ok. pose proof new_header_counts. split.
  - eapply always_write; [exact Hd|done|..].
    + intros f (? & ? & ?). by left; left.
    + intros f (? & ? & ?). right. by eapply clear_write_header.
  - rewrite latest_write. apply always_latest in Hd as (? & ? & ?). by eapply clear_write_header.
Qed.
(** The third barrier: the commit has happened. *)
Lemma header_barrier d t : logged (latest d) t → always (ca_flush <$> d) (λ f, logged f t).
Proof. intros. by apply always_flush. Qed.
(** Writes to the pair's place. *)
Lemma logged_data d t a c x :
  always d (λ f, logged f t) → d !! a = Some c → a = 3 ∨ a = 4 → block_ok x →
  always (<[a := ca_write x c]> d) (λ f, logged f t).
Proof. intros Hd Hc Ha Hx. eapply always_write; eauto using logged_write_data. Qed.
(** The fourth barrier: the pair is in its place. *)
Definition applied d t : Prop :=
  always d (λ f, logged f t ∧ f !! 3 = Some t.1 ∧ f !! 4 = Some t.2).
Lemma data_barrier d t :
  always d (λ f, logged f t) → latest d !! 3 = Some t.1 → latest d !! 4 = Some t.2 →
  applied (ca_flush <$> d) t.
Proof. intros Hd ? ?. apply always_flush. split_and!; [by apply always_latest in Hd|done|done]. Qed.
(** The header is cleared, but not durably. *)
Lemma applied_header d t c :
  applied d t → d !! 0 = Some c → idle (<[0 := ca_write zero_block c]> d) t.
Proof.
  intros Hd Hc. pose proof zero_block_ok. pose proof zero_block_clear. split.
  - eapply always_write; [exact Hd|done|..].
    + intros f (? & ? & ?). by right.
    + intros f (? & ? & ?). left. by eapply logged_write_header.
  - rewrite latest_write. apply always_latest in Hd as (? & ? & ?). by eapply logged_write_header.
Qed.

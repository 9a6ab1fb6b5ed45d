(** * The log without its program: what a crash may leave, access by access

    What one disk means is said in [proofs/wal]; here it is said of all the disks
    that a crash may leave, and what each write and each barrier makes of them.
    [specs/asyncwal] has the same for a pair of entries, checked exhaustively. *)
From stdpp Require Import gmap.
From ashlar.logic Require Import leaves.
From ashlar.wal Require Export spec.
Open Scope Z_scope.

Section model.
  Context (N : Z).
  Implicit Types (d : async_disk) (f σ : disk) (us : list update).

  (** Recovery makes [σ] of the disk. *)
  Definition recovers f σ : Prop := ∃ us, wal_rel N f us σ.
  (** A crash finds the transaction [us] committed, and recovery makes [σ]. *)
  Definition logged us σ f : Prop := wal_rel N f us σ.

  (** Nothing is under way: what a read finds is an empty log and the state; a crash
      may bring back the header of a transaction that is in its place. *)
  Record idle d σ : Prop := Idle {
    idle_always : always d (λ f, recovers f σ);
    idle_latest : logged [] σ (latest d);
  }.

  Lemma latest_lookup_rel d us σ a : logged us σ (latest d) → 0 ≤ a < N → ∃ c, d !! a = Some c.
  Proof.
    intros Hrel Ha. destruct (rel_is_Some _ _ _ _ _ Hrel Ha) as [x Hx].
    apply latest_lookup_inv in Hx as (c & ? & _). eauto.
  Qed.
  Lemma logged_recovers us σ f : logged us σ f → recovers f σ.
  Proof. by exists us. Qed.

  (** The first barrier: the log is empty, durably. *)
  Lemma idle_barrier d σ : idle d σ → always (ca_flush <$> d) (logged [] σ).
  Proof. intros [_ Hl]. by apply always_flush. Qed.

  (** Writing the first [i] entries. *)
  Definition entries (us : list update) (i : Z) f : Prop :=
    ∀ (k : nat) (u : update), Z.of_nat k < i → us !! k = Some u → f !! (1 + Z.of_nat k) = Some u.2.
  Lemma entries_0 us f : entries us 0 f.
  Proof. intros k u. lia. Qed.
  Lemma entries_write us i u f :
    0 ≤ i → us !! Z.to_nat i = Some u → entries us i f → entries us (i + 1) (<[1 + i := u.2]> f).
  Proof.
    intros Hi Hu Hf k v Hk Hv. destruct (decide (Z.of_nat k = i)) as [<-|].
    - rewrite lookup_insert. rewrite Nat2Z.id in Hu. by simplify_eq.
    - rewrite lookup_insert_ne; [|lia]. apply Hf; [lia|done].
  Qed.
  Lemma write_entry d σ i c x :
    always d (logged [] σ) → d !! (1 + i) = Some c → 0 ≤ i < 511 → block_ok x →
    always (<[1 + i := ca_write x c]> d) (logged [] σ).
  Proof.
    intros Hd Hc Hi Hx. eapply always_write; [exact Hd|done|done|].
    intros f Hf. apply rel_log; [done| |done]. rewrite /data_start. lia.
  Qed.

  (** The second barrier: the entries are durable, and not announced. *)
  Definition ready d σ us : Prop := always d (λ f, logged [] σ f ∧ entries us (length us) f).
  Lemma entries_barrier d σ us :
    always d (logged [] σ) → entries us (length us) (latest d) → ready (ca_flush <$> d) σ us.
  Proof. intros Hd Hus. apply always_flush. split; [by apply always_latest in Hd|done]. Qed.

  (** The header: a crash decides. *)
  Lemma logged_header f σ us :
    logged [] σ f → entries us (length us) f → commit_ok N us →
    logged us (apply_updates us σ) (<[0 := header us.*1]> f).
  Proof.
    intros Hf Hus [Hlen Hok]. rewrite /max_updates in Hlen. apply rel_commit; [done|lia| |].
    - intros i u Hu. apply Hus; [|done]. apply lookup_lt_Some in Hu. lia.
    - intros u Hu. rewrite Forall_forall in Hok. by destruct (Hok u Hu).
  Qed.
  Lemma ready_header d σ us c :
    ready d σ us → commit_ok N us → d !! 0 = Some c →
    always (<[0 := ca_write (header us.*1) c]> d)
      (λ f, recovers f σ ∨ logged us (apply_updates us σ) f) ∧
    logged us (apply_updates us σ) (latest (<[0 := ca_write (header us.*1) c]> d)).
  Proof.
    intros Hd Hus Hc. split.
    - eapply always_write; [exact Hd|done|..].
      + intros f [Hf _]. left. by eapply logged_recovers.
      + intros f [Hf Hent]. right. by apply logged_header.
    - rewrite latest_write. apply always_latest in Hd as [Hf Hent]. by apply logged_header.
  Qed.
  (** The third barrier: the transaction has happened. *)
  Lemma header_barrier d us σ : logged us σ (latest d) → always (ca_flush <$> d) (logged us σ).
  Proof. intros. by apply always_flush. Qed.

  (** Copying an entry to its place. *)
  Lemma write_data d us σ u c :
    always d (logged us σ) → u ∈ us → d !! u.1 = Some c →
    always (<[u.1 := ca_write u.2 c]> d) (logged us σ).
  Proof.
    intros Hd Hu Hc. eapply always_write; [exact Hd|done|done|].
    intros f Hf. by apply rel_install.
  Qed.
  (** The fourth barrier: all entries are in their places. *)
  Definition installed d us σ : Prop := always d (λ f, logged us σ f ∧ apply_updates us f = f).
  Lemma data_barrier d us σ :
    always d (logged us σ) → apply_updates us (latest d) = latest d →
    installed (ca_flush <$> d) us σ.
  Proof. intros Hd ?. apply always_flush. split; [by apply always_latest in Hd|done]. Qed.
  (** The header is cleared, but not durably. *)
  Lemma installed_header d us σ c :
    installed d us σ → d !! 0 = Some c → idle (<[0 := ca_write zero_block c]> d) σ.
  Proof.
    intros Hd Hc. split.
    - eapply always_write; [exact Hd|done|..].
      + intros f [Hf _]. by eapply logged_recovers.
      + intros f [Hf Happ]. eapply logged_recovers. by apply (rel_clear N _ us).
    - rewrite latest_write. apply always_latest in Hd as [Hf Happ]. by apply (rel_clear N _ us).
  Qed.
End model.

(** * What is known of each address of the replicated disk

    The fate of a write that has got to disk 0 only is decided after the crash,
    by whether disk 0 fails before recovery has copied the block.  So the
    invariant is about a set of disks that the specification may have; here is
    that set, without any logic. *)
From iris.prelude Require Import prelude.
From stdpp Require Import gmap.
From ashlar.replicateddisk Require Import spec.

(** Where an address is:
    - quiet: both disks have the block, of those that have not failed;
    - pending: disk 0 has what a write wants, whose id is kept, disk 1 the block;
    - unknown: after a crash, the block is what disk 0 has or what disk 1 has. *)
Inductive phase := Quiet | Pending (id : nat) | Unknown.

(** An address: its phase, and what was last written to disk 0 and disk 1.  Where
    a disk has failed it need not have that. *)
Record address := Address { ad_phase : phase; ad_0 : list Z; ad_1 : list Z }.

Definition quiet (b : list Z) : address := Address Quiet b b.

(** The blocks that the specification may have at an address. *)
Definition may_be (ad : address) (b : list Z) : Prop :=
  match ad_phase ad with
  | Quiet => b = ad_0 ad ∧ ad_0 ad = ad_1 ad
  | Pending _ => b = ad_1 ad
  | Unknown => b = ad_0 ad ∨ b = ad_1 ad
  end.

(** The disks that the specification may have. *)
Definition fits (m : gmap Z address) (s : gmap Z (list Z)) : Prop :=
  dom s = dom m ∧ ∀ a ad b, m !! a = Some ad → s !! a = Some b → may_be ad b.

(** A block that may be there is always there for some disk. *)
Definition consistent (m : gmap Z address) : Prop :=
  map_Forall (λ _ ad, ad_phase ad = Quiet → ad_0 ad = ad_1 ad) m.

Lemma fits_exists m : consistent m → ∃ s, fits m s.
Proof.
  intros Hm. exists (ad_1 <$> m). split; [by rewrite dom_fmap_L|].
  intros a ad b Ha. rewrite lookup_fmap Ha. intros [= <-]. unfold may_be.
  specialize (Hm a ad Ha). simpl in Hm. destruct (ad_phase ad); [|done|by right].
  by rewrite Hm.
Qed.

Lemma fits_lookup m s a ad : fits m s → m !! a = Some ad → ∃ b, s !! a = Some b ∧ may_be ad b.
Proof.
  intros [Hdom Hs] Ha.
  assert (is_Some (s !! a)) as [b Hb]; [|by eauto].
  apply elem_of_dom. rewrite Hdom. apply elem_of_dom. eauto.
Qed.

(** Changing one address. *)
Lemma fits_insert m s a ad b : fits m s → is_Some (m !! a) → may_be ad b →
  fits (<[a:=ad]> m) (<[a:=b]> s).
Proof.
  intros [Hdom Hs] Ha Hb. split; [by rewrite !dom_insert_L Hdom|].
  intros a' ad' b'. destruct (decide (a = a')) as [<-|Hne].
  - rewrite !lookup_insert. by intros [= <-] [= <-].
  - rewrite !lookup_insert_ne //. eauto.
Qed.

(** The disks that fit after a change of one address come from disks that fitted
    before, by giving that address a block that it might have had. *)
Lemma fits_insert_inv m s a ad ad' b : m !! a = Some ad → may_be ad b →
  fits (<[a:=ad']> m) s → ∃ b', s !! a = Some b' ∧ may_be ad' b' ∧ fits m (<[a:=b]> s).
Proof.
  intros Ha Hb Hs.
  destruct (fits_lookup _ _ a ad' Hs) as (b' & Hb' & Hmay); [by rewrite lookup_insert|].
  exists b'. split_and!; [done..|].
  rewrite -(insert_id m a ad Ha) -(insert_insert m a ad ad').
  apply fits_insert; [done|by rewrite lookup_insert|done].
Qed.

(** ** Narrowing: the address of a recovered block becomes quiet. *)
Lemma fits_narrow m a ad b s : m !! a = Some ad → may_be ad b →
  fits (<[a:=quiet b]> m) s → fits m s.
Proof.
  intros Ha Hb Hs. destruct (fits_insert_inv _ _ _ _ _ _ Ha Hb Hs) as (b' & Hb' & [-> _] & Hfit).
  by rewrite insert_id in Hfit.
Qed.

(** ** A write from pending to quiet: each disk that fits has got the block. *)
Lemma fits_write m a id b0 b1 s : m !! a = Some (Address (Pending id) b0 b1) →
  fits (<[a:=quiet b0]> m) s → ∃ s', fits m s' ∧ is_Some (s' !! a) ∧ s = <[a:=b0]> s'.
Proof.
  intros Ha Hs.
  destruct (fits_insert_inv _ _ _ _ _ b1 Ha eq_refl Hs) as (b' & Hb' & [-> _] & Hfit).
  exists (<[a:=b1]> s). split_and!; [done| |].
  - rewrite lookup_insert. eauto.
  - by rewrite insert_insert insert_id.
Qed.

(** ** From pending to unknown, at a crash: nothing, or the write. *)
Lemma fits_unknown m a id b0 b1 s : m !! a = Some (Address (Pending id) b0 b1) →
  fits (<[a:=Address Unknown b0 b1]> m) s →
  fits m s ∨ ∃ s', fits m s' ∧ is_Some (s' !! a) ∧ s = <[a:=b0]> s'.
Proof.
  intros Ha Hs.
  destruct (fits_insert_inv _ _ _ _ _ b1 Ha eq_refl Hs) as (b' & Hb' & Hmay & Hfit).
  destruct Hmay as [-> | ->]; simpl in *.
  - right. exists (<[a:=b1]> s). split_and!; [done| |].
    + rewrite lookup_insert. eauto.
    + by rewrite insert_insert insert_id.
  - left. by rewrite insert_id in Hfit.
Qed.

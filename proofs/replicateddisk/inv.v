(** * What is known of each address of the replicated disk

    The fate of a write that has got to disk 0 only is decided after the crash,
    by whether disk 0 fails before recovery has copied the block.  So the
    invariant is about a set of disks that the specification may have; here is
    that set, without any logic. *)
From stdpp Require Import gmap.
From ashlar.logic Require Import spec.
From ashlar.replicateddisk Require Import spec.

(** Where an address is:
    - quiet: both disks have the block, of those that have not failed;
    - halfway: disk 0 has what a write wants, whose id is kept, disk 1 the block;
    - unknown: after a crash, the block is what disk 0 has or what disk 1 has. *)
Inductive phase := Quiet | Halfway (id : nat) | Unknown.

(** An address: its phase, and what was last written to disk 0 and disk 1.  Where
    a disk has failed it need not have that. *)
Record address := Address { ad_phase : phase; ad_0 : list Z; ad_1 : list Z }.

Definition quiet (b : list Z) : address := Address Quiet b b.

(** The blocks that the specification may have at an address. *)
Definition may_be (ad : address) (b : list Z) : Prop :=
  match ad_phase ad with
  | Quiet => b = ad_0 ad ∧ ad_0 ad = ad_1 ad
  | Halfway _ => b = ad_1 ad
  | Unknown => b = ad_0 ad ∨ b = ad_1 ad
  end.

(** The disks that the specification may have. *)
Definition fits (m : gmap Z address) (s : gmap Z (list Z)) : Prop :=
  dom s = dom m ∧ ∀ a ad b, m !! a = Some ad → s !! a = Some b → may_be ad b.

(** Quiet addresses have the same on both disks; then some disk fits. *)
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

(** ** A write from halfway to quiet: each disk that fits has got the block. *)
Lemma fits_write m a id b0 b1 s : m !! a = Some (Address (Halfway id) b0 b1) →
  fits (<[a:=quiet b0]> m) s → ∃ s', fits m s' ∧ is_Some (s' !! a) ∧ s = <[a:=b0]> s'.
Proof.
  intros Ha Hs.
  destruct (fits_insert_inv _ _ _ _ _ b1 Ha eq_refl Hs) as (b' & Hb' & [-> _] & Hfit).
  exists (<[a:=b1]> s). split_and!; [done| |].
  - rewrite lookup_insert. eauto.
  - by rewrite insert_insert insert_id.
Qed.

(** The first write of a call changes nothing for the specification. *)
Lemma fits_halfway m a id new old s : m !! a = Some (quiet old) →
  fits (<[a:=Address (Halfway id) new old]> m) s → fits m s.
Proof.
  intros Ha Hs. assert (may_be (quiet old) old) as Hmay by done.
  destruct (fits_insert_inv _ _ _ _ _ _ Ha Hmay Hs) as (b' & Hb' & -> & Hfit).
  by rewrite insert_id in Hfit.
Qed.
(** A quiet address is known. *)
Lemma fits_quiet m a b s : m !! a = Some (quiet b) → fits m s → s !! a = Some b.
Proof. intros Ha Hs. by destruct (fits_lookup _ _ _ _ Hs Ha) as (b' & Hb & [-> _]). Qed.

(** ** A crash: what is known of each address is what is on the disks, and of the
    writes that were pending any may have happened. *)
Definition unknown (ad : address) : address := Address Unknown (ad_0 ad) (ad_1 ad).
(** The calls that are pending, with their ids. *)
Definition pending_call (p : Z * address) : option (nat * val) :=
  match ad_phase p.2 with
  | Halfway id => Some (id, write_call p.1 (ad_0 p.2))
  | _ => None
  end.
Definition pending_calls (m : gmap Z address) : list (nat * val) := omap pending_call (map_to_list m).

Lemma helped_skip sp s cs c s' : helped sp s cs s' → helped sp s (c :: cs) s'.
Proof.
  induction 1 as [s cs|s cs1 c' cs2 r s' s'' Hs Hh IH|s cs1 c' cs2 c'' s' s'' Hs Hh IH].
  - apply helped_none.
  - by apply (helped_step _ _ (c :: cs1) c' cs2 r s').
  - by apply (helped_move _ _ (c :: cs1) c' cs2 c'' s').
Qed.

(** [s'] is [s] with some of the pending writes done. *)
Lemma helped_writes d (l : list (Z * address)) (s s' : gmap Z (list Z)) :
  dom s' = dom s →
  (∀ a, s' !! a ≠ s !! a → ∃ ad id, (a, ad) ∈ l ∧ ad_phase ad = Halfway id ∧
     s' !! a = Some (ad_0 ad) ∧ block_ok (ad_0 ad)) →
  helped (replicated_spec d) s (omap pending_call l).*2 s'.
Proof.
  revert s. induction l as [|[a ad] l IH]; intros s Hdom Hdiff.
  { assert ((s' : gmap Z (list Z)) = s) as ->; [|apply helped_none]. apply map_eq. intros a.
    destruct (decide (s' !! a = s !! a)) as [|Hne]; [done|].
    destruct (Hdiff a Hne) as (ad & id & Hin & _). by apply elem_of_nil in Hin. }
  simpl. unfold pending_call at 1. simpl. destruct (ad_phase ad) as [|id|] eqn:Hphase; simpl.
  - apply IH; [done|]. intros a' Hne. destruct (Hdiff a' Hne) as (ad' & id' & Hin & Hp & Hs).
    apply elem_of_cons in Hin as [[= -> ->]|Hin]; [congruence|by eauto 10].
  - destruct (decide (s' !! a ≠ s !! a ∧ s' !! a = Some (ad_0 ad) ∧ block_ok (ad_0 ad))) as [(Hne & Ha & Hok)|Hskip].
    + apply (helped_step (replicated_spec d) s [] _ _ #() (<[a:=ad_0 ad]> s)).
      { constructor; [|done]. apply elem_of_dom. rewrite -Hdom. apply elem_of_dom. eauto. }
      apply IH.
      { rewrite dom_insert_L Hdom. assert (a ∈ dom s); [|set_solver].
        rewrite -Hdom. apply elem_of_dom. eauto. }
      intros a' Hne'. destruct (decide (a = a')) as [<-|Hneq].
      { by rewrite lookup_insert in Hne'. }
      rewrite lookup_insert_ne // in Hne'.
      destruct (Hdiff a' Hne') as (ad' & id' & Hin & Hp & Hs).
      apply elem_of_cons in Hin as [[= -> ->]|Hin]; [done|by eauto 10].
    + apply helped_skip, IH; [done|]. intros a' Hne.
      destruct (Hdiff a' Hne) as (ad' & id' & Hin & Hp & Hs & Hok).
      apply elem_of_cons in Hin as [[= -> ->]|Hin]; [|by eauto 10].
      exfalso. by apply Hskip.
  - apply IH; [done|]. intros a' Hne. destruct (Hdiff a' Hne) as (ad' & id' & Hin & Hp & Hs).
    apply elem_of_cons in Hin as [[= -> ->]|Hin]; [congruence|by eauto 10].
Qed.

(** The disk before the crash that explains the disk after it: at the addresses
    of pending writes, what disk 1 has. *)
Definition before_crash (m : gmap Z address) (s : gmap Z (list Z)) : gmap Z (list Z) :=
  map_imap (λ a ad, match ad_phase ad with Halfway _ => Some (ad_1 ad) | _ => s !! a end) m.

Lemma before_crash_lookup m s a ad : m !! a = Some ad →
  before_crash m s !! a = match ad_phase ad with Halfway _ => Some (ad_1 ad) | _ => s !! a end.
Proof. intros Ha. rewrite /before_crash map_lookup_imap Ha. done. Qed.

Lemma fits_before_crash m s : consistent m → fits (unknown <$> m) s → fits m (before_crash m s).
Proof.
  intros Hm [Hdom Hs]. rewrite dom_fmap_L in Hdom. split.
  - apply set_eq. intros a. rewrite !elem_of_dom. split.
    + intros [b Hb]. rewrite /before_crash map_lookup_imap in Hb.
      destruct (m !! a); [eauto|done].
    + intros [ad Ha]. rewrite (before_crash_lookup m s a ad) //.
      assert (is_Some (s !! a)). { apply elem_of_dom. rewrite Hdom. apply elem_of_dom. eauto. }
      destruct (ad_phase ad); eauto.
  - intros a ad b Ha. rewrite (before_crash_lookup m s a ad) //.
    specialize (Hm a ad Ha). simpl in Hm.
    assert (∀ b, s !! a = Some b → b = ad_0 ad ∨ b = ad_1 ad) as Hmay.
    { intros b' Hb'. apply (Hs a (unknown ad)); [|done]. by rewrite lookup_fmap Ha. }
    rewrite /may_be. destruct (ad_phase ad); [| |by auto].
    + intros [-> | ->]%Hmay; rewrite ?Hm //.
    + by intros [= <-].
Qed.

Lemma crash_leads_unknown d m :
  consistent m → map_Forall (λ _ ad, block_ok (ad_0 ad)) m →
  crash_leads (replicated_spec d) (fits m) (pending_calls m).*2 (fits (unknown <$> m)).
Proof.
  intros Hm Hok. split.
  { apply fits_exists. intros a ad Ha. rewrite lookup_fmap in Ha.
    destruct (m !! a); simplify_eq/=. done. }
  intros s Hs. exists (before_crash m s), s. pose proof (fits_before_crash m s Hm Hs) as Hbefore.
  split_and!; [done| |constructor].
  apply helped_writes.
  { destruct Hs as [-> _], Hbefore as [-> _]. by rewrite dom_fmap_L. }
  intros a Hne. assert (∃ ad, m !! a = Some ad) as [ad Ha].
  { destruct (m !! a) as [ad|] eqn:Ha; [by eauto|]. exfalso. apply Hne.
    rewrite /before_crash map_lookup_imap Ha /=. apply not_elem_of_dom.
    destruct Hs as [-> _]. rewrite dom_fmap_L. by apply not_elem_of_dom. }
  rewrite (before_crash_lookup m s a ad) // in Hne.
  destruct (fits_lookup _ _ a (unknown ad) Hs) as (b & Hb & Hmay); [by rewrite lookup_fmap Ha|].
  destruct (ad_phase ad) as [|id|] eqn:Hphase; [done| |done].
  exists ad, id. split_and!; [by apply elem_of_map_to_list|done| |by eapply Hok].
  rewrite Hb in Hne |- *. destruct Hmay as [->| ->]; [done|]. done.
Qed.

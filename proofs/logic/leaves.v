(** * What a crash may leave of an asynchronous disk

    [leaves d f]: the contents [f] are among those that a crash may leave of [d].
    A program is crash safe when all of them mean something good; and of each
    operation one shows what it makes of them. *)
From stdpp Require Import gmap.
From ashlar.logic Require Export async.

Definition leaves (d : async_disk) (f : disk) : Prop :=
  dom f = dom d ∧ ∀ a c, d !! a = Some c → ∃ s, s ∈ ca_possible c ∧ f !! a = Some s.
(** What a read finds. *)
Definition latest (d : async_disk) : disk := ca_latest <$> d.
(** Whatever a crash leaves satisfies [P]. *)
Definition always (d : async_disk) (P : disk → Prop) : Prop := ∀ f, leaves d f → P f.

Implicit Types (d : async_disk) (f g : disk) (P Q : disk → Prop).

Lemma latest_lookup d a c : d !! a = Some c → latest d !! a = Some (ca_latest c).
Proof. intros Ha. by rewrite /latest lookup_fmap Ha. Qed.
Lemma latest_lookup_inv d a s : latest d !! a = Some s → ∃ c, d !! a = Some c ∧ ca_latest c = s.
Proof. rewrite /latest lookup_fmap_Some. naive_solver. Qed.
Lemma latest_write d a c s : latest (<[a := ca_write s c]> d) = <[a := s]> (latest d).
Proof. apply fmap_insert. Qed.
Lemma latest_flush d : latest (ca_flush <$> d) = latest d.
Proof. rewrite /latest -map_fmap_compose. apply map_fmap_ext. done. Qed.
Lemma latest_new f : latest (ca_new <$> f) = f.
Proof. rewrite /latest -map_fmap_compose. apply map_fmap_id. Qed.

Lemma leaves_latest d : leaves d (latest d).
Proof.
  split; [by rewrite dom_fmap_L|]. intros a c Ha. exists (ca_latest c).
  split; [apply ca_possible_latest|by apply latest_lookup].
Qed.
Lemma leaves_flush d f : leaves (ca_flush <$> d) f ↔ f = latest d.
Proof.
  split; [|intros ->; rewrite -latest_flush; apply leaves_latest].
  intros [Hdom Hf]. apply map_eq. intros a. rewrite /latest lookup_fmap.
  destruct (d !! a) as [c|] eqn:Hd; simpl.
  - destruct (Hf a (ca_flush c)) as (s & ->%ca_possible_flush & ->); [|done].
    by rewrite lookup_fmap Hd.
  - apply not_elem_of_dom. rewrite Hdom dom_fmap_L. by apply not_elem_of_dom.
Qed.
Lemma leaves_new f g : leaves (ca_new <$> f) g ↔ g = f.
Proof.
  assert (ca_flush <$> (ca_new <$> f) = ca_new <$> f) as <-.
  { rewrite -map_fmap_compose. by apply map_fmap_ext. }
  by rewrite leaves_flush latest_new.
Qed.
(** A write is lost or is there, whatever else a crash does. *)
Lemma leaves_write d a c s f :
  d !! a = Some c → leaves (<[a := ca_write s c]> d) f →
  ∃ g, leaves d g ∧ (f = g ∨ f = <[a := s]> g).
Proof.
  intros Ha [Hdom Hf].
  assert (dom f = dom d) as Hdom2.
  { rewrite Hdom dom_insert_L. apply elem_of_dom_2 in Ha. set_solver. }
  assert (∀ a2 c2, a2 ≠ a → d !! a2 = Some c2 → ∃ t, t ∈ ca_possible c2 ∧ f !! a2 = Some t) as Hother.
  { intros a2 c2 Hne Ha2. apply Hf. by rewrite lookup_insert_ne. }
  destruct (Hf a (ca_write s c)) as (t & [->|Ht]%ca_possible_write & Hfa); [by rewrite lookup_insert| |].
  - exists (<[a := ca_latest c]> f). split.
    + split; [rewrite dom_insert_L Hdom2; apply elem_of_dom_2 in Ha; set_solver|].
      intros a2 c2 Ha2. destruct (decide (a2 = a)) as [->|Hne].
      * rewrite Ha in Ha2. injection Ha2 as <-. exists (ca_latest c). rewrite lookup_insert.
        split; [apply ca_possible_latest|done].
      * rewrite lookup_insert_ne //. by apply Hother.
    + right. by rewrite insert_insert insert_id.
  - exists f. split; [|by left]. split; [done|]. intros a2 c2 Ha2.
    destruct (decide (a2 = a)) as [->|Hne]; [rewrite Ha in Ha2; injection Ha2 as <-; eauto|by apply Hother].
Qed.

(** ** What is always so *)
Lemma always_mono d P Q : always d P → (∀ f, P f → Q f) → always d Q.
Proof. intros HP HQ f Hf. by apply HQ, HP. Qed.
Lemma always_latest d P : always d P → P (latest d).
Proof. intros HP. apply HP, leaves_latest. Qed.
Lemma always_flush d P : P (latest d) → always (ca_flush <$> d) P.
Proof. by intros HP f ->%leaves_flush. Qed.
Lemma always_new f P : P f → always (ca_new <$> f) P.
Proof. by intros HP g ->%leaves_new. Qed.
Lemma always_write d a c s P Q :
  always d P → d !! a = Some c → (∀ f, P f → Q f) → (∀ f, P f → Q (<[a := s]> f)) →
  always (<[a := ca_write s c]> d) Q.
Proof.
  intros HP Ha HQ1 HQ2 f Hf.
  destruct (leaves_write _ _ _ _ _ Ha Hf) as (g & Hg & [->| ->]); eauto.
Qed.

(** ** The assertions of all addresses *)
Section wp.
  Context `{!golangGS Σ}.

  Definition async_disk_is (b : boot) (d : async_disk) : iProp Σ := [∗ map] a ↦ c ∈ d, a a↦[b] c.
  Global Instance async_disk_is_timeless b d : Timeless (async_disk_is b d).
  Proof. apply _. Qed.

  Lemma wpe_async_disk_read b E d a c Φ :
    d !! a = Some c →
    ▷ async_disk_is b d -∗ ▷ (async_disk_is b d -∗ Φ #(LitStr (ca_latest c))) -∗
    WP Eff (DevOp AsyncRead) #(LitInt U64 a) @ b; E {{ Φ }}.
  Proof.
    iIntros (Ha) ">Hd HΦ". iDestruct (big_sepM_lookup_acc with "Hd") as "[Ha Hd]"; [done|].
    iApply (wpe_async_read with "Ha"). iIntros "!> Ha". iApply "HΦ". by iApply "Hd".
  Qed.
  Lemma wpe_async_disk_write b E d a c s Φ :
    d !! a = Some c → block_ok s →
    ▷ async_disk_is b d -∗ ▷ (async_disk_is b (<[a := ca_write s c]> d) -∗ Φ #()) -∗
    WP Eff (DevOp AsyncWrite) (#(LitInt U64 a), #(LitStr s))%V @ b; E {{ Φ }}.
  Proof.
    iIntros (Ha Hs) ">Hd HΦ". iDestruct (big_sepM_insert_acc with "Hd") as "[Ha Hd]"; [done|].
    iApply (wpe_async_write with "Ha"); [done|]. iIntros "!> Ha". iApply "HΦ". by iApply "Hd".
  Qed.
  Lemma wpe_async_disk_barrier b E d Φ :
    ▷ async_disk_is b d -∗ ▷ (async_disk_is b (ca_flush <$> d) -∗ Φ #()) -∗
    WP Eff (DevOp AsyncBarrier) #() @ b; E {{ Φ }}.
  Proof.
    iIntros ">Hd HΦ". iApply (wpe_async_barrier with "Hd"). iIntros "!> Hd". iApply "HΦ".
    by rewrite /async_disk_is big_sepM_fmap.
  Qed.

  (** A crash: of what the old boot knew to what the new one finds, [d3]. *)
  Lemma async_disk_crash b γs vn d d2 d3 :
    async_crash d2 d3 →
    boot_is b γs vn -∗ async_interp vn d2 -∗ async_disk_is b d -∗
    ⌜∃ f, leaves d f ∧ (ca_new <$> f) ⊆ d3⌝.
  Proof.
    iIntros (Hcrash) "#Hb Hd2 Hd".
    iAssert (⌜∀ a c, d !! a = Some c → ∃ s, s ∈ ca_possible c ∧ d3 !! a = Some (ca_new s)⌝)%I as %Hd.
    { iIntros (a c Ha). iDestruct (big_sepM_lookup with "Hd") as "Ha"; [done|].
      by iApply (async_pointsto_crash with "Hb Hd2 Ha"). }
    iPureIntro. exists (map_imap (λ a _, ca_latest <$> d3 !! a) d).
    assert (∀ a c s, d !! a = Some c → d3 !! a = Some (ca_new s) →
      map_imap (λ a _, ca_latest <$> d3 !! a) d !! a = Some s) as Hlookup.
    { intros a c s Ha Ha3. by rewrite map_lookup_imap Ha /= Ha3. }
    split; [split|].
    - apply set_eq. intros a. rewrite !elem_of_dom. split.
      + rewrite map_lookup_imap. intros [s Hs]. by destruct (d !! a).
      + intros [c Ha]. destruct (Hd _ _ Ha) as (s & _ & Hs). erewrite Hlookup; eauto.
    - intros a c Ha. destruct (Hd _ _ Ha) as (s & Hs & ?). exists s. split; [done|]. by eapply Hlookup.
    - apply map_subseteq_spec. intros a c2. rewrite lookup_fmap_Some.
      intros (s & <- & Hs). rewrite map_lookup_imap in Hs.
      destruct (d !! a) as [c|] eqn:Ha; [|done]. destruct (Hd _ _ Ha) as (t & _ & Ht).
      simpl in Hs. rewrite Ht in Hs. simpl in Hs. by simplify_eq.
  Qed.
  Lemma async_disk_new b γs vn d f :
    (ca_new <$> f) ⊆ d →
    boot_is b γs vn -∗ ([∗ map] a ↦ c ∈ d, a ↪[vn_async vn] c) -∗ async_disk_is b (ca_new <$> f).
  Proof.
    iIntros (Hf) "#Hb Hd". iDestruct (async_pointsto_new with "Hb Hd") as "Hd".
    by iApply big_sepM_subseteq.
  Qed.
End wp.

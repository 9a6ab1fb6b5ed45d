(** * Why a value that is decided in an epoch is the value in every later one *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export epochs register_inv.

Section epochs_inv.
Context `{Countable server} {value : Type} `{EqDecision value}.
Implicit Types (s : state server value) (σ : setting server) (v : value).

(** ** An epoch that begins with a value has no other *)

Record all_v v s (begun : server → Prop) : Prop := AllV {
  av_votes : ∀ a b w, Accepted a b w ∈ sent s → w = v;
  av_proposed : ∀ b w, Proposed b w ∈ sent s → b ≠ 0 → w = v;
  av_memory : ∀ a, begun a → trimmed (servers s a) = false →
    ∃ k, accepted (servers s a) = Some (k, v) ∧ k ≤ promised (servers s a);
  av_promised : ∀ a b x, Promised a b x ∈ sent s → ∃ k, x = Some (k, v);
  av_shown : ∀ a r x, Shown a r x ∈ sent s → ∃ k, x = Some (k, v);
  av_frozen : ∀ a x, Frozen a false x ∈ sent s → ∃ k, x = Some (k, v);
}.

(** An epoch that begins with a tombstone has nothing. *)
Record dead s (begun : server → Prop) : Prop := Dead {
  d_votes : ∀ a b w, Accepted a b w ∉ sent s;
  d_memory : ∀ a, begun a → trimmed (servers s a) = true;
  d_promised : ∀ a b x, Promised a b x ∉ sent s;
  d_shown : ∀ a r x, Shown a r x ∉ sent s;
  d_frozen : ∀ a x, Frozen a false x ∉ sent s;
}.

(** Servers that all say [v] let a client adopt [v] only. *)
Lemma choice_all_v σ Q (f : server → option (nat * value)) v w :
  sound σ → majority σ Q → (∀ a, a ∈ Q → ∃ k, f a = Some (k, v)) → choice σ Q f w → w = v.
Proof.
  intros Hσ HQ Hf Hch. destruct (majority_meets σ Hσ Q Q HQ HQ) as (a0 & Ha0 & _).
  assert (∀ k u a, a ∈ Q → f a = Some (k, u) → u = v) as Hval.
  { intros k u a Ha E. destruct (Hf a Ha) as (k' & E'). rewrite E' in E. by simplify_eq. }
  assert (∀ k, highest Q f k w → w = v) as Hhigh by (intros k ((a & Ha & E) & _); eauto).
  destruct Hch as [Hnone|Hch]; [destruct (Hf a0 Ha0) as (k & E); by rewrite (Hnone a0 Ha0) in E|].
  destruct (fast σ) as [F|] eqn:HF; [|naive_solver].
  destruct Hch as [(k & _ & Hk)|((u & (_ & Hmax)) & [(G & HG & HGf)|Hno])]; [eauto| |].
  - destruct (fast_meets σ Hσ F Q G G) as (a & Ha & HaG & _); [done..|]. eauto.
  - destruct (fast_exists σ Hσ F HF) as (G & HG). destruct (Hno v). exists G. split; [done|].
    intros a _ Ha. destruct (Hf a Ha) as (k & E). pose proof (Hmax a k v Ha E). by assert (k = 0) as -> by lia.
Qed.

Local Ltac by_move m := destruct m as [a0 b0|b0 v0 Q0 f0|v0|a0 b0 v0|r0|a0 r0|a0 r0 b0 v0|a0|a0].
Local Tactic Notation "sent_cases" hyp(H) :=
  simpl in H; apply elem_of_cons in H as [H|H]; [try discriminate H|].
Local Ltac at_server a a0 :=
  destruct (decide (a = a0)) as [->|];
  [rewrite ?fn_lookup_insert in *|rewrite ?fn_lookup_insert_ne in * by done].

Lemma all_v_step σ s begun v m :
  sound σ → all_v v s begun → allowed σ s m → (∀ a, actor m = Some a → begun a) →
  all_v v (effect s m) begun.
Proof.
  intros Hσ [Hvo Hpr Hme Hpm Hsh Hfr] Hg Hact. split.
  - intros a b w Hv. by_move m; sent_cases Hv; eauto. simplify_eq.
    destruct Hg as (Hp & (Hs & Ht) & Hle & Hno). destruct (decide (b0 = 0)) as [->|]; [|by eapply Hpr].
    destruct (Hme a0 (Hact a0 eq_refl) Ht) as (k & Hk & Hkle). assert (k = 0) as -> by lia. by destruct (Hno v).
  - intros b w Hp Hb. by_move m; sent_cases Hp; eauto; simplify_eq; [|].
    + destruct Hg as (_ & HQ & Hall & Hch & _). eapply choice_all_v; [done|done| |done].
      intros a Ha. by eapply Hpm, Hall.
    + simpl in Hg. apply Hsh in Hg as (k & ?). by simplify_eq.
  - intros a Hb. by_move m; simpl; try exact (Hme a Hb);
      (destruct (decide (a = a0)) as [->|];
        [rewrite fn_lookup_insert|rewrite fn_lookup_insert_ne by done; exact (Hme a Hb)]); simpl; intros Ht.
    + destruct Hg as ((_ & Ht') & _ & Hle'). destruct (Hme a0 Hb Ht') as (k & Hk & Hle). exists k. split; [done|lia].
    + exists b0. split; [|lia]. do 2 f_equal. destruct Hg as (Hp & (Hs & Ht') & Hle & Hno).
      destruct (decide (b0 = 0)) as [->|]; [|by eapply Hpr].
      destruct (Hme a0 Hb Ht') as (k & Hk & Hkle). assert (k = 0) as -> by lia. by destruct (Hno v).
    + by apply Hme.
    + by apply Hme.
    + done.
  - intros a b x Hp. by_move m; sent_cases Hp; eauto. simplify_eq.
    destruct (Hme a0 (Hact a0 eq_refl)) as (k & Hk & _); [apply Hg|eauto].
  - intros a r x Hp. by_move m; sent_cases Hp; eauto. simplify_eq.
    destruct (Hme a0 (Hact a0 eq_refl)) as (k & Hk & _); [apply Hg|eauto].
  - intros a x Hp. by_move m; sent_cases Hp; eauto. simplify_eq.
    destruct (Hme a0 (Hact a0 eq_refl)) as (k & Hk & _); [done|eauto].
Qed.

Lemma dead_step σ s begun m :
  sound σ → dead s begun → allowed σ s m → (∀ a, actor m = Some a → begun a) →
  dead (effect s m) begun.
Proof.
  intros Hσ [Hvo Hme Hpm Hsh Hfr] Hg Hact. split.
  - intros a b w Hv. by_move m; sent_cases Hv; try (by eapply Hvo). simplify_eq.
    destruct Hg as (_ & (_ & Ht) & _). by rewrite (Hme a0 (Hact a0 eq_refl)) in Ht.
  - intros a Hb. by_move m; simpl; try exact (Hme a Hb);
      (destruct (decide (a = a0)) as [->|];
        [rewrite fn_lookup_insert|rewrite fn_lookup_insert_ne by done; exact (Hme a Hb)]);
      simpl; try done; try exact (Hme a0 Hb).
    + destruct Hg as ((_ & Ht) & _). by rewrite (Hme a0 Hb) in Ht.
    + destruct Hg as (_ & (_ & Ht) & _). by rewrite (Hme a0 Hb) in Ht.
  - intros a b x Hp. by_move m; sent_cases Hp; try (by eapply Hpm). simplify_eq.
    destruct Hg as ((_ & Ht) & _). by rewrite (Hme a0 (Hact a0 eq_refl)) in Ht.
  - intros a r x Hp. by_move m; sent_cases Hp; try (by eapply Hsh). simplify_eq.
    destruct Hg as (_ & (_ & Ht)). by rewrite (Hme a0 (Hact a0 eq_refl)) in Ht.
  - intros a x Hp. by_move m; sent_cases Hp; try (by eapply Hfr). injection Hp as -> Ht _.
    by rewrite (Hme a0 (Hact a0 eq_refl)) in Ht.
Qed.

(** ** What an epoch with its origin is, and what is merged from it *)

Definition epoch_ok (c : content value) σ s (begun : server → Prop) : Prop :=
  match c with
  | Nothing => inv σ s
  | Value v => all_v v s begun
  | Tombstone => dead s begun
  end.

(** What may be decided in it goes on. *)
Definition goes_on (c0 : content value) σ s (c : content value) : Prop :=
  match c0 with
  | Nothing => ∀ b w, possible σ s b w → c = Value w ∨ c = Tombstone
  | Value v => c = Value v ∨ c = Tombstone
  | Tombstone => c = Tombstone
  end.

Lemma epoch_ok_step c σ s begun m :
  sound σ → epoch_ok c σ s begun → allowed σ s m → (∀ a, actor m = Some a → begun a) →
  epoch_ok c σ (effect s m) begun.
Proof.
  destruct c as [|v|]; simpl; intros.
  - by apply inv_step.
  - by eapply all_v_step.
  - by eapply dead_step.
Qed.

Lemma goes_on_step c0 c σ s begun m :
  epoch_ok c0 σ s begun → allowed σ s m → goes_on c0 σ s c → goes_on c0 σ (effect s m) c.
Proof. destruct c0 as [|v|]; simpl; [|done|done]. intros HI Hg Hon b w Hp. by eapply Hon, possible_mono. Qed.

Lemma epoch_ok_begin c σ s (begun begun' : server → Prop) a :
  epoch_ok c σ s begun → (∀ x, begun' x → begun x ∨ x = a) → epoch_ok c σ (install s a c) begun'.
Proof.
  intros Hok Hb. destruct c as [|v|]; simpl in *; [done| |].
  - destruct Hok as [Hvo Hpr Hme Hpm Hsh Hfr]. split; simpl.
    + intros x b w Hv. sent_cases Hv; [by simplify_eq|eauto].
    + intros b w Hv. sent_cases Hv. eauto.
    + intros x Hx. destruct (decide (x = a)) as [->|]; [rewrite fn_lookup_insert|rewrite fn_lookup_insert_ne by done].
      * intros _. by exists 0.
      * destruct (Hb x Hx); [by apply Hme|done].
    + intros x b y Hv. sent_cases Hv. eauto.
    + intros x r y Hv. sent_cases Hv. eauto.
    + intros x y Hv. sent_cases Hv. eauto.
  - destruct Hok as [Hvo Hme Hpm Hsh Hfr]. split; simpl.
    + intros x b w Hv. sent_cases Hv. by eapply Hvo.
    + intros x Hx. destruct (decide (x = a)) as [->|]; [by rewrite fn_lookup_insert|rewrite fn_lookup_insert_ne by done].
      destruct (Hb x Hx); [by apply Hme|done].
    + intros x b y Hv. sent_cases Hv. by eapply Hpm.
    + intros x r y Hv. sent_cases Hv. by eapply Hsh.
    + intros x y Hv. sent_cases Hv. by eapply Hfr.
Qed.

Lemma epoch_ok_mono c σ s (begun begun' : server → Prop) :
  epoch_ok c σ s begun → (∀ x, begun' x → begun x) → epoch_ok c σ s begun'.
Proof. intros Hok Hb. destruct c; simpl in *; [done| |]; destruct Hok; split; naive_solver. Qed.

Lemma epoch_ok_init c σ (begun : server → Prop) :
  (∀ a, ¬ begun a) → epoch_ok c σ (init : state server value) begun.
Proof.
  intros Hno. destruct c; simpl; [apply inv_init| |]; split; simpl; intros; try set_solver; exfalso; eauto.
Qed.

(** A sealed server covers all that it accepted, or ever will. *)
Lemma frozen_covers σ s a b x : inv σ s → Frozen a false x ∈ sent s → closed s a b x.
Proof.
  intros HI Hf. destruct (frozen_closed σ s HI a x Hf) as (Hs & Ht & <-).
  eapply memory_closed; [done|done|]. left. intros [Hno _]. by rewrite Hs in Hno.
Qed.

(** R1: the merge of a majority takes what may be decided. *)
Lemma merge_goes_on c0 c σ s begun Q t f :
  sound σ → epoch_ok c0 σ s begun → majority σ Q →
  (∀ a, a ∈ Q → Frozen a (t a) (f a) ∈ sent s) → merges σ Q t f c → goes_on c0 σ s c.
Proof.
  intros Hσ Hok HQ Hfr Hm.
  assert ((∀ a, a ∈ Q → t a = false) → ∀ a, a ∈ Q → Frozen a false (f a) ∈ sent s) as Hfalse.
  { intros Ht a Ha. rewrite <- (Ht a Ha). by apply Hfr. }
  destruct (majority_meets σ Hσ Q Q HQ HQ) as (a0 & Ha0 & _).
  destruct c0 as [|v|]; simpl in *.
  - intros b w Hp. destruct c as [|u|]; [| |by right]; destruct Hm as [Ht Hm]; specialize (Hfalse Ht).
    + exfalso. destruct (possible_seen σ s (S b) Q f Hσ Hok HQ) with (c := b) (w := w)
        as ((a & k & u & Ha & _ & Hfa & _) & Hfast); [|lia|done|].
      { intros a Ha. eapply frozen_covers; [done|]. by apply Hfalse. }
      destruct Hm as [Hnone|(F & u' & HF & Hu' & Hno)]; [by rewrite (Hnone a Ha) in Hfa|].
      by destruct (Hno w); eapply Hfast.
    + left. f_equal. symmetry. eapply (choice_safe σ s (S b) Q f Hσ Hok HQ); [| |by apply Nat.lt_succ_diag_r|exact Hp].
      { intros a Ha. eapply frozen_covers; [done|]. by apply Hfalse. }
      destruct Hm as (k & Hk & Hfast). right. destruct (fast σ) as [F|] eqn:HF; [|by exists k].
      destruct (decide (k = 0)) as [->|]; [right|left; eauto]. split; [eauto|]. left. by apply Hfast.
  - destruct c as [|u|]; [| |by right]; destruct Hm as [Ht Hm]; specialize (Hfalse Ht);
      assert (∀ a, a ∈ Q → ∃ k, f a = Some (k, v)) as Hf by (intros a Ha; by eapply av_frozen, Hfalse).
    + exfalso. destruct Hm as [Hnone|(F & u & HF & (_ & Hmax) & Hno)].
      * destruct (Hf a0 Ha0) as (k & E). by rewrite (Hnone a0 Ha0) in E.
      * destruct (fast_exists σ Hσ F HF) as (G & HG). destruct (Hno v). exists G. split; [done|].
        intros a _ Ha. destruct (Hf a Ha) as (k & E). pose proof (Hmax a k v Ha E). by assert (k = 0) as -> by lia.
    + destruct Hm as (k & ((a & Ha & E) & _) & _). destruct (Hf a Ha) as (k' & E'). rewrite E' in E. simplify_eq. by left.
  - destruct c as [|u|]; [| |done]; destruct Hm as [Ht _]; specialize (Hfalse Ht);
      exfalso; by eapply d_frozen, Hfalse.
Qed.

End epochs_inv.

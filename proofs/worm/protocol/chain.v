(** * A write-once register on a chain of servers, as internal/worm/chain keeps it

    Servers 0 to [last], the head first.  The head takes the first value that comes
    at a ballot that it has not promised away; a client takes it from there to one
    server after the other, and anybody may go on with what is half done.  A value
    that the last server has is decided.  Each server may be sealed at any moment;
    tombstones go down the chain as values do.  Messages are only added, as in
    register.v, and what is durable is as there. *)
From stdpp Require Import prelude functions.

Section chain.
Context {value : Type} (last : nat).

Record link := Link {
  held : option value;   (* what the server has taken *)
  closed : bool;         (* its epoch is over *)
  buried : bool;         (* it has the tombstone, and nothing else *)
}.
Definition answers (x : link) : Prop := closed x = false ∧ buried x = false.

Inductive letter :=
  | Holds (i : nat) (v : value)                     (* server i has v *)
  | Asked (r : nat)                                 (* read r is asked *)
  | Shows (i r : nat) (x : option value)            (* server i answers it *)
  | Froze (i : nat) (t : bool) (x : option value)   (* server i is sealed with this *)
  | Tomb (i : nat).                                 (* server i has the tombstone *)

Record chain := Chain {
  links : nat → link;
  granted : nat;         (* the ballot that the head has promised *)
  letters : list letter;
}.
Definition empty_chain : chain := Chain (λ _, Link None false false) 0 [].

Definition change (s : chain) (i : nat) (x : link) (m : letter) : chain :=
  Chain (<[i := x]> (links s)) (granted s) (m :: letters s).

Inductive chain_step (s : chain) : chain → Prop :=
  | chain_capture b :
      answers (links s 0) → granted s ≤ b → chain_step s (Chain (links s) b (letters s))
  | chain_write b v :
      answers (links s 0) → held (links s 0) = None → granted s ≤ b →
      chain_step s (change s 0 (Link (Some v) false false) (Holds 0 v))
  | chain_forward i v :
      i < last → Holds i v ∈ letters s ∨ (∃ r, Shows i r (Some v) ∈ letters s) →
      answers (links s (S i)) → held (links s (S i)) = None →
      chain_step s (change s (S i) (Link (Some v) false false) (Holds (S i) v))
  | chain_ask r : chain_step s (Chain (links s) (granted s) (Asked r :: letters s))
  | chain_show i r :
      Asked r ∈ letters s → answers (links s i) →
      chain_step s (change s i (links s i) (Shows i r (held (links s i))))
  | chain_seal i :
      chain_step s (change s i (Link (held (links s i)) true (buried (links s i)))
        (Froze i (buried (links s i)) (held (links s i))))
  | chain_trim i :
      i = 0 ∨ (∃ j, i = S j ∧ Tomb j ∈ letters s) → closed (links s i) = false →
      chain_step s (change s i (Link None false true) (Tomb i)).

(** [v] is decided: the last server has it. *)
Definition chain_decided (s : chain) (v : value) : Prop := Holds last v ∈ letters s.

Record chain_inv (s : chain) : Prop := ChainInv {
  (* C0: what a server has, all before it have, and no server has two values *)
  c_prefix : ∀ i v j, Holds i v ∈ letters s → j ≤ i → Holds j v ∈ letters s;
  c_one : ∀ v w, Holds 0 v ∈ letters s → Holds 0 w ∈ letters s → v = w;
  c_memory : ∀ i v, held (links s i) = Some v → Holds i v ∈ letters s;
  c_kept : ∀ i v, Holds i v ∈ letters s → buried (links s i) = false → held (links s i) = Some v;
  c_shown : ∀ i r v, Shows i r (Some v) ∈ letters s → Holds i v ∈ letters s;
  (* C2: a sealed server does not change *)
  c_frozen : ∀ i x, Froze i false x ∈ letters s →
    closed (links s i) = true ∧ buried (links s i) = false ∧ held (links s i) = x;
  c_tombs : ∀ i j, Tomb i ∈ letters s → j ≤ i → buried (links s j) = true;
}.

Lemma chain_inv_init : chain_inv empty_chain.
Proof. split; simpl; intros; try done; set_solver. Qed.

Local Tactic Notation "cases" hyp(H) :=
  apply elem_of_cons in H as [H|H]; [try discriminate H|].
Local Ltac at_link i j :=
  destruct (decide (i = j)) as [->|];
  [rewrite ?fn_lookup_insert|rewrite ?fn_lookup_insert_ne by done].
Local Ltac later := by apply elem_of_list_further.

Lemma chain_inv_step s s' : chain_inv s → chain_step s s' → chain_inv s'.
Proof.
  intros [Hpre Hone Hmem Hkept Hshown Hfroz Htomb] Hs.
  destruct Hs as [b Ha Hb|b v Ha Hno Hb|i v Hi Hhave Ha Hno|r|i r Hr Ha|i|i Hi Hc]; simpl.
  - by split.
  - (* the head takes a value: nobody has one *)
    assert (∀ j w, Holds j w ∉ letters s) as Hnone.
    { intros j w Hw. pose proof (Hpre j w 0 Hw ltac:(lia)) as H0. destruct Ha as [_ Hb0].
      by rewrite (Hkept 0 w H0 Hb0) in Hno. }
    split; simpl.
    + intros i w j Hw Hj. cases Hw; [|by destruct (Hnone i w)]. simplify_eq.
      assert (j = 0) as -> by lia. apply elem_of_list_here.
    + intros w u Hw Hu. cases Hw; [|by destruct (Hnone 0 w)]. cases Hu; [|by destruct (Hnone 0 u)]. by simplify_eq.
    + intros i w. at_link i 0; simpl; [intros [= ->]; apply elem_of_list_here|intros ?; apply elem_of_list_further; auto].
    + intros i w Hw. cases Hw; [|by destruct (Hnone i w)]. simplify_eq. by rewrite fn_lookup_insert.
    + intros i r w Hw. cases Hw. apply elem_of_list_further. eauto.
    + intros i x Hw. cases Hw. destruct (Hfroz i x Hw) as (Hcl & ? & ?). at_link i 0; [|done].
      destruct Ha as [Hcl' _]. by rewrite Hcl in Hcl'.
    + intros i j Hw Hj. cases Hw. pose proof (Htomb i j Hw Hj). at_link j 0; [|done].
      destruct Ha as [_ Hb']. congruence.
  - (* the next server takes what the one before has *)
    assert (Holds i v ∈ letters s) as Hv by (destruct Hhave as [?|(r & ?)]; eauto).
    assert (∀ w, Holds (S i) w ∉ letters s) as Hnone.
    { intros w Hw. destruct Ha as [_ Hb]. by rewrite (Hkept _ w Hw Hb) in Hno. }
    split; simpl.
    + intros j w k Hw Hk. cases Hw.
      * simplify_eq. destruct (decide (k = S i)) as [->|]; [apply elem_of_list_here|].
        apply elem_of_list_further. apply (Hpre i); [done|lia].
      * apply elem_of_list_further. by apply (Hpre j).
    + intros w u Hw Hu. cases Hw. cases Hu. by apply Hone.
    + intros j w. at_link j (S i); simpl; [intros [= ->]; apply elem_of_list_here|intros ?; apply elem_of_list_further; auto].
    + intros j w Hw. cases Hw; [simplify_eq; by rewrite fn_lookup_insert|].
      at_link j (S i); [by destruct (Hnone w)|auto].
    + intros j r w Hw. cases Hw. apply elem_of_list_further. eauto.
    + intros j x Hw. cases Hw. destruct (Hfroz j x Hw) as (Hcl & ? & ?). at_link j (S i); [|done].
      destruct Ha as [Hcl' _]. by rewrite Hcl in Hcl'.
    + intros j k Hw Hk. cases Hw. pose proof (Htomb j k Hw Hk). at_link k (S i); [|done].
      destruct Ha as [_ Hb']. congruence.
  - split; simpl.
    + intros i v j Hw Hj. cases Hw. apply elem_of_list_further. by apply (Hpre i).
    + intros v w Hv Hw. cases Hv. cases Hw. by apply Hone.
    + intros i v Hv. apply elem_of_list_further. auto.
    + intros i v Hv. cases Hv. auto.
    + intros i r' v Hv. cases Hv. apply elem_of_list_further. eauto.
    + intros i x Hv. cases Hv. auto.
    + intros i j Hv. cases Hv. eauto.
  - assert (∀ j, <[i := links s i]> (links s) j = links s j) as E.
    { intros j. by at_link j i. }
    split; simpl.
    + intros k v j Hw Hj. cases Hw. apply elem_of_list_further. by apply (Hpre k).
    + intros v w Hv Hw. cases Hv. cases Hw. by apply Hone.
    + intros k v Hv. rewrite E in Hv. apply elem_of_list_further. auto.
    + intros k v Hv. rewrite E. cases Hv. auto.
    + intros k r' v Hv. apply elem_of_list_further. cases Hv; [injection Hv as -> _ Hv; auto|eauto].
    + intros k x Hv. rewrite E. cases Hv. auto.
    + intros k j Hv. rewrite E. cases Hv. eauto.
  - split; simpl.
    + intros k v j Hw Hj. cases Hw. apply elem_of_list_further. by apply (Hpre k).
    + intros v w Hv Hw. cases Hv. cases Hw. by apply Hone.
    + intros k v. at_link k i; simpl; intros ?; apply elem_of_list_further; auto.
    + intros k v Hv. cases Hv. at_link k i; simpl; auto.
    + intros k r' v Hv. cases Hv. apply elem_of_list_further. eauto.
    + intros k x Hv. cases Hv.
      * injection Hv as -> Ht ->. rewrite fn_lookup_insert. simpl. by rewrite <- Ht.
      * destruct (Hfroz k x Hv) as (? & ? & ?). at_link k i; done.
    + intros k j Hv Hj. cases Hv. pose proof (Htomb k j Hv Hj). at_link j i; done.
  - split; simpl.
    + intros k v j Hw Hj. cases Hw. apply elem_of_list_further. by apply (Hpre k).
    + intros v w Hv Hw. cases Hv. cases Hw. by apply Hone.
    + intros k v. at_link k i; simpl; [done|]. intros ?; apply elem_of_list_further; auto.
    + intros k v Hv. cases Hv. at_link k i; simpl; [done|auto].
    + intros k r' v Hv. cases Hv. apply elem_of_list_further. eauto.
    + intros k x Hv. cases Hv. destruct (Hfroz k x Hv) as (Hcl & ? & ?). at_link k i; [congruence|done].
    + intros k j Hv Hj. at_link j i; [done|]. cases Hv; [|eauto]. injection Hv as ->.
      destruct Hi as [->|(i' & -> & Hi')]; [lia|]. apply (Htomb i'); [done|lia].
Qed.

Lemma chain_inv_reachable s : rtc chain_step empty_chain s → chain_inv s.
Proof.
  intros Hr. remember empty_chain as s0 eqn:E. assert (chain_inv s0) as HI by (subst; apply chain_inv_init). clear E.
  induction Hr as [|s1 s2 s3 Hs _ IH]; [done|]. by eapply IH, chain_inv_step.
Qed.

Lemma letters_mono s s' x : rtc chain_step s s' → x ∈ letters s → x ∈ letters s'.
Proof.
  induction 1 as [|s1 s2 s3 Hs _ IH]; [done|]. intros Hx. apply IH.
  destruct Hs; simpl; try done; later.
Qed.

(** C1: what is decided is at all servers. *)
Lemma chain_everywhere s v i : chain_inv s → chain_decided s v → i ≤ last → Holds i v ∈ letters s.
Proof. intros HI Hv Hi. by eapply c_prefix. Qed.

Lemma chain_agree s v w : chain_inv s → chain_decided s v → chain_decided s w → v = w.
Proof. intros HI Hv Hw. eapply c_one; [done|by apply chain_everywhere; [..|lia]|by apply chain_everywhere; [..|lia]]. Qed.

(** Any one sealed server shows what is decided, or ever will be. *)
Lemma chain_sealed s v i x :
  chain_inv s → i ≤ last → Froze i false x ∈ letters s → chain_decided s v → x = Some v.
Proof.
  intros HI Hi Hf Hv. destruct (c_frozen s HI i x Hf) as (_ & Hb & <-).
  apply c_kept; [done| |done]. by apply chain_everywhere.
Qed.

(** A read that is asked after the decision is shown the value, or nothing at all. *)
Lemma chain_read s s' v i r x :
  chain_inv s → chain_decided s v → i ≤ last → (∀ y, Shows i r y ∉ letters s) →
  rtc chain_step s s' → Shows i r x ∈ letters s' → x = Some v.
Proof.
  intros HI Hv Hi Hno Hr.
  assert (chain_decided s v ∧ chain_inv s ∧ ∀ y, Shows i r y ∈ letters s → y = Some v) as HP.
  { split_and!; [done|done|]. intros y Hy. by destruct (Hno y). }
  clear HI Hv Hno. revert HP. induction Hr as [s|s1 s2 s3 Hs _ IH]; [naive_solver|].
  intros (Hv & HI & Hy) Hx. apply IH; [|done]. split_and!.
  - eapply letters_mono; [by apply rtc_once|done].
  - by eapply chain_inv_step.
  - intros y Hsh. assert (Holds i v ∈ letters s1) as Hh by by apply chain_everywhere.
    destruct Hs; simpl in Hsh; try (apply elem_of_cons in Hsh as [Hsh|Hsh]); try discriminate Hsh; auto.
    injection Hsh as -> -> ->. apply c_kept; [done|done|]. by destruct H0.
Qed.
End chain.

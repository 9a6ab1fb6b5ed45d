(** * Dedalus: whether a component may be divided, as a function *)
From stdpp Require Import prelude strings gmap gmultiset.
From ashlar.dedalus Require Import lang system keyed piece still divide.

(** Terms that are the same key: variables, constants and [Self]. *)
Definition same_key (t u : term) : bool :=
  match t, u with
  | Var x, Var y => bool_decide (x = y)
  | Const v, Const w => bool_decide (v = w)
  | Self, Self => true
  | _, _ => false
  end.

Lemma same_key_eq t u : same_key t u = true → t = u.
Proof. destruct t, u; simpl; try done; intros ?%bool_decide_eq_true; by f_equal. Qed.

Section check.
  Context (K : gmap string nat).

  (** The key of the first literal that has one and is no negation. *)
  Fixpoint first_key (b : list literal) : option term :=
    match b with
    | [] => None
    | Has a :: b => match K !! rel a with Some col => terms a !! col | None => first_key b end
    | _ :: b => first_key b
    end.

  Definition key_is_b (t : term) (a : atom) : bool :=
    match K !! rel a with
    | Some col => match terms a !! col with Some u => same_key u t | None => false end
    | None => true
    end.

  Fixpoint meets_b (t : term) (bound : bool) (b : list literal) : bool :=
    match b with
    | [] => bound
    | Has a :: b => key_is_b t a && meets_b t (bound || has_key K a) b
    | Lacks a :: b => implb (has_key K a) bound && key_is_b t a && meets_b t bound b
    | _ :: b => meets_b t bound b
    end.

  Definition is_key (t : term) (a : arg) : bool := match a with Plain u => same_key u t | Agg _ _ => false end.
  Definition is_plain (a : arg) : bool := match a with Plain _ => true | Agg _ _ => false end.

  Definition together_b (t : term) (r : rule) : bool :=
    simple t && meets_b t false (body r) && (forallb is_plain (args r) || existsb (is_key t) (args r)).

  Definition keeps_b (t : term) (r : rule) : bool :=
    together_b t r &&
    match K !! head r with
    | Some col => match args r !! col with Some a => is_key t a | None => false end
    | None => false
    end.

  Definition by_key (f : term → rule → bool) (r : rule) : bool :=
    match first_key (body r) with Some t => f t r | None => false end.

  Definition divisible_b (c : component) : bool :=
    forallb (forallb (by_key keeps_b)) (strata c) && forallb (by_key keeps_b) (nexts c) &&
    forallb (by_key together_b) (asyncs c).

  Lemma key_is_sound t a : key_is_b t a = true → key_is K t a.
  Proof.
    unfold key_is_b, key_is. destruct (K !! rel a); [|done]. destruct (terms a !! n); [|done].
    by intros ->%same_key_eq.
  Qed.

  Lemma meets_sound t bound b : meets_b t bound b = true → meets K t bound b.
  Proof.
    revert bound. induction b as [|[a|a|o u w|x u] b IH]; intros bound; simpl; try done; try by apply IH.
    - intros [H1 H2]%andb_true_iff. split; [by apply key_is_sound|by apply IH].
    - intros [[H1 H2]%andb_true_iff H3]%andb_true_iff. split; [|split; [by apply key_is_sound|by apply IH]].
      intros Ha. by rewrite Ha in H1.
  Qed.

  Lemma is_key_eq t a : is_key t a = true → a = Plain t.
  Proof. destruct a; simpl; [|done]. by intros ->%same_key_eq. Qed.

  Lemma together_sound t r : together_b t r = true → together K t r.
  Proof.
    intros [[H1 H2]%andb_true_iff H3]%andb_true_iff. split; [done|]. split; [by apply meets_sound|].
    apply orb_true_iff in H3 as [H3|H3].
    - left. apply list.Forall_forall. intros a Ha%elem_of_list_In. rewrite forallb_forall in H3.
      specialize (H3 a Ha). destruct a; [eauto|done].
    - right. apply existsb_exists in H3 as (a&Ha%elem_of_list_In&->%is_key_eq). done.
  Qed.

  Lemma keeps_sound t r : keeps_b t r = true → keeps K t r.
  Proof.
    intros [H1%together_sound H2]%andb_true_iff. split; [done|]. destruct (K !! head r) as [col|]; [|done].
    destruct (args r !! col) as [a|] eqn:Ha; [|done]. exists col. by apply is_key_eq in H2 as ->.
  Qed.

  Lemma forallb_Forall' {A} (f : A → bool) (P : A → Prop) l :
    (∀ x, f x = true → P x) → forallb f l = true → Forall P l.
  Proof. intros HP H. apply list.Forall_forall. intros x Hx%elem_of_list_In. rewrite forallb_forall in H. auto. Qed.

  Lemma by_key_sound f (P : term → rule → Prop) r :
    (∀ t, f t r = true → P t r) → by_key f r = true → ∃ t, P t r.
  Proof. intros HP. unfold by_key. destruct (first_key (body r)) as [t|]; [|done]. intros H. exists t. auto. Qed.

  Lemma divisible_sound c : divisible_b c = true → divisible K c.
  Proof.
    intros [[H1 H2]%andb_true_iff H3]%andb_true_iff. split; [|split].
    - revert H1. apply forallb_Forall'. intros rs. apply forallb_Forall'. intros r. apply by_key_sound. intros t. apply keeps_sound.
    - revert H2. apply forallb_Forall'. intros r. apply by_key_sound. intros t. apply keeps_sound.
    - revert H3. apply forallb_Forall'. intros r. apply by_key_sound. intros t. apply together_sound.
  Qed.

  Context (E : gset string).

  Definition awake_b (r : rule) : bool :=
    existsb (λ l, match l with Has a => bool_decide (rel a ∈ E) | _ => false end) (body r).

  Definition no_pulse_b (l : literal) : bool :=
    match l with Lacks a => bool_decide (rel a ∈ E) | _ => false end.

  Definition arg_var (a : arg) : option string := match a with Plain (Var x) => Some x | _ => None end.
  Definition term_var (t : term) : option string := match t with Var x => Some x | _ => None end.

  Definition persists_b (r : rule) : bool :=
    match mapM arg_var (args r), body r with
    | Some xs, Has a :: gs =>
        bool_decide (NoDup xs) && bool_decide (rel a = head r) && bool_decide (mapM term_var (terms a) = Some xs) &&
        forallb no_pulse_b gs
    | _, _ => false
    end.

  Definition still_b (c : component) : bool :=
    forallb (forallb (λ r, implb (bool_decide (head r ∈ E ∨ head r ∈ standing c)) (awake_b r))) (strata c) &&
    forallb (λ r, bool_decide (head r ∉ E) && (awake_b r || persists_b r) &&
      existsb (λ s, bool_decide (head s = head r) && bool_decide (length (args r) = length (args s)) && persists_b s) (nexts c)) (nexts c).

  Lemma awake_sound r : awake_b r = true → awake E r.
  Proof.
    intros (l&Hl%elem_of_list_In&H)%existsb_exists. destruct l as [a|a|o t u|x t]; try done.
    exists a. by apply bool_decide_eq_true in H.
  Qed.

  Lemma persists_sound r : persists_b r = true → ∃ xs, length (args r) = length xs ∧ persists E r xs.
  Proof.
    unfold persists_b. destruct (mapM arg_var (args r)) as [xs|] eqn:Ha; [|done].
    destruct (body r) as [|[a|a|o t u|x t] gs] eqn:Hb; try done.
    intros [[[H1%bool_decide_eq_true H2%bool_decide_eq_true]%andb_true_iff H3%bool_decide_eq_true]%andb_true_iff H4]%andb_true_iff.
    exists xs. split; [by eapply mapM_length|].
    split; [|split; [done|]].
    - symmetry. eapply mapM_fmap_Some_inv; [exact Ha|]. intros [[]|] y ?; by simplify_eq/=.
    - exists gs. split.
      + destruct a as [ra ta]. simpl in *. subst ra.
        assert (Var <$> xs = ta) as ->; [|done]. eapply mapM_fmap_Some_inv; [exact H3|].
        intros [] y ?; by simplify_eq/=.
      + revert H4. apply forallb_Forall'. intros l Hl. destruct l as [b|b|o t u|x t]; try done.
        exists b. by apply bool_decide_eq_true in Hl.
  Qed.

  Lemma still_sound c : still_b c = true → still E c.
  Proof.
    intros [H1 H2]%andb_true_iff. rewrite forallb_forall in H1, H2. split.
    - intros rs r Hrs%elem_of_list_In Hr%elem_of_list_In Hh. specialize (H1 rs Hrs). rewrite forallb_forall in H1.
      specialize (H1 r Hr). rewrite bool_decide_eq_true_2 in H1 by done. by apply awake_sound.
    - intros r Hr%elem_of_list_In. specialize (H2 r Hr).
      apply andb_true_iff in H2 as [[H3%bool_decide_eq_true H4]%andb_true_iff H5].
      split; [done|]. split.
      { apply orb_true_iff in H4 as [H4|H4]; [left; by apply awake_sound|right].
        destruct (persists_sound _ H4) as (xs&_&?). eauto. }
      apply existsb_exists in H5 as (s&Hs%elem_of_list_In&H5).
      apply andb_true_iff in H5 as [[H6%bool_decide_eq_true H7%bool_decide_eq_true]%andb_true_iff H8].
      destruct (persists_sound _ H8) as (xs&Hl&Hp). exists s, xs. split; [done|]. split; [done|]. split; [congruence|done].
  Qed.
End check.

(** The certificate is the plan; this is its checker. *)
Definition apart_b (p : plan) (Σ : system) (c : component) : bool :=
  divisible_b (keys p) c && still_b (pulses p) c &&
  bool_decide (Forall (λ x, (is_Some (keys p !! x) ∨ x ∈ statics Σ) ∧ x ∉ inputs Σ ∧ x ∉ timers Σ) (reads c)).

Definition may_divide_b (place : value → nat → value) (p : plan) (Σ : system) : bool :=
  bool_decide (0 < pieces p) &&
  bool_decide (NoDup (addr <$> instances Σ)) &&
  bool_decide (Forall (λ a, Forall (λ q,
      Forall (λ i, addr i ∉ nodes p → addr i ≠ place a q) (instances Σ) ∧
      Forall (λ b, Forall (λ k, place a q = place b k → a = b ∧ q = k) (seq 0 (pieces p))) (elements (nodes p)))
    (seq 0 (pieces p))) (elements (nodes p))) &&
  bool_decide (set_Forall (λ f, f.1 ∈ statics Σ) (facts Σ)) &&
  bool_decide (set_Forall (λ x, keys p !! x = None ∧ x ∉ pulses p) (statics Σ)) &&
  bool_decide (set_Forall (λ x, keys p !! x = None) (outputs Σ)) &&
  forallb (λ i, implb (bool_decide (addr i ∈ nodes p)) (apart_b p Σ (rules i))) (instances Σ).

Local Lemma forall_elem {A} (P : A → Prop) l x : Forall P l → x ∈ l → P x.
Proof. intros H. by apply list.Forall_forall. Qed.

Lemma may_divide_sound place p Σ : may_divide_b place p Σ = true → may_divide place p Σ.
Proof.
  unfold may_divide_b. rewrite !andb_true_iff, !bool_decide_eq_true, forallb_forall.
  intros ((((((H1&H2)&H3)&H4)&H5)&H6)&H7). split; [done|]. split; [done|]. split; [|split; [done|split; [done|split; [done|]]]].
  - intros a q Ha%elem_of_elements Hq. pose proof (forall_elem _ _ _ H3 Ha) as H8.
    assert (∀ k, k < pieces p → k ∈ seq 0 (pieces p)) as Hseq by (intros; apply elem_of_seq; lia).
    destruct (forall_elem _ _ _ H8 (Hseq q Hq)) as [H9 H10]. split.
    { intros i Hi. exact (forall_elem _ _ _ H9 Hi). }
    intros b k Hb%elem_of_elements Hk. exact (forall_elem _ _ _ (forall_elem _ _ _ H10 Hb) (Hseq k Hk)).
  - intros i Hi%elem_of_list_In Ha. specialize (H7 i Hi). rewrite bool_decide_eq_true_2 in H7 by done. simpl in H7.
    unfold apart_b in H7. rewrite !andb_true_iff, bool_decide_eq_true in H7. destruct H7 as [[? ?] ?].
    split; [by apply divisible_sound|]. split; [by apply still_sound|done].
Qed.

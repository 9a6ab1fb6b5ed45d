(** * Dedalus: a component taken apart into two that share nothing

    The rules of some instances are divided into two sides, by the relations that they read
    and derive: those of [moves] and all others.  No rule has relations of both, static ones
    apart.  The moved rules become an instance of their own, and the network sends to it
    what they read (mutually independent decoupling, with redirection).  Where in addition ticks
    in which nothing comes in change neither side, clients see nothing that they might not have
    seen before.  The two instances do not crash; the others may, if they might before. *)
From stdpp Require Import prelude strings gmap gmultiset functions.
From ashlar.dedalus Require Import lang system keyed piece still partition.

Record decoupling := Decoupling {
  moves : gset string;    (* the relations that moved rules read and derive *)
  idle_in : gset string;  (* pulses, as in still.v *)
  apart_at : gset value;  (* the instances that are taken apart *)
}.

(** ** What a rule does depends on what it reads *)
Section reading.
  Context (fns : string → row → option value) (self : value).

  Definition relations (b : list literal) : list string :=
    omap (λ l, match l with Has a | Lacks a => Some (rel a) | _ => None end) b.

  Lemma solutions_same F G b e e' :
    (∀ f, f.1 ∈ relations b → f ∈ F ↔ f ∈ G) → e' ∈ solutions fns self F b e ↔ e' ∈ solutions fns self G b e.
  Proof.
    revert e. induction b as [|l b IH]; intros e H; [done|]. rewrite !elem_of_solutions_cons.
    assert (∀ f, f.1 ∈ relations b → f ∈ F ↔ f ∈ G) as Hb.
    { intros f Hf. apply H. destruct l; simpl; [by right|by right|done|done]. }
    assert (∀ e1, e1 ∈ extend fns self F l e ↔ e1 ∈ extend fns self G l e) as Hl.
    { intros e1. destruct l as [a|a|o t u|x t]; try done.
      all: assert (∀ f, f.1 = rel a → f ∈ F ↔ f ∈ G) as Ha by (intros f Hf; apply H; rewrite Hf; by left).
      - rewrite !elem_of_extend_has. split; intros (f&Hf&Hm); exists f; (split; [|done]);
          pose proof Hm as (Hr&_)%matching_spec; by apply Ha.
      - rewrite !elem_of_extend_lacks. split; intros [-> Hno]; (split; [done|]); intros f Hf;
          destruct (matching fns self e a f) as [e2|] eqn:Hm; try done;
          pose proof Hm as (Hr&_)%matching_spec; rewrite <- Hm; by apply Hno, Ha. }
    split; intros (e1&H1&H2); exists e1; (split; [by apply Hl|by apply IH]).
  Qed.

  Lemma fires_same r F G : (∀ f, f.1 ∈ read_by r → f ∈ F ↔ f ∈ G) → fires fns self r F = fires fns self r G.
  Proof. intros H. apply set_eq. intros e. rewrite !elem_of_fires. by rewrite (solutions_same F G). Qed.

  Lemma derive_same r F G : (∀ f, f.1 ∈ read_by r → f ∈ F ↔ f ∈ G) → derive fns self F r = derive fns self G r.
  Proof. intros H. unfold derive. by rewrite (fires_same r F G). Qed.

  Lemma send_same r F G : (∀ f, f.1 ∈ read_by r → f ∈ F ↔ f ∈ G) → send fns self F r = send fns self G r.
  Proof. intros H. unfold send. by rewrite (fires_same r F G). Qed.
End reading.

(** ** Two sides *)
Section sides.
  Context (S M : gset string).   (* static relations, and those that move *)

  Definition mine (b : bool) (f : fact) : Prop := f.1 ∈ S ∨ bool_decide (f.1 ∈ M) = b.
  Definition half (b : bool) (F : gset fact) : gset fact := filter (mine b) F.

  (** Rules that derive something go where that goes, the others where what they read is. *)
  Definition derives_moved (r : rule) : bool := bool_decide (head r ∈ M).
  Definition reads_moved (r : rule) : bool := existsb (λ x, bool_decide (x ∈ M)) (read_by r).

  Definition side (b : bool) (c : component) : component :=
    Component ((λ rs, filter (λ r, derives_moved r = b) rs) <$> strata c) (filter (λ r, derives_moved r = b) (nexts c))
      (filter (λ r, reads_moved r = b) (asyncs c)).

  Definition one_sided (b : bool) (r : rule) : Prop := ∀ x, x ∈ read_by r → x ∈ S ∨ bool_decide (x ∈ M) = b.
  Definition derives_alone (r : rule) : Prop := head r ∉ S ∧ one_sided (derives_moved r) r.
  Definition sides (c : component) : Prop :=
    Forall (Forall derives_alone) (strata c) ∧ Forall derives_alone (nexts c) ∧
    Forall (λ r, one_sided (reads_moved r) r) (asyncs c).

  Lemma elem_of_half b f F : f ∈ half b F ↔ mine b f ∧ f ∈ F.
  Proof. apply elem_of_filter. Qed.
  Lemma half_union b F G : half b (F ∪ G) = half b F ∪ half b G.
  Proof. apply set_eq. intros f. rewrite elem_of_union, !elem_of_half, elem_of_union. tauto. Qed.

  Lemma half_same b r F : one_sided b r → ∀ f, f.1 ∈ read_by r → f ∈ half b F ↔ f ∈ F.
  Proof. intros H f Hf. rewrite elem_of_half. split; [naive_solver|]. intros Hin. split; [by apply H|done]. Qed.

  Section tick.
    Context (fns : string → row → option value) (self : value) (b : bool).
    Local Notation derive := (derive fns self).

    Lemma derives_half rs F :
      Forall derives_alone rs →
      ⋃ (derive (half b F) <$> filter (λ r, derives_moved r = b) rs) = half b (⋃ (derive F <$> rs)).
    Proof.
      rewrite list.Forall_forall. intros H. apply set_eq. intros f. rewrite elem_of_half, !elem_of_derives. split.
      - intros (r&[Hb Hr]%elem_of_list_filter&Hf). destruct (H r Hr) as [Hs Ho]. rewrite Hb in Ho.
        rewrite (derive_same fns self r _ F) in Hf by (by apply half_same).
        split; [|eauto]. right. apply elem_of_derive in Hf as (e&v&_&_&->). exact Hb.
      - intros [Hm (r&Hr&Hf)]. destruct (H r Hr) as [Hs Ho].
        assert (derives_moved r = b) as Hb.
        { destruct Hm as [Hm|Hm]; apply elem_of_derive in Hf as (e&v&_&_&->); [by destruct Hs|exact Hm]. }
        exists r. split; [by apply elem_of_list_filter|]. rewrite Hb in Ho.
        by rewrite (derive_same fns self r _ F) by (by apply half_same).
    Qed.

    Lemma close_half n ss F :
      Forall (Forall derives_alone) ss →
      close fns self n ((λ rs, filter (λ r, derives_moved r = b) rs) <$> ss) (half b F) = half b (close fns self n ss F).
    Proof.
      intros H. revert F. unfold close. induction H as [|rs ss Hrs _ IH]; intros F; [done|]. simpl.
      assert (complete fns self n (filter (λ r, derives_moved r = b) rs) (half b F) = half b (complete fns self n rs F)) as ->; [|by rewrite IH].
      unfold complete. clear IH. induction n as [|m IHm]; [done|].
      change (once fns self (filter (λ r, derives_moved r = b) rs) (Nat.iter m (once fns self (filter (λ r, derives_moved r = b) rs)) (half b F)) =
        half b (once fns self rs (Nat.iter m (once fns self rs) F))).
      rewrite IHm. unfold once. by rewrite derives_half, half_union.
    Qed.

    Lemma now_half n c F : sides c → now fns self n (side b c) (half b F) = half b (now fns self n c F).
    Proof. intros (H&_&_). by apply close_half. Qed.

    Lemma carried_on_half c G : sides c → carried_on fns self (side b c) (half b G) = half b (carried_on fns self c G).
    Proof. intros (_&H&_). by apply derives_half. Qed.

    Lemma sends_half c G : sides c → sends fns self (side b c) (half b G) ⊆ sends fns self c G.
    Proof.
      intros (_&_&H) m. unfold sends. rewrite !elem_of_union_list. rewrite list.Forall_forall in H.
      intros (X&(r&->&[Hb Hr]%elem_of_list_filter)%elem_of_list_fmap&Hm). exists (send fns self G r).
      split; [apply elem_of_list_fmap; eauto|]. specialize (H r Hr). simpl in H. rewrite Hb in H.
      by rewrite (send_same fns self r _ G) in Hm by (by apply half_same).
    Qed.
  End tick.

  Lemma reads_side b c x : sides c → x ∈ reads (side b c) → x ∈ reads c ∧ (x ∉ S → bool_decide (x ∈ M) = b).
  Proof.
    intros (H1&H2&H3). rewrite list.Forall_forall in H1. rewrite list.Forall_forall in H2. rewrite list.Forall_forall in H3. unfold reads.
    rewrite !elem_of_list_In, !in_concat. intros (l&Hl&Hx).
    apply elem_of_list_In, elem_of_list_fmap in Hl as (r&->&Hr). apply elem_of_list_In in Hx.
    rewrite !elem_of_app in Hr. simpl in Hr.
    assert (∀ r, r ∈ concat (strata c) ++ nexts c ++ asyncs c → one_sided b r → x ∈ read_by r →
      (∃ l, In l (read_by <$> concat (strata c) ++ nexts c ++ asyncs c) ∧ In x l) ∧ (x ∉ S → bool_decide (x ∈ M) = b)) as Hall.
    { intros r' Hr' Ho Hx'. split.
      - exists (read_by r'). split; apply elem_of_list_In; [|done]. apply elem_of_list_fmap. eauto.
      - intros Hs. by destruct (Ho x Hx'). }
    destruct Hr as [Hr|[Hr|Hr]].
    - apply elem_of_list_In, in_concat in Hr as (rs&Hrs%elem_of_list_In&Hr%elem_of_list_In).
      apply elem_of_list_fmap in Hrs as (rs'&->&Hrs'). apply elem_of_list_filter in Hr as [Hb Hr].
      apply (Hall r); [| |done].
      + apply elem_of_app. left. apply elem_of_list_In, in_concat. exists rs'. split; by apply elem_of_list_In.
      + specialize (H1 rs' Hrs'). rewrite list.Forall_forall in H1. destruct (H1 r Hr) as [_ Ho]. by rewrite Hb in Ho.
    - apply elem_of_list_filter in Hr as [Hb Hr]. apply (Hall r); [set_solver| |done].
      destruct (H2 r Hr) as [_ Ho]. by rewrite Hb in Ho.
    - apply elem_of_list_filter in Hr as [Hb Hr]. apply (Hall r); [set_solver| |done].
      specialize (H3 r Hr). simpl in H3. by rewrite Hb in H3.
  Qed.
End sides.

(** ** The decoupled system *)
Lemma routed_nothing Σ s : sent s ∪ routed Σ ∅ = sent s.
Proof. unfold routed. rewrite elements_empty. set_solver. Qed.

Section decouple.
  Context (place : value → value) (d : decoupling).

  (** Where the two sides of an instance are. *)
  Definition at_side (b : bool) (a : value) : value := if b then place a else a.
  Definition new_places : list value := place <$> elements (apart_at d).

  Definition redirect (m : message) : option message :=
    if decide (m.2.1 ∈ moves d) then
      if decide (m.1 ∈ apart_at d) then Some (place m.1, m.2)
      else if decide (m.1 ∈ new_places) then None else Some m
    else Some m.

  Definition in_halves (i : instance) : list instance :=
    if decide (addr i ∈ apart_at d)
    then (λ b, Instance (at_side b (addr i)) (self i) (side (moves d) b (rules i))) <$> [false; true]
    else [i].

  Definition decouple (Σ : system) : system :=
    System (instances Σ ≫= in_halves) (facts Σ) (statics Σ) (inputs Σ) (outputs Σ) (timers Σ) (durables Σ)
      (filter (λ a, a ∉ apart_at d ∧ a ∈ (addr <$> instances Σ)) (mortals Σ))
      (λ m, route Σ m ≫= redirect).

  (** What is asked of a component that is taken apart. *)
  Definition independent (Σ : system) (c : component) : Prop :=
    sides (statics Σ) (moves d) c ∧
    still (idle_in d) (side (moves d) false c) ∧ still (idle_in d) (side (moves d) true c) ∧
    ∀ x, x ∈ statics Σ → x ∉ idle_in d ∧ x ∉ standing c.

  Definition may_decouple (Σ : system) : Prop :=
    NoDup (addr <$> instances Σ) ∧
    (* places are new, and apart from each other *)
    (∀ a, a ∈ apart_at d → (∀ i, i ∈ instances Σ → addr i ≠ place a) ∧ ∀ b, b ∈ apart_at d → place a = place b → a = b) ∧
    (∀ f, f ∈ facts Σ → f.1 ∈ statics Σ) ∧
    (∀ x, x ∈ moves d → x ∉ statics Σ ∧ x ∉ inputs Σ ∧ x ∉ timers Σ ∧ x ∉ outputs Σ) ∧
    (∀ i, i ∈ instances Σ → addr i ∈ apart_at d → independent Σ (rules i)).

  Section sound.
    Context (Σ : system) (HΣ : may_decouple Σ).
    Local Notation half := (half (statics Σ) (moves d)).

    Record joined (s' s : state) : Prop := Joined {
      jn_waiting : waiting s' = waiting s;
      jn_inputs : ∀ m, m ∈ waiting s → m.2.1 ∈ inputs Σ;
      jn_sent : ∀ m', m' ∈ sent s' → ∃ m, m ∈ sent s ∧ redirect m = Some m';
      jn_others : ∀ i, i ∈ instances Σ → addr i ∉ apart_at d → carried s' (addr i) = carried s (addr i);
      jn_halves : ∀ i b, i ∈ instances Σ → addr i ∈ apart_at d →
        carried s' (at_side b (addr i)) = half b (carried s (addr i)) ∧
        may_carry (side (moves d) b (rules i)) (half b (carried s (addr i)));
    }.

    Lemma at_side_other b i j : i ∈ instances Σ → j ∈ instances Σ → addr i ∈ apart_at d → addr j ∉ apart_at d →
      at_side b (addr i) ≠ addr j.
    Proof.
      destruct HΣ as (_&Hplace&_). intros Hi Hj Ha Hn Heq. destruct b; simpl in Heq; [|congruence].
      destruct (Hplace _ Ha) as [Hno _]. by destruct (Hno j Hj).
    Qed.

    Lemma at_side_inj b k i j : i ∈ instances Σ → j ∈ instances Σ → addr i ∈ apart_at d → addr j ∈ apart_at d →
      at_side b (addr i) = at_side k (addr j) → b = k ∧ addr i = addr j.
    Proof.
      destruct HΣ as (_&Hplace&_). intros Hi Hj Ha Hb Heq. destruct (Hplace _ Ha) as [Hno Hinj].
      destruct (Hplace _ Hb) as [Hno' _].
      destruct b, k; simpl in Heq; try done; [by apply Hinj in Heq|by destruct (Hno j Hj)|by destruct (Hno' i Hi)].
    Qed.

    Lemma same_instance i j : i ∈ instances Σ → j ∈ instances Σ → addr j = addr i → j = i.
    Proof.
      destruct HΣ as (Hnd&_). intros Hi Hj Heq. apply elem_of_list_lookup in Hi as [x Hx], Hj as [y Hy].
      assert (x = y) as ->; [|congruence]. eapply NoDup_lookup; [exact Hnd| |];
        rewrite list_lookup_fmap; [rewrite Hx|rewrite Hy]; simpl; by f_equal.
    Qed.

    (** Where a message came from that has come to an instance. *)
    Lemma redirect_other m i f :
      i ∈ instances Σ → addr i ∉ apart_at d → redirect m = Some (addr i, f) → m = (addr i, f).
    Proof.
      destruct HΣ as (_&Hplace&_). intros Hi Ha. unfold redirect. case_decide as Hm; [|naive_solver].
      case_decide as Hd; [|case_decide; naive_solver]. intros [= Heq _].
      destruct (Hplace _ Hd) as [Hno _]. by destruct (Hno i Hi).
    Qed.

    Lemma redirect_half m i b f :
      i ∈ instances Σ → addr i ∈ apart_at d → bool_decide (f.1 ∈ moves d) = b →
      redirect m = Some (at_side b (addr i), f) → m = (addr i, f).
    Proof.
      destruct HΣ as (_&Hplace&_). intros Hi Ha Hb. unfold redirect. destruct m as [to g]. simpl.
      destruct (decide (g.1 ∈ moves d)) as [Hm|Hm].
      - destruct (decide (to ∈ apart_at d)) as [Hd|Hd].
        + intros [= Heq ->]. rewrite bool_decide_eq_true_2 in Hb by done. subst b. simpl in Heq.
          destruct (Hplace _ Hd) as [_ Hinj]. by rewrite (Hinj _ Ha Heq).
        + destruct (decide (to ∈ new_places)) as [Hn|Hn]; [done|]. intros [= -> ->]. rewrite bool_decide_eq_true_2 in Hb by done. subst b.
          destruct Hn. simpl. apply elem_of_list_fmap. exists (addr i). split; [done|by apply elem_of_elements].
      - intros [= -> ->]. rewrite bool_decide_eq_false_2 in Hb by done. by subst b.
    Qed.

    Lemma joined_sent s' s X Y :
      joined s' s → Y ⊆ X →
      ∀ m', m' ∈ sent s' ∪ routed (decouple Σ) Y → ∃ m, m ∈ sent s ∪ routed Σ X ∧ redirect m = Some m'.
    Proof.
      intros HR HYX m' [Hm|(x&Hx&Hm)%elem_of_routed]%elem_of_union.
      - destruct (jn_sent _ _ HR _ Hm) as (m&?&?). exists m. split; [set_solver|done].
      - simpl in Hm. destruct (route Σ x) as [m|] eqn:Hr; [|done]. exists m. split; [|done].
        apply elem_of_union_r, elem_of_routed. set_solver.
    Qed.

    Lemma arrives_other s' s i A I :
      joined s' s → i ∈ instances Σ → addr i ∉ apart_at d → arrives (decouple Σ) s' i A I → arrives Σ s i A I.
    Proof.
      intros HR Hi Hai (H1&H2&H3). split; [by rewrite <- (jn_waiting _ _ HR)|]. split; [done|].
      intros f Hf. destruct (H3 f Hf) as (?&?&[Hm|Hm]); split; [done| |done|]; (split; [done|]); [|by right].
      left. destruct (jn_sent _ _ HR _ Hm) as (m&Hs&Hr). by apply redirect_other in Hr as ->.
    Qed.

    (** After a step of an instance that is not taken apart. *)
    Lemma joined_other s' s i Y G W :
      joined s' s → i ∈ instances Σ → addr i ∉ apart_at d → W ⊆ waiting s →
      joined (State (<[addr i := G]> (carried s')) (sent s' ∪ routed (decouple Σ) Y) W)
             (State (<[addr i := G]> (carried s)) (sent s ∪ routed Σ Y) W).
    Proof.
      intros HR Hi Hai HW. split; simpl.
      - done.
      - intros m Hm. apply (jn_inputs _ _ HR). multiset_solver.
      - by eapply joined_sent.
      - intros j Hj Haj. destruct (decide (addr j = addr i)) as [->|Hne].
        + by rewrite !fn_lookup_insert.
        + rewrite !fn_lookup_insert_ne by done. by apply (jn_others _ _ HR).
      - intros j b Hj Haj. rewrite !fn_lookup_insert_ne; [by apply (jn_halves _ _ HR)|congruence|].
        by apply not_eq_sym, at_side_other.
    Qed.

    (** What comes to a side comes to the whole. *)
    Lemma arrives_half s' s i b A I :
      joined s' s → i ∈ instances Σ → addr i ∈ apart_at d →
      arrives (decouple Σ) s' (Instance (at_side b (addr i)) (self i) (side (moves d) b (rules i))) A I →
      arrives Σ s i A I ∧ half b A = A ∧ half (negb b) A = ∅.
    Proof.
      intros HR Hi Hai (HI1&HI2&HA). destruct HΣ as (_&_&_&Hmoves&Hind). destruct (Hind i Hi Hai) as (Hsides&_).
      simpl in HI2, HA.
      assert (∀ f, f ∈ A → f.1 ∈ reads (rules i) ∧ f.1 ∉ statics Σ ∧ bool_decide (f.1 ∈ moves d) = b) as Hside.
      { intros f Hf. destruct (HA f Hf) as (Hr&Hs&_). destruct (reads_side _ _ _ _ _ Hsides Hr) as [? Hb]. auto. }
      split; [|split].
      - assert (∀ m, m ∈ I → m.1 = addr i) as HI.
        { intros m Hm. destruct (HI2 m Hm) as [Hto HmA]. destruct b; [|done]. exfalso.
          destruct (Hside _ HmA) as (_&_&Hb%bool_decide_eq_true). destruct (Hmoves _ Hb) as (_&Hno&_).
          apply Hno, (jn_inputs _ _ HR). rewrite <- (jn_waiting _ _ HR). multiset_solver. }
        split; [by rewrite <- (jn_waiting _ _ HR)|]. split; [intros m Hm; split; [by apply HI|by apply HI2]|].
        intros f Hf. destruct (Hside f Hf) as (Hr&Hs&Hb). split; [done|]. split; [done|].
        destruct (HA f Hf) as (_&_&[Hm|[Hm|Ht]]); [| |by right; right].
        + left. destruct (jn_sent _ _ HR _ Hm) as (m&Hms&Hred). by apply redirect_half in Hred as ->.
        + right; left. pose proof (HI _ Hm) as Heq. simpl in Heq. by rewrite <- Heq.
      - apply set_eq. intros f. rewrite elem_of_half. split; [naive_solver|]. intros Hf. split; [|done].
        right. by apply Hside.
      - apply set_eq. intros f. rewrite elem_of_half. split; [|set_solver]. intros [Hm Hf].
        destruct (Hside f Hf) as (_&Hs&Hb). destruct Hm as [?|Hm]; [done|]. rewrite Hb in Hm. by destruct b.
    Qed.

    Lemma half_facts b : half b (facts Σ) = facts Σ.
    Proof.
      destruct HΣ as (_&_&Hfacts&_). apply set_eq. intros f. rewrite elem_of_half. split; [naive_solver|].
      intros Hf. split; [left; by apply Hfacts|done].
    Qed.

    (** A tick of a side is a tick of the whole, in which the other side does nothing. *)
    Lemma joined_tick fns n s' s i b A I :
      joined s' s → i ∈ instances Σ → addr i ∈ apart_at d →
      let j := Instance (at_side b (addr i)) (self i) (side (moves d) b (rules i)) in
      arrives (decouple Σ) s' j A I →
      let G' := tick fns n (decouple Σ) j (carried s' (addr j)) A in
      let G := tick fns n Σ i (carried s (addr i)) A in
      joined (State (<[addr j := carried_on fns (self j) (rules j) G']> (carried s'))
                (sent s' ∪ routed (decouple Σ) (sends fns (self j) (rules j) G')) (waiting s' ∖ I))
             (State (<[addr i := carried_on fns (self i) (rules i) G]> (carried s))
                (sent s ∪ routed Σ (sends fns (self i) (rules i) G)) (waiting s ∖ I)).
    Proof.
      intros HR Hi Hai j Har G' G. destruct (arrives_half _ _ _ _ _ _ HR Hi Hai Har) as (_&HAb&HAn).
      pose proof HΣ as (_&_&Hfacts&_&Hind). destruct (Hind i Hi Hai) as (Hsides&Hstill0&Hstill1&Hstat).
      destruct (jn_halves _ _ HR i b Hi Hai) as [Hcb _].
      assert (G' = half b G) as HG.
      { subst G G'. unfold tick. simpl. rewrite <- now_half by done. by rewrite !half_union, half_facts, HAb, Hcb. }
      split; simpl.
      - by rewrite (jn_waiting _ _ HR).
      - intros m Hm. apply (jn_inputs _ _ HR). multiset_solver.
      - eapply joined_sent; [done|]. rewrite HG. by apply sends_half.
      - intros k Hk Hak. rewrite !fn_lookup_insert_ne; [by apply (jn_others _ _ HR)|congruence|].
        by apply at_side_other.
      - intros k b' Hk Hak. destruct (decide (addr k = addr i)) as [Heq|Hne].
        + apply (same_instance i k) in Heq as ->; [|done|done]. rewrite fn_lookup_insert.
          rewrite <- carried_on_half by done. split; [|apply carried_on_may].
          destruct (decide (b' = b)) as [->|Hb].
          * rewrite fn_lookup_insert. by rewrite HG.
          * rewrite fn_lookup_insert_ne.
            2:{ intros Heq. apply at_side_inj in Heq as [? _]; [congruence|done..]. }
            destruct (jn_halves _ _ HR i b' Hi Hai) as [-> Hmay].
            assert (b' = negb b) as -> by (by destruct b, b').
            subst G. unfold tick. rewrite <- now_half by done. rewrite !half_union, half_facts, HAn.
            rewrite (right_id_L ∅ (∪)). symmetry. eapply (idle fns (self i) (idle_in d)); [by destruct b|done|].
            intros f Hf%Hfacts. destruct (Hstat _ Hf) as [Hp Hst]. split; [done|].
            intros (r&Hfr&[_ Hr]%elem_of_list_filter)%elem_of_list_fmap. apply Hst, elem_of_list_fmap. eauto.
        + rewrite !fn_lookup_insert_ne; [by apply (jn_halves _ _ HR)|congruence|].
          intros Heq. by apply at_side_inj in Heq as [_ ?].
    Qed.

    Lemma decouple_step fns n again s' s e s1' :
      joined s' s → step fns n again (decouple Σ) s' e s1' → ∃ s1, step fns n again Σ s e s1 ∧ joined s1' s1.
    Proof.
      intros HR Hstep. pose proof HΣ as (Hnd&Hplace&Hfacts&Hmoves&Hind).
      destruct Hstep as [m Hm|m Hm Ho|j A I Hj Har G|j Hj Hmort|j A I Hj Hmort Har G|m Hm Ha].
      - eexists. split; [by apply step_give|]. destruct HR as [H1 H2 H3 H4 H5]. split; simpl; try done.
        + by rewrite H1.
        + intros m' [?| ->%gmultiset_elem_of_singleton]%gmultiset_elem_of_disj_union; [by apply H2|done].
      - destruct (jn_sent _ _ HR _ Hm) as (x&Hx&Hr). exists s. split; [|done].
        assert (x = m) as ->; [|by apply step_hear].
        unfold redirect in Hr. case_decide as Hk; [|naive_solver]. exfalso.
        assert (x.2 = m.2) as Heq by (by repeat case_decide; simplify_eq/=).
        destruct (Hmoves _ Hk) as (_&_&_&Hno). by rewrite Heq in Hno.
      - apply elem_of_list_bind in Hj as (i&Hj&Hi). unfold in_halves in Hj. case_decide as Hai.
        + apply elem_of_list_fmap in Hj as (b&->&_). eexists.
          split; [apply (step_tick fns n again Σ s i A I); [done|by eapply arrives_half]|]. by apply joined_tick.
        + apply elem_of_list_singleton in Hj as ->. eexists.
          split; [eapply step_tick; [done|by eapply arrives_other]|].
          subst G. unfold tick. simpl. rewrite (jn_others _ _ HR i Hi Hai), (jn_waiting _ _ HR).
          apply joined_other; [done..|]. multiset_solver.
      - apply elem_of_filter in Hmort as [[Hno Hin] Hmort]. apply elem_of_list_fmap in Hin as (k&Hk&Hkin).
        apply elem_of_list_bind in Hj as (i&Hj&Hi). unfold in_halves in Hj. case_decide as Hai.
        { apply elem_of_list_fmap in Hj as (b&->&_). simpl in *. exfalso.
          destruct (decide (addr k ∈ apart_at d)); [congruence|]. by destruct (at_side_other b i k). }
        apply elem_of_list_singleton in Hj as ->. eexists. split; [by apply (step_crash fns n again Σ s i)|].
        rewrite (jn_others _ _ HR i Hi Hai), <- (routed_nothing (decouple Σ) s'), <- (routed_nothing Σ s).
        rewrite (jn_waiting _ _ HR). by apply joined_other.
      - apply elem_of_filter in Hmort as [[Hno Hin] Hmort]. apply elem_of_list_fmap in Hin as (k&Hk&Hkin).
        apply elem_of_list_bind in Hj as (i&Hj&Hi). unfold in_halves in Hj. case_decide as Hai.
        { apply elem_of_list_fmap in Hj as (b&->&_). simpl in *. exfalso.
          destruct (decide (addr k ∈ apart_at d)); [congruence|]. by destruct (at_side_other b i k). }
        apply elem_of_list_singleton in Hj as ->. eexists. split.
        + eapply (step_crash_in_tick fns n again Σ s i A I); [done|done|by eapply arrives_other].
        + subst G. unfold tick. simpl. rewrite (jn_others _ _ HR i Hi Hai), (jn_waiting _ _ HR).
          apply joined_other; [done..|]. multiset_solver.
      - eexists. rewrite (jn_waiting _ _ HR) in Hm. split; [by apply step_again|]. destruct HR as [H1 H2 H3 H4 H5].
        split; simpl; try done; [by rewrite H1|].
        intros m' [?| ->%gmultiset_elem_of_singleton]%gmultiset_elem_of_disj_union; by apply H2.
    Qed.
  End sound.

  (** What clients see of the two, they might have seen of the whole. *)
  Theorem decouple_refines Σ : may_decouple Σ → refines (decouple Σ) Σ.
  Proof.
    intros HΣ fns n again. apply (simulation_of _ _ _ _ _ (joined Σ)).
    - split; [done|simpl; multiset_solver|simpl; set_solver|done|].
      intros i b _ _. simpl. split; [|intros f [_ Hf]%elem_of_half; set_solver].
      apply set_eq. intros f. rewrite elem_of_half. set_solver.
    - intros s' s e s1'. by apply decouple_step.
  Qed.
End decouple.

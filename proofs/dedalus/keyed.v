(** * Dedalus: rules of which all facts have one key

    Facts of some relations have a key, the value of a column; [bucket] says to which of
    some pieces a key belongs.  Where all literals of a rule that are of such relations have
    the same term as their key, and one of them that is no negation comes first, the rule
    derives from the facts of a piece what it derives from all facts, as far as it is the
    piece's. *)
From stdpp Require Import prelude strings gmap.
From ashlar.dedalus Require Import lang.

(** ** What matching does to an environment *)

(** A variable, a constant or [Self]: what may be a key. *)
Definition simple (t : term) : bool := match t with Var _ | Const _ | Self => true | _ => false end.

Section extends.
  Context (fns : string → row → option value) (self : value).
  Local Notation eval := (eval fns self).
  Local Notation unify := (unify fns self).
  Local Notation matching := (matching fns self).
  Local Notation solutions := (solutions fns self).
  Local Notation extend := (extend fns self).

  Lemma eval_mono e e' t v : simple t = true → e ⊆ e' → eval e t = Some v → eval e' t = Some v.
  Proof. destruct t; simpl; try done. intros _ He Hx. by eapply lookup_weaken. Qed.

  Lemma unify_spec e ts r e' :
    unify e ts r = Some e' →
    e ⊆ e' ∧ ∀ i t, ts !! i = Some t → simple t = true → ∃ v, r !! i = Some v ∧ eval e' t = Some v.
  Proof.
    revert e r. induction ts as [|t ts IH]; intros e r H.
    { destruct r; simplify_eq/=. split; [done|]. intros i t. by rewrite lookup_nil. }
    assert (∃ v r' e1, r = v :: r' ∧ unify e1 ts r' = Some e' ∧ e ⊆ e1 ∧
      (simple t = true → eval e1 t = Some v)) as (v&r'&e1&->&H1&He&Ht).
    { destruct r as [|v r]; [by destruct t|]. exists v, r.
      destruct t as [x| |w| |f l]; simpl in H.
      - destruct (e !! x) as [w|] eqn:Hx.
        + case_decide; [|done]. subst w. by exists e.
        + exists (<[x:=v]> e). split; [done|]. split; [done|]. split.
          * by apply insert_subseteq.
          * intros _. simpl. by rewrite lookup_insert.
      - by exists e.
      - case_decide; [|done]. by exists e.
      - case_decide; [|done]. by exists e.
      - case_decide; [|done]. by exists e. }
    destruct (IH _ _ H1) as [He1 Hts]. split; [by etrans|].
    intros [|i] u Hu Hs; simpl in *; simplify_eq.
    - exists v. split; [done|]. eapply eval_mono; [done|done|]. by apply Ht.
    - by apply Hts.
  Qed.

  Lemma matching_spec e a f e' :
    matching e a f = Some e' →
    f.1 = rel a ∧ e ⊆ e' ∧
    ∀ i t, terms a !! i = Some t → simple t = true → ∃ v, f.2 !! i = Some v ∧ eval e' t = Some v.
  Proof. unfold lang.matching. case_decide; [|done]. intros [??]%unify_spec. done. Qed.

  Lemma elem_of_solutions_cons F l b e e' :
    e' ∈ solutions F (l :: b) e ↔ ∃ e1, e1 ∈ extend F l e ∧ e' ∈ solutions F b e1.
  Proof. simpl. rewrite elem_of_list_bind. naive_solver. Qed.

  Lemma elem_of_extend_has F a e e1 :
    e1 ∈ extend F (Has a) e ↔ ∃ f, f ∈ F ∧ matching e a f = Some e1.
  Proof. simpl. rewrite elem_of_list_omap. set_solver. Qed.

  Lemma elem_of_extend_lacks F a e e1 :
    e1 ∈ extend F (Lacks a) e ↔ e1 = e ∧ ∀ f, f ∈ F → matching e a f = None.
  Proof.
    simpl. case_decide as H; rewrite Forall_forall in H.
    - rewrite elem_of_list_singleton. split; [|naive_solver]. intros ->. split; [done|].
      intros f Hf. apply H. by apply elem_of_elements.
    - rewrite elem_of_nil. split; [done|]. intros [_ Hf]. destruct H. intros f Hin.
      apply Hf. by apply elem_of_elements.
  Qed.

  Lemma extend_mono F l e e1 : e1 ∈ extend F l e → e ⊆ e1.
  Proof.
    destruct l as [a|a|o t u|x t].
    - rewrite elem_of_extend_has. intros (f&_&Hf). by apply matching_spec in Hf as (_&?&_).
    - rewrite elem_of_extend_lacks. by intros [-> _].
    - simpl. repeat case_match; rewrite ?elem_of_list_singleton, ?elem_of_nil; naive_solver.
    - simpl. repeat case_match; rewrite ?elem_of_list_singleton, ?elem_of_nil; try naive_solver.
      intros ->. by apply insert_subseteq.
  Qed.

  Lemma solutions_mono F b e e' : e' ∈ solutions F b e → e ⊆ e'.
  Proof.
    revert e. induction b as [|l b IH]; intros e.
    - simpl. rewrite elem_of_list_singleton. by intros ->.
    - rewrite elem_of_solutions_cons. intros (e1&H1%extend_mono&H2%IH). by etrans.
  Qed.
End extends.

(** ** Keys *)
Section keyed.
  Context (K : gmap string nat).   (* the key column of each relation that has one *)

  Definition has_key (a : atom) : bool := bool_decide (is_Some (K !! rel a)).
  Definition key_is (t : term) (a : atom) : Prop :=
    match K !! rel a with Some col => terms a !! col = Some t | None => True end.

  Section pieces.
    Context (bucket : value → nat) (q : nat).

    Definition key_of (f : fact) : value :=
      match K !! f.1 with Some col => default (U64 0) (f.2 !! col) | None => U64 0 end.
    (** What piece [q] has: facts without a key, and those of its keys. *)
    Definition mine (f : fact) : Prop := K !! f.1 = None ∨ bucket (key_of f) = q.
    Global Instance mine_dec f : Decision (mine f).
    Proof. apply _. Defined.
    Definition part (F : gset fact) : gset fact := filter mine F.

    Lemma elem_of_part f F : f ∈ part F ↔ mine f ∧ f ∈ F.
    Proof. apply elem_of_filter. Qed.
  End pieces.

  (** All literals of relations with a key have key [t]; the first of them is no negation.
      [bound] is that there was one. *)
  Fixpoint meets (t : term) (bound : bool) (b : list literal) : Prop :=
    match b with
    | [] => bound = true
    | Has a :: b => key_is t a ∧ meets t (bound || has_key a) b
    | Lacks a :: b => (has_key a = true → bound = true) ∧ key_is t a ∧ meets t bound b
    | _ :: b => meets t bound b
    end.

  Section meets.
    Context (fns : string → row → option value) (self : value) (bucket : value → nat) (q : nat).
    Local Notation eval := (eval fns self).
    Local Notation matching := (matching fns self).
    Local Notation solutions := (solutions fns self).
    Local Notation part := (part bucket q).

    Lemma matching_key e a f e' t :
      simple t = true → key_is t a → matching e a f = Some e' →
      K !! f.1 = None ∧ has_key a = false ∨ has_key a = true ∧ eval e' t = Some (key_of f) ∧ is_Some (K !! f.1).
    Proof.
      intros Ht Hk (Hf&_&Hm)%matching_spec. unfold key_is, has_key, key_of in *. rewrite Hf.
      destruct (K !! rel a) as [col|] eqn:Hcol.
      - right. destruct (Hm _ _ Hk Ht) as (v&->&->). split; [by apply bool_decide_eq_true_2|]. eauto.
      - left. split; [done|]. apply bool_decide_eq_false_2. by intros [? ?].
    Qed.

    (** What satisfies such a body satisfies it by the facts of one piece. *)
    Lemma solutions_part F t b bound e e' :
      simple t = true → meets t bound b →
      (bound = true → is_Some (eval e t)) →
      e' ∈ solutions (part F) b e ∧ (bound = true → bucket <$> eval e t = Some q) ↔
      e' ∈ solutions F b e ∧ bucket <$> eval e' t = Some q.
    Proof.
      intros Ht. revert bound e. induction b as [|l b IH]; intros bound e Hb He.
      { simpl in *. subst. rewrite elem_of_list_singleton. split; [|naive_solver].
        intros [-> Hq]. by auto. }
      rewrite !elem_of_solutions_cons. destruct l as [a|a|o u w|x u].
      - destruct Hb as [Hk Hb]. split.
        + intros [(e1&(f&[Hmine Hf]%elem_of_part&Hm)%elem_of_extend_has&Hs) Hq].
          assert (∀ w, eval e t = Some w → eval e1 t = Some w) as Hmono.
          { intros w. apply eval_mono; [done|]. by apply matching_spec in Hm as (_&?&_). }
          destruct (matching_key _ _ _ _ _ Ht Hk Hm) as [[HK Ha]|(Ha&Hv&HK)]; rewrite Ha in Hb.
          * rewrite orb_false_r in Hb.
            assert (bound = true → is_Some (eval e1 t)) as He1.
            { intros Hbound. destruct (He Hbound) as [w Hw]. eauto. }
            destruct (IH _ e1 Hb He1) as [[H1 H2] _].
            { split; [done|]. intros Hbound. destruct (He Hbound) as [w Hw].
              specialize (Hq Hbound). rewrite Hw in Hq. by rewrite (Hmono _ Hw). }
            split; [|done]. exists e1. split; [|done]. apply elem_of_extend_has. by exists f.
          * rewrite orb_true_r in Hb. destruct (IH _ e1 Hb) as [[H1 H2] _].
            { rewrite Hv. eauto. }
            { split; [done|]. intros _. rewrite Hv. simpl. f_equal.
              destruct Hmine as [Hnone|?]; [|done]. rewrite Hnone in HK. by destruct HK. }
            split; [|done]. exists e1. split; [|done]. apply elem_of_extend_has. by exists f.
        + intros [(e1&(f&Hf&Hm)%elem_of_extend_has&Hs) Hq].
          assert (∀ w, eval e t = Some w → eval e1 t = Some w) as Hmono.
          { intros w. apply eval_mono; [done|]. by apply matching_spec in Hm as (_&?&_). }
          assert (∀ w, eval e1 t = Some w → eval e' t = Some w) as Hmono'.
          { intros w. apply eval_mono; [done|]. by eapply solutions_mono. }
          assert (bound = true → bucket <$> eval e t = Some q) as Hq'.
          { intros Hbound. destruct (He Hbound) as [w Hw]. rewrite (Hmono' _ (Hmono _ Hw)) in Hq.
            by rewrite Hw. }
          split; [|done]. exists e1.
          destruct (matching_key _ _ _ _ _ Ht Hk Hm) as [[HK Ha]|(Ha&Hv&HK)]; rewrite Ha in Hb.
          * rewrite orb_false_r in Hb. split.
            { apply elem_of_extend_has. exists f. split; [|done]. apply elem_of_part. by split; [left|]. }
            apply (IH _ e1 Hb); [|done]. intros Hbound. destruct (He Hbound) as [w Hw]. eauto.
          * rewrite orb_true_r in Hb. split.
            { apply elem_of_extend_has. exists f. split; [|done]. apply elem_of_part. split; [|done].
              right. rewrite (Hmono' _ Hv) in Hq. by simplify_eq/=. }
            apply (IH _ e1 Hb); [|done]. intros _. rewrite Hv. eauto.
      - destruct Hb as (Hbound&Hk&Hb). split.
        + intros [(e1&[-> Hno]%elem_of_extend_lacks&Hs) Hq].
          destruct (IH _ e Hb He) as [[H1 H2] _]; [done|]. split; [|done]. exists e. split; [|done].
          apply elem_of_extend_lacks. split; [done|]. intros f Hf.
          destruct (matching e a f) as [e1|] eqn:Hm; [|done].
          assert (mine bucket q f); [|rewrite <- Hm; apply Hno; by apply elem_of_part].
          destruct (matching_key _ _ _ _ _ Ht Hk Hm) as [[HK Ha]|(Ha&Hv&HK)]; [by left|right].
          specialize (Hbound Ha). destruct (He Hbound) as [w Hw]. specialize (Hq Hbound).
          assert (eval e1 t = Some w) as Hw1.
          { eapply eval_mono; [done| |done]. by apply matching_spec in Hm as (_&?&_). }
          rewrite Hw in Hq. rewrite Hv in Hw1. by simplify_eq/=.
        + intros [(e1&[-> Hno]%elem_of_extend_lacks&Hs) Hq].
          destruct (IH _ e Hb He) as [_ [H1 H2]]; [done|]. split; [|done]. exists e. split; [|done].
          apply elem_of_extend_lacks. split; [done|]. intros f [_ Hf]%elem_of_part. by apply Hno.
      - split.
        + intros [(e1&H1&Hs) Hq]. assert (e1 = e) as ->.
          { simpl in H1. by repeat case_match; rewrite ?elem_of_list_singleton, ?elem_of_nil in H1. }
          destruct (IH _ e Hb He) as [[H2 H3] _]; [done|]. split; [|done]. by exists e.
        + intros [(e1&H1&Hs) Hq]. assert (e1 = e) as ->.
          { simpl in H1. by repeat case_match; rewrite ?elem_of_list_singleton, ?elem_of_nil in H1. }
          destruct (IH _ e Hb He) as [_ [H2 H3]]; [done|]. split; [|done]. by exists e.
      - assert (∀ e1, e1 ∈ extend fns self F (Let x u) e → ∀ w, eval e t = Some w → eval e1 t = Some w) as Hmono.
        { intros e1 H1 w. apply eval_mono; [done|]. by eapply extend_mono. }
        split.
        + intros [(e1&H1&Hs) Hq]. destruct (IH _ e1 Hb) as [[H2 H3] _].
          * intros Hbound. destruct (He Hbound) as [w Hw]. rewrite (Hmono _ H1 _ Hw). eauto.
          * split; [done|]. intros Hbound. destruct (He Hbound) as [w Hw]. specialize (Hq Hbound).
            rewrite (Hmono _ H1 _ Hw). by rewrite Hw in Hq.
          * split; [|done]. by exists e1.
        + intros [(e1&H1&Hs) Hq]. destruct (IH _ e1 Hb) as [_ [H2 H3]].
          * intros Hbound. destruct (He Hbound) as [w Hw]. rewrite (Hmono _ H1 _ Hw). eauto.
          * done.
          * split; [by exists e1|]. intros Hbound. destruct (He Hbound) as [w Hw].
            specialize (H3 Hbound). rewrite (Hmono _ H1 _ Hw) in H3. by rewrite Hw.
    Qed.

    (** Its key has a value. *)
    Lemma solutions_key F t b bound e e' :
      simple t = true → meets t bound b → (bound = true → is_Some (eval e t)) →
      e' ∈ solutions F b e → is_Some (eval e' t).
    Proof.
      intros Ht. revert bound e. induction b as [|l b IH]; intros bound e Hb He.
      { simpl in *. rewrite elem_of_list_singleton. intros ->. auto. }
      rewrite elem_of_solutions_cons. intros (e1&H1&Hs).
      assert (bound = true → is_Some (eval e1 t)) as He1.
      { intros [w Hw]%He. exists w. eapply eval_mono; [done| |done]. by eapply extend_mono. }
      destruct l as [a|a|o u w|x u]; simpl in Hb.
      - destruct Hb as [Hk Hb]. eapply IH; [done| |done]. intros Ho.
        apply elem_of_extend_has in H1 as (f&_&Hm).
        destruct (matching_key _ _ _ _ _ Ht Hk Hm) as [[HK Ha]|(Ha&Hv&HK)]; rewrite ?Ha in Ho.
        + apply He1. by rewrite orb_false_r in Ho.
        + rewrite Hv. eauto.
      - destruct Hb as (_&_&Hb). by eapply IH.
      - by eapply IH.
      - by eapply IH.
    Qed.
  End meets.
End keyed.

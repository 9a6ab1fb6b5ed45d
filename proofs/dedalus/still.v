(** * Dedalus: ticks in which nothing comes in

    Some relations are pulses: nothing carries them, and each of their facts follows, in its
    tick, from a pulse.  Where all that a component carries is carried whole, but for guards
    that ask for a pulse to be missing, and everything else that it derives of what it carries
    follows from a pulse, a tick in which nothing comes in changes nothing. *)
From stdpp Require Import prelude strings gmap.
From ashlar.dedalus Require Import lang keyed piece.

Lemma mapM_id_fmap {A B} (f : A → option B) l : mapM id (f <$> l) = mapM f l.
Proof.
  induction l as [|x l IH]; [done|]. rewrite fmap_cons. simpl. change (id (f x)) with (f x).
  destruct (f x); simpl; [|done]. by rewrite <- IH.
Qed.

Section still.
  Context (fns : string → row → option value) (self : value).
  Context (E : gset string).   (* the pulses *)
  Local Notation eval := (eval fns self).
  Local Notation unify := (unify fns self).
  Local Notation derive := (derive fns self).
  Local Notation solutions := (solutions fns self).

  Definition awake (r : rule) : Prop := ∃ a, Has a ∈ body r ∧ rel a ∈ E.
  Definition no_pulse (l : literal) : Prop := ∃ a, l = Lacks a ∧ rel a ∈ E.

  (** The rule carries the facts of its relation on, which has columns [xs]. *)
  Definition persists (r : rule) (xs : list string) : Prop :=
    args r = (λ x, Plain (Var x)) <$> xs ∧ NoDup xs ∧
    ∃ gs, body r = Has (Atom (head r) (Var <$> xs)) :: gs ∧ Forall no_pulse gs.

  Definition standing (c : component) : list string := head <$> nexts c.

  Definition still (c : component) : Prop :=
    (∀ rs r, rs ∈ strata c → r ∈ rs → head r ∈ E ∨ head r ∈ standing c → awake r) ∧
    (∀ r, r ∈ nexts c → head r ∉ E ∧ (awake r ∨ ∃ xs, persists r xs) ∧
      ∃ p xs, p ∈ nexts c ∧ head p = head r ∧ length (args r) = length xs ∧ persists p xs).

  (** What a component may carry. *)
  Definition may_carry (c : component) (X : gset fact) : Prop :=
    ∀ f, f ∈ X → ∃ r, r ∈ nexts c ∧ head r = f.1 ∧ length (args r) = length f.2.

  Lemma carried_on_may n G : may_carry n (carried_on fns self n G).
  Proof.
    intros f (r&Hr&(e&v&_&Hv&->)%elem_of_derive)%elem_of_derives. exists r. split; [done|]. split; [done|].
    unfold made in Hv. apply mapM_length in Hv. by rewrite imap_length in Hv.
  Qed.

  Lemma unify_vars e xs vs :
    NoDup xs → (∀ x, x ∈ xs → e !! x = None) → length xs = length vs →
    ∃ e', unify e (Var <$> xs) vs = Some e'.
  Proof.
    revert e vs. induction xs as [|x xs IH]; intros e [|v vs] Hn He Hl; simplify_eq/=; [by eexists|].
    apply NoDup_cons in Hn as [Hx Hn]. rewrite He by set_solver. apply IH; [done| |done].
    intros y Hy. rewrite lookup_insert_ne; [apply He; set_solver|]. by intros ->.
  Qed.

  Lemma unify_length e ts vs e' : unify e ts vs = Some e' → length ts = length vs.
  Proof.
    revert e vs. induction ts as [|t ts IH]; intros e [|v vs] H; try done.
    - by destruct t.
    - simpl. f_equal. destruct t; simpl in H; repeat case_match; try done; by eapply IH.
  Qed.

  Lemma unify_row e e1 e' xs vs :
    unify e (Var <$> xs) vs = Some e1 → e1 ⊆ e' → mapM (eval e') (Var <$> xs) = Some vs.
  Proof.
    intros Hu He. apply mapM_Some, Forall2_same_length_lookup. split; [by eapply unify_length|].
    intros i t v Ht Hv. apply unify_spec in Hu as [_ Hu].
    pose proof Ht as Ht'. apply list_lookup_fmap_inv in Ht' as (x&->&_).
    destruct (Hu _ _ Ht) as (w&Hw&Hew); [done|]. rewrite Hv in Hw. simplify_eq.
    by eapply eval_mono.
  Qed.

  Lemma made_vars r xs S e :
    args r = (λ x, Plain (Var x)) <$> xs → made fns self r S e = mapM (eval e) (Var <$> xs).
  Proof.
    intros Ha. unfold made. rewrite Ha, imap_fmap.
    rewrite (imap_ext _ (const (λ x, eval e (Var x)))) by done. rewrite imap_const.
    by rewrite <- (mapM_id_fmap (eval e) (Var <$> xs)), <- list_fmap_compose.
  Qed.

  Lemma guards_hold G gs e : (∀ f, f ∈ G → f.1 ∉ E) → Forall no_pulse gs → solutions G gs e = [e].
  Proof.
    intros HG. induction 1 as [|l gs (a&->&Ha) _ IH]; simpl; [done|].
    case_decide as H; simpl; [by rewrite IH, app_nil_r|]. destruct H. apply Forall_forall. intros f Hf%elem_of_elements.
    unfold matching. case_decide as Hr; [|done]. specialize (HG f Hf). by rewrite Hr in HG.
  Qed.

  Lemma asleep G r : (∀ f, f ∈ G → f.1 ∉ E) → awake r → derive G r = ∅.
  Proof.
    intros HG (a&Ha&HaE). apply set_eq. intros f. split; [|set_solver].
    intros (e&v&[_ Hs]%elem_of_fires&_&_)%elem_of_derive. exfalso.
    revert Hs. generalize (∅ : env). induction (body r) as [|l b IH]; intros e0.
    { by apply elem_of_nil in Ha. }
    rewrite elem_of_solutions_cons. intros (e1&H1&H2).
    apply elem_of_cons in Ha as [<-|Ha]; [|by eapply IH].
    apply elem_of_extend_has in H1 as (g&Hg&(Hr&_)%matching_spec). specialize (HG g Hg). by rewrite Hr in HG.
  Qed.

  Lemma idle n c S X :
    still c → may_carry c X → (∀ f, f ∈ S → f.1 ∉ E ∧ f.1 ∉ standing c) →
    carried_on fns self c (now fns self n c (S ∪ X)) = X.
  Proof.
    intros [Hsync Hnext] HX HS.
    assert (∀ f, f ∈ X → f.1 ∉ E ∧ f.1 ∈ standing c) as HXE.
    { intros f Hf. destruct (HX f Hf) as (r&Hr&<-&_). split; [by apply Hnext|]. apply elem_of_list_fmap. eauto. }
    set (good G := X ⊆ G ∧ (∀ f, f ∈ G → f.1 ∉ E) ∧ ∀ f, f ∈ G → f.1 ∈ standing c → f ∈ X).
    assert (good (S ∪ X)) as H0.
    { split; [set_solver|]. split.
      - intros f [Hf|Hf]%elem_of_union; [by apply HS|by apply HXE].
      - intros f [Hf|Hf]%elem_of_union; [|done]. intros Hst. by destruct (HS f Hf). }
    assert (∀ rs G, rs ∈ strata c → good G → good (once fns self rs G)) as Honce.
    { intros rs G Hrs (H1&H2&H3).
      assert (∀ f, f ∈ ⋃ (derive G <$> rs) → f.1 ∉ E ∧ f.1 ∉ standing c) as Hnew.
      { intros f (r&Hr&Hf)%elem_of_derives. pose proof Hf as (e&v&_&_&->)%elem_of_derive. simpl.
        assert (¬ awake r) as Haw; [|split; intros ?; apply Haw; eapply Hsync; eauto].
        intros Haw. rewrite asleep in Hf by done. set_solver. }
      unfold once. split; [set_solver|]. split.
      - intros f [Hf|Hf]%elem_of_union; [by apply H2|by apply Hnew].
      - intros f [Hf|Hf]%elem_of_union Hst; [by apply H3|]. by destruct (Hnew f Hf). }
    assert (good (now fns self n c (S ∪ X))) as (H1&H2&H3).
    { unfold now, close. revert Honce. generalize (S ∪ X) H0. generalize (strata c).
      induction l as [|rs ss IH]; intros G HG Honce; simpl; [done|]. apply IH; [|set_solver].
      unfold complete. clear IH. induction n as [|m IHm]; [done|]. change (good (once fns self rs (Nat.iter m (once fns self rs) G))). apply Honce; [set_solver|exact IHm]. }
    set (G := now fns self n c (S ∪ X)) in *.
    apply set_eq. intros f. unfold carried_on. rewrite elem_of_derives. split.
    - intros (r&Hr&Hf). destruct (Hnext r Hr) as (_&[Haw|(xs&Ha&_&gs&Hb&_)]&_).
      { rewrite asleep in Hf by done. set_solver. }
      apply elem_of_derive in Hf as (e&v&[_ Hs]%elem_of_fires&Hv&->).
      rewrite Hb in Hs. apply elem_of_solutions_cons in Hs as (e1&H4&H5%solutions_mono).
      apply elem_of_extend_has in H4 as (g&Hg&Hm). unfold matching in Hm. case_decide as Hrel; [|done].
      rewrite (made_vars _ _ _ _ Ha) in Hv. rewrite (unify_row _ _ _ _ _ Hm H5) in Hv. simplify_eq/=.
      destruct g as [gr gv]; simpl in *; subst. apply H3; [done|]. apply elem_of_list_fmap. eauto.
    - intros Hf. destruct (HX f Hf) as (r&Hr&Hh&Hlen).
      destruct (Hnext r Hr) as (_&_&p&xs&Hp&Hhp&Hl&Ha&Hnd&gs&Hb&Hgs).
      exists p. split; [done|]. destruct f as [fr fv]; simpl in *.
      destruct (unify_vars ∅ xs fv Hnd) as [e He]; [intros; apply lookup_empty|lia|].
      pose proof (unify_row _ _ e _ _ He (reflexivity e)) as Hrow.
      apply elem_of_derive. exists e, fv. split; [|split; [by rewrite (made_vars _ _ _ _ Ha)|congruence]].
      apply elem_of_fires. split.
      + unfold heads_of. rewrite Ha, <- list_fmap_compose.
        assert (arg_term ∘ (λ x, Plain (Var x)) <$> xs = Var <$> xs) as -> by (by apply list_fmap_ext).
        rewrite Hrow. eauto.
      + rewrite Hb. apply elem_of_solutions_cons. exists e. split.
        * apply elem_of_extend_has. exists (fr, fv). split; [by apply H1|]. unfold matching. simpl.
          rewrite decide_True by congruence. done.
        * rewrite guards_hold by done. by apply elem_of_list_singleton.
  Qed.
End still.

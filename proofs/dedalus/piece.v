(** * Dedalus: a tick of a piece is the piece of a tick *)
From stdpp Require Import prelude strings gmap.
From ashlar.dedalus Require Import lang keyed.

Lemma elem_of_plains t l : t ∈ plains l ↔ Plain t ∈ l.
Proof.
  unfold plains. rewrite elem_of_list_omap. split.
  - intros ([u|a u]&Hu&?); by simplify_eq.
  - intros. by exists (Plain t).
Qed.

Lemma mapM_elem {A B} (f : A → option B) l k x : mapM f l = Some k → x ∈ l → is_Some (f x).
Proof.
  intros H Hx. assert (is_Some (mapM f l)) as HS by eauto.
  apply mapM_is_Some in HS. rewrite Forall_forall in HS. by apply HS.
Qed.

Section piece.
  Context (fns : string → row → option value) (self : value).
  Context (K : gmap string nat) (bucket : value → nat) (q : nat).
  Local Notation eval := (eval fns self).
  Local Notation fires := (fires fns self).
  Local Notation made := (made fns self).
  Local Notation derive := (derive fns self).
  Local Notation send := (send fns self).
  Local Notation part := (part K bucket q).

  (** A rule that keeps to the key [t]; and one whose head has that key. *)
  Definition together (t : term) (r : rule) : Prop :=
    simple t = true ∧ meets K t false (body r) ∧
    (Forall (λ a, ∃ u, a = Plain u) (args r) ∨ Plain t ∈ args r).
  Definition keeps (t : term) (r : rule) : Prop :=
    together t r ∧ ∃ col, K !! head r = Some col ∧ args r !! col = Some (Plain t).

  Lemma elem_of_fires r F e :
    e ∈ fires r F ↔ is_Some (heads_of fns self r e) ∧ e ∈ solutions fns self F (body r) ∅.
  Proof. unfold lang.fires. by rewrite elem_of_filter, elem_of_list_to_set. Qed.

  Lemma fires_part t r F e :
    together t r → e ∈ fires r (part F) ↔ e ∈ fires r F ∧ bucket <$> eval e t = Some q.
  Proof.
    intros (Ht&Hm&_). rewrite !elem_of_fires.
    destruct (solutions_part K fns self bucket q F t (body r) false ∅ e Ht Hm) as [H1 H2]; [done|].
    split.
    - intros [Hh Hs]. destruct H1; [done|]. done.
    - intros [[Hh Hs] Hq]. destruct H2; [done|]. done.
  Qed.

  Lemma group_key t r S e e' :
    Plain t ∈ args r → is_Some (heads_of fns self r e) → e' ∈ group fns self r S e → eval e' t = eval e t.
  Proof.
    intros Ht [k Hk] [Heq _]%elem_of_filter.
    assert (is_Some (mapM (eval e) (plains (args r)))) as [k1 Hk1].
    { apply mapM_is_Some, Forall_forall. intros u Hu%elem_of_plains.
      eapply mapM_elem; [done|]. apply elem_of_list_fmap. by exists (Plain u). }
    rewrite Hk1 in Heq. apply elem_of_plains, elem_of_list_lookup in Ht as [i Hi].
    apply mapM_Some in Heq, Hk1.
    destruct (Forall2_lookup_l _ _ _ _ _ Heq Hi) as (v&Hv&->).
    destruct (Forall2_lookup_l _ _ _ _ _ Hk1 Hi) as (w&Hw&->). congruence.
  Qed.

  Lemma made_part t r F e :
    together t r → e ∈ fires r (part F) → made r (fires r (part F)) e = made r (fires r F) e.
  Proof.
    intros Htog He. unfold lang.made. f_equal. apply imap_ext. intros i a Ha.
    destruct a as [u|a u]; [done|]. simpl.
    pose proof Htog as (Hs&Hm&[Hplain|Hin]).
    { rewrite Forall_lookup in Hplain. by destruct (Hplain _ _ Ha) as [? ?]. }
    assert (group fns self r (fires r (part F)) e = group fns self r (fires r F) e) as ->; [|done].
    pose proof He as [_ Hq]%(fires_part t); [|done].
    apply set_eq. intros e'. split.
    - intros [Hk [Hf _]%(fires_part t)]%elem_of_filter; [|done]. apply elem_of_filter. by split.
    - intros Hg. pose proof Hg as [Hk Hf]%elem_of_filter. apply elem_of_filter. split; [done|].
      apply (fires_part t); [done|]. split; [done|].
      rewrite (group_key t r (fires r F) e e'); [done|done| |done].
      by apply elem_of_fires in He as [? _].
  Qed.

  Lemma made_lookup r S e v i u :
    made r S e = Some v → args r !! i = Some (Plain u) → v !! i = eval e u ∧ is_Some (v !! i).
  Proof.
    unfold lang.made. intros Hm Hi. apply mapM_Some in Hm.
    assert (imap (argument fns self r (group fns self r S e) e) (args r) !! i = Some (eval e u)) as Hl.
    { rewrite list_lookup_imap, Hi. done. }
    destruct (Forall2_lookup_l _ _ _ _ _ Hm Hl) as (w&Hw&Hew). unfold id in Hew. rewrite Hw, Hew. eauto.
  Qed.

  Lemma elem_of_derive F r f :
    f ∈ derive F r ↔ ∃ e v, e ∈ fires r F ∧ made r (fires r F) e = Some v ∧ f = (head r, v).
  Proof.
    unfold lang.derive. rewrite elem_of_list_to_set, elem_of_list_omap. split.
    - intros (e&He%elem_of_elements&Hf). destruct (made r _ e) as [v|] eqn:Hv; simplify_eq/=. by exists e, v.
    - intros (e&v&He&Hv&->). exists e. rewrite elem_of_elements, Hv. done.
  Qed.

  Lemma elem_of_send F r m :
    m ∈ send F r ↔ ∃ e d v, e ∈ fires r F ∧ eval e (dest r) = Some d ∧ made r (fires r F) e = Some v ∧ m = (d, (head r, v)).
  Proof.
    unfold lang.send. rewrite elem_of_list_to_set, elem_of_list_omap. split.
    - intros (e&He%elem_of_elements&Hf). destruct (eval e (dest r)) as [d|] eqn:Hd; [|done].
      destruct (made r _ e) as [v|] eqn:Hv; simplify_eq/=. by exists e, d, v.
    - intros (e&d&v&He&Hd&Hv&->). exists e. rewrite elem_of_elements, Hd; simpl. by rewrite Hv.
  Qed.

  Lemma derive_part t F r : keeps t r → derive (part F) r = part (derive F r).
  Proof.
    intros [Htog (col&HK&Hcol)]. apply set_eq. intros f. rewrite elem_of_part, !elem_of_derive.
    assert (∀ e v, made r (fires r F) e = Some v → mine K bucket q (head r, v) ↔ bucket <$> eval e t = Some q) as Hmine.
    { intros e v Hv. destruct (made_lookup _ _ _ _ _ _ Hv Hcol) as [Hk [w Hw]]. unfold mine, key_of. simpl.
      rewrite HK, Hw. simpl. rewrite <- Hk, Hw. simpl. naive_solver. }
    split.
    - intros (e&v&He&Hv&->). rewrite (made_part t) in Hv by done.
      apply (fires_part t) in He as [He Hq]; [|done]. split; [by apply (Hmine e)|]. by exists e, v.
    - intros [Hm (e&v&He&Hv&->)]. apply (Hmine e) in Hm; [|done].
      assert (e ∈ fires r (part F)) as He' by (by apply (fires_part t)).
      exists e, v. split; [done|]. split; [|done]. by rewrite (made_part t).
  Qed.

  Lemma send_part t F r : together t r → send (part F) r ⊆ send F r.
  Proof.
    intros Htog m. rewrite !elem_of_send. intros (e&d&v&He&Hd&Hv&->). rewrite (made_part t) in Hv by done.
    apply (fires_part t) in He as [He _]; [|done]. by exists e, d, v.
  Qed.

  (** The component, all of whose rules keep to keys. *)
  Definition divisible (c : component) : Prop :=
    Forall (Forall (λ r, ∃ t, keeps t r)) (strata c) ∧
    Forall (λ r, ∃ t, keeps t r) (nexts c) ∧
    Forall (λ r, ∃ t, together t r) (asyncs c).

  Lemma part_union F G : part (F ∪ G) = part F ∪ part G.
  Proof. apply set_eq. intros f. rewrite elem_of_union, !elem_of_part, elem_of_union. tauto. Qed.

  Lemma elem_of_derives rs F f : f ∈ ⋃ (derive F <$> rs) ↔ ∃ r, r ∈ rs ∧ f ∈ derive F r.
  Proof.
    rewrite elem_of_union_list. split.
    - intros (X&(r&->&Hr)%elem_of_list_fmap&Hf). by exists r.
    - intros (r&Hr&Hf). exists (derive F r). split; [|done]. apply elem_of_list_fmap. by exists r.
  Qed.

  Lemma derives_part rs F :
    Forall (λ r, ∃ t, keeps t r) rs → ⋃ (derive (part F) <$> rs) = part (⋃ (derive F <$> rs)).
  Proof.
    rewrite Forall_forall. intros H. apply set_eq. intros f. rewrite elem_of_part, !elem_of_derives. split.
    - intros (r&Hr&Hf). destruct (H _ Hr) as [t Ht]. rewrite (derive_part t) in Hf by done.
      apply elem_of_part in Hf as [??]. eauto.
    - intros (Hm&r&Hr&Hf). destruct (H _ Hr) as [t Ht]. exists r. split; [done|].
      rewrite (derive_part t) by done. by apply elem_of_part.
  Qed.

  Lemma once_part rs F :
    Forall (λ r, ∃ t, keeps t r) rs → once fns self rs (part F) = part (once fns self rs F).
  Proof. intros H. unfold once. by rewrite derives_part, part_union. Qed.

  Lemma complete_part n rs F :
    Forall (λ r, ∃ t, keeps t r) rs → complete fns self n rs (part F) = part (complete fns self n rs F).
  Proof.
    intros H. unfold complete. induction n as [|n IH]; simpl; [done|]. by rewrite IH, once_part.
  Qed.

  Lemma close_part n ss F :
    Forall (Forall (λ r, ∃ t, keeps t r)) ss → close fns self n ss (part F) = part (close fns self n ss F).
  Proof.
    intros H. revert F. unfold close. induction H as [|rs ss Hrs _ IH]; intros F; simpl; [done|].
    by rewrite complete_part, IH.
  Qed.

  Lemma now_part n c F : divisible c → now fns self n c (part F) = part (now fns self n c F).
  Proof. intros (H&_&_). by apply close_part. Qed.

  Lemma carried_on_part c G : divisible c → carried_on fns self c (part G) = part (carried_on fns self c G).
  Proof. intros (_&H&_). by apply derives_part. Qed.

  Lemma sends_part c G : divisible c → sends fns self c (part G) ⊆ sends fns self c G.
  Proof.
    intros (_&_&H). unfold sends. intros m. rewrite !elem_of_union_list.
    intros (X&(r&->&Hr)%elem_of_list_fmap&Hm). exists (send G r). split; [apply elem_of_list_fmap; eauto|].
    rewrite Forall_forall in H. destruct (H _ Hr) as [t Ht]. by eapply send_part.
  Qed.
End piece.

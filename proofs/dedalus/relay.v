(** * Dedalus: an instance behind a relay

    Some instances keep nothing but rules that pass on: what clients and timers tell them, under
    another name, goes to a new instance, which has all their rules.  What rules send to them
    either is passed on as well, or the network sends it to the new instance.  Clients see nothing
    that they might not have seen before, if what clients give may come again: a message of the relay
    may.  Nothing is asked of the rules that move; both instances may crash, the new one if the old one
    might. *)
From stdpp Require Import prelude strings gmap gmultiset functions.
From ashlar.dedalus Require Import lang system keyed piece still divide partition routing decouple passing.

Lemma elem_of_sub (X Y : gmultiset message) m : X ⊆ Y → m ∈ X → m ∈ Y.
Proof. intros HXY Hm. by eapply gmultiset_elem_of_subseteq. Qed.

Section relay.
  (** Of [h] the rules that move play no part; rules send the relations of [M] to the new instances. *)
  Context (place : value → value) (h : handover) (M : gset string).

  Definition redirection : decoupling := Decoupling M ∅ (handed_at h).
  Local Notation redirect := (redirect place redirection).
  Local Notation rename := (rename h).

  Definition behind_literal (l : literal) : literal :=
    match l with
    | Has a => Has (Atom (rename (rel a)) (terms a))
    | Lacks a => Lacks (Atom (rename (rel a)) (terms a))
    | _ => l
    end.
  Definition behind_rule (r : rule) : rule := Rule (head r) (args r) (dest r) (behind_literal <$> body r).
  Definition behind (c : component) : component :=
    Component ((λ rs : list rule, behind_rule <$> rs) <$> strata c) (behind_rule <$> nexts c) (behind_rule <$> asyncs c).
  Definition front : component := Component [] [] (pass_rule h <$> passed h).

  Definition in_front (i : instance) : list instance :=
    if decide (addr i ∈ handed_at h)
    then [Instance (addr i) (self i) front; Instance (place (addr i)) (self i) (behind (rules i))]
    else [i].

  (** [D] are the nodes that may crash afterwards. *)
  Definition relay (D : gset value) (Σ : system) : system :=
    System (instances Σ ≫= in_front) (facts Σ) (statics Σ) (inputs Σ) (outputs Σ) (timers Σ) (durables Σ) D
      (λ m, route Σ m ≫= redirect).

  (** A relation that has no new name, and is none. *)
  Definition clean (x : string) : Prop := ∀ p, p ∈ passed h → x ≠ to p.
  Definition neutral (x : string) : Prop := clean x ∧ ∀ p, p ∈ passed h → from p ≠ x.

  Definition new_name (Σ : system) (y : string) : Prop :=
    y ∉ statics Σ ∧ y ∉ inputs Σ ∧ y ∉ timers Σ ∧ y ∉ outputs Σ ∧ y ∉ M ∧
    Forall (λ i, Forall (λ r, head r ≠ y) (asyncs (rules i))) (instances Σ).

  Definition moves_behind (Σ : system) (c : component) : Prop :=
    (∀ x, x ∈ reads c → clean x ∧ (x ∈ statics Σ ∨ (∃ p, p ∈ passed h ∧ from p = x) ∨ x ∈ M ∧ x ∉ inputs Σ ∧ x ∉ timers Σ)) ∧
    (∀ r, r ∈ concat (strata c) ++ nexts c → neutral (head r)).

  Record may_relay (D : gset value) (Σ : system) : Prop := MayRelay {
    mr_route : ∀ m, route Σ m = Some m;
    mr_mortals : ∀ i, i ∈ instances Σ → (if decide (addr i ∈ handed_at h) then place (addr i) else addr i) ∈ D → addr i ∈ mortals Σ;
    mr_nodup : NoDup (addr <$> instances Σ);
    mr_places : ∀ a, a ∈ handed_at h →
      (∀ i, i ∈ instances Σ → addr i ≠ place a) ∧ ∀ b, b ∈ handed_at h → place a = place b → a = b;
    mr_static : ∀ f, f ∈ facts Σ → f.1 ∈ statics Σ;
    mr_moves : ∀ x, x ∈ M → x ∉ outputs Σ;
    mr_way : forward h ∈ statics Σ ∧ ∀ i b, i ∈ instances Σ → addr i ∈ handed_at h →
      (forward h, [self i; b]) ∈ facts Σ → b = place (addr i);
    mr_names : ∀ p, p ∈ passed h → new_name Σ (to p) ∧ from p ∉ statics Σ ∧
      (∀ q, q ∈ passed h → to q = to p → from q = from p);
    mr_rules : ∀ i, i ∈ instances Σ → addr i ∈ handed_at h → moves_behind Σ (rules i);
  }.

  (** ** What rules do with new names *)
  Section names.
    Context (Hinj : ∀ p q, p ∈ passed h → q ∈ passed h → to q = to p → from q = from p).

    (** [F'] has under the new names what [F] has. *)
    Definition renamed_of (F' F : gset fact) : Prop := ∀ x v, clean x → (rename x, v) ∈ F' ↔ (x, v) ∈ F.

    Lemma rename_cases x : (∃ p, p ∈ passed h ∧ from p = x ∧ rename x = to p) ∨ (∀ p, p ∈ passed h → from p ≠ x) ∧ rename x = x.
    Proof.
      destruct (decide (Exists (λ p, from p = x) (passed h))) as [H|H]; rewrite list.Exists_exists in H.
      - left. by apply rename_passed.
      - right. assert (∀ p, p ∈ passed h → from p ≠ x) as Hno by (intros p Hp Heq; apply H; eauto).
        split; [done|by apply rename_not].
    Qed.

    Lemma rename_inj x y : clean x → clean y → rename x = rename y → x = y.
    Proof.
      intros Hx Hy. destruct (rename_cases x) as [(p&Hp&<-&->)|[_ ->]], (rename_cases y) as [(q&Hq&<-&->)|[_ ->]].
      - intros Heq. by apply (Hinj q p).
      - intros <-. by destruct (Hy p Hp).
      - intros ->. by destruct (Hx q Hq).
      - done.
    Qed.

    Lemma renamed_union F' F X : renamed_of F' F → (∀ f, f ∈ X → neutral f.1) → renamed_of (F' ∪ X) (F ∪ X).
    Proof.
      clear Hinj. intros HF HX x v Hx. rewrite !elem_of_union, (HF x v Hx). assert ((rename x, v) ∈ X ↔ (x, v) ∈ X); [|tauto].
      split; intros Hin; pose proof (HX _ Hin) as [Hc Hn]; simpl in Hc, Hn.
      - destruct (rename_cases x) as [(p&Hp&_&Hr)|[_ Hr]]; [by destruct (Hc p Hp)|by rewrite Hr in Hin].
      - destruct (rename_cases x) as [(p&Hp&Hf&_)|[_ Hr]]; [by destruct (Hn p Hp)|by rewrite Hr].
    Qed.

    Context (fns : string → row → option value) (self : value).

    Lemma elem_of_matching e a f e1 :
      matching fns self e a f = Some e1 ↔ f.1 = rel a ∧ unify fns self e (terms a) f.2 = Some e1.
    Proof. unfold matching. case_decide; naive_solver. Qed.

    Lemma solutions_behind F' F b e e' :
      renamed_of F' F → (∀ x, x ∈ relations b → clean x) →
      e' ∈ solutions fns self F' (behind_literal <$> b) e ↔ e' ∈ solutions fns self F b e.
    Proof.
      intros HF. revert e. induction b as [|l b IH]; intros e Hb; [done|]. rewrite fmap_cons, !elem_of_solutions_cons.
      assert (∀ x, x ∈ relations b → clean x) as Hb'.
      { intros x Hx. apply Hb. destruct l; simpl; [by right|by right|done|done]. }
      assert (∀ a e1, clean (rel a) → (∃ f, f ∈ F' ∧ matching fns self e (Atom (rename (rel a)) (terms a)) f = Some e1) ↔
        ∃ f, f ∈ F ∧ matching fns self e a f = Some e1) as Hmatch.
      { intros a e1 Ha. setoid_rewrite elem_of_matching. simpl. split.
        - intros ([y v]&Hf&Heq&Hu). simpl in *. subst y. exists (rel a, v). split; [by apply HF|done].
        - intros ([y v]&Hf&Heq&Hu). simpl in *. subst y. exists (rename (rel a), v). split; [by apply HF|done]. }
      assert (∀ e1, e1 ∈ extend fns self F' (behind_literal l) e ↔ e1 ∈ extend fns self F l e) as Hl.
      { intros e1. destruct l as [a|a|o t u|x t]; simpl behind_literal; try done.
        all: assert (clean (rel a)) as Ha by (apply Hb; by left).
        - rewrite !elem_of_extend_has. by apply Hmatch.
        - rewrite !elem_of_extend_lacks.
          assert (∀ (X : gset fact) b0, (∀ f, f ∈ X → matching fns self e b0 f = None) ↔
            ¬ ∃ e2 f, f ∈ X ∧ matching fns self e b0 f = Some e2) as Hno.
          { intros X b0. split; [intros Hn (e2&f&Hf&Hm); by rewrite Hn in Hm|].
            intros Hn f Hf. destruct (matching fns self e b0 f) eqn:Hm; [|done]. destruct Hn. eauto. }
          rewrite !Hno. by setoid_rewrite Hmatch. }
      split; intros (e1&H1&H2); exists e1; (split; [by apply Hl|by apply IH]).
    Qed.

    Lemma fires_behind F' F r : renamed_of F' F → (∀ x, x ∈ read_by r → clean x) →
      fires fns self (behind_rule r) F' = fires fns self r F.
    Proof. intros HF Hr. apply set_eq. intros e. rewrite !elem_of_fires. simpl. by rewrite (solutions_behind F' F). Qed.

    Lemma derives_behind F' F rs : renamed_of F' F → (∀ r x, r ∈ rs → x ∈ read_by r → clean x) →
      ⋃ (derive fns self F' <$> (behind_rule <$> rs)) = ⋃ (derive fns self F <$> rs).
    Proof.
      intros HF Hrs. assert (∀ r, r ∈ rs → derive fns self F' (behind_rule r) = derive fns self F r) as Hd.
      { intros r Hr. unfold derive. rewrite (fires_behind F' F) by eauto. done. }
      apply set_eq. intros f. rewrite !elem_of_derives. split.
      - intros (r'&(r&->&Hr)%elem_of_list_fmap&Hf). exists r. rewrite <- Hd by done. done.
      - intros (r&Hr&Hf). exists (behind_rule r). rewrite Hd by done. split; [apply elem_of_list_fmap; eauto|done].
    Qed.

    Lemma sends_behind F' F c : renamed_of F' F → (∀ x, x ∈ reads c → clean x) →
      sends fns self (behind c) F' = sends fns self c F.
    Proof.
      intros HF Hc. assert (∀ r, r ∈ asyncs c → send fns self F' (behind_rule r) = send fns self F r) as Hs.
      { intros r Hr. unfold send. rewrite (fires_behind F' F); [done|done|]. intros x Hx. apply Hc. unfold reads.
        apply elem_of_list_In, in_concat. exists (read_by r). split; apply elem_of_list_In; [|done].
        apply elem_of_list_fmap. exists r. split; [done|]. rewrite !elem_of_app. tauto. }
      unfold sends. apply set_eq. intros m. rewrite !elem_of_union_list. split.
      - intros (X&(r'&->&(r&->&Hr)%elem_of_list_fmap)%elem_of_list_fmap&Hm). exists (send fns self F r).
        rewrite <- Hs at 2 by done. split; [apply elem_of_list_fmap; eauto|done].
      - intros (X&(r&->&Hr)%elem_of_list_fmap&Hm). exists (send fns self F' (behind_rule r)). rewrite Hs at 2 by done.
        split; [|done]. apply elem_of_list_fmap. exists (behind_rule r). split; [done|]. apply elem_of_list_fmap. eauto.
    Qed.

    Lemma now_behind n c F' F : renamed_of F' F → (∀ x, x ∈ reads c → clean x) →
      (∀ r, r ∈ concat (strata c) → neutral (head r)) → renamed_of (now fns self n (behind c) F') (now fns self n c F).
    Proof.
      intros HF Hc Hh. assert (∀ rs r x, rs ∈ strata c → r ∈ rs → x ∈ read_by r → clean x) as Hr.
      { intros rs r x Hrs Hin Hx. apply Hc. unfold reads. apply elem_of_list_In, in_concat. exists (read_by r).
        split; apply elem_of_list_In; [|done]. apply elem_of_list_fmap. exists r. split; [done|]. rewrite !elem_of_app. left.
        apply elem_of_list_In, in_concat. exists rs. split; by apply elem_of_list_In. }
      assert (∀ rs r, rs ∈ strata c → r ∈ rs → neutral (head r)) as Hh'.
      { intros rs r Hrs Hin. apply Hh. apply elem_of_list_In, in_concat. exists rs. split; by apply elem_of_list_In. }
      unfold now, close. simpl. clear Hc Hh. revert F' F HF Hr Hh'. induction (strata c) as [|rs ss IH]; intros F' F HF Hr Hh; [done|].
      simpl. apply IH; [|intros; eapply Hr; [by right|done..]|intros; eapply Hh; [by right|done]].
      clear IH. unfold complete. induction n as [|m IHm]; [done|].
      change (renamed_of (once fns self (behind_rule <$> rs) (Nat.iter m (once fns self (behind_rule <$> rs)) F'))
        (once fns self rs (Nat.iter m (once fns self rs) F))).
      unfold once at 1 3. erewrite derives_behind; [|exact IHm|intros r x Hin; apply (Hr rs); [by left|done]].
      apply renamed_union; [exact IHm|]. intros f (r&Hin&(e&v&_&_&->)%elem_of_derive)%elem_of_derives.
      apply (Hh rs); [by left|done].
    Qed.

    Lemma reads_behind c y : y ∈ reads (behind c) → ∃ x, x ∈ reads c ∧ y = rename x.
    Proof.
      assert (∀ r, y ∈ read_by (behind_rule r) → ∃ x, x ∈ read_by r ∧ y = rename x) as Hone.
      { intros r. unfold read_by. simpl. induction (body r) as [|l b IH]; [by intros ?%elem_of_nil|].
        destruct l as [a|a|o t u|x t]; simpl; try exact IH.
        all: intros [->|Hy]%elem_of_cons; [exists (rel a); split; [by left|done]|].
        all: destruct (IH Hy) as (x&?&?); exists x; split; [by right|done]. }
      unfold reads. intros (l&Hl%elem_of_list_In&Hy%elem_of_list_In)%elem_of_list_In%in_concat.
      apply elem_of_list_fmap in Hl as (r'&->&Hr).
      assert (∃ r, r ∈ concat (strata c) ++ nexts c ++ asyncs c ∧ r' = behind_rule r) as (r&Hin&->).
      { simpl in Hr. rewrite !elem_of_app in Hr. setoid_rewrite elem_of_app. setoid_rewrite elem_of_app.
        destruct Hr as [Hr|[(r&->&Hr)%elem_of_list_fmap|(r&->&Hr)%elem_of_list_fmap]]; [|eauto|eauto].
        apply elem_of_list_In, in_concat in Hr as (rs'&Hrs%elem_of_list_In&Hr%elem_of_list_In).
        apply elem_of_list_fmap in Hrs as (rs&->&Hrs). apply elem_of_list_fmap in Hr as (r&->&Hr).
        exists r. split; [|done]. left. apply elem_of_list_In, in_concat. exists rs. split; by apply elem_of_list_In. }
      destruct (Hone r Hy) as (x&Hx&->). exists x. split; [|done]. apply elem_of_list_In, in_concat.
      exists (read_by r). split; apply elem_of_list_In; [|done]. apply elem_of_list_fmap. eauto.
    Qed.

    (** The names before. *)
    Definition unrename (y : string) : string :=
      match filter (λ p, to p = y) (passed h) with p :: _ => from p | [] => y end.

    Lemma unrename_rename x : clean x → unrename (rename x) = x.
    Proof.
      intros Hx. unfold unrename. destruct (filter (λ p, to p = rename x) (passed h)) as [|q l] eqn:Heq.
      - destruct (rename_cases x) as [(p&Hp&Hf&Hr)|[_ ->]]; [|done].
        assert (p ∈ filter (λ p, to p = rename x) (passed h)) as Hin by (by apply elem_of_list_filter).
        rewrite Heq in Hin. by apply elem_of_nil in Hin.
      - assert (q ∈ filter (λ p, to p = rename x) (passed h)) as [Hto Hq]%elem_of_list_filter by (rewrite Heq; by left).
        destruct (rename_cases x) as [(p&Hp&<-&Hr)|[_ Hr]]; rewrite Hr in Hto; [by apply (Hinj p q)|].
        by destruct (Hx q Hq).
    Qed.

    Definition before (A' : gset fact) : gset fact := set_map (λ f, (unrename f.1, f.2)) A'.

    Lemma elem_of_before A' x v :
      (∀ f, f ∈ A' → ∃ y, clean y ∧ f.1 = rename y) → (x, v) ∈ before A' ↔ clean x ∧ (rename x, v) ∈ A'.
    Proof.
      intros HA. unfold before. rewrite elem_of_map. split.
      - intros ([y w]&Heq&Hf). simpl in Heq. injection Heq as -> ->. destruct (HA _ Hf) as (z&Hz&Hy). simpl in Hy. subst y.
        by rewrite unrename_rename.
      - intros [Hx Hf]. exists (rename x, v). simpl. by rewrite unrename_rename.
    Qed.
  End names.

  (** ** The simulation *)
  Section sound.
    Context (D : gset value) (Σ : system) (H : may_relay D Σ) (fns : string → row → option value) (n : nat).
    Context (again' again : gset string) (Hag : again' ⊆ again).
    Context (Hagain : ∀ p, p ∈ passed h → from p ∈ inputs Σ → from p ∈ again).
    Local Notation relay := (relay D Σ).

    (** What an instance may be told. *)
    Definition told (s : state) (i : instance) (f : fact) : Prop :=
      (addr i, f) ∈ sent s ∨ (addr i, f) ∈ waiting s ∨ f.1 ∈ timers Σ ∧ f.2 = [].

    (** Where the instance with its rules is. *)
    Definition work (i : instance) : value := if decide (addr i ∈ handed_at h) then place (addr i) else addr i.

    Record relayed (s' s : state) : Prop := Relayed {
      rl_waiting : waiting s' ⊆ waiting s;
      rl_inputs : ∀ m, m ∈ waiting s → m.2.1 ∈ inputs Σ;
      rl_work : ∀ i, i ∈ instances Σ → carried s' (work i) = carried s (addr i);
      rl_front : ∀ i, i ∈ instances Σ → addr i ∈ handed_at h → carried s' (addr i) = ∅;
      rl_neutral : ∀ i f, i ∈ instances Σ → addr i ∈ handed_at h → f ∈ carried s (addr i) → neutral f.1;
      rl_heads : ∀ m, m ∈ sent s → ∃ i r, i ∈ instances Σ ∧ r ∈ asyncs (rules i) ∧ head r = m.2.1;
      rl_sent : ∀ m, m ∈ sent s' → (∃ m0, m0 ∈ sent s ∧ redirect m0 = Some m) ∨
        ∃ i p v, i ∈ instances Σ ∧ addr i ∈ handed_at h ∧ p ∈ passed h ∧ m = (place (addr i), (to p, v)) ∧ told s i (from p, v);
    }.

    Lemma the_instance i j : i ∈ instances Σ → j ∈ instances Σ → addr j = addr i → j = i.
    Proof.
      intros Hi Hj Heq. apply elem_of_list_lookup in Hi as [x Hx], Hj as [y Hy].
      assert (x = y) as ->; [|congruence]. eapply NoDup_lookup; [exact (mr_nodup _ _ H)| |];
        rewrite list_lookup_fmap; [rewrite Hx|rewrite Hy]; simpl; by f_equal.
    Qed.

    Lemma work_inj i j : i ∈ instances Σ → j ∈ instances Σ → work i = work j → i = j.
    Proof.
      intros Hi Hj. unfold work. case_decide as Ha; case_decide as Hb; intros Heq.
      - apply the_instance; [done..|]. destruct (mr_places _ _ H _ Ha) as [_ Hinj]. by apply Hinj.
      - destruct (mr_places _ _ H _ Ha) as [Hno _]. by destruct (Hno j Hj).
      - destruct (mr_places _ _ H _ Hb) as [Hno _]. by destruct (Hno i Hi).
      - by apply the_instance.
    Qed.

    Lemma work_not_front i j : i ∈ instances Σ → j ∈ instances Σ → addr j ∈ handed_at h → work i ≠ addr j.
    Proof.
      intros Hi Hj Ha. unfold work. case_decide as Hi'.
      - destruct (mr_places _ _ H _ Hi') as [Hno _]. by apply not_eq_sym, Hno.
      - intros Heq. by rewrite Heq in Hi'.
    Qed.

    (** Where a message came from. *)
    Lemma redirect_old i m f : i ∈ instances Σ → redirect m = Some (addr i, f) → m = (addr i, f).
    Proof.
      intros Hi. unfold decouple.redirect. destruct m as [a g]. simpl. case_decide as HM; [|naive_solver].
      case_decide as Ha; [|case_decide; naive_solver]. intros [= Heq _].
      destruct (mr_places _ _ H _ Ha) as [Hno _]. by destruct (Hno i Hi).
    Qed.

    Lemma redirect_new i m f :
      i ∈ instances Σ → addr i ∈ handed_at h → f.1 ∈ M → redirect m = Some (place (addr i), f) → m = (addr i, f).
    Proof.
      intros Hi Ha HM. unfold decouple.redirect. destruct m as [a g]. simpl. case_decide as Hg.
      - case_decide as Hd.
        + intros [= Heq ->]. destruct (mr_places _ _ H _ Hd) as [_ Hinj]. by rewrite (Hinj _ Ha Heq).
        + case_decide as Hn; [done|]. intros [= -> ->]. destruct Hn. apply elem_of_list_fmap.
          exists (addr i). split; [done|by apply elem_of_elements].
      - by intros [= -> ->].
    Qed.

    Lemma redirect_fact m m' : redirect m = Some m' → m'.2 = m.2.
    Proof. unfold decouple.redirect. repeat case_decide; naive_solver. Qed.

    Lemma names_injective p q : p ∈ passed h → q ∈ passed h → to q = to p → from q = from p.
    Proof. intros Hp Hq. by apply (mr_names _ _ H p Hp). Qed.

    Lemma head_not_new s' s m p : relayed s' s → m ∈ sent s → p ∈ passed h → m.2.1 ≠ to p.
    Proof.
      intros HR Hm Hp Heq. destruct (rl_heads _ _ HR _ Hm) as (i&r&Hi&Hr&Hh).
      destruct (mr_names _ _ H p Hp) as ((_&_&_&_&_&Hno)&_). rewrite list.Forall_forall in Hno. specialize (Hno i Hi).
      rewrite list.Forall_forall in Hno. apply (Hno r Hr). congruence.
    Qed.

    (** After a step of an instance where its rules are, [W] being what still waits. *)
    Lemma relayed_after b s' s i K Y W' W :
      b = work i → relayed s' s → i ∈ instances Σ → (addr i ∈ handed_at h → ∀ f, f ∈ K → neutral f.1) →
      (∀ m, m ∈ Y → ∃ r, r ∈ asyncs (rules i) ∧ head r = m.2.1) → W' ⊆ W → (∀ m, m ∈ W → m ∈ waiting s) →
      (∀ j f, j ∈ instances Σ → addr j ∈ handed_at h → (addr j, f) ∈ waiting s → (addr j, f) ∈ W) →
      relayed (State (<[b := K]> (carried s')) (sent s' ∪ routed relay Y) W')
              (State (<[addr i := K]> (carried s)) (sent s ∪ routed Σ Y) W).
    Proof.
      intros -> HR Hi HK HY HW Hold Hkeep. destruct HR as [H1 H2 H3 H4 H5 H6 H7].
      assert (∀ m, m ∈ routed Σ Y ↔ m ∈ Y) as Hplain.
      { intros m. rewrite elem_of_routed. setoid_rewrite (mr_route _ _ H). naive_solver. }
      split; simpl.
      - done.
      - intros m Hm. by apply H2, Hold.
      - intros j Hj. destruct (decide (addr j = addr i)) as [Heq|Hne].
        + apply (the_instance i j) in Heq as ->; [|done..]. by rewrite !fn_lookup_insert.
        + rewrite !fn_lookup_insert_ne; [by apply H3|congruence|]. intros Heq. apply work_inj in Heq; [|done..]. congruence.
      - intros j Hj Ha. rewrite fn_lookup_insert_ne by (by apply work_not_front). by apply H4.
      - intros j f Hj Ha. destruct (decide (addr j = addr i)) as [Heq|Hne].
        + apply (the_instance i j) in Heq as ->; [|done..]. rewrite fn_lookup_insert. by apply HK.
        + rewrite fn_lookup_insert_ne by congruence. by apply (H5 j).
      - intros m [Hm|Hm%Hplain]%elem_of_union; [by apply H6|]. destruct (HY m Hm) as (r&?&?). eauto.
      - intros m [Hm|(x&Hx&Hm)%elem_of_routed]%elem_of_union.
        + destruct (H7 m Hm) as [(m0&?&?)|(j&p&v&Hj&Ha&Hp&->&Ht)]; [left; exists m0; split; [set_solver|done]|].
          right. exists j, p, v. repeat (split; [done|]). destruct Ht as [Ht|[Ht|Ht]].
          * left. simpl. set_solver.
          * right; left. simpl. by apply Hkeep.
          * by right; right.
        + simpl in Hm. rewrite (mr_route _ _ H) in Hm. simpl in Hm. left. exists x. split; [|done].
          apply elem_of_union_r. by apply Hplain.
    Qed.

    (** After a step of a relay. *)
    Lemma relayed_pause s' s i Y W' :
      relayed s' s → i ∈ instances Σ → addr i ∈ handed_at h → W' ⊆ waiting s' →
      (∀ m, m ∈ Y → ∃ p v, p ∈ passed h ∧ m = (place (addr i), (to p, v)) ∧ told s i (from p, v)) →
      relayed (State (<[addr i := ∅]> (carried s')) (sent s' ∪ routed relay Y) W') s.
    Proof.
      intros HR Hi Ha HW HY. destruct HR as [H1 H2 H3 H4 H5 H6 H7]. split; simpl.
      - by etrans.
      - done.
      - intros j Hj. rewrite fn_lookup_insert_ne; [by apply H3|]. by apply not_eq_sym, work_not_front.
      - intros j Hj Hj'. destruct (decide (addr j = addr i)) as [->|Hne]; [by rewrite fn_lookup_insert|].
        rewrite fn_lookup_insert_ne by congruence. by apply H4.
      - done.
      - done.
      - intros m [Hm|(x&Hx&Hm)%elem_of_routed]%elem_of_union; [by apply H7|]. right.
        destruct (HY x Hx) as (p&v&Hp&->&Ht). simpl in Hm. rewrite (mr_route _ _ H) in Hm. simpl in Hm.
        unfold decouple.redirect in Hm. simpl in Hm. rewrite decide_False in Hm.
        2:{ by destruct (mr_names _ _ H p Hp) as ((_&_&_&_&?&_)&_). }
        injection Hm as <-. exists i, p, v. done.
    Qed.

    (** What comes to an instance that has no relay. *)
    Lemma arrives_others s' s i A I :
      relayed s' s → i ∈ instances Σ → addr i ∉ handed_at h → arrives relay s' i A I →
      arrives Σ s i A I ∧ waiting s' ∖ I ⊆ waiting s ∖ I ∧
      ∀ j f, j ∈ instances Σ → addr j ∈ handed_at h → (addr j, f) ∈ waiting s → (addr j, f) ∈ waiting s ∖ I.
    Proof.
      intros HR Hi Ha (HI1&HI2&HA). split; [|split].
      - split; [etrans; [exact HI1|by apply (rl_waiting _ _ HR)]|]. split; [done|]. intros f Hf.
        destruct (HA f Hf) as (?&?&Hc). split; [done|]. split; [done|]. destruct Hc as [Hs|Hc]; [left|by right].
        destruct (rl_sent _ _ HR _ Hs) as [(m&Hm&Hr)|(j&p&v&Hj&Hja&_&[= Heq _]&_)].
        + by apply (redirect_old i) in Hr as ->.
        + destruct (mr_places _ _ H _ Hja) as [Hno _]. by destruct (Hno i Hi).
      - pose proof (rl_waiting _ _ HR) as Hsub. intros m. specialize (Hsub m). rewrite !multiplicity_difference. lia.
      - intros j f Hj Hja Hw. assert ((addr j, f) ∉ I) as Hno.
        { intros Hin. destruct (HI2 _ Hin) as [Heq _]. simpl in Heq. by rewrite Heq in Hja. }
        rewrite elem_of_multiplicity in Hw. rewrite elem_of_multiplicity in Hno. rewrite elem_of_multiplicity, multiplicity_difference. lia.
    Qed.

    (** What a relay sends. *)
    Lemma front_tick s' s i A I :
      relayed s' s → i ∈ instances Σ → addr i ∈ handed_at h →
      let j := Instance (addr i) (self i) front in
      arrives relay s' j A I →
      let G' := tick fns n relay j (carried s' (addr j)) A in
      ∀ m, m ∈ sends fns (self j) (rules j) G' → ∃ p v, p ∈ passed h ∧ m = (place (addr i), (to p, v)) ∧ told s i (from p, v).
    Proof.
      intros HR Hi Ha j (HI1&_&HA) G' m Hm. unfold sends in Hm.
      apply elem_of_union_list in Hm as (X&(r&->&Hr)%elem_of_list_fmap&Hm). simpl in Hr.
      apply elem_of_list_fmap in Hr as (p&->&Hp). destruct (mr_names _ _ H p Hp) as (_&Hns&_).
      destruct (mr_way _ _ H) as [Hfwd Hway].
      apply send_pass in Hm as (v&b&->&Hv&Hb); [|by intros Heq; rewrite Heq in Hns].
      assert (∀ f, f ∈ G' → f ∈ facts Σ ∨ f ∈ A) as HG.
      { intros f Hf. subst G'. unfold tick, now, close in Hf. simpl in Hf. rewrite (rl_front _ _ HR i Hi Ha) in Hf.
        rewrite !elem_of_union in Hf. destruct Hf as [[?|Hf]|?]; [tauto| |tauto]. by apply elem_of_empty in Hf. }
      exists p, v. split; [done|]. split.
      - f_equal. destruct (HG _ Hb) as [Hf|Hf]; [by apply (Hway i)|]. by destruct (HA _ Hf) as (_&Hno&_).
      - destruct (HG _ Hv) as [Hf|Hf]; [by apply (mr_static _ _ H) in Hf|].
        destruct (HA _ Hf) as (_&_&[Hs|[Hs|Hs]]).
        + left. destruct (rl_sent _ _ HR _ Hs) as [(m&Hm&Hr)|(k&q&w&Hk&Hka&_&[= Heq _]&_)].
          * by apply (redirect_old i) in Hr as ->.
          * destruct (mr_places _ _ H _ Hka) as [Hno _]. by destruct (Hno i Hi).
        + right; left. exact (elem_of_sub _ _ _ (rl_waiting _ _ HR) (elem_of_sub _ _ _ HI1 Hs)).
        + by right; right.
    Qed.

    Lemma repeat_inputs s I :
      (∀ m, m ∈ I → m ∈ waiting s ∧ m.2.1 ∈ again) →
      seen fns n again Σ s [] (State (carried s) (sent s) (waiting s ⊎ I)).
    Proof.
      induction I as [|x I IH] using gmultiset_ind; intros HI.
      - rewrite (right_id_L ∅ (⊎)). destruct s. constructor.
      - change [] with (@nil event ++ []). destruct (HI x) as [Hx Hax].
        { apply gmultiset_elem_of_disj_union. left. by apply gmultiset_elem_of_singleton. }
        eapply seen_app; [apply IH; intros m Hm; apply HI, gmultiset_elem_of_disj_union; by right|].
        eapply seen_silent; [apply (step_again _ _ _ _ _ x); [|done]|].
        { simpl. apply gmultiset_elem_of_disj_union. by left. }
        simpl. assert (waiting s ⊎ ({[+ x +]} ⊎ I) = waiting s ⊎ I ⊎ {[+ x +]}) as Heq by (clear; multiset_solver).
        rewrite Heq. constructor.
    Qed.

    (** A tick of the new instance is a tick of the old one, in which the same comes in, under the names
        before, and again if clients gave it. *)
    Lemma behind_tick s' s i A' I' :
      relayed s' s → i ∈ instances Σ → addr i ∈ handed_at h →
      let j := Instance (place (addr i)) (self i) (behind (rules i)) in
      arrives relay s' j A' I' →
      let G' := tick fns n relay j (carried s' (addr j)) A' in
      I' = ∅ ∧ ∃ A I, (∀ m, m ∈ I → m ∈ waiting s ∧ m.2.1 ∈ again) ∧
        arrives Σ (State (carried s) (sent s) (waiting s ⊎ I)) i A I ∧
        let G := tick fns n Σ i (carried s (addr i)) A in
        carried_on fns (self j) (rules j) G' = carried_on fns (self i) (rules i) G ∧
        sends fns (self j) (rules j) G' = sends fns (self i) (rules i) G.
    Proof.
      intros HR Hi Ha j (HI1&HI2&HA) G'. destruct (mr_rules _ _ H i Hi Ha) as [Hreads Hneutral].
      assert (∀ p, p ∈ passed h → from p ∉ statics Σ ∧ to p ∉ statics Σ ∧ to p ∉ inputs Σ ∧ to p ∉ timers Σ) as Hnames.
      { intros p Hp. destruct (mr_names _ _ H p Hp) as ((?&?&?&_)&?&_). done. }
      assert (∀ x, x ∈ statics Σ → neutral x) as Hstatic.
      { intros x Hx. split; [intros p Hp ->|intros p Hp <-]; by destruct (Hnames p Hp) as (?&?&_). }
      assert (∀ f, f ∈ A' → ∃ x, x ∈ reads (rules i) ∧ clean x ∧ f.1 = rename x ∧ x ∉ statics Σ) as HA'.
      { intros f Hf. destruct (HA f Hf) as (Hr&Hns&_). simpl in Hr. apply reads_behind in Hr as (x&Hx&Heq).
        exists x. destruct (Hreads x Hx) as [Hc _]. repeat (split; [done|]). intros Hs. apply Hns. simpl.
        rewrite Heq. destruct (Hstatic x Hs) as [_ Hno]. by rewrite rename_not. }
      assert (I' = ∅) as ->.
      { destruct (gmultiset_choose_or_empty I') as [[m Hm]|?]; [|done]. exfalso. destruct (HI2 m Hm) as [_ Hin].
        assert (m.2.1 ∈ inputs Σ) as Hinput by (apply (rl_inputs _ _ HR); exact (elem_of_sub _ _ _ (rl_waiting _ _ HR) (elem_of_sub _ _ _ HI1 Hm))).
        destruct (HA' _ Hin) as (x&Hx&Hc&Heq&Hns). rewrite Heq in Hinput.
        destruct (rename_cases x) as [(p&Hp&_&Hr)|[Hno Hr]]; rewrite Hr in Hinput; [by destruct (Hnames p Hp) as (_&_&?&_)|].
        destruct (Hreads x Hx) as (_&[?|[(p&Hp&Hf)|(_&?&_)]]); [done|by destruct (Hno p Hp)|done]. }
      split; [done|].
      pose proof (λ x v, elem_of_before names_injective A' x v) as HB.
      assert (∀ f, f ∈ A' → ∃ y, clean y ∧ f.1 = rename y) as HAc.
      { intros f Hf. destruct (HA' f Hf) as (x&_&?&?&_). eauto. }
      set (A := before A') in *.
      set (I := list_to_set_disj (pair (addr i) <$> filter (λ f, (addr i, f) ∈ waiting s) (elements A)) : gmultiset message).
      assert (∀ m, m ∈ I ↔ m.1 = addr i ∧ m.2 ∈ A ∧ m ∈ waiting s) as HIm.
      { intros [a f]. unfold I. rewrite elem_of_list_to_set_disj, elem_of_list_fmap. setoid_rewrite elem_of_list_filter.
        setoid_rewrite elem_of_elements. simpl. naive_solver. }
      assert (∀ x v, (x, v) ∈ A → x ∈ reads (rules i) ∧ x ∉ statics Σ ∧ clean x ∧ (rename x, v) ∈ A') as HAx.
      { intros x v Hx. apply HB in Hx as [Hc Hin]; [|done]. destruct (HA' _ Hin) as (y&Hy&Hyc&Heq&Hns). simpl in Heq.
        assert (x = y) as ->; [|done].
        rewrite <- (unrename_rename names_injective x), <- (unrename_rename names_injective y) by done. by rewrite Heq. }
      exists A, I. split; [|split].
      - intros m (Hto&Hin&Hw)%HIm. split; [done|]. destruct m as [a [x v]]. simpl in *.
        destruct (HAx x v Hin) as (Hx&Hns&_). pose proof (rl_inputs _ _ HR _ Hw) as Hinput. simpl in Hinput.
        destruct (Hreads x Hx) as (_&[?|[(p&Hp&<-)|(_&?&_)]]); [done|by apply Hagain|done].
      - split; [apply gmultiset_disj_union_subseteq_r|]. split; [intros m (?&?&_)%HIm; done|].
        intros [x v] Hin. simpl. destruct (HAx x v Hin) as (Hx&Hns&Hc&Hin'). split; [done|]. split; [done|].
        assert (told s i (x, v)) as Ht.
        { destruct (HA _ Hin') as (_&_&Hcome). simpl in Hcome.
          destruct (rename_cases x) as [(p&Hp&Hf&Hr)|[Hno Hr]]; rewrite Hr in Hcome.
          - destruct Hcome as [Hs|[Hs|[Ht ->]]].
            + destruct (rl_sent _ _ HR _ Hs) as [(m&Hm&Hred)|(k&q&w&Hk&Hka&Hq&[= Heq Hto ->]&Ht)].
              * apply redirect_fact in Hred. exfalso. eapply head_not_new; [exact HR|exact Hm|exact Hp|].
                destruct m as [a g]. simpl in Hred. by subst g.
              * destruct (mr_places _ _ H _ Ha) as [_ Hinj]. apply Hinj in Heq; [|done].
                apply eq_sym, (the_instance i k) in Heq as ->; [|done..].
                rewrite <- Hf. by rewrite <- (names_injective p q Hp Hq (eq_sym Hto)).
            + by apply gmultiset_not_elem_of_empty in Hs.
            + by destruct (Hnames p Hp) as (_&_&_&?).
          - assert (x ∈ M ∧ x ∉ timers Σ) as [HM Hnt].
            { destruct (Hreads x Hx) as (_&[?|[(p&Hp&Hf)|(?&_&?)]]); [done|by destruct (Hno p Hp)|done]. }
            destruct Hcome as [Hs|[Hs|[Ht _]]]; [|by apply gmultiset_not_elem_of_empty in Hs|done].
            left. destruct (rl_sent _ _ HR _ Hs) as [(m&Hm&Hred)|(k&q&w&_&_&Hq&[= _ Hto _]&_)].
            + by apply redirect_new in Hred as ->.
            + by destruct (Hc q Hq). }
        destruct Ht as [Ht|[Ht|Ht]]; [by left|right; left; by apply HIm|by right; right].
      - assert (renamed_of (facts Σ ∪ carried s (addr i) ∪ A') (facts Σ ∪ carried s (addr i) ∪ A)) as HF.
        { assert (renamed_of A' A) as HAA.
          { intros x v Hx. rewrite HB by done. naive_solver. }
          rewrite !(comm_L (∪) _ A'), !(comm_L (∪) _ A). refine (renamed_union _ _ _ HAA _).
          intros f [Hf|Hf]%elem_of_union; [by apply Hstatic, (mr_static _ _ H)|by eapply (rl_neutral _ _ HR)]. }
        assert (∀ x, x ∈ reads (rules i) → clean x) as Hclean by (intros x Hx; by apply Hreads).
        assert (renamed_of G' (tick fns n Σ i (carried s (addr i)) A)) as HG.
        { subst G'. unfold tick. simpl. assert (carried s' (place (addr i)) = carried s (addr i)) as ->.
          { rewrite <- (rl_work _ _ HR i Hi). unfold work. by rewrite decide_True. }
          apply now_behind; [done|done|]. intros r Hr. apply Hneutral, elem_of_app. by left. }
        split; [|by apply sends_behind].
        unfold carried_on. simpl. apply derives_behind; [done|]. intros r x Hr Hx. apply Hclean. unfold reads.
        apply elem_of_list_In, in_concat. exists (read_by r). split; apply elem_of_list_In; [|done].
        apply elem_of_list_fmap. exists r. split; [done|]. rewrite !elem_of_app. tauto.
    Qed.

    Lemma relay_step s' s e s1' :
      relayed s' s → step fns n again' relay s' e s1' → ∃ s1, seen fns n again Σ s (option_list e) s1 ∧ relayed s1' s1.
    Proof.
      intros HR Hstep.
      assert (∀ j, j ∈ instances relay → ∃ i, i ∈ instances Σ ∧
        (addr i ∉ handed_at h ∧ j = i ∨ addr i ∈ handed_at h ∧ (j = Instance (addr i) (self i) front ∨ j = Instance (place (addr i)) (self i) (behind (rules i))))) as Hwhich.
      { simpl. intros j (i&Hj&Hi)%elem_of_list_bind. exists i. split; [done|]. unfold in_front in Hj. case_decide as Ha.
        - right. split; [done|]. apply elem_of_cons in Hj as [->|Hj]; [by left|]. apply elem_of_list_singleton in Hj. by right.
        - left. by apply elem_of_list_singleton in Hj. }
      assert (∀ i, i ∈ instances Σ → work i ∈ D → addr i ∈ mortals Σ) as Hmortal by (intros i Hi; by apply (mr_mortals _ _ H)).
      assert (∀ i, addr i ∉ handed_at h → addr i = work i) as Hthere by (intros i Ha; unfold work; by rewrite decide_False).
      assert (∀ i, addr i ∈ handed_at h → place (addr i) = work i) as Hmoved by (intros i Ha; unfold work; by rewrite decide_True).
      assert (∀ i G m, m ∈ sends fns (self i) (rules i) G → ∃ r, r ∈ asyncs (rules i) ∧ head r = m.2.1) as Hheads.
      { intros i G m Hm. unfold sends in Hm. apply elem_of_union_list in Hm as (X&(r&->&Hr)%elem_of_list_fmap&Hm).
        apply elem_of_send in Hm as (e1&d&v&_&_&_&->). eauto. }
      assert (∀ i G, i ∈ instances Σ → addr i ∈ handed_at h → ∀ f, f ∈ carried_on fns (self i) (rules i) G → neutral f.1) as Hneutral.
      { intros i G Hi Ha f (r&Hr&(e1&v&_&_&->)%elem_of_derive)%elem_of_derives. simpl.
        destruct (mr_rules _ _ H i Hi Ha) as [_ Hn]. apply Hn, elem_of_app. by right. }
      assert (∀ i, i ∈ instances Σ → addr i ∈ handed_at h → ∀ f, f ∈ survives Σ (carried s (addr i)) → neutral f.1) as Hsurvive.
      { intros i Hi Ha f [_ Hf]%elem_of_filter. by eapply (rl_neutral _ _ HR). }
      assert (∀ i b, i ∈ instances Σ → b = work i → survives relay (carried s' b) = survives Σ (carried s (addr i))) as Hsame.
      { intros i b Hi ->. unfold survives. simpl. by rewrite (rl_work _ _ HR). }
      assert (∀ X, X ⊆ waiting s' → X ⊆ waiting s) as Hless by (intros X HX; etrans; [exact HX|apply (rl_waiting _ _ HR)]).
      assert (∀ W I : gmultiset message, W ∖ I ⊆ W) as Hminus by (intros W I x; rewrite multiplicity_difference; lia).
      assert (∀ W I : gmultiset message, (W ⊎ I) ∖ I = W) as Hback.
      { intros W I. apply gmultiset_eq. intros x. rewrite multiplicity_difference, multiplicity_disj_union. lia. }
      destruct Hstep as [m Hm|m Hm Ho|j A I Hj Har G|j Hj Hmo|j A I Hj Hmo Har G|m Hm Ha].
      - eexists. split; [by apply (seen_step _ _ _ _ _ (Some (Give m))), step_give|]. destruct HR as [H1 H2 H3 H4 H5 H6 H7].
        split; simpl; try done.
        + intros x. specialize (H1 x). rewrite !multiplicity_disj_union. lia.
        + intros m' [?| ->%gmultiset_elem_of_singleton]%gmultiset_elem_of_disj_union; [by apply H2|done].
        + intros m' [?|(i&p&v&?&?&?&?&Ht)]%H7; [by left|right]. exists i, p, v. repeat (split; [done|]).
          destruct Ht as [Ht|[Ht|Ht]]; [by left|right; left; apply gmultiset_elem_of_disj_union; by left|by right; right].
      - exists s. split; [|done]. apply (seen_step _ _ _ _ _ (Some (Hear m))), step_hear; [|done]. simpl in Ho.
        destruct (rl_sent _ _ HR _ Hm) as [(m0&Hm0&Hr)|(i&p&v&_&_&Hp&->&_)].
        + assert (m0 = m) as <-; [|done]. unfold decouple.redirect in Hr. case_decide as HM; [|naive_solver]. exfalso.
          assert (m.2 = m0.2) as Heq by (by repeat case_decide; simplify_eq/=).
          apply (mr_moves _ _ H _ HM). by rewrite <- Heq.
        + by destruct (mr_names _ _ H p Hp) as ((_&_&_&?&_)&_).
      - destruct (Hwhich j Hj) as (i&Hi&[[Ha ->]|[Ha [->| ->]]]).
        + destruct (arrives_others _ _ _ _ _ HR Hi Ha Har) as (Har'&HW&Hkeep).
          eexists. split; [by apply (seen_step _ _ _ _ _ None), (step_tick fns n again Σ s i A I)|].
          assert (G = tick fns n Σ i (carried s (addr i)) A) as ->.
          { subst G. unfold tick. simpl. by rewrite <- (rl_work _ _ HR i Hi), <- Hthere. }
          apply (relayed_after (addr i) s' s i); [by apply Hthere|done|done|done|by apply Hheads|done| |done].
          intros m Hm. by eapply elem_of_sub; [|exact Hm].
        + exists s. split; [constructor|]. apply (relayed_pause s' s i); [done|done|done|apply Hminus|].
          by apply (front_tick s' s i A I).
        + destruct (behind_tick _ _ _ _ _ HR Hi Ha Har) as (->&A0&I0&HI0&Har0&Hc&Hs). fold G in Hc, Hs.
          eexists. split.
          * change (option_list None) with (@nil event ++ []). eapply seen_app; [by apply repeat_inputs|].
            by apply (seen_step _ _ _ _ _ None), (step_tick fns n again Σ _ i A0 I0).
          * simpl. rewrite Hback. simpl in Hc, Hs. rewrite Hc, Hs.
            apply (relayed_after _ s' s i); [by apply Hmoved|done|done|by apply Hneutral|by apply Hheads| |done|done].
            apply Hless, Hminus.
      - destruct (Hwhich j Hj) as (i&Hi&[[Ha ->]|[Ha [->| ->]]]); simpl in Hmo.
        + eexists. split; [apply (seen_step _ _ _ _ _ None), (step_crash fns n again Σ s i); [done|apply Hmortal; [done|by rewrite <- Hthere]]|].
          rewrite <- (routed_nothing relay s'), <- (routed_nothing Σ s), (Hsame i) by auto.
          apply (relayed_after _ s' s i); [by apply Hthere|done|done|done|set_solver|apply (rl_waiting _ _ HR)|done|done].
        + exists s. split; [constructor|]. rewrite <- (routed_nothing relay s').
          assert (survives relay (carried s' (addr i)) = ∅) as Hnone.
          { unfold survives. rewrite (rl_front _ _ HR i Hi Ha). apply set_eq. intros f. rewrite elem_of_filter. set_solver. }
          simpl. rewrite Hnone. apply (relayed_pause s' s i); [done|done|done|done|set_solver].
        + eexists. split; [apply (seen_step _ _ _ _ _ None), (step_crash fns n again Σ s i); [done|apply Hmortal; [done|by rewrite <- Hmoved]]|].
          simpl. rewrite <- (routed_nothing relay s'), <- (routed_nothing Σ s), (Hsame i) by auto.
          apply (relayed_after _ s' s i); [by apply Hmoved|done|done|by apply Hsurvive|set_solver|apply (rl_waiting _ _ HR)|done|done].
      - destruct (Hwhich j Hj) as (i&Hi&[[Ha ->]|[Ha [->| ->]]]); simpl in Hmo.
        + destruct (arrives_others _ _ _ _ _ HR Hi Ha Har) as (Har'&HW&Hkeep).
          eexists. split; [apply (seen_step _ _ _ _ _ None), (step_crash_in_tick fns n again Σ s i A I); [done|apply Hmortal; [done|by rewrite <- Hthere]|done]|].
          assert (G = tick fns n Σ i (carried s (addr i)) A) as ->.
          { subst G. unfold tick. simpl. by rewrite <- (rl_work _ _ HR i Hi), <- Hthere. }
          rewrite (Hsame i) by auto.
          apply (relayed_after (addr i) s' s i); [by apply Hthere|done|done|done|by apply Hheads|done| |done].
          intros m Hm. by eapply elem_of_sub; [|exact Hm].
        + exists s. split; [constructor|].
          assert (survives relay (carried s' (addr i)) = ∅) as Hnone.
          { unfold survives. rewrite (rl_front _ _ HR i Hi Ha). apply set_eq. intros f. rewrite elem_of_filter. set_solver. }
          simpl. rewrite Hnone. apply (relayed_pause s' s i); [done|done|done|apply Hminus|]. by apply (front_tick s' s i A I).
        + destruct (behind_tick _ _ _ _ _ HR Hi Ha Har) as (->&A0&I0&HI0&Har0&Hc&Hs). fold G in Hc, Hs.
          eexists. split.
          * change (option_list None) with (@nil event ++ []). eapply seen_app; [by apply repeat_inputs|].
            apply (seen_step _ _ _ _ _ None), (step_crash_in_tick fns n again Σ _ i A0 I0); [done|apply Hmortal; [done|by rewrite <- Hmoved]|done].
          * simpl. rewrite Hback. simpl in Hc, Hs. rewrite Hs, (Hsame i) by auto.
            apply (relayed_after _ s' s i); [by apply Hmoved|done|done|by apply Hsurvive|by apply Hheads| |done|done].
            apply Hless, Hminus.
      - pose proof (elem_of_sub _ _ _ (rl_waiting _ _ HR) Hm) as Hm'.
        eexists. split; [by apply (seen_step _ _ _ _ _ None), step_again, Hag; [exact Hm'|]|]. destruct HR as [H1 H2 H3 H4 H5 H6 H7].
        split; simpl; try done.
        + intros x. specialize (H1 x). rewrite !multiplicity_disj_union. lia.
        + intros m' [?| ->%gmultiset_elem_of_singleton]%gmultiset_elem_of_disj_union; by apply H2.
        + intros m' [?|(i&p&v&?&?&?&?&Ht)]%H7; [by left|right]. exists i, p, v. repeat (split; [done|]).
          destruct Ht as [Ht|[Ht|Ht]]; [by left|right; left; apply gmultiset_elem_of_disj_union; by left|by right; right].
    Qed.

    (** What clients see with the relay, they might have seen without it, if what they give comes again. *)
    Lemma relay_refines l : behaves fns n again' relay l → behaves fns n again Σ l.
    Proof.
      apply (simulation_with_steps _ _ _ _ _ _ relayed); [|apply relay_step].
      split; simpl; [done|multiset_solver|done|done|set_solver|set_solver|set_solver].
    Qed.
  End sound.
End relay.

(** * Dedalus: rules that route

    In a divided system the network sends a message to the piece of its key.  Here rules do
    that: a rule that sent a fact with a key to a node takes the hash of the key modulo the
    number of pieces, and sends to where a static relation leads from that node and number. *)
From stdpp Require Import prelude strings gmap gmultiset functions.
From ashlar.dedalus Require Import lang system keyed piece still divide partition.

(** The variables that a body binds; terms of which it is known that they have a value. *)
Fixpoint binds (b : list literal) : list string :=
  match b with
  | [] => []
  | Has a :: b => omap (λ t, match t with Var x => Some x | _ => None end) (terms a) ++ binds b
  | Let x _ :: b => x :: binds b
  | _ :: b => binds b
  end.
Definition known (b : list literal) (t : term) : Prop :=
  match t with Var x => x ∈ binds b | Const _ | Self => True | _ => False end.

Section framing.
  Context (fns : string → row → option value) (self : value) (away : string).
  Local Notation solutions := (solutions fns self).
  Local Notation derive := (derive fns self).

  Definition without (F : gset fact) : gset fact := filter (λ f, f.1 ≠ away) F.

  Lemma solutions_without F b e e' :
    away ∉ omap (λ l, match l with Has a | Lacks a => Some (rel a) | _ => None end) b →
    e' ∈ solutions (without F) b e ↔ e' ∈ solutions F b e.
  Proof.
    revert e. induction b as [|l b IH]; intros e Hb; [done|]. rewrite !elem_of_solutions_cons.
    assert (∀ e1, e1 ∈ extend fns self (without F) l e ↔ e1 ∈ extend fns self F l e) as Hl.
    { intros e1. destruct l as [a|a|o t u|x t]; try done; simpl in Hb; apply not_elem_of_cons in Hb as [Ha _].
      - rewrite !elem_of_extend_has. unfold without. split; intros (f&Hf&Hm); exists f; (split; [|done]).
        + by apply elem_of_filter in Hf as [_ ?].
        + apply elem_of_filter. split; [|done]. apply matching_spec in Hm as (->&_). done.
      - rewrite !elem_of_extend_lacks. unfold without. split; intros [-> Hno]; (split; [done|]); intros f Hf.
        + destruct (decide (f.1 = away)) as [Heq|Hne].
          * unfold matching. rewrite decide_False by congruence. done.
          * apply Hno. by apply elem_of_filter.
        + apply Hno. by apply elem_of_filter in Hf as [_ ?]. }
    assert (away ∉ omap (λ l, match l with Has a | Lacks a => Some (rel a) | _ => None end) b) as Hb'.
    { intros H. apply Hb. destruct l; simpl; [by right|by right|done|done]. }
    split; intros (e1&H1&H2); exists e1; (split; [by apply Hl|by apply IH]).
  Qed.

  Lemma fires_without r F : away ∉ read_by r → fires fns self r (without F) = fires fns self r F.
  Proof. intros H. apply set_eq. intros e. rewrite !elem_of_fires. by rewrite solutions_without. Qed.

  Lemma derive_without r F : away ∉ read_by r → derive (without F) r = derive F r.
  Proof. intros H. unfold lang.derive. by rewrite fires_without. Qed.

  Definition ignores (rs : list rule) : Prop := ∀ r, r ∈ rs → away ∉ read_by r ∧ head r ≠ away.

  Lemma derives_without rs F :
    ignores rs → ⋃ (derive (without F) <$> rs) = ⋃ (derive F <$> rs).
  Proof.
    intros H. apply set_eq. intros f. rewrite !elem_of_derives. split; intros (r&Hr&Hf); exists r; (split; [done|]).
    - rewrite derive_without in Hf; [done|by apply H].
    - rewrite derive_without; [done|by apply H].
  Qed.

  Lemma once_without rs F : ignores rs → once fns self rs (without F) = without (once fns self rs F).
  Proof.
    intros H. unfold once. rewrite derives_without by done. unfold without. apply set_eq. intros f.
    rewrite !elem_of_union, !elem_of_filter, !elem_of_union, elem_of_derives. split; [|naive_solver].
    intros [?|(r&Hr&Hf)]; [naive_solver|]. split; [|right; by exists r].
    apply elem_of_derive in Hf as (e&v&_&_&->). by apply H.
  Qed.

  Lemma close_without n ss F :
    (∀ rs, rs ∈ ss → ignores rs) → close fns self n ss (without F) = without (close fns self n ss F).
  Proof.
    revert F. unfold close. induction ss as [|rs ss IH]; intros F H; [done|]. simpl.
    assert (complete fns self n rs (without F) = without (complete fns self n rs F)) as ->.
    { unfold complete. assert (ignores rs) as Hrs by (apply H; by left). clear IH H.
      induction n as [|m IHm]; [done|].
      change (once fns self rs (Nat.iter m (once fns self rs) (without F)) =
              without (once fns self rs (Nat.iter m (once fns self rs) F))).
      by rewrite IHm, once_without. }
    apply IH. intros rs' Hrs'. apply H. by right.
  Qed.
  (** Facts that no rule derives were there at the beginning. *)
  Lemma close_underived n ss F f :
    (∀ rs r, rs ∈ ss → r ∈ rs → head r ≠ f.1) → f ∈ close fns self n ss F → f ∈ F.
  Proof.
    revert F. unfold close. induction ss as [|rs ss IH]; intros F H; [done|]. simpl. intros Hf.
    apply IH in Hf; [|intros rs' r Hrs' Hr; apply (H rs' r); [by right|done]]. assert (∀ r, r ∈ rs → head r ≠ f.1) as Hrs by (intros; apply (H rs); [by left|done]).
    clear IH H. revert Hf. unfold complete. induction n as [|m IHm]; [done|].
    change (f ∈ once fns self rs (Nat.iter m (once fns self rs) F) → f ∈ F).
    intros Hf. unfold once at 1 in Hf.
    apply elem_of_union in Hf as [Hf|(r&Hr&(e&v&_&_&->)%elem_of_derive)%elem_of_derives]; [by apply IHm|].
    by destruct (Hrs r Hr).
  Qed.

  Lemma close_away n ss F f :
    (∀ rs, rs ∈ ss → ignores rs) → f ∈ close fns self n ss F → f.1 = away → f ∈ F.
  Proof. intros H Hf Ha. eapply close_underived; [|exact Hf]. intros rs r Hrs Hr. rewrite Ha. by apply (H rs). Qed.
End framing.

Lemma mapM_ext_elem {A B} (f g : A → option B) l : (∀ x, x ∈ l → f x = g x) → mapM f l = mapM g l.
Proof.
  induction l as [|x l IH]; intros H; [done|]. simpl. rewrite (H x) by (by left).
  destruct (g x); simpl; [|done]. rewrite IH; [done|]. intros y Hy. apply H. by right.
Qed.

Section bound.
  Context (fns : string → row → option value) (self : value).

  Lemma solutions_binds F b e e' x : e' ∈ solutions fns self F b e → x ∈ binds b → is_Some (e' !! x).
  Proof.
    revert e. induction b as [|l b IH]; intros e; [by rewrite elem_of_nil|].
    rewrite elem_of_solutions_cons. intros (e1&H1&H2) Hx.
    assert (∀ v, e1 !! x = Some v → is_Some (e' !! x)) as Hmono.
    { intros v Hv. apply solutions_mono in H2. exists v. by eapply lookup_weaken. }
    destruct l as [a|a|o t u|y t]; simpl in Hx; try by eapply IH.
    - apply elem_of_app in Hx as [Hx|Hx]; [|by eapply IH].
      apply elem_of_list_omap in Hx as (t&Ht&Hxt). destruct t; simplify_eq/=.
      apply elem_of_list_lookup in Ht as [i Hi]. apply elem_of_extend_has in H1 as (f&_&Hm).
      apply matching_spec in Hm as (_&_&Hm). destruct (Hm _ _ Hi) as (v&_&Hv); [done|]. by eapply Hmono.
    - apply elem_of_cons in Hx as [->|Hx]; [|by eapply IH].
      simpl in H1. destruct (eval fns self e t) as [v|]; [|by apply elem_of_nil in H1].
      destruct (e !! y) as [w|] eqn:Hy.
      + case_decide; [|by apply elem_of_nil in H1]. apply elem_of_list_singleton in H1 as ->. by eapply Hmono.
      + apply elem_of_list_singleton in H1 as ->. eapply Hmono. apply lookup_insert.
  Qed.

  Lemma solutions_app F b c e e' :
    e' ∈ solutions fns self F (b ++ c) e ↔ ∃ e1, e1 ∈ solutions fns self F b e ∧ e' ∈ solutions fns self F c e1.
  Proof.
    revert e. induction b as [|l b IH]; intros e.
    - simpl. setoid_rewrite elem_of_list_singleton. naive_solver.
    - rewrite <- app_comm_cons, elem_of_solutions_cons. setoid_rewrite elem_of_solutions_cons.
      setoid_rewrite IH. naive_solver.
  Qed.

  (** A known term has the same value when more is bound. *)
  Lemma known_eval F b e e' t : e ∈ solutions fns self F b ∅ → known b t → e ⊆ e' →
    eval fns self e' t = eval fns self e t ∧ is_Some (eval fns self e t).
  Proof.
    intros Hs Hk He. destruct t as [x| |v| |f l]; simpl in *; try done; eauto.
    destruct (solutions_binds _ _ _ _ _ Hs Hk) as [v Hv]. rewrite Hv. split; [|eauto]. by eapply lookup_weaken.
  Qed.
End bound.

Section routing.
  Context (number : value → nat) (place : value → nat → value) (p : plan).
  Context (fwd : string) (ways : gset fact).
  Local Notation reroute := (reroute number place p).

  (** The key itself, or a variable that is bound to it first. *)
  Definition named (k : term) (pre : list literal) (u : term) : Prop :=
    pre = [] ∧ u = k ∨ ∃ y, pre = [Let y k] ∧ u = Var y.

  Inductive leads (r r' : rule) : Prop :=
    | leads_same : keys p !! head r = None → r' = r → leads r r'
    | leads_on col k pre u x out :
        keys p !! head r = Some col → args r !! col = Some (Plain k) →
        Forall (λ a, ∃ t, a = Plain t ∧ known (body r) t) (args r) → known (body r) (dest r) →
        named k pre u →
        r' = Rule (head r) (args r) (Var out) (body r ++ pre ++
          [Let x (Call "%" [Call "hash" [u]; Const (U64 (N.of_nat (pieces p)))]);
           Has (Atom fwd [dest r; Var x; Var out])]) →
        leads r r'.

  (** Functions find the piece of a key. *)
  Definition finds (fns : string → row → option value) : Prop :=
    ∀ v h w, fns "hash" [v] = Some h → fns "%" [h; U64 (N.of_nat (pieces p))] = Some w →
      w = U64 (N.of_nat (bucket number p v)).

  (** The static relation leads from a node and a number to the piece, and from nodes that are not
      divided to themselves. *)
  Definition right_ways : Prop :=
    ∀ f, f ∈ ways → f.1 = fwd ∧ ∀ d q to, f.2 = [d; U64 (N.of_nat q); to] →
      if decide (d ∈ nodes p) then to = place d q else to = d ∧ d ∉ places place p.

  Lemma mapM_plain fns self r S e :
    Forall (λ a, ∃ t, a = Plain t) (args r) → made fns self r S e = mapM (eval fns self e) (arg_term <$> args r).
  Proof.
    intros H. unfold made. rewrite <- (mapM_id_fmap (eval fns self e)), <- list_fmap_compose. f_equal.
    rewrite <- imap_const. apply imap_ext. intros i a Ha. rewrite list.Forall_lookup in H.
    by destruct (H _ _ Ha) as [t ->].
  Qed.

  Lemma named_eval fns self G k pre u e e1 w :
    named k pre u → e1 ∈ solutions fns self G pre e → eval fns self e k = Some w → e ⊆ e1 ∧ eval fns self e1 u = Some w.
  Proof.
    intros [[-> ->]|(y&->&->)] H1 Hk.
    { simpl in H1. apply elem_of_list_singleton in H1 as ->. done. }
    split; [by eapply solutions_mono|]. apply elem_of_solutions_cons in H1 as (e2&H2&H1).
    simpl in H1. apply elem_of_list_singleton in H1 as ->. simpl in *. rewrite Hk in H2.
    destruct (e !! y) as [v|] eqn:Hy.
    - case_decide; [|by apply elem_of_nil in H2]. apply elem_of_list_singleton in H2 as ->. congruence.
    - apply elem_of_list_singleton in H2 as ->. apply lookup_insert.
  Qed.

  (** What such a rule sends, the rule before sends to the node that leads there. *)
  Lemma send_leads fns self G r r' m :
    finds fns → right_ways → (∀ f, f ∈ G → f.1 = fwd → f ∈ ways) → fwd ∉ read_by r →
    leads r r' → m ∈ send fns self G r' → ∃ m0, m0 ∈ send fns self (without fwd G) r ∧ reroute m0 = Some m.
  Proof.
    intros Hfinds Hways HG Hr Hl Hm. destruct Hl as [HK ->|col k pre u x out HK Hk Hargs Hdest Hnamed ->].
    { unfold lang.send in Hm. rewrite <- (fires_without fns self fwd) in Hm by done. exists m. split; [exact Hm|].
      apply elem_of_send in Hm as (e&d&v&_&_&_&->). unfold divide.reroute. simpl. by rewrite HK. }
    apply elem_of_send in Hm as (e&d&v&He&Hd&Hv&->). simpl in *.
    assert (Forall (λ a, ∃ t, a = Plain t) (args r)) as Hplain.
    { apply list.Forall_forall. intros a Ha. rewrite list.Forall_forall in Hargs. destruct (Hargs a Ha) as (t&->&_). eauto. }
    apply elem_of_fires in He as [_ Hs]. simpl in Hs. apply solutions_app in Hs as (e1&Hs1&Hs).
    assert (e1 ⊆ e) as He by (by eapply solutions_mono).
    rewrite mapM_plain in Hv by done. simpl in Hv.
    assert (mapM (eval fns self e1) (arg_term <$> args r) = Some v) as Hv1.
    { rewrite <- Hv. apply mapM_ext_elem. intros t (a&->&Ha)%elem_of_list_fmap.
      rewrite list.Forall_forall in Hargs. destruct (Hargs a Ha) as (t&->&Ht). simpl.
      symmetry. by eapply known_eval. }
    destruct (known_eval fns self G (body r) e1 e (dest r) Hs1 Hdest He) as [Hd1 [d0 Hd0]].
    assert ((d0, (head r, v)) ∈ send fns self (without fwd G) r) as Hsend.
    { apply elem_of_send. exists e1, d0, v. rewrite (fires_without fns self fwd) by done.
      split; [|split; [done|split; [by rewrite mapM_plain|done]]].
      apply elem_of_fires. split; [unfold heads_of; rewrite Hv1; eauto|done]. }
    exists (d0, (head r, v)). split; [done|].
    (* the piece *)
    assert (∃ w, v !! col = Some w ∧ eval fns self e1 k = Some w) as (w&Hw&Hk1).
    { apply mapM_Some in Hv1. assert ((arg_term <$> args r) !! col = Some k) as Hc by (by rewrite list_lookup_fmap, Hk).
      destruct (Forall2_lookup_l _ _ _ _ _ Hv1 Hc) as (w&?&?). eauto. }
    apply solutions_app in Hs as (e1'&Hpre&Hs).
    destruct (named_eval _ _ _ _ _ _ _ _ _ Hnamed Hpre Hk1) as [_ Hu1].
    apply elem_of_solutions_cons in Hs as (e2&H2&Hs). apply elem_of_solutions_cons in Hs as (e3&H3&Hs).
    simpl in Hs. apply elem_of_list_singleton in Hs as ->.
    simpl in H2. rewrite Hu1 in H2. simpl in H2.
    destruct (fns "hash" [w]) as [h|] eqn:Hh; simpl in H2; [|by apply elem_of_nil in H2].
    destruct (fns "%" [h; U64 (N.of_nat (pieces p))]) as [n|] eqn:Hn; simpl in H2; [|by apply elem_of_nil in H2].
    pose proof (Hfinds _ _ _ Hh Hn) as ->.
    assert (e2 !! x = Some (U64 (N.of_nat (bucket number p w)))) as Hx.
    { destruct (e1' !! x) as [y|] eqn:Hy.
      - case_decide; [|by apply elem_of_nil in H2]. apply elem_of_list_singleton in H2 as ->. congruence.
      - apply elem_of_list_singleton in H2 as ->. apply lookup_insert. }
    apply elem_of_extend_has in H3 as (f&Hf&Hmatch). pose proof Hmatch as (Hrel&He23&Hm)%matching_spec. simpl in *.
    assert (length f.2 = 3) as Hlen.
    { unfold matching in Hmatch. case_decide; [|done]. by apply unify_length in Hmatch. }
    destruct f as [fr [|a [|b [|c []]]]]; try done. simpl in *. subst fr.
    destruct (Hways _ (HG _ Hf eq_refl)) as [_ Hway]. simpl in Hway.
    assert (b = U64 (N.of_nat (bucket number p w))) as ->.
    { destruct (Hm 1 (Var x) eq_refl eq_refl) as (?&[= <-]&Hb). simpl in Hb.
      rewrite (lookup_weaken _ _ _ _ Hx He23) in Hb. by simplify_eq. }
    assert (c = d) as ->.
    { destruct (Hm 2 (Var out) eq_refl eq_refl) as (?&[= <-]&Hc). simpl in Hc. congruence. }
    assert (a = d0) as ->.
    { assert (simple (dest r) = true) as Hsimple by (by destruct (dest r)).
      destruct (Hm 0 (dest r) eq_refl Hsimple) as (?&[= <-]&Ha). congruence. }
    specialize (Hway d0 (bucket number p w) d eq_refl).
    unfold divide.reroute, key_of. simpl. rewrite HK, Hw. simpl.
    case_decide; [by subst|]. destruct Hway as [-> Hnp]. by rewrite decide_False.
  Qed.

  (** ** Systems *)
  Definition leads_all (i i' : instance) : Prop :=
    addr i' = addr i ∧ self i' = self i ∧ strata (rules i') = strata (rules i) ∧
    nexts (rules i') = nexts (rules i) ∧ Forall2 leads (asyncs (rules i)) (asyncs (rules i')).

  (** [Σ'] is [Σ] divided, with rules that route; in both the network does not. *)
  Record by_rules (Σ Σ' : system) : Prop := ByRules {
    br_route : (∀ m, route Σ m = Some m) ∧ ∀ m, route Σ' m = Some m;
    br_instances : Forall2 leads_all (instances (divide number place p Σ)) (instances Σ');
    br_facts : facts Σ' = facts Σ ∪ ways;
    br_statics : statics Σ' = {[fwd]} ∪ statics Σ;
    br_same : inputs Σ' = inputs Σ ∧ outputs Σ' = outputs Σ ∧ timers Σ' = timers Σ ∧ durables Σ' = durables Σ ∧
      mortals Σ' = mortals (divide number place p Σ);
    br_ways : right_ways;
    br_new : (∀ f, f ∈ facts Σ → f.1 ≠ fwd) ∧ ∀ i, i ∈ instances Σ →
      (∀ rs, rs ∈ strata (rules i) → ignores fwd rs) ∧ ignores fwd (nexts (rules i)) ∧
      ∀ r, r ∈ asyncs (rules i) → fwd ∉ read_by r;
  }.

  Section sound.
    Context (Σ Σ' : system) (H : by_rules Σ Σ') (fns : string → row → option value) (n : nat) (again : gset string).
    Context (Hfinds : finds fns).
    Local Notation Σd := (divide number place p Σ).

    Record alike (s' s : state) : Prop := Alike {
      al_carried : ∀ a, carried s' a = carried s a;
      al_free : ∀ a f, f ∈ carried s a → f.1 ≠ fwd;
      al_sent : sent s' ⊆ sent s;
      al_waiting : waiting s' = waiting s;
    }.

    Lemma divided_instance i : i ∈ instances Σd → ∃ j, j ∈ instances Σ ∧ rules i = rules j.
    Proof.
      simpl. intros (j&Hj&Hin)%elem_of_list_bind. exists j. split; [done|]. unfold in_pieces in Hj.
      case_decide; [by apply elem_of_list_fmap in Hj as (q&->&_)|by apply elem_of_list_singleton in Hj as ->].
    Qed.

    Lemma leads_read r r' x : leads r r' → x ∈ read_by r' → x ≠ fwd → x ∈ read_by r.
    Proof.
      intros Hl Hx Hne. destruct Hl as [_ ->|col k pre u y out _ _ _ _ Hpre ->]; [done|]. revert Hx. unfold read_by. simpl.
      rewrite !omap_app. intros [?|[Hx|Hx]%elem_of_app]%elem_of_app; [done| |by apply elem_of_list_singleton in Hx].
      by destruct Hpre as [[-> _]|(z&->&_)]; apply elem_of_nil in Hx.
    Qed.

    Lemma alike_tick s' s i i' A I :
      alike s' s → i ∈ instances Σd → leads_all i i' → arrives Σ' s' i' A I →
      let G' := tick fns n Σ' i' (carried s' (addr i')) A in
      let G := tick fns n Σd i (carried s (addr i)) A in
      arrives Σd s i A I ∧ carried_on fns (self i') (rules i') G' = carried_on fns (self i) (rules i) G ∧
      routed Σ' (sends fns (self i') (rules i') G') ⊆ routed Σd (sends fns (self i) (rules i) G) ∧
      ∀ f, f ∈ carried_on fns (self i) (rules i) G → f.1 ≠ fwd.
    Proof.
      intros HR Hi (Haddr&Hself&Hstrata&Hnexts&Hasyncs) (HI1&HI2&HA) G' G.
      destruct H as [[Hr Hr'] _ Hfacts Hstatics (Hin&Hout&Htimers&_) Hways [Hnew Hig]].
      destruct (divided_instance i Hi) as (j&Hj&Hrules). destruct (Hig j Hj) as (Hs&Hn&Ha). rewrite <- Hrules in *.
      assert (∀ f, f ∈ A → f.1 ≠ fwd) as HAne.
      { intros f Hf. destruct (HA f Hf) as (_&Hst&_). rewrite Hstatics in Hst. set_solver. }
      rewrite Haddr in *. rewrite Hself in *.
      assert (G = without fwd G') as HG.
      { subst G G'. unfold tick, now. rewrite Hstrata, Hself, <- close_without by done. f_equal.
        rewrite ?Haddr, Hfacts, (al_carried _ _ HR). unfold without. apply set_eq. intros f. simpl.
        rewrite elem_of_filter, !elem_of_union. split.
        - intros Hf. split; [|tauto]. destruct Hf as [[Hf|Hf]|Hf]; [by apply Hnew|by eapply al_free|by apply HAne].
        - intros [Hne [[[?|Hf]|?]|?]]; [by left; left| |by left; right|by right]. by destruct (Hways f Hf). }
      split; [|split; [|split]].
      - split; [by rewrite <- (al_waiting _ _ HR)|]. split; [done|]. intros f Hf. destruct (HA f Hf) as (Hread&Hst&Hc).
        split; [|split].
        + unfold reads in *. apply elem_of_list_In, in_concat in Hread as (l&Hl%elem_of_list_In&Hfl%elem_of_list_In).
          apply elem_of_list_In, in_concat. apply elem_of_list_fmap in Hl as (r'&->&Hr0).
          rewrite Hstrata, Hnexts in Hr0. rewrite !elem_of_app in Hr0. destruct Hr0 as [Hr0|[Hr0|Hr0]].
          * exists (read_by r'). split; [|by apply elem_of_list_In]. apply elem_of_list_In, elem_of_list_fmap. exists r'. split; [done|]. rewrite !elem_of_app. by left.
          * exists (read_by r'). split; [|by apply elem_of_list_In]. apply elem_of_list_In, elem_of_list_fmap. exists r'. split; [done|]. rewrite !elem_of_app. by right; left.
          * apply elem_of_list_lookup in Hr0 as [k Hk]. destruct (Forall2_lookup_r _ _ _ _ _ Hasyncs Hk) as (r&Hrk&Hlead).
            exists (read_by r). split; [|apply elem_of_list_In; eapply leads_read; eauto].
            apply elem_of_list_In, elem_of_list_fmap. exists r. split; [done|]. rewrite !elem_of_app. right; right.
            apply elem_of_list_lookup. eauto.
        + simpl. rewrite Hstatics in Hst. intros Hin'. by apply Hst, elem_of_union_r.
        + simpl. rewrite Htimers in Hc. destruct Hc as [Hc|Hc]; [left; by apply (al_sent _ _ HR)|by right].
      - unfold carried_on. rewrite Hnexts, HG. by rewrite derives_without.
      - intros m (m'&Hm'&Hrm)%elem_of_routed. rewrite Hr' in Hrm. assert (m' = m) as -> by (by injection Hrm).
        unfold sends in Hm'. apply elem_of_union_list in Hm' as (X&(r'&->&Hr0)%elem_of_list_fmap&Hm).
        apply elem_of_list_lookup in Hr0 as [k Hk]. destruct (Forall2_lookup_r _ _ _ _ _ Hasyncs Hk) as (r&Hrk&Hlead).
        assert (r ∈ asyncs (rules i)) as Hrin by (apply elem_of_list_lookup; eauto).
        destruct (send_leads fns (self i) G' r r' m Hfinds Hways) as (m0&Hm0&Hre); [|by apply Ha|done|done|].
        { intros f Hf Hfw. subst G'. unfold tick, now in Hf. rewrite Hstrata in Hf.
          apply close_away with (away := fwd) in Hf; [|done|done]. rewrite Hfacts, (al_carried _ _ HR) in Hf.
          rewrite !elem_of_union in Hf. destruct Hf as [[[Hf|Hf]|Hf]|Hf]; [by destruct (Hnew f Hf)|done| |by destruct (HAne f Hf)].
          by destruct (al_free _ _ HR _ _ Hf). }
        apply elem_of_routed. exists m0. split; [|simpl; by rewrite Hr].
        unfold sends. apply elem_of_union_list. exists (send fns (self i) G r). split; [apply elem_of_list_fmap; eauto|].
        by rewrite HG.
      - intros f (r&Hr0&(e&v&_&_&->)%elem_of_derive)%elem_of_derives. by apply Hn.
    Qed.

    Lemma alike_step s' s e s1' :
      alike s' s → step fns n again Σ' s' e s1' → ∃ s1, step fns n again Σd s e s1 ∧ alike s1' s1.
    Proof.
      intros HR Hstep. pose proof H as [_ Hinst _ _ (Hin&Hout&_&Hdur&Hmort) _ _].
      destruct Hstep as [m Hm|m Hm Ho|i' A I Hi Har G|i' Hi Hmi|i' A I Hi Hmi Har G|m Hm Ha].
      - rewrite Hin in Hm. eexists. split; [by apply step_give|]. destruct HR as [H1 H2 H3 H4].
        split; simpl; [done..|]. by rewrite H4.
      - rewrite Hout in Ho. exists s. split; [apply step_hear; [by apply (al_sent _ _ HR)|done]|done].
      - apply elem_of_list_lookup in Hi as [k Hk]. destruct (Forall2_lookup_r _ _ _ _ _ Hinst Hk) as (i&Hik&Hl).
        assert (i ∈ instances Σd) as Hi by (apply elem_of_list_lookup; eauto).
        destruct (alike_tick s' s i i' A I HR Hi Hl Har) as (Har'&Hc&Hs&Hf).
        eexists. split; [by apply (step_tick fns n again Σd s i A I)|]. destruct Hl as (Haddr&_).
        destruct HR as [H1 H2 H3 H4]. subst G. split; simpl.
        + intros a. rewrite Haddr in *. destruct (decide (a = addr i)) as [->|Hne].
          * rewrite !fn_lookup_insert. exact Hc.
          * by rewrite !fn_lookup_insert_ne by done.
        + intros a f. destruct (decide (a = addr i)) as [->|Hne].
          * rewrite fn_lookup_insert. apply Hf.
          * rewrite fn_lookup_insert_ne by done. apply H2.
        + by apply union_mono.
        + by rewrite H4.
      - apply elem_of_list_lookup in Hi as [k Hk]. destruct (Forall2_lookup_r _ _ _ _ _ Hinst Hk) as (i&Hik&(Haddr&_)).
        assert (i ∈ instances Σd) as Hi by (apply elem_of_list_lookup; eauto). rewrite Haddr, Hmort in Hmi.
        eexists. split; [by apply (step_crash fns n again Σd s i)|]. destruct HR as [H1 H2 H3 H4].
        split; simpl; [| |done|done].
        + intros a. rewrite Haddr. unfold survives. rewrite Hdur, H1. destruct (decide (a = addr i)) as [->|Hne].
          * by rewrite !fn_lookup_insert.
          * by rewrite !fn_lookup_insert_ne by done.
        + intros a f. destruct (decide (a = addr i)) as [->|Hne].
          * rewrite fn_lookup_insert. unfold survives. intros [_ ?]%elem_of_filter. by eapply H2.
          * rewrite fn_lookup_insert_ne by done. apply H2.
      - apply elem_of_list_lookup in Hi as [k Hk]. destruct (Forall2_lookup_r _ _ _ _ _ Hinst Hk) as (i&Hik&Hl).
        assert (i ∈ instances Σd) as Hi by (apply elem_of_list_lookup; eauto).
        destruct (alike_tick s' s i i' A I HR Hi Hl Har) as (Har'&_&Hs&_). destruct Hl as (Haddr&_).
        rewrite Haddr, Hmort in Hmi.
        eexists. split; [by apply (step_crash_in_tick fns n again Σd s i A I)|].
        destruct HR as [H1 H2 H3 H4]. subst G. split; simpl; [| |by apply union_mono|by rewrite H4].
        + intros a. rewrite Haddr. unfold survives. rewrite Hdur, H1. destruct (decide (a = addr i)) as [->|Hne].
          * by rewrite !fn_lookup_insert.
          * by rewrite !fn_lookup_insert_ne by done.
        + intros a f. destruct (decide (a = addr i)) as [->|Hne].
          * rewrite fn_lookup_insert. unfold survives. intros [_ ?]%elem_of_filter. by eapply H2.
          * rewrite fn_lookup_insert_ne by done. apply H2.
      - rewrite (al_waiting _ _ HR) in Hm. eexists. split; [by apply step_again|]. destruct HR as [H1 H2 H3 H4].
        split; simpl; [done..|]. by rewrite H4.
    Qed.

    Lemma rules_refine l : behaves fns n again Σ' l → behaves fns n again Σd l.
    Proof.
      apply (simulation_of _ _ _ _ _ alike).
      - split; simpl; [done|set_solver|done|done].
      - apply alike_step.
    Qed.
  End sound.
End routing.

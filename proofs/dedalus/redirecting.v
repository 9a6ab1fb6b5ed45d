(** * Dedalus: rules that redirect, in place of the network

    In the system that a component is taken apart into, or put behind a relay, the network sends
    some relations to another instance.  Here rules do that: a rule that sent such a fact to a
    node sends it to where a static relation leads from that node. *)
From stdpp Require Import prelude strings gmap gmultiset functions.
From ashlar.dedalus Require Import lang system keyed piece still divide partition routing decouple.

(** ** A static relation that nobody reads *)
Section ways.
  Context (fwd : string) (ways : gset fact).

  Definition with_ways (Σ : system) : system :=
    System (instances Σ) (facts Σ ∪ ways) ({[fwd]} ∪ statics Σ) (inputs Σ) (outputs Σ) (timers Σ) (durables Σ)
      (mortals Σ) (route Σ).

  Record unused (Σ : system) : Prop := Unused {
    un_ways : ∀ f, f ∈ ways → f.1 = fwd;
    un_facts : ∀ f, f ∈ facts Σ → f.1 ≠ fwd;
    un_rules : ∀ i, i ∈ instances Σ →
      (∀ rs, rs ∈ strata (rules i) → ignores fwd rs) ∧ ignores fwd (nexts (rules i)) ∧
      ∀ r, r ∈ asyncs (rules i) → fwd ∉ read_by r;
  }.

  Section sound.
    Context (Σ : system) (H : unused Σ) (fns : string → row → option value) (n : nat) (again : gset string).

    Record same (s' s : state) : Prop := Same {
      sm_state : s' = s;
      sm_free : ∀ a f, f ∈ carried s a → f.1 ≠ fwd;
    }.

    Lemma same_tick s i A I :
      (∀ a f, f ∈ carried s a → f.1 ≠ fwd) → i ∈ instances Σ → arrives (with_ways Σ) s i A I →
      let G' := tick fns n (with_ways Σ) i (carried s (addr i)) A in
      let G := tick fns n Σ i (carried s (addr i)) A in
      arrives Σ s i A I ∧ carried_on fns (self i) (rules i) G' = carried_on fns (self i) (rules i) G ∧
      sends fns (self i) (rules i) G' = sends fns (self i) (rules i) G ∧
      ∀ f, f ∈ carried_on fns (self i) (rules i) G → f.1 ≠ fwd.
    Proof.
      intros Hfree Hi (HI1&HI2&HA) G' G. destruct H as [Hw Hf Hr]. destruct (Hr i Hi) as (Hs&Hn&Ha).
      assert (∀ f, f ∈ A → f.1 ≠ fwd ∧ f.1 ∉ statics Σ) as HAne.
      { intros f Hin. destruct (HA f Hin) as (_&Hst&_). simpl in Hst. set_solver. }
      assert (G = without fwd G') as HG.
      { subst G G'. unfold tick, now. rewrite <- close_without by done. f_equal. simpl. unfold without.
        apply set_eq. intros f. rewrite elem_of_filter, !elem_of_union. split.
        - intros Hin. split; [|tauto]. destruct Hin as [[?|?]|?]; [by apply Hf|by eapply Hfree|by apply HAne].
        - intros [Hne [[[?|Hin]|?]|?]]; [tauto| |tauto|tauto]. by apply Hw in Hin. }
      split; [|split; [|split]].
      - split; [done|]. split; [done|]. intros f Hin. destruct (HA f Hin) as (?&_&?). split; [done|].
        split; [by apply HAne|done].
      - unfold carried_on. rewrite HG. by rewrite derives_without.
      - assert (∀ r, r ∈ asyncs (rules i) → send fns (self i) G r = send fns (self i) G' r) as Hsend.
        { intros r Hin. unfold send. rewrite HG. by rewrite fires_without by (by apply Ha). }
        unfold sends. apply set_eq. intros m. rewrite !elem_of_union_list.
        split; intros (X&(r&->&Hin)%elem_of_list_fmap&Hm); (eexists; split; [apply elem_of_list_fmap; exists r; by split|]).
        + by rewrite Hsend.
        + by rewrite <- Hsend.
      - intros f (r&Hin&(e&v&_&_&->)%elem_of_derive)%elem_of_derives. by apply Hn.
    Qed.

    Lemma ways_refine l : behaves fns n again (with_ways Σ) l → behaves fns n again Σ l.
    Proof.
      apply (simulation_of _ _ _ _ _ same); [by split|]. intros s' s e s1' [-> Hfree] Hstep.
      assert (∀ i X Y Z, (∀ f, f ∈ X → f.1 ≠ fwd) →
        same (State (<[addr i := X]> (carried s)) Y Z) (State (<[addr i := X]> (carried s)) Y Z)) as Hone.
      { intros i X Y Z HX. split; [done|]. simpl. intros a f. destruct (decide (a = addr i)) as [->|Hne].
        - rewrite fn_lookup_insert. apply HX.
        - rewrite fn_lookup_insert_ne by done. apply Hfree. }
      assert (∀ i f, f ∈ survives Σ (carried s (addr i)) → f.1 ≠ fwd) as Hsurvive.
      { intros i f [_ ?]%elem_of_filter. by eapply Hfree. }
      destruct Hstep as [m Hm|m Hm Ho|i A I Hi Har G|i Hi Hmi|i A I Hi Hmi Har G|m Hm Ha]; simpl in *.
      - eexists. split; [by apply step_give|by split].
      - exists s. split; [by apply step_hear|by split].
      - destruct (same_tick s i A I Hfree Hi Har) as (Har'&Hc&Hs&Hf). subst G. eexists.
        split; [by apply (step_tick fns n again Σ s i A I)|]. rewrite Hc, Hs. by apply Hone.
      - eexists. split; [by apply (step_crash fns n again Σ s i)|]. apply Hone, Hsurvive.
      - destruct (same_tick s i A I Hfree Hi Har) as (Har'&_&Hs&_). subst G. eexists.
        split; [by apply (step_crash_in_tick fns n again Σ s i A I)|]. rewrite Hs. apply Hone, Hsurvive.
      - eexists. split; [by apply step_again|by split].
    Qed.
  End sound.
End ways.

(** ** Strata without rules *)
Definition compact (ss : list (list rule)) : list (list rule) := filter (λ rs, rs ≠ []) ss.

Lemma close_compact fns self n ss F : close fns self n (compact ss) F = close fns self n ss F.
Proof.
  unfold close, compact. revert F. induction ss as [|rs ss IH]; intros F; [done|]. rewrite filter_cons. simpl.
  case_decide as H; simpl; rewrite IH; [done|]. f_equal. subst rs.
  unfold complete. symmetry. clear. induction n as [|n IH]; [done|].
  change (once fns self [] (Nat.iter n (once fns self []) F) = F). rewrite IH. unfold once. simpl. by rewrite (right_id_L ∅ (∪)).
Qed.

Lemma concat_compact ss : concat (compact ss) = concat ss.
Proof.
  unfold compact. induction ss as [|rs ss IH]; [done|]. rewrite filter_cons. simpl. case_decide as H; simpl; rewrite IH; [done|].
  subst rs. done.
Qed.

(** ** Rules for the network *)
Section ruled.
  Context (fns : string → row → option value) (n : nat) (again : gset string) (fwd : string) (Σ Σ' : system).

  (** What the rule sends that reads [fwd] as well, the other one sends, and the network brings it there. *)
  Definition does (self : value) (r r' : rule) : Prop :=
    (∀ x, x ∈ read_by r' → x ∈ read_by r ∨ x = fwd) ∧
    ∀ G m, (∀ f, f ∈ G → f.1 = fwd → f ∈ facts Σ) → m ∈ send fns self G r' →
      ∃ m0, m0 ∈ send fns self G r ∧ route Σ m0 = Some m.

  Definition does_all (i i' : instance) : Prop :=
    addr i' = addr i ∧ self i' = self i ∧ compact (strata (rules i')) = compact (strata (rules i)) ∧ nexts (rules i') = nexts (rules i) ∧
    ∀ r', r' ∈ asyncs (rules i') → ∃ r, r ∈ asyncs (rules i) ∧ does (self i) r r'.

  Record ruled : Prop := Ruled {
    ru_route : ∀ m, route Σ' m = Some m;
    ru_instances : ∀ i', i' ∈ instances Σ' → ∃ i, i ∈ instances Σ ∧ does_all i i';
    ru_facts : facts Σ' = facts Σ ∧ statics Σ' = statics Σ;
    ru_same : inputs Σ' = inputs Σ ∧ outputs Σ' = outputs Σ ∧ timers Σ' = timers Σ ∧ durables Σ' = durables Σ;
    ru_mortals : mortals Σ' ⊆ mortals Σ;
    ru_static : fwd ∈ statics Σ;
    ru_heads : ∀ i, i ∈ instances Σ →
      (∀ rs r, rs ∈ strata (rules i) → r ∈ rs → head r ≠ fwd) ∧ ∀ r, r ∈ nexts (rules i) → head r ≠ fwd;
  }.

  Context (H : ruled).

  Record led (s' s : state) : Prop := Led {
    ld_carried : carried s' = carried s;
    ld_free : ∀ a f, f ∈ carried s a → f.1 ≠ fwd;
    ld_sent : sent s' ⊆ sent s;
    ld_waiting : waiting s' = waiting s;
  }.

  Lemma led_tick s' s i i' A I :
    led s' s → i ∈ instances Σ → does_all i i' → arrives Σ' s' i' A I →
    let G' := tick fns n Σ' i' (carried s' (addr i')) A in
    let G := tick fns n Σ i (carried s (addr i)) A in
    arrives Σ s i A I ∧ carried_on fns (self i') (rules i') G' = carried_on fns (self i) (rules i) G ∧
    routed Σ' (sends fns (self i') (rules i') G') ⊆ routed Σ (sends fns (self i) (rules i) G) ∧
    ∀ f, f ∈ carried_on fns (self i) (rules i) G → f.1 ≠ fwd.
  Proof.
    intros HR Hi (Haddr&Hself&Hstrata&Hnexts&Hasyncs) (HI1&HI2&HA) G' G.
    destruct H as [Hr' _ [Hfacts Hst] (_&_&Htimers&_) _ Hfwd Hheads]. destruct (Hheads i Hi) as [Hh1 Hh2].
    assert (∀ f, f ∈ A → f.1 ≠ fwd) as HAne.
    { intros f Hf. destruct (HA f Hf) as (_&Hns&_). intros Heq. apply Hns. by rewrite Hst, Heq. }
    assert (G' = G) as HG.
    { subst G G'. unfold tick, now. by rewrite <- close_compact, Hstrata, close_compact, Hself, Haddr, Hfacts, (ld_carried _ _ HR). }
    split; [|split; [|split]].
    - split; [by rewrite <- (ld_waiting _ _ HR)|]. split; [by rewrite <- Haddr|]. intros f Hf.
      destruct (HA f Hf) as (Hread&Hns&Hc). split; [|split; [by rewrite <- Hst|]].
      + assert (f.1 ≠ fwd) as Hne by (by apply HAne). unfold reads in *.
        apply elem_of_list_In, in_concat in Hread as (l&Hl%elem_of_list_In&Hfl%elem_of_list_In).
        apply elem_of_list_fmap in Hl as (r'&->&Hr0). rewrite <- concat_compact, Hstrata, concat_compact, Hnexts in Hr0.
        assert (∃ r, r ∈ concat (strata (rules i)) ++ nexts (rules i) ++ asyncs (rules i) ∧ f.1 ∈ read_by r) as (r&Hr&Hfr).
        { rewrite !elem_of_app in Hr0. destruct Hr0 as [Hr0|[Hr0|Hr0]].
          - exists r'. rewrite !elem_of_app. tauto.
          - exists r'. rewrite !elem_of_app. tauto.
          - destruct (Hasyncs r' Hr0) as (r&Hr&Hd&_). exists r. rewrite !elem_of_app. split; [tauto|]. by destruct (Hd _ Hfl). }
        apply elem_of_list_In, in_concat. exists (read_by r). split; apply elem_of_list_In; [|done]. apply elem_of_list_fmap. eauto.
      + rewrite Haddr, Htimers in Hc. destruct Hc as [Hc|Hc]; [left; by apply (ld_sent _ _ HR)|by right].
    - unfold carried_on. by rewrite Hnexts, Hself, HG.
    - intros m (m'&Hm'&Hrm)%elem_of_routed. rewrite Hr' in Hrm. injection Hrm as ->.
      unfold sends in Hm'. apply elem_of_union_list in Hm' as (X&(r'&->&Hr0)%elem_of_list_fmap&Hm).
      destruct (Hasyncs r' Hr0) as (r&Hr&_&Hd). rewrite Hself, HG in Hm.
      destruct (Hd G m) as (m0&Hm0&Hroute); [|done|].
      { intros f Hf Hff. subst G. unfold tick, now in Hf. apply close_underived in Hf.
        2:{ rewrite Hff. intros rs r0 Hrs Hr1. by apply (Hh1 rs). }
        rewrite !elem_of_union in Hf. destruct Hf as [[Hf|Hf]|Hf]; [done|by destruct (ld_free _ _ HR _ _ Hf)|by destruct (HAne f Hf)]. }
      apply elem_of_routed. exists m0. split; [|done]. unfold sends. apply elem_of_union_list.
      exists (send fns (self i) G r). split; [apply elem_of_list_fmap; eauto|done].
    - intros f (r&Hr0&(e&v&_&_&->)%elem_of_derive)%elem_of_derives. by apply Hh2.
  Qed.

  Lemma ruled_refines l : behaves fns n again Σ' l → behaves fns n again Σ l.
  Proof.
    apply (simulation_of _ _ _ _ _ led); [split; [done|simpl; set_solver|done|done]|]. intros s' s e s1' HR Hstep.
    pose proof H as [_ Hinst _ (Hin&Hout&_&Hdur) Hmort _ _].
    assert (∀ i X Y Y' Z, (∀ f, f ∈ X → f.1 ≠ fwd) → Y' ⊆ Y →
      led (State (<[addr i := X]> (carried s')) (sent s' ∪ Y') Z) (State (<[addr i := X]> (carried s)) (sent s ∪ Y) Z)) as Hone.
    { intros i X Y Y' Z HX HY. destruct HR as [H1 H2 H3 H4]. split; simpl; [by rewrite H1| |set_solver|done].
      intros a f. destruct (decide (a = addr i)) as [->|Hne].
      - rewrite fn_lookup_insert. apply HX.
      - rewrite fn_lookup_insert_ne by done. apply H2. }
    assert (∀ i f, f ∈ survives Σ (carried s (addr i)) → f.1 ≠ fwd) as Hsurvive.
    { intros i f [_ ?]%elem_of_filter. by eapply (ld_free _ _ HR). }
    destruct Hstep as [m Hm|m Hm Ho|i' A I Hi Har G|i' Hi Hmi|i' A I Hi Hmi Har G|m Hm Ha].
    - rewrite Hin in Hm. eexists. split; [by apply step_give|]. destruct HR as [H1 H2 H3 H4].
      split; simpl; [done..|]. by rewrite H4.
    - rewrite Hout in Ho. exists s. split; [apply step_hear; [by apply (ld_sent _ _ HR)|done]|done].
    - destruct (Hinst i' Hi) as (i&Hi'&Hd). pose proof Hd as (Haddr&_).
      destruct (led_tick s' s i i' A I HR Hi' Hd Har) as (Har'&Hc&Hs&Hf). subst G. eexists.
      split; [by apply (step_tick fns n again Σ s i A I)|]. rewrite Hc, Haddr, (ld_waiting _ _ HR) in *. by apply Hone.
    - destruct (Hinst i' Hi) as (i&Hi'&(Haddr&_)). rewrite Haddr in Hmi. eexists.
      split; [by apply (step_crash fns n again Σ s i), Hmort|].
      unfold survives. rewrite Hdur, Haddr, (ld_carried _ _ HR), (ld_waiting _ _ HR).
      rewrite <- (right_id_L ∅ (∪) (sent s')), <- (right_id_L ∅ (∪) (sent s)), <- (ld_carried _ _ HR) at 1.
      rewrite <- (ld_carried _ _ HR) at 1. rewrite (ld_carried _ _ HR) at 2. apply Hone; [apply Hsurvive|done].
    - destruct (Hinst i' Hi) as (i&Hi'&Hd). pose proof Hd as (Haddr&_).
      destruct (led_tick s' s i i' A I HR Hi' Hd Har) as (Har'&_&Hs&_). subst G. rewrite Haddr in Hmi. eexists.
      split; [by apply (step_crash_in_tick fns n again Σ s i A I); [done|by apply Hmort|]|].
      assert (survives Σ' (carried s' (addr i')) = survives Σ (carried s (addr i))) as ->.
      { unfold survives. by rewrite Hdur, Haddr, (ld_carried _ _ HR). }
      rewrite Haddr, (ld_waiting _ _ HR) in *. apply Hone; [apply Hsurvive|done].
    - rewrite (ld_waiting _ _ HR) in Hm. eexists. split; [by apply step_again|]. destruct HR as [H1 H2 H3 H4].
      split; simpl; [done..|]. by rewrite H4.
  Qed.
End ruled.

(** ** Redirecting by one static relation *)

(** A term that means the same when more is bound. *)
Fixpoint fixed (b : list literal) (t : term) : bool :=
  match t with
  | Var x => bool_decide (x ∈ binds b)
  | Call _ l => forallb (fixed b) l
  | _ => true
  end.

Lemma fixed_eval fns self F b e e' : e ∈ solutions fns self F b ∅ → e ⊆ e' →
  ∀ t, fixed b t = true → eval fns self e' t = eval fns self e t.
Proof.
  intros Hs He. fix IH 1. intros [x| |v| |f l]; simpl; try done.
  - intros Hx%bool_decide_eq_true. destruct (solutions_binds _ _ _ _ _ _ _ Hs Hx) as [v Hv]. rewrite Hv. by eapply lookup_weaken.
  - intros Hl. assert (mapM (eval fns self e') l = mapM (eval fns self e) l) as ->; [|done].
    induction l as [|t l IHl]; [done|]. simpl in *. apply andb_true_iff in Hl as [H1 H2].
    rewrite (IH t H1). destruct (eval fns self e t); simpl; [|done]. by rewrite (IHl H2).
Qed.

Section redirecting.
  Context (place : value → value) (d : decoupling) (fwd : string).

  Inductive redirects (r r' : rule) : Prop :=
    | redirects_same : head r ∉ moves d → r' = r → redirects r r'
    | redirects_on pre u out :
        head r ∈ moves d → Forall (λ a, ∃ t, a = Plain t ∧ fixed (body r) t = true) (args r) →
        known (body r) (dest r) → named (dest r) pre u →
        r' = Rule (head r) (args r) (Var out) (body r ++ pre ++ [Has (Atom fwd [u; Var out])]) →
        redirects r r'.

  (** The static relation leads from a node that is taken apart to its new instance, and from others to
      themselves. *)
  Definition leads_to (F : gset fact) : Prop :=
    ∀ a b, (fwd, [a; b]) ∈ F → if decide (a ∈ apart_at d) then b = place a else b = a ∧ a ∉ new_places place d.

  Lemma redirects_does fns Σ self r r' :
    (∀ m, route Σ m = redirect place d m) → leads_to (facts Σ) → redirects r r' → does fns fwd Σ self r r'.
  Proof.
    intros Hroute Hways [Hh ->|pre u out Hh Hargs Hdest Hnamed ->].
    { split; [by left|]. intros G m _ Hm. exists m. split; [done|]. rewrite Hroute.
      apply elem_of_send in Hm as (e&to&v&_&_&_&->). unfold redirect. simpl. by rewrite decide_False. }
    split.
    { intros x. unfold read_by. simpl. rewrite !omap_app. intros [?|[Hx|Hx]%elem_of_app]%elem_of_app; [by left| |].
      - by destruct Hnamed as [[-> _]|(y&->&_)]; apply elem_of_nil in Hx.
      - right. by apply elem_of_list_singleton in Hx. }
    intros G m HG Hm. apply elem_of_send in Hm as (e&to&v&He&Hto&Hv&->). simpl in *.
    assert (Forall (λ a, ∃ t, a = Plain t) (args r)) as Hplain.
    { apply list.Forall_forall. intros a Ha. rewrite list.Forall_forall in Hargs. destruct (Hargs a Ha) as (t&->&_). eauto. }
    apply elem_of_fires in He as [_ Hs]. simpl in Hs. apply solutions_app in Hs as (e1&Hs1&Hs).
    assert (e1 ⊆ e) as He by (by eapply solutions_mono).
    rewrite mapM_plain in Hv by done. simpl in Hv.
    assert (mapM (eval fns self e1) (arg_term <$> args r) = Some v) as Hv1.
    { rewrite <- Hv. apply mapM_ext_elem. intros t (a&->&Ha)%elem_of_list_fmap.
      rewrite list.Forall_forall in Hargs. destruct (Hargs a Ha) as (t&->&Ht). simpl.
      symmetry. by eapply fixed_eval. }
    destruct (known_eval fns self G (body r) e1 e (dest r) Hs1 Hdest He) as [Hd1 [a Hd]].
    exists (a, (head r, v)). split.
    { apply elem_of_send. exists e1, a, v. split; [|split; [done|split; [by rewrite mapM_plain|done]]].
      apply elem_of_fires. split; [unfold heads_of; rewrite Hv1; eauto|done]. }
    apply solutions_app in Hs as (e2&Hpre&Hs).
    destruct (named_eval _ _ _ _ _ _ _ _ _ Hnamed Hpre Hd) as [_ Hu].
    apply elem_of_solutions_cons in Hs as (e3&H3&Hs). simpl in Hs. apply elem_of_list_singleton in Hs as ->.
    apply elem_of_extend_has in H3 as (f&Hf&Hmatch). pose proof Hmatch as (Hrel&He23&Hm)%matching_spec. simpl in *.
    assert (length f.2 = 2) as Hlen.
    { unfold matching in Hmatch. case_decide; [|done]. by apply unify_length in Hmatch. }
    destruct f as [fr [|b [|c []]]]; try done. simpl in *. subst fr.
    assert (simple u = true) as Hsimple.
    { destruct Hnamed as [[_ ->]|(y&_&->)]; [by destruct (dest r)|done]. }
    destruct (Hm 0 u eq_refl Hsimple) as (?&[= <-]&Hb). destruct (Hm 1 (Var out) eq_refl eq_refl) as (?&[= <-]&Hc).
    assert (b = a) as ->.
    { rewrite (eval_mono fns self e2 e3 u a Hsimple He23 Hu) in Hb. by injection Hb. }
    assert (c = to) as -> by (simpl in Hc; congruence).
    specialize (Hways a to (HG _ Hf eq_refl)). rewrite Hroute. unfold redirect. simpl. rewrite decide_True by done.
    case_decide; [by subst|]. destruct Hways as [-> Hno]. by rewrite decide_False.
  Qed.
End redirecting.

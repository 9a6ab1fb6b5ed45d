(** * Dedalus: rules that send, at another instance, which is told what they read

    Some rules of an instance that send become an instance of their own.  Each of them makes what it
    sends of one fact and static ones: it has no state, does not join, negate or aggregate
    (functional decoupling).  The old instance passes on to the new one, under another
    name, each fact that they read.  What the new instance sends, however late and in whatever
    company those facts come, the old one sent already.  Both may crash. *)
From stdpp Require Import prelude strings gmap gmultiset functions.
From ashlar.dedalus Require Import lang system keyed piece still divide partition routing certify decouple.

(** A relation that is passed on: its name, the new one, and the variables of the rule that does it. *)
Record pass := Pass { from : string; to : string; columns : list string; out : string }.

Record handover := Handover {
  movers : list rule;              (* the rules that move *)
  passed : list pass;
  forward : string;                (* the static relation that leads to the new instances *)
  handed_at : gset value;          (* the instances that hand over *)
}.

(** What a tick begins with holds in it. *)
Lemma now_keeps fns self n c F f : f ∈ F → f ∈ now fns self n c F.
Proof.
  unfold now, close. generalize (strata c). intros l. revert F. induction l as [|rs ss IH]; intros F Hf; [done|]. simpl.
  apply IH. unfold complete. clear IH. induction n as [|m IHm]; [done|].
  change (f ∈ once fns self rs (Nat.iter m (once fns self rs) F)). unfold once at 1. set_solver.
Qed.

Section passing.
  Context (place : value → value) (h : handover).

  Definition pass_rule (p : pass) : rule :=
    Rule (to p) ((λ x, Plain (Var x)) <$> columns p) (Var (out p))
      [Has (Atom (from p) (Var <$> columns p)); Has (Atom (forward h) [Self; Var (out p)])].

  (** The new name of a relation. *)
  Definition rename (x : string) : string :=
    match filter (λ p, from p = x) (passed h) with p :: _ => to p | [] => x end.
  Definition rename_literal (l : literal) : literal :=
    match l with Has a => Has (Atom (rename (rel a)) (terms a)) | _ => l end.
  Definition renamed (r : rule) : rule := Rule (head r) (args r) (dest r) (rename_literal <$> body r).

  Definition kept (c : component) : component :=
    Component (strata c) (nexts c) (filter (λ r, r ∉ movers h) (asyncs c) ++ (pass_rule <$> passed h)).
  Definition gone (c : component) : component :=
    Component [] [] (renamed <$> filter (λ r, r ∈ movers h) (asyncs c)).

  Definition in_two (i : instance) : list instance :=
    if decide (addr i ∈ handed_at h)
    then [Instance (addr i) (self i) (kept (rules i)); Instance (place (addr i)) (self i) (gone (rules i))]
    else [i].

  (** A body without negation that reads one relation that is passed on, and else static ones. *)
  Definition static_literal (S : gset string) (l : literal) : Prop :=
    match l with Has a => rel a ∈ S | Lacks _ => False | _ => True end.
  Fixpoint reads_one (S : gset string) (b : list literal) : Prop :=
    match b with
    | [] => False
    | Has a :: b => rel a ∈ S ∧ reads_one S b ∨
        rel a ∉ S ∧ (∃ p, p ∈ passed h ∧ from p = rel a) ∧ Forall (static_literal S) b
    | Lacks _ :: _ => False
    | _ :: b => reads_one S b
    end.
  Definition functional (S : gset string) (r : rule) : Prop :=
    reads_one S (body r) ∧ Forall (λ a, ∃ t, a = Plain t) (args r).

  Definition fresh_name (Σ : system) (y : string) : Prop :=
    y ≠ forward h ∧ y ∉ statics Σ ∧ y ∉ inputs Σ ∧ y ∉ timers Σ ∧ y ∉ outputs Σ ∧
    Forall (λ i, Forall (λ r, head r ≠ y) (asyncs (rules i))) (instances Σ).

  (** [Σ'] is [Σ] of which some instances have handed over. *)
  Record hands_over (Σ Σ' : system) : Prop := HandsOver {
    ho_route : (∀ m, route Σ m = Some m) ∧ ∀ m, route Σ' m = Some m;
    ho_instances : ∀ i, i ∈ instances Σ' → i ∈ instances Σ ≫= in_two;
    ho_ways : ∀ f, f ∈ facts Σ' → f ∈ facts Σ ∨ f.1 = forward h ∧
      ∀ a b i, f.2 = [a; b] → i ∈ instances Σ → addr i ∈ handed_at h → self i = a → b = place (addr i);
    ho_facts : facts Σ ⊆ facts Σ';
    ho_statics : statics Σ' = {[forward h]} ∪ statics Σ;
    ho_same : inputs Σ' = inputs Σ ∧ outputs Σ' = outputs Σ ∧ timers Σ' = timers Σ ∧ durables Σ' = durables Σ;
    ho_mortals : ∀ i, i ∈ instances Σ → addr i ∈ mortals Σ' → addr i ∈ mortals Σ;
    ho_nodup : NoDup (addr <$> instances Σ);
    ho_places : ∀ a, a ∈ handed_at h →
      (∀ i, i ∈ instances Σ → addr i ≠ place a) ∧ ∀ b, b ∈ handed_at h → place a = place b → a = b;
    ho_static : ∀ f, f ∈ facts Σ → f.1 ∈ statics Σ;
    ho_new : forward h ∉ statics Σ ∧ ∀ i, i ∈ instances Σ →
      (∀ rs, rs ∈ strata (rules i) → ignores (forward h) rs) ∧ ignores (forward h) (nexts (rules i)) ∧
      ∀ r, r ∈ asyncs (rules i) → forward h ∉ read_by r;
    ho_names : ∀ p, p ∈ passed h → fresh_name Σ (to p) ∧ from p ≠ forward h ∧ from p ∉ statics Σ ∧
      (∀ q, q ∈ passed h → to q = to p → from q = from p) ∧ (∀ q, q ∈ passed h → from q = from p → to q = to p) ∧
      ∀ i, i ∈ instances Σ → addr i ∈ handed_at h → from p ∈ reads (rules i);
    ho_movers : ∀ r, r ∈ movers h → functional (statics Σ) r;
  }.

  (** ** What the moved rules do *)
  Lemma rename_passed x : (∃ p, p ∈ passed h ∧ from p = x) → ∃ p, p ∈ passed h ∧ from p = x ∧ rename x = to p.
  Proof.
    intros (p&Hp&Hx). unfold rename. assert (p ∈ filter (λ p, from p = x) (passed h)) as Hin by (by apply elem_of_list_filter).
    destruct (filter (λ p, from p = x) (passed h)) as [|q l] eqn:Heq; [by apply elem_of_nil in Hin|].
    assert (q ∈ filter (λ p, from p = x) (passed h)) as [? ?]%elem_of_list_filter by (rewrite Heq; by left). eauto.
  Qed.

  Lemma rename_not x : (∀ p, p ∈ passed h → from p ≠ x) → rename x = x.
  Proof.
    intros Hx. unfold rename. destruct (filter (λ p, from p = x) (passed h)) as [|q l] eqn:Heq; [done|].
    assert (q ∈ filter (λ p, from p = x) (passed h)) as [? ?]%elem_of_list_filter by (rewrite Heq; by left). by destruct (Hx q).
  Qed.

  Section sources.
    Context (fns : string → row → option value) (self : value) (S : gset string).
    Context (HS : ∀ p, p ∈ passed h → from p ∉ S).
    Local Notation solutions := (solutions fns self).

    Lemma rename_static x : x ∈ S → rename x = x.
    Proof. intros Hx. apply rename_not. intros p Hp <-. by apply (HS p). Qed.

    Lemma solutions_static F G b e e' :
      Forall (static_literal S) b → (∀ f, f ∈ F → f.1 ∈ S → f ∈ G) →
      e' ∈ solutions F (rename_literal <$> b) e → e' ∈ solutions G b e.
    Proof.
      intros Hb HFG. revert e. induction Hb as [|l b Hl _ IH]; intros e; [done|].
      rewrite fmap_cons, !elem_of_solutions_cons. intros (e1&H1&H2%IH). exists e1. split; [|done].
      destruct l as [a|a|o t u|x t]; simpl in Hl; try done. simpl rename_literal in H1. rewrite rename_static in H1 by done.
      apply elem_of_extend_has in H1 as (f&Hf&Hm). apply elem_of_extend_has. exists f.
      pose proof Hm as (Hr&_)%matching_spec. simpl in Hr. split; [apply HFG; [done|by rewrite Hr]|]. by destruct a.
    Qed.

    Lemma solutions_source F G b e e' :
      reads_one S b → (∀ f, f ∈ F → f.1 ∈ S → f ∈ G) → e' ∈ solutions F (rename_literal <$> b) e →
      ∃ p v, p ∈ passed h ∧ (to p, v) ∈ F ∧ e' ∈ solutions (G ∪ {[(from p, v)]}) b e.
    Proof.
      intros Hb HFG. revert e. induction b as [|l b IH]; intros e; [done|].
      rewrite fmap_cons, elem_of_solutions_cons. intros (e1&H1&H2).
      destruct l as [a|a|o t u|x t]; simpl in Hb; try done.
      - destruct Hb as [[Ha Hb]|(Ha&Hp&Hb)].
        + destruct (IH Hb _ H2) as (p&v&Hp&Hv&Hs). exists p, v. split; [done|]. split; [done|].
          apply elem_of_solutions_cons. exists e1. split; [|done]. simpl rename_literal in H1.
          rewrite rename_static in H1 by done. apply elem_of_extend_has in H1 as (f&Hf&Hm).
          apply elem_of_extend_has. exists f. pose proof Hm as (Hr&_)%matching_spec. simpl in Hr.
          split; [apply elem_of_union_l, HFG; [done|by rewrite Hr]|by destruct a].
        + apply rename_passed in Hp as (p&Hp&Hfrom&Hto). simpl rename_literal in H1. rewrite Hto in H1.
          apply elem_of_extend_has in H1 as (f&Hf&Hm). pose proof Hm as (Hr&_)%matching_spec. simpl in Hr.
          exists p, f.2. split; [done|]. split; [destruct f; simpl in *; by subst|].
          apply elem_of_solutions_cons. exists e1. split.
          * apply elem_of_extend_has. exists (from p, f.2). split; [by apply elem_of_union_r, elem_of_singleton|].
            unfold matching in *. simpl in *. rewrite decide_True by done. by rewrite decide_True in Hm.
          * eapply (solutions_static F); [done| |done]. intros g Hg HgS. apply elem_of_union_l. by apply HFG.
      - destruct (IH Hb _ H2) as (p&v&Hp&Hv&Hs). exists p, v. split; [done|]. split; [done|].
        apply elem_of_solutions_cons. exists e1. split; [exact H1|done].
      - destruct (IH Hb _ H2) as (p&v&Hp&Hv&Hs). exists p, v. split; [done|]. split; [done|].
        apply elem_of_solutions_cons. exists e1. split; [exact H1|done].
    Qed.

    Definition positive (l : literal) : Prop := match l with Lacks _ => False | _ => True end.

    Lemma reads_one_positive b : reads_one S b → Forall positive b.
    Proof.
      induction b as [|l b IH]; [done|]. destruct l as [a|a|o t u|x t]; simpl; try done.
      - intros [[_ Hb]|(_&_&Hb)]; constructor; [done|by apply IH|done|]. eapply list.Forall_impl; [exact Hb|]. by intros [].
      - constructor; [done|by apply IH].
      - constructor; [done|by apply IH].
    Qed.

    Lemma solutions_grow F G b e e' : Forall positive b → F ⊆ G → e' ∈ solutions F b e → e' ∈ solutions G b e.
    Proof.
      intros Hb HFG. revert e. induction Hb as [|l b Hl _ IH]; intros e; [done|].
      rewrite !elem_of_solutions_cons. intros (e1&H1&H2%IH). exists e1. split; [|done].
      destruct l as [a|a|o t u|x t]; simpl in Hl; try done.
      apply elem_of_extend_has in H1 as (f&Hf&Hm). apply elem_of_extend_has. exists f. split; [by apply HFG|done].
    Qed.

    Lemma elem_of_send_plain F r m :
      Forall (λ a, ∃ t, a = Plain t) (args r) →
      m ∈ send fns self F r ↔ ∃ e d v, e ∈ solutions F (body r) ∅ ∧ eval fns self e (dest r) = Some d ∧
        mapM (eval fns self e) (arg_term <$> args r) = Some v ∧ m = (d, (head r, v)).
    Proof.
      intros Hp. rewrite elem_of_send. split.
      - intros (e&d&v&[_ He]%elem_of_fires&Hd&Hv&->). rewrite mapM_plain in Hv by done. eauto 10.
      - intros (e&d&v&He&Hd&Hv&->). exists e, d, v. rewrite mapM_plain by done. split; [|done].
        apply elem_of_fires. split; [unfold heads_of; rewrite Hv; eauto|done].
    Qed.

    Lemma send_grow F G r : functional S r → F ⊆ G → send fns self F r ⊆ send fns self G r.
    Proof.
      intros [Hb Hp] HFG m. rewrite !elem_of_send_plain by done. intros (e&d&v&He&Hd&Hv&->).
      exists e, d, v. split; [|done]. eapply solutions_grow; [by eapply reads_one_positive|done|done].
    Qed.

    Lemma send_source F G r m :
      functional S r → (∀ f, f ∈ F → f.1 ∈ S → f ∈ G) → m ∈ send fns self F (renamed r) →
      ∃ p v, p ∈ passed h ∧ (to p, v) ∈ F ∧ m ∈ send fns self (G ∪ {[(from p, v)]}) r.
    Proof.
      intros [Hb Hp] HFG. rewrite elem_of_send_plain by done. simpl. intros (e&d&v&He&Hd&Hv&->).
      destruct (solutions_source _ _ _ _ _ Hb HFG He) as (p&w&?&?&?). exists p, w. split; [done|]. split; [done|].
      apply elem_of_send_plain; [done|]. eauto 10.
    Qed.

    Lemma reads_renamed b x : reads_one S b → x ∈ relations (rename_literal <$> b) → x ∈ S ∨ ∃ p, p ∈ passed h ∧ x = to p.
    Proof.
      assert (∀ b, Forall (static_literal S) b → x ∈ relations (rename_literal <$> b) → x ∈ S) as Hstatic.
      { clear b. intros b. induction 1 as [|l b Hl _ IH]; [by intros ?%elem_of_nil|].
        destruct l as [a|a|o t u|y t]; simpl in Hl; try done. simpl. rewrite rename_static by done.
        intros [->|?]%elem_of_cons; [done|by apply IH]. }
      induction b as [|l b IH]; [done|]. destruct l as [a|a|o t u|y t]; simpl; try done.
      intros [[Ha Hb]|(Ha&Hp&Hb)] [->|Hx]%elem_of_cons.
      - left. by rewrite rename_static.
      - by apply IH.
      - right. apply rename_passed in Hp as (p&?&_&->). eauto.
      - left. by eapply Hstatic.
    Qed.
  End sources.

  (** ** The simulation *)
  Section sound.
    Context (Σ Σ' : system) (H : hands_over Σ Σ') (fns : string → row → option value) (n : nat) (again : gset string).
    Local Notation fwd := (forward h).

    Definition covered (s : state) (i : instance) (f : fact) : Prop :=
      ∀ r m, r ∈ movers h → r ∈ asyncs (rules i) → m ∈ send fns (self i) (facts Σ ∪ {[f]}) r → m ∈ sent s.

    (** [s'] is a state in which some relations have been passed on, of whose facts everything was sent. *)
    Record handed (s' s : state) : Prop := Handed {
      hd_waiting : waiting s' = waiting s;
      hd_inputs : ∀ m, m ∈ waiting s → m.2.1 ∈ inputs Σ;
      hd_carried : ∀ i, i ∈ instances Σ → carried s' (addr i) = carried s (addr i);
      hd_free : ∀ i f, i ∈ instances Σ → f ∈ carried s (addr i) → f.1 ≠ fwd;
      hd_new : ∀ i, i ∈ instances Σ → addr i ∈ handed_at h → carried s' (place (addr i)) = ∅;
      hd_heads : ∀ m, m ∈ sent s → ∃ i r, i ∈ instances Σ ∧ r ∈ asyncs (rules i) ∧ head r = m.2.1;
      hd_sent : ∀ m, m ∈ sent s' → m ∈ sent s ∨ ∃ i p v, i ∈ instances Σ ∧ addr i ∈ handed_at h ∧ p ∈ passed h ∧
        m = (place (addr i), (to p, v)) ∧ covered s i (from p, v);
    }.

    Lemma routed_as_written X M : (∀ m, route X m = Some m) → routed X M = M.
    Proof. intros Hr. apply set_eq. intros m. rewrite elem_of_routed. split; [intros (x&Hx&Hm); rewrite Hr in Hm; by simplify_eq|eauto]. Qed.

    (** An instance that stayed, whether it hands over or not. *)
    Definition stayed (i j : instance) : Prop :=
      addr j = addr i ∧ self j = self i ∧ strata (rules j) = strata (rules i) ∧ nexts (rules j) = nexts (rules i) ∧
      (asyncs (rules j) = asyncs (rules i) ∨ addr i ∈ handed_at h ∧ asyncs (rules j) = asyncs (kept (rules i))).

    Lemma instance_of j : j ∈ instances Σ' → ∃ i, i ∈ instances Σ ∧
      (stayed i j ∨ addr i ∈ handed_at h ∧ j = Instance (place (addr i)) (self i) (gone (rules i))).
    Proof.
      intros Hj%(ho_instances _ _ H). apply elem_of_list_bind in Hj as (i&Hj&Hi). exists i. split; [done|].
      unfold in_two in Hj. case_decide as Ha.
      - apply elem_of_cons in Hj as [->|Hj]; [left|right].
        + repeat (split; [done|]). right. by split.
        + apply elem_of_list_singleton in Hj as ->. done.
      - apply elem_of_list_singleton in Hj as ->. left. repeat (split; [done|]). by left.
    Qed.

    Lemma reads_stayed i j x : i ∈ instances Σ → stayed i j → x ∈ reads (rules j) → x ≠ fwd → x ∈ reads (rules i).
    Proof.
      intros Hi (_&_&Hs&Hn&Ha) Hx Hne. unfold reads in Hx. rewrite Hs, Hn in Hx.
      destruct Ha as [Ha|[Hh Ha]]; rewrite Ha in Hx; [done|].
      unfold reads. apply elem_of_list_In, in_concat in Hx as (l&Hl%elem_of_list_In&Hx%elem_of_list_In).
      apply elem_of_list_fmap in Hl as (r&->&Hr). simpl in Hr. rewrite !elem_of_app in Hr.
      assert (r ∈ concat (strata (rules i)) ++ nexts (rules i) ++ asyncs (rules i) →
        x ∈ concat (read_by <$> concat (strata (rules i)) ++ nexts (rules i) ++ asyncs (rules i))) as Hall.
      { intros Hin. apply elem_of_list_In, in_concat. exists (read_by r). split; apply elem_of_list_In; [|done].
        apply elem_of_list_fmap. eauto. }
      rewrite !elem_of_app in Hall. destruct Hr as [Hr|[Hr|[[_ Hr]%elem_of_list_filter|Hr]]]; [by apply Hall; left|by apply Hall; right; left|by apply Hall; right; right|].
      apply elem_of_list_fmap in Hr as (p&->&Hp). destruct (ho_names _ _ H p Hp) as (_&_&_&_&_&Hread).
      unfold read_by in Hx. simpl in Hx. apply elem_of_cons in Hx as [->|Hx]; [by apply Hread|].
      apply elem_of_list_singleton in Hx. done.
    Qed.

    (** What a rule sends that passes on. *)
    Lemma send_pass self p G m :
      from p ≠ fwd → m ∈ send fns self G (pass_rule p) →
      ∃ v b, m = (b, (to p, v)) ∧ (from p, v) ∈ G ∧ (fwd, [self; b]) ∈ G.
    Proof.
      intros Hne Hm. apply elem_of_send_plain in Hm as (e&d&v&He&Hd&Hv&->).
      2:{ cbn [pass_rule args]. apply list.Forall_forall. intros a (x&->&_)%elem_of_list_fmap. eauto. }
      cbn [pass_rule body args dest head] in *. apply elem_of_solutions_cons in He as (e1&H1&He). apply elem_of_solutions_cons in He as (e2&H2&He).
      simpl in He. apply elem_of_list_singleton in He as ->.
      apply elem_of_extend_has in H1 as (f&Hf&Hm1). apply elem_of_extend_has in H2 as (g&Hg&Hm2).
      pose proof Hm2 as (Hg1&He12&Hlook)%matching_spec. simpl in *.
      exists v, d. split; [done|]. split.
      - unfold matching in Hm1. case_decide as Hr; [|done]. simpl in Hr.
        rewrite <- list_fmap_compose in Hv.
        assert (mapM (eval fns self e2) (Var <$> columns p) = Some v) as Hv'.
        { by rewrite <- Hv. }
        rewrite (unify_row _ _ _ _ _ _ _ Hm1 He12) in Hv'. destruct f; simpl in *. by simplify_eq.
      - assert (length g.2 = 2) as Hlen.
        { unfold matching in Hm2. case_decide; [|done]. by apply unify_length in Hm2. }
        destruct g as [gr [|a [|b []]]]; try done. simpl in *. subst gr.
        destruct (Hlook 0 Self eq_refl eq_refl) as (?&[= <-]&Ha). simpl in Ha.
        destruct (Hlook 1 (Var (out p)) eq_refl eq_refl) as (?&[= <-]&Hb). simpl in Hb. congruence.
    Qed.

    Lemma tick_stayed s' s i j A I :
      handed s' s → i ∈ instances Σ → stayed i j → arrives Σ' s' j A I →
      let G' := tick fns n Σ' j (carried s' (addr j)) A in
      let G := tick fns n Σ i (carried s (addr i)) A in
      arrives Σ s i A I ∧ facts Σ ⊆ G ∧ carried_on fns (self j) (rules j) G' = carried_on fns (self i) (rules i) G ∧
      (∀ f, f ∈ carried_on fns (self i) (rules i) G → f.1 ≠ fwd) ∧
      ∀ m, m ∈ sends fns (self j) (rules j) G' → m ∈ sends fns (self i) (rules i) G ∨
        ∃ p v, addr i ∈ handed_at h ∧ p ∈ passed h ∧ m = (place (addr i), (to p, v)) ∧ (from p, v) ∈ G.
    Proof.
      intros HR Hi Hstay (HI1&HI2&HA) G' G. pose proof Hstay as (Haddr&Hself&Hstrata&Hnexts&Hasyncs).
      destruct H as [[Hrt Hrt'] _ Hways Hfacts Hst (Hin&_&Htm&_) _ Hnd Hpl Hstat [Hfs Hig] Hnames _].
      destruct (Hig i Hi) as (Hs&Hn&Ha).
      assert (∀ f, f ∈ A → f.1 ≠ fwd) as HAne.
      { intros f Hf Heq. destruct (HA f Hf) as (_&Hns&_). apply Hns. rewrite Hst, Heq. by apply elem_of_union_l, elem_of_singleton. }
      assert (G = without fwd G') as HG.
      { subst G G'. unfold tick, now. rewrite Hstrata, Hself, <- close_without by done. f_equal.
        rewrite Haddr, (hd_carried _ _ HR i Hi). unfold without. apply set_eq. intros f.
        rewrite elem_of_filter, !elem_of_union. split.
        - intros [[Hf|Hf]|Hf].
          + split; [|left; left; by apply Hfacts]. intros Heq. apply Hfs. rewrite <- Heq. by apply Hstat.
          + split; [by eapply hd_free|tauto].
          + split; [by apply HAne|tauto].
        - intros [Hne [[Hf|?]|?]]; [|tauto|tauto]. destruct (Hways f Hf) as [?|[? _]]; [tauto|done]. }
      assert (∀ f, f ∈ G' → f.1 = fwd → f ∈ facts Σ') as Haway.
      { intros f Hf Hff. subst G'. unfold tick, now in Hf. rewrite Hstrata in Hf.
        apply close_away with (away := fwd) in Hf; [|done|done]. rewrite !elem_of_union in Hf.
        destruct Hf as [[Hf|Hf]|Hf]; [done| |by destruct (HAne f Hf)].
        rewrite Haddr, (hd_carried _ _ HR i Hi) in Hf. by destruct (hd_free _ _ HR i f Hi Hf). }
      split; [|split; [|split; [|split]]].
      - split; [by rewrite <- (hd_waiting _ _ HR)|]. split; [by rewrite <- Haddr|]. intros f Hf.
        destruct (HA f Hf) as (Hr&Hns&Hc). split; [eapply reads_stayed; eauto|]. split; [intros Hin'; apply Hns; rewrite Hst; by apply elem_of_union_r|].
        rewrite Haddr, Htm in Hc. destruct Hc as [Hc|Hc]; [|by right]. left.
        destruct (hd_sent _ _ HR _ Hc) as [?|(k&p&v&Hk&Hka&_&[= Heq _]&_)]; [done|].
        destruct (Hpl _ Hka) as [Hno _]. by destruct (Hno i Hi).
      - subst G. unfold tick. intros f Hf. by apply now_keeps, elem_of_union_l, elem_of_union_l.
      - unfold carried_on. rewrite Hnexts, Hself, HG. by rewrite derives_without.
      - intros f (r&Hr&(e&v&_&_&->)%elem_of_derive)%elem_of_derives. by apply Hn.
      - intros m Hm. unfold sends in Hm. apply elem_of_union_list in Hm as (X&(r&->&Hr)%elem_of_list_fmap&Hm).
        assert (r ∈ asyncs (rules i) → m ∈ sends fns (self i) (rules i) G) as Hold.
        { intros Hin'. unfold sends. apply elem_of_union_list. exists (send fns (self i) G r).
          split; [apply elem_of_list_fmap; eauto|]. rewrite HG. unfold send. rewrite fires_without by (by apply Ha).
          by rewrite <- Hself. }
        destruct Hasyncs as [Heq|[Hh Heq]]; rewrite Heq in Hr; [left; by apply Hold|].
        simpl in Hr. apply elem_of_app in Hr as [[_ Hr]%elem_of_list_filter|Hr]; [left; by apply Hold|right].
        apply elem_of_list_fmap in Hr as (p&->&Hp). destruct (Hnames p Hp) as (_&Hne&_).
        apply send_pass in Hm as (v&b&->&Hv&Hb); [|done]. exists p, v. split; [done|]. split; [done|].
        assert (b = place (addr i)) as ->.
        { apply Haway in Hb; [|done]. destruct (Hways _ Hb) as [Hf|[_ Hw]]; [by apply Hstat in Hf|].
          rewrite Hself in Hw. by eapply Hw. }
        split; [done|]. rewrite HG. apply elem_of_filter. done.
    Qed.

    (** After a step of an instance that stayed. *)
    Lemma handed_stayed s' s i j A I K :
      handed s' s → i ∈ instances Σ → stayed i j → arrives Σ' s' j A I → (∀ f, f ∈ K → f.1 ≠ fwd) →
      let G' := tick fns n Σ' j (carried s' (addr j)) A in
      let G := tick fns n Σ i (carried s (addr i)) A in
      handed (State (<[addr j := K]> (carried s')) (sent s' ∪ routed Σ' (sends fns (self j) (rules j) G')) (waiting s' ∖ I))
             (State (<[addr i := K]> (carried s)) (sent s ∪ routed Σ (sends fns (self i) (rules i) G)) (waiting s ∖ I)).
    Proof.
      intros HR Hi Hstay Har HK G' G. destruct (tick_stayed _ _ _ _ _ _ HR Hi Hstay Har) as (_&Hfacts&_&_&Hsends).
      fold G G' in Hfacts, Hsends. pose proof Hstay as (Haddr&_).
      destruct (ho_route _ _ H) as [Hr Hr']. rewrite (routed_as_written Σ), (routed_as_written Σ') by done.
      assert (∀ a, a ∈ handed_at h → place a ≠ addr i) as Hpl.
      { intros a Ha Heq. destruct (ho_places _ _ H a Ha) as [Hno _]. by apply (Hno i Hi). }
      assert (∀ (t : state) k f, covered t k f → ∀ u, sent t ⊆ sent u → covered u k f) as Hmore.
      { intros t k f Hc u Hu r m Hr1 Hr2 Hm. apply Hu. by eapply Hc. }
      split; simpl.
      - by rewrite (hd_waiting _ _ HR).
      - intros m Hm. apply (hd_inputs _ _ HR). multiset_solver.
      - intros k Hk. rewrite Haddr. destruct (decide (addr k = addr i)) as [->|Hne].
        + by rewrite !fn_lookup_insert.
        + rewrite !fn_lookup_insert_ne by done. by apply (hd_carried _ _ HR).
      - intros k f Hk. destruct (decide (addr k = addr i)) as [->|Hne].
        + rewrite fn_lookup_insert. apply HK.
        + rewrite fn_lookup_insert_ne by done. by apply (hd_free _ _ HR).
      - intros k Hk Hka. rewrite Haddr, fn_lookup_insert_ne by (by apply not_eq_sym, Hpl). by apply (hd_new _ _ HR).
      - intros m [Hm|Hm]%elem_of_union; [by apply (hd_heads _ _ HR)|].
        unfold sends in Hm. apply elem_of_union_list in Hm as (X&(r&->&Hr0)%elem_of_list_fmap&Hm).
        apply elem_of_send in Hm as (e&d&v&_&_&_&->). exists i, r. done.
      - intros m [Hm|Hm]%elem_of_union.
        + destruct (hd_sent _ _ HR _ Hm) as [?|(k&p&v&?&?&?&?&Hc)]; [left; by apply elem_of_union_l|right].
          exists k, p, v. do 4 (split; [done|]). eapply Hmore; [exact Hc|]. simpl. apply union_subseteq_l.
        + destruct (Hsends m Hm) as [?|(p&v&Ha&Hp&->&Hv)]; [left; by apply elem_of_union_r|right].
          exists i, p, v. do 4 (split; [done|]). intros r m Hmov Hr0 Hm0. simpl. apply elem_of_union_r.
          unfold sends. apply elem_of_union_list. exists (send fns (self i) G r).
          split; [apply elem_of_list_fmap; eauto|]. eapply send_grow; [by apply (ho_movers _ _ H)| |exact Hm0].
          apply union_subseteq. split; [done|]. by apply singleton_subseteq_l.
    Qed.

    Lemma names_not_static p : p ∈ passed h → from p ∉ statics Σ.
    Proof. intros Hp. by destruct (ho_names _ _ H p Hp) as (_&_&?&_). Qed.

    (** What a new instance sends was sent already. *)
    Lemma handed_gone s' s i A I :
      handed s' s → i ∈ instances Σ → addr i ∈ handed_at h →
      let j := Instance (place (addr i)) (self i) (gone (rules i)) in
      arrives Σ' s' j A I →
      let G' := tick fns n Σ' j (carried s' (addr j)) A in
      I = ∅ ∧ sends fns (self j) (rules j) G' ⊆ sent s ∧ carried_on fns (self j) (rules j) G' = ∅.
    Proof.
      intros HR Hi Ha j (HI1&HI2&HA) G'. destruct (ho_same _ _ H) as (Hin&_&Htm&_).
      assert (∀ f, f ∈ A → f.1 ∉ statics Σ ∧ ∃ p, p ∈ passed h ∧ f.1 = to p) as HAto.
      { intros f Hf. destruct (HA f Hf) as (Hread&Hns&_).
        assert (f.1 ∉ statics Σ) as Hns'.
        { intros Hs. apply Hns. rewrite (ho_statics _ _ H). by apply elem_of_union_r. }
        split; [done|]. unfold reads in Hread. simpl in Hread.
        apply elem_of_list_In, in_concat in Hread as (l&Hl%elem_of_list_In&Hfl%elem_of_list_In).
        apply elem_of_list_fmap in Hl as (r'&->&Hr'). apply elem_of_list_fmap in Hr' as (r&->&[Hr _]%elem_of_list_filter).
        destruct (ho_movers _ _ H r Hr) as [Hone _].
        destruct (reads_renamed (statics Σ) names_not_static (body r) f.1 Hone Hfl) as [?|?]; [done|done]. }
      assert (∀ m, m ∈ I → False) as HI.
      { intros m Hm. destruct (HI2 m Hm) as [_ HmA]. destruct (HAto _ HmA) as (_&p&Hp&Heq).
        destruct (ho_names _ _ H p Hp) as ((_&_&Hno&_)&_). apply Hno. rewrite <- Heq. apply (hd_inputs _ _ HR).
        rewrite <- (hd_waiting _ _ HR). multiset_solver. }
      split; [|split; [|done]].
      { destruct (gmultiset_choose_or_empty I) as [[m Hm]|?]; [|done]. by destruct (HI m Hm). }
      assert (∀ f, f ∈ G' → f ∈ facts Σ' ∨ f ∈ A) as HG.
      { intros f Hf. subst G'. unfold tick in Hf. simpl in Hf. rewrite (hd_new _ _ HR i Hi Ha) in Hf.
        unfold now, close in Hf. simpl in Hf. rewrite !elem_of_union in Hf. destruct Hf as [[?|Hf]|?]; [tauto| |tauto].
        by apply elem_of_empty in Hf. }
      assert (∀ f, f ∈ facts Σ' → f.1 ≠ fwd → f ∈ facts Σ) as Hold.
      { intros f Hf Hne. by destruct (ho_ways _ _ H f Hf) as [?|[? _]]. }
      destruct (ho_new _ _ H) as [Hfs _].
      intros m Hm. unfold sends in Hm. apply elem_of_union_list in Hm as (X&(r'&->&Hr')%elem_of_list_fmap&Hm).
      simpl in Hr'. apply elem_of_list_fmap in Hr' as (r&->&[Hmov Hr]%elem_of_list_filter).
      destruct (send_source fns (self i) (statics Σ) names_not_static G' (facts Σ) r m) as (p&v&Hp&Hv&Hm'); [by apply (ho_movers _ _ H)| |exact Hm|].
      { intros f Hf Hs. destruct (HG f Hf) as [Hf'|Hf']; [|by destruct (HAto f Hf')].
        apply Hold; [done|]. intros Heq. apply Hfs. by rewrite <- Heq. }
      destruct (ho_names _ _ H p Hp) as ((Hnf&Hnst&Hni&Hnt&_&Hnh)&_&_&Hinj&_).
      destruct (HG _ Hv) as [Hf|Hf].
      { apply Hold in Hf; [|done]. by apply (ho_static _ _ H) in Hf. }
      destruct (HA _ Hf) as (_&_&[Hs|[Hs|[Hs _]]]); [|by destruct (HI _ Hs)|by rewrite Htm in Hs].
      destruct (hd_sent _ _ HR _ Hs) as [Hs'|(k&q&w&Hk&Hka&Hq&[= Heq Hto ->]&Hc)].
      - exfalso. destruct (hd_heads _ _ HR _ Hs') as (k&r0&Hk&Hr0&Hh). rewrite list.Forall_forall in Hnh.
        specialize (Hnh k Hk). rewrite list.Forall_forall in Hnh. by apply (Hnh r0 Hr0).
      - destruct (ho_places _ _ H _ Ha) as [_ Hinjp]. apply Hinjp in Heq; [|done].
        assert (k = i) as ->.
        { pose proof (ho_nodup _ _ H) as Hnd. apply elem_of_list_lookup in Hi as [x Hx], Hk as [y Hy].
          assert (x = y) as ->; [|congruence]. eapply NoDup_lookup; [exact Hnd| |];
            rewrite list_lookup_fmap; [rewrite Hx|rewrite Hy]; simpl; by f_equal. }
        eapply Hc; [done|done|]. by rewrite (Hinj q Hq (eq_sym Hto)).
    Qed.

    Lemma handed_step s' s e s1' :
      handed s' s → step fns n again Σ' s' e s1' → e = None ∧ handed s1' s ∨ ∃ s1, step fns n again Σ s e s1 ∧ handed s1' s1.
    Proof.
      intros HR Hstep. destruct (ho_same _ _ H) as (Hin&Hout&_&Hdur). pose proof (ho_mortals _ _ H) as Hmort. destruct (ho_route _ _ H) as [_ Hr'].
      assert (∀ i X Y W, i ∈ instances Σ → addr i ∈ handed_at h → X = ∅ → Y ⊆ sent s → W = waiting s →
        handed (State (<[place (addr i) := X]> (carried s')) (sent s' ∪ routed Σ' Y) W) s) as Hpause.
      { intros i X Y W Hi Ha -> HY ->. rewrite (routed_as_written Σ') by done. destruct HR as [H1 H2 H3 H4 H5 H6 H7].
        split; simpl; try done.
        - intros k Hk. destruct (ho_places _ _ H _ Ha) as [Hno _].
          rewrite fn_lookup_insert_ne by (by apply not_eq_sym, Hno). by apply H3.
        - intros k Hk Hka. destruct (decide (place (addr k) = place (addr i))) as [->|Hne]; [by rewrite fn_lookup_insert|].
          rewrite fn_lookup_insert_ne by done. by apply H5.
        - intros m [Hm|Hm]%elem_of_union; [by apply H7|left; by apply HY]. }
      destruct Hstep as [m Hm|m Hm Ho|j A I Hj Har G|j Hj Hmo|j A I Hj Hmo Har G|m Hm Hag].
      - right. rewrite Hin in Hm. eexists. split; [by apply step_give|]. destruct HR as [H1 H2 H3 H4 H5 H6 H7].
        split; simpl; try done; [by rewrite H1|].
        intros m' [?| ->%gmultiset_elem_of_singleton]%gmultiset_elem_of_disj_union; [by apply H2|done].
      - right. rewrite Hout in Ho. exists s. split; [|done]. apply step_hear; [|done].
        destruct (hd_sent _ _ HR _ Hm) as [?|(k&p&v&_&_&Hp&->&_)]; [done|].
        destruct (ho_names _ _ H p Hp) as ((_&_&_&_&Hno&_)&_). done.
      - destruct (instance_of j Hj) as (i&Hi&[Hstay|[Ha ->]]).
        + right. destruct (tick_stayed _ _ _ _ _ _ HR Hi Hstay Har) as (Har'&_&Hc&Hf&_).
          eexists. split; [by apply (step_tick fns n again Σ s i A I)|]. subst G. rewrite Hc. by apply handed_stayed.
        + left. split; [done|]. destruct (handed_gone _ _ _ _ _ HR Hi Ha Har) as (->&Hs&Hc).
          apply Hpause; [done|done|exact Hc|exact Hs|]. rewrite (hd_waiting _ _ HR). multiset_solver.
      - destruct (instance_of j Hj) as (i&Hi&[Hstay|[Ha ->]]).
        + right. pose proof Hstay as (Haddr&_). rewrite Haddr in Hmo. apply Hmort in Hmo; [|done].
          eexists. split; [by apply (step_crash fns n again Σ s i)|]. rewrite Haddr, (hd_carried _ _ HR i Hi).
          unfold survives. rewrite Hdur. destruct HR as [H1 H2 H3 H4 H5 H6 H7]. split; simpl; try done.
          * intros k Hk. destruct (decide (addr k = addr i)) as [->|Hne]; [by rewrite !fn_lookup_insert|].
            rewrite !fn_lookup_insert_ne by done. by apply H3.
          * intros k f Hk. destruct (decide (addr k = addr i)) as [->|Hne].
            -- rewrite fn_lookup_insert. intros [_ Hf]%elem_of_filter. by apply (H4 i f Hi).
            -- rewrite fn_lookup_insert_ne by done. by apply H4.
          * intros k Hk Hka. destruct (ho_places _ _ H _ Hka) as [Hno _]. rewrite fn_lookup_insert_ne; [by apply H5|]. by apply Hno.
        + left. split; [done|]. rewrite <- (routed_nothing Σ' s'). apply Hpause; [done|done| |apply empty_subseteq|apply (hd_waiting _ _ HR)].
          simpl. rewrite (hd_new _ _ HR i Hi Ha). apply set_eq. intros f. unfold survives. rewrite elem_of_filter. set_solver.
      - destruct (instance_of j Hj) as (i&Hi&[Hstay|[Ha ->]]).
        + right. destruct (tick_stayed _ _ _ _ _ _ HR Hi Hstay Har) as (Har'&_). pose proof Hstay as (Haddr&_).
          pose proof Hmo as Hmo'. rewrite Haddr in Hmo'. apply Hmort in Hmo'; [|done].
          eexists. split; [by apply (step_crash_in_tick fns n again Σ s i A I)|]. subst G.
          assert (survives Σ' (carried s' (addr j)) = survives Σ (carried s (addr i))) as ->.
          { unfold survives. by rewrite Hdur, Haddr, (hd_carried _ _ HR i Hi). }
          apply handed_stayed; [done..|]. intros f [_ Hf]%elem_of_filter. by apply (hd_free _ _ HR i f Hi).
        + left. split; [done|]. destruct (handed_gone _ _ _ _ _ HR Hi Ha Har) as (->&Hs&_).
          apply Hpause; [done|done| |exact Hs|rewrite (hd_waiting _ _ HR); multiset_solver].
          simpl. rewrite (hd_new _ _ HR i Hi Ha). apply set_eq. intros f. unfold survives. rewrite elem_of_filter. set_solver.
      - right. rewrite (hd_waiting _ _ HR) in Hm. eexists. split; [by apply step_again|]. destruct HR as [H1 H2 H3 H4 H5 H6 H7].
        split; simpl; try done; [by rewrite H1|].
        intros m' [?| ->%gmultiset_elem_of_singleton]%gmultiset_elem_of_disj_union; by apply H2.
    Qed.

    (** What clients see of the two, they might have seen of the one. *)
    Lemma passing_refines l : behaves fns n again Σ' l → behaves fns n again Σ l.
    Proof.
      apply (simulation_with_steps _ _ _ _ _ _ handed).
      - split; simpl; [done|multiset_solver|done|set_solver|done|set_solver|set_solver].
      - intros s' s e s1' HR Hs. destruct (handed_step _ _ _ _ HR Hs) as [[-> HR1]|(s1&Hs1&HR1)].
        + exists s. split; [constructor|done].
        + exists s1. split; [by apply seen_step|done].
    Qed.
  End sound.
End passing.

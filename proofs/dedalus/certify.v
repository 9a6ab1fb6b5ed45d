(** * Dedalus: whether a program is another one, divided

    The checker of a certificate for two programs as they are written: of the first it decides
    whether the plan may be carried out ([check.v]), and of the second whether it is what comes of
    that ([routing.v]).  It is extracted (proofs/extract/certify.v) and called by
    `ashlar dedalus certify`. *)
From stdpp Require Import prelude strings gmap gmultiset.
From ashlar.dedalus Require Import lang builtin system keyed piece still divide partition check routing.

(** ** Equality of rules *)
Fixpoint term_eqb (t u : term) : bool :=
  match t, u with
  | Var x, Var y => bool_decide (x = y)
  | Wild, Wild | Self, Self => true
  | Const v, Const w => bool_decide (v = w)
  | Call f l, Call g k =>
      bool_decide (f = g) &&
      (fix go l k := match l, k with [], [] => true | t :: l, u :: k => term_eqb t u && go l k | _, _ => false end) l k
  | _, _ => false
  end.

Lemma term_eqb_eq : ∀ t u, term_eqb t u = true → t = u.
Proof.
  fix IH 1. intros [x| |v| |f l] [y| |w| |g k]; simpl; try done; try (by intros ->%bool_decide_eq_true).
  intros [->%bool_decide_eq_true H]%andb_true_iff. f_equal. revert k H.
  induction l as [|t l IHl]; intros [|u k] H; try done. apply andb_true_iff in H as [H1 H2].
  f_equal; [by apply IH|by apply IHl].
Qed.

Lemma term_eqb_refl : ∀ t, term_eqb t t = true.
Proof.
  fix IH 1. intros [x| |v| |f l]; simpl; try done; try by apply bool_decide_eq_true_2.
  apply andb_true_iff. split; [by apply bool_decide_eq_true_2|].
  induction l as [|t l IHl]; [done|]. apply andb_true_iff. split; [apply IH|done].
Qed.

Global Instance term_eq_dec : EqDecision term.
Proof.
  refine (λ t u, match term_eqb t u as b return term_eqb t u = b → Decision (t = u) with
    | true => λ H, left (term_eqb_eq t u H) | false => λ H, right _ end eq_refl).
  intros ->. by rewrite term_eqb_refl in H.
Defined.
Global Instance atom_eq_dec : EqDecision atom.
Proof. solve_decision. Defined.
Global Instance operator_eq_dec : EqDecision operator.
Proof. solve_decision. Defined.
Global Instance literal_eq_dec : EqDecision literal.
Proof. solve_decision. Defined.
Global Instance aggregate_eq_dec : EqDecision aggregate.
Proof. solve_decision. Defined.
Global Instance arg_eq_dec : EqDecision arg.
Proof. solve_decision. Defined.
Global Instance rule_eq_dec : EqDecision rule.
Proof. solve_decision. Defined.

(** ** Programs as they are written, and certificates *)
Record program := Program {
  p_instances : list instance;
  p_facts : list fact;
  p_statics : list string;
  p_inputs : list string;
  p_outputs : list string;
  p_timers : list string;
  p_durables : list string;
  p_mortals : list value;
}.

(** What the program means: the network routes nothing. *)
Definition meaning (P : program) : system :=
  System (p_instances P) (list_to_set (p_facts P)) (list_to_set (p_statics P)) (list_to_set (p_inputs P))
    (list_to_set (p_outputs P)) (list_to_set (p_timers P)) (list_to_set (p_durables P)) (list_to_set (p_mortals P)) Some.

Record division := Division {
  d_pieces : nat;
  d_keys : list (string * nat);
  d_pulses : list string;
  d_nodes : list value;
  d_places : list (value * nat * value);  (* where the pieces of each node are *)
  d_forward : string;                     (* the static relation that leads there *)
}.

Definition plan_of (d : division) : plan :=
  Plan (d_pieces d) (list_to_map (d_keys d)) (list_to_set (d_pulses d)) (list_to_set (d_nodes d)).
(** In a list and not in a map, which would be made anew for each look. *)
Fixpoint place_in (l : list (value * nat * value)) (a : value) (q : nat) : value :=
  match l with
  | [] => a
  | (b, k, w) :: l => if decide (a = b ∧ q = k) then w else place_in l a q
  end.
Definition place_of (d : division) : value → nat → value := place_in (d_places d).

(** ** Whether rules route *)
Section routes.
  Context (place : value → nat → value) (p : plan) (fwd : string).

  Definition known_b (b : list literal) (t : term) : bool :=
    match t with Var x => bool_decide (x ∈ binds b) | Const _ | Self => true | _ => false end.

  Lemma known_sound b t : known_b b t = true → known b t.
  Proof. by destruct t; simpl; try done; intros ?%bool_decide_eq_true. Qed.

  Definition routed_rule (r : rule) (pre : list literal) (u : term) (x out : string) : rule :=
    Rule (head r) (args r) (Var out) (body r ++ pre ++
      [Let x (Call "%" [Call "hash" [u]; Const (U64 (N.of_nat (pieces p)))]); Has (Atom fwd [dest r; Var x; Var out])]).

  Definition leads_b (r r' : rule) : bool :=
    match keys p !! head r with
    | None => bool_decide (r' = r)
    | Some col =>
        match args r !! col with
        | Some (Plain k) =>
            forallb (λ a, match a with Plain t => known_b (body r) t | Agg _ _ => false end) (args r) &&
            known_b (body r) (dest r) &&
            match drop (length (body r)) (body r') with
            | [Let x _; Has (Atom _ [_; _; Var out])] => bool_decide (r' = routed_rule r [] k x out)
            | [Let y _; Let x _; Has (Atom _ [_; _; Var out])] => bool_decide (r' = routed_rule r [Let y k] (Var y) x out)
            | _ => false
            end
        | _ => false
        end
    end.

  Lemma leads_sound r r' : leads_b r r' = true → leads p fwd r r'.
  Proof.
    unfold leads_b. destruct (keys p !! head r) as [col|] eqn:Hk.
    2:{ intros ->%bool_decide_eq_true. by apply leads_same. }
    destruct (args r !! col) as [[k|]|] eqn:Ha; try done.
    intros [[Hargs Hdest%known_sound]%andb_true_iff H]%andb_true_iff.
    assert (Forall (λ a, ∃ t, a = Plain t ∧ known (body r) t) (args r)) as Hargs'.
    { revert Hargs. apply forallb_Forall'. intros [t|] Ht; [|done]. eauto using known_sound. }
    assert (∀ pre u x out, named k pre u → r' = routed_rule r pre u x out → leads p fwd r r') as Hon.
    { intros pre u x out Hn ->. by eapply leads_on. }
    repeat case_match; try done; apply bool_decide_eq_true in H; (eapply Hon; [|exact H]); unfold named; eauto.
  Qed.

  Fixpoint forall2_b {A B} (f : A → B → bool) (l : list A) (k : list B) : bool :=
    match l, k with [], [] => true | x :: l, y :: k => f x y && forall2_b f l k | _, _ => false end.

  Lemma forall2_sound {A B} (f : A → B → bool) (P : A → B → Prop) l k :
    (∀ x y, f x y = true → P x y) → forall2_b f l k = true → Forall2 P l k.
  Proof.
    intros HP. revert k. induction l as [|x l IH]; intros [|y k] H; simpl in H; try discriminate H; [constructor|].
    apply andb_true_iff in H as [H1 H2]. constructor; auto.
  Qed.

  Definition leads_all_b (i i' : instance) : bool :=
    bool_decide (addr i' = addr i ∧ self i' = self i ∧ strata (rules i') = strata (rules i) ∧
      nexts (rules i') = nexts (rules i)) && forall2_b leads_b (asyncs (rules i)) (asyncs (rules i')).

  Lemma leads_all_sound i i' : leads_all_b i i' = true → leads_all p fwd i i'.
  Proof.
    intros [(Ha&Hself&Hs&Hn)%bool_decide_eq_true Hasyncs]%andb_true_iff. do 4 (split; [done|]).
    revert Hasyncs. apply forall2_sound, leads_sound.
  Qed.

  Definition right_way_b (f : fact) : bool :=
    match f.2 with
    | [d; U64 n; to] =>
        if decide (d ∈ nodes p) then bool_decide (to = place d (N.to_nat n))
        else bool_decide (to = d ∧ d ∉ places place p)
    | _ => true
    end.

  Definition ignores_b (rs : list rule) : bool := forallb (λ r, bool_decide (fwd ∉ read_by r ∧ head r ≠ fwd)) rs.

  Lemma ignores_sound rs : ignores_b rs = true → ignores fwd rs.
  Proof. intros H r Hr%elem_of_list_In. unfold ignores_b in H. rewrite forallb_forall in H. by apply H, bool_decide_eq_true in Hr. Qed.

  (** The facts of the second program that lead somewhere. *)
  Definition ways_of (Σ' : system) : gset fact := filter (λ f, f.1 = fwd) (facts Σ').

  Definition by_rules_b (Σ Σ' : system) : bool :=
    let Σd := divide (λ _, 0) place p Σ in
    forall2_b leads_all_b (instances Σd) (instances Σ') &&
    bool_decide (facts Σ' = facts Σ ∪ ways_of Σ') &&
    bool_decide (statics Σ' = {[fwd]} ∪ statics Σ) &&
    bool_decide (inputs Σ' = inputs Σ ∧ outputs Σ' = outputs Σ ∧ timers Σ' = timers Σ ∧ durables Σ' = durables Σ) &&
    bool_decide (mortals Σ' = mortals Σd) &&
    forallb right_way_b (elements (ways_of Σ')) &&
    bool_decide (set_Forall (λ f, f.1 ≠ fwd) (facts Σ)) &&
    forallb (λ i, forallb ignores_b (strata (rules i)) && ignores_b (nexts (rules i)) &&
      forallb (λ r, bool_decide (fwd ∉ read_by r)) (asyncs (rules i))) (instances Σ).

  Lemma by_rules_sound number Σ Σ' :
    (∀ m, route Σ m = Some m) → (∀ m, route Σ' m = Some m) →
    by_rules_b Σ Σ' = true → by_rules number place p fwd (ways_of Σ') Σ Σ'.
  Proof.
    intros Hr Hr'. unfold by_rules_b. rewrite !andb_true_iff, !bool_decide_eq_true, !forallb_forall.
    intros (((((((Hi&Hf)&Hs)&(?&?&?&?))&Hm)&Hw)&Hn)&Hg). split; try done.
    - revert Hi. apply forall2_sound, leads_all_sound.
    - intros f Hin. pose proof Hin as Hfwd. unfold ways_of in Hfwd. apply elem_of_filter in Hfwd as [Hfwd _]. split; [done|]. intros d q to Heq.
      assert (f ∈ elements (ways_of Σ')) as Hel%elem_of_list_In by (by apply elem_of_elements).
      specialize (Hw f Hel). unfold right_way_b in Hw. rewrite Heq, Nat2N.id in Hw.
      case_decide; by apply bool_decide_eq_true in Hw.
    - split; [by apply Hn|]. intros i Hin%elem_of_list_In. specialize (Hg i Hin).
      rewrite !andb_true_iff, !forallb_forall in Hg. destruct Hg as [[Hstrata Hnexts] Hasyncs]. split; [|split].
      + intros rs Hrs%elem_of_list_In. by apply ignores_sound, Hstrata.
      + by apply ignores_sound.
      + intros r Hrin%elem_of_list_In. by apply Hasyncs, bool_decide_eq_true in Hrin.
  Qed.
End routes.

(** ** The checker *)
Definition may_divide_program (d : division) (P : program) : bool :=
  may_divide_b (place_of d) (plan_of d) (meaning P).
Definition divided_b (d : division) (P Q : program) : bool :=
  may_divide_program d P &&
  by_rules_b (place_of d) (plan_of d) (d_forward d) (meaning P) (meaning Q).

(** Functions of which two are those of the language; of the others nothing is known. *)
Definition language (fns : string → row → option value) : Prop :=
  ∀ v w, fns "hash" [v] = builtin "hash" [v] ∧ fns "%" [v; w] = builtin "%" [v; w].

Lemma language_finds fns p : language fns → 0 < pieces p → finds (λ v, N.to_nat (hash v)) p fns.
Proof.
  intros H Hp v h w Hh Hw. destruct (H v v) as [Hv _]. rewrite Hv in Hh. simpl in Hh. simplify_eq.
  destruct (H (U64 (hash v)) (U64 (N.of_nat (pieces p)))) as [_ Hm]. rewrite Hm in Hw. simpl in Hw.
  case_decide as H0; [lia|]. simplify_eq. f_equal. unfold bucket. simpl. rewrite <- (N2Nat.id (hash v)) at 1.
  by rewrite Nat2N.inj_mod.
Qed.

(** What clients see of the second program, they might have seen of the first. *)
Theorem divided_sound d P Q fns rounds again l :
  divided_b d P Q = true → language fns → behaves fns rounds again (meaning Q) l → behaves fns rounds again (meaning P) l.
Proof.
  intros [Hplan%may_divide_sound Hrules]%andb_true_iff Hfns Hl.
  pose proof Hplan as [Hp _]. eapply divide_refines, rules_refine; [exact Hplan| |by apply language_finds|exact Hl].
  by apply by_rules_sound.
Qed.

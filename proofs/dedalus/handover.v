(** * Dedalus: whether a program is another one, of which rules that send have moved *)
From stdpp Require Import prelude strings gmap gmultiset.
From ashlar.dedalus Require Import lang system still check certify decouple passing.

Global Instance component_eq_dec : EqDecision component.
Proof. solve_decision. Defined.
Global Instance instance_eq_dec : EqDecision instance.
Proof. solve_decision. Defined.

Section handover.
  Context (place : value → value) (h : handover).

  Definition static_literal_b (S : gset string) (l : literal) : bool :=
    match l with Has a => bool_decide (rel a ∈ S) | Lacks _ => false | _ => true end.

  Fixpoint reads_one_b (S : gset string) (b : list literal) : bool :=
    match b with
    | [] => false
    | Has a :: b =>
        if decide (rel a ∈ S) then reads_one_b S b
        else existsb (λ p, bool_decide (from p = rel a)) (passed h) && forallb (static_literal_b S) b
    | Lacks _ :: _ => false
    | _ :: b => reads_one_b S b
    end.

  Definition functional_b (S : gset string) (r : rule) : bool :=
    reads_one_b S (body r) && forallb (λ a, match a with Plain _ => true | _ => false end) (args r).

  Definition fresh_b (Σ : system) (y : string) : bool :=
    bool_decide (y ≠ forward h ∧ y ∉ statics Σ ∧ y ∉ inputs Σ ∧ y ∉ timers Σ ∧ y ∉ outputs Σ) &&
    forallb (λ i, forallb (λ r, bool_decide (head r ≠ y)) (asyncs (rules i))) (instances Σ).

  Definition name_b (Σ : system) (p : pass) : bool :=
    fresh_b Σ (to p) && bool_decide (from p ≠ forward h ∧ from p ∉ statics Σ) &&
    forallb (λ q, eqb (bool_decide (to q = to p)) (bool_decide (from q = from p))) (passed h) &&
    forallb (λ i, implb (bool_decide (addr i ∈ handed_at h)) (bool_decide (from p ∈ reads (rules i)))) (instances Σ).

  Definition way_b (Σ : system) (f : fact) : bool :=
    bool_decide (f ∈ facts Σ) || bool_decide (f.1 = forward h) &&
    match f.2 with
    | [a; b] => forallb (λ i, implb (bool_decide (addr i ∈ handed_at h ∧ self i = a)) (bool_decide (b = place (addr i)))) (instances Σ)
    | _ => true
    end.

  Definition hands_over_b (Σ Σ' : system) : bool :=
    forallb (λ i, bool_decide (i ∈ instances Σ ≫= in_two place h)) (instances Σ') &&
    forallb (way_b Σ) (elements (facts Σ')) &&
    bool_decide (facts Σ ⊆ facts Σ') &&
    bool_decide (statics Σ' = {[forward h]} ∪ statics Σ) &&
    bool_decide (inputs Σ' = inputs Σ ∧ outputs Σ' = outputs Σ ∧ timers Σ' = timers Σ ∧ durables Σ' = durables Σ) &&
    forallb (λ i, implb (bool_decide (addr i ∈ mortals Σ')) (bool_decide (addr i ∈ mortals Σ))) (instances Σ) &&
    bool_decide (NoDup (addr <$> instances Σ)) &&
    bool_decide (set_Forall (λ a, Forall (λ i, addr i ≠ place a) (instances Σ) ∧
      set_Forall (λ b, place a = place b → a = b) (handed_at h)) (handed_at h)) &&
    bool_decide (set_Forall (λ f, f.1 ∈ statics Σ) (facts Σ)) &&
    bool_decide (forward h ∉ statics Σ) &&
    forallb (λ i, forallb (ignores_b (forward h)) (strata (rules i)) && ignores_b (forward h) (nexts (rules i)) &&
      forallb (λ r, bool_decide (forward h ∉ read_by r)) (asyncs (rules i))) (instances Σ) &&
    forallb (name_b Σ) (passed h) &&
    forallb (functional_b (statics Σ)) (movers h).

  Lemma reads_one_sound S b : reads_one_b S b = true → reads_one h S b.
  Proof.
    induction b as [|[a|a|o t u|x t] b IH]; simpl; try done. case_decide as Ha; [auto|].
    intros [(p&Hp%elem_of_list_In&Hf%bool_decide_eq_true)%existsb_exists Hb]%andb_true_iff. right.
    split; [done|]. split; [eauto|]. revert Hb. apply forallb_Forall'. intros [c|c|o t u|x t]; simpl; try done.
    by intros ?%bool_decide_eq_true.
  Qed.

  Lemma functional_sound S r : functional_b S r = true → functional h S r.
  Proof.
    intros [H1 H2]%andb_true_iff. split; [by apply reads_one_sound|]. revert H2. apply forallb_Forall'. intros []; [eauto|done].
  Qed.

  Lemma hands_over_sound Σ Σ' :
    (∀ m, route Σ m = Some m) → (∀ m, route Σ' m = Some m) → hands_over_b Σ Σ' = true → hands_over place h Σ Σ'.
  Proof.
    intros Hr Hr'. unfold hands_over_b. rewrite !andb_true_iff, !bool_decide_eq_true, !forallb_forall.
    intros ((((((((((((Hi&Hw)&Hf)&Hs)&Hsame)&Hm)&Hnd)&Hp)&Hst)&Hn)&Hig)&Hnames)&Hmov).
    split; try done.
    - intros i Hin%elem_of_list_In. by apply Hi, bool_decide_eq_true in Hin.
    - intros f Hin. assert (f ∈ elements (facts Σ')) as Hel%elem_of_list_In by (by apply elem_of_elements).
      specialize (Hw f Hel). unfold way_b in Hw. apply orb_true_iff in Hw as [Hw%bool_decide_eq_true|Hw]; [by left|right].
      apply andb_true_iff in Hw as [Hfw%bool_decide_eq_true Hw]. split; [done|]. intros a b i Heq Hin'%elem_of_list_In Ha Hself.
      rewrite Heq, forallb_forall in Hw. specialize (Hw i Hin'). rewrite bool_decide_eq_true_2 in Hw by done.
      by apply bool_decide_eq_true in Hw.
    - intros i Hin%elem_of_list_In Ha. specialize (Hm i Hin). rewrite bool_decide_eq_true_2 in Hm by done.
      by apply bool_decide_eq_true in Hm.
    - intros a Ha. destruct (Hp a Ha) as [H1 H2]. split; [|done]. intros i. revert i. by apply list.Forall_forall.
    - split; [done|]. intros i Hin%elem_of_list_In. specialize (Hig i Hin).
      rewrite !andb_true_iff, !forallb_forall in Hig. destruct Hig as [[Hss Hnx] Has]. split; [|split].
      + intros rs Hrs%elem_of_list_In. by apply ignores_sound, Hss.
      + by apply ignores_sound.
      + intros r Hrin%elem_of_list_In. by apply Has, bool_decide_eq_true in Hrin.
    - intros p Hin%elem_of_list_In. specialize (Hnames p Hin). unfold name_b, fresh_b in Hnames.
      rewrite !andb_true_iff, !bool_decide_eq_true, !forallb_forall in Hnames.
      destruct Hnames as ((((Hfr&Hhd)&(Hfw&Hns))&Hinj)&Hread).
      split; [|split; [done|split; [done|split; [|split]]]].
      + destruct Hfr as (?&?&?&?&?). repeat (split; [done|]). apply list.Forall_forall. intros i Hi'%elem_of_list_In.
        specialize (Hhd i Hi'). rewrite forallb_forall in Hhd. apply list.Forall_forall. intros r Hr0%elem_of_list_In.
        by apply Hhd, bool_decide_eq_true in Hr0.
      + intros q Hq%elem_of_list_In Heq. specialize (Hinj q Hq). rewrite bool_decide_eq_true_2 in Hinj by done.
        by apply eqb_prop, eq_sym, bool_decide_eq_true in Hinj.
      + intros q Hq%elem_of_list_In Heq. specialize (Hinj q Hq). rewrite (bool_decide_eq_true_2 (from q = from p)) in Hinj by done.
        by apply eqb_prop, bool_decide_eq_true in Hinj.
      + intros i Hi'%elem_of_list_In Ha. specialize (Hread i Hi'). rewrite bool_decide_eq_true_2 in Hread by done.
        by apply bool_decide_eq_true in Hread.
    - intros r Hin%elem_of_list_In. by apply functional_sound, Hmov.
  Qed.
End handover.

(** ** Of programs as they are written *)
Record handing := Handing {
  g_movers : list rule;
  g_passed : list pass;
  g_forward : string;
  g_nodes : list value;
  g_places : list (value * nat * value);  (* where the new instance of each node is *)
}.

Definition handed_b (g : handing) (P Q : program) : bool :=
  hands_over_b (λ a, place_in (g_places g) a 0)
    (Handover (g_movers g) (g_passed g) (g_forward g) (list_to_set (g_nodes g))) (meaning P) (meaning Q).

Theorem handed_sound g P Q fns rounds again l :
  handed_b g P Q = true → behaves fns rounds again (meaning Q) l → behaves fns rounds again (meaning P) l.
Proof. intros H. eapply passing_refines. by apply hands_over_sound. Qed.

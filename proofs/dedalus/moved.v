(** * Dedalus: whether a program is another one, behind a relay or taken apart

    The checkers of certificates of relays and of mutual decoupling, for two programs as they are
    written.  The second program may lead messages to the new instances by rules; that it is then
    what the network would make of the first one is decided once, for both. *)
From stdpp Require Import prelude strings gmap gmultiset.
From ashlar.dedalus Require Import lang system keyed piece still divide partition check routing certify decouple separate
  passing handover redirecting relay.

(** ** Rules that redirect *)
Section redirected.
  Context (place : value → value) (d : decoupling) (fwd : string).

  Definition redirected (r : rule) (pre : list literal) (u : term) (out : string) : rule :=
    Rule (head r) (args r) (Var out) (body r ++ pre ++ [Has (Atom fwd [u; Var out])]).

  Definition redirects_b (r r' : rule) : bool :=
    if decide (head r ∈ moves d) then
      forallb (λ a, match a with Plain t => fixed (body r) t | Agg _ _ => false end) (args r) &&
      known_b (body r) (dest r) &&
      match drop (length (body r)) (body r') with
      | [Has (Atom _ [_; Var out])] => bool_decide (r' = redirected r [] (dest r) out)
      | [Let y _; Has (Atom _ [_; Var out])] => bool_decide (r' = redirected r [Let y (dest r)] (Var y) out)
      | _ => false
      end
    else bool_decide (r' = r).

  Lemma redirects_sound r r' : redirects_b r r' = true → redirects d fwd r r'.
  Proof.
    unfold redirects_b. case_decide as Hm; [|intros ->%bool_decide_eq_true; by apply redirects_same].
    intros [[Hargs Hdest%known_sound]%andb_true_iff H]%andb_true_iff.
    assert (Forall (λ a, ∃ t, a = Plain t ∧ fixed (body r) t = true) (args r)) as Hargs'.
    { revert Hargs. apply forallb_Forall'. intros [t|] Ht; [|done]. eauto. }
    assert (∀ pre u out, named (dest r) pre u → r' = redirected r pre u out → redirects d fwd r r') as Hon.
    { intros pre u out Hn ->. by eapply redirects_on. }
    repeat case_match; try done; apply bool_decide_eq_true in H; (eapply Hon; [|exact H]); unfold named; eauto.
  Qed.

  Definition leads_b (f : fact) : bool :=
    negb (bool_decide (f.1 = fwd)) ||
    match f.2 with
    | [a; b] => if decide (a ∈ apart_at d) then bool_decide (b = place a) else bool_decide (b = a ∧ a ∉ new_places place d)
    | _ => true
    end.

  Definition redirects_all_b (i i' : instance) : bool :=
    bool_decide (addr i' = addr i) && bool_decide (self i' = self i) &&
    bool_decide (compact (strata (rules i')) = compact (strata (rules i))) && bool_decide (nexts (rules i') = nexts (rules i)) &&
    forallb (λ r', existsb (λ r, redirects_b r r') (asyncs (rules i))) (asyncs (rules i')).

  Definition ruled_b (Σ Σ' : system) : bool :=
    forallb (λ i', existsb (λ i, redirects_all_b i i') (instances Σ)) (instances Σ') &&
    bool_decide (facts Σ' = facts Σ) && bool_decide (statics Σ' = statics Σ) &&
    bool_decide (inputs Σ' = inputs Σ ∧ outputs Σ' = outputs Σ ∧ timers Σ' = timers Σ ∧ durables Σ' = durables Σ) &&
    bool_decide (mortals Σ' ⊆ mortals Σ) && bool_decide (fwd ∈ statics Σ) &&
    forallb (λ i, forallb (forallb (λ r, bool_decide (head r ≠ fwd))) (strata (rules i)) &&
      forallb (λ r, bool_decide (head r ≠ fwd)) (nexts (rules i))) (instances Σ) &&
    forallb leads_b (elements (facts Σ)).

  Lemma ruled_sound fns Σ Σ' :
    (∀ m, route Σ' m = Some m) → (∀ m, route Σ m = redirect place d m) → ruled_b Σ Σ' = true → ruled fns fwd Σ Σ'.
  Proof.
    intros Hr' Hr. unfold ruled_b. rewrite !andb_true_iff, !bool_decide_eq_true, !forallb_forall.
    intros (((((((Hi&Hf)&Hs)&Hsame)&Hm)&Hfwd)&Hh)&Hl).
    assert (leads_to place d fwd (facts Σ)) as Hleads.
    { intros a b Hin. assert ((fwd, [a; b]) ∈ elements (facts Σ)) as Hel%elem_of_list_In by (by apply elem_of_elements).
      specialize (Hl _ Hel). unfold leads_b in Hl. simpl in Hl. rewrite bool_decide_eq_true_2 in Hl by done. simpl in Hl.
      case_decide; by apply bool_decide_eq_true in Hl. }
    split; try done.
    - intros i' Hin%elem_of_list_In. specialize (Hi i' Hin). apply existsb_exists in Hi as (i&Hi0%elem_of_list_In&Hall).
      exists i. split; [done|]. unfold redirects_all_b in Hall.
      rewrite !andb_true_iff, !bool_decide_eq_true, forallb_forall in Hall. destruct Hall as ((((?&?)&?)&?)&Has).
      repeat (split; [done|]). intros r' Hin'%elem_of_list_In. specialize (Has r' Hin').
      apply existsb_exists in Has as (r&Hr0%elem_of_list_In&Hred). exists r. split; [done|].
      eapply redirects_does; [done|done|by apply redirects_sound].
    - intros i Hin%elem_of_list_In. specialize (Hh i Hin). rewrite andb_true_iff, !forallb_forall in Hh. destruct Hh as [H1 H2]. split.
      + intros rs r Hrs%elem_of_list_In Hr0%elem_of_list_In. specialize (H1 rs Hrs). rewrite forallb_forall in H1.
        by apply H1, bool_decide_eq_true in Hr0.
      + intros r Hr0%elem_of_list_In. by apply H2, bool_decide_eq_true in Hr0.
  Qed.
End redirected.

(** The static relation that leads is new. *)
Section fresh.
  Context (fwd : string).

  Definition ways_in (Σ' : system) : gset fact := filter (λ f, f.1 = fwd) (facts Σ').

  Definition unused_b (Σ : system) : bool :=
    bool_decide (set_Forall (λ f, f.1 ≠ fwd) (facts Σ)) &&
    forallb (λ i, forallb (ignores_b fwd) (strata (rules i)) && ignores_b fwd (nexts (rules i)) &&
      forallb (λ r, bool_decide (fwd ∉ read_by r)) (asyncs (rules i))) (instances Σ).

  Lemma unused_sound Σ Σ' : unused_b Σ = true → unused fwd (ways_in Σ') Σ.
  Proof.
    unfold unused_b. rewrite andb_true_iff, bool_decide_eq_true, forallb_forall. intros [H1 H2]. split; [|done|].
    - intros f Hf. unfold ways_in in Hf. by apply elem_of_filter in Hf as [? _].
    - intros i Hin%elem_of_list_In. specialize (H2 i Hin).
      rewrite !andb_true_iff, !forallb_forall in H2. destruct H2 as [[Hss Hnx] Has]. split; [|split].
      + intros rs Hrs%elem_of_list_In. by apply ignores_sound, Hss.
      + by apply ignores_sound.
      + intros r Hrin%elem_of_list_In. by apply Has, bool_decide_eq_true in Hrin.
  Qed.
End fresh.

(** ** Taken apart, by rules *)
Definition separated_b (s : separation) (fwd : string) (P Q : program) : bool :=
  let Σ := with_ways fwd (ways_in fwd (meaning Q)) (meaning P) in
  unused_b fwd (meaning P) && may_decouple_b (new_place s) (decoupling_of s) Σ &&
  ruled_b (new_place s) (decoupling_of s) fwd (decouple (new_place s) (decoupling_of s) Σ) (meaning Q).

Theorem separated_sound s fwd P Q fns rounds again l :
  separated_b s fwd P Q = true → behaves fns rounds again (meaning Q) l → behaves fns rounds again (meaning P) l.
Proof.
  intros [[H1 H2%may_decouple_sound]%andb_true_iff H3]%andb_true_iff Hl.
  eapply ways_refine; [by apply unused_sound|]. eapply decouple_refines; [exact H2|].
  eapply ruled_refines; [|exact Hl]. by eapply ruled_sound; [| |exact H3].
Qed.

(** ** Behind a relay *)
Record relaying := Relaying {
  y_passed : list pass;
  y_forward : string;
  y_moves : list string;                  (* the relations that rules send to the new instances *)
  y_nodes : list value;
  y_places : list (value * nat * value);  (* where the new instance of each node is *)
}.

Section relays.
  Context (place : value → value) (h : handover) (M : gset string).

  Definition clean_b (x : string) : bool := forallb (λ p, bool_decide (x ≠ to p)) (passed h).
  Definition neutral_b (x : string) : bool := clean_b x && forallb (λ p, bool_decide (from p ≠ x)) (passed h).

  Definition moves_behind_b (Σ : system) (c : component) : bool :=
    forallb (λ x, clean_b x && (bool_decide (x ∈ statics Σ) || existsb (λ p, bool_decide (from p = x)) (passed h) ||
      bool_decide (x ∈ M ∧ x ∉ inputs Σ ∧ x ∉ timers Σ))) (reads c) &&
    forallb (λ r, neutral_b (head r)) (concat (strata c) ++ nexts c).

  Definition new_name_b (Σ : system) (y : string) : bool :=
    bool_decide (y ∉ statics Σ ∧ y ∉ inputs Σ ∧ y ∉ timers Σ ∧ y ∉ outputs Σ ∧ y ∉ M) &&
    forallb (λ i, forallb (λ r, bool_decide (head r ≠ y)) (asyncs (rules i))) (instances Σ).

  Definition may_relay_b (D : gset value) (Σ : system) : bool :=
    forallb (λ i, implb (bool_decide ((if decide (addr i ∈ handed_at h) then place (addr i) else addr i) ∈ D))
      (bool_decide (addr i ∈ mortals Σ))) (instances Σ) &&
    bool_decide (NoDup (addr <$> instances Σ)) &&
    bool_decide (set_Forall (λ a, Forall (λ i, addr i ≠ place a) (instances Σ) ∧
      set_Forall (λ b, place a = place b → a = b) (handed_at h)) (handed_at h)) &&
    bool_decide (set_Forall (λ f, f.1 ∈ statics Σ) (facts Σ)) &&
    bool_decide (set_Forall (λ x, x ∉ outputs Σ) M) &&
    bool_decide (forward h ∈ statics Σ) &&
    forallb (λ i, implb (bool_decide (addr i ∈ handed_at h))
      (forallb (λ f, match f with
        | (x, [a; b]) => implb (bool_decide (x = forward h ∧ a = self i)) (bool_decide (b = place (addr i)))
        | _ => true end) (elements (facts Σ)) && moves_behind_b Σ (rules i))) (instances Σ) &&
    forallb (λ p, new_name_b Σ (to p) && bool_decide (from p ∉ statics Σ) &&
      forallb (λ q, implb (bool_decide (to q = to p)) (bool_decide (from q = from p))) (passed h)) (passed h).

  Lemma clean_sound x : clean_b x = true → clean h x.
  Proof. unfold clean_b. rewrite forallb_forall. intros H p Hp%elem_of_list_In. by apply H, bool_decide_eq_true in Hp. Qed.

  Lemma neutral_sound x : neutral_b x = true → neutral h x.
  Proof.
    intros [H1%clean_sound H2]%andb_true_iff. split; [done|]. rewrite forallb_forall in H2.
    intros p Hp%elem_of_list_In. by apply H2, bool_decide_eq_true in Hp.
  Qed.

  Lemma moves_behind_sound Σ c : moves_behind_b Σ c = true → moves_behind h M Σ c.
  Proof.
    intros [H1 H2]%andb_true_iff. rewrite forallb_forall in H1, H2. split.
    - intros x Hx%elem_of_list_In. specialize (H1 x Hx). rewrite andb_true_iff, !orb_true_iff, !bool_decide_eq_true in H1.
      destruct H1 as [Hc H1]. split; [by apply clean_sound|]. destruct H1 as [[?|Hp]|?]; [by left| |by right; right].
      right; left. apply existsb_exists in Hp as (p&Hp%elem_of_list_In&?%bool_decide_eq_true). eauto.
    - intros r Hr%elem_of_list_In. by apply neutral_sound, H2.
  Qed.

  Lemma may_relay_sound D Σ : (∀ m, route Σ m = Some m) → may_relay_b D Σ = true → may_relay place h M D Σ.
  Proof.
    intros Hroute. unfold may_relay_b. rewrite !andb_true_iff, !bool_decide_eq_true, !forallb_forall.
    intros (((((((Hmo&Hnd)&Hpl)&Hst)&Hout)&Hfwd)&Hin)&Hnames).
    assert (∀ i, i ∈ instances Σ → addr i ∈ handed_at h →
      (∀ b, (forward h, [self i; b]) ∈ facts Σ → b = place (addr i)) ∧ moves_behind h M Σ (rules i)) as Hi.
    { intros i Hi%elem_of_list_In Ha. specialize (Hin i Hi). rewrite bool_decide_eq_true_2 in Hin by done. simpl in Hin.
      apply andb_true_iff in Hin as [Hw Hm]. split; [|by apply moves_behind_sound]. intros b Hb.
      rewrite forallb_forall in Hw. assert ((forward h, [self i; b]) ∈ elements (facts Σ)) as Hel%elem_of_list_In by (by apply elem_of_elements).
      specialize (Hw _ Hel). simpl in Hw. rewrite bool_decide_eq_true_2 in Hw by done. by apply bool_decide_eq_true in Hw. }
    split; try done.
    - intros i Hi'%elem_of_list_In HD. specialize (Hmo i Hi'). rewrite bool_decide_eq_true_2 in Hmo by done.
      by apply bool_decide_eq_true in Hmo.
    - intros a Ha. destruct (Hpl a Ha) as [H1 H2]. split; [|done]. intros i. revert i. by apply list.Forall_forall.
    - split; [done|]. intros i b Hi' Ha. by apply Hi.
    - intros p Hp%elem_of_list_In. specialize (Hnames p Hp). unfold new_name_b in Hnames.
      rewrite !andb_true_iff, !bool_decide_eq_true, !forallb_forall in Hnames. destruct Hnames as (((Hnew&Hhd)&Hns)&Hinj).
      split; [|split; [done|]].
      + destruct Hnew as (?&?&?&?&?). repeat (split; [done|]). apply list.Forall_forall. intros i Hi'%elem_of_list_In.
        specialize (Hhd i Hi'). rewrite forallb_forall in Hhd. apply list.Forall_forall. intros r Hr%elem_of_list_In.
        by apply Hhd, bool_decide_eq_true in Hr.
      + intros q Hq%elem_of_list_In Heq. specialize (Hinj q Hq). rewrite bool_decide_eq_true_2 in Hinj by done.
        by apply bool_decide_eq_true in Hinj.
    - intros i Hi' Ha. by apply Hi.
  Qed.
End relays.

Definition relayed_b (y : relaying) (P Q : program) : bool :=
  let place := λ a, place_in (y_places y) a 0 in
  let h := Handover [] (y_passed y) (y_forward y) (list_to_set (y_nodes y)) in
  let M := list_to_set (y_moves y) in
  let Σ := with_ways (y_forward y) (ways_in (y_forward y) (meaning Q)) (meaning P) in
  unused_b (y_forward y) (meaning P) && may_relay_b place h M (mortals (meaning Q)) Σ &&
  ruled_b place (redirection h M) (y_forward y) (relay place h M (mortals (meaning Q)) Σ) (meaning Q).

(** The inputs that come again: those that are passed on. *)
Definition relays (y : relaying) : gset string := list_to_set (from <$> y_passed y).

Theorem relayed_sound y P Q fns rounds again l :
  relayed_b y P Q = true → behaves fns rounds again (meaning Q) l → behaves fns rounds (again ∪ relays y) (meaning P) l.
Proof.
  intros [[H1 H2]%andb_true_iff H3]%andb_true_iff Hl.
  eapply ways_refine; [by apply unused_sound|].
  eapply (relay_refines _ _ _ (mortals (meaning Q))); [by apply may_relay_sound|apply union_subseteq_l| |].
  { intros p Hp _. apply elem_of_union_r, elem_of_list_to_set, elem_of_list_fmap. eauto. }
  eapply ruled_refines; [|exact Hl]. by eapply ruled_sound; [| |exact H3].
Qed.

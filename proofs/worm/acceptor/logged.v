(** * What records say, and that they say what was done

    A record of the log, read as what it is for: registers of segment [n] from [lo] on,
    below [hi], promise at least [x], or hold [v] at [x] unless they hold something higher. *)
From ashlar.worm.acceptor Require Export write capture.
Local Open Scope Z_scope.

Inductive logged :=
  | Promises (n lo hi : Z) (x : ballot)
  | Accepts (n lo hi : Z) (x : ballot) (v : list Z).
Definition bytes_of_record (rec : logged) : list Z :=
  match rec with
  | Promises n lo hi x => promise_record n lo hi x
  | Accepts n lo hi x v => accept_record n lo hi x v
  end.
(** The limits that Redo checks. *)
Definition logged_ok (rec : logged) : Prop :=
  match rec with
  | Promises n lo hi x =>
      in_range U64 n ∧ 0 ≤ lo < hi ∧ hi < 2 ^ 32 ∧ hi - lo ≤ wor.RangeMax ∧ ballot_ok x ∧ x ≠ zero_ballot
  | Accepts n lo hi x v =>
      in_range U64 n ∧ 0 ≤ lo < hi ∧ hi < 2 ^ 32 ∧ hi - lo ≤ wor.RangeMax ∧ ballot_ok x ∧ Z.of_nat (length v) ≤ wor.ValueMax
  end.

(** The registers of all segments. *)
Notation registers := (Z → Z → register).
Definition merging (r : register) (x : ballot) (v : list Z) : register :=
  match accepted r with
  | Some (y, _) => if decide (number y < number x) then accepting r x v else r
  | None => accepting r x v
  end.
Definition redone (rec : logged) (g : registers) : registers := λ n j,
  match rec with
  | Promises n' lo hi x => if decide (n = n' ∧ lo ≤ j < hi) then promising (g n' j) x else g n j
  | Accepts n' lo hi x v => if decide (n = n' ∧ lo ≤ j < hi) then merging (g n' j) x v else g n j
  end.
(** The record does not contradict what is there. *)
Definition may_redo (rec : logged) (g : registers) : Prop :=
  match rec with
  | Promises _ _ _ _ => True
  | Accepts n lo hi x v => ∀ j w, lo ≤ j < hi → accepted (g n j) = Some (x, w) → w = v
  end.

(** Redoing the records, one after the other, is allowed, and leads from registers [g] to [g']. *)
Fixpoint redo_leads (recs : list logged) (g g' : registers) : Prop :=
  match recs with
  | [] => ∀ n j, 0 ≤ j → g' n j = g n j
  | rec :: recs => logged_ok rec ∧ may_redo rec g ∧ redo_leads recs (redone rec g) g'
  end.

Lemma redone_ext rec (g h : registers) : logged_ok rec → (∀ n j, 0 ≤ j → g n j = h n j) → ∀ n j, 0 ≤ j → redone rec g n j = redone rec h n j.
Proof. intros Hok Hgh n j Hj. destruct rec; simpl; case_decide as Hin; rewrite ?Hgh //. Qed.
Lemma may_redo_ext rec (g h : registers) : logged_ok rec → (∀ n j, 0 ≤ j → g n j = h n j) → may_redo rec g → may_redo rec h.
Proof.
  intros Hok Hgh. destruct rec as [|n lo hi x v]; [done|]. destruct Hok as (_ & Hlo & _). intros Hmay j w Hj. rewrite -Hgh; [|lia].
  by apply Hmay.
Qed.
(** What one request logs, and then another, leads from what was before the first to what is after the second. *)
Lemma redo_leads_app recs1 recs2 (g1 g2 g3 : registers) :
  redo_leads recs1 g1 g2 → redo_leads recs2 g2 g3 → redo_leads (recs1 ++ recs2) g1 g3.
Proof.
  revert g1. induction recs1 as [|rec recs1 IH]; intros g1; simpl; last first.
  { intros (Hok & Hmay & Hlead) H2. split_and!; [done|done|]. by apply IH. }
  revert g1 g2. induction recs2 as [|rec recs2 IH]; intros g1 g2 H1 H2; simpl in *.
  { intros n j Hj. by rewrite H2 // H1. }
  destruct H2 as (Hok & Hmay & Hlead). assert (∀ n j, 0 ≤ j → g2 n j = g1 n j) as Heq by done. split_and!; [done| |].
  - by eapply may_redo_ext.
  - apply (IH (redone rec g1) (redone rec g2)); [|done]. intros n j Hj. by apply redone_ext.
Qed.

(** ** The records of a request lead from what was before it to what is after it *)
Lemma judged_fresh m n j x v : register_ok (state_of m n j) → ballot_ok x → (judged (state_of m n j) x v).2 = true →
  (∀ w, accepted (state_of m n j) ≠ Some (x, w)) ∧ merging (state_of m n j) x v = accepting (state_of m n j) x v.
Proof.
  intros [_ Hok] Hx Hj. assert (∀ w, accepted (state_of m n j) ≠ Some (x, w)) as Hne.
  { intros w Hw. revert Hj. rewrite /judged Hw decide_True //. by case_decide. }
  split; [done|]. rewrite /merging. destruct (accepted (state_of m n j)) as [[y w]|] eqn:Hy; [|done].
  pose proof (judged_accepts m n j x v y w Hj Hy) as Hle. rewrite decide_True //.
  destruct (decide (number y = number x)) as [Heq|]; [|lia]. apply number_inj in Heq; [|by eapply Hok|done]. subst y. by destruct (Hne w).
Qed.
Lemma merging_again r x v : merging (accepting r x v) x v = accepting r x v.
Proof. rewrite /merging /=. rewrite decide_False //. lia. Qed.

Lemma spans_lead m n x v lo hi stop spans (g' : registers) :
  in_range U64 n → 0 ≤ lo → stop ≤ hi → hi < 2 ^ 32 → hi - lo ≤ wor.RangeMax → ballot_ok x → Z.of_nat (length v) ≤ wor.ValueMax →
  (∀ j, register_ok (state_of m n j)) →
  Forall (λ se, lo ≤ se.1 < se.2 ∧ se.2 ≤ hi) spans →
  (∀ j, spanned spans j ↔ lo ≤ j < stop ∧ (judged (state_of m n j) x v).2 = true) →
  (∀ n' j, 0 ≤ j → g' n' j = if decide (n' = n ∧ lo ≤ j < stop) then written (state_of m n j) x v else state_of m n' j) →
  redo_leads ((λ se, Accepts n se.1 se.2 x v) <$> spans) (state_of m) g'.
Proof.
  intros Hn Hlo Hstop Hhi Hmax Hx Hv Hok Hall Hspans Hg'.
  assert (∀ spans2 spans1 g, spans = spans1 ++ spans2 →
    (∀ n' j, 0 ≤ j → n' = n ∧ spanned spans1 j ∧ g n' j = accepting (state_of m n j) x v ∨
       ¬ (n' = n ∧ spanned spans1 j) ∧ g n' j = state_of m n' j) →
    redo_leads ((λ se, Accepts n se.1 se.2 x v) <$> spans2) g g') as Hgen; last first.
  { apply (Hgen spans [] (state_of m)); [done|]. intros n' j Hj. right. split; [|done]. intros [_ (s & e & []%elem_of_nil & _)]. }
  intros spans2. induction spans2 as [|[s e] spans2 IH]; intros spans1 g Heq Hg; simpl.
  - rewrite app_nil_r in Heq. subst spans1. intros n' j Hj. rewrite Hg' //.
    destruct (Hg n' j Hj) as [(-> & Hin & ->)|[Hout ->]].
    + apply Hspans in Hin as [Hin Hja]. rewrite decide_True //. by rewrite /written Hja.
    + case_decide as Hin; [|done]. destruct Hin as [-> Hin]. rewrite /written.
      destruct ((judged (state_of m n j) x v).2) eqn:Hja; [|done]. destruct Hout. split; [done|]. by apply Hspans.
  - assert (lo ≤ s < e ∧ e ≤ hi) as Hse.
    { rewrite Heq in Hall. apply Forall_app in Hall as [_ [Hse _]%Forall_cons]. done. }
    assert (∀ j, s ≤ j < e → (judged (state_of m n j) x v).2 = true) as Hfresh.
    { intros j Hj. apply Hspans. exists s, e. split; [|done]. rewrite Heq. set_solver. }
    assert (∀ j, s ≤ j < e → g n j = accepting (state_of m n j) x v ∨ g n j = state_of m n j) as Hgn.
    { intros j Hj. destruct (Hg n j ltac:(lia)) as [(_ & _ & ->)|[_ ->]]; auto. }
    split; [|split].
    + simpl. split_and!; try done; lia.
    + intros j w Hj. destruct (Hgn j Hj) as [-> | ->]; [simpl; congruence|].
      destruct (judged_fresh m n j x v (Hok j) Hx (Hfresh j Hj)) as [Hne _]. intros Hw. by destruct (Hne w).
    + apply (IH (spans1 ++ [(s, e)])); [by rewrite -app_assoc|]. intros n' j Hj. rewrite spanned_snoc /=.
      destruct (decide (n' = n ∧ s ≤ j < e)) as [[-> Hin]|Hout].
      * left. split; [done|]. split; [by right|]. destruct (Hgn j Hin) as [-> | ->]; [apply merging_again|].
        by apply judged_fresh; [| |apply Hfresh].
      * destruct (Hg n' j Hj) as [(-> & Hin & ->)|[Hno ->]]; [left|right].
        -- split; [done|]. split; [by left|done].
        -- split; [|done]. intros [-> [Hin|Hin]]; tauto.
Qed.

Lemma capture_leads m n x lo hi stop (fresh : bool) (g' : registers) :
  in_range U64 n → 0 ≤ lo ≤ stop → stop ≤ hi → hi < 2 ^ 32 → hi - lo ≤ wor.RangeMax → ballot_ok x → x ≠ zero_ballot →
  (fresh = true ↔ ∃ j, lo ≤ j < stop ∧ number (promised (state_of m n j)) < number x) →
  (∀ n' j, 0 ≤ j → g' n' j = if decide (n' = n ∧ lo ≤ j < stop) then promising (state_of m n j) x else state_of m n' j) →
  redo_leads (if fresh then [Promises n lo stop x] else []) (state_of m) g'.
Proof.
  intros Hn Hlo Hstop Hhi Hmax Hx Hne Hfresh Hg'. destruct fresh; simpl.
  - destruct (proj1 Hfresh eq_refl) as (j & Hj & _). split_and!; try done; lia.
  - intros n' j Hj. rewrite Hg' //. case_decide as Hin; [|done]. destruct Hin as [-> Hin].
    apply promising_same. intros Hless. assert (false = true); [|done]. apply Hfresh. eauto.
Qed.

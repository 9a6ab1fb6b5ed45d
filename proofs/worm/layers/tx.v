(** * WormTX: atomic commit on one write-once register for each vote

    Register [i] holds the vote of participant [i], yes or no.  No participant
    decides: the outcome is a function of the votes.  So none has to wait for another:
    a participant that gets impatient writes no into the register of another.

    The variants of the paper differ in who begins, in whether registers were
    captured before, in who listens and in whether a manager tells the outcome.  The
    first three are not visible on the interface: any participant may begin, any
    client may call a register at any moment, and what one client is told the others
    may know.  The last is [tells]: true for A8, B6 and C5, false for D4, E3 and F2. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.layers Require Export space commit.

Section tx.
Context (members : gset nat) (tells : bool).
Notation registers := (space nat bool).

Record txs := Txs {
  begun : gset nat;            (* the participants that know of the transaction *)
  dead : gset nat;
  intends : gmap nat bool;     (* what a participant wants to vote *)
  usurped : gset nat;          (* the registers in which another asked to write no *)
  verdict : option bool;       (* what the manager found *)
  unmanaged : bool;            (* the manager is dead *)
  learned : gmap nat bool;     (* the outcome that a participant knows: commit is true *)
}.
Definition tx_start : txs := Txs ∅ ∅ ∅ ∅ None false ∅.

Definition with_begun (l : txs) i := Txs ({[i]} ∪ begun l) (dead l) (intends l) (usurped l) (verdict l) (unmanaged l) (learned l).
Definition with_dead (l : txs) i := Txs (begun l) ({[i]} ∪ dead l) (intends l) (usurped l) (verdict l) (unmanaged l) (learned l).
Definition with_intent (l : txs) i x := Txs (begun l) (dead l) (<[i := x]> (intends l)) (usurped l) (verdict l) (unmanaged l) (learned l).
Definition with_usurped (l : txs) i := Txs (begun l) (dead l) (intends l) ({[i]} ∪ usurped l) (verdict l) (unmanaged l) (learned l).
Definition with_verdict (l : txs) o := Txs (begun l) (dead l) (intends l) (usurped l) (Some o) (unmanaged l) (learned l).
Definition without_manager (l : txs) := Txs (begun l) (dead l) (intends l) (usurped l) (verdict l) true (learned l).
Definition with_learned (l : txs) i o := Txs (begun l) (dead l) (intends l) (usurped l) (verdict l) (unmanaged l) (<[i := o]> (learned l)).

(** What follows from what clients were told of the votes. *)
Definition follows (h : registers) (o : bool) : Prop :=
  if o then ∀ j, j ∈ members → told (h j) true else ∃ j, j ∈ members ∧ told (h j) false.

(** Whose step it is. *)
Inductive who := Participant (i : nat) | Manager | Register | Failure.

Definition active (l : txs) (w : who) : Prop :=
  match w with
  | Participant i => i ∈ begun l ∧ i ∉ dead l
  | Manager => unmanaged l = false
  | _ => False
  end.

Definition returning (e : event bool) : Prop :=
  match e with Writes _ | Reads _ => False | _ => True end.

Inductive tx_move (l : txs) (h : registers) : who → option (nat * event bool) → txs → Prop :=
  | tx_begin i : i ∈ members → i ∉ dead l → tx_move l h (Participant i) None (with_begun l i)
  (* it has its locks and its log, or not *)
  | tx_choose i x :
      active l (Participant i) → intends l !! i = None →
      tx_move l h (Participant i) None (with_intent l i x)
  | tx_vote i x :
      active l (Participant i) → intends l !! i = Some x →
      tx_move l h (Participant i) (Some (i, Writes x)) l
  | tx_usurp i j :
      active l (Participant i) → j ∈ members → i ≠ j → learned l !! i = None →
      tx_move l h (Participant i) (Some (j, Writes false)) (with_usurped l j)
  | tx_read w j r : active l w → tx_move l h w (Some (j, Reads r)) l
  | tx_return j e : returning e → tx_move l h Register (Some (j, e)) l
  | tx_resolve o :
      active l Manager → verdict l = None → follows h o → tx_move l h Manager None (with_verdict l o)
  | tx_tell i o :
      active l Manager → active l (Participant i) → i ∈ members → verdict l = Some o → learned l !! i = None →
      tx_move l h Manager None (with_learned l i o)
  | tx_learn i o :
      active l (Participant i) → i ∈ members → learned l !! i = None → (tells = true → unmanaged l = true) →
      follows h o → tx_move l h (Participant i) None (with_learned l i o)
  | tx_die i : i ∈ members → tx_move l h Failure None (with_dead l i)
  | tx_abandon : tx_move l h Failure None (without_manager l).

Definition tx_moves : moving nat bool txs := λ l h e l', ∃ w, tx_move l h w e l'.
Notation tx_run := (layer_run tx_moves tx_start).

(** ** The invariant *)

Record tx_inv (l : txs) (h : registers) : Prop := TxInv {
  x_yes : ∀ i, Writes true ∈ h i → intends l !! i = Some true;
  x_no : ∀ i, Writes false ∈ h i → intends l !! i = Some false ∨ i ∈ usurped l;
  x_verdict : ∀ o, verdict l = Some o → follows h o;
  x_learned : ∀ i o, learned l !! i = Some o → follows h o;
}.

Lemma told_more (h : registers) a e j v : told (h j) v → told (record_at h a e j) v.
Proof.
  intros Ht. destruct (decide (a = j)) as [<-|].
  - rewrite recorded, told_app. by left.
  - by rewrite recorded_elsewhere.
Qed.

Lemma follows_more h a e o : follows h o → follows (record_at h a e) o.
Proof. destruct o; simpl; [|intros (j & ? & ?)]; eauto using told_more. Qed.

Lemma written_more (h : registers) a e j (x : bool) :
  Writes x ∈ record_at h a e j → Writes x ∈ h j ∨ (a = j ∧ e = Writes x).
Proof.
  destruct (decide (a = j)) as [<-|].
  - rewrite recorded, elem_of_app, elem_of_list_singleton. naive_solver.
  - rewrite recorded_elsewhere; auto.
Qed.

Lemma tx_inv_alone l h l' : tx_inv l h → tx_moves l h None l' → tx_inv l' h.
Proof.
  intros [Hy Hn Hv Hl] [w Hm]. inversion Hm; subst; split; simpl; try done.
  - intros j Hj. pose proof (Hy j Hj). rewrite lookup_insert_ne; [done|congruence].
  - intros j Hj. destruct (Hn j Hj) as [|]; [left|by right]. rewrite lookup_insert_ne; [done|congruence].
  - congruence.
  - intros j o'. destruct (decide (i = j)) as [->|]; [rewrite lookup_insert|rewrite lookup_insert_ne by done; eauto].
    intros [= <-]. eauto.
  - intros j o'. destruct (decide (i = j)) as [->|]; [rewrite lookup_insert|rewrite lookup_insert_ne by done; eauto].
    intros [= <-]. eauto.
Qed.

Lemma tx_inv_event l h l' a e : tx_inv l h → tx_moves l h (Some (a, e)) l' → tx_inv l' (record_at h a e).
Proof.
  intros [Hy Hn Hv Hl] [w Hm].
  assert (verdict l' = verdict l ∧ learned l' = learned l ∧ intends l' = intends l ∧ usurped l ⊆ usurped l')
    as (Ev & El & Ei & Eu) by (inversion Hm; subst; simpl; set_solver).
  split.
  - rewrite Ei. intros j [Hj|[<- ->]]%written_more; [by apply Hy|]. inversion Hm; subst; done.
  - rewrite Ei. intros j [Hj|[<- ->]]%written_more; [destruct (Hn j Hj); set_solver|].
    inversion Hm; subst; simpl in *; try done; [by left|set_solver].
  - rewrite Ev. intros o Ho. by apply follows_more, Hv.
  - rewrite El. intros i o Ho. eapply follows_more, Hl, Ho.
Qed.

Lemma tx_inv_run l h : tx_run l h → (∀ a, write_once (h a)) ∧ tx_inv l h.
Proof.
  apply layer_invariant.
  - split; simpl; try done; intros i Hi; by apply elem_of_nil in Hi.
  - intros. by eapply tx_inv_alone.
  - intros. by eapply tx_inv_event.
Qed.

(** ** What participants can rely on *)

Lemma follows_one h o p : (∀ a, write_once (h a)) → follows h o → follows h p → o = p.
Proof.
  intros HO Ho Hp. destruct o, p; simpl in *; try done; exfalso.
  - destruct Hp as (j & Hj & Hf). by pose proof (one _ (HO j) _ _ (Ho j Hj) Hf).
  - destruct Ho as (j & Hj & Hf). by pose proof (one _ (HO j) _ _ (Hp j Hj) Hf).
Qed.

Lemma tx_agree l h i j o p : tx_run l h → learned l !! i = Some o → learned l !! j = Some p → o = p.
Proof. intros [HO HI]%tx_inv_run Hi Hj. eapply follows_one; eauto using x_learned. Qed.

Lemma tx_commit l h i j : tx_run l h → learned l !! i = Some true → j ∈ members → intends l !! j = Some true.
Proof.
  intros [HO HI]%tx_inv_run Hi Hj. eapply x_yes; [done|]. apply held_asked; [done|].
  apply held; [done|]. by apply (x_learned l h HI i true Hi).
Qed.

Lemma tx_abort l h i :
  tx_run l h → learned l !! i = Some false →
  ∃ j, j ∈ members ∧ (intends l !! j = Some false ∨ j ∈ usurped l).
Proof.
  intros [HO HI]%tx_inv_run Hi. destruct (x_learned l h HI i false Hi) as (j & Hj & Ht).
  exists j. split; [done|]. eapply x_no; [done|]. apply held_asked; [done|]. by apply held.
Qed.

Lemma tx_stable l h l' h' i o :
  rtc (layer_step tx_moves) (l, h) (l', h') → learned l !! i = Some o → learned l' !! i = Some o.
Proof.
  intros Hr. remember (l, h) as x eqn:Ex. remember (l', h') as y eqn:Ey.
  assert (learned x.1 !! i = Some o → learned y.1 !! i = Some o); [|by subst].
  clear Ex Ey. induction Hr as [|x y z Hs _ IH]; [done|]. intros Hi. apply IH.
  destruct Hs as [? ? ? [w Hm]|? ? ? ? ? [w Hm]]; simpl in *; inversion Hm; subst; simpl; try done;
    rewrite lookup_insert_ne; congruence.
Qed.

(** ** Each step is one of AtomicCommit, or none *)

Definition commit_alike (l : txs) (h : registers) (s : commitment) : Prop :=
  (∀ i, i ∈ members → votes s !! i = holds (h i)) ∧
  outcomes s = learned l ∧ parties s = begun l ∧ lost s = dead l.

Lemma commit_follows l h s o :
  (∀ a, write_once (h a)) → commit_alike l h s → follows h o → commit_outcome members s o.
Proof.
  intros HO (Hv & _) Hf. destruct o; simpl in *.
  - intros j Hj. rewrite Hv by done. apply held; auto.
  - destruct Hf as (j & Hj & Ht). exists j. split; [done|]. rewrite Hv by done. by apply held.
Qed.

Lemma tx_is_commit : keeps_to tx_moves (commit_step members) commit_alike tx_start (commit_start ∅).
Proof.
  eapply (keeps_to_intro _ _ _ (λ l h, (∀ a, write_once (h a)) ∧ tx_inv l h)).
  - apply tx_inv_run.
  - split; simpl; [|done]. intros. by rewrite lookup_empty.
  - intros l h l' s [HO HI] Ha Hm. pose proof Ha as (Hv & Ho & Hp & Hd).
    destruct Hm as [w Hm]. inversion Hm; subst;
      try (exists s; split; [by left|by split]).
    + exists (commit_effect s (CBegin i)). split; [right; exists (CBegin i); split; [|done]; simpl; by rewrite Hd|].
      split_and!; simpl; [done|done|by rewrite Hp|done].
    + assert (follows h o) as Hf by by eapply x_verdict.
      exists (commit_effect s (CTell i o)). split.
      * right. exists (CTell i o). split; [|done]. destruct H0. simpl. rewrite Ho, Hp, Hd.
        split_and!; [done|set_solver|done|by eapply commit_follows].
      * split_and!; simpl; [done|by rewrite Ho|done|done].
    + exists (commit_effect s (CTell i o)). split.
      * right. exists (CTell i o). split; [|done]. destruct H. simpl. rewrite Ho, Hp, Hd.
        split_and!; [done|set_solver|done|by eapply commit_follows].
      * split_and!; simpl; [done|by rewrite Ho|done|done].
    + exists (commit_effect s (CDie i)). split; [right; exists (CDie i); by split|].
      split_and!; simpl; [done|done|done|by rewrite Hd].
  - intros l h l' a e s HO [_ HI] (Hv & Ho & Hp & Hd) [w Hm] HW.
    assert (begun l' = begun l ∧ dead l' = dead l ∧ learned l' = learned l) as (Eb & Ed & El).
    { by inversion Hm; subst. }
    assert (∀ i, holds (record_at h a e i) = if decide (a = i ∧ holds (h i) = None) then holds [e] else holds (h i)) as E.
    { intros i. destruct (decide (a = i)) as [<-|].
      - rewrite recorded, holds_snoc. destruct (holds (h a)); repeat case_decide; naive_solver.
      - rewrite recorded_elsewhere by done. case_decide; naive_solver. }
    destruct (decide (a ∈ members ∧ holds (h a) = None)) as [[Ham Hn]|Hn].
    + destruct (holds [e]) as [x|] eqn:Hx.
      * exists (commit_effect s (CVoteLate a x)). split.
        -- right. exists (CVoteLate a x). split; [|done]. simpl. by rewrite Hv.
        -- split_and!; simpl; [|congruence..]. intros i Hi. rewrite E. destruct (decide (a = i)) as [<-|].
           ++ rewrite lookup_insert, decide_True by done. done.
           ++ rewrite lookup_insert_ne, decide_False by naive_solver. auto.
      * exists s. split; [by left|]. split_and!; [|congruence..]. intros i Hi. rewrite E, Hv by done.
        case_decide; naive_solver.
    + exists s. split; [by left|]. split_and!; [|congruence..]. intros i Hi. rewrite E, Hv by done.
      case_decide; naive_solver.
Qed.

(** ** No participant waits for another *)

(** The steps that participant [i] takes, with the registers and, if there is one,
    the manager. *)
Definition helped (i : nat) (x y : txs * registers) : Prop :=
  ∃ w e, (w = Participant i ∨ w = Manager ∨ w = Register) ∧ tx_move x.1 x.2 w e y.1 ∧
    match e with
    | None => y.2 = x.2
    | Some (a, e) => write_once (x.2 a ++ [e]) ∧ y.2 = record_at x.2 a e
    end.

Lemma helped_step i x y : helped i x y → layer_step tx_moves x y.
Proof.
  destruct x as [l h], y as [l' h']. intros (w & [[a e]|] & _ & Hm & He); simpl in *.
  - destruct He as [HW ->]. constructor; [by exists w|done].
  - subst h'. constructor. by exists w.
Qed.

Definition untrimmed (h : registers) : Prop := ∀ j r, j ∈ members → ReadTrimmed r ∉ h j.

Lemma untrimmed_more h a e : untrimmed h → (∀ r, e ≠ ReadTrimmed r) → untrimmed (record_at h a e).
Proof.
  intros Hu He j r Hj. destruct (decide (a = j)) as [<-|].
  - rewrite recorded. intros [?|?%elem_of_list_singleton]%elem_of_app; [by eapply Hu|]. by destruct (He r).
  - rewrite recorded_elsewhere by done. by apply Hu.
Qed.

(** The manager and what participants know stay as they were. *)
Definition same (l l' : txs) : Prop :=
  begun l' = begun l ∧ dead l' = dead l ∧ learned l' = learned l ∧ verdict l' = verdict l ∧ unmanaged l' = unmanaged l.

(** A participant can have every register decided. *)
Lemma settle i js l h :
  (∀ a, write_once (h a)) → untrimmed h → active l (Participant i) → learned l !! i = None →
  js ⊆ elements members →
  ∃ l' h', rtc (helped i) (l, h) (l', h') ∧ same l l' ∧ (∀ a, write_once (h' a)) ∧ untrimmed h' ∧
    (∀ j v, told (h j) v → told (h' j) v) ∧ ∀ j, j ∈ js → ∃ v, told (h' j) v.
Proof.
  revert l h. induction js as [|j js IH]; intros l h HO Hu Hi Hl Hsub.
  { exists l, h. split_and!; try done. intros j Hj. by apply elem_of_nil in Hj. }
  assert (j ∈ members) as Hj by set_solver.
  (* one register *)
  assert (∃ l1 h1, rtc (helped i) (l, h) (l1, h1) ∧ same l l1 ∧ (∀ a, write_once (h1 a)) ∧ untrimmed h1 ∧
    (∀ j v, told (h j) v → told (h1 j) v) ∧ ∃ v, told (h1 j) v) as (l1 & h1 & Hr1 & Hs1 & HO1 & Hu1 & Ht1 & v1 & Hv1).
  { destruct (holds (h j)) as [v|] eqn:Hh.
    { exists l, h. split_and!; try done. exists v. by apply holds_told. }
    (* it asks to write [x] *)
    assert (∃ l1 x l2, rtc (helped i) (l, h) (l1, h) ∧ same l l2 ∧ tx_move l1 h (Participant i) (Some (j, Writes x)) l2)
      as (l1 & x & l2 & Hr & Hs & Hm).
    { destruct (decide (i = j)) as [->|Hne].
      - destruct (intends l !! j) as [x|] eqn:Hx.
        + exists l, x, l. split; [apply rtc_refl|]. split; [done|by constructor].
        + exists (with_intent l j true), true, (with_intent l j true). split; [|split; [done|]].
          * apply rtc_once. exists (Participant j), None. split; [by left|]. split; [by constructor|done].
          * constructor; [done|]. simpl. apply lookup_insert.
      - exists l, false, (with_usurped l j). split; [apply rtc_refl|]. split; [done|by constructor]. }
    assert (write_once (h j ++ [Writes x])) as HW1.
    { apply write_once_more; [done|by intros r; apply Hu| |].
      - intros v [Hv|[r Hv]]; by apply elem_of_list_singleton in Hv.
      - intros r [?|[?|[? ?]]]; done. }
    assert (write_once ((h j ++ [Writes x]) ++ [Wrote x])) as HW2.
    { apply write_once_more; [done| | |].
      - intros r [Hin|Hin%elem_of_list_singleton]%elem_of_app; [by eapply Hu|done].
      - intros v [Hv|[r Hv]]; apply elem_of_list_singleton in Hv; [|done]. injection Hv as ->. split; [set_solver|].
        intros w [Hw|[Hw|[r Hw]]]%told_app; [by destruct (holds_none _ w Hh)|by apply elem_of_list_singleton in Hw..].
      - intros r [?|[?|[? ?]]]; done. }
    exists l2, (record_at (record_at h j (Writes x)) j (Wrote x)). split_and!; try done.
    - eapply rtc_transitive; [exact Hr|]. apply (rtc_l _ _ (l2, record_at h j (Writes x))); [|apply rtc_once].
      + exists (Participant i), (Some (j, Writes x)). split_and!; [by left|done|done|done].
      + exists Register, (Some (j, Wrote x)). split_and!; [by right; right|by constructor|by simpl; rewrite recorded|done].
    - intros a. destruct (decide (j = a)) as [<-|]; [by rewrite !recorded|by rewrite !recorded_elsewhere].
    - apply untrimmed_more; [apply untrimmed_more|]; [done|congruence..].
    - eauto using told_more.
    - exists x. rewrite recorded, told_app. right. left. by apply elem_of_list_singleton. }
  destruct (IH l1 h1) as (l2 & h2 & Hr2 & Hs2 & HO2 & Hu2 & Ht2 & Hall); try done.
  { destruct Hs1 as (Eb & Ed & _). simpl in *. by rewrite Eb, Ed. }
  { destruct Hs1 as (_ & _ & El & _). by rewrite El. }
  { set_solver. }
  exists l2, h2. split_and!; [by etrans|..]; try done; eauto.
  - unfold same in *. intuition congruence.
  - intros k [->|Hk]%elem_of_cons; [|by apply Hall]. eauto.
Qed.

Lemma some_follows h : (∀ j, j ∈ members → ∃ v, told (h j) v) → ∃ o, follows h o.
Proof.
  intros Hall.
  destruct (decide (set_Forall (λ j, holds (h j) = Some true) members)) as [Hy|Hn].
  - exists true. intros j Hj. by apply holds_told, Hy.
  - exists false. apply not_set_Forall_Exists in Hn; [|apply _]. destruct Hn as (j & Hj & Hx).
    exists j. split; [done|]. destruct (Hall j Hj) as [v Hv]. apply told_holds in Hv as [[] Hw]; [done|].
    by apply holds_told.
Qed.

Lemma tx_not_blocked l h i :
  tx_run l h → untrimmed h → i ∈ members → active l (Participant i) → learned l !! i = None →
  ∃ l' h', rtc (helped i) (l, h) (l', h') ∧ learned l' !! i ≠ None.
Proof.
  intros [HO HI]%tx_inv_run Hu Him Hi Hl.
  destruct (settle i (elements members) l h) as (l1 & h1 & Hr & Hs & _ & _ & _ & Hall); try done.
  destruct (some_follows h1) as [o Ho]; [intros j Hj; apply Hall; set_solver|].
  destruct Hs as (Eb & Ed & El & Ev & Eu).
  assert (active l1 (Participant i)) as Hi1 by (simpl in *; by rewrite Eb, Ed).
  assert (learned l1 !! i = None) as Hl1 by by rewrite El.
  destruct (decide (tells = true → unmanaged l1 = true)) as [Ht|Ht].
  - exists (with_learned l1 i o), h1. split; [|simpl; by rewrite lookup_insert].
    eapply rtc_r; [done|]. exists (Participant i), None. split_and!; [by left|by constructor|done].
  - assert (unmanaged l1 = false) as Hm by (destruct (unmanaged l1); [by destruct Ht|done]).
    destruct (verdict l1) as [p|] eqn:Hp.
    + exists (with_learned l1 i p), h1. split; [|simpl; by rewrite lookup_insert].
      eapply rtc_r; [exact Hr|]. exists Manager, None. split_and!; [by right; left|by constructor|done].
    + exists (with_learned (with_verdict l1 o) i o), h1. split; [|simpl; by rewrite lookup_insert].
      eapply rtc_transitive; [exact Hr|]. apply (rtc_l _ _ (with_verdict l1 o, h1)); [|apply rtc_once].
      * exists Manager, None. split_and!; [by right; left|by constructor|done].
      * exists Manager, None. split_and!; [by right; left|by constructor|done].
Qed.
End tx.

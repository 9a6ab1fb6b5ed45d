(** * The histories of a write-once register are those of specs/lib/WriteOnce.tla

    The module as a transition system, action by action, and what its users see of
    it: each history that is [write_once], with reads that are called and return
    once, is one of the module's. *)
From stdpp Require Import prelude gmap.
From ashlar.worm.layers Require Import space.

Section writeonce.
Context {value : Type} `{Countable value}.

(** What a read returns: unwritten, trimmed, or a value. *)
Notation answer := (option (option value)).
Notation unwritten := (None : answer).
Notation trimmed := (Some None : answer).

Record writeonce := WriteOnceState {
  w_value : option value;
  w_trimmed : bool;
  w_wanted : gset value;                (* what clients wanted to write before the trim *)
  w_done : gset value;                  (* what writers were told that it is written *)
  w_may : gmap nat (gset answer);       (* per read that goes on: what it may return *)
  w_got : gmap nat answer;              (* what a read has returned *)
}.
Definition writeonce_start : writeonce := WriteOnceState None false ∅ ∅ ∅ ∅.

Definition current (v : option value) (t : bool) : answer :=
  if t then trimmed else match v with Some x => Some (Some x) | None => unwritten end.

(** What a read may return after a step to [v] and [t], if it was [M] before. *)
Definition grow (v : option value) (t : bool) (M : gset answer) : gset answer :=
  M ∪ {[current v t]} ∪
  match v with Some x => if decide (unwritten ∈ M) then {[Some (Some x)]} else ∅ | None => ∅ end.

Inductive writeonce_move :=
  | WAsk (v : value) | WWrite (v : value) | WAcknowledge (v : value) | WTrim
  | WBegin (r : nat) | WEnd (r : nat) (x : answer).

Definition writeonce_allowed (s : writeonce) (m : writeonce_move) : Prop :=
  match m with
  | WAsk _ => w_trimmed s = false
  | WWrite v => w_value s = None ∧ v ∈ w_wanted s
  | WAcknowledge v => w_value s = Some v
  | WTrim => True
  | WBegin r => w_may s !! r = None ∧ w_got s !! r = None
  | WEnd r x => x ∈ default ∅ (w_may s !! r)
  end.

Definition writeonce_effect (s : writeonce) (m : writeonce_move) : writeonce :=
  match m with
  | WAsk v => WriteOnceState (w_value s) (w_trimmed s) ({[v]} ∪ w_wanted s) (w_done s) (w_may s) (w_got s)
  | WWrite v => WriteOnceState (Some v) (w_trimmed s) (w_wanted s) (w_done s) (grow (Some v) (w_trimmed s) <$> w_may s) (w_got s)
  | WAcknowledge v => WriteOnceState (w_value s) (w_trimmed s) (w_wanted s) ({[v]} ∪ w_done s) (w_may s) (w_got s)
  | WTrim => WriteOnceState (w_value s) true (w_wanted s) (w_done s) (grow (w_value s) true <$> w_may s) (w_got s)
  | WBegin r =>
      WriteOnceState (w_value s) (w_trimmed s) (w_wanted s) (w_done s)
        (<[r := {[current (w_value s) (w_trimmed s)]}]> (w_may s)) (w_got s)
  | WEnd r x => WriteOnceState (w_value s) (w_trimmed s) (w_wanted s) (w_done s) (delete r (w_may s)) (<[r := x]> (w_got s))
  end.

Global Instance writeonce_allowed_dec s m : Decision (writeonce_allowed s m).
Proof. destruct m; simpl; apply _. Defined.

(** What users see of a move. *)
Definition sees (m : writeonce_move) : list (event value) :=
  match m with
  | WAsk v => [Writes v]
  | WAcknowledge v => [Wrote v]
  | WBegin r => [Reads r]
  | WEnd r None => [ReadNothing r]
  | WEnd r (Some None) => [ReadTrimmed r]
  | WEnd r (Some (Some v)) => [Read r v]
  | WWrite _ | WTrim => []
  end.

(** A run with what users see.  To ask for a write after a trim is no step of the
    module's. *)
Inductive writeonce_run : list (event value) → writeonce → Prop :=
  | run_start : writeonce_run [] writeonce_start
  | run_move h s m : writeonce_run h s → writeonce_allowed s m → writeonce_run (h ++ sees m) (writeonce_effect s m)
  | run_late h s v : writeonce_run h s → w_trimmed s = true → writeonce_run (h ++ [Writes v]) s.

(** Reads are called once and return once. *)
Definition once_each (h : list (event value)) : Prop :=
  (∀ h1 h2 r, h = h1 ++ Reads r :: h2 → Reads r ∉ h1) ∧
  (∀ h1 h2 r e e', h = h1 ++ e :: h2 → returns r e → e' ∈ h1 → ¬ returns r e').

Lemma write_once_prefix (h : list (event value)) e : write_once (h ++ [e]) → write_once h.
Proof.
  intros HW. split.
  - intros v w Hv Hw. eapply (one _ HW); rewrite told_app; by left.
  - intros h1 h2 v -> Hv. eapply (asked _ HW h1 (h2 ++ [e])); [by rewrite app_assoc|done].
  - intros h1 h2 r v -> Hv Hin. eapply (lasting _ HW h1 (h2 ++ [e]) r v); [by rewrite <- app_assoc|done|set_solver].
  - intros h1 h2 r r' x -> Hr Hx. eapply (gone _ HW h1 (h2 ++ [e]) r r' x); [by rewrite <- app_assoc|done|set_solver].
  - intros h1 h2 r v -> Hr Hv. eapply (over _ HW h1 (h2 ++ [e]) r v); [by rewrite app_assoc|done|]. rewrite told_app. by left.
  - intros h1 h2 r x -> Hx. eapply (called _ HW h1 (h2 ++ [e]) r x); [by rewrite <- app_assoc|done].
Qed.

Lemma once_each_prefix (h : list (event value)) e : once_each (h ++ [e]) → once_each h.
Proof.
  intros [H1 H2]. split.
  - intros h1 h2 r ->. apply (H1 h1 (h2 ++ [e])). by rewrite <- app_assoc.
  - intros h1 h2 r x y ->. apply (H2 h1 (h2 ++ [e])). by rewrite <- app_assoc.
Qed.

Definition no_trim (h : list (event value)) : Prop := ∀ q, ReadTrimmed q ∉ h.

Definition trimmed_in (h : list (event value)) : bool :=
  existsb (λ e, match e with ReadTrimmed _ => true | _ => false end) h.

Lemma trimmed_in_app h1 h2 : trimmed_in (h1 ++ h2) = trimmed_in h1 || trimmed_in h2.
Proof. apply existsb_app. Qed.

Lemma trimmed_in_no h : trimmed_in h = false ↔ no_trim h.
Proof.
  unfold no_trim. induction h as [|e h IH]; simpl; [split; [intros _ q ?%elem_of_nil; done|done]|].
  rewrite orb_false_iff, IH. setoid_rewrite not_elem_of_cons. destruct e; naive_solver.
Qed.

Lemma trimmed_in_yes h : trimmed_in h = true → ∃ q, ReadTrimmed q ∈ h.
Proof.
  induction h as [|e h IH]; simpl; [done|]. intros [E|E]%orb_true_iff.
  - destruct e; try done. eexists. apply elem_of_list_here.
  - destruct (IH E) as [q ?]. exists q. by apply elem_of_list_further.
Qed.

(** What the state says of the history, when the register holds [v], and is trimmed
    if [t]. *)
Record agrees (h : list (event value)) (v : option value) (t : bool) (s : writeonce) : Prop := Agrees {
  a_value : w_value s = v;
  a_trimmed : w_trimmed s = t;
  a_wanted : ∀ h1 h2 x, h = h1 ++ h2 → no_trim h1 → Writes x ∈ h1 → x ∈ w_wanted s;
  a_open : ∀ h1 h2 r, h = h1 ++ Reads r :: h2 → (∀ e, e ∈ h → ¬ returns r e) →
    ∃ M, w_may s !! r = Some M ∧ current v t ∈ M ∧
      (no_trim h1 → ((∀ x, ¬ told h1 x) → unwritten ∈ M) ∧ ∀ x, v = Some x → Some (Some x) ∈ M);
  a_new : ∀ r, Reads r ∉ h → w_may s !! r = None ∧ w_got s !! r = None;
}.

Lemma agrees_write h t s x : holds h = None → agrees h None t s → agrees h (Some x) t (writeonce_effect s (WWrite x)).
Proof.
  intros Hh [Hv Ht Hw Ho Hn]. split; simpl; try done.
  - intros h1 h2 r E Hr. destruct (Ho h1 h2 r E Hr) as (M & HM & Hc & Hp).
    exists (grow (Some x) (w_trimmed s) M). rewrite lookup_fmap, HM, Ht. unfold grow. split_and!; [done|set_solver|].
    intros Hno. destruct (Hp Hno) as [Hu _]. split; [intros; set_solver|].
    intros y [= <-]. rewrite decide_True; [set_solver|]. apply Hu. intros y Hy. apply (holds_none h y Hh).
    rewrite E, told_app. by left.
  - intros r Hr. rewrite lookup_fmap. destruct (Hn r Hr) as [-> ?]. done.
Qed.

Lemma agrees_trim h v t s : agrees h v t s → agrees h v true (writeonce_effect s WTrim).
Proof.
  intros [Hv Ht Hw Ho Hn]. split; simpl; try done.
  - intros h1 h2 r E Hr. destruct (Ho h1 h2 r E Hr) as (M & HM & Hc & Hp).
    exists (grow (w_value s) true M). rewrite lookup_fmap, HM. unfold grow. split_and!; [done|set_solver|].
    intros Hno. destruct (Hp Hno) as [Hu Hx]. split; intros; set_solver.
  - intros r Hr. rewrite lookup_fmap. destruct (Hn r Hr) as [-> ?]. done.
Qed.

(** An event that is no call of a read and no write before a trim. *)
Lemma agrees_event h v t s e s' :
  agrees h v t s → w_value s' = v → w_trimmed s' = t → w_wanted s ⊆ w_wanted s' →
  (∀ x, e = Writes x → no_trim h → x ∈ w_wanted s') → (∀ r, e ≠ Reads r) →
  (∀ r, ¬ returns r e → w_may s' !! r = w_may s !! r ∧ w_got s' !! r = w_got s !! r) →
  (∀ r, returns r e → Reads r ∈ h) →
  agrees (h ++ [e]) v t s'.
Proof.
  intros [Hv Ht Hw Ho Hn] Hv' Ht' Hsub Hask Hread Hsame Hret. split; try done.
  - intros h1 h2 x [(-> & ->)|(h2' & -> & E)]%snoc_split_any Hno Hin; [|apply Hsub; by eapply Hw].
    apply elem_of_app in Hin as [Hin|Hin%elem_of_list_singleton].
    + apply Hsub. eapply (Hw h []); [by rewrite app_nil_r| |done]. intros q Hq. apply (Hno q). set_solver.
    + apply Hask; [done|]. intros q Hq. apply (Hno q). set_solver.
  - intros h1 h2 r [(-> & <- & ->)|(h2' & -> & E)]%snoc_split Hr; [by destruct (Hread r)|].
    destruct (Hsame r) as [-> _]; [apply Hr; set_solver|]. eapply Ho; [done|]. intros e' He'. apply Hr. set_solver.
  - intros r Hr. assert (Reads r ∉ h) as Hr' by set_solver. destruct (Hsame r) as [-> ->]; [|by apply Hn].
    intros Hre. by apply Hr', Hret.
Qed.

Lemma run_silent h s m : writeonce_run h s → writeonce_allowed s m → sees m = [] → writeonce_run h (writeonce_effect s m).
Proof. intros Hr Hm E. rewrite <- (app_nil_r h), <- E. by constructor. Qed.

(** The register takes the value that is told. *)
Lemma run_told h s t x e :
  writeonce_run h s → agrees h (holds h) t s → t = trimmed_in h → write_once (h ++ [e]) → told [e] x →
  ∃ s', writeonce_run h s' ∧ agrees h (Some x) t s' ∧ holds (h ++ [e]) = Some x.
Proof.
  intros Hr Ha -> HW Hx.
  assert (holds (h ++ [e]) = Some x) as E by (apply held; [done|]; rewrite told_app; by right).
  rewrite E. rewrite holds_snoc in E. destruct (holds h) as [y|] eqn:Eh.
  { injection E as ->. by exists s. }
  exists (writeonce_effect s (WWrite x)). split_and!; [|by apply agrees_write|done].
  apply run_silent; [done| |done]. split; [apply Ha|].
  assert (Writes x ∈ h) as Hin.
  { assert (Writes x ∈ h ++ [e]) as Hin.
    { eapply (asked _ HW (h ++ [e]) []); [by rewrite app_nil_r|]. rewrite told_app. by right. }
    apply elem_of_app in Hin as [?|Hin%elem_of_list_singleton]; [done|]. subst e.
    destruct Hx as [Hx|[r Hx]]; by apply elem_of_list_singleton in Hx. }
  destruct (trimmed_in h) eqn:Et.
  - (* before the first trim *)
    assert (∃ h1 q h2, h = h1 ++ ReadTrimmed q :: h2 ∧ no_trim h1) as (h1 & q & h2 & Eh' & Hno).
    { clear -Et. induction h as [|e h IH]; [done|]. destruct e; simpl in Et;
        try (destruct (IH Et) as (h1 & q & h2 & -> & Hno); eexists (_ :: h1), q, h2; split; [reflexivity|];
             intros p [Hp|Hp]%elem_of_cons; [done|by apply (Hno p)]).
      exists [], r, h. split; [done|]. by intros p ?%elem_of_nil. }
    assert (Writes x ∈ h1 ++ [ReadTrimmed q]) as [Hw|Hw%elem_of_list_singleton]%elem_of_app; [| |done].
    { eapply (over _ HW (h1 ++ [ReadTrimmed q]) (h2 ++ [e]) q); [|set_solver|].
      - rewrite Eh'. by rewrite <- !app_assoc.
      - rewrite told_app. by right. }
    by eapply (a_wanted _ _ _ _ Ha).
  - eapply (a_wanted _ _ _ _ Ha h []); [by rewrite app_nil_r|by apply trimmed_in_no|done].
Qed.

(** A read that returns goes on until then. *)
Lemma called_open h v t s r e :
  agrees h v t s → write_once (h ++ [e]) → once_each (h ++ [e]) → returns r e →
  ∃ h1 h2 M, h = h1 ++ Reads r :: h2 ∧ w_may s !! r = Some M ∧ current v t ∈ M ∧
    (no_trim h1 → ((∀ x, ¬ told h1 x) → unwritten ∈ M) ∧ ∀ x, v = Some x → Some (Some x) ∈ M).
Proof.
  intros Ha HW [_ HE] Hr. assert (Reads r ∈ h) as Hin by by eapply (called _ HW h []).
  apply elem_of_list_split in Hin as (h1 & h2 & E). destruct (a_open _ _ _ _ Ha h1 h2 r E) as (M & ? & ? & ?).
  - intros e' He'. by eapply (HE h []).
  - by exists h1, h2, M.
Qed.

Lemma once_is_writeonce h :
  write_once h → once_each h → ∃ s, writeonce_run h s ∧ agrees h (holds h) (trimmed_in h) s.
Proof.
  induction h as [|e h IH] using rev_ind; intros HW HE.
  { exists writeonce_start. split; [constructor|]. split; simpl; try done.
    - intros h1 h2 x E _ Hin. symmetry in E. apply app_eq_nil in E as [-> _]. by apply elem_of_nil in Hin.
    - intros h1 h2 r E. by destruct h1. }
  destruct IH as (s & Hr & Ha); [by eapply write_once_prefix|by eapply once_each_prefix|].
  assert ((∀ q, e ≠ ReadTrimmed q) → trimmed_in (h ++ [e]) = trimmed_in h) as Et.
  { intros Hq. rewrite trimmed_in_app. destruct e as [| | | | |q]; simpl; rewrite ?orb_false_r; try done. by destruct (Hq q). }
  destruct e as [x|x|r|r x|r|r].
  - (* a write is called *)
    rewrite holds_snoc, Et by done. replace (match holds h with Some v => Some v | None => _ end) with (holds h) by by destruct (holds h).
    destruct (trimmed_in h) eqn:E.
    + exists s. split; [constructor; [done|apply Ha]|]. eapply agrees_event; try done; try apply Ha.
      * intros y _ Hno. apply trimmed_in_no in Hno. congruence.
      * intros r [?|[?|[? ?]]]; done.
    + exists (writeonce_effect s (WAsk x)). split; [apply (run_move _ _ (WAsk x)); [done|apply Ha]|].
      eapply agrees_event; try done; try apply Ha; simpl.
      * set_solver.
      * intros y [= <-] _. set_solver.
      * intros r [?|[?|[? ?]]]; done.
  - (* and returns *)
    destruct (run_told h s (trimmed_in h) x (Wrote x)) as (s' & Hr' & Ha' & E); try done; [left; apply elem_of_list_here|].
    exists (writeonce_effect s' (WAcknowledge x)). split; [apply (run_move _ _ (WAcknowledge x)); [done|apply Ha']|].
    rewrite E, Et by done. eapply agrees_event; try done; try apply Ha'. intros r [?|[?|[? ?]]]; done.
  - (* a read is called *)
    assert (Reads r ∉ h) as Hnew by (destruct HE as [HE _]; by eapply (HE h [])).
    rewrite holds_snoc, Et by done. replace (match holds h with Some v => Some v | None => _ end) with (holds h) by by destruct (holds h).
    exists (writeonce_effect s (WBegin r)). split; [apply (run_move _ _ (WBegin r)); [done|by apply (a_new _ _ _ _ Ha)]|].
    destruct Ha as [Hv Ht Hw Ho Hn]. split; simpl; try done.
    + intros h1 h2 x [(-> & ->)|(h2' & -> & E)]%snoc_split_any Hno Hin; [|by eapply Hw].
      apply elem_of_app in Hin as [Hin|Hin%elem_of_list_singleton]; [|done].
      eapply (Hw h []); [by rewrite app_nil_r| |done]. intros q Hq. apply (Hno q). set_solver.
    + intros h1 h2 q [(-> & [= <-] & ->)|(h2' & -> & E)]%snoc_split Hq.
      * rewrite lookup_insert. eexists. split; [done|]. rewrite Hv, Ht. split; [set_solver|].
        intros Hno. apply trimmed_in_no in Hno. rewrite Hno. split.
        -- intros Hnt. destruct (holds h) as [x|] eqn:E; [by destruct (Hnt x); apply holds_told|]. simpl. set_solver.
        -- intros x ->. simpl. set_solver.
      * rewrite lookup_insert_ne by (intros ->; apply Hnew; rewrite E; set_solver).
        eapply Ho; [done|]. intros e He. apply Hq. set_solver.
    + intros q Hq. rewrite lookup_insert_ne by set_solver. apply Hn. set_solver.
  - (* it returns a value *)
    destruct (run_told h s (trimmed_in h) x (Read r x)) as (s' & Hr' & Ha' & E); try done; [right; exists r; apply elem_of_list_here|].
    assert (returns r (Read r x)) as Hret by (right; right; eauto).
    destruct (called_open h _ _ _ r (Read r x) Ha' HW HE Hret) as (h1 & h2 & M & Eh & HM & _ & Hp).
    assert (no_trim h1) as Hno.
    { intros q Hq. assert (Read r x = ReadTrimmed r); [|done].
      eapply (gone _ HW h1 (h2 ++ [Read r x]) r q); [by rewrite Eh, <- app_assoc|done|set_solver|done]. }
    exists (writeonce_effect s' (WEnd r (Some (Some x)))). split.
    + apply (run_move _ _ (WEnd r (Some (Some x)))); [done|]. simpl. rewrite HM. simpl. by apply (Hp Hno).
    + rewrite E, Et by done. eapply agrees_event; try done; try apply Ha'; simpl.
      * intros q Hq. assert (r ≠ q) by (intros ->; done). by rewrite lookup_delete_ne, lookup_insert_ne.
      * intros q [?|[?|[? [= -> ->]]]]; [done..|]. rewrite Eh. set_solver.
  - (* nothing *)
    assert (returns r (ReadNothing (value := value) r)) as Hret by by left.
    destruct (called_open h _ _ _ r _ Ha HW HE Hret) as (h1 & h2 & M & Eh & HM & _ & Hp).
    assert (no_trim h1) as Hno.
    { intros q Hq. assert (ReadNothing (value := value) r = ReadTrimmed r); [|done].
      eapply (gone _ HW h1 (h2 ++ [ReadNothing r]) r q); [by rewrite Eh, <- app_assoc|done|set_solver|done]. }
    rewrite holds_snoc, Et by done. replace (match holds h with Some v => Some v | None => _ end) with (holds h) by by destruct (holds h).
    exists (writeonce_effect s (WEnd r None)). split.
    + apply (run_move _ _ (WEnd r None)); [done|]. simpl. rewrite HM. simpl. apply (Hp Hno).
      intros x Hx. eapply (lasting _ HW h1 (h2 ++ [ReadNothing r]) r x); [by rewrite Eh, <- app_assoc|done|set_solver].
    + eapply agrees_event; try done; try apply Ha; simpl.
      * intros q Hq. assert (r ≠ q) by (intros ->; done). by rewrite lookup_delete_ne, lookup_insert_ne.
      * intros q [[= ->]|[?|[? ?]]]; [|done..]. rewrite Eh. set_solver.
  - (* or that the register is trimmed *)
    assert (returns r (ReadTrimmed (value := value) r)) as Hret by (right; by left).
    apply agrees_trim in Ha as Ha'.
    destruct (called_open h _ _ _ r _ Ha' HW HE Hret) as (h1 & h2 & M & Eh & HM & Hc & _).
    exists (writeonce_effect (writeonce_effect s WTrim) (WEnd r (Some None))). split.
    + apply (run_move _ _ (WEnd r (Some None))); [by apply run_silent|]. unfold writeonce_allowed. rewrite HM. exact Hc.
    + rewrite holds_snoc, trimmed_in_app, orb_true_r.
      replace (match holds h with Some v => Some v | None => _ end) with (holds h) by by destruct (holds h).
      eapply agrees_event; try done; try apply Ha'.
      * intros q Hq. assert (r ≠ q) by (intros ->; done). simpl. by rewrite lookup_delete_ne, lookup_insert_ne.
      * intros q [?|[[= ->]|[? ?]]]; [done| |done]. rewrite Eh. set_solver.
Qed.
End writeonce.

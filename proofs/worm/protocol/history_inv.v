(** * The histories of the protocol are those of a write-once register *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export history register_inv.

(** A history with one more event is split within the old one, or at its end. *)
Lemma snoc_split {A} (h h1 h2 : list A) e x :
  h ++ [e] = h1 ++ x :: h2 →
  (h1 = h ∧ x = e ∧ h2 = []) ∨ ∃ h2', h2 = h2' ++ [e] ∧ h = h1 ++ x :: h2'.
Proof.
  destruct h2 as [|y h2'] using rev_ind; intros E.
  - apply app_inj_tail in E as [-> ->]. by left.
  - right. rewrite app_comm_cons, app_assoc in E. apply app_inj_tail in E as [-> ->]. eauto.
Qed.

Lemma snoc_split_any {A} (h h1 h2 : list A) e :
  h ++ [e] = h1 ++ h2 → (h1 = h ++ [e] ∧ h2 = []) ∨ ∃ h2', h2 = h2' ++ [e] ∧ h = h1 ++ h2'.
Proof.
  destruct h2 as [|y h2'] using rev_ind; intros E.
  - rewrite app_nil_r in E. by left.
  - right. rewrite app_assoc in E. apply app_inj_tail in E as [-> ->]. eauto.
Qed.

Lemma told_snoc {value} (h : list (event value)) e v :
  told (h ++ [e]) v → told h v ∨ e = Wrote v ∨ ∃ r, e = Read r v.
Proof.
  intros [Hw|(r & Hr)]; [apply elem_of_app in Hw as [?|Hw]|apply elem_of_app in Hr as [?|Hr]];
    rewrite ?elem_of_list_singleton in *; unfold told; naive_solver.
Qed.

Section history_inv.
Context `{Countable server} {value : Type} `{EqDecision value}.
Context (σ : setting server) (Hσ : sound σ).
Implicit Types (s : state server value) (h : list (event value)).

(** What the messages say of a history. *)
Record hinv (s : state server value) (h : list (event value)) : Prop := HInv {
  h_inv : inv σ s;
  h_told : ∀ v, told h v → decided σ s v;
  h_writes : ∀ b v, Proposed b v ∈ sent s → Writes v ∈ h;
  h_question : ∀ r, Question r ∈ sent s → Reads r ∈ h;
  h_shown : ∀ a r x, Shown a r x ∈ sent s → Question r ∈ sent s;
  (* what was told before a read began was decided by servers that do not show
     nothing to it *)
  h_before : ∀ h1 h2 r v, h = h1 ++ Reads r :: h2 → told h1 v →
    ∃ b Q, quorum σ b Q ∧ ∀ a, a ∈ Q → Accepted a b v ∈ sent s ∧ Shown a r None ∉ sent s;
  (* when a trim was seen a majority had the tombstone, and accepts nothing since *)
  h_trimmed : ∀ h1 h2 r, h = h1 ++ h2 → ReadTrimmed r ∈ h1 →
    ∃ T, majority σ T ∧ ∀ a, a ∈ T → trimmed (servers s a) = true ∧
      ∀ b v, Accepted a b v ∈ sent s → Writes v ∈ h1;
  (* nor does it show anything to a read that began then *)
  h_tombs : ∀ h1 h2 r r', h = h1 ++ Reads r :: h2 → ReadTrimmed r' ∈ h1 →
    ∃ T, majority σ T ∧ ∀ a, a ∈ T → trimmed (servers s a) = true ∧
      ∀ x, Shown a r x ∉ sent s;
}.

Lemma hinv_start : hinv init [].
Proof.
  split; simpl; try (by apply inv_init); try (intros; set_solver).
  - intros v [Hv|(r & Hv)]; set_solver.
  - intros [] ? ? ? [=].
  - intros h1 h2 r E Hr. symmetry in E. apply app_eq_nil in E as [-> _]. set_solver.
  - intros [] ? ? ? [=].
Qed.

(** A read that nobody has called was shown nothing. *)
Lemma uncalled_unshown s h r a x : hinv s h → Reads r ∉ h → Shown a r x ∉ sent s.
Proof. intros HI Hr Hs. by eapply Hr, h_question, h_shown. Qed.

(** ** Steps of the protocol *)

Local Ltac by_move m := destruct m as [a0 b0|b0 v0 Q0 f0|v0|a0 b0 v0|r0|a0 r0|a0 r0 b0 v0|a0|a0].

Lemma shown_fresh s m a r x :
  Shown a r x ∈ sent (effect s m) → Shown a r x ∈ sent s ∨
  m = Show a r ∧ x = accepted (servers s a).
Proof. intros Hs. by_move m; simpl in Hs; apply elem_of_cons in Hs as [Hs|Hs]; simplify_eq; auto. Qed.

Lemma accepted_fresh s m a b v :
  Accepted a b v ∈ sent (effect s m) → Accepted a b v ∈ sent s ∨ m = Accept a b v.
Proof. intros Hs. by_move m; simpl in Hs; apply elem_of_cons in Hs as [Hs|Hs]; simplify_eq; auto. Qed.

Lemma hinv_inside s h m :
  hinv s h → allowed σ s m → called_for h m → hinv (effect s m) h.
Proof.
  intros HI Hg Hc. pose proof (h_inv _ _ HI) as HI'. split.
  - by apply inv_step.
  - intros v Hv. eapply decided_mono; [by exists m|]. by eapply h_told.
  - intros b v Hp. by_move m; simpl in Hp; apply elem_of_cons in Hp as [Hp|Hp]; simplify_eq;
      try (by eapply h_writes); try done.
    simpl in Hg. apply (shown_accepted _ s HI'), (votes_proposed _ s HI') in Hg. by eapply h_writes.
  - intros r Hq. by_move m; simpl in Hq; apply elem_of_cons in Hq as [Hq|Hq]; simplify_eq;
      try (by eapply h_question); done.
  - intros a r x Hs. apply sent_mono. apply shown_fresh in Hs as [Hs|[-> ->]]; [by eapply h_shown|]. apply Hg.
  - intros h1 h2 r v E Ht. destruct (h_before _ _ HI h1 h2 r v E Ht) as (b & Q & HQ & Hall).
    exists b, Q. split; [done|]. intros a Ha. destruct (Hall a Ha) as (Hv & Hno). split; [by apply sent_mono|].
    intros [Hs|[-> Hx]]%shown_fresh; [done|]. destruct Hg as (_ & _ & Hserves).
    destruct (memory_highest _ s HI' a b v Hserves Hv) as (k & u & Hk & _). by rewrite Hk in Hx.
  - intros h1 h2 r E Ht. destruct (h_trimmed _ _ HI h1 h2 r E Ht) as (T & HT & Hall).
    exists T. split; [done|]. intros a Ha. destruct (Hall a Ha) as (Htr & Hno). split; [by eapply step_trimmed|].
    intros b v [Hv| ->]%accepted_fresh; [by eapply Hno|]. destruct Hg as (_ & (_ & ?) & _). congruence.
  - intros h1 h2 r r' E Ht. destruct (h_tombs _ _ HI h1 h2 r r' E Ht) as (T & HT & Hall).
    exists T. split; [done|]. intros a Ha. destruct (Hall a Ha) as (Htr & Hno). split; [by eapply step_trimmed|].
    intros x [Hs|[-> Hx]]%shown_fresh; [by eapply Hno|]. destruct Hg as (_ & _ & ?). congruence.
Qed.

(** ** Events *)

(** An event that is no call of a read, and tells only what is decided and
    buried. *)
Lemma hinv_event s h e :
  hinv s h →
  (∀ r, e = Reads r → Reads r ∉ h) →
  (∀ v, e = Wrote v ∨ (∃ r, e = Read r v) → decided σ s v) →
  (∀ r, e = ReadTrimmed r → ∃ T, majority σ T ∧ ∀ a, a ∈ T → trimmed (servers s a) = true) →
  hinv s (h ++ [e]).
Proof.
  intros HI Hfresh Htold Htrim. split.
  - apply HI.
  - intros v [Hv|Hv]%told_snoc; [by eapply h_told|auto].
  - intros b v Hp. apply elem_of_app. left. by eapply h_writes.
  - intros r Hq. apply elem_of_app. left. by eapply h_question.
  - apply HI.
  - intros h1 h2 r v [(-> & <- & ->)|(h2' & -> & E)]%snoc_split Ht; [|by eapply h_before].
    destruct (h_told _ _ HI v Ht) as (b & Q & HQ & Hall). exists b, Q. split; [done|].
    intros a Ha. split; [auto|]. by eapply uncalled_unshown, Hfresh.
  - intros h1 h2 r [(-> & ->)|(h2' & -> & E)]%snoc_split_any Ht; [|by eapply h_trimmed].
    assert (∃ T, majority σ T ∧ ∀ a, a ∈ T → trimmed (servers s a) = true) as (T & HT & Hall).
    { apply elem_of_app in Ht as [Ht|Ht%elem_of_list_singleton]; [|by eapply Htrim].
      destruct (h_trimmed _ _ HI h [] r) as (T & HT & Hall); [by rewrite app_nil_r|done|].
      exists T. split; [done|]. intros a Ha. by apply Hall. }
    exists T. split; [done|]. intros a Ha. split; [auto|]. intros b v Hv.
    apply elem_of_app. left. eapply h_writes, votes_proposed; [done|apply HI|done].
  - intros h1 h2 r r' [(-> & <- & ->)|(h2' & -> & E)]%snoc_split Ht; [|by eapply h_tombs].
    destruct (h_trimmed _ _ HI h [] r') as (T & HT & Hall); [by rewrite app_nil_r|done|].
    exists T. split; [done|]. intros a Ha. split; [by apply Hall|]. intros x.
    by eapply uncalled_unshown, Hfresh.
Qed.

(** What a client may return is decided, or buried. *)
Lemma justified_decided s h e v :
  hinv s h → justified σ s e → e = Wrote v ∨ (∃ r, e = Read r v) → decided σ s v.
Proof.
  intros HI Hj [->|(r & ->)]; [done|]. destruct Hj as (b & Q & HQ & Hall). exists b, Q. split; [done|].
  intros a Ha. eapply shown_accepted; [apply HI|]. by apply Hall.
Qed.

Lemma justified_trimmed s h e r :
  hinv s h → justified σ s e → e = ReadTrimmed r →
  ∃ T, majority σ T ∧ ∀ a, a ∈ T → trimmed (servers s a) = true.
Proof.
  intros HI Hj ->. destruct Hj as (_ & T & HT & Hall). exists T. split; [done|].
  intros a Ha. eapply buried_trimmed; [apply HI|]. by apply Hall.
Qed.

(** ** The history is one of a write-once register *)

Lemma hinv_one s h v w : hinv s h → told h v → told h w → v = w.
Proof. intros HI Hv Hw. eapply agreement; [done|apply HI|by eapply h_told..]. Qed.

Lemma hinv_asked s h v : hinv s h → told h v → Writes v ∈ h.
Proof.
  intros HI Hv. destruct (h_told _ _ HI v Hv) as (b & Hb). eapply h_writes; [done|].
  eapply decided_proposed; [done|apply HI|done].
Qed.

Lemma hinv_over s h h1 h2 r v :
  hinv s h → h = h1 ++ h2 → ReadTrimmed r ∈ h1 → told h v → Writes v ∈ h1.
Proof.
  intros HI E Hr Hv. destruct (h_trimmed _ _ HI h1 h2 r E Hr) as (T & HT & Hall).
  destruct (h_told _ _ HI v Hv) as (b & Q & HQ & HQv).
  destruct (quorum_majority σ b Q T Hσ HQ HT) as (a & HaQ & HaT).
  by eapply Hall, HQv.
Qed.

(** What a read returns, at the moment when it does. *)
Lemma justified_not_nothing s h h1 h2 r v :
  hinv s h → h = h1 ++ Reads r :: h2 → told h1 v → ¬ justified σ s (ReadNothing r).
Proof.
  intros HI E Ht (R & HR & HRall). destruct (h_before _ _ HI h1 h2 r v E Ht) as (b & Q & HQ & Hall).
  destruct (quorum_majority σ b Q R Hσ HQ HR) as (a & HaQ & HaR). by apply (Hall a HaQ), HRall.
Qed.

Lemma justified_gone s h h1 h2 r r' e :
  hinv s h → h = h1 ++ Reads r :: h2 → ReadTrimmed r' ∈ h1 → justified σ s e → returns r e →
  e = ReadTrimmed r.
Proof.
  intros HI E Ht Hj Hr. destruct (h_tombs _ _ HI h1 h2 r r' E Ht) as (T & HT & Hall).
  destruct Hr as [->|[->|(v & ->)]]; [|done|]; exfalso.
  - destruct Hj as (R & HR & HRall). destruct (majority_meets σ Hσ T R HT HR) as (a & HaT & HaR).
    by eapply Hall, HRall.
  - destruct Hj as (b & Q & HQ & HQall). destruct (quorum_majority σ b Q T Hσ HQ HT) as (a & HaQ & HaT).
    by eapply Hall, HQall.
Qed.

Lemma justified_called s h r e : hinv s h → justified σ s e → returns r e → Reads r ∈ h.
Proof.
  intros HI Hj Hr. eapply h_question; [done|].
  destruct Hr as [->|[->|(v & ->)]].
  - destruct Hj as (Q & HQ & Hall). destruct (majority_meets σ Hσ Q Q HQ HQ) as (a & Ha & _).
    by eapply h_shown, Hall.
  - apply Hj.
  - destruct Hj as (b & Q & HQ & Hall). destruct (quorum_meets σ b Q Q Hσ HQ HQ) as (a & Ha & _).
    by eapply h_shown, Hall.
Qed.

Definition good (x : system server value) : Prop :=
  hinv (core x) (history x) ∧ write_once (history x).

(** One more event keeps the history one of a write-once register. *)
Lemma write_once_event s h e :
  hinv s (h ++ [e]) → write_once h →
  (∀ r h1 h2 v, h = h1 ++ Reads r :: h2 → told h1 v → e ≠ ReadNothing r) →
  (∀ r r' h1 h2, h = h1 ++ Reads r :: h2 → ReadTrimmed r' ∈ h1 → returns r e → e = ReadTrimmed r) →
  (∀ r, returns r e → Reads r ∈ h) →
  write_once (h ++ [e]).
Proof.
  intros HI HW Hnothing Hgone Hcalled. split.
  - intros v w. by eapply hinv_one.
  - intros h1 h2 v [(-> & ->)|(h2' & -> & E)]%snoc_split_any Ht; [by eapply hinv_asked|by eapply asked].
  - intros h1 h2 r v [(-> & <- & ->)|(h2' & -> & E)]%snoc_split Ht; [set_solver|].
    intros [Hin|Hin%elem_of_list_singleton]%elem_of_app; [by eapply lasting|by eapply Hnothing].
  - intros h1 h2 r r' e' [(-> & <- & ->)|(h2' & -> & E)]%snoc_split Ht Hin Hr; [set_solver|].
    apply elem_of_app in Hin as [Hin|Hin%elem_of_list_singleton]; [by eapply gone|]. subst e'. by eapply Hgone.
  - intros h1 h2 r v E Hr Ht. by eapply hinv_over.
  - intros h1 h2 r e' [(-> & -> & ->)|(h2' & -> & E)]%snoc_split Hr; [auto|by eapply called].
Qed.

Lemma good_step x y : good x → system_step σ x y → good y.
Proof.
  intros [HI HW] Hstep. destruct Hstep as [s h v|s h r Hr|s h m Hg Hc|s h e Hj]; simpl in *.
  - assert (hinv s (h ++ [Writes v])) as HI'.
    { apply hinv_event; [done|done| |done]. intros u [|(r & ?)]; done. }
    split; [done|]. eapply write_once_event; [done|done|done| |]; intros ?; unfold returns; naive_solver.
  - assert (hinv s (h ++ [Reads r])) as HI'.
    { apply hinv_event; [done| | |done]; [by intros r' [= ->]|]. intros u [|(r' & ?)]; done. }
    split; [done|]. eapply write_once_event; [done|done|done| |]; intros ?; unfold returns; naive_solver.
  - split; [by apply hinv_inside|done].
  - assert (hinv s (h ++ [e])) as HI'.
    { apply hinv_event; [done| |by intros; eapply justified_decided|by intros; eapply justified_trimmed].
      intros r ->. done. }
    split; [done|]. eapply write_once_event; [done|done| | |].
    + intros r h1 h2 v E Ht ->. exact (justified_not_nothing s h h1 h2 r v HI E Ht Hj).
    + intros r r' h1 h2 E Ht Hr. exact (justified_gone s h h1 h2 r r' e HI E Ht Hj Hr).
    + intros r Hr. exact (justified_called s h r e HI Hj Hr).
Qed.

Lemma write_once_init : write_once ([] : list (event value)).
Proof.
  split.
  - intros v w [Hv|(r & Hv)]; set_solver.
  - intros h1 h2 v E Ht. symmetry in E. apply app_eq_nil in E as [-> _]. destruct Ht as [Ht|(r & Ht)]; set_solver.
  - intros [] ? ? ? [=].
  - intros [] ? ? ? ? [=].
  - intros h1 h2 r v E Hr. symmetry in E. apply app_eq_nil in E as [-> _]. set_solver.
  - intros [] ? ? ? [=].
Qed.

Lemma good_reachable (x : system server value) : rtc (system_step σ) start x → good x.
Proof.
  intros Hr. remember (start : system server value) as x0 eqn:E.
  assert (good x0) as HG by (subst; split; [apply hinv_start|apply write_once_init]). clear E.
  induction Hr as [|x y z Hxy _ IH]; [done|]. by eapply IH, good_step.
Qed.

Lemma hinv_reachable s h : rtc (system_step σ) start (System s h) → hinv s h.
Proof. by intros [? _]%good_reachable. Qed.

Lemma register_write_once (x : system server value) :
  rtc (system_step σ) start x → write_once (history x).
Proof. by intros [_ ?]%good_reachable. Qed.

End history_inv.

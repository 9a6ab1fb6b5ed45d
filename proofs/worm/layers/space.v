(** * What stands on write-once registers

    An address space of registers, as those who build on it see it: for each
    address the history of its register, of which nothing is known but that it is
    one of a write-once register (history.v).  A layer is a set of clients that call
    and return on such registers; its proofs use nothing else, neither servers nor
    ballots nor messages.  The last part of this file puts a layer on the registers
    of internal/worm/paxos and internal/worm/fast: what it does there, it does on
    the interface. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export history durable.

(** ** What a register is known to hold *)

Section holds.
Context {value : Type}.
Implicit Types h : list (event value).

(** The first value that a client was told. *)
Fixpoint holds h : option value :=
  match h with
  | [] => None
  | (Wrote v | Read _ v) :: _ => Some v
  | _ :: h' => holds h'
  end.

Lemma told_app h1 h2 v : told (h1 ++ h2) v ↔ told h1 v ∨ told h2 v.
Proof. unfold told. setoid_rewrite elem_of_app. naive_solver. Qed.

Lemma told_cons e h v : told (e :: h) v ↔ told [e] v ∨ told h v.
Proof. apply (told_app [e] h). Qed.

Lemma holds_told h v : holds h = Some v → told h v.
Proof.
  induction h as [|[] h IH]; simpl; try done; intros E; rewrite told_cons; auto; simplify_eq;
    left; [left|right; eexists]; apply elem_of_list_here.
Qed.

Lemma told_holds h v : told h v → ∃ w, holds h = Some w.
Proof.
  induction h as [|e h IH]; [intros [H|[r H]]; by apply elem_of_nil in H|].
  rewrite told_cons. intros [[H|[r H]]|H]; [apply elem_of_list_singleton in H; subst; simpl; eauto..|].
  destruct e; simpl; eauto.
Qed.

Lemma holds_none h v : holds h = None → ¬ told h v.
Proof. intros E [w Ew]%told_holds. congruence. Qed.

Lemma holds_app h1 h2 v : holds h1 = Some v → holds (h1 ++ h2) = Some v.
Proof. induction h1 as [|[] h1 IH]; simpl; naive_solver. Qed.

Lemma holds_snoc h e : holds (h ++ [e]) = match holds h with Some v => Some v | None => holds [e] end.
Proof. induction h as [|[] h IH]; simpl; done. Qed.

Lemma held h v : write_once h → told h v → holds h = Some v.
Proof.
  intros HW Ht. destruct (told_holds h v Ht) as [w E]. rewrite E. f_equal.
  eapply one; eauto using holds_told.
Qed.

Lemma held_asked h v : write_once h → holds h = Some v → Writes v ∈ h.
Proof. intros HW E. apply (asked h HW h [] v); [by rewrite app_nil_r|by apply holds_told]. Qed.

Lemma write_once_nil : write_once ([] : list (event value)).
Proof.
  assert (∀ v, ¬ told ([] : list (event value)) v) as N.
  { intros v [E|[r E]]; by apply elem_of_nil in E. }
  split.
  - intros v w Hv. by destruct (N v).
  - intros h1 h2 v E Ht. symmetry in E. apply app_eq_nil in E as [-> ->]. by destruct (N v).
  - intros h1 h2 r v E. by destruct h1.
  - intros h1 h2 r r' e E. by destruct h1.
  - intros h1 h2 r v E HR. symmetry in E. apply app_eq_nil in E as [-> ->]. by apply elem_of_nil in HR.
  - intros h1 h2 r e E. by destruct h1.
Qed.

(** Calls of writes, and their returns where nothing was trimmed, are always possible. *)
Lemma write_once_more h e :
  write_once h → (∀ r, ReadTrimmed r ∉ h) →
  (∀ v, told [e] v → Writes v ∈ h ∧ ∀ w, told h w → w = v) → (∀ r, ¬ returns r e) →
  write_once (h ++ [e]).
Proof.
  intros HW Hno Ht Hr. split.
  - intros v w. rewrite !told_app. intros [Hv|Hv] [Hw|Hw].
    + by eapply one.
    + symmetry. destruct (Ht w Hw) as [_ U]. symmetry. by apply U.
    + destruct (Ht v Hv) as [_ U]. symmetry. by apply U.
    + destruct Hv as [Hv|[? Hv]], Hw as [Hw|[? Hw]]; apply elem_of_list_singleton in Hv, Hw; congruence.
  - intros h1 h2 v [(-> & ->)|(h2' & -> & E)]%snoc_split_any; [|by eapply asked].
    rewrite told_app, elem_of_app. intros [Hv|Hv]; left; [|by apply Ht].
    eapply (asked _ HW h []); [by rewrite app_nil_r|done].
  - intros h1 h2 r v [(-> & <- & ->)|(h2' & -> & E)]%snoc_split Hv; [set_solver|].
    intros [Hin|Hin%elem_of_list_singleton]%elem_of_app; [by eapply lasting|].
    apply (Hr r). left. done.
  - intros h1 h2 r r' e' [(-> & <- & ->)|(h2' & -> & E)]%snoc_split HR Hin Hret; [set_solver|].
    apply elem_of_app in Hin as [Hin|Hin%elem_of_list_singleton]; [by eapply gone|]. subst e'. by destruct (Hr r).
  - intros h1 h2 r v E HR _. exfalso.
    assert (ReadTrimmed r ∈ h ++ [e]) as [HR'|HR'%elem_of_list_singleton]%elem_of_app by (rewrite E; set_solver).
    + by apply (Hno r).
    + apply (Hr r). right. by left.
  - intros h1 h2 r e' [(-> & -> & ->)|(h2' & -> & E)]%snoc_split Hret; [by destruct (Hr r)|by eapply called].
Qed.
End holds.

(** ** A layer on the interface *)

Section layer.
Context {addr : Type} `{EqDecision addr} {value local : Type}.

Definition space := addr → list (event value).
Definition untouched : space := λ _, [].
Definition record_at (h : space) (a : addr) (e : event value) : space := <[a := h a ++ [e]]> h.

Lemma recorded h a e : record_at h a e a = h a ++ [e].
Proof. apply fn_lookup_insert. Qed.
Lemma recorded_elsewhere h a b e : a ≠ b → record_at h a e b = h b.
Proof. apply fn_lookup_insert_ne. Qed.

(** What the clients of a layer may do: a step of their own, or an event, a call or
    a return, at an address.  They may act on whatever one of them was told: what
    one client learns from a register it may report to the others. *)
Definition moving := local → space → option (addr * event value) → local → Prop.
Context (moves : moving).

Inductive layer_step : local * space → local * space → Prop :=
  | layer_alone l h l' : moves l h None l' → layer_step (l, h) (l', h)
  | layer_event l h l' a e :
      moves l h (Some (a, e)) l' → write_once (h a ++ [e]) → layer_step (l, h) (l', record_at h a e).

Definition layer_run (l0 : local) (l : local) (h : space) : Prop := rtc layer_step (l0, untouched) (l, h).

(** Every property that all steps keep holds for ever, and so do the registers. *)
Lemma layer_invariant (P : local → space → Prop) l0 :
  P l0 untouched →
  (∀ l h l', (∀ a, write_once (h a)) → P l h → moves l h None l' → P l' h) →
  (∀ l h l' a e, (∀ b, write_once (h b)) → P l h → moves l h (Some (a, e)) l' → write_once (h a ++ [e]) →
    P l' (record_at h a e)) →
  ∀ l h, layer_run l0 l h → (∀ a, write_once (h a)) ∧ P l h.
Proof.
  intros H0 Halone Hevent l h Hr. unfold layer_run in Hr.
  remember (l0, untouched) as x eqn:Ex. remember (l, h) as y eqn:Ey.
  assert ((∀ a, write_once (x.2 a)) ∧ P x.1 x.2) as Hx.
  { subst x. split; [intros; apply write_once_nil|done]. }
  assert ((∀ a, write_once (y.2 a)) ∧ P y.1 y.2) as Hy; [|by subst y].
  clear Ex Ey. induction Hr as [|x y z Hs _ IH]; [done|]. apply IH.
  destruct Hs as [l1 h1 l2 Hm|l1 h1 l2 a e Hm HW]; simpl in *; destruct Hx as [HO HP].
  - split; [done|]. by eapply Halone.
  - split; [|by eapply Hevent]. intros b. destruct (decide (a = b)) as [<-|].
    + by rewrite recorded.
    + by rewrite recorded_elsewhere.
Qed.

(** What was told stays true. *)
Lemma told_for_ever l h l' h' a v : rtc layer_step (l, h) (l', h') → told (h a) v → told (h' a) v.
Proof.
  intros Hr. remember (l, h) as x eqn:Ex. remember (l', h') as y eqn:Ey.
  assert (told (x.2 a) v → told (y.2 a) v); [|by subst].
  clear Ex Ey. induction Hr as [|x y z Hs _ IH]; [done|]. intros Ht. apply IH.
  destruct Hs as [|? h1 ? b e]; simpl in *; [done|]. destruct (decide (b = a)) as [<-|].
  - rewrite recorded, told_app. by left.
  - by rewrite recorded_elsewhere.
Qed.

(** ** A specification that a layer keeps to *)

(** Each step of the layer is one of the specification's, or none, and at every
    moment the two look alike. *)
Definition keeps_to {spec : Type} (step : spec → spec → Prop) (alike : local → space → spec → Prop)
    (l0 : local) (s0 : spec) : Prop :=
  ∃ rel : local * space → spec → Prop,
    rel (l0, untouched) s0 ∧
    (∀ l h s, rel (l, h) s → alike l h s) ∧
    (∀ x y s, rel x s → layer_step x y → ∃ s', (s' = s ∨ step s s') ∧ rel y s').

(** It is enough to look at each step from where the registers and an invariant hold. *)
Lemma keeps_to_intro {spec : Type} (step : spec → spec → Prop) (alike : local → space → spec → Prop)
    (P : local → space → Prop) l0 s0 :
  (∀ l h, layer_run l0 l h → P l h) → alike l0 untouched s0 →
  (∀ l h l' s, P l h → alike l h s → moves l h None l' → ∃ s', (s' = s ∨ step s s') ∧ alike l' h s') →
  (∀ l h l' a e s, (∀ b, write_once (h b)) → P l h → alike l h s → moves l h (Some (a, e)) l' →
    write_once (h a ++ [e]) → ∃ s', (s' = s ∨ step s s') ∧ alike l' (record_at h a e) s') →
  keeps_to step alike l0 s0.
Proof.
  intros HP H0 Halone Hevent.
  exists (λ x s, (layer_run l0 x.1 x.2 ∧ (∀ b, write_once (x.2 b))) ∧ alike x.1 x.2 s). split; [|split].
  - split; [|done]. split; [apply rtc_refl|]. intros; apply write_once_nil.
  - by intros l h s [_ ?].
  - intros x y s [[Hr HO] Ha] Hs.
    assert (layer_run l0 y.1 y.2) as Hr'.
    { destruct x, y. eapply rtc_r; [exact Hr|done]. }
    destruct Hs as [l h l' Hm|l h l' a e Hm HW]; simpl in *.
    + destruct (Halone l h l' s (HP _ _ Hr) Ha Hm) as (s' & ? & ?). by exists s'.
    + destruct (Hevent l h l' a e s HO (HP _ _ Hr) Ha Hm HW) as (s' & ? & ?). exists s'. split; [done|]. split; [split; [done|]|done].
      intros b. destruct (decide (a = b)) as [<-|].
      * by rewrite recorded.
      * rewrite recorded_elsewhere by done. apply HO.
Qed.

End layer.
Arguments space : clear implicits.
Arguments moving : clear implicits.

(** ** A layer on the registers of servers that crash *)

Section stack.
Context {addr : Type} `{EqDecision addr} {value local : Type} `{EqDecision value} `{Countable server}.
(* Each register may have servers and quorums of its own. *)
Context (σ : addr → setting server) (moves : moving addr value local).
Notation registers := (addr → dsystem server value).

(** The layer takes a step; or it calls or returns, which the register must allow;
    or a register goes on by itself: messages, servers, crashes. *)
Inductive stack_step : local * space addr value * registers → local * space addr value * registers → Prop :=
  | stack_alone l h d l' : moves l h None l' → stack_step (l, h, d) (l', h, d)
  | stack_event l h d l' a e x :
      moves l h (Some (a, e)) l' → dstep (σ a) (d a) x → past x = past (d a) ++ [e] →
      stack_step (l, h, d) (l', record_at h a e, <[a := x]> d)
  | stack_inside l h d a x :
      dstep (σ a) (d a) x → past x = past (d a) → stack_step (l, h, d) (l, h, <[a := x]> d).

Definition stack_run (l0 l : local) (h : space addr value) (d : registers) : Prop :=
  rtc stack_step (l0, untouched, λ _, dstart) (l, h, d).

(** Each register has gone through the history that the layer saw. *)
Definition standing (x : local * space addr value * registers) : Prop :=
  ∀ a, rtc (dstep (σ a)) dstart (x.2 a) ∧ x.1.2 a = past (x.2 a).

Lemma stack_layer_step x y :
  (∀ a, sound (σ a)) → stack_step x y → standing x → rtc (layer_step moves) x.1 y.1 ∧ standing y.
Proof.
  intros Hσ Hs Ha.
  destruct Hs as [l1 h1 d1 l2 Hm|l1 h1 d1 l2 a e u Hm Hd He|l1 h1 d1 a u Hd He]; unfold standing in *; simpl in *.
  - split; [|done]. apply rtc_once. by constructor.
  - destruct (Ha a) as [Hrun Hp].
    assert (rtc (dstep (σ a)) dstart u) as Hu by by eapply rtc_r.
    split.
    + apply rtc_once. constructor; [done|]. rewrite Hp, <- He. by eapply durable_write_once.
    + intros b. destruct (decide (a = b)) as [<-|].
      * rewrite fn_lookup_insert, recorded. split; [done|]. by rewrite Hp.
      * rewrite fn_lookup_insert_ne, recorded_elsewhere by done. apply Ha.
  - split; [apply rtc_refl|]. intros b. destruct (decide (a = b)) as [<-|].
    + rewrite fn_lookup_insert. destruct (Ha a) as [Hrun Hp]. split; [by eapply rtc_r|congruence].
    + rewrite fn_lookup_insert_ne by done. apply Ha.
Qed.

Lemma stack_layer_steps x y :
  (∀ a, sound (σ a)) → rtc stack_step x y → standing x → rtc (layer_step moves) x.1 y.1 ∧ standing y.
Proof.
  intros Hσ. induction 1 as [x|x y z Hs _ IH]; intros Hx; [by split|].
  destruct (stack_layer_step x y Hσ Hs Hx) as [H1 Hy]. destruct (IH Hy). split; [by etrans|done].
Qed.

Lemma stack_stands l0 l h d : (∀ a, sound (σ a)) → stack_run l0 l h d → layer_run moves l0 l h ∧ standing (l, h, d).
Proof. intros Hσ Hr. apply (stack_layer_steps _ _ Hσ Hr). intros a. split; [apply rtc_refl|done]. Qed.

Lemma stack_is_layer l0 l h d : (∀ a, sound (σ a)) → stack_run l0 l h d → layer_run moves l0 l h.
Proof. intros Hσ Hr. by apply (stack_stands _ _ _ _ Hσ Hr). Qed.

(** What goes on in the stack goes on on the interface. *)
Lemma stack_goes_on l0 l h d l' h' d' :
  (∀ a, sound (σ a)) → stack_run l0 l h d → rtc stack_step (l, h, d) (l', h', d') →
  rtc (layer_step moves) (l, h) (l', h').
Proof. intros Hσ Hr Hs. apply (stack_layer_steps _ _ Hσ Hs). by apply (stack_stands _ _ _ _ Hσ Hr). Qed.
End stack.

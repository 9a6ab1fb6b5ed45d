(** * Dedalus: instances, messages, and what clients see

    A system is some instances, each with its rules.  Messages are only added, so that each
    may be late, lost, copied and overtaken.  What clients give comes once, but that of some
    relations may come again, as a client sends it again, or the network copies it.  Clients see what
    they give and what they hear, and nothing else: so an output may be heard at any moment
    after it was sent, and again, and never; clients cannot see ticks without output.
    One system refines another one if all that clients see of it, in order, they
    might see of the other.  Nothing is said of what must happen at some time. *)
From stdpp Require Import prelude strings gmap gmultiset functions.
From ashlar.dedalus Require Import lang.

(** [addr] is the node to which messages go, [self] the node that the instance stands for. *)
Record instance := Instance { addr : value; self : value; rules : component }.

Record system := System {
  instances : list instance;
  facts : gset fact;           (* those of static relations *)
  statics : gset string;       (* static relations *)
  inputs : gset string;        (* relations that clients send *)
  outputs : gset string;       (* relations that clients hear *)
  timers : gset string;        (* relations that hold in a tick as they like *)
  durables : gset string;      (* relations whose facts survive a crash *)
  mortals : gset value;        (* nodes that may crash *)
  route : message → option message; (* where a message goes; None is that it is lost *)
}.

(** The relations that rules read. *)
Definition read_by (r : rule) : list string :=
  omap (λ l, match l with Has a | Lacks a => Some (rel a) | _ => None end) (body r).
Definition reads (c : component) : list string :=
  concat (read_by <$> concat (strata c) ++ nexts c ++ asyncs c).

Record state := State {
  carried : value → gset fact;    (* what each node carries to its next tick *)
  sent : gset message;
  waiting : gmultiset message;    (* what clients gave, and no tick has taken *)
}.

Definition start : state := State (λ _, ∅) ∅ ∅.

Inductive event := Give (m : message) | Hear (m : message).

Section system.
  Context (fns : string → row → option value) (rounds : nat).
  Context (again : gset string).   (* inputs that may come more often than they were given *)
  Context (Σ : system).

  Definition routed (M : gset message) : gset message := list_to_set (omap (route Σ) (elements M)).

  (** What may come in to an instance in a tick: messages, timers, and what clients gave, all
      of [I], which is there no more then. *)
  Definition arrives (s : state) (i : instance) (A : gset fact) (I : gmultiset message) : Prop :=
    I ⊆ waiting s ∧
    (∀ m, m ∈ I → m.1 = addr i ∧ m.2 ∈ A) ∧
    ∀ f, f ∈ A → f.1 ∈ reads (rules i) ∧ f.1 ∉ statics Σ ∧
      ((addr i, f) ∈ sent s ∨ (addr i, f) ∈ I ∨ f.1 ∈ timers Σ ∧ f.2 = []).

  (** All that holds in a tick. *)
  Definition tick (i : instance) (c A : gset fact) : gset fact :=
    now fns (self i) rounds (rules i) (facts Σ ∪ c ∪ A).

  Definition survives (c : gset fact) : gset fact := filter (λ f, f.1 ∈ durables Σ) c.

  Inductive step (s : state) : option event → state → Prop :=
    | step_give m :
        m.2.1 ∈ inputs Σ →
        step s (Some (Give m)) (State (carried s) (sent s) (waiting s ⊎ {[+ m +]}))
    | step_hear m :
        m ∈ sent s → m.2.1 ∈ outputs Σ → step s (Some (Hear m)) s
    | step_tick i A I :
        i ∈ instances Σ → arrives s i A I →
        let G := tick i (carried s (addr i)) A in
        step s None (State
          (<[addr i := carried_on fns (self i) (rules i) G]> (carried s))
          (sent s ∪ routed (sends fns (self i) (rules i) G)) (waiting s ∖ I))
    | step_crash i :
        i ∈ instances Σ → addr i ∈ mortals Σ →
        step s None (State (<[addr i := survives (carried s (addr i))]> (carried s)) (sent s) (waiting s))
    | step_crash_in_tick i A I :  (* messages have left, and the disk has nothing of it *)
        i ∈ instances Σ → addr i ∈ mortals Σ → arrives s i A I →
        let G := tick i (carried s (addr i)) A in
        step s None (State
          (<[addr i := survives (carried s (addr i))]> (carried s))
          (sent s ∪ routed (sends fns (self i) (rules i) G)) (waiting s ∖ I))
    | step_again m :
        m ∈ waiting s → m.2.1 ∈ again →
        step s None (State (carried s) (sent s) (waiting s ⊎ {[+ m +]})).

  (** [seen s l s']: clients see [l] while the system goes from [s] to [s']. *)
  Inductive seen (s : state) : list event → state → Prop :=
    | seen_nil : seen s [] s
    | seen_silent s1 l s2 : step s None s1 → seen s1 l s2 → seen s l s2
    | seen_event e s1 l s2 : step s (Some e) s1 → seen s1 l s2 → seen s (e :: l) s2.

  Definition behaves (l : list event) : Prop := ∃ s, seen start l s.
End system.

(** All that clients see of [Σ'] they might see of [Σ], whatever functions give, and whichever
    inputs may come again. *)
Definition refines (Σ' Σ : system) : Prop :=
  ∀ fns rounds again l, behaves fns rounds again Σ' l → behaves fns rounds again Σ l.

Lemma refines_trans Σ1 Σ2 Σ3 : refines Σ1 Σ2 → refines Σ2 Σ3 → refines Σ1 Σ3.
Proof. intros H1 H2 fns n w l Hl. by apply H2, H1. Qed.

(** *** Simulations *)
Lemma seen_app fns n w Σ s l s1 k s2 :
  seen fns n w Σ s l s1 → seen fns n w Σ s1 k s2 → seen fns n w Σ s (l ++ k) s2.
Proof.
  intros Hl Hk. induction Hl as [s|s s1 l s3 Hs _ IH|s e s1 l s3 Hs _ IH]; [done| |].
  - eapply seen_silent; [exact Hs|by apply IH].
  - eapply seen_event; [exact Hs|by apply IH].
Qed.

Lemma seen_step fns n w Σ s e s1 : step fns n w Σ s e s1 → seen fns n w Σ s (option_list e) s1.
Proof. intros H. destruct e; (eapply seen_event || eapply seen_silent); try exact H; constructor. Qed.

(** A relation that each step of [Σ'] keeps, where [Σ] takes some steps, or none, that show the
    same, is enough.  Inputs may come again in the one, and others in the other. *)
Lemma simulation_with_steps fns n w' w Σ' Σ (R : state → state → Prop) :
  R start start →
  (∀ s' s e s1', R s' s → step fns n w' Σ' s' e s1' → ∃ s1, seen fns n w Σ s (option_list e) s1 ∧ R s1' s1) →
  ∀ l, behaves fns n w' Σ' l → behaves fns n w Σ l.
Proof.
  intros H0 Hstep l [t' Hl].
  assert (∀ s' s t' l, R s' s → seen fns n w' Σ' s' l t' → ∃ t, seen fns n w Σ s l t) as H; [|exact (H _ _ _ _ H0 Hl)].
  clear Hl. intros s' s u' k HR Hk. revert s HR. induction Hk as [s'|s' s1' l' s2' Hs _ IH|s' e s1' l' s2' Hs _ IH]; intros s HR.
  - eexists. constructor.
  - destruct (Hstep _ _ _ _ HR Hs) as (s1&Hs1&HR1). destruct (IH _ HR1) as [t Ht].
    exists t. exact (seen_app _ _ _ _ _ _ _ _ _ Hs1 Ht).
  - destruct (Hstep _ _ _ _ HR Hs) as (s1&Hs1&HR1). destruct (IH _ HR1) as [t Ht].
    exists t. exact (seen_app _ _ _ _ _ _ _ _ _ Hs1 Ht).
Qed.

Lemma simulation_of fns n w Σ' Σ (R : state → state → Prop) :
  R start start →
  (∀ s' s e s1', R s' s → step fns n w Σ' s' e s1' → ∃ s1, step fns n w Σ s e s1 ∧ R s1' s1) →
  ∀ l, behaves fns n w Σ' l → behaves fns n w Σ l.
Proof.
  intros H0 Hstep. apply (simulation_with_steps _ _ _ _ _ _ R); [done|]. intros s' s e s1' HR Hs.
  destruct (Hstep _ _ _ _ HR Hs) as (s1&Hs1&HR1). exists s1. split; [by apply seen_step|done].
Qed.

(** More inputs that may come again, and nodes that may crash, only allow more. *)
Lemma behaves_again fns n w' w Σ l : w' ⊆ w → behaves fns n w' Σ l → behaves fns n w Σ l.
Proof.
  intros Hw. revert l. apply (simulation_with_steps _ _ _ _ _ _ eq); [done|]. intros s' s e s1' <- Hs. exists s1'. split; [|done].
  apply seen_step. destruct Hs; [by constructor|by constructor|by apply step_tick|by apply step_crash|
    by eapply step_crash_in_tick|apply step_again; set_solver].
Qed.

(** * Servers that crash

    In register.v a server's state is durable at once.  Here a server answers from
    memory, its records wait in a log that is written now and then, and a reply
    leaves when the records of its request and of all before it are durable.  A
    crash loses the memory and what was not written.  What the users see is the
    same: each moment at which a record becomes durable is the step of register.v.

    Assumed: what is durable is never lost.  A server whose disk is lost or was set
    back must not answer in the name of the old one. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export history history_inv.

Section durable.
Context `{Countable server} {value : Type} `{EqDecision value}.
Context (σ : setting server).

(** A request that a server has handled in memory: the state it led to and the
    reply, of which neither is durable or sent yet. *)
Record handled := Handled {
  request : move server value;
  result : acceptor value;
  reply : message server value;
}.

Record dsystem := DSystem {
  disk : state server value;        (* durable states, and messages that were sent *)
  log : server → list handled;      (* what waits to be written, the oldest first *)
  past : list (event value);        (* the history of the users *)
}.

Definition dstart : dsystem := DSystem init (λ _, []) [].

(** A server's memory: what the last request led to, or what is on its disk. *)
Definition memory (s : state server value) (l : list handled) (a : server) : acceptor value :=
  foldl (λ _ e, result e) (servers s a) l.

(** The state as the server sees it. *)
Definition seen (s : state server value) (a : server) (x : acceptor value) : state server value :=
  State (<[a := x]> (servers s)) (sent s).

(** What a server makes of a request, and what it replies. *)
Definition answer (m : move server value) (x : acceptor value) :
    option (acceptor value * message server value) :=
  match m with
  | Capture a b => Some (Acceptor b (accepted x) false false, Promised a b (accepted x))
  | Accept a b v => Some (Acceptor b (Some (b, v)) false false, Accepted a b v)
  | Show a r => Some (x, Shown a r (accepted x))
  | Seal a => Some (Acceptor (promised x) (accepted x) true (trimmed x), Frozen a (trimmed x) (accepted x))
  | Trim a => Some (Acceptor 0 None false true, Buried a)
  | _ => None
  end.

(** Server [a] takes a request, with the memory [x], and [e] comes of it. *)
Definition handles (s : state server value) (a : server) (x : acceptor value) (e : handled) : Prop :=
  actor (request e) = Some a ∧ allowed σ (seen s a x) (request e) ∧
  answer (request e) x = Some (result e, reply e).

Inductive dstep : dsystem → dsystem → Prop :=
  (* a client calls or returns; a client sends *)
  | dstep_user s l h h' :
      system_step σ (System s h) (System s h') → dstep (DSystem s l h) (DSystem s l h')
  | dstep_send s l h m :
      actor m = None → allowed σ s m → called_for h m →
      dstep (DSystem s l h) (DSystem (effect s m) l h)
  (* a server takes a request that was sent, in memory *)
  | dstep_handle s l h a e :
      handles s a (memory s (l a) a) e →
      dstep (DSystem s l h) (DSystem s (<[a := l a ++ [e]]> l) h)
  (* the oldest record is written, and its reply leaves *)
  | dstep_write s l h a e rest :
      l a = e :: rest →
      dstep (DSystem s l h) (DSystem (put s a (result e) (reply e)) (<[a := rest]> l) h)
  (* a server crashes: a reply that was about to leave may as well be lost *)
  | dstep_crash s l h a :
      dstep (DSystem s l h) (DSystem s (<[a := []]> l) h).

(** ** Each write is a step of register.v *)

(** The log of a server leads from its disk to its memory. *)
Fixpoint leads (s : state server value) (a : server) (x : acceptor value) (l : list handled) : Prop :=
  match l with
  | [] => True
  | e :: l' => handles s a x e ∧ leads s a (result e) l'
  end.

Lemma leads_snoc s a x l e :
  leads s a x l → handles s a (foldl (λ _ e, result e) x l) e → leads s a x (l ++ [e]).
Proof.
  revert x. induction l as [|e' l IH]; intros x; simpl; [done|].
  intros [? Hl] He. split; [done|]. by apply IH.
Qed.

(** A server's step depends on its own state and the messages, and more messages
    do not forbid it. *)
Lemma allowed_local (s s' : state server value) a m :
  actor m = Some a → servers s a = servers s' a → (∀ x, x ∈ sent s → x ∈ sent s') →
  allowed σ s m → allowed σ s' m.
Proof.
  intros Ha Hx Hsub Hg. destruct m; simpl in *; try done; injection Ha as ->; rewrite <- Hx; naive_solver.
Qed.

Lemma handles_more s s' a x e :
  (∀ m, m ∈ sent s → m ∈ sent s') → handles s a x e → handles s' a x e.
Proof.
  intros Hsub (Ha & Hg & He). split; [done|]. split; [|done].
  eapply allowed_local; [done| | |exact Hg]; simpl; [by rewrite !fn_lookup_insert|done].
Qed.

Lemma leads_more s s' a x l :
  (∀ m, m ∈ sent s → m ∈ sent s') → leads s a x l → leads s' a x l.
Proof.
  intros Hsub. revert x. induction l as [|e l IH]; intros x; simpl; [done|].
  intros [? ?]. eauto using handles_more.
Qed.

(** To write a record is the step of register.v that it is for. *)
Lemma write_effect s a e :
  handles s a (servers s a) e →
  allowed σ s (request e) ∧ put s a (result e) (reply e) = effect s (request e).
Proof.
  intros (Ha & Hg & He). split.
  - eapply allowed_local; [done| | |exact Hg]; simpl; [by rewrite fn_lookup_insert|done].
  - destruct e as [m y msg]; simpl in *. destruct m; simpl in *; try done; by simplify_eq.
Qed.

(** The state on the disks, with what was sent, is one that register.v reaches, and
    every log leads on from there. *)
Definition dinv (d : dsystem) : Prop :=
  rtc (system_step σ) start (System (disk d) (past d)) ∧
  ∀ a, leads (disk d) a (servers (disk d) a) (log d a).

Lemma dinv_step d d' : dinv d → dstep d d' → dinv d'.
Proof.
  intros [Hr Hl] Hd. destruct Hd as [s l h h' Hstep|s l h m Ha Hg Hc|s l h a e He|s l h a e rest Hla|s l h a];
    simpl in *.
  - split; simpl; [by eapply rtc_r|done].
  - split; simpl; [by eapply rtc_r; [|apply step_inside]|]. intros a. specialize (Hl a).
    assert (servers (effect s m) = servers s) as -> by by destruct m.
    eapply leads_more; [|done]. intros x. apply sent_mono.
  - split; simpl; [done|]. intros a'. destruct (decide (a = a')) as [<-|].
    + rewrite fn_lookup_insert. by apply leads_snoc.
    + by rewrite fn_lookup_insert_ne.
  - pose proof (Hl a) as Hla'. rewrite Hla in Hla'. destruct Hla' as [He Hrest].
    destruct (write_effect s a e He) as [Hg E]. split; simpl.
    + eapply rtc_r; [done|]. rewrite E. apply step_inside; [done|].
      destruct He as (Ha & _ & _). by destruct (request e).
    + intros a'. destruct (decide (a = a')) as [<-|].
      * rewrite !fn_lookup_insert. eapply leads_more; [|done]. simpl. by right.
      * rewrite !fn_lookup_insert_ne by done. eapply leads_more; [|apply Hl]. simpl. by right.
  - split; simpl; [done|]. intros a'. destruct (decide (a = a')) as [<-|].
    + by rewrite fn_lookup_insert.
    + by rewrite fn_lookup_insert_ne.
Qed.

Lemma dinv_reachable d : rtc dstep dstart d → dinv d.
Proof.
  intros Hr. remember dstart as d0 eqn:E.
  assert (dinv d0) as HD by (subst; split; [done|intros a; done]). clear E.
  induction Hr as [|x y z Hxy _ IH]; [done|]. by eapply IH, dinv_step.
Qed.

Lemma durable_write_once d : sound σ → rtc dstep dstart d → write_once (past d).
Proof. intros Hσ [Hr _]%dinv_reachable. by apply (register_write_once σ Hσ) in Hr. Qed.

Lemma durable_inv d : sound σ → rtc dstep dstart d → inv σ (disk d).
Proof.
  intros Hσ [Hr _]%dinv_reachable. by apply (hinv_reachable σ Hσ) in Hr as [? _].
Qed.

Lemma dsent_mono d d' x : rtc dstep d d' → x ∈ sent (disk d) → x ∈ sent (disk d').
Proof.
  induction 1 as [|d1 d2 d3 Hd _ IH]; [done|]. intros Hx. apply IH.
  destruct Hd; simpl in *; try done; [by apply sent_mono|by apply elem_of_list_further].
Qed.

End durable.
Arguments dsystem _ {_ _} _.

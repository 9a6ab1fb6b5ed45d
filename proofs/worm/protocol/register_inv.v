(** * Why at most one value of a register is ever decided

    The invariant of design section I1 to I5, that each step keeps it, and
    Theorem 1 in the form of states: two values that are decided are one. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export register.

Section register_inv.
Context `{Countable server} {value : Type} `{EqDecision value}.
Context (σ : setting server).
Notation vote := (nat * value)%type.

(** ** The invariant *)

(** Server [a] may still accept at ballot [c]. *)
Definition open (s : state server value) (a : server) (c : nat) : Prop :=
  serves (servers s a) ∧ promised (servers s a) ≤ c ∧ ∀ u, Accepted a c u ∉ sent s.

(** Value [w] is decided at [c], or may still become so. *)
Definition possible (s : state server value) (c : nat) (w : value) : Prop :=
  ∃ Q, quorum σ c Q ∧ ∀ a, a ∈ Q → Accepted a c w ∈ sent s ∨ open s a c.

(** What [a] said of itself, [x], covers all that it accepted below [b], or ever
    will. *)
Definition closed (s : state server value) (a : server) (b : nat) (x : option vote) : Prop :=
  (¬ serves (servers s a) ∨ b ≤ promised (servers s a)) ∧
  (∀ k v, x = Some (k, v) → Accepted a k v ∈ sent s) ∧
  (∀ c w, Accepted a c w ∈ sent s → c < b → ∃ k v, x = Some (k, v) ∧ c ≤ k).

Record inv (s : state server value) : Prop := Inv {
  (* I1: one value per ballot, but for ballot zero with the fast rule *)
  one_value : ∀ b v w, Proposed b v ∈ sent s → Proposed b w ∈ sent s →
    b ≠ 0 ∨ fast σ = None → v = w;
  (* I1': a server accepts one value per ballot *)
  one_vote : ∀ a b v w, Accepted a b v ∈ sent s → Accepted a b w ∈ sent s → v = w;
  (* I2: what is accepted was proposed *)
  votes_proposed : ∀ a b v, Accepted a b v ∈ sent s → Proposed b v ∈ sent s;
  (* I3: a server's memory is true *)
  memory_promised : ∀ a k v, accepted (servers s a) = Some (k, v) → k ≤ promised (servers s a);
  memory_accepted : ∀ a k v, accepted (servers s a) = Some (k, v) → Accepted a k v ∈ sent s;
  memory_highest : ∀ a c w, trimmed (servers s a) = false → Accepted a c w ∈ sent s →
    ∃ k v, accepted (servers s a) = Some (k, v) ∧ c ≤ k;
  (* I4: promises are true, and kept *)
  promises_closed : ∀ a b x, Promised a b x ∈ sent s → closed s a b x;
  (* I5: below a proposal no other value is or will be decided *)
  proposals_safe : ∀ b v c w, Proposed b v ∈ sent s → c < b → possible s c w → w = v;
  (* what readers and reconfigurers are shown was accepted *)
  shown_accepted : ∀ a r k v, Shown a r (Some (k, v)) ∈ sent s → Accepted a k v ∈ sent s;
  frozen_closed : ∀ a x, Frozen a false x ∈ sent s →
    sealed (servers s a) = true ∧ trimmed (servers s a) = false ∧ accepted (servers s a) = x;
  frozen_trimmed : ∀ a x, Frozen a true x ∈ sent s → trimmed (servers s a) = true;
  buried_trimmed : ∀ a, Buried a ∈ sent s → trimmed (servers s a) = true;
}.

(** ** Steps only add *)

Lemma sent_mono (s : state server value) (m : move server value) x : x ∈ sent s → x ∈ sent (effect s m).
Proof. destruct m; simpl; intros; by apply elem_of_list_further. Qed.

Lemma decided_mono (s s' : state server value) v : step σ s s' → decided σ s v → decided σ s' v.
Proof.
  intros (m & _ & ->) (b & Q & HQ & Hall). exists b, Q. split; [done|].
  intros a Ha. apply sent_mono, Hall, Ha.
Qed.

(** Case analysis of a message that is in the state after a step. *)
Local Tactic Notation "sent_cases" hyp(H) :=
  simpl in H; apply elem_of_cons in H as [H|H]; [try discriminate H|].

Local Ltac at_server a a0 :=
  destruct (decide (a = a0)) as [->|];
  [rewrite ?fn_lookup_insert in *|rewrite ?fn_lookup_insert_ne in * by done].

(** A server that may accept at [c] after a step might have done so before, and
    what it accepted since it might have accepted. *)
Lemma possible_mono (s : state server value) m c w :
  inv s → allowed σ s m → possible (effect s m) c w → possible s c w.
Proof.
  intros HI Hg (Q & HQ & Hall). exists Q. split; [done|]. intros a Ha.
  assert (Hopen : open (effect s m) a c → open s a c).
  { intros (Hs & Hp & Hno).
    assert (∀ u, Accepted a c u ∉ sent s) by (intros u Hu; by eapply Hno, sent_mono).
    destruct m as [a0 b0|b0 v0 Q0 f0|v0|a0 b0 v0|r0|a0 r0|a0 r0 b0 v0|a0|a0]; simpl in *; try done;
      unfold serves in *; at_server a a0; try done; simpl in *; split_and!; naive_solver lia. }
  destruct (Hall a Ha) as [Hacc|Ho]; [|right; auto].
  destruct m as [a0 b0|b0 v0 Q0 f0|v0|a0 b0 v0|r0|a0 r0|a0 r0 b0 v0|a0|a0]; sent_cases Hacc; auto.
  injection Hacc as -> -> ->. destruct Hg as (_ & Hs & Hp & Hno). right. split; [done|]. split; [done|].
  intros u Hu. destruct (memory_highest s HI a0 b0 u) as (k & v & Hk & Hle); [apply Hs|done|].
  pose proof (memory_promised s HI _ _ _ Hk). assert (k = b0) as -> by lia. by apply (Hno v).
Qed.

(** ** The choice of a value is safe

    [Q] said [f], which covers all below [b].  A capture and a seal both use this. *)
Section choice.
Context (s : state server value) (b : nat) (Q : gset server) (f : server → option vote).
Context (Hσ : sound σ) (HI : inv s) (HQ : majority σ Q).
Context (Hcl : ∀ a, a ∈ Q → closed s a b (f a)).

(** Whoever of [Q] is in a quorum for [w] has voted for it, and said so. *)
Lemma voter_said c w a :
  c < b → a ∈ Q → Accepted a c w ∈ sent s ∨ open s a c →
  Accepted a c w ∈ sent s ∧ ∃ k u, f a = Some (k, u) ∧ c ≤ k.
Proof.
  intros Hc Ha Hw. destruct (Hcl a Ha) as (Hend & _ & Hcov).
  destruct Hw as [Hv|(Hs & Hp & _)]; [|destruct Hend; [done|lia]].
  split; [done|]. destruct (Hcov c w Hv Hc) as (k & u & ? & ?); eauto.
Qed.

(** A quorum meets [Q]. *)
Lemma quorum_in c G : quorum σ c G → ∃ a, a ∈ G ∧ a ∈ Q.
Proof.
  intros HG. unfold quorum in HG. destruct (fast σ) as [F|] eqn:HF; [destruct c|].
  - destruct (fast_meets σ Hσ F Q G G) as (a & ? & ? & _); eauto.
  - destruct (majority_meets σ Hσ G Q) as (a & ? & ?); eauto.
  - destruct (majority_meets σ Hσ G Q) as (a & ? & ?); eauto.
Qed.

(** What may be decided below [b] was seen; and at ballot zero with the fast rule
    it may have a fast quorum. *)
Lemma possible_seen c w :
  c < b → possible s c w →
  (∃ a k u, a ∈ Q ∧ Accepted a c w ∈ sent s ∧ f a = Some (k, u) ∧ c ≤ k) ∧
  ∀ F u, fast σ = Some F → highest Q f 0 u → may_be_fast F Q f w.
Proof.
  intros Hc (G & HG & Hall). destruct (quorum_in c G HG) as (a0 & HaG & HaQ).
  destruct (voter_said c w a0 Hc HaQ (Hall a0 HaG)) as (Hv0 & k0 & u0 & Hf0 & Hle0).
  split; [by exists a0, k0, u0|]. intros F u HF (_ & Hmax).
  pose proof (Hmax a0 k0 u0 HaQ Hf0). assert (c = 0) as -> by lia. unfold quorum in HG. rewrite HF in HG.
  exists G. split; [done|]. intros a Ha HaQ'.
  destruct (voter_said 0 w a Hc HaQ' (Hall a Ha)) as (Hv & k & u' & Hf & _).
  pose proof (Hmax a k u' HaQ' Hf). assert (k = 0) as -> by lia.
  destruct (Hcl a HaQ') as (_ & Hvote & _). rewrite Hf. do 2 f_equal.
  eapply one_vote; [done| |exact Hv]. by apply Hvote.
Qed.

(** So the rule allows no other value. *)
Lemma choice_safe v c w : choice σ Q f v → c < b → possible s c w → w = v.
Proof.
  intros Hal Hc Hpos.
  destruct (possible_seen c w Hc Hpos) as ((a0 & k0 & u0 & HaQ & Hv0 & Hf0 & Hle0) & Hfast').
  assert (Hhigh : ∀ k, highest Q f k v → (k ≠ 0 ∨ fast σ = None) → w = v).
  { intros k ((a1 & Ha1 & Hf1) & Hmax) Hk. specialize (Hmax a0 k0 u0 HaQ Hf0).
    destruct (Hcl a1 Ha1) as (_ & Hvote & _). pose proof (Hvote k v Hf1) as Hv1.
    destruct (decide (c < k)).
    - eapply (proposals_safe s HI k v c w); [by eapply votes_proposed|done|done].
    - assert (c = k) as -> by lia.
      eapply (one_value s HI k); [by eapply votes_proposed|by eapply votes_proposed|done]. }
  destruct Hal as [Hnone|Hal]; [by rewrite (Hnone a0 HaQ) in Hf0|].
  destruct (fast σ) as [F|] eqn:HF; [|destruct Hal as (k & Hk); eauto].
  destruct Hal as [(k & Hk0 & Hk)|((u & Hu) & Hfast)]; [by eauto|].
  destruct (Hfast' F u eq_refl Hu) as (G & HG & HGf).
  destruct Hfast as [(K & HK & Hall')|Hno]; [|by destruct (Hno w); exists G].
  destruct (fast_meets σ Hσ F Q G K) as (a & Ha & HaG & HaK); [done..|].
  pose proof (HGf a HaG Ha) as E1. pose proof (Hall' a HaK Ha) as E2. rewrite E1 in E2. by injection E2.
Qed.
End choice.

(** ** Every step keeps the invariant *)

Lemma inv_init : inv (init : state server value).
Proof. split; simpl; intros; try set_solver; naive_solver. Qed.

Local Ltac by_move m := destruct m as [a0 b0|b0 v0 Q0 f0|v0|a0 b0 v0|r0|a0 r0|a0 r0 b0 v0|a0|a0].

(** What a server sends of its state covers what it has accepted. *)
Lemma memory_closed (s : state server value) a b :
  inv s → trimmed (servers s a) = false →
  ¬ serves (servers s a) ∨ b ≤ promised (servers s a) → closed s a b (accepted (servers s a)).
Proof.
  intros HI Ht Hend. split; [done|]. split.
  - intros k v. apply memory_accepted, HI.
  - intros c w Hv _. by apply (memory_highest s HI _ c w).
Qed.

Lemma closed_mono (s : state server value) m a b x :
  allowed σ s m → closed s a b x → closed (effect s m) a b x.
Proof.
  intros Hg (Hend & Hvote & Hcov). split_and!.
  - by_move m; simpl in *; try done; at_server a a0; try done; unfold serves in *; simpl in *;
      destruct Hend; naive_solver lia.
  - intros k v Hx. apply sent_mono. eauto.
  - intros c w Hv Hc. by_move m; sent_cases Hv; eauto. injection Hv as -> -> ->.
    destruct Hg as (_ & Hs & Hp & _). destruct Hend; [done|lia].
Qed.

(** A server that may accept at [b] has not accepted there before. *)
Lemma fresh_vote (s : state server value) a b u :
  inv s → serves (servers s a) → promised (servers s a) ≤ b →
  (∀ w, accepted (servers s a) ≠ Some (b, w)) → Accepted a b u ∉ sent s.
Proof.
  intros HI (_ & Ht) Hp Hno Hv. destruct (memory_highest s HI a b u Ht Hv) as (k & v & Hk & Hle).
  pose proof (memory_promised s HI _ _ _ Hk). assert (k = b) as -> by lia. by apply (Hno v).
Qed.

Section step.
Context (s : state server value) (m : move server value).
Context (Hσ : sound σ) (HI : inv s) (Hg : allowed σ s m).

Lemma step_one_value b v w :
  Proposed b v ∈ sent (effect s m) → Proposed b w ∈ sent (effect s m) → b ≠ 0 ∨ fast σ = None → v = w.
Proof.
  intros Hv Hw Hb.
  by_move m; sent_cases Hv; sent_cases Hw; simpl in Hg; try (by eapply one_value); simplify_eq; try done.
  - symmetry. by apply Hg.
  - by apply Hg.
  - destruct Hb; [done|]. symmetry. by apply Hg.
  - destruct Hb; [done|]. by apply Hg.
  - apply (shown_accepted s HI), (votes_proposed s HI) in Hg. by eapply (one_value s HI).
  - apply (shown_accepted s HI), (votes_proposed s HI) in Hg. by eapply (one_value s HI).
Qed.

Lemma step_one_vote a b v w :
  Accepted a b v ∈ sent (effect s m) → Accepted a b w ∈ sent (effect s m) → v = w.
Proof.
  intros Hv Hw. by_move m; sent_cases Hv; sent_cases Hw; simpl in Hg; try (by eapply one_vote); simplify_eq; try done;
    destruct Hg as (_ & Hs & Hp & Hno); by edestruct fresh_vote.
Qed.

Lemma step_votes_proposed a b v :
  Accepted a b v ∈ sent (effect s m) → Proposed b v ∈ sent (effect s m).
Proof.
  intros Hv. apply sent_mono.
  by_move m; sent_cases Hv; simpl in Hg; try (by eapply votes_proposed). simplify_eq. by apply Hg.
Qed.

Lemma step_memory_promised a k v :
  accepted (servers (effect s m) a) = Some (k, v) → k ≤ promised (servers (effect s m) a).
Proof.
  by_move m; simpl in *; try apply (memory_promised s HI); at_server a a0; try apply (memory_promised s HI);
    simpl; try done.
  - intros Hk%(memory_promised s HI). lia.
  - by intros [= -> _].
Qed.

Lemma step_memory_accepted a k v :
  accepted (servers (effect s m) a) = Some (k, v) → Accepted a k v ∈ sent (effect s m).
Proof.
  intros Hk. by_move m; simpl in *; try (by apply elem_of_list_further, memory_accepted);
    at_server a a0; simpl in *; try (by apply elem_of_list_further, memory_accepted); try done.
  simplify_eq. apply elem_of_list_here.
Qed.

Lemma step_memory_highest a c w :
  trimmed (servers (effect s m) a) = false → Accepted a c w ∈ sent (effect s m) →
  ∃ k v, accepted (servers (effect s m) a) = Some (k, v) ∧ c ≤ k.
Proof.
  intros Ht Hv. by_move m; sent_cases Hv; simpl in *; try (by apply (memory_highest s HI a c w));
    at_server a a0; simpl in *; try (by eapply memory_highest); simplify_eq; eauto.
  { eapply memory_highest; [done|apply Hg|exact Hv]. }
  destruct Hg as (_ & Hs & Hp & _). destruct (memory_highest s HI a0 c w) as (k & v & Hk & Hle); [apply Hs|done|].
  pose proof (memory_promised s HI _ _ _ Hk). exists b0, v0. split; [done|lia].
Qed.

Lemma step_promises_closed a b x :
  Promised a b x ∈ sent (effect s m) → closed (effect s m) a b x.
Proof.
  intros Hp. by_move m; sent_cases Hp; try (by apply closed_mono, (promises_closed s HI)). simplify_eq.
  destruct Hg as (Hs & Hb & Hle). split_and!; simpl.
  - right. by rewrite fn_lookup_insert.
  - intros k v Hk. by apply elem_of_list_further, memory_accepted.
  - intros c w Hv _. sent_cases Hv. eapply memory_highest; [done|apply Hs|exact Hv].
Qed.

Lemma step_proposals_safe b v c w :
  Proposed b v ∈ sent (effect s m) → c < b → possible (effect s m) c w → w = v.
Proof.
  intros Hp Hc Hpos. apply (possible_mono _ _ _ _ HI Hg) in Hpos.
  by_move m; sent_cases Hp; try (by eapply proposals_safe); simplify_eq; [|lia|].
  - destruct Hg as (_ & HQ & Hall & Hch & _). eapply choice_safe; [done..| |done|done|done]. intros a Ha. by apply (promises_closed s HI), Hall.
  - apply (shown_accepted s HI), (votes_proposed s HI) in Hg. by eapply proposals_safe.
Qed.

Lemma step_shown_accepted a r k v :
  Shown a r (Some (k, v)) ∈ sent (effect s m) → Accepted a k v ∈ sent (effect s m).
Proof.
  intros Hs. apply sent_mono. by_move m; sent_cases Hs; try (by eapply shown_accepted).
  injection Hs as -> -> Hk. by apply memory_accepted.
Qed.

(** A step changes one server at most, which serves, is sealed, or is trimmed. *)
Lemma step_servers a :
  servers (effect s m) a = servers s a ∨
  serves (servers s a) ∧ sealed (servers (effect s m) a) = false ∧ trimmed (servers (effect s m) a) = false ∨
  m = Seal a ∨ m = Trim a.
Proof.
  by_move m; simpl in *; try (by left); (destruct (decide (a = a0)) as [->|];
    [rewrite fn_lookup_insert|rewrite fn_lookup_insert_ne by done; by left]); auto; right; left;
    (split; [apply Hg|done]).
Qed.

(** A sealed server does not change. *)
Lemma step_sealed a : sealed (servers s a) = true → servers (effect s m) a = servers s a.
Proof.
  intros Hs. destruct (step_servers a) as [?|[((Hno & _) & _)|[Hm|Hm]]]; [done|by rewrite Hs in Hno| |].
  - rewrite Hm. simpl. rewrite fn_lookup_insert. destruct (servers s a). simpl in *. by subst.
  - rewrite Hm in Hg. simpl in Hg. by rewrite Hs in Hg.
Qed.

Lemma step_trimmed a : trimmed (servers s a) = true → trimmed (servers (effect s m) a) = true.
Proof.
  intros Ht. destruct (step_servers a) as [->|[((_ & Hno) & _)|[Hm|Hm]]]; [done|by rewrite Ht in Hno| |];
    rewrite Hm; simpl; by rewrite fn_lookup_insert.
Qed.

Lemma frozen_fresh a t x :
  Frozen a t x ∈ sent (effect s m) → Frozen a t x ∈ sent s ∨
  m = Seal a ∧ t = trimmed (servers s a) ∧ x = accepted (servers s a).
Proof. intros Hf. by_move m; sent_cases Hf; simplify_eq; auto. Qed.

Lemma buried_fresh a : Buried a ∈ sent (effect s m) → Buried a ∈ sent s ∨ m = Trim a.
Proof. intros Hf. by_move m; sent_cases Hf; simplify_eq; auto. Qed.

Lemma step_frozen_closed a x :
  Frozen a false x ∈ sent (effect s m) →
  sealed (servers (effect s m) a) = true ∧ trimmed (servers (effect s m) a) = false ∧
  accepted (servers (effect s m) a) = x.
Proof.
  intros [Hf|(Hm & Ht & ->)]%frozen_fresh.
  - destruct (frozen_closed s HI a x Hf) as (Hs & ? & ?). by rewrite (step_sealed a Hs).
  - rewrite Hm. simpl. by rewrite fn_lookup_insert.
Qed.

Lemma step_frozen_trimmed a x :
  Frozen a true x ∈ sent (effect s m) → trimmed (servers (effect s m) a) = true.
Proof.
  intros [Hf|(Hm & Ht & ->)]%frozen_fresh; apply step_trimmed; [by eapply frozen_trimmed|done].
Qed.

Lemma step_buried_trimmed a :
  Buried a ∈ sent (effect s m) → trimmed (servers (effect s m) a) = true.
Proof.
  intros [Hf|Hm]%buried_fresh; [by apply step_trimmed, (buried_trimmed s HI)|].
  rewrite Hm. simpl. by rewrite fn_lookup_insert.
Qed.

Lemma inv_step : inv (effect s m).
Proof.
  split.
  - apply step_one_value.
  - apply step_one_vote.
  - apply step_votes_proposed.
  - apply step_memory_promised.
  - apply step_memory_accepted.
  - apply step_memory_highest.
  - apply step_promises_closed.
  - apply step_proposals_safe.
  - apply step_shown_accepted.
  - apply step_frozen_closed.
  - apply step_frozen_trimmed.
  - apply step_buried_trimmed.
Qed.

End step.

Lemma inv_reachable (s : state server value) : sound σ → reachable σ s → inv s.
Proof.
  intros Hσ Hr. unfold reachable in Hr. remember init as s0 eqn:E.
  assert (inv s0) as HI by (subst; apply inv_init). clear E.
  induction Hr as [|s s1 s2 (m & Hg & ->) _ IH]; [done|]. by apply IH, inv_step.
Qed.

(** ** Theorem 1, of states *)

(** Two sets that decide at one ballot meet. *)
Lemma quorum_meets b Q R : sound σ → quorum σ b Q → quorum σ b R → ∃ a, a ∈ Q ∧ a ∈ R.
Proof.
  intros Hσ. unfold quorum. destruct (fast σ) as [F|] eqn:HF; [destruct b|];
    try apply (majority_meets σ Hσ).
  intros HQ HR. destruct (majority_exists σ Hσ) as (M & HM).
  destruct (fast_meets σ Hσ F M Q R) as (a & _ & ? & ?); eauto.
Qed.

(** A set that decides, at any ballot, meets every majority. *)
Lemma quorum_majority b Q R : sound σ → quorum σ b Q → majority σ R → ∃ a, a ∈ Q ∧ a ∈ R.
Proof.
  intros Hσ. unfold quorum. destruct (fast σ) as [F|] eqn:HF; [destruct b|];
    try apply (majority_meets σ Hσ).
  intros HQ HR. destruct (fast_meets σ Hσ F R Q Q) as (a & ? & ? & _); eauto.
Qed.

Lemma decided_possible (s : state server value) b v : decided_at σ s b v → possible s b v.
Proof. intros (Q & HQ & Hall). exists Q. split; [done|]. auto. Qed.

Lemma decided_proposed (s : state server value) b v :
  sound σ → inv s → decided_at σ s b v → Proposed b v ∈ sent s.
Proof.
  intros Hσ HI (Q & HQ & Hall). destruct (quorum_meets b Q Q Hσ HQ HQ) as (a & Ha & _).
  by eapply votes_proposed, Hall.
Qed.

Lemma agreement (s : state server value) v w :
  sound σ → inv s → decided σ s v → decided σ s w → v = w.
Proof.
  intros Hσ HI (b & Hv) (c & Hw). destruct (decide (b = c)) as [->|Hne].
  - destruct Hv as (Q & HQ & HQv), Hw as (R & HR & HRw).
    destruct (quorum_meets c Q R Hσ HQ HR) as (a & HaQ & HaR).
    by eapply (one_vote s HI a c); [apply HQv|apply HRw].
  - assert (b < c ∨ c < b) as [Hlt|Hlt] by lia; [|symmetry];
      (eapply (proposals_safe s HI); [by apply decided_proposed|exact Hlt|by apply decided_possible]).
Qed.

(** The servers that decided a value still hold it, unless they are trimmed. *)
Lemma decided_kept (s : state server value) b v Q :
  sound σ → inv s → quorum σ b Q → (∀ a, a ∈ Q → Accepted a b v ∈ sent s) →
  ∀ a, a ∈ Q → trimmed (servers s a) = true ∨ ∃ c, accepted (servers s a) = Some (c, v).
Proof.
  intros Hσ HI HQ Hall a Ha. destruct (trimmed (servers s a)) eqn:Ht; [by left|]. right.
  destruct (memory_highest s HI a b v Ht (Hall a Ha)) as (k & w & Hk & Hle). exists k.
  rewrite Hk. do 2 f_equal. pose proof (memory_accepted s HI _ _ _ Hk) as Hw.
  destruct (decide (b = k)) as [->|]; [by eapply one_vote; [|exact Hw|apply Hall]|].
  symmetry. eapply (proposals_safe s HI k w b v); [by eapply votes_proposed|lia|].
  apply decided_possible. by exists Q.
Qed.

End register_inv.

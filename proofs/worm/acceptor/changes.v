(** * What becomes of a register, and that it is what the protocol's steps do *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.acceptor Require Export model.
Local Open Scope Z_scope.

(** The higher one of what is promised and [x]. *)
Definition raised (r : register) (x : ballot) : ballot :=
  if decide (number (promised r) < number x) then x else promised r.
Definition promising (r : register) (x : ballot) : register := Register (raised r x) (accepted r).
Definition accepting (r : register) (x : ballot) (v : list Z) : register := Register (raised r x) (Some (x, v)).

Lemma raised_protocol r x : register_ok r → ballot_ok x →
  protocol_ballot (raised r x) = (protocol_ballot (promised r) `max` protocol_ballot x)%nat.
Proof.
  intros [Hr _] Hx. rewrite /raised /protocol_ballot. pose proof (number_nonneg x Hx). pose proof (number_nonneg _ Hr).
  case_decide; lia.
Qed.

(** What a register has accepted it has promised. *)
Lemma below_promised pgs i y w : accepted (register_of pgs i) = Some (y, w) →
  number y ≤ number (promised (register_of pgs i)).
Proof.
  rewrite /register_of. destruct (page_at pgs (i / page_size)) as [pg|]; [|done]. simpl.
  rewrite /promise_of. intros ->. case_decide; lia.
Qed.

Section changes.
  Context `{Countable server}.
  Implicit Types (s : register.state server (list Z)) (k : server).

  (** A server that has [r] takes the step [Capture] of the protocol and has [promising r x], if
      nothing above [x] is promised; else it has [r] as before. *)
  Lemma promising_is_capture s k r x : register_ok r → ballot_ok x →
    register.servers s k = protocol_acceptor r →
    ((protocol_ballot (promised r) ≤ protocol_ballot x)%nat → x ≠ zero_ballot →
      let m := register.Capture k (protocol_ballot x) in
      (∀ σ, register.allowed σ s m) ∧ register.servers (register.effect s m) k = protocol_acceptor (promising r x)) ∧
    ((protocol_ballot x < protocol_ballot (promised r))%nat → promising r x = r).
  Proof.
    intros Hr Hx Hk. split.
    - intros Hle Hne. simpl. rewrite Hk. split.
      + intros _. split_and!; [done| |done]. intros Hz. apply Hne. by apply protocol_ballot_inj.
      + rewrite fn_lookup_insert /protocol_acceptor /= raised_protocol //. f_equal. lia.
    - intros Hlt. destruct Hr as [Hr _]. rewrite protocol_ballot_lt // in Hlt. rewrite /promising /raised decide_False; [|lia].
      by destruct r.
  Qed.
  (** A server that has [r] takes the step [Accept] and has [accepting r x v], where
      the protocol allows that step. *)
  Lemma accepting_is_accept σ s k r x v : register_ok r → ballot_ok x →
    register.servers s k = protocol_acceptor r →
    let m := register.Accept k (protocol_ballot x) v in
    register.allowed σ s m → register.servers (register.effect s m) k = protocol_acceptor (accepting r x v).
  Proof.
    intros Hr Hx Hk m (_ & _ & Hle & _). rewrite Hk /= in Hle.
    rewrite /m /= fn_lookup_insert /protocol_acceptor /= raised_protocol //. f_equal. lia.
  Qed.
End changes.

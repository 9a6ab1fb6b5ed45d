(** * A write-once register never changes *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Import register history durable register_inv history_inv counts flaws flaws_history.

(** Take the protocol of internal/worm/paxos and internal/worm/fast for one register: servers that
    promise, accept, show, are sealed and are trimmed; clients that capture a
    ballot, write at it or at ballot zero, read, repair what they find half written
    at its own ballot, and adopt what a capture found.  Take any servers, values and
    ballots, and any quorums of which two majorities meet, and two fast quorums and
    a majority.  Let messages be lost, copied and late, let servers crash at any
    moment and forget what was not durable, and let clients stop anywhere.  Then
    what the users see is a linearizable write-once register: all who are told a
    value are told the same, it is one that some client had asked to write before,
    no read that is called after that returns "unwritten", and after a read has
    returned "trimmed" no later one returns anything else. *)
Theorem register_correct `{Countable server} {value : Type} `{EqDecision value} (σ : setting server) :
  sound σ → ∀ d : dsystem server value, rtc (dstep σ) dstart d → write_once (past d).
Proof. intros Hσ d. by apply durable_write_once. Qed.
Print Assumptions register_correct.

(** Theorem 1 of the paper.  Once a quorum has accepted a value at one ballot and
    has it on its disks, that value is decided for ever: no other value is ever
    decided, and each server of the quorum holds that value until it is trimmed. *)
Theorem register_never_changes `{Countable server} {value : Type} `{EqDecision value} (σ : setting server) :
  sound σ → ∀ (d d' : dsystem server value) b v Q,
    rtc (dstep σ) dstart d → quorum σ b Q → (∀ a, a ∈ Q → Accepted a b v ∈ sent (disk d)) →
    rtc (dstep σ) d d' →
    (∀ w, decided σ (disk d') w → w = v) ∧
    ∀ a, a ∈ Q → trimmed (servers (disk d') a) = true ∨
      ∃ c, accepted (servers (disk d') a) = Some (c, v).
Proof.
  intros Hσ d d' b v Q Hd HQ Hall Hd'.
  assert (∀ a, a ∈ Q → Accepted a b v ∈ sent (disk d')) as Hall'.
  { intros a Ha. eapply dsent_mono; [done|]. by apply Hall. }
  assert (inv σ (disk d')) as HI by (eapply durable_inv; [done|by etrans]). split.
  - intros w Hw. eapply agreement; [done|done|done|]. by exists b, Q.
  - by eapply decided_kept.
Qed.
Print Assumptions register_never_changes.

(** Both for n servers as the Go program counts them: n/2 + 1 are a majority, and
    (3n + 3)/4 are a fast quorum. *)
Corollary register_counted `{Countable server} {value : Type} `{EqDecision value} (members : gset server) :
  members ≠ ∅ → ∀ σ, σ = paxos_of members ∨ σ = fast_paxos_of members →
  ∀ d : dsystem server value, rtc (dstep σ) dstart d → write_once (past d).
Proof.
  intros HX σ Hσ d. apply register_correct.
  destruct Hσ as [->| ->]; [by apply paxos_sound|by apply fast_sound].
Qed.
Print Assumptions register_counted.

(** None of this is about nothing: three servers can go through a read of nothing, a
    write of 7, a read of it, a trim and a read of that. *)
Corollary register_can_be_used : ∃ s, rtc (system_step (paxos_of {[1; 2; 3]})) start (System s
  [Reads 0; ReadNothing 0; Writes 7; Wrote 7; Reads 1; Read 1 7; Reads 2; ReadTrimmed 2]).
Proof. apply whole_history. Qed.
Print Assumptions register_can_be_used.

(** * Transactions on write-once registers commit at all participants or at none *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.layers Require Import space commit tx runs.

(** Take WormTX for one transaction, in any of the paper's variants A8 to F2: any
    participants, each with a write-once register for its vote, on servers as in
    register.v, each register with servers and quorums of its own; with or without
    a manager that tells the outcome.  Let participants and the manager die,
    servers crash and messages be lost at any moment, and let any participant write
    no into the register of another at any moment.  Then all who learn an outcome
    learn the same one (AC1); if it is commit, each participant wanted to vote yes
    (AC2); and if it is abort, one wanted to vote no, or another participant asked
    to write no in its place (AC3). *)
Theorem wormtx_correct `{Countable server} (members : gset nat) (tells : bool) (σ : nat → setting server) l h d :
  (∀ a, sound (σ a)) → stack_run σ (tx_moves members tells) tx_start l h d →
  (∀ i j o p, learned l !! i = Some o → learned l !! j = Some p → o = p) ∧
  (∀ i j, learned l !! i = Some true → j ∈ members → intends l !! j = Some true) ∧
  (∀ i, learned l !! i = Some false → ∃ j, j ∈ members ∧ (intends l !! j = Some false ∨ j ∈ usurped l)).
Proof.
  intros Hσ Hr%stack_is_layer; [|done]. split; [|split].
  - intros i j o p. by apply (tx_agree members tells l h).
  - intros i j. by apply (tx_commit members tells l h).
  - intros i. by apply (tx_abort members tells l h).
Qed.
Print Assumptions wormtx_correct.

(** Each step is one of specs/wormtx/AtomicCommit.tla, or none, where the vote of a
    participant is what its register holds; and a participant that has learned an
    outcome learns no other (AC3, second half). *)
Theorem wormtx_is_atomic_commit (members : gset nat) (tells : bool) :
  keeps_to (tx_moves members tells) (commit_step members) (commit_alike members) tx_start (commit_start ∅) ∧
  ∀ l h l' h' i o, rtc (layer_step (tx_moves members tells)) (l, h) (l', h') →
    learned l !! i = Some o → learned l' !! i = Some o.
Proof. split; [apply tx_is_commit|apply tx_stable]. Qed.
Print Assumptions wormtx_is_atomic_commit.

(** No participant blocks another (AC4, as far as safety goes): from every moment at
    which a participant has begun, lives and has not learned the outcome, and at which
    no register of a vote has returned "trimmed", it is possible that the participant
    learns the outcome while only it, the registers, and the manager as long as it
    lives, take steps.  Nothing is said of a vote that was trimmed before it was
    decided.  This is about the interface: that the servers below allow these steps
    is not stated. *)
Theorem wormtx_not_blocked (members : gset nat) (tells : bool) l h i :
  layer_run (tx_moves members tells) tx_start l h → untrimmed members h →
  i ∈ members → active l (Participant i) → learned l !! i = None →
  ∃ l' h', rtc (helped members tells i) (l, h) (l', h') ∧ learned l' !! i ≠ None.
Proof. apply tx_not_blocked. Qed.
Print Assumptions wormtx_not_blocked.

(** Two participants can commit. *)
Corollary wormtx_can_commit (tells : bool) :
  ∃ l h, layer_run (tx_moves {[1; 2]} tells) tx_start l h ∧ learned l !! 1 = Some true.
Proof. apply tx_commits. Qed.
Print Assumptions wormtx_can_commit.

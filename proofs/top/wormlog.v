(** * A shared log on write-once registers keeps its order *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.layers Require Import space log runs.

(** Take WormLog: a register for each address, as in register.v, on servers and
    quorums of its own; segments of any lengths, each with a sequencer that hands out
    its addresses in order and may pass over some; sequencers that begin to serve
    when all registers of earlier segments are decided or trimmed, and may go on
    after they were replaced; any clients, which append, fill holes with junk and
    read.  Let servers crash and messages be lost at any moment.  Then an append
    that has returned is at its address, for ever and nowhere else; and its address
    is above those of all appends that had returned before it was called, and not
    below any tail that had been returned before. *)
Theorem wormlog_correct `{Countable server} (D : division) (σ : nat → setting server) l h d c F a :
  (∀ b, sound (σ b)) → stack_run σ (log_moves D) log_start l h d →
  clients l !! c = Some (Client Done (Some a) F) →
  (∀ l' h', rtc (layer_step (log_moves D)) (l, h) (l', h') → told (h' a) (Some c)) ∧
  (∀ b, told (h b) (Some c) → b = a) ∧
  (∀ f, f ∈ F → f ≤ a).
Proof.
  intros Hσ Hr%stack_is_layer Hc; [|done]. split; [|split].
  - intros l' h' Hs. eapply told_for_ever; [exact Hs|]. by eapply log_kept.
  - intros b Hb. eapply log_once; [done|done|]. by eapply log_kept.
  - intros f. by eapply log_order.
Qed.
Print Assumptions wormlog_correct.

(** A tail that is returned is not below what had been returned before it was asked
    for: it is above all appends that had returned. *)
Theorem wormlog_tail (D : division) l h r F x y n f :
  layer_run (log_moves D) log_start l h → readers l !! r = Some (Reader F x y (Some n)) → f ∈ F → f ≤ n.
Proof. apply log_tail. Qed.
Print Assumptions wormlog_tail.

(** What a client or a reader is said to know when it calls, [F] above, are indeed
    the addresses behind all appends that have returned, and all tails. *)
Theorem wormlog_bounds (D : division) l h :
  layer_run (log_moves D) log_start l h →
  (∀ c F a, clients l !! c = Some (Client Done (Some a) F) → S a ∈ bounds l) ∧
  (∀ r F x y n, readers l !! r = Some (Reader F x y (Some n)) → n ∈ bounds l) ∧
  ∀ l', log_move D l h None l' →
    (∀ c, clients l !! c = None → ∀ s k F, clients l' !! c = Some (Client s k F) → F = bounds l) ∧
    (∀ r, readers l !! r = None → ∀ x y z F, readers l' !! r = Some (Reader F x y z) → F = bounds l).
Proof.
  intros Hr. split; [|split].
  - intros c F a. by eapply log_known.
  - intros r F x y n. by eapply log_tail_known.
  - intros l'. apply log_calls.
Qed.
Print Assumptions wormlog_bounds.

(** An append can go on in the segment of the next sequencer. *)
Corollary wormlog_can_move : ∃ l h F G, layer_run (log_moves ones) log_start l h ∧
  clients l !! 1 = Some (Client Done (Some 0) F) ∧ clients l !! 2 = Some (Client Done (Some 1) G) ∧ 1 ∈ G.
Proof. apply log_moves_on. Qed.
Print Assumptions wormlog_can_move.

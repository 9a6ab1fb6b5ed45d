(** * A shared log on write-once registers keeps its order *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.layers Require Import space log runs.

(** Take WormLog: a register for each address, as in register.v, on servers and
    quorums of its own; segments of any lengths, each with a sequencer that hands out
    its addresses in order and may pass over some; sequencers that begin to serve
    when all registers of earlier segments are decided or trimmed, and may go on
    after they were replaced; any clients, which append, fill holes with junk and
    read.  Let servers crash and messages be lost at any moment.  Then what an append
    that has returned wrote is at its address: no read of that address that is called
    later, at any time, returns anything else, but that it was trimmed; it was never
    at any other address; and its address is above those of all appends that had
    returned before it was called, and not below any tail that had been returned
    before. *)
Theorem wormlog_correct `{Countable server} (D : division) (σ : nat → setting server) l h d c F a :
  (∀ b, sound (σ b)) → stack_run σ (log_moves D) log_start l h d →
  clients l !! c = Some (Client Done (Some a) F) →
  (∀ l' h' d', rtc (stack_step σ (log_moves D)) (l, h, d) (l', h', d') →
    ∀ h1 h2 q e, h' a = h a ++ h1 ++ Reads q :: h2 → e ∈ h2 → returns q e →
      e = Read q (Some c) ∨ e = ReadTrimmed q) ∧
  (∀ b, told (h b) (Some c) → b = a) ∧
  (∀ f, f ∈ F → f ≤ a).
Proof.
  intros Hσ Hd Hc. pose proof (stack_is_layer _ _ _ _ _ _ Hσ Hd) as Hr. split; [|split].
  - intros l' h' d' Hs h1 h2 q e. eapply log_reads_back; [done|done|]. by eapply stack_goes_on.
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
    the addresses behind all appends that have returned, and all tails; and no step
    changes what it is said to have known. *)
Theorem wormlog_bounds (D : division) l h :
  layer_run (log_moves D) log_start l h →
  (∀ c F a, clients l !! c = Some (Client Done (Some a) F) → S a ∈ bounds l) ∧
  (∀ r F x y n, readers l !! r = Some (Reader F x y (Some n)) → n ∈ bounds l) ∧
  (∀ l', log_move D l h None l' →
    (∀ c, clients l !! c = None → ∀ s k F, clients l' !! c = Some (Client s k F) → F = bounds l) ∧
    (∀ r, readers l !! r = None → ∀ x y z F, readers l' !! r = Some (Reader F x y z) → F = bounds l)) ∧
  ∀ e l', log_move D l h e l' →
    bounds l ⊆ bounds l' ∧
    (∀ c s k F, clients l !! c = Some (Client s k F) → ∃ s' k', clients l' !! c = Some (Client s' k' F)) ∧
    (∀ r F x y z, readers l !! r = Some (Reader F x y z) → ∃ x' y' z', readers l' !! r = Some (Reader F x' y' z')).
Proof.
  intros Hr. split; [|split; [|split]].
  - intros c F a. by eapply log_known.
  - intros r F x y n. by eapply log_tail_known.
  - intros l'. apply log_calls.
  - intros e l'. apply log_floors.
Qed.
Print Assumptions wormlog_bounds.

(** An append can go on in the segment of the next sequencer. *)
Corollary wormlog_can_move : ∃ l h F G, layer_run (log_moves ones) log_start l h ∧
  clients l !! 1 = Some (Client Done (Some 0) F) ∧ clients l !! 2 = Some (Client Done (Some 1) G) ∧ 1 ∈ G.
Proof. apply log_moves_on. Qed.
Print Assumptions wormlog_can_move.

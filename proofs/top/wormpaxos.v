(** * A state machine on write-once registers is one *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.layers Require Import space sequence smr runs.

(** Take WormPaxos: a register for each slot of the log, as in register.v, on
    servers and quorums of its own; any clients, which may write any command or junk
    into any slot at any moment; servers that apply the slots in order, each
    command the first time only; answers to commands that a server has applied; and
    reads that ask the registers in order for the first that is unwritten.  Let
    servers crash and messages be lost at any moment.  Then what two servers have
    applied, each by what the registers told it, are beginnings of one sequence
    without repetitions, all of whose commands clients had asked to write; and what a
    server has applied stays the beginning of what it applies. *)
Theorem wormpaxos_correct `{Countable server} (wishes servers : gset nat) (σ : nat → setting server) l h d :
  (∀ a, sound (σ a)) → stack_run σ (smr_moves wishes servers) smr_start l h d →
  (∀ p q, ran_by l p `prefix_of` ran_by l q ∨ ran_by l q `prefix_of` ran_by l p) ∧
  (∀ p, NoDup (ran_by l p)) ∧
  (∀ p c, c ∈ ran_by l p → ∃ s, Writes (Some c) ∈ h s) ∧
  ∀ l' h' d' p, rtc (stack_step σ (smr_moves wishes servers)) (l, h, d) (l', h', d') →
    ran_by l p `prefix_of` ran_by l' p.
Proof.
  intros Hσ Hd. pose proof (stack_is_layer _ _ _ _ _ _ Hσ Hd) as Hr. split; [|split; [|split]].
  - intros p q. by apply (smr_agree wishes servers l h).
  - intros p. by apply (smr_once wishes servers l h).
  - intros p c. by apply (smr_asked wishes servers l h).
  - intros l' h' d' p Hs. eapply smr_kept. by eapply stack_goes_on.
Qed.
Print Assumptions wormpaxos_correct.

(** Each step is one of specs/wormlog/ReplicatedLog.tla, or none, where the sequence
    is the commands of the slots before the first one that is unwritten.  So commands
    take effect one after the other, each before its answer, and a read
    without a lease returns the sequence as it was at some moment between its call
    and its return. *)
Theorem wormpaxos_is_linearizable (wishes servers : gset nat) :
  keeps_to (smr_moves wishes servers) (sequence_step wishes servers) smr_alike smr_start sequence_start.
Proof. apply smr_is_sequence. Qed.
Print Assumptions wormpaxos_is_linearizable.

(** A command can be applied and answered, and a read can return it. *)
Corollary wormpaxos_can_answer :
  ∃ l h, layer_run (smr_moves {[7]} {[1]}) smr_start l h ∧ 7 ∈ replied l ∧ shown l !! 0 = Some [7].
Proof. apply smr_answers. Qed.
Print Assumptions wormpaxos_can_answer.

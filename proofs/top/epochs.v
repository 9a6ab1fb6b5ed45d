(** * A change of servers keeps the value *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Import register epochs epochs_inv epochs_world counts runs_epochs.

(** Take the protocol of one register (top/register.v) in epochs, as internal/worm/group and
    internal/worm/space replace the servers of a partition: any number of reconfigurations,
    for any servers, at the same time, each of which seals a majority of the
    epoch's servers, merges what they have, stages it on the next servers, and has
    its configuration decided or loses; a server of the next epoch begins with the
    stage of the configuration that was decided.  Let anything stop, and any message
    be lost, copied or late.  Then a value that is decided in an epoch stays decided
    in it for ever; the next epochs begin with that value, or with a tombstone if the
    register was trimmed; and whatever is decided in any epoch is that value. *)
Theorem epochs_keep_the_value `{Countable server} {value : Type} `{EqDecision value}
    (σ : setting server) :
  sound σ → ∀ (w w' : world server value) e v,
    rtc (world_step σ) first w → decided_in σ w e v → rtc (world_step σ) w w' →
    decided_in σ w' e v ∧
    (∀ d c, origin (notes w') (S d + e) c → c = Value v ∨ c = Tombstone) ∧
    (∀ e' v', decided_in σ w' e' v' → v' = v).
Proof.
  intros Hσ w w' e v Hw Hd Hw'. pose proof (winv_reachable σ Hσ w Hw) as HI.
  assert (rtc (world_step σ) first w') as Hall by by etrans.
  pose proof (winv_reachable σ Hσ w' Hall) as HI'.
  assert (decided_in σ w' e v) as Hd' by exact (world_decided_mono σ Hσ w w' e v HI Hw' Hd). split; [done|]. split.
  - intros d c. exact (decided_later σ Hσ w' e d v c HI' Hd').
  - intros e' v' Hv'. symmetry. exact (epochs_agree σ Hσ w' e e' v v' HI' Hd' Hv').
Qed.
Print Assumptions epochs_keep_the_value.

(** It can be done: servers 1, 2 and 3 decide 7, and 2, 3 and 4 take over with it. *)
Corollary epochs_can_change : ∃ w : world nat nat,
  rtc (world_step (paxos_of {[1; 2; 3]})) first w ∧
  decided_in (paxos_of {[1; 2; 3]}) w 0 7 ∧ decided_in (paxos_of {[1; 2; 3]}) w 1 7 ∧
  configured (paxos_of {[1; 2; 3]}) (notes w) 1 (paxos_of {[2; 3; 4]}).
Proof. apply decided_in_both. Qed.
Print Assumptions epochs_can_change.

(** * A register on a chain never changes *)
From stdpp Require Import prelude functions.
From ashlar.worm.protocol Require Import chain flaws_chain.

(** Take the protocol of internal/worm/chain for one register in one epoch, on servers 0 to
    [last], for any values and ballots and any number of clients, each of which may
    stop anywhere, with messages that are lost, copied and late, and with seals and
    trims at any moment.  Once the last server has taken a value, it is decided for
    ever, and no other value ever is; every server has acknowledged it (C1); a read
    that is asked after that is shown it by every server that shows anything; and
    any one server that is sealed, before or after, shows it or a tombstone (C2). *)
Theorem chain_never_changes {value : Type} (last : nat) (s s' : chain (value := value)) v :
  rtc (chain_step last) empty_chain s → chain_decided last s v → rtc (chain_step last) s s' →
  chain_decided last s' v ∧
  (∀ w, chain_decided last s' w → w = v) ∧
  (∀ i, i ≤ last → Holds i v ∈ letters s') ∧
  (∀ i r x, i ≤ last → (∀ y, Shows i r y ∉ letters s) → Shows i r x ∈ letters s' → x = Some v) ∧
  (∀ i x, i ≤ last → Froze i false x ∈ letters s' → x = Some v).
Proof.
  intros Hs Hv Hs'. pose proof (chain_inv_reachable last s Hs) as HI.
  assert (rtc (chain_step last) empty_chain s') as Hall by by etrans.
  pose proof (chain_inv_reachable last s' Hall) as HI'.
  assert (chain_decided last s' v) as Hv' by exact (letters_mono last s s' _ Hs' Hv).
  split; [done|]. split; [|split; [|split]].
  - intros w Hw. exact (chain_agree last s' w v HI' Hw Hv').
  - intros i Hi. exact (chain_everywhere last s' v i HI' Hv' Hi).
  - intros i r x Hi Hno Hx. exact (chain_read last s s' v i r x HI Hv Hi Hno Hs' Hx).
  - intros i x Hi Hf. exact (chain_sealed last s' v i x HI' Hi Hf Hv').
Qed.
Print Assumptions chain_never_changes.

(** Three servers can decide 7. *)
Corollary chain_can_decide :
  ∃ s : chain (value := nat), rtc (chain_step 2) empty_chain s ∧ chain_decided 2 s 7.
Proof. apply chain_decides. Qed.
Print Assumptions chain_can_decide.

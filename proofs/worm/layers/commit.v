(** * Atomic commit, as its participants see it

    This is specs/wormtx/AtomicCommit.tla, action by action, for any participants:
    each votes once, or another votes no in its place, and those who live learn the
    outcome.  [counts.v] counts its states. *)
From stdpp Require Import prelude gmap.

Record commitment := Commitment {
  votes : gmap nat bool;      (* yes is true *)
  outcomes : gmap nat bool;   (* what a participant was told: commit is true *)
  parties : gset nat;         (* who knows of the transaction *)
  lost : gset nat;            (* who is dead *)
}.

Inductive commit_move :=
  | CBegin (i : nat)
  | CVote (i : nat) (x : bool)
  | CVoteLate (i : nat) (x : bool)   (* by a write whose writer is dead *)
  | CTell (i : nat) (o : bool)
  | CDie (i : nat).

Section commit.
Context (members : gset nat).

Definition commit_outcome (s : commitment) (o : bool) : Prop :=
  if o then set_Forall (λ i, votes s !! i = Some true) members
  else set_Exists (λ i, votes s !! i = Some false) members.

(* Somebody waits for the vote. *)
Definition awaited (s : commitment) : Prop :=
  set_Exists (λ i, outcomes s !! i = None) (parties s ∖ lost s).

Definition commit_allowed (s : commitment) (m : commit_move) : Prop :=
  match m with
  | CBegin i => i ∈ members ∧ i ∉ lost s
  | CVote i _ => i ∈ members ∧ votes s !! i = None ∧ awaited s
  | CVoteLate i _ => i ∈ members ∧ votes s !! i = None
  | CTell i o => i ∈ members ∧ i ∈ parties s ∖ lost s ∧ outcomes s !! i = None ∧ commit_outcome s o
  | CDie i => i ∈ members
  end.

Definition commit_effect (s : commitment) (m : commit_move) : commitment :=
  match m with
  | CBegin i => Commitment (votes s) (outcomes s) ({[i]} ∪ parties s) (lost s)
  | CVote i x | CVoteLate i x => Commitment (<[i := x]> (votes s)) (outcomes s) (parties s) (lost s)
  | CTell i o => Commitment (votes s) (<[i := o]> (outcomes s)) (parties s) (lost s)
  | CDie i => Commitment (votes s) (outcomes s) (parties s) ({[i]} ∪ lost s)
  end.

Definition commit_step (s s' : commitment) : Prop :=
  ∃ m, commit_allowed s m ∧ s' = commit_effect s m.

(** Any participants may know of the transaction at first. *)
Definition commit_start (b : gset nat) : commitment := Commitment ∅ ∅ b ∅.

Global Instance commit_allowed_dec s m : Decision (commit_allowed s m).
Proof. destruct m as [| | |? []|]; simpl; unfold awaited; apply _. Defined.
End commit.

(** * A replicated state machine, as its clients see it

    This is specs/wormlog/ReplicatedLog.tla, action by action: a sequence of
    commands that grows, and servers that have applied a prefix of it.  A command
    is answered when it is in the sequence.  A read returns the sequence as it was
    at some moment between call and return: [may] collects what that can be. *)
From stdpp Require Import prelude gmap.

Record sequence := Sequence {
  entries : list nat;                   (* the commands *)
  reached : gmap nat nat;               (* per server: how many it has applied *)
  answered : gset nat;
  may : gmap nat (gset (list nat));     (* per read that goes on: what it may return *)
  got : gmap nat (list nat);            (* what a read has returned *)
}.
Definition sequence_start : sequence := Sequence [] ∅ ∅ ∅ ∅.

Inductive sequence_move :=
  | SDecide (new : list nat)   (* one command, or several: a hole was filled before some *)
  | SApply (p : nat)
  | SAnswer (c : nat)
  | SBeginRead (r : nat)
  | SEndRead (r : nat) (x : list nat).

(** The sequences on the way from [old] to [new]. *)
Definition between (old new : list nat) : gset (list nat) :=
  list_to_set ((λ k, take k new) <$> seq (length old) (S (length new - length old))).

Section sequence.
Context (wishes servers : gset nat).

Definition sequence_allowed (s : sequence) (m : sequence_move) : Prop :=
  match m with
  | SDecide new =>
      length (entries s) < length new ∧ take (length (entries s)) new = entries s ∧
      Forall (λ c, c ∈ wishes) new ∧ NoDup new
  | SApply p => p ∈ servers ∧ default 0 (reached s !! p) < length (entries s)
  | SAnswer c => c ∈ entries s
  | SBeginRead r => may s !! r = None ∧ got s !! r = None
  | SEndRead r x => x ∈ default ∅ (may s !! r)
  end.

Definition sequence_effect (s : sequence) (m : sequence_move) : sequence :=
  match m with
  | SDecide new =>
      Sequence new (reached s) (answered s) ((λ S, S ∪ between (entries s) new) <$> may s) (got s)
  | SApply p =>
      Sequence (entries s) (<[p := S (default 0 (reached s !! p))]> (reached s)) (answered s) (may s) (got s)
  | SAnswer c => Sequence (entries s) (reached s) ({[c]} ∪ answered s) (may s) (got s)
  | SBeginRead r => Sequence (entries s) (reached s) (answered s) (<[r := {[entries s]}]> (may s)) (got s)
  | SEndRead r x => Sequence (entries s) (reached s) (answered s) (delete r (may s)) (<[r := x]> (got s))
  end.

Definition sequence_step (s s' : sequence) : Prop :=
  ∃ m, sequence_allowed s m ∧ s' = sequence_effect s m.

Global Instance sequence_allowed_dec s m : Decision (sequence_allowed s m).
Proof. destruct m; simpl; apply _. Defined.
End sequence.

(** * One write-once register, as internal/worm/paxos and internal/worm/fast keep it

    A transition system for any servers, values and ballots, and any quorums.
    A server's state here is what is durable on it, and a reply leaves with the
    step that made it; durable.v is about a server that has memory and a log.

    Messages are only ever added.  To lose one is to take no step because of it;
    every step may take any message that was ever sent, again and in any order.
    There are no clients in the state: what a client has learned is in the
    messages, and any client may take any step that some messages allow.

    A ballot is a number.  The ballots of the Go program, a round and a nonce in
    lexicographic order, are such numbers: round * 2^64 + nonce. *)
From stdpp Require Import prelude gmap functions.

(** Which sets of servers decide.  [fast] is there for the registers of internal/worm/fast
    only: at ballot zero anybody may write, and a fast quorum decides. *)
Record setting (server : Type) `{Countable server} := Setting {
  majority : gset server → Prop;
  fast : option (gset server → Prop);
}.
Arguments Setting {_ _ _} _ _.
Arguments majority {_ _ _} _ _.
Arguments fast {_ _ _} _.

(** All that is asked of quorums: two majorities meet, and so do two fast quorums
    and a majority. *)
Record sound `{Countable server} (σ : setting server) : Prop := Sound {
  majority_meets : ∀ Q R, majority σ Q → majority σ R → ∃ a, a ∈ Q ∧ a ∈ R;
  majority_exists : ∃ Q, majority σ Q;
  fast_meets : ∀ F Q G K, fast σ = Some F → majority σ Q → F G → F K →
    ∃ a, a ∈ Q ∧ a ∈ G ∧ a ∈ K;
  fast_exists : ∀ F, fast σ = Some F → ∃ G, F G;
}.

Section register.
Context `{Countable server} {value : Type} `{EqDecision value}.
Context (σ : setting server).

(** A value and the ballot at which it was accepted. *)
Notation vote := (nat * value)%type.

(** A server's part of the register (paxos.Acceptor). *)
Record acceptor := Acceptor {
  promised : nat;          (* the highest ballot that it promised or accepted *)
  accepted : option vote;  (* what it accepted at the highest ballot *)
  sealed : bool;           (* its epoch is over: it answers nothing *)
  trimmed : bool;          (* it has the tombstone, and nothing else *)
}.

(** The server takes part. *)
Definition serves (x : acceptor) : Prop := sealed x = false ∧ trimmed x = false.

Inductive message :=
  | Promised (a : server) (b : nat) (x : option vote)  (* reply to a capture at b *)
  | Proposed (b : nat) (v : value)                     (* request: write v at b *)
  | Accepted (a : server) (b : nat) (v : value)        (* reply to that *)
  | Question (r : nat)                                 (* request: read, of read r *)
  | Shown (a : server) (r : nat) (x : option vote)     (* reply to that *)
  | Frozen (a : server) (t : bool) (x : option vote)   (* reply to a seal: the state *)
  | Buried (a : server).                               (* reply to a trim *)

Record state := State {
  servers : server → acceptor;
  sent : list message;
}.

Definition blank : acceptor := Acceptor 0 None false false.
Definition init : state := State (λ _, blank) [].

(** ** What is decided *)

(** The sets that decide at ballot [b]. *)
Definition quorum (b : nat) (Q : gset server) : Prop :=
  match fast σ, b with
  | Some F, 0 => F Q
  | _, _ => majority σ Q
  end.

Definition decided_at (s : state) (b : nat) (v : value) : Prop :=
  ∃ Q, quorum b Q ∧ ∀ a, a ∈ Q → Accepted a b v ∈ sent s.
Definition decided (s : state) (v : value) : Prop := ∃ b, decided_at s b v.

(** ** What a client that captured may write

    [f a] is what server [a] of [Q] said it had accepted. *)

Definition highest (Q : gset server) (f : server → option vote) (k : nat) (v : value) : Prop :=
  (∃ a, a ∈ Q ∧ f a = Some (k, v)) ∧
  ∀ a k' v', a ∈ Q → f a = Some (k', v') → k' ≤ k.

(** At ballot zero [v] may have a fast quorum: all those of it that answered
    said [v]. *)
Definition may_be_fast (F : gset server → Prop) (Q : gset server) (f : server → option vote)
    (v : value) : Prop :=
  ∃ G, F G ∧ ∀ a, a ∈ G → a ∈ Q → f a = Some (0, v).

(** settle.go: nothing was seen; or [v] is the value at the highest ballot.  With
    the fast rule, if that is zero: [v] may be decided there, or nothing may. *)
Definition choice (Q : gset server) (f : server → option vote) (v : value) : Prop :=
  (∀ a, a ∈ Q → f a = None) ∨
  match fast σ with
  | None => ∃ k, highest Q f k v
  | Some F =>
      (∃ k, k ≠ 0 ∧ highest Q f k v) ∨
      (∃ w, highest Q f 0 w) ∧ (may_be_fast F Q f v ∨ ∀ w, ¬ may_be_fast F Q f w)
  end.

(** ** The steps *)

Inductive move :=
  | Capture (a : server) (b : nat)   (* a server promises ballot b *)
  | Propose (b : nat) (v : value) (Q : gset server) (f : server → option vote)
                                     (* a client that captured b writes v *)
  | ProposeZero (v : value)          (* a client writes v without a capture *)
  | Accept (a : server) (b : nat) (v : value)
  | Ask (r : nat)                    (* a client begins read r *)
  | Show (a : server) (r : nat)      (* a server answers it *)
  | Repair (a : server) (r : nat) (b : nat) (v : value)
                                     (* a reader sends what it saw again *)
  | Seal (a : server)
  | Trim (a : server).

Definition allowed (s : state) (m : move) : Prop :=
  match m with
  | Capture a b => serves (servers s a) ∧ b ≠ 0 ∧ promised (servers s a) ≤ b
  | Propose b v Q f =>
      b ≠ 0 ∧ majority σ Q ∧ (∀ a, a ∈ Q → Promised a b (f a) ∈ sent s) ∧ choice Q f v ∧
      (* a ballot has one owner, which writes one value at it *)
      ∀ w, Proposed b w ∈ sent s → w = v
  | ProposeZero v =>
      (* without the fast rule, the application sees to it that there is one *)
      fast σ = None → ∀ w, Proposed 0 w ∈ sent s → w = v
  | Accept a b v =>
      Proposed b v ∈ sent s ∧ serves (servers s a) ∧ promised (servers s a) ≤ b ∧
      ∀ w, accepted (servers s a) ≠ Some (b, w)
  | Ask r => True
  | Show a r => Question r ∈ sent s ∧ serves (servers s a)
  | Repair a r b v => Shown a r (Some (b, v)) ∈ sent s
  | Seal a => True
  | Trim a => sealed (servers s a) = false
  end.

Definition put (s : state) (a : server) (x : acceptor) (m : message) : state :=
  State (<[a := x]> (servers s)) (m :: sent s).
Definition send (s : state) (m : message) : state := State (servers s) (m :: sent s).

Definition effect (s : state) (m : move) : state :=
  match m with
  | Capture a b =>
      let x := servers s a in
      put s a (Acceptor b (accepted x) false false) (Promised a b (accepted x))
  | Propose b v _ _ => send s (Proposed b v)
  | ProposeZero v => send s (Proposed 0 v)
  | Accept a b v => put s a (Acceptor b (Some (b, v)) false false) (Accepted a b v)
  | Ask r => send s (Question r)
  | Show a r => put s a (servers s a) (Shown a r (accepted (servers s a)))
  | Repair _ _ b v => send s (Proposed b v)
  | Seal a =>
      let x := servers s a in
      put s a (Acceptor (promised x) (accepted x) true (trimmed x)) (Frozen a (trimmed x) (accepted x))
  | Trim a => put s a (Acceptor 0 None false true) (Buried a)
  end.

(** The server whose step a move is, if it is no client's. *)
Definition actor (m : move) : option server :=
  match m with
  | Capture a _ | Accept a _ _ | Show a _ | Seal a | Trim a => Some a
  | Propose _ _ _ _ | ProposeZero _ | Ask _ | Repair _ _ _ _ => None
  end.

Definition step (s s' : state) : Prop := ∃ m, allowed s m ∧ s' = effect s m.
Definition reachable (s : state) : Prop := rtc step init s.

End register.

Arguments acceptor : clear implicits.
Arguments message : clear implicits.
Arguments state : clear implicits.
Arguments move _ {_ _} _.

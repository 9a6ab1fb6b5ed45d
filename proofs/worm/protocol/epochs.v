(** * Epochs: how the servers of a register are replaced

    Each epoch has its own servers and its own copy of the register's protocol.  An
    epoch ends as internal/worm/group and internal/worm/space end it: a reconfiguration seals a
    majority of its servers, merges what they have, stages the result on the next
    servers under a tag of its own, and has its configuration decided; a server of
    the next epoch begins with the stage of the configuration that was decided, and
    is mute before.  Any number of reconfigurations may be under way, for any
    servers, and each may stop anywhere.

    The register in which a configuration is decided is taken to be one: what
    register.v proves.  Tags are drawn once, and the digest of a stage stands for it. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export register.

Section epochs.
Context `{Countable server} {value : Type} `{EqDecision value}.
Notation vote := (nat * value)%type.

(** What a register goes on with. *)
Inductive content :=
  | Nothing           (* unwritten *)
  | Value (v : value) (* written, and counts as accepted at ballot zero *)
  | Tombstone.        (* trimmed *)

(** What is known of epoch [e]; notes are only added, as messages are. *)
Inductive note :=
  (* the reconfiguration with tag [r] has merged [c], for servers [σ] *)
  | Merged (e r : nat) (σ : setting server) (c : content)
  (* server [a] has the stage of [r] *)
  | Staged (e r : nat) (a : server) (c : content)
  (* the configuration of the epoch is that of [r] *)
  | Decided (e r : nat) (σ : setting server)
  (* server [a] has begun the epoch *)
  | Began (e : nat) (a : server).

Record world := World {
  registers : nat → state server value;   (* the register in each epoch *)
  notes : list note;
}.

Context (σ0 : setting server).  (* the servers of epoch 0 *)

Definition first : world := World (λ _, init) [].

Definition configured (n : list note) (e : nat) (σ : setting server) : Prop :=
  match e with
  | 0 => σ = σ0
  | _ => ∃ r, Decided e r σ ∈ n
  end.

(** Server [a] answers in epoch [e]; each server of epoch 0 does. *)
Definition has_begun (n : list note) (e : nat) (a : server) : Prop :=
  match e with
  | 0 => True
  | _ => Began e a ∈ n
  end.

(** ** What goes on (group.Choose)

    [t a] and [f a] are whether sealed server [a] is trimmed, and what it has
    accepted. *)

(** Nothing can have been decided: nothing was seen, or with the fast rule only
    values at ballot zero, of which none can have a fast quorum. *)
Definition undecided (σ : setting server) (Q : gset server) (f : server → option vote) : Prop :=
  (∀ a, a ∈ Q → f a = None) ∨
  ∃ F u, fast σ = Some F ∧ highest Q f 0 u ∧ ∀ w, ¬ may_be_fast F Q f w.

(** [v] may have been decided: it is the value at the highest ballot, and at ballot
    zero with the fast rule may have a fast quorum. *)
Definition may_be_decided (σ : setting server) (Q : gset server) (f : server → option vote)
    (v : value) : Prop :=
  ∃ k, highest Q f k v ∧ ∀ F, fast σ = Some F → k = 0 → may_be_fast F Q f v.

Definition merges (σ : setting server) (Q : gset server) (t : server → bool)
    (f : server → option vote) (c : content) : Prop :=
  match c with
  | Tombstone => ∃ a, a ∈ Q ∧ t a = true
  | Value v => (∀ a, a ∈ Q → t a = false) ∧ may_be_decided σ Q f v
  | Nothing => (∀ a, a ∈ Q → t a = false) ∧ undecided σ Q f
  end.

(** ** The steps *)

(** Server [a] begins with [c] (paxos.Acceptor.Adopt). *)
Definition install (s : state server value) (a : server) (c : content) : state server value :=
  match c with
  | Nothing => s
  | Value v => put s a (Acceptor 0 (Some (0, v)) false false) (Accepted a 0 v)
  | Tombstone => put s a (Acceptor 0 None false true) (Buried a)
  end.

Definition within (w : world) (e : nat) (s : state server value) : world :=
  World (<[e := s]> (registers w)) (notes w).
Definition noted (w : world) (n : note) : world := World (registers w) (n :: notes w).

Inductive world_step (w : world) : world → Prop :=
  (* a step of the register in an epoch: of a client that knows its servers, or of a
     server that has begun it *)
  | world_inside e σ m :
      configured (notes w) e σ → allowed σ (registers w e) m →
      (∀ a, actor m = Some a → has_begun (notes w) e a) →
      world_step w (within w e (effect (registers w e) m))
  (* a reconfiguration merges what a majority of sealed servers has *)
  | world_merge e σ r σ' Q t f c :
      configured (notes w) e σ → majority σ Q →
      (∀ a, a ∈ Q → Frozen a (t a) (f a) ∈ sent (registers w e)) →
      merges σ Q t f c → sound σ' →
      (∀ σ'' c', Merged (S e) r σ'' c' ∉ notes w) →
      world_step w (noted w (Merged (S e) r σ' c))
  (* it stages that on a server *)
  | world_stage e r σ c a :
      Merged e r σ c ∈ notes w → world_step w (noted w (Staged e r a c))
  (* its configuration is decided, if none is *)
  | world_decide e r σ c Q :
      Merged e r σ c ∈ notes w → majority σ Q → (∀ a, a ∈ Q → Staged e r a c ∈ notes w) →
      (∀ r' σ', Decided e r' σ' ∉ notes w) →
      world_step w (noted w (Decided e r σ))
  (* a server that has the stage of that configuration begins *)
  | world_begin e r σ c a :
      Decided e r σ ∈ notes w → Staged e r a c ∈ notes w → Began e a ∉ notes w →
      world_step w (within (noted w (Began e a)) e (install (registers w e) a c)).

(** What epoch [e] has begun with. *)
Definition origin (n : list note) (e : nat) (c : content) : Prop :=
  match e with
  | 0 => c = Nothing
  | _ => ∃ r σ, Decided e r σ ∈ n ∧ Merged e r σ c ∈ n
  end.

(** [v] is decided in epoch [e]. *)
Definition decided_in (w : world) (e : nat) (v : value) : Prop :=
  ∃ σ, configured (notes w) e σ ∧ decided σ (registers w e) v.

End epochs.
Arguments content : clear implicits.
Arguments note _ {_ _} _.
Arguments world _ {_ _} _.

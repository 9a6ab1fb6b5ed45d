(** * What the users of a write-once register see

    A history is the calls and returns of reads and writes, in the order of time.
    This file says which histories are those of a write-once register, and when
    the protocol lets a client return. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export register.

(** ** The specification *)

Section history.
Context {value : Type}.

Inductive event :=
  | Writes (v : value)          (* a client calls write with v *)
  | Wrote (v : value)           (* a write returns: v is written *)
  | Reads (r : nat)             (* read r is called *)
  | Read (r : nat) (v : value)  (* it returns v, *)
  | ReadNothing (r : nat)       (* or "unwritten", *)
  | ReadTrimmed (r : nat).      (* or "trimmed" *)

(** A client was told that the register holds [v]. *)
Definition told (h : list event) (v : value) : Prop := Wrote v ∈ h ∨ ∃ r, Read r v ∈ h.

Definition returns (r : nat) (e : event) : Prop :=
  e = ReadNothing r ∨ e = ReadTrimmed r ∨ ∃ v, e = Read r v.

(** The histories of a linearizable write-once register that may be trimmed: one
    can put the reads of "unwritten" first, then a write of the value, all that
    were told the value, the trim, and the reads of "trimmed", and nothing that had
    returned before something else was called comes behind it. *)
Record write_once (h : list event) : Prop := WriteOnce {
  (* it holds one value, *)
  one : ∀ v w, told h v → told h w → v = w;
  (* which some client had asked to write; *)
  asked : ∀ h1 h2 v, h = h1 ++ h2 → told h1 v → Writes v ∈ h1;
  (* a read that is called after that does not miss it, *)
  lasting : ∀ h1 h2 r v, h = h1 ++ Reads r :: h2 → told h1 v → ReadNothing r ∉ h2;
  (* and one that is called after a trim was seen sees nothing but the trim; *)
  gone : ∀ h1 h2 r r' e, h = h1 ++ Reads r :: h2 → ReadTrimmed r' ∈ h1 → e ∈ h2 → returns r e →
    e = ReadTrimmed r;
  (* nothing is written that was called after it; *)
  over : ∀ h1 h2 r v, h = h1 ++ h2 → ReadTrimmed r ∈ h1 → told h v → Writes v ∈ h1;
  (* and reads return after they are called. *)
  called : ∀ h1 h2 r e, h = h1 ++ e :: h2 → returns r e → Reads r ∈ h1;
}.

End history.
Arguments event : clear implicits.

(** ** The register with its users *)

Section system.
Context `{Countable server} {value : Type} `{EqDecision value}.
Context (σ : setting server).

Record system := System {
  core : state server value;
  history : list (event value);
}.

Definition start : system := System init [].

(** What a client must have got to return. *)
Definition justified (s : state server value) (e : event value) : Prop :=
  match e with
  (* a quorum has accepted the value at one ballot *)
  | Wrote v => decided σ s v
  (* a quorum has shown it to this read at one ballot, if need be after a repair *)
  | Read r v => ∃ b Q, quorum σ b Q ∧ ∀ a, a ∈ Q → Shown a r (Some (b, v)) ∈ sent s
  (* a majority has shown nothing to this read *)
  | ReadNothing r => ∃ Q, majority σ Q ∧ ∀ a, a ∈ Q → Shown a r None ∈ sent s
  (* a majority has the tombstone *)
  | ReadTrimmed r => Question r ∈ sent s ∧ ∃ Q, majority σ Q ∧ ∀ a, a ∈ Q → Buried a ∈ sent s
  | Writes _ | Reads _ => False
  end.

(** What a client sends, it sends for a call. *)
Definition called_for (h : list (event value)) (m : move server value) : Prop :=
  match m with
  | Propose _ v _ _ | ProposeZero v => Writes v ∈ h
  | Ask r => Reads r ∈ h
  | _ => True
  end.

Inductive system_step : system → system → Prop :=
  | step_call_write s h v : system_step (System s h) (System s (h ++ [Writes v]))
  | step_call_read s h r : Reads r ∉ h → system_step (System s h) (System s (h ++ [Reads r]))
  | step_inside s h m :
      allowed σ s m → called_for h m → system_step (System s h) (System (effect s m) h)
  | step_return s h e : justified s e → system_step (System s h) (System s (h ++ [e])).

End system.
Arguments system : clear implicits.

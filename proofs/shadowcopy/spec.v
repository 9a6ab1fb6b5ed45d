(** * Specification of examples/shadowcopy: an atomic, durable pair of blocks

    A transition system over values.  A call is the operation's name and its
    arguments, with byte strings for byte slices. *)
From ashlar.trusted Require Import disk.
From ashlar.lang Require Import notation.

(** The two blocks. *)
Notation state := (list Z * list Z)%type (only parsing).

Definition read_call : val := (#(str "Read"), #()).
Definition write_call (a b : list Z) : val := (#(str "Write"), (#(LitStr a), #(LitStr b))).

(** [step call s ret s']: a read gives both blocks, a write replaces both. *)
Inductive step : val → state → val → state → Prop :=
  | ReadS a b : step read_call (a, b) (#(LitStr a), #(LitStr b)) (a, b)
  | WriteS a b s : block_ok a → block_ok b → step (write_call a b) s #() (a, b).

(** A crash changes nothing: what was acknowledged stays. *)
Inductive crash : state → state → Prop :=
  | CrashS s : crash s s.

(** The pair that a disk holds.  Block 0 says where the current copy begins. *)
Definition selects (selector : list Z) (base : Z) : Prop :=
  ∃ x rest, selector = x :: rest ∧ base = if decide (x = 0)%Z then 1%Z else 3%Z.
Definition holds (d : gmap Z (list Z)) (s : state) : Prop :=
  ∃ selector base, d !! 0%Z = Some selector ∧ selects selector base ∧
    d !! base = Some s.1 ∧ d !! (base + 1)%Z = Some s.2.

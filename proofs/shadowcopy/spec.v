(** * Specification of examples/shadowcopy: an atomic, durable pair of blocks

    A transition system over values, with byte strings for byte slices. *)
From ashlar.trusted Require Import disk.
From ashlar.logic Require Import spec.

(** The two blocks. *)
Notation state := (list Z * list Z)%type (only parsing).

(** Read(), Write(a, b). *)
Definition read_call : val := InjLV #().
Definition write_call (a b : list Z) : val := InjRV (#(LitStr a), #(LitStr b)).

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

(** The specification, for disks that hold what [d] holds. *)
Definition pair_spec (d : gmap Z (list Z)) : spec := {|
  sp_state := state;
  sp_init := holds d;
  sp_step := step;
  sp_move _ _ _ _ := False;
  sp_crash := crash;
|}.

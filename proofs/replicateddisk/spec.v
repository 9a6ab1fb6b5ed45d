(** * Specification of examples/replicateddisk: one disk

    A transition system over values, with byte strings for byte slices. *)
From ashlar.trusted Require Import disk.
From ashlar.logic Require Import spec.

(** The blocks. *)
Notation state := (gmap Z (list Z)) (only parsing).

(** Read(a), Write(a, b). *)
Definition read_call (a : Z) : val := InjLV #(u64 a).
Definition write_call (a : Z) (b : list Z) : val := InjRV (#(u64 a), #(LitStr b)).

(** [step call s ret s']: a read gives the block of its address, a write
    replaces it. *)
Inductive step : val → state → val → state → Prop :=
  | ReadS a b s : s !! a = Some b → step (read_call a) s #(LitStr b) s
  | WriteS a b s : is_Some (s !! a) → block_ok b → step (write_call a b) s #() (<[a:=b]> s).

(** A crash changes nothing: what was acknowledged stays. *)
Inductive crash : state → state → Prop :=
  | CrashS s : crash s s.

(** The specification of a disk that holds [d] at first. *)
Definition replicated_spec (d : gmap Z (list Z)) : spec := {|
  sp_state := state;
  sp_init := eq d;
  sp_step := step;
  sp_move _ _ _ _ := False;
  sp_crash := crash;
|}.

(** * Specification of examples/asyncwal: an atomic, durable pair of blocks

    A transition system over values.  [InjL ()] is the call of [Read], which gives
    both blocks as strings; [InjR (a, b)] is [Commit] of the blocks [a] and [b]. *)
From ashlar.trusted Require Import disk.
From ashlar.logic Require Import spec.
Open Scope Z_scope.

(** The two blocks. *)
Notation blocks := (list Z * list Z)%type (only parsing).

Definition pair_val (s : blocks) : val := (#(LitStr s.1), #(LitStr s.2)).
Definition read_call : val := InjLV #().
Definition commit_call (s : blocks) : val := InjRV (pair_val s).

(** [pair_step call s ret s']: a read gives both blocks, a commit replaces both. *)
Inductive pair_step : val → blocks → val → blocks → Prop :=
  | ReadS s : pair_step read_call s (pair_val s) s
  | CommitS s s' : block_ok s'.1 → block_ok s'.2 → pair_step (commit_call s') s #() s'.

(** A crash changes nothing: what was acknowledged stays. *)
Inductive pair_crash : blocks → blocks → Prop :=
  | CrashS s : pair_crash s s.

(** The pair that a disk holds: the log if the header says that it counts, else
    what is in the pair's own place. *)
Definition counts (header : list Z) : Prop := head header = Some 1.
Definition holds (d : gmap Z (list Z)) (s : blocks) : Prop :=
  ∃ header, d !! 0 = Some header ∧
    ((counts header ∧ d !! 1 = Some s.1 ∧ d !! 2 = Some s.2) ∨
     (¬ counts header ∧ d !! 3 = Some s.1 ∧ d !! 4 = Some s.2)).

(** The specification, for a disk that holds what [d] holds. *)
Definition pair_spec (d : gmap Z (list Z)) : spec := {|
  sp_state := blocks;
  sp_init := holds d;
  sp_step := pair_step;
  sp_move _ _ _ _ := False;
  sp_crash := pair_crash;
|}.

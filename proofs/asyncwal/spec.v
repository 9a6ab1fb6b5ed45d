(** * Specification of examples/asyncwal: an atomic, durable pair of blocks

    A transition system over values.  [InjL ()] is the call of [Read], which gives
    both blocks as strings; [InjR (a, b)] is [Commit] of the blocks [a] and [b]. *)
From ashlar.trusted Require Import disk.
From ashlar.lang Require Import notation.
Open Scope Z_scope.

(** The two blocks. *)
Notation state := (list Z * list Z)%type (only parsing).

Definition pair_val (s : state) : val := (#(LitStr s.1), #(LitStr s.2)).
Definition read_call : val := InjLV #().
Definition commit_call (s : state) : val := InjRV (pair_val s).

(** [step call s ret s']: a read gives both blocks, a commit replaces both. *)
Inductive step : val → state → val → state → Prop :=
  | ReadS s : step read_call s (pair_val s) s
  | CommitS s s' : block_ok s'.1 → block_ok s'.2 → step (commit_call s') s #() s'.

(** A crash changes nothing: what was acknowledged stays. *)
Inductive crash : state → state → Prop :=
  | CrashS s : crash s s.

(** The pair that a disk holds: the log if the header says that it counts, else
    what is in the pair's own place. *)
Definition counts (header : list Z) : Prop := head header = Some 1.
Definition holds (d : gmap Z (list Z)) (s : state) : Prop :=
  ∃ header, d !! 0 = Some header ∧
    ((counts header ∧ d !! 1 = Some s.1 ∧ d !! 2 = Some s.2) ∨
     (¬ counts header ∧ d !! 3 = Some s.1 ∧ d !! 4 = Some s.2)).

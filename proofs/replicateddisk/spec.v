(** * Specification of examples/replicateddisk: one disk

    A transition system over values.  A call is the operation's name and its
    arguments, with byte strings for byte slices. *)
From ashlar.trusted Require Import disk.
From ashlar.lang Require Import notation.

(** The blocks. *)
Notation state := (gmap Z (list Z)) (only parsing).

Definition read_call (a : Z) : val := (#(str "Read"), #(u64 a)).
Definition write_call (a : Z) (b : list Z) : val := (#(str "Write"), (#(u64 a), #(LitStr b))).

(** [step call s ret s']: a read gives the block of its address, a write
    replaces it. *)
Inductive step : val → state → val → state → Prop :=
  | ReadS a b s : s !! a = Some b → step (read_call a) s #(LitStr b) s
  | WriteS a b s : is_Some (s !! a) → block_ok b → step (write_call a b) s #() (<[a:=b]> s).

(** A crash changes nothing: what was acknowledged stays. *)
Inductive crash : state → state → Prop :=
  | CrashS s : crash s s.

(** * A client of the replicated disk: any calls that the specification allows *)
From ashlar.gen.examples Require replicateddisk.
From ashlar.trusted Require Export primitive.

(** Any address of a disk of [n] blocks, any block. *)
Definition any_address (n : Z) : val :=
  rec: "again" <> :=
    let: "a" := Eff (ArbOp (ArbInt U64)) #() in
    if: "a" < #(u64 n) then "a" else "again" #().
Definition any_block : val :=
  rec: "again" <> :=
    let: "s" := Eff (ArbOp ArbBytes) #() in
    if: string_len "s" = #(int 4096) then "s" else "again" #().
(** Any call. *)
Definition any_call (n : Z) : val :=
  λ: <>,
    let: "a" := any_address n #() in
    if: Eff (ArbOp ArbBool) #() then InjL "a"
    else let: "b" := any_block #() in InjR ("a", "b").
(** Make the call, give the result. *)
Definition do_call : val :=
  λ: "d" "call",
    match: "call" with
      InjL "a" => slice_to_string (replicateddisk.Disk__Read "d" "a")
    | InjR "write" =>
      replicateddisk.Disk__Write "d" (Fst "write") (string_to_slice (Snd "write"))
    end.

(** * A client of the pair: any calls that the specification allows *)
From ashlar.gen.examples Require shadowcopy.
From ashlar.trusted Require Export primitive.

(** Any block. *)
Definition any_block : val :=
  rec: "again" <> :=
    let: "s" := Eff (ArbOp ArbBytes) #() in
    if: string_len "s" = #(int 4096) then "s" else "again" #().
(** Any call. *)
Definition any_call : val :=
  λ: <>,
    if: Eff (ArbOp ArbBool) #() then InjL #()
    else let: "a" := any_block #() in let: "b" := any_block #() in InjR ("a", "b").
(** Make the call, give the result. *)
Definition do_call : val :=
  λ: "p" "call",
    match: "call" with
      InjL <> =>
      let2: "a" "b" := shadowcopy.Pair__Read "p" in
      (slice_to_string "a", slice_to_string "b")
    | InjR "blocks" =>
      shadowcopy.Pair__Write "p" (string_to_slice (Fst "blocks")) (string_to_slice (Snd "blocks"))
    end.

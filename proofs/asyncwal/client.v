(** * A client of the pair: any calls that the specification allows *)
From ashlar.gen.examples Require asyncwal.
From ashlar.lang Require Export golib.
From ashlar.trusted Require Export primitive.

(** A block, as the environment likes. *)
Definition any_block : val :=
  rec: "again" <> :=
    let: "s" := Eff (ArbOp ArbBytes) #() in
    if: string_len "s" = #(int 4096) then "s" else "again" #().
(** A call. *)
Definition any_call : val :=
  λ: <>,
    if: Eff (ArbOp ArbBool) #() then InjL #()
    else
      let: "a" := any_block #() in
      let: "b" := any_block #() in
      InjR ("a", "b").
(** Make the call, give the result. *)
Definition do_call : val :=
  λ: "l" "call",
    match: "call" with
      InjL <> =>
      let2: "a" "b" := asyncwal.Log__Read "l" in
      let: "a" := slice_to_string "a" in
      let: "b" := slice_to_string "b" in
      ("a", "b")
    | InjR "s" =>
      let: "a" := string_to_slice (Fst "s") in
      let: "b" := string_to_slice (Snd "s") in
      asyncwal.Log__Commit "l" "a" "b"
    end.

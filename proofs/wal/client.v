(** * A client of the write-ahead log: any calls that the specification allows *)
From ashlar.gen.examples Require wal.
From ashlar.lang Require Export golib.
From ashlar.trusted Require Export primitive.

(** An address and a block, as the environment likes, on a disk of [N] blocks. *)
Definition any_addr (N : Z) : val :=
  rec: "again" <> :=
    let: "a" := Eff (ArbOp (ArbInt U64)) #() in
    if: (#(u64 512) ≤ "a") && ("a" < #(u64 N)) then "a" else "again" #().
Definition any_block : val :=
  rec: "again" <> :=
    let: "s" := Eff (ArbOp ArbBytes) #() in
    if: string_len "s" = #(int 4096) then "s" else "again" #().
(** A list of at most [n] updates. *)
Definition any_updates (N : Z) : val :=
  rec: "any" "n" :=
    if: "n" = #(int 0) then InjL #()
    else if: Eff (ArbOp ArbBool) #() then InjL #()
    else
      let: "a" := any_addr N #() in
      let: "s" := any_block #() in
      let: "us" := "any" ("n" - #(int 1)) in
      InjR (("a", "s"), "us").
(** A call. *)
Definition any_call (N : Z) : val :=
  λ: <>, if: Eff (ArbOp ArbBool) #() then InjL (any_addr N #()) else InjR (any_updates N #(int 511)).

(** The slices of a list of updates. *)
Definition to_slices : val :=
  rec: "loop" "us" "addrs" "blocks" :=
    match: "us" with
      InjL <> => ("addrs", "blocks")
    | InjR "c" =>
      let: "addrs" := append_one uint64T "addrs" (Fst (Fst "c")) in
      let: "blocks" := append_one sliceT "blocks" (string_to_slice (Snd (Fst "c"))) in
      "loop" (Snd "c") "addrs" "blocks"
    end.
(** Make the call, give the result. *)
Definition do_call : val :=
  λ: "l" "call",
    match: "call" with
      InjL "a" => slice_to_string (wal.Log__Read "l" "a")
    | InjR "us" =>
      let2: "addrs" "blocks" := to_slices "us" slice_nil slice_nil in
      wal.Log__Commit "l" "addrs" "blocks"
    end.

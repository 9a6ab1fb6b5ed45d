(** * Conversions of strings, as Go makes them

    The array behind [[]byte(s)] may be longer than the string, by how much is
    the compiler's business: so an append to the slice may or may not move it. *)
From ashlar.lang Require Export golib.

(** []byte(s) in a program.  ([string_to_slice] is for slices whose makers say how
    long the array is.) *)
Definition string_to_bytes : val :=
  λ: "s",
    let: "n" := UnOp StrLenOp "s" in
    let: "c" := "n" + UnOp (ToIntOp I64) (Eff (ArbOp (ArbInt U32)) #()) in
    let: "new" := ((alloc_zero byteT "c", "n"), "c") in
    copy_up byteT "new" (string_to_slice "s") #(int 0) "n";;
    "new".

(** * Functions of Go's standard library, and builtins that few programs need

    Each is written in the language, from Go's documentation; programs of
    [internal/goose/testdata/semantics/packages.go] run them here and in Go.  A
    function that Go leaves free to choose (the capacity of a grown slice, the
    order of equals after a sort) is free here too. *)
From ashlar.lang Require Export golib.
Local Open Scope Z_scope.

Module std.
  (** ** Builtins *)
  Definition min : val := λ: "x" "y", if: "y" < "x" then "y" else "x".
  Definition max : val := λ: "x" "y", if: "x" < "y" then "y" else "x".
  (** s[i:j:k] *)
  Definition slice_full (t : ty) : val :=
    λ: "s" "i" "j" "k",
      let: "i" := UnOp (ToIntOp I64) "i" in let: "j" := UnOp (ToIntOp I64) "j" in
      let: "k" := UnOp (ToIntOp I64) "k" in
      assert (#(int 0) ≤ "i");; assert ("i" ≤ "j");; assert ("j" ≤ "k");; assert ("k" ≤ slice_cap "s");;
      if: slice_ptr "s" = #null then "s"
      else ((slice_ptr "s" +ₗ ("i" * #(int (ty_size t))), "j" - "i"), "k" - "i").
  Definition clear_slice (t : ty) : val :=
    λ: "s", range_simple I64 (slice_len "s") (λ: "i", slice_set t "s" "i" (zero_val t)).
  Definition clear_map : val :=
    λ: "m", if: "m" = #null then #() else Eff PrepareWriteOp "m";; Eff FinishStoreOp ("m", map_empty).

  (** ** Integers of 8, 16 and 32 bits with a sign

      Such a number is an [int] in its range; what arithmetic gives is brought
      back into it. *)
  Definition int_low (bits : Z) : val :=
    λ: "n", (("n" + #(int (2 ^ (bits - 1)))) `and` #(int (2 ^ bits - 1))) - #(int (2 ^ (bits - 1))).
  Definition to_int8 : val := λ: "n", int_low 8 (UnOp (ToIntOp I64) "n").
  Definition to_int16 : val := λ: "n", int_low 16 (UnOp (ToIntOp I64) "n").
  Definition to_int32 : val := λ: "n", int_low 32 (UnOp (ToIntOp I64) "n").

  (** ** Arrays: values are nested pairs, cells lie one after the other *)
  Fixpoint arrayT (n : nat) (t : ty) : ty :=
    match n with O => UnitT | S n => PairT t (arrayT n t) end.
  (** &a[i], of the array at "l" *)
  Definition array_ref (n : Z) (t : ty) : val :=
    λ: "l" "i", let: "i" := UnOp (ToIntOp I64) "i" in
                assert (#(int 0) ≤ "i");; assert ("i" < #(int n));; "l" +ₗ ("i" * #(int (ty_size t))).
  (** a[i] of an array that is a value *)
  Definition array_get (n : Z) : val :=
    λ: "a" "i", let: "i" := UnOp (ToIntOp I64) "i" in
      assert (#(int 0) ≤ "i");; assert ("i" < #(int n));;
      (rec: "go" "a" "i" := if: "i" = #(int 0) then Fst "a" else "go" (Snd "a") ("i" - #(int 1))) "a" "i".
  (** a[:] of the array at "l" *)
  Definition array_slice (n : Z) : val := λ: "l", (("l" +ₗ #(int 0), #(int n)), #(int n)).

  (** ** Errors: what is known of one is whether it is nil, and which one it is *)
  Definition new_error : val := λ: <>, ref_zero unitT #().

  (** What an error wraps, and the texts that formatting makes, are not in the
      model: the environment chooses. *)
  Definition error_is : val :=
    λ: "err" "target",
      if: "err" = "target" then #true else
      if: "err" = #null then #false else Eff (ArbOp ArbBool) #().
  Definition any_text : val := λ: <>, Eff (ArbOp ArbBytes) #().
  Definition error_text : val := λ: "there", assert "there";; any_text #().

  (** ** Interfaces: nothing, or a value and the table of its methods

      [method] gives a method, bound to the value; one without parameters is
      thereby called. *)
  Definition interface_nil : val := InjLV #().
  Notation interfaceT := (BaseT interface_nil).
  Fixpoint dispatch (methods : list (string * val)) : expr :=
    match methods with
    | [] => Fst #()
    | (name, f) :: methods => If (BinOp EqOp (Var "name") #(str name)) (Val f) (dispatch methods)
    end.
  Definition no_methods : list (string * val) := [].
  Definition entry (name : string) (f : val) (rest : list (string * val)) := (name, f) :: rest.
  Definition interface (methods : list (string * val)) : val :=
    λ: "x", InjR ("x", λ: "name", dispatch methods).
  Definition method (name : string) : val :=
    λ: "i", match: "i" with
              InjL <> => panic #()
            | InjR "p" => (Snd "p") #(str name) (Fst "p")
            end.
  Definition interface_is_nil : val := λ: "i", match: "i" with InjL <> => #true | InjR <> => #false end.

  (** ** cmp *)
  Definition compare : val :=
    λ: "x" "y", if: "x" < "y" then #(int (-1)) else if: "y" < "x" then #(int 1) else #(int 0).
  Definition or (zero : val) : val := λ: "x" "y", if: "x" = zero then "y" else "x".

  (** ** bytes *)
  Definition bytes_compare : val :=
    λ: "a" "b",
      (rec: "go" "i" :=
         if: slice_len "a" ≤ "i" then if: slice_len "b" ≤ "i" then #(int 0) else #(int (-1))
         else if: slice_len "b" ≤ "i" then #(int 1)
         else let: "x" := slice_get byteT "a" "i" in let: "y" := slice_get byteT "b" "i" in
              if: "x" < "y" then #(int (-1)) else if: "y" < "x" then #(int 1) else "go" ("i" + #(int 1)))
      #(int 0).
  Definition bytes_equal : val :=
    λ: "a" "b", if: slice_len "a" = slice_len "b" then bytes_compare "a" "b" = #(int 0) else #false.
  Definition bytes_has_prefix : val :=
    λ: "a" "b", if: slice_len "a" < slice_len "b" then #false
                else bytes_equal (slice_take byteT "a" (slice_len "b")) "b".
  (** nil stays nil; else the copy is a slice that is not nil, even of no length. *)
  Definition bytes_clone : val :=
    λ: "b", if: slice_ptr "b" = #null then slice_nil
            else append_slice byteT (make_slice byteT #(int 0)) "b".

  (** ** encoding/binary

      [place] is where byte i (the least significant is 0) of n stands. *)
  Definition little (n : Z) : val := λ: "i", "i".
  Definition big (n : Z) : val := λ: "i", #(int (n - 1)) - "i".
  Definition get_uint (w : width) (n : Z) (place : val) : val :=
    λ: "b", slice_get byteT "b" #(int (n - 1));;
      (rec: "go" "i" "x" :=
         if: "i" < #(int n) then
           "go" ("i" + #(int 1)) ("x" `or` (to_int w (slice_get byteT "b" (place "i")) ≪ ("i" * #(int 8))))
         else "x") #(int 0) #(LitInt w 0).
  Definition put_uint (n : Z) (place : val) : val :=
    λ: "b" "x", slice_get byteT "b" #(int (n - 1));;
      range_simple I64 #(int n) (λ: "i", slice_set byteT "b" (place "i") (to_int U8 ("x" ≫ ("i" * #(int 8))))).
  Definition append_uint (n : Z) (place : val) : val :=
    λ: "b" "x", let: "new" := make_slice byteT #(int n) in
                put_uint n place "new" "x";; append_slice byteT "b" "new".
  Definition le_uint16 : val := get_uint U16 2 (little 2).
  Definition le_uint32 : val := get_uint U32 4 (little 4).
  Definition le_uint64 : val := get_uint U64 8 (little 8).
  Definition le_put_uint16 : val := put_uint 2 (little 2).
  Definition le_put_uint32 : val := put_uint 4 (little 4).
  Definition le_put_uint64 : val := put_uint 8 (little 8).
  Definition le_append_uint16 : val := append_uint 2 (little 2).
  Definition le_append_uint32 : val := append_uint 4 (little 4).
  Definition le_append_uint64 : val := append_uint 8 (little 8).
  Definition be_uint16 : val := get_uint U16 2 (big 2).
  Definition be_uint32 : val := get_uint U32 4 (big 4).
  Definition be_uint64 : val := get_uint U64 8 (big 8).
  Definition be_put_uint16 : val := put_uint 2 (big 2).
  Definition be_put_uint32 : val := put_uint 4 (big 4).
  Definition be_put_uint64 : val := put_uint 8 (big 8).
  Definition be_append_uint16 : val := append_uint 2 (big 2).
  Definition be_append_uint32 : val := append_uint 4 (big 4).
  Definition be_append_uint64 : val := append_uint 8 (big 8).

  (** Seven bits to the byte, the lowest first; the others have the eighth bit set. *)
  Definition append_uvarint : val :=
    rec: "go" "b" "x" :=
      if: "x" < #(u64 128) then append_one byteT "b" (to_int U8 "x")
      else "go" (append_one byteT "b" (to_int U8 "x" `or` #(u8 128))) ("x" ≫ #(int 7)).
  (** The number and how many bytes it takes: 0 if they end too early, and below 0 if
      it is too large. *)
  Definition uvarint : val :=
    λ: "b",
      (rec: "go" "i" "x" :=
         if: slice_len "b" ≤ "i" then (#(u64 0), #(int 0)) else
         if: "i" = #(int 10) then (#(u64 0), #(int (-11))) else
         let: "c" := slice_get byteT "b" "i" in
         if: "c" < #(u8 128) then
           if: (if: "i" = #(int 9) then #(u8 1) < "c" else #false) then (#(u64 0), #(int (-10)))
           else ("x" `or` (to_int U64 "c" ≪ ("i" * #(int 7))), "i" + #(int 1))
         else "go" ("i" + #(int 1)) ("x" `or` (to_int U64 ("c" `and` #(u8 127)) ≪ ("i" * #(int 7)))))
      #(int 0) #(u64 0).

  (** ** math/bits *)
  (** The bits from the lowest one up to bit n. *)
  Definition ones_count : val :=
    λ: "x", let: "x" := to_int U64 "x" in
      (rec: "go" "x" "n" :=
         if: "x" = #(u64 0) then "n" else "go" ("x" ≫ #(int 1)) ("n" + to_int I64 ("x" `and` #(u64 1)))) "x" #(int 0).
  Definition bit_len : val :=
    λ: "x", let: "x" := to_int U64 "x" in
      (rec: "go" "x" "n" := if: "x" = #(u64 0) then "n" else "go" ("x" ≫ #(int 1)) ("n" + #(int 1))) "x" #(int 0).
  Definition leading_zeros (bits : Z) : val := λ: "x", #(int bits) - bit_len "x".
  Definition trailing_zeros (bits : Z) : val :=
    λ: "x", let: "x" := to_int U64 "x" in
      (rec: "go" "n" :=
         if: "n" < #(int bits) then
           if: (("x" ≫ "n") `and` #(u64 1)) = #(u64 1) then "n" else "go" ("n" + #(int 1))
         else "n") #(int 0).
  (** The high half and the low half of x * y: the schoolbook's way with digits of 32 bits. *)
  Definition mul64 : val :=
    λ: "x" "y",
      let: "x0" := "x" `and` #(u64 4294967295) in let: "x1" := "x" ≫ #(int 32) in
      let: "y0" := "y" `and` #(u64 4294967295) in let: "y1" := "y" ≫ #(int 32) in
      let: "t" := "x1" * "y0" + (("x0" * "y0") ≫ #(int 32)) in
      let: "w" := ("t" `and` #(u64 4294967295)) + "x0" * "y1" in
      ("x1" * "y1" + ("t" ≫ #(int 32)) + ("w" ≫ #(int 32)), "x" * "y").

  (** ** slices *)
  Definition clone (t : ty) : val :=
    λ: "s", if: slice_ptr "s" = #null then "s"
            else append_slice t (slice_full t "s" #(int 0) #(int 0) #(int 0)) "s".
  (** Insert of one value: in place while there is room. *)
  Definition insert (t : ty) : val :=
    λ: "s" "i" "v",
      let: "i" := UnOp (ToIntOp I64) "i" in
      let: "n" := slice_len "s" in
      assert (#(int 0) ≤ "i");; assert ("i" ≤ "n");;
      let: "new" := grow_slice t "s" ("n" + #(int 1)) in
      copy_slice t (slice_drop t "new" ("i" + #(int 1))) (slice_sub t "new" "i" "n");;
      slice_set t "new" "i" "v";; "new".
  (** What is behind the end afterwards is zero. *)
  Definition delete (t : ty) : val :=
    λ: "s" "i" "j",
      let: "i" := UnOp (ToIntOp I64) "i" in let: "j" := UnOp (ToIntOp I64) "j" in
      let: "n" := slice_len "s" in
      assert (#(int 0) ≤ "i");; assert ("i" ≤ "j");; assert ("j" ≤ "n");;
      if: "i" = "j" then "s" else
      copy_slice t (slice_drop t "s" "i") (slice_drop t "s" "j");;
      let: "rest" := "n" - ("j" - "i") in
      clear_slice t (slice_sub t "s" "rest" "n");;
      slice_take t "s" "rest".
  (** s with v for s[i:j]; v is read before anything is written. *)
  Definition replace (t : ty) : val :=
    λ: "s" "i" "j" "v",
      let: "i" := UnOp (ToIntOp I64) "i" in let: "j" := UnOp (ToIntOp I64) "j" in
      let: "n" := slice_len "s" in let: "m" := slice_len "v" in
      assert (#(int 0) ≤ "i");; assert ("i" ≤ "j");; assert ("j" ≤ "n");;
      if: (if: "i" = "j" then "m" = #(int 0) else #false) then "s" else
      let: "values" := make_slice t "m" in
      copy_slice t "values" "v";;
      let: "total" := "n" - ("j" - "i") + "m" in
      let: "new" := if: "total" ≤ "n" then "s" else grow_slice t "s" "total" in
      copy_slice t (slice_drop t "new" ("i" + "m")) (slice_sub t "new" "j" "n");;
      copy_slice t (slice_drop t "new" "i") "values";;
      (if: "total" < "n" then clear_slice t (slice_sub t "new" "total" "n") else #());;
      slice_take t "new" "total".
  Definition reverse (t : ty) : val :=
    λ: "s", let: "n" := slice_len "s" in
      range_simple I64 ("n" `quot` #(int 2)) (λ: "i",
        let: "j" := "n" - #(int 1) - "i" in
        let: "x" := slice_get t "s" "i" in let: "y" := slice_get t "s" "j" in
        slice_set t "s" "i" "y";; slice_set t "s" "j" "x").
  Definition index (t : ty) : val :=
    λ: "s" "v",
      (rec: "go" "i" :=
         if: "i" < slice_len "s" then
           if: slice_get t "s" "i" = "v" then "i" else "go" ("i" + #(int 1))
         else #(int (-1))) #(int 0).
  Definition contains (t : ty) : val := λ: "s" "v", #(int 0) ≤ index t "s" "v".
  (** sort.Search and slices.BinarySearchFunc ask what Go's ask, in its order. *)
  Definition search : val :=
    λ: "n" "f",
      (rec: "go" "i" "j" :=
         if: "i" < "j" then
           let: "h" := to_int I64 (to_int U64 ("i" + "j") ≫ #(int 1)) in
           if: "f" "h" then "go" "i" "h" else "go" ("h" + #(int 1)) "j"
         else "i") #(int 0) "n".
  Definition binary_search_func (t : ty) : val :=
    λ: "s" "target" "cmp",
      let: "i" := search (slice_len "s")
                    (λ: "h", #(int 0) ≤ "cmp" (slice_get t "s" "h") "target") in
      ("i", if: "i" < slice_len "s" then "cmp" (slice_get t "s" "i") "target" = #(int 0) else #false).
  Definition binary_search (t : ty) : val := λ: "s" "target", binary_search_func t "s" "target" compare.
  Definition clip (t : ty) : val := λ: "s", slice_full t "s" #(int 0) (slice_len "s") (slice_len "s").
  (** A sort may leave equals in any order: so it takes the elements in any order,
      and puts each one behind those that are not larger. *)
  Definition sort_func (t : ty) : val :=
    λ: "s" "cmp",
      let: "list" :=
        (rec: "read" "i" "l" :=
           if: "i" < slice_len "s" then "read" ("i" + #(int 1)) (InjR (slice_get t "s" "i", "l")) else "l")
        #(int 0) (InjL #()) in
      (rec: "take" "l" "n" :=
         match: "l" with
           InjL <> => #()
         | InjR "c" =>
           let: "v" := Fst "c" in
           (rec: "sink" "i" :=
              if: "i" = #(int 0) then slice_set t "s" "i" "v" else
              let: "before" := slice_get t "s" ("i" - #(int 1)) in
              if: "cmp" "v" "before" < #(int 0) then slice_set t "s" "i" "before";; "sink" ("i" - #(int 1))
              else slice_set t "s" "i" "v") "n";;
           "take" (Snd "c") ("n" + #(int 1))
         end) (Eff PermuteOp "list") #(int 0).
  Definition sort (t : ty) : val := λ: "s", sort_func t "s" compare.
End std.

(** * The Go that is written in the language itself

    Types, structs, slices, maps, strings, control flow: what the translator's
    output calls.  Panics of Go (nil, bounds, division by zero, [panic]) have no
    step, so a proved program has none. *)
From ashlar.lang Require Export notation.
Local Open Scope Z_scope.

(** ** Panics *)
Definition panic : val := λ: "message", Fst #().
(** [assert b]: stuck unless b. *)
Definition assert : val := λ: "b", if: "b" then #() else panic #().

(** ** Types: how many cells, and what is in them

    A struct is the product of its fields, closed by [UnitT]; its fields lie one
    after the other in memory.  Every other type takes one cell. *)
Inductive ty :=
  | BaseT (zero : val)
  | PairT (t1 t2 : ty)
  | UnitT.
Notation intT w := (BaseT (LitV (LitInt w 0))).
Notation uint64T := (intT U64).
Notation uint32T := (intT U32).
Notation uint16T := (intT U16).
Notation byteT := (intT U8).
Notation int64T := (intT I64).
Notation boolT := (BaseT (LitV (LitBool false))).
Notation stringT := (BaseT (LitV (LitStr []))).
Notation ptrT := (BaseT (LitV LitNull)).
Notation funcT := (BaseT (LitV LitNull)).
Notation mapT := (BaseT (LitV LitNull)).
Notation unitT := (BaseT (LitV LitUnit)).
(** A slice is ((location, length), capacity). *)
Definition slice_nil : val := PairV (PairV #null #(int 0)) #(int 0).
Notation sliceT := (BaseT slice_nil).
(** The sync types are held in place, as in Go: see [trusted/sync.v]. *)
Notation mutexT := (BaseT (LitV (LitBool false))).

Fixpoint ty_size (t : ty) : Z :=
  match t with BaseT _ => 1 | PairT t1 t2 => ty_size t1 + ty_size t2 | UnitT => 0 end.
Fixpoint zero_val (t : ty) : val :=
  match t with BaseT v => v | PairT t1 t2 => PairV (zero_val t1) (zero_val t2) | UnitT => #() end.
(** The cells of a value of a type, in order. *)
Fixpoint flatten (t : ty) (v : val) : list val :=
  match t, v with
  | BaseT _, _ => [v]
  | PairT t1 t2, PairV v1 v2 => flatten t1 v1 ++ flatten t2 v2
  | _, _ => []
  end.

(** ** Structs *)
Definition struct := list (string * ty).
Fixpoint structT (d : struct) : ty :=
  match d with [] => UnitT | (_, t) :: d => PairT t (structT d) end.
Fixpoint field_offset (d : struct) (f : string) : Z :=
  match d with
  | [] => 0
  | (g, t) :: d => if String.eqb g f then 0 else ty_size t + field_offset d f
  end.
Fixpoint field_ty (d : struct) (f : string) : ty :=
  match d with
  | [] => UnitT
  | (g, t) :: d => if String.eqb g f then t else field_ty d f
  end.
Fixpoint field_get_expr (d : struct) (f : string) (e : expr) : expr :=
  match d with
  | [] => Fst #()
  | (g, _) :: d => if String.eqb g f then Fst e else field_get_expr d f (Snd e)
  end.
(** [field_get d f v]: the field of a struct value. *)
Definition field_get (d : struct) (f : string) : val := λ: "v", field_get_expr d f "v".
(** [&p.f] *)
Notation "e .[ d , f ]" := (BinOp OffsetOp e%E (Val (LitV (LitInt I64 (field_offset d f)))))
  (at level 2, left associativity, d, f at level 200, format "e .[ d ,  f ]") : expr_scope.

(** ** Variables and typed memory *)

(** Loads and stores of all cells of a type. *)
Fixpoint load_expr (t : ty) (l : expr) : expr :=
  match t with
  | BaseT _ => Eff LoadOp l
  | PairT t1 t2 => Pair (load_expr t1 l) (load_expr t2 (BinOp OffsetOp l (Val #(int (ty_size t1)))))
  | UnitT => Val #()
  end.
Definition load (t : ty) : val := λ: "l", load_expr t "l".
Definition store1 (l v : expr) : expr :=
  App (Lam BAnon (Eff FinishStoreOp (Pair l v))) (Eff PrepareWriteOp l).
Fixpoint store_expr (t : ty) (l v : expr) : expr :=
  match t with
  | BaseT _ => store1 l v
  | PairT t1 t2 =>
    App (Lam BAnon (store_expr t2 (BinOp OffsetOp l (Val #(int (ty_size t1)))) (Snd v)))
      (store_expr t1 l (Fst v))
  | UnitT => Val #()
  end.
Definition store (t : ty) : val := λ: "l" "v", store_expr t "l" "v".
Notation "![ t ] e" := (App (Val (load t)) e%E)
  (at level 9, right associativity, format "![ t ]  e") : expr_scope.
Notation "e1 <-[ t ] e2" := (App (App (Val (store t)) e1%E) e2%E)
  (at level 80, format "e1  <-[ t ]  e2") : expr_scope.

(** [alloc_zero t n]: n values of type t, all zero. *)
Definition alloc_zero (t : ty) : val :=
  λ: "n", Eff AllocOp ("n", list_val (flatten t (zero_val t))).
(** A new variable of type t, and its location. *)
Definition ref_zero (t : ty) : val := λ: <>, alloc_zero t #(int 1).
Definition ref (t : ty) : val :=
  match t with
  | BaseT _ => λ: "v", Eff AllocOp (#(int 1), InjR ("v", InjL #()))
  | _ => λ: "v", let: "l" := ref_zero t #() in "l" <-[t] "v";; "l"
  end.

(** ** Strings and integers *)
Definition to_int (w : width) : val := λ: "n", UnOp (ToIntOp w) "n".
Definition string_len : val := λ: "s", UnOp StrLenOp "s".
Definition string_get : val := λ: "s" "i", BinOp StrGetOp "s" (UnOp (ToIntOp I64) "i").
(** s[i:j] *)
Definition string_sub : val :=
  λ: "s" "i" "j", BinOp StrDropOp (BinOp StrTakeOp "s" (UnOp (ToIntOp I64) "j")) (UnOp (ToIntOp I64) "i").

(** ** Slices *)
Definition slice_ptr : val := λ: "s", Fst (Fst "s").
Definition slice_len : val := λ: "s", Snd (Fst "s").
Definition slice_cap : val := λ: "s", Snd "s".
(** make([]T, n), make([]T, n, cap) *)
Definition make_slice (t : ty) : val :=
  λ: "n", let: "n" := UnOp (ToIntOp I64) "n" in
          assert (#(int 0) ≤ "n");; ((alloc_zero t "n", "n"), "n").
Definition make_slice_cap (t : ty) : val :=
  λ: "n" "c", let: "n" := UnOp (ToIntOp I64) "n" in let: "c" := UnOp (ToIntOp I64) "c" in
          assert (#(int 0) ≤ "n");; assert ("n" ≤ "c");; ((alloc_zero t "c", "n"), "c").
(** &s[i] *)
Definition slice_ref (t : ty) : val :=
  λ: "s" "i", let: "i" := UnOp (ToIntOp I64) "i" in
              assert (#(int 0) ≤ "i");; assert ("i" < slice_len "s");;
              slice_ptr "s" +ₗ ("i" * #(int (ty_size t))).
Definition slice_get (t : ty) : val := λ: "s" "i", ![t] (slice_ref t "s" "i").
Definition slice_set (t : ty) : val := λ: "s" "i" "v", slice_ref t "s" "i" <-[t] "v".
(** s[i:j]; j may go up to the capacity.  A nil slice can only be cut to itself. *)
Definition slice_sub (t : ty) : val :=
  λ: "s" "i" "j",
    let: "i" := UnOp (ToIntOp I64) "i" in let: "j" := UnOp (ToIntOp I64) "j" in
    assert (#(int 0) ≤ "i");; assert ("i" ≤ "j");; assert ("j" ≤ slice_cap "s");;
    if: slice_ptr "s" = #null then "s"
    else ((slice_ptr "s" +ₗ ("i" * #(int (ty_size t))), "j" - "i"), slice_cap "s" - "i").
Definition slice_take (t : ty) : val := λ: "s" "j", slice_sub t "s" #(int 0) "j".
Definition slice_drop (t : ty) : val := λ: "s" "i", slice_sub t "s" "i" (slice_len "s").
(** copy(dst, src), which gives how many elements it copied. *)
Definition copy_up (t : ty) : val :=
  rec: "copy" "dst" "src" "i" "n" :=
    if: "i" < "n" then
      slice_set t "dst" "i" (slice_get t "src" "i");; "copy" "dst" "src" ("i" + #(int 1)) "n"
    else #().
(** The two may overlap in any way: the elements are read before any is written. *)
Definition copy_slice (t : ty) : val :=
  λ: "dst" "src",
    let: "n" := if: slice_len "dst" < slice_len "src" then slice_len "dst" else slice_len "src" in
    let: "between" := make_slice t "n" in
    copy_up t "between" "src" #(int 0) "n";;
    copy_up t "dst" "between" #(int 0) "n";;
    "n".
(** No memory has room for more elements than this: append stops there, as a Go
    process does that is out of memory, and does not overflow an int. *)
Definition max_elems : Z := 2^48.
Definition out_of_memory : val := rec: "stop" <> := "stop" #().
(** append(s, v): in place while there is room, else into a new array, whose
    capacity the environment chooses. *)
Definition grow_slice (t : ty) : val :=
  λ: "s" "n",
    if: "n" ≤ slice_cap "s" then ((slice_ptr "s", "n"), slice_cap "s")
    else
      let: "extra" := UnOp (ToIntOp I64) (Eff (ArbOp (ArbInt U32)) #()) in
      let: "c" := "n" + "extra" in
      (if: #(int max_elems) < "c" then out_of_memory #() else #());;
      let: "p" := alloc_zero t "c" in
      let: "new" := (("p", "n"), "c") in
      copy_up t "new" "s" #(int 0) (slice_len "s");; "new".
Definition append_one (t : ty) : val :=
  λ: "s" "v",
    let: "n" := slice_len "s" in
    let: "new" := grow_slice t "s" ("n" + #(int 1)) in
    slice_set t "new" "n" "v";; "new".
Definition append_slice (t : ty) : val :=
  λ: "s" "s2",
    if: slice_len "s2" = #(int 0) then "s" else
    let: "n" := slice_len "s" in
    let: "new" := grow_slice t "s" ("n" + slice_len "s2") in
    copy_slice t (slice_drop t "new" "n") "s2";; "new".
(** []byte(s) and string(b). *)
Definition string_to_slice : val :=
  λ: "s", ((Eff AllocBytesOp "s", UnOp StrLenOp "s"), UnOp StrLenOp "s").
Definition slice_to_string : val :=
  λ: "s", if: slice_len "s" = #(int 0) then #(LitStr []) else Eff LoadBytesOp (slice_ptr "s", slice_len "s").

(** ** Maps: a pointer to one cell that holds a map value *)
Definition map_empty : val := InjLV #().
Definition new_map : val := λ: <>, Eff AllocOp (#(int 1), InjR (map_empty, InjL #())).
Definition map_value : val := λ: "m", if: "m" = #null then map_empty else Eff LoadOp "m".
(** v, ok := m[k]; [zero] is the zero value of the element type. *)
Definition map_get2 (zero : val) : val :=
  λ: "m" "k", match: BinOp MapGetOp (map_value "m") "k" with
                InjL <> => (zero, #false) | InjR "v" => ("v", #true) end.
Definition map_get1 (zero : val) : val := λ: "m" "k", Fst (map_get2 zero "m" "k").
Definition map_insert : val :=
  λ: "m" "k" "v",
    let: "new" := BinOp MapSetOp (Eff LoadOp "m") ("k", "v") in
    Eff PrepareWriteOp "m";; Eff FinishStoreOp ("m", "new").
Definition map_delete : val :=
  λ: "m" "k", if: "m" = #null then #() else
    let: "new" := BinOp MapDelOp (Eff LoadOp "m") "k" in
    Eff PrepareWriteOp "m";; Eff FinishStoreOp ("m", "new").
Definition map_len : val := λ: "m", UnOp MapLenOp (map_value "m").

(** ** Control flow

    A statement that may leave its block early gives an outcome: [InjL ()] to go
    on; [InjR (InjL true)] break, [InjR (InjL false)] continue, [InjR (InjR v)]
    return v.  Statements that cannot leave give no outcome at all. *)
Definition go_on : val := InjLV #().
Definition break : val := InjRV (InjLV #true).
Definition continue : val := InjRV (InjLV #false).
Notation "'return:' e" := (InjR (InjR e%E)) (at level 190, e at level 190) : expr_scope.
(** s1; s2 where s1 may leave *)
Notation "e1 ;;; e2" := (Case e1%E (Lam BAnon e2%E) (Lam "__o" (InjR "__o")))
  (at level 100, e2 at level 200,
   format "'[' '[hv' '[' e1 ']' ;;;  ']' '/' e2 ']'") : expr_scope.
(** The body of a function: its result, or [#()] when it runs off its end. *)
Definition fun_result : val :=
  λ: "o", match: "o" with InjL <> => #() | InjR "l" =>
          match: "l" with InjL <> => panic #() | InjR "v" => "v" end end.
(** for cond { body; post }, where the body gives an outcome. *)
Definition for_loop : val :=
  λ: "cond" "body" "post",
    (rec: "loop" <> :=
       if: "cond" #() then
         match: "body" #() with
           InjL <> => "post" #();; "loop" #()
         | InjR "l" =>
           match: "l" with
             InjL "b" => if: "b" then go_on else ("post" #();; "loop" #())
           | InjR "v" => InjR (InjR "v")
           end
         end
       else go_on) #().
(** The same where the body cannot leave: it gives [()] and so does the loop. *)
Definition for_simple : val :=
  λ: "cond" "body" "post",
    (rec: "loop" <> :=
       if: "cond" #() then "body" #();; "post" #();; "loop" #() else #()) #().
(** for i := range n { body }, where i and n have the type [w]: the body takes i
    and cannot leave. *)
Definition range_simple (w : width) : val :=
  λ: "n" "body",
    (rec: "loop" "i" :=
       if: "i" < "n" then "body" "i";; "loop" ("i" + #(LitInt w 1)) else #()) #(LitInt w 0).
(** The same where the body gives an outcome, and so does the loop. *)
Definition range_loop (w : width) : val :=
  λ: "n" "body",
    (rec: "loop" "i" :=
       if: "i" < "n" then
         match: "body" "i" with
           InjL <> => "loop" ("i" + #(LitInt w 1))
         | InjR "l" =>
           match: "l" with
             InjL "b" => if: "b" then go_on else "loop" ("i" + #(LitInt w 1))
           | InjR "v" => InjR (InjR "v")
           end
         end
       else go_on) #(LitInt w 0).
(** for k, v := range m { body }: any order; the map must not change meanwhile.
    The body gives an outcome, as in [for_loop]. *)
Definition map_range : val :=
  λ: "m" "body",
    if: "m" = #null then go_on else
    let: "entries" := Eff PermuteOp (UnOp MapEntriesOp (Eff StartReadOp "m")) in
    let: "outcome" :=
      (rec: "loop" "l" :=
         match: "l" with
           InjL <> => go_on
         | InjR "c" =>
           match: "body" (Fst (Fst "c")) (Snd (Fst "c")) with
             InjL <> => "loop" (Snd "c")
           | InjR "l" =>
             match: "l" with
               InjL "b" => if: "b" then go_on else "loop" (Snd "c")
             | InjR "v" => InjR (InjR "v")
             end
           end
         end) "entries" in
    Eff FinishReadOp "m";; "outcome".

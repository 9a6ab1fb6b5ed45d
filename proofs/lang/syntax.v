(** * Syntax of the Go subset

    A call-by-value lambda calculus with Go's machine integers, flat memory and
    explicit non-atomic writes.  Everything that has an effect is one form,
    [Eff op e], whose argument is a tuple; so there is one evaluation context
    for all of them, and one case in every proof about effects.

    Source: "Verifying concurrent, crash-safe systems with Perennial" (SOSP'19),
    section 6; the two-step write is how a data race becomes a stuck program. *)
From stdpp Require Export binders strings gmap.
From iris.heap_lang Require Export locations.

(** ** Bytes and integers *)

(** A byte string: what a Go [string], a disk block and a file hold.  Elements
    are in [0, 256); nothing below depends on it. *)
Notation bytes := (list Z) (only parsing).

Inductive width := U8 | U16 | U32 | U64 | I64.
Global Instance width_eq_dec : EqDecision width.
Proof. solve_decision. Defined.

Definition width_bits (w : width) : Z :=
  match w with U8 => 8 | U16 => 16 | U32 => 32 | U64 => 64 | I64 => 64 end.
Definition width_signed (w : width) : bool := match w with I64 => true | _ => false end.

(** The value that Go's arithmetic gives to the mathematical integer [n]. *)
Definition wrap (w : width) (n : Z) : Z :=
  match w with
  | U8 => n `mod` 2^8 | U16 => n `mod` 2^16 | U32 => n `mod` 2^32 | U64 => n `mod` 2^64
  | I64 => (n + 2^63) `mod` 2^64 - 2^63
  end%Z.
Definition in_range (w : width) (n : Z) : Prop :=
  match w with
  | U8 => 0 ≤ n < 2^8 | U16 => 0 ≤ n < 2^16 | U32 => 0 ≤ n < 2^32 | U64 => 0 ≤ n < 2^64
  | I64 => -2^63 ≤ n < 2^63
  end%Z.

(** ** Operators without effect *)
Inductive un_op : Set :=
  | NegOp                       (* boolean negation *)
  | ComplOp                     (* ^x *)
  | ToIntOp (w : width)         (* conversion between integer types *)
  | StrLenOp                    (* len of a string, as int *)
  | MapLenOp                    (* number of entries of a map value, as int *)
  | MapEntriesOp.               (* the entries of a map value as a list value *)
Inductive bin_op : Set :=
  | PlusOp | MinusOp | MultOp | QuotOp | RemOp
  | AndOp | OrOp | XorOp | ShlOp | ShrOp
  | EqOp | LtOp | LeOp
  | OffsetOp                    (* pointer + count of cells *)
  | StrGetOp                    (* s[i] *)
  | StrTakeOp | StrDropOp       (* s[:i], s[i:] *)
  | MapGetOp                    (* map value, key: InjR value or InjL () *)
  | MapSetOp                    (* map value, (key, value) *)
  | MapDelOp.                   (* map value, key *)

(** ** Operations of the devices (their meaning: [proofs/trusted]) *)
Inductive dev_op : Set :=
  (* a synchronous disk that does not fail: disk.Read, Write, Size *)
  | DiskRead | DiskWrite | DiskSize
  (* two synchronous disks of which one may fail: disk.TwoRead, TwoWrite, TwoSize *)
  | TwoRead | TwoWrite | TwoSize
  (* a disk with a volatile cache: writes since the last barrier may be lost *)
  | AsyncRead | AsyncWrite | AsyncSize | AsyncBarrier
  (* a file system: directories, inodes, descriptors, links, append, fsync *)
  | FsCreate | FsOpen | FsAppend | FsReadAt | FsSize | FsClose
  | FsLink | FsUnlink | FsList | FsSync | FsSyncDir.

(** What the environment may choose. *)
Inductive arb := ArbInt (w : width) | ArbBool | ArbBytes.

(** ** Effects; each takes one value *)
Inductive eff_op : Set :=
  | AllocOp                     (* (#n, list of k values): n * k cells that hold the values n times over;
                                   gives the first location *)
  | AllocBytesOp                (* #s: one cell of type byte for each byte of s *)
  | LoadOp                      (* l *)
  | LoadBytesOp                 (* (l, #n): n cells of bytes as one string *)
  | PrepareWriteOp              (* l: first half of a store *)
  | FinishStoreOp               (* (l, v): second half *)
  | StartReadOp | FinishReadOp  (* l: a read that lasts, as a range over a map does *)
  | CmpXchgOp                   (* (l, (old, new)): did it swap *)
  | ArbOp (a : arb)             (* (): the environment's choice *)
  | PermuteOp                   (* a list value, in any order *)
  | EmitOp                      (* v: an observable event; gives its place in the trace *)
  | DevOp (d : dev_op).

Inductive base_lit : Set :=
  | LitInt (w : width) (n : Z) | LitBool (b : bool) | LitUnit
  | LitLoc (l : loc) | LitNull | LitStr (s : bytes).

Inductive expr :=
  | Val (v : val)
  | Var (x : string)
  | Rec (f x : binder) (e : expr)
  | App (e1 e2 : expr)
  | UnOp (op : un_op) (e : expr)
  | BinOp (op : bin_op) (e1 e2 : expr)
  | If (e0 e1 e2 : expr)
  | Pair (e1 e2 : expr)
  | Fst (e : expr)
  | Snd (e : expr)
  | InjL (e : expr)
  | InjR (e : expr)
  | Case (e0 e1 e2 : expr)
  | Fork (e : expr)
  | Eff (op : eff_op) (e : expr)
  | CrashLoop (e : expr)        (* the demon of a node; [e] is what a boot runs *)
with val :=
  | LitV (l : base_lit)
  | RecV (f x : binder) (e : expr)
  | PairV (v1 v2 : val)
  | InjLV (v : val)
  | InjRV (v : val).

Global Instance base_lit_eq_dec : EqDecision base_lit.
Proof. solve_decision. Defined.

Global Instance val_inhabited : Inhabited val := populate (LitV LitUnit).
Global Instance expr_inhabited : Inhabited expr := populate (Val inhabitant).

Fixpoint subst (x : string) (v : val) (e : expr) : expr :=
  match e with
  | Val _ => e
  | Var y => if decide (x = y) then Val v else Var y
  | Rec f y e => Rec f y $ if decide (BNamed x ≠ f ∧ BNamed x ≠ y) then subst x v e else e
  | App e1 e2 => App (subst x v e1) (subst x v e2)
  | UnOp op e => UnOp op (subst x v e)
  | BinOp op e1 e2 => BinOp op (subst x v e1) (subst x v e2)
  | If e0 e1 e2 => If (subst x v e0) (subst x v e1) (subst x v e2)
  | Pair e1 e2 => Pair (subst x v e1) (subst x v e2)
  | Fst e => Fst (subst x v e)
  | Snd e => Snd (subst x v e)
  | InjL e => InjL (subst x v e)
  | InjR e => InjR (subst x v e)
  | Case e0 e1 e2 => Case (subst x v e0) (subst x v e1) (subst x v e2)
  | Fork e => Fork (subst x v e)
  | Eff op e => Eff op (subst x v e)
  | CrashLoop e => CrashLoop (subst x v e)
  end.
Definition subst' (mx : binder) (v : val) : expr → expr :=
  match mx with BNamed x => subst x v | BAnon => id end.

(** ** Pure operators *)

(** Go's [==] on comparable values; [None] where Go would not compile or panic. *)
Fixpoint val_eqb (v1 v2 : val) : option bool :=
  match v1, v2 with
  | LitV l1, LitV l2 => Some (bool_decide (l1 = l2))
  | PairV a1 b1, PairV a2 b2 =>
    match val_eqb a1 a2, val_eqb b1 b2 with
    | Some x, Some y => Some (x && y) | _, _ => None
    end
  | InjLV a, InjLV b => val_eqb a b
  | InjRV a, InjRV b => val_eqb a b
  | InjLV _, InjRV _ | InjRV _, InjLV _ => Some false
  | _, _ => None
  end.

Definition int_op_eval (op : bin_op) (w : width) (a b : Z) : option base_lit :=
  match op with
  | PlusOp => Some $ LitInt w (wrap w (a + b))
  | MinusOp => Some $ LitInt w (wrap w (a - b))
  | MultOp => Some $ LitInt w (wrap w (a * b))
  | QuotOp => if decide (b = 0) then None else Some $ LitInt w (wrap w (Z.quot a b))
  | RemOp => if decide (b = 0) then None else Some $ LitInt w (wrap w (Z.rem a b))
  | AndOp => Some $ LitInt w (wrap w (Z.land a b))
  | OrOp => Some $ LitInt w (wrap w (Z.lor a b))
  | XorOp => Some $ LitInt w (wrap w (Z.lxor a b))
  | LtOp => Some $ LitBool (bool_decide (a < b))
  | LeOp => Some $ LitBool (bool_decide (a ≤ b))
  | _ => None
  end%Z.

(** The width of the count does not matter; a negative count panics in Go. *)
Definition shift_eval (op : bin_op) (w : width) (a b : Z) : option base_lit :=
  if decide (b < 0)%Z then None else
  match op with
  | ShlOp => Some $ LitInt w (if decide (width_bits w ≤ b) then 0 else wrap w (Z.shiftl a b))
  | ShrOp => Some $ LitInt w (Z.shiftr a (Z.min b (width_bits w)))
  | _ => None
  end%Z.

(** A map value: a chain of entries, [InjLV ()] at its end, newest first. *)
Fixpoint map_get (m k : val) : option val :=
  match m with
  | InjLV _ => Some (InjLV (LitV LitUnit))
  | InjRV (PairV (PairV k1 v1) rest) =>
    match val_eqb k1 k with
    | Some true => Some (InjRV v1) | Some false => map_get rest k | None => None
    end
  | _ => None
  end.
Fixpoint map_del (m k : val) : option val :=
  match m with
  | InjLV _ => Some m
  | InjRV (PairV (PairV k1 v1) rest) =>
    match val_eqb k1 k with
    | Some true => map_del rest k
    | Some false => (λ r, InjRV (PairV (PairV k1 v1) r)) <$> map_del rest k
    | None => None
    end
  | _ => None
  end.
Definition map_set (m k v : val) : option val :=
  (λ r, InjRV (PairV (PairV k v) r)) <$> map_del m k.

(** A list value: [InjLV ()] or [InjRV (head, tail)]. *)
Fixpoint list_val (l : list val) : val :=
  match l with [] => InjLV (LitV LitUnit) | v :: l => InjRV (PairV v (list_val l)) end.
Fixpoint val_list (v : val) : option (list val) :=
  match v with
  | InjLV (LitV LitUnit) => Some []
  | InjRV (PairV h t) => cons h <$> val_list t
  | _ => None
  end.
Lemma val_list_val l : val_list (list_val l) = Some l.
Proof. induction l as [|v l IH]; simpl; [done|]. by rewrite IH. Qed.

Definition un_op_eval (op : un_op) (v : val) : option val :=
  match op, v with
  | NegOp, LitV (LitBool b) => Some $ LitV $ LitBool (negb b)
  | ComplOp, LitV (LitInt w n) => Some $ LitV $ LitInt w (wrap w (Z.lnot n))
  | ToIntOp w, LitV (LitInt _ n) => Some $ LitV $ LitInt w (wrap w n)
  | StrLenOp, LitV (LitStr s) => Some $ LitV $ LitInt I64 (length s)
  | MapLenOp, m => (λ l, LitV $ LitInt I64 (length l)) <$> val_list m
  | MapEntriesOp, m => (λ _, m) <$> val_list m
  | _, _ => None
  end.

Definition bin_op_eval (op : bin_op) (v1 v2 : val) : option val :=
  match op, v1, v2 with
  | EqOp, _, _ => (λ b, LitV $ LitBool b) <$> val_eqb v1 v2
  | PlusOp, LitV (LitStr a), LitV (LitStr b) => Some $ LitV $ LitStr (a ++ b)
  | OffsetOp, LitV (LitLoc l), LitV (LitInt _ n) => Some $ LitV $ LitLoc (l +ₗ n)
  | StrGetOp, LitV (LitStr s), LitV (LitInt _ i) =>
    if decide (i < 0)%Z then None else (λ b, LitV $ LitInt U8 b) <$> s !! Z.to_nat i
  | StrTakeOp, LitV (LitStr s), LitV (LitInt _ i) =>
    if decide (0 ≤ i ≤ length s)%Z then Some $ LitV $ LitStr (take (Z.to_nat i) s) else None
  | StrDropOp, LitV (LitStr s), LitV (LitInt _ i) =>
    if decide (0 ≤ i ≤ length s)%Z then Some $ LitV $ LitStr (drop (Z.to_nat i) s) else None
  | MapGetOp, m, k => map_get m k
  | MapSetOp, m, PairV k v => map_set m k v
  | MapDelOp, m, k => map_del m k
  | (ShlOp | ShrOp), LitV (LitInt w a), LitV (LitInt _ b) => LitV <$> shift_eval op w a b
  | _, LitV (LitInt w1 a), LitV (LitInt w2 b) =>
    if decide (w1 = w2) then LitV <$> int_op_eval op w1 a b else None
  | _, _, _ => None
  end.

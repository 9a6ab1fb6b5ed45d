(** * An executable interpreter of the plain semantics

    Functions only; [proofs/lang/interp_sound.v] proves that every step of the
    interpreter is made of steps of the plain semantics, and that what it calls
    stuck is stuck.  It is extracted to OCaml and compared with compiled Go.

    What the semantics leaves open is decided by the caller: which thread runs,
    when a node crashes, and a function [ch] from places to numbers for every
    other choice.  Any numbers will do. *)
From ashlar.lang Require Export plain.
Open Scope Z_scope.

Notation choices := (Z → Z).

(** ** Arithmetic

    As [un_op_eval] and [bin_op_eval] say, but the remainder by a power of two is
    taken from the digits, which is faster on binary numbers. *)
Definition fast_wrap (w : width) (n : Z) : Z :=
  match w with
  | U8 => Z.land n 255
  | U16 => Z.land n 65535
  | U32 => Z.land n 4294967295
  | U64 => Z.land n 18446744073709551615
  | I64 => Z.land (n + 9223372036854775808) 18446744073709551615 - 9223372036854775808
  end.
Definition fast_un_op (op : un_op) (v : val) : option val :=
  match op, v with
  | ComplOp, LitV (LitInt w n) => Some $ LitV $ LitInt w (fast_wrap w (Z.lnot n))
  | ToIntOp w, LitV (LitInt _ n) => Some $ LitV $ LitInt w (fast_wrap w n)
  | _, _ => un_op_eval op v
  end.
Definition fast_int_op (op : bin_op) (w : width) (a b : Z) : option base_lit :=
  match op with
  | PlusOp => Some $ LitInt w (fast_wrap w (a + b))
  | MinusOp => Some $ LitInt w (fast_wrap w (a - b))
  | MultOp => Some $ LitInt w (fast_wrap w (a * b))
  | QuotOp => if decide (b = 0) then None else Some $ LitInt w (fast_wrap w (Z.quot a b))
  | RemOp => if decide (b = 0) then None else Some $ LitInt w (fast_wrap w (Z.rem a b))
  | AndOp => Some $ LitInt w (fast_wrap w (Z.land a b))
  | OrOp => Some $ LitInt w (fast_wrap w (Z.lor a b))
  | XorOp => Some $ LitInt w (fast_wrap w (Z.lxor a b))
  | _ => int_op_eval op w a b
  end.
Definition fast_bin_op (op : bin_op) (v1 v2 : val) : option val :=
  match op, v1, v2 with
  | (PlusOp | MinusOp | MultOp | QuotOp | RemOp | AndOp | OrOp | XorOp),
    LitV (LitInt w1 a), LitV (LitInt w2 b) =>
    if decide (w1 = w2) then LitV <$> fast_int_op op w1 a b else None
  | ShlOp, LitV (LitInt w a), LitV (LitInt _ b) =>
    if decide (b < 0) then None else
    Some $ LitV $ LitInt w (if decide (width_bits w ≤ b) then 0 else fast_wrap w (Z.shiftl a b))
  | _, _, _ => bin_op_eval op v1 v2
  end.

(** ** Pure steps

    A thread is an expression in a context, innermost first, so that the next
    redex is at hand. *)
Notation ectx := (list ectx_item).

Inductive machine :=
  | MPure (K : ectx) (e : expr)                 (* goes on *)
  | MEff (K : ectx) (op : eff_op) (v : val)     (* an effect is next *)
  | MFork (K : ectx) (e : expr)                 (* a new thread is next *)
  | MVal (v : val)                              (* done *)
  | MStuck (K : ectx) (redex : expr).           (* the redex has no step *)

(** The focus is the value [v] and [Ki] is around it. *)
Definition machine_return (Ki : ectx_item) (v : val) (K : ectx) : machine :=
  let result ov := match ov with Some w => MPure K (Val w) | None => MStuck K (rfill_item Ki (Val v)) end in
  match Ki, v with
  | AppRCtx e1, _ => MPure (AppLCtx v :: K) e1
  | AppLCtx v2, RecV f x e1 => MPure K (subst' x v2 (subst' f v e1))
  | UnOpCtx op, _ => result (fast_un_op op v)
  | BinOpRCtx op e1, _ => MPure (BinOpLCtx op v :: K) e1
  | BinOpLCtx op v2, _ => result (fast_bin_op op v v2)
  | IfCtx e1 e2, LitV (LitBool b) => MPure K (if b then e1 else e2)
  | PairRCtx e1, _ => MPure (PairLCtx v :: K) e1
  | PairLCtx v2, _ => MPure K (Val (PairV v v2))
  | FstCtx, PairV v1 _ => MPure K (Val v1)
  | SndCtx, PairV _ v2 => MPure K (Val v2)
  | InjLCtx, _ => MPure K (Val (InjLV v))
  | InjRCtx, _ => MPure K (Val (InjRV v))
  | CaseCtx e1 _, InjLV v1 => MPure K (App e1 (Val v1))
  | CaseCtx _ e2, InjRV v2 => MPure K (App e2 (Val v2))
  | EffCtx op, _ => MEff K op v
  | _, _ => MStuck K (rfill_item Ki (Val v))
  end.
Definition machine_step (K : ectx) (e : expr) : machine :=
  match e with
  | Val v => match K with [] => MVal v | Ki :: K => machine_return Ki v K end
  | Var _ => MStuck K e
  | Rec f x e1 => MPure K (Val (RecV f x e1))
  | App e1 e2 => MPure (AppRCtx e1 :: K) e2
  | UnOp op e1 => MPure (UnOpCtx op :: K) e1
  | BinOp op e1 e2 => MPure (BinOpRCtx op e1 :: K) e2
  | If e0 e1 e2 => MPure (IfCtx e1 e2 :: K) e0
  | Pair e1 e2 => MPure (PairRCtx e1 :: K) e2
  | Fst e1 => MPure (FstCtx :: K) e1
  | Snd e1 => MPure (SndCtx :: K) e1
  | InjL e1 => MPure (InjLCtx :: K) e1
  | InjR e1 => MPure (InjRCtx :: K) e1
  | Case e0 e1 e2 => MPure (CaseCtx e1 e2 :: K) e0
  | Fork e1 => MFork K e1
  | Eff op e1 => MPure (EffCtx op :: K) e1
  | CrashLoop _ => MStuck K e
  end.
(** Pure steps until something else is next, at most [fuel] of them. *)
Fixpoint advance (fuel : nat) (K : ectx) (e : expr) : machine :=
  match fuel with
  | O => MPure K e
  | S fuel => match machine_step K e with MPure K' e' => advance fuel K' e' | m => m end
  end.

(** ** Choices *)
Definition choose {A} (n : Z) (x : A) (l : list A) : A :=
  default x (l !! Z.to_nat (n `mod` Z.of_nat (length l))).
Fixpoint permute {A} (fuel : nat) (ch : choices) (i : Z) (l : list A) : list A :=
  match fuel with
  | O => l
  | S fuel =>
    let n := Z.to_nat (ch i `mod` Z.of_nat (length l)) in
    match l !! n with Some x => x :: permute fuel ch (i + 1) (delete n l) | None => l end
  end.
Definition shuffle {A} (ch : choices) (l : list A) : list A := permute (length l) ch 0 l.
Definition arb_run (ch : choices) (a : arb) : val :=
  match a with
  | ArbInt w => LitV (LitInt w (wrap w (ch 0)))
  | ArbBool => LitV (LitBool (Z.odd (ch 0)))
  | ArbBytes => LitV (LitStr ((λ i : nat, wrap U8 (ch (Z.of_nat (S i)))) <$> seq 0 (Z.to_nat (ch 0 `mod` 16))))
  end.

(** ** Memory *)
Notation memory := (gmap loc cell).
Fixpoint write_cells (l : loc) (vs : list val) (h : memory) : memory :=
  match vs with [] => h | v :: vs => <[l:=Reading 0 v]> (write_cells (l +ₗ 1) vs h) end.
Fixpoint free_run (h : memory) (l : loc) (n : nat) : bool :=
  match n with
  | O => true
  | S n => match h !! l with None => free_run h (l +ₗ 1) n | Some _ => false end
  end.
(** [n] free cells: at [next], as long as the caller has kept that free. *)
Definition find_free (h : memory) (next : Z) (n : nat) : loc :=
  if free_run h (Loc next) n then Loc next else fresh_locs (dom h).
Fixpoint read_bytes (h : memory) (l : loc) (n : nat) : option bytes :=
  match n with
  | O => Some []
  | S n => match h !! l with
    | Some (Reading _ (LitV (LitInt U8 b))) => cons b <$> read_bytes h (l +ₗ 1) n
    | _ => None
    end
  end.
(** The result, the memory after it, and how many cells were taken. *)
Definition alloc_run (vs : list val) (h : memory) (next : Z) : val * memory * Z :=
  let l := find_free h next (length vs) in
  (LitV (LitLoc l), write_cells l vs h, Z.of_nat (length vs)).
Definition mem_run (op : eff_op) (v : val) (h : memory) (next : Z) : option (val * memory * Z) :=
  match op, v with
  | AllocOp, PairV (LitV (LitInt I64 n)) v =>
    if decide (0 ≤ n) then
      (λ vs, alloc_run (concat (replicate (Z.to_nat n) vs)) h next) <$> val_list v
    else None
  | AllocBytesOp, LitV (LitStr s) => Some (alloc_run (byte_val <$> s) h next)
  | LoadOp, LitV (LitLoc l) =>
    match h !! l with Some (Reading _ v) => Some (v, h, 0) | _ => None end
  | LoadBytesOp, PairV (LitV (LitLoc l)) (LitV (LitInt I64 n)) =>
    if decide (0 ≤ n) then (λ s, (LitV (LitStr s), h, 0)) <$> read_bytes h l (Z.to_nat n) else None
  | PrepareWriteOp, LitV (LitLoc l) =>
    match h !! l with Some (Reading 0 _) => Some (LitV LitUnit, <[l:=Writing]> h, 0) | _ => None end
  | FinishStoreOp, PairV (LitV (LitLoc l)) v =>
    match h !! l with Some Writing => Some (LitV LitUnit, <[l:=Reading 0 v]> h, 0) | _ => None end
  | StartReadOp, LitV (LitLoc l) =>
    match h !! l with Some (Reading k v) => Some (v, <[l:=Reading (S k) v]> h, 0) | _ => None end
  | FinishReadOp, LitV (LitLoc l) =>
    match h !! l with Some (Reading (S k) v) => Some (LitV LitUnit, <[l:=Reading k v]> h, 0) | _ => None end
  | CmpXchgOp, PairV (LitV (LitLoc l)) (PairV v1 v2) =>
    match h !! l with
    | Some (Reading 0 w) =>
      (λ b : bool, (LitV (LitBool b), if b then <[l:=Reading 0 v2]> h else h, 0)) <$> val_eqb w v1
    | _ => None
    end
  | _, _ => None
  end.

(** ** Devices *)
Definition disk_run (op : dev_op) (v : val) (d : disk) : option (val * disk) :=
  match op, v with
  | DiskRead, LitV (LitInt U64 a) => (λ b, (LitV (LitStr b), d)) <$> d !! a
  | DiskWrite, PairV (LitV (LitInt U64 a)) (LitV (LitStr b)) =>
    match d !! a with
    | Some _ => if decide (block_ok b) then Some (LitV LitUnit, <[a:=b]> d) else None
    | None => None
    end
  | DiskSize, LitV LitUnit => Some (LitV (LitInt U64 (size d)), d)
  | _, _ => None
  end.
(** A disk fails where the caller chooses 0. *)
Definition two_fail (ch : choices) (i : bool) (t : two_disk) : two_disk :=
  match td_failed t with
  | None => if decide (ch 0 = 0) then TwoDisk (td_0 t) (td_1 t) (Some i) else t
  | Some _ => t
  end.
Definition two_run (ch : choices) (op : dev_op) (v : val) (t : two_disk) : option (val * two_disk) :=
  match op, v with
  | TwoRead, PairV w (LitV (LitInt U64 a)) =>
    i ← td_id w;
    let t' := two_fail ch i t in
    b ← td_get i t' !! a;
    Some (if decide (td_failed t' = Some i)
      then (PairV (LitV (LitStr zero_block)) (LitV (LitBool false)), t')
      else (PairV (LitV (LitStr b)) (LitV (LitBool true)), t'))
  | TwoWrite, PairV w (PairV (LitV (LitInt U64 a)) (LitV (LitStr b))) =>
    i ← td_id w;
    let t' := two_fail ch i t in
    _ ← td_get i t' !! a;
    if decide (block_ok b) then
      Some (LitV LitUnit,
        if decide (td_failed t' = Some i) then t' else td_set i (<[a:=b]> (td_get i t')) t')
    else None
  | TwoSize, LitV LitUnit => Some (LitV (LitInt U64 (size (td_0 t))), t)
  | _, _ => None
  end.
Definition async_run (op : dev_op) (v : val) (d : async_disk) : option (val * async_disk) :=
  match op, v with
  | AsyncRead, LitV (LitInt U64 a) => (λ c, (LitV (LitStr (ca_latest c)), d)) <$> d !! a
  | AsyncWrite, PairV (LitV (LitInt U64 a)) (LitV (LitStr b)) =>
    c ← d !! a;
    if decide (block_ok b) then Some (LitV LitUnit, <[a:=ca_write b c]> d) else None
  | AsyncSize, LitV LitUnit => Some (LitV (LitInt U64 (size d)), d)
  | AsyncBarrier, LitV LitUnit => Some (LitV LitUnit, ca_flush <$> d)
  | _, _ => None
  end.

(** A key that is not in the map: at [from] or soon after it. *)
Fixpoint find_key {A} (m : gmap Z A) (from : Z) (fuel : nat) : Z :=
  match fuel with
  | O => from
  | S fuel => match m !! from with None => from | Some _ => find_key m (from + 1) fuel end
  end.
Definition new_key {A} (m : gmap Z A) : Z := find_key m 1 (S (size m)).
Definition names_of (names : gmap bytes (cached (option Z))) : list bytes :=
  omap (λ p, match ca_latest p.2 with Some _ => Some p.1 | None => None end) (map_to_list names).
Definition create_run (dir name : bytes) (f : filesys) : option (val * filesys) :=
  match fs_entry f dir name, fs_dirs f !! dir with
  | Some _, _ => Some (PairV (vfd 0) (vbool false), f)
  | None, Some _ =>
    let i := new_key (fs_inodes f) in let fd := new_key (fs_fds f) in
    Some (PairV (vfd fd) (vbool true),
      set_fds (<[fd := (i, true)]> (fs_fds f)) (set_inode i (Inode [] 0) (set_entry dir name (Some i) f)))
  | None, None => None
  end.
Definition open_run (dir name : bytes) (f : filesys) : option (val * filesys) :=
  match fs_entry f dir name, fs_dirs f !! dir with
  | Some i, _ =>
    let fd := new_key (fs_fds f) in
    Some (PairV (vfd fd) (vbool true), set_fds (<[fd := (i, false)]> (fs_fds f)) f)
  | None, Some _ => Some (PairV (vfd 0) (vbool false), f)
  | None, None => None
  end.
Definition link_run (dir name dir2 name2 : bytes) (f : filesys) : option (val * filesys) :=
  i ← fs_entry f dir name;
  match fs_entry f dir2 name2, fs_dirs f !! dir2 with
  | Some _, _ => Some (vbool false, f)
  | None, Some _ => Some (vbool true, set_entry dir2 name2 (Some i) f)
  | None, None => None
  end.
Definition fs_run (ch : choices) (op : dev_op) (v : val) (f : filesys) : option (val * filesys) :=
  match op, v with
  | FsCreate, PairV (LitV (LitStr dir)) (LitV (LitStr name)) => create_run dir name f
  | FsOpen, PairV (LitV (LitStr dir)) (LitV (LitStr name)) => open_run dir name f
  | FsAppend, PairV (LitV (LitInt U64 fd)) (LitV (LitStr s)) =>
    match fs_fds f !! fd with
    | Some (i, true) =>
      (λ n, (LitV LitUnit, set_inode i (Inode (in_data n ++ s) (in_synced n)) f)) <$> fs_inodes f !! i
    | _ => None
    end
  | FsReadAt, PairV (LitV (LitInt U64 fd)) (PairV (LitV (LitInt U64 off)) (LitV (LitInt U64 len))) =>
    match fs_fds f !! fd with
    | Some (i, false) =>
      (λ n, (vstr (take (Z.to_nat len) (drop (Z.to_nat off) (in_data n))), f)) <$> fs_inodes f !! i
    | _ => None
    end
  | FsSize, LitV (LitInt U64 fd) =>
    x ← fs_fds f !! fd; n ← fs_inodes f !! x.1;
    Some (LitV (LitInt U64 (wrap U64 (length (in_data n)))), f)
  | FsClose, LitV (LitInt U64 fd) =>
    _ ← fs_fds f !! fd; Some (LitV LitUnit, set_fds (delete fd (fs_fds f)) f)
  | FsLink, PairV (PairV (LitV (LitStr dir)) (LitV (LitStr name))) (PairV (LitV (LitStr dir2)) (LitV (LitStr name2))) =>
    link_run dir name dir2 name2 f
  | FsUnlink, PairV (LitV (LitStr dir)) (LitV (LitStr name)) =>
    _ ← fs_entry f dir name; Some (LitV LitUnit, set_entry dir name None f)
  | FsList, LitV (LitStr dir) =>
    names ← fs_dirs f !! dir;
    Some (list_val ((λ s, LitV (LitStr s)) <$> shuffle ch (names_of names)), f)
  | FsSync, LitV (LitInt U64 fd) =>
    x ← fs_fds f !! fd; n ← fs_inodes f !! x.1;
    Some (LitV LitUnit, set_inode x.1 (Inode (in_data n) (length (in_data n))) f)
  | FsSyncDir, LitV (LitStr dir) => _ ← fs_dirs f !! dir; Some (LitV LitUnit, sync_dir dir f)
  | _, _ => None
  end.

Definition dev_run (ch : choices) (op : dev_op) (v : val) (dv : devices) : option (val * devices) :=
  match op with
  | DiskRead | DiskWrite | DiskSize => prod_map id (λ d, set_disk d dv) <$> disk_run op v (dv_disk dv)
  | TwoRead | TwoWrite | TwoSize => prod_map id (λ d, set_two d dv) <$> two_run ch op v (dv_two dv)
  | AsyncRead | AsyncWrite | AsyncSize | AsyncBarrier =>
    prod_map id (λ d, set_async d dv) <$> async_run op v (dv_async dv)
  | _ => prod_map id (λ d, set_fs d dv) <$> fs_run ch op v (dv_fs dv)
  end.

(** ** Crashes *)
Definition keep {A} (n : Z) (c : cached A) : cached A := ca_new (choose n (ca_latest c) (ca_possible c)).
Definition async_crash_run (ch : choices) (d : async_disk) : async_disk :=
  map_imap (λ a c, Some (keep (ch a) c)) d.
(** A number for a name, so that different names meet different choices. *)
Definition name_number (s : bytes) : Z := foldl (λ n b, fast_wrap U32 (n * 31 + b + 1)) 0 s.
Definition names_crash_run (ch : choices) (dir : bytes) (m : gmap bytes (cached (option Z))) :
    gmap bytes (cached (option Z)) :=
  map_imap (λ name c, Some (keep (ch (name_number (dir ++ name))) c)) m.
(** What was synced, and some bytes: some of what was written, or anything. *)
Definition inode_crash_run (ch : choices) (i : Z) (n : inode) : inode :=
  let rest := drop (in_synced n) (in_data n) in
  let tail := take (Z.to_nat (ch i `mod` Z.of_nat (S (length rest)))) rest in
  let data := take (in_synced n) (in_data n) ++
    (if Z.odd (ch (i + 1)) then wrap U8 <$> tail
     else imap (λ j _, wrap U8 (ch (i + Z.of_nat j))) tail) in
  Inode data (length data).
Definition fs_crash_run (ch : choices) (f : filesys) : filesys :=
  Filesys (map_imap (λ dir m, Some (names_crash_run ch dir m)) (fs_dirs f))
    (map_imap (λ i n, Some (inode_crash_run ch i n)) (fs_inodes f)) ∅.
Definition node_crash_run (ch : choices) (ns : node_state) : node_state :=
  NodeState (S (epoch ns)) ∅
    (Devices (dv_disk (dev ns)) (dv_two (dev ns)) (async_crash_run ch (dv_async (dev ns)))
      (fs_crash_run ch (dv_fs (dev ns)))).

(** ** Configurations *)

(** A thread, and where its next allocation goes.  Each thread allocates in a part
    of memory of its own, so addresses do not depend on the interleaving. *)
Record task := Task { tk_node : nat; tk_next : Z; tk_ctx : ectx; tk_focus : expr }.
Record config := Config { tasks : list task; started : Z; world : state }.

Definition region (i : Z) : Z := Z.shiftl i 32 + 1.
Definition new_task (n : nat) (i : Z) (e : expr) : task := Task n (region i) [] e.
(** The configuration of the plain semantics that it stands for. *)
Definition thread_of (tk : task) : nat * expr := (tk_node tk, rfill (tk_ctx tk) (tk_focus tk)).
Definition plain_of (c : config) : pool * state := (thread_of <$> tasks c, world c).
Definition init_config (mains : list expr) (dvs : list devices) : config :=
  Config (imap (λ n e, new_task n (Z.of_nat n) e) mains) (Z.of_nat (length mains)) (init_state dvs).

(** An effect of a thread: its result, the node and the trace after it, cells taken. *)
Definition eff_run (ch : choices) (n : nat) (op : eff_op) (v : val) (ns : node_state)
    (t : list event) (next : Z) : option (val * node_state * list event * Z) :=
  match op with
  | ArbOp a => match v with LitV LitUnit => Some (arb_run ch a, ns, t, 0) | _ => None end
  | PermuteOp => (λ l, (list_val (shuffle ch l), ns, t, 0)) <$> val_list v
  | EmitOp => Some (LitV (LitInt U64 (length t)), ns, t ++ [EvOut n v], 0)
  | DevOp d => (λ r : val * devices, (r.1, NodeState (epoch ns) (heap ns) r.2, t, 0)) <$> dev_run ch d v (dev ns)
  | _ => (λ r : val * memory * Z, (r.1.1, NodeState (epoch ns) r.1.2 (dev ns), t, r.2)) <$> mem_run op v (heap ns) next
  end.

Inductive outcome :=
  | Went (c : config)                       (* the thread made its next effect *)
  | Finished (v : val) (c : config)         (* it is a value *)
  | Stuck (redex : expr) (c : config)       (* its next step is none: a panic, a race *)
  | Unfinished (c : config)                 (* it needs more pure steps than the fuel *)
  | NoSuchTask.

Definition set_task (i : nat) (t : task) (c : config) : config :=
  Config (<[i:=t]> (tasks c)) (started c) (world c).
Definition run_eff (ch : choices) (i : nat) (tk : task) (K : ectx) (op : eff_op) (v : val) (c : config) : outcome :=
  let n := tk_node tk in
  let redex := Eff op (Val v) in
  let stuck := Stuck redex (set_task i (Task n (tk_next tk) K redex) c) in
  match nodes (world c) !! n with
  | None => stuck
  | Some ns =>
    match eff_run ch n op v ns (trace (world c)) (tk_next tk) with
    | None => stuck
    | Some (w, ns', t', k) =>
      Went (Config (<[i:=Task n (tk_next tk + k) K (Val w)]> (tasks c)) (started c)
        (State (<[n:=ns']> (nodes (world c))) t'))
    end
  end.
Definition run_fork (i : nat) (tk : task) (K : ectx) (e : expr) (c : config) : outcome :=
  let n := tk_node tk in
  match nodes (world c) !! n with
  | None => Stuck (Fork e) (set_task i (Task n (tk_next tk) K (Fork e)) c)
  | Some ns =>
    Went (Config (<[i:=Task n (tk_next tk) K (Val (LitV LitUnit))]> (tasks c) ++ [new_task n (started c) e])
      (started c + 1) (State (<[n:=ns]> (nodes (world c))) (trace (world c))))
  end.
(** What is next for thread [i], found by [advance], is done. *)
Definition run_next (m : machine) (ch : choices) (i : nat) (tk : task) (c : config) : outcome :=
  match m with
  | MPure K e => Unfinished (set_task i (Task (tk_node tk) (tk_next tk) K e) c)
  | MEff K op v => run_eff ch i tk K op v c
  | MFork K e => run_fork i tk K e c
  | MVal v => Finished v (set_task i (Task (tk_node tk) (tk_next tk) [] (Val v)) c)
  | MStuck K redex => Stuck redex (set_task i (Task (tk_node tk) (tk_next tk) K redex) c)
  end.
(** Thread [i] makes pure steps and then one effect. *)
Definition step_task (fuel : nat) (ch : choices) (i : nat) (c : config) : outcome :=
  match tasks c !! i with
  | None => NoSuchTask
  | Some tk => run_next (advance fuel (tk_ctx tk) (tk_focus tk)) ch i tk c
  end.
(** Node [n] crashes. *)
Definition step_crash (mains : list expr) (ch : choices) (n : nat) (c : config) : option config :=
  main ← mains !! n; ns ← nodes (world c) !! n;
  Some (Config (filter (λ t, tk_node t ≠ n) (tasks c) ++ [new_task n (started c) main]) (started c + 1)
    (State (<[n:=node_crash_run ch ns]> (nodes (world c))) (trace (world c) ++ [EvCrash n]))).

(** ** Whole executions

    [oracle i c]: what is to be done in step [i]. *)
Inductive action := ActRun (i : nat) (ch : choices) | ActCrash (n : nat) (ch : choices).
Definition step (mains : list expr) (fuel : nat) (a : action) (c : config) : outcome :=
  match a with
  | ActRun i ch => step_task fuel ch i c
  | ActCrash n ch => match step_crash mains ch n c with Some c' => Went c' | None => NoSuchTask end
  end.
(** Up to [steps] steps; it ends early when thread [watch] is done or a thread is
    stuck.  The outcome holds the last configuration. *)
Fixpoint interp (mains : list expr) (steps fuel : nat) (oracle : nat → config → action)
    (watch : nat) (c : config) : outcome :=
  match steps with
  | O => Unfinished c
  | S steps =>
    let a := oracle steps c in
    match step mains fuel a c with
    | Went c' | Unfinished c' => interp mains steps fuel oracle watch c'
    | Finished v c' =>
      match a with
      | ActRun i _ => if decide (i = watch) then Finished v c' else interp mains steps fuel oracle watch c'
      | ActCrash _ _ => interp mains steps fuel oracle watch c'
      end
    | Stuck redex c' => Stuck redex c'
    | NoSuchTask => interp mains steps fuel oracle watch c
    end
  end.

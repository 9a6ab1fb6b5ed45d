(* Runs the programs that were extracted with the interpreter (module Model).

     driver [-mode MODE] [-seed N] [-seeds N] [-steps N] [-states N] [-crash P] [NAME ...]

   prints a line per program: its name and then, after tabs, its outcomes, each
   once, in order. MODE is
     fixed       each thread runs until it is done or waits for another
     random      as many random schedules as -seeds says, from -seed on
     exhaustive  every interleaving of the effects that others can see
   With -crash P a random schedule crashes the node with probability 1/P at each
   step; the program is then what runs at every boot.

   An outcome is "value V", "stuck E" (E: the effect or the redex that has no
   step), "timeout" (too many steps), "states" (too many states to see all), or
   "deadlock" (no schedule gets anywhere); before it, in brackets, what was emitted. Nothing here is trusted for proofs. *)

open Model
open! Stdlib (* what programs define must not hide it *)

(* Integers. Coq's are lists of binary digits. *)

let rec positive_of_int n =
  if n = 1 then XH else if n land 1 = 1 then XI (positive_of_int (n lsr 1)) else XO (positive_of_int (n lsr 1))

let z_of_int n = if n = 0 then Z0 else if n > 0 then Zpos (positive_of_int n) else Zneg (positive_of_int (-n))

(* Decimal digits of a positive number, least significant first. *)
let rec digits = function
  | XH -> [ 1 ]
  | XO p -> double 0 (digits p)
  | XI p -> double 1 (digits p)

and double carry = function
  | [] -> if carry = 0 then [] else [ carry ]
  | d :: ds ->
      let n = (2 * d) + carry in
      (n mod 10) :: double (n / 10) ds

let string_of_positive p = String.concat "" (List.rev_map string_of_int (digits p))

let string_of_z = function Z0 -> "0" | Zpos p -> string_of_positive p | Zneg p -> "-" ^ string_of_positive p

(* The low bits, enough to hash. *)
let int_of_z z =
  let rec go depth = function
    | XH -> 1
    | XO p -> if depth = 0 then 0 else 2 * go (depth - 1) p
    | XI p -> if depth = 0 then 1 else 1 + (2 * go (depth - 1) p)
  in
  match z with Z0 -> 0 | Zpos p -> go 61 p | Zneg p -> -go 61 p

(* A number that depends on all of its arguments; splitmix's finaliser. *)
let mix a b =
  let x = (a * 0x1E3779B97F4A7C15) + b + 0x3F58476D1CE4E5B9 in
  let x = (x lxor (x lsr 30)) * 0x3F58476D1CE4E5B9 in
  let x = (x lxor (x lsr 27)) * 0x14D049BB133111EB in
  (x lxor (x lsr 31)) land max_int

(* Values and expressions, for people. *)

let hex bytes = String.concat "" (List.map (fun b -> Printf.sprintf "%02x" (int_of_z b)) bytes)

let string_of_lit = function
  | LitInt (_, n) -> string_of_z n
  | LitBool b -> string_of_bool b
  | LitUnit -> "()"
  | LitLoc _ -> "pointer"
  | LitNull -> "nil"
  | LitStr s -> "x\"" ^ hex s ^ "\""

let rec string_of_val = function
  | LitV l -> string_of_lit l
  | RecV _ -> "function"
  | PairV (a, b) -> "(" ^ string_of_val a ^ ", " ^ string_of_val b ^ ")"
  | InjLV v -> "left " ^ string_of_val v
  | InjRV v -> "right " ^ string_of_val v

let string_of_op = function
  | AllocOp -> "alloc"
  | AllocBytesOp -> "alloc bytes"
  | LoadOp -> "load"
  | LoadBytesOp -> "load bytes"
  | PrepareWriteOp -> "start of a store"
  | FinishStoreOp -> "end of a store"
  | StartReadOp -> "start of a read"
  | FinishReadOp -> "end of a read"
  | CmpXchgOp -> "compare and exchange"
  | ArbOp _ -> "choice"
  | PermuteOp -> "permutation"
  | EmitOp -> "emit"
  | DevOp _ -> "device"

let string_of_bin = function
  | PlusOp -> "+" | MinusOp -> "-" | MultOp -> "*" | QuotOp -> "/" | RemOp -> "%"
  | AndOp -> "&" | OrOp -> "|" | XorOp -> "^" | ShlOp -> "<<" | ShrOp -> ">>"
  | EqOp -> "==" | LtOp -> "<" | LeOp -> "<=" | OffsetOp -> "offset" | StrGetOp -> "string index"
  | StrTakeOp -> "string prefix" | StrDropOp -> "string suffix"
  | MapGetOp -> "map get" | MapSetOp -> "map set" | MapDelOp -> "map delete"

let string_of_redex = function
  | Eff (op, Val v) -> string_of_op op ^ " " ^ string_of_val v
  | BinOp (op, Val a, Val b) -> string_of_val a ^ " " ^ string_of_bin op ^ " " ^ string_of_val b
  | Fst (Val (LitV LitUnit)) -> "panic"
  | Fst (Val v) | Snd (Val v) -> "part of " ^ string_of_val v
  | UnOp (_, Val v) -> "operator on " ^ string_of_val v
  | If (Val v, _, _) -> "if " ^ string_of_val v
  | App (Val v, Val w) -> "call of " ^ string_of_val v ^ " on " ^ string_of_val w
  | Case (Val v, _, _) -> "match on " ^ string_of_val v
  | Var x -> "unbound variable " ^ x
  | _ -> "redex"

let string_of_trace c =
  let event = function EvOut (_, v) -> string_of_val v | EvCrash _ -> "crash" in
  match c.world.trace with [] -> "" | t -> "[" ^ String.concat " " (List.map event t) ^ "] "

(* Options. *)

let mode = ref "fixed"
let seed = ref 1
let seeds = ref 1
let steps = ref 3_000_000
let states = ref 200_000
let crash = ref 0
let names : string list ref = ref []

let () =
  Arg.parse
    [
      ("-mode", Arg.Symbol ([ "fixed"; "random"; "exhaustive" ], fun m -> mode := m), "");
      ("-seed", Arg.Set_int seed, "first seed");
      ("-seeds", Arg.Set_int seeds, "how many seeds");
      ("-steps", Arg.Set_int steps, "how many effects a run may have");
      ("-states", Arg.Set_int states, "how many states an exploration may have");
      ("-crash", Arg.Set_int crash, "crash once in so many steps");
    ]
    (fun name -> names := name :: !names)
    "driver [options] [names]"

(* Pure steps between two effects. *)
let fuel = 100_000

(* Room that append leaves is a choice that costs memory; and a disk fails now and
   then. *)
let choices next number =
  match next with
  | MEff (_, ArbOp (ArbInt U32), _) -> fun _ -> z_of_int (number 0 land 7)
  | MEff (_, DevOp (TwoRead | TwoWrite), _) -> fun _ -> z_of_int (number 0 land 15)
  | _ -> fun z -> z_of_int (number (int_of_z z))

type result = Value of string | StuckAt of string | Timeout

let string_of_result c = function
  | Value v -> string_of_trace c ^ "value " ^ v
  | StuckAt e -> string_of_trace c ^ "stuck " ^ e
  | Timeout -> "timeout"

(* One schedule: [pick n step] chooses among n threads. *)
let run main ~pick ~number ~crashes =
  let rec go step c =
    if step >= !steps then (c, Timeout)
    else if crashes step then
      match driver_crash main (fun z -> z_of_int (number step (int_of_z z))) c with
      | Some c -> go (step + 1) c
      | None -> failwith "a node is missing"
    else
      let i = pick (List.length c.tasks) step in
      let t = List.nth c.tasks i in
      let next = driver_next fuel t in
      match driver_run next (choices next (number step)) i t c with
      | Went c | Unfinished c -> go (step + 1) c
      | Finished (v, c) -> if i = 0 then (c, Value (string_of_val v)) else go (step + 1) c
      | Stuck (e, c) -> (c, StuckAt (string_of_redex e))
      | NoSuchTask -> failwith "a thread is missing"
  in
  let c, result = go 0 (driver_init main) in
  string_of_result c result

(* A thread keeps running for a while, then the next one has its turn, so that
   nobody waits for ever. *)
let fixed main =
  let turn = 1000 in
  run main ~pick:(fun n step -> step / turn mod n) ~number:(fun step z -> mix step z) ~crashes:(fun _ -> false)

let random main seed =
  let number step z = mix (mix seed step) z in
  run main
    ~pick:(fun n step -> if n = 1 then 0 else number step (-1) mod n)
    ~number
    ~crashes:(fun step -> !crash > 0 && number step (-2) mod !crash = 0)

(* All schedules. An effect that commutes with everything that others may do
   (memory nobody knows yet, a new thread) is taken without looking at them; and
   states are remembered only where there is more than one thread to go on. *)

let local = function
  | MEff (_, (AllocOp | AllocBytesOp), _) | MFork _ | MPure _ -> true
  | _ -> false

(* Choices other than that of the thread: a few of each kind. *)
let alternatives = function
  | MEff (_, ArbOp (ArbInt U32), _) -> [ 2 ]
  | MEff (_, (ArbOp _ | PermuteOp | DevOp (TwoRead | TwoWrite | FsList)), _) -> [ 0; 1 ]
  | _ -> [ 0 ]

let exhaustive main =
  let seen = Hashtbl.create 1000 and results = Hashtbl.create 10 in
  let todo = Stack.create () in
  let left = ref !steps in
  let remember c =
    let key = Digest.string (Marshal.to_string (c.tasks, c.world) [ Marshal.No_sharing ]) in
    if not (Hashtbl.mem seen key) then (
      Hashtbl.add seen key ();
      Stack.push c todo)
  in
  let is_done t = match (t.tk_ctx, t.tk_focus) with [], Val _ -> true | _ -> false in
  let visit c =
    decr left;
    match List.filter (fun t -> not (is_done t)) c.tasks with _ :: _ :: _ -> remember c | _ -> Stack.push c todo
  in
  let note c r = Hashtbl.replace results (string_of_result c r) () in
  let follow c i t next =
    List.iter
      (fun a ->
        match driver_run next (fun _ -> z_of_int a) i t c with
        | Went c | Unfinished c -> visit c
        | Stuck (e, c) -> note c (StuckAt (string_of_redex e))
        | Finished (_, c') -> if not (is_done t) then visit c'
        | NoSuchTask -> failwith "a thread is missing")
      (alternatives next)
  in
  let expand c =
    let nexts = List.mapi (fun i t -> (i, t, driver_next fuel t)) c.tasks in
    match nexts with
    | (_, _, MVal v) :: _ -> note c (Value (string_of_val v))
    | _ -> (
        match List.find_opt (fun (_, _, next) -> local next) nexts with
        | Some (i, t, next) -> follow c i t next
        | None -> List.iter (fun (i, t, next) -> follow c i t next) nexts)
  in
  visit (driver_init main);
  while (not (Stack.is_empty todo)) && Hashtbl.length seen < !states && !left > 0 do
    expand (Stack.pop todo)
  done;
  if not (Stack.is_empty todo) then Hashtbl.replace results "states" ();
  if Hashtbl.length results = 0 then Hashtbl.replace results "deadlock" ();
  Hashtbl.fold (fun r () l -> r :: l) results []

let () =
  let wanted (name, _) = !names = [] || List.mem name !names in
  List.iter
    (fun (name, main) ->
      let outcomes =
        match !mode with
        | "fixed" -> [ fixed main ]
        | "random" -> List.init !seeds (fun i -> random main (!seed + i))
        | _ -> exhaustive main
      in
      print_endline (String.concat "\t" (name :: List.sort_uniq compare outcomes)))
    (List.filter wanted driver_programs)

(* Reads questions and answers each with a line: yes, if the checker that was extracted from
   proofs/dedalus (module Model) accepts the certificate, and otherwise no.

     (divided DIVISION PROGRAM PROGRAM)     the second is the first one, divided
     (handed HANDING PROGRAM PROGRAM)       of the first one, rules that send have moved
     (separated SEPARATION NAME PROGRAM PROGRAM)  the first one is taken apart, and NAME leads there
     (relayed RELAYING PROGRAM PROGRAM)     of the first one, a component is behind a relay
     (may_divide DIVISION PROGRAM)          the network may divide it
     (may_decouple SEPARATION PROGRAM)      the network may take it apart

   Terms are written as in Coq, with all arguments in parentheses, lists and pairs in brackets
   without signs between their items, numbers in decimal and strings in quotes, which are
   doubled inside. internal/dedalus/gallina writes them. What is no question ends the process
   with exit code 2.

   This file is trusted to read what it is given; it decides nothing. *)

open Model
open! Stdlib

exception Malformed of string

let malformed what = raise (Malformed what)

(* Terms *)

type t = Word of string | Quoted of string | Apply of t list | Items of t list

(* A program has few levels; more are an attack on the stack. *)
let depth_max = 1000

(* The next character, and one that was looked at and not taken. *)
let looked = ref None

let look ch =
  match !looked with
  | Some c -> c
  | None ->
      let c = try Some (input_char ch) with End_of_file -> None in
      looked := Some c;
      c

let take ch =
  let c = look ch in
  looked := None;
  c

let space = function ' ' | '\n' | '\t' | '\r' -> true | _ -> false
let special = function '(' | ')' | '[' | ']' | '"' -> true | c -> space c

let rec skip ch = match look ch with Some c when space c -> ignore (take ch); skip ch | _ -> ()

let quoted ch =
  let b = Buffer.create 16 in
  let rec go () =
    match take ch with
    | None -> malformed "a string ends too early"
    | Some '"' when look ch <> Some '"' -> Buffer.contents b
    | Some '"' -> ignore (take ch); Buffer.add_char b '"'; go ()
    | Some c -> Buffer.add_char b c; go ()
  in
  go ()

let word ch =
  let b = Buffer.create 16 in
  let rec go () =
    match look ch with
    | Some c when not (special c) -> ignore (take ch); Buffer.add_char b c; go ()
    | _ -> Buffer.contents b
  in
  go ()

let rec read ch depth =
  if depth > depth_max then malformed "terms are nested too deeply";
  skip ch;
  match look ch with
  | None -> malformed "a term ends too early"
  | Some '(' -> ignore (take ch); Apply (read_until ch ')' depth)
  | Some '[' -> ignore (take ch); Items (read_until ch ']' depth)
  | Some '"' -> ignore (take ch); Quoted (quoted ch)
  | Some (')' | ']') -> malformed "an end without its beginning"
  | Some _ -> Word (word ch)

and read_until ch last depth =
  let rec go l =
    skip ch;
    if look ch = Some last then (ignore (take ch); List.rev l) else go (read ch (depth + 1) :: l)
  in
  go []

(* Coq's types *)

let rec positive_of n = 
  if n = 1L then XH
  else
    let half = Int64.shift_right_logical n 1 in
    if Int64.logand n 1L = 1L then XI (positive_of half) else XO (positive_of half)

(* "0u" has Int64.of_string read numbers up to 2^64 - 1. *)
let n_of = function
  | Word s -> (
      match Int64.of_string_opt ("0u" ^ s) with
      | Some 0L -> N0
      | Some n -> Npos (positive_of n)
      | None -> malformed (s ^ " is no number"))
  | _ -> malformed "a number is missing"

let nat_of = function
  | Word s -> (
      match int_of_string_opt ("0u" ^ s) with Some n when n >= 0 -> n | _ -> malformed (s ^ " is no number"))
  | _ -> malformed "a number is missing"

let string_of = function Quoted s -> s | _ -> malformed "a string is missing"
let list_of f = function Items l -> List.map f l | _ -> malformed "a list is missing"
let pair_of f g = function Items [ a; b ] -> (f a, g b) | _ -> malformed "a pair is missing"

let bool_of = function Word "true" -> true | Word "false" -> false | _ -> malformed "a truth value is missing"

let value_of = function
  | Apply [ Word "U64"; n ] -> U64 (n_of n)
  | Apply [ Word "Int"; n ] -> Int (n_of n)
  | Apply [ Word "Bool"; b ] -> Bool (bool_of b)
  | Apply [ Word "Text"; s ] -> Text (string_of s)
  | Apply [ Word "Bytes"; s ] -> Bytes (string_of s)
  | Apply [ Word "Node"; s ] -> Node (string_of s)
  | _ -> malformed "a value is missing"

let rec term_of = function
  | Apply [ Word "Var"; x ] -> Var (string_of x)
  | Word "Wild" -> Wild
  | Word "Self" -> Self
  | Apply [ Word "Const"; v ] -> Const (value_of v)
  | Apply [ Word "Call"; f; l ] -> Call (string_of f, list_of term_of l)
  | _ -> malformed "a term is missing"

let atom_of = function
  | Apply [ Word "Atom"; r; l ] -> { rel = string_of r; terms = list_of term_of l }
  | _ -> malformed "an atom is missing"

let operator_of = function
  | Word "OEq" -> OEq
  | Word "ONe" -> ONe
  | Word "OLt" -> OLt
  | Word "OLe" -> OLe
  | Word "OGt" -> OGt
  | Word "OGe" -> OGe
  | _ -> malformed "an operator is missing"

let literal_of = function
  | Apply [ Word "Has"; a ] -> Has (atom_of a)
  | Apply [ Word "Lacks"; a ] -> Lacks (atom_of a)
  | Apply [ Word "Cmp"; o; t; u ] -> Cmp (operator_of o, term_of t, term_of u)
  | Apply [ Word "Let"; x; t ] -> Let (string_of x, term_of t)
  | _ -> malformed "a literal is missing"

let aggregate_of = function
  | Word "Count" -> Count
  | Word "Sum" -> Sum
  | Word "Min" -> Min
  | Word "Max" -> Max
  | Word "Choose" -> Choose
  | _ -> malformed "an aggregate is missing"

let arg_of = function
  | Apply [ Word "Plain"; t ] -> Plain (term_of t)
  | Apply [ Word "Agg"; a; t ] -> Agg (aggregate_of a, term_of t)
  | _ -> malformed "an argument is missing"

let rule_of = function
  | Apply [ Word "Rule"; h; l; d; b ] ->
      { head = string_of h; args = list_of arg_of l; dest = term_of d; body = list_of literal_of b }
  | _ -> malformed "a rule is missing"

let component_of = function
  | Apply [ Word "Component"; s; n; a ] ->
      { strata = list_of (list_of rule_of) s; nexts = list_of rule_of n; asyncs = list_of rule_of a }
  | _ -> malformed "a component is missing"

let instance_of = function
  | Apply [ Word "Instance"; a; s; c ] -> { addr = value_of a; self = value_of s; rules = component_of c }
  | _ -> malformed "an instance is missing"

let fact_of = pair_of string_of (list_of value_of)
let strings_of = list_of string_of

let program_of = function
  | Apply [ Word "Program"; i; f; s; n; o; t; d; m ] ->
      { p_instances = list_of instance_of i; p_facts = list_of fact_of f; p_statics = strings_of s;
        p_inputs = strings_of n; p_outputs = strings_of o; p_timers = strings_of t;
        p_durables = strings_of d; p_mortals = list_of value_of m }
  | _ -> malformed "a program is missing"

let division_of = function
  | Apply [ Word "Division"; n; k; e; a; p; f ] ->
      { d_pieces = nat_of n; d_keys = list_of (pair_of string_of nat_of) k; d_pulses = strings_of e;
        d_nodes = list_of value_of a; d_places = list_of (pair_of (pair_of value_of nat_of) value_of) p;
        d_forward = string_of f }
  | _ -> malformed "a certificate is missing"

let separation_of = function
  | Apply [ Word "Separation"; m; e; a; p ] ->
      { s_moves = strings_of m; s_pulses = strings_of e; s_nodes = list_of value_of a;
        s_places = list_of (pair_of (pair_of value_of nat_of) value_of) p }
  | _ -> malformed "a certificate is missing"

let pass_of = function
  | Apply [ Word "Pass"; f; t; c; o ] ->
      { from = string_of f; to0 = string_of t; columns = strings_of c; out = string_of o }
  | _ -> malformed "a relation that is passed on is missing"

let handing_of = function
  | Apply [ Word "Handing"; m; p; f; n; a ] ->
      { g_movers = list_of rule_of m; g_passed = list_of pass_of p; g_forward = string_of f;
        g_nodes = list_of value_of n; g_places = list_of (pair_of (pair_of value_of nat_of) value_of) a }
  | _ -> malformed "a certificate is missing"

let relaying_of = function
  | Apply [ Word "Relaying"; p; f; m; n; a ] ->
      { y_passed = list_of pass_of p; y_forward = string_of f; y_moves = strings_of m;
        y_nodes = list_of value_of n; y_places = list_of (pair_of (pair_of value_of nat_of) value_of) a }
  | _ -> malformed "a certificate is missing"

let accepts = function
  | Apply [ Word "divided"; d; p; q ] -> divided_b (division_of d) (program_of p) (program_of q)
  | Apply [ Word "may_divide"; d; p ] -> may_divide_program (division_of d) (program_of p)
  | Apply [ Word "may_decouple"; s; p ] -> may_decouple_program (separation_of s) (program_of p)
  | Apply [ Word "handed"; g; p; q ] -> handed_b (handing_of g) (program_of p) (program_of q)
  | Apply [ Word "separated"; s; f; p; q ] -> separated_b (separation_of s) (string_of f) (program_of p) (program_of q)
  | Apply [ Word "relayed"; y; p; q ] -> relayed_b (relaying_of y) (program_of p) (program_of q)
  | _ -> malformed "a question is missing"

let () =
  set_binary_mode_in stdin true;
  try
    while skip stdin; look stdin <> None do
      print_endline (if accepts (read stdin 0) then "yes" else "no")
    done
  with Malformed what ->
    prerr_endline ("certifier: " ^ what);
    exit 2

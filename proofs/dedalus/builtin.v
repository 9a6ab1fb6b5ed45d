(** * Dedalus: the functions of the language, and runs to compare *)
From stdpp Require Import prelude strings pretty gmap.
From ashlar.dedalus Require Import lang.

Local Open Scope N_scope.

Definition wrap (z : Z) : N := Z.to_N (z mod 2 ^ 64)%Z.

Definition text_of (v : value) : string :=
  match v with
  | U64 n => pretty n
  | Int n => pretty (signed n)
  | Bool b => if b then "true" else "false"
  | Text s | Bytes s | Node s => s
  end.

(** ** hash: FNV-1a of a value's key *)
Fixpoint hex_digits (fuel : nat) (n : N) (s : string) : string :=
  match fuel with
  | O => s
  | S fuel =>
      let d := n mod 16 in
      let s := String (Ascii.ascii_of_N (if decide (d < 10) then d + 48 else d + 87)) s in
      if decide (n / 16 = 0) then s else hex_digits fuel (n / 16) s
  end.

Definition bits (v : value) : N :=
  match v with U64 n | Int n => n | Bool b => if b then 1 else 0 | _ => 0 end.

Definition key (v : value) : string :=
  String (Ascii.ascii_of_nat (kind v))
    match v with
    | Text s | Bytes s | Node s => (pretty (N.of_nat (String.length s)) +:+ ":" +:+ s)%string
    | _ => hex_digits 16 (bits v) ";"
    end.

Fixpoint fnv (h : N) (s : string) : N :=
  match s with
  | EmptyString => h
  | String c s => fnv ((N.lxor h (Ascii.N_of_ascii c) * 1099511628211) mod 2 ^ 64) s
  end.

Definition hash (v : value) : N := fnv 14695981039346656037 (key v).

(** ** Functions and operators, by name.  None is that there is no value. *)
Definition builtin (f : string) (l : row) : option value :=
  match f, l with
  | "+", [U64 a; U64 b] => Some (U64 ((a + b) mod 2 ^ 64))
  | "+", [Int a; Int b] => Some (Int ((a + b) mod 2 ^ 64))
  | "-", [U64 a; U64 b] => Some (U64 (wrap (Z.of_N a - Z.of_N b)))
  | "-", [Int a; Int b] => Some (Int (wrap (Z.of_N a - Z.of_N b)))
  | "*", [U64 a; U64 b] => Some (U64 ((a * b) mod 2 ^ 64))
  | "*", [Int a; Int b] => Some (Int ((a * b) mod 2 ^ 64))
  | "/", [U64 a; U64 b] => if decide (b = 0) then None else Some (U64 (a / b))
  | "/", [Int a; Int b] => if decide (b = 0) then None else Some (Int (wrap (Z.quot (signed a) (signed b))))
  | "%", [U64 a; U64 b] => if decide (b = 0) then None else Some (U64 (a mod b))
  | "%", [Int a; Int b] => if decide (b = 0) then None else Some (Int (wrap (Z.rem (signed a) (signed b))))
  | "hash", [v] => Some (U64 (hash v))
  | "len", [Text s] | "len", [Bytes s] | "len", [Node s] => Some (U64 (N.of_nat (String.length s)))
  | "concat", [Bytes s; Bytes t] => Some (Bytes (s +:+ t))
  | "text", [v] => Some (Text (text_of v))
  | "int", [U64 n] => Some (Int n)
  | "u64", [Int n] => Some (U64 n)
  | _, _ => None
  end%string.

(** Whether a tick that begins with the facts [F] has these facts, carries these on and
    sends these. *)
Definition agrees (rounds : nat) (c : component) (self : value) (F all next : list fact) (sent : list message) : bool :=
  let G := now builtin self rounds c (list_to_set F) in
  bool_decide (G = list_to_set all) &&
  bool_decide (carried_on builtin self c G = list_to_set next) &&
  bool_decide (sends builtin self c G = list_to_set sent).

(** * Dedalus: programs that the checkers accept *)
From stdpp Require Import prelude strings gmap gmultiset.
From ashlar.dedalus Require Import lang system divide certify decouple separate passing handover.

Local Open Scope string_scope.
Local Open Scope list_scope.

Definition at_front : value := Node "front/0".
Definition at_store (i : string) : value := Node ("store/" +:+ i).

(** The front passes keys on to a store, which keeps them and reports each of them. *)
Definition put (to : list literal) (d : term) : rule :=
  Rule "put" [Plain (Var "k")] d ([Has (Atom "ask" [Var "k"]); Has (Atom "stores" [Var "n"])] ++ to).
Definition front (to : list literal) (d : term) : component := Component [] [] [put to d].
Definition store : component :=
  Component []
    [Rule "kept" [Plain (Var "k")] Wild [Has (Atom "put" [Var "k"])];
     Rule "kept" [Plain (Var "k")] Wild [Has (Atom "kept" [Var "k"])]]
    [Rule "seen" [Plain (Var "k")] (Const (Node "c")) [Has (Atom "kept" [Var "k"])]].

Definition whole : program :=
  Program [Instance at_front at_front (front [] (Var "n")); Instance (at_store "0") (at_store "0") store]
    [("stores", [at_store "0"])] ["stores"] ["ask"] ["seen"] [] [] [at_front; at_store "0"].

(** Divided into two by the key, by a rule that finds the piece. *)
Definition to_piece : list literal :=
  [Let "part" (Call "%" [Call "hash" [Var "k"]; Const (U64 2)]); Has (Atom "to" [Var "n"; Var "part"; Var "m"])].
Definition halves : program :=
  Program [Instance at_front at_front (front to_piece (Var "m"));
           Instance (at_store "0") (at_store "0") store; Instance (at_store "1") (at_store "0") store]
    [("stores", [at_store "0"]); ("to", [at_store "0"; U64 0; at_store "0"]); ("to", [at_store "0"; U64 1; at_store "1"])]
    ["to"; "stores"] ["ask"] ["seen"] [] [] [at_front].

Definition by_key : division :=
  Division 2 [("put", 0); ("kept", 0)] ["put"] [at_store "0"]
    [(at_store "0", 0, at_store "0"); (at_store "0", 1, at_store "1")] "to".

Lemma may_be_halved : divided_b by_key whole halves = true.
Proof. by vm_compute. Qed.

(** It is not accepted where the key of another column is hashed, or nothing leads to a piece. *)
Lemma may_not_be_divided_so :
  divided_b by_key whole whole = false ∧
  divided_b (Division 2 [("put", 0); ("kept", 0)] [] [at_store "0"]
    [(at_store "0", 0, at_store "0"); (at_store "0", 1, at_store "1")] "to") whole halves = false.
Proof. by vm_compute. Qed.

(** A server keeps keys, and each vote that came in, which it counts; the two share nothing. *)
Definition server : program :=
  Program
    [Instance (Node "server/0") (Node "server/0")
      (Component
        [[Rule "votes" [Plain (Var "k"); Agg Count (Var "v")] Wild [Has (Atom "vote" [Var "k"; Var "v"])]]]
        [Rule "kept" [Plain (Var "k")] Wild [Has (Atom "put" [Var "k"])];
         Rule "kept" [Plain (Var "k")] Wild [Has (Atom "kept" [Var "k"])]]
        [Rule "told" [Plain (Var "n")] (Const (Node "c")) [Has (Atom "votes" [Var "k"; Var "n"])];
         Rule "seen" [Plain (Var "k")] (Const (Node "c")) [Has (Atom "kept" [Var "k"])]])]
    [] [] ["put"] ["told"; "seen"] [] [] [].

Definition votes_apart : separation :=
  Separation ["vote"; "votes"] ["vote"; "votes"; "put"] [Node "server/0"] [(Node "server/0", 0, Node "votes/0")].

Lemma may_be_taken_apart : may_decouple_program votes_apart server = true.
Proof. by vm_compute. Qed.

(** Not so the votes without their count, or what clients put. *)
Lemma may_not_be_taken_apart_so :
  may_decouple_program (Separation ["vote"] ["vote"; "votes"; "put"] [Node "server/0"] [(Node "server/0", 0, Node "votes/0")]) server = false ∧
  may_decouple_program (Separation ["put"; "kept"] ["vote"; "votes"; "put"] [Node "server/0"] [(Node "server/0", 0, Node "keys/0")]) server = false.
Proof. by vm_compute. Qed.

(** The server that has its reports of keys made by another instance, to which it passes keys on. *)
Definition report (x : string) : rule := Rule "seen" [Plain (Var "k")] (Const (Node "c")) [Has (Atom x [Var "k"])].
Definition keeper (sends : list rule) : component :=
  Component []
    [Rule "kept" [Plain (Var "k")] Wild [Has (Atom "put" [Var "k"])];
     Rule "kept" [Plain (Var "k")] Wild [Has (Atom "kept" [Var "k"])]] sends.

Definition one_server : program :=
  Program [Instance (Node "server/0") (Node "server/0") (keeper [report "kept"])]
    [] [] ["put"] ["seen"] [] [] [Node "server/0"].
Definition two_servers : program :=
  Program
    [Instance (Node "server/0") (Node "server/0")
      (keeper [Rule "kept_told" [Plain (Var "x")] (Var "to") [Has (Atom "kept" [Var "x"]); Has (Atom "way" [Self; Var "to"])]]);
     Instance (Node "told/0") (Node "server/0") (Component [] [] [report "kept_told"])]
    [("way", [Node "server/0"; Node "told/0"])] ["way"] ["put"] ["seen"] [] [] [Node "server/0"; Node "told/0"].
Definition reports_told (names : list pass) : handing :=
  Handing [report "kept"] names "way" [Node "server/0"] [(Node "server/0", 0, Node "told/0")].

Lemma may_be_handed_over : handed_b (reports_told [Pass "kept" "kept_told" ["x"] "to"]) one_server two_servers = true.
Proof. by vm_compute. Qed.

(** Not so where nothing is passed on, or clients could send it. *)
Lemma may_not_be_handed_over_so :
  handed_b (reports_told []) one_server two_servers = false ∧
  handed_b (reports_told [Pass "kept" "put" ["x"] "to"]) one_server two_servers = false.
Proof. by vm_compute. Qed.

(** * Dedalus: programs that the checkers accept *)
From stdpp Require Import prelude strings gmap gmultiset.
From ashlar.dedalus Require Import lang system divide certify.

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

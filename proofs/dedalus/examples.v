(** * Dedalus: programs that the checkers accept *)
From stdpp Require Import prelude strings gmap gmultiset.
From ashlar.dedalus Require Import lang system divide certify decouple separate passing handover moved.

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

(** A front passes votes on to a server, which counts them, and keeps keys. *)
Definition votes : list (list rule) :=
  [[Rule "votes" [Plain (Var "k"); Agg Count (Var "v")] Wild [Has (Atom "vote" [Var "k"; Var "v"])]]].
Definition counted : rule := Rule "told" [Plain (Var "n")] (Const (Node "c")) [Has (Atom "votes" [Var "k"; Var "n"])].
Definition voter (to : list literal) (d : term) : component :=
  Component [] []
    [Rule "vote" [Plain (Var "k"); Plain (Var "v")] d ([Has (Atom "ask" [Var "k"; Var "v"]); Has (Atom "servers" [Var "n"])] ++ to)].

Definition polls : program :=
  Program
    [Instance at_front at_front (voter [] (Var "n"));
     Instance (Node "server/0") (Node "server/0") (Component votes (nexts (keeper [])) [counted; report "kept"])]
    [("servers", [Node "server/0"])] ["servers"] ["ask"; "put"] ["told"; "seen"] [] [] [at_front; Node "server/0"].

(** The count is made by another server, to which the front's rule sends the votes. *)
Definition two_polls (ways : list fact) : program :=
  Program
    [Instance at_front at_front (voter [Has (Atom "way" [Var "n"; Var "to"])] (Var "to"));
     Instance (Node "server/0") (Node "server/0") (keeper [report "kept"]);
     Instance (Node "votes/0") (Node "server/0") (Component votes [] [counted])]
    (("servers", [Node "server/0"]) :: ways) ["way"; "servers"] ["ask"; "put"] ["told"; "seen"] [] [] [at_front].
Definition way_to_votes : fact := ("way", [Node "server/0"; Node "votes/0"]).

Lemma may_be_taken_apart_by_rules :
  separated_b votes_apart "way" polls (two_polls [way_to_votes; ("way", [at_front; at_front])]) = true.
Proof. by vm_compute. Qed.

(** Not so where the static relation leads astray, or the votes still go to the old server. *)
Lemma may_not_be_taken_apart_by_rules_so :
  separated_b votes_apart "way" polls (two_polls [way_to_votes; ("way", [at_front; Node "votes/0"])]) = false ∧
  separated_b votes_apart "way" polls (two_polls [("way", [Node "server/0"; Node "server/0"])]) = false ∧
  separated_b votes_apart "way" polls polls = false.
Proof. by vm_compute. Qed.

(** The server behind a relay, to which votes come from clients and puts from the front. *)
Definition puts (to : list literal) (d : term) : component := Component [] [] [put to d].
Definition tally (vote : string) : component :=
  Component [[Rule "votes" [Plain (Var "k"); Agg Count (Var "v")] Wild [Has (Atom vote [Var "k"; Var "v"])]]]
    (nexts (keeper [])) [counted; report "kept"].
Definition bare : program :=
  Program [Instance at_front at_front (puts [] (Var "n")); Instance (Node "server/0") (Node "server/0") (tally "vote")]
    [("stores", [Node "server/0"])] ["stores"] ["ask"; "vote"] ["told"; "seen"] [] ["kept"] [at_front; Node "server/0"].
Definition way_to_work : fact := ("way", [Node "server/0"; Node "work/0"]).
Definition behind_relay (ways : list fact) (mortals : list value) : program :=
  Program
    [Instance at_front at_front (puts [Has (Atom "way" [Var "n"; Var "m"])] (Var "m"));
     Instance (Node "server/0") (Node "server/0")
       (Component [] [] [Rule "vote_told" [Plain (Var "x"); Plain (Var "y")] (Var "to")
         [Has (Atom "vote" [Var "x"; Var "y"]); Has (Atom "way" [Self; Var "to"])]]);
     Instance (Node "work/0") (Node "server/0") (tally "vote_told")]
    (("stores", [Node "server/0"]) :: ways) ["way"; "stores"] ["ask"; "vote"] ["told"; "seen"] [] ["kept"] mortals.
Definition votes_relayed (moves : list string) : relaying :=
  Relaying [Pass "vote" "vote_told" ["x"; "y"] "to"] "way" moves [Node "server/0"] [(Node "server/0", 0, Node "work/0")].

Lemma may_be_relayed :
  relayed_b (votes_relayed ["put"; "votes"; "kept"]) bare
    (behind_relay [way_to_work] [at_front; Node "server/0"; Node "work/0"]) = true.
Proof. by vm_compute. Qed.

(** Not so where nothing leads to what has moved, or clients would still talk to it, or something that it
    reads comes to the old place, or it fails and the server before could not. *)
Lemma may_not_be_relayed_so :
  relayed_b (votes_relayed ["put"; "votes"; "kept"]) bare
    (behind_relay [("way", [Node "server/0"; Node "server/0"])] []) = false ∧
  relayed_b (Relaying [] "way" ["put"; "votes"; "kept"; "vote"] [Node "server/0"] [(Node "server/0", 0, Node "work/0")]) bare
    (behind_relay [way_to_work] []) = false ∧
  relayed_b (votes_relayed ["votes"; "kept"]) bare (behind_relay [way_to_work] []) = false ∧
  relayed_b (votes_relayed ["put"; "votes"; "kept"])
    (Program (p_instances bare) (p_facts bare) (p_statics bare) (p_inputs bare) (p_outputs bare) [] ["kept"] [])
    (behind_relay [way_to_work] [Node "work/0"]) = false.
Proof. by vm_compute. Qed.

(** * Dedalus: what rules mean

    Values, terms, rules, and a tick of one instance as a function on finite sets
    of facts.  It can be run: internal/evidence/dedalus/gallina has Coq go through
    ticks of programs and compares with internal/dedalus/interp.

    Covered: sync rules in strata, with negation, recursion and the aggregates
    count, sum, min, max and choose; next and async rules; static relations; calls
    of functions that may have no value.  Left out: columns that merge, values
    that are sets (and the aggregate collect), and index.  A term that has no
    value makes a rule not fire. *)
From stdpp Require Import prelude strings gmap.

(** ** Values.  An [Int] is its 64 bits, as in logic.Value. *)
Inductive value :=
  | U64 (n : N) | Int (n : N) | Bool (b : bool) | Text (s : string) | Bytes (s : string) | Node (s : string).

Global Instance value_eq_dec : EqDecision value.
Proof. solve_decision. Defined.

Local Definition value_code (v : value) : N + N + (bool + string + (string + string)) :=
  match v with
  | U64 n => inl (inl n) | Int n => inl (inr n) | Bool b => inr (inl (inl b))
  | Text s => inr (inl (inr s)) | Bytes s => inr (inr (inl s)) | Node s => inr (inr (inr s))
  end.
Local Definition value_decode (c : N + N + (bool + string + (string + string))) : value :=
  match c with
  | inl (inl n) => U64 n | inl (inr n) => Int n | inr (inl (inl b)) => Bool b
  | inr (inl (inr s)) => Text s | inr (inr (inl s)) => Bytes s | inr (inr (inr s)) => Node s
  end.
Global Instance value_countable : Countable value.
Proof. apply (inj_countable' value_code value_decode). by intros []. Defined.

Notation row := (list value).

(** A fact is the name of its relation with a row; a message is a fact with the node to
    which it goes. *)
Definition fact := (string * row)%type.
Definition message := (value * fact)%type.

Definition signed (n : N) : Z := if decide (n < 2 ^ 63)%N then Z.of_N n else (Z.of_N n - 2 ^ 64)%Z.

Definition kind (v : value) : nat :=
  match v with U64 _ => 1 | Int _ => 2 | Bool _ => 3 | Text _ => 4 | Bytes _ => 5 | Node _ => 6 end.

(** The order of values, those of one kind first of all. *)
Definition compare (v w : value) : comparison :=
  match v, w with
  | U64 a, U64 b => N.compare a b
  | Int a, Int b => Z.compare (signed a) (signed b)
  | Bool a, Bool b => Nat.compare (if a then 1 else 0) (if b then 1 else 0)
  | Text a, Text b | Bytes a, Bytes b | Node a, Node b => String.compare a b
  | _, _ => Nat.compare (kind v) (kind w)
  end.

Fixpoint compare_rows (r s : row) : comparison :=
  match r, s with
  | [], [] => Eq
  | [], _ => Lt
  | _, [] => Gt
  | v :: r, w :: s => match compare v w with Eq => compare_rows r s | c => c end
  end.

(** ** Rules *)
Inductive term :=
  | Var (x : string)
  | Wild
  | Const (v : value)
  | Self
  | Call (f : string) (args : list term).

Inductive operator := OEq | ONe | OLt | OLe | OGt | OGe.

Definition holds (o : operator) (v w : value) : bool :=
  match o, compare v w with
  | OEq, Eq | ONe, (Lt | Gt) | OLt, Lt | OLe, (Lt | Eq) | OGt, Gt | OGe, (Gt | Eq) => true
  | _, _ => false
  end.

Record atom := Atom { rel : string; terms : list term }.

Inductive literal :=
  | Has (a : atom)
  | Lacks (a : atom)
  | Cmp (o : operator) (t u : term)
  | Let (x : string) (t : term).

Inductive aggregate := Count | Sum | Min | Max | Choose.

Inductive arg := Plain (t : term) | Agg (a : aggregate) (t : term).

Definition arg_term (a : arg) : term := match a with Plain t | Agg _ t => t end.

(** [dest] is where the head of an async rule goes; the other rules have none. *)
Record rule := Rule { head : string; args : list arg; dest : term; body : list literal }.

(** The rules of a component.  [strata] are its sync rules; a stratum is complete before
    the next one begins. *)
Record component := Component { strata : list (list rule); nexts : list rule; asyncs : list rule }.

Notation env := (gmap string value).

Section eval.
  (** What functions give, and the node that the instance stands for. *)
  Context (fns : string → row → option value) (self : value).

  Fixpoint eval (e : env) (t : term) : option value :=
    match t with
    | Var x => e !! x
    | Wild => None
    | Const v => Some v
    | Self => Some self
    | Call f ts => mapM (eval e) ts ≫= fns f
    end.

  (** The environment in which an atom is a row; variables that are not bound yet are
      bound. *)
  Fixpoint unify (e : env) (ts : list term) (r : row) : option env :=
    match ts, r with
    | [], [] => Some e
    | Wild :: ts, _ :: r => unify e ts r
    | Var x :: ts, v :: r =>
        match e !! x with
        | None => unify (<[x := v]> e) ts r
        | Some w => if decide (w = v) then unify e ts r else None
        end
    | t :: ts, v :: r => if decide (eval e t = Some v) then unify e ts r else None
    | _, _ => None
    end.

  Definition matching (e : env) (a : atom) (f : fact) : option env :=
    if decide (f.1 = rel a) then unify e (terms a) f.2 else None.

  Definition extend (F : gset fact) (l : literal) (e : env) : list env :=
    match l with
    | Has a => omap (matching e a) (elements F)
    | Lacks a => if decide (Forall (λ f, matching e a f = None) (elements F)) then [e] else []
    | Cmp o t u =>
        match eval e t, eval e u with
        | Some v, Some w => if holds o v w then [e] else []
        | _, _ => []
        end
    | Let x t =>
        match eval e t, e !! x with
        | Some v, None => [<[x := v]> e]
        | Some v, Some w => if decide (w = v) then [e] else []
        | None, _ => []
        end
    end.

  (** All ways to satisfy a body. *)
  Fixpoint solutions (F : gset fact) (b : list literal) (e : env) : list env :=
    match b with
    | [] => [e]
    | l :: b => extend F l e ≫= solutions F b
    end.

  (** *** Aggregates *)
  Definition plains (l : list arg) : list term :=
    omap (λ a, match a with Plain t => Some t | Agg _ _ => None end) l.

  Definition heads_of (r : rule) (e : env) : option row := mapM (eval e) (arg_term <$> args r).

  (** The solutions of a rule for which all terms of the head have a value; and those of the
      group of one of them: they have the same plain arguments. *)
  Definition fires (r : rule) (F : gset fact) : gset env :=
    filter (λ e, is_Some (heads_of r e)) (list_to_set (solutions F (body r) ∅)).

  Definition group (r : rule) (S : gset env) (e : env) : gset env :=
    filter (λ e', mapM (eval e') (plains (args r)) = mapM (eval e) (plains (args r))) S.

  Definition add (v w : value) : value :=
    match v, w with
    | U64 a, U64 b => U64 ((a + b) mod 2 ^ 64)
    | Int a, Int b => Int ((a + b) mod 2 ^ 64)
    | _, _ => v
    end.

  Definition best (c : comparison) (l : list value) : option value :=
    match l with
    | [] => None
    | v :: l => Some (foldr (λ w b, if decide (compare w b = c) then w else b) v l)
    end.

  Definition least (l : list row) : option row :=
    match l with
    | [] => None
    | r :: l => Some (foldr (λ s b, if decide (compare_rows s b = Lt) then s else b) r l)
    end.

  Definition values (G : gset env) (t : term) : list value := omap (λ e, eval e t) (elements G).

  Definition aggregated (r : rule) (G : gset env) (i : nat) (a : aggregate) (t : term) : option value :=
    match a with
    | Count => Some (U64 (N.of_nat (size (list_to_set (values G t) : gset value))))
    | Sum => match values G t with [] => None | v :: l => Some (foldr add v l) end
    | Min => best Lt (values G t)
    | Max => best Gt (values G t)
    | Choose => least (omap (heads_of r) (elements G)) ≫= λ s, s !! i
    end.

  (** The head of a rule for one solution, and its group. *)
  Definition argument (r : rule) (G : gset env) (e : env) (i : nat) (a : arg) : option value :=
    match a with Plain t => eval e t | Agg a t => aggregated r G i a t end.

  Definition made (r : rule) (S : gset env) (e : env) : option row :=
    mapM id (imap (argument r (group r S e) e) (args r)).

  Definition derive (F : gset fact) (r : rule) : gset fact :=
    let S := fires r F in
    list_to_set (omap (λ e, pair (head r) <$> made r S e) (elements S)).

  Definition send (F : gset fact) (r : rule) : gset message :=
    let S := fires r F in
    list_to_set (omap (λ e, d ← eval e (dest r); v ← made r S e; Some (d, (head r, v))) (elements S)).

  (** *** A tick *)

  (** All that rules derive from the facts, once; and up to [rounds] times.  What is
      not complete after that many rounds is cut off there; theorems hold for any number. *)
  Definition once (rs : list rule) (F : gset fact) : gset fact := F ∪ ⋃ (derive F <$> rs).
  Definition complete (rounds : nat) (rs : list rule) (F : gset fact) : gset fact := Nat.iter rounds (once rs) F.
  Definition close (rounds : nat) (ss : list (list rule)) (F : gset fact) : gset fact :=
    foldl (λ F rs, complete rounds rs F) F ss.

  (** All that holds in a tick that begins with some facts; what is carried to the next one;
      and what is sent. *)
  Definition now (rounds : nat) (c : component) (F : gset fact) : gset fact := close rounds (strata c) F.
  Definition carried_on (c : component) (G : gset fact) : gset fact := ⋃ (derive G <$> nexts c).
  Definition sends (c : component) (G : gset fact) : gset message := ⋃ (send G <$> asyncs c).
End eval.

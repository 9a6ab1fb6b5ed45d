(** * Dedalus: a component divided by keys

    Some instances of a system become several each, its pieces, which have the same rules.  A
    message to such an instance goes to the piece of its key.  Where all rules keep to keys, and
    ticks in which nothing comes in change nothing, clients see nothing that they might not have
    seen before.  Pieces do not crash; the others may, if they might before. *)
From stdpp Require Import prelude strings gmap gmultiset functions.
From ashlar.dedalus Require Import lang system keyed piece still.

Record plan := Plan {
  pieces : nat;
  keys : gmap string nat;   (* the key column of each relation of what is divided *)
  pulses : gset string;     (* as in still.v *)
  nodes : gset value;       (* the instances that are divided *)
}.

Section partition.
  Context (number : value → nat) (place : value → nat → value) (p : plan).

  (** The piece of a key, and where the pieces of a node are. *)
  Definition bucket (v : value) : nat := number v mod pieces p.
  Definition places : list value := elements (nodes p) ≫= λ a, place a <$> seq 0 (pieces p).

  Definition reroute (m : message) : option message :=
    match keys p !! m.2.1 with
    | None => Some m
    | Some _ =>
        if decide (m.1 ∈ nodes p) then Some (place m.1 (bucket (key_of (keys p) m.2)), m.2)
        else if decide (m.1 ∈ places) then None else Some m
    end.

  Definition in_pieces (i : instance) : list instance :=
    if decide (addr i ∈ nodes p) then (λ q, Instance (place (addr i) q) (self i) (rules i)) <$> seq 0 (pieces p)
    else [i].

  Definition divide (Σ : system) : system :=
    System (instances Σ ≫= in_pieces) (facts Σ) (statics Σ) (inputs Σ) (outputs Σ) (timers Σ) (durables Σ)
      (filter (λ a, a ∉ nodes p ∧ a ∈ (addr <$> instances Σ)) (mortals Σ))
      (λ m, route Σ m ≫= reroute).

  (** What is asked of a component that is divided. *)
  Definition apart (Σ : system) (c : component) : Prop :=
    divisible (keys p) c ∧ still (pulses p) c ∧
    Forall (λ x, (is_Some (keys p !! x) ∨ x ∈ statics Σ) ∧ x ∉ inputs Σ ∧ x ∉ timers Σ) (reads c).

  Definition may_divide (Σ : system) : Prop :=
    0 < pieces p ∧
    NoDup (addr <$> instances Σ) ∧
    (* places are apart from each other, and from other instances *)
    (∀ a q, a ∈ nodes p → q < pieces p →
      (∀ i, i ∈ instances Σ → addr i ∉ nodes p → addr i ≠ place a q) ∧
      ∀ b k, b ∈ nodes p → k < pieces p → place a q = place b k → a = b ∧ q = k) ∧
    (∀ f, f ∈ facts Σ → f.1 ∈ statics Σ) ∧
    (∀ x, x ∈ statics Σ → keys p !! x = None ∧ x ∉ pulses p) ∧
    (∀ x, x ∈ outputs Σ → keys p !! x = None) ∧
    (∀ i, i ∈ instances Σ → addr i ∈ nodes p → apart Σ (rules i)).

End partition.

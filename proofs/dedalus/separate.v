(** * Dedalus: whether a component may be taken apart into two, as a function *)
From stdpp Require Import prelude strings gmap gmultiset.
From ashlar.dedalus Require Import lang system keyed piece still check certify decouple.

Section separate.
  Context (S M : gset string).

  Definition one_sided_b (b : bool) (r : rule) : bool :=
    forallb (λ x, bool_decide (x ∈ S) || eqb (bool_decide (x ∈ M)) b) (read_by r).
  Definition derives_alone_b (r : rule) : bool := bool_decide (head r ∉ S) && one_sided_b (derives_moved M r) r.
  Definition sides_b (c : component) : bool :=
    forallb (forallb derives_alone_b) (strata c) && forallb derives_alone_b (nexts c) &&
    forallb (λ r, one_sided_b (reads_moved M r) r) (asyncs c).

  Lemma one_sided_sound b r : one_sided_b b r = true → one_sided S M b r.
  Proof.
    intros H x Hx%elem_of_list_In. unfold one_sided_b in H. rewrite forallb_forall in H.
    specialize (H x Hx). apply orb_true_iff in H as [H|H]; [left|right]; [by apply bool_decide_eq_true in H|by apply eqb_prop].
  Qed.

  Lemma derives_alone_sound r : derives_alone_b r = true → derives_alone S M r.
  Proof. intros [H1%bool_decide_eq_true H2]%andb_true_iff. split; [done|by apply one_sided_sound]. Qed.

  Lemma sides_sound c : sides_b c = true → sides S M c.
  Proof.
    intros [[H1 H2]%andb_true_iff H3]%andb_true_iff. split; [|split].
    - revert H1. apply forallb_Forall'. intros rs. apply forallb_Forall'. apply derives_alone_sound.
    - revert H2. apply forallb_Forall', derives_alone_sound.
    - revert H3. apply forallb_Forall'. intros r. apply one_sided_sound.
  Qed.
End separate.

Definition independent_b (d : decoupling) (Σ : system) (c : component) : bool :=
  sides_b (statics Σ) (moves d) c &&
  still_b (idle_in d) (side (moves d) false c) && still_b (idle_in d) (side (moves d) true c) &&
  bool_decide (set_Forall (λ x, x ∉ idle_in d ∧ x ∉ standing c) (statics Σ)).

Definition may_decouple_b (place : value → value) (d : decoupling) (Σ : system) : bool :=
  bool_decide (NoDup (addr <$> instances Σ)) &&
  bool_decide (set_Forall (λ a, Forall (λ i, addr i ≠ place a) (instances Σ) ∧
    set_Forall (λ b, place a = place b → a = b) (apart_at d)) (apart_at d)) &&
  bool_decide (set_Forall (λ f, f.1 ∈ statics Σ) (facts Σ)) &&
  bool_decide (set_Forall (λ x, x ∉ statics Σ ∧ x ∉ inputs Σ ∧ x ∉ timers Σ ∧ x ∉ outputs Σ) (moves d)) &&
  forallb (λ i, implb (bool_decide (addr i ∈ apart_at d)) (independent_b d Σ (rules i))) (instances Σ).

Lemma may_decouple_sound place d Σ : may_decouple_b place d Σ = true → may_decouple place d Σ.
Proof.
  unfold may_decouple_b. rewrite !andb_true_iff, !bool_decide_eq_true, forallb_forall.
  intros ((((H1&H2)&H3)&H4)&H5). split; [done|]. split; [|split; [done|split; [done|]]].
  - intros a Ha. destruct (H2 a Ha) as [H6 H7]. split; [|done]. intros i. revert i. by apply list.Forall_forall.
  - intros i Hi%elem_of_list_In Ha. specialize (H5 i Hi). rewrite bool_decide_eq_true_2 in H5 by done. simpl in H5.
    unfold independent_b in H5. rewrite !andb_true_iff, bool_decide_eq_true in H5. destruct H5 as (((H6&H7)&H8)&H9).
    split; [by apply sides_sound|]. split; [by apply still_sound|]. split; [by apply still_sound|done].
Qed.

(** ** Of a program as it is written *)
Record separation := Separation {
  s_moves : list string;
  s_pulses : list string;
  s_nodes : list value;
  s_places : list (value * nat * value);  (* where the new instance of each node is *)
}.

Definition decoupling_of (s : separation) : decoupling :=
  Decoupling (list_to_set (s_moves s)) (list_to_set (s_pulses s)) (list_to_set (s_nodes s)).
Definition new_place (s : separation) (a : value) : value := place_in (s_places s) a 0.

Definition may_decouple_program (s : separation) (P : program) : bool :=
  may_decouple_b (new_place s) (decoupling_of s) (meaning P).

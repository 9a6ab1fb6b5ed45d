(** * Parts of lists

    What slices need: [subslice i j l] is what Go writes [l[i:j]], and copying
    goes through the states [take i src ++ drop i dst]. *)
From stdpp Require Export list.
From iris.algebra Require Export big_op.
From iris.proofmode Require Import proofmode.

Section lists.
  Context {A : Type}.
  Implicit Types (l k : list A) (x : A) (i j n : nat).

  Definition subslice i j l : list A := drop i (take j l).

  Lemma subslice_length i j l : j ≤ length l → length (subslice i j l) = j - i.
  Proof. intros. rewrite /subslice drop_length take_length. lia. Qed.
  Lemma subslice_lookup i j l n : n < j - i → subslice i j l !! n = l !! (i + n).
  Proof. intros. rewrite /subslice lookup_drop lookup_take //. lia. Qed.
  Lemma subslice_0 j l : subslice 0 j l = take j l.
  Proof. done. Qed.
  Lemma subslice_all l : subslice 0 (length l) l = l.
  Proof. by rewrite /subslice firstn_all. Qed.
  Lemma subslice_to_end i l : subslice i (length l) l = drop i l.
  Proof. by rewrite /subslice firstn_all. Qed.
  Lemma subslice_empty i l : subslice i i l = [].
  Proof. apply drop_ge. rewrite take_length. lia. Qed.
  (** A list is what is before a part, the part, and what is after it. *)
  Lemma subslice_split i j l : i ≤ j → l = take i l ++ subslice i j l ++ drop j l.
  Proof.
    intros Hij. rewrite -{1}(take_drop j l) -{1}(take_drop i (take j l)) take_take -app_assoc.
    by rewrite Nat.min_l.
  Qed.
  Lemma subslice_app i j m l : i ≤ j → j ≤ m → subslice i j l ++ subslice j m l = subslice i m l.
  Proof.
    intros Hij Hjk. rewrite /subslice -{2}(take_drop j (take m l)) take_take.
    rewrite (Nat.min_l j m) // skipn_app. destruct (decide (j ≤ length l)).
    - rewrite take_length. replace (i - j `min` length l) with 0 by lia. done.
    - rewrite !(drop_ge (take m l) j); [by rewrite drop_nil|rewrite take_length; lia].
  Qed.
  Lemma subslice_subslice i j n m l :
    i ≤ j → m ≤ j - i → subslice n m (subslice i j l) = subslice (i + n) (i + m) l.
  Proof.
    intros Hij Hm. rewrite /subslice take_drop_commute take_take drop_drop.
    by replace ((i + m) `min` j) with (i + m) by lia.
  Qed.
  (** A change within a part. *)
  Lemma insert_subslice_split i j n x l :
    i + n < j → j ≤ length l →
    <[i + n := x]> l = take i l ++ <[n := x]> (subslice i j l) ++ drop j l.
  Proof.
    intros Hn Hj. rewrite {1}(subslice_split i j l); [|lia].
    rewrite insert_app_r_alt; [|rewrite take_length; lia]. f_equal.
    rewrite take_length_le; [|lia]. replace (i + n - i) with n by lia.
    rewrite insert_app_l //. rewrite subslice_length; lia.
  Qed.

  (** ** Copying from left to right *)
  Lemma copy_step i x k l :
    k !! i = Some x → i < length l →
    <[i := x]> (take i k ++ drop i l) = take (S i) k ++ drop (S i) l.
  Proof.
    intros Hk Hl. rewrite (take_S_r _ _ _ Hk) -app_assoc.
    rewrite insert_app_r_alt; [|rewrite take_length; lia].
    apply lookup_lt_Some in Hk as Hik. rewrite take_length_le; [|lia].
    destruct (lookup_lt_is_Some_2 l i Hl) as [y Hy].
    by rewrite Nat.sub_diag (drop_S _ _ _ Hy).
  Qed.
  Lemma copy_length i k l : i ≤ length k → i ≤ length l → length (take i k ++ drop i l) = length l.
  Proof. intros. rewrite app_length take_length drop_length. lia. Qed.

  Lemma lookup_take_drop_r i k l n : i ≤ length k → i ≤ n → (take i k ++ drop i l) !! n = l !! n.
  Proof.
    intros Hi Hn. rewrite lookup_app_r; [|rewrite take_length; lia].
    rewrite take_length_le // lookup_drop. f_equal. lia.
  Qed.
  Lemma insert_length_app n x l k : length l = n → <[n := x]> (l ++ k) = l ++ <[0 := x]> k.
  Proof. intros <-. by rewrite -{1}(Nat.add_0_r (length l)) insert_app_r. Qed.
  Lemma drop_replicate_insert n m x y :
    n < m → <[0 := y]> (replicate (m - n) x) = y :: replicate (m - S n) x.
  Proof. intros. by replace (m - n) with (S (m - S n)) by lia. Qed.

  (** ** Lists of equal length, one after the other *)
  Lemma concat_length_equal n (ls : list (list A)) :
    Forall (λ l, length l = n) ls → length (concat ls) = length ls * n.
  Proof. induction 1 as [|l ls Hl _ IH]; simpl; [done|]. by rewrite app_length Hl IH. Qed.
  Lemma concat_replicate_singleton n x : concat (replicate n [x]) = replicate n x.
  Proof. induction n as [|n IH]; simpl; [done|]. by rewrite IH. Qed.
End lists.

Global Arguments subslice : simpl never.

(** ** Separating conjunctions over parts of lists *)
Section big_sepL.
  Context {PROP : bi} {A : Type}.
  Implicit Types (Φ : nat → A → PROP) (l : list A).

  Lemma big_sepL_subslice_acc Φ l i j : i ≤ j → j ≤ length l →
    ([∗ list] n ↦ x ∈ l, Φ n x) ⊣⊢
    ([∗ list] n ↦ x ∈ take i l, Φ n x) ∗
    ([∗ list] n ↦ x ∈ subslice i j l, Φ (i + n) x) ∗
    ([∗ list] n ↦ x ∈ drop j l, Φ (j + n) x).
  Proof.
    intros Hij Hj. rewrite {1}(subslice_split i j l) //.
    rewrite !big_sepL_app take_length_le; [|lia].
    rewrite subslice_length //. do 2 f_equiv. apply big_sepL_proper=> n x _.
    by replace (i + (j - i + n)) with (j + n) by lia.
  Qed.
  Lemma big_sepL_concat_equal {B} (f : A → list B) (Ψ : nat → B → PROP) l n :
    (∀ x, x ∈ l → length (f x) = n) →
    ([∗ list] i ↦ y ∈ concat (f <$> l), Ψ i y) ⊣⊢
    ([∗ list] i ↦ x ∈ l, [∗ list] j ↦ y ∈ f x, Ψ (i * n + j) y).
  Proof.
    revert Ψ. induction l as [|x l IH]; intros Ψ Hf; simpl; [done|].
    rewrite big_sepL_app. f_equiv. rewrite IH; last first.
    { intros y Hy. apply Hf. by constructor. }
    apply big_sepL_proper=> i y _. apply big_sepL_proper=> j z _.
    rewrite Hf; [|constructor]. by replace (n + (i * n + j)) with (S i * n + j) by lia.
  Qed.
End big_sepL.

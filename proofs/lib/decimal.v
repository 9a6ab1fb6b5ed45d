(** * Decimal notation: the string of a number, as [strconv.FormatUint] writes it *)
From ashlar.lib Require Export ints.

(** [digits k n]: the last [k] digits of [n] at most, as characters, no leading zero. *)
Fixpoint digits (k : nat) (n : Z) : list Z :=
  match k with
  | O => []
  | S k => (if bool_decide (n < 10) then [] else digits k (n / 10)) ++ [48 + n `mod` 10]
  end.
(** The digits of a [uint64]: there are at most twenty. *)
Definition decimal (n : Z) : list Z := digits 20 n.
Definition decimal_val (s : list Z) : Z := foldl (λ a c, 10 * a + (c - 48)) 0 s.

Lemma digits_val (k : nat) n : 0 ≤ n < 10 ^ k → decimal_val (digits k n) = n.
Proof.
  revert n. induction k as [|k IH]; intros n Hn; [rewrite /decimal_val; simpl in *; lia|]. cbn [digits].
  rewrite ->Nat2Z.inj_succ, Z.pow_succ_r in Hn by lia.
  rewrite /decimal_val foldl_app. cbn [foldl]. case_bool_decide; cbn [foldl].
  - rewrite Z.mod_small; lia.
  - change (foldl _ 0 ?l) with (decimal_val l). rewrite IH.
    + pose proof (Z.div_mod n 10). lia.
    + split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; lia.
Qed.
Lemma digits_chars k n : Forall (λ c, 48 ≤ c < 58) (digits k n).
Proof.
  revert n. induction k as [|k IH]; intros n; cbn [digits]; [done|].
  apply Forall_app. split; [by case_bool_decide|].
  constructor; [|done]. pose proof (Z.mod_pos_bound n 10). lia.
Qed.
Lemma digits_length k n : (length (digits k n) ≤ k)%nat.
Proof.
  revert n. induction k as [|k IH]; intros n; cbn [digits]; [done|].
  rewrite app_length. cbn [length]. case_bool_decide; [simpl; lia|]. specialize (IH (n / 10)). lia.
Qed.
(** More room for digits than needed changes nothing. *)
Lemma digits_enough (k j : nat) n :
  0 ≤ n < 10 ^ k → (k ≤ j)%nat → (0 < k)%nat → digits j n = digits k n.
Proof.
  revert j n. induction k as [|k IH]; intros j n Hn Hj Hk; [lia|].
  destruct j as [|j]; [lia|]. cbn [digits]. case_bool_decide; [done|].
  rewrite ->Nat2Z.inj_succ, Z.pow_succ_r in Hn by lia.
  destruct k as [|k]; [simpl in *; lia|]. rewrite (IH j); [done| |lia|lia].
  split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; lia.
Qed.

Lemma decimal_val_decimal n : in_range U64 n → decimal_val (decimal n) = n.
Proof. intros. apply digits_val. split; int_solve. Qed.
Lemma decimal_inj n m : in_range U64 n → in_range U64 m → decimal n = decimal m → n = m.
Proof. intros. rewrite -(decimal_val_decimal n) // -(decimal_val_decimal m) //. congruence. Qed.
Lemma decimal_chars n : Forall (λ c, 48 ≤ c < 58) (decimal n).
Proof. apply digits_chars. Qed.
Lemma decimal_ok n : bytes_ok (decimal n).
Proof. eapply Forall_impl; [apply decimal_chars|]. int_solve. Qed.
Lemma decimal_length n : (1 ≤ length (decimal n) ≤ 20)%nat.
Proof.
  split; [|apply digits_length]. rewrite /decimal. cbn [digits]. rewrite app_length. cbn [length]. lia.
Qed.
(** One turn of the loop that computes them. *)
Lemma decimal_small n : n < 10 → decimal n = [48 + n `mod` 10].
Proof. intros. rewrite /decimal. cbn [digits]. by rewrite bool_decide_true. Qed.
Lemma decimal_step n :
  in_range U64 n → 10 ≤ n → decimal n = decimal (n / 10) ++ [48 + n `mod` 10].
Proof.
  intros Hn ?. rewrite {1}/decimal. cbn [digits]. rewrite bool_decide_false; [|lia].
  assert (digits 20 (n / 10) = digits 19 (n / 10)) as Hd; [|by rewrite /decimal Hd].
  apply digits_enough; [|lia..].
  split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; [lia|].
  change (10 ^ Z.of_nat 19) with 10000000000000000000. int_solve.
Qed.

Global Arguments decimal : simpl never.

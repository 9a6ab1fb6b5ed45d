(** * Machine integers and their bytes

    Go's integers are integers in a range; an operation gives [wrap w] of the
    mathematical result.  A proof shows that the result is in range and goes on
    with plain integers: [wrap_id] and the tactics below.  Then the little-endian
    encoding. *)
From stdpp Require Export list.
From ashlar.lang Require Export syntax.
Open Scope Z_scope.

(** ** Tactics

    [int_unfold] shows what [in_range] and [wrap] at a known width mean;
    [int_solve] proves goals about them; [rewrite_wrap] takes every [wrap] away
    that [int_solve] can show to do nothing. *)
Ltac int_pows :=
  change (2^8) with 256 in *; change (2^16) with 65536 in *; change (2^32) with 4294967296 in *;
  change (2^63) with 9223372036854775808 in *; change (2^64) with 18446744073709551616 in *;
  change (-(2^63)) with (-9223372036854775808) in *.
Ltac int_unfold := unfold in_range, wrap, width_bits in *; int_pows.
Ltac int_solve :=
  intros; try done; int_unfold;
  first [ lia | Z.div_mod_to_equations; lia | Z.to_euclidean_division_equations; lia ].

(** ** [wrap] and [in_range] *)
Lemma wrap_in_range w n : in_range w (wrap w n).
Proof. destruct w; int_solve. Qed.
Lemma wrap_id w n : in_range w n → wrap w n = n.
Proof. destruct w; unfold in_range, wrap; intros; rewrite ?Z.mod_small; lia. Qed.
Lemma wrap_iff w n : wrap w n = n ↔ in_range w n.
Proof. split; [intros <-; apply wrap_in_range|apply wrap_id]. Qed.
Lemma wrap_wrap w n : wrap w (wrap w n) = wrap w n.
Proof. apply wrap_id, wrap_in_range. Qed.

Definition modulus (w : width) : Z := 2 ^ width_bits w.
Lemma modulus_pos w : 0 < modulus w.
Proof. by destruct w. Qed.
(** [wrap w n] is [n] plus a multiple of the modulus, and the only one in range. *)
Lemma wrap_spec w n : ∃ k, wrap w n = n + k * modulus w.
Proof.
  destruct w; unfold modulus, wrap; simpl width_bits.
  1-4: match goal with |- ∃ _, ?a `mod` ?m = _ =>
         exists (- (a / m)); pose proof (Z.div_mod a m); lia end.
  exists (- ((n + 2^63) / 2^64)). pose proof (Z.div_mod (n + 2^63) (2^64)). lia.
Qed.
Lemma wrap_plus_multiple w n k : wrap w (n + k * modulus w) = wrap w n.
Proof.
  destruct w; unfold modulus, wrap; simpl width_bits; try by rewrite Z_mod_plus_full.
  replace (n + k * 2^64 + 2^63) with (n + 2^63 + k * 2^64) by lia. by rewrite Z_mod_plus_full.
Qed.
Lemma wrap_unique w n m k : in_range w m → m = n + k * modulus w → wrap w n = m.
Proof. intros Hm ->. rewrite -(wrap_plus_multiple w n k). by apply wrap_id. Qed.

Lemma wrap_add_l w a b : wrap w (wrap w a + b) = wrap w (a + b).
Proof.
  destruct (wrap_spec w a) as [k ->]. rewrite -(wrap_plus_multiple w (a + b) k). f_equal. lia.
Qed.
Lemma wrap_add_r w a b : wrap w (a + wrap w b) = wrap w (a + b).
Proof. rewrite (Z.add_comm a) wrap_add_l. f_equal. lia. Qed.
Lemma wrap_sub_l w a b : wrap w (wrap w a - b) = wrap w (a - b).
Proof. apply (wrap_add_l w a (- b)). Qed.
Lemma wrap_sub_r w a b : wrap w (a - wrap w b) = wrap w (a - b).
Proof.
  destruct (wrap_spec w b) as [k ->]. rewrite -(wrap_plus_multiple w (a - b) (- k)). f_equal. lia.
Qed.
Lemma wrap_mul_l w a b : wrap w (wrap w a * b) = wrap w (a * b).
Proof.
  destruct (wrap_spec w a) as [k ->]. rewrite -(wrap_plus_multiple w (a * b) (k * b)). f_equal. lia.
Qed.
Lemma wrap_mul_r w a b : wrap w (a * wrap w b) = wrap w (a * b).
Proof. rewrite (Z.mul_comm a) wrap_mul_l. f_equal. lia. Qed.

(** ** No overflow: what an operation gives when its result is in range *)
Lemma in_range_0 w : in_range w 0.
Proof. by destruct w. Qed.
Lemma in_range_1 w : in_range w 1.
Proof. by destruct w. Qed.
Lemma in_range_between w a b n : in_range w a → in_range w b → a ≤ n ≤ b → in_range w n.
Proof. destruct w; unfold in_range; lia. Qed.
(** A count that is below another number of the same width can be incremented. *)
Lemma in_range_succ w a n : in_range w a → in_range w n → a < n → in_range w (a + 1).
Proof. destruct w; unfold in_range; lia. Qed.
Lemma in_range_pred w n : in_range w n → 0 < n → in_range w (n - 1).
Proof. destruct w; unfold in_range; lia. Qed.
Lemma in_range_nat_le w (m n : nat) : in_range w n → (m ≤ n)%nat → in_range w m.
Proof. destruct w; unfold in_range; lia. Qed.
Lemma wrap_succ w a n : in_range w a → in_range w n → a < n → wrap w (a + 1) = a + 1.
Proof. eauto using wrap_id, in_range_succ. Qed.

(** ** Conversions *)
Lemma in_range_U8_U64 n : in_range U8 n → in_range U64 n.
Proof. int_solve. Qed.
Lemma in_range_U8_I64 n : in_range U8 n → in_range I64 n.
Proof. int_solve. Qed.
Lemma in_range_U32_U64 n : in_range U32 n → in_range U64 n.
Proof. int_solve. Qed.
Lemma in_range_U32_I64 n : in_range U32 n → in_range I64 n.
Proof. int_solve. Qed.
Lemma in_range_I64_U64 n : in_range I64 n → 0 ≤ n → in_range U64 n.
Proof. int_solve. Qed.
Lemma in_range_U64_I64 n : in_range U64 n → n < 2^63 → in_range I64 n.
Proof. int_solve. Qed.
Lemma in_range_U64_nonneg n : in_range U64 n → 0 ≤ n.
Proof. int_solve. Qed.
(** A [uint64] index that is converted to [int] and is in bounds there was in
    bounds before: a large one becomes negative. *)
Lemma wrap_I64_U64_index i (n : nat) :
  in_range U64 i → in_range I64 n → 0 ≤ wrap I64 i < n → wrap I64 i = i.
Proof. int_solve. Qed.

(** ** Shifts and masks *)
Lemma shiftl_mul a k : 0 ≤ k → Z.shiftl a k = a * 2 ^ k.
Proof. apply Z.shiftl_mul_pow2. Qed.
Lemma shiftr_div a k : 0 ≤ k → Z.shiftr a k = a / 2 ^ k.
Proof. apply Z.shiftr_div_pow2. Qed.
Lemma shiftr_8 a : Z.shiftr a 8 = a / 256.
Proof. by rewrite shiftr_div. Qed.
Lemma in_range_shiftr w a k : in_range w a → 0 ≤ k → in_range w (Z.shiftr a k).
Proof.
  intros Ha Hk. rewrite ->shiftr_div by done. assert (0 < 2 ^ k) by lia.
  assert (0 ≤ a → 0 ≤ a / 2 ^ k ≤ a).
  { intros. split; [apply Z.div_pos; lia|]. apply Z.div_le_upper_bound; [lia|nia]. }
  assert (a < 0 → a ≤ a / 2 ^ k < 0).
  { intros. split; [apply Z.div_le_lower_bound; [lia|nia]|]. apply Z.div_lt_upper_bound; lia. }
  destruct w; unfold in_range in *; lia.
Qed.
Lemma land_ones a k : 0 ≤ k → Z.land a (2 ^ k - 1) = a `mod` 2 ^ k.
Proof.
  intros. replace (2 ^ k - 1) with (Z.ones k) by (rewrite Z.ones_equiv; lia). by apply Z.land_ones.
Qed.
Lemma land_255 a : Z.land a 255 = a `mod` 256.
Proof. apply (land_ones a 8). lia. Qed.
Lemma wrap_U8_mod n : wrap U8 n = n `mod` 256.
Proof. done. Qed.

(** ** Little-endian bytes *)
Fixpoint le_bytes (k : nat) (n : Z) : list Z :=
  match k with O => [] | S k => n `mod` 256 :: le_bytes k (n / 256) end.
Fixpoint le_val (bs : list Z) : Z :=
  match bs with [] => 0 | b :: bs => b + 256 * le_val bs end.
Notation bytes_ok := (Forall (in_range U8)).

Lemma le_bytes_length k n : length (le_bytes k n) = k.
Proof. revert n. induction k; intros n; simpl; auto. Qed.
Lemma le_bytes_ok k n : bytes_ok (le_bytes k n).
Proof.
  revert n. induction k; intros n; simpl; constructor; [|done].
  unfold in_range. change (2^8) with 256. by apply Z.mod_pos_bound.
Qed.
Lemma le_bytes_lookup k n i :
  (i < k)%nat → le_bytes k n !! i = Some ((n / 256 ^ i) `mod` 256).
Proof.
  revert n i. induction k as [|k IH]; intros n i Hi; [lia|]. destruct i as [|i]; simpl.
  - by rewrite Z.div_1_r.
  - rewrite ->IH by lia. do 2 f_equal. rewrite ->Z.div_div by lia. f_equal.
    rewrite ->Nat2Z.inj_succ, ->Z.pow_succ_r by lia. lia.
Qed.
Lemma le_val_mod k n : le_val (le_bytes k n) = n `mod` 256 ^ k.
Proof.
  revert n. induction k as [|k IH]; intros n; simpl; [by rewrite Z.mod_1_r|].
  rewrite ->IH, ->Nat2Z.inj_succ, ->Z.pow_succ_r, ->Z.rem_mul_r by lia. lia.
Qed.
Lemma le_val_le_bytes (k : nat) n : 0 ≤ n < 256 ^ k → le_val (le_bytes k n) = n.
Proof. intros. by rewrite le_val_mod Z.mod_small. Qed.
Lemma le_val_range bs : bytes_ok bs → 0 ≤ le_val bs < 256 ^ length bs.
Proof.
  induction 1 as [|b bs Hb _ IH]; [simpl; lia|]. cbn [le_val length].
  rewrite ->Nat2Z.inj_succ, ->Z.pow_succ_r by lia. int_solve.
Qed.
Lemma le_bytes_le_val bs : bytes_ok bs → le_bytes (length bs) (le_val bs) = bs.
Proof.
  induction 1 as [|b bs Hb _ IH]; simpl; [done|].
  unfold in_range in Hb. change (2^8) with 256 in Hb. f_equal.
  - rewrite (Z.mul_comm 256) Z_mod_plus_full. by apply Z.mod_small.
  - rewrite (Z.mul_comm 256) Z_div_plus_full //. by rewrite (Z.div_small b) // Z.add_0_l IH.
Qed.
Lemma le_bytes_app k j n : le_bytes (k + j) n = le_bytes k n ++ le_bytes j (n / 256 ^ k).
Proof.
  revert n. induction k as [|k IH]; intros n; cbn [Nat.add le_bytes app]; [by rewrite Z.div_1_r|].
  rewrite ->IH, ->Nat2Z.inj_succ, ->Z.pow_succ_r, <-Z.div_div by lia. done.
Qed.
Lemma le_val_app bs cs : le_val (bs ++ cs) = le_val bs + 256 ^ length bs * le_val cs.
Proof.
  induction bs as [|b bs IH]; cbn [app le_val length]; [simpl; lia|].
  rewrite ->IH, ->Nat2Z.inj_succ, ->Z.pow_succ_r by lia. lia.
Qed.
Lemma le_bytes_inj (k : nat) n m :
  0 ≤ n < 256 ^ k → 0 ≤ m < 256 ^ k → le_bytes k n = le_bytes k m → n = m.
Proof. intros Hn Hm H. rewrite <-(le_val_le_bytes k n), <-(le_val_le_bytes k m) by done. by rewrite H. Qed.
Lemma le_val_inj bs cs :
  bytes_ok bs → bytes_ok cs → length bs = length cs → le_val bs = le_val cs → bs = cs.
Proof.
  intros Hbs Hcs Hlen H. by rewrite -(le_bytes_le_val bs) // -(le_bytes_le_val cs) // Hlen H.
Qed.

(** The eight bytes of a [uint64]. *)
Notation u64_bytes n := (le_bytes 8 n).
Lemma u64_bytes_val n : in_range U64 n → le_val (u64_bytes n) = n.
Proof. intros. by apply le_val_le_bytes. Qed.
Lemma u64_val_range bs : bytes_ok bs → length bs = 8%nat → in_range U64 (le_val bs).
Proof. intros Hbs Hlen. pose proof (le_val_range bs Hbs) as H. by rewrite Hlen in H. Qed.
Lemma u64_val_bytes bs : bytes_ok bs → length bs = 8%nat → u64_bytes (le_val bs) = bs.
Proof. intros Hbs Hlen. by rewrite -Hlen le_bytes_le_val. Qed.
Lemma u64_bytes_inj n m : in_range U64 n → in_range U64 m → u64_bytes n = u64_bytes m → n = m.
Proof. intros ??. by apply (le_bytes_inj 8). Qed.
Lemma replicate_0_le_bytes k : le_bytes k 0 = replicate k 0.
Proof. induction k as [|k IH]; simpl; [done|]. change (0 / 256) with 0. by rewrite IH. Qed.

(** ** Taking [wrap] away *)
Ltac rewrite_wrap :=
  repeat match goal with
  | |- context [wrap ?w ?n] => rewrite -> (wrap_id w n) by (first [done | int_solve])
  end.
Tactic Notation "rewrite_wrap" "in" hyp(H) :=
  repeat match type of H with
  | context [wrap ?w ?n] => rewrite -> (wrap_id w n) in H by (first [done | int_solve])
  end.

Global Arguments wrap : simpl never.
Global Arguments in_range : simpl never.
Global Arguments le_bytes : simpl never.
Global Arguments modulus : simpl never.

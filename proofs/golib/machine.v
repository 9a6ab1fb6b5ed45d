(** * Strings, and the functions of package machine *)
From iris.proofmode Require Import environments.
From ashlar.lib Require Export decimal.
From ashlar.golib Require Export slice_rules uint64.
Local Open Scope Z_scope.

Section machine.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (s : list Z) (n : Z).

  (** ** Strings: [len(s)] and [s1 + s2] are steps of [wp_pures] *)
  Lemma wp_string_get b E s w (i : Z) x :
    0 ≤ i → s !! Z.to_nat i = Some x → Z.of_nat (length s) < 2^63 →
    {{{ True }}} string_get #(LitStr s) #(LitInt w i) @ b; E {{{ RET #(u8 x); True }}}.
  Proof.
    iIntros (Hi Hx Hlen Φ) "_ HΦ". pose proof (lookup_lt_Some _ _ _ Hx).
    wp_rec. wp_pures. rewrite_wrap.
    assert (bin_op_eval StrGetOp #(LitStr s) #(int i) = Some #(u8 x)) as Heval.
    { simpl. rewrite decide_False; [|lia]. by rewrite Hx. }
    iApply (wpe_pure _ _ []); [by constructor|]. iNext. iApply wpe_value. by iApply "HΦ".
  Qed.
  Lemma wp_string_sub b E s w1 w2 (i j : Z) :
    0 ≤ i ≤ j → j ≤ length s → Z.of_nat (length s) < 2^63 →
    {{{ True }}}
      string_sub #(LitStr s) #(LitInt w1 i) #(LitInt w2 j) @ b; E
    {{{ RET #(LitStr (subslice (Z.to_nat i) (Z.to_nat j) s)); True }}}.
  Proof.
    iIntros (Hi Hj Hlen Φ) "_ HΦ". wp_rec. wp_pures. rewrite_wrap.
    assert (bin_op_eval StrTakeOp #(LitStr s) #(int j) = Some #(LitStr (take (Z.to_nat j) s))) as H1.
    { simpl. rewrite decide_True //. lia. }
    iApply (wpe_pure _ _ [BinOpLCtx StrDropOp #(int i)]); [by constructor|]. iNext. simpl.
    assert (bin_op_eval StrDropOp #(LitStr (take (Z.to_nat j) s)) #(int i) =
      Some #(LitStr (subslice (Z.to_nat i) (Z.to_nat j) s))) as H2.
    { simpl. rewrite decide_True //. rewrite take_length. lia. }
    iApply (wpe_pure _ _ []); [by constructor|]. iNext. iApply wpe_value. by iApply "HΦ".
  Qed.

  (** ** Decimal notation *)
  Lemma wp_string_digit b E n : 0 ≤ n < 10 →
    {{{ True }}} machine.string_digit #(u64 n) @ b; E {{{ RET #(LitStr [48 + n]); True }}}.
  Proof.
    iIntros (Hn Φ) "_ HΦ". wp_rec. wp_pures. rewrite_wrap.
    wp_apply (wp_string_sub with "[//]"); [lia|simpl; lia|done|].
    iIntros "_".
    assert (subslice (Z.to_nat n) (Z.to_nat (n + 1)) (bytes_of "0123456789") = [48 + n]) as ->;
      [|by iApply "HΦ"].
    assert (n = 0 ∨ n = 1 ∨ n = 2 ∨ n = 3 ∨ n = 4 ∨ n = 5 ∨ n = 6 ∨ n = 7 ∨ n = 8 ∨ n = 9) as Hcase by lia.
    naive_solver.
  Qed.
  Lemma wp_UInt64ToString b E n : in_range U64 n →
    {{{ True }}} machine.UInt64ToString #(u64 n) @ b; E {{{ RET #(LitStr (decimal n)); True }}}.
  Proof.
    iIntros (Hn Φ) "_ HΦ". wp_rec. wp_pure.
    lazymatch goal with |- envs_entails _ (wp _ _ (App (App (Val ?f) _) _) _) => set (loop := f) end.
    rewrite -{1}(app_nil_r (decimal n)). generalize (@nil Z) as s. intros s.
    iLöb as "IH" forall (n s Hn). wp_rec. wp_pures. rewrite_wrap.
    wp_apply (wp_string_digit with "[//]"); [int_solve|]. iIntros "_". wp_pures.
    rewrite Z.rem_mod_nonneg; [|int_solve..]. case_bool_decide as Hlt; wp_pures.
    - rewrite decimal_small //. by iApply "HΦ".
    - rewrite_wrap. rewrite Z.quot_div_nonneg; [|int_solve..].
      iApply ("IH" with "[%] [HΦ]").
      + split; [apply Z.div_pos; int_solve|]. apply Z.div_lt_upper_bound; int_solve.
      + rewrite (decimal_step n) //; [|lia]. by rewrite -app_assoc.
  Qed.

  (** ** Random numbers *)
  Lemma wp_RandomUint64 b E :
    {{{ True }}} machine.RandomUint64 #() @ b; E {{{ n, RET #(u64 n); ⌜in_range U64 n⌝ }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. iApply wpe_arb. iIntros "!>" (v (n & Hn & ->)). by iApply "HΦ".
  Qed.
End machine.

(** * Rules of lang/packages.v: small integers, arrays, errors, interfaces, bytes

    A small integer is an [int] in a range, and [small bits n] is what Go's
    arithmetic makes of [n].  An array of [n] elements [vs] is the value
    [array_val vs], and in memory the [own_block] that a slice has.  A value of an
    interface type is [interface_nil], or [interface_val methods v]. *)
From iris.proofmode Require Import environments.
From ashlar.lang Require Export packages.
From ashlar.golib Require Export append control.
Local Open Scope Z_scope.

Global Instance unfold_interface_is_nil : UnfoldFun std.interface_is_nil := I.
Global Arguments std.arrayT : simpl never.
Global Arguments std.interface : simpl never.
Global Arguments std.method : simpl never.
Global Arguments std.entry : simpl never.

(** ** Small integers *)
Definition small (bits n : Z) : Z := (n + 2 ^ (bits - 1)) `mod` 2 ^ bits - 2 ^ (bits - 1).
Lemma small_id bits n : 1 ≤ bits → - 2 ^ (bits - 1) ≤ n < 2 ^ (bits - 1) → small bits n = n.
Proof.
  intros Hb Hn. rewrite /small Z.mod_small; [lia|].
  assert (2 ^ bits = 2 * 2 ^ (bits - 1)) as ->; [|lia].
  rewrite -Z.pow_succ_r; [|lia]. f_equal. lia.
Qed.

(** ** Comparison *)
Definition compare_z (x y : Z) : Z := if decide (x < y) then -1 else if decide (y < x) then 1 else 0.
Lemma compare_z_0 x y : compare_z x y = 0 ↔ x = y.
Proof. rewrite /compare_z. repeat case_decide; lia. Qed.
Lemma compare_z_neg x y : compare_z x y < 0 ↔ x < y.
Proof. rewrite /compare_z. repeat case_decide; lia. Qed.

(** ** Arrays *)
Fixpoint array_val (vs : list val) : val :=
  match vs with [] => #() | v :: vs => (v, array_val vs)%V end.
Lemma array_val_zero n t : zero_val (std.arrayT n t) = array_val (replicate n (zero_val t)).
Proof. induction n as [|n IH]; [done|]. simpl. by rewrite -IH. Qed.
Lemma array_ty_size n t : ty_size (std.arrayT n t) = n * ty_size t.
Proof.
  induction n as [|n IH]; [done|]. change (ty_size t + ty_size (std.arrayT n t) = S n * ty_size t).
  rewrite IH. lia.
Qed.
Lemma array_val_ty n t vs : length vs = n → Forall (ty_val t) vs → ty_val (std.arrayT n t) (array_val vs).
Proof. intros <- Hvs. induction Hvs as [|v vs Hv Hvs IH]; [done|]. by split. Qed.

(** ** Interfaces *)
Definition interface_val (methods : list (string * val)) (v : val) : val :=
  InjRV (v, LamV "name" (std.dispatch methods)).
Fixpoint method_of (methods : list (string * val)) (name : string) : option val :=
  match methods with
  | [] => None
  | (m, f) :: methods => if decide (bytes_of name = bytes_of m) then Some f else method_of methods name
  end.

Section packages.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (s : slice) (t : ty) (v : val) (vs : list val).

  (** ** Minimum and maximum *)
  Lemma wp_std_min b E w (x y : Z) :
    {{{ True }}} std.min #(LitInt w x) #(LitInt w y) @ b; E {{{ RET #(LitInt w (x `min` y)); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec.
    destruct w; wp_pures; case_bool_decide; wp_pures;
      (rewrite Z.min_r; [|lia]) || (rewrite Z.min_l; [|lia]); by iApply "HΦ".
  Qed.
  Lemma wp_std_max b E w (x y : Z) :
    {{{ True }}} std.max #(LitInt w x) #(LitInt w y) @ b; E {{{ RET #(LitInt w (x `max` y)); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec.
    destruct w; wp_pures; case_bool_decide; wp_pures;
      (rewrite Z.max_r; [|lia]) || (rewrite Z.max_l; [|lia]); by iApply "HΦ".
  Qed.

  (** ** Small integers *)
  Lemma wp_int_low b E (bits n : Z) : 1 ≤ bits ≤ 32 → in_range I64 n →
    {{{ True }}} std.int_low bits #(int n) @ b; E {{{ RET #(int (small bits n)); True }}}.
  Proof.
    iIntros (Hbits Hn Φ) "_ HΦ". wp_rec. wp_pures.
    assert (0 < 2 ^ (bits - 1) ≤ 2 ^ 31) as Hhalf.
    { split; [apply Z.pow_pos_nonneg; lia|]. apply Z.pow_le_mono_r; lia. }
    assert (2 ^ bits = 2 * 2 ^ (bits - 1)) as Hpow.
    { rewrite -Z.pow_succ_r; [|lia]. f_equal. lia. }
    change (2 ^ 31) with 2147483648 in Hhalf.
    rewrite land_ones; [|lia].
    assert (wrap I64 (n + 2 ^ (bits - 1)) `mod` 2 ^ bits = (n + 2 ^ (bits - 1)) `mod` 2 ^ bits) as ->.
    { destruct (wrap_spec I64 (n + 2 ^ (bits - 1))) as [k ->].
      assert (modulus I64 = 2 ^ (64 - bits) * 2 ^ bits) as ->.
      { rewrite -Z.pow_add_r; [|lia..]. rewrite /modulus. f_equal. simpl. lia. }
      by rewrite Z.mul_assoc Z_mod_plus_full. }
    pose proof (Z.mod_pos_bound (n + 2 ^ (bits - 1)) (2 ^ bits) ltac:(lia)).
    rewrite (wrap_id I64 (_ `mod` _)); [|int_solve]. rewrite wrap_id; [|int_solve].
    by iApply "HΦ".
  Qed.
  Lemma wp_to_int32 b E w (n : Z) : in_range w n →
    {{{ True }}} std.to_int32 #(LitInt w n) @ b; E {{{ RET #(int (small 32 n)); True }}}.
  Proof.
    iIntros (Hn Φ) "_ HΦ". wp_rec. wp_pures.
    wp_apply (wp_int_low with "[//]"); [done|apply wrap_in_range|]. iIntros "_".
    assert (small 32 (wrap I64 n) = small 32 n) as ->; [|by iApply "HΦ"].
    destruct (wrap_spec I64 n) as [k ->]. rewrite /small. change (modulus I64) with (2 ^ 32 * 2 ^ 32).
    replace (n + k * (2 ^ 32 * 2 ^ 32) + 2 ^ (32 - 1)) with (n + 2 ^ (32 - 1) + k * 2 ^ 32 * 2 ^ 32) by lia.
    by rewrite Z_mod_plus_full.
  Qed.
  Lemma wp_to_int32_id b E (n : Z) : - 2 ^ 31 ≤ n < 2 ^ 31 →
    {{{ True }}} std.to_int32 #(int n) @ b; E {{{ RET #(int n); True }}}.
  Proof.
    iIntros (Hn Φ) "_ HΦ". wp_apply (wp_to_int32 with "[//]"); [int_solve|]. iIntros "_".
    rewrite small_id //. by iApply "HΦ".
  Qed.

  (** ** Comparison *)
  Lemma wp_compare b E w (x y : Z) :
    {{{ True }}} std.compare #(LitInt w x) #(LitInt w y) @ b; E {{{ RET #(int (compare_z x y)); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. rewrite /compare_z.
    destruct w; wp_pures; (case_bool_decide as H1; wp_pures;
      [rewrite decide_True //; by iApply "HΦ"|rewrite decide_False //]);
      (case_bool_decide as H2; wp_pures; [rewrite decide_True //|rewrite decide_False //]); by iApply "HΦ".
  Qed.
  Lemma wp_or_int b E w (z x y : Z) :
    {{{ True }}}
      std.or #(LitInt w z) #(LitInt w x) #(LitInt w y) @ b; E
    {{{ RET #(LitInt w (if decide (x = z) then y else x)); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_pures. case_bool_decide as Heq; wp_pures.
    - injection Heq as ->. rewrite decide_True //. by iApply "HΦ".
    - rewrite decide_False; [by iApply "HΦ"|]. by intros ->.
  Qed.

  (** ** Arrays *)
  (** An array in memory is its elements. *)
  Lemma own_array b l dq n t vs : length vs = n →
    own_ty b l dq (std.arrayT n t) (array_val vs) ⊣⊢ own_block b l dq t vs.
  Proof.
    intros <-. revert l. induction vs as [|v vs IH]; intros l.
    { rewrite /own_block big_sepL_nil. simpl. iSplit; auto. }
    change (own_ty b l dq t v ∗ own_ty b (l +ₗ ty_size t) dq (std.arrayT (length vs) t) (array_val vs)
      ⊣⊢ own_block b l dq t (v :: vs)).
    rewrite IH /own_block big_sepL_cons Z.mul_0_l loc_add_0. f_equiv.
    apply big_sepL_proper=> i w _. rewrite loc_add_assoc. apply own_ty_loc. lia.
  Qed.
  (** An element, which may be changed. *)
  Lemma own_block_acc b l dq t vs (i : Z) v : 0 ≤ i → vs !! Z.to_nat i = Some v →
    own_block b l dq t vs -∗
    own_ty b (l +ₗ i * ty_size t) dq t v ∗
    (∀ w, own_ty b (l +ₗ i * ty_size t) dq t w -∗ own_block b l dq t (<[Z.to_nat i := w]> vs)).
  Proof.
    iIntros (Hi Hv) "H". iDestruct (big_sepL_insert_acc with "H") as "[Hv H]"; [done|].
    rewrite Z2Nat.id //. iFrame "Hv". iIntros (w) "Hv". by iApply "H".
  Qed.
  (** [&a[i]] *)
  Lemma wp_array_ref b E n t (l : loc) w (i : Z) Φ `{!SmallTy t} :
    0 ≤ i < n → n ≤ max_elems →
    ▷ Φ #(l +ₗ i * ty_size t) -∗ WP std.array_ref n t #l #(LitInt w i) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hi Hn) "HΦ". unfold max_elems in Hn. pose proof (small_ty (t:=t)). pose proof (ty_size_nonneg t).
    assert (0 ≤ i * ty_size t ≤ 2^48 * 2^14) as Hoff.
    { split; [lia|]. apply Z.mul_le_mono_nonneg; lia. }
    wp_rec. wp_pures. rewrite_wrap. wp_cond. wp_cond. by rewrite_wrap.
  Qed.
  Lemma wp_array_load b E n t l dq vs w (i : Z) v `{!SmallTy t} :
    0 ≤ i → Z.of_nat (length vs) = n → n ≤ max_elems → vs !! Z.to_nat i = Some v →
    {{{ own_block b l dq t vs }}}
      load t (std.array_ref n t #l #(LitInt w i)) @ b; E
    {{{ RET v; own_block b l dq t vs }}}.
  Proof.
    iIntros (Hi Hn Hmax Hv Φ) "Ha HΦ". pose proof (lookup_lt_Some _ _ _ Hv).
    wp_apply wp_array_ref; [lia|done|]. iDestruct (own_block_acc with "Ha") as "[Hv Ha]"; [done..|].
    wp_apply (wp_load_ty with "Hv"). iIntros "Hv". iSpecialize ("Ha" with "Hv").
    rewrite list_insert_id //. by iApply "HΦ".
  Qed.
  Lemma wp_array_store b E n t l vs w (i : Z) v `{!SmallTy t} :
    0 ≤ i < n → Z.of_nat (length vs) = n → n ≤ max_elems → ty_val t v →
    {{{ own_block b l (DfracOwn 1) t vs }}}
      store t (std.array_ref n t #l #(LitInt w i)) v @ b; E
    {{{ RET #(); own_block b l (DfracOwn 1) t (<[Z.to_nat i := v]> vs) }}}.
  Proof.
    iIntros (Hi Hn Hmax Hv Φ) "Ha HΦ". destruct (lookup_lt_is_Some_2 vs (Z.to_nat i)) as [u Hu]; [lia|].
    wp_apply wp_array_ref; [lia|done|]. iDestruct (own_block_acc _ _ _ _ _ i with "Ha") as "[Hu Ha]"; [lia|done|].
    wp_apply (wp_store_ty with "Hu"); [done|]. iIntros "Hv". iApply "HΦ". by iApply "Ha".
  Qed.
  Lemma wp_ref_array b E (n : nat) t :
    {{{ True }}}
      ref_zero (std.arrayT n t) #() @ b; E
    {{{ l, RET #l; own_block b l (DfracOwn 1) t (replicate n (zero_val t)) }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_apply (wp_ref_zero with "[//]"). iIntros (l) "Hl". iApply "HΦ".
    rewrite array_val_zero own_array //. by rewrite replicate_length.
  Qed.
  (** [a[i]] of a value *)
  Lemma wp_array_get b E n vs w (i : Z) v Φ :
    0 ≤ i → Z.of_nat (length vs) = n → n ≤ max_elems → vs !! Z.to_nat i = Some v →
    ▷ Φ v -∗ WP std.array_get n (array_val vs) #(LitInt w i) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hi Hn Hmax Hv) "HΦ". unfold max_elems in Hmax. pose proof (lookup_lt_Some _ _ _ Hv).
    wp_rec. wp_pures. rewrite_wrap. wp_cond. rewrite bool_decide_true; [|lia].
    repeat lazymatch goal with
    | |- envs_entails _ (wp _ _ (App (App (Val (RecV (BNamed "go") _ _)) _) _) _) => fail
    | _ => wp_pure
    end.
    lazymatch goal with |- envs_entails _ (wp _ _ (App (App (Val ?f) _) _) _) => set (go := f) end.
    assert (i < 2^48) as Hi2 by lia. clear Hn. iInduction vs as [|u vs] "IH" forall (i Hi Hv H Hi2); [done|].
    wp_rec. wp_pures. case_bool_decide as Hz; wp_pures.
    - injection Hz as ->. change (Z.to_nat 0) with 0%nat in Hv. simpl in Hv. by injection Hv as ->.
    - assert (i ≠ 0) by congruence. simpl in H. rewrite_wrap.
      replace (Z.to_nat i) with (S (Z.to_nat (i - 1))) in Hv by lia.
      iApply ("IH" with "[%] [%] [%] [%] HΦ"); [lia|done|lia|lia].
  Qed.
  (** [a[:]] *)
  Lemma wp_array_slice b E n t l vs : Z.of_nat (length vs) = n → n ≤ max_elems →
    {{{ own_block b l (DfracOwn 1) t vs }}}
      std.array_slice n #l @ b; E
    {{{ RET slice_val (Slice (LitLoc l) n n); own_slice_full b (Slice (LitLoc l) n n) t vs }}}.
  Proof.
    iIntros (Hn Hmax Φ) "Ha HΦ". wp_rec. wp_pures. rewrite loc_add_0. iApply "HΦ".
    iApply (slice_full_intro _ _ _ _ _ _ []); [lia|done|simpl; lia|done|]. by rewrite app_nil_r.
  Qed.

  (** ** Errors *)
  Lemma pointsto_ne b l1 l2 dq v1 v2 : l1 ↦[b] v1 -∗ l2 ↦[b]{dq} v2 -∗ ⌜l1 ≠ l2⌝.
  Proof. iIntros "H1 H2". iDestruct (ghost_map_elem_ne with "H1 H2") as %Hne. iPureIntro. congruence. Qed.
  (** Each is new: it is no other that is known by its variable or its location. *)
  Lemma wp_new_error b E :
    {{{ True }}} std.new_error #() @ b; E {{{ l, RET #l; l ↦[b] #() }}}.
  Proof. iIntros (Φ) "_ HΦ". wp_rec. by wp_apply (wp_ref_zero with "[//]"). Qed.
  Lemma wp_any_text b E :
    {{{ True }}} std.any_text #() @ b; E {{{ text, RET #(LitStr text); True }}}.
  Proof. iIntros (Φ) "_ HΦ". wp_rec. iApply wpe_arb. iIntros "!>" (v (text & _ & ->)). by iApply "HΦ". Qed.
  (** What an error wraps is not known: it is itself, and nil is only itself. *)
  Lemma wp_error_is b E (err target : base_lit) :
    {{{ True }}}
      std.error_is #err #target @ b; E
    {{{ (yes : bool), RET #yes; ⌜(err = target → yes = true) ∧ (err = LitNull → yes = true → err = target)⌝ }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_pures. case_bool_decide as H1; wp_pures.
    { iApply "HΦ". iPureIntro. by split. }
    case_bool_decide as H2; wp_pures. { iApply "HΦ". iPureIntro. by split. }
    iApply wpe_arb. iIntros "!>" (v (yes & ->)). iApply "HΦ". iPureIntro. split; [done|].
    intros ->. by destruct H2.
  Qed.

  (** ** Interfaces *)
  Lemma subst_dispatch_other x v methods : x ≠ "name" → subst x v (std.dispatch methods) = std.dispatch methods.
  Proof.
    intros Hx. induction methods as [|[m f] methods IH]; simpl; [done|].
    rewrite decide_False //. by rewrite IH.
  Qed.
  Lemma wp_interface b E methods v Φ :
    ▷ Φ (interface_val methods v) -∗ WP std.interface methods v @ b; E {{ Φ }}.
  Proof. iIntros "HΦ". wp_rec. rewrite subst_dispatch_other //. by wp_pures. Qed.
  Lemma subst_dispatch methods name :
    subst "name" #(str name) (std.dispatch methods) =
    foldr (λ p e, If (BinOp EqOp (Val #(str name)) (Val #(str (p.1)))) (Val p.2) e) (Fst #()) methods.
  Proof. induction methods as [|[m f] methods IH]; simpl; [done|]. by rewrite IH. Qed.
  (** Calling a method gives it the value that the interface holds. *)
  Lemma wp_method b E methods name f v Φ :
    method_of methods name = Some f →
    ▷ WP f v @ b; E {{ Φ }} -∗ WP std.method name (interface_val methods v) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hf) "HΦ". rewrite /std.method /interface_val.
    wp_rec. wp_pures. rewrite subst_dispatch.
    iInduction methods as [|[m g] methods] "IH" forall (Hf); simpl in *; [done|].
    wp_pures. case_decide as Hm.
    - injection Hf as ->. rewrite bool_decide_true; [by wp_pures|by rewrite Hm].
    - rewrite bool_decide_false; [|congruence]. wp_pures. by iApply ("IH" with "[%]").
  Qed.
End packages.

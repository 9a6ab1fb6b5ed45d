(** * Programs of the corpus, to show how the rules of golib/packages.v are used

    The Go is in internal/goose/testdata/semantics: each function has a struct behind
    an interface, an array, an int32 that overflows, or errors.  This file is not in golib, of which
    users get all files: it needs the corpus. *)
From ashlar.golib Require Import packages.
From ashlar.gen.internal.goose.testdata Require Import semantics.
Local Open Scope Z_scope.

Section examples.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot).

  (** ** An interface: methods are called through its table *)
  Lemma wp_square_area b (q : loc) (n : Z) :
    {{{ (q +ₗ field_offset square "side") ↦[b] #(u64 n) }}}
      square__area #q @ b; ⊤
    {{{ RET #(u64 (wrap U64 (n * n))); (q +ₗ field_offset square "side") ↦[b] #(u64 n) }}}.
  Proof. iIntros (Φ) "Hq HΦ". wp_rec. wp_load. wp_load. wp_pures. by iApply "HΦ". Qed.
  Lemma wp_testInterfaceMethods b :
    {{{ True }}} testInterfaceMethods #() @ b; ⊤ {{{ RET #true; True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_alloc q as "(Hq & _)". wp_pures.
    wp_apply wp_interface. wp_pures.
    wp_apply wp_method; [reflexivity|]. wp_rec. wp_pures. wp_load. wp_store. wp_load. wp_pures.
    wp_apply wp_method; [reflexivity|]. wp_apply (wp_square_area with "Hq"). iIntros "Hq".
    wp_pures. wp_load. wp_pures. by iApply "HΦ".
  Qed.

  (** ** An array in a variable *)
  Lemma wp_testArrayZeroAndStore b :
    {{{ True }}} testArrayZeroAndStore #() @ b; ⊤ {{{ RET #true; True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_apply (wp_ref_array _ _ 4 uint64T with "[//]"). iIntros (a) "Ha". wp_pures.
    wp_apply (wp_array_store with "Ha"); [done..|]. iIntros "Ha". wp_pures.
    wp_apply wp_array_ref; [done..|]. wp_pures.
    iDestruct (own_block_acc _ _ _ _ _ 3 with "Ha") as "[H3 Ha]"; [done|reflexivity|]. simpl.
    wp_load. wp_store. iSpecialize ("Ha" with "H3"). wp_pures.
    wp_apply (wp_array_load with "Ha"); [done|done|done|reflexivity|]. iIntros "Ha". wp_pures.
    wp_apply (wp_array_load with "Ha"); [done|done|done|reflexivity|]. iIntros "Ha". wp_pures.
    wp_apply (wp_array_load with "Ha"); [done|done|done|reflexivity|]. iIntros "Ha". wp_pures.
    by iApply "HΦ".
  Qed.

  (** ** An int32 that overflows *)
  Lemma wp_testInt32Wraps b :
    {{{ True }}} testInt32Wraps #() @ b; ⊤ {{{ RET #true; True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_alloc x as "Hx". wp_load. wp_pures.
    wp_apply (wp_to_int32 with "[//]"); [apply wrap_in_range|]. iIntros "_".
    wp_load. wp_load. wp_pures.
    wp_apply (wp_to_int32 with "[//]"); [apply wrap_in_range|]. iIntros "_". wp_load. wp_pures.
    wp_apply (wp_to_int32 with "[//]"); [apply wrap_in_range|]. iIntros "_". wp_store. wp_pures.
    wp_load. wp_pures. by iApply "HΦ".
  Qed.

  (** ** Errors: each that is made is new *)
  Lemma wp_failing b (n : Z) :
    {{{ True }}}
      failing #(u64 n) @ b; ⊤
    {{{ (k : Z) (err : base_lit), RET (#(u64 k), #err);
        ⌜n = 0 ↔ err = LitNull⌝ ∗
        if decide (n = 0) then ⌜k = 1⌝ else
        if decide (n = 1) then ⌜LitV err = errFirst⌝ else
        if decide (n = 2) then ⌜LitV err = errSecond⌝ else
        if decide (n = 3) then ∃ l : loc, ⌜err = LitLoc l⌝ ∗ l ↦[b] #() else True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_pures. case_bool_decide as Hn0; wp_pures.
    { injection Hn0 as ->. by iApply "HΦ". }
    assert (n ≠ 0) by congruence. case_bool_decide as Hn1; wp_pures.
    { injection Hn1 as ->. by iApply "HΦ". }
    assert (n ≠ 1) by congruence. case_bool_decide as Hn2; wp_pures.
    { injection Hn2 as ->. by iApply "HΦ". }
    assert (n ≠ 2) by congruence. case_bool_decide as Hn3; wp_pures.
    { injection Hn3 as ->. wp_apply (wp_new_error with "[//]"). iIntros (l) "Hl". wp_pures.
      iApply ("HΦ" $! 0 (LitLoc l)). iSplit; [done|]. simpl. iExists l. by iFrame. }
    assert (n ≠ 3) by congruence. wp_apply (wp_ref with "[//]"); [done|]. iIntros (l) "_". wp_pures.
    iApply ("HΦ" $! 0 (LitLoc l)). iSplit; [done|]. by rewrite !decide_False.
  Qed.
  Lemma wp_testErrorsMadeAreNew b :
    {{{ True }}} testErrorsMadeAreNew #() @ b; ⊤ {{{ RET #true; True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec.
    wp_apply (wp_failing with "[//]"). simpl. iIntros (k1 e1) "(_ & %l1 & -> & H1)". wp_pures.
    wp_apply (wp_failing with "[//]"). simpl. iIntros (k2 e2) "(_ & %l2 & -> & H2)". wp_pures.
    wp_apply (wp_new_error with "[//]"). iIntros (l3) "H3". wp_pures.
    wp_apply (wp_new_error with "[//]"). iIntros (l4) "H4". wp_pures.
    iDestruct (pointsto_ne with "H1 H2") as %H12. iDestruct (pointsto_ne with "H3 H4") as %H34.
    rewrite bool_decide_false; [|congruence]. simpl. wp_pures.
    rewrite bool_decide_false; [|congruence]. simpl. wp_pures.
    rewrite bool_decide_true //. by iApply "HΦ".
  Qed.
End examples.

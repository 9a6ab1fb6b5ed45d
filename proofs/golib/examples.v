(** * Small programs, to show how the rules are used *)
From ashlar.golib Require Import append control sync waitgroup.
Local Open Scope Z_scope.

(** ** A struct and a variable *)
Definition point : struct := [("x", uint64T); ("s", sliceT); ("y", uint64T)].
Definition swap : val :=
  λ: <>,
    let: "p" := ref (structT point) (#(u64 1), (slice_nil, (#(u64 2), #()))) in
    let: "t" := ref uint64T (![uint64T] ("p".[point, "x"])) in
    "p".[point, "x"] <-[uint64T] ![uint64T] ("p".[point, "y"]);;
    "p".[point, "y"] <-[uint64T] ![uint64T] "t";;
    ![structT point] "p".

(** ** Loops over a slice *)
Definition sum_for : val :=
  λ: "s",
    let: "n" := ref uint64T #(u64 0) in
    (let: "i" := ref int64T #(int 0) in
     for_simple (λ: <>, ![int64T] "i" < slice_len "s")
       (λ: <>, "n" <-[uint64T] ![uint64T] "n" + slice_get uint64T "s" (![int64T] "i"))
       (λ: <>, "i" <-[int64T] ![int64T] "i" + #(int 1)));;
    ![uint64T] "n".
Definition sum_range : val :=
  λ: "s",
    let: "n" := ref uint64T #(u64 0) in
    range_simple I64 (slice_len "s")
      (λ: "i", "n" <-[uint64T] ![uint64T] "n" + slice_get uint64T "s" "i");;
    ![uint64T] "n".
(** The first place of a byte, or the length: a return from inside a loop. *)
Definition index_byte : val :=
  λ: "s" "c",
    fun_result
      (range_loop I64 (slice_len "s")
         (λ: "i", if: slice_get byteT "s" "i" = "c" then return: "i" else go_on);;;
       return: slice_len "s").

(** ** Goroutines *)
Definition counter : struct := [("mu", mutexT); ("n", uint64T); ("wg", waitgroupT)].
Definition incr : val :=
  λ: "c",
    mutex_lock ("c".[counter, "mu"]);;
    "c".[counter, "n"] <-[uint64T] ![uint64T] ("c".[counter, "n"]) + #(u64 1);;
    mutex_unlock ("c".[counter, "mu"]);;
    waitgroup_done ("c".[counter, "wg"]).
Definition count_two : val :=
  λ: <>,
    let: "c" := ref (structT counter) (#false, (#(u64 0), (#(int 0), #()))) in
    waitgroup_add ("c".[counter, "wg"]) #(int 2);;
    Fork (incr "c");;
    Fork (incr "c");;
    waitgroup_wait ("c".[counter, "wg"]);;
    mutex_lock ("c".[counter, "mu"]);;
    let: "n" := ![uint64T] ("c".[counter, "n"]) in
    mutex_unlock ("c".[counter, "mu"]);;
    "n".

(** ** append, copy, strings *)
Definition append_copy : val :=
  λ: <>,
    let: "s" := append_one uint64T (append_one uint64T slice_nil #(u64 7)) #(u64 8) in
    let: "t" := make_slice uint64T #(int 3) in
    let: "n" := copy_slice uint64T "t" "s" in
    slice_set uint64T "t" "n" #(u64 9);;
    slice_get uint64T "t" #(int 0) + slice_get uint64T "t" #(int 2).
Definition double : val :=
  λ: "s",
    let: "b" := string_to_slice "s" in
    slice_to_string (append_slice byteT (slice_take byteT "b" #(int 0)) (string_to_slice ("s" + "s"))).

Section examples.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (s : slice) (xs : list Z).

  Lemma wp_swap b :
    {{{ True }}} swap #() @ b; ⊤ {{{ RET (#(u64 2), (slice_nil, (#(u64 1), #()))); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_alloc p as "(Hx & Hs & Hy & _)". wp_load. wp_alloc t as "Ht".
    wp_load. wp_store. wp_load. wp_store. wp_pures.
    wp_apply (wp_load_ty _ _ (structT point) _ _ (#(u64 2), (slice_nil, (#(u64 1), #()))) with "[Hx Hs Hy]").
    { iNext. iApply own_struct; [done|]. simpl. by iFrame. }
    iIntros "_". by iApply "HΦ".
  Qed.

  Definition sum_to xs (i : Z) : Z := foldr Z.add 0 (take (Z.to_nat i) xs).
  Lemma sum_to_S xs i x : 0 ≤ i → xs !! Z.to_nat i = Some x → sum_to xs (i + 1) = sum_to xs i + x.
  Proof.
    intros Hi Hx. rewrite /sum_to. replace (Z.to_nat (i + 1)) with (S (Z.to_nat i)) by lia.
    rewrite (take_S_r _ _ _ Hx) foldr_app /=. generalize (take (Z.to_nat i) xs) as l.
    induction l as [|y l IH]; simpl; lia.
  Qed.
  Lemma sum_to_all xs (n : Z) : n = length xs → sum_to xs n = foldr Z.add 0 xs.
  Proof. intros ->. by rewrite /sum_to Nat2Z.id firstn_all. Qed.
  Definition u64_val (x : Z) : val := #(u64 x).

  Lemma wp_sum_for b s dq xs :
    {{{ own_slice b s uint64T dq (u64_val <$> xs) }}}
      sum_for (slice_val s) @ b; ⊤
    {{{ RET #(u64 (wrap U64 (foldr Z.add 0 xs))); own_slice b s uint64T dq (u64_val <$> xs) }}}.
  Proof.
    iIntros (Φ) "Hs HΦ". iDestruct (own_slice_length with "Hs") as %[Hlen Hmax].
    rewrite fmap_length in Hlen Hmax. unfold max_elems in Hmax.
    wp_rec. wp_alloc n as "Hn". wp_alloc i as "Hi". wp_pures.
    wp_apply (wp_for_simple
      (∃ j, ⌜0 ≤ j ≤ length xs⌝ ∗ i ↦[b] #(int j) ∗ n ↦[b] #(u64 (wrap U64 (sum_to xs j))) ∗
        own_slice b s uint64T dq (u64_val <$> xs))
      (n ↦[b] #(u64 (wrap U64 (foldr Z.add 0 xs))) ∗ own_slice b s uint64T dq (u64_val <$> xs))
      with "[Hn Hi Hs] []").
    - iExists 0. iFrame. iPureIntro. lia.
    - iIntros "!> (%j & %Hj & Hi & Hn & Hs)". wp_load. loop_cond as Hlt; last first.
      { rewrite -(sum_to_all _ j); [|lia]. iFrame. }
      wp_load. destruct (lookup_lt_is_Some_2 xs (Z.to_nat j)) as [x Hx]; [lia|].
      wp_apply (wp_slice_get with "Hs"); [lia|by rewrite list_lookup_fmap Hx|]. iIntros "Hs".
      wp_load. wp_store. wp_pures. wp_load. wp_store. wp_pures. rewrite_wrap.
      iExists (j + 1). iFrame. rewrite (sum_to_S xs j x) //; [|lia]. rewrite wrap_add_l. iFrame. iPureIntro. lia.
    - iIntros "[Hn Hs]". wp_load. wp_pures. by iApply "HΦ".
  Qed.
  Lemma wp_sum_range b s dq xs :
    {{{ own_slice b s uint64T dq (u64_val <$> xs) }}}
      sum_range (slice_val s) @ b; ⊤
    {{{ RET #(u64 (wrap U64 (foldr Z.add 0 xs))); own_slice b s uint64T dq (u64_val <$> xs) }}}.
  Proof.
    iIntros (Φ) "Hs HΦ". iDestruct (own_slice_length with "Hs") as %[Hlen Hmax].
    rewrite fmap_length in Hlen Hmax. unfold max_elems in Hmax.
    wp_rec. wp_alloc n as "Hn". wp_pures.
    wp_apply (wp_range_simple
      (λ j, n ↦[b] #(u64 (wrap U64 (sum_to xs j))) ∗ own_slice b s uint64T dq (u64_val <$> xs))%I
      with "[Hn Hs] []"); [lia|int_solve|..].
    - iFrame.
    - iIntros "!>" (j Hj) "[Hn Hs]". wp_pures.
      destruct (lookup_lt_is_Some_2 xs (Z.to_nat j)) as [x Hx]; [lia|].
      wp_apply (wp_slice_get with "Hs"); [lia|by rewrite list_lookup_fmap Hx|]. iIntros "Hs".
      wp_load. wp_store. wp_pures. iFrame. rewrite (sum_to_S xs j x) //; [|lia].
      by rewrite wrap_add_l.
    - iIntros "[Hn Hs]". wp_load. wp_pures. rewrite (sum_to_all xs) //. iApply "HΦ". iFrame.
  Qed.

  Lemma wp_index_byte b s dq (bs : list Z) (c : Z) :
    {{{ own_bytes b s dq bs }}}
      index_byte (slice_val s) #(u8 c) @ b; ⊤
    {{{ (i : nat), RET #(int i); own_bytes b s dq bs ∗ ⌜bs !! i = Some c ∨ i = length bs ∧ c ∉ bs⌝ }}}.
  Proof.
    iIntros (Φ) "Hs HΦ". iDestruct (own_bytes_length with "Hs") as %[Hlen Hmax].
    unfold max_elems in Hmax. wp_rec. wp_pures.
    set (Q := λ o, (own_bytes b s dq bs ∗ (⌜o = go_on⌝ ∗ ⌜c ∉ bs⌝ ∨
      ∃ i : nat, ⌜o = InjRV (InjRV #(int i))⌝ ∗ ⌜bs !! i = Some c⌝))%I : iProp Σ).
    wp_apply (wp_range_loop (λ j, own_bytes b s dq bs ∗ ⌜c ∉ take (Z.to_nat j) bs⌝)%I Q
      with "[Hs] [] []"); [lia|int_solve|..].
    - iFrame. iPureIntro. apply not_elem_of_nil.
    - iIntros "!>" (j Hj) "[Hs %Hc]". wp_pures.
      destruct (lookup_lt_is_Some_2 bs (Z.to_nat j)) as [x Hx]; [lia|].
      wp_apply (wp_bytes_get with "Hs"); [lia|done|]. iIntros "Hs". wp_pures.
      case_bool_decide as Heq; wp_pures.
      + injection Heq as ->. iRight. iRight. iExists _. iSplit; [done|]. iFrame. iRight.
        iExists (Z.to_nat j). rewrite Z2Nat.id; [|lia]. done.
      + iLeft. iSplit; [by iLeft|]. iFrame. iPureIntro.
        replace (Z.to_nat (j + 1)) with (S (Z.to_nat j)) by lia. rewrite (take_S_r _ _ _ Hx).
        rewrite elem_of_app elem_of_list_singleton. naive_solver.
    - iIntros "[$ %Hc]". iLeft. iPureIntro. split; [done|]. rewrite Hlen Nat2Z.id in Hc.
      by rewrite firstn_all in Hc.
    - iIntros (o) "[Hs [[-> %Hc]|(%i & -> & %Hi)]]"; wp_pures.
      + rewrite Hlen. iApply "HΦ". iFrame. iPureIntro. by right.
      + iApply "HΦ". iFrame. iPureIntro. by left.
  Qed.

  (** Each goroutine has one half of a list of its own, the mutex the other half and
      the counter, which is the sum of the lengths. *)
  Definition count_half γ (t : list event) : iProp Σ := ghost_var γ (1/2) t.
  Definition count_inv b (c : loc) (γ1 γ2 : gname) : iProp Σ :=
    ∃ t1 t2 : list event, count_half γ1 t1 ∗ count_half γ2 t2 ∗
      (c +ₗ field_offset counter "n") ↦[b] #(u64 (wrap U64 (length t1 + length t2))).
  Definition count_done γ1 γ2 : iProp Σ :=
    count_half γ1 [EvCrash 0] ∨ count_half γ2 [EvCrash 0].
  Lemma wp_incr b (c : loc) γ1 γ2 γwg (which_one : bool) :
    {{{ is_mutex b (c +ₗ field_offset counter "mu") (count_inv b c γ1 γ2) ∗
        is_waitgroup b (c +ₗ field_offset counter "wg") γwg (count_done γ1 γ2) ∗
        wg_task γwg ∗ count_half (if which_one then γ2 else γ1) [] }}}
      incr #c @ b; ⊤
    {{{ RET #(); True }}}.
  Proof.
    iIntros (Φ) "(#Hmu & #Hwg & Htask & Hγ) HΦ". wp_rec. wp_pures.
    wp_apply (wp_mutex_lock with "Hmu"). iIntros "[Hheld (%t1 & %t2 & H1 & H2 & Hn)]". wp_pures.
    wp_load. wp_store. wp_pures. rewrite wrap_add_l.
    iAssert (|==> count_inv b c γ1 γ2 ∗ count_done γ1 γ2)%I with "[H1 H2 Hn Hγ]" as ">[Hinv Hdone]".
    { destruct which_one.
      - iDestruct (ghost_var_agree with "H2 Hγ") as %->.
        iMod (ghost_var_update_halves [EvCrash 0] with "H2 Hγ") as "[H2 $]". iModIntro.
        iExists t1, [EvCrash 0]. iFrame. by rewrite Z.add_0_r.
      - iDestruct (ghost_var_agree with "H1 Hγ") as %->.
        iMod (ghost_var_update_halves [EvCrash 0] with "H1 Hγ") as "[H1 $]". iModIntro.
        iExists [EvCrash 0], t2. iFrame. simpl. by replace (0%nat + length t2 + 1) with (1%nat + length t2) by lia. }
    wp_apply (wp_mutex_unlock with "[$Hheld $Hinv]"). iIntros "_". wp_pures.
    by wp_apply (wp_waitgroup_done with "[$Hwg $Htask $Hdone]").
  Qed.
  Lemma wp_count_two b :
    {{{ True }}} count_two #() @ b; ⊤ {{{ RET #(u64 2); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_alloc c as "(Hmu & Hn & Hwg & _)".
    iMod (ghost_var_alloc ([] : list event)) as (γ1) "[H1 H1']".
    iMod (ghost_var_alloc ([] : list event)) as (γ2) "[H2 H2']".
    iMod (waitgroup_alloc _ _ _ (count_done γ1 γ2) with "Hwg") as (γwg) "[#Hwg Hadd]".
    iMod (mutex_alloc _ _ _ (count_inv b c γ1 γ2) with "Hmu [H1 H2 Hn]") as "#Hmu".
    { iNext. iExists [], []. iFrame. }
    wp_pures. wp_apply (wp_waitgroup_add with "[$Hwg $Hadd]"); [done|done|].
    iIntros "[Hadd (Ht1 & Ht2 & _)]". wp_pures.
    wp_bind (Fork _). iApply (wpe_fork with "[Ht1 H1']").
    { iNext. by wp_apply (wp_incr _ _ _ _ _ false with "[$Hmu $Hwg $Ht1 $H1']"). }
    iNext. wp_pures. wp_bind (Fork _). iApply (wpe_fork with "[Ht2 H2']").
    { iNext. by wp_apply (wp_incr _ _ _ _ _ true with "[$Hmu $Hwg $Ht2 $H2']"). }
    iNext. wp_pures. wp_apply (wp_waitgroup_wait with "[$Hwg $Hadd]").
    iIntros "[_ (Hd1 & Hd2 & _)]". wp_pures.
    wp_apply (wp_mutex_lock with "Hmu"). iIntros "[Hheld (%t1 & %t2 & H1 & H2 & Hn)]". wp_pures.
    iAssert ⌜t1 = [EvCrash 0] ∧ t2 = [EvCrash 0]⌝%I as %[-> ->].
    { iDestruct "Hd1" as "[Hd1|Hd1]"; iDestruct "Hd2" as "[Hd2|Hd2]".
      - iCombine "Hd1 Hd2" as "Hd". iDestruct (ghost_var_valid_2 with "Hd H1") as %[Hq _].
        exfalso. by apply Qp.not_add_le_l in Hq.
      - iDestruct (ghost_var_agree with "H1 Hd1") as %->. by iDestruct (ghost_var_agree with "H2 Hd2") as %->.
      - iDestruct (ghost_var_agree with "H1 Hd2") as %->. by iDestruct (ghost_var_agree with "H2 Hd1") as %->.
      - iCombine "Hd1 Hd2" as "Hd". iDestruct (ghost_var_valid_2 with "Hd H2") as %[Hq _].
        exfalso. by apply Qp.not_add_le_l in Hq. }
    wp_load. wp_pures. wp_apply (wp_mutex_unlock with "[$Hheld H1 H2 Hn]").
    { iExists _, _. iFrame. }
    iIntros "_". wp_pures. by iApply "HΦ".
  Qed.

  Lemma wp_append_copy b : {{{ True }}} append_copy #() @ b; ⊤ {{{ RET #(u64 16); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_pures. rewrite -slice_val_nil.
    wp_apply (wp_append_one _ _ nil_slice uint64T [] #(u64 7) with "[]");
      [done|iApply own_slice_full_nil|]. iIntros (s1) "Hs".
    wp_apply (wp_append_one with "Hs"); [done|]. iIntros (s) "[Hs _]". wp_pures.
    wp_apply (wp_make_slice with "[//]"); [done|]. iIntros (t) "[Ht _] /=". wp_pures.
    wp_apply (wp_copy_slice with "[$Ht $Hs]"). iIntros "[Ht Hs] /=". wp_pures.
    wp_apply (wp_slice_set with "Ht"); [done|done|]. iIntros "Ht /=". wp_pures.
    wp_apply (wp_slice_get with "Ht"); [done|done|]. iIntros "Ht".
    wp_apply (wp_slice_get with "Ht"); [done|done|]. iIntros "Ht". wp_pures.
    by iApply "HΦ".
  Qed.
  Lemma wp_double b (bs : list Z) : length bs + length bs ≤ max_elems →
    {{{ True }}} double #(LitStr bs) @ b; ⊤ {{{ RET #(LitStr (bs ++ bs)); True }}}.
  Proof.
    iIntros (Hlen Φ) "_ HΦ". wp_rec. wp_apply (wp_string_to_slice with "[//]"); [lia|].
    iIntros (s) "[Hs Hc]". wp_pures.
    wp_apply (wp_string_to_slice with "[//]"); [rewrite app_length; lia|]. iIntros (s2) "[Hs2 _]".
    iDestruct (own_slice_wf with "Hs") as %[Hwf Hsl]. pose proof (proj1 Hwf).
    wp_apply wp_slice_take; [done|lia|].
    (* the empty slice at the front has the whole memory as its capacity *)
    iAssert (own_bytes_full b (slice_cut byteT s 0 0) []) with "[Hs Hc]" as "Hs".
    { iDestruct "Hc" as (us) "[%Hus Hc]". iDestruct "Hs" as "(_ & _ & Hs)".
      iSplitR.
      - iSplit; [iPureIntro; apply slice_wf_cut; [done|lia|lia]|].
        iSplit; [iPureIntro; rewrite slice_cut_len; [done|done|lia|lia]|].
        rewrite slice_cells_cut /slice_cells. destruct (sl_ptr s); by rewrite /own_block /=.
      - iExists ((byte_val <$> bs) ++ us).
        rewrite slice_cut_len //; [|lia]. rewrite slice_cut_cap //; [|lia].
        iSplit; [iPureIntro; rewrite app_length; lia|].
        rewrite slice_cells_cut slice_cells_app Hsl. iFrame. }
    wp_apply (wp_append_bytes with "[$Hs $Hs2]"). iIntros (s') "[[Hs _] _]".
    wp_apply (wp_slice_to_string with "Hs"). iIntros "_". by iApply "HΦ".
  Qed.
End examples.

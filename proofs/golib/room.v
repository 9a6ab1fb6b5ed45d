(** * The memory behind a slice's end

    What [make] leaves there is zero, and what is cut to nothing can be filled again. *)
From ashlar.golib Require Export append.
Local Open Scope Z_scope.

Section room.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (s : slice) (t : ty) (v : val) (vs : list val).

  (** Behind the end there are zeros. *)
  Definition own_slice_zeros b s t : iProp Σ :=
    slice_cells b s t (DfracOwn 1) (sl_len s) (replicate (Z.to_nat (sl_cap s - sl_len s)) (zero_val t)).
  Global Instance own_slice_zeros_timeless b s t : Timeless (own_slice_zeros b s t).
  Proof. apply _. Qed.
  Lemma own_slice_zeros_cap b s t : slice_wf s → own_slice_zeros b s t -∗ own_slice_cap b s t.
  Proof.
    iIntros (Hwf) "H". iExists _. iFrame "H". iPureIntro. rewrite replicate_length. destruct Hwf. lia.
  Qed.
  (** [s[:j]] for a [j] beyond the end *)
  Lemma own_slice_zeros_extend b s t vs (j : Z) : sl_len s ≤ j ≤ sl_cap s →
    own_slice b s t (DfracOwn 1) vs -∗ own_slice_zeros b s t -∗
    own_slice b (slice_cut t s 0 j) t (DfracOwn 1) (vs ++ replicate (Z.to_nat (j - sl_len s)) (zero_val t)) ∗
    own_slice_zeros b (slice_cut t s 0 j) t.
  Proof.
    iIntros (Hj) "(%Hwf & %Hlen & Hs) Hz". pose proof (proj1 Hwf).
    rewrite /own_slice_zeros /own_slice !slice_cells_cut slice_cut_len // ?slice_cut_cap //; [|lia..].
    replace (Z.to_nat (sl_cap s - sl_len s)) with
      (Z.to_nat (j - sl_len s) + Z.to_nat (sl_cap s - 0 - (j - 0)))%nat by lia.
    rewrite replicate_add !slice_cells_app replicate_length !Z.add_0_l Hlen.
    iDestruct "Hz" as "[Hz1 Hz2]". iSplitR "Hz2".
    - iSplit; [iPureIntro; apply slice_wf_cut; [done|lia..]|].
      iSplit; [iPureIntro; rewrite app_length replicate_length; lia|]. iFrame.
    - replace (j - 0) with (length vs + Z.to_nat (j - length vs)) by lia. iExact "Hz2".
  Qed.

  (** [make([]T, n, c)] *)
  Lemma wp_make_slice_room b E t w1 w2 (n c : Z) : 0 ≤ n ≤ c → c ≤ max_elems →
    {{{ True }}}
      make_slice_cap t #(LitInt w1 n) #(LitInt w2 c) @ b; E
    {{{ l, RET slice_val (Slice (LitLoc l) n c);
        own_slice b (Slice (LitLoc l) n c) t (DfracOwn 1) (replicate (Z.to_nat n) (zero_val t)) ∗
        own_slice_zeros b (Slice (LitLoc l) n c) t }}}.
  Proof.
    iIntros (Hn Hc Φ) "_ HΦ". unfold max_elems in Hc. wp_rec. wp_pures. rewrite_wrap.
    wp_cond. wp_cond.
    wp_apply (wp_alloc_zero with "[//]"); [lia|]. iIntros (l) "Hl". wp_pures.
    iApply ("HΦ" $! l).
    replace (Z.to_nat c) with (Z.to_nat n + Z.to_nat (c - n))%nat by lia. rewrite replicate_add.
    iAssert (slice_cells b (Slice (LitLoc l) n c) t (DfracOwn 1) 0
      (replicate (Z.to_nat n) (zero_val t) ++ replicate (Z.to_nat (c - n)) (zero_val t))) with "[Hl]" as "Hl".
    { by rewrite /slice_cells /= loc_add_0. }
    rewrite slice_cells_app replicate_length Z2Nat.id; [|lia]. iDestruct "Hl" as "[Hl Hz]".
    iSplitR "Hz"; [|iExact "Hz"]. iSplit; [iPureIntro; rewrite /slice_wf /max_elems /=; lia|]. iSplit; [|done].
    rewrite replicate_length /=. iPureIntro. lia.
  Qed.

  (** [copy(dst[a:], src)], where there is room for all of [src] *)
  Lemma wp_copy_at b E t dst src dq (a : nat) vd vs `{!SmallTy t} : (a + length vs ≤ length vd)%nat →
    {{{ own_slice b dst t (DfracOwn 1) vd ∗ own_slice b src t dq vs }}}
      copy_slice t (slice_val (slice_cut t dst a (sl_len dst))) (slice_val src) @ b; E
    {{{ RET #(int (length vs)); own_slice b dst t (DfracOwn 1) (take a vd ++ vs ++ drop (a + length vs) vd) ∗
         own_slice b src t dq vs }}}.
  Proof.
    iIntros (Ha Φ) "[Hd Hs] HΦ". iDestruct (own_slice_wf with "Hd") as %[Hwf Hlen].
    rewrite (own_slice_split _ dst _ _ vd a) //; [|lia]. iDestruct "Hd" as "[Hd1 Hd2]".
    wp_apply (wp_copy_slice with "[$Hd2 $Hs]"). iIntros "[Hd2 Hs]".
    rewrite drop_length Nat.min_r; [|lia]. rewrite firstn_all drop_drop. iApply "HΦ". iFrame "Hs".
    assert (length (take a vd) = a) as Hta by (rewrite take_length; lia).
    iApply (own_slice_split _ dst _ _ _ a); [rewrite app_length; lia|done| |].
    { rewrite !app_length drop_length Hta Hlen. lia. }
    rewrite (take_app_alt _ _ a) // (drop_app_alt _ _ a) //. iFrame.
  Qed.

  (** [s[:len(vs)]]: what is cut off is room to append. *)
  Lemma own_slice_shorten b s t vs us : own_slice_full b s t (vs ++ us) -∗ own_slice_full b (slice_cut t s 0 (length vs)) t vs.
  Proof.
    iIntros "[(%Hwf & %Hlen & Hs) (%ws & %Hws & Hc)]". rewrite app_length in Hlen. pose proof (proj1 Hwf).
    rewrite /own_slice_full /own_slice /own_slice_cap slice_cut_len // ?slice_cut_cap //; [|lia..].
    iEval (rewrite slice_cells_app) in "Hs". iDestruct "Hs" as "[Hs1 Hs2]". iSplitL "Hs1".
    - iSplit; [iPureIntro; apply slice_wf_cut; [done|lia..]|]. iSplit; [iPureIntro; lia|]. by rewrite slice_cells_cut.
    - iExists (us ++ ws). iSplit; [iPureIntro; rewrite app_length; lia|]. rewrite slice_cells_cut slice_cells_app.
      replace (0 + (length vs - 0)) with (0 + length vs) by lia. iFrame "Hs2".
      by replace (0 + length vs + length us) with (sl_len s) by lia.
  Qed.
  (** [s[:0]], to be filled again. *)
  Lemma own_slice_reuse b s t vs : own_slice_full b s t vs -∗ own_slice_full b (slice_cut t s 0 0) t [].
  Proof. iApply (own_slice_shorten b s t []). Qed.
End room.

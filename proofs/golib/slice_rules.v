(** * Rules of the operations on slices

    An index or a length may be of any integer type.  Bytes come first: they are
    what the devices take and give. *)
From ashlar.golib Require Export slice.
Local Open Scope Z_scope.

Section rules.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (s : slice) (t : ty) (v : val) (vs : list val).

  (** ** Strings *)
  Lemma wp_string_to_slice b E (bs : list Z) : Z.of_nat (length bs) ≤ max_elems →
    {{{ True }}}
      string_to_slice #(LitStr bs) @ b; E
    {{{ s, RET slice_val s; own_bytes_full b s bs }}}.
  Proof.
    iIntros (Hlen Φ) "_ HΦ". wp_rec. wp_pures.
    wp_bind (Eff _ _). iApply wpe_alloc_bytes. iIntros "!>" (l) "Hl". wp_pures.
    iApply ("HΦ" $! (Slice (LitLoc l) (length bs) (length bs))).
    iSplitL "Hl".
    - iSplit; [iPureIntro; rewrite /slice_wf /=; lia|].
      iSplit; [by rewrite /= fmap_length|]. rewrite /slice_cells /= Z.mul_0_l loc_add_0.
      by rewrite own_block_array.
    - iExists []. rewrite /slice_cells /own_block /=. iSplit; [|done]. iPureIntro. lia.
  Qed.
  Lemma wp_slice_to_string b E s dq (bs : list Z) :
    {{{ own_bytes b s dq bs }}}
      slice_to_string (slice_val s) @ b; E
    {{{ RET #(LitStr bs); own_bytes b s dq bs }}}.
  Proof.
    iIntros (Φ) "(%Hwf & %Hlen & Hs) HΦ". rewrite fmap_length in Hlen.
    destruct s as [p n c]. simpl in *. subst n. wp_rec. wp_pures.
    case_bool_decide as Hn; wp_pures.
    - destruct bs; [|done]. iApply "HΦ". by iFrame.
    - rewrite /slice_cells /=. destruct Hwf as (? & ? & Hp). simpl in *.
      destruct p as [| | |l| |]; try done; last first.
      { exfalso. apply Hn. do 2 f_equal. lia. }
      rewrite own_block_array Z.mul_0_l loc_add_0.
      iApply (wpe_load_bytes with "Hs"). iIntros "!> Hs". iApply "HΦ".
      iSplit; [done|]. iSplit; [by rewrite fmap_length|].
      by rewrite /slice_cells /= own_block_array Z.mul_0_l loc_add_0.
  Qed.
End rules.

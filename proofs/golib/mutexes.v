(** * A slice of mutexes: one for each of the first n numbers *)
From ashlar.golib Require Export slice_rules sync.
Local Open Scope Z_scope.

Section mutexes.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (s : slice) (l : loc) (n i : nat) (R : nat → iProp Σ) (Φ : val → iProp Σ).

  (** [&s[i]] for elements that are not owned by the caller. *)
  Lemma wp_slice_ref_loc b E s l t w (i : Z) Φ `{!SmallTy t} :
    slice_wf s → sl_ptr s = LitLoc l → 0 ≤ i < sl_len s →
    ▷ Φ #(l +ₗ i * ty_size t) -∗
    WP slice_ref t (slice_val s) #(LitInt w i) @ b; E {{ Φ }}.
  Proof.
    iIntros ((Hn & Hc & _) Hp Hi) "HΦ". destruct s as [p n c]. simpl in *. subst p.
    unfold max_elems in Hc. pose proof (small_ty (t:=t)). pose proof (ty_size_nonneg t).
    assert (0 ≤ i * ty_size t ≤ 2^48 * 2^14) as Hoff.
    { split; [lia|]. apply Z.mul_le_mono_nonneg; lia. }
    wp_rec. wp_pures. rewrite_wrap. wp_cond. wp_cond. by rewrite_wrap.
  Qed.

  (** Mutex [i] protects [R i]. *)
  Definition is_mutexes b s R : iProp Σ :=
    ∃ l n, ⌜slice_wf s⌝ ∗ ⌜sl_len s = n⌝ ∗ ⌜n = 0%nat ∨ sl_ptr s = LitLoc l⌝ ∗
      [∗ list] i ∈ seq 0 n, is_mutex b (l +ₗ (i : nat)) (R i).
  Global Instance is_mutexes_persistent b s R : Persistent (is_mutexes b s R).
  Proof. apply _. Qed.

  Lemma mutexes_alloc b s n R E :
    own_slice b s mutexT (DfracOwn 1) (replicate n #false) -∗
    ([∗ list] i ∈ seq 0 n, ▷ R i) ={E}=∗ is_mutexes b s R.
  Proof.
    iIntros "(%Hwf & %Hlen & Hs) HR". rewrite replicate_length in Hlen.
    destruct (sl_ptr s) as [| | |l| |] eqn:Hp.
    4: { iExists l, n. do 2 (iSplitR; [done|]). iSplitR; [by iRight|].
      rewrite /slice_cells Hp /own_block Z.mul_0_l loc_add_0.
      iApply big_sepL_fupd.
      iAssert ([∗ list] i ∈ seq 0 n, (l +ₗ (i : nat)) ↦[b] #false)%I with "[Hs]" as "Hs".
      { clear. iInduction n as [|n] "IH"; [done|].
        rewrite seq_S (replicate_S_end n) !big_sepL_app /=. iDestruct "Hs" as "[Hs [Hn _]]".
        iSplitL "Hs"; [by iApply "IH"|]. rewrite replicate_length Z.mul_1_r Nat.add_0_r. by iFrame. }
      iCombine "Hs HR" as "H". rewrite -big_sepL_sep. iApply (big_sepL_impl with "H").
      iIntros "!>" (k i _) "[Hi HR]". iApply (mutex_alloc with "Hi HR"). }
    all: destruct Hwf as (? & ? & Hnil); rewrite Hp in Hnil; try done.
    iModIntro. iExists inhabitant, n. assert (n = 0%nat) as -> by lia.
    iSplit; [iPureIntro; rewrite /slice_wf Hp; done|]. iSplit; [done|]. iSplit; [by iLeft|done].
  Qed.
  Lemma wp_mutexes_ref b s R w (i : Z) : 0 ≤ i < sl_len s →
    {{{ is_mutexes b s R }}}
      slice_ref mutexT (slice_val s) #(LitInt w i) @ b; ⊤
    {{{ l, RET #l; is_mutex b l (R (Z.to_nat i)) }}}.
  Proof.
    iIntros (Hi Φ) "(%l & %n & %Hwf & %Hlen & %Hp & #Hms) HΦ".
    destruct Hp as [->|Hp]; [lia|].
    iApply wp_slice_ref_loc; [done|done|lia|]. iNext. iApply "HΦ". rewrite Z.mul_1_r.
    iDestruct (big_sepL_lookup _ _ (Z.to_nat i) (Z.to_nat i) with "Hms") as "H".
    { apply lookup_seq. lia. }
    by rewrite Z2Nat.id; [|lia].
  Qed.
End mutexes.
Global Typeclasses Opaque is_mutexes.

(** * Slices

    [own_slice b s t dq vs]: the elements of the slice [s], of type [t], are [vs];
    [own_slice_cap b s t]: the rest of its capacity; [own_slice_full b s t vs]:
    both, which is what [append] needs.  [own_bytes b s dq bs]: the bytes of a
    []byte.  Cutting a slice computes a slice ([slice_cut]); who owns which part is
    said by the laws ([own_slice_split]). *)
From ashlar.golib Require Export memory.
Local Open Scope Z_scope.

(** ** Slices as values *)
Record slice := Slice { sl_ptr : base_lit; sl_len : Z; sl_cap : Z }.
Definition slice_val (s : slice) : val := ((LitV (sl_ptr s), #(int (sl_len s))), #(int (sl_cap s))).
Definition nil_slice : slice := Slice LitNull 0 0.
Lemma slice_val_nil : slice_val nil_slice = slice_nil.
Proof. done. Qed.
Lemma slice_val_inj s1 s2 : slice_val s1 = slice_val s2 → s1 = s2.
Proof. destruct s1, s2. rewrite /slice_val. naive_solver. Qed.

(** A slice that is nil or points to memory, and whose sizes do not overflow. *)
Definition slice_wf (s : slice) : Prop :=
  0 ≤ sl_len s ≤ sl_cap s ∧ sl_cap s ≤ max_elems ∧
  match sl_ptr s with LitLoc _ => True | LitNull => sl_cap s = 0 | _ => False end.
(** [s[i:j]] *)
Definition slice_cut (t : ty) (s : slice) (i j : Z) : slice :=
  match sl_ptr s with
  | LitLoc l => Slice (LitLoc (l +ₗ i * ty_size t)) (j - i) (sl_cap s - i)
  | _ => s
  end.

(** A type whose values are not too long to count. *)
Class SmallTy (t : ty) := small_ty : ty_size t ≤ 2^14.
Global Hint Extern 1 (SmallTy _) =>
  (apply Z.leb_le; vm_compute; reflexivity) : typeclass_instances.

Lemma slice_wf_nil : slice_wf nil_slice.
Proof. done. Qed.
Lemma slice_wf_cut t s i j :
  slice_wf s → 0 ≤ i ≤ j → j ≤ sl_cap s → slice_wf (slice_cut t s i j).
Proof. destruct s as [[] n c]; rewrite /slice_wf /slice_cut /=; lia. Qed.
Lemma slice_cut_len t s i j :
  slice_wf s → 0 ≤ i ≤ j → j ≤ sl_cap s → sl_len (slice_cut t s i j) = j - i.
Proof. destruct s as [[] n c]; rewrite /slice_wf /slice_cut /=; lia. Qed.
Lemma slice_cut_cap t s i j :
  slice_wf s → 0 ≤ i ≤ j → j ≤ sl_cap s → sl_cap (slice_cut t s i j) = sl_cap s - i.
Proof. destruct s as [[] n c]; rewrite /slice_wf /slice_cut /=; lia. Qed.
Lemma slice_cut_all t s : slice_wf s → slice_cut t s 0 (sl_len s) = s.
Proof.
  destruct s as [[] n c]; rewrite /slice_wf /slice_cut //= => _. by rewrite loc_add_0 !Z.sub_0_r.
Qed.

Section slice.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (s : slice) (t : ty) (v : val) (vs : list val).

  Definition slice_cells b s t dq (from : Z) vs : iProp Σ :=
    match sl_ptr s with
    | LitLoc l => own_block b (l +ₗ from * ty_size t) dq t vs
    | _ => True
    end.
  Definition own_slice b s t dq vs : iProp Σ :=
    ⌜slice_wf s⌝ ∗ ⌜sl_len s = length vs⌝ ∗ slice_cells b s t dq 0 vs.
  Definition own_slice_cap b s t : iProp Σ :=
    ∃ vs, ⌜Z.of_nat (length vs) = sl_cap s - sl_len s⌝ ∗
      slice_cells b s t (DfracOwn 1) (sl_len s) vs.
  Definition own_slice_full b s t vs : iProp Σ :=
    own_slice b s t (DfracOwn 1) vs ∗ own_slice_cap b s t.
  Definition own_bytes b s dq (bs : list Z) : iProp Σ := own_slice b s byteT dq (byte_val <$> bs).
  Definition own_bytes_full b s (bs : list Z) : iProp Σ := own_slice_full b s byteT (byte_val <$> bs).

  (** ** Laws *)
  Global Instance slice_cells_timeless b s t dq i vs : Timeless (slice_cells b s t dq i vs).
  Proof. rewrite /slice_cells. destruct (sl_ptr s); apply _. Qed.
  Global Instance own_slice_timeless b s t dq vs : Timeless (own_slice b s t dq vs).
  Proof. apply _. Qed.
  Global Instance own_slice_cap_timeless b s t : Timeless (own_slice_cap b s t).
  Proof. apply _. Qed.
  Global Instance own_slice_full_timeless b s t vs : Timeless (own_slice_full b s t vs).
  Proof. apply _. Qed.
  Global Instance own_bytes_timeless b s dq bs : Timeless (own_bytes b s dq bs).
  Proof. apply _. Qed.
  Global Instance own_slice_fractional b s t vs :
    Fractional (λ q, own_slice b s t (DfracOwn q) vs).
  Proof.
    intros q1 q2. rewrite /own_slice.
    assert (slice_cells b s t (DfracOwn (q1 + q2)) 0 vs ⊣⊢
      slice_cells b s t (DfracOwn q1) 0 vs ∗ slice_cells b s t (DfracOwn q2) 0 vs) as ->.
    { rewrite /slice_cells. destruct (sl_ptr s); try by rewrite left_id. apply own_block_fractional. }
    iSplit; [by iIntros "(% & % & $ & $)"|by iIntros "[(% & % & $) (_ & _ & $)]"].
  Qed.
  Global Instance own_slice_as_fractional b s t q vs :
    AsFractional (own_slice b s t (DfracOwn q) vs) (λ q, own_slice b s t (DfracOwn q) vs) q.
  Proof. split; [done|apply _]. Qed.
  Global Instance own_bytes_fractional b s bs : Fractional (λ q, own_bytes b s (DfracOwn q) bs).
  Proof. apply _. Qed.
  Global Instance own_bytes_as_fractional b s q bs :
    AsFractional (own_bytes b s (DfracOwn q) bs) (λ q, own_bytes b s (DfracOwn q) bs) q.
  Proof. split; [done|apply _]. Qed.

  Lemma own_slice_wf b s t dq vs : own_slice b s t dq vs -∗ ⌜slice_wf s ∧ sl_len s = length vs⌝.
  Proof. by iIntros "(% & % & _)". Qed.
  Lemma own_slice_length b s t dq vs :
    own_slice b s t dq vs -∗ ⌜sl_len s = length vs ∧ length vs ≤ max_elems⌝.
  Proof. iIntros "(%Hwf & %Hlen & _)". iPureIntro. destruct Hwf. lia. Qed.
  Lemma own_bytes_length b s dq bs :
    own_bytes b s dq bs -∗ ⌜sl_len s = length bs ∧ length bs ≤ max_elems⌝.
  Proof.
    iIntros "H". iDestruct (own_slice_length with "H") as %[Hlen ?].
    rewrite fmap_length in Hlen H. done.
  Qed.
  Lemma own_slice_nil b t dq : ⊢ own_slice b nil_slice t dq [].
  Proof. by repeat iSplit. Qed.
  Lemma own_slice_cap_nil b t : ⊢ own_slice_cap b nil_slice t.
  Proof. iExists []. by iSplit. Qed.
  Lemma own_slice_full_nil b t : ⊢ own_slice_full b nil_slice t [].
  Proof. iSplit; [iApply own_slice_nil|iApply own_slice_cap_nil]. Qed.
  Lemma own_slice_full_slice b s t vs : own_slice_full b s t vs -∗ own_slice b s t (DfracOwn 1) vs.
  Proof. iIntros "[$ _]". Qed.
  Lemma own_slice_val b s t dq vs v : v ∈ vs → own_slice b s t dq vs -∗ ⌜ty_val t v ∨ sl_cap s = 0⌝.
  Proof.
    iIntros (Hv) "(%Hwf & %Hlen & H)". rewrite /slice_cells. destruct Hwf as (?&?&Hp).
    destruct (sl_ptr s); try done; [|by auto].
    apply elem_of_list_lookup in Hv as [i Hi].
    iDestruct (big_sepL_lookup with "H") as "H"; [done|].
    iDestruct (own_ty_val with "H") as %?. auto.
  Qed.

  Lemma own_ty_loc b l dq t v n m : n = m → own_ty b (l +ₗ n) dq t v ⊣⊢ own_ty b (l +ₗ m) dq t v.
  Proof. by intros ->. Qed.
  (** A slice of base type is an array. *)
  Lemma own_block_array b l dq z vs : own_block b l dq (BaseT z) vs ⊣⊢ array b l dq vs.
  Proof.
    rewrite /own_block /array. apply big_sepL_proper=> i v _. simpl. by rewrite Z.mul_1_r.
  Qed.
  Lemma slice_cells_app b s t dq i vs1 vs2 :
    slice_cells b s t dq i (vs1 ++ vs2) ⊣⊢
    slice_cells b s t dq i vs1 ∗ slice_cells b s t dq (i + length vs1) vs2.
  Proof.
    rewrite /slice_cells. destruct (sl_ptr s); try by rewrite left_id.
    rewrite /own_block big_sepL_app. f_equiv. apply big_sepL_proper=> j v _.
    rewrite !loc_add_assoc. apply own_ty_loc. lia.
  Qed.
  Lemma slice_cells_cut b s t dq i j k vs :
    slice_cells b (slice_cut t s i j) t dq k vs ⊣⊢ slice_cells b s t dq (i + k) vs.
  Proof.
    rewrite /slice_cells /slice_cut. destruct (sl_ptr s) eqn:Hp; rewrite ?Hp //=.
    rewrite loc_add_assoc. replace ((i + k) * ty_size t) with (i * ty_size t + k * ty_size t) by lia. done.
  Qed.

  (** A slice is what is before [i] and what is from [i] on. *)
  Lemma own_slice_split b s t dq vs (i : nat) : (i ≤ length vs)%nat → slice_wf s → sl_len s = length vs →
    own_slice b s t dq vs ⊣⊢
    own_slice b (slice_cut t s 0 i) t dq (take i vs) ∗
    own_slice b (slice_cut t s i (sl_len s)) t dq (drop i vs).
  Proof.
    intros Hi Hwf Hlen. pose proof (proj1 Hwf). rewrite /own_slice !slice_cells_cut.
    assert (slice_cells b s t dq 0 vs ⊣⊢
      slice_cells b s t dq 0 (take i vs) ∗ slice_cells b s t dq i (drop i vs)) as ->.
    { rewrite -{1}(take_drop i vs) slice_cells_app take_length. by rewrite Nat.min_l. }
    rewrite !slice_cut_len //; [|lia..]. rewrite !Z.add_0_r take_length drop_length.
    iSplit; [|by iIntros "[(_ & _ & $) (_ & _ & $)]"].
    iIntros "(_ & _ & $ & $)". iPureIntro.
    split_and!; try (by apply slice_wf_cut; [|lia..]); lia.
  Qed.
  Lemma own_slice_cut_cap b s t i : slice_wf s → 0 ≤ i ≤ sl_len s →
    own_slice_cap b (slice_cut t s i (sl_len s)) t ⊣⊢ own_slice_cap b s t.
  Proof.
    intros Hwf Hi. pose proof (proj1 Hwf). rewrite /own_slice_cap.
    rewrite slice_cut_cap // ?slice_cut_len //; [|lia..].
    f_equiv=> vs. rewrite slice_cells_cut.
    replace (i + (sl_len s - i)) with (sl_len s) by lia.
    by replace (sl_cap s - i - (sl_len s - i)) with (sl_cap s - sl_len s) by lia.
  Qed.
End slice.

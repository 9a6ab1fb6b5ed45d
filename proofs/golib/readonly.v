(** * Memory that nobody writes any more

    Fields and slices that are set before they are shared can be read by all. *)
From ashlar.golib Require Export slice.
Local Open Scope Z_scope.

Section readonly.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (l : loc) (s : slice) (t : ty) (v : val) (vs : list val).

  Lemma pointsto_persist b l v : l ↦[b] v ==∗ l ↦[b]{DfracDiscarded} v.
  Proof. iIntros "Hl". by iMod (ghost_map_elem_persist with "Hl") as "$". Qed.
  Global Instance pointsto_persistent b l v : Persistent (l ↦[b]{DfracDiscarded} v).
  Proof. apply _. Qed.

  Lemma own_ty_persist b l t v : l ↦[b; t] v ==∗ own_ty b l DfracDiscarded t v.
  Proof.
    revert l v. induction t as [z|t1 IH1 t2 IH2|]; intros l v; simpl; [apply pointsto_persist| |by auto].
    destruct v; try by iIntros "[]". iIntros "[H1 H2]".
    iMod (IH1 with "H1") as "$". by iMod (IH2 with "H2") as "$".
  Qed.
  Global Instance own_ty_persistent b l t v : Persistent (own_ty b l DfracDiscarded t v).
  Proof. revert l v. induction t; intros l v; simpl; [apply _| |apply _]. destruct v; apply _. Qed.

  Lemma own_slice_persist b s t vs :
    own_slice b s t (DfracOwn 1) vs ==∗ own_slice b s t DfracDiscarded vs.
  Proof.
    iIntros "($ & $ & Hs)". rewrite /slice_cells. destruct (sl_ptr s); try done.
    iApply big_sepL_bupd. iApply (big_sepL_impl with "Hs"). iIntros "!>" (i v _) "H".
    by iApply own_ty_persist.
  Qed.
  Global Instance own_slice_persistent b s t vs : Persistent (own_slice b s t DfracDiscarded vs).
  Proof. rewrite /own_slice /slice_cells. destruct (sl_ptr s); apply _. Qed.
End readonly.

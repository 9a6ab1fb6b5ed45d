(** * Typed memory

    [l ↦[b; t] v]: the cells from [l] on hold the value [v] of type [t].  At a
    type of one cell this is [l ↦[b] v] itself, by computation.  A struct is taken
    apart into its fields, [(l +ₗ field_offset T "f") ↦[b] v] each. *)
From ashlar.lib Require Export ints lists.
From ashlar.logic Require Export tactics.
Open Scope Z_scope.

(** Fields are named, not computed; a variable is made by a rule. *)
Global Arguments field_offset : simpl never.
Global Arguments field_ty : simpl never.
Global Arguments ref : simpl never.
Global Arguments load : simpl never.
Global Arguments store : simpl never.
Global Arguments loc_add : simpl never.

(** ** Values of a type *)
Fixpoint ty_val (t : ty) (v : val) : Prop :=
  match t with
  | BaseT _ => True
  | PairT t1 t2 => match v with PairV v1 v2 => ty_val t1 v1 ∧ ty_val t2 v2 | _ => False end
  | UnitT => v = #()
  end.
Lemma zero_val_ty t : ty_val t (zero_val t).
Proof. induction t; simpl; auto. Qed.
Lemma flatten_length t v : ty_val t v → Z.of_nat (length (flatten t v)) = ty_size t.
Proof.
  revert v. induction t as [z|t1 IH1 t2 IH2|]; intros v; simpl; [done| |by intros ->].
  destruct v; try done. intros [Hv1 Hv2]. rewrite app_length Nat2Z.inj_add. by rewrite IH1 // IH2.
Qed.
Lemma ty_size_nonneg t : 0 ≤ ty_size t.
Proof. induction t; simpl; lia. Qed.

(** ** Structs *)
Class StructIs (T d : struct) := struct_is : T = d.
Global Hint Extern 1 (StructIs ?T _) =>
  let d := eval hnf in T in
  let rec spine d := lazymatch d with
    | [] => constr:(d)
    | ?x :: ?d' => let d' := eval hnf in d' in let d' := spine d' in constr:(x :: d')
    end in
  let d := spine d in exact (eq_refl : T = d) : typeclass_instances.
Definition names_ok (d : struct) : bool := bool_decide (NoDup d.*1).

Section memory.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (l : loc) (t : ty) (v : val).

  Fixpoint own_ty b l (dq : dfrac) t v : iProp Σ :=
    match t with
    | BaseT _ => l ↦[b]{dq} v
    | PairT t1 t2 =>
      match v with
      | PairV v1 v2 => own_ty b l dq t1 v1 ∗ own_ty b (l +ₗ ty_size t1) dq t2 v2
      | _ => False
      end
    | UnitT => ⌜v = #()⌝
    end.
  (** Values of type [t], one after the other. *)
  Definition own_block b l (dq : dfrac) t (vs : list val) : iProp Σ :=
    [∗ list] i ↦ v ∈ vs, own_ty b (l +ₗ i * ty_size t) dq t v.
  (** The fields [d] of a struct [T] at [l]. *)
  Fixpoint own_fields b l (dq : dfrac) (T d : struct) v : iProp Σ :=
    match d with
    | [] => ⌜v = #()⌝
    | (f, t) :: d =>
      match v with
      | PairV v1 v2 => own_ty b (l +ₗ field_offset T f) dq t v1 ∗ own_fields b l dq T d v2
      | _ => False
      end
    end.

  (** ** Laws *)
  Global Instance own_ty_timeless b l dq t v : Timeless (own_ty b l dq t v).
  Proof. revert l v. induction t; intros l v; simpl; [apply _| |apply _]. destruct v; apply _. Qed.
  Global Instance own_block_timeless b l dq t vs : Timeless (own_block b l dq t vs).
  Proof. apply _. Qed.
  Global Instance own_ty_fractional b l t v : Fractional (λ q, own_ty b l (DfracOwn q) t v).
  Proof.
    intros q1 q2. revert l v. induction t as [z|t1 IH1 t2 IH2|]; intros l v; simpl.
    - apply pointsto_fractional.
    - destruct v; try by (iSplit; [iIntros "[]"|iIntros "[[] _]"]).
      rewrite IH1 IH2. iSplit; iIntros "[[$ $] [$ $]]".
    - iSplit; [by iIntros (->)|by iIntros "[-> _]"].
  Qed.
  Global Instance own_ty_as_fractional b l q t v :
    AsFractional (own_ty b l (DfracOwn q) t v) (λ q, own_ty b l (DfracOwn q) t v) q.
  Proof. split; [done|apply _]. Qed.
  Global Instance own_block_fractional b l t vs : Fractional (λ q, own_block b l (DfracOwn q) t vs).
  Proof. apply _. Qed.
  Global Instance own_block_as_fractional b l q t vs :
    AsFractional (own_block b l (DfracOwn q) t vs) (λ q, own_block b l (DfracOwn q) t vs) q.
  Proof. split; [done|apply _]. Qed.

  Lemma own_ty_val b l dq t v : own_ty b l dq t v -∗ ⌜ty_val t v⌝.
  Proof.
    revert l v. induction t as [z|t1 IH1 t2 IH2|]; intros l v; simpl; [by auto| |by auto].
    destruct v; try by iIntros "[]". iIntros "[H1 H2]".
    iDestruct (IH1 with "H1") as %?. by iDestruct (IH2 with "H2") as %?.
  Qed.
  Lemma own_ty_agree b l dq1 dq2 t v1 v2 :
    own_ty b l dq1 t v1 -∗ own_ty b l dq2 t v2 -∗ ⌜v1 = v2⌝.
  Proof.
    revert l v1 v2. induction t as [z|t1 IH1 t2 IH2|]; intros l v1 v2; simpl.
    - iApply pointsto_agree.
    - destruct v1, v2; try by (iIntros "[]" || iIntros "? []").
      iIntros "[H1 H2] [H3 H4]".
      iDestruct (IH1 with "H1 H3") as %->. by iDestruct (IH2 with "H2 H4") as %->.
    - by iIntros (->) "->".
  Qed.

  (** A value of a type is its cells. *)
  Lemma own_ty_cells b l dq t v :
    own_ty b l dq t v ⊣⊢ ⌜ty_val t v⌝ ∗ array b l dq (flatten t v).
  Proof.
    revert l v. induction t as [z|t1 IH1 t2 IH2|]; intros l v; simpl.
    - rewrite /array /= loc_add_0 right_id. iSplit; [by iIntros "$"|by iIntros "[_ $]"].
    - destruct v; try by (iSplit; [iIntros "[]"|iIntros "[[] _]"]).
      rewrite IH1 IH2 /array. iSplit.
      + iIntros "[[%Hv1 H1] [% H2]]". iSplit; [done|]. rewrite big_sepL_app. iFrame "H1".
        iApply (big_sepL_impl with "H2"). iIntros "!>" (k w _) "H".
        rewrite loc_add_assoc Nat2Z.inj_add flatten_length //.
      + iIntros "[[%Hv1 %Hv2] H]". rewrite big_sepL_app. iDestruct "H" as "[$ H2]".
        do 2 (iSplit; [done|]). iApply (big_sepL_impl with "H2"). iIntros "!>" (k w _) "H".
        rewrite loc_add_assoc Nat2Z.inj_add flatten_length //.
    - rewrite /array /=. iSplit; [by iIntros (->)|by iIntros "[-> _]"].
  Qed.
  Lemma own_block_cells b l dq t vs : Forall (ty_val t) vs →
    array b l dq (concat (flatten t <$> vs)) ⊣⊢ own_block b l dq t vs.
  Proof.
    intros Hvs. rewrite /array /own_block.
    rewrite (big_sepL_concat_equal _ _ _ (Z.to_nat (ty_size t))); last first.
    { intros v Hv. rewrite Forall_forall in Hvs. rewrite -(flatten_length t v); [lia|auto]. }
    apply big_sepL_proper=> i v Hi. rewrite own_ty_cells bi.pure_True ?left_id; last first.
    { by eapply Forall_lookup_1. }
    apply big_sepL_proper=> j w _. rewrite loc_add_assoc. pose proof (ty_size_nonneg t).
    by replace (Z.of_nat (i * Z.to_nat (ty_size t) + j)) with (i * ty_size t + j) by lia.
  Qed.

  Lemma own_fields_eq b l dq T d1 d2 v : T = d1 ++ d2 → NoDup T.*1 →
    own_ty b (l +ₗ ty_size (structT d1)) dq (structT d2) v ⊣⊢ own_fields b l dq T d2 v.
  Proof.
    revert d1 v. induction d2 as [|[f t] d2 IH]; intros d1 v -> Hnd; simpl; [done|].
    destruct v; try done.
    assert (Hoff : field_offset (d1 ++ (f, t) :: d2) f = ty_size (structT d1)).
    { clear IH. rewrite fmap_app in Hnd. apply NoDup_app in Hnd as (_ & Hf & _).
      assert (f ∉ d1.*1) as Hf1. { intros Hin. apply (Hf f Hin). constructor. }
      clear Hf. induction d1 as [|[g u] d1 IH]; simpl; rewrite /field_offset /=.
      - by rewrite String.eqb_refl.
      - apply not_elem_of_cons in Hf1 as [Hne Hf1].
        destruct (String.eqb_spec g f) as [->|_]; [done|]. by rewrite -IH. }
    rewrite Hoff. f_equiv.
    rewrite -(IH (d1 ++ [(f, t)])); [|by rewrite -app_assoc|done].
    rewrite loc_add_assoc.
    assert (∀ d, ty_size (structT (d ++ [(f, t)])) = ty_size (structT d) + ty_size t) as ->; [|done].
    intros d. induction d as [|[g u] d IHd]; simpl; [lia|]. rewrite IHd. lia.
  Qed.
  (** A struct is its fields. *)
  Lemma own_struct b l dq (T d : struct) v `{!StructIs T d} : names_ok T = true →
    own_ty b l dq (structT T) v ⊣⊢ own_fields b l dq T d v.
  Proof.
    intros Hok%bool_decide_eq_true. assert (T = d) as <- by apply struct_is.
    rewrite -(own_fields_eq b l dq T [] T) // loc_add_0 //.
  Qed.

  (** ** Loads *)
  Lemma subst_load_expr x v t e : subst x v (load_expr t e) = load_expr t (subst x v e).
  Proof. revert e. induction t as [|t1 IH1 t2 IH2|]; intros e; simpl; [done| |done]. by rewrite IH1 IH2. Qed.
  (** [e] is a computation of [v] without effects. *)
  Definition computes b E (e : expr) v : Prop :=
    ∀ K Φ, WP rfill K (Val v) @ b; E {{ Φ }} -∗ WP rfill K e @ b; E {{ Φ }}.
  Lemma computes_val b E v : computes b E (Val v) v.
  Proof. iIntros (K Φ) "$". Qed.
  Lemma computes_step b E Ki e v w : computes b E e v → pstep (rfill_item Ki (Val v)) (Val w) →
    computes b E (rfill_item Ki e) w.
  Proof.
    iIntros (He Hp K Φ) "H". iApply (He (Ki :: K)). simpl. by iApply (wpe_pure _ _ K).
  Qed.
  Lemma computes_offset b E e l n : computes b E e #l →
    computes b E (BinOp OffsetOp e (Val #(int n))) #(l +ₗ n).
  Proof. intros He. apply (computes_step _ _ (BinOpLCtx OffsetOp #(int n)) _ #l); [done|]. by constructor. Qed.

  Lemma wp_load_expr b E t e l dq v Φ : computes b E e #l →
    ▷ own_ty b l dq t v -∗ (own_ty b l dq t v -∗ Φ v) -∗ WP load_expr t e @ b; E {{ Φ }}.
  Proof.
    revert e l v Φ. induction t as [z|t1 IH1 t2 IH2|]; iIntros (e l v Φ He) ">Hl HΦ"; simpl.
    - iApply (He [EffCtx LoadOp]). by iApply (wpe_load with "Hl").
    - destruct v as [| |v1 v2| |]; try done. iDestruct "Hl" as "[H1 H2]".
      iApply (wpe_bind [PairRCtx _]). iApply (IH2 with "H2"); [by apply computes_offset|].
      iIntros "H2". simpl. iApply (wpe_bind [PairLCtx _]). iApply (IH1 with "H1"); [done|].
      iIntros "H1". simpl. iApply (wpe_pure _ _ []); [constructor|]. iNext. iApply wpe_value.
      iApply "HΦ". iFrame.
    - iDestruct "Hl" as %->. iApply wpe_value. by iApply "HΦ".
  Qed.
  Lemma wp_load_ty b E t l dq v :
    {{{ ▷ own_ty b l dq t v }}} load t #l @ b; E {{{ RET v; own_ty b l dq t v }}}.
  Proof.
    iIntros (Φ) ">Hl HΦ". rewrite /load. iApply (wpe_pure _ _ []); [by constructor|]. iNext.
    simpl. rewrite subst_load_expr /=.
    iApply (wp_load_expr with "Hl"); [apply computes_val|]. done.
  Qed.

  (** ** Stores *)
  Lemma subst_store_expr x v t e1 e2 :
    subst x v (store_expr t e1 e2) = store_expr t (subst x v e1) (subst x v e2).
  Proof.
    revert e1 e2. induction t as [|t1 IH1 t2 IH2|]; intros e1 e2; simpl; [done| |done].
    by rewrite IH1 IH2.
  Qed.
  Lemma wp_store_expr b E t el ev l v w Φ : ty_val t w →
    computes b E el #l → computes b E ev w →
    ▷ own_ty b l (DfracOwn 1) t v -∗ (own_ty b l (DfracOwn 1) t w -∗ Φ #()) -∗
    WP store_expr t el ev @ b; E {{ Φ }}.
  Proof.
    revert el ev l v w Φ.
    induction t as [z|t1 IH1 t2 IH2|]; iIntros (el ev l v w Φ Hw Hel Hev) ">Hl HΦ"; simpl.
    - iApply (wpe_bind [AppRCtx _]). iApply (Hel [EffCtx PrepareWriteOp]). simpl.
      iApply (wpe_prepare_write with "Hl"). iIntros "!> Hl". simpl.
      iApply (wpe_pure b E [AppLCtx #()]); [constructor|]. iNext. simpl.
      iApply (wpe_pure b E []); [by constructor|]. iNext. simpl.
      iApply (Hev [PairRCtx _; EffCtx FinishStoreOp]).
      iApply (Hel [PairLCtx w; EffCtx FinishStoreOp]). simpl.
      iApply (wpe_pure b E [EffCtx FinishStoreOp]); [constructor|]. iNext. simpl.
      iApply (wpe_finish_store with "Hl"). iIntros "!> Hl". by iApply "HΦ".
    - destruct v as [| |v1 v2| |]; try done. destruct w as [| |w1 w2| |]; try done.
      destruct Hw as [Hw1 Hw2]. iDestruct "Hl" as "[H1 H2]".
      iApply (wpe_bind [AppRCtx _]). iApply (IH1 with "H1"); [done|done| |].
      { apply (computes_step _ _ FstCtx _ (w1, w2)); [done|constructor]. }
      iIntros "H1". simpl. iApply (wpe_pure b E [AppLCtx #()]); [constructor|]. iNext. simpl.
      iApply (wpe_pure b E []); [by constructor|]. iNext. simpl.
      iApply (IH2 with "H2"); [done|by apply computes_offset| |].
      { apply (computes_step _ _ SndCtx _ (w1, w2)); [done|constructor]. }
      iIntros "H2". iApply "HΦ". iFrame.
    - iDestruct "Hl" as %->. iApply wpe_value. by iApply "HΦ".
  Qed.
  Lemma wp_store_ty b E t l v w : ty_val t w →
    {{{ ▷ own_ty b l (DfracOwn 1) t v }}}
      store t #l w @ b; E
    {{{ RET #(); own_ty b l (DfracOwn 1) t w }}}.
  Proof.
    iIntros (Hw Φ) ">Hl HΦ". rewrite /store.
    iApply (wpe_pure b E [AppLCtx w]); [by constructor|]. iNext. simpl.
    iApply (wpe_pure b E [AppLCtx w]); [constructor|]. iNext. simpl.
    iApply (wpe_pure b E []); [by constructor|]. iNext. simpl. rewrite !subst_store_expr /=.
    iApply (wp_store_expr with "Hl"); [done|apply computes_val..|]. done.
  Qed.

  (** ** New memory *)
  Lemma wp_alloc_zero b E t (n : Z) : 0 ≤ n →
    {{{ True }}}
      alloc_zero t #(int n) @ b; E
    {{{ l, RET #l; own_block b l (DfracOwn 1) t (replicate (Z.to_nat n) (zero_val t)) }}}.
  Proof.
    iIntros (Hn Φ) "_ HΦ". wp_rec. wp_pures.
    iApply (wpe_alloc _ _ _ (flatten t (zero_val t))); [done|]. iIntros "!>" (l) "Hl".
    iApply "HΦ". iApply own_block_cells.
    { apply Forall_replicate. apply zero_val_ty. }
    by rewrite fmap_replicate.
  Qed.
  Lemma wp_ref_zero b E t :
    {{{ True }}}
      ref_zero t #() @ b; E
    {{{ l, RET #l; own_ty b l (DfracOwn 1) t (zero_val t) }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_apply (wp_alloc_zero with "[//]"); [lia|].
    iIntros (l) "Hl". iApply "HΦ". rewrite /own_block /= loc_add_0. by iDestruct "Hl" as "[$ _]".
  Qed.
  Lemma wp_ref_base b E z v :
    {{{ True }}} ref (BaseT z) v @ b; E {{{ l, RET #l; l ↦[b] v }}}.
  Proof.
    iIntros (Φ) "_ HΦ". rewrite /ref. wp_pures.
    iApply (wpe_alloc _ _ 1 [v]); [done|]. iIntros "!>" (l) "Hl".
    iApply "HΦ". rewrite /array /= loc_add_0. by iDestruct "Hl" as "[$ _]".
  Qed.
  Lemma wp_ref b E t v : ty_val t v →
    {{{ True }}} ref t v @ b; E {{{ l, RET #l; own_ty b l (DfracOwn 1) t v }}}.
  Proof.
    iIntros (Hv Φ) "_ HΦ".
    assert ((∃ z, t = BaseT z) ∨
      ref t = (λ: "v", let: "l" := ref_zero t #() in "l" <-[t] "v";; "l")%V) as [[z ->]|Hr].
    { destruct t; eauto. }
    { wp_apply (wp_ref_base with "[//]"). iIntros (l) "Hl". by iApply "HΦ". }
    rewrite Hr. wp_pures. wp_apply (wp_ref_zero with "[//]"). iIntros (l) "Hl". wp_pures.
    wp_apply (wp_store_ty with "Hl"); [done|]. iIntros "Hl". wp_pures. by iApply "HΦ".
  Qed.
  (** [&T{...}] *)
  Lemma wp_ref_struct b E (T d : struct) v `{!StructIs T d} : names_ok T = true → ty_val (structT T) v →
    {{{ True }}} ref (structT T) v @ b; E {{{ l, RET #l; own_fields b l (DfracOwn 1) T d v }}}.
  Proof.
    iIntros (Hok Hv Φ) "_ HΦ". wp_apply (wp_ref with "[//]"); [done|]. iIntros (l) "Hl".
    iApply "HΦ". by iApply own_struct.
  Qed.
End memory.
Global Arguments structT : simpl never.

Notation "l ↦[ b ; t ]{ dq } v" := (own_ty b l dq t v)
  (at level 20, b at level 50, t at level 99, dq at level 50, format "l  ↦[ b ;  t ]{ dq }  v") : bi_scope.
Notation "l ↦[ b ; t ] v" := (own_ty b l (DfracOwn 1) t v)
  (at level 20, b at level 50, t at level 99, format "l  ↦[ b ;  t ]  v") : bi_scope.
Notation "l ↦∗[ b ; t ]{ dq } vs" := (own_block b l dq t vs)
  (at level 20, b at level 50, t at level 99, dq at level 50, format "l  ↦∗[ b ;  t ]{ dq }  vs") : bi_scope.
Notation "l ↦∗[ b ; t ] vs" := (own_block b l (DfracOwn 1) t vs)
  (at level 20, b at level 50, t at level 99, format "l  ↦∗[ b ;  t ]  vs") : bi_scope.

(** ** Tactics

    [wp_alloc l as "H"]: a new variable of a type of one cell, or a new struct,
    whose fields [H] takes apart.  [iStruct "H" as "(Ha & Hb & ...)"]: the fields
    of a struct that is owned; the last conjunct is pure and says that the value
    ends there.  [wp_load] and [wp_store] do the rest for types of one cell. *)
Ltac struct_simpl H := iEval (cbn [own_fields own_ty]) in H.
Tactic Notation "wp_alloc" ident(l) "as" constr(pat) :=
  wp_pures;
  first [ wp_apply (wp_ref_base with "[//]"); iIntros (l) pat
        | wp_apply (wp_ref_struct with "[//]"); [reflexivity|repeat split|];
          iIntros (l) "Hstruct"; struct_simpl "Hstruct"; iDestruct "Hstruct" as pat ].
Tactic Notation "iStruct" constr(H) "as" constr(pat) :=
  iDestruct (own_struct with H) as H; [reflexivity|]; struct_simpl H; iDestruct H as pat.

(** [wp_cond]: take the branch of the condition that stands next, where arithmetic
    shows which one it is. *)
Ltac cond_solve := solve [ done | int_solve ].
Ltac wp_cond :=
  wp_pures;
  lazymatch goal with
  | |- context [If (Val (LitV (LitBool (bool_decide ?P)))) _ _] =>
    first [ rewrite (bool_decide_true P); [|cond_solve] | rewrite (bool_decide_false P); [|cond_solve] ]
  end;
  wp_pures.
Global Instance unfold_assert : UnfoldFun assert := I.

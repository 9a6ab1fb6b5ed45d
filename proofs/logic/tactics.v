(** * Tactics

    As in Iris's own example language: [wp_pures], [wp_pure], [wp_lam]/[wp_rec],
    [wp_bind], [wp_apply], [wp_load], [wp_store], [wp_alloc], [wp_fork],
    [wp_if], [wp_end].  The goal is [WP e @ b; E {{ Φ }}].

    [wp_pures] goes through applied lambdas that stand in the program and through
    the library functions declared with [UnfoldFun]; a call to any other named
    function stops it, to be met by a lemma ([wp_apply]). *)
From iris.proofmode Require Import coq_tactics reduction spec_patterns.
From ashlar.logic Require Export rules.
From ashlar.trusted Require Export primitive.

(** A call of a named function keeps the name where the function calls itself. *)
Lemma beta_folded f g x e v e2 : f = RecV g x e → e2 = subst' x v (subst' g f e) →
  pstep (App (Val f) (Val v)) e2.
Proof. intros -> ->. by apply BetaS. Qed.

(** Functions that [wp_pures] may open. *)
Class UnfoldFun (f : val) := unfold_fun : True.

Section tac.
  Context `{!golangGS Σ}.
  Implicit Types Φ : val → iProp Σ.

  Lemma tac_wp_expr_eval Δ b E Φ e e' :
    (∀ (e'':=e'), e = e'') →
    envs_entails Δ (WP e' @ b; E {{ Φ }}) → envs_entails Δ (WP e @ b; E {{ Φ }}).
  Proof. by intros ->. Qed.
  Lemma tac_wp_pure Δ Δ' b E K e1 e2 Φ :
    pstep e1 e2 →
    (of_envs Δ ⊢ ▷ of_envs Δ') →
    envs_entails Δ' (WP (rfill K e2) @ b; E {{ Φ }}) →
    envs_entails Δ (WP (rfill K e1) @ b; E {{ Φ }}).
  Proof.
    rewrite envs_entails_unseal=> Hp HΔ H. rewrite HΔ H.
    by rewrite -(wpe_pure _ _ K e1 e2).
  Qed.
  Lemma tac_wp_value Δ b E (Φ : val → iPropI Σ) v :
    envs_entails Δ (Φ v) → envs_entails Δ (WP (Val v) @ b; E {{ Φ }}).
  Proof. rewrite envs_entails_unseal=> ->. by rewrite -wpe_value. Qed.
  Lemma tac_wp_bind K Δ b E Φ e f :
    f = (λ e, rfill K e) →
    envs_entails Δ (WP e @ b; E {{ v, WP f (Val v) @ b; E {{ Φ }} }})%I →
    envs_entails Δ (WP rfill K e @ b; E {{ Φ }}).
  Proof. rewrite envs_entails_unseal=> -> ->. by rewrite -wpe_bind. Qed.

  Lemma tac_wp_load Δ Δ' b E i K l dq v Φ :
    (of_envs Δ ⊢ ▷ of_envs Δ') →
    envs_lookup i Δ' = Some (false, l ↦[b]{dq} v)%I →
    envs_entails Δ' (WP rfill K (Val v) @ b; E {{ Φ }}) →
    envs_entails Δ (WP rfill K (Eff LoadOp (Val #l)) @ b; E {{ Φ }}).
  Proof.
    rewrite envs_entails_unseal=> HΔ Hi H.
    rewrite -wpe_bind HΔ envs_lookup_split // H /=.
    iIntros "[Hl Hrest]". iApply (wpe_load with "Hl"). iIntros "!> Hl". by iApply "Hrest".
  Qed.
  Lemma wp_load_base b E z l dq v Φ :
    ▷ l ↦[b]{dq} v -∗ ▷ (l ↦[b]{dq} v -∗ Φ v) -∗
    WP App (Val (load (BaseT z))) (Val #l) @ b; E {{ Φ }}.
  Proof.
    iIntros ">Hl HΦ". rewrite /load /=.
    iApply (wpe_pure b E []); [by constructor|]. iNext. simpl.
    by iApply (wpe_load with "Hl").
  Qed.
  Lemma wp_store_base b E z l v v' Φ :
    ▷ l ↦[b] v -∗ ▷ (l ↦[b] v' -∗ Φ #()) -∗
    WP App (App (Val (store (BaseT z))) (Val #l)) (Val v') @ b; E {{ Φ }}.
  Proof.
    iIntros ">Hl HΦ". rewrite /store /= /store1.
    iApply (wpe_pure b E [AppLCtx v']); [by constructor|]. iNext. simpl.
    iApply (wpe_pure b E [AppLCtx v']); [constructor|]. iNext. simpl.
    iApply (wpe_pure b E []); [by constructor|]. iNext. simpl.
    iApply (wpe_bind [AppRCtx _]). iApply (wpe_prepare_write with "Hl"). iIntros "!> Hl". simpl.
    iApply (wpe_pure b E [AppLCtx #()]); [constructor|]. iNext. simpl.
    iApply (wpe_pure b E []); [by constructor|]. iNext. simpl.
    iApply (wpe_pure b E [EffCtx FinishStoreOp]); [constructor|]. iNext. simpl.
    iApply (wpe_finish_store with "Hl"). iIntros "!> Hl". by iApply "HΦ".
  Qed.
  Lemma tac_wp_load_base Δ Δ' b E i K z l dq v Φ :
    (of_envs Δ ⊢ ▷ of_envs Δ') →
    envs_lookup i Δ' = Some (false, l ↦[b]{dq} v)%I →
    envs_entails Δ' (WP rfill K (Val v) @ b; E {{ Φ }}) →
    envs_entails Δ (WP rfill K (App (Val (load (BaseT z))) (Val #l)) @ b; E {{ Φ }}).
  Proof.
    rewrite envs_entails_unseal=> HΔ Hi H.
    rewrite -wpe_bind HΔ envs_lookup_split // H /=.
    iIntros "[Hl Hrest]". iApply (wp_load_base with "Hl"). iIntros "!> Hl". by iApply "Hrest".
  Qed.
  Lemma tac_wp_store_base Δ Δ' b E i K z l v v' Φ :
    (of_envs Δ ⊢ ▷ of_envs Δ') →
    envs_lookup i Δ' = Some (false, l ↦[b] v)%I →
    match envs_simple_replace i false (Esnoc Enil i (l ↦[b] v')) Δ' with
    | Some Δ'' => envs_entails Δ'' (WP rfill K (Val #()) @ b; E {{ Φ }})
    | None => False
    end →
    envs_entails Δ (WP rfill K (App (App (Val (store (BaseT z))) (Val #l)) (Val v')) @ b; E {{ Φ }}).
  Proof.
    rewrite envs_entails_unseal=> HΔ Hi H.
    destruct (envs_simple_replace _ _ _) as [Δ''|] eqn:HΔ''; [|done].
    rewrite -wpe_bind HΔ envs_simple_replace_sound // H /=.
    iIntros "[Hl Hrest]". iApply (wp_store_base with "Hl"). iIntros "!> Hl".
    iApply "Hrest". by iFrame.
  Qed.
End tac.

(** ** Contexts *)
Ltac reshape_expr e tac :=
  let rec go K e :=
    match e with
    | _                           => tac K e
    | App ?e (Val ?v)             => go (AppLCtx v :: K) e
    | App ?e1 ?e2                 => go (AppRCtx e1 :: K) e2
    | UnOp ?op ?e                 => go (UnOpCtx op :: K) e
    | BinOp ?op ?e (Val ?v)       => go (BinOpLCtx op v :: K) e
    | BinOp ?op ?e1 ?e2           => go (BinOpRCtx op e1 :: K) e2
    | If ?e0 ?e1 ?e2              => go (IfCtx e1 e2 :: K) e0
    | Pair ?e (Val ?v)            => go (PairLCtx v :: K) e
    | Pair ?e1 ?e2                => go (PairRCtx e1 :: K) e2
    | Fst ?e                      => go (FstCtx :: K) e
    | Snd ?e                      => go (SndCtx :: K) e
    | InjL ?e                     => go (InjLCtx :: K) e
    | InjR ?e                     => go (InjRCtx :: K) e
    | Case ?e0 ?e1 ?e2            => go (CaseCtx e1 e2 :: K) e0
    | Eff ?op ?e                  => go (EffCtx op :: K) e
    end in go (@nil ectx_item) e.
Ltac rsimpl := cbn [rfill foldl flip rfill_item].

(** ** Pure steps *)
Ltac wp_expr_eval t :=
  notypeclasses refine (tac_wp_expr_eval _ _ _ _ _ _ _ _);
    [let x := fresh in intros x; t; unfold x; notypeclasses refine eq_refl|].
Ltac wp_expr_simpl := wp_expr_eval simpl.

(** The function at the head of a redex, opened if it may be. *)
Ltac head_fun_ok f :=
  lazymatch f with
  | RecV _ _ _ => idtac
  | _ => let _ := constr:(ltac:(iSolveTC) : UnfoldFun f) in idtac
  end.
Ltac solve_pstep :=
  lazymatch goal with
  | |- pstep (Rec _ _ _) _ => apply RecS
  | |- pstep (App (Val ?f) (Val _)) _ => eapply beta_folded; reflexivity
  | |- pstep (UnOp _ _) _ => apply UnOpS; cbn [un_op_eval]; reflexivity
  | |- pstep (BinOp _ _ _) _ => apply BinOpS;
      first [ cbn [bin_op_eval val_eqb int_op_eval shift_eval]; reflexivity | by simpl | solve [eauto] ]
  | |- pstep (If (Val (LitV (LitBool true))) _ _) _ => apply IfTrueS
  | |- pstep (If (Val (LitV (LitBool false))) _ _) _ => apply IfFalseS
  | |- pstep (Pair _ _) _ => apply PairS
  | |- pstep (Fst _) _ => apply FstS
  | |- pstep (Snd _) _ => apply SndS
  | |- pstep (InjL _) _ => apply InjLS
  | |- pstep (InjR _) _ => apply InjRS
  | |- pstep (Case _ _ _) _ => first [ apply CaseLS | apply CaseRS ]
  end.
(** Is it a pure redex (syntactically)? *)
Ltac pure_redex e :=
  lazymatch e with
  | Rec _ _ _ => idtac
  | App (Val ?f) (Val _) => head_fun_ok f
  | UnOp _ (Val _) => idtac
  | BinOp _ (Val _) (Val _) => idtac
  | If (Val _) _ _ => idtac
  | Pair (Val _) (Val _) => idtac
  | Fst (Val _) => idtac
  | Snd (Val _) => idtac
  | InjL (Val _) => idtac
  | InjR (Val _) => idtac
  | Case (Val _) _ _ => idtac
  end.

(** A step takes a later off each hypothesis. Looking for them takes more time than the
    step, so where the text of no hypothesis has one they stay as they are. *)
Ltac solve_later :=
  lazymatch goal with
  | |- of_envs ?Δ ⊢ _ =>
    lazymatch Δ with
    | context [bi_later] => refine (into_laterN_env_sound 1 _ _ _); iSolveTC
    | _ => exact (bi.later_intro _)
    end
  end.

Ltac wp_finish :=
  wp_expr_simpl;
  rsimpl;
  try lazymatch goal with |- envs_entails _ (wp _ _ (Val _) _) => wp_value_head end
with wp_value_head :=
  lazymatch goal with
  | |- envs_entails _ (wp ?b ?E (Val _) (λ _, fupd ?E _ _)) => eapply tac_wp_value
  | |- envs_entails _ (wp ?b ?E (Val _) (λ _, wp _ ?E _ _)) => eapply tac_wp_value
  | |- envs_entails _ (wp ?b ?E (Val _) _) => eapply tac_wp_value
  end.

Tactic Notation "wp_pure_with" tactic3(ok) :=
  iStartProof;
  lazymatch goal with
  | |- envs_entails _ (wp ?b ?E ?e ?Q) =>
    reshape_expr e ltac:(fun K e' =>
      ok e';
      eapply (tac_wp_pure _ _ b E K e');
      [ solve_pstep | solve_later | rsimpl; wp_expr_simpl; pm_prettify ])
    || fail "wp_pure: no pure step in" e
  | _ => fail "wp_pure: not a WP"
  end.
Tactic Notation "wp_pure" := wp_pure_with ltac:(fun e => pure_redex e).
Ltac wp_pures :=
  iStartProof;
  repeat (wp_pure; []);
  try lazymatch goal with |- envs_entails _ (wp _ _ (Val _) _) => wp_value_head end.
(** One call, also of a named function. *)
Tactic Notation "wp_rec" :=
  wp_pure_with ltac:(fun e => lazymatch e with App (Val _) (Val _) => idtac end).
Tactic Notation "wp_lam" := wp_rec.
Tactic Notation "wp_if" := wp_pure_with ltac:(fun e => lazymatch e with If _ _ _ => idtac end).
(** Calls of a named function with all its arguments: [wp_call] then [wp_pures]. *)
Tactic Notation "wp_call" := wp_rec; wp_pures.

(** ** Focus *)
Ltac wp_bind_core K :=
  lazymatch eval hnf in K with
  | [] => idtac
  | _ => eapply (tac_wp_bind K); [simpl; reflexivity|reduction.pm_prettify]
  end.
Tactic Notation "wp_bind" open_constr(efoc) :=
  iStartProof;
  lazymatch goal with
  | |- envs_entails _ (wp ?b ?E ?e ?Q) =>
    first [ reshape_expr e ltac:(fun K e' => unify e' efoc; wp_bind_core K)
          | fail 1 "wp_bind: cannot find" efoc "in" e ]
  | _ => fail "wp_bind: not a WP"
  end.
(** The next effect. *)
Ltac wp_focus :=
  iStartProof;
  lazymatch goal with
  | |- envs_entails _ (wp ?b ?E ?e ?Q) =>
    reshape_expr e ltac:(fun K e' =>
      lazymatch e' with Eff _ (Val _) => wp_bind_core K | Fork _ => wp_bind_core K end)
  end.

Ltac wp_apply_core lem tac_suc tac_fail := first
  [iPoseProofCore lem as false (fun H =>
     lazymatch goal with
     | |- envs_entails _ (wp ?b ?E ?e ?Q) =>
       reshape_expr e ltac:(fun K e' =>
         wp_bind_core K; tac_suc H)
     | _ => fail 1 "wp_apply: not a WP"
     end)
  |tac_fail ltac:(fun _ => wp_apply_core lem tac_suc tac_fail)
  |let P := type of lem in fail "wp_apply: cannot apply" lem ":" P].
Tactic Notation "wp_apply" open_constr(lem) :=
  wp_apply_core lem ltac:(fun H => iApplyHyp H; try iNext; try wp_expr_simpl) ltac:(fun cont => fail).
Tactic Notation "wp_apply" open_constr(lem) "as" constr(pat) :=
  wp_apply lem; last iIntros pat.
Tactic Notation "wp_apply" open_constr(lem) "as" "(" simple_intropattern_list(xs) ")" constr(pat) :=
  wp_apply lem; last iIntros (xs) pat.

(** ** Effects *)
(** A load of one cell: [![t] l] at a type of one cell, or the bare effect. *)
Tactic Notation "wp_load" :=
  wp_pures;
  lazymatch goal with
  | |- envs_entails _ (wp ?b ?E ?e ?Q) =>
    first [ reshape_expr e ltac:(fun K e' => eapply (tac_wp_load _ _ b E _ K))
          | reshape_expr e ltac:(fun K e' => eapply (tac_wp_load_base _ _ b E _ K))
          | fail 1 "wp_load: cannot find a load in" e ];
    [ solve_later
    | let l := match goal with |- _ = Some (_, pointsto _ ?l _ _) => l end in
      iAssumptionCore || fail "wp_load: cannot find" l "↦[ _ ] ?"
    | rsimpl; wp_expr_simpl; pm_prettify ]
  end.
(** A store [l <-[t] v] at a type of one cell. *)
Tactic Notation "wp_store" :=
  wp_pures;
  lazymatch goal with
  | |- envs_entails _ (wp ?b ?E ?e ?Q) =>
    first [ reshape_expr e ltac:(fun K e' => eapply (tac_wp_store_base _ _ b E _ K))
          | fail 1 "wp_store: cannot find a store in" e ];
    [ solve_later
    | let l := match goal with |- _ = Some (_, pointsto _ ?l _ _) => l end in
      iAssumptionCore || fail "wp_store: cannot find" l "↦[ _ ] ?"
    | reduction.pm_reduce; rsimpl; wp_expr_simpl; pm_prettify ]
  end.
Tactic Notation "wp_end" := wp_pures.

(** ** Library functions that only take values apart *)
Global Instance unfold_slice_ptr : UnfoldFun slice_ptr := I.
Global Instance unfold_slice_len : UnfoldFun slice_len := I.
Global Instance unfold_slice_cap : UnfoldFun slice_cap := I.
Global Instance unfold_to_int w : UnfoldFun (to_int w) := I.
Global Instance unfold_string_len : UnfoldFun string_len := I.
Global Instance unfold_field_get d f : UnfoldFun (field_get d f) := I.
Global Instance unfold_fun_result : UnfoldFun fun_result := I.
Global Instance unfold_cond_signal : UnfoldFun cond_signal := I.
Global Instance unfold_cond_broadcast : UnfoldFun cond_broadcast := I.

Section test.
  Context `{!golangGS Σ}.
  Local Definition incr : val := λ: "l" "n", let: "x" := ![uint64T] "l" in "l" <-[uint64T] ("x" + "n");; slice_len ((#null, "x"), "x").
  Local Lemma wp_incr b l (n k : Z) : in_range U64 (n + k) →
    {{{ l ↦[b] #(u64 n) }}} incr #l #(u64 k) @ b; ⊤ {{{ RET #(u64 n); l ↦[b] #(u64 (n + k)) }}}.
  Proof.
    iIntros (Hr Φ) "Hl HΦ". wp_rec. wp_pures. wp_load. wp_store.
    wp_pures. iApply "HΦ". rewrite /wrap Z.mod_small //. 
  Qed.
End test.

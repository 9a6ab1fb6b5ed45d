(** * Semantics of the Go subset, with crashes

    An ordinary Iris language in which every thread is stamped with the node it
    runs on and the boot of that node in which it was started.  A crash is a step
    of the node's demon: it begins a new boot, wipes the node's memory, lets the
    devices forget what they may forget, and starts the boot program again.  A
    thread of an older boot can have no effect: at its next effect it is [Dead].

    [proofs/lang/plain.v] has the semantics that a reader should look at, where a
    crash simply kills threads; whatever is proved here holds there. *)
From iris.algebra Require Export ofe.
From iris.program_logic Require Export language ectx_language ectxi_language.
From ashlar.trusted Require Export devices.

(** A boot of a node. *)
Record boot := Boot { b_node : nat; b_epoch : nat }.
Definition next_boot (b : boot) : boot := Boot (b_node b) (S (b_epoch b)).

(** A memory cell: how many long reads are under way and its value, or in the
    middle of a write.  Touching a cell that is being written is a data race, and
    has no step. *)
Inductive cell := Reading (n : nat) (v : val) | Writing.

Inductive event := EvOut (node : nat) (v : val) | EvCrash (node : nat).

Record node_state := NodeState { epoch : nat; heap : gmap loc cell; dev : devices }.
Record state := State { nodes : list node_state; trace : list event }.

Module golang.

(** A thread, or what is left of a thread of an older boot. *)
Inductive sexpr := At (b : boot) (e : expr) | Dead.
Inductive sval := LiveV (b : boot) (v : val) | DeadV.

Definition sof_val (v : sval) : sexpr :=
  match v with LiveV b v => At b (Val v) | DeadV => Dead end.
Definition sto_val (e : sexpr) : option sval :=
  match e with At b (Val v) => Some (LiveV b v) | Dead => Some DeadV | _ => None end.

Inductive ectx_item :=
  | AppLCtx (v2 : val) | AppRCtx (e1 : expr)
  | UnOpCtx (op : un_op)
  | BinOpLCtx (op : bin_op) (v2 : val) | BinOpRCtx (op : bin_op) (e1 : expr)
  | IfCtx (e1 e2 : expr)
  | PairLCtx (v2 : val) | PairRCtx (e1 : expr) | FstCtx | SndCtx
  | InjLCtx | InjRCtx | CaseCtx (e1 e2 : expr)
  | EffCtx (op : eff_op).

Definition rfill_item (Ki : ectx_item) (e : expr) : expr :=
  match Ki with
  | AppLCtx v2 => App e (Val v2) | AppRCtx e1 => App e1 e
  | UnOpCtx op => UnOp op e
  | BinOpLCtx op v2 => BinOp op e (Val v2) | BinOpRCtx op e1 => BinOp op e1 e
  | IfCtx e1 e2 => If e e1 e2
  | PairLCtx v2 => Pair e (Val v2) | PairRCtx e1 => Pair e1 e
  | FstCtx => Fst e | SndCtx => Snd e
  | InjLCtx => InjL e | InjRCtx => InjR e | CaseCtx e1 e2 => Case e e1 e2
  | EffCtx op => Eff op e
  end.
Definition rfill (K : list ectx_item) (e : expr) : expr := foldl (flip rfill_item) e K.
Definition fill_item (Ki : ectx_item) (e : sexpr) : sexpr :=
  match e with At b e => At b (rfill_item Ki e) | Dead => Dead end.

(** ** Steps that neither see nor change the world *)
Inductive pstep : expr → expr → Prop :=
  | RecS f x e : pstep (Rec f x e) (Val $ RecV f x e)
  | BetaS f x e1 v2 e2 : e2 = subst' x v2 (subst' f (RecV f x e1) e1) →
     pstep (App (Val $ RecV f x e1) (Val v2)) e2
  | UnOpS op v w : un_op_eval op v = Some w → pstep (UnOp op (Val v)) (Val w)
  | BinOpS op v1 v2 w : bin_op_eval op v1 v2 = Some w → pstep (BinOp op (Val v1) (Val v2)) (Val w)
  | IfTrueS e1 e2 : pstep (If (Val $ LitV $ LitBool true) e1 e2) e1
  | IfFalseS e1 e2 : pstep (If (Val $ LitV $ LitBool false) e1 e2) e2
  | PairS v1 v2 : pstep (Pair (Val v1) (Val v2)) (Val $ PairV v1 v2)
  | FstS v1 v2 : pstep (Fst (Val $ PairV v1 v2)) (Val v1)
  | SndS v1 v2 : pstep (Snd (Val $ PairV v1 v2)) (Val v2)
  | InjLS v : pstep (InjL $ Val v) (Val $ InjLV v)
  | InjRS v : pstep (InjR $ Val v) (Val $ InjRV v)
  | CaseLS v e1 e2 : pstep (Case (Val $ InjLV v) e1 e2) (App e1 (Val v))
  | CaseRS v e1 e2 : pstep (Case (Val $ InjRV v) e1 e2) (App e2 (Val v)).

(** ** Effects of a live thread on its node and on the trace *)

(** Cells from [l] on that hold [vs]. *)
Fixpoint cells (l : loc) (vs : list val) : gmap loc cell :=
  match vs with [] => ∅ | v :: vs => <[l := Reading 0 v]> (cells (l +ₗ 1) vs) end.
Definition free_at (h : gmap loc cell) (l : loc) (n : nat) : Prop :=
  ∀ i : Z, (0 ≤ i < n)%Z → h !! (l +ₗ i) = None.
Definition byte_val (b : Z) : val := LitV (LitInt U8 b).

Definition arb_ok (a : arb) (v : val) : Prop :=
  match a with
  | ArbInt w => ∃ n, in_range w n ∧ v = LitV (LitInt w n)
  | ArbBool => ∃ b, v = LitV (LitBool b)
  | ArbBytes => ∃ s, Forall (in_range U8) s ∧ v = LitV (LitStr s)
  end.

(** [mem_step op v h w h']: the effects on memory. *)
Inductive mem_step : eff_op → val → gmap loc cell → val → gmap loc cell → Prop :=
  | AllocS n v vs l h : (0 ≤ n)%Z → val_list v = Some vs → free_at h l (Z.to_nat n * length vs) →
     mem_step AllocOp (PairV (LitV (LitInt I64 n)) v) h (LitV (LitLoc l))
       (cells l (concat (replicate (Z.to_nat n) vs)) ∪ h)
  | AllocBytesS s l h : free_at h l (length s) →
     mem_step AllocBytesOp (LitV (LitStr s)) h (LitV (LitLoc l)) (cells l (byte_val <$> s) ∪ h)
  | LoadS l k v h : h !! l = Some (Reading k v) →
     mem_step LoadOp (LitV (LitLoc l)) h v h
  | LoadBytesS l n s h : (0 ≤ n)%Z → length s = Z.to_nat n →
     (∀ (i : nat) b, s !! i = Some b → ∃ k, h !! (l +ₗ i) = Some (Reading k (byte_val b))) →
     mem_step LoadBytesOp (PairV (LitV (LitLoc l)) (LitV (LitInt I64 n))) h (LitV (LitStr s)) h
  | PrepareWriteS l v h : h !! l = Some (Reading 0 v) →
     mem_step PrepareWriteOp (LitV (LitLoc l)) h (LitV LitUnit) (<[l:=Writing]> h)
  | FinishStoreS l v h : h !! l = Some Writing →
     mem_step FinishStoreOp (PairV (LitV (LitLoc l)) v) h (LitV LitUnit) (<[l:=Reading 0 v]> h)
  | StartReadS l k v h : h !! l = Some (Reading k v) →
     mem_step StartReadOp (LitV (LitLoc l)) h v (<[l:=Reading (S k) v]> h)
  | FinishReadS l k v h : h !! l = Some (Reading (S k) v) →
     mem_step FinishReadOp (LitV (LitLoc l)) h (LitV LitUnit) (<[l:=Reading k v]> h)
  | CmpXchgS l v1 v2 w b h : h !! l = Some (Reading 0 w) → val_eqb w v1 = Some b →
     mem_step CmpXchgOp (PairV (LitV (LitLoc l)) (PairV v1 v2)) h (LitV (LitBool b))
       (if b then <[l:=Reading 0 v2]> h else h).

(** [choose_step op v w]: the environment's choices. *)
Inductive choose_step : eff_op → val → val → Prop :=
  | ArbS a v : arb_ok a v → choose_step (ArbOp a) (LitV LitUnit) v
  | PermuteS v l k : val_list v = Some l → l ≡ₚ k → choose_step PermuteOp v (list_val k).

Inductive estep (node : nat) : expr → node_state → list event → val → node_state → list event → list expr → Prop :=
  | MemS op v w ep h h' d t : mem_step op v h w h' →
     estep node (Eff op (Val v)) (NodeState ep h d) t w (NodeState ep h' d) t []
  | ChooseS op v w ns t : choose_step op v w →
     estep node (Eff op (Val v)) ns t w ns t []
  | EmitS v ns t :
     estep node (Eff EmitOp (Val v)) ns t (LitV (LitInt U64 (length t))) ns (t ++ [EvOut node v]) []
  | DevS op v w ep h d d' t : dev_step op v d w d' →
     estep node (Eff (DevOp op) (Val v)) (NodeState ep h d) t w (NodeState ep h d') t []
  | ForkS e ns t : estep node (Fork e) ns t (LitV LitUnit) ns t [e].

Definition eff_redex (e : expr) : bool :=
  match e with Eff _ (Val _) | Fork _ => true | _ => false end.

(** What a crash makes of a node. *)
Inductive node_crash : node_state → node_state → Prop :=
  | NodeCrash ep h d d' : dev_crash d d' → node_crash (NodeState ep h d) (NodeState (S ep) ∅ d').

Inductive head_step : sexpr → state → list Empty_set → sexpr → state → list sexpr → Prop :=
  | PureS b e e' σ : pstep e e' → head_step (At b e) σ [] (At b e') σ []
  | LiveS b e nds t ns v ns' t' efs :
     nds !! b_node b = Some ns → epoch ns = b_epoch b → estep (b_node b) e ns t v ns' t' efs →
     head_step (At b e) (State nds t) [] (At b (Val v)) (State (<[b_node b:=ns']> nds) t') (At b <$> efs)
  | StaleS b e nds t ns : nds !! b_node b = Some ns → epoch ns ≠ b_epoch b → eff_redex e →
     head_step (At b e) (State nds t) [] Dead (State nds t) []
  | CrashS b rec nds t ns ns' : nds !! b_node b = Some ns → node_crash ns ns' →
     head_step (At b (CrashLoop rec)) (State nds t) [] (At b (CrashLoop rec))
       (State (<[b_node b:=ns']> nds) (t ++ [EvCrash (b_node b)])) [At (Boot (b_node b) (epoch ns')) rec].

(** ** It is a language in the sense of Iris *)
Lemma sto_of_val v : sto_val (sof_val v) = Some v.
Proof. by destruct v. Qed.
Lemma sof_to_val e v : sto_val e = Some v → sof_val v = e.
Proof. destruct e as [b e|]; [destruct e=>//=; by intros [= <-]|by intros [= <-]]. Qed.
Global Instance fill_item_inj Ki : Inj (=) (=) (fill_item Ki).
Proof. intros [] []; destruct Ki; intros ?; simplify_eq/=; auto with f_equal. Qed.
Lemma fill_item_val Ki e : is_Some (sto_val (fill_item Ki e)) → is_Some (sto_val e).
Proof. intros [? ?]. destruct e as [b e|]; [|by eauto]. destruct Ki; simplify_option_eq; eauto. Qed.
Lemma estep_eff node e ns t v ns' t' efs : estep node e ns t v ns' t' efs → eff_redex e.
Proof. by destruct 1. Qed.
Lemma pstep_not_eff e e' : pstep e e' → eff_redex e = false.
Proof. by destruct 1. Qed.
Lemma eff_not_val b e : eff_redex e → sto_val (At b e) = None.
Proof. by destruct e. Qed.
Lemma val_head_stuck e1 σ1 κ e2 σ2 efs : head_step e1 σ1 κ e2 σ2 efs → sto_val e1 = None.
Proof.
  destruct 1; try done; [by destruct H| |by apply eff_not_val].
  eapply eff_not_val, estep_eff; done.
Qed.
Lemma eff_fill_val Ki e : eff_redex (rfill_item Ki e) → ∃ v, e = Val v.
Proof. destruct Ki; simpl; try done. destruct e; naive_solver. Qed.
Lemma pstep_fill_val Ki e e' : pstep (rfill_item Ki e) e' → ∃ v, e = Val v.
Proof. destruct Ki; inversion 1; eauto. Qed.
Lemma head_ctx_step_val Ki e σ1 κ e2 σ2 efs :
  head_step (fill_item Ki e) σ1 κ e2 σ2 efs → is_Some (sto_val e).
Proof.
  destruct e as [b e|]; [|simpl; eauto]. intros H; inversion H; subst.
  - edestruct pstep_fill_val as [? ->]; [done|]. eauto.
  - edestruct eff_fill_val as [? ->]; [by eapply estep_eff|]. eauto.
  - edestruct eff_fill_val as [? ->]; [done|]. eauto.
  - destruct Ki; simplify_eq/=.
Qed.
Lemma fill_item_no_val_inj Ki1 Ki2 e1 e2 :
  sto_val e1 = None → sto_val e2 = None →
  fill_item Ki1 e1 = fill_item Ki2 e2 → Ki1 = Ki2.
Proof.
  destruct e1 as [b1 e1|]; [|done]. destruct e2 as [b2 e2|]; [|done].
  revert Ki1. destruct Ki2; intros Ki1; destruct Ki1; naive_solver eauto with f_equal.
Qed.
Lemma golang_mixin : EctxiLanguageMixin sof_val sto_val fill_item head_step.
Proof.
  split; apply _ || eauto using sto_of_val, sof_to_val, val_head_stuck,
    fill_item_val, fill_item_no_val_inj, head_ctx_step_val.
Qed.
End golang.

Canonical Structure golang_ectxi_lang := EctxiLanguage golang.golang_mixin.
Canonical Structure golang_ectx_lang := EctxLanguageOfEctxi golang_ectxi_lang.
Canonical Structure golang_lang := LanguageOfEctx golang_ectx_lang.
Export golang.

Global Instance node_state_inhabited : Inhabited node_state := populate (NodeState 0 ∅ no_devices).
Global Instance state_inhabited : Inhabited state := populate (State [] []).

Lemma node_crash_exists ns : ∃ ns', node_crash ns ns'.
Proof. destruct ns as [ep h d]. destruct (dev_crash_exists d) as [d' ?]. eexists. by constructor. Qed.
Lemma node_crash_epoch ns ns' : node_crash ns ns' → epoch ns' = S (epoch ns).
Proof. by destruct 1. Qed.
Lemma estep_epoch node e ns t v ns' t' efs : estep node e ns t v ns' t' efs → epoch ns' = epoch ns.
Proof. by destruct 1. Qed.

(** ** Pure steps are deterministic and do not depend on the thread *)
Lemma pstep_deterministic e e1 e2 : pstep e e1 → pstep e e2 → e1 = e2.
Proof. destruct 1; inversion 1; naive_solver. Qed.
Lemma pstep_eff_contra e e' : pstep e e' → eff_redex e → False.
Proof. intros H%pstep_not_eff. by rewrite H. Qed.
Lemma pure_at b e e' : pstep e e' → PureExec (Λ:=golang_lang) True 1 (At b e) (At b e').
Proof.
  intros Hp _. apply nsteps_once, pure_head_step_pure_step. split.
  - intros σ. exists (At b e'), σ, []. by constructor.
  - intros σ κ e2 σ2 efs H. inversion H; subst.
    + match goal with H : pstep e ?x |- _ => by rewrite (pstep_deterministic _ _ _ Hp H) end.
    + exfalso. eapply pstep_eff_contra; [done|]. by eapply estep_eff.
    + exfalso. by eapply pstep_eff_contra.
    + inversion Hp.
Qed.
Lemma fill_At K b e : fill (Λ:=golang_ectxi_lang) K (At b e) = At b (rfill K e).
Proof. revert e. induction K as [|Ki K IH]; intros e; simpl; [done|]. apply IH. Qed.
Lemma fill_Dead K : fill (Λ:=golang_ectxi_lang) K Dead = Dead.
Proof. induction K as [|Ki K IH]; simpl; done. Qed.
Lemma rfill_app K K' e : rfill (K ++ K') e = rfill K' (rfill K e).
Proof. unfold rfill. by rewrite foldl_app. Qed.

Lemma eff_atomic b e : eff_redex e → Atomic (Λ:=golang_lang) StronglyAtomic (At b e).
Proof.
  intros Heff. apply ectx_language_atomic.
  - intros σ e' κ σ' efs H. inversion H; subst; try done; try (eexists; reflexivity).
    exfalso. by eapply pstep_eff_contra.
  - apply ectxi_language_sub_redexes_are_values. intros Ki [b' e'|] He; [|eauto].
    simpl in He. simplify_eq. edestruct eff_fill_val as [v ->]; [done|]. eauto.
Qed.

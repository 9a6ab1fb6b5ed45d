(** * The plain semantics: what a reader of the theorems should look at

    A system of nodes.  Each node has a memory, devices, and a program that it
    runs at every boot.  A thread is an expression on a node.  A crash of a node
    kills its threads, wipes its memory, lets its devices forget what they may
    forget, and starts its program again.  No stamps, no dead threads.

    [plain_transfer]: what holds of all executions of the stamped semantics, in
    which the proofs are done, holds of all executions of this one. *)
From iris.program_logic Require Import language ectx_language ectxi_language.
From ashlar.lang Require Export semantics.
Local Open Scope nat_scope.

(** A step of a thread of node [n]: the threads it starts are on the same node. *)
Inductive thread_step (n : nat) : expr → state → expr → state → list expr → Prop :=
  | ThreadPure K e e' σ : pstep e e' →
     thread_step n (rfill K e) σ (rfill K e') σ []
  | ThreadEff K e nds t ns v ns' t' efs :
     nds !! n = Some ns → estep n e ns t v ns' t' efs →
     thread_step n (rfill K e) (State nds t) (rfill K (Val v)) (State (<[n:=ns']> nds) t') efs.

(** The threads that run, each with its node. *)
Notation pool := (list (nat * expr)).

(** [mains]: the boot program of each node. *)
Inductive plain_step (mains : list expr) : pool * state → pool * state → Prop :=
  | PlainThread t1 n e t2 σ e' σ' efs : thread_step n e σ e' σ' efs →
     plain_step mains (t1 ++ (n, e) :: t2, σ) (t1 ++ (n, e') :: t2 ++ (pair n <$> efs), σ')
  | PlainCrash n main tp nds t ns ns' :
     mains !! n = Some main → nds !! n = Some ns → node_crash ns ns' →
     plain_step mains (tp, State nds t)
       (filter (λ p, p.1 ≠ n) tp ++ [(n, main)], State (<[n:=ns']> nds) (t ++ [EvCrash n])).

(** Power on: every node runs its boot program; memory is empty, nothing has
    happened yet.  [dvs]: the devices of each node. *)
Definition init_pool (mains : list expr) : pool := imap pair mains.
Definition init_state (dvs : list devices) : state := State (NodeState 0 ∅ <$> dvs) [].

(** A thread that is not done can go on: no panic of Go, no data race, no misuse
    of a lock or a device. *)
Definition plain_reducible (n : nat) (e : expr) (σ : state) : Prop :=
  ∃ e' σ' efs, thread_step n e σ e' σ' efs.
Definition plain_safe (p : nat * expr) (σ : state) : Prop :=
  (∃ v, p.2 = Val v) ∨ plain_reducible p.1 p.2 σ.

(** ** Programs: expressions in which no demon occurs *)
Fixpoint no_demon (e : expr) : bool :=
  match e with
  | Val v => no_demon_val v
  | Var _ => true
  | Rec _ _ e | UnOp _ e | Fst e | Snd e | InjL e | InjR e | Fork e | Eff _ e => no_demon e
  | App e1 e2 | BinOp _ e1 e2 | Pair e1 e2 => no_demon e1 && no_demon e2
  | If e0 e1 e2 | Case e0 e1 e2 => no_demon e0 && no_demon e1 && no_demon e2
  | CrashLoop _ => false
  end
with no_demon_val (v : val) : bool :=
  match v with
  | LitV _ => true
  | RecV _ _ e => no_demon e
  | PairV v1 v2 => no_demon_val v1 && no_demon_val v2
  | InjLV v | InjRV v => no_demon_val v
  end.
Definition no_demon_cell (c : cell) : bool :=
  match c with Reading _ v => no_demon_val v | Writing => true end.
Definition no_demon_heap (h : gmap loc cell) : Prop := map_Forall (λ _ c, no_demon_cell c) h.
Definition no_demon_config (c : pool * state) : Prop :=
  Forall (λ p, no_demon p.2) c.1 ∧ Forall (λ ns, no_demon_heap (heap ns)) (nodes c.2).

Local Ltac split_demon :=
  repeat match goal with
  | H : Is_true (_ && _) |- _ => apply andb_prop_elim in H as [??]
  | |- Is_true (_ && _) => apply andb_prop_intro; split
  end.

Lemma no_demon_subst x v e : no_demon_val v → no_demon e → no_demon (subst x v e).
Proof.
  intros Hv. induction e; simpl; intros He; split_demon; repeat case_decide; simpl; auto.
Qed.
Lemma no_demon_subst' b v e : no_demon_val v → no_demon e → no_demon (subst' b v e).
Proof. destruct b; simpl; [done|]. apply no_demon_subst. Qed.

Lemma no_demon_rfill_item Ki e : no_demon (rfill_item Ki e) →
  no_demon e ∧ ∀ e', no_demon e' → no_demon (rfill_item Ki e').
Proof. destruct Ki; simpl; intros H; split_demon; split; auto; intros; split_demon; auto. Qed.
Lemma no_demon_rfill K e : no_demon (rfill K e) →
  no_demon e ∧ ∀ e', no_demon e' → no_demon (rfill K e').
Proof.
  revert e. induction K as [|Ki K IH]; intros e; simpl; [done|].
  intros [[? ?]%no_demon_rfill_item ?]%IH. split; auto.
Qed.


Lemma no_demon_map_get m k v : map_get m k = Some v → no_demon_val m → no_demon_val v.
Proof.
  revert m v. fix IH 1. intros m v; destruct m as [| | | |m]; simpl; intros Hget Hm; simplify_eq/=; [done|].
  destruct m as [| |[| |k1 v1| |] rest| |]; simplify_eq/=.
  destruct (val_eqb k1 k) as [[]|]; simplify_eq/=; split_demon; [done|]. by apply (IH rest v).
Qed.
Lemma no_demon_map_del m k m' : map_del m k = Some m' → no_demon_val m → no_demon_val m'.
Proof.
  revert m m'. fix IH 1. intros m m'; destruct m as [| | | |m]; simpl; intros Hdel Hm; simplify_eq/=; [done|].
  destruct m as [| |[| |k1 v1| |] rest| |]; simplify_eq/=.
  destruct (val_eqb k1 k) as [[]|]; simplify_eq/=; split_demon; [by apply (IH rest)|].
  destruct (map_del rest k) as [r|] eqn:Hrest; simplify_eq/=. split_demon; [done..|].
  by apply (IH rest).
Qed.
Lemma no_demon_list_val l : no_demon_val (list_val l) ↔ Forall no_demon_val l.
Proof.
  induction l as [|v l IH]; simpl; [done|]. rewrite Forall_cons -IH andb_True. done.
Qed.
Lemma no_demon_val_list v l : val_list v = Some l → no_demon_val v → Forall no_demon_val l.
Proof.
  revert v l. fix IH 1. intros v l; destruct v as [[]| | |[[]| | | |]|[| |h t| |]]; simpl; intros Hl Hv; simplify_eq/=; [done|].
  destruct (val_list t) as [l'|] eqn:Ht; simplify_eq/=. split_demon. constructor; [done|].
  by apply (IH t).
Qed.

Lemma no_demon_un_op op v w : un_op_eval op v = Some w → no_demon_val v → no_demon_val w.
Proof.
  destruct op; simpl; try (repeat case_match; intros; simplify_eq/=; done).
  - by intros (l & _ & ->)%fmap_Some_1.
  - by intros (l & _ & ->)%fmap_Some_1.
Qed.
Lemma no_demon_bin_op op v1 v2 w :
  bin_op_eval op v1 v2 = Some w → no_demon_val v1 → no_demon_val v2 → no_demon_val w.
Proof.
  intros Hop H1 H2. destruct op;
    try (simpl in Hop; repeat case_match; simplify_eq/=;
         repeat match goal with H : _ <$> _ = Some _ |- _ => apply fmap_Some_1 in H as (?&_&->) end; done).
  - assert (map_get v1 v2 = Some w) by (destruct v1 as [[]| | | |], v2 as [[]| | | |]; done).
    by eapply no_demon_map_get.
  - assert (∃ k v, v2 = PairV k v ∧ map_set v1 k v = Some w) as (k & v & -> & Hset).
    { destruct v1 as [[]| | | |], v2 as [[]| | | |];
      first [discriminate Hop|simpl in Hop; case_decide; discriminate Hop|do 2 eexists; split; [reflexivity|exact Hop]]. }
    unfold map_set in Hset. destruct (map_del v1 k) as [r|] eqn:Hdel; simplify_eq/=.
    split_demon; [done..|]. by eapply no_demon_map_del.
  - assert (map_del v1 v2 = Some w) by (destruct v1 as [[]| | | |], v2 as [[]| | | |]; done).
    by eapply no_demon_map_del.
Qed.
Lemma no_demon_pstep e e' : pstep e e' → no_demon e → no_demon e'.
Proof.
  destruct 1; simpl; intros He; split_demon; try done; subst.
  - apply no_demon_subst'; [done|]. by apply no_demon_subst'.
  - by eapply no_demon_un_op.
  - by eapply no_demon_bin_op.
Qed.

(** Effects give back what was put into memory, or literals. *)
Lemma no_demon_dev_step op v d w d' : dev_step op v d w d' → no_demon_val w.
Proof.
  destruct 1 as [????? H|????? H|????? H|????? H]; destruct H; simpl; try done.
  apply no_demon_list_val, Forall_fmap, Forall_true. done.
Qed.
Lemma no_demon_cells l vs h : Forall no_demon_val vs → no_demon_heap h → no_demon_heap (cells l vs ∪ h).
Proof.
  intros Hvs Hh. apply map_Forall_union_2; [|done].
  revert l. induction Hvs as [|v vs Hv _ IH]; intros l; simpl; [apply map_Forall_empty|].
  by apply map_Forall_insert_2.
Qed.
Lemma no_demon_mem_step op v h w h' :
  mem_step op v h w h' → no_demon_val v → no_demon_heap h → no_demon_val w ∧ no_demon_heap h'.
Proof.
  assert (∀ l c, no_demon_cell c → no_demon_heap h → no_demon_heap (<[l:=c]> h)) as Hins.
  { intros l c ? ?. by apply map_Forall_insert_2. }
  assert (∀ l k u, h !! l = Some (Reading k u) → no_demon_heap h → no_demon_val u) as Hlook.
  { intros l k u Hl Hh. by apply (Hh l _ Hl). }
  destruct 1; simpl; intros Hv Hh; split_demon; try (split; [done|by eauto]); try by eauto.
  - split; [done|]. apply no_demon_cells; [|done].
    apply Forall_concat, Forall_replicate. by eapply no_demon_val_list.
  - split; [done|]. apply no_demon_cells; [|done]. apply Forall_fmap, Forall_true. done.
  - split; [done|]. destruct b; [|done]. by apply Hins.
Qed.
Lemma no_demon_estep n e ns t v ns' t' efs :
  estep n e ns t v ns' t' efs → no_demon e → no_demon_heap (heap ns) →
  no_demon_val v ∧ no_demon_heap (heap ns') ∧ Forall no_demon efs.
Proof.
  destruct 1 as [op v w ep h h' d t Hm|op v w ns t Hc| |op v w ep h d d' t Hd|]; simpl; intros He Hh.
  - edestruct no_demon_mem_step as [??]; [done..|]. by split_and!.
  - split_and!; [|done..]. destruct Hc as [a v Ha|v l k Hl Hk].
    + destruct a; simpl in Ha; destruct_and?; naive_solver.
    + apply no_demon_list_val. rewrite -Hk. by eapply no_demon_val_list.
  - by split_and!.
  - split_and!; [|done..]. by eapply no_demon_dev_step.
  - split_and!; [done..|]. by constructor.
Qed.

Lemma no_demon_thread_step n e σ e' σ' efs :
  thread_step n e σ e' σ' efs → no_demon e → Forall (λ ns, no_demon_heap (heap ns)) (nodes σ) →
  no_demon e' ∧ Forall no_demon efs ∧ Forall (λ ns, no_demon_heap (heap ns)) (nodes σ').
Proof.
  destruct 1 as [K e e' σ Hp|K e nds t ns v ns' t' efs Hns He]; intros [Hd Hfill]%no_demon_rfill Hσ.
  - split_and!; [|done..]. apply Hfill. by eapply no_demon_pstep.
  - simpl in Hσ. pose proof (Forall_lookup_1 _ _ _ _ Hσ Hns) as Hh.
    edestruct no_demon_estep as (?&?&?); [done..|]. simpl.
    split_and!; [by apply Hfill|done|]. by apply Forall_insert.
Qed.
Lemma no_demon_plain_step mains c c' :
  Forall no_demon mains → plain_step mains c c' → no_demon_config c → no_demon_config c'.
Proof.
  intros Hmains Hst [Htp Hσ].
  destruct Hst as [t1 n e t2 σ e' σ' efs Hst|n main tp nds t ns ns' Hmain Hns Hc]; simpl in *.
  - apply Forall_app in Htp as [Ht1 [He Ht2]%Forall_cons].
    edestruct no_demon_thread_step as (?&?&?); [done..|]. split; simpl; [|done].
    apply Forall_app; split; [done|]. apply Forall_cons; split; [done|].
    apply Forall_app; split; [done|]. by apply Forall_fmap.
  - split; simpl.
    + apply Forall_app; split; [|by repeat constructor; apply (Forall_lookup_1 _ _ _ _ Hmains Hmain)].
      apply Forall_forall. intros p [_ Hp]%elem_of_list_filter. by eapply Forall_forall in Htp.
    + apply Forall_insert; [done|]. destruct Hc. apply map_Forall_empty.
Qed.
Lemma no_demon_init mains dvs : Forall no_demon mains → no_demon_config (init_pool mains, init_state dvs).
Proof.
  intros Hmains. split; simpl.
  - apply Forall_lookup. intros i p (e & He & ->)%list_lookup_imap_Some.
    by apply (Forall_lookup_1 _ _ _ _ Hmains He).
  - apply Forall_fmap, Forall_true. intros dv. apply map_Forall_empty.
Qed.

(** ** Every plain execution is matched by a stamped one *)

(** Where the stamped execution begins: with a demon per node, and its first boot. *)
Definition demons (mains : list expr) : list sexpr :=
  imap (λ n main, At (Boot n 0) (CrashLoop main)) mains.
Definition stamped_init (mains : list expr) : list sexpr :=
  demons mains ++ imap (λ n main, At (Boot n 0) main) mains.

(** A thread that runs is of the present boot of its node; the others are [ds]. *)
Definition boot_of (σ : state) (n : nat) : boot := Boot n (from_option epoch 0 (nodes σ !! n)).
Definition stamp (σ : state) (p : nat * expr) : sexpr := At (boot_of σ p.1) p.2.
Definition matched (mains : list expr) (es : list sexpr) (tp : pool) (σ : state) : Prop :=
  ∃ ds, es ≡ₚ demons mains ++ ds ++ (stamp σ <$> tp).

Lemma stamp_insert_same nds t t' n ns ns' p :
  nds !! n = Some ns → epoch ns' = epoch ns →
  stamp (State (<[n:=ns']> nds) t') p = stamp (State nds t) p.
Proof.
  intros Hns Hep. unfold stamp, boot_of; simpl. do 2 f_equal.
  destruct (decide (p.1 = n)) as [->|Hne].
  - rewrite list_lookup_insert; [by rewrite Hns|by eapply lookup_lt_Some].
  - by rewrite list_lookup_insert_ne.
Qed.
Lemma stamp_insert_ne nds t t' n ns' p :
  p.1 ≠ n → stamp (State (<[n:=ns']> nds) t') p = stamp (State nds t) p.
Proof. intros Hne. unfold stamp, boot_of; simpl. by rewrite list_lookup_insert_ne. Qed.

Lemma erased_step_in_pool K e1 e2 σ1 σ2 efs (t1 t2 : list sexpr) :
  head_step e1 σ1 [] e2 σ2 efs →
  erased_step (Λ := golang_lang) (t1 ++ fill (Λ := golang_ectxi_lang) K e1 :: t2, σ1)
    (t1 ++ fill (Λ := golang_ectxi_lang) K e2 :: t2 ++ efs, σ2).
Proof.
  intros H. exists []. econstructor; [reflexivity|reflexivity|].
  by apply (Ectx_step (Λ := golang_ectx_lang) K e1 e2).
Qed.

(** A step of one thread among others, in whatever order they come. *)
Lemma erased_step_of K e1 e2 σ1 σ2 efs (es others : list sexpr) :
  head_step e1 σ1 [] e2 σ2 efs → es ≡ₚ fill (Λ := golang_ectxi_lang) K e1 :: others →
  ∃ es', erased_step (Λ := golang_lang) (es, σ1) (es', σ2) ∧
    es' ≡ₚ fill (Λ := golang_ectxi_lang) K e2 :: others ++ efs.
Proof.
  intros Hst Hes. pose proof (erased_step_in_pool K _ _ _ _ _ [] others Hst) as Hpool.
  symmetry in Hes. destruct (erased_step_Permutation _ _ _ _ _ Hes Hpool) as (es' & Heq & ?).
  exists es'. split; [done|]. by symmetry.
Qed.

Lemma thread_step_sim mains es t1 n e t2 σ e' σ' efs :
  thread_step n e σ e' σ' efs → matched mains es (t1 ++ (n, e) :: t2) σ →
  ∃ es', erased_step (Λ := golang_lang) (es, σ) (es', σ') ∧
    matched mains es' (t1 ++ (n, e') :: t2 ++ (pair n <$> efs)) σ'.
Proof.
  intros Hst [ds Hes]. rewrite fmap_app fmap_cons in Hes.
  set (others := demons mains ++ ds ++ (stamp σ <$> t1) ++ (stamp σ <$> t2)).
  assert (es ≡ₚ stamp σ (n, e) :: others) as Hes'.
  { rewrite Hes /others. solve_Permutation. }
  destruct Hst as [K e e' σ Hp|K e nds t ns v ns' t' efs Hns He].
  - destruct (erased_step_of K (At (boot_of σ n) e) (At (boot_of σ n) e') σ σ [] es others)
      as (es' & Hst & Heq); [by constructor|by rewrite fill_At|].
    exists es'. split; [done|]. exists ds. rewrite Heq fill_At /others.
    rewrite fmap_app fmap_cons fmap_app. solve_Permutation.
  - set (σ := State nds t) in *. set (σ' := State (<[n:=ns']> nds) t').
    assert (∀ tp : pool, stamp σ' <$> tp = stamp σ <$> tp) as Hstamp.
    { intros tp. apply list_fmap_ext. intros _ p _.
      eapply stamp_insert_same; [done|]. by eapply estep_epoch. }
    destruct (erased_step_of K (At (boot_of σ n) e) (At (boot_of σ n) (Val v)) σ σ' (At (boot_of σ n) <$> efs) es others)
      as (es' & Hst & Heq); [|by rewrite fill_At|].
    { assert (boot_of σ n = Boot n (epoch ns)) as ->; [by rewrite /boot_of /= Hns|].
      eapply (LiveS (Boot n (epoch ns))); done. }
    exists es'. split; [done|]. exists ds. rewrite Hstamp Heq fill_At /others.
    rewrite fmap_app fmap_cons fmap_app -list_fmap_compose. solve_Permutation.
Qed.

Lemma pool_split (n : nat) (tp : pool) :
  tp ≡ₚ filter (λ p, p.1 = n) tp ++ filter (λ p, p.1 ≠ n) tp.
Proof.
  induction tp as [|p tp IH]; [done|]. destruct (decide (p.1 = n)) as [Hn|Hn].
  - rewrite (filter_cons_True (λ p, p.1 = n)) // (filter_cons_False (λ p, p.1 ≠ n)); [|by intros ?].
    by rewrite {1}IH.
  - rewrite (filter_cons_False (λ p, p.1 = n)) // (filter_cons_True (λ p, p.1 ≠ n)) //.
    rewrite {1}IH. solve_Permutation.
Qed.
Lemma crash_sim mains es n main tp nds t ns ns' :
  mains !! n = Some main → nds !! n = Some ns → node_crash ns ns' →
  matched mains es tp (State nds t) →
  ∃ es', erased_step (Λ := golang_lang) (es, State nds t)
      (es', State (<[n:=ns']> nds) (t ++ [EvCrash n])) ∧
    matched mains es' (filter (λ p, p.1 ≠ n) tp ++ [(n, main)]) (State (<[n:=ns']> nds) (t ++ [EvCrash n])).
Proof.
  intros Hmain Hns Hc [ds Hes]. set (σ := State nds t) in *.
  set (σ' := State (<[n:=ns']> nds) (t ++ [EvCrash n])).
  assert (demons mains !! n = Some (At (Boot n 0) (CrashLoop main))) as Hdemon.
  { by rewrite /demons list_lookup_imap Hmain. }
  apply elem_of_list_lookup_2, elem_of_Permutation in Hdemon as [ds0 Hds0].
  destruct (erased_step_of [] (At (Boot n 0) (CrashLoop main)) (At (Boot n 0) (CrashLoop main))
    σ σ' [At (Boot n (epoch ns')) main] es (ds0 ++ ds ++ (stamp σ <$> tp))) as (es' & Hst & Heq).
  { by eapply (CrashS (Boot n 0)). }
  { by rewrite Hes Hds0. }
  exists es'. split; [done|]. exists (ds ++ (stamp σ <$> filter (λ p, p.1 = n) tp)).
  rewrite Heq Hds0 /=. f_equiv. rewrite fmap_app /=.
  assert (stamp σ' (n, main) = At (Boot n (epoch ns')) main) as ->.
  { rewrite /stamp /boot_of /= list_lookup_insert; [done|by eapply lookup_lt_Some]. }
  assert (stamp σ' <$> filter (λ p, p.1 ≠ n) tp = stamp σ <$> filter (λ p, p.1 ≠ n) tp) as ->.
  { apply list_fmap_ext. intros i p [Hne _]%elem_of_list_lookup_2%elem_of_list_filter.
    by apply stamp_insert_ne. }
  rewrite {1}(pool_split n tp) fmap_app. solve_Permutation.
Qed.

Lemma step_sim mains es c c' :
  plain_step mains c c' → matched mains es c.1 c.2 →
  ∃ es', erased_step (Λ := golang_lang) (es, c.2) (es', c'.2) ∧ matched mains es' c'.1 c'.2.
Proof. destruct 1; simpl; intros Hes; [by eapply thread_step_sim|by eapply crash_sim]. Qed.

Lemma stamp_init mains dvs :
  stamp (init_state dvs) <$> init_pool mains = imap (λ n main, At (Boot n 0) main) mains.
Proof.
  apply list_eq. intros i. rewrite list_lookup_fmap !list_lookup_imap.
  destruct (mains !! i); [|done]. simpl. unfold stamp, boot_of; simpl. do 3 f_equal.
  rewrite list_lookup_fmap. by destruct (dvs !! i).
Qed.
Lemma plain_sim mains dvs c :
  rtc (plain_step mains) (init_pool mains, init_state dvs) c →
  ∃ es, rtc (erased_step (Λ := golang_lang)) (stamped_init mains, init_state dvs) (es, c.2) ∧
    matched mains es c.1 c.2.
Proof.
  revert c. apply rtc_ind_r.
  - eexists. split; [done|]. exists []. by rewrite /= stamp_init.
  - intros c c' _ Hst (es & Hrtc & Hes). destruct (step_sim _ _ _ _ Hst Hes) as (es' & ? & ?).
    exists es'. split; [by eapply rtc_r|done].
Qed.

(** ** Transfer *)
Lemma not_stuck_plain n e σ :
  not_stuck (Λ := golang_lang) (stamp σ (n, e)) σ → no_demon e → plain_safe (n, e) σ.
Proof.
  intros [[v Hv]|(κ & e' & σ' & efs & Hst)] Hnd.
  { left. simpl in *. destruct e; simplify_eq/=; eauto. }
  right. simpl. inversion Hst as [K e1 e2 Hf1 Hf2 Hh]; subst.
  destruct e1 as [b e1|]; [|inversion Hh].
  simpl in Hf1. rewrite fill_At in Hf1. injection Hf1 as Hb ->.
  inversion Hh as [b' e0 e'' σ0 Hp|b' e0 nds t ns v ns' t' efs' Hns Hep He|b' e0 nds t ns Hns Hep Hr|
    b' main nds t ns ns' Hns Hc]; subst.
  - do 3 eexists. by eapply ThreadPure.
  - do 3 eexists. by eapply ThreadEff.
  - exfalso. apply Hep. simpl in *. by rewrite Hns.
  - exfalso. by apply no_demon_rfill in Hnd as [[] _].
Qed.

(** What holds of all stamped executions holds of all plain ones: a property [φ]
    of what was observed, and that no thread is ever stuck. *)
Theorem plain_transfer mains dvs (φ : list event → Prop) :
  Forall no_demon mains →
  (∀ es σ, rtc (erased_step (Λ := golang_lang)) (stamped_init mains, init_state dvs) (es, σ) →
     φ (trace σ) ∧ ∀ e, e ∈ es → not_stuck e σ) →
  ∀ tp σ, rtc (plain_step mains) (init_pool mains, init_state dvs) (tp, σ) →
     φ (trace σ) ∧ ∀ p, p ∈ tp → plain_safe p σ.
Proof.
  intros Hmains Hstamped tp σ Hrtc.
  assert (no_demon_config (tp, σ)) as [Hnd _].
  { revert Hrtc. generalize (tp, σ). apply rtc_ind_r; [by apply no_demon_init|].
    intros c c' _ Hst Hc. by eapply no_demon_plain_step. }
  destruct (plain_sim _ _ _ Hrtc) as (es & Hes & ds & Hmatched). simpl in *.
  destruct (Hstamped _ _ Hes) as [Hφ Hns]. split; [done|].
  intros [n e] Hp. apply not_stuck_plain.
  - apply Hns. rewrite Hmatched !elem_of_app. right; right. by apply elem_of_list_fmap_1.
  - by eapply (proj1 (Forall_forall _ _) Hnd (n, e)).
Qed.

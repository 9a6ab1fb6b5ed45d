(** * The interpreter does what the semantics says

    [interp_sound]: what the interpreter reaches, the plain semantics reaches; and
    a thread that it calls stuck is neither done nor has a step. *)
From ashlar.lang Require Export interp_ops.
Open Scope Z_scope.

(** ** Pure steps *)

(** A pure step inside a context. *)
Definition pure_in (e e' : expr) : Prop :=
  ∃ K e0 e0', e = rfill K e0 ∧ pstep e0 e0' ∧ e' = rfill K e0'.
(** An expression in which nothing can happen first. *)
Definition stuck_redex (r : expr) : Prop :=
  (∀ e', ¬ pstep r e') ∧ eff_redex r = false ∧ (∀ v, r ≠ Val v) ∧
  ∀ Ki e, r = rfill_item Ki e → ∃ v, e = Val v.

Definition machine_ok (e : expr) (m : machine) : Prop :=
  match m with
  | MPure K' e' => rtc pure_in e (rfill K' e')
  | MEff K' op v => rtc pure_in e (rfill K' (Eff op (Val v)))
  | MFork K' e' => rtc pure_in e (rfill K' (Fork e'))
  | MVal v => rtc pure_in e (Val v)
  | MStuck K' r => rtc pure_in e (rfill K' r) ∧ (no_demon e → stuck_redex r)
  end.

Lemma machine_ok_pure K e e' : pstep e e' → machine_ok (rfill K e) (MPure K e').
Proof. intros. apply rtc_once. by exists K, e, e'. Qed.

Local Ltac solve_stuck :=
  split_and!; [by inversion 1|done|done|]; intros [] ?; simpl; intros; simplify_eq; eauto.

Lemma machine_return_ok Ki v K : machine_ok (rfill (Ki :: K) (Val v)) (machine_return Ki v K).
Proof.
  assert (∀ r, r = rfill_item Ki (Val v) → stuck_redex r →
    machine_ok (rfill (Ki :: K) (Val v)) (MStuck K r)) as Hstuck.
  { intros r -> ?. by split. }
  assert (∀ e', pstep (rfill_item Ki (Val v)) e' → machine_ok (rfill (Ki :: K) (Val v)) (MPure K e')) as Hpure.
  { intros e'. apply (machine_ok_pure K). }
  destruct Ki as [v2|e1|op|op v2|op e1|e1 e2|v2|e1| | | | |e1 e2|op]; cbn -[machine_ok rfill];
    try apply rtc_refl.
  - destruct v as [| f x e1| | |]; try (apply Hstuck; [done|]; solve_stuck). by apply Hpure; constructor.
  - rewrite fast_un_op_eq. destruct (un_op_eval op v) eqn:Hop; [by apply Hpure; constructor|].
    apply Hstuck; [done|]. split_and!; [inversion 1; congruence|done|done|].
    intros [] ?; simpl; intros; simplify_eq; eauto.
  - rewrite fast_bin_op_eq. destruct (bin_op_eval op v v2) eqn:Hop; [by apply Hpure; constructor|].
    apply Hstuck; [done|]. split_and!; [inversion 1; congruence|done|done|].
    intros [] ?; simpl; intros; simplify_eq; eauto.
  - destruct v as [[| [] | | | |]| | | |]; try (apply Hstuck; [done|]; solve_stuck);
      by apply Hpure; constructor.
  - by apply Hpure; constructor.
  - destruct v as [| |v1 v2| |]; try (apply Hstuck; [done|]; solve_stuck). by apply Hpure; constructor.
  - destruct v as [| |v1 v2| |]; try (apply Hstuck; [done|]; solve_stuck). by apply Hpure; constructor.
  - by apply Hpure; constructor.
  - by apply Hpure; constructor.
  - destruct v as [| | |v|v]; try (apply Hstuck; [done|]; solve_stuck); by apply Hpure; constructor.
Qed.

Lemma machine_step_ok K e : machine_ok (rfill K e) (machine_step K e).
Proof.
  destruct e; cbn -[rfill machine_ok]; try apply rtc_refl.
  - destruct K as [|Ki K]; [apply rtc_refl|]. apply machine_return_ok.
  - split; [done|]. intros _. solve_stuck.
  - apply machine_ok_pure. constructor.
  - split; [done|]. by intros [[] _]%no_demon_rfill.
Qed.

Lemma pure_in_no_demon e e' : rtc pure_in e e' → no_demon e → no_demon e'.
Proof.
  induction 1 as [|e1 e2 e3 (K & e & e' & -> & Hp & ->) _ IH]; [done|].
  intros [Hd Hfill]%no_demon_rfill. apply IH, Hfill. by eapply no_demon_pstep.
Qed.
Lemma machine_ok_trans e1 e2 m : rtc pure_in e1 e2 → machine_ok e2 m → machine_ok e1 m.
Proof.
  intros H12. destruct m as [| | | |K r]; try by apply rtc_transitive.
  intros (Hr & Hs). split; [by etrans|]. intros Hd. apply Hs. by eapply pure_in_no_demon.
Qed.
Lemma advance_ok fuel K e : machine_ok (rfill K e) (advance fuel K e).
Proof.
  revert K e. induction fuel as [|fuel IH]; intros K e; [apply rtc_refl|].
  cbn -[rfill machine_ok machine_step]. pose proof (machine_step_ok K e) as Hstep.
  destruct (machine_step K e) as [K' e'| | | |]; try done. by eapply machine_ok_trans.
Qed.

(** ** Effects *)
Lemma eff_run_ok ch n op v ns t next w ns' t' k :
  eff_run ch n op v ns t next = Some (w, ns', t', k) → estep n (Eff op (Val v)) ns t w ns' t' [].
Proof.
  destruct ns as [ep h d]. intros Hrun.
  assert ((∃ r, mem_run op v h next = Some r ∧ (w, ns', t', k) = (r.1.1, NodeState ep r.1.2 d, t, r.2)) →
    estep n (Eff op (Val v)) (NodeState ep h d) t w ns' t' []) as Hmem.
  { intros ([[w' h'] k'] & Hr%mem_run_ok & [= -> -> -> ->]). by constructor. }
  destruct op as [| | | | | | | | |a| | |op]; try by apply Hmem, fmap_Some_1.
  - destruct v as [[]| | | |]; simplify_eq/=. apply ChooseS. constructor. apply arb_run_ok.
  - apply fmap_Some_1 in Hrun as (l & Hl & [= -> -> -> ->]). apply ChooseS. by econstructor; [|apply shuffle_ok].
  - injection Hrun as <- <- <- <-. constructor.
  - apply fmap_Some_1 in Hrun as ([w' d'] & Hr%dev_run_ok & [= -> -> -> ->]). by constructor.
Qed.
Lemma eff_run_stuck ch n op v ns t next w ns' t' efs :
  eff_run ch n op v ns t next = None → ¬ estep n (Eff op (Val v)) ns t w ns' t' efs.
Proof.
  intros Hrun Hstep. inversion Hstep as [op' v' w' ep h h' d t0 Hm|op' v' w' ns0 t0 Hc| |op' v' w' ep h d d' t0 Hd|]; subst.
  - assert (mem_run op v h next = None) as Hnone; [|by eapply mem_run_stuck].
    destruct Hm; simpl in Hrun |- *; try done; by apply fmap_None in Hrun.
  - destruct Hc as [a v0 Ha|v0 l k0 Hl Hk]; simpl in Hrun; [done|]. by rewrite Hl in Hrun.
  - done.
  - simpl in Hrun. apply fmap_None in Hrun. by eapply dev_run_stuck.
Qed.

(** ** Tasks *)
Notation plain_steps mains := (rtc (plain_step mains)).

Lemma pure_in_steps mains t1 n t2 σ e e' : rtc pure_in e e' →
  plain_steps mains (t1 ++ (n, e) :: t2, σ) (t1 ++ (n, e') :: t2, σ).
Proof.
  induction 1 as [e|e1 e2 e3 (K & e & e' & -> & Hp & ->) _ IH]; [done|].
  eapply rtc_l; [|exact IH].
  pose proof (PlainThread mains t1 n (rfill K e) t2 σ (rfill K e') σ []) as Hst.
  rewrite right_id_L in Hst. apply Hst. by constructor.
Qed.

(** The pool around task [i]. *)
Lemma plain_of_split c i tk : tasks c !! i = Some tk →
  ∃ t1 t2, plain_of c = (t1 ++ thread_of tk :: t2, world c) ∧
    ∀ tk' new s σ, plain_of (Config (<[i := tk']> (tasks c) ++ new) s σ) =
      (t1 ++ thread_of tk' :: t2 ++ (thread_of <$> new), σ).
Proof.
  intros Hi. exists (thread_of <$> take i (tasks c)), (thread_of <$> drop (S i) (tasks c)). split.
  - unfold plain_of. rewrite -{1}(take_drop_middle _ _ _ Hi) fmap_app fmap_cons. done.
  - intros tk' new s σ. unfold plain_of; simpl. rewrite insert_take_drop; [|by eapply lookup_lt_Some].
    by rewrite !fmap_app fmap_cons -assoc_L.
Qed.

(** Thread [i] makes pure steps, and then perhaps one effect. *)
Lemma task_pure_steps mains c i n k k' K e K' e' :
  tasks c !! i = Some (Task n k K e) → rtc pure_in (rfill K e) (rfill K' e') →
  plain_steps mains (plain_of c) (plain_of (set_task i (Task n k' K' e') c)).
Proof.
  intros Hi Hp. destruct (plain_of_split c i _ Hi) as (t1 & t2 & -> & Hset).
  unfold set_task. rewrite -(right_id_L [] (++) (<[i:=_]> (tasks c))) Hset right_id_L.
  by apply pure_in_steps.
Qed.
Lemma task_eff_step mains c i n k k' K e r v ns ns' t' efs new s :
  tasks c !! i = Some (Task n k K e) → rtc pure_in (rfill K e) (rfill r.1 r.2) →
  nodes (world c) !! n = Some ns → estep n r.2 ns (trace (world c)) v ns' t' efs →
  thread_of <$> new = pair n <$> efs →
  plain_steps mains (plain_of c)
    (plain_of (Config (<[i := Task n k' r.1 (Val v)]> (tasks c) ++ new) s (State (<[n := ns']> (nodes (world c))) t'))).
Proof.
  intros Hi Hp Hns He Hnew. destruct (plain_of_split c i _ Hi) as (t1 & t2 & -> & Hset). rewrite Hset Hnew.
  eapply rtc_r; [by apply pure_in_steps|]. constructor.
  destruct (world c) as [nds t]. by econstructor.
Qed.

(** A thread whose next redex has no step. *)
Lemma redex_not_safe n K r σ :
  (∀ v, r ≠ Val v) → (∀ Ki e, r = rfill_item Ki e → ∃ v, e = Val v) → no_demon r →
  (∀ e', ¬ pstep r e') →
  (∀ ns v ns' t' efs, nodes σ !! n = Some ns → ¬ estep n r ns (trace σ) v ns' t' efs) →
  ¬ plain_safe (n, rfill K r) σ.
Proof.
  intros Hval Hsub Hnd Hpure Heff.
  assert (stuck (Λ := golang_lang) (At (boot_of σ n) (rfill K r)) σ) as [Hnv Hirr].
  { rewrite -fill_At. apply (@stuck_fill golang_lang (@ectx_language.fill golang_ectx_lang K) _),
      (head_stuck_stuck (Λ := golang_ectx_lang)).
    - split; [destruct r as [v| | | | | | | | | | | | | | |]; try done; by destruct (Hval v)|]. intros κ e' σ' efs Hh. simpl in Hh.
      inversion Hh as [? ? ? ? Hp|? ? nds t ns ? ? ? ? Hns Hep He|? ? nds t ns Hns Hep|]; subst.
      + by eapply Hpure.
      + by eapply Heff.
      + simpl in *. by rewrite Hns in Hep.
      + done.
    - apply ectxi_language_sub_redexes_are_values. intros Ki [b e|] He; simplify_eq/=.
      destruct (Hsub _ _ eq_refl) as [v ->]. by eauto. }
  intros [[v Hv]|(e' & σ' & efs & Hst)]; simpl in *; [by rewrite Hv in Hnv|].
  remember (rfill K r) as e eqn:Heq.
  destruct Hst as [K' e0 e' σ Hp|K' e0 nds t ns v ns' t' efs Hns He]; rewrite -fill_At in Hirr.
  - eapply (Hirr [] _ σ []), (fill_prim_step (Λ := golang_ectx_lang) K'), head_prim_step. by constructor.
  - assert (boot_of (State nds t) n = Boot n (epoch ns)) as Hb; [by rewrite /boot_of /= Hns|]. rewrite Hb in Hirr.
    eapply (Hirr [] _ (State (<[n:=ns']> nds) t') (At (Boot n (epoch ns)) <$> efs)),
      (fill_prim_step (Λ := golang_ectx_lang) K'), head_prim_step. by eapply (LiveS (Boot n (epoch ns))).
Qed.

(** ** The interpreter *)

(** What an outcome says.  Stuck: a thread at this redex, which is neither done
    nor has a step. *)
Definition outcome_ok (mains : list expr) (c : config) (o : outcome) : Prop :=
  match o with
  | Went c' | Unfinished c' => plain_steps mains (plain_of c) (plain_of c')
  | Finished v c' =>
    plain_steps mains (plain_of c) (plain_of c') ∧ ∃ n, (n, Val v) ∈ (plain_of c').1
  | Stuck redex c' =>
    plain_steps mains (plain_of c) (plain_of c') ∧
    ∃ n K, (n, rfill K redex) ∈ (plain_of c').1 ∧
      (no_demon_config (plain_of c) → ¬ plain_safe (n, rfill K redex) (plain_of c').2)
  | NoSuchTask => True
  end.

Lemma set_task_in c i tk tk0 : tasks c !! i = Some tk0 → thread_of tk ∈ (plain_of (set_task i tk c)).1.
Proof.
  intros Hi. apply elem_of_list_fmap. exists tk. split; [done|]. simpl.
  eapply elem_of_list_lookup_2, list_lookup_insert. by eapply lookup_lt_Some.
Qed.
Lemma task_no_demon c i tk : tasks c !! i = Some tk → no_demon_config (plain_of c) →
  no_demon (rfill (tk_ctx tk) (tk_focus tk)).
Proof.
  intros Hi [Hp _]. simpl in Hp. rewrite Forall_fmap in Hp. by apply (Forall_lookup_1 _ _ _ _ Hp Hi).
Qed.

(** An effect that is next is stuck where no [estep] is. *)
Lemma stuck_eff_ok mains c i n k K e K' r :
  tasks c !! i = Some (Task n k K e) → rtc pure_in (rfill K e) (rfill K' r) → eff_redex r →
  (∀ ns v ns' t' efs, nodes (world c) !! n = Some ns → ¬ estep n r ns (trace (world c)) v ns' t' efs) →
  outcome_ok mains c (Stuck r (set_task i (Task n k K' r) c)).
Proof.
  intros Hi Hp Hr Hstuck. split; [by eapply task_pure_steps|].
  exists n, K'. split; [by apply (set_task_in c i (Task n k K' r) _ Hi)|]. intros Hnd.
  pose proof (pure_in_no_demon _ _ Hp (task_no_demon _ _ _ Hi Hnd)) as [Hr' _]%no_demon_rfill.
  apply redex_not_safe; simpl; try done.
  - intros v ->. done.
  - intros Ki e0 ->. by apply eff_fill_val in Hr.
  - intros e' Hst. by eapply pstep_eff_contra.
Qed.

Lemma step_task_ok mains fuel ch i c : outcome_ok mains c (step_task fuel ch i c).
Proof.
  unfold step_task. destruct (tasks c !! i) as [[n k K e]|] eqn:Hi; [|done]. simpl.
  pose proof (advance_ok fuel K e) as Hm. unfold run_next. destruct (advance fuel K e) as [K' e'|K' op v|K' e'|v|K' r]; simpl in Hm.
  - by eapply task_pure_steps.
  - unfold run_eff; simpl. destruct (nodes (world c) !! n) as [ns|] eqn:Hns.
    + destruct (eff_run ch n op v ns (trace (world c)) k) as [[[[w ns'] t'] k']|] eqn:Hrun.
      * apply eff_run_ok in Hrun. rewrite -(right_id_L [] (++) (<[i:=_]> (tasks c))).
        by eapply (task_eff_step _ _ _ _ _ _ _ _ (K', Eff op (Val v)) _ _ _ _ []).
      * eapply stuck_eff_ok; [done..|]. intros ns0 ????. rewrite Hns. intros [= <-]. by eapply eff_run_stuck.
    + eapply stuck_eff_ok; [done..|]. intros ns0 ????. by rewrite Hns.
  - unfold run_fork; simpl. destruct (nodes (world c) !! n) as [ns|] eqn:Hns.
    + eapply (task_eff_step _ _ _ _ _ _ _ _ (K', Fork e') _ _ _ _ [e']); [done..| |done]. constructor.
    + eapply stuck_eff_ok; [done..|]. intros ns0 ????. by rewrite Hns.
  - split; [by eapply task_pure_steps|]. exists n. by apply (set_task_in c i (Task n k [] (Val v)) _ Hi).
  - destruct Hm as [Hp Hstuck]. split; [by eapply task_pure_steps|].
    exists n, K'. split; [by apply (set_task_in c i (Task n k K' r) _ Hi)|]. intros Hnd.
    pose proof (task_no_demon _ _ _ Hi Hnd) as Hnd'. simpl in Hnd'.
    destruct (Hstuck Hnd') as (Hpure & Heff & Hval & Hsub).
    pose proof (pure_in_no_demon _ _ Hp Hnd') as [Hr' _]%no_demon_rfill.
    apply redex_not_safe; try done.
    intros ns v ns' t' efs _ He%estep_eff. by rewrite Heff in He.
Qed.

Lemma step_crash_ok mains ch n c c' :
  step_crash mains ch n c = Some c' → plain_step mains (plain_of c) (plain_of c').
Proof.
  unfold step_crash. intros Hrun. destruct (mains !! n) as [main|] eqn:Hmain; simplify_eq/=.
  destruct (nodes (world c) !! n) as [ns|] eqn:Hns; simplify_eq/=.
  unfold plain_of; simpl. destruct c as [tks s [nds t]]; simpl in *.
  assert (thread_of <$> (filter (λ t, tk_node t ≠ n) tks ++ [new_task n s main]) =
    filter (λ p, p.1 ≠ n) (thread_of <$> tks) ++ [(n, main)]) as ->.
  { rewrite fmap_app. f_equal. induction tks as [|tk tks IH]; [done|].
    rewrite fmap_cons !filter_cons. simpl. case_decide; by rewrite ?fmap_cons IH. }
  eapply PlainCrash; [done..|]. apply node_crash_run_ok.
Qed.
Lemma step_ok mains fuel a c : outcome_ok mains c (step mains fuel a c).
Proof.
  destruct a as [i ch|n ch]; simpl; [apply step_task_ok|].
  destruct (step_crash mains ch n c) as [c'|] eqn:Hc; [|done]. by apply rtc_once, (step_crash_ok _ ch n).
Qed.

Lemma no_demon_plain_steps mains c c' : Forall no_demon mains →
  plain_steps mains c c' → no_demon_config c → no_demon_config c'.
Proof. intros Hmains. induction 1 as [|c1 c2 c3 Hst _ IH]; [done|]. intros. by eapply IH, no_demon_plain_step. Qed.

(** From a later configuration. *)
Lemma outcome_ok_later mains c c' o : Forall no_demon mains →
  plain_steps mains (plain_of c) (plain_of c') → outcome_ok mains c' o → outcome_ok mains c o.
Proof.
  intros Hmains Hst. destruct o as [c''|v c''|r c''|c''|]; simpl; try done.
  - intros. by etrans.
  - intros [? ?]. split; [by etrans|done].
  - intros (? & n & K & Hin & Hunsafe). split; [by etrans|]. exists n, K. split; [done|].
    intros Hnd. apply Hunsafe. by eapply no_demon_plain_steps.
  - intros. by etrans.
Qed.

(** What the interpreter reaches, the plain semantics reaches; and where it says
    stuck, a thread is neither done nor has a step. *)
Theorem interp_sound mains steps fuel oracle watch c :
  Forall no_demon mains → outcome_ok mains c (interp mains steps fuel oracle watch c).
Proof.
  intros Hmains. revert c. induction steps as [|steps IH]; intros c; [apply rtc_refl|].
  cbn -[step outcome_ok]. pose proof (step_ok mains fuel (oracle steps c) c) as Hstep.
  destruct (step mains fuel (oracle steps c) c) as [c'|v c'|r c'|c'|]; [| |done| |].
  - by eapply outcome_ok_later.
  - assert (outcome_ok mains c (interp mains steps fuel oracle watch c')) as Hlater.
    { eapply outcome_ok_later; [done| |done]. apply Hstep. }
    destruct (oracle steps c); [|done]. by case_decide.
  - by eapply outcome_ok_later.
  - done.
Qed.
(** ... from power on. *)
Lemma init_config_plain mains dvs : plain_of (init_config mains dvs) = (init_pool mains, init_state dvs).
Proof.
  unfold plain_of, init_config, init_pool; simpl. f_equal. apply list_eq. intros i.
  rewrite list_lookup_fmap !list_lookup_imap. by destruct (mains !! i).
Qed.
Corollary interp_init mains dvs steps fuel oracle watch c : Forall no_demon mains →
  interp mains steps fuel oracle watch (init_config mains dvs) = Unfinished c →
  plain_steps mains (init_pool mains, init_state dvs) (plain_of c).
Proof.
  intros Hmains Hrun. pose proof (interp_sound mains steps fuel oracle watch (init_config mains dvs) Hmains) as Hok.
  rewrite Hrun /= init_config_plain in Hok. done.
Qed.

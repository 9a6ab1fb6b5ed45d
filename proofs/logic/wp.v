(** * The crash logic: assertions, weakest precondition, crash invariants

    [WP e @ b; E {{ Φ }}]: run by a thread of boot [b], [e] is never stuck and ends
    in a value that satisfies [Φ] -- unless the boot ends first; a thread whose
    boot is over owes nothing.  Memory is versioned: points-to assertions name
    the boot (SOSP'19, 5.2).  What survives a crash stands in one crash invariant
    for each node (5.1). *)
From iris.algebra Require Import auth.
From iris.bi Require Export fractional.
From iris.base_logic.lib Require Export invariants.
From iris.program_logic Require Export weakestpre ectx_lifting lifting.
From ashlar.logic Require Export dev_state.
From ashlar.lang Require Export notation.

Record node_names := NodeNames {
  nn_epoch : gname; nn_heap : gname; nn_boot : gname; nn_durable : durable_names }.
Global Instance node_names_inhabited : Inhabited node_names :=
  populate (NodeNames inhabitant inhabitant inhabitant inhabitant).

Class golangGS Σ := GolangGS {
  golangGS_invGS : invGS Σ;
  golangGS_epochG : mono_natG Σ;
  golangGS_heapG : ghost_mapG Σ (nat * loc) cell;
  golangGS_traceG : ghost_varG Σ (list event);
  golangGS_bootG : ghost_mapG Σ nat (list gname * volatile_names);
  golangGS_devG : devG Σ;
  go_trace : gname;
  go_nodes : list node_names;
}.
Global Existing Instances golangGS_invGS golangGS_epochG golangGS_heapG golangGS_traceG
  golangGS_bootG golangGS_devG.

Section defs.
  Context `{!golangGS Σ}.

  Definition nn (n : nat) : node_names := go_nodes !!! n.

  (** ** Epochs *)
  Definition cur (n ep : nat) : iProp Σ := mono_nat_auth_own (nn_epoch (nn n)) (1/2) ep.
  (** Boot [b] has begun; boot [b] is over. *)
  Definition started (b : boot) : iProp Σ :=
    ⌜b_node b < length go_nodes⌝ ∗ mono_nat_lb_own (nn_epoch (nn (b_node b))) (b_epoch b).
  Definition stale (b : boot) : iProp Σ :=
    ⌜b_node b < length go_nodes⌝ ∗ mono_nat_lb_own (nn_epoch (nn (b_node b))) (S (b_epoch b)).

  (** ** Names that a boot chooses: the user's, and those of the devices *)
  Definition boot_is (b : boot) (γs : list gname) (vn : volatile_names) : iProp Σ :=
    b_epoch b ↪[nn_boot (nn (b_node b))]□ (γs, vn).
  Definition boot_names (b : boot) (γs : list gname) : iProp Σ := ∃ vn, boot_is b γs vn.

  (** ** Memory of a boot *)
  Definition heap_cell (b : boot) (l : loc) (dq : dfrac) (c : cell) : iProp Σ :=
    (b_epoch b, l) ↪[nn_heap (nn (b_node b))]{dq} c.
  Definition pointsto (b : boot) (l : loc) (dq : dfrac) (v : val) : iProp Σ :=
    heap_cell b l dq (Reading 0 v).

  (** ** Durable devices *)
  Definition durable (n : nat) : durable_names := nn_durable (nn n).
  Definition disk_pointsto (n : nat) (a : Z) (s : list Z) : iProp Σ := a ↪[dn_disk (durable n)] s.
  Definition two_name (i : bool) (dn : durable_names) : gname := if i then dn_two1 dn else dn_two0 dn.
  Definition two_pointsto (n : nat) (i : bool) (a : Z) (s : list Z) : iProp Σ :=
    a ↪[two_name i (durable n)] s.
  (** Disk [i] of the two has failed, for good. *)
  Definition disk_failed (n : nat) (i : bool) : iProp Σ := tt ↪[dn_failed (durable n)]□ i.

  (** ** Devices that lose something in a crash *)
  Definition async_pointsto (b : boot) (a : Z) (c : cached (list Z)) : iProp Σ :=
    ∃ γs vn, boot_is b γs vn ∗ a ↪[vn_async vn] c.
  Definition dir_is (b : boot) (dir : list Z) (m : gmap (list Z) (cached (option Z))) : iProp Σ :=
    ∃ γs vn, boot_is b γs vn ∗ dir ↪[vn_dir vn] m.
  Definition inode_is (b : boot) (i : Z) (dq : dfrac) (n : inode) : iProp Σ :=
    ∃ γs vn, boot_is b γs vn ∗ i ↪[vn_inode vn]{dq} n.
  Definition fd_is (b : boot) (fd : Z) (p : Z * bool) : iProp Σ :=
    ∃ γs vn, boot_is b γs vn ∗ fd ↪[vn_fd vn] p.

  (** ** The trace *)
  Definition trace_is (t : list event) : iProp Σ := ghost_var go_trace (1/2) t.

  (** ** State interpretation *)
  Definition heap_ok (ns : node_state) (hm : gmap (nat * loc) cell) : Prop :=
    (∀ l, hm !! (epoch ns, l) = heap ns !! l) ∧ (∀ ep l, epoch ns < ep → hm !! (ep, l) = None).
  Definition heap_interp (n : nat) (ns : node_state) : iProp Σ :=
    ∃ hm, ⌜heap_ok ns hm⌝ ∗ ghost_map_auth (nn_heap (nn n)) 1 hm.
  Definition boot_interp (n : nat) (ns : node_state) : iProp Σ :=
    ∃ bm γs vn, ghost_map_auth (nn_boot (nn n)) 1 bm ∗ ⌜bm !! epoch ns = Some (γs, vn)⌝ ∗
      ⌜∀ ep, epoch ns < ep → bm !! ep = None⌝ ∗ volatile_interp vn (dev ns).
  Definition node_interp (n : nat) (ns : node_state) : iProp Σ :=
    cur n (epoch ns) ∗ heap_interp n ns ∗ durable_interp (durable n) (dev ns) ∗ boot_interp n ns.
  Definition sinterp (σ : state) : iProp Σ :=
    ⌜length (nodes σ) = length go_nodes⌝ ∗
    ([∗ list] n ↦ ns ∈ nodes σ, node_interp n ns) ∗
    trace_is (trace σ).
End defs.

Global Instance golang_irisGS `{!golangGS Σ} : irisGS golang_lang Σ := {
  iris_invGS := golangGS_invGS;
  state_interp σ _ _ _ := sinterp σ;
  fork_post _ := True%I;
  num_laters_per_step _ := 0;
  state_interp_mono _ _ _ _ := fupd_intro _ _
}.

Notation "l ↦[ b ]{ dq } v" := (pointsto b l dq v)
  (at level 20, b at level 50, dq at level 50, format "l  ↦[ b ]{ dq }  v") : bi_scope.
Notation "l ↦[ b ]{# q } v" := (pointsto b l (DfracOwn q) v)
  (at level 20, b at level 50, q at level 50, format "l  ↦[ b ]{# q }  v") : bi_scope.
Notation "l ↦[ b ] v" := (pointsto b l (DfracOwn 1) v)
  (at level 20, b at level 50, format "l  ↦[ b ]  v") : bi_scope.
Notation "a 'd↦[' n ] s" := (disk_pointsto n a s)
  (at level 20, n at level 50, format "a  'd↦[' n ]  s") : bi_scope.
Notation "a 't0↦[' n ] s" := (two_pointsto n false a s)
  (at level 20, n at level 50, format "a  't0↦[' n ]  s") : bi_scope.
Notation "a 't1↦[' n ] s" := (two_pointsto n true a s)
  (at level 20, n at level 50, format "a  't1↦[' n ]  s") : bi_scope.
Notation "a 'a↦[' b ] c" := (async_pointsto b a c)
  (at level 20, b at level 50, format "a  'a↦[' b ]  c") : bi_scope.

(** What a thread of boot [b] leaves behind. *)
Definition live_post `{!golangGS Σ} (b : boot) (Φ : val → iProp Σ) : sval → iProp Σ :=
  λ sv, match sv with LiveV b' v => (⌜b' = b⌝ ∗ Φ v)%I | DeadV => stale b end.

(** The weakest precondition, sealed: use the rules. *)
Local Definition wpe_def `{!golangGS Σ} : Wp (iProp Σ) expr val boot := λ b E e Φ,
  (started b -∗ wp (PROP:=iProp Σ) (EXPR:=language.expr golang_lang) (VAL:=language.val golang_lang)
     (A:=stuckness) NotStuck E (At b e) (live_post b Φ))%I.
Local Definition wpe_aux : seal (@wpe_def). Proof. by eexists. Qed.
Definition wpe := wpe_aux.(unseal).
Global Arguments wpe {Σ _}.
Global Existing Instance wpe.
Lemma wpe_unseal `{!golangGS Σ} : wp (Wp:=wpe) = wpe_def.
Proof. by rewrite -wpe_aux.(seal_eq). Qed.

Section rules.
  Context `{!golangGS Σ}.
  Implicit Types Φ Ψ : val → iProp Σ.
  Implicit Types b : boot.

  Global Instance started_persistent b : Persistent (started b). Proof. apply _. Qed.
  Global Instance stale_persistent b : Persistent (stale b). Proof. apply _. Qed.
  Global Instance boot_is_persistent b γs vn : Persistent (boot_is b γs vn). Proof. apply _. Qed.
  Global Instance boot_is_timeless b γs vn : Timeless (boot_is b γs vn). Proof. apply _. Qed.
  Global Instance boot_names_persistent b γs : Persistent (boot_names b γs). Proof. apply _. Qed.
  Global Instance disk_failed_persistent n i : Persistent (disk_failed n i). Proof. apply _. Qed.
  Global Instance pointsto_timeless b l dq v : Timeless (pointsto b l dq v). Proof. apply _. Qed.
  Global Instance pointsto_fractional b l v : Fractional (λ q, pointsto b l (DfracOwn q) v).
  Proof. apply _. Qed.
  Global Instance pointsto_as_fractional b l q v :
    AsFractional (pointsto b l (DfracOwn q) v) (λ q, pointsto b l (DfracOwn q) v) q.
  Proof. split; [done|apply _]. Qed.
  Lemma pointsto_agree b l dq1 dq2 v1 v2 :
    pointsto b l dq1 v1 -∗ pointsto b l dq2 v2 -∗ ⌜v1 = v2⌝.
  Proof. iIntros "H1 H2". iDestruct (ghost_map_elem_agree with "H1 H2") as %[= ->]. done. Qed.

  Lemma boot_is_agree b γs1 vn1 γs2 vn2 :
    boot_is b γs1 vn1 -∗ boot_is b γs2 vn2 -∗ ⌜γs1 = γs2 ∧ vn1 = vn2⌝.
  Proof. iIntros "H1 H2". iDestruct (ghost_map_elem_agree with "H1 H2") as %[= -> ->]. done. Qed.
  Lemma boot_names_agree b γs1 γs2 : boot_names b γs1 -∗ boot_names b γs2 -∗ ⌜γs1 = γs2⌝.
  Proof.
    iIntros "(%vn1 & H1) (%vn2 & H2)".
    iDestruct (boot_is_agree with "H1 H2") as %[-> _]. done.
  Qed.
  Lemma disk_failed_agree n i j : disk_failed n i -∗ disk_failed n j -∗ ⌜i = j⌝.
  Proof. iIntros "H1 H2". iDestruct (ghost_map_elem_agree with "H1 H2") as %->. done. Qed.

  (** ** Structural rules *)
  Global Instance wpe_proper_ne b E e n :
    Proper (pointwise_relation _ (dist n) ==> dist n) (wp (PROP:=iProp Σ) b E e).
  Proof.
    rewrite wpe_unseal /wpe_def. intros Φ Ψ H. f_equiv. apply wp_ne. intros [b' v|]; simpl; [|done].
    f_equiv. apply H.
  Qed.
  Lemma wpe_value b E v Φ : Φ v -∗ WP (Val v) @ b; E {{ Φ }}.
  Proof.
    rewrite wpe_unseal. iIntros "H #Hst". iApply (wp_value' (Λ:=golang_lang) _ _ _ (LiveV b v)).
    simpl. auto.
  Qed.
  Lemma wpe_value_fupd b E v Φ : (|={E}=> Φ v) -∗ WP (Val v) @ b; E {{ Φ }}.
  Proof.
    rewrite wpe_unseal. iIntros "H #Hst". iApply fupd_wp. iMod "H". iModIntro.
    iApply (wp_value' (Λ:=golang_lang) _ _ _ (LiveV b v)). simpl. auto.
  Qed.
  Lemma wpe_strong_mono b E1 E2 e Φ Ψ : E1 ⊆ E2 →
    WP e @ b; E1 {{ Φ }} -∗ (∀ v, Φ v ={E2}=∗ Ψ v) -∗ WP e @ b; E2 {{ Ψ }}.
  Proof.
    rewrite wpe_unseal. iIntros (HE) "H HΨ #Hst". iSpecialize ("H" with "Hst").
    iApply (wp_strong_mono with "H"); [done|done|].
    iIntros ([]); simpl; [iIntros "[$ ?]"; by iApply "HΨ"|by auto].
  Qed.
  Lemma wpe_wand b E e Φ Ψ :
    WP e @ b; E {{ Φ }} -∗ (∀ v, Φ v -∗ Ψ v) -∗ WP e @ b; E {{ Ψ }}.
  Proof.
    iIntros "H HΨ". iApply (wpe_strong_mono with "H"); [done|].
    iIntros (v) "H !>". by iApply "HΨ".
  Qed.
  Lemma wpe_mono b E e Φ Ψ : (∀ v, Φ v ⊢ Ψ v) → WP e @ b; E {{ Φ }} ⊢ WP e @ b; E {{ Ψ }}.
  Proof. iIntros (H) "H". iApply (wpe_wand with "H"). iIntros (v). iApply H. Qed.
  Lemma fupd_wpe b E e Φ : (|={E}=> WP e @ b; E {{ Φ }}) -∗ WP e @ b; E {{ Φ }}.
  Proof. rewrite wpe_unseal. iIntros "H #Hst". iApply fupd_wp. iMod "H". iModIntro. by iApply "H". Qed.
  Lemma wpe_fupd b E e Φ : WP e @ b; E {{ v, |={E}=> Φ v }} -∗ WP e @ b; E {{ Φ }}.
  Proof. iIntros "H". iApply (wpe_strong_mono with "H"); auto. Qed.
  Lemma wpe_started b E e Φ : (started b -∗ WP e @ b; E {{ Φ }}) -∗ WP e @ b; E {{ Φ }}.
  Proof. rewrite wpe_unseal. iIntros "H #Hst". by iApply ("H" with "Hst"). Qed.
  Lemma wpe_elim b E e Φ : started b -∗ WP e @ b; E {{ Φ }} -∗
    wp (PROP:=iProp Σ) (EXPR:=language.expr golang_lang) (VAL:=language.val golang_lang)
     (A:=stuckness) NotStuck E (At b e) (live_post b Φ).
  Proof. rewrite wpe_unseal. iIntros "#Hst H". by iApply "H". Qed.

  Lemma wpe_bind K b E e Φ :
    WP e @ b; E {{ v, WP rfill K (Val v) @ b; E {{ Φ }} }} -∗ WP rfill K e @ b; E {{ Φ }}.
  Proof.
    rewrite wpe_unseal. iIntros "H #Hst". rewrite -fill_At.
    iApply (wp_bind (fill (Λ:=golang_ectxi_lang) K)).
    iApply (wp_wand with "(H Hst)"). iIntros ([b' v|]) "H"; simpl.
    - iDestruct "H" as "[-> H]". rewrite fill_At. by iApply "H".
    - rewrite fill_Dead. by iApply (wp_value' (Λ:=golang_lang) _ _ _ DeadV).
  Qed.
  Lemma wpe_pure b E K e e' Φ : pstep e e' →
    ▷ WP rfill K e' @ b; E {{ Φ }} -∗ WP rfill K e @ b; E {{ Φ }}.
  Proof.
    rewrite wpe_unseal. iIntros (Hp) "H #Hst". rewrite -!fill_At.
    pose proof (pure_at b e e' Hp) as Hpure.
    pose proof (pure_exec_fill (Λ:=golang_ectx_lang) K _ _ _ _ Hpure) as HK.
    iApply (wp_pure_step_later (Λ:=golang_lang) _ _ _ _ _ _ _ HK); [done|].
    iIntros "!> _". simpl. rewrite fill_At. by iApply "H".
  Qed.

  (** ** The state of one node *)
  Lemma started_lookup b σ : started b -∗ sinterp σ -∗
    ∃ ns, ⌜nodes σ !! b_node b = Some ns⌝ ∗ ⌜b_epoch b ≤ epoch ns⌝.
  Proof.
    iIntros "[%Hlt Hlb] (%Hlen & Hns & _)".
    destruct (lookup_lt_is_Some_2 (nodes σ) (b_node b)) as [ns Hns]; [lia|].
    iDestruct (big_sepL_lookup with "Hns") as "(Hcur & _)"; [done|].
    iDestruct (mono_nat_lb_own_valid with "Hcur Hlb") as %[_ Hle]. iExists ns. done.
  Qed.
  Lemma sinterp_node n ns nds t : nds !! n = Some ns →
    sinterp (State nds t) -∗ node_interp n ns ∗ trace_is t ∗
      (∀ ns' t', node_interp n ns' -∗ trace_is t' -∗ sinterp (State (<[n:=ns']> nds) t')).
  Proof.
    iIntros (Hn) "(%Hlen & Hns & $)".
    iDestruct (big_sepL_insert_acc with "Hns") as "[$ Hns]"; [done|].
    iIntros (ns' t') "Hn $". iSplit; [iPureIntro; simpl in *; by rewrite insert_length|].
    by iApply "Hns".
  Qed.
  Lemma node_cur_stale b ns : epoch ns = b_epoch b → stale b -∗ node_interp (b_node b) ns -∗ False.
  Proof.
    iIntros (Hep) "[_ Hst] (Hcur & _)".
    iDestruct (mono_nat_lb_own_valid with "Hcur Hst") as %[_ ?]. lia.
  Qed.

  (** The one lifting lemma: the thread is alive and its step must be justified,
      or it is dead and nothing needs to be shown. *)
  Lemma wpe_lift_eff b E e Φ :
    eff_redex e = true →
    (∀ ns t, ⌜epoch ns = b_epoch b⌝ -∗ node_interp (b_node b) ns -∗ trace_is t ={E}=∗
       ⌜∃ v ns' t' efs, estep (b_node b) e ns t v ns' t' efs⌝ ∗
       ▷ ∀ v ns' t' efs, ⌜estep (b_node b) e ns t v ns' t' efs⌝ ={E}=∗
         node_interp (b_node b) ns' ∗ trace_is t' ∗ Φ v ∗
         [∗ list] ef ∈ efs, WP ef @ b; ⊤ {{ _, True }}) -∗
    WP e @ b; E {{ Φ }}.
  Proof.
    iIntros (Heff) "H". rewrite {2}wpe_unseal. iIntros "#Hst".
    iApply wp_lift_atomic_head_step; [by destruct e|].
    iIntros (σ1 ns1 κ κs nt) "Hσ".
    iDestruct (started_lookup with "Hst Hσ") as %(ns & Hns & Hle).
    destruct σ1 as [nds t]. simpl in Hns.
    iDestruct (sinterp_node with "Hσ") as "(Hn & Ht & Hback)"; [done|].
    destruct (decide (epoch ns = b_epoch b)) as [Hep|Hne].
    - iMod ("H" with "[//] Hn Ht") as "[%Hred H]". destruct Hred as (v&ns'&t'&efs&Hstep).
      iModIntro. iSplit. { iPureIntro. do 4 eexists. by eapply LiveS. }
      iNext. iIntros (e2 σ2 efs' Hs) "_".
      inversion Hs; simplify_eq; try done.
      { exfalso. eapply pstep_eff_contra; [done|]. by rewrite Heff. }
      iMod ("H" with "[//]") as "(Hn & Ht & HΦ & Hf)". iModIntro. simpl.
      iSplitL "Hn Ht Hback"; [by iApply ("Hback" with "Hn Ht")|]. iSplitL "HΦ"; [auto|].
      rewrite big_sepL_fmap. iApply (big_sepL_impl with "Hf").
      iIntros "!>" (???) "H". rewrite wpe_unseal. iSpecialize ("H" with "Hst").
      iApply (wp_wand with "H"). auto.
    - iAssert (stale b) as "#Hdead".
      { iDestruct "Hst" as "[$ _]". iDestruct "Hn" as "(Hcur & _)".
        iDestruct (mono_nat_lb_own_get with "Hcur") as "#Hlb".
        iApply (mono_nat_lb_own_le with "Hlb"). lia. }
      iModIntro. iSplit. { iPureIntro. do 4 eexists. eapply StaleS; [done|done|by rewrite Heff]. }
      iNext. iIntros (e2 σ2 efs' Hs) "_".
      inversion Hs; simplify_eq; try done.
      { exfalso. eapply pstep_eff_contra; [done|]. by rewrite Heff. }
      iModIntro. simpl. iSplit; [|by auto].
      iSpecialize ("Hback" with "Hn Ht"). by rewrite list_insert_id.
  Qed.

  Lemma wpe_stale b E e Φ : eff_redex e = true → stale b -∗ WP e @ b; E {{ Φ }}.
  Proof.
    iIntros (Heff) "#Hs". iApply wpe_lift_eff; [done|].
    iIntros (ns t Hep) "Hn Ht". iExFalso. by iApply (node_cur_stale with "Hs Hn").
  Qed.

  (** ** Invariants

      A thread that dies inside an atomic step must still close what it opened; so
      an invariant is either void once the boot is over ([vinv], for what locks
      protect), or knows the current boot ([crash_inv], for what survives). *)
  Definition vinv N b (P : iProp Σ) : iProp Σ := inv N (P ∨ stale b).
  Global Instance vinv_persistent N b P : Persistent (vinv N b P). Proof. apply _. Qed.
  Lemma vinv_alloc N b E P : ▷ P ={E}=∗ vinv N b P.
  Proof. iIntros "HP". iApply inv_alloc. iNext. by iLeft. Qed.

  Lemma wpe_vinv N b E e P Φ :
    ↑N ⊆ E → eff_redex e = true →
    vinv N b P -∗
    (▷ P -∗ WP e @ b; E ∖ ↑N {{ v, |={E ∖ ↑N}=> ▷ P ∗ Φ v }}) -∗
    WP e @ b; E {{ Φ }}.
  Proof.
    iIntros (HN Heff) "#Hinv H". iApply wpe_started. iIntros "#Hst".
    assert (Atomic (Λ:=golang_lang) StronglyAtomic (At b e)) by (apply eff_atomic; by rewrite Heff).
    rewrite (wpe_unseal (Σ:=Σ)). iIntros "_".
    iApply (wp_atomic (Λ:=golang_lang) _ _ (E ∖ ↑N)). { by apply strongly_atomic_atomic. }
    iInv "Hinv" as "HP" "Hclose". rewrite bi.later_or. iModIntro.
    iDestruct "HP" as "[HP|>#Hdead]".
    - iApply (wp_wand with "(H HP Hst)"). iIntros ([b' v|]); simpl.
      + iIntros "[-> HP]". iMod "HP" as "[HP HΦ]". iMod ("Hclose" with "[$HP]"). by iFrame.
      + iIntros "#Hdead". iMod ("Hclose" with "[]"); by auto.
    - iApply (wp_wand with "[]").
      { iApply (wpe_elim with "Hst"). by iApply (wpe_stale _ _ _ (λ _, False)%I). }
      iIntros ([b' v|]); simpl.
      + iIntros "[_ []]".
      + iIntros "_". iMod ("Hclose" with "[]"); by auto.
  Qed.

  (** The crash invariant of node [n]. *)
  Definition crash_inv N n (C : boot → list gname → iProp Σ) : iProp Σ :=
    inv N (∃ ep γs, cur n ep ∗ boot_names (Boot n ep) γs ∗ C (Boot n ep) γs).
  Global Instance crash_inv_persistent N n C : Persistent (crash_inv N n C). Proof. apply _. Qed.
  (** What a thread of boot [b] knows: the invariant, and the names that its boot chose. *)
  Definition crash_ctx N C b γs : iProp Σ := crash_inv N (b_node b) C ∗ boot_names b γs.
  Global Instance crash_ctx_persistent N C b γs : Persistent (crash_ctx N C b γs). Proof. apply _. Qed.

  Lemma wpe_crash_inv N C b γs E e Φ :
    ↑N ⊆ E → eff_redex e = true →
    crash_ctx N C b γs -∗
    (▷ C b γs -∗ WP e @ b; E ∖ ↑N {{ v, |={E ∖ ↑N}=> ▷ C b γs ∗ Φ v }}) -∗
    WP e @ b; E {{ Φ }}.
  Proof.
    iIntros (HN Heff) "#[Hinv Hnm] H". iApply wpe_started. iIntros "#Hst".
    assert (Atomic (Λ:=golang_lang) StronglyAtomic (At b e)) by (apply eff_atomic; by rewrite Heff).
    rewrite (wpe_unseal (Σ:=Σ)). iIntros "_".
    iApply (wp_atomic (Λ:=golang_lang) _ _ (E ∖ ↑N)). { by apply strongly_atomic_atomic. }
    iInv "Hinv" as (ep γs') "(>Hcur & #>Hnm' & HC)" "Hclose".
    iDestruct "Hst" as "[%Hlt Hlb]".
    iDestruct (mono_nat_lb_own_valid with "Hcur Hlb") as %[_ Hle]. iModIntro.
    destruct b as [n ep']. simpl in *. destruct (decide (ep' = ep)) as [->|Hne].
    - iDestruct (boot_names_agree with "Hnm Hnm'") as %<-.
      iApply (wp_wand with "(H HC [])"). { by iFrame "Hlb". }
      iIntros ([b' v|]); simpl.
      + iIntros "[-> HP]". iMod "HP" as "[HP HΦ]".
        iMod ("Hclose" with "[Hcur HP]"); [|by iFrame].
        iNext. iExists ep, γs. by iFrame "Hcur HP Hnm".
      + iIntros "[_ #Hs]". iDestruct (mono_nat_lb_own_valid with "Hcur Hs") as %[_ ?]. simpl in *. lia.
    - iAssert (stale (Boot n ep')) as "#Hdead".
      { iSplit; [done|]. iDestruct (mono_nat_lb_own_get with "Hcur") as "#Hlb'".
        iApply (mono_nat_lb_own_le with "Hlb'"). simpl. lia. }
      iApply (wp_wand with "[]").
      { iApply (wpe_elim with "[]"); [by iFrame "Hlb"|]. by iApply (wpe_stale _ _ _ (λ _, False)%I). }
      iIntros ([b' v|]); simpl.
      + iIntros "[_ []]".
      + iIntros "_". iMod ("Hclose" with "[Hcur HC]"); [|by auto].
        iNext. iExists ep, γs'. by iFrame "Hcur HC Hnm'".
  Qed.

  (** ** Proof mode *)
  Global Instance frame_wpe p b E e R Φ Ψ :
    (∀ v, Frame p R (Φ v) (Ψ v)) → Frame p R (WP e @ b; E {{ Φ }}) (WP e @ b; E {{ Ψ }}) | 2.
  Proof.
    rewrite /Frame=> HR. iIntros "[HR H]". iApply (wpe_wand with "H"). iIntros (v) "H".
    iApply HR. iFrame.
  Qed.
  Global Instance is_except_0_wpe b E e Φ : IsExcept0 (WP e @ b; E {{ Φ }}).
  Proof. rewrite /IsExcept0. iIntros "H". iApply fupd_wpe. by rewrite -except_0_fupd -fupd_intro. Qed.
  Global Instance elim_modal_bupd_wpe p b E e P Φ :
    ElimModal True p false (|==> P) P (WP e @ b; E {{ Φ }}) (WP e @ b; E {{ Φ }}).
  Proof.
    rewrite /ElimModal bi.intuitionistically_if_elim. iIntros (_) "[HP H]".
    iApply fupd_wpe. iMod "HP". by iApply "H".
  Qed.
  Global Instance elim_modal_fupd_wpe p b E e P Φ :
    ElimModal True p false (|={E}=> P) P (WP e @ b; E {{ Φ }}) (WP e @ b; E {{ Φ }}).
  Proof.
    rewrite /ElimModal bi.intuitionistically_if_elim. iIntros (_) "[HP H]".
    iApply fupd_wpe. iMod "HP". by iApply "H".
  Qed.
  Global Instance add_modal_fupd_wpe b E e P Φ :
    AddModal (|={E}=> P) P (WP e @ b; E {{ Φ }}).
  Proof.
    rewrite /AddModal. iIntros "[HP H]". iApply fupd_wpe. iMod "HP". by iApply "H".
  Qed.

  Global Instance into_inv_vinv N b P : IntoInv (vinv N b P) N := {}.
  Global Instance elim_inv_vinv N b E e P Φ :
    ElimInv (X:=unit) (↑N ⊆ E ∧ eff_redex e = true) (vinv N b P) True (λ _, ▷ P)%I None
      (WP e @ b; E {{ Φ }}) (λ _, WP e @ b; E ∖ ↑N {{ v, |={E ∖ ↑N}=> ▷ P ∗ Φ v }})%I.
  Proof.
    rewrite /ElimInv. iIntros ([HN Heff]) "(Hinv & _ & H)".
    iApply (wpe_vinv with "Hinv"); [done|done|]. iIntros "HP". iApply ("H" $! tt). by iFrame.
  Qed.
  Global Instance into_inv_crash_ctx N C b γs : IntoInv (crash_ctx N C b γs) N := {}.
  Global Instance elim_inv_crash_ctx N C b γs E e Φ :
    ElimInv (X:=unit) (↑N ⊆ E ∧ eff_redex e = true) (crash_ctx N C b γs) True (λ _, ▷ C b γs)%I None
      (WP e @ b; E {{ Φ }}) (λ _, WP e @ b; E ∖ ↑N {{ v, |={E ∖ ↑N}=> ▷ C b γs ∗ Φ v }})%I.
  Proof.
    rewrite /ElimInv. iIntros ([HN Heff]) "(Hinv & _ & H)".
    iApply (wpe_crash_inv with "Hinv"); [done|done|]. iIntros "HC". iApply ("H" $! tt). by iFrame.
  Qed.
End rules.
Global Typeclasses Opaque vinv crash_inv crash_ctx.

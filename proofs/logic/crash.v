(** * Crashes, and what the logic says about whole executions *)
From iris.program_logic Require Import adequacy.
From ashlar.logic Require Export wp.
From ashlar.lang Require Export plain.

Section demon.
  Context `{!golangGS Σ}.

  (** What must be shown about a crash of node [n] (SOSP'19's crash invariance and
      idempotence in one).  From [C] of the boot that is over, with the old state of
      the devices at hand (to look up what the old assertions say of it) and every
      element of the new one, choose names for the next boot, give [C] of the next
      boot and a proof that the boot program runs in it.  It covers every crash,
      those during recovery too. *)
  Definition crash_obligation N n (C : boot → list gname → iProp Σ) (main : expr) : iProp Σ :=
    □ ∀ b γs vn vn' dv dv', ⌜b_node b = n⌝ -∗ ⌜dev_crash dv dv'⌝ -∗
      boot_is b γs vn -∗ volatile_interp vn dv -∗ volatile_elements vn' dv' -∗
      ▷ C b γs ={⊤ ∖ ↑N}=∗ ∃ t, trace_is t ∗
        (trace_is (t ++ [EvCrash n]) ={⊤ ∖ ↑N}=∗ ∃ γs',
          (boot_is (next_boot b) γs' vn' ={⊤ ∖ ↑N}=∗
             C (next_boot b) γs' ∗
             (crash_ctx N C (next_boot b) γs' -∗ WP main @ next_boot b; ⊤ {{ _, True }}))).

  Lemma wp_demon N n C main ep0 Φ :
    crash_obligation N n C main -∗ crash_inv N n C -∗ started (Boot n ep0) -∗
    wp (EXPR:=language.expr golang_lang) (VAL:=language.val golang_lang) NotStuck ⊤
      (At (Boot n ep0) (CrashLoop main)) Φ.
  Proof.
    iIntros "#Hob #Hinv #Hst". iLöb as "IH".
    iApply wp_lift_head_step; [done|]. iIntros (σ1 ns κ κs nt) "Hσ".
    iDestruct (started_lookup with "Hst Hσ") as %(nd & Hnd & _).
    destruct σ1 as [nds t]. simpl in Hnd.
    iApply fupd_mask_intro; [set_solver|]. iIntros "Hcl". iSplit.
    { iPureIntro. destruct (node_crash_exists nd) as [nd' Hcrash]. do 4 eexists. by eapply CrashS. }
    iNext. iIntros (e2 σ2 efs Hs) "_". inversion Hs; simplify_eq; try done.
    { match goal with H : pstep _ _ |- _ => inversion H end. }
    { match goal with H : estep _ _ _ _ _ _ _ _ |- _ => inversion H end. }
    match goal with H : node_crash _ _ |- _ => destruct H as [ep h dv dv' Hdv] end.
    iMod "Hcl" as "_".
    iDestruct "Hst" as "[%Hlt _]". simpl in Hlt.
    iAssert (crash_inv N n C) as "#Hinv2"; [done|]. iEval (rewrite /crash_inv) in "Hinv2".
    iInv "Hinv2" as (ep' γs) "(>Hcur & #>(%vn & Hnm) & HC)" "Hclose".
    iDestruct (sinterp_node with "Hσ") as "((Hc & (%hm & %Hok & Hh) & Hd & (%bm & %γs2 & %vn2 & Hbm & %Hlk & %Hnone & Hv)) & Ht & Hback)"; [done|].
    iDestruct (mono_nat_auth_own_agree with "Hcur Hc") as %[_ ->]. simpl in *.
    iDestruct (ghost_map_lookup with "Hbm Hnm") as %Hb. simpl in *. simplify_eq.
    iMod (volatile_alloc dv') as (vn') "[Hv' Hels]".
    { destruct Hdv as (_ & _ & _ & Hfs & _). done. }
    iMod ("Hob" with "[] [] Hnm Hv Hels HC") as (t2) "[Htr Hob']"; [done|done|].
    iDestruct (ghost_var_agree with "Htr Ht") as %->.
    iMod (ghost_var_update_halves (t ++ [EvCrash n]) with "Htr Ht") as "[Htr Ht]".
    iMod ("Hob'" with "Htr") as (γs') "Hob'".
    iMod (ghost_map_insert_persist (S ep) (γs', vn') with "Hbm") as "[Hbm #Hnm']".
    { apply Hnone. lia. }
    iMod ("Hob'" with "Hnm'") as "[HC Hrec]".
    iCombine "Hcur Hc" as "Hc".
    iMod (mono_nat_own_update (S ep) with "Hc") as "[[Hcur Hc] #Hlb]"; [lia|].
    iMod ("Hclose" with "[Hcur HC]") as "_".
    { iNext. iExists (S ep), γs'. iFrame. iExists vn'. done. }
    iModIntro. iSplitL "Hc Hh Hd Ht Hbm Hv' Hback".
    { iApply ("Hback" with "[Hc Hh Hd Hbm Hv'] Ht"). iFrame "Hc". iSplitL "Hh".
      { iExists hm. iFrame. iPureIntro. destruct Hok as [Hok1 Hok2]. split; simpl.
        - intros l. rewrite lookup_empty. apply Hok2. simpl. lia.
        - intros ep2 l ?. apply Hok2. simpl. lia. }
      iSplitL "Hd".
      { destruct Hdv as (Hd1 & Hd2 & (Hd3 & _) & _).
        rewrite /durable_interp /= Hd1 Hd2. iDestruct "Hd" as "($ & $ & $ & $ & $ & $ & %Hsz)".
        iPureIntro. by rewrite -Hsz -!size_dom Hd3. }
      iExists _, γs', vn'. iFrame. iPureIntro. rewrite lookup_insert /=. split; [done|].
      intros ep2 Hlt2. rewrite lookup_insert_ne; [|lia]. apply Hnone. simpl. lia. }
    iSplitR; [iApply "IH"|]. simpl. iSplitL; [|done].
    assert (b_node (next_boot (Boot n ep)) = n) as Hn by done.
    iApply (wp_wand with "[Hrec]").
    { iApply (wpe_elim (Boot n (S ep)) with "[]"); [by iFrame "Hlb"|].
      iApply "Hrec". rewrite /crash_ctx. iSplit; [iExact "Hinv"|]. iExists vn'. done. }
    auto.
  Qed.
End demon.

(** ** Adequacy *)
Class golangGpreS Σ := GolangGpreS {
  golangGpreS_inv : invGpreS Σ;
  golangGpreS_epoch : mono_natG Σ;
  golangGpreS_heap : ghost_mapG Σ (nat * loc) cell;
  golangGpreS_trace : ghost_varG Σ (list event);
  golangGpreS_boot : ghost_mapG Σ nat (list gname * volatile_names);
  golangGpreS_dev : devG Σ;
}.
Global Existing Instances golangGpreS_inv golangGpreS_epoch golangGpreS_heap golangGpreS_trace
  golangGpreS_boot golangGpreS_dev.
Definition golangΣ : gFunctors :=
  #[invΣ; mono_natΣ; ghost_mapΣ (nat * loc) cell; ghost_varΣ (list event);
    ghost_mapΣ nat (list gname * volatile_names); devΣ].
Global Instance subG_golangΣ Σ : subG golangΣ Σ → golangGpreS Σ.
Proof. solve_inG. Qed.

(** What the first boot of a node owns: every block of its synchronous disks. *)
Definition durable_elements `{!golangGS Σ} (n : nat) (dv : devices) : iProp Σ :=
  ([∗ map] a ↦ s ∈ dv_disk dv, a d↦[n] s) ∗
  ([∗ map] a ↦ s ∈ td_0 (dv_two dv), a t0↦[n] s) ∗
  ([∗ map] a ↦ s ∈ td_1 (dv_two dv), a t1↦[n] s).
Definition sizes_are `{!golangGS Σ} (n : nat) (dv : devices) : Prop :=
  dn_disk_size (durable n) = size (dv_disk dv) ∧
  dn_two_size (durable n) = size (td_0 (dv_two dv)) ∧
  dn_async_size (durable n) = size (dv_async dv).

(** What must be shown of a node with the devices [dv]: from everything that it owns
    at its first boot, names and the crash invariant, the boot program, every
    crash, and that the invariant implies [φ] of the trace. *)
Definition node_obligation `{!golangGS Σ} N (main : expr) (dv : devices) (vn : volatile_names)
    (φ : list event → Prop) : iProp Σ :=
  durable_elements 0 dv -∗ volatile_elements vn dv -∗ trace_is [] ={⊤}=∗
  ∃ (C : boot → list gname → iProp Σ) γs,
    (boot_is (Boot 0 0) γs vn ={⊤}=∗
      C (Boot 0 0) γs ∗
      (crash_ctx N C (Boot 0 0) γs -∗ WP main @ Boot 0 0; ⊤ {{ _, True }})) ∗
    crash_obligation N 0 C main ∗
    □ (∀ b γs, ▷ C b γs ={⊤ ∖ ↑N}=∗ ∃ t, trace_is t ∗ ⌜φ t⌝).

(** One node: whatever the interleaving and however many crashes there are, also
    during recovery, the trace satisfies [φ] and no thread is stuck. *)
Theorem recovery_adequacy Σ `{!golangGpreS Σ} N (main : expr) (dv : devices) (φ : list event → Prop) :
  fs_fds (dv_fs dv) = ∅ →
  (∀ `{!golangGS Σ} vn, sizes_are 0 dv → ⊢ node_obligation N main dv vn φ) →
  ∀ es σ,
    rtc (erased_step (Λ:=golang_lang))
      ([At (Boot 0 0) (CrashLoop main); At (Boot 0 0) main], State [NodeState 0 ∅ dv] []) (es, σ) →
    φ (trace σ) ∧ ∀ e, e ∈ es → not_stuck (Λ:=golang_lang) e σ.
Proof.
  intros Hfds Hwp es σ [n [κs Hsteps]]%erased_steps_nsteps.
  eapply (wp_strong_adequacy Σ golang_lang NotStuck); [|done].
  iIntros (Hinv).
  iMod (mono_nat_own_alloc 0) as (γep) "[[Hcur1 Hcur2] #Hlb]".
  iMod (ghost_map_alloc_empty (K:=nat*loc) (V:=cell)) as (γh) "Hh".
  iMod (ghost_var_alloc ([] : list event)) as (γt) "[Ht1 Ht2]".
  iMod (ghost_map_alloc_empty (K:=nat) (V:=list gname * volatile_names)) as (γb) "Hb".
  iMod (ghost_map_alloc (dv_disk dv)) as (γd) "[Hd Hde]".
  iMod (ghost_map_alloc (td_0 (dv_two dv))) as (γ0) "[H0 H0e]".
  iMod (ghost_map_alloc (td_1 (dv_two dv))) as (γ1) "[H1 H1e]".
  iMod (failed_alloc (dv_two dv)) as (γf) "Hf".
  iMod (volatile_alloc dv) as (vn) "[Hv Hve]"; [done|].
  set (dn := DurableNames γd γ0 γ1 γf (size (dv_disk dv)) (size (td_0 (dv_two dv))) (size (dv_async dv))).
  set (G := GolangGS Σ Hinv _ _ _ _ _ γt [NodeNames γep γh γb dn]).
  iMod (Hwp G vn with "[Hde H0e H1e] Hve Ht1") as (C γs) "(Hboot & #Hob & #Hφ)".
  { done. }
  { rewrite /durable_elements. iFrame. }
  iMod (ghost_map_insert_persist 0 (γs, vn) with "Hb") as "[Hb #Hnm]"; [done|].
  iMod ("Hboot" with "Hnm") as "[HC Hboot]".
  iMod (inv_alloc N _ (∃ ep γs, cur 0 ep ∗ boot_names (Boot 0 ep) γs ∗ C (Boot 0 ep) γs) with "[HC Hcur1]") as "#Hinv".
  { iNext. iExists 0, γs. iFrame. iExists vn. done. }
  iAssert (started (Boot 0 0)) as "#Hst". { iSplit; [iPureIntro; simpl; lia|done]. }
  iModIntro. iExists (λ σ _ _ _, sinterp σ), [(λ _, True%I); (λ _, True%I)], (λ _, True%I), _.
  iSplitL "Hcur2 Hh Hb Hd H0 H1 Hf Hv Ht2".
  { rewrite /sinterp /=. iSplit; [done|]. iFrame "Ht2". iSplitL; [|done].
    iFrame "Hcur2". iSplitL "Hh".
    { iExists ∅. iFrame. iPureIntro. split; simpl; intros; by rewrite !lookup_empty. }
    iSplitL "Hd H0 H1 Hf".
    { rewrite /durable_interp /failed_interp /=. iFrame "Hd H0 H1". iSplitL; [iExact "Hf"|done]. }
    iExists _, γs, vn. iFrame "Hb". rewrite /= lookup_insert. iFrame "Hv". iPureIntro.
    split; [done|]. intros ep ?. rewrite lookup_insert_ne; [done|lia]. }
  iSplitL "Hboot".
  { simpl. iSplitR.
    { iApply (@wp_demon Σ G N 0 C main 0 (λ _, True)%I with "[] [] []"); [iApply "Hob"|iApply "Hinv"|done]. }
    iSplitL; [|done].
    iApply (wp_wand with "[Hboot]").
    { iApply (wpe_elim with "Hst"). iApply "Hboot". rewrite /crash_ctx. iSplit; [iApply "Hinv"|].
      iExists vn. done. }
    auto. }
  iIntros (es' t2' -> Hlen Hns) "Hσ _ _".
  iInv "Hinv" as (ep γs') "(>Hcur & _ & HC)" "_".
  iMod ("Hφ" with "HC") as (tr) "[Htr %Htr]".
  iDestruct "Hσ" as "(_ & _ & Ht)".
  iDestruct (ghost_var_agree with "Htr Ht") as %->.
  iApply fupd_mask_intro; [set_solver|]. iIntros "_". iPureIntro. eauto.
Qed.

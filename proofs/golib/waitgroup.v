(** * Wait groups

    Whoever makes the group may add tasks ([wg_adder n]: n were added since the
    last wait).  Each task is a token, which is handed in with [P] by [Done]; and
    [Wait] gives the [P] of every task that was added. *)
From ashlar.golib Require Export memory.
Local Open Scope Z_scope.

Definition waitgroupN : namespace := nroot .@ "waitgroup".

Section waitgroup.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (l : loc) (γ : gname * gname) (P : iProp Σ) (n : nat).

  Local Notation auth γ m := (ghost_map_auth (K:=nat * loc) (V:=cell) γ 1 m).

  Definition waitgroup_body b l γ P : iProp Σ :=
    ∃ (m : gmap (nat * loc) cell) n,
      (* the counter: the tasks that are not done *)
      l ↦[b] #(int (size m)) ∗ auth γ.1 m ∗
      (* all that were added *)
      auth γ.2 {[ (0%nat, l) := Reading n #() ]} ∗ ⌜n < 2^31⌝ ∗ ⌜(size m ≤ n)%nat⌝ ∗
      (* what those that are done have handed in *)
      [∗ list] _ ∈ seq 0 (n - size m), P.
  Definition is_waitgroup b l γ P : iProp Σ := vinv waitgroupN b (waitgroup_body b l γ P).
  Definition wg_adder l γ n : iProp Σ := (0%nat, l) ↪[γ.2] Reading n #().
  Definition wg_task γ : iProp Σ := ∃ i, i ↪[γ.1] Writing.
  Global Instance is_waitgroup_persistent b l γ P : Persistent (is_waitgroup b l γ P).
  Proof. apply _. Qed.

  Lemma waitgroup_alloc b l E P :
    l ↦[b] #(int 0) ={E}=∗ ∃ γ, is_waitgroup b l γ P ∗ wg_adder l γ 0.
  Proof.
    iIntros "Hl". iMod (ghost_map_alloc_empty (K:=nat * loc) (V:=cell)) as (γ1) "Hm".
    iMod (ghost_map_alloc {[ (0%nat, l) := Reading 0 #() ]}) as (γ2) "[Hn Hadd]".
    rewrite big_sepM_singleton. iExists (γ1, γ2). iFrame "Hadd". iApply vinv_alloc.
    iNext. iExists ∅, 0%nat. rewrite map_size_empty /=. by iFrame.
  Qed.

  Lemma wg_tasks_alloc γ (m : gmap (nat * loc) cell) (d : nat) :
    auth γ.1 m ==∗
    ∃ m', ⌜size m' = (size m + d)%nat⌝ ∗ auth γ.1 m' ∗ [∗ list] _ ∈ seq 0 d, wg_task γ.
  Proof.
    iIntros "Hm". iInduction d as [|d] "IH".
    - iModIntro. iExists m. iFrame. iSplit; [iPureIntro; lia|done].
    - iMod ("IH" with "Hm") as (m' Hm') "[Hm Htasks]".
      destruct (exist_fresh (dom m')) as [i Hi%not_elem_of_dom].
      iMod (ghost_map_insert i Writing with "Hm") as "[Hm Hi]"; [done|]. iModIntro.
      iExists (<[i := Writing]> m'). iFrame "Hm". iSplit.
      { iPureIntro. rewrite map_size_insert_None //. lia. }
      rewrite seq_S big_sepL_app /=. iFrame "Htasks". iSplit; [|done]. by iExists i.
  Qed.

  Lemma wp_waitgroup_add b l γ P n w (d : Z) : 0 ≤ d → n + d < 2^31 →
    {{{ is_waitgroup b l γ P ∗ wg_adder l γ n }}}
      waitgroup_add #l #(LitInt w d) @ b; ⊤
    {{{ RET #(); wg_adder l γ (n + Z.to_nat d) ∗ [∗ list] _ ∈ seq 0 (Z.to_nat d), wg_task γ }}}.
  Proof.
    iIntros (Hd Hn Φ) "[#Hinv Hadd] HΦ".
    iLöb as "IH" forall (w). wp_rec. wp_pures. rewrite_wrap. wp_bind (Eff LoadOp _).
    iInv "Hinv" as "(%m & %n' & >Hl & >Hm & >Hn & >%Hmax & >%Hle & HP)".
    iDestruct (ghost_map_lookup with "Hn Hadd") as %Hn'%lookup_singleton_Some.
    destruct Hn' as [_ [= ->]].
    iApply (wpe_load with "Hl"). iIntros "!> Hl !>". iSplitL "Hl Hm Hn HP".
    { iNext. iExists m, n. by iFrame. }
    wp_pures. rewrite_wrap. wp_cond. rewrite_wrap. wp_cond. rewrite_wrap. wp_bind (Eff _ _).
    iInv "Hinv" as "(%m2 & %n' & >Hl & >Hm & >Hn & >%Hmax2 & >%Hle2 & HP)".
    iDestruct (ghost_map_lookup with "Hn Hadd") as %Hn'%lookup_singleton_Some.
    destruct Hn' as [_ [= ->]].
    iApply (wpe_cmpxchg with "Hl"); [done|]. iIntros "!> Hl". case_bool_decide as Heq; last first.
    { iModIntro. iSplitL "Hl Hm Hn HP". { iNext. iExists m2, n. by iFrame. }
      wp_pures. by iApply ("IH" with "Hadd HΦ"). }
    injection Heq as Heq.
    iMod (wg_tasks_alloc _ _ (Z.to_nat d) with "Hm") as (m' Hm') "[Hm Htasks]".
    iMod (ghost_map_update (Reading (n + Z.to_nat d) #()) with "Hn Hadd") as "[Hn Hadd]".
    rewrite insert_singleton. iModIntro. iSplitL "Hl Hm Hn HP".
    { iNext. iExists m', (n + Z.to_nat d)%nat. iFrame "Hm Hn". rewrite Hm'.
      replace (n + Z.to_nat d - (size m2 + Z.to_nat d))%nat with (n - size m2)%nat by lia.
      iFrame "HP". iSplitL; [|iPureIntro; lia].
      by replace (Z.of_nat (size m2 + Z.to_nat d)) with (size m + d) by lia. }
    wp_pures. iApply "HΦ". iFrame.
  Qed.
  Lemma wp_waitgroup_done b l γ P :
    {{{ is_waitgroup b l γ P ∗ wg_task γ ∗ P }}} waitgroup_done #l @ b; ⊤ {{{ RET #(); True }}}.
  Proof.
    iIntros (Φ) "(#Hinv & (%i & Hi) & HP) HΦ". wp_rec.
    iLöb as "IH". wp_rec. wp_pures. rewrite_wrap. wp_bind (Eff LoadOp _).
    iInv "Hinv" as "(%m & %n & >Hl & >Hm & >Hn & >%Hmax & >%Hle & HPs)".
    iDestruct (ghost_map_lookup with "Hm Hi") as %Hi.
    assert (size m ≠ 0%nat) by (rewrite map_size_non_empty_iff; intros ->; by rewrite lookup_empty in Hi).
    iApply (wpe_load with "Hl"). iIntros "!> Hl".
    iModIntro. iSplitL "Hl Hm Hn HPs".
    { iNext. iExists m, n. by iFrame. }
    wp_pures. rewrite_wrap. wp_cond. rewrite_wrap. wp_cond. rewrite_wrap. wp_bind (Eff _ _).
    iInv "Hinv" as "(%m2 & %n2 & >Hl & >Hm & >Hn & >%Hmax2 & >%Hle2 & HPs)".
    iDestruct (ghost_map_lookup with "Hm Hi") as %Hi2.
    iApply (wpe_cmpxchg with "Hl"); [done|]. iIntros "!> Hl". case_bool_decide as Heq; last first.
    { iModIntro. iSplitL "Hl Hm Hn HPs". { iNext. iExists m2, n2. by iFrame. }
      wp_pures. by iApply ("IH" with "Hi HP HΦ"). }
    injection Heq as Heq. iMod (ghost_map_delete with "Hm Hi") as "Hm". iModIntro.
    assert (size (delete i m2) = pred (size m2)) as Hsz by (apply map_size_delete_Some; eauto).
    iSplitR "HΦ".
    { iNext. iExists (delete i m2), n2. iFrame "Hm Hn".
      replace (n2 - size (delete i m2))%nat with (S (n2 - size m2)) by lia.
      rewrite seq_S big_sepL_app /=. iFrame "HPs HP". iSplitL; [|iPureIntro; lia].
      by replace (Z.of_nat (size (delete i m2))) with (size m + -1) by lia. }
    wp_pures. by iApply "HΦ".
  Qed.
  Lemma wp_waitgroup_wait b l γ P n :
    {{{ is_waitgroup b l γ P ∗ wg_adder l γ n }}}
      waitgroup_wait #l @ b; ⊤
    {{{ RET #(); wg_adder l γ 0 ∗ [∗ list] _ ∈ seq 0 n, P }}}.
  Proof.
    iIntros (Φ) "[#Hinv Hadd] HΦ". iLöb as "IH". wp_rec. wp_bind (Eff LoadOp _).
    iInv "Hinv" as "(%m & %n' & >Hl & >Hm & >Hn & >%Hmax & >%Hle & HP)".
    iDestruct (ghost_map_lookup with "Hn Hadd") as %Hn'%lookup_singleton_Some.
    destruct Hn' as [_ [= ->]].
    iApply (wpe_load with "Hl"). iIntros "!> Hl". destruct (decide (size m = 0%nat)) as [Hz|Hz].
    - iMod (ghost_map_update (Reading 0 #()) with "Hn Hadd") as "[Hn Hadd]".
      rewrite insert_singleton. iModIntro. rewrite Hz Nat.sub_0_r. iSplitL "Hl Hm Hn".
      { iNext. iExists m, 0%nat. rewrite Hz /=. iFrame. iPureIntro. split; [lia|done]. }
      wp_pures. iApply "HΦ". iFrame.
    - iModIntro. iSplitL "Hl Hm Hn HP". { iNext. iExists m, n. by iFrame. }
      wp_pures. rewrite bool_decide_false; [|intros [=]; lia]. wp_pures.
      by iApply ("IH" with "Hadd HΦ").
  Qed.
End waitgroup.
Global Typeclasses Opaque is_waitgroup wg_adder wg_task.

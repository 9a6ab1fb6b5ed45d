(** * Reader-writer mutexes

    [R q] is what a fraction [q] of the protected state gives: the writer has
    [R 1], each reader has [R reader_share], from which it learns what there is
    but cannot change it. *)
From ashlar.golib Require Export memory.
Local Open Scope Z_scope.

Definition rwmutexN : namespace := nroot .@ "rwmutex".

(** [shares k]: k of the equal parts of a whole. *)
Definition reader_share : Qp := (1 / pos_to_Qp (Z.to_pos (max_readers + 1)))%Qp.
Local Definition shares (k : Z) : Qp := (pos_to_Qp (Z.to_pos k) * reader_share)%Qp.
Local Lemma shares_all : shares (max_readers + 1) = 1%Qp.
Proof. apply Qp.mul_div_r. Qed.
Local Lemma shares_S k : 1 ≤ k → shares (k + 1) = (shares k + reader_share)%Qp.
Proof.
  intros. rewrite /shares Z2Pos.inj_add; [|lia..]. rewrite -pos_to_Qp_add Qp.mul_add_distr_r.
  by rewrite Qp.mul_1_l.
Qed.
Global Opaque reader_share.
Local Opaque shares.

Section rwmutex.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (l : loc) (R : Qp → iProp Σ).

  Local Definition token γ (q : Qp) : iProp Σ := ghost_var γ q ([] : list event).
  Local Lemma token_exclusive γ q : token γ 1 -∗ token γ q -∗ False.
  Proof.
    iIntros "H1 H2". iDestruct (ghost_var_valid_2 with "H1 H2") as %[Hq _].
    by apply Qp.not_add_le_l in Hq.
  Qed.

  Definition rwmutex_body b l γr γw R : iProp Σ :=
    ∃ n : Z, l ↦[b] #(int n) ∗
      (* a writer: no reader's token is out *)
      (⌜n = -1⌝ ∗ token γr 1 ∨
      (* n readers: each has a token and a share *)
       ⌜0 ≤ n ≤ max_readers⌝ ∗ token γw 1 ∗
       token γr (shares (max_readers + 1 - n)) ∗ R (shares (max_readers + 1 - n))).
  Definition is_rwmutex b l R : iProp Σ :=
    ∃ γr γw, vinv rwmutexN b (rwmutex_body b l γr γw R).
  Definition rwmutex_held b l R : iProp Σ :=
    ∃ γr γw, vinv rwmutexN b (rwmutex_body b l γr γw R) ∗ token γw 1.
  Definition rwmutex_rheld b l R : iProp Σ :=
    ∃ γr γw, vinv rwmutexN b (rwmutex_body b l γr γw R) ∗ token γr reader_share.
  Global Instance is_rwmutex_persistent b l R : Persistent (is_rwmutex b l R).
  Proof. apply _. Qed.

  Lemma rwmutex_alloc b l E R : l ↦[b] #(int 0) -∗ ▷ R 1%Qp ={E}=∗ is_rwmutex b l R.
  Proof.
    iIntros "Hl HR". iMod (ghost_var_alloc ([] : list event)) as (γr) "Hr".
    iMod (ghost_var_alloc ([] : list event)) as (γw) "Hw". iExists γr, γw. iApply vinv_alloc.
    iNext. iExists 0. iFrame "Hl". iRight. rewrite Z.sub_0_r shares_all. by iFrame.
  Qed.

  Lemma wp_rwmutex_lock b l R :
    {{{ is_rwmutex b l R }}} rwmutex_lock #l @ b; ⊤ {{{ RET #(); rwmutex_held b l R ∗ R 1%Qp }}}.
  Proof.
    iIntros (Φ) "(%γr & %γw & #Hinv) HΦ". iLöb as "IH". wp_rec. wp_pures. wp_bind (Eff _ _).
    iInv "Hinv" as "(%n & >Hl & Hn)". iApply (wpe_cmpxchg with "Hl"); [done|].
    iIntros "!> Hl !>". case_bool_decide as Heq; last first.
    { iSplitL "Hl Hn". { iNext. iExists n. iFrame. }
      wp_pures. by iApply "IH". }
    injection Heq as ->. iDestruct "Hn" as "[[% _]|(_ & Hw & Hr & HR)]"; [done|].
    rewrite Z.sub_0_r shares_all. iSplitL "Hl Hr". { iNext. iExists (-1). iFrame "Hl". iLeft. by iFrame. }
    wp_pures. iApply "HΦ". iFrame. iExists γr, γw. by iFrame.
  Qed.
  Lemma wp_rwmutex_unlock b l R :
    {{{ rwmutex_held b l R ∗ R 1%Qp }}} rwmutex_unlock #l @ b; ⊤ {{{ RET #(); True }}}.
  Proof.
    iIntros (Φ) "[(%γr & %γw & #Hinv & Hw) HR] HΦ". wp_rec. wp_pures. wp_bind (Eff _ _).
    iInv "Hinv" as "(%n & >Hl & Hn)". iApply (wpe_cmpxchg with "Hl"); [done|].
    iIntros "!> Hl". iDestruct "Hn" as "[[-> Hr]|(_ & Hw2 & _)]"; last first.
    { by iDestruct (token_exclusive with "Hw Hw2") as "[]". }
    rewrite bool_decide_true //. iModIntro. iSplitR "HΦ".
    { iNext. iExists 0. iFrame "Hl". iRight. rewrite Z.sub_0_r shares_all. by iFrame. }
    wp_pures. by iApply "HΦ".
  Qed.

  Lemma wp_rwmutex_rlock b l R `{!Fractional R} :
    {{{ is_rwmutex b l R }}}
      rwmutex_rlock #l @ b; ⊤
    {{{ RET #(); rwmutex_rheld b l R ∗ R reader_share }}}.
  Proof.
    iIntros (Φ) "(%γr & %γw & #Hinv) HΦ". iLöb as "IH". wp_rec. wp_pures. wp_bind (Eff LoadOp _).
    iInv "Hinv" as "(%n & >Hl & Hn)". iApply (wpe_load with "Hl"). iIntros "!> Hl !>".
    iSplitL "Hl Hn". { iNext. iExists n. iFrame. }
    wp_pures. case_bool_decide as H0; wp_pures; last by iApply "IH".
    case_bool_decide as Hmax; wp_pures; last by iApply "IH".
    unfold max_readers in Hmax. rewrite_wrap. wp_bind (Eff _ _).
    iInv "Hinv" as "(%m & >Hl & Hm)". iApply (wpe_cmpxchg with "Hl"); [done|].
    iIntros "!> Hl !>". case_bool_decide as Heq; last first.
    { iSplitL "Hl Hm". { iNext. iExists m. iFrame. }
      wp_pures. by iApply "IH". }
    injection Heq as ->. iDestruct "Hm" as "[[% _]|(_ & Hw & Hr & HR)]"; [lia|].
    replace (max_readers + 1 - n) with (max_readers + 1 - (n + 1) + 1) by lia.
    rewrite shares_S; [|unfold max_readers; lia]. rewrite (fractional (Φ:=R)).
    iDestruct "Hr" as "[Hr1 Hr2]". iDestruct "HR" as "[HR1 HR2]".
    iSplitL "Hl Hw Hr1 HR1".
    { iNext. iExists (n + 1). iFrame "Hl". iRight. iFrame. iPureIntro. unfold max_readers. lia. }
    wp_pures. iApply "HΦ". iFrame. iExists γr, γw. by iFrame.
  Qed.
  Lemma wp_rwmutex_runlock b l R `{!Fractional R} :
    {{{ rwmutex_rheld b l R ∗ R reader_share }}} rwmutex_runlock #l @ b; ⊤ {{{ RET #(); True }}}.
  Proof.
    iIntros (Φ) "[(%γr & %γw & #Hinv & Hr) HR] HΦ". iLöb as "IH". wp_rec. wp_pures.
    wp_bind (Eff LoadOp _).
    iInv "Hinv" as "(%n & >Hl & Hn)". iApply (wpe_load with "Hl"). iIntros "!> Hl".
    iAssert (⌜1 ≤ n ≤ max_readers⌝)%I as %Hn.
    { iDestruct "Hn" as "[[_ Hr2]|(%Hn & _ & Hr2 & _)]".
      { by iDestruct (token_exclusive with "Hr2 Hr") as "[]". }
      destruct (decide (n = 0)) as [->|]; [|iPureIntro; lia].
      rewrite Z.sub_0_r shares_all. by iDestruct (token_exclusive with "Hr2 Hr") as "[]". }
    iModIntro. iSplitL "Hl Hn". { iNext. iExists n. iFrame. }
    unfold max_readers in Hn. wp_cond. rewrite_wrap. wp_bind (Eff _ _).
    iInv "Hinv" as "(%m & >Hl & Hm)". iApply (wpe_cmpxchg with "Hl"); [done|].
    iIntros "!> Hl !>". case_bool_decide as Heq; last first.
    { iSplitL "Hl Hm". { iNext. iExists m. iFrame. }
      wp_pures. by iApply ("IH" with "Hr HR"). }
    injection Heq as ->. iDestruct "Hm" as "[[% _]|(_ & Hw & Hr2 & HR2)]"; [lia|].
    iSplitR "HΦ".
    { iNext. iExists (n - 1). iFrame "Hl". iRight. iFrame "Hw".
      replace (max_readers + 1 - (n - 1)) with (max_readers + 1 - n + 1) by lia.
      rewrite shares_S; [|unfold max_readers; lia]. rewrite (fractional (Φ:=R)). iFrame.
      iPureIntro. unfold max_readers. lia. }
    wp_pures. by iApply "HΦ".
  Qed.
End rwmutex.
Global Typeclasses Opaque is_rwmutex rwmutex_held rwmutex_rheld.

(** * What the program does with files that are its own *)
From ashlar.lib Require Import decimal.
From ashlar.golib Require Export slice_rules append control machine.
From ashlar.gen.mail Require Export mailboat.
From ashlar.logic Require Export fs.
From ashlar.mailboat Require Import inv.
Local Open Scope Z_scope.

Section files.
  Context `{!golangGS Σ, !mailG Σ}.
  Implicit Types (b : boot) (s : slice) (d : list Z) (fd i : Z).

  (** ** Names *)
  Lemma wp_userDir b (u : Z) : in_range U64 u →
    {{{ True }}} userDir #(u64 u) @ b; ⊤ {{{ RET #(LitStr (user_dir u)); True }}}.
  Proof.
    iIntros (Hu Φ) "_ HΦ". wp_rec. wp_apply (wp_UInt64ToString with "[//]"); [done|].
    iIntros "_". wp_pures. by iApply "HΦ".
  Qed.
  Lemma wp_randomName b :
    {{{ True }}} randomName #() @ b; ⊤ {{{ name, RET #(LitStr name); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_apply (wp_RandomUint64 with "[//]"). iIntros (n Hn).
    wp_apply (wp_UInt64ToString with "[//]"); [done|]. iIntros "_". by iApply "HΦ".
  Qed.

  (** The size of a chunk as a natural number, never to be computed. *)
  Local Lemma chunk_nat : ∃ c : nat, Z.of_nat c = chunkSize ∧ Z.to_nat chunkSize = c ∧ chunkSize = 4096.
  Proof. exists (Z.to_nat chunkSize). by rewrite Z2Nat.id. Qed.

  (** ** Appending *)
  Lemma wp_FS__Append b (f : val) fd i n s dq d :
    {{{ own_bytes b s dq d ∗ fd ↦fd[b] (i, true) ∗ i ↦inode[b] n }}}
      filesys.FS__Append f #(u64 fd) (slice_val s) @ b; ⊤
    {{{ RET #(); own_bytes b s dq d ∗ fd ↦fd[b] (i, true) ∗
         i ↦inode[b] Inode (in_data n ++ d) (in_synced n) }}}.
  Proof.
    iIntros (Φ) "(Hs & Hfd & Hi) HΦ". wp_rec. wp_pures.
    wp_apply (wp_slice_to_string with "Hs"). iIntros "Hs". wp_pures.
    iApply (wpe_fs_append with "Hfd Hi"). iIntros "!> Hfd Hi". iApply "HΦ". iFrame.
  Qed.
  Lemma wp_appendAll b (f : val) fd i d0 k s dq d :
    {{{ own_bytes b s dq d ∗ fd ↦fd[b] (i, true) ∗ i ↦inode[b] Inode d0 k }}}
      appendAll f #(u64 fd) (slice_val s) @ b; ⊤
    {{{ RET #(); own_bytes b s dq d ∗ fd ↦fd[b] (i, true) ∗ i ↦inode[b] Inode (d0 ++ d) k }}}.
  Proof.
    iIntros (Φ) "(Hs & Hfd & Hi) HΦ". wp_rec. wp_alloc rest as "Hrest". wp_pures.
    destruct chunk_nat as (c & Hc & _ & Hc2).
    set (I := (∃ r before after, ⌜d = before ++ after⌝ ∗ rest ↦[b] slice_val r ∗
      own_bytes b r dq after ∗ (own_bytes b r dq after -∗ own_bytes b s dq d) ∗
      fd ↦fd[b] (i, true) ∗ i ↦inode[b] Inode (d0 ++ before) k)%I).
    wp_apply (wp_for_simple I I with "[Hs Hfd Hi Hrest] []").
    - iExists s, [], d. rewrite app_nil_r. iFrame. iSplit; [done|]. by iIntros "$".
    - iIntros "!> (%r & %before & %after & -> & Hrest & Hr & Hback & Hfd & Hi)".
      iDestruct (own_slice_wf with "Hr") as %[Hwf Hlen]. rewrite fmap_length in Hlen.
      pose proof (proj1 (proj2 Hwf)) as Hmax. pose proof (proj1 Hwf). unfold max_elems in Hmax.
      wp_load. wp_pures. rewrite_wrap. iExists _. iSplit; [done|]. case_bool_decide as Hlt; last first.
      { iExists r, before, after. by iFrame. }
      wp_load. wp_apply wp_slice_take; [done|lia|].
      rewrite /own_bytes (own_slice_split _ r _ _ _ c) //;
        [|rewrite fmap_length; lia|by rewrite fmap_length]. rewrite Hc.
      rewrite -fmap_take -fmap_drop. iDestruct "Hr" as "[Hr1 Hr2]".
      wp_apply (wp_FS__Append with "[$Hr1 $Hfd $Hi]"). iIntros "(Hr1 & Hfd & Hi)". wp_pures.
      wp_load. wp_apply wp_slice_drop; [done|lia|]. wp_store. do 2 wp_pures.
      iExists _, (before ++ take c after), (drop c after). iFrame "Hrest Hfd".
      rewrite /= !app_assoc. iFrame "Hr2 Hi". iSplit; [by rewrite -app_assoc take_drop|].
      iIntros "Hr2". iApply "Hback". iFrame.
    - iIntros "(%r & %before & %after & -> & Hrest & Hr & Hback & Hfd & Hi)". wp_pures. wp_load.
      wp_apply (wp_FS__Append with "[$Hr $Hfd $Hi]"). iIntros "(Hr & Hfd & Hi)".
      iApply "HΦ". rewrite /= app_assoc. iFrame. by iApply "Hback".
  Qed.

  (** ** Reading *)
  Lemma wp_readAll b (f : val) fd i dq n :
    {{{ fd ↦fd[b] (i, false) ∗ inode_is b i dq n }}}
      readAll f #(u64 fd) @ b; ⊤
    {{{ s, RET slice_val s; own_bytes_full b s (in_data n) ∗ fd ↦fd[b] (i, false) }}}.
  Proof.
    iIntros (Φ) "(Hfd & Hi) HΦ". wp_rec. wp_pures. wp_apply (wp_ref_zero with "[//]").
    iIntros (data) "Hdata /=". wp_pures.
    set (D := in_data n). destruct chunk_nat as (c & Hc & Hcz & Hc2).
    set (I := (∃ s k, ⌜(k ≤ length D)%nat⌝ ∗ data ↦[b] slice_val s ∗ own_bytes_full b s (take k D) ∗
      fd ↦fd[b] (i, false) ∗ inode_is b i dq n)%I).
    set (Q := (λ o : val, ∃ s, ⌜o = InjRV (InjRV (slice_val s))⌝ ∗ own_bytes_full b s D ∗
      fd ↦fd[b] (i, false))%I).
    wp_apply (wp_for_ever I Q with "[Hdata Hfd Hi] []").
    - iExists nil_slice, 0%nat. rewrite take_0. iFrame. iSplit; [iPureIntro; lia|].
      iApply own_slice_full_nil.
    - iIntros "!> (%s & %k & %Hk & Hdata & [Hs Hcap] & Hfd & Hi)". wp_pures. wp_load.
      iDestruct (own_bytes_length with "Hs") as %[Hlen Hmax].
      rewrite take_length_le // in Hlen Hmax. unfold max_elems in Hmax.
      wp_pures. rewrite Hlen. rewrite_wrap. wp_rec. wp_pures.
      wp_bind (Eff _ _). iApply (wpe_fs_read_at with "Hfd Hi"). iIntros "!> Hfd Hi".
      fold D. rewrite Nat2Z.id Hcz.
      wp_apply (wp_string_to_slice with "[//]"). { rewrite take_length. unfold max_elems. lia. }
      iIntros (next) "[Hnext _]". wp_pures. wp_load.
      wp_apply (wp_append_bytes with "[$Hs $Hcap $Hnext]"). iIntros (s2) "[Hs Hnext]". wp_store.
      iDestruct (own_bytes_length with "Hnext") as %[Hlen2 _]. rewrite take_length drop_length in Hlen2.
      rewrite take_take_drop. wp_pures. rewrite Hlen2. rewrite_wrap.
      case_bool_decide as Hlt; wp_pures.
      + wp_load. wp_pures. iRight. iRight. iExists (slice_val s2). iSplit; [done|]. iExists s2.
        iSplit; [done|]. iFrame. rewrite take_ge //. lia.
      + iLeft. iSplit; [by iLeft|]. iExists s2, (k + c)%nat. iFrame. iPureIntro. lia.
    - iIntros (o) "(%s & -> & Hs & Hfd)". wp_pures. iApply "HΦ". iFrame.
  Qed.
End files.

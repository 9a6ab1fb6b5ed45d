(** * Small programs on a disk, on numbers and on what readers share *)
From ashlar.golib Require Import disk machine readonly rwmutex.
Local Open Scope Z_scope.

(** A block is copied, and its number is put into the first bytes of the copy. *)
Definition copy_block : val :=
  λ: "d" "from" "to",
    let: "b" := disk.Disk__Read "d" "from" in
    machine.UInt64Put "b" "to";;
    disk.Disk__Write "d" "to" "b";;
    machine.UInt64ToString (machine.UInt64Get "b").

(** A number that many read and some change. *)
Definition shared : struct := [("mu", rwmutexT); ("n", uint64T)].
Definition shared_get : val :=
  λ: "s",
    rwmutex_rlock ("s".[shared, "mu"]);;
    let: "n" := ![uint64T] ("s".[shared, "n"]) in
    rwmutex_runlock ("s".[shared, "mu"]);;
    "n".
Definition shared_set : val :=
  λ: "s" "n",
    rwmutex_lock ("s".[shared, "mu"]);;
    "s".[shared, "n"] <-[uint64T] "n";;
    rwmutex_unlock ("s".[shared, "mu"]).

Section examples.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (l : loc) (bs : list Z).

  Lemma wp_copy_block b (d : val) (a1 a2 : Z) bs bs2 :
    block_ok bs → bytes_ok bs → in_range U64 a2 →
    {{{ a1 d↦[b_node b] bs ∗ a2 d↦[b_node b] bs2 }}}
      copy_block d #(u64 a1) #(u64 a2) @ b; ⊤
    {{{ RET #(LitStr (decimal a2));
        a1 d↦[b_node b] bs ∗ a2 d↦[b_node b] (u64_bytes a2 ++ drop 8 bs) }}}.
  Proof.
    iIntros (Hbs Hok Ha Φ) "[H1 H2] HΦ".
    assert (8 ≤ length bs)%nat as Hlen by (rewrite Hbs; apply Nat.leb_le; by vm_compute).
    assert (block_ok (u64_bytes a2 ++ drop 8 bs)) as Hbs'.
    { rewrite /block_ok app_length le_bytes_length drop_length -Hbs. lia. }
    wp_rec. wp_pures. wp_apply (wp_Disk__Read_owned with "H1"); [done|].
    iIntros (s) "[H1 [Hs _]]". wp_pures.
    wp_apply (wp_UInt64Put with "Hs"); [done|done|]. iIntros "Hs". wp_pures.
    wp_apply (wp_Disk__Write_owned with "[$H2 $Hs]"); [done|]. iIntros "[H2 Hs]". wp_pures.
    wp_apply (wp_UInt64Get with "Hs").
    { rewrite app_length le_bytes_length. lia. }
    { apply Forall_app. split; [apply le_bytes_ok|by apply Forall_drop]. }
    iIntros "_". rewrite take_app_alt ?le_bytes_length // u64_bytes_val //.
    wp_apply (wp_UInt64ToString with "[//]"); [done|]. iIntros "_". iApply "HΦ". iFrame.
  Qed.

  (** The number is even: who sets it shows that, who gets it learns it. *)
  Definition shared_inv b l (q : Qp) : iProp Σ :=
    ∃ n : Z, (l +ₗ field_offset shared "n") ↦[b]{#q} #(u64 n) ∗ ⌜(2 | n)⌝.
  Global Instance shared_inv_fractional b l : Fractional (shared_inv b l).
  Proof.
    intros q1 q2. iSplit.
    - iIntros "(%n & [H1 H2] & #H)". iSplitL "H1"; iExists n; by iFrame.
    - iIntros "[(%n & H1 & #H) (%m & H2 & _)]". iDestruct (pointsto_agree with "H1 H2") as %[= <-].
      iExists n. iCombine "H1 H2" as "H1". by iFrame.
  Qed.
  Definition is_shared b l : iProp Σ := is_rwmutex b (l +ₗ field_offset shared "mu") (shared_inv b l).
  Lemma wp_shared_get b l :
    {{{ is_shared b l }}} shared_get #l @ b; ⊤ {{{ n, RET #(u64 n); ⌜(2 | n)⌝ }}}.
  Proof.
    iIntros (Φ) "#Hs HΦ". wp_rec. wp_pures. wp_apply (wp_rwmutex_rlock with "Hs").
    iIntros "[Hheld (%n & Hn & %Heven)]". wp_pures. wp_load. wp_pures.
    wp_apply (wp_rwmutex_runlock with "[$Hheld Hn]"). { iExists n. by iFrame. }
    iIntros "_". wp_pures. by iApply "HΦ".
  Qed.
  Lemma wp_shared_set b l (n : Z) : (2 | n) →
    {{{ is_shared b l }}} shared_set #l #(u64 n) @ b; ⊤ {{{ RET #(); True }}}.
  Proof.
    iIntros (Heven Φ) "#Hs HΦ". wp_rec. wp_pures. wp_apply (wp_rwmutex_lock with "Hs").
    iIntros "[Hheld (%m & Hm & _)]". wp_pures. wp_store. wp_pures.
    wp_apply (wp_rwmutex_unlock with "[$Hheld Hm]"). { iExists n. by iFrame. }
    by iApply "HΦ".
  Qed.
End examples.

(** * The loop [for i := uint64(0); i < n; i++] *)
From iris.proofmode Require Import proofmode.
From ashlar.golib Require Import memory.
Open Scope Z_scope.

Section loop.
  Context `{!golangGS Σ}.

  Local Definition below (li : loc) (n : Z) : val := λ: <>, ![uint64T] #li < #(u64 n).
  Local Definition next (li : loc) : val := λ: <>, #li <-[uint64T] ![uint64T] #li + #(u64 1).
  Local Definition rounds (cond body post : val) : val :=
    rec: "loop" <> := if: cond #() then body #();; post #();; "loop" #() else #().

  Local Lemma wp_rounds b (li : loc) (n i : Z) (I : Z → iProp Σ) (body : val) Φ :
    in_range U64 n → 0 ≤ i ≤ n →
    □ (∀ i, ⌜0 ≤ i < n⌝ -∗ li ↦[b] #(u64 i) -∗ I i -∗
        WP body #() @ b; ⊤ {{ _, li ↦[b] #(u64 i) ∗ I (i + 1) }}) -∗
    li ↦[b] #(u64 i) -∗ I i -∗ (I n -∗ Φ #()) -∗
    WP rounds (below li n) body (next li) #() @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hn Hi) "#Hbody Hl HI HΦ". iLöb as "IH" forall (i Hi). wp_rec.
    wp_bind (below _ _ _). wp_rec. wp_load. wp_pures.
    case_bool_decide as Hlt; wp_pures.
    - iDestruct ("Hbody" $! i with "[%] Hl HI") as "Hround"; [lia|].
      wp_bind (body _). iApply (wpe_wand with "Hround"). iIntros (v) "[Hl HI]". wp_pures.
      wp_bind (next _ _). wp_rec. wp_load. wp_store. wp_pures.
      wp_pures. iApply ("IH" $! (i + 1) with "[%] [Hl] HI HΦ"); [lia|]. by rewrite_wrap.
    - replace i with n by lia. by iApply "HΦ".
  Qed.
  (** [I i] holds before round [i]. *)
  Lemma wp_count b (li : loc) (n : Z) (I : Z → iProp Σ) (body : val) Φ : in_range U64 n →
    □ (∀ i, ⌜0 ≤ i < n⌝ -∗ li ↦[b] #(u64 i) -∗ I i -∗
        WP body #() @ b; ⊤ {{ _, li ↦[b] #(u64 i) ∗ I (i + 1) }}) -∗
    li ↦[b] #(u64 0) -∗ I 0 -∗ (I n -∗ Φ #()) -∗
    WP for_simple (λ: <>, ![uint64T] #li < #(u64 n))%V body
      (λ: <>, #li <-[uint64T] ![uint64T] #li + #(u64 1))%V @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hn) "#Hbody Hl HI HΦ". wp_rec. do 5 wp_pure.
    iApply (wp_rounds with "Hbody Hl HI HΦ"); [done|]. int_solve.
  Qed.
End loop.

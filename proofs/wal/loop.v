(** * The loop [for i := uint64(0); i < n; i++] *)
From iris.proofmode Require Import proofmode.
From ashlar.golib Require Import control.
Open Scope Z_scope.

Section loop.
  Context `{!golangGS Σ}.

  (** [I i] holds before round [i]. *)
  Lemma wp_count b (li : loc) (n : Z) (I : Z → iProp Σ) (body : val) Φ : in_range U64 n →
    □ (∀ i, ⌜0 ≤ i < n⌝ -∗ li ↦[b] #(u64 i) -∗ I i -∗
        WP body #() @ b; ⊤ {{ _, li ↦[b] #(u64 i) ∗ I (i + 1) }}) -∗
    li ↦[b] #(u64 0) -∗ I 0 -∗ (I n -∗ Φ #()) -∗
    WP for_simple (λ: <>, ![uint64T] #li < #(u64 n))%V body
      (λ: <>, #li <-[uint64T] ![uint64T] #li + #(u64 1))%V @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hn) "#Hbody Hl HI HΦ".
    iApply (wp_for_upto I with "Hl HI []"); [by apply in_range_U64_nonneg|done|done| |].
    - iIntros "!>" (i Hi _). by iApply "Hbody".
    - iIntros "_". iApply "HΦ".
  Qed.
End loop.

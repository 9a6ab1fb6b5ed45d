(** * The client calls what the specification allows *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.logic Require Import tactics.
From ashlar.replicateddisk Require Export spec client.

(** What may be called on a disk of [n] blocks. *)
Definition legal (n : Z) (c : val) : Prop :=
  ∃ a, (0 ≤ a < n)%Z ∧ (c = read_call a ∨ ∃ s, c = write_call a s ∧ block_ok s).

Section client.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (Φ : val → iProp Σ).

  Lemma wp_any_address n b E Φ :
    (∀ a, ⌜0 ≤ a < n⌝%Z -∗ Φ #(u64 a)) -∗ WP any_address n #() @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". iLöb as "IH". wp_rec. fold (any_address n). wp_pures.
    wp_focus. iApply wpe_arb. iIntros "!>" (v (a & Ha & ->)). wp_pures.
    case_bool_decide; wp_pures; [|by iApply "IH"].
    iApply "HΦ". iPureIntro. rewrite /in_range in Ha. lia.
  Qed.
  Lemma wp_any_block b E Φ :
    (∀ s, ⌜block_ok s⌝ -∗ Φ #(LitStr s)) -∗ WP any_block #() @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". iLöb as "IH". wp_rec. fold any_block. wp_pures.
    wp_focus. iApply wpe_arb. iIntros "!>" (v (s & Hs & ->)). wp_pures.
    case_bool_decide as Heq; wp_pures; [|by iApply "IH"].
    iApply "HΦ". iPureIntro. injection Heq. rewrite /block_ok /block_size. lia.
  Qed.
  Lemma wp_any_call n b E : ⊢ WP any_call n #() @ b; E {{ c, ⌜legal n c⌝ }}.
  Proof.
    wp_rec. wp_pures. wp_apply wp_any_address. iIntros (a Ha). wp_pures.
    wp_focus. iApply wpe_arb. iIntros "!>" (v (read & ->)).
    destruct read; wp_pures.
    { iExists a. auto. }
    wp_apply wp_any_block. iIntros (s Hs). wp_pures.
    iExists a. iSplit; [done|]. iRight. iExists s. done.
  Qed.
End client.

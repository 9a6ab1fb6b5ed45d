(** * The client calls what the specification allows *)
From iris.proofmode Require Import proofmode.
From ashlar.logic Require Import tactics.
From ashlar.asyncwal Require Export spec client.

(** What may be called. *)
Definition legal (c : val) : Prop :=
  c = read_call ∨ ∃ s : blocks, c = commit_call s ∧ block_ok s.1 ∧ block_ok s.2.

Section client.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (Φ : val → iProp Σ).

  Lemma wp_any_block b E Φ :
    (∀ s, ⌜block_ok s⌝ -∗ Φ #(LitStr s)) -∗ WP any_block #() @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". iLöb as "IH". wp_rec. fold any_block. wp_pures.
    wp_focus. iApply wpe_arb. iIntros "!>" (v (s & Hs & ->)). wp_pures.
    case_bool_decide as Heq; wp_pures; [|by iApply "IH"].
    iApply "HΦ". iPureIntro. injection Heq. rewrite /block_ok /block_size. lia.
  Qed.
  Lemma wp_any_call b E : ⊢ WP any_call #() @ b; E {{ c, ⌜legal c⌝ }}.
  Proof.
    wp_rec. wp_pures. wp_focus. iApply wpe_arb. iIntros "!>" (v (read & ->)).
    destruct read; wp_pures; [by iLeft|].
    wp_apply wp_any_block. iIntros (x Hx). wp_pures.
    wp_apply wp_any_block. iIntros (y Hy). wp_pures.
    iRight. by iExists (x, y).
  Qed.
End client.

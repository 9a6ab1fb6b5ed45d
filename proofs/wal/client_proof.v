(** * The client calls what the specification allows *)
From iris.proofmode Require Import proofmode.
From ashlar.lib Require Import ints.
From ashlar.logic Require Import tactics.
From ashlar.wal Require Export spec client.
Open Scope Z_scope.

Section client.
  Context `{!golangGS Σ}.
  Context (N : Z).
  Implicit Types (b : boot) (Φ : val → iProp Σ).

  Lemma wp_any_addr b E Φ :
    (∀ a, ⌜addr_ok N a⌝ -∗ ⌜in_range U64 a⌝ -∗ Φ #(u64 a)) -∗ WP any_addr N #() @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". iLöb as "IH". wp_rec. fold (any_addr N). wp_pures.
    wp_focus. iApply wpe_arb. iIntros "!>" (v (a & Ha & ->)). wp_pures.
    case_bool_decide; wp_pures; [|by iApply "IH"].
    case_bool_decide; wp_pures; [|by iApply "IH"].
    by iApply "HΦ".
  Qed.
  Lemma wp_any_block b E Φ :
    (∀ s, ⌜block_ok s⌝ -∗ ⌜Forall (in_range U8) s⌝ -∗ Φ #(LitStr s)) -∗ WP any_block #() @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". iLöb as "IH". wp_rec. fold any_block. wp_pures.
    wp_focus. iApply wpe_arb. iIntros "!>" (v (s & Hs & ->)). wp_pures.
    case_bool_decide as Heq; wp_pures; [|by iApply "IH"].
    iApply "HΦ"; [|done]. iPureIntro. injection Heq. rewrite /block_ok /block_size. lia.
  Qed.
  Lemma wp_any_updates b E (n : nat) Φ : Z.of_nat n ≤ 511 →
    (∀ us, ⌜Z.of_nat (length us) ≤ n⌝ -∗ ⌜Forall (update_ok N) us⌝ -∗
       Φ (list_val (update_val <$> us))) -∗
    WP any_updates N #(int n) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hn) "HΦ". iLöb as "IH" forall (n Hn Φ). wp_rec. fold (any_updates N). wp_pures.
    case_bool_decide as Hz; wp_pures.
    { iApply ("HΦ" $! []); iPureIntro; [simpl; lia|done]. }
    wp_focus. iApply wpe_arb. iIntros "!>" (v (stop & ->)). destruct stop; wp_pures.
    { iApply ("HΦ" $! []); iPureIntro; [simpl; lia|done]. }
    wp_apply wp_any_addr. iIntros (a Ha _). wp_pures.
    wp_apply wp_any_block. iIntros (s Hs _). wp_pures.
    assert (∃ m, n = S m) as [m ->].
    { destruct n; [exfalso; by apply Hz|by eexists]. }
    rewrite_wrap. replace (Z.of_nat (S m) - 1) with (Z.of_nat m) by lia.
    wp_apply ("IH" $! m with "[%]"); [lia|]. iIntros (us Hlen Hus). wp_pures.
    iApply ("HΦ" $! ((a, s) :: us)); iPureIntro; [simpl; lia|]. by constructor.
  Qed.
  Lemma wp_any_call b E Φ :
    (∀ c, ⌜(∃ a, c = read_call a ∧ addr_ok N a) ∨ (∃ us, c = commit_call us ∧ commit_ok N us)⌝ -∗ Φ c) -∗
    WP any_call N #() @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". wp_rec. wp_pures.
    wp_focus. iApply wpe_arb. iIntros "!>" (v (stop & ->)). destruct stop; wp_pures.
    - wp_apply wp_any_addr. iIntros (a Ha _). wp_pures. iApply "HΦ". iPureIntro. left. by exists a.
    - wp_apply (wp_any_updates _ _ 511); [done|]. iIntros (us Hlen Hus). wp_pures. iApply "HΦ".
      iPureIntro. right. by exists us.
  Qed.
End client.

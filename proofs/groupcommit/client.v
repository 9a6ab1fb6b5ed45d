(** * A client of group commit: any calls that the specification allows *)
From iris.proofmode Require Import proofmode.
From ashlar.gen.examples Require groupcommit.
From ashlar.logic Require Import tactics.
From ashlar.groupcommit Require Export spec.
From ashlar.wal Require Export client_proof.
Open Scope Z_scope.

Definition any_gc_call (N : Z) : val :=
  λ: <>, if: Eff (ArbOp ArbBool) #() then InjL (any_addr N #())
         else if: Eff (ArbOp ArbBool) #() then
           InjR (InjL (any_updates N #(int 511)))
         else InjR (InjR #()).
(** Make the call, give the result. *)
Definition do_gc_call : val :=
  λ: "l" "call",
    match: "call" with
      InjL "a" => slice_to_string (groupcommit.Log__Read "l" "a")
    | InjR "c" =>
      match: "c" with
        InjL "us" =>
        let2: "addrs" "blocks" := to_slices "us" slice_nil slice_nil in
        groupcommit.Log__Commit "l" "addrs" "blocks"
      | InjR <> => groupcommit.Log__Flush "l"
      end
    end.

Definition gc_call_ok (N : Z) (c : val) : Prop :=
  (∃ a, c = gc_read_call a ∧ addr_ok N a) ∨
  (∃ us, c = gc_commit_call us ∧ commit_ok N us) ∨
  c = gc_flush_call.

Section client.
  Context `{!golangGS Σ}.
  Lemma wp_any_gc_call N b E (Φ : val → iProp Σ) :
    (∀ c, ⌜gc_call_ok N c⌝ -∗ Φ c) -∗ WP any_gc_call N #() @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". wp_rec. wp_pures.
    wp_focus. iApply wpe_arb. iIntros "!>" (v (stop & ->)). destruct stop; wp_pures.
    { wp_apply wp_any_addr. iIntros (a Ha _). wp_pures. iApply "HΦ". iPureIntro. left. by exists a. }
    wp_focus. iApply wpe_arb. iIntros "!>" (v (stop & ->)). destruct stop; wp_pures.
    - wp_apply (wp_any_updates _ _ _ 511); [done|]. iIntros (us Hlen Hus). wp_pures. iApply "HΦ".
      iPureIntro. right. left. by exists us.
    - iApply "HΦ". iPureIntro. by right; right.
  Qed.
End client.

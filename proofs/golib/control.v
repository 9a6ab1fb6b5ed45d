(** * Loops

    The invariant of a loop is an assertion [I] about the variables of the loop.
    From [I], the condition is either true, and then the body and the post
    statement give [I] again, or false, and then [Q] holds, which is what is known
    after the loop.  What the loop has to know about where it stands goes into [I]
    as an existential quantifier. *)
From iris.proofmode Require Import environments.
From ashlar.golib Require Export memory.
Local Open Scope Z_scope.

(** After the condition of a loop: which way it went. *)
Tactic Notation "loop_cond" "as" simple_intropattern(H) :=
  wp_pures; iExists _; iSplitR; [done|]; case_bool_decide as H; simpl.

Section control.
  Context `{!golangGS Σ}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (I Q : iProp Σ).

  (** [for cond { body; post }] *)
  Lemma wp_for_simple I Q b E (cond body post : val) Φ :
    I -∗
    □ (I -∗ WP cond #() @ b; E {{ v, ∃ c : bool, ⌜v = #c⌝ ∗
         if c then WP body #() @ b; E {{ _, WP post #() @ b; E {{ _, I }} }} else Q }}) -∗
    (Q -∗ Φ #()) -∗
    WP for_simple cond body post @ b; E {{ Φ }}.
  Proof.
    iIntros "HI #Hturn HΦ". wp_rec. do 5 wp_pure.
    lazymatch goal with |- envs_entails _ (wp _ _ (App (Val ?f) _) _) => set (loop := f) end.
    iLöb as "IH". wp_rec. wp_bind (App (Val cond) _).
    iApply (wpe_wand with "(Hturn HI)"). iIntros (v) "(%c & -> & H)". destruct c; wp_pures.
    - wp_bind (App (Val body) _). iApply (wpe_wand with "H"). iIntros (v) "H". wp_pures.
      wp_bind (App (Val post) _). iApply (wpe_wand with "H"). iIntros (w) "H". wp_pures.
      iApply ("IH" with "H HΦ").
    - by iApply "HΦ".
  Qed.

  (** The same where the body gives an outcome.  [Q o]: the loop ends with [o]. *)
  Lemma wp_for_loop I (Q : val → iProp Σ) b E (cond body post : val) Φ :
    I -∗
    □ (I -∗ WP cond #() @ b; E {{ v, ∃ c : bool, ⌜v = #c⌝ ∗
         if c then WP body #() @ b; E {{ o,
             (⌜o = go_on ∨ o = continue⌝ ∗ WP post #() @ b; E {{ _, I }}) ∨
             (⌜o = break⌝ ∗ Q go_on) ∨
             (∃ r, ⌜o = InjRV (InjRV r)⌝ ∗ Q (InjRV (InjRV r))) }}
         else Q go_on }}) -∗
    (∀ o, Q o -∗ Φ o) -∗
    WP for_loop cond body post @ b; E {{ Φ }}.
  Proof.
    iIntros "HI #Hturn HΦ". wp_rec. do 5 wp_pure.
    lazymatch goal with |- envs_entails _ (wp _ _ (App (Val ?f) _) _) => set (loop := f) end.
    iLöb as "IH". wp_rec. wp_bind (App (Val cond) _).
    iApply (wpe_wand with "(Hturn HI)"). iIntros (v) "(%c & -> & H)".
    destruct c; wp_pures; last first. { by iApply "HΦ". }
    wp_bind (App (Val body) _). iApply (wpe_wand with "H").
    iIntros (o) "[[%Ho H]|[[-> H]|(%r & -> & H)]]".
    - assert (o = InjLV #() ∨ o = InjRV (InjLV #false)) as [-> | ->] by exact Ho; wp_pures;
        wp_bind (App (Val post) _); iApply (wpe_wand with "H"); iIntros (w) "H"; wp_pures;
        iApply ("IH" with "H HΦ").
    - wp_pures. by iApply "HΦ".
    - wp_pures. by iApply "HΦ".
  Qed.

  (** [for { body }]: the loop is left from its body only. *)
  Lemma wp_for_ever I (Q : val → iProp Σ) b E (body : val) Φ :
    I -∗
    □ (I -∗ WP body #() @ b; E {{ o,
         (⌜o = go_on ∨ o = continue⌝ ∗ I) ∨
         (⌜o = break⌝ ∗ Q go_on) ∨
         (∃ r, ⌜o = InjRV (InjRV r)⌝ ∗ Q (InjRV (InjRV r))) }}) -∗
    (∀ o, Q o -∗ Φ o) -∗
    WP for_loop (λ: <>, #true)%V body (λ: <>, #())%V @ b; E {{ Φ }}.
  Proof.
    iIntros "HI #Hturn HΦ". iApply (wp_for_loop I Q with "HI [] HΦ").
    iIntros "!> HI". wp_pures. iExists true. iSplit; [done|].
    iApply (wpe_wand with "(Hturn HI)"). iIntros (o) "[[% HI]|H]"; [|by iRight].
    iLeft. iSplit; [done|]. by wp_pures.
  Qed.

  (** [for i := i0; i < n; i++ { body }], where [i] is a variable at [l] that the
      body only reads, and [n] does not change.  The invariant says what the turns
      before [i] have done. *)
  Lemma wp_for_upto (I : Z → iProp Σ) b w l (i0 n : Z) (body : val) Φ :
    i0 ≤ n → in_range w i0 → in_range w n →
    l ↦[b] #(LitInt w i0) -∗ I i0 -∗
    □ (∀ i, ⌜i0 ≤ i < n⌝ -∗ ⌜in_range w i⌝ -∗ l ↦[b] #(LitInt w i) -∗ I i -∗
         WP body #() @ b; ⊤ {{ _, l ↦[b] #(LitInt w i) ∗ I (i + 1) }}) -∗
    (l ↦[b] #(LitInt w n) -∗ I n -∗ Φ #()) -∗
    WP for_simple (λ: <>, ![intT w] #l < #(LitInt w n))%V body
         (λ: <>, #l <-[intT w] ![intT w] #l + #(LitInt w 1))%V @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hle Hi0 Hn) "Hl HI #Hbody HΦ".
    iApply (wp_for_simple (∃ i, ⌜i0 ≤ i ≤ n⌝ ∗ ⌜in_range w i⌝ ∗ l ↦[b] #(LitInt w i) ∗ I i)
      (l ↦[b] #(LitInt w n) ∗ I n) with "[Hl HI] []").
    - iExists i0. iFrame. iPureIntro. split; [lia|done].
    - iIntros "!> (%i & %Hi & %Hr & Hl & HI)".
      pose proof (in_range_succ w i n Hr Hn). pose proof (wrap_succ w i n Hr Hn).
      destruct w; wp_load; loop_cond as Hlt; try by (replace i with n by lia; iFrame).
      all: iApply (wpe_wand with "(Hbody [] [//] Hl HI)"); [iPureIntro; lia|].
      all: iIntros (_v) "[Hl HI]"; wp_load; wp_store; wp_pures.
      all: match goal with H : _ → wrap _ _ = _ |- _ => rewrite H // end.
      all: iExists (i + 1); iFrame; iPureIntro; split; [lia|auto].
    - iIntros "[Hl HI]". iApply ("HΦ" with "Hl HI").
  Qed.

  (** [for i := range n { body }], and the indices of a slice.  The invariant says
      what the turns before [i] have done. *)
  Lemma wp_range_simple (I : Z → iProp Σ) b E w (n : Z) (body : val) Φ :
    0 ≤ n → in_range w n →
    I 0 -∗
    □ (∀ i, ⌜0 ≤ i < n⌝ -∗ I i -∗ WP body #(LitInt w i) @ b; E {{ _, I (i + 1) }}) -∗
    (I n -∗ Φ #()) -∗
    WP range_simple w #(LitInt w n) body @ b; E {{ Φ }}.
  Proof.
    iIntros (Hn Hr) "HI #Hbody HΦ". wp_rec. do 3 wp_pure.
    lazymatch goal with |- envs_entails _ (wp _ _ (App (Val ?f) _) _) => set (loop := f) end.
    iAssert (∀ i, ⌜0 ≤ i ≤ n⌝ -∗ I i -∗ (I n -∗ Φ #()) -∗
      WP loop #(LitInt w i) @ b; E {{ Φ }})%I as "Hloop"; last first.
    { iApply ("Hloop" with "[%] HI HΦ"). lia. }
    iLöb as "IH". iIntros (i Hi) "HI HΦ". wp_rec.
    pose proof (wrap_succ w i n).
    assert (in_range w i) by (apply (in_range_between w 0 n); [apply in_range_0|done|lia]).
    destruct w; wp_pures; case_bool_decide as Hlt; wp_pures;
      try (replace i with n by lia; by iApply "HΦ").
    all: wp_bind (body _); iApply (wpe_wand with "(Hbody [%] HI)"); [lia|].
    all: iIntros (v) "HI"; wp_pures.
    all: match goal with H : _ → _ → _ → wrap _ _ = _ |- _ => rewrite H // end.
    all: iApply ("IH" with "[%] HI HΦ"); lia.
  Qed.
  Lemma wp_range_loop (I : Z → iProp Σ) (Q : val → iProp Σ) b E w (n : Z) (body : val) Φ :
    0 ≤ n → in_range w n →
    I 0 -∗
    □ (∀ i, ⌜0 ≤ i < n⌝ -∗ I i -∗ WP body #(LitInt w i) @ b; E {{ o,
         (⌜o = go_on ∨ o = continue⌝ ∗ I (i + 1)) ∨
         (⌜o = break⌝ ∗ Q go_on) ∨
         (∃ r, ⌜o = InjRV (InjRV r)⌝ ∗ Q (InjRV (InjRV r))) }}) -∗
    (I n -∗ Q go_on) -∗
    (∀ o, Q o -∗ Φ o) -∗
    WP range_loop w #(LitInt w n) body @ b; E {{ Φ }}.
  Proof.
    iIntros (Hn Hr) "HI #Hbody Hend HΦ". wp_rec. do 3 wp_pure.
    lazymatch goal with |- envs_entails _ (wp _ _ (App (Val ?f) _) _) => set (loop := f) end.
    iAssert (∀ i, ⌜0 ≤ i ≤ n⌝ -∗ I i -∗ (I n -∗ Q go_on) -∗ (∀ o, Q o -∗ Φ o) -∗
      WP loop #(LitInt w i) @ b; E {{ Φ }})%I as "Hloop"; last first.
    { iApply ("Hloop" with "[%] HI Hend HΦ"). lia. }
    iLöb as "IH". iIntros (i Hi) "HI Hend HΦ". wp_rec.
    pose proof (wrap_succ w i n).
    assert (in_range w i) by (apply (in_range_between w 0 n); [apply in_range_0|done|lia]).
    destruct w; wp_pures; case_bool_decide as Hlt; wp_pures;
      try (replace i with n by lia; iApply "HΦ"; by iApply "Hend").
    all: wp_bind (body _); iApply (wpe_wand with "(Hbody [%] HI)"); [lia|].
    all: iIntros (o) "[[%Ho HI]|[[-> HQ]|(%r & -> & HQ)]]"; try by (wp_pures; iApply "HΦ").
    all: assert (o = InjLV #() ∨ o = InjRV (InjLV #false)) as [-> | ->] by exact Ho; wp_pures.
    all: match goal with H : _ → _ → _ → wrap _ _ = _ |- _ => rewrite H // end.
    all: iApply ("IH" with "[%] HI Hend HΦ"); lia.
  Qed.
End control.

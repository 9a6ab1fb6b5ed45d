(** * Specifications: transition systems with pending operations

    A library is specified by a transition system over the values that go in and
    out of it.  The trace of calls, returns and crashes of a running system must be
    explained by it: each operation takes effect atomically between its call and
    its return, and what a crash does to the state is written down ([sp_crash]).
    An operation that is pending at a crash has taken effect before it or not at
    all (durable linearizability).

    The id of a call is its place in the trace, so no two calls share one. *)
From ashlar.logic Require Export crash tactics.

Record spec := Spec {
  sp_state : Type;
  sp_init : sp_state → Prop;
  (** [sp_step c s r s']: the call [c] takes effect and will return [r]. *)
  sp_step : val → sp_state → val → sp_state → Prop;
  (** [sp_move c s c' s']: a call takes one of several effects; it is then [c']. *)
  sp_move : val → sp_state → val → sp_state → Prop;
  sp_crash : sp_state → sp_state → Prop;
}.

Inductive status := Pending (call : val) | Done (ret : val).

(** Events: [InjL call]; [InjR (id of the call, ret)]. *)
Definition call_event (c : val) : val := InjLV c.
Definition ret_event (id : nat) (r : val) : val := InjRV (PairV #(u64 id) r).

(** [explains sp t s m]: after the trace [t] the specification may be in state [s],
    with the calls [m] that have not returned. *)
Inductive explains (sp : spec) : list event → sp_state sp → gmap nat status → Prop :=
  | explains_init s : sp_init sp s → explains sp [] s ∅
  | explains_call n c t s m : explains sp t s m →
     explains sp (t ++ [EvOut n (call_event c)]) s (<[length t := Pending c]> m)
  | explains_ret n k r t s m : explains sp t s m → m !! k = Some (Done r) →
     explains sp (t ++ [EvOut n (ret_event k r)]) s (delete k m)
  | explains_step k c r t s s' m : explains sp t s m → m !! k = Some (Pending c) →
     sp_step sp c s r s' → explains sp t s' (<[k := Done r]> m)
  | explains_move k c c' t s s' m : explains sp t s m → m !! k = Some (Pending c) →
     sp_move sp c s c' s' → explains sp t s' (<[k := Pending c']> m)
  | explains_crash n t s s' m : explains sp t s m → sp_crash sp s s' →
     explains sp (t ++ [EvCrash n]) s' ∅.
(** What the headline theorems say of a trace. *)
Definition explained (sp : spec) (t : list event) : Prop := ∃ s m, explains sp t s m.

Lemma explains_fresh sp t s m : explains sp t s m → ∀ k, is_Some (m !! k) → k < length t.
Proof.
  induction 1 as [s Hi|n c t s m H IH|n k r t s m H IH Hk|k c r t s s' m H IH Hk Hs
    |k c c' t s s' m H IH Hk Hs|n t s s' m H IH Hc]; intros j Hj; rewrite ?app_length /=.
  - rewrite lookup_empty in Hj. by destruct Hj.
  - destruct (decide (j = length t)) as [->|Hne]; [lia|].
    rewrite lookup_insert_ne in Hj; [|done]. specialize (IH _ Hj). lia.
  - destruct (decide (j = k)) as [->|Hne]; [rewrite lookup_delete in Hj; by destruct Hj|].
    rewrite lookup_delete_ne in Hj; [|done]. specialize (IH _ Hj). lia.
  - destruct (decide (j = k)) as [->|Hne]; [by apply IH; rewrite Hk; eauto|].
    rewrite lookup_insert_ne in Hj; [|done]. by apply IH.
  - destruct (decide (j = k)) as [->|Hne]; [by apply IH; rewrite Hk; eauto|].
    rewrite lookup_insert_ne in Hj; [|done]. by apply IH.
  - rewrite lookup_empty in Hj. by destruct Hj.
Qed.

Class opsG Σ := OpsG { opsG_status : ghost_mapG Σ nat status }.
Global Existing Instance opsG_status.
Definition opsΣ : gFunctors := #[ghost_mapΣ nat status].
Global Instance subG_opsΣ Σ : subG opsΣ Σ → opsG Σ.
Proof. solve_inG. Qed.
Class specG Σ (sp : spec) := SpecG {
  specG_ops : opsG Σ;
  specG_state : ghost_varG Σ (sp_state sp → Prop);
}.
Global Existing Instances specG_ops specG_state.
Definition specΣ (sp : spec) : gFunctors := #[opsΣ; ghost_varΣ (sp_state sp → Prop)].
Global Instance subG_specΣ Σ sp : subG (specΣ sp) Σ → specG Σ sp.
Proof. solve_inG. Qed.

(** The names of one boot. *)
Record spec_names := SpecNames { sn_ops : gname; sn_state : gname }.
Global Instance spec_names_inhabited : Inhabited spec_names := populate (SpecNames inhabitant inhabitant).

Section ops.
  Context `{!opsG Σ}.
  Implicit Types γ : spec_names.

  (** The operation [k] is pending, or has taken effect and will return so. *)
  Definition op_is γ (k : nat) (x : status) : iProp Σ := k ↪[sn_ops γ] x.
  Definition pending γ k c : iProp Σ := op_is γ k (Pending c).
  Definition returns γ k r : iProp Σ := op_is γ k (Done r).

  Global Instance op_is_timeless γ k x : Timeless (op_is γ k x). Proof. apply _. Qed.
End ops.

Section ghost.
  Context `{!golangGS Σ} (sp : spec) `{!specG Σ sp}.
  Implicit Types γ : spec_names.
  Implicit Types S : sp_state sp → Prop.

  (** The specification is in one of the states [S], and any of them explains what
      has been seen.  More than one is possible only while it is not decided whether
      an operation that a crash interrupted has happened. *)
  Definition spec_possible γ (S : sp_state sp → Prop) : iProp Σ := ghost_var (sn_state γ) (1/2) S.
  Definition spec_state γ (s : sp_state sp) : iProp Σ := spec_possible γ (eq s).

  (** The framework's part of the crash invariant. *)
  Definition spec_auth γ : iProp Σ :=
    ∃ t m S,
      trace_is t ∗
      ghost_map_auth (sn_ops γ) 1 m ∗
      ghost_var (sn_state γ) (1/2) S ∗
      ⌜∃ s, S s⌝ ∗
      ⌜∀ s, S s → explains sp t s m⌝.

  Global Instance spec_possible_timeless γ S : Timeless (spec_possible γ S). Proof. apply _. Qed.
  Global Instance spec_state_timeless γ s : Timeless (spec_state γ s). Proof. apply _. Qed.
  Global Instance spec_auth_timeless γ : Timeless (spec_auth γ). Proof. apply _. Qed.

  (** An operation takes effect. *)
  Lemma spec_step_possible γ k c r S S' :
    (∃ s', S' s') → (∀ s', S' s' → ∃ s, S s ∧ sp_step sp c s r s') →
    spec_auth γ -∗ spec_possible γ S -∗ pending γ k c ==∗
    spec_auth γ ∗ spec_possible γ S' ∗ returns γ k r.
  Proof.
    iIntros (Hne HS') "(%t & %m & %S0 & Ht & Hm & HS0 & %Hne0 & %Hex) HS Hk".
    iDestruct (ghost_var_agree with "HS0 HS") as %->.
    iDestruct (ghost_map_lookup with "Hm Hk") as %Hk.
    iMod (ghost_map_update (Done r) with "Hm Hk") as "[Hm $]".
    iMod (ghost_var_update_halves S' with "HS0 HS") as "[HS0 $]".
    iModIntro. iExists t, _, S'. iFrame. iPureIntro. split; [done|].
    intros s' Hs'. destruct (HS' s' Hs') as (s & Hs & Hstep).
    by eapply explains_step; [by apply Hex| |].
  Qed.
  Lemma spec_step γ k c r s s' : sp_step sp c s r s' →
    spec_auth γ -∗ spec_state γ s -∗ pending γ k c ==∗
    spec_auth γ ∗ spec_state γ s' ∗ returns γ k r.
  Proof.
    iIntros (Hs) "Ha Hs Hk". iApply (spec_step_possible with "Ha Hs Hk"); [by eauto|].
    intros ? <-. eauto.
  Qed.
  Lemma spec_move γ k c c' s s' : sp_move sp c s c' s' →
    spec_auth γ -∗ spec_state γ s -∗ pending γ k c ==∗
    spec_auth γ ∗ spec_state γ s' ∗ pending γ k c'.
  Proof.
    iIntros (Hs) "(%t & %m & %S0 & Ht & Hm & HS0 & %Hne0 & %Hex) HS Hk".
    iDestruct (ghost_var_agree with "HS0 HS") as %->.
    iDestruct (ghost_map_lookup with "Hm Hk") as %Hk.
    iMod (ghost_map_update (Pending c') with "Hm Hk") as "[Hm $]".
    iMod (ghost_var_update_halves (eq s') with "HS0 HS") as "[HS0 $]".
    iModIntro. iExists t, _, (eq s'). iFrame. iPureIntro. split; [by eauto|].
    intros ? <-. by eapply explains_move; [by apply Hex| |].
  Qed.
  (** It is decided which of the states it is. *)
  Lemma spec_narrow γ S S' : (∃ s, S' s) → (∀ s, S' s → S s) →
    spec_auth γ -∗ spec_possible γ S ==∗ spec_auth γ ∗ spec_possible γ S'.
  Proof.
    iIntros (Hne Hsub) "(%t & %m & %S0 & Ht & Hm & HS0 & %Hne0 & %Hex) HS".
    iDestruct (ghost_var_agree with "HS0 HS") as %->.
    iMod (ghost_var_update_halves S' with "HS0 HS") as "[HS0 $]".
    iModIntro. iExists t, m, S'. iFrame. iPureIntro. eauto.
  Qed.

  (** ** Calls and returns *)
  Lemma wp_emit_call γ b E c Φ :
    ▷ spec_auth γ -∗
    ▷ (∀ k : nat, spec_auth γ -∗ pending γ k c -∗ Φ #(u64 k)) -∗
    WP Eff EmitOp (Val (call_event c)) @ b; E {{ v, |={E}=> Φ v }}.
  Proof.
    iIntros ">(%t & %m & %S & Ht & Hm & HS & %Hne & %Hex) HΦ".
    iApply (wpe_emit with "Ht"). iIntros "!> Ht".
    iMod (ghost_map_insert (length t) (Pending c) with "Hm") as "[Hm Hk]".
    { destruct Hne as [s Hs]. apply eq_None_not_Some. intros Hsome.
      pose proof (explains_fresh _ _ _ _ (Hex s Hs) _ Hsome). lia. }
    iModIntro. iApply ("HΦ" with "[-Hk] Hk").
    iExists _, _, S. iFrame. iPureIntro. split; [done|]. intros s Hs. apply explains_call. eauto.
  Qed.
  Lemma wp_emit_ret γ b E k r Φ :
    ▷ spec_auth γ -∗ ▷ returns γ k r -∗
    ▷ (∀ v, spec_auth γ -∗ Φ v) -∗
    WP Eff EmitOp (Val (ret_event k r)) @ b; E {{ v, |={E}=> Φ v }}.
  Proof.
    iIntros ">(%t & %m & %S & Ht & Hm & HS & %Hne & %Hex) >Hk HΦ".
    iApply (wpe_emit with "Ht"). iIntros "!> Ht".
    iDestruct (ghost_map_lookup with "Hm Hk") as %Hk.
    iMod (ghost_map_delete with "Hm Hk") as "Hm".
    iModIntro. iApply "HΦ".
    iExists _, _, S. iFrame. iPureIntro. split; [done|]. intros s Hs. eapply explains_ret; eauto.
  Qed.

End ghost.

(** ** Crashes *)

(** [helped sp s cs s']: the specification goes from [s] to [s'] when some of the
    pending calls [cs] take effect: what may become of operations that a crash
    interrupts. *)
Inductive helped (sp : spec) : sp_state sp → list val → sp_state sp → Prop :=
  | helped_none s cs : helped sp s cs s
  | helped_step s cs1 c cs2 r s' s'' : sp_step sp c s r s' → helped sp s' (cs1 ++ cs2) s'' →
     helped sp s (cs1 ++ c :: cs2) s''
  | helped_move s cs1 c cs2 c' s' s'' : sp_move sp c s c' s' → helped sp s' (cs1 ++ c' :: cs2) s'' →
     helped sp s (cs1 ++ c :: cs2) s''.

Lemma helped_one sp c s r s' : sp_step sp c s r s' → helped sp s [c] s'.
Proof. intros H. eapply (helped_step _ _ [] c []); [done|]. apply helped_none. Qed.

Local Lemma Forall2_impl_elem {A B} (P Q : A → B → Prop) l k :
  Forall2 P l k → (∀ x y, x ∈ l → P x y → Q x y) → Forall2 Q l k.
Proof.
  induction 1 as [|x y l k Hxy _ IH]; intros HPQ; constructor.
  - apply HPQ; [by left|done].
  - apply IH. intros x' y' Hx'. apply HPQ. by right.
Qed.
Lemma explains_helped sp t s cs s' : helped sp s cs s' → ∀ ks m,
  explains sp t s m → NoDup ks → Forall2 (λ k c, m !! k = Some (Pending c)) ks cs →
  ∃ m', explains sp t s' m'.
Proof.
  induction 1 as [s cs|s cs1 c cs2 r s' s'' Hs _ IH|s cs1 c cs2 c' s' s'' Hs _ IH]; intros ks m Hex Hnd Hall.
  - eauto.
  - apply Forall2_app_inv_r in Hall as (ks1 & ks2' & H1 & H2 & ->).
    apply Forall2_cons_inv_r in H2 as (k & ks2 & Hk & H2 & ->).
    apply NoDup_app in Hnd as (Hnd1 & Hdisj & Hnd2).
    apply NoDup_cons in Hnd2 as [Hk2 Hnd2].
    apply (IH (ks1 ++ ks2) (<[k := Done r]> m)).
    + by eapply explains_step.
    + apply NoDup_app. split_and!; [done| |done]. intros j Hj Hj2. apply (Hdisj j Hj). by right.
    + apply Forall2_app.
      * eapply Forall2_impl_elem; [done|]. intros j c0 Hj Hjm. rewrite lookup_insert_ne; [done|].
        intros ->. apply (Hdisj j Hj). by left.
      * eapply Forall2_impl_elem; [done|]. intros j c0 Hj Hjm. rewrite lookup_insert_ne; [done|].
        by intros ->.
  - apply Forall2_app_inv_r in Hall as (ks1 & ks2' & H1 & H2 & ->).
    apply Forall2_cons_inv_r in H2 as (k & ks2 & Hk & H2 & ->).
    pose proof Hnd as Hnd'.
    apply NoDup_app in Hnd as (Hnd1 & Hdisj & Hnd2).
    apply NoDup_cons in Hnd2 as [Hk2 Hnd2].
    apply (IH (ks1 ++ k :: ks2) (<[k := Pending c']> m)); [by eapply explains_move|done|].
    apply Forall2_app; [|constructor; [by rewrite lookup_insert|]].
    + eapply Forall2_impl_elem; [done|]. intros j c0 Hj Hjm. rewrite lookup_insert_ne; [done|].
      intros ->. apply (Hdisj j Hj). by left.
    + eapply Forall2_impl_elem; [done|]. intros j c0 Hj Hjm. rewrite lookup_insert_ne; [done|].
      by intros ->.
Qed.

(** From any of the states [S], with the calls [cs] pending, a crash may lead to any
    of the states [S'] (and there is one). *)
Definition crash_leads (sp : spec) (S : sp_state sp → Prop) (cs : list val) (S' : sp_state sp → Prop) : Prop :=
  (∃ s', S' s') ∧ ∀ s', S' s' → ∃ s s0, S s ∧ helped sp s cs s0 ∧ sp_crash sp s0 s'.

Section crash.
  Context `{!golangGS Σ} (sp : spec) `{!specG Σ sp}.
  Implicit Types γ : spec_names.
  Implicit Types S : sp_state sp → Prop.

  Lemma spec_crash γ S (ps : list (nat * val)) :
    spec_auth sp γ -∗ spec_possible sp γ S -∗ ([∗ list] p ∈ ps, pending γ p.1 p.2) -∗
    ∃ t, trace_is t ∗
      (∀ n S', ⌜crash_leads sp S ps.*2 S'⌝ -∗ trace_is (t ++ [EvCrash n]) ==∗
         ∃ γ', spec_auth sp γ' ∗ spec_possible sp γ' S').
  Proof.
    iIntros "(%t & %m & %S0 & Ht & Hm & HS0 & %Hne & %Hex) HS Hps".
    iDestruct (ghost_var_agree with "HS0 HS") as %->.
    iAssert ⌜NoDup ps.*1 ∧ Forall2 (λ k c, m !! k = Some (Pending c)) ps.*1 ps.*2⌝%I as %[Hnd Hall].
    { iClear "HS0 HS Ht". clear. iInduction ps as [|[k c] ps] "IH"; simpl.
      { iPureIntro. split; constructor. }
      iDestruct "Hps" as "[Hk Hps]".
      iDestruct (ghost_map_lookup with "Hm Hk") as %Hk.
      iAssert ⌜k ∉ ps.*1⌝%I as %Hnin.
      { iIntros (Hin). apply elem_of_list_fmap in Hin as ([k' c'] & -> & Hin).
        iDestruct (big_sepL_elem_of with "Hps") as "Hk'"; [done|].
        iDestruct (ghost_map_elem_ne with "Hk Hk'") as %Hne. done. }
      iDestruct ("IH" with "Hm Hps") as %[Hnd Hall].
      iPureIntro. split; constructor; done. }
    iExists t. iFrame "Ht". iIntros (n S' [Hne' Hlead]) "Ht".
    iMod (ghost_map_alloc_empty (K:=nat) (V:=status)) as (γm) "Hm'".
    iMod (ghost_var_alloc S') as (γs) "[HS1 HS2]".
    iModIntro. iExists (SpecNames γm γs). iFrame "HS2". iExists _, ∅, S'. iFrame. iPureIntro.
    split; [done|]. intros s' Hs'. destruct (Hlead s' Hs') as (s & s0 & Hs & Hh & Hc).
    destruct (explains_helped _ _ _ _ _ Hh _ _ (Hex s Hs) Hnd Hall) as [m' Hm'].
    by eapply explains_crash.
  Qed.
  Lemma spec_alloc S : (∃ s, S s) → (∀ s, S s → sp_init sp s) →
    trace_is [] ==∗ ∃ γ, spec_auth sp γ ∗ spec_possible sp γ S.
  Proof.
    iIntros (Hne Hinit) "Ht".
    iMod (ghost_map_alloc_empty (K:=nat) (V:=status)) as (γm) "Hm".
    iMod (ghost_var_alloc S) as (γs) "[HS1 HS2]".
    iModIntro. iExists (SpecNames γm γs). iFrame "HS2". iExists _, ∅, S. iFrame. iPureIntro.
    split; [done|]. intros s Hs. apply explains_init. auto.
  Qed.
  Lemma spec_auth_explained γ : spec_auth sp γ -∗ ∃ t, trace_is t ∗ ⌜explained sp t⌝.
  Proof.
    iIntros "(%t & %m & %S0 & Ht & Hm & HS0 & %Hne & %Hex)". iExists t. iFrame. iPureIntro.
    destruct Hne as [s Hs]. exists s, m. auto.
  Qed.
End crash.
Global Typeclasses Opaque op_is spec_possible spec_auth.

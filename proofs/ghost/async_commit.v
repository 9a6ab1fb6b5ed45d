(** * Commits on an asynchronous disk, of which a crash may decide

    The crash invariant of a library that keeps its state on an asynchronous disk:
    whatever a crash leaves of the disk stands for the state, or for what a
    pending commit makes of it.  In the second case the crash completes the
    commit, and for that the invariant holds its token.

    One ghost variable holds the disk, the state and the pending commit; the crash
    invariant has one half and whoever holds the lock has the other, so that
    between two accesses nothing changes behind his back.  The user of this file
    says what it is for a disk to stand for a state. *)
From iris.proofmode Require Import proofmode.
From iris.base_logic.lib Require Import ghost_var.
From ashlar.logic Require Export leaves harness.

(** A commit on its way: its id, the call, and the state that it makes. *)
Definition commit (sp : spec) : Type := nat * val * sp_state sp.

Class async_commitG Σ (sp : spec) := AsyncCommitG {
  async_commitG_var : ghost_varG Σ (async_disk * sp_state sp * option (commit sp)) }.
Local Existing Instance async_commitG_var.
Definition async_commitΣ (sp : spec) : gFunctors :=
  #[ghost_varΣ (async_disk * sp_state sp * option (commit sp))].
Global Instance subG_async_commitΣ Σ sp : subG (async_commitΣ sp) Σ → async_commitG Σ sp.
Proof. solve_inG. Qed.

Section commit.
  Context `{!golangGS Σ} (sp : spec) `{!specG Σ sp, !async_commitG Σ sp}.
  Context (N : namespace) (stands_for : disk → sp_state sp → Prop).
  Implicit Types (b : boot) (γ : spec_names) (γu : list gname) (Φ : val → iProp Σ) (Q : iProp Σ).
  Implicit Types (d : async_disk) (f : disk) (s t : sp_state sp) (o : option (commit sp)).

  (** What a crash may make of a disk: the state, or the pending commit's. *)
  Definition decided s o f : Prop := stands_for f s ∨ ∃ p, o = Some p ∧ stands_for f p.2.
  Definition on_its_way γ s o : iProp Σ :=
    match o with
    | None => True
    | Some (k, c, t) => pending γ k c ∗ ⌜sp_step sp c s #() t⌝
    end.
  Global Instance on_its_way_timeless γ s o : Timeless (on_its_way γ s o).
  Proof. destruct o as [[[]]|]; apply _. Qed.

  (** The right to access the disk, and what is known of it. *)
  Definition async_lease γu d s o : iProp Σ :=
    ∃ γd, ⌜γu = [γd]⌝ ∗ ghost_var γd (1/2) (d, s, o).
  Definition async_inv b γ γu : iProp Σ :=
    ∃ d s o,
      (* what the lock's holder knows *)
      async_lease γu d s o ∗
      (* the disk *)
      async_disk_is b d ∗
      (* whatever a crash leaves of it stands for the state, or for the pending commit's *)
      ⌜always d (decided s o)⌝ ∗
      (* the state of the specification *)
      spec_state sp γ s ∗
      (* the token of the commit that a crash may complete *)
      on_its_way γ s o.
  (** What recovery begins with. *)
  Definition async_rec (b : boot) (γ : spec_names) γu : iProp Σ :=
    ∃ f s, async_lease γu (ca_new <$> f) s None ∗ ⌜stands_for f s⌝.
  Definition async_ctx b γ γu : iProp Σ := lib_ctx sp N async_inv b γ γu.

  Global Instance async_lease_timeless γu d s o : Timeless (async_lease γu d s o).
  Proof. apply _. Qed.
  Global Instance async_inv_timeless b γ γu : Timeless (async_inv b γ γu).
  Proof. apply _. Qed.
  Global Instance async_ctx_persistent b γ γu : Persistent (async_ctx b γ γu).
  Proof. apply _. Qed.

  Lemma async_lease_alloc d s o : ⊢ |==> ∃ γu, async_lease γu d s o ∗ async_lease γu d s o.
  Proof.
    iMod (ghost_var_alloc (d, s, o)) as (γd) "[H1 H2]". iModIntro. iExists [γd].
    iSplitL "H1"; iExists γd; by iFrame.
  Qed.
  Lemma async_lease_agree γu d s o d' s' o' :
    async_lease γu d s o -∗ async_lease γu d' s' o' -∗ ⌜d = d' ∧ s = s' ∧ o = o'⌝.
  Proof.
    iIntros "(%γd & -> & H1) (%γd' & %Heq & H2)". injection Heq as <-.
    by iDestruct (ghost_var_agree with "H1 H2") as %[= -> -> ->].
  Qed.
  Lemma async_lease_update γu d s o d1 s1 o1 d' s' o' :
    async_lease γu d s o -∗ async_lease γu d1 s1 o1 ==∗
    async_lease γu d' s' o' ∗ async_lease γu d' s' o'.
  Proof.
    iIntros "(%γd & -> & H1) (%γd' & %Heq & H2)". injection Heq as <-.
    iMod (ghost_var_update_halves (d', s', o') with "H1 H2") as "[H1 H2]".
    iModIntro. iSplitL "H1"; iExists γd; by iFrame.
  Qed.

  (** Any access: [d], [s], [o] are what is so before it; what it leaves is the caller's to say. *)
  Lemma async_access b γ γu d s o e Φ :
    eff_redex e = true →
    async_ctx b γ γu -∗ async_lease γu d s o -∗
    (⌜always d (decided s o)⌝ -∗ async_disk_is b d -∗
     spec_auth sp γ -∗ spec_state sp γ s -∗ on_its_way γ s o -∗
     WP e @ b; ⊤ ∖ ↑N {{ v, |={⊤ ∖ ↑N}=> ∃ d' s' o',
       async_disk_is b d' ∗ ⌜always d' (decided s' o')⌝ ∗
       spec_auth sp γ ∗ spec_state sp γ s' ∗ on_its_way γ s' o' ∗
       (async_lease γu d' s' o' -∗ Φ v) }}) -∗
    WP e @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Heff) "#Hctx Hlease HΦ". iApply (wp_lib_ctx with "Hctx"); [done|done|].
    iIntros ">[Ha HU]". iDestruct "HU" as (d2 s2 o2) "(Hl & Hd & %Halways & Hs & Ho)".
    iDestruct (async_lease_agree with "Hl Hlease") as %(-> & -> & ->).
    iApply (wpe_wand with "(HΦ [//] Hd Ha Hs Ho)").
    iIntros (v) "H". iMod "H" as (d' s' o') "(Hd & %Halways' & Ha & Hs & Ho & HΦ)".
    iMod (async_lease_update with "Hl Hlease") as "[Hl Hlease]".
    iModIntro. iFrame "Ha". iSplitR "HΦ Hlease"; [|by iApply "HΦ"].
    iNext. iExists d', s', o'. by iFrame.
  Qed.

  (** A read; [Q] is what comes of a look at the specification. *)
  Lemma async_read Q b γ γu d s o a c Φ :
    d !! a = Some c →
    async_ctx b γ γu -∗ async_lease γu d s o -∗
    (spec_auth sp γ -∗ spec_state sp γ s ==∗ spec_auth sp γ ∗ spec_state sp γ s ∗ Q) -∗
    ▷ (async_lease γu d s o -∗ Q -∗ Φ #(LitStr (ca_latest c))) -∗
    WP Eff (DevOp AsyncRead) (Val #(u64 a)) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha) "#Hctx Hlease Hvs HΦ". iApply (async_access with "Hctx Hlease"); [done|].
    iIntros (Halways) "Hd Ha Hs Ho". iMod ("Hvs" with "Ha Hs") as "(Ha & Hs & HQ)".
    iApply (wpe_async_disk_read with "Hd"); [done|]. iIntros "!> Hd !>".
    iExists d, s, o. iFrame. iSplit; [done|]. iIntros "Hlease". by iApply ("HΦ" with "Hlease").
  Qed.
  (** A read at which nothing takes effect. *)
  Lemma async_read_only b γ γu d s o a c Φ :
    d !! a = Some c →
    async_ctx b γ γu -∗ async_lease γu d s o -∗
    ▷ (async_lease γu d s o -∗ Φ #(LitStr (ca_latest c))) -∗
    WP Eff (DevOp AsyncRead) (Val #(u64 a)) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha) "#Hctx Hlease HΦ".
    iApply (async_read True%I with "Hctx Hlease"); [done|by iIntros "$ $ !>"|].
    iIntros "!> Hlease _". by iApply "HΦ".
  Qed.
  (** A write that decides nothing. *)
  Lemma async_write b γ γu d s o a c x Φ :
    d !! a = Some c → block_ok x → always (<[a := ca_write x c]> d) (decided s o) →
    async_ctx b γ γu -∗ async_lease γu d s o -∗
    ▷ (async_lease γu (<[a := ca_write x c]> d) s o -∗ Φ #()) -∗
    WP Eff (DevOp AsyncWrite) (Val (#(u64 a), #(LitStr x))) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha Hx Hsafe) "#Hctx Hlease HΦ". iApply (async_access with "Hctx Hlease"); [done|].
    iIntros (Halways) "Hd Ha Hs Ho".
    iApply (wpe_async_disk_write with "Hd"); [done|done|]. iIntros "!> Hd !>".
    iExists _, s, o. by iFrame.
  Qed.
  (** The write from which on a crash may complete the commit: its token goes into
      the crash invariant. *)
  Lemma async_write_commit b γ γu d s k cl t a c x Φ :
    d !! a = Some c → block_ok x → sp_step sp cl s #() t →
    always (<[a := ca_write x c]> d) (decided s (Some (k, cl, t))) →
    async_ctx b γ γu -∗ async_lease γu d s None -∗ pending γ k cl -∗
    ▷ (async_lease γu (<[a := ca_write x c]> d) s (Some (k, cl, t)) -∗ Φ #()) -∗
    WP Eff (DevOp AsyncWrite) (Val (#(u64 a), #(LitStr x))) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha Hx Hstep Hsafe) "#Hctx Hlease Hk HΦ".
    iApply (async_access with "Hctx Hlease"); [done|]. iIntros (Halways) "Hd Ha Hs Ho".
    iApply (wpe_async_disk_write with "Hd"); [done|done|]. iIntros "!> Hd !>".
    iExists _, s, (Some (k, cl, t)). by iFrame.
  Qed.
  (** A barrier that decides nothing. *)
  Lemma async_barrier b γ γu d s o Φ :
    async_ctx b γ γu -∗ async_lease γu d s o -∗
    ▷ (async_lease γu (ca_flush <$> d) s o -∗ Φ #()) -∗
    WP Eff (DevOp AsyncBarrier) (Val #()) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros "#Hctx Hlease HΦ". iApply (async_access with "Hctx Hlease"); [done|].
    iIntros (Halways) "Hd Ha Hs Ho".
    iApply (wpe_async_disk_barrier with "Hd"). iIntros "!> Hd !>".
    iExists _, s, o. iFrame. iPureIntro. by apply always_flush, always_latest.
  Qed.
  (** The barrier at which the pending commit takes effect. *)
  Lemma async_barrier_commit b γ γu d s k cl t Φ :
    stands_for (latest d) t →
    async_ctx b γ γu -∗ async_lease γu d s (Some (k, cl, t)) -∗
    ▷ (async_lease γu (ca_flush <$> d) t None -∗ returns γ k #() -∗ Φ #()) -∗
    WP Eff (DevOp AsyncBarrier) (Val #()) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ht) "#Hctx Hlease HΦ". iApply (async_access with "Hctx Hlease"); [done|].
    iIntros (Halways) "Hd Ha Hs [Hk %Hstep]".
    iMod (spec_step with "Ha Hs Hk") as "(Ha & Hs & Hk)"; [done|].
    iApply (wpe_async_disk_barrier with "Hd"). iIntros "!> Hd !>".
    iExists _, t, None. iFrame. iSplit; [iPureIntro; apply always_flush; by left|].
    iSplit; [done|]. iIntros "Hlease". by iApply ("HΦ" with "Hlease").
  Qed.

  (** ** Boots *)

  (** A crash: the disk that it leaves stands for the state, or for that of the
      pending commit, which has then taken effect. *)
  Lemma async_crash_ok b γ γu γs vn vn' dv dv' :
    dev_crash dv dv' → (∀ s, sp_crash sp s s) → ⊢
    boot_is b γs vn -∗ volatile_interp vn dv -∗ volatile_elements vn' dv' -∗
    ▷ async_inv b γ γu ={⊤ ∖ ↑N}=∗
    ∃ S ps S',
      spec_possible sp γ S ∗ ([∗ list] p ∈ ps, pending γ p.1 p.2) ∗
      ⌜crash_leads sp S ps.*2 S'⌝ ∗
      ∀ γ', spec_possible sp γ' S' ={⊤ ∖ ↑N}=∗ ∃ γu',
        ∀ γs', boot_is (next_boot b) γs' vn' ={⊤ ∖ ↑N}=∗
          async_inv (next_boot b) γ' γu' ∗ async_rec (next_boot b) γ' γu'.
  Proof.
    iIntros ((_ & _ & Hcrash & _) Hsame) "#Hb [Hd2 _] [Hnew _] >HU".
    iDestruct "HU" as (d s o) "(_ & Hd & %Halways & Hs & Ho)".
    iDestruct (async_disk_crash with "Hb Hd2 Hd") as %(f & Hf & Hsub); [done|].
    iAssert (∃ t ps, ⌜stands_for f t⌝ ∗ ⌜crash_leads sp (eq s) ps.*2 (eq t)⌝ ∗
      [∗ list] p ∈ ps, pending γ p.1 p.2)%I with "[Ho]" as (t ps) "(%Ht & %Hleads & Hps)".
    { destruct (Halways f Hf) as [Ht|([[k c] t] & -> & Ht)].
      - iExists s, []. iSplit; [done|]. iSplit; [|done]. iPureIntro. split; [by eauto|].
        intros ? <-. exists s, s. split_and!; [done|constructor|done].
      - iDestruct "Ho" as "[Hk %Hstep]". iExists t, [(k, c)]. iFrame. iSplit; [done|]. iSplit; [|done].
        iPureIntro. split; [by eauto|]. intros ? <-. exists s, t.
        split_and!; [done|by eapply helped_one|done]. }
    iModIntro. iExists (eq s), ps, (eq t). iFrame "Hs Hps". iSplit; [done|].
    iIntros (γ') "Hs". iMod (async_lease_alloc (ca_new <$> f) t None) as (γu') "[Hl1 Hl2]".
    iModIntro. iExists γu'. iIntros (γs') "#Hb'". iModIntro. iSplitR "Hl2".
    - iExists (ca_new <$> f), t, None. iFrame "Hl1 Hs".
      iSplitL; [by iApply (async_disk_new with "Hb' Hnew")|].
      iPureIntro. apply always_new. by left.
    - iExists f, t. by iFrame.
  Qed.

  (** The first boot. *)
  Lemma async_init_ok vn dv f s :
    dv_async dv = ca_new <$> f → stands_for f s → sp_init sp s → ⊢
    durable_elements 0 dv -∗ volatile_elements vn dv ={⊤}=∗
    ∃ S, ⌜(∃ s, S s) ∧ ∀ s, S s → sp_init sp s⌝ ∗
      ∀ γ, spec_possible sp γ S ={⊤}=∗ ∃ γu,
        ∀ γs, boot_is (Boot 0 0) γs vn ={⊤}=∗
          async_inv (Boot 0 0) γ γu ∗ async_rec (Boot 0 0) γ γu.
  Proof.
    iIntros (Hdv Hf Hs) "_ [Hnew _]". iModIntro. iExists (eq s). iSplit.
    { iPureIntro. split; [by eauto|by intros ? <-]. }
    iIntros (γ) "Hs". iMod (async_lease_alloc (ca_new <$> f) s None) as (γu) "[Hl1 Hl2]".
    iModIntro. iExists γu. iIntros (γs) "#Hb". iModIntro. iSplitR "Hl2".
    - iExists (ca_new <$> f), s, None. iFrame "Hl1 Hs". rewrite Hdv.
      iSplitL; [by iApply (async_disk_new with "Hb Hnew")|].
      iPureIntro. apply always_new. by left.
    - iExists f, s. by iFrame.
  Qed.
End commit.
Global Typeclasses Opaque async_lease async_inv async_ctx.

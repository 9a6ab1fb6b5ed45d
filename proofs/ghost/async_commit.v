(** * Commits on an asynchronous disk, of which a crash may decide

    The crash invariant of a program that keeps a state on an asynchronous disk:
    whatever a crash leaves of the disk stands for the state, or for what a
    pending commit makes of it.  In the second case the crash completes the
    commit, and for that the invariant holds its token.

    One ghost variable holds the disk, the state and the pending commit; the crash
    invariant has one half and whoever holds the lock has the other, so that
    between two accesses nothing changes behind his back.  The user of this file
    says what it is for a disk to stand for a state, what goes with a state ([P]),
    and what a token is ([T]). *)
From iris.proofmode Require Import proofmode.
From iris.base_logic.lib Require Import ghost_var.
From ashlar.logic Require Export leaves.
From ashlar.logic Require Import crash.

Class async_commitG (A : Type) (Σ : gFunctors) := AsyncCommitG {
  async_commitG_var : ghost_varG Σ (async_disk * A * option (nat * A)) }.
Local Existing Instance async_commitG_var.
Definition async_commitΣ (A : Type) : gFunctors := #[ghost_varΣ (async_disk * A * option (nat * A))].
Global Instance subG_async_commitΣ {A : Type} {Σ} : subG (async_commitΣ A) Σ → async_commitG A Σ.
Proof. solve_inG. Qed.

Section commit.
  Context {A : Type} `{!golangGS Σ, !async_commitG A Σ}.
  Context (ns : namespace) (stands_for : disk → A → Prop).
  Context (P : boot → list gname → A → iProp Σ) (T : boot → list gname → nat → A → iProp Σ).
  Context `{!∀ b γs s, Timeless (P b γs s)} `{!∀ b γs k s, Timeless (T b γs k s)}.
  Implicit Types (b : boot) (d : async_disk) (f : disk) (s t : A) (o : option (nat * A)).
  Implicit Types (γ : gname) (γs : list gname) (Φ : val → iProp Σ) (Q : iProp Σ).

  (** What a crash may make of a disk: the state, or the pending commit's. *)
  Definition decided s o f : Prop := stands_for f s ∨ ∃ k t, o = Some (k, t) ∧ stands_for f t.
  Definition pending b γs o : iProp Σ := match o with None => True | Some (k, t) => T b γs k t end.
  Global Instance pending_timeless b γs o : Timeless (pending b γs o).
  Proof. destruct o as [[]|]; apply _. Qed.

  Definition async_lease γ d s o : iProp Σ := ghost_var γ (1/2) (d, s, o).
  Definition async_C b γs : iProp Σ :=
    ∃ γ γs' d s o,
      (* the first name is this file's, the others are the user's *)
      ⌜γs = γ :: γs'⌝ ∗
      (* what the lock's holder knows *)
      ghost_var γ (1/2) (d, s, o) ∗
      (* the disk *)
      async_disk_is b d ∗
      (* whatever a crash leaves of it stands for the state, or for the pending commit's *)
      ⌜always d (decided s o)⌝ ∗
      (* what goes with the state *)
      P b γs' s ∗
      (* the token of the commit that a crash may complete *)
      pending b γs' o.
  Global Instance async_C_timeless b γs : Timeless (async_C b γs).
  Proof. apply _. Qed.
  Definition async_ctx b γ γs : iProp Σ := crash_ctx ns async_C b (γ :: γs).
  Global Instance async_ctx_persistent b γ γs : Persistent (async_ctx b γ γs).
  Proof. apply _. Qed.

  Lemma async_lease_alloc d s o : ⊢ |==> ∃ γ, ghost_var γ (1/2) (d, s, o) ∗ async_lease γ d s o.
  Proof.
    iMod (ghost_var_alloc (d, s, o)) as (γ) "[H1 H2]". iModIntro. iExists γ. iFrame.
  Qed.

  (** Any access: [d], [s], [o] before it; what it leaves is the caller's to say. *)
  Lemma async_access b γ γs d s o e Φ :
    eff_redex e = true →
    async_ctx b γ γs -∗ async_lease γ d s o -∗
    (⌜always d (decided s o)⌝ -∗ async_disk_is b d -∗ P b γs s -∗ pending b γs o -∗
     WP e @ b; ⊤ ∖ ↑ns {{ v, |={⊤ ∖ ↑ns}=> ∃ d' s' o',
       async_disk_is b d' ∗ ⌜always d' (decided s' o')⌝ ∗ P b γs s' ∗ pending b γs o' ∗
       (async_lease γ d' s' o' -∗ Φ v) }}) -∗
    WP e @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Heff) "#Hctx Hlease HΦ". iApply (wpe_crash_inv with "Hctx"); [done|done|].
    iIntros ">HC". iDestruct "HC" as (γ2 γs2 d2 s2 o2) "(%Heq & Hv & Hd & %Halways & HP & Ho)".
    injection Heq as <- <-. iDestruct (ghost_var_agree with "Hv Hlease") as %[= -> -> ->].
    iApply (wpe_wand with "(HΦ [//] Hd HP Ho)").
    iIntros (v) "H". iMod "H" as (d' s' o') "(Hd & %Halways' & HP & Ho & HΦ)".
    iMod (ghost_var_update_halves (d', s', o') with "Hv Hlease") as "[Hv Hlease]".
    iModIntro. iSplitR "HΦ Hlease"; [|by iApply "HΦ"].
    iNext. iExists γ, γs, d', s', o'. by iFrame.
  Qed.

  (** A read, at which the user may look at the state. *)
  Lemma async_read Q b γ γs d s o a c Φ :
    d !! a = Some c →
    async_ctx b γ γs -∗ async_lease γ d s o -∗
    (P b γs s ={⊤ ∖ ↑ns}=∗ P b γs s ∗ Q) -∗
    ▷ (async_lease γ d s o -∗ Q -∗ Φ #(LitStr (ca_latest c))) -∗
    WP Eff (DevOp AsyncRead) (Val #(u64 a)) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha) "#Hctx Hlease Hvs HΦ". iApply (async_access with "Hctx Hlease"); [done|].
    iIntros (Halways) "Hd HP Ho". iMod ("Hvs" with "HP") as "[HP HQ]".
    iApply (wpe_async_disk_read with "Hd"); [done|]. iIntros "!> Hd !>".
    iExists d, s, o. iFrame. iSplit; [done|]. iIntros "Hlease". by iApply ("HΦ" with "Hlease").
  Qed.
  (** A write that decides nothing. *)
  Lemma async_write b γ γs d s o a c x Φ :
    d !! a = Some c → block_ok x → always (<[a := ca_write x c]> d) (decided s o) →
    async_ctx b γ γs -∗ async_lease γ d s o -∗
    ▷ (async_lease γ (<[a := ca_write x c]> d) s o -∗ Φ #()) -∗
    WP Eff (DevOp AsyncWrite) (Val (#(u64 a), #(LitStr x))) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha Hx Hsafe) "#Hctx Hlease HΦ". iApply (async_access with "Hctx Hlease"); [done|].
    iIntros (Halways) "Hd HP Ho".
    iApply (wpe_async_disk_write with "Hd"); [done|done|]. iIntros "!> Hd !>".
    iExists _, s, o. by iFrame.
  Qed.
  (** The write from which on a crash may complete the commit: its token goes into
      the crash invariant. *)
  Lemma async_write_pending b γ γs d s k t a c x Φ :
    d !! a = Some c → block_ok x → always (<[a := ca_write x c]> d) (decided s (Some (k, t))) →
    async_ctx b γ γs -∗ async_lease γ d s None -∗ T b γs k t -∗
    ▷ (async_lease γ (<[a := ca_write x c]> d) s (Some (k, t)) -∗ Φ #()) -∗
    WP Eff (DevOp AsyncWrite) (Val (#(u64 a), #(LitStr x))) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ha Hx Hsafe) "#Hctx Hlease HT HΦ". iApply (async_access with "Hctx Hlease"); [done|].
    iIntros (Halways) "Hd HP Ho".
    iApply (wpe_async_disk_write with "Hd"); [done|done|]. iIntros "!> Hd !>".
    iExists _, s, (Some (k, t)). by iFrame.
  Qed.
  (** A barrier that decides nothing. *)
  Lemma async_barrier b γ γs d s o Φ :
    async_ctx b γ γs -∗ async_lease γ d s o -∗
    ▷ (async_lease γ (ca_flush <$> d) s o -∗ Φ #()) -∗
    WP Eff (DevOp AsyncBarrier) (Val #()) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros "#Hctx Hlease HΦ". iApply (async_access with "Hctx Hlease"); [done|].
    iIntros (Halways) "Hd HP Ho".
    iApply (wpe_async_disk_barrier with "Hd"). iIntros "!> Hd !>".
    iExists _, s, o. iFrame. iPureIntro. by apply always_flush, always_latest.
  Qed.
  (** The barrier at which the pending commit takes effect. *)
  Lemma async_barrier_commit Q b γ γs d s k t Φ :
    stands_for (latest d) t →
    async_ctx b γ γs -∗ async_lease γ d s (Some (k, t)) -∗
    (P b γs s -∗ T b γs k t ={⊤ ∖ ↑ns}=∗ P b γs t ∗ Q) -∗
    ▷ (async_lease γ (ca_flush <$> d) t None -∗ Q -∗ Φ #()) -∗
    WP Eff (DevOp AsyncBarrier) (Val #()) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Ht) "#Hctx Hlease Hvs HΦ". iApply (async_access with "Hctx Hlease"); [done|].
    iIntros (Halways) "Hd HP Ho". iMod ("Hvs" with "HP Ho") as "[HP HQ]".
    iApply (wpe_async_disk_barrier with "Hd"). iIntros "!> Hd !>".
    iExists _, t, None. iFrame. iSplit; [iPureIntro; apply always_flush; by left|].
    iSplit; [done|]. iIntros "Hlease". by iApply ("HΦ" with "Hlease").
  Qed.

  (** A crash: the disk that it leaves stands for the state, or for that of the
      pending commit, whose token is then at hand. *)
  Lemma async_C_crash b γs vn dv dv2 :
    dev_crash dv dv2 →
    boot_is b γs vn -∗ volatile_interp vn dv -∗ async_C b γs -∗
    ∃ γ γs' s f o, ⌜γs = γ :: γs'⌝ ∗ ⌜(ca_new <$> f) ⊆ dv_async dv2⌝ ∗ ⌜decided s o f⌝ ∗
      P b γs' s ∗ pending b γs' o.
  Proof.
    iIntros ((_ & _ & Hcrash & _)) "#Hb [Hd2 _] HC".
    iDestruct "HC" as (γ γs' d s o) "(-> & Hv & Hd & %Halways & HP & Ho)".
    iDestruct (async_disk_crash with "Hb Hd2 Hd") as %(f & Hf & Hsub); [done|].
    iExists γ, γs', s, f, o. iFrame. iPureIntro. split_and!; [done|done|by apply Halways].
  Qed.
  (** What the next boot begins with. *)
  Lemma async_C_new b γ γs vn dv f s :
    (ca_new <$> f) ⊆ dv_async dv → stands_for f s →
    boot_is b (γ :: γs) vn -∗ volatile_elements vn dv -∗
    ghost_var γ (1/2) (ca_new <$> f, s, None) -∗ P b γs s -∗ async_C b (γ :: γs).
  Proof.
    iIntros (Hsub Hf) "#Hb [Hd _] Hv HP". iExists γ, γs, (ca_new <$> f), s, None. iFrame.
    iSplit; [done|]. iSplitL; [by iApply (async_disk_new with "Hb Hd")|].
    iPureIntro. apply always_new. by left.
  Qed.
End commit.
Global Typeclasses Opaque async_lease async_C async_ctx.

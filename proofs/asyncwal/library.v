(** * The pair as a library of the generic client *)
From iris.proofmode Require Import proofmode.
From ashlar.asyncwal Require Import proof.
From ashlar.golib Require Import slice_rules sync.
From ashlar.ghost Require Import async_commit.
From ashlar.gen.examples Require asyncwal.
From ashlar.asyncwal Require Import model client_proof.
Open Scope Z_scope.

(** What a node runs: it opens the pair, and clients call what they like. *)
Definition open : val := λ: <>, asyncwal.Open #null.
Definition body : val := any_calls any_call do_call.

Section library.
  Context (d0 : disk).
  Context `{!golangGS Σ, !specG Σ (pair_spec d0), !async_commitG Σ (pair_spec d0)}.
  Local Notation sp := (pair_spec d0).
  Local Notation ctx := (async_ctx sp asyncwalN recovers).

  Lemma wp_do_call b γ γu (p c : val) k :
    legal c →
    ctx b γ γu -∗ is_log d0 b γu p -∗ pending γ k c -∗
    WP do_call p c @ b; ⊤ {{ r, returns γ k r }}.
  Proof.
    iIntros (Hc) "#Hctx #Hlog Hk". wp_rec. wp_pures. destruct Hc as [->|([x y] & -> & Hx & Hy)].
    - rewrite {2}/read_call. wp_pures. wp_bind (asyncwal.Log__Read _). iApply (wp_Log__Read with "Hctx Hlog Hk").
      iIntros "!>" (s sl1 sl2) "Hk Hsl1 Hsl2". wp_pures.
      wp_apply (wp_slice_to_string with "Hsl1"). iIntros "_". wp_pures.
      wp_apply (wp_slice_to_string with "Hsl2"). iIntros "_". wp_pures. done.
    - rewrite {2}/commit_call /pair_val. wp_pures.
      wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hx|]. iIntros (sl1) "[Hsl1 _]".
      wp_pures. wp_apply (wp_string_to_slice with "[//]"); [by rewrite Hy|]. iIntros (sl2) "[Hsl2 _]".
      wp_pures. iApply (wp_Log__Commit _ _ _ _ _ _ (x, y) with "Hctx Hlog Hk Hsl1 Hsl2"); [done..|].
      by iIntros "!> Hk".
  Qed.

  Lemma wp_open b γ γu :
    ctx b γ γu -∗ async_rec sp recovers b γ γu -∗
    WP open #() @ b; ⊤ {{ p, is_log d0 b γu p }}.
  Proof. iIntros "#Hctx Hrec". wp_rec. by iApply (wp_Open with "Hctx Hrec"). Qed.

  Lemma wp_body b γ γu p :
    ctx b γ γu -∗ is_log d0 b γu p -∗ WP body p @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros "#Hctx #Hlog". iApply (wp_any_calls _ _ _ _ _ _ legal with "Hctx").
    - iApply wp_any_call.
    - iIntros (c k Hc) "Hk". by iApply (wp_do_call with "Hctx Hlog Hk").
  Qed.

  Lemma asyncwal_library dv :
    dv_async dv = ca_new <$> d0 → whole d0 →
    lib_proof sp asyncwalN open body dv.
  Proof.
    intros Hdv Hw.
    refine {| lp_inv := async_inv sp recovers;
              lp_rec := async_rec sp recovers;
              lp_lib b γ γu p := is_log d0 b γu p |}.
    - iIntros (b γ γu _). iApply wp_open.
    - iIntros (b γ γu p _). iApply wp_body.
    - intros b γ γu γs vn vn' dv1 dv2 _ Hcrash. apply async_crash_ok; [done|constructor].
    - intros vn _. destruct (whole_recovers _ Hw) as (s & Hs & Hh). by eapply async_init_ok.
  Qed.
End library.

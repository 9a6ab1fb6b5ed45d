(** * The log as a library of the generic client

    Its specification is that of the write-ahead log on a synchronous disk. *)
From iris.proofmode Require Import proofmode.
From ashlar.golib Require Import slice_rules append.
From ashlar.ghost Require Import async_commit.
From ashlar.gen.examples Require asynclog.
From ashlar.wal Require Import library.
From ashlar.asynclog Require Import model proof client.
Open Scope Z_scope.

(** What clients do. *)
Definition body (N : Z) : val := any_calls (any_call N) do_call.

Section library.
  Context (N : Z) (σ0 : disk).
  Context `{!golangGS Σ, !specG Σ (wal_spec N σ0), !async_commitG Σ (wal_spec N σ0)}.
  Local Notation sp := (wal_spec N σ0).
  Local Notation ctx := (async_ctx sp asynclogN (recovers N)).

  Lemma wp_do_call b γ γu (v c : val) k :
    legal N c →
    ctx b γ γu -∗ is_log N σ0 b γu v -∗ pending γ k c -∗
    WP do_call v c @ b; ⊤ {{ r, returns γ k r }}.
  Proof.
    iIntros (Hc) "#Hctx #Hlog Hk". wp_rec. wp_pures.
    destruct Hc as [(a & -> & Ha)|(us & -> & Hus)]; wp_pures.
    - wp_bind (asynclog.Log__Read _ _). iApply (wp_Log__Read with "Hctx Hlog Hk"); [done|].
      iIntros (s sl) "Hk Hs". wp_apply (wp_slice_to_string with "Hs"). by iIntros "_".
    - rewrite -slice_val_nil. wp_bind (to_slices _ _ _).
      iApply (wp_to_slices _ us _ _ [] []).
      { destruct Hus as [_ Hus]. eapply Forall_impl; [done|]. by intros u [_ Hu]. }
      { iApply own_slice_full_nil. }
      { iApply own_blocks_full_nil. }
      iIntros (sa sb) "[Ha _] Hb". iDestruct (own_blocks_full_split with "Hb") as "[Hb _]". wp_pures.
      iApply (wp_Log__Commit with "Hctx Hlog Hk Ha Hb"); [done|]. by iIntros "Hk".
  Qed.
  Lemma wp_body b γ γu (v : val) :
    ctx b γ γu -∗ is_log N σ0 b γu v -∗ WP body N v @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros "#Hctx #Hlog". iApply (wp_any_calls _ _ _ _ _ _ (legal N) with "Hctx").
    - iApply wp_any_call. by iIntros (c Hc).
    - iIntros (c k Hc) "Hk". by iApply (wp_do_call with "Hctx Hlog Hk").
  Qed.

  Lemma asynclog_library dv d :
    dv_async dv = ca_new <$> d → wal_rel N d [] σ0 →
    lib_proof sp asynclogN asynclog.Open (body N) dv.
  Proof.
    intros Hdv Hd.
    refine {| lp_inv := async_inv sp (recovers N);
              lp_rec := async_rec sp (recovers N);
              lp_lib b γ γu v := is_log N σ0 b γu v |}.
    - iIntros (b γ γu _). iApply wp_Open.
    - iIntros (b γ γu v _). iApply wp_body.
    - intros b γ γu γs vn vn' dv1 dv2 _ Hcrash. by apply async_crash_ok.
    - intros vn _. eapply async_init_ok; [done|by exists []|done].
  Qed.
End library.

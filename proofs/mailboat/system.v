(** * The mail store and its clients as one system *)
From ashlar.golib Require Import sync.
From ashlar.mailboat Require Export recovery.
Local Open Scope Z_scope.

(** The file system that a new store is given: its directories are there; those of
    the users are empty. *)
Definition mail_fs (n : nat) (f : filesys) : Prop :=
  is_Some (fs_dirs f !! spool_dir) ∧ ∀ u, 0 ≤ u < n → fs_dirs f !! user_dir u = Some ∅.

Section system.
  Context (n : nat) (Hn : Z.of_nat n ≤ 2^40).
  Context `{!golangGS Σ, !mailG Σ, !specG Σ (mail_spec n)}.
  Implicit Types (b : boot) (s : mail) (u : Z) (p : list (list Z * list Z)).

  (** ** The calls as values *)
  Lemma wp_run_deliver b γ γl γs h k u d : 0 ≤ u < n → Z.of_nat (length d) ≤ message_max →
    mail_ctx n b γ γl γs -∗ is_mail n b γl γs h -∗ pending γ k (deliver_call u d) -∗
    WP run_deliver h (deliver_call u d) @ b; ⊤ {{ r, returns γ k r }}.
  Proof.
    iIntros (Hun Hd) "#Hctx #Hmail Hk". wp_rec. wp_pures.
    wp_apply (wp_string_to_slice with "[//]"). { unfold message_max in Hd. unfold max_elems. lia. }
    iIntros (sl) "[Hsl _]". wp_pures.
    wp_apply (wp_Deliver with "Hctx Hmail [$Hsl $Hk]"); [done|done|]. iIntros "[_ Hk]". iFrame.
  Qed.

  Local Definition messages_loop (sl : slice) : val :=
    rec: "loop" "i" "l" :=
      if: "i" = #(int 0) then "l"
      else
        let: "x" := slice_get (structT Message) (slice_val sl) ("i" - #(int 1)) in
        "loop" ("i" - #(int 1))
          (InjR ((field_get Message "ID" "x", slice_to_string (field_get Message "Contents" "x")), "l")).
  Local Lemma wp_messages_loop b sl vs p (i : nat) Φ : (i ≤ length p)%nat →
    Z.of_nat (length p) ≤ max_elems →
    own_slice b sl (structT Message) (DfracOwn 1) vs -∗
    ([∗ list] v;x ∈ vs;p, own_message b v x) -∗
    Φ (messages_val p) -∗
    WP messages_loop sl #(int i) (messages_val (drop i p)) @ b; ⊤ {{ Φ }}.
  Proof.
    iIntros (Hi Hmax) "Hsl Hvs HΦ". unfold max_elems in Hmax.
    iDestruct (big_sepL2_length with "Hvs") as %Hlen.
    iInduction i as [|i] "IH"; wp_rec; wp_pures.
    { by rewrite drop_0. }
    rewrite wrap_id; [|int_solve].
    replace (Z.of_nat (S i) - 1) with (Z.of_nat i) by lia.
    destruct (lookup_lt_is_Some_2 p i) as [x Hx]; [lia|].
    destruct (lookup_lt_is_Some_2 vs i) as [v Hv]; [lia|].
    wp_apply (wp_slice_get with "Hsl"); [lia|rewrite Nat2Z.id; exact Hv|]. iIntros "Hsl".
    iDestruct (big_sepL2_lookup_acc _ vs p i _ _ Hv Hx with "Hvs") as "[(%sd & -> & Hd) Hvs]".
    wp_pures. wp_apply (wp_slice_to_string with "Hd"). iIntros "Hd". wp_pures.
    rewrite wrap_id; [|int_solve]. replace (Z.of_nat (S i) - 1) with (Z.of_nat i) by lia.
    change (InjRV ((#(LitStr x.1), #(LitStr x.2)), messages_val (drop (S i) p)))
      with (messages_val (x :: drop (S i) p)).
    rewrite -(drop_S _ _ _ Hx). iApply ("IH" with "[%] Hsl [Hvs Hd] HΦ"); [lia|].
    iApply "Hvs". iExists sd. by iFrame.
  Qed.
  Lemma wp_run_pickup b γ γl γs h k u : 0 ≤ u < n →
    mail_ctx n b γ γl γs -∗ is_mail n b γl γs h -∗ pending γ k (pickup_call u) -∗
    WP run_pickup h (pickup_call u) @ b; ⊤ {{ r, returns γ k r ∗
      ∃ L p, ⌜r = messages_val p⌝ ∗ holds n b γl h u L ∗ ⌜dom L = list_to_set p.*1 ∧ NoDup p.*1⌝ }}.
  Proof.
    iIntros (Hun) "#Hctx #Hmail Hk". wp_rec. wp_pures.
    wp_apply (wp_Pickup with "Hctx Hmail Hk"); [done|done|].
    iIntros (sl L p) "((%vs & [Hsl _] & Hvs) & Hholds & Hk & %Hp)".
    iDestruct (own_slice_length with "Hsl") as %[Hlen Hmax].
    iDestruct (big_sepL2_length with "Hvs") as %Hlen2.
    do 6 wp_pure. fold (messages_loop sl). rewrite Hlen Hlen2.
    iApply (wpe_wand with "[Hsl Hvs]").
    { iPoseProof (wp_messages_loop b sl vs p (length p) (λ v, ⌜v = messages_val p⌝)%I
        with "Hsl Hvs [//]") as "H"; [done|lia|]. by rewrite drop_all. }
    iIntros (v ->). iFrame "Hk". iExists L, p. by iFrame.
  Qed.

  (** ** Sessions *)
  Lemma wp_delete_some b γ γl γs h u L p : 0 ≤ u < n → list_to_set p.*1 ⊆ dom L → NoDup p.*1 →
    mail_ctx n b γ γl γs -∗ is_mail n b γl γs h -∗ holds n b γl h u L -∗
    WP delete_some h #(u64 u) (messages_val p) @ b; ⊤ {{ _, ∃ L, holds n b γl h u L }}.
  Proof.
    iIntros (Hun HL Hnd) "#Hctx #Hmail Hholds".
    iInduction p as [|[id d] p] "IH" forall (L HL Hnd); rewrite /messages_val /=; wp_rec; wp_pures.
    { by iExists L. }
    apply NoDup_cons in Hnd as [Hid Hnd]. simpl in *.
    wp_bind (Eff _ _). iApply wpe_arb. iIntros "!>" (v (a & ->)). destruct a; wp_pures.
    - wp_bind (invoke _ _ _). iApply (wp_invoke with "Hctx"). iIntros (k) "Hk".
      wp_rec. wp_pures. wp_apply (wp_Delete with "Hctx Hmail [$Hholds $Hk]").
      { done. } { done. } { apply elem_of_dom. set_solver. }
      iIntros "[Hholds $]". wp_pures. iApply ("IH" with "[%] [//] Hholds").
      rewrite dom_delete_L. intros id2 Hid2. apply elem_of_difference. split; [set_solver|].
      rewrite elem_of_list_to_set in Hid2. rewrite elem_of_singleton. by intros ->.
    - iApply ("IH" with "[%] [//] Hholds"). set_solver.
  Qed.
  Lemma wp_session b γ γl γs h u : 0 ≤ u < n →
    mail_ctx n b γ γl γs -∗ is_mail n b γl γs h -∗
    WP session h #(u64 u) @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros (Hun) "#Hctx #Hmail". wp_rec. wp_pures.
    wp_bind (invoke _ _ _). iApply (wp_invoke with "Hctx"). iIntros (k) "Hk".
    iApply (wpe_wand with "[Hk]"); [by iApply (wp_run_pickup with "Hctx Hmail Hk")|].
    iIntros (r) "[$ (%L & %p & -> & Hholds & %HL & %Hnd)]". wp_pures.
    wp_bind (delete_some _ _ _). iApply (wpe_wand with "[Hholds]").
    { iApply (wp_delete_some with "Hctx Hmail Hholds"); [done|by rewrite HL|done]. }
    iIntros (v) "(%L2 & Hholds)". wp_pures.
    iApply (wp_invoke with "Hctx"). iIntros (k2) "Hk".
    wp_rec. wp_pures. wp_apply (wp_Unlock with "Hctx [$Hholds $Hk]"); [done|done|]. iIntros "$".
  Qed.
  Lemma wp_mail_client b γ γl γs h :
    mail_ctx n b γ γl γs -∗ is_mail n b γl γs h -∗
    WP mail_client n h @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros "#Hctx #Hmail". wp_rec. wp_bind (Eff _ _). iApply wpe_arb. iIntros "!>" (v (u & Hu & ->)).
    wp_pures. case_bool_decide as Hun; wp_pures; [|done].
    assert (0 ≤ u < n) as Hu2. { split; [|done]. apply Hu. }
    wp_bind (Eff _ _). iApply wpe_arb. iIntros "!>" (v (a & ->)). destruct a; wp_pures.
    - wp_bind (Eff _ _). iApply wpe_arb. iIntros "!>" (v (d & Hd & ->)). wp_pures.
      case_bool_decide as Hlen; wp_pures; [|done].
      iApply (wp_invoke with "Hctx"). iIntros (k) "Hk".
      iApply (wpe_wand with "[Hk]"); [by iApply (wp_run_deliver with "Hctx Hmail Hk")|]. by iIntros (r) "$".
    - by iApply (wp_session with "Hctx Hmail").
  Qed.

  (** ** What the generic theorem asks for *)
  Definition mail_rec (b : boot) (γ : spec_names) (γu : list gname) : iProp Σ :=
    ∃ γl γs D, ⌜γu = [γl; γs]⌝ ∗ ⌜dom D = users n⌝ ∗ recovering γl γs D.
  Definition mail_lib (b : boot) (γ : spec_names) (γu : list gname) (h : val) : iProp Σ :=
    ∃ γl γs, ⌜γu = [γl; γs]⌝ ∗ is_mail n b γl γs h.

  (** The next boot, from a file system at rest. *)
  Lemma mail_begin f s D K spool vn : fs_holds f s D K spool → dom (boxes s) = users n →
    fs_elements vn f -∗
    ∀ γ, spec_possible (mail_spec n) γ (eq s) ==∗ ∃ γu,
      ∀ b γs, boot_is b γs vn ==∗ mail_lib_inv n b γ γu ∗ mail_rec b γ γu.
  Proof.
    iIntros (Hf Hs) "Hels %γ Hspec". iMod (mail_boot _ _ _ _ _ Hf) as (γl γsp) "Hboot".
    iModIntro. iExists [γl; γsp]. iIntros (b γs) "Hb".
    iMod ("Hboot" with "Hb Hels") as "(Hm & Hsp & Hrec)". iModIntro. iSplitR "Hrec".
    - iExists γl, γsp, s. iFrame. iPureIntro. split; [done|]. intros u.
      by rewrite -elem_of_dom Hs elem_of_users.
    - iExists γl, γsp, D. iFrame. iPureIntro. split; [done|].
      by rewrite (ok_users _ _ _ _ (fh_ok _ _ _ _ _ Hf)).
  Qed.
End system.

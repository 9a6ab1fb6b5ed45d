(** * The mail store as the generic theorem wants it *)
From ashlar.golib Require Import sync.
From ashlar.mailboat Require Export system.
Local Open Scope Z_scope.

Section library.
  Context (n : nat) (Hn : Z.of_nat n ≤ 2^40).
  Context `{!golangGS Σ, !mailG Σ, !specG Σ (mail_spec n)}.

  Lemma wp_open_mail b γ γu :
    lib_ctx (mail_spec n) mailN (mail_lib_inv n) b γ γu -∗ mail_rec n b γ γu -∗
    WP open_mail n #() @ b; ⊤ {{ h, mail_lib n b γ γu h }}.
  Proof.
    iIntros "#Hctx (%γl & %γs & %D & -> & %HD & Hrec)". wp_rec.
    wp_apply (wp_Open with "Hctx Hrec"); [done|done|]. iIntros (h) "#Hh".
    iExists γl, γs. by iFrame "Hh".
  Qed.
  Lemma wp_body_mail b γ γu h :
    lib_ctx (mail_spec n) mailN (mail_lib_inv n) b γ γu -∗ mail_lib n b γ γu h -∗
    WP mail_client n h @ b; ⊤ {{ _, True }}.
  Proof.
    iIntros "#Hctx (%γl & %γs & -> & #Hh)". by iApply (wp_mail_client with "Hctx Hh").
  Qed.

  (** A crash: the specification crashes as the file system does. *)
  Lemma mail_crash_step b γ γu γs vn vn2 dv dv2 : dev_crash dv dv2 →
    boot_is b γs vn -∗ volatile_interp vn dv -∗ volatile_elements vn2 dv2 -∗
    mail_lib_inv n b γ γu -∗
    ∃ S ps S2, spec_possible (mail_spec n) γ S ∗ ([∗ list] p ∈ ps, pending γ p.1 p.2) ∗
      ⌜crash_leads (mail_spec n) S ps.*2 S2⌝ ∗
      ∀ γ2, spec_possible (mail_spec n) γ2 S2 ==∗ ∃ γu2,
        ∀ γs2, boot_is (next_boot b) γs2 vn2 ==∗
          mail_lib_inv n (next_boot b) γ2 γu2 ∗ mail_rec n (next_boot b) γ2 γu2.
  Proof.
    iIntros ((_ & _ & _ & Hcrash)) "#Hb [_ Hfs] [_ Hels] (%γl & %γs1 & %s & -> & Hs & Hm & Hsp & %Hu)".
    iDestruct (mail_after_crash with "Hb Hfs Hm Hsp") as %(s2 & D & K & spool & Hs2 & Hf); [done|].
    iExists (eq s), [], (eq s2). iFrame "Hs". iSplit; [done|]. iSplit.
    - iPureIntro. split; [by eauto|]. intros ? <-. exists s, s. split; [done|].
      split; [constructor|done].
    - iIntros (γ2) "Hs".
      iMod (mail_begin n _ _ _ _ _ _ Hf with "Hels Hs") as (γu2) "Hnext".
      { destruct Hs2 as (_ & -> & _). apply set_eq. intros u. by rewrite elem_of_dom Hu elem_of_users. }
      iModIntro. iExists γu2. iIntros (γs2) "Hb2". by iApply "Hnext".
  Qed.

  Definition mail_library (dv : devices) spool :
    fs_dirs (dv_fs dv) !! spool_dir = Some spool →
    (∀ u, 0 ≤ u < n → fs_dirs (dv_fs dv) !! user_dir u = Some ∅) →
    lib_proof (mail_spec n) mailN (open_mail n) (mail_client n) dv.
  Proof using All.
    intros Hspool Husers.
    refine {| lp_inv := mail_lib_inv n; lp_rec := mail_rec n; lp_lib := mail_lib n |}.
    - iIntros (b γ γu Hb). iApply wp_open_mail.
    - iIntros (b γ γu h Hb). iApply wp_body_mail.
    - iIntros (b γ γu γs vn vn2 dv1 dv2 Hb Hcrash) "Hboot Hold Hnew >Hinv".
      iDestruct (mail_crash_step with "Hboot Hold Hnew Hinv") as (S ps S2) "(HS & Hps & Hlead & Hnext)";
        [done|].
      iModIntro. iExists S, ps, S2. iFrame "HS Hps Hlead". iIntros (γ2) "HS".
      iMod ("Hnext" with "HS") as (γu2) "Hnext". iModIntro. iExists γu2. iIntros (γs2) "Hb".
      by iMod ("Hnext" with "Hb").
    - iIntros (vn Hsizes) "_ [_ Hels]". iModIntro. iExists (eq (mail_init n)).
      iSplit; [iPureIntro; split; [by eauto|by intros ? <-]|]. iIntros (γ) "HS".
      iMod (mail_begin n _ _ _ _ _ _ (fs_holds_init n _ spool Hn Hspool Husers) with "Hels HS")
        as (γu) "Hnext".
      { by rewrite /= dom_gset_to_gmap. }
      iModIntro. iExists γu. iIntros (γs) "Hb". by iMod ("Hnext" with "Hb").
  Defined.
End library.

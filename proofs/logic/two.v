(** * Rules of the two disks of which one may fail

    An access to a disk may find that it has failed, for good; at most one does.
    The rules below say so; [two_has] hides it: disk [i] has [s] at [a], or it has
    failed and nobody cares. *)
From ashlar.logic Require Export rules.

Section two.
  Context `{!golangGS Σ}.
  Implicit Types Φ : val → iProp Σ.
  Implicit Types b : boot.

  Definition which (i : bool) : val := if i then #(u64 1) else #(u64 0).
  Lemma td_id_which i : td_id (which i) = Some i.
  Proof. by destruct i. Qed.

  (** ** What an access learns of failures *)
  Lemma failed_interp_known dn t i :
    failed_interp dn t -∗ tt ↪[dn_failed dn]□ i -∗ ⌜td_failed t = Some i⌝.
  Proof.
    iIntros "[Hf _] Hi". iDestruct (ghost_map_lookup with "Hf Hi") as %Hi. iPureIntro.
    rewrite /failed_map in Hi. by destruct (td_failed t) as [[]|]; simplify_map_eq.
  Qed.
  Lemma failed_interp_get dn t i : td_failed t = Some i →
    failed_interp dn t -∗ tt ↪[dn_failed dn]□ i.
  Proof.
    iIntros (Hi) "[_ Hf]". iApply (big_sepM_lookup with "Hf"). rewrite /failed_map Hi. apply lookup_singleton.
  Qed.
  Lemma failed_interp_fail dn t t' i : td_fail i t t' →
    failed_interp dn t ==∗ failed_interp dn t'.
  Proof.
    destruct 1 as [|d0 d1]; [by auto|]. iIntros "[Hf _]". rewrite /failed_interp /failed_map /=.
    iMod (ghost_map_insert_persist tt i with "Hf") as "[Hf #Hi]"; [done|].
    rewrite insert_empty. iFrame "Hf". iModIntro. rewrite big_sepM_singleton. iFrame "Hi".
  Qed.
  Lemma td_fail_get i j t t' : td_fail i t t' → td_get j t' = td_get j t.
  Proof. by destruct 1. Qed.
  Lemma td_fail_failed i t t' : td_fail i t t' → td_failed t = Some i → td_failed t' = Some i.
  Proof. by destruct 1. Qed.

  (** The part of the state interpretation that is about the two disks. *)
  Definition two_interp (n : nat) (t : two_disk) : iProp Σ :=
    ghost_map_auth (two_name false (durable n)) 1 (td_0 t) ∗
    ghost_map_auth (two_name true (durable n)) 1 (td_1 t) ∗
    failed_interp (durable n) t ∗ ⌜Z.of_nat (size (td_0 t)) = two_size n⌝.
  Lemma durable_interp_two n d :
    durable_interp (durable n) d -∗ two_interp n (dv_two d) ∗
      (∀ t, two_interp n t -∗ durable_interp (durable n) (set_two t d)).
  Proof.
    iIntros "(H & $ & $ & $ & H1 & $ & H2)". iIntros (t) "($ & $ & $ & $)". iFrame.
  Qed.
  Lemma two_interp_lookup n t i a s :
    two_interp n t -∗ two_pointsto n i a s -∗ ⌜td_get i t !! a = Some s⌝.
  Proof.
    iIntros "(H0 & H1 & _) Ha". destruct i.
    - iApply (ghost_map_lookup with "H1 Ha").
    - iApply (ghost_map_lookup with "H0 Ha").
  Qed.
  Lemma two_interp_fail n t t' i : td_fail i t t' → two_interp n t ==∗ two_interp n t'.
  Proof.
    iIntros (Hf) "(H0 & H1 & Hf & Hs)". iMod (failed_interp_fail with "Hf") as "$"; [done|].
    pose proof (td_fail_get i false _ _ Hf) as H0. pose proof (td_fail_get i true _ _ Hf) as H1.
    simpl in *. rewrite H0 H1. by iFrame.
  Qed.
  Lemma two_interp_write n t i a s0 s :
    two_interp n t -∗ two_pointsto n i a s0 ==∗
    two_interp n (td_set i (<[a:=s]> (td_get i t)) t) ∗ two_pointsto n i a s.
  Proof.
    iIntros "(H0 & H1 & Hf & %Hs) Ha". destruct i; simpl.
    - iMod (ghost_map_update s with "H1 Ha") as "[H1 $]". iModIntro. by iFrame.
    - iDestruct (ghost_map_lookup with "H0 Ha") as %Ha.
      iMod (ghost_map_update s with "H0 Ha") as "[H0 $]". iModIntro. iFrame.
      iPureIntro. simpl. by rewrite map_size_insert_Some.
  Qed.

  (** ** Steps *)
  Lemma wpe_lift_two b E op v Φ :
    (∀ t, two_interp (b_node b) t ={E}=∗
       ⌜∃ w t', two_step op v t w t'⌝ ∗
       ▷ ∀ w t', ⌜two_step op v t w t'⌝ ={E}=∗ two_interp (b_node b) t' ∗ Φ w) -∗
    WP Eff (DevOp op) (Val v) @ b; E {{ Φ }}.
  Proof.
    iIntros "H". iApply wpe_lift_dev. iIntros (ep h d Hep) "Hd Hb".
    iDestruct (durable_interp_two with "Hd") as "[Ht Hback]".
    iMod ("H" with "Ht") as "[%Hred H]". iModIntro. iSplit.
    { iPureIntro. destruct Hred as (w & t' & Hs). do 2 eexists. by apply DevTwoS. }
    iNext. iIntros (w d' Hs). destruct Hred as (w0 & t0 & Hred).
    inversion Hs as [? ? ? ? ? H|? ? ? ? ? H|? ? ? ? ? H|? ? ? ? ? H]; subst.
    - exfalso. inversion Hred; subst; inversion H.
    - iMod ("H" with "[//]") as "[Ht HΦ]". iModIntro. iFrame "HΦ".
      iSplitL "Ht Hback"; [by iApply "Hback"|]. by iApply (boot_interp_same with "Hb").
    - exfalso. inversion Hred; subst; inversion H.
    - exfalso. inversion Hred; subst; inversion H.
  Qed.

  Lemma two_read_inv i a t w t' :
    two_step TwoRead (which i, #(u64 a)) t w t' →
    td_fail i t t' ∧ ∃ s, td_get i t' !! a = Some s ∧
      (td_failed t' ≠ Some i ∧ w = (#(LitStr s), #true)%V ∨
       td_failed t' = Some i ∧ w = (#(LitStr zero_block), #false)%V).
  Proof.
    intros Hs. inversion Hs; subst;
      match goal with H : td_id _ = Some _ |- _ => rewrite td_id_which in H; injection H as <- end; eauto 10.
  Qed.
  Lemma two_write_inv i a s t w t' :
    two_step TwoWrite (which i, (#(u64 a), #(LitStr s))) t w t' →
    w = #() ∧ ∃ t1, td_fail i t t1 ∧
      (t' = td_set i (<[a:=s]> (td_get i t1)) t1 ∨ td_failed t1 = Some i ∧ t' = t1).
  Proof.
    intros Hs. inversion Hs; subst;
      match goal with H : td_id _ = Some _ |- _ => rewrite td_id_which in H; injection H as <- end; eauto 10.
  Qed.

  (** A read gives what the disk has, or says that it has failed. *)
  Lemma two_read_enabled t i a s : td_get i t !! a = Some s →
    ∃ w t', two_step TwoRead (which i, #(u64 a)) t w t'.
  Proof.
    intros Ha. destruct (decide (td_failed t = Some i)).
    - do 2 eexists. eapply TwoReadFailedS; [apply td_id_which|constructor|done|done].
    - do 2 eexists. eapply TwoReadS; [apply td_id_which|constructor|done|done].
  Qed.
  Lemma wpe_two_read b E i a s Φ :
    ▷ two_pointsto (b_node b) i a s -∗
    ▷ (∀ r (ok : bool), two_pointsto (b_node b) i a s -∗
         (if ok then ⌜r = s⌝ else ⌜r = zero_block⌝ ∗ disk_failed (b_node b) i) -∗ Φ (#(LitStr r), #ok)%V) -∗
    WP Eff (DevOp TwoRead) (Val (which i, #(u64 a))) @ b; E {{ Φ }}.
  Proof.
    iIntros ">Ha HΦ". iApply wpe_lift_two. iIntros (t) "Ht".
    iDestruct (two_interp_lookup with "Ht Ha") as %Ha. iModIntro.
    iSplit; [iPureIntro; by eapply two_read_enabled|].
    iNext. iIntros (w t' (Hf & s' & Hs & Hw)%two_read_inv).
    rewrite (td_fail_get _ _ _ _ Hf) Ha in Hs. injection Hs as <-.
    iMod (two_interp_fail with "Ht") as "Ht"; [done|].
    destruct Hw as [[_ ->]|[Hfailed ->]].
    - iModIntro. iFrame "Ht". by iApply ("HΦ" with "Ha").
    - iDestruct "Ht" as "(H0 & H1 & Hfailed & Hsize)".
      iDestruct (failed_interp_get with "Hfailed") as "#Hi"; [done|].
      iModIntro. iFrame "H0 H1 Hfailed Hsize". iApply ("HΦ" with "Ha"). by iFrame "Hi".
  Qed.
  Lemma wpe_two_read_failed b E i a s Φ :
    disk_failed (b_node b) i -∗ ▷ two_pointsto (b_node b) i a s -∗
    ▷ (two_pointsto (b_node b) i a s -∗ Φ (#(LitStr zero_block), #false)%V) -∗
    WP Eff (DevOp TwoRead) (Val (which i, #(u64 a))) @ b; E {{ Φ }}.
  Proof.
    iIntros "#Hi >Ha HΦ". iApply wpe_lift_two. iIntros (t) "Ht".
    iDestruct (two_interp_lookup with "Ht Ha") as %Ha.
    iAssert ⌜td_failed t = Some i⌝%I as %Hfailed.
    { iDestruct "Ht" as "(_ & _ & Hf & _)". iApply (failed_interp_known with "Hf Hi"). }
    iModIntro. iSplit; [iPureIntro; by eapply two_read_enabled|].
    iNext. iIntros (w t' (Hf & s' & Hs & Hw)%two_read_inv).
    iMod (two_interp_fail with "Ht") as "Ht"; [done|]. iModIntro. iFrame "Ht".
    pose proof (td_fail_failed _ _ _ Hf Hfailed). destruct Hw as [[? _]|[_ ->]]; [done|].
    by iApply "HΦ".
  Qed.

  (** A write does what it should, or nothing because the disk has failed. *)
  Lemma wpe_two_write b E i a s s0 Φ : block_ok s →
    ▷ two_pointsto (b_node b) i a s0 -∗
    ▷ (two_pointsto (b_node b) i a s ∨ two_pointsto (b_node b) i a s0 ∗ disk_failed (b_node b) i -∗ Φ #()) -∗
    WP Eff (DevOp TwoWrite) (Val (which i, (#(u64 a), #(LitStr s)))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hs) ">Ha HΦ". iApply wpe_lift_two. iIntros (t) "Ht".
    iDestruct (two_interp_lookup with "Ht Ha") as %Ha. iModIntro. iSplit.
    { iPureIntro. destruct (decide (td_failed t = Some i)).
      - do 2 eexists. eapply TwoWriteFailedS; [apply td_id_which|constructor|done|done|done].
      - do 2 eexists. eapply TwoWriteS; [apply td_id_which|constructor|done|done|done]. }
    iNext. iIntros (w t' (-> & t1 & Hf & Hw)%two_write_inv).
    iMod (two_interp_fail with "Ht") as "Ht"; [done|].
    destruct Hw as [->|[Hfailed ->]].
    - iMod (two_interp_write with "Ht Ha") as "[$ Ha]". iModIntro. iApply "HΦ". by iLeft.
    - iDestruct "Ht" as "(H0 & H1 & Hfailed & Hsize)".
      iDestruct (failed_interp_get with "Hfailed") as "#Hi"; [done|].
      iModIntro. iFrame "H0 H1 Hfailed Hsize". iApply "HΦ". iRight. by iFrame.
  Qed.

  Lemma wpe_two_size b E Φ :
    ▷ Φ #(u64 (two_size (b_node b))) -∗ WP Eff (DevOp TwoSize) (Val #()) @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". iApply wpe_lift_two. iIntros (t) "Ht".
    iAssert ⌜Z.of_nat (size (td_0 t)) = two_size (b_node b)⌝%I as %Hsz.
    { iDestruct "Ht" as "(_ & _ & _ & $)". }
    iModIntro. iSplit. { iPureIntro. do 2 eexists. constructor. }
    iNext. iIntros (w t' Hs). inversion Hs; subst. iModIntro. iFrame "Ht". rewrite Hsz. by iApply "HΦ".
  Qed.

  (** ** What a disk has, unless it has failed *)
  Definition two_has (n : nat) (i : bool) (a : Z) (s : list Z) : iProp Σ :=
    ∃ s', two_pointsto n i a s' ∗ (⌜s' = s⌝ ∨ disk_failed n i).
  Global Instance two_has_timeless n i a s : Timeless (two_has n i a s).
  Proof. apply _. Qed.
  Lemma two_has_pointsto n i a s : two_pointsto n i a s -∗ two_has n i a s.
  Proof. iIntros "H". iExists s. iFrame. by iLeft. Qed.
  Lemma two_has_failed n i a s s' : disk_failed n i -∗ two_has n i a s -∗ two_has n i a s'.
  Proof. iIntros "#Hf (%r & H & _)". iExists r. iFrame. by iRight. Qed.
  (** Not both disks have failed. *)
  Lemma disk_failed_other n i : disk_failed n i -∗ disk_failed n (negb i) -∗ False.
  Proof. iIntros "H1 H2". iDestruct (disk_failed_agree with "H1 H2") as %?. by destruct i. Qed.

  Lemma wpe_two_has_read b E i a s Φ :
    ▷ two_has (b_node b) i a s -∗
    ▷ (∀ r (ok : bool), two_has (b_node b) i a s -∗
         (if ok then ⌜r = s⌝ else ⌜r = zero_block⌝ ∗ disk_failed (b_node b) i) -∗ Φ (#(LitStr r), #ok)%V) -∗
    WP Eff (DevOp TwoRead) (Val (which i, #(u64 a))) @ b; E {{ Φ }}.
  Proof.
    iIntros "(%s' & Ha & >[->|#Hf]) HΦ".
    - iApply (wpe_two_read with "Ha"). iIntros "!>" (r ok) "Ha".
      iApply ("HΦ" with "[Ha]"). by iApply two_has_pointsto.
    - iApply (wpe_two_read_failed with "Hf Ha"). iIntros "!> Ha".
      iApply ("HΦ" with "[Ha]"); [|by iFrame "Hf"]. iExists s'. iFrame. by iRight.
  Qed.
  Lemma wpe_two_has_write b E i a s s0 Φ : block_ok s →
    ▷ two_has (b_node b) i a s0 -∗ ▷ (two_has (b_node b) i a s -∗ Φ #()) -∗
    WP Eff (DevOp TwoWrite) (Val (which i, (#(u64 a), #(LitStr s)))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hs) "(%s' & Ha & _) HΦ". iApply (wpe_two_write with "Ha"); [done|].
    iIntros "!> [Ha|[Ha #Hf]]"; iApply "HΦ".
    - by iApply two_has_pointsto.
    - iExists s'. iFrame. by iRight.
  Qed.
End two.
Global Typeclasses Opaque two_has.

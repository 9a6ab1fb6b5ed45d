(** * Replies and the log: worm/wor, Reply.Add and Log.Append; internal/worm/paxos, Acceptor.reply

    A reply is runs of registers that are alike.  [own_reply b r said]: the reply at
    [r] says [said] of its registers, in their order. *)
From iris.proofmode Require Import environments.
From ashlar.golib Require Export room readonly.
From ashlar.worm.acceptor Require Export judge.
Local Open Scope Z_scope.

(** What a client reads of an answer: a value that is nil has no bytes. *)
Definition heard (a : answer) : answer :=
  Answer (status a) (said_promised a) (said_written a) (said_accepted a) (Some (default [] (said_value a))).
Global Instance answer_eq_dec : EqDecision answer.
Proof. solve_decision. Defined.

(** A run in memory: how many registers, what is said of each, and where the value is. *)
Record run := Run { run_count : Z; run_answer : answer; run_slice : slice }.
Definition run_of (x : run) : val := answer_val (run_count x) (run_answer x) (run_slice x).
(** What runs say of their registers. *)
Definition told (runs : list run) : list answer :=
  concat ((λ x, replicate (Z.to_nat (run_count x)) (heard (run_answer x))) <$> runs).

Lemma told_app runs1 runs2 : told (runs1 ++ runs2) = told runs1 ++ told runs2.
Proof. by rewrite /told fmap_app concat_app. Qed.
Lemma told_one x : told [x] = replicate (Z.to_nat (run_count x)) (heard (run_answer x)).
Proof. rewrite /told /=. by rewrite app_nil_r. Qed.

(** [runs] and [x] after them, which may make the last run longer. *)
Definition longer (runs : list run) (x : run) (runs' : list run) : Prop :=
  runs' = runs ++ [x] ∨
  ∃ before y, runs = before ++ [y] ∧ heard (run_answer y) = heard (run_answer x) ∧
    runs' = before ++ [Run (run_count y + run_count x) (run_answer y) (run_slice y)].
Lemma longer_told runs x runs' : Forall (λ y, 0 < run_count y) runs → 0 < run_count x → longer runs x runs' →
  told runs' = told runs ++ replicate (Z.to_nat (run_count x)) (heard (run_answer x)).
Proof.
  intros Hruns Hx [->|(before & y & -> & Heq & ->)].
  - by rewrite told_app told_one.
  - apply Forall_app in Hruns as [_ [Hy _]%Forall_cons]. rewrite !told_app !told_one /= Z2Nat.inj_add; [|lia..].
    rewrite replicate_add app_assoc. by rewrite -Heq.
Qed.

(** What [f] says of each register from [lo] on, below [hi]. *)
Definition answers (f : Z → answer) (lo hi : Z) : list answer := (λ j, heard (f j)) <$> seqZ lo (hi - lo).
Lemma answers_nil f lo : answers f lo lo = [].
Proof. by rewrite /answers Z.sub_diag. Qed.
Lemma answers_length f lo hi : lo ≤ hi → Z.of_nat (length (answers f lo hi)) = hi - lo.
Proof. intros Hle. rewrite /answers fmap_length seqZ_length. lia. Qed.
Lemma answers_lookup f lo hi j : lo ≤ j < hi → answers f lo hi !! Z.to_nat (j - lo) = Some (heard (f j)).
Proof. intros Hj. rewrite /answers list_lookup_fmap lookup_seqZ_lt; [|lia]. simpl. do 3 f_equal. lia. Qed.
(** Registers from [k] on, below [hi], are alike. *)
Lemma answers_alike f lo k hi a : lo ≤ k ≤ hi → (∀ j, k ≤ j < hi → f j = a) →
  answers f lo hi = answers f lo k ++ replicate (Z.to_nat (hi - k)) (heard a).
Proof.
  intros Hk Hf. rewrite /answers. replace (hi - lo) with ((k - lo) + (hi - k)) by lia.
  rewrite seqZ_app; [|lia..]. rewrite fmap_app. f_equal. replace (lo + (k - lo)) with k by lia.
  apply list_eq_same_length with (n := Z.to_nat (hi - k)); [by rewrite replicate_length|by rewrite fmap_length seqZ_length|].
  intros i x y Hi. rewrite list_lookup_fmap lookup_seqZ_lt; [|lia]. rewrite lookup_replicate_2 //.
  intros [= <-] [= <-]. by rewrite Hf; [|lia].
Qed.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_slice.

Section reply.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (a r l : loc) (s : slice) (x : run) (Φ : val → iProp Σ).

  Lemma own_value_bytes b s (v : option (list Z)) : own_value b s v -∗ own_bytes b s DfracDiscarded (default [] v).
  Proof. iIntros "H". destruct v; simpl; [by iDestruct "H" as "[_ $]"|]. iDestruct "H" as %->. iApply own_slice_nil. Qed.

  Lemma own_run_of b l dq x :
    own_ty b l dq (structT wor.Run) (run_of x) ⊣⊢
    (l +ₗ field_offset wor.Run "Count") ↦[b]{dq} #(u32 (run_count x)) ∗
    (l +ₗ field_offset wor.Run "Status") ↦[b]{dq} #(u8 (status (run_answer x))) ∗
    own_ty b (l +ₗ field_offset wor.Run "Promised") dq (structT wor.Ballot) (ballot_val (said_promised (run_answer x))) ∗
    (l +ₗ field_offset wor.Run "Written") ↦[b]{dq} #(said_written (run_answer x)) ∗
    own_ty b (l +ₗ field_offset wor.Run "Accepted") dq (structT wor.Ballot) (ballot_val (said_accepted (run_answer x))) ∗
    (l +ₗ field_offset wor.Run "Value") ↦[b]{dq} slice_val (run_slice x).
  Proof.
    rewrite own_struct //. rewrite /run_of /answer_val. cbn [own_fields own_ty].
    iSplit; [by iIntros "($ & $ & $ & $ & $ & $ & _)"|]. iIntros "($ & $ & $ & $ & $ & $)". done.
  Qed.

  (** ** Runs that are alike *)
  Lemma wp_Run__alike b l dq x y :
    {{{ own_ty b l dq (structT wor.Run) (run_of x) ∗ own_value b (run_slice x) (said_value (run_answer x)) ∗
        own_value b (run_slice y) (said_value (run_answer y)) }}}
      wor.Run__alike #l (run_of y) @ b; ⊤
    {{{ RET #(bool_decide (heard (run_answer x) = heard (run_answer y)));
        own_ty b l dq (structT wor.Run) (run_of x) }}}.
  Proof.
    iIntros (Φ) "(Hl & #Hx & #Hy) HΦ". destruct x as [n [st p w c v] s], y as [n' [st' p' w' c' v'] s'].
    iDestruct (own_value_bytes with "Hx") as "#Hxb". iDestruct (own_value_bytes with "Hy") as "#Hyb".
    rewrite own_run_of. cbn [run_count run_answer run_slice status said_promised said_written said_accepted said_value].
    iDestruct "Hl" as "(Hcount & Hstatus & Hpromised & Hwritten & Haccepted & Hvalue)".
    iAssert (▷ ∀ yes : bool, ⌜yes = true ↔ heard (Answer st p w c v) = heard (Answer st' p' w' c' v')⌝ -∗
      (l +ₗ field_offset wor.Run "Count") ↦[b]{dq} #(u32 n) -∗
      (l +ₗ field_offset wor.Run "Status") ↦[b]{dq} #(u8 st) -∗
      own_ty b (l +ₗ field_offset wor.Run "Promised") dq (structT wor.Ballot) (ballot_val p) -∗
      (l +ₗ field_offset wor.Run "Written") ↦[b]{dq} #w -∗
      own_ty b (l +ₗ field_offset wor.Run "Accepted") dq (structT wor.Ballot) (ballot_val c) -∗
      (l +ₗ field_offset wor.Run "Value") ↦[b]{dq} slice_val s -∗ Φ #yes)%I with "[HΦ]" as "HΦ".
    { iIntros "!>" (yes Hyes) "H1 H2 H3 H4 H5 H6".
      rewrite (bool_decide_ext (heard _ = heard _) (yes = true)); [|by symmetry].
      replace (bool_decide (yes = true)) with yes by (destruct yes; reflexivity).
      iApply "HΦ". iFrame. }
    rewrite /heard. cbn [status said_promised said_written said_accepted said_value]. wp_rec. wp_pures. wp_load. wp_pures.
    case_bool_decide as H1; wp_pures; last first.
    { iApply ("HΦ" $! false with "[%] Hcount Hstatus Hpromised Hwritten Haccepted Hvalue"). naive_solver. }
    wp_apply (wp_load_ty with "Hpromised"). iIntros "Hpromised".
    wp_bind (BinOp EqOp _ _). iApply (wp_ballot_eq b ⊤ p p' []). iNext. iApply wpe_value.
    case_bool_decide as H2; wp_pures; last first.
    { iApply ("HΦ" $! false with "[%] Hcount Hstatus Hpromised Hwritten Haccepted Hvalue"). naive_solver. }
    wp_load. wp_pures. case_bool_decide as H3; wp_pures; last first.
    { iApply ("HΦ" $! false with "[%] Hcount Hstatus Hpromised Hwritten Haccepted Hvalue"). naive_solver. }
    wp_apply (wp_load_ty with "Haccepted"). iIntros "Haccepted".
    wp_bind (BinOp EqOp _ _). iApply (wp_ballot_eq b ⊤ c c' []). iNext. iApply wpe_value.
    case_bool_decide as H4; wp_pures; last first.
    { iApply ("HΦ" $! false with "[%] Hcount Hstatus Hpromised Hwritten Haccepted Hvalue"). naive_solver. }
    wp_apply (wp_slice_to_string with "Hyb"). iIntros "_". wp_load.
    wp_apply (wp_slice_to_string with "Hxb"). iIntros "_". wp_pures.
    iApply ("HΦ" with "[%] Hcount Hstatus Hpromised Hwritten Haccepted Hvalue").
    rewrite bool_decide_eq_true. injection H1 as ->. injection H3 as H3. split; [intros [= Heq]; by rewrite H2 H3 H4 Heq|].
    intros Heq. apply (f_equal said_value) in Heq. injection Heq as Heq. by rewrite Heq.
  Qed.

  (** ** Adding a run *)
  Definition own_runs b r (runs : list run) : iProp Σ :=
    ∃ s, (r +ₗ field_offset wor.Reply "Runs") ↦[b] slice_val s ∗
      own_slice_full b s (structT wor.Run) (run_of <$> runs) ∗
      [∗ list] x ∈ runs, ⌜0 < run_count x⌝ ∗ own_value b (run_slice x) (said_value (run_answer x)).
  Definition own_reply b r (said : list answer) : iProp Σ := ∃ runs, own_runs b r runs ∗ ⌜said = told runs⌝.

  Lemma own_runs_counts b r runs : own_runs b r runs -∗ ⌜Forall (λ x, 0 < run_count x) runs⌝.
  Proof.
    iIntros "(%s & _ & _ & H)". rewrite Forall_lookup. iIntros (i x Hx).
    by iDestruct (big_sepL_lookup with "H") as "[% _]".
  Qed.
  Lemma own_runs_length b r runs : own_runs b r runs -∗
    ∃ s, ((r +ₗ field_offset wor.Reply "Runs") ↦[b] slice_val s ∗
      ((r +ₗ field_offset wor.Reply "Runs") ↦[b] slice_val s -∗ own_runs b r runs)) ∗ ⌜sl_len s = length runs⌝.
  Proof.
    iIntros "(%s & Hr & [Hs Hcap] & Hvs)". iDestruct (own_slice_wf with "Hs") as %[_ Hlen]. rewrite fmap_length in Hlen.
    iExists s. iFrame "Hr". iSplitL; [|done]. iIntros "Hr". iExists s. iFrame.
  Qed.
  Lemma run_of_ty x : ty_val (structT wor.Run) (run_of x).
  Proof. done. Qed.

  Lemma wp_Reply__Add b r runs x : 0 < run_count x → length (told runs) + run_count x < 2 ^ 32 →
    {{{ own_runs b r runs ∗ own_value b (run_slice x) (said_value (run_answer x)) }}}
      wor.Reply__Add #r (run_of x) @ b; ⊤
    {{{ runs', RET #(); own_runs b r runs' ∗ ⌜longer runs x runs'⌝ }}}.
  Proof.
    iIntros (Hx Hmax Φ) "[(%s & Hr & Hs & #Hvs) #Hv] HΦ".
    iDestruct "Hs" as "[Hs Hcap]". iDestruct (own_slice_length with "Hs") as %[Hlen Hle]. rewrite fmap_length in Hlen.
    unfold max_elems in Hle. rewrite fmap_length in Hle.
    wp_rec. wp_load. wp_pures. rewrite Hlen. wp_bind (If (Val _) _ (Val #false)).
    iApply (wpe_wand _ _ _ (λ u, ∃ yes : bool, ⌜u = #yes⌝ ∗
      ⌜yes = true → ∃ before y, runs = before ++ [y] ∧ heard (run_answer y) = heard (run_answer x)⌝ ∗
      (r +ₗ field_offset wor.Reply "Runs") ↦[b] slice_val s ∗
      own_slice b s (structT wor.Run) (DfracOwn 1) (run_of <$> runs))%I with "[Hr Hs]").
    { case_bool_decide as Hn; wp_pures; [|iExists false; by iFrame].
      destruct runs as [|y before _] using rev_ind; [simpl in Hn; lia|].
      rewrite app_length /= in Hlen Hle Hn |- *. wp_load. rewrite (wrap_id I64); [|int_solve].
      wp_apply (wp_slice_ref with "Hs"); [lia| |].
      { rewrite list_lookup_fmap. replace (Z.to_nat _) with (length before) by lia. by rewrite list_lookup_middle. }
      iIntros (l) "[Hl Hs]".
      wp_apply (wp_Run__alike with "[$Hl]").
      { iFrame "Hv". iDestruct (big_sepL_lookup _ _ (length before) y with "Hvs") as "[_ Hy]"; [by rewrite list_lookup_middle|]. iExact "Hy". }
      iIntros "Hl". iExists _. iSplit; [done|]. iSplit; [iPureIntro; intros ?%bool_decide_eq_true; by exists before, y|].
      iFrame "Hr". iSpecialize ("Hs" with "Hl"). rewrite list_insert_id //.
      rewrite list_lookup_fmap. replace (Z.to_nat _) with (length before) by lia. by rewrite list_lookup_middle. }
    iIntros (u) "(%yes & -> & %Hyes & Hr & Hs)". destruct yes; wp_pures.
    - destruct (Hyes eq_refl) as (before & y & -> & Heq).
      rewrite app_length /= in Hlen Hle |- *. rewrite told_app told_one app_length replicate_length in Hmax.
      iDestruct (big_sepL_app with "Hvs") as "[#Hbefore _]".
      iDestruct (big_sepL_lookup _ _ (length before) y with "Hvs") as "[%Hy #Hyv]"; [by rewrite list_lookup_middle|].
      wp_load. rewrite (wrap_id I64); [|int_solve].
      wp_apply (wp_slice_ref with "Hs"); [lia| |].
      { rewrite list_lookup_fmap. replace (Z.to_nat _) with (length before) by lia. by rewrite list_lookup_middle. }
      iIntros (l) "[Hl Hs]". rewrite {1}/run_of /answer_val. iStruct "Hl" as "(Hcount & Hrest)". wp_pures.
      wp_load. wp_pures. wp_store. wp_pures. rewrite wrap_id; [|int_solve].
      set (y' := Run (run_count y + run_count x) (run_answer y) (run_slice y)).
      iSpecialize ("Hs" $! (run_of y') with "[Hcount Hrest]").
      { iApply own_struct; [done|]. rewrite /run_of /answer_val. cbn [own_fields own_ty]. iFrame. }
      iApply ("HΦ" $! (before ++ [y'])). iSplitL; [|iPureIntro; right; by exists before, y].
      iExists s. iFrame "Hr". iSplitL.
      + iFrame "Hcap". rewrite !fmap_app /=. replace (Z.to_nat _) with (length (run_of <$> before) + 0)%nat by (rewrite fmap_length; lia).
        by rewrite insert_app_r.
      + iApply big_sepL_app. iFrame "Hbefore". simpl. iFrame "Hyv". iPureIntro. lia.
    - wp_load. wp_apply (wp_append_one with "[$Hs $Hcap]"); [apply run_of_ty|]. iIntros (s') "Hs". wp_store. wp_pures.
      iApply ("HΦ" $! (runs ++ [x])). iSplitL; [|iPureIntro; by left].
      iExists s'. rewrite fmap_app. iFrame "Hr Hs". iApply big_sepL_app. iFrame "Hvs". simpl. by iFrame "Hv".
  Qed.

  (** ** A reply of limited length *)
  Definition own_replied b a : iProp Σ := ∃ n : Z, (a +ₗ field_offset paxos.Acceptor "replied") ↦[b] #(int n).

  (** The run is added, or the reply is as before; the first is always added. *)
  Lemma wp_Acceptor__reply b a r said x : 0 < run_count x → length said + run_count x < 2 ^ 32 →
    {{{ own_replied b a ∗ own_reply b r said ∗ own_value b (run_slice x) (said_value (run_answer x)) }}}
      paxos.Acceptor__reply #a #r (run_of x) @ b; ⊤
    {{{ (ok : bool), RET #ok; own_replied b a ∗
        own_reply b r (if ok then said ++ replicate (Z.to_nat (run_count x)) (heard (run_answer x)) else said) ∗
        ⌜ok = false → said ≠ []⌝ }}}.
  Proof.
    iIntros (Hx Hmax Φ) "([%m Hm] & (%runs & Hruns & ->) & #Hv) HΦ". wp_rec. wp_pures.
    iDestruct (own_runs_counts with "Hruns") as %Hcounts. iDestruct (own_runs_length with "Hruns") as (s) "[[Hr Hs] %Hlen]".
    wp_load. wp_pures. iDestruct ("Hs" with "Hr") as "Hruns".
    wp_apply (wp_Reply__Add with "[$Hruns $Hv]"); [done|done|]. iIntros (runs') "[Hruns %Hl]". wp_pures.
    pose proof (longer_told _ _ _ Hcounts Hx Hl) as Htold.
    iDestruct (own_runs_length with "Hruns") as (s') "[[Hr Hs] %Hlen']".
    wp_load. wp_pures. rewrite Hlen Hlen'. case_bool_decide as Hsame; wp_pures.
    { iApply ("HΦ" $! true). iSplitL "Hm"; [by iExists m|]. iSplitL; [|done]. iExists runs'. by iSplitL; [iApply "Hs"|]. }
    assert (runs' = runs ++ [x]) as ->.
    { destruct Hl as [->|(before & y & -> & _ & ->)]; [done|]. destruct Hsame. by rewrite !app_length. }
    iAssert (own_runs b r (runs ++ [x]) -∗ own_reply b r (told runs ++ replicate (Z.to_nat (run_count x)) (heard (run_answer x))))%I as "Hyes".
    { iIntros "Hruns". iExists _. by iFrame. }
    wp_load. wp_pures. wp_store. wp_pures.
    set (m' := wrap I64 _).
    case_bool_decide as H1; wp_pures; last first.
    { iApply ("HΦ" $! true). iSplitL "Hm"; [by iExists m'|]. iSplitL; [|done]. iApply "Hyes". by iApply "Hs". }
    case_bool_decide as H2; wp_pures; last first.
    { iApply ("HΦ" $! true). iSplitL "Hm"; [by iExists m'|]. iSplitL; [|done]. iApply "Hyes". by iApply "Hs". }
    wp_load. wp_pures. case_bool_decide as H3; wp_pures; last first.
    { iApply ("HΦ" $! true). iSplitL "Hm"; [by iExists m'|]. iSplitL; [|done]. iApply "Hyes". by iApply "Hs". }
    iDestruct ("Hs" with "Hr") as (s2) "(Hr & Hs & Hvs)". wp_load.
    iAssert ⌜slice_wf s2 ∧ sl_len s2 = S (length runs)⌝%I as %[Hwf Hlen2].
    { iDestruct "Hs" as "[Hs _]". iDestruct (own_slice_wf with "Hs") as %[? Hn]. iPureIntro. split; [done|].
      rewrite Hn fmap_length app_length /=. lia. }
    wp_apply wp_slice_take; [done|destruct Hwf; lia|]. wp_store. wp_pures.
    iApply ("HΦ" $! false). iSplitL "Hm"; [by iExists m'|]. iSplitL; last first.
    { iPureIntro. intros _ Hnil. destruct runs as [|y runs]; [simpl in H1; lia|].
      apply Forall_cons in Hcounts as [Hy _]. apply (f_equal length) in Hnil.
      change (y :: runs) with ([y] ++ runs) in Hnil. rewrite told_app told_one app_length replicate_length /= in Hnil. lia. }
    iExists runs. iSplitL; [|done]. iExists _. iFrame "Hr".
    iDestruct (big_sepL_app with "Hvs") as "[$ _]". rewrite fmap_app.
    iDestruct (own_slice_shorten with "Hs") as "Hs". by rewrite fmap_length.
  Qed.

  (** ** A request *)
  (** About registers of segment [n] from [lo] on, below [hi]; it is only read. *)
  Definition own_request b q dq (n lo hi : Z) (x : ballot) s : iProp Σ :=
    let range := q +ₗ field_offset wor.Request "Range" in
    (range +ₗ field_offset wor.Range "Segment") ↦[b]{dq} #(u64 n) ∗
    (range +ₗ field_offset wor.Range "Lo") ↦[b]{dq} #(u32 lo) ∗
    (range +ₗ field_offset wor.Range "Hi") ↦[b]{dq} #(u32 hi) ∗
    own_ty b (q +ₗ field_offset wor.Request "Ballot") dq (structT wor.Ballot) (ballot_val x) ∗
    (q +ₗ field_offset wor.Request "Value") ↦[b]{dq} slice_val s.
End reply.

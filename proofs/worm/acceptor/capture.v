(** * A capture of a range of registers: internal/worm/paxos, Acceptor.capture *)
From iris.proofmode Require Import environments.
From ashlar.worm.acceptor Require Export promise record walk.
Local Open Scope Z_scope.

(** What is answered to a capture at [x]. *)
Definition captured (r : register) (x : ballot) : answer :=
  if decide (number (promised r) < number x)
  then Answer wor.StatusOK x (bool_decide (is_Some (accepted r))) (held_ballot (accepted r)) (snd <$> accepted r)
  else if decide (promised r = x) then shown r
  else Answer wor.StatusOutbid (promised r) false zero_ballot None.
(** The answers to a capture of registers from [lo] on, below [hi]. *)
Definition capture_answers (m : segments) (n : Z) (x : ballot) : Z → Z → list answer :=
  answers (λ j, captured (state_of m n j) x).

Lemma promising_same r x : ¬ number (promised r) < number x → promising r x = r.
Proof. intros Hle. rewrite /promising /raised decide_False //. by destruct r. Qed.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_page own_segment_at own_slice own_index own_segments own_log own_reply own_segment.

Section capture.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (a q r l : loc) (m : segments) (s : slice) (x : ballot) (Φ : val → iProp Σ).

  Lemma wp_Acceptor__capture b a q dq r log m (n lo hi : Z) x sv said records :
    in_range U64 n → 0 ≤ lo ≤ hi → hi < 2 ^ 32 → ballot_ok x → length said + (hi - lo) < 2 ^ 32 →
    {{{ own_registers b a m ∗ own_size b a ∗ own_scratch b a ∗ own_replied b a ∗ own_record b a ∗
        own_request b q dq n lo hi x sv ∗ own_reply b r said ∗ own_log b log records }}}
      paxos.Acceptor__capture #a #q #r #log @ b; ⊤
    {{{ m' stop (fresh : bool), RET #(); own_registers b a m' ∗ own_size b a ∗ own_scratch b a ∗ own_replied b a ∗ own_record b a ∗
        own_request b q dq n lo hi x sv ∗
        own_reply b r (said ++ capture_answers m n x lo stop) ∗
        own_log b log (records ++ if fresh then [promise_record n lo stop x] else []) ∗
        ⌜lo ≤ stop ≤ hi⌝ ∗ ⌜stop = lo → lo = hi ∨ said ≠ []⌝ ∗
        ⌜fresh = true ↔ ∃ j, lo ≤ j < stop ∧ number (promised (state_of m n j)) < number x⌝ ∗
        ⌜∀ n' j, 0 ≤ j → state_of m' n' j =
           if decide (n' = n ∧ lo ≤ j < stop) then promising (state_of m n j) x else state_of m n' j⌝ }}}.
  Proof.
    iIntros (Hn Hlo Hhi Hx Hmax Φ) "(Hregs & Hsize & Hscratch & Hreplied & Hrecord & Hq & Hreply & Hlog) HΦ".
    iDestruct (own_registers_ok with "Hregs") as %Hok. iDestruct "Hregs" as (locs) "[Hindex Hsegs]".
    wp_rec. wp_pures. iDestruct "Hq" as "(Hqn & Hqlo & Hqhi & Hqx & Hqv)". wp_load. wp_pures. rewrite (wrap_id I64 lo); [|int_solve].
    wp_alloc ch as "Hch". wp_pures. wp_load. wp_apply (wp_Acceptor__find with "Hindex"). iIntros "Hindex". wp_pures.
    wp_load. wp_pures. rewrite (wrap_id I64 hi); [|int_solve].
    iDestruct (own_segments_read with "Hsegs") as "[Hseg Hsegs]".
    (* what holds before register i *)
    set (I := (λ i : Z, ∃ fresh : bool, ch ↦[b] #fresh ∗
      ⌜fresh = true ↔ ∃ j, lo ≤ j < i ∧ number (promised (state_of m n j)) < number x⌝ ∗
      own_replied b a ∗ own_reply b r (said ++ capture_answers m n x lo i) ∗ own_request b q dq n lo hi x sv)%I).
    wp_apply (wp_segment__walk I (λ i, I i ∗ ⌜i = lo → said ≠ []⌝)%I
      with "Hseg [Hch Hreplied Hreply Hqn Hqlo Hqhi Hqx Hqv]"); [done|done| | |].
    { iExists false. rewrite /capture_answers answers_nil app_nil_r. iFrame. iPureIntro. split; [done|]. intros (j & Hj & _). lia. }
    { iIntros "!>" (pl i e Hi He Halike) "Hvis (%fresh & Hch & %Hfresh & Hreplied & Hreply & (Hqn & Hqlo & Hqhi & Hqx & Hqv))".
      set (ri := state_of m n i). assert (register_ok ri) as Hri by apply (Hok n i).
      wp_pures. wp_apply (wp_show with "Hvis"); [lia|lia|]. change (register_of (pages_of m n) i) with ri. iIntros (s) "[Hvis #Hv]".
      wp_apply (wp_ref with "[//]"); [done|]. iIntros (run) "Hrun".
      iDestruct (own_run_of with "Hrun") as "(Hcount & Hstatus & Hpromised & Hwritten & Haccepted & Hvalue)".
      cbn [run_count run_answer run_slice shown status said_promised said_written said_accepted said_value]. wp_pures.
      wp_apply (wp_load_ty with "Hqx"). iIntros "Hqx". wp_pures.
      wp_apply (wp_load_ty with "Hpromised"). iIntros "Hpromised".
      wp_apply (wp_Ballot__Less with "[//]"); [apply Hri|done|]. iIntros "_". wp_pures.
      wp_bind (If _ _ _).
      iApply (wpe_wand _ _ _ (λ _, ∃ s', own_ty b run (DfracOwn 1) (structT wor.Run) (run_of (Run (e - i) (captured ri x) s')) ∗
        own_value b s' (said_value (captured ri x)) ∗
        own_ty b (q +ₗ field_offset wor.Request "Ballot") dq (structT wor.Ballot) (ballot_val x))%I
        with "[Hcount Hstatus Hpromised Hwritten Haccepted Hvalue Hqx]").
      { rewrite /captured. destruct (decide (number (promised ri) < number x)) as [Hless|Hless].
        - rewrite (bool_decide_true (number (promised ri) < _)) //. wp_pures. wp_apply (wp_load_ty with "Hqx"). iIntros "Hqx". wp_pures.
          wp_apply (wp_store_ty with "Hpromised"); [done|]. iIntros "Hpromised".
          iExists s. iFrame "Hqx Hv". iApply own_run_of. iFrame.
        - rewrite (bool_decide_false (number (promised ri) < _)) //. wp_pures. wp_apply (wp_load_ty with "Hqx"). iIntros "Hqx". wp_pures.
          wp_apply (wp_load_ty with "Hpromised"). iIntros "Hpromised".
          wp_bind (BinOp EqOp _ _). iApply (wp_ballot_eq b ⊤ (promised ri) x []). iNext. iApply wpe_value.
          destruct (decide (promised ri = x)) as [Hsame|Hsame].
          + rewrite (bool_decide_true (promised ri = x)) //. wp_pures. iExists s. iFrame "Hqx Hv". iApply own_run_of. iFrame.
          + rewrite (bool_decide_false (promised ri = x)) //. wp_pures. wp_apply (wp_load_ty with "Hpromised"). iIntros "Hpromised". wp_pures. wp_load. wp_pures.
            iDestruct (own_run_of _ run _ (Run (e - i) (shown ri) s) with "[$Hcount $Hstatus $Hpromised $Hwritten $Haccepted $Hvalue]") as "Hrun".
            wp_apply (wp_store_ty _ _ (structT wor.Run) _ _ (run_of (Run (e - i) (Answer wor.StatusOutbid (promised ri) false zero_ballot None) nil_slice)) with "Hrun"); [done|].
            iIntros "Hrun". iExists nil_slice. iFrame "Hrun Hqx". done. }
      iIntros (_v) "(%s' & Hrun & #Hv' & Hqx)". wp_pures. wp_apply (wp_load_ty with "Hrun"). iIntros "Hrun".
      wp_apply (wp_Acceptor__reply b a r _ (Run (e - i) (captured ri x) s') with "[$Hreplied $Hreply $Hv']").
      { simpl. lia. }
      { simpl. rewrite app_length Nat2Z.inj_add answers_length; lia. }
      iIntros (ok) "(Hreplied & Hreply & %Hfull)". cbn [run_count run_answer]. destruct ok; wp_expr_simpl; wp_pures; last first.
      { iExists false. iSplit; [done|]. iFrame "Hvis". iSplitL.
        - iExists fresh. iFrame. done.
        - iPureIntro. intros -> ->. apply (Hfull eq_refl). by rewrite /capture_answers answers_nil. }
      wp_load.
      wp_bind (If _ _ _). iApply (wpe_wand _ _ _ (λ u, ⌜u = #(fresh || bool_decide (number (promised ri) < number x))⌝)%I).
      { destruct fresh; by wp_pures. }
      iIntros (_v2) "->". wp_store. wp_pures. iExists true. iSplit; [done|]. iFrame "Hvis".
      iExists _. iFrame "Hch Hreplied Hqn Hqlo Hqhi Hqx Hqv". iSplit.
      - iPureIntro. rewrite orb_true_iff bool_decide_eq_true Hfresh. split.
        + intros [(j & Hj & Hless)|Hless]; [exists j; split; [lia|done]|exists i; split; [lia|done]].
        + intros (j & Hj & Hless). destruct (decide (j < i)); [left; exists j; split; [lia|done]|right].
          revert Hless. rewrite {1}/state_of Halike //. lia.
      - rewrite /capture_answers (answers_alike _ lo i e (captured ri x)); [by rewrite app_assoc|lia|].
        intros j Hj. by rewrite {1}/state_of Halike. }
    iIntros (stop Hstop) "Hseg HI".
    iDestruct ("Hsegs" with "Hseg") as "Hsegs".
    iAssert (I stop ∗ ⌜stop = lo → lo = hi ∨ said ≠ []⌝)%I with "[HI]" as "[(%fresh & Hch & %Hfresh & Hreplied & Hreply & Hq) %Hprogress]".
    { iDestruct "HI" as "[[-> HI]|[HI %Hs]]"; iFrame "HI"; iPureIntro; [by left|auto]. }
    wp_pures. wp_load. wp_pures. destruct fresh; wp_expr_simpl; wp_pures; last first.
    { iApply ("HΦ" $! m stop false). rewrite app_nil_r. iFrame "Hsize Hscratch Hreplied Hrecord Hq Hreply Hlog".
      iSplitL; [iExists locs; iFrame|]. iPureIntro. split_and!; [lia|lia|done|done|]. intros n' j Hj.
      case_decide as Hin; [|done]. destruct Hin as [-> Hin]. rewrite promising_same //.
      intros Hless. assert (false = true); [|done]. apply Hfresh. by exists j. }
    iDestruct "Hq" as "(Hqn & Hqlo & Hqhi & Hqx & Hqv)". wp_apply (wp_load_ty with "Hqx"). iIntros "Hqx". wp_load.
    wp_apply (wp_Acceptor__promise b a m n lo stop x with "[Hindex Hsegs $Hsize $Hscratch]"); [lia|lia|done|iExists locs; iFrame|].
    iIntros (m') "(Hregs & Hsize & Hscratch & %Hm')". wp_pures.
    iDestruct "Hrecord" as (sr br) "[Hr Hrs]".
    wp_apply (wp_load_ty with "Hqx"). iIntros "Hqx". wp_load. wp_load.
    iAssert ⌜slice_wf sr⌝%I as %Hwf. { iDestruct "Hrs" as "[Hrs _]". by iDestruct (own_slice_wf with "Hrs") as %[? _]. }
    wp_apply wp_slice_take; [done|destruct Hwf; lia|]. iDestruct (own_slice_reuse with "Hrs") as "Hrs".
    wp_apply (wp_promiseRecord b _ [] n lo stop x with "Hrs"); [done|lia|lia|done|].
    iIntros (sr') "Hrs". wp_store. wp_pures. wp_load. iDestruct "Hrs" as "[Hrs Hcap]".
    wp_apply (wp_Log__Append with "[$Hlog $Hrs]"). iIntros "[Hlog Hrs]".
    iApply ("HΦ" $! m' stop true). iFrame "Hregs Hsize Hscratch Hreplied Hqn Hqlo Hqhi Hqx Hqv Hreply Hlog".
    iSplitL; [iExists sr', _; iFrame|]. iPureIntro. split_and!; [lia|lia|done|done|done].
  Qed.
End capture.

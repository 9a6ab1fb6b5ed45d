(** * A write to a range of registers: internal/worm/paxos, Acceptor.write *)
From iris.proofmode Require Import environments.
From ashlar.worm.acceptor Require Export promise record.
Local Open Scope Z_scope.

(** What a register is after a write of [v] at [x], which may be refused. *)
Definition written (r : register) (x : ballot) (v : list Z) : register :=
  if (judged r x v).2 then accepting r x v else r.
(** The answers to a write of registers from [lo] on, below [hi]. *)
Definition write_answers (m : segments) (n : Z) (x : ballot) (v : list Z) : Z → Z → list answer :=
  answers (λ j, (judged (state_of m n j) x v).1).

(** The registers that the spans contain, each from its first on, below its second. *)
Definition spanned (spans : list (Z * Z)) (j : Z) : Prop := ∃ s e, (s, e) ∈ spans ∧ s ≤ j < e.
Lemma spanned_snoc spans s e j : spanned (spans ++ [(s, e)]) j ↔ spanned spans j ∨ s ≤ j < e.
Proof.
  rewrite /spanned. setoid_rewrite elem_of_app. setoid_rewrite elem_of_list_singleton. split.
  - intros (s' & e' & [Hin|[= -> ->]] & Hj); [left; eauto|by right].
  - intros [(s' & e' & Hin & Hj)|Hj]; eauto 10.
Qed.

(** An accepted write is not below what was accepted before. *)
Lemma judged_accepts m n i x v y w : (judged (state_of m n i) x v).2 = true →
  accepted (state_of m n i) = Some (y, w) → number y ≤ number x.
Proof.
  intros Hj Hy. assert (number y ≤ number (promised (state_of m n i))) as Hle by (by eapply below_promised).
  revert Hj. rewrite /judged Hy. repeat case_decide; simpl; try done; lia.
Qed.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_page own_segment_at own_slice own_index own_segments own_log own_reply own_segment.

Section write.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (a q r l : loc) (m : segments) (s : slice) (x : ballot) (Φ : val → iProp Σ).

  Lemma wp_Acceptor__write b a q dq r log m (n lo hi : Z) x sv (v : list Z) said records :
    in_range U64 n → 0 ≤ lo ≤ hi → hi < 2 ^ 32 → ballot_ok x → length said + (hi - lo) < 2 ^ 32 →
    {{{ own_registers b a m ∗ own_size b a ∗ own_replied b a ∗ own_record b a ∗
        own_request b q dq n lo hi x sv ∗ own_bytes b sv DfracDiscarded v ∗
        own_reply b r said ∗ own_log b log records }}}
      paxos.Acceptor__write #a #q #r #log @ b; ⊤
    {{{ m' stop spans, RET #(); own_registers b a m' ∗ own_size b a ∗ own_replied b a ∗ own_record b a ∗
        own_request b q dq n lo hi x sv ∗
        own_reply b r (said ++ write_answers m n x v lo stop) ∗
        own_log b log (records ++ ((λ se, accept_record n se.1 se.2 x v) <$> spans)) ∗
        ⌜lo ≤ stop ≤ hi⌝ ∗ ⌜stop = lo → lo = hi ∨ said ≠ []⌝ ∗ ⌜Forall (λ se, lo ≤ se.1 < se.2 ∧ se.2 ≤ hi) spans⌝ ∗
        ⌜∀ n' j, 0 ≤ j → state_of m' n' j =
           if decide (n' = n ∧ lo ≤ j < stop) then written (state_of m n j) x v else state_of m n' j⌝ ∗
        ⌜∀ j, spanned spans j ↔ lo ≤ j < stop ∧ (judged (state_of m n j) x v).2 = true⌝ }}}.
  Proof.
    iIntros (Hn Hlo Hhi Hx Hmax Φ) "([%locs [Hindex Hsegs]] & Hsize & Hreplied & Hrecord & Hq & #Hv0 & Hreply & Hlog) HΦ".
    wp_rec. wp_pures. iDestruct "Hq" as "(Hqn & Hqlo & Hqhi & Hqx & Hqv)". wp_load.
    wp_apply (wp_Acceptor__find with "Hindex"). iIntros "Hindex".
    wp_alloc sl as "Hsl". wp_pures. wp_load. wp_apply (wp_keep with "Hv0"). iIntros (kv) "#Hv". wp_pures.
    wp_load. wp_pures. rewrite (wrap_id I64 lo); [|int_solve]. wp_load. wp_pures. rewrite (wrap_id I64 hi); [|int_solve].
    wp_alloc startl as "Hstart". wp_alloc il as "Hi". wp_pures.
    lazymatch goal with |- context [RecV BAnon BAnon (If (BinOp LeOp ?x ?y) ?t ?e)] =>
      set (note := RecV BAnon BAnon (If (BinOp LeOp x y) t e)) end.
    set (log_of := λ spans : list (Z * Z), records ++ ((λ se, accept_record n se.1 se.2 x v) <$> spans)).
    iAssert (□ ∀ (k st : Z) spans (Ψ : val → iProp Σ), ⌜lo ≤ k ≤ hi⌝ -∗ ⌜st = -1 ∨ lo ≤ st < k⌝ -∗
      ⌜Forall (λ se, lo ≤ se.1 < se.2 ∧ se.2 ≤ k) spans⌝ -∗ il ↦[b] #(int k) -∗ startl ↦[b] #(int st) -∗ own_record b a -∗ own_request b q dq n lo hi x sv -∗
      own_log b log (log_of spans) -∗
      (∀ spans', il ↦[b] #(int k) -∗ startl ↦[b] #(int (-1)) -∗ own_record b a -∗ own_request b q dq n lo hi x sv -∗
        own_log b log (log_of spans') -∗
        ⌜∀ j, spanned spans' j ↔ spanned spans j ∨ 0 ≤ st ≤ j ∧ j < k⌝ -∗
        ⌜Forall (λ se, lo ≤ se.1 < se.2 ∧ se.2 ≤ k) spans'⌝ -∗ Ψ #()) -∗
      WP note #() @ b; ⊤ {{ Ψ }})%I as "#Hnote".
    { iIntros "!>" (k st spans Ψ Hk Hst Hall) "Hi Hstart (%sr & %br & Hr & Hrs) (Hqn & Hqlo & Hqhi & Hqx & Hqv) Hlog HΨ".
      wp_rec. wp_load. wp_pures. case_bool_decide as Hneg; wp_pures; last first.
      { assert (st = -1) as -> by lia. iApply ("HΨ" $! spans with "Hi Hstart [Hr Hrs] [$Hqn $Hqlo $Hqhi $Hqx $Hqv] Hlog [%] [//]").
        - iExists sr, br. iFrame.
        - intros j. split; [by left|]. intros [?|?]; [done|lia]. }
      wp_apply (wp_load_ty with "Hqx"). iIntros "Hqx". wp_load. wp_load. wp_load. wp_load.
      iAssert ⌜slice_wf sr⌝%I as %Hwf. { iDestruct "Hrs" as "[Hrs _]". by iDestruct (own_slice_wf with "Hrs") as %[? _]. }
      wp_apply wp_slice_take; [done|destruct Hwf; lia|]. iDestruct (own_slice_reuse with "Hrs") as "Hrs".
      wp_apply (wp_acceptRecord b _ [] n st k x kv _ v with "[$Hrs $Hv]"); [done|lia|lia|done|].
      iIntros (sr') "[Hrs _]". wp_store. wp_pures. wp_load. iDestruct "Hrs" as "[Hrs Hcap]".
      wp_apply (wp_Log__Append with "[$Hlog $Hrs]"). iIntros "[Hlog Hrs]". wp_pures. wp_store. wp_pures.
      iApply ("HΨ" $! (spans ++ [(st, k)]) with "Hi Hstart [Hr Hrs Hcap] [$Hqn $Hqlo $Hqhi $Hqx $Hqv] [Hlog] [%] [%]").
      - iExists sr', _. iFrame.
      - rewrite /log_of fmap_app /= app_assoc. iFrame.
      - intros j. rewrite spanned_snoc. split; intros [?|?]; auto; right; lia.
      - apply Forall_app. split; [done|]. constructor; [simpl; lia|done]. }
    clearbody note.
    (* what holds before register k *)
    set (I := (λ k : Z, ∃ locs m' st spans, ⌜lo ≤ k ≤ hi⌝ ∗ ⌜st = -1 ∨ lo ≤ st < k⌝ ∗
      ⌜Forall (λ se, lo ≤ se.1 < se.2 ∧ se.2 ≤ k) spans⌝ ∗ il ↦[b] #(int k) ∗ startl ↦[b] #(int st) ∗ sl ↦[b] #(lit_of (locs !! n)) ∗
      own_index b a locs ∗ own_segments b locs m' ∗ own_size b a ∗ own_replied b a ∗ own_record b a ∗
      own_request b q dq n lo hi x sv ∗ own_reply b r (said ++ write_answers m n x v lo k) ∗ own_log b log (log_of spans) ∗
      ⌜∀ n' j, 0 ≤ j → state_of m' n' j =
         if decide (n' = n ∧ lo ≤ j < k) then written (state_of m n j) x v else state_of m n' j⌝ ∗
      ⌜∀ j, spanned spans j ∨ 0 ≤ st ≤ j ∧ j < k ↔ lo ≤ j < k ∧ (judged (state_of m n j) x v).2 = true⌝)%I).
    wp_apply (wp_for_loop (∃ k, I k) (λ _, ∃ k, I k ∗ ⌜k = lo → lo = hi ∨ said ≠ []⌝)%I
      with "[Hi Hstart Hsl Hindex Hsegs Hsize Hreplied Hrecord Hqn Hqlo Hqhi Hqx Hqv Hreply Hlog]").
    { iExists lo, locs, m, (-1), []. iFrame. rewrite /write_answers answers_nil /log_of /= !app_nil_r. iFrame. iPureIntro.
      split_and!; [lia|lia|by left|done| |].
      - intros n' j Hj. rewrite decide_False //. lia.
      - intros j. split; [intros [(s & e & []%elem_of_nil & _)|?]; lia|lia]. }
    { iIntros "!> (%k & %locs' & %m' & %st & %spans & %Hk & %Hst & %Hall & Hi & Hstart & Hsl & Hindex & Hsegs & Hsize & Hreplied &
        Hrecord & Hq & Hreply & Hlog & %Hm' & %Hspans)".
      wp_load. loop_cond as Hlt; last first.
      { iExists k. iSplitL; [|iPureIntro; left; lia]. iExists locs', m', st, spans. iFrame. done. }
      iDestruct "Hq" as "(Hqn & Hqlo & Hqhi & Hqx & Hqv)".
      wp_pures. wp_apply (wp_load_ty with "Hqx"). iIntros "Hqx". wp_load. wp_load.
      iDestruct (own_segments_read with "Hsegs") as "[Hseg Hsegs]".
      wp_apply (wp_judge with "[$Hseg $Hv]"); [lia|done|]. iIntros (ans) "[Hseg #Hans]".
      iDestruct ("Hsegs" with "Hseg") as "Hsegs".
      change (register_of (pages_of m' n) k) with (state_of m' n k).
      assert (state_of m' n k = state_of m n k) as Hsk by (rewrite Hm'; [rewrite decide_False //; lia|lia]).
      rewrite Hsk. set (rk := state_of m n k). wp_pures.
      wp_apply (wp_Acceptor__reply b a r _ (Run 1 (judged rk x v).1 ans) with "[$Hreplied $Hreply $Hans]").
      { simpl. lia. }
      { simpl. rewrite app_length Nat2Z.inj_add answers_length; lia. }
      iIntros (ok) "(Hreplied & Hreply & %Hok)". wp_pures. destruct ok; wp_expr_simpl; wp_pures; last first.
      { iRight. iLeft. iSplit; [done|]. iExists k. iSplitL.
        - iExists locs', m', st, spans. iFrame. done.
        - iPureIntro. intros ->. right. intros ->. apply (Hok eq_refl). by rewrite /write_answers answers_nil. }
      assert (write_answers m n x v lo (k + 1) = write_answers m n x v lo k ++ replicate (Z.to_nat 1) (heard (judged rk x v).1)) as Hans.
      { rewrite /write_answers (answers_alike _ lo k (k + 1) (judged rk x v).1); [|lia|intros j Hj; by replace j with k by lia].
        by replace (k + 1 - k) with 1 by lia. }
      cbn [run_count run_answer]. rewrite -app_assoc -Hans.
      assert (Forall (λ se, lo ≤ se.1 < se.2 ∧ se.2 ≤ k + 1) spans) as Hall1 by (eapply Forall_impl; [done|]; simpl; lia).
      destruct ((judged rk x v).2) eqn:Hacc; wp_expr_simpl; wp_pures; last first.
      { wp_bind (App (Val note) _).
        iApply ("Hnote" $! k st spans with "[%] [%] [%] Hi Hstart Hrecord [$Hqn $Hqlo $Hqhi $Hqx $Hqv] Hlog"); [lia|done|done|].
        iIntros (spans') "Hi Hstart Hrecord Hq Hlog %Hspans' %Hall'". wp_pures. iLeft. iSplit; [by iRight|].
        wp_pures. wp_load. wp_store. wp_pures. rewrite wrap_id; [|int_solve]. iExists (k + 1), locs', m', (-1), spans'. iFrame.
        iPureIntro. split_and!; [lia|lia|by left|eapply Forall_impl; [done|]; simpl; lia| |].
        - intros n' j Hj. rewrite Hm' //. destruct (decide (n' = n ∧ j = k)) as [[-> ->]|Hne].
          + rewrite decide_False; [|lia]. rewrite decide_True; [|lia]. by rewrite /written -/rk Hacc.
          + apply decide_ext. lia.
        - intros j. rewrite Hspans' Hspans. split; [intros [[??]|?]; [split; [lia|done]|lia]|]. intros [Hj Hja]. left. split; [|done].
          destruct (decide (j = k)) as [->|]; [|lia]. by rewrite -/rk Hacc in Hja. }
      wp_load. wp_pures.
      wp_bind (If _ _ _).
      iApply (wpe_wand _ _ _ (λ _, ∃ st', startl ↦[b] #(int st') ∗ il ↦[b] #(int k) ∗
        ⌜lo ≤ st' ≤ k⌝ ∗ ⌜∀ j, 0 ≤ st ≤ j ∧ j < k ∨ j = k ↔ st' ≤ j ≤ k⌝)%I with "[Hstart Hi]").
      { case_bool_decide as Hneg; wp_pures.
        - wp_load. wp_store. wp_pures. iExists k. iFrame. iPureIntro. split; [lia|]. intros j. lia.
        - iExists st. iFrame. iPureIntro. split; [lia|]. intros j. lia. }
      iIntros (_v) "(%st' & Hstart & Hi & %Hst' & %Hjoin)". wp_pures. wp_load. wp_pures.
      wp_bind (If _ _ _).
      iApply (wpe_wand _ _ _ (λ _, ∃ l locs2, sl ↦[b] #(LitLoc l) ∗ own_size b a ∗ own_index b a locs2 ∗ ⌜locs2 !! n = Some l⌝ ∗
        own_request b q dq n lo hi x sv ∗ own_segment_at b l (pages_of m' n) ∗
        (∀ pgs, own_segment_at b l pgs -∗ own_segments b locs2 (<[n := pgs]> m')))%I
        with "[Hsl Hsize Hindex Hsegs Hqn Hqlo Hqhi Hqx Hqv]").
      { destruct (locs' !! n) as [l|] eqn:Hl; cbn [lit_of]; wp_expr_simpl; wp_pures.
        - iExists l, locs'. iFrame "Hsl Hsize Hindex Hqn Hqlo Hqhi Hqx Hqv". iSplit; [done|]. by iApply own_segments_acc.
        - wp_load. wp_apply (wp_open_segment with "[$Hindex $Hsegs $Hsize]").
          iIntros (l locs2) "(Hsize & Hindex & %Hl2 & Hseg & Hclose)". wp_store. wp_pures.
          iExists l, locs2. iFrame. done. }
      iIntros (_v2) "(%l & %locs2 & Hsl & Hsize & Hindex & %Hl & (Hqn & Hqlo & Hqhi & Hqx & Hqv) & Hseg & Hclose)". wp_pures.
      wp_apply (wp_load_ty with "Hqx"). iIntros "Hqx". wp_load. wp_load.
      wp_apply (wp_Acceptor__accept with "[$Hsize $Hseg $Hv]"); [lia|done| |].
      { intros y w. change (register_of (pages_of m' n) k) with (state_of m' n k). rewrite Hsk. by apply (judged_accepts m n k x v). }
      iIntros (pgs') "(Hsize & Hseg & %Hsay)". wp_pures. iLeft. iSplit; [by iLeft|].
      wp_pures. wp_load. wp_store. wp_pures. rewrite wrap_id; [|int_solve].
      iDestruct ("Hclose" with "Hseg") as "Hsegs".
      iExists (k + 1), locs2, (<[n := pgs']> m'), st', spans. rewrite Hl. iFrame.
      iPureIntro. split_and!; [lia|lia|right; lia|done| |].
      - intros n' j Hj. rewrite state_of_insert. destruct (decide (n' = n)) as [->|Hne].
        + rewrite Hsay //. destruct (decide (j = k)) as [->|Hjk].
          * rewrite (decide_True (P := n = n ∧ _)); [|lia]. change (register_of (pages_of m' n) k) with (state_of m' n k).
            by rewrite Hsk /written -/rk Hacc.
          * change (register_of (pages_of m' n) j) with (state_of m' n j). rewrite Hm' //. apply decide_ext. lia.
        + rewrite Hm' // !decide_False //; tauto.
      - intros j. pose proof (Hspans j) as Hsj. pose proof (Hjoin j) as Hjj. split.
        + intros [Hin|Hin].
          * assert (lo ≤ j < k ∧ (judged (state_of m n j) x v).2 = true) as [? ?] by (apply Hsj; by left). split; [lia|done].
          * assert (0 ≤ st ≤ j ∧ j < k ∨ j = k) as [Hb|Hb] by (apply Hjj; lia); [|subst j; split; [lia|done]].
            assert (lo ≤ j < k ∧ (judged (state_of m n j) x v).2 = true) as [? ?] by (apply Hsj; by right). split; [lia|done].
        + intros [Hin Hja]. destruct (decide (j = k)) as [->|Hjk]; [right; lia|].
          assert (spanned spans j ∨ 0 ≤ st ≤ j ∧ j < k) as [?|?] by (apply Hsj; split; [lia|done]); [by left|right].
          assert (st' ≤ j ≤ k) by (apply Hjj; by left). lia. }
    iIntros (o) "(%k & (%locs' & %m' & %st & %spans & %Hk & %Hst & %Hall & Hi & Hstart & Hsl & Hindex & Hsegs & Hsize & Hreplied &
      Hrecord & Hq & Hreply & Hlog & %Hm' & %Hspans) & %Hprogress)". wp_pures.
    iApply ("Hnote" $! k st spans with "[%] [%] [%] Hi Hstart Hrecord Hq Hlog"); [lia|done|done|].
    iIntros (spans') "Hi Hstart Hrecord Hq Hlog %Hspans' %Hall'".
    iApply ("HΦ" $! m' k spans'). iFrame "Hsize Hreplied Hrecord Hq Hreply Hlog".
    iSplitL "Hindex Hsegs"; [iExists locs'; iFrame|]. iPureIntro. split_and!; [lia|lia|done|eapply Forall_impl; [done|]; simpl; lia|done|].
    intros j. by rewrite Hspans' Hspans.
  Qed.
End write.

(** * Runs of promises, as they are added to: what [grant] does to them *)
From ashlar.worm.acceptor Require Export page.
Local Open Scope Z_scope.

Definition last_end (runs : list (ballot * Z)) : Z := default 0 (snd <$> last runs).
(** Registers up to [e] are promised to [x], as far as nothing is said of them yet. *)
Definition add_run (runs : list (ballot * Z)) (e : Z) (x : ballot) : list (ballot * Z) :=
  if decide (e ≤ last_end runs) then runs else
  match last runs with
  | Some (y, _) => if decide (y = x) then <[pred (length runs) := (y, e)]> runs else runs ++ [(x, e)]
  | None => runs ++ [(x, e)]
  end.

Definition sorted_runs (runs : list (ballot * Z)) : Prop :=
  ∀ (i j : nat) r1 r2, (i < j)%nat → runs !! i = Some r1 → runs !! j = Some r2 → r1.2 < r2.2.
Definition good_runs (runs : list (ballot * Z)) : Prop :=
  ∀ (i : nat) r, runs !! i = Some r → ballot_ok r.1 ∧ 0 < r.2 ≤ page_size.
(** [f] says what is promised to each register that the runs speak of. *)
Definition runs_say (runs : list (ballot * Z)) (f : Z → ballot) : Prop :=
  sorted_runs runs ∧ good_runs runs ∧ ∀ j, 0 ≤ j < last_end runs → (granted runs j).1 = f j.

Lemma last_end_snoc runs x e : last_end (runs ++ [(x, e)]) = e.
Proof. by rewrite /last_end last_snoc. Qed.
Lemma end_le_last runs i r : sorted_runs runs → runs !! i = Some r → r.2 ≤ last_end runs.
Proof.
  intros Hs Hi. destruct runs as [|r0 runs _] using rev_ind; [done|]. destruct r0 as [x e]. rewrite last_end_snoc.
  destruct (decide (i = length runs)) as [->|Hne].
  - rewrite list_lookup_middle // in Hi. by injection Hi as <-.
  - assert ((runs ++ [(x, e)]) !! length runs = Some (x, e)) as Hl by by rewrite list_lookup_middle.
    pose proof (lookup_lt_Some _ _ _ Hi) as Hlt. rewrite app_length /= in Hlt.
    pose proof (Hs i (length runs) r (x, e) ltac:(lia) Hi Hl). simpl in *. lia.
Qed.
Lemma last_end_nonneg runs : good_runs runs → 0 ≤ last_end runs.
Proof.
  intros Hg. destruct runs as [|[x e] runs _] using rev_ind; [done|]. rewrite last_end_snoc.
  destruct (Hg (length runs) (x, e)) as [_ H]; [by rewrite list_lookup_middle|simpl in H; lia].
Qed.
Lemma last_end_max runs : good_runs runs → last_end runs ≤ page_size.
Proof.
  intros Hg. destruct runs as [|[x e] runs _] using rev_ind; [done|]. rewrite last_end_snoc.
  destruct (Hg (length runs) (x, e)) as [_ H]; [by rewrite list_lookup_middle|simpl in H; lia].
Qed.
Lemma sorted_init runs r : sorted_runs (runs ++ [r]) → sorted_runs runs.
Proof. intros Hs i j r1 r2 Hij H1 H2. eapply (Hs i j); [done|by apply lookup_app_l_Some..]. Qed.
Lemma good_init runs r : good_runs (runs ++ [r]) → good_runs runs.
Proof. intros Hg i r' Hi. eapply (Hg i). by apply lookup_app_l_Some. Qed.
Lemma init_below runs x e : sorted_runs (runs ++ [(x, e)]) → good_runs (runs ++ [(x, e)]) → last_end runs < e.
Proof.
  intros Hs Hg. destruct runs as [|[y e'] runs _] using rev_ind.
  - destruct (Hg 0%nat (x, e)) as [_ H]; [done|]. simpl in H. rewrite /last_end /=. lia.
  - rewrite last_end_snoc. rewrite -app_assoc /= in Hs.
    apply (Hs (length runs) (S (length runs)) (y, e') (x, e)); [lia|by rewrite list_lookup_middle|].
    rewrite lookup_app_r; [|lia]. by replace (S (length runs) - length runs)%nat with 1%nat by lia.
Qed.
Lemma sorted_snoc runs x e : sorted_runs runs → last_end runs < e → sorted_runs (runs ++ [(x, e)]).
Proof.
  intros Hs He i j r1 r2 Hij H1 H2. apply lookup_app_Some in H2 as [H2|[Hj H2]].
  - rewrite lookup_app_l in H1; [|apply lookup_lt_Some in H2; lia]. by eapply Hs.
  - assert (j = length runs) as ->. { apply lookup_lt_Some in H2. simpl in H2. lia. }
    rewrite Nat.sub_diag /= in H2. injection H2 as <-. rewrite lookup_app_l in H1; [|done].
    pose proof (end_le_last _ _ _ Hs H1). simpl. lia.
Qed.
Lemma good_snoc runs x e : good_runs runs → ballot_ok x → 0 < e ≤ page_size → good_runs (runs ++ [(x, e)]).
Proof.
  intros Hg Hx He i r [Hi|[_ Hi]]%lookup_app_Some; [by eapply Hg|].
  destruct (i - length runs)%nat; simplify_eq/=; by auto.
Qed.

Lemma granted_app runs rs j : sorted_runs runs → 0 ≤ j →
  granted (runs ++ rs) j = if decide (j < last_end runs) then granted runs j else granted rs j.
Proof.
  induction runs as [|[x e] runs IH]; intros Hs Hj; simpl.
  { rewrite decide_False //. rewrite /last_end /=. lia. }
  assert (sorted_runs runs) as Hs'. { intros i k r1 r2 Hik. apply (Hs (S i) (S k)). lia. }
  pose proof (end_le_last _ 0%nat (x, e) Hs eq_refl) as He. simpl in He.
  destruct (decide (j < e)) as [Hlt|Hge]; [rewrite decide_True //; lia|]. rewrite IH //.
  destruct runs as [|r runs].
  - change (last_end []) with 0. change (last_end [(x, e)]) with e.
    rewrite (decide_False (P := j < 0)); [|lia]. by rewrite (decide_False (P := j < e)).
  - assert (last_end ((x, e) :: r :: runs) = last_end (r :: runs)) as -> by done. done.
Qed.
Lemma granted_beyond runs j : sorted_runs runs → last_end runs ≤ j → granted runs j = (zero_ballot, page_size).
Proof.
  intros Hs Hj. pose proof (granted_at runs j (length runs)) as H. rewrite lookup_ge_None_2 // in H. apply H.
  intros k r _ Hr. pose proof (end_le_last _ _ _ Hs Hr). lia.
Qed.

Lemma add_run_says runs f e x : runs_say runs f → ballot_ok x → e ≤ page_size →
  (∀ j, last_end runs ≤ j < e → f j = x) →
  runs_say (add_run runs e x) f ∧ last_end (add_run runs e x) = last_end runs `max` e.
Proof.
  intros (Hs & Hg & Hf) Hx He Hnew. rewrite /add_run. case_decide as Hle; [split; [done|lia]|].
  pose proof (last_end_nonneg _ Hg) as H0.
  assert (runs_say (runs ++ [(x, e)]) f) as Hsnoc.
  { split_and!; [apply sorted_snoc; [done|lia]|apply good_snoc; [done|done|lia]|]. rewrite last_end_snoc.
    intros j Hj. rewrite granted_app //; [|lia]. case_decide as Hjl; [by apply Hf; lia|].
    simpl. rewrite decide_True; [|lia]. rewrite Hnew //. lia. }
  destruct runs as [|[y e'] runs _] using rev_ind. { split; [done|]. rewrite /last_end /=. lia. }
  rewrite last_snoc. case_decide as Hyx; [subst y|split; [done|rewrite !last_end_snoc in Hle |- *; lia]].
  rewrite last_end_snoc in Hle Hf Hnew H0 |- *.
  rewrite app_length /= Nat.add_1_r Nat.pred_succ.
  assert (<[length runs:=(x, e)]> (runs ++ [(x, e')]) = runs ++ [(x, e)]) as ->.
  { rewrite -{1}(Nat.add_0_r (length runs)) insert_app_r. done. }
  pose proof (init_below _ _ _ Hs Hg) as Hlast. apply sorted_init in Hs. apply good_init in Hg as Hgi.
  rewrite last_end_snoc. split; [|lia]. split_and!.
  - apply sorted_snoc; [done|lia].
  - apply good_snoc; [done|done|]. lia.
  - rewrite last_end_snoc. intros j Hj. rewrite granted_app //; [|lia]. case_decide as Hjl.
    + rewrite -Hf; [|lia]. rewrite granted_app //; [|lia]. by rewrite decide_True.
    + simpl. rewrite decide_True; [|lia]. simpl. destruct (decide (j < e')).
      * rewrite -Hf; [|lia]. rewrite granted_app //; [|lia]. rewrite decide_False //= decide_True //.
      * rewrite Hnew //. lia.
Qed.

Lemma add_run_good runs e x : good_runs runs → ballot_ok x → e ≤ page_size → good_runs (add_run runs e x).
Proof.
  intros Hg Hx He. pose proof (last_end_nonneg _ Hg). rewrite /add_run. case_decide; [done|].
  assert (good_runs (runs ++ [(x, e)])) by (apply good_snoc; [done|done|lia]).
  destruct (last runs) as [[y e']|]; [|done]. case_decide; [subst|done].
  intros i r [(_ & <- & _)|[_ Hi]]%list_lookup_insert_Some; [|by eapply Hg]. simpl. split; [done|lia].
Qed.

(** ** What [grant] makes of the promises *)
Definition granting (runs : list (ballot * Z)) (lo hi : Z) (x : ballot) (j : Z) : ballot :=
  if decide (lo ≤ j < hi ∧ number (granted runs j).1 < number x) then x else (granted runs j).1.
(** One turn of its loop. *)
Definition add_turn (fresh : list (ballot * Z)) (lo hi : Z) (x : ballot) (r : ballot * Z) : list (ballot * Z) :=
  let fresh := add_run fresh (r.2 `min` lo) r.1 in
  let fresh := if decide (number r.1 < number x) then add_run fresh (r.2 `min` hi) x else fresh in
  add_run fresh r.2 r.1.

Lemma add_turn_says runs fresh lo hi x k r : sorted_runs runs → good_runs runs → ballot_ok x →
  0 ≤ lo ≤ hi → hi ≤ page_size → runs !! k = Some r →
  runs_say fresh (granting runs lo hi x) → last_end fresh = last_end (take k runs) →
  runs_say (add_turn fresh lo hi x r) (granting runs lo hi x) ∧
  last_end (add_turn fresh lo hi x r) = last_end (take (S k) runs).
Proof.
  intros Hs Hg Hx Hlo Hhi Hk Hf Hl. destruct r as [y e]. destruct (Hg _ _ Hk) as [Hy He]. simpl in Hy, He.
  assert (∀ j, last_end (take k runs) ≤ j < e → granted runs j = (y, e)) as Hat.
  { intros j Hj. pose proof (granted_at runs j k) as H. rewrite Hk /= in H. apply H; [|lia].
    intros i r Hi Hr. assert (sorted_runs (take k runs)) as Hst.
    { intros a c r1 r2 Hac H1 H2. apply lookup_take_Some in H1 as [H1 _]. apply lookup_take_Some in H2 as [H2 _]. by eapply (Hs a c). }
    pose proof (end_le_last (take k runs) i r Hst) as Hend. rewrite lookup_take // in Hend. specialize (Hend Hr). lia. }
  assert (last_end (take (S k) runs) = e) as Hend. { rewrite (take_S_r _ _ _ Hk). by rewrite last_end_snoc. }
  assert (last_end (take k runs) < e) as Hlt.
  { assert (sorted_runs (take (S k) runs)) as Hst.
    { intros a c r1 r2 Hac H1 H2. apply lookup_take_Some in H1 as [H1 _]. apply lookup_take_Some in H2 as [H2 _]. by eapply (Hs a c). }
    rewrite (take_S_r _ _ _ Hk) in Hst. apply (init_below _ y); [done|].
    intros i r Hi. rewrite -(take_S_r _ _ _ Hk) in Hi. apply lookup_take_Some in Hi as [Hi _]. by eapply Hg. }
  rewrite Hend. rewrite -Hl in Hat Hlt. clear Hl Hend. rewrite /add_turn /=.
  assert (∀ j, last_end fresh ≤ j < e → granting runs lo hi x j = if decide (lo ≤ j < hi ∧ number y < number x) then x else y) as Hgr.
  { intros j Hj. by rewrite /granting Hat. }
  clear Hat. destruct (add_run_says fresh _ (e `min` lo) y Hf) as [Hf1 Hl1]; [done|lia| |].
  { intros j Hj. rewrite Hgr; [|lia]. rewrite decide_False //. lia. }
  set (f1 := add_run fresh (e `min` lo) y) in *.
  destruct (decide (number y < number x)) as [Hn|Hn].
  - destruct (add_run_says f1 _ (e `min` hi) x Hf1) as [Hf2 Hl2]; [done|lia| |].
    { intros j Hj. rewrite Hgr; [|lia]. rewrite decide_True //. lia. }
    set (f2 := add_run f1 (e `min` hi) x) in *.
    destruct (add_run_says f2 _ e y Hf2) as [Hf3 Hl3]; [done|lia| |].
    { intros j Hj. rewrite Hgr; [|lia]. rewrite decide_False //. lia. }
    split; [done|lia].
  - destruct (add_run_says f1 _ e y Hf1) as [Hf3 Hl3]; [done|lia| |].
    { intros j Hj. rewrite Hgr; [|lia]. rewrite decide_False //. lia. }
    split; [done|lia].
Qed.
(** After the loop. *)
Lemma add_rest_says runs fresh lo hi x : sorted_runs runs → good_runs runs → ballot_ok x →
  0 ≤ lo ≤ hi → hi ≤ page_size →
  runs_say fresh (granting runs lo hi x) → last_end fresh = last_end runs →
  let all := add_run (add_run fresh lo zero_ballot) hi x in
  sorted_runs all ∧ good_runs all ∧ ∀ j, 0 ≤ j → (granted all j).1 = granting runs lo hi x j.
Proof.
  intros Hs Hg Hx Hlo Hhi Hf Hl all.
  assert (∀ j, last_end fresh ≤ j → granting runs lo hi x j = if decide (lo ≤ j < hi) then x else zero_ballot) as Hgr.
  { intros j Hj. rewrite /granting granted_beyond //=; [|lia]. change (number zero_ballot) with 0.
    pose proof (number_nonneg x Hx). destruct (decide (lo ≤ j < hi)) as [H1|H1]; [|rewrite decide_False //; tauto].
    destruct (decide (0 < number x)); [by rewrite decide_True|]. rewrite decide_False; [|lia].
    apply number_inj; [done|done|]. change (number zero_ballot) with 0. lia. }
  destruct (add_run_says fresh _ lo zero_ballot Hf) as [Hf1 Hl1]; [done|lia| |].
  { intros j Hj. rewrite Hgr; [|lia]. rewrite decide_False //. lia. }
  destruct (add_run_says _ _ hi x Hf1) as [(Hs2 & Hg2 & Hf2) Hl2]; [done|lia| |].
  { intros j Hj. rewrite Hgr; [|lia]. rewrite decide_True //. lia. }
  split_and!; [done|done|]. intros j Hj. fold all in Hl2, Hs2, Hf2.
  destruct (decide (j < last_end all)); [apply Hf2; lia|].
  rewrite granted_beyond //; [|lia]. rewrite Hgr; [|lia]. rewrite decide_False //. lia.
Qed.

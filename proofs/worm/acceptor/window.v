(** * The window of a page grows: internal/worm/paxos/page.go, cover *)
From iris.proofmode Require Import environments.
From ashlar.golib Require Export room.
From ashlar.worm.acceptor Require Export read.
Local Open Scope Z_scope.

(** ** What the window is afterwards *)
(** The window from [lo] to [hi]: what is new holds nothing. *)
Definition grown (pg : page) (lo hi : Z) : page :=
  let n := length (pg_cells pg) in
  Page (pg_number pg) (pg_runs pg) lo
    (if decide (n = 0%nat) then replicate (Z.to_nat (hi - lo)) None
     else replicate (Z.to_nat (pg_first pg - lo)) None ++ pg_cells pg ++
       replicate (Z.to_nat (hi - pg_first pg - n)) None).
Definition may_grow (pg : page) (lo hi : Z) : Prop :=
  0 ≤ lo ≤ hi ∧ hi ≤ page_size ∧
  (length (pg_cells pg) = 0%nat ∨ lo ≤ pg_first pg ∧ pg_first pg + length (pg_cells pg) ≤ hi).

Lemma grown_none pg lo hi : length (pg_cells pg) = 0%nat → pg_cells (grown pg lo hi) = replicate (Z.to_nat (hi - lo)) None.
Proof. intros Hz. by rewrite /grown decide_True. Qed.
Lemma grown_some pg lo hi : length (pg_cells pg) ≠ 0%nat → pg_cells (grown pg lo hi) =
  replicate (Z.to_nat (pg_first pg - lo)) None ++ pg_cells pg ++
    replicate (Z.to_nat (hi - pg_first pg - length (pg_cells pg))) None.
Proof. intros Hz. by rewrite /grown decide_False. Qed.
Global Arguments grown : simpl never.
Lemma grown_length pg lo hi : may_grow pg lo hi → Z.of_nat (length (pg_cells (grown pg lo hi))) = hi - lo.
Proof.
  intros (Hlo & Hhi & Hn). destruct (decide (length (pg_cells pg) = 0%nat)); [rewrite grown_none // replicate_length; lia|].
  rewrite grown_some //. destruct Hn as [?|Hn]; [done|].
  rewrite !app_length !replicate_length. lia.
Qed.
Lemma grown_cells pg lo hi (k : nat) c : may_grow pg lo hi → pg_cells (grown pg lo hi) !! k = Some (Some c) →
  pg_cells pg ≠ [] ∧ (Z.to_nat (pg_first pg - lo) ≤ k)%nat ∧
  pg_cells pg !! (k - Z.to_nat (pg_first pg - lo))%nat = Some (Some c).
Proof.
  intros (Hlo & Hhi & Hn). destruct (decide (length (pg_cells pg) = 0%nat)) as [Hz|Hz].
  { rewrite grown_none //. intros [??]%lookup_replicate. done. }
  rewrite grown_some //. intros [Hk|[Hk Hc]]%lookup_app_Some. { by apply lookup_replicate in Hk as [??]. }
  rewrite replicate_length in Hk Hc. split; [intros Hnil; by rewrite Hnil in Hz|]. split; [done|].
  apply lookup_app_Some in Hc as [Hc|[_ Hc]]; [done|]. by apply lookup_replicate in Hc as [??].
Qed.
Lemma grown_held pg lo hi j : may_grow pg lo hi → 0 ≤ pg_first pg → 0 ≤ j → held (grown pg lo hi) j = held pg j.
Proof.
  intros Hg Hf Hj. pose proof Hg as (Hlo & Hhi & Hn). rewrite /held.
  change (pg_first (grown pg lo hi)) with lo.
  destruct (decide (length (pg_cells pg) = 0%nat)) as [Hz|Hz].
  - apply nil_length_inv in Hz as Hnil. rewrite grown_none // Hnil lookup_nil. case_decide; [|by case_decide].
    destruct (replicate _ None !! _) as [c|] eqn:Hc; [|by case_decide].
    apply lookup_replicate in Hc as [-> _]. simpl. by case_decide.
  - destruct Hn as [Hn|Hn]; [done|]. rewrite grown_some //.
    case_decide as H1; case_decide as H2; [|..|lia|done].
    + rewrite lookup_app_r; [|rewrite replicate_length; lia]. rewrite replicate_length.
      replace (Z.to_nat (j - lo) - Z.to_nat (pg_first pg - lo))%nat with (Z.to_nat (j - pg_first pg)) by lia.
      destruct (decide (Z.to_nat (j - pg_first pg) < length (pg_cells pg))%nat).
      * by rewrite lookup_app_l.
      * rewrite lookup_app_r; [|lia]. rewrite (lookup_ge_None_2 (pg_cells pg)); [|lia].
        destruct (replicate _ None !! _) as [c|] eqn:Hc; [|done]. by apply lookup_replicate in Hc as [-> _].
    + rewrite lookup_app_l; [|rewrite replicate_length; lia].
      destruct (replicate _ None !! _) as [c|] eqn:Hc; [|done]. by apply lookup_replicate in Hc as [-> _].
Qed.
Lemma grown_ok pg lo hi : page_ok pg → may_grow pg lo hi → page_ok (grown pg lo hi).
Proof.
  intros Hok Hg. pose proof (grown_length pg lo hi Hg) as Hlen. destruct Hok as [Hnum Hwin Hs Hr Hc].
  pose proof Hg as (Hlo & Hhi & _). split; [done| |done|done|].
  - rewrite Hlen. change (pg_first (grown pg lo hi)) with lo. lia.
  - intros k x v (_ & _ & Hk)%grown_cells; [|done]. by eapply Hc.
Qed.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_page.

Section window.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (p : loc) (pg : page) (s : slice) (Φ : val → iProp Σ).
  Local Notation Page := paxos.page.

  Lemma own_cells_grown b ss slots slots' table pg lo hi :
    may_grow pg lo hi → length (pg_cells pg) ≠ 0%nat → Z.of_nat (length slots') = hi - lo →
    (∀ (k : nat) x, slots !! k = Some x → slots' !! (Z.to_nat (pg_first pg - lo) + k)%nat = Some x) →
    own_cells b ss slots table (pg_cells pg) -∗
    own_cells b (replicate (Z.to_nat (pg_first pg - lo)) nil_slice ++ ss ++
      replicate (Z.to_nat (hi - pg_first pg - length (pg_cells pg))) nil_slice) slots' table (pg_cells (grown pg lo hi)).
  Proof.
    iIntros (Hg Hne Hlen Hslots) "[%Hl H]". iSplit; [iPureIntro; pose proof (grown_length pg lo hi Hg); lia|].
    rewrite grown_some //.
    iApply (big_sepL2_app with "[]").
    { iApply big_sepL2_replicate_l; [by rewrite replicate_length|].
      iApply big_sepL_intro. iIntros "!>" (k c [-> _]%lookup_replicate). simpl. by iSplit. }
    iApply (big_sepL2_app with "[H]").
    { iApply (big_sepL2_impl with "H"). iIntros "!>" (k s c _ _) "[$ %Hc]". iPureIntro.
      intros x v Heq. destruct (Hc x v Heq) as (n & Hn & Hr). exists n. split; [|done]. rewrite replicate_length. by apply Hslots. }
    iApply big_sepL2_replicate_l; [by rewrite replicate_length|].
    iApply big_sepL_intro. iIntros "!>" (k c [-> _]%lookup_replicate). simpl. by iSplit.
  Qed.
  Lemma own_cells_fresh b slots table pg lo hi : may_grow pg lo hi → length (pg_cells pg) = 0%nat →
    Z.of_nat (length slots) = hi - lo →
    ⊢ own_cells b (replicate (Z.to_nat (hi - lo)) nil_slice) slots table (pg_cells (grown pg lo hi)).
  Proof.
    iIntros (Hg Hz Hlen). iSplit; [iPureIntro; pose proof (grown_length pg lo hi Hg); lia|].
    rewrite grown_none //.
    iApply big_sepL2_replicate_l; [by rewrite replicate_length|].
    iApply big_sepL_intro. iIntros "!>" (k c [-> _]%lookup_replicate). simpl. by iSplit.
  Qed.
End window.

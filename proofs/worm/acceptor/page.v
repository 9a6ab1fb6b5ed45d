(** * A page of registers in memory: internal/worm/paxos/page.go

    [own_page b p x]: the page at [p] has the promises and values of [x].  A page
    stores promises as runs and values in a window, with a table of ballots;
    [granted], [held] and [promise_of] say what each register has. *)
From iris.proofmode Require Import environments.
From ashlar.golib Require Export search readonly room.
From ashlar.gen.internal.worm Require paxos.
From ashlar.worm.acceptor Require Export ballot.
Local Open Scope Z_scope.

Notation page_size := 256.

Record page := Page {
  pg_number : Z;                              (* the first register is number * page_size *)
  pg_runs : list (ballot * Z);                (* a ballot is promised up to an end *)
  pg_first : Z;                               (* where the window begins *)
  pg_cells : list (option (ballot * list Z)); (* the window: what is accepted *)
}.

(** ** What a page says of register [i] *)
(** The ballot that it is promised to, besides what it has accepted, and where the run ends. *)
Fixpoint granted (runs : list (ballot * Z)) (i : Z) : ballot * Z :=
  match runs with
  | [] => (zero_ballot, page_size)
  | (x, e) :: runs => if decide (i < e) then (x, e) else granted runs i
  end.
(** What it has accepted. *)
Definition held (pg : page) (i : Z) : option (ballot * list Z) :=
  if decide (pg_first pg ≤ i) then mjoin (pg_cells pg !! Z.to_nat (i - pg_first pg)) else None.
(** The highest ballot that it has promised or accepted. *)
Definition promise_of (pg : page) (i : Z) : ballot :=
  match held pg i with
  | Some (y, _) => if decide (number (granted (pg_runs pg) i).1 < number y) then y else (granted (pg_runs pg) i).1
  | None => (granted (pg_runs pg) i).1
  end.

Record page_ok (pg : page) : Prop := PageOk {
  number_ok : 0 ≤ pg_number pg < 2 ^ 24;
  window_ok : 0 ≤ pg_first pg ∧ pg_first pg + length (pg_cells pg) ≤ page_size;
  runs_sorted : ∀ (i j : nat) r1 r2, (i < j)%nat → pg_runs pg !! i = Some r1 → pg_runs pg !! j = Some r2 → r1.2 < r2.2;
  runs_ok : ∀ i r, pg_runs pg !! i = Some r → ballot_ok r.1 ∧ 0 < r.2 ≤ page_size;
  cells_ok : ∀ i x v, pg_cells pg !! i = Some (Some (x, v)) → ballot_ok x;
}.

Lemma granted_at runs i (k : nat) :
  (∀ (j : nat) r, (j < k)%nat → runs !! j = Some r → r.2 ≤ i) →
  match runs !! k with
  | Some r => i < r.2 → granted runs i = r
  | None => granted runs i = (zero_ballot, page_size)
  end.
Proof.
  revert k. induction runs as [|[x e] runs IH]; intros k Hlow; [done|]. destruct k as [|k].
  - simpl. intros. by rewrite decide_True.
  - simpl. rewrite decide_False; [|pose proof (Hlow 0%nat (x, e) ltac:(lia) eq_refl); simpl in *; lia].
    apply IH. intros j r Hj. apply (Hlow (S j)). lia.
Qed.
Lemma granted_ok pg i : page_ok pg → ballot_ok (granted (pg_runs pg) i).1.
Proof.
  intros [_ _ _ Hok _]. induction (pg_runs pg) as [|[x e] runs IH]; simpl; [apply zero_ballot_ok|].
  case_decide; [by apply (Hok 0%nat (x, e))|]. apply IH. intros j r. apply (Hok (S j)).
Qed.
Lemma held_ok pg i x v : page_ok pg → held pg i = Some (x, v) → ballot_ok x.
Proof.
  intros [_ _ _ _ Hok]. rewrite /held. case_decide; [|done]. intros Hv.
  destruct (pg_cells pg !! _) as [[c|]|] eqn:Hc; simplify_eq/=. by eapply Hok.
Qed.
Lemma promise_of_ok pg i : page_ok pg → ballot_ok (promise_of pg i).
Proof.
  intros Hok. pose proof (granted_ok pg i Hok). rewrite /promise_of.
  destruct (held pg i) as [[y v]|] eqn:Hh; [|done]. case_decide; [|done]. by eapply held_ok.
Qed.

Definition run_val (r : ballot * Z) : val := (ballot_val r.1, (#(int r.2), #())).
Definition slot_val (k : Z) : val := #(u8 k).

Section page.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (p : loc) (pg : page) (s : slice) (Φ : val → iProp Σ).
  Local Notation Page := paxos.page.

  (** A value that is stored: nil, or bytes that nobody changes any more. *)
  Definition own_value b s (v : option (list Z)) : iProp Σ :=
    match v with
    | None => ⌜s = nil_slice⌝
    | Some bs => ⌜sl_ptr s ≠ LitNull⌝ ∗ own_bytes b s DfracDiscarded bs
    end.
  Global Instance own_value_persistent b s v : Persistent (own_value b s v).
  Proof. destruct v; apply _. Qed.
  Global Instance own_value_timeless b s v : Timeless (own_value b s v).
  Proof. destruct v; apply _. Qed.

  (** Slices of the window, the numbers of their ballots and the table say what is accepted. *)
  Definition own_cells b (ss : list slice) (slots : list Z) (table : list ballot)
      (cells : list (option (ballot * list Z))) : iProp Σ :=
    ⌜length slots = length cells⌝ ∗
    [∗ list] i ↦ s;c ∈ ss;cells, own_value b s (snd <$> c) ∗
      ⌜∀ x v, c = Some (x, v) → ∃ k, slots !! i = Some k ∧ 0 ≤ k < 256 ∧ table !! Z.to_nat k = Some x⌝.

  (** The window's capacity is used as it is when the window grows: it holds nil. *)
  Definition own_page b p pg : iProp Σ :=
    ∃ sp sv sl st (ss : list slice) (slots : list Z) (table : list ballot) (mem : Z),
      ⌜page_ok pg⌝ ∗ ⌜(length table ≤ 256)%nat⌝ ∗ ⌜sl_cap sl = sl_cap sv⌝ ∗
      (p +ₗ field_offset Page "number") ↦[b] #(u32 (pg_number pg)) ∗
      (p +ₗ field_offset Page "first") ↦[b] #(int (pg_first pg)) ∗
      (p +ₗ field_offset Page "promises") ↦[b] slice_val sp ∗
      (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗
      (p +ₗ field_offset Page "slots") ↦[b] slice_val sl ∗
      (p +ₗ field_offset Page "ballots") ↦[b] slice_val st ∗
      (p +ₗ field_offset Page "held") ↦[b] #(int mem) ∗
      own_slice_full b sp (structT paxos.promise) (run_val <$> pg_runs pg) ∗
      own_slice b sv sliceT (DfracOwn 1) (slice_val <$> ss) ∗
      own_slice_zeros b sv sliceT ∗
      own_bytes b sl (DfracOwn 1) slots ∗ own_slice_zeros b sl byteT ∗
      own_slice_full b st (structT wor.Ballot) (ballot_val <$> table) ∗
      own_cells b ss slots table (pg_cells pg).

  Lemma own_cells_length b ss slots table cells :
    own_cells b ss slots table cells -∗ ⌜length ss = length cells ∧ length slots = length cells⌝.
  Proof. iIntros "[% H]". by iDestruct (big_sepL2_length with "H") as %?. Qed.
  Lemma own_cells_lookup b ss slots table cells i s c : ss !! i = Some s → cells !! i = Some c →
    own_cells b ss slots table cells -∗ own_value b s (snd <$> c) ∗
      ⌜∀ x v, c = Some (x, v) → ∃ k, slots !! i = Some k ∧ 0 ≤ k < 256 ∧ table !! Z.to_nat k = Some x⌝.
  Proof. iIntros (Hs Hc) "[_ H]". by iDestruct (big_sepL2_lookup with "H") as "$". Qed.
  Lemma own_value_nil b s v : own_value b s v -∗ ⌜sl_ptr s = LitNull ↔ v = None⌝.
  Proof.
    iIntros "H". destruct v as [bs|]; simpl; [|by iDestruct "H" as %->].
    iDestruct "H" as "[% _]". iPureIntro. naive_solver.
  Qed.

  Lemma own_page_ok b p pg : own_page b p pg -∗ ⌜page_ok pg⌝.
  Proof. by iIntros "(% & % & % & % & % & % & % & % & $ & _)". Qed.
  (** What is read of the promises, and of the window. *)
  Lemma own_page_promises b p pg : own_page b p pg -∗ ∃ sp,
    (p +ₗ field_offset Page "promises") ↦[b] slice_val sp ∗
    own_slice b sp (structT paxos.promise) (DfracOwn 1) (run_val <$> pg_runs pg) ∗
    ((p +ₗ field_offset Page "promises") ↦[b] slice_val sp -∗
     own_slice b sp (structT paxos.promise) (DfracOwn 1) (run_val <$> pg_runs pg) -∗ own_page b p pg).
  Proof.
    iIntros "(%sp & %sv & %sl & %st & %ss & %slots & %table & %mem & #Hok & #Htable & #Hcap &
      Hnumber & Hfirst & Hsp & Hsv & Hsl & Hst & Hmem & [Hruns Hrunscap] & Hrest)".
    iExists sp. iFrame "Hsp Hruns". iIntros "Hsp Hruns".
    iExists sp, sv, sl, st, ss, slots, table, mem. iFrame "Hok Htable Hcap Hnumber Hfirst Hsp Hsv Hsl Hst Hmem".
    iSplitL "Hruns Hrunscap"; [iFrame "Hruns Hrunscap"|iExact "Hrest"].
  Qed.
  Lemma own_page_window b p pg : own_page b p pg -∗ ∃ sv sl st (ss : list slice) (slots : list Z) (table : list ballot),
    own_cells b ss slots table (pg_cells pg) ∗
    (p +ₗ field_offset Page "first") ↦[b] #(int (pg_first pg)) ∗
    (p +ₗ field_offset Page "values") ↦[b] slice_val sv ∗
    (p +ₗ field_offset Page "slots") ↦[b] slice_val sl ∗
    (p +ₗ field_offset Page "ballots") ↦[b] slice_val st ∗
    own_slice b sv sliceT (DfracOwn 1) (slice_val <$> ss) ∗
    own_bytes b sl (DfracOwn 1) slots ∗
    own_slice b st (structT wor.Ballot) (DfracOwn 1) (ballot_val <$> table) ∗
    ((p +ₗ field_offset Page "first") ↦[b] #(int (pg_first pg)) -∗
     (p +ₗ field_offset Page "values") ↦[b] slice_val sv -∗
     (p +ₗ field_offset Page "slots") ↦[b] slice_val sl -∗
     (p +ₗ field_offset Page "ballots") ↦[b] slice_val st -∗
     own_slice b sv sliceT (DfracOwn 1) (slice_val <$> ss) -∗
     own_bytes b sl (DfracOwn 1) slots -∗
     own_slice b st (structT wor.Ballot) (DfracOwn 1) (ballot_val <$> table) -∗ own_page b p pg).
  Proof.
    iIntros "(%sp & %sv & %sl & %st & %ss & %slots & %table & %mem & #Hok & #Htable & #Hcap &
      Hnumber & Hfirst & Hsp & Hsv & Hsl & Hst & Hmem & Hruns & Hvalues & Hroom & Hslots & Hslotsroom & [Hballots Hballotscap] & #Hcells)".
    iExists sv, sl, st, ss, slots, table. iFrame "Hcells Hfirst Hsv Hsl Hst Hvalues Hslots Hballots".
    iIntros "Hfirst Hsv Hsl Hst Hvalues Hslots Hballots".
    iExists sp, sv, sl, st, ss, slots, table, mem. iFrame "Hok Htable Hcap Hnumber Hfirst Hsp Hsv Hsl Hst Hmem Hruns Hvalues Hroom".
    iFrame "Hslots Hslotsroom". iSplitL; [iFrame "Hballots Hballotscap"|iExact "Hcells"].
  Qed.

  (** ** Runs *)
  Lemma own_run b (l : loc) dq r :
    own_ty b l dq (structT paxos.promise) (run_val r) ⊣⊢
    own_ty b (l +ₗ field_offset paxos.promise "ballot") dq (structT wor.Ballot) (ballot_val r.1) ∗
    (l +ₗ field_offset paxos.promise "end") ↦[b]{dq} #(int r.2).
  Proof.
    rewrite own_struct //. cbn [own_fields own_ty run_val]. iSplit; [by iIntros "($ & $ & _)"|].
    iIntros "[$ $]". done.
  Qed.
  Lemma wp_run_end b E s dq (runs : list (ballot * Z)) w (i : Z) r :
    0 ≤ i → runs !! Z.to_nat i = Some r →
    {{{ own_slice b s (structT paxos.promise) dq (run_val <$> runs) }}}
      ![int64T] ((slice_ref (structT paxos.promise) (slice_val s) #(LitInt w i)).[paxos.promise, "end"]) @ b; E
    {{{ RET #(int r.2); own_slice b s (structT paxos.promise) dq (run_val <$> runs) }}}.
  Proof.
    iIntros (Hi Hr Φ) "Hs HΦ".
    wp_apply (wp_slice_ref with "Hs"); [done|by rewrite list_lookup_fmap Hr|]. iIntros (l) "[Hl Hs]".
    rewrite own_run. iDestruct "Hl" as "[Hx He]". wp_load. wp_pures. iApply "HΦ".
    iSpecialize ("Hs" $! (run_val r) with "[Hx He]"); [iApply own_run; iFrame|].
    rewrite list_insert_id //. by rewrite list_lookup_fmap Hr.
  Qed.
  Lemma wp_run_ballot b E s dq (runs : list (ballot * Z)) w (i : Z) r :
    0 ≤ i → runs !! Z.to_nat i = Some r →
    {{{ own_slice b s (structT paxos.promise) dq (run_val <$> runs) }}}
      ![structT wor.Ballot] ((slice_ref (structT paxos.promise) (slice_val s) #(LitInt w i)).[paxos.promise, "ballot"]) @ b; E
    {{{ RET (ballot_val r.1); own_slice b s (structT paxos.promise) dq (run_val <$> runs) }}}.
  Proof.
    iIntros (Hi Hr Φ) "Hs HΦ".
    wp_apply (wp_slice_ref with "Hs"); [done|by rewrite list_lookup_fmap Hr|]. iIntros (l) "[Hl Hs]".
    rewrite own_run. iDestruct "Hl" as "[Hx He]". wp_pures.
    wp_apply (wp_load_ty with "Hx"). iIntros "Hx". iApply "HΦ".
    iSpecialize ("Hs" $! (run_val r) with "[Hx He]"); [iApply own_run; iFrame|].
    rewrite list_insert_id //. by rewrite list_lookup_fmap Hr.
  Qed.

  (** ** Reading *)
  Lemma wp_page__granted b p pg (i : Z) : in_range I64 i →
    {{{ own_page b p pg }}}
      paxos.page__granted #p #(int i) @ b; ⊤
    {{{ RET (ballot_val (granted (pg_runs pg) i).1, #(int (granted (pg_runs pg) i).2)); own_page b p pg }}}.
  Proof.
    iIntros (Hi Φ) "Hp HΦ". iDestruct (own_page_ok with "Hp") as %Hok.
    iDestruct (own_page_promises with "Hp") as (sp) "(Hsp & Hruns & Hclose)".
    iDestruct (own_slice_length with "Hruns") as %[Hlen Hmax]. rewrite fmap_length in Hlen Hmax.
    wp_rec. wp_pures. wp_alloc lo as "Hlo". wp_load. wp_alloc hi as "Hhi". wp_pures. rewrite Hlen.
    wp_apply (wp_binary_search
      (λ j, ∀ r, pg_runs pg !! Z.to_nat j = Some r → r.2 ≤ i)
      ((p +ₗ field_offset Page "promises") ↦[b] slice_val sp ∗
       own_slice b sp (structT paxos.promise) (DfracOwn 1) (run_val <$> pg_runs pg))%I
      with "Hlo Hhi [$Hsp $Hruns]"); [lia| | |].
    { intros j k Hjk Hk HP r Hr. destruct (lookup_lt_is_Some_2 (pg_runs pg) (Z.to_nat k)) as [r' Hr']; [lia|].
      specialize (HP r' Hr'). destruct (decide (j = k)) as [->|]; [by simplify_eq|].
      pose proof (runs_sorted _ Hok (Z.to_nat j) (Z.to_nat k) r r' ltac:(lia) Hr Hr'). lia. }
    { iIntros "!>" (mid Hmid) "[Hsp Hruns]". simpl. wp_load.
      destruct (lookup_lt_is_Some_2 (pg_runs pg) (Z.to_nat mid)) as [r Hr]; [lia|].
      wp_apply (wp_run_end with "Hruns"); [lia|done|]. iIntros "Hruns". wp_pures.
      pose proof (runs_ok _ Hok _ _ Hr) as [_ Hend]. rewrite_wrap.
      iExists _. iSplit; [done|]. iFrame. iPureIntro. case_bool_decide as Hle.
      - intros r' Hr'. by simplify_eq.
      - intros HP. apply Hle. by apply HP. }
    iIntros (k Hk Hlow Hhigh) "Hlo [Hsp Hruns]". wp_pures. wp_load. wp_load. wp_pures. rewrite Hlen.
    pose proof (granted_at (pg_runs pg) i (Z.to_nat k)) as Hat.
    assert (∀ (j : nat) r, (j < Z.to_nat k)%nat → pg_runs pg !! j = Some r → r.2 ≤ i) as Hbelow.
    { intros j r Hj Hr. apply (Hlow j); [lia|]. by rewrite Nat2Z.id. }
    specialize (Hat Hbelow). case_bool_decide as Heq; wp_pures.
    - rewrite lookup_ge_None_2 in Hat; [|injection Heq as ->; lia]. rewrite Hat /=.
      iApply "HΦ". iApply ("Hclose" with "Hsp Hruns").
    - assert (k ≠ length (pg_runs pg)) as Hne by congruence.
      destruct (lookup_lt_is_Some_2 (pg_runs pg) (Z.to_nat k)) as [r Hr]; [lia|]. rewrite Hr in Hat.
      assert (i < r.2) as Hlt.
      { destruct (decide (i < r.2)); [done|]. exfalso. apply (Hhigh k); [lia|]. intros r' Hr'. simplify_eq. lia. }
      rewrite Hat //. wp_load. wp_load.
      wp_apply (wp_run_end with "Hruns"); [lia|done|]. iIntros "Hruns". wp_pures. wp_load. wp_load.
      wp_apply (wp_run_ballot with "Hruns"); [lia|done|]. iIntros "Hruns". wp_pures.
      pose proof (runs_ok _ Hok _ _ Hr) as [_ Hend]. rewrite_wrap.
      iApply "HΦ". iApply ("Hclose" with "Hsp Hruns").
  Qed.
End page.

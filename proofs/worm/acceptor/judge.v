(** * The answer to a write of one register: internal/worm/paxos, judge *)
From iris.proofmode Require Import environments.
From ashlar.worm.acceptor Require Export lookup.
Local Open Scope Z_scope.

(** A server's answer about one register. *)
Record answer := Answer {
  status : Z; said_promised : ballot; said_written : bool; said_accepted : ballot;
  said_value : option (list Z);
}.

(** What [judge] answers to "write [v] at ballot [x]", and whether [v] is to be accepted now. *)
Definition judged (r : register) (x : ballot) (v : list Z) : answer * bool :=
  let above :=
    if decide (number x < number (promised r))
    then (Answer wor.StatusOutbid (promised r) false zero_ballot None, false)
    else (Answer wor.StatusOK x true x None, true) in
  match accepted r with
  | Some (y, w) =>
      if decide (y = x) then
        if decide (w = v) then (Answer wor.StatusOK (promised r) true x None, false)
        else (Answer wor.StatusConflict (promised r) true x (Some w), false)
      else above
  | None => above
  end.

Lemma judged_same p x w v : judged (Register p (Some (x, w))) x v =
  if decide (w = v) then (Answer wor.StatusOK p true x None, false)
  else (Answer wor.StatusConflict p true x (Some w), false).
Proof. rewrite /judged /=. by rewrite decide_True. Qed.
Lemma judged_other p c x v : (∀ w, c ≠ Some (x, w)) → judged (Register p c) x v =
  if decide (number x < number p) then (Answer wor.StatusOutbid p false zero_ballot None, false)
  else (Answer wor.StatusOK x true x None, true).
Proof. intros Hc. rewrite /judged /=. destruct c as [[y w]|]; [|done]. rewrite decide_False //. naive_solver. Qed.
(** What is accepted at this ballot. *)
Definition same (c : option (ballot * list Z)) (x : ballot) : bool :=
  match c with Some (y, _) => bool_decide (y = x) | None => false end.
Lemma same_spec c x : if same c x then ∃ w, c = Some (x, w) else ∀ w, c ≠ Some (x, w).
Proof. destruct c as [[y w]|]; simpl; [case_bool_decide as H|]; naive_solver. Qed.

Definition answer_val (count : Z) (a : answer) (s : slice) : val :=
  (#(u32 count), (#(u8 (status a)), (ballot_val (said_promised a), (#(said_written a),
    (ballot_val (said_accepted a), (slice_val s, #())))))).

Global Arguments answer_val : simpl never.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_page own_segment.

Section judge.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (l : loc) (pgs : list page) (s : slice) (Φ : val → iProp Σ).
  Local Notation Run := wor.Run.

  Lemma wp_load_answer b E (l : loc) count a s :
    {{{ (l +ₗ field_offset Run "Count") ↦[b] #(u32 count) ∗
        (l +ₗ field_offset Run "Status") ↦[b] #(u8 (status a)) ∗
        own_ty b (l +ₗ field_offset Run "Promised") (DfracOwn 1) (structT wor.Ballot) (ballot_val (said_promised a)) ∗
        (l +ₗ field_offset Run "Written") ↦[b] #(said_written a) ∗
        own_ty b (l +ₗ field_offset Run "Accepted") (DfracOwn 1) (structT wor.Ballot) (ballot_val (said_accepted a)) ∗
        (l +ₗ field_offset Run "Value") ↦[b] slice_val s }}}
      ![structT Run] #l @ b; E
    {{{ RET (answer_val count a s); True }}}.
  Proof.
    iIntros (Φ) "H HΦ". wp_apply (wp_load_ty _ _ (structT Run) _ _ (answer_val count a s) with "[H]").
    { iNext. iApply own_struct; [done|]. cbn [own_fields own_ty answer_val].
      iDestruct "H" as "($ & $ & $ & $ & $ & $)". done. }
    iIntros "_". by iApply "HΦ".
  Qed.

  Lemma wp_judge b lit pgs (i : Z) x sv (v : list Z) : 0 ≤ i < 2 ^ 32 → ballot_ok x →
    {{{ own_segment b lit pgs ∗ own_bytes b sv DfracDiscarded v }}}
      paxos.judge #lit #(int i) (ballot_val x) (slice_val sv) @ b; ⊤
    {{{ s, RET (answer_val 1 (judged (register_of pgs i) x v).1 s, #(judged (register_of pgs i) x v).2);
        own_segment b lit pgs ∗ own_value b s (said_value (judged (register_of pgs i) x v).1) }}}.
  Proof.
    iIntros (Hi Hx Φ) "[Hseg #Hsv] HΦ".
    remember (judged (register_of pgs i) x v) as a eqn:Ha. rewrite /register_of in Ha. wp_rec.
    wp_alloc run as "(Hcount & Hstatus & Hpromised & Hwritten & Haccepted & Hvalue & _)". wp_pures.
    wp_apply (wp_segment__page with "Hseg"); [done|]. iIntros (pl) "Hpage".
    assert (0 ≤ i `mod` 256 < 256) as Hm by (apply Z.mod_pos_bound; lia).
    destruct (page_at pgs (i / 256)) as [pg|] eqn:Hpg; last first.
    { assert (a = (Answer wor.StatusOK x true x None, true)) as ->.
      { rewrite Ha /judged /=. pose proof (number_nonneg x Hx).
        rewrite decide_False; [done|]. change (number zero_ballot) with 0. lia. }
      iDestruct "Hpage" as "[-> Hseg]". wp_pures.
      wp_apply (wp_store_ty with "Hpromised"); [done|]. iIntros "Hpromised". wp_pures. wp_store. wp_pures.
      wp_apply (wp_store_ty with "Haccepted"); [done|]. iIntros "Haccepted". wp_pures.
      wp_apply (wp_load_answer _ _ _ _ (Answer wor.StatusOK x true x None) nil_slice
        with "[$Hcount $Hstatus $Hpromised $Hwritten $Haccepted $Hvalue]"). iIntros "_". wp_pures.
      iApply ("HΦ" $! nil_slice). iFrame "Hseg". done. }
    iDestruct "Hpage" as (p) "(-> & Hpage & Hclose)". iDestruct "Hclose" as "[Hclose _]".
    iDestruct (own_page_ok with "Hpage") as %Hok. wp_pures. change paxos.pageSize with 256.
    rewrite Z.rem_mod_nonneg; [|lia..]. rewrite (wrap_id I64); [|int_solve].
    set (j := i `mod` 256) in *. pose proof (promise_of_ok pg j Hok) as Hpr.
    wp_apply (wp_page__promised with "Hpage"); [done|]. iIntros "Hpage". wp_pures.
    wp_apply (wp_store_ty with "Hpromised"); [done|]. iIntros "Hpromised". wp_pures.
    change paxos.pageSize with 256. rewrite Z.rem_mod_nonneg; [|lia..]. rewrite (wrap_id I64); [|int_solve]. fold j.
    wp_apply (wp_page__accepted with "Hpage"); [done|]. iIntros (s) "[Hpage #Hv]".
    iDestruct (own_value_nil with "Hv") as %Hnil. iDestruct ("Hclose" with "Hpage") as "Hseg". wp_pures.
    iAssert (WP (if: #(negb (bool_decide (sl_ptr s = LitNull))) then ballot_val (held_ballot (held pg j)) = ballot_val x
      else #false) @ b; ⊤ {{ u, ⌜u = #(same (held pg j) x)⌝ }})%I as "Hcond".
    { destruct (held pg j) as [[y w]|]; cbn [same held_ballot from_option fst].
      - rewrite bool_decide_false; [|intros [= Hs]; by apply Hnil in Hs]. cbn [negb]. wp_if.
        iApply (wp_ballot_eq b ⊤ y x []). iNext. by iApply wpe_value.
      - rewrite bool_decide_true; [|by rewrite (proj2 Hnil)]. cbn [negb]. wp_if. by iApply wpe_value. }
    wp_bind (If (Val #(negb _)) _ _). iApply (wpe_wand with "Hcond"). iIntros (u) "->".
    pose proof (same_spec (held pg j) x) as Hsame. destruct (same (held pg j) x).
    - destruct Hsame as [w Hw]. rewrite Hw judged_same in Ha. rewrite Hw. iDestruct "Hv" as "[Hp Hbytes]". cbn [held_ballot from_option fst].
      wp_pures. wp_store. wp_pures. wp_apply (wp_store_ty with "Haccepted"); [done|]. iIntros "Haccepted". wp_pures.
      wp_bind (App (App (Val std.bytes_equal) _) _). iClear "Hcond". cbn [snd].
      iApply (wp_bytes_equal _ _ s sv _ _ w v with "[]"); [by iSplit|]. iIntros "!> _".
      destruct (decide (w = v)) as [->|Hne]; subst a.
      + rewrite bool_decide_true //. wp_pures.
        wp_apply (wp_load_answer _ _ _ _ (Answer wor.StatusOK (promise_of pg j) true x None) nil_slice
          with "[$Hcount $Hstatus $Hpromised $Hwritten $Haccepted $Hvalue]"). iIntros "_". wp_pures.
        iApply ("HΦ" $! nil_slice). by iFrame "Hseg".
      + rewrite bool_decide_false //. wp_pures. wp_store. wp_pures. wp_store. wp_pures.
        wp_apply (wp_load_answer _ _ _ _ (Answer wor.StatusConflict (promise_of pg j) true x (Some w)) s
          with "[$Hcount $Hstatus $Hpromised $Hwritten $Haccepted $Hvalue]"). iIntros "_". wp_pures.
        iApply ("HΦ" $! s). iFrame "Hseg". iSplit; [iExact "Hp"|iExact "Hbytes"].
    - rewrite judged_other // in Ha. iClear "Hcond". wp_pures. wp_apply (wp_load_ty with "Hpromised"). iIntros "Hpromised".
      wp_apply (wp_Ballot__Less with "[//]"); [done..|]. iIntros "_".
      destruct (decide (number x < number (promise_of pg j))) as [Hlt|Hge]; subst a.
      + rewrite (bool_decide_true (number x < _)) //. wp_pures. wp_store. wp_pures.
        wp_apply (wp_load_answer _ _ _ _ (Answer wor.StatusOutbid (promise_of pg j) false zero_ballot None) nil_slice
          with "[$Hcount $Hstatus $Hpromised $Hwritten $Haccepted $Hvalue]"). iIntros "_". wp_pures.
        iApply ("HΦ" $! nil_slice). by iFrame "Hseg".
      + rewrite (bool_decide_false (number x < _)) //. wp_pures.
        wp_apply (wp_store_ty with "Hpromised"); [done|]. iIntros "Hpromised". wp_pures. wp_store. wp_pures.
        wp_apply (wp_store_ty with "Haccepted"); [done|]. iIntros "Haccepted". wp_pures.
        wp_apply (wp_load_answer _ _ _ _ (Answer wor.StatusOK x true x None) nil_slice
          with "[$Hcount $Hstatus $Hpromised $Hwritten $Haccepted $Hvalue]"). iIntros "_". wp_pures.
        iApply ("HΦ" $! nil_slice). by iFrame "Hseg".
  Qed.
End judge.

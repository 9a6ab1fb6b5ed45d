(** * A page accepts: internal/worm/paxos/page.go, accept *)
From iris.proofmode Require Import environments.
From ashlar.worm.acceptor Require Export cover slot.
Local Open Scope Z_scope.

(** The page where register [i], which is in the window, holds [v] at [x]. *)
Definition with_value (pg : page) (i : Z) (x : ballot) (v : list Z) : page :=
  Page (pg_number pg) (pg_runs pg) (pg_first pg) (<[Z.to_nat (i - pg_first pg) := Some (x, v)]> (pg_cells pg)).
Lemma with_value_ok pg i x v : page_ok pg → ballot_ok x → page_ok (with_value pg i x v).
Proof.
  intros [? Hw ?? Hc] Hx. split; [done|by rewrite /= insert_length|done|done|].
  intros k y w [(_ & [= <- <-] & _)|[_ Hk]]%list_lookup_insert_Some; [done|by eapply Hc].
Qed.
Lemma with_value_held pg i x v j : 0 ≤ j → pg_first pg ≤ i < pg_first pg + length (pg_cells pg) →
  held (with_value pg i x v) j = if decide (j = i) then Some (x, v) else held pg j.
Proof.
  intros Hj Hi. rewrite /held /=. case_decide as Hf; case_decide as Hji; [subst| |lia|done].
  - rewrite list_lookup_insert //. lia.
  - rewrite list_lookup_insert_ne //. lia.
Qed.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_slice own_slice_zeros own_slice_full.

Section accept.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (p : loc) (pg : page) (s : slice) (Φ : val → iProp Σ).
  Local Notation Page := paxos.page.

  (** [[]byte{}] *)
  Lemma wp_make_empty b E :
    {{{ True }}} make_slice byteT #(int 0) @ b; E {{{ l, RET slice_val (Slice (LitLoc l) 0 0); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_pures. change (wrap I64 0) with 0.
    wp_apply (wp_alloc_zero with "[//]"); [done|]. iIntros (l) "_". wp_pures. by iApply ("HΦ" $! l).
  Qed.

  (** What a page has afterwards: [v] at [x] in register [i], the same in all others. *)
  Lemma wp_page__accept b p pg (i : Z) x sv (v : list Z) : 0 ≤ i < page_size → ballot_ok x →
    {{{ own_page b p pg ∗ own_bytes b sv DfracDiscarded v }}}
      paxos.page__accept #p #(int i) (ballot_val x) (slice_val sv) @ b; ⊤
    {{{ pg', RET #(); own_page b p pg' ∗
        ⌜pg_number pg' = pg_number pg ∧ pg_runs pg' = pg_runs pg⌝ ∗
        ⌜∀ j, 0 ≤ j → held pg' j = if decide (j = i) then Some (x, v) else held pg j⌝ }}}.
  Proof.
    iIntros (Hi Hx Φ) "[Hp #Hbytes] HΦ". wp_rec. wp_pures. wp_alloc il as "Hil". wp_alloc vl as "Hvl". wp_load.
    wp_apply (wp_page__cover with "Hp"); [done|]. iIntros (pg1) "(Hp & [%Hnum %Hruns] & %Hwin & %Hheld)". wp_pures.
    iDestruct "Hp" as (sp vals sl st ss slots table mem) "(%Hok & %Htable & %Hcap & Hnumber & Hfirst &
      Hsp & Hsv & Hsl & Hst & Hmem & Hruns & Hvalues & Hroom & Hslots & Hslotsroom & Hballots & [%Hslotslen #Hcells])".
    pose proof (window_ok _ Hok) as [Hf0 Hw].
    iDestruct (big_sepL2_length with "Hcells") as %Hss.
    set (k := i - pg_first pg1) in *.
    wp_load. wp_load. wp_pures. rewrite (wrap_id I64 (pg_first pg1)); [|int_solve]. rewrite wrap_id; [|int_solve].
    wp_store. fold k. wp_pures.
    iAssert ⌜∀ j s c, ss !! j = Some s → pg_cells pg1 !! j = Some c → (sl_ptr s = LitNull ↔ c = None) ∧
      ∀ y w, c = Some (y, w) → ∃ k, slots !! j = Some k ∧ 0 ≤ k < 256 ∧ table !! Z.to_nat k = Some y⌝%I as %Hsays.
    { iIntros (j s c Hs Hc). iDestruct (big_sepL2_lookup with "Hcells") as "[Hv %Hc']"; [done..|].
      iDestruct (own_value_nil with "Hv") as %Hnil. iPureIntro. split; [|done]. rewrite Hnil. by destruct c. }
    iAssert (□ [∗ list] s ∈ ss, ∃ v, own_value b s v)%I as "#Hss".
    { iIntros "!>". iApply big_sepL_intro. iIntros "!>" (j s Hs).
      destruct (lookup_lt_is_Some_2 (pg_cells pg1) j) as [c Hc]; [rewrite -Hss; by eapply lookup_lt_Some|].
      iDestruct (big_sepL2_lookup with "Hcells") as "[H _]"; [done..|]. by iExists _. }
    wp_load. wp_apply (wp_page__weight with "[$Hsv $Hvalues $Hss]"); [lia|]. iIntros (w1) "[Hsv Hvalues]". wp_pures.
    wp_load. wp_pures. rewrite (wrap_id I64 (k + 1)); [|int_solve].
    wp_apply (wp_page__weight with "[$Hsv $Hvalues $Hss]"); [lia|]. iIntros (w2) "[Hsv Hvalues]". wp_pures.
    (* a value that is not nil *)
    wp_bind (If _ _ _).
    iApply (wpe_wand _ _ _ (λ _, ∃ s, vl ↦[b] slice_val s ∗ own_value b s (Some v))%I with "[Hvl]").
    { wp_load. wp_pures. case_bool_decide as Hnil; wp_pures; last first.
      { iExists sv. iFrame. iSplit; [iPureIntro; congruence|done]. }
      wp_apply (wp_make_empty with "[//]"). iIntros (l) "_". wp_store. wp_pures.
      iExists (Slice (LitLoc l) 0 0). iFrame. iSplit; [done|].
      iDestruct (own_slice_wf with "Hbytes") as %[(Hl1 & Hl2 & Hl3) Hl]. rewrite Hnil in Hl3.
      rewrite fmap_length in Hl. destruct v; [|simpl in Hl; lia].
      rewrite /own_bytes /own_slice.
      iSplit; [iPureIntro; rewrite /slice_wf /max_elems /=; lia|]. iSplit; [done|]. by rewrite /slice_cells /own_block /=. }
    iIntros (_v) "(%s & Hvl & #Hv)". wp_pures. wp_load. wp_load. wp_load.
    destruct (lookup_lt_is_Some_2 ss (Z.to_nat k)) as [s0 Hs0]; [lia|].
    wp_apply (wp_slice_set with "Hvalues"); [rewrite fmap_length; lia|done|]. iIntros "Hvalues".
    rewrite -list_fmap_insert. wp_pures.
    iAssert (□ [∗ list] s ∈ <[Z.to_nat k := s]> ss, ∃ v, own_value b s v)%I as "#Hss'".
    { iIntros "!>". iApply big_sepL_intro. iIntros "!>" (j s' [(_ & <- & _)|[_ Hs']]%list_lookup_insert_Some).
      - by iExists _.
      - by iDestruct (big_sepL_lookup with "Hss") as "$". }
    wp_load. wp_apply (wp_page__weight with "[$Hsv $Hvalues $Hss']"); [lia|]. iIntros (w3) "[Hsv Hvalues]". wp_pures.
    wp_load. wp_pures. rewrite (wrap_id I64 (k + 1)); [|int_solve].
    wp_apply (wp_page__weight with "[$Hsv $Hvalues $Hss']"); [lia|]. iIntros (w4) "[Hsv Hvalues]". wp_pures.
    wp_load. wp_pures. wp_store. wp_pures. wp_load.
    wp_apply (wp_page__slot with "[$Hsv $Hsl $Hst $Hvalues $Hslots $Hballots]").
    { rewrite insert_length. lia. }
    { rewrite insert_length. lia. }
    { rewrite insert_length. lia. }
    { done. }
    { intros j s' n [(<- & _)|[_ Hs']]%list_lookup_insert_Some Hne Hp Hn; [done|].
      destruct (lookup_lt_is_Some_2 (pg_cells pg1) j) as [c Hc]; [rewrite -Hss; by eapply lookup_lt_Some|].
      destruct (Hsays _ _ _ Hs' Hc) as [Hnil Hslot]. destruct c as [[y w]|]; [|naive_solver].
      destruct (Hslot y w eq_refl) as (n' & Hn' & Hr & _). by simplify_eq. }
    iIntros (n st' table') "((%Hn & %Hnx & %Htable') & %Hkeep & Hsv & Hsl & Hst & Hvalues & Hslots & Hballots)". wp_pures.
    wp_load. wp_load. wp_apply (wp_bytes_set with "Hslots"); [lia|]. iIntros "Hslots".
    iApply ("HΦ" $! (with_value pg1 i x v)). iSplitL; last first.
    { iPureIntro. split; [done|]. intros j Hj. rewrite with_value_held //. by rewrite Hheld. }
    iExists sp, vals, sl, st', (<[Z.to_nat k := s]> ss), (<[Z.to_nat k := n]> slots), table', _.
    iFrame "Hnumber Hfirst Hsp Hsv Hsl Hst Hmem Hruns Hvalues Hroom Hslots Hslotsroom Hballots".
    iSplit; [iPureIntro; by apply with_value_ok|]. do 2 (iSplit; [done|]).
    iSplit; [iPureIntro; by rewrite /= !insert_length|].
    iApply big_sepL2_intro; [by rewrite /= !insert_length|]. iIntros "!>" (j s' c' Hs' Hc'). simpl in Hc'. fold k in Hc'.
    destruct (decide (j = Z.to_nat k)) as [->|Hj].
    - rewrite list_lookup_insert in Hs'; [|lia]. rewrite list_lookup_insert in Hc'; [|lia]. simplify_eq. iFrame "Hv".
      iPureIntro. intros y w [= <- <-]. exists n. rewrite list_lookup_insert; [done|lia].
    - rewrite list_lookup_insert_ne // in Hs'. rewrite list_lookup_insert_ne // in Hc'.
      iDestruct (big_sepL2_lookup with "Hcells") as "[$ _]"; [done..|]. iPureIntro. intros y w ->.
      destruct (Hsays _ _ _ Hs' Hc') as [Hnil Hslot]. destruct (Hslot y w eq_refl) as (n' & Hn' & Hr & Hy).
      exists n'. rewrite list_lookup_insert_ne //. split; [done|]. split; [done|].
      eapply (Hkeep j s' n' y); [by rewrite list_lookup_insert_ne|done| |done|done]. naive_solver.
  Qed.
End accept.

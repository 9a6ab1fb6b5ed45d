(** * Reading a page: accepted and promised *)
From iris.proofmode Require Import environments.
From ashlar.worm.acceptor Require Export page.
Local Open Scope Z_scope.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_page.

Section read.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (p : loc) (pg : page) (s : slice) (Φ : val → iProp Σ).
  Local Notation Page := paxos.page.

  (** The ballot that is given with a value, and with none. *)
  Definition held_ballot (c : option (ballot * list Z)) : ballot := from_option fst zero_ballot c.

  Lemma wp_page__accepted b p pg (i : Z) : 0 ≤ i < page_size →
    {{{ own_page b p pg }}}
      paxos.page__accepted #p #(int i) @ b; ⊤
    {{{ s, RET (ballot_val (held_ballot (held pg i)), slice_val s);
        own_page b p pg ∗ own_value b s (snd <$> held pg i) }}}.
  Proof.
    iIntros (Hi Φ) "Hp HΦ". iDestruct (own_page_ok with "Hp") as %Hok.
    iDestruct (own_page_window with "Hp") as (sv sl st ss slots table) "(#Hcells & Hfirst & Hsv & Hsl & Hst & Hvalues & Hslots & Hballots & Hclose)".
    pose proof (window_ok _ Hok) as [Hfirst0 Hwindow].
    iDestruct (own_cells_length with "Hcells") as %[Hss Hslotslen].
    iDestruct (own_slice_length with "Hvalues") as %[Hlen _]. rewrite fmap_length Hss in Hlen.
    wp_rec. wp_alloc l as "Hl". wp_load. wp_load. wp_pures.
    rewrite (wrap_id I64 (pg_first pg)); [|int_solve]. rewrite wrap_id; [|int_solve]. wp_store. wp_load. wp_pures.
    rewrite /held. case_bool_decide as Hge; wp_pures; last first.
    { rewrite decide_False; [|lia]. iApply ("HΦ" $! nil_slice). iSplitL; [|by simpl].
      iApply ("Hclose" with "Hfirst Hsv Hsl Hst Hvalues Hslots Hballots"). }
    rewrite decide_True; [|lia]. wp_load. wp_load. wp_pures. rewrite Hlen.
    case_bool_decide as Hlt; wp_pures; last first.
    { rewrite lookup_ge_None_2; [|lia]. iApply ("HΦ" $! nil_slice). iSplitL; [|by simpl].
      iApply ("Hclose" with "Hfirst Hsv Hsl Hst Hvalues Hslots Hballots"). }
    set (k := i - pg_first pg) in *.
    destruct (lookup_lt_is_Some_2 ss (Z.to_nat k)) as [s Hs]; [lia|].
    destruct (lookup_lt_is_Some_2 (pg_cells pg) (Z.to_nat k)) as [c Hc]; [lia|].
    iDestruct (own_cells_lookup with "Hcells") as "[Hv %Hslot]"; [done..|].
    iDestruct (own_value_nil with "Hv") as %Hnil.
    wp_load. wp_load. wp_apply (wp_slice_get with "Hvalues"); [lia|by rewrite list_lookup_fmap Hs|]. iIntros "Hvalues".
    wp_pures. rewrite Hc /=. destruct c as [[x v]|]; simpl in *; last first.
    { rewrite bool_decide_true; [|by rewrite (proj2 Hnil)]. simpl. wp_pures.
      iApply ("HΦ" $! nil_slice). iSplitL; [|by simpl].
      iApply ("Hclose" with "Hfirst Hsv Hsl Hst Hvalues Hslots Hballots"). }
    rewrite bool_decide_false; [|intros [= Hp]; by apply Hnil in Hp]. simpl. wp_pures.
    destruct (Hslot x v eq_refl) as (n & Hn & Hnr & Hx).
    wp_load. wp_load. wp_apply (wp_slice_get with "Hvalues"); [lia|by rewrite list_lookup_fmap Hs|]. iIntros "Hvalues".
    wp_load. wp_load. wp_apply (wp_bytes_get with "Hslots"); [lia|done|]. iIntros "Hslots".
    wp_load. wp_apply (wp_slice_get with "Hballots"); [lia|by rewrite list_lookup_fmap Hx|]. iIntros "Hballots". wp_pures.
    iApply ("HΦ" $! s). iSplitL; [|by iFrame "Hv"].
    iApply ("Hclose" with "Hfirst Hsv Hsl Hst Hvalues Hslots Hballots").
  Qed.

  Lemma wp_page__promised b p pg (i : Z) : 0 ≤ i < page_size →
    {{{ own_page b p pg }}}
      paxos.page__promised #p #(int i) @ b; ⊤
    {{{ RET (ballot_val (promise_of pg i)); own_page b p pg }}}.
  Proof.
    iIntros (Hi Φ) "Hp HΦ". iDestruct (own_page_ok with "Hp") as %Hok. wp_rec. wp_pures.
    wp_apply (wp_page__granted with "Hp"); [int_solve|]. iIntros "Hp". wp_pures.
    wp_apply (wp_page__accepted with "Hp"); [done|]. iIntros (s) "[Hp #Hv]". wp_pures.
    iDestruct (own_value_nil with "Hv") as %Hnil. rewrite /promise_of.
    pose proof (granted_ok pg i Hok) as Hg.
    destruct (held pg i) as [[y v]|] eqn:Hh; simpl in *; last first.
    { rewrite bool_decide_true; [|by rewrite (proj2 Hnil)]. simpl. wp_pures. by iApply "HΦ". }
    rewrite bool_decide_false; [|intros [= Hs]; by apply Hnil in Hs]. simpl. wp_pures.
    pose proof (held_ok _ _ _ _ Hok Hh) as Hy.
    wp_apply (wp_Ballot__Less with "[//]"); [done..|]. iIntros "_".
    case_bool_decide; wp_pures; [rewrite decide_True //|rewrite decide_False //]; by iApply "HΦ".
  Qed.
End read.

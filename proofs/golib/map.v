(** * Maps

    [own_map b m kv gm]: the Go map [m] holds the entries of [gm]; [kv] gives the
    Go value of a key.  A nil map can be read as the empty one.  A range over a
    map takes the map for as long as it lasts, and meets the entries in any order. *)
From ashlar.golib Require Export memory mapval.
Local Open Scope Z_scope.

Section map.
  Context `{!golangGS Σ}.
  Context {K : Type} `{Countable K} (kv : K → val) `{!KeyVal kv}.
  Implicit Types (Φ : val → iProp Σ) (b : boot) (m : loc) (gm : gmap K val) (k : K) (v zero : val).

  Definition own_map b (dq : dfrac) m gm : iProp Σ :=
    ∃ l, ⌜entries_of l gm⌝ ∗ m ↦[b]{dq} map_val kv l.
  Global Instance own_map_timeless b dq m gm : Timeless (own_map b dq m gm).
  Proof. apply _. Qed.

  Lemma wp_new_map b E :
    {{{ True }}} new_map #() @ b; E {{{ m, RET #m; own_map b (DfracOwn 1) m ∅ }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_pures.
    iApply (wpe_alloc _ _ 1 [map_val kv []]); [done|]. iIntros "!>" (m) "Hm". iApply "HΦ".
    iExists []. iSplit; [iPureIntro; apply entries_of_nil|].
    rewrite /array /= loc_add_0. by iDestruct "Hm" as "[$ _]".
  Qed.

  Lemma wp_map_value b E m dq gm :
    {{{ own_map b dq m gm }}}
      map_value #m @ b; E
    {{{ l, RET map_val kv l; ⌜entries_of l gm⌝ ∗ own_map b dq m gm }}}.
  Proof.
    iIntros (Φ) "(%l & %Hl & Hm) HΦ". wp_rec. wp_pures.
    wp_load. wp_pures. iApply "HΦ". iSplit; [done|]. iExists l. by iFrame.
  Qed.
  Lemma wp_map_value_nil b E :
    {{{ True }}} map_value #null @ b; E {{{ RET map_val kv []; True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_pures. by iApply "HΦ".
  Qed.

  (** [v, ok := m[k]] *)
  Definition get2_val zero (o : option val) : val :=
    match o with Some v => (v, #true)%V | None => (zero, #false)%V end.
  Lemma map_get_eval l k : bin_op_eval MapGetOp (map_val kv l) (kv k) = map_get (map_val kv l) (kv k).
  Proof. destruct l; [by destruct (kv k) as [[]| | | |]|done]. Qed.
  Lemma map_set_eval l k v :
    bin_op_eval MapSetOp (map_val kv l) (kv k, v)%V = map_set (map_val kv l) (kv k) v.
  Proof. by destruct l. Qed.
  Lemma map_del_eval l k : bin_op_eval MapDelOp (map_val kv l) (kv k) = map_del (map_val kv l) (kv k).
  Proof. destruct l; [by destruct (kv k) as [[]| | | |]|done]. Qed.
  Lemma map_get_pure b E l gm k Φ : entries_of l gm →
    ▷ Φ (option_val (gm !! k)) -∗ WP BinOp MapGetOp (map_val kv l) (kv k) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hl) "HΦ". iApply (wpe_pure _ _ []).
    { constructor. rewrite map_get_eval. by apply map_get_spec. }
    iNext. by iApply wpe_value.
  Qed.
  Lemma wp_map_get2 b E m dq gm zero k :
    {{{ own_map b dq m gm }}}
      map_get2 zero #m (kv k) @ b; E
    {{{ RET get2_val zero (gm !! k); own_map b dq m gm }}}.
  Proof.
    iIntros (Φ) "Hm HΦ". wp_rec. wp_pures. wp_apply (wp_map_value with "Hm").
    iIntros (l) "[%Hl Hm]". wp_bind (BinOp _ _ _). iApply map_get_pure; [done|]. iNext.
    iSpecialize ("HΦ" with "Hm").
    destruct (gm !! k) as [v|]; simpl; wp_pures; done.
  Qed.
  Lemma wp_map_get2_nil b E zero k :
    {{{ True }}} map_get2 zero #null (kv k) @ b; E {{{ RET (zero, #false); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_pures. wp_apply (wp_map_value_nil with "[//]"). iIntros "_".
    wp_bind (BinOp _ _ _). iApply (map_get_pure _ _ _ ∅); [apply entries_of_nil|]. iNext.
    rewrite lookup_empty. simpl. wp_pures. by iApply "HΦ".
  Qed.
  (** [m[k]] *)
  Lemma wp_map_get1 b E m dq gm zero k :
    {{{ own_map b dq m gm }}}
      map_get1 zero #m (kv k) @ b; E
    {{{ RET (default zero (gm !! k)); own_map b dq m gm }}}.
  Proof.
    iIntros (Φ) "Hm HΦ". wp_rec. wp_pures. wp_apply (wp_map_get2 with "Hm"). iIntros "Hm".
    iSpecialize ("HΦ" with "Hm"). destruct (gm !! k); simpl; wp_pures; done.
  Qed.

  (** [m[k] = v], [delete(m, k)], [len(m)] *)
  Lemma wp_map_insert b E m gm k v :
    {{{ own_map b (DfracOwn 1) m gm }}}
      map_insert #m (kv k) v @ b; E
    {{{ RET #(); own_map b (DfracOwn 1) m (<[k := v]> gm) }}}.
  Proof.
    iIntros (Φ) "(%l & %Hl & Hm) HΦ". wp_rec. wp_pures. wp_load. wp_pures.
    wp_bind (BinOp _ _ _). iApply (wpe_pure _ _ []).
    { constructor. rewrite map_set_eval. by apply map_set_spec. }
    iNext. iApply wpe_value. simpl. wp_pures.
    wp_bind (Eff _ _). iApply (wpe_prepare_write with "Hm"). iIntros "!> Hm". wp_pures.
    iApply (wpe_finish_store with "Hm"). iIntros "!> Hm". iApply "HΦ".
    iExists _. iFrame. iPureIntro. by apply entries_of_insert.
  Qed.
  Lemma wp_map_delete b E m gm k :
    {{{ own_map b (DfracOwn 1) m gm }}}
      map_delete #m (kv k) @ b; E
    {{{ RET #(); own_map b (DfracOwn 1) m (delete k gm) }}}.
  Proof.
    iIntros (Φ) "(%l & %Hl & Hm) HΦ". wp_rec. wp_pures.
    wp_load. wp_pures.
    wp_bind (BinOp _ _ _). iApply (wpe_pure _ _ []).
    { constructor. rewrite map_del_eval. by apply map_del_spec. }
    iNext. iApply wpe_value. simpl. wp_pures.
    wp_bind (Eff _ _). iApply (wpe_prepare_write with "Hm"). iIntros "!> Hm". wp_pures.
    iApply (wpe_finish_store with "Hm"). iIntros "!> Hm". iApply "HΦ".
    iExists _. iFrame. iPureIntro. by apply entries_of_delete.
  Qed.
  Lemma wp_map_len b E m dq gm :
    {{{ own_map b dq m gm }}} map_len #m @ b; E {{{ RET #(int (size gm)); own_map b dq m gm }}}.
  Proof.
    iIntros (Φ) "Hm HΦ". wp_rec. wp_apply (wp_map_value with "Hm"). iIntros (l) "[%Hl Hm]".
    iApply (wpe_pure _ _ []).
    { constructor. simpl. by rewrite map_entries_spec. }
    iNext. rewrite fmap_length (entries_of_length _ _ Hl). iApply wpe_value. by iApply "HΦ".
  Qed.

  (** ** Range

      [I done]: what holds when the entries of [done] have been met.  The body
      meets an entry that is left, and its outcome says how to go on; the map is
      not available to it. *)
  Local Lemma wp_map_range_loop (I : gmap K val → iProp Σ) (Q : val → iProp Σ) b E (body : val) gm l dn Φ :
    let loop : val := (rec: "loop" "l" :=
         match: "l" with
           InjL <> => go_on
         | InjR "c" =>
           match: body (Fst (Fst "c")) (Snd (Fst "c")) with
             InjL <> => "loop" (Snd "c")
           | InjR "l" =>
             match: "l" with
               InjL "b" => if: "b" then go_on else "loop" (Snd "c")
             | InjR "v" => InjR (InjR "v")
             end
           end
         end)%V in
    NoDup l.*1 → dn ##ₘ list_to_map l → gm = dn ∪ list_to_map l →
    I dn -∗
    □ (∀ dn k v, ⌜dn ⊆ gm⌝ -∗ ⌜dn !! k = None⌝ -∗ ⌜gm !! k = Some v⌝ -∗ I dn -∗
       WP body (kv k) v @ b; E {{ o,
         (⌜o = go_on ∨ o = continue⌝ ∗ I (<[k := v]> dn)) ∨
         (⌜o = break⌝ ∗ Q go_on) ∨
         (∃ r, ⌜o = InjRV (InjRV r)⌝ ∗ Q (InjRV (InjRV r))) }}) -∗
    ((I gm -∗ Q go_on) ∧ True) -∗
    (∀ o, Q o -∗ Φ o) -∗
    WP loop (map_val kv l) @ b; E {{ Φ }}.
  Proof.
    iIntros (loop Hnd Hdisj Hgm) "HI #Hbody Hend HΦ".
    iInduction l as [|[k v] l] "IH" forall (dn Hnd Hdisj Hgm); wp_rec.
    { rewrite /map_val /=. wp_pures. iApply "HΦ". simpl in Hgm. rewrite right_id_L in Hgm.
      rewrite Hgm. by iApply "Hend". }
    simpl in *. apply NoDup_cons in Hnd as [Hk Hnd].
    apply map_disjoint_insert_r in Hdisj as [Hkdn Hdisj].
    change (map_val kv ((k, v) :: l)) with (InjRV (((kv k, v), map_val kv l)))%V. wp_pures.
    wp_bind (body _ _). iApply (wpe_wand with "(Hbody [] [] [] HI)").
    { iPureIntro. rewrite Hgm. by apply map_union_subseteq_l. }
    { done. }
    { iPureIntro. rewrite Hgm. rewrite lookup_union_r //. by rewrite lookup_insert. }
    assert (<[k:=v]> dn ##ₘ list_to_map l) as Hdisj'.
    { apply map_disjoint_insert_l. split; [|done]. by apply not_elem_of_list_to_map_1. }
    assert (gm = <[k:=v]> dn ∪ list_to_map l) as Hgm'.
    { rewrite Hgm. rewrite -insert_union_l -insert_union_r //. }
    iIntros (o) "[[%Ho HI]|[[-> HQ]|(%r & -> & HQ)]]".
    - assert (o = InjLV #() ∨ o = InjRV (InjLV #false)) as [-> | ->] by exact Ho; wp_pures;
        iApply ("IH" with "[//] [//] [//] HI Hend HΦ").
    - wp_pures. by iApply "HΦ".
    - wp_pures. by iApply "HΦ".
  Qed.
  Lemma wp_map_range (I : gmap K val → iProp Σ) (Q : val → iProp Σ) b E m (body : val) gm Φ :
    own_map b (DfracOwn 1) m gm -∗
    I ∅ -∗
    □ (∀ dn k v, ⌜dn ⊆ gm⌝ -∗ ⌜dn !! k = None⌝ -∗ ⌜gm !! k = Some v⌝ -∗ I dn -∗
       WP body (kv k) v @ b; E {{ o,
         (⌜o = go_on ∨ o = continue⌝ ∗ I (<[k := v]> dn)) ∨
         (⌜o = break⌝ ∗ Q go_on) ∨
         (∃ r, ⌜o = InjRV (InjRV r)⌝ ∗ Q (InjRV (InjRV r))) }}) -∗
    (I gm -∗ Q go_on) -∗
    (∀ o, own_map b (DfracOwn 1) m gm -∗ Q o -∗ Φ o) -∗
    WP map_range #m body @ b; E {{ Φ }}.
  Proof.
    iIntros "(%l & %Hl & Hm) HI #Hbody Hend HΦ". wp_rec. wp_pures.
   
    wp_bind (Eff StartReadOp _). iApply (wpe_start_read with "Hm"). iIntros "!> Hm". simpl.
    wp_bind (UnOp _ _). iApply (wpe_pure _ _ []).
    { constructor. simpl. by rewrite map_entries_spec. }
    iNext. iApply wpe_value. simpl. wp_bind (Eff PermuteOp _). rewrite {2}/map_val.
    iApply wpe_permute. iIntros "!>" (vs Hvs). apply map_entries_permute in Hvs as (l' & Hll' & ->).
    pose proof (entries_of_perm _ _ _ Hl Hll') as [Hnd Hgm].
    do 3 wp_pure.
    lazymatch goal with |- context [App (Val ?f) (Val (list_val _))] => wp_bind (App (Val f) _) end.
    iApply (wp_map_range_loop I Q _ _ body gm l' ∅ with "HI Hbody [Hend]").
    { done. }
    { apply map_disjoint_empty_l. }
    { by rewrite left_id_L. }
    { by iSplit. }
    iIntros (o) "HQ". wp_pures. wp_bind (Eff _ _).
    iApply (wpe_finish_read with "Hm"). iIntros "!> Hm". wp_pures.
    iApply ("HΦ" with "[Hm] HQ"). iExists l. by iFrame.
  Qed.
End map.

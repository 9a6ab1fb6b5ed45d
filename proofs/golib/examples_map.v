(** * A small program on a map, to show how the rules are used *)
From ashlar.golib Require Import map.
Local Open Scope Z_scope.

Definition count_map : val :=
  λ: <>,
    let: "m" := new_map #() in
    map_insert "m" #(u64 1) #(u64 10);;
    map_insert "m" #(u64 2) #(u64 20);;
    map_insert "m" #(u64 1) #(u64 11);;
    map_delete "m" #(u64 3);;
    let: "sum" := ref uint64T #(u64 0) in
    map_range "m" (λ: "k" "v", "sum" <-[uint64T] ![uint64T] "sum" + "v";; go_on);;
    (![uint64T] "sum", map_len "m").

Section examples.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot).

  (** What the entries that a range has met add up to. *)
  Definition part (dn : gmap Z val) (k x : Z) : Z := if dn !! k then x else 0.
  Lemma wp_count_map b :
    {{{ True }}} count_map #() @ b; ⊤ {{{ RET (#(u64 31), #(int 2)); True }}}.
  Proof.
    iIntros (Φ) "_ HΦ". wp_rec. wp_apply (wp_new_map u64_key with "[//]"). iIntros (m) "Hm". wp_pures.
    wp_apply (wp_map_insert u64_key with "Hm"). iIntros "Hm". wp_pures.
    wp_apply (wp_map_insert u64_key _ _ _ _ 2 with "Hm"). iIntros "Hm". wp_pures.
    wp_apply (wp_map_insert u64_key _ _ _ _ 1 with "Hm"). iIntros "Hm". wp_pures.
    wp_apply (wp_map_delete u64_key _ _ _ _ 3 with "Hm"). iIntros "Hm". wp_pures.
    wp_alloc sum as "Hsum". wp_pures.
    set (gm := delete 3 _) at 1.
    assert (gm = {[1 := #(u64 11); 2 := #(u64 20)]}) as ->.
    { rewrite /gm (insert_commute _ 2 1) // insert_insert. by apply delete_notin. }
    wp_apply (wp_map_range u64_key
      (λ dn, ∃ n, sum ↦[b] #(u64 n) ∗ ⌜n = (part dn 1 11 + part dn 2 20)%Z⌝)%I
      (λ o, ⌜o = go_on⌝ ∗ sum ↦[b] #(u64 31))%I with "Hm [Hsum] [] []").
    - iExists 0. by iFrame.
    - iIntros "!>" (dn k v _ Hdn Hk) "(%n & Hsum & %Hn)". wp_pures.
      assert (0 ≤ part dn 1 11 ≤ 11 ∧ 0 ≤ part dn 2 20 ≤ 20).
      { rewrite /part. destruct (dn !! 1), (dn !! 2); lia. }
      assert (∃ x, v = #(u64 x) ∧ 0 ≤ x ≤ 20 ∧
        n + x = part (<[k := v]> dn) 1 11 + part (<[k := v]> dn) 2 20) as (x & -> & Hx & Hnx).
      { rewrite /part in Hn |- *. apply lookup_insert_Some in Hk as [[<- <-]|[Hne Hk]].
        - exists 11. rewrite lookup_insert lookup_insert_ne //. rewrite Hdn in Hn. split_and!; [done|lia..].
        - apply lookup_singleton_Some in Hk as [<- <-].
          exists 20. rewrite lookup_insert lookup_insert_ne //. rewrite Hdn in Hn. split_and!; [done|lia..]. }
      wp_load. wp_store. wp_pures. rewrite_wrap. iLeft. iSplit; [by iLeft|].
      iExists (n + x). by iFrame.
    - iIntros "(%n & Hsum & %Hn)". iSplit; [done|]. rewrite Hn. iFrame.
    - iIntros (o) "Hm [-> Hsum]". wp_pures. wp_apply (wp_map_len with "Hm"). iIntros "Hm".
      wp_load. wp_pures. by iApply "HΦ".
  Qed.
End examples.

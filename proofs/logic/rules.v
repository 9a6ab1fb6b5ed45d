(** * Rules of the effects *)
From ashlar.logic Require Export wp.

(** ** Fresh cells *)
Lemma lookup_cells_Some l vs k c :
  cells l vs !! k = Some c → ∃ (i : nat) v, k = l +ₗ i ∧ vs !! i = Some v ∧ c = Reading 0 v.
Proof.
  revert l. induction vs as [|v vs IH]; intros l; simpl; [by rewrite lookup_empty|].
  intros [[<- <-]|[Hne (i & w & -> & Hi & ->)%IH]]%lookup_insert_Some.
  - exists 0, v. rewrite loc_add_0. done.
  - exists (S i), w. rewrite loc_add_assoc. split; [f_equal; lia|done].
Qed.
Lemma cells_fresh l vs : cells (l +ₗ 1) vs !! l = None.
Proof.
  apply eq_None_not_Some. intros [c (i & v & Hl & _)%lookup_cells_Some].
  destruct l as [l]. rewrite /loc_add /= in Hl. injection Hl. lia.
Qed.
Lemma cells_disjoint h l vs : free_at h l (length vs) → cells l vs ##ₘ h.
Proof.
  intros Hfree. apply map_disjoint_spec. intros k c1 c2 (i & v & -> & Hi & _)%lookup_cells_Some.
  rewrite Hfree; [done|]. apply lookup_lt_Some in Hi. lia.
Qed.
Lemma free_exists (h : gmap loc cell) n : ∃ l, free_at h l n.
Proof.
  exists (fresh_locs (dom h)). intros i Hi. apply not_elem_of_dom, fresh_locs_fresh. lia.
Qed.

Lemma concat_replicate_length {A} n (l : list A) : length (concat (replicate n l)) = n * length l.
Proof. induction n as [|n IH]; simpl; [done|]. rewrite app_length IH. lia. Qed.

Section rules.
  Context `{!golangGS Σ}.
  Implicit Types Φ Ψ : val → iProp Σ.
  Implicit Types b : boot.

  (** Consecutive cells. *)
  Definition array b (l : loc) (dq : dfrac) (vs : list val) : iProp Σ :=
    [∗ list] i ↦ v ∈ vs, pointsto b (l +ₗ (i : nat)) dq v.

  (** ** The memory of a node *)
  Lemma heap_lookup b ns l dq c : epoch ns = b_epoch b →
    heap_interp (b_node b) ns -∗ heap_cell b l dq c -∗ ⌜heap ns !! l = Some c⌝.
  Proof.
    iIntros (Hep) "(%hm & %Hok & Hh) Hl". iDestruct (ghost_map_lookup with "Hh Hl") as %Hl.
    iPureIntro. rewrite -(proj1 Hok) Hep. done.
  Qed.
  Lemma heap_ok_insert ep h d hm l c :
    heap_ok (NodeState ep h d) hm → heap_ok (NodeState ep (<[l:=c]> h) d) (<[(ep, l):=c]> hm).
  Proof.
    intros [Hok1 Hok2]. split; simpl in *.
    - intros l'. destruct (decide (l = l')) as [->|]; [by rewrite !lookup_insert|].
      rewrite !lookup_insert_ne; [apply Hok1|done|congruence].
    - intros ep' l' ?. rewrite lookup_insert_ne; [by apply Hok2|intros [=]; lia].
  Qed.
  Lemma heap_update b h d l c c2 :
    heap_interp (b_node b) (NodeState (b_epoch b) h d) -∗ heap_cell b l (DfracOwn 1) c ==∗
    heap_interp (b_node b) (NodeState (b_epoch b) (<[l:=c2]> h) d) ∗ heap_cell b l (DfracOwn 1) c2.
  Proof.
    iIntros "(%hm & %Hok & Hh) Hl". iMod (ghost_map_update c2 with "Hh Hl") as "[Hh $]".
    iModIntro. iExists _. iFrame. iPureIntro. by apply heap_ok_insert.
  Qed.
  Lemma heap_alloc b h d l vs : free_at h l (length vs) →
    heap_interp (b_node b) (NodeState (b_epoch b) h d) ==∗
    heap_interp (b_node b) (NodeState (b_epoch b) (cells l vs ∪ h) d) ∗ array b l (DfracOwn 1) vs.
  Proof.
    revert l. induction vs as [|v vs IH]; intros l; iIntros (Hfree) "Hh"; simpl.
    { rewrite left_id_L. iFrame. by rewrite /array big_sepL_nil. }
    iMod (IH (l +ₗ 1) with "Hh") as "[(%hm & %Hok & Hh) Hvs]".
    { intros i Hi. rewrite loc_add_assoc. apply Hfree. simpl. lia. }
    iMod (ghost_map_insert (b_epoch b, l) (Reading 0 v) with "Hh") as "[Hh Hl]".
    { rewrite (proj1 Hok) /=. apply lookup_union_None. split; [apply cells_fresh|].
      rewrite -(loc_add_0 l). apply Hfree. simpl. lia. }
    iModIntro. iSplitL "Hh".
    - rewrite -insert_union_l. iExists _. iFrame. iPureIntro. by apply heap_ok_insert.
    - rewrite /array big_sepL_cons loc_add_0. iFrame "Hl".
      iApply (big_sepL_impl with "Hvs"). iIntros "!>" (k w _) "H".
      rewrite loc_add_assoc. by replace (1 + k)%Z with (S k : Z) by lia.
  Qed.

  (** An effect on memory only. *)
  Lemma wpe_lift_mem b E op v Φ :
    (∀ h d, heap_interp (b_node b) (NodeState (b_epoch b) h d) ={E}=∗
       ⌜∃ w h', mem_step op v h w h'⌝ ∗
       ▷ ∀ w h', ⌜mem_step op v h w h'⌝ ={E}=∗
         heap_interp (b_node b) (NodeState (b_epoch b) h' d) ∗ Φ w) -∗
    WP Eff op (Val v) @ b; E {{ Φ }}.
  Proof.
    iIntros "H". iApply wpe_lift_eff; [done|].
    iIntros ([ep h d] t Hep) "(Hcur & Hh & Hd & Hb) Ht". simpl in Hep. subst ep.
    iMod ("H" with "Hh") as "[%Hred H]". iModIntro. iSplit.
    { iPureIntro. destruct Hred as (w & h' & Hs). do 4 eexists. by apply MemS. }
    iNext. iIntros (w ns' t' efs Hs). inversion Hs; subst.
    - iMod ("H" with "[//]") as "[Hh HΦ]". iModIntro. iFrame. simpl. done.
    - destruct Hred as (?&?&Hm). exfalso. match goal with H : choose_step _ _ _ |- _ => destruct H; inversion Hm end.
    - destruct Hred as (?&?&Hm). inversion Hm.
    - destruct Hred as (?&?&Hm). inversion Hm.
  Qed.

  Lemma wpe_alloc b E (n : Z) vs Φ : (0 ≤ n)%Z →
    ▷ (∀ l, array b l (DfracOwn 1) (concat (replicate (Z.to_nat n) vs)) -∗ Φ #l) -∗
    WP Eff AllocOp (Val (#(int n), list_val vs)) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hn) "HΦ". iApply wpe_lift_mem. iIntros (h d) "Hh".
    destruct (free_exists h (Z.to_nat n * length vs)) as [l0 Hl0]. iModIntro. iSplit.
    { iPureIntro. do 2 eexists. eapply AllocS; [done|apply val_list_val|done]. }
    iNext. iIntros (w h' Hs). inversion Hs; simplify_eq.
    match goal with H : val_list _ = Some _ |- _ => rewrite val_list_val in H; injection H as <- end.
    iMod (heap_alloc with "Hh") as "[$ Hl]".
    { by rewrite concat_replicate_length. }
    iModIntro. by iApply "HΦ".
  Qed.
  Lemma wpe_alloc_bytes b E s Φ :
    ▷ (∀ l, array b l (DfracOwn 1) (byte_val <$> s) -∗ Φ #l) -∗
    WP Eff AllocBytesOp (Val #(LitStr s)) @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". iApply wpe_lift_mem. iIntros (h d) "Hh".
    destruct (free_exists h (length s)) as [l0 Hl0]. iModIntro. iSplit.
    { iPureIntro. do 2 eexists. by apply AllocBytesS. }
    iNext. iIntros (w h' Hs). inversion Hs; simplify_eq.
    iMod (heap_alloc with "Hh") as "[$ Hl]". { by rewrite fmap_length. }
    iModIntro. by iApply "HΦ".
  Qed.
  Lemma wpe_load b E l dq v Φ :
    ▷ l ↦[b]{dq} v -∗ ▷ (l ↦[b]{dq} v -∗ Φ v) -∗ WP Eff LoadOp (Val #l) @ b; E {{ Φ }}.
  Proof.
    iIntros ">Hl HΦ". iApply wpe_lift_mem. iIntros (h d) "Hh".
    iDestruct (heap_lookup with "Hh Hl") as %Hl; [done|]. simpl in Hl. iModIntro. iSplit.
    { iPureIntro. do 2 eexists. by eapply LoadS. }
    iNext. iIntros (w h' Hs). inversion Hs; simplify_eq. iModIntro. iFrame. by iApply "HΦ".
  Qed.
  Lemma wpe_load_bytes b E l dq s Φ :
    ▷ array b l dq (byte_val <$> s) -∗ ▷ (array b l dq (byte_val <$> s) -∗ Φ #(LitStr s)) -∗
    WP Eff LoadBytesOp (Val (#l, #(int (length s)))) @ b; E {{ Φ }}.
  Proof.
    iIntros ">Hl HΦ". iApply wpe_lift_mem. iIntros (h d) "Hh".
    iAssert ⌜∀ (i : nat) x, s !! i = Some x → h !! (l +ₗ i) = Some (Reading 0 (byte_val x))⌝%I
      with "[Hh Hl]" as %Hs.
    { iIntros (i x Hi). iApply (heap_lookup b (NodeState (b_epoch b) h d) with "Hh [Hl]"); [done|].
      iApply (big_sepL_lookup with "Hl"). by rewrite list_lookup_fmap Hi. }
    iModIntro. iSplit.
    { iPureIntro. do 2 eexists. apply LoadBytesS; [lia|by rewrite Nat2Z.id|]. eauto. }
    iNext. iIntros (w h' Hstep). inversion Hstep; simplify_eq. iModIntro. iFrame.
    match goal with H : length ?s1 = Z.to_nat _ |- _ => assert (s1 = s) as ->; [|by iApply "HΦ"] end.
    apply list_eq_same_length with (n := length s); [done|lia|].
    intros i x y Hi Hx Hy. specialize (Hs _ _ Hy).
    match goal with H : context [ex _] |- _ => destruct (H _ _ Hx) as [? Hx'] end.
    rewrite Hs in Hx'. injection Hx'. done.
  Qed.
  Lemma wpe_prepare_write b E l v Φ :
    ▷ l ↦[b] v -∗ ▷ (heap_cell b l (DfracOwn 1) Writing -∗ Φ #()) -∗
    WP Eff PrepareWriteOp (Val #l) @ b; E {{ Φ }}.
  Proof.
    iIntros ">Hl HΦ". iApply wpe_lift_mem. iIntros (h d) "Hh".
    iDestruct (heap_lookup with "Hh Hl") as %Hl; [done|]. simpl in Hl. iModIntro. iSplit.
    { iPureIntro. do 2 eexists. by eapply PrepareWriteS. }
    iNext. iIntros (w h' Hs). inversion Hs; simplify_eq.
    iMod (heap_update with "Hh Hl") as "[$ Hl]". iModIntro. by iApply "HΦ".
  Qed.
  Lemma wpe_finish_store b E l v Φ :
    ▷ heap_cell b l (DfracOwn 1) Writing -∗ ▷ (l ↦[b] v -∗ Φ #()) -∗
    WP Eff FinishStoreOp (Val (#l, v)) @ b; E {{ Φ }}.
  Proof.
    iIntros ">Hl HΦ". iApply wpe_lift_mem. iIntros (h d) "Hh".
    iDestruct (heap_lookup with "Hh Hl") as %Hl; [done|]. simpl in Hl. iModIntro. iSplit.
    { iPureIntro. do 2 eexists. by eapply FinishStoreS. }
    iNext. iIntros (w h' Hs). inversion Hs; simplify_eq.
    iMod (heap_update with "Hh Hl") as "[$ Hl]". iModIntro. by iApply "HΦ".
  Qed.
  Lemma wpe_start_read b E l k v Φ :
    ▷ heap_cell b l (DfracOwn 1) (Reading k v) -∗
    ▷ (heap_cell b l (DfracOwn 1) (Reading (S k) v) -∗ Φ v) -∗
    WP Eff StartReadOp (Val #l) @ b; E {{ Φ }}.
  Proof.
    iIntros ">Hl HΦ". iApply wpe_lift_mem. iIntros (h d) "Hh".
    iDestruct (heap_lookup with "Hh Hl") as %Hl; [done|]. simpl in Hl. iModIntro. iSplit.
    { iPureIntro. do 2 eexists. by eapply StartReadS. }
    iNext. iIntros (w h' Hs). inversion Hs; simplify_eq.
    iMod (heap_update with "Hh Hl") as "[$ Hl]". iModIntro. by iApply "HΦ".
  Qed.
  Lemma wpe_finish_read b E l k v Φ :
    ▷ heap_cell b l (DfracOwn 1) (Reading (S k) v) -∗
    ▷ (heap_cell b l (DfracOwn 1) (Reading k v) -∗ Φ #()) -∗
    WP Eff FinishReadOp (Val #l) @ b; E {{ Φ }}.
  Proof.
    iIntros ">Hl HΦ". iApply wpe_lift_mem. iIntros (h d) "Hh".
    iDestruct (heap_lookup with "Hh Hl") as %Hl; [done|]. simpl in Hl. iModIntro. iSplit.
    { iPureIntro. do 2 eexists. by eapply FinishReadS. }
    iNext. iIntros (w h' Hs). inversion Hs; simplify_eq.
    iMod (heap_update with "Hh Hl") as "[$ Hl]". iModIntro. by iApply "HΦ".
  Qed.
  Lemma wpe_cmpxchg b E l v v1 v2 (eq : bool) Φ : val_eqb v v1 = Some eq →
    ▷ l ↦[b] v -∗ ▷ (l ↦[b] (if eq then v2 else v) -∗ Φ #eq) -∗
    WP Eff CmpXchgOp (Val (#l, (v1, v2))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Heq) ">Hl HΦ". iApply wpe_lift_mem. iIntros (h d) "Hh".
    iDestruct (heap_lookup with "Hh Hl") as %Hl; [done|]. simpl in Hl. iModIntro. iSplit.
    { iPureIntro. do 2 eexists. by eapply CmpXchgS. }
    iNext. iIntros (w h' Hs). inversion Hs; simplify_eq. destruct eq.
    - iMod (heap_update with "Hh Hl") as "[$ Hl]". iModIntro. by iApply "HΦ".
    - iModIntro. iFrame. by iApply "HΦ".
  Qed.

  (** ** Threads, choices, events *)
  Lemma wpe_fork b E e Φ :
    ▷ WP e @ b; ⊤ {{ _, True }} -∗ ▷ Φ #() -∗ WP Fork e @ b; E {{ Φ }}.
  Proof.
    iIntros "He HΦ". iApply wpe_lift_eff; [done|].
    iIntros (ns t Hep) "Hn Ht". iModIntro. iSplit. { iPureIntro. do 4 eexists. by constructor. }
    iNext. iIntros (w ns' t' efs Hs). inversion Hs; subst. iModIntro. iFrame. simpl. done.
  Qed.
  Lemma wpe_arb b E a Φ :
    ▷ (∀ v, ⌜arb_ok a v⌝ -∗ Φ v) -∗ WP Eff (ArbOp a) (Val #()) @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". iApply wpe_lift_eff; [done|].
    iIntros (ns t Hep) "Hn Ht". iModIntro. iSplit.
    { iPureIntro. assert (∃ v, arb_ok a v) as [v Hv].
      { destruct a as [w| |]; simpl; [|by exists #true, true|by exists #(LitStr []), []].
        exists #(LitInt w 0), 0%Z. split; [by destruct w|done]. }
      do 4 eexists. apply ChooseS, ArbS. done. }
    iNext. iIntros (w ns' t' efs Hs). inversion Hs; subst.
    - exfalso. match goal with H : mem_step _ _ _ _ _ |- _ => inversion H end.
    - iModIntro. iFrame. simpl. iSplit; [|done]. iApply "HΦ". iPureIntro.
      match goal with H : choose_step _ _ _ |- _ => inversion H; by subst end.
  Qed.
  Lemma wpe_permute b E l Φ :
    ▷ (∀ k, ⌜l ≡ₚ k⌝ -∗ Φ (list_val k)) -∗ WP Eff PermuteOp (Val (list_val l)) @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". iApply wpe_lift_eff; [done|].
    iIntros (ns t Hep) "Hn Ht". iModIntro. iSplit.
    { iPureIntro. do 4 eexists. eapply ChooseS, PermuteS; [apply val_list_val|done]. }
    iNext. iIntros (w ns' t' efs Hs). inversion Hs; subst.
    - exfalso. match goal with H : mem_step _ _ _ _ _ |- _ => inversion H end.
    - iModIntro. iFrame. simpl. iSplit; [|done].
      match goal with H : choose_step _ _ _ |- _ => inversion H; subst end.
      match goal with H : val_list _ = Some _ |- _ => rewrite val_list_val in H; injection H as <- end.
      by iApply "HΦ".
  Qed.
  Lemma wpe_emit b E v t Φ :
    ▷ trace_is t -∗ ▷ (trace_is (t ++ [EvOut (b_node b) v]) -∗ Φ #(u64 (length t))) -∗
    WP Eff EmitOp (Val v) @ b; E {{ Φ }}.
  Proof.
    iIntros ">Htr HΦ". iApply wpe_lift_eff; [done|].
    iIntros (ns t2 Hep) "Hn Ht". iDestruct (ghost_var_agree with "Htr Ht") as %->.
    iModIntro. iSplit. { iPureIntro. do 4 eexists. by constructor. }
    iNext. iIntros (w ns' t' efs Hs). inversion Hs; subst.
    - exfalso. match goal with H : mem_step _ _ _ _ _ |- _ => inversion H end.
    - exfalso. match goal with H : choose_step _ _ _ |- _ => inversion H end.
    - iMod (ghost_var_update_halves (t2 ++ [EvOut (b_node b) v]) with "Htr Ht") as "[Htr Ht]".
      iModIntro. iFrame. simpl. iSplit; [|done]. by iApply "HΦ".
  Qed.

  (** ** Devices *)
  Lemma wpe_lift_dev b E op v Φ :
    (∀ ep h d, ⌜ep = b_epoch b⌝ -∗ durable_interp (durable (b_node b)) d -∗
       boot_interp (b_node b) (NodeState ep h d) ={E}=∗
       ⌜∃ w d', dev_step op v d w d'⌝ ∗
       ▷ ∀ w d', ⌜dev_step op v d w d'⌝ ={E}=∗
         durable_interp (durable (b_node b)) d' ∗ boot_interp (b_node b) (NodeState ep h d') ∗ Φ w) -∗
    WP Eff (DevOp op) (Val v) @ b; E {{ Φ }}.
  Proof.
    iIntros "H". iApply wpe_lift_eff; [done|].
    iIntros ([ep h d] t Hep) "(Hcur & Hh & Hd & Hb) Ht". simpl in Hep.
    iMod ("H" with "[//] Hd Hb") as "[%Hred H]". iModIntro. iSplit.
    { iPureIntro. destruct Hred as (w & d' & Hs). do 4 eexists. by apply DevS. }
    iNext. iIntros (w ns' t' efs Hs). inversion Hs; subst.
    - exfalso. match goal with H : mem_step _ _ _ _ _ |- _ => inversion H end.
    - exfalso. match goal with H : choose_step _ _ _ |- _ => inversion H end.
    - iMod ("H" with "[//]") as "(Hd & Hb & HΦ)". iModIntro. iFrame. simpl. done.
  Qed.
  (** The names of the devices in this boot. *)
  Lemma boot_interp_open b ep h d γs vn : ep = b_epoch b →
    boot_is b γs vn -∗ boot_interp (b_node b) (NodeState ep h d) -∗
    volatile_interp vn d ∗
    (∀ d', volatile_interp vn d' -∗ boot_interp (b_node b) (NodeState ep h d')).
  Proof.
    iIntros (->) "#Hb (%bm & %γs' & %vn' & Hbm & %Hlk & %Hnone & Hv)".
    iDestruct (ghost_map_lookup with "Hbm Hb") as %Hb. simpl in *. simplify_eq.
    iFrame "Hv". iIntros (d') "Hv". iExists bm, _, _. by iFrame.
  Qed.
  (** A step of a device that keeps what it holds. *)
  Lemma boot_interp_same n ep h d d' : dv_async d' = dv_async d → dv_fs d' = dv_fs d →
    boot_interp n (NodeState ep h d) -∗ boot_interp n (NodeState ep h d').
  Proof.
    iIntros (Ha Hf) "(%bm & %γs' & %vn' & Hbm & %Hlk & %Hnone & Hv)".
    iExists bm, _, _. iFrame. rewrite /volatile_interp /= Ha Hf. by iFrame.
  Qed.

  Lemma wpe_disk_read b E a s Φ :
    ▷ a d↦[b_node b] s -∗ ▷ (a d↦[b_node b] s -∗ Φ #(LitStr s)) -∗
    WP Eff (DevOp DiskRead) (Val #(u64 a)) @ b; E {{ Φ }}.
  Proof.
    iIntros ">Ha HΦ". iApply wpe_lift_dev. iIntros (ep h d Hep) "(Hd & Hrest) Hb".
    iDestruct (ghost_map_lookup with "Hd Ha") as %Ha. iModIntro. iSplit.
    { iPureIntro. do 2 eexists. by eapply DevDiskS, DiskReadS. }
    iNext. iIntros (w d' Hs). inversion Hs as [? ? ? ? ? H|? ? ? ? ? H|? ? ? ? ? H|? ? ? ? ? H]; subst; inversion H; simplify_eq.
    iModIntro. iFrame "Hd Hrest". iSplitL "Hb"; [by iApply (boot_interp_same with "Hb")|]. by iApply "HΦ".
  Qed.
  Lemma wpe_disk_write b E a s s0 Φ : block_ok s →
    ▷ a d↦[b_node b] s0 -∗ ▷ (a d↦[b_node b] s -∗ Φ #()) -∗
    WP Eff (DevOp DiskWrite) (Val (#(u64 a), #(LitStr s))) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hs) ">Ha HΦ". iApply wpe_lift_dev. iIntros (ep h d Hep) "(Hd & Hrest) Hb".
    iDestruct (ghost_map_lookup with "Hd Ha") as %Ha. iModIntro. iSplit.
    { iPureIntro. do 2 eexists. by eapply DevDiskS, DiskWriteS. }
    iNext. iIntros (w d' Hst). inversion Hst as [? ? ? ? ? H|? ? ? ? ? H|? ? ? ? ? H|? ? ? ? ? H]; subst; inversion H; simplify_eq.
    iMod (ghost_map_update s with "Hd Ha") as "[Hd Ha]". iModIntro.
    iDestruct "Hrest" as "($ & $ & $ & %Hsz & $ & $)". iFrame "Hd".
    iSplitR. { iPureIntro. simpl. rewrite map_size_insert_Some //. }
    iSplitL "Hb"; [by iApply (boot_interp_same with "Hb")|]. by iApply "HΦ".
  Qed.
  (** The size of the disk. *)
  Definition disk_size (n : nat) : Z := dn_disk_size (durable n).
  Definition two_size (n : nat) : Z := dn_two_size (durable n).
  Definition async_size (n : nat) : Z := dn_async_size (durable n).
  Lemma wpe_disk_size b E Φ :
    ▷ Φ #(u64 (disk_size (b_node b))) -∗ WP Eff (DevOp DiskSize) (Val #()) @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". iApply wpe_lift_dev. iIntros (ep h d Hep) "Hd Hb".
    iAssert ⌜Z.of_nat (size (dv_disk d)) = disk_size (b_node b)⌝%I as %Hsz.
    { iDestruct "Hd" as "(_ & _ & _ & _ & $ & _)". }
    iModIntro. iSplit.
    { iPureIntro. do 2 eexists. by eapply DevDiskS, DiskSizeS. }
    iNext. iIntros (w d' Hst). inversion Hst as [? ? ? ? ? H|? ? ? ? ? H|? ? ? ? ? H|? ? ? ? ? H]; subst; inversion H; simplify_eq.
    iModIntro. iFrame "Hd". iSplitL "Hb"; [by iApply (boot_interp_same with "Hb")|].
    rewrite Hsz. by iApply "HΦ".
  Qed.
End rules.

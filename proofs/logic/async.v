(** * Rules of the asynchronous disk

    The points-to assertion of an address holds what was written last and all
    that a crash may leave there, or more: a barrier empties the caches of all
    addresses, but narrows only the assertions that are shown to it. *)
From ashlar.logic Require Export wp.

(** ** Coverings *)
Section covers.
  Context {A : Type}.
  Implicit Types (c : cached A) (x y : A).

  Lemma ca_possible_latest c : ca_latest c ∈ ca_possible c.
  Proof. by left. Qed.
  Lemma ca_possible_write x y c : x ∈ ca_possible (ca_write y c) ↔ x = y ∨ x ∈ ca_possible c.
  Proof. apply elem_of_cons. Qed.
  Lemma ca_possible_flush x c : x ∈ ca_possible (ca_flush c) ↔ x = ca_latest c.
  Proof. apply elem_of_list_singleton. Qed.
  Lemma ca_possible_new x y : x ∈ ca_possible (ca_new y) ↔ x = y.
  Proof. apply elem_of_list_singleton. Qed.
  Lemma ca_flush_new x : ca_flush (ca_new x) = ca_new x.
  Proof. done. Qed.

  Lemma ca_covers_refl c : ca_covers c c.
  Proof. done. Qed.
  Lemma ca_covers_write x c1 c2 : ca_covers c1 c2 → ca_covers (ca_write x c1) (ca_write x c2).
  Proof.
    intros [_ Hc]. split; [done|]. intros y. rewrite !ca_possible_write. intros [->|Hy]; auto.
  Qed.
  Lemma ca_covers_flush c1 c2 : ca_covers c1 c2 → ca_covers (ca_flush c1) (ca_flush c2).
  Proof.
    intros [Hl _]. split; [done|]. intros y. rewrite !ca_possible_flush. congruence.
  Qed.
  (** Where nothing shows the barrier an assertion, that assertion stays. *)
  Lemma ca_covers_flushed c1 c2 : ca_covers c1 c2 → ca_covers c1 (ca_flush c2).
  Proof.
    intros [Hl Hc]. split; [done|]. intros y. rewrite ca_possible_flush. intros ->. apply Hc.
    apply ca_possible_latest.
  Qed.
End covers.

Lemma async_covers_write m d a c c2 (b : list Z) :
  async_covers m d → m !! a = Some c → d !! a = Some c2 →
  async_covers (<[a := ca_write b c]> m) (<[a := ca_write b c2]> d).
Proof.
  intros [Hdom Hcov] Hm Hd. split; [by rewrite !dom_insert_L Hdom|].
  intros a' c'. destruct (decide (a' = a)) as [->|Hne].
  - rewrite !lookup_insert. intros [= <-]. eexists. split; [done|]. apply ca_covers_write.
    destruct (Hcov _ _ Hm) as (c3 & ? & ?). by simplify_eq.
  - rewrite !lookup_insert_ne //. apply Hcov.
Qed.
Lemma async_covers_barrier m d (shown : async_disk) :
  async_covers m d → shown ⊆ m →
  async_covers ((ca_flush <$> shown) ∪ m) (ca_flush <$> d).
Proof.
  intros [Hdom Hcov] Hsub. split.
  - rewrite dom_union_L !dom_fmap_L -Hdom. apply subseteq_dom in Hsub. set_solver.
  - intros a c. rewrite lookup_union_Some_raw !lookup_fmap.
    destruct (shown !! a) as [c1|] eqn:Hs; simpl.
    + intros [[= <-]|[? _]]; [|done]. destruct (Hcov a c1) as (c2 & -> & Hc).
      { by eapply lookup_weaken. }
      eexists. split; [done|]. by apply ca_covers_flush.
    + intros [?|[_ Hm]]; [done|]. destruct (Hcov _ _ Hm) as (c2 & -> & Hc).
      eexists. split; [done|]. by apply ca_covers_flushed.
Qed.

(** ** The ghost map of a boot follows the disk *)
Section ghost.
  Context `{!devG Σ}.
  Implicit Types (vn : volatile_names) (d : async_disk).

  Lemma async_interp_lookup vn d a q c :
    async_interp vn d -∗ a ↪[vn_async vn]{q} c -∗
    ⌜∃ c2, d !! a = Some c2 ∧ ca_covers c c2⌝.
  Proof.
    iIntros "(%m & Hm & %Hcov) Ha". iDestruct (ghost_map_lookup with "Hm Ha") as %Hm.
    iPureIntro. by apply Hcov.
  Qed.
  Lemma async_interp_write vn d a c c2 b :
    d !! a = Some c2 →
    async_interp vn d -∗ a ↪[vn_async vn] c ==∗
    async_interp vn (<[a := ca_write b c2]> d) ∗ a ↪[vn_async vn] ca_write b c.
  Proof.
    iIntros (Hd) "(%m & Hm & %Hcov) Ha". iDestruct (ghost_map_lookup with "Hm Ha") as %Hm.
    iMod (ghost_map_update (ca_write b c) with "Hm Ha") as "[Hm $]".
    iModIntro. iExists _. iFrame. iPureIntro. by apply async_covers_write.
  Qed.
  Lemma async_interp_barrier vn d (shown : async_disk) :
    async_interp vn d -∗ ([∗ map] a ↦ c ∈ shown, a ↪[vn_async vn] c) ==∗
    async_interp vn (ca_flush <$> d) ∗ [∗ map] a ↦ c ∈ shown, a ↪[vn_async vn] ca_flush c.
  Proof.
    iIntros "(%m & Hm & %Hcov) Hs". iDestruct (ghost_map_lookup_big with "Hm Hs") as %Hsub.
    iMod (ghost_map_update_big shown (ca_flush <$> shown) with "Hm Hs") as "[Hm Hs]".
    { by rewrite dom_fmap_L. }
    rewrite big_sepM_fmap. iFrame. iModIntro. iExists _. iFrame. iPureIntro.
    by apply async_covers_barrier.
  Qed.

  (** A crash leaves at each address something that its assertion allows. *)
  Lemma async_interp_crash vn d d2 a q c :
    async_crash d d2 →
    async_interp vn d -∗ a ↪[vn_async vn]{q} c -∗
    ⌜∃ b, b ∈ ca_possible c ∧ d2 !! a = Some (ca_new b)⌝.
  Proof.
    iIntros ([_ Hcrash]) "Hd Ha".
    iDestruct (async_interp_lookup with "Hd Ha") as %(c2 & Hd & _ & Hc).
    iPureIntro. destruct (Hcrash _ _ Hd) as (b & Hb & ?). eauto.
  Qed.
End ghost.

(** ** Weakest preconditions *)

Definition is_async (op : dev_op) : Prop :=
  match op with AsyncRead | AsyncWrite | AsyncSize | AsyncBarrier => True | _ => False end.
Lemma estep_async_inv n op v ep h dv t w ns2 t2 efs :
  is_async op →
  estep n (Eff (DevOp op) (Val v)) (NodeState ep h dv) t w ns2 t2 efs →
  ∃ d2, async_step op v (dv_async dv) w d2 ∧
    ns2 = NodeState ep h (set_async d2 dv) ∧ t2 = t ∧ efs = [].
Proof.
  intros Hop Hs. inversion Hs as [? ? ? ? ? ? ? ? Hm| ? ? ? ? ? Hc | | ? ? ? ? ? ? ? ? Hd | ]; subst.
  - inversion Hm.
  - inversion Hc.
  - inversion Hd as [? ? ? ? ? H|? ? ? ? ? H|? ? ? ? ? H|? ? ? ? ? H]; subst; [..|by eauto|].
    all: destruct op; try done; inversion H.
Qed.

Section wp.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (c : cached (list Z)) (a : Z) (s : list Z) (Φ : val → iProp Σ).

  Global Instance async_pointsto_timeless b a c : Timeless (a a↦[b] c).
  Proof. apply _. Qed.

  (** The disk of the node of a thread that is alive: whose ghost map it is, and
      how to put it back. *)
  Lemma node_async b ns :
    epoch ns = b_epoch b →
    node_interp (b_node b) ns -∗ ∃ vn,
    async_interp vn (dv_async (dev ns)) ∗
    ⌜Z.of_nat (size (dv_async (dev ns))) = dn_async_size (durable (b_node b))⌝ ∗
    ((∀ γs2 vn2, boot_is b γs2 vn2 -∗ ⌜vn2 = vn⌝) ∧
     (∀ d, ⌜size d = size (dv_async (dev ns))⌝ -∗ async_interp vn d -∗
        node_interp (b_node b) (NodeState (epoch ns) (heap ns) (set_async d (dev ns))))).
  Proof.
    iIntros (Hep) "(Hcur & Hheap & Hdur & (%bm & %γs & %vn & Hbm & %Hvn & %Hnew & Hasync & Hfs))".
    iDestruct "Hdur" as "(Hd & H0 & H1 & Hf & %Hdisk & %Htwo & %Hsize)".
    iExists vn. iFrame "Hasync". iSplit; [done|]. iSplit.
    - iIntros (γs2 vn2) "Hb". iDestruct (ghost_map_lookup with "Hbm Hb") as %Hb.
      rewrite -Hep Hvn in Hb. by simplify_eq.
    - iIntros (d Hd) "Hasync". iFrame "Hcur Hd H0 H1 Hf". iSplitL "Hheap"; [done|]. iSplit.
      { iPureIntro. simpl. by rewrite Hd. }
      iExists bm, γs, vn. by iFrame.
  Qed.

  (** The names of the boot, as far as the assertions at hand know them. *)
  Definition names_are b (names : option (list gname * volatile_names)) : iProp Σ :=
    match names with None => True | Some (γs, vn) => boot_is b γs vn end.

  (** What each rule shows: the disk can take a step, and its ghost map follows. *)
  Lemma wpe_async_op op v b E names Φ :
    is_async op →
    names_are b names -∗
    (∀ vn d, ⌜∀ p, names = Some p → p.2 = vn⌝ -∗
       ⌜Z.of_nat (size d) = dn_async_size (durable (b_node b))⌝ -∗
       async_interp vn d ={E}=∗
       ⌜∃ w d2, async_step op v d w d2⌝ ∗
       ▷ ∀ w d2, ⌜async_step op v d w d2⌝ ={E}=∗
         ⌜size d2 = size d⌝ ∗ async_interp vn d2 ∗ Φ w) -∗
    WP Eff (DevOp op) (Val v) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hop) "Hnames H". iApply wpe_lift_eff; [done|]. iIntros ([ep h dv] t Hep) "Hn Ht".
    iDestruct (node_async with "Hn") as (vn) "(Hd & %Hsize & Hn)"; [done|].
    iAssert (⌜∀ p, names = Some p → p.2 = vn⌝)%I as %Hvn.
    { destruct names as [[γs vn2]|]; [|by iIntros (? [=])].
      iDestruct "Hn" as "[Hn _]". iDestruct ("Hn" with "Hnames") as %->. by iIntros (? [= <-]). }
    iDestruct "Hn" as "[_ Hn]".
    iMod ("H" with "[//] [//] Hd") as "[%Hred H]". destruct Hred as (w & d2 & Hstep).
    iModIntro. iSplit.
    { iPureIntro. do 4 eexists. by apply DevS, DevAsyncS. }
    iNext. iIntros (w2 ns2 t2 efs Hs). apply estep_async_inv in Hs as (d3 & Hs & -> & -> & ->); [|done].
    iMod ("H" with "[//]") as "(%Hd3 & Hd & HΦ)". iModIntro. iFrame.
    iSplit; [|done]. by iApply ("Hn" with "[//] Hd").
  Qed.

  (** ** The rules *)
  Lemma wpe_async_read b E a c Φ :
    ▷ a a↦[b] c -∗ ▷ (a a↦[b] c -∗ Φ #(LitStr (ca_latest c))) -∗
    WP Eff (DevOp AsyncRead) #(LitInt U64 a) @ b; E {{ Φ }}.
  Proof.
    iIntros ">(%γs & %vn & #Hb & Ha) HΦ".
    iApply (wpe_async_op _ _ _ _ (Some (γs, vn)) with "Hb"); [done|].
    iIntros (vn2 d Hvn _) "Hd". destruct (Hvn _ eq_refl).
    iDestruct (async_interp_lookup with "Hd Ha") as %(c2 & Hc2 & Hl & _).
    iModIntro. iSplit. { iPureIntro. do 2 eexists. by constructor. }
    iNext. iIntros (w d2 Hs). inversion Hs; simplify_eq. rewrite -Hl. iModIntro. iFrame "Hd".
    iSplit; [done|]. iApply "HΦ". iExists γs, vn. by iFrame.
  Qed.

  Lemma wpe_async_write b E a c s Φ :
    block_ok s →
    ▷ a a↦[b] c -∗ ▷ (a a↦[b] ca_write s c -∗ Φ #()) -∗
    WP Eff (DevOp AsyncWrite) (#(LitInt U64 a), #(LitStr s))%V @ b; E {{ Φ }}.
  Proof.
    iIntros (Hok) ">(%γs & %vn & #Hb & Ha) HΦ".
    iApply (wpe_async_op _ _ _ _ (Some (γs, vn)) with "Hb"); [done|].
    iIntros (vn2 d Hvn _) "Hd". destruct (Hvn _ eq_refl).
    iDestruct (async_interp_lookup with "Hd Ha") as %(c2 & Hc2 & _).
    iModIntro. iSplit. { iPureIntro. do 2 eexists. by econstructor. }
    iNext. iIntros (w d2 Hs). inversion Hs; simplify_eq.
    iMod (async_interp_write with "Hd Ha") as "[$ Ha]"; [done|]. iModIntro. iSplit.
    { iPureIntro. rewrite map_size_insert_Some //. }
    iApply "HΦ". iExists γs, vn. by iFrame.
  Qed.

  Lemma wpe_async_size b E Φ :
    ▷ Φ #(LitInt U64 (dn_async_size (durable (b_node b)))) -∗
    WP Eff (DevOp AsyncSize) #() @ b; E {{ Φ }}.
  Proof.
    iIntros "HΦ". iApply (wpe_async_op _ _ _ _ None); [done..|].
    iIntros (vn d _ Hsize) "Hd".
    iModIntro. iSplit. { iPureIntro. do 2 eexists. by constructor. }
    iNext. iIntros (w d2 Hs). inversion Hs; simplify_eq. rewrite Hsize. by iFrame.
  Qed.

  Lemma async_pointsto_big b (m : async_disk) :
    m ≠ ∅ →
    ([∗ map] a ↦ c ∈ m, a a↦[b] c) -∗
    ∃ γs vn, boot_is b γs vn ∗ [∗ map] a ↦ c ∈ m, a ↪[vn_async vn] c.
  Proof.
    iIntros ((a & c & Ha)%map_choose) "Hm".
    iAssert (∃ γs vn, boot_is b γs vn)%I as (γs vn) "#Hb".
    { iDestruct (big_sepM_lookup with "Hm") as (γs vn) "[Hb _]"; eauto. }
    iExists γs, vn. iFrame "Hb". iApply (big_sepM_impl with "Hm").
    iIntros "!>" (a2 c2 _) "(%γs2 & %vn2 & #Hb2 & Ha)".
    by iDestruct (boot_is_agree with "Hb Hb2") as %[_ <-].
  Qed.

  (** A barrier empties all caches, and the assertions that are shown to it say so. *)
  Lemma wpe_async_barrier b E (m : async_disk) Φ :
    ▷ ([∗ map] a ↦ c ∈ m, a a↦[b] c) -∗
    ▷ (([∗ map] a ↦ c ∈ m, a a↦[b] ca_flush c) -∗ Φ #()) -∗
    WP Eff (DevOp AsyncBarrier) #() @ b; E {{ Φ }}.
  Proof.
    iIntros ">Hm HΦ". destruct (decide (m = ∅)) as [->|Hne].
    - iApply (wpe_async_op _ _ _ _ None); [done..|]. iIntros (vn d _ _) "Hd".
      iModIntro. iSplit. { iPureIntro. do 2 eexists. by constructor. }
      iNext. iIntros (w d2 Hs). inversion Hs; simplify_eq.
      iMod (async_interp_barrier _ _ ∅ with "Hd []") as "[$ _]"; [by rewrite big_sepM_empty|].
      iModIntro. iSplit; [by rewrite map_size_fmap|]. iApply "HΦ". by rewrite big_sepM_empty.
    - iDestruct (async_pointsto_big with "Hm") as (γs vn) "[#Hb Hm]"; [done|].
      iApply (wpe_async_op _ _ _ _ (Some (γs, vn)) with "Hb"); [done|].
      iIntros (vn2 d Hvn _) "Hd". destruct (Hvn _ eq_refl). simpl.
      iModIntro. iSplit. { iPureIntro. do 2 eexists. by constructor. }
      iNext. iIntros (w d2 Hs). inversion Hs; simplify_eq.
      iMod (async_interp_barrier with "Hd Hm") as "[$ Hm]".
      iModIntro. iSplit; [by rewrite map_size_fmap|]. iApply "HΦ".
      iApply (big_sepM_impl with "Hm"). iIntros "!>" (a c _) "Ha". iExists γs, vn. by iFrame.
  Qed.

  (** ** The crash

      Of the boot that ends: what its assertions allow is what the next one
      finds.  Of the boot that begins: what it finds is durable. *)
  Lemma async_pointsto_crash b γs vn d d2 a c :
    async_crash d d2 →
    boot_is b γs vn -∗ async_interp vn d -∗ a a↦[b] c -∗
    ⌜∃ s, s ∈ ca_possible c ∧ d2 !! a = Some (ca_new s)⌝.
  Proof.
    iIntros (Hcrash) "#Hb Hd (%γs2 & %vn2 & #Hb2 & Ha)".
    iDestruct (boot_is_agree with "Hb Hb2") as %[_ <-].
    by iApply (async_interp_crash with "Hd Ha").
  Qed.
  Lemma async_pointsto_new b γs vn d :
    boot_is b γs vn -∗ ([∗ map] a ↦ c ∈ d, a ↪[vn_async vn] c) -∗ [∗ map] a ↦ c ∈ d, a a↦[b] c.
  Proof.
    iIntros "#Hb Hd". iApply (big_sepM_impl with "Hd"). iIntros "!>" (a c _) "Ha".
    iExists γs, vn. by iFrame.
  Qed.
End wp.

(** * Reading a mailbox, deleting from it, and giving it up *)
From ashlar.golib Require Import sync.
From ashlar.mailboat Require Export proof.
Local Open Scope Z_scope.

Section loops.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (s : slice) (Φ : val → iProp Σ).

  (** The loop in List: a list value becomes a slice. *)
  Definition names_loop : val :=
    rec: "loop" "s" "l" :=
      match: "l" with
        InjL <> => "s"
      | InjR "c" => "loop" (append_one stringT "s" (Fst "c")) (Snd "c")
      end.
  Lemma wp_names_loop b E s vs (l : list (list Z)) Φ :
    own_slice_full b s stringT vs -∗
    (∀ s2, own_slice_full b s2 stringT (vs ++ ((λ x, vstr x) <$> l)) -∗ Φ (slice_val s2)) -∗
    WP names_loop (slice_val s) (list_val ((λ x, vstr x) <$> l)) @ b; E {{ Φ }}.
  Proof.
    iIntros "Hs HΦ". iInduction l as [|x l] "IH" forall (s vs); simpl; wp_rec; wp_pures.
    - iApply "HΦ". by rewrite app_nil_r.
    - wp_apply (wp_append_one with "Hs"); [done|]. iIntros (s2) "Hs".
      iApply ("IH" with "Hs"). iIntros (s3) "Hs". iApply "HΦ". by rewrite -app_assoc.
  Qed.

  (** The address of an element, where nobody need own the slice. *)
  Lemma wp_slice_ref_at b E (p : loc) (n u : Z) Φ :
    0 ≤ u < n → n ≤ 2^40 → ▷ Φ #(p +ₗ u) -∗
    WP slice_ref mutexT (slice_val (Slice (LitLoc p) n n)) #(u64 u) @ b; E {{ Φ }}.
  Proof.
    iIntros (Hu Hn) "HΦ". wp_rec. wp_pures. rewrite_wrap. wp_cond. wp_cond. wp_pures. rewrite_wrap.
    by rewrite Z.mul_1_r.
  Qed.
End loops.

Section session.
  Context (n : nat) (Hn : Z.of_nat n ≤ 2^40).
  Context `{!golangGS Σ, !mailG Σ, !specG Σ (mail_spec n)}.
  Implicit Types (b : boot) (s : mail) (u : Z) (d id : list Z) (p : list (list Z * list Z)).

  (** A slice of messages. *)
  Definition own_message b (v : val) (x : list Z * list Z) : iProp Σ :=
    ∃ sl, ⌜v = (#(LitStr x.1), (slice_val sl, #()))%V⌝ ∗ own_bytes b sl (DfracOwn 1) x.2.
  Definition own_messages b (sl : slice) p : iProp Σ :=
    ∃ vs, own_slice_full b sl (structT Message) vs ∗ [∗ list] v;x ∈ vs;p, own_message b v x.

  (** ** Pickup *)
  Lemma wp_readFile b γ γl γs (f : val) u L id i d : 0 ≤ u < n → L !! id = Some i →
    mail_ctx n b γ γl γs -∗ is_file b i d -∗
    {{{ lease γl u (Some L) }}}
      readFile f #(LitStr (user_dir u)) #(LitStr id) @ b; ⊤
    {{{ sl, RET slice_val sl; lease γl u (Some L) ∗ own_bytes_full b sl d }}}.
  Proof.
    iIntros (Hun HL) "#Hctx #Hfile !>". iIntros (Φ) "Hlease HΦ". wp_rec. wp_pures.
    wp_rec. wp_pures. wp_bind (Eff _ _).
    iInv "Hctx" as "[>Ha >HU]".
    iDestruct (mail_lib_inv_open with "HU") as (s) "(Hs & Hm & Hsp & %Hu)".
    destruct (proj2 (Hu u) Hun) as [box Hbox].
    iApply (wp_open_message with "Hm Hlease"); [done..|]. iIntros "!>" (fd) "Hm Hlease Hfd !>".
    iSplitL "Ha Hs Hm Hsp".
    { iFrame "Ha". by iApply (mail_lib_inv_close with "Hs Hm Hsp"). }
    wp_pures. wp_apply (wp_readAll with "[$Hfd $Hfile]"). iIntros (sl) "[Hsl Hfd]". wp_pures.
    wp_rec. wp_pures. wp_bind (Eff _ _). iApply (wpe_fs_close with "Hfd"). iIntros "!>". wp_pures.
    iApply "HΦ". iFrame.
  Qed.

  Lemma wp_list_user b γ γl γs k (f : val) u : 0 ≤ u < n →
    mail_ctx n b γ γl γs -∗
    {{{ lease γl u None ∗ pending γ k (pickup_call u) }}}
      filesys.FS__List f #(LitStr (user_dir u)) @ b; ⊤
    {{{ sl L p, RET slice_val sl;
        own_slice_full b sl stringT ((λ x, vstr x) <$> p.*1) ∗
        lease γl u (Some L) ∗ returns γ k (messages_val p) ∗
        ⌜dom L = list_to_set p.*1 ∧ NoDup p.*1⌝ ∗
        □ [∗ list] x ∈ p, ∃ i, ⌜L !! x.1 = Some i⌝ ∗ is_file b i x.2 }}}.
  Proof.
    iIntros (Hun) "#Hctx !>". iIntros (Φ) "[Hlease Hk] HΦ". wp_rec. wp_pures. wp_bind (Eff _ _).
    iInv "Hctx" as "[>Ha >HU]".
    iDestruct (mail_lib_inv_open with "HU") as (s) "(Hs & Hm & Hsp & %Hu)".
    destruct (proj2 (Hu u) Hun) as [box Hbox].
    iApply (wp_list_mailbox with "Hm Hlease"); [done|].
    iIntros "!>" (L p Hheld Hlist HL) "Hm Hlease #Hfiles".
    iMod (spec_step (mail_spec n) _ _ _ (messages_val p) with "Ha Hs Hk") as "(Ha & Hs & Hk)".
    { apply pickup_takes. by exists box. }
    iModIntro. iSplitL "Ha Hs Hm Hsp".
    { iFrame "Ha". by iApply (mail_lib_inv_close with "Hs Hm Hsp"). }
    do 3 wp_pure. fold names_loop. rewrite -slice_val_nil.
    iApply (wp_names_loop with "[]"); [iApply own_slice_full_nil|]. iIntros (sl) "Hsl".
    iApply "HΦ". iFrame "Hsl Hlease Hk Hfiles". iPureIntro. split; [done|]. by destruct Hlist.
  Qed.

  Lemma wp_readMailbox b γ γl γs k (f : val) u : 0 ≤ u < n →
    mail_ctx n b γ γl γs -∗
    {{{ lease γl u None ∗ pending γ k (pickup_call u) }}}
      readMailbox f #(LitStr (user_dir u)) @ b; ⊤
    {{{ sl L p, RET slice_val sl;
        own_messages b sl p ∗ lease γl u (Some L) ∗ returns γ k (messages_val p) ∗
        ⌜dom L = list_to_set p.*1 ∧ NoDup p.*1⌝ }}}.
  Proof.
    iIntros (Hun) "#Hctx !>". iIntros (Φ) "[Hlease Hk] HΦ". wp_rec. wp_pures.
    wp_apply (wp_ref_zero with "[//]"). iIntros (msgs) "Hmsgs /=". wp_pures.
    wp_apply (wp_list_user with "Hctx [$Hlease $Hk]"); [done|].
    iIntros (names L p) "([Hnames _] & Hlease & Hk & %Hp & #Hfiles)". wp_pures.
    iDestruct (own_slice_length with "Hnames") as %[Hlen Hmax]. unfold max_elems in Hmax.
    rewrite !fmap_length in Hlen, Hmax. rewrite Hlen.
    wp_apply (wp_range_simple (λ i, ∃ sl, msgs ↦[b] slice_val sl ∗
        own_messages b sl (take (Z.to_nat i) p) ∗ lease γl u (Some L) ∗
        own_slice b names stringT (DfracOwn 1) ((λ x, vstr x) <$> p.*1))%I
      with "[Hmsgs Hlease Hnames] []").
    - lia.
    - int_solve.
    - iExists nil_slice. iFrame. rewrite take_0. iExists []. iSplit; [iApply own_slice_full_nil|done].
    - iIntros "!>" (i Hi) "(%sl & Hmsgs & (%vs & Hsl & Hvs) & Hlease & Hnames)".
      destruct (lookup_lt_is_Some_2 p (Z.to_nat i)) as [[id d] Hid]; [lia|]. wp_pures.
      wp_apply (wp_slice_get with "Hnames"); [lia| |].
      { by rewrite !list_lookup_fmap Hid. }
      iIntros "Hnames". wp_pures.
      iDestruct (big_sepL_lookup with "Hfiles") as (j) "[%Hj Hfile]"; [done|].
      wp_apply (wp_readFile with "Hctx Hfile Hlease"); [done..|].
      iIntros (sd) "[Hlease [Hd _]]". wp_pures. wp_load. wp_pures.
      wp_apply (wp_append_one with "Hsl"); [repeat split|]. iIntros (sl2) "Hsl". wp_store. wp_pures.
      iExists sl2. iFrame "Hmsgs Hlease Hnames".
      replace (Z.to_nat (i + 1)) with (S (Z.to_nat i)) by lia. rewrite (take_S_r _ _ _ Hid).
      iExists _. iFrame "Hsl". iApply (big_sepL2_app with "Hvs"). simpl.
      iSplit; [|done]. iExists sd. by iFrame.
    - iIntros "(%sl & Hmsgs & Hsl & Hlease & _)". rewrite Nat2Z.id firstn_all. wp_pures. wp_load. wp_pures.
      iApply "HΦ". by iFrame.
  Qed.

  (** A session: the mailbox is locked and its reader knows what is in it. *)
  Definition holds b γl (h : val) u L : iProp Σ :=
    ∃ l p : loc,
      ⌜h = #l⌝ ∗
      (l +ₗ field_offset Mailboat "locks") ↦[b]{DfracDiscarded} slice_val (Slice (LitLoc p) n n) ∗
      mutex_held b (p +ₗ u) (lease γl u None) ∗
      lease γl u (Some L).

  Lemma wp_Pickup b γ γl γs h k u : 0 ≤ u < n →
    mail_ctx n b γ γl γs -∗ is_mail n b γl γs h -∗
    {{{ pending γ k (pickup_call u) }}}
      Mailboat__Pickup h #(u64 u) @ b; ⊤
    {{{ sl L p, RET slice_val sl;
        own_messages b sl p ∗ holds b γl h u L ∗ returns γ k (messages_val p) ∗
        ⌜dom L = list_to_set p.*1 ∧ NoDup p.*1⌝ }}}.
  Proof.
    iIntros (Hun) "#Hctx (%l & %p & %f & -> & #Hf & #Hlocks & _ & #Hmus) !>".
    iIntros (Φ) "Hk HΦ". wp_rec. load_field "Hlocks". wp_apply wp_slice_ref_at; [done|done|]. wp_pures.
    iDestruct (big_sepL_lookup _ _ (Z.to_nat u) (Z.to_nat u) with "Hmus") as "Hmu".
    { apply lookup_seq. lia. }
    rewrite Z2Nat.id; [|lia]. wp_apply (wp_mutex_lock with "Hmu"). iIntros "[Hheld Hlease]". wp_pures.
    wp_apply (wp_userDir with "[//]"); [split; lia|]. iIntros "_". load_field "Hf".
    wp_apply (wp_readMailbox with "Hctx [$Hlease $Hk]"); [done|].
    iIntros (sl L q) "(Hsl & Hlease & Hk & %Hq)". iApply "HΦ". iFrame "Hsl Hk".
    iSplit; [|done]. iExists l, p. by iFrame "Hlocks Hheld Hlease".
  Qed.

  (** ** Delete *)
  Lemma wp_Delete b γ γl γs h k u L id : 0 ≤ u < n → is_Some (L !! id) →
    mail_ctx n b γ γl γs -∗ is_mail n b γl γs h -∗
    {{{ holds b γl h u L ∗ pending γ k (delete_call u id) }}}
      Mailboat__Delete h #(u64 u) #(LitStr id) @ b; ⊤
    {{{ RET #(); holds b γl h u (delete id L) ∗ returns γ k #() }}}.
  Proof.
    iIntros (Hun [i Hi]) "#Hctx (%l & %p & %f & -> & #Hf & _) !>".
    iIntros (Φ) "[(%l2 & %p2 & %Heq & #Hlocks & Hheld & Hlease) Hk] HΦ". wp_rec. wp_pures.
    wp_apply (wp_userDir with "[//]"); [split; lia|]. iIntros "_". load_field "Hf".
    wp_rec. wp_pures. wp_bind (Eff _ _).
    iInv "Hctx" as "[>Ha >HU]".
    iDestruct (mail_lib_inv_open with "HU") as (s) "(Hs & Hm & Hsp & %Hu)".
    destruct (proj2 (Hu u) Hun) as [box Hbox].
    iApply (wp_unlink_message with "Hm Hlease"); [done..|]. iIntros "!>" (Hin Hshown) "Hm Hlease".
    iMod (spec_move (mail_spec n) _ _ _ (settling u id) with "Ha Hs Hk") as "(Ha & Hs & Hk)".
    { apply delete_takes. by exists box. }
    iModIntro. iSplitL "Ha Hs Hm Hsp".
    { iFrame "Ha". iApply (mail_lib_inv_close with "Hs Hm Hsp"). by eapply users_put. }
    load_field "Hf". wp_apply (wp_settle with "Hctx Hk"); [done|]. iIntros "Hk".
    iApply "HΦ". iFrame "Hk". iExists l2, p2. by iFrame "Hlocks Hheld Hlease".
  Qed.

  (** ** Unlock *)
  Lemma wp_Unlock b γ γl γs h k u L : 0 ≤ u < n →
    mail_ctx n b γ γl γs -∗
    {{{ holds b γl h u L ∗ pending γ k (unlock_call u) }}}
      Mailboat__Unlock h #(u64 u) @ b; ⊤
    {{{ RET #(); returns γ k #() }}}.
  Proof.
    iIntros (Hun) "#Hctx !>".
    iIntros (Φ) "[(%l & %p & -> & #Hlocks & Hheld & Hlease) Hk] HΦ". wp_rec. wp_pures.
    wp_rec. wp_bind (Eff LoadOp _).
    iInv "Hctx" as "[>Ha >HU]".
    iDestruct (mail_lib_inv_open with "HU") as (s) "(Hs & Hm & Hsp & %Hu)".
    iApply (wpe_load with "Hlocks"). iIntros "!> _".
    iMod (mail_inv_unlock with "Hm Hlease") as "(Hm & Hlease & %Hin)".
    iMod (spec_step (mail_spec n) _ _ _ #() with "Ha Hs Hk") as "(Ha & Hs & Hk)".
    { by apply unlock_takes. }
    iModIntro. iSplitL "Ha Hs Hm Hsp".
    { iFrame "Ha". by iApply (mail_lib_inv_close with "Hs Hm Hsp"). }
    wp_apply wp_slice_ref_at; [done|done|]. wp_pures.
    wp_apply (wp_mutex_unlock with "[$Hheld $Hlease]"). iIntros "_". by iApply "HΦ".
  Qed.
End session.

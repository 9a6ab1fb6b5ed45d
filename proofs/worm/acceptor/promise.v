(** * All registers of an acceptor, and its promises: internal/worm/paxos, Acceptor.promise *)
From iris.proofmode Require Import environments.
From ashlar.worm.acceptor Require Export registers.
Local Open Scope Z_scope.

(** ** What an acceptor has: the pages of each segment *)
Definition segments := gmap Z (list page).
Definition pages_of (m : segments) (n : Z) : list page := default [] (m !! n).
(** Register [i] of segment [n]. *)
Definition state_of (m : segments) (n i : Z) : register := register_of (pages_of m n) i.

Lemma state_of_insert m n pgs n' i :
  state_of (<[n := pgs]> m) n' i = if decide (n' = n) then register_of pgs i else state_of m n' i.
Proof.
  rewrite /state_of /pages_of. case_decide as Hn; [subst; by rewrite lookup_insert|by rewrite lookup_insert_ne].
Qed.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_page own_segment_at.

Section promise.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (a l p : loc) (pgs : list page) (m : segments) (s : slice) (Φ : val → iProp Σ).
  Local Notation Acceptor := paxos.Acceptor.

  Definition own_segments b (locs : gmap Z loc) m : iProp Σ := [∗ map] l;pgs ∈ locs;m, own_segment_at b l pgs.
  (** The registers of the acceptor at [a] are those of [m]. *)
  Definition own_registers b a m : iProp Σ := ∃ locs, own_index b a locs ∗ own_segments b locs m.

  Lemma own_segments_none b locs m n : locs !! n = None → own_segments b locs m -∗ ⌜m !! n = None⌝.
  Proof.
    iIntros (Hn) "H". iDestruct (big_sepM2_dom with "H") as %Hdom. iPureIntro.
    apply not_elem_of_dom. rewrite -Hdom. by apply not_elem_of_dom.
  Qed.
  (** A segment that is there, to be changed. *)
  Lemma own_segments_acc b locs m n l : locs !! n = Some l →
    own_segments b locs m -∗ own_segment_at b l (pages_of m n) ∗
      (∀ pgs, own_segment_at b l pgs -∗ own_segments b locs (<[n := pgs]> m)).
  Proof.
    iIntros (Hl) "H". iDestruct (big_sepM2_dom with "H") as %Hdom.
    assert (is_Some (m !! n)) as [pgs Hpgs]. { apply elem_of_dom. rewrite -Hdom. apply elem_of_dom. by eexists. }
    rewrite /pages_of Hpgs /=. iDestruct (big_sepM2_insert_acc with "H") as "[$ H]"; [done..|].
    iIntros (pgs') "Hseg". iSpecialize ("H" with "Hseg"). by rewrite insert_id.
  Qed.
  (** A segment as [find] gives it, to be read. *)
  Lemma own_segments_read b locs m n :
    own_segments b locs m -∗ own_segment b (lit_of (locs !! n)) (pages_of m n) ∗
      (own_segment b (lit_of (locs !! n)) (pages_of m n) -∗ own_segments b locs m).
  Proof.
    iIntros "H". destruct (locs !! n) as [l|] eqn:Hl.
    - iDestruct (big_sepM2_dom with "H") as %Hdom.
      assert (is_Some (m !! n)) as [pgs Hpgs]. { apply elem_of_dom. rewrite -Hdom. apply elem_of_dom. by eexists. }
      iDestruct (own_segments_acc with "H") as "[Hseg H]"; [done|]. simpl. iSplitL "Hseg".
      { iRight. iExists l. by iFrame. }
      iIntros "[[%Hn _]|(%l' & %Hl' & Hseg)]"; [done|]. injection Hl' as <-. iSpecialize ("H" with "Hseg").
      rewrite insert_id //. by rewrite /pages_of Hpgs.
    - iDestruct (own_segments_none with "H") as %Hm; [done|]. rewrite /pages_of Hm /=. iSplitR; [by iLeft|]. by iIntros "_".
  Qed.

  (** A segment that is to be written, which is new if there was none. *)
  Lemma wp_open_segment b a locs m (n : Z) :
    {{{ own_index b a locs ∗ own_segments b locs m ∗ own_size b a }}}
      paxos.Acceptor__open #a #(u64 n) @ b; ⊤
    {{{ l locs', RET #l; own_size b a ∗ own_index b a locs' ∗ ⌜locs' !! n = Some l⌝ ∗
        own_segment_at b l (pages_of m n) ∗
        (∀ pgs, own_segment_at b l pgs -∗ own_segments b locs' (<[n := pgs]> m)) }}}.
  Proof.
    iIntros (Φ) "(Hindex & Hsegs & Hsize) HΦ". iApply wpe_fupd.
    wp_apply (wp_Acceptor__open with "[$Hindex $Hsize]"). iIntros (l) "[Hsize [[%Hl Hindex]|(%Hl & Hindex & Hseg)]]".
    - iApply ("HΦ" $! l locs). iFrame "Hsize Hindex". iSplitR; [done|]. by iApply own_segments_acc.
    - iDestruct (own_segments_none with "Hsegs") as %Hm; [done|].
      iApply ("HΦ" $! l (<[n := l]> locs)). iFrame "Hsize Hindex". iSplitR; [by rewrite lookup_insert|].
      rewrite /pages_of Hm /=. iFrame "Hseg". iIntros "!>" (pgs) "Hseg". iApply big_sepM2_insert; [done|done|]. iFrame.
  Qed.

  (** What the pages say are registers, whose ballots are two numbers of 64 bits. *)
  Lemma own_segment_ok b l pgs : own_segment_at b l pgs -∗ ⌜Forall page_ok pgs⌝.
  Proof.
    rewrite /own_segment_at. iIntros "(%s & %ps & %recent & _ & _ & _ & _ & _ & H)".
    iDestruct (big_sepL2_length with "H") as %Hlen. rewrite Forall_lookup. iIntros (k pg Hk).
    destruct (lookup_lt_is_Some_2 ps k) as [p Hp]; [rewrite Hlen; by eapply lookup_lt_Some|].
    iDestruct (big_sepL2_lookup with "H") as "H"; [done..|]. by iApply own_page_ok.
  Qed.
  Lemma own_registers_ok b a m : own_registers b a m -∗ ⌜∀ n i, register_ok (state_of m n i)⌝.
  Proof.
    iIntros "(%locs & _ & H)". iIntros (n i). rewrite /state_of /pages_of.
    destruct (m !! n) as [pgs|] eqn:Hm; [|done]. simpl.
    iDestruct (big_sepM2_dom with "H") as %Hdom.
    assert (is_Some (locs !! n)) as [l Hl]. { apply elem_of_dom. rewrite Hdom. apply elem_of_dom. by eexists. }
    iDestruct (big_sepM2_lookup with "H") as "H"; [done..|]. iDestruct (own_segment_ok with "H") as %Hok.
    iPureIntro. by apply register_of_ok.
  Qed.

  (** ** Promising *)
  (** Registers from [lo] on, below [hi], of segment [n] promise at least [x]; the others are as before. *)
  Lemma wp_Acceptor__promise b a m (n lo hi : Z) x : 0 ≤ lo ≤ hi → hi < 2 ^ 32 → ballot_ok x →
    {{{ own_registers b a m ∗ own_size b a ∗ own_scratch b a }}}
      paxos.Acceptor__promise #a #(u64 n) #(int lo) #(int hi) (ballot_val x) @ b; ⊤
    {{{ m', RET #(); own_registers b a m' ∗ own_size b a ∗ own_scratch b a ∗
        ⌜∀ n' j, 0 ≤ j → state_of m' n' j =
           if decide (n' = n ∧ lo ≤ j < hi) then promising (state_of m n j) x else state_of m n' j⌝ }}}.
  Proof.
    iIntros (Hlo Hhi Hx Φ) "([%locs [Hindex Hsegs]] & Hsize & Hscratch) HΦ". wp_rec. wp_pures.
    wp_alloc lov as "Hlo". wp_pures.
    wp_apply (wp_open_segment with "[$Hindex $Hsegs $Hsize]"). clear locs.
    iIntros (l locs) "(Hsize & Hindex & _ & Hseg & Hclose)". wp_pures.
    set (old := pages_of m n).
    wp_apply (wp_for_simple (∃ k pgs, ⌜lo ≤ k ≤ hi⌝ ∗ lov ↦[b] #(int k) ∗ own_segment_at b l pgs ∗ own_size b a ∗ own_scratch b a ∗
        ⌜∀ j, 0 ≤ j → register_of pgs j = if decide (lo ≤ j < k) then promising (register_of old j) x else register_of old j⌝)
      (∃ pgs, own_segment_at b l pgs ∗ own_size b a ∗ own_scratch b a ∗
        ⌜∀ j, 0 ≤ j → register_of pgs j = if decide (lo ≤ j < hi) then promising (register_of old j) x else register_of old j⌝)
      with "[Hlo Hseg Hsize Hscratch] []").
    { iExists lo, old. iFrame. iPureIntro. split; [lia|]. intros j Hj. by rewrite decide_False; [|lia]. }
    { iIntros "!> (%k & %pgs & %Hk & Hlo & Hseg & Hsize & Hscratch & %Hsay)". wp_load. loop_cond as Hlt; last first.
      { assert (k = hi) as -> by lia. iExists pgs. by iFrame. }
      wp_load. wp_apply (wp_Acceptor__page with "[$Hsize $Hseg]"); [lia|].
      iIntros (p pg pgs1) "(Hsize & Hp & [%Hn %Hat] & %Hsame & Hclose)". wp_pures.
      iDestruct (own_page_ok with "Hp") as %Hok.
      set (base := k / 256 * 256).
      assert (base ≤ k < base + 256) as Hbase by (unfold base; Z.to_euclidean_division_equations; lia).
      wp_load. wp_pures. change paxos.pageSize with 256. rewrite Z.quot_div_nonneg; [|lia..].
      rewrite (wrap_id I64 (k / 256)); [|int_solve]. fold base. rewrite (wrap_id I64 base); [|int_solve].
      rewrite (wrap_id I64 (base + 256)); [|int_solve].
      wp_apply (wp_std_min with "[//]"). iIntros "_". set (e := hi `min` (base + 256)). wp_pures.
      wp_apply (wp_page__bytes with "Hp"). iIntros (w1) "Hp". wp_pures.
      iDestruct "Hscratch" as (sc vs) "[Hsc Hscv]". wp_load. wp_load. wp_pures.
      rewrite (wrap_id I64 (e - base)); [|int_solve]. rewrite (wrap_id I64 (k - base)); [|int_solve].
      wp_apply (wp_page__grant with "[$Hp $Hscv]"); [lia|lia|done|]. iIntros (sc' vs' runs) "(Hp & Hscv & %Hgr)".
      wp_store. wp_pures. wp_apply (wp_page__bytes with "Hp"). iIntros (w2) "Hp". wp_pures.
      iDestruct "Hsize" as (size) "Hsize". wp_load. wp_store. wp_pures. wp_store. wp_pures. wp_pures.
      iExists e, (set_page pgs1 (with_runs pg runs)). iSplit; [iPureIntro; lia|]. iFrame "Hlo".
      iSplitL "Hclose Hp"; [iApply ("Hclose" $! (with_runs pg runs) with "[//] Hp")|]. iSplitL "Hsize"; [by iExists _|].
      iSplitL "Hsc Hscv"; [iExists sc', vs'; iFrame|]. iPureIntro. intros j Hj.
      rewrite (register_of_set _ pg); [|by rewrite /= Hn]. change (pg_number (with_runs pg runs)) with (pg_number pg). rewrite Hn.
      assert (0 ≤ j `mod` 256 < 256) as Hmj by (apply Z.mod_pos_bound; lia).
      pose proof (Hsay j Hj) as Hsj. rewrite -Hsame in Hsj.
      destruct (decide (j / 256 = k / 256)) as [Hjk|Hjk].
      - assert (j `mod` 256 = j - base) as Hjm by (unfold base; Z.to_euclidean_division_equations; lia).
        rewrite (page_of_promising pg runs (j `mod` 256) (k - base) (e - base) x) //; [|by apply Hgr; lia].
        assert (register_of pgs1 j = Register (promise_of pg (j `mod` 256)) (held pg (j `mod` 256))) as Hreg.
        { by rewrite /register_of Hjk Hat. }
        rewrite -Hreg Hsj Hjm.
        destruct (decide (k - base ≤ j - base < e - base)) as [Hin|Hin].
        + rewrite (decide_False (P := lo ≤ j < k)); [|lia]. by rewrite decide_True; [|lia].
        + destruct (decide (lo ≤ j < k)); [by rewrite decide_True; [|lia]|]. by rewrite decide_False; [|lia].
      - rewrite Hsj. assert (¬ k ≤ j < e) as Hout.
        { intros Hin. apply Hjk. unfold e, base in *. Z.to_euclidean_division_equations; lia. }
        destruct (decide (lo ≤ j < k)); [by rewrite decide_True; [|lia]|]. by rewrite decide_False; [|lia]. }
    iIntros "(%pgs & Hseg & Hsize & Hscratch & %Hsay)". iApply ("HΦ" $! (<[n := pgs]> m)). iFrame "Hsize Hscratch".
    iSplitL; [iExists locs; iFrame "Hindex"; by iApply "Hclose"|]. iPureIntro. intros n' j Hj. rewrite state_of_insert.
    destruct (decide (n' = n)) as [->|Hne]; [|rewrite decide_False //; tauto].
    rewrite Hsay // /state_of. fold old. destruct (decide (lo ≤ j < hi)).
    - by rewrite decide_True.
    - rewrite decide_False //. tauto.
  Qed.
End promise.

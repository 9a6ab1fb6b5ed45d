(** * Records of the acceptor, and the log: internal/worm/paxos/record.go, wor.Log *)
From iris.proofmode Require Import environments.
From ashlar.golib Require Export codec.
From ashlar.worm.acceptor Require Export reply.
Local Open Scope Z_scope.

(** ** Records *)
Definition registers_record (tag n lo hi : Z) (x : ballot) : list Z :=
  tag :: uvarint n ++ uvarint lo ++ uvarint (hi - lo) ++ uvarint (round x) ++ u64_bytes (nonce x).
Definition promise_record (n lo hi : Z) (x : ballot) : list Z := registers_record paxos.tagPromise n lo hi x.
Definition accept_record (n lo hi : Z) (x : ballot) (v : list Z) : list Z :=
  registers_record paxos.tagAccept n lo hi x ++ v.

(** Where each record ends. *)
Definition ends (records : list (list Z)) : list Z :=
  (λ i, Z.of_nat (length (concat (take (S i) records)))) <$> seq 0 (length records).
Lemma ends_snoc records r : ends (records ++ [r]) = ends records ++ [Z.of_nat (length (concat records ++ r))].
Proof.
  rewrite /ends app_length Nat.add_comm seq_S fmap_app. f_equal.
  - apply list_fmap_ext. intros i j Hj. apply lookup_seq in Hj as [-> Hi]. by rewrite take_app_le; [|lia].
  - simpl. rewrite take_ge; [|rewrite app_length /=; lia]. by rewrite concat_app /= app_nil_r.
Qed.

(** The search for laters need not look into these. *)
Local Typeclasses Opaque own_ty own_slice.

Section record.
  Context `{!golangGS Σ}.
  Implicit Types (b : boot) (a l : loc) (s : slice) (x : ballot) (Φ : val → iProp Σ).

  Lemma wp_appendRegisters b s (bs : list Z) (tag n lo hi : Z) x :
    in_range U64 n → 0 ≤ lo ≤ hi → hi < 2 ^ 32 → ballot_ok x →
    {{{ own_bytes_full b s bs }}}
      paxos.appendRegisters (slice_val s) #(u8 tag) #(u64 n) #(int lo) #(int hi) (ballot_val x) @ b; ⊤
    {{{ s', RET slice_val s'; own_bytes_full b s' (bs ++ registers_record tag n lo hi x) }}}.
  Proof.
    iIntros (Hn Hlo Hhi [Hround Hnonce] Φ) "Hs HΦ". wp_rec. wp_alloc d as "Hd". wp_pures.
    wp_load. wp_apply (wp_append_byte with "Hs"). iIntros (s1) "Hs". wp_store. wp_pures.
    wp_load. wp_apply (wp_append_uvarint with "Hs"); [done|]. iIntros (s2) "Hs". wp_store. wp_pures.
    wp_load. rewrite (wrap_id U64); [|int_solve].
    wp_apply (wp_append_uvarint with "Hs"); [int_solve|]. iIntros (s3) "Hs". wp_store. wp_pures.
    wp_load. rewrite (wrap_id I64); [|int_solve]. rewrite (wrap_id U64); [|int_solve].
    wp_apply (wp_append_uvarint with "Hs"); [int_solve|]. iIntros (s4) "Hs". wp_store. wp_pures.
    wp_load. wp_apply (wp_append_uvarint with "Hs"); [done|]. iIntros (s5) "Hs". wp_store. wp_pures.
    wp_load. wp_apply (wp_le_append_uint64 with "Hs"). iIntros (s6) "Hs". iApply "HΦ".
    rewrite /registers_record. by rewrite -!app_assoc.
  Qed.
  Lemma wp_promiseRecord b s (bs : list Z) (n lo hi : Z) x :
    in_range U64 n → 0 ≤ lo ≤ hi → hi < 2 ^ 32 → ballot_ok x →
    {{{ own_bytes_full b s bs }}}
      paxos.promiseRecord (slice_val s) #(u64 n) #(int lo) #(int hi) (ballot_val x) @ b; ⊤
    {{{ s', RET slice_val s'; own_bytes_full b s' (bs ++ promise_record n lo hi x) }}}.
  Proof. iIntros (????) "%Φ Hs HΦ". wp_rec. wp_pures. by wp_apply (wp_appendRegisters with "Hs"). Qed.
  Lemma wp_acceptRecord b s (bs : list Z) (n lo hi : Z) x sv dq (v : list Z) :
    in_range U64 n → 0 ≤ lo ≤ hi → hi < 2 ^ 32 → ballot_ok x →
    {{{ own_bytes_full b s bs ∗ own_bytes b sv dq v }}}
      paxos.acceptRecord (slice_val s) #(u64 n) #(int lo) #(int hi) (ballot_val x) (slice_val sv) @ b; ⊤
    {{{ s', RET slice_val s'; own_bytes_full b s' (bs ++ accept_record n lo hi x v) ∗ own_bytes b sv dq v }}}.
  Proof.
    iIntros (????) "%Φ [Hs Hv] HΦ". wp_rec. wp_pures. wp_apply (wp_appendRegisters with "Hs"); [done..|].
    iIntros (s') "Hs". wp_apply (wp_append_bytes with "[$Hs $Hv]"). by rewrite /accept_record app_assoc.
  Qed.

  (** ** The log that a request appends to *)
  Definition own_log b l (records : list (list Z)) : iProp Σ :=
    ∃ sb se, (l +ₗ field_offset wor.Log "buf") ↦[b] slice_val sb ∗ (l +ₗ field_offset wor.Log "ends") ↦[b] slice_val se ∗
      own_bytes_full b sb (concat records) ∗ own_slice_full b se int64T ((λ n : Z, #(int n)) <$> ends records).
  Lemma wp_Log__Append b l records s dq (r : list Z) :
    {{{ own_log b l records ∗ own_bytes b s dq r }}}
      wor.Log__Append #l (slice_val s) @ b; ⊤
    {{{ RET #(); own_log b l (records ++ [r]) ∗ own_bytes b s dq r }}}.
  Proof.
    iIntros (Φ) "[(%sb & %se & Hbuf & Hends & Hb & He) Hs] HΦ". wp_rec. wp_load.
    wp_apply (wp_append_bytes with "[$Hb $Hs]"). iIntros (sb') "[[Hb Hcap] Hs]". wp_store. wp_pures.
    iDestruct (own_bytes_length with "Hb") as %[Hlen _].
    wp_load. wp_load. wp_pures. rewrite Hlen. wp_apply (wp_append_one with "He"); [done|]. iIntros (se') "He". wp_store. wp_pures.
    iApply "HΦ". iFrame "Hs". iExists sb', se'. iFrame "Hbuf Hends". rewrite concat_app /= app_nil_r ends_snoc.
    iFrame "Hb Hcap". by rewrite fmap_app.
  Qed.

  (** The memory in which a record is made. *)
  Definition own_record b a : iProp Σ :=
    ∃ s bs, (a +ₗ field_offset paxos.Acceptor "record") ↦[b] slice_val s ∗ own_bytes_full b s bs.

  (** A value in the form in which it is stored. *)
  Lemma wp_keep b s (v : list Z) :
    {{{ own_bytes b s DfracDiscarded v }}}
      paxos.keep (slice_val s) @ b; ⊤
    {{{ s', RET slice_val s'; own_bytes b s' DfracDiscarded v }}}.
  Proof.
    iIntros (Φ) "#Hs HΦ". wp_rec. wp_pures. case_bool_decide; wp_pures; [|by iApply "HΦ"].
    wp_rec. wp_pures. case_bool_decide as Hnil; wp_pures.
    { iDestruct (own_bytes_length with "Hs") as %[Hlen _]. iDestruct (own_slice_wf with "Hs") as %[(Hl & _ & Hp) _].
      rewrite Hnil in Hp. destruct v; [|simpl in Hlen; lia].
      iApply ("HΦ" $! nil_slice). iApply own_slice_nil. }
    wp_apply (wp_make_bytes with "[//]"); [unfold max_elems; lia|]. iIntros (s1) "Hs1".
    iApply wpe_fupd. wp_apply (wp_append_bytes with "[$Hs1 $Hs]"). iIntros (s2) "[[Hs2 _] _]".
    iMod (own_slice_persist with "Hs2") as "Hs2". iApply ("HΦ" $! s2). by iFrame.
  Qed.
End record.

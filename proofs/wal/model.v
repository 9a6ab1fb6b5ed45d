(** * The write-ahead log without its program: what the blocks mean

    A disk, the transaction that its header announces, and the state that the
    two stand for; and what each kind of write does to it.  The same is checked
    exhaustively for a small disk in [specs/wal]. *)
From stdpp Require Import gmap list.
From ashlar.lib Require Import ints lists.
From ashlar.trusted Require Import disk.
Open Scope Z_scope.

(** The constants of the Go package. *)
Definition max_updates : Z := 511.
Definition data_start : Z := 512.

(** An update: an address and its new block. *)
Notation update := (Z * list Z)%type.

(** ** Updates in order *)
Definition apply_updates (us : list update) (d : disk) : disk := foldl (λ d u, <[u.1 := u.2]> d) d us.
(** The last update of an address. *)
Definition last_update (us : list update) (a : Z) : option (list Z) :=
  foldl (λ o u, if decide (u.1 = a) then Some u.2 else o) None us.

Lemma apply_snoc us u d : apply_updates (us ++ [u]) d = <[u.1 := u.2]> (apply_updates us d).
Proof. by rewrite /apply_updates /last_update foldl_app. Qed.
Lemma apply_app us vs d : apply_updates (us ++ vs) d = apply_updates vs (apply_updates us d).
Proof. by rewrite /apply_updates /last_update foldl_app. Qed.
Lemma last_update_snoc us u a :
  last_update (us ++ [u]) a = if decide (u.1 = a) then Some u.2 else last_update us a.
Proof. by rewrite /apply_updates /last_update foldl_app. Qed.
Lemma apply_lookup us d a :
  apply_updates us d !! a = match last_update us a with Some s => Some s | None => d !! a end.
Proof.
  induction us as [|u us IH] using rev_ind; [done|]. rewrite apply_snoc last_update_snoc.
  case_decide as Hu; [by rewrite Hu lookup_insert|by rewrite lookup_insert_ne].
Qed.
Lemma last_update_is_Some us u : u ∈ us → is_Some (last_update us u.1).
Proof.
  induction us as [|v us IH] using rev_ind; [by intros ?%elem_of_nil|].
  rewrite elem_of_app elem_of_list_singleton last_update_snoc. case_decide; [by eauto|].
  intros [?| ->]; [by apply IH|done].
Qed.
Lemma last_update_elem us a s : last_update us a = Some s → (a, s) ∈ us.
Proof.
  induction us as [|u us IH] using rev_ind; [done|]. rewrite last_update_snoc elem_of_app.
  case_decide as Hu; [|by intros ?%IH; left].
  intros [= <-]. right. apply elem_of_list_singleton. rewrite -Hu. by destruct u.
Qed.
(** Installing an entry early, or again, makes no difference in the end. *)
Lemma apply_insert us u d : u ∈ us → apply_updates us (<[u.1 := u.2]> d) = apply_updates us d.
Proof.
  intros Hu. apply map_eq. intros a. rewrite !apply_lookup.
  destruct (decide (u.1 = a)) as [<-|].
  - by destruct (last_update_is_Some us u Hu) as [s ->].
  - by rewrite lookup_insert_ne.
Qed.
Lemma apply_take_idem us k d : apply_updates us (apply_updates (take k us) d) = apply_updates us d.
Proof.
  induction k as [|k IH]; [done|]. destruct (us !! k) as [u|] eqn:Hu.
  - rewrite (take_S_r _ _ _ Hu) apply_snoc apply_insert //. by eapply elem_of_list_lookup_2.
  - apply lookup_ge_None in Hu. rewrite take_ge in IH; [|done]. by rewrite take_ge; [|lia].
Qed.
Lemma apply_idem us d : apply_updates us (apply_updates us d) = apply_updates us d.
Proof. rewrite -{2}(firstn_all us). apply apply_take_idem. Qed.
Lemma apply_dom us d : (∀ u, u ∈ us → is_Some (d !! u.1)) → dom (apply_updates us d) = dom d.
Proof.
  intros Hus. apply set_eq. intros a. rewrite !elem_of_dom apply_lookup.
  destruct (last_update us a) as [s|] eqn:Hs; [|done].
  apply last_update_elem, Hus in Hs. simpl in Hs. by split; eauto.
Qed.

(** ** The data: what is not the log's *)
Definition data (d : disk) : disk := filter (λ p, data_start ≤ p.1) d.

Lemma data_lookup d a : data_start ≤ a → data d !! a = d !! a.
Proof.
  intros Ha. rewrite /data. destruct (d !! a) eqn:Hd; simpl.
  - by apply map_filter_lookup_Some.
  - apply map_filter_lookup_None. by left.
Qed.
Lemma data_lookup_log d a : a < data_start → data d !! a = None.
Proof. intros. apply map_filter_lookup_None. right. simpl. lia. Qed.
Lemma data_insert_log d a s : a < data_start → data (<[a := s]> d) = data d.
Proof.
  intros Ha. apply map_eq. intros i. destruct (decide (data_start ≤ i)).
  - rewrite !data_lookup // lookup_insert_ne //. lia.
  - rewrite !data_lookup_log //; lia.
Qed.
Lemma data_insert d a s : data_start ≤ a → data (<[a := s]> d) = <[a := s]> (data d).
Proof. intros. apply map_filter_insert_True. done. Qed.
Lemma data_apply us d : (∀ u, u ∈ us → data_start ≤ u.1) → data (apply_updates us d) = apply_updates us (data d).
Proof.
  induction us as [|u us IH] using rev_ind; intros Hus; [done|].
  rewrite !apply_snoc data_insert; [|apply Hus; set_solver]. rewrite IH; [done|set_solver].
Qed.

(** ** The header

    The number of entries, their addresses, zeros.  [header_n addrs k] is the
    header that is being written, with [k] addresses in it. *)
Definition header_n (addrs : list Z) (k : nat) : list Z :=
  u64_bytes (length addrs) ++ concat (le_bytes 8 <$> take k addrs) ++ replicate (4088 - 8 * k) 0.
Definition header (addrs : list Z) : list Z := header_n addrs (length addrs).

Lemma concat_le_bytes_length (l : list Z) : length (concat (le_bytes 8 <$> l)) = (8 * length l)%nat.
Proof.
  rewrite (concat_length_equal 8); [rewrite fmap_length; lia|].
  apply Forall_fmap, Forall_true. intros x. apply le_bytes_length.
Qed.
Lemma header_empty : header [] = zero_block.
Proof. by vm_compute. Qed.
Lemma header_n_0 addrs : header_n addrs 0 = u64_bytes (length addrs) ++ drop 8 zero_block.
Proof. by rewrite /header_n take_0. Qed.
Lemma header_n_length addrs k :
  (k ≤ length addrs)%nat → (k ≤ 511)%nat → length (header_n addrs k) = Z.to_nat block_size.
Proof.
  intros. rewrite /header_n !app_length le_bytes_length concat_le_bytes_length take_length replicate_length.
  change (Z.to_nat block_size) with 4096%nat. lia.
Qed.
Lemma header_length addrs : (length addrs ≤ 511)%nat → block_ok (header addrs).
Proof. intros. by apply header_n_length. Qed.
Lemma header_n_step addrs k a :
  addrs !! k = Some a → (k < 511)%nat →
  take (8 + 8 * k) (header_n addrs k) ++ u64_bytes a ++ drop 8 (drop (8 + 8 * k) (header_n addrs k)) =
  header_n addrs (S k).
Proof.
  intros Ha Hk. apply lookup_lt_Some in Ha as Hlt.
  rewrite /header_n (assoc_L (++)).
  set (pre := u64_bytes (length addrs) ++ concat (le_bytes 8 <$> take k addrs)).
  assert (length pre = 8 + 8 * k)%nat as Hpre.
  { rewrite /pre app_length le_bytes_length concat_le_bytes_length take_length. lia. }
  rewrite -Hpre take_app drop_app drop_replicate.
  rewrite (take_S_r _ _ _ Ha) fmap_app concat_app fmap_cons fmap_nil concat_cons.
  rewrite (right_id_L [] (++)) /pre -!(assoc_L (++)).
  do 4 f_equal. lia.
Qed.
Lemma header_n_ok addrs k : Forall (in_range U8) (header_n addrs k).
Proof.
  rewrite /header_n !Forall_app. split_and!; [apply le_bytes_ok| |by apply Forall_replicate].
  apply Forall_concat, Forall_fmap, Forall_true. intros a. apply le_bytes_ok.
Qed.
Lemma header_count addrs :
  (length addrs ≤ 511)%nat → le_val (take 8 (header addrs)) = length addrs.
Proof.
  intros. rewrite /header /header_n take_app_alt; [|by rewrite le_bytes_length].
  apply u64_bytes_val. int_solve.
Qed.
Lemma header_addr addrs (i : nat) a :
  addrs !! i = Some a → in_range U64 a → le_val (take 8 (drop (8 + 8 * i) (header addrs))) = a.
Proof.
  intros Ha Hr. apply lookup_lt_Some in Ha as Hlt.
  assert (concat (le_bytes 8 <$> addrs) =
    concat (le_bytes 8 <$> take i addrs) ++ u64_bytes a ++ concat (le_bytes 8 <$> drop (S i) addrs)) as Hsplit.
  { by rewrite -{1}(take_drop_middle _ _ _ Ha) fmap_app concat_app fmap_cons concat_cons. }
  rewrite /header /header_n firstn_all Hsplit -!(assoc_L (++)) (assoc_L (++)) drop_app_alt; last first.
  { rewrite app_length le_bytes_length concat_le_bytes_length take_length. lia. }
  rewrite take_app_alt; [|by rewrite le_bytes_length]. by apply u64_bytes_val.
Qed.

(** ** The disk, the transaction that is committed and not yet cleared, the state *)
Record wal_rel (N : Z) (d : disk) (us : list update) (σ : disk) : Prop := {
  rel_size : Z.of_nat (size d) = N;
  rel_disk : disk_ok d;
  (* the log and the header are there *)
  rel_fits : data_start ≤ N;
  rel_count : (length us ≤ 511)%nat;
  (* the header announces the transaction *)
  rel_header : d !! 0 = Some (header us.*1);
  (* the entries hold its blocks, which are for data *)
  rel_entries i u : us !! i = Some u → d !! (1 + Z.of_nat i) = Some u.2;
  rel_addrs u : u ∈ us → data_start ≤ u.1 < N;
  (* the data after the transaction are the state *)
  rel_state : σ = data (apply_updates us d);
}.

Lemma disk_ok_insert d a s : is_Some (d !! a) → block_ok s → disk_ok d → disk_ok (<[a := s]> d).
Proof.
  intros [s0 Ha] Hs (Hdom & Hok & Hsize).
  assert (size (<[a := s]> d) = size d) as Hsz by (by rewrite map_size_insert Ha).
  split_and!; [|by apply map_Forall_insert_2|by rewrite Hsz].
  intros i. rewrite Hsz -Hdom. destruct (decide (a = i)) as [->|].
  - rewrite lookup_insert Ha. split; eauto.
  - by rewrite lookup_insert_ne.
Qed.

Section rel.
  Context (N : Z).
  Implicit Types (d σ : disk) (us : list update).

  Lemma rel_is_Some d us σ a : wal_rel N d us σ → 0 ≤ a < N → is_Some (d !! a).
  Proof. intros [Hsz (Hdom & _) _ _ _ _ _ _] Ha. apply Hdom. by rewrite Hsz. Qed.
  Lemma rel_in_range d us σ a : wal_rel N d us σ → 0 ≤ a < N → in_range U64 a.
  Proof. intros [Hsz (_ & _ & ?) _ _ _ _ _ _] Ha. int_solve. Qed.
  Lemma rel_block_ok d us σ a s : wal_rel N d us σ → d !! a = Some s → block_ok s.
  Proof. intros [_ (_ & Hok & _) _ _ _ _ _ _] Ha. by apply (Hok a). Qed.
  Lemma rel_write d us σ a s : wal_rel N d us σ → 0 ≤ a < N → block_ok s →
    disk_ok (<[a := s]> d) ∧ Z.of_nat (size (<[a := s]> d)) = N.
  Proof.
    intros Hrel Ha Hs. destruct (rel_is_Some _ _ _ _ Hrel Ha) as [s0 Hs0].
    split; [apply disk_ok_insert; [by eauto|done|apply Hrel]|].
    rewrite map_size_insert Hs0. apply Hrel.
  Qed.

  (** A read of data finds the state. *)
  Lemma rel_read d σ a : wal_rel N d [] σ → data_start ≤ a → d !! a = σ !! a.
  Proof. intros [_ _ _ _ _ _ _ ->] Ha. by rewrite data_lookup. Qed.

  (** Writing an entry changes nothing while the header announces none. *)
  Lemma rel_log d σ a s : wal_rel N d [] σ → 1 ≤ a < data_start → block_ok s →
    wal_rel N (<[a := s]> d) [] σ.
  Proof.
    intros Hrel Ha Hs. pose proof (rel_fits _ _ _ _ Hrel).
    destruct (rel_write _ _ _ a s Hrel) as [Hok Hsz]; [lia|done|].
    destruct Hrel as [_ _ Hfits Hcount Hheader Hentries Haddrs Hstate]. split; try done.
    - rewrite lookup_insert_ne //. lia.
    - by rewrite /= data_insert_log; [|lia].
  Qed.

  (** The commit point. *)
  Lemma rel_commit d σ us : wal_rel N d [] σ → (length us ≤ 511)%nat →
    (∀ i u, us !! i = Some u → d !! (1 + Z.of_nat i) = Some u.2) →
    (∀ u, u ∈ us → data_start ≤ u.1 < N) →
    wal_rel N (<[0 := header us.*1]> d) us (apply_updates us σ).
  Proof.
    intros Hrel Hlen Hus Haddrs. pose proof (rel_fits _ _ _ _ Hrel).
    destruct (rel_write _ _ _ 0 (header us.*1) Hrel) as [Hok Hsz]; [rewrite /data_start in H; lia| |].
    { apply header_length. by rewrite fmap_length. }
    split; try done.
    - by rewrite lookup_insert.
    - intros i u Hu. rewrite lookup_insert_ne; [|lia]. by apply Hus.
    - rewrite data_apply; [|intros u Hu; by apply Haddrs].
      rewrite data_insert_log; [|done]. f_equal. apply Hrel.
  Qed.

  (** Installing an entry. *)
  Lemma rel_install d us σ u : wal_rel N d us σ → u ∈ us → wal_rel N (<[u.1 := u.2]> d) us σ.
  Proof.
    intros Hrel Hu. pose proof (rel_addrs _ _ _ _ Hrel u Hu) as Ha.
    assert (block_ok u.2) as Hs.
    { apply elem_of_list_lookup in Hu as [i Hi].
      eapply rel_block_ok; [done|]. by eapply rel_entries. }
    assert (0 ≤ u.1 < N) as Hlt by (rewrite /data_start in Ha; lia).
    destruct (rel_write _ _ _ _ _ Hrel Hlt Hs) as [Hok Hsz].
    destruct Hrel as [_ _ Hfits Hcount Hheader Hentries Haddrs Hstate]. split; try done.
    - rewrite lookup_insert_ne //. rewrite /data_start in Ha. lia.
    - intros i v Hv. rewrite lookup_insert_ne; [by apply Hentries|].
      apply lookup_lt_Some in Hv. rewrite /data_start in Ha. lia.
    - by rewrite apply_insert.
  Qed.

  (** Clearing the header when all entries are in their places. *)
  Lemma rel_clear d us σ : wal_rel N d us σ → apply_updates us d = d →
    wal_rel N (<[0 := zero_block]> d) [] σ.
  Proof.
    intros Hrel Hd. pose proof (rel_fits _ _ _ _ Hrel).
    destruct (rel_write _ _ _ 0 zero_block Hrel) as [Hok Hsz]; [rewrite /data_start in H; lia|done|].
    destruct Hrel as [_ _ Hfits Hcount Hheader Hentries Haddrs Hstate]. split; try done.
    - simpl. lia.
    - by rewrite lookup_insert -header_empty.
    - by intros u ?%elem_of_nil.
    - rewrite /= data_insert_log //. by rewrite Hstate Hd.
  Qed.

  (** A new disk. *)
  Lemma rel_init d : disk_ok d → Z.of_nat (size d) = N → data_start ≤ N → d !! 0 = Some zero_block →
    wal_rel N d [] (data d).
  Proof.
    intros Hok Hsz Hfits Hd. split; try done; [simpl; lia|by intros u ?%elem_of_nil].
  Qed.
End rel.

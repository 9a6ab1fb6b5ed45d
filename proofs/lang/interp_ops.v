(** * The interpreter's operators, memory, devices and crashes

    Each function of [interp.v] gives what the relation of the same name allows
    ([_ok]), and nothing only where the relation has nothing ([_stuck]). *)
From ashlar.lib Require Import ints.
From ashlar.lang Require Export interp.
Open Scope Z_scope.

(** ** Arithmetic *)
Lemma fast_wrap_eq w n : fast_wrap w n = wrap w n.
Proof.
  destruct w; unfold fast_wrap, wrap.
  - change 255 with (Z.ones 8). by rewrite Z.land_ones.
  - change 65535 with (Z.ones 16). by rewrite Z.land_ones.
  - change 4294967295 with (Z.ones 32). by rewrite Z.land_ones.
  - change 18446744073709551615 with (Z.ones 64). by rewrite Z.land_ones.
  - change 18446744073709551615 with (Z.ones 64). by rewrite Z.land_ones.
Qed.
Lemma fast_un_op_eq op v : fast_un_op op v = un_op_eval op v.
Proof. destruct op; try done; destruct v as [[]| | | |]; try done; simpl; by rewrite fast_wrap_eq. Qed.
Lemma fast_int_op_eq op w a b : fast_int_op op w a b = int_op_eval op w a b.
Proof. destruct op; try done; unfold fast_int_op; by rewrite fast_wrap_eq. Qed.
Lemma fast_bin_op_eq op v1 v2 : fast_bin_op op v1 v2 = bin_op_eval op v1 v2.
Proof.
  destruct op; try done; destruct v1 as [[]| | | |]; try done; destruct v2 as [[]| | | |]; try done;
    unfold fast_bin_op; rewrite ?fast_int_op_eq; try done.
  simpl. unfold shift_eval. case_decide; [done|]. by rewrite fast_wrap_eq.
Qed.

(** ** Choices *)
Lemma permute_ok {A} fuel ch i (l : list A) : l ≡ₚ permute fuel ch i l.
Proof.
  revert i l. induction fuel as [|fuel IH]; intros i l; [done|]. simpl. destruct (l !! _) as [x|] eqn:Hx; [|done].
  etrans; [by apply delete_Permutation|]. by rewrite -IH.
Qed.
Lemma shuffle_ok {A} ch (l : list A) : l ≡ₚ shuffle ch l.
Proof. apply permute_ok. Qed.
Lemma choose_in {A} n (x : A) l : x ∈ l → choose n x l ∈ l.
Proof.
  intros Hx. unfold choose. destruct (l !! _) as [y|] eqn:Hy; [|done]. simpl. by eapply elem_of_list_lookup_2.
Qed.
Lemma arb_run_ok ch a : arb_ok a (arb_run ch a).
Proof.
  destruct a; simpl.
  - eexists. split; [apply wrap_in_range|done].
  - by eexists.
  - eexists. split; [|done]. apply Forall_fmap, Forall_true. intros i. apply (wrap_in_range U8).
Qed.

(** ** Memory *)
Lemma write_cells_eq l vs h : write_cells l vs h = cells l vs ∪ h.
Proof.
  revert l. induction vs as [|v vs IH]; intros l; simpl; [by rewrite left_id_L|].
  by rewrite IH insert_union_l.
Qed.
Lemma free_run_ok h l n : free_run h l n → free_at h l n.
Proof.
  revert l. induction n as [|n IH]; intros l; simpl; [intros _ i Hi; lia|].
  destruct (h !! l) eqn:Hl; [done|]. intros Hfree i Hi. destruct (decide (i = 0)) as [->|Hne].
  - by rewrite loc_add_0.
  - specialize (IH _ Hfree (i - 1)). rewrite loc_add_assoc in IH.
    replace (1 + (i - 1)) with i in IH by lia. apply IH. lia.
Qed.
Lemma find_free_ok h next n : free_at h (find_free h next n) n.
Proof.
  unfold find_free. destruct (free_run h (Loc next) n) eqn:Hfree; [by apply free_run_ok; rewrite Hfree|].
  intros i Hi. apply not_elem_of_dom, fresh_locs_fresh. lia.
Qed.
Lemma read_bytes_ok h l n s : read_bytes h l n = Some s ↔
  length s = n ∧ ∀ (i : nat) b, s !! i = Some b → ∃ k, h !! (l +ₗ i) = Some (Reading k (byte_val b)).
Proof.
  revert l s. induction n as [|n IH]; intros l s; simpl.
  - split; [by intros [= <-]|]. intros [?%nil_length_inv ?]. by subst.
  - split.
    + destruct (h !! l) as [[k [[[] b| | | | |]| | | |]|]|] eqn:Hl; try done.
      intros (s' & Hs' & ->)%fmap_Some_1. apply IH in Hs' as [<- Hs']. split; [done|].
      intros [|i] b' Hb; simplify_eq/=; [exists k; by rewrite loc_add_0|].
      destruct (Hs' _ _ Hb) as [k' Hk']. exists k'. rewrite -Hk' loc_add_assoc. do 2 f_equal. lia.
    + destruct s as [|b s]; intros [Hlen Hs]; simplify_eq/=.
      destruct (Hs 0%nat b) as [k Hk]; [done|]. rewrite loc_add_0 in Hk. rewrite Hk. simpl.
      assert (read_bytes h (l +ₗ 1) (length s) = Some s) as ->; [|done].
      apply IH. split; [done|]. intros i b' Hb. destruct (Hs (S i) b') as [k' Hk']; [done|].
      exists k'. rewrite -Hk' loc_add_assoc. do 2 f_equal. lia.
Qed.

Lemma alloc_run_ok vs h next w h' k : alloc_run vs h next = (w, h', k) →
  ∃ l, w = LitV (LitLoc l) ∧ free_at h l (length vs) ∧ h' = cells l vs ∪ h.
Proof.
  unfold alloc_run. intros [= <- <- <-]. eexists. split_and!; [done|apply find_free_ok|apply write_cells_eq].
Qed.
Lemma concat_replicate_length {A} n (l : list A) : length (concat (replicate n l)) = (n * length l)%nat.
Proof. induction n as [|n IH]; simpl; [done|]. by rewrite app_length IH. Qed.

Lemma mem_run_ok op v h next w h' k : mem_run op v h next = Some (w, h', k) → mem_step op v h w h'.
Proof.
  destruct op; simpl; try done; intros Hrun.
  - destruct v as [| |[[[] n| | | | |]| | | |] v| |]; try done. case_decide; [|done].
    apply fmap_Some_1 in Hrun as (vs & Hvs & (l & -> & Hl & ->)%symmetry%alloc_run_ok).
    rewrite concat_replicate_length in Hl. by constructor.
  - destruct v as [[]| | | |]; try done. apply (inj Some), alloc_run_ok in Hrun as (l & -> & Hl & ->).
    rewrite fmap_length in Hl. by constructor.
  - destruct v as [[]| | | |]; simplify_eq/=. repeat case_match; simplify_eq. by econstructor.
  - destruct v as [| |[[]| | | |] [[[] n| | | | |]| | | |]| |]; try done. case_decide; [|done].
    apply fmap_Some_1 in Hrun as (s & [Hlen Hs]%read_bytes_ok & [= -> -> _]). by constructor.
  - destruct v as [[]| | | |]; simplify_eq/=. repeat case_match; simplify_eq. by econstructor.
  - destruct v as [| |[[]| | | |] v| |]; simplify_eq/=. repeat case_match; simplify_eq. by econstructor.
  - destruct v as [[]| | | |]; simplify_eq/=. repeat case_match; simplify_eq. by econstructor.
  - destruct v as [[]| | | |]; simplify_eq/=. repeat case_match; simplify_eq. by econstructor.
  - destruct v as [| |[[]| | | |] [| |v1 v2| |]| |]; try done.
    destruct (h !! _) as [[[] u|]|] eqn:Hl; try done.
    apply fmap_Some_1 in Hrun as (b & Hb & [= -> -> _]). by econstructor.
Qed.

(** An allocation always finds room; all else is as the semantics says. *)
Lemma mem_run_stuck op v h next w h' : mem_run op v h next = None → ¬ mem_step op v h w h'.
Proof.
  intros Hrun Hstep. destruct Hstep as [n v vs l h Hn Hvs _| |l k v h Hl|l n s h Hn Hlen Hs|l v h Hl|l v h Hl|
    l k v h Hl|l k v h Hl|l v1 v2 w b h Hl Hb]; simpl in Hrun; try (rewrite Hl in Hrun); try done.
  - rewrite decide_True in Hrun; [|done]. by rewrite Hvs in Hrun.
  - rewrite decide_True in Hrun; [|done].
    assert (read_bytes h l (Z.to_nat n) = Some s) as Hr; [by apply read_bytes_ok|]. by rewrite Hr in Hrun.
  - by rewrite Hb in Hrun.
Qed.

(** ** Devices *)
Lemma disk_run_ok op v d w d' : disk_run op v d = Some (w, d') → disk_step op v d w d'.
Proof.
  destruct op; simpl; try done; intros Hrun.
  - destruct v as [[[]| | | | |]| | | |]; try done. apply fmap_Some_1 in Hrun as (b & ? & [= -> ->]). by constructor.
  - destruct v as [| |[[[]| | | | |]| | | |] [[]| | | |]| |]; try done.
    destruct (d !! n) eqn:Ha; [|done]. case_decide; simplify_eq. by econstructor.
  - destruct v as [[]| | | |]; simplify_eq. constructor.
Qed.
Lemma disk_run_stuck op v d w d' : disk_run op v d = None → ¬ disk_step op v d w d'.
Proof.
  intros Hrun Hstep. destruct Hstep as [a b d Ha|a b b0 d Ha Hb|]; simpl in Hrun; try (rewrite Ha in Hrun); try done.
  by rewrite decide_True in Hrun.
Qed.

Lemma two_fail_ok ch i t : td_fail i t (two_fail ch i t).
Proof. unfold two_fail. destruct t as [d0 d1 [f|]]; simpl; [constructor|]. case_decide; constructor. Qed.
Lemma two_fail_get ch i t : td_get i (two_fail ch i t) = td_get i t.
Proof. unfold two_fail. destruct t as [d0 d1 [f|]]; simpl; [done|]. case_decide; by destruct i. Qed.
Lemma td_fail_get i t t' : td_fail i t t' → td_get i t' = td_get i t.
Proof. by destruct 1, i. Qed.
Lemma two_run_ok ch op v t w t' : two_run ch op v t = Some (w, t') → two_step op v t w t'.
Proof.
  destruct op; simpl; try done; intros Hrun.
  - destruct v as [| |w0 [[[]| | | | |]| | | |]| |]; try done. simplify_option_eq.
    + eapply TwoReadFailedS; [done|apply two_fail_ok|done|done].
    + eapply TwoReadS; [done|apply two_fail_ok|done|done].
  - destruct v as [| |w0 [| |[[[]| | | | |]| | | |] [[]| | | |]| |]| |]; try done. simplify_option_eq.
    + eapply TwoWriteFailedS; [done|apply two_fail_ok|done..].
    + eapply TwoWriteS; [done|apply two_fail_ok|done..].
  - destruct v as [[]| | | |]; simplify_eq. constructor.
Qed.
Lemma two_run_stuck ch op v t w t' : two_run ch op v t = None → ¬ two_step op v t w t'.
Proof.
  intros Hrun Hstep.
  destruct Hstep as [w i a b t t' Hi Hf _ Ha|w i a b t t' Hi Hf _ Ha|w i a b b0 t t' Hi Hf _ Ha Hb|
    w i a b b0 t t' Hi Hf _ Ha Hb|t]; simpl in Hrun; [..|done];
    apply td_fail_get in Hf; rewrite Hf in Ha; rewrite Hi /= two_fail_get Ha /= in Hrun; try done;
    rewrite decide_True // in Hrun.
Qed.

Lemma async_run_ok op v d w d' : async_run op v d = Some (w, d') → async_step op v d w d'.
Proof.
  destruct op; simpl; try done; intros Hrun.
  - destruct v as [[[]| | | | |]| | | |]; try done. apply fmap_Some_1 in Hrun as (b & ? & [= -> ->]). by constructor.
  - destruct v as [| |[[[]| | | | |]| | | |] [[]| | | |]| |]; try done. simplify_option_eq. by econstructor.
  - destruct v as [[]| | | |]; simplify_eq. constructor.
  - destruct v as [[]| | | |]; simplify_eq. constructor.
Qed.
Lemma async_run_stuck op v d w d' : async_run op v d = None → ¬ async_step op v d w d'.
Proof.
  intros Hrun Hstep. destruct Hstep as [a c d Ha|a b c d Ha Hb| |]; simpl in Hrun; try (rewrite Ha in Hrun); try done.
  simpl in Hrun. by rewrite decide_True in Hrun.
Qed.

(** *** The file system *)
Lemma find_key_ok {A} (m : gmap Z A) from (fuel : nat) : 0 ≤ from → 0 ≤ find_key m from fuel.
Proof.
  revert from. induction fuel as [|fuel IH]; intros from Hfrom; simpl; [done|].
  destruct (m !! from); [|done]. apply IH. lia.
Qed.
(** Among size + 1 keys in a row, one is not in the map. *)
Lemma find_key_free {A} (m : gmap Z A) from (fuel : nat) :
  (size (filter (λ p, (from ≤ p.1)%Z) m) < fuel)%nat → m !! find_key m from fuel = None.
Proof.
  revert from. induction fuel as [|fuel IH]; intros from Hsize; simpl; [lia|].
  destruct (m !! from) as [x|] eqn:Hx; [|done]. apply IH.
  assert (filter (λ p : Z * A, (from ≤ p.1)%Z) m = <[from := x]> (filter (λ p, (from + 1 ≤ p.1)%Z) m)) as Heq.
  { apply map_eq. intros i. destruct (decide (i = from)) as [->|Hne].
    - rewrite lookup_insert. by apply map_filter_lookup_Some_2.
    - rewrite lookup_insert_ne; [|done]. destruct (m !! i) as [y|] eqn:Hy.
      + destruct (decide (from ≤ i)).
        * rewrite !(map_filter_lookup_Some_2 _ _ _ y) //=; lia.
        * rewrite !map_filter_lookup_None_2 //; right; intros ? _; simpl; lia.
      + rewrite !map_filter_lookup_None_2 //; by left. }
  rewrite Heq map_size_insert_None in Hsize; [lia|].
  apply map_filter_lookup_None_2. right. intros ? _. simpl. lia.
Qed.
Lemma new_key_ok {A} (m : gmap Z A) : m !! new_key m = None ∧ 0 ≤ new_key m.
Proof.
  unfold new_key. split; [|by apply find_key_ok].
  apply find_key_free. apply (Nat.le_lt_trans _ (size m)); [|lia].
  rewrite -!(size_dom (D := gset Z)). apply subseteq_size, dom_filter_subseteq.
Qed.

Lemma names_of_ok names name : name ∈ names_of names ↔ is_Some (ca_latest (entry names name)).
Proof.
  unfold names_of, entry. rewrite elem_of_list_omap. split.
  - intros ([k c] & Hkc%elem_of_map_to_list & Hc). simpl in Hc.
    destruct (ca_latest c) eqn:Hl; simplify_eq. rewrite Hkc /= Hl. eauto.
  - destruct (names !! name) as [c|] eqn:Hc; simpl; [|by intros []].
    intros [i Hi]. exists (name, c). rewrite elem_of_map_to_list /= Hi. done.
Qed.
Lemma names_of_NoDup names : NoDup (names_of names).
Proof.
  unfold names_of. pose proof (NoDup_fst_map_to_list names) as Hnd.
  induction (map_to_list names) as [|[k c] l IH]; simpl in *; [constructor|].
  apply NoDup_cons in Hnd as [Hk Hl]. specialize (IH Hl).
  destruct (ca_latest c); [|done]. constructor; [|done].
  rewrite elem_of_list_omap. intros ([k' c'] & Hin & Hc'). simpl in Hc'.
  destruct (ca_latest c'); simplify_eq. apply Hk, elem_of_list_fmap. by exists (k, c').
Qed.
Lemma fs_entry_dir f dir name i : fs_entry f dir name = Some i → is_Some (fs_dirs f !! dir).
Proof. unfold fs_entry. destruct (fs_dirs f !! dir); [by eauto|done]. Qed.

Lemma create_run_ok dir name f w f' : create_run dir name f = Some (w, f') →
  fs_step FsCreate (PairV (vstr dir) (vstr name)) f w f'.
Proof.
  unfold create_run. destruct (fs_entry f dir name) as [i|] eqn:Hi.
  - intros [= <- <-]. by econstructor.
  - destruct (fs_dirs f !! dir) eqn:Hd; [|done]. intros [= <- <-].
    destruct (new_key_ok (fs_inodes f)), (new_key_ok (fs_fds f)). by constructor.
Qed.
Lemma open_run_ok dir name f w f' : open_run dir name f = Some (w, f') →
  fs_step FsOpen (PairV (vstr dir) (vstr name)) f w f'.
Proof.
  unfold open_run. destruct (fs_entry f dir name) as [i|] eqn:Hi.
  - intros [= <- <-]. destruct (new_key_ok (fs_fds f)). by constructor.
  - destruct (fs_dirs f !! dir) eqn:Hd; [|done]. intros [= <- <-]. by constructor.
Qed.
Lemma link_run_ok dir name dir2 name2 f w f' : link_run dir name dir2 name2 f = Some (w, f') →
  fs_step FsLink (PairV (PairV (vstr dir) (vstr name)) (PairV (vstr dir2) (vstr name2))) f w f'.
Proof.
  unfold link_run. destruct (fs_entry f dir name) as [i|] eqn:Hi; [|done]. simpl.
  destruct (fs_entry f dir2 name2) as [j|] eqn:Hj.
  - intros [= <- <-]. by econstructor.
  - destruct (fs_dirs f !! dir2) eqn:Hd; [|done]. intros [= <- <-]. by constructor.
Qed.
Lemma fs_run_ok ch op v f w f' : fs_run ch op v f = Some (w, f') → fs_step op v f w f'.
Proof.
  destruct op; simpl; try done; intros Hrun.
  - destruct v as [| |[[]| | | |] [[]| | | |]| |]; try done. by apply create_run_ok.
  - destruct v as [| |[[]| | | |] [[]| | | |]| |]; try done. by apply open_run_ok.
  - destruct v as [| |[[[]| | | | |]| | | |] [[]| | | |]| |]; try done.
    destruct (fs_fds f !! _) as [[i []]|] eqn:Hfd; try done.
    apply fmap_Some_1 in Hrun as (n' & Hn & [= -> ->]). by econstructor.
  - destruct v as [| |[[[]| | | | |]| | | |] v| |]; try done.
    destruct v as [| |[[[]| | | | |]| | | |] v| |]; try done. destruct v as [[[]| | | | |]| | | |]; try done.
    destruct (fs_fds f !! _) as [[i []]|] eqn:Hfd; try done.
    apply fmap_Some_1 in Hrun as (n' & Hn & [= -> ->]). by econstructor.
  - destruct v as [[[]| | | | |]| | | |]; try done.
    destruct (fs_fds f !! _) as [[i m]|] eqn:Hfd; simplify_option_eq. by econstructor.
  - destruct v as [[[]| | | | |]| | | |]; try done. simplify_option_eq. by econstructor.
  - destruct v as [| |v1 v2| |]; try done. destruct v1 as [| |[[]| | | |] v| |]; try done.
    destruct v as [[]| | | |]; try done. destruct v2 as [| |[[]| | | |] v| |]; try done.
    destruct v as [[]| | | |]; try done. by apply link_run_ok.
  - destruct v as [| |[[]| | | |] [[]| | | |]| |]; try done. simplify_option_eq. by econstructor.
  - destruct v as [[]| | | |]; try done. simplify_option_eq. eapply FsListS; [done|..].
    + rewrite -shuffle_ok. apply names_of_NoDup.
    + intros name. rewrite -shuffle_ok. apply names_of_ok.
  - destruct v as [[[]| | | | |]| | | |]; try done.
    destruct (fs_fds f !! _) as [[i m]|] eqn:Hfd; simplify_option_eq. by econstructor.
  - destruct v as [[]| | | |]; try done. simplify_option_eq. constructor. by eexists.
Qed.
Lemma fs_run_stuck ch op v f w f' : fs_run ch op v f = None → ¬ fs_step op v f w f'.
Proof.
  intros Hrun Hstep.
  destruct Hstep; simpl in Hrun; unfold create_run, open_run, link_run in Hrun;
    repeat match goal with
    | H : is_Some _ |- _ => destruct H as [? H]
    | H : ?x = _, H' : context [?x] |- _ => progress rewrite H /= in H'
    end; try done.
Qed.

Lemma dev_run_ok ch op v dv w dv' : dev_run ch op v dv = Some (w, dv') → dev_step op v dv w dv'.
Proof.
  unfold dev_run. intros Hrun.
  destruct op; apply fmap_Some_1 in Hrun as ([w' d'] & Hrun & [= -> ->]);
    first [by apply DevDiskS, disk_run_ok|by eapply DevTwoS, two_run_ok
          |by apply DevAsyncS, async_run_ok|by eapply DevFsS, fs_run_ok].
Qed.
Lemma dev_run_stuck ch op v dv w dv' : dev_run ch op v dv = None → ¬ dev_step op v dv w dv'.
Proof.
  unfold dev_run. intros Hrun Hstep.
  assert (disk_run op v (dv_disk dv) = None ∨ ∀ w d', ¬ disk_step op v (dv_disk dv) w d') as Hdisk.
  { destruct op; first [left; by apply fmap_None in Hrun|right; by inversion 1]. }
  assert (two_run ch op v (dv_two dv) = None ∨ ∀ w d', ¬ two_step op v (dv_two dv) w d') as Htwo.
  { destruct op; first [left; by apply fmap_None in Hrun|right; by inversion 1]. }
  assert (async_run op v (dv_async dv) = None ∨ ∀ w d', ¬ async_step op v (dv_async dv) w d') as Hasync.
  { destruct op; first [left; by apply fmap_None in Hrun|right; by inversion 1]. }
  assert (fs_run ch op v (dv_fs dv) = None ∨ ∀ w d', ¬ fs_step op v (dv_fs dv) w d') as Hfs.
  { destruct op; first [left; by apply fmap_None in Hrun|right; by inversion 1]. }
  destruct Hstep as [op v dv r d' Hs|op v dv r d' Hs|op v dv r d' Hs|op v dv r d' Hs].
  - destruct Hdisk as [Hn|Hn]; [by eapply disk_run_stuck|by eapply Hn].
  - destruct Htwo as [Hn|Hn]; [by eapply two_run_stuck|by eapply Hn].
  - destruct Hasync as [Hn|Hn]; [by eapply async_run_stuck|by eapply Hn].
  - destruct Hfs as [Hn|Hn]; [by eapply fs_run_stuck|by eapply Hn].
Qed.

(** ** Crashes *)
Lemma keep_possible {A} n (c : cached A) : ∃ b, b ∈ ca_possible c ∧ keep n c = ca_new b.
Proof. eexists. split; [|reflexivity]. apply choose_in. by left. Qed.
Lemma async_crash_run_ok ch d : async_crash d (async_crash_run ch d).
Proof.
  unfold async_crash_run. split.
  - apply set_eq. intros a. rewrite !elem_of_dom map_lookup_imap. destruct (d !! a); simpl; naive_solver.
  - intros a c Ha. destruct (keep_possible (ch a) c) as (b & Hb & Hk).
    exists b. split; [done|]. by rewrite map_lookup_imap Ha /= Hk.
Qed.
Lemma inode_crash_run_ok ch i n : inode_crash n (inode_crash_run ch i n).
Proof.
  unfold inode_crash_run. set (rest := drop _ _). set (k := Z.to_nat _).
  exists (if Z.odd (ch (i + 1)) then wrap U8 <$> take k rest
     else imap (λ j _, wrap U8 (ch (i + Z.of_nat j))) (take k rest)). simpl.
  set (tail := if Z.odd _ then _ else _).
  assert (length tail = length (take k rest)) as Hlen.
  { unfold tail. destruct (Z.odd _); [by rewrite fmap_length|by rewrite imap_length]. }
  split_and!; [done| | |done].
  - rewrite app_length Hlen !take_length /rest drop_length. lia.
  - unfold tail. destruct (Z.odd _).
    + apply Forall_fmap, Forall_true. intros b. apply (wrap_in_range U8).
    + apply Forall_lookup. intros j b (? & _ & ->)%list_lookup_imap_Some. apply (wrap_in_range U8).
Qed.
Lemma names_crash_run_ok ch dir m : names_crash m (names_crash_run ch dir m).
Proof.
  intros name. unfold names_crash_run, entry. rewrite map_lookup_imap.
  destruct (m !! name) as [c|]; simpl.
  - apply keep_possible.
  - exists None. split; [by left|done].
Qed.
Lemma fs_crash_run_ok ch f : fs_crash f (fs_crash_run ch f).
Proof.
  split_and!; simpl; [done|..].
  - intros dir. rewrite map_lookup_imap. destruct (fs_dirs f !! dir); simpl; [|done]. apply names_crash_run_ok.
  - intros i. rewrite map_lookup_imap. destruct (fs_inodes f !! i); simpl; [|done]. apply inode_crash_run_ok.
Qed.
Lemma node_crash_run_ok ch ns : node_crash ns (node_crash_run ch ns).
Proof.
  destruct ns as [ep h d]. constructor. split_and!; [done..| |]; simpl.
  - apply async_crash_run_ok.
  - apply fs_crash_run_ok.
Qed.

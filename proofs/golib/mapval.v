(** * Map values

    A map of the language is a chain of entries.  [map_val kv l] is the chain of
    the keys and values in [l]; it stands for the finite map [list_to_map l], and
    the operators on chains are the operations on finite maps. *)
From stdpp Require Export fin_maps fin_map_dom gmap.
From ashlar.lang Require Export golib.

(** A type of keys, and the Go value of a key. *)
Class KeyVal {K} `{EqDecision K} (kv : K → val) :=
  key_eqb j k : val_eqb (kv j) (kv k) = Some (bool_decide (j = k)).
Definition u64_key (n : Z) : val := #(u64 n).
Definition int_key (n : Z) : val := #(int n).
Definition str_key (s : list Z) : val := #(LitStr s).
Global Instance u64_key_val : KeyVal u64_key.
Proof. intros j k. simpl. f_equal. apply bool_decide_ext. naive_solver. Qed.
Global Instance int_key_val : KeyVal int_key.
Proof. intros j k. simpl. f_equal. apply bool_decide_ext. naive_solver. Qed.
Global Instance str_key_val : KeyVal str_key.
Proof. intros j k. simpl. f_equal. apply bool_decide_ext. naive_solver. Qed.

Section map_val.
  Context {K : Type} `{Countable K} (kv : K → val) `{!KeyVal kv}.
  Implicit Types (l : list (K * val)) (m : gmap K val) (k : K) (v : val).

  Definition entry_val (p : K * val) : val := (kv p.1, p.2)%V.
  Definition map_val l : val := list_val (entry_val <$> l).
  (** [l] lists the entries of [m], each once. *)
  Definition entries_of l m : Prop := NoDup l.*1 ∧ list_to_map l = m.
  Definition option_val (o : option val) : val :=
    match o with None => InjLV #() | Some v => InjRV v end.

  Lemma key_val_inj j k : kv j = kv k → j = k.
  Proof.
    intros Hjk. pose proof (key_eqb j k) as Hj. rewrite Hjk key_eqb in Hj.
    injection Hj. rewrite (bool_decide_true (k = k)) //. intros Ht. symmetry in Ht. by apply bool_decide_eq_true_1 in Ht.
  Qed.

  Lemma entries_of_nil : entries_of [] ∅.
  Proof. split; [constructor|done]. Qed.
  Lemma entries_of_lookup l m k v : entries_of l m → m !! k = Some v ↔ (k, v) ∈ l.
  Proof. intros [Hl <-]. symmetry. by apply elem_of_list_to_map. Qed.
  Lemma entries_of_length l m : entries_of l m → length l = size m.
  Proof.
    intros [Hl <-]. rewrite /size /map_size. by rewrite map_to_list_to_map.
  Qed.
  Lemma entries_of_perm l m l' : entries_of l m → l ≡ₚ l' → entries_of l' m.
  Proof.
    intros [Hl <-] Hp. split.
    - by rewrite -Hp.
    - symmetry. by apply list_to_map_proper.
  Qed.
  Lemma entries_of_delete l m k :
    entries_of l m → entries_of (filter (λ p, p.1 ≠ k) l) (delete k m).
  Proof.
    intros [Hl <-]. split.
    - clear -Hl. induction l as [|[j v] l IH]; [constructor|].
      apply NoDup_cons in Hl as [Hj Hl]. rewrite filter_cons. case_decide; [|auto].
      simpl. apply NoDup_cons. split; [|auto]. intros Hin. apply Hj.
      apply elem_of_list_fmap in Hin as (p & -> & Hp). apply elem_of_list_filter in Hp as [_ Hp].
      exact (elem_of_list_fmap_1 fst l p Hp).
    - clear. induction l as [|[j v] l IH]; simpl; [by rewrite delete_empty|].
      rewrite filter_cons. simpl. case_decide as Hjk; simpl in *.
      + by rewrite IH delete_insert_ne.
      + subst. by rewrite IH delete_insert_delete.
  Qed.
  Lemma entries_of_insert l m k v :
    entries_of l m → entries_of ((k, v) :: filter (λ p, p.1 ≠ k) l) (<[k := v]> m).
  Proof.
    intros Hl%(entries_of_delete _ _ k). destruct Hl as [Hl Hm]. split.
    - simpl. apply NoDup_cons. split; [|done]. intros Hin.
      apply elem_of_list_fmap in Hin as (p & -> & Hp). by apply elem_of_list_filter in Hp as [??].
    - simpl. by rewrite Hm insert_delete_insert.
  Qed.

  (** ** The operators *)
  Lemma map_get_spec l m k :
    entries_of l m → map_get (map_val l) (kv k) = Some (option_val (m !! k)).
  Proof.
    intros [_ <-]. induction l as [|[j v] l IH]; simpl; [by rewrite lookup_empty|].
    rewrite key_eqb. case_bool_decide; subst.
    - by rewrite lookup_insert.
    - by rewrite lookup_insert_ne.
  Qed.
  Lemma map_del_spec l k :
    map_del (map_val l) (kv k) = Some (map_val (filter (λ p, p.1 ≠ k) l)).
  Proof.
    induction l as [|[j v] l IH]; [done|].
    cbn [map_val entry_val fmap list_fmap list_val map_del fst snd]. rewrite key_eqb filter_cons.
    case_bool_decide; subst.
    - rewrite decide_False; [done|]. simpl. naive_solver.
    - fold (map_val l). rewrite IH. rewrite decide_True; done.
  Qed.
  Lemma map_set_spec l k v :
    map_set (map_val l) (kv k) v = Some (map_val ((k, v) :: filter (λ p, p.1 ≠ k) l)).
  Proof. by rewrite /map_set map_del_spec. Qed.
  Lemma map_entries_spec l : val_list (map_val l) = Some (entry_val <$> l).
  Proof. apply val_list_val. Qed.
  Lemma map_entries_permute l vs :
    entry_val <$> l ≡ₚ vs → ∃ l', l ≡ₚ l' ∧ vs = entry_val <$> l'.
  Proof. intros Hp. symmetry in Hp. apply Permutation_map_inv in Hp as (l' & -> & ?). eauto. Qed.
End map_val.

Global Arguments map_val : simpl never.

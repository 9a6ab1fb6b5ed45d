(** * Dedalus: the pieces show clients nothing new

    The pieces of a divided instance carry, each, the part of what the instance carries
    that is theirs ([related]).  A tick of a piece is a tick of the instance in which the
    same comes in: what other pieces carry is as it was, as nothing came in for them. *)
From stdpp Require Import prelude strings gmap gmultiset functions.
From ashlar.dedalus Require Import lang system keyed piece still divide.

Section partition.
  Context (number : value → nat) (place : value → nat → value) (p : plan).
  Local Notation bucket := (bucket number p).
  Local Notation places := (places place p).
  Local Notation reroute := (reroute number place p).
  Local Notation divide := (divide number place p).
  Local Notation may_divide := (may_divide place p).

  Lemma bucket_lt v : 0 < pieces p → bucket v < pieces p.
  Proof. intros H. apply Nat.mod_upper_bound. lia. Qed.

  Lemma elem_of_places a : a ∈ places ↔ ∃ b q, b ∈ nodes p ∧ q < pieces p ∧ a = place b q.
  Proof.
    unfold places. rewrite elem_of_list_bind. split.
    - intros (b&(q&->&Hq%elem_of_seq)%elem_of_list_fmap&Hb%elem_of_elements). exists b, q. split; [done|]. split; [lia|done].
    - intros (b&q&Hb&Hq&->). exists b. split; [|by apply elem_of_elements]. apply elem_of_list_fmap.
      exists q. split; [done|]. apply elem_of_seq. lia.
  Qed.

  Lemma elem_of_routed Σ M m : m ∈ routed Σ M ↔ ∃ x, x ∈ M ∧ route Σ x = Some m.
  Proof. unfold routed. rewrite elem_of_list_to_set, elem_of_list_omap. set_solver. Qed.

  Section sound.
    Context (Σ : system) (HΣ : may_divide Σ).

    Record related (s' s : state) : Prop := Related {
      rel_waiting : waiting s' = waiting s;
      rel_inputs : ∀ m, m ∈ waiting s → m.2.1 ∈ inputs Σ;
      rel_sent : ∀ m', m' ∈ sent s' → ∃ m, m ∈ sent s ∧ reroute m = Some m';
      rel_others : ∀ i, i ∈ instances Σ → addr i ∉ nodes p → carried s' (addr i) = carried s (addr i);
      rel_pieces : ∀ i, i ∈ instances Σ → addr i ∈ nodes p →
        may_carry (rules i) (carried s (addr i)) ∧
        ∀ q, q < pieces p → carried s' (place (addr i) q) = part (keys p) bucket q (carried s (addr i));
    }.

    Lemma reroute_other m i f :
      i ∈ instances Σ → addr i ∉ nodes p → reroute m = Some (addr i, f) → m = (addr i, f).
    Proof.
      destruct HΣ as (Hn&_&Hplace&_). intros Hi Hai. unfold reroute.
      destruct (keys p !! m.2.1) as [col|]; [|naive_solver].
      case_decide as Hm; [|case_decide; naive_solver].
      intros [= Ha _]. destruct (Hplace m.1 (bucket (key_of (keys p) m.2)) Hm (bucket_lt _ Hn)) as [Hno _].
      by destruct (Hno i Hi Hai).
    Qed.

    Lemma reroute_piece m a q f :
      a ∈ nodes p → q < pieces p → is_Some (keys p !! f.1) → reroute m = Some (place a q, f) →
      m = (a, f) ∧ bucket (key_of (keys p) f) = q.
    Proof.
      destruct HΣ as (Hn&_&Hplace&_). intros Ha Hq [col Hf]. unfold reroute. destruct m as [d g]. simpl.
      destruct (keys p !! g.1) as [col'|] eqn:Hg.
      - case_decide as Hd; [|case_decide as Hp; [done|]].
        + intros [= Heq ->]. destruct (Hplace d (bucket (key_of (keys p) f)) Hd (bucket_lt _ Hn)) as [_ Hinj].
          destruct (Hinj a q Ha Hq Heq) as [-> ->]. done.
        + intros [= -> ->]. destruct Hp. apply elem_of_places. eauto.
      - intros [= -> ->]. congruence.
    Qed.

    Lemma sent_step s' s X :
      related s' s → ∀ Y, Y ⊆ X →
      ∀ m', m' ∈ sent s' ∪ routed (divide Σ) Y → ∃ m, m ∈ sent s ∪ routed Σ X ∧ reroute m = Some m'.
    Proof.
      intros HR Y HYX m' [Hm|(x&Hx&Hm)%elem_of_routed]%elem_of_union.
      - destruct (rel_sent _ _ HR _ Hm) as (m&?&?). exists m. split; [set_solver|done].
      - simpl in Hm. destruct (route Σ x) as [m|] eqn:Hr; [|done]. exists m. split; [|done].
        apply elem_of_union_r, elem_of_routed. set_solver.
    Qed.

    Lemma arrives_other s' s i A I :
      related s' s → i ∈ instances Σ → addr i ∉ nodes p → arrives (divide Σ) s' i A I → arrives Σ s i A I.
    Proof.
      intros HR Hi Hai (H1&H2&H3). split; [by rewrite <- (rel_waiting _ _ HR)|]. split; [done|].
      intros f Hf. destruct (H3 f Hf) as (?&?&[Hm|Hm]); split; [done| |done|]; (split; [done|]); [|by right].
      left. destruct (rel_sent _ _ HR _ Hm) as (m&Hs&Hr). by apply reroute_other in Hr as ->.
    Qed.

    (** After a step of an instance that is not divided. *)
    Lemma related_other s' s i Y G W :
      related s' s → i ∈ instances Σ → addr i ∉ nodes p → W ⊆ waiting s →
      related (State (<[addr i := G]> (carried s')) (sent s' ∪ routed (divide Σ) Y) W)
              (State (<[addr i := G]> (carried s)) (sent s ∪ routed Σ Y) W).
    Proof.
      intros HR Hi Hai HW. split; simpl.
      - done.
      - intros m Hm. apply (rel_inputs _ _ HR). multiset_solver.
      - by eapply sent_step.
      - intros j Hj Haj. destruct (decide (addr j = addr i)) as [->|Hne].
        + by rewrite !fn_lookup_insert.
        + rewrite !fn_lookup_insert_ne by done. by apply (rel_others _ _ HR).
      - intros j Hj Haj. destruct (rel_pieces _ _ HR j Hj Haj) as [H1 H2].
        assert (addr i ≠ addr j) as Hne by congruence. rewrite !fn_lookup_insert_ne by done.
        split; [done|]. intros q Hq. rewrite fn_lookup_insert_ne; [by apply H2|].
        destruct HΣ as (_&_&Hplace&_). destruct (Hplace (addr j) q Haj Hq) as [Hno _]. by apply Hno.
    Qed.

    Lemma union_routed_empty Σ' s : sent s ∪ routed Σ' ∅ = sent s.
    Proof. unfold routed. rewrite elements_empty. set_solver. Qed.

    Lemma partition_step fns n again s' s e s1' :
      related s' s → step fns n again (divide Σ) s' e s1' → ∃ s1, step fns n again Σ s e s1 ∧ related s1' s1.
    Proof.
      intros HR Hstep. pose proof HΣ as (Hn&Hnd&Hplace&Hfacts&Hstat&Hout&Hap).
      destruct Hstep as [m Hm|m Hm Ho|j A I Hj Har G|j Hj Hmort|j A I Hj Hmort Har G|m Hm Ha].
      - eexists. split; [by apply step_give|]. destruct HR as [H1 H2 H3 H4 H5]. split; simpl; try done.
        + by rewrite H1.
        + intros m' [?| ->%gmultiset_elem_of_singleton]%gmultiset_elem_of_disj_union; [by apply H2|done].
      - destruct (rel_sent _ _ HR _ Hm) as (x&Hx&Hr). exists s. split; [|done].
        assert (x = m) as ->; [|by apply step_hear].
        unfold reroute in Hr. destruct (keys p !! x.2.1) as [col|] eqn:Hk; [|naive_solver].
        assert (x.2 = m.2) as Heq by (by repeat case_decide; simplify_eq/=).
        rewrite Heq, Hout in Hk by done. done.
      - apply elem_of_list_bind in Hj as (i&Hj&Hi). unfold in_pieces in Hj. case_decide as Hai.
        2:{ apply elem_of_list_singleton in Hj as ->. eexists. split.
            - eapply step_tick; [done|by eapply arrives_other].
            - subst G. unfold tick. simpl. rewrite (rel_others _ _ HR i Hi Hai).
              destruct HR as [HW H2 H3 H4 H5] eqn:HReq. rewrite HW. apply related_other; [done..|]. multiset_solver. }
        apply elem_of_list_fmap in Hj as (q&->&Hq%elem_of_seq). assert (q < pieces p) as Hq' by lia. clear Hq.
        destruct (Hap i Hi Hai) as (Hdiv&Hstill&Hreads). rewrite list.Forall_forall in Hreads.
        destruct (rel_pieces _ _ HR i Hi Hai) as [Hmay Hparts].
        destruct Har as (HI1&HI2&HA). simpl in *.
        assert (I = ∅) as ->.
        { destruct (gmultiset_choose_or_empty I) as [[m Hm]|?]; [|done]. exfalso.
          destruct (HI2 m Hm) as [_ HmA]. destruct (HA _ HmA) as (Hr&_). destruct (Hreads _ Hr) as (_&Hno&_).
          apply Hno. apply (rel_inputs _ _ HR). rewrite <- (rel_waiting _ _ HR). multiset_solver. }
        assert (∀ f, f ∈ A → (addr i, f) ∈ sent s ∧ is_Some (keys p !! f.1) ∧ bucket (key_of (keys p) f) = q) as HA'.
        { intros f Hf. destruct (HA f Hf) as (Hr&Hns&Hcase). destruct (Hreads _ Hr) as ([Hk|?]&_&Hnt); [|done].
          destruct Hcase as [Hm|[Hm|[? _]]]; [|by apply gmultiset_not_elem_of_empty in Hm|done].
          destruct (rel_sent _ _ HR _ Hm) as (m&Hs&Hrr).
          apply reroute_piece in Hrr as [-> Hb]; [|done..]. done. }
        set (c := carried s (addr i)) in *.
        assert (∀ k, part (keys p) bucket k (facts Σ) = facts Σ) as Hfpart.
        { intros k. apply set_eq. intros f. rewrite elem_of_part. split; [naive_solver|]. intros Hf. split; [|done].
          left. by apply Hstat, Hfacts. }
        assert (part (keys p) bucket q A = A) as HApart.
        { apply set_eq. intros f. rewrite elem_of_part. split; [naive_solver|]. intros Hf. split; [|done].
          right. by destruct (HA' f Hf) as (_&_&?). }
        assert (∀ k, k ≠ q → part (keys p) bucket k A = ∅) as HAno.
        { intros k Hk. apply set_eq. intros f. rewrite elem_of_part. split; [|set_solver].
          intros [[Hnone|Hb] Hf]; destruct (HA' f Hf) as (_&[? ?]&?); congruence. }
        set (H := tick fns n Σ i c A).
        assert (G = part (keys p) bucket q H) as HG.
        { subst G H. unfold tick. simpl. rewrite <- now_part by done. rewrite !part_union, Hfpart, HApart.
          by rewrite Hparts. }
        eexists. split.
        { apply (step_tick fns n again Σ s i A ∅); [done|]. split; [multiset_solver|]. split; [multiset_solver|].
          intros f Hf. destruct (HA f Hf) as (?&?&_). split; [done|]. split; [done|]. left. by apply HA'. }
        fold c. fold H. split; simpl.
        + by rewrite (rel_waiting _ _ HR).
        + intros m Hm. apply (rel_inputs _ _ HR). multiset_solver.
        + eapply sent_step; [done|]. rewrite HG. by apply sends_part.
        + intros j Hj Haj. rewrite !fn_lookup_insert_ne; [by apply (rel_others _ _ HR)|congruence|].
          destruct (Hplace (addr i) q Hai Hq') as [Hno _]. intros Heq. by destruct (Hno j Hj Haj).
        + intros j Hj Haj. destruct (decide (addr j = addr i)) as [Heq|Hne].
          * assert (j = i) as ->.
            { apply elem_of_list_lookup in Hi as [x Hx], Hj as [y Hy].
              assert (x = y) as ->; [|congruence]. eapply NoDup_lookup; [exact Hnd| |];
              rewrite list_lookup_fmap; [rewrite Hx|rewrite Hy]; simpl; by f_equal. }
            rewrite fn_lookup_insert. split; [apply carried_on_may|]. intros k Hk.
            destruct (decide (k = q)) as [->|Hkq].
            -- rewrite fn_lookup_insert, HG. by apply carried_on_part.
            -- rewrite fn_lookup_insert_ne; [rewrite Hparts by done|].
               2:{ intros Heq'. destruct (Hplace (addr i) q Hai Hq') as [_ Hinj].
                   destruct (Hinj (addr i) k Hai Hk Heq') as [_ ?]. congruence. }
               rewrite <- carried_on_part by done. subst H. unfold tick.
               rewrite <- now_part by done. rewrite !part_union, Hfpart, HAno by done.
               rewrite (right_id_L ∅ (∪)). symmetry. eapply idle; [done| |].
               { intros f [_ Hf]%elem_of_part. by apply Hmay. }
               intros f Hf%Hfacts. destruct (Hstat _ Hf) as [Hk0 Hp0]. split; [done|].
               intros (r&Heq'&Hr)%elem_of_list_fmap. destruct Hdiv as (_&Hnx&_).
               rewrite list.Forall_forall in Hnx. destruct (Hnx r Hr) as (t&_&col&Hcol&_). congruence.
          * rewrite fn_lookup_insert_ne by congruence. destruct (rel_pieces _ _ HR j Hj Haj) as [H1 H2].
            split; [done|]. intros k Hk. rewrite fn_lookup_insert_ne; [by apply H2|].
            intros Heq'. destruct (Hplace (addr i) q Hai Hq') as [_ Hinj].
            destruct (Hinj (addr j) k Haj Hk Heq') as [? _]. congruence.
      - apply elem_of_list_bind in Hj as (i&Hj&Hi). unfold in_pieces in Hj.
        apply elem_of_filter in Hmort as [[Hno Hin] Hmort].
        apply elem_of_list_fmap in Hin as (k&Hk&Hkin).
        case_decide as Hai.
        { apply elem_of_list_fmap in Hj as (q&->&Hq%elem_of_seq). simpl in *.
          destruct (Hplace (addr i) q Hai) as [Hno' _]; [lia|]. destruct (Hno' k Hkin); [congruence|done]. }
        apply elem_of_list_singleton in Hj as ->. eexists. split; [by apply (step_crash fns n again Σ s i)|].
        rewrite (rel_others _ _ HR i Hi Hai), <- (union_routed_empty (divide Σ) s'), <- (union_routed_empty Σ s).
        rewrite (rel_waiting _ _ HR). by apply related_other.
      - apply elem_of_list_bind in Hj as (i&Hj&Hi). unfold in_pieces in Hj.
        apply elem_of_filter in Hmort as [[Hno Hin] Hmort].
        apply elem_of_list_fmap in Hin as (k&Hk&Hkin).
        case_decide as Hai.
        { apply elem_of_list_fmap in Hj as (q&->&Hq%elem_of_seq). simpl in *.
          destruct (Hplace (addr i) q Hai) as [Hno' _]; [lia|]. destruct (Hno' k Hkin); [congruence|done]. }
        apply elem_of_list_singleton in Hj as ->. eexists. split.
        + eapply (step_crash_in_tick fns n again Σ s i A I); [done|done|by eapply arrives_other].
        + subst G. unfold tick. simpl. rewrite (rel_others _ _ HR i Hi Hai), (rel_waiting _ _ HR).
          apply related_other; [done..|]. multiset_solver.
      - eexists. rewrite (rel_waiting _ _ HR) in Hm. split; [by apply step_again|]. destruct HR as [H1 H2 H3 H4 H5].
        split; simpl; try done; [by rewrite H1|].
        intros m' [?| ->%gmultiset_elem_of_singleton]%gmultiset_elem_of_disj_union; by apply H2.
    Qed.
  End sound.

  (** What clients see of the pieces, they might have seen of the whole. *)
  Theorem divide_refines Σ : may_divide Σ → refines (divide Σ) Σ.
  Proof.
    intros HΣ fns n again. apply (simulation_of _ _ _ _ _ (related Σ)).
    - split; [done|simpl; multiset_solver|simpl; set_solver|done|].
      intros i _ _. split; [intros f Hf; set_solver|]. intros q _. apply set_eq. intros f. rewrite elem_of_part. simpl. set_solver.
    - intros s' s e s1'. by apply partition_step.
  Qed.
End partition.

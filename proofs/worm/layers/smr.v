(** * WormPaxos: state machine replication on write-once registers

    A slot of the log is a register, which holds a command or junk.  Any client
    may write any command into any slot, as often as it likes: which leader there
    is, and what it captured, costs time and not safety.  A server applies the
    slots in order, without the junk, and a command the first time only: [ran] is
    what it has applied, by what the registers told it.  A command is answered when a
    server has applied it.  A read asks the registers one after the other for the
    first that is unwritten, and returns what those before told it. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.layers Require Export space sequence.

Section smr.
Context (wishes servers : gset nat).
Notation slots := (space nat (option nat)).   (* junk is None *)

Record smrs := Smrs {
  applied : gmap nat nat;              (* per server: the slots that it has applied *)
  ran : gmap nat (list nat);           (* per server: the commands that it has applied *)
  replied : gset nat;                  (* the commands that were answered *)
  look : gmap nat nat;                 (* per read that goes on: the slots it knows to be written *)
  gathered : gmap nat (list nat);      (* per read that goes on: their commands *)
  asks : gmap nat (nat * nat);         (* per read that goes on: the slot it asks, in which read of the register *)
  shown : gmap nat (list nat);         (* what a read has returned *)
}.
Definition smr_start : smrs := Smrs ∅ ∅ ∅ ∅ ∅ ∅ ∅.

Definition place (l : smrs) (p : nat) : nat := default 0 (applied l !! p).

Definition ran_by (l : smrs) (p : nat) : list nat := default [] (ran l !! p).
Definition seen_by (l : smrs) (r : nat) : list nat := default [] (gathered l !! r).

(** A slot is applied: no junk, and nothing twice. *)
Definition apply (x : list nat) (v : option nat) : list nat :=
  match v with
  | Some c => if decide (c ∈ x) then x else x ++ [c]
  | None => x
  end.

(** The commands of the first [n] slots, for the proofs: servers and reads know
    only what they were told. *)
Fixpoint commands (h : slots) (n : nat) : list nat :=
  match n with
  | 0 => []
  | S m =>
      match holds (h m) with
      | Some v => apply (commands h m) v
      | None => commands h m
      end
  end.

(** Server [p] goes on by a slot, and read [r]. *)
Definition with_applied (l : smrs) p v := Smrs (<[p := S (place l p)]> (applied l)) (<[p := apply (ran_by l p) v]> (ran l))
  (replied l) (look l) (gathered l) (asks l) (shown l).
Definition with_looked (l : smrs) r s v := Smrs (applied l) (ran l) (replied l) (<[r := S s]> (look l))
  (<[r := apply (seen_by l r) v]> (gathered l)) (asks l) (shown l).

Definition returning {value} (e : event value) : Prop :=
  match e with Writes _ | Reads _ => False | _ => True end.

Inductive smr_move (l : smrs) (h : slots) : option (nat * event (option nat)) → smrs → Prop :=
  | smr_write s x : (∀ c, x = Some c → c ∈ wishes) → smr_move l h (Some (s, Writes x)) l
  | smr_read s q : smr_move l h (Some (s, Reads q)) l
  | smr_return s e : returning e → smr_move l h (Some (s, e)) l
  | smr_apply p v :
      p ∈ servers → told (h (place l p)) v →
      smr_move l h None (with_applied l p v)
  | smr_answer p c :
      c ∈ ran_by l p →
      smr_move l h None (Smrs (applied l) (ran l) ({[c]} ∪ replied l) (look l) (gathered l) (asks l) (shown l))
  | smr_begin r :
      look l !! r = None → shown l !! r = None →
      smr_move l h None (Smrs (applied l) (ran l) (replied l) (<[r := 0]> (look l)) (<[r := []]> (gathered l))
        (delete r (asks l)) (shown l))
  | smr_look r s v :
      look l !! r = Some s → told (h s) v →
      smr_move l h None (with_looked l r s v)
  | smr_ask r s q :
      look l !! r = Some s →
      smr_move l h (Some (s, Reads q)) (Smrs (applied l) (ran l) (replied l) (look l) (gathered l) (<[r := (s, q)]> (asks l)) (shown l))
  (* the slot is unwritten: the read returns the commands before it *)
  | smr_end r s q :
      look l !! r = Some s → asks l !! r = Some (s, q) →
      smr_move l h (Some (s, ReadNothing q))
        (Smrs (applied l) (ran l) (replied l) (delete r (look l)) (gathered l) (delete r (asks l)) (<[r := seen_by l r]> (shown l))).

Definition smr_moves : moving nat (option nat) smrs := smr_move.
Notation smr_run := (layer_run smr_moves smr_start).

(** ** The commands of a prefix *)

Definition full (h : slots) (n : nat) : Prop := ∀ s, s < n → holds (h s) ≠ None.
Definition hole (h : slots) (n : nat) : Prop := full h n ∧ holds (h n) = None.

Lemma commands_ext h h' n : (∀ s, s < n → holds (h s) = holds (h' s)) → commands h n = commands h' n.
Proof.
  induction n as [|n IH]; simpl; [done|]. intros E. rewrite IH by auto. by rewrite (E n) by lia.
Qed.

Lemma commands_prefix h n m : n ≤ m → commands h n `prefix_of` commands h m.
Proof.
  induction 1 as [|m _ IH]; [done|]. etrans; [exact IH|]. simpl.
  destruct (holds (h m)) as [[c|]|]; simpl; [case_decide|..]; first [done|by exists [c]].
Qed.

Lemma commands_nodup h n : NoDup (commands h n).
Proof.
  induction n as [|n IH]; simpl; [constructor|].
  destruct (holds (h n)) as [[c|]|]; simpl; [case_decide|..]; try done.
  apply NoDup_app. split_and!; [done| |apply NoDup_singleton]. set_solver.
Qed.

Lemma in_commands h n c : c ∈ commands h n ↔ ∃ s, s < n ∧ holds (h s) = Some (Some c).
Proof.
  induction n as [|n IH]; simpl.
  { split; [by intros ?%elem_of_nil|]. intros (s & ? & _). lia. }
  split.
  - intros Hc. destruct (holds (h n)) as [[d|]|] eqn:E; simpl in Hc; [case_decide as Hd|..];
      try (apply IH in Hc as (s & ? & ?); exists s; split; [lia|done]).
    apply elem_of_app in Hc as [Hc|Hc%elem_of_list_singleton].
    + apply IH in Hc as (s & ? & ?). exists s. split; [lia|done].
    + subst d. exists n. split; [lia|done].
  - intros (s & Hs & E). destruct (decide (s = n)) as [->|].
    + rewrite E. simpl. case_decide; [done|]. set_solver.
    + assert (c ∈ commands h n) as Hc by (apply IH; exists s; split; [lia|done]).
      destruct (holds (h n)) as [[d|]|]; simpl; [case_decide|..]; try done. set_solver.
Qed.

Lemma hole_unique h n m : hole h n → full h m → m ≤ n.
Proof. intros [_ Hn] Hm. destruct (decide (m ≤ n)); [done|]. destruct (Hm n); [lia|done]. Qed.

Lemma find_hole h n N : (∀ s, N ≤ s → h s = []) → full h n → ∃ m, n ≤ m ∧ hole h m.
Proof.
  intros HN. remember (N - n) as k eqn:Ek. revert n Ek. induction k as [|k IH]; intros n Ek Hn.
  - exists n. split; [done|]. split; [done|]. by rewrite HN by lia.
  - destruct (holds (h n)) as [x|] eqn:E; [|by exists n].
    destruct (IH (S n)) as (m & ? & ?); [lia| |exists m; split; [lia|done]].
    intros s Hs. destruct (decide (s = n)) as [->|]; [congruence|]. apply Hn. lia.
Qed.

(** What is full stays so, and holds what it held. *)
Lemma holds_more (h : slots) a e s : holds (h s) ≠ None → holds (record_at h a e s) = holds (h s).
Proof.
  intros Hs. destruct (decide (a = s)) as [<-|]; [|by rewrite recorded_elsewhere].
  rewrite recorded, holds_snoc. by destruct (holds (h a)).
Qed.

Lemma full_more h a e n : full h n → full (record_at h a e) n.
Proof. intros Hn s Hs. rewrite holds_more; by apply Hn. Qed.

Lemma commands_more h a e n : full h n → commands (record_at h a e) n = commands h n.
Proof. intros Hn. apply commands_ext. intros s Hs. apply holds_more. by apply Hn. Qed.

(** A register tells one value: so what it told goes on as the commands do. *)
Lemma commands_told (h : slots) n v : write_once (h n) → told (h n) v → commands h (S n) = apply (commands h n) v.
Proof. intros HW Hv. simpl. by rewrite (held _ _ HW Hv). Qed.

Lemma place_applied l p v q : place (with_applied l p v) q = if decide (p = q) then S (place l p) else place l q.
Proof. unfold place at 1. simpl. case_decide as E; [subst; by rewrite lookup_insert|by rewrite lookup_insert_ne]. Qed.
Lemma ran_applied l p v q : ran_by (with_applied l p v) q = if decide (p = q) then apply (ran_by l p) v else ran_by l q.
Proof. unfold ran_by at 1. simpl. case_decide as E; [subst; by rewrite lookup_insert|by rewrite lookup_insert_ne]. Qed.
Lemma seen_looked l r s v q : seen_by (with_looked l r s v) q = if decide (r = q) then apply (seen_by l r) v else seen_by l q.
Proof. unfold seen_by at 1. simpl. case_decide as E; [subst; by rewrite lookup_insert|by rewrite lookup_insert_ne]. Qed.

(** ** The invariant *)

Record smr_inv (l : smrs) (h : slots) : Prop := SmrInv {
  s_finite : ∃ N, ∀ s, N ≤ s → h s = [];
  s_wished : ∀ s c, Writes (Some c) ∈ h s → c ∈ wishes;
  s_applied : ∀ p, full h (place l p);
  s_log : ∀ p, ran_by l p = commands h (place l p);
  s_look : ∀ r k, look l !! r = Some k → full h k;
  s_seen : ∀ r k, look l !! r = Some k → seen_by l r = commands h k;
}.

Lemma full_told h n v : full h n → told (h n) v → full h (S n).
Proof.
  intros Hn Hv s Hs. destruct (decide (s = n)) as [->|]; [|apply Hn; lia].
  destruct (told_holds _ _ Hv) as [w Hw]. by rewrite Hw.
Qed.

Lemma smr_inv_move l h e l' :
  (∀ a, write_once (h a)) → smr_inv l h → smr_move l h e l' →
  (∀ p, full h (place l' p) ∧ ran_by l' p = commands h (place l' p)) ∧
  ∀ r k, look l' !! r = Some k → full h k ∧ seen_by l' r = commands h k.
Proof.
  intros HO HI Hm.
  assert (∀ p, full h (place l p) ∧ ran_by l p = commands h (place l p)) as Hp.
  { intros p. split; [apply (s_applied l h HI)|apply (s_log l h HI)]. }
  assert (∀ r k, look l !! r = Some k → full h k ∧ seen_by l r = commands h k) as Hk.
  { intros r k Hr. split; [by eapply s_look|by eapply s_seen]. }
  split.
  - intros p. inversion Hm; subst; try apply Hp. rewrite place_applied, ran_applied.
    case_decide; [subst|apply Hp]. destruct (Hp p) as [Hf Hl]. split; [by eapply full_told|].
    by erewrite commands_told, Hl.
  - intros r k. inversion Hm; subst; try apply Hk.
    + simpl. unfold seen_by. simpl. destruct (decide (r0 = r)) as [->|].
      * rewrite !lookup_insert. intros [= <-]. split; [intros s Hs; lia|done].
      * rewrite !lookup_insert_ne by done. apply Hk.
    + rewrite seen_looked. simpl. case_decide; [subst; rewrite lookup_insert|rewrite lookup_insert_ne by done; apply Hk].
      intros [= <-]. destruct (Hk r s) as [Hf Hs]; [done|]. split; [by eapply full_told|].
      by erewrite commands_told, Hs.
    + unfold seen_by. simpl. intros [_ Hr]%lookup_delete_Some. by apply Hk.
Qed.

Lemma smr_inv_run l h : smr_run l h → (∀ a, write_once (h a)) ∧ smr_inv l h.
Proof.
  apply layer_invariant.
  - split.
    + by exists 0.
    + intros s c Hin. by apply elem_of_nil in Hin.
    + intros p s Hs. unfold place in Hs. simpl in Hs. rewrite lookup_empty in Hs. simpl in Hs. lia.
    + intros p. unfold ran_by, place. simpl. by rewrite !lookup_empty.
    + done.
    + done.
  - intros l1 h1 l2 HO HI Hm. destruct (smr_inv_move _ _ _ _ HO HI Hm) as [Hp Hk].
    split; [apply HI|apply HI|apply Hp|apply Hp|apply Hk|apply Hk].
  - intros l1 h1 l2 a e HO HI Hm _. destruct (smr_inv_move _ _ _ _ HO HI Hm) as [Hp Hk]. split.
    + destruct (s_finite _ _ HI) as [N HN]. exists (N `max` S a). intros s Hs.
      rewrite recorded_elsewhere by lia. apply HN. lia.
    + intros s c. destruct (decide (a = s)) as [<-|].
      * rewrite recorded, elem_of_app, elem_of_list_singleton. intros [Hin| <-]; [by eapply s_wished|].
        inversion Hm; subst; [eauto|done].
      * rewrite recorded_elsewhere by done. by eapply s_wished.
    + intros p. apply full_more, Hp.
    + intros p. rewrite commands_more by apply Hp. apply Hp.
    + intros r k Hr. by eapply full_more, Hk.
    + intros r k Hr. destruct (Hk r k Hr) as [Hf ->]. by rewrite commands_more.
Qed.

(** ** What servers have applied *)

Lemma smr_agree l h p q :
  smr_run l h → ran_by l p `prefix_of` ran_by l q ∨ ran_by l q `prefix_of` ran_by l p.
Proof.
  intros [_ HI]%smr_inv_run. rewrite !(s_log l h HI).
  destruct (decide (place l p ≤ place l q)); [left|right]; apply commands_prefix; lia.
Qed.

Lemma smr_once l h p : smr_run l h → NoDup (ran_by l p).
Proof. intros [_ HI]%smr_inv_run. rewrite (s_log l h HI). apply commands_nodup. Qed.

(** What a server has applied was asked for. *)
Lemma smr_asked l h p c : smr_run l h → c ∈ ran_by l p → ∃ s, Writes (Some c) ∈ h s.
Proof.
  intros [HO HI]%smr_inv_run. rewrite (s_log l h HI). intros (s & _ & Hs)%in_commands.
  exists s. by apply held_asked.
Qed.

(** What a server has applied stays the beginning of what it applies. *)
Lemma smr_kept l h l' h' p :
  rtc (layer_step smr_moves) (l, h) (l', h') → ran_by l p `prefix_of` ran_by l' p.
Proof.
  intros Hs. remember (l, h) as x eqn:Ex. remember (l', h') as y eqn:Ey.
  assert (ran_by x.1 p `prefix_of` ran_by y.1 p); [|by subst].
  clear Ex Ey. induction Hs as [|x y z Hs _ IH]; [done|]. etrans; [|exact IH]. clear IH.
  destruct Hs as [? ? ? Hm|? ? ? ? ? Hm]; simpl; inversion Hm; subst; try done.
  rewrite ran_applied. case_decide; [subst|done]. destruct v as [c|]; simpl; [|done].
  case_decide; [done|]. by exists [c].
Qed.

(** ** Each step is one of ReplicatedLog, or none *)

Definition read_alike (l : smrs) (h : slots) (n : nat) (s : sequence) (r : nat) : Prop :=
  match look l !! r with
  | None => may s !! r = None
  | Some _ => ∃ n0 M, may s !! r = Some M ∧ n0 ≤ n ∧ (∀ m, n0 ≤ m → m ≤ n → commands h m ∈ M) ∧
      (* a slot that was written when the read began, was so when it asked *)
      ∀ t q, asks l !! r = Some (t, q) → t < n0 → ∃ h1 h2 v, h t = h1 ++ Reads q :: h2 ∧ told h1 v
  end.

Definition smr_alike (l : smrs) (h : slots) (s : sequence) : Prop :=
  ∃ n, hole h n ∧ entries s = commands h n ∧ answered s = replied l ∧ got s = shown l ∧
    (∀ p, default 0 (reached s !! p) = length (commands h (place l p))) ∧ ∀ r, read_alike l h n s r.

Lemma take_prefix (x y : list nat) : x `prefix_of` y → take (length x) y = x.
Proof. intros [z ->]. by rewrite take_app. Qed.

Lemma in_between old x new : old `prefix_of` x → x `prefix_of` new → x ∈ between old new.
Proof.
  intros Ho Hx. apply elem_of_list_to_set, elem_of_list_fmap. exists (length x). split; [by rewrite take_prefix|].
  apply prefix_length in Ho, Hx. apply elem_of_seq. lia.
Qed.

(** An event may decide slots; then the sequence grows, or it does not. *)
Lemma smr_grows l h s a e :
  (∀ b, write_once (h b)) → write_once (h a ++ [e]) → smr_inv l h → (∀ c, e = Writes (Some c) → c ∈ wishes) →
  smr_alike l h s →
  ∃ s', (s' = s ∨ sequence_step wishes servers s s') ∧ smr_alike l (record_at h a e) s'.
Proof.
  intros HO HW HI Hwish (n & Hn & He & Hd & Hg & Hp & Hr). set (h' := record_at h a e).
  assert (∃ N, ∀ t, N ≤ t → h' t = []) as [N HN].
  { destruct (s_finite l h HI) as [N HN]. exists (N `max` S a). intros t Ht.
    unfold h'. rewrite recorded_elsewhere by lia. apply HN. lia. }
  destruct (find_hole h' n N) as (n' & Hle & Hn'); [done|by apply full_more, Hn|].
  assert (commands h' n = commands h n) as En by apply commands_more, Hn.
  assert (∀ m, m ≤ n → commands h' m = commands h m) as Em.
  { intros m Hm. apply commands_more. intros t Ht. apply Hn. lia. }
  assert (∀ p, default 0 (reached s !! p) = length (commands h' (place l p))) as Hp'.
  { intros p. rewrite Hp. by rewrite Em by (eapply hole_unique; [done|apply HI]). }
  assert (∀ t h1 h2 q, h t = h1 ++ Reads q :: h2 → ∃ h2', h' t = h1 ++ Reads q :: h2') as Hasks.
  { intros t h1 h2 q E. unfold h'. destruct (decide (a = t)) as [<-|].
    - rewrite recorded, E, <- app_assoc. eauto.
    - rewrite recorded_elsewhere by done. eauto. }
  destruct (decide (commands h' n' = commands h n)) as [E|E].
  - exists s. split; [by left|]. exists n'. split_and!; try done; [congruence|].
    intros r. specialize (Hr r). unfold read_alike in *. destruct (look l !! r) as [k0|]; [|done].
    destruct Hr as (n0 & M & Hm & Hn0 & HM & Ha). exists n0, M. split_and!; [done|lia| |].
    + intros m Hm0 Hmn. destruct (decide (m ≤ n)) as [Hmn'|]; [rewrite Em by done; auto|].
      assert (commands h' m = commands h n) as ->; [|apply HM; lia].
      apply (anti_symm prefix).
      * rewrite <- E. by apply commands_prefix.
      * rewrite <- En. apply commands_prefix. lia.
    + intros t q Hq Ht. destruct (Ha t q Hq Ht) as (h1 & h2 & v & Eh & Hv).
      destruct (Hasks _ _ _ _ Eh) as [h2' ?]. eauto 6.
  - set (new := commands h' n').
    assert (commands h n `prefix_of` new) as Hpre by (rewrite <- En; by apply commands_prefix).
    exists (sequence_effect s (SDecide new)). split.
    + right. exists (SDecide new). split; [|done]. simpl. rewrite He. split_and!.
      * pose proof (prefix_length _ _ Hpre). destruct (decide (length new = length (commands h n))) as [El|]; [|lia].
        destruct E. fold new. rewrite <- (take_prefix _ _ Hpre). by rewrite take_ge by lia.
      * by apply take_prefix.
      * apply Forall_forall. intros c (t & _ & Ht)%elem_of_list_In%in_commands. unfold h' in Ht.
        destruct (decide (a = t)) as [<-|].
        -- rewrite recorded in Ht. apply held_asked in Ht; [|done].
           apply elem_of_app in Ht as [Ht|Ht%elem_of_list_singleton]; [by eapply s_wished|auto].
        -- rewrite recorded_elsewhere in Ht by done. apply held_asked in Ht; [|done]. by eapply s_wished.
      * apply commands_nodup.
    + exists n'. split_and!; try done. intros r. specialize (Hr r). unfold read_alike in *. simpl.
      rewrite lookup_fmap. destruct (look l !! r) as [k0|]; [|by rewrite Hr].
      destruct Hr as (n0 & M & Hm & Hn0 & HM & Ha). exists n0, (M ∪ between (entries s) new).
      rewrite Hm. split_and!; [done|lia| |].
      * intros m Hm0 Hmn. apply elem_of_union. destruct (decide (m ≤ n)) as [Hmn'|]; [left; rewrite Em by done; auto|].
        right. rewrite He. apply in_between; [|by apply commands_prefix]. rewrite <- En. apply commands_prefix. lia.
      * intros t q Hq Ht. destruct (Ha t q Hq Ht) as (h1 & h2 & v & Eh & Hv).
        destruct (Hasks _ _ _ _ Eh) as [h2' ?]. eauto 6.
Qed.

Lemma smr_is_sequence :
  keeps_to smr_moves (sequence_step wishes servers) smr_alike smr_start sequence_start.
Proof.
  eapply (keeps_to_intro _ _ _ (λ l h, (∀ a, write_once (h a)) ∧ smr_inv l h)).
  - apply smr_inv_run.
  - exists 0. split_and!; try done. split; [|done]. intros s Hs. lia.
  - intros l h l' s [HO HI] (n & Hn & He & Hd & Hg & Hp & Hr) Hm. inversion Hm; subst.
    + (* apply *)
      assert (S (place l p) ≤ n) as Hle.
      { eapply hole_unique; [done|]. eapply full_told; [by eapply s_applied|done]. }
      pose proof (place_applied l p v) as Epl.
      destruct (decide (commands h (S (place l p)) = commands h (place l p))) as [E|E].
      * exists s. split; [by left|]. exists n. split_and!; try done. intros p'. rewrite Epl.
        case_decide; [subst; rewrite E|]; apply Hp.
      * assert (length (commands h (S (place l p))) = S (length (commands h (place l p)))) as El.
        { simpl in *. destruct (holds (h (place l p))) as [[c|]|]; simpl in *; [case_decide|..]; try done. rewrite app_length. simpl. lia. }
        exists (sequence_effect s (SApply p)). split.
        -- right. exists (SApply p). split; [|done]. split; [done|]. rewrite Hp, He.
           pose proof (prefix_length _ _ (commands_prefix h _ _ Hle)). lia.
        -- exists n. split_and!; try done. intros p'. rewrite Epl. simpl. case_decide; [subst|].
           ++ rewrite lookup_insert, Hp. simpl in *. by rewrite El.
           ++ rewrite lookup_insert_ne by done. apply Hp.
    + (* answer *)
      exists (sequence_effect s (SAnswer c)). split.
      * right. exists (SAnswer c). split; [|done]. simpl. rewrite He. 
        assert (commands h (place l p) `prefix_of` commands h n) as [z Ez].
        { apply commands_prefix. eapply hole_unique; [done|]. by eapply s_applied. }
        rewrite Ez, <- (s_log l h HI). apply elem_of_app. by left.
      * exists n. split_and!; try done. simpl. by rewrite Hd.
    + (* begin *)
      exists (sequence_effect s (SBeginRead r)). split.
      * right. exists (SBeginRead r). split; [|done]. simpl. rewrite Hg. split; [|done].
        specialize (Hr r). unfold read_alike in Hr. by rewrite H in Hr.
      * exists n. split_and!; try done. intros r'. specialize (Hr r'). unfold read_alike in *. simpl.
        destruct (decide (r = r')) as [<-|].
        -- rewrite !lookup_insert. exists n, {[entries s]}. split_and!; [done|done| |].
           ++ intros m ? ?. assert (m = n) as -> by lia. rewrite He. set_solver.
           ++ intros t q. by rewrite lookup_delete.
        -- rewrite !lookup_insert_ne by done. by rewrite lookup_delete_ne.
    + (* look *)
      exists s. split; [by left|]. exists n. split_and!; try done. intros r'. specialize (Hr r').
      unfold read_alike in *. simpl. destruct (decide (r = r')) as [<-|].
      * rewrite lookup_insert. by rewrite H in Hr.
      * by rewrite lookup_insert_ne.
  - intros l h l' a e s HO [_ HI] Ha Hm HW. inversion Hm; subst.
    + eapply smr_grows; eauto. intros c [= ->]. auto.
    + by eapply smr_grows; eauto.
    + eapply smr_grows; eauto. intros c ->. done.
    + (* ask *)
      destruct Ha as (n & Hn & He & Hd & Hg & Hp & Hr).
      assert (∀ t, holds (record_at h a (Reads q) t) = holds (h t)) as Eh.
      { intros t. destruct (decide (a = t)) as [<-|]; [|by rewrite recorded_elsewhere].
        rewrite recorded, holds_snoc. by destruct (holds (h a)). }
      assert (∀ m, commands (record_at h a (Reads q)) m = commands h m) as Em by (intros m; by apply commands_ext).
      exists s. split; [by left|]. exists n. split_and!; try done.
      * split; [by apply full_more, Hn|]. rewrite Eh. apply Hn.
      * by rewrite Em.
      * intros p. rewrite Em. apply Hp.
      * intros r'. specialize (Hr r'). unfold read_alike in *. simpl. destruct (look l !! r') as [k0|] eqn:El; [|done].
        destruct Hr as (n0 & M & HmM & Hn0 & HM & Hak). exists n0, M. split_and!; [done|done| |].
        -- intros m ? ?. rewrite Em. auto.
        -- intros t q'. destruct (decide (r = r')) as [<-|].
           ++ rewrite lookup_insert. intros [= <- <-] Hlt. destruct (holds (h a)) as [v|] eqn:Hv.
              ** exists (h a), [], v. split; [by rewrite recorded|by apply holds_told].
              ** destruct Hn as [Hf _]. destruct (Hf a); [lia|done].
           ++ rewrite lookup_insert_ne by done. intros Hq Ht. destruct (Hak t q' Hq Ht) as (h1 & h2 & v & E & Hv).
              destruct (decide (a = t)) as [<-|].
              ** exists h1, (h2 ++ [Reads q]), v. split; [|done]. rewrite recorded, E. by rewrite <- app_assoc.
              ** exists h1, h2, v. split; [|done]. by rewrite recorded_elsewhere.
    + (* end *)
      rename select (look l !! r = Some a) into Hlk. pose proof (s_seen l h HI r a Hlk) as Esn. rename select (asks l !! r = Some _) into Hask.
      destruct Ha as (n & Hn & He & Hd & Hg & Hp & Hr).
      assert (∀ t, holds (record_at h a (ReadNothing q) t) = holds (h t)) as Eh.
      { intros t. destruct (decide (a = t)) as [<-|]; [|by rewrite recorded_elsewhere].
        rewrite recorded, holds_snoc. by destruct (holds (h a)). }
      assert (∀ m, commands (record_at h a (ReadNothing q)) m = commands h m) as Em by (intros m; by apply commands_ext).
      pose proof (Hr r) as Hrr. unfold read_alike in Hrr. rewrite Hlk in Hrr.
      destruct Hrr as (n0 & M & HmM & Hn0 & HM & Hak).
      assert (commands h a ∈ M) as Hin.
      { apply HM.
        - destruct (decide (n0 ≤ a)) as [|Hlt]; [done|exfalso].
          destruct (Hak a q Hask) as (h1 & h2 & v & E & Hv); [lia|].
          eapply (lasting _ HW h1 (h2 ++ [ReadNothing q]) q v); [|done|set_solver].
          by rewrite E, <- app_assoc.
        - eapply hole_unique; [done|]. by eapply s_look. }
      exists (sequence_effect s (SEndRead r (commands h a))). split.
      * right. exists (SEndRead r (commands h a)). split; [|done]. simpl. by rewrite HmM.
      * exists n. split_and!; try done.
        -- split; [by apply full_more, Hn|]. rewrite Eh. apply Hn.
        -- simpl. by rewrite Em.
        -- simpl. by rewrite Hg, Esn.
        -- intros p. rewrite Em. apply Hp.
        -- intros r'. specialize (Hr r'). unfold read_alike in *. simpl. destruct (decide (r = r')) as [<-|].
           ++ by rewrite !lookup_delete.
           ++ rewrite !lookup_delete_ne by done. destruct (look l !! r') as [k0|] eqn:El; [|done].
              destruct Hr as (nb & M1 & HmM1 & Hn1 & HM1 & Hak1). exists nb, M1. split_and!; [done|done| |].
              ** intros m ? ?. rewrite Em. auto.
              ** intros t q' Hq Ht. destruct (Hak1 t q' Hq Ht) as (h1 & h2 & v & E & Hv).
                 destruct (decide (a = t)) as [<-|].
                 --- exists h1, (h2 ++ [ReadNothing q]), v. split; [|done]. rewrite recorded, E. by rewrite <- app_assoc.
                 --- exists h1, h2, v. split; [|done]. by rewrite recorded_elsewhere.
Qed.
End smr.

(** * WormLog: a shared log on write-once registers

    An address is a register, and addresses come in segments, each with a
    sequencer that hands them out.  An append gets an address and writes its entry
    there; if the register holds something else, it gets another address.  A
    sequencer that was replaced may go on and never know.  What keeps it from doing
    harm is the fence: the sequencer of a segment begins to serve when each register
    of the segments before is decided, or trimmed.

    To capture those registers is not enough on this interface, nor in fact: the
    write of an append that begins later may reach one server that the capture did
    not ask, and be completed by the next client that comes by. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.layers Require Export space.

(** The addresses in order are divided into segments: [base k] is the first of
    segment [k]. *)
Record division := Division {
  segment : nat → nat;
  base : nat → nat;
  divided : ∀ k a, base k ≤ a ↔ k ≤ segment a;
}.

Section log.
Context (D : division).
Notation segment := (segment D).
Notation base := (base D).
Notation addresses := (space nat (option nat)).   (* an entry is its client, and junk is None *)

Inductive stage := Called | Sent | Done.

(** A client appends one entry. *)
Record client := Client {
  at_stage : stage;
  token : option nat;        (* the address that it was given last *)
  floor : gset nat;          (* the bounds that were known when it called *)
}.

(** A reader asks for the tail, once. *)
Record reader := Reader {
  since : gset nat;            (* the bounds that were known when it called *)
  heard : option (nat * nat);  (* the segment whose sequencer it asked, and what that said *)
  alone : option nat;          (* the segment that it knows had no next one *)
  found : option nat;          (* what it returned *)
}.

Record logs := Logs {
  clients : gmap nat client;
  readers : gmap nat reader;
  bounds : gset nat;           (* the addresses behind appends that returned, and tails that were *)
  nexts : gmap nat nat;        (* per segment: the address that its sequencer hands out next *)
  served : gset nat;           (* the segments whose sequencers serve, or did *)
  allocated : nat;             (* how many segments are *)
}.
Definition log_start : logs := Logs ∅ ∅ ∅ ∅ ∅ 0.

Definition next (l : logs) (k : nat) : nat := default (base k) (nexts l !! k).

Definition with_client (l : logs) c x := Logs (<[c := x]> (clients l)) (readers l) (bounds l) (nexts l) (served l) (allocated l).
Definition with_reader (l : logs) r y := Logs (clients l) (<[r := y]> (readers l)) (bounds l) (nexts l) (served l) (allocated l).
Definition with_bound (l : logs) f := Logs (clients l) (readers l) ({[f]} ∪ bounds l) (nexts l) (served l) (allocated l).
Definition with_next (l : logs) k n := Logs (clients l) (readers l) (bounds l) (<[k := n]> (nexts l)) (served l) (allocated l).
Definition with_served (l : logs) k := Logs (clients l) (readers l) (bounds l) (nexts l) ({[k]} ∪ served l) (allocated l).
Definition with_allocated (l : logs) := Logs (clients l) (readers l) (bounds l) (nexts l) (served l) (S (allocated l)).

(** The register takes no write that is called from now on. *)
Definition shut (h : list (event (option nat))) : Prop := (∃ v, told h v) ∨ ∃ r, ReadTrimmed r ∈ h.

Definition returning {value} (e : event value) : Prop :=
  match e with Writes _ | Reads _ => False | _ => True end.

Inductive log_move (l : logs) (h : addresses) : option (nat * event (option nat)) → logs → Prop :=
  (* an append *)
  | log_call c :
      clients l !! c = None → log_move l h None (with_client l c (Client Called None (bounds l)))
  | log_token c F k :
      clients l !! c = Some (Client Called None F) → k ∈ served l → segment (next l k) = k →
      log_move l h None (with_next (with_client l c (Client Called (Some (next l k)) F)) k (S (next l k)))
  | log_send c F a :
      clients l !! c = Some (Client Called (Some a) F) →
      log_move l h (Some (a, Writes (Some c))) (with_client l c (Client Sent (Some a) F))
  | log_retry c F a v :
      clients l !! c = Some (Client Sent (Some a) F) → told (h a) v → v ≠ Some c →
      log_move l h None (with_client l c (Client Called None F))
  | log_return c F a :
      clients l !! c = Some (Client Sent (Some a) F) → told (h a) (Some c) →
      log_move l h None (with_bound (with_client l c (Client Done (Some a) F)) (S a))
  (* holes, readers of entries, and what registers return *)
  | log_junk a : log_move l h (Some (a, Writes None)) l
  | log_read a q : log_move l h (Some (a, Reads q)) l
  | log_answer a e : returning e → log_move l h (Some (a, e)) l
  (* sequencers: one may pass over addresses *)
  | log_alloc : log_move l h None (with_allocated l)
  | log_serve k :
      k < allocated l → (∀ a, segment a < k → shut (h a)) → log_move l h None (with_served l k)
  | log_skip k :
      k ∈ served l → segment (next l k) = k → log_move l h None (with_next l k (S (next l k)))
  (* the tail: what a sequencer says whose segment has no next one *)
  | log_begin r :
      readers l !! r = None → log_move l h None (with_reader l r (Reader (bounds l) None None None))
  | log_ask r F x y k :
      readers l !! r = Some (Reader F x y None) → k ∈ served l →
      log_move l h None (with_reader l r (Reader F (Some (k, next l k)) y None))
  | log_alone r F x y k :
      readers l !! r = Some (Reader F x y None) → allocated l = S k →
      log_move l h None (with_reader l r (Reader F x (Some k) None))
  | log_end r F k n :
      readers l !! r = Some (Reader F (Some (k, n)) (Some k) None) →
      log_move l h None (with_bound (with_reader l r (Reader F (Some (k, n)) (Some k) (Some n))) n).

Definition log_moves : moving nat (option nat) logs := log_move.
Notation log_run := (layer_run log_moves log_start).

(** A client or a reader that has called knows the bounds of the moment of its call
    until it returns, and after. *)
Lemma log_floors l h e l' :
  log_move l h e l' →
  bounds l ⊆ bounds l' ∧
  (∀ c s k F, clients l !! c = Some (Client s k F) → ∃ s' k', clients l' !! c = Some (Client s' k' F)) ∧
  (∀ r F x y z, readers l !! r = Some (Reader F x y z) → ∃ x' y' z', readers l' !! r = Some (Reader F x' y' z')).
Proof.
  intros Hm. split; [inversion Hm; subst; simpl; set_solver|]. split.
  - intros d s' k' G Hd. inversion Hm; subst; simpl; try by eauto.
    all: destruct (decide (c = d)) as [<-|]; [rewrite lookup_insert|rewrite lookup_insert_ne by done; by eauto].
    all: simplify_eq; eauto.
  - intros q G u v w Hq. inversion Hm; subst; simpl; try by eauto.
    all: destruct (decide (r = q)) as [<-|]; [rewrite lookup_insert|rewrite lookup_insert_ne by done; by eauto].
    all: simplify_eq; eauto.
Qed.

(** ** Registers that take nothing from a client *)

Definition closed_to (h : list (event (option nat))) (c : nat) : Prop :=
  (∃ v, told h v ∧ v ≠ Some c) ∨
  ∃ h1 h2 r, h = h1 ++ h2 ∧ ReadTrimmed r ∈ h1 ∧ Writes (Some c) ∉ h1.

Lemma closed_to_not h c : write_once h → closed_to h c → ¬ told h (Some c).
Proof.
  intros HW [(v & Hv & Hne)|(h1 & h2 & r & E & Hr & Hn)] Hc.
  - destruct Hne. by eapply one.
  - apply Hn. by eapply over.
Qed.

Lemma shut_closed h c : write_once h → shut h → Writes (Some c) ∉ h → closed_to h c.
Proof.
  intros HW [[v Hv]|[r Hr]] Hn.
  - left. exists v. split; [done|]. intros ->. apply Hn, held_asked; [done|]. by apply held.
  - right. exists h, [], r. by rewrite app_nil_r.
Qed.

Lemma closed_to_more h e c : closed_to h c → closed_to (h ++ [e]) c.
Proof.
  intros [(v & Hv & Hne)|(h1 & h2 & r & -> & Hr & Hn)].
  - left. exists v. split; [|done]. rewrite told_app. by left.
  - right. exists h1, (h2 ++ [e]), r. by rewrite app_assoc.
Qed.

(** ** The invariant *)

Definition bound_ok (l : logs) (f k : nat) : Prop := k ∈ served l ∧ base k ≤ f ∧ f ≤ next l k.

Record client_ok (l : logs) (h : addresses) (c : nat) (x : client) : Prop := ClientOk {
  k_token : ∀ a, token x = Some a → segment a ∈ served l ∧ a < next l (segment a);
  k_done : at_stage x = Done → ∃ a, token x = Some a ∧ told (h a) (Some c);
  k_floor : ∀ f, f ∈ floor x → ∃ k, bound_ok l f k ∧
    (∀ a, segment a < k → closed_to (h a) c) ∧ ∀ a, token x = Some a → segment a = k → f ≤ a;
}.

Record reader_ok (l : logs) (y : reader) : Prop := ReaderOk {
  y_heard : ∀ k n, heard y = Some (k, n) → k ∈ served l ∧ base k ≤ n ∧ n ≤ next l k;
  y_since : ∀ f, f ∈ since y → ∃ k, bound_ok l f k ∧
    (∀ j, alone y = Some j → k ≤ j) ∧ ∀ n, heard y = Some (k, n) → f ≤ n;
  y_found : ∀ n f, found y = Some n → f ∈ since y → f ≤ n;
}.

Record log_inv (l : logs) (h : addresses) : Prop := LogInv {
  g_next : ∀ k, base k ≤ next l k ∧ next l k ≤ base (S k);
  g_served : ∀ k, k ∈ served l → k < allocated l ∧ ∀ a, segment a < k → shut (h a);
  g_bounds : ∀ f, f ∈ bounds l → ∃ k, bound_ok l f k;
  g_written : ∀ c a, Writes (Some c) ∈ h a → ∃ x, clients l !! c = Some x ∧
    ((token x = Some a ∧ at_stage x ≠ Called) ∨ ∃ v, told (h a) v ∧ v ≠ Some c);
  g_clients : ∀ c x, clients l !! c = Some x → client_ok l h c x;
  g_readers : ∀ r y, readers l !! r = Some y → reader_ok l y;
}.

(** What only grows. *)
Record grows (l : logs) (h : addresses) (l' : logs) (h' : addresses) : Prop := Grows {
  o_served : served l ⊆ served l';
  o_next : ∀ k, next l k ≤ next l' k;
  o_told : ∀ a v, told (h a) v → told (h' a) v;
  o_closed : ∀ a c, closed_to (h a) c → closed_to (h' a) c;
}.

Lemma bound_grows l h l' h' f k : grows l h l' h' → bound_ok l f k → bound_ok l' f k.
Proof. intros G (? & ? & ?). pose proof (o_next _ _ _ _ G k). pose proof (o_served _ _ _ _ G). split_and!; [set_solver|done|lia]. Qed.

Lemma client_grows l h l' h' c x : grows l h l' h' → client_ok l h c x → client_ok l' h' c x.
Proof.
  intros G [Ht Hd Hf]. split.
  - intros a Ha. destruct (Ht a Ha). pose proof (o_next _ _ _ _ G (segment a)). pose proof (o_served _ _ _ _ G).
    split; [set_solver|lia].
  - intros Hx. destruct (Hd Hx) as (a & ? & ?). eauto using o_told.
  - intros f Hx. destruct (Hf f Hx) as (k & ? & ? & ?). exists k. split_and!; eauto using bound_grows, o_closed.
Qed.

Lemma reader_grows l h l' h' y : grows l h l' h' → reader_ok l y → reader_ok l' y.
Proof.
  intros G [Hh Hs Hf]. split; [| |done].
  - intros k n Hy. destruct (Hh k n Hy) as (? & ? & ?). pose proof (o_next _ _ _ _ G k). pose proof (o_served _ _ _ _ G).
    split_and!; [set_solver|done|lia].
  - intros f Hy. destruct (Hs f Hy) as (k & ? & ? & ?). exists k. eauto using bound_grows.
Qed.

Lemma grows_alone l h l' : served l ⊆ served l' → (∀ k, next l k ≤ next l' k) → grows l h l' h.
Proof. by split. Qed.

Lemma grows_event l h l' a e : served l ⊆ served l' → (∀ k, next l k ≤ next l' k) → grows l h l' (record_at h a e).
Proof.
  intros. split; try done.
  - intros b v Hv. destruct (decide (a = b)) as [<-|].
    + rewrite recorded, told_app. by left.
    + by rewrite recorded_elsewhere.
  - intros b c Hc. destruct (decide (a = b)) as [<-|].
    + rewrite recorded. by apply closed_to_more.
    + by rewrite recorded_elsewhere.
Qed.

Lemma next_insert l k n j : next (with_next l k n) j = if decide (k = j) then n else next l j.
Proof. unfold next. simpl. case_decide as E; [subst; by rewrite lookup_insert|by rewrite lookup_insert_ne]. Qed.

Lemma base_mono j k : j ≤ k → base j ≤ base k.
Proof.
  intros Hjk. apply (divided D). trans k; [done|]. by apply (divided D).
Qed.

Lemma base_after a k : segment a = k → S a ≤ base (S k).
Proof.
  intros E. destruct (decide (base (S k) ≤ a)) as [Hle|]; [|lia]. apply (divided D) in Hle. lia.
Qed.

(** The parts of the state that a move does not touch. *)
Lemma clients_kept l h l' h' :
  log_inv l h → grows l h l' h' → clients l' = clients l → ∀ c x, clients l' !! c = Some x → client_ok l' h' c x.
Proof. intros HI G E c x. rewrite E. intros Hx. eapply client_grows, g_clients; eauto. Qed.

Lemma readers_kept l h l' h' :
  log_inv l h → grows l h l' h' → readers l' = readers l → ∀ r y, readers l' !! r = Some y → reader_ok l' y.
Proof. intros HI G E r y. rewrite E. intros Hy. eapply reader_grows, g_readers; eauto. Qed.

Lemma bounds_kept l h l' h' :
  log_inv l h → grows l h l' h' → bounds l' = bounds l → ∀ f, f ∈ bounds l' → ∃ k, bound_ok l' f k.
Proof. intros HI G E f. rewrite E. intros [k Hk]%(g_bounds l h HI). eauto using bound_grows. Qed.

Lemma clients_changed l h l' h' c x :
  log_inv l h → grows l h l' h' → clients l' = <[c := x]> (clients l) → client_ok l' h' c x →
  ∀ d y, clients l' !! d = Some y → client_ok l' h' d y.
Proof.
  intros HI G E Hx d y. rewrite E. destruct (decide (c = d)) as [<-|].
  - rewrite lookup_insert. by intros [= <-].
  - rewrite lookup_insert_ne by done. intros Hy. eapply client_grows, g_clients; eauto.
Qed.

Lemma readers_changed l h l' h' r y :
  log_inv l h → grows l h l' h' → readers l' = <[r := y]> (readers l) → reader_ok l' y →
  ∀ s z, readers l' !! s = Some z → reader_ok l' z.
Proof.
  intros HI G E Hy s z. rewrite E. destruct (decide (r = s)) as [<-|].
  - rewrite lookup_insert. by intros [= <-].
  - rewrite lookup_insert_ne by done. intros Hz. eapply reader_grows, g_readers; eauto.
Qed.

(** A client that changes is still at the address that it wrote, or that register
    holds something else. *)
Lemma written_changed l h l' c x x' :
  log_inv l h → clients l' = <[c := x']> (clients l) → clients l !! c = Some x →
  (∀ a, token x = Some a → at_stage x ≠ Called →
    (token x' = Some a ∧ at_stage x' ≠ Called) ∨ ∃ v, told (h a) v ∧ v ≠ Some c) →
  ∀ d a, Writes (Some d) ∈ h a → ∃ y, clients l' !! d = Some y ∧
    ((token y = Some a ∧ at_stage y ≠ Called) ∨ ∃ v, told (h a) v ∧ v ≠ Some d).
Proof.
  intros HI E Hx Hkeep d a Hin. destruct (g_written l h HI d a Hin) as (y & Hy & Hor). rewrite E.
  destruct (decide (c = d)) as [<-|]; [|exists y; by rewrite lookup_insert_ne].
  exists x'. rewrite lookup_insert. split; [done|]. simplify_eq. destruct Hor as [[? ?]|]; [by apply Hkeep|by right].
Qed.

Lemma log_inv_alone l h l' :
  (∀ a, write_once (h a)) → log_inv l h → log_move l h None l' → log_inv l' h.
Proof.
  intros HO HI Hm.
  assert (grows l h l' h) as G.
  { inversion Hm; subst; apply grows_alone; simpl; try set_solver; intros j; try done;
      rewrite next_insert; unfold next in *; simpl in *; case_decide; subst; lia. }
  pose proof (g_next l h HI) as Hn. pose proof (g_served l h HI) as Hs.
  inversion Hm; subst.
  - (* call *)
    split; try done; [by eapply bounds_kept| | |by eapply readers_kept].
    + intros d a Hin. destruct (g_written l h HI d a Hin) as (y & Hy & Hor). exists y. split; [|done].
      simpl. rewrite lookup_insert_ne; congruence.
    + eapply clients_changed; try done. split; simpl; try done. intros f (k & Hk)%(g_bounds l h HI).
      exists k. split; [done|]. split; [|done]. intros a Ha. apply shut_closed; [done|by apply (Hs k), Ha; apply Hk|].
      intros Hin. destruct (g_written l h HI c a Hin) as (y & Hy & _). congruence.
  - (* token *)
    rename select (clients l !! c = _) into Hc. rename select (k ∈ served l) into Hk. rename select (segment _ = k) into Ek.
    pose proof (g_clients l h HI c _ Hc) as [_ _ Hf].
    split; [| |by eapply bounds_kept| | |by eapply readers_kept].
    + intros j. rewrite next_insert. unfold next in *. simpl. case_decide; [subst j|apply Hn].
      split; [pose proof (Hn k); lia|]. by apply base_after.
    + done.
    + eapply written_changed; [done|done|done|]. done.
    + eapply clients_changed; [done|done|done|]. split; simpl; [|done|].
      * intros a [= <-]. rewrite Ek, next_insert, decide_True by done. split; [done|]. unfold next. simpl. lia.
      * intros f Hff. destruct (Hf f Hff) as (j & Hj & Hcl & _). exists j.
        split; [by eapply bound_grows|]. split; [done|]. intros a [= <-] Ej. rewrite Ek in Ej. subst j. apply Hj.
  - (* retry *)
    rename select (clients l !! c = _) into Hc. pose proof (g_clients l h HI c _ Hc) as [_ _ Hf].
    split; try done; [by eapply bounds_kept| | |by eapply readers_kept].
    + eapply written_changed; [done|done|done|]. simpl. intros b [= <-] _. right. eauto.
    + eapply clients_changed; [done|done|done|]. split; simpl; try done.
      intros f Hff. destruct (Hf f Hff) as (j & Hj & Hcl & _). exists j. by split_and!.
  - (* return *)
    rename select (clients l !! c = _) into Hc. pose proof (g_clients l h HI c _ Hc) as [Htk _ Hf].
    destruct (Htk a eq_refl) as [Hsa Hna].
    split; try done; [| | |by eapply readers_kept].
    + simpl. intros f [Hff%elem_of_singleton|Hff]%elem_of_union; [|by apply (g_bounds l h HI)].
      exists (segment a). subst f. split; [done|]. split; [|done]. trans a; [by apply (divided D)|lia].
    + eapply written_changed; [done|done|done|]. simpl. intros b [= <-] _. by left.
    + eapply clients_changed; [done|done|done|]. split; simpl; try done; eauto.
  - (* alloc *)
    split; try done; [|by eapply bounds_kept|apply HI|by eapply clients_kept|by eapply readers_kept].
    intros k Hk. simpl. destruct (Hs k Hk). split; [lia|done].
  - (* serve *)
    split; try done; [|by eapply bounds_kept|apply HI|by eapply clients_kept|by eapply readers_kept].
    simpl. intros j [->%elem_of_singleton|Hj]%elem_of_union; [done|by apply Hs].
  - (* skip *)
    rename select (segment _ = k) into Ek.
    split; try done; [|by eapply bounds_kept|apply HI|by eapply clients_kept|by eapply readers_kept].
    intros j. rewrite next_insert. case_decide; [subst j|apply Hn]. split; [pose proof (Hn k); lia|]. by apply base_after.
  - (* the tail *)
    split; try done; [by eapply bounds_kept|apply HI|by eapply clients_kept|].
    eapply readers_changed; [done|done|done|]. split; simpl; try done.
    intros f (k & Hk)%(g_bounds l h HI). by exists k.
  - rename select (readers l !! r = _) into Hr. pose proof (g_readers l h HI r _ Hr) as [Hh Hsi _].
    split; try done; [by eapply bounds_kept|apply HI|by eapply clients_kept|].
    eapply readers_changed; [done|done|done|]. split; simpl; try done.
    + intros j n [= <- <-]. split; [done|]. split; [apply Hn|done].
    + intros f Hff. destruct (Hsi f Hff) as (j & Hj & Ha & _). exists j. split_and!; [done|done|].
      intros n [= <- <-]. apply Hj.
  - rename select (readers l !! r = _) into Hr. pose proof (g_readers l h HI r _ Hr) as [Hh Hsi _].
    split; try done; [by eapply bounds_kept|apply HI|by eapply clients_kept|].
    eapply readers_changed; [done|done|done|]. split; simpl; try done.
    intros f Hff. destruct (Hsi f Hff) as (j & Hj & _ & Hhe). exists j. split_and!; [done| |done].
    intros i [= <-]. destruct Hj as [Hj _]. destruct (Hs j Hj). lia.
  - rename select (readers l !! r = _) into Hr. pose proof (g_readers l h HI r _ Hr) as [Hh Hsi _].
    destruct (Hh k n eq_refl) as (Hk & Hbn & Hnn).
    split; try done; [|apply HI|by eapply clients_kept|].
    + simpl. intros f [->%elem_of_singleton|Hff]%elem_of_union; [|by apply (g_bounds l h HI)]. by exists k.
    + eapply readers_changed; [done|done|done|]. split; simpl; try done.
      intros m f [= <-] Hff. destruct (Hsi f Hff) as (j & (Hj & Hbj & Hjn) & Ha & Hhe).
      specialize (Ha k eq_refl). destruct (decide (j = k)) as [->|]; [by apply Hhe|].
      pose proof (Hn j). pose proof (base_mono (S j) k). lia.
Qed.

Lemma log_inv_event l h l' a e : log_inv l h → log_move l h (Some (a, e)) l' → log_inv l' (record_at h a e).
Proof.
  intros HI Hm.
  assert (grows l h l' (record_at h a e)) as G by by (inversion Hm; subst; apply grows_event).
  assert (∀ k, k ∈ served l' → k < allocated l' ∧ ∀ b, segment b < k → shut (record_at h a e b)) as Hs.
  { intros k Hk. assert (k ∈ served l ∧ allocated l' = allocated l) as [Hk' ->] by by inversion Hm; subst.
    destruct (g_served l h HI k Hk') as [? Hsh]. split; [done|]. intros b Hb. destruct (Hsh b Hb) as [[v Hv]|[r Hr]].
    - left. exists v. by eapply o_told.
    - right. exists r. destruct (decide (a = b)) as [<-|]; [rewrite recorded; set_solver|by rewrite recorded_elsewhere]. }
  assert (∀ b (x : event (option nat)), x ∈ record_at h a e b → x ∈ h b ∨ (b = a ∧ x = e)) as Hin.
  { intros b x. destruct (decide (a = b)) as [<-|]; [rewrite recorded|rewrite recorded_elsewhere by done; auto].
    intros [?|?%elem_of_list_singleton]%elem_of_app; auto. }
  assert (∀ d b, Writes (Some d) ∈ h b → ∃ x, clients l !! d = Some x ∧
    ((token x = Some b ∧ at_stage x ≠ Called) ∨ ∃ v, told (record_at h a e b) v ∧ v ≠ Some d)) as Hw.
  { intros d b Hd. destruct (g_written l h HI d b Hd) as (x & Hx & [?|(v & ? & ?)]); exists x; split; try done; [by left|].
    right. exists v. split; [by eapply o_told|done]. }
  inversion Hm; subst.
  - rename select (clients l !! c = _) into Hc. pose proof (g_clients l h HI c _ Hc) as Hok.
    split; [apply HI|done|by eapply bounds_kept| | |by eapply readers_kept].
    + intros d b [Hd|[-> [= <-]]]%Hin.
      * destruct (Hw d b Hd) as (x & Hx & Hor). simpl. destruct (decide (c = d)) as [<-|].
        -- rewrite lookup_insert. eexists. split; [done|]. simplify_eq. destruct Hor as [[? ?]|]; [done|by right].
        -- rewrite lookup_insert_ne by done. eauto.
      * simpl. rewrite lookup_insert. eexists. split; [done|]. left. done.
    + eapply clients_changed; [done|done|done|]. eapply client_grows in Hok; [|done]. destruct Hok. split; done.
  - split; [apply HI|done|by eapply bounds_kept| |by eapply clients_kept|by eapply readers_kept].
    intros d b [Hd|[-> ?]]%Hin; [eauto|done].
  - split; [apply HI|done|by eapply bounds_kept| |by eapply clients_kept|by eapply readers_kept].
    intros d b [Hd|[-> ?]]%Hin; [eauto|done].
  - split; [apply HI|done|by eapply bounds_kept| |by eapply clients_kept|by eapply readers_kept].
    intros d b [Hd|[-> <-]]%Hin; [eauto|done].
Qed.

Lemma log_inv_run l h : log_run l h → (∀ a, write_once (h a)) ∧ log_inv l h.
Proof.
  apply layer_invariant.
  - split.
    + intros k. unfold next. simpl. rewrite lookup_empty. simpl. split; [done|]. apply base_mono. lia.
    + intros k Hk. by apply not_elem_of_empty in Hk.
    + intros f Hf. by apply not_elem_of_empty in Hf.
    + intros c a Hin. by apply elem_of_nil in Hin.
    + intros c x. simpl. by rewrite lookup_empty.
    + intros r y. simpl. by rewrite lookup_empty.
  - intros l1 h1 l2 HO HI Hm. by eapply log_inv_alone.
  - intros l1 h1 l2 a e _ HI Hm _. by eapply log_inv_event.
Qed.

(** ** What clients can rely on *)

(** An append has an address above all that had returned when it was called, and
    not below a tail that had been returned. *)
Lemma log_order l h c F a f :
  log_run l h → clients l !! c = Some (Client Done (Some a) F) → f ∈ F → f ≤ a.
Proof.
  intros [HO HI]%log_inv_run Hc Hf. destruct (g_clients l h HI c _ Hc) as [_ Hd Hfl]. simpl in *.
  destruct Hd as (b & [= <-] & Ht); [done|]. destruct (Hfl f Hf) as (k & (_ & _ & Hk) & Hcl & Hsame).
  destruct (decide (segment a < k)) as [Hlt|]; [by eapply closed_to_not in Ht; [|done|by apply Hcl]|].
  destruct (decide (segment a = k)) as [|]; [by apply Hsame|].
  pose proof (g_next l h HI k). assert (base (S k) ≤ a) by (apply (divided D); lia). lia.
Qed.

(** A tail is not below what was known when it was asked for. *)
Lemma log_tail l h r F x y n f :
  log_run l h → readers l !! r = Some (Reader F x y (Some n)) → f ∈ F → f ≤ n.
Proof. intros [HO HI]%log_inv_run Hr Hf. by eapply (y_found l _ (g_readers l h HI r _ Hr)). Qed.

(** An entry is at one address only. *)
Lemma log_once l h c a b : log_run l h → told (h a) (Some c) → told (h b) (Some c) → a = b.
Proof.
  intros [HO HI]%log_inv_run Ha Hb.
  assert (∀ d, told (h d) (Some c) → ∃ x, clients l !! c = Some x ∧ token x = Some d) as Hat.
  { intros d Hd. destruct (g_written l h HI c d) as (x & Hx & [[? ?]|(v & Hv & Hne)]).
    - apply held_asked; [done|]. by apply held.
    - eauto.
    - destruct Hne. by eapply one. }
  destruct (Hat a Ha) as (x & ? & ?), (Hat b Hb) as (y & ? & ?). congruence.
Qed.

(** An append that returned is at its address. *)
Lemma log_kept l h c F a : log_run l h → clients l !! c = Some (Client Done (Some a) F) → told (h a) (Some c).
Proof.
  intros [HO HI]%log_inv_run Hc. destruct (k_done _ _ _ _ (g_clients l h HI c _ Hc)) as (b & [= <-] & ?); done.
Qed.

(** A read that is called after an append has returned returns its entry, or that it
    was trimmed. *)
Lemma log_reads_back l h l' h' c F a h1 h2 q e :
  log_run l h → clients l !! c = Some (Client Done (Some a) F) → rtc (layer_step log_moves) (l, h) (l', h') →
  h' a = h a ++ h1 ++ Reads q :: h2 → e ∈ h2 → returns q e → e = Read q (Some c) ∨ e = ReadTrimmed q.
Proof.
  intros Hr Hc Hs E He Hq. assert (told (h a) (Some c)) as Ht by by eapply log_kept.
  assert (log_run l' h') as [HO _]%log_inv_run by exact (rtc_transitive _ _ _ Hr Hs). specialize (HO a).
  destruct Hq as [->|[->|[v ->]]]; [exfalso|by right|left].
  - apply (lasting _ HO (h a ++ h1) h2 q (Some c)); [by rewrite E, app_assoc|rewrite told_app; by left|done].
  - f_equal. eapply (one _ HO); rewrite E, !told_app.
    + right. right. rewrite told_cons. right. right. by exists q.
    + by left.
Qed.

(** An append that returned is among the bounds. *)
Lemma log_known l h c F a : log_run l h → clients l !! c = Some (Client Done (Some a) F) → S a ∈ bounds l.
Proof.
  assert (∀ l h e l', log_move l h e l' → bounds l ⊆ bounds l' ∧
    (clients l' = clients l ∨ ∃ d x, clients l' = <[d := x]> (clients l) ∧
      (∀ b, at_stage x = Done → token x = Some b → S b ∈ bounds l'))) as Hmove.
  { clear. intros l h e l' Hm. inversion Hm; subst; (split; [simpl; set_solver|]);
      first [left; reflexivity
            |right; eexists _, _; split; [reflexivity|]; intros b; simpl; first [done|intros _ [= <-]; set_solver]]. }
  assert (∀ l h e l', log_move l h e l' → (∀ c F a, clients l !! c = Some (Client Done (Some a) F) → S a ∈ bounds l) →
    ∀ c F a, clients l' !! c = Some (Client Done (Some a) F) → S a ∈ bounds l') as Hkeep.
  { clear -Hmove. intros l h e l' Hm IH c F a. destruct (Hmove _ _ _ _ Hm) as [Hsub [->|(d & x & -> & Hx)]].
    - intros Hc%IH. set_solver.
    - destruct (decide (d = c)) as [->|].
      + rewrite lookup_insert. intros [= ->]. by apply Hx.
      + rewrite lookup_insert_ne by done. intros Hc%IH. set_solver. }
  assert (∀ l h, log_run l h → (∀ a, write_once (h a)) ∧
    ∀ c F a, clients l !! c = Some (Client Done (Some a) F) → S a ∈ bounds l) as Hall; [|intros Hr; by apply Hall in Hr as [_ Hr]; apply Hr].
  clear -Hkeep. apply layer_invariant.
  - intros c F a. simpl. by rewrite lookup_empty.
  - intros l h l' _ IH Hm. by eapply Hkeep.
  - intros l h l' a e _ IH Hm _. by eapply Hkeep.
Qed.

(** So is a tail. *)
Lemma log_tail_known l h r F x y n : log_run l h → readers l !! r = Some (Reader F x y (Some n)) → n ∈ bounds l.
Proof.
  assert (∀ l h e l', log_move l h e l' → bounds l ⊆ bounds l' ∧
    (readers l' = readers l ∨ ∃ d y, readers l' = <[d := y]> (readers l) ∧
      (∀ n, found y = Some n → n ∈ bounds l'))) as Hmove.
  { clear. intros l h e l' Hm. inversion Hm; subst; (split; [simpl; set_solver|]);
      first [left; reflexivity
            |right; eexists _, _; split; [reflexivity|]; intros n'; simpl; first [done|intros [= <-]; set_solver]]. }
  assert (∀ l h e l', log_move l h e l' → (∀ r y n, readers l !! r = Some y → found y = Some n → n ∈ bounds l) →
    ∀ r y n, readers l' !! r = Some y → found y = Some n → n ∈ bounds l') as Hkeep.
  { clear -Hmove. intros l h e l' Hm IH r y n. destruct (Hmove _ _ _ _ Hm) as [Hsub [->|(d & z & -> & Hz)]].
    - intros Hr Hy. pose proof (IH _ _ _ Hr Hy). set_solver.
    - destruct (decide (d = r)) as [->|].
      + rewrite lookup_insert. intros [= ->]. by apply Hz.
      + rewrite lookup_insert_ne by done. intros Hr Hy. pose proof (IH _ _ _ Hr Hy). set_solver. }
  intros Hr Hy.
  assert ((∀ a, write_once (h a)) ∧ ∀ r y n, readers l !! r = Some y → found y = Some n → n ∈ bounds l) as [_ Hall];
    [|by eapply Hall].
  revert l h Hr Hy. intros l0 h0 Hr _. revert l0 h0 Hr. clear -Hkeep. apply layer_invariant.
  - intros r y n. simpl. by rewrite lookup_empty.
  - intros l h l' _ IH Hm. by eapply Hkeep.
  - intros l h l' a e _ IH Hm _. by eapply Hkeep.
Qed.

(** A client that calls knows the bounds of that moment. *)
Lemma log_calls l h l' :
  log_move l h None l' →
  (∀ c, clients l !! c = None → ∀ s k F, clients l' !! c = Some (Client s k F) → F = bounds l) ∧
  (∀ r, readers l !! r = None → ∀ x y z F, readers l' !! r = Some (Reader F x y z) → F = bounds l).
Proof.
  intros Hm. split.
  - intros c Hc s k F. inversion Hm; subst; simpl; try congruence;
      rewrite lookup_insert_Some; intros [[<- [= <- <- <-]]|[_ ?]]; congruence.
  - intros r Hr x y z F. inversion Hm; subst; simpl; try congruence;
      rewrite lookup_insert_Some; intros [[<- [= <- <- <- <-]]|[_ ?]]; congruence.
Qed.
End log.

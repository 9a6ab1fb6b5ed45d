(** * All epochs together: one value, in every epoch from the one that decided it *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Export epochs epochs_inv.

Section world.
Context `{Countable server} {value : Type} `{EqDecision value}.
Context (σ0 : setting server) (Hσ0 : sound σ0).
Implicit Types (w : world server value) (n : list (note server value)) (e r : nat) (c : content value).

Record winv w : Prop := WInv {
  (* a tag is used once, and stages are what was merged *)
  w_tag : ∀ e r σ c σ' c', Merged e r σ c ∈ notes w → Merged e r σ' c' ∈ notes w → σ = σ' ∧ c = c';
  w_staged : ∀ e r a c, Staged e r a c ∈ notes w → ∃ σ, Merged e r σ c ∈ notes w;
  (* an epoch has one configuration, which somebody merged for *)
  w_one : ∀ e r σ r' σ', Decided e r σ ∈ notes w → Decided e r' σ' ∈ notes w → r = r' ∧ σ = σ';
  w_decided : ∀ e r σ, Decided e r σ ∈ notes w → ∃ c, Merged e r σ c ∈ notes w;
  w_merged : ∀ e r σ c, Merged e r σ c ∈ notes w →
    sound σ ∧ ∃ e' σ', e = S e' ∧ configured σ0 (notes w) e' σ';
  w_began : ∀ e a, Began e a ∈ notes w → ∃ r σ, Decided e r σ ∈ notes w;
  (* nothing happens in an epoch that has no configuration *)
  w_blank : ∀ e, (∀ σ, ¬ configured σ0 (notes w) e σ) → registers w e = init;
  (* the others are as their origin says, and what they may decide goes on *)
  w_ok : ∀ e σ c, configured σ0 (notes w) e σ → origin (notes w) e c →
    epoch_ok c σ (registers w e) (has_begun (notes w) e);
  w_on : ∀ e σ c0 r σ' c, configured σ0 (notes w) e σ → origin (notes w) e c0 →
    Merged (S e) r σ' c ∈ notes w → goes_on c0 σ (registers w e) c;
}.

(** ** Notes are only added *)

Lemma configured_more n x e σ : configured σ0 n e σ → configured σ0 (x :: n) e σ.
Proof. destruct e; [done|]. intros (r & Hr). exists r. by apply elem_of_list_further. Qed.

Lemma configured_back n x e σ :
  configured σ0 (x :: n) e σ → (∀ r σ', x ≠ Decided e r σ') → configured σ0 n e σ.
Proof.
  destruct e; [done|]. intros (r & Hr) Hx. exists r.
  apply elem_of_cons in Hr as [Hr|Hr]; [by destruct (Hx r σ)|done].
Qed.

Lemma origin_more n x e c : origin n e c → origin (x :: n) e c.
Proof. destruct e; [done|]. intros (r & σ & ? & ?). exists r, σ. by split; apply elem_of_list_further. Qed.

Lemma configured_sound w e σ : winv w → configured σ0 (notes w) e σ → sound σ.
Proof.
  intros HI. destruct e; [by intros ->|]. intros (r & Hr). destruct (w_decided w HI _ _ _ Hr) as (c & Hc).
  by apply (w_merged w HI _ _ _ _ Hc).
Qed.

Lemma configured_unique w e σ σ' :
  winv w → configured σ0 (notes w) e σ → configured σ0 (notes w) e σ' → σ = σ'.
Proof.
  intros HI. destruct e; [by intros -> ->|]. intros (r & Hr) (r' & Hr'). by destruct (w_one w HI _ _ _ _ _ Hr Hr').
Qed.

Lemma origin_unique w e c c' : winv w → origin (notes w) e c → origin (notes w) e c' → c = c'.
Proof.
  intros HI. destruct e; [by intros -> ->|]. intros (r & σ & Hr & Hc) (r' & σ' & Hr' & Hc').
  destruct (w_one w HI _ _ _ _ _ Hr Hr') as [<- <-]. by destruct (w_tag w HI _ _ _ _ _ _ Hc Hc').
Qed.

Lemma origin_exists w e σ : winv w → configured σ0 (notes w) e σ → ∃ c, origin (notes w) e c.
Proof.
  intros HI. destruct e; [by exists Nothing|]. intros (r & Hr). destruct (w_decided w HI _ _ _ Hr) as (c & Hc).
  by exists c, r, σ.
Qed.

Lemma origin_configured n e c : origin n e c → ∃ σ, configured σ0 n e σ.
Proof. destruct e; [by exists σ0|]. intros (r & σ & Hr & _). by exists σ, r. Qed.

(** ** Each step keeps the invariant *)

Lemma winv_first : winv first.
Proof.
  split; simpl; try (intros; set_solver).
  intros [|e] σ c; simpl.
  - intros -> ->. apply inv_init.
  - intros (r & Hr). set_solver.
Qed.

(** A step within a configured epoch. *)
Lemma winv_inside w e σ m :
  winv w → configured σ0 (notes w) e σ → allowed σ (registers w e) m →
  (∀ a, actor m = Some a → has_begun (notes w) e a) →
  winv (within w e (effect (registers w e) m)).
Proof.
  intros HI He Hg Hact. pose proof (configured_sound w e σ HI He) as Hσ.
  split; simpl; try apply HI.
  - intros e' Hno. destruct (decide (e = e')) as [<-|]; [by destruct (Hno σ)|].
    rewrite fn_lookup_insert_ne by done. by apply (w_blank w HI).
  - intros e' σ' c He' Hc. destruct (decide (e = e')) as [<-|].
    + rewrite fn_lookup_insert. rewrite (configured_unique w e σ' σ HI He' He).
      apply epoch_ok_step; [done| |done|done]. by apply (w_ok w HI).
    + rewrite fn_lookup_insert_ne by done. by apply (w_ok w HI).
  - intros e' σ' c0 r σ'' c He' Hc Hm. destruct (decide (e = e')) as [<-|].
    + rewrite fn_lookup_insert. rewrite (configured_unique w e σ' σ HI He' He).
      eapply goes_on_step; [by apply (w_ok w HI)|done|by eapply (w_on w HI)].
    + rewrite fn_lookup_insert_ne by done. by eapply (w_on w HI).
Qed.

(** A note that may be added, while no server begins. *)
Definition note_ok w (x : note server value) : Prop :=
  match x with
  | Merged e r σ c =>
      (∀ σ' c', Merged e r σ' c' ∉ notes w) ∧ sound σ ∧
      ∃ e' σ', e = S e' ∧ configured σ0 (notes w) e' σ' ∧
        ∀ c0, origin (notes w) e' c0 → goes_on c0 σ' (registers w e') c
  | Staged e r a c => ∃ σ, Merged e r σ c ∈ notes w
  | Decided e r σ => (∃ c, Merged e r σ c ∈ notes w) ∧ ∀ r' σ', Decided e r' σ' ∉ notes w
  | Began e a => False
  end.

(** It changes no configuration but the one that it decides, *)
Lemma note_configured w x e σ :
  winv w → note_ok w x → configured σ0 (x :: notes w) e σ →
  configured σ0 (notes w) e σ ∨ (∃ r, x = Decided e r σ) ∧ e ≠ 0.
Proof.
  intros HI Hx. destruct e; [by left|]. intros (r & Hr). apply elem_of_cons in Hr as [<-|Hr].
  - right. split; [by exists r|done].
  - left. by exists r.
Qed.

(** no origin of an epoch that was configured, *)
Lemma note_origin w x e σ c :
  winv w → note_ok w x → configured σ0 (notes w) e σ → origin (x :: notes w) e c → origin (notes w) e c.
Proof.
  intros HI Hx He. destruct e; [done|]. intros (r & σ' & Hr & Hc). destruct He as (r0 & Hr0).
  assert (Decided (S e) r σ' ∈ notes w) as Hr'.
  { apply elem_of_cons in Hr as [<-|Hr]; [|done]. simpl in Hx. destruct Hx as [_ Hno]. by destruct (Hno r0 σ). }
  exists r, σ'. split; [done|]. apply elem_of_cons in Hc as [<-|Hc]; [|done].
  simpl in Hx. destruct Hx as (Hno & _). destruct (w_decided w HI _ _ _ Hr') as (c' & Hc'). by destruct (Hno σ' c').
Qed.

(** and lets no server begin. *)
Lemma note_begun w x e a : note_ok w x → has_begun (x :: notes w) e a → has_begun (notes w) e a.
Proof. intros Hx. destruct e; [done|]. intros [<-|Hb]%elem_of_cons; [by destruct Hx|done]. Qed.

(** Nothing is merged from an epoch that is not configured. *)
Lemma unmerged w e r σ c : winv w → (∀ σ', ¬ configured σ0 (notes w) e σ') → Merged (S e) r σ c ∉ notes w.
Proof. intros HI Hno Hm. destruct (w_merged w HI _ _ _ _ Hm) as (_ & e' & σ' & [= <-] & Hc). by eapply Hno. Qed.

Lemma undecided_unconfigured w e :
  e ≠ 0 → (∀ r σ, Decided e r σ ∉ notes w) → ∀ σ, ¬ configured σ0 (notes w) e σ.
Proof. intros He Hno σ. destruct e; [done|]. intros (r & Hr). by eapply Hno. Qed.

Lemma winv_noted w x : winv w → note_ok w x → winv (noted w x).
Proof.
  intros HI Hx. split; simpl.
  - intros e r σ1 c1 σ2 c2 [<-|H1]%elem_of_cons [E2|H2]%elem_of_cons.
    + by simplify_eq.
    + by destruct Hx as (Hno & _); destruct (Hno σ2 c2).
    + subst x. by destruct Hx as (Hno & _); destruct (Hno σ1 c1).
    + by eapply w_tag.
  - intros e r a c [<-|Hs]%elem_of_cons.
    + destruct Hx as (σ & ?). exists σ. by apply elem_of_list_further.
    + destruct (w_staged w HI _ _ _ _ Hs) as (σ & ?). exists σ. by apply elem_of_list_further.
  - intros e r1 σ1 r2 σ2 [<-|H1]%elem_of_cons [E2|H2]%elem_of_cons.
    + by simplify_eq.
    + by destruct Hx as (_ & Hno); destruct (Hno r2 σ2).
    + subst x. by destruct Hx as (_ & Hno); destruct (Hno r1 σ1).
    + by eapply w_one.
  - intros e r σ [<-|Hd]%elem_of_cons.
    + destruct Hx as ((c & ?) & _). exists c. by apply elem_of_list_further.
    + destruct (w_decided w HI _ _ _ Hd) as (c & ?). exists c. by apply elem_of_list_further.
  - intros e r σ c [<-|Hm]%elem_of_cons.
    + destruct Hx as (_ & Hσ & e' & σ' & E & Hc & _). split; [done|]. exists e', σ'.
      split; [done|]. by apply configured_more.
    + destruct (w_merged w HI _ _ _ _ Hm) as (? & e' & σ' & ? & ?). split; [done|]. exists e', σ'.
      split; [done|]. by apply configured_more.
  - intros e a [<-|Hb]%elem_of_cons; [by destruct Hx|].
    destruct (w_began w HI _ _ Hb) as (r & σ & ?). exists r, σ. by apply elem_of_list_further.
  - intros e Hno. apply (w_blank w HI). intros σ Hc. by eapply Hno, configured_more.
  - intros e σ c He Hc. destruct (note_configured w x e σ HI Hx He) as [He'|[(r & ->) He0]].
    + eapply epoch_ok_mono; [apply (w_ok w HI); [done|by eapply note_origin]|]. intros a. by apply note_begun.
    + destruct Hx as [_ Hno]. pose proof (undecided_unconfigured w e He0 Hno) as Hun.
      rewrite (w_blank w HI e Hun). apply epoch_ok_init. intros a Hb.
      destruct e; [done|]. apply elem_of_cons in Hb as [Hb|Hb]; [done|].
      destruct (w_began w HI _ _ Hb) as (r' & σ' & Hd). by destruct (Hno r' σ').
  - intros e σ c0 r σ' c He Hc Hm. destruct (note_configured w x e σ HI Hx He) as [He'|[(r0 & ->) He0]].
    + pose proof (note_origin w x e σ c0 HI Hx He' Hc) as Hc'.
      apply elem_of_cons in Hm as [<-|Hm]; [|by eapply (w_on w HI)].
      destruct Hx as (_ & _ & e1 & σ1 & [= <-] & Hc1 & Hon).
      rewrite (configured_unique w e σ σ1 HI He' Hc1). by apply Hon.
    + apply elem_of_cons in Hm as [Hm|Hm]; [done|]. destruct Hx as [_ Hno].
      pose proof (undecided_unconfigured w e He0 Hno) as Hun. by eapply unmerged in Hm.
Qed.

(** A server that begins an epoch begins with its origin. *)
Lemma winv_begin w e r σ c a :
  winv w → Decided e r σ ∈ notes w → Staged e r a c ∈ notes w →
  winv (within (noted w (Began e a)) e (install (registers w e) a c)).
Proof.
  intros HI Hd Hs. destruct (w_staged w HI _ _ _ _ Hs) as (σ' & Hm).
  destruct (w_decided w HI _ _ _ Hd) as (c' & Hm'). destruct (w_tag w HI _ _ _ _ _ _ Hm Hm') as [-> <-].
  destruct (w_merged w HI _ _ _ _ Hm) as (Hσ & e0 & σ1 & -> & He0).
  assert (origin (notes w) (S e0) c) as Hor by (by exists r, σ).
  assert (configured σ0 (notes w) (S e0) σ) as Hcf by (by exists r).
  assert (∀ e' σ', configured σ0 (Began (S e0) a :: notes w) e' σ' → configured σ0 (notes w) e' σ') as Hcb
    by (intros e' σ' Hc; by apply configured_back in Hc).
  assert (∀ e' c', origin (Began (S e0) a :: notes w) e' c' → origin (notes w) e' c') as Hob.
  { intros [|e'] c'; [done|]. intros (r' & σ' & Hr' & Hc'). exists r', σ'.
    by apply elem_of_cons in Hr' as [?|?]; apply elem_of_cons in Hc' as [?|?]. }
  split; simpl.
  - intros e' r' σ2 c2 σ3 c3 [?|?]%elem_of_cons [?|?]%elem_of_cons; try done. by eapply w_tag.
  - intros e' r' a' c2 [?|Hs']%elem_of_cons; [done|]. destruct (w_staged w HI _ _ _ _ Hs') as (σ2 & ?).
    exists σ2. by apply elem_of_list_further.
  - intros e' r' σ2 r2 σ3 [?|?]%elem_of_cons [?|?]%elem_of_cons; try done. by eapply w_one.
  - intros e' r' σ2 [?|Hd']%elem_of_cons; [done|]. destruct (w_decided w HI _ _ _ Hd') as (c2 & ?).
    exists c2. by apply elem_of_list_further.
  - intros e' r' σ2 c2 [?|Hm2]%elem_of_cons; [done|].
    destruct (w_merged w HI _ _ _ _ Hm2) as (? & e2 & σ3 & ? & ?). split; [done|]. exists e2, σ3.
    split; [done|]. by apply configured_more.
  - intros e' a' [E|Hb]%elem_of_cons.
    + simplify_eq. exists r, σ. by apply elem_of_list_further.
    + destruct (w_began w HI _ _ Hb) as (r' & σ2 & ?). exists r', σ2. by apply elem_of_list_further.
  - intros e' Hno. destruct (decide (S e0 = e')) as [<-|].
    + destruct (Hno σ). by apply (configured_more _ _ (S e0)).
    + rewrite fn_lookup_insert_ne by done. apply (w_blank w HI). intros σ2 Hc. by eapply Hno, configured_more.
  - intros e' σ2 c2 He%Hcb Hc%Hob. destruct (decide (S e0 = e')) as [<-|].
    + rewrite fn_lookup_insert. rewrite (origin_unique w _ c2 c HI Hc Hor).
      eapply epoch_ok_begin; [by apply (w_ok w HI)|]. intros x [E|Hb]%elem_of_cons; [by simplify_eq; right|by left].
    + rewrite fn_lookup_insert_ne by done. eapply epoch_ok_mono; [by apply (w_ok w HI)|].
      intros x. destruct e'; [done|]. intros [E|Hb]%elem_of_cons; [by simplify_eq|done].
  - intros e' σ2 c0 r' σ3 c2 He%Hcb Hc%Hob [?|Hm2]%elem_of_cons; [done|].
    destruct (decide (S e0 = e')) as [<-|]; [|rewrite fn_lookup_insert_ne by done; by eapply (w_on w HI)].
    rewrite fn_lookup_insert. pose proof (w_on w HI _ _ _ _ _ _ He Hc Hm2) as Hon.
    rewrite (origin_unique w _ c c0 HI Hor Hc). by destruct c0.
Qed.

Lemma winv_step w w' : winv w → world_step σ0 w w' → winv w'.
Proof.
  intros HI Hs. destruct Hs as [e σ m He Hg Ha|e σ r σ' Q t f c He HQ Hfr Hm Hσ' Hno|e r σ c a Hm|
    e r σ c Q Hm HQ Hst Hno|e r σ c a Hd Hst Hnb].
  - by eapply winv_inside.
  - apply winv_noted; [done|]. split; [done|]. split; [done|]. exists e, σ. split; [done|]. split; [done|].
    intros c0 Hc0. eapply merge_goes_on; [by eapply configured_sound|by apply (w_ok w HI)|done..].
  - apply winv_noted; [done|]. by exists σ.
  - apply winv_noted; [done|]. split; [by exists c|done].
  - by eapply winv_begin.
Qed.

Lemma winv_reachable w : rtc (world_step σ0) first w → winv w.
Proof.
  intros Hr. remember (first : world server value) as w0 eqn:E.
  assert (winv w0) as HI by (subst; apply winv_first). clear E.
  induction Hr as [|w1 w2 w3 Hs _ IH]; [done|]. by eapply IH, winv_step.
Qed.

(** ** One value in all epochs *)

(** What is decided in an epoch is or becomes the origin of the next one. *)
Lemma decided_next w e v c :
  winv w → decided_in σ0 w e v → origin (notes w) (S e) c → c = Value v ∨ c = Tombstone.
Proof.
  intros HI (σ & He & b & Hb) (r & σ' & _ & Hm). destruct (origin_exists w e σ HI He) as (c0 & Hc0).
  pose proof (w_on w HI _ _ _ _ _ _ He Hc0 Hm) as Hon. pose proof (w_ok w HI _ _ _ He Hc0) as Hok.
  pose proof (configured_sound w e σ HI He) as Hσ.
  destruct c0 as [|u|]; simpl in *; [by eapply Hon, decided_possible| |by right].
  destruct Hb as (Q & HQ & Hall). destruct (quorum_meets σ b Q Q Hσ HQ HQ) as (a & Ha & _).
  by rewrite (av_votes _ _ _ Hok a b v (Hall a Ha)).
Qed.

Lemma decided_later w e d v c :
  winv w → decided_in σ0 w e v → origin (notes w) (S d + e) c → c = Value v ∨ c = Tombstone.
Proof.
  intros HI Hd. revert c. induction d as [|d IH]; intros c Hc; [by eapply decided_next|].
  destruct Hc as (r & σ & Hr & Hm).
  destruct (w_merged w HI _ _ _ _ Hm) as (_ & e' & σ' & [= <-] & He').
  destruct (origin_exists w _ _ HI He') as (c0 & Hc0).
  pose proof (w_on w HI _ _ _ _ _ _ He' Hc0 Hm) as Hon.
  destruct (IH c0 Hc0) as [->| ->]; [done|by right].
Qed.

(** Within an epoch that began with a value, or with a tombstone. *)
Lemma decided_origin w e v c :
  winv w → decided_in σ0 w e v → origin (notes w) e c → c = Nothing ∨ c = Value v.
Proof.
  intros HI (σ & He & b & Q & HQ & Hall) Hc. pose proof (w_ok w HI _ _ _ He Hc) as Hok.
  destruct (quorum_meets σ b Q Q (configured_sound w e σ HI He) HQ HQ) as (a & Ha & _).
  destruct c as [|u|]; simpl in *; [by left|right|].
  - by rewrite (av_votes _ _ _ Hok a b v (Hall a Ha)).
  - by destruct (d_votes _ _ Hok a b v (Hall a Ha)).
Qed.

Lemma epochs_agree w e e' v v' :
  winv w → decided_in σ0 w e v → decided_in σ0 w e' v' → v = v'.
Proof.
  intros HI. assert (∀ e d v v', decided_in σ0 w e v → decided_in σ0 w (S d + e) v' → v = v') as Hlt.
  { clear e e' v v'. intros e d v v' Hv Hv'. pose proof Hv' as (σ' & He' & _).
    destruct (origin_exists w _ _ HI He') as (c & Hc).
    destruct (decided_later w e d v c HI Hv Hc) as [->| ->];
      destruct (decided_origin w _ v' _ HI Hv' Hc) as [|]; by simplify_eq. }
  intros Hv Hv'. destruct (lt_eq_lt_dec e e') as [[Hlt'| <-]|Hlt'].
  - eapply (Hlt e (e' - e - 1)); [done|]. by replace (S (e' - e - 1) + e) with e' by lia.
  - pose proof Hv as (σ & He & Hd). pose proof Hv' as (σ' & He' & Hd').
    rewrite (configured_unique w e σ' σ HI He' He) in Hd'.
    destruct (origin_exists w _ _ HI He) as (c & Hc).
    pose proof (w_ok w HI _ _ _ He Hc) as Hok. pose proof (configured_sound w e σ HI He) as Hσ.
    destruct (decided_origin w e v c HI Hv Hc) as [->| ->]; simpl in Hok.
    + by eapply agreement.
    + destruct (decided_origin w e v' _ HI Hv' Hc) as [|]; by simplify_eq.
  - symmetry. eapply (Hlt e' (e - e' - 1)); [done|]. by replace (S (e - e' - 1) + e') with e by lia.
Qed.

Lemma world_decided_mono w w' e v :
  winv w → rtc (world_step σ0) w w' → decided_in σ0 w e v → decided_in σ0 w' e v.
Proof.
  intros HI Hr. revert HI. induction Hr as [|w1 w2 w3 Hs _ IH]; [done|]. intros HI Hd.
  apply IH; [by eapply winv_step|]. destruct Hd as (σ & He & b & Q & HQ & Hall).
  assert (∀ x, x ∈ sent (registers w1 e) → x ∈ sent (registers w2 e)) as Hsub.
  { intros x Hx. destruct Hs as [e' σ' m _ _ _| | | |e' r σ' c a _ _ _]; simpl; try done;
      (destruct (decide (e' = e)) as [->|]; [rewrite fn_lookup_insert|by rewrite fn_lookup_insert_ne]).
    - by apply sent_mono.
    - destruct c; simpl; [done|by apply elem_of_list_further..]. }
  exists σ. split; [|exists b, Q; split; [done|]; auto].
  destruct Hs; simpl; try done; by apply configured_more.
Qed.

End world.

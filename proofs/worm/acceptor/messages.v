(** * What the acceptor answers are messages of the protocol

    [s] is a state that the protocol reaches, in which server [k] has the register
    as memory has it.  After one step of [k], which the protocol allows, or none, [k] has it
    as memory does after the request, and the answer is a message that was sent. *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.acceptor Require Export changes write capture.
From ashlar.worm.protocol Require register_inv.
Local Open Scope Z_scope.

(** The vote that an answer shows. *)
Definition said_vote (a : answer) : option (nat * list Z) :=
  if said_written a then Some (protocol_ballot (said_accepted a), default [] (said_value a)) else None.

Section messages.
  Context `{Countable server} (σ : register.setting server).
  Implicit Types (s : register.state server (list Z)) (k : server) (r : register) (x : ballot).

  (** [s'] is [s], or what [s] becomes by the step [m], which the protocol allows. *)
  Definition step_or_none (m : register.move server (list Z)) s s' : Prop :=
    s' = s ∨ register.allowed σ s m ∧ s' = register.effect s m.

  (** Server [k] says [a] of a write of [v] at [x]. *)
  Definition says_of_write s k x (v : list Z) (a : answer) : Prop :=
    let b := protocol_ballot x in
    status a = wor.StatusOK ∧ register.Accepted k b v ∈ register.sent s ∨
    status a = wor.StatusConflict ∧ (∃ w, w ≠ v ∧ said_value a = Some w ∧ register.Accepted k b w ∈ register.sent s) ∨
    status a = wor.StatusOutbid ∧ (b < register.promised (register.servers s k))%nat ∧
      protocol_ballot (said_promised a) = register.promised (register.servers s k).
  (** Server [k] says [a] of a capture at [x]. *)
  Definition says_of_capture s k x (a : answer) : Prop :=
    let b := protocol_ballot x in
    status a = wor.StatusOK ∧ said_promised a = x ∧ register.Promised k b (said_vote a) ∈ register.sent s ∨
    status a = wor.StatusOutbid ∧ (b < register.promised (register.servers s k))%nat ∧
      protocol_ballot (said_promised a) = register.promised (register.servers s k).
  (** Server [k] says [a] to read [q]. *)
  Definition says_of_read s k (q : nat) (a : answer) : Prop :=
    status a = wor.StatusOK ∧ register.Shown k q (said_vote a) ∈ register.sent s.

  Lemma write_is_permitted s k r x v : register.sound σ → register.reachable σ s →
    register_ok r → ballot_ok x → register.Proposed (protocol_ballot x) v ∈ register.sent s →
    register.servers s k = protocol_acceptor r →
    ∃ s', step_or_none (register.Accept k (protocol_ballot x) v) s s' ∧ register.servers s' k = protocol_acceptor (written r x v) ∧
      says_of_write s' k x v (heard (judged r x v).1).
  Proof.
    intros Hσ Hs Hr Hx Hv Hk. pose proof (register_inv.inv_reachable σ s Hσ Hs) as HI.
    assert (∀ w, accepted r = Some (x, w) → register.Accepted k (protocol_ballot x) w ∈ register.sent s) as Hold.
    { intros w Hw. apply (register_inv.memory_accepted σ s HI). rewrite Hk. by apply protocol_accepted. }
    destruct r as [p c]. pose proof (same_spec c x) as Hsame. rewrite /written. destruct (same c x).
    - destruct Hsame as [w ->]. rewrite judged_same. specialize (Hold w eq_refl).
      destruct (decide (w = v)) as [->|Hne]; simpl.
      + exists s. split; [by left|]. split; [done|]. by left.
      + exists s. split; [by left|]. split; [done|]. right. left. eauto.
    - rewrite judged_other //. destruct (decide (number x < number p)) as [Hlt|Hge]; simpl.
      + exists s. split; [by left|]. split; [done|]. right. right. rewrite Hk /=. split; [done|]. split; [|done].
        by apply protocol_ballot_lt; [done|apply Hr|].
      + assert (register.allowed σ s (register.Accept k (protocol_ballot x) v)) as Hallowed.
        { split; [done|]. rewrite Hk. split; [done|]. split.
          - simpl. destruct (decide (protocol_ballot p ≤ protocol_ballot x)%nat) as [|Hle]; [done|]. exfalso.
            apply Hge. apply protocol_ballot_lt; [done|apply Hr|lia].
          - intros w. rewrite protocol_accepted //. }
        exists (register.effect s (register.Accept k (protocol_ballot x) v)). split; [|split].
        * by right.
        * by eapply accepting_is_accept.
        * left. split; [done|]. simpl. apply elem_of_list_here.
  Qed.

  Lemma said_vote_shown r : said_vote (heard (shown r)) = register.accepted (protocol_acceptor r).
  Proof. destruct r as [p [[y w]|]]; done. Qed.

  Lemma capture_is_permitted s k r x : register.reachable σ s →
    register_ok r → ballot_ok x → x ≠ zero_ballot →
    register.servers s k = protocol_acceptor r →
    ∃ s', step_or_none (register.Capture k (protocol_ballot x)) s s' ∧ register.servers s' k = protocol_acceptor (promising r x) ∧
      says_of_capture s' k x (heard (captured r x)).
  Proof.
    intros Hs Hr Hx Hne Hk. destruct (promising_is_capture s k r x Hr Hx Hk) as [Hstep Hstay].
    destruct (decide (protocol_ballot (promised r) ≤ protocol_ballot x)%nat) as [Hle|Hgt].
    - destruct (Hstep Hle Hne) as [Hallowed Heffect]. specialize (Hallowed σ).
      exists (register.effect s (register.Capture k (protocol_ballot x))). split; [|split].
      + by right.
      + done.
      + left. rewrite /captured. case_decide as Hless; [|case_decide as Heq].
        * split; [done|]. split; [done|]. simpl. rewrite Hk. destruct r as [p [[y w]|]]; apply elem_of_list_here.
        * split; [done|]. split; [done|]. rewrite said_vote_shown. simpl. rewrite Hk. apply elem_of_list_here.
        * exfalso. apply Heq. apply protocol_ballot_inj; [apply Hr|done|].
          destruct Hr as [Hr _]. rewrite -(protocol_ballot_lt _ _ Hr Hx) in Hless. lia.
    - exists s. split; [by left|]. rewrite Hstay; [|lia]. split; [done|]. right. rewrite Hk /captured.
      assert (protocol_ballot x < protocol_ballot (promised r))%nat as Hlt by lia.
      pose proof (proj1 (protocol_ballot_lt _ _ Hx (proj1 Hr)) Hlt) as Hlt'.
      rewrite decide_False; [|lia]. rewrite decide_False; [done|]. intros Heq. rewrite Heq in Hlt'. lia.
  Qed.

  Lemma read_is_permitted s k r q : register.reachable σ s → register.Question q ∈ register.sent s →
    register.servers s k = protocol_acceptor r →
    ∃ s', step_or_none (register.Show k q) s s' ∧ register.servers s' k = protocol_acceptor r ∧
      says_of_read s' k q (heard (shown r)).
  Proof.
    intros Hs Hq Hk. exists (register.effect s (register.Show k q)). split; [|split].
    - right. split; [|done]. split; [done|]. by rewrite Hk.
    - by rewrite /= fn_lookup_insert.
    - split; [done|]. rewrite said_vote_shown. simpl. rewrite Hk. apply elem_of_list_here.
  Qed.
End messages.

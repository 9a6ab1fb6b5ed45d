(** * The shipped acceptor's registers and those of the protocol

    A register in memory is an acceptor of worm/protocol/register.v whose ballots are
    the numbers of the Go program's. *)
From stdpp Require Import prelude gmap.
From ashlar.worm.acceptor Require Export judge.
From ashlar.worm.protocol Require register.
Local Open Scope Z_scope.

Definition protocol_ballot (x : ballot) : nat := Z.to_nat (number x).
Definition protocol_acceptor (r : register) : register.acceptor (list Z) :=
  register.Acceptor (protocol_ballot (promised r))
    ((λ c, (protocol_ballot c.1, c.2)) <$> accepted r) false false.
(** All ballots are ballots of the Go program: two numbers of 64 bits. *)
Definition register_ok (r : register) : Prop :=
  ballot_ok (promised r) ∧ ∀ y w, accepted r = Some (y, w) → ballot_ok y.

Lemma register_of_ok pgs i : Forall page_ok pgs → register_ok (register_of pgs i).
Proof.
  intros Hok. rewrite /register_of. destruct (page_at pgs (i / page_size)) as [pg|] eqn:Hpg; [|done].
  assert (page_ok pg) as Hp.
  { induction Hok as [|x pgs Hx _ IH]; simpl in Hpg; [done|]. case_decide; [by simplify_eq|auto]. }
  split; simpl; [by apply promise_of_ok|]. intros y w. by apply held_ok.
Qed.

Lemma protocol_ballot_inj x y : ballot_ok x → ballot_ok y → protocol_ballot x = protocol_ballot y → x = y.
Proof.
  intros Hx Hy Heq. apply number_inj; [done..|].
  pose proof (number_nonneg x Hx). pose proof (number_nonneg y Hy). rewrite /protocol_ballot in Heq. lia.
Qed.
Lemma protocol_ballot_lt x y : ballot_ok x → ballot_ok y → (protocol_ballot x < protocol_ballot y)%nat ↔ number x < number y.
Proof.
  intros Hx Hy. pose proof (number_nonneg x Hx). pose proof (number_nonneg y Hy). rewrite /protocol_ballot. lia.
Qed.
Lemma protocol_accepted r x w : register_ok r → ballot_ok x →
  register.accepted (protocol_acceptor r) = Some (protocol_ballot x, w) ↔ accepted r = Some (x, w).
Proof.
  intros [_ Hr] Hx. simpl. destruct (accepted r) as [[y w']|] eqn:Hacc; simpl; [|naive_solver].
  split; [|naive_solver]. intros [= Hy%protocol_ballot_inj ->]; [by subst|eauto..].
Qed.

(** * Rewrites of Dedalus programs *)
From stdpp Require Import prelude strings gmap.
From ashlar.dedalus Require Import lang system keyed piece still divide partition check routing certify decouple separate passing handover moved examples.

(** Take a system of instances with rules, some of which are divided into pieces: each message
    to such an instance goes to the piece that its key names, by whatever numbers keys have, and
    all pieces have the instance's rules.  If the checker of the plan says yes, then all
    that clients can see of the pieces (what they give, what they hear, in this order) they might
    have seen of the undivided system: whatever functions give, wherever recursion within a tick is
    cut off, however late, often and disordered messages come, whichever inputs may come again, and
    whenever the instances crash that are not divided. *)
Theorem dividing_shows_nothing_new (number : value → nat) (place : value → nat → value) (p : plan) (Σ : system) :
  may_divide_b place p Σ = true →
  ∀ fns rounds again l, behaves fns rounds again (divide number place p Σ) l → behaves fns rounds again Σ l.
Proof. intros H%may_divide_sound. by apply divide_refines. Qed.
Print Assumptions dividing_shows_nothing_new.

(** The same where rules route and the network does not: a rule that sent a fact with a key
    hashes the key, takes it modulo the number of pieces, and sends to where a static relation leads.
    [by_rules] says which system that is; of functions it is known that they find the piece. *)
Theorem dividing_by_rules_shows_nothing_new (number : value → nat) (place : value → nat → value) (p : plan)
    (fwd : string) (ways : gset fact) (Σ Σ' : system) :
  may_divide_b place p Σ = true → by_rules number place p fwd ways Σ Σ' →
  ∀ fns, finds number p fns → ∀ rounds again l, behaves fns rounds again Σ' l → behaves fns rounds again Σ l.
Proof.
  intros H%may_divide_sound Hrules fns Hfns rounds again l Hl.
  eapply divide_refines, rules_refine; [done..|exact Hl].
Qed.
Print Assumptions dividing_by_rules_shows_nothing_new.

(** The same of two programs as they are written, for the checker of a certificate that is
    extracted and called by [ashlar dedalus certify --proved]: if it says yes, then all that
    clients see of the second program they might have seen of the first, where pieces do not
    crash, [hash] and [%] are those of the language, and whatever other functions give. *)
Theorem divided_program_shows_nothing_new (d : division) (P Q : program) :
  divided_b d P Q = true →
  ∀ fns, language fns → ∀ rounds again l, behaves fns rounds again (meaning Q) l → behaves fns rounds again (meaning P) l.
Proof. intros H fns Hfns rounds again l. by eapply divided_sound. Qed.
Print Assumptions divided_program_shows_nothing_new.

(** It does say yes: of a store in two pieces, for one. *)
Theorem a_program_may_be_divided : divided_b by_key whole halves = true.
Proof. exact may_be_halved. Qed.
Print Assumptions a_program_may_be_divided.

(** Take a system of instances, some of which have rules of two sides that share no relation but
    static ones: each becomes two instances, and what rules of the one side read the
    network sends to the new one.  If the checker says yes, then all that clients can see of that
    they might have seen before: whatever functions give, however messages come, and whenever the
    instances crash that are not taken apart. *)
Theorem decoupling_shows_nothing_new (place : value → value) (d : decoupling) (Σ : system) :
  may_decouple_b place d Σ = true →
  ∀ fns rounds again l, behaves fns rounds again (decouple place d Σ) l → behaves fns rounds again Σ l.
Proof. intros H%may_decouple_sound. by apply decouple_refines. Qed.
Print Assumptions decoupling_shows_nothing_new.

(** It does say yes: of a server that counts votes and keeps keys, and of that only for
    the relations that share nothing. *)
Theorem a_program_may_be_decoupled : may_decouple_program votes_apart server = true.
Proof. exact may_be_taken_apart. Qed.
Print Assumptions a_program_may_be_decoupled.

(** Of two programs as they are written: rules of an instance that send, each of which makes what
    it sends of one fact and static ones, have become an instance of their own, and the old
    instance passes on what they read.  If the checker, which is extracted too, says yes, then
    all that clients see of the second program they might have seen of the first: whatever
    functions give, however messages come, and whenever the instances of both crash. *)
Theorem handing_over_shows_nothing_new (g : handing) (P Q : program) :
  handed_b g P Q = true →
  ∀ fns rounds again l, behaves fns rounds again (meaning Q) l → behaves fns rounds again (meaning P) l.
Proof. intros H fns rounds again l. by eapply handed_sound. Qed.
Print Assumptions handing_over_shows_nothing_new.

(** It does say yes: of a server whose reports are made by another one. *)
Theorem a_program_may_hand_over :
  handed_b (reports_told [Pass "kept" "kept_told" ["x"] "to"]) one_server two_servers = true.
Proof. exact may_be_handed_over. Qed.
Print Assumptions a_program_may_hand_over.

(** The decoupling above, of two programs as they are written: rules that sent what the new instance
    reads send to where a static relation leads, and the network does nothing.  If the checker, which is
    extracted too, says yes, then all that clients see of the second program they might have seen of
    the first, where neither side crashes: whatever functions give, and however messages come. *)
Theorem decoupling_by_rules_shows_nothing_new (s : separation) (fwd : string) (P Q : program) :
  separated_b s fwd P Q = true →
  ∀ fns rounds again l, behaves fns rounds again (meaning Q) l → behaves fns rounds again (meaning P) l.
Proof. intros H fns rounds again l. by eapply separated_sound. Qed.
Print Assumptions decoupling_by_rules_shows_nothing_new.

(** It does say yes: of a server that counts votes and keeps keys, of which another one counts. *)
Theorem a_program_may_be_decoupled_by_rules :
  separated_b votes_apart "way" polls (two_polls [way_to_votes; ("way", [at_front; at_front])]) = true.
Proof. exact may_be_taken_apart_by_rules. Qed.
Print Assumptions a_program_may_be_decoupled_by_rules.

(** Of two programs as they are written: an instance has kept nothing but rules that pass on what
    clients and timers tell it, and the messages of rules if they like; all its rules are those of a new
    instance.  If the checker, which is extracted too, says yes, then all that clients see of the second
    program they might have seen of the first, if the inputs that are passed on may come to that more
    often than they were given: whatever functions give, and whenever the instances of both crash. *)
Theorem relaying_shows_nothing_new (y : relaying) (P Q : program) :
  relayed_b y P Q = true →
  ∀ fns rounds again l, behaves fns rounds again (meaning Q) l → behaves fns rounds (again ∪ relays y) (meaning P) l.
Proof. intros H fns rounds again l. by eapply relayed_sound. Qed.
Print Assumptions relaying_shows_nothing_new.

(** It does say yes: of that server, to which clients send votes and a front sends keys. *)
Theorem a_program_may_be_relayed :
  relayed_b (votes_relayed ["put"; "votes"; "kept"]) bare
    (behind_relay [way_to_work] [at_front; Node "server/0"; Node "work/0"]) = true.
Proof. exact may_be_relayed. Qed.
Print Assumptions a_program_may_be_relayed.

(** If two steps show nothing new, whatever functions give and for the same inputs that may come
    again, neither do both in a row. *)
Theorem rewrites_compose (Σ1 Σ2 Σ3 : system) : refines Σ1 Σ2 → refines Σ2 Σ3 → refines Σ1 Σ3.
Proof. apply refines_trans. Qed.
Print Assumptions rewrites_compose.

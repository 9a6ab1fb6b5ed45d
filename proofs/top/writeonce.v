(** * The register that is proved is the one that is specified *)
From stdpp Require Import prelude gmap functions.
From ashlar.worm.protocol Require Import durable.
From ashlar.worm.layers Require Import writeonce.

(** What the users of a register see, on servers as in register.v, is a run of
    specs/lib/WriteOnce.tla, if each read is called once and returns once; but for
    writes that are called after a trim, which the module does not have: they do
    nothing. *)
Theorem register_is_writeonce `{Countable server} {value : Type} `{Countable value} (σ : setting server) :
  sound σ → ∀ d : dsystem server value, rtc (dstep σ) dstart d → once_each (past d) →
  ∃ s, writeonce_run (past d) s.
Proof.
  intros Hσ d Hd HE. destruct (once_is_writeonce (past d)) as (s & Hs & _); [by eapply durable_write_once|done|].
  by exists s.
Qed.
Print Assumptions register_is_writeonce.

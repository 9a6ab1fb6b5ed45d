(** * Mailboat is atomic, durable and crash-safe *)
From ashlar.logic Require Import harness.
From ashlar.mailboat Require Import library.

Definition mailboatΣ (n : nat) : gFunctors := #[golangΣ; mailΣ; specΣ (mail_spec n)].

(** Take mail/mailboat as it is translated, on a node with a file system that has
    the directory "spool", with anything in it, and the empty directories "user0"
    to "user(n-1)", at most 2^40 of them; a file system of which a crash may lose
    the bytes of a file since its last fsync and, for each name by itself, what was
    done to it since the last fsync of its directory.  Let the node open the store,
    and let any number of threads, for ever, deliver any message of at most 2^40
    bytes to any user, or pick up a user's mail, delete any of it, and unlock the
    mailbox; let the node crash at any moment and any number of times, also while it
    opens the store again.  Then what the callers see is explained by the mailboxes
    of [mail_spec]:

    - A message becomes visible, as a whole, at one moment within its Deliver, under
      an ID that no visible message has, and is durable when Deliver returns.
    - A message goes away at one moment within its Delete, and is gone for good when
      Delete returns.
    - Pickup returns exactly the messages that the mailbox showed at one moment, and
      no two sessions have the same mailbox.
    - A crash may take back a message whose Deliver has not returned, and may bring
      back a message whose Delete has not returned; it does nothing else.

    And no thread panics, has a data race, or uses a lock or the file system
    wrongly. *)
Theorem mailboat_correct (n : nat) (dv : devices) :
  (Z.of_nat n ≤ 2^40)%Z → mail_fs n (dv_fs dv) → fs_fds (dv_fs dv) = ∅ →
  ∀ tp σ,
    rtc (plain_step [boot_program (open_mail n) (mail_client n)])
      (init_pool [boot_program (open_mail n) (mail_client n)], init_state [dv]) (tp, σ) →
    explained (mail_spec n) (trace σ) ∧ ∀ p, p ∈ tp → plain_safe p σ.
Proof.
  intros Hn [[spool Hspool] Husers] Hfds.
  apply (library_correct (mailboatΣ n) (mail_spec n) mailN); [done|done|].
  intros G. exact (mail_library n Hn dv spool Hspool Husers).
Qed.
Print Assumptions mailboat_correct.

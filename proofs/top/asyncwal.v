(** * The pair on an asynchronous disk is atomic, durable and crash-safe *)
From ashlar.logic Require Import harness.
From ashlar.ghost Require Import async_commit.
From ashlar.asyncwal Require Import spec model library.

Definition asyncwalΣ (d : gmap Z (list Z)) : gFunctors :=
  #[golangΣ; specΣ (pair_spec d); async_commitΣ (pair_spec d)].

(** Take examples/asyncwal as it is translated, on a node with an asynchronous
    disk of at least five blocks of 4 KiB, whatever is in them: a disk that makes
    writes durable at a barrier, and of whose later writes a crash may lose any,
    each address by itself.  Let the node open the pair, and let any number of
    threads call Read, and Commit with any blocks, for ever; let it crash at any
    moment and any number of times, also while it opens the pair again.  Then what
    the callers see is explained by one pair of blocks that Commit replaces and
    Read gives, each at one moment between call and return; a Commit that has
    returned survives every crash, and one that a crash interrupts has happened as
    a whole or not at all.  And no thread panics, has a data race, or uses the lock
    or the disk wrongly. *)
Theorem asyncwal_correct (d : disk) (dv : devices) :
  map_Forall (λ _, block_ok) d → (∀ a, (0 ≤ a < 5)%Z → is_Some (d !! a)) →
  dv_async dv = ca_new <$> d → fs_fds (dv_fs dv) = ∅ →
  ∀ tp σ,
    rtc (plain_step [boot_program open body])
      (init_pool [boot_program open body], init_state [dv]) (tp, σ) →
    explained (pair_spec d) (trace σ) ∧ ∀ p, p ∈ tp → plain_safe p σ.
Proof.
  intros Hok Hthere Hdv Hfds.
  apply (library_correct (asyncwalΣ d) (pair_spec d) proof.asyncwalN); [done|done|].
  intros G. apply asyncwal_library; [apply _|done|by split].
Qed.
Print Assumptions asyncwal_correct.

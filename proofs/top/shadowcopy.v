(** * The atomic pair is atomic, durable and crash-safe *)
From ashlar.logic Require Import harness.
From ashlar.shadowcopy Require Import spec inv library.

Definition shadowcopyΣ (d : gmap Z (list Z)) : gFunctors := #[golangΣ; pairΣ; specΣ (pair_spec d)].

(** Take examples/shadowcopy as it is translated, on a node with a synchronous
    disk of at least five blocks of 4 KiB, whatever is in them.  Let the node
    open the pair, and let any number of threads call Read, and Write with any
    blocks, for ever; let it crash at any moment and any number of times, also
    while it opens the pair again.  Then what the callers see is explained by one
    pair of blocks that Write replaces and Read gives, each at one moment between
    call and return; a Write that has returned survives every crash, and one that
    a crash interrupts has happened as a whole or not at all.  And no thread
    panics, has a data race, or uses the lock or the disk wrongly. *)
Theorem shadowcopy_correct (dv : devices) :
  disk_ok (dv_disk dv) → (5 ≤ size (dv_disk dv))%Z → fs_fds (dv_fs dv) = ∅ →
  ∀ tp σ,
    rtc (plain_step [boot_program open body])
      (init_pool [boot_program open body], init_state [dv]) (tp, σ) →
    explained (pair_spec (dv_disk dv)) (trace σ) ∧ ∀ p, p ∈ tp → plain_safe p σ.
Proof.
  intros Hok Hsize Hfds.
  apply (library_correct (shadowcopyΣ (dv_disk dv)) (pair_spec (dv_disk dv)) proof.pairN); [done|done|].
  intros G. by apply pair_library.
Qed.
Print Assumptions shadowcopy_correct.

(** * The replicated disk is one disk, which does not fail *)
From ashlar.logic Require Import harness.
From ashlar.replicateddisk Require Import spec disk proof library.

Definition replicateddiskΣ (d : gmap Z (list Z)) : gFunctors :=
  #[golangΣ; replicatedΣ; specΣ (replicated_spec d)].

(** Take examples/replicateddisk as it is translated, on a node with two
    synchronous disks of blocks of 4 KiB that hold the same, of any size.  Either
    disk may fail, at any access and for good, if the other has not; one may have
    failed before the beginning.  Let the node open the disk that the two are, and
    let any number of threads call Read and Write for ever, at any addresses of
    it and with any blocks; let it crash at any moment and any number of times,
    also while it recovers.  Then what the callers see is explained by one disk
    that never fails: each Read and Write takes effect at one moment between call
    and return; a Write that has returned survives every crash, and one that a
    crash interrupts has happened or has not, whatever fails later.  And no thread
    panics, has a data race, or uses a lock or a disk wrongly. *)
Theorem replicateddisk_correct (d : gmap Z (list Z)) (failed : option bool) (dv : devices) :
  dv_two dv = TwoDisk d d failed → disk_ok d → fs_fds (dv_fs dv) = ∅ →
  ∀ tp σ,
    rtc (plain_step [boot_program open (body (size d))])
      (init_pool [boot_program open (body (size d))], init_state [dv]) (tp, σ) →
    explained (replicated_spec d) (trace σ) ∧ ∀ p, p ∈ tp → plain_safe p σ.
Proof.
  intros Hdv Hok Hfds.
  apply (library_correct (replicateddiskΣ d) (replicated_spec d) replicatedN); [done|done|].
  intros G. by eapply replicated_library.
Qed.
Print Assumptions replicateddisk_correct.

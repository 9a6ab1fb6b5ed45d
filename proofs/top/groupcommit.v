(** * Group commit is atomic, and loses in a crash only what was not flushed *)
From ashlar.logic Require Import harness.
From ashlar.wal Require Import library.
From ashlar.groupcommit Require Import library.

Definition top_gcΣ (N : Z) (σ : disk) : gFunctors :=
  #[golangΣ; walΣ; gcΣ; specΣ (gc_spec N σ)].

(** Take examples/groupcommit, and examples/wal below it, as they are translated,
    on a node with a synchronous disk of [N] blocks, at least 512, the first of
    them zero.  Let the node open the log, and let any number of threads call Read
    of any address of data, Commit of any list of at most 511 updates of such
    addresses, and Flush, for ever; let it crash at any moment and any number of
    times, also while it opens the log again.  Then what the callers see is
    explained by a map from addresses to durable blocks, at first what is on the
    disk, and a list of updates that wait, each call at one moment between call
    and return: Read looks up an address in the map with the waiting updates on
    it; Commit adds its updates to the list, all of them, or says that there is no
    room, and then there is none; Flush puts the whole list into the map; and a
    crash empties the list and leaves the map as it is.  So what was committed
    before a Flush that has returned survives every crash, and what a crash loses
    is all that came after the last Flush.  And no thread panics, has a data race,
    or uses a lock or the disk wrongly. *)
Theorem groupcommit_correct (dv : devices) (N : Z) :
  disk_ok (dv_disk dv) → N = size (dv_disk dv) → (512 ≤ N)%Z →
  dv_disk dv !! 0%Z = Some zero_block → fs_fds (dv_fs dv) = ∅ →
  ∀ tp σ,
    rtc (plain_step [boot_program groupcommit.Open (any_calls (any_gc_call N) do_gc_call)])
      (init_pool [boot_program groupcommit.Open (any_calls (any_gc_call N) do_gc_call)], init_state [dv])
      (tp, σ) →
    explained (gc_spec N (data (dv_disk dv))) (trace σ) ∧ ∀ p, p ∈ tp → plain_safe p σ.
Proof.
  intros Hok -> Hsize H0 Hfds.
  set (N := Z.of_nat (size (dv_disk dv))). set (σ0 := data (dv_disk dv)).
  apply (library_correct (top_gcΣ N σ0) (gc_spec N σ0) walN); [done|done|].
  intros G. apply gc_library; [apply _|apply _|by apply rel_init].
Qed.
Print Assumptions groupcommit_correct.

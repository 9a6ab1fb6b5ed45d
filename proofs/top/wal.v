(** * The write-ahead log is atomic, durable and crash-safe *)
From ashlar.logic Require Import harness.
From ashlar.wal Require Import library.

Definition top_walΣ (N : Z) (σ : disk) : gFunctors := #[golangΣ; walΣ; specΣ (wal_spec N σ)].

(** Take examples/wal as it is translated, on a node with a synchronous disk of
    [N] blocks, at least 512, the first of them zero.  Let the node open the log,
    and let any number of threads call Read of any address of data, and Commit of
    any list of at most 511 updates of such addresses, the same address any number
    of times, for ever; let it crash at any moment and any number of times, also
    while it opens the log again.  Then what the callers see is explained by one
    map from addresses to blocks, at first what is on the disk, which Read looks
    up and Commit changes by all of its updates in order, each call at one moment
    between call and return; a Commit that has returned survives every crash, and
    one that a crash interrupts has happened as a whole or not at all.  And no
    thread panics, has a data race, or uses the lock or the disk wrongly. *)
Theorem wal_correct (dv : devices) (N : Z) :
  disk_ok (dv_disk dv) → N = size (dv_disk dv) → (512 ≤ N)%Z →
  dv_disk dv !! 0%Z = Some zero_block → fs_fds (dv_fs dv) = ∅ →
  ∀ tp σ,
    rtc (plain_step [boot_program Open (any_calls (any_call N) do_call)])
      (init_pool [boot_program Open (any_calls (any_call N) do_call)], init_state [dv]) (tp, σ) →
    explained (wal_spec N (data (dv_disk dv))) (trace σ) ∧ ∀ p, p ∈ tp → plain_safe p σ.
Proof.
  intros Hok -> Hsize H0 Hfds.
  set (N := Z.of_nat (size (dv_disk dv))). set (σ0 := data (dv_disk dv)).
  apply (library_correct (top_walΣ N σ0) (wal_spec N σ0) walN); [done|done|].
  intros G. apply wal_library; [apply _|by apply rel_init].
Qed.
Print Assumptions wal_correct.

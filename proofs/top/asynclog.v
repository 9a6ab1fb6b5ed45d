(** * The write-ahead log on an asynchronous disk is atomic, durable and crash-safe *)
From ashlar.logic Require Import harness.
From ashlar.ghost Require Import async_commit.
From ashlar.gen.examples Require asynclog.
From ashlar.wal Require Import model library.
From ashlar.asynclog Require Import library.

Definition asynclogΣ (N : Z) (σ0 : disk) : gFunctors :=
  #[golangΣ; specΣ (wal_spec N σ0); async_commitΣ (wal_spec N σ0)].

(** Take examples/asynclog as it is translated, on a node with an asynchronous
    disk of at least 512 blocks of 4 KiB, of which the first is zero: a disk that
    makes writes durable at a barrier, and of whose later writes a crash may lose
    any, each address by itself.  Let the node open the log, and let any number of
    threads call Read with any address of data, and Commit with any list of at
    most 511 updates, for ever; let it crash at any moment and any number of times,
    also while it opens the log again.  Then what the callers see is explained by
    one map of blocks: Commit makes all its updates and Read gives a block, each at
    one moment between call and return; a Commit that has returned survives every
    crash, and one that a crash interrupts has happened as a whole or not at all.
    And no thread panics, has a data race, or uses the lock or the disk wrongly. *)
Theorem asynclog_correct (d : disk) (dv : devices) :
  disk_ok d → (data_start ≤ size d)%Z → d !! 0%Z = Some zero_block →
  dv_async dv = ca_new <$> d → fs_fds (dv_fs dv) = ∅ →
  ∀ tp σ,
    rtc (plain_step [boot_program asynclog.Open (body (size d))])
      (init_pool [boot_program asynclog.Open (body (size d))], init_state [dv]) (tp, σ) →
    explained (wal_spec (size d) (data d)) (trace σ) ∧ ∀ p, p ∈ tp → plain_safe p σ.
Proof.
  intros Hok Hsize Hzero Hdv Hfds.
  apply (library_correct (asynclogΣ (size d) (data d)) (wal_spec (size d) (data d)) proof.asynclogN); [done|done|].
  intros G. eapply asynclog_library; [apply _|done|]. by apply rel_init.
Qed.
Print Assumptions asynclog_correct.

(** * Specification of the write-ahead log: a map of blocks that changes by transactions

    A state gives the block at each address of data.  A read gives what is there;
    a commit makes all its updates at once, in order; a crash changes nothing.

    Calls and their results are values: [InjL a] is [Read(a)] and gives the block
    as a string; [InjR us] is [Commit] of the list [us] of pairs of an address and
    a block. *)
From ashlar.wal Require Export model.
From ashlar.lang Require Export notation.
Open Scope Z_scope.

Definition read_call (a : Z) : val := InjLV #(u64 a).
Definition update_val (u : update) : val := (#(u64 u.1), #(LitStr u.2))%V.
Definition commit_call (us : list update) : val := InjRV (list_val (update_val <$> us)).

(** What may be asked of a log on a disk of [N] blocks. *)
Definition addr_ok (N a : Z) : Prop := data_start ≤ a < N.
Definition update_ok (N : Z) (u : update) : Prop := addr_ok N u.1 ∧ block_ok u.2.
Definition commit_ok (N : Z) (us : list update) : Prop :=
  Z.of_nat (length us) ≤ max_updates ∧ Forall (update_ok N) us.

Inductive wal_step (N : Z) : val → disk → val → disk → Prop :=
  | WalRead a s σ : addr_ok N a → σ !! a = Some s →
     wal_step N (read_call a) σ #(LitStr s) σ
  | WalCommit us σ : commit_ok N us →
     wal_step N (commit_call us) σ #() (apply_updates us σ).

Definition wal_crash (σ σ' : disk) : Prop := σ' = σ.

Lemma update_val_inj u v : update_val u = update_val v → u = v.
Proof. destruct u, v. by intros [= -> ->]. Qed.

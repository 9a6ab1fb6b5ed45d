(** * Specification of group commit

    The state is what is durable and the updates that wait for a flush.  A commit
    adds its updates, all of them, or none when there is no room; a read sees the
    durable blocks with the waiting updates on them; a flush makes the waiting
    updates durable, all at once; a crash forgets them.

    Calls are values: [InjL a] is [Read(a)]; [InjR (InjL us)] is [Commit] of the
    list [us] of pairs of an address and a block, and gives whether it was done;
    [InjR (InjR ())] is [Flush()]. *)
From ashlar.wal Require Export spec.
Open Scope Z_scope.

Record gc_state := GcState { gc_durable : disk; gc_waiting : list update }.
(** What the users see. *)
Definition gc_current (s : gc_state) : disk := apply_updates (gc_waiting s) (gc_durable s).

Definition gc_read_call (a : Z) : val := InjLV #(u64 a).
Definition gc_commit_call (us : list update) : val := InjRV (InjLV (list_val (update_val <$> us))).
Definition gc_flush_call : val := InjRV (InjRV #()).

Definition gc_fits (s : gc_state) (us : list update) : Prop :=
  Z.of_nat (length (gc_waiting s)) + Z.of_nat (length us) ≤ max_updates.

Inductive gc_step (N : Z) : val → gc_state → val → gc_state → Prop :=
  | GcRead a b s : addr_ok N a → gc_current s !! a = Some b →
     gc_step N (gc_read_call a) s #(LitStr b) s
  | GcCommit us s : commit_ok N us → gc_fits s us →
     gc_step N (gc_commit_call us) s #true (GcState (gc_durable s) (gc_waiting s ++ us))
  | GcNoRoom us s : commit_ok N us → ¬ gc_fits s us →
     gc_step N (gc_commit_call us) s #false s
  | GcFlush s :
     gc_step N gc_flush_call s #() (GcState (gc_current s) []).

Inductive gc_crash : gc_state → gc_state → Prop :=
  | GcCrash s : gc_crash s (GcState (gc_durable s) []).

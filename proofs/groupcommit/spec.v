(** * Specification of group commit

    The state is what is durable and the updates that wait for a flush.  A put
    adds an update, unless there are as many as the log has room for; a read sees
    the durable blocks with the waiting updates on them; a flush makes the
    waiting updates durable, all at once; a crash forgets them.

    Calls are values: [InjL a] is [Read(a)]; [InjR (InjL (a, s))] is [Put(a, s)]
    and gives whether it was done; [InjR (InjR ())] is [Flush()]. *)
From ashlar.wal Require Export spec.
Open Scope Z_scope.

Record gc_state := GcState { gc_durable : disk; gc_waiting : list update }.
(** What the users see. *)
Definition gc_current (s : gc_state) : disk := apply_updates (gc_waiting s) (gc_durable s).

Definition gc_read_call (a : Z) : val := InjLV #(u64 a).
Definition gc_put_call (u : update) : val := InjRV (InjLV (update_val u)).
Definition gc_flush_call : val := InjRV (InjRV #()).

Definition gc_full (s : gc_state) : Prop := Z.of_nat (length (gc_waiting s)) = max_updates.

Inductive gc_step (N : Z) : val → gc_state → val → gc_state → Prop :=
  | GcRead a b s : addr_ok N a → gc_current s !! a = Some b →
     gc_step N (gc_read_call a) s #(LitStr b) s
  | GcPut u s : update_ok N u → ¬ gc_full s →
     gc_step N (gc_put_call u) s #true (GcState (gc_durable s) (gc_waiting s ++ [u]))
  | GcPutFull u s : update_ok N u → gc_full s →
     gc_step N (gc_put_call u) s #false s
  | GcFlush s :
     gc_step N gc_flush_call s #() (GcState (gc_current s) []).

Inductive gc_crash : gc_state → gc_state → Prop :=
  | GcCrash s : gc_crash s (GcState (gc_durable s) []).

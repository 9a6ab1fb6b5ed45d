(** * Go's package sync, as the programs of this development see it

    A sync value is held in place, one cell each, and its zero value is ready for
    use.  Misuse that Go reports (unlocking what is not locked, a negative
    counter) has no step.  Waiting is spinning: nothing here says that anybody
    ever stops waiting. *)
From ashlar.lang Require Export golib.

(** ** Mutex: is it locked? *)
Definition mutex_lock : val :=
  rec: "lock" "m" := if: Eff CmpXchgOp ("m", (#false, #true)) then #() else "lock" "m".
Definition mutex_unlock : val := λ: "m", assert (Eff CmpXchgOp ("m", (#true, #false))).

(** ** RWMutex: the number of readers, or -1 for a writer *)
Notation rwmutexT := (BaseT (LitV (LitInt I64 0))).
Definition rwmutex_lock : val :=
  rec: "lock" "m" := if: Eff CmpXchgOp ("m", (#(int 0), #(int (-1)))) then #() else "lock" "m".
Definition rwmutex_unlock : val := λ: "m", assert (Eff CmpXchgOp ("m", (#(int (-1)), #(int 0)))).
(** A reader waits while there is a writer, or as many readers as Go has room for.
    The load is of a cell that others only change by [CmpXchg], which is no race. *)
Definition max_readers : Z := 2^30.
Definition rwmutex_rlock : val :=
  rec: "lock" "m" :=
    let: "n" := Load "m" in
    if: (#(int 0) ≤ "n") && ("n" < #(int max_readers))
    then if: Eff CmpXchgOp ("m", ("n", "n" + #(int 1))) then #() else "lock" "m"
    else "lock" "m".
Definition rwmutex_runlock : val :=
  rec: "unlock" "m" :=
    let: "n" := Load "m" in
    assert (#(int 1) ≤ "n");;
    if: Eff CmpXchgOp ("m", ("n", "n" - #(int 1))) then #() else "unlock" "m".

(** ** Cond: its mutex.  A wake-up may be spurious, so [Signal] and [Broadcast] do
    nothing that a proof of safety could see. *)
Definition new_cond : val := λ: "m", ref ptrT "m".
Definition cond_wait : val :=
  λ: "c", let: "m" := Load "c" in mutex_unlock "m";; mutex_lock "m".
Definition cond_signal : val := λ: "c", #().
Definition cond_broadcast : val := λ: "c", #().

(** ** WaitGroup: its counter *)
Notation waitgroupT := (BaseT (LitV (LitInt I64 0))).
Definition waitgroup_add : val :=
  rec: "add" "w" "d" :=
    let: "d" := UnOp (ToIntOp I64) "d" in
    let: "n" := Load "w" in
    assert (#(int 0) ≤ "n" + "d");;
    assert ("n" + "d" < #(int 2147483648));;
    if: Eff CmpXchgOp ("w", ("n", "n" + "d")) then #() else "add" "w" "d".
Definition waitgroup_done : val := λ: "w", waitgroup_add "w" #(int (-1)).
Definition waitgroup_wait : val :=
  rec: "wait" "w" := if: Load "w" = #(int 0) then #() else "wait" "w".

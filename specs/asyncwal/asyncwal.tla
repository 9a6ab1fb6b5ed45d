------------------------------ MODULE asyncwal ------------------------------
(***************************************************************************)
(* A write-ahead log on a disk that may lose what was written since the    *)
(* last barrier: packages examples/asyncwal, whose transactions write two  *)
(* blocks, as here, and examples/asynclog, whose transactions write any.   *)
(* proofs/asyncwal and proofs/asynclog have the proofs.                    *)
(*                                                                         *)
(* A commit writes its two values to the log, then a header that says that *)
(* the log counts, then the values to where they belong; then it clears    *)
(* the header and returns. That the header is clear need not be durable by *)
(* then: after a crash the same values are written once more. But it must  *)
(* be before the next commit touches the log, and nobody but that commit   *)
(* sees to it.                                                             *)
(*                                                                         *)
(* A commit takes effect at the barrier that makes the header durable. In  *)
(* a crash before that, what the header turns out to be decides: then the  *)
(* crash itself is where the commit took effect, or did not.               *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Threads,
  MaxCommits,    \* the k-th commit writes the pair k, k
  MaxCrashes,
  Missing        \* the steps that are left out, to see what they are for

VARIABLES
  disk,          \* for each address what was written last, and all that a crash may leave
  pc, arg,       \* of each thread, and what it commits
  lock,          \* who has it: a thread, Boot, or Nobody
  copied,        \* what recovery has read of the log
  commits,       \* how many there were
  crashes,
  state,         \* of the specification: the pair
  calls          \* of the specification: Idle, or how far the call of a thread is

vars  == <<disk, pc, arg, lock, copied, commits, crashes, state, calls>>
outer == <<commits, crashes>>

Boot   == "boot"       \* who runs after a crash, at first
Nobody == "nobody"
Names  == Threads \cup {Boot}

Header == "header"
Logs   == {"log1", "log2"}
Data   == {"data1", "data2"}
Addresses == {Header} \cup Logs \cup Data
LogOf(d) == IF d = "data1" THEN "log1" ELSE "log2"

Clear  == 0            \* what the header may say
Counts == 1

Idle       == [at |-> "idle", value |-> 0]
Pending(v) == [at |-> "pending", value |-> v]
Done(v)    == [at |-> "done", value |-> v]

-----------------------------------------------------------------------------
\* The disk.
Saved(v)    == [latest |-> v, left |-> {v}]
Latest(a)   == disk[a].latest
Write(a, v) == disk' = [disk EXCEPT ![a] = [latest |-> v, left |-> disk[a].left \cup {v}]]
Flush       == disk' = [a \in Addresses |-> Saved(Latest(a))]

\* What recovery makes of the disk f.
Recovered(f) == [d \in Data |-> IF f[Header] = Counts THEN f[LogOf(d)] ELSE f[d]]
Both(v)      == [d \in Data |-> v]

\* What a crash may leave.
Leavings == {f \in [Addresses -> UNION {disk[a].left : a \in Addresses}] :
               \A a \in Addresses : f[a] \in disk[a].left}

Init ==
  /\ disk = [a \in Addresses |-> Saved(IF a = Header THEN Clear ELSE 0)]
  /\ pc = [t \in Names |-> IF t = Boot THEN "look" ELSE "idle"]
  /\ arg = [t \in Threads |-> 0]
  /\ lock = Boot
  /\ copied = Both(0)
  /\ commits = 0
  /\ crashes = 0
  /\ state = Both(0)
  /\ calls = [t \in Threads |-> Idle]

Goto(t, label) == pc' = [pc EXCEPT ![t] = label]

-----------------------------------------------------------------------------
\* A commit.
Call(t) ==
  /\ pc[t] = "idle" /\ pc[Boot] = "up" /\ commits < MaxCommits
  /\ Goto(t, "lock")
  /\ commits' = commits + 1
  /\ arg' = [arg EXCEPT ![t] = commits + 1]
  /\ calls' = [calls EXCEPT ![t] = Pending(commits + 1)]
  /\ UNCHANGED <<disk, lock, copied, crashes, state>>

Lock(t) ==
  /\ pc[t] = "lock"
  /\ \/ /\ lock = Nobody
        /\ lock' = t
     \/ /\ "lock" \in Missing
        /\ UNCHANGED lock
  /\ Goto(t, "cleared")
  /\ UNCHANGED <<disk, arg, copied, outer, state, calls>>

\* From a label to the next: a write, or a barrier unless it is missing.
WriteStep(t, from, to, a, v) ==
  /\ pc[t] = from
  /\ Write(a, v)
  /\ Goto(t, to)
  /\ UNCHANGED <<arg, lock, copied, outer, state, calls>>

BarrierStep(t, from, to) ==
  /\ pc[t] = from
  /\ IF from \in Missing THEN UNCHANGED disk ELSE Flush
  /\ Goto(t, to)
  /\ UNCHANGED <<arg, lock, copied, outer>>

\* The barrier at which the commit takes effect.
Commit(t) ==
  /\ BarrierStep(t, "header", "data1")
  /\ state' = Both(arg[t])
  /\ calls' = [calls EXCEPT ![t] = Done(arg[t])]

Silent == UNCHANGED <<state, calls>>

Unlock(t) ==
  /\ pc[t] = "unlock"
  /\ lock' = Nobody
  /\ Goto(t, "return")
  /\ UNCHANGED <<disk, arg, copied, outer, state, calls>>

Return(t) ==
  /\ pc[t] = "return"
  /\ Goto(t, "idle")
  /\ calls' = [calls EXCEPT ![t] = Idle]
  /\ arg' = [arg EXCEPT ![t] = 0]
  /\ UNCHANGED <<disk, lock, copied, outer, state>>

Step(t) ==
  \/ Call(t)
  \/ Lock(t)
  \/ BarrierStep(t, "cleared", "log1") /\ Silent
  \/ WriteStep(t, "log1", "log2", "log1", arg[t])
  \/ WriteStep(t, "log2", "logged", "log2", arg[t])
  \/ BarrierStep(t, "logged", "count") /\ Silent
  \/ WriteStep(t, "count", "header", Header, Counts)
  \/ Commit(t)
  \/ WriteStep(t, "data1", "data2", "data1", arg[t])
  \/ WriteStep(t, "data2", "applied", "data2", arg[t])
  \/ BarrierStep(t, "applied", "clear") /\ Silent
  \/ WriteStep(t, "clear", "unlock", Header, Clear)
  \/ Unlock(t)
  \/ Return(t)

-----------------------------------------------------------------------------
\* What runs after a crash, and at first.
Look ==
  /\ pc[Boot] = "look"
  /\ copied' = [d \in Data |-> Latest(LogOf(d))]
  /\ Goto(Boot, IF Latest(Header) = Counts /\ "redo" \notin Missing THEN "redo1" ELSE "open")
  /\ UNCHANGED <<disk, arg, lock, outer, state, calls>>

Open ==
  /\ pc[Boot] = "open"
  /\ lock' = Nobody
  /\ Goto(Boot, "up")
  /\ UNCHANGED <<disk, arg, copied, outer, state, calls>>

Recover ==
  \/ Look
  \/ WriteStep(Boot, "redo1", "redo2", "data1", copied["data1"])
  \/ WriteStep(Boot, "redo2", "redone", "data2", copied["data2"])
  \/ BarrierStep(Boot, "redone", "erase") /\ Silent
  \/ WriteStep(Boot, "erase", "open", Header, Clear)
  \/ Open

\* A crash: what is left of the disk is durable. If it is not the state of the
\* specification then it should be what a pending commit makes of it.
Crash ==
  /\ crashes < MaxCrashes
  /\ crashes' = crashes + 1
  /\ \E f \in Leavings :
       /\ disk' = [a \in Addresses |-> Saved(f[a])]
       /\ state' = IF \E t \in Threads : calls[t].at = "pending" /\ Recovered(f) = Both(calls[t].value)
                   THEN Recovered(f) ELSE state
  /\ pc' = [t \in Names |-> IF t = Boot THEN "look" ELSE "idle"]
  /\ arg' = [t \in Threads |-> 0]
  /\ lock' = Boot
  /\ copied' = Both(0)
  /\ calls' = [t \in Threads |-> Idle]
  /\ UNCHANGED commits

Next == Recover \/ Crash \/ \E t \in Threads : Step(t)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
  /\ \A a \in Addresses : disk[a].latest \in disk[a].left
  /\ lock \in Names \cup {Nobody}
  /\ state \in [Data -> 0..MaxCommits]

\* The commits that a crash may turn out to have done: the one whose header is on its way.
OnItsWay == {t \in Threads : pc[t] = "header"}

\* The crash invariant: whatever a crash leaves, recovery makes of it the state,
\* or what the commit makes of the state whose header is on its way.
CrashSafe ==
  \A f \in Leavings :
    \/ Recovered(f) = state
    \/ \E t \in OnItsWay : calls[t] = Pending(arg[t]) /\ Recovered(f) = Both(arg[t])

\* What a read finds, which takes the lock.
ReadsAreTrue == lock = Nobody => \A d \in Data : Latest(d) = state[d]

\* The lock's invariant.
ClearWhenFree == lock = Nobody => Latest(Header) = Clear

-----------------------------------------------------------------------------
\* What a client may rely on: the state changes in one step, by a call that is
\* pending; a call returns when it is done.
TakesEffect(t) ==
  /\ calls[t].at = "pending"
  /\ state' = Both(calls[t].value)
  /\ calls' = [calls EXCEPT ![t] = Done(calls[t].value)]

Atomic ==
  \/ \E t \in Threads : TakesEffect(t)
  \/ /\ UNCHANGED state
     /\ \E t \in Threads :
          \/ calls[t] = Idle /\ \E v \in 1..MaxCommits : calls' = [calls EXCEPT ![t] = Pending(v)]
          \/ calls[t].at = "done" /\ calls' = [calls EXCEPT ![t] = Idle]
  \/ /\ \A t \in Threads : calls'[t] = Idle
     /\ state' = state \/ \E t \in Threads : calls[t].at = "pending" /\ state' = Both(calls[t].value)

AtomicAndDurable == [][Atomic]_<<state, calls>>

\* Violated by showing that a crash decided for a commit that had not taken effect.
NeverHelped == [][crashes' = crashes \/ state' = state]_vars

\* Violated by showing that the header's clearing was lost, harmlessly.
NeverTwice == ~ (pc[Boot] = "redo1" /\ \A d \in Data : Latest(d) = copied[d])
=============================================================================

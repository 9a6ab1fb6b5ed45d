---------------------------- MODULE groupcommit -----------------------------
(***************************************************************************)
(* Group commit, the package examples/groupcommit: transactions are        *)
(* buffered in memory and a flush writes all of them in one transaction of *)
(* the write-ahead log, which is one step here (specs/wal) but for its     *)
(* commit point and its return being two.                                  *)
(*                                                                         *)
(* The specification is the pair `durable`, `pending`: a commit appends    *)
(* its updates to pending, a flush moves pending into durable, a crash     *)
(* forgets pending.                                                        *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS Threads, Addresses, Values, Room, Commits

VARIABLES
  data,      \* what the log would give after a crash
  buffer,    \* memory: addresses and values, oldest first
  holder,    \* who holds the lock, if anybody
  pc,        \* where the holder is
  op,        \* its operation
  result,    \* what the last operation returned, and what it should have
  done,      \* number of commits begun, over all lives
  promised,  \* ghost: the data of which a flush has said that they are durable
  durable, pending   \* ghost: the specification

vars == <<data, buffer, holder, pc, op, result, done, promised, durable, pending>>

Nobody == "nobody"
NoOp == [do |-> "nothing"]
NoResult == [got |-> 0, want |-> 0]
Zero == CHOOSE v \in Values : TRUE

RECURSIVE Apply(_, _)
Apply(d, s) == IF s = <<>> THEN d ELSE Apply([d EXCEPT ![Head(s).a] = Head(s).v], Tail(s))

\* The place of the last change of an address in the buffer; 0 when there is none.
Latest(s, a) ==
  IF \E i \in 1..Len(s) : s[i].a = a
  THEN CHOOSE i \in 1..Len(s) : s[i].a = a /\ \A j \in 1..Len(s) : s[j].a = a => j <= i
  ELSE 0

Init ==
  /\ data = [a \in Addresses |-> Zero] /\ buffer = <<>>
  /\ holder = Nobody /\ pc = "idle" /\ op = NoOp /\ result = NoResult /\ done = 0
  /\ durable = data /\ promised = data /\ pending = <<>>

Updates == [a : Addresses, v : Values]
Txns == {<<u>> : u \in Updates} \cup (Updates \X Updates)
Ops == [do : {"commit"}, us : Txns] \cup [do : {"read"}, a : Addresses] \cup [do : {"flush"}]

Lock(t) ==
  /\ holder = Nobody
  /\ \E o \in Ops :
       /\ op' = o /\ (o.do = "commit" => done < Commits)
       /\ done' = IF o.do = "commit" THEN done + 1 ELSE done
  /\ holder' = t /\ pc' = "locked"
  /\ UNCHANGED <<data, buffer, result, promised, durable, pending>>

Return ==
  /\ pc = "return"
  /\ holder' = Nobody /\ pc' = "idle" /\ op' = NoOp /\ result' = NoResult
  /\ UNCHANGED <<data, buffer, done, promised, durable, pending>>

Fits(s) == Len(s) + Len(op.us) <= Room

Commit ==
  /\ pc = "locked" /\ op.do = "commit"
  /\ IF Fits(buffer)
     THEN buffer' = buffer \o op.us /\ pending' = pending \o op.us
     ELSE UNCHANGED <<buffer, pending>>
  /\ result' = [got |-> IF Fits(buffer) THEN 0 ELSE 1, want |-> IF Fits(pending) THEN 0 ELSE 1]
  /\ pc' = "return"
  /\ UNCHANGED <<data, holder, op, done, promised, durable>>

\* Which change a read prefers.
Found(s, a) == Latest(s, a)

Read ==
  /\ pc = "locked" /\ op.do = "read"
  /\ LET i == Found(buffer, op.a) IN
     result' = [got |-> IF i = 0 THEN data[op.a] ELSE buffer[i].v,
                want |-> Apply(durable, pending)[op.a]]
  /\ pc' = "return"
  /\ UNCHANGED <<data, buffer, holder, op, done, promised, durable, pending>>

\* The log below commits.
Write ==
  /\ pc = "locked" /\ op.do = "flush"
  /\ data' = Apply(data, buffer)
  /\ durable' = Apply(durable, pending) /\ pending' = <<>>
  /\ pc' = "flushed"
  /\ UNCHANGED <<buffer, holder, op, result, done, promised>>

\* When a flush may empty the buffer and return.
Written == pc = "flushed"

Forget ==
  /\ op.do = "flush" /\ pc \in {"locked", "flushed"} /\ Written
  /\ promised' = Apply(durable, pending)
  /\ buffer' = <<>> /\ pc' = "return"
  /\ UNCHANGED <<data, holder, op, result, done, durable, pending>>

Crash ==
  /\ buffer' = <<>> /\ pending' = <<>>
  /\ holder' = Nobody /\ pc' = "idle" /\ op' = NoOp /\ result' = NoResult
  /\ UNCHANGED <<data, done, promised, durable>>

Next == (\E t \in Threads : Lock(t)) \/ Commit \/ Read \/ Write \/ Forget \/ Return \/ Crash

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* The crash invariant, and that of the lock.
Durable == data = durable
Buffered == holder = Nobody \/ pc \in {"locked", "return"} => buffer = pending

\* Every operation returns what the specification says.
Returns == result.got = result.want

\* What a flush has promised is there when nothing was committed since.
Kept == pc = "return" /\ op.do = "flush" => promised = durable

\* For configurations with a mistake: the first change that is found, not the
\* last; nothing is waited for.
First(s, a) ==
  IF \E i \in 1..Len(s) : s[i].a = a
  THEN CHOOSE i \in 1..Len(s) : s[i].a = a /\ \A j \in 1..Len(s) : s[j].a = a => i <= j
  ELSE 0
Always == TRUE
=============================================================================

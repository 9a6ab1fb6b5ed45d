----------------------------- MODULE workqueue -----------------------------
(***************************************************************************)
(* A distributed work queue.  Producers hand jobs to a broker, which keeps *)
(* a bounded number of them; consumers ask the broker for a job when they  *)
(* have nothing to do.  A producer whose job finds the broker full gets    *)
(* its acknowledgement late, and so does not produce.  When all producers  *)
(* have ended and no job is left, the broker sends the consumers home.     *)
(*                                                                         *)
(* The links are bounded as well: who sends into a full one waits.         *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
  NumProducers, NumConsumers,
  JobsEach,        \* how many jobs each producer makes
  Capacity,        \* how many jobs the broker keeps
  LinkSize,        \* how many messages are under way to one node
  Tasks            \* what a job can ask for

ASSUME
  /\ {NumProducers, NumConsumers, JobsEach, LinkSize} \subseteq Nat \ {0}
  /\ Capacity \in Nat
  /\ Tasks # {}

Broker    == 0
Producers == 1..NumProducers
Consumers == (NumProducers + 1)..(NumProducers + NumConsumers)
Nodes     == {Broker} \cup Producers \cup Consumers

(*
--mpcal WorkQueue {
  define {
    \* Whether the broker, which keeps these jobs, takes one more.
    Admits(jobs, capacity) == Len(jobs) < capacity

    Job(producer, number, task) == [by |-> producer, nr |-> number, task |-> task]
  }

  mapping macro BoundedLink {
    read {
      await $variable # <<>>;
      with (first = Head($variable)) {
        $variable := Tail($variable);
        yield first;
      };
    }
    write {
      await Len($variable) < LinkSize;
      yield Append($variable, $value);
    }
  }

  \* The world decides what there is to do.
  mapping macro AnyTask {
    read {
      with (t \in Tasks) { yield t; };
    }
    write { assert FALSE; }
  }

  mapping macro Record {
    read { yield $variable; }
    write { yield $variable \cup {$value}; }
  }

  archetype AProducer(ref net[_], ref world, quota)
  variable number = 0;
  {
    produce:
      while (number < quota) {
        number := number + 1;
        net[Broker] := [op |-> "put", from |-> self, job |-> Job(self, number, world)];
      acknowledged:
        with (m = net[self]) {
          assert m = [op |-> "ack", nr |-> number];
        };
      };
    finish:
      net[Broker] := [op |-> "end", from |-> self];
  }

  archetype ABroker(ref net[_], producers, capacity)
  variables jobs = <<>>, idle = <<>>, late = <<>>, request;
  {
    serve:
      while (producers > 0 \/ jobs # <<>>) {
        request := net[self];
      handle:
        if (request.op = "end") {
          producers := producers - 1;
        } else if (request.op = "get") {
          if (jobs = <<>>) {
            idle := Append(idle, request.from);
          } else {
            net[request.from] := [op |-> "job", job |-> Head(jobs)];
            jobs := Tail(jobs);
            if (late # <<>>) {
              \* There is room for a job that came too early.
              with (put = Head(late)) {
                net[put.from] := [op |-> "ack", nr |-> put.job.nr];
                jobs := Append(jobs, put.job);
                late := Tail(late);
              };
            };
          };
        } else {
          if (idle # <<>>) {
            net[Head(idle)] := [op |-> "job", job |-> request.job];
            net[request.from] := [op |-> "ack", nr |-> request.job.nr];
            idle := Tail(idle);
          } else if (Admits(jobs, capacity)) {
            jobs := Append(jobs, request.job);
            net[request.from] := [op |-> "ack", nr |-> request.job.nr];
          } else {
            late := Append(late, request);
          };
        };
      };
    dismiss:
      while (Cardinality(Consumers) > Len(idle)) {
        with (m = net[self]) { idle := Append(idle, m.from); };
      };
    goodbye:
      while (idle # <<>>) {
        net[Head(idle)] := [op |-> "stop"];
        idle := Tail(idle);
      };
  }

  archetype AConsumer(ref net[_], ref done)
  variable reply = [op |-> "none"];
  {
    ask:
      net[Broker] := [op |-> "get", from |-> self];
    receive:
      reply := net[self];
      if (reply.op = "stop") { goto Done; };
    work:
      done := reply.job;
      goto ask;
  }

  variables
    network = [n \in Nodes |-> <<>>],
    finished = {};

  fair process (Producer \in Producers) == instance AProducer(ref network[_], "nothing", JobsEach)
    mapping network[_] via BoundedLink
    mapping @2 via AnyTask;

  fair process (TheBroker = Broker) == instance ABroker(ref network[_], NumProducers, Capacity)
    mapping network[_] via BoundedLink;

  fair process (Consumer \in Consumers) == instance AConsumer(ref network[_], ref finished)
    mapping network[_] via BoundedLink
    mapping finished via Record;
}
*)

-----------------------------------------------------------------------------

TypeOK ==
  /\ \A n \in Nodes : Len(network[n]) <= LinkSize
  /\ finished \subseteq [by : Producers, nr : 1..JobsEach, task : Tasks]

\* The broker keeps no more than it has room for.
Bounded == Len(jobs) <= Capacity

\* No job is done twice with different tasks, and none that was not made.
EachJobOnce ==
  \A a, b \in finished : a.by = b.by /\ a.nr = b.nr => a = b

\* What a consumer has in hand or on its way to it, jobs at the broker, jobs
\* on their way there: everywhere that a job can be.
InTransit ==
  { network[c][i].job : <<c, i>> \in
      {<<c, i>> \in Consumers \X (1..LinkSize) : i <= Len(network[c]) /\ network[c][i].op = "job"} }
InHand == {reply[c].job : c \in {c \in Consumers : pc[c] = "work"}}
AtBroker == {jobs[i] : i \in 1..Len(jobs)}

\* A job is in one place at a time.
OnePlace ==
  /\ finished \cap (InTransit \cup InHand \cup AtBroker) = {}
  /\ InHand \cap (InTransit \cup AtBroker) = {}
  /\ InTransit \cap AtBroker = {}

\* When everybody has gone home, all jobs are done.
AllDone ==
  (\A n \in Nodes : pc[n] = "Done") =>
    /\ {<<j.by, j.nr>> : j \in finished} = Producers \X (1..JobsEach)
    /\ network = [n \in Nodes |-> <<>>]

\* For a configuration with a mistake: the broker has room for one job more.
AdmitsOneMore(list, room) == Len(list) <= room
=============================================================================

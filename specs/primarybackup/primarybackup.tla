--------------------------- MODULE primarybackup ---------------------------
(***************************************************************************)
(* A key-value store that is replicated by primary and backup.  The first  *)
(* replica that is alive is the primary.  It answers the clients; before   *)
(* it answers a put, every backup that is alive has the new value.         *)
(*                                                                         *)
(* Replicas can crash.  A perfect failure detector says who has, and all   *)
(* messages to who has are lost; of those under way, any may arrive first. *)
(* A client asks again when the replica that it has asked has crashed, so  *)
(* a put can be executed twice.                                            *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  NumReplicas,
  Keys,
  Scripts,        \* what each client does: a sequence of [op, key (, value)]
  ExploreFail,    \* whether replicas crash
  MaxCrashes

ASSUME
  /\ NumReplicas \in Nat \ {0}
  /\ ExploreFail \in BOOLEAN
  /\ MaxCrashes \in 0..(NumReplicas - 1)

Replicas == 1..NumReplicas
Clients  == {NumReplicas + i : i \in DOMAIN Scripts}
Nodes    == Replicas \cup Clients

PutReq == "put"
GetReq == "get"
SyncReq == "sync"
SyncAck == "synced"
Reply   == "reply"

NoValue == "none"
Length(script) == Cardinality(DOMAIN script)

\* Nobody, where a primary is asked for and no replica is left.
Nobody == 0

(*
--mpcal PrimaryBackup {
  define {
    \* The replicas that a replica has to tell of a new value.
    Others(me, failed) == {r \in Replicas : r # me /\ ~failed[r]}
    \* A late message of a primary that has crashed must not undo what the next
    \* one has done since.
    Trusts(failed) == ~failed
    First(s) == IF s = {} THEN Nobody ELSE CHOOSE r \in s : \A q \in s : r <= q
  }

  macro Send(to, m) {
    either {
      net[to] := m;
    } or {
      await fd[to];
    };
  }

  macro MayCrash() {
    if (ExploreFail) {
      either {
        skip;
      } or {
        await crashes > 0;
        crashes := crashes - 1;
        up[self] := FALSE;
        fd[self] := TRUE;
        goto crashed;
      };
    };
  }

  \* Messages of a link arrive in any order; who has crashed neither sends nor
  \* receives.
  mapping macro Link {
    read {
      await $variable.up;
      with (m \in $variable.queue) {
        $variable.queue := $variable.queue \ {m};
        yield m;
      };
    }
    write {
      await $variable.up;
      yield [$variable EXCEPT !.queue = @ \cup {$value}];
    }
  }

  \* The switch at the receiving end of a link.
  mapping macro Switch {
    read { yield $variable.up; }
    write { yield [queue |-> {}, up |-> $value]; }
  }

  mapping macro PerfectDetector {
    read { yield $variable; }
    write { yield $value; }
  }

  \* The primary is the first that has not crashed.
  mapping macro Lowest {
    read { yield First({r \in Replicas : ~$variable[r]}); }
    write { assert FALSE; }
  }

  archetype AReplica(ref net[_], ref up[_], ref fd[_], ref primary, ref store[_], ref crashes)
  variables
    request = [type |-> "none"],
    waiting = {},
    next;
  {
    replicaLoop:
      while (TRUE) {
        request := net[self];
        MayCrash();
      handle:
        if (request.type = SyncReq) {
          if (Trusts(fd[request.from])) {
            store[<<self, request.key>>] := request.value;
          };
          Send(request.from, [type |-> SyncAck, from |-> self, key |-> request.key]);
          goto replicaLoop;
        } else if (request.type = GetReq) {
          either {
            net[request.from] := [type |-> Reply, from |-> self, value |-> store[self, request.key]];
            goto replicaLoop;
          } or {
            \* Answers of who is not the primary are late ones of a backup.
            await primary # self;
            goto replicaLoop;
          };
        } else if (request.type = PutReq) {
          store[self, request.key] := request.value;
          waiting := Others(self, [r \in Replicas |-> fd[r]]);
          MayCrash();
        } else {
          goto replicaLoop;
        };
      syncSend:
        with (backups = waiting) {
          if (backups # {}) {
            next := First(backups);
            waiting := backups \ {next};
            Send(next, [type |-> SyncReq, from |-> self, key |-> request.key, value |-> request.value]);
            MayCrash();
          } else {
            goto answer;
          };
        };
      syncWait:
        either {
          with (m = net[self]) {
            await m.type = SyncAck /\ m.from = next;
          };
        } or {
          await fd[next];
        };
        goto syncSend;
      answer:
        net[request.from] := [type |-> Reply, from |-> self, value |-> NoValue];
        MayCrash();
      };

    crashed:
      skip;
  }

  archetype AClient(ref net[_], ref fd[_], ref primary, script, ref seen[_])
  variables step = 0, server;
  {
    clientLoop:
      while (step < Length(script)) {
        step := step + 1;
      ask:
        server := primary;
        await server # Nobody;
        with (c = script[step]) {
          Send(server, IF c.op = "put" THEN [type |-> PutReq, from |-> self, key |-> c.key, value |-> c.value]
                                       ELSE [type |-> GetReq, from |-> self, key |-> c.key]);
        };
      hear:
        either {
          with (m = net[self]) {
            await m.from = server;
            seen[self] := m.value;
          };
        } or {
          await fd[server];
          goto ask;
        };
      };
  }

  variables
    network = [n \in Nodes |-> [queue |-> {}, up |-> TRUE]],
    dead = [r \in Nodes |-> FALSE],
    data = [at \in Replicas \X Keys |-> NoValue],
    crashesLeft = MaxCrashes,
    answers = [c \in Clients |-> NoValue];

  fair process (Replica \in Replicas) ==
    instance AReplica(ref network[_], ref network[_], ref dead[_], ref dead, ref data[_], ref crashesLeft)
      mapping @1[_] via Link
      mapping @2[_] via Switch
      mapping @3[_] via PerfectDetector
      mapping @4 via Lowest;

  fair process (Client \in Clients) ==
    instance AClient(ref network[_], ref dead[_], ref dead, Scripts[Client - NumReplicas], ref answers[_])
      mapping network[_] via Link
      mapping @2[_] via PerfectDetector
      mapping @3 via Lowest;
}
*)
-----------------------------------------------------------------------------

Alive == {r \in Replicas : ~dead[r]}
Primary == IF Alive = {} THEN Nobody ELSE CHOOSE r \in Alive : \A q \in Alive : r <= q

\* What clients may read or have written.
Values == {NoValue} \cup UNION { {Scripts[c][i].value : i \in {i \in DOMAIN Scripts[c] : Scripts[c][i].op = "put"}} : c \in DOMAIN Scripts}

TypeOK ==
  /\ data \in [Replicas \X Keys -> Values]
  /\ \A c \in Clients : answers[c] \in Values
  /\ \A r \in Replicas : waiting[r] \subseteq Replicas
  /\ \A n \in Nodes : network[n].up # (n \in Replicas /\ dead[n])

\* When no put is under way the replicas that are alive agree.  One that a
\* primary has left half done is under way until its client has asked again.
Quiet ==
  /\ \A c \in Clients : pc[c] \in {"clientLoop", "Done"}
  /\ \A r \in Alive : pc[r] = "replicaLoop"
  /\ \A n \in Nodes : network[n].queue = {}
Consistent ==
  Quiet => \A r, q \in Alive, k \in Keys : data[r, k] = data[q, k]

\* A backup that has not got a value yet has not been asked for it: who has an
\* answer to a put finds the value at every replica, unless somebody else has
\* put another one.
PutIsEverywhere ==
  \A c \in Clients :
    LET s == Scripts[c - NumReplicas] IN
    pc[c] = "clientLoop" /\ step[c] \in DOMAIN s /\ s[step[c]].op = "put"
      => \A r \in Alive :
           \/ data[r, s[step[c]].key] = s[step[c]].value
           \/ \E d \in Clients \ {c} : \E i \in 1..step[d] :
                LET t == Scripts[d - NumReplicas][i] IN t.op = "put" /\ t.key = s[step[c]].key

\* A client that is alone with a key reads what it has written.
ReadsOwnWrites ==
  \A c \in Clients :
    LET s == Scripts[c - NumReplicas]
        alone(k) == \A d \in DOMAIN Scripts \ {c - NumReplicas} :
                      \A i \in DOMAIN Scripts[d] : Scripts[d][i].op = "put" => Scripts[d][i].key # k
        puts(k) == {i \in 1..step[c] : s[i].op = "put" /\ s[i].key = k}
    IN  /\ pc[c] = "clientLoop" /\ step[c] \in DOMAIN s
        /\ s[step[c]].op = "get" /\ alone(s[step[c]].key)
        => LET p == puts(s[step[c]].key) IN
           answers[c] = IF p = {} THEN NoValue ELSE s[CHOOSE i \in p : \A j \in p : j <= i].value

\* For configurations with mistakes: the primary tells nobody; a backup takes
\* what comes.
NoOthers(me, failed) == {}
Always(failed) == TRUE

\* Who does what.
Put(k, v) == [op |-> "put", key |-> k, value |-> v]
Get(k)    == [op |-> "get", key |-> k]
TwoClients == << <<Put("x", "a"), Get("x")>>, <<Put("x", "b")>> >>
Busy       == << <<Put("x", "a"), Get("x"), Put("x", "b"), Get("x")>>, <<Put("y", "c"), Put("y", "d"), Get("y")>> >>
OneClient  == << <<Put("x", "a"), Get("x"), Put("x", "b"), Get("x")>> >>
=============================================================================

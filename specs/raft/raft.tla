-------------------------------- MODULE raft --------------------------------
(***************************************************************************)
(* The core of Raft: leader election and replication of the log.           *)
(*                                                                         *)
(* A server is several processes that run beside each other and share its  *)
(* variables: one handles messages, one starts elections when the leader   *)
(* has been quiet, one asks for votes, one sends entries, one finds out    *)
(* what is committed, and one takes what clients want.  Terms, requests    *)
(* and crashes are bounded, for the state space to be finite.              *)
(*                                                                         *)
(* Links may lose messages, and reorder them: a link is a set.  A server   *)
(* that crashes loses what is not on its disk; term, vote and log are.     *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, FiniteSetsExt, TLC

CONSTANTS
  NumServers,
  Restless,      \* the servers that start elections
  MaxTerm,       \* elections start up to this term
  Commands,      \* what clients want: a sequence of values, each wanted once
  MaxCrashes,
  Lossy          \* whether links lose messages

ASSUME
  /\ NumServers \in Nat \ {0}
  /\ {MaxTerm, MaxCrashes} \subseteq Nat
  /\ Lossy \in BOOLEAN

Servers == 1..NumServers
Nil     == 0

Follower  == "follower"
Candidate == "candidate"
Leader    == "leader"

RequestVote    == "rvq"
VoteReply      == "rvp"
AppendEntries  == "apq"
AppendReply    == "app"

-----------------------------------------------------------------------------
\* Logs.
Entry(term, command) == [term |-> term, cmd |-> command]
LastTerm(log)  == IF log = <<>> THEN 0 ELSE log[Len(log)].term
TermAt(log, i) == IF i \in 1..Len(log) THEN log[i].term ELSE 0

IsPrefix(s, t) == Len(s) <= Len(t) /\ SubSeq(t, 1, Len(s)) = s

\* Whether a log is as new as one with this last term and length.
UpToDate(lastTerm, length, log) ==
  \/ lastTerm > LastTerm(log)
  \/ lastTerm = LastTerm(log) /\ length >= Len(log)

\* A server votes once in a term.
MayVote(given, asking) == given \in {Nil, asking}

IsQuorum(S) == 2 * Cardinality(S) > NumServers

\* The longest prefix that a quorum has.
RECURSIVE Agreed(_, _, _)
Agreed(me, match, n) ==
  IF n = 0 THEN 0
  ELSE IF IsQuorum({me} \cup {s \in DOMAIN match : match[s] >= n}) THEN n
  ELSE Agreed(me, match, n - 1)

(*
--mpcal Raft {
  define {
    \* The processes of a server are told apart by a number.
    Handlers   == {<<"handler", s>> : s \in Servers}
    Timers     == {<<"timer", s>> : s \in Servers}
    Canvassers == {<<"canvasser", s>> : s \in Servers}
    Senders    == {<<"sender", s>> : s \in Servers}
    Committers == {<<"committer", s>> : s \in Servers}
    Intakes    == {<<"intake", s>> : s \in Servers}

    \* What a log becomes by entries after its first n.
    Splice(log, n, entries) ==
      LET \* Entries that the log has already, in the same term, stay.
          agrees(k) == n + k <= Len(log) /\ log[n + k].term = entries[k].term
      IN  IF \A k \in 1..Len(entries) : agrees(k) THEN log
          ELSE SubSeq(log, 1, n) \o entries
  }

  macro Follow(newTerm) {
    if (newTerm > term[me]) {
      term[me] := newTerm;
      role[me] := Follower;
      vote[me] := Nil;
    };
  }

  \* A step that needs the server to be up.
  macro Alive() {
    await up[me];
  }

  mapping macro Link {
    read {
      with (m \in $variable) {
        $variable := $variable \ {m};
        yield m;
      };
    }
    write {
      if (Lossy) {
        either { yield $variable \cup {$value}; } or { skip; };
      } else {
        yield $variable \cup {$value};
      };
    }
  }

  \* There is as much as there is left.
  mapping macro Budget {
    read {
      await $variable > 0;
      $variable := $variable - 1;
      yield TRUE;
    }
    write { assert FALSE; }
  }

  \* Somebody wants something, and waits for who can do it.
  mapping macro Wishes {
    read {
      await $variable # <<>>;
      with (first = Head($variable)) {
        $variable := Tail($variable);
        yield first;
      };
    }
    write { yield Append($variable, $value); }
  }

  archetype AHandler(me, ref net[_], ref term[_], ref role[_], ref vote[_], ref log[_], ref commit[_],
                     ref votes[_], ref match[_], ref up[_])
  {
    handle:
      while (TRUE) {
        Alive();
        with (m = net[me]) {
          Follow(m.term);
          if (m.type = RequestVote) {
            with (grant = /\ m.term = term[me]
                          /\ MayVote(vote[me], m.from)
                          /\ UpToDate(m.lastTerm, m.length, log[me])) {
              if (grant) { vote[me] := m.from; };
              net[m.from] := [type |-> VoteReply, term |-> term[me], from |-> me, granted |-> grant];
            };
          } else if (m.type = VoteReply) {
            if (m.term = term[me] /\ role[me] = Candidate /\ m.granted) {
              votes[me] := votes[me] \cup {m.from};
              if (IsQuorum(votes[me])) {
                role[me] := Leader;
                match[me] := [s \in Servers |-> 0];
              };
            };
          } else if (m.type = AppendEntries) {
            with (fits = m.term = term[me] /\ m.prev <= Len(log[me]) /\ m.prevTerm = TermAt(log[me], m.prev)) {
              if (m.term = term[me] /\ role[me] = Candidate) { role[me] := Follower; };
              if (fits) {
                assert role[me] # Leader;
                log[me] := Splice(log[me], m.prev, m.entries);
                if (m.commit > commit[me]) {
                  commit[me] := Min({m.commit, m.prev + Len(m.entries)});
                };
              };
              net[m.from] := [type |-> AppendReply, term |-> term[me], from |-> me, success |-> fits,
                              match |-> IF fits THEN m.prev + Len(m.entries) ELSE Min({m.prev - 1, Len(log[me])})];
            };
          } else {
            assert m.type = AppendReply;
            if (m.term = term[me] /\ role[me] = Leader /\ m.success /\ m.match > match[me][m.from]) {
              match[me] := [match[me] EXCEPT ![m.from] = m.match];
            };
          };
        };
      };
  }

  archetype ATimer(me, ref term[_], ref role[_], ref vote[_], ref votes[_], ref quiet, ref up[_])
  {
    elect:
      while (TRUE) {
        Alive();
        await me \in Restless /\ role[me] # Leader /\ term[me] < MaxTerm;
        if (quiet) {
          term[me] := term[me] + 1;
          role[me] := Candidate;
          vote[me] := me;
          votes[me] := {me};
        };
      };
  }

  archetype ACanvasser(me, ref net[_], ref term[_], ref role[_], ref votes[_], ref log[_], ref up[_])
  variables asked = {}, inTerm = 0;
  {
    canvass:
      while (TRUE) {
        Alive();
        await role[me] = Candidate;
        if (inTerm # term[me]) {
          inTerm := term[me];
          asked := {me};
        };
        await asked # Servers;
        with (s = Min(Servers \ asked)) {
          asked := asked \cup {s};
          net[s] := [type |-> RequestVote, term |-> term[me], from |-> me,
                     lastTerm |-> LastTerm(log[me]), length |-> Len(log[me])];
        };
      };
  }

  archetype ASender(me, ref net[_], ref term[_], ref role[_], ref log[_], ref commit[_], ref match[_], ref up[_])
  variables to = 0, sent = [s \in Servers |-> <<>>];
  {
    send:
      while (TRUE) {
        Alive();
        await role[me] = Leader;
        with (s \in Servers \ {me}) {
          with (prev = match[me][s],
                what = <<term[me], Len(log[me]), commit[me]>>) {
            \* Nothing is said twice.
            await sent[s] # what;
            sent[s] := what;
            net[s] := [type |-> AppendEntries, term |-> term[me], from |-> me,
                       prev |-> prev, prevTerm |-> TermAt(log[me], prev),
                       entries |-> SubSeq(log[me], prev + 1, Len(log[me])), commit |-> commit[me]];
          };
        };
      };
  }

  archetype ACommitter(me, ref term[_], ref role[_], ref log[_], ref commit[_], ref match[_], ref up[_])
  {
    advance:
      while (TRUE) {
        Alive();
        await role[me] = Leader;
        with (n = Agreed(me, match[me], Len(log[me]))) {
          \* Only entries of its own term are committed by counting.
          await n > commit[me] /\ TermAt(log[me], n) = term[me];
          commit[me] := n;
        };
      };
  }

  archetype AIntake(me, ref term[_], ref role[_], ref log[_], ref wishes, ref up[_])
  {
    take:
      while (TRUE) {
        Alive();
        await role[me] = Leader;
        log[me] := Append(log[me], Entry(term[me], wishes));
      };
  }

  variables
    network = [s \in Servers |-> {}],
    terms   = [s \in Servers |-> 1],
    roles   = [s \in Servers |-> Follower],
    voted   = [s \in Servers |-> Nil],
    logs    = [s \in Servers |-> <<>>],
    commits = [s \in Servers |-> 0],
    ballots = [s \in Servers |-> {}],
    matches = [s \in Servers |-> [q \in Servers |-> 0]],
    running = [s \in Servers |-> TRUE],
    wanted  = Commands,
    crashes = MaxCrashes;

  fair process (Handler \in Handlers) == instance AHandler(Handler[2], ref network[_], ref terms[_], ref roles[_],
      ref voted[_], ref logs[_], ref commits[_], ref ballots[_], ref matches[_], ref running[_])
    mapping network[_] via Link;

  fair process (Timer \in Timers) == instance ATimer(Timer[2], ref terms[_], ref roles[_], ref voted[_], ref ballots[_], TRUE,
      ref running[_]);

  fair process (Canvasser \in Canvassers) == instance ACanvasser(Canvasser[2], ref network[_], ref terms[_], ref roles[_],
      ref ballots[_], ref logs[_], ref running[_])
    mapping network[_] via Link;

  fair process (Sender \in Senders) == instance ASender(Sender[2], ref network[_], ref terms[_], ref roles[_], ref logs[_],
      ref commits[_], ref matches[_], ref running[_])
    mapping network[_] via Link;

  fair process (Committer \in Committers) == instance ACommitter(Committer[2], ref terms[_], ref roles[_], ref logs[_],
      ref commits[_], ref matches[_], ref running[_]);

  fair process (Intake \in Intakes) == instance AIntake(Intake[2], ref terms[_], ref roles[_], ref logs[_], ref wanted,
      ref running[_])
    mapping wanted via Wishes;

  \* Servers crash, and come back with what is on their disks.
  process (Fate = <<"fate", 0>>)
  {
    strike:
      while (crashes > 0) {
        with (s \in Servers) {
          await running[s];
          running[s] := FALSE;
          crashes := crashes - 1;
          network[s] := {};
        };
    recover:
        with (s \in {s \in Servers : ~running[s]}) {
          running[s] := TRUE;
          roles[s] := Follower;
          ballots[s] := {};
          commits[s] := 0;
          matches[s] := [q \in Servers |-> 0];
        };
      };
  }
}
*)
-----------------------------------------------------------------------------

TypeOK ==
  /\ \A s \in Servers :
       /\ terms[s] \in 1..MaxTerm
       /\ roles[s] \in {Follower, Candidate, Leader}
       /\ voted[s] \in Servers \cup {Nil}
       /\ commits[s] \in 0..Len(logs[s])
       /\ ballots[s] \subseteq Servers

\* No two leaders in one term.
ElectionSafety ==
  \A s, q \in Servers : roles[s] = Leader /\ roles[q] = Leader /\ terms[s] = terms[q] => s = q

\* Entries with one index and one term are equal, and so is all before them.
LogMatching ==
  \A s, q \in Servers : \A i \in 1..Min({Len(logs[s]), Len(logs[q])}) :
    logs[s][i].term = logs[q][i].term => SubSeq(logs[s], 1, i) = SubSeq(logs[q], 1, i)

Committed(s) == SubSeq(logs[s], 1, commits[s])

\* What is committed is the same everywhere.
StateMachineSafety ==
  \A s, q \in Servers : IsPrefix(Committed(s), Committed(q)) \/ IsPrefix(Committed(q), Committed(s))

\* A leader has all that is committed in an earlier term.
LeaderCompleteness ==
  \A s, q \in Servers : roles[s] = Leader /\ terms[s] >= terms[q] => IsPrefix(Committed(q), logs[s])

\* A leader does not take back what is in its log.
LeaderAppendOnly ==
  [][\A s \in Servers : roles[s] = Leader /\ roles'[s] = Leader => IsPrefix(logs[s], logs'[s])]_<<logs, roles>>

OneCommand == <<"a">>

\* For a configuration with a mistake: a server forgets that it has voted.
Forgetful(given, asking) == TRUE
=============================================================================

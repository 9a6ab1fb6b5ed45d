-------------------------------- MODULE raftkv --------------------------------
(* A replicated key-value store on Raft.                                       *)
(*                                                                             *)
(* A server elects, replicates, and applies what is committed to its store. It *)
(* keeps its term, its vote and its log over a crash, and nothing else. A      *)
(* leader sends entries first and writes them to its log then. The             *)
(* network loses, repeats and reorders messages: see LossyMailbox.             *)
(*                                                                             *)
(* Each server has a front, which speaks for the clients that are connected to *)
(* it. The server passes their commands on to the leader, and answers them     *)
(* when it applies them itself. A front repeats a command until it is          *)
(* answered; sessions have it take effect once. For a read, the server asks    *)
(* the leader how much was committed, waits until it has applied as much, and  *)
(* answers from its own store; the leader first makes sure that it still leads.*)
EXTENDS Integers, Sequences, FiniteSets, FiniteSetsExt, TLC, AshlarResources

CONSTANTS
  NumServers,
  MaxTerm,    \* servers stand for election up to this term
  MaxLog,     \* leaders take no more commands than fit into a log so long
  Beats,      \* whether leaders repeat what may be lost; in a model nothing has to be repeated
  MaxRound,   \* a leader that has begun so many rounds for reads steps down
  Batch,      \* at most so many entries are sent, or applied, at once
  Values,     \* a front that writes writes these to the key "k", in this order
  Writers,    \* the servers whose fronts write
  Readers     \* the servers whose fronts read, once

Servers  == 1..NumServers
Front(s) == 100 + s
Nobody   == 0

Follower     == "follower"
PreCandidate == "precandidate"
Candidate    == "candidate"
Leader       == "leader"

-------------------------------------------------------------------------------
\* Logs.

\* An entry that does nothing; a leader begins with one.
Nothing == [session |-> "", id |-> [life |-> 0, n |-> 0], at |-> Nobody, op |-> "nothing", key |-> "", val |-> ""]

Entries(term, commands) == [i \in 1..Len(commands) |-> [term |-> term, command |-> commands[i]]]

TermAt(log, i) == IF i = 0 THEN 0 ELSE log[i].term
LastTerm(log)  == TermAt(log, Len(log))

\* Whether a log is as new as this one, which has so many entries.
UpToDate(lastTerm, length, log) ==
  \/ lastTerm > LastTerm(log)
  \/ lastTerm = LastTerm(log) /\ length >= Len(log)

\* Whether a log has an entry of the leader's at a place.
Fits(log, prev, prevTerm) == IF prev > Len(log) THEN FALSE ELSE TermAt(log, prev) = prevTerm

\* How many of the entries the log has already after its first n.
RECURSIVE Have(_, _, _, _)
Have(log, n, entries, k) ==
  IF k = Len(entries) THEN k
  ELSE IF n + k >= Len(log) THEN k
  ELSE IF log[n + k + 1].term # entries[k + 1].term THEN k
  ELSE Have(log, n, entries, k + 1)

IsQuorum(S) == 2 * Cardinality(S) > NumServers

\* Who stands for election in which term. Configurations have it by turns, for fewer states.
Stands(s, term) == TRUE
InTurn(s, t) == s = t
First(s, t)  == s = 1
Rivals(s, t) == s # 3

\* How many entries of a leader may wait to be committed before it drops what fronts ask.
Backlog == 4096

\* A server votes once in a term.
MayVote(voted, from) == voted \in {Nobody, from}

\* The longest prefix that a quorum has of a leader's log of so many entries. Not by
\* counting down: a new leader does not know yet what the others have.
Agreed(me, match, length) ==
  LET has == [match EXCEPT ![me] = length]
  IN  Max({n \in {has[s] : s \in Servers} : IsQuorum({s \in Servers : has[s] >= n})})

\* Entries of earlier terms are not committed by counting.
MayCommit(log, n, term) == TermAt(log, n) = term

\* Whether a quorum has taken a server for its leader since a round began.
Confirmed(me, acked, round) == IsQuorum({me} \cup {s \in Servers : acked[s] >= round})

-------------------------------------------------------------------------------
\* The store.

EmptyStore == [data |-> [k \in {} |-> ""], sessions |-> [s \in {} |-> [id |-> [life |-> 0, n |-> 0], found |-> FALSE]],
               changes |-> 0, answers |-> <<>>]

Newer(a, b) == a.life > b.life \/ (a.life = b.life /\ a.n > b.n)

\* Whether a command has not taken effect yet.
IsNew(sessions, c) == IF c.session \in DOMAIN sessions THEN Newer(c.id, sessions[c.session].id) ELSE TRUE

Without(f, k) == [x \in DOMAIN f \ {k} |-> f[x]]

\* What a command makes of a store. The server me answers those that came by it.
Effect(me, store, c) ==
  IF c.op = "nothing" THEN store
  ELSE
    LET new   == IsNew(store.sessions, c)
        found == IF new THEN c.key \in DOMAIN store.data ELSE store.sessions[c.session].found
        answers == IF c.at = me THEN Append(store.answers, [session |-> c.session, id |-> c.id, found |-> found])
                   ELSE store.answers
    IN  IF ~new THEN [store EXCEPT !.answers = answers]
        ELSE [data     |-> IF c.op = "put" THEN (c.key :> c.val) @@ store.data
                           ELSE IF found THEN Without(store.data, c.key) ELSE store.data,
              sessions |-> (c.session :> [id |-> c.id, found |-> found]) @@ store.sessions,
              changes  |-> store.changes + 1,
              answers  |-> answers]

\* The store after the entries from i to n.
RECURSIVE After(_, _, _, _, _)
After(me, store, log, i, n) ==
  IF i > n THEN store ELSE After(me, Effect(me, store, log[i].command), log, i + 1, n)

Lookup(data, k) == IF k \in DOMAIN data THEN [there |-> TRUE, val |-> data[k]] ELSE [there |-> FALSE, val |-> ""]

-------------------------------------------------------------------------------
(*
--mpcal raftkv {
  define {
    \* How many entries a leader sends that were not acknowledged.
    InFlight == 8 * Batch

    Others(me) == Servers \ {me}

    \* What a front asks its server.
    Write(server, n) == [type |-> "ask", term |-> 0, from |-> server, first |-> TRUE,
      commands |-> <<[session |-> "w", id |-> [life |-> 1, n |-> n], at |-> server, op |-> "put", key |-> "k", val |-> Values[n]]>>]
    Read == [type |-> "read", term |-> 0, id |-> [life |-> 1, n |-> 1], keys |-> <<"k">>]
    Rank(v) == IF v.there THEN CHOOSE i \in DOMAIN Values : Values[i] = v.val ELSE 0
  }

  \* Messages of servers about terms. Those of pre-votes have terms that may never be.
  macro Follow(m) {
    if (m.term > term /\ m.type \notin {"prevote", "preyes"}) {
      term := m.term;
      voted := Nobody;
      role := Follower;
      leader := Nobody;
      due := {};
      pending := <<>>;
    };
  }

  macro Elections(m) {
    if (m.type = "prevote") {
      \* A server that hears its leader does not help others to depose it.
      if (m.term > term /\ leader = Nobody /\ UpToDate(m.lastTerm, m.length, log)) {
        net[m.from] := [type |-> "preyes", term |-> m.term, from |-> self];
      } else if (m.term <= term) {
        net[m.from] := [type |-> "no", term |-> term, from |-> self];
      };
    } else if (m.type = "preyes") {
      if (role = PreCandidate /\ m.term = term + 1) { votes := votes \cup {m.from}; };
    } else if (m.type = "vote") {
      if (m.term = term /\ MayVote(voted, m.from) /\ UpToDate(m.lastTerm, m.length, log)) {
        voted := m.from;
        quiet := FALSE;
        net[m.from] := [type |-> "yes", term |-> term, from |-> self];
      } else if (m.term < term) {
        net[m.from] := [type |-> "no", term |-> term, from |-> self];
      };
    } else if (m.type = "yes") {
      if (role = Candidate /\ m.term = term) { votes := votes \cup {m.from}; };
    };
  }

  macro Appends(m) {
    if (m.type = "append") {
      if (m.term < term) {
        net[m.from] := [type |-> "no", term |-> term, from |-> self];
      } else {
        role := Follower;
        leader := m.from;
        due := {};
        quiet := FALSE;
        if (Fits(log, m.prev, m.prevTerm)) {
          with (k = Have(log, m.prev, m.entries, 0), n = m.prev + Len(m.entries)) {
            if (k < Len(m.entries)) {
              log := SubSeq(log, 1, m.prev + k) \o SubSeq(m.entries, k + 1, Len(m.entries));
            };
            if (Min({m.commit, n}) > commit) { commit := Min({m.commit, n}); };
            net[m.from] := [type |-> "appended", term |-> term, from |-> self, success |-> TRUE, match |-> n, round |-> m.round];
          };
        } else {
          net[m.from] := [type |-> "appended", term |-> term, from |-> self, success |-> FALSE,
                          match |-> Min({m.prev - 1, Len(log)}), round |-> m.round];
        };
      };
    } else if (m.type = "appended") {
      if (role = Leader /\ m.term = term) {
        acked := [acked EXCEPT ![m.from] = Max({@, m.round})];
        if (m.success) {
          match := [match EXCEPT ![m.from] = Max({@, m.match})];
          next := [next EXCEPT ![m.from] = Max({@, m.match + 1})];
          if (next[m.from] <= Len(log) + Len(pending)) { due := due \cup {m.from}; };
        } else {
          next := [next EXCEPT ![m.from] = Max({match[m.from], m.match}) + 1];
          due := due \cup {m.from};
        };
      };
    };
  }

  macro Clients(m) {
    if (m.type = "ask") {
      if (role = Leader) {
        \* A leader that no quorum hears takes no more; the fronts ask again.
        if (Len(log) + Len(pending) - commit < Backlog) {
          await Len(log) + Len(pending) + Len(m.commands) <= MaxLog;
          pending := pending \o Entries(term, m.commands);
          due := Others(self);
        };
      } else if (leader # Nobody /\ m.first) {
        net[leader] := [m EXCEPT !.first = FALSE];
      };
    } else if (m.type = "read") {
      if (leader # Nobody /\ m.id # reading.id) {
        reading := [id |-> m.id, keys |-> m.keys, index |-> -1];
        net[leader] := [type |-> "where", term |-> 0, from |-> self, id |-> m.id];
      };
    } else if (m.type = "where") {
      \* A leader knows what is committed when an entry of its own term is.
      if (role = Leader /\ TermAt(log, commit) = term) {
        if (round < MaxRound) {
          round := round + 1;
          asked := Append(asked, [from |-> m.from, id |-> m.id, index |-> commit, round |-> round]);
          due := Others(self);
        } else {
          role := Follower;
          leader := Nobody;
          due := {};
          pending := <<>>;
        };
      };
    } else if (m.type = "there") {
      if (m.id = reading.id) { reading := [reading EXCEPT !.index = m.index]; };
    };
  }

  archetype AServer(ref net[_], ref quiet, ref beat)
    durable variables term = 0, voted = Nobody, log = <<>>;
    variables
      role = Follower, leader = Nobody,
      votes = {},                            \* of a candidate
      due = {},                              \* the servers that are owed a message
      pending = <<>>,                        \* of a leader: entries behind its log, not written yet
      next = [s \in Servers |-> 1],          \* of a leader: what to send
      match = [s \in Servers |-> 0],         \*   what they have
      acked = [s \in Servers |-> 0],         \*   the last round that they know of
      round = 0, asked = <<>>,               \*   reads that wait for a round
      commit = 0, applied = 0, store = EmptyStore,
      reading = [id |-> [life |-> 0, n |-> 0], keys |-> <<>>, index |-> -1];
  {
    serve:
      while (TRUE) {
        either {
          \* No leader is heard of.
          await role # Leader /\ term < MaxTerm /\ Stands(self, term + 1);
          await quiet;
          quiet := FALSE;
          role := PreCandidate;
          leader := Nobody;
          votes := {self};
          due := Others(self);
        } or {
          await role = PreCandidate /\ IsQuorum(votes);
          term := term + 1;
          voted := self;
          role := Candidate;
          votes := {self};
          due := Others(self);
        } or {
          await role = Candidate /\ IsQuorum(votes);
          role := Leader;
          leader := self;
          log := log \o Entries(term, <<Nothing>>);
          next := [s \in Servers |-> Len(log)];
          match := [s \in Servers |-> 0];
          acked := [s \in Servers |-> 0];
          round := 0;
          asked := <<>>;
          due := Others(self);
          beat := FALSE;
        } or {
          \* What was sent may be lost.
          await role = Leader /\ Beats;
          await beat;
          beat := FALSE;
          due := Others(self);
        } or {
          await due # {};
          with (s = Min(due)) {
            if (role = Leader) {
              with (whole = log \o pending, last = Min({Len(whole), match[s] + InFlight}), entries = SubSeq(whole, next[s], Min({last, next[s] + Batch - 1}))) {
                net[s] := [type |-> "append", term |-> term, from |-> self, prev |-> next[s] - 1, prevTerm |-> TermAt(whole, next[s] - 1),
                           entries |-> entries, commit |-> commit, round |-> round];
                if (next[s] + Len(entries) > last) { due := due \ {s}; };
                next := [next EXCEPT ![s] = @ + Len(entries)];
              };
            } else {
              due := due \ {s};
              net[s] := [type |-> IF role = Candidate THEN "vote" ELSE "prevote", term |-> IF role = Candidate THEN term ELSE term + 1,
                         from |-> self, lastTerm |-> LastTerm(log), length |-> Len(log)];
            };
          };
        } or {
          with (m = net[self]) {
            Follow(m);
            if (m.type \in {"append", "appended"}) { Appends(m); }
            else if (m.type \in {"ask", "read", "where", "there"}) { Clients(m); }
            else { Elections(m); };
          };
        } or {
          \* A leader sends entries before it writes them, so that it and its followers
          \* write at the same time. A crash loses them, as if they had not been asked
          \* for; followers may have them all the same.
          await role = Leader /\ pending # <<>> /\ due = {};
          log := log \o pending;
          pending := <<>>;
        } or {
          await role = Leader;
          with (n = Min({Agreed(self, match, Len(log)), Len(log)})) {
            await n > commit;
            await MayCommit(log, n, term);
            commit := n;
            due := Others(self);
          };
        } or {
          await applied < commit;
          with (n = Min({commit, applied + Batch}), after = After(self, store, log, applied + 1, n)) {
            if (after.answers # <<>>) {
              net[Front(self)] := [type |-> "answers", term |-> 0, answers |-> after.answers];
            };
            store := [after EXCEPT !.answers = <<>>];
            applied := n;
          };
        } or {
          await role = Leader /\ asked # <<>>;
          with (q = Head(asked)) {
            await Confirmed(self, acked, q.round);
            asked := Tail(asked);
            net[q.from] := [type |-> "there", term |-> 0, id |-> q.id, index |-> q.index];
          };
        } or {
          await reading.index >= 0 /\ applied >= reading.index;
          net[Front(self)] := [type |-> "values", term |-> 0, id |-> reading.id,
                               values |-> [i \in 1..Len(reading.keys) |-> Lookup(store.data, reading.keys[i])]];
          reading := [reading EXCEPT !.index = -1];
        };
      };
  }

  archetype AWriter(server, ref net[_], ref patience, ref begun, ref done)
    variables turn = 0;
  {
    start:
      while (turn < Len(Values)) {
        turn := turn + 1;
        begun := turn;
        net[server] := Write(server, turn);
    written:
        either {
          with (m = net[self]) {
            if (m.type = "answers" /\ \E i \in DOMAIN m.answers : m.answers[i].id.n = turn) {
              done := turn;
            } else { goto written; };
          };
        } or {
          await patience;
          patience := FALSE;
          net[server] := Write(server, turn);
          goto written;
        };
      };
  }

  archetype AReader(server, ref net[_], ref patience, ref begun, ref done)
    variables floor = 0;
  {
    ask:
      floor := done;
      net[server] := Read;
    heard:
      either {
        with (m = net[self]) {
          if (m.type = "values") {
            \* What was written before the read began is there, or something newer.
            assert floor <= Rank(m.values[1]) /\ Rank(m.values[1]) <= begun;
          } else { goto heard; };
        };
      } or {
        await patience;
        patience := FALSE;
        net[server] := Read;
        goto heard;
      };
  }

  variables
    net = [i \in Servers \cup {Front(s) : s \in Servers} |-> {}],
    silence = FALSE, pulse = FALSE,
    patience = FALSE,
    begun = 0, done = 0;   \* how many values the writer has begun, and seen the end of

  process (Server \in Servers) == instance AServer(ref net[_], ref silence, ref pulse)
    mapping net[_] via LossyMailbox
    mapping silence via Timer
    mapping pulse via Timer;

  process (Writer \in {Front(s) : s \in Writers}) == instance AWriter(Writer - 100, ref net[_], ref patience, ref begun, ref done)
    mapping net[_] via LossyMailbox
    mapping patience via Timer;

  process (Reader \in {Front(s) : s \in Readers}) == instance AReader(Reader - 100, ref net[_], ref patience, ref begun, ref done)
    mapping net[_] via LossyMailbox
    mapping patience via Timer;
}
*)
-------------------------------------------------------------------------------

IsPrefix(s, t) == Len(s) <= Len(t) /\ SubSeq(t, 1, Len(s)) = s

Committed(s) == SubSeq(log[s], 1, commit[s])

\* No two servers lead in one term.
ElectionSafety == \A s, q \in Servers : role[s] = Leader /\ role[q] = Leader /\ term[s] = term[q] => s = q

\* Entries with one index and one term are equal, and so is all before them.
LogMatching ==
  \A s, q \in Servers : \A i \in 1..Min({Len(log[s]), Len(log[q])}) :
    log[s][i].term = log[q][i].term => SubSeq(log[s], 1, i) = SubSeq(log[q], 1, i)

\* What is committed is the same everywhere, and so are the stores.
StateMachineSafety ==
  \A s, q \in Servers :
    /\ IsPrefix(Committed(s), Committed(q)) \/ IsPrefix(Committed(q), Committed(s))
    /\ applied[s] = applied[q] => store[s] = store[q]

\* A leader has all that is committed in an earlier term.
LeaderCompleteness == \A s, q \in Servers : role[s] = Leader /\ term[s] >= term[q] => IsPrefix(Committed(q), log[s])

\* Each command has taken effect once, however often it is in the log.
ExactlyOnce ==
  \A s \in Servers :
    store[s].changes = Cardinality({<<log[s][i].command.session, log[s][i].command.id>> :
                                      i \in {j \in 1..applied[s] : log[s][j].command.op # "nothing"}})

\* The writes that fronts were told of. Mailboxes keep every message that was ever
\* sent, so this is all that was ever acknowledged, whatever crashed since.
Acknowledged ==
  UNION {UNION {{m.answers[i].id.n : i \in DOMAIN m.answers} :
                  m \in {x \in net[Front(s)] : x.type = "answers"}} : s \in Servers}

HasWrite(s, n) == \E i \in DOMAIN log[s] : log[s][i].command.session = "w" /\ log[s][i].command.id.n = n

LeadsNow(s) == role[s] = Leader /\ \A q \in Servers : term[q] <= term[s]

\* No acknowledged write is lost: a quorum has it on disk, and so has the leader of
\* the newest term.
Durable ==
  \A n \in Acknowledged \cup 1..done :
    /\ IsQuorum({s \in Servers : HasWrite(s, n)})
    /\ \A s \in Servers : LeadsNow(s) => HasWrite(s, n)

\* A read returns what was written before it began, or something newer.
ReadsCurrent ==
  \A r \in Readers : \A m \in net[Front(r)] :
    m.type = "values" => floor[Front(r)] <= Rank(m.values[1]) /\ Rank(m.values[1]) <= begun

-------------------------------------------------------------------------------
NoValues == <<>>
OneValue == <<"a">>
TwoValues == <<"a", "b">>

\* For configurations with a mistake.
NoSessions(s, c)              == TRUE
Forgetful(v, from)            == TRUE
AnyLog(lastTerm, length, log_) == TRUE
ByCounting(log_, n, t)        == TRUE
Unasked(me, acked_, r)        == TRUE

\* Server 3 votes, and does not lead.
ThreeVotes == role[3] \in {Follower, PreCandidate}

-------------------------------------------------------------------------------
(* Three servers and several terms have too many states to visit all. The         *)
(* configurations below visit those of one schedule each, in which a known mistake *)
(* shows: who stands when, whose votes count, and who does not hear whom. Each is  *)
(* visited with the right algorithm as well as with the mistake, so a schedule     *)
(* that would hide the mistake is noticed.                                         *)

Sent(s) == UNION {{m \in net[q] : m.type \notin {"answers", "values", "ask", "read", "where", "there"} /\ m.from = s} : q \in Servers}

\* A server stands once in a term.
Stood(s, t)   == \E m \in Sent(s) : m.type = "prevote" /\ m.term = t
OnceInTurn(s, t) == s = t /\ ~Stood(s, t)

\* Messages of earlier terms are lost, and a leader sends few.
NoRefusals       == \A s \in Servers : \A m \in net[s] : m.type # "no"
FewAppends(n)    == \A s, q \in Servers : Cardinality({m \in net[s] : m.type = "append" /\ m.from = q}) <= n
VotesOf(s, from) == votes[s] \subseteq {s, from}

\* What a server can do without hearing anything, it does before anything else happens.
Ready(s) ==
  \/ due[s] # {}
  \/ role[s] \in {PreCandidate, Candidate} /\ IsQuorum(votes[s])
  \/ pending[s] # <<>>
  \/ /\ role[s] = Leader
     /\ Min({Agreed(s, match[s], Len(log[s])), Len(log[s])}) > commit[s]
     /\ MayCommit(log[s], Min({Agreed(s, match[s], Len(log[s])), Len(log[s])}), term[s])
  \/ applied[s] < commit[s]
  \/ role[s] = Leader /\ asked[s] # <<>> /\ Confirmed(s, acked[s], Head(asked[s]).round)
  \/ reading[s].index >= 0 /\ applied[s] >= reading[s].index
Acts(s) ==
  <<due[s], next[s], log[s], role[s], commit[s], applied[s], asked[s], reading[s]>>' #
  <<due[s], next[s], log[s], role[s], commit[s], applied[s], asked[s], reading[s]>>
Prompt == \A s \in Servers : Ready(s) => Acts(s)

\* A leader crashes between sending its entries and writing them. That it can is shown by
\* a configuration that says the contrary: server 2 never has more of term 1, in which
\* server 1 led, than server 1 after a crash.
WithCrash  == NoRefusals /\ FewAppends(4)
NeverAhead ==
  ~(term[1] = 1 /\ role[1] = Follower /\ LastTerm(log[1]) = 1 /\ LastTerm(log[2]) = 1 /\ Len(log[2]) > Len(log[1]))

\* Server 1 leads in term 1 and hears nothing of term 2, in which server 2 stands. Server
\* 2 has heard of term 1 but of no entry. Server 3 has the vote that counts in both.
Succession ==
  /\ NoRefusals /\ FewAppends(4) /\ VotesOf(1, 3) /\ VotesOf(2, 3)
  /\ term[1] <= 1
  /\ log[2] = <<>>   \* so it ends when server 2 leads
  /\ (begun > 0 => commit[1] > 0)

\* Server 1 leads in term 1, with the vote of server 3, and commits with server 2.
\* Server 2 leads in term 2, unheard by server 1, and writes. Then server 1 is asked
\* for the value.
OldLeader ==
  /\ NoRefusals /\ FewAppends(5) /\ VotesOf(1, 3) /\ VotesOf(2, 3)
  /\ \A s \in Servers : \A m \in net[s] : m.type \in {"preyes", "yes"} => m.from = 3
  /\ term[1] <= 1
  /\ (term[3] <= 1 => log[3] = <<>>) /\ commit[3] <= 2
  /\ (role[2] # Follower => commit[1] = 1)
  /\ (role[2] # Leader => commit[2] = 0 /\ begun = 0)
  /\ \A r \in Readers : pc[Front(r)] # "ask" => floor[Front(r)] = 1

\* When the writer has its answer, server 2 has nothing more to do.
ThenRests ==
  Prompt /\ (done = 1 => <<acked[2], match[2], next[2], due[2]>>' = <<acked[2], match[2], next[2], due[2]>>)

\* Figure 8 of the paper of Raft, for three servers. Servers 1 and 3 lead by turns, and
\* do not hear each other's entries; server 2 has the vote that counts. Server 1 takes
\* its entry of term 1 to server 2 only in term 3; server 3, with one of term 2, stands
\* again in term 4. It ends when server 3 leads again.
ByTurns(s, t) == ((s = <<1, 3, 1, 3>>[t]) \/ (s = 2 /\ t = 4)) /\ ~Stood(s, t)
Figure8 ==
  /\ NoRefusals /\ FewAppends(4) /\ VotesOf(1, 2) /\ VotesOf(3, 2) /\ VotesOf(2, 2)
  /\ \A s \in Servers : \A m \in net[s] : m.type = "preyes" => m.from = 2
  /\ role[2] \in {Follower, PreCandidate}
  /\ \A i \in DOMAIN log[1] : log[1][i].term \in {1, 3}
  /\ \A i \in DOMAIN log[3] : log[3][i].term \in {2, 4}
  /\ (term[2] <= 2 => log[2] = <<>>)
  /\ (term[3] >= 1 => log[1] # <<>>)
  /\ (term[1] >= 2 => log[3] # <<>>)
  /\ (term[3] >= 3 => log[2] # <<>>)
  /\ (role[2] # Follower \/ (role[3] # Follower /\ term[3] >= 3) => commit[1] > 0)
  /\ (commit[1] = 1 => Len(log[2]) = 1)
  /\ (role[3] = Leader => term[3] = 2)
===============================================================================

--------------------------------- MODULE vote ---------------------------------
(* Servers elect leaders, and crash. A server has one vote in a term. It must *)
(* not forget that it gave it away: the term and the vote are durable. What   *)
(* others voted for it, and the messages that it had not read, are lost.      *)
EXTENDS Integers, FiniteSets

CONSTANTS Servers,  \* numbers from 1 on
          MaxTerm   \* bound

(*
--mpcal vote {
  \* The messages for each server, in any order. Those for a server that crashes
  \* are lost with it.
  mapping macro Mail {
    read {
      with (m \in $variable) {
        $variable := $variable \ {m};
        yield m;
      };
    }
    write { yield $variable \cup {$value}; }
    crash { $variable[self] := {}; }
  }

  archetype AServer(ref net[_], ref leaders)
    durable variables term = 0, voted = 0;
    variables votes = {};
  {
    serve:
      while (TRUE) {
        either {
          \* Stand for election.
          await term < MaxTerm;
          term := term + 1;
          voted := self;
          votes := {self};
        } or {
          \* Ask for a vote.
          await votes /= {};
          with (s \in Servers \ {self}) {
            net[s] := [from |-> self, term |-> term, asks |-> TRUE];
          };
        } or {
          with (m = net[self]) {
            if (m.term > term) {
              term := m.term;
              voted := 0;
              votes := {};
            };
            if (m.term = term) {
              if (~m.asks) {
                votes := votes \cup {m.from};
              } else if (voted \in {0, m.from}) {
                voted := m.from;
                net[m.from] := [from |-> self, term |-> term, asks |-> FALSE];
              };
            };
          };
        } or {
          await 2 * Cardinality(votes) > Cardinality(Servers);
          leaders := leaders \cup {<<term, self>>};
        };
      };
  }

  variables net = [s \in Servers |-> {}]; leaders = {};

  process (Server \in Servers) == instance AServer(ref net[_], ref leaders)
    mapping net[_] via Mail;
}
*)
-------------------------------------------------------------------------------

\* A term has one leader.
OneLeader == \A a, b \in leaders : a[1] = b[1] => a = b
===============================================================================

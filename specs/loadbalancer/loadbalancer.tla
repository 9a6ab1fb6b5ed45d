---------------------------- MODULE loadbalancer ---------------------------
(***************************************************************************)
(* A load balancer in front of servers that serve files.  A client sends a *)
(* request to the balancer and gets its page from some server.  Links lose *)
(* nothing and may reorder; they are bags of messages, for two equal       *)
(* requests can be under way.  The balancer gives the next request to the  *)
(* server with the fewest open ones, and servers tell it when they are     *)
(* done.                                                                   *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Bags, TLC

CONSTANTS
  Servers,      \* a set of model values
  Clients,      \* a set of strings
  Files,        \* the names of files
  Rounds,       \* how many pages each client asks for
  MaxOpen       \* how many requests a server has to do at once

ASSUME Rounds \in Nat /\ MaxOpen \in Nat \ {0}

Balancer == "balancer"

\* Addresses are of three kinds, so they are tagged with theirs.
BalancerAddr  == <<"lb", Balancer>>
ServerAddr(s) == <<"server", s>>
ClientAddr(c) == <<"client", c>>
Addresses ==
  {BalancerAddr} \cup {ServerAddr(s) : s \in Servers} \cup {ClientAddr(c) : c \in Clients}

\* What is in a file of a server: every server has the same.
Page(f) == [file |-> f, text |-> "page"]

(*
--mpcal LoadBalancer {
  define {
    Least(load) == {s \in DOMAIN load : \A t \in DOMAIN load : load[s] <= load[t]}
    RECURSIVE Sum(_, _)
    Sum(f, S) == IF S = {} THEN 0 ELSE LET x == CHOOSE x \in S : TRUE IN f[x] + Sum(f, S \ {x})
    Pick(load) == CHOOSE s \in Least(load) : TRUE
  }

  mapping macro BagLink {
    read {
      with (m \in BagToSet($variable)) {
        $variable := $variable (-) SetToBag({m});
        yield m;
      };
    }
    write { yield $variable (+) SetToBag({$value}); }
  }

  mapping macro FileSystem {
    read {
      \* A disk may be slow: reading may wait, but need not.
      either { skip; } or { await $variable.text # ""; };
      yield $variable;
    }
    write { assert FALSE; }
  }

  mapping macro Wish {
    read { with (f \in Files) { yield f; }; }
    write { yield $value; }
  }

  archetype ABalancer(ref net[_], servers)
  variables
    load = [s \in servers |-> 0],
    message;
  {
    balance:
      while (TRUE) {
        message := net[BalancerAddr];
      dispatch:
        if (message.kind = "done") {
          load[message.server] := load[message.server] - 1;
        } else {
          with (s = Pick(load)) {
            await load[s] < MaxOpen;
            load[s] := @ + 1;
            net[ServerAddr(s)] := [kind |-> "request", client |-> message.client, file |-> message.file];
          };
        };
      };
  }

  archetype AServer(ref net[_], ref files[_])
  variables request = [kind |-> "none", client |-> "nobody", file |-> ""];
  {
    serve:
      while (TRUE) {
        request := net[ServerAddr(self)];
      answer:
        net[ClientAddr(request.client)] := [kind |-> "page", page |-> files[self, request.file]];
      report:
        net[BalancerAddr] := [kind |-> "done", server |-> self];
      };
  }

  archetype AClient(ref net[_], ref wish, rounds)
  variables wanted = "", got = {};
  {
    browse:
      while (rounds > 0) {
        rounds := rounds - 1;
        wanted := wish;
        net[BalancerAddr] := [kind |-> "request", client |-> self, file |-> wanted];
      view:
        with (m = net[ClientAddr(self)]) {
          assert m.page = Page(wanted);
          got := got \cup {m.page};
        };
      };
  }

  variables
    network = [a \in Addresses |-> EmptyBag],
    disk = [at \in Servers \X Files |-> Page(at[2])];

  fair process (LB = Balancer) == instance ABalancer(ref network[_], Servers)
    mapping network[_] via BagLink;

  fair process (Server \in Servers) == instance AServer(ref network[_], ref disk[_])
    mapping network[_] via BagLink
    mapping disk[_] via FileSystem;

  fair process (Client \in Clients) == instance AClient(ref network[_], "", Rounds)
    mapping network[_] via BagLink
    mapping @2 via Wish;
}
*)
-----------------------------------------------------------------------------

TypeOK ==
  /\ \A s \in Servers : load[s] \in 0..MaxOpen
  /\ \A c \in Clients : got[c] \subseteq {Page(f) : f \in Files}

\* What the balancer believes of a server is what is on its way to it, in its
\* hands, or on its way back.
Open(s) ==
  BagCardinality(network[ServerAddr(s)])
  + (IF pc[s] \in {"answer", "report"} THEN 1 ELSE 0)
  + CopiesIn([kind |-> "done", server |-> s], network[BalancerAddr])
  + (IF pc[Balancer] = "dispatch" /\ message.kind = "done" THEN IF message.server = s THEN 1 ELSE 0 ELSE 0)
LoadIsTrue == \A s \in Servers : load[s] = Open(s)

\* As long as requests come and none is answered the load is even.
Balanced == \A s, t \in Servers : load[s] - load[t] <= Cardinality(Clients)

\* Nothing is answered twice.
OneAnswer == \A c \in Clients : BagCardinality(network[ClientAddr(c)]) <= (IF pc[c] = "view" THEN 1 ELSE 0)
TotalIsBounded == Sum(load, Servers) <= Cardinality(Clients) + Cardinality(Servers)

\* For a configuration with a mistake: the most loaded server gets the next.
Most(loads) == {s \in DOMAIN loads : \A t \in DOMAIN loads : loads[s] >= loads[t]}
Spread == \A s, t \in Servers : load[s] = 0 => load[t] <= 1
=============================================================================

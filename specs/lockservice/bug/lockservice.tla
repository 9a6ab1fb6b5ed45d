---------------------------- MODULE lockservice ----------------------------
(***************************************************************************)
(* The lock service of ../lockservice.tla with a mistake that is easily made: *)
(* the server grants the lock to whoever asks, and looks at its queue only *)
(* when the lock comes back.  With one client everything works.            *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANT NumClients

ASSUME NumClients \in Nat \ {0}

ServerId  == 0
ClientIds == 1..NumClients
NodeSet   == {ServerId} \cup ClientIds

LockMsg   == "lock"
UnlockMsg == "unlock"
GrantMsg  == "grant"

(*
--mpcal LockService {

  \* A link that loses nothing and keeps messages in order: reading takes the
  \* oldest message and waits for one, writing adds one.
  mapping macro ReliableFIFOLink {
    read {
      await Len($variable) > 0;
      with (readMsg = Head($variable)) {
        $variable := Tail($variable);
        yield readMsg;
      };
    }
    write {
      yield Append($variable, $value);
    }
  }

  \* The server answers one message after the other.  q holds the clients that
  \* have asked, in their order; the first of them has the lock.
  archetype AServer(ref network[_])
  variables msg, q = <<>>;
  {
    serverLoop:
      while (TRUE) {
        serverReceive:
          msg := network[self];

        serverRespond:
          if (msg.type = LockMsg) {
            network[msg.from] := GrantMsg;
            q := Append(q, msg.from);
          } else if (msg.type = UnlockMsg) {
            q := Tail(q);
            if (q /= <<>>) {
              network[Head(q)] := GrantMsg;
            };
          };
      };
  }

  \* A client acquires and releases the lock for ever.
  archetype AClient(ref network[_])
  variables reply;
  {
    acquireLock:
      network[ServerId] := [from |-> self, type |-> LockMsg];

    awaitGrant:
      reply := network[self];
      await reply = GrantMsg;

    criticalSection:
      skip;

    releaseLock:
      network[ServerId] := [from |-> self, type |-> UnlockMsg];
      goto acquireLock;
  }

  variables network = [id \in NodeSet |-> <<>>];

  fair process (Server = ServerId) == instance AServer(ref network[_])
    mapping network[_] via ReliableFIFOLink;

  fair process (Client \in ClientIds) == instance AClient(ref network[_])
    mapping network[_] via ReliableFIFOLink;
}
*)

-----------------------------------------------------------------------------
\* What `ashlar translate` makes of the algorithm goes here; `ashlar check`
\* makes it by itself.  It declares network, q, pc and the other variables.

Holds(c) == pc[c] \in {"criticalSection", "releaseLock"}

\* No two clients have the lock at one time.
MutualExclusion == \A a, b \in ClientIds : Holds(a) /\ Holds(b) => a = b

\* A client that has the lock is the one that the server thinks has it.
HolderIsFirst == \A c \in ClientIds : Holds(c) => q /= <<>> /\ Head(q) = c

\* A client has at most one message under way.
NetworkBounded ==
  /\ Len(network[ServerId]) <= 2 * NumClients
  /\ \A c \in ClientIds : Len(network[c]) <= 1

\* Whoever asks for the lock gets it in the end.
EveryRequestIsGranted ==
  \A c \in ClientIds : pc[c] = "awaitGrant" ~> pc[c] = "criticalSection"
=============================================================================

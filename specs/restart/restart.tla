-------------------------------- MODULE restart --------------------------------
(* A server adds up what a client asks for, and crashes. The client asks again *)
(* until it gets an answer, so the server must know, also after a crash, what  *)
(* it has done: the sum and the number of the last request are durable, and    *)
(* change in one step. The request at hand is not. After a crash the server    *)
(* answers for its last request once more, for nobody knows whether it had.    *)
EXTENDS Integers

CONSTANT Requests  \* how many there are

ServerId == 1
ClientId == 2

(*
--mpcal restart {
  \* Messages in any order. Those that a process has not read are lost when it
  \* crashes.
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

  archetype AServer(ref net[_], client)
    durable variables sum = 0, last = 0;
    variables request = 0;
  {
    receive:
      while (TRUE) {
        request := net[self];
    work:
        if (request > last) {
          sum := sum + 1;
          last := request;
        };
    answer:
        net[client] := last;
      };
    recover:
      net[client] := last;
      goto receive;
  }

  archetype AClient(ref net[_], server, n)
    variables done = 0;
  {
    next:
      while (done < n) {
        net[server] := done + 1;
    wait:
        either {
          with (answered = net[self]) {
            if (answered > done) { done := answered; };
          };
        } or {
          net[server] := done + 1;
          goto wait;
        };
      };
  }

  variables net = [p \in {ServerId, ClientId} |-> {}];

  fair process (Server = ServerId) == instance AServer(ref net[_], ClientId)
    mapping net[_] via Mail;
  fair process (Client = ClientId) == instance AClient(ref net[_], ServerId, Requests)
    mapping net[_] via Mail;
}
*)
--------------------------------------------------------------------------------

\* What was answered was done, and nothing twice.
Kept == done <= sum
Once == sum <= done + 1
================================================================================

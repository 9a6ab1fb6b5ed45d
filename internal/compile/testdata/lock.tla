-------------------------------- MODULE lock --------------------------------
EXTENDS Naturals, Sequences, TLC

CONSTANT NumClients

ServerID == 0
ClientSet == 1..NumClients
NodeSet == ClientSet \cup {ServerID}

LockMsg == "lock"
UnlockMsg == "unlock"
GrantMsg == [from |-> ServerID, type |-> "grant"]

(* --mpcal lock {
    define {
        Holders(q) == {q[i] : i \in 1..Len(q)}
    }

    mapping macro ReliableFIFOLink {
        read {
            await Len($variable) > 0;
            with (readMsg = Head($variable)) {
                $variable := Tail($variable);
                yield readMsg;
            };
        }
        write { yield Append($variable, $value); }
    }

    archetype AServer(ref network[_])
        variables msg, q = <<>>;
    {
    serverLoop:
        while (TRUE) {
        serverReceive:
            msg := network[self];
        serverRespond:
            if (msg.type = LockMsg) {
                if (q = <<>>) {
                    network[msg.from] := GrantMsg;
                };
                q := Append(q, msg.from);
            } else if (msg.type = UnlockMsg) {
                q := Tail(q);
                if (q /= <<>>) {
                    network[Head(q)] := GrantMsg;
                };
            };
        };
    }

    archetype AClient(ref network[_], rounds)
        variables hasLock = FALSE, k = 0;
    {
    acquire:
        while (k < rounds) {
            network[ServerID] := [from |-> self, type |-> LockMsg];
        critical:
            with (resp = network[self]) {
                assert resp = GrantMsg;
                hasLock := TRUE;
            };
        release:
            network[ServerID] := [from |-> self, type |-> UnlockMsg];
            hasLock := FALSE;
            k := k + 1;
        };
    }

    variables network = [id \in NodeSet |-> <<>>];

    fair process (Server = ServerID) == instance AServer(ref network[_])
        mapping network[_] via ReliableFIFOLink;
    fair process (Client \in ClientSet) == instance AClient(ref network[_], 3)
        mapping network[_] via ReliableFIFOLink;
} *)
\* BEGIN PLUSCAL TRANSLATION
\* END PLUSCAL TRANSLATION
\* BEGIN TRANSLATION
\* END TRANSLATION

HasLockWhenDone == \A c \in ClientSet : k[c] > 0 => k[c] \in 0..3
=============================================================================

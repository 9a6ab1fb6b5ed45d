// SPDX-License-Identifier: Apache-2.0

package status

// Claims are all claims, in the order of the document.
var Claims = []Claim{
	// From a specification to a running system.
	{
		Room: "Specifications", How: []How{Tested},
		Claim:    "TLA+2, PlusCal in both syntaxes and Modular PlusCal are read",
		Shown:    "all 216 modules of the public corpus parse, resolve and survive printing",
		Commands: []string{"go test ./internal/tla/syntax ./internal/tla/load"},
		Not:      "Proofs are skipped, with the mistakes in them. Some modules that SANY refuses are accepted",
	},
	{
		Room: "Specifications", How: []How{Tested},
		Claim:    "Distinct states and depth are counted exactly",
		Shown:    "71 of the corpus's 72 exhaustive models with recorded counts agree in distinct states, depth and states generated; the last one draws random elements and agrees in its verdict. TwoPhase with 7 and 8 resource managers: 296,448 and 1,745,408 distinct states",
		Commands: []string{"make corpus", "go test ./specs"},
		Not:      "States *generated* can differ from TLC's outside the corpus: disjunctions and quantifiers that stand behind the last assignment ([search.md](decisions/search.md)), composed actions, functions that a LET in an action defines, and choices among equal values in Modular PlusCal",
	},
	{
		Room: "Specifications", How: []How{Measured},
		Claim:    "On models whose states are packed, the checker takes a small part of TLC's processor time",
		Shown:    "the corpus, with the processor time beside what TLC took; the models on which TLC takes over 5 s",
		Commands: []string{"make corpus", "go -C bench run ./check"},
		Not:      "The packing was tuned on this corpus. On models whose states are not packed (bags, functions on sets that vary, sets of sets) the ratio falls to between 1 and 5; `check --native=always --json` says why a model is not packed. Two workers give less than 1.8 times one",
	},
	{
		Room: "Specifications", How: []How{Tested},
		Claim:    "Liveness is decided: weak and strong fairness, `~>`, `[]<>`, refinement with fairness",
		Shown:    "the corpus's models with such properties; random formulas against every short behaviour of tiny graphs",
		Commands: []string{"go test ./internal/check/live ./internal/check", "make corpus"},
		Not:      "Liveness under SYMMETRY or VIEW is refused: NOT CHECKED, exit code 20",
	},
	{
		Room: "Specifications", How: []How{Tested},
		Claim:    "A search does not die of memory, and an interrupted one loses nothing",
		Shown:    "`check --memory`, `--checkpoint` and `--resume`, killed at any moment, with the same counts",
		Commands: []string{"go test ./internal/check/... ./internal/cli/check ./cmd/ashlar"},
	},
	{
		Room: "Specifications", How: []How{Tested},
		Claim:    "Flags do not change what is found",
		Shown:    "every pair of the checker's flags on small models of every verdict: the same counts, trace and exit code, or a refusal with its reason",
		Commands: []string{"go test -run Matrix ./cmd/ashlar"},
	},
	{
		Room: "Specifications", How: []How{Tested},
		Claim:    "The evaluators agree: a tree-walking reference, closures, packed states, compiled code",
		Shown:    "models, random modules, expressions and algorithms",
		Commands: []string{"go test ./internal/model", "ASHLAR_NATIVE=1 go test -run Native ./internal/cli/check ./internal/model"},
		Not:      "They share the parser, the resolver and the lowering; what judges those is listed in docs/decisions",
	},
	{
		Room: "Specifications", How: []How{Tested},
		Claim:    "PlusCal is translated as the standard translator means it",
		Shown:    "the corpus's algorithms have the same counts with our translation in place of theirs; a Modular PlusCal algorithm has the same counts directly and through its translation",
		Commands: []string{"go test ./internal/tla/trans ./internal/model"},
	},
	{
		Room: "Specifications", How: []How{Tested},
		Claim:    "Editors can read it: TLC's messages, a [language server](lang/lsp.md)",
		Commands: []string{"go test ./internal/lsp ./internal/cli/tlc ./cmd/ashlar"},
	},
	{
		Room: "Specifications", How: []How{Tested},
		Claim:    "Package `ashlar` and the command give the same verdicts, counts and lengths of traces",
		Shown:    "six models with and without violations, in the command compiled or not",
		Commands: []string{"go test -run 'CommandSaysTheSame|Verdicts' ./."},
		Not:      "They share the loader and the evaluators, of which other lines speak",
	},
	{
		Room: "Compiled systems", How: []How{Tested},
		Claim:    "Generated Go behaves as the checker says",
		Shown:    "random expressions and algorithms, as generated code and in the evaluator",
		Commands: []string{"go test ./internal/compile"},
	},
	{
		Room: "Compiled systems", How: []How{Tested},
		Claim:    "Mailboxes lose and repeat nothing while their processes live",
		Shown:    "cut connections, in one thread with many seeds and through a proxy on loopback",
		Commands: []string{"go test ./distsys/..."},
		Not:      "A compiled system does not survive the crash of a process: nothing is persistent yet",
	},
	{
		Room: "Compiled systems", How: []How{Tested},
		Claim:    "Running systems are compared with their design",
		Shown:    "traces of four processes, with a client killed, and on four hosts of their own that lose packets",
		Commands: []string{"go test -v ./examples/lockservice", "make demo"},
	},
	{
		Room: "Compiled systems", How: []How{Tested},
		Claim:    "It runs in a deterministic simulator",
		Shown:    "the lock service under crashes, partitions and resets: mutual exclusion at every event, traces accepted",
		Commands: []string{"go test ./sim/...", "make sim"},
	},
	{
		Room: "Compiled systems", How: []How{Checked, Tested},
		Claim:    "Raft's core, primary-backup, a work queue, a load balancer and a cart are checked, compiled and run",
		Commands: []string{"go test ./specs ./examples"},
		Not:      "They are cores driven by tests, not services",
	},
	{
		Room: "Compiled systems", How: []How{Measured},
		Claim:    "A critical section that only counts allocates nothing",
		Commands: []string{"go test -run '^$' -bench . -benchmem ./distsys ./distsys/resource/mailbox"},
	},

	// The store.
	{
		Room: "Store", How: []How{Tested},
		Claim:    "What a loss of power may leave, it survives",
		Shown:    "at every write and sync of many workloads, what the disk may keep (prefixes, subsets, torn and foreign sectors); recovery crashed again to depth 3; each answer explained by one moment not before the last promise",
		Commands: []string{"go test ./internal/evidence/store/explore", "make crash"},
	},
	{
		Room: "Store", How: []How{Checked, Tested},
		Claim:    "The design is specified, and the engine's traces are behaviours of it",
		Shown:    "journal and checkpoints refine a crash-safe map on a disk that tears, reorders and rots, exact counts, broken variants refused",
		Commands: []string{"go test ./specs ./internal/evidence/store/conform"},
		Not:      "Traces carry the order and durability of changes, not their contents",
	},
	{
		Room: "Store", How: []How{Tested},
		Claim:    "Killed processes and power failures under real files lose nothing that was acknowledged as durable",
		Shown:    "beside Pebble, bbolt and Badger on a file system that holds back what was not synced: [powerfail](../bench/powerfail/README.md)",
		Commands: []string{"go test -run Kill ./store", "make powerfail"},
	},
	{
		Room: "Store", How: []How{Tested},
		Claim:    "Answers are the same whatever the options, and linearizable",
		Shown:    "metamorphic tests, state machines against a map, histories of concurrent clients",
		Commands: []string{"go test ./store ./internal/evidence/store/explore"},
	},
	{
		Room: "Store", How: []How{Tested},
		Claim:    "Damage is an error that says where; the rest goes on",
		Shown:    "each kind of page damaged, read, verified, repaired",
		Commands: []string{"go test -run 'Damage|Repair' ./store ./cmd/ashlar"},
	},
	{
		Room: "Store", How: []How{Measured},
		Claim:    "Speed beside RocksDB, Pebble, Badger and bbolt, same work, one memory limit",
		Shown:    "[the figures](../bench/kv/RESULTS.md)",
		Commands: []string{"go -C bench run ./kv -preset smoke"},
		Not:      "A full scan while earlier updates are still being merged is slower than Pebble's (0.65x in one run, 1.3x undisturbed); space and write amplification under hot overwrites are above RocksDB's",
	},

	// Registers.
	{
		Room: "Registers", How: []How{Checked, Tested},
		Claim:    "A register holds one value permanently",
		Shown:    "Paxos, fast quorums and chains as step machines: every interleaving of two clients on one register, counted; random networks, crashes and epochs; histories linearizable",
		Commands: []string{"go test ./internal/worm/paxos ./internal/worm/fast ./internal/worm/chain ./internal/worm/group"},
	},
	{
		Room: "Registers", How: []How{Checked},
		Claim:    "The protocols are specified: registers, chains, reconfiguration, log, atomic commit",
		Shown:    "each a refinement of what it promises, with what breaks it; commit does not block, under fairness; [specs/wor](../specs/wor/README.md)",
		Commands: []string{"go test ./specs"},
	},
	{
		Room: "Registers", How: []How{Tested},
		Claim:    "An acknowledgement is durable on a majority",
		Shown:    "frames, group commit, crashes before every disk operation, rolled-back and empty disks refused",
		Commands: []string{"go test ./internal/worm/wire ./store/wal ./internal/worm/node"},
	},
	{
		Room: "Registers", How: []How{Tested},
		Claim:    "A replicated state machine, a log and transactions stand on registers",
		Shown:    "on the ideal space and on the real one; an append takes two round trips, a sticky proposal one, the commit variants 8, 6, 5, 4, 3 and 2 message delays",
		Commands: []string{"go test ./worm/smr ./worm/log ./worm/tx ./internal/worm/space"},
	},
	{
		Room: "Registers", How: []How{Tested},
		Claim:    "Whole clusters survive",
		Shown:    "simulated with all kinds of faults, 1,800 seeds a run; real processes killed, stopped, cut off and replaced",
		Commands: []string{"go test ./internal/evidence/worm/simulation ./internal/evidence/worm/nemesis", "make sim"},
	},
	{
		Room: "Registers", How: []How{Tested},
		Claim:    "`ashlard` serves: TLS, status page, metrics, drain, the Redis protocol",
		Commands: []string{"go test ./cmd/ashlard/... ./worm/resp"},
		Not:      "Everything is kept in memory as well as on disk. Expiry, scans and users are missing",
	},
	{
		Room: "Registers", How: []How{Measured},
		Claim:    "Speed beside etcd and Redis, same machine, one run",
		Shown:    "[the figures](../bench/worm/RESULTS.md)",
		Commands: []string{"make bench-worm"},
		Not:      "Ten times etcd's writes from 16 clients on and in memory; with one client or durable it is less. The Redis front is slower than Redis",
	},

	// Rules.
	{
		Room: "Rules", How: []How{Tested},
		Claim:    "Programs are checked, with errors that say where and what to write instead",
		Commands: []string{"go test ./internal/dedalus/syntax ./internal/dedalus/lower"},
	},
	{
		Room: "Rules", How: []How{Tested},
		Claim:    "Rewrites are refused where a condition fails, and compared within bounds",
		Shown:    "mutual, functional, monotonic, state-machine and asymmetric decoupling, relays, partitioning with dependencies, partial partitioning: a second package checks the conditions and the rewritten program",
		Commands: []string{"go test ./internal/dedalus/rewrite ./internal/dedalus/certificate", "go test ./internal/dedalus/explore ./internal/dedalus/adversary ./examples/dedalus"},
		Not:      "The conditions are not proved sufficient. The two packages rest on the same conditions; the comparison sees a few inputs and bounded schedules",
	},
	{
		Room: "Rules", How: []How{Tested},
		Claim:    "Known classes of steps that change what a program does are refused",
		Shown:    "a program of each class that was rewritten wrongly before; random programs, each step that is allowed on them, compared within bounds; `rewrite` and `optimize` compare what they made before they print it",
		Commands: []string{"go test ./internal/evidence/dedalus/drawn ./internal/dedalus/trial ./internal/evidence/dedalus/mutants", "make dedalus-fuzz"},
		Not:      "Both sides of a comparison run in one interpreter. With a repair taken out, random programs alone find only some of the classes: index, first ticks, constants of two types. What `assume` says in a program is believed: two-phase commit and multi-Paxos rest on it",
	},
	{
		Room: "Rules", How: []How{Tested},
		Claim:    "Mistakes in rules are found, those of published protocols first",
		Shown:    "[the list](dedalus-mutants.md)",
		Commands: []string{"go test ./internal/evidence/dedalus/mutants"},
	},
	{
		Room: "Rules", How: []How{Tested},
		Claim:    "Rewrites are chosen, and the choice is explained",
		Shown:    "profiles, calibrated costs, a search under a budget of machines, against an exhaustive one on small programs",
		Commands: []string{"go test ./internal/dedalus/cost ./internal/cli/dedalus ./cmd/ashlar"},
		Not:      "Throughput is modelled: the model overstates gains where the original joins much",
	},
	{
		Room: "Rules", How: []How{Tested},
		Claim:    "Generated Go does what the rules say",
		Shown:    "the interpreter and the generated code on the examples and on random programs",
		Commands: []string{"go test ./internal/dedalus/gen"},
	},
	{
		Room: "Rules", How: []How{Tested},
		Claim:    "Programs run on real networks and disks",
		Shown:    "simulated with loss, partitions and torn disks; real processes, killed and started again; [frames](format/dedalus.md)",
		Commands: []string{"go test ./dedalus/rt/... ./examples/dedalus/...", "go test ./internal/dedalus/deploy"},
		Not:      "State is not collected: memory grows with the log",
	},
	{
		Room: "Rules", How: []How{Measured},
		Claim:    "What a command costs",
		Shown:    "voting beside Go written by hand and Hydro's runtime, two-phase commit and Paxos as written and as rewritten: [the figures](../bench/dedalus/RESULTS.md)",
		Commands: []string{"make bench-dedalus"},
		Not:      "Figures for many machines are modelled from one machine's processor time",
	},

	// Proofs.
	{
		Room: "Proofs", How: []How{Proved},
		Claim:    "Six small storage systems and a mail store are atomic, durable and crash-safe, free of panics and data races, for any threads, any interleaving, any number of crashes",
		Shown:    "theorems over a plain semantics, without axioms: [proofs/top](../proofs/top), [how to read them](proofs.md)",
		Commands: []string{"make proofs"},
		Not:      "That anything finishes. What is trusted is listed in [proofs.md](proofs.md)",
	},
	{
		Room: "Proofs", How: []How{Proved},
		Claim:    "The protocol of write-once registers: one value, for ever, until it is trimmed; reads and writes are linearizable; for any servers, clients, ballots and quorums that meet, lost and late messages, crashes; a decided value is that of every later epoch, whoever changes the servers; one value on a chain",
		Shown:    "transition systems and theorems in Coq, without axioms; runs that go wrong without each rule: [the protocol](proofs.md#the-protocol-of-the-registers)",
		Commands: []string{"make proofs", "go test ./proofs"},
		Not:      "A proof of the protocol, not of the Go that ships, which is tested. That reads are linearizable across a change of epochs or on a chain, that chains keep their value across epochs. That anything finishes",
	},
	{
		Room: "Proofs", How: []How{Proved},
		Claim:    "On write-once registers alone: WormTX commits at all participants or at none and no participant blocks another; servers of WormPaxos apply one sequence and its reads are linearizable; appends of WormLog stay, and are in the order of real time",
		Shown:    "theorems in Coq without axioms, about the protocols on the interface of the registers, which the registers' protocol is proved to keep to: [the layers](proofs.md#the-layers-above-the-registers)",
		Commands: []string{"make proofs", "go test ./proofs"},
		Not:      "Proofs of the protocols, not of worm/tx, worm/smr and worm/log, which are tested. That anything finishes, but for the way that a blocked participant has. Locks and data of transactions, snapshots",
	},
	{
		Room: "Proofs", How: []How{Proved},
		Claim:    "Dividing a Dedalus component by columns shows clients nothing new, where the checker that is extracted from Coq accepts both programs and the certificate",
		Shown:    "semantics, refinement, checker and theorem in Coq, without axioms; the semantics beside the interpreter, and the checker beside the rewriter, on examples and random programs: [rewrites of rules](proofs.md#rewrites-of-rules)",
		Commands: []string{"make proofs certifier", "go test ./proofs ./internal/evidence/dedalus/gallina"},
		Not:      "One rewrite, safety only. Keys that are functions, dependencies, merging columns, crashes of pieces; `ashlar dedalus certify` calls that checker only with `--proved`",
	},
	{
		Room: "Proofs", How: []How{Proved},
		Claim:    "A Dedalus component of which two sides share no relation may be taken apart, where the network redirects messages and a checker in Coq accepts the separation",
		Shown:    "semantics, refinement, checker and theorem in Coq, without axioms; the extracted checker beside the rewriter on examples and random programs: [rewrites of rules](proofs.md#rewrites-of-rules)",
		Commands: []string{"make proofs certifier", "go test ./proofs ./internal/evidence/dedalus/gallina"},
		Not:      "Safety only, for programs that idle ticks do not change. That the rules which the rewriter writes redirect so; that one side passes on to the other what clients and timers tell it; crashes of the two sides",
	},
	{
		Room: "Proofs", How: []How{Proved},
		Claim:    "Rules of a Dedalus component that send, each of one fact, may move to an instance of their own that is told what they read, where the checker that is extracted from Coq accepts both programs and the certificate",
		Shown:    "semantics, refinement, checker and theorem in Coq, without axioms; the extracted checker beside the rewriter on examples and random programs: [rewrites of rules](proofs.md#rewrites-of-rules)",
		Commands: []string{"make proofs certifier", "go test ./proofs ./internal/evidence/dedalus/gallina"},
		Not:      "Safety only. Rules that move together with what they derive; relations that are sent to the new instance directly; `ashlar dedalus certify` calls that checker only with `--proved`",
	},
	{
		Room: "Proofs", How: []How{Tested},
		Claim:    "The specifications of a register, of atomic commit and of a replicated state machine in Coq are the modules that are checked",
		Shown:    "small instances have as many states, computed in Coq, as the checker finds; each history of the proved register is a run of the module",
		Commands: []string{"make proofs", "go test -run Counts ./proofs"},
		Not:      "The layers themselves are not compared with the modules that describe them (WormLog, WormPaxos, WormTx), only their specifications; and that of the shared log is its invariants",
	},
	{
		Room: "Proofs", How: []How{Tested},
		Claim:    "The proofs are of the code that runs",
		Shown:    "`proofs/gen` is translated from the packages and compared",
		Commands: []string{"go test ./internal/goose"},
		Not:      "Not so for the protocol of the registers and the layers above, which no Go is compared with",
	},
	{
		Room: "Proofs", How: []How{Tested},
		Claim:    "The proofs notice bugs",
		Shown:    "named bugs in the Go code, and rules taken out of the protocols of the registers and the layers above, each stopping its proof at a named lemma",
		Commands: []string{"make proof-mutants"},
	},
	{
		Room: "Proofs", How: []How{Tested},
		Claim:    "Translator and semantics agree with Go",
		Shown:    "a corpus and random programs, sequential and with goroutines, compiled and in an interpreter that is proved sound",
		Commands: []string{"go test ./internal/goose/..."},
	},
	{
		Room: "Proofs", How: []How{Tested},
		Claim:    "The packages survive what the theorems say",
		Shown:    "a crash at every device operation, also during recovery, and kill -9",
		Commands: []string{"go test ./examples/... ./mail/..."},
	},

	// Strangers.
	{
		Room: "Strangers", How: []How{Tested},
		Claim:    "A stranger at a port of `ashlard` ends nothing, mutes nothing, and costs bounded memory",
		Shown:    "raw sockets, with frames built from [the format's page](format/worm.md) and not by our code, against real processes: false claims, false peers, unfinished frames, pipelines, idle connections, a restored backup, a full memory",
		Commands: []string{"go test -run 'Stranger|Unfinished|Flood|Idle|Restore|WrongProtocols|FullMemory|EverybodyReplaced' ./cmd/ashlard/daemon"},
		Not:      "A client that a cluster admits is trusted: it can forge a change of members, seal or trim ([whom a cluster trusts](worm.md))",
	},
	{
		Room: "Strangers", How: []How{Tested},
		Claim:    "A stranger cannot shut others out of `mailboat`; a full disk or a want of descriptors is an answer and not the end",
		Shown:    "slow bytes on all connections, a file system of 6 MiB, `ulimit -n`: [the limits](mail.md)",
		Commands: []string{"go test -run 'Slow|Limits|Full|Few|Bounded' ./cmd/mailboat"},
		Not:      "POP3 reads a mailbox as a whole, within a budget. An attacker with more addresses than places holds all places for a session's time",
	},
	{
		Room: "Strangers", How: []How{Tested},
		Claim:    "The ports of compiled systems are bounded in connections, memory and time",
		Shown:    "raw sockets, with bytes from [the format's page](format/link.md)",
		Commands: []string{"go test -run 'Stranger|Unfinished|Slow|OneHost|Hosts|Late|Proves|Impostors|Said' ./distsys/resource/mailbox ./link"},
		Not:      "A host alone may take every place that no other host wants",
	},
	{
		Room: "Strangers", How: []How{Tested},
		Claim:    "ENABLED and fairness of instantiated modules are those of brute force",
		Shown:    "drawn families of two and three modules, whose meaning the generator knows as Go functions; the lowering is not used",
		Commands: []string{"go test -run OfInstances ./internal/model"},
		Not:      "Parser and resolver are shared",
	},
	{
		Room: "Strangers", How: []How{Tested},
		Claim:    "The store refuses nothing that waiting or a smaller cache could give",
		Shown:    "small records, range deletes, many iterators, eight clients, in a process whose memory the kernel counts: at most Memory and a tenth",
		Commands: []string{"go test -run UnderPressure ./store"},
		Not:      "Fences and filters are not paged: data of many hundreds of times Memory, and recovery of a journal that was written with more, exceed the bound",
	},
	{
		Room: "Strangers", How: []How{Tested},
		Claim:    "A signal ends every command of `ashlar`, `ashlard` and `mailboat`: after 0.9 s at the latest, a server after its grace",
		Shown:    "each command that the program knows of itself, blocked on output that nobody reads; endless searches and evaluations; clients of a cluster that does not answer",
		Commands: []string{"go test -run 'Ends?$|CommandsEnd' ./cmd/ashlar ./internal/cli/ending"},
		Not:      "The tests wait longer than that, for machines that are slow: they tell an end from none",
	},
	{
		Room: "Strangers", How: []How{Tested},
		Claim:    "Multi-Paxos goes on under overload and after its leader is killed",
		Shown:    "simulated, with 2,000 commands under way on slow machines; real processes, killed",
		Commands: []string{"go test -run 'Overload|LeaderKilled' ./examples/dedalus/compiled"},
		Not:      "Its log is not trimmed: memory and recovery grow with it",
	},
	{
		Room: "Strangers", How: []How{Tested},
		Claim:    "All of these, longer",
		Commands: []string{"make attack"},
	},

	// The house.
	{
		Room: "The house", How: []How{Tested},
		Claim:    "The suites notice named mistakes in the code",
		Shown:    "wrong edits of the engine, the front end, the checker, the compiler and the runtime, each of which a test must notice",
		Commands: []string{"make mutants"},
	},
	{
		Room: "The house", How: []How{Tested},
		Claim:    "The [tutorials](learn) do what they say",
		Commands: []string{"go test ./docs/learn"},
	},
}

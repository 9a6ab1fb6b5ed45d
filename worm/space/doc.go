// Package space is the address space of write-once registers on servers: wor.Space
// over a wor.Transport.
//
// In: the genesis of a cluster, a transport, a clock and a source of chance. Out:
// a Space, which is wor.Space and has besides what an operator does:
// reconfiguration of a partition, replacement of a server, moving a closed
// segment.
//
// Promised: what wor.Space says. Operations of one register are linearizable,
// whatever the network does and whichever minority of servers fails. What a
// client may not forget it keeps in bounded memory, and forgets only so that it
// refuses (ErrToken) what it cannot check any more. A configuration is used after
// the register that decides it was read, or a majority of its members say that
// they have begun it; what servers hint is never believed by itself.
//
// Refused: goroutines, time other than for waiting, and unbounded anything: there
// are limits on operations, bytes, caches, and each has a name in Options.
//
// How it is built. A call runs one wor.Machine on the servers of a partition,
// sends again what was not answered, and starts anew in the next epoch. An
// operation is an op with its bound of time and its admission, and runs one call
// after the other: first the segment's metadata, unless they are known, then what
// it is about. A proposer captures and writes until a register is decided; a
// reader reads and completes. An errand is what several operations wait for at
// once: the metadata of a segment, the end of a trim. A learner finds the next
// configuration of a partition.
//
// Sources: WormSpace (SoCC 2019), sections 2 and 3; Vertical Paxos (PODC 2009)
// for the change of configurations; docs/decisions/worm.md.
package space

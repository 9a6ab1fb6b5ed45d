// SPDX-License-Identifier: Apache-2.0

// Package space is the address space of write-once registers on servers:
// wor.Space over a wor.Transport.
//
// In: the genesis of a cluster, a transport, a clock and a source of
// randomness. Out: a Space, which implements wor.Space and in addition the
// operators' actions: reconfiguring a partition, replacing a server, moving a
// closed segment.
//
// Promised: the contract of wor.Space. Operations of one register are
// linearizable, whatever the network does and whichever minority of servers
// fails. State that a client must not forget is kept in bounded memory; when it
// is dropped, the client refuses (ErrToken) what it can no longer check. A
// configuration is used only after the register that decides it was read, or a
// majority of its members report that they have begun it; a hint from one
// server is never believed by itself.
//
// Refused: goroutines, time other than for waiting, and anything unbounded:
// there are limits on operations, bytes and caches, and each has a name in
// Options.
//
// Structure. A call runs one wor.Machine on the servers of a partition, repeats
// unanswered requests, and starts anew in the next epoch. An operation is an
// op, with its time limit and its admission, and runs one call after the other:
// first for the segment's metadata, unless they are known, then for its own
// task. A proposer captures and writes until a register is decided; a reader
// reads and completes. An errand is work for which several operations may wait
// at once: finding the metadata of a segment, finishing a trim. A learner finds
// the next configuration of a partition.
//
// Sources: WormSpace (SoCC 2019), sections 2 and 3; Vertical Paxos (PODC 2009)
// for the change of configurations; docs/decisions/worm.md.
package space

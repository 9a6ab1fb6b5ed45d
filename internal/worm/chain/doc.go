// SPDX-License-Identifier: Apache-2.0

// Package chain keeps write-once registers on a chain of servers, of which the
// first decides and the last has what is decided. The client drives it: it goes to
// a server only when the one before has acknowledged.
//
// In: requests of the register kinds for a Replica, answers of servers for the
// machines of a Client; where a Replica stands in the chain. Out: replies and log
// records; requests, and what an operation came to.
//
// The rules:
//
//   - The head takes the first value that comes at a ballot it has not promised
//     away, and never another. The others copy what the one before has. So each
//     server holds what the head holds, or nothing (C0), and a value at the tail
//     is at all of them (C1): it is decided.
//   - A capture concerns the head alone.
//   - "Written" is the tail's to say. "Unwritten" takes all servers: while the
//     tail is cut off, the others may be sealed and the next epoch have decided.
//   - A value that is at some and not at all is driven down the chain by the
//     client that finds it: a reader, or a writer that came second. It cannot be outbid.
//   - A tombstone goes down the chain as a value does, so that "trimmed" is the
//     tail's to say as well.
//
// Promised: with f+1 servers no decided value is lost while one is left, provided
// that a server which lost its disk never answers as a member again. Writes wait
// while any server is away, until the members are changed.
//
// Not promised: an old tail that was not sealed may show a value to a client that
// does not know the next epoch, in which the segment has been trimmed.
//
// Refused: what the group checks (epochs, limits); time and storage.
//
// Sources: WormSpace (SoCC 2019), section 3.1, "Alternative WOR implementations";
// van Renesse and Schneider, Chain Replication (OSDI 2004); the client-driven form
// is CORFU's (NSDI 2012).
package chain

// SPDX-License-Identifier: Apache-2.0

// Package chain stores write-once registers on a chain of servers. The first server
// decides; the last one has the decided values. The client drives the chain: it
// sends to a server only after the server before has acknowledged.
//
// In: requests of the register kinds, and the Replica's place in the chain; for the
// machines of a Client, the answers of servers. Out: a Replica's replies and log
// records; a machine's requests and its result.
//
// The rules:
//
//   - The head accepts the first value whose ballot is not below its promise, and
//     never another value. The other servers copy the server before them. So each
//     server holds the head's value or none (C0), and a value at the tail is at all
//     servers (C1): it is decided.
//   - A capture asks only the head.
//   - The tail alone can report "written". All servers are needed to report
//     "unwritten": while the tail is cut off, the others may be sealed, and the
//     next epoch may have decided a value.
//   - If a value is at some servers but not at all, the client that finds it drives
//     it down the chain: a reader, or a writer that came second. Such a value
//     cannot be outbid.
//   - A tombstone goes down the chain like a value, so the tail alone can report
//     "trimmed" too.
//
// Promised: with f+1 servers, no decided value is lost while one server is left,
// provided that a server which lost its disk never answers as a member again.
// Writes wait while any server is down, until the members are changed.
//
// Not promised: an old tail that was not sealed may show a value to a client that
// does not know the next epoch, in which the segment has been trimmed.
//
// Refused: the checks of package group (epochs, limits); time and storage.
//
// Sources: WormSpace (SoCC 2019), section 3.1, "Alternative WOR implementations";
// van Renesse and Schneider, Chain Replication (OSDI 2004); the client-driven form
// is CORFU's (NSDI 2012).
package chain

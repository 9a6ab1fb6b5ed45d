// SPDX-License-Identifier: Apache-2.0

// Package node is the shell of WormSpace: it connects the step machines of a
// server to connections and a disk, and carries a client's requests to servers.
//
// In: an env.Env and, for a Server, env.Tasks; the cluster's wor.Genesis; the
// directory of a log that Format made. Out: a Server, which answers
// wor.Requests about the registers of its partitions, notifies listeners of
// what it accepted, and offers services; a Transport, which is a client's
// wor.Transport.
//
// Promised by a Server: a reply or a note leaves only when everything that it
// may show is durable: every record of this request and of all before it (rule
// b of docs/decisions/worm.md). One sync of the disk serves everything that
// came while the one before was running; nothing waits for a clock. It answers
// only requests for the disk that it has (rule k), and not at all while its
// disk may be older than what others have seen of it. No input ends it or takes
// more memory than its limits name; a client that exceeds a limit gets the
// limit's name.
//
// Promised by a Transport: one connection per server, shared by all calls;
// every call is answered exactly once; requests made in one turn of its
// env.Serial leave together. A loss of notes shows as a gap.
//
// Refused: the meaning of requests (package group), bytes of frames (package
// wire), files (package wal).
package node

// Package node is the shell of WormSpace: what joins the step machines of a
// server with connections and a disk, and what carries a client's requests to
// servers.
//
// In: an env.Env and, for a Server, env.Tasks; the cluster's wor.Genesis; the
// directory of a log that Format made. Out: a Server, which answers wor.Requests
// about the registers of its partitions, tells listeners what it accepted, and
// offers services; a Transport, which is the wor.Transport of whoever asks.
//
// Promised by a Server: a reply leaves when all that it may show is durable:
// every record of this request and of all before it (rule b of
// docs/decisions/worm.md), and so do notes. One sync of the disk serves whatever
// came while the one before was running; nothing waits for a clock. It answers
// as the disk that it is asked for and as no other (rule k), and not at all
// while it may be older than what others have seen of it. Nothing from outside
// ends it or takes more memory than its limits name; who exceeds one is told
// which.
//
// Promised by a Transport: one connection per server, shared by all calls;
// every call is answered exactly once; requests that are made in one turn of its
// env.Serial leave together. A loss of notes shows as a gap.
//
// Refused: what requests mean (package group), bytes of frames (package wire),
// files (package wal).
package node

// SPDX-License-Identifier: Apache-2.0

// Package host runs one instance of a compiled program: it connects a
// rt.Component, which does no I/O, to connections, a clock and a disk.
//
// In: an env.Env and env.Tasks; the program and the identity of the instance;
// the addresses of the other instances; the directory of a log that Format
// made, for durable relations. Out: a Host, which listens for other instances
// and for clients, ticks as long as something arrives, and sends the output of
// the ticks.
//
// # Ticks
//
// A tick takes everything that has arrived since the last one, up to a limit and
// up to what it can process within tickWithin, because a busy program can send
// only between two ticks. Meanwhile the host collects input for the next tick.
// The changes of a tick are on the disk before any message of the next tick is
// sent: one sync serves everything that arrived together, and nothing waits for a
// clock. The messages of a tick are sent before that sync, as the language
// defines it. The host may run ticks without arrivals before the sync; their
// messages wait for it.
//
// # Sending
//
// No message is lost between one life of a node and one life of another: it is
// kept until the other side acknowledges that a tick has taken it and that the
// tick's durable effects are on the disk, and is sent again over another
// connection when one breaks. It arrives once per life of the receiver. When a
// node restarts, it receives everything unacknowledged again, and then
// everything that holds now and is sent while it holds (rt.Component.Resend).
// That is repeated from time to time for all nodes.
//
// For each node at most QueueMax bytes are kept. A message without room is
// dropped: a node that takes nothing for that long is treated as failed, and no
// other node waits for it. When it takes messages again, it receives everything
// that holds, like a restarted node. Before that happens, inputs from clients
// wait: while a connected node has more than half of QueueMax pending, no tick
// takes any. Messages between instances never wait for each other, so that full
// queues cannot deadlock in a cycle.
//
// # Pieces
//
// A rewrite may have divided a logical node into pieces, each of which is an
// instance. They lose their memory together or not at all: a piece that
// restarts begins the next incarnation of the logical node, whose number it
// stores on the disk; the other pieces, as soon as they learn of it, end with a
// NewerError and must be opened again with that incarnation. No message passes
// between pieces of different incarnations. A piece that carries nothing from
// tick to tick begins no incarnation. If a message to another piece is dropped
// because QueueMax is exceeded, that ends the incarnation, too.
//
// # Clients
//
// A client is a node outside the deployment that has given its name, which must
// not be an instance's. It sends inputs to the instance to which it is
// connected, and receives outputs from that instance; outputs for a client that
// has left, or has not connected yet, are kept for a while. With a key,
// instances prove to each other that they have it; clients have none.
// Connections may use TLS, which env.Network provides.
//
// # Untrusted peers
//
// Any host that can connect can send anything. Every resource that one such
// peer, or all of them together, can occupy in the Host has a limit in Options:
// connections, clients, inputs that no tick has taken, incomplete frames,
// outputs that are not read. If there are too many connections, the host with
// most of them loses one (link.Door); a frame must be complete within a time
// limit; a batch is abandoned at the first invalid message. Clients do not prove
// their names: ClientsMax of them can keep others out, so hosts that can connect
// must be trusted to that extent, or be authenticated by TLS certificates.
//
// Promised: no input ends a Host or takes more memory than its limits name; a
// peer that breaks a rule receives an error that names the rule, and loses the
// connection. A Host is deterministic: the same calls of its env have the same
// results.
//
// Refused: frames and handshakes (package link), messages (package wire), files
// (store/wal), processes and their flags (cmd/dedalusd).
package host

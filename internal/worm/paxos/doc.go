// SPDX-License-Identifier: Apache-2.0

// Package paxos stores each register on 2f+1 servers, of which f may fail: one
// single-decree Paxos per register.
//
// In: requests (Acceptor, on a server) and replies (Client, in a client). Out:
// replies and records for the log (Acceptor); requests and an outcome (the
// machines that Client makes).
//
// Promised: as long as each reply waits for the records that its request and
// all earlier ones appended, at most one value of a register is ever chosen,
// that is, accepted at one ballot by a majority; once chosen, it stays chosen
// until the segment is trimmed. A register is reported as unwritten only if a
// majority had accepted nothing when it was asked. An answer "trimmed" leaves
// tombstones on a majority, so that no later read sees less. Assumed: no client
// writes two values at one ballot; at ballot zero that is up to the
// application.
//
// Refused: epochs, sealing, time, storage, listening. Package group is in front
// of an Acceptor; a machine waits until its owner calls Expire.
//
// Sources: WormSpace (SoCC 2019), section 3; docs/decisions/worm.md.
package paxos

// SPDX-License-Identifier: Apache-2.0

// Package sim simulates the world behind env: one thread, one seed, virtual
// time. Any code that takes its clock, randomness, network and disk from env
// runs in it unchanged, on as many nodes as a test wants, under faults.
//
// In: Options with a seed and the rates of faults, and for each node a Boot
// function that gets an env.Env and starts step machines. Out: a World that
// runs one event after the other; a Failure with the moment and the cause; a
// hash of everything that happened; counts of every fault that struck and every
// mark that was passed.
//
// Promised: a run with the same program, options and seed is the same bit for
// bit. Each kind of fault draws from a stream of its own, so that disabling one
// does not change what the others draw. What the contracts of env promise holds
// at all rates; what they leave open happens sooner or later. Invariants are
// evaluated after every event.
//
//   - Time: an event takes no time except for its disk operations: the node is
//     busy until they are done and sees its clock advanced by as much. With
//     Options.Hardware it takes the processor time of the node's code, measured
//     or counted, and links have a bandwidth; runs are then the same bit for
//     bit only if the time is counted.
//   - Network: streams are in order and whole until they break; they are late,
//     cut into pieces, reset at any byte, left half open. Packets are lost,
//     duplicated and reordered. Links are clogged and partitioned, in both
//     directions or in one.
//   - Disk: a Disk keeps the durable state apart from later writes, sector by
//     sector and name by name; a crash chooses between them. Synced sectors
//     rot, are lost or misdirected; a sync fails and drops what it should have
//     written; the disk is full, slow or returns errors.
//   - Nodes: they crash between two events or within a disk operation, with
//     the machine or without it, pause, and start again with what their disk
//     kept.
//
// Refused: goroutines. A node is what its Boot set up, and only the loop of the
// World calls it. The simulator ends a crashed node's running code by a panic
// from which that code must not recover.
//
// Sources: FoundationDB's and TigerBeetle's simulators for the idea; the disk
// is the storage system of VeriBetrKV (OSDI 2020), section 3.1.1, made worse.
package sim

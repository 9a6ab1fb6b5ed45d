// Package sim is the world behind env as a simulation: one thread, one seed,
// virtual time. Whatever takes its clock, chance, network and disk from env
// runs in it unchanged, in as many nodes as a test wants, among faults.
//
// In: Options with a seed and the rates of faults, and for each node a Boot
// function that is given an env.Env and starts step machines. Out: a World
// that runs one event after the other; a Failure with the moment and the
// cause; a hash of everything that happened; counts of every fault that
// struck and every mark that was passed.
//
// Promised: the same program, options and seed do the same bit for bit. Each
// kind of fault draws from a stream of its own, so that turning one off does
// not shift what the others draw. What the contracts of env promise holds
// whatever the rates; what they leave open happens sooner or later. An
// invariant is evaluated after every event.
//
//   - Time: an event takes none, except for what its disk operations take: the
//     node is busy until they are done and sees its clock so far ahead.
//   - Network: streams are in order and whole until they break; they are late,
//     cut into pieces, reset at any byte, left half open. Packets are lost,
//     doubled and overtake each other. Links are clogged and partitioned, in
//     both directions or in one.
//   - Disk: a Disk keeps what is durable apart from what was written since,
//     sector by sector and name by name; a crash chooses. Synced sectors rot,
//     are lost or go elsewhere, a sync fails and drops what it should have
//     written, the disk is full, slow or answers with an error.
//   - Nodes: they crash between two events or within a disk operation, with
//     the machine or without it, stand still, and start again with what their
//     disk kept.
//
// Refused: goroutines. A node is what its Boot set up, and is called from the
// loop of the World alone. Code that is given up in a crash is left by a panic
// that it must not recover from.
//
// Sources: FoundationDB's and TigerBeetle's simulators for the idea; the disk
// is the storage system of VeriBetrKV (OSDI 2020), section 3.1.1, made worse.
package sim

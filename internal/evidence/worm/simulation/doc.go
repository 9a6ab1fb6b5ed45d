// SPDX-License-Identifier: Apache-2.0

// Package simulation runs whole clusters of WormSpace in the simulated world:
// servers on disks, clients over connections, operators that change the members,
// and all faults that package sim has.
//
// In: nothing; it is tests alone. Out: a seed that fails, or marks for all that
// was come across.
//
// Checked while it runs, by a ghost that sees what every client was answered:
// of each register at most one value is ever chosen, in all epochs; what is
// acknowledged was chosen; no server takes back a promise, an acceptance, a
// tombstone or a seal; a configuration is decided by one, after a majority was
// sealed, with all that was chosen. Checked at the end, after a loss of power of
// all servers: the histories of registers, logs and keys are linearizable, and
// all that was begun has ended.
//
// Refused: unit tests. What a package promises by itself is tested there.
package simulation

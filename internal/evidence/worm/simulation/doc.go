// SPDX-License-Identifier: Apache-2.0

// Package simulation runs whole clusters of WormSpace in the simulated world:
// servers on disks, clients over connections, operators that change the members,
// and all faults that package sim has.
//
// In: nothing; it has only tests. Out: a seed that fails, or marks for
// everything that occurred.
//
// A ghost that sees all results of clients checks during the run: at most one
// value of each register is ever chosen, in all epochs; every acknowledged value
// was chosen; no server retracts a promise, an acceptance, a tombstone or a
// seal; a configuration is decided by one, after a majority was sealed, with all
// that was chosen. Checked at the end, after a loss of power of all servers: the
// histories of registers, logs and keys are linearizable, and all that was begun
// has ended.
//
// Refused: unit tests. What a package promises by itself is tested there.
package simulation

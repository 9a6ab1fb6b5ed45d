// SPDX-License-Identifier: Apache-2.0

// Package explore searches for a power failure that a store does not survive.
// It runs a workload on a Disk that remembers which changes are not durable
// yet, stops at every change of the disk, makes every state that a loss of
// power may leave there, opens the store on it, and compares the contents with
// the history of the workload.
//
// In: a Subject (a way to open a store), and Options with a seed. Out: a Report
// with counts of everything that was tried and a hash of all outcomes, and a
// Failure with the operations, the moment, what the disk kept, what was found
// and what was expected, and the words that replay it.
//
// Promised: one seed does the same bit for bit. The states are those of the
// table at Class; the order of what reaches the disk is free, in sectors of
// 512 bytes; sectors in flight may be anything. A state whose durable bytes
// were explored before is counted and not opened again. The oracle is linear
// in the history: every value says which operation wrote it, so that each key
// that was recovered confines the moment whose state this can be; some moment
// between the last promise of durability and the last operation must suit all
// keys at once. What was recovered is gone on with and crashed again.
//
// Beyond crashes: reads that return damaged, stale or foreign bytes or fail,
// syncs and writes that fail, and a disk that is full. Then a store may answer
// with an error that says so, and never with what is wrong.
//
// Refused: concurrency. The subject works in its caller; what is tested here is
// what is on the disk, at any moment.
//
// Sources: the storage system of VeriBetrKV (OSDI 2020, section 3.1.1);
// CrashMonkey and ACE (OSDI 2018) for bounded exhaustion; ALICE (OSDI 2014)
// for orders within one epoch; fsyncgate for what a failed sync leaves.
package explore

// SPDX-License-Identifier: Apache-2.0

// Package store is a crash-safe key-value store: a size-tiered Bε-tree with a
// journal, in one directory of an env.Disk.
//
// In: changes of keys, one by one, in atomic batches, or in transactions that read. Out: values,
// ranges of keys in both directions, snapshots. Promised: after a crash the store is in the state of
// some moment not before the last successful Sync, as a whole; a read returns what was written or an
// error that names the affected keys; transactions are strictly serializable; all memory, for any
// use, is within Options.Memory. Refused: use by more than one process at a time, and changes after
// a failed write.
//
// How it works. A change goes to the active memtable, whose arena is also the
// image of a journal segment. A full memtable becomes a branch: a sorted,
// immutable sequence of blocks. The trunk, a tree in memory, refers to branches
// by ranges of keys; flushes move references down, compactions merge what a
// partition at the bottom has collected. A checkpoint writes what changed in
// the table of branches and trunk nodes, and then one of the two superblocks.
// There are three versions of the store at any time, as in VeriBetrKV (OSDI
// 2020, section 3.3): the persistent one, to which the newest durable
// superblock leads; a frozen one while a checkpoint writes it; and the
// ephemeral one in memory. Nothing that one of the last two superblocks refers
// to is overwritten. Recovery writes nothing.
//
// Damage that looks like a crash. The newest superblock, and the frames of the last
// Sync, look when they rot as if their write had been cut short. What proves
// their loss is the next frame of the journal, or the witness, a page that says how
// far the store was durable; then Open returns an error that is ErrCorrupt. The
// background writes the witness a quarter of a second after the last Sync, and Wait
// and Close write it. It has no sync of its own: it is there if the process ended
// after that, and after a loss of power if the disk had written it. Without
// either proof, the store opens in the state before (specs/store has the trace).
//
// A DB may be used by any number of goroutines.
package store

// SPDX-License-Identifier: Apache-2.0

// Package tx is WormTX: atomic commit on write-once registers, and a
// transactional key-value store on top of it.
//
// In: a wor.Space, a wor.Messenger, an env.Env; requests of clients. Out: an
// Engine that commits transactions of resource managers (RMs) by any of the six
// protocols of the paper, and a KV, a server's part in a key-value store whose
// partitions are such RMs; a Client that finds the owners of the partitions.
//
// Each RM votes in registers of its own. The decision is the conjunction of the
// votes: it is a function of decided registers and needs no record of its own,
// and any process that can read the registers knows it. A process that waits
// for the vote of an RM that does not vote decides that vote as NO, through a
// capture, so that the register shows which of the two came first. The YES vote
// carries what the RM needs to continue after its owner dies: its redo record.
// Another process can then take the RM over: it allocates the next segment of
// the RM's chain, which makes it the owner, decides all registers of the older
// segments, and finishes the transactions that it finds.
//
// Promised: an outcome is the same for every process and never changes; a
// commit means that all RMs have voted YES; without failures and conflicts,
// every transaction commits; progress as long as a majority of the registers
// and one process live. KV: transactions are strictly serializable and take
// effect once, however often a client asks (see SessionsMax).
//
// Refused: a decision by the transaction manager alone; waiting for a lock
// while holding another (a transaction that meets a lock aborts, and starts
// again later).
//
// Everything of one process belongs to one env.Serial, that of the Space. There
// is no goroutine and no lock.
//
// Sources: WormSpace (SoCC 2019), section 4.3 and figure 5; Gray and Lamport,
// Consensus on Transaction Commit, for the order of the protocols; Agrawal,
// Carey and Livny 1987 for Immediate-Restart.
package tx

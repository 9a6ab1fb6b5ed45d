// SPDX-License-Identifier: Apache-2.0

// Package asynclog is a write-ahead log on a disk whose writes are not durable
// before a barrier, and may then be lost in any combination: transactions that
// change several blocks at once, and are durable when they return.
//
// Block 0 is the header: the number of entries in the log and, for each, the
// address it is for. Blocks 1 to MaxUpdates are the entries. The rest is data,
// and keeps its addresses, as in package wal.
//
// A transaction takes effect when the header is durable that announces its
// entries. When Commit returns, the header has been cleared, but that need not
// be durable: after a crash the entries are then copied to their places once
// more. It must be so before the next transaction writes to the log, and that
// transaction sees to it.
//
// The package is proved: proofs/top/asynclog.v has the theorem, and
// specs/asyncwal a model of the algorithm, which shows what each barrier is for.
package asynclog

import (
	"sync"

	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/machine"
)

// MaxUpdates is how many blocks a transaction may change: with their number
// their addresses fill one block.
const MaxUpdates = 511

// DataStart is the first address that is not the log's.
const DataStart = 512

// Log is a disk whose blocks from DataStart on change by transactions. It may
// be used by many goroutines.
type Log struct {
	mu sync.Mutex
	d  *disk.Async
}

// Open gives the log on a disk, of which nobody else may use any block. The
// disk must have at least DataStart blocks; a disk of zeros is an empty log.
func Open(d *disk.Async) *Log {
	install(d)
	return &Log{d: d}
}

// Read gives the block at an address that is at least DataStart and less than
// the size of the disk.
func (l *Log) Read(a uint64) []byte {
	l.mu.Lock()
	b := l.d.Read(a)
	l.mu.Unlock()
	return b
}

// Commit writes blocks[i] to addrs[i] for all i, in this order where an address
// comes twice. There are at most MaxUpdates of them, each a block of the disk's
// size for an address that Read would take.
func (l *Log) Commit(addrs []uint64, blocks [][]byte) {
	l.mu.Lock()
	l.d.Barrier() // the header says durably that the log is empty
	writeEntries(l.d, blocks)
	l.d.Barrier()
	l.d.Write(0, encodeHeader(addrs))
	l.d.Barrier()
	install(l.d)
	l.mu.Unlock()
}

// writeEntries fills the log from its start.
func writeEntries(d *disk.Async, blocks [][]byte) {
	n := uint64(len(blocks))
	for i := uint64(0); i < n; i++ {
		d.Write(1+i, blocks[i])
	}
}

// encodeHeader gives the header that says that the log holds entries for these
// addresses.
func encodeHeader(addrs []uint64) []byte {
	h := make([]byte, disk.BlockSize)
	n := uint64(len(addrs))
	machine.UInt64Put(h, n)
	for i := uint64(0); i < n; i++ {
		machine.UInt64Put(h[8+8*i:], addrs[i])
	}
	return h
}

// install copies the entries that the header announces to their places, in
// order, and then empties the log. Doing so again, from any point, changes
// nothing.
func install(d *disk.Async) {
	h := d.Read(0)
	n := machine.UInt64Get(h)
	for i := uint64(0); i < n; i++ {
		a := machine.UInt64Get(h[8+8*i:])
		b := d.Read(1 + i)
		d.Write(a, b)
	}
	d.Barrier()
	d.Write(0, make([]byte, disk.BlockSize))
}
